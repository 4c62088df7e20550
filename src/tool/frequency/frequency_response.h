// A frequency response: one input, one or several outputs, values at a list of frequencies, with their uncertainty.
#ifndef OD_FREQUENCY_RESPONSE_H
#define OD_FREQUENCY_RESPONSE_H

#include <complex.h>
#include <stdbool.h>

#include "linear/linear_model.h"
#include "oleodyn/status.h"

typedef struct od_frf {
  int points, outputs;
  double *frequency;       // Hz, increasing
  double _Complex *value;  // complex amplitude of output over input: value[output * points + point]
  double *sigma;           // layout as `value`: standard deviation of the real and of the imaginary part; NAN: not
                           // known, 0: exact
  double *coherence;       // layout as `value`; NAN: not known
  double *freedom;         // per point: degrees of freedom of the sigmas; INFINITY: the sigmas are exact
  od_arena arena;
} od_frf;

// Creates a response: all values zero, sigmas and coherences NAN, degrees of freedom infinite. Returns NULL if out of
// memory.
od_frf *od_frf_new(int points, int outputs);
void od_frf_free(od_frf *f);
OD_OWNED_POINTER(od_frf, od_frf_free);
// Copies the points from low to high (Hz, ends included). Returns NULL if out of memory.
od_frf *od_frf_between(const od_frf *f, double low, double high);

// --- From a model -------------------------------------------------------------------------------------------------

// Computes C (s - A)^-1 B + D of a linear model with one input, for all outputs. `frequency`: in Hz. The caller frees *out. Fails with OD_BAD_INPUT
// if the model has a pole at one of the frequencies, and with OD_NO_MEMORY.
od_status od_frf_of_model(const od_linear_model *model, const double *frequency, int points, od_frf **out,
                          od_error *err);

// --- From a stepped sine ------------------------------------------------------------------------------------------

// Consecutive sines: segment k has frequency[k] and lasts periods / frequency[k]. The first `settle` periods of each segment
// are omitted.
typedef struct od_sines {
  double start;  // start of the first segment, s
  const double *frequency;
  int count;
  double periods, settle;
} od_sines;

// Returns whether the sigmas assume white noise (see od_sine_fit_end()).
bool od_sines_are_white(const od_sines *sines);

// Receives samples one by one, in the order of time, and stores only sums. The arguments are copied. Returns NULL if
// out of memory.
typedef struct od_sine_fit od_sine_fit;
od_sine_fit *od_sine_fit_new(const od_sines *sines, int outputs);
void od_sine_fit_free(od_sine_fit *s);
OD_OWNED_POINTER(od_sine_fit, od_sine_fit_free);
void od_sine_fit_add(od_sine_fit *s, double time, double input, const double *output);
// Computes the response at all frequencies with at least four samples: sine and offset of each signal by least squares, and the
// quotient of the sines. Sigmas are computed from the output at neighboring frequencies, which contain only noise. The noise
// may have any color. A single period has no such frequencies; then the residual of the sine is taken as white noise
// (od_sines_are_white()). Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_sine_fit_end(const od_sine_fit *s, od_frf **out, od_error *err);

// --- From a broad spectrum ----------------------------------------------------------------------------------------

typedef enum od_window { OD_WINDOW_HANN, OD_WINDOW_HAMMING, OD_WINDOW_BLACKMAN, OD_WINDOW_NONE } od_window;
// Names of the windows, in the order of the enumeration. The last entry is NULL.
extern const char *const od_window_names[];

typedef struct od_spectra_options {
  double step;     // time between two samples, s
  int length;      // length of a block, in samples
  double overlap;  // overlap of blocks, as a fraction of their length
  od_window window;
  // Whether the input has a period of `length` samples (multisine); blocks are then periods, without a window.
  bool periodic;
  int settle;  // periodic inputs: number of periods to omit
} od_spectra_options;

// Receives samples one by one. The memory depends on the length of a block, not on the number of samples. od_spectra_new() fails
// with OD_BAD_INPUT if the settings are not valid, and with OD_NO_MEMORY.
typedef struct od_spectra od_spectra;
od_status od_spectra_new(const od_spectra_options *options, int outputs, od_spectra **out, od_error *err);
void od_spectra_free(od_spectra *s);
OD_OWNED_POINTER(od_spectra, od_spectra_free);
void od_spectra_add(od_spectra *s, double input, const double *output);
// U and Y are the spectra of the input and of an output in a block. Computes the average of Y conj(U), divided by the
// average of the square of |U|, with coherence. For a periodic input, computes the average of Y divided by the average
// of U at the excited lines. Sigmas then come from the differences between periods. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_spectra_end(const od_spectra *s, od_frf **out, od_error *err);

// --- Bandwidth and resonances -------------------------------------------------------------------------------------

// A number with the ends of its 95 % interval (NAN: not known).
typedef struct od_reading {
  double value, low, high;
} od_reading;
typedef struct od_peak {
  double frequency;  // Hz
  od_reading amplitude;
} od_peak;
enum { OD_MOST_PEAKS = 16 };

typedef struct od_features {
  od_reading bandwidth;  // lowest frequency with an amplitude 3 dB below the amplitude of the first point, Hz; NAN:
                         // no such frequency
  od_peak peak[OD_MOST_PEAKS];
  int peaks;  // number of resonances: maxima that exceed the adjacent minima by more than their uncertainty
} od_features;
od_features od_frf_features(const od_frf *f, int output);

// Returns half the width of the 95 % interval of a value's real or imaginary part; NAN: not known.
double od_frf_half(const od_frf *f, int output, int point);
od_reading od_frf_amplitude(const od_frf *f, int output, int point);
// Computes the phases in radians, without jumps of a full turn between points.
void od_frf_phases(const od_frf *f, int output, double *phase);

#endif
