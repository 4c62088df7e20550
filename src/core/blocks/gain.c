// Gain: y = gain u. A sampled gain is a sample and hold.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SAMPLED

typedef struct X(numbers) {
  od_x gain;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = q->gain * b.u[0];
}

static inline void X(step)(const X(numbers) * q, X(block) b, od_x *next) {
  next[0] = q->gain * b.u[0];
}

#else
#define OD_BLOCK_FILE "blocks/gain.c"
#include "blocks/block_template_x.h"

const od_block_class od_gain_block = {
    .type = "gain",
    OD_BLOCK_EVALUATES,
    OD_BLOCK_STEPS,
};
const od_block_description od_gain_block_description = {
    .equations = &od_gain_block,
    .summary = "gain u; if sampled, a sample and hold",
    .inputs = {{"input"}},
    .fields = {{"gain", OD_UNIT_RATIO, OD_ANY, 1, "factor that multiplies the output", .makes_unit = true}},
    .outputs = {""},
};
#endif
