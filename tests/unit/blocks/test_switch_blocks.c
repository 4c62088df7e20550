// Blocks with modes and with corners, in runs with every integrator, with steps that do not coincide with the switches. Oracle: closed
// forms.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/machines.h"

static const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4", "cvodes"};
enum { INTEGRATORS = 4 };

// A ramp up and down between two thresholds: a triangle with the period 2 s that begins at 0, in the middle of a rise. The hold keeps the
// value of a slow ramp (t/10) at the times when the relay switches on, 0.5 s, 2.5 s, ...; the switch passes on t/10 while the relay is off,
// then -t/10.
static const char triangle[] =
    "inputs: {t: {ramps: {at: [[0 s, 0], [100 s, 10]]}}, minus: {ramps: {at: [[0 s, 0], [100 s, -10]]}}}\n"
    "blocks:\n"
    "  rate: {type: relay, input: x, unit: m/s, thresholds: [-0.5 m, 0.5 m], values: [1 m/s, -1 m/s]}\n"
    "  x: {type: integrator, input: rate}\n"
    "  held: {type: sample-hold, input: t, trigger: x, thresholds: [0 m, 0.5 m]}\n"
    "  chosen: {type: switch, off: t, on: minus, control: x, thresholds: [-0.5 m, 0.5 m]}\n"
    "run: {time: 10 s, step: 70 ms}\n";

static void test_triangle(void **state) {
  (void)state;
  static const char *const names[] = {"x", "rate", "held", "chosen"};
  const double end = 6.3, x = 0.3, held = 0.45;  // on at 0.5, 2.5, 4.5; off at 1.5, 3.5, 5.5
  for (int i = 0; i < INTEGRATORS; i++) {
    od_machine *m = od_test_machine_text(triangle);
    double last[4];
    od_test_run_to(m, integrators[i], end, 70e-3, names, 4, last);
    print_message("%s: %.9g, held %.9g; closed form %.9g, %.9g\n", integrators[i], last[0], last[2], x, held);
    assert_true(fabs(last[0] - x) < 1e-6);
    assert_true(last[1] == 1);
    assert_true(fabs(last[2] - held) < 1e-6);
    assert_true(fabs(last[3] - end / 10) < 1e-12);
    od_machine_free(m);
  }
}

// A valve whose pilot pressure rises by 10 bar/s opens at 0.503 s, and a block that measures its mode switches at the same time, not a step later.
// So does a block with a sampled input, which exceeds the threshold from the sample at 0.4 s on, and a block after it. Integrators measure the
// durations.
static const char at_once[] =
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1 GPa}\n"
    "volumes: {A: {volume: 100 l}}\n"
    "tanks: {T: {pressure: 0 bar}}\nsources: {S: {pressure: 1 bar}}\n"
    "pumps: {p: {from: T, to: A, flow: 6 l/min}}\n"
    "unloading_valves: {valve: {between: [S, T], pilot: A, open: 6.03 bar, close: 0.5 bar, area: 1 mm^2, time_constant: 1 s}}\n"
    "initial: {A.pressure: 1 bar}\n"
    "inputs: {t: {ramps: {at: [[0 s, 0], [100 s, 100]]}}}\n"
    "blocks:\n"
    "  open: {type: relay, input: valve.mode, unit: '1', thresholds: [0.4, 0.5], values: [0, 1]}\n"
    "  opened: {type: integrator, input: open, gain: 1}\n"
    "  held: {type: gain, input: t, gain: 1, sample: 100 ms}\n"
    "  beyond: {type: relay, input: held, unit: '1', thresholds: [0.3, 0.35], values: [0, 1]}\n"
    "  after: {type: relay, input: beyond, unit: '1', thresholds: [0.4, 0.5], values: [0, 1]}\n"
    "  later: {type: integrator, input: after, gain: 1}\n"
    "run: {time: 10 s, step: 70 ms}\n";

static void test_at_once(void **state) {
  (void)state;
  static const char *const names[] = {"opened", "later"};
  const double end = 1.4;
  for (int i = 0; i < INTEGRATORS; i++) {
    od_machine *m = od_test_machine_text(at_once);
    double last[2];
    od_test_run_to(m, integrators[i], end, 70e-3, names, 2, last);
    print_message("%s: open for %.9g s, beyond for %.9g s\n", integrators[i], last[0], last[1]);
    assert_true(fabs(last[0] - (end - 0.503)) < 1e-6);
    assert_true(fabs(last[1] - (end - 0.4)) < 1e-6);
    od_machine_free(m);
  }
}

// Switches to the second state after 0.3 s and back when x has returned to its start: x = 2 t until 0.3 s, then 0.6 - 3 (t - 0.3), so that
// it is 0 at 0.5 s; then the cycle repeats. The third state is final; it is reached when the time y exceeds 1.25 s.
static const char sequence[] =
    "inputs: {one: 1}\n"
    "blocks:\n"
    "  cycle:\n"
    "    type: state-machine\n"
    "    inputs: {x: x, y: y}\n"
    "    states: {up: 2 m/s, down: -3 m/s, rest: 0 m/s}\n"
    "    parameters: {long: 0.3 s, late: 1.25}\n"
    "    transitions:\n"
    "      - {from: up, to: rest, when: y > late}\n"
    "      - {from: up, to: down, after: long}\n"
    "      - {from: down, to: up, when: [x <= 0 m, time > long / 2]}\n"
    "  x: {type: integrator, input: cycle}\n"
    "  y: {type: integrator, input: one}\n"
    "run: {time: 10 s, step: 70 ms}\n";

static void test_sequence(void **state) {
  (void)state;
  static const char *const names[] = {"x", "cycle.mode", "cycle.time", "cycle"};
  for (int i = 0; i < INTEGRATORS; i++) {
    od_machine *m = od_test_machine_text(sequence);
    double last[4];
    od_test_run_to(m, integrators[i], 0.91, 70e-3, names, 4, last);
    assert_true(last[1] == 1 && last[3] == -3);
    if (!(fabs(last[0] - (0.6 - 3 * 0.11)) < 1e-6)) fail_msg("%s: %.12g", integrators[i], last[0]);
    assert_true(fabs(last[2] - 0.11) < 1e-6);
    od_test_run_to(m, integrators[i], 2.1, 70e-3, names, 4, last);
    assert_true(last[1] == 2 && last[3] == 0);
    assert_true(last[2] == 0);  // no transition depends on the time there: it can be an equilibrium
    if (!(fabs(last[0] - 0.5) < 1e-6)) fail_msg("%s: %.12g", integrators[i], last[0]);
    od_machine_free(m);
  }
}

// Three relays in series, in reverse order in the file: the first switches on when t reaches 0.33, the others follow their
// predecessor. All three switch at the same time, so that x is the time since then.
static const char row[] =
    "inputs: {t: {ramps: {at: [[0 s, 0], [10 s, 10]]}}}\n"
    "blocks:\n"
    "  x: {type: integrator, input: third}\n"
    "  third: {type: relay, input: second, thresholds: [1, 4], values: [0, 1]}\n"
    "  second: {type: relay, input: first, thresholds: [1, 2], values: [0, 5]}\n"
    "  first: {type: relay, input: t, thresholds: [0.1, 0.33], values: [0, 3]}\n"
    "run: {time: 1 s, step: 70 ms}\n";

static void test_row(void **state) {
  (void)state;
  static const char *const names[] = {"x", "third"};
  for (int i = 0; i < INTEGRATORS; i++) {
    od_machine *m = od_test_machine_text(row);
    double last[2];
    od_test_run_to(m, integrators[i], 0.98, 70e-3, names, 2, last);
    if (!(fabs(last[0] - 0.65) < 1e-6) || last[1] != 1) fail_msg("%s: %.12g", integrators[i], last[0]);
    od_machine_free(m);
  }
}

// Values at given inputs, by hand.
static const char values[] =
    "inputs: {a: 2.5, b: -1.2, p: 30 bar}\n"
    "blocks:\n"
    "  lag: {type: first-order, input: a, time_constant: 1 s}\n"
    "  power: {type: power, input: b, exponent: 1.5, reference: 0.3, gain: 2}\n"
    "  levels: {type: quantiser, input: b, step: 0.5}\n"
    "  map: {type: table-2d, row: a, column: p, unit: m, at_row: [1, 2, 4], at_column: [10 bar, 50 bar],\n"
    "        values: [[1 m, 2 m], [3 m, 7 m], [4 m, 8 m]]}\n"
    "  flat: {type: table-2d, row: a, column: p, unit: m, at_row: [1, 2, 4], at_column: [10 bar, 50 bar],\n"
    "         values: [1, 2, 3, 7, 4, 8]}\n"
    "  beyond: {type: table-2d, row: b, column: p, unit: m, at_row: [1, 2], at_column: [10 bar, 50 bar], values: [1, 2, 3, 7]}\n"
    "run: {time: 1 s, step: 10 ms}\n";

static void test_values(void **state) {
  (void)state;
  static const char *const names[] = {"power", "levels", "map", "flat", "beyond"};
  od_machine *m = od_test_machine_text(values);
  double last[5];
  od_test_run_to(m, "trapezoid", 1, 10e-3, names, 5, last);
  assert_true(fabs(last[0] + 2 * pow(4, 1.5)) < 1e-13);
  assert_true(last[1] == -1);
  assert_true(fabs(last[2] - (0.75 * 5 + 0.25 * 6)) < 1e-14);  // half way along the pressures, a quarter from 2 to 4
  assert_true(last[3] == last[2]);
  assert_true(fabs(last[4] - 1.5) < 1e-14);
  assert_true(fabs(od_machine_number(m, od_machine_number_find(m, "map.values[1][1]")).value - 7) == 0);
  od_machine_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_at_once), cmocka_unit_test(test_triangle),
                                     cmocka_unit_test(test_sequence), cmocka_unit_test(test_row),
                                     cmocka_unit_test(test_values)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
