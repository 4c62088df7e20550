// A prescribed motion of one quantity. For a signal in closed form, value, rate and second derivative are exact at all times.
// Samples have nodes with value, rate and second derivative (inverse/local_fit.h), joined by polynomials of degree five. Value,
// rate and second derivative are then continuous and exact derivatives of each other. For smoothed samples each of the three is
// interpolated separately by cubics instead.
#ifndef OD_INVERSE_TRAJECTORY_H
#define OD_INVERSE_TRAJECTORY_H

#include "base/arena.h"
#include "inverse/local_fit.h"
#include "oleodyn/machine.h"

enum { OD_TRAJECTORY_PEAKS = 6 };

typedef struct od_trajectory {
  const od_machine *machine;  // machine of which a signal in closed form is an input; NULL: the motion has nodes
  int input;
  int nodes;
  double *t, *value, *rate, *second;
  od_arena arena;                    // owns the nodes
  double jump, jump_at;              // largest jump of the rate, and its time; 0: none
  double step, step_at;              // largest jump of the value, and its time
  double peak[OD_TRAJECTORY_PEAKS];  // times of the maxima and minima of value, rate and second derivative
  double spacing;                    // time between rows that resolves all peaks of the motion, s
  od_smoothing smoothing;            // window and errors of the smoothing of the samples

  // The largest second derivative at nodes at which the samples do not resolve the motion, and its time; 0: none. At such nodes the
  // rate changes by more than 60 % of its range.
  double coarse, coarse_at;
} od_trajectory;

// Creates the motion prescribed by an input from `begin` to `end`. If the values of the input come from a file with at least three rows, the motion
// consists of samples. The machine must outlive the trajectory. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_trajectory_of_input(const od_machine *machine, int input, double begin, double end, od_trajectory *out);
// Creates a motion from samples at increasing times, s. Fails with OD_BAD_INPUT if there are fewer than three or more than 2e7 samples. low_pass: see
// od_smooth_samples(). Also fails with OD_NO_MEMORY.
od_status od_trajectory_of_samples(const double *t, const double *value, long rows, double low_pass,
                                   od_trajectory *out);
od_status od_trajectory_of_constant(double value, double begin, double end, od_trajectory *out);
// Finds the times of the maximum and the minimum of an input between two times.
void od_input_peaks(const od_machine *machine, int input, double begin, double end, double at[2]);
void od_trajectory_free(od_trajectory *trajectory);

// Computes value, rate and second derivative at a time; at a break, the values after the break. Before the first and after the
// last node the motion is constant.
void od_trajectory_at(const od_trajectory *trajectory, double t, double out[3]);

#endif
