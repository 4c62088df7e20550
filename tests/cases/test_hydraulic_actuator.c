// The hydraulic actuator benchmark: the free-run errors of cases/hydraulic-actuator/README.md. Oracle: the measured data in
// $OD_SHARED/data/hydraulic-actuator, or in ../shared next to the source tree, which are not part of the project; skipped without them. The
// errors are computed here from the written samples, not taken from the program's report.
#include <math.h>
#include <unistd.h>

#include "support/test.h"
#include "formats/read_table.h"
#include "io/table.h"
#include "support/program.h"

enum { SKIPPED = 77 };

static char data[1000];

static int find(const od_table *t, const char *name) {
  for (int i = 0; i < t->columns; i++)
    if (!strcmp(t->name[i], name)) return i;
  fail_msg("there is no column %s", name);
  return -1;
}

// From the first to the last row, counted from 1.
static double error(const od_table *t, int first, int last) {
  int measured = find(t, "measured.pressure"), predicted = find(t, "predicted.pressure");
  double sum = 0;
  assert_true(t->rows >= last);
  for (long k = first - 1; k < last; k++)
    sum += pow(t->data[k * t->columns + measured] - t->data[k * t->columns + predicted], 2);
  return sqrt(sum / (last - first + 1));
}

// The fit does not change the measurement.
static void check_measured(const od_table *t) {
  od_table *log = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(data, &log, &err), OD_OK);
  int measured = find(t, "measured.pressure"), column = find(log, "oil_pressure");
  for (long k = 0; k < t->rows; k++)
    assert_true(t->data[k * t->columns + measured] == log->data[k * log->columns + column]);
  od_table_free(log);
}

static od_table *fit(scratch *s, const char *options) {
  outcome o = run(s, "fit '%s/cases/hydraulic-actuator/fit.yaml' --data '%s' --csv f.csv --quiet %s", OD_SOURCE_DIR,
                  data, options);
  if (o.code != 0 && !strstr(o.err, "the search stopped at a point")) ends_with(o, 0);  // curves with corners
  forget(o);
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, "f.csv"), &t, &err), OD_OK);
  check_measured(t);
  return t;
}

static void selection(void **state) {
  od_table *t = fit(*state, "");
  assert_int_equal(t->rows, 512);
  double chosen = error(t, 385, 512);
  od_table_free(t);
  t = fit(*state, "--variant rigid");
  double rigid = error(t, 385, 512);
  od_table_free(t);
  print_message("samples 385 to 512: %.3f, with a rigid load %.3f\n", chosen, rigid);
  assert_true(fabs(chosen - 0.304) < 0.005 && rigid > chosen);
}

static void final(void **state) {
  od_table *t = fit(*state, "--variant final");
  assert_int_equal(t->rows, 1024);
  double fitted = error(t, 1, 512), judged = error(t, 513, 1024);
  print_message("samples 1 to 512: %.3f, 513 to 1024: %.3f\n", fitted, judged);
  assert_true(judged < 0.77 && fabs(judged - 0.680) < 0.005 && fabs(fitted - 0.219) < 0.005);
  od_table_free(t);
}

int main(void) {
  const char *shared = getenv("OD_SHARED");
  snprintf(data, sizeof data, "%s/data/hydraulic-actuator/actuator.csv", shared ? shared : OD_SOURCE_DIR "/../shared");
  if (access(data, R_OK) != 0) {
    printf("skipped: no data: %s\n", data);
    return SKIPPED;
  }
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(selection), TEST(final)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
