// The table of block classes, for running models, and the table of their descriptions, for builder, readers and documents. Also
// properties that follow from a class and the settings of a block. The list itself is in blocks/block_list.h, so that a new class
// does not rebuild the files that include this header.
#ifndef OD_BLOCK_CLASSES_H
#define OD_BLOCK_CLASSES_H

#include "blocks/block_description.h"

// All classes, in the order of blocks/block_list.h, then the class of foreign blocks. The first function does not count the class of
// foreign blocks, which only programs use; the second function counts all classes.
extern const od_block_class *const od_block_classes[];
int od_block_class_count(void);
int od_block_class_all(void);
// Returns the index of the class with this type, or -1.
int od_block_class_find(const char *type);
static inline const od_block_class *od_block_class_of(const od_block_spec *s) {
  return od_block_classes[s->block_class];
}

// All descriptions, in the order of the classes. A program that uses descriptions is linked with the texts of all classes.
extern const od_block_description *const od_block_descriptions[];
static inline const od_block_description *od_block_description_of(const od_block_spec *s) {
  return od_block_descriptions[s->block_class];
}

// Returns the first error of a spec as the predicate of a sentence ("has no inputs"); NULL: the spec is valid.
const char *od_block_spec_problem(const od_block_spec *s);

// The sizes of a block with this spec. The states of a sampled block include its held output.
typedef struct od_block_counts {
  int numbers, inputs, states, outputs;
  int jumps;  // number of jumps that can be held (base/formula.h)
} od_block_counts;
od_block_counts od_block_count(const od_block_spec *s);
// Returns the count of numbers of a field; 0 if the field is not given.
int od_block_count_field(const od_block_spec *s, const od_block_field *f);
// Returns whether the spec of a block gives the key of a choice.
bool od_block_gives(const od_block_spec *s, const char *key);

static inline bool od_block_can_be_sampled(const od_block_class *c) {
  return c->step || c->remembers;
}
// Returns whether an output depends directly on an input: with `sampling` at a sample, else between two samples.
bool od_block_passes_on(const od_block_spec *s, bool sampling);
bool od_block_is_linear(const od_block_spec *s);
// Returns whether a block switches between modes: its class must have modes. A foreign block must also be continuous
// and have a law with margin().
bool od_block_has_modes(const od_block_spec *s);

// Return the name of an output, which is appended to the name of the block, and the unit of an output of a foreign block; NULL: the
// unit of the block.
const char *od_block_output_name(const od_block_spec *s, int output);
const char *od_block_foreign_unit(const od_block_spec *s, int output);
// Returns the name of a state, which is appended to the name of the block. Returns NULL if the state is an output of
// the block, or if the law of a foreign block gives the state no name.
const char *od_block_state_name(const od_block_spec *s, int state);
// Returns the unit of a state, or a rule for the unit. The state is the time derivative of order *order of a quantity
// in this unit.
const char *od_block_state_unit(const od_block_spec *s, int state, int *order);

// ---- one block and its derivatives (block_slopes.c)

// Computes the derivatives of a block with respect to its states and inputs. Rows of `by` are outputs, then rates;
// columns are states, then inputs.
void od_block_slopes(const od_block_spec *s, od_block_counts n, const double *q, const double *x, const double *u,
                     const double *held, double *by);
// Computes the derivatives `by` of the outputs, then of the rates, with respect to one number of the block; NAN in a
// build without complex numbers.
void od_block_number_slopes(const od_block_spec *s, od_block_counts n, const double *q, const double *x,
                            const double *u, const double *held, int number, double *by);
// A direction: changes dx (NULL: none) of the states before a sample, du of the inputs, and a number (-1: none) that changes by one.
// od_block_step_tangent() computes the change of the states after the sample.
typedef struct od_block_direction {
  const double *dx, *du;
  int number;
} od_block_direction;
void od_block_step_tangent(const od_block_spec *s, od_block_counts n, const double *q, const double *x, const double *u,
                           od_block_direction along, double *next);

#endif
