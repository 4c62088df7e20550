// The natural-coordinates four-bar, before the engine is compared with it. Oracles: published values, reference values, conservation
// of energy, differences for derivatives, two integrators.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "oracle/natural_fourbar.h"

static const double pi = 3.14159265358979323846;
static oracle_fourbar_sample a_run[20001], b_run[20001];

// The six sensed magnitudes of the paper (see natural_fourbar.h).
static double magnitude(const oracle_fourbar_sample *s, int which) {
  const double all[6] = {s->z, s->w, s->a, s->q[1], s->v[1], s->b[1]};
  return all[which];
}

// The starts of the prototype and of the observer's model.
static void test_assembly(void **state) {
  (void)state;
  const oracle_fourbar m = oracle_fourbar_spring();
  double q[6], again[6];
  assert_int_equal(oracle_fourbar_assemble_length(&m, 1.80, +1, q), 0);
  const double expected[6] = {0.6801, -0.5895, 0.8826, -1.5688, 1.80, -0.7141};
  for (int i = 0; i < 6; i++) near(q[i], expected[i], 5e-5);
  // The same position from the angle.
  assert_int_equal(oracle_fourbar_assemble(&m, q[5], +1, again), 0);
  for (int i = 0; i < 6; i++) near(again[i], q[i], 1e-14);
  assert_int_equal(oracle_fourbar_assemble_length(&m, 1.85, +1, q), 0);
  near(q[5], -0.8710, 5e-5);
  // A spring length that is too large is rejected.
  assert_int_equal(oracle_fourbar_assemble_length(&m, 2.5, +1, q), -1);
}

// RMS of the six signals over the 1001 samples of 1 s at 1 ms: the reference values of an independent prototype in every digit, the
// paper's Table 2 within 0.2 %.
static void test_rms(void **state) {
  (void)state;
  const oracle_fourbar m = oracle_fourbar_spring();
  double q[6];
  assert_int_equal(oracle_fourbar_assemble_length(&m, 1.80, +1, q), 0);
  assert_int_equal(oracle_fourbar_trapezoid(&m, q, 0, 1e-3, 1000, a_run), 0);
  assert_int_equal(oracle_fourbar_tight(&m, q, 0, 1e-3, 1000, 1, b_run), 0);
  static const double reference[6] = {0.2203, 2.0504, 24.078, 0.1874, 1.7497, 20.629};
  static const double half_digit[6] = {5e-5, 5e-5, 5e-4, 5e-5, 5e-5, 5e-4};
  static const double paper[6] = {0.220, 2.049, 24.06, 0.187, 1.748, 20.61};
  for (int k = 0; k < 6; k++) {
    double trapezoid = 0, tight = 0;
    for (int i = 0; i <= 1000; i++) {
      trapezoid += pow(magnitude(&a_run[i], k), 2);
      tight += pow(magnitude(&b_run[i], k), 2);
    }
    near(sqrt(trapezoid / 1001), reference[k], half_digit[k]);
    near(sqrt(tight / 1001), reference[k], half_digit[k]);
    near(sqrt(tight / 1001), paper[k], 0.002 * paper[k]);
  }
}

// The toolbox's wrong free model against the true one, 2000 samples of 10 s at 5 ms, t = 0 not counted.
static void test_toolbox_free_model(void **state) {
  (void)state;
  const oracle_fourbar truth = oracle_fourbar_toolbox();
  oracle_fourbar model = truth;
  model.gravity = 8.81;
  double q[6], qm[6];
  assert_int_equal(oracle_fourbar_assemble(&truth, pi / 3, +1, q), 0);
  assert_int_equal(oracle_fourbar_assemble(&model, pi / 3 + pi / 16, +1, qm), 0);
  assert_int_equal(oracle_fourbar_trapezoid(&truth, q, 0, 5e-3, 2000, a_run), 0);
  assert_int_equal(oracle_fourbar_trapezoid(&model, qm, 0, 5e-3, 2000, b_run), 0);
  double angle = 0, rate = 0;
  for (int i = 1; i <= 2000; i++) {
    angle += pow(a_run[i].z - b_run[i].z, 2);
    rate += pow(a_run[i].w - b_run[i].w, 2);
  }
  near(sqrt(angle / 2000), 7.238, 5e-4);
  near(sqrt(rate / 2000), 3.043, 5e-4);
}

// Without the spring the energy is constant; with it, the missing energy is the work of the damper.
static void test_energy(void **state) {
  (void)state;
  const oracle_fourbar swing = oracle_fourbar_swing(), spring = oracle_fourbar_spring();
  double q[6];
  assert_int_equal(oracle_fourbar_assemble(&swing, pi / 3, +1, q), 0);
  assert_int_equal(oracle_fourbar_tight(&swing, q, 0, 5e-3, 2000, 2, a_run), 0);
  const double start = a_run[0].kinetic + a_run[0].potential;
  double most = 0;
  for (int i = 0; i <= 2000; i++) {
    near(a_run[i].kinetic + a_run[i].potential, start, 1e-9 * fabs(start));
    most = fmax(most, a_run[i].kinetic);
  }
  assert_true(most > 0.1 * fabs(start));  // it did move

  assert_int_equal(oracle_fourbar_assemble_length(&spring, 1.80, +1, q), 0);
  assert_int_equal(oracle_fourbar_tight(&spring, q, 0, 1e-3, 1000, 1, b_run), 0);
  // Simpson's rule over the recorded power: order 4, so 1e-6 at 1 ms.
  double lost = 0;
  for (int i = 0; i < 1000; i += 2) lost += 1e-3 / 3 * (b_run[i].loss + 4 * b_run[i + 1].loss + b_run[i + 2].loss);
  const oracle_fourbar_sample *first = &b_run[0], *last = &b_run[1000];
  const double change = last->kinetic + last->potential - first->kinetic - first->potential;
  assert_true(lost > 10);
  near(change + lost, 0, 1e-6 * lost);
}

// The bars keep their lengths, and rates and accelerations are the derivatives of positions and rates.
static void test_kinematics(void **state) {
  (void)state;
  const oracle_fourbar m = oracle_fourbar_swing();
  double q[6];
  const double h = 2.5e-4;
  assert_int_equal(oracle_fourbar_assemble(&m, pi / 3, +1, q), 0);
  assert_int_equal(oracle_fourbar_tight(&m, q, 0.5, h, 8000, 1, a_run), 0);
  for (int i = 2; i <= 7998; i++) {
    const oracle_fourbar_sample *s = &a_run[i];
    double closed[6];
    near(hypot(s->q[2] - s->q[0], s->q[3] - s->q[1]), m.length[1], 1e-13);
    near(hypot(s->q[2] - m.B[0], s->q[3] - m.B[1]), m.length[2], 1e-13);
    // Elbow up all the way: a Grashof crank never changes its branch.
    assert_int_equal(oracle_fourbar_assemble(&m, s->z, +1, closed), 0);
    for (int k = 0; k < 5; k++) near(s->q[k], closed[k], 1e-12);
    // Central differences of order 4.
    for (int k = 0; k < 6; k++) {
      const double v = (8 * (s[1].q[k] - s[-1].q[k]) - (s[2].q[k] - s[-2].q[k])) / (12 * h);
      const double b = (8 * (s[1].v[k] - s[-1].v[k]) - (s[2].v[k] - s[-2].v[k])) / (12 * h);
      near(s->v[k], v, 1e-6 * (1 + fabs(v)));
      near(s->b[k], b, 1e-6 * (1 + fabs(b)));
    }
  }
}

// Two integrators, one motion: halving the trapezoidal step divides the difference by 4; the error of the accurate
// integrator is round-off.
static void test_integrators(void **state) {
  (void)state;
  const oracle_fourbar m = oracle_fourbar_spring();
  double q[6], error[3];
  assert_int_equal(oracle_fourbar_assemble_length(&m, 1.80, +1, q), 0);
  assert_int_equal(oracle_fourbar_tight(&m, q, 0, 1e-2, 100, 10, b_run), 0);
  assert_int_equal(oracle_fourbar_tight(&m, q, 0, 1e-2, 100, 20, a_run), 0);
  for (int i = 0; i <= 100; i++) near(a_run[i].z, b_run[i].z, 1e-13);
  for (int level = 0; level < 3; level++) {
    const int n = 10 << level;
    assert_int_equal(oracle_fourbar_trapezoid(&m, q, 0, 1e-2 / n, 100 * n, a_run), 0);
    error[level] = 0;
    for (int i = 0; i <= 100; i++) error[level] = fmax(error[level], fabs(a_run[i * n].z - b_run[i].z));
  }
  near(error[0] / error[1], 4, 0.05);
  near(error[1] / error[2], 4, 0.02);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_assembly), cmocka_unit_test(test_rms),        cmocka_unit_test(test_toolbox_free_model),
      cmocka_unit_test(test_energy),   cmocka_unit_test(test_kinematics), cmocka_unit_test(test_integrators),
  };
  return cmocka_run_group_tests_name("oracle: natural-coordinates four-bar", tests, NULL, NULL);
}
