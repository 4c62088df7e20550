// Pipe or hose between two volumes, as one lump: resistance and inertance of its oil, with half of its volume and of its wall's
// compliance at each end. The state Q is the flow.
//   inertance * Q' = p_from - p_to - drop(Q),    inertance = rho L / A
//   drop = 128 mu L / (pi d^4) Q up to a Reynolds number of 2000, friction L / d * rho / 2 * Q |Q| / A^2 from 3000 on
// Several pipes in series, with volumes between them, make a long line.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x from, to, flow;
} X(in);
typedef struct X(numbers) {
  od_x length, diameter, friction, compliance;
} X(numbers);
typedef struct X(out) {
  od_x flow, rate, volume_a, volume_b, largest_a, largest_b, wall_a, wall_b;
} X(out);
typedef struct X(report) {
  od_x loss, stored, reynolds;
} X(report);
#include "elements/pipe_x.h"

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  X(bore) bore = X(bore_of)(q->diameter, s.oil);
  od_x mu = X(viscosity)(s.oil, (in->from + in->to) / 2);
  od_x drop = q->length * X(pipe_gradient)(&bore, in->flow, mu, q->friction);
  out->flow = in->flow;
  out->rate = (in->from - in->to - drop) / (q->length * bore.inertance);
  out->volume_a = out->volume_b = out->largest_a = out->largest_b = bore.area * q->length / 2;
  out->wall_a = out->wall_b = q->compliance * q->length / 2;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)out;
  X(bore) bore = X(bore_of)(q->diameter, s.oil);
  od_x mu = X(viscosity)(s.oil, (in->from + in->to) / 2);
  r->loss = in->flow * q->length * X(pipe_gradient)(&bore, in->flow, mu, q->friction);
  r->stored = q->length * bore.inertance * in->flow * in->flow / 2;
  r->reynolds = X(pipe_reynolds)(&bore, in->flow, mu);
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r flow, rate, volume_a, volume_b, largest_a, largest_b, wall_a, wall_b;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  bore_r bore = bore_of_r(q->diameter, s.oil);
  double mu = viscosity_r(s.oil, (in->from + in->to) / 2);
  gradient_slopes d = slopes_of_gradient(&bore, in->flow, mu, q->friction);
  double per_drop = 1 / (q->length * bore.inertance), by_mean = -d.mu * viscosity_slope(s.oil, mu) / 2 / bore.inertance;
  *by = (slopes_r){.flow = {.flow = 1},
                   .rate = {.from = per_drop + by_mean, .to = -per_drop + by_mean, .flow = -d.flow / bore.inertance}};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/pipe.c"
#include "elements/element_template_x.h"

const od_element_class od_pipe_class = {
    .name = "pipe",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_PRESSURE, 1}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_THROUGH},
            {OD_TO_RATE, 0},
            {OD_TO_VOLUME, 0},
            {OD_TO_VOLUME, 1},
            {OD_TO_LARGEST, 0},
            {OD_TO_LARGEST, 1},
            {OD_TO_COMPLIANCE, 0},
            {OD_TO_COMPLIANCE, 1}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_pipe_description = {
    .equations = &od_pipe_class,
    .section = "pipes",
    .noun = "pipe",
    .heading = "Pipes",
    .summary = "pipe or hose with volume, elastic wall, resistance and inertance, as one lump",
    .ends = {{"between", 2}},
    OD_FIELDS(OD_FIELD("length", "m", OD_POSITIVE, NAN, 1e-4, 1e4, 1e-2, 100, "length of the pipe"),
              OD_FIELD("diameter", "m", OD_POSITIVE, NAN, 1e-5, 10, 1e-3, 0.2, "inner diameter"),
              OD_FIELD("friction", "1", OD_NOT_NEGATIVE, 0.03, 0, 10, 0.005, 0.1, "friction factor of turbulent flow"),
              OD_FIELD("compliance", "m2/Pa", OD_NOT_NEGATIVE, 0, 0, 1e-6, 1e-16, 1e-10,
                       "increase of the cross section per pressure, due to the elastic wall")),
    .states = {{"flow", "m3/s", .present_if = -1, .scale = 1e-3}},
    .outputs = {{.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_STATE, .index = 0, .is_through = true},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL},
                {.name = "reynolds", .unit = "1", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_OWN},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED}},
};
#endif
