// Displacement units with loss coefficients and oil tanks.
//
// Oracles: Wilson's and Schloesser's laws written here again, in all four quadrants; the volume that a pump has moved; the weight of a
// column of oil.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/machines.h"

static double unit(double speed, double from, double to, double setting, const char *name) {
  char text[1500];
  snprintf(
      text, sizeof text,
      "gravity: [0, 0, 0]\noil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa, viscosity: 46 mm^2/s}\n"
      "bodies: {rotor: {mass: 10 kg, inertia: [0.1, 0.1, 0.1]}}\n"
      "joints: {J: {type: revolute, between: [ground, rotor], axis: [0, 0, 1]}}\n"
      "volumes: {P: {volume: 1 L}, A: {volume: 1 L}}\n"
      "displacement_units: {x: {joint: J, between: [P, A], displacement: 1e-5 m^3/rad, slip: 4e-9, jet: 0.05 mm^2,\n"
      "  drag: 1e5, dry: 0.05, breakaway: 2 N m, slow: 0.5 rad/s, setting: %g}}\n"
      "initial: {J.angle: 0 rad, J.rate: %.17g rad/s, P.pressure: %.17g Pa, A.pressure: %.17g Pa}\nrun: {time: 1 s, step: 1 ms}\n",
      setting, speed, from, to);
  od_test_run run = od_test_begin(od_test_machine_text(text), name, NULL);
  double y;
  assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
  od_test_end(&run);
  return y;
}

static void quadrants(void **state) {
  (void)state;
  static const double point[][4] = {// speed, from, to, setting
                                    {150, 200e5, 10e5, 1},    {150, 10e5, 200e5, 1}, {-150, 200e5, 10e5, 1},
                                    {150, 200e5, 10e5, -0.6}, {0, 200e5, 10e5, 0.5}, {0.3, 50e5, 50e5, 1},
                                    {100, 120e5, 10e5, 0}};
  for (size_t i = 0; i < sizeof point / sizeof *point; i++) {
    double w = point[i][0], dp = point[i][1] - point[i][2], D = 1e-5 * point[i][3], mu = 46e-6 * 870;
    double slip = 4e-9 * 1e-5 / mu * dp + copysign(0.05e-6 * sqrt(2 / 870.0 * fabs(dp)), dp), Q = D * w + slip;
    double T = D * dp - 1e5 * mu * 1e-5 * w - (0.05 * 1e-5 * fabs(dp) + 2) * tanh(w / 0.5);
    double oil = dp * Q, shaft = T * w;
#define UNIT(name) unit(w, point[i][1], point[i][2], point[i][3], name)
    near_scaled(UNIT("x.flow"), Q, 1e-6, 1e-9);
    near_scaled(UNIT("x.slip"), slip, 1e-6, 1e-9);
    near_scaled(UNIT("x.force"), T, 1e-6, 1e-9);
    near_scaled(UNIT("x.loss"), oil - shaft, 1e-6, 1e-9);
    assert_true(oil - shaft >= 0);
    near_scaled(UNIT("x.efficiency"),
                oil > 0 && shaft > 0   ? shaft / oil
                : oil < 0 && shaft < 0 ? oil / shaft
                                       : 0,
                1e-6, 1e-9);
  }
}

#define TANK "oil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\nvolumes: {P: {volume: 1 L}}\n"

static double tank(double filled, double p, const char *name) {
  char text[1000];
  snprintf(text, sizeof text,
           TANK
           "oil_tanks: {x: {at: P, capacity: 100 L, area: 0.25 m^2, air: 1.2 bar, port: 5 cm^2}}\n"
           "initial: {P.pressure: %.17g Pa, x.filled: %.17g}\nrun: {time: 1 s, step: 1 ms}\n",
           p, filled);
  od_test_run run = od_test_begin(od_test_machine_text(text), name, NULL);
  double y;
  assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
  od_test_end(&run);
  return y;
}

static void oil_tanks(void **state) {
  (void)state;
  double column = 870 * 9.80665;
  near_scaled(tank(0.6, 2e5, "x.level"), 0.24, 1e-6, 1e-9);
  near_scaled(tank(0.6, 2e5, "x.volume"), 0.06, 1e-6, 1e-9);
  near_scaled(tank(0.6, 2e5, "x.oil_pressure"), 1.2e5 + column * 0.24, 1e-6, 1e-9);
  near_scaled(tank(0.6, 2e5, "x.flow"), 5e-4 * 0.7 * sqrt(2 / 870.0 * (0.8e5 - column * 0.24)), 1e-6, 1e-9);
  near_scaled(tank(0.6, 1e5, "x.flow"), -5e-4 * 0.7 * sqrt(2 / 870.0 * (0.2e5 + column * 0.24)), 1e-6, 1e-9);
  near_scaled(tank(0.6, 1e5, "x.energy"), 0.06 * (1.2e5 + column * 0.12), 1e-6, 1e-9);
  assert_true(tank(0, 1e5, "x.flow") == 0);  // empty
  near_scaled(tank(0.005, 1e5, "x.flow"), -0.5 * 5e-4 * 0.7 * sqrt(2 / 870.0 * (0.2e5 + column * 0.002)), 1e-6, 1e-9);
  // A pump draws from the junction at its port and fills a bottle of air: the volume is conserved except for the compression of the oil.
  const char *text = TANK
      "junctions: [T]\noil_tanks: {x: {at: T, capacity: 10 L, area: 0.05 m^2, port: 5 cm^2}}\n"
      "pumps: {pump: {from: T, to: P, flow: 6 L/min}}\n"
      "accumulators: {bottle: {at: P, volume: 5 L, precharge: 10 bar, area: 1 cm^2}}\n"
      "orifices: {back: {between: [P, T], area: 0.5 mm^2, discharge: 0.7}}\n"
      "initial: {P.pressure: 1 bar}\nrun: {time: 20 s, step: 10 ms}\n";
  const char *const names[] = {"x.volume", "bottle.oil", "P.pressure", "T.inflow"};
  double y[4];
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", 20, 0.1, names, 4, y);
  od_machine_free(machine);
  assert_true(fabs(y[0] + y[1] - 7e-3 + (y[2] - 1e5) / 1.4e9 * 1e-3) < 1e-9);
  assert_true(y[0] < 6.5e-3 && fabs(y[3]) < 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(quadrants), cmocka_unit_test(oil_tanks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
