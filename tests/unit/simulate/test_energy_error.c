// Errors of energies: conserved ones, whose range is their error, and integrals of powers.
//
// Oracles: an undamped pendulum keeps its initial energy; an orifice between a volume of oil with constant modulus K and a source
// turns V/K (p - p0)^2 / 2 into heat for any flow law.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "requirements/judge.h"
#include "simulate/run.h"
#include "support/machines.h"

// Runs with the outputs of the file's own 'run' section.
static od_table *run(const od_machine *m, double step, bool adaptive, od_run_report *report) {
  const od_run_defaults *file = od_machine_run(m);
  const od_run_options options = {.time = file->time,
                                  .step = step,
                                  .adaptive = adaptive,
                                  .integrator = adaptive ? "tr-bdf2" : "trapezoid",
                                  .outputs = file->outputs,
                                  .output_count = file->output_count};
  od_table *table = NULL;
  assert_int_equal(od_run(m, &options, &table, report, NULL), OD_OK);
  return table;
}

// The largest distance of a column from a value.
static double farthest(const od_table *t, int column, double value) {
  od_summary s = od_table_summary(t, column);
  return fmax(fabs(s.max - value), fabs(s.min - value));
}

static const char pendulum[] =
    "machine: pendulum\ngravity: [0, -9.81 m/s^2]\nbodies: {rod: {beam: {mass: 3 kg, length: 1 m}}}\n"
    "joints: {hinge: {type: revolute, between: [ground, rod.start]}}\ninitial: {hinge.angle: -45 deg}\n"
    "run: {time: 4 s, step: 1 ms, outputs: [energy.stored]}\n";

static void a_conserved_energy_is_compared_with_the_energy_moved(void **state) {
  (void)state;
  const double pi = acos(-1), energy = -3 * 9.81 * 0.5 * sin(pi / 4);
  const double moved = 3 * 9.81 * 0.5 * (1 - sin(pi / 4));
  static const double step[] = {1e-3, 1e-2, 0.2};
  od_machine *m = od_test_machine_text(pendulum);
  for (int i = 0; i < 3; i++) {
    od_run_report report = {0};
    od_table *t = run(m, step[i], false, &report);
    double part = farthest(t, 1, energy) / moved, reported = report.accuracy.error[0].part;
    print_message("step %g s: off by %.3g of the energy moved, reported %.3g\n", step[i], part, reported);
    assert_true(reported > 0.8 * part && reported < 1.25 * part);
    assert_int_equal(report.verdict.trust == OD_SOUND, part < 0.01);
    od_run_report_free(&report);
    od_table_free(t);
  }
  od_machine_free(m);
}

// A small volume that a valve fills faster than steps of 1 ms.
static const char filling[] =
    "machine: filling\noil: {density: 860 kg/m^3, law: constant, modulus: 1.5 GPa}\nvolumes: {V: {volume: 0.06 L}}\n"
    "sources: {S: {pressure: 150 bar}}\ninputs: {open: {steps: {initial: 0, at: [[20 ms, 1]]}}}\n"
    "orifices: {valve: {between: [S, V], area: 15 mm^2, discharge: 0.6, opening: open}}\n"
    "initial: {V.pressure: 0 bar}\nrun: {time: 60 ms, outputs: [V.pressure, energy.dissipated]}\n"
    "requirements: {heat: {output: energy.dissipated, max: %g J}}\n";

static const double heat = 0.06e-3 / 1.5e9 * 150e5 * 150e5 / 2;

static void errors_of_integrals_are_told(void **state) {
  (void)state;
  char text[1000];
  snprintf(text, sizeof text, filling, heat);
  od_machine *m = od_test_machine_text(text);
  static const struct {
    double step;
    bool adaptive, sound;
  } c[] = {{1e-3, true, true}, {2e-4, false, false}, {5e-6, false, true}};
  for (int i = 0; i < 3; i++) {
    od_run_report report = {0};
    od_table *t = run(m, c[i].step, c[i].adaptive, &report);
    od_summary s = od_table_summary(t, 2);
    double off = fabs(s.final - heat) / (s.max - s.min), reported = report.accuracy.error[1].part;
    print_message("%s step %g s: off by %.3g, reported %.3g\n", c[i].adaptive ? "adaptive" : "fixed", c[i].step, off,
                  reported);
    assert_true(reported > 0.5 * off);
    assert_int_equal(report.verdict.trust == OD_SOUND, c[i].sound);
    od_run_report_free(&report);
    od_table_free(t);
  }
  od_machine_free(m);
}

// Long steps: a limit between the true heat and the computed one is undecided, other limits are decided.
static od_outcome outcome_of(double bound, double *reached) {
  char text[1000];
  snprintf(text, sizeof text, filling, bound);
  od_machine *m = od_test_machine_text(text);
  int output[8], outputs = od_judge_outputs(m, output);
  double time = od_machine_run(m)->time;
  od_judge *g = od_judge_new(m, time, output, outputs);
  const od_run_watcher watcher = od_judge_watcher(g);
  const od_run_options options = {.time = time,
                                  .step = 2e-4,
                                  .integrator = "tr-bdf2",
                                  .outputs = output,
                                  .output_count = outputs,
                                  .watchers = &watcher,
                                  .watcher_count = 1};
  od_table *t = NULL;
  od_run_report report = {0};
  assert_int_equal(od_run(m, &options, &t, &report, NULL), OD_OK);
  assert_int_equal(od_judge_end(g, &report, true, NULL), OD_OK);
  od_outcome outcome = od_judge_outcome(g);
  *reached = od_table_summary(t, 1).max;
  od_judge_free(g);
  od_run_report_free(&report);
  od_table_free(t);
  od_machine_free(m);
  return outcome;
}

static void requirements_on_integrals_know_their_errors(void **state) {
  (void)state;
  double reached;
  assert_int_equal(outcome_of(2 * heat, &reached), OD_PASS);
  print_message("heat %.4g J, computed %.4g J\n", heat, reached);
  assert_true(fabs(reached - heat) > 0.02 * heat);
  assert_int_equal(outcome_of((heat + reached) / 2, &reached), OD_UNDECIDED);
  assert_int_equal(outcome_of(heat / 2, &reached), OD_FAIL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_conserved_energy_is_compared_with_the_energy_moved),
                                     cmocka_unit_test(errors_of_integrals_are_told),
                                     cmocka_unit_test(requirements_on_integrals_know_their_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
