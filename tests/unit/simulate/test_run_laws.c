// Remarks about laws outside their valid range: with the correct amount, and only where they apply.
//
// Oracles: speeds, delays, pressures and forces in closed form.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "simulate/run.h"
#include "support/machines.h"

static const double pi = 3.14159265358979323846;

// The text of the remark with this code after a run, or NULL; valid until the next call.
static const char *remark(const char *text, const char *code) {
  static char found[1500];
  od_machine *machine = od_test_machine_text(text);
  od_run_report report = {0};
  od_table *table = NULL;
  assert_int_equal(od_run(machine, &(od_run_options){0}, &table, &report, NULL), OD_OK);
  const char *result = NULL;
  for (int i = 0; i < report.verdict.count; i++) {
    if (strcmp(report.verdict.remark[i].code, code) != 0) continue;
    snprintf(found, sizeof found, "%s", report.verdict.remark[i].text);
    print_message("%s\n", found);
    assert_int_equal(report.verdict.remark[i].trust, OD_SOUND);
    result = found;
  }
  od_run_report_free(&report);
  od_table_free(table);
  od_machine_free(machine);
  return result;
}

// The number after some words of a text.
static double number(const char *text, const char *words) {
  assert_non_null(text);
  const char *at = strstr(text, words);
  if (!at) fail_msg("'%s' is not in: %s", words, text);
  return strtod(at + strlen(words), NULL);
}
// 100 kg on a rail whose friction would hold 1500 N creeps with vs atanh(981/1500).
static const char *hanging(const char *friction) {
  static char text[600];
  snprintf(text, sizeof text,
           "gravity: [0, -9.81]\nbodies: {m: {point: {mass: 100 kg}}}\n"
           "joints: {rail: {type: prismatic, between: [ground, m], axis: [0, 1, 0], friction: %s}}\n"
           "initial: {rail.position: 0}\nrun: {time: 5 s, step: 1 ms}\n",
           friction);
  return text;
}
static void creep(void **state) {
  (void)state;
  const char *text = remark(hanging("{law: coulomb, Fc: 1500 N, vs: 0.05 m/s}"), "friction.creep");
  near_relative(number(text, "moves by "), 5e3 * 0.05 * atanh(981 / 1500.0), 2e-3);  // mm
  // The same with a steady Stribeck law, which changes its sign within v0.
  text = remark(hanging("{law: tustin, Fs: 1500 N, Fc: 1500 N, vs: 0.1 m/s, v0: 1 mm/s}"), "friction.creep");
  assert_non_null(text);
  assert_null(
      remark(hanging("{law: lugre, Fs: 1500 N, Fc: 1500 N, vs: 0.05 m/s, sigma_0: 1e7 N/m, sigma_1: 1e4 N s/m}"),
             "friction.creep"));
  // The mass slips: no holding force.
  assert_null(remark(hanging("{law: coulomb, Fc: 500 N, vs: 1 mm/s}"), "friction.creep"));
  assert_null(remark(hanging("{law: viscous, viscous: 1000 N s/m}"), "friction.creep"));
}

// 10 kg on a slope of 0.1 with friction 0.3: N friction v/sqrt(v^2 + slip^2) is a third of its maximum.
static void contact(void **state) {
  (void)state;
  const char *text = remark(
      "gravity: [0.981, -9.81]\nbodies: {b: {mass: 10 kg, inertia: 1}}\njoints: {f: {type: planar, between: [ground, b], axis: [0, 0, 1]}}\n"
      "contacts: {c: {at: b, normal: [0, 1], stiffness: 1e6, damping: 1, friction: 0.3, slip: 10 mm/s}}\n"
      "initial: {f.position1: 0 m, f.position2: 0 m, f.angle3: 0}\nrun: {time: 5 s, step: 1 ms}\n",
      "friction.creep");
  double share = 1 / 3.0;
  near_relative(number(text, "slides by "), 5 * 10 * share / sqrt(1 - share * share), 0.01);  // mm
}

// A sine through a delay: the error of order 3 is below 1e-3 at w T = 1; at w T = 20 pi its phase is less than half of the correct one.
static const char *delayed(const char *time, const char *how) {
  static char text[400];
  snprintf(text, sizeof text,
           "inputs: {r: {sine: {amplitude: 1, frequency: 1 Hz}}}\nblocks: {d: {type: delay, input: r, time: %s, %s}}\n"
           "run: {time: 40 s, step: 2 ms, outputs: [d]}\n",
           time, how);
  return text;
}
static void delays(void **state) {
  (void)state;
  const char *text = remark(delayed("10 s", "pade: 3"), "delay.pade");
  // y = sin(w t - a) with a = 2 atan(..), the correct value is sin(w t): the mean of |sin(w t - a) - sin(w t)| is 4/pi |sin(a/2)|,
  // from 10 s on.
  double x = 20 * pi, a = 2 * atan2(x / 2 - x * x * x / 120, 1 - x * x / 10);
  double steady = 4 / pi * fabs(sin(a / 2));
  double mean = number(text, "by ") / 100 * 2;
  print_message("mean deviation %.3f, of the steady part alone %.3f\n", mean, steady);
  assert_true(mean > 0.5 * steady && mean < 1.5 * steady + 0.3);
  near_relative(number(text, "up to "), pow(0.05 * 720 * 5040 / 36, 1 / 7.0) / (2 * pi * 10), 0.05);
  assert_null(remark(delayed("0.1 s", "pade: 3"), "delay.pade"));
  assert_null(remark(delayed("10 s", "sample: 10 ms"), "delay.pade"));
}

// 1 L more in 10 L of oil gives 1.4 GPa ln(..): 1.4e9 * 0.1 / 1 Pa.
static const char *pumped(const char *flow) {
  static char text[400];
  snprintf(text, sizeof text,
           "oil: {density: 870, law: constant, modulus: 1.4 GPa}\nvolumes: {A: {volume: 10 L}}\n"
           "pumps: {p: {to: A, flow: %s}}\ninitial: {A.pressure: 0 bar}\nrun: {time: 1 s, step: 1 ms}\n",
           flow);
  return text;
}
static void pressures(void **state) {
  (void)state;
  near_relative(number(remark(pumped("1 L/s"), "pressure.high"), "reaches "), 1400, 1e-3);
  assert_null(remark(pumped("0.5 L/s"), "pressure.high"));
}

// A plunger of 70 mm: the air pushes with 1.01325 bar * 38.48 cm2. There is no remark if pressures are relative to that of the air, or so high that
// it has no effect, or if a force of the file replaces that of the air.
static const char *plunger_with(const char *size, const char *tank, const char *pressure, const char *force) {
  static char text[1000];
  snprintf(
      text, sizeof text,
      "bodies: {m: {point: {mass: 10 kg}}}\n"
      "joints: {r: {type: prismatic, between: [ground, m], axis: [1, 0, 0], damping: 1 kN s/m}}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\nvolumes: {A: {volume: 1 L}, B: {volume: 1 L}}\n"
      "tanks: {T: {pressure: %s}}\n"
      "orifices: {a: {between: [A, T], area: 5 mm^2, discharge: 0.7}, b: {between: [B, T], area: 5 mm^2, discharge: 0.7}}\n"
      "cylinders: {c: {between: [ground, m], chambers: [A, B], %s, closed: 0.5 m, stroke: 0.5 m}}\n"
      "forces: {air: {at: m, value: %s, direction: [-1, 0]}}\n"
      "initial: {r.position: 0.6 m, A.pressure: %s, B.pressure: %s}\nrun: {time: 50 ms, step: 0.1 ms}\n",
      tank, size, force, pressure, pressure);
  return text;
}
static const char *plunger(const char *tank, const char *pressure, const char *force) {
  return plunger_with("bore: 100 mm, rod: 70 mm", tank, pressure, force);
}
static void air(void **state) {
  (void)state;
  near_relative(number(remark(plunger("1 bar", "1 bar", "0 N"), "cylinder.air"), "too large by "),
                101325 * pi / 4 * 0.07 * 0.07, 2e-3);
  assert_null(remark(plunger("0 bar", "0 bar", "0 N"), "cylinder.air"));
  assert_null(remark(plunger("1 bar", "200 bar", "0 N"), "cylinder.air"));
  assert_null(remark(plunger("1 bar", "1 bar", "390 N"), "cylinder.air"));
  assert_non_null(remark(plunger("1 bar", "1 bar", "300 N"), "cylinder.air"));
  // The rod side is the larger one: the air would push the rod out. In a vacuum the oil has no force to compare with.
  const char *small = plunger_with("areas: [40 cm^2, 50 cm^2]", "1 bar", "1 bar", "0 N");
  near_relative(number(remark(small, "cylinder.air"), "too small by "), 101325 * 10e-4, 5e-3);
  char file[1000];
  snprintf(file, sizeof file, "%s", plunger_with("bore: 100 mm, rod: 70 mm", "1 bar", "0 bar", "0 N"));
  *strstr(file, "orifices") = '#';
  const char *text = remark(file, "cylinder.air");
  assert_non_null(text);
  near_relative(number(text, "too large by "), 101325 * pi / 4 * 0.07 * 0.07, 2e-3);
  if (strstr(text, "inf")) fail_msg("%s", text);
}

// A long line that is closed within 2 ms, and within 400 ms: of 30 m and 1200 m/s, whose highest mode has 120 Hz.
static const char *shut(const char *end) {
  static char text[900];
  snprintf(
      text, sizeof text,
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2528 GPa, viscosity: 30 cSt}\n"
      "sources: {S: {pressure: 50 bar}}\nvolumes: {E: {volume: 0.02 L}}\ntanks: {T: {pressure: 1 bar}}\n"
      "long_lines: {line: {between: [S, E], length: 30 m, diameter: 20 mm, sound: 1200 m/s, rest: 50 bar, modes: 6}}\n"
      "two_way_valves: {v: {command: u, between: [E, T], nominal_flow: 60 L/min, nominal_drop: 40 bar}}\n"
      "inputs: {u: {ramps: {at: [[0 s, 0], [0.4 s, 0.5], [1 s, 0.5], [%s, 0]]}}}\n"
      "initial: {E.pressure: 50 bar}\nrun: {time: 1.5 s, step: 0.2 ms}\n",
      end);
  return text;
}
static void lines(void **state) {
  (void)state;
  near_relative(number(remark(shut("1.002 s"), "line.modes"), "up to "), 6 * 1200 / 60.0, 1e-6);
  assert_null(remark(shut("1.4 s"), "line.modes"));
}

// A pump draws 1 L/min from a junction without inflow.
static void junctions(void **state) {
  (void)state;
  const char *text = remark(
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\njunctions: [J]\nvolumes: {A: {volume: 10 L}}\ntanks: {T: {pressure: 0 bar}}\n"
      "orifices: {o: {between: [T, J], area: 1 mm^2, discharge: 0.7}, out: {between: [A, T], area: 10 mm^2, discharge: 0.7}}\npumps: {p: {from: J, to: A, flow: 6 L/min}}\n"
      "initial: {A.pressure: 0 bar}\nrun: {time: 2 s, step: 1 ms}\n",
      "junction.empty");
  near_relative(number(text, "draw "), 0.2, 0.01);  // l
}

// A pump draws 6 L/min from 0.5 L: it is empty after 5 s.
static void empty(void **state) {
  (void)state;
  const char *text = remark(
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\nvolumes: {A: {volume: 0.5 L}}\ntanks: {T: {pressure: 0 bar}}\n"
      "pumps: {p: {from: A, to: T, flow: 6 L/min}}\ninitial: {A.pressure: 0 bar}\nrun: {time: 6 s, step: 1 ms}\n",
      "volume.empty");
  near_relative(number(text, "volume A is empty at "), 5, 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(creep),     cmocka_unit_test(contact), cmocka_unit_test(delays),
                                     cmocka_unit_test(pressures), cmocka_unit_test(air),     cmocka_unit_test(lines),
                                     cmocka_unit_test(junctions), cmocka_unit_test(empty)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
