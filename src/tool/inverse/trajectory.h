// A prescribed motion of one quantity. Of a signal in closed form, value, rate and second rate are exact at every time. Of samples there are
// nodes with value, rate and second rate (inverse/local_fit.h), joined by polynomials of degree five: between two nodes, and across
// them, the three are continuous and belong together exactly.
#ifndef OD_INVERSE_TRAJECTORY_H
#define OD_INVERSE_TRAJECTORY_H

#include "inverse/local_fit.h"
#include "oleodyn/machine.h"

enum { OD_TRAJECTORY_PEAKS = 6 };

typedef struct od_trajectory {
  const od_machine *machine;  // a signal in closed form is this input of it; NULL: nodes
  int input;
  int nodes;
  double *t, *value, *rate, *second;
  double jump, jump_at;              // the largest jump of the rate, and when; 0: none
  double step, step_at;              // the largest jump of the value
  double peak[OD_TRAJECTORY_PEAKS];  // when value, rate and second rate are largest, and when they are least
  double spacing;                    // rows as close as this show all turns of the motion
  od_smoothing smoothing;            // of samples
  double coarse,
      coarse_at;  // samples too few for the motion: the largest second rate of nodes at which the rate changes by more than
                  // half of its range from node to node; 0: none
} od_trajectory;

// What an input prescribes from `begin` to `end`. An input that is a file is samples. The trajectory refers to the machine.
od_status od_trajectory_of_input(const od_machine *machine, int input, double begin, double end, od_trajectory *out);
// Samples, at least three, with rising times. low_pass: see od_smooth_samples().
od_status od_trajectory_of_samples(const double *t, const double *value, long rows, double low_pass,
                                   od_trajectory *out);
od_status od_trajectory_of_constant(double value, double begin, double end, od_trajectory *out);
// When an input is largest and when it is least between two times.
void od_input_peaks(const od_machine *machine, int input, double begin, double end, double at[2]);
void od_trajectory_free(od_trajectory *trajectory);

// Value, rate and second rate at a time; at a break those after it. Before the first and after the last node: at rest there.
void od_trajectory_at(const od_trajectory *trajectory, double t, double out[3]);

#endif
