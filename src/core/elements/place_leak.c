// Laminar leakage past a piston, as a function of the position of the piston. The leakage is larger near one position,
// as in a barrel worn in the middle of the stroke.
//   Q = (slope + worn * exp(-((length - place) / width)^2)) * thinness * (p_from - p_to)
// The flow depends on the oil's viscosity, as in leak.c.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, length;
} X(in);
typedef struct X(numbers) {
  od_x slope, worn, place, width;
} X(numbers);
#include "elements/flow_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x away = (in->length - q->place) / q->width;
  out->flow = (q->slope + q->worn * od_x_exp(-away * away)) * s.oil[OD_OIL_STATE_THINNESS] * (in->from - in->to);
}

#ifndef OD_COMPLEX
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double away = (in->length - q->place) / q->width, wear = q->worn * exp(-away * away);
  double thinness = s.oil[OD_OIL_STATE_THINNESS];
  by->flow.from = (q->slope + wear) * thinness;
  by->flow.to = -by->flow.from;
  by->flow.length = -2 * away / q->width * wear * thinness * (in->from - in->to);
}
#endif

#else
#define OD_ELEMENT_FILE "elements/place_leak.c"
#include "elements/element_template_x.h"

const od_element_class od_place_leak_class = {
    .name = "leak by position",
    .acts = OD_ACTS_BETWEEN_POINTS,
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_LENGTH}},
    .out = {{OD_TO_THROUGH}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_place_leak_description = {
    .equations = &od_place_leak_class,
    .section = "position_leaks",
    .noun = "leak by position",
    .heading = "Leaks by position",
    .summary = "laminar leakage past a piston, larger near one position of its stroke",
    .ends = {{"chambers", 2}},
    OD_FIELDS(
        OD_FIELD("slope", "m3/s/Pa", OD_NOT_NEGATIVE, 0, 0, 1e-3, 1e-17, 1e-7,
                 "leakage coefficient far from the worn position"),
        OD_FIELD("worn", "m3/s/Pa", OD_POSITIVE, NAN, 0, 1e-3, 1e-17, 1e-7,
                 "additional leakage coefficient at the worn position"),
        OD_FIELD("place", "m", OD_POSITIVE, NAN, 1e-5, 1e3, 5e-3, 50, "length of the cylinder at the worn position"),
        OD_FIELD("width", "m", OD_POSITIVE, NAN, 1e-6, 1e3, 1e-3, 10,
                 "distance from the worn position at which the additional leakage has decreased to 37 %")),
    .outputs = {OD_FLOW_OUTPUTS},
};
#endif
