// Pressure compensator: a throttle upstream of a metering edge, which keeps the pressure drop across that edge constant. The pilot pressure
// is taken downstream of the metering edge. The compensator closes when its outlet pressure exceeds the pilot pressure by more than `set`.
//   Q = opening * area * discharge * sqrt(2/rho) * root(p_from - p_to)
//   opening' = (1 - limit((p_to - p_pilot - set) / range) - opening) / time_constant
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, pilot, opening;
} X(in);
typedef struct X(numbers) {
  od_x set, range, area, discharge, time_constant;
} X(numbers);
#include "elements/spool_valve_x.h"

static inline od_x X(target)(const X(in) * in, const X(numbers) * q) {
  return 1 - X(spring_opening)(in->to - in->pilot, q->set, q->range);
}

#ifndef OD_COMPLEX
static inline in_r target_slopes(const in_r *in, const numbers_r *q) {
  double slope = spring_opening_slope(in->to - in->pilot, q->set, q->range);
  return (in_r){.to = -slope, .pilot = slope};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/compensator.c"
#include "elements/element_template_x.h"

const od_element_class od_compensator_class = {
    .name = "pressure compensator",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_PRESSURE, 2}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_THROUGH}, {OD_TO_RATE, 0}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_compensator_description = {
    .equations = &od_compensator_class,
    .section = "compensators",
    .noun = "pressure compensator",
    .heading = "Pressure compensators",
    .summary = "keeps the pressure drop across a downstream metering edge constant",
    .ends = {{"between", 2}, {"pilot", 1, .role = OD_END_PILOT}},
    OD_FIELDS(OD_FIELD("set", "Pa", OD_NOT_NEGATIVE, NAN, 0, 1e10, 1e4, 1e8,
                       "pressure drop from the outlet to the pilot at which the compensator begins to close"),
              OD_FIELD("range", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e7,
                       "increase of the pressure drop between the start of closing and full closing"),
              OD_SPOOL_FIELDS),
    .states = {OD_SPOOL_STATE},
    .outputs = {OD_FLOW_OUTPUTS, OD_SPOOL_OUTPUT},
};
#endif
