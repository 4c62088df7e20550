// oleodyn signals: values and slopes in rows, breaks and reversals. Oracle: a sine and a step in closed form.
#include "support/test.h"

#include <jansson.h>
#include <math.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "support/program.h"

static const char machine[] =
    "inputs:\n"
    "  v: {unit: m/s, sequence: [{sine: {amplitude: 2 m/s, frequency: 1 Hz, duration: 1 s}}, {hold: {duration: 0.5 s}}, {step: {to: -1 m/s, "
    "duration: 1 s}}]}\n"
    "  w: {sine: {amplitude: 1, frequency: 2 Hz, offset: 3}}\n"
    "blocks: {x: {type: integrator, input: v, gain: 1}}\n";

static void expect_times(const json_t *list, const double *times, size_t count) {
  assert_int_equal(json_array_size(list), count);
  for (size_t i = 0; i < count; i++) assert_true(fabs(json_number_value(json_array_get(list, i)) - times[i]) < 1e-12);
}

static void test_breaks_and_reversals(void **state) {
  scratch *s = *state;
  scratch_write(s, "m.yaml", machine, sizeof machine - 1);
  outcome o = run(s, "signals m.yaml --csv r.csv --json r.json --plot r.svg");
  ends_with(o, 0);
  says(o.out, "reversals");
  says(o.out, "inputs over 2.5 s");
  says(o.out, "never");
  forget(o);
  json_error_t error;
  json_t *all = json_load_file(scratch_path(s, "r.json"), 0, &error), *list = json_object_get(all, "inputs");
  json_t *v = json_array_get(list, 0), *w = json_array_get(list, 1);
  // A step from zero to -1 at 1.5 s after the negative half of the sine is not a change of sign.
  expect_times(json_object_get(v, "breaks"), (double[]){0, 1, 1.5, 2.5}, 4);
  expect_times(json_object_get(v, "reversals"), (double[]){0.5}, 1);
  expect_times(json_object_get(w, "reversals"), NULL, 0);
  assert_true(json_number_value(json_object_get(v, "ends_at")) == 2.5);
  json_decref(all);
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, "r.csv"), &t, &err), OD_OK);
  assert_int_equal(t->rows, 2501);
  assert_string_equal(t->name[2], "v.slope");
  assert_string_equal(t->unit[2], "m/s2");
  for (long k = 0; k < 1000; k++) {
    const double *row = t->data + k * t->columns, phase = 2 * acos(-1) * row[0];
    assert_true(fabs(row[1] - 2 * sin(phase)) < 1e-12 && fabs(row[2] - 4 * acos(-1) * cos(phase)) < 1e-10);
    assert_true(fabs(row[4] - 4 * acos(-1) * cos(2 * phase)) < 1e-10);
  }
  od_table_free(t);
}

static void test_mistakes(void **state) {
  scratch *s = *state;
  scratch_write(s, "m.yaml", machine, sizeof machine - 1);
  static const char *const wrong[][2] = {
      {"signals m.yaml --step '1 ns'", "rows, expected at most 10 million; give a longer --step"},
      {"signals m.yaml --time '3 bar'", "--time"},
      {"signals none.yaml", "none.yaml"},
      {"signals m.yaml --tme 3", "did you mean '--time'?"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) ends_and_says(run(s, "%s", wrong[i][0]), 2, wrong[i][1]);
  static const char forever[] =
      "inputs: {w: {sine: {amplitude: 1, frequency: 2 Hz}}}\nblocks: {x: {type: integrator, input: w, gain: 1}}\n";
  scratch_write(s, "f.yaml", forever, sizeof forever - 1);
  ends_and_says(run(s, "signals f.yaml"), 2, "f.yaml has no run time and no input that ends; give --time");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_breaks_and_reversals), TEST(test_mistakes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
