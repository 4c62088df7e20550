// Square root with the sign of its input: y = sgn(u) sqrt(|u|/reference). With a smoothing e the output has a finite slope at zero:
//   y = u / (u^2 + e^2)^(1/4) / sqrt(reference)
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x reference, smoothing;
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  od_x u = b.u[0], e = q->smoothing;
  bool flat = RE(u) == 0 && RE(e) == 0;
  b.y[0] = flat ? 0 : u / (od_x_sqrt(od_x_sqrt(u * u + e * e)) * od_x_sqrt(q->reference));
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  double u = b.u[0], e = q->smoothing, s = u * u + e * e;
  by[0] = u == 0 && e == 0 ? 0 : (u * u / 2 + e * e) / (s * sqrt(sqrt(s)) * sqrt(q->reference));
}
#endif

#else
#define OD_BLOCK_FILE "blocks/square_root.c"
#include "blocks/block_template_x.h"

const od_block_class od_square_root_block = {
    .type = "square-root",
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_square_root_block_description = {
    .equations = &od_square_root_block,
    .summary = "sqrt(|u|/reference) with the sign of u",
    .unit = "1",
    .inputs = {{"input"}},
    .fields = {{"reference", OD_UNIT_IN, OD_POSITIVE, NAN, "input at which the output is 1"},
               {"smoothing", OD_UNIT_IN, OD_NOT_NEGATIVE, 0, "magnitude of u below which the output is nearly linear"}},
    .outputs = {""},
};
#endif
