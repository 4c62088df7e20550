// Running experiments: the hydraulic four-bar's valve, and the noise of its sensors. Oracles: moments of the noise, the
// Cramer-Rao bound, chi-squared intervals.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random/random.h"
#include "experiment/observe.h"
#include "support/experiments.h"
#include "support/scratch.h"

#define CASE OD_SOURCE_DIR "/cases/fourbar-valve/"

static od_experiment *load(const char *path, const char *truth, const char *const *set, int count) {
  const od_experiment_options options = {.set = set, .set_count = count, .truth = truth};
  return load_experiment(path, &options);
}

// --- Noise --------------------------------------------------------------------------------------------------------

// Mean, variance and kurtosis of many numbers, within five standard deviations of their sampling.
static void test_noise_has_its_moments(void **state) {
  (void)state;
  enum { COUNT = 200000 };
  double mean = 0, square = 0, fourth = 0, uniform = 0, uniform_square = 0;
  for (int i = 0; i < COUNT; i++) {
    double g = od_random_gaussian(7, 3, (uint64_t)i, OD_USE_NOISE);
    double u = od_random_uniform(7, 3, (uint64_t)i, OD_USE_DROPOUT);
    assert_true(u > 0 && u < 1);
    mean += g / COUNT;
    square += g * g / COUNT;
    fourth += g * g * g * g / COUNT;
    uniform += u / COUNT;
    uniform_square += (u - 0.5) * (u - 0.5) / COUNT;
  }
  assert_true(fabs(mean) < 5 / sqrt(COUNT));
  assert_true(fabs(square - 1) < 5 * sqrt(2.0 / COUNT));
  assert_true(fabs(fourth - 3) < 5 * sqrt(96.0 / COUNT));
  assert_true(fabs(uniform - 0.5) < 5 * sqrt(1.0 / 12 / COUNT));
  assert_true(fabs(uniform_square - 1.0 / 12) < 5 * sqrt(1.0 / 180 / COUNT));
}

static void test_noise_streams_differ(void **state) {
  (void)state;
  double g = od_random_gaussian(1, od_random_stream("P.pressure"), 1, OD_USE_NOISE);
  assert_true(g == od_random_gaussian(1, od_random_stream("P.pressure"), 1, OD_USE_NOISE));
  assert_true(g != od_random_gaussian(1, od_random_stream("A.pressure"), 1, OD_USE_NOISE));
  assert_true(g != od_random_gaussian(1, od_random_stream("P.pressure"), 2, OD_USE_NOISE));
  assert_true(g != od_random_gaussian(2, od_random_stream("P.pressure"), 1, OD_USE_NOISE));
  assert_true(g != od_random_gaussian(1, od_random_stream("P.pressure"), 1, OD_USE_DROPOUT));
}

// --- The valve ----------------------------------------------------------------------------------------------------

static void check_valve(const char *file, const char *truth, double most_percent) {
  od_experiment *e = load(file, truth, NULL, 0);
  od_observed *o = observe(e);
  od_consistency nis = od_observed_nis(o);
  assert_true(nis.value > nis.low && nis.value < nis.high);
  assert_int_equal(o->compared, e->parameters);
  assert_int_equal(o->curves, 4);
  assert_true(100 * od_observed_curve_rmse(o) < most_percent);
  for (int i = 0; i < e->parameters; i++) assert_true(fabs(o->estimate[i] - e->parameter[i].truth) < 4 * o->sigma[i]);
  for (int i = 0; i < e->sensors; i++) assert_true(o->sensor[i].used == 5000 && o->sensor[i].missing == 0);
  assert_int_equal(o->table->rows, 5001);
  od_observed_free(o);
  od_experiment_free(e);
}

// The bounds are three times the Cramer-Rao bounds of the experiment.
static void test_three_points(void **state) {
  (void)state;
  check_valve(CASE "points-3.experiment.yaml", NULL, 3 * 0.159);
}
static void test_three_steep_points(void **state) {
  (void)state;
  check_valve(CASE "points-3.experiment.yaml", "3-S2", 3 * 0.150);
}
static void test_six_points(void **state) {
  (void)state;
  check_valve(CASE "points-6.experiment.yaml", NULL, 3 * 1.106);
}

static void test_same_again(void **state) {
  (void)state;
  const char *set[] = {"time=0.5"};
  od_experiment *e = load(CASE "points-4.experiment.yaml", NULL, set, 1);
  od_observed *a = observe(e), *b = observe(e);
  size_t size = (size_t)a->table->rows * (size_t)a->table->columns * sizeof(double);
  assert_int_equal(a->table->rows, 501);
  assert_memory_equal(a->table->data, b->table->data, size);
  e->seed = 2;
  od_observed *c = observe(e);
  assert_true(memcmp(a->table->data, c->table->data, size) != 0);
  od_observed_free(a);
  od_observed_free(b);
  od_observed_free(c);
  od_experiment_free(e);
}

// Both forms of the covariance are the same filter.
static void test_forms_agree(void **state) {
  (void)state;
  const char *set[] = {"time=1"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", NULL, set, 1);
  od_observed *a = observe(e);
  e->form = OD_FORM_JOSEPH;
  od_observed *b = observe(e);
  for (int i = 0; i < e->parameters; i++) {
    assert_true(fabs(a->estimate[i] - b->estimate[i]) < 1e-6 * a->sigma[i]);
    assert_true(fabs(a->sigma[i] - b->sigma[i]) < 1e-6 * a->sigma[i]);
  }
  od_observed_free(a);
  od_observed_free(b);
  od_experiment_free(e);
}

// Effects of sensors in the measurements: rate, start, dropouts, bias and resolution.
static void test_sensors(void **state) {
  (void)state;
  const char *set[] = {"time=1", "sensors.cylinder.length.every=4", "sensors.P.pressure.start=0.2",
                       "sensors.P.pressure.resolution=0.1 MPa", "sensors.A.pressure.dropout=10 %"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", NULL, set, 5);
  od_observed *o = observe(e);
  assert_int_equal(o->sensor[0].used, 250);
  assert_int_equal(o->sensor[0].missing, 750);
  assert_int_equal(o->sensor[1].missing, 199);
  assert_true(labs(o->sensor[2].missing - 100) < 50);
  const od_table *t = o->table;
  for (long i = 0; i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    assert_int_equal(isnan(row[1]), i % 4 != 0 || i == 0);
    assert_int_equal(isnan(row[2]), i < 200);
    if (i >= 200) assert_true(fabs(row[2] / 1e5 - round(row[2] / 1e5)) < 1e-9);
  }
  // Noise does not depend on other samples or sensors.
  od_experiment *plain = load(CASE "points-3.experiment.yaml", NULL, set, 1);
  od_observed *p = observe(plain);
  for (long i = 1; i < t->rows; i++) {
    double value = t->data[i * t->columns + 3];
    assert_true(isnan(value) || value == p->table->data[i * t->columns + 3]);
  }
  od_observed_free(o);
  od_observed_free(p);
  od_experiment_free(e);
  od_experiment_free(plain);
}

static bool stop_soon(void *user, double done) {
  (void)user;
  return done < 0.5;
}

static void test_interruption_keeps_rows(void **state) {
  (void)state;
  const char *set[] = {"time=0.5"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", NULL, set, 1);
  const od_observe_options options = {.progress = stop_soon};
  od_observed *o = NULL;
  od_error err = {0};
  assert_int_equal(od_observe(e, &options, &o, &err), OD_INTERRUPTED);
  assert_int_equal(o->table->rows, o->steps + 1);
  assert_true(o->steps > 200 && o->steps < 320);
  od_observed_free(o);
  od_experiment_free(e);
}

// An interruption in the second run, which only checks the dependence on the start: all results of the first run are kept,
// and the message states this.
static bool stop_late(void *user, double done) {
  (void)user;
  return done < 0.75;
}

static void test_interruption_of_the_second_run(void **state) {
  (void)state;
  const char *set[] = {"time=0.5"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", NULL, set, 1);
  const od_observe_options options = {.progress = stop_late, .repeat = true};
  od_observed *o = NULL;
  od_error err = {0};
  assert_int_equal(od_observe(e, &options, &o, &err), OD_INTERRUPTED);
  assert_int_equal(o->steps, 500);
  assert_null(o->shift);
  assert_non_null(strstr(err.text, "second run"));
  assert_non_null(strstr(err.text, "estimates are complete"));
  od_observed_free(o);
  od_experiment_free(e);
}

// --- Correlated sensors -------------------------------------------------------------------------------------------

enum { CORRELATED_RUNS = 30 };

// NEES per parameter and NIS per innovation over runs with random starts.
static void consistency_of(od_experiment *e, double *nees, od_consistency *nis) {
  double sum = 0, squares = 0, dimension = 0;
  e->random_start = true;
  for (int i = 0; i < CORRELATED_RUNS; i++) {
    const od_observe_options options = {.no_table = true};
    od_observed *o = NULL;
    e->seed = (uint64_t)i + 1;
    assert_int_equal(od_observe(e, &options, &o, NULL), OD_OK);
    sum += o->nees;
    squares += o->nis;
    dimension += (double)o->nis_dimension;
    od_observed_free(o);
  }
  *nees = sum / (CORRELATED_RUNS * e->parameters);
  *nis = od_consistency_of(squares, dimension);
}

// The mean product of the normalized innovations of both pressures.
static double innovation_product(const od_observed *o) {
  double sum = 0;
  long count = 0;
  for (long r = 0; r < o->table->rows; r++) {
    const double *in = o->table->data + r * o->table->columns + o->columns.innovation;
    if (isnan(in[2]) || isnan(in[4])) continue;
    sum += in[2] / in[3] * in[4] / in[5];
    count++;
  }
  return sum / (double)count;
}

// Both pressures share most of their noise (such as hum of a supply), and samples are lost. The noise has the requested
// covariance. An observer with this covariance is consistent, by chi-squared intervals, and its innovations are
// uncorrelated; those of an observer without it are correlated.
static void test_correlated_sensors(void **state) {
  static const char lines[] =
      "\nsensor_noise: {of: [P.pressure, A.pressure], matrix: [[0.0225 MPa^2, 0.02 MPa^2], [0.02 MPa^2, 0.0225 MPa^2]]}\n";
  scratch *s = *state;
  FILE *from = fopen(CASE "points-3.experiment.yaml", "r");
  char text[8192], *at;
  size_t size = fread(text, 1, sizeof text - 1, from);
  fclose(from);
  text[size] = 0;
  assert_non_null(at = strstr(text, "machine: machine.yaml"));
  char whole[10000];
  snprintf(whole, sizeof whole, "%.*smachine: " CASE "machine.yaml%s%s", (int)(at - text), text,
           at + strlen("machine: machine.yaml"), lines);
  const char *path = scratch_write(s, "x.yaml", whole, strlen(whole));
  const char *set[] = {"sensors.P.pressure.dropout=10 %"};
  od_experiment *e = load(path, NULL, set, 1);
  // Readings and true values: time, measured (3), then estimate, sigma, true, error of each.
  od_observed *o = observe(e);
  double covariance[4] = {0};
  long count = 0;
  for (long r = 1; r < o->table->rows; r++) {
    const double *row = o->table->data + r * o->table->columns;
    double error[2] = {row[2] - row[o->columns.watched + 4 + 2], row[3] - row[o->columns.watched + 8 + 2]};
    if (isnan(error[0])) continue;
    for (int i = 0; i < 4; i++) covariance[i] += error[i / 2] * error[i % 2];
    count++;
  }
  assert_true(labs(count - 4500) < 110);
  for (int i = 0; i < 4; i++) {
    double wanted = i % 3 == 0 ? 0.0225e12 : 0.02e12,
           spread = sqrt((0.0225 * 0.0225 * 1e24 + wanted * wanted) / (double)count);
    assert_true(fabs(covariance[i] / (double)count - wanted) < 5 * spread);
  }
  double declared, product = innovation_product(o), product_undeclared;
  od_observed_free(o);
  od_consistency nis;
  consistency_of(e, &declared, &nis);
  // From here on without the covariance: the noise stays the same.
  double *R = e->sensor_covariance;
  e->sensor_covariance = NULL;
  o = observe(e);
  product_undeclared = innovation_product(o);
  od_observed_free(o);
  e->sensor_covariance = R;
  print_message(
      "correlated sensors: NEES %.3f, NIS %.4f (%.4f to %.4f), innovations correlated by %.3f; not declared: %.3f\n",
      declared, nis.value, nis.low, nis.high, product, product_undeclared);
  double spread = sqrt(2.0 / (CORRELATED_RUNS * e->parameters));
  assert_true(fabs(declared - 1) < 3 * spread);
  assert_true(nis.value > 1 - 2 * (1 - nis.low) && nis.value < 1 + 2 * (nis.high - 1));
  assert_true(fabs(product) < 5 / sqrt((double)count));
  assert_true(product_undeclared > 0.5);
  od_experiment_free(e);
}

// From this start the estimated pressure B falls into cavitation, where the output is clipped at zero, while the true
// one is 24.5 bar: it must not have a small sigma.
static void test_clipped_output(void **state) {
  (void)state;
  const char *set[] = {"time=0.05"};
  od_experiment *e = load(CASE "points-6.experiment.yaml", NULL, set, 1);
  e->random_start = true;
  e->seed = 900006;
  od_observed *o = observe(e);
  int column = 0, clipped = 0;
  while (strcmp(o->table->name[column], "estimate.B.pressure") != 0) column++;
  for (long i = 0; i < o->table->rows; i++) {
    const double *at = o->table->data + i * o->table->columns + column;  // estimate, sigma, true, error
    clipped += at[0] == 0;
    assert_true(at[1] > 5e5 && fabs(at[3]) < 4 * at[1]);
  }
  assert_true(clipped > 10);
  od_observed_free(o);
  od_experiment_free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_noise_has_its_moments),
      cmocka_unit_test(test_noise_streams_differ),
      cmocka_unit_test(test_three_points),
      cmocka_unit_test(test_three_steep_points),
      cmocka_unit_test(test_six_points),
      cmocka_unit_test(test_same_again),
      cmocka_unit_test(test_forms_agree),
      cmocka_unit_test(test_sensors),
      cmocka_unit_test(test_clipped_output),
      cmocka_unit_test(test_interruption_keeps_rows),
      cmocka_unit_test(test_interruption_of_the_second_run),
      cmocka_unit_test_setup_teardown(test_correlated_sensors, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
