// Hydraulic pump or motor in a joint with the loss model of Wilson and Schloesser: slip through laminar gaps and one turbulent gap,
// drag of the oil, friction proportional to pressure, and dry friction.
//   D = displacement * setting * signal,    dp = p_from - p_to
//   Q = D * speed + slip * displacement / mu * dp + jet * sqrt(2/rho) * root(dp)
//   force = D * dp - drag * mu * displacement * speed - (dry * displacement * |dp| + breakaway) * tanh(speed / slow)
// slip, drag and dry are dimensionless in a revolute joint, where displacement is the volume per radian. |dp| is rounded within the
// oil's smoothing. The viscosity mu is the value at the mean of both pressures. `efficiency` is the output power divided by the
// input power, as a motor or as a pump; 0 if both sides supply power.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, speed, signal;
} X(in);
typedef struct X(numbers) {
  od_x displacement, slip, jet, drag, dry, breakaway, slow, setting;
} X(numbers);
typedef struct X(out) {
  od_x flow, force;
} X(out);
typedef struct X(report) {
  od_x loss, stored, slip, efficiency;
} X(report);

static inline od_x X(slip)(const X(in) * in, const X(numbers) * q, const od_x *oil) {
  od_x dp = in->from - in->to, mu = X(viscosity)(oil, (in->from + in->to) / 2);
  return q->slip * q->displacement / mu * dp +
         q->jet * oil[OD_OIL_STATE_ROOT] * X(smooth_root)(dp, oil[OD_OIL_STATE_SMOOTHING]);
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x dp = in->from - in->to, D = q->displacement * q->setting * in->signal, e = s.oil[OD_OIL_STATE_SMOOTHING];
  od_x mu = X(viscosity)(s.oil, (in->from + in->to) / 2), pressed = od_x_sqrt(dp * dp + e * e);
  out->flow = D * in->speed + X(slip)(in, q, s.oil);
  out->force = D * dp - q->drag * mu * q->displacement * in->speed -
               (q->dry * q->displacement * pressed + q->breakaway) * od_x_tanh(in->speed / q->slow);
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  od_x oil = (in->from - in->to) * out->flow, shaft = out->force * in->speed;
  r->loss = oil - shaft;
  r->stored = 0;
  r->slip = X(slip)(in, q, s.oil);
  r->efficiency =
      OD_SELECT(RE(oil) > 0 && RE(shaft) > 0, shaft / oil, OD_SELECT(RE(oil) < 0 && RE(shaft) < 0, oil / shaft, 0));
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, force;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double dp = in->from - in->to, full = q->displacement * q->setting, D = full * in->signal;
  double e = s.oil[OD_OIL_STATE_SMOOTHING], pressed = sqrt(dp * dp + e * e);
  double mu = viscosity_r(s.oil, (in->from + in->to) / 2), thicker = viscosity_slope(s.oil, mu) / 2;
  double laminar = q->slip * q->displacement / mu, sliding = tanh(in->speed / q->slow);
  // Derivatives with respect to dp, and with respect to each pressure through the viscosity.
  double flow = laminar + q->jet * s.oil[OD_OIL_STATE_ROOT] * root_slope(dp, e), flow_mu = -laminar / mu * dp * thicker;
  double force = D - q->dry * q->displacement * dp / pressed * sliding;
  double force_mu = -q->drag * thicker * q->displacement * in->speed;
  by->flow = (in_r){.from = flow + flow_mu, .to = -flow + flow_mu, .speed = D, .signal = full * in->speed};
  by->force = (in_r){.from = force + force_mu,
                     .to = -force + force_mu,
                     .speed = -q->drag * mu * q->displacement - (q->dry * q->displacement * pressed + q->breakaway) *
                                                                    tanh_slope(in->speed / q->slow) / q->slow,
                     .signal = full * dp};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/displacement_unit.c"
#include "elements/element_template_x.h"

const od_element_class od_displacement_unit_class = {
    .name = "displacement unit",
    .acts = OD_ACTS_IN_JOINT,
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_SPEED}, {OD_IN_SIGNAL}},
    .out = {{OD_TO_THROUGH}, {OD_TO_FORCE}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_displacement_unit_description = {
    .equations = &od_displacement_unit_class,
    .section = "displacement_units",
    .noun = "displacement unit",
    .heading = "Displacement units",
    .summary =
        "pump or motor in a joint, with fixed or variable displacement, with slip and friction from loss coefficients",
    .ends = {{"between", 2}},
    OD_FIELDS(OD_FIELD("displacement", "m2", OD_POSITIVE, NAN, 1e-12, 10, 1e-7, 1e-1,
                       "displaced volume per radian, or per meter in a prismatic joint", .turning_unit = "m3/rad",
                       .turning_limits = {1e-12, 10, 1e-8, 1e-2}),
              OD_FIELD("slip", "m", OD_NOT_NEGATIVE, 0, 0, 1, 0, 1e-5, "coefficient of laminar slip",
                       .turning_unit = "1", .turning_limits = {0, 1, 0, 1e-6}),
              OD_FIELD("jet", "m2", OD_NOT_NEGATIVE, 0, 0, 1, 0, 1e-5, "area of a turbulent gap"),
              OD_FIELD("drag", "1/m", OD_NOT_NEGATIVE, 0, 0, 1e12, 0, 1e8, "coefficient of the oil's drag",
                       .turning_unit = "1", .turning_limits = {0, 1e12, 0, 1e7}),
              OD_FIELD("dry", "1", OD_NOT_NEGATIVE, 0, 0, 1, 0, 0.3,
                       "coefficient of the friction that is proportional to pressure"),
              OD_FIELD("breakaway", "N", OD_NOT_NEGATIVE, 0, 0, 1e9, 0, 1e5, "friction without pressure",
                       .turning_unit = "N m", .turning_limits = {0, 1e9, 0, 1e4}),
              OD_FIELD("slow", "m/s", OD_POSITIVE, 0.1, 1e-6, 1e3, 1e-3, 10,
                       "speed scale of the smooth sign change of dry friction, tanh(speed/slow)",
                       .turning_unit = "rad/s", .turning_limits = {1e-6, 1e4, 1e-3, 100}),
              OD_FIELD("setting", "1", OD_ANY, 1, -1e3, 1e3, -1, 1,
                       "fraction of the full displacement; negative: reversed", .follows_signal = true)),
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "force", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_OUT, .index = 1},
                {.name = "slip", .unit = "m3/s", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_OWN},
                {.name = "efficiency", .unit = "1", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_OWN + 1},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
    .drives = OD_DRIVES_BY_DIFFERENCE,
};
#endif
