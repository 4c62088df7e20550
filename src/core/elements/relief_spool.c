// Relief valve with dynamics: a spool or poppet on a spring, with a first-order lag. The valve opens while the pressure difference
// rises from `set` to set + range.
//   Q = opening * area * discharge * sqrt(2/rho) * root(p_from - p_to)
//   opening' = (limit((p_from - p_to - set) / range) - opening) / time_constant
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, opening;
} X(in);
typedef struct X(numbers) {
  od_x set, range, area, discharge, time_constant;
} X(numbers);
#include "elements/spool_valve_x.h"

static inline od_x X(target)(const X(in) * in, const X(numbers) * q) {
  return X(spring_opening)(in->from - in->to, q->set, q->range);
}

#ifndef OD_COMPLEX
static inline in_r target_slopes(const in_r *in, const numbers_r *q) {
  double slope = spring_opening_slope(in->from - in->to, q->set, q->range);
  return (in_r){.from = slope, .to = -slope};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/relief_spool.c"
#include "elements/element_template_x.h"

const od_element_class od_relief_spool_class = {
    .name = "spool relief valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_THROUGH}, {OD_TO_RATE, 0}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_relief_spool_description = {
    .equations = &od_relief_spool_class,
    .section = "relief_valves",
    .noun = "spool relief valve",
    .heading = "Spool relief valves",
    .summary = "opens above a set pressure difference; the spool has a first-order lag",
    .ends = {{"between", 2}},
    OD_FIELDS(OD_FIELD("set", "Pa", OD_NOT_NEGATIVE, NAN, 0, 1e10, 1e4, 1e8,
                       "pressure difference at which the valve begins to open"),
              OD_FIELD("range", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e7,
                       "pressure increase between the start of opening and full opening"),
              OD_SPOOL_FIELDS),
    .states = {OD_SPOOL_STATE},
    .outputs = {OD_FLOW_OUTPUTS, OD_SPOOL_OUTPUT},
};
#endif
