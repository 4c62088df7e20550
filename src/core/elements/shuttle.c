// Shuttle valve: connects a third node to the node with the higher pressure, a or b. The ball moves from one seat to the other
// while the pressures differ by less than `range`.
//   Q_a = max(ball, 0) * area * discharge * sqrt(2/rho) * root(p_a - p_out)
//   Q_b = max(1 - ball, 0) * area * discharge * sqrt(2/rho) * root(p_b - p_out)
//   ball' = (step(1/2 + (p_a - p_b) / (2 range)) - ball) / time_constant
// The ball has a lag. Without a lag, the pressures would not determine the position of the ball: flow from a to b raises the
// pressure at b, which moves the ball.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x a, b, to, ball;
} X(in);
typedef struct X(numbers) {
  od_x area, discharge, range, time_constant;
} X(numbers);
typedef struct X(out) {
  od_x a, b, flow, rate;  // a, b, flow: flows into the nodes at a, b and `to`
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);
#include "elements/metering_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  out->a = -X(edge_flow)(in->ball, q->area, q->discharge, in->a - in->to, s.oil);
  out->b = -X(edge_flow)(1 - in->ball, q->area, q->discharge, in->b - in->to, s.oil);
  out->flow = -out->a - out->b;
  out->rate = (X(smooth_step)((in->a - in->b) / (2 * q->range) + 0.5) - in->ball) / q->time_constant;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = -out->a * (in->a - in->to) - out->b * (in->b - in->to);
  r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r a, b, flow, rate;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  edge_flow_slopes a = slopes_of_edge_flow(in->ball, q->area, q->discharge, in->a - in->to, s.oil);
  edge_flow_slopes b = slopes_of_edge_flow(1 - in->ball, q->area, q->discharge, in->b - in->to, s.oil);
  double turn = step_slope((in->a - in->b) / (2 * q->range) + 0.5) / (2 * q->range * q->time_constant);
  by->a = (in_r){.a = -a.dp, .to = a.dp, .ball = -a.opening};
  by->b = (in_r){.b = -b.dp, .to = b.dp, .ball = b.opening};
  by->flow = (in_r){.a = a.dp, .b = b.dp, .to = -a.dp - b.dp, .ball = a.opening - b.opening};
  by->rate = (in_r){.a = turn, .b = -turn, .ball = -1 / q->time_constant};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/shuttle.c"
#include "elements/element_template_x.h"

const od_element_class od_shuttle_class = {
    .name = "shuttle valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_PRESSURE, 2}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_END, 0}, {OD_TO_END, 1}, {OD_TO_END, 2}, {OD_TO_RATE, 0}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_shuttle_description = {
    .equations = &od_shuttle_class,
    .section = "shuttles",
    .noun = "shuttle valve",
    .heading = "Shuttle valves",
    .summary = "connects an outlet to the inlet with the higher pressure",
    .ends = {{"between", 2}, {"to", 1}},
    OD_FIELDS(OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-9, 1e-2, "area of a seat"),
              OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient"),
              OD_FIELD("range", "Pa", OD_POSITIVE, 1e4, 1, 1e9, 1e3, 1e6,
                       "pressure difference at which the ball is at one of its seats"),
              OD_FIELD("time_constant", "s", OD_POSITIVE, 0.001, 1e-6, 100, 1e-4, 1, "time constant of the ball")),
    .states = {{"ball", "1", .present_if = -1, .scale_field = -1, .scale = 1, .initial = 0.5}},
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 2},
                {.name = "flow_a", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "flow_b", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 1},
                {.name = "ball", .unit = "1", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
