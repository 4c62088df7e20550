// The linear model of a machine at an operating point, which all commands about linear behavior use:
//
//  dx' = A dx + B du      dy = C dx + D du
//
// All matrices are dense and row-major, all numbers in SI. Constant states have rows of zeros in A and B, such as the held
// outputs of sampled blocks. These states are removed, because they would only add poles at zero.
#ifndef OD_LINEAR_LINEAR_MODEL_H
#define OD_LINEAR_LINEAR_MODEL_H

#include "linear/operating_point.h"
#include "memory/scoped.h"

typedef struct od_linear_signal {
  char *name, *unit;
  double value;     // value at the operating point
  double rate;      // states: rate at the operating point
  bool undecided;   // states and inputs: whether the held outputs do not determine the value
  bool kinked;      // states and inputs: whether the slopes differ on the two sides of the value; the model uses
                    // their mean
  bool narrow;      // rates: whether a small change of the rate changes the slopes (linear/kinks.h)
  char cause[140];  // cause of `kinked` or `narrow`: "the friction of 'ram'"; empty: not known
} od_linear_signal;

typedef struct od_linear_model {
  int states, inputs, outputs;
  od_linear_signal *state, *input, *output;
  double *A, *B, *C, *D;
  int constants;  // number of states that were removed
  od_linear_signal *constant;
  bool samples;  // whether the machine has sampled blocks; loops through these blocks are open
  double time;   // time of the operating point, s

  // Whether the point is at rest: no rate is larger than 1e-6 of its typical value. `fastest`: the index of the state with the
  // largest rate relative to its typical value.
  bool rests;
  int fastest;
  od_arena arena;    // owns all lists and names
  char closed[300];  // valves that are closed by their overlap: "'a', 'b'"; empty: none
} od_linear_model;

// Creates the model. inputs: indices of the chosen inputs; NULL: all. The model has the outputs of the point. Fails with
// OD_NO_MEMORY or a status of the simulation.
od_status od_linear_model_make(const od_operating_point *point, const int *inputs, int input_count,
                               od_linear_model **out, od_error *err);
// Finds the operating point and creates its model. state: receives the state of the point; NULL: not needed. Fails like
// od_operating_point_find() or od_linear_model_make().
od_status od_linear_model_find(const od_machine *machine, const od_point_options *options, const int *inputs,
                               int input_count, od_point_state *state, od_linear_model **out, od_error *err);
// Returns the i-th state or input with different slopes on its two sides; NULL: there are no more.
const od_linear_signal *od_linear_kink(const od_linear_model *model, int i);
// Returns the i-th rate for which a small change changes the slopes; NULL: there are no more.
const od_linear_signal *od_linear_narrow(const od_linear_model *model, int i);
void od_linear_model_free(od_linear_model *model);
OD_OWNED_POINTER(od_linear_model, od_linear_model_free);

#endif
