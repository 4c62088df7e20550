// Power with the sign of its input: y = gain sgn(u) (|u|/reference)^exponent. With a smoothing e the output is smooth at zero:
//   y = gain u/reference ((u^2 + e^2)/reference^2)^((exponent - 1)/2)
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x gain, exponent, reference, smoothing;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  od_x u = b.u[0] / q->reference, e = q->smoothing / q->reference, s = u * u + e * e;
  b.y[0] = RE(s) == 0 ? 0 : q->gain * u * od_x_pow(s, (q->exponent - 1) / 2);
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  double u = b.u[0] / q->reference, e = q->smoothing / q->reference, s = u * u + e * e, more = q->exponent - 1;
  // At zero without smoothing, an infinite slope counts as 0.
  if (s == 0)
    by[0] = more == 0 ? q->gain / q->reference : 0;
  else
    by[0] = q->gain / q->reference * pow(s, more / 2) * (1 + more * u * u / s);
}
#endif

#else
#define OD_BLOCK_FILE "blocks/power.c"
#include "blocks/block_template_x.h"

const od_block_class od_power_block = {
    .type = "power",
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_power_block_description = {
    .equations = &od_power_block,
    .summary = "gain (|u|/reference)^exponent with the sign of u",
    .inputs = {{"input"}},
    .fields = {{"gain", OD_UNIT_OUT, OD_ANY, 1, "output at the reference input"},
               {"exponent", "1", OD_POSITIVE, NAN, "exponent of the power", .limits = {1e-3, 100, 0.1, 10}},
               {"reference", OD_UNIT_IN, OD_POSITIVE, NAN, "input at which the power is 1"},
               {"smoothing", OD_UNIT_IN, OD_NOT_NEGATIVE, 0, "magnitude of u below which the output is nearly linear"}},
    .outputs = {""},
};
#endif
