// Inverse dynamics. Oracles: a forward run of the machine with the computed efforts, by an integrator of order 16 that shares no code
// with the engine, which must give the motion; Lagrange's equations of a double pendulum by hand; powers, which are the same for all
// drives; statics of a lever.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "integrate/rates.h"
#include "machine/machine.h"
#include "oracle/extrapolation.h"
#include "plant/inverse.h"
#include "support/machines.h"
#include "support/machine_file.h"

enum { MOST = 4 };

// A motion that starts at rest: q = start + size (1 - cos w t).
typedef struct bench {
  od_machine *machine;
  const od_model *m;
  od_plant *plant;
  od_inverse *inverse;
  void *work;
  int n, load[MOST];
  int moved[MOST];
  double start[MOST], size[MOST], w[MOST];
  double gk[64], factors[64], g[16];
  int pivot[16];
} bench;

static int output(const od_machine *machine, const char *name) {
  int i = od_machine_output_find(machine, name);
  if (i < 0) fail_msg("there is no %s", name);
  return i;
}

// The drives: all loads of the machine.
static void begin(bench *b, od_machine *machine, const char *const *moved, const double *size) {
  od_drive drive[MOST];
  double u[MOST] = {0}, zero[MOST] = {0}, effort[MOST];
  *b = (bench){.machine = machine, .m = od_machine_model(machine)};
  b->n = b->m->freedom;
  assert_true(b->n <= MOST && b->m->loads == b->n);
  for (int i = 0; i < b->n; i++) {
    b->moved[i] = output(machine, moved[i]);
    drive[i] = (od_drive){OD_DRIVE_LOAD, i, 1};
    b->load[i] = b->m->load[i].input;
    b->size[i] = size[i], b->w[i] = 2 + i;
  }
  assert_int_equal(od_machine_plant(machine, b->moved, b->n, NULL, 0, &b->plant, NULL), OD_OK);
  assert_int_equal(od_inverse_new(b->plant, b->moved, b->n, 0, drive, b->n, NULL, 0, &b->inverse), OD_OK);
  b->work = calloc(1, b->plant->work_size);
  // The initial position, in which the machine does not move by itself.
  double x[16], k[16];
  assert_int_equal(b->plant->ops->start(b->plant, b->work, x), OD_OK);
  const od_rate_matrix matrix = {b->gk, b->factors, b->g, b->pivot};
  assert_int_equal(od_plant_rates(b->plant, b->work, 0, x, u, k, &matrix), OD_OK);
  assert_int_equal(b->plant->ops->outputs(b->plant, b->work, zero, b->start), OD_OK);
  assert_int_equal(od_inverse_start(b->inverse), OD_OK);
  assert_int_equal(od_inverse_solve(b->inverse, u, b->start, zero, zero, effort), OD_OK);
}

static void end(bench *b) {
  od_inverse_free(b->inverse);
  free(b->work);
  od_plant_free(b->plant);
  od_machine_free(b->machine);
}

static void motion_at(const bench *b, double t, double *q, double *rate, double *second) {
  for (int i = 0; i < b->n; i++) {
    q[i] = b->start[i] + b->size[i] * (1 - cos(b->w[i] * t));
    rate[i] = b->size[i] * b->w[i] * sin(b->w[i] * t);
    second[i] = b->size[i] * b->w[i] * b->w[i] * cos(b->w[i] * t);
  }
}

static void efforts_at(bench *b, double t, double *effort) {
  double q[MOST], rate[MOST], second[MOST], u[MOST] = {0};
  motion_at(b, t, q, rate, second);
  assert_int_equal(od_inverse_solve(b->inverse, u, q, rate, second, effort), OD_OK);
}

// The machine forward, with the efforts as its inputs.
static void forward(void *user, double t, const double *x, double *dx) {
  bench *b = user;
  double effort[MOST], u[MOST], k[16];
  const od_rate_matrix matrix = {b->gk, b->factors, b->g, b->pivot};
  efforts_at(b, t, effort);
  for (int i = 0; i < b->n; i++) u[b->load[i]] = effort[i] / b->m->theta[b->m->load[i].number];
  assert_int_equal(od_plant_rates(b->plant, b->work, t, x, u, k, &matrix), OD_OK);
  for (int i = 0; i < b->n; i++) dx[i] = x[b->n + i], dx[b->n + i] = k[i];
}

static void returns_the_motion(od_machine *machine, const char *const *moved, const double *size, double time) {
  bench b;
  double x[16], q[MOST], rate[MOST], second[MOST], y[MOST], energy[64] = {0}, farthest = 0, way = 0;
  begin(&b, machine, moved, size);
  assert_int_equal(b.plant->ops->start(b.plant, b.work, x), OD_OK);
  const int steps = 40;
  for (int k = 0; k < steps; k++) {
    oracle_extrapolate(forward, &b, 2 * b.n, time * k / steps, time / steps, x);
    double dx[16];
    forward(&b, time * (k + 1) / steps, x, dx);
    motion_at(&b, time * (k + 1) / steps, q, rate, second);
    assert_int_equal(b.plant->ops->outputs(b.plant, b.work, energy, y), OD_OK);
    for (int i = 0; i < b.n; i++) {
      farthest = fmax(farthest, fabs(y[i] - q[i]));
      way = fmax(way, fabs(q[i] - b.start[i]));
    }
  }
  print_message("%s: a way of %.3g returned to %.2g\n", od_machine_title(machine), way, farthest);
  assert_true(way > 0.1 && farthest < 1e-8);
  end(&b);
}

static const char pendulum_text[] =
    "machine: driven double pendulum\n"
    "gravity: [0, -9.81 m/s^2]\n"
    "bodies: {upper: {beam: {mass: 2 kg, length: 1 m}}, lower: {beam: {mass: 1 kg, length: 0.7 m}}}\n"
    "joints:\n"
    "  shoulder: {type: revolute, between: [ground, upper.start]}\n"
    "  elbow: {type: revolute, between: [upper.end, lower.start]}\n"
    "inputs: {a: {unit: N m, constant: 0}, b: {unit: N m, constant: 0}}\n"
    "torques: {one: {joint: shoulder, value: a}, two: {joint: elbow, value: b}}\n"
    "initial: {shoulder.angle: -60 deg, elbow.angle: 45 deg}\n";

static const char fourbar_text[] =
    "machine: driven four-bar\n"
    "gravity: [0, -9.81 m/s^2]\n"
    "ground: {points: {A: [0, 0], B: [10 m, 0]}}\n"
    "bodies:\n"
    "  crank: {beam: {mass: 100 kg, length: 2 m}}\n"
    "  coupler: {beam: {mass: 400 kg, length: 8 m}}\n"
    "  rocker: {beam: {mass: 250 kg, length: 5 m}}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground.A, crank.start]}\n"
    "  P1: {type: revolute, between: [crank.end, coupler.start]}\n"
    "  B: {type: revolute, between: [ground.B, rocker.start], damping: 200 N m s/rad}\n"
    "  P2: {type: revolute, between: [coupler.end, rocker.end], cut: true}\n"
    "inputs: {pull: {unit: N, constant: 0}}\n"
    "forces: {rope: {at: rocker.end, value: pull, direction: [1, 0.3]}}\n"
    "initial: {A.angle: 60 deg, P1.angle: about -38 deg, B.angle: about 109 deg}\n";

static const char crane_form[] =
    "machine: driven crane\n"
    "gravity: [0, -9.81 m/s^2]\n"
    "ground: {points: {pivot: [0, 1.5 m], foot: [0.4 m, 0.3 m]}}\n"
    "bodies:\n"
    "  boom:\n"
    "    cylinder: {mass: 200 kg, length: 4 m, radius: 0.15 m}\n"
    "    points: {lug: [1.2 m, 0], tie: [2.5 m, 0.5 m]}\n"
    "  jib:\n"
    "    cylinder: {mass: 100 kg, length: 3 m, radius: 0.1 m}\n"
    "    points: {horn: [-0.3 m, 0.5 m]}\n"
    "  payload: {point: {mass: 250 kg}}\n"
    "joints:\n"
    "  heel: {type: revolute, between: [ground.pivot, boom.start]}\n"
    "  elbow: {type: revolute, between: [boom.end, jib.start], damping: 50 N m s/rad}\n"
    "  hook: {type: fixed, between: [jib.end, payload]}\n"
    "springs:\n"
    "  lift: {between: [ground.foot, boom.lug], stiffness: 500 kN/m, damping: 20 kN s/m, length: 2.10 m}\n"
    "  tilt: {between: [boom.tie, jib.horn], stiffness: 400 kN/m, damping: 10 kN s/m, length: 1.65 m}\n"
    "inputs: {a: {unit: N m, constant: 0}, b: {unit: N m, constant: 0}}\n"
    "torques: {one: {joint: heel, value: a}, two: {joint: elbow, value: b}}\n"
    "initial: {heel.angle: 40 deg, elbow.angle: -50 deg%s}\n";

static void double_pendulum_returns(void **state) {
  const char *const moved[] = {"shoulder.angle", "elbow.angle"};
  const double size[] = {0.5, -0.8};
  returns_the_motion(machine_from(*state, pendulum_text, NULL, NULL), moved, size, 2);
}
static void pendulum_by_its_tip_returns(void **state) {
  const char *const moved[] = {"lower.end.x", "lower.end.y"};
  const double size[] = {0.1, 0.15};
  returns_the_motion(machine_with(*state, pendulum_text, &(od_load_options){.spatial = true}), moved, size, 1);
}
static void fourbar_returns(void **state) {
  const char *const moved[] = {"B.angle"};
  const double size[] = {0.2};
  returns_the_motion(machine_from(*state, fourbar_text, NULL, NULL), moved, size, 1.5);
}
// Lengths are prescribed, torques drive.
static void crane_returns(void **state) {
  const char *const moved[] = {"lift.length", "tilt.length"};
  const double size[] = {0.06, -0.05};
  char text[4000];
  snprintf(text, sizeof text, crane_form, "");
  returns_the_motion(machine_from(*state, text, NULL, NULL), moved, size, 2);
}

// Lagrange's equations of two slender beams.
static void torques_are_those_of_lagrange(void **state) {
  const char *const moved[] = {"shoulder.angle", "elbow.angle"};
  const double size[] = {0.5, -0.8};
  bench b;
  begin(&b, machine_from(*state, pendulum_text, NULL, NULL), moved, size);
  const double m1 = 2, l1 = 1, m2 = 1, l2 = 0.7, g = 9.81;
  for (int k = 0; k < 20; k++) {
    double t = 0.17 * k, q[MOST], v[MOST], a[MOST], effort[MOST];
    motion_at(&b, t, q, v, a);
    efforts_at(&b, t, effort);
    double c = cos(q[1]), s = sin(q[1]), half = m2 * l1 * l2 / 2, J2 = m2 * l2 * l2 / 3;
    double J1 = m1 * l1 * l1 / 3 + m2 * l1 * l1;
    double two = (J2 + half * c) * a[0] + J2 * a[1] + half * s * v[0] * v[0] + m2 * g * l2 / 2 * cos(q[0] + q[1]);
    double one = (J1 + J2 + 2 * half * c) * a[0] + (J2 + half * c) * a[1] - half * s * v[1] * (2 * v[0] + v[1]) +
                 (m1 / 2 + m2) * g * l1 * cos(q[0]) + m2 * g * l2 / 2 * cos(q[0] + q[1]);
    assert_true(fabs(effort[0] - one) < 1e-11 * (10 + fabs(one)));
    assert_true(fabs(effort[1] - two) < 1e-11 * (10 + fabs(two)));
  }
  end(&b);
}

// Torques in joints, and forces of cylinders, do the same work for the same motion; three cylinders share it.
static const char lifted_text[] =
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
    "volumes: {A1: {volume: 1 l}, B1: {volume: 1 l}, A2: {volume: 1 l}, B2: {volume: 1 l}}\n"
    "cylinders:\n"
    "  one_c: {between: [ground.foot, boom.lug], chambers: [A1, B1], areas: [50 cm^2, 30 cm^2], closed: 1 m, stroke: 2 m}\n"
    "  two_c: {between: [boom.tie, jib.horn], chambers: [A2, B2], areas: [40 cm^2, 20 cm^2], closed: 0.8 m, stroke: 2 m}\n"
    "  three_c: {between: [ground.foot, boom.lug], chambers: [A1, B1], areas: [25 cm^2, 15 cm^2], closed: 1 m, stroke: 2 m}\n";

static void powers_are_the_same(void **state) {
  char text[4000];
  int used = snprintf(text, sizeof text, crane_form,
                      ", A1.pressure: 50 bar, B1.pressure: 5 bar, A2.pressure: 50 bar, B2.pressure: 5 bar");
  snprintf(text + used, sizeof text - (size_t)used, "%s", lifted_text);
  od_machine *machine = machine_from(*state, text, NULL, NULL);
  const od_model *m = od_machine_model(machine);
  const int moved[] = {output(machine, "heel.angle"), output(machine, "elbow.angle")};
  const double share[] = {50, 40, 25};
  od_drive torque[] = {{OD_DRIVE_LOAD, 0, 1}, {OD_DRIVE_LOAD, 1, 1}}, joint[2], push[3];
  int cylinder[3], count = 0;
  for (int i = 0; i < m->instances; i++)
    if (strstr(od_model_text(m, m->instance[i].name), "_c")) cylinder[count++] = i;
  assert_int_equal(count, 3);
  for (int i = 0; i < 3; i++) push[i] = (od_drive){OD_DRIVE_ELEMENT, cylinder[i], share[i]};
  for (int i = 0; i < 2; i++) joint[i] = (od_drive){OD_DRIVE_COORDINATE, m->joint[i].coordinate, 1};
  od_plant *plant;
  od_inverse *by_torque, *by_joint, *by_push;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_int_equal(od_inverse_new(plant, moved, 2, 0, torque, 2, cylinder, 3, &by_torque), OD_OK);
  assert_int_equal(od_inverse_new(plant, moved, 2, 0, joint, 2, cylinder, 3, &by_joint), OD_OK);
  assert_int_equal(od_inverse_new(plant, moved, 2, 0, push, 3, NULL, 0, &by_push), OD_OK);
  od_inverse *const all[] = {by_torque, by_joint, by_push};
  for (int i = 0; i < 3; i++) assert_int_equal(od_inverse_start(all[i]), OD_OK);
  for (int k = 0; k < 20; k++) {
    double s = 0.1 * k, u[2] = {0}, effort[3][3], power[3] = {0};
    const double q[] = {0.7 + 0.2 * sin(s), -0.9 + 0.3 * cos(s)}, v[] = {0.2 * cos(s), -0.3 * sin(s)};
    double a[] = {-0.2 * sin(s), -0.3 * cos(s)};
    for (int i = 0; i < 3; i++) assert_int_equal(od_inverse_solve(all[i], u, q, v, a, effort[i]), OD_OK);
    for (int i = 0; i < 2; i++) power[0] += effort[0][i] * v[i], power[1] += effort[1][i] * v[i];
    for (int i = 0; i < 3; i++) {
      const od_output speed = {.kind = OD_OUT_SPEED, .index = m->instance[cylinder[i]].actuator, .second = -1};
      power[2] += effort[2][i] * od_inverse_output(by_push, &speed);
    }
    for (int i = 0; i < 2; i++) assert_true(fabs(effort[0][i] - effort[1][i]) < 1e-9 * (1 + fabs(effort[0][i])));
    assert_true(fabs(power[1] - power[0]) < 1e-9 * (1 + fabs(power[0])));
    assert_true(fabs(power[2] - power[0]) < 1e-9 * (1 + fabs(power[0])));
    // Two cylinders between the same points have forces in the ratio of their areas.
    assert_true(fabs(effort[2][0] - 2 * effort[2][2]) < 1e-9 * (1 + fabs(effort[2][0])));
    // The load of the heel is the same with torques and with drives in joints. Cylinders change the loads of bearings.
    const od_output *heel = &m->output[output(machine, "heel.force")];
    double carried = od_inverse_output(by_torque, heel);
    assert_true(fabs(od_inverse_output(by_joint, heel) - carried) < 1e-9 * carried);
    assert_true(fabs(od_inverse_output(by_push, heel) - carried) > 1e-3 * carried);
  }
  for (int i = 0; i < 3; i++) od_inverse_free(all[i]);
  od_plant_free(plant);
  od_machine_free(machine);
}

// Unreachable motions are reported and leave the simulation unchanged.
static void what_is_out_of_reach(void **state) {
  const char *const moved[] = {"lower.end.x", "lower.end.y"};
  const double size[] = {0, 0};
  bench b;
  begin(&b, machine_from(*state, pendulum_text, NULL, NULL), moved, size);
  double u[MOST] = {0}, zero[MOST] = {0}, effort[MOST], again[MOST];
  efforts_at(&b, 0, effort);
  const double far[] = {1.2, 1.3};
  od_status status = od_inverse_solve(b.inverse, u, far, zero, zero, again);
  assert_true(status == OD_NOT_CONVERGED || status == OD_SINGULAR);
  efforts_at(&b, 0, again);
  for (int i = 0; i < 2; i++) assert_true(fabs(again[i] - effort[i]) < 1e-9);
  // A motion prescribed by two quantities of one joint does not determine the other joint.
  od_inverse *twice;
  const od_drive drive[] = {{OD_DRIVE_LOAD, 0, 1}, {OD_DRIVE_LOAD, 1, 1}};
  const int same[] = {output(b.machine, "upper.angle"), output(b.machine, "shoulder.angle")};
  assert_int_equal(od_inverse_new(b.plant, same, 2, 0, drive, 2, NULL, 0, &twice), OD_OK);
  assert_int_equal(od_inverse_start(twice), OD_OK);
  assert_int_equal(od_inverse_solve(twice, u, zero, zero, zero, effort), OD_SINGULAR);
  assert_int_equal(od_inverse_stuck(twice), OD_STUCK_MOTION);
  od_inverse_free(twice);
  assert_int_equal(od_inverse_new(b.plant, same, 1, 0, drive, 2, NULL, 0, &twice), OD_BAD_INPUT);
  end(&b);
}

// Friction with states has the force after a long slide at the same speed.
static void friction_is_steady(void **state) {
  static const char text[] =
      "bodies: {slide: {point: {mass: 10 kg}}}\n"
      "joints:\n"
      "  rail:\n"
      "    type: prismatic\n"
      "    between: [ground, slide]\n"
      "    axis: [1, 0, 0]\n"
      "    friction: {law: lugre, Fc: 100 N, Fs: 150 N, vs: 10 mm/s, viscous: 300 N s/m, sigma_0: 1e6 N/m, sigma_1: 100 N s/m}\n"
      "inputs: {u: {unit: N, constant: 0}}\n"
      "torques: {push: {joint: rail, value: u}}\n"
      "initial: {rail.position: 0 m}\n";
  const char *const moved[] = {"rail.position"};
  const double size[] = {0};
  bench b;
  begin(&b, machine_from(*state, text, NULL, NULL), moved, size);
  for (int k = -3; k <= 3; k++) {
    double speed = 0.01 * k, q = 0.2, a = 0, u = 0, effort;
    assert_int_equal(od_inverse_solve(b.inverse, &u, &q, &speed, &a, &effort), OD_OK);
    double ratio = speed / 0.01, sign = (k > 0) - (k < 0);
    double wanted = k == 0 ? 0 : sign * (100 + 50 * exp(-ratio * ratio)) + 300 * speed;
    assert_true(k == 0 || fabs(effort - wanted) < 1e-6 * fabs(wanted));
  }
  end(&b);
}

// Three carts on a rail, each on a spring to the one before it; the first is driven, the others move freely. Newton's second law for each.
static void two_loose_carts(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "gravity: [0, 0, 0]\nbodies: {a: {point: {mass: 2 kg}}, b: {point: {mass: 3 kg}}, c: {point: {mass: 5 kg}}}\n"
      "joints:\n  A: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}\n"
      "  B: {type: prismatic, between: [a, b], axis: [1, 0, 0], stiffness: 70 N/m}\n"
      "  C: {type: prismatic, between: [b, c], axis: [1, 0, 0], stiffness: 40 N/m, damping: 6 N s/m}\n"
      "initial: {A.position: 0 m, B.position: 0 m, C.position: 0 m}\n");
  const od_model *m = od_machine_model(machine);
  const int moved[] = {output(machine, "A.position"), output(machine, "B.position"), output(machine, "C.position")};
  const od_drive drive = {OD_DRIVE_COORDINATE, m->joint[0].coordinate, 1};
  od_plant *plant;
  od_inverse *inverse;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_int_equal(od_inverse_new(plant, moved, 3, 2, &drive, 1, NULL, 0, &inverse), OD_OK);
  assert_int_equal(od_inverse_start(inverse), OD_OK);
  const double q[] = {0.1, 0.15, -0.3}, v[] = {0.4, -0.7, 0.5};   // each against the one before it
  double a[3] = {1.5, NAN, NAN}, effort;                          // the second rates of loose outputs are results only
  const double first = 70 * q[1], second = 40 * q[2] + 6 * v[2];  // tensions
  assert_int_equal(od_inverse_solve(inverse, NULL, q, v, a, &effort), OD_OK);
  near(a[1], (second - first) / 3 - 1.5, 1e-9);
  near(a[2], -second / 5 - (second - first) / 3, 1e-9);
  near(effort, 2 * 1.5 - first, 1e-9);
  od_inverse_free(inverse);
  od_plant_free(plant);
  od_machine_free(machine);
}

// Actuators at given pressures: their equations by hand. A cylinder with leakage between the cart's rail and the cart, and a motor with a
// setting in a second joint; beyond its stroke, the cylinder has the volumes of its end, and no force of a stop.
static void actuators_by_hand(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "gravity: [0, 0, 0]\nbodies: {cart: {point: {mass: 2 kg}}, wheel: {mass: 3 kg, inertia: 0.2 kg m^2, centre: [0, 0]}}\n"
      "ground: {points: {foot: [-1 m, 0]}}\n"
      "joints:\n  rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}\n"
      "  hub: {type: revolute, between: [ground, wheel]}\n"
      "inputs: {swash: 0.6}\noil: {density: 869 kg/m^3, law: constant, modulus: 1 GPa}\n"
      "volumes: {A: {volume: 1 l}, B: {volume: 2 l}, C: {volume: 1 l}, D: {volume: 1 l}}\n"
      "leaks: {other: {between: [A, B], slope: 5e-12 m^3/(s Pa)}}\n"
      "cylinders:\n"
      "  ram: {between: [ground.foot, cart], chambers: [A, B], areas: [40 cm^2, 25 cm^2], closed: 0.7 m, stroke: 0.6 m,\n"
      "        dead: [0.1 l, 0.2 l], leakage: 2e-12 m^3/(s Pa)}\n"
      "motors: {spin: {between: [C, D], joint: hub, displacement: 30 cm^3/rev, setting: swash, leakage: 1e-12 m^3/(s Pa)}}\n"
      "initial: {rail.position: 0 m, hub.angle: 0 rad, A.pressure: 1 bar, B.pressure: 1 bar, C.pressure: 1 bar, D.pressure: 1 bar}\n");
  const od_model *m = od_machine_model(machine);
  const int moved[] = {output(machine, "rail.position"), output(machine, "hub.angle")};
  int ram = -1, spin = -1;
  for (int i = 0; i < m->instances; i++) {
    if (strcmp(od_model_text(m, m->instance[i].name), "ram") == 0 &&
        od_instance_description(m, &m->instance[i])->drives)
      ram = i;
    if (strcmp(od_model_text(m, m->instance[i].name), "spin") == 0 &&
        od_instance_description(m, &m->instance[i])->drives)
      spin = i;
  }
  assert_true(ram >= 0 && spin >= 0);
  const od_drive drive[] = {{OD_DRIVE_ELEMENT, ram, 1}, {OD_DRIVE_ELEMENT, spin, 1}};
  od_plant *plant;
  od_inverse *inverse;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_int_equal(od_inverse_new(plant, moved, 2, 0, drive, 2, NULL, 0, &inverse), OD_OK);
  assert_int_equal(od_inverse_start(inverse), OD_OK);
  const double D = 30e-6 / (2 * acos(-1)), u = 0.6, p[2] = {60e5, 20e5};
  near_relative(od_actuator_size(m, ram, 0), 40e-4, 1e-12);
  near_relative(od_actuator_size(m, ram, 1), -25e-4, 1e-12);
  near_relative(od_actuator_size(m, spin, 0), D, 1e-12);
  near_relative(od_actuator_size(m, spin, 1), -D, 1e-12);
  for (int k = 0; k < 3; k++) {
    const double q[] = {0.1 + 0.35 * (k - 1), 0.4}, v[] = {0.3, -7}, x = fmin(fmax(1 + q[0] - 0.7, 0), 0.6);
    double a[] = {0.5, 2}, effort[2];
    assert_int_equal(od_inverse_solve(inverse, &u, q, v, a, effort), OD_OK);
    near(effort[0], 2 * 0.5, 1e-9);
    near(effort[1], 0.2 * 2, 1e-9);
    od_actuation now;
    od_inverse_actuate(inverse, ram, p, &now);
    near_relative(now.force, 40e-4 * p[0] - 25e-4 * p[1], 1e-12);
    near_relative(now.force_by[0], 40e-4, 1e-12);
    near_relative(now.force_by[1], -25e-4, 1e-12);
    near_relative(now.flow[0], 40e-4 * v[0] + 2e-12 * (p[0] - p[1]), 1e-12);
    near_relative(now.flow[1], -25e-4 * v[0] - 2e-12 * (p[0] - p[1]), 1e-12);
    near_relative(now.volume[0], 0.1e-3 + 40e-4 * x, 1e-12);
    near_relative(now.volume[1], 0.2e-3 + 25e-4 * (0.6 - x), 1e-12);
    near(od_inverse_signal(inverse, ram), 1, 0);
    od_inverse_actuate(inverse, spin, p, &now);
    near_relative(now.force, 0.6 * D * (p[0] - p[1]), 1e-12);
    near_relative(now.force_by[0], 0.6 * D, 1e-12);
    near_relative(now.force_by[1], -0.6 * D, 1e-12);
    near_relative(now.flow[0], 0.6 * D * v[1] + 1e-12 * (p[0] - p[1]), 1e-12);
    near_relative(now.flow[1], -now.flow[0], 1e-12);
    near(now.volume[0], 0, 0);
    near(now.volume[1], 0, 0);
    near(od_inverse_signal(inverse, spin), 0.6, 0);
  }
  od_inverse_free(inverse);
  od_plant_free(plant);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_loose_carts),
      cmocka_unit_test(actuators_by_hand),
      cmocka_unit_test_setup_teardown(double_pendulum_returns, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(pendulum_by_its_tip_returns, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(fourbar_returns, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(crane_returns, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(torques_are_those_of_lagrange, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(powers_are_the_same, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(what_is_out_of_reach, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(friction_is_steady, machine_file_start, machine_file_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
