// cases/press-log. Oracles: the simulated run from which the script make-log wrote the MDF 4 file, interpolated to the times of each group, with the
// noise and the resolution of the sensors and of the database; the times and the broken cable that the script states; and the numbers of the
// worn press.
#include "support/test.h"
#include "support/logged_run.h"
#include "support/skipping.h"

#define CASE OD_SOURCE_DIR "/cases/press-log/"
enum { FORCES = 500 };

static void compare_all(scratch *s, const char *path) {
  const double input = 400.0 / 27648, bit = 1 / 500e3;
  const logged_column columns[] = {
      {"p_P", "P.pressure", 1e-5, 0.4, input / 2, 0, 0, 10000},
      {"p_A", "A.pressure", 1e-5, 0.4, input / 2, 0, 0, 10000},
      {"p_B", "B.pressure", 1e-5, 0.4, input / 2, 0, 0, 9600},
      {"ram_position", "guide.position", 1e3, 0.05, 0.0005, 0, 0, 1000},
      {"Command.Lever", "lever", 100, 0, 0.0025, 79 * bit, 1.2 * 79 * bit, 5000},
  };
  od_table *run = logged_run(s, CASE "machine.yaml"), *log = logged_read(path, CASE "press.dbc");
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) logged_compare(log, run, &columns[i]);
  int broken = od_table_find(log, "p_B"), force = od_table_find(log, "Frame.Force"), oil = od_table_find(log, "oil");
  long forces = 0, temperatures = 0;
  assert_true(broken > 0 && force > 0 && oil > 0);
  for (long k = 0; k < log->rows; k++) {
    const double *row = log->data + k * log->columns;
    // The broken cable: invalidation bits from 2.6 s to 3 s.
    if (row[0] > 2.5995 && row[0] < 2.9995) assert_true(isnan(row[broken]));
    // The force has noise of 0.5 kN, but none below 1.5 kN; a frame is at most 0.17 ms late, in which the force changes by up to 1 kN.
    if (!isnan(row[force])) {
      near(row[force], logged_value(run, "shaft.force", row[0]) * 1e-3, 5 * 0.5 + 1);
      forces++;
    }
    if (!isnan(row[oil])) near(row[oil], 46 + 0.1 * row[0], 0.5), temperatures++;
  }
  assert_int_equal(forces, FORCES);
  assert_int_equal(temperatures, 10);
  od_table_free(log);
  od_table_free(run);
}

static void log_is_the_run(void **state) {
  compare_all(*state, CASE "press.mf4");
}

static void script_writes_logs(void **state) {
  scratch *s = *state;
  char command[1024];
  if (system("test -x /usr/bin/python3") != 0) skip_test("no package: python3");
  od_table_free(logged_run(s, CASE "machine.yaml"));
  snprintf(command, sizeof command, CASE "make-log %s/run.csv " CASE "press.dbc %s/new.mf4 7 >/dev/null", s->folder,
           s->folder);
  assert_int_equal(system(command), 0);
  snprintf(command, sizeof command, "%s", scratch_path(s, "new.mf4"));
  compare_all(s, command);
}

// 3 standard deviations of the largest of three estimates: an error of 0.8 % of the seeds. The seed of the file was not used otherwise.
static void fit_finds_the_wear(void **state) {
  scratch *s = *state;
  outcome o = run(s, "fit " CASE "fit.yaml --json - --quiet");
  ends_with(o, 0);
  logged_estimate(o.out, "\"cylinder.leakage\"", 0.04e-3 / 60 / 1e5, 1e-3);
  logged_estimate(o.out, "\"oil.air\"", 0.03, 1e-3);
  logged_estimate(o.out, "\"relief.set\"", 225e5, 1e-3);
  says(o.out, "\"trust\": \"sound\"");
  forget(o);
}

// The recorder's clock is local time, 60 minutes east of UTC.
static void survey_lists_the_failure(void **state) {
  outcome o = run(*state, "log " CASE "press.mf4 " CASE "machine.yaml --dbc " CASE "press.dbc");
  ends_with(o, 0);
  says(o.out, "2026-03-02T07:30:00+01:00");
  says(o.out, "p_B lacks 400 values (4 %)");
  says(o.out, "P.pressure: p_P");
  says(o.out, "lever: Command.Lever");
  forget(o);
}

// The estimate of the force against the true force: 5 of its own standard deviations, and the sensors' 12 N of a position error of 1 um.
static void observer_replaces_the_load_cell(void **state) {
  scratch *s = *state;
  od_table *true_run = logged_run(s, CASE "machine.yaml");
  double squares = 0;
  outcome o = run(s, "observe " CASE "force.experiment.yaml --json - --quiet --csv estimate.csv");
  ends_with(o, 0);
  says(o.out, "\"trust\": \"sound\"");
  near(logged_number(o.out, "\"Frame.Force\"", "\"count\": "), FORCES, 0);
  near(logged_number(o.out, "\"Frame.Force\"", "\"share95\": "), 0.97, 0.03);
  forget(o);
  od_table *estimate = logged_read(scratch_path(s, "estimate.csv"), NULL);
  for (long k = 0; k < estimate->rows; k++) {
    double force = can_value(estimate, k, "estimate.shaft.force"), sigma = can_value(estimate, k, "sigma.shaft.force"),
           time = estimate->data[k * estimate->columns], d = force - logged_value(true_run, "shaft.force", time);
    // Within 5 ms after the contact begins, the run has a kink between two rows.
    if (force < -2000 && !(fabs(d) <= 5 * sigma + 50))
      fail_msg("force at %.4f s: off by %g N, sigma %g", time, d, sigma);
    squares += d * d;
  }
  assert_true(sqrt(squares / (double)estimate->rows) < 50);
  od_table_free(estimate);
  od_table_free(true_run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(log_is_the_run, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(script_writes_logs, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(survey_lists_the_failure, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(fit_finds_the_wear, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(observer_replaces_the_load_cell, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
