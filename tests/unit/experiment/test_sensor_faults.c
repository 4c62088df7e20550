// Sensor faults: effects of the simulated faults, and an observer with a gate that tolerates them. Oracles: the
// described faults, the clean run.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "experiment/observe.h"
#include "support/experiments.h"
#include "support/scratch.h"

#define CASE   OD_SOURCE_DIR "/cases/fourbar-valve/"
#define LENGTH "cylinder.length: {sigma: 1.12 mm"
#define P      "P.pressure: {sigma: 0.15 MPa"
#define A      "A.pressure: {sigma: 0.15 MPa"

// The three-point experiment with something added to a sensor and to the filter.
static od_experiment *load(scratch *s, const char *sensor, const char *more, const char *filter) {
  char *text = scratch_read(CASE "points-3.experiment.yaml"), *rest = strstr(text, "time: "), changed[8192];
  int n = snprintf(changed, sizeof changed, "machine: " CASE "machine.yaml\n");
  char *at = sensor ? strstr(rest, sensor) + strlen(sensor) : rest, *end = strstr(rest, "filter:");
  n += snprintf(changed + n, sizeof changed - (size_t)n, "%.*s%s%.*s", (int)(at - rest), rest, more, (int)(end - at),
                at);
  snprintf(changed + n, sizeof changed - (size_t)n, "filter: {form: square-root%s}\n", filter);
  free(text);
  return load_experiment(scratch_write(s, "x.yaml", changed, strlen(changed)), NULL);
}

// --- Effects of faults --------------------------------------------------------------------------------------------

static void test_faults_happen(void **state) {
  scratch *s = *state;
  od_experiment *e = load(s, NULL, "", "");
  e->time = 1;
  od_observed *clean = observe(e);
  const double sigma = e->sensor[1].sigma;
  od_faults *f = &e->sensor[1].faults;
  *f = (od_faults){.stuck_from = 0.2, .stuck_to = 0.3, .spike_rate = 0.02, .spike_size = 50 * sigma, .dies = 0.9};
  od_observed *spoilt = observe(e);
  f->dies_stuck = true;
  od_observed *dead = observe(e);
  int spikes = 0, up = 0;
  double stuck = 0;
  for (long i = 1; i <= 1000; i++) {
    const double *a = clean->table->data + i * clean->table->columns,
                 *b = spoilt->table->data + i * clean->table->columns;
    const double *c = dead->table->data + i * clean->table->columns;
    assert_true(a[1] == b[1] && a[3] == b[3]);  // other sensors are not affected
    if (i == 199) stuck = b[2];
    if (i >= 200 && i < 300) assert_true(b[2] == stuck);
    assert_int_equal(isnan(b[2]), i >= 900);
    if (i >= 900) assert_true(c[2] == dead->table->data[899 * clean->table->columns + 2]);
    if (i >= 900 || (i >= 200 && i < 300) || a[2] == b[2]) continue;
    assert_true(fabs(fabs(b[2] - a[2]) - 50 * sigma) < 1e-6);
    spikes++;
    up += b[2] > a[2];
  }
  assert_in_range(spikes, 5, 31);  // 16 expected
  assert_in_range(up, 1, spikes - 1);
  od_observed_free(clean);
  od_observed_free(spoilt);
  od_observed_free(dead);
  od_experiment_free(e);
}

// --- Observers with faults ----------------------------------------------------------------------------------------

enum { SEEDS = 4 };

// The largest error of the curves over some seeds, in percent of fully open; the last counts of the sensors.
static double worst_error(scratch *s, const char *sensor, const char *more, const char *filter,
                          od_sensor_counts counts[3]) {
  od_experiment *e = load(s, sensor, more, filter);
  double worst = 0;
  // With seeds 5 and 6 a gate that is narrow from the start rejects the length for a long time, because of the wrong
  // start.
  static const uint64_t seeds[SEEDS] = {1, 2, 5, 6};
  for (int i = 0; i < SEEDS; i++) {
    e->seed = seeds[i];
    od_observed *o = observe(e);
    worst = fmax(worst, 100 * od_observed_curve_rmse(o));
    for (int k = 0; k < 3; k++) counts[k] = o->sensor[k];
    od_observed_free(o);
  }
  od_experiment_free(e);
  return worst;
}

#define GATE ", gate: 5"

// From the wrong start the observer with a gate equals the one without.
static void test_gate_and_wrong_start(void **state) {
  od_sensor_counts c[3];
  double without = worst_error(*state, NULL, "", "", c), with = worst_error(*state, NULL, "", GATE, c);
  assert_true(fabs(with - without) < 1e-9);
  for (int i = 0; i < 3; i++) assert_true(c[i].used == 5000 && c[i].gated == 0 && c[i].reopened == 0);
}

// The error of the clean run is at most 0.24 %; a dead sensor reduces the information.
static void test_faults_are_survived(void **state) {
  const struct {
    const char *name, *sensor, *more;
    double most;
  } faults[] = {
      {"dropouts", P, ", dropout: 1 %", 0.5},
      {"spikes of the length", LENGTH, ", spikes: {rate: 1 %, size: 50 sigma}", 0.5},
      {"spikes of a pressure", A, ", spikes: {rate: 1 %, size: 7.5 MPa}", 0.5},
      {"length stuck", LENGTH, ", stuck: {from: 1 s, to: 1.5 s}", 0.5},
      {"pump pressure stuck", P, ", stuck: {from: 1 s, to: 1.5 s}", 0.5},
      {"hose pressure stuck", A, ", stuck: {from: 1 s, to: 1.5 s}", 0.5},
      {"hose pressure dies", A, ", dies: 3 s", 0.8},
      {"length dies", LENGTH, ", dies: {at: 3 s, as: stuck}", 0.8},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    od_sensor_counts c[3];
    double worst = worst_error(*state, faults[i].sensor, faults[i].more, GATE, c);
    print_message("%-22s curves off by %.3f %% at most\n", faults[i].name, worst);
    assert_true(worst < faults[i].most);
    long kept_out = 0;
    for (int k = 0; k < 3; k++) kept_out += c[k].missing + c[k].gated + c[k].frozen;
    assert_true(kept_out > 25);
    for (int k = 0; k < 3; k++) assert_int_equal(c[k].reopened, 0);
  }
  // Without a gate the faults cause large errors.
  od_sensor_counts c[3];
  assert_true(worst_error(*state, LENGTH, ", stuck: {from: 1 s, to: 1.5 s}", "", c) > 2);
}

// A sensor with a coarse resolution may repeat its reading; a finer one must not.
static void test_when_equal_values_are_a_fault(void **state) {
  const struct {
    const char *resolution, *filter;
    int frozen;
  } cases[] = {{"", "", 0},
               {"", GATE, 5},
               {", resolution: 0.15 MPa", GATE, 16},  // 1 + ln 1e-8 / ln 0.2821
               {", resolution: 0.5 MPa", GATE, 0},
               {"", ", frozen: 7", 7},
               {"", ", gate: 5, frozen: 0", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_experiment *e = load(*state, P, cases[i].resolution, cases[i].filter);
    assert_int_equal(e->sensor[1].frozen, cases[i].frozen);
    od_experiment_free(e);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_faults_happen),
      TEST(test_gate_and_wrong_start),
      TEST(test_faults_are_survived),
      TEST(test_when_equal_values_are_a_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
