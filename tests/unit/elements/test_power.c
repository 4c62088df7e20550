// Pumps with controls, pumps on drives, variable motors and thermal accumulators.
//
// Oracles: the control's characteristic at rest and a first-order lag; a drive's speed by its torque balance; adiabatic and isothermal
// compression of an ideal gas and its exponential cooling; a hydrostatic transmission's ratio of speeds and torques.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/machines.h"

// The first output of a machine with sources P, A (Pa) and a volume V after a time.
static double after(const char *element, double p, double a, double time, const char *name) {
  char text[1600];
  double last;
  snprintf(text, sizeof text,
           "oil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\nvolumes: {V: {volume: 1 L}}\n"
           "sources: {P: {pressure: %.17g Pa}, A: {pressure: %.17g Pa}}\ntanks: {T: {pressure: 1 bar}}\n"
           "leaks: {v: {between: [V, T], slope: 0}}\n%s\nrun: {time: 1 s, step: 1 ms}\n",
           p, a, element);
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", time, time, &name, 1, &last);
  od_machine_free(machine);
  return last;
}

static void pressure_pumps(void **state) {
  (void)state;
  const char *x =
      "pressure_pumps: {x: {from: T, to: P, flow: 60 L/min, set: 200 bar, range: 10 bar, leakage: 1e-12}}\n"
      "initial: {V.pressure: 1 bar, x.swash: 1}";
  near_scaled(after(x, 101e5, 0, 1, "x.flow"), 1e-3 - 100e5 * 1e-12, 1e-6, 1e-12);
  near_scaled(after(x, 206e5, 0, 1, "x.swash"), 0.525, 1e-6, 1e-12);  // midway, and half of the corner
  near_scaled(after(x, 206e5, 0, 0.03, "x.swash"), 0.525 + 0.475 * exp(-1), 1e-6, 1e-12);
  near_scaled(after(x, 250e5, 0, 1, "x.flow"), -249e5 * 1e-12, 1e-3, 1e-12);
}

static void sensing_pumps(void **state) {
  (void)state;
  const char *x =
      "sensing_pumps: {x: {to: P, load: A, flow: 60 L/min, margin: 20 bar, cutoff: 250 bar, range: 4 bar}}\n"
      "initial: {V.pressure: 1 bar, x.swash: 1}";
  near_scaled(after(x, 100e5, 90e5, 1, "x.swash"), 1, 1e-6, 1e-12);
  near_scaled(after(x, 100e5, 78e5, 1, "x.swash"), 0.525, 1e-6, 1e-12);
  near_scaled(after(x, 252e5, 245e5, 1, "x.swash"), 0.525, 1e-6, 1e-12);
  near_scaled(after(x, 100e5, 78e5, 1, "x.power"), 0.525e-3 * 100e5, 1e-6, 1e-12);
  // The control settles where the flow of the metering edge equals the pump's flow: p - p_load between margin and
  // margin + range.
  const char *rest =
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\nvolumes: {P: {volume: 1 L}}\n"
      "tanks: {L: {pressure: 100 bar}}\norifices: {edge: {between: [P, L], area: 8 mm^2, discharge: 0.7}}\n"
      "sensing_pumps: {x: {to: P, load: L, flow: 60 L/min, margin: 20 bar, cutoff: 250 bar, range: 4 bar}}\n"
      "initial: {P.pressure: 50 bar}\nrun: {time: 3 s, step: 1 ms}\n";
  const char *const names[] = {"P.pressure", "x.swash", "x.flow"};
  double last[3];
  od_machine *machine = od_test_machine_text(rest);
  od_test_run_to(machine, "cvodes", 3, 0.1, names, 3, last);
  near_scaled(last[1], 1 - ((last[0] - 120e5) / 4e5 - 0.025), 1e-6, 1e-12);
  near_scaled(last[2], 0.7 * 8e-6 * sqrt(2.0 / 870 * (last[0] - 100e5)), 1e-5, 1e-12);
  od_machine_free(machine);
}

// A drive accelerates: with little slip its speed is wanted - (load + viscous w)/gain, before that it has its largest
// torque.
static void driven_pumps(void **state) {
  (void)state;
  const char *x =
      "driven_pumps: {x: {from: T, to: P, displacement: 8e-6 m^3/rad, speed: 150 rad/s, inertia: 0.1 kg m^2,\n"
      "  torque: 200 N m, gain: 1000 N m s/rad, leakage: 1e-12, viscous: 0.05 N m s/rad}}\n"
      "initial: {V.pressure: 1 bar, x.rate: 0}";
  double load = 8e-6 * 100e5;
  // torque tanh(gain (150 - w)/torque) = load + viscous w, by bisection.
  double low = 0, high = 150;
  for (int i = 0; i < 200; i++) {
    double w = (low + high) / 2;
    if (200 * tanh(1000 * (150 - w) / 200) > load + 0.05 * w)
      low = w;
    else
      high = w;
  }
  near_scaled(after(x, 101e5, 0, 5, "x.rate"), low, 1e-6, 1e-12);
  near_scaled(after(x, 101e5, 0, 5, "x.flow"), 8e-6 * low - 100e5 * 1e-12, 1e-6, 1e-12);
  near_scaled(after(x, 101e5, 0, 5, "x.energy"), 0.05 * low * low, 1e-6, 1e-12);
  // The drive's power equals the losses by leakage and friction plus the oil's power.
  double power = (load + 0.05 * low) * low, loss = 1e-12 * 1e14 + 0.05 * low * low;
  near_scaled(after(x, 101e5, 0, 5, "x.power"), power, 1e-6, 1e-12);
  near_scaled(after(x, 101e5, 0, 5, "x.loss"), loss, 1e-6, 1e-12);
  near_scaled(after(x, 101e5, 0, 5, "x.work") - after(x, 101e5, 0, 4, "x.work"), power, 1e-5, 1e-12);
  near_scaled(after(x, 101e5, 0, 5, "energy.dissipated") - after(x, 101e5, 0, 4, "energy.dissipated"), loss, 1e-5,
              1e-12);
  // The source absorbs p Q and the tank supplies its part: the input is the drive's power minus these.
  near_scaled(after(x, 101e5, 0, 5, "energy.input") - after(x, 101e5, 0, 4, "energy.input"), loss, 1e-4, 1e-12);
  // While the speed is far from its wanted value: inertia w' = torque - load - viscous w.
  double c = 0.05 / 0.1, end = (200 - load) / 0.05 * (1 - exp(-c * 0.05));
  near_scaled(after(x, 101e5, 0, 0.05, "x.rate"), end, 1e-6, 1e-12);
}

static double accumulator(const char *time_constant, const char *initial, double p, double time, const char *name) {
  char text[600];
  snprintf(
      text, sizeof text,
      "thermal_accumulators: {x: {at: P, volume: 2 L, precharge: 50 bar, ambient: 300 K, time_constant: %s, area: 1 cm^2}}\n"
      "initial: {V.pressure: 1 bar%s}",
      time_constant, initial);
  return after(text, p, 0, time, name);
}

static void thermal_accumulators(void **state) {
  (void)state;
  // Fast: p V^1.4 is constant, so V0 (1 - (p0/p)^(1/1.4)) of oil, and T/T0 = (p/p0)^(0.4/1.4).
  near_scaled(accumulator("1e9 s", "", 150e5, 20, "x.oil"), 2e-3 * (1 - pow(1.0 / 3, 1 / 1.4)), 1e-5, 1e-12);
  near_scaled(accumulator("1e9 s", "", 150e5, 20, "x.temperature"), 300 * pow(3, 0.4 / 1.4), 1e-5, 1e-12);
  // Slow: p V is constant, and the gas has the ambient temperature.
  near_scaled(accumulator("0.1 s", "", 150e5, 20, "x.oil"), 2e-3 * (1 - 1.0 / 3), 1e-6, 1e-12);
  near_scaled(accumulator("0.1 s", "", 150e5, 20, "x.temperature"), 300, 1e-6, 1e-12);
  // An empty accumulator below its precharge has no flow, and warm gas cools by exp(-t/T).
  near_scaled(accumulator("5 s", ", x.oil: 0 L, x.warmer: 40 K", 10e5, 3, "x.warmer"), 40 * exp(-0.6), 1e-6, 1e-12);
  assert_true(accumulator("5 s", ", x.oil: 0 L, x.warmer: 40 K", 10e5, 3, "x.flow") == 0);
  near_scaled(accumulator("5 s", ", x.oil: 1 L, x.warmer: 30 K", 100e5, 1e-9, "x.gas_pressure"), 110e5, 1e-6, 1e-12);
}

// A motor of half the displacement turns twice as fast: speed = Q / (D setting) at constant pressures.
static void variable_motors(void **state) {
  (void)state;
  const double setting[] = {1, 0.5, -0.8};
  for (int i = 0; i < 3; i++) {
    char text[1200];
    snprintf(
        text, sizeof text,
        "oil: {density: 870, law: constant, modulus: 1.4 GPa}\nvolumes: {P: {volume: 0.5 L}}\ntanks: {T: {pressure: 1 bar}}\n"
        "bodies: {drum: {mass: 10 kg, inertia: 0.5 kg m^2}}\n"
        "joints: {shaft: {type: revolute, between: [ground, drum.centre]}}\npumps: {pump: {to: P, flow: 30 L/min}}\n"
        "motors: {x: {joint: shaft, between: [P, T], displacement: 1e-5 m^3/rad, setting: %g, viscous: 1 N m s/rad}}\n"
        "initial: {P.pressure: 10 bar, shaft.angle: 0}\nrun: {time: 20 s, step: 1 ms}\n",
        setting[i]);
    const char *const names[] = {"shaft.rate", "P.pressure"};
    double last[2], rate = 0.5e-3 / (1e-5 * setting[i]);
    od_machine *machine = od_test_machine_text(text);
    od_test_run_to(machine, "cvodes", 20, 0.1, names, 2, last);
    near_scaled(last[0], rate, 1e-6, 1e-12);
    near_scaled(last[1] - 1e5, rate / (1e-5 * setting[i]), 1e-6, 1e-12);
    od_machine_free(machine);
  }
}

// The case: the torque of the pressure difference equals that of the brake plus the motor's friction, and the leakage reduces the
// motor's speed below the ratio of displacements. The speed is almost constant by then.
static void transmission(void **state) {
  (void)state;
  const char *const names[] = {"A.pressure", "B.pressure", "pump.rate", "shaft.rate"};
  double last[4];
  od_machine *machine = od_test_machine("cases/hydrostatic-transmission/machine.yaml", NULL);
  od_test_run_to(machine, "tr-bdf2", 3.9, 5e-4, names, 4, last);
  od_machine_free(machine);
  double turn = 2 * 3.14159265358979323846, dp = last[0] - last[1];
  // At 60 degrees the oil has a lower viscosity than at 40, for which friction and leakages are given: pump and motor leak from A to
  // B, and A to the tank.
  double thinner = exp(0.03 * 20) * (1 + 7e-4 * 20), per_bar = 1e-3 / 60 / 1e5 * thinner;
  near_scaled(80e-6 / turn * dp, 120 + 0.2 / thinner * last[3], 1e-3, 1e-12);
  double leaks = per_bar * (2 * 0.02 * dp + 0.005 * (last[0] - 1e5));
  near_scaled(45e-6 / turn * last[2], 80e-6 / turn * last[3] + leaks, 1e-3, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pressure_pumps),  cmocka_unit_test(sensing_pumps),
                                     cmocka_unit_test(driven_pumps),    cmocka_unit_test(thermal_accumulators),
                                     cmocka_unit_test(variable_motors), cmocka_unit_test(transmission)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
