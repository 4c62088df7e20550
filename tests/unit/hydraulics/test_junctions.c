// Junctions without volume: their pressure against closed forms, at rest and where everything is closed or too much is drawn;
// circuits with junctions against the same with 1 mL volumes; all integrators against each other.
//
// Oracles: the divider of two laminar resistances and of two orifices in closed form; the time constant of the volume that a
// junction replaces, V/B over the slope of the flows.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/machines.h"

#define OIL "oil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\n"

// The first output of a machine at its start.
static double at_start(const char *text, const char *name) {
  od_test_run run = od_test_begin(od_test_machine_text(text), name, NULL);
  double y;
  assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
  od_test_end(&run);
  return y;
}

static void near(double got, double want, double relative) {
  if (!(fabs(got - want) <= relative * fabs(want))) fail_msg("got %.12g, expected %.12g", got, want);
}

// Two laminar resistances in series, between a volume and a tank: p = (G1 p1 + G2 p2) / (G1 + G2).
static void a_laminar_divider(void **state) {
  (void)state;
  const char *text = OIL
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [J]\n"
      "leaks: {a: {between: [P, J], slope: 3e-12}, b: {between: [J, T], slope: 2e-12}}\n"
      "initial: {P.pressure: 101 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  near(at_start(text, "J.pressure"), (3 * 101e5 + 2 * 1e5) / 5, 1e-12);
  assert_true(fabs(at_start(text, "J.inflow")) < 1e-12 * 1e-5);
  // The volume drains through both: p - p_T falls by exp(-t G B/V) with G = G1 G2 / (G1 + G2).
  const char *const names[] = {"P.pressure", "J.pressure"};
  const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4", "cvodes"};
  double rate = 1.2e-12 * 1.4e9 / 1e-3, p = 1e5 + 100e5 * exp(-rate);
  for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++) {
    double last[2];
    od_machine *machine = od_test_machine_text(text);
    od_test_run_to(machine, integrators[i], 1, 1e-4, names, 2, last);
    near(last[0], p, 1e-7);
    near(last[1], 1e5 + (p - 1e5) * 3 / 5, 1e-7);
    od_machine_free(machine);
  }
}

// Two orifices in series share the pressure difference by the squares of their areas, either way the oil flows; at equal
// pressures nothing flows.
static void a_divider_of_orifices(void **state) {
  (void)state;
  const double pressure[] = {200e5, 1e5 + 2e4, 1e5, 0.5e5};
  for (size_t i = 0; i < sizeof pressure / sizeof *pressure; i++) {
    char text[800];
    snprintf(text, sizeof text,
             OIL
             "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [J]\n"
             "orifices:\n  a: {between: [P, J], area: 3 mm^2, discharge: 0.7}\n"
             "  b: {between: [J, T], area: 2 mm^2, discharge: 0.7}\n"
             "initial: {P.pressure: %.17g Pa}\nrun: {time: 1 s, step: 1 ms}\n",
             pressure[i]);
    near(at_start(text, "J.pressure"), (9 * pressure[i] + 4 * 1e5) / 13, 1e-9);
  }
}

// Four junctions in a row, whose resistances are of very different size, between 100 bar and 0: by the sum of resistances.
static void a_row_of_junctions(void **state) {
  (void)state;
  const char *text = OIL
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 0 Pa}}\njunctions: [A, B, C, D]\n"
      "leaks: {a: {between: [P, A], slope: 1e-9}, b: {between: [A, B], slope: 1e-14}, c: {between: [C, B], slope: 1e-10},\n"
      "        d: {between: [C, D], slope: 1e-13}, e: {between: [T, D], slope: 1e-12}}\n"
      "initial: {P.pressure: 100 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  const double R[] = {1e9, 1e14, 1e10, 1e13, 1e12};
  double sum = R[0] + R[1] + R[2] + R[3] + R[4], flow = 100e5 / sum;
  near(at_start(text, "a.flow"), flow, 1e-10);
  near(at_start(text, "A.pressure"), 100e5 - flow * R[0], 1e-10);
  near(at_start(text, "C.pressure"), flow * (R[3] + R[4]), 1e-10);
  near(at_start(text, "D.pressure"), flow * R[4], 1e-10);
}

// Check valves that both close, a pump that draws more than there is, and a pump with no way out.
static void special_states(void **state) {
  (void)state;
  const char *closed = OIL
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [J]\n"
      "checks:\n  a: {between: [J, P], area: 3 mm^2, discharge: 0.7, crack: 1 bar, full: 2 bar}\n"
      "  b: {between: [T, J], area: 3 mm^2, discharge: 0.7, crack: 0.1 bar, full: 2 bar}\n"
      "initial: {P.pressure: 100 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  // What keeps it from falling further is the valve from the tank, about to open.
  near(at_start(closed, "J.pressure"), 0.9e5, 1e-3);
  assert_true(fabs(at_start(closed, "a.flow")) == 0 && fabs(at_start(closed, "b.flow")) < 1e-12);
  const char *drawn = OIL
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [J]\n"
      "pumps: {pump: {from: J, to: P, flow: 10 L/min}}\n"
      "orifices: {a: {between: [T, J], area: 1 mm^2, discharge: 0.7}}\n"
      "initial: {P.pressure: 100 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  assert_true(at_start(drawn, "J.pressure") == 0);
  assert_true(at_start(drawn, "J.cavitating") == 1);
  near(at_start(drawn, "a.flow"), 0.7e-6 * sqrt(2e5 / 870), 1e-9);
  const char *blocked = OIL
      "volumes: {P: {volume: 1 L}}\njunctions: [J]\npumps: {pump: {from: P, to: J, flow: 10 L/min}}\n"
      "initial: {P.pressure: 100 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  od_machine *machine = od_test_machine_text(blocked);
  int output = od_test_output(machine, "J.pressure");
  od_run_options options = {
      .time = 0.01, .step = 1e-3, .integrator = "trapezoid", .outputs = &output, .output_count = 1};
  od_table *table = NULL;
  od_error err = {0};
  assert_int_equal(od_run(machine, &options, &table, NULL, &err), OD_NOT_FINITE);
  od_table_free(table);
  od_machine_free(machine);
}

// A valve feeds an accumulator over three branch points. Where they have volumes, pressures lag behind by the time constant of
// those, so that both circuits differ by no more than that times how fast pressures change.
static const char branches[] = OIL
    "volumes: {P: {volume: 1 L}, A: {volume: 0.5 L}%s}\ntanks: {T: {pressure: 1 bar}}\n%s"
    "inputs: {u: {sine: {offset: 0.5, amplitude: 0.45, frequency: 3 Hz}}}\n"
    "pumps: {pump: {from: T, to: P, flow: 20 L/min}}\n"
    "orifices:\n"
    "  in: {between: [P, J], area: 6 mm^2, discharge: 0.7, opening: u}\n"
    "  left: {between: [J, K], area: 5 mm^2, discharge: 0.7}\n"
    "  right: {between: [J, L], area: 4 mm^2, discharge: 0.7}\n"
    "  fill: {between: [K, A], area: 5 mm^2, discharge: 0.7}\n"
    "  spill: {between: [L, T], area: 3 mm^2, discharge: 0.7}\n"
    "  across: {between: [K, L], area: 2 mm^2, discharge: 0.7}\n"
    "reliefs: {relief: {between: [P, T], set: 150 bar, slope: 5 L/min/bar}}\n"
    "initial: {P.pressure: 100 bar, A.pressure: 20 bar%s}\nrun: {time: 0.5 s, step: 20 us}\n";

static void branches_with_volumes(const char *volume, const char *const *names, int count, double *last) {
  char nodes[200], text[1800];
  snprintf(nodes, sizeof nodes, ", J: {volume: %s}, K: {volume: %s}, L: {volume: %s}", volume, volume, volume);
  snprintf(text, sizeof text, branches, nodes, "", ", J.pressure: 40 bar, K.pressure: 30 bar, L.pressure: 20 bar");
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "tr-bdf2", 0.5, 2e-5, names, count, last);
  od_machine_free(machine);
}

static void against_small_volumes(void **state) {
  (void)state;
  const char *const names[] = {"A.pressure", "J.pressure", "K.pressure", "L.pressure", "P.pressure"};
  double large[5], small[5], none[5];
  char text[1800];
  snprintf(text, sizeof text, branches, "", "junctions: [J, K, L]\n", "");
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "tr-bdf2", 0.5, 2e-5, names, 5, none);
  od_machine_free(machine);
  branches_with_volumes("1 mL", names, 5, large);
  branches_with_volumes("0.1 mL", names, 5, small);
  // V/B = 7e-13 m3/Pa over a slope of Q/(2 dp) of about 2e-4/4e6 m3/s/Pa: 15 us for each of the three, while pressures rise by
  // less than 100 bar in a tenth of a second: 4.5 kPa. A tenth of the volumes makes a tenth of the difference.
  for (int i = 0; i < 5; i++) {
    print_message("%s: %.8g Pa with junctions, %+.4g Pa with 1 mL, %+.4g Pa with 0.1 mL\n", names[i], none[i],
                  large[i] - none[i], small[i] - none[i]);
    double ratio = (large[i] - none[i]) / (small[i] - none[i]);
    assert_true(fabs(large[i] - none[i]) < 4.5e3 && ratio > 9 && ratio < 11);
  }
}

// The longest stable step of an explicit rule is that of the large volumes.
static void explicit_steps(void **state) {
  (void)state;
  char text[1800];
  snprintf(text, sizeof text, branches, "", "junctions: [J, K, L]\n", "");
  od_machine *machine = od_test_machine_text(text);
  const char *const names[] = {"A.pressure", "L.pressure"};
  double fine[2], coarse[2];
  od_test_run_to(machine, "cvodes", 0.5, 1e-3, names, 2, fine);
  od_test_run_to(machine, "rk4", 0.5, 2e-4, names, 2, coarse);
  for (int i = 0; i < 2; i++) near(coarse[i], fine[i], 1e-6);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_laminar_divider),     cmocka_unit_test(a_divider_of_orifices),
                                     cmocka_unit_test(a_row_of_junctions),    cmocka_unit_test(special_states),
                                     cmocka_unit_test(against_small_volumes), cmocka_unit_test(explicit_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
