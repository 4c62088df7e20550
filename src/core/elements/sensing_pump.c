// Load-sensing pump: delivers the flow that keeps its pressure above the load pressure by `margin`, up to a cut-off
// pressure. The suction pressure is zero.
//   Q = flow * swash - leakage * p_to
//   swash' = ((1 - limit((p_to - p_load - margin) / range)) (1 - limit((p_to - cutoff) / range)) - swash) / time_constant
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x to, load, swash;
} X(in);
typedef struct X(numbers) {
  od_x flow, margin, cutoff, range, leakage, time_constant;
} X(numbers);
#include "elements/pump_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x wanted = (1 - X(spring_opening)(in->to - in->load, q->margin, q->range)) *
                (1 - X(spring_opening)(in->to, q->cutoff, q->range));
  X(pump)(in, q, s, 0, wanted, out);
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = -out->flow * in->to;
  r->stored = 0;
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double above = 1 - spring_opening_r(in->to - in->load, q->margin, q->range);
  double below = 1 - spring_opening_r(in->to, q->cutoff, q->range);
  *by = pump_slopes(q, s);
  by->rate.load = spring_opening_slope(in->to - in->load, q->margin, q->range) * below / q->time_constant;
  by->rate.to = -by->rate.load - above * spring_opening_slope(in->to, q->cutoff, q->range) / q->time_constant;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/sensing_pump.c"
#include "elements/element_template_x.h"

const od_element_class od_sensing_pump_class = {
    .name = "load-sensing pump",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_END, 0}, {OD_TO_RATE, 0}},
    .supplies = true,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_sensing_pump_description = {
    .equations = &od_sensing_pump_class,
    .section = "sensing_pumps",
    .noun = "load-sensing pump",
    .heading = "Load-sensing pumps",
    .summary = "pump that keeps its pressure above the load pressure by a margin",
    .ends = {{"to", 1}, {"load", 1, .role = OD_END_SENSE}},
    OD_FIELDS(
        OD_FIELD("flow", "m3/s", OD_POSITIVE, NAN, 1e-9, 10, 1e-6, 0.1, "flow at the largest displacement"),
        OD_FIELD("margin", "Pa", OD_NOT_NEGATIVE, NAN, 0, 1e10, 1e5, 1e7,
                 "pressure above the load pressure at which the displacement begins to decrease"),
        OD_FIELD("cutoff", "Pa", OD_POSITIVE, NAN, 1e3, 1e10, 1e6, 1e8,
                 "pressure at which the displacement begins to decrease at any load pressure"),
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
    .shut_off = {.field = 2, .range = 3, .end = 0},
};
#endif
