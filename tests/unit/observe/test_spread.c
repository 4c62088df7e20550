// Clipped outputs: their uncertainty, and their use as sensors. Oracles: closed forms of one and two constant states;
// the normal distribution.
#include <math.h>

#include "support/test.h"
#include "oleodyn/observer.h"

// Two constant states. Outputs: the first, not below zero; the second, within +-1; their sum; zero like a stop that is
// not touched until the first reaches 100.
enum { NX = 2, NY = 4 };
static int rest(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  dx[0] = dx[1] = 0;
  return 0;
}
static int rest_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                          double *fu, double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fu, (void)fp;
  for (int i = 0; fx && i < NX * NX; i++) fx[i] = 0;
  return 0;
}
static int clipped(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = fmax(x[0], 0);
  y[1] = fmin(fmax(x[1], -1), 1);
  y[2] = x[0] + 2 * x[1];
  y[3] = fmax(x[0] - 100, 0);
  return 0;
}
static int clipped_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                             double *hu, double *hp) {
  (void)user, (void)t, (void)u, (void)p, (void)hu, (void)hp;
  const double rows[NY][NX] = {{x[0] > 0, 0}, {0, fabs(x[1]) < 1}, {1, 2}, {x[0] > 100, 0}};
  for (int i = 0; hx && i < NY * NX; i++) hx[i] = rows[i / NX][i % NX];
  return 0;
}

static const double noise[NY] = {0.1, 0.1, 0.1, 0.1};
static od_plant *make_plant(const double *x0) {
  od_function fn = {.nx = NX,
                    .ny = NY,
                    .x0 = x0,
                    .f = rest,
                    .f_jacobians = rest_jacobians,
                    .h = clipped,
                    .h_jacobians = clipped_jacobians};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
  return plant;
}

static void outputs_of(od_covariance_form form, const double *x0, const double *P, double *y, double *sigma) {
  od_plant *plant = make_plant(x0);
  od_observer *o = od_observer_new(plant, &(od_observer_options){.form = form, .sensor_sigma = noise});
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
  assert_int_equal(od_observer_outputs(o, y, sigma), OD_OK);
  assert_true(od_observer_state(o)[0] == x0[0] && od_observer_state(o)[1] == x0[1]);
  od_observer_free(o);
  od_plant_free(plant);
}

// Linear outputs have sqrt(h P h'), correlated or not; clipped ones use points sqrt(3) sigmas over the edge.
static void clipped_outputs_are_uncertain(void **state) {
  (void)state;
  const double P[] = {4, 1, 1, 1}, c = sqrt(3);
  double y[NY], sigma[NY];
  for (int form = OD_FORM_SQUARE_ROOT; form <= OD_FORM_JOSEPH; form++) {
    outputs_of((od_covariance_form)form, (double[]){10, 0}, P, y, sigma);
    assert_true(y[0] == 10 && fabs(sigma[0] - 2) < 1e-12);
    assert_true(y[1] == 0 && fabs(sigma[1] - 1) < 1e-12);
    assert_true(fabs(sigma[2] - sqrt(4 + 4 * 1 + 4 * 1)) < 1e-12);
    assert_true(sigma[3] == 0);
    outputs_of((od_covariance_form)form, (double[]){-1, 1.5}, P, y, sigma);
    assert_true(y[0] == 0 && fabs(sigma[0] - (2 * c - 1) / c) < 1e-12);
    assert_true(y[1] == 1 && fabs(sigma[1] - (c - 0.5) / c) < 1e-12);
    assert_true(fabs(sigma[2] - sqrt(12)) < 1e-12);
    // Far beyond the edge the other side has no effect.
    outputs_of((od_covariance_form)form, (double[]){-50, 0}, P, y, sigma);
    assert_true(y[0] == 0 && sigma[0] == 0);
  }
}

// Coverage of 1.96 sigma for a drawn state's output: the probability that the state is below y + 1.96 sigma. At least
// 95 % if the estimate is less than a standard deviation beyond the edge.
static void intervals_hold(void **state) {
  (void)state;
  const double P[] = {1, 0, 0, 1};
  for (double x = -1; x <= 0; x += 0.1) {
    double y[NY], sigma[NY];
    outputs_of(OD_FORM_SQUARE_ROOT, (double[]){x, 0}, P, y, sigma);
    double covered = 0.5 * erfc(-(1.96 * sigma[0] - x) / sqrt(2));
    assert_true(covered > 0.95);
  }
}

// The reading is 5, the estimate is -1 +- 2, where the sensor has no slope. A filter that uses this slope stays there
// forever; a correct one finds 5.
static void clipped_sensors_are_heard(void **state) {
  (void)state;
  const double P[] = {4, 0, 0, 1}, x0[] = {-1, 0}, y[NY] = {5, NAN, NAN, NAN};
  for (int form = OD_FORM_SQUARE_ROOT; form <= OD_FORM_JOSEPH; form++) {
    od_plant *plant = make_plant(x0);
    const od_observer_options options = {.form = (od_covariance_form)form, .sensor_sigma = noise, .gate = 5};
    od_observer *o = od_observer_new(plant, &options);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
    for (int k = 0; k < 5; k++) {
      assert_int_equal(od_observer_predict(o, 0.01, NULL, NULL, NULL), OD_OK);
      assert_int_equal(od_observer_correct(o, y), OD_OK);
      print_message("state %.4f, innovation %.3f +- %.3f\n", od_observer_state(o)[0],
                    od_observer_innovations(o)[0].value, od_observer_innovations(o)[0].sigma);
    }
    assert_true(fabs(od_observer_state(o)[0] - 5) < 0.1);
    od_observer_free(o);
    od_plant_free(plant);
  }
}

// The innovation of a clipped sensor: moments of max(x, 0) by Gauss and Hermite's three points, at x = -1 and -1 +- 2 sqrt(3). The outer
// ones have the
// weight 1/6, and the values 2 sqrt(3) - 1 and 0. The standard deviation has the sensor's noise as well.
static void moments_of_clipped_sensors(void **state) {
  (void)state;
  const double P[] = {4, 0, 0, 1}, x0[] = {-1, 0}, y[NY] = {5, NAN, NAN, NAN}, high = 2 * sqrt(3) - 1;
  od_plant *plant = make_plant(x0);
  od_observer *o = od_observer_new(plant, &(od_observer_options){.sensor_sigma = noise, .gate = 5});
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
  assert_int_equal(od_observer_correct(o, y), OD_OK);
  double mean = high / 6, variance = high * high / 6 - mean * mean;
  near(od_observer_innovations(o)[0].value, 5 - mean, 1e-9);
  near(od_observer_innovations(o)[0].sigma, sqrt(variance + noise[0] * noise[0]), 1e-9);
  od_observer_free(o);
  od_plant_free(plant);
}

// A reading of zero agrees with an estimate below zero: no correction.
static void agreeing_sensors_change_nothing(void **state) {
  (void)state;
  const double P[] = {4, 0, 0, 1}, x0[] = {-1, 0}, y[NY] = {0.05, NAN, NAN, NAN};
  od_plant *plant = make_plant(x0);
  od_observer *o = od_observer_new(plant, &(od_observer_options){.sensor_sigma = noise});
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
  assert_int_equal(od_observer_correct(o, y), OD_OK);
  assert_true(od_observer_state(o)[0] == -1 && od_observer_covariance(o)[0] == 4);
  od_observer_free(o);
  od_plant_free(plant);
}

// A plant that lists its edges: only outputs that may be at an edge are treated as clipped; without such outputs there
// is no extra work.
static void first_is_at_edge(const od_plant *plant, const double *x, unsigned char *at_edge) {
  for (int i = 0; i < plant->ny; i++) at_edge[i] = i == 0 && x[0] < 0;
}

static void only_edges_clip(void **state) {
  (void)state;
  const double P[] = {4, 0, 0, 1};
  for (int known = 0; known < 2; known++)
    for (int side = -1; side <= 1; side += 2) {
      const double x0[] = {side, 1.5};
      od_plant *plant = make_plant(x0);
      od_plant_ops ops = *plant->ops;
      od_plant knowing = *plant;
      ops.edges = known ? first_is_at_edge : NULL;
      knowing.ops = &ops;
      od_observer *o = od_observer_new(&knowing, &(od_observer_options){.sensor_sigma = noise});
      double y[NY], sigma[NY];
      assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
      assert_int_equal(od_observer_may_clip(o), !known || side < 0);
      assert_int_equal(od_observer_outputs(o, y, sigma), OD_OK);
      assert_int_equal(od_observer_clipped(o, 0), side < 0);
      assert_int_equal(od_observer_clipped(o, 1), !known);
      assert_true(fabs(sigma[1] - (sqrt(3) - 0.5) / sqrt(3)) < 1e-12);  // if it is listed
      od_observer_free(o);
      od_plant_free(plant);
    }
}

// A known state times an unknown gain, in saturation: y = min(p x, 1).
static int saturated(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u;
  y[0] = fmin(p[0] * x[0], 1);
  return 0;
}
static int saturated_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                               double *hu, double *hp) {
  (void)user, (void)t, (void)u, (void)hu;
  bool free = p[0] * x[0] < 1;
  if (hx) hx[0] = free ? p[0] : 0, hx[1] = 0;
  if (hp) hp[0] = free ? x[0] : 0;
  return 0;
}
static int rest_whatever(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                         double *fu, double *fp) {
  for (int i = 0; fp && i < NX; i++) fp[i] = 0;
  return rest_jacobians(user, t, x, u, p, fx, fu, NULL);
}

// The output has the uncertainty of the gain, although it has no slope: sqrt(3) sigmas below it is 1.5 - sqrt(3).
static void parameters_spread_clipped_outputs(void **state) {
  (void)state;
  const double x0[] = {1, 0}, p0[] = {1.5}, P[] = {0, 0, 0, 0, 0, 0, 0, 0, 1}, c = sqrt(3);
  od_function fn = {.nx = NX,
                    .ny = 1,
                    .np = 1,
                    .x0 = x0,
                    .p = p0,
                    .f = rest,
                    .f_jacobians = rest_whatever,
                    .h = saturated,
                    .h_jacobians = saturated_jacobians};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
  od_observer *o = od_observer_new(plant, &(od_observer_options){.sensor_sigma = noise});
  double y, sigma;
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
  assert_int_equal(od_observer_outputs(o, &y, &sigma), OD_OK);
  assert_true(y == 1 && fabs(sigma - (c - 0.5) / c) < 1e-12);
  assert_true(od_observer_clipped(o, 0));
  od_observer_free(o);
  // The gain is at least 0.8, so the output is at least 0.8.
  const double low = 0.8, high = 10;
  o = od_observer_new(plant, &(od_observer_options){.sensor_sigma = noise, .low = &low, .high = &high});
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
  assert_int_equal(od_observer_outputs(o, &y, &sigma), OD_OK);
  assert_true(y == 1 && fabs(sigma - 0.2 / c) < 1e-12);
  od_observer_free(o);
  od_plant_free(plant);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clipped_outputs_are_uncertain),    cmocka_unit_test(intervals_hold),
      cmocka_unit_test(clipped_sensors_are_heard),        cmocka_unit_test(moments_of_clipped_sensors),
      cmocka_unit_test(agreeing_sensors_change_nothing),  cmocka_unit_test(only_edges_clip),
      cmocka_unit_test(parameters_spread_clipped_outputs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
