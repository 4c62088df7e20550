// Blocks. Oracles: closed forms (frequency responses of linear blocks, values and step responses of the others),
// equivalent elements of the machine, recursions of sampled blocks by hand.
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "machine/machine.h"
#include "model/model.h"
#include "support/machines.h"
#include "support/response.h"

// ---- linear blocks

static double complex lead_lag(double complex s) {
  return 3 * (0.04 * s + 1) / (0.01 * s + 1);
}
static double complex lag(double complex s) {
  return 2 / (0.05 * s + 1);
}
static double complex second(double complex s) {
  return 5 * 900 / (s * s + 2 * 0.3 * 30 * s + 900);
}
static double complex second_rate(double complex s) {
  return s * second(s);
}
static double complex notch(double complex s) {
  return (4e-4 * s * s + 2 * 0.1 * 0.02 * s + 1) / (4e-4 * s * s + 2 * 0.8 * 0.02 * s + 1);
}
static double complex transfer(double complex s) {
  return (0.5 * s * s + 2) / (0.001 * s * s * s + 0.02 * s * s + 0.3 * s + 4);
}
static double complex proper(double complex s) {
  return (0.2 * s + 3) / (0.1 * s + 7);
}
static double complex integral(double complex s) {
  return 4 / s;
}
static double complex pid(double complex s) {
  return 2 + 3 / s + 0.5 * s / (0.02 * s + 1);
}
static double complex chain(double complex s) {
  return lead_lag(s) * notch(s) - 0.5 * proper(s);
}
// Volume and mass of a linear axis: pL (V/(4 B) s + C) = Q - A s x and m s^2 x + d s x + k x = A pL.
static double complex axis(double complex s) {
  double complex load = 3 * s * s + 40 * s + 500, oil = 1e-4 / (4 * 1e9) * s + 1e-12;
  return 1e-4 / (1e-3 * s + (oil + 2e-12) * load / 1e-3);
}

static void frequency_responses(void **state) {
  (void)state;
  od_test_run run = od_test_begin(
      od_test_machine_text(
          "inputs: {u: 0}\n"
          "blocks:\n"
          "  lead: {type: lead-lag, input: u, gain: 3, lead: 40 ms, lag: 10 ms}\n"
          "  lag: {type: first-order, input: u, gain: 2, time_constant: 50 ms}\n"
          "  second: {type: second-order, input: u, gain: 5, frequency: 30 rad/s, damping: 0.3}\n"
          "  notch: {type: notch, input: u, time_constant: 20 ms, damping: [0.1, 0.8]}\n"
          "  tf: {type: transfer-function, input: u, numerator: [0.5, 0, 2], denominator: [0.001, 0.02, 0.3, 4]}\n"
          "  proper: {type: transfer-function, input: u, numerator: [0.2 s, 3], denominator: [0.1 s, 7]}\n"
          "  integral: {type: integrator, input: u, unit: 1, gain: 4 1/s}\n"
          "  pid: {type: pid, input: u, kp: 2, ki: 3 1/s, kd: 0.5 s, filter: 20 ms}\n"
          "  behind: {type: notch, input: lead, time_constant: 20 ms, damping: [0.1, 0.8]}\n"
          "  both: {type: sum, inputs: [behind, proper], weights: [1, -0.5]}\n"
          "  valve: {type: linear-valve, command: u, load_pressure: fluid, flow_gain: 1e-4 m^3/s,\n"
          "          pressure_coefficient: 2e-12 m^3/(s Pa)}\n"
          "  fluid: {type: load-chamber, flow: valve, velocity: rod.velocity, modulus: 1 GPa, volume: 100 cm^3,\n"
          "        area: 10 cm^2, leakage: 1e-12 m^3/(s Pa)}\n"
          "  rod: {type: mass, pressure: fluid, mass: 3 kg, area: 10 cm^2, damping: 40 N s/m, stiffness: 500 N/m}\n"),
      "lead", "lag", "second", "second.rate", "notch", "tf", "proper", "integral", "pid", "both", "rod.position", NULL);
  double complex (*const want[])(double complex) = {lead_lag, lag,      second, second_rate, notch, transfer,
                                                    proper,   integral, pid,    chain,       axis};
  assert_true(od_model_is_linear(od_machine_model(run.machine)));
  double worst = 0;
  for (int i = 0; i < run.outputs; i++) {
    od_test_linear l = od_test_linearize(run.sim, run.plant, 0, i);
    for (double w = 0.1; w < 1e4; w *= 3) {
      double complex s = w * _Complex_I, exact = want[i](s);
      worst = fmax(worst, cabs(od_test_response(&l, s) - exact) / cabs(exact));
    }
    od_test_linear_free(&l);
  }
  print_message("frequency responses: relative error %.2g\n", worst);
  assert_true(worst < 1e-12);
  od_test_end(&run);
}

// |G| = 1 at all frequencies; the phase is that of exp(-s T) up to the order: for w T < 1 the error of the n-th
// approximation is about (w T)^(2n+1) (n!)^2 / ((2n)! (2n+1)!).
static void pade(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "inputs: {u: 0}\n"
      "blocks:\n"
      "  d1: {type: delay, input: u, time: 0.1 s, pade: 1}\n"
      "  d2: {type: delay, input: u, time: 0.1 s, pade: 2}\n"
      "  d3: {type: delay, input: u, time: 0.1 s, pade: 3}\n"
      "  d5: {type: delay, input: u, time: 0.1 s, pade: 5}\n");
  od_test_run run = od_test_begin(machine, "d1", "d2", "d3", "d5", NULL);
  static const int order[] = {1, 2, 3, 5};
  for (int i = 0; i < 4; i++) {
    od_test_linear l = od_test_linearize(run.sim, run.plant, 0, i);
    for (double wT = 0.1; wT < 1; wT += 0.2) {
      double complex y = od_test_response(&l, 10 * wT * _Complex_I);
      int n = order[i];
      double expected = pow(wT, 2 * n + 1) * pow(tgamma(n + 1), 2) / (tgamma(2 * n + 1) * tgamma(2 * n + 2));
      assert_true(fabs(cabs(y) - 1) < 1e-12);
      assert_true(cabs(y - cexp(-wT * _Complex_I)) < 1.2 * expected + 1e-14);
      assert_true(cabs(y - cexp(-wT * _Complex_I)) > 0.5 * expected - 1e-14);
    }
    od_test_linear_free(&l);
  }
  od_test_end(&run);
}

// ---- values and limits

static void static_blocks(void **state) {
  (void)state;
  static const struct {
    double u, saturated, dead;
  } cases[] = {{-3, -1, -2.5}, {-0.2, -0.2, 0}, {0.1, 0.1, 0}, {0.7, 0.7, 0.4}, {5, 2, 4.7}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "inputs: {u: %g, v: {unit: m, constant: 3 m}}\n"
             "blocks:\n"
             "  sat: {type: saturation, input: u, limits: [-1, 2]}\n"
             "  dead: {type: dead-zone, input: u, band: [-0.5, 0.3]}\n"
             "  prod: {type: product, inputs: [u, v, u], gain: 2}\n"
             "  volts: {type: gain, input: v, gain: 2 V/cm}\n"
             "  some: {type: first-order, input: volts, time_constant: 1 s}\n"
             "initial: {some.state: 7 V}\n",
             cases[i].u);
    od_test_run run = od_test_begin(od_test_machine_text(text), "sat", "dead", "prod", "volts", "some", NULL);
    double y[5];
    assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
    assert_true(fabs(y[0] - cases[i].saturated) < 1e-15 && fabs(y[1] - cases[i].dead) < 1e-15);
    assert_true(fabs(y[2] - 6 * cases[i].u * cases[i].u) < 1e-13 && fabs(y[3] - 600) < 1e-12 && y[4] == 7);
    assert_string_equal(od_machine_output_unit(run.machine, od_test_output(run.machine, "prod")), "m");
    assert_string_equal(od_machine_output_unit(run.machine, od_test_output(run.machine, "volts")), "V");
    assert_false(od_model_is_linear(od_machine_model(run.machine)));
    od_test_end(&run);
  }
}

// Through its points; exact on a parabola, also between points; beyond the ends along the end slopes; two points give a line.
static void spline_through_points(void **state) {
  (void)state;
  for (double u = -3; u < 5; u += 0.37) {
    char text[700];
    snprintf(text, sizeof text,
             "inputs: {u: %.17g}\n"
             "blocks:\n"
             "  bow: {type: spline, input: u, at: [-2, -1, 0.5, 1, 3], values: [9, 4, 0.25, 0, 4], unit: 1}\n"
             "  line: {type: spline, input: u, at: [1, 2], values: [3, 5], unit: 1}\n"
             "  step: {type: spline, input: u, at: [-1, 0, 1, 2], values: [0, 0, 1, 1], unit: 1}\n"
             "  lag: {type: first-order, input: u, time_constant: 1 s}\n",
             u);
    od_test_run run = od_test_begin(od_test_machine_text(text), "bow", "line", "step", NULL);
    double y[3], end = u < -2 ? -2 : 3;
    assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
    double bow = u < -2 || u > 3 ? (end - 1) * (end - 1) + 2 * (end - 1) * (u - end) : (u - 1) * (u - 1);
    assert_true(fabs(y[0] - bow) < 1e-12);
    assert_true(fabs(y[1] - (1 + 2 * u)) < 1e-12);
    // Between 0 and 1 the slopes of both parabolas are 1/2: 3 t^2 - 2 t^3 + t (1 - t) (1 - 2 t) / 2.
    if (u > 0 && u < 1) assert_true(fabs(y[2] - (3 * u * u - 2 * u * u * u + u * (1 - u) * (1 - 2 * u) / 2)) < 1e-12);
    od_test_end(&run);
  }
}

// Roots, quotients and similar blocks: values and units by hand. The inverse of a valve equals a combination of them.
static void nonlinear_blocks(void **state) {
  (void)state;
  static const double flows[] = {-3e-4, -1e-9, 0, 2e-4};
  for (size_t i = 0; i < sizeof flows / sizeof flows[0]; i++) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "inputs: {Q: {unit: m3/s, constant: %g}, s: {unit: Pa, constant: 200 bar}, t: {unit: Pa, constant: 1 bar},\n"
        "         a: {unit: Pa, constant: 1.4 bar}, zero: {unit: m3/s, constant: 0}}\n"
        "blocks:\n"
        "  from_s: {type: sum, inputs: [s, a], weights: [1, -1]}\n"
        "  to_t: {type: sum, inputs: [a, t], weights: [1, -1]}\n"
        "  least: {type: sum, inputs: [t]}\n"
        "  ahead: {type: maximum, inputs: [zero, Q]}\n"
        "  back: {type: minimum, inputs: [zero, Q]}\n"
        "  size: {type: absolute, input: Q}\n"
        "  side: {type: sign, input: Q, width: 1e-6 m^3/s}\n"
        "  drop1: {type: maximum, inputs: [from_s, least]}\n"
        "  drop2: {type: maximum, inputs: [to_t, least]}\n"
        "  root1: {type: square-root, input: drop1, reference: 35 bar}\n"
        "  root2: {type: square-root, input: drop2, reference: 35 bar}\n"
        "  x1: {type: quotient, numerator: ahead, denominator: root1, gain: 2500 s/m^3}\n"
        "  x2: {type: quotient, numerator: back, denominator: root2, gain: 2500 s/m^3}\n"
        "  sum: {type: sum, inputs: [x1, x2]}\n"
        "  valve: {type: valve-inverse, flow: Q, first: s, second: t, port: a, nominal_flow: 24 L/min}\n"
        "  ratio: {type: quotient, numerator: s, denominator: Q, least: 1e-4 m^3/s}\n"
        "  negative: {type: square-root, input: minus, reference: 4 Pa}\n"
        "  minus: {type: gain, input: t, gain: -1}\n"
        "  lag: {type: first-order, input: side, time_constant: 1 s}\n",  // a machine has a state

        flows[i]);
    od_test_run run =
        od_test_begin(od_test_machine_text(text), "sum", "valve", "size", "side", "ratio", "negative", NULL);
    double y[6], Q = flows[i], opening = Q / (4e-4 * sqrt((Q < 0 ? 1 : 198.6) / 35));
    assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
    assert_true(fabs(y[0] - opening) < 1e-14 && fabs(y[1] - opening) < 1e-14 && y[2] == fabs(Q));
    assert_true(fabs(y[3] - (fabs(Q) > 1e-6 ? copysign(1, Q) : Q / 1e-6)) < 1e-12);
    assert_true(fabs(y[4] - 2e7 / (fabs(Q) > 1e-4 ? Q : copysign(1e-4, Q))) < 1 && fabs(y[5] + sqrt(25e3)) < 1e-9);
    assert_string_equal(od_machine_output_unit(run.machine, od_test_output(run.machine, "x1")), "1");
    od_test_end(&run);
  }
}

// Up at 2/s, down at 1/s, then with a lag of 10 ms.
static void rate_limits(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "inputs: {u: {steps: {at: [[0 s, 1], [1 s, 0]]}}}\n"
      "blocks: {y: {type: rate-limit, input: u, limits: [-1 1/s, 2 1/s], time_constant: 10 ms}}\n");
  static const char *const names[] = {"y"};
  double y;
  od_test_run_to(machine, "cvodes", 0.4, 1e-3, names, 1, &y);
  assert_true(fabs(y - 0.8) < 1e-8);
  od_test_run_to(machine, "cvodes", 0.5, 1e-3, names, 1, &y);  // free from u - y = 20 ms * 1 at 0.49 s on
  assert_true(fabs(y - (1 - 0.02 * exp(-1))) < 1e-6);
  od_test_run_to(machine, "cvodes", 1.5, 1e-3, names, 1, &y);
  assert_true(fabs(y - 0.5) < 1e-6);
  od_machine_free(machine);
}

// A constant error: the controller reaches its limit and stays there with anti-windup, then leaves the limit as soon as
// the error changes its sign. Within the limits kp e + ki e t; beyond, v - limit settles at ki e Tt.
static void limits(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "inputs: {e: {steps: {initial: 0.5, at: [[2 s, -0.1]]}}}\n"
      "blocks:\n"
      "  pi: {type: pid, input: e, kp: 2, ki: 3, limits: [-1, 2], tracking: 20 ms}\n"
      "  int: {type: integrator, input: e, unit: 1, gain: 3, limits: [-1, 1], tracking: 20 ms}\n");
  static const char *const names[] = {"pi", "pi.integral", "int", "int.integral"};
  double y[4];
  od_test_run_to(machine, "cvodes", 0.5, 1e-3, names, 4, y);
  assert_true(fabs(y[0] - 1.75) < 1e-8 && fabs(y[2] - 0.75) < 1e-8);
  od_test_run_to(machine, "cvodes", 2, 1e-3, names, 4, y);
  assert_true(y[0] == 2 || fabs(y[0] - (1.03 - 0.2)) < 1e-8);  // includes the jump at 2 s: kp (-0.1) + I
  assert_true(fabs(y[1] - 1.03) < 1e-8 && fabs(y[3] - 1.03) < 1e-8 && fabs(y[2] - 1) < 1e-12);
  // 0.1 s later the integral of the PI is unlimited, that of the integrator is back within its limits: x' = -0.3 - (x -
  // 1)/Tt until x = 1, at t1 = Tt log((0.03 + 0.006)/0.006), then -0.3.
  od_test_run_to(machine, "cvodes", 2.1, 1e-3, names, 4, y);
  double t1 = 0.02 * log(0.036 / 0.006);
  assert_true(fabs(y[0] - (1.03 - 0.03 - 0.2)) < 1e-8);
  assert_true(fabs(y[2] - (1 - 0.3 * (0.1 - t1))) < 1e-8);
  od_machine_free(machine);
}

// ---- blocks instead of elements

static void compare_machines(const char *with_blocks, const char *with_elements, const char *const *names, int count,
                             double time, double bound) {
  od_machine *a = od_test_machine_text(with_blocks), *b = od_test_machine_text(with_elements);
  double ya[8], yb[8];
  od_test_run_to(a, "trapezoid", time, 1e-3, names, count, ya);
  od_test_run_to(b, "trapezoid", time, 1e-3, names, count, yb);
  for (int i = 0; i < count; i++) {
    if (!(fabs(ya[i] - yb[i]) <= bound * fabs(yb[i]))) print_error("%s: %.15g, not %.15g\n", names[i], ya[i], yb[i]);
    assert_true(fabs(ya[i] - yb[i]) <= bound * fabs(yb[i]));
  }
  od_machine_free(a);
  od_machine_free(b);
}

#define PENDULUM                                                            \
  "gravity: [0, -9.81]\nbodies: {rod: {beam: {mass: 2 kg, length: 1 m}}}\n" \
  "initial: {hinge.angle: 10 deg}\n"

// A spring and a damper in a joint equal a weighted sum of its angle and rate.
static void feeds_back_motion(void **state) {
  (void)state;
  static const char *const names[] = {"hinge.angle", "hinge.rate", "hinge.acceleration", "rod.end.y"};
  compare_machines(PENDULUM
                   "joints: {hinge: {type: revolute, between: [ground, rod.start]}}\n"
                   "blocks: {pd: {type: sum, inputs: [hinge.angle, hinge.rate], unit: N m,\n"
                   "              weights: [-30 N m/rad, -2 N m s/rad]},\n"
                   "         idle: {type: first-order, input: pd, time_constant: 1 s}}\n"
                   "torques: {motor: {joint: hinge, value: pd}}\n",
                   PENDULUM
                   "joints: {hinge: {type: revolute, between: [ground, rod.start], stiffness: 30 N m/rad,\n"
                   "                 damping: 2 N m s/rad}}\n",
                   names, 4, 1, 1e-9);
}

#define TANK                                                                            \
  "oil: {density: 870, law: constant, modulus: 1.4 GPa}\nvolumes: {P: {volume: 1 L}}\n" \
  "tanks: {T: {pressure: 0 bar}}\npumps: {pump: {to: P, flow: 10 L/min}}\ninitial: {P.pressure: 1 bar}\n"

// A leak equals a pump whose flow is proportional to the pressure.
static void feeds_back_pressure(void **state) {
  (void)state;
  static const char *const names[] = {"P.pressure", "P.inflow"};
  od_machine *a = od_test_machine_text(
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\nvolumes: {P: {volume: 1 L}}\n"
      "tanks: {T: {pressure: 0 bar}}\n"
      "pumps: {pump: {to: P, flow: 10 L/min}, leak: {to: T, from: P, flow: q}}\ninitial: {P.pressure: 1 bar}\n"
      "blocks: {q: {type: gain, input: P.pressure, unit: m3/s, gain: 1e-10 m^3/(s Pa)}}\n");
  od_machine *b = od_test_machine_text(TANK "leaks: {leak: {between: [P, T], slope: 1e-10 m^3/(s Pa)}}\n");
  double ya[2], yb[2];
  od_test_run_to(a, "trapezoid", 0.01, 1e-4, names, 2, ya);
  od_test_run_to(b, "trapezoid", 0.01, 1e-4, names, 2, yb);
  for (int i = 0; i < 2; i++) assert_true(fabs(ya[i] - yb[i]) <= 1e-9 * fabs(yb[i]));
  od_machine_free(a);
  od_machine_free(b);
}

// The valve's own lag equals a first-order block before a valve without a lag.
static void lags_a_spool(void **state) {
  (void)state;
  static const char *const names[] = {"P.pressure", "v.spool", "v.a.flow"};
#define VALVE "inputs: {u: {steps: {at: [[2 ms, 1]]}}}\n" TANK
#define PORTS \
  "stroke: 1, area: 10 mm^2, discharge: 0.6, ports: {a: {between: [P, T], side: positive, curve: linear}}}}\n"
  compare_machines(VALVE
                   "blocks: {lag: {type: first-order, input: u, time_constant: 5 ms}}\n"
                   "valves: {v: {command: lag, " PORTS,
                   VALVE "valves: {v: {command: u, time_constant: 5 ms, " PORTS, names, 3, 0.03, 1e-9);
}

// A block's state can start in equilibrium: a filter of a signal of the machine.
static void balanced_states(void **state) {
  (void)state;
  od_test_run run = od_test_begin(
      od_test_machine_text("inputs: {u: 3}\n"
                           "blocks: {f: {type: second-order, input: u, gain: 2, frequency: 10 rad/s, damping: 1},\n"
                           "         g: {type: first-order, input: f, time_constant: 1 s}}\n"
                           "initial: {f.state1: balance, f.state2: balance, g.state: balance}\n"),
      "f", "f.rate", "g", NULL);
  double y[3];
  assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
  assert_true(fabs(y[0] - 6) < 1e-12 && fabs(y[1]) < 1e-12 && fabs(y[2] - 6) < 1e-12);
  od_test_end(&run);
}

// States have units: a number of the file in the correct unit is accepted, and outputs have the same unit.
static void state_units(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "inputs: {u: {unit: m, constant: 1 m}}\n"
      "blocks: {c: {type: pid, input: u, unit: V, kp: 2 V/m, sample: 2 ms},\n"
      "         d: {type: pid, input: u, unit: V, kp: 2 V/m, kd: 1 V s/m, filter: 1 s},\n"
      "         f: {type: second-order, input: u, unit: V, gain: 2 V/m, frequency: 10 rad/s, damping: 1},\n"
      "         z: {type: transfer-function, input: u, unit: V, numerator: [1 V/m], denominator: [1, 2, 3], sample: 1 s}}\n"
      "initial: {c.integral: 1 V, c.held: 2 V, d.integral: 3 V, d.filter: 4 mm, f.state1: 5 mm, f.state2: 6 mm/s,\n"
      "          z.state1: 7 mm, z.state2: 8 mm, z.held: 9 V}\n");
  static const char *const units[][2] = {{"c.integral", "V"}, {"c.held", "V"},   {"d.integral", "V"},
                                         {"d.filter", "m"},   {"f.state1", "m"}, {"f.state2", "m/s"},
                                         {"z.state2", "m"},   {"z.held", "V"},   {"f.rate", "V/s"}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    assert_string_equal(od_machine_output_unit(machine, od_test_output(machine, units[i][0])), units[i][1]);
  od_machine_free(machine);
}

// ---- sampled blocks

// Sampled integrators beyond their limits, with tracking times shorter and longer than the sample time: the recursion by hand. The input
// changes its sign while the integrals are beyond the limit, so the time of the return depends on the tracking time.
static void sampled_tracking(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "inputs: {u: {steps: {initial: 1, at: [[295 ms, -0.7]]}}}\n"
      "blocks:\n"
      "  fast: {type: integrator, input: u, unit: 1, gain: 3, limits: [-0.2, 0.4], tracking: 5 ms, sample: 10 ms}\n"
      "  slow: {type: integrator, input: u, unit: 1, gain: 3, limits: [-0.2, 0.4], tracking: 60 ms, sample: 10 ms}\n");
  static const char *const names[] = {"fast", "slow", "fast.integral", "slow.integral"};
  const double tracking[] = {0.005, 0.06};
  for (int end = 20; end <= 60; end += 8) {
    double got[4], sum[2] = {0}, y[2];
    od_test_run_to(machine, "cvodes", end * 0.01 + 0.005, 5e-3, names, 4, got);
    for (int k = 0; k <= end; k++)
      for (int i = 0; i < 2; i++) {
        sum[i] += 0.01 * 3 * (k >= 30 ? -0.7 : 1);
        y[i] = fmin(fmax(sum[i], -0.2), 0.4);
        sum[i] += (y[i] - sum[i]) * fmin(0.01 / tracking[i], 1);
      }
    for (int i = 0; i < 2; i++) near(got[i], y[i], 1e-12), near(got[2 + i], sum[i], 1e-12);
  }
  od_machine_free(machine);
}

// A digital PID around a first-order plant with a known response to a held input: the whole loop by hand. The run's
// step does not divide the sample time.
static void sampled_loop(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "inputs: {r: {steps: {at: [[95 ms, 1]]}}}\n"
      "blocks:\n"
      "  e: {type: sum, inputs: [r, late], weights: [1, -1]}\n"
      "  c: {type: pid, input: e, kp: 3, ki: 20, kd: 0.02, filter: 15 ms, limits: [-1.5, 1.5], tracking: 50 ms,\n"
      "      sample: 10 ms}\n"
      "  p: {type: first-order, input: c, time_constant: 80 ms}\n"
      "  late: {type: delay, input: p, time: 30 ms, sample: 10 ms}\n"
      "  z: {type: transfer-function, input: c, numerator: [0.3, 0.1], denominator: [1, -0.8, 0.2], sample: 10 ms}\n"
      "  i: {type: integrator, input: late, unit: 1, gain: 2, limits: [-1, 0.5], sample: 20 ms}\n"
      "  hold: {type: gain, input: p, gain: 4, sample: 20 ms}\n");
  static const char *const names[] = {"p", "c", "late", "z", "i", "hold"};
  double got[6];
  od_test_run_to(machine, "cvodes", 0.505, 7e-3, names, 6, got);
  double p = 0, c = 0, line[3] = {0}, late = 0, area = 0, f = 0, z = 0, v1 = 0, v2 = 0, sum = 0, i = 0, hold = 0;
  for (int k = 0; k <= 50; k++) {
    if (k > 0) p = c + (p - c) * exp(-0.01 / 0.08);
    late = line[k % 3], line[k % 3] = p;
    double e = (k >= 10 ? 1 : 0) - late, slope = (e - f) / (0.015 + 0.01), v = 3 * e + area + 0.02 * slope;
    c = fmin(fmax(v, -1.5), 1.5);
    area += 0.01 * 20 * e + (c - v) * 0.01 / 0.05;
    f += 0.01 * slope;
    double w = c + 0.8 * v1 - 0.2 * v2;
    z = 0.3 * v1 + 0.1 * v2, v2 = v1, v1 = w;
    if (k % 2) continue;
    sum += 0.02 * 2 * late;
    i = fmin(fmax(sum, -1), 0.5), sum += i - sum;
    hold = 4 * p;
  }
  p = c + (p - c) * exp(-0.005 / 0.08);
  const double want[6] = {p, c, late, z, i, hold};
  for (int k = 0; k < 6; k++) {
    if (!(fabs(got[k] - want[k]) < 1e-8)) print_error("%s: %.12g, not %.12g\n", names[k], got[k], want[k]);
    assert_true(fabs(got[k] - want[k]) < 1e-8);
  }
  // The fixed-step rules stop at samples, too.
  const od_integrator *integrator;
  for (int entry = 0; (integrator = od_integrator_at(entry)); entry++) {
    od_test_run_to(machine, integrator->name, 0.505, 7e-3, names, 6, got);
    for (int k = 0; k < 6; k++) assert_true(fabs(got[k] - want[k]) < (integrator->order == 4 ? 1e-6 : 3e-3));
  }
  od_machine_free(machine);
}

// An output of minus zero is reported as zero.
static void zero_has_no_sign(void **state) {
  (void)state;
  od_test_run run =
      od_test_begin(od_test_machine_text("inputs: {u: {constant: 0}}\nblocks:\n  a: {type: gain, input: u, gain: -3}\n"
                                         "  rest: {type: first-order, input: u, gain: 1, time_constant: 1 s}\n"),
                    "a", NULL);
  double y = 1;
  assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
  assert_true(y == 0 && !signbit(y));
  od_test_end(&run);
}

// A sampled delay of three samples begins with the initial value of its output, two delays with different ones.
static void first_outputs_of_delays(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "inputs: {u: {constant: 5}}\nblocks:\n"
      "  a: {type: delay, input: u, time: 30 ms, sample: 10 ms}\n"
      "  b: {type: delay, input: u, time: 20 ms, sample: 10 ms}\n"
      "initial: {a.held: 2.5, b.held: -1}\n");
  static const char *const names[] = {"a", "b"};
  for (int k = 0; k < 5; k++) {
    double got[2];
    od_test_run_to(machine, "trapezoid", 0.01 * k + 0.005, 5e-3, names, 2, got);
    near(got[0], k < 3 ? 2.5 : 5, 1e-12);
    near(got[1], k < 2 ? -1 : 5, 1e-12);
  }
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(frequency_responses),
                                     cmocka_unit_test(first_outputs_of_delays),
                                     cmocka_unit_test(zero_has_no_sign),
                                     cmocka_unit_test(pade),
                                     cmocka_unit_test(static_blocks),
                                     cmocka_unit_test(nonlinear_blocks),
                                     cmocka_unit_test(spline_through_points),
                                     cmocka_unit_test(rate_limits),
                                     cmocka_unit_test(limits),
                                     cmocka_unit_test(feeds_back_motion),
                                     cmocka_unit_test(feeds_back_pressure),
                                     cmocka_unit_test(lags_a_spool),
                                     cmocka_unit_test(balanced_states),
                                     cmocka_unit_test(state_units),
                                     cmocka_unit_test(sampled_tracking),
                                     cmocka_unit_test(sampled_loop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
