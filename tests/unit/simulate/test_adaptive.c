// Adaptive steps. Oracles: closed forms, and over random machines CVODES at a tight tolerance, which shares neither steps nor
// error control with them.
//
//   unit.simulate.adaptive                        the tests
//   unit.simulate.adaptive calibrate 1 400        400 machines from seed 1 on, one line each, then the counts
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "memory/scoped.h"
#include "integrate/step_control.h"
#include "support/machines.h"
#include "support/random_file.h"
#include "support/random_machine.h"
#include "support/table_error.h"

// Runs with the outputs of the file's own 'run' section. NULL: it failed.
static od_table *run(const od_machine *m, const char *integrator, double rows, double tolerance, od_run_report *report,
                     od_error *err) {
  const od_run_defaults *file = od_machine_run(m);
  const od_run_options options = {.time = file->time,
                                  .step = rows,
                                  .integrator = integrator,
                                  .adaptive = strcmp(integrator, "cvodes") != 0,
                                  .tolerance = tolerance,
                                  .outputs = file->outputs,
                                  .output_count = file->output_count};
  od_table *table = NULL;
  if (od_run(m, &options, &table, report, err) == OD_OK) return table;
  od_table_free(table);
  return NULL;
}

// --- Machines for which fixed steps of 1 ms are too long ------------------------------------------------------------

static const char *const machines[] = {
    // A pump into a small volume: 195 bar with the trapezoidal rule, where the true maximum is 54.7 bar.
    "machine: pump into a small volume\noil: {density: 870, law: constant, modulus: 1.2 GPa}\n"
    "volumes: {P: {volume: 1 mL}}\ntanks: {T: {pressure: 1 bar}}\npumps: {pump: {to: P, from: T, flow: 20 L/min}}\n"
    "orifices: {o: {between: [P, T], area: 5 mm^2, discharge: 0.6}}\ninitial: {P.pressure: 1 bar}\n"
    "run: {time: 0.1 s, outputs: [P.pressure]}\n",
    // A pendulum that hits a spring of 1e6 N/m.
    "machine: pendulum with a stiff spring\ngravity: [0, -9.81]\nground: {points: {wall: [1, 0]}}\n"
    "bodies: {rod: {beam: {mass: 2 kg, length: 0.8 m}}}\n"
    "joints: {hinge: {type: revolute, between: [ground, rod.start]}}\n"
    "springs: {spring: {between: [ground.wall, rod.end], stiffness: 1e6, damping: 2, length: 0.5 m}}\n"
    "initial: {hinge.angle: -90 deg}\nrun: {time: 0.5 s, outputs: [hinge.angle, spring.force]}\n",
    // A controller with limits.
    "machine: P controller with limits\ninputs: {target: {steps: {at: [[0.1003 s, 1]]}}}\n"
    "blocks:\n  error: {type: sum, inputs: [target, plant], weights: [1, -1]}\n"
    "  control: {type: pid, input: error, unit: V, kp: 20 V, limits: [-10 V, 10 V]}\n"
    "  plant: {type: integrator, input: control, gain: 1 1/(V s), unit: \"1\"}\n"
    "run: {time: 1 s, outputs: [plant, control]}\n"};

static void maxima_are_right(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    od_machine *m = od_test_machine_text(machines[i]);
    od_run_report report = {0};
    od_table *c = run(m, "cvodes", 1e-3, 1e-11, NULL, NULL), *t = run(m, "tr-bdf2", 1e-3, 0, &report, NULL);
    assert_non_null(c);
    assert_non_null(t);
    for (int k = 1; k < t->columns; k++) {
      od_summary got = od_table_summary(t, k), want = od_table_summary(c, k);
      print_message("%.30s, %s: max %.6g, not %.6g; %ld steps\n", machines[i], t->name[k], got.max, want.max,
                    report.steps);
      assert_true(fabs(got.max - want.max) < 2e-3 * (want.max - want.min));
      assert_true(fabs(got.min - want.min) < 2e-3 * (want.max - want.min));
    }
    od_table_free(c);
    od_table_free(t);
    od_run_report_free(&report);
    od_machine_free(m);
  }
}

// --- Times at which steps must end --------------------------------------------------------------------------------

// A lag after a step of its input at an odd time, a ramp that ends at another, and a sampled gain with an odd period. Closed forms:
// with the time constant T the lag is 1 - exp(-(t - t0)/T), and the sampled gain holds the ramp's value at its last sample.
static void jumps_bends_samples_and_rows_are_met(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(
      "machine: lag\ninputs: {u: {steps: {at: [[0.03337 s, 1]]}},"
      " v: {ramps: {at: [[0.0511 s, 0], [0.0777 s, 2]]}}}\n"
      "blocks:\n  y: {type: first-order, input: u, time_constant: 5 ms}\n"
      "  z: {type: integrator, input: v, gain: 1, unit: \"s\"}\n"
      "  w: {type: gain, input: v, gain: 1, sample: 7.7 ms}\n"
      "run: {time: 0.1 s, step: auto, rows: 2 ms, outputs: [y, z, w]}\n");
  assert_true(od_machine_run(m)->adaptive && od_machine_run(m)->rows == 2e-3);
  const char *integrators[] = {"tr-bdf2", "rk4"};
  for (int k = 0; k < 2; k++) {
    od_run_report report = {0};
    od_table *t = run(m, integrators[k], 0, 1e-7, &report, NULL);
    assert_non_null(t);
    assert_int_equal(t->rows, 51);
    double worst = 0;
    for (long i = 0; i < t->rows; i++) {
      const double *row = t->data + i * t->columns, time = row[0];
      assert_true(fabs(time - (double)i * 2e-3) < 1e-12);
      double y = time > 0.03337 ? 1 - exp(-(time - 0.03337) / 5e-3) : 0, slope = 2 / (0.0777 - 0.0511);
      double ramp = fmin(fmax(time - 0.0511, 0), 0.0777 - 0.0511),
             z = slope * ramp * ramp / 2 + 2 * fmax(time - 0.0777, 0);
      double last = 7.7e-3 * floor(time / 7.7e-3 * (1 + 1e-12)),
             w = slope * fmin(fmax(last - 0.0511, 0), 0.0777 - 0.0511);
      worst = fmax(worst, fmax(fabs(row[1] - y), fmax(fabs(row[2] - z), fabs(row[3] - w))));
    }
    print_message("%s: off by %.2g in %ld steps\n", integrators[k], worst, report.steps);
    assert_true(worst < 2e-5);
    assert_int_equal(report.verdict.trust, OD_SOUND);
    od_table_free(t);
    od_run_report_free(&report);
  }
  od_machine_free(m);
}

// The tighter the tolerance, the smaller the error, and the more steps.
static void the_tolerance_controls_the_error(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(machines[0]);
  od_table *c = run(m, "cvodes", 1e-3, 1e-12, NULL, NULL);
  double last = INFINITY;
  long steps = 0;
  for (double tolerance = 1e-2; tolerance > 1e-9; tolerance /= 100) {
    od_run_report report = {0};
    od_table *t = run(m, "tr-bdf2", 1e-3, tolerance, &report, NULL);
    double error = table_error(t, c);
    print_message("tolerance %.0e: error %.2g in %ld steps\n", tolerance, error, report.steps);
    assert_true(error < last && error < 30 * tolerance && report.steps > steps);
    last = error;
    steps = report.steps;
    od_table_free(t);
    od_run_report_free(&report);
  }
  od_table_free(c);
  od_machine_free(m);
}

// --- Runs that fail -----------------------------------------------------------------------------------------------

static void impossible_wishes_end_with_a_message(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(machines[0]);
  od_error err = {0};
  assert_null(run(m, "trapezoid", 1e-3, 0, NULL, &err));
  assert_string_equal(err.text,
                      "'step: auto' needs an integrator that estimates the error of each step: tr-bdf2 or rk4, "
                      "not trapezoid");
  od_machine_free(m);
  // An undamped oscillation, far too fast for the time of the run.
  m = od_test_machine_text(
      "machine: mass on a spring\nbodies: {mass: {point: {mass: 1 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, mass], axis: [1, 0, 0], stiffness: 1e14 N/m}}\n"
      "initial: {rail.position: 0.1 m}\nrun: {time: 1e4 s, outputs: [rail.position]}\n");
  err = (od_error){0};
  assert_null(run(m, "tr-bdf2", 10, 1e-8, NULL, &err));
  print_message("%s\n", err.text);
  assert_non_null(strstr(err.text, "would be needed; the limit is 1e+09"));
  od_machine_free(m);
}

// x' = -x, which can be evaluated only until t = 0.25.
static int ending(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)u, (void)p;
  dx[0] = -x[0];
  return t > 0.25;
}
static int slope(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                 double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fu, (void)fp;
  if (fx) fx[0] = -1;
  return 0;
}

// A machine that cannot continue: steps become shorter and shorter, and then the failure is reported.
static void what_cannot_go_on_is_told(void **state) {
  (void)state;
  const double x0 = 1;
  const od_function f = {.nx = 1, .x0 = &x0, .f = ending, .f_jacobians = slope};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  od_sim_set_integrator(sim, od_integrator_find("tr-bdf2"));
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  double memory[4];  // four numbers for the state
  assert_int_equal(od_plant_nx(plant), 1);
  od_step_control control;
  od_step_control_init(&control, sim, plant, &(od_advance_options){.tolerance = 1e-6, .longest = 0.1, .end = 1},
                       memory);
  od_advance_failure failure = {0};
  od_status status = OD_OK;
  double t = 0;
  int tries = 0;
  while (status == OD_OK && tries < 10000) {
    bool accepted = false;
    while (!accepted && status == OD_OK) {
      double next = od_step_control_next(&control, t, 1);
      status = od_step_control_judge(&control, t, next, od_sim_step(sim, next - t, NULL), &accepted, &failure);
      if (accepted) od_step_control_accept(&control), t = next;
      tries++;
    }
  }
  print_message("%d tries, %g s\n", tries, failure.at);
  assert_true(tries < 1000 && status != OD_OK);
  assert_true(failure.problem == OD_ADVANCE_STEP && fabs(failure.at - 0.25) < 1e-9);
  // The simulation is at the last good point.
  assert_true(fabs(t - 0.25) < 1e-9 && fabs(od_sim_time(sim) - t) < 1e-12);
  assert_true(fabs(od_sim_state(sim)[0] - exp(-t)) < 1e-5);
  od_sim_free(sim);
  od_plant_free(plant);
}

// --- The verdict --------------------------------------------------------------------------------------------------

typedef struct tally {
  int bad, missed, good, alarms, failed;
} tally;

// tolerance 0: the default.
static void judge_one(uint64_t seed, bool usual, bool verbose, tally *n) {
  char text[8000];
  od_random_file(seed, text, sizeof text);
  od_machine *m = od_test_machine_text(text);
  od_dice dice = {seed * 77 + 5};
  od_dice_uniform(&dice, 0, 1);
  double tolerance = exp(od_dice_uniform(&dice, log(1e-5), log(0.1))), rows = od_machine_run(m)->time / 40;
  od_run_report report = {0};
  od_table *t = run(m, "tr-bdf2", rows, usual ? 0 : tolerance, &report, NULL);
  od_table *c = t ? run(m, "cvodes", rows, 1e-9, NULL, NULL) : NULL;
  n->failed += !c;
  if (c) {
    double error = table_error(t, c);
    bool bad = !(error <= 0.03), good = error < 0.003, warned = report.verdict.trust != OD_SOUND;
    n->bad += bad;
    n->good += good;
    n->missed += bad && !warned;
    n->alarms += good && warned;
    if (verbose)
      printf("%llu: tolerance %.3g, true %.3g, estimated %.3g, %ld steps%s\n", (unsigned long long)seed,
             usual ? OD_ADAPTIVE_TOLERANCE : tolerance, error,
             report.accuracy.worst >= 0 ? report.accuracy.error[report.accuracy.worst].part : 0, report.steps,
             bad && !warned   ? " MISSED"
             : good && warned ? " FALSE ALARM"
                              : "");
  }
  od_run_report_free(&report);
  od_table_free(t);
  od_table_free(c);
  od_machine_free(m);
}

static tally judge(uint64_t first, int count, bool usual, bool verbose) {
  tally n = {0};
  for (int i = 0; i < count; i++) judge_one(first + (uint64_t)i, usual, verbose, &n);
  printf("%d machines, %d of them failed: %d bad, %d missed; %d good, %d false alarms\n", count, n.failed, n.bad,
         n.missed, n.good, n.alarms);
  return n;
}

// With loose tolerances bad runs are reported; with the usual tolerance almost no run is bad.
static void bad_runs_are_told(void **state) {
  (void)state;
  tally n = judge(9001, 60, false, false);
  assert_true(n.bad >= 5 && n.good >= 20 && n.failed <= 5);
  assert_true(n.missed <= 1 && n.alarms <= 2);
  n = judge(9001, 40, true, false);
  assert_true(n.bad <= 1 && n.missed == 0 && n.good >= 30 && n.alarms <= 1);
}

// A given tolerance is kept, and its errors are reported; the default tolerance is tightened if necessary.
static void tolerances_are_kept_or_tightened(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(machines[1]);
  od_table *c = run(m, "cvodes", 1e-3, 1e-11, NULL, NULL);
  for (int chosen = 0; chosen < 2; chosen++) {
    od_run_report report = {0};
    od_table *t = run(m, "tr-bdf2", 1e-3, chosen ? 1e-3 : 0, &report, NULL);
    double error = table_error(t, c), measured = report.accuracy.error[report.accuracy.worst].part;
    print_message("tolerance %g: true error %.2g, measured %.2g\n", report.accuracy.tolerance, error, measured);
    assert_int_equal(od_verdict_has(&report.verdict, "tolerance.loose"), chosen);
    assert_int_equal(report.verdict.trust == OD_SOUND, !chosen);
    assert_true(chosen ? report.accuracy.tolerance == 1e-3 : report.accuracy.tolerance < OD_ADAPTIVE_TOLERANCE);
    assert_true(measured > 0.5 * error && measured < 2 * error);
    od_table_free(t);
    od_run_report_free(&report);
  }
  od_table_free(c);
  od_machine_free(m);
}

int main(int argc, char **argv) {
  if (argc > 3 && !strcmp(argv[1], "calibrate")) {
    judge(strtoull(argv[2], NULL, 10), atoi(argv[3]), argc > 4, true);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(maxima_are_right),
                                     cmocka_unit_test(jumps_bends_samples_and_rows_are_met),
                                     cmocka_unit_test(the_tolerance_controls_the_error),
                                     cmocka_unit_test(impossible_wishes_end_with_a_message),
                                     cmocka_unit_test(what_cannot_go_on_is_told),
                                     cmocka_unit_test(bad_runs_are_told),
                                     cmocka_unit_test(tolerances_are_kept_or_tightened)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
