// One measurement that is given as two sensors: `fit` and `observe` report that its noise counts twice. Oracle: a log of a lag's response in closed
// form, with separate noise for each sensor or the same for both; nothing else differs. If both share only a few rows, their correlation is random.
#include <stdbool.h>

#include "support/test.h"

#include <math.h>

#include "random/random.h"
#include "support/program.h"

enum { ROWS = 1001 };

// `twice` in one of several rows.
static void write_log(scratch *s, const char *name, bool same, int every) {
  FILE *to = fopen(scratch_path(s, name), "w");
  assert_non_null(to);
  fprintf(to, "time,lag,twice\n");
  for (int k = 0; k < ROWS; k++) {
    double t = 0.01 * k, y = -expm1(-t / 0.8), a = 0.02 * od_random_gaussian(7, 1, (uint64_t)k, OD_USE_NOISE),
           b = 0.02 * od_random_gaussian(7, 2, (uint64_t)k, OD_USE_NOISE);
    fprintf(to, "%.17g,%.17g,", t, y + a);
    if (k % every == every / 2) fprintf(to, "%.17g", 2 * (y + (same ? a : b)));
    fprintf(to, "\n");
  }
  fclose(to);
}

static void test_twins(void **state) {
  static const char machine[] =
      "machine: Lag\ninputs: {u: {unit: '1', constant: 1}}\n"
      "blocks:\n  lag: {type: first-order, input: u, gain: 1, time_constant: 0.8 s}\n"
      "  twice: {type: gain, input: lag, gain: 2}\nrun: {time: 10 s, step: 10 ms}\n";
  static const char plan[] =
      "machine: lag.yaml\nstep: 10 ms\ndata: {file: own.csv}\nsensors: {lag: {sigma: 0.02}, twice: {sigma: 0.04}}\n"
      "parameters: {lag.time_constant: {start: 0.9 s, sigma: 0.2 s, low: 0.1 s, high: 5 s}}\n";
  scratch *s = *state;
  scratch_write(s, "lag.yaml", machine, sizeof machine - 1);
  scratch_write(s, "plan.yaml", plan, sizeof plan - 1);
  write_log(s, "own.csv", false, 1);
  write_log(s, "same.csv", true, 1);
  write_log(s, "few.csv", true, 200);  // five rows
  static const char *const command[] = {"fit", "observe"};
  static const char *const code[] = {"residual.together", "innovations.together"};
  static const char *const text[] = {"lag and twice are correlated (1.000)", "lag and twice are correlated (1.000)"};
  static const char *const lead[] = {"Not independent:", "Sensors not independent:"};
  static const char *const log[] = {"own", "same", "few"};
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++) {
      outcome o = run(s, "%s plan.yaml --data %s.csv --json r.json", command[i], log[k]);
      ends_with(o, 0);
      char *written = scratch_read(scratch_path(s, "r.json"));
      if (k == 1) {
        says(o.out, lead[i]);
        says(o.out, text[i]);
        says(written, code[i]);
        says(written, text[i]);
      } else {
        assert_null(strstr(o.out, lead[i]));
        assert_null(strstr(written, code[i]));
      }
      free(written);
      forget(o);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_twins, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
