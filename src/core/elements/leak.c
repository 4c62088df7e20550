// Leak: laminar flow proportional to the pressure difference. The leakage past the piston of a cylinder is also an element of this
// class.
//   Q = slope * (p_from - p_to), at the viscosity of the oil's reference temperature; warmer oil leaks more
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to;
} X(in);
typedef struct X(numbers) {
  od_x slope;
} X(numbers);
#include "elements/flow_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  out->flow = q->slope * s.oil[OD_OIL_STATE_THINNESS] * (in->from - in->to);
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)in, (void)out;
  by->flow.from = q->slope * s.oil[OD_OIL_STATE_THINNESS];
  by->flow.to = -by->flow.from;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/leak.c"
#include "elements/element_template_x.h"

const od_element_class od_leak_class = {
    .name = "leak",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}},
    .out = {{OD_TO_THROUGH}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_leak_description = {
    .equations = &od_leak_class,
    .section = "leaks",
    .noun = "leak",
    .heading = "Leaks",
    .summary = "laminar flow proportional to the pressure difference",
    .inside = "leakage",
    .ends = {{"between", 2}},
    OD_FIELDS(OD_FIELD("slope", "m3/s/Pa", OD_NOT_NEGATIVE, NAN, 0, 1e-3, 1e-17, 1e-7, "flow per pressure difference")),
    .outputs = {OD_FLOW_OUTPUTS},
};
#endif
