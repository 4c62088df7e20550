// The continuous EKF with all approximations of its paper (source 7 in docs/theory.md), step by step, and the plant functions that it
// needs. Oracle: the paper's four-bar written by hand, its mass from the velocities of the bars' ends, its derivatives by
// differences of sixth order, its equations (eqs. 2, 10 and 11, table 1) solved by Newton's method with difference quotients.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "filters/filter_types.h"
#include "filters/motion_parts.h"
#include "filters/outputs_at_rates.h"
#include "oleodyn/oleodyn.h"
#include "oracle/natural_fourbar.h"
#include "support/machines.h"

enum { STEPS = 150 };
static const char *const sensor_name[] = {"A.angle",     "A.rate",       "A.acceleration",
                                          "crank.end.y", "crank.end.vy", "crank.end.ay"};
enum { ANGLE, RATE, ACCELERATION, HEIGHT, CLIMB, CLIMB_RATE, SENSORS };

// ---- the machine by hand

typedef struct reduced {
  double mass, stretch;  // R'MR; ds/dtheta
} reduced;

// q: x1 y1 x2 y2 s theta.
static reduced reduce(const oracle_fourbar *m, double theta, const double guess[6]) {
  double q[6], best = INFINITY, chosen[6] = {0};
  for (int elbow = -1; elbow <= 1; elbow += 2) {
    if (oracle_fourbar_assemble(m, theta, elbow, q) != 0) continue;
    double off = hypot(q[2] - guess[2], q[3] - guess[3]);
    if (off < best) best = off, memcpy(chosen, q, sizeof q);
  }
  assert_true(isfinite(best));
  const double *p = chosen, v1[2] = {-(p[1] - m->A[1]), p[0] - m->A[0]};
  // The lengths of the other two bars: (p2 - p1).(v2 - v1) = 0, (p2 - B).v2 = 0.
  double a = p[2] - p[0], b = p[3] - p[1], c = p[2] - m->B[0], d = p[3] - m->B[1], e = a * v1[0] + b * v1[1];
  double det = a * d - b * c, v2[2] = {e * d / det, -e * c / det};
  double one = v1[0] * v1[0] + v1[1] * v1[1], two = v2[0] * v2[0] + v2[1] * v2[1], both = v1[0] * v2[0] + v1[1] * v2[1];
  return (reduced){(m->mass[0] * one + m->mass[1] * (one + both + two) + m->mass[2] * two) / 3,
                   ((p[2] - m->A[0]) * v2[0] + (p[3] - m->A[1]) * v2[1]) / p[4]};
}

static double mass_slope(const oracle_fourbar *m, double theta, const double q[6]) {
  static const double weight[] = {45, -9, 1};
  const double h = 2e-3;
  double sum = 0;
  for (int k = 1; k <= 3; k++)
    sum += weight[k - 1] * (reduce(m, theta + k * h, q).mass - reduce(m, theta - k * h, q).mass);
  return sum / (60 * h);
}

// ---- the filter by hand

typedef struct by_hand {
  const oracle_fourbar *m;
  int sensor;
  double h, r, z, w, zd, wd, P[2][2], q[6];
} by_hand;

static double sensed(const by_hand *f, double z, double w, double wd) {
  const double L = f->m->length[0],
               value[SENSORS] = {z, w, wd, L * sin(z), L * w * cos(z), L * (wd * cos(z) - w * w * sin(z))};
  return value[f->sensor];
}

// Table 1 of the paper.
static void sensed_slopes(const by_hand *f, const double A[2], double C[2]) {
  const double L = f->m->length[0], c = cos(f->z), s = sin(f->z), w = f->w;
  const double table[SENSORS][2] = {{1, 0},
                                    {0, 1},
                                    {A[0], A[1]},
                                    {L * c, 0},
                                    {-L * w * s, L * c},
                                    {L * (-f->wd * s + A[0] * c - w * w * c), L * (A[1] * c - 2 * w * s)}};
  memcpy(C, table[f->sensor], 2 * sizeof *C);
}

static void residual(by_hand *f, const double K[2], double y, double z1, double w1, double g[2]) {
  double zd = 2 / f->h * (z1 - f->z) - f->zd, wd = 2 / f->h * (w1 - f->w) - f->wd, a, e = y - sensed(f, z1, w1, wd);
  assert_int_equal(oracle_fourbar_acceleration(f->m, z1, w1, f->q, &a), 0);
  g[0] = zd - w1 - K[0] * e;
  g[1] = wd - a - K[1] * e;
}

static void step_by_hand(by_hand *f, double y) {
  reduced now = reduce(f->m, f->z, f->q);
  double slope = mass_slope(f->m, f->z, f->q), s2 = now.stretch * now.stretch, h = f->h;
  const double A[2] = {-(f->m->stiffness * s2 + slope * f->wd) / now.mass,
                       -(f->m->damping * s2 + slope * f->w / 2) / now.mass};
  double C[2], P[2][2], K[2], PC[2];
  sensed_slopes(f, A, C);
  for (int i = 0; i < 2; i++) PC[i] = f->P[i][0] * C[0] + f->P[i][1] * C[1];
  const double F[2][2] = {{0, 1}, {A[0], A[1]}};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      double AP = F[i][0] * f->P[0][j] + F[i][1] * f->P[1][j], PA = f->P[i][0] * F[j][0] + f->P[i][1] * F[j][1];
      P[i][j] = f->P[i][j] + h * (AP + PA - PC[i] * PC[j] / f->r + (i == j ? 10 : 0));
    }
  memcpy(f->P, P, sizeof P);
  for (int i = 0; i < 2; i++) K[i] = (P[i][0] * C[0] + P[i][1] * C[1]) / f->r;
  double z1 = f->z + h * f->w, w1 = f->w + h * f->wd;
  for (int k = 0; k < 60; k++) {
    double g[2], gz[2], gw[2], e = 1e-6;
    residual(f, K, y, z1 + e, w1, gz);
    residual(f, K, y, z1, w1 + e, gw);
    residual(f, K, y, z1, w1, g);
    double a = (gz[0] - g[0]) / e, b = (gw[0] - g[0]) / e, c = (gz[1] - g[1]) / e, d = (gw[1] - g[1]) / e;
    double det = a * d - b * c;
    z1 -= (g[0] * d - g[1] * b) / det;
    w1 -= (a * g[1] - c * g[0]) / det;
  }
  double zd = 2 / h * (z1 - f->z) - f->zd, wd = 2 / h * (w1 - f->w) - f->wd;
  f->z = z1, f->w = w1, f->zd = zd, f->wd = wd;
}

// ---- both

static void follow_paper(int sensor, double h, double r, const char *tangent) {
  oracle_fourbar prototype = oracle_fourbar_spring(), model = prototype;
  static oracle_fourbar_sample truth[STEPS + 1];
  double q[6], q0[6];
  model.gravity = 8.81;
  assert_int_equal(oracle_fourbar_assemble_length(&prototype, 1.80, 1, q), 0);
  assert_int_equal(oracle_fourbar_assemble_length(&model, 1.85, 1, q0), 0);
  assert_int_equal(oracle_fourbar_trapezoid(&prototype, q, 0, h, STEPS, truth), 0);
  by_hand f = {.m = &model, .sensor = sensor, .h = h, .r = r, .z = q0[5], .P = {{0.1, 0}, {0, 0}}};
  memcpy(f.q, q0, sizeof q0);
  assert_int_equal(oracle_fourbar_acceleration(&model, f.z, 0, f.q, &f.wd), 0);

  od_machine *machine =
      od_test_machine("cases/fourbar-observer/spring.yaml", "gravity[1]=-8.81", "initial.spring.length=1.85 m", NULL);
  int output = od_test_output(machine, sensor_name[sensor]);
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, &output, 1, NULL, 0, &plant, NULL), OD_OK);
  const double sigma = sqrt(r), P0[4] = {0.1}, Q[2] = {10 * h, 10 * h};
  const double choice[] = {1, strcmp(tangent, "approximate") == 0, 1, 1, 1, 1};
  const od_observer_options options = {.filter = od_filter_type_find("continuous-ekf"),
                                       .form = OD_FORM_JOSEPH,
                                       .sensor_sigma = &sigma,
                                       .choice = choice};
  assert_int_equal(od_observer_check(&options, NULL), OD_OK);
  od_observer *o = od_observer_new(plant, &options);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P0, NULL), OD_OK);
  double worst = 0, apart = 0;
  by_hand scale = {.m = &prototype, .sensor = sensor};
  for (int i = 1; i <= STEPS; i++) {
    const oracle_fourbar_sample *s = &truth[i];
    double y = sensed(&scale, s->z, s->w, s->a) * (1 + 0.1 * sin(37.0 * i));
    step_by_hand(&f, y);
    assert_int_equal(od_observer_predict(o, h, NULL, NULL, Q), OD_OK);
    assert_int_equal(od_observer_correct(o, &y), OD_OK);
    worst = fmax(worst, fmax(fabs(od_observer_state(o)[0] - f.z), fabs(od_observer_state(o)[1] - f.w) / 10));
    for (int k = 0; k < 4; k++)
      worst = fmax(worst, fabs(od_observer_covariance(o)[k] - f.P[k / 2][k % 2]) / (1 + fabs(f.P[1][1])));
    apart = fmax(apart, fabs(f.z - s->z));
  }
  print_message("%-15s %2.0f ms, %s: %.1e off; from the prototype up to %.3f rad\n", sensor_name[sensor], 1e3 * h,
                tangent, worst, apart);
  assert_true(worst < 1e-10);
  od_observer_free(o);
  od_plant_free(plant);
  od_machine_free(machine);
}

static void the_paper_is_reproduced(void **state) {
  (void)state;
  static const double r[2][SENSORS] = {{0.01, 0.01, 100, 0.01, 0.01, 1000}, {0.01, 0.1, 100, 0.01, 0.1, 1000}};
  for (int sensor = 0; sensor < SENSORS; sensor++) {
    follow_paper(sensor, 1e-3, r[0][sensor], "exact");
    follow_paper(sensor, 5e-3, r[1][sensor], "exact");
    follow_paper(sensor, 1e-3, r[0][sensor], "approximate");
  }
}

// ---- functions that the filter needs

static void parts_of_the_motion(void **state) {
  (void)state;
  const oracle_fourbar m = oracle_fourbar_spring();
  od_test_run run = od_test_begin(od_test_machine("cases/fourbar-observer/spring.yaml", NULL), "crank.end.ay",
                                  "A.acceleration", "crank.end.y", NULL);
  double q[6], x[2], mass, stiffness, damping, coriolis, curvature, memory[32], y[3], hx[6], hk[6];
  const double rates = 7;
  const od_motion_parts parts = {&mass, &stiffness, &damping, &coriolis, &curvature};
  assert_true(od_motion_parts_doubles(run.plant) <= sizeof memory / sizeof *memory);
  assert_int_equal(od_sim_start(run.sim, 0, NULL), OD_OK);
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < 40; i++) assert_int_equal(od_sim_step(run.sim, 1e-3, NULL), OD_OK);
    memcpy(x, od_sim_state(run.sim), sizeof x);
    double a = od_sim_rates(run.sim)[0];
    assert_int_equal(oracle_fourbar_assemble_length(&m, 1.80, 1, q), 0);
    assert_int_equal(od_sim_motion_parts(run.sim, &rates, memory, &parts), OD_OK);
    reduced r = reduce(&m, x[0], q);
    double slope = mass_slope(&m, x[0], q), s2 = r.stretch * r.stretch, size = fabs(slope) * fabs(x[1]) + r.mass;
    assert_true(fabs(mass - r.mass) < 1e-9 * r.mass);
    assert_true(fabs(stiffness - m.stiffness * s2) < 1e-9 * m.stiffness * (s2 + 0.01));
    assert_true(fabs(damping - m.damping * s2) < 1e-8 * (m.damping * s2 + size));
    assert_true(fabs(coriolis - slope * x[1] / 2) < 1e-8 * size);
    assert_true(fabs(curvature - slope * rates / 2) < 1e-8 * (fabs(slope) * rates + size));
    // The outputs at these rates; the simulation is unchanged.
    assert_int_equal(od_sim_outputs_at_rates(run.sim, &rates, NULL, y, hx, NULL, hk), OD_OK);
    double L = m.length[0], c = cos(x[0]), s = sin(x[0]);
    assert_true(fabs(y[0] - L * (rates * c - x[1] * x[1] * s)) < 1e-9 && y[1] == rates);
    assert_true(fabs(hx[0] + L * (rates * s + x[1] * x[1] * c)) < 1e-8 && fabs(hx[1] + 2 * L * x[1] * s) < 1e-8);
    assert_true(fabs(hk[0] - L * c) < 1e-9 && fabs(hk[2] - 1) < 1e-12 && hk[4] == 0 && fabs(hx[4] - L * c) < 1e-12);
    assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
    assert_true(fabs(y[1] - a) < 1e-12 * fabs(a));
  }
  od_test_end(&run);
}

// ---- corrections carried to the next step

static int lag(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u, (void)p;
  dx[0] = -x[0];
  return 0;
}
static int lag_slope(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                     double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fu, (void)fp;
  if (fx) fx[0] = -1;
  return 0;
}

// x' = -x. The correction of x' at the end of a step follows from the step's equation; at the start of the next step it is used in the
// coordinates of that time, and without a sample it is zero after that.
static void corrections_follow_coordinates(void **state) {
  (void)state;
  static const double x0 = 1;
  const od_function f = {.nx = 1, .ny = 1, .x0 = &x0, .f = lag, .f_jacobians = lag_slope};
  const double sigma = 0.1, P = 0.04, h = 0.1, y = 1.2, choice[] = {0, 0, 0, 1, 0, 0}, map = 3;
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  const od_observer_options options = {
      .filter = od_filter_type_find("continuous-ekf"), .sensor_sigma = &sigma, .choice = choice};
  for (int changes = 0; changes < 2; changes++) {
    od_observer *o = od_observer_new(plant, &options);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, &P, NULL), OD_OK);
    assert_int_equal(od_observer_predict(o, h, NULL, NULL, NULL), OD_OK);
    assert_int_equal(od_observer_correct(o, &y), OD_OK);
    double x1 = od_observer_state(o)[0], pull = 2 / h * (x1 - 1) + 1 + x1;
    assert_true(pull > 0.1);
    if (changes) assert_int_equal(options.filter->follow(o, &map, NULL), OD_OK);
    assert_int_equal(od_observer_predict(o, h, NULL, NULL, NULL), OD_OK);
    double x2 = (x1 * (1 - h / 2) + h / 2 * pull * (changes ? map : 1)) / (1 + h / 2);
    assert_true(fabs(od_observer_state(o)[0] - x2) < 1e-13);
    assert_int_equal(od_observer_predict(o, h, NULL, NULL, NULL), OD_OK);
    assert_true(fabs(od_observer_state(o)[0] - x2 * (1 - h / 2) / (1 + h / 2)) < 1e-13);
    od_observer_free(o);
  }
  od_plant_free(plant);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_of_the_motion), cmocka_unit_test(the_paper_is_reproduced),
                                     cmocka_unit_test(corrections_follow_coordinates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
