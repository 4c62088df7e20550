// cases/valve-wear with a few seeds. Oracle: the true values of the simulated machine; a step of a curve point is detected, with the right
// parameter and an estimate within three standard deviations; an observer that follows random walks is consistent (NEES of all
// parameters within its 99 % interval). The study files of the case have more seeds.
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "study/study.h"
#include "support/scratch.h"

#define CASE OD_SOURCE_DIR "/cases/valve-wear/"

static od_study_result *run(scratch *s, const char *text, od_study **study) {
  od_messages *messages = od_messages_new();
  od_study_result *r = NULL;
  od_error err = {0};
  if (od_study_load(scratch_write(s, "study.yaml", text, strlen(text)), NULL, study, messages) != OD_OK)
    od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(*study);
  assert_int_equal(od_study_run(*study, NULL, &r, &err), OD_OK);
  return r;
}

static const od_study_row *row_of(const od_study_result *r, const char *metric) {
  for (int i = 0; i < r->rows; i++)
    if (strcmp(r->row[i].metric->name, metric) == 0) return &r->row[i];
  fail_msg("there is no metric %s", metric);
  return NULL;
}

static void test_step(void **state) {
  od_study *study = NULL;
  od_study_result *r = run(
      *state, "seeds: 4\ncases: {step: {experiment: " CASE "step.experiment.yaml, variant: two-seconds}}\n", &study);
  near(row_of(r, "changes")->value, 4, 0);
  near(row_of(r, "changes_wrong")->value, 0, 0);
  near(row_of(r, "changes_missed")->value, 0, 0);
  near(row_of(r, "a_within_3_sigma")->value, 1, 0);
  assert_true(row_of(r, "change_delay_s")->value > 0.3 && row_of(r, "change_delay_s")->value < 1.2);
  assert_true(row_of(r, "a_sigma")->value < 0.8);
  od_study_result_free(r);
  od_study_free(study);
}

static void test_walk(void **state) {
  od_study *study = NULL;
  od_study_result *r =
      run(*state,
          "seeds: 5\nstart: random\n"
          "cases: {walk: {experiment: " CASE "wear.experiment.yaml, variant: walk, set: {time: 8 s}}}\n",
          &study);
  const od_study_row *nees = row_of(r, "nees_per_dim");
  if (od_study_row_outside(nees)) fail_msg("NEES %g, expected %g to %g", nees->value, nees->low, nees->high);
  near(row_of(r, "diverged")->value, 0, 0);
  od_study_result_free(r);
  od_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_step, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_walk, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
