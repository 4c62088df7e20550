// Two-position valve defined by its data sheet: without a command, port a is open to the second line and port b to the first
// line. At full command, port a is open to the first line and port b to the second line. The valve is a 3/2 valve without port b
// and a 4/2 valve with port b.
//   t = 2 (spool - offset) / stroke - 1,    opening(t) = (t - overlap) / (1 - overlap) between 0 and 1
//   Q = nominal_flow * opening(+-t) * root(dp) / sqrt(nominal_drop)
// The spool moves between 0 and the stroke; its dynamics are in held_spool_x.h. A negative overlap connects all ports in the
// middle position.
#ifdef OD_ELEMENT_TEXT
#include "elements/servo_spool_tables.h"

typedef struct X(in) {
  od_x first, second, a, b, command, spool, speed, held;
} X(in);
typedef struct X(numbers) {
  OD_HELD_SPOOL_NUMBERS;
  od_x overlap;
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
  od_x t = 2 * (in->spool - q->offset) / q->stroke - 1;
  od_x pushed = X(edge)(t, q->overlap), rest = X(edge)(-t, q->overlap);
  X(edge_flows)
  flow = {.first_a = pushed * X(nominal)(q, in->first - in->a, s.oil),
          .second_a = rest * X(nominal)(q, in->second - in->a, s.oil)};
  if (s.choice[0]) {
    flow.first_b = rest * X(nominal)(q, in->first - in->b, s.oil);
    flow.second_b = pushed * X(nominal)(q, in->second - in->b, s.oil);
  }
  X(join_edges)(&flow, out);
  X(held_spool_rates)(in, q, 0, &out->travel_rate, &out->speed_rate, &out->held_rate);
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double t = 2 * (in->spool - q->offset) / q->stroke - 1;
  double pushed = edge_r(t, q->overlap), pushed_slope = 2 * edge_slope(t, q->overlap) / q->stroke;
  double rest = edge_r(-t, q->overlap), rest_slope = -2 * edge_slope(-t, q->overlap) / q->stroke;
  four_edge_slopes d = {.first_a = slopes_of_edge(q, pushed, pushed_slope, in->first - in->a, s.oil),
                        .second_a = slopes_of_edge(q, rest, rest_slope, in->second - in->a, s.oil)};
  if (s.choice[0]) {
    d.first_b = slopes_of_edge(q, rest, rest_slope, in->first - in->b, s.oil);
    d.second_b = slopes_of_edge(q, pushed, pushed_slope, in->second - in->b, s.oil);
  }
  *by = (slopes_r){0};
  join_edge_slopes(&d, by);
  held_spool_slopes(in, q, 0, &by->travel_rate, &by->speed_rate, &by->held_rate);
}
#endif

#else
#define OD_ELEMENT_FILE "elements/two_position_valve.c"
#include "elements/element_template_x.h"

const od_element_class od_two_position_valve_class = {
    .name = "two-position valve",
    .needs_oil = true,
    .choices = 1,
    .in = {OD_FOUR_PORT_PRESSURES, {OD_IN_SIGNAL}, {OD_IN_STATE, 0}, {OD_IN_STATE, 1}, {OD_IN_STATE, 2}},
    .out = {OD_FOUR_PORT_FLOWS, {OD_TO_RATE, 0}, {OD_TO_RATE, 1}, {OD_TO_RATE, 2}},
    .optional_ends = 1U << 3,
    .end_choice = true,
    .optional_states = OD_HELD_SPOOL_OPTIONAL,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_two_position_valve_description = {
    .equations = &od_two_position_valve_class,
    .section = "two_position_valves",
    .noun = "two-position valve",
    .heading = "Two-position valves",
    .summary = "3/2 or 4/2 valve defined by its nominal flow at a nominal pressure drop, with a second-order spool",
    .ends = {OD_FOUR_PORT_ENDS},
    .signal_key = "command",
    OD_FIELDS(
        OD_HELD_SPOOL_FIELDS,
        OD_FIELD("overlap", "1", OD_ANY, 0, -0.9, 0.9, -0.2, 0.3,
                 "fraction of the half stroke about the center in which all edges are closed; negative: underlap")),
    OD_RULES(OD_HELD_SPOOL_RULE),
    .states = {OD_HELD_SPOOL_STATES},
    .outputs = {OD_HELD_SPOOL_OUTPUTS, OD_FOUR_PORT_OUTPUTS},
};
#endif
