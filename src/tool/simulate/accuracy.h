// How far off is a run? Fixed steps do not say, so the error of the state is carried along beside them:
//
//   e <- E e + G before + after      E: what the motion does with errors; the rest: the local error of the step
//
// The Jacobian behind E and G is taken anew every few steps only. What e means for the outputs is found now and then by
// asking for them a second time, in the state without the error. The estimate is good to a factor of about two while
// the error is small, and large when it is large; it sees what happens between the steps only as far as the rates show
// it.
#ifndef OD_SIMULATE_ACCURACY_H
#define OD_SIMULATE_ACCURACY_H

#include <math.h>
#include <stdbool.h>

#include "oleodyn/sim.h"

// What an error is compared with: how far a quantity ranges. One that is constant but for round-off has no range to speak of.
static inline double od_visible_range(double low, double high) {
  return fmax(high - low, 1e-9 * fmax(fabs(low), fabs(high)));
}

typedef struct od_accuracy od_accuracy;

// Follows a simulation that has been started, with its integrator; its plant's first `judged` outputs count.
od_accuracy *od_accuracy_new(const od_plant *plant, od_sim *sim, int judged);
void od_accuracy_free(od_accuracy *a);

// What follows may be called without an estimate (NULL) and then does nothing.
// Before every step, and after it, before the inputs jump or a sample is taken; h: its length.
void od_accuracy_begin_step(od_accuracy *a);
void od_accuracy_end_step(od_accuracy *a, double h);
// Before a jump of the inputs between two steps.
void od_accuracy_jump(od_accuracy *a);
// After a jump of the state, or a change of its coordinates, with its derivatives (nx x nx).
void od_accuracy_map(od_accuracy *a, const double *map, bool coordinates);
// The plant's outputs at the present point, as they are recorded: that is where they are judged, and what gives the
// range compared with which an error is large or small.
void od_accuracy_record(od_accuracy *a, const double *y);

// An output's largest error so far as a part of its range, when it was, and that range. Infinite: the estimate has left the
// states that the machine can have, or nothing is known.
typedef struct od_output_error {
  double part, at, range;
} od_output_error;
// least: what it is compared with where the output ranges less.
od_output_error od_accuracy_of(const od_accuracy *a, int output, double least);
// The longest step that is stable wherever that was looked at; INFINITY where every length is.
double od_accuracy_stable_step(const od_accuracy *a);

#endif
