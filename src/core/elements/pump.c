// Pump: a given flow, independent of the pressures.
//   Q = flow * signal
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, signal;
} X(in);
typedef struct X(numbers) {
  od_x flow;
} X(numbers);
#include "elements/flow_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  out->flow = q->flow * in->signal;
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)in, (void)s, (void)out;
  *by = (slopes_r){.flow = {.signal = q->flow}};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/pump.c"
#include "elements/element_template_x.h"

const od_element_class od_pump_class = {
    .name = "pump",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_SIGNAL}},
    .out = {{OD_TO_THROUGH}},
    .supplies = true,
    .optional_ends = 1U << 0,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_pump_description = {
    .equations = &od_pump_class,
    .section = "pumps",
    .noun = "pump",
    .heading = "Pumps",
    .summary = "given flow, independent of the pressures",
    .ends = {{"from", 1, true}, {"to", 1}},
    OD_FIELDS(OD_FIELD("flow", "m3/s", OD_ANY, NAN, -10, 10, -0.1, 0.1, "delivered flow", .follows_signal = true)),
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "power", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS, .negative = true},
                {.name = "work", .unit = "J", .shows = OD_SHOWS_INTEGRAL, .negative = true}},
    .rated_flow = {1, {0}},
};
#endif
