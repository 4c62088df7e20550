// A winch with its rope between two points: a drum pays out or hauls in rope at a given speed. The rope pulls and never
// pushes.
//   out' = speed * signal,    d = x - length - out,    tension = stiffness d (1 + damping d') for d > 0
// The drum supplies the power -tension * out' to the machine. The power is negative while the drum pays out rope under tension.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x x, rate, signal, paid_out;
} X(in);
typedef struct X(numbers) {
  od_x length, stiffness, damping, speed;
} X(numbers);
typedef struct X(out) {
  od_x tension, force, out_rate;
} X(out);
typedef struct X(report) {
  od_x loss, stored, supply;
} X(report);
#include "elements/grip_x.h"

static inline X(grip) X(stretch)(const X(in) * in, const X(numbers) * q) {
  return X(grip_of)(in->x - q->length - in->paid_out, in->rate - q->speed * in->signal, q->damping);
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  X(grip) g = X(stretch)(in, q);
  out->tension = X(grip_force)(&g, q->stiffness);
  out->force = -out->tension;
  out->out_rate = q->speed * in->signal;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s;
  X(grip) g = X(stretch)(in, q);
  r->loss = X(grip_loss)(&g, q->stiffness);
  r->stored = X(grip_stored)(&g, q->stiffness);
  r->supply = -out->tension * out->out_rate;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r tension, force, out_rate;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)s, (void)out;
  grip_r g = stretch_r(in, q);
  grip_slopes d = slopes_of_grip(&g, q->stiffness, q->damping);
  by->tension = (in_r){.x = d.depth, .rate = d.inward, .signal = -d.inward * q->speed, .paid_out = -d.depth};
  by->force = (in_r){.x = -d.depth, .rate = -d.inward, .signal = d.inward * q->speed, .paid_out = d.depth};
  by->out_rate = (in_r){.signal = q->speed};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/winch.c"
#include "elements/element_template_x.h"

const od_element_class od_winch_class = {
    .name = "winch",
    .acts = OD_ACTS_BETWEEN_POINTS,
    .in = {{OD_IN_LENGTH}, {OD_IN_SPEED}, {OD_IN_SIGNAL}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_NOTHING}, {OD_TO_FORCE}, {OD_TO_RATE, 0}},
    .supply = OD_REPORT_OWN,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_winch_description = {
    .equations = &od_winch_class,
    .section = "winches",
    .noun = "winch",
    .heading = "Winches",
    .summary = "drum that pays out or hauls in an elastic rope between two points at a given speed",
    OD_FIELDS(
        OD_FIELD("length", "m", OD_POSITIVE, NAN, 1e-6, 1e5, 1e-3, 1e3, "initial length of the rope without tension"),
        OD_FIELD("stiffness", "N/m", OD_POSITIVE, NAN, 1e-6, 1e15, 1, 1e11, "stiffness of the rope"),
        OD_FIELD("damping", "s/m", OD_NOT_NEGATIVE, 0, 0, 1e6, 0, 100,
                 "relative increase of the tension per stretching speed"),
        OD_FIELD("speed", "m/s", OD_ANY, NAN, -1e4, 1e4, -50, 50,
                 "speed at which rope is paid out; negative: rope is hauled in", .follows_signal = true)),
    .states = {{"paid_out", "m", .present_if = -1, .scale_field = -1, .scale = 1}},
    .outputs = {{.name = "length", .unit = "m", .shows = OD_SHOWS_LENGTH},
                {.name = "rate", .unit = "m/s", .shows = OD_SHOWS_SPEED},
                {.name = "tension", .unit = "N", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "paid_out", .unit = "m", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.name = "power", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_OWN},
                {.name = "work", .unit = "J", .shows = OD_SHOWS_WORK},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
