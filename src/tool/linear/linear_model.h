// The linear model of a machine at an operating point, the one that every command about linear behaviour works on:
//
//   dx' = A dx + B du      dy = C dx + D du
//
// All matrices are dense and row-major, all numbers in SI. States that nothing moves (rows of zeros in A and B, as the held
// outputs of sampled blocks) are left out: they would only add poles at zero.
#ifndef OD_LINEAR_LINEAR_MODEL_H
#define OD_LINEAR_LINEAR_MODEL_H

#include "linear/operating_point.h"

typedef struct od_linear_signal {
  char *name, *unit;
  double value;     // at the operating point
  double rate;      // of a state: how fast it changes there
  bool undecided;   // of a state or an input where outputs are held: they do not decide it
  bool kinked;      // of a state or an input: the slopes differ on its two sides, and the model has their mean
  bool narrow;      // of a rate: a small change of it changes the slopes (linear/kinks.h)
  char cause[140];  // of these two: "the friction of 'ram'"; empty: not known
} od_linear_signal;

typedef struct od_linear_model {
  int states, inputs, outputs;
  od_linear_signal *state, *input, *output;
  double *A, *B, *C, *D;
  int constants;  // states that were left out
  od_linear_signal *constant;
  bool samples;  // loops through sampled blocks are open
  double time;   // of the operating point, s
  // Whether the point rests: no rate is larger than 1e-6 of what is typical for it (positions: of their rates). Else
  // the state whose rate is largest in these terms.
  bool rests;
  int fastest;
  char closed[300];  // valves that are shut there by their overlap: "'a', 'b'"; empty: none
} od_linear_model;

// inputs: indices of the inputs that are wanted; NULL: all. The outputs are those that the point was made for.
od_status od_linear_model_make(const od_operating_point *point, const int *inputs, int input_count,
                               od_linear_model **out, od_error *err);
// The operating point and the model there. state: is filled with the state of the point; NULL: not wanted.
od_status od_linear_model_find(const od_machine *machine, const od_point_options *options, const int *inputs,
                               int input_count, od_point_state *state, od_linear_model **out, od_error *err);
// State or input number i of those whose slopes differ on their two sides; NULL: there are no more.
const od_linear_signal *od_linear_kink(const od_linear_model *model, int i);
// The same of rates a small change of which changes the slopes.
const od_linear_signal *od_linear_narrow(const od_linear_model *model, int i);
void od_linear_model_free(od_linear_model *model);

#endif
