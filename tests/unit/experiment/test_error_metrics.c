// Metrics of a file. Oracle: each is computed again from the rows of the run. Also the messages for wrong metrics.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/experiments.h"
#include "support/scratch.h"

static const char experiment[] =
    "machine: " OD_SOURCE_DIR
    "/cases/fourbar-observer/spring.yaml\ntime: 1 s\nstep: 5 ms\n"
    "truth: {}\nmodel: {set: {initial.spring.length: 1.82 m}}\n"
    "sensors: {A.angle: {sigma: 0.02 rad}}\ninitial: {A.angle: 0.1 rad, A.rate: 0.5 rad/s}\n"
    "noise: {acceleration: 0.1}\nmetrics:\n";

static od_observed *run(scratch *s, const char *metrics, od_experiment **e) {
  char text[4000];
  snprintf(text, sizeof text, "%s%s", experiment, metrics);
  *e = load_experiment(scratch_write(s, "x.yaml", text, strlen(text)), NULL);
  return observe(*e);
}

// The error of an output in row k, and its sigma.
static int watched(const od_experiment *e, const char *name) {
  for (int i = 0; i < e->watches; i++)
    if (strcmp(e->watched[i].name, name) == 0) return i;
  fail_msg("%s is not watched", name);
  return -1;
}
static double cell(const od_observed *o, long row, int output, int which) {
  return o->table->data[row * o->table->columns + o->columns.watched + o->columns.per_watched * output + which];
}

static void metrics_are_what_rows_say(void **state) {
  od_experiment *e;
  od_observed *o =
      run(*state,
          "  e: {norm: crank.end.x, points: 101}\n  all: {rms: [crank.end.x, crank.end.y], from: 0.2 s, to: 0.8 s}\n"
          "  bias: {mean: A.angle}\n  most: {max: A.rate}\n  last: {final: A.rate}\n"
          "  held: {coverage: A.angle}\n  nees: {nees: A.angle}\n  both: {nees: [A.angle, A.rate], points: 11}\n",
          &e);
  int x = watched(e, "crank.end.x"), y = watched(e, "crank.end.y"), angle = watched(e, "A.angle"),
      rate = watched(e, "A.rate");
  double norm = 0, square = 0, mean = 0, most = 0, held = 0, nees = 0;
  long n = o->table->rows, inside = 0;
  assert_int_equal(n, 201);
  for (long k = 0; k < n; k++) {
    double t = o->table->data[k * o->table->columns];
    if (k % 2 == 0) norm += pow(cell(o, k, x, 3), 2);
    if (t > 0.2 - 1e-9 && t < 0.8 + 1e-9) {
      square += pow(cell(o, k, x, 3), 2) + pow(cell(o, k, y, 3), 2);
      inside += 2;
    }
    mean += cell(o, k, angle, 3) / (double)n;
    most = fmax(most, fabs(cell(o, k, rate, 3)));
    held += fabs(cell(o, k, angle, 3)) <= 1.959963984540054 * cell(o, k, angle, 1);
    nees += pow(cell(o, k, angle, 3) / cell(o, k, angle, 1), 2) / (double)n;
  }
  assert_int_equal(inside, 242);
  near_relative(o->metric[0], sqrt(norm), 1e-9);
  near_relative(o->metric[1], sqrt(square / (double)inside), 1e-9);
  near_relative(o->metric[2], mean, 1e-9);
  near_relative(o->metric[3], most, 1e-9);
  near_relative(o->metric[4], fabs(cell(o, n - 1, rate, 3)), 1e-9);
  near_relative(o->metric[5], held / (double)n, 1e-9);
  near_relative(o->metric[6], nees, 1e-9);
  // Two outputs: between those of a chi-squared per dimension; and never NAN.
  assert_true(o->metric[7] > 0.01 && o->metric[7] < 20);
  od_observed_free(o);
  od_experiment_free(e);
}

// At the start the covariance is that of the file, so that the NEES of both outputs is known there.
static void nees_of_several_outputs(void **state) {
  od_experiment *e;
  od_observed *o = run(*state, "  both: {nees: [A.angle, A.rate], to: 1 ms}\n", &e);
  int angle = watched(e, "A.angle"), rate = watched(e, "A.rate");
  near_relative(o->metric[0], (pow(cell(o, 0, angle, 3) / 0.1, 2) + pow(cell(o, 0, rate, 3) / 0.5, 2)) / 2, 1e-9);
  assert_true(o->metric[0] > 0.01);
  od_observed_free(o);
  od_experiment_free(e);
}

static void mistakes(void **state) {
  scratch *s = *state;
  char text[4000], said[4000] = "";
  snprintf(
      text, sizeof text, "%s%s", experiment,
      "  a: {norm: crank.end.xx}\n  b: {rms: [A.angle, A.rate]}\n  c: {points: 3}\n"
      "  d: {rms: A.angle, max: A.angle}\n  e: {rms: A.angle, points: 2.5}\n  f: {rms: A.angle, from: 2 s, to: 1 s}\n"
      "  g: {rsm: A.angle}\n  h: {rms: []}\n");
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  assert_int_equal(od_experiment_load(scratch_write(s, "x.yaml", text, strlen(text)), NULL, &e, messages),
                   OD_BAD_INPUT);
  for (int i = 0; i < od_messages_count(messages); i++)
    snprintf(said + strlen(said), sizeof said - strlen(said), "%d: %s\n", od_messages_get(messages, i)->line,
             od_messages_get(messages, i)->text);
  od_messages_free(messages);
  assert_string_equal(
      said,
      "10: there is no output 'crank.end.xx'; did you mean 'crank.end.x'?\n"
      "11: 'A.rate' is in rad/s, but the metric 'b' has outputs in rad; expected outputs with the same unit\n"
      "12: the metric 'c' has no kind; expected 'norm', 'rms', 'mean', 'max', 'final', 'sigma', 'coverage', 'within_3_sigma' or 'nees'\n"
      "13: the metric 'd' has two kinds, 'rms' and 'max'; expected one kind per metric\n"
      "14: points is 2.5 but must be a whole number from 1 to 1000000000\n"
      "15: 'to' is 1 s; expected a time later than 'from', 2 s\n"
      "16: the metric 'g' has no kind; expected 'norm', 'rms', 'mean', 'max', 'final', 'sigma', 'coverage', 'within_3_sigma' or 'nees'\n"
      "16: unknown key 'rsm' in the metric 'g'; did you mean 'rms'?\n"
      "17: the metric has no outputs; expected at least one output\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(metrics_are_what_rows_say, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(nees_of_several_outputs, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(mistakes, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
