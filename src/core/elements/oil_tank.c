// Oil tank: a tank with a finite amount of oil. A port connects the tank to a node, usually a junction where all lines
// to the tank meet. The state is the volume of oil in the tank divided by the capacity of the tank.
//   V = filled * capacity,    p_oil = air + rho g V / area
//   filled' = Q / capacity,    Q = port * discharge * sqrt(2/rho) * root(p - p_oil)
// While `filled` decreases from 0.01 to zero, the port closes for outflow, so that no oil flows out of an empty tank. The model
// has no overflow if `filled` exceeds 1.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x pressure, filled;
} X(in);
typedef struct X(numbers) {
  od_x capacity, area, air, port, discharge;
} X(numbers);
typedef struct X(out) {
  od_x inflow, rate, oil_pressure;  // inflow: flow into the node
} X(out);
typedef struct X(report) {
  od_x loss, stored, volume, level;
} X(report);
#include "elements/inlet_x.h"

// Returns the weight of a cubic meter of oil, N/m3.
static inline od_x X(weight)(const od_x *oil) {
  const double g = 9.80665;
  return 2 * g / (oil[OD_OIL_STATE_ROOT] * oil[OD_OIL_STATE_ROOT]);
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  out->oil_pressure = q->air + X(weight)(s.oil) * in->filled * q->capacity / q->area;
  od_x flow = X(inlet_flow)(q->port * q->discharge, in->pressure - out->oil_pressure, 100 * in->filled, s.oil);
  out->inflow = -flow;
  out->rate = flow / q->capacity;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  r->volume = in->filled * q->capacity;
  r->level = r->volume / q->area;
  r->loss = -out->inflow * (in->pressure - out->oil_pressure);
  r->stored = r->volume * (q->air + X(weight)(s.oil) * r->level / 2);
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r inflow, rate, oil_pressure;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  double rise = weight_r(s.oil) * q->capacity / q->area;  // increase of the oil's pressure per unit of `filled`
  inlet_slopes d = slopes_of_inlet(q->port * q->discharge, in->pressure - out->oil_pressure, 100 * in->filled, s.oil);
  in_r flow = {.pressure = d.dp, .filled = 100 * d.left - d.dp * rise};
  by->inflow = (in_r){-flow.pressure, -flow.filled};
  by->rate = (in_r){flow.pressure / q->capacity, flow.filled / q->capacity};
  by->oil_pressure = (in_r){.filled = rise};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/oil_tank.c"
#include "elements/element_template_x.h"

const od_element_class od_oil_tank_class = {
    .name = "oil_tank",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_END, 0}, {OD_TO_RATE, 0}, {OD_TO_NOTHING}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_oil_tank_description = {
    .equations = &od_oil_tank_class,
    .section = "oil_tanks",
    .noun = "oil tank",
    .heading = "Oil tanks",
    .summary = "tank with a finite amount of oil: volume, level, and pressure of air and oil",
    .ends = {{"at", 1}},
    OD_FIELDS(
        OD_FIELD("capacity", "m3", OD_POSITIVE, NAN, 1e-9, 1e6, 1e-4, 100, "volume of oil in the full tank"),
        OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-9, 1e6, 1e-3, 100,
                 "cross-sectional area; the level is the volume divided by this area"),
        OD_FIELD("air", "Pa", OD_POSITIVE, 101325, 1, 1e9, 5e4, 1e6, "absolute pressure of the air above the oil"),
        OD_FIELD("port", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-6, 0.1, "area of the port to the node"),
        OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient of the port")),
    .states = {{"filled", "1", .present_if = -1, .scale_field = -1, .scale = 1, .initial = 0.7}},
    .outputs = {{.name = "filled", .unit = "1", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "volume", .unit = "m3", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_OWN},
                {.name = "level", .unit = "m", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_OWN + 1},
                {.name = "oil_pressure", .unit = "Pa", .shows = OD_SHOWS_OUT, .index = 2},
                {.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0, .negative = true},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
