// The identification of the fin servo, cases/fin-servo/fit.yaml, over a few dozen seeds. Oracles: reference values of an
// independent prototype (fits before and after 86.95 and 96.18 %, published 86.98 and 96.18 %; bounds; step response), the two
// unidentifiable directions of the paper's equations, the Cramer-Rao bound, and the true parameters of the data.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "study/study.h"
#include "support/fits.h"

#define CASE OD_SOURCE_DIR "/cases/fin-servo/"

enum { SEEDS = 32, COMBINATIONS = 6 };

// Results of the fits of all seeds, computed once.
static struct {
  od_fit_plan *plan;
  od_fitted *fitted[SEEDS];
} all;

static int fit_all(void **state) {
  (void)state;
  all.plan = fit_plan(CASE "fit.yaml", NULL);
  for (int i = 0; i < SEEDS; i++) {
    all.plan->e->seed = (uint64_t)(i + 1);
    od_error err = {0};
    if (od_fit(all.plan, NULL, &all.fitted[i], &err) != OD_OK) return -1;
  }
  return 0;
}

static int release_all(void **state) {
  (void)state;
  for (int i = 0; i < SEEDS; i++) od_fitted_free(all.fitted[i]);
  od_fit_plan_free(all.plan);
  return 0;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *x, int n) {
  qsort(x, (size_t)n, sizeof *x, by_size);
  return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static void test_before_and_after(void **state) {
  (void)state;
  double before = 0, after = 0, step[SEEDS], iterations[SEEDS];
  for (int i = 0; i < SEEDS; i++) {
    const od_fitted *f = all.fitted[i];
    before += f->start_fit / SEEDS;
    after += f->fit / SEEDS;
    step[i] = f->set[1].unseen_quality[0].fit;
    iterations[i] = (double)f->search->iterations;
    assert_true(f->rule.exact);
    assert_true(f->used_modes);
    assert_int_equal(f->set[0].fitted, 31125);
    assert_true(fabs(f->set[1].unseen_quality[0].start_fit - 73.4) < 0.1);
    assert_true(step[i] > 99);
  }
  print_message("fit %.2f %% before, %.2f %% after; median of iterations %g, of the step response's fit %.2f %%\n",
                before, after, median(iterations, SEEDS), median(step, SEEDS));
  assert_true(fabs(before - 86.95) < 0.05 && fabs(after - 96.18) < 0.05);
  assert_true(median(iterations, SEEDS) <= 20);
  assert_true(median(step, SEEDS) >= 99.8);
}

// K_c + C_tc, and one factor for the hydraulic and the mechanical side.
static void test_null_directions(void **state) {
  (void)state;
  for (int i = 0; i < SEEDS; i++) {
    const od_fitted *f = all.fitted[i];
    char text[2][1000];
    assert_int_equal(f->identifiability->nulls, 2);
    assert_int_equal(f->identifiability->weak, 0);
    for (int k = 0; k < 2; k++) od_identifiability_null_text(f->identifiability, k, f->name, text[k], sizeof text[k]);
    assert_string_equal(
        text[0], "changing valve.pressure_coefficient by +1 and chamber.leakage by -1 leaves the data unchanged");
    assert_string_equal(text[1],
                        "scaling chamber.modulus, piston.damping, piston.mass and piston.stiffness by lambda and "
                        "valve.pressure_coefficient and chamber.leakage by 1/lambda leaves the data unchanged");
    for (int p = 0; p < 8; p++) {
      if (p < 2) assert_true(isfinite(f->sigma[p]) && f->sigma[p] > 0);
      // A parameter at its bound has no standard deviation.
      if (p >= 2) assert_true(isinf(f->sigma[p]) || f->search->at_bound[p]);
    }
    for (int c = 0; c < COMBINATIONS; c++)
      assert_true(isfinite(f->combination_sigma[c]) && f->combination_sigma[c] > 0);
  }
}

// The quantile of chi-squared over its dimension at z standard deviations (Wilson and Hilferty).
static double chi(double dimension, double z) {
  return pow(1 - 2 / (9 * dimension) + z * sqrt(2 / (9 * dimension)), 3);
}

// The Cramer-Rao bounds of the prototype, in percent; the scatter of the errors and the reported standard deviations agree with
// them.
static void test_combinations(void **state) {
  (void)state;
  const double reference[COMBINATIONS] = {2.2, 1.2, 4.1, 1.7, 8.9, 4.9},
               truth[] = {643.3607, 0.8794, 713.28e6, 8.9768e-12, 8.7655e-13, 121.35, 13.5, 101.14e3};
  for (int i = 0; i < 8; i++) near_relative(all.plan->e->parameter[i].truth, truth[i], 1e-12);
  od_estimated kept[8];
  for (int i = 0; i < 8; i++) {
    kept[i] = all.plan->e->parameter[i];
    all.plan->e->parameter[i].start = truth[i];
  }
  const od_fit_options options = {.only_predict = true};
  od_fitted *at_truth = fit_run(all.plan, &options);
  for (int i = 0; i < 8; i++) all.plan->e->parameter[i] = kept[i];
  for (int c = 0; c < COMBINATIONS; c++) {
    double value = od_combination_value(&all.plan->combination[c], 8, truth, NULL), squares = 0, said = 0;
    double bound = at_truth->combination_bound[c];
    for (int i = 0; i < SEEDS; i++) {
      squares += pow((all.fitted[i]->combination_value[c] - value) / bound, 2) / SEEDS;
      said += all.fitted[i]->combination_sigma[c] / bound / SEEDS;
    }
    print_message("%-20s bound %.2f %%, spread %.3f bounds, standard deviations %.3f bounds\n",
                  all.plan->combination[c].name, 100 * bound / value, sqrt(squares), said);
    assert_true(fabs(100 * bound / value - reference[c]) < 0.1);
    assert_true(squares > chi(SEEDS, -3.29) && squares < chi(SEEDS, 3.29));
    assert_true(fabs(said - 1) < 0.1);
  }
  od_fitted_free(at_truth);
}

// A pseudo-random binary sequence of the same length, amplitude and noise identifies all six combinations better than the sweep. Oracle: the
// true numbers; errors of 8 seeds in reported standard deviations have the mean square 1 within the interval of chi-squared.
static void test_prbs_against_sweep(void **state) {
  (void)state;
  enum { RUNS = 8 };
  static const double stated[COMBINATIONS] = {0.47, 0.42, 0.53,
                                              0.37, 6.46, 0.88},  // percent, seed 1: the case's README
      truth[] = {643.3607, 0.8794, 713.28e6, 8.9768e-12, 8.7655e-13, 121.35, 13.5, 101.14e3};
  const od_experiment_options options = {.variant = "prbs"};
  od_fit_plan *plan = fit_plan(CASE "fit.yaml", &options);
  double squares = 0;
  for (int i = 0; i < RUNS; i++) {
    plan->e->seed = (uint64_t)(i + 1);
    od_fitted *f = fit_run(plan, NULL);
    assert_int_equal(f->set[0].fitted, 31125);
    for (int c = 0; c < COMBINATIONS; c++) {
      double value = od_combination_value(&plan->combination[c], 8, truth, NULL),
             error = f->combination_value[c] - value;
      double sigma = f->combination_sigma[c] / value, sweep = all.fitted[i]->combination_sigma[c] / value;
      squares += pow(error / f->combination_sigma[c], 2) / (RUNS * COMBINATIONS);
      assert_true(sigma < 0.85 * sweep);
      if (i > 0) continue;
      print_message("%-20s %.2f %% with the sequence, %.2f %% with the sweep\n", plan->combination[c].name, 100 * sigma,
                    100 * sweep);
      assert_true(fabs(100 * sigma / stated[c] - 1) < 0.05);
    }
    od_fitted_free(f);
  }
  print_message("mean square of the errors in standard deviations: %.3f\n", squares);
  assert_true(squares > chi(RUNS * COMBINATIONS / 2, -3.29) &&
              squares < chi(RUNS * COMBINATIONS / 2, 3.29));  // correlated: half the dimension
  od_fit_plan_free(plan);
}

static void test_truncation_jams(void **state) {
  (void)state;
  const od_experiment_options options = {.variant = "truncate"};
  od_fit_plan *plan = fit_plan(CASE "fit.yaml", &options);
  od_fitted *f = NULL;
  od_error err = {0};
  od_fit(plan, NULL, &f, &err);
  assert_non_null(f);
  print_message("steps cut off at bounds: fit %.2f %%, %ld iterations\n", f->fit, f->search->iterations);
  assert_true(f->fit < 90 && f->search->cost > 2 * all.fitted[0]->search->cost);
  fit_release(f, plan);
}

static void test_random_starts(void **state) {
  (void)state;
  all.plan->e->seed = 1;
  int reached = 0;
  for (uint64_t i = 1; i <= 8; i++) {
    const od_fit_options options = {.random_start = true, .start_seed = i};
    od_fitted *f = NULL;
    od_error err = {0};
    od_fit(all.plan, &options, &f, &err);
    reached += f && f->search->cost <= all.fitted[0]->search->cost * (1 + 1e-6);
    od_fitted_free(f);
  }
  assert_int_equal(reached, 8);
}

static od_study_result *run_study(int threads) {
  od_messages *messages = od_messages_new();
  od_study *study = NULL;
  const od_study_options options = {.seeds = 3};
  assert_int_equal(od_study_load(CASE "study.yaml", &options, &study, messages), OD_OK);
  od_messages_free(messages);
  od_study_result *r = NULL;
  od_error err = {0};
  const od_study_run_options how = {.threads = threads};
  if (od_study_run(study, &how, &r, &err) != OD_OK) fail_msg("%s", err.text);
  // Rows refer to the study by their names.
  for (int i = 0; i < r->rows; i++) r->row[i].metric = NULL, r->row[i].case_name = NULL;
  od_study_free(study);
  return r;
}

static void test_same_bits_for_any_threads(void **state) {
  (void)state;
  od_study_result *one = run_study(1), *three = run_study(3);
  assert_int_equal(one->rows, three->rows);
  assert_true(one->rows > 30);
  for (int i = 0; i < one->rows; i++) {
    const double a[] = {one->row[i].value, one->row[i].low, one->row[i].high},
                 b[] = {three->row[i].value, three->row[i].low, three->row[i].high};
    assert_memory_equal(a, b, sizeof a);
  }
  od_study_result_free(one);
  od_study_result_free(three);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_before_and_after),   cmocka_unit_test(test_null_directions),
      cmocka_unit_test(test_combinations),       cmocka_unit_test(test_truncation_jams),
      cmocka_unit_test(test_random_starts),      cmocka_unit_test(test_same_bits_for_any_threads),
      cmocka_unit_test(test_prbs_against_sweep),
  };
  return cmocka_run_group_tests(tests, fit_all, release_all);
}
