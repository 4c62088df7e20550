// Valves by their data sheets: 2/2, 3/2, 4/2, 3/3 and 4/3 with all center positions, hysteresis, and sections of
// load-sensing valves.
//
// Oracles: nominal flow times the root of the pressure drop, written here again; the play of a hysteresis; two openings in series, with
// the pressure between them by bisection; the flow of a compensator, which does not depend on the load.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/machines.h"

#define CIRCUIT                                                                                                  \
  "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\n"                               \
  "sources: {S: {pressure: 200 bar}, A: {pressure: 165 bar}, B: {pressure: 141 bar}, L: {pressure: 20 bar}}\n"   \
  "tanks: {T: {pressure: 1 bar}}\nvolumes: {V: {volume: 1 L}}\nleaks: {seep: {between: [V, T], slope: 1e-13}}\n" \
  "initial: {V.pressure: 1 bar%s}\ninputs: {u: {unit: V, constant: %g V}}\nrun: {time: 1 s, step: 1 ms}\n%s\n"

// Values of up to five outputs at the start; flows become L/min.
static void at_start(double u, const char *valve, const char *initial, const char *const *names, int count, double *y) {
  char text[2000];
  snprintf(text, sizeof text, CIRCUIT, initial, u, valve);
  for (int i = 0; i < count; i++) {
    od_test_run run = od_test_begin(od_test_machine_text(text), names[i], NULL);
    assert_int_equal(od_sim_outputs(run.sim, &y[i]), OD_OK);
    if (strstr(names[i], "flow")) y[i] *= 6e4;
    od_test_end(&run);
  }
}
// 40 L/min at 5 bar: through an edge with a relative opening, between two pressures in bar.
static double edge(double open, double from, double to) {
  return copysign(40 * open * sqrt(fabs(from - to) / 5), from - to);
}

static void two_way(void **state) {
  (void)state;
  const char *const flow[] = {"v.flow", "v.opening"};
  const char *closed = "two_way_valves: {v: {command: u, between: [S, A], stroke: 10 V, nominal_flow: 40 L/min}}";
  const char *open =
      "two_way_valves: {v: {command: u, between: [S, A], stroke: 10 V, nominal_flow: 40 L/min, rest: 1, full: 0, overlap: 0.2}}";
  static const struct {
    bool open;
    double u, share;
  } points[] = {{false, 0, 0}, {false, 5, 0.5}, {false, 10, 1}, {false, 30, 1}, {false, -5, 0},
                {true, 0, 1},  {true, 2, 1},    {true, 6, 0.5}, {true, 10, 0},  {true, 20, 0}};
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    double y[2];
    at_start(points[i].u, points[i].open ? open : closed, "", flow, 2, y);
    near_scaled(y[0], edge(points[i].share, 200, 165), 1e-6, 1);
    near_scaled(y[1], points[i].share, 1e-6, 1);
  }
}

static void two_positions(void **state) {
  (void)state;
  const char *const flows[] = {"v.flow_a", "v.flow_b", "S.inflow", "T.inflow"};
  const char *four =
      "two_position_valves: {v: {command: u, between: [S, T], a: A, b: B, stroke: 10 V, nominal_flow: 40 L/min}}";
  const char *three =
      "two_position_valves: {v: {command: u, between: [S, T], a: A, stroke: 10 V, nominal_flow: 40 L/min, overlap: 0.5}}";
  double y[4];
  at_start(0, four, "", flows, 4, y);  // at rest: S to B, A to T
  near_scaled(y[0], edge(1, 1, 165), 1e-6, 1), near_scaled(y[1], edge(1, 200, 141), 1e-6, 1),
      near_scaled(y[2], -edge(1, 200, 141), 1e-6, 1);
  at_start(10, four, "", flows, 4, y);
  near_scaled(y[0], edge(1, 200, 165), 1e-6, 1), near_scaled(y[1], edge(1, 1, 141), 1e-6, 1),
      near_scaled(y[3], edge(1, 141, 1) + 0, 1e-6, 1);
  at_start(7.5, four, "", flows, 2, y);
  near_scaled(y[0], edge(0.5, 200, 165), 1e-6, 1), near_scaled(y[1], edge(0.5, 1, 141), 1e-6, 1);
  at_start(5, four, "", flows, 2, y);
  assert_true(y[0] == 0 && y[1] == 0);
  at_start(0, three, "", flows, 3, y);
  near_scaled(y[0], edge(1, 1, 165), 1e-6, 1), near_scaled(y[2], 0, 1e-6, 1);
  at_start(7, three, "", flows, 2, y);
  assert_true(y[0] == 0);  // within the overlap
  at_start(8.75, three, "", flows, 1, y);
  near_scaled(y[0], edge(0.5, 200, 165), 1e-6, 1);
}

static void centres(void **state) {
  (void)state;
  const char *const flows[] = {"v.flow_a", "v.flow_b", "S.inflow"};
  static const struct {
    const char *keys;
    double u, pump_a, tank_a, pump_b, tank_b, across;  // openings of the edges
  } points[] = {{"overlap: 0.1", 0, 0, 0, 0, 0, 0},
                {"overlap: 0.1", 5.5, 0.5, 0, 0, 0.5, 0},
                {"overlap: 0.1", -5.5, 0, 0.5, 0.5, 0, 0},
                {"overlap: -0.25", 0, 0.2, 0.2, 0.2, 0.2, 0},                      // open
                {"overlap: 0.1, tank_overlap: -0.25", 0, 0, 0.2, 0, 0.2, 0},       // float
                {"overlap: 0.2, idle: 1.5, idle_width: 0.4", 0, 0, 0, 0, 0, 1.5},  // tandem
                {"overlap: 0.2, idle: 1.5, idle_width: 0.4", 2, 0, 0, 0, 0, 1.5 * 0.75},
                {"overlap: 0.2, idle: 1.5, idle_width: 0.4", 6, 0.5, 0, 0, 0.5, 0},
                {"offset: 1 V", 6, 0.5, 0, 0, 0.5, 0},
                {"overlap: 0", -40, 0, 1, 1, 0, 0}};
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    char valve[300];
    double y[3];
    snprintf(
        valve, sizeof valve,
        "proportional_valves: {v: {command: u, between: [S, T], a: A, b: B, stroke: 10 V, nominal_flow: 40 L/min, %s}}",
        points[i].keys);
    at_start(points[i].u, valve, "", flows, 3, y);
    near_scaled(y[0], edge(points[i].pump_a, 200, 165) + edge(points[i].tank_a, 1, 165), 1e-6, 1);
    near_scaled(y[1], edge(points[i].pump_b, 200, 141) + edge(points[i].tank_b, 1, 141), 1e-6, 1);
    near_scaled(y[2],
                -edge(points[i].pump_a, 200, 165) - edge(points[i].pump_b, 200, 141) - edge(points[i].across, 200, 1),
                1e-6, 1);
  }
}

// A slow triangle: when the command reverses, the spool stays until the command has moved back by the hysteresis, then follows at half the
// hysteresis.
static void hysteresis(void **state) {
  (void)state;
  const char *text =
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\nsources: {S: {pressure: 200 bar}, A: {pressure: 165 bar}}\n"
      "tanks: {T: {pressure: 1 bar}}\nvolumes: {V: {volume: 1 L}}\nleaks: {seep: {between: [V, T], slope: 1e-13}}\n"
      "initial: {V.pressure: 1 bar}\n"
      "inputs: {u: {ramps: {at: [[0 s, 0], [4 s, 0.8], [8 s, 0], [12 s, 0.8]]}}}\n"
      "proportional_valves: {v: {command: u, between: [S, T], a: A, nominal_flow: 40 L/min, frequency: 600 rad/s, hysteresis: "
      "0.1}}\nrun: {time: 12 s, step: 10 ms}\n";
  static const double want[][2] = {{3, 0.6 - 0.05}, {4.3, 0.75}, {6, 0.4 + 0.05}, {8.3, 0.05}, {10, 0.4 - 0.05}};
  const char *const names[] = {"v.spool"};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    od_machine *machine = od_test_machine_text(text);
    double spool;
    od_test_run_to(machine, "cvodes", want[i][0], 0.01, names, 1, &spool);
    // Delayed by its lags: 1/(10 w) and 2 d/w, at 0.2 per second.
    if (!(fabs(spool - want[i][1]) < 0.2 * (0.1 + 1.4) / 600 * 1.01 + 1e-9)) fail_msg("%g s: %g", want[i][0], spool);
    od_machine_free(machine);
  }
}

// Flow from 200 bar to the load through two openings, with the pressure between them by bisection. leak: parallel to the metering
// edge.
static double through_both(double c, double m, double load, double *drop) {
  double low = load, high = 200;
  for (int i = 0; i < 200; i++) {
    double middle = (low + high) / 2;
    if (c * sqrt(200 - middle) > sqrt(m * m + 1e-4) * sqrt(middle - load))
      low = middle;
    else
      high = middle;
  }
  *drop = low - load;
  return m * 40 * sqrt((low - load) / 5);
}

#define SECTION                                                                                                               \
  "sensing_valves: {v: {command: u, between: [S, T], to: [A, B], sense: L, stroke: 10 V, nominal_flow: 40 L/min, overlap: 0," \
  " set: 8 bar, range: 4 bar, sense_area: 1 mm^2}}"

static void sections(void **state) {
  (void)state;
  const char *const names[] = {"v.flow_a", "v.flow_b", "L.inflow", "v.drop", "v.loss"};
  double y[5], drop;
  const double coefficient = 0.7e-6 * sqrt(2 / 870.0) * 6e4;  // L/min per root of a pascal
  at_start(6, SECTION, ", v.compensator: 0.3", names, 5, y);
  double supply = through_both(0.6, 0.6, 165, &drop), rated = coefficient * sqrt(145e5);
  near_scaled(y[0], supply - rated, 1e-6, 1), near_scaled(y[1], edge(0.6, 1, 141), 1e-6, 1),
      near_scaled(y[2], rated, 1e-6, 1), near_scaled(y[3] / 1e5, drop, 1e-6, 1);
  near_scaled(y[4] / 1e3, (200e5 * supply - 165e5 * y[0] - 141e5 * y[1] + 1e5 * y[1] - 20e5 * rated) / 6e4 / 1e3, 1e-6,
              1);
  at_start(-10, SECTION, ", v.compensator: 1", names, 4, y);
  supply = through_both(2, 1, 141, &drop), rated = coefficient * sqrt(121e5);
  near_scaled(y[1], supply - rated, 1e-6, 1), near_scaled(y[0], edge(1, 1, 165), 1e-6, 1),
      near_scaled(y[3] / 1e5, drop, 1e-6, 1);
  // At rest all is closed, and the port is open to the tank.
  at_start(0, SECTION, "", names, 3, y);
  assert_true(y[0] == 0 && y[1] == 0);
  near_scaled(y[2], -coefficient * sqrt(19e5), 1e-6, 1);
  // A load above the pump's pressure causes no backflow: the first line is at 20 bar here.
  at_start(
      10,
      "sensing_valves: {v: {command: u, between: [L, T], to: [A, B], sense: A, stroke: 10 V, nominal_flow: 40 L/min, "
      "overlap: 0, set: 8 bar, range: 4 bar}}",
      "", names, 2, y);
  assert_true(y[0] == 0);
  near_scaled(y[1], edge(1, 1, 141), 1e-6, 1);
}

// The compensator keeps the flow for any load, by the drop at which it settles.
static void keeps_the_flow(void **state) {
  (void)state;
  double flow[3];
  static const double load[] = {20, 90, 160};
  for (int i = 0; i < 3; i++) {
    char text[1500];
    snprintf(
        text, sizeof text,
        "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\n"
        "sources: {S: {pressure: 200 bar}, A: {pressure: %g bar}}\ntanks: {T: {pressure: 1 bar}}\n"
        "volumes: {L: {volume: 0.1 L}}\ninitial: {L.pressure: 1 bar}\ninputs: {u: {unit: V, constant: 5 V}}\n"
        "run: {time: 1 s, step: 1 ms}\n"
        "sensing_valves: {v: {command: u, between: [S, T], to: [A, T], sense: L, stroke: 10 V, nominal_flow: 40 L/min, "
        "overlap: 0, set: 8 bar, range: 0.1 bar}}\n",
        load[i]);
    const char *const names[] = {"v.drop", "v.flow_a", "v.compensator", "L.pressure"};
    double y[4];
    od_machine *machine = od_test_machine_text(text);
    od_test_run_to(machine, "cvodes", 1, 0.01, names, 4, y);
    od_machine_free(machine);
    // It settles at: drop = (p_S - p_load) c^2 / (c^2 + m^2 + 1e-4), and the opening is 1 - limit((drop - set) / range).
    double c = 2 * y[2], drop = (200 - load[i]) * c * c / (c * c + 0.2501);
    assert_true(fabs(y[0] / 1e5 - drop) < 1e-6 * drop && fabs(drop - 8) < 0.11);
    assert_true(fabs(1 - y[2] - ((drop - 8) / 0.1 - 0.025)) < 1e-5);
    assert_true(fabs(y[3] / 1e5 - load[i]) < 1e-3);  // the port has the load pressure
    flow[i] = y[1] * 6e4;
    assert_true(fabs(flow[i] - edge(0.5, drop, 0)) < 1e-6 * flow[i] + 1e-4);
  }
  assert_true(fabs(flow[2] / flow[0] - 1) < 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_way),  cmocka_unit_test(two_positions),
                                     cmocka_unit_test(centres),  cmocka_unit_test(hysteresis),
                                     cmocka_unit_test(sections), cmocka_unit_test(keeps_the_flow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
