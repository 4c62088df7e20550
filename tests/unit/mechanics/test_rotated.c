// A four-bar with a spring, forces, a torque and a sliding mass, rotated in space.
//
// Oracle: symmetry. Physics has no preferred direction: if all vectors of a machine are rotated, vector outputs rotate and scalar outputs stay, in
// planes of any orientation, and the equations of a plane give the same motion as those of space.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "model/model.h"
#include "oleodyn/build.h"
#include "oleodyn/sim.h"

enum { MOST_OUTPUTS = 600, STEPS = 30 };
typedef double rotation[3][3];

static int number(od_build *b, const char *path, double value) {
  return od_build_number(b, path, value, "1");
}
// Three numbers: a vector of the machine, rotated.
static int vector(od_build *b, rotation R, const char *path, double x, double y, double z) {
  const double v[3] = {x, y, z};
  int first = -1;
  for (int i = 0; i < 3; i++) {
    int at = number(b, path, R[i][0] * v[0] + R[i][1] * v[1] + R[i][2] * v[2]);
    if (i == 0) first = at;
  }
  return first;
}
static int point(od_build *b, rotation R, const char *name, int body, double x, double y, double z) {
  return od_build_point(b, name, body, vector(b, R, name, x, y, z), -1, 0);
}
// Mass, center, inertia tensor R J R'.
static int body(od_build *b, rotation R, const char *name, double mass, double x, double y, double z) {
  const double J[3][3] = {{0.1, 0.02, -0.03}, {0.02, 0.2, 0.01}, {-0.03, 0.01, 0.25}};
  static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  int first = number(b, name, mass);
  vector(b, R, name, x, y, z);
  for (int k = 0; k < 6; k++) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) sum += R[at[k][0]][i] * J[i][j] * R[at[k][1]][j];
    number(b, name, sum);
  }
  return od_build_body(b, name, OD_SHAPE_GENERAL, first);
}
static void joint(od_build *b, const char *name, od_joint_type type, int a, int c, int axis, bool cut) {
  od_joint_spec s = od_joint_spec_of(type, a, c);
  s.axis_a = axis;
  s.cut = cut;
  od_build_joint(b, name, &s);
}

// Points are in different planes z = constant; joints of the loop connect points of the same plane.
static od_model *build(rotation R, bool spatial) {
  od_build *b = od_build_new();
  od_build_gravity(b, vector(b, R, "gravity", 1.5, -9.3, 0.7));
  int input = od_build_input(b, "u", "1");
  int crank = body(b, R, "crank", 2, 0.3, 0.05, 0.1), coupler = body(b, R, "coupler", 1.5, 0.4, -0.1, 0.2);
  int rocker = body(b, R, "rocker", 1.2, 0.2, 0.3, -0.1), mass = body(b, R, "mass", 0.7, 0.05, 0, 0);
  int z = vector(b, R, "axis", 0, 0, 2);
  int A = point(b, R, "A", OD_GROUND, 0, 0, 0.3), D = point(b, R, "D", OD_GROUND, 1.2, 0.1, 0.4);
  int a0 = point(b, R, "a0", crank, 0, 0, 0.1), a1 = point(b, R, "a1", crank, 0.5, 0, 0.15);
  int c0 = point(b, R, "c0", coupler, 0, 0, -0.2), c1 = point(b, R, "c1", coupler, 1.0, 0, -0.05);
  int r0 = point(b, R, "r0", rocker, 0, 0, 0.2), r1 = point(b, R, "r1", rocker, 0.7, 0, 0.3);
  int guide = point(b, R, "guide", coupler, 0.3, 0.2, 0.1), m0 = point(b, R, "m0", mass, 0, 0, 0),
      tip = point(b, R, "tip", mass, 0.1, 0.2, 0);
  joint(b, "main", OD_REVOLUTE, A, a0, z, false);
  joint(b, "knee", OD_REVOLUTE, a1, c0, z, false);
  joint(b, "foot", OD_REVOLUTE, D, r0, z, false);
  joint(b, "slide", OD_PRISMATIC, guide, m0, vector(b, R, "slide", 0.8, 0.6, 0), false);
  joint(b, "top", OD_REVOLUTE, c1, r1, z, true);
  int push = number(b, "push", 3), value;
  vector(b, R, "push", 0.3, 1, 0.2);
  od_build_force(b, "push", tip, push, input, false);
  value = number(b, "pull", -2);
  vector(b, R, "pull", 1, -0.4, 0.1);
  od_build_force(b, "pull", r1, value, OD_UNUSED, true);
  value = number(b, "turn", 0.8);
  vector(b, R, "turn", 0.1, 0.2, 1);
  od_build_torque(b, "turn", rocker, value, OD_UNUSED, false);
  od_element_spec spring = od_element_spec_of("spring");
  spring.point_a = point(b, R, "wall", OD_GROUND, -0.5, 0.4, 0.65), spring.point_b = tip;
  spring.first_number = od_build_element_numbers(
      b, "spring", "spring", (od_keyed_number[]){{"stiffness", 400}, {"length", 0.1}, {"damping", 4}}, 3);
  od_build_element(b, "spring", &spring);
  od_build_initial(b, "main.angle", 1.1, true);
  od_build_initial(b, "main.rate", 2.5, true);
  od_build_initial(b, "slide.position", 0.12, true);
  od_build_initial(b, "slide.rate", -0.4, true);
  od_build_initial(b, "knee.angle", -0.8, false);
  od_build_initial(b, "foot.angle", 1.4, false);
  od_build_spatial(b, spatial);
  od_model *m = NULL;
  od_error err = {0};
  if (od_build_finish(b, &m, &err) != OD_OK) print_error("%s\n", err.text);
  assert_non_null(m);
  od_build_free(b);
  return m;
}

// All outputs after each step; the caller frees them.
static double *follow(const od_model *m) {
  od_plant *plant;
  int out[MOST_OUTPUTS];
  const double u[1] = {0.7};
  assert_true(m->outputs <= MOST_OUTPUTS);
  for (int i = 0; i < m->outputs; i++) out[i] = i;
  assert_int_equal(od_model_plant(m, out, m->outputs, NULL, 0, &plant, NULL), OD_OK);
  od_sim *s = od_sim_new(plant);
  od_sim_set_integrator(s, od_integrator_find("rk4"));
  double *y = malloc((size_t)(m->outputs * STEPS) * sizeof *y);
  assert_int_equal(od_sim_start(s, 0, u), OD_OK);
  for (int k = 0; k < STEPS; k++) {
    assert_int_equal(od_sim_outputs(s, y + k * m->outputs), OD_OK);
    assert_int_equal(od_sim_step(s, 1e-3, u), OD_OK);
  }
  od_sim_free(s);
  od_plant_free(plant);
  return y;
}

static bool is_vector(const od_output *o) {
  return (o->kind >= OD_OUT_POINT && o->kind <= OD_OUT_POINT_SPECIFIC_FORCE) || o->kind == OD_OUT_BODY_GYRO ||
         o->kind == OD_OUT_BODY_GYRO_RATE || o->kind == OD_OUT_JOINT_FORCE || o->kind == OD_OUT_JOINT_TORQUE;
}

// Compares outputs of the same names. in_space: the second machine has equations of space, which also give the reactions out of the plane.
static void compare(const od_model *a, const double *ya, const od_model *b, const double *yb, rotation R,
                    bool in_space) {
  int vectors = 0, scalars = 0;
  double size = 1;
  for (int k = 0; k < a->outputs * STEPS; k++) size = fmax(size, fmin(fabs(ya[k]), 100));
  for (int i = 0; i < a->outputs; i++) {
    const od_output *o = &a->output[i];
    bool reaction = o->kind == OD_OUT_JOINT_FORCE || o->kind == OD_OUT_JOINT_TORQUE;
    int j = od_model_output_find(b, od_model_text(a, o->name));
    if (j < 0 || (in_space && reaction) || b->output[j].kind != o->kind) continue;
    for (int k = 0; k < STEPS; k++) {
      const double *before = ya + k * a->outputs, *after = yb + k * b->outputs;
      if (!is_vector(o) || o->component > 2) {
        scalars++;
        // Equations of the plane leave out the constant potential energy of heights above it.
        bool potential = o->kind == OD_OUT_BODY_POTENTIAL || o->kind == OD_OUT_POTENTIAL || o->kind == OD_OUT_STORED;
        if (potential && in_space) {
          near(after[j] - yb[j], before[i] - ya[i], 1e-8 * (fabs(before[i]) + size));
          continue;
        }
        // Angles of bodies in a plane are positive about the plane's normal.
        bool turns = o->kind == OD_OUT_BODY_ANGLE || o->kind == OD_OUT_BODY_TURN_RATE ||
                     o->kind == OD_OUT_BODY_TURN_ACCELERATION;
        if (turns && in_space) continue;
        double side = 0;
        for (int q = 0; q < 3; q++) side += b->plane[2][q] * R[q][2];
        near(after[j], turns ? side * before[i] : before[i], 1e-8 * (fabs(before[i]) + size));
        continue;
      }
      // The three components of this vector in the first machine, by the names of the outputs' kind and index.
      double v[3] = {0}, sum = 0;
      int found = 0;
      for (int q = 0; q < a->outputs; q++) {
        const od_output *p = &a->output[q];
        if (p->kind == o->kind && p->index == o->index && p->component <= 2) v[p->component] = before[q], found++;
      }
      if (found != 3) continue;
      for (int q = 0; q < 3; q++) sum += R[o->component][q] * v[q];
      vectors++;
      near(after[j], sum, 1e-8 * (fabs(sum) + size));
    }
  }
  assert_true(vectors > 100 * STEPS / 2 && scalars > 20 * STEPS);
}

static void turned(rotation R, double x, double y, double z) {
  const double cx = cos(x), sx = sin(x), cy = cos(y), sy = sin(y), cz = cos(z), sz = sin(z);
  const rotation all = {{cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz},
                        {cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz},
                        {-sy, sx * cy, cx * cy}};
  // Exact zeros for turns by right angles.
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) R[i][j] = fabs(all[i][j]) < 1e-15 ? 0 : all[i][j];
}

static void planes(void **state) {
  (void)state;
  const double right = acos(-1) / 2;
  const double turn[][3] = {{0, 0, 0},      {2 * right, 0, 0}, {right, 0, 0},    {-right, 0, 0},  {0, right, 0},
                            {0, -right, 0}, {0, 0, right},     {0.4, -0.7, 1.1}, {2.9, 0.3, 0.2}, {0, 0.9, 0}};
  rotation one;
  turned(one, 0, 0, 0);
  od_model *first = build(one, false);
  assert_true(first->planar);
  double *y = follow(first);
  for (size_t i = 0; i < sizeof turn / sizeof *turn; i++) {
    rotation R;
    turned(R, turn[i][0], turn[i][1], turn[i][2]);
    for (int spatial = 0; spatial < 2; spatial++) {
      od_model *m = build(R, spatial);
      assert_int_equal(m->planar, !spatial);
      // The normal is positive along its main axis.
      for (int k = 0; k < 3 && !spatial; k++)
        if (fabs(m->plane[2][k]) > 0.8) assert_true(m->plane[2][k] > 0);
      double *other = follow(m);
      compare(first, y, m, other, R, spatial);
      free(other);
      od_model_free(m);
    }
  }
  free(y);
  od_model_free(first);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(planes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
