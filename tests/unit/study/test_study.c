// Study files and their runs: mistakes are reported with their place, results do not depend on the number of threads,
// and an interrupt keeps the finished runs. Oracles: exact messages, bit comparison.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "study/study.h"
#include "support/scratch.h"

#define CASE OD_SOURCE_DIR "/cases/fourbar-valve/"

// The messages of loading a file with this text, a line per message.
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
  assert_string_equal(messages_of(*state, "", NULL, &study),
                      "x.yaml:0:0: the file is empty; a study needs at least 'cases'\n");
  assert_string_equal(messages_of(*state, "cases: {}\n", NULL, &study),
                      "x.yaml:1:8: found no case, expected at least one case\n");
  const char *said = messages_of(*state,
                                 "seeds: 0\nstart: rndom\ncases:\n"
                                 "  a: {experiment: nowhere.yaml, sed: 3}\n"
                                 "  b: {experiment: " CASE
                                 "points-3.experiment.yaml, truth: 3-S9, set: {tiem: 3 s}}\n"
                                 "  c: {do: guess, experiment: x}\n  d: {}\n",
                                 NULL, &study);
  assert_non_null(strstr(said, "x.yaml:1:8: seeds is '0' but must be greater than zero\n"));
  assert_non_null(strstr(said, "x.yaml:2:8: found 'rndom'; did you mean 'random'?\n"));
  assert_non_null(strstr(said, "unknown key 'sed' in the case 'a'; did you mean 'set'?"));
  assert_non_null(strstr(said, "x.yaml:5:3: truth: there is no variant '3-S9'; did you mean '3-S1'?\n"));
  assert_non_null(strstr(said, "x.yaml:6:11: found 'guess'"));
  assert_non_null(strstr(said, "x.yaml:7:3: the case 'd' needs 'experiment'\n"));
  assert_non_null(strstr(said, "x.yaml:4:3: nowhere.yaml: the file cannot be read: "));
  assert_null(study);
  const char *only[] = {"b"};
  const od_study_options options = {.only = only, .only_count = 1};
  said = messages_of(*state, "cases: {a: {experiment: " CASE "points-3.experiment.yaml}}\n", &options, &study);
  assert_string_equal(said, "--case:0:0: the study has no case 'b'; expected a\n");
  only[0] = "wron";
  said = messages_of(*state, "cases: {worn: {experiment: " CASE "points-3.experiment.yaml}}\n", &options, &study);
  assert_string_equal(said, "--case:0:0: the study has no case 'wron'; did you mean 'worn'?\n");
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

// A case with `filter` has the same results as the variant of the experiment with this filter.
static void a_case_may_replace_the_filter(void **state) {
  od_study *study = NULL;
  const char *said = messages_of(*state,
                                 "cases:\n  a: {experiment: " CASE
                                 "points-3.experiment.yaml, filter: ekff}\n"
                                 "  b: {experiment: " CASE "points-3.experiment.yaml, do: fit, filter: ekf}\n",
                                 NULL, &study);
  assert_non_null(strstr(said, "x.yaml:2:3: filter: there is no filter 'ekff'; did you mean 'ekf'?\n"));
  assert_non_null(strstr(said, "'filter' is allowed only with 'do: observe'; remove this key\n"));
  assert_null(study);
  messages_of(*state,
              "seeds: 2\nstart: random\ncases:\n"
              "  a: {experiment: " CASE
              "points-3.experiment.yaml, set: {time: 0.1 s}, filter: iterated-ekf}\n"
              "  b: {experiment: " CASE
              "points-3.experiment.yaml, set: {time: 0.1 s}, variant: iterated-ekf}\n"
              "  c: {experiment: " CASE "points-3.experiment.yaml, set: {time: 0.1 s}}\n",
              NULL, &study);
  assert_non_null(study);
  od_study_result *r = NULL;
  assert_int_equal(od_study_run(study, NULL, &r, NULL), OD_OK);
  int each = 0;
  while (each < r->rows && !strcmp(r->row[each].case_name, "a")) each++;
  assert_true(each > 10 && r->rows > 3 * each);  // the relinearizing filter has more rows
  for (int i = 0; i < each; i++) {
    assert_string_equal(r->row[i].metric->name, r->row[i + each].metric->name);
    assert_memory_equal(&r->row[i].value, &r->row[i + each].value, sizeof(double));
  }
  assert_true(r->row[0].value != r->row[2 * each].value);
  od_study_result_free(r);
  od_study_free(study);
}

static const char small[] =
    "study: small\nseeds: 3\nstart: random\ncases:\n"
    "  fine: {experiment: " CASE
    "points-3.experiment.yaml, set: {time: 0.3 s}, published: {curve_rmse_percent: 0.04}}\n"
    "  fixed: {experiment: " CASE "points-3.experiment.yaml, set: {time: 0.1 s}, start: model, seeds: 2}\n";

static od_error last_error;

static od_study_result *run_with(scratch *s, od_study_run_options options, od_status *status) {
  static od_study *study;
  od_study_free(study);
  study = NULL;
  const char *said = messages_of(s, small, NULL, &study);
  if (!study) fail_msg("%s", said);
  od_study_result *r = NULL;
  *status = od_study_run(study, &options, &r, &last_error);
  return r;
}

static od_study_result *run(scratch *s, int threads, bool (*progress)(void *, double), void *user, od_status *status) {
  return run_with(s, (od_study_run_options){.threads = threads, .progress = progress, .user = user}, status);
}

// Values and intervals of all rows.
typedef struct outcome {
  int rows;
  double values[64][3];
} outcome;

static outcome outcome_of(od_study_result *r) {
  outcome o = {.rows = r->rows};
  assert_true(r->rows < 64);
  for (int i = 0; i < r->rows; i++)
    memcpy(o.values[i], (double[]){r->row[i].value, r->row[i].low, r->row[i].high}, sizeof *o.values);
  od_study_result_free(r);
  return o;
}

static void same_bits_on_any_number_of_threads(void **state) {
  od_status status;
  od_study_result *one = run(*state, 1, NULL, NULL, &status);
  assert_int_equal(status, OD_OK);
  int rows = one->rows;
  assert_true(rows > 10 && rows < 64 && one->done == 5 && one->row[0].metric->known[OD_PUBLISHED] == 0.04);
  assert_true(one->row[0].metric->bound > 0 && one->row[0].value > 0);
  const outcome first = outcome_of(one), second = outcome_of(run(*state, 3, NULL, NULL, &status));
  assert_memory_equal(&first, &second, sizeof first);
}

// One run of the whole study is the oracle. A missing or damaged part, and files of another study, are rejected.
static void same_bits_from_parts(void **state) {
  enum { PARTS = 3 };
  od_status status;
  const outcome whole = outcome_of(run(*state, 1, NULL, NULL, &status));
  char path[PARTS + 1][600];
  const char *paths[PARTS + 1];
  long runs = 0;
  for (int i = 0; i < PARTS; i++) {
    snprintf(path[i], sizeof path[i], "%s/part-%d.json", ((scratch *)*state)->folder, i + 1);
    paths[i] = path[i];
    od_study_result *r = run_with(
        *state, (od_study_run_options){.part = {i + 1, PARTS}, .values = path[i], .fingerprint = 4711}, &status);
    assert_int_equal(status, OD_OK);
    assert_true(r->done == r->all && r->done > 0);
    runs += r->done;
    od_study_result_free(r);
  }
  assert_int_equal(runs, 5);
  od_study_run_options options = {.merge = paths, .merge_count = PARTS, .fingerprint = 4711};
  const outcome merged = outcome_of(run_with(*state, options, &status));
  assert_int_equal(status, OD_OK);
  assert_memory_equal(&whole, &merged, sizeof whole);

  options.merge_count = PARTS - 1;
  assert_null(run_with(*state, options, &status));
  assert_int_equal(status, OD_BAD_INPUT);
  assert_string_equal(last_error.text, "1 run is in none of the files; run --part 3/3 again");
  options.fingerprint = 4712;
  assert_null(run_with(*state, options, &status));
  assert_non_null(strstr(last_error.text, "the file has values of another study"));
  options.fingerprint = 4711;
  const char *damaged[] = {"{", "[]", "{\"fingerprint\": \"0000000000001267\", \"part\": [1, 3], \"cases\": []}", ""};
  for (int i = 0; i < 4; i++) {
    scratch_write(*state, "part-1.json", damaged[i], strlen(damaged[i]));
    assert_null(run_with(*state, options, &status));
    assert_int_equal(status, OD_BAD_INPUT);
    assert_non_null(strstr(last_error.text, "part-1.json"));
  }
}

// Another digit anywhere in the file of a part: the part is rejected by its name. A change of a 17th digit may not change the number:
// then the rows have the same bits.
static void a_changed_digit_is_refused(void **state) {
  od_status status;
  char path[600];
  const char *paths[] = {path};
  snprintf(path, sizeof path, "%s/whole.json", ((scratch *)*state)->folder);
  const outcome whole =
      outcome_of(run_with(*state, (od_study_run_options){.values = path, .fingerprint = 4711}, &status));
  assert_int_equal(status, OD_OK);
  const od_study_run_options options = {.merge = paths, .merge_count = 1, .fingerprint = 4711};
  char *text = scratch_read(path);
  int tried = 0, refused = 0;
  for (char *c = text; *c; c++) {
    if (*c < '0' || *c > '9' || tried++ % 11 != 0) continue;
    *c ^= 1;
    scratch_write(*state, "whole.json", text, strlen(text));
    od_study_result *r = run_with(*state, options, &status);
    if (!r) assert_non_null(strstr(last_error.text, "whole.json: the file is damaged"));
    assert_int_equal(status, r ? OD_OK : OD_BAD_INPUT);
    refused += !r;
    if (r) {
      const outcome same = outcome_of(r);
      assert_memory_equal(&whole, &same, sizeof whole);
    }
    *c ^= 1;
  }
  assert_true(tried > 200 && refused > tried / 13);
  free(text);
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
      cmocka_unit_test_setup_teardown(a_case_may_replace_the_filter, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(same_bits_on_any_number_of_threads, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(same_bits_from_parts, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(a_changed_digit_is_refused, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(an_interrupt_keeps_what_is_done, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
