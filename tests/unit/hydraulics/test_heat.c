// The oil's temperature. Oracles: closed forms of the heat balance (rho c V T' = Q dp, with and without cooling), the law of Walther in its
// usual form with decadic logarithms, and the lost energy as the integrals of the elements' losses.
#include <math.h>
#include <stdio.h>

#include "support/test.h"
#include "support/machines.h"

// 30 L/min through an orifice with a drop of 100 bar at 869 kg/m3: 5 kW.
static const double flow = 0.5e-3, drop = 100e5, density = 869, capacity = 869 * 1900.0 * 40e-3;

static double warmed(const char *oil, const char *reservoir, const char *initial, double time) {
  char text[1500];
  double last, area = flow / (0.7 * sqrt(2 * drop / density));
  const char *const name = "tank.temperature";
  snprintf(text, sizeof text,
           "oil: {density: 869, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa%s}\nvolumes: {P: {volume: 1 L}}\n"
           "tanks: {T: {pressure: 1 bar}}\npumps: {pump: {from: T, to: P, flow: 30 L/min}}\n"
           "orifices: {throttle: {between: [P, T], area: %.17g, discharge: 0.7}}\n"
           "reservoirs: {tank: {volume: 40 L%s}}\ninitial: {P.pressure: 101 bar%s}\nrun: {time: 1 s, step: 1 ms}\n",
           oil, area, reservoir, initial);
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", time, time, &name, 1, &last);
  od_machine_free(machine);
  return last;
}

static void throttling(void **state) {
  (void)state;
  // Adiabatic: rho c V T' = Q dp. It starts at the oil's temperature, or its default.
  double rate = flow * drop / capacity;
  near_relative(warmed("", "", "", 100) - 313.15, 100 * rate, 1e-6);
  near_relative(warmed(", temperature: 300 K", "", "", 100) - 300, 100 * rate, 1e-6);
  near_relative(warmed("", ", heat_capacity: 3800", "", 100) - 313.15, 50 * rate, 1e-6);
  // A cooler: a lag toward ambient + Q dp/G.
  double end = 290 + flow * drop / 50, lag = capacity / 50;
  near_relative(warmed("", ", conductance: 50 W/K, ambient: 290 K", "", 500), end + (313.15 - end) * exp(-500 / lag),
                1e-6);
  // The same final value by static balance.
  near_relative(warmed("", ", conductance: 50 W/K, ambient: 290 K", ", tank.temperature: balance from 320 K", 1), end,
                1e-6);
  // Lighter oil has a smaller drop, Q^2 rho, and a smaller heat capacity, so that thermal expansion has no effect.
  near_relative(warmed(", expansion: 7e-4", "", "", 100) - 313.15, 100 * rate,
                1e-5);  // except for the lag of the pressure
}

// A leak at constant pressures, in oil of constant temperature.
static double leaks_at(double temperature) {
  char text[1000];
  double last;
  const char *const name = "seep.flow";
  snprintf(
      text, sizeof text,
      "oil: {density: 870, law: constant, modulus: 1.4 GPa, viscosity: 46 mm^2/s, hot_viscosity: 6.8 mm^2/s, temperature: %.17g K}\n"
      "volumes: {V: {volume: 1 L}}\nsources: {P: {pressure: 100 bar}}\ntanks: {T: {pressure: 0 bar}}\n"
      "leaks: {seep: {between: [P, T], slope: 1e-12}, v: {between: [V, T], slope: 0}}\n"
      "initial: {V.pressure: 1 bar}\nrun: {time: 1 s, step: 1 ms}\n",
      temperature);
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "trapezoid", 1e-3, 1e-3, &name, 1, &last);
  od_machine_free(machine);
  return last;
}

static void walther(void **state) {
  (void)state;
  double at = log10(313.15), hot = log10(373.15), z = log10(log10(46.7)), hot_z = log10(log10(7.5));
  near_relative(leaks_at(313.15), 1e-5, 1e-9);
  near_relative(leaks_at(373.15), 1e-5 * 46 / 6.8, 1e-9);
  for (double T = 263.15; T < 400; T += 20) {
    double line = z + (hot_z - z) * (log10(T) - at) / (hot - at), nu = pow(10, pow(10, line)) - 0.7;
    near_relative(leaks_at(T), 1e-5 * 46 / nu, 1e-9);
  }
}

// All losses in the oil heat it: the integrals of losses, minus those of the workpiece.
static void press(void **state) {
  (void)state;
  enum { COUNT = 5 };
  const char *const names[COUNT] = {"tank.temperature", "energy.dissipated", "workpiece.dissipated", "tank.heating",
                                    "cylinder.dissipated"};
  double last[COUNT];
  od_machine *machine = od_test_machine_text("include: " OD_SOURCE_DIR
                                             "/cases/press/machine.yaml\nreservoirs: {tank: {volume: 100 L}}\n"
                                             "initial: {tank.temperature: 300 K}\n");
  od_test_run_to(machine, "cvodes", 4, 0.01, names, COUNT, last);
  od_machine_free(machine);
  print_message("%.0f J in the oil, %.0f J in the workpiece, %.0f J by the cylinder: warmer by %.4g K\n",
                last[1] - last[2], last[2], last[4], last[0] - 300);
  assert_true(last[4] > 10);
  near_relative((last[0] - 300) * 870 * 1900 * 0.1, last[1] - last[2], 1e-6);
}

// A drive's pump heats by leakage and friction, which depend on the viscosity; the power of its drive is not heat.
static void pumps(void **state) {
  (void)state;
  const char *const names[] = {"tank.heating", "pump.rate", "relief.loss"};
  double last[3], thinner = exp(0.03 * 20);
  od_machine *machine = od_test_machine_text(
      "oil: {density: 870, law: constant, modulus: 1.4 GPa, thinning: 0.03, temperature: 333.15 K}\n"
      "sources: {S: {pressure: 101 bar}}\nvolumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\n"
      "driven_pumps: {pump: {from: T, to: S, displacement: 50 cm^3/rev, speed: 150 rad/s, inertia: 0.1, torque: 500 N m, gain: 50,\n"
      "  leakage: 1e-12, viscous: 0.1}}\nreliefs: {relief: {between: [S, T], set: 80 bar, slope: 1e-10}}\n"
      "leaks: {v: {between: [P, T], slope: 0}}\n"
      "reservoirs: {tank: {volume: 1000 L}}\ninitial: {P.pressure: 1 bar}\nrun: {time: 1 s, step: 1 ms}\n");
  od_test_run_to(machine, "cvodes", 1e-3, 1e-3, names, 3, last);
  od_machine_free(machine);
  near_relative(last[0], last[2] + 1e-12 * thinner * 1e14 + 0.1 / thinner * last[1] * last[1], 1e-4);
}

// A cooler that a block switches on at a temperature.
static void thermostat(void **state) {
  (void)state;
  const char *const names[] = {"tank.temperature", "tank.cooling", "tank.heating"};
  double last[3];
  od_machine *machine = od_test_machine_text(
      "oil: {density: 869, law: constant, modulus: 1.4 GPa, viscosity: 46 mm^2/s, hot_viscosity: 6.8 mm^2/s, temperature: 300 K}\n"
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\npumps: {pump: {from: T, to: P, flow: 30 L/min}}\n"
      "throttles: {jet: {between: [P, T], area: 5 mm^2, diameter: 2 mm, reynolds: 500}}\n"
      "blocks: {fan: {type: table, input: tank.temperature, at: [320 K, 330 K], values: [0, 1], unit: 1}}\n"
      "reservoirs: {tank: {volume: 10 L, conductance: 200 W/K fan}}\ninitial: {P.pressure: 50 bar}\nrun: {time: 1 s, step: 1 ms}\n");
  od_test_run_to(machine, "cvodes", 3000, 100, names, 3, last);
  od_machine_free(machine);
  near_relative(last[1], last[2], 1e-3);
  near_relative(last[1], 200 * (last[0] - 320) / 10 * (last[0] - 293.15), 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(throttling), cmocka_unit_test(walther), cmocka_unit_test(press),
                                     cmocka_unit_test(pumps), cmocka_unit_test(thermostat)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
