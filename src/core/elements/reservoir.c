// Reservoir: all oil of the machine, with one temperature T. The losses of elements heat the oil; a cooler and the walls remove heat.
//   rho * heat_capacity * volume * T' = heating - conductance * max(signal, 0) * (T - ambient)
// rho is the oil's density at T. A machine has at most one reservoir. In a machine with a reservoir, the oil's viscosity and
// density depend on T.
#ifdef OD_ELEMENT_TEXT

typedef struct X(in) {
  od_x temperature, heating, signal;
} X(in);
typedef struct X(numbers) {
  od_x volume, heat_capacity, ambient, conductance;
} X(numbers);
typedef struct X(out) {
  od_x rate, heating, cooling;
} X(out);
typedef struct X(report) {
  od_x loss, stored;
} X(report);

static inline void X(evaluate)(const X(in) * in, const X(numbers) * q, X(setting) s, X(out) * out) {
  od_x root = s.oil[OD_OIL_STATE_ROOT], capacity = 2 / (root * root) * q->volume * q->heat_capacity;
  out->heating = in->heating;
  out->cooling = q->conductance * X(not_negative)(in->signal) * (in->temperature - q->ambient);
  out->rate = (out->heating - out->cooling) / capacity;
}

// Loss and stored energy are zero: the losses belong to the elements that heat the oil, and the heat is not converted back to work.
static inline void X(fill_report)(const X(in) * in, const X(numbers) * q, X(setting) s, const X(out) * out,
                                  X(report) * r) {
  (void)in, (void)q, (void)s, (void)out;
  r->loss = r->stored = 0;
}

#ifndef OD_COMPLEX
typedef struct slopes_r {
  in_r rate, heating, cooling;
} slopes_r;
static inline void slopes(const in_r *in, const numbers_r *q, setting_r s, const out_r *out, slopes_r *by) {
  (void)out;
  double root = s.oil[OD_OIL_STATE_ROOT], capacity = 2 / (root * root) * q->volume * q->heat_capacity;
  by->heating = (in_r){.heating = 1};
  by->cooling = (in_r){.temperature = q->conductance * not_negative_r(in->signal),
                       .signal = q->conductance * not_negative_slope(in->signal) * (in->temperature - q->ambient)};
  by->rate = (in_r){-by->cooling.temperature / capacity, 1 / capacity, -by->cooling.signal / capacity};
}
#endif

#else
#define OD_ELEMENT_FILE "elements/reservoir.c"
#include "elements/element_template_x.h"

const od_element_class od_reservoir_class = {
    .name = "reservoir",
    .needs_oil = true,
    .in = {{OD_IN_STATE, 0}, {OD_IN_HEAT}, {OD_IN_SIGNAL}},
    .out = {{OD_TO_RATE, 0}, {OD_TO_NOTHING}, {OD_TO_NOTHING}},
    .heat = OD_NO_HEAT,
    OD_ELEMENT_FUNCTIONS,
};
const od_element_description od_reservoir_description = {
    .equations = &od_reservoir_class,
    .section = "reservoirs",
    .noun = "reservoir",
    .heading = "Reservoirs",
    .summary = "all oil of the machine, heated by losses and cooled by a cooler; at most one reservoir per machine",
    OD_FIELDS(OD_FIELD("volume", "m3", OD_POSITIVE, NAN, 1e-9, 1e6, 1e-4, 100, "volume of all oil of the machine"),
              OD_FIELD("heat_capacity", "J/kg/K", OD_POSITIVE, 1900, 10, 1e5, 1500, 4200,
                       "specific heat capacity of the oil"),
              OD_FIELD("ambient", "K", OD_POSITIVE, 293.15, 1, 2000, 220, 330, "temperature of the surroundings"),
              OD_FIELD("conductance", "W/K", OD_NOT_NEGATIVE, 0, 0, 1e9, 0.1, 1e5,
                       "heat flow to cooler and walls per kelvin above the temperature of the surroundings",
                       .follows_signal = true)),
    .states = {{"temperature", "K", .present_if = -1, .scale = 300, .initial = 313.15}},
    .outputs = {{.name = "temperature", .unit = "K", .shows = OD_SHOWS_STATE, .index = 0},
                {.name = "heating", .unit = "W", .shows = OD_SHOWS_OUT, .index = 1},
                {.name = "cooling", .unit = "W", .shows = OD_SHOWS_OUT, .index = 2}},
};
#endif
