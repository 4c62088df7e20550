// End stops of a joint, or of the distance between two points. There is no force between `low` and `high`. Beyond this range, a
// contact pushes back.
//   d = x - high or low - x,    force = -+ stiffness d (1 + damping d') for d > 0
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x x, rate;
} X(in);
typedef struct X(numbers) {
  od_x low, high, stiffness, damping;
} X(numbers);
typedef struct X(out) {
  od_x force;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);
#include "elements/grip_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  X(grip) above = X(grip_of)(in->x - q->high, in->rate, q->damping);
  X(grip) below = X(grip_of)(q->low - in->x, -in->rate, q->damping);
  out->force = X(grip_force)(&below, q->stiffness) - X(grip_force)(&above, q->stiffness);
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s, (void)out;
  X(grip) above = X(grip_of)(in->x - q->high, in->rate, q->damping);
  X(grip) below = X(grip_of)(q->low - in->x, -in->rate, q->damping);
  r->loss = X(grip_loss)(&below, q->stiffness) + X(grip_loss)(&above, q->stiffness);
  r->stored = X(grip_stored)(&below, q->stiffness) + X(grip_stored)(&above, q->stiffness);
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r force;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)s, (void)out;
  grip_r above = grip_of_r(in->x - q->high, in->rate, q->damping);
  grip_r below = grip_of_r(q->low - in->x, -in->rate, q->damping);
  grip_slopes up = slopes_of_grip(&above, q->stiffness, q->damping);
  grip_slopes down = slopes_of_grip(&below, q->stiffness, q->damping);
  by->force = (in_r){.x = -down.depth - up.depth, .rate = -down.inward - up.inward};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/stop.c"
#include "elements/element_template_x.h"

enum { LOW, HIGH };

static void fill_zeros(const od_batch *b, const int *pool, const double *w, int i, double *value) {
  const in_r *in = (const in_r *)(w + b->in) + i;
  const numbers_r *q = (const numbers_r *)(w + pool[b->number + i]);
  value[LOW] = in->x - q->low;
  value[HIGH] = q->high - in->x;
}

const od_element_class od_stop_class = {
    .name = "stop",
    .acts = OD_ACTS_SOMEWHERE,
    .in = {{OD_IN_LENGTH}, {OD_IN_SPEED}},
    .out = {{OD_TO_FORCE}},
    OD_ELEMENT_FUNCTIONS,
    .zeros = 2,
    .fill_zeros = fill_zeros,
};
const od_element_description od_stop_description = {
    .equations = &od_stop_class,
    .section = "stops",
    .noun = "stop",
    .heading = "Stops",
    .summary = "elastic end stops of a joint, or of the distance between two points",
    OD_FIELDS(
        OD_FIELD("low", "m", OD_ANY, -1e6, -1e6, 1e6, -50, 50, "position of the lower stop; default: no lower stop",
                 .turning_unit = "rad", .turning_limits = {-1e6, 1e6, -20, 20}),
        OD_FIELD("high", "m", OD_ANY, 1e6, -1e6, 1e6, -50, 50, "position of the upper stop; default: no upper stop",
                 .turning_unit = "rad", .turning_limits = {-1e6, 1e6, -20, 20}),
        OD_FIELD("stiffness", "N/m", OD_POSITIVE, NAN, 1e-6, 1e15, 1, 1e11, "stiffness of the stops",
                 .turning_unit = "N m/rad", .turning_limits = {1e-6, 1e16, 1e-2, 1e11}),
        OD_FIELD("damping", "s/m", OD_NOT_NEGATIVE, 1, 0, 1e6, 0, 100, "damping of the stops", .turning_unit = "s/rad",
                 .turning_limits = {0, 1e6, 0, 100})),
    .one_of = {LOW, HIGH},
    .one_of_count = 2,
    OD_RULES({HIGH, LOW, .about = HIGH}),
    .outputs = {{.name = "force", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
