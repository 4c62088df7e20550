// Relief valve defined by its data sheet: nominal flow at a nominal pressure drop when fully open, and slope of the
// characteristic. Flow forces reduce the slope. The spool has a first-order lag.
//   Q = nominal_flow * opening * root(dp) / sqrt(nominal_drop),    dp = p_from - p_to
//   opening' = (limit(slope (dp - set) / (nominal_flow (1 + flow_force dp / nominal_drop))) - opening) / time_constant
// limit() restricts its argument to 0 to 1 exactly, with corners. At dp = nominal_drop the steady flow of a partly open valve is
// slope (dp - set) / (1 + flow_force).
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, opening;
} X(in);
typedef struct X(numbers) {
  od_x set, slope, flow_force, nominal_flow, nominal_drop, time_constant;
} X(numbers);
typedef struct X(out) {
  od_x flow, rate;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

// Returns the opening that the spool approaches.
static inline od_x X(target)(od_x dp, const X(numbers) * q) {
  if (RE(dp) <= RE(q->set)) return 0;
  od_x open = q->slope * (dp - q->set) / (q->nominal_flow * (1 + q->flow_force * dp / q->nominal_drop));
  return OD_SELECT(RE(open) >= 1, 1, open);
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x dp = in->from - in->to, open = OD_SELECT(RE(in->opening) < 0, 0, in->opening);
  out->flow = q->nominal_flow * open * X(smooth_root)(dp, s.oil[OD_OIL_STATE_SMOOTHING]) / od_x_sqrt(q->nominal_drop);
  out->rate = (X(target)(dp, q) - in->opening) / q->time_constant;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = out->flow * (in->from - in->to);
  r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, rate;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double dp = in->from - in->to, e = s.oil[OD_OIL_STATE_SMOOTHING], open = in->opening < 0 ? 0 : in->opening;
  double full = q->nominal_flow / sqrt(q->nominal_drop), target = target_r(dp, q);
  double force = q->flow_force / q->nominal_drop, weaker = 1 + force * dp;
  by->flow.from = full * open * root_slope(dp, e);
  by->flow.opening = in->opening < 0 ? 0 : full * smooth_root_r(dp, e);
  by->rate.from = target > 0 && target < 1
                      ? q->slope * (1 + force * q->set) / (q->nominal_flow * weaker * weaker * q->time_constant)
                      : 0;
  by->rate.opening = -1 / q->time_constant;
  by->flow.to = -by->flow.from;
  by->rate.to = -by->rate.from;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/nominal_relief.c"
#include "elements/element_template_x.h"

const od_element_class od_nominal_relief_class = {
    .name = "nominal relief valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_THROUGH}, {OD_TO_RATE, 0}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_nominal_relief_description = {
    .equations = &od_nominal_relief_class,
    .section = "nominal_reliefs",
    .noun = "nominal relief valve",
    .heading = "Nominal relief valves",
    .summary = "relief valve defined by its data sheet: nominal flow, slope, flow forces, spool with a first-order lag",
    .ends = {{"between", 2}},
    OD_FIELDS(
        OD_FIELD("set", "Pa", OD_NOT_NEGATIVE, NAN, 0, 1e10, 1e4, 1e8,
                 "pressure difference at which the valve begins to open"),
        OD_FIELD("slope", "m3/s/Pa", OD_POSITIVE, NAN, 0, 1e-3, 1e-17, 1e-7,
                 "flow per pressure above 'set' at the nominal drop, without flow forces"),
        OD_FIELD(
            "flow_force", "1", OD_NOT_NEGATIVE, 0, 0, 1e3, 0, 10,
            "relative increase of the pressure above 'set' for the same opening, due to flow forces at the nominal drop"),
        OD_FIELD("nominal_flow", "m3/s", OD_POSITIVE, NAN, 1e-12, 10, 1e-7, 0.1,
                 "flow of the fully open valve at the nominal drop"),
        OD_FIELD("nominal_drop", "Pa", OD_POSITIVE, 7e6, 1, 1e9, 1e4, 1e8, "pressure drop at the nominal flow"),
        OD_FIELD("time_constant", "s", OD_POSITIVE, 0.005, 1e-6, 100, 1e-4, 1, "time constant of the spool")),
    .states = {OD_SPOOL_STATE},
    .outputs = {OD_FLOW_OUTPUTS, OD_SPOOL_OUTPUT},
};
#endif
