// cases/press-log. Oracles: the simulated run from which the script make-log wrote the MDF 4 file, interpolated to the times of each group, with the
// noise and the resolution of the sensors and of the database; the times and the broken cable that the script states; and the numbers of the
// worn press.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "support/can.h"
#include "support/program.h"
#include "support/skipping.h"

#define CASE OD_SOURCE_DIR "/cases/press-log/"
enum { FORCES = 500 };

static od_table *simulated(scratch *s) {
  od_table *t = NULL;
  od_error err = {0};
  expect_code(run(s, "simulate " CASE "machine.yaml --variant worn --csv run.csv --quiet"), 0);
  if (od_table_read(scratch_path(s, "run.csv"), NULL, &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

// A column of the run at a time. The rows are 1 ms apart.
static double run_value(const od_table *t, const char *name, double time) {
  long k = (long)floor(time / 1e-3);
  if (k > t->rows - 2) k = t->rows - 2;
  if (k < 0) k = 0;
  double a = can_value(t, k, name), b = can_value(t, k + 1, name), from = t->data[k * t->columns];
  return a + (time - from) / 1e-3 * (b - a);
}

// A column of the log, and the column of the run from which the script made it.
typedef struct expectation {
  const char *column, *output;
  double factor, noise, resolution;  // in the unit of the column
  double early, late;                // limits of the delay of the times, s
  long values;
} expectation;

// Compares a column with the run: all values within 5 standard deviations, their mean within 5 of its own, and the scatter.
static void compare(const od_table *log, const od_table *run, const expectation *e) {
  double sum = 0, squares = 0, limit = 5 * e->noise + e->resolution, slack = 0;
  int c = od_table_find(log, e->column);
  long count = 0;
  assert_true(c > 0);
  for (long k = 0; k < log->rows; k++) {
    double value = log->data[k * log->columns + c], time = log->data[k * log->columns];
    if (isnan(value)) continue;
    double first = e->factor * run_value(run, e->output, time - e->early),
           second = e->factor * run_value(run, e->output, time - e->late), middle = (first + second) / 2,
           half = fabs(first - second) / 2, d = value - middle;
    if (!(fabs(d) <= limit + half)) fail_msg("%s at %.6f s: %g, off by %g", e->column, time, value, d);
    sum += d, squares += d * d, slack += half, count++;
  }
  assert_int_equal(count, e->values);
  double n = (double)count;
  near(sum / n, 0, 5 * e->noise / sqrt(n) + slack / n + e->resolution / sqrt(n));
  if (e->noise > 0) near_relative(sqrt(squares / n), e->noise, 5 / sqrt(2 * n));
}

static void compare_all(scratch *s, const char *path) {
  const double input = 400.0 / 27648, bit = 1 / 500e3;
  const expectation columns[] = {
      {"p_P", "P.pressure", 1e-5, 0.4, input / 2, 0, 0, 10000},
      {"p_A", "A.pressure", 1e-5, 0.4, input / 2, 0, 0, 10000},
      {"p_B", "B.pressure", 1e-5, 0.4, input / 2, 0, 0, 9600},
      {"ram_position", "guide.position", 1e3, 0.05, 0.0005, 0, 0, 1000},
      {"Command.Lever", "lever", 100, 0, 0.0025, 79 * bit, 1.2 * 79 * bit, 5000},
  };
  const char *databases[] = {CASE "press.dbc", NULL};
  od_table *log = NULL, *run = simulated(s);
  od_error err = {0};
  if (od_table_read(path, &(od_table_wish){.databases = databases}, &log, &err) != OD_OK) fail_msg("%s", err.text);
  for (int i = 0; i < (int)(sizeof columns / sizeof *columns); i++) compare(log, run, &columns[i]);
  int broken = od_table_find(log, "p_B"), force = od_table_find(log, "Frame.Force"), oil = od_table_find(log, "oil");
  long forces = 0, temperatures = 0;
  assert_true(broken > 0 && force > 0 && oil > 0);
  for (long k = 0; k < log->rows; k++) {
    const double *row = log->data + k * log->columns;
    // The broken cable: invalidation bits from 2.6 s to 3 s.
    if (row[0] > 2.5995 && row[0] < 2.9995) assert_true(isnan(row[broken]));
    // The force has noise of 0.5 kN, but none below 1.5 kN; a frame is at most 0.17 ms late, in which the force changes by up to 1 kN.
    if (!isnan(row[force])) {
      near(row[force], run_value(run, "shaft.force", row[0]) * 1e-3, 5 * 0.5 + 1);
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
  od_table_free(simulated(s));
  snprintf(command, sizeof command, CASE "make-log %s/run.csv " CASE "press.dbc %s/new.mf4 7 >/dev/null", s->folder,
           s->folder);
  assert_int_equal(system(command), 0);
  snprintf(command, sizeof command, "%s", scratch_path(s, "new.mf4"));
  compare_all(s, command);
}

// The number after a name in JSON.
static double number_after(const char *json, const char *parameter, const char *key) {
  const char *at = strstr(json, parameter);
  at = at ? strstr(at, key) : NULL;
  if (!at) fail_msg("there is no '%s' of '%s'", key, parameter);
  return strtod(at + strlen(key), NULL);
}

// 3 standard deviations of the largest of three estimates: an error of 0.8 % of the seeds. The seed of the file was not used otherwise.
static void fit_finds_the_wear(void **state) {
  scratch *s = *state;
  outcome o = run(s, "fit " CASE "fit.yaml --json - --quiet");
  ends_with(o, 0);
  static const struct {
    const char *parameter;
    double value;
  } worn[] = {{"\"cylinder.leakage\"", 0.04e-3 / 60 / 1e5}, {"\"oil.air\"", 0.03}, {"\"relief.set\"", 225e5}};
  for (int i = 0; i < (int)(sizeof worn / sizeof *worn); i++) {
    double sigma = number_after(o.out, worn[i].parameter, "\"sigma\": ");
    near(number_after(o.out, worn[i].parameter, "\"estimate\": "), worn[i].value, 3 * sigma);
    assert_true(sigma > 0 && sigma < 1e-3 * worn[i].value);
  }
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
  od_table *true_run = simulated(s), *estimate = NULL;
  od_error err = {0};
  double squares = 0;
  outcome o = run(s, "observe " CASE "force.experiment.yaml --json - --quiet --csv estimate.csv");
  ends_with(o, 0);
  says(o.out, "\"trust\": \"sound\"");
  near(number_after(o.out, "\"Frame.Force\"", "\"count\": "), FORCES, 0);
  near(number_after(o.out, "\"Frame.Force\"", "\"share95\": "), 0.97, 0.03);
  forget(o);
  if (od_table_read(scratch_path(s, "estimate.csv"), NULL, &estimate, &err) != OD_OK) fail_msg("%s", err.text);
  for (long k = 0; k < estimate->rows; k++) {
    double force = can_value(estimate, k, "estimate.shaft.force"), sigma = can_value(estimate, k, "sigma.shaft.force"),
           time = estimate->data[k * estimate->columns], d = force - run_value(true_run, "shaft.force", time);
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
