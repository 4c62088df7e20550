// Blocks in complex numbers.
#define OD_COMPLEX
#include <stdbool.h>

#include "base/scalar_x.h"
#include "signals/blocks.h"
#include "signals/blocks_x.h"

void od_blocks_evaluate_complex(const od_model *m, double _Complex *w) {
  blocks_evaluate_c(m, w);
}

void od_block_complex(const od_block *b, const double _Complex *q, const double _Complex *x, const double _Complex *u,
                      double _Complex *y, double _Complex *rate) {
  block_evaluate_c(b, q, x, u, y, rate);
}

void od_block_sample_complex(const od_block *b, const double _Complex *q, const double _Complex *x, double _Complex u,
                             double _Complex *next) {
  block_sample_c(b, q, x, u, next);
}
