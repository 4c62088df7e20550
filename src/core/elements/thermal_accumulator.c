// Gas accumulator with a variable gas temperature. Compression heats the gas, and the gas exchanges heat with the surroundings:
// fast changes are adiabatic, slow changes are isothermal. The states are the volume V of oil in the accumulator and the gas
// temperature x above ambient.
//   V' = q = area * discharge * sqrt(2/rho) * root(p - p_gas)
//   p_gas = precharge * volume / (volume - V) * (1 + x / ambient)
//   x' = (exponent - 1) (ambient + x) q / (volume - V) - x / time_constant
// While the oil volume decreases from a thousandth of `volume` to zero, the inlet's valve closes for outflow. If the gas volume
// is less than a thousandth of `volume`, the gas pressure depends on the temperature only.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x pressure, oil, warmer;
} X(in);
typedef struct X(numbers) {
  od_x volume, precharge, ambient, exponent, time_constant, area, discharge;
} X(numbers);
typedef struct X(out) {
  od_x inflow, rate, heating, gas_pressure;  // inflow: flow into the node
} X(out);
typedef struct X(report) {
  od_x loss, stored, temperature, heat;
} X(report);
#include "elements/inlet_x.h"

static const double X(last_oil) = 1e-3, X(least_gas) = 1e-3;  // oil and gas volumes divided by `volume`

// Returns the heat capacity of the gas, J/K. The internal energy is capacity * temperature.
static inline od_x X(capacity)(const X(numbers) * q) {
  return q->precharge * q->volume / (q->ambient * (q->exponent - 1));
}

static inline od_x X(gas_volume)(const X(numbers) * q, od_x oil) {
  od_x gas = q->volume - oil;
  return OD_SELECT(RE(gas) < X(least_gas) * RE(q->volume), X(least_gas) * q->volume, gas);
}

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x gas = X(gas_volume)(q, in->oil);
  out->gas_pressure = q->precharge * q->volume / gas * (1 + in->warmer / q->ambient);
  out->rate = X(inlet_flow)(q->area * q->discharge, in->pressure - out->gas_pressure,
                            in->oil / (X(last_oil) * q->volume), s.oil);
  out->inflow = -out->rate;
  out->heating = (q->exponent - 1) * (q->ambient + in->warmer) * out->rate / gas - in->warmer / q->time_constant;
}

static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)s;
  r->heat = out->rate * (in->pressure - out->gas_pressure);
  r->loss = r->heat + X(capacity)(q) * in->warmer / q->time_constant;
  r->stored = X(capacity)(q) * in->warmer;
  r->temperature = q->ambient + in->warmer;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r inflow, rate, heating, gas_pressure;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  double gas = gas_volume_r(q, in->oil), shrink = q->volume - in->oil < least_gas_r * q->volume ? 0 : 1 / gas;
  double last = last_oil_r * q->volume, heat = (q->exponent - 1) / gas, T = q->ambient + in->warmer;
  inlet_slopes d = slopes_of_inlet(q->area * q->discharge, in->pressure - out->gas_pressure, in->oil / last, s.oil);
  by->gas_pressure = (in_r){.oil = out->gas_pressure * shrink, .warmer = q->precharge * q->volume / gas / q->ambient};
  by->rate = (in_r){d.dp, d.left / last - d.dp * by->gas_pressure.oil, -d.dp * by->gas_pressure.warmer};
  by->inflow = (in_r){-by->rate.pressure, -by->rate.oil, -by->rate.warmer};
  by->heating = (in_r){.pressure = heat * T * by->rate.pressure,
                       .oil = heat * T * (by->rate.oil + out->rate * shrink),
                       .warmer = heat * (out->rate + T * by->rate.warmer) - 1 / q->time_constant};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/thermal_accumulator.c"
#include "elements/element_template_x.h"

enum { VOLUME };

const od_element_class od_thermal_accumulator_class = {
    .name = "thermal accumulator",
    .needs_oil = true,
    .in = {{OD_IN_PRESSURE, 0}, {OD_IN_STATE, 0}, {OD_IN_STATE, 1}},
    .out = {{OD_TO_END, 0}, {OD_TO_RATE, 0}, {OD_TO_RATE, 1}, {OD_TO_NOTHING}},
    .heat =
        OD_REPORT_OWN + 1,  // only the loss of the inlet heats the oil; the heat of the gas goes to the surroundings
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_thermal_accumulator_description = {
    .equations = &od_thermal_accumulator_class,
    .section = "thermal_accumulators",
    .noun = "thermal accumulator",
    .heading = "Thermal accumulators",
    .summary = "gas accumulator with an inlet; the gas exchanges heat with the surroundings with a time constant",
    .ends = {{"at", 1}},
    OD_FIELDS(
        OD_FIELD("volume", "m3", OD_POSITIVE, NAN, 1e-9, 1e3, 1e-5, 1, "volume of the gas without oil"),
        OD_FIELD("precharge", "Pa", OD_POSITIVE, NAN, 1e2, 1e10, 1e4, 5e7, "absolute pressure of the gas without oil"),
        OD_FIELD("ambient", "K", OD_POSITIVE, 293.15, 100, 1000, 230, 400,
                 "temperature of the surroundings and of the precharge"),
        OD_FIELD("exponent", "1", OD_POSITIVE, 1.4, 1.0001, 5, 1.1, 1.7, "adiabatic exponent of the gas"),
        OD_FIELD("time_constant", "s", OD_POSITIVE, NAN, 1e-6, 1e9, 0.1, 1e4,
                 "time constant of the heat exchange between the gas and the surroundings"),
        OD_FIELD("area", "m2", OD_POSITIVE, NAN, 1e-14, 10, 1e-8, 1e-2, "area of the inlet"),
        OD_FIELD("discharge", "1", OD_POSITIVE, 0.7, 1e-4, 10, 0.3, 1.2, "discharge coefficient of the inlet")),
    .states = {{"oil", "m3", .present_if = -1, .scale_field = VOLUME},
               {"warmer", "K", .present_if = -1, .scale_field = -1, .scale = 100}},
    .outputs = {{.name = "oil", .unit = "m3", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "warmer", .unit = "K", .shows = OD_SHOWS_STATE, .index = 1},
                {.name = "temperature", .unit = "K", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_OWN},
                {.name = "gas_pressure", .unit = "Pa", .shows = OD_SHOWS_OUT, .index = 3},
                {.name = "flow", .unit = "m3/s", .shows = OD_SHOWS_OUT, .index = 0, .negative = true},
                {.name = "energy", .unit = "J", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_STORED},
                {.name = "loss", .unit = "W", .shows = OD_SHOWS_REPORT, .index = OD_REPORT_LOSS},
                {.name = "dissipated", .unit = "J", .shows = OD_SHOWS_INTEGRAL}},
    .may_supply = true,  // gas below ambient temperature absorbs heat
};
#endif
