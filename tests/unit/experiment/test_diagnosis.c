// Causes of a bad verdict. Oracle: samples of two equal carts in series on equal springs without damping, in closed form. Their modes have the
// frequencies w with w^2 = k/m (3 -+ root 5) / 2 and the ratios (1 +- root 5) / 2 of the second cart's motion to the first's. Samples of a
// volume with an inflow that changes, p' = K/V q, in closed form.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiment/diagnosis.h"
#include "support/experiments.h"
#include "support/random_machine.h"
#include "support/scratch.h"

static const char machine[] =
    "machine: two carts\ngravity: [0, 0]\nbodies: {a: {mass: 1 kg}, b: {mass: 1 kg}}\n"
    "joints:\n"
    "  ja: {type: prismatic, between: [ground, a], axis: [1, 0, 0], stiffness: 1000 N/m}\n"
    "  jb: {type: prismatic, between: [a, b], axis: [1, 0, 0], stiffness: 1000 N/m}\n"
    "initial: {ja.position: 100 mm, jb.position: 0 m}\n";
static const double sigma = 1e-3, row_step = 5e-3;
enum { ROWS = 401 };

static void write_log(scratch *s, double scale) {
  od_table *t = od_table_new(3);
  od_error err = {0};
  od_dice dice = {9};
  od_table_label(t, 0, "time", "s");
  od_table_label(t, 1, "ja.position", "m");
  od_table_label(t, 2, "jb.position", "m");
  const double root = sqrt(5), ratio[2] = {(1 + root) / 2, (1 - root) / 2};
  // Both carts start at 0.1 m: c0 + c1 = 0.1 and c0 ratio0 + c1 ratio1 = 0.1.
  const double c[2] = {0.1 * (1 - ratio[1]) / root, 0.1 * (ratio[0] - 1) / root};
  for (int i = 0; i < ROWS; i++) {
    double time = i * row_step, x[2] = {0}, noise[2] = {0};
    for (int mode = 0; mode < 2; mode++) {
      double now = c[mode] * cos(sqrt(1000 * (mode ? 3 + root : 3 - root) / 2) * time);
      x[0] += now, x[1] += now * ratio[mode];
    }
    for (int k = 0; k < 24; k++) noise[k % 2] += od_dice_uniform(&dice, -0.5, 0.5);
    od_table_append(t, (double[]){time, scale * x[0] + sigma * noise[0], x[1] - x[0] + sigma * noise[1]});
  }
  assert_int_equal(od_table_write_csv(t, scratch_path(s, "log.csv"), &err), OD_OK);
  od_table_free(t);
}

static od_experiment *load(scratch *s, const char *step) {
  char text[1000], log[600];
  snprintf(text, sizeof text,
           "machine: m.yaml\nstep: %s\nintegrator: trapezoid\n"
           "sensors: {ja.position: {sigma: 1 mm}, jb.position: {sigma: 1 mm}}\n"
           "initial: {ja.position: 1 mm, jb.position: 1 mm, ja.rate: 1 mm/s, jb.rate: 1 mm/s}\n"
           "noise: {acceleration: 1e-3}\nfilter: ekf\n",
           step);
  scratch_write(s, "m.yaml", machine, strlen(machine));
  snprintf(log, sizeof log, "%s", scratch_path(s, "log.csv"));
  return load_experiment(scratch_write(s, "e.yaml", text, strlen(text)),
                         &(od_experiment_options){.log.data = {(const char *const[]){log}, 1}});
}

static void print(const od_verdict *v) {
  print_message("verdict: %s\n", od_trust_text(v->trust));
  for (int i = 0; i < v->count; i++) print_message("  %s: %s\n", v->remark[i].code, v->remark[i].text);
}

// With steps that are too long for the second mode the step is the cause, also if the file's step is longer than the time between two
// rows. With the recommended steps the verdict is sound.
static void test_steps_too_long(void **state) {
  static const char *const steps[] = {"5 ms", "20 ms", "0.3125 ms"};
  write_log(*state, 1);
  for (int k = 0; k < 3; k++) {
    od_experiment *e = load(*state, steps[k]);
    od_observed *o = NULL;
    od_error err = {0};
    assert_int_equal(od_observe(e, &(od_observe_options){.no_table = true, .diagnose = true}, &o, &err), OD_OK);
    print(&o->verdict);
    assert_int_equal(o->verdict.trust == OD_SOUND, k == 2);
    assert_int_equal(od_verdict_has(&o->verdict, "cause.step"), k < 2);
    for (int i = 0; i < o->verdict.count && k < 2; i++)
      if (!strcmp(o->verdict.remark[i].code, "cause.step"))
        assert_non_null(strstr(o->verdict.remark[i].text, "'step: 0.0003125 s', or 'substeps: 16'"));
    od_observed_free(o);
    od_experiment_free(e);
  }
}

static bool slow_progress(void *user, double done) {
  const struct timespec pause = {.tv_nsec = *(long *)user};
  (void)done;
  nanosleep(&pause, NULL);
  return true;
}

static od_verdict diagnose(const od_experiment *e, const od_record *record, double work, long pause) {
  od_verdict v = {0};
  od_error err = {0};
  const od_diagnosis_task task = {.e = e,
                                  .record = record,
                                  .step = e->step,
                                  .can_shorten = true,
                                  .work = work,
                                  .progress = slow_progress,
                                  .user = &pause};
  assert_int_equal(od_diagnose(&task, &v, NULL, &err), OD_OK);
  return v;
}

// The search ends after a counted amount of work: the remarks are the same on a busy computer. Omitted parts are reported.
static void test_limit_is_counted(void **state) {
  od_error err = {0};
  od_record *record = NULL;
  write_log(*state, 1.2);
  od_experiment *e = load(*state, "0.5 ms");
  assert_int_equal(od_record_take(e, ROWS, &record, &err), OD_OK);
  bool complete = false, incomplete = false;
  for (double work = 1e5; work < 2e8; work *= 10) {
    od_verdict quick = diagnose(e, record, work, 0), slow = diagnose(e, record, work, 200000);
    print(&quick);
    assert_int_equal(quick.count, slow.count);
    for (int i = 0; i < quick.count; i++) assert_string_equal(quick.remark[i].text, slow.remark[i].text);
    bool left_out = od_verdict_has(&quick, "cause.incomplete");
    if (!left_out) assert_string_equal(quick.remark[0].code, "cause.scale");
    complete = complete || !left_out, incomplete = incomplete || left_out;
    od_verdict_free(&quick);
    od_verdict_free(&slow);
    if (complete) break;
  }
  assert_true(complete && incomplete);
  od_record_free(record);
  od_experiment_free(e);
}

static const char volume[] =
    "machine: Volume\noil: {density: 870 kg/m^3, law: constant, modulus: 1 GPa}\n"
    "volumes: {A: {volume: 1 L}}\ntanks: {T: {pressure: 0 bar}}\npumps: {inflow: {to: A, flow: 1e-5 m^3/s}}\n"
    "initial: {A.pressure: 10 bar}\n";

// Writes the pressure of the volume for an inflow of 1e-5 m3/s up to the time `at`, and 1.1e-5 m3/s later. The pressure also has a random walk with
// this standard deviation of a step, Pa.
static void write_volume_log(scratch *s, double at, double walk) {
  od_table *t = od_table_new(2);
  od_error err = {0};
  od_dice dice = {5}, steps = {6};
  double walked = 0;
  od_table_label(t, 0, "time", "s");
  od_table_label(t, 1, "A.pressure", "Pa");
  for (int i = 0; i <= 2000; i++) {
    double time = 1e-3 * i, noise = 0;
    for (int k = 0; k < 12; k++) noise += od_dice_uniform(&dice, -0.5, 0.5);
    od_table_append(t,
                    (double[]){time, 10e5 + 1e12 * (1e-5 * time + 1e-6 * fmax(time - at, 0)) + 2e4 * noise + walked});
    walked += sqrt(12) * walk * od_dice_uniform(&steps, -0.5, 0.5);
  }
  assert_int_equal(od_table_write_csv(t, scratch_path(s, "log.csv"), &err), OD_OK);
  od_table_free(t);
}

// An observer that assumes a constant inflow. If the inflow changes at 1 s, the verdict names the inflow and an interval that contains 1 s.
// Modulus and volume would have the same effect, but are not estimated. Without a change there is no cause.
static void test_changed_number(void **state) {
  static const char text[] =
      "machine: m.yaml\nstep: 1 ms\nsensors: {A.pressure: {sigma: 0.2 bar}}\ninitial: {A.pressure: 1 bar}\n"
      "noise: {pressures: 10 Pa}\nparameters: {inflow.flow: {sigma: 2e-6 m^3/s}}\nfilter: ekf\n";
  for (int changes = 0; changes < 2; changes++) {
    scratch *s = *state;
    char log[600];
    write_volume_log(s, changes ? 1 : 10, 0);
    scratch_write(s, "m.yaml", volume, strlen(volume));
    snprintf(log, sizeof log, "%s", scratch_path(s, "log.csv"));
    od_experiment *e = load_experiment(scratch_write(s, "e.yaml", text, strlen(text)),
                                       &(od_experiment_options){.log.data = {(const char *const[]){log}, 1}});
    od_observed *o = NULL;
    od_error err = {0};
    assert_int_equal(od_observe(e, &(od_observe_options){.no_table = true, .diagnose = true}, &o, &err), OD_OK);
    print(&o->verdict);
    assert_int_equal(o->verdict.trust == OD_SOUND, !changes);
    assert_int_equal(od_verdict_has(&o->verdict, "cause.parameter"), changes);
    for (int i = 0; i < o->verdict.count && changes; i++) {
      if (strcmp(o->verdict.remark[i].code, "cause.parameter") != 0) continue;
      double from = 0, to = 0;
      const char *times = strstr(o->verdict.remark[i].text, "changes between ");
      assert_non_null(strstr(o->verdict.remark[i].text, "the number 'inflow.flow' of the machine"));
      assert_non_null(times);
      assert_int_equal(sscanf(times, "changes between %lf s and %lf s", &from, &to), 2);
      if (!(from < 1 && to > 1 && to - from < 0.5)) fail_msg("the interval is %g s to %g s", from, to);
    }
    od_observed_free(o);
    od_experiment_free(e);
  }
}

// The inflow changes, and the pressure has a random walk. Without the walk the change is the cause; with a large walk no single fault is. Between
// them two causes explain the data about equally well, and both are listed: the change, and an effect that the model lacks.
static void test_two_causes(void **state) {
  static const char text[] =
      "machine: m.yaml\nstep: 1 ms\nsensors: {A.pressure: {sigma: 0.2 bar}}\ninitial: {A.pressure: 1 bar}\n"
      "noise: {pressures: 10 Pa}\nparameters: {inflow.flow: {sigma: 2e-6 m^3/s}}\nfilter: ekf\n";
  scratch *s = *state;
  double low = 10, high = 1e4;
  bool found = false;
  for (int round = 0; round < 20 && !found; round++) {
    char log[600];
    const double walk = sqrt(low * high);
    write_volume_log(s, 1, walk);
    scratch_write(s, "m.yaml", volume, strlen(volume));
    snprintf(log, sizeof log, "%s", scratch_path(s, "log.csv"));
    od_experiment *e = load_experiment(scratch_write(s, "e.yaml", text, strlen(text)),
                                       &(od_experiment_options){.log.data = {(const char *const[]){log}, 1}});
    od_observed *o = NULL;
    od_error err = {0};
    assert_int_equal(od_observe(e, &(od_observe_options){.no_table = true, .diagnose = true}, &o, &err), OD_OK);
    print_message("walk %g Pa\n", walk);
    print(&o->verdict);
    int causes = 0;
    for (int i = 0; i < o->verdict.count; i++) {
      const od_remark *r = &o->verdict.remark[i];
      causes += strncmp(r->code, "cause.", 6) == 0;
      found = found || (strcmp(r->code, "cause.unclear") == 0 && strstr(r->text, "two causes"));
    }
    if (found) {
      assert_int_equal(causes, 3);
      assert_true(od_verdict_has(&o->verdict, "cause.parameter") && od_verdict_has(&o->verdict, "cause.model"));
    }
    *(od_verdict_has(&o->verdict, "cause.unclear") ? &high : &low) = walk;
    od_observed_free(o);
    od_experiment_free(e);
  }
  assert_true(found);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_steps_too_long), TEST(test_limit_is_counted), TEST(test_changed_number),
                                     TEST(test_two_causes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
