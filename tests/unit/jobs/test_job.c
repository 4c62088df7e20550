// Jobs of the public API: options, settings, messages, results, tables, cancellation, threads, live connections. Oracles: the
// closed form of a first-order lag, the files that the same job writes, the descriptions of the options.
#include "support/test.h"

#include <math.h>
#include <pthread.h>

#include "oleodyn/oleodyn.h"
#include "support/scratch.h"

// y = 2 (1 - exp(-t / 0.5 s)) after a unit step.
static const char lag[] =
    "machine: Lag\ninputs: {u: 1 V}\n"
    "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}}\n"
    "run: {time: 2 s, step: 10 ms, integrator: rk4, outputs: [lag]}\n"
    "requirements: {small: {output: lag, max: 3 V}}\n";
// A volume of 1 l at 10 bar that a pump fills.
static const char volume[] =
    "oil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\nvolumes: {A: {volume: 1 L}}\n"
    "pumps: {pump: {to: A, flow: 0.1 L/min}}\ninitial: {A.pressure: 10 bar}\n"
    "run: {time: 100 ms, step: 1 ms, outputs: [A.pressure]}\n";
static const char experiment[] =
    "machine: lag.yaml\nstep: 10 ms\nsensors: {lag: {sigma: 50 mV}}\ndata: {file: log.csv}\n"
    "parameters: {lag.gain: {low: 0.1, high: 10, sigma: 1}}\n";

static od_job *make(scratch *s, const char *kind, const char *file) {
  od_job *job = od_job_new(kind);
  assert_non_null(job);
  assert_int_equal(od_job_add_file(job, scratch_path(s, file)), OD_OK);
  return job;
}

// --- Descriptions -------------------------------------------------------------------------------------------------------

static void all_kinds_describe_their_options(void **state) {
  (void)state;
  assert_true(od_job_kind_count() >= 20);
  assert_null(od_job_kind_name(od_job_kind_count()));
  assert_null(od_job_kind_name(-1));
  assert_null(od_job_new("simulat"));
  for (int i = 0; i < od_job_kind_count(); i++) {
    od_job *job = od_job_new(od_job_kind_name(i));
    assert_non_null(job);
    assert_true(strlen(od_job_kind_summary(i)) > 10);
    for (int k = 0; k < od_job_option_count(job); k++) {
      const od_job_option o = od_job_option_at(job, k);
      assert_true(strlen(o.name) > 0 && strlen(o.help) > 3);
      assert_null(strstr(o.help, "%s"));
      assert_int_equal(o.argument == NULL, o.type == OD_JOB_FLAG);
      for (int l = 0; l < k; l++) assert_string_not_equal(o.name, od_job_option_at(job, l).name);
    }
    assert_null(od_job_option_at(job, od_job_option_count(job)).name);
    assert_null(od_job_result(job));
    assert_null(od_job_table(job));
    od_job_free(job);
  }
  od_job_free(NULL);
}

static void wrong_settings_are_refused(void **state) {
  (void)state;
  od_job *job = od_job_new("simulate");
  od_error err = {0};
  assert_int_equal(od_job_set(job, "tim", "1 s", &err), OD_BAD_ARGUMENT);
  assert_string_equal(err.text, "unknown option '--tim'; did you mean '--time'?");
  assert_int_equal(od_job_set(job, "quiet", "yes", &err), OD_BAD_ARGUMENT);
  assert_int_equal(od_job_set(job, "time", NULL, &err), OD_BAD_ARGUMENT);
  assert_int_equal(od_job_set(job, "time", NULL, NULL), OD_BAD_ARGUMENT);
  // A value is checked by the run; without a file the run ends before.
  assert_int_equal(od_job_set(job, "time", "long", NULL), OD_OK);
  assert_int_equal(od_job_run(job), OD_JOB_BAD_INPUT);
  const od_messages *m = od_job_messages(job);
  assert_int_equal(od_messages_count(m), 1);
  assert_non_null(strstr(od_messages_get(m, 0)->text, "an argument is missing"));
  od_job_free(job);
}

// --- Results ------------------------------------------------------------------------------------------------------------

static void a_run_gives_its_table_and_its_result(void **state) {
  scratch *s = *state;
  od_job *job = make(s, "simulate", "lag.yaml");
  assert_int_equal(od_job_set(job, "quiet", NULL, NULL), OD_OK);
  assert_int_equal(od_job_set(job, "csv", scratch_path(s, "run.csv"), NULL), OD_OK);
  assert_int_equal(od_job_set(job, "json", scratch_path(s, "run.json"), NULL), OD_OK);
  od_job_keep_table(job);
  assert_int_equal(od_job_run(job), OD_JOB_DONE);
  const od_table *t = od_job_table(job);
  assert_non_null(t);
  assert_int_equal(od_table_rows(t), 201);
  int y = od_table_find(t, "lag");
  assert_true(y > 0 && od_table_find(t, "nothing") == -1);
  assert_string_equal(od_table_name(t, 0), "time");
  assert_string_equal(od_table_unit(t, y), "V");
  assert_string_equal(od_table_unit(t, 99), "");
  double column[201];
  od_table_copy(t, y, column);
  for (long i = 0; i < 201; i++) {
    near(column[i], 2 * (1 - exp(-0.01 * (double)i / 0.5)), 1e-8);
    assert_true(column[i] == od_table_value(t, i, y));
  }
  assert_true(isnan(od_table_value(t, 201, y)) && isnan(od_table_value(t, 0, -1)));

  // The CSV file has the same bits.
  od_table *file = NULL;
  od_error err = {0};
  assert_int_equal(od_table_open(scratch_path(s, "run.csv"), &file, &err), OD_OK);
  assert_int_equal(od_table_rows(file), 201);
  for (long i = 0; i < 201; i++) assert_true(od_table_value(file, i, y) == column[i]);
  od_table_free(file);
  assert_int_not_equal(od_table_open(scratch_path(s, "none.csv"), &file, &err), OD_OK);
  assert_null(file);

  // The result: verdict, data by path, and the text of the JSON file.
  const od_result *r = od_job_result(job);
  assert_int_equal(od_result_trust(r), OD_SOUND);
  assert_string_equal(od_result_get_text(r, "verdict.trust"), "sound");
  near(od_result_get_number(r, "outputs[lag].final"), column[200], 1e-15);
  near(od_result_get_number(r, "\"outputs\"[0].final"), column[200], 1e-15);
  assert_true(od_result_get_count(r, "outputs") == 1 && od_result_get_count(r, "verdict.trust") == -1);
  assert_true(isnan(od_result_get_number(r, "outputs[lag].none")) && isnan(od_result_get_number(r, "outputs.lag")));
  assert_true(isnan(od_result_get_number(r, "outputs[none].final")) && isnan(od_result_get_number(r, "\"outputs")));
  assert_null(od_result_get_text(r, "requirements[99].name"));
  char *text = od_result_json(r), *written = scratch_read(scratch_path(s, "run.json"));
  assert_string_equal(text, written);
  free(written);
  od_text_free(text);
  // A job runs once.
  assert_int_equal(od_job_run(job), OD_JOB_FAILED);
  od_job_free(job);
}

static void a_table_is_kept_only_on_request(void **state) {
  od_job *job = make(*state, "simulate", "lag.yaml");
  assert_int_equal(od_job_run(job), OD_JOB_DONE);
  assert_null(od_job_table(job));
  assert_non_null(od_job_result(job));
  od_job_free(job);
}

static void requirements_that_are_not_met_have_their_outcome(void **state) {
  od_job *job = make(*state, "simulate", "lag.yaml");
  assert_int_equal(od_job_set(job, "set", "lag.gain=4", NULL), OD_OK);
  assert_int_equal(od_job_run(job), OD_JOB_UNMET);
  od_job_free(job);
}

// --- Listeners ----------------------------------------------------------------------------------------------------------

typedef struct heard {
  int stages[3], results, whole, errors, warnings, notes, lists;
  double stops_at, last;
  char text[400];
} heard;

static void hear_stage(void *user, od_job_stage stage) {
  ((heard *)user)->stages[stage]++;
}
static bool hear_progress(void *user, double done) {
  heard *h = user;
  if (!isnan(done)) h->last = done;
  return !(done >= h->stops_at);
}
static void hear_messages(void *user, const od_messages *m) {
  heard *h = user;
  h->lists += od_messages_count(m);
  if (od_messages_count(m) > 0)
    snprintf(h->text, sizeof h->text, "%d: %.380s", od_messages_get(m, 0)->line, od_messages_get(m, 0)->text);
}
static void hear_message(void *user, od_message_kind kind, const char *text) {
  heard *h = user;
  h->errors += kind == OD_MESSAGE_ERROR, h->warnings += kind == OD_MESSAGE_WARNING, h->notes += kind == OD_MESSAGE_NOTE;
  snprintf(h->text, sizeof h->text, "%.390s", text);
}
static void hear_result(void *user, const od_result *r, bool is_whole) {
  heard *h = user;
  assert_non_null(r);
  h->results++, h->whole += is_whole;
}
static void listen(od_job *job, heard *h) {
  const od_job_listener l = {.user = h,
                             .stage = hear_stage,
                             .progress = hear_progress,
                             .messages = hear_messages,
                             .message = hear_message,
                             .result = hear_result};
  od_job_listen(job, &l);
}

static void listeners_hear_everything(void **state) {
  scratch *s = *state;
  heard h = {.stops_at = 2};
  od_job *job = make(s, "simulate", "lag.yaml");
  listen(job, &h);
  od_job_set(job, "csv", scratch_path(s, "a.csv"), NULL);
  assert_int_equal(od_job_run(job), OD_JOB_DONE);
  assert_true(h.stages[OD_STAGE_PREPARE] == 1 && h.stages[OD_STAGE_COMPUTE] == 1 && h.stages[OD_STAGE_FINISH] == 1);
  assert_true(h.results == 1 && h.whole == 1 && h.notes == 1 && h.errors == 0 && h.lists == 0);
  assert_true(h.last > 0.5 && h.last <= 1);
  assert_non_null(strstr(h.text, "201 rows, 2 columns"));
  od_job_free(job);

  // An error in a file: its place, and the outcome.
  heard wrong = {.stops_at = 2};
  scratch_put(s, "wrong.yaml", "machine: Wrong\nvolumes: {A: {volum: 1 L}}\n");
  job = make(s, "simulate", "wrong.yaml");
  listen(job, &wrong);
  assert_int_equal(od_job_run(job), OD_JOB_BAD_INPUT);
  assert_true(wrong.lists > 0 && wrong.results == 0 && strncmp(wrong.text, "2: ", 3) == 0);
  assert_int_equal(od_messages_count(od_job_messages(job)), wrong.lists);
  od_job_free(job);
}

// A listener that stops the job: the result has the rows before the stop.
static void a_stopped_job_has_a_partial_result(void **state) {
  heard h = {.stops_at = 0.3};
  od_job *job = make(*state, "simulate", "lag.yaml");
  listen(job, &h);
  od_job_set(job, "time", "200 s", NULL);
  od_job_set(job, "no-requirements", NULL, NULL);
  od_job_keep_table(job);
  assert_int_equal(od_job_run(job), OD_JOB_INTERRUPTED);
  const od_table *t = od_job_table(job);
  assert_non_null(t);
  assert_true(od_table_rows(t) > 10 && od_table_rows(t) < 20001);
  od_job_free(job);
}

// --- Threads ------------------------------------------------------------------------------------------------------------

typedef struct unit_trial {
  scratch *s;
  bool si;
  char *text;
  double value;
} unit_trial;

static void *run_trial(void *user) {
  unit_trial *u = user;
  char path[600];
  snprintf(path, sizeof path, "%s/volume.yaml", u->s->folder);
  for (int i = 0; i < 20; i++) {
    free(u->text);
    u->text = NULL;
    size_t size;
    od_job *job = od_job_new("simulate");
    od_job_add_file(job, path);
    if (u->si) od_job_set(job, "si", NULL, NULL);
    od_job_run(job);
    u->value = od_result_get_number(od_job_result(job), "outputs[A.pressure].final");
    FILE *to = open_memstream(&u->text, &size);
    od_result_print(od_job_result(job), to, false);
    fclose(to);
    od_job_free(job);
  }
  return NULL;
}

// Closed form: 10 bar + 1000 MPa * 0.1 l/min * 0.1 s / 1 l = 11.67 bar.
static void jobs_run_in_threads_with_their_own_units(void **state) {
  pthread_t thread[2];
  unit_trial u[2] = {{.s = *state, .si = false}, {.s = *state, .si = true}};
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, run_trial, &u[i]), 0);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  assert_true(u[0].value == u[1].value);
  near_relative(u[0].value, 1e6 + 1e9 * 0.1e-3 / 60 * 0.1 / 1e-3, 1e-9);
  assert_non_null(strstr(u[0].text, "bar"));
  assert_null(strstr(u[1].text, "bar"));
  free(u[0].text), free(u[1].text);
}

// --- Live ---------------------------------------------------------------------------------------------------------------

// A live observer between two pipes: a header, and an answer for each line. The samples are the closed form of the lag with a gain of
// 2, so the estimated gain approaches 2.
static void a_live_job_answers_each_line(void **state) {
  scratch *s = *state;
  enum { LINES = 150 };
  int in[2], out[2];
  assert_true(pipe(in) == 0 && pipe(out) == 0);
  dprintf(in[1], "time [s],u,lag\n");
  for (int i = 0; i < LINES; i++) dprintf(in[1], "%.2f,1,%.9g\n", 0.01 * i, 2 * (1 - exp(-0.01 * i / 0.5)));
  close(in[1]);
  od_job *job = make(s, "observe", "live.yaml");
  assert_int_equal(od_job_set(job, "live", NULL, NULL), OD_OK);
  od_job_connect(job, in[0], out[1]);
  od_job_run(job);
  close(out[1]), close(in[0]);
  assert_false(od_job_uses_standard_output(job));
  FILE *from = fdopen(out[0], "r");
  char line[2000];
  int lines = 0;
  while (fgets(line, sizeof line, from)) lines++;
  fclose(from);
  assert_int_equal(lines, 1 + LINES);
  assert_non_null(strstr(line, ",ok"));
  near(od_result_get_number(od_job_result(job), "parameters[0].estimate"), 2, 0.05);
  od_job_free(job);
}

static int setup(void **state) {
  if (scratch_setup(state) != 0) return -1;
  scratch_put(*state, "lag.yaml", lag);
  scratch_put(*state, "volume.yaml", volume);
  scratch_put(*state, "live.yaml", experiment);
  return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, scratch_teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(all_kinds_describe_their_options),
                                     TEST(wrong_settings_are_refused),
                                     TEST(a_run_gives_its_table_and_its_result),
                                     TEST(a_table_is_kept_only_on_request),
                                     TEST(requirements_that_are_not_met_have_their_outcome),
                                     TEST(listeners_hear_everything),
                                     TEST(a_stopped_job_has_a_partial_result),
                                     TEST(jobs_run_in_threads_with_their_own_units),
                                     TEST(a_live_job_answers_each_line)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
