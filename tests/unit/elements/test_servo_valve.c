// Servo valves and plays in machines. Oracles, in closed form: flows by the data sheet, the step response of a spool of
// second order, its motion at the rate limit, and a mass that moves back and forth in a gap.
#include <math.h>
#include <string.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/machines.h"

#define CIRCUIT                                                                              \
  "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa, smoothing: 1 Pa}\n"           \
  "sources: {S: {pressure: 200 bar}, A: {pressure: 165 bar}, B: {pressure: 141 bar}}\n"      \
  "tanks: {T: {pressure: 1 bar}}\n"                                                          \
  "volumes: {V: {volume: 1 L}}\nleaks: {seep: {between: [V, T], slope: 1e-13 m^3/(s Pa)}}\n" \
  "initial: {V.pressure: 1 bar}\n"

static void flows_at(double u, const char *more, double flow[2]) {
  char text[1024];
  snprintf(text, sizeof text,
           CIRCUIT
           "inputs: {u: {unit: V, constant: %g V}}\n"
           "servo_valves: {v: {command: u, between: [S, T], a: A, b: B, stroke: 10 V, nominal_flow: 40 L/min%s}}\n",
           u, more);
  od_test_run run = od_test_begin(od_test_machine_text(text), "v.flow_a", "v.flow_b", "v.loss", NULL);
  double y[3];
  assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
  flow[0] = y[0] * 6e4, flow[1] = y[1] * 6e4;  // L/min
  // The loss equals the power at the four ports; without an underlap two edges are open.
  double first = u >= 0 ? -y[0] : -y[1], second = u >= 0 ? -y[1] : -y[0];
  double power = -(200e5 * first + 1e5 * second + 165e5 * y[0] + 141e5 * y[1]);
  assert_true(u == 0 || fabs(y[2] - power) <= 1e-12 * fabs(power) + 1e-12);
  od_test_end(&run);
}

// Edges: S - A 35 bar, B - T 140 bar, A - T 164 bar, S - B 59 bar.
static void nominal_flow(void **state) {
  (void)state;
  double q[2];
  flows_at(10, "", q);
  assert_true(fabs(q[0] - 40) < 1e-6 && fabs(q[1] + 40 * 2) < 1e-6);
  flows_at(25, "", q);  // beyond the stroke it is fully open
  assert_true(fabs(q[0] - 40) < 1e-6);
  flows_at(-5, "", q);
  assert_true(fabs(q[0] + 20 * sqrt(164 / 35.0)) < 1e-6 && fabs(q[1] - 20 * sqrt(59 / 35.0)) < 1e-6);
  flows_at(5, ", nominal_drop: 70 bar", q);
  assert_true(fabs(q[0] - 20 / sqrt(2)) < 1e-6);
  flows_at(6, ", offset: 1 V", q);
  assert_true(fabs(q[0] - 20) < 1e-6);
  flows_at(1, ", overlap: 20 %", q);
  assert_true(q[0] == 0 && q[1] == 0);
  flows_at(6, ", overlap: 20 %", q);
  assert_true(fabs(q[0] - 20) < 1e-6);
  flows_at(0, ", overlap: -25 %", q);  // all four edges are open by a fifth
  assert_true(fabs(q[0] - 8 * (1 - sqrt(164 / 35.0))) < 1e-6 && fabs(q[1] - 8 * (sqrt(59 / 35.0) - 2)) < 1e-6);
}

// A valve without port b: no flow between its lines.
static void three_ports(void **state) {
  (void)state;
  od_test_run run = od_test_begin(
      od_test_machine_text(CIRCUIT "inputs: {u: -0.5}\n"
                                   "servo_valves: {v: {command: u, between: [T, S], a: A, nominal_flow: 40 L/min}}\n"),
      "v.flow_a", "T.inflow", "S.inflow", NULL);
  double y[3];
  assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
  assert_true(fabs(y[0] * 6e4 - 20) < 1e-6 && fabs(y[2] * 6e4 + 20) < 1e-6 && fabs(y[1]) < 1e-6);
  od_test_end(&run);
}

static od_machine *spool(double step, const char *limit) {
  char text[1024];
  snprintf(text, sizeof text,
           CIRCUIT
           "inputs: {u: {steps: {at: [[0 s, %g]]}}}\n"
           "servo_valves: {v: {command: u, between: [S, T], a: A, nominal_flow: 40 L/min, frequency: 600 rad/s,\n"
           "                   damping: 0.6%s}}\n",
           step, limit);
  return od_test_machine_text(text);
}

// x = 1 - e^(-zwt) (cos dt + z w/d sin dt), v = w^2/d e^(-zwt) sin dt, d = w sqrt(1 - z^2).
static double free_position(double t, double *speed) {
  double w = 600, z = 0.6, d = w * sqrt(1 - z * z), decay = exp(-z * w * t);
  *speed = w * w / d * decay * sin(d * t);
  return 1 - decay * (cos(d * t) + z * w / d * sin(d * t));
}

static void second_order(void **state) {
  (void)state;
  static const char *const names[] = {"v.spool", "v.spool_rate"};
  od_machine *machine = spool(0.25, ", rate_limit: 200 1/s");  // the limit is not reached
  double y[2], v;
  for (double t = 1e-3; t < 0.01; t += 2e-3) {
    od_test_run_to(machine, "cvodes", t, 1e-4, names, 2, y);
    double x = free_position(t, &v);
    assert_true(fabs(y[0] - 0.25 * x) < 1e-8 && fabs(y[1] - 0.25 * v) < 1e-5);
  }
  od_machine_free(machine);
}

// Derivatives of the spool's rates below and above a small rate limit, which is less than 1. Oracle: differences; the rates are linear on each side.
static void slow_limit(void **state) {
  (void)state;
  od_test_run run = od_test_begin(spool(1, ", rate_limit: 0.5 1/s"), "v.spool", "v.spool_rate", NULL);
  int nx = od_plant_nx(run.plant);
  assert_true(nx >= 2 && nx <= 8);
  double x[8], u[4] = {0}, below[8], above[8], f[8], fx[64];
  od_machine_inputs(run.machine, 0, u);
  memcpy(x, od_sim_state(run.sim), (size_t)nx * sizeof *x);
  for (int k = 0; k < 2; k++) {
    int spool = -1;
    for (int j = 0; j < nx; j++) {  // the state that is the rate of the spool
      double y[2], kept = x[j];
      x[j] = 0.125;
      assert_int_equal(od_sim_set(run.sim, 0, x, u), OD_OK);
      assert_int_equal(od_sim_outputs(run.sim, y), OD_OK);
      x[j] = kept;
      if (y[1] == 0.125) spool = j;
    }
    assert_true(spool >= 0);
    x[spool] = k ? 0.8 : 0.3;
    for (int j = 0; j < nx; j++) {
      double kept = x[j], step = j == spool ? 1e-3 : 1e-6 * (1 + fabs(kept));
      x[j] = kept - step;
      assert_int_equal(od_sim_set(run.sim, 0, x, u), OD_OK);
      assert_int_equal(od_sim_derivatives(run.sim, below, NULL, NULL, NULL), OD_OK);
      x[j] = kept + step;
      assert_int_equal(od_sim_set(run.sim, 0, x, u), OD_OK);
      assert_int_equal(od_sim_derivatives(run.sim, above, NULL, NULL, NULL), OD_OK);
      x[j] = kept;
      assert_int_equal(od_sim_set(run.sim, 0, x, u), OD_OK);
      assert_int_equal(od_sim_derivatives(run.sim, f, fx, NULL, NULL), OD_OK);
      for (int i = 0; i < nx; i++)
        if (j == spool) near_scaled(fx[i * nx + j], (above[i] - below[i]) / (2 * step), 1e-6, 1);
    }
  }
  od_test_end(&run);
}

// A step by the whole stroke: free until the rate limit is reached, then at constant rate.
static void rate_limit(void **state) {
  (void)state;
  static const char *const names[] = {"v.spool"};
  od_machine *machine = spool(1, ", rate_limit: 85 1/s");
  double low = 0, high = 1e-3, v, y;
  for (int i = 0; i < 60; i++) {
    double middle = (low + high) / 2;
    free_position(middle, &v);
    if (v < 85)
      low = middle;
    else
      high = middle;
  }
  double begin = free_position(low, &v), last = 0, most = 0;
  for (double t = 2e-3; t < 8e-3; t += 1e-3) {
    od_test_run_to(machine, "cvodes", t, 1e-4, names, 1, &y);
    assert_true(fabs(y - (begin + 85 * (t - low))) < 1e-6);
  }
  for (double t = 1e-3; t < 20e-3; t += 5e-4, last = y) {
    od_test_run_to(machine, "trapezoid", t, 1e-5, names, 1, &y);
    assert_true(y - last <= 85 * 1.0001 * (t == 1e-3 ? 1e-3 : 5e-4));
    most = fmax(most, y);
  }
  assert_true(most > 1);
  // The spool leaves the limit when its free acceleration becomes negative: w^2 (1 - x) = 2 z w R, and then moves freely.
  double w = 600, z = 0.6, d = w * sqrt(1 - z * z), e = -2 * z * 85 / w, leaves = low + (1 + e - begin) / 85;
  for (double t = 1e-3; t < 6e-3; t += 1e-3) {
    double free = 1 + exp(-z * w * t) * (e * cos(d * t) + (85 + z * w * e) / d * sin(d * t));
    od_test_run_to(machine, "cvodes", leaves + t, 1e-4, names, 1, &y);
    assert_true(fabs(y - free) < 3e-3);
  }
  od_machine_free(machine);
}

// Between contacts 10 mm apart at 1 m/s, each contact lasts half a period of mass and stiffness: the cycle repeats after
// 2 (10 ms + pi sqrt(m/k)).
static void play(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "bodies: {sledge: {point: {mass: 4 kg}}}\n"
      "joints: {guide: {type: prismatic, between: [ground, sledge], axis: [1, 0, 0]}}\n"
      "plays: {gap: {joint: guide, gap: 10 mm, stiffness: 4e6 N/m, damping: 0 s/m, free: 2 mm}}\n"
      "initial: {guide.position: 2 mm, guide.rate: 1 m/s}\n");
  static const char *const names[] = {"guide.position", "guide.rate", "gap.force", "energy.stored"};
  double y[4], half = acos(-1.0) * 1e-3, period = 2 * (10e-3 + half);
  od_test_run_to(machine, "cvodes", 3 * period, 1e-4, names, 4, y);
  assert_true(fabs(y[0] - 2e-3) < 1e-7 && fabs(y[1] - 1) < 1e-6 && y[2] == 0);
  od_test_run_to(machine, "cvodes", 5e-3 + half / 2, 1e-4, names, 4, y);
  assert_true(fabs(y[0] - 8e-3) < 1e-8 && fabs(y[1]) < 1e-5);  // at the reversal, 1 mm deep
  assert_true(fabs(y[2] - 4000) < 1e-2 && fabs(y[3] - 2) < 1e-5);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nominal_flow), cmocka_unit_test(three_ports),
                                     cmocka_unit_test(second_order), cmocka_unit_test(slow_limit),
                                     cmocka_unit_test(rate_limit),   cmocka_unit_test(play)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
