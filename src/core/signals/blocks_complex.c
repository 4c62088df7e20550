// Blocks in complex arithmetic.
#include "base/parts.h"

#if OD_WITH_COMPLEX
#define OD_COMPLEX
#include <stdbool.h>

#include "base/scalar_x.h"
#include "signals/blocks.h"
#define OD_EVALUATE evaluate_complex
#include "signals/blocks_x.h"

void od_blocks_evaluate_complex(const od_model *m, od_complex *w) {
  blocks_evaluate_c(m, w);
}

void od_block_sample_complex(const od_model *m, const od_block *b, const od_complex *q, const od_complex *x,
                             const od_complex *u, od_complex *next) {
  const od_block_class *c = od_block_class_of(od_block_spec_in(m, b));
  if (c->remembers)
    next[0] = x[0];  // the memory of a delay is real: the output is an earlier input
  else
    c->step_complex(od_block_spec_in(m, b), q, x, u, next);
}

void od_block_inputs_complex(const od_model *m, const od_complex *w, const od_block *b, od_complex *u) {
  gather_inputs(m, w, b, u);
}

// ---- switches

void od_block_switch_complex(const od_model *m, const od_complex *w, int block, od_complex *next) {
  const od_block *b = &m->block[block];
  od_complex u[OD_BLOCK_LINE];
  gather_inputs(m, w, b, u);
  od_block_class_of(od_block_spec_in(m, b))
      ->switch_states_complex(od_block_spec_in(m, b), w + m->layout.theta + b->number, w + m->layout.c + b->state, u,
                              next);
}
#endif
