// The relinearizing filter with a parameter between bounds: a quantity x and a parameter p at rest, of which readings contain the sum and the
// difference. Oracle: the weighted least squares of prior and readings by hand; where its p is beyond a bound, the least squares with p at the bound.
#include <string.h>

#include "support/test.h"

#include "oleodyn/oleodyn.h"

enum { SAMPLES = 16 };
static const double step = 0.1, sigma[] = {0.05, 0.08}, start_x = 0.7, start_p = 0.2, var_x = 0.04, var_p = 0.01;

static int rest(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  dx[0] = 0;
  return 0;
}
static int rest_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                       double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fu;
  if (fx) fx[0] = 0;
  if (fp) fp[0] = 0;
  return 0;
}
static int both(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u;
  y[0] = x[0] + p[0], y[1] = x[0] - 2 * p[0];
  return 0;
}
static int both_slopes(void *user, double t, const double *x, const double *u, const double *p, double *hx, double *hu,
                       double *hp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)hu;
  if (hx) hx[0] = hx[1] = 1;
  if (hp) hp[0] = 1, hp[1] = -2;
  return 0;
}

// The least squares of the prior and of SAMPLES + 1 equal readings.
static void least_squares(const double *y, double low, double high, double *x, double *p) {
  double a[2][2] = {{1 / var_x, 0}, {0, 1 / var_p}}, b[2] = {start_x / var_x, start_p / var_p};
  for (int i = 0; i < 2; i++) {
    double row[] = {1, i ? -2 : 1}, weight = (SAMPLES + 1) / (sigma[i] * sigma[i]);
    for (int r = 0; r < 2; r++) {
      b[r] += weight * row[r] * y[i];
      for (int c = 0; c < 2; c++) a[r][c] += weight * row[r] * row[c];
    }
  }
  *p = (a[0][0] * b[1] - a[1][0] * b[0]) / (a[0][0] * a[1][1] - a[0][1] * a[1][0]);
  *p = fmin(fmax(*p, low), high);
  *x = (b[0] - a[0][1] * *p) / a[0][0];
}

static void bounds(void **state) {
  (void)state;
  static const double limits[][2] = {{-10, 10}, {0.1, 0.25}, {0.19, 10}, {-10, 0.21}};
  static const double truth[][2] = {{0.8, 0.4}, {0.8, -0.2}};
  for (int i = 0; i < 8; i++) {
    const double *limit = limits[i / 2],
                 y[] = {truth[i % 2][0] + truth[i % 2][1], truth[i % 2][0] - 2 * truth[i % 2][1]};
    const double P[] = {var_x, 0, 0, var_p};
    const od_function f = {.nx = 1,
                           .ny = 2,
                           .np = 1,
                           .x0 = &start_x,
                           .p = &start_p,
                           .f = rest,
                           .f_jacobians = rest_slopes,
                           .h = both,
                           .h_jacobians = both_slopes};
    od_plant *plant = NULL;
    double x, p, got;
    assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
    const od_observer_options options = {.filter = od_filter_find("relinearising"),
                                         .sensor_sigma = sigma,
                                         .low = &limit[0],
                                         .high = &limit[1],
                                         // A whole window with a parameter beyond its bound makes the filter fall back.
                                         .choice = (const double[]){2 * SAMPLES, 0, 0}};
    od_observer *o = od_observer_new(plant, &options);
    assert_non_null(o);
    od_error err = {0};
    if (od_observer_check(&options, &err) != OD_OK) fail_msg("%s", err.text);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
    assert_true(od_observer_bias(o)[0] == 0 && od_observer_bias(o)[1] == 0);
    for (int k = 0; k <= SAMPLES; k++) {
      if (k > 0) assert_int_equal(od_observer_predict(o, step, NULL, NULL, NULL), OD_OK);
      assert_int_equal(od_observer_correct(o, y), OD_OK);
    }
    least_squares(y, limit[0], limit[1], &x, &p);
    got = od_observer_parameters(o)[0];
    print_message("%g to %g: %.9f %.9f, by hand %.9f %.9f\n", limit[0], limit[1], od_observer_state(o)[0], got, x, p);
    near(got, p, 1e-7);
    near(od_observer_state(o)[0], x, 1e-7);
    od_observer_free(o);
    od_plant_free(plant);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bounds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
