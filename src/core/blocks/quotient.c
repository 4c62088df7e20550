// Quotient: y = gain n/d. If |d| is less than `least`, d is replaced by `least` with the sign of d.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x gain, least;
} X(numbers);

static inline od_x X(denominator)(const X(numbers) * q, od_x d) {
  if (fabs(RE(d)) < RE(q->least)) d = RE(d) < 0 ? -q->least : q->least;
  return d;
}
static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  b.y[0] = q->gain * b.u[0] / X(denominator)(q, b.u[1]);
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  double d = denominator_r(q, b.u[1]);
  by[0] = q->gain / d;
  by[1] = fabs(b.u[1]) < q->least ? 0 : -q->gain * b.u[0] / (d * d);
}
#endif

#else
#define OD_BLOCK_FILE "blocks/quotient.c"
#include "blocks/block_template_x.h"

const od_block_class od_quotient_block = {
    .type = "quotient",
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_quotient_block_description = {
    .equations = &od_quotient_block,
    .summary = "gain n/d",
    .inputs = {{"numerator"}, {"denominator"}},
    .inputs_divide = true,
    .fields = {{"gain", OD_UNIT_RATIO, OD_ANY, 1, "factor that multiplies the output", .makes_unit = true},
               {"least", "denominator", OD_NOT_NEGATIVE, 0,
                "least magnitude of the denominator; smaller magnitudes are replaced by this value"}},
    .outputs = {""},
};
#endif
