// A rope between two points. The rope pulls if the distance between the points exceeds the length of the rope, and never pushes.
//   d = x - length,    tension = stiffness d (1 + damping d') for d > 0
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x x, rate;
} X(in);
typedef struct X(numbers) {
  od_x length, stiffness, damping;
} X(numbers);
typedef struct X(out) {
  od_x tension, force;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);
#include "elements/grip_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  X(grip) g = X(grip_of)(in->x - q->length, in->rate, q->damping);
  out->tension = X(grip_force)(&g, q->stiffness);
  out->force = -out->tension;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s, (void)out;
  X(grip) g = X(grip_of)(in->x - q->length, in->rate, q->damping);
  r->loss = X(grip_loss)(&g, q->stiffness);
  r->stored = X(grip_stored)(&g, q->stiffness);
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r tension, force;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)s, (void)out;
  grip_r g = grip_of_r(in->x - q->length, in->rate, q->damping);
  grip_slopes d = slopes_of_grip(&g, q->stiffness, q->damping);
  *by = (slopes_r){{d.depth, d.inward}, {-d.depth, -d.inward}};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/rope.c"
#include "elements/element_template_x.h"

const od_element_class od_rope_class = {
    .name = "rope",
    .acts = OD_ACTS_BETWEEN_POINTS,
    .in = {{OD_IN_LENGTH}, {OD_IN_SPEED}},
    .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_rope_description = {
    .equations = &od_rope_class,
    .section = "ropes",
    .noun = "rope",
    .heading = "Ropes",
    .summary = "elastic rope between two points that pulls and never pushes",
    OD_FIELDS(OD_FIELD("length", "m", OD_POSITIVE, NAN, 1e-6, 1e5, 1e-3, 1e3, "length of the rope without tension"),
              OD_FIELD("stiffness", "N/m", OD_POSITIVE, NAN, 1e-6, 1e15, 1, 1e11, "stiffness of the rope"),
              OD_FIELD("damping", "s/m", OD_NOT_NEGATIVE, 0, 0, 1e6, 0, 100,
                       "relative increase of the tension per stretching speed")),
    .outputs = {{.name = "length", .unit = "m", .shows = OD_SHOWS_LENGTH},
                {.name = "rate", .unit = "m/s", .shows = OD_SHOWS_SPEED},
                {.name = "tension", .unit = "N", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
