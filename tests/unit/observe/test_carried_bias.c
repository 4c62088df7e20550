// The bias of an estimate over a step, bias <- A (bias + before) + B bias_p + after, for all sizes around the width of vectors. Oracle: sums in
// the order of the formula.
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "observe/observer_block.h"
#include "oleodyn/oleodyn.h"

enum { MOST = 10 };

static int rest(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)t, (void)x, (void)u, (void)p;
  memset(dx, 0, (size_t) * (int *)user * sizeof *dx);
  return 0;
}
static int slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                  double *fp) {
  size_t nx = (size_t) * (int *)user;
  (void)t, (void)x, (void)u, (void)p, (void)fu;
  if (fx) memset(fx, 0, nx * nx * sizeof *fx);
  if (fp) memset(fp, 0, nx * (size_t)((int *)user)[1] * sizeof *fp);
  return 0;
}

static double number(int i) {
  return sin(1 + 1.7 * i);
}

static void check(int nx, int np, bool has_before, bool has_after) {
  int sizes[] = {nx, np};
  double zeros[MOST] = {0}, P[4 * MOST * MOST] = {0}, A[MOST * MOST], B[MOST * MOST], before[MOST], after[MOST];
  double want[MOST], start[2 * MOST], sigma[MOST];
  for (int i = 0; i < MOST * MOST; i++) A[i] = number(i), B[i] = number(200 + i);
  for (int i = 0; i < MOST; i++) before[i] = number(400 + i), after[i] = number(500 + i), sigma[i] = 1;
  for (int i = 0; i < nx + np; i++) P[i * (nx + np + 1)] = 1;
  const od_function f = {.nx = nx, .np = np, .x0 = zeros, .p = zeros, .user = sizes, .f = rest, .f_jacobians = slopes};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  od_observer *o = od_observer_new(plant, &(od_observer_options){.sensor_sigma = sigma});
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
  double *bias = od_observer_at(o, o->bias);
  for (int i = 0; i < nx + np; i++) assert_true(bias[i] == 0), start[i] = bias[i] = number(600 + i);
  for (int i = 0; i < nx; i++) {
    want[i] = has_after ? after[i] : 0;
    for (int j = 0; j < nx; j++) want[i] += A[i * nx + j] * (start[j] + (has_before ? before[j] : 0));
    for (int j = 0; j < np; j++) want[i] += B[i * np + j] * start[nx + j];
  }
  od_observer_carry_bias(o, A, B, has_before ? before : NULL, has_after ? after : NULL);
  for (int i = 0; i < nx; i++) near(bias[i], want[i], 1e-13);
  for (int i = 0; i < np; i++) assert_true(bias[nx + i] == start[nx + i]);
  od_observer_free(o);
  od_plant_free(plant);
}

static void all_sizes(void **state) {
  (void)state;
  for (int nx = 1; nx < MOST; nx++)
    for (int np = 0; np < MOST; np++)
      for (int k = 0; k < 4; k++) check(nx, np, k % 2, k / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
