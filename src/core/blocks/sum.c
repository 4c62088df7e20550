// Weighted sum: y = sum of weight_i u_i.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x weight[OD_MOST_BLOCK_INPUTS];
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = 0;
  for (int i = 0; i < b.s->inputs; i++) b.y[0] += q->weight[i] * b.u[i];
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  for (int i = 0; i < b.s->inputs; i++) by[i] = q->weight[i];
}
#endif

#else
#define OD_BLOCK_FILE "blocks/sum.c"
#include "blocks/block_template_x.h"

const od_block_class od_sum_block = {
    .type = "sum",
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_sum_block_description = {
    .equations = &od_sum_block,
    .summary = "the weighted sum of the inputs",
    .inputs = {{"inputs", .list = true}},
    .fields = {{"weights", OD_UNIT_RATIO, OD_ANY, 1, "weight of each input", .shape = OD_PER_INPUT}},
    .outputs = {""},
};
#endif
