// Flow divider: splits a flow into two at a fixed ratio, independent of the downstream pressures. A spool throttles the branch with
// too much flow, and moves until the flows have this ratio.
//   Q_a = share * limit(1 - spool) * area * discharge * sqrt(2/rho) * root(p - p_a)
//   Q_b = (1 - share) * limit(1 + spool) * area * discharge * sqrt(2/rho) * root(p - p_b)
//   spool' = (Q_a/share - Q_b/(1 - share)) / (nominal * time_constant)
// Near its ends, where one branch is closed, the spool slows down to a stop.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, a, b, spool;
} X(in);
typedef struct X(numbers) {
  od_x share, area, discharge, nominal, time_constant;
} X(numbers);
typedef struct X(out) {
  od_x flow, a, b, rate;  // flow: flow into the upstream node, negative
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);
#include "elements/metering_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x full_a = X(edge_flow)(X(rounded_limit)(1 - in->spool), q->area, q->discharge, in->from - in->a, s.oil);
  od_x full_b = X(edge_flow)(X(rounded_limit)(1 + in->spool), q->area, q->discharge, in->from - in->b, s.oil);
  od_x drive = (full_a - full_b) / (q->nominal * q->time_constant);
  od_x room = OD_SELECT(RE(drive) > 0, 1 - in->spool, 1 + in->spool);
  out->a = q->share * full_a;
  out->b = (1 - q->share) * full_b;
  out->flow = -out->a - out->b;
  out->rate = drive * X(smooth_step)(20 * room);
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = out->a * (in->from - in->a) + out->b * (in->from - in->b);
  r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, a, b, rate;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double open_a = rounded_limit_r(1 - in->spool), open_b = rounded_limit_r(1 + in->spool);
  edge_flow_slopes a = slopes_of_edge_flow(open_a, q->area, q->discharge, in->from - in->a, s.oil);
  edge_flow_slopes b = slopes_of_edge_flow(open_b, q->area, q->discharge, in->from - in->b, s.oil);
  double spool_a = -a.opening * limit_slope(1 - in->spool), spool_b = b.opening * limit_slope(1 + in->spool);
  by->a = (in_r){.from = q->share * a.dp, .a = -q->share * a.dp, .spool = q->share * spool_a};
  by->b = (in_r){.from = (1 - q->share) * b.dp, .b = -(1 - q->share) * b.dp, .spool = (1 - q->share) * spool_b};
  by->flow = (in_r){-by->a.from - by->b.from, -by->a.a, -by->b.b, -by->a.spool - by->b.spool};
  // The rate of the spool without end stops, and its derivatives with the limit near the ends.
  double drive = (out->a / q->share - out->b / (1 - q->share)) / (q->nominal * q->time_constant);
  double side = drive > 0 ? -1 : 1, room = 1 + side * in->spool;
  double per_flow = smooth_step_r(20 * room) / (q->nominal * q->time_constant);
  by->rate = (in_r){.from = per_flow * (a.dp - b.dp),
                    .a = -per_flow * a.dp,
                    .b = per_flow * b.dp,
                    .spool = per_flow * (spool_a - spool_b) + drive * 20 * side * step_slope(20 * room)};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/divider.c"
#include "elements/element_template_x.h"

const od_element_class od_divider_class = {
    .name = "flow divider",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_PRESSURE, 2}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_END, 0}, {OD_TO_END, 1}, {OD_TO_END, 2}, {OD_TO_RATE, 0}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_divider_description = {
    .equations = &od_divider_class,
    .section = "flow_dividers",
    .noun = "flow divider",
    .heading = "Flow dividers",
    .summary = "splits a flow into two at a fixed ratio, independent of the downstream pressures",
    .ends = {{"from", 1}, {"to", 2}},
    OD_FIELDS(
        OD_FIELD("share", "1", OD_POSITIVE, 0.5, 1e-3, 0.999, 0.05, 0.95, "fraction of the flow in the first branch"),
        OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-8, 1e-2, "total area of both branches"),
        OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient"),
        OD_FIELD("nominal", "m3/s", OD_POSITIVE, NAN, 1e-9, 10, 1e-6, 0.1, "nominal flow"),
        OD_FIELD("time_constant", "s", OD_POSITIVE, 0.01, 1e-6, 100, 1e-4, 1,
                 "time constant of the spool at the nominal flow")),
    .states = {{"spool", "1", .present_if = -1, .scale = 1}},
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0, .negative = true},
                {.name = "flow_a", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 1},
                {.name = "flow_b", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 2},
                {.name = "spool", .unit = "1", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
