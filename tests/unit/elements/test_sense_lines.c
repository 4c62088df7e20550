// Load-sensing sections with a common sense line: the highest load counts, and a section in neutral neither drains the line nor is fed from
// it.
//
// Oracle: two orifices in series, from the load to the line and from the line to the tank, divide the pressure by the squares of their
// areas.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/machines.h"

// Loads of 120 and 50 bar at port a of two sections, held by sources behind wide orifices; levers as given.
static double line_pressure(double lift, double tilt, const char *sense, const char *drain) {
  char text[2500];
  snprintf(
      text, sizeof text,
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa, smoothing: 100 Pa}\n"
      "volumes: {LS: {volume: 20 mL}, LT: {volume: 20 mL}}\ntanks: {T: {pressure: 0 bar}}\n"
      "sources: {P: {pressure: 150 bar}, A1: {pressure: 120 bar}, A2: {pressure: 50 bar}, B1: {pressure: 2 bar}, B2: "
      "{pressure: 2 bar}}\n"
      "orifices: {%s}\n"
      "sensing_valves:\n"
      "  lift: {command: l, between: [P, T], to: [A1, B1], sense: LS, nominal_flow: 120 L/min, nominal_drop: 10 bar, set: 10 "
      "bar, range: 3 bar, sense_area: 1 mm^2, discharge: 0.7}\n"
      "  tilt: {command: t, between: [P, T], to: [A2, B2], sense: %s, nominal_flow: 90 L/min, nominal_drop: 10 bar, set: 10 "
      "bar, range: 3 bar, sense_area: 1 mm^2, discharge: 0.7}\n"
      "inputs: {l: %g, t: %g}\ninitial: {LS.pressure: 10 bar, LT.pressure: 10 bar}\nrun: {time: 2 s, step: 1 ms}\n",
      drain, sense, lift, tilt);
  static const char *const names[] = {"LS.pressure"};
  double y;
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", 2, 0.1, names, 1, &y);
  od_machine_free(machine);
  return y;
}

#define BLEED \
  "bleed: {between: [LS, T], area: 0.3 mm^2, discharge: 0.7}, other: {between: [LT, T], area: 0.3 mm^2, discharge: 0.7}"

static void is_near(double got, double want) {
  print_message("%.4f bar, expected %.4f bar\n", got / 1e5, want / 1e5);
  assert_true(fabs(got - want) < 1e-3 * 1e5);
}

static void shared(void **state) {
  (void)state;
  double divided = 1 / (1 + 0.3 * 0.3);
  is_near(line_pressure(0.7, 0, "LS", BLEED), 120e5 * divided);    // one in neutral
  is_near(line_pressure(0, 0.7, "LS", BLEED), 50e5 * divided);     // the other one
  is_near(line_pressure(0.7, 0.7, "LS", BLEED), 120e5 * divided);  // the higher load
  is_near(line_pressure(0, 0, "LS", BLEED), 0);                    // both in neutral: the bleed empties the line
}

// A single section at a line opens it to the tank in neutral, so that no bleed is needed.
static void alone(void **state) {
  (void)state;
  is_near(line_pressure(0, 0.7, "LT", "other: {between: [LT, T], area: 0.3 mm^2, discharge: 0.7}"), 0);
  is_near(line_pressure(0.7, 0, "LT", "other: {between: [LT, T], area: 0.3 mm^2, discharge: 0.7}"), 120e5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shared), cmocka_unit_test(alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
