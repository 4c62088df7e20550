// An unknown force or torque that represents effects omitted by the model, for observers to estimate. The state of the
// element is the force itself, which decays with a time constant, or is constant without a time constant.
//   force' = -force / time
// `noise` is not in this equation: observers use `noise` as the standard deviation of the change of the force within one second.
// With a time constant the stationary standard deviation is noise sqrt(time / 2 s); without a time constant the force is a random
// walk.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x speed, force;
} X(in);
typedef struct X(numbers) {
  od_x time, noise;
} X(numbers);
typedef struct X(out) {
  od_x force, rate;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  out->force = in->force;
  out->rate = RE(q->time) > 0 ? -in->force / q->time : 0;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)q, (void)s;
  r->loss = -out->force * in->speed;
  r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r force, rate;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)in, (void)s, (void)out;
  *by = (slopes_r){.force = {.force = 1}, .rate = {.force = q->time > 0 ? -1 / q->time : 0}};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/disturbance.c"
#include "elements/element_template_x.h"

enum { TIME, NOISE };

const od_element_class od_disturbance_class = {
    .name = "disturbance",
    .acts = OD_ACTS_SOMEWHERE,
    .in = {{OD_IN_SPEED}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_FORCE}, {OD_TO_RATE, 0}},
    .supplies = true,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_disturbance_description = {
    .equations = &od_disturbance_class,
    .section = "disturbances",
    .noun = "disturbance",
    .heading = "Disturbances",
    .summary = "unknown force between two points, or force or torque in a joint, for observers to estimate",
    OD_FIELDS(OD_FIELD("time", "s", OD_NOT_NEGATIVE, 0, 0, 1e9, 1e-3, 1e4,
                       "time constant of the decay of the force; 0: no decay"),
              OD_FIELD("noise", "N", OD_NOT_NEGATIVE, 0, 0, 1e12, 1e-6, 1e8,
                       "standard deviation of the change of the force within one second", .turning_unit = "N m",
                       .turning_limits = {0, 1e12, 1e-6, 1e8})),
    .states = {{"force", "N", .present_if = -1, .scale_field = -1, .scale = 1, .noise_field = NOISE,
                .time_field = TIME}},
    .outputs = {{.name = "force", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "power", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS, .negative = true},
                {.name = "work", .unit = "J", .shows = OD_SHOWS_INTEGRAL, .negative = true}},
};
#endif
