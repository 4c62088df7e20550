// Two-way valve (2/2) defined by its data sheet: normally closed, normally open, or with any openings at zero and at full
// command.
//   t = (spool - offset) / stroke,    opening = rest + (full - rest) (t - overlap) / (1 - overlap), the quotient between 0 and 1
//   Q = nominal_flow * opening * root(dp) / sqrt(nominal_drop)
// The dynamics of the spool are in held_spool_x.h.
#ifdef OD_ELEMENT_TEXT
#include "elements/servo_spool_tables.h"

typedef struct X(in) {
  od_x from, to, command, spool, speed, held;
} X(in);
typedef struct X(numbers) {
  OD_HELD_SPOOL_NUMBERS;
  od_x overlap, rest, full;
} X(numbers);
typedef struct X(out) {
  od_x flow, travel_rate, speed_rate, held_rate, opening;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);
#include "elements/held_spool_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  out->opening = q->rest + (q->full - q->rest) * X(edge)((in->spool - q->offset) / q->stroke, q->overlap);
  out->flow = out->opening * X(nominal)(q, in->from - in->to, s.oil);
  X(held_spool_rates)(in, q, 0, &out->travel_rate, &out->speed_rate, &out->held_rate);
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = out->flow * (in->from - in->to);
  r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, travel_rate, speed_rate, held_rate, opening;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  double change = (q->full - q->rest) * edge_slope((in->spool - q->offset) / q->stroke, q->overlap) / q->stroke;
  edge_slopes d = slopes_of_edge(q, out->opening, change, in->from - in->to, s.oil);
  *by = (slopes_r){.flow = {.from = d.dp, .to = -d.dp, .spool = d.spool}, .opening = {.spool = change}};
  held_spool_slopes(in, q, 0, &by->travel_rate, &by->speed_rate, &by->held_rate);
}
#endif

#else
#define OD_ELEMENT_FILE "elements/two_way_valve.c"
#include "elements/element_template_x.h"

const od_element_class od_two_way_valve_class = {
    .name = "two-way valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0},
           {OD_IN_PRESSURE, 1},
           {OD_IN_SIGNAL},
           {OD_IN_STATE, 0},
           {OD_IN_STATE, 1},
           {OD_IN_STATE, 2}},
    .out = {{OD_TO_THROUGH}, {OD_TO_RATE, 0}, {OD_TO_RATE, 1}, {OD_TO_RATE, 2}, {OD_TO_NOTHING}},
    .optional_states = OD_HELD_SPOOL_OPTIONAL,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_two_way_valve_description = {
    .equations = &od_two_way_valve_class,
    .section = "two_way_valves",
    .noun = "two-way valve",
    .heading = "Two-way valves",
    .summary =
        "2/2 valve defined by its nominal flow at a nominal pressure drop, normally closed or open, with a second-order spool",
    .ends = {{"between", 2}},
    .signal_key = "command",
    OD_FIELDS(
        OD_HELD_SPOOL_FIELDS,
        OD_FIELD("overlap", "1", OD_ANY, 0, -0.9, 0.9, -0.2, 0.3,
                 "fraction of the stroke before the opening begins to change"),
        OD_FIELD("rest", "1", OD_NOT_NEGATIVE, 0, 0, 1, 0, 1, "opening without a command; 1: normally open"),
        OD_FIELD("full", "1", OD_NOT_NEGATIVE, 1, 0, 1, 0, 1, "opening at full stroke; 0 for a normally open valve")),
    OD_RULES(OD_HELD_SPOOL_RULE),
    .states = {OD_HELD_SPOOL_STATES},
    .outputs = {OD_FLOW_OUTPUTS,
                {.name = "opening", .unit = "1", .shows = OD_SHOWS_OUT, .index = 4},
                OD_HELD_SPOOL_OUTPUTS},
};
#endif
