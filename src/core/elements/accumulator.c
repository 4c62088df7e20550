// Gas accumulator with an inlet: oil flows in and out through an orifice and compresses the gas by a polytropic law. The state V is
// the volume of oil in the accumulator.
//   V' = q = area * discharge * sqrt(2/rho) * root(p - p_gas)
//   p_gas = precharge * (volume / (volume - V))^exponent        exponent 1: isothermal, 1.4 and more: adiabatic
// While the oil volume decreases from a thousandth of `volume` to zero, the inlet's valve closes for outflow. Thus no oil flows
// out of an empty accumulator below the precharge pressure. If almost no gas volume is left, the gas pressure continues along its
// tangent.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x pressure, oil;
} X(in);
typedef struct X(numbers) {
  od_x volume, precharge, exponent, area, discharge;
} X(numbers);
typedef struct X(out) {
  od_x inflow, rate, gas_pressure;  // inflow: flow into the node
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);
#include "elements/inlet_x.h"

// The state of the gas at an oil volume V: its pressure, and the work of compression from V = 0.
typedef struct X(gas) {
  od_x pressure, work;
} X(gas);

static const double X(last_oil) = 1e-3, X(least_gas) = 1e-3;  // oil and gas volumes divided by `volume`

static inline X(gas) X(compressed)(const X(numbers) * q, od_x share) {
  od_x rest = q->exponent - 1, energy = q->precharge * q->volume;
  bool isothermal = RE(q->exponent) == 1;
  return (X(gas)){q->precharge * od_x_pow(share, -q->exponent),
                  isothermal ? -energy * od_x_log(share) : energy * (od_x_pow(share, -rest) - 1) / rest};
}

static inline X(gas) X(gas_at)(const X(numbers) * q, od_x oil) {
  od_x share = 1 - oil / q->volume;  // volume of the gas, divided by `volume`
  if (RE(oil) < 0) return (X(gas)){q->precharge, q->precharge * oil};
  if (RE(share) >= X(least_gas)) return X(compressed)(q, share);
  X(gas) end = X(compressed)(q, X(least_gas));
  od_x beyond = (X(least_gas) - share) * q->volume, slope = q->exponent * end.pressure / (X(least_gas) * q->volume);
  return (X(gas)){end.pressure + slope * beyond, end.work + beyond * (end.pressure + slope * beyond / 2)};
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  out->gas_pressure = X(gas_at)(q, in->oil).pressure;
  out->rate = X(inlet_flow)(q->area * q->discharge, in->pressure - out->gas_pressure,
                            in->oil / (X(last_oil) * q->volume), s.oil);
  out->inflow = -out->rate;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s;
  r->loss = out->rate * (in->pressure - out->gas_pressure);
  r->stored = X(gas_at)(q, in->oil).work;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r inflow, rate, gas_pressure;
} slopes_r;
// Returns the derivative of the gas pressure p with respect to the oil volume.
static inline double gas_slope(const numbers_r *q, double oil, double p) {
  double share = 1 - oil / q->volume;
  if (oil < 0) return 0;
  if (share >= least_gas_r) return q->exponent * p / (share * q->volume);
  return q->exponent * compressed_r(q, least_gas_r).pressure / (least_gas_r * q->volume);
}

static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  double rise = gas_slope(q, in->oil, out->gas_pressure), last = last_oil_r * q->volume;
  inlet_slopes d = slopes_of_inlet(q->area * q->discharge, in->pressure - out->gas_pressure, in->oil / last, s.oil);
  by->rate = (in_r){.pressure = d.dp, .oil = d.left / last - d.dp * rise};
  by->inflow = (in_r){-by->rate.pressure, -by->rate.oil};
  by->gas_pressure = (in_r){.oil = rise};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/accumulator.c"
#include "elements/element_template_x.h"

enum { VOLUME };

const od_element_class od_accumulator_class = {
    .name = "accumulator",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_STATE, 0}},
    .out = {{OD_TO_END, 0}, {OD_TO_RATE, 0}, {OD_TO_NOTHING}},
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_accumulator_description = {
    .equations = &od_accumulator_class,
    .section = "accumulators",
    .noun = "accumulator",
    .heading = "Accumulators",
    .summary = "gas accumulator with an inlet, isothermal to adiabatic",
    .ends = {{"at", 1}},
    OD_FIELDS(
        OD_FIELD("volume", "m3", OD_POSITIVE, NAN, 1e-9, 1e3, 1e-5, 1, "volume of the gas without oil"),
        OD_FIELD("precharge", "Pa", OD_POSITIVE, NAN, 1e2, 1e10, 1e4, 5e7, "absolute pressure of the gas without oil"),
        OD_FIELD("exponent", "1", OD_POSITIVE, 1.2, 0.1, 10, 1, 1.7, "polytropic exponent of the gas"),
        OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-8, 1e-2, "area of the inlet"),
        OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient of the inlet")),
    .states = {{"oil", "m3", .present_if = -1, .scale_field = VOLUME}},
    .outputs = {{.name = "oil", .unit = "m3", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "gas_pressure", .unit = "Pa", .shows = OD_SHOWS_OUT, .index = 2},
                {.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0, .negative = true},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
};
#endif
