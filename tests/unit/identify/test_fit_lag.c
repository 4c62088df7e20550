// The remark of a fit about a late sensor, and the key 'delay' that corrects it.
//
// Oracle: the response of a first-order lag to a sum of sines in closed form, with a sensor that is late by a known time.
#include "support/test.h"

#include <jansson.h>
#include <math.h>

#include "support/program.h"

// A log whose sensor is late, s.
static void put_log(scratch *s, double late) {
  static const double frequency[] = {0.37, 1.1, 1.9, 3.1, 4.7};
  FILE *to = fopen(scratch_path(s, "log.csv"), "w");
  fprintf(to, "time,u,lag\n");
  for (int k = 0; k < 2000; k++) {
    double t = 0.005 * k, u = 0, y = 0.002 * sin(1e3 * k * k);
    for (int i = 0; i < 5; i++) {
      double w = 6.283185307179586 * frequency[i], size = 3 / sqrt(1 + 0.01 * w * w);
      u += sin(w * t + i);
      y += size * sin(w * (t - late) + i - atan(0.1 * w));
    }
    fprintf(to, "%.17g,%.17g,%.17g\n", t, u, y);
  }
  fclose(to);
}

static json_t *fit(scratch *s, const char *data) {
  char text[1000];
  snprintf(text, sizeof text,
           "machine: m.yaml\nstep: 5 ms\nsensors: {lag: {sigma: 2 mV}}\nfit: {integrator: exact, start: unknown}\n"
           "parameters: {lag.gain: {start: 2, low: 0.1, high: 10}}\n%s",
           data);
  scratch_put(s, "fit.yaml", text);
  outcome o = run(s, "fit fit.yaml --json - --quiet");
  if (o.code != 0 && o.code != 3) fail_msg("%d\n%s%s", o.code, o.out, o.err);
  json_t *json = json_loads(o.out, 0, NULL);
  assert_non_null(json);
  forget(o);
  return json;
}

// Returns the text of the remark about a lag; NULL: there is none.
static const char *remark(json_t *json) {
  json_t *list = json_object_get(json_object_get(json, "verdict"), "remarks"), *item;
  size_t i;
  json_array_foreach(list, i, item) {
    if (!strcmp(json_string_value(json_object_get(item, "code")), "log.lag"))
      return json_string_value(json_object_get(item, "text"));
  }
  return NULL;
}

static void test_lag(void **state) {
  scratch *s = *state;
  scratch_put(s, "m.yaml",
              "machine: Lag\ninputs: {u: {unit: V, constant: 1 V}}\n"
              "blocks: {lag: {type: first-order, input: u, unit: V, gain: 2, time_constant: 100 ms}}\n"
              "run: {time: 1 s, outputs: [lag]}\n");
  static const double delays[] = {0.03, -0.02, 0};
  for (int i = 0; i < 3; i++) {
    char data[200];
    put_log(s, delays[i]);
    json_t *json = fit(s, "data: {file: log.csv}\n");
    const char *text = remark(json), *key = text ? strstr(text, "'delay: ") : NULL;
    if (delays[i] == 0) {
      if (text) fail_msg("%s", text);
      json_decref(json);
      continue;
    }
    if (!key) fail_msg("no remark about the delay of %g s", delays[i]);
    double found = 1e-3 * strtod(key + strlen("'delay: "), NULL);
    near(found, delays[i], 1e-3);
    says(text, delays[i] > 0 ? "is late by" : "is early by");
    json_decref(json);
    // A delay in the file is part of the proposed delay.
    snprintf(data, sizeof data, "data: {file: log.csv, channels: {lag: {column: lag, delay: %g ms}}}\n",
             delays[i] > 0 ? 10.0 : -10.0);
    json = fit(s, data);
    text = remark(json);
    key = text ? strstr(text, "'delay: ") : NULL;
    if (!key) fail_msg("no remark about the rest of the delay of %g s", delays[i]);
    near(1e-3 * strtod(key + strlen("'delay: "), NULL), delays[i], 1e-3);
    json_decref(json);
    // With the delay in the file, the lag is gone and the gain is right.
    snprintf(data, sizeof data, "data: {file: log.csv, channels: {lag: {column: lag, delay: %g ms}}}\n",
             1e3 * delays[i]);
    json = fit(s, data);
    assert_null(remark(json));
    near_relative(
        json_number_value(json_object_get(json_array_get(json_object_get(json, "parameters"), 0), "estimate")), 3,
        2e-3);
    json_decref(json);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_lag)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
