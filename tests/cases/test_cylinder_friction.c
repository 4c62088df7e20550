// The studies of cases/cylinder-friction.
// - Tables 5.2, 5.3, 5.4, 6.1 and 6.2. Oracle: the published tables. 36 of 40 cells of Table 5.2 within 2 % and rounding; the four other
//   published values are local minima and are listed here. Standard deviations of 120 draws scatter by 6 %, so the limit of 10 %
//   of the whole study (README) is 25 % here.
// - All twelve parameters from one run, eight cylinders. Oracle: the true values, and the Cramer-Rao bound.
#include <math.h>
#include <string.h>

#include "support/studies.h"

#define FOLDER OD_SOURCE_DIR "/cases/cylinder-friction/"

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

// Whether a value agrees with the printed one: in two digits or within one unit of the last.
static bool is_printed(double value, double printed, double unit, double part) {
  return fabs(value - printed) <= part * printed + unit;
}

static void test_table_52_53(void **state) {
  (void)state;
  static const char *const other[] = {"5.2 #8 tustin", "5.2 #3 modified-gaussian", "5.2 #1 modified-lorentzian",
                                      "5.2 #2 modified-lorentzian"};
  static const char *const laws[] = {"tustin", "gaussian", "lorentzian", "modified-gaussian", "modified-lorentzian"};
  static char name[60][60];
  const char *only[60];
  int count = 0, cells = 0, off = 0;
  od_study *study = NULL;
  for (int k = 0; k < 5; k++) {
    for (int c = 1; c <= 8; c++) snprintf(name[count++], sizeof name[0], "5.2 #%d %s", c, laws[k]);
    if (k != 3) snprintf(name[count++], sizeof name[0], "5.3 %s", laws[k]);
  }
  for (int i = 0; i < count; i++) only[i] = name[i];
  od_study_result *r = run_study(FOLDER "tables-study.yaml", 1, only, count, &study);
  for (int i = 0; i < r->rows; i++) {
    const od_study_row *row = &r->row[i];
    double printed = row->metric->known[OD_PUBLISHED];
    if (isnan(printed)) continue;
    cells++;
    bool known = false;
    for (int k = 0; k < 4; k++) known = known || strcmp(row->case_name, other[k]) == 0;
    // Units of the last digit in Table 5.3.
    const char *key = row->metric->name;
    double unit = begins(key, "vs")  ? (printed == 0.009 || printed == 0.012 ? 1e-3 : 1e-4)
                  : begins(key, "n") ? 0.01
                                     : 1;
    bool fine = begins(row->case_name, "5.2") ? is_printed(row->value, printed, 0.05, 0.02)
                                              : is_printed(row->value, printed, unit, 0);
    if (!fine && !known) fail_msg("%s %s: %g, printed %g", row->case_name, key, row->value, printed);
    off += !fine;
  }
  print_message("%d printed values, %d off\n", cells, off);
  assert_int_equal(cells, 80 + 8 + 8 + 8 + 10);
  assert_in_range(off, 4, 8);  // else the list above is out of date
  od_study_result_free(r);
  od_study_free(study);
}

static void test_standard_deviations(void **state) {
  (void)state;
  static const char *const only[] = {"5.4 modified-gaussian", "6.2 step"};
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "tables-study.yaml", 120, only, 2, &study);
  double worst = 0;
  int compared = 0, bounded = 0;
  for (int i = 0; i < r->rows; i++) {
    const od_study_row *row = &r->row[i];
    if (!isnan(row->metric->known[OD_PUBLISHED])) {
      compared++;
      worst = fmax(worst, fabs(row->value / row->metric->known[OD_PUBLISHED] - 1));
    }
    // Uniform errors are independent: spreads agree with the bound if errors are small enough.
    if (begins(row->case_name, "6.2") && strstr(row->metric->name, "nees")) {
      bounded++;
      if (od_study_row_outside(row))
        fail_msg("%s: %g is outside %g to %g", row->metric->name, row->value, row->low, row->high);
    }
  }
  print_message("%d standard deviations within %.1f %% of those printed\n", compared, 100 * worst);
  assert_int_equal(compared, 10 + 10);
  assert_int_equal(bounded, 8);
  assert_true(worst < 0.25);
  od_study_result_free(r);
  od_study_free(study);
}

static void test_searches(void **state) {
  (void)state;
  static const char *const only[] = {"6.1 trust-region 1.01",       "6.1 trust-region 1.4", "6.1 trust-region 0.6",
                                     "6.1 levenberg-marquardt 0.6", "6.1 gauss-newton 1.4", "6.2 dynamic"};
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "tables-study.yaml", 20, only, 6, &study);
  for (int i = 0; i < 5; i++) {
    assert_true(study_value(r, only[i], "max_parameter_error_percent") < 2);
    assert_true(study_value(r, only[i], "evaluations") < 60);
  }
  // Published: 0.30 and 9.99e6 in the mean; both scatter by less than 6 %.
  assert_true(fabs(study_value(r, "6.2 dynamic", "tau_hn") - 0.30) < 0.015);
  assert_true(fabs(study_value(r, "6.2 dynamic", "sigma_0") / 9.99e6 - 1) < 0.02);
  od_study_result_free(r);
  od_study_free(study);
}

static void test_complete(void **state) {
  (void)state;
  static const char *const only[] = {"#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8", "own #2", "own #8"};
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "complete-study.yaml", 1, only, 10, &study);
  for (int i = 0; i < 10; i++) {
    double off = study_value(r, only[i], "max_parameter_error_percent"), seconds = study_value(r, only[i], "seconds");
    print_message("%s: %.3g %%, %.3f s\n", only[i], off, seconds);
    assert_true(off < (i < 8 ? 0.05 : 1e-5));
    assert_true(seconds < (i < 8 ? 1 : 0.3));
  }
  od_study_result_free(r);
  od_study_free(study);
}

static void test_noise(void **state) {
  (void)state;
  static const char *const only[] = {"noise #1", "noise #8"};
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "complete-study.yaml", 8, only, 2, &study);
  int judged[2] = {0, 0};
  for (int i = 0; i < r->rows; i++) {
    const od_study_row *row = &r->row[i];
    if (!strstr(row->metric->name, "nees")) continue;
    judged[strcmp(row->case_name, only[1]) == 0]++;
    if (od_study_row_outside(row))
      fail_msg("%s %s: %g is outside %g to %g", row->case_name, row->metric->name, row->value, row->low, row->high);
  }
  // Viscous friction of #8 is 1 N s/m, a quarter of a newton at full speed: noise of 1 N hides it.
  assert_int_equal(judged[0], 12);
  assert_int_equal(judged[1], 11);
  od_study_result_free(r);
  od_study_free(study);
}

// Starts with the errors of Tables 6.5 to 6.7. Oracle: the true values.
static void test_convergence(void **state) {
  (void)state;
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "convergence-study.yaml", 0, NULL, 0, &study);
  int cases = 0;
  for (int i = 0; i < r->rows; i++) {
    if (strcmp(r->row[i].metric->name, "max_parameter_error_percent") != 0) continue;
    if (begins(r->row[i].case_name, "6.7") || begins(r->row[i].case_name, "log")) {
      assert_true(r->row[i].value < 1e-4);
      cases++;
    }
  }
  assert_int_equal(cases, 16);
  od_study_result_free(r);
  od_study_free(study);
}

static void test_other_runs(void **state) {
  (void)state;
  static const char *const only[] = {"vary #3", "vary #6"};
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "complete-study.yaml", 3, only, 2, &study);
  for (int i = 0; i < 2; i++) assert_true(study_value(r, only[i], "found") == 1);
  od_study_result_free(r);
  od_study_free(study);
}

// Oracle: the coefficients that the truth was simulated with.
static void test_map(void **state) {
  (void)state;
  static const char *const only[] = {"linear"};
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "map-study.yaml", 1, only, 1, &study);
  assert_true(fabs(study_value(r, "linear", "Fs C1") - 0.005) < 1e-5 &&
              fabs(study_value(r, "linear", "Fs C2") - 0.0025) < 1e-5);
  assert_true(fabs(study_value(r, "linear", "n C1")) < 1e-5 &&
              fabs(study_value(r, "linear", "tau_hn C2") - 0.0025) < 1e-5);
  assert_true(study_value(r, "linear", "coefficients_in_99") >= 0.9 && study_value(r, "linear", "left_out") == 0);
  od_study_result_free(r);
  od_study_free(study);
}

// Table 6.8 through the closed loop of the test bench. Oracle: the numbers of its machine file; the seeds are held out.
static void test_bench(void **state) {
  (void)state;
  static const char *const only[] = {"6.8", "6.3 known 5"};
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "bench-study.yaml", 2, only, 2, &study);
  int parameters = 0;
  for (int i = 0; i < r->rows; i++) {
    const char *name = r->row[i].metric->name, *what = strchr(name, ' ');
    if (!what || strcmp(r->row[i].case_name, "6.8") != 0) continue;
    if (strcmp(what, " error_in_sigmas") == 0) {
      assert_true(r->row[i].value < 3.5);
      parameters++;
    }
    if (strcmp(what, " sigma_percent") == 0) assert_true(r->row[i].value < (begins(name, "viscous") ? 3 : 1));
  }
  assert_int_equal(parameters, 12);
  // Friction depends on the pressures by half a percent per bar, and the fitted law does not: small errors, which the verdict reports.
  assert_true(study_value(r, "6.3 known 5", "sigma_0 error_percent") < 0.05);
  assert_true(study_value(r, "6.3 known 5", "tau_hn error_percent") < 0.05 &&
              study_value(r, "6.3 known 5", "doubtful") == 2);
  assert_true(study_value(r, "6.8", "sigma_0 true") == 1e7 && study_value(r, "6.8", "doubtful") == 0);
  assert_true(study_value(r, "6.8", "Fs_negative true") == 2500 && study_value(r, "6.8", "failed") == 0);
  od_study_result_free(r);
  od_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table_52_53), cmocka_unit_test(test_standard_deviations),
                                     cmocka_unit_test(test_searches),    cmocka_unit_test(test_complete),
                                     cmocka_unit_test(test_noise),       cmocka_unit_test(test_other_runs),
                                     cmocka_unit_test(test_convergence), cmocka_unit_test(test_map),
                                     cmocka_unit_test(test_bench)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
