// The relinearizing filter widens a prior that cannot be true: a prior in outputs, of which one is far from the readings and the other is
// not, and the same in states. Oracle: weighted means by hand. A quantity at the distance d from its prior of variance v gets the
// variance v + d^2.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/oleodyn.h"

enum { SAMPLES = 16 };
static const double sigma[] = {0.05, 0.08}, variance = 1e-4, step = 0.1;

// Two quantities at rest; the outputs are their sum and difference, or the quantities themselves.
static int rest(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  dx[0] = dx[1] = 0;
  return 0;
}
static int rest_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                       double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fp, (void)fu;
  if (fx) memset(fx, 0, 4 * sizeof *fx);
  return 0;
}
static int both(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)t, (void)u, (void)p;
  const double *h = user;
  for (int i = 0; i < 2; i++) y[i] = h[2 * i] * x[0] + h[2 * i + 1] * x[1];
  return 0;
}
static int both_slopes(void *user, double t, const double *x, const double *u, const double *p, double *hx, double *hu,
                       double *hp) {
  (void)t, (void)x, (void)u, (void)p, (void)hp, (void)hu;
  if (hx) memcpy(hx, user, 4 * sizeof *hx);
  return 0;
}

// The mean of a prior and SAMPLES + 1 readings, with the variance of the prior.
static double mean(double prior, double prior_variance, double reading, double sensor) {
  double weight = (SAMPLES + 1) / (sensor * sensor);
  return (prior / prior_variance + reading * weight) / (1 / prior_variance + weight);
}

static void check(bool in_outputs, bool widen, int far, double distance) {
  double h[] = {1, in_outputs ? 1 : 0, in_outputs ? 1 : 0, in_outputs ? -1 : 1};
  const double start[] = {0.7, 0.2};
  const int declared[] = {1, 0};
  const double C[] = {variance, 0, 0, variance};
  double P[4] = {variance, 0, 0, variance}, predicted[2], y[2];
  both(h, 0, start, NULL, NULL, predicted);
  if (in_outputs) P[0] = P[3] = variance / 2;  // x = (y0 + y1) / 2, (y0 - y1) / 2
  for (int i = 0; i < 2; i++) y[i] = predicted[i] + (i == far ? distance : 0.01);
  const od_function f = {.nx = 2,
                         .ny = 2,
                         .x0 = start,
                         .user = h,
                         .f = rest,
                         .f_jacobians = rest_slopes,
                         .h = both,
                         .h_jacobians = both_slopes};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  const od_observer_options options = {
      .filter = od_filter_find("relinearising"), .sensor_sigma = sigma, .choice = (const double[]){SAMPLES, 0, widen}};
  od_observer *o = od_observer_new(plant, &options);
  static const int wrong[][2] = {{-1, 0}, {0, -1}, {2, 0}, {0, 2}};
  for (int i = 0; i < 4; i++) assert_int_equal(od_observer_declare_start(o, 2, wrong[i], C), OD_BAD_ARGUMENT);
  assert_int_equal(od_observer_declare_start(o, -1, declared, C), OD_BAD_ARGUMENT);
  assert_int_equal(od_observer_declare_start(o, 3, declared, C), OD_BAD_ARGUMENT);
  if (in_outputs) assert_int_equal(od_observer_declare_start(o, 2, declared, C), OD_OK);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
  for (int k = 0; k <= SAMPLES; k++) {
    if (k > 0) assert_int_equal(od_observer_predict(o, step, NULL, NULL, NULL), OD_OK);
    assert_int_equal(od_observer_correct(o, y), OD_OK);
  }
  double got[2], want[2];
  both(h, 0, od_observer_state(o), NULL, NULL, got);
  for (int i = 0; i < 2; i++) {
    want[i] = mean(predicted[i], variance, y[i], sigma[i]);
    double d = want[i] - predicted[i];
    if (i == far && widen && d * d > 25 * variance) want[i] = mean(predicted[i], variance + d * d, y[i], sigma[i]);
  }
  print_message("%s: %.6f %.6f, by hand %.6f %.6f\n", widen ? "widened" : "as given", got[0], got[1], want[0], want[1]);
  for (int i = 0; i < 2; i++) near(got[i], want[i], 1e-7);
  od_observer_free(o);
  od_plant_free(plant);
}

static void test_prior_in_states(void **state) {
  (void)state;
  for (int far = 0; far < 2; far++) {
    check(false, false, far, 0.4), check(false, true, far, 0.4);
    check(false, true, far, 0.045);  // within five standard deviations
  }
}

static void test_prior_in_outputs(void **state) {
  (void)state;
  for (int far = 0; far < 2; far++) {
    check(true, false, far, 0.4), check(true, true, far, 0.4);
    check(true, true, far, -0.045);
  }
}

// A declaration with more outputs than uncertain states has no effect: the prior in states is used, to the bit.
static void test_more_outputs_than_states(void **state) {
  (void)state;
  double h[] = {1, 1, 1, -1}, estimate[2][2];
  const double start[] = {0.7, 0.2}, P[4] = {variance, 0, 0, 0}, C[] = {variance, 0, 0, variance};
  const int declared[] = {1, 0};
  for (int with = 0; with < 2; with++) {
    const od_function f = {.nx = 2,
                           .ny = 2,
                           .x0 = start,
                           .user = h,
                           .f = rest,
                           .f_jacobians = rest_slopes,
                           .h = both,
                           .h_jacobians = both_slopes};
    od_plant *plant = NULL;
    assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
    const od_observer_options options = {
        .filter = od_filter_find("relinearising"), .sensor_sigma = sigma, .choice = (const double[]){SAMPLES, 0, 1}};
    od_observer *o = od_observer_new(plant, &options);
    if (with) assert_int_equal(od_observer_declare_start(o, 2, declared, C), OD_OK);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
    for (int k = 0; k <= 3 * SAMPLES; k++) {
      const double y[] = {1.3 + 0.01 * (k % 3), 0.4};
      if (k > 0) assert_int_equal(od_observer_predict(o, step, NULL, NULL, NULL), OD_OK);
      assert_int_equal(od_observer_correct(o, y), OD_OK);
    }
    memcpy(estimate[with], od_observer_state(o), sizeof estimate[with]);
    od_observer_free(o);
    od_plant_free(plant);
  }
  assert_memory_equal(estimate[0], estimate[1], sizeof estimate[0]);
  assert_true(estimate[0][0] > 0.8 && estimate[0][1] == 0.2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_prior_in_states), cmocka_unit_test(test_prior_in_outputs),
                                     cmocka_unit_test(test_more_outputs_than_states)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
