// The network of blocks as functions on the work memory of model/layout.h, real and complex. The functions read inputs, measured
// quantities and states of blocks from this memory, and write signals and rates to the same memory. The functions do not access the
// mechanism or the oil. blocks/block.h describes a block.
#ifndef OD_BLOCKS_H
#define OD_BLOCKS_H

#include "base/complex_number.h"
#include "model/model.h"

// Computes all signals and all rates of the states of blocks.
void od_blocks_evaluate(const od_model *m, double *w);
void od_blocks_evaluate_complex(const od_model *m, od_complex *w);

// Computes the derivatives of each block with respect to its own states and inputs, and stores them in the work memory.
void od_blocks_linearize(const od_model *m, double *w);

// A number of a block: the index of the block, and the index of the number among the numbers of the block.
// od_block_find_number() finds both from an index in theta.
typedef struct od_block_number {
  int block, place;  // block -1: not a number of a block
} od_block_number;
static const od_block_number od_no_block_number = {-1, -1};
od_block_number od_block_find_number(const od_model *m, int number);

// Computes changes along a direction. First-order states change by dc. Inputs and measured quantities change by their
// entries in `line`, which is laid out like the signals in the work memory. If n.block >= 0, number n of this block
// changes by one. Writes the changes of the blocks' signals to `line` and the changes of their rates to `rate` (indexed
// like dc). dc may be NULL.
void od_blocks_tangent(const od_model *m, const double *w, const double *dc, od_block_number n, double *line,
                       double *rate);

// Fills the memory of delays at the start.
void od_blocks_start(const od_model *m, double *w);
// Takes one sample of a sampled block: computes the states `next` after the sample from the current states and the
// input. A delay shifts its stored samples by one.
void od_block_sample(const od_model *m, double *w, int block, double *next);
void od_block_sample_complex(const od_model *m, const od_block *b, const od_complex *q, const od_complex *x,
                             const od_complex *u, od_complex *next);
// Computes the change of the states after a sample. The states change by dx, the inputs by du, and the number `place` by
// 1. dx NULL: the states do not change; place -1: no number changes.
void od_block_sample_tangent(const od_model *m, const double *w, int block, const double *dx, const double *du,
                             int place, double *next);

// Copies the inputs of a block, then the time, to u (OD_BLOCK_LINE entries).
void od_block_inputs(const od_model *m, const double *w, const od_block *b, double *u);
void od_block_inputs_complex(const od_model *m, const od_complex *w, const od_block *b, od_complex *u);

// For a block with modes: the first function returns the margin, which is positive until a switch is due. The second function
// computes all states after the switch.
double od_block_margin_at(const od_model *m, const double *w, int block);
void od_block_switch(const od_model *m, const double *w, int block, double *next);
void od_block_switch_complex(const od_model *m, const od_complex *w, int block, od_complex *next);

#endif
