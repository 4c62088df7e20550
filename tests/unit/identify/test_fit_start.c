// Initial states of the sets of a fit: of a fitted set, and of validation sets that begin elsewhere.
//
// Oracle: a first-order lag that begins at another state, in closed form; a mass with a spring, whose position alone is measured: only a
// fit to all rows finds its speed.
#include "support/test.h"

#include <jansson.h>
#include <math.h>

#include "support/program.h"

static const char lag[] =
    "machine: Lag\n"
    "inputs: {u: {unit: V, constant: 1 V}}\n"
    "blocks: {lag: {type: first-order, input: u, unit: V, gain: 2, time_constant: 0.5 s}}\n"
    "run: {time: 1 s, outputs: [lag]}\n";

// A lag with the gain 3 that begins at y0; the input is constant. noise: amplitude of a fast sine.
static void put_log(scratch *s, const char *name, double y0, double u, double noise) {
  FILE *to = fopen(scratch_path(s, name), "w");
  fprintf(to, "time,u,lag\n");
  for (int k = 0; k <= 400; k++) {
    double t = 0.01 * k;
    fprintf(to, "%.17g,%.17g,%.17g\n", t, u, 3 * u + (y0 - 3 * u) * exp(-t / 0.5) + noise * sin(1e3 * k * k));
  }
  fclose(to);
}

static json_t *fit(scratch *s, const char *sets, const char *how) {
  char text[2000];
  snprintf(text, sizeof text,
           "machine: lag.yaml\nstep: 10 ms\nsensors: {lag: {sigma: 10 mV}}\nfit: {integrator: exact%s}\n"
           "parameters: {lag.gain: {start: 2, low: 0.1, high: 10}}\nsets:\n%s",
           how, sets);
  scratch_put(s, "fit.yaml", text);
  outcome o = run(s, "fit fit.yaml --json - --quiet");
  if (o.code != 0 && o.code != 3) fail_msg("%d\n%s%s", o.code, o.out, o.err);
  json_t *json = json_loads(o.out, 0, NULL);
  assert_non_null(json);
  forget(o);
  return json;
}

static double percent(json_t *json, size_t set) {
  json_t *sensors = json_object_get(json_array_get(json_object_get(json, "sets"), set), "sensors");
  return json_number_value(json_object_get(json_array_get(sensors, 0), "fit_percent"));
}

static double gain(json_t *json) {
  return json_number_value(json_object_get(json_array_get(json_object_get(json, "parameters"), 0), "estimate"));
}

#define FITTED "  one: {data: {file: a.csv}}\n"

static void test_validation(void **state) {
  scratch *s = *state;
  scratch_put(s, "lag.yaml", lag);
  put_log(s, "a.csv", 0, 1, 1e-3), put_log(s, "b.csv", -4, 0.5, 1e-3);
  json_t *plain = fit(s, FITTED "  two: {use: validate, data: {file: b.csv}}\n", "");
  json_t *unknown = fit(s, FITTED "  two: {use: validate, start: unknown, data: {file: b.csv}}\n", "");
  json_t *first = fit(s, FITTED "  two: {use: validate, start: first-row, data: {file: b.csv}}\n", "");
  json_t *all = fit(s, FITTED "  two: {use: validate, data: {file: b.csv}}\n", ", start: first-row");
  near_relative(gain(plain), 3, 1e-3);
  assert_true(gain(plain) == gain(unknown) && gain(plain) == gain(first));
  printf("fit: %.2f %%, unknown start: %.2f %%, first row: %.2f %%\n", percent(plain, 1), percent(unknown, 1),
         percent(first, 1));
  assert_true(percent(plain, 1) < 50);
  assert_true(percent(unknown, 1) > 99.9);
  assert_true(percent(first, 1) > 99.8);
  assert_true(percent(all, 1) > 99.8 && percent(all, 0) > 99.8);
  json_decref(plain), json_decref(unknown), json_decref(first), json_decref(all);
}

// A fitted set with its own start among sets that start at the model's state.
static void test_fitted(void **state) {
  scratch *s = *state;
  scratch_put(s, "lag.yaml", lag);
  put_log(s, "a.csv", 0, 1, 1e-3), put_log(s, "b.csv", -4, 0.5, 1e-3);
  static const char *const starts[] = {"unknown", "first-row", "rest", "model"};
  double got[4];
  for (int i = 0; i < 4; i++) {
    char sets[300];
    snprintf(sets, sizeof sets, FITTED "  two: {start: %s, data: {file: b.csv}}\n", starts[i]);
    json_t *json = fit(s, sets, "");
    got[i] = gain(json);
    json_decref(json);
  }
  near_relative(got[0], 3, 1e-3);
  near_relative(got[1], 3, 1e-3);
  assert_true(fabs(got[2] - 3) > 0.01 && fabs(got[3] - 3) > 0.01 && got[2] != got[3]);
}

// An oscillator whose rate is not measured: the first row does not determine the rate, all rows do.
static void test_hidden_state(void **state) {
  scratch *s = *state;
  scratch_put(s, "lag.yaml",
              "machine: Oscillator\ninputs: {u: {unit: V, constant: 1 V}}\n"
              "blocks: {lag: {type: second-order, input: u, unit: V, gain: 2, frequency: 5 rad/s, damping: 0}}\n"
              "run: {time: 1 s, outputs: [lag]}\n");
  for (int file = 0; file < 2; file++) {
    FILE *to = fopen(scratch_path(s, file ? "b.csv" : "a.csv"), "w");
    fprintf(to, "time,u,lag\n");
    for (int k = 0; k <= 400; k++) {
      double t = 0.01 * k, free_motion = file ? 2 * cos(5 * t) + 7 * sin(5 * t) : 0;
      fprintf(to, "%.17g,1,%.17g\n", t, 3 - 3 * cos(5 * t) + free_motion + 1e-3 * sin(1e3 * k * k));
    }
    fclose(to);
  }
  json_t *unknown = fit(s, FITTED "  two: {use: validate, start: unknown, data: {file: b.csv}}\n", "");
  json_t *first = fit(s, FITTED "  two: {use: validate, start: first-row, data: {file: b.csv}}\n", "");
  json_t *free_fit = fit(s, FITTED "  two: {start: unknown, data: {file: b.csv}}\n", "");
  printf("hidden rate: unknown start: %.2f %%, first row: %.2f %%\n", percent(unknown, 1), percent(first, 1));
  assert_true(percent(unknown, 1) > 99.9 && percent(first, 1) < 50);
  near_relative(gain(free_fit), 3, 1e-3);
  assert_true(percent(free_fit, 1) > 99.9 && percent(free_fit, 0) > 99.9);
  json_decref(unknown), json_decref(first), json_decref(free_fit);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_validation), TEST(test_fitted), TEST(test_hidden_state)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
