// Hydraulic motor or pump in a joint: its speed is proportional to its flow, and the pressure difference between its ends drives
// the joint.
//   Q = D * speed + leakage * (p_from - p_to),    D = displacement * setting * signal
//   force = D * (p_from - p_to) - viscous * speed
// Leakage and viscous friction depend on the oil's viscosity, as in leak.c. If the setting is given as a signal, the signal changes
// the displacement; negative values reverse the displacement. In a revolute joint displacement is the volume per radian and the
// force a torque. For dry friction, add friction to the joint.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, speed, signal;
} X(in);
typedef struct X(numbers) {
  od_x displacement, leakage, viscous, setting;
} X(numbers);
typedef struct X(out) {
  od_x flow, force;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x dp = in->from - in->to, D = q->displacement * q->setting * in->signal;
  out->flow = D * in->speed + q->leakage * s.oil[OD_OIL_STATE_THINNESS] * dp;
  out->force = D * dp - q->viscous / s.oil[OD_OIL_STATE_THINNESS] * in->speed;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)out;
  od_x dp = in->from - in->to, thinness = s.oil[OD_OIL_STATE_THINNESS];
  r->loss = q->leakage * thinness * dp * dp + q->viscous / thinness * in->speed * in->speed;
  r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, force;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double dp = in->from - in->to, full = q->displacement * q->setting, D = full * in->signal;
  double leakage = q->leakage * s.oil[OD_OIL_STATE_THINNESS];
  by->flow = (in_r){.from = leakage, .to = -leakage, .speed = D, .signal = full * in->speed};
  by->force = (in_r){.from = D, .to = -D, .speed = -q->viscous / s.oil[OD_OIL_STATE_THINNESS], .signal = full * dp};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/motor.c"
#include "elements/element_template_x.h"

const od_element_class od_motor_class = {
    .name = "motor",
    .acts = OD_ACTS_IN_JOINT,
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_SPEED}, {OD_IN_SIGNAL}},
    .out = {{OD_TO_THROUGH}, {OD_TO_FORCE}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_motor_description = {
    .equations = &od_motor_class,
    .section = "motors",
    .noun = "motor",
    .heading = "Motors",
    .summary = "hydraulic motor or pump with fixed or variable displacement that drives a joint",
    .ends = {{"between", 2}},
    OD_FIELDS(OD_FIELD("displacement", "m2", OD_POSITIVE, NAN, 1e-12, 10, 1e-7, 1e-1,
                       "displaced volume per radian, or per meter in a prismatic joint", .turning_unit = "m3/rad",
                       .turning_limits = {1e-12, 10, 1e-8, 1e-2}),
              OD_FIELD("leakage", "m3/s/Pa", OD_NOT_NEGATIVE, 0, 0, 1e-3, 1e-17, 1e-7,
                       "coefficient of internal leakage between the ports"),
              OD_FIELD("viscous", "N s/m", OD_NOT_NEGATIVE, 0, 0, 1e13, 0, 1e8, "coefficient of viscous friction",
                       .turning_unit = "N m s/rad", .turning_limits = {0, 1e14, 0, 1e9}),
              OD_FIELD("setting", "1", OD_ANY, 1, -1e3, 1e3, -1, 1,
                       "fraction of the full displacement; negative: reversed", .follows_signal = true)),
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "force", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_OUT, .index = 1},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
    .drives = OD_DRIVES_BY_DIFFERENCE,
};
#endif
