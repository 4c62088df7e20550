// Check valve: an orifice that starts to open at the pressure difference `crack` and is fully open at `full`.
//   Q = area * discharge * sqrt(2/rho) * step((dp - crack)/(full - crack)) * root(dp)
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to;
} X(in);
typedef struct X(numbers) {
  od_x area, discharge, crack, full;
} X(numbers);
#include "elements/flow_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x dp = in->from - in->to;
  out->flow = q->area * q->discharge * s.oil[OD_OIL_STATE_ROOT] *
              X(smooth_step)((dp - q->crack) / (q->full - q->crack)) *
              X(smooth_root)(dp, s.oil[OD_OIL_STATE_SMOOTHING]);
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double dp = in->from - in->to, e = s.oil[OD_OIL_STATE_SMOOTHING], range = q->full - q->crack;
  double K = q->area * q->discharge * s.oil[OD_OIL_STATE_ROOT], x = (dp - q->crack) / range;
  by->flow.from = K * (step_slope(x) / range * smooth_root_r(dp, e) + smooth_step_r(x) * root_slope(dp, e));
  by->flow.to = -by->flow.from;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/check.c"
#include "elements/element_template_x.h"

enum { AREA, DISCHARGE, CRACK, FULL };

const od_element_class od_check_class = {
    .name = "check valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}},
    .out = {{OD_TO_THROUGH}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_check_description = {
    .equations = &od_check_class,
    .section = "checks",
    .noun = "check valve",
    .heading = "Check valves",
    .summary = "lets oil pass in one direction",
    .ends = {{"between", 2}},
    OD_FIELDS(OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-9, 1, "area of the opening"),
              OD_FIELD("discharge", "1", OD_POSITIVE, NAN, 1e-4, 10, 0.3, 1.2, "discharge coefficient"),
              OD_FIELD("crack", "Pa", OD_NOT_NEGATIVE, 0, 0, 1e10, 1e2, 1e8,
                       "pressure difference at which the valve begins to open"),
              OD_FIELD("full", "Pa", OD_POSITIVE, NAN, 1e-3, 1e10, 1e3, 1e8,
                       "pressure difference at which the valve is fully open")),
    OD_RULES({FULL, CRACK, OD_RULE_GREATER, FULL, "because the valve begins to open at 'crack'"}),
    .outputs = {OD_FLOW_OUTPUTS},
};
#endif
