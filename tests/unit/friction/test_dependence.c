// Friction that depends on pressures, on a position and on a temperature, through blocks that compute its factor or by its key
// 'pressure'. The oracle is the law by hand, with scaled parameters; for derivatives, differences with respect to the factor.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "friction/law.h"
#include "support/machines.h"

static const double Fs = 2000, Fc = 300, vs = 0.01, viscous = 300, v0 = 1e-4;

// Tustin's law by hand, with vb by its rule.
static double steady(double factor_Fs, double factor_Fc, double factor_vs, double factor_viscous, double v) {
  double s = Fs * factor_Fs, c = Fc * factor_Fc, end = -log(0.002) * vs * factor_vs, speed = fabs(v);
  double h = (1 - c / s) * pow(fmin(speed / end, 1), 2.0 / 3);
  double force = c + ((1 - h) * s - c) * exp(-speed / (vs * factor_vs));
  return force * tanh(v / v0) + viscous * factor_viscous * v;
}

// A cylinder at the start of a run: 30 and 90 bar in its chambers, 1.2 m long, moving at 20 mm/s. Its friction, and that of the block
// 'guess', which follows by_both.
static od_machine *machine_of(const char *friction, const char *guess) {
  char text[3000];
  snprintf(
      text, sizeof text,
      "bodies: {load: {point: {mass: 200 kg}}}\n"
      "joints: {guide: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
      "ground: {points: {foot: [-1 m, 0]}}\n"
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {A: {volume: 0.5 l}, B: {volume: 0.5 l}}\n"
      "tanks: {T: {pressure: 1 bar}}\n"
      "leaks: {a: {between: [A, T], slope: 1e-12}, b: {between: [B, T], slope: 1e-12}}\n"
      "inputs: {one: 1, oil_temperature: {unit: K, constant: 334 K}}\n"
      "blocks:\n"
      "  sum:      {type: sum, inputs: [A.pressure, B.pressure, one], weights: [5e-8 1/Pa, 5e-8 1/Pa, 0.5], unit: 1}\n"
      "  level:    {type: saturation, input: sum, limits: [0.5, 1.05]}\n"
      "  total:    {type: sum, inputs: [A.pressure, B.pressure]}\n"
      "  by_sum:   {type: table, input: total, at: [20 bar, 100 bar, 400 bar], values: [0.7, 1, 1.4], unit: 1}\n"
      "  by_both:  {type: pressure-map, a: A.pressure, b: B.pressure, at_a: [0 bar, 40 bar], at_b: [50 bar, 100 bar],\n"
      "             values: [1, 1.2, 1.3, 1.7], unit: 1}\n"
      "  by_place: {type: table, input: ram.length, at: [0.9 m, 1.1 m, 1.5 m], values: [1, 1.15, 1], unit: 1}\n"
      "  viscosity: {type: table, input: oil_temperature, at: [297 K, 317 K, 327 K, 347 K], values: [1, 0.42, 0.3, 0.2],"
      " unit: 1}\n"
      "  guess:     {velocity: guide.rate, factor_signal: by_both, %s}\n"
      "cylinders:\n"
      "  ram: {between: [ground.foot, load], chambers: [A, B], areas: [20 cm^2, 15 cm^2], closed: 0.8 m, stroke: 0.6 m,\n"
      "        friction: {%s}}\n"
      "initial: {guide.position: 0.2 m, guide.rate: 20 mm/s, A.pressure: 30 bar, B.pressure: 90 bar}\n",
      guess, friction);
  return od_test_machine_text(text);
}
static od_machine *machine_with(const char *more) {
  char friction[400];
  snprintf(friction, sizeof friction, "law: tustin, Fs: 2000, Fc: 300, vs: 0.01, viscous: 300%s", more);
  return machine_of(
      friction, "type: tustin-friction, Fs: 2000, Fc: 300, vs: 0.01, viscous: 300, factor: 1.1, factor_viscous: -0.5");
}

// The outputs of the machine there.
static double shown(od_machine *machine, const char *quantity) {
  od_test_run r = od_test_begin(machine, quantity, NULL);
  double u[2] = {1, 334}, y;
  assert_int_equal(od_sim_start(r.sim, 0, u), OD_OK);
  assert_int_equal(od_sim_outputs(r.sim, &y), OD_OK);
  od_test_end(&r);
  return y;
}

static double friction_with(const char *more) {
  return shown(machine_with(more), "ram.friction");
}
// As a block, for compensation, with the same pressures.
static double guessed_friction(void) {
  return shown(machine_with(""), "guess");
}

static void is_near(const char *what, double value, double expected) {
  print_message("%s: %.6f N\n", what, value);
  if (!(fabs(value - expected) <= 1e-6 * fabs(expected))) fail_msg("%s: %.9g, not %.9g", what, value, expected);
}

static void dependences(void **state) {
  (void)state;
  const double v = 0.02;
  is_near("alone", friction_with(""), steady(1, 1, 1, 1, v));
  is_near("a number", friction_with(", factor: 1.3"), steady(1.3, 1.3, 1, 1, v));
  // 1 + 0.5 %/bar (30 - 50) + 0.5 %/bar (90 - 50)
  double linear = 1 - 0.1 + 0.2;
  is_near("linear in both pressures", friction_with(", factor: sum"), steady(linear, linear, 1, 1, v));
  is_near("every parameter", friction_with(", factor: sum, factor_vs: 1, factor_viscous: 1"),
          steady(linear, linear, linear, linear, v));
  is_near("saturating", friction_with(", factor: level"), steady(1.05, 1.05, 1, 1, v));
  double of_sum = 1 + 0.4 * 20 / 300;
  is_near("over the sum of pressures", friction_with(", factor: by_sum"), steady(of_sum, of_sum, 1, 1, v));
  double below = 1 + 0.2 * 0.8, above = 1.3 + 0.4 * 0.8, both = below + 0.75 * (above - below);
  is_near("over both pressures", friction_with(", factor: by_both"), steady(both, both, 1, 1, v));
  is_near("a block over both pressures", guessed_friction(),
          steady(1.1 * both, 1.1 * both, 1, pow(1.1 * both, -0.5), v));
  double place = 1.15 - 0.15 * 0.25;
  is_near("over the position", friction_with(", factor: by_place"), steady(place, place, 1, 1, v));
  double thin = 0.3 - 0.1 * 7 / 20;
  is_near("over temperature",
          friction_with(", factor: viscosity, factor_Fs: -0.1, factor_Fc: 0.2, factor_viscous: 0.5"),
          steady(pow(thin, -0.1), pow(thin, 0.2), 1, sqrt(thin), v));
}

// The same by the key 'pressure', without blocks.
static void own_chambers(void **state) {
  (void)state;
  const double v = 0.02, apart = 1 - 20 * 0.004 + 40 * 0.007, of_sum = 1 + 0.4 * 20 / 300;
  is_near("both chambers",
          friction_with(", pressure: {per_a: 0.4 %/bar, per_b: 0.7 %/bar, nominal_a: 50 bar, nominal_b: 50 bar}"),
          steady(apart, apart, 1, 1, v));
  is_near("their sum", friction_with(", pressure: {per_sum: 0.1 %/bar}"), steady(1.12, 1.12, 1, 1, v));
  is_near("every parameter", friction_with(", factor_vs: 1, factor_viscous: -1, pressure: {per_sum: 0.1 %/bar}"),
          steady(1.12, 1.12, 1.12, 1 / 1.12, v));
  is_near("above a limit", friction_with(", pressure: {per_sum: 0.1 %/bar, limits: [0.5, 1.05]}"),
          steady(1.05, 1.05, 1, 1, v));
  is_near("below a limit", friction_with(", pressure: {per_a: -1 %/bar, limits: [0.9, 1.1]}"),
          steady(0.9, 0.9, 1, 1, v));
  is_near("beside a factor", friction_with(", factor: 1.5, pressure: {per_sum: 0.1 %/bar}"),
          steady(1.68, 1.68, 1, 1, v));
  is_near("a table over the sum",
          friction_with(", pressure: {at_sum: [20 bar, 100 bar, 400 bar], values: [0.7, 1, 1.4]}"),
          steady(of_sum, of_sum, 1, 1, v));
  double below = 1 + 0.2 * 0.8, above = 1.3 + 0.4 * 0.8, both = below + 0.75 * (above - below);
  is_near("a map over both",
          friction_with(", pressure: {at_a: [0 bar, 40 bar], at_b: [50 bar, 100 bar], values: [1, 1.2, 1.3, 1.7]}"),
          steady(both, both, 1, 1, v));
}

// Laws that depend only on the speed, by hand: each parameter times a power of the factor.
static double coulomb_by_hand(double factor, double v) {
  return Fc * factor * tanh(v / (vs * pow(factor, 0.5))) + viscous * pow(factor, -1) * v;
}
static double brown_mcphee_by_hand(double factor, double v) {
  double s = Fs * pow(factor, 0.8), c = Fc * factor, r = v / (vs * pow(factor, 0.5)), b = r * r / 4 + 0.75;
  return c * tanh(4 * r) + (s - c) * r / (b * b) + viscous * pow(factor, -1) * v * tanh(4);
}
static double viscous_by_hand(double factor, double v) {
  return viscous * factor * v;
}
static const struct {
  const char *name, *numbers;
  double (*by_hand)(double factor, double v);
} plain[] = {
    {"coulomb", "Fc: 300, vs: 0.01, viscous: 300, factor_vs: 0.5, factor_viscous: -1", coulomb_by_hand},
    {"brown-mcphee", "Fc: 300, Fs: 2000, vs: 0.01, viscous: 300, factor_Fs: 0.8, factor_vs: 0.5, factor_viscous: -1",
     brown_mcphee_by_hand},
    {"viscous", "viscous: 300", viscous_by_hand}};
enum { PLAIN = sizeof plain / sizeof *plain };
static od_machine *plain_machine(int law, const char *more) {
  char friction[500], guess[500];
  snprintf(friction, sizeof friction, "law: %s, %s%s", plain[law].name, plain[law].numbers, more);
  snprintf(guess, sizeof guess, "type: %s-friction, factor: 1.1, %s", plain[law].name, plain[law].numbers);
  return machine_of(friction, guess);
}
static void plain_laws(void **state) {
  (void)state;
  const double v = 0.02, place = 1.15 - 0.15 * 0.25;
  double below = 1 + 0.2 * 0.8, above = 1.3 + 0.4 * 0.8, both = below + 0.75 * (above - below);
  for (int i = 0; i < PLAIN; i++) {
    double (*by_hand)(double, double) = plain[i].by_hand;
    is_near(plain[i].name, shown(plain_machine(i, ""), "ram.friction"), by_hand(1, v));
    is_near("  a number", shown(plain_machine(i, ", factor: 1.3"), "ram.friction"), by_hand(1.3, v));
    is_near("  over the position", shown(plain_machine(i, ", factor: by_place"), "ram.friction"), by_hand(place, v));
    is_near("  its chambers", shown(plain_machine(i, ", pressure: {per_sum: 0.1 %/bar}"), "ram.friction"),
            by_hand(1.12, v));
    is_near("  a block over both pressures", shown(plain_machine(i, ""), "guess"), by_hand(1.1 * both, v));
  }
}

// Derivatives with respect to the pressures and the numbers of 'pressure' are those of the factor times d friction/d
// factor.
#define APART ", pressure: {per_a: 0.4 %/bar, per_b: 0.7 %/bar, nominal_a: 50 bar, nominal_b: 50 bar}"
static double tustin_by_hand(double factor, double v) {
  return steady(factor, factor, sqrt(factor), 1, v);
}
static void check_slopes(od_machine *machine, double (*by_hand)(double factor, double v)) {
  const char *const path[] = {"ram.friction.pressure.per_a", "ram.friction.pressure.per_b",
                              "ram.friction.pressure.per_sum", "ram.friction.pressure.nominal_a"};
  const double per[] = {-20e5, 40e5, 20e5, -0.004e-5}, factor = 1.2, step = 1e-4;
  int parameter[4], output[3] = {od_test_output(machine, "ram.friction"), od_test_output(machine, "A.pressure"),
                                 od_test_output(machine, "B.pressure")};
  for (int i = 0; i < 4; i++) assert_true((parameter[i] = od_machine_number_find(machine, path[i])) >= 0);
  od_plant *plant;
  assert_int_equal(od_machine_plant(machine, output, 3, parameter, 4, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  double u[2] = {1, 334}, hx[3 * 8], hp[3 * 4], by_factor = 0;
  int nx = od_plant_nx(plant);
  assert_true(sim && nx <= 8);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_int_equal(od_sim_output_jacobians(sim, hx, NULL, hp), OD_OK);
  for (int side = -1; side <= 1; side += 2) by_factor += side * by_hand(factor + side * step, 0.02) / (2 * step);
  for (int i = 0; i < 4; i++) is_near(path[i], hp[i], per[i] * by_factor);
  for (int chamber = 0; chamber < 2; chamber++)
    for (int i = 0; i < nx; i++)
      if (hx[(1 + chamber) * nx + i] != 0)
        is_near("by a pressure", hx[i] / hx[(1 + chamber) * nx + i], (chamber ? 0.007e-5 : 0.004e-5) * by_factor);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
}
static void slopes(void **state) {
  (void)state;
  check_slopes(machine_with(", factor_vs: 0.5" APART), tustin_by_hand);
  for (int i = 0; i < PLAIN; i++) check_slopes(plain_machine(i, APART), plain[i].by_hand);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(dependences), cmocka_unit_test(own_chambers),
                                     cmocka_unit_test(plain_laws), cmocka_unit_test(slopes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
