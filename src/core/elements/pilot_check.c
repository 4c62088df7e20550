// Pilot-operated check valve: oil flows from `from` to `to`, and in the reverse direction only while the pilot pressure opens the
// valve.
//   Q = opening * area * discharge * sqrt(2/rho) * root(p_from - p_to)
//   opening' = (step((opens - crack)/(full - crack)) - opening) / time_constant
//   opens = p_from - p_to + ratio * max(p_pilot - p_from, 0)
// ratio is the area of the pilot piston divided by the area of the seat. The opening follows the pressures with a first-order lag.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, pilot, opening;
} X(in);
typedef struct X(numbers) {
  od_x crack, full, ratio, area, discharge, time_constant;
} X(numbers);
#include "elements/spool_valve_x.h"

// Returns the position of the opening pressure within the range from `crack` (0) to `full` (1).
static inline od_x X(opens)(const X(in) * in, const X(numbers) * q) {
  od_x opens = in->from - in->to + q->ratio * X(rounded_ramp)(in->pilot - in->from, 1);
  return (opens - q->crack) / (q->full - q->crack);
}

static inline od_x X(target)(const X(in) * in, const X(numbers) * q) {
  return X(smooth_step)(X(opens)(in, q));
}

#ifndef OD_COMPLEX
static inline in_r target_slopes(const in_r *in, const numbers_r *q) {
  double slope = step_slope(opens_r(in, q)) / (q->full - q->crack);
  double pilot = slope * q->ratio * ramp_slope(in->pilot - in->from, 1);
  return (in_r){.from = slope - pilot, .to = -slope, .pilot = pilot};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/pilot_check.c"
#include "elements/element_template_x.h"

enum { CRACK, FULL };

const od_element_class od_pilot_check_class = {
    .name = "pilot-operated check valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_PRESSURE, 2}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_THROUGH}, {OD_TO_RATE, 0}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_pilot_check_description = {
    .equations = &od_pilot_check_class,
    .section = "pilot_checks",
    .noun = "pilot-operated check valve",
    .heading = "Pilot-operated check valves",
    .summary = "lets oil pass in one direction, and in both directions while a pilot pressure opens the valve",
    .ends = {{"between", 2}, {"pilot", 1, .role = OD_END_PILOT}},
    OD_FIELDS(OD_FIELD("crack", "Pa", OD_NOT_NEGATIVE, 0, 0, 1e10, 1e2, 1e8,
                       "pressure difference at which the valve begins to open"),
              OD_FIELD("full", "Pa", OD_POSITIVE, NAN, 1e-3, 1e10, 1e3, 1e8,
                       "pressure difference at which the valve is fully open"),
              OD_FIELD("ratio", "1", OD_POSITIVE, NAN, 1e-3, 1000, 1, 20,
                       "area of the pilot piston divided by the area of the seat"),
              OD_SPOOL_FIELDS),
    OD_RULES({FULL, CRACK, OD_RULE_GREATER, FULL, "because the valve begins to open at 'crack'"}),
    .states = {OD_SPOOL_STATE},
    .outputs = {OD_FLOW_OUTPUTS, OD_SPOOL_OUTPUT},
};
#endif
