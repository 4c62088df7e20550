// Classes of signal blocks. Each class is one file of this folder: equations on flat local vectors, the table
// od_block_class for running models, and a description for readers and users (block_description.h). The builder, the
// reader, outputs, derivatives, tests and documentation iterate over the list of classes (block_list.h).
//
// A block has numbers q, states x, inputs u, outputs y and the rates of its states. A block does not access the machine. A sampled
// block runs once per sampling period and holds its outputs in between, as additional last states.
#ifndef OD_BLOCK_H
#define OD_BLOCK_H

#include <stdbool.h>

#include "base/complex_number.h"
#include "base/parts.h"
#include "oleodyn/foreign.h"

// Limits of a class. They ensure that one block fits on the stack. oleodyn/build.h contains the limits of inputs, orders and
// choices, and od_block_spec, the settings of a block.
enum {
  // The additional state holds the output of a sampled block.
  OD_MOST_BLOCK_STATES = OD_WITH_FOREIGN ? (int)OD_MOST_FOREIGN_STATES : OD_MOST_BLOCK_ORDER + 1,
  OD_MOST_NAMED_OUTPUTS = 2,  // outputs of classes, all but foreign blocks
  OD_MOST_BLOCK_OUTPUTS = OD_WITH_FOREIGN ? (int)OD_MOST_FOREIGN_OUTPUTS : (int)OD_MOST_NAMED_OUTPUTS,
  OD_BLOCK_LINE = OD_MOST_BLOCK_INPUTS + 1,  // size of the arguments u: the inputs, then the time
  OD_MOST_BLOCK_NUMBERS = 300,
  OD_MOST_BLOCK_NAME = 32,
  OD_MOST_DELAY_SAMPLES = 100000,
};

// ---- the class

// q: numbers; x: states; u: inputs, then the time in s; held: values at which the jumps of the block are held (base/formula.h; NULL: none);
// y: outputs; rate: rates of the states.
typedef void (*od_block_evaluate)(const od_block_spec *s, const double *q, const double *x, const double *u,
                                  const double *held, double *y, double *rate);
typedef void (*od_block_evaluate_complex)(const od_block_spec *s, const od_complex *q, const od_complex *x,
                                          const od_complex *u, const od_complex *held, od_complex *y, od_complex *rate);
typedef void (*od_block_step)(const od_block_spec *s, const double *q, const double *x, const double *u, double *next);
typedef void (*od_block_step_complex)(const od_block_spec *s, const od_complex *q, const od_complex *x,
                                      const od_complex *u, od_complex *next);

typedef double (*od_block_margin)(const od_block_spec *s, const double *q, const double *x, const double *u);

// The data of a class that a running model needs. The table contains no address of a text, so a program that builds no model is
// linked without descriptions.
typedef struct od_block_class {
  char type[OD_MOST_BLOCK_NAME];  // name in files
  int version;                    // changes when models of earlier versions become unusable
  bool has_formula;               // whether the law is a formula of the block
  bool is_foreign;                // whether the law is od_block_spec.foreign
  // The number of states, without the held outputs of a sampled block: the result of count_states(), or `states` if count_states
  // is NULL.
  int states;
  int (*count_states)(const od_block_spec *s);
  double state_scale;  // typical size of the states; 0 means 1

  // holds: no output of a continuous block depends directly on an input. passes_on() returns whether an output depends directly on
  // an input, for a sampled block at a sample. passes_on NULL: `holds` applies to continuous blocks, and sampled blocks depend
  // directly on their input.
  bool holds;
  bool (*passes_on)(const od_block_spec *s);
  // jumps: the output jumps although the input is continuous, and nothing locates the jumps. jumps_at_zero: if the first number is
  // zero, the output jumps where the first input is zero. The plant locates and holds this jump (base/formula.h).
  bool jumps, jumps_at_zero;
  bool (*is_linear)(const od_block_spec *s);  // NULL: linear; sampled blocks are never linear

  // Only for classes whose numbers begin with abscissae. table_axes: the number of inputs of the table; choice k is the number of
  // abscissae of input k. table_over_sum: whether the abscissae are sums of two inputs.
  int table_axes;
  bool table_over_sum;

  // Computes the outputs y and the rates of the states.
  od_block_evaluate evaluate;
  od_block_evaluate_complex evaluate_complex;
  // Computes the states after a sample, the held outputs last. NULL: the block cannot be sampled.
  od_block_step step;
  od_block_step_complex step_complex;
  // remembers: a sampled block of this class is a delay of choice[samples_choice] samples. The network of blocks stores these
  // samples (signals/blocks.h) and does not call `step`, which is NULL. samples_choice has no meaning in other classes.
  bool remembers;
  int samples_choice;
  // For classes with modes, which are never sampled (NULL: none). margin: positive until a switch is due. switch_states: computes
  // all states after the switch. A mode is a state without a rate.
  od_block_margin margin;
  od_block_step switch_states;
  od_block_step_complex switch_states_complex;
  // Computes derivatives. Rows are outputs, then rates; columns are states, then inputs. The caller first sets all entries to zero.
  // NULL: all blocks of the class are linear, and unit steps give their derivatives.
  void (*slopes)(const od_block_spec *s, const double *q, const double *x, const double *u, const double *held,
                 double *by);
} od_block_class;

// Value of is_linear for classes that are never linear.
static inline bool od_block_never_linear(const od_block_spec *s) {
  (void)s;
  return false;
}

#endif
