// The Cramer-Rao bound and starts drawn at random. Oracles: the information of a first-order lag's step response, in
// closed form for the trapezoidal rule; moments of the drawn starts.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "experiment/observe.h"
#include "experiment/start_covariance.h"
#include "support/experiments.h"
#include "support/scratch.h"

#define CASE OD_SOURCE_DIR "/cases/fourbar-valve/"

static od_experiment *lag(scratch *s, const char *sensor, const char *parameters) {
  static const char machine[] =
      "machine: lag\n"
      "inputs: {u: {unit: V, steps: {at: [[0 s, 2 V]]}}}\n"
      "blocks: {lag: {type: first-order, input: u, gain: 3, time_constant: 0.5 s}}\n";
  char text[1000];
  scratch_write(s, "m.yaml", machine, strlen(machine));
  snprintf(text, sizeof text,
           "machine: m.yaml\ntime: 2 s\nstep: 10 ms\nsensors: {lag: {sigma: 0.1 V%s}}\nparameters: {%s}\n", sensor,
           parameters);
  return load_experiment(scratch_write(s, "x.yaml", text, strlen(text)), NULL);
}

// y_k = K u (1 - a^k): dy/dK = u (1 - a^k).
static double information(int every, double part) {
  double h = 0.01, T = 0.5, a = (1 - h / (2 * T)) / (1 + h / (2 * T)), sum = 0, power = 1;
  for (int k = 1; k <= 200; k++) {
    power *= a;
    if (k % every == 0) sum += part * pow(2 * (1 - power) / 0.1, 2);
  }
  return sum;
}

static void expect_bound(const od_experiment *e, int parameter, double sigma) {
  od_observed *bound = NULL;
  od_error err = {0};
  assert_int_equal(od_cramer_rao_bound(e, NULL, NULL, &bound, &err), OD_OK);
  assert_non_null(bound);
  assert_true(fabs(bound->sigma[parameter] / sigma - 1) < 1e-9);
  od_observed_free(bound);
}

static void closed_form(void **state) {
  scratch *s = *state;
  od_experiment *e = lag(s, "", "lag.gain: {start: 2, sigma: 0.5}");
  expect_bound(e, 0, 1 / sqrt(4 + information(1, 1)));
  od_experiment_free(e);
  // A slower sensor that loses samples: average information.
  e = lag(s, ", every: 4, dropout: 20 %", "lag.gain: {start: 2, sigma: 0.5}");
  expect_bound(e, 0, 1 / sqrt(4 + information(4, 0.8)));
  od_experiment_free(e);
  // An unknown scale of the sensor has the same effect as the gain: only their product is identifiable. The prior uncertainty of
  // the other combination remains, in the prior's proportions.
  e = lag(s, "", "lag.gain: {sigma: 0.5}, sensors.lag.scale: {sigma: 0.1}");
  double k2 = 0.25, s2 = 9 * 0.01, stated = 1 / information(1, 1), all = k2 + s2;
  expect_bound(e, 0, sqrt(k2 - k2 * k2 / (all + stated)));
  expect_bound(e, 1, sqrt(s2 - s2 * s2 / (all + stated)) / 3);
  od_experiment_free(e);
}

// Outputs and parameters of many drawn starts scatter around the true ones with the standard deviations of the file.
static void drawn_starts(void **state) {
  (void)state;
  od_experiment *e = load_experiment(CASE "points-3.experiment.yaml", NULL);
  od_plant *plant = NULL;
  assert_int_equal(od_experiment_plant(e, &plant, NULL), OD_OK);
  int nx = od_plant_nx(plant);
  od_sim *sim = od_sim_new(plant);
  enum { DRAWS = 400, MOST = 16 };
  double u = 0, x[32], p[32], y[MOST], sum[MOST] = {0}, squares[MOST] = {0};
  const double truth[] = {1.732, 7.6e6, 4e6, 0, 6e6};  // far from negative pressures: no start is drawn again
  for (uint64_t seed = 1; seed <= DRAWS; seed++) {
    assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
    assert_int_equal(od_start_draw(e, seed, truth, sim, nx, x, p, &(od_redrawn){0}), OD_OK);
    assert_int_equal(od_sim_outputs(sim, y), OD_OK);
    for (int i = 0; i < e->watches; i++) {
      double off = (y[i] - truth[i]) / e->watched[i].sigma;
      sum[i] += off;
      squares[i] += off * off;
    }
    double off = (p[0] - e->parameter[0].truth) / e->parameter[0].sigma;
    sum[e->watches] += off;
    squares[e->watches] += off * off;
  }
  for (int i = 0; i <= e->watches; i++) {
    assert_true(fabs(sum[i] / DRAWS) < 4 / sqrt(DRAWS));
    assert_true(fabs(squares[i] / DRAWS - 1) < 5 * sqrt(2.0 / DRAWS));
  }
  // A parameter with 'drawn: false' has its given start.
  e->parameter[0].keeps_start = true;
  assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
  assert_int_equal(od_start_draw(e, 1, truth, sim, nx, x, p, &(od_redrawn){0}), OD_OK);
  assert_true(p[0] == e->parameter[0].start && p[1] != e->parameter[1].start);
  od_sim_free(sim);
  od_plant_free(plant);
  od_experiment_free(e);
}

// A pressure of 1 MPa with a standard deviation of 1 MPa: negative ones are drawn again, and every run starts.
static void impossible_starts_are_drawn_again(void **state) {
  (void)state;
  od_experiment *e = load_experiment(CASE "points-3.experiment.yaml", NULL);
  e->random_start = true;
  e->time = 0.01;
  for (e->seed = 1; e->seed <= 40; e->seed++) {
    od_observed *o = observe(e);
    for (int i = 0; i < e->watches; i++)
      if (!strcmp(e->watched[i].name, "A.pressure"))
        assert_true(o->table->data[o->columns.watched + o->columns.per_watched * i] >= 0);
    od_observed_free(o);
  }
  od_experiment_free(e);
}

// The order of outputs has no effect: a start near the dead point (the cylinder is at most 2 m long) is drawn again in
// both orders.
static void order_of_outputs_does_not_matter(void **state) {
  scratch *s = *state;
  char *text = scratch_read(CASE "points-3.experiment.yaml"), changed[8192];
  char *begin = strstr(text, "time: "), *initial = strstr(begin, "initial:"), *end = strstr(initial, "noise: ");
  snprintf(
      changed, sizeof changed,
      "machine: " CASE
      "machine.yaml\n%.*sinitial:\n"
      "  of: [B.pressure, cylinder.rate, A.pressure, P.pressure, cylinder.length]\n"
      "  matrix: [[1e12, 0, 0, 0, 0], [0, 1e-4, 0, 0, 0], [0, 0, 1e12, 0, 0], [0, 0, 0, 4e12, 0], [0, 0, 0, 0, 0.01]]\n%s",
      (int)(initial - begin), begin, end);
  free(text);
  od_experiment *e[] = {load_experiment(CASE "points-3.experiment.yaml", NULL),
                        load_experiment(scratch_write(s, "x.yaml", changed, strlen(changed)), NULL)};
  double length[2];
  for (int i = 0; i < 2; i++) {
    e[i]->random_start = true;
    e[i]->seed = 10309;
    e[i]->time = 0.01;
    od_observed *o = observe(e[i]);
    length[i] = o->table->data[o->columns.watched];
    od_observed_free(o);
    od_experiment_free(e[i]);
  }
  assert_true(fabs(length[0] - length[1]) < 1e-9 && length[0] < 1.99);
}

// An unknown offset of a gauge as a parameter of the sensor: estimated, with the correct uncertainty.
static void calibrations_are_found(void **state) {
  od_experiment *e = lag(*state, ", bias: 0.7 V", "sensors.lag.bias: {sigma: 1 V}");
  od_observed *o = observe(e);
  assert_true(fabs(o->sigma[0] - 1 / sqrt(1 + 200 / 0.01)) < 1e-9);
  assert_true(fabs(o->estimate[0] - 0.7) < 4 * o->sigma[0]);
  // The table shows the output, not the reading of the sensor.
  long last = o->table->rows - 1;
  double shown = o->table->data[last * o->table->columns + o->columns.watched];
  assert_true(fabs(shown - 6 * (1 - exp(-4))) < 1e-3);
  od_observed_free(o);
  od_experiment_free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(closed_form, scratch_setup, scratch_teardown),
      cmocka_unit_test(drawn_starts),
      cmocka_unit_test(impossible_starts_are_drawn_again),
      cmocka_unit_test_setup_teardown(order_of_outputs_does_not_matter, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(calibrations_are_found, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
