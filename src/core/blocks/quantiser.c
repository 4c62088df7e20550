// Quantizer: rounds to the nearest multiple of a step, as in converters and encoders. The output is constant between
// its jumps, so the slope is zero. A sampled quantizer jumps only at samples.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#define OD_BLOCK_SAMPLED

typedef struct X(numbers) {
  od_x step;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = q->step * round(RE(b.u[0]) / RE(q->step));
}

static inline void X(step)(const X(numbers) * q, X(block) b, od_x *next) {
  next[0] = q->step * round(RE(b.u[0]) / RE(q->step));
}

#ifndef OD_COMPLEX
// All derivatives are zero, because the output is constant between its steps.
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  (void)q, (void)b, (void)by;
}
#endif

#else
#define OD_BLOCK_FILE "blocks/quantiser.c"
#include "blocks/block_template_x.h"

const od_block_class od_quantiser_block = {
    .type = "quantiser",
    .jumps = true,
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
    OD_BLOCK_STEPS,
};
const od_block_description od_quantiser_block_description = {
    .equations = &od_quantiser_block,
    .summary = "the multiple of a step that is nearest to u",
    .inputs = {{"input"}},
    .keeps_unit = true,
    .fields = {{"step", OD_UNIT_OUT, OD_POSITIVE, NAN, "distance between two levels"}},
    .outputs = {""},
};
#endif
