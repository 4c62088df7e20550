// The local error of the trapezoidal rule on x' = u - x, in steps of different length and after a jump of the input. Oracles: the divided
// difference of the last three rates where these are smooth; after a jump the difference of the last two rates alone.
#include <stdlib.h>

#include "support/test.h"

#include "oleodyn/sim.h"

static int f(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)p;
  dx[0] = u[0] - x[0], dx[1] = 3 * x[0] - 2 * x[1];
  return 0;
}
static int jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                     double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fp;
  if (fx) fx[0] = -1, fx[1] = 0, fx[2] = 3, fx[3] = -2;
  if (fu) fu[0] = 1, fu[1] = 0;
  return 0;
}

// A step of length h with constant inputs; keeps the rates at both ends.
static void take(od_sim *sim, double h, double rate[2][2]) {
  for (int i = 0; i < 2; i++) rate[0][i] = od_sim_rates(sim)[i];
  const double u = od_sim_inputs(sim)[0];
  assert_int_equal(od_sim_step(sim, h, &u), OD_OK);
  for (int i = 0; i < 2; i++) rate[1][i] = od_sim_rates(sim)[i];
}

static void errors(void **state) {
  (void)state;
  const double x0[] = {1, -1}, h[] = {0.1, 0.13};
  const od_function function = {.nx = 2, .nu = 1, .x0 = x0, .f = f, .f_jacobians = jacobians};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&function, &plant, NULL), OD_OK);
  // 0: no jump; 1: a jump; 2: the same input again, which is no jump; 3: no earlier step.
  for (int kind = 0; kind < 4; kind++) {
    od_sim *sim = od_sim_new(plant);
    double u = 2, first[2][2], second[2][2], before[2], after[2];
    assert_int_equal(od_sim_set_inputs(sim, &u), OD_BAD_ARGUMENT);
    assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
    if (kind != 3) take(sim, h[0], first);
    if (kind == 1) u = -5;
    if (kind == 1 || kind == 2) assert_int_equal(od_sim_set_inputs(sim, &u), OD_OK);
    take(sim, h[1], second);
    od_sim_local_error(sim, before, after);
    for (int i = 0; i < 2; i++) {
      double change = second[1][i] - second[0][i];
      if (kind == 1 || kind == 3) {
        near_relative(before[i], h[1] / 6 * change, 1e-12);
        near_relative(after[i], -h[1] / 6 * change, 1e-12);
      } else {  // h^3/12 times the second derivative of the rates
        double bend = 2 * (change / h[1] - (first[1][i] - first[0][i]) / h[0]) / (h[0] + h[1]);
        near_relative(before[i], h[1] * h[1] * h[1] / 12 * bend, 1e-9);
        assert_true(after[i] == 0);
      }
    }
    // The step after a jump is smooth again.
    double third[2][2];
    take(sim, h[0], third);
    od_sim_local_error(sim, before, after);
    for (int i = 0; i < 2; i++) {
      double bend = 2 * ((third[1][i] - third[0][i]) / h[0] - (second[1][i] - second[0][i]) / h[1]) / (h[0] + h[1]);
      near_relative(before[i], h[0] * h[0] * h[0] / 12 * bend, 1e-9);
      assert_true(after[i] == 0);
    }
    od_sim_free(sim);
  }
  od_plant_free(plant);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
