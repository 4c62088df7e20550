// Product: y = gain u1 u2 ...
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x gain;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = q->gain;
  for (int i = 0; i < b.s->inputs; i++) b.y[0] *= b.u[i];
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  for (int i = 0; i < b.s->inputs; i++) {
    by[i] = q->gain;
    for (int j = 0; j < b.s->inputs; j++)
      if (j != i) by[i] *= b.u[j];
  }
}
#endif

#else
#define OD_BLOCK_FILE "blocks/product.c"
#include "blocks/block_template_x.h"

static bool is_linear(const od_block_spec *s) {
  return s->inputs == 1;
}

const od_block_class od_product_block = {
    .type = "product",
    .is_linear = is_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_product_block_description = {
    .equations = &od_product_block,
    .summary = "gain u1 u2 ...",
    .inputs = {{"inputs", .list = true}},
    .inputs_multiply = true,
    .fields = {{"gain", OD_UNIT_RATIO, OD_ANY, 1, "factor that multiplies the output", .makes_unit = true}},
    .outputs = {""},
};
#endif
