// Sequence valve: opens when the upstream pressure reaches `set`, independent of the downstream pressure. The spring chamber drains
// to a separate node; without this node, p_drain is zero.
//   Q = opening * area * discharge * sqrt(2/rho) * root(p_from - p_to)
//   opening' = (limit((p_from - p_drain - set) / range) - opening) / time_constant
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, drain, opening;
} X(in);
typedef struct X(numbers) {
  od_x set, range, area, discharge, time_constant;
} X(numbers);
#include "elements/spool_valve_x.h"

static inline od_x X(target)(const X(in) * in, const X(numbers) * q) {
  return X(spring_opening)(in->from - in->drain, q->set, q->range);
}

#ifndef OD_COMPLEX
static inline in_r target_slopes(const in_r *in, const numbers_r *q) {
  double slope = spring_opening_slope(in->from - in->drain, q->set, q->range);
  return (in_r){.from = slope, .drain = -slope};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/sequence_valve.c"
#include "elements/element_template_x.h"

const od_element_class od_sequence_class = {
    .name = "sequence valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_PRESSURE, 2}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_THROUGH}, {OD_TO_RATE, 0}},
    .optional_ends = 1U << 2,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_sequence_description = {
    .equations = &od_sequence_class,
    .section = "sequence_valves",
    .noun = "sequence valve",
    .heading = "Sequence valves",
    .summary = "opens when the upstream pressure reaches the set pressure, independent of the downstream pressure",
    .ends = {{"between", 2}, {"drain", 1, true, OD_END_DRAIN}},
    OD_FIELDS(OD_FIELD("set", "Pa", OD_NOT_NEGATIVE, NAN, 0, 1e10, 1e4, 1e8,
                       "upstream pressure relative to the drain at which the valve begins to open"),
              OD_FIELD("range", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e7,
                       "pressure increase between the start of opening and full opening"),
              OD_SPOOL_FIELDS),
    .states = {OD_SPOOL_STATE},
    .outputs = {OD_FLOW_OUTPUTS, OD_SPOOL_OUTPUT},
};
#endif
