// Poles of a linear model with the participation of states, and zeros from inputs to outputs.
#ifndef OD_LINEAR_POLES_H
#define OD_LINEAR_POLES_H

#include "linear/linear_model.h"

// A pole. A pair of complex poles has two entries, the pole with the positive imaginary part first.
typedef struct od_pole {
  double real, imaginary;  // rad/s
} od_pole;

// Return the natural frequency in Hz; the damping ratio (1 and -1 for real poles, NAN at zero); the time in s in which the mode
// decays (negative: grows) by a factor e, infinite on the imaginary axis.
double od_pole_frequency(od_pole p);
double od_pole_damping(od_pole p);
double od_pole_time_constant(od_pole p);

// Poles in the order of their distance from zero, and the participation of each state in each pole: participation[pole * states +
// state], with the sum 1 per pole. The participation is the product of right and left eigenvector, |v_i w_i|, which does not
// depend on units.
typedef struct od_poles {
  int count;
  od_pole *pole;
  double *participation;
} od_poles;
// Computes the poles. The lists belong to the arena. Fails with OD_NOT_CONVERGED if the eigenvalues cannot be computed, and with
// OD_NO_MEMORY.
od_status od_poles_find(const od_linear_model *model, od_arena *arena, od_poles *out, od_error *err);

// Returns the number of poles to the right of the imaginary axis. Distances below the round-off of the largest pole count as zero.
int od_poles_unstable(const od_poles *poles);

// Computes zeros of the transfer functions from some inputs to as many outputs: the finite numbers s for which an input
// exists with zero output. Infinite zeros are removed first (Emami-Naeini and Van Dooren, Automatica 18, 1982), so that
// no infinite zero appears as a large finite zero. *count is -1 if every s is a zero: there is no path from these
// inputs to these outputs. The list *zero belongs to the arena. Fails with OD_NOT_CONVERGED if LAPACK fails.
od_status od_zeros_find(const od_linear_model *model, const int *inputs, const int *outputs, int pairs, od_arena *arena,
                        od_pole **zero, int *count, od_error *err);

#endif
