// Derivatives of a step of a very stiff plant: terms as large as h df/dx, from the rates before the step, cancel almost completely, and
// the rules must not lose digits there. The oracle is a linear mass on a spring and a damper: the rules are rational functions of its
// matrix, written here in long double.
#include <math.h>
#include <stdio.h>

#include "support/test.h"
#include "oleodyn/sim.h"
#include "support/machines.h"

// State: position, and speed times h, so that all entries are about 1.
typedef struct matrix {
  long double a[2][2];
} matrix;

// p + q A
static matrix linear(long double p, long double q, const matrix *A) {
  matrix M;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) M.a[i][j] = q * A->a[i][j] + (i == j ? p : 0);
  return M;
}
static matrix product(const matrix *A, const matrix *B) {
  matrix C = {{{0}}};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 2; k++) C.a[i][j] += A->a[i][k] * B->a[k][j];
  return C;
}
// A^-1 B
static matrix quotient(const matrix *A, const matrix *B) {
  long double d = A->a[0][0] * A->a[1][1] - A->a[0][1] * A->a[1][0];
  matrix inverse = {{{A->a[1][1] / d, -A->a[0][1] / d}, {-A->a[1][0] / d, A->a[0][0] / d}}};
  return product(&inverse, B);
}

// (1 - part A/2)^-1 (1 + part A/2)
static matrix trapezoid(const matrix *A, long double part) {
  matrix left = linear(1, -part / 2, A), right = linear(1, part / 2, A);
  return quotient(&left, &right);
}
// Trapezoid to gamma, then x1 = (x2 - (1 - gamma)^2 x0) / (gamma (2 - gamma)) + (1 - gamma) / (2 - gamma) A x1.
static matrix tr_bdf2(const matrix *A) {
  long double gamma = 2 - sqrtl(2), share = gamma * (2 - gamma), left = (1 - gamma) * (1 - gamma);
  matrix x2 = trapezoid(A, gamma), from = linear(-left / share, 1 / share, &x2);
  matrix implicit = linear(1, -(1 - gamma) / (2 - gamma), A);
  return quotient(&implicit, &from);
}

// The largest error of F, with mass m, stiffness k and damping d.
static double error_of(const char *integrator, double m, double k, double d, double h) {
  char text[600];
  snprintf(text, sizeof text,
           "bodies: {load: {point: {mass: %.17g kg}}}\n"
           "joints: {guide: {type: prismatic, between: [ground, load], axis: [1, 0, 0], stiffness: %.17g N/m,\n"
           "         damping: %.17g N s/m}}\n"
           "initial: {guide.position: 0 m}\n",
           m, k, d);
  od_machine *machine = od_test_machine_text(text);
  od_plant *plant;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  assert_non_null(sim);
  od_sim_set_integrator(sim, od_integrator_find(integrator));
  double F[4], u[1] = {0}, worst = 0;
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_int_equal(od_sim_step_with_jacobians(sim, h, u, F, NULL, NULL, NULL), OD_OK);
  matrix A = {{{0, 1}, {-(long double)k * h * h / m, -(long double)d * h / m}}};  // times h
  matrix expected = integrator[2] == '-' ? tr_bdf2(&A) : trapezoid(&A, 1);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      double unit = (i == 0 ? 1 : h) / (j == 0 ? 1 : h);
      worst = fmax(worst, fabs(F[2 * i + j] * unit - (double)expected.a[i][j]));
    }
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
  return worst;
}

static void stiff(void **state) {
  (void)state;
  static const double stiffness[] = {1e3, 1e6, 1e9}, damping[] = {0, 1e3, 1e7};
  static const char *const integrators[] = {"trapezoid", "tr-bdf2"};
  for (int r = 0; r < 2; r++) {
    double worst = 0;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) worst = fmax(worst, error_of(integrators[r], 1.3e-3, stiffness[i], damping[j], 7e-3));
    print_message("%s: derivatives off by at most %.2g\n", integrators[r], worst);
    assert_true(worst < 1e-13);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stiff)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
