// Free, planar, cylindrical and screw joints, gears, stops, ropes and winches. Oracles: Euler's equations of a free top by an integrator
// of order 16 and the conserved quantities of a top; parabolas; an inclined plane; a nut on a screw in closed form; and every joint that
// closes a loop against the same joint in the tree.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "machine/machine.h"
#include "oleodyn/integrator.h"
#include "oleodyn/sim.h"
#include "oracle/extrapolation.h"
#include "simulate/run.h"
#include "support/machine_file.h"

// --- Runs -------------------------------------------------------------------------------------------------------------

// Rows of all outputs over time.
static od_table *run_all(const od_machine *machine, double time, double step) {
  int count = od_machine_output_count(machine), *all = calloc((size_t)count, sizeof *all);
  for (int i = 0; i < count; i++) all[i] = i;
  const od_run_options options = {
      .time = time, .step = step, .integrator = "rk4", .outputs = all, .output_count = count, .unjudged = true};
  od_table *table = NULL;
  od_error err = {0};
  if (od_run(machine, &options, &table, NULL, &err) != OD_OK) fail_msg("%s", err.text);
  free(all);
  return table;
}

static double at(const od_table *t, long row, const char *name) {
  for (int c = 0; c < t->columns; c++)
    if (strcmp(t->name[c], name) == 0) return t->data[row * t->columns + c];
  fail_msg("there is no %s", name);
  return NAN;
}

static bool has(const od_table *t, const char *name) {
  for (int c = 0; c < t->columns; c++)
    if (strcmp(t->name[c], name) == 0) return true;
  return false;
}

// --- A free body ------------------------------------------------------------------------------------------------------

static void euler(void *user, double t, const double *w, double *dw) {
  const double *J = user;
  (void)t;
  dw[0] = (J[1] - J[2]) * w[1] * w[2] / J[0];
  dw[1] = (J[2] - J[0]) * w[2] * w[0] / J[1];
  dw[2] = (J[0] - J[1]) * w[0] * w[1] / J[2];
}

// A top that turns near its middle axis tumbles; when thrown, its center follows a parabola.
static void free_top(void **state) {
  static const char text[] =
      "gravity: [0, 0, -9.81 m/s^2]\n"
      "bodies: {top: {mass: 3 kg, inertia: [1 kg m^2, 2 kg m^2, 3 kg m^2], points: {px: [1 m, 0, 0], py: [0, 1 m, 0], pz: [0, 0, 1 m]}}}\n"
      "joints: {J: {type: free, between: [ground, top]}}\n"
      "initial: {J.x: 1 m, J.y: 2 m, J.z: 3 m, J.angle1: 0 deg, J.angle2: 20 deg, J.angle3: 0 deg, J.vx: 1 m/s, J.vz: 5 m/s, "
      "J.rate1: 0.01 rad/s, J.rate2: 4 rad/s, J.rate3: -0.02 rad/s}\n";
  double J[3] = {1, 2, 3}, w[3], L0[3] = {0}, energy = NAN, tumbled = 0;
  for (int reversed = 0; reversed < 2; reversed++) {
    char file[1000];
    snprintf(file, sizeof file, "%s", text);
    if (reversed) memcpy(strstr(file, "[ground, top]"), "[top, ground]", 13);
    od_machine *machine = machine_from(*state, file, NULL, NULL);
    od_table *t = run_all(machine, 6, 1e-3);
    const char *const gyro[] = {"top.gyro_x", "top.gyro_y", "top.gyro_z"};
    for (int i = 0; i < 3; i++) w[i] = at(t, 0, gyro[i]);
    for (long k = 0; k < t->rows; k++) {
      double time = t->data[k * t->columns], R[3][3], L[3] = {0};
      if (k > 0) oracle_extrapolate(euler, J, 3, time - 1e-3, 1e-3, w);
      for (int i = 0; i < 3; i++) near_scaled(at(t, k, gyro[i]), w[i], 1e-6, 1);
      near_scaled(at(t, k, "top.centre.x"), 1 + time, 1e-9, 1);
      near_scaled(at(t, k, "top.centre.y"), 2, 1e-9, 1);
      near_scaled(at(t, k, "top.centre.z"), 3 + 5 * time - 9.81 / 2 * time * time, 1e-9, 1);
      near_scaled(at(t, k, "J.az"), -9.81, 1e-9, 1);
      for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++) {
          char name[40];
          snprintf(name, sizeof name, "top.p%c.%c", "xyz"[c], "xyz"[i]);
          R[i][c] = at(t, k, name);
          snprintf(name, sizeof name, "top.centre.%c", "xyz"[i]);
          R[i][c] -= at(t, k, name);
        }
      for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++) L[i] += R[i][c] * J[c] * at(t, k, gyro[c]);
      double turning = 0;
      for (int c = 0; c < 3; c++) turning += J[c] * at(t, k, gyro[c]) * at(t, k, gyro[c]) / 2;
      if (k == 0) memcpy(L0, L, sizeof L), energy = turning;
      for (int i = 0; i < 3; i++) near_scaled(L[i], L0[i], 1e-7, 1);
      near_scaled(turning, energy, 1e-8, 1);
      near_scaled(at(t, k, "energy.balance"), 0, 1e-7, 1);
      tumbled = fmin(tumbled, at(t, k, gyro[1]));
    }
    assert_false(has(t, "J.force"));
    assert_true(tumbled < -3);
    od_table_free(t);
    od_machine_free(machine);
  }
}

// --- Planar joints ----------------------------------------------------------------------------------------------------

// A body on an inclined plane slides down with g sin a, and the normal force is m g cos a; in a vertical plane it
// follows a parabola.
static void planar_joint(void **state) {
  static const char text[] =
      "gravity: [0, 0, -10 m/s^2]\n"
      "bodies: {slide: {mass: 2 kg, inertia: [1 kg m^2, 2 kg m^2, 3 kg m^2]}}\n"
      "joints: {J: {type: planar, between: [ground, slide], axis: [%s]}}\n"
      "initial: {J.position1: 1 m, J.position2: 2 m, J.angle3: 0.3 rad, J.rate2: 3 m/s, J.rate3: 2 rad/s}\n";
  char file[1000];
  // Normal (0.6, 0, 0.8): downhill is (0.8, 0, -0.6).
  snprintf(file, sizeof file, text, "0.6, 0, 0.8");
  od_machine *machine = machine_with(*state, file, &(od_load_options){.spatial = true});
  od_table *t = run_all(machine, 1, 1e-2);
  for (long k = 0; k < t->rows; k++) {
    double time = t->data[k * t->columns];
    near_scaled(hypot(at(t, k, "J.acceleration1"), at(t, k, "J.acceleration2")), 6, 1e-12, 1);
    near_scaled(at(t, k, "J.angle3"), 0.3 + 2 * time, 1e-12, 1);
    near_scaled(at(t, k, "J.force"), 16, 1e-12, 1);
    near_scaled(at(t, k, "J.force_x"), 16 * 0.6, 1e-12, 1);
    near_scaled(at(t, k, "J.force_z"), 16 * 0.8, 1e-12, 1);
    near_scaled(at(t, k, "J.torque"), 3.84, 1e-12, 1);  // |w x J w|, because the axis is not a principal axis
    near_scaled(at(t, k, "energy.balance"), 0, 1e-10, 1);
    // It stays on its plane.
    near_scaled(0.6 * at(t, k, "slide.centre.x") + 0.8 * at(t, k, "slide.centre.z"), 0, 1e-12, 1);
  }
  od_table_free(t);
  od_machine_free(machine);
  snprintf(file, sizeof file, text, "0, 1, 0");
  machine = machine_from(*state, file, NULL, NULL);
  assert_true(od_machine_model(machine)->planar);
  t = run_all(machine, 1, 1e-2);
  // Across y: z, then x.
  for (long k = 0; k < t->rows; k++) {
    double time = t->data[k * t->columns];
    near_scaled(at(t, k, "slide.centre.x"), 2 + 3 * time, 1e-12, 1);
    near_scaled(at(t, k, "slide.centre.z"), 1 - 5 * time * time, 1e-12, 1);
    near_scaled(at(t, k, "slide.angle"), 0.3 + 2 * time, 1e-12, 1);
  }
  assert_false(has(t, "J.force"));
  od_table_free(t);
  od_machine_free(machine);
}

// --- Cylindrical joints and screws ------------------------------------------------------------------------------------

static void cylindrical_joint(void **state) {
  static const char text[] =
      "gravity: [0, 0, -10 m/s^2]\n"
      "bodies: {ring: {mass: 2 kg, centre: [0.1 m, 0, 0], inertia: [1 kg m^2, 2 kg m^2, 3 kg m^2]}}\n"
      "joints: {J: {type: cylindrical, between: [ground, ring], axis: [0, 0, 1]}}\n"
      "initial: {J.position1: 1 m, J.angle2: 0.3 rad, J.rate1: 3 m/s, J.rate2: 2 rad/s}\n";
  od_machine *machine = machine_from(*state, text, NULL, NULL);
  od_table *t = run_all(machine, 1, 1e-2);
  for (long k = 0; k < t->rows; k++) {
    double time = t->data[k * t->columns];
    near_scaled(at(t, k, "J.position1"), 1 + 3 * time - 5 * time * time, 1e-12, 1);
    near_scaled(at(t, k, "J.angle2"), 0.3 + 2 * time, 1e-12, 1);
    near_scaled(at(t, k, "J.force_z"), 0, 1e-12, 1);
    near_scaled(at(t, k, "J.torque_z"), 0, 1e-12, 1);
    near_scaled(at(t, k, "J.force"), 2 * 0.1 * 4, 1e-12, 1);  // centripetal
  }
  od_table_free(t);
  od_machine_free(machine);
}

// A nut on a screw: (Jz + m p^2) a = -m g p + M, the load of its thread is m (g + p a) and Jz a - M.
static void screw(void **state) {
  static const char text[] =
      "gravity: [0, 0, -10 m/s^2]\n"
      "bodies: {nut: {mass: 2 kg, inertia: [1 kg m^2, 1.2 kg m^2, 0.5 kg m^2]}}\n"
      "joints: {J: {type: screw, between: %s, axis: [0, 0, 1], lead: 1.2566370614359172 m}}\n"
      "inputs: {M: {unit: N m, constant: 7 N m}}\n"
      "torques: {motor: {joint: J, value: %s}}\n"
      "initial: {J.angle: 0.3 rad, J.rate: 2 rad/s}\n";
  for (int n = 0; n < 3; n++) {
    char file[1000];
    double p = 0.2, M = n == 1 ? 7 : 0, a = (M - 2 * 10 * p) / (0.5 + 2 * p * p);
    snprintf(file, sizeof file, text, n == 2 ? "[nut, ground]" : "[ground, nut]", n == 1 ? "M" : "0 N m");
    od_machine *machine = machine_from(*state, file, NULL, NULL);
    od_table *t = run_all(machine, 1, 1e-2);
    double side = n == 2 ? -1 : 1;  // relative to the nut, the ground turns the other way and the nut carries the load
    if (n == 2) a = 20 * p / (0.5 + 2 * p * p);
    for (long k = 0; k < t->rows; k++) {
      double time = t->data[k * t->columns];
      near_scaled(at(t, k, "J.angle"), 0.3 + 2 * time + a / 2 * time * time, 1e-12, 1);
      near_scaled(at(t, k, "nut.centre.z"), side * p * at(t, k, "J.angle"), 1e-12, 1);
      near_scaled(at(t, k, "J.force_z"), side * 2 * (10 + p * side * a), 1e-12, 1);
      near_scaled(at(t, k, "J.torque_z"), side * (0.5 * side * a - M), 1e-12, 1);
      near_scaled(p * at(t, k, "J.force_z") + at(t, k, "J.torque_z"), 0, 1e-10, 1);  // no power
      near_scaled(at(t, k, "energy.balance"), 0, 1e-10, 1);
    }
    od_table_free(t);
    od_machine_free(machine);
  }
}

// --- Gears ------------------------------------------------------------------------------------------------------------

// Two wheels: (J1 + i^2 J2) a = M; a rack on a slope: (J + r^2 m) a = M - r m g sin; the tooth force follows from the second body alone.
static void gears(void **state) {
  static const char wheels[] =
      "bodies: {one: {mass: 1 kg, inertia: [1 kg m^2, 1 kg m^2, 0.5 kg m^2]}, two: {mass: 1 kg, inertia: [1 kg m^2, 1 kg m^2, 2 kg m^2]}}\n"
      "ground: {points: {A: [0, 0], B: [1 m, 0]}}\n"
      "joints: {A: {type: revolute, between: [ground.A, one]}, B: {type: revolute, between: %s}}\n"
      "gears: {G: {joints: [A, B], ratio: -0.4, offset: 10 deg}}\n"
      "torques: {motor: {joint: A, value: 3 N m}}\n"
      "initial: {A.angle: 0.3 rad, B.angle: about 0 rad, A.rate: 2 rad/s}\n";
  static const char rack[] =
      "gravity: [0, -10 m/s^2]\n"
      "bodies: {pinion: {mass: 1 kg, inertia: [1 kg m^2, 1 kg m^2, 0.5 kg m^2]}, rack: {point: {mass: 4 kg}}}\n"
      "joints: {A: {type: revolute, between: [ground, pinion]}, B: {type: prismatic, between: [ground, rack], axis: [0.8, 0.6, 0]}}\n"
      "gears: {G: {joints: [A, B], ratio: 200 mm/rad}}\n"
      "torques: {motor: {joint: A, value: 3 N m}}\n"
      "initial: {A.angle: 0.3 rad, B.position: about 0 m, A.rate: 2 rad/s}\n";
  for (int n = 0; n < 3; n++) {
    char file[1000];
    snprintf(file, sizeof file, wheels, n == 1 ? "[two, ground.B]" : "[ground.B, two]");
    od_machine *machine = machine_with(*state, n < 2 ? file : rack, &(od_load_options){.spatial = n == 1});
    assert_int_equal(od_machine_model(machine)->freedom, 1);
    od_table *t = run_all(machine, 1, 1e-2);
    double a = n < 2 ? 3 / (0.5 + 0.16 * 2) : (3 - 0.2 * 4 * 10 * 0.6) / (0.5 + 0.04 * 4);
    for (long k = 0; k < t->rows; k++) {
      double time = t->data[k * t->columns], angle = 0.3 + 2 * time + a / 2 * time * time;
      near_scaled(at(t, k, "A.angle"), angle, 1e-10, 1);
      if (n < 2) {
        near_scaled(at(t, k, "B.angle"), -0.4 * angle + acos(-1) / 18, 1e-10, 1);
        near_scaled(at(t, k, "G.torque"), 2 * -0.4 * a, 1e-10, 1);
      } else {
        near_scaled(at(t, k, "B.position"), 0.2 * angle, 1e-10, 1);
        near_scaled(at(t, k, "G.force"), 4 * (0.2 * a + 10 * 0.6), 1e-10, 1);
      }
      near_scaled(at(t, k, "energy.balance"), 0, 1e-9, 1);
    }
    od_table_free(t);
    od_machine_free(machine);
  }
}

// --- Stops, ropes and winches -----------------------------------------------------------------------------------------

// A wagon that hits an elastic stop without damping reverses after half a period of sqrt(m/k); with damping it loses the
// energy reported by the stop.
static void stops(void **state) {
  static const char text[] =
      "bodies: {wagon: {point: {mass: 4 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, wagon], axis: [1, 0, 0]}}\n"
      "stops: {end: {joint: rail, high: 1 m, stiffness: 400 N/m, damping: %s}}\n"
      "initial: {rail.position: 0 m, rail.rate: 2 m/s}\n";
  for (int damped = 0; damped < 2; damped++) {
    char file[600];
    snprintf(file, sizeof file, text, damped ? "0.3 s/m" : "0 s/m");
    od_machine *machine = machine_from(*state, file, NULL, NULL);
    od_table *t = run_all(machine, 1.5, 1e-4);
    double w = 10, deepest = 0;
    for (long k = 0; k < t->rows; k++) {
      double time = t->data[k * t->columns], in = time - 0.5, x = at(t, k, "rail.position");
      deepest = fmax(deepest, x - 1);
      near_scaled(at(t, k, "energy.balance"), 0, 1e-5, 1);
      if (x < 1) near_scaled(at(t, k, "end.force"), 0, 1e-12, 1);
      if (damped) continue;
      double wanted = in < 0 ? 2 * time : in < acos(-1) / w ? 1 + 2 / w * sin(w * in) : 1 - 2 * (in - acos(-1) / w);
      near_scaled(x, wanted, 1e-5, 1);
      if (x > 1) near_scaled(at(t, k, "end.force"), -400 * (x - 1), 1e-9, 1);
    }
    if (!damped) near_scaled(deepest, 0.2, 1e-4, 1);
    double left = at(t, t->rows - 1, "rail.rate"), lost = at(t, t->rows - 1, "end.dissipated");
    near_scaled(lost, 4 * (4 - left * left) / 2, 1e-4, 1);
    assert_true(damped ? lost > 0.5 && left < -0.5 : fabs(lost) < 1e-9);
    od_table_free(t);
    od_machine_free(machine);
  }
}

// A weight falls until its rope is taut and oscillates about its equilibrium; a winch lifts it with the corresponding
// work.
static void ropes_and_winches(void **state) {
  static const char rope[] =
      "gravity: [0, -10 m/s^2]\n"
      "ground: {points: {hook: [0, 5 m]}}\n"
      "bodies: {weight: {point: {mass: 4 kg}}}\n"
      "joints: {guide: {type: prismatic, between: [ground, weight], axis: [0, 1, 0]}}\n"
      "ropes: {rope: {between: [ground.hook, weight], length: 2 m, stiffness: 1600 N/m}}\n"
      "initial: {guide.position: 3.2 m}\n";
  static const char winch[] =
      "gravity: [0, -10 m/s^2]\n"
      "ground: {points: {hook: [0, 5 m]}}\n"
      "bodies: {weight: {point: {mass: 4 kg}}}\n"
      "joints: {guide: {type: prismatic, between: [ground, weight], axis: [0, 1, 0]}}\n"
      "winches: {winch: {between: [ground.hook, weight], length: 4 m, stiffness: 1600 N/m, damping: 50 s/m, speed: lift}}\n"
      "inputs: {lift: {unit: m/s, half_cosines: {at: [[0 s, 0 m/s], [1 s, -1 m/s], [2 s, -1 m/s], [3 s, 0 m/s]]}}}\n"
      "initial: {guide.position: 0.975 m}\n";
  od_machine *machine = machine_from(*state, rope, NULL, NULL);
  od_table *t = run_all(machine, 1, 1e-4);
  double w = 20, v = sqrt(2 * 10 * 0.2), taut = v / 10, lowest = 9;
  for (long k = 0; k < t->rows; k++) {
    double time = t->data[k * t->columns], y = at(t, k, "guide.position");
    if (time < taut) near_scaled(y, 3.2 - 5 * time * time, 1e-9, 1), near_scaled(at(t, k, "rope.tension"), 0, 1e-12, 1);
    assert_true(at(t, k, "rope.tension") >= 0);
    lowest = fmin(lowest, y);
    near_scaled(at(t, k, "energy.balance"), 0, 1e-5, 1);
  }
  near_scaled(lowest, 3 - 10 / w / w - hypot(10 / w / w, v / w), 1e-6, 1);
  od_table_free(t);
  od_machine_free(machine);
  machine = machine_from(*state, winch, NULL, NULL);
  t = run_all(machine, 6, 1e-3);
  long last = t->rows - 1;
  near_scaled(at(t, last, "winch.paid_out"), -2, 1e-6, 1);
  near_scaled(at(t, last, "guide.position"), 2.975, 1e-4, 1);  // hangs 25 mm below the end of the rope
  near_scaled(at(t, last, "winch.tension"), 40, 1e-3, 1);
  // The drum's work is the work of lifting plus the loss in the rope's damping: the tension times the hauled length, by the trapezoidal
  // rule.
  double swing = 4 * pow(at(t, last, "guide.rate"), 2) / 2;
  assert_true(swing < 1e-3);
  double hauled = 0;
  for (long k = 0; k < last; k++)
    hauled -= (at(t, k, "winch.tension") + at(t, k + 1, "winch.tension")) / 2 *
              (at(t, k + 1, "winch.paid_out") - at(t, k, "winch.paid_out"));
  near_scaled(at(t, last, "winch.work"), hauled, 1e-3, 1);
  near_scaled(at(t, last, "energy.input"), hauled, 1e-3, 1);
  assert_true(at(t, last, "winch.dissipated") > 0.01);
  near_scaled(at(t, last, "energy.dissipated"), hauled - 4 * 10 * 2, 2e-3, 1);
  near_scaled(at(t, last, "energy.balance"), 0, 1e-3, 1);
  od_table_free(t);
  od_machine_free(machine);
}

// A block that is thrown along a floor stops after v^2 / (2 mu g), with the normal force m g; a ball on a hard floor bounces back with the
// same speed.
static void contacts(void **state) {
  static const char ball[] =
      "gravity: [0, 0, -10 m/s^2]\n"
      "ground: {points: {far: [100 m, 50 m, 20 m]}}\n"
      "bodies: {ball: {mass: 2 kg, inertia: [1 kg m^2, 1 kg m^2, 1 kg m^2]}}\n"
      "joints: {J: {type: free, between: [ground.far, ball]}}\n"
      "contacts: {floor: {at: ball, plane: [0, 0, 19.2 m], normal: [0, 0, 1], stiffness: 1e6 N/m, damping: %s}}\n"
      "initial: {J.x: 0 m, J.y: 0 m, J.z: 0 m, J.angle1: 0 rad, J.angle2: 0 rad, J.angle3: 0 rad}\n";
  char text[1000];
  static const char sliding[] =
      "gravity: [0, -10 m/s^2]\n"
      "bodies: {block: {mass: 2 kg, inertia: [1 kg m^2, 1 kg m^2, 1 kg m^2]}}\n"
      "joints: {J: {type: planar, between: [ground, block], axis: [0, 0, 1]}}\n"
      "contacts: {floor: {at: block, plane: [0, 1 m], normal: [0, 1], stiffness: 1e5 N/m, damping: 0 s/m, friction: 0.4, slip: 0.1 mm/s}}\n"
      "initial: {J.position1: 0 m, J.position2: 0.9998 m, J.angle3: 0 rad, J.rate1: 3 m/s}\n";
  for (int spatial = 0; spatial < 2; spatial++) {
    od_machine *machine = machine_with(*state, sliding, &(od_load_options){.spatial = spatial});
    assert_true(od_machine_model(machine)->planar == !spatial);
    od_table *t = run_all(machine, 1, 2e-5);
    long last = t->rows - 1;
    for (long k = 0; k < t->rows; k += 100) {
      double time = t->data[k * t->columns];
      near_scaled(at(t, k, "floor.force"), 20, 1e-9, 1);
      if (time < 0.7) near_scaled(at(t, k, "J.position1"), 3 * time - 2 * time * time, 1e-6, 1);
      near_scaled(at(t, k, "energy.balance"), 0, 1e-6, 1);
    }
    near_scaled(at(t, last, "J.position1"), 9 / 8.0, 1e-4, 1);
    near_scaled(at(t, last, "floor.dissipated"), 9, 1e-4, 1);
    near_scaled(at(t, last, "energy.dissipated"), 9, 1e-4, 1);
    near_scaled(at(t, last, "energy.input"), 0, 1e-12, 1);
    near_scaled(at(t, last, "floor.energy"), 20 * 20 / 2e5, 1e-12, 1);  // N^2 / (2 stiffness)
    od_table_free(t);
    od_machine_free(machine);
  }
  for (int damped = 0; damped < 2; damped++) {
    snprintf(text, sizeof text, ball, damped ? "0.5 s/m" : "0 s/m");
    od_machine *machine = machine_from(*state, text, NULL, NULL);
    od_table *t = run_all(machine, 0.8, 1e-4);
    double highest = -9, most = 0;
    for (long k = 0; k < t->rows; k++) {
      double time = t->data[k * t->columns];
      assert_true(at(t, k, "floor.force") >= 0);
      most = fmax(most, at(t, k, "floor.force"));
      if (time < 0.4) near_scaled(at(t, k, "floor.force"), 0, 1e-12, 1);
      if (time > 0.45) highest = fmax(highest, at(t, k, "J.z"));
      near_scaled(at(t, k, "energy.balance"), 0, 2e-2, 1);
    }
    // Penetration by k x^2 / 2 = m g (h + x).
    double x = (20 + sqrt(400 + 2 * 1e6 * 16)) / 1e6;
    if (!damped) near_scaled(most, 1e6 * x, 1e-3, 1), near_scaled(highest, 0, 2e-3, 1);
    if (damped) assert_true(highest < -0.2 && highest > -0.8);
    od_table_free(t);
    od_machine_free(machine);
  }
}

// --- In loops ---------------------------------------------------------------------------------------------------------

// A joint that holds a free body equals a joint of the tree, in motion and in loads.
static void loops_are_as_the_tree(void **state) {
  static const char text[] =
      "gravity: [1 m/s^2, 0, -9 m/s^2]\n"
      "bodies:\n"
      "  arm: {mass: 2 kg, centre: [0.5 m, 0.1 m, 0.2 m], inertia: [1 kg m^2, 1.2 kg m^2, 0.9 kg m^2], points: {tip: [1 m, 0, 0]}}\n"
      "joints:\n"
      "  J: {type: %s, between: [ground, arm]%s%s}\n"
      "%s"
      "springs: {spring: {between: [ground.S, arm.tip], stiffness: 20 N/m, damping: 1 N s/m, length: 0.5 m}}\n"
      "ground: {points: {S: [0.2 m, 1 m, 1.5 m]}}\n"
      "initial: {%s}\n";
  static const struct {
    const char *type, *axes, *tree, *about;
  } cases[] = {
      {"revolute", ", axis: [1, 2, 3]", "J.angle: 0 rad", ""},
      {"prismatic", ", axis: [1, 2, 3]", "J.position: 0 m", ""},
      {"spherical", "", "J.angle1: 0 rad, J.angle2: 0 rad, J.angle3: 0 rad", ""},
      {"universal", ", axes: [[1, 0, 0], [0, 1, 0]]", "J.angle1: 0 rad, J.angle2: 0 rad", ""},
      {"cylindrical", ", axis: [1, 2, 3]", "J.position1: 0 m, J.angle2: 0 rad", ""},
      {"planar", ", axis: [1, 2, 3]", "J.position1: 0 m, J.position2: 0 m, J.angle3: 0 rad", ""},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    char tree[2000], loop[2000];
    snprintf(tree, sizeof tree, text, cases[n].type, cases[n].axes, "", "", cases[n].tree);
    snprintf(
        loop, sizeof loop, text, cases[n].type, cases[n].axes, ", cut: true",
        "  F: {type: free, between: [ground, arm]}\n",
        "F.x: about 0 m, F.y: about 0 m, F.z: about 0 m, F.angle1: about 0 rad, F.angle2: about 0 rad, F.angle3: about 0 rad");
    od_machine *a = machine_from(*state, tree, NULL, NULL), *b = machine_from(*state, loop, NULL, NULL);
    assert_int_equal(od_machine_model(a)->freedom, od_machine_model(b)->freedom);
    od_table *ta = run_all(a, 0.5, 1e-3), *tb = run_all(b, 0.5, 1e-3);
    static const char *const same[] = {"arm.tip.x",  "arm.tip.y",  "arm.tip.z", "arm.tip.vx", "arm.wx",
                                       "arm.wy",     "arm.wz",     "J.force_x", "J.force_y",  "J.force_z",
                                       "J.torque_x", "J.torque_y", "J.torque_z"};
    double moved = 0;
    for (long k = 0; k < ta->rows; k++)
      for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (!has(ta, same[i])) continue;
        near_scaled(at(tb, k, same[i]), at(ta, k, same[i]), 1e-8, 1);
        moved = fmax(moved, fabs(at(ta, k, "arm.tip.z") - at(ta, 0, "arm.tip.z")));
      }
    assert_true(moved > 1e-2);
    od_table_free(ta);
    od_table_free(tb);
    od_machine_free(a);
    od_machine_free(b);
  }
}

// The same with a body whose own axes are turned about z by an angle: the slide has another direction in the axes of the body.
static void loops_with_two_axes(void **state) {
  static const char text[] =
      "gravity: [1 m/s^2, 0, -9 m/s^2]\n"
      "bodies: {arm: {mass: 2 kg, centre: [%.17g m, %.17g m, 0.2 m], inertia: [1.2 kg m^2, 1.2 kg m^2, 0.9 kg m^2],\n"
      "    points: {tip: [%.17g m, %.17g m, 0]}}}\n"
      "joints:\n"
      "  J: {type: prismatic, between: [ground, arm], %s}\n"
      "%s"
      "springs: {spring: {between: [ground.S, arm.tip], stiffness: 20 N/m, damping: 1 N s/m, length: 0.5 m}}\n"
      "ground: {points: {S: [0.2 m, 1 m, 1.5 m]}}\n"
      "initial: {%s}\n";
  static const double turns[] = {0.6, -1.1};
  for (int n = 0; n < 2; n++) {
    char tree[2000], loop[2000], axes[200], start[200];
    double turn = turns[n], c = cos(turn), s = sin(turn);  // vectors in the axes of the body are turned by -turn
    snprintf(tree, sizeof tree, text, 0.5, 0.1, 1.0, 0.0, "axis: [1, 0, 0]", "", "J.position: 0 m");
    snprintf(axes, sizeof axes, "cut: true, axes: [[1, 0, 0], [%.17g, %.17g, 0]]", c, -s);
    snprintf(
        start, sizeof start,
        "F.x: about 0 m, F.y: about 0 m, F.z: about 0 m, F.angle1: about 0 rad, F.angle2: about 0 rad, F.angle3: about %.17g rad",
        turn);
    snprintf(loop, sizeof loop, text, 0.5 * c + 0.1 * s, 0.1 * c - 0.5 * s, c, -s, axes,
             "  F: {type: free, between: [ground, arm]}\n", start);
    od_machine *a = machine_from(*state, tree, NULL, NULL), *b = machine_from(*state, loop, NULL, NULL);
    assert_int_equal(od_machine_model(b)->freedom, 1);
    od_table *ta = run_all(a, 0.5, 1e-3), *tb = run_all(b, 0.5, 1e-3);
    static const char *const same[] = {"arm.tip.x", "arm.tip.y", "arm.tip.z", "arm.tip.vx",
                                       "arm.wz",    "J.force_y", "J.force_z"};
    for (long k = 0; k < ta->rows; k++)
      for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        near_scaled(at(tb, k, same[i]), at(ta, k, same[i]), 1e-8, 1);
    assert_true(fabs(at(ta, ta->rows - 1, "arm.tip.x") - at(ta, 0, "arm.tip.x")) > 1e-2);
    od_table_free(ta);
    od_table_free(tb);
    od_machine_free(a);
    od_machine_free(b);
  }
}

// --- Mistakes ---------------------------------------------------------------------------------------------------------

static void mistakes(void **state) {
  static const struct {
    const char *joints, *text;
  } cases[] = {
      {"J: {type: screw, between: [ground, a], axis: [0, 0, 1]}", "needs 'lead'"},
      {"J: {type: screw, between: [ground, a], axis: [0, 0, 1], lead: 0 mm}", "is zero"},
      {"J: {type: screw, between: [ground, a], axis: [0, 0, 1], lead: 3 s}", "lead"},
      {"J: {type: screw, between: [ground, a], axes: [[0, 0, 1], [0, 0, 1]], lead: 3 mm}",
       "'axes' is not allowed in a screw joint; remove this key"},
      {"J: {type: revolute, between: [ground, a], lead: 3 mm}",
       "'lead' is not allowed in a revolute joint; remove this key"},
      {"J: {type: free, between: [ground, a], axis: [0, 0, 1]}",
       "'axis' is not allowed in a free joint; remove this key"},
      {"J: {type: free, between: [ground, a], damping: 3 N s/m}",
       "'damping' is not allowed in a free joint; remove this key"},
      {"J: {type: planar, between: [ground, a]}", "axis"},
      {"J: {type: cylindrical, between: [ground, a], axis: [0, 0, 1], stiffness: 3 N/m}",
       "'stiffness' is not allowed in a cylindrical joint; remove this key"},
      {"J: {type: fixed, between: [ground, a]}, K: {type: free, between: [ground, a]}",
       "would close a loop, which a free joint cannot"},
      {"J: {type: fixed, between: [ground, a]}, K: {type: screw, between: [ground, a], axis: [1, 0, 0], lead: 1 mm}",
       "cut another joint of the loop"},
      {"J: {type: cylindrical, between: [ground, a], axis: [0, 0, 0]}", "axis"},
      {"J: {type: fixed, between: [ground, a]}}\ngears: {G: {joints: [J, J], ratio: 2}",
       "expected a revolute, prismatic or screw joint"},
      {"J: {type: revolute, between: [ground, a]}}\ngears: {G: {joints: [J, J], ratio: 2}", "couples 'J' with itself"},
      {"J: {type: revolute, between: [ground, a]}}\ngears: {G: {joints: [J, K], ratio: 2}", "K"},
      {"J: {type: revolute, between: [ground, a]}}\ngears: {G: {joints: [J], ratio: 2}", "two joints"},
      {"J: {type: revolute, between: [ground, a]}, K: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}}\ngears: {G: {joints: "
       "[J, K], ratio: 2 mm/rad}",
       "which closes a loop; expected"},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    char text[600];
    od_machine *machine = NULL;
    od_messages *messages = od_messages_new();
    int length = snprintf(text, sizeof text, "bodies: {a: {point: {mass: 1 kg}}}\njoints: {%s}\n", cases[n].joints);
    machine_file_write(*state, text, (size_t)length);
    assert_int_equal(od_machine_load(((machine_file *)*state)->path, NULL, &machine, messages), OD_BAD_INPUT);
    char *said = messages_text(messages);
    if (!strstr(said, cases[n].text)) fail_msg("'%s' is not in:\n%s", cases[n].text, said);
    free(said);
    od_messages_free(messages);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, machine_file_start, machine_file_end)
  const struct CMUnitTest tests[] = {TEST(free_top),
                                     TEST(planar_joint),
                                     TEST(cylindrical_joint),
                                     TEST(screw),
                                     TEST(loops_are_as_the_tree),
                                     TEST(loops_with_two_axes),
                                     TEST(gears),
                                     TEST(stops),
                                     TEST(ropes_and_winches),
                                     TEST(contacts),
                                     TEST(mistakes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
