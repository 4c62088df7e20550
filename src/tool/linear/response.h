// The frequency response of a linear model, G(jw) = C (jw - A)^-1 B + D, and margins of paths and loops.
#ifndef OD_LINEAR_RESPONSE_H
#define OD_LINEAR_RESPONSE_H

#include <complex.h>

#include "linear/linear_model.h"

typedef double _Complex od_complex;

// Creates a list of frequencies in equal ratios, Hz, in memory of the arena. Returns NULL if out of memory.
double *od_frequencies_make(double low, double high, int count, od_arena *arena);
// Computes the range of relevant frequencies (Hz) in whole decades: from a decade below the slowest pole to a decade above the fastest
// pole, at most eight decades. Poles at zero are ignored. Without other poles, the range is 0.1 Hz to 10 Hz.
void od_frequencies_range(const od_linear_model *model, double *low, double *high);

// Creates the memory for repeated evaluations of responses, freed with od_linear_response_free(); NULL: an allocation failed.
// States are scaled to reduce round-off.
typedef struct od_linear_response od_linear_response;
od_linear_response *od_linear_response_new(const od_linear_model *model);
void od_linear_response_free(od_linear_response *response);
OD_OWNED_POINTER(od_linear_response, od_linear_response_free);
// Sets a function that is called before each evaluation. After this function returns false, od_linear_response_at() fails with
// OD_INTERRUPTED, and values of paths are NAN.
void od_linear_response_listen(od_linear_response *response, bool (*goes_on)(void *user, double done), void *user);
// Computes G (outputs x inputs), including D, at a frequency in Hz. Fails with OD_SINGULAR if the model has a pole at
// this frequency, and with OD_INTERRUPTED.
od_status od_linear_response_at(od_linear_response *response, double frequency, od_complex *G);

// A path from an input to an output: its transfer function, or the loop that is closed at the output.
typedef struct od_path {
  int input, output;
  // Whether the path is the loop that is closed at the output. The input enters at the output with the gain d: the
  // transfer function is G = d / (1 + L) with the loop gain L, thus L = (d - G) / G.
  bool loop;
} od_path;

// Returns whether an input enters a loop at a signal and nowhere else. Conditions: a block without states has the signal as its
// output, and only this block uses the input. Otherwise G = d / (1 + L) is not valid.
bool od_loop_enters(const od_machine *machine, const od_linear_model *model, const od_path *path);

// Margins of a path over increasing frequencies, as in a Bode plot. Angles are in degrees, gains are factors, frequencies are in
// Hz. NAN: no such point in the range of frequencies.
typedef struct od_margins {
  double gain,
      gain_at;  // factor by which the gain may grow (below 1: fall); if there are several crossings, the factor
                // nearest to 1
  double phase,
      phase_at;          // additional lag (negative: lead) allowed at gain 1; if there are several crossings, the
                         // smallest angle
  double bandwidth;      // first frequency at which the gain is 3 dB below the gain at the lowest frequency; NAN:
                         // none, or the gain falls from the lowest frequency, as with an integrator
  double peak, peak_at;  // the largest gain, and its frequency
} od_margins;
od_margins od_margins_find(od_linear_response *response, const od_path *path, const double *frequency, int count);

// Computes magnitude in dB and phase in degrees, unwrapped from frequency to frequency. The first phase, about -360 to 0, is
// the angle nearest to the phase of integrators or derivatives alone.
void od_path_table(od_linear_response *response, const od_path *path, const double *frequency, int count,
                   double *magnitude, double *phase);

#endif
