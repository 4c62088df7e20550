// Lines and valves: at rest, closed, open, in the corners, and in runs.
//
// Oracles: the orifice law and its laminar limit, Hagen and Poiseuille's law, the frequency of an inertance between a volume and a
// tank, water hammer of a chain of pipes (Joukowsky), a first-order lag, balances of forces on spools.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/machines.h"

static const double pi = 3.14159265358979323846, density = 870, nu = 46e-6;

// An element between volumes P, A and B at given pressures (Pa) and a tank T at 1 bar: the first output at the start.
static double value(const char *element, double p, double a, double b, const char *states, const char *name) {
  char text[2000];
  snprintf(
      text, sizeof text,
      "oil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\n"
      "volumes: {P: {volume: 1 L}, A: {volume: 1 L}, B: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\n"
      "leaks: {p: {between: [P, T], slope: 0}, a: {between: [A, T], slope: 0}, b: {between: [B, T], slope: 0}}\n%s\n"
      "initial: {P.pressure: %.17g Pa, A.pressure: %.17g Pa, B.pressure: %.17g Pa%s}\nrun: {time: 1 s, step: 1 ms}\n",
      element, p, a, b, states);
  od_test_run run = od_test_begin(od_test_machine_text(text), name, NULL);
  double y;
  assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
  od_test_end(&run);
  return y;
}

static double edge(double opening, double area, double dp) {
  return copysign(opening * area * 0.7 * sqrt(2 / density * fabs(dp)), dp);
}

static void throttles(void **state) {
  (void)state;
  const char *element = "throttles: {x: {between: [P, A], area: 1 mm^2, diameter: 1 mm, reynolds: 100}}";
  double transition = density / 2 * pow(100 * nu / (0.7 * 1e-3), 2);
  for (double dp = -2e7; dp <= 2e7; dp += 1.3e6) {
    double want = 0.7e-6 * sqrt(2 / density) * dp / pow(dp * dp + transition * transition, 0.25);
    near_scaled(value(element, 2.1e7 + dp, 2.1e7, 1e5, "", "x.flow"), want, 1e-6, 1e-12);
  }
  // Far above and far below the transition (18.8 kPa): the turbulent law, and 2 A d Cd^2 / (mu Re) dp.
  near_scaled(value(element, 4.1e7, 2.1e7, 1e5, "", "x.flow"), edge(1, 1e-6, 2e7), 1e-6, 1e-12);
  near_scaled(value(element, 2.1e7 + 1, 2.1e7, 1e5, "", "x.flow"), 2e-9 * 0.49 / (nu * density * 100), 1e-6, 1e-12);
  assert_true(value(element, 2.1e7, 2.1e7, 1e5, "", "x.flow") == 0);
}

// Laminar and turbulent drop; a hose between a volume and a tank oscillates at 1/(2 pi sqrt(I C)).
static void pipes(void **state) {
  (void)state;
  const char *element = "pipes: {x: {between: [P, A], length: 10 m, diameter: 10 mm, friction: 0.03}}";
  double area = pi * 25e-6, laminar = 128 * nu * density * 10 / (pi * 1e-8);
  // Q in steady state: its rate is zero. Re = 1000 and 10000.
  double slow = 1000 * nu * area / 0.01, fast = 10000 * nu * area / 0.01;
  char flow[60];
  snprintf(flow, sizeof flow, ", x.flow: %.17g m^3/s", slow);
  near_scaled(value(element, 1e7, 1e7, 1e5, flow, "x.loss"), slow * laminar * slow, 1e-9, 1e-12);
  near_scaled(value(element, 1e7, 1e7, 1e5, flow, "x.reynolds"), 1000, 1e-9, 1e-12);
  near_scaled(value(element, 1e7, 1e7, 1e5, flow, "x.energy"), density * 10 / area * slow * slow / 2, 1e-9, 1e-12);
  snprintf(flow, sizeof flow, ", x.flow: %.17g m^3/s", -fast);
  near_scaled(value(element, 1e7, 1e7, 1e5, flow, "x.loss"),
              fast * 0.03 * 10 / 0.01 * density / 2 * pow(fast / area, 2), 1e-9, 1e-12);
  assert_true(value(element, 1e7, 2e7, 1e5, ", x.flow: 0 m^3/s", "x.loss") == 0);

  // Without friction: p oscillates about the tank's pressure as cos(w t), w = 1/sqrt(I C), C = (V + A L/2)/B + wall/2.
  const char *text =
      "oil: {density: 870, law: constant, modulus: 1.4 GPa, viscosity: 1e-8 m^2/s}\n"
      "volumes: {P: {volume: 0.5 L}}\ntanks: {T: {pressure: 100 bar}}\n"
      "pipes: {x: {between: [P, T], length: 2 m, diameter: 20 mm, friction: 0, compliance: 2e-13 m^2/Pa}}\n"
      "initial: {P.pressure: 101 bar, x.flow: 0 m^3/s}\nrun: {time: 20 ms, step: 10 us}\n";
  double bore = pi * 1e-4, inertance = density * 2 / bore, capacity = (0.5e-3 + bore) / 1.4e9 + 2e-13;
  double w = 1 / sqrt(inertance * capacity), last[2];
  const char *const names[] = {"P.pressure", "x.flow"};
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", 0.02, 1e-4, names, 2, last);
  near_scaled(last[0] - 100e5, 1e5 * cos(0.02 * w), 2e-4, 1e-12);  // a little laminar friction remains
  near_scaled(last[1], 1e5 * capacity * w * sin(0.02 * w), 2e-4, 1e-12);
  od_machine_free(machine);
}

// Final openings of spools by the balance of pressures: read from the spool after fifty time constants, and its lag before.
static void settle(const char *element, const char *spool, double p, double a, double b, double time, double *opening) {
  char text[2000];
  snprintf(
      text, sizeof text,
      "oil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\nvolumes: {V: {volume: 1 L}}\n"
      "sources: {P: {pressure: %.17g Pa}, A: {pressure: %.17g Pa}, B: {pressure: %.17g Pa}}\ntanks: {T: {pressure: 0 Pa}}\n"
      "leaks: {v: {between: [V, T], slope: 0}}\n%s\ninitial: {V.pressure: 1 bar}\nrun: {time: 1 s, step: 1 ms}\n",
      p, a, b, element);
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", time, time, &spool, 1, opening);
  od_machine_free(machine);
}
static void settles(const char *element, const char *spool, double p, double a, double b, double want) {
  double opening;
  settle(element, spool, p, a, b, 0.25, &opening);
  near_scaled(opening, want, 1e-6, 1e-12);
  settle(element, spool, p, a, b, 0.005, &opening);
  near_scaled(opening, want * (1 - exp(-1)), 1e-6, 1e-12);
}

static void spools(void **state) {
  (void)state;
  // Half open at half of the range: minus half of the corner, 0.05/2.
  const double half = 0.5 - 0.025;
  const char *relief = "relief_valves: {x: {between: [P, A], set: 100 bar, range: 20 bar, area: 10 mm^2}}";
  settles(relief, "x.opening", 120e5, 10e5, 0, half);
  settles(relief, "x.opening", 90e5, 0, 0, 0);
  settles(relief, "x.opening", 200e5, 10e5, 0, 1);
  near_scaled(value(relief, 200e5, 10e5, 1e5, ", x.opening: 0.4", "x.flow"), edge(0.4, 10e-6, 190e5), 1e-6, 1e-12);
  assert_true(value(relief, 200e5, 10e5, 1e5, ", x.opening: -0.1", "x.flow") == 0);
  // Linear to 1 without smoothed corners: slope (dp - set) / (Q_N (1 + f dp/p_N)), and the nominal flow at the nominal drop.
  const char *nominal =
      "nominal_reliefs: {x: {between: [P, A], set: 100 bar, slope: 1e-9 m^3/(s Pa), flow_force: 0.5, nominal_flow: 5 L/s, "
      "nominal_drop: 80 bar}}";
  settles(nominal, "x.opening", 120e5, 10e5, 0, 1e-9 * 10e5 / (5e-3 * (1 + 0.5 * 110 / 80)));
  settles(nominal, "x.opening", 109e5, 10e5, 0, 0);
  settles(nominal, "x.opening", 500e5, 0, 0, 1);
  near_scaled(value(nominal, 90e5, 10e5, 1e5, ", x.opening: 0.4", "x.flow"), 0.4 * 5e-3, 1e-6, 1e-12);
  near_scaled(value(nominal, 180e5 / 8, 0, 1e5, ", x.opening: 0.4", "x.flow"), 0.4 * 5e-3 * sqrt(22.5 / 80), 1e-6,
              1e-12);
  assert_true(value(nominal, 200e5, 10e5, 1e5, ", x.opening: -0.1", "x.flow") == 0);
  const char *sequence =
      "sequence_valves: {x: {between: [P, A], drain: B, set: 100 bar, range: 20 bar, area: 10 mm^2}}";
  settles(sequence, "x.opening", 120e5, 115e5, 10e5, half);
  settles(sequence, "x.opening", 109e5, 0, 10e5, 0);
  const char *to_air = "sequence_valves: {x: {between: [P, A], set: 100 bar, range: 20 bar, area: 10 mm^2}}";
  settles(to_air, "x.opening", 110e5, 0, 0, half);
  const char *compensator = "compensators: {x: {between: [P, A], pilot: B, set: 8 bar, range: 4 bar, area: 10 mm^2}}";
  settles(compensator, "x.opening", 200e5, 60e5, 50e5, 1 - half);
  settles(compensator, "x.opening", 200e5, 60e5, 60e5, 1);
  settles(compensator, "x.opening", 200e5, 80e5, 60e5, 0);
  const char *holding =
      "counterbalance_valves: {x: {between: [P, A], pilot: B, set: 200 bar, range: 50 bar, ratio: 3, back: 1, "
      "area: 10 mm^2}}";
  settles(holding, "x.opening", 150e5, 5e5, 10e5, 0);
  settles(holding, "x.opening", 150e5, 5e5, 80e5 / 3, half);
  settles(holding, "x.opening", 150e5, 5e5, 60e5, 1);
  const char *reducing = "reducing_valves: {x: {between: [P, A], drain: B, set: 50 bar, range: 4 bar, area: 10 mm^2}}";
  settles(reducing, "x.spool", 200e5, 30e5, 0, 1);
  settles(reducing, "x.spool", 200e5, 52e5, 0, half);
  settles(reducing, "x.spool", 200e5, 56e5, 0, -half);
  settles(reducing, "x.spool", 200e5, 62e5, 1e5, -1);
  near_scaled(value(reducing, 200e5, 10e5, 1e5, ", x.spool: 0.4", "x.flow"), edge(0.4, 10e-6, 190e5), 1e-6, 1e-12);
  near_scaled(value(reducing, 200e5, 10e5, 1e5, ", x.spool: -0.4", "x.drained"), edge(0.4, 10e-6, 9e5), 1e-6, 1e-12);
}

static void pilot_checks(void **state) {
  (void)state;
  const char *x = "pilot_checks: {x: {between: [P, A], pilot: B, area: 10 mm^2, crack: 1 bar, full: 3 bar, ratio: 4}}";
  settles(x, "x.opening", 100e5, 90e5, 1e5, 1);     // forward
  settles(x, "x.opening", 102e5, 100e5, 1e5, 0.5);  // half open
  settles(x, "x.opening", 10e5, 90e5, 1e5, 0);      // backward
  settles(x, "x.opening", 10e5, 90e5, 30e5, 0);     // 4 * 20 bar just do not open against 80 bar
  settles(x, "x.opening", 10e5, 90e5, 31e5, 1);     // and 84 bar open the valve
  double y = (82e5 - 4 * 0.5 - 80e5 - 1e5) / 2e5;   // about half; the corner of the pilot's ramp shifts it by 0.5 Pa
  settles(x, "x.opening", 10e5, 90e5, 30.5e5, y * y * (3 - 2 * y));
  near_scaled(value(x, 10e5, 90e5, 31e5, ", x.opening: 0.7", "x.flow"), edge(0.7, 10e-6, -80e5), 1e-6, 1e-12);
  near_scaled(value(x, 90e5, 10e5, 31e5, ", x.opening: 0.7", "x.flow"), edge(0.7, 10e-6, 80e5), 1e-6, 1e-12);
  assert_true(value(x, 90e5, 10e5, 31e5, ", x.opening: 0", "x.flow") == 0);
  near_scaled(value(x, 90e5, 10e5, 31e5, ", x.opening: 0.7", "x.loss"), 80e5 * edge(0.7, 10e-6, 80e5), 1e-6, 1e-12);
}

// The ball moves from its start, in the middle, to the position given by the pressures, by its lag.
static void ball_settles(double a, double b, double want) {
  const char *x = "shuttles: {x: {between: [P, A], to: B, area: 10 mm^2, range: 1 bar, time_constant: 5 ms}}";
  double ball;
  settle(x, "x.ball", a, b, 60e5, 0.25, &ball);
  assert_true(fabs(ball - want) < 1e-6);
  settle(x, "x.ball", a, b, 60e5, 0.005, &ball);
  near_scaled(ball, want + (0.5 - want) * exp(-1), 1e-6, 1e-12);
}
static void shuttles(void **state) {
  (void)state;
  ball_settles(100e5, 20e5, 1);
  ball_settles(20e5, 100e5, 0);
  ball_settles(80e5, 80e5, 0.5);
  ball_settles(80.5e5, 80e5, 0.75 * 0.75 * (3 - 2 * 0.75));
  const char *x = "shuttles: {x: {between: [P, A], to: B, area: 10 mm^2, range: 1 bar}}";
  near_scaled(value(x, 100e5, 20e5, 60e5, ", x.ball: 1", "x.flow"), edge(1, 10e-6, 40e5), 1e-6, 1e-12);
  near_scaled(value(x, 20e5, 100e5, 60e5, ", x.ball: 0", "x.flow"), edge(1, 10e-6, 40e5), 1e-6, 1e-12);
  near_scaled(value(x, 20e5, 100e5, 60e5, ", x.ball: 0", "A.inflow"), -edge(1, 10e-6, 40e5), 1e-6, 1e-12);
  assert_true(value(x, 20e5, 100e5, 60e5, ", x.ball: 0", "P.inflow") == 0);
  near_scaled(value(x, 80e5, 80e5, 60e5, "", "x.flow"), edge(1, 10e-6, 20e5), 1e-6, 1e-12);  // both half
  near_scaled(value(x, 100e5, 20e5, 120e5, ", x.ball: 1", "x.flow"), edge(1, 10e-6, -20e5), 1e-6, 1e-12);
  // Slightly off its seats: some flow passes from the higher to the lower node.
  near_scaled(value(x, 100e5, 20e5, 60e5, ", x.ball: 0.9", "x.flow"), edge(0.9, 10e-6, 40e5) - edge(0.1, 10e-6, 40e5),
              1e-6, 1e-12);
}

// Flows settle at the share for any loads.
static void dividers(void **state) {
  (void)state;
  const char *x = "flow_dividers: {x: {from: P, to: [A, B], share: 0.3, area: 20 mm^2, nominal: 40 L/min}}";
  near_scaled(value(x, 100e5, 80e5, 60e5, ", x.spool: 0.4", "x.flow_a"), 0.3 * edge(0.6 - 0.025, 20e-6, 20e5), 1e-6,
              1e-12);
  near_scaled(value(x, 100e5, 80e5, 60e5, ", x.spool: 0.4", "x.flow_b"), 0.7 * edge(1, 20e-6, 40e5), 1e-6, 1e-12);
  const char *text =
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\nvolumes: {P: {volume: 1 L}}\n"
      "tanks: {A: {pressure: 90 bar}, B: {pressure: 10 bar}}\npumps: {pump: {to: P, flow: 40 L/min}}\n"
      "flow_dividers: {x: {from: P, to: [A, B], share: 0.3, area: 20 mm^2, nominal: 40 L/min}}\n"
      "initial: {P.pressure: 100 bar}\nrun: {time: 2 s, step: 1 ms}\n";
  const char *const names[] = {"x.flow_a", "x.flow_b", "x.flow"};
  double last[3];
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", 2, 0.1, names, 3, last);
  near_scaled(last[0], 0.3 * 40e-3 / 60, 1e-6, 1e-12);
  near_scaled(last[1], 0.7 * 40e-3 / 60, 1e-6, 1e-12);
  near_scaled(last[2], 40e-3 / 60, 1e-6, 1e-12);
  od_machine_free(machine);
}

// Warmer oil: nu = nu0 exp(-k dT), rho = rho0 / (1 + b dT), thicker with pressure; leaks, throttles and orifices follow.
static double warm(const char *element, double a, const char *name) {
  char text[1000];
  snprintf(
      text, sizeof text,
      "oil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa, viscosity: 46 mm^2/s, reference: 313.15 K,\n"
      "      temperature: 333.15 K, thinning: 0.03 1/K, thickening: 2e-8 1/Pa, expansion: 7e-4 1/K}\n"
      "volumes: {P: {volume: 1 L}, A: {volume: 1 L}}\n%s\n"
      "initial: {P.pressure: 100 bar, A.pressure: %.17g Pa}\nrun: {time: 1 s, step: 1 ms}\n",
      element, a);
  od_test_run run = od_test_begin(od_test_machine_text(text), name, NULL);
  double y;
  assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
  od_test_end(&run);
  return y;
}
static void warm_oil(void **state) {
  (void)state;
  double rho = density / (1 + 7e-4 * 20), mu = nu * exp(-0.03 * 20) * rho;
  near_scaled(warm("leaks: {x: {between: [P, A], slope: 1e-12}}", 20e5, "x.flow"), 80e5 * 1e-12 * nu * density / mu,
              1e-9, 1e-12);
  near_scaled(warm("orifices: {x: {between: [P, A], area: 1 mm^2, discharge: 0.7}}", 20e5, "x.flow"),
              0.7e-6 * sqrt(2 / rho * 80e5), 1e-9, 1e-12);
  near_scaled(
      warm("throttles: {x: {between: [P, A], area: 1 mm^2, diameter: 1 mm, reynolds: 100}}", 100e5 - 1, "x.flow"),
      2e-9 * 0.49 / (mu * exp(0.2) * 100), 1e-6, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(throttles), cmocka_unit_test(pipes),
                                     cmocka_unit_test(spools),    cmocka_unit_test(pilot_checks),
                                     cmocka_unit_test(shuttles),  cmocka_unit_test(dividers),
                                     cmocka_unit_test(warm_oil)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
