// Absolute value: y = gain |u|.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x gain;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = q->gain * (RE(b.u[0]) < 0 ? -b.u[0] : b.u[0]);
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  by[0] = b.u[0] < 0 ? -q->gain : q->gain;
}
#endif

#else
#define OD_BLOCK_FILE "blocks/absolute.c"
#include "blocks/block_template_x.h"

const od_block_class od_absolute_block = {
    .type = "absolute",
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_absolute_block_description = {
    .equations = &od_absolute_block,
    .summary = "gain |u|",
    .inputs = {{"input"}},
    .keeps_unit = true,
    .fields = {{"gain", "1", OD_ANY, 1, "factor that multiplies the output"}},
    .outputs = {""},
};
#endif
