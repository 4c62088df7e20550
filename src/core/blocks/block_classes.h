// The table of block classes, and properties that follow from a class and the settings of a block. The list itself is in
// blocks/block_list.h, so that a new class does not rebuild the files that include this header.
#ifndef OD_BLOCK_CLASSES_H
#define OD_BLOCK_CLASSES_H

#include "blocks/block.h"

// All classes, in the order of blocks/block_list.h.
extern const od_block_class *const od_block_classes[];
int od_block_class_count(void);
int od_block_class_find(const char *type);  // -1: there is none
static inline const od_block_class *od_block_class_of(const od_block_spec *s) {
  return od_block_classes[s->block_class];
}

// What is wrong with a spec, or NULL.
const char *od_block_spec_problem(const od_block_spec *s);

// Sizes of a block that is made as the spec says. The states of a sampled block include what it holds.
typedef struct od_block_counts {
  int numbers, inputs, states, outputs;
} od_block_counts;
od_block_counts od_block_count(const od_block_spec *s);
// How many of its numbers a field is; 0 where it is not there.
int od_block_count_field(const od_block_spec *s, const od_block_field *f);
// Whether a key is given that a choice of the class asks for.
bool od_block_gives(const od_block_spec *s, const char *key);

static inline bool od_block_can_be_sampled(const od_block_class *c) {
  return c->step || c->remembers;
}
// Whether an input reaches an output at once: with `sampling` in the moment of a sample, else between two.
bool od_block_passes_on(const od_block_spec *s, bool sampling);
bool od_block_is_linear(const od_block_spec *s);

// The name of a state behind the block's own; NULL where it is an output.
const char *od_block_state_name(const od_block_spec *s, int state);
// Its unit, or the rule for it; *order says which rate of that it is.
const char *od_block_state_unit(const od_block_spec *s, int state, int *order);

// ---- one block and its derivatives (block_slopes.c)

// By states and inputs. Rows are outputs, then rates; columns states, then inputs.
void od_block_slopes(const od_block_spec *s, od_block_counts n, const double *q, const double *x, const double *u,
                     double *by);
// By one number: outputs, then rates.
void od_block_number_slopes(const od_block_spec *s, od_block_counts n, const double *q, const double *x,
                            const double *u, int number, double *by);
// The change of the states after a sample, along changes dx (NULL: none) of the states before and du of the first input,
// and when a number (-1: none) changes by one.
typedef struct od_block_direction {
  const double *dx;
  double du;
  int number;
} od_block_direction;
void od_block_step_tangent(const od_block_spec *s, od_block_counts n, const double *q, const double *x, const double *u,
                           od_block_direction along, double *next);

#endif
