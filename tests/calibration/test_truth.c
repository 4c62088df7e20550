// The reference solution of the calibration. Oracles: closed forms; for its list of breaks, the list of the library.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "calibration/judged.h"
#include "calibration/truth.h"
#include "support/machine_file.h"

static trial *trial_of(double time) {
  trial *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->time = time;
  return t;
}

// The output at the end.
static double final_value(void **state, const char *text, trial *t, const char *name) {
  od_machine *machine = machine_from(*state, text, NULL, NULL);
  int output = od_machine_output_find(machine, name);
  assert_true(output >= 0);
  truth result;
  if (!truth_run(&result, machine, t, &output, 1, &t->time, 1, 1e-11, true, 10)) fail_msg("%s", result.why);
  assert_true(result.time[result.count - 1] == t->time);
  double value = result.y[result.count - 1];
  truth_free(&result);
  od_machine_free(machine);
  trial_free(t);
  return value;
}

static void test_blow(void **state) {
  trial *t = trial_of(0.5);
  trial_add_break(t, 0.1), trial_add_break(t, 0.1005), trial_add_break(t, 0.101);
  double x = final_value(state,
                         "bodies: {cart: {mass: 2}}\n"
                         "joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}}\n"
                         "inputs: {blow: {unit: N, ramps: {at: [[0.1, 0], [0.1005, 1000], [0.101, 0]]}}}\n"
                         "torques: {hit: {joint: rail, value: blow}}\n"
                         "initial: {rail.position: 0}\n",
                         t, "rail.position");
  // 0.5 N s about 0.1005 s.
  near(x, 0.25 * (0.5 - 0.1005), 1e-11);
}

// A ball falls from a height h onto a spring and bounces: when it reaches h again, its speed is zero.
static void test_bounce(void **state) {
  const double g = 9.81, h = 0.3, k = 5e4, m = 2;
  double fall = sqrt(2 * h / g), speed = g * fall, w = sqrt(k / m), rest = g / (w * w);
  // Depth d: d'' = g - w^2 d from 0 with this speed, until d is 0 again.
  double touch = (3.14159265358979323846 + 2 * atan2(rest * w, speed)) / w;
  trial *t = trial_of(2 * fall + touch);
  trial_add_edge(t, "ball.origin.y", "", 0, 0);
  static const char *const text =
      "gravity: [0, -9.81]\nbodies: {ball: {mass: 2}}\n"
      "joints: {rail: {type: prismatic, between: [ground, ball], axis: [0, 1, 0]}}\n"
      "contacts: {floor: {at: ball, normal: [0, 1, 0], stiffness: 5e4, damping: 0, friction: 0}}\n"
      "initial: {rail.position: 0.3}\n";
  double time = t->time;
  near(final_value(state, text, t, "rail.rate"), 0, 1e-8);
  t = trial_of(time);  // without the time of the contact
  near(final_value(state, text, t, "rail.position"), h, 1e-8);
}

// An integrator between the thresholds of a relay: a triangle.
static void test_relay(void **state) {
  double x = final_value(state,
                         "blocks:\n  r: {type: relay, input: x, thresholds: [-0.2, 0.3], values: [1, -1]}\n"
                         "  x: {type: integrator, input: r, gain: 7 1/s}\n",
                         trial_of(0.5), "x");
  // Total path 3.5: up 0.3, down 0.5, up 0.5 and so on; the remaining 3.2 are six halves and 0.2 downwards.
  near(x, 0.3 - 0.2, 1e-9);
}

// Passes through a state without remaining there; a sample follows.
static void test_states(void **state) {
  double x =
      final_value(state,
                  "inputs: {one: 1}\n"
                  "blocks:\n  s: {type: state-machine, inputs: {u: one}, states: {a: 1, b: 50, c: -2}, transitions: "
                  "[{from: a, to: b, after: 0.12}, {from: b, to: c, when: u > 0.5}]}\n"
                  "  held: {type: gain, input: s, gain: 1, sample: 0.05}\n"
                  "  x: {type: integrator, input: s, gain: 1 1/s}\n"
                  "  y: {type: integrator, input: held, gain: 1 1/s}\n"
                  "  both: {type: sum, inputs: [x, y]}\n",
                  trial_of(0.42), "both");
  // The state at 0.12 s, the sample at 0.15 s.
  near(x, 0.12 - 2 * 0.3 + 0.15 - 2 * 0.27, 1e-9);
}

// Levels of a quantizer with a ramp as input.
static void test_quantizer(void **state) {
  double sum = 0;
  for (int is_given = 0; is_given < 2; is_given++) {
    trial *t = trial_of(0.95);
    if (is_given) trial_add_edge(t, "u", "", 0.05, 0.1);
    sum += final_value(
        state,
        "inputs: {u: {ramps: {at: [[0, 0], [1, 1]]}}}\n"
        "blocks:\n  q: {type: quantiser, input: u, step: 0.1}\n  x: {type: integrator, input: q, gain: 1 1/s}\n",
        t, "x");
  }
  // Level k / 10 lasts for 0.1 s: 0.01 times 1 + 2 + ... + 9.
  near(sum, 2 * 0.45, 1e-8);
}

static bool is_listed(const double *list, int count, double t) {
  for (int i = 0; i < count; i++)
    if (fabs(list[i] - t) < 1e-9) return true;
  return false;
}

// Whether an input jumps or bends visibly at t, by its second difference. Bits of a random sequence may repeat.
static bool is_visible(const od_machine *machine, double t) {
  static const double aside = 1e-7;
  int count = od_machine_input_count(machine);
  double u[3][64];
  assert_true(count <= 64);
  for (int k = 0; k < 3; k++) od_machine_inputs(machine, t + (k - 1) * aside, u[k]);
  for (int i = 0; i < count; i++)
    if (fabs(u[0][i] - 2 * u[1][i] + u[2][i]) > 1e-8 + 1e-7 * fabs(u[1][i])) return true;
  return false;
}

// All breaks that the library finds in the inputs of random machines are in the trial's list, and vice versa.
static void test_breaks(void **state) {
  const machine_file *file = *state;
  int machines = 0, breaks = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    trial *t = trial_new(seed);
    if (t->files) {
      trial_free(t);  // its logs are not written here
      continue;
    }
    char *text = trial_file(t, NULL, 0);
    machine_file_write(file, text, strlen(text));
    free(text);
    od_messages *messages = od_messages_new();
    od_machine *machine = NULL;
    if (od_machine_load(file->path, NULL, &machine, messages) == OD_OK) {
      double found[TRIAL_BREAKS];
      int count = 0;
      machines++;
      for (double at = od_machine_next_break(machine, 0); at < t->time - 1e-9;
           at = od_machine_next_break(machine, at)) {
        assert_true(count < TRIAL_BREAKS);
        if (at > 1e-9 && !is_listed(t->breaks, t->break_count, at))
          fail_msg("seed %d: %.9g s is not listed", (int)seed, at);
        found[count++] = at;
      }
      for (int i = 0; i < t->break_count; i++)
        if (t->breaks[i] < t->time - 1e-9 && is_visible(machine, t->breaks[i]) &&
            !is_listed(found, count, t->breaks[i]))
          fail_msg("seed %d: the library does not find %.9g s", (int)seed, t->breaks[i]);
      breaks += count;
      od_machine_free(machine);
    }
    od_messages_free(messages);
    trial_free(t);
  }
  assert_true(machines > 30 && breaks > 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_blow, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_bounce, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_relay, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_states, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_quantizer, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_breaks, machine_file_start, machine_file_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
