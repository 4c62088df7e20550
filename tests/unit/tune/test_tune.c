// Tuning: the maximum of the likelihood, its standard errors, bounds of noise that is not there, the test of P0, outliers, threads.
//
// Oracle: a random walk measured with noise. Its Kalman filter has one state; the test contains this filter as a recursion of
// two numbers, and finds the maximum of its likelihood by a search along both logarithms, without derivatives. The random walk is
// the offset of a sensor whose machine is at rest.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "random/random.h"
#include "support/experiments.h"
#include "support/scratch.h"
#include "tune/tune.h"

enum { SAMPLES = 2500, SPLIT = 1500 };
static const double prior = 3;  // standard deviation of the offset at the start

static double y[SAMPLES];

// Makes data: the offset begins at `start` and changes by q per step; noise r.
static void make_data(uint64_t seed, double start, double q, double r, double spike) {
  double x = start;
  for (uint64_t k = 0; k < SAMPLES; k++) {
    if (k > 0) x += q * od_random_gaussian(seed, 1, k, OD_USE_NOISE);
    y[k] = x + r * od_random_gaussian(seed, 2, k, OD_USE_NOISE);
    if (k % 50 == 49) y[k] += spike;
  }
}

// The experiment with the data as a log, and starts of the search.
static od_experiment *walk(scratch *s, double q, double r, const char *filter) {
  char text[1000], *log = malloc(SAMPLES * 64 + 100), *at = log;
  scratch_put(s, "m.yaml",
              "machine: Rest\ninputs: {u: 0}\n"
              "blocks: {lag: {type: first-order, input: u, gain: 1, time_constant: 1 s}}\n");
  at += sprintf(at, "time,u,lag\n");
  for (int k = 0; k < SAMPLES; k++) at += sprintf(at, "%.3f,0,%.17g\n", 0.01 * k, y[k]);
  scratch_write(s, "log.csv", log, (size_t)(at - log));
  free(log);
  snprintf(text, sizeof text,
           "machine: m.yaml\nstep: 10 ms\ndata: {file: log.csv}\nsensors: {lag: {sigma: 1, assume: %.17g}}\n"
           "parameters: {sensors.lag.bias: {sigma: %.17g, noise: %.17g}}\nfilter: %s\n",
           r, prior, q, filter);
  return load_experiment(scratch_put(s, "x.yaml", text), NULL);
}

static od_tuned *tune(const od_experiment *e, int threads) {
  const od_tune_options options = {.part = (SPLIT - 0.5) / (SAMPLES - 1), .threads = threads};
  od_tuned *t = NULL;
  od_error err = {0};
  if (od_tune(e, &options, &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

// The recursion of the scalar Kalman filter: the cost of samples `from` to `to`, and the sum of squares.
static double cost_of(double q, double r, int from, int to, double *squares) {
  double x = 0, P = prior * prior, cost = 0;
  *squares = 0;
  for (int k = 0; k < to; k++) {
    if (k > 0) P += q * q;
    double S = P + r * r, v = y[k] - x, K = P / S;
    x += K * v;
    P = P * r * r / S;
    if (k < from) continue;
    cost += v * v / S / 2 + log(S) / 2;
    *squares += v * v / S;
  }
  return cost;
}

static double cost_at(const double *p) {
  double ignored;
  return cost_of(exp(p[0]), exp(p[1]), 0, SPLIT, &ignored);
}

// The minimum of the cost over both logarithms, by steps that halve.
static void find_minimum(double *p) {
  double best = cost_at(p);
  for (double h = 1; h > 1e-7;) {
    bool better = false;
    for (int d = 0; d < 8; d++) {
      static const double way[8][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
      const double there[2] = {p[0] + h * way[d][0], p[1] + h * way[d][1]};
      double cost = cost_at(there);
      if (cost < best) best = cost, memcpy(p, there, sizeof there), better = true;
    }
    if (!better) h /= 2;
  }
}

// Standard errors from the second derivatives of the cost.
static void find_errors(const double *p, double *error) {
  const double h = 0.01;
  double d[2][2];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      double sum = 0;
      for (int a = -1; a <= 1; a += 2)
        for (int b = -1; b <= 1; b += 2) {
          double there[2] = {p[0], p[1]};
          there[i] += a * h, there[j] += b * h;
          sum += a * b * cost_at(there);
        }
      d[i][j] = sum / (4 * h * h);
    }
  double det = d[0][0] * d[1][1] - d[0][1] * d[1][0];
  error[0] = sqrt(d[1][1] / det), error[1] = sqrt(d[0][0] / det);
}

// The sensor is the first number, the parameter the second.
static void expect_maximum(const od_tuned *t) {
  double p[2] = {log(0.3), log(1)}, error[2];
  find_minimum(p);
  find_errors(p, error);
  assert_int_equal(t->numbers, 2);
  assert_string_equal(t->number[0].path, "sensors.lag.assume");
  assert_string_equal(t->number[1].path, "parameters.sensors.lag.bias.noise");
  assert_true(t->converged);
  // The search ends when the cost changes by less than 0.001, which is 0.045 standard errors.
  near(log(t->number[0].after), p[1], 0.06 * error[1]);
  near(log(t->number[1].after), p[0], 0.06 * error[0]);
  near_relative(t->number[0].error, error[1], 0.1);
  near_relative(t->number[1].error, error[0], 0.1);
  // Both parts have the likelihood of the recursion.
  double squares, q = t->number[1].after, r = t->number[0].after;
  double cost = cost_of(q, r, 0, SPLIT, &squares), constant = log(8 * atan(1)) / 2;
  near_relative(t->after.tuned.log_likelihood, -cost - SPLIT * constant, 1e-9);
  near_relative(t->after.tuned.squares, squares, 1e-9);
  cost = cost_of(q, r, SPLIT, SAMPLES, &squares);
  near_relative(t->after.rest.log_likelihood, -cost - (SAMPLES - SPLIT) * constant, 1e-9);
  near_relative(t->after.rest.squares, squares, 1e-9);
  assert_int_equal(t->after.rest.used, SAMPLES - SPLIT);
  near_relative(t->after.first_value[0], y[0], 1e-12);
  near_relative(t->after.first_sigma[0], hypot(prior, r), 1e-12);
}

static void maximum(void **state) {
  // From the true numbers, and from numbers that are 100 times off in all four directions.
  static const double off[][2] = {{1, 1}, {100, 100}, {0.01, 0.01}, {100, 0.01}, {0.01, 100}};
  make_data(7, 0, 0.3, 1, 0);
  for (int i = 0; i < 5; i++) {
    od_experiment *e = walk(*state, 0.3 * off[i][0], 1 * off[i][1], "ekf");
    od_tuned *t = tune(e, 1);
    expect_maximum(t);
    assert_int_equal(t->verdict.trust, OD_SOUND);
    assert_int_equal(t->starts, 0);
    od_tuned_free(t);
    od_experiment_free(e);
  }
}

static void no_process_noise(void **state) {
  make_data(3, 1, 0, 1, 0);
  od_experiment *e = walk(*state, 0.5, 20, "ekf");
  od_tuned *t = tune(e, 1);
  const od_tuned_number *n = &t->number[1];
  double squares, r = t->number[0].after, lowest = cost_of(0, r, 0, SPLIT, &squares), low = 1e-6, high = 1;
  // The data agree with zero: the recursion has no lower cost that is significant.
  double p[2] = {log(0.1), 0};
  find_minimum(p);
  assert_true(lowest - cost_at(p) < 1.36);
  assert_true(n->may_be_zero && n->after == 0);
  for (int i = 0; i < 60; i++) {
    double middle = sqrt(low * high);
    if (cost_of(middle, r, 0, SPLIT, &squares) - lowest < 1.3527)
      low = middle;
    else
      high = middle;
  }
  near_relative(n->bound, low, 0.03);
  near_relative(r, 1, 0.06);
  assert_true(od_verdict_has(&t->verdict, "tuning.zero"));
  od_tuned_free(t);
  od_experiment_free(e);
}

// The offset starts 60 standard deviations away from the start.
static void wrong_start(void **state) {
  make_data(5, 180, 0.3, 1, 0);
  od_experiment *e = walk(*state, 0.3, 1, "ekf");
  od_tuned *t = tune(e, 1);
  assert_true(od_verdict_has(&t->verdict, "tuning.first_innovation"));
  assert_true(t->starts == 1);
  assert_string_equal(t->start[0].path, "parameters.sensors.lag.bias.sigma");
  near_relative(t->start[0].sigma, prior, 1e-12);
  // The likelihood of one innovation of 180 is highest for a standard deviation of 180, of the factors 3, 10, 30, 100 and 1000.
  assert_true(t->start[0].better == 100 * prior || t->start[0].better == 30 * prior);
  assert_true(t->start[0].gain > 20);
  assert_int_equal(t->verdict.trust, OD_DOUBTFUL);
  od_tuned_free(t);
  od_experiment_free(e);
}

// Every 50th value has a spike. Without a gate the noise of the sensor includes the spikes.
static void outliers(void **state) {
  make_data(9, 0, 0.3, 1, 30);
  od_experiment *e = walk(*state, 3, 10, "{type: ekf, gate: 5}");
  od_tuned *t = tune(e, 1);
  near_relative(t->number[0].after, 1, 0.2);
  near_relative(t->number[1].after, 0.3, 0.2);
  od_tuned_free(t);
  od_experiment_free(e);
  e = walk(*state, 3, 10, "ekf");
  t = tune(e, 1);
  assert_true(t->number[0].after > 3);
  od_tuned_free(t);
  od_experiment_free(e);
}

static void threads(void **state) {
  make_data(11, 0, 0.3, 1, 0);
  od_experiment *e = walk(*state, 30, 0.01, "ekf");
  od_tuned *a = tune(e, 1), *b = tune(e, 3);
  for (int i = 0; i < 2; i++) {
    assert_memory_equal(&a->number[i].after, &b->number[i].after, sizeof(double));
    assert_memory_equal(&a->number[i].error, &b->number[i].error, sizeof(double));
  }
  assert_memory_equal(&a->after.rest.log_likelihood, &b->after.rest.log_likelihood, sizeof(double));
  assert_int_equal(a->runs, b->runs);
  od_tuned_free(a);
  od_tuned_free(b);
  od_experiment_free(e);
}

static bool stop(void *user, double done) {
  (void)done;
  return ++*(int *)user < 3;
}

static void failures(void **state) {
  make_data(11, 0, 0.3, 1, 0);
  od_experiment *e = walk(*state, 0.3, 1, "ekf");
  od_tuned *t = NULL;
  od_error err = {0};
  int calls = 0;
  const od_tune_options interrupted = {.part = 0.5, .threads = 1, .progress = stop, .user = &calls};
  assert_int_equal(od_tune(e, &interrupted, &t, &err), OD_INTERRUPTED);
  assert_null(t);
  const od_tune_options all = {.part = 1, .threads = 1};
  assert_int_equal(od_tune(e, &all, &t, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "2500 of 2500 samples"));
  const od_tune_options late = {.part = 0.5, .from = 20, .threads = 1};
  assert_int_equal(od_tune(e, &late, &t, &err), OD_BAD_INPUT);
  od_experiment_free(e);
}

// All kinds of numbers, with the standard deviations of the file.
static void numbers(void **state) {
  (void)state;
  OD_SCRATCH(memory);
  od_tuned_number *n;
  const od_experiment_options printed = {.variant = "printed"};
  od_experiment *e = load_experiment(OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml", &printed);
  assert_int_equal(od_tuned_numbers(e, &memory, &n), 8);
  assert_string_equal(n[1].path, "sensors.P.pressure.assume");
  near_relative(n[1].before, 0.15e6, 1e-12);
  assert_string_equal(n[4].path, "noise.process.cylinder.rate");
  near_relative(n[4].before, sqrt(8e-4), 1e-12);
  od_experiment_free(e);
  e = load_experiment(OD_SOURCE_DIR "/cases/observer-tuning/disturbed.experiment.yaml", NULL);
  assert_int_equal(od_tuned_numbers(e, &memory, &n), 5);
  assert_string_equal(n[2].path, "noise.pressures");
  assert_string_equal(n[3].path, "noise.acceleration");
  assert_string_equal(n[4].path, "parameters.throttle.area.noise");
  near_relative(n[4].before, 1e-8, 1e-12);
  od_experiment_free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(maximum, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(no_process_noise, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(wrong_start, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(outliers, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(threads, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(failures, scratch_setup, scratch_teardown),
      cmocka_unit_test(numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
