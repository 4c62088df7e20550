// Runs of machines in studies (do: simulate): statistics of outputs in windows, runs that end early, mistakes.
//
// Oracle: a sine, of which extremes, mean and mean square over windows are closed forms; a lag that grows as exp(100 t).
#include <math.h>

#include "support/test.h"
#include "study/study.h"
#include "support/scratch.h"

static const char machine[] =
    "inputs: {u: {unit: Pa, sine: {amplitude: 3 bar, frequency: 1 Hz, offset: 1 bar}}}\n"
    "blocks:\n"
    "  copy: {type: gain, input: u, gain: 1}\n"
    "  lag: {type: first-order, input: u, time_constant: 1 s}\n"
    "run: {time: 2 s, step: 1 ms}\n"
    "variants: {judged: {requirements: {low: {output: copy, max: 4.1 bar}}},\n"
    "           half: {inputs: {u: {sine: {amplitude: 1.5 bar}}}},\n"
    "           unstable: {blocks: {lag: {time_constant: 5 ms, input: sum},\n"
    "                               sum: {type: sum, inputs: [u, lag], weights: [1, 1.5]}}}}\n";

static od_status load(scratch *s, const char *text, od_study **out, od_messages *messages) {
  scratch_write(s, "machine.yaml", machine, strlen(machine));
  scratch_write(s, "study.yaml", text, strlen(text));
  return od_study_load(scratch_path(s, "study.yaml"), NULL, out, messages);
}

static double value_of(const od_study_result *r, const char *name, const char *metric) {
  for (int i = 0; i < r->rows; i++)
    if (!strcmp(r->row[i].case_name, name) && !strcmp(r->row[i].metric->name, metric)) return r->row[i].value;
  fail_msg("no %s of %s", metric, name);
  return NAN;
}

static void test_values(void **state) {
  od_messages *messages = od_messages_new();
  od_study *study = NULL;
  od_study_result *r = NULL;
  od_error err = {0};
  od_status status =
      load(*state,
           "values:\n"
           "  low: {output: copy, take: min, unit: bar}\n"
           "  high: {output: copy, take: max, unit: bar}\n"
           "  quarter: {output: copy, take: max, unit: bar, to: 0.125 s}\n"
           "  last: {output: copy, take: final, from: 0.5 s, to: 1.25 s}\n"
           "  mean: {output: copy, take: mean, from: 1 s, to: 1.999 s, unit: kPa}\n"
           "  rms: {output: copy, take: rms, from: 1 s, to: 1.999 s, unit: bar}\n"
           "  peak: {output: copy, take: peak, from: 0.6 s, to: 0.9 s, unit: bar}\n"
           "  none: {output: copy, take: max, from: 5 s}\n"
           "cases:\n"
           "  whole: {machine: machine.yaml, do: simulate, published: {low: -2}}\n"
           "  sets: {machine: machine.yaml, do: simulate, variants: [half],\n"
           "         set: {inputs.u.sine.offset: 2 bar}, values: {high: {output: copy, take: max, unit: bar}}}\n"
           "  grows: {machine: machine.yaml, do: simulate, variant: unstable}\n",
           &study, messages);
  if (status != OD_OK) od_messages_print(messages, stderr, false);
  assert_int_equal(status, OD_OK);
  assert_int_equal(od_study_run(study, &(od_study_run_options){.threads = 2}, &r, &err), OD_OK);
  const struct {
    const char *name;
    double value;
  } want[] = {{"low", -2},   {"high", 4},    {"quarter", 1 + 3 * sqrt(0.5)},
              {"last", 4e5}, {"mean", 100},  {"rms", sqrt(1 + 4.5)},
              {"peak", 2},   {"doubtful", 0}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++)
    assert_true(fabs(value_of(r, "whole", want[i].name) - want[i].value) <= 1e-9 * fabs(want[i].value));
  assert_true(isnan(value_of(r, "whole", "none")));
  assert_true(fabs(value_of(r, "sets/half", "high") - 3.5) < 1e-9);
  // A run that ends early has no values, and this is reported.
  assert_true(isnan(value_of(r, "grows", "high")) && value_of(r, "grows", "doubtful") == 1);
  od_study_result_free(r);
  od_study_free(study);
  od_messages_free(messages);
}

// The largest value of a copy is 4 bar times its gain, so its distribution is that of the gain; the requirement is below 4.1 bar, a
// gain of 1.025. Bits do not depend on threads.
static void test_draws(void **state) {
  od_messages *messages = od_messages_new();
  od_study *study[2] = {NULL, NULL};
  od_study_result *r[2] = {NULL, NULL};
  od_error err = {0};
  for (int i = 0; i < 2; i++) {
    od_status status = load(
        *state,
        "seeds: 200\nvalues: {high: {output: copy, take: max, unit: bar}}\n"
        "cases:\n"
        "  normal: {machine: machine.yaml, do: simulate, set: {run.step: 25 ms}, draw: {copy.gain: {normal: [1, 0.05]}},\n"
        "           variants: [judged]}\n"
        "  within: {machine: machine.yaml, do: simulate, set: {run.step: 25 ms}, draw: {copy.gain: {within: 10 %}}}\n"
        "  relative: {machine: machine.yaml, do: simulate, set: {run.step: 25 ms}, draw: {copy.gain: {relative: 10 %}}}\n"
        "  lag: {machine: machine.yaml, do: simulate, set: {run.step: 25 ms}, draw: {lag.time_constant: {uniform: [-500 ms, 500 ms]}}}\n",
        &study[i], messages);
    if (status != OD_OK) od_messages_print(messages, stderr, false);
    assert_int_equal(status, OD_OK);
    assert_int_equal(od_study_run(study[i], &(od_study_run_options){.threads = 1 + 2 * i}, &r[i], &err), OD_OK);
  }
  assert_int_equal(r[0]->rows, r[1]->rows);
  for (int k = 0; k < r[0]->rows; k++) assert_memory_equal(&r[0]->row[k].value, &r[1]->row[k].value, sizeof(double));
  // Five standard errors of 200 draws, and of quantiles by the density there.
  const struct {
    const char *name, *metric;
    double value, error;
  } want[] = {{"normal/judged", "high", 4, 0.2 / 14},
              {"normal/judged", "high sd", 0.2, 0.2 / 20},
              {"normal/judged", "high 5 %", 4 - 0.329, 0.03},
              {"normal/judged", "high 95 %", 4 + 0.329, 0.03},
              {"normal/judged", "low met", 0.6915, 0.0327},
              {"normal/judged", "all met", 0.6915, 0.0327},
              {"within", "high", 4, 0.231 / 14},
              {"within", "high sd", 0.2309, 0.0106},
              {"relative", "high sd", 0.4, 0.4 / 20},
              {"lag", "impossible", 100, 7.1}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    double found = value_of(r[0], want[i].name, want[i].metric);
    if (!(fabs(found - want[i].value) < 5 * want[i].error))
      fail_msg("%s %s is %g, not %g +- %g", want[i].name, want[i].metric, found, want[i].value, want[i].error);
  }
  assert_true(value_of(r[0], "within", "high 99 %") <= 4.4 && value_of(r[0], "within", "high 1 %") >= 3.6);
  for (int i = 0; i < 2; i++) {
    od_study_result_free(r[i]);
    od_study_free(study[i]);
  }
  od_messages_free(messages);
}

static void test_mistakes(void **state) {
  static const char *const list[][2] = {
      {"values: {v: {output: copy, take: max}}\ncases: {a: {machine: machine.yaml, do: simulate, seeds: 3}}\n",
       "'seeds' of a simulation requires 'draw'"},
#define DRAW(text)                           \
  "values: {v: {output: copy, take: max}}\n" \
  "cases: {a: {machine: machine.yaml, do: simulate, draw: " text "}}\n"
      {DRAW("{copi.gain: {within: 5 %}}"), "has no number 'copi.gain'; did you mean 'copy.gain'?"},
      {DRAW("{copy.gain: {uniform: [2, 1]}}"),
       "the upper limit of 'uniform' is below the lower limit; expected [1, 2]"},
      {DRAW("{copy.gain: {normal: [2, -1]}}"), "found a standard deviation of -1, expected zero or more"},
      {DRAW("{copy.gain: {normal: [2 m, 1 mm]}}"), "has one number in m and one in mm; give both numbers in one unit"},
      {DRAW("{copy.gain: {normal: 2}}"), "'normal' must be [mean, standard deviation]"},
      {DRAW("{copy.gain: {}}"), "has no distribution; expected one of 'normal', 'uniform', 'relative' and 'within'"},
      {DRAW("{copy.gain: {normal: [1, 1], within: 2 %}}"), "has two distributions; expected one"},
      {DRAW("{inputs.u.sine.phase: {within: 2 %}}"), "is zero, so each fraction of this number is zero"},
      {DRAW("{copy.gain: {relative: 10}}"),
       "'relative' is a fraction: found 10 (1000 %), expected at most 1, for example 0.1 (10 %)"},
      {DRAW("{copy.gain: {within: 250 %}}"),
       "'within' is a fraction: found 2.5 (250 %), expected at most 1, for example 0.025 (2.5 %)"},
      {DRAW("{}"), "'draw' is empty"},
      {"cases: {a: {experiment: machine.yaml, draw: {x: {within: 5 %}}}}\n",
       "'draw' is allowed only with 'do: simulate'; remove this key"},
      {"cases: {a: {experiment: machine.yaml, values: {v: {output: copy, take: max}}}}\n",
       "'values' is allowed only with 'do: simulate'; remove this key"},
      {"values: {v: {output: copi, take: max}}\ncases: {a: {machine: machine.yaml, do: simulate}}\n",
       "did you mean 'copy'?"},
      {"values: {v: {output: copy, take: max, unit: mm}}\ncases: {a: {machine: machine.yaml, do: simulate}}\n",
       "'copy' is in Pa, which cannot be converted to 'mm'"},
      {"values: {v: {output: copy, take: loop}}\ncases: {a: {machine: machine.yaml, do: simulate}}\n",
       "the value 'v' is a loop and needs 'over'"},
      {"values: {v: {output: copy, take: max, over: u}}\ncases: {a: {machine: machine.yaml, do: simulate}}\n",
       "which only 'take: loop' uses; found 'take: max'"},
      {"values: {v: {output: copy, take: loop, over: lug}}\ncases: {a: {machine: machine.yaml, do: simulate}}\n",
       "has no output 'lug'"},
      {"values: {v: {output: copy, take: most}}\ncases: {a: {machine: machine.yaml, do: simulate}}\n",
       "must be min, max, peak, mean, rms, final or loop"},
      {"values: {v: {output: copy, take: max, from: 2 s, to: 1 s}}\ncases: {a: {machine: machine.yaml, do: simulate}}\n",
       "is from 2 s to 1 s"},
      {"values: {v: {output: copy, take: max}}\ncases: {a: {experiment: machine.yaml, do: simulate}}\n",
       "requires 'machine' instead of 'experiment'"},
      {"cases: {a: {machine: machine.yaml}}\n", "requires 'experiment' instead of 'machine'"},
      {"values: {v: {output: copy, take: max}}\ncases: {a: {machine: machine.yaml, do: simulate, variant: third}}\n",
       "third"},
      {"values: {v: {output: copy, take: max}}\ncases: {a: {machine: nowhere.yaml, do: simulate}}\n", "nowhere.yaml"},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    od_messages *messages = od_messages_new();
    od_study *study = NULL;
    char said[4096] = "";
    assert_int_not_equal(load(*state, list[i][0], &study, messages), OD_OK);
    assert_null(study);
    for (int k = 0; k < od_messages_count(messages); k++) {
      size_t used = strlen(said);
      snprintf(said + used, sizeof said - used, "%s\n", od_messages_get(messages, k)->text);
    }
    if (!strstr(said, list[i][1])) fail_msg("'%s' is not in:\n%s", list[i][1], said);
    od_messages_free(messages);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_values, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_draws, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_mistakes, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
