// Cushions, leaks by position and telescopic cylinders: laws at points, and a piston that a cushion slows down.
//
// Oracles: areas and volumes by hand (the volume by Simpson's rule over the area), the steady speed against a narrowing outlet, the energy balance.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/machines.h"

#define SLEDGE                                                                                         \
  "gravity: [0, 0, 0]\noil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\n" \
  "ground: {points: {A: [0, 0, 0]}}\nbodies: {sledge: {point: {mass: 50 kg}}}\n"                       \
  "joints: {guide: {type: prismatic, between: [ground, sledge], axis: [1, 0, 0]}}\n"                   \
  "volumes: {C: {volume: 0.2 L}, L: {volume: 0.2 L}}\ntanks: {T: {pressure: 1 bar}}\n"

// An output at the start: the sledge at x (m) with speed v (m/s), pressures (bar).
static double value(const char *element, double x, double v, double c, double l, const char *name) {
  char text[2000];
  snprintf(text, sizeof text,
           SLEDGE
           "leaks: {a: {between: [C, T], slope: 0}, b: {between: [L, T], slope: 0}}\n%s\n"
           "initial: {guide.position: %.17g m, guide.rate: %.17g m/s, C.pressure: %.17g bar, L.pressure: %.17g bar}\n"
           "run: {time: 1 s, step: 1 ms}\n",
           element, x, v, c, l);
  od_test_run run = od_test_begin(od_test_machine_text(text), name, NULL);
  double y;
  assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
  od_test_end(&run);
  return y;
}
static double orifice(double area, double bar) {
  return copysign(area * 0.7 * sqrt(2 / 870.0 * fabs(bar) * 1e5), bar);
}

static void cushions(void **state) {
  (void)state;
  const char *retracted =
      "cushions: {x: {between: [ground.A, sledge], chambers: [C, L], begin: 0.43 m, end: 0.4 m, full: 80 mm^2, last: 2 mm^2}}";
  near_scaled(value(retracted, 0.5, 0, 100, 60, "x.flow"), orifice(80e-6, 40), 1e-6, 1e-9);   // away from the end
  near_scaled(value(retracted, 0.43, 0, 100, 60, "x.flow"), orifice(80e-6, 40), 1e-6, 1e-9);  // at its begin
  near_scaled(value(retracted, 0.41, 0, 100, 60, "x.flow"), orifice(28e-6, 40), 1e-6, 1e-9);  // a third remains
  near_scaled(value(retracted, 0.4, 0, 100, 60, "x.flow"), orifice(2e-6, 40), 1e-6, 1e-9);
  near_scaled(value(retracted, 0.39, 0, 60, 100, "x.flow"), orifice(2e-6, -40), 1e-6,
              1e-9);  // at the stop; no check valve
  near_scaled(value(retracted, 0.41, 0, 100, 60, "x.loss"), 40e5 * orifice(28e-6, 40), 1e-6, 1e-9);
  assert_true(value(retracted, 0.41, 0, 60, 60, "x.flow") == 0);
  const char *extended =
      "cushions: {x: {between: [ground.A, sledge], chambers: [C, L], begin: 0.6 m, end: 0.64 m, full: 80 mm^2, last: 2 mm^2,"
      " shape: 2, check: 50 mm^2, range: 1 bar}}";
  near_scaled(value(extended, 0.62, 0, 100, 60, "x.flow"), orifice(2e-6 + 78e-6 / 4, 40), 1e-6, 1e-9);
  near_scaled(value(extended, 0.64, 0, 60, 100, "x.flow"), orifice(52e-6, -40), 1e-6,
              1e-9);  // back through the check valve
  near_scaled(value(extended, 0.64, 0, 99.5, 100, "x.flow"), orifice(27e-6, -0.5), 1e-6, 1e-9);  // half open
  near_scaled(value(extended, 0.3, 0, 100, 60, "x.flow"), orifice(80e-6, 40), 1e-6, 1e-9);
}

static void leaks(void **state) {
  (void)state;
  const char *cylinder =
      "cylinders: {x: {between: [ground.A, sledge], chambers: [C, L], areas: [20 cm^2, 10 cm^2], closed: 0.4 m, stroke: 0.5 m,"
      " leakage: 3e-13}}";
  near_scaled(value(cylinder, 0.5, 0, 100, 60, "x.leakage"), 40e5 * 3e-13, 1e-6, 1e-9);
  const char *leak =
      "position_leaks: {x: {between: [ground.A, sledge], chambers: [C, L], slope: 1e-13, worn: 4e-13, place: 0.5 m, width: 0.1 "
      "m}}";
  near_scaled(value(leak, 0.5, 0, 100, 60, "x.flow"), 40e5 * 5e-13, 1e-6, 1e-9);
  near_scaled(value(leak, 0.4, 0, 100, 60, "x.flow"), 40e5 * (1 + 4 * exp(-1)) * 1e-13, 1e-6, 1e-9);
  near_scaled(value(leak, 1.5, 0, 60, 100, "x.flow"), -40e5 * 1e-13, 1e-6, 1e-9);
  assert_true(value(leak, 0.5, 0, 60, 60, "x.flow") == 0);
}

#define STAGES                                                                                                   \
  "telescopic_cylinders: {x: {between: [ground.A, sledge], chamber: C, closed: 0.4 m, dead: 0.1 L, soft: 10 mm," \
  " area_1: 60 cm^2, stroke_1: 0.3 m, area_2: 40 cm^2, stroke_2: 0.25 m, area_3: 20 cm^2, stroke_3: 0.2 m}}"

static double stage_area(double x) {  // cm^2
  static const double place[] = {0.3, 0.55};
  double area = 60;
  for (int i = 0; i < 2; i++) {
    double t = fmax(0, fmin(1, (x - place[i]) / 0.01 + 0.5));
    area -= 20 * t * t * (3 - 2 * t);
  }
  return area;
}

static void stages(void **state) {
  (void)state;
  static const double x[] = {0, 0.1, 0.298, 0.3, 0.305, 0.4, 0.55, 0.7, 0.75};
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
    near_scaled(value(STAGES, 0.4 + x[i], 0, 80, 60, "x.force"), 80e5 * stage_area(x[i]) * 1e-4, 1e-6, 1e-9);
    near_scaled(value(STAGES, 0.4 + x[i], 0.2, 80, 60, "C.inflow"), -0.2 * stage_area(x[i]) * 1e-4, 1e-6, 1e-9);
  }
  // In the stops, 1 mm deep, at rest and moving inwards.
  near_scaled(value(STAGES, 0.4 + 0.751, 0, 80, 60, "x.force"), 80e5 * 20e-4 - 1e8 * 1e-3, 1e-6, 1e-9);
  near_scaled(value(STAGES, 0.399, -0.5, 80, 60, "x.force"), 80e5 * 60e-4 + 1e8 * 1e-3 * 1.5, 1e-6, 1e-9);
}

// A pump fills the cylinder slowly against a viscous load: its position follows from the volume, by Simpson's rule over
// the area.
static void volume(void **state) {
  (void)state;
  const char *text = SLEDGE STAGES
      "\npumps: {pump: {to: C, flow: 60 L/min}}\nleaks: {b: {between: [L, T], slope: 0}}\n"
      "springs: {load: {between: [ground.A, sledge], damping: 0.5 kN s/m}}\n"
      "initial: {guide.position: 0.4 m, guide.rate: 0.16666 m/s, C.pressure: 0.14 bar, L.pressure: 1 bar}\n"
      "run: {time: 3 s, step: 1 ms}\n";
  static const double times[] = {1, 2.2, 2.9};
  for (int i = 0; i < 3; i++) {
    const char *const names[] = {"x.length", "C.pressure"};
    double y[2], filled = 0;
    od_machine *machine = od_test_machine_text(text);
    od_test_run_to(machine, "cvodes", times[i], 0.01, names, 2, y);
    od_machine_free(machine);
    const int n = 60000;
    for (int k = 0; k <= n; k++)
      filled += (k == 0 || k == n ? 1 : k % 2 ? 4 : 2) * stage_area((y[0] - 0.4) * k / n) * 1e-4 * (y[0] - 0.4) / n / 3;
    double pressed = (y[1] - 0.14e5) / 1.4e9 * (filled + 0.3e-3);  // and the compression of the oil
    if (!(fabs(filled + pressed - 1e-3 * times[i]) < 1e-5 * 1e-3 * times[i]))
      fail_msg("%g s: %.9g L, expected %.9g L", times[i], (filled + pressed) * 1e3, times[i]);
  }
}

// At constant supply pressure the sledge reaches the cushion with its speed and is slowed down: its kinetic energy is lost in the
// outlet.
static void slows_down(void **state) {
  (void)state;
  const char *const names[] = {"guide.rate", "ram.length", "energy.balance", "damper.dissipated", "C.pressure"};
  const char *text = SLEDGE
      "cylinders: {ram: {between: [ground.A, sledge], chambers: [C, T], areas: [20 cm^2, 20 cm^2], closed: 0.4 m, stroke: 0.5 m}}\n"
      "cushions: {damper: {between: [ground.A, sledge], chambers: [C, L], begin: 0.46 m, end: 0.4 m, full: 200 mm^2, last: 1 "
      "mm^2}}\n"
      "orifices: {out: {between: [L, T], area: 200 mm^2, discharge: 0.7}}\n"
      "initial: {guide.position: 0.5 m, guide.rate: -1 m/s, C.pressure: 1 bar, L.pressure: 1 bar}\n"
      "run: {time: 0.3 s, step: 10 us}\n";
  double y[5];
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", 0.3, 1e-4, names, 5, y);
  od_machine_free(machine);
  print_message("after 0.3 s: %.4f m/s at %.4f m, %.3f J lost in the cushion\n", y[0], y[1], y[3]);
  assert_true(y[0] < 0 && y[0] > -0.2 && y[1] > 0.4 && y[1] < 0.43);
  assert_true(fabs(y[2]) < 1e-4);
  // 25 J of kinetic energy; a part is lost in the outlet, some is stored in compressed oil.
  assert_true(y[3] > 10 && y[3] < 25 - 25 * y[0] * y[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cushions), cmocka_unit_test(leaks), cmocka_unit_test(stages),
                                     cmocka_unit_test(volume), cmocka_unit_test(slows_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
