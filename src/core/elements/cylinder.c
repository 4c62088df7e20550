// Hydraulic cylinder between two points: the pressure in chamber a pushes the points apart, the pressure in chamber b pulls them
// together.
//   x = length - closed,  F = p_a A_a - p_b A_b + stops
//   V_a = dead_a + A_a x,  V_b = dead_b + A_b (stroke - x)
// The end stops push back with k d (1 + damping d'), where d is the penetration of the piston; they never pull. The part k d is
// elastic; the power of the damping part is lost. Leakage from a to b is a separate element (leak.c), and so is friction.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x p_a, p_b, length, speed;
} X(in);
typedef struct X(numbers) {
  od_x a, b;  // areas, or bore and rod diameters
  od_x closed, stroke, dead_a, dead_b, leakage, stop_stiffness, stop_damping;
} X(numbers);
typedef struct X(out) {
  od_x inflow_a, inflow_b;  // flows into the nodes at the chambers, due to the motion of the piston
  od_x volume_a, volume_b, largest_a, largest_b;
  od_x force;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

#undef OD_QUARTER_PI
#define OD_QUARTER_PI 0.78539816339744830962
static inline od_x X(area_a)(const X(numbers) * q, const X(setting) * s) {
  return s->choice[OD_CYLINDER_DIAMETERS] ? OD_QUARTER_PI * q->a * q->a : q->a;
}
static inline od_x X(area_b)(const X(numbers) * q, const X(setting) * s) {
  return s->choice[OD_CYLINDER_DIAMETERS] ? OD_QUARTER_PI * (q->a * q->a - q->b * q->b) : q->b;
}

typedef struct X(stop) {
  int side;            // +1: extended end, -1: retracted end, 0: no contact
  od_x depth, inward;  // d and d'
  od_x grip;           // max(1 + damping d', 0)
} X(stop);

// Returns the end stop that the piston touches, and the state of this contact.
static inline X(stop) X(stop_at)(const X(in) * in, const X(numbers) * q) {
  od_x x = in->length - q->closed;
  X(stop) s = {.side = OD_SELECT(RE(x) > RE(q->stroke), 1, OD_SELECT(RE(x) < 0, -1, 0))};
  if (s.side == 0) return s;
  s.depth = s.side > 0 ? x - q->stroke : -x;
  s.inward = s.side * in->speed;
  s.grip = 1 + q->stop_damping * s.inward;
  s.grip = OD_SELECT(RE(s.grip) < 0, 0, s.grip);
  return s;
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x a = X(area_a)(q, &s), b = X(area_b)(q, &s), x = in->length - q->closed;
  X(stop) stop = X(stop_at)(in, q);
  out->inflow_a = -a * in->speed;
  out->inflow_b = b * in->speed;
  out->volume_a = q->dead_a + a * x;
  out->volume_b = q->dead_b + b * (q->stroke - x);
  out->largest_a = q->dead_a + a * q->stroke;
  out->largest_b = q->dead_b + b * q->stroke;
  out->force = in->p_a * a - in->p_b * b - stop.side * q->stop_stiffness * stop.depth * stop.grip;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s, (void)out;
  X(stop) stop = X(stop_at)(in, q);
  r->loss = OD_SELECT(stop.side == 0, 0, q->stop_stiffness * stop.depth * (stop.grip - 1) * stop.inward);
  r->stored = q->stop_stiffness * stop.depth * stop.depth / 2;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r inflow_a, inflow_b, volume_a, volume_b, largest_a, largest_b, force;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double a = area_a_r(q, &s), b = area_b_r(q, &s);
  stop_r stop = stop_at_r(in, q);
  *by = (slopes_r){.inflow_a.speed = -a, .inflow_b.speed = b, .volume_a.length = a, .volume_b.length = -b};
  by->force.p_a = a;
  by->force.p_b = -b;
  by->force.length = stop.side ? -q->stop_stiffness * stop.grip : 0;
  by->force.speed = stop.grip > 0 ? -q->stop_stiffness * stop.depth * q->stop_damping : 0;
}
#endif

#else
#include "elements/elements.h"
#define OD_ELEMENT_FILE "elements/cylinder.c"
#include "elements/element_template_x.h"

const od_element_class od_cylinder_class = {
    .name = "cylinder",
    .acts = OD_ACTS_BETWEEN_POINTS,
    .needs_oil = true,
    .choices = 1,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_LENGTH}, {OD_IN_SPEED}},
    .out = {{OD_TO_END, 0},
            {OD_TO_END, 1},
            {OD_TO_VOLUME, 0},
            {OD_TO_VOLUME, 1},
            {OD_TO_LARGEST, 0},
            {OD_TO_LARGEST, 1},
            {OD_TO_FORCE}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_cylinder_description = {
    .equations = &od_cylinder_class,
    .section = "cylinders",
    .noun = "cylinder",
    .heading = "Cylinders",
    .summary = "double-acting cylinder with end stops, leakage and friction",
    .has_parts = true,
    .ends = {{"chambers", 2}},
    OD_FIELDS(
        OD_FIELD("areas[0]", "m2", OD_POSITIVE, NAN, 0, 10, 1e-6, 1, "area on the piston side, or the bore"),
        OD_FIELD("areas[1]", "m2", OD_POSITIVE, NAN, 0, 10, 1e-6, 1, "area on the rod side, or the rod diameter"),
        OD_FIELD("closed", "m", OD_POSITIVE, NAN, 1e-5, 1e3, 5e-3, 50, "length of the retracted cylinder"),
        OD_FIELD("stroke", "m", OD_POSITIVE, NAN, 1e-7, 1e3, 1e-5, 50, "stroke of the piston"),
        OD_FIELD("dead[0]", "m3", OD_NOT_NEGATIVE, 0, 0, 1e3, 0, 0.1, "dead volume of chamber a"),
        OD_FIELD("dead[1]", "m3", OD_NOT_NEGATIVE, 0, 0, 1e3, 0, 0.1, "dead volume of chamber b"),
        OD_FIELD("leakage", "m3/s/Pa", OD_NOT_NEGATIVE, 0, 0, 1e-3, 1e-17, 1e-7,
                 "coefficient of the leakage past the piston"),
        OD_FIELD("stiffness", "N/m", OD_NOT_NEGATIVE, 1e8, -1e15, 1e15, -1e11, 1e11, "stiffness of the end stops",
                 .section = "stops"),
        OD_FIELD("damping", "s/m", OD_NOT_NEGATIVE, 1, 0, 1e6, 0, 100, "damping of the end stops", .section = "stops")),
    .outputs = {{.name = "length", .unit = "m", .shows = OD_SHOWS_LENGTH},
                {.name = "rate", .unit = "m/s", .shows = OD_SHOWS_SPEED},
                {.name = "force", .unit = "N", .shows = OD_SHOWS_FORCE},
                {.name = "flow_a", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0, .negative = true},
                {.name = "flow_b", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 1, .negative = true},
                {.name = "friction", .unit = "N", .shows = OD_SHOWS_OF_FRICTION, .index = 0},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS, .with_friction = true},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL, .with_friction = true}},
    .drives = OD_DRIVES_BY_CHAMBERS,
    .reach = {OD_CYLINDER_CLOSED, {OD_CYLINDER_STROKE}, OD_CYLINDER_STOP_STIFFNESS, true},
};
#endif
