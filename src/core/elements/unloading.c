// Unloading valve: connects a pump to the tank while an accumulator is charged. The valve opens when the pilot pressure has risen
// to `open`, and closes when the pilot pressure has fallen to `close`. Between these pressures the valve keeps its mode.
//   Q = opening * area * discharge * sqrt(2/rho) * root(p_from - p_to)
//   opening' = (mode - opening) / time_constant        mode: 1 open, 0 closed
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, pilot, opening, mode;
} X(in);
typedef struct X(numbers) {
  od_x open, close, area, discharge, time_constant;
} X(numbers);
typedef struct X(states) {
  od_x opening, mode;
} X(states);
#include "elements/spool_valve_x.h"

static inline od_x X(target)(const X(in) * in, const X(numbers) * q) {
  (void)q;
  return in->mode;
}

static inline od_x X(margin)(const X(in) * in, const X(numbers) * q) {
  return OD_SELECT(RE(in->mode) > 0.5, in->pilot - q->close, q->open - in->pilot);
}

static inline void X(switch_mode)(const X(in) * in, const X(numbers) * q, X(states) * next) {
  (void)q;
  next->opening = in->opening;
  next->mode = OD_SELECT(RE(in->mode) > 0.5, 0, 1);
}

#ifndef OD_COMPLEX
static inline in_r target_slopes(const in_r *in, const numbers_r *q) {
  (void)in, (void)q;
  return (in_r){.mode = 1};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/unloading.c"
#define OD_ELEMENT_MODES
#include "elements/element_template_x.h"

enum { OPEN, CLOSE };

const od_element_class od_unloading_class = {
    .name = "unloading valve",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_PRESSURE, 2}, {OD_IN_STATE, 0}, {OD_IN_STATE, 1}},
    .out = {{OD_TO_THROUGH}, {OD_TO_RATE, 0}},
    OD_ELEMENT_FUNCTIONS,
    OD_MODE_FUNCTIONS,
};
const od_element_description od_unloading_description = {
    .equations = &od_unloading_class,
    .section = "unloading_valves",
    .noun = "unloading valve",
    .heading = "Unloading valves",
    .summary = "opens at one pilot pressure and closes at a lower pilot pressure",
    .ends = {{"between", 2}, {"pilot", 1, .role = OD_END_PILOT}},
    OD_FIELDS(
        OD_FIELD("open", "Pa", OD_POSITIVE, NAN, 1e3, 1e10, 1e4, 1e8,
                 "absolute pilot pressure at which the valve opens"),
        OD_FIELD("close", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e8,
                 "absolute pilot pressure at which the valve closes"),
        OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-8, 1e-2, "area of the open valve"),
        OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient"),
        OD_FIELD("time_constant", "s", OD_POSITIVE, 0.01, 1e-6, 100, 1e-4, 1, "time constant of opening and closing")),
    OD_RULES({OPEN, CLOSE, .about = CLOSE}),
    .states = {{"opening", "1", .present_if = -1, .scale = 1}, {"mode", "1", .present_if = -1, .scale = 1}},
    .outputs = {OD_FLOW_OUTPUTS,
                {.name = "opening", .unit = "1", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "mode", .unit = "1", .shows = OD_SHOWS_STATE, .index = 1}},
};
#endif
