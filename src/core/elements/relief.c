// Relief valve: oil flows when the pressure difference exceeds the setting of the valve; the corner is rounded.
//   Q = slope * ramp(p_from - p_to - set)
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to;
} X(in);
typedef struct X(numbers) {
  od_x set, slope;
} X(numbers);
#include "elements/flow_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  out->flow = q->slope * X(rounded_ramp)(in->from - in->to - q->set, s.oil[OD_OIL_STATE_SMOOTHING]);
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  by->flow.from = q->slope * ramp_slope(in->from - in->to - q->set, s.oil[OD_OIL_STATE_SMOOTHING]);
  by->flow.to = -by->flow.from;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/relief.c"
#include "elements/element_template_x.h"

const od_element_class od_relief_class = {
    .name = "relief valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}},
    .out = {{OD_TO_THROUGH}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_relief_description = {
    .equations = &od_relief_class,
    .section = "reliefs",
    .noun = "relief valve",
    .heading = "Relief valves",
    .summary = "lets oil pass above a set pressure difference, without dynamics",
    .ends = {{"between", 2}},
    OD_FIELDS(
        OD_FIELD("set", "Pa", OD_NOT_NEGATIVE, NAN, 0, 1e10, 1e4, 1e8, "pressure difference at which the valve opens"),
        OD_FIELD("slope", "m3/s/Pa", OD_POSITIVE, NAN, 0, 1e-3, 1e-17, 1e-7, "flow per pressure above 'set'")),
    .outputs = {OD_FLOW_OUTPUTS},
};
#endif
