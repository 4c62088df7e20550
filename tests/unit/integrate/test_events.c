// Events between two points of the grid: bends of inputs, switches, tables and formulas whose argument passes a knot and returns, contacts; and
// unpredictable machines. Oracles are closed forms, given in each test.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "simulate/run.h"
#include "support/machines.h"

// Runs with the outputs of the file's 'run' section. step 0: adaptive, with rows every `rows` seconds.
static od_table *run(const od_machine *m, const char *integrator, double step, double rows, od_run_report *report) {
  const od_run_defaults *file = od_machine_run(m);
  const od_run_options options = {.time = file->time,
                                  .step = step > 0 ? step : rows,
                                  .adaptive = step == 0,
                                  .integrator = integrator,
                                  .outputs = file->outputs,
                                  .output_count = file->output_count};
  od_table *table = NULL;
  od_error err = {0};
  if (od_run(m, &options, &table, report, &err) != OD_OK) fail_msg("%s", err.text);
  return table;
}

static double final(const od_table *t, int column) {
  return t->data[(t->rows - 1) * t->columns + 1 + column];
}

// ---- pulses shorter than a step

static const struct {
  const char *name, *text;
  double exact;
} pulses[] = {
    // A triangle of 0.4 ms and 50 kN on 10 kg: 10 N s.
    {"ramps",
     "inputs: {F: {unit: N, ramps: {at: [[0 s, 0 N], [0.5001 s, 0 N], [0.5003 s, 50 kN], [0.5005 s, 0 N]]}}}\n"
     "bodies: {m: {point: {mass: 10 kg}}}\njoints: {rail: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
     "torques: {hit: {joint: rail, value: F}}\ninitial: {rail.position: 0 m}\nrun: {time: 1 s, outputs: [rail.rate]}\n",
     1},
    {"sequence",
     "inputs: {F: {unit: N, sequence: [{hold: {duration: 0.5001 s}}, {ramp: {to: 50 kN, duration: 0.2 ms}},\n"
     "    {ramp: {to: 0 N, duration: 0.2 ms}}]}}\n"
     "bodies: {m: {point: {mass: 10 kg}}}\njoints: {rail: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
     "torques: {hit: {joint: rail, value: F}}\ninitial: {rail.position: 0 m}\nrun: {time: 1 s, outputs: [rail.rate]}\n",
     1},
    // Two half-cosines of 0.2 ms up to 1000.
    {"half-cosines",
     "inputs: {u: {half_cosines: {at: [[0 s, 0], [0.5001 s, 0], [0.5003 s, 1000], [0.5005 s, 0]]}}}\n"
     "blocks: {i: {type: integrator, input: u, gain: 1 1/s, unit: '1'}}\nrun: {time: 1 s, outputs: [i]}\n",
     0.2},
    // A sine of 1.0007 Hz rises above 0.9999999 for 0.14 ms. The relay stays on until it has fallen to -0.5.
    {"relay",
     "inputs: {u: {sine: {amplitude: 1, frequency: 1.0007 Hz}}}\nblocks:\n"
     "  k: {type: relay, input: u, thresholds: [-0.5, 0.9999999], values: [0, 1]}\n"
     "  i: {type: integrator, input: k, gain: 1 1/s, unit: '1'}\nrun: {time: 1 s, outputs: [i]}\n",
     NAN},
    // Five transitions at 0.1 s.
    {"state machine",
     "inputs: {u: {steps: {at: [[0.1 s, 1]]}}}\nblocks:\n"
     "  c: {type: state-machine, inputs: {x: u}, states: {a: 0, b: 1, c: 2, d: 3, e: 4, f: 5}, transitions: [\n"
     "    {from: a, to: b, when: x > 0.5}, {from: b, to: c, when: x > 0.5}, {from: c, to: d, when: x > 0.5},\n"
     "    {from: d, to: e, when: x > 0.5}, {from: e, to: f, when: x > 0.5}]}\n"
     "  i: {type: integrator, input: c, gain: 1 1/s, unit: '1'}\nrun: {time: 0.2 s, outputs: [i]}\n",
     0.5},
    // Two relays within one step, in their order: the input of the second one is an integral of the first one. It begins to rise at 0.5002 s with
    // 1000 1/s and passes 0.3 at 0.5005 s.
    {"two relays",
     "inputs: {t: {ramps: {at: [[0 s, 0], [10 s, 10]]}}}\nblocks:\n"
     "  a: {type: relay, input: t, thresholds: [-1, 0.5002], values: [0, 1000]}\n"
     "  x: {type: integrator, input: a, gain: 1 1/s, unit: '1'}\n"
     "  b: {type: relay, input: x, thresholds: [-1, 0.3], values: [0, 1]}\n"
     "  i: {type: integrator, input: b, gain: 1 1/s, unit: '1'}\nrun: {time: 1 s, outputs: [i]}\n",
     0.4995},
};
enum { PULSES = sizeof pulses / sizeof *pulses };

// Events that fixed steps also locate.
static void pulses_are_seen_by_all_rules(void **state) {
  (void)state;
  static const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4", "cvodes"};
  const double pi = acos(-1), w = 2 * pi * 1.0007, on = asin(0.9999999) / w, off = (pi + asin(0.5)) / w;
  for (int i = 0; i < PULSES; i++)
    for (int k = 0; k < 5; k++) {
      od_machine *m = od_test_machine_text(pulses[i].text);
      od_run_report report = {0};
      od_table *t = run(m, k < 4 ? integrators[k] : "tr-bdf2", k < 4 ? 1e-3 : 0, 1e-3, &report);
      double exact = isnan(pulses[i].exact) ? off - on : pulses[i].exact, got = final(t, 0);
      bool wrong = fabs(got - exact) > 2e-3 * exact;
      // CVODES misses the relay's pulse, which another integrator then shows.
      if (wrong && k != 3)
        fail_msg("%s, %s: %.6g instead of %.6g", pulses[i].name, k < 4 ? integrators[k] : "auto", got, exact);
      if ((report.verdict.trust == OD_SOUND) == wrong)
        fail_msg("%s, %s: %s", pulses[i].name, k < 4 ? integrators[k] : "auto",
                 wrong ? "sound" : report.verdict.remark[0].text);
      od_run_report_free(&report);
      od_table_free(t);
      od_machine_free(m);
    }
}

// Narrow peaks of laws: adaptive steps find them; fixed steps that miss them are reported as wrong.
static void peaks_of_laws(void **state) {
  (void)state;
  const double pi = acos(-1);
  const struct {
    const char *block;
    double exact;
  } laws[] = {
      {"type: table, input: t, at: [0.5001, 0.5003, 0.5005], values: [0, 1000, 0]", 0.2},
      {"type: formula, inputs: {x: t}, formula: 'if(x > 0.50051, if(x < 0.50099, 1000, 0), 0)'", 0.48},
      {"type: formula, inputs: {x: t}, formula: 'if(abs(x - 0.5005) < 0.0001, 1000, 0)'", 0.2},
      {"type: formula, inputs: {x: t}, formula: '1000 * max(0, 1 - abs(x - 0.5005) / 0.0002)'", 0.2},
      {"type: formula, inputs: {x: t}, formula: '1000 * exp(-((x - 0.50055) / 0.0001)^2)'", 0},
  };
  for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
    for (int fixed = 0; fixed < 2; fixed++) {
      char text[600];
      snprintf(text, sizeof text,
               "inputs: {t: {ramps: {at: [[0 s, 0], [10 s, 10]]}}}\nblocks:\n  f: {%s}\n"
               "  i: {type: integrator, input: f, gain: 1 1/s, unit: '1'}\nrun: {time: 1 s, outputs: [i]}\n",
               laws[i].block);
      od_machine *m = od_test_machine_text(text);
      od_run_report report = {0};
      od_table *t = run(m, "tr-bdf2", fixed ? 1e-3 : 0, 1e-3, &report);
      double exact = laws[i].exact > 0 ? laws[i].exact : 0.1 * sqrt(pi), off = fabs(final(t, 0) - exact) / exact;
      print_message("law %zu, %s: off by %.3g, measured %.3g\n", i, fixed ? "fixed" : "auto", off,
                    report.accuracy.error[0].part);
      assert_true(fixed || off < 3e-3);
      assert_int_equal(report.verdict.trust == OD_SOUND, off < 0.01);
      assert_true(off < 0.01 || fabs(report.accuracy.error[0].part / fmin(off, 1) - 1) < 0.5);
      od_run_report_free(&report);
      od_table_free(t);
      od_machine_free(m);
    }
}

// An argument that rises to a peak of a table and returns within a step: a sine of 1 Hz, of which a table covers 0.2 us about its maximum at 0.25 s.
// Values are a triangle of height 1 over 1 - e to 1 + e; near the maximum u = 1 - (2 pi t)^2 / 2, so the integral is 4/3 t0 with (2 pi t0)^2 / 2 = e.
static void arguments_that_come_back(void **state) {
  (void)state;
  const double pi = acos(-1), e = 1e-8, t0 = sqrt(2 * e) / (2 * pi), exact = 1000 * 4.0 / 3 * t0;
  char text[500];
  snprintf(text, sizeof text,
           "inputs: {u: {sine: {amplitude: 1, frequency: 1 Hz}}}\nblocks:\n"
           "  f: {type: table, input: u, at: [0, %.12f, 1, 2], values: [0, 0, 1000, 1000]}\n"
           "  i: {type: integrator, input: f, gain: 1 1/s, unit: '1'}\nrun: {time: 0.6007 s, outputs: [i]}\n",
           1 - e);
  od_machine *m = od_test_machine_text(text);
  od_run_report report = {0};
  od_table *t = run(m, "tr-bdf2", 0, 1e-3, &report);
  print_message("%.6g instead of %.6g\n", final(t, 0), exact);
  assert_true(fabs(final(t, 0) - exact) < 0.01 * exact);
  od_run_report_free(&report);
  od_table_free(t);
  od_machine_free(m);
}

// ---- contacts

// A ball on an elastic floor without losses returns to its initial height and not higher, for any stiffness.
static void no_energy_from_contacts(void **state) {
  (void)state;
  static const char *const stiffness[] = {"1e5", "1e6", "1e8"};
  for (int i = 0; i < 3; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "gravity: [0, -9.81 m/s^2]\nbodies: {m: {point: {mass: 1 kg}}}\n"
             "joints: {r: {type: prismatic, between: [ground, m], axis: [0, 1, 0]}}\n"
             "contacts: {c: {at: m, stiffness: %s N/m, damping: 0 s/m, normal: [0, 1, 0]}}\n"
             "initial: {r.position: 1 m}\nrun: {time: 3 s, outputs: [r.position, energy.stored, energy.input]}\n",
             stiffness[i]);
    od_machine *m = od_test_machine_text(text);
    od_run_report report = {0};
    od_table *t = run(m, "tr-bdf2", 0, 1e-3, &report);
    double highest = od_table_summary(t, 1).max, energy = od_table_summary(t, 2).max;
    print_message("%s N/m: highest %.6g m, energy %.6g J, %ld steps\n", stiffness[i], highest, energy, report.steps);
    assert_true(highest < 1 + 1e-4 && energy < 9.81 * (1 + 1e-4));
    assert_true(od_table_summary(t, 3).max == 0);
    assert_int_equal(report.verdict.trust, OD_SOUND);
    od_run_report_free(&report);
    od_table_free(t);
    // Long steps create energy, which is reported.
    t = run(m, "trapezoid", 1e-3, 0, &report);
    assert_true(od_table_summary(t, 1).max < 1.01 || report.verdict.trust != OD_SOUND);
    od_run_report_free(&report);
    od_table_free(t);
    od_machine_free(m);
  }
}

// ---- rows

// An oscillating mass, x = 0.1 cos(20 t): rows by dense output are as accurate as steps, and their number has no effect.
static void rows_do_not_change_the_result(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(
      "bodies: {mass: {point: {mass: 2 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, mass], axis: [1, 0, 0], stiffness: 800 N/m}}\n"
      "initial: {rail.position: 0.1 m}\nrun: {time: 2 s, outputs: [rail.position, rail.rate, energy.balance]}\n");
  static const double rows[] = {1e-3, 0.37e-3, 2};
  double last[3][2];
  for (int i = 0; i < 3; i++) {
    od_run_report report = {0};
    od_table *t = run(m, "tr-bdf2", 0, rows[i], &report);
    for (long k = 0; k < t->rows; k++) {
      double time = t->data[k * t->columns];
      assert_true(fabs(t->data[k * t->columns + 1] - 0.1 * cos(20 * time)) < 1e-4);
      assert_true(fabs(t->data[k * t->columns + 2] + 2 * sin(20 * time)) < 2e-3);
    }
    for (int k = 0; k < 2; k++) last[i][k] = final(t, k);
    assert_true(i == 0 || memcmp(last[i], last[0], sizeof last[0]) == 0);
    assert_int_equal(report.verdict.trust, OD_SOUND);
    od_run_report_free(&report);
    od_table_free(t);
  }
  od_machine_free(m);
}

// ---- chaos

// A double pendulum that turns over. Two accurate runs disagree, so no integrator gives a correct motion; a small swing is predictable.
static void chaos_is_not_predictable(void **state) {
  (void)state;
  static const char *const integrators[] = {"trapezoid", "rk4", "cvodes", "tr-bdf2"};
  for (int small = 0; small < 2; small++)
    for (int k = 0; k < 4; k++) {
      char text[600];
      snprintf(
          text, sizeof text,
          "gravity: [0, -9.81]\nbodies: {a: {beam: {mass: 1 kg, length: 1 m}}, b: {beam: {mass: 1 kg, length: 1 m}}}\n"
          "joints: {A: {type: revolute, between: [ground, a.start]}, B: {type: revolute, between: [a.end, b.start]}}\n"
          "initial: {A.angle: %s deg, B.angle: 10 deg}\nrun: {time: %s s, outputs: [A.angle, B.angle]}\n",
          small ? "-80" : "90", small ? "3" : "40");
      od_machine *m = od_test_machine_text(text);
      od_run_report report = {0};
      od_table *t = run(m, integrators[k], k < 3 ? 1e-3 : 0, 1e-3, &report);
      print_message("%s: predictable until %.4g s\n", integrators[k], report.accuracy.predictable);
      assert_int_equal(isfinite(report.accuracy.predictable), !small);
      assert_int_equal(od_verdict_has(&report.verdict, "run.unpredictable"), !small);
      assert_true(small || (report.accuracy.predictable > 3 && report.accuracy.predictable < 35));
      assert_int_equal(report.verdict.trust == OD_SOUND, small);
      od_run_report_free(&report);
      od_table_free(t);
      od_machine_free(m);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pulses_are_seen_by_all_rules),  cmocka_unit_test(peaks_of_laws),
      cmocka_unit_test(arguments_that_come_back),      cmocka_unit_test(no_energy_from_contacts),
      cmocka_unit_test(rows_do_not_change_the_result), cmocka_unit_test(chaos_is_not_predictable)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
