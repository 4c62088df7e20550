// Minimum of several signals of one unit, times a gain.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x gain;
} X(numbers);

static inline int X(chosen)(X(block) b) {
  int best = 0;
  for (int i = 1; i < b.s->inputs; i++)
    if (RE(b.u[i]) < RE(b.u[best])) best = i;
  return best;
}

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = q->gain * b.u[X(chosen)(b)];
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  by[chosen_r(b)] = q->gain;
}
#endif

#else
#define OD_BLOCK_FILE "blocks/minimum.c"
#include "blocks/block_both_x.h"

static bool is_linear(const od_block_spec *s) {
  return s->inputs == 1;
}

const od_block_class od_minimum_block = {
    .type = "minimum",
    .summary = "gain times the smallest input",
    .inputs = {{"inputs", .list = true}},
    .keeps_unit = true,
    .fields = {{"gain", "1", OD_ANY, 1, "factor"}},
    .outputs = {""},
    .is_linear = is_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
#endif
