// Poses of bodies: position of the origin and unit quaternion.
//
// Oracles: a pendulum and a four-bar in closed form; a free symmetric top in closed form over several turns and many changes of the
// joint's reference rotation, including the sign of the quaternion; the integral of the angular velocity of a tumbling body by a
// Runge-Kutta method of the test; and over random machines the positions of all points. unit.plant.jacobians compares the
// derivatives of all outputs with complex steps.
#include "support/test.h"

#include <stdio.h>

#include "integrate/integrators.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "support/machine_file.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MOST_OUTPUTS = 4096, MACHINES = 12 };

// A simulated machine with all its outputs.
typedef struct rig {
  const od_model *m;
  od_plant *plant;
  od_sim *sim;
  int changes;  // changes of reference rotations or of the choice of coordinates
  double y[MOST_OUTPUTS];
} rig;

static void open_rig(rig *r, const od_model *m, const double *u) {
  static int outputs[MOST_OUTPUTS];
  assert_true(m->outputs <= MOST_OUTPUTS);
  for (int i = 0; i < m->outputs; i++) outputs[i] = i;
  r->m = m;
  r->changes = 0;
  assert_int_equal(od_model_plant(m, outputs, m->outputs, NULL, 0, &r->plant, NULL), OD_OK);
  r->sim = od_sim_new(r->plant);
  assert_non_null(r->sim);
  assert_int_equal(od_sim_start(r->sim, 0, u), OD_OK);
  assert_int_equal(od_sim_outputs(r->sim, r->y), OD_OK);
  od_sim_set_integrator(r->sim, od_integrator_find("rk4"));
}

static void step(rig *r, double h, const double *u) {
  bool changed = false;
  assert_int_equal(od_sim_step(r->sim, h, u), OD_OK);
  assert_int_equal(od_sim_repartition(r->sim, NULL, &changed), OD_OK);
  r->changes += changed;
  assert_int_equal(od_sim_outputs(r->sim, r->y), OD_OK);
}

static void close_rig(rig *r) {
  od_sim_free(r->sim);
  od_plant_free(r->plant);
}

static double value(const rig *r, const char *name) {
  int i = od_model_output_find(r->m, name);
  if (i < 0) fail_msg("there is no output '%s'", name);
  return r->y[i];
}

static void pose_of(const rig *r, const char *body, double pose[7]) {
  static const char *const part[7] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  for (int k = 0; k < 7; k++) {
    char name[100];
    snprintf(name, sizeof name, "%s.pose.%s", body, part[k]);
    pose[k] = value(r, name);
  }
}

// out = p q
static void product(const double *p, const double *q, double *out) {
  const double r[4] = {
      p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
      p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
  memcpy(out, r, sizeof r);
}

static void turn_about(const double *axis, double angle, double q[4]) {
  double size = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  q[0] = cos(angle / 2);
  for (int k = 0; k < 3; k++) q[1 + k] = sin(angle / 2) * axis[k] / size;
}

// --- Closed forms

// A pendulum about z whose hinge is not the origin of its body; also as a spatial machine. More than a full turn: the sign of
// the quaternion follows the angle.
static void pendulum(void **state) {
  static const char text[] =
      "ground: {points: {hinge: [1 m, 2 m, 0.5 m]}}\n"
      "bodies: {bob: {mass: 2 kg, inertia: [1 kg m^2, 1 kg m^2, 1 kg m^2], points: {eye: [0.3 m, 0.1 m, 0.2 m]}}}\n"
      "joints: {J: {type: revolute, between: [ground.hinge, bob.eye]}}\n"
      "initial: {J.angle: 400 deg, J.rate: 3 rad/s}\n";
  for (int spatial = 0; spatial < 2; spatial++) {
    od_machine *machine = machine_with(*state, text, &(od_load_options){.spatial = spatial});
    rig r;
    double pose[7];
    open_rig(&r, od_machine_model(machine), NULL);
    assert_true(r.m->planar == !spatial);
    for (int n = 0; n < 300; n++) {
      double a = value(&r, "J.angle"), c = cos(a), s = sin(a);
      pose_of(&r, "bob", pose);
      near(pose[0], 1 - (c * 0.3 - s * 0.1), 1e-14);
      near(pose[1], 2 - (s * 0.3 + c * 0.1), 1e-14);
      near(pose[2], 0.5 - 0.2, 1e-15);
      near(pose[3], cos(a / 2), 1e-14);
      near(pose[4], 0, 1e-15);
      near(pose[5], 0, 1e-15);
      near(pose[6], sin(a / 2), 1e-14);
      step(&r, 0.01, NULL);
    }
    close_rig(&r);
    od_machine_free(machine);
  }
}

// The joint between coupler and rocker is at the distances 8 m and 5 m from the ends of crank and ground: an intersection of
// two circles.
static void four_bar(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/fourbar-swing/machine.yaml", NULL);
  rig r;
  open_rig(&r, od_machine_model(machine), NULL);
  for (int n = 0; n < 50; n++, step(&r, 0.01, NULL)) {
    double crank = value(&r, "A.angle"), x = 2 * cos(crank), y = 2 * sin(crank), pose[7];
    double dx = 10 - x, dy = -y, d2 = dx * dx + dy * dy, d = sqrt(d2), along = (64 - 25 + d2) / (2 * d);
    double across = sqrt(64 - along * along), px = x + (along * dx - across * dy) / d,
           py = y + (along * dy + across * dx) / d;
    double angle[3] = {crank, atan2(py - y, px - x), atan2(py, px - 10)};
    double origin[3][2] = {{0, 0}, {x, y}, {10, 0}};
    static const char *const name[3] = {"crank", "coupler", "rocker"};
    for (int i = 0; i < 3; i++) {
      pose_of(&r, name[i], pose);
      near(pose[0], origin[i][0], 1e-12);
      near(pose[1], origin[i][1], 1e-12);
      near(pose[3], cos(angle[i] / 2), 1e-12);
      near(pose[6], sin(angle[i] / 2), 1e-12);
    }
  }
  close_rig(&r);
  od_machine_free(machine);
}

// A free symmetric top with inertias a, a, c turns about its angular momentum L by |L| t / a, after a turn about its own axis z
// by (1 - c/a) w_z t. Both turns are continuous, so the quaternion must agree with its sign.
static void symmetric_top(void **state) {
  static const char text[] =
      "bodies: {top: {mass: 3 kg, inertia: [2 kg m^2, 2 kg m^2, 1.2 kg m^2]}}\n"
      "joints: {J: {type: free, between: [ground, top]}}\n"
      "initial: {J.x: 0 m, J.y: 0 m, J.z: 0 m, J.angle1: 20 deg, J.angle2: 30 deg, J.angle3: -40 deg, J.vx: 1 m/s, "
      "J.rate1: 2.5 rad/s, J.rate2: -1 rad/s, J.rate3: 4 rad/s}\n";
  od_machine *machine = machine_with(*state, text, &(od_load_options){0});
  rig r;
  open_rig(&r, od_machine_model(machine), NULL);
  const double a = 2, c = 1.2, h = 1e-3, spin_axis[3] = {0, 0, 1};
  double pose[7], q0[4], L[3], size = 0;
  pose_of(&r, "top", pose);
  memcpy(q0, pose + 3, sizeof q0);
  // L in ground axes: the body's L, turned by q0 (v + 2 u x (w v + u x v)).
  const double spin = value(&r, "top.gyro_z");
  double own[3] = {a * value(&r, "top.gyro_x"), a * value(&r, "top.gyro_y"), c * spin}, *u = q0 + 1, f[3];
  for (int k = 0; k < 3; k++)
    f[k] = q0[0] * own[k] + u[(k + 1) % 3] * own[(k + 2) % 3] - u[(k + 2) % 3] * own[(k + 1) % 3];
  for (int k = 0; k < 3; k++) L[k] = own[k] + 2 * (u[(k + 1) % 3] * f[(k + 2) % 3] - u[(k + 2) % 3] * f[(k + 1) % 3]);
  for (int k = 0; k < 3; k++) size += L[k] * L[k];
  size = sqrt(size);
  int flips = 0;
  for (int n = 1; n <= 8000; n++) {
    double t = n * h, about_L[4], about_z[4], want[4], before = pose[3];
    step(&r, h, NULL);
    turn_about(L, size * t / a, about_L);
    turn_about(spin_axis, (1 - c / a) * spin * t, about_z);
    product(about_L, q0, want);
    product(want, about_z, want);
    pose_of(&r, "top", pose);
    near(pose[0], t, 1e-9);
    for (int k = 0; k < 4; k++) near(pose[3 + k], want[k], 1e-8);
    flips += (before < 0) != (pose[3] < 0);
  }
  assert_true(flips >= 4 && r.changes > 0);  // several full turns
  close_rig(&r);
  od_machine_free(machine);
}

// --- The integral of the angular velocity

// Computes the rate of a quaternion: (0, w) q / 2.
static void quaternion_rate(const double w[3], const double q[4], double dq[4]) {
  const double p[4] = {0, w[0] / 2, w[1] / 2, w[2] / 2};
  product(p, q, dq);
}

static void read_rates(const rig *r, double w[3]) {
  w[0] = value(r, "top.wx"), w[1] = value(r, "top.wy"), w[2] = value(r, "top.wz");
}

// A body that tumbles about its middle axis, on a ball joint and gravity. Runge-Kutta steps of twice the step of the simulation.
static void tumbling(void **state) {
  static const char text[] =
      "gravity: [0, 0, -9.81 m/s^2]\n"
      "bodies: {top: {mass: 3 kg, centre: [0.1 m, 0.2 m, 0.1 m], inertia: [1 kg m^2, 2 kg m^2, 3 kg m^2]}}\n"
      "joints: {J: {type: spherical, between: [ground, top]}}\n"
      "initial: {J.angle1: 10 deg, J.angle2: 20 deg, J.angle3: 0 deg, J.rate1: 0.1 rad/s, J.rate2: 6 rad/s, J.rate3: 0.2 rad/s}\n";
  od_machine *machine = machine_with(*state, text, &(od_load_options){0});
  rig r;
  open_rig(&r, od_machine_model(machine), NULL);
  const double h = 5e-4;
  double pose[7], q[4], w[3][3];
  pose_of(&r, "top", pose);
  memcpy(q, pose + 3, sizeof q);
  read_rates(&r, w[0]);
  for (int n = 0; n < 6000; n++) {
    double k[4][4], at[4];
    for (int i = 1; i < 3; i++) step(&r, h, NULL), read_rates(&r, w[i]);
    static const int when[4] = {0, 1, 1, 2};
    static const double part[4] = {0, 1, 1, 2};
    for (int s = 0; s < 4; s++) {
      for (int i = 0; i < 4; i++) at[i] = q[i] + (s ? part[s] * h * k[s - 1][i] : 0);
      quaternion_rate(w[when[s]], at, k[s]);
    }
    for (int i = 0; i < 4; i++) q[i] += 2 * h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    memcpy(w[0], w[2], sizeof w[0]);
    pose_of(&r, "top", pose);
    for (int i = 0; i < 4; i++) near(pose[3 + i], q[i], 1e-7);
  }
  assert_true(r.changes >= 4);
  close_rig(&r);
  od_machine_free(machine);
}

// --- Random machines

// Compares the outputs of all points of bodies with the pose applied to their coordinates, and the length of the quaternion.
static void check_points(const rig *r) {
  const od_model *m = r->m;
  for (int i = 0; i < m->points; i++) {
    const od_point *p = &m->point[i];
    double pose[7], own[3], length = 0, *q = pose + 3, c[3], d[3];
    if (p->body == OD_GROUND) continue;
    pose_of(r, od_model_text(m, m->body[p->body].name), pose);
    for (int k = 0; k < 4; k++) length += q[k] * q[k];
    near(length, 1, 1e-14);
    for (int k = 0; k < 3; k++) own[k] = p->number >= 0 ? m->theta[p->number + k] : 0;
    if (p->length >= 0) own[0] += p->fraction * m->theta[p->length];
    for (int k = 0; k < 3; k++) c[k] = q[1 + (k + 1) % 3] * own[(k + 2) % 3] - q[1 + (k + 2) % 3] * own[(k + 1) % 3];
    for (int k = 0; k < 3; k++) d[k] = q[1 + (k + 1) % 3] * c[(k + 2) % 3] - q[1 + (k + 2) % 3] * c[(k + 1) % 3];
    for (int k = 0; k < 3; k++) {
      int output = 0;  // several points of a random machine have the same name
      while (m->output[output].kind != OD_OUT_POINT || m->output[output].index != i || m->output[output].component != k)
        output++;
      near_scaled(pose[k] + own[k] + 2 * (q[0] * c[k] + d[k]), r->y[output], 1e-14, 1 + m->size);
    }
  }
}

static void random_machines(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    int found = 0;
    for (uint64_t seed = 1; found < MACHINES; seed++) {
      od_model *m = od_random_machine(seed, kind & 1, kind & 2, false, false);
      static rig r;
      const double u[2] = {0.7, -0.4};
      if (!m) continue;
      found++;
      open_rig(&r, m, u);
      for (int n = 0; n < 5; n++) {
        check_points(&r);
        step(&r, 1e-3, u);
      }
      close_rig(&r);
      od_model_free(m);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum), cmocka_unit_test(four_bar),        cmocka_unit_test(symmetric_top),
      cmocka_unit_test(tumbling), cmocka_unit_test(random_machines),
  };
  return cmocka_run_group_tests(tests, machine_file_start, machine_file_end);
}
