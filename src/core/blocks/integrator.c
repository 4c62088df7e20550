// Integrator: x' = gain u - (x - y)/Tt,  y = x within the limits. Beyond the limits, the integral returns to the limit with the
// time constant Tt (back-calculation).
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#define OD_BLOCK_SAMPLED

typedef struct X(numbers) {
  od_x gain, lower, upper, tracking;  // numbers after the gain exist only with limits
} X(numbers);

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  bool limited = b.s->choice[LIMITED];
  b.y[0] = limited ? X(clamp)(b.x[0], q->lower, q->upper) : b.x[0];
  b.rate[0] = q->gain * b.u[0];
  if (limited) b.rate[0] -= (b.x[0] - b.y[0]) / q->tracking;
}

static inline void X(step)(const X(numbers) * q, X(block) b, od_x *next) {
  double T = b.s->sample;
  next[0] = b.x[0] + T * q->gain * b.u[0];
  next[1] = next[0];
  if (!b.s->choice[LIMITED]) return;
  next[1] = X(clamp)(next[0], q->lower, q->upper);
  next[0] += (next[1] - next[0]) * (RE(q->tracking) > T ? T / q->tracking : 1);
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  double *output = by, *rate = by + 2;
  output[0] = b.s->choice[LIMITED] ? clamp_slope(b.x[0], q->lower, q->upper) : 1;
  rate[0] = b.s->choice[LIMITED] ? -(1 - output[0]) / q->tracking : 0;
  rate[1] = q->gain;
}
#endif

#else
enum { LIMITED };
#define OD_BLOCK_FILE "blocks/integrator.c"
#include "blocks/block_template_x.h"

static bool is_linear(const od_block_spec *s) {
  return !s->choice[LIMITED];
}

const od_block_class od_integrator_block = {
    .type = "integrator",
    .states = 1,
    .holds = true,
    .is_linear = is_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
    OD_BLOCK_STEPS,
};
const od_block_description od_integrator_block_description = {
    .equations = &od_integrator_block,
    .summary = "gain times the integral of u, within limits",
    .inputs = {{"input"}},
    .fields = {{"gain", OD_UNIT_PER_INTEGRAL, OD_ANY, 1, "factor that multiplies the output", .makes_unit = true},
               {"limits", OD_UNIT_OUT, OD_ANY, NAN, "[lower, upper] limits of the output", .shape = OD_BOUNDS,
                .optional = true},
               {"tracking", "s", OD_POSITIVE, 0.01, "time constant with which the integral returns to the limits",
                .only_with = "limits", .only_with_purpose = "to track", .limits = {1e-9, 1e6, 1e-6, 1e3}}},
    .choices = {[LIMITED] = {OD_CHOICE_GIVEN, "limits"}},
    .outputs = {""},
    .state = {{"integral", OD_UNIT_OUT}},
};
#endif
