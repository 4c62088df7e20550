// Steps of od_build_finish(), from collected elements to a machine in its initial state:
//   initial_values.c   sorts the given initial values
//   assembly.c         finds positions and rates that close the loops and meet the exact values
//   balance*.c         finds balanced values
//   finish.c           checks degrees of freedom, lengths of cylinders and inertia; calls the other steps in order
// These functions run once, when a model is built. They allocate memory.
#ifndef OD_ASSEMBLY_H
#define OD_ASSEMBLY_H

#include "base/complex_number.h"
#include "model/builder.h"

// An initial value with its output: an exact value, or a value to be balanced.
typedef struct od_condition {
  int initial;  // index of the initial value in od_build.initial
  od_output output;
  double value;
} od_condition;

typedef struct od_assembly {
  od_build *b;
  od_model *m;
  double *w;
  od_complex *wc;
  od_condition *at_position, *at_rate, *balanced;
  int positions, rates, balances;
  bool *given_z, *given_c;
  int *initial_of_z;                        // for each coordinate: the index of its initial value in the builder
  int rows;                                 // number of closure rows and conditions of the largest problem
  double *matrix, *normal, *r, *y, *trial;  // J (rows x n), J W^2 J', residual r, solution y, trial z
  int *pivot;
  bool no_memory;  // whether an allocation has failed
} od_assembly;

// Returns the index of the first-order state that equals an output, or -1.
static inline int od_assembly_first_order_state(const od_model *m, const od_output *o) {
  if (o->kind == OD_OUT_NODE_PRESSURE) return m->node[o->index].state;
  if (o->kind == OD_OUT_BLOCK_STATE) return o->index;
  // The output may be a state of a block.
  for (int i = 0; o->kind == OD_OUT_INPUT && i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    int output = o->index - b->signal;
    if (output >= 0 && output < b->outputs && b->states && !od_block_state_name(&m->spec[i], 0))
      return b->state + output;
  }
  return o->kind == OD_OUT_ELEMENT_STATE ? m->instance[o->index].state[o->component] : -1;
}

// Returns whether an output is a position, an angle or a length, and thus allowed as an initial value of the assembly.
bool od_assembly_is_position(od_output_kind kind);

// Stores values of coordinates in z0, of their rates in zd0 and of first-order states in c0. Stores exact values of positions and rates
// as conditions, and lists the balanced values. Reports unknown and missing values.
void od_assembly_sort_initial_values(od_assembly *s);
// Copies the current numbers and reference rotations into the real and the complex work memory.
void od_assembly_load_numbers(od_assembly *s);
// Changes the reference rotations of spherical joints that start near the singular position of their angles.
void od_assembly_choose_charts(od_assembly *s);
// Finds positions that close the loops and meet the exact values. If there are none, reports a problem; z0 then has the positions with
// the smallest gaps that were found.
void od_assembly_positions(od_assembly *s);
// Reduces the gaps of the loops as far as possible, for a machine whose initial values have problems. Reports no problems.
void od_assembly_guess_positions(od_assembly *s);
void od_assembly_rates(od_assembly *s);
// Return the rank of the closure Jacobian. The first function returns the rank at the positions in w. The second
// function returns the largest rank after small steps along motions that the loops allow. The second rank is larger if
// the machine starts in a singular position, where independent rows look redundant. Sets od_assembly.no_memory if an allocation
// fails.
int od_assembly_rank(od_assembly *s, int *integers, double *matrix);
int od_assembly_rank_nearby(od_assembly *s, int *integers, double *matrix, int rank);

// A plant of the assembled machine at its initial point, for the last checks and for the balance. g (residual and
// rates) and mass (nz x nz) are scratch memory.
typedef struct od_trial_plant {
  od_plant *plant;
  void *work;
  double *x, *u, *g, *mass;
} od_trial_plant;
// Computes the balanced values and writes them to z0 and c0, or reports why no balance was found.
void od_assembly_balance(od_assembly *s, const od_trial_plant *t);
// Checks that an element, such as a cylinder, can have this length, m (finish.c). Otherwise reports a problem and returns false.
bool od_assembly_check_reach(od_assembly *s, int instance, double length);
// Returns whether the initial length of an element must be within a range, like the length of a cylinder.
static inline bool od_instance_has_reach(const od_model *m, const od_instance *e) {
  return od_instance_description(m, e)->reach.is_required;
}

#endif
