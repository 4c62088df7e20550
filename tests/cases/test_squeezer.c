// Andrews' squeezing mechanism. Oracles: the equations of the literature by hand, integrated to rounding (tests/oracle/squeezer.c,
// no code in common with the engine), and the published angles at 0.03 s, of which at least nine digits are correct.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "oracle/squeezer.h"
#include "support/machines.h"

enum { N = SQUEEZER_ANGLES };

static const char file[] = "cases/andrews-squeezer/machine.yaml";
static const char *const names[N] = {"beta.angle",  "theta.angle", "gamma.angle",  "phi.angle",
                                     "delta.angle", "omega.angle", "epsilon.angle"};
static const double published[N] = {15.81077119629904,  -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
                                    0.5244099658805304, 0.5347301163226948, 1.048080741042263};

static void reference(double *angle) {
  double coarse[N];
  assert_true(oracle_squeezer_run(0.03, 100, coarse) < 1e-12);
  assert_true(oracle_squeezer_run(0.03, 200, angle) < 1e-12);
  for (int i = 0; i < N; i++) assert_true(fabs(angle[i] - coarse[i]) < 5e-11);
}

// Agreement in the nine published digits.
static void nine_digits(const double *got, const double *wanted) {
  for (int i = 0; i < N; i++) {
    char a[40], b[40];
    snprintf(a, sizeof a, "%.8e", got[i]);
    snprintf(b, sizeof b, "%.8e", wanted[i]);
    if (strcmp(a, b) != 0) fail_msg("%s is %.15g, not %.15g", names[i], got[i], wanted[i]);
  }
}

// The oracle itself: the constraints hold at the start, the published digits agree, and the last published digits of beta are
// wrong.
static void test_published(void **state) {
  (void)state;
  double angle[N];
  assert_true(oracle_squeezer_run(0, 1, angle) < 1e-16);
  reference(angle);
  nine_digits(angle, published);
  print_message("squeezer: beta at 0.03 s is %.13f, published %.13f\n", angle[0], published[0]);
  assert_true(fabs(angle[0] - 15.81077119515) < 3e-11);
}

static void run(const char *integrator, double step, double *angle) {
  od_machine *machine = od_test_machine(file, NULL);
  od_test_run_to(machine, integrator, 0.03, step, names, N, angle);
  od_machine_free(machine);
}

static double difference(const double *a, const double *b) {
  double worst = 0;
  for (int i = 0; i < N; i++) worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

static void test_accurate_integrators(void **state) {
  (void)state;
  const struct {
    const char *integrator;
    double step, within;
  } rows[] = {{"rk4", 10e-6, 1e-9}, {"rk4", 5e-6, 1e-10}, {"cvodes", 1e-3, 1e-8}};
  double right[N], got[N];
  reference(right);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    run(rows[i].integrator, rows[i].step, got);
    print_message("squeezer: %s, %g s: %.2g rad off\n", rows[i].integrator, rows[i].step, difference(got, right));
    nine_digits(got, published);
    assert_true(difference(got, right) < rows[i].within);
  }
}

// Half the step, a quarter of the error.
static void test_trapezoid_order(void **state) {
  (void)state;
  static const double steps[] = {20e-6, 10e-6, 5e-6};
  double right[N], got[N], error[3];
  reference(right);
  for (int i = 0; i < 3; i++) {
    run("trapezoid", steps[i], got);
    error[i] = difference(got, right);
  }
  const double order[2] = {log2(error[0] / error[1]), log2(error[1] / error[2])};
  print_message("squeezer: trapezoid %.3g, %.3g, %.3g rad off: order %.3f, %.3f\n", error[0], error[1], error[2],
                order[0], order[1]);
  assert_true(fabs(order[0] - 2) < 0.1 && fabs(order[1] - 2) < 0.03);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_published), cmocka_unit_test(test_accurate_integrators),
                                     cmocka_unit_test(test_trapezoid_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
