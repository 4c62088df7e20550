// Throttle: a sharp edge whose flow is laminar at small pressure differences and turbulent at large pressure differences.
//   Q = area * discharge * sqrt(2/rho) * dp / (dp^2 + e^2)^(1/4),    e = rho/2 (reynolds * nu / (discharge * diameter))^2
// e is the pressure difference at which the turbulent law alone gives the Reynolds number `reynolds`; far below e, Q = 2 area
// diameter discharge^2 / (mu reynolds) dp. The viscosity is the value at the mean of both pressures. The opening is a factor on the
// area. A negative signal closes the throttle; orifice.c gives the reason.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, signal;
} X(in);
typedef struct X(numbers) {
  od_x area, discharge, diameter, reynolds, opening;
} X(numbers);
#include "elements/flow_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x root = s.oil[OD_OIL_STATE_ROOT], mu = X(viscosity)(s.oil, (in->from + in->to) / 2);
  // rho/2 is 1/root^2, and nu is mu root^2/2.
  od_x transition = q->reynolds * mu * root / (2 * q->discharge * q->diameter);
  out->flow = q->area * q->discharge * q->opening * X(not_negative)(in->signal) * root *
              X(smooth_root)(in->from - in->to, transition * transition);
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double root = s.oil[OD_OIL_STATE_ROOT], dp = in->from - in->to, mu = viscosity_r(s.oil, (in->from + in->to) / 2);
  double transition = q->reynolds * mu * root / (2 * q->discharge * q->diameter), e = transition * transition;
  double K = q->area * q->discharge * q->opening * root, open = K * not_negative_r(in->signal);
  // e is proportional to mu^2, and mu depends on half of each pressure.
  double by_drop = open * root_slope(dp, e);
  double by_mean = open * root_smoothing_slope(dp, e) * 2 * e / mu * viscosity_slope(s.oil, mu);
  by->flow.from = by_drop + by_mean / 2;
  by->flow.to = -by_drop + by_mean / 2;
  by->flow.signal = not_negative_slope(in->signal) * K * smooth_root_r(dp, e);
}
#endif

#else
#define OD_ELEMENT_FILE "elements/throttle.c"
#include "elements/element_template_x.h"

const od_element_class od_throttle_class = {
    .name = "throttle",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_SIGNAL}},
    .out = {{OD_TO_THROUGH}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_throttle_description = {
    .equations = &od_throttle_class,
    .section = "throttles",
    .noun = "throttle",
    .heading = "Throttles",
    .summary = "sharp edge with laminar flow up to a critical Reynolds number; a negative signal closes the throttle",
    .ends = {{"between", 2}},
    OD_FIELDS(
        OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-9, 1, "area of the opening"),
        OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient"),
        OD_FIELD("diameter", "m", OD_POSITIVE, NAN, 1e-8, 10, 1e-5, 0.5, "hydraulic diameter, 4 area / perimeter"),
        OD_FIELD("reynolds", "1", OD_POSITIVE, 100, 1e-3, 1e6, 1, 3000, "critical Reynolds number"),
        OD_FIELD("opening", "1", OD_NOT_NEGATIVE, 1, 0, 1e6, 0, 1, "opening: factor on the area",
                 .follows_signal = true)),
    .outputs = {OD_FLOW_OUTPUTS},
};
#endif
