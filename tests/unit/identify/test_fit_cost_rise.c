// A fit reports if its cost is not quadratic within its standard deviations. Oracle: the model y = a u + A sin(k a), sampled over whole
// periods of u, by hand. With A = 0 the cost is a parabola. With a short ripple compared with the standard deviation the search stays near
// its start, far from the truth, while the parabola still falls toward the truth: one standard deviation away the cost is lower than at the
// minimum found.
#include <math.h>

#include "support/test.h"
#include "support/fits.h"

static od_fitted *fit_ripple(scratch *s, double ripple, od_fit_plan **plan) {
  static const char machine[] =
      "machine: Ripple\n"
      "inputs: {u: {unit: '1', sine: {amplitude: 1, frequency: 1 Hz}}}\n"
      "blocks: {y: {type: formula, inputs: {u: u}, formula: a*u + A*sin(k*a), parameters: {a: 2, A: %.6g, k: 4000}}, idle: {type: first-order, input: u, time_constant: 1 s}}\n"
      "run: {time: 4 s, step: 10 ms}\n";
  static const char fit[] =
      "machine: ripple.yaml\nstep: 10 ms\ntime: 4 s\nseed: 3\n"
      "model: {set: {y.parameters.a: 2.1}}\nsensors: {y: {sigma: 1}}\n"
      "parameters: {y.parameters.a: {low: 1, high: 3}}\n";
  char text[1000];
  int length = snprintf(text, sizeof text, machine, ripple);
  scratch_write(s, "ripple.yaml", text, (size_t)length);
  *plan = fit_plan_text(s, fit);
  return fit_run(*plan, NULL);
}

static void test_quadratic_cost(void **state) {
  od_fit_plan *plan;
  od_fitted *f = fit_ripple(*state, 0, &plan);
  assert_true(fabs(f->cost_rise.ratio - 1) < 1e-6);
  assert_false(od_verdict_has(&f->verdict, "search.rugged"));
  fit_release(f, plan);
}

static void test_ripple(void **state) {
  od_fit_plan *plan;
  od_fitted *f = fit_ripple(*state, 0.0125, &plan);
  print_message("estimate %.9g +- %.2g, rise %.3g\n", f->estimate[0], f->sigma[0], f->cost_rise.ratio);
  assert_int_equal(f->cost_rise.parameter, 0);
  assert_true(f->cost_rise.ratio < 0);
  assert_true(fabs(f->estimate[0] - 2) > 3 * f->sigma[0]);
  assert_true(od_verdict_has(&f->verdict, "search.rugged"));
  assert_int_not_equal(f->verdict.trust, OD_SOUND);
  fit_release(f, plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_quadratic_cost, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_ripple, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
