// Cushion at one end of a cylinder's stroke. The passage from the chamber to its line narrows while the piston approaches the end.
// A check valve lets oil flow back into the chamber.
//   r = (length - end) / (begin - end) between 0 and 1: the remaining fraction of the cushion
//   area(r) = last + (full - last) r^shape
//   Q = discharge * sqrt(2/rho) * (area(r) + check * step((p_line - p_chamber) / range)) * root(p_chamber - p_line)
// Lengths are lengths of the line between the cylinder's points: begin < end at the extended end, begin > end at the
// retracted end.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, length;
} X(in);
typedef struct X(numbers) {
  od_x begin, end, full, last, shape, check, range, discharge;
} X(numbers);
#include "elements/flow_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x r = (in->length - q->end) / (q->begin - q->end), dp = in->from - in->to;
  od_x narrow = OD_SELECT(RE(r) <= 0, 0, OD_SELECT(RE(r) >= 1, 1, od_x_pow(r, q->shape)));
  od_x area = q->last + (q->full - q->last) * narrow + q->check * X(smooth_step)(-dp / q->range);
  out->flow = area * q->discharge * s.oil[OD_OIL_STATE_ROOT] * X(smooth_root)(dp, s.oil[OD_OIL_STATE_SMOOTHING]);
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double r = (in->length - q->end) / (q->begin - q->end), dp = in->from - in->to;
  double K = q->discharge * s.oil[OD_OIL_STATE_ROOT], e = s.oil[OD_OIL_STATE_SMOOTHING], root = smooth_root_r(dp, e);
  bool narrows = r > 0 && r < 1;
  double narrow = narrows ? pow(r, q->shape) : r <= 0 ? 0 : 1;
  double area = q->last + (q->full - q->last) * narrow + q->check * smooth_step_r(-dp / q->range);
  by->flow.from = K * (area * root_slope(dp, e) - q->check * step_slope(-dp / q->range) / q->range * root);
  by->flow.to = -by->flow.from;
  by->flow.length = narrows ? K * root * (q->full - q->last) * q->shape * narrow / r / (q->begin - q->end) : 0;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/cushion.c"
#include "elements/element_template_x.h"

enum { BEGIN, END, FULL, LAST };

const od_element_class od_cushion_class = {
    .name = "cushion",
    .acts = OD_ACTS_BETWEEN_POINTS,
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_LENGTH}},
    .out = {{OD_TO_THROUGH}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_cushion_description = {
    .equations = &od_cushion_class,
    .section = "cushions",
    .noun = "cushion",
    .heading = "Cushions",
    .summary =
        "cushion at the end of a cylinder's stroke: the outlet of the chamber narrows, and a check valve lets oil back in",
    .ends = {{"chambers", 2}},
    OD_FIELDS(
        OD_FIELD("begin", "m", OD_POSITIVE, NAN, 1e-5, 1e3, 5e-3, 50,
                 "length of the cylinder at which the cushion begins"),
        OD_FIELD("end", "m", OD_POSITIVE, NAN, 1e-5, 1e3, 5e-3, 50, "length of the cylinder at the end of the stroke"),
        OD_FIELD("full", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-7, 1e-2,
                 "area of the passage before the cushion begins"),
        OD_FIELD("last", "m2", OD_NOT_NEGATIVE, NAN, 0, 10, 1e-9, 1e-4, "area of the passage at the end of the stroke"),
        OD_FIELD("shape", "1", OD_POSITIVE, 1, 1, 10, 1, 3,
                 "exponent of the taper; 1: linear; above 1: the passage narrows earlier"),
        OD_FIELD("check", "m2", OD_NOT_NEGATIVE, 0, 0, 10, 0, 1e-2, "area of the check valve; 0: no check valve"),
        OD_FIELD("range", "Pa", OD_POSITIVE, 1e5, 1, 1e9, 1e3, 1e6,
                 "pressure difference at which the check valve is fully open"),
        OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient")),
    OD_RULES({BEGIN, END, OD_RULE_DIFFERS, END, "because the cushion begins at one length and ends at another"},
             {FULL, LAST, OD_RULE_GREATER, LAST, "because the cushion reduces the area toward the end of the stroke"}),
    .outputs = {OD_FLOW_OUTPUTS},
};
#endif
