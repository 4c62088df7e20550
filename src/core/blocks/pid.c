// PID controller with a filtered derivative and limits:
//   v = kp e + I + kd (e - f)/Tf,  I' = ki e + (y - v)/Tt,  f' = (e - f)/Tf,  y = v within the limits
// Beyond the limits, the integral returns with the time constant Tt (back-calculation). Tt is given or computed from the gains: Ti
// for a PI controller, sqrt(Ti Td) with a derivative part, Ti = kp/ki, Td = kd/kp (Astrom and Hagglund, source 27 in
// docs/theory.md). Without ki there is no integral.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#define OD_BLOCK_SAMPLED

typedef struct X(numbers) {
  od_x kp, ki, kd, filter, lower, upper, tracking;  // lower, upper and tracking exist only if the file gives them
} X(numbers);

// Returns 1/Tt; 0 if ki is zero. If Tt is computed from gains with a nonzero kp, 1/Tt goes to zero with ki, with a finite slope.
//   - With a derivative part Tt is at least Ti/10: sqrt(Ti Td) alone goes to zero with kd, and a spike of the derivative
//     would reset the integral.
//   - The gains of a pure I controller define no time constant. A short Tt is best: Tt is 1 ms, the shortest computed Tt.
static inline od_x X(tracking)(const X(numbers) * q, X(block) b) {
  const double most = 1 / 1e-3, of_integral = 10;  // largest 1/Tt in 1/s; largest 1/Tt relative to 1/Ti
  od_x kd = b.s->choice[DERIVATIVE] ? q->kd : 0;
  bool by_gains = !b.s->choice[TRACKING], pure = RE(q->kp) == 0 && RE(kd) == 0;
  if (RE(q->ki) == 0 && (!by_gains || RE(q->kp) == 0)) return 0;
  if (!by_gains) return 1 / q->tracking;
  if (pure) return most;
  od_x rate = RE(q->kp) != 0 ? q->ki / q->kp : 0;
  if (RE(rate) < 0) rate = -rate;
  if (RE(kd) != 0) {
    od_x square = q->ki / kd;
    if (RE(square) < 0) square = -square;
    bool near_ti = RE(q->kp) != 0 && of_integral * of_integral * RE(rate) * RE(rate) <= RE(square);
    rate = near_ti ? of_integral * rate : od_x_sqrt(square);
  }
  return RE(rate) < most ? rate : most;
}

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  bool derivative = b.s->choice[DERIVATIVE], limited = b.s->choice[LIMITED];
  od_x e = b.u[0], slope = derivative ? (e - b.x[1]) / q->filter : 0;
  od_x v = q->kp * e + b.x[0] + q->kd * slope;
  b.y[0] = limited ? X(clamp)(v, q->lower, q->upper) : v;
  b.rate[0] = q->ki * e;
  if (limited) b.rate[0] += (b.y[0] - v) * X(tracking)(q, b);
  if (derivative) b.rate[1] = slope;
}

// Takes one sample: the integral adds ki e T, and the filter of the derivative takes an implicit step.
static inline void X(step)(const X(numbers) * q, X(block) b, od_x *next) {
  bool derivative = b.s->choice[DERIVATIVE], limited = b.s->choice[LIMITED];
  double T = b.s->sample;
  od_x e = b.u[0], slope = derivative ? (e - b.x[1]) / (q->filter + T) : 0;
  od_x v = q->kp * e + b.x[0] + q->kd * slope, y = limited ? X(clamp)(v, q->lower, q->upper) : v;
  next[0] = b.x[0] + T * q->ki * e;
  if (limited) {
    od_x part = T * X(tracking)(q, b);
    next[0] += (y - v) * (RE(part) < 1 ? part : 1);
  }
  if (derivative) next[1] = b.x[1] + T * slope;
  next[derivative ? 2 : 1] = y;
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  bool derivative = b.s->choice[DERIVATIVE], limited = b.s->choice[LIMITED];
  int columns = derivative ? 3 : 2, e = columns - 1;
  double *output = by, *integral = by + columns, *filter = integral + columns;
  output[0] = 1;
  output[e] = q->kp;
  if (derivative) {
    filter[e] = 1 / q->filter, filter[1] = -filter[e];
    output[e] += q->kd * filter[e], output[1] = q->kd * filter[1];
  }
  integral[e] = q->ki;
  if (!limited) return;
  double v = q->kp * b.u[0] + b.x[0] + (derivative ? q->kd * (b.u[0] - b.x[1]) / q->filter : 0);
  if (clamp_slope(v, q->lower, q->upper) != 0) return;
  double back = tracking_r(q, b);
  for (int i = 0; i < columns; i++) integral[i] -= output[i] * back, output[i] = 0;
}
#endif

#else
enum { DERIVATIVE, LIMITED, TRACKING };
#define OD_BLOCK_FILE "blocks/pid.c"
#include "blocks/block_template_x.h"

static int count_states(const od_block_spec *s) {
  return s->choice[DERIVATIVE] ? 2 : 1;
}
static bool is_linear(const od_block_spec *s) {
  return !s->choice[LIMITED];
}

const od_block_class od_pid_block = {
    .type = "pid",
    .count_states = count_states,
    .is_linear = is_linear,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
    OD_BLOCK_STEPS,
};
const od_block_description od_pid_block_description = {
    .equations = &od_pid_block,
    .summary = "kp e + ki integral + kd s/(Tf s + 1) e, within limits",
    .inputs = {{"input"}},
    .fields = {{"kp", OD_UNIT_RATIO, OD_ANY, NAN, "proportional gain"},
               {"ki", OD_UNIT_RATIO_RATE, OD_ANY, 0, "integral gain"},
               {"kd", OD_UNIT_RATIO_TIME, OD_ANY, 0, "derivative gain"},
               {"filter", "s", OD_POSITIVE, 0.01, "time constant Tf of the derivative's filter", .required_with = "kd",
                .limits = {1e-9, 1e6, 1e-6, 100}},
               {"limits", OD_UNIT_OUT, OD_ANY, NAN, "[lower, upper] limits of the output", .shape = OD_BOUNDS,
                .optional = true},
               {"tracking", "s", OD_POSITIVE, 0.01,
                "time constant with which the integral brings the output back to the limits; "
                "default: computed from the gains",
                .optional = true, .only_with = "limits", .only_with_purpose = "to track",
                .limits = {1e-9, 1e6, 1e-6, 1e3}}},
    .choices = {[DERIVATIVE] = {OD_CHOICE_GIVEN, "kd"},
                [LIMITED] = {OD_CHOICE_GIVEN, "limits"},
                [TRACKING] = {OD_CHOICE_GIVEN, "tracking"}},
    .outputs = {""},
    .state = {{"integral", OD_UNIT_OUT}, {"filter", OD_UNIT_IN}},
};
#endif
