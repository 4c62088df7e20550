// oleodyn optimize: numbers that meet goals and requirements, bounds, exit codes, mistakes; and a fit of a number of a formula.
//
// Oracle: the step response K (1 - exp(-t/T)) of a lag, from which the numbers that meet a goal follow in closed form.
#include "support/test.h"

#include <jansson.h>
#include <math.h>

#include "support/program.h"

static const char machine[] =
    "inputs: {u: 1}\n"
    "blocks: {lag: {type: first-order, input: u, time_constant: 3 s, gain: 2}}\n"
    "run: {time: 3 s, step: 5 ms}\n"
    "variants:\n"
    "  metres: {blocks: {lag: {gain: 2 m}}}\n"
    "  judged: {requirements: {fast: {output: lag, min: 1, from: 1 s}}}\n"
    "  both: {requirements: {fast: {output: lag, min: 1, from: 1 s}, low: {output: lag, max: 1.8}}}\n";

static json_t *found(scratch *s, const char *options, int code) {
  scratch_write(s, "machine.yaml", machine, sizeof machine - 1);
  outcome o = run(s, "optimize machine.yaml --json - --quiet %s", options);
  if (o.code != code) fail_msg("%s ends with %d, not %d: %s%s", options, o.code, code, o.out, o.err);
  json_t *json = json_loads(o.out, 0, NULL);
  assert_non_null(json);
  forget(o);
  return json;
}

static json_t *number(json_t *json, size_t i) {
  return json_array_get(json_object_get(json, "numbers"), i);
}
static double value(json_t *json, size_t i) {
  return json_number_value(json_object_get(number(json, i), "value"));
}
static const char *place(json_t *json, size_t i) {
  return json_string_value(json_object_get(number(json, i), "at"));
}

static void test_goals(void **state) {
  json_t *json = found(*state, "--search 'lag.time_constant=100:5000 ms' --goal lag:final=1.2", 0);
  double T = -3 / log(1 - 1.2 / 2);
  if (!(fabs(value(json, 0) - T) < 2e-5 * T)) fail_msg("%.10g, not %.10g", value(json, 0), T);
  assert_true(json_is_true(json_object_get(json, "minimum")));
  json_decref(json);
  // Two numbers, over decades; the mean is K (1 - T/3 (1 - exp(-3/T))).
  json = found(*state,
               "--search 'lag.time_constant=0.05:50' --search lag.gain=0.1:20 --goal lag:final=1.2 --goal lag:mean=0.8",
               0);
  T = value(json, 0);
  double K = value(json, 1), decay = exp(-3 / T);
  assert_true(fabs(K * (1 - decay) - 1.2) < 1e-4 && fabs(K * (1 - T / 3 * (1 - decay)) - 0.8) < 2e-3);
  json_decref(json);
}

static void test_requirements(void **state) {
  // A hundredth of the bound remains.
  json_t *json = found(*state, "--variant judged --search lag.time_constant=0.1:5", 0);
  double T = -1 / log(1 - 1.01 / 2);
  if (!(value(json, 0) <= T * (1 + 1e-3) && value(json, 0) > 0.9 * T)) fail_msg("%g, not %g", value(json, 0), T);
  json_decref(json);
  json = found(*state, "--variant judged --search lag.time_constant=0.1:5 --reserve 20%", 0);
  assert_true(value(json, 0) <= -1 / log(1 - 1.2 / 2) * (1 + 1e-3));
  json_decref(json);
  // Numbers that already meet the goals do not change.
  json = found(*state, "--variant judged --search lag.time_constant=0.1:5 --set 'lag.time_constant=500 ms'", 0);
  assert_true(value(json, 0) == 0.5);
  json_decref(json);
  // Not reachable: the bound is active, and no better point is near.
  json = found(*state, "--variant judged --search lag.time_constant=2:5", 4);
  assert_true(fabs(value(json, 0) - 2) < 1e-6);
  assert_string_equal(place(json, 0), "lower");
  assert_true(json_is_true(json_object_get(json, "minimum")));
  assert_int_equal(json_integer_value(json_object_get(json, "unmet")), 1);
  json_decref(json);
  // Fast and low: between the two bounds.
  json = found(*state, "--variant both --search lag.time_constant=0.1:5", 0);
  assert_true(2 * (1 - exp(-1 / value(json, 0))) >= 1 && 2 * (1 - exp(-3 / value(json, 0))) <= 1.8);
  json_decref(json);
}

// The written variant is the machine with the optimized numbers.
static void test_variant(void **state) {
  json_t *json = found(
      *state, "--search lag.time_constant=0.1:5 --set lag.gain=2.5 --goal lag:final=1.2 --write-variant better", 0);
  double T = value(json, 0);
  json_decref(json);
  outcome o = run(*state, "simulate better.yaml --variant better --quiet --output lag --csv -");
  ends_with(o, 0);
  char *line = strrchr(o.out, ',');
  assert_non_null(line);
  assert_true(fabs(strtod(line + 1, NULL) - 1.2) < 1e-4 && fabs(2.5 * (1 - exp(-3 / T)) - 1.2) < 1e-4);
  forget(o);
}

// Parameters of formulas are numbers like all others: a fit estimates one of a flow, within four standard deviations of the true value
// of simulated data, in a unit with fractional powers.
static void test_fitted_formula(void **state) {
  static const char circuit[] =
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "inputs: {q: {unit: m3/s, sine: {amplitude: 5 l/min, frequency: 0.5 Hz, offset: 10 l/min}}}\n"
      "volumes: {A: {volume: 1 l}}\ntanks: {T: {pressure: 1 bar}}\npumps: {P: {to: A, flow: q}}\n"
      "flow_formulas:\n"
      "  o: {between: [A, T], flow: \"kq * smooth_root(p_a - p_b, 1 bar)\", parameters: {kq: 10 l/min / sqrt(35 bar)}}\n"
      "initial: {A.pressure: 10 bar}\nrun: {time: 2 s, step: 2 ms}\n";
  static const char fit[] =
      "machine: circuit.yaml\nmodel: {set: {o.parameters.kq: 6e-8}}\nsensors: {A.pressure: {sigma: 0.1 bar}}\n"
      "parameters: {o.parameters.kq: {low: 1e-8, high: 1e-6}}\nfit: {start: model}\n";
  scratch_write(*state, "circuit.yaml", circuit, sizeof circuit - 1);
  scratch_write(*state, "fit.yaml", fit, sizeof fit - 1);
  outcome o = run(*state, "fit fit.yaml --quiet --json -");
  ends_with(o, 0);
  json_t *json = json_loads(o.out, 0, NULL), *p = json_array_get(json_object_get(json, "parameters"), 0);
  double estimate = json_number_value(json_object_get(p, "estimate")),
         sigma = json_number_value(json_object_get(p, "sigma")), truth = 1e-2 / 60 / sqrt(35e5);
  if (!(fabs(estimate - truth) < 4 * sigma && sigma < 1e-3 * truth))
    fail_msg("%g +- %g, not %g", estimate, sigma, truth);
  json_decref(json);
  forget(o);
}

static void test_starts(void **state) {
  json_t *json = found(*state, "--search lag.time_constant=0.1:5 --goal lag:final=1.2 --starts 3", 0);
  assert_true(fabs(value(json, 0) + 3 / log(0.4)) < 1e-4);
  json_decref(json);
}

// A target of zero is met within a hundredth of the output's largest value, not of 1 in SI: a lag of gain 1e-4 is always nearer to zero
// than that.
static void test_zero_and_units(void **state) {
  json_t *json = found(*state, "--search lag.time_constant=1:2 --goal lag:final=0 --set lag.gain=1e-4", 4);
  assert_string_equal(place(json, 0), "upper");
  json_decref(json);
  json = found(*state, "--search 'lag.time_constant=100:5000 ms' --goal 'lag:final=1200 mm' --variant metres", 0);
  assert_true(fabs(value(json, 0) + 3 / log(0.4)) < 1e-4);
  json_decref(json);
}

// Steps that are too long are reported in the words of simulate, in terminal and JSON; if the run is wrong the exit code is 3.
static void test_run_verdict(void **state) {
  scratch_write(*state, "machine.yaml", machine, sizeof machine - 1);
  static const char search[] = "--search lag.time_constant=0.1:5 --goal lag:mean=1.8";
  outcome o = run(*state, "optimize machine.yaml %s --set run.step='0.25 s'", search);
  ends_with(o, 0);
  says(
      o.out,
      "verdict: doubtful (the result may be inaccurate or incomplete)\n  Step too long: with steps of 250 ms, lag is off by");
  forget(o);
  json_t *json = found(*state, "--search lag.time_constant=0.1:5 --goal lag:mean=1.8 --set run.step='0.25 s'", 0);
  assert_string_equal(json_string_value(json_object_get(json_object_get(json, "run_verdict"), "trust")), "doubtful");
  json_decref(json);
  o = run(*state, "optimize machine.yaml %s", search);
  says(o.out, "verdict: sound");
  forget(o);
}

static void says_warning(json_t *json, const char *shown, const char *text) {
  size_t i;
  json_t *item;
  int there = 0;
  json_array_foreach(json_object_get(json, "warnings"), i, item) there = there || strstr(json_string_value(item), text);
  if (!there) fail_msg("JSON does not say '%s'", text);
  says(shown, text);
}

// Automatic decisions of the search are reported in terminal and JSON in the same words: another start if the number of the file is
// outside the range; a requirement that the run cannot decide counts as met.
static void test_warnings(void **state) {
  scratch *s = *state;
  static const char outside[] = "--search lag.time_constant=0.1:2 --goal lag:final=1.9",  // the file has 3 s
      undecided[] = "--variant judged --search lag.time_constant=0.1:5 --set run.step='0.5 s'";
  scratch_write(s, "machine.yaml", machine, sizeof machine - 1);
  json_t *json = found(s, outside, 0);
  outcome o = run(s, "optimize machine.yaml %s", outside);
  says_warning(json, o.out, "'lag.time_constant' is 3 s, but its range is from 0.1 s to 2 s; the search began at 2 s");
  json_decref(json), forget(o);
  json = found(s, undecided, 4);
  o = run(s, "optimize machine.yaml %s", undecided);
  says_warning(json, o.out, "'fast': the run is not accurate enough to decide");
  says(o.out, "1 requirement is undecided; all other goals are met");
  says(json_string_value(json_object_get(json, "verdict")), "1 requirement is undecided; all other goals are met");
  json_decref(json), forget(o);
  json = found(s, "--search lag.time_constant=0.1:5 --goal lag:final=1.2", 0);
  assert_int_equal(json_array_size(json_object_get(json, "warnings")), 0);
  json_decref(json);
}

static void test_mistakes(void **state) {
  static const struct {
    const char *arguments, *says;
  } wrong[] = {
      {"", "no number is free"},
      {"--search lag.gain=1", "expected PATH=LOW:HIGH, such as"},
      {"--search lag.gian=1:2 --goal lag:final=1", "there is no number 'lag.gian'; did you mean 'lag.gain'?"},
      {"--search lag.gain=2:1 --goal lag:final=1", "is empty; expected PATH=LOW:HIGH"},
      {"--search 'lag.time_constant=1:2 kg' --goal lag:final=1",
       "--search: error: lag.time_constant=1 kg: '1 kg' is a mass; time_constant must be in s"},
      {"--search lag.time_constant=-1:2 --goal lag:final=1", "must be greater than zero"},
      {"--search lag.gain=1:2", "the search has no goal"},
      {"--search lag.gain=1:2 --goal lg:final=1", "there is no output 'lg'; did you mean 'lag'?"},
      {"--search lag.gain=1:2 --goal lag:most=1", "expected OUTPUT:TAKE=TARGET"},
      {"--search lag.gain=1:2 --goal 'lag:final=1 bar'", "--goal: "},
      {"--search lag.gain=1:2 --goal lag:final=", "--goal: "},
      {"--search lag.gain=1:2 --goal lag:final=1 --reserve 2", "expected a fraction of the bounds"},
      {"--search lag.gain=1:2 --goal lag:final=1 --starts 5000", "found 5000, expected 0 to 1000"},
  };
  scratch_write(*state, "machine.yaml", machine, sizeof machine - 1);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    ends_and_says(run(*state, "optimize machine.yaml %s", wrong[i].arguments), 2, wrong[i].says);
}

// The command in its earlier spelling does the same; help lists the command once.
static void test_earlier_spelling(void **state) {
  scratch_write(*state, "machine.yaml", machine, sizeof machine - 1);
  static const char search[] = "machine.yaml --search lag.gain=0.5:5 --goal lag:final=1.9";
  outcome now = run(*state, "optimize %s", search), before = run(*state, "optimise %s", search);
  assert_int_equal(now.code, 0);
  assert_int_equal(before.code, 0);
  assert_string_equal(before.out, now.out);
  forget(now), forget(before);
  outcome help = run(*state, "help");
  assert_non_null(strstr(help.out, "optimize"));
  assert_null(strstr(help.out, "optimise"));
  forget(help);
}

int main(void) {
#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {IN_SCRATCH(test_goals),       IN_SCRATCH(test_requirements),
                                     IN_SCRATCH(test_variant),     IN_SCRATCH(test_fitted_formula),
                                     IN_SCRATCH(test_starts),      IN_SCRATCH(test_zero_and_units),
                                     IN_SCRATCH(test_run_verdict), IN_SCRATCH(test_warnings),
                                     IN_SCRATCH(test_mistakes),    IN_SCRATCH(test_earlier_spelling)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
