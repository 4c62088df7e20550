// Holding brake of a joint, applied by springs and released by pressure. The brake engages when the pressure has fallen to
// `engage`, and releases when the pressure has risen to `release`. The brake holds elastically about the anchor, which is the
// position of engagement at first. The anchor follows the motion by Dahl's law: at the holding force, the brake slips and the
// anchor has the speed of the joint.
//   force = -(holding * (s - anchor) / deflection + damping * s')        the sum is limited to the holding force
//   anchor' = |s'| * (s - anchor) / deflection        mode: 1 holds, 0 released: no force and a constant anchor
// In a revolute joint forces are torques.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x pressure, place, speed, anchor, mode;
} X(in);
typedef struct X(numbers) {
  od_x holding, deflection, damping, engage, release;
} X(numbers);
typedef struct X(states) {
  od_x anchor, mode;
} X(states);
typedef struct X(out) {
  od_x force, rate;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

static inline bool X(holds)(const X(in) * in) {
  return RE(in->mode) > 0.5;
}

// share: the deflection divided by the deflection at which the brake slips. clamped() returns the magnitude of the
// elastic force with the sign of the deflection, divided by the holding force. elastic_energy() returns the energy
// divided by the product of holding force and `deflection`. The rate of the anchor keeps |share| at most 1, but a state
// that a caller sets or a filter corrects may exceed this limit.
static inline od_x X(clamped)(od_x share) {
  return OD_SELECT(RE(share) > 1, 1, OD_SELECT(RE(share) < -1, -1, share));
}
static inline od_x X(elastic_energy)(od_x share) {
  return OD_SELECT(RE(share) > 1, share - 0.5, OD_SELECT(RE(share) < -1, -share - 0.5, share * share / 2));
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  od_x share = (in->place - in->anchor) / q->deflection, damped = q->damping * in->speed / q->holding;
  out->force = OD_SELECT(X(holds)(in), -q->holding * X(clamped)(X(clamped)(share) + damped), 0);
  out->rate = OD_SELECT(X(holds)(in), OD_SELECT(RE(in->speed) < 0, -in->speed, in->speed) * share, 0);
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s;
  od_x share = (in->place - in->anchor) / q->deflection;
  // The loss is the mechanical power that the brake absorbs, minus the rate of its elastic energy.
  r->loss =
      OD_SELECT(X(holds)(in), -out->force * in->speed - q->holding * X(clamped)(share) * (in->speed - out->rate), 0);
  r->stored = OD_SELECT(X(holds)(in), q->holding * q->deflection * X(elastic_energy)(share), 0);
}

static inline od_x X(margin)(const X(in) * in, const X(numbers) * q) {
  return OD_SELECT(X(holds)(in), q->release - in->pressure, in->pressure - q->engage);
}

static inline void X(switch_mode)(const X(in) * in, const X(numbers) * q, X(states) * next) {
  (void)q;
  next->anchor = OD_SELECT(X(holds)(in), in->anchor, in->place);
  next->mode = OD_SELECT(X(holds)(in), 0, 1);
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r force, rate;
} slopes_r;
static inline double clamped_slope(double share) {
  return share > 1 || share < -1 ? 0 : 1;
}

static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)s, (void)out;
  *by = (slopes_r){0};
  if (!holds_r(in)) return;
  double share = (in->place - in->anchor) / q->deflection;
  double slope = clamped_slope(clamped_r(share) + q->damping * in->speed / q->holding);
  by->force.place = -q->holding * slope * clamped_slope(share) / q->deflection;
  by->force.anchor = -by->force.place;
  by->force.speed = -q->damping * slope;
  by->rate.place = fabs(in->speed) / q->deflection;
  by->rate.anchor = -by->rate.place;
  by->rate.speed = in->speed < 0 ? -share : share;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/brake.c"
#define OD_ELEMENT_MODES
#include "elements/element_template_x.h"

enum { HOLDING, DEFLECTION, DAMPING, ENGAGE, RELEASE };

const od_element_class od_brake_class = {
    .name = "brake",
    .acts = OD_ACTS_IN_JOINT,
    .needs_oil = true,
    .heat = OD_NO_HEAT,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_LENGTH}, {OD_IN_SPEED}, {OD_IN_STATE, 0}, {OD_IN_STATE, 1}},
    .out = {{OD_TO_FORCE}, {OD_TO_RATE, 0}},
    OD_ELEMENT_FUNCTIONS,
    OD_MODE_FUNCTIONS,
};
const od_element_description od_brake_description = {
    .equations = &od_brake_class,
    .section = "brakes",
    .noun = "brake",
    .heading = "Brakes",
    .summary = "holding brake of a joint, applied by springs and released by pressure",
    .ends = {{"at", 1, .role = OD_END_PILOT}},
    OD_FIELDS(
        OD_FIELD("holding", "N", OD_POSITIVE, NAN, 1e-6, 1e12, 1, 1e7, "force or torque beyond which the brake slips",
                 .turning_unit = "N m", .turning_limits = {1e-6, 1e12, 1, 1e7}),
        OD_FIELD("deflection", "m", OD_POSITIVE, NAN, 1e-9, 10, 2e-5, 1, "elastic deflection at which the brake slips",
                 .turning_unit = "rad", .turning_limits = {1e-9, 10, 1e-5, 1}),
        OD_FIELD("damping", "N s/m", OD_NOT_NEGATIVE, 0, 0, 1e13, 0, 1e8, "damping while the brake holds",
                 .turning_unit = "N m s/rad", .turning_limits = {0, 1e14, 0, 1e9}),
        OD_FIELD("engage", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e8, "absolute pressure at which the brake engages"),
        OD_FIELD("release", "Pa", OD_POSITIVE, NAN, 1, 1e10, 1e4, 1e8,
                 "absolute pressure at which the brake releases")),
    OD_RULES({RELEASE, ENGAGE, .about = ENGAGE}),
    .states = {{"anchor", "m", .present_if = -1, .scale = 1, .turning_unit = "rad"},
               {"mode", "1", .present_if = -1, .scale = 1}},
    .outputs = {{.name = "force", .unit = "N", .turning_unit = "N m", .shows = OD_SHOWS_OUT, .index = 0},
                {.name = "anchor", .unit = "m", .turning_unit = "rad", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "mode", .unit = "1", .shows = OD_SHOWS_STATE, .index = 1},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
