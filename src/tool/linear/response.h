// The frequency response of a linear model, G(jw) = C (jw - A)^-1 B + D, margins of a loop, and relative gains.
#ifndef OD_LINEAR_RESPONSE_H
#define OD_LINEAR_RESPONSE_H

#include <complex.h>

#include "linear/linear_model.h"

typedef double _Complex od_complex;

// Frequencies in equal ratios.
od_status od_frequencies_make(double low, double high, int count, double **out, od_error *err);
// Frequencies (Hz) around which something happens: a decade below the slowest and above the fastest pole that is not at zero.
void od_frequencies_range(const od_linear_model *model, double *low, double *high);

// Everything that is needed to evaluate responses again and again; states are scaled against round-off.
typedef struct od_linear_response od_linear_response;
od_linear_response *od_linear_response_new(const od_linear_model *model);
void od_linear_response_free(od_linear_response *response);
// As soon as this says false there are no more responses: OD_INTERRUPTED, NAN.
void od_linear_response_listen(od_linear_response *response, bool (*goes_on)(void *user, double done), void *user);
// G (outputs x inputs) at a frequency in Hz, without D. OD_SINGULAR: there is a pole at this very frequency.
od_status od_linear_response_dynamic(od_linear_response *response, double frequency, od_complex *G);
// The same with D.
od_status od_linear_response_at(od_linear_response *response, double frequency, od_complex *G);

// One transfer function, or a loop around it.
typedef struct od_path {
  int input, output;
  // What is looked at is the loop that is closed at the output, to which the input adds at once with the gain d: with
  // G = d / (1 + L), L = (d - G) / G.
  bool loop;
} od_path;
// NAN where there is none.
od_complex od_path_at(od_linear_response *response, const od_path *path, double frequency);

// Whether an input comes into a loop at a signal and nowhere else: a block without states puts the signal out, and nothing but this
// block uses the input. Else G = d / (1 + L) would not hold.
bool od_loop_enters(const od_machine *machine, const od_linear_model *model, const od_path *path);

// What a Bode plot tells, of a path over frequencies that grow. Angles in degrees, gains as factors, frequencies in Hz. NAN: there is none within the
// frequencies.
typedef struct od_margins {
  double gain,
      gain_at;  // how many times larger (or, below 1, smaller) the gain may become; of several the nearest to 1
  double phase,
      phase_at;  // how much more lag (or, negative: lead) there may be where the gain is 1; of several the smallest
  double
      bandwidth;  // where the gain has fallen by 3 dB from that at the lowest frequency for the first time; NAN: never, or
                  // it falls from the beginning on, as behind an integrator
  double peak, peak_at;  // the largest gain
} od_margins;
od_margins od_margins_find(od_linear_response *response, const od_path *path, const double *frequency, int count);

// Magnitude in dB and phase in degrees, unwrapped from frequency to frequency. The first phase is within -360 to 0 or so: nearest to what
// integrators or derivatives alone would have.
void od_path_table(od_linear_response *response, const od_path *path, const double *frequency, int count,
                   double *magnitude, double *phase);

// The relative gain array G .* inv(G)' of a square G (n x n). OD_SINGULAR: G has no inverse.
od_status od_relative_gains(int n, const od_complex *G, od_complex *out);
// Which input should drive which output: the pairing whose relative gains are nearest to 1, sum |gain - 1| least. Up to eight
// of each all pairings are tried, beyond that the nearest is taken first.
void od_relative_gains_pair(int n, const od_complex *gains, int *input_of_output);

#endif
