// A frequency response: one input, one or several outputs, values at points of frequency, with their uncertainty.
#ifndef OD_FREQUENCY_RESPONSE_H
#define OD_FREQUENCY_RESPONSE_H

#include <complex.h>
#include <stdbool.h>

#include "linear/linear_model.h"
#include "oleodyn/status.h"

typedef struct od_frf {
  int points, outputs;
  double *frequency;       // Hz, rising
  double _Complex *value;  // value[output * points + point]
  double *sigma;           // alike: standard deviation of the real and of the imaginary part; NAN: not known, 0: exact
  double *coherence;       // alike; NAN: not known
  double *freedom;         // per point: degrees of freedom that sigmas are known with; INFINITY: they are right
} od_frf;

// All values zero, sigmas and coherences NAN, freedoms infinite; NULL: memory ran out.
od_frf *od_frf_new(int points, int outputs);
void od_frf_free(od_frf *f);
// The points from low to high (Hz, ends included); NULL: memory ran out.
od_frf *od_frf_between(const od_frf *f, double low, double high);

// --- From a model -------------------------------------------------------------------------------------------------

// C (s - A)^-1 B + D of a linear model with one input, for all of its outputs.
od_status od_frf_of_model(const od_linear_model *model, const double *frequency, int points, od_frf **out,
                          od_error *err);

// --- From a stepped sine ------------------------------------------------------------------------------------------

// Sines one after another: segment k has frequency[k] and lasts periods / frequency[k]. The first `settle` periods of each are
// left out.
typedef struct od_sines {
  double start;  // s, of the first segment
  const double *frequency;
  int count;
  double periods, settle;
} od_sines;

// Whether sigmas take the noise as white.
bool od_sines_are_white(const od_sines *sines);

// Takes samples one by one, in the order of time, and keeps sums alone. What it is given is copied.
typedef struct od_sine_fit od_sine_fit;
od_sine_fit *od_sine_fit_new(const od_sines *sines, int outputs);
void od_sine_fit_free(od_sine_fit *s);
void od_sine_fit_add(od_sine_fit *s, double time, double input, const double *output);
// The response at all frequencies that have samples enough: each signal's sine and offset by least squares, their quotient.
// Sigmas follow from what the output has at frequencies close by, where nothing but noise is, so that noise may have any colour; within a
// single period there are none, and what the sine leaves unexplained is taken as white (od_sines_are_white()).
od_status od_sine_fit_end(const od_sine_fit *s, od_frf **out, od_error *err);

// --- From anything broad ------------------------------------------------------------------------------------------

typedef enum od_window { OD_WINDOW_HANN, OD_WINDOW_HAMMING, OD_WINDOW_BLACKMAN, OD_WINDOW_NONE } od_window;
// As people name them, in the order of the enumeration; a NULL at the end.
extern const char *const od_window_names[];

typedef struct od_spectra_options {
  double step;     // between two samples, s
  int length;      // of a block, in samples
  double overlap;  // of blocks, as a part of their length
  od_window window;
  bool
      periodic;  // the input repeats itself every `length` samples (multisine): blocks are its periods, without a window
  int settle;    // of periodic inputs: periods that are left out
} od_spectra_options;

// Takes samples one by one; memory depends on the length of a block, not on how many there are.
typedef struct od_spectra od_spectra;
od_status od_spectra_new(const od_spectra_options *options, int outputs, od_spectra **out, od_error *err);
void od_spectra_free(od_spectra *s);
void od_spectra_add(od_spectra *s, double input, const double *output);
// Averages of Y conj(U) over those of |U|^2, with coherence; at the lines of a periodic input that is excited there: averages of Y
// over those of U, with sigmas from how periods differ.
od_status od_spectra_end(const od_spectra *s, od_frf **out, od_error *err);

// --- What people read off -----------------------------------------------------------------------------------------

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
  od_reading bandwidth;  // Hz where the amplitude first falls 3 dB below that of the first point; NAN: nowhere
  od_peak peak[OD_MOST_PEAKS];
  int peaks;  // resonances: larger than their neighbours, and by more than their uncertainty larger than the valleys beside them
} od_features;
od_features od_frf_features(const od_frf *f, int output);

// Half of the 95 % interval of a value's real or imaginary part; NAN: not known.
double od_frf_half(const od_frf *f, int output, int point);
od_reading od_frf_amplitude(const od_frf *f, int output, int point);
// Radians, without jumps of a whole turn from point to point.
void od_frf_phases(const od_frf *f, int output, double *phase);

#endif
