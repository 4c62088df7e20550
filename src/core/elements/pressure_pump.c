// Pressure-controlled pump: reduces its displacement while its pressure difference rises from `set` to set + range.
//   Q = flow * swash - leakage * (p_to - p_from)
//   swash' = (1 - limit((p_to - p_from - set) / range) - swash) / time_constant
// `flow` is the flow at the largest displacement and at the speed of the drive.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, swash;
} X(in);
typedef struct X(numbers) {
  od_x flow, set, range, leakage, time_constant;
} X(numbers);
#include "elements/pump_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  X(pump)(in, q, s, in->from, 1 - X(spring_opening)(in->to - in->from, q->set, q->range), out);
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = out->flow * (in->from - in->to);
  r->stored = 0;
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  *by = pump_slopes(q, s);
  by->flow.from = -by->flow.to;
  by->rate.from = spring_opening_slope(in->to - in->from, q->set, q->range) / q->time_constant;
  by->rate.to = -by->rate.from;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/pressure_pump.c"
#include "elements/element_template_x.h"

const od_element_class od_pressure_pump_class = {
    .name = "pressure-controlled pump",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_THROUGH}, {OD_TO_RATE, 0}},
    .supplies = true,
    .optional_ends = 1U << 0,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_pressure_pump_description = {
    .equations = &od_pressure_pump_class,
    .section = "pressure_pumps",
    .noun = "pressure-controlled pump",
    .heading = "Pressure-controlled pumps",
    .summary = "pump that reduces its displacement at a set pressure",
    .ends = {{"from", 1, true}, {"to", 1}},
    OD_FIELDS(
        OD_FIELD("flow", "m3/s", OD_POSITIVE, NAN, 1e-9, 10, 1e-6, 0.1, "flow at the largest displacement"),
        OD_FIELD("set", "Pa", OD_POSITIVE, NAN, 1e3, 1e10, 1e5, 1e8,
                 "pressure difference at which the displacement begins to decrease"),
        OD_FIELD("range", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e7,
                 "pressure increase between full and zero displacement"),
        OD_FIELD("leakage", "m3/s/Pa", OD_NOT_NEGATIVE, 0, 0, 1e-3, 1e-17, 1e-7,
                 "coefficient of the leakage back to the suction side"),
        OD_FIELD("time_constant", "s", OD_POSITIVE, 0.03, 1e-6, 100, 1e-3, 1, "time constant of the swash plate")),
    .states = {{"swash", "1", .present_if = -1, .scale = 1, .initial = 1}},
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "swash", .unit = "1", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "power", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS, .negative = true},
                {.name = "work", .unit = "J", .shows = OD_SHOWS_INTEGRAL, .negative = true}},
    .rated_flow = {1, {0}},
    .shut_off = {.field = 1, .range = 2, .end = 1},
};
#endif
