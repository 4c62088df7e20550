// A prescribed motion of one quantity: nodes with value, rate and second rate, joined by polynomials of degree five. Between two nodes, and
// across nodes of one piece, value, rate and second rate are continuous and belong together exactly; from piece to piece the second
// rate may jump.
#ifndef OD_INVERSE_TRAJECTORY_H
#define OD_INVERSE_TRAJECTORY_H

#include "oleodyn/machine.h"

typedef struct od_trajectory {
  int nodes, capacity;
  double *t, *value, *rate, *second;
  double jump, jump_at;  // the largest jump of the rate, and when; 0: none
  double step, step_at;  // the largest jump of the value
  double noise;          // standard deviation of the second rate by noise or resolution of samples; 0: none is seen
} od_trajectory;

// What a machine's input says from `begin` to `end`, with nodes at most `spacing` apart and at every break of the signal.
od_status od_trajectory_of_input(const od_machine *machine, int input, double begin, double end, double spacing,
                                 od_trajectory *out);
// Samples, at least three, with rising times; rates are those of the polynomial through up to seven of them.
od_status od_trajectory_of_samples(const double *t, const double *value, long rows, od_trajectory *out);
void od_trajectory_free(od_trajectory *trajectory);

// Value, rate and second rate at a time; at a break those after it. Before the first and after the last node: at rest there.
void od_trajectory_at(const od_trajectory *trajectory, double t, double out[3]);

#endif
