// Initial values of all quantities that may have them (plant/initial_values.c). A pendulum of 2 m at the angle q in a plane, and two bodies
// that turn in space: each quantity alone determines the angle or the rate. Oracle: the kinematics, by hand.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "machine/machine.h"
#include "support/machines.h"

static const double q = 0.3, r = -1.7;

static const char pendulum[] =
    "ground: {points: {O: [0, 0], F: [3 m, 0]}}\n"
    "bodies: {b: {mass: 2 kg, inertia: 1 kg m^2, centre: [1 m, 0], points: {O: [0, 0], E: [2 m, 0]}}}\n"
    "joints: {A: {type: revolute, between: [ground.O, b.O]}}\n"
    "springs: {s: {between: [ground.F, b.E], stiffness: 100 N/m, length: 1 m}}\n";
// Loads a machine with initial values and compares the angle and the rate.
static void check(const char *parts, const char *initial, double angle, double rate) {
  char text[2000];
  snprintf(text, sizeof text, "%sinitial: {%s}\n", parts, initial);
  od_machine *machine = od_test_machine_text(text);
  const od_model *m = od_machine_model(machine);
  if (!(fabs(m->z0[0] - angle) < 1e-9 && fabs(m->zd0[0] - rate) < 1e-9))
    fail_msg("%s: %.12g rad, %.12g rad/s", initial, m->z0[0], m->zd0[0]);
  od_machine_free(machine);
}

static void in_a_plane(void **state) {
  (void)state;
  const double x = 2 * cos(q), y = 2 * sin(q), length = hypot(3 - x, y), speed = r * (y * 3) / length;
  const struct {
    const char *name;
    double value;
  } positions[] = {{"A.angle", q}, {"b.angle", q}, {"b.E.y", y}, {"b.E.x", x}, {"s.length", length}},
    rates[] = {{"A.rate", r},     {"b.turn_rate", r},     {"b.E.vx", -y * r},
               {"b.E.vy", x * r}, {"b.E.body_vy", 2 * r}, {"s.rate", speed}};
  char initial[200];
  for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
    snprintf(initial, sizeof initial, "%s%s: %.17g", i ? "A.angle: about 0.4, " : "", positions[i].name,
             positions[i].value);
    check(pendulum, initial, q, 0);
  }
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    snprintf(initial, sizeof initial, "A.angle: %.17g, %s: %.17g", q, rates[i].name, rates[i].value);
    check(pendulum, initial, q, r);
  }
}

static int list(od_build *b, const char *path, int count, const double *value) {
  int first = 0;
  for (int i = 0; i < count; i++) {
    char name[40];
    snprintf(name, sizeof name, "%s%d", path, i);
    int place = od_build_number(b, name, value[i], "1");
    if (i == 0) first = place;
  }
  return first;
}

// The body b turns about z, c about the x axis of b: the rates of c in its own axes are r2 along x, r sin q2 along y and r cos q2 along z. Machine
// files do not offer the rates of bodies in space; programs do. The point E of c is at 2 m along y; its velocity along z of c is 2 r2.
static void in_space(void **state) {
  (void)state;
  const double q2 = 0.8, r2 = 0.6;
  const struct {
    const char *first, *second;
    double value, other;
  } rates[] = {{"b.wz", "c.gyro_x", r, r2},
               {"b.gyro_z", "B.rate", r, r2},
               {"c.gyro_y", "B.rate", r * sin(q2), r2},
               {"c.gyro_z", "c.wx", r * cos(q2), r2 * cos(q)},
               {"A.rate", "c.wy", r, r2 * sin(q)},
               {"A.rate", "c.E.body_vz", r, 2 * r2}};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    od_build *b = od_build_new();
    const double body[] = {2, 0, 0, 0, 1, 1, 1, 0, 0, 0}, z[] = {0, 0, 1}, x[] = {1, 0, 0}, e[] = {0, 2, 0};
    int one = od_build_body(b, "b", OD_SHAPE_GENERAL, list(b, "b", 10, body));
    int two = od_build_body(b, "c", OD_SHAPE_GENERAL, list(b, "c", 10, body));
    int ground = od_build_point(b, "O", OD_GROUND, OD_UNUSED, OD_UNUSED, 0),
        on_one = od_build_point(b, "O", one, OD_UNUSED, OD_UNUSED, 0);
    int on_two = od_build_point(b, "O", two, OD_UNUSED, OD_UNUSED, 0);
    od_build_point(b, "E", two, list(b, "E", 3, e), OD_UNUSED, 0);
    od_joint_spec A = od_joint_spec_of(OD_REVOLUTE, ground, on_one), B = od_joint_spec_of(OD_REVOLUTE, on_one, on_two);
    A.axis_a = list(b, "z", 3, z), B.axis_a = list(b, "x", 3, x);
    od_build_joint(b, "A", &A);
    od_build_joint(b, "B", &B);
    od_build_initial(b, "A.angle", q, true);
    od_build_initial(b, "B.angle", q2, true);
    od_build_initial(b, rates[i].first, rates[i].value, true);
    od_build_initial(b, rates[i].second, rates[i].other, true);
    od_model *m = NULL;
    od_error err = {0};
    if (od_build_finish(b, &m, &err) != OD_OK) fail_msg("%s, %s: %s", rates[i].first, rates[i].second, err.text);
    od_build_free(b);
    near(m->z0[0], q, 1e-12), near(m->z0[1], q2, 1e-12);
    near(m->zd0[0], r, 1e-9), near(m->zd0[1], r2, 1e-9);
    od_model_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_a_plane), cmocka_unit_test(in_space)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
