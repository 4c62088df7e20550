// Pilot-operated check valve: lets oil pass from `from` to `to`, and back as well while the pilot pushes it open.
//   Q = area * discharge * sqrt(2/rho) * step((opens - crack)/(full - crack)) * root(p_from - p_to)
//   opens = p_from - p_to + ratio * max(p_pilot - p_from, 0)
// ratio is the pilot piston's area over the seat's.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, pilot;
} X(in);
typedef struct X(numbers) {
  od_x area, discharge, crack, full, ratio;
} X(numbers);
#include "elements/flow_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x dp = in->from - in->to, e = s.oil[OD_OIL_STATE_SMOOTHING];
  od_x opens = dp + q->ratio * X(rounded_ramp)(in->pilot - in->from, e);
  out->flow = q->area * q->discharge * s.oil[OD_OIL_STATE_ROOT] *
              X(smooth_step)((opens - q->crack) / (q->full - q->crack)) * X(smooth_root)(dp, e);
}

#else
#define OD_ELEMENT_FILE "elements/pilot_check.c"
#include "elements/both_x.h"

enum { AREA, DISCHARGE, CRACK, FULL };

const od_element_class od_pilot_check_class = {
    .name = "pilot-operated check valve",
    .section = "pilot_checks",
    .noun = "pilot-operated check valve",
    .heading = "Pilot-operated check valves",
    .summary = "lets oil pass in one direction, and in both while a pilot opens it",
    .ends = {{"between", 2}, {"pilot", 1}},
    .needs_oil = true,
    OD_FIELDS(
        OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-9, 1, "area of the opening"),
        OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient"),
        OD_FIELD("crack", "Pa", OD_NOT_NEGATIVE, 0, 0, 1e10, 1e2, 1e8,
                 "pressure difference at which it begins to open"),
        OD_FIELD("full", "Pa", OD_POSITIVE, NAN, 1e-3, 1e10, 1e3, 1e8, "pressure difference at which it is fully open"),
        OD_FIELD("ratio", "1", OD_POSITIVE, NAN, 1e-3, 1000, 1, 20, "area of the pilot over that of the seat")),
    OD_RULES({FULL, CRACK, false, FULL, "full must be greater than crack, where the valve begins to open"}),
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_PRESSURE, 2}},
    .out = {{OD_TO_THROUGH}},
    .outputs = {OD_FLOW_OUTPUTS},
    OD_ELEMENT_FUNCTIONS,
};
#endif
