// Orifice: turbulent flow through an opening, smooth at small pressure differences. A negative signal closes the orifice. With a
// negative opening, oil would flow against the pressure difference and supply energy.
//   Q = area * discharge * opening * max(signal, 0) * sqrt(2/rho) * root(p_from - p_to)
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, signal;
} X(in);
typedef struct X(numbers) {
  od_x area, discharge, opening;
} X(numbers);
#include "elements/flow_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  out->flow = q->area * q->discharge * q->opening * X(not_negative)(in->signal) * s.oil[OD_OIL_STATE_ROOT] *
              X(smooth_root)(in->from - in->to, s.oil[OD_OIL_STATE_SMOOTHING]);
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double K = q->area * q->discharge * q->opening * s.oil[OD_OIL_STATE_ROOT], e = s.oil[OD_OIL_STATE_SMOOTHING];
  by->flow.from = K * not_negative_r(in->signal) * root_slope(in->from - in->to, e);
  by->flow.to = -by->flow.from;
  by->flow.signal = in->signal < 0 ? 0 : K * smooth_root_r(in->from - in->to, e);
}
#endif

#else
#define OD_ELEMENT_FILE "elements/orifice.c"
#include "elements/element_template_x.h"

const od_element_class od_orifice_class = {
    .name = "orifice",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_SIGNAL}},
    .out = {{OD_TO_THROUGH}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_orifice_description = {
    .equations = &od_orifice_class,
    .section = "orifices",
    .noun = "orifice",
    .heading = "Orifices",
    .summary = "turbulent flow through an opening; a negative signal closes the orifice",
    .ends = {{"between", 2}},
    OD_FIELDS(OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-9, 1, "area of the opening"),
              OD_FIELD("discharge", "1", OD_POSITIVE, NAN, 1e-4, 10, 0.3, 1.2, "discharge coefficient"),
              OD_FIELD("opening", "1", OD_NOT_NEGATIVE, 1, 0, 1e6, 0, 1, "opening: factor on the area",
                       .follows_signal = true)),
    .outputs = {OD_FLOW_OUTPUTS},
};
#endif
