// Series of runs and friction over the position, by the program.
// - Mean and spread of logs. Oracle: forces written by hand with other levels in each log; mean, spread and chi-squared are then closed forms.
// - Simulated measurements. Oracle: single fits with the same seeds, bit by bit.
// - A factor over the position. Oracle: forces written by hand, and the true factors of a simulated run.
// - The speed as the slope of the position.
// - Mistakes in files, each with its message.
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/program.h"

#define LAWS                                                                                                             \
  "friction: x\nlaws: {guess: {law: lugre, Fs: 150 N, Fc: 120 N, vs: 30 mm/s, viscous: 200 N s/m, sigma_0: 1e10 N/m}}\n" \
  "fit: {law: lugre, start: guess, method: complete, restarts: 0, "

static json_t *json_of(scratch *s, const char *command) {
  outcome o = run(s, command);
  if (o.code != 0) print_message("%s", o.err);
  ends_with(o, 0);
  json_error_t error;
  json_t *all = json_loads(o.out, 0, &error);
  if (!all) fail_msg("%s", error.text);
  forget(o);
  return all;
}

static double number(json_t *all, const char *key, const char *field) {
  return json_number_value(json_object_get(json_object_get(json_object_get(all, "parameters"), key), field));
}

static double entry(json_t *all, const char *key, const char *field, size_t k) {
  json_t *list = json_object_get(json_object_get(json_object_get(all, "parameters"), key), field);
  return json_number_value(json_array_get(list, k));
}

static bool has_remark(json_t *all, const char *code) {
  json_t *remarks = json_object_get(json_object_get(all, "verdict"), "remarks"), *r;
  size_t i;
  json_array_foreach(remarks, i, r) if (strcmp(json_string_value(json_object_get(r, "code")), code) == 0) return true;
  return false;
}

// A force at the Stribeck curve of stiff bristles. `factor` multiplies both levels; the factor over the position is 1 at 0 m,
// 1.32 at 80 mm and linear in between. The speed reverses midway between samples. `jitter` is an error that alternates, for a
// known noise.
static void put_log(scratch *s, const char *name, double factor, bool by_position, double jitter) {
  static char text[400000];
  const double pi = acos(-1);
  int used = snprintf(text, sizeof text, "time [s],velocity [m/s],force [N],position [m]\n");
  for (int i = 0; i < 4000; i++) {
    double t = (i + 0.5) * 1e-3, v = 0.2 * sin(2 * pi * 0.5 * t), x = 0.2 / pi * (1 - cos(2 * pi * 0.5 * t));
    double f = by_position ? 1 + 4 * x : factor, level = f * (100 + 80 * exp(-pow(v / 0.02, 2)));
    double force = level * ((v > 0) - (v < 0)) + 300 * v + (i % 2 ? jitter : -jitter);
    used += snprintf(text + used, sizeof text - (size_t)used, "%.4f,%.10g,%.10g,%.10g\n", t, v, force, x);
  }
  scratch_put(s, name, text);
}

static void test_logs(void **state) {
  scratch *s = *state;
  put_log(s, "a.csv", 1, false, 0.1), put_log(s, "b.csv", 1.04, false, 0.1), put_log(s, "c.csv", 0.96, false, 0.1);
  scratch_put(
      s, "fit.yaml",
      LAWS
      "noise: 0.1 N, parameters: [Fs, Fc, vs, viscous]}\nrun: {log: [a.csv, b.csv, c.csv], velocity: velocity, force: force}\n");
  json_t *all = json_of(s, "friction-fit fit.yaml --json - --csv runs.csv");
  near_relative(number(all, "Fc", "mean"), 100, 2e-4);
  near_relative(number(all, "Fc", "spread"), 4, 2e-3);
  near_relative(number(all, "Fs", "spread"), 7.2, 5e-3);
  near_relative(entry(all, "Fc", "estimates", 1), 104, 2e-4);
  // The runs have the same standard deviation, so chi-squared per degree of freedom is the square of the ratio of both.
  near_relative(number(all, "Fc", "chi_squared"), pow(number(all, "Fc", "spread") / number(all, "Fc", "reported"), 2),
                1e-2);
  assert_true(has_remark(all, "series.spread"));
  assert_int_equal(json_integer_value(json_object_get(all, "runs")), 3);
  json_t *again = json_of(s, "friction-fit fit.yaml --run a.csv --run b.csv --run c.csv --json -");
  assert_true(json_equal(json_object_get(all, "parameters"), json_object_get(again, "parameters")));
  json_decref(all), json_decref(again);
  // A single log replaces the series.
  all = json_of(s, "friction-fit fit.yaml --run b.csv --json -");
  near_relative(number(all, "Fc", "value"), 104, 2e-4);
  json_decref(all);
  // Equal runs do not differ.
  all = json_of(s, "friction-fit fit.yaml --run a.csv --run a.csv --json -");
  assert_true(number(all, "Fc", "spread") == 0 && !has_remark(all, "series.spread"));
  json_decref(all);
}

#define SIMULATED                                                                                                 \
  "friction: x\nlaws: {true: {law: reduced, Fs: 100 N, Fc: 40 N, vs: 20 mm/s, n: 1.1, viscous: 150 N s/m,\n"      \
  "  sigma_0: 1e6 N/m, tau_hn: 0.1 s}}\n"                                                                         \
  "run: {step: 2 ms, error: {kind: normal, size: 1 N}, pieces: [{sine: 0.1 m/s, frequency: 0.5 Hz, time: 4 s},\n" \
  "  {half_cosine: 0.05 m/s, time: 0.5 s}, {lag: 0.001 m/s, time_constant: 5 ms, time: 1 s}]}\n"

static void test_seeds(void **state) {
  scratch *s = *state;
  scratch_put(s, "fit.yaml",
              SIMULATED
              "truth: {numbers: true}\nrepeats: 3\nseed: 7\n"
              "fit: {law: reduced, start: true, method: complete, parameters: [Fs, Fc, sigma_0, tau_hn]}\n"
              "variants: {one: {repeats: ~}}\n");
  json_t *all = json_of(s, "friction-fit fit.yaml --json -");
  static const char *const keys[] = {"Fs", "Fc", "sigma_0", "tau_hn"};
  for (int k = 0; k < 3; k++) {
    char command[100];
    snprintf(command, sizeof command, "friction-fit fit.yaml --variant one --seed %d --json -", 7 + k);
    json_t *one = json_of(s, command);
    for (int i = 0; i < 4; i++) {
      assert_true(entry(all, keys[i], "estimates", (size_t)k) == number(one, keys[i], "value"));
      assert_true(entry(all, keys[i], "sigmas", (size_t)k) == number(one, keys[i], "sigma"));
    }
    json_decref(one);
  }
  assert_true(!has_remark(all, "series.spread") && number(all, "Fs", "truth") == 100);
  json_decref(all);
  outcome o = run(s, "friction-fit fit.yaml --quiet --plot -");
  ends_with(o, 0);
  says(o.out, "- true value");
  forget(o);
  scratch_put(s, "study.yaml", "cases: {a: {experiment: fit.yaml, do: friction}}\n");
  o = run(s, "study study.yaml");
  ends_with(o, 2);
  says(o.err, "found a series of 3 runs, expected a single fit");
  forget(o);
}

static void test_positions(void **state) {
  scratch *s = *state;
  put_log(s, "x.csv", 1, true, 0);
  scratch_put(
      s, "fit.yaml",
      LAWS
      "parameters: [Fs, Fc, vs, viscous, positions], positions: [0 mm, 40 mm, 80 mm, 130 mm], normal_position: 0 mm}\n"
      "run: {log: x.csv, position: position}\n"
      "variants: {none: {fit: {positions: ~, normal_position: ~, parameters: [Fs, Fc, vs, viscous]}}}\n");
  json_t *all = json_of(s, "friction-fit fit.yaml --json -");
  near_relative(number(all, "factor_x2", "value"), 1.16, 1e-3);
  near_relative(number(all, "factor_x3", "value"), 1.32, 1e-3);
  near_relative(number(all, "factor_x4", "value"), 1.52, 1e-3);
  near_relative(number(all, "Fc", "value"), 100, 1e-3);
  near_relative(number(all, "viscous", "value"), 300, 2e-3);
  assert_true(json_number_value(json_object_get(all, "mean_abs_residual")) < 0.5);
  json_decref(all);
  // Without positions the verdict suggests them.
  outcome o = run(s, "friction-fit fit.yaml --variant none");
  says(o.out, "or estimate the variation ('positions' of 'fit')");
  forget(o);
  // A simulated run with its own positions.
  scratch_put(s, "fit.yaml",
              SIMULATED
              "truth: {numbers: true, position: {at: [0 m, 50 mm], factor: [1, 1.4]}}\n"
              "fit: {law: reduced, start: true, method: complete, parameters: [Fs, Fc, viscous, positions],\n"
              "  positions: [0 mm, 25 mm, 50 mm], normal_position: 0 mm}\n");
  all = json_of(s, "friction-fit fit.yaml --set run.error.size=0N --json -");
  near_relative(number(all, "factor_x2", "truth"), 1.2, 1e-12);
  near_relative(number(all, "factor_x2", "value"), 1.2, 1e-6);
  near_relative(number(all, "factor_x3", "value"), 1.4, 1e-6);
  near_relative(number(all, "Fs", "value"), 100, 1e-6);
  json_decref(all);
}

// The speed as the slope of the position. Oracle: the same log with its column of speeds; slopes of a sine differ from the speed
// by the third order of the window. The file has no column of speeds.
static void test_slopes(void **state) {
  scratch *s = *state;
  put_log(s, "a.csv", 1, false, 0);
  scratch_put(s, "fit.yaml",
              LAWS
              "parameters: [Fs, Fc, vs, viscous]}\nrun: {log: a.csv, position: position, velocity: none, slope: 4 ms}\n"
              "variants: {speed: {run: {velocity: velocity, slope: 0 s}}, short: {run: {slope: 0.5 ms}}}\n");
  json_t *slope = json_of(s, "friction-fit fit.yaml --json -"),
         *speed = json_of(s, "friction-fit fit.yaml --variant speed --json -");
  static const char *const keys[] = {"Fs", "Fc", "vs", "viscous"};
  for (int i = 0; i < 4; i++) near_relative(number(slope, keys[i], "value"), number(speed, keys[i], "value"), 2e-3);
  json_decref(slope), json_decref(speed);
  outcome o = run(s, "friction-fit fit.yaml --variant short");
  ends_with(o, 2);
  says(o.err, "'slope' is 0.0005 s; expected at least the time between two samples, 0.001 s");
  forget(o);
}

static void test_mistakes(void **state) {
  static const struct {
    const char *text, *message;
  } wrong[] = {
      {LAWS "parameters: [Fs, positions]}\nrun: {log: x.csv, position: position}\n",
       "need the key 'positions' of 'fit'"},
      {LAWS "positions: [0 m, 1 m], parameters: [Fs, positions]}\nrun: {log: x.csv}\n", "a run with positions"},
      {LAWS "positions: [1 m, 0 m], parameters: [Fs]}\nrun: {log: x.csv, position: position}\n",
       "expected positions in ascending order"},
      {LAWS "positions: [1 m], parameters: [Fs]}\nrun: {log: x.csv, position: position}\n",
       "found 1 numbers in 'positions', expected 2 to 12"},
      {LAWS "positions: 1 m, parameters: [Fs]}\nrun: {log: x.csv, position: position}\n",
       "expected a list of 2 to 12 numbers"},
      {LAWS "positions: [0 m, 1 m], normal_position: 0.5 m, parameters: [Fs]}\nrun: {log: x.csv, position: position}\n",
       "'normal_position' is 0.5 m; expected one of 'positions'"},
      {LAWS "normal_position: 0.5 m, parameters: [Fs]}\nrun: {log: x.csv, position: position}\n",
       "'normal_position' needs 'positions'"},
      {LAWS "positions: [0 m, 1 m], parameters: [Fs, factor_x3]}\nrun: {log: x.csv, position: position}\n",
       "the parameter 'factor_x3' needs 3 or more 'positions'; found 2"},
      {LAWS "parameters: [Fs]}\nrun: {log: x.csv, slope: 10 ms}\n", "'slope' needs the column 'position'"},
      {LAWS "parameters: [Fs]}\nrun: {log: []}\n", "found an empty list, expected a file or a list of files"},
      {LAWS "parameters: [Fs]}\nrun: {log: x.csv}\nrepeats: 3\n", "give a list of logs"},
      {SIMULATED
       "truth: {numbers: true, position: {at: [0 m, 1 m], factor: [1, 2, 3]}}\nfit: {law: reduced, start: true, method: complete}\n",
       "found 2 positions and 3 factors"},
      {SIMULATED "truth: {numbers: true}\nrepeats: 2\nfit: {law: reduced, start: true, method: complete}\n"
                 "map: {p1: [20 bar, 50 bar], p2: [20 bar, 50 bar], normal: [50 bar, 50 bar]}\n",
       "found a series and a 'map'"},
  };
  put_log(*state, "x.csv", 1, true, 0);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    scratch_put(*state, "wrong.yaml", wrong[i].text);
    outcome o = run(*state, "friction-fit wrong.yaml");
    ends_with(o, 2);
    says(o.err, wrong[i].message);
    forget(o);
  }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_logs), TEST(test_seeds), TEST(test_positions), TEST(test_slopes),
                                     TEST(test_mistakes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
