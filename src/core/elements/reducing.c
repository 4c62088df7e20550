// Reducing valve: limits the downstream pressure relative to the drain. The spool closes the passage from the supply while this
// pressure rises from `set` to set + range. If `drains` is above zero, the spool opens the passage to the drain while the pressure
// rises further by `range`.
//   Q = max(spool, 0) * area * discharge * sqrt(2/rho) * root(p_from - p_to)
//   Q_drain = max(-spool, 0) * drains * area * discharge * sqrt(2/rho) * root(p_to - p_drain)
//   spool' = (limit(y) - limit(-y) - spool) / time_constant,    y = (set + range - (p_to - p_drain)) / range
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, drain, spool;
} X(in);
typedef struct X(numbers) {
  od_x set, range, area, discharge, drains, time_constant;
} X(numbers);
typedef struct X(out) {
  od_x flow, inflow, drained, rate;  // flow: flow out of the supply
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);
#include "elements/metering_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x y = (q->set + q->range - (in->to - in->drain)) / q->range;
  od_x supply = X(edge_flow)(in->spool, q->area, q->discharge, in->from - in->to, s.oil);
  out->drained = X(edge_flow)(-in->spool, q->drains * q->area, q->discharge, in->to - in->drain, s.oil);
  out->flow = -supply;
  out->inflow = supply - out->drained;
  out->rate = (X(rounded_limit)(y) - X(rounded_limit)(-y) - in->spool) / q->time_constant;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = -out->flow * (in->from - in->to) + out->drained * (in->to - in->drain);
  r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, inflow, drained, rate;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double y = (q->set + q->range - (in->to - in->drain)) / q->range;
  double rate = (limit_slope(y) + limit_slope(-y)) / (q->range * q->time_constant);
  edge_flow_slopes supply = slopes_of_edge_flow(in->spool, q->area, q->discharge, in->from - in->to, s.oil);
  edge_flow_slopes drain =
      slopes_of_edge_flow(-in->spool, q->drains * q->area, q->discharge, in->to - in->drain, s.oil);
  by->drained = (in_r){.to = drain.dp, .drain = -drain.dp, .spool = -drain.opening};
  by->flow = (in_r){.from = -supply.dp, .to = supply.dp, .spool = -supply.opening};
  by->inflow = (in_r){
      .from = supply.dp, .to = -supply.dp - drain.dp, .drain = drain.dp, .spool = supply.opening + drain.opening};
  by->rate = (in_r){.to = -rate, .drain = rate, .spool = -1 / q->time_constant};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/reducing.c"
#include "elements/element_template_x.h"

const od_element_class od_reducing_class = {
    .name = "reducing valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_PRESSURE, 2}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_END, 0}, {OD_TO_END, 1}, {OD_TO_END, 2}, {OD_TO_RATE, 0}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_reducing_description = {
    .equations = &od_reducing_class,
    .section = "reducing_valves",
    .noun = "reducing valve",
    .heading = "Reducing valves",
    .summary = "limits the downstream pressure; with a drain, also while oil flows back",
    .ends = {{"between", 2}, {"drain", 1, .role = OD_END_DRAIN}},
    OD_FIELDS(OD_FIELD("set", "Pa", OD_NOT_NEGATIVE, NAN, 0, 1e10, 1e4, 1e8,
                       "downstream pressure relative to the drain at which the valve begins to close"),
              OD_FIELD("range", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e7,
                       "pressure increase between the start of closing and full closing"),
              OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-8, 1e-2, "area of the open valve"),
              OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient"),
              OD_FIELD("drains", "1", OD_NOT_NEGATIVE, 1, 0, 1, 0, 1,
                       "area of the passage to the drain divided by the area of the open valve; 0: no drain"),
              OD_FIELD("time_constant", "s", OD_POSITIVE, 0.005, 1e-6, 100, 1e-4, 1, "time constant of the spool")),
    .states = {{"spool", "1", .present_if = -1, .scale = 1}},
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0, .negative = true},
                {.name = "delivered", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 1},
                {.name = "drained", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 2},
                {.name = "spool", .unit = "1", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
