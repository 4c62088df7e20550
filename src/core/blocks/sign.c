// Sign: y = -1, 0 or 1; with a width the output is linear from -1 to 1 for u from -width to width.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x width;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  od_x u = b.u[0], w = q->width;
  if (b.held && RE(b.held[0]) != 0)
    b.y[0] = b.held[0] - OD_HELD_AT_ZERO;
  else
    b.y[0] = RE(u) > RE(w) ? 1 : RE(u) < -RE(w) ? -1 : RE(w) > 0 ? u / w : 0;
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  bool held = b.held && b.held[0] != 0, within = !(b.u[0] > q->width) && !(b.u[0] < -q->width);
  by[0] = !held && within && q->width > 0 ? 1 / q->width : 0;
}
#endif

#else
#include "base/formula.h"
#define OD_BLOCK_FILE "blocks/sign.c"
#include "blocks/block_template_x.h"

const od_block_class od_sign_block = {
    .type = "sign",
    .jumps_at_zero = true,
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_sign_block_description = {
    .equations = &od_sign_block,
    .summary = "-1, 0 or 1: the sign of u",
    .unit = "1",
    .inputs = {{"input"}},
    .fields = {{"width", OD_UNIT_IN, OD_NOT_NEGATIVE, 0, "magnitude of u below which the output is u/width"}},
    .outputs = {""},
};
#endif
