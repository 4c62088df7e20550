// Junctions without volume: their pressure, also with all elements closed or with too much flow drawn; circuits with
// junctions against the same with 1 mL volumes; all integrators against each other.
//
// Oracles: the divider of two laminar resistances and of two orifices in closed form; the inverse of the orifice law; the time constant
// of the volume that a junction replaces, V/B over the slope of the flows.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/machines.h"

#define OIL "oil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\n"

// The first output of a machine at its start.
static double at_start(const char *text, const char *name) {
  od_test_run run = od_test_begin(od_test_machine_text(text), name, NULL);
  double y;
  assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
  od_test_end(&run);
  return y;
}

// Two laminar resistances in series, between a volume and a tank: p = (G1 p1 + G2 p2) / (G1 + G2).
static void a_laminar_divider(void **state) {
  (void)state;
  const char *text = OIL
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [J]\n"
      "leaks: {a: {between: [P, J], slope: 3e-12}, b: {between: [J, T], slope: 2e-12}}\n"
      "initial: {P.pressure: 101 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  near_relative(at_start(text, "J.pressure"), (3 * 101e5 + 2 * 1e5) / 5, 1e-12);
  assert_true(fabs(at_start(text, "J.inflow")) < 1e-12 * 1e-5);
  // The volume drains through both: p - p_T falls by exp(-t G B/V) with G = G1 G2 / (G1 + G2).
  const char *const names[] = {"P.pressure", "J.pressure"};
  const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4", "cvodes"};
  double rate = 1.2e-12 * 1.4e9 / 1e-3, p = 1e5 + 100e5 * exp(-rate);
  for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++) {
    double last[2];
    od_machine *machine = od_test_machine_text(text);
    od_test_run_to(machine, integrators[i], 1, 1e-4, names, 2, last);
    near_relative(last[0], p, 1e-7);
    near_relative(last[1], 1e5 + (p - 1e5) * 3 / 5, 1e-7);
    od_machine_free(machine);
  }
}

// Two orifices in series divide the pressure difference by the squares of their areas, in both directions of flow; at
// equal pressures the flow is zero.
static void a_divider_of_orifices(void **state) {
  (void)state;
  const double pressure[] = {200e5, 1e5 + 2e4, 1e5, 0.5e5};
  for (size_t i = 0; i < sizeof pressure / sizeof *pressure; i++) {
    char text[800];
    snprintf(text, sizeof text,
             OIL
             "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [J]\n"
             "orifices:\n  a: {between: [P, J], area: 3 mm^2, discharge: 0.7}\n"
             "  b: {between: [J, T], area: 2 mm^2, discharge: 0.7}\n"
             "initial: {P.pressure: %.17g Pa}\nrun: {time: 1 s, step: 1 ms}\n",
             pressure[i]);
    near_relative(at_start(text, "J.pressure"), (9 * pressure[i] + 4 * 1e5) / 13, 1e-9);
  }
}

// Four junctions in series with very different resistances, between 100 bar and 0: by the sum of resistances.
static void a_row_of_junctions(void **state) {
  (void)state;
  const char *text = OIL
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 0 Pa}}\njunctions: [A, B, C, D]\n"
      "leaks: {a: {between: [P, A], slope: 1e-9}, b: {between: [A, B], slope: 1e-14}, c: {between: [C, B], slope: 1e-10},\n"
      "        d: {between: [C, D], slope: 1e-13}, e: {between: [T, D], slope: 1e-12}}\n"
      "initial: {P.pressure: 100 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  const double R[] = {1e9, 1e14, 1e10, 1e13, 1e12};
  double sum = R[0] + R[1] + R[2] + R[3] + R[4], flow = 100e5 / sum;
  near_relative(at_start(text, "a.flow"), flow, 1e-10);
  near_relative(at_start(text, "A.pressure"), 100e5 - flow * R[0], 1e-10);
  near_relative(at_start(text, "C.pressure"), flow * (R[3] + R[4]), 1e-10);
  near_relative(at_start(text, "D.pressure"), flow * R[4], 1e-10);
}

// Two closed check valves, a pump that draws more than available, and a pump without an outlet.
static void special_states(void **state) {
  (void)state;
  const char *closed = OIL
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [J]\n"
      "checks:\n  a: {between: [J, P], area: 3 mm^2, discharge: 0.7, crack: 1 bar, full: 2 bar}\n"
      "  b: {between: [T, J], area: 3 mm^2, discharge: 0.7, crack: 0.1 bar, full: 2 bar}\n"
      "initial: {P.pressure: 100 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  // The valve from the tank limits the pressure, about to open.
  near_relative(at_start(closed, "J.pressure"), 0.9e5, 1e-3);
  assert_true(fabs(at_start(closed, "a.flow")) == 0 && fabs(at_start(closed, "b.flow")) < 1e-12);
  const char *drawn = OIL
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [J]\n"
      "pumps: {pump: {from: J, to: P, flow: 10 L/min}}\n"
      "orifices: {a: {between: [T, J], area: 1 mm^2, discharge: 0.7}}\n"
      "initial: {P.pressure: 100 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  assert_true(at_start(drawn, "J.pressure") == 0);
  assert_true(at_start(drawn, "J.cavitating") == 1);
  near_relative(at_start(drawn, "a.flow"), 0.7e-6 * sqrt(2e5 / 870), 1e-9);
  const char *blocked = OIL
      "volumes: {P: {volume: 1 L}}\njunctions: [J]\npumps: {pump: {from: P, to: J, flow: 10 L/min}}\n"
      "initial: {P.pressure: 100 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  od_machine *machine = od_test_machine_text(blocked);
  int output = od_test_output(machine, "J.pressure");
  od_run_options options = {
      .time = 0.01, .step = 1e-3, .integrator = "trapezoid", .outputs = &output, .output_count = 1};
  od_table *table = NULL;
  od_error err = {0};
  assert_int_equal(od_run(machine, &options, &table, NULL, &err), OD_NOT_FINITE);
  od_table_free(table);
  od_machine_free(machine);
}

// Two junctions that are isolated together except for a small leakage: the inflow is their leakage. The conductance between them is
// 1e18 times the conductance to other nodes.
static void shut_off_together(void **state) {
  (void)state;
  const char *text = OIL
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\njunctions: [J, K]\n"
      "leaks: {a: {between: [P, J], slope: 1e-24}, b: {between: [K, T], slope: 3e-24}}\n"
      "orifices: {wide: {between: [J, K], area: 100 mm^2, discharge: 0.7},\n"
      "           shut: {between: [K, T], area: 100 mm^2, discharge: 0.7, opening: 0}}\n"
      "initial: {P.pressure: 100 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  double want = (1 * 100e5 + 3 * 1e5) / (4 + 0.02);
  near_relative(at_start(text, "J.pressure"), want, 1e-9);
  near_relative(at_start(text, "K.pressure"), want, 1e-9);
}

// A pump that must first open a closed check valve, and valves that are nearly closed next to fully open ones.
static void where_slopes_tell_nothing(void **state) {
  (void)state;
  const char *opened = OIL
      "volumes: {P: {volume: 1 L}}\njunctions: [J]\npumps: {pump: {to: J, flow: 10 L/min}}\n"
      "checks: {a: {between: [J, P], area: 3 mm^2, discharge: 0.7, crack: 1 bar, full: 1.5 bar}}\n"
      "initial: {P.pressure: 200 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  near_relative(at_start(opened, "J.pressure") - 200e5, 870.0 / 2 * pow(10e-3 / 60 / 2.1e-6, 2), 1e-7);
  const char *beside = OIL
      "volumes: {P: {volume: 1 L}}\ntanks: {T: {pressure: 0 bar}}\njunctions: [J, K, L]\n"
      "orifices:\n  a: {between: [P, J], area: 90 mm^2, discharge: 0.7}\n  b: {between: [J, T], area: 90 mm^2, discharge: 0.7}\n"
      "  c: {between: [J, K], area: 2 mm^2, discharge: 0.7, opening: 1e-7}\n"
      "  d: {between: [K, L], area: 50 mm^2, discharge: 0.7, opening: 1e-7}\n  e: {between: [L, T], area: 1 mm^2, discharge: 0.7, opening: 1e-7}\n"
      "initial: {P.pressure: 200 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  // J: half. Then c, d, e in series divide it by 1/area^2: 0.25, 0.0004, 1.
  near_relative(at_start(beside, "J.pressure"), 100e5, 1e-8);
  near_relative(at_start(beside, "K.pressure"), 100e5 * (1 - 0.25 / 1.2504), 1e-6);
  near_relative(at_start(beside, "L.pressure"), 100e5 / 1.2504, 1e-6);
}

// An outlet that closes during the run: the message names the junction, with every integrator.
static void names_the_junction(void **state) {
  (void)state;
  const char *text = OIL
      "volumes: {P: {volume: 1 L}}\ninputs: {u: {steps: {initial: 1, at: [[5 ms, 0]]}}}\njunctions: [K, J]\n"
      "pumps: {pump: {from: P, to: J, flow: 10 L/min}}\n"
      "orifices: {o: {between: [J, P], area: 10 mm^2, discharge: 0.7, opening: u}, p: {between: [K, P], area: 1 mm^2, discharge: "
      "0.7}}\ninitial: {P.pressure: 100 bar}\nrun: {time: 1 s, step: 1 ms}\n";
  const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4", "cvodes"};
  for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++) {
    od_machine *machine = od_test_machine_text(text);
    int output = od_test_output(machine, "J.pressure");
    od_run_options options = {
        .time = 0.01, .step = 1e-3, .integrator = integrators[i], .outputs = &output, .output_count = 1};
    od_table *table = NULL;
    od_error err = {0};
    assert_int_not_equal(od_run(machine, &options, &table, NULL, &err), OD_OK);
    if (!strstr(err.text, "at the junction 'J' no pressure balances the flows") || err.text[0] == ';')
      fail_msg("%s", err.text);
    od_table_free(table);
    od_machine_free(machine);
  }
}

// A valve feeds an accumulator over three branch points. With volumes, pressures lag by their time constant, so that both
// circuits differ by at most this lag times the rate of the pressures.
static const char branches[] = OIL
    "volumes: {P: {volume: 1 L}, A: {volume: 0.5 L}%s}\ntanks: {T: {pressure: 1 bar}}\n%s"
    "inputs: {u: {sine: {offset: 0.5, amplitude: 0.45, frequency: 3 Hz}}}\n"
    "pumps: {pump: {from: T, to: P, flow: 20 L/min}}\n"
    "orifices:\n"
    "  in: {between: [P, J], area: 6 mm^2, discharge: 0.7, opening: u}\n"
    "  left: {between: [J, K], area: 5 mm^2, discharge: 0.7}\n"
    "  right: {between: [J, L], area: 4 mm^2, discharge: 0.7}\n"
    "  fill: {between: [K, A], area: 5 mm^2, discharge: 0.7}\n"
    "  spill: {between: [L, T], area: 3 mm^2, discharge: 0.7}\n"
    "  across: {between: [K, L], area: 2 mm^2, discharge: 0.7}\n"
    "reliefs: {relief: {between: [P, T], set: 150 bar, slope: 5 L/min/bar}}\n"
    "initial: {P.pressure: 100 bar, A.pressure: 20 bar%s}\nrun: {time: 0.5 s, step: 20 us}\n";

static void branches_with_volumes(const char *volume, const char *const *names, int count, double *last) {
  char nodes[200], text[1800];
  snprintf(nodes, sizeof nodes, ", J: {volume: %s}, K: {volume: %s}, L: {volume: %s}", volume, volume, volume);
  snprintf(text, sizeof text, branches, nodes, "", ", J.pressure: 40 bar, K.pressure: 30 bar, L.pressure: 20 bar");
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "tr-bdf2", 0.5, 2e-5, names, count, last);
  od_machine_free(machine);
}

static void against_small_volumes(void **state) {
  (void)state;
  const char *const names[] = {"A.pressure", "J.pressure", "K.pressure", "L.pressure", "P.pressure"};
  double large[5], small[5], none[5];
  char text[1800];
  snprintf(text, sizeof text, branches, "", "junctions: [J, K, L]\n", "");
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "tr-bdf2", 0.5, 2e-5, names, 5, none);
  od_machine_free(machine);
  branches_with_volumes("1 mL", names, 5, large);
  branches_with_volumes("0.1 mL", names, 5, small);
  // V/B = 7e-13 m3/Pa over a slope of Q/(2 dp) of about 2e-4/4e6 m3/s/Pa: 15 us for each of the three, while pressures rise by
  // less than 100 bar in a tenth of a second: 4.5 kPa. A tenth of the volumes gives a tenth of the difference.
  for (int i = 0; i < 5; i++) {
    print_message("%s: %.8g Pa with junctions, %+.4g Pa with 1 mL, %+.4g Pa with 0.1 mL\n", names[i], none[i],
                  large[i] - none[i], small[i] - none[i]);
    double ratio = (large[i] - none[i]) / (small[i] - none[i]);
    assert_true(fabs(large[i] - none[i]) < 4.5e3 && ratio > 9 && ratio < 11);
  }
}

// Circuits whose nodes [A, B, C, ...] are junctions or small volumes, and their final states. Both must agree except for the lag of the
// volumes, V/B over the slope of the flows, times the rate of the pressures: `lag` in Pa for 1 mL.
typedef struct circuit {
  const char *name, *volumes, *rest, *initial, *nodes[8], *look[4];
  double lag, time;
} circuit;

// Two sections of a load-sensing system: compensators hold the drop over metering edges, shuttles transmit the highest load to
// the pump.
#define SECTIONS                                                                                                         \
  "tanks: {T: {pressure: 1 bar}}\n"                                                                                      \
  "inputs: {u: {sine: {offset: 0.5, amplitude: 0.45, frequency: 2 Hz}}, v: {sine: {offset: 0.5, amplitude: 0.45, "       \
  "frequency: 3 Hz}}}\n"                                                                                                 \
  "sensing_pumps: {pump: {to: P, load: LS, flow: 80 L/min, margin: 20 bar, cutoff: 250 bar, range: 4 bar}}\n"            \
  "compensators:\n  c1: {between: [P, C1], pilot: L1, set: 8 bar, range: 4 bar, area: 20 mm^2}\n"                        \
  "  c2: {between: [P, C2], pilot: L2, set: 8 bar, range: 4 bar, area: 20 mm^2}\n"                                       \
  "shuttles: {sh: {between: [L1, L2], to: LS, area: 3 mm^2}}\n"                                                          \
  "orifices:\n  m1: {between: [C1, A], area: 15 mm^2, discharge: 0.7, opening: u}\n"                                     \
  "  m2: {between: [C2, B], area: 15 mm^2, discharge: 0.7, opening: v}\n"                                                \
  "  s1: {between: [A, L1], area: 1 mm^2, discharge: 0.7}\n  s2: {between: [B, L2], area: 1 mm^2, discharge: 0.7}\n"     \
  "  load1: {between: [A, T], area: 3 mm^2, discharge: 0.7}\n  load2: {between: [B, T], area: 5 mm^2, discharge: 0.7}\n" \
  "  bleed: {between: [LS, T], area: 0.1 mm^2, discharge: 0.7}\n"

static const circuit circuits[] = {
    {"load-sensing sections",
     "P: {volume: 1 L}, A: {volume: 0.3 L}, B: {volume: 0.3 L}",
     SECTIONS,
     "P.pressure: 20 bar, A.pressure: 1 bar, B.pressure: 1 bar",
     {"C1", "C2", "L1", "L2", "LS"},
     {"A.pressure", "LS.pressure", "P.pressure", "pump.swash"},
     2e4,
     0.8},
    {"check valves in a bridge: oil that goes to and fro is rectified",
     "A: {volume: 0.2 L}, B: {volume: 0.2 L}",
     "tanks: {T: {pressure: 30 bar}}\ninputs: {q: {sine: {amplitude: 1, frequency: 4 Hz}}}\n"
     "pumps: {p: {from: A, to: B, flow: 10 L/min q}}\n"
     "checks:\n  a: {between: [A, J], area: 5 mm^2, discharge: 0.7, full: 1 bar}\n"
     "  b: {between: [B, J], area: 5 mm^2, discharge: 0.7, full: 1 bar}\n"
     "  c: {between: [T, A], area: 5 mm^2, discharge: 0.7, full: 1 bar}\n"
     "  d: {between: [T, B], area: 5 mm^2, discharge: 0.7, full: 1 bar}\n"
     "orifices: {load: {between: [J, K], area: 2 mm^2, discharge: 0.7}, out: {between: [K, T], area: 3 mm^2, discharge: "
     "0.7}}\n",
     "A.pressure: 30 bar, B.pressure: 30 bar",
     {"J", "K"},
     {"A.pressure", "J.pressure", "K.pressure"},
     1e4,
     0.55},
    {"a shuttle picks the higher of two pressures that cross",
     "A: {volume: 0.2 L}, B: {volume: 0.2 L}",
     "tanks: {T: {pressure: 1 bar}}\n"
     "inputs: {u: {sine: {offset: 1, amplitude: 0.6, frequency: 5 Hz}}, v: {sine: {offset: 1, amplitude: -0.6, frequency: 5 "
     "Hz}}}\n"
     "pumps: {p: {to: A, flow: 10 L/min u}, q: {to: B, flow: 10 L/min v}}\n"
     "orifices:\n  a: {between: [A, J], area: 3 mm^2, discharge: 0.7}\n  b: {between: [B, K], area: 3 mm^2, discharge: "
     "0.7}\n"
     "  d: {between: [J, T], area: 2 mm^2, discharge: 0.7}\n  e: {between: [K, T], area: 2 mm^2, discharge: 0.7}\n"
     "  f: {between: [L, T], area: 1 mm^2, discharge: 0.7}\n"
     "shuttles: {x: {between: [J, K], to: L, area: 4 mm^2, range: 1 bar}}\n",
     "A.pressure: 20 bar, B.pressure: 20 bar",
     {"J", "K", "L"},
     {"A.pressure", "J.pressure", "L.pressure", "x.ball"},
     5e3,
     0.33},
};

static void circuit_ends(const circuit *c, const char *volume, double *last) {
  char text[6000], nodes[400] = "", initial[400] = "", junctions[200] = "";
  int count = 0;
  for (int i = 0; i < 8 && c->nodes[i]; i++) {
    size_t n = strlen(nodes), k = strlen(initial), l = strlen(junctions);
    if (volume) snprintf(nodes + n, sizeof nodes - n, ", %s: {volume: %s}", c->nodes[i], volume);
    if (volume) snprintf(initial + k, sizeof initial - k, ", %s.pressure: 2 bar", c->nodes[i]);
    if (!volume) snprintf(junctions + l, sizeof junctions - l, "%s%s", i ? ", " : "junctions: [", c->nodes[i]);
  }
  while (count < 4 && c->look[count]) count++;
  snprintf(text, sizeof text, OIL "volumes: {%s%s}\n%s%s\n%sinitial: {%s%s}\nrun: {time: 1 s, step: 1 ms}\n",
           c->volumes, nodes, junctions, volume ? "" : "]", c->rest, c->initial, initial);
  od_machine *machine = od_test_machine_text(text);
  od_test_run_to(machine, "cvodes", c->time, c->time / 100, c->look, count, last);
  od_machine_free(machine);
}

static void circuits_against_small_volumes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof circuits / sizeof *circuits; i++) {
    const circuit *c = &circuits[i];
    double none[4], large[4], small[4];
    circuit_ends(c, NULL, none);
    circuit_ends(c, "1 mL", large);
    circuit_ends(c, "0.1 mL", small);
    print_message("%s\n", c->name);
    for (int k = 0; k < 4 && c->look[k]; k++) {
      double far = large[k] - none[k], near_by = small[k] - none[k];
      print_message("  %s: %.8g with junctions, %+.4g with 1 mL, %+.4g with 0.1 mL\n", c->look[k], none[k], far,
                    near_by);
      double lag = strstr(c->look[k], "pressure") ? c->lag : 0.02;
      if (!(fabs(far) < lag && fabs(near_by) < 0.15 * fabs(far) + 1e-6 * fabs(none[k])))
        fail_msg("%s: %s differs by %g with 1 mL and %g with 0.1 mL", c->name, c->look[k], far, near_by);
    }
  }
}

// Every integrator can simulate the load-sensing sections, also with both metering edges closed.
static void load_sensing(void **state) {
  (void)state;
  char text[6000];
  snprintf(text, sizeof text,
           OIL
           "volumes: {P: {volume: 1 L}, A: {volume: 0.3 L}, B: {volume: 0.3 L}}\njunctions: [C1, C2, L1, L2, LS]\n%s"
           "initial: {P.pressure: 20 bar, A.pressure: 1 bar, B.pressure: 1 bar}\nrun: {time: 1 s, step: 1 ms}\n",
           SECTIONS);
  for (char *at = text; (at = strstr(at, "amplitude: 0.45"));) memcpy(at, "amplitude: 0.50", 15);  // until closed
  const char *const names[] = {"P.pressure", "LS.pressure"};
  const char *const integrators[] = {"cvodes", "tr-bdf2", "trapezoid"};
  double end[3][2];
  od_machine *machine = od_test_machine_text(text);
  for (int i = 0; i < 3; i++) od_test_run_to(machine, integrators[i], 0.6, 5e-5, names, 2, end[i]);
  for (int i = 1; i < 3; i++)
    for (int k = 0; k < 2; k++) near_relative(end[i][k], end[0][k], 1e-3);
  od_machine_free(machine);
}

// The longest stable step of an explicit rule is that of the large volumes.
static void explicit_steps(void **state) {
  (void)state;
  char text[1800];
  snprintf(text, sizeof text, branches, "", "junctions: [J, K, L]\n", "");
  od_machine *machine = od_test_machine_text(text);
  const char *const names[] = {"A.pressure", "L.pressure"};
  double fine[2], coarse[2];
  od_test_run_to(machine, "cvodes", 0.5, 1e-3, names, 2, fine);
  od_test_run_to(machine, "rk4", 0.5, 2e-4, names, 2, coarse);
  for (int i = 0; i < 2; i++) near_relative(coarse[i], fine[i], 1e-6);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_laminar_divider),
                                     cmocka_unit_test(a_divider_of_orifices),
                                     cmocka_unit_test(a_row_of_junctions),
                                     cmocka_unit_test(special_states),
                                     cmocka_unit_test(against_small_volumes),
                                     cmocka_unit_test(explicit_steps),
                                     cmocka_unit_test(names_the_junction),
                                     cmocka_unit_test(shut_off_together),
                                     cmocka_unit_test(where_slopes_tell_nothing),
                                     cmocka_unit_test(load_sensing),
                                     cmocka_unit_test(circuits_against_small_volumes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
