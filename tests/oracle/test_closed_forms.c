// The small oracles. They are checked by conservation of energy, by differences for derivatives, and by the closure of
// spatial loops.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oracle/extrapolation.h"
#include "oracle/pendulum.h"
#include "oracle/slider_crank.h"
#include "oracle/spatial_loops.h"

static const double pi = 3.14159265358979323846;

static void oscillator(void *user, double t, const double *x, double *dx) {
  (void)user, (void)t;
  dx[0] = x[1], dx[1] = -x[0];
}

// x'' = -x from (1, 0): one turn in 20 steps returns to the start within round-off.
static void test_extrapolation(void **state) {
  (void)state;
  double x[2] = {1, 0};
  for (int i = 0; i < 20; i++) assert_true(oracle_extrapolate(oscillator, NULL, 2, 0, 2 * pi / 20, x) < 1e-12);
  near(x[0], 1, 1e-13);
  near(x[1], 0, 1e-13);
}

static void test_pendulum(void **state) {
  (void)state;
  const oracle_pendulum m = {.mass = {2, 1}, .length = {1, 0.7}, .gravity = 9.81};
  static oracle_pendulum_sample s[2001];
  oracle_pendulum_run(&m, (double[2]){0, pi / 4}, (double[2]){0, 1}, 5e-3, 2000, 1, s);
  for (int i = 0; i <= 2000; i++) near(s[i].energy, s[0].energy, 1e-10);
  // Small swings of the first beam alone (the second one has no weight): period of a beam, 2 pi sqrt(2 l / 3 g).
  const oracle_pendulum single = {.mass = {1, 1e-12}, .length = {1, 1}, .gravity = 9.81};
  const double period = 2 * pi * sqrt(2.0 / (3 * 9.81));
  oracle_pendulum_run(&single, (double[2]){-pi / 2 + 1e-4, -pi / 2}, (double[2]){0, 0}, period / 200, 200, 1, s);
  near(s[200].angle[0], s[0].angle[0], 1e-10);
  near(s[100].angle[0], -pi / 2 - 1e-4, 1e-10);

  // The plain pendulum is the same beam: k = 3 g / 2 l. Its energy w^2 / 2 + k sin p is constant.
  static double angle[201], rate[201];
  oracle_swing_run(1.5 * 9.81, 0.3, 0, period / 200, 200, 1, angle, rate);
  oracle_pendulum_run(&single, (double[2]){0.3, -pi / 2}, (double[2]){0, 0}, period / 200, 200, 1, s);
  for (int i = 0; i <= 200; i++) {
    near(angle[i], s[i].angle[0], 1e-9);
    near(rate[i] * rate[i] / 2 + 1.5 * 9.81 * sin(angle[i]), 1.5 * 9.81 * sin(0.3), 1e-11);
  }
  near(oracle_chain_constant(1, 6), 6 * 2 / (5.0 / 3), 1e-14);
}

static void test_slider_crank(void **state) {
  (void)state;
  oracle_slider_crank m = {
      .crank_mass = 2, .crank_length = 0.2, .rod_mass = 1, .rod_length = 0.6, .slider_mass = 3, .gravity = 9.81};
  static oracle_slider_crank_sample s[16001];
  const double h = 2.5e-4;
  oracle_slider_crank_run(&m, pi / 4, 10, h, 16000, 1, s);
  assert_true(s[16000].angle > 4 * pi);  // it makes full turns
  for (int i = 0; i <= 16000; i++) near(s[i].energy, s[0].energy, 1e-10 * s[0].energy);
  for (int i = 2; i <= 15998; i++) {
    const double v = (8 * (s[i + 1].slider - s[i - 1].slider) - (s[i + 2].slider - s[i - 2].slider)) / (12 * h);
    const double a =
        (8 * (s[i + 1].slider_rate - s[i - 1].slider_rate) - (s[i + 2].slider_rate - s[i - 2].slider_rate)) / (12 * h);
    near(s[i].slider_rate, v, 1e-6 * (1 + fabs(v)));
    near(s[i].slider_acceleration, a, 1e-5 * (1 + fabs(a)));
  }
  // A torque adds its work.
  m.torque = 5;
  oracle_slider_crank_run(&m, pi / 4, 0, h, 16000, 1, s);
  for (int i = 0; i <= 16000; i++)
    near(s[i].energy - s[0].energy, 5 * (s[i].angle - s[0].angle), 1e-9 * s[16000].energy);
}

static void test_rssr(void **state) {
  (void)state;
  // cases/rssr: a crank in the x-y plane and a rocker about the tilted axis (0, 0.8, 0.6).
  const oracle_rssr m = {.crank = {.x = {1, 0, 0}, .y = {0, 1, 0}, .radius = 0.3},
                         .rocker = {.pivot = {1, 0, 0.2}, .x = {1, 0, 0}, .y = {0, 0.6, -0.8}, .radius = 0.8},
                         .rod = 1};
  for (int branch = -1; branch <= 1; branch += 2)
    for (int i = 0; i < 360; i++) {
      const double crank = i * pi / 180, d = 1e-5;
      double rocker, ahead, behind, p[3], q[3];
      assert_int_equal(oracle_rssr_rocker(&m, crank, branch, &rocker), 0);
      oracle_arm_tip(&m.crank, crank, p);
      oracle_arm_tip(&m.rocker, rocker, q);
      near(sqrt(pow(q[0] - p[0], 2) + pow(q[1] - p[1], 2) + pow(q[2] - p[2], 2)), m.rod, 1e-14);
      assert_int_equal(oracle_rssr_rocker(&m, crank + d, branch, &ahead), 0);
      assert_int_equal(oracle_rssr_rocker(&m, crank - d, branch, &behind), 0);
      const double ratio = remainder(ahead - behind, 2 * pi) / (2 * d);
      near(oracle_rssr_ratio(&m, crank, rocker), ratio, 1e-6 * (1 + fabs(ratio)));
    }
  double unused;
  oracle_rssr far = m;
  far.rod = 5;
  assert_int_equal(oracle_rssr_rocker(&far, 0, 1, &unused), -1);
}

// Appends a rotation about the y or z axis and a link along x to the transform [R | p].
static void add_link(double R[3][3], double p[3], int about_z, double angle) {
  const double c = cos(angle), s = sin(angle);
  const double z[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}}, y[3][3] = {{c, 0, s}, {0, 1, 0}, {-s, 0, c}};
  double out[3][3] = {{0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) out[i][j] += R[i][k] * (about_z ? z[k][j] : y[k][j]);
  memcpy(R, out, sizeof out);
  for (int i = 0; i < 3; i++) p[i] += R[i][0];
}

// The six links, joint axes z and y in turn, return to their start.
static void test_bricard(void **state) {
  (void)state;
  for (int i = 1; i < 120; i++) {
    const double odd = i * pi / 180, even = oracle_bricard_angle(odd), d = 1e-6;
    double R[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, p[3] = {0, 0, 0};
    for (int k = 0; k < 6; k++) add_link(R, p, k % 2 == 0, k % 2 == 0 ? odd : even);
    for (int j = 0; j < 3; j++) {
      near(p[j], 0, 1e-12);
      for (int k = 0; k < 3; k++) near(R[j][k], j == k, 1e-12);
    }
    near(oracle_bricard_angle(even), odd, 1e-10);
    if (i > 1 && i < 119)
      near(oracle_bricard_ratio(odd, even), (oracle_bricard_angle(odd + d) - oracle_bricard_angle(odd - d)) / (2 * d),
           1e-6);
  }
  assert_true(isnan(oracle_bricard_angle(2.2)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_extrapolation), cmocka_unit_test(test_pendulum), cmocka_unit_test(test_slider_crank),
      cmocka_unit_test(test_rssr),          cmocka_unit_test(test_bricard),
  };
  return cmocka_run_group_tests_name("oracle: closed forms", tests, NULL, NULL);
}
