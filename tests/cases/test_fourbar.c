// The four-bars of cases/fourbar-observer against a hand-written natural-coordinates model (tests/oracle, eqs. 15-19
// of the paper; no code in common with the engine), against published values and reference values of an independent prototype.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "oracle/natural_fourbar.h"
#include "support/machines.h"

// RMS of angle, rate and acceleration of link B1 and of the height of point 1 and its derivatives: within 0.03 % of the prototype and within
// 0.3 % of the paper's Table 2, which has three or four digits.
static void signals_of_the_spring_fourbar(void **state) {
  (void)state;
  static const double reference[6] = {0.2203, 2.0504, 24.078, 0.1874, 1.7497, 20.629};
  static const double published[6] = {0.220, 2.049, 24.06, 0.187, 1.748, 20.61};
  od_test_run r = od_test_begin(od_test_machine("cases/fourbar-observer/spring.yaml", NULL), "A.angle", "A.rate",
                                "A.acceleration", "crank.end.y", "crank.end.vy", "crank.end.ay", NULL);
  double sum[6] = {0}, y[6];
  for (int i = 0; i <= 1000; i++) {
    if (i) assert_int_equal(od_sim_step(r.sim, 1e-3, NULL), OD_OK);
    assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
    for (int k = 0; k < 6; k++) sum[k] += y[k] * y[k];
  }
  for (int k = 0; k < 6; k++) {
    double rms = sqrt(sum[k] / 1001);
    print_message("rms %d: %.5g (reference %.5g, published %.4g)\n", k + 1, rms, reference[k], published[k]);
    assert_true(fabs(rms / reference[k] - 1) < 3e-4);
    assert_true(fabs(rms / published[k] - 1) < 3e-3);
  }
  od_test_end(&r);
}

// The same rule (implicit trapezoidal, 1 ms) on two models that share nothing must agree to Newton's tolerance; because
// both use the crank's angle as coordinate, the discretization is the same.
static void agrees_with_natural_coordinates(void **state) {
  (void)state;
  oracle_fourbar m = oracle_fourbar_spring();
  double q[6], worst = 0, y[4];
  assert_int_equal(oracle_fourbar_assemble_length(&m, 1.80, 1, q), 0);
  oracle_fourbar_sample *s = malloc(1001 * sizeof *s);
  assert_int_equal(oracle_fourbar_trapezoid(&m, q, 0, 1e-3, 1000, s), 0);
  od_test_run r = od_test_begin(od_test_machine("cases/fourbar-observer/spring.yaml", NULL), "crank.angle", "A.rate",
                                "coupler.end.x", "spring.length", NULL);
  for (int i = 0; i <= 1000; i++) {
    if (i) assert_int_equal(od_sim_step(r.sim, 1e-3, NULL), OD_OK);
    assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
    const double want[4] = {s[i].z, s[i].w, s[i].q[2], s[i].q[4]};
    for (int k = 0; k < 4; k++) worst = fmax(worst, fabs(y[k] - want[k]) / (k == 1 ? 10 : 1));
  }
  print_message("largest difference %.2g\n", worst);
  assert_true(worst < 1e-7);
  free(s);
  od_test_end(&r);
}

// The toolbox four-bar: root mean square of the difference between the wrong free model and the true one, 10 s at 5 ms.
static void toolbox_free_model(void **state) {
  (void)state;
  od_test_run truth =
      od_test_begin(od_test_machine("cases/fourbar-observer/toolbox.yaml", NULL), "A.angle", "A.rate", NULL);
  od_test_run wrong = od_test_begin(
      od_test_machine("cases/fourbar-observer/toolbox.yaml", "gravity[1]=-8.81", "initial.A.angle=71.25 deg", NULL),
      "A.angle", "A.rate", NULL);
  double sum[2] = {0}, a[2], b[2];
  for (int i = 0; i < 2000; i++) {
    assert_int_equal(od_sim_step(truth.sim, 5e-3, NULL), OD_OK);
    assert_int_equal(od_sim_step(wrong.sim, 5e-3, NULL), OD_OK);
    od_sim_outputs(truth.sim, a);
    od_sim_outputs(wrong.sim, b);
    for (int k = 0; k < 2; k++) sum[k] += (a[k] - b[k]) * (a[k] - b[k]);
  }
  double angle = sqrt(sum[0] / 2000), rate = sqrt(sum[1] / 2000);
  print_message("rmse %.4f rad, %.4f rad/s (expected 7.238, 3.043)\n", angle, rate);
  assert_true(fabs(angle - 7.238) < 1e-3);
  assert_true(fabs(rate - 3.043) < 1e-3);
  od_test_end(&truth);
  od_test_end(&wrong);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(signals_of_the_spring_fourbar),
                                     cmocka_unit_test(agrees_with_natural_coordinates),
                                     cmocka_unit_test(toolbox_free_model)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
