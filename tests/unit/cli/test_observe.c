// oleodyn observe as people and scripts call it: on logs and on live streams.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>

#include "support/program.h"

#define EXPERIMENT OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml"

static json_t *read_json(scratch *s, const char *name) {
  json_error_t error;
  json_t *object = json_load_file(scratch_path(s, name), 0, &error);
  if (!object) fail_msg("%s: %s", name, error.text);
  return object;
}

// --- Logs ---------------------------------------------------------------------------------------------------------

// A run that is written and read again; nobody claims to know what is true.
static void test_log(void **state) {
  scratch *s = *state;
  expect_code(run(s, "observe %s --set time=0.5 --csv run.csv --json a.json --quiet", EXPERIMENT), 0);
  outcome o = run(s, "observe %s --data run.csv --json b.json --plot b.svg", EXPERIMENT);
  ends_with(o, 0);
  says(o.out, "log run.csv, 501 samples from 0 s to 0.5 s, 1 ms apart");
  assert_null(strstr(o.out, "true"));
  assert_null(strstr(o.out, "curves: off"));
  assert_string_equal(o.err, "");
  forget(o);
  json_t *a = read_json(s, "a.json"), *b = read_json(s, "b.json");
  const char *const gone[] = {"truth", "seed", "curves", "nees_per_dimension", "coverage95", "curve_rmse_percent"};
  for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
    assert_non_null(json_object_get(a, gone[i]));
    assert_null(json_object_get(b, gone[i]));
  }
  assert_true(json_equal(json_object_get(a, "nis_per_dimension"), json_object_get(b, "nis_per_dimension")));
  assert_true(json_equal(json_object_get(a, "sensors"), json_object_get(b, "sensors")));
  const json_t *p = json_array_get(json_object_get(a, "parameters"), 0);
  const json_t *q = json_array_get(json_object_get(b, "parameters"), 0);
  assert_true(json_equal(json_object_get(p, "estimate"), json_object_get(q, "estimate")));
  assert_null(json_object_get(q, "true"));
  assert_string_equal(json_string_value(json_object_get(json_object_get(b, "data"), "file")), "run.csv");
  json_decref(a);
  json_decref(b);
}

static void test_log_warnings_and_mistakes(void **state) {
  scratch *s = *state;
  const char *log =
      "t,cylinder.length,P.pressure,A.pressure,U_ref\n0,1.62,5.6e6,,0\n0.001,1.62,5.6e6,,1\n0.002,1.62,5.61e6,,0\n"
      "0.003,1.62,5.6e6,,\n0.004,1.62,5.6e6,,0\n0.105,1.62,5.6e6,,0\n";
  scratch_write(s, "l.csv", log, strlen(log));
  outcome o = run(s, "observe %s --data l.csv", EXPERIMENT);
  ends_with(o, 0);
  says(o.err, "oleodyn: warning: l.csv: 'cylinder.length' never changes\n");
  says(o.err, "oleodyn: warning: l.csv: 'A.pressure' has no values\n");
  says(o.out, "input U_ref: 1 missing value was taken from the rows around\n");
  says(o.out, "longest gap: 101 ms after 0.004 s\n");
  forget(o);
  o = run(s, "observe %s --data l.csv --truth 3-S2", EXPERIMENT);
  ends_with(o, 2);
  says(o.err, "--truth: error: a log is observed here; nobody knows its true machine\n");
  forget(o);
  expect_code(run(s, "observe %s --data nosuch.csv", EXPERIMENT), 2);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_log),
      TEST(test_log_warnings_and_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
