// The inside of an observer: the frame around its filter, in one block of memory laid out by offsets.
//
// The frame holds what any filter works on, the estimate (a simulation and the parameters p) and its covariance, and does
// once what does not depend on the filter:
//
//   observer.c    memory; samples of blocks and changes of coordinates before a prediction; sensors that are missing
//   sensors.c     gates, frozen and patient guards, consistency: what an innovation says, and whether it is used
//   estimate.c    moving the estimate within the bounds of the parameters; its bias because of the steps
//   spread.c      how far outputs spread where they are clipped
//
// A filter (oleodyn/filter.h) brings what moves the covariance in a prediction and what a correction does. What filters share
// that linearize at the estimate is in linear_filter.h.
#ifndef OD_OBSERVER_BLOCK_H
#define OD_OBSERVER_BLOCK_H

#include <stdbool.h>
#include <string.h>

#include "observe/covariance.h"
#include "observe/guard.h"
#include "observe/spread.h"
#include "oleodyn/observer.h"

struct od_observer {
  const od_plant *plant;
  const od_filter *filter;
  size_t size;
  int nx, np, ny, form, started, used;
  int correlated;  // whether the sensors' noise is; -1: by a matrix that is no covariance
  int told;
  double nis;
  double choice[OD_MOST_FILTER_OPTIONS];  // of the filter's options
  int unsound;                            // whether these options do not go together
  // Offsets in bytes from the block's start.
  size_t sim, p, low, high;                   // the estimate and the bounds of its parameters
  size_t P, P_out, scratch, kept;             // its covariance; that multiplied out; see od_covariance
  size_t bias;                                // of the estimate because of the steps
  size_t map, map_p;                          // of a jump of the state or a change of its coordinates
  size_t sigma, R, present;                   // of the sensors' noise; which of them measure
  size_t at_edge;                             // which outputs may be clipped
  size_t innovation, guard, rules;            // per sensor
  size_t probe, probe_size, probe_x, spread;  // a copy of the simulation to try states with; what was found with it
  size_t told_output, told_C;                 // outputs that tell the start's covariance, `told` of them
  size_t linear;                              // of filters that linearize; see linear_filter.h
  size_t memory;                              // of the filter
};

static inline double *od_observer_at(const od_observer *o, size_t offset) {
  return (double *)((char *)o + offset);
}
static inline void *od_observer_memory(const od_observer *o) {
  return (char *)o + o->memory;
}
static inline od_innovation *od_observer_innovation(const od_observer *o, int i) {
  return (od_innovation *)((char *)o + o->innovation) + i;
}
static inline od_spread *od_observer_spreads(const od_observer *o) {
  return (od_spread *)((char *)o + o->spread);
}
static inline od_covariance od_observer_belief(const od_observer *o) {
  return (od_covariance){.nx = o->nx,
                         .np = o->np,
                         .form = (od_covariance_form)o->form,
                         .P = od_observer_at(o, o->P),
                         .scratch = od_observer_at(o, o->scratch),
                         .kept = od_observer_at(o, o->kept)};
}
// Four sums beside each other, so that none waits for the last product of another.
static inline double od_dot(int n, const double *a, const double *b) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int k = 0;
  for (; k + 4 <= n; k += 4)
    s0 += a[k] * b[k], s1 += a[k + 1] * b[k + 1], s2 += a[k + 2] * b[k + 2], s3 += a[k + 3] * b[k + 3];
  if (k < n) s0 += a[k] * b[k];
  if (k + 1 < n) s1 += a[k + 1] * b[k + 1];
  if (k + 2 < n) s2 += a[k + 2] * b[k + 2];
  return (s0 + s1) + (s2 + s3);
}

// --- sensors.c

void od_observer_start_guards(od_observer *o);
// A new correction: nothing is known of any sensor yet. Returns how many measure.
int od_observer_begin_correction(od_observer *o, const double *y);
// What an innovation of sensor i with variance s means: whether the sensor is used. *reopen: the filter was too sure, and what
// the sensor sees should be widened before.
od_sensor_use od_observer_judge(od_observer *o, int i, double measured, double value, double s, int *reopen);
// A sensor is taken in with this innovation: for the statistics of consistency.
void od_observer_count(od_observer *o, double value, double s);
// How far the outputs y at the present estimate spread.
const od_spread *od_observer_find_spreads(od_observer *o, const od_covariance *b, const double *y);

// Which outputs may be clipped at the present estimate (ny).
const unsigned char *od_observer_edges(od_observer *o);

// --- estimate.c

// Moves the estimate by delta (n) from prior (n), parameters no further than their bounds; delta becomes how far they came.
od_status od_observer_move(od_observer *o, const double *prior, double *delta);
// The bias b <- A (b + before) + B b_p + after; either of the vectors may be NULL.
void od_observer_carry_bias(od_observer *o, const double *A, const double *B, const double *before,
                            const double *after);
// The bias after the step just taken, with its transition A and B.
void od_observer_add_step_bias(od_observer *o, const double *A, const double *B);

#endif
