// First-order lag: y = gain x,  x' = (u - x)/T.
#ifdef OD_BLOCK_TEXT

typedef struct X(numbers) {
  od_x gain, time_constant;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = q->gain * b.x[0];
  b.rate[0] = (b.u[0] - b.x[0]) / q->time_constant;
}

#else
#define OD_BLOCK_FILE "blocks/first_order.c"
#include "blocks/block_template_x.h"

const od_block_class od_first_order_block = {
    .type = "first-order",
    .states = 1,
    .holds = true,
    OD_BLOCK_EVALUATES,
};
const od_block_description od_first_order_block_description = {
    .equations = &od_first_order_block,
    .summary = "gain/(T s + 1)",
    .inputs = {{"input"}},
    .fields = {{"gain", OD_UNIT_RATIO, OD_ANY, 1, "static gain", .makes_unit = true},
               {"time_constant", "s", OD_POSITIVE, NAN, "time constant T", .limits = OD_TIME_CONSTANT_LIMITS}},
    .outputs = {""},
};
#endif
