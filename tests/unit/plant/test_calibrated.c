// Plants with bias and scale of sensors. Oracle: the same plant with the calibrations written into its outputs by hand,
// with derivatives by complex steps.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/plant.h"
#include "oleodyn/sim.h"
#include "support/machines.h"

// x1' = -p1 x1 + x1 x2 + u, x2' = -p2 x2 sin(x1); h = (x1^2 p1, x2 + u, x1). Complex numbers are pairs.
static int f_complex(void *user, double t, const double *xs, const double *us, const double *ps, double *dxs) {
  (void)user, (void)t;
  const double complex *x = (const void *)xs, *u = (const void *)us, *p = (const void *)ps;
  double complex *dx = (void *)dxs;
  dx[0] = -p[0] * x[0] + x[0] * x[1] + u[0];
  dx[1] = -p[1] * x[1] * csin(x[0]);
  return 0;
}

static int f_real(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  dx[0] = -p[0] * x[0] + x[0] * x[1] + u[0];
  dx[1] = -p[1] * x[1] * sin(x[0]);
  return 0;
}

static int h_complex(void *user, double t, const double *xs, const double *us, const double *ps, double *ys) {
  (void)t;
  const double complex *x = (const void *)xs, *u = (const void *)us, *p = (const void *)ps;
  double complex *y = (void *)ys;
  y[0] = x[0] * x[0] * p[0];
  y[1] = x[1] + u[0];
  y[2] = x[0];
  if (!user) return 0;
  // By hand: bias of output 1, scale and bias of output 0.
  y[1] += p[2];
  y[0] = p[3] * y[0] + p[4];
  return 0;
}

static int h_real(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  double complex cx[2] = {x[0], x[1]}, cu[1] = {u[0]}, cp[5] = {p[0], p[1]}, cy[3];
  for (int i = 2; user && i < 5; i++) cp[i] = p[i];
  h_complex(user, t, (const double *)cx, (const double *)cu, (const double *)cp, (double *)cy);
  for (int i = 0; i < 3; i++) y[i] = creal(cy[i]);
  return 0;
}

static od_plant *plant_of(int calibrations_by_hand) {
  static int yes = 1;
  static const double x0[] = {0.7, -0.4}, p[] = {0.9, 1.3, 0, 1, 0};
  const od_function fn = {.nx = 2,
                          .nu = 1,
                          .ny = 3,
                          .np = calibrations_by_hand ? 5 : 2,
                          .x0 = x0,
                          .p = p,
                          .user = calibrations_by_hand ? &yes : NULL,
                          .f = f_real,
                          .h = h_real,
                          .f_complex = f_complex,
                          .h_complex = h_complex};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
  return plant;
}

static void expect_near(const double *a, const double *b, int count) {
  for (int i = 0; i < count; i++) assert_true(fabs(a[i] - b[i]) <= 1e-13 * (1 + fabs(b[i])));
}

static void same_as_by_hand(void **state) {
  (void)state;
  const od_calibration item[] = {{1, OD_CALIBRATE_BIAS}, {0, OD_CALIBRATE_SCALE}, {0, OD_CALIBRATE_BIAS}};
  od_plant *by_hand = plant_of(1), *wrapped = NULL;
  assert_int_equal(od_plant_calibrated(plant_of(0), item, 3, &wrapped, NULL), OD_OK);
  assert_int_equal(wrapped->np, 5);
  od_sim *a = od_sim_new(by_hand), *b = od_sim_new(wrapped);
  double u = 0.3, p[5], q[5] = {0.8, 1.4, 0.05, 1.1, -0.2};
  assert_int_equal(od_sim_start(a, 0, &u), OD_OK);
  assert_int_equal(od_sim_start(b, 0, &u), OD_OK);
  od_sim_parameters(b, p);
  assert_true(p[2] == 0 && p[3] == 1 && p[4] == 0);
  assert_int_equal(od_sim_set_parameters(a, q), OD_OK);
  assert_int_equal(od_sim_set_parameters(b, q), OD_OK);
  for (int k = 0; k < 50; k++) {
    double Fa[4], Fb[4], Ga[10], Gb[10], ya[3], yb[3], hxa[6], hxb[6], hua[3], hub[3], hpa[15], hpb[15];
    assert_int_equal(od_sim_step_with_jacobians(a, 0.02, &u, Fa, NULL, NULL, Ga), OD_OK);
    assert_int_equal(od_sim_step_with_jacobians(b, 0.02, &u, Fb, NULL, NULL, Gb), OD_OK);
    assert_int_equal(od_sim_outputs(a, ya), OD_OK);
    assert_int_equal(od_sim_outputs(b, yb), OD_OK);
    assert_int_equal(od_sim_output_jacobians(a, hxa, hua, hpa), OD_OK);
    assert_int_equal(od_sim_output_jacobians(b, hxb, hub, hpb), OD_OK);
    expect_near(Fb, Fa, 4);
    expect_near(Gb, Ga, 10);
    expect_near(yb, ya, 3);
    expect_near(hxb, hxa, 6);
    expect_near(hub, hua, 3);
    expect_near(hpb, hpa, 15);
  }
  od_sim_free(a);
  od_sim_free(b);
  od_plant_free(by_hand);
  od_plant_free(wrapped);
}

// An output that is an integral over time, scaled: y = scale h, so that dy/dscale = y / scale for any h.
static void scale_of_an_integral(void **state) {
  (void)state;
  const od_calibration item = {0, OD_CALIBRATE_SCALE};
  od_machine *machine = od_test_machine("cases/slider-crank/machine.yaml", "main.damping=2 N m s/rad", NULL);
  int output = od_machine_output_find(machine, "energy.dissipated");
  od_plant *inner = NULL, *plant = NULL;
  assert_true(output >= 0);
  assert_int_equal(od_machine_plant(machine, &output, 1, NULL, 0, &inner, NULL), OD_OK);
  assert_int_equal(od_plant_calibrated(inner, &item, 1, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  double scale = 1.25, y, slope;
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  assert_int_equal(od_sim_set_parameters(sim, &scale), OD_OK);
  for (int i = 0; i < 100; i++) assert_int_equal(od_sim_step(sim, 1e-3, NULL), OD_OK);
  assert_int_equal(od_sim_outputs(sim, &y), OD_OK);
  assert_int_equal(od_sim_output_jacobians(sim, NULL, NULL, &slope), OD_OK);
  print_message("dissipated, scaled by %g: %.6g J; derivative by the scale %.6g J\n", scale, y, slope);
  assert_true(y > 1);
  expect_near(&slope, &(double){y / scale}, 1);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
}

// Complex arithmetic of the wrapped plant: a calibration moves neither states nor parameters of the inner plant, so the imaginary part of the
// residual is zero for each calibration, and the derivative with respect to the parameter for each parameter of the inner plant. Oracle: the
// equations above, differentiated by hand. The inner plant has several parameters, each with an effect, so none can stand for "none".
static void complex_residual(void **state) {
  (void)state;
  const od_calibration item[] = {{1, OD_CALIBRATE_BIAS}, {0, OD_CALIBRATE_SCALE}, {0, OD_CALIBRATE_BIAS}};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_calibrated(plant_of(0), item, 3, &plant, NULL), OD_OK);
  const od_complex_ops *ops = plant->ops->in_complex;
  assert_non_null(ops);
  void *work = calloc(1, plant->work_size), *memory = calloc(1, ops->memory(plant));
  double x[2], k[2] = {0.4, -0.2}, g[2], gp[10], u = 0.3, q[5] = {0.8, 1.4, 0.05, 1.1, -0.2};
  const double h = 1e-40;
  assert_true(work && memory);
  assert_int_equal(plant->ops->start(plant, work, x), OD_OK);
  assert_int_equal(plant->ops->set_parameters(plant, work, q), OD_OK);
  assert_int_equal(plant->ops->residual(plant, work, 0, x, k, &u, g), OD_OK);
  assert_int_equal(plant->ops->jacobians(plant, work, (double[4]){0}, (double[4]){0}, NULL), OD_OK);
  assert_int_equal(plant->ops->parameter_jacobian(plant, work, gp), OD_OK);
  // g = k - f(x, u, p)
  const double by_hand[2][5] = {{x[0], 0, 0, 0, 0}, {0, x[1] * sin(x[0]), 0, 0, 0}};
  for (int parameter = -1; parameter < 5; parameter++) {
    double X[4] = {x[0], 0, x[1], 0}, K[4] = {k[0], 0, k[1], 0}, G[4] = {NAN, NAN, NAN, NAN};
    assert_int_equal(ops->begin(plant, work, memory, parameter, h), OD_OK);
    assert_int_equal(ops->residual(plant, work, memory, X, K, G), OD_OK);
    for (int i = 0; i < 2; i++) {
      near(G[2 * i], g[i], 1e-15);
      near(G[2 * i + 1] / h, parameter < 0 ? 0 : by_hand[i][parameter], 1e-15);
      if (parameter >= 0) near(gp[5 * i + parameter], by_hand[i][parameter], 1e-15);
    }
  }
  free(work), free(memory);
  od_plant_free(plant);
}

static void wrong_outputs_are_refused(void **state) {
  (void)state;
  const od_calibration item = {3, OD_CALIBRATE_BIAS};
  od_plant *inner = plant_of(0), *out = NULL;
  od_error err = {0};
  assert_int_equal(od_plant_calibrated(inner, &item, 1, &out, &err), OD_BAD_ARGUMENT);
  assert_null(out);
  assert_string_equal(err.text, "a calibration refers to output 3; expected an index from 0 to 2");
  od_plant_free(inner);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_by_hand), cmocka_unit_test(scale_of_an_integral),
                                     cmocka_unit_test(complex_residual), cmocka_unit_test(wrong_outputs_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
