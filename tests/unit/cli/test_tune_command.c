// oleodyn tune: numbers in JSON and on the terminal, the variant that other commands use, errors, threads.
//
// Oracle: simulated data with known noise; the numbers that 'observe' reports with the variant.
#include "support/test.h"

#include <jansson.h>
#include <math.h>

#include "support/program.h"

static void write_files(scratch *s) {
  scratch_put(s, "m.yaml",
              "machine: Lag\n"
              "inputs: {u: {unit: V, sine: {amplitude: 1 V, frequency: 1 Hz}}}\n"
              "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.3 s}}\n");
  scratch_put(s, "x.yaml",
              "experiment: A lag\nmachine: m.yaml\ntime: 12 s\nstep: 10 ms\nsensors: {lag: {sigma: 0.1 V}}\n"
              "parameters: {lag.gain: {start: 1.5, sigma: 1}, sensors.lag.bias: {sigma: 0.1 V, noise: 1 mV}}\n"
              "variants:\n"
              "  wrong: {sensors: {lag: {assume: 10 V}}, parameters: {sensors.lag.bias: {noise: 0.1 V}}}\n"
              "  alone: {sensors: {lag: {assume: 10 V}}, parameters: {sensors.lag.bias: ~}}\n"
              "  scaled: {parameters: {sensors.lag.bias: ~, sensors.lag.scale: {sigma: 0.1, noise: 0.01}}}\n"
              "  dead: {sensors: {lag: {dies: 5 s}}}\n");
}

static json_t *json_of(outcome o, int code) {
  ends_with(o, code);
  json_t *json = json_loads(o.out, 0, NULL);
  assert_non_null(json);
  forget(o);
  return json;
}

static json_t *row(json_t *json, const char *list, size_t i) {
  json_t *item = json_array_get(json_object_get(json, list), i);
  assert_non_null(item);
  return item;
}

static double value(json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

static void numbers(void **state) {
  write_files(*state);
  json_t *json = json_of(run(*state, "tune x.yaml --variant wrong --json - --quiet --threads 1"), 0);
  json_t *sensor = row(json, "numbers", 0), *drift = row(json, "numbers", 1);
  assert_string_equal(json_string_value(json_object_get(sensor, "path")), "sensors.lag.assume");
  near_relative(value(sensor, "before"), 10, 1e-12);
  // 720 values determine the standard deviation to 2.6 %.
  near_relative(value(sensor, "after"), 0.1, 0.1);
  near_relative(value(sensor, "log_error"), 1 / sqrt(2 * 720), 0.1);
  // The offset is constant.
  assert_true(json_is_true(json_object_get(drift, "may_be_zero")));
  assert_true(value(drift, "after") == 0 && value(drift, "upper_bound") < 0.01);
  near_relative(value(row(json, "parts", 0), "innovations"), 720, 1e-12);
  near_relative(value(row(json, "parts", 3), "innovations"), 480, 1e-12);
  assert_true(value(row(json, "parts", 3), "gain") > 1000);
  near_relative(value(row(json, "parts", 3), "nis"), 1, 0.2);
  assert_true(json_is_true(json_object_get(json, "converged")));
  assert_true(json_is_false(json_object_get(json, "start_is_contradicted")));
  // The same bits on two threads.
  outcome one = run(*state, "tune x.yaml --variant wrong --json - --quiet --threads 1");
  outcome two = run(*state, "tune x.yaml --variant wrong --json - --quiet --threads 2");
  assert_string_equal(one.out, two.out);
  forget(one);
  forget(two);
  json_decref(json);
}

static void variant(void **state) {
  scratch *s = *state;
  write_files(s);
  outcome o = run(s, "tune x.yaml --variant wrong --set 'lag.gain.sigma=2' --write-variant quiet --report t.html");
  ends_with(o, 2);
  says(o.err, "lag.gain.sigma");
  forget(o);
  o = run(s, "tune x.yaml --variant wrong --set parameters.lag.gain.sigma=2 --write-variant quiet --report t.html");
  ends_with(o, 0);
  says(o.out, "sensors.lag.assume");
  says(o.out, "not distinguishable from zero");
  says(o.out, "verdict: sound");
  forget(o);
  char *page = scratch_read(scratch_path(s, "t.html")), *text = scratch_read(scratch_path(s, "quiet.yaml"));
  assert_non_null(strstr(page, "Tuning report"));
  says(text, "include: 'x.yaml'");
  says(text, "extends: 'wrong'");
  says(text, "# tuned with --set parameters.lag.gain.sigma=2");
  free(page);
  free(text);
  // The observer with this variant is consistent; before, its NIS was far below 1.
  json_t *json = json_of(run(s, "observe x.yaml --variant wrong --json - --quiet"), 0);
  assert_non_null(json_object_get(json, "nis_per_dimension"));
  assert_true(value(json, "nis_per_dimension") < 0.01);
  json_decref(json);
  ends_and_says(run(s, "tune quiet.yaml --variant quiet --write-variant quiet"), 2, "quiet.yaml");
  json = json_of(run(s, "observe quiet.yaml --variant quiet --json - --quiet"), 0);
  near_relative(value(json, "nis_per_dimension"), 1, 0.1);
  json_decref(json);
}

// The variant of a number without a unit that is not distinguishable from zero.
static void plain_number(void **state) {
  scratch *s = *state;
  write_files(s);
  outcome o = run(s, "tune x.yaml --variant scaled --only parameters.sensors.lag.scale.noise --write-variant still");
  says(o.out, "not distinguishable from zero");
  forget(o);
  expect_code(run(s, "observe still.yaml --variant still --quiet"), 0);
}

// Only some of the numbers; a log instead of the simulated machine.
static void parts(void **state) {
  scratch *s = *state;
  write_files(s);
  json_t *json =
      json_of(run(s, "tune x.yaml --variant wrong --only sensors.lag.assume --fraction 0.5 --json - --quiet"), 0);
  assert_int_equal(json_array_size(json_object_get(json, "numbers")), 1);
  near_relative(value(json, "split"), 6, 1e-7);
  json_decref(json);
  expect_code(run(s, "observe x.yaml --variant alone --csv rows.csv --quiet"), 0);
  json = json_of(run(s, "tune x.yaml --variant alone --data rows.csv --json - --quiet"), 0);
  near_relative(value(row(json, "numbers", 0), "after"), 0.1, 0.1);
  json_decref(json);
}

// A covariance of outputs: its standard deviations are tuned, and the variant contains the matrix.
static void matrix(void **state) {
  scratch *s = *state;
  write_files(s);
  scratch_put(s, "w.yaml",
              "machine: m.yaml\ntime: 20 s\nstep: 10 ms\nsensors: {lag: {sigma: 20 mV, assume: 1 V}}\n"
              "initial: {lag: 0.1 V}\n"
              "truth: {noise: {structure: matrix, process: {of: [lag], matrix: [[1e-4]]}}}\n"
              "noise: {structure: matrix, process: {of: [lag], matrix: [[1]]}}\n");
  json_t *json = json_of(run(s, "tune w.yaml --fraction 0.8 --write-variant w2 --json - --quiet"), 0);
  double q = value(row(json, "numbers", 1), "after"), r = value(row(json, "numbers", 0), "after");
  assert_string_equal(json_string_value(json_object_get(row(json, "numbers", 1), "path")), "noise.process.lag");
  near_relative(value(row(json, "numbers", 1), "before"), 1, 1e-12);
  near_relative(q, 0.01, 0.25);
  near_relative(r, 0.02, 0.15);
  json_decref(json);
  // The variant has the tuned numbers, which are a maximum.
  json = json_of(run(s, "tune w2.yaml --variant w2 --fraction 0.8 --json - --quiet"), 0);
  near_relative(value(row(json, "numbers", 1), "before"), q, 1e-12);
  near_relative(value(row(json, "numbers", 0), "before"), r, 1e-12);
  near_relative(value(row(json, "numbers", 1), "after"), q, 0.02);
  json_decref(json);
}

static void errors(void **state) {
  scratch *s = *state;
  write_files(s);
  ends_and_says(run(s, "tune x.yaml --only sensors.lag.sigma"), 2,
                "--only: there is no noise 'sensors.lag.sigma'; did you mean 'sensors.lag.assume'?");
  ends_and_says(run(s, "tune x.yaml --fraction 1"), 2,
                "--fraction: found '1', expected a fraction of the time below 1");
  ends_and_says(run(s, "tune x.yaml --threads 1025"), 2,
                "--threads: found '1025', expected a whole number from 1 to 1024");
  ends_and_says(run(s, "tune x.yaml --ignore '8 s'"), 2, "expected samples in both parts");
  ends_and_says(run(s, "tune x.yaml --data -"), 2, "--data: found '-'; expected a file");
  ends_and_says(run(s, "tune m.yaml"), 2, "m.yaml");
  ends_and_says(run(s, "tune x.yaml --variant dead"), 2, "expected innovations in both parts");
  outcome o = run(s, "tune --help");
  ends_with(o, 0);
  says(o.out, "--write-variant");
  forget(o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(numbers, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(variant, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(plain_number, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(parts, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(matrix, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(errors, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
