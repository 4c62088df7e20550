// Telescopic cylinder, single-acting, with two to four stages. The widest stage needs the least pressure and moves first, so the length
// determines the moving stage.
//   x = length - closed,    S_i = stroke_1 + .. + stroke_i
//   A(x) = area_1 + sum_i (area_i+1 - area_i) step((x - S_i) / soft + 1/2),    V(x) = dead + integral of A from 0 to x
//   F = p A(x) + stops
// From one stage to the next the area changes within the length `soft`. The end stops push back with k d (1 + damping d'), where
// d is the penetration of the piston; they never pull. The part k d is elastic; the power of the damping part is lost.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x pressure, length, speed;
} X(in);
typedef struct X(numbers) {
  od_x closed, dead, soft, stop_stiffness, stop_damping;
  struct {
    od_x area, stroke;
  } stage[4];
} X(numbers);
typedef struct X(out) {
  od_x inflow, volume, largest, force;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

// Returns the integral of step() from -infinity to t.
static inline od_x X(step_integral)(od_x t) {
  return OD_SELECT(RE(t) <= 0, 0, OD_SELECT(RE(t) >= 1, t - 0.5, t * t * t * (1 - t / 2)));
}

// Area and volume at the extension x, and the total stroke.
typedef struct X(extension) {
  od_x area, volume, stroke;
} X(extension);
static inline X(extension) X(extended)(const X(numbers) * q, od_x x) {
  X(extension) e = {q->stage[0].area, q->dead + q->stage[0].area * x, q->stage[0].stroke};
  for (int i = 1; i < 4 && RE(q->stage[i].stroke) > 0; i++) {
    od_x t = (x - e.stroke) / q->soft + 0.5, narrower = q->stage[i].area - q->stage[i - 1].area;
    e.area += narrower * X(smooth_step)(t);
    e.volume += narrower * q->soft * X(step_integral)(t);
    e.stroke += q->stage[i].stroke;
  }
  return e;
}

typedef struct X(stop) {
  int side;  // +1: extended end, -1: retracted end, 0: no contact
  od_x depth, inward, grip;
} X(stop);
// Returns the end stop that the piston touches, and the state of this contact.
static inline X(stop) X(stop_at)(const X(in) * in, const X(numbers) * q, od_x stroke) {
  od_x x = in->length - q->closed;
  X(stop) s = {.side = OD_SELECT(RE(x) > RE(stroke), 1, OD_SELECT(RE(x) < 0, -1, 0))};
  if (s.side == 0) return s;
  s.depth = s.side > 0 ? x - stroke : -x;
  s.inward = s.side * in->speed;
  s.grip = 1 + q->stop_damping * s.inward;
  s.grip = OD_SELECT(RE(s.grip) < 0, 0, s.grip);
  return s;
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  (void)s;
  X(extension) e = X(extended)(q, in->length - q->closed);
  X(stop) stop = X(stop_at)(in, q, e.stroke);
  out->inflow = -e.area * in->speed;
  out->volume = e.volume;
  out->largest = X(extended)(q, e.stroke).volume;
  out->force = in->pressure * e.area - stop.side * q->stop_stiffness * stop.depth * stop.grip;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s, (void)out;
  X(stop) stop = X(stop_at)(in, q, X(extended)(q, 0).stroke);
  r->loss = OD_SELECT(stop.side == 0, 0, q->stop_stiffness * stop.depth * (stop.grip - 1) * stop.inward);
  r->stored = q->stop_stiffness * stop.depth * stop.depth / 2;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r inflow, volume, largest, force;
} slopes_r;
// Returns the derivative of the area with respect to x.
static inline double area_slope(const numbers_r *q, double x) {
  double slope = 0, stroke = q->stage[0].stroke;
  for (int i = 1; i < 4 && q->stage[i].stroke > 0; i++) {
    slope += (q->stage[i].area - q->stage[i - 1].area) * step_slope((x - stroke) / q->soft + 0.5) / q->soft;
    stroke += q->stage[i].stroke;
  }
  return slope;
}

static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)s, (void)out;
  extension_r e = extended_r(q, in->length - q->closed);
  stop_r stop = stop_at_r(in, q, e.stroke);
  double widens = area_slope(q, in->length - q->closed);
  *by = (slopes_r){.inflow = {.length = -widens * in->speed, .speed = -e.area}, .volume = {.length = e.area}};
  by->force.pressure = e.area;
  by->force.length = in->pressure * widens - (stop.side ? q->stop_stiffness * stop.grip : 0);
  by->force.speed = stop.grip > 0 ? -q->stop_stiffness * stop.depth * q->stop_damping : 0;
}
#endif

#else
#define OD_ELEMENT_FILE "elements/telescopic_cylinder.c"
#include "elements/element_template_x.h"

enum { CLOSED, DEAD, SOFT, STIFFNESS, DAMPING, AREA_1, STROKE_1, AREA_2, STROKE_2, AREA_3, STROKE_3, AREA_4, STROKE_4 };

#define AREA(key, fallback, meaning)   OD_FIELD(key, "m2", OD_NOT_NEGATIVE, fallback, 0, 10, 1e-6, 1, meaning)
#define STROKE(key, fallback, meaning) OD_FIELD(key, "m", OD_NOT_NEGATIVE, fallback, 0, 1e3, 1e-3, 50, meaning)
const od_element_class od_telescopic_cylinder_class = {
    .name = "telescopic cylinder",
    .acts = OD_ACTS_BETWEEN_POINTS,
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_LENGTH}, {OD_IN_SPEED}},
    .out = {{OD_TO_END, 0}, {OD_TO_VOLUME, 0}, {OD_TO_LARGEST, 0}, {OD_TO_FORCE}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_telescopic_cylinder_description = {
    .equations = &od_telescopic_cylinder_class,
    .section = "telescopic_cylinders",
    .noun = "telescopic cylinder",
    .heading = "Telescopic cylinders",
    .summary = "single-acting cylinder with two to four stages; the widest stage moves first",
    .ends = {{"chamber", 1}},
    OD_FIELDS(
        OD_FIELD("closed", "m", OD_POSITIVE, NAN, 1e-5, 1e3, 5e-3, 50, "length of the retracted cylinder"),
        OD_FIELD("dead", "m3", OD_NOT_NEGATIVE, 0, 0, 1e3, 0, 0.1, "dead volume of the chamber"),
        OD_FIELD("soft", "m", OD_POSITIVE, 0.005, 1e-6, 10, 1e-4, 0.1,
                 "length over which the area changes from one stage to the next"),
        OD_FIELD("stiffness", "N/m", OD_NOT_NEGATIVE, 1e8, 0, 1e15, 0, 1e11, "stiffness of the end stops",
                 .section = "stops"),
        OD_FIELD("damping", "s/m", OD_NOT_NEGATIVE, 1, 0, 1e6, 0, 100, "damping of the end stops", .section = "stops"),
        AREA("area_1", NAN, "area of the widest stage"), STROKE("stroke_1", NAN, "stroke of the widest stage"),
        AREA("area_2", NAN, "area of the second stage"), STROKE("stroke_2", NAN, "stroke of the second stage"),
        AREA("area_3", 0, "area of the third stage"),
        STROKE("stroke_3", 0, "stroke of the third stage; 0: no third stage"),
        AREA("area_4", 0, "area of the fourth stage"),
        STROKE("stroke_4", 0, "stroke of the fourth stage; 0: no fourth stage")),
    OD_RULES({AREA_1, AREA_2, OD_RULE_GREATER, AREA_2, "because the widest stage comes first"},
             {AREA_2, AREA_3, OD_RULE_GREATER, AREA_3, "because stages become narrower"},
             {AREA_3, AREA_4, OD_RULE_NOT_LESS, AREA_4, "because stages become narrower"},
             {AREA_3, STROKE_3, OD_RULE_NEEDED, STROKE_3, "a third stage requires 'area_3'"},
             {AREA_4, STROKE_4, OD_RULE_NEEDED, STROKE_4, "a fourth stage requires 'area_4'"},
             {STROKE_3, STROKE_4, OD_RULE_NEEDED, STROKE_4,
              "a fourth stage requires a third stage: 'area_3' and 'stroke_3'"}),
    .outputs = {{.name = "length", .unit = "m", .shows = OD_SHOWS_LENGTH},
                {.name = "rate", .unit = "m/s", .shows = OD_SHOWS_SPEED},
                {.name = "force", .unit = "N", .shows = OD_SHOWS_OUT, .index = 3},
                {.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0, .negative = true},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
    .drives = OD_DRIVES_BY_CHAMBERS,
    .reach = {CLOSED, {STROKE_1, STROKE_2, STROKE_3, STROKE_4}, STIFFNESS},
};
#endif
