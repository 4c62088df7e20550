// 'initial: steady': machines that start in a steady state. Oracles: closed forms of the steady state, and the rates there.
#include "support/test.h"

#include <math.h>

#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "support/machine_file.h"

static const double pi = 3.14159265358979323846;

// Outputs of the machine at its start; all rates there are zero.
static void start_of(void **state, const char *text, const char *const *names, int count, double *value) {
  od_machine *m = machine_from(*state, text, NULL, NULL);
  int output[16];
  double u[8] = {0};
  od_plant *plant = NULL;
  od_error err = {0};
  for (int i = 0; i < count; i++) assert_true((output[i] = od_machine_output_find(m, names[i])) >= 0);
  if (od_machine_plant(m, output, count, NULL, 0, &plant, &err) != OD_OK) fail_msg("%s", err.text);
  od_sim *sim = od_sim_new(plant);
  od_machine_inputs(m, 0, u);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_int_equal(od_sim_outputs(sim, value), OD_OK);
  for (int i = 0; i < od_plant_nk(plant); i++)
    near(od_sim_rates(sim)[i] / (i >= plant->nz && plant->scale ? plant->scale[i] : 1), 0, 1e-6);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(m);
}

// Filters and delays have the value for a constant signal in the past; a sampled gain holds it.
static void test_blocks(void **state) {
  static const char *const names[] = {"lag", "late", "swing", "held", "slow"};
  double y[5];
  start_of(state,
           "inputs: {u: {constant: 5}}\n"
           "blocks:\n"
           "  lag: {type: first-order, input: u, gain: 3, time_constant: 0.2 s}\n"
           "  late: {type: delay, input: lag, time: 0.1 s, pade: 3}\n"
           "  swing: {type: second-order, input: late, frequency: 7 Hz, damping: 0.1}\n"
           "  held: {type: gain, input: lag, gain: 2, sample: 10 ms}\n"
           "  slow: {type: first-order, input: held, time_constant: 50 s}\n"
           "initial: steady\n",
           names, 5, y);
  const double expected[] = {15, 15, 15, 30, 30};
  for (int i = 0; i < 5; i++) near(y[i], expected[i], 1e-8);
}

// q = c (p - T); a mass hangs on a spring; a pendulum with a high initial guess hangs down, in its stable position.
static void test_circuit_and_mechanism(void **state) {
  static const char *const names[] = {"A.pressure", "slide.position", "pin.angle"};
  double y[3];
  start_of(state,
           "gravity: [0, -9.81 m/s^2]\n"
           "bodies: {load: {point: {mass: 12 kg}}, rod: {beam: {mass: 2 kg, length: 1 m}}}\n"
           "joints:\n"
           "  slide: {type: prismatic, between: [ground, load], axis: [0, 1, 0], stiffness: 3000 N/m}\n"
           "  pin: {type: revolute, between: [ground, rod.start]}\n"
           "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
           "volumes: {A: {volume: 0.5 L}}\n"
           "tanks: {T: {pressure: 1 bar}}\n"
           "pumps: {pump: {to: A, from: T, flow: 6 l/min}}\n"
           "leaks: {leak: {between: [A, T], slope: 2e-11 m^3/(s Pa)}}\n"
           "initial: {others: steady, pin.angle: about 60 deg}\n",
           names, 3, y);
  near(y[0], 1e5 + 1e-4 / 2e-11, 1);
  near(y[1], -12 * 9.81 / 3000, 1e-9);
  near(y[2], -pi / 2, 1e-8);
}

// A load on a closed cylinder: any position is steady, so the given one is kept, and the pressure carries the load.
static void test_exact_values_stay(void **state) {
  static const char *const names[] = {"slide.position", "A.pressure"};
  double y[2], area = pi / 4 * 0.05 * 0.05, ring = area - pi / 4 * 0.03 * 0.03;
  start_of(
      state,
      "gravity: [0, -9.81 m/s^2]\n"
      "bodies: {load: {point: {mass: 500 kg}}}\n"
      "joints: {slide: {type: prismatic, between: [ground, load], axis: [0, 1, 0]}}\n"
      "ground: {points: {foot: [0, -1 m]}}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {A: {volume: 0.5 L}}\n"
      "tanks: {T: {pressure: 1 bar}}\n"
      "cylinders: {ram: {between: [ground.foot, load], chambers: [A, T], bore: 50 mm, rod: 30 mm, closed: 1 m, stroke: 0.8 m}}\n"
      "initial: {others: steady, slide.position: 0.3 m}\n",
      names, 2, y);
  near(y[0], 0.3, 1e-12);
  near(y[1], (500 * 9.81 + 1e5 * ring) / area, 10);
}

// A servo axis whose spool starts closed, where no flow depends on any pressure; or with values to be balanced, for any of which the
// rates of integral and spool are zero. The cylinder leaks from B to A, and both edges have one opening and so one drop:
//   P - pB = pA - T,  pA Aa = pB Ab,  c (pB - pA) = q sqrt((pA - T)/drop) |s|
static void test_shut_valve(void **state) {
  static const char text[] =
      "bodies: {load: {point: {mass: 800 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
      "ground: {points: {eye: [-1 m, 0]}}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa, smoothing: 1 Pa}\n"
      "volumes: {A: {volume: 0.1 L}, B: {volume: 0.1 L}}\n"
      "tanks: {P: {pressure: 200 bar}, T: {pressure: 2 bar}}\n"
      "servo_valves:\n"
      "  sv: {command: pid, between: [P, T], a: A, b: B, nominal_flow: 60 L/min, nominal_drop: 35 bar, frequency: 100 Hz, damping: 0.7, stroke: 10 V}\n"
      "cylinders:\n"
      "  ram: {between: [ground.eye, load], chambers: [A, B], areas: [30 cm^2, 15 cm^2], closed: 0.5 m, stroke: 1 m, leakage: 2e-12 m^3/(s Pa)}\n"
      "inputs: {ref: {unit: m, constant: 0.1 m}}\n"
      "blocks:\n"
      "  error: {type: sum, inputs: [ref, rail.position], weights: [1, -1]}\n"
      "  pid: {type: pid, input: error, unit: V, kp: 100 V/m, ki: 100 V/(m s), limits: [-10 V, 10 V]}\n"
      "initial: %s\n";
  static const char *const names[] = {"rail.position", "A.pressure", "B.pressure", "sv.spool", "pid.integral"};
  static const char *const starts[] = {
      "steady", "{others: steady, rail.position: 0.1 m}",
      "{others: steady, rail.position: about 0.3 m, A.pressure: about 150 bar}",
      "{rail.position: 0.1 m, A.pressure: balance from 60 bar, B.pressure: balance from 120 bar, "
      "sv.spool: balance from -0.1 V, pid.integral: balance from -0.1 V}"};
  double pA = 202e5 * 15 / 45, pB = 202e5 - pA, spool = -10 * 2e-12 * (pB - pA) / (1e-3 * sqrt((pA - 2e5) / 35e5));
  const double expected[] = {0.1, pA, pB, spool, spool}, tolerance[] = {1e-8, 100, 100, 1e-6, 1e-6};
  for (int i = 0; i < 4; i++) {
    char file[2000];
    double y[5];
    snprintf(file, sizeof file, text, starts[i]);
    start_of(state, file, names, 5, y);
    for (int k = 0; k < 5; k++) near(y[k], expected[k], tolerance[k]);
  }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, machine_file_start, machine_file_end)
  const struct CMUnitTest tests[] = {
      TEST(test_blocks),
      TEST(test_circuit_and_mechanism),
      TEST(test_exact_values_stay),
      TEST(test_shut_valve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
