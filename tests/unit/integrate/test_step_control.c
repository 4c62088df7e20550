// The control of the step length alone. Oracles: the rules of step_control.h and docs/theory.md, evaluated by hand for a mass on a spring:
// the next step is 0.9 (tolerance / e)^(1/p) times as long, within bounds.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "support/test.h"
#include "integrate/step_control.h"
#include "oleodyn/sim.h"
#include "support/machines.h"

enum { NX = 2 };

static const char text[] =
    "gravity: [0, 0, 0]\nbodies: {a: {point: {mass: 2 kg}}}\n"
    "joints: {A: {type: prismatic, between: [ground, a], axis: [1, 0, 0], stiffness: 200 N/m}}\n"
    "initial: {A.position: 0.5 m, A.rate: 3 m/s}\n";

typedef struct bench {
  od_test_run run;
  od_step_control c;
  double memory[4 * NX];
} bench;

static int setup(void **state) {
  static bench b;
  b.run = od_test_begin(od_test_machine_text(text), NULL);
  *state = &b;
  od_sim_set_integrator(b.run.sim, od_integrator_find("tr-bdf2"));
  return od_plant_nx(b.run.plant) == NX && od_sim_start(b.run.sim, 0, NULL) == OD_OK ? 0 : -1;
}

static int teardown(void **state) {
  bench *b = *state;
  od_test_end(&b->run);
  return 0;
}

static void begin(bench *b, double tolerance, double longest, double end) {
  const od_advance_options options = {.tolerance = tolerance, .longest = longest, .end = end, .most_steps = 1e6};
  od_step_control_init(&b->c, b->run.sim, b->run.plant, &options, b->memory);
}

static void test_first_step(void **state) {
  bench *b = *state;
  begin(b, 1e-3, 0.5, 20);
  assert_true(b->c.h == 0.5 / 1000 && b->c.time == 20 && b->c.longest == 0.5 && b->c.tolerance == 1e-3);
  // A run without an end.
  begin(b, 1e-3, 0.5, 0);
  assert_true(b->c.time == 500);
  begin(b, 1e-3, 0.5, INFINITY);
  assert_true(b->c.time == 500);
  for (int i = 0; i < NX; i++) assert_true(b->c.low[i] == od_sim_state(b->run.sim)[i] && b->c.high[i] == b->c.low[i]);
}

// Steps up to an end have equal lengths, at most h and at most the longest step.
static void test_next(void **state) {
  bench *b = *state;
  begin(b, 1e-3, 0.5, 20);
  b->c.h = 0.3;
  near(od_step_control_next(&b->c, 1, 2), 1.25, 1e-15);
  near(od_step_control_next(&b->c, 1, 1.3), 1.3, 0);
  near(od_step_control_next(&b->c, 1, 1.2), 1.2, 0);
  near(od_step_control_next(&b->c, 1, 1.31), 1.155, 1e-15);
  near(od_step_control_next(&b->c, 1, 1.3 + 1e-11), 1.3 + 1e-11, 0);  // not two steps because of round-off
  near(od_step_control_next(&b->c, 1, 1.6 + 1e-11), 1.3 + 0.5e-11, 1e-14);
  near(od_step_control_next(&b->c, 1, INFINITY), 1.3, 1e-15);
  b->c.h = 7;
  near(od_step_control_next(&b->c, 1, 2), 1.5, 1e-15);
  near(od_step_control_next(&b->c, 1, INFINITY), 1.5, 1e-15);
}

// The error of the last step relative to its limit, from the integrator's estimate and the ranges.
static double error_of(const bench *b, double low[NX], double high[NX]) {
  double before[NX], after[NX], worst = 0;
  const double *x = od_sim_state(b->run.sim);
  od_sim_local_error(b->run.sim, before, after);
  for (int i = 0; i < NX; i++) {
    double l = fmin(low[i], x[i]), h = fmax(high[i], x[i]), usual = b->run.plant->scale ? b->run.plant->scale[0] : 1;
    double size = fmax(fmax(h - l, 1e-3 * fmax(fabs(l), fabs(h))), 1e-3 * usual);
    worst = fmax(worst, fabs(before[i] + after[i]) / size);
  }
  return worst;
}

static void test_judged_by_the_error(void **state) {
  bench *b = *state;
  const double h = 0.01;
  double low[NX], high[NX];
  memcpy(low, od_sim_state(b->run.sim), sizeof low);
  memcpy(high, low, sizeof high);
  for (int i = 0; i < 5; i++) assert_int_equal(od_sim_step(b->run.sim, h, NULL), OD_OK);
  double t = od_sim_time(b->run.sim) - h, error = error_of(b, low, high),
         p = od_sim_integrator(b->run.sim)->estimate_order;
  assert_true(error > 0 && p >= 2);
  const double ratios[] = {2e-12, 1e-4, 0.3, 0.5, 0.7, 0.999, 1.001, 1.1, 2, 30, 1e5};  // error over tolerance
  for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++)
    for (int rejected = 0; rejected < 2; rejected++) {
      od_advance_failure failure;
      bool accepted;
      begin(b, error / ratios[k], 0.5, 20);
      memcpy(b->c.low, low, sizeof low);
      memcpy(b->c.high, high, sizeof high);
      b->c.h = 0.012;
      b->c.was_rejected = rejected;
      assert_int_equal(od_step_control_judge(&b->c, t, t + h, OD_OK, &accepted, &failure), OD_OK);
      double by = 0.9 * pow(ratios[k], -1 / p), step = od_sim_time(b->run.sim) - t;
      assert_int_equal(accepted, ratios[k] < 1);
      if (ratios[k] < 1) {
        by = fmin(by, rejected ? 1 : 5);
        near_relative(b->c.proposed, fmin(by < 1 ? step * fmax(by, 0.1) : fmax(0.012, step * by), 0.5), 1e-9);
        assert_true(b->c.h == 0.012 && b->c.was_rejected == rejected);
        od_step_control_accept(&b->c);
        assert_true(b->c.h == b->c.proposed && !b->c.was_rejected);
        for (int i = 0; i < NX; i++) {
          double x = od_sim_state(b->run.sim)[i];
          assert_true(b->c.low[i] == fmin(low[i], x) && b->c.high[i] == fmax(high[i], x));
        }
      } else {
        near_relative(b->c.h, step * fmin(fmax(by, 0.1), 0.9), 1e-9);
        assert_true(b->c.was_rejected);
      }
    }
}

// Steps of at most 1e-9 of the run are accepted with any error that is finite.
static void test_smallest_steps(void **state) {
  bench *b = *state;
  const double h = 0.01;
  for (int i = 0; i < 5; i++) assert_int_equal(od_sim_step(b->run.sim, h, NULL), OD_OK);
  const double ends[] = {1.001e7, 0.999e7, 1.4e7};
  for (int k = 0; k < 3; k++) {
    od_advance_failure failure;
    bool accepted;
    begin(b, 1e-12, 0.5, ends[k]);
    assert_int_equal(od_step_control_judge(&b->c, 0, h, OD_OK, &accepted, &failure), OD_OK);
    assert_int_equal(accepted, ends[k] > 1e7);
    if (accepted) near_relative(b->c.proposed, 0.1 * h, 1e-12);  // at least a tenth
    assert_int_equal(od_step_control_judge(&b->c, 0, h, OD_NOT_CONVERGED, &accepted, &failure), OD_OK);
    assert_false(accepted);
  }
}

// A step that fails is tried again with a quarter of its length, until the length is below 1e-15 of the run or of the time.
static void test_failed_steps(void **state) {
  bench *b = *state;
  od_advance_failure failure;
  bool accepted = true;
  begin(b, 1e-3, 0.5, 20);
  assert_int_equal(od_step_control_judge(&b->c, 1, 1.5, OD_NOT_CONVERGED, &accepted, &failure), OD_OK);
  assert_false(accepted);
  near(b->c.h, 0.125, 1e-15);
  assert_true(b->c.was_rejected);
  od_step_control_shorten(&b->c, 0.0625);
  assert_true(b->c.h == 0.0625);
  // 1e-15 of 20 s is 2e-14 s.
  assert_int_equal(od_step_control_judge(&b->c, 0, 8.1e-14, OD_SINGULAR, &accepted, &failure), OD_OK);
  assert_int_equal(od_step_control_judge(&b->c, 0, 7.9e-14, OD_SINGULAR, &accepted, &failure), OD_SINGULAR);
  assert_true(failure.problem == OD_ADVANCE_STEP && failure.at == 0);
  near_relative(failure.length, 7.9e-14 / 4, 1e-12);
  // At 1e6 s a step of 2e-10 s is the last that differs: a quarter of it does not change the time.
  assert_int_equal(od_step_control_judge(&b->c, 1e6, 1e6 + 2.4e-10, OD_SINGULAR, &accepted, &failure), OD_SINGULAR);
  assert_int_equal(od_step_control_judge(&b->c, 1e6, 1e6 + 1.2e-9, OD_SINGULAR, &accepted, &failure), OD_OK);
  // A step that succeeds with an error that is not a number is tried again; too short, it is inaccurate.
  begin(b, NAN, 0.5, 20);
  assert_int_equal(od_sim_step(b->run.sim, 0.01, NULL), OD_OK);
  assert_int_equal(od_step_control_judge(&b->c, 1, 1.5, OD_OK, &accepted, &failure), OD_OK);
  assert_false(accepted);
  near(b->c.h, 0.125, 1e-15);
  assert_int_equal(od_step_control_judge(&b->c, 0, 7.9e-14, OD_OK, &accepted, &failure), OD_NOT_CONVERGED);
  assert_int_equal(failure.problem, OD_ADVANCE_INACCURATE);
}

// A state that changes little is measured by a thousandth of its value: a speed of 1000 m/s.
static void test_size_of_constant_states(void **state) {
  bench *b = *state;
  double x[] = {0, 1000}, low[NX], high[NX];
  bool accepted;
  od_advance_failure failure;
  assert_int_equal(od_sim_set(b->run.sim, 0, x, NULL), OD_OK);
  for (int i = 0; i < 5; i++) assert_int_equal(od_sim_step(b->run.sim, 1e-3, NULL), OD_OK);
  memcpy(low, od_sim_state(b->run.sim), sizeof low);
  memcpy(high, low, sizeof high);
  low[0] = -1e9, high[0] = 1e9;  // only the speed counts
  double error = error_of(b, low, high), before[NX], after[NX];
  od_sim_local_error(b->run.sim, before, after);
  near_relative(error, fabs(before[1] + after[1]) / (1e-3 * fabs(low[1])), 1e-12);
  for (int k = 0; k < 2; k++) {
    begin(b, error / (k ? 1.1 : 0.9), 0.5, 20);
    memcpy(b->c.low, low, sizeof low);
    memcpy(b->c.high, high, sizeof high);
    assert_int_equal(od_step_control_judge(&b->c, 4e-3, 5e-3, OD_OK, &accepted, &failure), OD_OK);
    assert_int_equal(accepted, k == 0);
  }
}

static void test_restart(void **state) {
  bench *b = *state;
  begin(b, 1e-3, 0.5, 20);
  b->c.h = 0.3;
  od_step_control_restart(&b->c);
  near(b->c.h, 0.03, 1e-16);
  b->c.h = 1e-12;
  od_step_control_restart(&b->c);
  near_relative(b->c.h, 10 * 1e-15 * 20, 1e-12);
}

// After 100000 tries the number of steps to the end is predicted from the mean length.
static void test_pace(void **state) {
  bench *b = *state;
  const struct {
    double most, reached;
    bool too_many;
  } cases[] = {{1e6, 1.9, false}, {1e6, 1.8, true},   {0, 1e-3, false},
               {1e6, 20, false},  {1e5, 10.1, false}, {1e5, 9.9, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_advance_failure failure = {0};
    bool accepted;
    begin(b, 1e-3, 0.5, 20);
    b->c.most_steps = cases[i].most;
    b->c.tries = 100000 - 2;
    double t = cases[i].reached;
    assert_int_equal(od_step_control_judge(&b->c, t, t + 0.1, OD_SINGULAR, &accepted, &failure), OD_OK);
    assert_true(b->c.tries == 100000 - 1);
    assert_int_equal(od_step_control_judge(&b->c, t, t + 0.1, OD_SINGULAR, &accepted, &failure),
                     cases[i].too_many ? OD_NOT_CONVERGED : OD_OK);
    assert_true(b->c.tries == 0 && b->c.tries_from == t);
    if (!cases[i].too_many) continue;
    assert_true(failure.problem == OD_ADVANCE_TOO_MANY && failure.at == t);
    near_relative(failure.length, t / 1e5, 1e-12);
    near_relative(failure.needed, (20 - t) / (t / 1e5), 1e-12);
  }
}

// Ranges after a linear change of coordinates: each new range is the sum of the old ranges times the sizes of the derivatives, around the
// state.
static void test_mapped_ranges(void **state) {
  bench *b = *state;
  const double map[] = {2, -3, -0.5, 4};
  begin(b, 1e-3, 0.5, 20);
  b->c.low[0] = -1, b->c.high[0] = 1.5, b->c.low[1] = 2, b->c.high[1] = 3;
  od_step_control_map(&b->c, map);
  const double *x = od_sim_state(b->run.sim), range[] = {2 * 2.5 + 3 * 1, 0.5 * 2.5 + 4 * 1};
  for (int i = 0; i < NX; i++) {
    near(b->c.low[i], x[i] - range[i] / 2, 1e-14);
    near(b->c.high[i], x[i] + range[i] / 2, 1e-14);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_first_step, setup, teardown),
      cmocka_unit_test_setup_teardown(test_next, setup, teardown),
      cmocka_unit_test_setup_teardown(test_judged_by_the_error, setup, teardown),
      cmocka_unit_test_setup_teardown(test_smallest_steps, setup, teardown),
      cmocka_unit_test_setup_teardown(test_failed_steps, setup, teardown),
      cmocka_unit_test_setup_teardown(test_size_of_constant_states, setup, teardown),
      cmocka_unit_test_setup_teardown(test_restart, setup, teardown),
      cmocka_unit_test_setup_teardown(test_pace, setup, teardown),
      cmocka_unit_test_setup_teardown(test_mapped_ranges, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
