// Axial play between two points or in a joint. While the coordinate x is within the gap about `free`, there is no force. Beyond the
// gap, an elastic contact pushes back.
//   d = |x - free| - gap/2,    force = -side stiffness d (1 + damping d') for d > 0
// The contact never pulls. The part stiffness d is elastic; the power of the damping part is lost.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x x, rate;
} X(in);
typedef struct X(numbers) {
  od_x gap, stiffness, damping, free;
} X(numbers);
typedef struct X(out) {
  od_x tension, force;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

typedef struct X(contact) {
  int side;            // +1: at the far end, -1: at the near end, 0: within the gap
  od_x depth, inward;  // d and d'
  od_x grip;           // max(1 + damping d', 0)
} X(contact);

// Returns the contact at the current coordinate.
static inline X(contact) X(contact_at)(const X(in) * in, const X(numbers) * q) {
  od_x off = in->x - q->free;
  X(contact) c = {.side = OD_SELECT(RE(off) > RE(q->gap) / 2, 1, OD_SELECT(RE(off) < -RE(q->gap) / 2, -1, 0))};
  if (c.side == 0) return c;
  c.depth = c.side * off - q->gap / 2;
  c.inward = c.side * in->rate;
  c.grip = 1 + q->damping * c.inward;
  c.grip = OD_SELECT(RE(c.grip) < 0, 0, c.grip);
  return c;
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  X(contact) c = X(contact_at)(in, q);
  out->tension = c.side * q->stiffness * c.depth * c.grip;
  out->force = -out->tension;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s, (void)out;
  X(contact) c = X(contact_at)(in, q);
  r->loss = OD_SELECT(c.side == 0, 0, q->stiffness * c.depth * (c.grip - 1) * c.inward);
  r->stored = q->stiffness * c.depth * c.depth / 2;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r tension, force;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)s, (void)out;
  contact_r c = contact_at_r(in, q);
  by->tension.x = c.side ? q->stiffness * c.grip : 0;
  by->tension.rate = c.grip > 0 ? q->stiffness * c.depth * q->damping : 0;
  by->force.x = -by->tension.x;
  by->force.rate = -by->tension.rate;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/play.c"
#include "elements/element_template_x.h"

const od_element_class od_play_class = {
    .name = "play",
    .acts = OD_ACTS_SOMEWHERE,
    .in = {{OD_IN_LENGTH}, {OD_IN_SPEED}},
    .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_play_description = {
    .equations = &od_play_class,
    .section = "plays",
    .noun = "play",
    .heading = "Plays",
    .summary = "gap with an elastic contact at both ends, between two points or in a joint",
    OD_FIELDS(OD_FIELD("gap", "m", OD_NOT_NEGATIVE, NAN, 0, 100, 1e-7, 1, "distance between the two contacts",
                       .turning_unit = "rad", .turning_limits = {0, 10, 1e-7, 1}),
              OD_FIELD("stiffness", "N/m", OD_POSITIVE, NAN, 1e-6, 1e15, 1, 1e11, "stiffness of the contacts",
                       .turning_unit = "N m/rad", .turning_limits = {1e-6, 1e16, 1e-2, 1e11}),
              OD_FIELD("damping", "s/m", OD_NOT_NEGATIVE, 1, 0, 1e6, 0, 100, "damping of the contacts",
                       .turning_unit = "s/rad", .turning_limits = {0, 1e6, 0, 100}),
              OD_FIELD("free", "m", OD_ANY, 0, -1e4, 1e4, -50, 50, "coordinate in the middle of the gap",
                       .turning_unit = "rad", .turning_limits = {-1e6, 1e6, -6.3, 6.3})),
    .outputs = {{.name = "force", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
