// Proportional valve defined by its data sheet, 3/3 or 4/3, with any center. A positive spool position opens port a to the first
// line (from the pump) and port b to the second line (to the tank); a negative spool position opens port a to the second line and
// port b to the first line.
//   t = (spool - offset) / stroke,    opening(t) = (t - overlap) / (1 - overlap) between 0 and 1
//   Q = nominal_flow * opening(+-t) * root(dp) / sqrt(nominal_drop)
// Edges to the second line have their own overlap, and an edge between the lines is open about the center:
//   opening = idle * (1 - (t / idle_width)^2), not below zero
//   closed center: overlaps of zero and more;  open center: both negative;  float center: tank_overlap negative;
//   tandem center: idle
// The dynamics of the spool are in held_spool_x.h.
#ifdef OD_ELEMENT_TEXT
#include "elements/servo_spool_tables.h"

typedef struct X(in) {
  od_x first, second, a, b, command, spool, speed, held;
} X(in);
typedef struct X(numbers) {
  OD_HELD_SPOOL_NUMBERS;
  od_x overlap, tank_overlap, idle, idle_width;
} X(numbers);
typedef struct X(out) {
  od_x to_first, to_second, to_a, to_b;  // flows out of the valve
  od_x travel_rate, speed_rate, held_rate;
} X(out);
#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r to_first, to_second, to_a, to_b, travel_rate, speed_rate, held_rate;
} slopes_r;
#endif
#include "elements/held_spool_x.h"
#include "elements/four_port_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x t = (in->spool - q->offset) / q->stroke, share = t / q->idle_width;
  X(edge_flows)
  flow = {.first_a = X(edge)(t, q->overlap) * X(nominal)(q, in->first - in->a, s.oil),
          .second_a = X(edge)(-t, q->tank_overlap) * X(nominal)(q, in->second - in->a, s.oil)};
  if (s.choice[0]) {
    flow.first_b = X(edge)(-t, q->overlap) * X(nominal)(q, in->first - in->b, s.oil);
    flow.second_b = X(edge)(t, q->tank_overlap) * X(nominal)(q, in->second - in->b, s.oil);
  }
  od_x across = q->idle * X(between)(1 - share * share, 0, 1) * X(nominal)(q, in->first - in->second, s.oil);
  X(join_edges)(&flow, out);
  out->to_first -= across;
  out->to_second += across;
  X(held_spool_rates)(in, q, -q->stroke, &out->travel_rate, &out->speed_rate, &out->held_rate);
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double t = (in->spool - q->offset) / q->stroke, share = t / q->idle_width, idle = 1 - share * share;
  double open = edge_r(t, q->overlap), open_slope = edge_slope(t, q->overlap) / q->stroke;
  double tank = edge_r(-t, q->tank_overlap), tank_slope = -edge_slope(-t, q->tank_overlap) / q->stroke;
  four_edge_slopes d = {.first_a = slopes_of_edge(q, open, open_slope, in->first - in->a, s.oil),
                        .second_a = slopes_of_edge(q, tank, tank_slope, in->second - in->a, s.oil)};
  if (s.choice[0]) {
    open = edge_r(-t, q->overlap), open_slope = -edge_slope(-t, q->overlap) / q->stroke;
    tank = edge_r(t, q->tank_overlap), tank_slope = edge_slope(t, q->tank_overlap) / q->stroke;
    d.first_b = slopes_of_edge(q, open, open_slope, in->first - in->b, s.oil);
    d.second_b = slopes_of_edge(q, tank, tank_slope, in->second - in->b, s.oil);
  }
  edge_slopes across = slopes_of_edge(q, q->idle * between_r(idle, 0, 1),
                                      -q->idle * between_slope(idle, 0, 1) * 2 * share / (q->idle_width * q->stroke),
                                      in->first - in->second, s.oil);
  *by = (slopes_r){0};
  join_edge_slopes(&d, by);
  by->to_first.first -= across.dp, by->to_first.second += across.dp, by->to_first.spool -= across.spool;
  by->to_second.first += across.dp, by->to_second.second -= across.dp, by->to_second.spool += across.spool;
  held_spool_slopes(in, q, -q->stroke, &by->travel_rate, &by->speed_rate, &by->held_rate);
}
#endif

#else
#define OD_ELEMENT_FILE "elements/proportional_valve.c"
#include "elements/element_template_x.h"

const od_element_class od_proportional_valve_class = {
    .name = "proportional valve",
    .needs_oil = true,
    .choices = 1,
    .in = {OD_FOUR_PORT_PRESSURES, {OD_IN_SIGNAL}, {OD_IN_STATE, 0}, {OD_IN_STATE, 1}, {OD_IN_STATE, 2}},
    .out = {OD_FOUR_PORT_FLOWS, {OD_TO_RATE, 0}, {OD_TO_RATE, 1}, {OD_TO_RATE, 2}},
    .optional_ends = 1U << 3,
    .end_choice = true,
    .optional_states = OD_HELD_SPOOL_OPTIONAL,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_proportional_valve_description = {
    .equations = &od_proportional_valve_class,
    .section = "proportional_valves",
    .noun = "proportional valve",
    .heading = "Proportional valves",
    .summary =
        "3/3 or 4/3 valve defined by its nominal flow at a nominal pressure drop, with a closed, open, float or tandem center",
    .ends = {OD_FOUR_PORT_ENDS},
    .shuts_about_center = true,
    .signal_key = "command",
    OD_FIELDS(OD_HELD_SPOOL_FIELDS,
              OD_FIELD("overlap", "1", OD_ANY, 0, -0.9, 0.9, -0.2, 0.3,
                       "fraction of the stroke before an edge to the first line opens; negative: underlap"),
              OD_FIELD("tank_overlap", "1", OD_ANY, 0, -0.9, 0.9, -0.2, 0.3,
                       "fraction of the stroke before an edge to the second line opens; negative: underlap",
                       .same_as = "overlap"),
              OD_FIELD("idle", "1", OD_NOT_NEGATIVE, 0, 0, 100, 0, 2,
                       "opening between the two lines at the center, relative to a fully open edge; 0: closed"),
              OD_FIELD("idle_width", "1", OD_POSITIVE, 0.2, 1e-3, 1, 0.02, 0.5,
                       "fraction of the stroke at which the opening between the two lines is closed")),
    OD_RULES(OD_HELD_SPOOL_RULE),
    .states = {OD_HELD_SPOOL_STATES},
    .outputs = {OD_HELD_SPOOL_OUTPUTS, OD_FOUR_PORT_OUTPUTS},
};
#endif
