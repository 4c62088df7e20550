// The Stewart platform. Oracles: inverse kinematics in closed form (lengths of the legs by the pose), Rodrigues' formula for
// rotations, Newton's and Euler's equations of the platform by hand, the energy balance.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/free_body.h"
#include "support/machines.h"

enum { LEGS = 6 };
static const char file[] = "cases/stewart-platform/machine.yaml";
static const double degree = 3.14159265358979323846 / 180;
static const double beta[LEGS] = {-10, 10, 110, 130, 230, 250}, alpha[LEGS] = {-50, 50, 70, 170, 190, 290};

typedef struct pose {
  double at[3], R[3][3];
} pose;

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *c) {
  for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void point_of(const watched_machine *b, const char *point, double *at) {
  static const char *const xyz[] = {"x", "y", "z"};
  for (int i = 0; i < 3; i++) at[i] = shown(b, point, xyz[i]);
}

// The platform's pose from three of its points.
static pose true_pose(const watched_machine *b) {
  pose p;
  double x[3], y[3], z[3];
  point_of(b, "platform.origin", p.at);
  point_of(b, "platform.X", x);
  point_of(b, "platform.Y", y);
  for (int i = 0; i < 3; i++) x[i] -= p.at[i], y[i] -= p.at[i];
  cross(x, y, z);
  for (int i = 0; i < 3; i++) p.R[i][0] = x[i], p.R[i][1] = y[i], p.R[i][2] = z[i];
  return p;
}

// The wanted pose: R = cos I + sin [n] + (1 - cos) n n' for a rotation about the unit vector n.
static pose wanted_pose(const watched_machine *b) {
  static const char *const places[] = {"x", "y", "z"}, *const turns[] = {"c1", "c2", "c3"};
  double n[3], size;
  pose p;
  for (int i = 0; i < 3; i++) {
    p.at[i] = b->y[od_test_output(b->machine, places[i])];
    n[i] = b->y[od_test_output(b->machine, turns[i])];
  }
  size = sqrt(dot(n, n));
  const double angle = 2 * atan(size);
  for (int i = 0; i < 3; i++) n[i] = size > 0 ? n[i] / size : 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      const double skew = i == k ? 0 : (k == (i + 1) % 3 ? -n[(i + 2) % 3] : n[(i + 1) % 3]);
      p.R[i][k] = (i == k) * cos(angle) + sin(angle) * skew + (1 - cos(angle)) * n[i] * n[k];
    }
  return p;
}

// From foot to ball.
static void leg_vector(const pose *p, int leg, double *d) {
  const double top[3] = {0.8 * cos(alpha[leg] * degree), 0.8 * sin(alpha[leg] * degree), 0};
  const double foot[3] = {1.2 * cos(beta[leg] * degree), 1.2 * sin(beta[leg] * degree), 0};
  for (int i = 0; i < 3; i++) d[i] = p->at[i] + dot(p->R[i], top) - foot[i];
}

static double of_leg(const watched_machine *b, int leg, const char *what) {
  char name[64];
  snprintf(name, sizeof name, "leg%d.%s", leg + 1, what);
  return b->y[od_test_output(b->machine, name)];
}

static void check_kinematics(const watched_machine *b, double worst[3]) {
  const pose is = true_pose(b), should = wanted_pose(b);
  for (int leg = 0; leg < LEGS; leg++) {
    double d[3], w[3];
    leg_vector(&is, leg, d);
    leg_vector(&should, leg, w);
    const double length = sqrt(dot(d, d)), wanted = sqrt(dot(w, w));
    worst[0] = fmax(worst[0], fabs(length - of_leg(b, leg, "slide.position")));
    worst[0] = fmax(worst[0], fabs(length - of_leg(b, leg, "ram.length")));
    worst[1] = fmax(worst[1], fabs(wanted - of_leg(b, leg, "wanted")));
  }
  for (int i = 0; i < 3; i++) {
    worst[2] = fmax(worst[2], fabs(is.at[i] - should.at[i]));
    for (int k = 0; k < 3; k++) worst[2] = fmax(worst[2], fabs(is.R[i][k] - should.R[i][k]));
  }
}

// The six ball joints carry the platform.
static void check_platform(watched_machine *b) {
  static const space_body platform = {"platform",
                                      "platform.centre",
                                      1000,
                                      {300, 300, 350},
                                      {{"leg1.ball", "platform.P1", 1},
                                       {"leg2.ball", "platform.P2", 1},
                                       {"leg3.ball", "platform.P3", 1},
                                       {"leg4.ball", "platform.P4", 1},
                                       {"leg5.ball", "platform.P5", 1},
                                       {"leg6.ball", "platform.P6", 1}},
                                      {{0}}};
  pose p = true_pose(b);
  space_body_check(b, &platform, p.R, (double[3]){0});
}

static void test_platform(void **state) {
  (void)state;
  watched_machine *b = malloc(sizeof *b);
  double worst[3] = {0}, balance = 0;
  assert_non_null(b);
  watched_begin(b, od_test_machine(file, NULL));
  for (int k = 0; k <= 36; k++) {
    watched_run_to(b, 0.25 * k, 1e-3);
    check_kinematics(b, worst);
    check_platform(b);
    balance = fmax(balance, fabs(shown(b, "energy", "balance")));
  }
  const double input = shown(b, "energy", "input");
  print_message("stewart: lengths to %.2g m, wanted ones to %.2g m, pose within %.2g m, %.2g J of %.3g J are missing\n",
                worst[0], worst[1], worst[2], balance, input);
  assert_true(worst[0] < 1e-11 && worst[1] < 1e-14);
  assert_true(worst[2] < 2e-3);
  assert_true(balance < 1e-5 * input);
  watched_end(b);
  free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_platform)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
