// Requirements in the table, JSON, the report, exit codes and studies. Oracle: a first-order lag in closed form: 1 - exp(-t) at 1 s is
// 0.632.
#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>

#include "support/program.h"

#define LAG                                                                   \
  "machine: Lag\n"                                                            \
  "inputs: {r: {constant: 1}}\n"                                              \
  "blocks: {y: {type: first-order, input: r, gain: 1, time_constant: 1 s}}\n" \
  "run: {time: 1 s, step: 1 ms, outputs: [r]}\n"

static const char good[] = LAG "requirements: {top: {text: Not too high, output: y, max: 0.7}}\n";
static const char mixed[] = LAG
    "requirements:\n"
    "  top: {output: y, max: 0.7}\n"
    "  low: {text: It shall be slow & steady, output: y, from: 0.5 s, max: 0.6}\n";
static const char late[] = LAG
    "requirements:\n"
    "  top: {output: y, to: 2 s, max: 0.7}\n"
    "  end: {output: y, from: 1 s, max: 0.7}\n"
    "  fine: {output: y, to: 1 s, max: 0.7}\n";

static scratch *with_machines(void **state) {
  scratch_write(*state, "good.yaml", good, sizeof good - 1);
  scratch_write(*state, "mixed.yaml", mixed, sizeof mixed - 1);
  scratch_write(*state, "late.yaml", late, sizeof late - 1);
  return *state;
}

static void test_table_and_exit_code(void **state) {
  scratch *s = with_machines(state);
  outcome o = run(s, "simulate good.yaml");
  ends_with(o, 0);
  says(o.out, "requirement  required     reached   at   left       outcome");
  says(o.out, "top          at most 0.7  0.632121  1 s");
  says(o.out, "pass\n");
  forget(o);
  o = run(s, "simulate mixed.yaml");
  ends_with(o, 4);
  says(o.out, "fail\n");
  says(o.out, "  low: fail; required at most 0.6, reached 0.632121. It shall be slow & steady\n");
  says(o.out, "verdict: sound");
  forget(o);
  // Without a table there is a warning; --set can relax a requirement.
  ends_and_says(run(s, "simulate mixed.yaml --quiet"), 4, "warning: low: fail; required at most 0.6, reached 0.632");
  expect_code(run(s, "simulate mixed.yaml --set requirements.low.max=0.65"), 0);
  ends_and_says(run(s, "simulate mixed.yaml --set requirements.low.mx=0.65"), 2,
                "did you mean 'requirements.low.max'?");
  expect_code(run(s, "simulate mixed.yaml --no-requirements"), 0);
}

static void test_windows_beyond_the_run(void **state) {
  scratch *s = with_machines(state);
  outcome o = run(s, "simulate late.yaml --json r.json");
  ends_with(o, 2);
  says(o.err, "late.yaml:6:3: the window of the requirement 'top' extends to 2 s, but the run ends at 1 s");
  says(o.err, "late.yaml:7:3: the window of the requirement 'end' extends to 1 s");
  assert_null(strstr(o.err, "'fine'"));
  forget(o);
  expect_code(run(s, "simulate late.yaml --time 2"), 4);
  expect_code(run(s, "simulate late.yaml --no-requirements"), 0);
}

static void test_json(void **state) {
  scratch *s = with_machines(state);
  expect_code(run(s, "simulate mixed.yaml --json r.json --quiet"), 4);
  json_error_t error;
  json_t *all = json_load_file(scratch_path(s, "r.json"), 0, &error), *list = json_object_get(all, "requirements");
  assert_int_equal(json_array_size(list), 2);
  json_t *low = json_array_get(list, 1);
  assert_string_equal(json_string_value(json_object_get(low, "name")), "low");
  assert_string_equal(json_string_value(json_object_get(low, "outcome")), "fail");
  assert_string_equal(json_string_value(json_object_get(low, "text")), "It shall be slow & steady");
  assert_true(fabs(json_number_value(json_object_get(low, "reached")) - (1 - exp(-1))) < 1e-6);
  assert_true(fabs(json_number_value(json_object_get(low, "left")) - (0.6 - 1 + exp(-1))) < 1e-6);
  assert_true(json_number_value(json_object_get(low, "at")) == 1);
  assert_string_equal(json_string_value(json_object_get(all, "requirements_outcome")), "fail");
  json_decref(all);
}

// The page has the same words, and is well-formed for any text in them.
static void test_report(void **state) {
  scratch *s = with_machines(state);
  expect_code(run(s, "simulate mixed.yaml --report r.html --quiet"), 4);
  char *page = scratch_read(scratch_path(s, "r.html"));
  says(page, "It shall be slow &amp; steady");
  says(page, "at most 0.6");
  says(page, "0.632121");
  says(page, "class=\"words marked\">fail<");
  says(page, "1 of 2 pass");
  says(page, "Bounds over time");
  free(page);
  if (system("command -v xmllint >/dev/null") != 0) return;
  char command[600];
  snprintf(command, sizeof command, "xmllint --noout %s", scratch_path(s, "r.html"));
  assert_int_equal(system(command), 0);
}

static void test_studies(void **state) {
  scratch *s = with_machines(state);
  static const char study[] =
      "study: Lags\n"
      "cases:\n"
      "  mixed: {machine: mixed.yaml, do: simulate, published: {low: 0.63}, reference: {low: 0.6321}}\n"
      "  slow: {machine: mixed.yaml, do: simulate, set: {y.time_constant: 2 s}}\n";
  scratch_write(s, "study.yaml", study, sizeof study - 1);
  outcome o = run(s, "study study.yaml --json rows.json");
  ends_with(o, 0);
  says(o.out, "published  reference");
  forget(o);
  json_error_t error;
  json_t *rows = json_load_file(scratch_path(s, "rows.json"), 0, &error), *row;
  size_t i;
  int seen = 0;
  json_array_foreach(rows, i, row) {
    const char *name = json_string_value(json_object_get(row, "case")),
               *metric = json_string_value(json_object_get(row, "metric"));
    double value = json_number_value(json_object_get(row, "value"));
    bool slow = !strcmp(name, "slow");
    double reached = 1 - exp(slow ? -0.5 : -1);
    if (!strcmp(metric, "low")) {
      seen++;
      assert_true(fabs(value - reached) < 1e-6 && json_number_value(json_object_get(row, "bound")) == 0.6);
      if (!slow) {
        assert_true(json_number_value(json_object_get(row, "published")) == 0.63);
        assert_true(json_number_value(json_object_get(row, "reference")) == 0.6321);
      }
    }
    if (!strcmp(metric, "low left")) seen++, assert_true(fabs(value - (0.6 - reached)) < 1e-6);
    if (!strcmp(metric, "unmet")) seen++, assert_true(value == !slow);
    if (!strcmp(metric, "failed") || !strcmp(metric, "undecided")) seen++, assert_true(value == 0);
  }
  assert_int_equal(seen, 10);
  json_decref(rows);
}

static void test_mistakes_in_studies(void **state) {
  scratch *s = with_machines(state);
  static const char study[] =
      "cases:\n"
      "  a: {experiment: good.yaml, do: simulate}\n"
      "  b: {machine: good.yaml}\n"
      "  c: {machine: good.yaml, do: simulate, seeds: 5}\n"
      "  d: {machine: nothing.yaml, do: simulate}\n";
  scratch_write(s, "study.yaml", study, sizeof study - 1);
  outcome o = run(s, "study study.yaml");
  ends_with(o, 2);
  says(o.err, "study.yaml:2:19: error: a case with 'do: simulate' requires 'machine' instead of 'experiment'");
  says(o.err, "study.yaml:3:16: error: a case with 'do: observe' requires 'experiment' instead of 'machine'");
  says(o.err,
       "study.yaml:4:48: error: 'seeds' of a simulation requires 'draw'; without 'draw' the simulation runs once");
  says(o.err, "nothing.yaml");
  forget(o);
  static const char bare[] = "cases: {a: {machine: late.yaml, do: simulate}}\n";
  scratch_write(s, "study.yaml", bare, sizeof bare - 1);
  ends_and_says(run(s, "study study.yaml"), 2, "the window of the requirement 'top' extends to 2 s");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_table_and_exit_code),
      TEST(test_windows_beyond_the_run),
      TEST(test_json),
      TEST(test_report),
      TEST(test_studies),
      TEST(test_mistakes_in_studies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
