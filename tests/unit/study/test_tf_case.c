// Transfer functions in studies (do: tf).
//
// Oracle: a lag of first order, with a known transfer function: without noise a fit of order 1 explains its whole response, with
// noise the part that the noise permits, and Levy's method of order 1 and vector fitting agree.
#include <math.h>

#include "support/test.h"
#include "study/study.h"
#include "support/scratch.h"

static const char machine[] =
    "inputs: {u: {unit: V, stepped_sine: {amplitude: 2 V, from: 1 Hz, to: 20 Hz, step: 1 Hz, periods: 12}}}\n"
    "blocks: {lag: {type: first-order, input: u, gain: 3, time_constant: 20 ms}}\n"
    "run: {time: 44 s, step: 1 ms}\n";
static const char fit[] =
    "machine: machine.yaml\nstep: 1 ms\nsensors: {lag: {sigma: 0.1 V}}\nparameters: {lag.gain: {start: 2}}\n"
    "sets: {clean: {use: fit, noise: no}}\nvariants: {noisy: {sets: {clean: {noise: yes}}}}\n";
#define SWEEP "transfer: {from: 1 Hz, to: 20 Hz, step: 1 Hz, periods: 12, settle: 8, high: 15 Hz}\n"

static od_status load(scratch *s, const char *text, od_study **out, od_messages *messages) {
  scratch_put(s, "machine.yaml", machine);
  scratch_put(s, "fit.yaml", fit);
  scratch_put(s, "study.yaml", text);
  return od_study_load(scratch_path(s, "study.yaml"), NULL, out, messages);
}

static const od_study_row *row_of(const od_study_result *r, const char *name, const char *metric) {
  for (int i = 0; i < r->rows; i++)
    if (!strcmp(r->row[i].case_name, name) && !strcmp(r->row[i].metric->name, metric)) return &r->row[i];
  fail_msg("no %s of %s", metric, name);
  return NULL;
}

static void test_lag(void **state) {
  od_messages *messages = od_messages_new();
  od_study *study = NULL;
  od_study_result *r = NULL;
  od_error err = {0};
  od_status status = load(*state,
                          "seeds: 5\n" SWEEP
                          "cases:\n"
                          "  vf: {experiment: fit.yaml, do: tf, order: 1}\n"
                          "  levy: {experiment: fit.yaml, do: tf, order: 1, method: levy}\n"
                          "  noisy: {experiment: fit.yaml, variant: noisy, do: tf, order: 1, method: vf}\n"
                          "  many: {experiment: fit.yaml, do: tf, order: 16, method: sk}\n",
                          &study, messages);
  if (status != OD_OK) od_messages_print(messages, stderr, false);
  assert_int_equal(status, OD_OK);
  assert_int_equal(od_study_run(study, &(od_study_run_options){.threads = 1}, &r, &err), OD_OK);
  double vf = row_of(r, "vf", "amplitude_fit_percent")->value, levy = row_of(r, "levy", "amplitude_fit_percent")->value,
         noisy = row_of(r, "noisy", "amplitude_fit_percent")->value;
  print_message("amplitude fits: vf %.4f, levy %.4f, with noise %.3f\n", vf, levy, noisy);
  assert_true(vf > 99.8 && fabs(vf - levy) < 0.1);
  assert_true(noisy > 98 && noisy < vf);
  assert_true(row_of(r, "vf", "failed")->value == 0 && row_of(r, "vf", "unstable")->value == 0);
  // 15 points are too few for order 16.
  assert_true(row_of(r, "many", "failed")->value == 5);
  od_study_result_free(r);
  od_study_free(study);
  od_messages_free(messages);
}

static void test_mistakes(void **state) {
  static const struct {
    const char *text, *message;
  } wrong[] = {
      {"cases: {a: {experiment: fit.yaml, do: tf, order: 1}}\n",
       "'do: tf' requires the section 'transfer' of the study"},
      {SWEEP "cases: {a: {experiment: fit.yaml, do: tf}}\n", "order"},
      {SWEEP "cases: {a: {experiment: fit.yaml, do: tf, order: 17}}\n", "order"},
      {SWEEP "cases: {a: {experiment: fit.yaml, do: tf, order: 1, method: levi}}\n",
       "found 'levi'; did you mean 'levy'?"},
      {SWEEP "cases: {a: {experiment: fit.yaml, do: fit, order: 1}}\n",
       "'method' and 'order' are allowed only with 'do: tf'; remove these keys"},
      {"transfer: {from: 9 Hz, to: 1 Hz, step: 1 Hz}\ncases: {a: {experiment: fit.yaml, do: tf, order: 1}}\n",
       "expected at most 100 thousand increasing frequencies"},
      {"transfer: {from: 1 Hz, to: 9 Hz, step: 1 Hz, settle: 3}\ncases: {a: {experiment: fit.yaml, do: tf, order: 1}}\n",
       "found 'settle' 3 and 'periods' 3; expected 'settle' below 'periods'"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    od_messages *messages = od_messages_new();
    od_study *study = NULL;
    assert_int_equal(load(*state, wrong[i].text, &study, messages), OD_BAD_INPUT);
    int found = 0;
    for (int k = 0; k < od_messages_count(messages); k++)
      found += strstr(od_messages_get(messages, k)->text, wrong[i].message) != NULL;
    if (!found) od_messages_print(messages, stderr, false);
    if (!found) fail_msg("no message '%s'", wrong[i].message);
    od_messages_free(messages);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_lag, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_mistakes, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
