// Static balance of the initial state. Oracles, by hand: moments about joints, virtual work of a loop, flows through
// orifices, equal leaks in series.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"
#include "oleodyn/oleodyn.h"
#include "support/machines.h"

static const double pi = 3.14159265358979323846, gravity = 9.81;

static void check(const char *what, double got, double want, double relative) {
  if (!(fabs(got - want) <= relative * fabs(want))) print_error("%s: %.12g, not %.12g\n", what, got, want);
  assert_true(fabs(got - want) <= relative * fabs(want));
}

// Outputs at the start.
static void begin(const char *text, double *y, const char *a, const char *b, const char *c) {
  od_test_run run = od_test_begin(od_test_machine_text(text), a, b, c, NULL);
  assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
  od_test_end(&run);
}

// ---- a boom on a cylinder with a hanging load

#define CRANE                                                                                                \
  "gravity: [0, -9.81]\nground: {points: {ram: [0.5 m, -0.5 m]}}\n"                                          \
  "bodies:\n  boom: {beam: {mass: 100 kg, length: 3 m}, points: {ram: [1 m, 0]}}\n"                          \
  "  load: {beam: {mass: 50 kg, length: 1 m}}\n"                                                             \
  "joints:\n  heel: {type: revolute, between: [ground, boom.start]}\n"                                       \
  "  rope: {type: revolute, between: [boom.end, load.start]}\n"                                              \
  "oil: {density: 870, law: constant, modulus: 1.2 GPa}\ntanks: {T: {pressure: 1 bar}}\n"                    \
  "cylinders:\n  ram: {between: [ground.ram, boom.ram], chambers: [A, B], bore: 50 mm, rod: 30 mm, closed: " \
  "0.5 m, stroke: 1 m}\n"
#define TWO_VOLUMES "volumes: {A: {volume: 1 L}, B: {volume: 1 L}}\n"

// The pressure that holds the boom at an angle: the moments of the weights about the heel divided by the ram's lever
// arm.
static double holding_pressure(double angle, double other) {
  double x = cos(angle), y = sin(angle), dx = x - 0.5, dy = y + 0.5, length = hypot(dx, dy);
  double moment = 100 * gravity * 1.5 * cos(angle) + 50 * gravity * 3 * cos(angle);
  double force = moment / ((x * dy - y * dx) / length);
  double bore = pi / 4 * 0.05 * 0.05, ring = bore - pi / 4 * 0.03 * 0.03;
  return (force + other * ring) / bore;
}

// The angle at which the ram has a length: triangle heel, foot, eye.
static double angle_of_length(double length) {
  double foot = sqrt(0.5), cosine = (foot * foot + 1 - length * length) / (2 * foot);
  return acos(cosine) - pi / 4;
}

// For any way to give the boom's position, the load hangs and the pressure carries both. The load's start may be
// horizontal, where the derivative of its moment is zero, or far away.
static void boom_and_load(void **state) {
  (void)state;
  static const struct {
    const char *place, *load;
    double angle;
  } cases[] = {{"heel.angle: 20 deg", "balance from -110 deg", 0.3490658503988659},
               {"heel.angle: 20 deg", "balance from -20 deg", 0.3490658503988659},
               {"heel.angle: 20 deg", "balance", 0.3490658503988659},
               {"heel.angle: about 20 deg", "balance from -80 deg", 0.3490658503988659},
               {"heel.angle: about 20 deg, ram.length: 0.95 m", "balance from -80 deg", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[2048];
    double y[3], angle = cases[i].angle != 0 ? cases[i].angle : angle_of_length(0.95);
    snprintf(text, sizeof text,
             CRANE TWO_VOLUMES "initial: {%s, rope.angle: %s, A.pressure: balance, B.pressure: 10 bar}\n",
             cases[i].place, cases[i].load);
    begin(text, y, "heel.angle", "load.angle", "A.pressure");
    check("boom", y[0], angle, 1e-10);
    check("load", y[1], -pi / 2, 1e-9);
    check("pressure", y[2], holding_pressure(angle, 1e6), 1e-9);
  }
}

// The pressure is given, the boom's angle is computed, and the load hangs, although it starts horizontal.
static void boom_finds_its_angle(void **state) {
  (void)state;
  double y[3];
  begin(CRANE TWO_VOLUMES
        "initial: {heel.angle: balance from 20 deg, rope.angle: balance, A.pressure: 27 bar, B.pressure: 10 bar}\n",
        y, "heel.angle", "load.angle", "A.pressure");
  check("pressure", holding_pressure(y[0], 1e6), 27e5, 1e-9);
  check("load", y[1], -pi / 2, 1e-9);
}

// A crane that slews about the vertical: no weight acts about this axis, so no balance is needed. The boom as above,
// without a load.
static void slewing_crane(void **state) {
  (void)state;
  double y[3], angle = 0.3490658503988659, x = cos(angle), z = sin(angle), length = hypot(x - 0.5, z + 0.5);
  double bore = pi / 4 * 0.05 * 0.05, ring = bore - pi / 4 * 0.03 * 0.03;
  double force = 100 * gravity * 1.5 * x * length / (x * (z + 0.5) - z * (x - 0.5));
  begin(
      "gravity: [0, 0, -9.81]\n"
      "bodies:\n  post: {mass: 500 kg, inertia: [10, 10, 10], points: {ram: [0.5 m, 0, -0.5 m]}}\n"
      "  boom: {beam: {mass: 100 kg, length: 3 m}, points: {ram: [1 m, 0, 0]}}\n"
      "joints:\n  slew: {type: revolute, between: [ground, post], axis: [0, 0, 1]}\n"
      "  heel: {type: revolute, between: [post, boom.start], axis: [0, -1, 0]}\n"
      "oil: {density: 870, law: constant, modulus: 1.2 GPa}\n" TWO_VOLUMES
      "cylinders:\n  ram: {between: [post.ram, boom.ram], chambers: [A, B], bore: 50 mm, rod: 30 mm, closed: 0.5 m,\n"
      "        stroke: 1 m}\n"
      "initial: {slew.angle: 30 deg, heel.angle: 20 deg, A.pressure: balance, B.pressure: 10 bar}\n",
      y, "A.pressure", "slew.angle", "heel.angle");
  check("pressure", y[0], (force + 1e6 * ring) / bore, 1e-9);
  check("slew", y[1], pi / 6, 1e-12);
}

// Three unknowns of different kinds: the load's angle and the piston side from the forces, the rod side from its flow:
// 6 L/min through an orifice to the tank.
static void boom_with_flow(void **state) {
  (void)state;
  double y[3], flow = 1e-4, conductance = 0.6 * 3e-6 * sqrt(2 / 870.0);
  double other = 1e5 + pow(flow / conductance, 2);
  static const char text[] = CRANE TWO_VOLUMES
      "pumps: {pump: {to: B, flow: 6 L/min}}\norifices: {o: {between: [B, T], area: 3 mm^2, discharge: 0.6}}\n"
      "initial: {heel.angle: 20 deg, rope.angle: balance from -100 deg, A.pressure: balance, B.pressure: balance}\n";
  begin(text, y, "load.angle", "A.pressure", "B.pressure");
  check("load", y[0], -pi / 2, 1e-9);
  check("rod side", y[2], other, 1e-4);  // the orifice is smoothed near zero
  check("piston side", y[1], holding_pressure(0.3490658503988659, y[2]), 1e-9);
}

// ---- one coordinate

// Near an unstable balance this balance is found; from other starts, also horizontal, the pendulum goes down.
static void pendulum(void **state) {
  (void)state;
  static const struct {
    const char *start;
    double angle;
  } cases[] = {
      {"balance", -90}, {"balance from 80 deg", 90}, {"balance from 20 deg", -90}, {"balance from 170 deg", 270}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[512];
    double y[3];
    snprintf(text, sizeof text,
             "gravity: [0, -9.81]\nbodies: {rod: {beam: {mass: 2 kg, length: 1 m}}}\n"
             "joints: {hinge: {type: revolute, between: [ground, rod.start]}}\ninitial: {hinge.angle: %s}\n",
             cases[i].start);
    begin(text, y, "hinge.angle", "rod.end.x", "rod.end.y");
    check(cases[i].start, y[0], cases[i].angle * pi / 180, 1e-10);
  }
}

// A slider-crank, its slider pushed: virtual work m g r/2 cos(a) = F dx/da, x = r cos(a) + sqrt(L^2 - r^2 sin(a)^2), by
// bisection. The push is a force toward the crank.
static double virtual_work(double a, double push) {
  double r = 0.3, L = 0.8, root = sqrt(L * L - r * r * sin(a) * sin(a));
  double slope = -r * sin(a) - r * r * sin(a) * cos(a) / root;
  return -2 * gravity * r / 2 * cos(a) - push * slope;
}

static double balanced_crank(double low, double high) {
  for (int i = 0; i < 100; i++) {
    double middle = (low + high) / 2;
    *(virtual_work(middle, 4) * virtual_work(low, 4) > 0 ? &low : &high) = middle;
  }
  return low;
}

static void slider_crank(void **state) {
  (void)state;
  static const struct {
    const char *start, *slider;
    double low, high;
  } cases[] = {{"60 deg", "0.9 m", 0.5, 1.5},
               {"20 deg", "1 m", -2.5, -1.2}};  // near the unstable balance; down to the stable one
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[1024];
    double y[3];
    snprintf(text, sizeof text,
             "gravity: [0, -9.81]\n"
             "bodies:\n  crank: {beam: {mass: 2 kg, length: 0.3 m}}\n  slider: {mass: 1 kg}\n"
             "joints:\n  main: {type: revolute, between: [ground, crank.start]}\n"
             "  guide: {type: prismatic, between: [ground, slider], axis: [1, 0, 0]}\n"
             "rods: {tie: {between: [crank.end, slider.origin], length: 0.8 m}}\n"
             "forces: {push: {at: slider.origin, value: 4 N, direction: [-1, 0]}}\n"
             "initial: {main.angle: balance from %s, guide.position: about %s}\n",
             cases[i].start, cases[i].slider);
    begin(text, y, "main.angle", "guide.position", "slider.origin.x");
    double a = balanced_crank(cases[i].low, cases[i].high);
    check("crank", y[0], a, 1e-8);
    check("slider", y[1], 0.3 * cos(a) + sqrt(0.64 - 0.09 * sin(a) * sin(a)), 1e-8);
  }
}

// ---- large circuits, whose matrices are sparse

// Volumes in series between 200 and 1 bar with equal leaks between them; without the leaks on both sides of the `cut` part.
static char *write_ladder(int volumes, int cut) {
  size_t size = 200 * (size_t)volumes + 400;
  char *text = malloc(size), *to = text;
  assert_non_null(text);
  to += sprintf(to,
                "oil: {density: 870, law: constant, modulus: 1.2 GPa}\ntanks: {T: {pressure: 1 bar}}\n"
                "sources: {S: {pressure: 200 bar}}\nvolumes:\n");
  for (int i = 1; i <= volumes; i++) to += sprintf(to, "  V%d: {volume: %d mL}\n", i, 50 + 7 * (i % 11));
  to += sprintf(to, "leaks:\n");
  for (int i = 0; i <= volumes; i++) {
    char from[16] = "S", into[16] = "T";
    if (i > 0) snprintf(from, sizeof from, "V%d", i);
    if (i < volumes) snprintf(into, sizeof into, "V%d", i + 1);
    if (cut == 0 || (i != cut && i != volumes))
      to += sprintf(to, "  L%d: {between: [%s, %s], slope: 1e-12 m^3/(s Pa)}\n", i, from, into);
  }
  to += sprintf(to, "initial:\n");
  for (int i = 1; i <= volumes; i++) to += sprintf(to, "  V%d.pressure: balance\n", i);
  assert_true((size_t)(to - text) < size);
  return text;
}

// The pressure falls by the same amount from each to the next.
static void ladder(void **state) {
  (void)state;
  enum { VOLUMES = 400 };
  char *text = write_ladder(VOLUMES, 0);
  od_test_run run = od_test_begin(od_test_machine_text(text), "V1.pressure", "V137.pressure", "V400.pressure", NULL);
  double y[3];
  static const int place[] = {1, 137, VOLUMES};
  assert_non_null(run.plant->ops->step_factors);
  assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
  for (int i = 0; i < 3; i++) check("pressure", y[i], 200e5 - 199e5 * place[i] / (VOLUMES + 1), 1e-10);
  od_test_end(&run);
  free(text);
}

// The second half of the ladder is isolated and has any pressure: no balance is found, and a message names the place.
static void ladder_in_two(void **state) {
  (void)state;
  char path[] = "/tmp/oleodyn-ladder-XXXXXX", *text = write_ladder(300, 150);
  int fd = mkstemp(path);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  assert_int_not_equal(od_machine_load(path, NULL, &machine, messages), OD_OK);
  assert_int_equal(od_messages_errors(messages), 1);
  assert_non_null(strstr(od_messages_get(messages, 0)->text, "cannot be balanced"));
  od_messages_free(messages);
  unlink(path);
  free(text);
}

// ---- a train of bodies with play in its couplings

// The first body is held in its place and pulled or pushed with a force; a cylinder holds the last body. Each coupling has a play, so
// it carries nothing near the middle of its gap. By hand: every contact carries the force, at gap/2 + F/k beyond the middle, on the side
// to which the force points, and the cylinder's pressure times its bore is the force. The couplings may start in the gap or at the wrong
// end.
static void train_with_play(void **state) {
  (void)state;
  static const double starts[] = {-0.3e-3, -0.2e-3, -0.12e-3, 0, 1e-6, 0.12e-3, 0.2e-3, 0.3e-3},
                      forces[] = {-1000, -3, 500, 2000};
  double bore = pi / 4 * 0.05 * 0.05, ring = bore - pi / 4 * 0.03 * 0.03, wide = 0.25e-3, narrow = 0.1e-3, k = 1e8;
  size_t count = sizeof starts / sizeof *starts;
  for (size_t f = 0; f < sizeof forces / sizeof *forces; f++)
    for (size_t i = 0; i < count; i++) {
      char text[2048];
      double y[3], first = starts[i], second = starts[(3 * i + 1) % count], side = forces[f] > 0 ? -1 : 1;
      snprintf(
          text, sizeof text,
          "ground: {points: {foot: [2 m, 0]}}\n"
          "bodies: {rod: {point: {mass: 10 kg}}, middle: {point: {mass: 300 kg}}, slider: {point: {mass: 700 kg}}}\n"
          "joints:\n  guide: {type: prismatic, between: [ground, rod], axis: [1, 0, 0]}\n"
          "  front: {type: prismatic, between: [rod, middle], axis: [1, 0, 0]}\n"
          "  rear: {type: prismatic, between: [middle, slider], axis: [1, 0, 0]}\n"
          "plays:\n  wide: {joint: front, gap: 0.25 mm, stiffness: 1e8 N/m}\n"
          "  narrow: {joint: rear, gap: 0.1 mm, stiffness: 1e8 N/m}\n"
          "forces: {pull: {at: rod, value: %g N, direction: [1, 0]}}\n"
          "oil: {density: 870, law: constant, modulus: 1.2 GPa}\ntanks: {T: {pressure: 0 bar}}\n"
          "volumes: {A: {volume: 1 L}, B: {volume: 1 L}}\n"
          "cylinders: {ram: {between: [ground.foot, slider], chambers: [A, B], bore: 50 mm, rod: 30 mm, closed: 1.5 m,"
          " stroke: 1 m}}\n"
          "initial: {guide.position: 0 m, front.position: balance from %g m, rear.position: balance from %g m,"
          " A.pressure: balance, B.pressure: 20 bar}\n",
          forces[f], first, second);
      begin(text, y, "front.position", "rear.position", "A.pressure");
      check("wide", y[0], side * (wide / 2 + fabs(forces[f]) / k), 1e-9);
      check("narrow", y[1], side * (narrow / 2 + fabs(forces[f]) / k), 1e-9);
      check("pressure", y[2], (forces[f] + 20e5 * ring) / bore, 1e-9);
    }
}

// ---- carts that the balanced quantities do not move

// A volume between two equal leaks, and carts on rails: their forces do not depend on the pressure. Forces below 1e-6 N/kg count as zero, larger ones
// are reported. Oracle: the mean of both pressures.
static void idle_carts(void **state) {
  (void)state;
  for (int carts = 0; carts < 4; carts++)
    for (int pushed = 0; pushed <= carts; pushed++) {
      char text[2000];
      double y[3];
      size_t used =
          (size_t)snprintf(text, sizeof text,
                           "oil: {density: 870, law: constant, modulus: 1.2 GPa}\ntanks: {T: {pressure: 1 bar}}\n"
                           "sources: {S: {pressure: 21 bar}}\nvolumes: {V: {volume: 1 L}}\nleaks:\n"
                           "  a: {between: [S, V], slope: 1e-12}\n  b: {between: [V, T], slope: 1e-12}\n");
      if (carts) used += (size_t)snprintf(text + used, sizeof text - used, "gravity: [0, 0]\nbodies:\n");
      for (int i = 0; i < carts; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  c%d: {point: {mass: 100 kg}}\n", i);
      if (carts) used += (size_t)snprintf(text + used, sizeof text - used, "joints:\n");
      for (int i = 0; i < carts; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  R%d: {type: prismatic, between: [ground, c%d], axis: [1, 0, 0]}\n", i, i);
      if (pushed) used += (size_t)snprintf(text + used, sizeof text - used, "torques:\n");
      for (int i = 0; i < pushed; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  t%d: {joint: R%d, value: 5e-5 N}\n", i, i);
      used += (size_t)snprintf(text + used, sizeof text - used, "initial:\n  V.pressure: balance from 3 bar\n");
      for (int i = 0; i < carts; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  R%d.position: 0.1 m\n", i);
      begin(text, y, "V.pressure", "V.pressure", "V.pressure");
      check("pressure", y[0], 11e5, 1e-9);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boom_and_load),   cmocka_unit_test(boom_finds_its_angle),
                                     cmocka_unit_test(slewing_crane),   cmocka_unit_test(boom_with_flow),
                                     cmocka_unit_test(pendulum),        cmocka_unit_test(slider_crank),
                                     cmocka_unit_test(ladder),          cmocka_unit_test(ladder_in_two),
                                     cmocka_unit_test(train_with_play), cmocka_unit_test(idle_carts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
