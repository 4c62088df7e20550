// The toolbox benchmark of observers on a four-bar (cases/fourbar-observer). Oracles: reference values of an independent program that does
// the same in natural coordinates over 100 seeds: discrete EKF with a gyro 0.0286 rad, with F = [1 h; 0 1] 0.0481 rad, with an encoder
// 0.0051 rad; and the toolbox's own error with force estimation, 0.0068 rad. This test uses few held-out seeds; the study
// toolbox-study.yaml has all of them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/experiments.h"

#define CASE OD_SOURCE_DIR "/cases/fourbar-observer/"
enum { SEEDS = 12 };

typedef struct figures {
  double angle, rate, angle_held, rate_held;  // mean over the seeds
} figures;

static double column(const od_observed *o, const char *what, const char *name, long row) {
  char label[100];
  snprintf(label, sizeof label, "%s.%s", what, name);
  for (int i = 0; i < o->table->columns; i++)
    if (strcmp(o->table->name[i], label) == 0) return o->table->data[row * o->table->columns + i];
  fail_msg("there is no column %s", label);
  return NAN;
}

// Over the samples after the start.
static void judge(const od_observed *o, const char *name, double *rms, double *held) {
  double squares = 0, inside = 0;
  for (long row = 1; row < o->table->rows; row++) {
    double error = column(o, "error", name, row);
    squares += error * error;
    inside += fabs(error) <= 1.96 * column(o, "sigma", name, row);
  }
  *rms += sqrt(squares / (double)(o->table->rows - 1)) / SEEDS;
  *held += inside / (double)(o->table->rows - 1) / SEEDS;
}

static figures run(const char *file, const char *variant, bool random_start) {
  const od_experiment_options options = {.variant = variant};
  od_experiment *e = load_experiment(file, &options);
  figures f = {0};
  e->random_start = random_start;
  for (int i = 0; i < SEEDS; i++) {
    e->seed = (uint64_t)(2001 + i);
    od_observed *o = observe(e);
    judge(o, "A.angle", &f.angle, &f.angle_held);
    judge(o, "A.rate", &f.rate, &f.rate_held);
    od_observed_free(o);
  }
  od_experiment_free(e);
  print_message("%-12s %.5f rad %.5f rad/s, held %.3f %.3f\n", variant ? variant : "", f.angle, f.rate, f.angle_held,
                f.rate_held);
  return f;
}

static bool right(double held) {
  return held > 0.92 && held < 0.98;
}

static void reference_values(void **state) {
  (void)state;
  figures ekf = run(CASE "gyro.experiment.yaml", NULL, false);
  near_relative(ekf.angle, 0.0286, 0.05);
  near_relative(ekf.rate, 0.0184, 0.05);
  figures error_state = run(CASE "gyro.experiment.yaml", "error-state", false);
  near_relative(error_state.angle, 0.0481, 0.05);
  near_relative(error_state.rate, 0.0269, 0.05);
  figures encoder = run(CASE "encoder.experiment.yaml", NULL, false);
  near_relative(encoder.angle, 0.0051, 0.05);
  near_relative(encoder.rate, 0.055, 0.05);
}

static void forces_and_biases(void **state) {
  (void)state;
  figures force = run(CASE "gyro.experiment.yaml", "force", false);
  assert_true(force.angle < 0.0068 && right(force.angle_held) && right(force.rate_held));
  figures bias = run(CASE "gyro.experiment.yaml", "bias", false);
  assert_true(bias.angle < 0.0068 && right(bias.angle_held) && right(bias.rate_held));
}

// A crank that turns fully, through the dead points.
static void dead_points(void **state) {
  (void)state;
  figures spinning = run(CASE "spinning.experiment.yaml", NULL, true);
  assert_true(spinning.angle < 0.002 && right(spinning.angle_held) && right(spinning.rate_held));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reference_values), cmocka_unit_test(forces_and_biases),
                                     cmocka_unit_test(dead_points)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
