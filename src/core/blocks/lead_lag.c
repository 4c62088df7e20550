// Lead-lag element: y/u = gain (lead s + 1)/(lag s + 1), with the state x' = (u - x)/lag.
#ifdef OD_BLOCK_TEXT

typedef struct X(numbers) {
  od_x gain, lead, lag;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.rate[0] = (b.u[0] - b.x[0]) / q->lag;
  b.y[0] = q->gain * q->lead * b.rate[0] + q->gain * b.x[0];
}

#else
#define OD_BLOCK_FILE "blocks/lead_lag.c"
#include "blocks/block_template_x.h"

const od_block_class od_lead_lag_block = {
    .type = "lead-lag",
    .states = 1,
    OD_BLOCK_EVALUATES,
};
const od_block_description od_lead_lag_block_description = {
    .equations = &od_lead_lag_block,
    .summary = "gain (lead s + 1)/(lag s + 1)",
    .inputs = {{"input"}},
    .fields = {{"gain", OD_UNIT_RATIO, OD_ANY, 1, "static gain", .makes_unit = true},
               {"lead", "s", OD_ANY, NAN, "time constant of the numerator", .limits = {-1e9, 1e9, -1e4, 1e4}},
               {"lag", "s", OD_POSITIVE, NAN, "time constant of the denominator", .limits = {1e-9, 1e9, 1e-6, 1e4}}},
    .outputs = {""},
};
#endif
