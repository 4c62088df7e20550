// Conservation of oil through cavitation: filling a void needs its volume of oil, closed circuits conserve oil, and oil.balance includes the inflow.
//
// Oracles: the swept volume of a piston and the delivered volume of a pump, by hand; the mass of a closed chamber, which is constant; densities by
// the integral of dp/B (Simpson's rule); derivatives by central differences.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/machines.h"

static const double density = 870;
static const char *const constant = "{density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}";
static const char *const linear = "{density: 870 kg/m^3, law: linear, kp: 1200 MPa, k0: 8}";
static const char *const with_air =
    "{density: 870 kg/m^3, law: air, modulus: 1.4 GPa, air: 1 %, at: 1 bar, exponent: 1.4}";

#define APART "leaks: {apart: {between: [H, T], slope: 0}}"
#define HOSE  "pipes: {hose: {between: [A, H], length: 2 m, diameter: 10 mm, compliance: 5e-14 m^2/Pa}}"

// A rod of 100 kg that is pulled out by 10 kN from 0.1 s on, to the stop at 0.3 m of stroke; oil is delivered from 2 s on. `more` is added to the
// circuit of chamber A.
static od_machine *ram(const char *oil, const char *more) {
  char text[2000];
  snprintf(text, sizeof text,
           "bodies: {slide: {point: {mass: 100 kg}}}\n"
           "joints: {rail: {type: prismatic, between: [ground, slide], axis: [1, 0, 0], damping: 20 kN s/m}}\n"
           "oil: %s\nvolumes: {A: {volume: 0.2 L}, H: {volume: 0.1 L}}\ntanks: {T: {pressure: 1 bar}}\n%s\n"
           "cylinders: {ram: {between: [ground, slide], chambers: [A, T], areas: [20 cm^2, 10 cm^2], closed: 0.5 m, "
           "stroke: 0.3 m}}\n"
           "forces: {tug: {at: slide, value: pull, direction: [1, 0]}}\npumps: {p: {from: T, to: A, flow: fill}}\n"
           "inputs:\n  pull: {unit: N, ramps: {at: [[0.1 s, 0 N], [0.2 s, 10 kN]]}}\n"
           "  fill: {unit: m^3/s, steps: {at: [[2 s, 6 L/min]]}}\n"
           "initial: {rail.position: 0.6 m, A.pressure: balance, H.pressure: 0.5 bar}\nrun: {time: 5 s, step: 1 ms}\n",
           oil, more);
  return od_test_machine_text(text);
}

static void within(const char *what, double got, double want, double bound) {
  if (!(fabs(got - want) <= bound)) fail_msg("%s: got %.15g, expected %.15g within %.3g", what, got, want, bound);
}

// The piston sweeps 0.4 L more than at the start; the pump fills 0.1 L in a second. In all oils, with and without an elastic hose.
static void refill(void **state) {
  (void)state;
  static const char *const names[] = {"A.void", "A.mass", "A.pressure", "ram.length", "oil.balance", "H.mass"};
  const char *const oils[] = {constant, linear, with_air};
  for (int i = 0; i < 6; i++) {
    od_machine *machine = ram(oils[i % 3], i < 3 ? APART : HOSE);
    double first[6], y[6];
    od_test_run_to(machine, "cvodes", 1e-9, 1e-9, names, 6, first);
    double start = first[1] + (i < 3 ? 0 : first[5]);
    for (double t = 1.5; t < 4; t += 2) {
      od_test_run_to(machine, "cvodes", t, 0.01, names, 6, y);
      double filled = 1e-4 * fmax(0, t - 2), oil = y[1] + (i < 3 ? 0 : y[5]);
      if (i < 2) within("void", y[0], 20e-4 * (y[3] - 0.6) - filled + (0.4e-3 - start / density), 2e-12);
      if (i % 3 < 2) within("pressure", y[2], 0, 0);  // air is compressible
      // The hose's flow is between nodes that both have zero pressure except at the start.
      if (i % 3 < 2) within("oil", oil, start + density * filled, i < 3 ? 1e-9 * start : 1e-5 * start);
      within("balance", y[4], 0, 1e-9 * start);
    }
    od_machine_free(machine);
  }
}

// Oil under tension continues with p' = B/V (-V'): x = -B ln(V/V1) from the volume V1 at which the pressure reached zero. The balance
// reports that the oil is not conserved: the pressure rises before the pump has filled the void.
static void tension(void **state) {
  (void)state;
  static const char *const names[] = {"A.void", "ram.length", "A.mass", "oil.balance"};
  od_machine *machine = ram("{density: 870 kg/m^3, law: constant, modulus: 1.4 GPa, cavitation: tension}", APART);
  double y[4], mass = density * 0.4e-3 * exp(0.5e5 / 1.4e9);
  od_test_run_to(machine, "cvodes", 1.9, 0.01, names, 4, y);
  double V = 0.2e-3 + 20e-4 * (y[1] - 0.5), V1 = mass / density;
  within("void", y[0], V * log(V / V1), 1e-11);
  within("mass", y[2], density * (V - V * log(V / V1)), 1e-8);
  within("balance", y[3], y[2] - mass, 1e-8);
  assert_true(y[3] < -0.1);
  od_machine_free(machine);
}

// Two rams are pulled out until both chambers cavitate, and continue to move. A pump moves oil back and forth between the chambers from 1 s on: the
// total oil is constant, and the oil of each chamber follows from the pump's flow.
static void closed_circuit(void **state) {
  (void)state;
  static const char *const names[] = {"A.mass", "B.mass", "A.void", "B.void", "oil.balance", "a.length", "b.length"};
  od_machine *machine = od_test_machine_text(
      "bodies: {m: {point: {mass: 50 kg}}, n: {point: {mass: 50 kg}}}\n"
      "joints:\n  r: {type: prismatic, between: [ground, m], axis: [1, 0, 0], damping: 20 kN s/m}\n"
      "  s: {type: prismatic, between: [ground, n], axis: [1, 0, 0], damping: 20 kN s/m}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\nvolumes: {A: {volume: 0.3 L}, B: {volume: 0.2 L}}\n"
      "tanks: {T: {pressure: 1 bar}}\n"
      "cylinders:\n"
      "  a: {between: [ground, m], chambers: [A, T], areas: [20 cm^2, 10 cm^2], closed: 0.5 m, stroke: 0.6 m}\n"
      "  b: {between: [ground, n], chambers: [B, T], areas: [20 cm^2, 10 cm^2], closed: 0.5 m, stroke: 0.6 m}\n"
      "pumps: {p: {from: A, to: B, flow: stir}}\n"
      "forces: {f: {at: m, value: push, direction: [1, 0]}, g: {at: n, value: push, direction: [1, 0]}}\n"
      "inputs:\n  stir: {unit: m^3/s, steps: {at: [[1 s, 3 L/min], [2 s, -4.5 L/min], [3 s, 0]]}}\n"
      "  push: {unit: N, ramps: {at: [[0 s, 0], [0.4 s, 5 kN], [1.2 s, 5 kN], [1.4 s, -2 kN], [2 s, -2 kN], [2.2 s, 1 kN]]}}\n"
      "initial: {r.position: 0.6 m, s.position: 0.6 m, A.pressure: 0.5 bar, B.pressure: 0.5 bar}\n"
      "run: {time: 4 s, step: 1 ms}\n");
  double dense = density * exp(0.5e5 / 1.4e9), a = dense * 0.5e-3, whole = dense * 0.9e-3;
  for (double t = 0.5; t < 4; t += 0.7) {
    double y[7], moved = 5e-5 * fmax(0, fmin(1, t - 1)) - 7.5e-5 * fmax(0, fmin(1, t - 2));
    od_test_run_to(machine, "cvodes", t, 0.01, names, 7, y);
    assert_true(y[2] > 0 && y[3] > 0);
    within("both", y[0] + y[1], whole, 1e-9 * whole);
    within("A", y[0], a - density * moved, 1e-9 * whole);
    within("balance", y[4], 0, 1e-9 * whole);
    within("void of B", y[3], 20e-4 * (y[6] - 0.5) + 0.2e-3 - y[1] / density, 1e-12);
  }
  od_machine_free(machine);
}

// The mass at a pressure: the density there is exp of the integral of dp/B, with B as in docs/theory.md.
static double modulus(int law, double p) {
  if (law == 0) return 1.4e9;
  if (law == 1) return 1.2e9 + 8 * p;
  double air = 0.01, floor = fmax(p, 1e3), share = 1 / (1 + (1 - air) / air * pow(floor / 1e5, 1 / 1.4));
  return 1 / ((1 - share) / 1.4e9 + share / (1.4 * floor));
}
// The integral of dp/B from zero pressure: up to 1 kPa by hand, beyond by Simpson's rule in the logarithm of pressure.
static double compression(int law, double p) {
  const int n = 4000;
  double low = fmin(p, 1e3), sum = 0, width = log(p / low) / n;
  for (int k = 0; k <= n; k++) {
    double at = low * exp(k * width);
    sum += (k == 0 || k == n ? 1 : k % 2 ? 4 : 2) * width / 3 * at / modulus(law, at);
  }
  return sum + (law == 1 ? log(1 + 8 * low / 1.2e9) / 8 : low / modulus(law, low));
}
static void compressed(void **state) {
  (void)state;
  const char *const oils[] = {constant, linear, with_air};
  static const double pressures[] = {500, 0.1e5, 1e5, 50e5, 400e5};
  for (int i = 0; i < 15; i++) {
    double p = pressures[i / 3], y, sum = compression(i % 3, p);
    if (i % 3 == 2) sum -= compression(2, 1e5);  // with air the density is given for 1 bar
    char text[600];
    snprintf(text, sizeof text,
             "oil: %s\nvolumes: {A: {volume: 2 L}}\ntanks: {T: {pressure: 1 bar}}\n"
             "leaks: {x: {between: [A, T], slope: 0}}\ninitial: {A.pressure: %.17g Pa}\nrun: {time: 1 s, step: 1 ms}\n",
             oils[i % 3], p);
    od_test_run run = od_test_begin(od_test_machine_text(text), "A.mass", NULL);
    assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
    within("compressed", y, 2e-3 * density * exp(sum), 1e-9 * y);
    od_test_end(&run);
  }
}

// d (void, oil) by states, against differences, with and without a void.
static void slopes(void **state) {
  (void)state;
  const char *const oils[] = {constant, linear, with_air};
  for (int i = 0; i < 6; i++) {
    od_test_run run = od_test_begin(ram(oils[i % 3], HOSE), "A.void", "A.mass", NULL);
    int nx = od_plant_nx(run.plant);
    assert_true(nx <= 8);
    double x[8], before[2], after[2], got[16], u[2] = {0, 1e-5};
    for (int j = 0; j < nx; j++) x[j] = od_sim_state(run.sim)[j];
    x[0] = 0.71, x[1] = 0.3, x[2] = i < 3 ? -3e8 : 70e5;
    for (int j = 0; j < nx; j++) {
      double step = j < 2 ? 1e-4 : 1e-3 * fabs(x[2]), kept = x[j];
      x[j] = kept - step;
      assert_int_equal(od_sim_set(run.sim, 0, x, u), OD_OK);
      assert_int_equal(od_sim_outputs(run.sim, before), OD_OK);
      x[j] = kept + step;
      assert_int_equal(od_sim_set(run.sim, 0, x, u), OD_OK);
      assert_int_equal(od_sim_outputs(run.sim, after), OD_OK);
      x[j] = kept;
      assert_int_equal(od_sim_set(run.sim, 0, x, u), OD_OK);
      assert_int_equal(od_sim_output_jacobians(run.sim, got, NULL, NULL), OD_OK);
      for (int k = 0; k < 2; k++)
        within("slope", got[k * nx + j] * step, (after[k] - before[k]) / 2, 1e-6 * (k ? 1 : 1e-3));
    }
    od_test_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refill), cmocka_unit_test(tension),
                                     cmocka_unit_test(closed_circuit), cmocka_unit_test(compressed),
                                     cmocka_unit_test(slopes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
