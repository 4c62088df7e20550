// The complex residual of functions as plants (od_complex_ops): its real part is the residual, its imaginary part is the derivative along
// the imaginary parts of state, rates and one parameter. Oracles: the real residual at the same point, and the derivatives of the plant.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "model/model.h"
#include "oleodyn/oleodyn.h"
#include "support/random_machine.h"

enum { MOST = 40 };
static const double h = 1e-60;  // imaginary step

// Whether check() evaluates the complex residual at velocities that are not numbers before each point.
static bool fail_before;

// Compares the complex residual at a random point with the residual and its derivatives, for all parameters and without one.
static void check(const od_plant *plant, uint64_t seed, int *compared) {
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant), np = plant->np;
  assert_true(nx <= MOST && np <= MOST);
  void *work = calloc(1, plant->work_size + 64);
  const od_complex_ops *ops = plant->ops->in_complex;
  void *memory = calloc(1, ops->memory(plant));
  double *gx = calloc((size_t)(nk * nx + 1), sizeof *gx), *gk = calloc((size_t)(nk * nk + 1), sizeof *gk),
         *gp = calloc((size_t)(nk * np + 1), sizeof *gp);
  double x[MOST], k[MOST], u[MOST], g[MOST], X[2 * MOST], K[2 * MOST], G[2 * MOST], dx[MOST], dk[MOST];
  assert_true(work && memory && gx && gk && gp);
  od_dice dice = {seed};
  assert_int_equal(plant->ops->start(plant, work, x), OD_OK);
  for (int i = 0; i < plant->nu; i++) u[i] = od_dice_uniform(&dice, -1, 1);
  for (int round = 0; round < 2; round++) {
    // No state is zero, where friction and contacts have corners.
    for (int i = 0; i < nx; i++) x[i] += od_dice_uniform(&dice, 1e-4, 1e-3) * (1 + fabs(x[i]));
    for (int i = 0; i < nk; i++) k[i] = od_dice_uniform(&dice, -1, 1);
    if (plant->ops->residual(plant, work, 0.3, x, k, u, g) != OD_OK) break;
    if (plant->ops->jacobians(plant, work, gx, gk, NULL) != OD_OK) break;
    if (np) assert_int_equal(plant->ops->parameter_jacobian(plant, work, gp), OD_OK);
    for (int parameter = -1; parameter < np; parameter++) {
      for (int i = 0; i < nx; i++) dx[i] = od_dice_uniform(&dice, -1, 1), X[2 * i] = x[i], X[2 * i + 1] = h * dx[i];
      for (int i = 0; i < nk; i++) dk[i] = od_dice_uniform(&dice, -1, 1), K[2 * i] = k[i], K[2 * i + 1] = h * dk[i];
      if (plant->ops->residual(plant, work, 0.3, x, k, u, g) != OD_OK) break;
      if (fail_before) {
        double bad[2 * MOST];
        memcpy(bad, X, sizeof bad);
        for (int i = 0; i < plant->nz; i++) bad[2 * (plant->nz + i)] = NAN;
        assert_int_equal(ops->begin(plant, work, memory, parameter, h), OD_OK);
        assert_int_not_equal(ops->residual(plant, work, memory, bad, K, G), OD_OK);
      }
      assert_int_equal(ops->begin(plant, work, memory, parameter, h), OD_OK);
      assert_int_equal(ops->residual(plant, work, memory, X, K, G), OD_OK);
      for (int i = 0; i < nk; i++) {
        double slope = 0, size = fabs(g[i]);
        for (int j = 0; j < nx; j++) slope += gx[i * nx + j] * dx[j], size += fabs(gx[i * nx + j]);
        for (int j = 0; j < nk; j++) slope += gk[i * nk + j] * dk[j], size += fabs(gk[i * nk + j]);
        if (parameter >= 0) slope += gp[i * np + parameter], size += fabs(gp[i * np + parameter]);
        near(G[2 * i], g[i], 1e-9 * size);
        near(G[2 * i + 1] / h, slope, 1e-7 * size);
      }
      ++*compared;
    }
  }
  free(work), free(memory), free(gx), free(gk), free(gp);
}

// ---- a function

typedef double _Complex number;

static void pendulum(const number *x, const number *u, const number *p, number *dx) {
  dx[0] = x[1] * p[1];
  dx[1] = u[0] * x[2] - p[0] * x[0] * x[0];
  dx[2] = p[1] * x[0] - x[2] * x[1] + u[1];
}
static int rates(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  number X[3] = {x[0], x[1], x[2]}, U[2] = {u[0], u[1]}, P[2] = {p[0], p[1]}, D[3];
  pendulum(X, U, P, D);
  for (int i = 0; i < 3; i++) dx[i] = ((double *)D)[2 * i];
  return 0;
}
static int rates_complex(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  number X[3], U[2], P[2], D[3];
  memcpy(X, x, sizeof X), memcpy(U, u, sizeof U), memcpy(P, p, sizeof P);
  pendulum(X, U, P, D);
  memcpy(dx, D, sizeof D);
  return 0;
}
static int slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                  double *fp) {
  (void)user, (void)t;
  const double by_x[] = {0, p[1], 0, -2 * p[0] * x[0], 0, u[0], p[1], -x[2], -x[1]};
  const double by_u[] = {0, 0, x[2], 0, 0, 1}, by_p[] = {0, x[1], -x[0] * x[0], 0, 0, x[0]};
  if (fx) memcpy(fx, by_x, sizeof by_x);
  if (fu) memcpy(fu, by_u, sizeof by_u);
  if (fp) memcpy(fp, by_p, sizeof by_p);
  return 0;
}

static void test_function(void **state) {
  (void)state;
  const double x0[] = {1, 2, -0.7}, p[] = {0.4, 1.3};
  od_function f = {
      .nx = 3, .nu = 2, .np = 2, .x0 = x0, .p = p, .f = rates, .f_complex = rates_complex, .f_jacobians = slopes};
  for (int by_complex = 0; by_complex < 2; by_complex++) {
    od_plant *plant = NULL;
    int compared = 0;
    if (by_complex) f.f_jacobians = NULL;  // derivatives by the complex function
    assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
    check(plant, 3, &compared);
    assert_int_equal(compared, 6);
    od_plant_free(plant);
  }
}

// Random machines with numbers of the mechanism and of the circuit as parameters, one after the other in the same memory.
static void test_machines(void **state) {
  (void)state;
  int machines = 0, compared = 0, mechanical = 0;
  for (uint64_t seed = 1; machines < 25 && seed < 500; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, false, true, false);
    if (!m) continue;
    int parameter[6], np = 0;
    od_plant *plant = NULL;
    for (int i = 0; i < 6; i++) {
      parameter[np] = (int)((long)i * (m->numbers - 1) / 5);
      if (np > 0 && parameter[np] == parameter[np - 1]) continue;
      if (od_model_plant(m, NULL, 0, &parameter[np], 1, &plant, NULL) == OD_OK)
        np++;  // axes of planar machines are no parameters
      od_plant_free(plant), plant = NULL;
    }
    assert_int_equal(od_model_plant(m, NULL, 0, parameter, np, &plant, NULL), OD_OK);
    if (od_plant_nx(plant) <= MOST && plant->nu <= MOST && plant->ops->in_complex) {
      machines++;
      mechanical += plant->nz > 0;
      check(plant, seed, &compared);
    }
    od_plant_free(plant);
    od_model_free(m);
  }
  print_message("%d machines, %d of them with bodies: %d residuals compared\n", machines, mechanical, compared);
  assert_true(machines == 25 && mechanical > 5 && compared > 200);
}

// Machines with loops, each point after an evaluation at velocities that are not numbers, in the same memory. Their predictions use velocities
// and accelerations of the last point.
static void test_after_failures(void **state) {
  (void)state;
  int machines = 0, compared = 0, rows = 0;
  for (uint64_t seed = 1; machines < 10 && seed < 400; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, true, seed % 3 == 0, false);
    if (!m || m->rows == 0) {
      od_model_free(m);
      continue;
    }
    od_plant *plant = NULL;
    assert_int_equal(od_model_plant(m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
    if (od_plant_nx(plant) <= MOST && plant->nu <= MOST && plant->ops->in_complex) {
      machines++;
      rows = m->rows > rows ? m->rows : rows;
      fail_before = true;
      check(plant, seed, &compared);
      fail_before = false;
    }
    od_plant_free(plant);
    od_model_free(m);
  }
  print_message("%d machines with up to %d rows: %d residuals compared\n", machines, rows, compared);
  assert_true(machines == 10 && rows > 2 && compared >= 15);
}

// A function that fails at one of its calls: no derivatives, whichever column fails.
static int calls_left;
static int fails_once(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  if (calls_left-- == 0) return 1;
  return rates_complex(user, t, x, u, p, dx);
}
static void test_failed_columns(void **state) {
  (void)state;
  const double x0[] = {1, 2, -0.7}, p[] = {0.4, 1.3}, u[] = {0.1, 0.2};
  const od_function f = {.nx = 3, .nu = 2, .np = 2, .x0 = x0, .p = p, .f = rates, .f_complex = fails_once};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  int calls = -1;  // number of calls without a failure: at least one for each state, input and parameter
  for (int call = -1; call < calls || calls < 0; call++) {
    double rate[3], fx[9], fu[6], fp[6];
    calls_left = 1000;
    assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
    calls_left = call < 0 ? 1000 : call;
    od_status status = od_sim_derivatives(sim, rate, fx, fu, fp);
    if (call < 0) calls = 1000 - calls_left;
    if ((status == OD_OK) != (call < 0)) fail_msg("call %d of %d: %s", call, calls, od_status_text(status));
    assert_true(calls >= 7);
  }
  od_sim_free(sim);
  od_plant_free(plant);
}

// Without h the outputs are the states: their derivatives are a unit matrix and zeros.
static void test_states_as_outputs(void **state) {
  (void)state;
  const double x0[] = {1, 2, -0.7}, p[] = {0.4, 1.3}, u[] = {0.1, 0.2};
  const od_function f = {.nx = 3, .nu = 2, .np = 2, .x0 = x0, .p = p, .f = rates, .f_jacobians = slopes};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  double y[3], hx[9], hu[6], hp[6];
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  for (int i = 0; i < 9; i++) hx[i] = NAN;
  for (int i = 0; i < 6; i++) hu[i] = hp[i] = NAN;
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  assert_int_equal(od_sim_output_jacobians(sim, hx, hu, hp), OD_OK);
  for (int i = 0; i < 3; i++) assert_true(y[i] == x0[i]);
  for (int i = 0; i < 9; i++) assert_true(hx[i] == (i % 4 == 0));
  for (int i = 0; i < 6; i++) assert_true(hu[i] == 0 && hp[i] == 0);
  od_sim_free(sim);
  od_plant_free(plant);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_function), cmocka_unit_test(test_machines),
                                     cmocka_unit_test(test_after_failures), cmocka_unit_test(test_failed_columns),
                                     cmocka_unit_test(test_states_as_outputs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
