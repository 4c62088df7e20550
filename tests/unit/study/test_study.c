// Study files and their runs: what is wrong is said with its place, results do not depend on the number of threads, and
// an interrupt leaves what is done.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study/study.h"
#include "support/scratch.h"

#define CASE OD_SOURCE_DIR "/cases/fourbar-valve/"

// What loading a file with this text says, a line per message.
static char *messages_of(scratch *s, const char *text, const od_study_options *options, od_study **study) {
  static char said[4000];
  od_messages *messages = od_messages_new();
  const char *path = scratch_write(s, "x.yaml", text, strlen(text));
  size_t folder = strlen(path) - strlen("x.yaml"), n = 0;
  od_study_load(path, options, study, messages);
  said[0] = 0;
  for (int i = 0; i < od_messages_count(messages); i++) {
    const od_message *m = od_messages_get(messages, i);
    const char *file = m->file ? m->file : "";
    if (!strncmp(file, path, folder)) file += folder;
    n += (size_t)snprintf(said + n, sizeof said - n, "%s:%d:%d: %s\n", file, m->line, m->column, m->text);
  }
  od_messages_free(messages);
  return said;
}

static void mistakes_have_places(void **state) {
  od_study *study = NULL;
  assert_string_equal(messages_of(*state, "", NULL, &study), "x.yaml:0:0: is empty; a study needs at least 'cases'\n");
  assert_string_equal(messages_of(*state, "cases: {}\n", NULL, &study),
                      "x.yaml:1:8: a study needs at least one case\n");
  const char *said = messages_of(*state,
                                 "seeds: 0\nstart: rndom\ncases:\n"
                                 "  a: {experiment: nowhere.yaml, sed: 3}\n"
                                 "  b: {experiment: " CASE
                                 "points-3.experiment.yaml, truth: 3-S9, set: {tiem: 3 s}}\n"
                                 "  c: {do: guess, experiment: x}\n  d: {}\n",
                                 NULL, &study);
  assert_non_null(strstr(said, "x.yaml:1:8: seeds is '0', must be greater than zero\n"));
  assert_non_null(strstr(said, "x.yaml:2:8: found 'rndom'; did you mean 'random'?\n"));
  assert_non_null(strstr(said, "unknown key 'sed' in the case 'a'; did you mean 'set'?"));
  assert_non_null(strstr(said, "x.yaml:5:3: truth: there is no variant '3-S9'; did you mean '3-S1'?\n"));
  assert_non_null(strstr(said, "x.yaml:6:11: found 'guess'"));
  assert_non_null(strstr(said, "x.yaml:7:3: the case 'd' needs 'experiment'\n"));
  assert_non_null(strstr(said, "x.yaml:4:3: nowhere.yaml cannot be read: "));
  assert_null(study);
  const char *only[] = {"b"};
  const od_study_options options = {.only = only, .only_count = 1};
  said = messages_of(*state, "cases: {a: {experiment: " CASE "points-3.experiment.yaml}}\n", &options, &study);
  assert_string_equal(said, "--case:0:0: there is no case 'b'\n");
  only[0] = "wron";
  said = messages_of(*state, "cases: {worn: {experiment: " CASE "points-3.experiment.yaml}}\n", &options, &study);
  assert_string_equal(said, "--case:0:0: there is no case 'wron'; did you mean 'worn'?\n");
}

// Which metrics a case has is known when it is prepared.
static void published_metrics_exist(void **state) {
  od_study *study = NULL;
  messages_of(*state,
              "seeds: 1\ncases:\n  a: {experiment: " CASE
              "points-3.experiment.yaml, set: {time: 0.05 s}, published: {curve_rmse_precent: 1}}\n",
              NULL, &study);
  assert_non_null(study);
  od_study_result *r = NULL;
  od_error err = {0};
  assert_int_equal(od_study_run(study, NULL, &r, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "x.yaml:3:"));
  assert_non_null(
      strstr(err.text, "the case 'a' has no metric 'curve_rmse_precent'; did you mean 'curve_rmse_percent'?"));
  assert_null(r);
  od_study_free(study);
}

static const char small[] =
    "study: small\nseeds: 3\nstart: random\ncases:\n"
    "  fine: {experiment: " CASE
    "points-3.experiment.yaml, set: {time: 0.3 s}, published: {curve_rmse_percent: 0.04}}\n"
    "  fixed: {experiment: " CASE "points-3.experiment.yaml, set: {time: 0.1 s}, start: model, seeds: 2}\n";

static od_study_result *run(scratch *s, int threads, bool (*progress)(void *, double), void *user, od_status *status) {
  static od_study *study;
  od_study_free(study);
  study = NULL;
  const char *said = messages_of(s, small, NULL, &study);
  if (!study) fail_msg("%s", said);
  const od_study_run_options options = {.threads = threads, .progress = progress, .user = user};
  od_study_result *r = NULL;
  od_error err = {0};
  *status = od_study_run(study, &options, &r, &err);
  return r;
}

static void same_bits_on_any_number_of_threads(void **state) {
  od_status status;
  od_study_result *one = run(*state, 1, NULL, NULL, &status);
  assert_int_equal(status, OD_OK);
  double values[64][3];
  int rows = one->rows;
  assert_true(rows > 10 && rows < 64 && one->done == 5 && one->row[0].metric->published == 0.04);
  assert_true(one->row[0].metric->bound > 0 && one->row[0].value > 0);
  for (int i = 0; i < rows; i++)
    memcpy(values[i], (double[]){one->row[i].value, one->row[i].low, one->row[i].high}, sizeof *values);
  od_study_result_free(one);
  od_study_result *three = run(*state, 3, NULL, NULL, &status);
  assert_int_equal(three->rows, rows);
  for (int i = 0; i < rows; i++)
    assert_memory_equal(values[i], ((double[]){three->row[i].value, three->row[i].low, three->row[i].high}),
                        sizeof *values);
  od_study_result_free(three);
}

static bool stop_at_once(void *user, double done) {
  (void)user, (void)done;
  return false;
}

static void an_interrupt_keeps_what_is_done(void **state) {
  od_status status;
  od_study_result *r = run(*state, 1, stop_at_once, NULL, &status);
  assert_int_equal(status, OD_INTERRUPTED);
  assert_true(r && r->done < r->all);
  for (int i = 0; i < r->rows; i++) assert_true(r->row[i].runs <= r->done);
  od_study_result_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(mistakes_have_places, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(published_metrics_exist, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(same_bits_on_any_number_of_threads, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(an_interrupt_keeps_what_is_done, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
