// Counterbalance valve: holds a load at `from` until the load pressure and the pilot pressure open the valve toward `to`.
//   Q = opening * area * discharge * sqrt(2/rho) * root(p_from - p_to)
//   opening' = (limit((p_from + ratio p_pilot - back p_to - set) / range) - opening) / time_constant
// ratio is the area of the pilot divided by the area on which the load pressure acts. The downstream pressure acts in the closing
// direction with the factor `back`: 0 for a vented spring chamber, otherwise 1 + ratio. The check valve for lifting is a separate
// element.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, pilot, opening;
} X(in);
typedef struct X(numbers) {
  od_x set, range, ratio, back, area, discharge, time_constant;
} X(numbers);
#include "elements/spool_valve_x.h"

static inline od_x X(target)(const X(in) * in, const X(numbers) * q) {
  return X(spring_opening)(in->from + q->ratio * in->pilot - q->back * in->to, q->set, q->range);
}

#ifndef OD_COMPLEX
static inline in_r target_slopes(const in_r *in, const numbers_r *q) {
  double slope = spring_opening_slope(in->from + q->ratio * in->pilot - q->back * in->to, q->set, q->range);
  return (in_r){.from = slope, .pilot = q->ratio * slope, .to = -q->back * slope};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/counterbalance.c"
#include "elements/element_template_x.h"

const od_element_class od_counterbalance_class = {
    .name = "counterbalance valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_PRESSURE, 2}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_THROUGH}, {OD_TO_RATE, 0}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_counterbalance_description = {
    .equations = &od_counterbalance_class,
    .section = "counterbalance_valves",
    .noun = "counterbalance valve",
    .heading = "Counterbalance valves",
    .summary = "holds a load until the load pressure and a pilot pressure open the valve",
    .ends = {{"between", 2}, {"pilot", 1, .role = OD_END_PILOT}},
    OD_FIELDS(OD_FIELD("set", "Pa", OD_NOT_NEGATIVE, NAN, 0, 1e10, 1e4, 1e8,
                       "load pressure that opens the valve without a pilot pressure"),
              OD_FIELD("range", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e7,
                       "pressure increase between the start of opening and full opening"),
              OD_FIELD("ratio", "1", OD_NOT_NEGATIVE, NAN, 0, 1000, 1, 12,
                       "pilot area divided by the area on which the load pressure acts"),
              OD_FIELD("back", "1", OD_NOT_NEGATIVE, 0, 0, 1000, 0, 13,
                       "factor of the downstream pressure, which acts in the closing direction"),
              OD_SPOOL_FIELDS),
    .states = {OD_SPOOL_STATE},
    .outputs = {OD_FLOW_OUTPUTS, OD_SPOOL_OUTPUT},
};
#endif
