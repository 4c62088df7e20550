// Fixed-displacement pump with a drive. The drive follows a desired speed as far as its torque allows. The inertia of drive and
// pump and the torque of the pump act against the drive. The state is the speed.
//   Q = displacement * speed - leakage * dp,    dp = p_to - p_from
//   inertia * speed' = T - displacement * dp - viscous * speed,    T = torque * tanh(gain * (wanted - speed) / torque)
// Leakage and viscous friction depend on the oil's viscosity; both heat the oil.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, signal, speed;
} X(in);
typedef struct X(numbers) {
  od_x displacement, wanted, inertia, torque, gain, leakage, viscous;
} X(numbers);
typedef struct X(out) {
  od_x flow, rate, torque;
} X(out);
typedef struct X(report) {
  od_x loss, stored, supply;
} X(report);

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x dp = in->to - in->from;
  out->torque = q->torque * od_x_tanh(q->gain * (q->wanted * in->signal - in->speed) / q->torque);
  out->flow = q->displacement * in->speed - q->leakage * s.oil[OD_OIL_STATE_THINNESS] * dp;
  out->rate = (out->torque - q->displacement * dp - q->viscous / s.oil[OD_OIL_STATE_THINNESS] * in->speed) / q->inertia;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  od_x dp = in->to - in->from, thinness = s.oil[OD_OIL_STATE_THINNESS];
  r->loss = q->leakage * thinness * dp * dp + q->viscous / thinness * in->speed * in->speed;
  r->supply = out->torque * in->speed;
  r->stored = q->inertia * in->speed * in->speed / 2;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, rate, torque;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double leakage = q->leakage * s.oil[OD_OIL_STATE_THINNESS];
  double gain = q->gain * tanh_slope(q->gain * (q->wanted * in->signal - in->speed) / q->torque);
  by->torque = (in_r){.signal = gain * q->wanted, .speed = -gain};
  by->flow = (in_r){.from = leakage, .to = -leakage, .speed = q->displacement};
  by->rate = (in_r){.from = q->displacement / q->inertia,
                    .to = -q->displacement / q->inertia,
                    .signal = by->torque.signal / q->inertia,
                    .speed = -(gain + q->viscous / s.oil[OD_OIL_STATE_THINNESS]) / q->inertia};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/driven_pump.c"
#include "elements/element_template_x.h"

enum { DISPLACEMENT, WANTED };

const od_element_class od_driven_pump_class = {
    .name = "driven pump",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_SIGNAL}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_THROUGH}, {OD_TO_RATE, 0}, {OD_TO_NOTHING}},
    .supplies = true,
    .supply = OD_REPORT_OWN,
    .optional_ends = 1U << 0,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_driven_pump_description = {
    .equations = &od_driven_pump_class,
    .section = "driven_pumps",
    .noun = "driven pump",
    .heading = "Driven pumps",
    .summary = "pump with fixed displacement and a drive with inertia and limited torque",
    .ends = {{"from", 1, true}, {"to", 1}},
    OD_FIELDS(
        OD_FIELD("displacement", "m3/rad", OD_POSITIVE, NAN, 1e-12, 10, 1e-8, 1e-2, "displaced volume per radian"),
        OD_FIELD("speed", "rad/s", OD_POSITIVE, NAN, 1e-3, 1e5, 1, 1e3, "desired speed", .follows_signal = true),
        OD_FIELD("inertia", "kg m2", OD_POSITIVE, NAN, 1e-9, 1e6, 1e-4, 100, "inertia of drive and pump"),
        OD_FIELD("torque", "N m", OD_POSITIVE, NAN, 1e-6, 1e8, 0.1, 1e5, "largest torque of the drive"),
        OD_FIELD("gain", "N m s/rad", OD_POSITIVE, NAN, 1e-9, 1e9, 1e-2, 1e4,
                 "drive torque per difference between desired and actual speed"),
        OD_FIELD("leakage", "m3/s/Pa", OD_NOT_NEGATIVE, 0, 0, 1e-3, 1e-17, 1e-7,
                 "coefficient of internal leakage between the ports"),
        OD_FIELD("viscous", "N m s/rad", OD_NOT_NEGATIVE, 0, 0, 1e14, 0, 1e9, "coefficient of viscous friction")),
    .states = {{"rate", "rad/s", .present_if = -1, .scale_field = WANTED}},
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "rate", .unit = "rad/s", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "torque", .unit = "N m", .shows = OD_SHOWS_OUT, .index = 2},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.name = "power", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_OWN},
                {.name = "work", .unit = "J", .shows = OD_SHOWS_WORK},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
    .rated_flow = {2, {DISPLACEMENT, WANTED}},
};
#endif
