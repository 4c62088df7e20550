// The table of filters, and the functions common to all filters. Oracles: the extended Kalman filter's formulas for one state by
// hand; the exact solution of linear problems; the given bounds and gates.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "filters/filter_types.h"
#include "machine/method_names.h"
#include "oleodyn/oleodyn.h"

// x' = -x + u, with sensors x^2 (nonlinear) and p x, where p is a parameter.
static int lag(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)p;
  dx[0] = u[0] - x[0];
  return 0;
}
static int lag_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                         double *fu, double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  if (fx) fx[0] = -1;
  if (fu) fu[0] = 1;
  if (fp) fp[0] = 0;
  return 0;
}
// Pairs (real, imaginary).
static int complex_lag(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)p;
  for (int i = 0; i < 2; i++) dx[i] = u[i] - x[i];
  return 0;
}
static int sensors(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u;
  y[0] = x[0] * x[0];
  y[1] = p[0] * x[0];
  return 0;
}
static int sensor_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                            double *hu, double *hp) {
  (void)user, (void)t, (void)u;
  if (hx) hx[0] = 2 * x[0], hx[1] = p[0];
  if (hu) hu[0] = hu[1] = 0;
  if (hp) hp[0] = 0, hp[1] = x[0];
  return 0;
}

static od_plant *make_plant(void) {
  static const double x0 = 1, p = 2;
  const od_function f = {.nx = 1,
                         .nu = 1,
                         .ny = 2,
                         .np = 1,
                         .x0 = &x0,
                         .p = &p,
                         .f = lag,
                         .f_complex = complex_lag,
                         .f_jacobians = lag_jacobians,
                         .h = sensors,
                         .h_jacobians = sensor_jacobians};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  return plant;
}

static void names_are_unique_and_found(void **state) {
  (void)state;
  const od_method_names names = od_method_names_filters();
  int count = 0;
  for (const od_filter *f; (f = od_filter_type_at(count)); count++) {
    assert_ptr_equal(od_filter_type_find(f->name), f);
    // Programs that use only the core find its filters, with the same numbers.
    assert_ptr_equal(od_filter_find(f->name), od_filter_at(count));
    assert_string_equal(names.name[count], f->name);
    assert_true(f->description[0] && f->memory && f->predict && f->correct && f->output_sigma);
  }
  assert_true(count >= 2 && count <= OD_MOST_METHODS);
  assert_null(names.name[count]);
  assert_null(od_filter_type_find("kalman"));
  od_plant *plant = make_plant();
  const double sigma[2] = {1, 1};
  od_observer *o = od_observer_new(plant, &(od_observer_options){.sensor_sigma = sigma});
  assert_string_equal(od_observer_filter(o)->name, "iterated-ekf");
  od_observer_free(o);
  od_plant_free(plant);
}

// One correction by a precise, nonlinear sensor after a bad start: the plain filter gives the result of its formulas, the
// iterated one the minimum of its cost, found by a scan. With a limit of one or two passes: the formulas of a Gauss-Newton iteration.
static void the_plain_filter_takes_one_pass(void **state) {
  (void)state;
  const double sigma[2] = {0.01, 1}, P[4] = {0.25, 0, 0, 1e-6}, u = 0, y[2] = {2.25, NAN};
  od_plant *plant = make_plant();
  double gain = 0.25 * 2 / (4 * 0.25 + 1e-4), x = 1 + gain * (2.25 - 1), variance = (1 - gain * 2) * 0.25;
  double best = NAN, least = INFINITY;
  for (double at = 0.5; at < 2.5; at += 1e-6) {
    double cost = pow((at - 1) / 0.5, 2) + pow((2.25 - at * at) / 0.01, 2);
    if (cost < least) least = cost, best = at;
  }
  for (int form = OD_FORM_SQUARE_ROOT; form <= OD_FORM_JOSEPH; form++) {
    od_observer_options options = {
        .filter = od_filter_find("ekf"), .form = (od_covariance_form)form, .sensor_sigma = sigma};
    od_observer *o = od_observer_new(plant, &options);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, &u), OD_OK);
    assert_int_equal(od_observer_correct(o, y), OD_OK);
    assert_true(fabs(od_observer_state(o)[0] - x) < 1e-12);
    assert_true(fabs(od_observer_covariance(o)[0] - variance) < 1e-12);
    od_observer_free(o);
    options.filter = od_filter_find("iterated-ekf");
    o = od_observer_new(plant, &options);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, &u), OD_OK);
    assert_int_equal(od_observer_correct(o, y), OD_OK);
    print_message("plain %.6f, iterated %.6f, least at %.6f\n", x, od_observer_state(o)[0], best);
    assert_true(fabs(od_observer_state(o)[0] - best) < 2e-4 && fabs(x - best) > 0.05);
    od_observer_free(o);
    double at = 1, left = NAN;
    for (double passes = 1; passes <= 2; passes++) {
      double H = 2 * at, K = 0.25 * H / (H * H * 0.25 + 1e-4);
      at = 1 + K * (2.25 - at * at - H * (1 - at)), left = (1 - K * H) * 0.25;
      options.choice = &passes;
      o = od_observer_new(plant, &options);
      assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, &u), OD_OK);
      assert_int_equal(od_observer_correct(o, y), OD_OK);
      assert_true(fabs(od_observer_state(o)[0] - at) < 1e-11);
      assert_true(fabs(od_observer_covariance(o)[0] - left) < 1e-12);
      od_observer_free(o);
    }
  }
  od_plant_free(plant);
}

// For every filter: sensors may be missing, spikes are rejected, parameters stay within their bounds, a copied block continues with
// the same bits, and outputs have a standard deviation.
static void the_frame_is_the_same_around_all(void **state) {
  (void)state;
  const double sigma[2] = {0.05, 0.05}, P[4] = {0.01, 0, 0, 0.04}, low = 1.9, high = 2.05, q[2] = {1e-6, 0};
  od_plant *plant = make_plant();
  for (int k = 0; od_filter_type_at(k); k++) {
    const od_observer_options options = {
        .filter = od_filter_type_at(k), .sensor_sigma = sigma, .gate = 4, .low = &low, .high = &high};
    od_observer *o = od_observer_new(plant, &options);
    size_t size = od_observer_block_size(o);
    assert_int_equal(size, od_observer_size(plant, &options));
    od_observer *copy = malloc(size);
    double u = 1, y[2], out[2], out_sigma[2];
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, &u), OD_OK);
    for (int i = 1; i <= 200; i++) {
      if (i == 100) memcpy(copy, o, size);
      assert_int_equal(od_observer_predict(o, 0.01, &u, NULL, q), OD_OK);
      // The true machine stays at x = 1; its parameter, 2.3, is beyond the upper bound.
      y[0] = i % 3 == 0 ? (double)NAN : 1 + 0.01 * sin(7.0 * i);
      y[1] = i == 50 ? 40 : 2.3 + 0.01 * cos(3.0 * i);
      assert_int_equal(od_observer_correct(o, y), OD_OK);
      assert_int_equal(od_observer_innovations(o)[0].use, i % 3 == 0 ? OD_SENSOR_MISSING : OD_SENSOR_USED);
      if (i == 50) assert_int_equal(od_observer_innovations(o)[1].use, OD_SENSOR_GATED);
      assert_true(od_observer_parameters(o)[0] <= high && od_observer_parameters(o)[0] >= low);
    }
    assert_true(fabs(od_observer_parameters(o)[0] - high) < 1e-12);
    assert_true(fabs(od_observer_state(o)[0] - 1) < 0.15);
    assert_int_equal(od_observer_outputs(o, out, out_sigma), OD_OK);
    assert_true(out_sigma[0] > 0 && out_sigma[1] > 0 && out_sigma[0] < 1);
    for (int i = 100; i <= 200; i++) {
      assert_int_equal(od_observer_predict(copy, 0.01, &u, NULL, q), OD_OK);
      y[0] = i % 3 == 0 ? (double)NAN : 1 + 0.01 * sin(7.0 * i);
      y[1] = 2.3 + 0.01 * cos(3.0 * i);
      assert_int_equal(od_observer_correct(copy, y), OD_OK);
    }
    assert_true(od_observer_state(copy)[0] == od_observer_state(o)[0]);
    assert_true(od_observer_parameter_sigma(copy, 0) == od_observer_parameter_sigma(o, 0));
    od_observer_free(o);
    free(copy);
  }
  od_plant_free(plant);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_unique_and_found),
                                     cmocka_unit_test(the_plain_filter_takes_one_pass),
                                     cmocka_unit_test(the_frame_is_the_same_around_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
