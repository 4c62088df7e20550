// Servo valve defined by its data sheet: nominal flow at a nominal pressure drop across one edge, a second-order spool with a
// limited rate, and one or two ports. A positive spool position opens port a to the first line and port b to the second line; a
// negative spool position opens port a to the second line and port b to the first line. The valve is a 3/3 valve without port b
// and a 4/3 valve with port b.
//   t = (spool - offset) / stroke,    opening(t) = (t - overlap) / (1 - overlap) between 0 and 1
//   Q = nominal_flow * opening(+-t) * root(dp) / sqrt(nominal_drop)
//   spool' = stroke v,   v' = w^2 (u - spool)/stroke - 2 damping w v,   u: the command within the stroke
// The dynamics of the spool are in servo_spool_x.h.
#ifdef OD_ELEMENT_TEXT
#include "elements/servo_spool_tables.h"

typedef struct X(in) {
  od_x first, second, a, b, command, spool, speed;
} X(in);
typedef struct X(numbers) {
  OD_SERVO_SPOOL_NUMBERS;
  od_x overlap;
} X(numbers);
typedef struct X(out) {
  od_x to_first, to_second, to_a, to_b;  // flows out of the valve
  od_x travel_rate, speed_rate;
} X(out);
#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r to_first, to_second, to_a, to_b, travel_rate, speed_rate;
} slopes_r;
#endif
#include "elements/servo_spool_x.h"
#include "elements/four_port_x.h"

// Returns the opening of the edges that open with a positive (side 1) or a negative (side -1) spool position.
static inline od_x X(opening)(const X(in) * in, const X(numbers) * q, int side) {
  od_x open = (side * (in->spool - q->offset) / q->stroke - q->overlap) / (1 - q->overlap);
  return OD_SELECT(RE(open) <= 0, 0, OD_SELECT(RE(open) >= 1, 1, open));
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x full = q->nominal_flow / od_x_sqrt(q->nominal_drop), e = s.oil[OD_OIL_STATE_SMOOTHING];
  od_x ahead = full * X(opening)(in, q, 1), back = full * X(opening)(in, q, -1);
  X(edge_flows)
  flow = {.first_a = ahead * X(smooth_root)(in->first - in->a, e),
          .second_a = back * X(smooth_root)(in->second - in->a, e)};
  if (s.choice[OD_SERVO_VALVE_TWO_PORTS]) {
    flow.first_b = back * X(smooth_root)(in->first - in->b, e);
    flow.second_b = ahead * X(smooth_root)(in->second - in->b, e);
  }
  X(join_edges)(&flow, out);
  X(spool_rates)(in, q, X(between)(in->command, -q->stroke, q->stroke), &out->travel_rate, &out->speed_rate);
}

#ifndef OD_COMPLEX
static inline double opening_slope(const in_r *in, const numbers_r *q, int side) {
  double open = opening_r(in, q, side);
  return open > 0 && open < 1 ? side / (q->stroke * (1 - q->overlap)) : 0;
}

static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double ahead = opening_r(in, q, 1), back = opening_r(in, q, -1);
  double ahead_slope = opening_slope(in, q, 1), back_slope = opening_slope(in, q, -1);
  four_edge_slopes d = {.first_a = slopes_of_edge(q, ahead, ahead_slope, in->first - in->a, s.oil),
                        .second_a = slopes_of_edge(q, back, back_slope, in->second - in->a, s.oil)};
  if (s.choice[OD_SERVO_VALVE_TWO_PORTS]) {
    d.first_b = slopes_of_edge(q, back, back_slope, in->first - in->b, s.oil);
    d.second_b = slopes_of_edge(q, ahead, ahead_slope, in->second - in->b, s.oil);
  }
  *by = (slopes_r){0};
  join_edge_slopes(&d, by);
  by->speed_rate.command =
      spool_slopes(in, q, &by->travel_rate, &by->speed_rate) * between_slope(in->command, -q->stroke, q->stroke);
}
#endif

#else
#include "elements/elements.h"
#define OD_ELEMENT_FILE "elements/servo_valve.c"
#include "elements/element_template_x.h"

const od_element_class od_servo_valve_class = {
    .name = "servo valve",
    .needs_oil = true,
    .choices = 1,
    .in = {OD_FOUR_PORT_PRESSURES, {OD_IN_SIGNAL}, {OD_IN_STATE, 0}, {OD_IN_STATE, 1}},
    .out = {OD_FOUR_PORT_FLOWS, {OD_TO_RATE, 0}, {OD_TO_RATE, 1}},
    .optional_ends = 1U << 3,
    .end_choice = true,
    .optional_states = OD_SERVO_SPOOL_OPTIONAL,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_servo_valve_description = {
    .equations = &od_servo_valve_class,
    .section = "servo_valves",
    .noun = "servo valve",
    .heading = "Servo valves",
    .summary =
        "valve defined by its nominal flow at a nominal pressure drop, with a second-order spool and one or two ports",
    .ends = {OD_FOUR_PORT_ENDS},
    .shuts_about_center = true,
    .signal_key = "command",
    OD_FIELDS(
        OD_FIELD("nominal_flow", "m3/s", OD_POSITIVE, NAN, 1e-12, 10, 1e-7, 0.1,
                 "flow across one fully open edge at the nominal drop"),
        OD_FIELD("nominal_drop", "Pa", OD_POSITIVE, 3.5e6, 1, 1e9, 1e4, 1e8,
                 "pressure drop across one edge at the nominal flow"),
        OD_FIELD("frequency", "rad/s", OD_NOT_NEGATIVE, 0, 0, 1e7, 1, 1e5,
                 "natural frequency of the spool; 0: the spool equals the command"),
        OD_FIELD("damping", "1", OD_NOT_NEGATIVE, 0.7, 0, 100, 0.1, 5, "damping ratio of the spool"),
        OD_FIELD("rate_limit", "1/s", OD_NOT_NEGATIVE, 0, 0, 1e7, 0.1, 1e4,
                 "largest spool rate in strokes per second; 0: no limit"),
        OD_FIELD("stroke", "*", OD_POSITIVE, 1, 0, 0, 0, 0, "spool position at full opening",
                 .limits_in_m = OD_STROKE_LIMITS),
        OD_FIELD("offset", "*", OD_ANY, 0, 0, 0, 0, 0, "spool position that counts as zero, the hydraulic center"),
        OD_FIELD("overlap", "1", OD_ANY, 0, -0.9, 0.9, -0.2, 0.3,
                 "fraction of the stroke before an edge opens; negative: underlap")),
    .states = {OD_SERVO_SPOOL_STATES},
    .outputs = {OD_SERVO_SPOOL_OUTPUTS, OD_FOUR_PORT_OUTPUTS},
};
#endif
