// A prior that is given in several outputs with different variances, near a dead center of one of them: the start of the window stays on the
// branch of the prior. A full step of Newton's method from the prior would lead to another turn of the crank, with the same outputs. Whether a step
// is nearly linear is judged in standard deviations of each output, so each output needs its own.
//
// Oracle: weighted means of the outputs by hand, and the angle as their arc cosine in the turn of the prior.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/oleodyn.h"

enum { SAMPLES = 16, N = 3 };
static const double sigma[N] = {2e-4, 0.05, 3e3}, deviation[N] = {1e-3, 0.5, 2e4}, step = 0.1;

// A crank at rest between two other quantities; outputs: a scaled state, the cosine of the crank's angle, and a sum.
static const double start[N] = {0.4, 0.05, -7e3};
static int rest(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  dx[0] = dx[1] = dx[2] = 0;
  return 0;
}
static int rest_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                       double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fp, (void)fu;
  if (fx) memset(fx, 0, N * N * sizeof *fx);
  return 0;
}
static int outputs(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = 2 * x[0];
  y[1] = cos(x[1]);
  y[2] = x[2] + x[0];
  return 0;
}
static int output_slopes(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                         double *hu, double *hp) {
  (void)user, (void)t, (void)u, (void)p, (void)hp, (void)hu;
  const double by_x[N * N] = {2, 0, 0, 0, -sin(x[1]), 0, 1, 0, 1};
  if (hx) memcpy(hx, by_x, sizeof by_x);
  return 0;
}

// order: the outputs in the order of their declaration, so that the crank's output is at each place.
static void check(const int *order, double reading) {
  const od_function f = {
      .nx = N, .ny = N, .x0 = start, .f = rest, .f_jacobians = rest_slopes, .h = outputs, .h_jacobians = output_slopes};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  const od_observer_options options = {
      .filter = od_filter_find("relinearising"), .sensor_sigma = sigma, .choice = (const double[]){SAMPLES, 0, 0}};
  od_observer *o = od_observer_new(plant, &options);
  double C[N * N] = {0}, P[N * N] = {1e-6, 0, 0, 0, 1e-2, 0, 0, 0, 4e8}, prior[N], y[N], got[N];
  for (int r = 0; r < N; r++) C[r * (N + 1)] = deviation[order[r]] * deviation[order[r]];
  outputs(NULL, 0, start, NULL, NULL, prior);
  // The others are hardly moved in their standard deviations, although the last one moves by a large number.
  for (int i = 0; i < N; i++) y[i] = i == 1 ? reading : prior[i] + 1e-3 * deviation[i];
  assert_int_equal(od_observer_declare_start(o, N, order, C), OD_OK);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
  for (int k = 0; k <= SAMPLES; k++) {
    if (k > 0) assert_int_equal(od_observer_predict(o, step, NULL, NULL, NULL), OD_OK);
    assert_int_equal(od_observer_correct(o, y), OD_OK);
  }
  outputs(NULL, 0, od_observer_state(o), NULL, NULL, got);
  for (int i = 0; i < N; i++) {
    double weight = (SAMPLES + 1) / (sigma[i] * sigma[i]), own = 1 / (deviation[i] * deviation[i]);
    near(got[i], (prior[i] * own + y[i] * weight) / (own + weight), 1e-6 * deviation[i]);
  }
  near(od_observer_state(o)[1], acos(got[1]), 1e-9);
  od_observer_free(o);
  od_plant_free(plant);
}

static void test_branch(void **state) {
  (void)state;
  static const int orders[][N] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}, {0, 2, 1}, {2, 1, 0}};
  for (int i = 0; i < 6; i++)
    for (double reading = 0.95; reading > -0.6; reading -= 0.3) check(orders[i], reading);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_branch)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
