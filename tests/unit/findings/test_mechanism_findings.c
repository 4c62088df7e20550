// Findings of the mechanism and of control on small machines, with times and values computed by hand, and the same machines where
// the rule is silent.
#include <stdlib.h>

#include "support/found.h"

// Returns the number after some words of a finding's text.
static double number_after(const od_finding *x, const char *words) {
  found_says(x, words);
  return strtod(strstr(x->text, words) + strlen(words), NULL);
}

#define OIL "oil: {density: 870, law: constant, modulus: 1 GPa}\n"

// --- Stops ------------------------------------------------------------------------------------------------------------

// A mass of 100 kg falls 0.5 m onto a stop of 1 MN/m without damping.
#define FALLING(time)                                                            \
  "machine: M\ngravity: [0, -9.81]\n"                                            \
  "bodies: {b: {mass: 100 kg}}\n"                                                \
  "joints: {slide: {type: prismatic, between: [ground, b], axis: [0, 1, 0]}}\n"  \
  "stops: {floor: {joint: slide, low: -0.5 m, stiffness: 1 MN/m, damping: 0}}\n" \
  "initial: {slide.position: 0 m, slide.rate: 0 m/s}\n"                          \
  "run: {time: " time ", outputs: [slide.position]}\n"

static void test_stop(void **state) {
  (void)state;
  const double m = 100, k = 1e6, g = 9.81, v = sqrt(2 * g * 0.5);
  found f = find_in(FALLING("0.5 s"));
  const od_finding *x = found_one(&f, "stop.reached");
  near(x->from, v / g, 1e-4);
  // The contact is a half-swing about the static deflection m g / k; its largest force is k times the largest deflection.
  double w = sqrt(k / m), rest = m * g / k, swing = hypot(rest, v / w);
  near(x->at, v / g + (acos(-1) / 2 + asin(rest / swing)) / w, 1e-3);
  near(x->to, v / g + (acos(-1) + 2 * asin(rest / swing)) / w, 2e-3);
  char part[60];
  snprintf(part, sizeof part, "largest force is %.3g kN", k * (rest + swing) / 1e3);
  found_says(x, part);
  int count;
  const od_happening *e = od_findings_events(f.findings, &count);
  assert_int_equal(count, 1);
  near(e[0].at, v / g, 1e-4);
  found_free(&f);
  f = find_in(FALLING("0.3 s"));
  found_none(&f, "stop.reached");
  found_free(&f);
}

// --- Cylinders --------------------------------------------------------------------------------------------------------

// A pump of 24 L/min moves a piston of 50 cm2 at 80 mm/s. The stroke of 100 mm begins at 50 mm.
#define STROKE(time)                                                                                                  \
  "machine: M\n" OIL                                                                                                  \
  "bodies: {b: {mass: 10 kg}}\n"                                                                                      \
  "joints: {slide: {type: prismatic, between: [ground, b], axis: [1, 0, 0]}}\n"                                       \
  "tanks: {T: {pressure: 1 bar}}\n"                                                                                   \
  "volumes: {A: {volume: 10 mL}, B: {volume: 10 mL}}\n"                                                               \
  "pumps: {p: {from: T, to: A, flow: 24 L/min}}\n"                                                                    \
  "reliefs: {r: {between: [A, T], set: 100 bar, slope: 10 (L/min)/bar}}\n"                                            \
  "orifices: {o: {between: [B, T], area: 100 mm^2, discharge: 0.7}}\n"                                                \
  "cylinders: {c: {between: [ground, b], chambers: [A, B], areas: [50 cm^2, 25 cm^2], closed: 1 m, stroke: 0.1 m}}\n" \
  "initial: {slide.position: 1.05 m, slide.rate: 80 mm/s, A.pressure: 1 bar, B.pressure: 1 bar}\n"                    \
  "run: {time: " time ", outputs: [slide.position]}\n"

static void test_stroke(void **state) {
  (void)state;
  found f = find_in(STROKE("1 s"));
  const od_finding *x = found_one(&f, "stroke.end");
  near(x->from, 50.0 / 80, 2e-3);
  near(x->to, 1, 1e-9);
  assert_int_equal(x->severity, OD_FINDING_NOTE);
  found_says(x, "outer end");
  found_says(x, "with 80 mm/s and stays there for 375 ms");
  found_none(&f, "stroke.left");
  // At the end of the stroke, the pump opens the relief valve.
  assert_true(found_one(&f, "relief.open")->from > x->from);
  found_free(&f);
  f = find_in(STROKE("0.25 s"));
  found_none(&f, "stroke.end");
  x = found_one(&f, "stroke.left");
  found_says(x, "c is 30 mm from its outer end at 0.25 s; its stroke is 100 mm");
  found_free(&f);
}

// A load on a locked cylinder follows these ramps. It changes its sign at 1.3333 s and 2.1667 s.
#define LOAD(ramps)                                                                                                \
  "machine: M\n" OIL                                                                                               \
  "bodies: {b: {mass: 10 kg}}\n"                                                                                   \
  "joints: {slide: {type: prismatic, between: [ground, b], axis: [1, 0, 0]}}\n"                                    \
  "volumes: {A: {volume: 10 mL}, B: {volume: 10 mL}}\n"                                                            \
  "inputs: {load: {unit: N, ramps: {at: " ramps                                                                    \
  "}}}\n"                                                                                                          \
  "forces: {f: {at: b, value: load, direction: [-1, 0]}}\n"                                                        \
  "cylinders: {c: {between: [ground, b], chambers: [A, B], areas: [50 cm^2, 25 cm^2], closed: 1 m, stroke: 0.1 m," \
  " friction: {law: viscous, viscous: 50 kN s/m}}}\n"                                                              \
  "initial: {slide.position: 1.05 m, slide.rate: 0 m/s, A.pressure: 100 bar, B.pressure: 160 bar}\n"               \
  "run: {time: 4 s, outputs: [c.force]}\n"

static void test_reversal(void **state) {
  (void)state;
  found f = find_in(LOAD("[[0 s, 10 kN], [1 s, 10 kN], [1.5 s, -5 kN], [2 s, -5 kN], [2.5 s, 10 kN]]"));
  const od_finding *x = found_one(&f, "load.reverses");
  near(x->from, 1 + 0.5 * 10 / 15, 2e-3);
  near(x->to, 2 + 0.5 * 5 / 15, 2e-3);
  near(number_after(x, "pulls with "), 5000, 10);
  // The stiffness of both chambers is K (A^2 / V_A + B^2 / V_B). The swing of 15 kN lowers A by K A / V_A times the displacement.
  double A = 50e-4, B = 25e-4, Va = 10e-6 + A * 0.05, Vb = 10e-6 + B * 0.05, K = 1e9;
  double falls = 15e3 / (K * (A * A / Va + B * B / Vb)) * K * A / Va;
  near(number_after(x, "A falls to "), 100 - falls / 1e5, 0.2);
  assert_int_equal(x->severity, OD_FINDING_NOTE);
  found_free(&f);
  // A load that swings about zero has no direction.
  f = find_in(LOAD("[[0 s, 10 kN], [1 s, 10 kN], [1.5 s, -10 kN], [2.5 s, -10 kN], [3 s, 10 kN]]"));
  found_none(&f, "load.reverses");
  found_free(&f);
  // A load that does not change its sign.
  f = find_in(LOAD("[[0 s, 10 kN], [1 s, 10 kN], [1.5 s, 1 kN], [2.5 s, 1 kN], [3 s, 10 kN]]"));
  found_none(&f, "load.reverses");
  found_free(&f);
}

// --- Ropes and brakes -------------------------------------------------------------------------------------------------

// A mass of 100 kg hangs on a rope of 1 MN/m and moves upward with 2 m/s. The rope is slack while the mass flies.
#define ROPE(rate)                                                                      \
  "machine: M\ngravity: [0, -10]\n"                                                     \
  "bodies: {b: {mass: 100 kg}}\n"                                                       \
  "joints: {slide: {type: prismatic, between: [ground, b], axis: [0, 1, 0]}}\n"         \
  "ropes: {line: {between: [ground, b], length: 1 m, stiffness: 1 MN/m, damping: 0}}\n" \
  "initial: {slide.position: -1.001 m, slide.rate: " rate                               \
  "}\n"                                                                                 \
  "run: {time: 0.3 s, outputs: [slide.position]}\n"

static void test_rope(void **state) {
  (void)state;
  const double w = 100, rest = 1e-3;
  found f = find_in(ROPE("1 m/s"));
  const od_finding *x = found_one(&f, "rope.slack");
  double swing = 1 / w, from = asin(rest / swing) / w, v = sqrt(1 - w * w * rest * rest);
  near(x->from, from, 5e-4);
  near(x->to, from + 2 * v / 10, 2e-3);
  found_free(&f);
  f = find_in(ROPE("0.05 m/s"));
  found_none(&f, "rope.slack");
  found_free(&f);
}

// A brake of 100 N m holds a shaft. A torque that rises by 100 N m/s reaches the holding torque at 1 s.
#define BRAKE(torque)                                                                                                          \
  "machine: M\n" OIL                                                                                                           \
  "bodies: {b: {mass: 1 kg, inertia: 1}}\n"                                                                                    \
  "joints: {shaft: {type: revolute, between: [ground, b]}}\n"                                                                  \
  "tanks: {T: {pressure: 1 bar}}\n"                                                                                            \
  "inputs: {load: {unit: N m, ramps: {at: [[0 s, 0 N m], [1.5 s, " torque                                                      \
  "]]}}}\n"                                                                                                                    \
  "torques: {t: {joint: shaft, value: load}}\n"                                                                                \
  "brakes: {hold: {joint: shaft, at: T, holding: 100 N m, deflection: 1 mrad, damping: 10, engage: 5 bar, release: 10 bar}}\n" \
  "initial: {shaft.angle: 0, shaft.rate: 0, hold.mode: 1}\n"                                                                   \
  "run: {time: 1.5 s, outputs: [shaft.angle]}\n"

static void test_brake(void **state) {
  (void)state;
  found f = find_in(BRAKE("150 N m"));
  const od_finding *x = found_one(&f, "brake.slips");
  near(x->from, 1, 2e-2);  // the brake slips gradually
  found_says(x, "100 N m");
  found_free(&f);
  f = find_in(BRAKE("95 N m"));
  found_none(&f, "brake.slips");
  found_free(&f);
}

// --- Joints -----------------------------------------------------------------------------------------------------------

// A pendulum that starts horizontally: at the lowest point the pin carries 3 m g, after a quarter of a period:
// sqrt(l/g) K(sin 45 deg), with K = 1.8540746773.
static void test_joint_load(void **state) {
  (void)state;
  found f = find_in(
      "machine: M\ngravity: [0, -9.81]\n"
      "bodies: {b: {mass: 10 kg, centre: [1 m, 0], inertia: 1e-9}}\n"
      "joints: {pin: {type: revolute, between: [ground, b]}}\n"
      "initial: {pin.angle: 0, pin.rate: 0}\n"
      "run: {time: 1 s, outputs: [pin.angle]}\n");
  const od_finding *x = found_one(&f, "load.largest");
  near(x->at, sqrt(1 / 9.81) * 1.8540746773, 2e-3);
  assert_string_equal(x->output, "pin.force");
  found_says(x, "pin carries 294 N");  // 3 * 10 kg * 9.81 m/s2 = 294.3 N
  found_none(&f, "energy");            // no energy is supplied or lost
  found_free(&f);
}

// --- Control ----------------------------------------------------------------------------------------------------------

// A mass of 1 kg, moved by a force of 10 N times a command within -1 and 1: command = 100/m (target - x) - 20 s/m x'.
#define SERVO(target, time)                                                                  \
  "machine: M\n"                                                                             \
  "bodies: {b: {mass: 1 kg}}\n"                                                              \
  "joints: {slide: {type: prismatic, between: [ground, b], axis: [1, 0, 0]}}\n"              \
  "inputs: {target: {unit: m, " target                                                       \
  "}}\n"                                                                                     \
  "blocks:\n"                                                                                \
  "  error: {type: sum, inputs: [target, slide.position], weights: [1, -1]}\n"               \
  "  wish: {type: sum, inputs: [error, slide.rate], weights: [100 1/m, -20 s/m], unit: 1}\n" \
  "  command: {type: saturation, input: wish, limits: [-1, 1]}\n"                            \
  "forces: {f: {at: b, value: 10 N command, direction: [1, 0]}}\n"                           \
  "initial: {slide.position: 0 m, slide.rate: 0 m/s}\n"                                      \
  "run: {time: " time ", outputs: [slide.position]}\n"

// With a target of 1 m the mass accelerates with 10 m/s2 until 100 (1 - 5 t^2) - 200 t = 1.
static void test_command(void **state) {
  (void)state;
  found f = find_in(SERVO("constant: 1 m", "0.4 s"));
  const od_finding *x = found_one(&f, "command.saturated");
  near(x->from, 0, 0);
  near(x->to, (-200 + sqrt(200 * 200 + 4 * 500 * 99)) / 1000, 1e-3);
  assert_string_equal(x->owner, "command");
  x = found_one(&f, "error.largest");
  found_says(x, "error is 1000 mm at 0 s");
  found_free(&f);
}

// A slow ramp of 10 mm/s is followed with the error 20/100 s * 10 mm/s = 2 mm, without saturation. 2 mm are 5 % of 40 mm.
static void test_error(void **state) {
  (void)state;
  found f = find_in(SERVO("ramps: {at: [[0 s, 0 m], [4 s, 40 mm]]}", "4 s"));
  const od_finding *x = found_one(&f, "error.largest");
  assert_int_equal(x->severity, OD_FINDING_NOTE);
  assert_string_equal(x->output, "error");
  found_says(x, "error is 2 mm");
  found_says(x, "5 % of the range of its target");
  found_none(&f, "command.saturated");
  found_free(&f);
}

// After a step of the target the error at the end counts, which is zero here.
static void test_error_after_step(void **state) {
  (void)state;
  found f = find_in(SERVO("steps: {at: [[0.1 s, 5 mm]]}", "4 s"));
  found_none(&f, "error.largest");
  found_none(&f, "command.saturated");
  found_free(&f);
}

// An error that is zero, apart from underflow, is not reported.
static void test_no_error(void **state) {
  (void)state;
  found f = find_in(SERVO("constant: 1e-307 m", "1 s"));
  found_none(&f, "error.largest");
  found_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stop),     cmocka_unit_test(test_stroke), cmocka_unit_test(test_reversal),
      cmocka_unit_test(test_rope),     cmocka_unit_test(test_brake),  cmocka_unit_test(test_joint_load),
      cmocka_unit_test(test_command),  cmocka_unit_test(test_error),  cmocka_unit_test(test_error_after_step),
      cmocka_unit_test(test_no_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
