// The network of blocks as functions on the work memory of model/layout.h, real and complex. They read inputs, what blocks
// measure and their states there and write their signals and the rates of their states; they know nothing of mechanisms or
// oil, and nothing of what a block is (blocks/block.h).
#ifndef OD_BLOCKS_H
#define OD_BLOCKS_H

#include "model/model.h"

// All signals and all rates of the blocks' states.
void od_blocks_evaluate(const od_model *m, double *w);
void od_blocks_evaluate_complex(const od_model *m, double _Complex *w);

// Derivatives of every block by its own states and inputs, into the work memory.
void od_blocks_linearize(const od_model *m, double *w);

// One of the numbers of a block, and what it changes directly: the block's own outputs and rates.
typedef struct od_block_number {
  int block, place;  // block -1: not a number of a block
} od_block_number;
static const od_block_number od_no_block_number = {-1, -1};
od_block_number od_block_find_number(const od_model *m, int number);

// Along a direction: dc changes the first-order states, the inputs and measured quantities in `line` (laid out like the
// signals in the work memory) change as they stand there; a number, if block >= 0, by one. Fills in the blocks' signals
// in `line` and the changes of their rates in `rate` (indexed like dc). dc may be NULL.
void od_blocks_tangent(const od_model *m, const double *w, const double *dc, od_block_number n, double *line,
                       double *rate);

// What delays remember at the start.
void od_blocks_start(const od_model *m, double *w);
// One sample of a sampled block: the states after it from those before it and its input. Delays shift their memory.
void od_block_sample(const od_model *m, double *w, int block, double *next);
void od_block_sample_complex(const od_block *b, const double _Complex *q, const double _Complex *x, double _Complex u,
                             double _Complex *next);
// The change of that along changes dx of the block's states and du of its input, and when a number changes by one
// (NULL and -1: none).
void od_block_sample_tangent(const od_model *m, const double *w, int block, const double *dx, double du, int place,
                             double *next);

// What stands at the inputs of a block (OD_MOST_BLOCK_INPUTS).
void od_block_inputs(const od_model *m, const double *w, const od_block *b, double *u);

// Of a block with modes: how far it is from switching, and all its states after that.
double od_block_margin_at(const od_model *m, const double *w, int block);
void od_block_switch(const od_model *m, const double *w, int block, double *next);
void od_block_switch_complex(const od_model *m, const double _Complex *w, int block, double _Complex *next);

#endif
