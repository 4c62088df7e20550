// A true machine with process noise: its statistics, its seeds, and that a filter with the same noise is consistent.
//
// Oracles: the covariances of a mass under white acceleration and of a pressure under a random walk, in closed form; the
// chi-squared interval of a consistent filter's innovations; bit comparison.
#include "support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/sample_source.h"
#include "support/experiments.h"
#include "support/scratch.h"

enum { RUNS = 2000, WATCHED = 3 };

// A mass that slides freely, and a closed volume.
static const char machine[] =
    "bodies: {cart: {point: {mass: 2 kg}}}\n"
    "joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}}\n"
    "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
    "volumes: {V: {volume: 1 L}}\n"
    "tanks: {T: {pressure: 1 bar}}\n"
    "leaks: {none: {between: [V, T], slope: 0}}\n"
    "initial: {rail.position: 1 m, rail.rate: 2 m/s, V.pressure: 50 bar}\n";

static od_experiment *experiment_with(scratch *s, const char *rest, const char *set) {
  char text[2048];
  const char *const sets[] = {set};
  const od_experiment_options options = {.set = sets, .set_count = set != NULL};
  scratch_write(s, "machine.yaml", machine, strlen(machine));
  int n = snprintf(text, sizeof text,
                   "machine: machine.yaml\ntime: 0.4 s\nstep: 10 ms\n"
                   "sensors: {rail.position: {sigma: 5 mm}, rail.rate: {sigma: 0.1 m/s}, V.pressure: {sigma: 1 bar}}\n"
                   "initial: {rail.position: 10 mm, rail.rate: 0.1 m/s, V.pressure: 0.5 bar}\n%s",
                   rest);
  return load_experiment(scratch_write(s, "x.yaml", text, (size_t)n), &options);
}

// The true position, rate and pressure at the end, minus their values without noise.
static void run(const od_experiment *e, double error[WATCHED]) {
  const double undisturbed[WATCHED] = {1 + 2 * e->time, 2, 50e5};
  od_sample_source source;
  od_sample sample = {0};
  od_error err = {0};
  bool more = true;
  assert_int_equal(od_sample_source_simulated(e, &source, &err), OD_OK);
  while (more) {
    od_status status = source.next(source.self, &sample, &more, &err);
    if (status != OD_OK) fail_msg("%s", err.text);
  }
  for (int i = 0; i < WATCHED; i++) error[i] = sample.truth[i] - undisturbed[i];
  od_sample_source_free(&source);
}

// Covariances over many seeds; the relative sampling error is up to sqrt(2 / RUNS), 3.2 %.
static void covariances(od_experiment *e, double C[WATCHED][WATCHED]) {
  memset(C, 0, sizeof(double[WATCHED][WATCHED]));
  for (int seed = 1; seed <= RUNS; seed++) {
    double x[WATCHED];
    e->seed = (uint64_t)seed;
    run(e, x);
    for (int i = 0; i < WATCHED; i++)
      for (int j = 0; j < WATCHED; j++) C[i][j] += x[i] * x[j] / RUNS;
  }
}

static void expect_covariances(double C[WATCHED][WATCHED], double want[WATCHED][WATCHED]) {
  for (int i = 0; i < WATCHED; i++)
    for (int j = 0; j < WATCHED; j++) {
      double size = sqrt(want[i][i] * want[j][j]);
      if (!(fabs(C[i][j] - want[i][j]) <= 0.13 * size))
        print_error("[%d][%d]: %g, want %g\n", i, j, C[i][j], want[i][j]);
      assert_true(fabs(C[i][j] - want[i][j]) <= 0.13 * size);
    }
}

// White acceleration: s^2 [T^3/3 T^2/2; T^2/2 T], for any steps. Pressures have a random walk per step.
static void test_acceleration_and_pressures(void **state) {
  od_experiment *e = experiment_with(*state, "truth: {noise: {acceleration: 0.6, pressures: 0.2 bar}}\n", NULL);
  double C[WATCHED][WATCHED], a = 0.36, T = 0.4;
  double want[WATCHED][WATCHED] = {
      {a * T * T * T / 3, a * T * T / 2, 0}, {a * T * T / 2, a * T, 0}, {0, 0, 40 * 0.04e10}};
  covariances(e, C);
  expect_covariances(C, want);
  od_experiment_free(e);
}

// A covariance per step of outputs: after n steps of h the position has accumulated the rate's noise.
static void test_matrix(void **state) {
  od_experiment *e = experiment_with(*state,
                                     "truth:\n"
                                     "  noise:\n"
                                     "    structure: matrix\n"
                                     "    process:\n"
                                     "      of: [rail.rate, rail.position]\n"
                                     "      matrix: [[4e-4, 6e-6], [6e-6, 1e-6]]\n",
                                     NULL);
  double C[WATCHED][WATCHED], want[WATCHED][WATCHED] = {{0}};
  const double h = 0.01;
  for (int k = 0; k < 40; k++) {  // F P F' + Q with F = [1 h; 0 1]
    double p00 = want[0][0] + 2 * h * want[0][1] + h * h * want[1][1], p01 = want[0][1] + h * want[1][1];
    want[0][0] = p00 + 1e-6;
    want[0][1] = want[1][0] = p01 + 6e-6;
    want[1][1] += 4e-4;
  }
  covariances(e, C);
  expect_covariances(C, want);
  od_experiment_free(e);
}

// Without the section there is no noise; the same seed gives the same bits, another seed others; --set can change it.
static void test_seeds(void **state) {
  double a[WATCHED], b[WATCHED];
  od_experiment *e = experiment_with(*state, "", NULL);
  assert_false(e->disturbed);
  run(e, a);
  assert_true(fabs(a[0]) < 1e-12 && fabs(a[1]) < 1e-12 && fabs(a[2]) < 1e-6);
  od_experiment_free(e);
  e = experiment_with(*state, "truth: {noise: {acceleration: 0.6}}\n", NULL);
  run(e, a);
  run(e, b);
  assert_memory_equal(a, b, sizeof a);
  e->seed = 2;
  run(e, b);
  assert_true(a[0] != b[0] && a[1] != b[1] && a[2] == b[2]);
  od_experiment_free(e);
  e = experiment_with(*state, "truth: {noise: {acceleration: 0.6}}\n", "truth.noise.acceleration=1.2");
  run(e, b);
  assert_true(fabs(b[0] / a[0] - 2) < 1e-9);
  od_experiment_free(e);
}

#define SAME "noise: {acceleration: 0.6, pressures: 0.2 bar}\ntruth: {noise: same}\n"

// A filter with the correct noise is consistent: innovations and errors agree with its covariances.
static void test_same_noise(void **state) {
  od_experiment *e = experiment_with(*state, SAME, NULL);
  e->time = 4;
  double nis = 0, dimension = 0, covered = 0, values = 0;
  for (int seed = 1; seed <= 40; seed++) {
    e->seed = (uint64_t)seed;
    od_observed *o = observe(e);
    nis += o->nis;
    dimension += (double)o->nis_dimension;
    for (long k = 1; k < o->table->rows; k++)
      for (int i = 0; i < WATCHED; i++) {
        const double *at = o->table->data + k * o->table->columns + o->columns.watched + o->columns.per_watched * i;
        covered += fabs(at[3]) <= 1.959964 * at[1];
        values++;
      }
    od_observed_free(o);
  }
  od_consistency c = od_consistency_of(nis, dimension);
  print_message("NIS per dimension %.4f (%.4f to %.4f), %.2f %% within 95 %%\n", c.value, c.low, c.high,
                100 * covered / values);
  // The start is exact here, but declared as uncertain: a few innovations at the start are smaller than expected.
  assert_true(c.value > 0.98 && c.value < 1.02);
  assert_true(fabs(covered / values - 0.95) < 0.02);
  // Without the noise the filter's standard deviations are too small.
  e->truth_noise.acceleration = 6;
  od_observed *o = observe(e);
  assert_true(od_observed_nis(o).value > 1.5);
  od_observed_free(o);
  od_experiment_free(e);
}

// A sensor that drifts, and a bias with the random walk of the reference: the filter is consistent for both.
static void test_drift_and_bias(void **state) {
  od_experiment *e = experiment_with(*state,
                                     SAME
                                     "parameters:\n"
                                     "  sensors.rail.position.bias: {sigma: 1e-6 m, noise: 3 mm}\n",
                                     NULL);
  e->time = 2;
  e->sensor[0].drift = 0.03;  // 3 mm in a step of 10 ms
  double nis = 0, dimension = 0;
  for (int seed = 1; seed <= 40; seed++) {
    e->seed = (uint64_t)seed;
    od_observed *o = observe(e);
    nis += o->nis;
    dimension += (double)o->nis_dimension;
    od_observed_free(o);
  }
  print_message("with drift: NIS per dimension %.4f\n", nis / dimension);
  assert_true(nis / dimension > 0.96 && nis / dimension < 1.04);
  e->parameter[0].noise = 0.1e-3;
  od_observed *o = observe(e);
  assert_true(od_observed_nis(o).value > 1.1);
  od_observed_free(o);
  od_experiment_free(e);
}

// The same description as a matrix gives the same truth as the filter's section does.
static void test_same_matrix(void **state) {
  static const char matrix[] =
      "noise:\n"
      "  structure: matrix\n"
      "  process: {of: [rail.rate, rail.position, V.pressure], matrix: [[4e-4, 6e-6, 0], [6e-6, 1e-6, 0], [0, 0, 1e8]]}\n";
  char text[512];
  double a[WATCHED], b[WATCHED];
  snprintf(text, sizeof text, "%struth: {noise: same}\n", matrix);
  od_experiment *e = experiment_with(*state, text, NULL);
  run(e, a);
  assert_int_equal(e->truth_noise.process.count, 3);
  od_experiment_free(e);
  snprintf(
      text, sizeof text,
      "truth: {noise: {structure: matrix, process: {of: [rail.rate, rail.position, V.pressure], matrix: [[4e-4, 6e-6, 0], "
      "[6e-6, 1e-6, 0], [0, 0, 1e8]]}}}\n");
  e = experiment_with(*state, text, NULL);
  run(e, b);
  assert_memory_equal(a, b, sizeof a);
  od_experiment_free(e);
}

typedef struct job {
  od_experiment e;
  double x[WATCHED];
} job;

static void *work(void *arg) {
  job *j = arg;
  run(&j->e, j->x);
  return NULL;
}

static void test_threads(void **state) {
  enum { JOBS = 6 };
  od_experiment *e = experiment_with(*state, SAME, NULL);
  job jobs[JOBS];
  pthread_t thread[JOBS];
  for (int i = 0; i < JOBS; i++) {
    jobs[i].e = *e;
    jobs[i].e.seed = (uint64_t)i + 1;
  }
  for (int i = 0; i < JOBS; i++) assert_int_equal(pthread_create(&thread[i], NULL, work, &jobs[i]), 0);
  for (int i = 0; i < JOBS; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < JOBS; i++) {
    double x[WATCHED];
    run(&jobs[i].e, x);
    assert_memory_equal(x, jobs[i].x, sizeof x);
  }
  od_experiment_free(e);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_acceleration_and_pressures),
      TEST(test_matrix),
      TEST(test_seeds),
      TEST(test_same_noise),
      TEST(test_drift_and_bias),
      TEST(test_same_matrix),
      TEST(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
