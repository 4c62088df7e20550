// The hydraulic four-bar of cases/fourbar-valve. Oracles:
// - a hand-written model of the same machine (tests/oracle/hydraulic_fourbar, one small ODE from the paper's equations
//   with its own integrator; no code in common) for the engine's equations: motion, pressures, flows, energies;
// - CVODES at 1e-10 on the engine's equations for its trapezoidal rule: size and order of the error;
// - the reference numbers (ranges, equilibrium, behavior with the printed constants) for the machine file;
// - the energy balance.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oracle/hydraulic_fourbar.h"
#include "simulate/cvodes.h"
#include "support/machines.h"

static const char *const variants[8] = {"3-S1", "3-S2", "4-S1", "4-S2", "5-S1", "5-S2", "6-S1", "6-S2"};

// Recorded outputs.
enum {
  LENGTH,
  RATE,
  PP,
  P1,
  P2,
  SPOOL,
  ANGLE,
  CAVITATES_1,
  CAVITATES_2,
  FLOW_A,
  FLOW_B,
  FLOW_C,
  FLOW_D,
  RELIEF,
  PUMPED,
  RELIEVED,
  LOST_A,
  LOST_B,
  LOST_C,
  LOST_D,
  RUBBED,
  COMPRESSED,
  TAKEN,
  KINETIC,
  BALANCE,
  INPUT,
  OUTPUTS
};
typedef double row[OUTPUTS];

static od_machine *load(const char *variant, const char *const *set) {
  od_load_options options = {.set = set, .variant = variant};
  while (set && set[options.set_count]) options.set_count++;
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  if (od_machine_load(OD_SOURCE_DIR "/cases/fourbar-valve/machine.yaml", &options, &machine, messages) != OD_OK)
    od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(machine);
  return machine;
}

static od_test_run begin(const char *variant, const char *const *set) {
  return od_test_begin(load(variant, set), "cylinder.length", "cylinder.rate", "P.pressure", "A.pressure", "B.pressure",
                       "valve.spool", "crank_pivot.angle", "A.cavitating", "B.cavitating", "valve.a.flow",
                       "valve.b.flow", "valve.c.flow", "valve.d.flow", "relief.flow", "pump.work", "relief.dissipated",
                       "valve.a.dissipated", "valve.b.dissipated", "valve.c.dissipated", "valve.d.dissipated",
                       "cylinder.dissipated", "energy.compressed", "T.taken", "energy.kinetic", "energy.balance",
                       "energy.input", NULL);
}

// Steps of h for 5 s; several steps make a row.
static void trapezoid(const char *variant, const char *const *set, double h, int every, row *out) {
  od_test_run r = begin(variant, set);
  const int steps = (int)lround(5 / h);
  bool changed;
  for (int i = 0; i <= steps; i++) {
    double u;
    od_machine_inputs(r.machine, i * h, &u);
    if (i) {
      assert_int_equal(od_sim_repartition(r.sim, NULL, &changed), OD_OK);
      assert_int_equal(od_sim_step(r.sim, h, &u), OD_OK);
    }
    if (i % every == 0) assert_int_equal(od_sim_outputs(r.sim, out[i / every]), OD_OK);
  }
  od_test_end(&r);
}

static void tight(const char *variant, const char *const *set, double h, row *out) {
  od_test_run r = begin(variant, set);
  od_cvodes *c = od_cvodes_new(r.sim, r.plant, r.machine, 1e-10);
  const int steps = (int)lround(5 / h);
  for (int i = 0; i <= steps; i++) {
    od_error err = {0};
    const od_status status = i ? od_cvodes_advance(c, i * h, &err) : OD_OK;
    if (status != OD_OK) print_error("%s: %s\n", variant, err.text);
    assert_int_equal(status, OD_OK);
    assert_int_equal(od_sim_outputs(r.sim, out[i]), OD_OK);
  }
  od_cvodes_free(c);
  od_test_end(&r);
}

// Largest differences of length (m), of pressures (Pa).
static void compare(row *a, row *b, int rows, double *length, double *pressure) {
  *length = *pressure = 0;
  for (int i = 0; i < rows; i++) {
    *length = fmax(*length, fabs(a[i][LENGTH] - b[i][LENGTH]));
    for (int k = PP; k <= P2; k++) *pressure = fmax(*pressure, fabs(a[i][k] - b[i][k]));
  }
}

// The trapezoidal rule at 1 ms over 5 s: within 1e-6 m and 200 Pa of CVODES for all curves; the error falls by 4 when
// the step is halved.
static void trapezoid_against_cvodes(void **state) {
  (void)state;
  static row a[5001], b[5001];
  for (int v = 0; v < 8; v++) {
    double length[3], pressure[3];
    tight(variants[v], NULL, 1e-3, b);
    for (int k = 0; k < 3; k++) {
      trapezoid(variants[v], NULL, 1e-3 / (1 << k), 1 << k, a);
      compare(a, b, 5001, &length[k], &pressure[k]);
    }
    print_message("%s: 1, 0.5, 0.25 ms: %.2g %.2g %.2g m (ratios %.2f %.2f), %.3g %.3g %.3g Pa (ratios %.2f %.2f)\n",
                  variants[v], length[0], length[1], length[2], length[0] / length[1], length[1] / length[2],
                  pressure[0], pressure[1], pressure[2], pressure[0] / pressure[1], pressure[1] / pressure[2]);
    assert_true(length[0] < 1e-6 && pressure[0] < 200);
    for (int k = 0; k < 2; k++) {
      near(length[k] / length[k + 1], 4, 0.3);
      near(pressure[k] / pressure[k + 1], 4, 0.3);
    }
  }
}

// The reference ranges over the eight true curves, to half a unit of the last printed digit.
static void ranges(void **state) {
  (void)state;
  static row a[5001];
  static const double want[5][2] = {
      {1.732, 1.799}, {-0.038, 0.055}, {6.18e6, 7.60e6}, {1.00e6, 2.95e6}, {2.28e6, 5.41e6}};
  static const double digit[5] = {1e-3, 1e-3, 1e4, 1e4, 1e4};
  double low[5], high[5];
  for (int k = 0; k < 5; k++) low[k] = INFINITY, high[k] = -INFINITY;
  for (int v = 0; v < 8; v++) {
    trapezoid(variants[v], NULL, 1e-3, 1, a);
    for (int i = 0; i <= 5000; i++)
      for (int k = 0; k < 5; k++) low[k] = fmin(low[k], a[i][k]), high[k] = fmax(high[k], a[i][k]);
  }
  for (int k = 0; k < 5; k++) {
    print_message("range %d: %.6g .. %.6g (expected: %.4g .. %.4g)\n", k, low[k], high[k], want[k][0], want[k][1]);
    near(low[k], want[k][0], digit[k] / 2);
    near(high[k], want[k][1], digit[k] / 2);
  }
}

static oracle_hydraulic_sample *by_hand(const oracle_hydraulic *m, double s, double pp, double p1, double h, int steps,
                                        int inner) {
  oracle_hydraulic_sample *out = malloc((size_t)(steps + 1) * sizeof *out);
  const double p[3] = {pp, p1, oracle_hydraulic_balance(m, oracle_hydraulic_angle(m, s), p1)};
  assert_int_equal(oracle_hydraulic_run(m, s, p, h, steps, inner, out), 0);
  return out;
}

// The engine's equations (integrated by CVODES, so that its own rule has no effect) against the model written by hand.
static void agrees_with_the_hand_written_model(void **state) {
  (void)state;
  enum { ROWS = 501 };
  static row a[ROWS];
  static const struct {
    const char *variant;
    int points, spline;
  } run[] = {{"3-S1", 3, 1}, {"4-S2", 4, 2}, {"5-S1", 5, 1}, {"6-S2", 6, 2}};
  for (size_t v = 0; v < sizeof run / sizeof *run; v++) {
    const oracle_hydraulic m = oracle_hydraulic_true(run[v].points, run[v].spline);
    oracle_hydraulic_sample *s = by_hand(&m, sqrt(3.0), 7.6e6, 1e6, 10e-3, ROWS - 1, 4);
    tight(run[v].variant, NULL, 10e-3, a);
    double length = 0, rate = 0, pressure = 0, spool = 0, flow = 0, energy = 0;
    for (int i = 0; i < ROWS; i++) {
      const double *y = s[i].y, *e = s[i].energy;
      length = fmax(length, fabs(a[i][LENGTH] - s[i].s));
      rate = fmax(rate, fabs(a[i][RATE] - s[i].s_rate));
      for (int k = 0; k < 3; k++) pressure = fmax(pressure, fabs(a[i][PP + k] - y[2 + k]));
      spool = fmax(spool, fabs(a[i][SPOOL] - y[5]));
      for (int k = 0; k < ORACLE_PORTS; k++) flow = fmax(flow, fabs(a[i][FLOW_A + k] - s[i].flow[k]));
      flow = fmax(flow, fabs(a[i][RELIEF] - s[i].relief_flow));
      const double throttled = a[i][LOST_A] + a[i][LOST_B] + a[i][LOST_C] + a[i][LOST_D];
      const double off[] = {
          a[i][PUMPED] - e[ORACLE_PUMPED], a[i][RELIEVED] - e[ORACLE_RELIEVED],     throttled - e[ORACLE_THROTTLED],
          a[i][RUBBED] - e[ORACLE_RUBBED], a[i][COMPRESSED] - e[ORACLE_COMPRESSED], a[i][TAKEN] - e[ORACLE_TAKEN],
          a[i][KINETIC] - s[i].kinetic};
      for (size_t k = 0; k < sizeof off / sizeof *off; k++) energy = fmax(energy, fabs(off[k]));
    }
    print_message("%s: engine with CVODES - by hand: %.2g m, %.2g m/s, %.2g Pa, %.2g V, %.2g m3/s, %.2g J of %.3g J\n",
                  run[v].variant, length, rate, pressure, spool, flow, energy, s[ROWS - 1].energy[ORACLE_PUMPED]);
    assert_true(length < 1e-9 && rate < 1e-8 && pressure < 0.5 && spool < 1e-7 && flow < 1e-10 && energy < 1e-3);
    free(s);
  }
}

// Static balance at the start: the reference pressures, the closed form of the hand-written model, no acceleration.
static void starts_in_balance(void **state) {
  (void)state;
  static const struct {
    const char *variant;
    double s, p1, p2;
  } want[] = {{"3-S1", 1.7320508075688772, 1e6, 2.451e6}, {"wrong", 1.62, 2e6, 1.907e6}};
  for (int v = 0; v < 2; v++) {
    const oracle_hydraulic m = v ? oracle_hydraulic_wrong() : oracle_hydraulic_true(3, 1);
    const double closed = oracle_hydraulic_balance(&m, oracle_hydraulic_angle(&m, want[v].s), want[v].p1);
    od_test_run r =
        od_test_begin(load(want[v].variant, NULL), "B.pressure", "cylinder.length", "crank_pivot.acceleration",
                      "elbow.acceleration", "rocker_pivot.acceleration", "cylinder.force", NULL);
    double y[6];
    assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
    print_message("%s: p_2 = %.1f Pa (by hand %.1f), force %.2f N, crank's acceleration %.1g rad/s2\n", want[v].variant,
                  y[0], closed, y[5], y[2]);
    near(y[0], want[v].p2, 500);
    near(y[0], closed, 1e-3);
    near(y[1], want[v].s, 1e-12);
    for (int k = 2; k < 5; k++) near(y[k], 0, 1e-10);
    if (v == 0) near(y[5], -2412, 1);
    od_test_end(&r);
  }
}

// The straight curve of three points instead of 3-S1's.
#define STRAIGHT                                                                                                    \
  "valve.ports.a.curve.points[1]=47.5", "valve.ports.b.curve.points[1]=47.5", "valve.ports.c.curve.points[1]=47.5", \
      "valve.ports.d.curve.points[1]=47.5"

// The relief area as printed: the pump's flow has no outlet, p_p rises to 1278 MPa with straight curves (the case
// file's number), to 1191 .. 1558 MPa with the true ones.
static void printed_relief_area(void **state) {
  (void)state;
  enum { ROWS = 501 };
  static row a[5001];
  static const char *const straight[] = {"relief.area=2.24e-12", STRAIGHT, NULL}, *const alone[] = {
                                                                                      "relief.area=2.24e-12", NULL};
  tight("3-S1", straight, 10e-3, a);
  print_message("straight curves: p_p reaches %.1f MPa\n", 1e-6 * a[ROWS - 1][PP]);
  near(a[ROWS - 1][PP], 1278e6, 0.5e6);
  // The same with the hand-written model, as far as its steps of 1 ms permit: the machine swings fast through its
  // singular position.
  oracle_hydraulic m = oracle_hydraulic_true(3, 1);
  m.relief_area = 2.24e-12;
  for (int port = 0; port < ORACLE_PORTS; port++) m.curve[port][1] = 47.5;
  oracle_hydraulic_sample *s = by_hand(&m, sqrt(3.0), 7.6e6, 1e6, 10e-3, ROWS - 1, 10);
  double length = 0, pressure = 0;
  for (int i = 0; i < ROWS; i++) {
    length = fmax(length, fabs(a[i][LENGTH] - s[i].s));
    pressure = fmax(pressure, fabs(a[i][PP] / s[i].y[2] - 1));
  }
  print_message("engine with CVODES - by hand: %.2g m, p_p %.2g relative\n", length, pressure);
  assert_true(length < 1e-5 && pressure < 1e-6);
  free(s);
  // All eight true curves, by the trapezoidal rule at 1 ms: no step fails.
  for (int v = 0; v < 8; v++) {
    trapezoid(variants[v], alone, 1e-3, 10, a);
    near(a[ROWS - 1][PP], 1375e6, 185e6);
  }
}

// The hose volumes as printed, a hundred times too large: the oil is too soft to hold the machine. p_1 falls below
// zero, the crank runs through the singular position where the cylinder is stretched to 2 m, and comes down on the
// other side until the piston hits its stop. Until cavitation begins, the hand-written model, which has no cavitation,
// must agree; afterward the engine must continue with plausible numbers.
static void printed_hose_volumes(void **state) {
  (void)state;
  enum { ROWS = 501 };
  static row a[5001];
  static const char *const set[] = {"A.volume=0.342", "B.volume=0.342", NULL};
  oracle_hydraulic m = oracle_hydraulic_true(3, 1);
  m.hose[0] = m.hose[1] = 0.342;
  oracle_hydraulic_sample *s = by_hand(&m, sqrt(3.0), 7.6e6, 1e6, 10e-3, ROWS - 1, 4);
  tight("3-S1", set, 10e-3, a);
  int begins = 0;
  while (begins < ROWS && a[begins][CAVITATES_1] == 0) begins++;
  assert_true(begins < ROWS);
  double length = 0, pressure = 0, crosses = NAN;
  for (int i = 0; i < ROWS; i++) {
    if (i < begins) {
      length = fmax(length, fabs(a[i][LENGTH] - s[i].s));
      pressure = fmax(pressure, fabs(a[i][P1] - s[i].y[3]));
      assert_true(s[i].y[3] >= 0);
    }
    if (i > 0 && a[i][ANGLE] < 0 && isnan(crosses)) crosses = i * 10e-3;
    // Flows and forces use no negative pressure.
    assert_true(a[i][P1] >= 0 && a[i][P2] >= 0);
    if (a[i][CAVITATES_1] == 1) assert_true(a[i][P1] == 0);
  }
  print_message("cavitates at %.2f s, crank through zero at %.2f s; until then engine - by hand: %.2g m, %.2g Pa\n",
                begins * 10e-3, crosses, length, pressure);
  assert_true(s[begins].y[3] < 0);
  assert_true(length < 1e-7 && pressure < 1);
  near(begins * 10e-3, 2.48, 0.02);
  near(crosses, 2.81, 0.02);
  free(s);
  // The trapezoidal rule at 1 ms also succeeds, including the stop.
  trapezoid("3-S1", set, 1e-3, 1, a);
  double shortest = INFINITY, longest = 0;
  for (int i = 0; i <= 5000; i++) shortest = fmin(shortest, a[i][LENGTH]), longest = fmax(longest, a[i][LENGTH]);
  print_message("length %.6f .. %.6f m (stop at 0.866025)\n", shortest, longest);
  near(longest, 2, 1e-4);
  assert_true(shortest < 0.8660254 && shortest > 0.8660254 - 0.01);
}

// Both as printed: the variant of the machine file.
static void printed_variant(void **state) {
  (void)state;
  static row a[5001];
  trapezoid("printed", NULL, 1e-3, 1, a);
  int cavitating = 0, beyond = 0;
  for (int i = 0; i <= 5000; i++) {
    cavitating += a[i][CAVITATES_1] == 1 || a[i][CAVITATES_2] == 1;
    beyond += a[i][ANGLE] < 0;
    for (int k = 0; k < OUTPUTS; k++) assert_true(isfinite(a[i][k]));
  }
  print_message("p_p reaches %.1f MPa; cavitating %.2f s, crank below zero %.2f s\n", 1e-6 * a[5000][PP],
                1e-3 * cavitating, 1e-3 * beyond);
  near(a[5000][PP], 1097e6, 1e6);
  assert_true(cavitating > 100 && beyond > 1000);
}

// The energy input is stored or lost. Largest defect over 5 s relative to the energy input.
static double defect(row *a, int rows) {
  double worst = 0;
  for (int i = 0; i < rows; i++) worst = fmax(worst, fabs(a[i][BALANCE]));
  return worst;
}

static void energy_balance(void **state) {
  (void)state;
  static row a[5001];
  for (int v = 0; v < 8; v++) {
    double d[3];
    tight(variants[v], NULL, 50e-3, a);
    const double moved = a[100][INPUT], cvodes = defect(a, 101);
    for (int k = 0; k < 3; k++) {
      trapezoid(variants[v], NULL, 1e-3 / (1 << k), 1 << k, a);
      d[k] = defect(a, 5001);
    }
    print_message("%s: CVODES %.2g of %.4g J; trapezoid 1, 0.5, 0.25 ms %.2g %.2g %.2g J, ratios %.2f %.2f\n",
                  variants[v], cvodes / moved, moved, d[0], d[1], d[2], d[0] / d[1], d[1] / d[2]);
    assert_true(cvodes < 1e-6 * moved);
    near(d[0] / d[1], 4, 0.3);
    near(d[1] / d[2], 4, 0.3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(starts_in_balance),        cmocka_unit_test(agrees_with_the_hand_written_model),
      cmocka_unit_test(trapezoid_against_cvodes), cmocka_unit_test(ranges),
      cmocka_unit_test(energy_balance),           cmocka_unit_test(printed_relief_area),
      cmocka_unit_test(printed_hose_volumes),     cmocka_unit_test(printed_variant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
