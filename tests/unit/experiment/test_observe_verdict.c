// Verdicts of observers: correct ones are sound, wrong ones are not, and the first listed cause is the simulated one.
// Oracle: logs from simulated machines with exactly one fault.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/observe.h"
#include "support/experiments.h"
#include "support/scratch.h"

#define CASE OD_SOURCE_DIR "/cases/fourbar-valve/"

// A valve-controlled servo whose target jumps.
static const char servo[] =
    "machine: Position servo\n"
    "bodies: {load: {point: {mass: 500 kg}, points: {eye: [0, 0]}}}\n"
    "ground: {points: {base: [-1.0 m, 0]}}\n"
    "joints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
    "oil: {density: 870 kg/m^3, law: constant, modulus: 0.95 GPa}\n"
    "volumes: {A: {volume: 0.15 L}, B: {volume: 0.15 L}}\n"
    "tanks: {T: {pressure: 1 bar}}\n"
    "sources: {P: {pressure: 152 bar}}\n"
    "inputs: {target: {unit: m, prbs: {low: -25 mm, high: 25 mm, bit: 0.1 s, seed: 3, order: 5}}}\n"
    "blocks:\n"
    "  error: {type: sum, inputs: [target, rail.position], weights: [1, -1]}\n"
    "  control: {type: gain, input: error, unit: V, gain: 150 V/m}\n"
    "valves:\n"
    "  valve: {command: control, time_constant: 8 ms, stroke: 10 V, area: 20 mm^2, discharge: 0.6, ports: {\n"
    "    pa: {between: [P, A], side: positive, curve: linear}, bt: {between: [B, T], side: positive, curve: linear},\n"
    "    pb: {between: [P, B], side: negative, curve: linear}, at: {between: [A, T], side: negative, curve: linear}}}\n"
    "cylinders:\n"
    "  ram: {between: [ground.base, load.eye], chambers: [A, B], bore: 63 mm, rod: 36 mm, closed: 0.85 m,\n"
    "    stroke: 0.3 m, friction: {law: coulomb, Fc: 300 N, vs: 10 mm/s, viscous: 800 N s/m}}\n"
    "initial: {rail.position: 0 mm, A.pressure: 53 bar, B.pressure: 80 bar}\n";
static const char experiment[] =
    "machine: m.yaml\n%s"
    "sensors: {rail.position: {sigma: 0.02 mm}, A.pressure: {sigma: 0.3 bar}, B.pressure: {sigma: 0.3 bar}}\n"
    "initial: {rail.position: 0.1 mm, rail.rate: 1 mm/s, A.pressure: 1 bar, B.pressure: 1 bar}\n"
    "noise: {pressures: 100 Pa, acceleration: 1e-3}\n"
    "parameters: {P.pressure: {sigma: 20 bar}, oil.modulus: {sigma: 0.3 GPa}}\n";

// Steps short enough not to shift estimates; few rows, because a diagnosis has hundreds of runs.
static const char fine[] = "time: 0.5 s\nstep: 0.1 ms\n", coarse[] = "time: 0.3 s\nstep: 0.4 ms\n";

static od_experiment *load(const char *path, const char *data, const char *const *set, int count) {
  return load_experiment(path,
                         &(od_experiment_options){.set = set, .set_count = count, .log.data = {&data, data != NULL}});
}

static od_observed *observe_and_diagnose(const od_experiment *e) {
  od_observed *o = NULL;
  od_error err = {0};
  assert_int_equal(od_observe(e, &(od_observe_options){.no_table = true, .diagnose = true}, &o, &err), OD_OK);
  return o;
}

// Writes machine, experiment with `more`, and a log of the simulated run without units. Returns its observation after
// `damage`. Searches for causes if `diagnose`.
static od_observed *observe_damaged(scratch *s, const char *more, void (*damage)(od_table *t), bool diagnose,
                                    od_experiment **e) {
  char path[600], text[4000];
  od_error err = {0};
  scratch_write(s, "m.yaml", servo, strlen(servo));
  int length = snprintf(text, sizeof text, experiment, diagnose ? coarse : fine);
  strcpy(path, scratch_write(s, "e.yaml", text, (size_t)length));
  od_experiment *simulated = load(path, NULL, NULL, 0);
  od_observed *run = observe(simulated);
  if (damage) damage(run->table);
  char log[600];
  strcpy(log, scratch_path(s, "run.csv"));
  assert_int_equal(od_table_write_csv(run->table, log, &err), OD_OK);
  od_observed_free(run);
  od_experiment_free(simulated);
  strcat(text, more);
  *e = load(scratch_write(s, "l.yaml", text, strlen(text)), log, NULL, 0);
  return diagnose ? observe_and_diagnose(*e) : observe(*e);
}

static od_observed *observe_log(scratch *s, const char *more, void (*damage)(od_table *t), od_experiment **e) {
  return observe_damaged(s, more, damage, false, e);
}

static void print(const od_observed *o) {
  print_message("verdict: %s\n", od_trust_text(o->verdict.trust));
  for (int i = 0; i < o->verdict.count; i++)
    print_message("  %s: %s %s\n", o->verdict.remark[i].code, o->verdict.remark[i].lead, o->verdict.remark[i].text);
}

static const char *first_cause(const od_observed *o) {
  for (int i = 0; i < o->verdict.count; i++)
    if (!strncmp(o->verdict.remark[i].code, "cause.", 6)) return o->verdict.remark[i].code;
  return "none";
}

static void done(od_experiment *e, od_observed *o) {
  od_observed_free(o);
  od_experiment_free(e);
}

// --- Consistent filters -------------------------------------------------------------------------------------------

// Random starts; the rate over many more is in docs/theory.md. A table has no effect.
static void test_right_filters_are_trusted(void **state) {
  (void)state;
  const char *set[] = {"time=2"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", NULL, set, 1);
  int blamed = 0;
  e->random_start = true;
  for (e->seed = 7001; e->seed <= 7008; e->seed++) {
    od_observed *o = NULL;
    od_error err = {0};
    assert_int_equal(od_observe(e, &(od_observe_options){.no_table = true}, &o, &err), OD_OK);
    blamed += o->verdict.trust != OD_SOUND;
    if (o->verdict.trust != OD_SOUND) print(o);
    if (o->verdict.trust == OD_SOUND) assert_true(od_verdict_has(&o->verdict, "nis"));
    od_observed_free(o);
  }
  assert_true(blamed <= 1);
  od_experiment_free(e);
}

static void test_right_log(void **state) {
  od_experiment *e;
  od_observed *o = observe_log(*state, "data: {hold: previous}\n", NULL, &e);
  print(o);
  assert_int_equal(o->verdict.trust, OD_SOUND);
  done(e, o);
}

// --- Inconsistent filters -----------------------------------------------------------------------------------------

// From 800 MPa +- 100 the modulus ends far from the true 1600, while NIS is inside its interval.
static void test_wrong_start(void **state) {
  (void)state;
  const char *set[] = {"parameters.oil.kp.start=800 MPa"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", NULL, set, 1);
  od_experiment_use_filter(e, od_filter_find("iterated-ekf"));
  for (e->seed = 1; e->seed <= 2; e->seed++) {
    od_observed *o = observe(e);
    assert_int_equal(o->verdict.trust, OD_DOUBTFUL);
    assert_true(od_verdict_has(&o->verdict, "innovations.mean") && od_verdict_has(&o->verdict, "innovations.white"));
    assert_true(od_verdict_has(&o->verdict, "parameter.moved") || od_verdict_has(&o->verdict, "parameter.start"));
    od_observed_free(o);
  }
  od_experiment_free(e);
}

static od_observed *observe_twice(const od_experiment *e) {
  od_observed *o = NULL;
  od_error err = {0};
  assert_int_equal(od_observe(e, &(od_observe_options){.no_table = true, .repeat = true}, &o, &err), OD_OK);
  assert_non_null(o->shift);
  return o;
}

// From 800 MPa with a realistic sigma the modulus is several sigmas off, and the innovations do not show this.
static void test_dependence_on_the_start(void **state) {
  (void)state;
  const char *set[] = {"parameters.oil.kp.start=800 MPa", "parameters.oil.kp.sigma=800 MPa"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", NULL, set, 2);
  od_experiment_use_filter(e, od_filter_find("iterated-ekf"));
  od_observed *o = observe_twice(e);
  print(o);
  assert_true(fabs(o->estimate[0] - e->parameter[0].truth) > 4 * o->sigma[0]);
  assert_true(od_verdict_has(&o->verdict, "start.matters"));
  done(e, o);
  // From a closer start with a smaller sigma the estimate is correct.
  e = load(CASE "points-3.experiment.yaml", NULL, NULL, 0);
  o = observe_twice(e);
  assert_true(fabs(o->estimate[0] - e->parameter[0].truth) < 3 * o->sigma[0]);
  assert_int_equal(o->verdict.trust, OD_SOUND);
  done(e, o);
}

// A bias is additive: the filter is linear in it, and a second start has only the effect of the start's own
// information, which is large here: one sigma of the start is five of the end.
static void test_what_a_start_is_worth(void **state) {
  static const char file[] = "machine: " CASE
                             "machine.yaml\ntime: 0.2 s\nstep: 1 ms\n"
                             "sensors: {cylinder.length: {sigma: 0.1 mm}, P.pressure: {sigma: 10 bar, bias: 3 bar}}\n"
                             "parameters: {sensors.P.pressure.bias: {sigma: 3 bar}}\n";
  od_experiment *e = load(scratch_write(*state, "e.yaml", file, strlen(file)), NULL, NULL, 0);
  od_observed *o = observe_twice(e);
  print_message("bias %.4g +- %.2g, shift %.2g\n", o->estimate[0], o->sigma[0], o->shift[0]);
  assert_true(o->sigma[0] > 0.15 * e->parameter[0].sigma && fabs(o->estimate[0]) > o->sigma[0]);
  assert_true(fabs(o->shift[0]) < 0.01);
  done(e, o);
}

// --- Drifting parameters ------------------------------------------------------------------------------------------

// Two carts on springs and a sensor whose zero drifts: the problem is linear, so the filter is the optimal Kalman
// filter.
static od_experiment *load_carts(scratch *s, const char *parameter) {
  static const char machine[] =
      "machine: two carts\ngravity: [0, 0]\nbodies: {a: {mass: 2 kg}, b: {mass: 3 kg}}\n"
      "inputs: {F: {unit: N, sine: {amplitude: 5 N, frequency: 0.7 Hz}}}\n"
      "joints:\n"
      "  ja: {type: prismatic, between: [ground, a], axis: [1, 0, 0], stiffness: 50 N/m, damping: 0.8 N s/m}\n"
      "  jb: {type: prismatic, between: [a, b], axis: [1, 0, 0], stiffness: 30 N/m, damping: 0.5 N s/m}\n"
      "forces: {push: {at: a, value: F, direction: [1, 0, 0]}}\n"
      "initial: {ja.position: 0 m, jb.position: 0 m}\n";
  char text[1500];
  snprintf(text, sizeof text,
           "machine: carts.yaml\ntime: 5 s\nstep: 10 ms\ntruth: {noise: same}\n"
           "sensors: {ja.position: {sigma: 5 mm}, jb.position: {sigma: 5 mm, drift: 10 mm}}\n"
           "initial: {ja.position: 10 mm, jb.position: 10 mm, ja.rate: 10 mm/s, jb.rate: 10 mm/s}\n"
           "noise: {acceleration: 0.05}\nfilter: ekf\nparameters: {sensors.jb.position.bias: %s}\n",
           parameter);
  scratch_write(s, "carts.yaml", machine, strlen(machine));
  return load(scratch_write(s, "carts.experiment.yaml", text, strlen(text)), NULL, NULL, 0);
}

// The result of a linear filter depends on its start as expected, even if most of the start's information remains
// (little noise). The true bias is that at the end: over many seeds NEES is chi-squared with one degree of freedom
// each.
static void test_drifting_bias(void **state) {
  static const char *const parameters[] = {"{sigma: 1 mm, noise: 1 mm}", "{sigma: 30 mm, noise: 1 mm}",
                                           "{sigma: 30 mm, noise: 1 um}", "{sigma: 1 mm, noise: 0.1 nm}"};
  enum { SEEDS = 24 };
  for (int k = 0; k < 4; k++) {
    od_experiment *e = load_carts(*state, parameters[k]);
    double nees = 0;
    for (e->seed = 1; e->seed <= SEEDS; e->seed++) {
      od_observed *o = observe_twice(e);
      assert_true(fabs(o->shift[0]) < 1e-6);
      assert_false(od_verdict_has(&o->verdict, "start.matters"));
      nees += o->nees;
      od_observed_free(o);
    }
    print_message("%s: NEES %.3g\n", parameters[k], nees / SEEDS);
    // 0.1 % and 99.9 % of chi-squared with 24 degrees of freedom.
    if (k < 2) assert_true(nees > 9 && nees < 51.2);
    od_experiment_free(e);
  }
}

// Words and numbers agree: "consistent" is printed if and only if the value is inside the printed interval, for runs of
// all lengths.
static void test_words_agree_with_intervals(void **state) {
  od_experiment *e = load_carts(*state, "{sigma: 1 mm, noise: 1 mm}");
  int inside = 0, outside = 0;
  for (e->seed = 1; e->seed <= 120; e->seed++) {
    od_observed *o = NULL;
    od_error err = {0};
    e->time = 0.2 + 0.01 * (double)e->seed;
    assert_int_equal(od_observe(e, &(od_observe_options){.no_table = true}, &o, &err), OD_OK);
    od_consistency nis = od_observed_nis(o);
    bool within = nis.value >= nis.low && nis.value <= nis.high;
    for (int i = 0; i < o->verdict.count; i++)
      if (!strcmp(o->verdict.remark[i].code, "nis")) {
        assert_int_equal(!strcmp(o->verdict.remark[i].lead, "Consistent:"), within);
        inside += within, outside += !within;
      }
    od_observed_free(o);
  }
  print_message("%d inside, %d outside\n", inside, outside);
  assert_true(inside > 90 && outside > 1);
  od_experiment_free(e);
}

static void only_one_row(od_table *t) {
  t->rows = 1;
}
static void only_two_rows(od_table *t) {
  t->rows = 2;
}
static void test_few_samples_decide_nothing(void **state) {
  for (int k = 0; k < 2; k++) {
    od_experiment *e;
    od_observed *o = observe_log(*state, "data: {hold: previous}\n", k ? only_two_rows : only_one_row, &e);
    assert_int_equal(o->verdict.trust, OD_DOUBTFUL);
    assert_true(od_verdict_has(&o->verdict, k ? "samples.few" : "samples.none"));
    done(e, o);
  }
}

// A start that contradicts the data, ten standard deviations away.
static void test_contradicted_start(void **state) {
  (void)state;
  const char *set[] = {"parameters.valve.ports.a.curve.points[1].sigma=1"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", NULL, set, 1);
  od_observed *o = observe_and_diagnose(e);
  print(o);
  assert_true(od_verdict_has(&o->verdict, "parameter.start"));
  assert_string_equal(first_cause(o), "cause.prior");
  done(e, o);
}

static void test_bound(void **state) {
  (void)state;
  od_experiment *e = load(CASE "points-3.experiment.yaml", NULL, NULL, 0);
  e->parameter[0].high = 1520e6;
  od_observed *o = observe(e);
  print(o);
  assert_true(od_verdict_has(&o->verdict, "parameter.bound"));
  done(e, o);
}

static void test_too_large_noise_is_no_harm(void **state) {
  od_experiment *e;
  od_observed *o = observe_log(*state, "data: {hold: previous}\n", NULL, &e);
  for (int i = 0; i < e->sensors; i++) e->sensor[i].sigma *= 2;
  od_observed_free(o);
  o = observe(e);
  assert_true(od_verdict_has(&o->verdict, "nis.small"));
  assert_int_equal(o->verdict.trust, OD_SOUND);
  done(e, o);
}

// --- Causes -------------------------------------------------------------------------------------------------------

static void expect_cause(scratch *s, const char *more, void (*damage)(od_table *t), od_trust least, const char *cause) {
  od_experiment *e;
  od_observed *o = observe_damaged(s, more, damage, true, &e);
  print(o);
  assert_true(o->verdict.trust >= least);
  assert_string_equal(first_cause(o), cause);
  done(e, o);
}

static int column(const od_table *t, const char *name) {
  int c = 0;
  while (strcmp(t->name[c], name) != 0) c++;
  return c;
}

static void test_input_that_jumps(void **state) {
  expect_cause(*state, "", NULL, OD_DOUBTFUL, "cause.hold");
}

static void test_small_sigma(void **state) {
  od_experiment *e;
  od_observed *o = observe_damaged(*state, "data: {hold: previous}\n", NULL, true, &e);
  assert_string_equal(first_cause(o), "none");
  od_observed_free(o);
  e->sensor[1].sigma /= 2;
  o = observe_and_diagnose(e);
  print(o);
  assert_int_equal(o->verdict.trust, OD_DOUBTFUL);
  assert_string_equal(first_cause(o), "cause.noise");
  done(e, o);
}

// Pressures in bar where Pa is expected, and vice versa.
static void in_other_units(od_table *t, double factor) {
  int c = column(t, "measured.A.pressure");
  for (long i = 0; i < t->rows; i++) t->data[i * t->columns + c] *= factor;
}
static void too_small(od_table *t) {
  in_other_units(t, 1e-5);
}
static void negative(od_table *t) {
  in_other_units(t, -1);
}
static void test_units(void **state) {
  expect_cause(*state, "data: {hold: previous}\n", too_small, OD_UNSOUND, "cause.unit");
  expect_cause(*state, "data: {hold: previous}\n", negative, OD_UNSOUND, "cause.sign");
}

// A logger that stopped for 160 ms, in which the target jumped.
static void asleep(od_table *t) {
  long from = 200, rows = 400;
  size_t row = (size_t)t->columns * sizeof *t->data;
  memmove(t->data + from * t->columns, t->data + (from + rows) * t->columns, (size_t)(t->rows - from - rows) * row);
  t->rows -= rows;
}
static void test_pause(void **state) {
  expect_cause(*state, "data: {hold: previous}\n", asleep, OD_DOUBTFUL, "cause.pause");
}

// The input ten rows late.
static void late(od_table *t) {
  int c = column(t, "input.target");
  for (long i = t->rows - 1; i >= 10; i--) t->data[i * t->columns + c] = t->data[(i - 10) * t->columns + c];
}
static void test_late_input(void **state) {
  expect_cause(*state, "data: {hold: previous}\n", late, OD_DOUBTFUL, "cause.delay");
}

// A few outliers make NIS large, but do not invalidate the whole result.
static void wild(od_table *t) {
  int c = column(t, "measured.A.pressure");
  for (long i = 100; i < t->rows; i += 100) t->data[i * t->columns + c] += 50e5;
}
static void test_outliers_are_not_beyond_doubt(void **state) {
  od_experiment *e;
  od_observed *o = observe_damaged(*state, "data: {hold: previous}\n", wild, true, &e);
  print(o);
  assert_int_equal(o->verdict.trust, OD_DOUBTFUL);
  assert_string_equal(first_cause(o), "cause.outliers");
  done(e, o);
}

// Pressures that are wrong by 50 bar in most of the run, but not in its last quarter: the numbers are no estimates, although the innovations at the
// end are small.
static void wild_before_the_end(od_table *t) {
  const int A = column(t, "measured.A.pressure"), B = column(t, "measured.B.pressure");
  for (long i = 0; i < t->rows - t->rows * 2 / 5; i++) {
    double *row = t->data + i * t->columns;
    row[A] += i % 2 ? 50e5 : -50e5, row[B] += i % 2 ? -50e5 : 50e5;
  }
}
static void test_wild_run(void **state) {
  od_experiment *e;
  od_observed *o = observe_log(*state, "data: {hold: previous}\n", wild_before_the_end, &e);
  print(o);
  assert_int_equal(o->verdict.trust, OD_UNSOUND);
  assert_string_equal(o->verdict.remark[0].code, "nis.hopeless");
  assert_non_null(strstr(o->verdict.remark[0].text, "over the run"));
  done(e, o);
}

// A sensor with an error only at the end. The table of sensors has means over the whole run: the text names the part of the run for
// its number.
static void late_offset(od_table *t) {
  int c = column(t, "measured.A.pressure");
  for (long i = t->rows - t->rows / 8; i < t->rows; i++) t->data[i * t->columns + c] += 5e5;
}
static void test_mean_of_the_last_quarter(void **state) {
  od_experiment *e;
  od_observed *o = observe_log(*state, "data: {hold: previous}\n", late_offset, &e);
  char expected[100];
  const od_verdict *v = &o->verdict;
  print(o);
  assert_true(fabs(o->innovations[1].last.mean) > 2 * fabs(o->innovations[1].run.mean));
  snprintf(expected, sizeof expected, "A.pressure by %.2g (in the last quarter)", o->innovations[1].last.mean);
  int at = 0;
  while (at < v->count && strcmp(v->remark[at].code, "innovations.mean") != 0) at++;
  assert_true(at < v->count);
  assert_non_null(strstr(v->remark[at].text, expected));
  done(e, o);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_right_filters_are_trusted),
                                     TEST(test_right_log),
                                     TEST(test_wrong_start),
                                     TEST(test_dependence_on_the_start),
                                     TEST(test_what_a_start_is_worth),
                                     TEST(test_contradicted_start),
                                     TEST(test_drifting_bias),
                                     TEST(test_words_agree_with_intervals),
                                     TEST(test_few_samples_decide_nothing),
                                     TEST(test_bound),
                                     TEST(test_wild_run),
                                     TEST(test_too_large_noise_is_no_harm),
                                     TEST(test_input_that_jumps),
                                     TEST(test_small_sigma),
                                     TEST(test_units),
                                     TEST(test_late_input),
                                     TEST(test_pause),
                                     TEST(test_outliers_are_not_beyond_doubt),
                                     TEST(test_mean_of_the_last_quarter)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
