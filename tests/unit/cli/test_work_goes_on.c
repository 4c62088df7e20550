// Continued work. Oracles: for continued runs, uninterrupted runs; for estimates written as variants, the values in JSON; for
// constants in fits, fits of the dependent numbers. Also 'set' and 'extends' of machine files.
#include "support/test.h"

#include <jansson.h>
#include <math.h>

#include "support/program.h"

// A pendulum with friction that has a state, a volume with a sinusoidal inflow, and blocks with states.
static const char machine[] =
    "gravity: [0, -9.81]\n"
    "bodies: {rod: {beam: {mass: 2 kg, length: 0.9 m}}}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, rod.start],\n"
    "      friction: {law: lugre, Fc: 0.2 N m, Fs: 0.3 N m, vs: 0.1 rad/s, viscous: 0.1 N m s/rad, sigma_0: 100 N m/rad, "
    "sigma_1: 1 N m s/rad}}\n"
    "inputs: {push: {unit: N m, sine: {amplitude: 2 N m, frequency: 1.3 Hz}}}\n"
    "blocks: {lag: {type: first-order, input: push, time_constant: 0.1 s}}\n"
    "torques: {motor: {joint: A, value: lag}}\n"
    "oil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\n"
    "volumes: {V: {volume: 1 L}}\n"
    "pumps: {pump: {to: V, flow: 1e-6 m^3/(s N m) lag}}\n"
    "initial: {A.angle: 30 deg, V.pressure: 20 bar}\n"
    "run: {time: 1 s, outputs: [A.angle, A.rate, A.friction, V.pressure, lag, push]}\n";

// The cells after the time in the last line of a table.
static const char *last_row(char *text) {
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == '\n') text[--length] = '\0';
  char *line = strrchr(text, '\n');
  assert_non_null(line);
  return strchr(line, ',');
}

// One run of a second and two consecutive runs of half a second; steps are binary fractions.
static void run_both(scratch *s, const char *file, const char *how, char **whole, char **parts) {
  expect_code(run(s, "simulate %s --quiet --time 1 %s --csv whole.csv --save-state whole.yaml", file, how), 0);
  expect_code(run(s, "simulate %s --quiet --time 0.5 %s --csv first.csv --save-state half.yaml", file, how), 0);
  char text[600];
  snprintf(text, sizeof text, "include: '%s'\ninitial: {file: half.yaml}\n", file);
  scratch_put(s, "on.yaml", text);
  expect_code(run(s, "simulate on.yaml --quiet --time 0.5 %s --csv second.csv --save-state end.yaml", how), 0);
  *whole = scratch_read(scratch_path(s, "whole.csv"));
  *parts = scratch_read(scratch_path(s, "second.csv"));
}

static void test_goes_on_to_the_bit(void **state) {
  scratch *s = *state;
  char *whole, *parts;
  scratch_put(s, "machine.yaml", machine);
  run_both(s, "machine.yaml", "--integrator rk4 --step 0.0009765625", &whole, &parts);
  assert_string_equal(last_row(whole), last_row(parts));
  free(whole);
  free(parts);
  // The states, too, and the time at which the inputs continue.
  whole = scratch_read(scratch_path(s, "whole.yaml"));
  parts = scratch_read(scratch_path(s, "end.yaml"));
  says(whole, "A.friction_bristle: ");
  says(whole, "state: {time: 1}");
  assert_string_equal(whole, parts);
  free(whole);
  free(parts);
}

static void check_near(char *whole, char *parts, double part) {
  const char *a = last_row(whole), *b = last_row(parts);
  while (a && b) {
    double x = strtod(a + 1, NULL), y = strtod(b + 1, NULL);
    if (!(fabs(x - y) <= part * (1 + fabs(x)))) fail_msg("%.17g in one run, %.17g in two", x, y);
    a = strchr(a + 1, ',');
    b = strchr(b + 1, ',');
  }
  assert_true(!a && !b);
}

// Implicit steps keep more than the state, and loops are closed again: agreement within the tolerance of Newton's
// method.
static void test_goes_on(void **state) {
  scratch *s = *state;
  char *whole, *parts;
  scratch_put(s, "machine.yaml", machine);
  run_both(s, "machine.yaml", "--step 0.0009765625", &whole, &parts);
  check_near(whole, parts, 1e-9);
  free(whole);
  free(parts);
  run_both(s, OD_SOURCE_DIR "/cases/rssr/machine.yaml",
           "--integrator rk4 --step 0.0009765625 --output A.angle,A.rate,rocker.end.x", &whole, &parts);
  check_near(whole, parts, 1e-11);
  free(whole);
  free(parts);
}

// Keys next to 'file' override saved values; values that a variant or a file overrides do not count.
static void test_values_beside(void **state) {
  scratch *s = *state;
  scratch_put(s, "machine.yaml", machine);
  expect_code(run(s, "simulate machine.yaml --quiet --time 0.5 --save-state half.yaml"), 0);
  scratch_put(s, "on.yaml", "include: machine.yaml\ninitial: {file: half.yaml, A.angle: 10 deg}\n");
  outcome o = run(s, "info on.yaml --json");
  ends_with(o, 0);
  json_t *info = json_loads(o.out, 0, NULL), *numbers = json_object_get(info, "numbers"), *entry;
  size_t i;
  int found = 0;
  json_array_foreach(numbers, i, entry) {
    const char *path = json_string_value(json_object_get(entry, "path"));
    double value = json_number_value(json_object_get(entry, "value"));
    if (strcmp(path, "initial.A.angle") == 0) found += fabs(value - 10 * 3.14159265358979323846 / 180) < 1e-15;
    if (strcmp(path, "initial.V.pressure") == 0) found += value != 20e5;
  }
  if (found != 2) fail_msg("%d of the two values: %s", found, o.out);
  json_decref(info);
  forget(o);
}

static void test_state_mistakes(void **state) {
  scratch *s = *state;
  scratch_put(s, "machine.yaml", machine);
  scratch_put(s, "none.yaml", "include: machine.yaml\ninitial: {file: nine.yaml}\n");
  outcome o = run(s, "check none.yaml");
  ends_with(o, 2);
  says(
      o.err,
      "none.yaml:2:17: error: the file 'nine.yaml' cannot be read: No such file or directory; did you mean 'none.yaml'?");
  forget(o);
  scratch_put(s, "state.yaml", "state: {tme: 1}\ninitial: {A.angle: 1, A.rate: 0, V.pressure: oil, B.angle: 3}\n");
  scratch_put(s, "some.yaml", "include: machine.yaml\ninitial: {file: state.yaml}\n");
  o = run(s, "check some.yaml");
  ends_with(o, 2);
  says(o.err, "state.yaml:1:9: error: unknown key 'tme' in the state; did you mean 'time'?");
  says(o.err, "state.yaml:2:46: error: 'oil' is not a number; V.pressure must be a number or a quantity in Pa");
  forget(o);
  scratch_put(s, "state.yaml", "state: {time: 1}\n");
  o = run(s, "check some.yaml");
  says(
      o.err,
      "some.yaml:2:17: error: 'state.yaml' has no section 'initial'; expected a file written by 'oleodyn simulate --save-state'");
  forget(o);
  ends_and_says(run(s, "simulate machine.yaml --save-state machine.yaml"), 2,
                "--save-state machine.yaml would replace machine.yaml, which is an input");
}

// --- Estimates as a variant ---------------------------------------------------------------------------------------

static double value_in(json_t *numbers, const char *path) {
  size_t i;
  json_t *item;
  json_array_foreach(numbers, i, item) if (!strcmp(json_string_value(json_object_get(item, "path")),
                                                   path)) return json_number_value(json_object_get(item, "value"));
  fail_msg("there is no %s", path);
  return NAN;
}

static json_t *json_in(scratch *s, const char *name) {
  json_error_t error;
  json_t *object = json_load_file(scratch_path(s, name), 0, &error);
  if (!object) fail_msg("%s: %s", name, error.text);
  return object;
}

// A lag of a constant, fed by a leaking volume: 'equilibrium' saves the equilibrium, and a run from there stays
// constant.
static void test_equilibrium_saves_its_state(void **state) {
  scratch *s = *state;
  scratch_put(s, "rest.yaml",
              "oil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\n"
              "volumes: {V: {volume: 1 L}}\n"
              "tanks: {T: {pressure: 1 bar}}\n"
              "pumps: {pump: {to: V, from: T, flow: 6 l/min}}\n"
              "leaks: {leak: {between: [V, T], slope: 2e-11 m^3/(s Pa)}}\n"
              "blocks: {lag: {type: first-order, input: V.pressure, unit: Pa, time_constant: 1 s}}\n"
              "initial: {V.pressure: 20 bar}\n"
              "run: {time: 1 s, step: 10 ms, outputs: [V.pressure, lag]}\n");
  outcome o = run(s, "equilibrium rest.yaml --save-state found.yaml");
  ends_with(o, 0);
  says(o.out, "wrote found.yaml: the state");
  forget(o);
  scratch_put(s, "on.yaml", "include: rest.yaml\ninitial: {file: found.yaml}\n");
  expect_code(run(s, "simulate on.yaml --quiet --json r.json"), 0);
  char *text = scratch_read(scratch_path(s, "r.json"));
  json_t *all = json_loads(text, 0, NULL), *outputs = json_object_get(all, "outputs"), *output;
  size_t i;
  assert_int_equal(json_array_size(outputs), 2);
  json_array_foreach(outputs, i, output) {
    assert_true(fabs(json_number_value(json_object_get(output, "min")) - (1e5 + 1e-4 / 2e-11)) < 1);
    assert_true(fabs(json_number_value(json_object_get(output, "max")) - (1e5 + 1e-4 / 2e-11)) < 1);
  }
  json_decref(all);
  free(text);
  o = run(s, "equilibrium rest.yaml --save-state found.yaml --sweep leak.slope=1e-11:2e-11:2");
  ends_with(o, 2);
  says(o.err, "--save-state is not possible with --sweep");
  forget(o);
}

static void test_write_variant(void **state) {
  scratch *s = *state;
  outcome o = run(s, "fit '%s/cases/fin-servo/fit.yaml' --quiet --json fit.json --write-variant found", OD_SOURCE_DIR);
  assert_true(o.code == 0 || o.code == 3);
  forget(o);
  o = run(s, "info found.yaml --variant found --json");
  ends_with(o, 0);
  json_error_t error;
  json_t *info = json_loads(o.out, 0, &error), *fit = json_in(s, "fit.json");
  assert_non_null(info);
  json_t *parameters = json_object_get(fit, "parameters"), *item;
  size_t i;
  assert_true(json_array_size(parameters) >= 5);
  json_array_foreach(parameters, i, item) {
    double estimate = json_number_value(json_object_get(item, "estimate"));
    assert_true(value_in(json_object_get(info, "numbers"), json_string_value(json_object_get(item, "path"))) ==
                estimate);
  }
  assert_string_equal(json_string_value(json_object_get(info, "variant")), "found");
  assert_true(json_array_size(json_object_get(info, "files_read")) == 2);
  forget(o);
  json_decref(info);
  json_decref(fit);
  // A file of the program may be overwritten; any other file is kept.
  o = run(s, "fit '%s/cases/fin-servo/fit.yaml' --quiet --predict --write-variant found", OD_SOURCE_DIR);
  assert_true(o.code == 0 || o.code == 3);
  forget(o);
  scratch_put(s, "mine.yaml", "# mine\n");
  ends_and_says(
      run(s, "fit '%s/cases/fin-servo/fit.yaml' --write-variant found --variant-file mine.yaml", OD_SOURCE_DIR), 2,
      "mine.yaml exists and was not written by --write-variant");
  char *kept = scratch_read(scratch_path(s, "mine.yaml"));
  assert_string_equal(kept, "# mine\n");
  free(kept);
  ends_and_says(run(s, "fit '%s/cases/fin-servo/fit.yaml' --write-variant 'a b'", OD_SOURCE_DIR), 2,
                "--write-variant: found 'a b', expected a name");
}

static void test_set_and_extends(void **state) {
  scratch *s = *state;
  scratch_put(s, "machine.yaml", machine);
  scratch_put(s, "variants.yaml",
              "include: machine.yaml\n"
              "set: {rod.beam.mass: 3 kg}\n"
              "variants:\n"
              "  long: {bodies: {rod: {beam: {length: 2 m}}}, set: {lag.time_constant: 0.2 s}}\n"
              "  heavy: {extends: long, set: {rod.beam.mass: 7 kg}}\n"
              "  wrong: {extends: lnog, set: {rod.beam.mas: 7 kg}}\n"
              "  loop: {extends: loop}\n");
  outcome o = run(s, "info variants.yaml --variant heavy --set lag.gain=4 --json");
  ends_with(o, 0);
  json_error_t error;
  json_t *info = json_loads(o.out, 0, &error), *numbers = json_object_get(info, "numbers");
  assert_true(value_in(numbers, "rod.beam.mass") == 7 && value_in(numbers, "rod.beam.length") == 2);
  assert_true(value_in(numbers, "lag.time_constant") == 0.2 && value_in(numbers, "lag.gain") == 4);
  json_decref(info);
  forget(o);
  o = run(s, "info variants.yaml --json");
  info = json_loads(o.out, 0, &error);
  assert_true(value_in(json_object_get(info, "numbers"), "rod.beam.mass") == 3);
  json_decref(info);
  forget(o);
  ends_and_says(run(s, "check variants.yaml --variant wrong"), 2,
                "variants.yaml:6:20: error: there is no variant 'lnog'; did you mean 'long'?");
  ends_and_says(run(s, "check variants.yaml --variant loop"), 2, "the keys 'extends' of variants form a cycle");
}

// --- Constants in fits --------------------------------------------------------------------------------------------

static void write_lag(scratch *s, const char *constant, const char *parameter) {
  char text[600];
  snprintf(text, sizeof text,
           "constants: {tau: 0.1 s}\n"
           "inputs: {u: {steps: {at: [[0.1 s, 1], [0.9 s, -1]]}}}\n"
           "blocks: {lag: {type: first-order, input: u, time_constant: %s}}\n"
           "run: {time: 2 s, step: 2 ms}\n",
           constant);
  scratch_put(s, "lag.yaml", text);
  snprintf(text, sizeof text,
           "experiment: lag\nmachine: lag.yaml\nseed: 3\nsensors: {lag: {sigma: 0.02}}\nparameters: {%s}\n"
           "sets: {a: {use: fit, simulate: {}}}\n",
           parameter);
  scratch_put(s, "fit.yaml", text);
}

static void fit_lag(scratch *s, double *estimate, double *sigma) {
  expect_code(run(s, "fit fit.yaml --quiet --json lag.json"), 0);
  json_t *found = json_in(s, "lag.json"), *item = json_array_get(json_object_get(found, "parameters"), 0);
  *estimate = json_number_value(json_object_get(item, "estimate"));
  *sigma = json_number_value(json_object_get(item, "sigma"));
  json_decref(found);
}

// Half a time constant is estimated as half of it, with half its standard deviation, from the same data.
static void test_fitted_constant(void **state) {
  scratch *s = *state;
  double half, half_sigma, whole, sigma;
  write_lag(s, "2 * tau", "constants.tau: {start: 0.07 s}");
  fit_lag(s, &half, &half_sigma);
  write_lag(s, "0.2 s", "lag.time_constant: {start: 0.14 s}");
  fit_lag(s, &whole, &sigma);
  assert_true(fabs(whole - 0.2) < 5 * sigma && sigma < 0.01);
  assert_true(fabs(2 * half - whole) < 1e-9 * whole);
  assert_true(fabs(2 * half_sigma - sigma) < 1e-6 * sigma);
  write_lag(s, "2 * tau", "lag.time_constant: {start: 0.14 s}");
  ends_and_says(
      run(s, "fit fit.yaml"), 2,
      "fit.yaml:5:14: error: 'lag.time_constant' cannot be estimated, because the machine file defines this number as '2 * tau'; "
      "expected 'constants.tau' instead");
}

// Experiments include files, too; paths are relative to the file that contains them.
static void test_experiment_includes(void **state) {
  scratch *s = *state;
  char text[600];
  snprintf(text, sizeof text,
           "include: '%s/cases/fourbar-valve/points-3.experiment.yaml'\nexperiment: shorter\ntime: 0.05 s\n",
           OD_SOURCE_DIR);
  scratch_put(s, "short.yaml", text);
  outcome o = run(s, "check short.yaml");
  ends_with(o, 0);
  says(o.out, "an experiment with");
  forget(o);
  o = run(s, "observe short.yaml --quiet --json short.json");
  assert_true(o.code == 0 || o.code == 3);
  forget(o);
  json_t *found = json_in(s, "short.json");
  assert_string_equal(json_string_value(json_object_get(found, "experiment")), "shorter");
  assert_true(json_array_size(json_object_get(found, "files_read")) == 3);
  json_decref(found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_goes_on_to_the_bit, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_goes_on, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_values_beside, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_state_mistakes, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_equilibrium_saves_its_state, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_write_variant, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_set_and_extends, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_fitted_constant, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_experiment_includes, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
