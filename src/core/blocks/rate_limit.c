// Rate limit: the output follows the input with a short lag and a limited rate.
//   y' = (u - y)/time_constant between the limits
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x falling, rising, time_constant;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = b.x[0];
  b.rate[0] = X(clamp)((b.u[0] - b.x[0]) / q->time_constant, q->falling, q->rising);
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  double *output = by, *rate = by + 2;
  output[0] = 1;
  rate[1] = clamp_slope((b.u[0] - b.x[0]) / q->time_constant, q->falling, q->rising) / q->time_constant;
  rate[0] = -rate[1];
}
#endif

#else
#define OD_BLOCK_FILE "blocks/rate_limit.c"
#include "blocks/block_template_x.h"

const od_block_class od_rate_limit_block = {
    .type = "rate-limit",
    .states = 1,
    .holds = true,
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_rate_limit_block_description = {
    .equations = &od_rate_limit_block,
    .summary = "u with a limited rate",
    .inputs = {{"input"}},
    .keeps_unit = true,
    .fields = {{"limits", "out/s", OD_ANY, NAN, "[falling, rising] limits of the output's rate", .shape = OD_BOUNDS},
               {"time_constant", "s", OD_POSITIVE, 1e-3, "time constant of the lag while the rate is within the limits",
                .limits = {1e-9, 1e6, 1e-6, 1e3}}},
    .outputs = {""},
};
#endif
