// Saturation: u within limits.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x lower, upper;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = X(clamp)(b.u[0], q->lower, q->upper);
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  by[0] = clamp_slope(b.u[0], q->lower, q->upper);
}
#endif

#else
#define OD_BLOCK_FILE "blocks/saturation.c"
#include "blocks/block_template_x.h"

const od_block_class od_saturation_block = {
    .type = "saturation",
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_saturation_block_description = {
    .equations = &od_saturation_block,
    .summary = "u within the limits",
    .inputs = {{"input"}},
    .keeps_unit = true,
    .fields = {{"limits", OD_UNIT_OUT, OD_ANY, NAN, "[lower, upper] limits of the output", .shape = OD_BOUNDS}},
    .outputs = {""},
};
#endif
