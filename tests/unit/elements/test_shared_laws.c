// Functions that element laws share (elements/laws_x.h), and their derivatives. Oracles: the C library and closed forms in another arrangement
// for values; complex steps for derivatives; both forms, for real and for complex numbers, have the same values.
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "support/test.h"
#include "elements/element.h"

#include "base/scalar_x.h"
#include "elements/laws_x.h"
#define OD_COMPLEX
#include "base/scalar_x.h"
#include "elements/laws_x.h"

static const double complex moved = 1e-30 * (double complex)_Complex_I;
static double slope_of(double complex y) {
  return cimag(y) / 1e-30;
}

// Values of both signs over 19 powers of ten, with 7 in each.
enum { VALUES = 2 * 19 * 7 };
static double value(int i) {
  return (i % 2 ? -1 : 1) * pow(10, -15 + i / 2 / 7.0);
}

// tanh with full relative precision from 1e-15 to 1e4; odd, also for zero.
static void sign_is_the_hyperbolic_tangent(void **state) {
  (void)state;
  double worst = 0;
  for (int i = 0; i < VALUES; i++) {
    double x = value(i), want = tanh(x);
    worst = fmax(worst, fabs(smooth_sign_r(x) - want) / fabs(want));
    near_relative(creal(smooth_sign_c(x)), want, 4 * DBL_EPSILON);
    near_relative(slope_of(smooth_sign_c(x + moved)), tanh_slope(x), 1e-12);
  }
  for (double x = 0.01; x < 40; x += 0.01) {
    double want = tanh(x);
    worst = fmax(worst, fabs(smooth_sign_r(x) - want) / want);
    assert_true(smooth_sign_r(-x) == -smooth_sign_r(x));
    double far = 4 * exp(-2 * x) / pow(1 + exp(-2 * x), 2);  // 1 / cosh^2
    near_relative(tanh_slope(x), far, 1e-13);
    near_relative(tanh_slope(-x), far, 1e-13);
  }
  print_message("tanh: relative error %.2g\n", worst);
  assert_true(worst <= 4 * DBL_EPSILON);
  assert_true(smooth_sign_r(0) == 0 && tanh_slope(0) == 1);
}

// The signed root of large values, dp / sqrt(e) of small ones; between them by the equation root^4 (dp^2 + e^2) = dp^4.
static void root(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    double e = pow(10, k);
    for (int i = 0; i < VALUES; i++) {
      double dp = 100 * value(i), y = smooth_root_r(dp, e);
      assert_true((y > 0) == (dp > 0));
      near_relative(pow(y, 4) * (dp * dp + e * e), pow(dp, 4), 1e-13);
      near_relative(creal(smooth_root_c(dp, e)), y, 1e-14);
      near_relative(root_slope(dp, e), slope_of(smooth_root_c(dp + moved, e)), 1e-12);
      near_relative(root_smoothing_slope(dp, e), slope_of(smooth_root_c(dp, e + moved)), 1e-12);
    }
    near_relative(smooth_root_r(1e-6 * e, e), 1e-6 * sqrt(e), 1e-11);
    near_relative(smooth_root_r(-1e7 * e, e), -sqrt(1e7 * e), 1e-12);
    near_relative(root_slope(0, e), 1 / sqrt(e), 1e-15);
  }
}

// Ramps and steps in pieces, at their corners and between them.
static void ramps_and_steps(void **state) {
  (void)state;
  const double e = 0.3,
               x[] = {-2, -1e-9, 0, 1e-9, 0.02, 0.05, 0.15, 0.299, 0.3, 0.31, 0.5, 0.999, 1, 1.02, 1.05, 1.2, 3};
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
    double v = x[i], in = fmin(fmax(v, 0), 1);
    double ramp = v <= 0 ? 0 : v < e ? e / 2 * (v / e) * (v / e) : v - 0.15;
    near(rounded_ramp_r(v, e), ramp, 1e-15);
    near(smooth_step_r(v), in * in * in + 3 * in * in * (1 - in), 1e-15);
    near(smooth_step_r(v) + smooth_step_r(1 - v), 1, 1e-15);
    assert_true(not_negative_r(v) == fmax(v, 0));
    double opening = v <= 0     ? 0
                     : v < 0.05 ? v * v / 0.1
                     : v <= 1   ? v - 0.025
                     : v < 1.05 ? 1 - pow(1.05 - v, 2) / 0.1
                                : 1;
    near(rounded_limit_r(v), opening, 1e-15);
    near(creal(rounded_ramp_c(v, e)), rounded_ramp_r(v, e), 1e-15);
    near(creal(not_negative_c(v)), not_negative_r(v), 0);
    near(creal(smooth_step_c(v)), smooth_step_r(v), 1e-15);
    near(creal(rounded_limit_c(v)), rounded_limit_r(v), 1e-15);
    near(ramp_slope(v, e), slope_of(rounded_ramp_c(v + moved, e)), 1e-14);
    near(step_slope(v), slope_of(smooth_step_c(v + moved)), 1e-14);
    near(limit_slope(v), slope_of(rounded_limit_c(v + moved)), 1e-14);
    near(not_negative_slope(v), slope_of(not_negative_c(v + moved)), 1e-14);
  }
}

// mu0 exp(b p); b = 0 is allowed.
static void viscosity_at_a_pressure(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    double oil[OD_OIL_STATES] = {[OD_OIL_STATE_VISCOSITY] = 0.04, [OD_OIL_STATE_THICKENING] = 2e-8 * k};
    double complex oil_c[OD_OIL_STATES];
    for (int i = 0; i < OD_OIL_STATES; i++) oil_c[i] = oil[i];
    for (double p = -1e5; p < 5e7; p += 3e6) {
      double mu = viscosity_r(oil, p), want = 0.04 * pow(exp(2e-2 * k), p / 1e6);
      near_relative(mu, want, 1e-14);
      near_relative(creal(viscosity_c(oil_c, p)), want, 1e-14);
      near_relative(viscosity_slope(oil, mu), slope_of(viscosity_c(oil_c, p + moved)), 1e-13);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sign_is_the_hyperbolic_tangent), cmocka_unit_test(root),
                                     cmocka_unit_test(ramps_and_steps), cmocka_unit_test(viscosity_at_a_pressure)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
