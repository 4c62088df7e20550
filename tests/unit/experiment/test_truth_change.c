// Numbers of the true machine that change during a run. Oracles: the pressure of a volume with a changing inflow, and of a leaking volume
// whose oil warms up, in closed form; the pressure of a volume with a changing content of air, by the equation of theory.md and the method
// of Runge and Kutta; a random walk repeats for its seed, and its increments have their standard deviation.
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/observe.h"
#include "experiment/true_motion.h"
#include "experiment/truth_change.h"
#include "support/experiments.h"
#include "support/scratch.h"

// p' = K/V q: modulus 1 GPa and volume 1 l give 1e12 Pa/m3.
static const char machine[] =
    "machine: Volume\n"
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1 GPa}\n"
    "volumes: {A: {volume: 1 L}}\n"
    "pumps: {inflow: {to: A, flow: 1e-5 m^3/s}}\n"
    "initial: {A.pressure: 10 bar}\n";

static od_experiment *experiment_of(scratch *s, const char *change, const char *more) {
  char text[1000];
  scratch_put(s, "m.yaml", machine);
  int length = snprintf(text, sizeof text,
                        "machine: m.yaml\ntime: 1 s\nstep: 1 ms\nseed: 4\nsensors: {A.pressure: {sigma: 0.01 bar}}\n"
                        "truth: {change: {inflow.flow: %s}}\n%s",
                        change, more);
  return load_experiment(scratch_write(s, "x.yaml", text, (size_t)length), NULL);
}

// The integral of a table of flows with a ramp from 0.2 s to 0.6 s and a step at 0.8 s, up to time t.
static double oil_up_to(double t) {
  const double q0 = 1e-5, q1 = 3e-5, q2 = 2e-5;
  double ramp = fmin(fmax(t - 0.2, 0), 0.4);
  return q0 * fmin(t, 0.2) + q0 * ramp + (q1 - q0) * ramp * ramp / 0.8 + q1 * fmin(fmax(t - 0.6, 0), 0.2) +
         q2 * fmax(t - 0.8, 0);
}

static void test_table(void **state) {
  od_experiment *e = experiment_of(
      *state, "{at: [0.2 s, 0.6 s, 0.8 s, 0.8 s], values: [1e-5 m^3/s, 3e-5 m^3/s, 3e-5 m^3/s, 2e-5 m^3/s]}", "");
  od_true_motion *motion;
  od_error err = {0};
  assert_true(od_motion_is_same(e));
  assert_int_equal(od_true_motion_new(e, &motion, &err), OD_OK);
  for (bool more = true;;) {
    od_motion_sample sample;
    assert_int_equal(od_true_motion_next(motion, &sample, &more, &err), OD_OK);
    if (!more) break;
    double expected = 10e5 + 1e12 * oil_up_to(sample.t), t = sample.t;
    if (fabs(sample.y[0] - expected) > 1e-9 * expected)
      fail_msg("%.17g at %g s: expected %.17g", sample.y[0], t, expected);
    double q = t < 0.2 ? 1e-5 : t < 0.6 ? 1e-5 + 2e-5 * (t - 0.2) / 0.4 : t < 0.8 - 1e-9 ? 3e-5 : 2e-5;
    assert_true(fabs(sample.number[0] - q) < 1e-12);
  }
  od_true_motion_free(motion);
  // A stored motion has the same samples.
  od_kept_motion *kept;
  assert_int_equal(od_kept_motion_new(e, (od_going_on){0}, &kept, &err), OD_OK);
  od_motion_sample sample;
  bool more;
  assert_int_equal(od_kept_motion_get(kept, 400, &sample, &more, &err), OD_OK);
  assert_true(fabs(sample.number[0] - 2e-5) < 1e-12);
  od_kept_motion_free(kept);
  od_experiment_free(e);
}

static void test_walk(void **state) {
  od_experiment *e = experiment_of(*state, "{walk: 1e-8 m^3/s}", "");
  OD_SCRATCH(memory);
  od_truth_values a, b;
  assert_false(od_motion_is_same(e));
  assert_true(od_truth_values_begin(e, &memory, &a) && od_truth_values_begin(e, &memory, &b));
  double squares = 0;
  enum { STEPS = 100000 };
  for (long i = 1; i <= STEPS; i++) {
    double before = a.value[0];
    od_truth_values_walk(&a, i);
    od_truth_values_walk(&b, i);
    assert_true(a.value[0] == b.value[0]);
    squares += (a.value[0] - before) * (a.value[0] - before);
  }
  // The relative standard deviation of the variance is sqrt(2/100000) = 0.0045.
  assert_true(fabs(squares / STEPS / 1e-16 - 1) < 0.02);
  od_experiment_free(e);
}

// The estimate is compared with the true value at the end of the run.
static void test_observer(void **state) {
  od_experiment *e = experiment_of(*state, "{at: [0.5 s, 0.5 s], values: [1e-5 m^3/s, 2e-5 m^3/s]}",
                                   "parameters: {inflow.flow: {sigma: 1e-5 m^3/s, noise: 3e-7 m^3/s}}\n"
                                   "initial: {A.pressure: 1 bar}\nfilter: ekf\n");
  od_observed *o = NULL;
  od_error err = {0};
  const od_observe_options options = {.no_table = true};
  assert_int_equal(od_observe(e, &options, &o, &err), OD_OK);
  assert_true(fabs(o->truth[0] - 2e-5) < 1e-15 && fabs(o->changed[0] - 2e-5) < 1e-15);
  assert_true(fabs(o->estimate[0] - 2e-5) < 4 * o->sigma[0] && o->sigma[0] < 3e-6);
  od_observed_free(o);
  od_experiment_free(e);
}

// Metrics of a parameter compare the estimate with the true value at the same time. Each metric is computed again from the rows.
static void test_metrics(void **state) {
  od_experiment *e = experiment_of(*state, "{at: [0.2 s, 0.9 s], values: [1e-5 m^3/s, 2e-5 m^3/s]}",
                                   "parameters: {inflow.flow: {sigma: 1e-5 m^3/s, noise: 3e-7 m^3/s}}\n"
                                   "initial: {A.pressure: 1 bar}\nfilter: ekf\n"
                                   "metrics:\n  rms: {rms: inflow.flow, from: 0.5 s}\n  nees: {nees: inflow.flow}\n"
                                   "  sigma: {sigma: inflow.flow, from: 0.5 s}\n"
                                   "  within: {within_3_sigma: inflow.flow}\n"
                                   "  pair: {nees: [inflow.flow, A.pressure], points: 1}\n");
  od_observed *o = NULL;
  od_error err = {0};
  assert_int_equal(od_observe(e, NULL, &o, &err), OD_OK);
  const od_columns *c = &o->columns;
  double squares = 0, variances = 0, nees = 0, within = 0, late = 0, n = (double)o->table->rows;
  for (long k = 0; k < o->table->rows; k++) {
    const double *row = o->table->data + k * o->table->columns;
    double error = row[c->parameter] - row[c->changed], sigma = row[c->parameter + 1];
    nees += pow(error / sigma, 2) / n;
    within += fabs(error) <= 3 * sigma;
    if (row[0] < 0.5 - 1e-9) continue;
    squares += error * error, variances += sigma * sigma, late++;
  }
  near_relative(o->metric[0], sqrt(squares / late), 1e-9);
  near_relative(o->metric[1], nees, 1e-9);
  near_relative(o->metric[2], sqrt(variances / late), 1e-9);
  near_relative(o->metric[3], within / n, 1e-9);
  assert_true(o->metric[4] > 0 && o->metric[4] < 20);
  od_observed_free(o);
  od_experiment_free(e);
}

// Runs the true machine of a file, whose first sensor is A.pressure, and compares the pressure with expected(t).
static void compare_pressure(scratch *s, const char *machine_text, const char *change, double (*expected)(double t),
                             double part) {
  char text[1000];
  scratch_put(s, "m.yaml", machine_text);
  int length = snprintf(text, sizeof text,
                        "machine: m.yaml\ntime: 1 s\nstep: 1 ms\nsensors: {A.pressure: {sigma: 0.01 bar}}\n"
                        "truth: {change: {%s}}\n",
                        change);
  od_experiment *e = load_experiment(scratch_write(s, "x.yaml", text, (size_t)length), NULL);
  od_true_motion *motion;
  od_error err = {0};
  assert_int_equal(od_true_motion_new(e, &motion, &err), OD_OK);
  for (bool more = true;;) {
    od_motion_sample sample;
    assert_int_equal(od_true_motion_next(motion, &sample, &more, &err), OD_OK);
    if (!more) break;
    near_relative(sample.y[0], expected(sample.t), part);
  }
  od_true_motion_free(motion);
  od_experiment_free(e);
}

// The oil warms up by 20 K from 0.2 s to 0.7 s and becomes thinner by exp(0.03 per K). A leak of 1e-12 m3/(s Pa), K/V = 1e12 Pa/m3:
// p = p0 exp(-integral of exp(0.03 (T - 313.15))).
static double leaking_pressure(double t) {
  double ramp = fmin(fmax(t - 0.2, 0), 0.5), rate = 0.03 * 20 / 0.5;
  return 100e5 * exp(-fmin(t, 0.2) - (exp(rate * ramp) - 1) / rate - exp(0.6) * fmax(t - 0.7, 0));
}

static void test_temperature(void **state) {
  compare_pressure(
      *state,
      "machine: Warm oil\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1 GPa, viscosity: 46 mm^2/s, thinning: 0.03 1/K, "
      "temperature: 313.15 K}\n"
      "volumes: {A: {volume: 1 L}}\ntanks: {T: {pressure: 0 bar}}\n"
      "leaks: {seep: {between: [A, T], slope: 1e-12 m^3/(s Pa)}}\n"
      "initial: {A.pressure: 100 bar}\n",
      "oil.temperature: {at: [0.2 s, 0.7 s], values: [313.15 K, 333.15 K]}", leaking_pressure, 2e-6);
}

// 1/B = (1 - a)/1.5 GPa + a/(1.4 p) with a = 1/(1 + (1 - a0)/a0 (p/1 bar)^(1/1.4)); a0 grows from 1 % to 4 % between 0.3 s and 0.6 s.
static double pressure_rate(double t, double p) {
  double a0 = 0.01 + 0.03 * fmin(fmax(t - 0.3, 0), 0.3) / 0.3;
  double a = 1 / (1 + (1 - a0) / a0 * pow(p / 1e5, 1 / 1.4));
  return 1e-5 / 1e-3 / ((1 - a) / 1.5e9 + a / (1.4 * p));
}

static double pressure_with_air(double t) {
  enum { PARTS = 2000 };
  double p = 5e5, h = t / PARTS;
  for (int i = 0; i < PARTS && h > 0; i++) {
    double now = i * h, k1 = pressure_rate(now, p), k2 = pressure_rate(now + h / 2, p + h / 2 * k1);
    double k3 = pressure_rate(now + h / 2, p + h / 2 * k2), k4 = pressure_rate(now + h, p + h * k3);
    p += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return p;
}

static void test_air(void **state) {
  compare_pressure(*state,
                   "machine: Oil with air\n"
                   "oil: {density: 870 kg/m^3, law: air, modulus: 1.5 GPa, air: 1 %, at: 1 bar, exponent: 1.4}\n"
                   "volumes: {A: {volume: 1 L}}\npumps: {inflow: {to: A, flow: 1e-5 m^3/s}}\n"
                   "initial: {A.pressure: 5 bar}\n",
                   "oil.air: {at: [0.3 s, 0.6 s], values: [1 %, 4 %]}", pressure_with_air, 1e-5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_table, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_walk, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_observer, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_metrics, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_temperature, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_air, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
