// Fits with constraints between parameters. Oracles: a lag's response and its cost in closed form, with the constraint
// inserted by hand; multipliers by differences of that cost; the truth of clean data.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/fits.h"

static const char lag[] =
    "machine: Lag\n"
    "inputs: {u: {unit: V, chirp: {amplitude: 1 V, from: 0.1 Hz, to: 2 Hz, duration: 5 s}}}\n"
    "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}, lead: {type: gain, input: lag, gain: 1.5}}\n"
    "run: {time: 5 s, step: 10 ms}\n"
    "variants: {wrong: {blocks: {lag: {gain: 1, time_constant: 1 s}}}}\n";
static const char head[] =
    "experiment: Lag\nmachine: lag.yaml\nmodel: {variant: wrong}\nsensors: {lag: {sigma: 50 mV}}\n";

static int setup(void **state) {
  int code = scratch_setup(state);
  scratch_write(*state, "lag.yaml", lag, strlen(lag));
  return code;
}

static od_fit_plan *plan_of(scratch *s, const char *more) {
  char text[3000];
  snprintf(text, sizeof text, "%s%s", head, more);
  return fit_plan_text(s, text);
}

// With inputs linear between samples, for K = 1: y_(k+1) = a y_k + (c - a) u_k + (1 - c) u_(k+1), a = exp(-h/T), c = (1 - a) T/h.
// The best gain for a T is a regression; cost: half the remaining sum of squares in units of noise.
static double profile(const od_fit_data *d, double T, double *cost, double *gg) {
  double h = d->step, a = exp(-h / T), c = -expm1(-h / T) * T / h, g = 0, gy = 0, yy = 0;
  *gg = 0;
  for (long k = 0; k < d->rows; k++) {
    gy += g * d->y[k], *gg += g * g, yy += d->y[k] * d->y[k];
    if (k + 1 < d->rows) g = a * g + (c - a) * d->u[k] + (1 - c) * d->u[k + 1];
  }
  *cost = 0.5 * (yy - gy * gy / *gg) / (d->sigma[0] * d->sigma[0]);
  return gy / *gg;
}

static void test_active_inequality(void **state) {
  od_fit_plan *plan = plan_of(*state,
                              "parameters: {lag.gain: {}, lag.time_constant: {low: 50 ms, high: 5 s}}\n"
                              "constraints: [2 * lag.time_constant <= 900 ms, lag.gain >= 0.1]\n");
  od_fitted *f = fit_run(plan, NULL);
  double cost, gg, above, below, other, gain = profile(f->data[0], 0.45, &cost, &gg);
  profile(f->data[0], 0.45 + 1e-4, &above, &other);
  profile(f->data[0], 0.45 - 1e-4, &below, &other);
  near_relative(f->estimate[1], 0.45, 1e-12);
  near_relative(f->estimate[0], gain, 1e-8);
  near_relative(f->search->cost, cost, 1e-9);
  // c = 0.9 - 2 T: a constraint moved by 1 moves T by a half.
  near_relative(f->search->multiplier[0], -0.5 * (above - below) / 2e-4, 1e-5);
  assert_true(f->search->active[0] && !f->search->active[1]);
  double variance = 2 * cost / (double)(f->data[0]->rows - 1);
  near_relative(f->sigma_white[0], sqrt(variance / gg) * f->data[0]->sigma[0], 1e-6);
  assert_true(f->sigma_white[1] == 0 && od_fit_is_fixed(f, 1) && !od_fit_is_fixed(f, 0));
  assert_true(od_verdict_has(&f->verdict, "constraint.active"));
  assert_false(od_verdict_has(&f->verdict, "sigma.none"));
  char text[700];
  od_fit_constraint_text(f, 0, text, sizeof text);
  assert_non_null(strstr(text, "without this constraint, '2 * lag.time_constant' would be larger than '900 ms' by"));
  // By the linear model, the data favor the T of the unconstrained fit.
  assert_true(f->search->beyond[0] < -0.05 && f->search->beyond[0] > -0.15);
  fit_release(f, plan);
}

// Only the product of both gains is identifiable. The constraint that one is twice the other determines them: sqrt(2 x
// 3) and half of it.
static void test_equality_identifies(void **state) {
  static const char lines[] =
      "parameters: {lag.gain: {}, lead.gain: {}, lag.time_constant: {low: 50 ms, high: 5 s}}\n"
      "sets: {clean: {noise: no}}\n";
  char text[600];
  snprintf(text, sizeof text, "%ssensors: {lead: {sigma: 50 mV}}\n%s",
           "experiment: Lag\nmachine: lag.yaml\nmodel: {variant: wrong}\n", lines);
  od_fit_plan *plan = fit_plan_text(*state, text);
  od_fitted *f = fit_run(plan, NULL);
  assert_int_equal(f->identifiability->nulls, 1);
  assert_true(isinf(f->sigma[0]));
  fit_release(f, plan);
  strcat(text, "constraints: [lag.gain = 2 * lead.gain]\n");
  plan = fit_plan_text(*state, text);
  f = fit_run(plan, NULL);
  near_relative(f->estimate[0], sqrt(6), 1e-7);
  near_relative(f->estimate[1], sqrt(6) / 2, 1e-7);
  assert_int_equal(f->identifiability->nulls, 0);
  assert_int_equal(f->identifiability->tied, 1);
  assert_true(isfinite(f->sigma[0]) && isinf(f->identifiability->singular[0]));
  // The Cramer-Rao bounds with the constraint are those with one gain fewer: sigma(lag.gain) = 2 sigma(lead.gain).
  near_relative(f->identifiability->sigma[0], 2 * f->identifiability->sigma[1], 1e-9);
  // The data do not determine its value without the constraint.
  assert_true(isnan(f->search->beyond[0]));
  fit_release(f, plan);
}

// A nonlinear constraint, lead.gain = lag.gain^2 / 2, against a fit with one parameter fewer by hand.
static void test_nonlinear_equality(void **state) {
  char text[600];
  snprintf(text, sizeof text, "%s",
           "experiment: Lag\nmachine: lag.yaml\nmodel: {variant: wrong}\nsensors: {lead: {sigma: 50 mV}}\n"
           "parameters: {lag.gain: {}, lead.gain: {}, lag.time_constant: {low: 50 ms, high: 5 s}}\n"
           "constraints: [lead.gain = lag.gain^2 / 2]\n");
  od_fit_plan *plan = fit_plan_text(*state, text);
  od_fitted *f = fit_run(plan, NULL);
  od_fit_plan *one =
      fit_plan_text(*state,
                    "experiment: Lag\nmachine: lag.yaml\nmodel: {variant: wrong}\nsensors: {lead: {sigma: 50 mV}}\n"
                    "parameters: {lag.gain: {}, lag.time_constant: {low: 50 ms, high: 5 s}}\n");
  od_fitted *g = fit_run(one, NULL);
  // Product P = 1.5 g there, x^3/2 here; dP = 1.5 dg = 1.5 x^2 dx.
  double product = 1.5 * g->estimate[0], x = cbrt(2 * product);
  near_relative(f->estimate[0], x, 1e-7);
  near_relative(f->estimate[1], x * x / 2, 1e-7);
  near_relative(f->estimate[2], g->estimate[1], 1e-7);
  near_relative(f->sigma_white[0], g->sigma_white[0] / (x * x), 1e-5);
  near_relative(f->sigma_white[1], x * f->sigma_white[0], 1e-6);
  near_relative(f->sigma_white[2], g->sigma_white[1], 1e-5);
  // Standard deviations for colored residuals follow from the effect of each row on the estimates.
  near_relative(f->sigma_colored[0], g->sigma_colored[0] / (x * x), 1e-4);
  near_relative(f->sigma_colored[1], x * f->sigma_colored[0], 1e-4);
  fit_release(g, one);
  fit_release(f, plan);
}

static void test_contradiction(void **state) {
  od_fit_plan *plan = plan_of(*state,
                              "parameters: {lag.gain: {}, lag.time_constant: {low: 50 ms, high: 5 s}}\n"
                              "constraints: [lag.gain >= 3, lag.gain <= 2.5]\n");
  od_fitted *f = NULL;
  od_error err = {0};
  assert_int_equal(od_fit(plan, NULL, &f, &err), OD_NOT_CONVERGED);
  assert_non_null(f);
  assert_true(od_verdict_has(&f->verdict, "constraint.violated"));
  assert_int_equal(f->verdict.trust, OD_UNSOUND);
  fit_release(f, plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_active_inequality, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_equality_identifies, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_nonlinear_equality, setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_contradiction, setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
