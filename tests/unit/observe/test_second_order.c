// One correction of the second-order filter with two sensors, of which the first is quadratic. Oracle: the equations of the filter in
// closed form, for one state: with y1 = x + c x^2 and y2 = 2 x, the expected values are x + c x^2 + c P and 2 x, and the covariance of both
// is [a^2 P + 2 c^2 P^2 + r1^2, 2 a P; 2 a P, 4 P + r2^2] with a = 1 + 2 c x.
#include <math.h>

#include "support/test.h"
#include "oleodyn/oleodyn.h"

static const double c = 0.35, start_x = 0.8, variance = 0.09, sigma[2] = {0.1, 0.2};

static int rates(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u, (void)p;
  dx[0] = -x[0];
  return 0;
}
static int rate_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                       double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fu, (void)fp;
  if (fx) fx[0] = -1;
  return 0;
}
static int outputs(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = x[0] + c * x[0] * x[0];
  y[1] = 2 * x[0];
  return 0;
}
static int output_slopes(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                         double *hu, double *hp) {
  (void)user, (void)t, (void)u, (void)p, (void)hu, (void)hp;
  if (hx) hx[0] = 1 + 2 * c * x[0], hx[1] = 2;
  return 0;
}

static void one_correction(void **state) {
  (void)state;
  const od_function f = {.nx = 1,
                         .ny = 2,
                         .x0 = &start_x,
                         .f = rates,
                         .f_jacobians = rate_slopes,
                         .h = outputs,
                         .h_jacobians = output_slopes};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  for (int used = 1; used < 4; used++) {  // bits: which sensors have a value
    const od_observer_options options = {.filter = od_filter_find("second-order-ekf"), .sensor_sigma = sigma};
    od_observer *o = od_observer_new(plant, &options);
    assert_non_null(o);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, &variance, NULL), OD_OK);
    const double P = variance, x = start_x, a = 1 + 2 * c * x, y[2] = {used & 1 ? 1.3 : NAN, used & 2 ? 1.1 : NAN};
    assert_int_equal(od_observer_correct(o, y), OD_OK);
    const double e[2] = {y[0] - (x + c * x * x + c * P), y[1] - 2 * x}, b[2] = {a * P, 2 * P};
    const double S[3] = {a * a * P + 2 * c * c * P * P + sigma[0] * sigma[0], 2 * a * P, 4 * P + sigma[1] * sigma[1]};
    double K[2] = {b[0] / S[0], 0}, moved, left;
    if (used == 2) K[0] = 0, K[1] = b[1] / S[2];
    if (used == 3) {
      const double D = S[0] * S[2] - S[1] * S[1];
      K[0] = (b[0] * S[2] - b[1] * S[1]) / D, K[1] = (b[1] * S[0] - b[0] * S[1]) / D;
    }
    moved = (used & 1 ? K[0] * e[0] : 0) + (used & 2 ? K[1] * e[1] : 0);
    left = P - K[0] * b[0] - K[1] * b[1];
    near(od_observer_state(o)[0], x + moved, 1e-6);
    near(od_observer_covariance(o)[0], left, 1e-6);
    od_observer_free(o);
  }
  od_plant_free(plant);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_correction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
