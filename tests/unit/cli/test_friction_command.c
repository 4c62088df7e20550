// oleodyn friction: curves, loops, steps and logs of friction laws. Oracles: closed forms, and the driven law itself for a log.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include <jansson.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "support/program.h"

#define TUSTIN "friction tustin --set Fs='2.1 kN' --set Fc=191 --set vs=0.0105 --set viscous=349 --set v0=1e-5 "
#define REDUCED \
  "friction reduced --set Fs=2000 --set Fc=200 --set vs=0.01 --set n=1.2 --set viscous=300 --set sigma_0=1e7 --set tau_hn=0.3 "

static od_table *table_of(scratch *s, const char *name) {
  od_table *t = NULL;
  assert_int_equal(od_table_read(scratch_path(s, name), NULL, &t, NULL), OD_OK);
  return t;
}
static double at(const od_table *t, long row, int column) {
  return t->data[row * t->columns + column];
}

// Eq. 5.1 and 5.5 by hand.
static void test_steady(void **state) {
  scratch *s = *state;
  outcome o = run(s, TUSTIN "--csv a.csv");
  ends_with(o, 0);
  says(o.out, "steady friction");
  forget(o);
  od_table *t = table_of(s, "a.csv");
  assert_int_equal(t->rows, 501);
  for (long i = 0; i < t->rows; i++) {
    double v = at(t, i, 0), speed = fabs(v), end = -log(0.002) * 0.0105;
    if (speed < 1e-3) continue;
    double h = (1 - 191 / 2100.0) * pow(fmin(speed / end, 1), 2.0 / 3);
    double force = 191 + ((1 - h) * 2100 - 191) * exp(-speed / 0.0105) + 349 * speed;
    if (!(fabs(at(t, i, 1) - copysign(force, v)) < 1e-2)) fail_msg("%g at %g m/s, not %g", at(t, i, 1), v, force);
  }
  od_table_free(t);
}

// The force is homogeneous of degree one in Fs, Fc and viscous: it is the sum of parameter times derivative over these three,
// for a film with a given vb, which depends only on Fc/Fs.
static void test_sensitivity(void **state) {
  scratch *s = *state;
  outcome o = run(s, TUSTIN "--set vb=0.05 --show sensitivity --csv a.csv");
  ends_with(o, 0);
  forget(o);
  o = run(s, TUSTIN "--set vb=0.05 --csv b.csv --quiet");
  ends_with(o, 0);
  forget(o);
  od_table *by = table_of(s, "a.csv"), *force = table_of(s, "b.csv");
  assert_string_equal(by->name[1], "Fs");
  assert_string_equal(by->name[2], "Fc");
  assert_string_equal(by->name[4], "viscous");
  for (long i = 0; i < by->rows; i++)
    assert_true(fabs(at(by, i, 1) + at(by, i, 2) + at(by, i, 4) - at(force, i, 1)) < 1e-6);
  od_table_free(by), od_table_free(force);
}

static void test_hysteresis(void **state) {
  scratch *s = *state;
  outcome o = run(s, REDUCED "--show hysteresis --vary tau_hn=2.4 --csv a.csv --plot a.svg");
  ends_with(o, 0);
  forget(o);
  od_table *t = table_of(s, "a.csv");
  assert_int_equal(t->columns, 6);
  // The film lags: while the speed falls, the film is thicker than in steady motion, so that friction is smaller. With a slower
  // film friction is smaller still.
  for (long i = 0; i < t->rows; i++) {
    double v = at(t, i, 0);
    if (v < 2e-3 || v > 0.02) continue;
    assert_true(at(t, i, 3) < at(t, i, 1));
    assert_true(at(t, i, 5) < at(t, i, 3));
  }
  od_table_free(t);
}

// The step ends at the steady force, and begins there.
static void test_step(void **state) {
  scratch *s = *state;
  outcome o = run(s, REDUCED "--show step --speed-before '40 mm/s' --speed-after 0.02 --time 10 --csv a.csv");
  ends_with(o, 0);
  forget(o);
  o = run(s, REDUCED "--speed 0.04 --csv b.csv --quiet");
  ends_with(o, 0);
  forget(o);
  od_table *t = table_of(s, "a.csv"), *steady = table_of(s, "b.csv");
  assert_int_equal(t->rows, 10001);
  assert_true(at(t, 0, 0) == 0);
  assert_true(fabs(at(t, 0, 2) - at(steady, 500, 1)) < 1e-3);
  assert_true(fabs(at(t, 10000, 2) - at(steady, 375, 1)) < 1e-3);
  od_table_free(t), od_table_free(steady);
}

// A log of the step's speed gives the step's force, except at the start.
static void test_log(void **state) {
  scratch *s = *state;
  outcome o = run(s, REDUCED "--show step --speed-before 0.05 --speed-after 0.01 --csv a.csv");
  ends_with(o, 0);
  forget(o);
  o = run(s, REDUCED "--data a.csv --column speed --csv b.csv");
  ends_with(o, 0);
  forget(o);
  od_table *a = table_of(s, "a.csv"), *b = table_of(s, "b.csv");
  assert_int_equal(a->rows, b->rows);
  // The film of the log begins empty; 0.3 s later it has grown with tau_hp = 45 ms.
  assert_true(fabs(at(a, 0, 2) - at(b, 0, 2)) > 100);
  assert_true(fabs(at(a, 199, 2) - at(b, 199, 2)) < 5);
  od_table_free(a), od_table_free(b);
}

// Columns of the log drive the factor: the force at a steady speed is that of the law with the numbers changed by the factor.
static void test_factor(void **state) {
  scratch *s = *state;
  char text[4000] = "time,v,pressure,place\n";
  for (int i = 0; i <= 60; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%g,0.05,%g,%g\n", 0.1 * i, 1e5 * i, 0.05 * 0.1 * i);
  scratch_write(s, "log.csv", text, strlen(text));
  outcome o = run(s, TUSTIN
                  "--set factor_viscous=-1 --data log.csv --column v --factor pressure=2e6:1,4e6:1.5 "
                  "--factor place=0:2,1:2 --csv a.csv");
  ends_with(o, 0);
  forget(o);
  od_table *t = table_of(s, "a.csv");
  assert_int_equal(t->columns, 4);
  for (int i = 0; i <= 60; i++) {
    double factor = 2 * (i <= 20 ? 1 : i >= 40 ? 1.5 : 1 + 0.5 * (i - 20) / 20);
    assert_true(fabs(at(t, i, 3) - factor) < 1e-12);
    outcome one =
        run(s, TUSTIN "--set factor_viscous=-1 --set factor=%.17g --data log.csv --column v --csv b.csv", factor);
    ends_with(one, 0);
    forget(one);
    od_table *alone = table_of(s, "b.csv");
    assert_true(fabs(at(t, i, 2) - at(alone, i, 2)) < 1e-9 * at(t, i, 2));
    od_table_free(alone);
    i += 6;
  }
  assert_true(at(t, 60, 2) > 1.2 * at(t, 0, 2));
  od_table_free(t);
  // A law outside the family, in closed form.
  o = run(
      s,
      "friction coulomb --set Fc=100 --set vs=0.01 --set viscous=300 --set factor_viscous=0.5 --data log.csv --column v "
      "--factor pressure=2e6:1,4e6:1.5 --csv a.csv");
  ends_with(o, 0);
  forget(o);
  t = table_of(s, "a.csv");
  for (int i = 0; i <= 60; i++) {
    double factor = i <= 20 ? 1 : i >= 40 ? 1.5 : 1 + 0.5 * (i - 20) / 20;
    assert_true(fabs(at(t, i, 2) - (100 * factor * tanh(5) + 300 * sqrt(factor) * 0.05)) < 1e-9);
  }
  od_table_free(t);
}

static void test_json(void **state) {
  scratch *s = *state;
  outcome o = run(s, REDUCED "--set Fs_negative=2500 --json -");
  ends_with(o, 0);
  json_t *j = json_loads(o.out, 0, NULL);
  assert_non_null(j);
  assert_string_equal(json_string_value(json_object_get(j, "law")), "reduced");
  json_t *numbers = json_object_get(j, "numbers");
  assert_true(json_number_value(json_object_get(numbers, "Fs_negative")) == 2500);
  assert_true(json_number_value(json_object_get(numbers, "Fc_negative")) == 200);
  json_decref(j);
  forget(o);
}

static void test_mistakes(void **state) {
  scratch *s = *state;
  static const char *const logs[][2] = {{"backward.csv", "time,v\n0,1\n2,1\n1,1\n"},
                                        {"twice.csv", "time,v\n0,1\n1,1\n1,1\n"},
                                        {"gap.csv", "time,v\n0,1\n1,\n2,1\n"},
                                        {"infinite.csv", "time,v\n0,1\n1,inf\n2,1\n"},
                                        {"word.csv", "time,v\n0,1\n1,fast\n2,1\n"},
                                        {"no_rows.csv", "time,v\n"},
                                        {"empty.csv", ""},
                                        {"only_time.csv", "time\n0\n1\n"},
                                        {"fine.csv", "time,v\n0,0\n1,1\n"}};
  for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) scratch_write(s, logs[i][0], logs[i][1], strlen(logs[i][1]));
  static const char *const wrong[][2] = {
      {"friction", "LAW"},
      {"friction lugree", "did you mean 'lugre'?"},
      {"friction tustin", "'Fs' is missing"},
      {"friction tustin --set Fz=3", "did you mean 'Fs'?"},
      {"friction tustin --set Fs", "expected KEY=VALUE"},
      {"friction tustin --set Fs='3 m'", "cannot be converted to N"},
      {"friction tustin --set Fs=-3", "--set Fs: found -3 N, expected"},
      {TUSTIN "--set Fc=5000", "expected at least 'Fc' (5000)"},
      {TUSTIN "--show stedy", "did you mean 'steady'?"},
      {TUSTIN "--show log", "requires --data"},
      {TUSTIN "--data nowhere.csv", "nowhere.csv"},
      {TUSTIN "--frequency 0", "found '0', expected a positive number"},
      {TUSTIN "--speed fast", "fast"},
      {TUSTIN "--time 1e9", "Give a longer --step"},
      {TUSTIN "--data backward.csv", "expected increasing times"},
      {TUSTIN "--data gap.csv", "must have a speed in every row"},
      {TUSTIN "--data infinite.csv", "infinite.csv"},
      {TUSTIN "--data word.csv", "word.csv"},
      {TUSTIN "--data no_rows.csv", "has no rows"},
      {TUSTIN "--data empty.csv", "empty.csv"},
      {TUSTIN "--data only_time.csv", "has only a time column"},
      {TUSTIN "--data twice.csv --column w", "has no column 'w'"},
      {TUSTIN "--factor v", "--factor requires --data"},
      {TUSTIN "--data fine.csv --factor w", "has no column 'w'"},
      {TUSTIN "--data fine.csv --factor v=1", "expected COLUMN or COLUMN=X:Y"},
      {TUSTIN "--data fine.csv --factor 'v=1:2;3:4'", "expected a comma"},
      {TUSTIN "--data fine.csv --factor v=2:1,1:2", "expected increasing values"},
      {TUSTIN "--data fine.csv --factor v=0:-1,1:2", "expected a positive number"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    outcome o = run(s, "%s", wrong[i][0]);
    if (o.code != 2) print_error("%s\n%s\n", wrong[i][0], o.err);
    ends_with(o, 2);
    says(o.err, wrong[i][1]);
    forget(o);
  }
}

// The contour of Figure 5.6 of source 28 in docs/theory.md: each point equals the result of a single step; up to 1 kN from 0.05 to
// 0.001 m/s.
static void test_contour(void **state) {
  scratch *s = *state;
  outcome o =
      run(s, REDUCED
          "--set tau_hn=2.4 --vary tau_hn=0.2 --show contour --speed 0.05 --csv a.csv --plot a.svg --json a.json");
  ends_with(o, 0);
  says(o.out, "from 0.05 to 0.001 m/s");
  forget(o);
  od_table *all = table_of(s, "a.csv");
  assert_int_equal(all->rows, 2500);
  static const double steps[][2] = {{0.05, 0.001}, {0.02, 0.01}, {0.001, 0.009}};
  for (int k = 0; k < 3; k++) {
    char command[600];
    snprintf(command, sizeof command,
             REDUCED
             "--set tau_hn=2.4 --vary tau_hn=0.2 --show step --speed-before %g --speed-after %g --time 2.2 --csv b.csv",
             steps[k][0], steps[k][1]);
    o = run(s, "%s", command);
    ends_with(o, 0);
    forget(o);
    od_table *one = table_of(s, "b.csv");
    double most = 0, shown = -1;
    for (long i = 0; i < one->rows; i++) most = fmax(most, fabs(at(one, i, 2) - at(one, i, 3)));
    for (long i = 0; i < all->rows; i++)
      if (fabs(at(all, i, 0) - steps[k][0]) < 1e-9 && fabs(at(all, i, 1) - steps[k][1]) < 1e-9) shown = at(all, i, 2);
    if (!(fabs(shown - most) <= 2e-3 * most))
      fail_msg("%g to %g m/s: %g N, alone %g N", steps[k][0], steps[k][1], shown, most);
    od_table_free(one);
  }
  od_table_free(all);
  ends_and_says(run(s, REDUCED "--show contour"), 2, "--show contour requires one --vary");
  ends_and_says(run(s, REDUCED "--show step --step 1e-9"), 2, "Give a longer --step");
}

int main(void) {
#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {IN_SCRATCH(test_steady), IN_SCRATCH(test_sensitivity), IN_SCRATCH(test_hysteresis),
                                     IN_SCRATCH(test_step),   IN_SCRATCH(test_log),         IN_SCRATCH(test_factor),
                                     IN_SCRATCH(test_json),   IN_SCRATCH(test_mistakes),    IN_SCRATCH(test_contour)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
