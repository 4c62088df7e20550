// For benchmarks of observers: an experiment with the inputs of each filter step, and an observer that takes such steps.
#ifndef BENCH_OBSERVER_STEPS_H
#define BENCH_OBSERVER_STEPS_H

#include "experiment/observe.h"

// The experiment with the inputs of each filter step.
typedef struct observer_data {
  od_experiment *e;
  od_plant *plant;
  od_observed *observed;  // the whole experiment, simulated once: the measurements
  int n;
  double *u, *y, *Q, *p, *sigma;  // inputs and measurements of every step; process noise; start; sensors
} observer_data;
// steps: number of steps; 0: all of the experiment. Returns 0, or -1 after a message.
int observer_data_open(observer_data *d, const char *file, int steps);
void observer_data_close(observer_data *d);

// One filter on these data.
typedef struct observer_steps {
  const observer_data *d;
  int at;
  od_observer *observer;
} observer_steps;
// filter: its name; NULL: the filter of the file with its options.
int observer_steps_open(observer_steps *s, const observer_data *d, const char *filter, od_covariance_form form);
void observer_steps_close(observer_steps *s);
// For bench_subject: go back to the start, and advance by a number of steps.
int observer_steps_start(void *self);
int observer_steps_advance(void *self, int steps);

#endif
