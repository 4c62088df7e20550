// The work of steps: evaluations of the residual and factored matrices. Oracle: Newton's method by hand. On a linear plant one correction
// with the exact matrix is exact, so a second evaluation of each stage confirms it, and the matrix of a constant step is factored once. On smooth
// nonlinear plants a good prediction of the rates needs few corrections, and the matrix serves many steps.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/oleodyn.h"
#include "support/machines.h"

static int linear(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)p;
  dx[0] = -2 * x[0] + x[1] + u[0];
  dx[1] = -x[0] - 3 * x[1];
  return 0;
}
static int linear_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                         double *fu, double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fp;
  if (fx) fx[0] = -2, fx[1] = 1, fx[2] = -1, fx[3] = -3;
  if (fu) fu[0] = 1, fu[1] = 0;
  return 0;
}

typedef struct work {
  double residuals, matrices;  // per step
} work;

static work of_steps(const od_plant *plant, const char *integrator, double h, int steps, double (*input)(double)) {
  od_sim *sim = od_sim_new(plant);
  double u[8] = {input ? input(0) : 0};
  od_sim_set_integrator(sim, od_integrator_find(integrator));
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  od_sim_counts before = {0}, after;
  for (int i = 1; i <= steps; i++) {
    if (i == 11) before = od_sim_count(sim);  // after the start of the prediction
    u[0] = input ? input(i * h) : 0;
    assert_int_equal(od_sim_step(sim, h, u), OD_OK);
  }
  after = od_sim_count(sim);
  assert_true(after.steps - before.steps == steps - 10);
  work w = {(double)(after.residuals - before.residuals) / (steps - 10),
            (double)(after.matrices - before.matrices) / (steps - 10)};
  print_message("%s, h = %g: %.3f residuals and %.3f matrices per step\n", integrator, h, w.residuals, w.matrices);
  od_sim_free(sim);
  return w;
}

static double wave(double t) {
  return sin(3 * t);
}

static void test_linear_plant(void **state) {
  (void)state;
  const double x0[] = {1, 2};
  const od_function f = {.nx = 2, .nu = 1, .x0 = x0, .f = linear, .f_jacobians = linear_slopes};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  const double steps[] = {1e-3, 1e-2, 0.1};
  for (int i = 0; i < 3; i++) {
    work w = of_steps(plant, "trapezoid", steps[i], 110, wave);
    assert_true(w.residuals == 2 && w.matrices == 0);
    w = of_steps(plant, "tr-bdf2", steps[i], 110, wave);
    assert_true(w.residuals == 4 && w.matrices == 0);
  }
  od_plant_free(plant);
}

static void test_machines(void **state) {
  (void)state;
  const struct {
    const char *file;
    double step, residuals, matrices;  // most per step of the trapezoidal rule, 3 percent above those of this version
  } cases[] = {{"cases/double-pendulum/machine.yaml", 1e-3, 2.3, 0.24},
               {"cases/slider-crank/machine.yaml", 1e-3, 3.25, 0.49},
               {"cases/fin-servo/machine.yaml", 1e-4, 1, 0},
               {"cases/crane/machine.yaml", 1e-3, 2, 0},
               {"cases/rssr/machine.yaml", 1e-3, 2.68, 0.31}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_test_run r = od_test_begin(od_test_machine(cases[i].file, NULL), NULL);
    print_message("%s: ", cases[i].file);
    work w = of_steps(r.plant, "trapezoid", cases[i].step, 210, NULL);
    assert_true(w.residuals <= cases[i].residuals && w.matrices <= cases[i].matrices);
    od_test_end(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_linear_plant), cmocka_unit_test(test_machines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
