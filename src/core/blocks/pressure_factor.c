// Factor that is linear in two pressures, such as the pressures of a cylinder's chambers, with optional limits:
//   y = 1 + per_a (a - nominal_a) + per_b (b - nominal_b) + per_sum (a - nominal_a + b - nominal_b), within the limits
// Use this block for friction laws whose parameters depend on pressures: eq. 6.7 to 6.9 of source 28 in docs/theory.md.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES

typedef struct X(numbers) {
  od_x per_a, per_b, per_sum, nominal_a, nominal_b;
  od_x lower, upper;  // the limits exist only if choice 0 is set
} X(numbers);

static inline od_x X(unlimited)(const X(numbers) * q, X(block) b) {
  return 1 + (q->per_a + q->per_sum) * (b.u[0] - q->nominal_a) + (q->per_b + q->per_sum) * (b.u[1] - q->nominal_b);
}
static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  od_x y = X(unlimited)(q, b);
  b.y[0] = b.s->choice[0] ? X(clamp)(y, q->lower, q->upper) : y;
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  double y = unlimited_r(q, b);
  bool saturates = b.s->choice[0] && (y < q->lower || y > q->upper);
  by[0] = saturates ? 0 : q->per_a + q->per_sum;
  by[1] = saturates ? 0 : q->per_b + q->per_sum;
}
#endif

#else
#define OD_BLOCK_FILE "blocks/pressure_factor.c"
#include "blocks/block_template_x.h"

#define OD_PER_PRESSURE -1e-3, 1e-3, -1e-5, 1e-5
#define OD_NOMINAL      0, 1e10, 0, 1e8
const od_block_class od_pressure_factor_block = {
    .type = "pressure-factor",
    .is_linear = od_block_never_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_pressure_factor_block_description = {
    .equations = &od_pressure_factor_block,
    .summary = "factor that is linear in two pressures, with optional limits",
    .unit = "1",
    .inputs = {{"a", "Pa"}, {"b", "Pa"}},
    .fields = {{"per_a", "1/Pa", OD_ANY, 0, "increase of the factor per unit of pressure a",
                .limits = {OD_PER_PRESSURE}},
               {"per_b", "1/Pa", OD_ANY, 0, "increase of the factor per unit of pressure b",
                .limits = {OD_PER_PRESSURE}},
               {"per_sum", "1/Pa", OD_ANY, 0, "increase of the factor per unit of the sum of both pressures",
                .limits = {OD_PER_PRESSURE}},
               {"nominal_a", "Pa", OD_NOT_NEGATIVE, 0, "pressure a at which the factor is 1", .limits = {OD_NOMINAL}},
               {"nominal_b", "Pa", OD_NOT_NEGATIVE, 0, "pressure b at which the factor is 1", .limits = {OD_NOMINAL}},
               {"limits", "1", OD_POSITIVE, NAN, "[lower, upper] limits of the factor", .shape = OD_BOUNDS,
                .optional = true}},
    .choices = {{OD_CHOICE_GIVEN, "limits"}},
    .outputs = {""},
};
#endif
