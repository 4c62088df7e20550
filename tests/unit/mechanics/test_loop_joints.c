// Joints, rods and gears that close loops, on random machines in the plane and in space.
//
// Oracle: geometry. From the outputs of four points of each body, its position and rotation are known. During a motion the points of a joint
// coincide, or stay on its axis or in its plane, axes stay parallel or at their angle, and relative rotations of prismatic and fixed joints stay
// constant; rods keep their lengths.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "model/model.h"
#include "oleodyn/sim.h"
#include "support/random_machine.h"

enum { MOST_BODIES = 12, MACHINES = 60, STEPS = 25 };

typedef struct pose {
  double r[3], R[3][3];
} pose;

static void read_poses(const od_model *m, const double *y, pose *p) {
  for (int body = 0; body < m->bodies; body++, y += 12)
    for (int i = 0; i < 3; i++) {
      p[body].r[i] = y[i];
      for (int k = 0; k < 3; k++) p[body].R[i][k] = y[3 + 3 * k + i] - y[i];
    }
}

// A vector of a body, or of the ground, in ground axes.
static void turn(const pose *p, int body, const double *v, double *out) {
  for (int i = 0; i < 3; i++)
    out[i] = body < 0 ? v[i] : p[body].R[i][0] * v[0] + p[body].R[i][1] * v[1] + p[body].R[i][2] * v[2];
}
static void place(const od_model *m, const pose *p, int point, double *out) {
  const od_point *q = &m->point[point];
  double v[3] = {0};
  for (int i = 0; i < 3 && q->number >= 0; i++) v[i] = m->theta[q->number + i];
  if (q->length >= 0) v[0] += q->fraction * m->theta[q->length];
  turn(p, q->body, v, out);
  for (int i = 0; i < 3 && q->body >= 0; i++) out[i] += p[q->body].r[i];
}
static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void unit(const od_model *m, const pose *p, int body, int number, double *out) {
  turn(p, body, m->theta + number, out);
  double length = sqrt(dot(out, out));
  for (int i = 0; i < 3; i++) out[i] /= length;
}
// Entry (i, j) of the relative rotation of two bodies.
static double relative(const pose *p, int a, int b, int i, int j) {
  double sum = 0;
  for (int k = 0; k < 3; k++) sum += (a < 0 ? k == i : p[a].R[k][i]) * (b < 0 ? k == j : p[b].R[k][j]);
  return sum;
}

static int seen[OD_FREE + 2];
static const double close = 1e-8;

static void check_joint(const od_model *m, const od_joint *j, const pose *first, const pose *now) {
  const od_joint_spec *s = &j->spec;
  int a = m->point[s->point_a].body, b = m->point[s->point_b].body;
  double A[3], B[3], gap[3], axis[3] = {0}, other[3] = {0}, at_first[3], before[3], axis_before[3];
  place(m, now, s->point_a, A), place(m, now, s->point_b, B);
  for (int i = 0; i < 3; i++) gap[i] = B[i] - A[i];
  if (s->axis_a >= 0) {
    unit(m, now, a, s->axis_a, axis);
    unit(m, now, b, s->axis_b >= 0 ? s->axis_b : s->axis_a, other);
  }
  seen[s->type]++;
  bool along = s->type == OD_PRISMATIC || s->type == OD_CYLINDRICAL, across = s->type == OD_PLANAR_JOINT;
  double part = dot(gap, axis);
  for (int i = 0; i < 3 && !across; i++) near(gap[i], along ? part * axis[i] : 0, close);
  if (across) {
    place(m, first, s->point_a, at_first), place(m, first, s->point_b, before);
    unit(m, first, a, s->axis_a, axis_before);
    for (int i = 0; i < 3; i++) before[i] -= at_first[i];
    near(part, dot(before, axis_before), close);
  }
  if (s->type == OD_UNIVERSAL) {  // the angle between the axes is that of the zero position
    unit(m, NULL, OD_GROUND, s->axis_a, at_first);
    unit(m, NULL, OD_GROUND, s->axis_b, before);
    near(dot(axis, other), dot(at_first, before), close);
  }
  if (s->type == OD_REVOLUTE || along || across) near(dot(axis, other), 1, close);
  if (s->type == OD_PRISMATIC || s->type == OD_FIXED)
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) near(relative(now, a, b, i, k), relative(first, a, b, i, k), close);
}

static bool check_machine(unsigned long long seed, bool planar) {
  od_model *m = od_random_machine(seed, planar, true, false, false);
  if (!m) return false;
  assert_true(m->bodies <= MOST_BODIES);
  int out[12 * MOST_BODIES], count = 0;
  for (int body = 0; body < m->bodies; body++)
    for (int k = 0; k < 12; k++) {
      char name[64];
      snprintf(name, sizeof name, "body%d.%c.%c", body, "oxyz"[k / 3], "xyz"[k % 3]);
      out[count] = od_model_output_find(m, name);
      assert_true(out[count++] >= 0);
    }
  od_plant *plant;
  assert_int_equal(od_model_plant(m, out, count, NULL, 0, &plant, NULL), OD_OK);
  od_sim *s = od_sim_new(plant);
  const double u[2] = {0.3, -0.2};
  double y[12 * MOST_BODIES], x[64];
  pose first[MOST_BODIES], now[MOST_BODIES];
  od_status status = od_sim_start(s, 0, u);
  assert_true(od_plant_nx(plant) <= 64);
  if (status == OD_OK) {
    memcpy(x, od_sim_state(s), (size_t)od_plant_nx(plant) * sizeof *x);
    for (int i = 0; i < plant->nz; i++) x[plant->nz + i] += i % 2 ? 0.8 : -0.6;
    status = od_sim_set(s, 0, x, u);
  }
  for (int k = 0; k <= STEPS && status == OD_OK; k++) {
    assert_int_equal(od_sim_outputs(s, y), OD_OK);
    read_poses(m, y, now);
    if (k == 0) memcpy(first, now, sizeof first);
    for (int i = 0; i < m->joints; i++)
      if (m->joint[i].link < 0) check_joint(m, &m->joint[i], first, now);
    for (int i = 0; i < m->rods; i++) {
      double A[3], B[3];
      place(m, now, m->rod[i].point_a, A), place(m, now, m->rod[i].point_b, B);
      for (int q = 0; q < 3; q++) B[q] -= A[q];
      near(sqrt(dot(B, B)), m->theta[m->rod[i].number], close);
      seen[OD_FREE + 1]++;
    }
    bool changed;
    status = od_sim_step(s, 2e-3, u);
    if (status == OD_OK) status = od_sim_repartition(s, NULL, &changed);
  }
  od_sim_free(s);
  od_plant_free(plant);
  od_model_free(m);
  return true;
}

static void random_machines(void **state) {
  (void)state;
  for (int planar = 0; planar < 2; planar++) {
    int made = 0;
    memset(seen, 0, sizeof seen);
    for (unsigned long long seed = 1; made < MACHINES && seed < 60 * MACHINES; seed++)
      made += check_machine(seed, planar);
    print_message("revolute %d, prismatic %d, universal %d, spherical %d, cylindrical %d, planar %d, rods %d\n",
                  seen[OD_REVOLUTE], seen[OD_PRISMATIC], seen[OD_UNIVERSAL], seen[OD_SPHERICAL], seen[OD_CYLINDRICAL],
                  seen[OD_PLANAR_JOINT], seen[OD_FREE + 1]);
    assert_true(seen[OD_REVOLUTE] && seen[OD_PRISMATIC] && seen[OD_SPHERICAL] && seen[OD_FREE + 1]);
    if (!planar) assert_true(seen[OD_UNIVERSAL] && seen[OD_CYLINDRICAL] && seen[OD_PLANAR_JOINT]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_machines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
