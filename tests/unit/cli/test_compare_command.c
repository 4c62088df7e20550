// oleodyn compare, against
// - two simulations, of the true machine and of the model: the row without any correction is their difference;
// - oleodyn study with the same seeds and filter: the same numbers;
// - itself on another number of threads: the same bits, except the cost of steps.
#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/machines.h"
#include "support/program.h"

#define MACHINE OD_SOURCE_DIR "/cases/fourbar-observer/spring.yaml"
static const char experiment[] = "experiment: Small\nmachine: " MACHINE
                                 "\ntime: 0.5 s\nstep: 2 ms\ntruth: {}\nmodel: {set: {initial.spring.length: 1.83 m}}\n"
                                 "sensors: {A.angle: {sigma: 0.02 rad}, A.rate: {sigma: 0.2 rad/s}}\n"
                                 "initial: {A.angle: 0.1 rad, A.rate: 0.1 rad/s}\nnoise: {acceleration: 0.1}\n"
                                 "metrics: {angle: {rms: A.angle}, e: {norm: crank.end.x, points: 26}}\n"
                                 "variants: {loose: {sensors: {A.angle: {sigma: 0.1 rad}}},\n"
                                 "  late: {sensors: {A.angle: {sigma: 0.1 rad, delay: 1000 s}}}}\n";

static void write_files(scratch *s) {
  scratch_write(s, "x.yaml", experiment, strlen(experiment));
}

static json_t *rows_of(scratch *s, const char *options) {
  outcome o = run(s, "compare x.yaml %s --json rows.json --quiet", options);
  expect_code(o, 0);
  json_t *root = json_load_file(scratch_path(s, "rows.json"), 0, NULL);
  assert_non_null(root);
  return root;
}

static const json_t *row_at(const json_t *root, size_t i) {
  return json_array_get(json_object_get(root, "rows"), i);
}

static double value_of(const json_t *row, const char *metric) {
  size_t i;
  json_t *item;
  json_array_foreach(json_object_get(row, "metrics"), i,
                     item) if (strcmp(json_string_value(json_object_get(item, "metric")), metric) ==
                               0) return json_number_value(json_object_get(item, "value"));
  fail_msg("no metric '%s'", metric);
  return 0;
}

static od_table *simulated(const char *length) {
  char setting[64];
  snprintf(setting, sizeof setting, "initial.spring.length=%s", length);
  od_machine *m = od_test_machine("cases/fourbar-observer/spring.yaml", setting, NULL);
  int outputs[] = {od_test_output(m, "A.angle"), od_test_output(m, "crank.end.x")};
  const od_run_options options = {
      .time = 0.5, .step = 2e-3, .integrator = "trapezoid", .outputs = outputs, .output_count = 2};
  od_table *table = NULL;
  assert_int_equal(od_run(m, &options, &table, NULL, NULL), OD_OK);
  od_machine_free(m);
  return table;
}

static void without_correction(void **state) {
  write_files(*state);
  json_t *root = rows_of(*state, "--filter ekf --seeds 2");
  od_table *truth = simulated("1.80 m"), *model = simulated("1.83 m");
  double square = 0, norm = 0;
  for (long i = 0; i < truth->rows; i++) {
    square += pow(truth->data[3 * i + 1] - model->data[3 * i + 1], 2);
    if (i % 10 == 0) norm += pow(truth->data[3 * i + 2] - model->data[3 * i + 2], 2);
  }
  assert_true(json_is_null(json_object_get(row_at(root, 0), "filter")));
  double angle = value_of(row_at(root, 0), "angle"), e = value_of(row_at(root, 0), "e");
  assert_true(fabs(angle - sqrt(square / (double)truth->rows)) < 1e-9);
  assert_true(fabs(e - sqrt(norm)) < 1e-9);
  // The filter is better than the free model, and its standard deviations are consistent.
  assert_true(value_of(row_at(root, 1), "angle") < 0.5 * angle);
  assert_true(value_of(row_at(root, 1), "nis_per_dim") > 0.5 && value_of(row_at(root, 1), "nis_per_dim") < 1.5);
  assert_true(value_of(row_at(root, 1), "us_per_step") > 0);
  od_table_free(truth);
  od_table_free(model);
  json_decref(root);
}

static void agrees_with_studies(void **state) {
  static const char study[] =
      "study: Same\nseeds: 3\nfirst_seed: 7\ncases: {one: {experiment: x.yaml, variant: loose, set: {step: 4 ms}}}\n";
  write_files(*state);
  scratch_write(*state, "s.yaml", study, strlen(study));
  expect_code(run(*state, "study s.yaml --json study.json --quiet"), 0);
  json_t *root = rows_of(*state, "--filter iterated-ekf --variant loose --step '4 ms' --seeds 3 --first-seed 7");
  json_t *rows = json_load_file(scratch_path(*state, "study.json"), 0, NULL), *row;
  size_t i, found = 0;
  json_array_foreach(rows, i, row) {
    const char *metric = json_string_value(json_object_get(row, "metric"));
    if (strcmp(metric, "angle") && strcmp(metric, "e") && strcmp(metric, "nis_per_dim")) continue;
    assert_true(json_number_value(json_object_get(row, "value")) == value_of(row_at(root, 1), metric));
    found++;
  }
  assert_int_equal(found, 3);
  json_decref(rows);
  json_decref(root);
}

// Filters x sensors x steps, with a free model per step; the same on any number of threads.
static void multiplies_out(void **state) {
  static const char what[] =
      "--filter ekf --filter ukf --sensors each --step '2 ms' --step '5 ms' --seeds 2 --random-start";
  char options[256];
  write_files(*state);
  snprintf(options, sizeof options, "%s --threads 1 --plot out.svg", what);
  json_t *one = rows_of(*state, options);
  snprintf(options, sizeof options, "%s --threads 2", what);
  json_t *two = rows_of(*state, options);
  assert_int_equal(json_array_size(json_object_get(one, "rows")), 2 * (1 + 2 * 2));
  assert_string_equal(json_string_value(json_object_get(row_at(one, 3), "sensors")), "A.rate");
  assert_true(json_number_value(json_object_get(row_at(one, 9), "step")) == 5e-3);
  for (size_t i = 0; i < 10; i++) assert_true(value_of(row_at(one, i), "angle") == value_of(row_at(two, i), "angle"));
  char *plot = scratch_read(scratch_path(*state, "out.svg"));
  says(plot, "no correction");
  says(plot, "ukf, A.rate, 5 ms");
  free(plot);
  json_decref(one);
  json_decref(two);
}

// The line of a text that begins with these words.
static const char *line_of(const char *text, const char *words) {
  const char *at = strstr(text, words);
  if (!at) fail_msg("no line '%s' in\n%s", words, text);
  return at;
}

// The terminal shows the values of the JSON file, in degrees and mm; a row that cannot run shows the reason instead.
static void terminal_has_the_rows(void **state) {
  static const char study[] =
      "study: Same\nseeds: 2\ncases: {one: {experiment: x.yaml}, two: {experiment: x.yaml, variant: loose}}\n";
  write_files(*state);
  scratch_write(*state, "s.yaml", study, strlen(study));
  // A delay of 1000 s is possible in steps of 2 ms, not in those of 0.1 ms.
  outcome o = run(*state,
                  "compare x.yaml --filter ekf --variant loose --variant late --step '2 ms' --step '0.1 ms' "
                  "--seeds 2 --json rows.json");
  ends_with(o, 0);
  json_t *root = json_load_file(scratch_path(*state, "rows.json"), 0, NULL), *row;
  size_t i, run_rows = 0;
  const char *at = o.out;
  json_array_foreach(json_object_get(root, "rows"), i, row) {
    const char *filter = json_string_value(json_object_get(row, "filter"));
    const char *problem = json_string_value(json_object_get(row, "problem"));
    double angle = 0, length = 0;
    at = line_of(at, filter ? "\n  ekf " : "\n  no correction ") + 1;
    if (problem) {
      assert_true(strstr(at, problem) && strstr(at, problem) < strchr(at, '\n'));
      continue;
    }
    assert_int_equal(sscanf(strstr(at, " ms") + 3, "%lf %lf", &angle, &length), 2);
    assert_true(fabs(angle * 3.141592653589793 / 180 / value_of(row, "angle") - 1) < 5e-4);
    assert_true(fabs(length / 1000 / value_of(row, "e") - 1) < 5e-4);
    run_rows++;
  }
  assert_true(run_rows > 2 && run_rows < i);
  json_decref(root);
  forget(o);
  o = run(*state, "study s.yaml --json study.json");
  ends_with(o, 0);
  says(o.out, "Same\n  case  metric ");
  says(o.out, "4 runs in ");
  json_t *rows = json_load_file(scratch_path(*state, "study.json"), 0, NULL);
  at = o.out;
  json_array_foreach(rows, i, row) {
    double value = 0;
    const char *metric = json_string_value(json_object_get(row, "metric"));
    at = line_of(at, metric) + strlen(metric);
    assert_int_equal(sscanf(at, "%lf", &value), json_is_null(json_object_get(row, "value")) ? 0 : 1);
    double wanted = json_number_value(json_object_get(row, "value"));
    assert_true(fabs(value - wanted) <= 5e-4 * fabs(wanted));
  }
  assert_true(i >= 8);
  json_decref(rows);
  forget(o);
}

static void mistakes(void **state) {
  write_files(*state);
  outcome o = run(*state, "compare x.yaml --filter ekff --sensors A.angel --variant lose --seeds 2");
  ends_with(o, 2);
  says(o.err, "there is no filter 'ekff'; did you mean 'ekf'?");
  says(o.err, "there is no sensor 'A.angel'; did you mean 'A.angle'?");
  says(o.err, "there is no variant 'lose'; did you mean 'loose'?");
  forget(o);
  ends_and_says(run(*state, "compare x.yaml --step '3 kg' --filter ekf --seeds 1"), 2, "3 kg");
  expect_code(run(*state, "compare x.yaml --seeds 0"), 2);
  static const char study[] = "study: Same\nseeds: 2\ncases: {one: {experiment: x.yaml}}\n";
  scratch_write(*state, "s.yaml", study, strlen(study));
  ends_and_says(run(*state, "compare x.yaml --filter ekf --seeds 1 --threads 1025"), 2,
                "--threads: found '1025', expected a whole number from 1 to 1024");
  ends_and_says(run(*state, "study s.yaml --threads 0"), 2,
                "--threads: found '0', expected a whole number from 1 to 1024");
  expect_code(run(*state, "study s.yaml --threads 1024 --quiet"), 0);
  expect_code(run(*state, "compare"), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(without_correction, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(agrees_with_studies, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(multiplies_out, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(terminal_has_the_rows, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(mistakes, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
