// Numbers of the true machine that change during a run: wear, warmer oil, a changing load. A change is a table over
// time or a random walk.
#ifndef OD_EXPERIMENT_TRUTH_CHANGE_H
#define OD_EXPERIMENT_TRUTH_CHANGE_H

#include "experiment/experiment.h"
#include "experiment/sample_source.h"

// The current values of all changing numbers.
typedef struct od_truth_values {
  const od_experiment *e;
  double *value;     // current values, one per change
  uint32_t *stream;  // streams of random numbers, one per change
} od_truth_values;

// Returns the value of a table at time t, s: linear between the points, constant outside. At two points with the same time, the second
// point counts.
double od_truth_change_value(const od_truth_change *c, double t);

// Starts the values at time 0. The memory of the arrays belongs to the arena. Returns false if an allocation fails.
bool od_truth_values_begin(const od_experiment *e, od_arena *memory, od_truth_values *v);
// Sets the values of tables at time t, s.
void od_truth_values_at(od_truth_values *v, double t);
// Adds the change of the random walks in step number `step`.
void od_truth_values_walk(od_truth_values *v, long step);

// Returns the index of the change of a number of the true machine, or -1.
int od_truth_change_of(const od_experiment *e, int number);
// Returns the true value of a parameter at the time of a sample; NAN: unknown.
double od_true_parameter(const od_experiment *e, const od_sample *s, int parameter);

#endif
