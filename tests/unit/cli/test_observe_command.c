// oleodyn observe on logs and on live streams. Oracles: runs that are written and read again, expected messages and
// exit codes.
#include "support/test.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "support/feed.h"
#include "support/program.h"

#define EXPERIMENT OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml"

static json_t *read_json(scratch *s, const char *name) {
  json_error_t error;
  json_t *object = json_load_file(scratch_path(s, name), 0, &error);
  if (!object) fail_msg("%s: %s", name, error.text);
  return object;
}

// --- Logs ---------------------------------------------------------------------------------------------------------

// A run that is written and read again; the log contains no true values.
static void test_log(void **state) {
  scratch *s = *state;
  expect_code(run(s, "observe %s --set time=0.5 --csv run.csv --json a.json --quiet", EXPERIMENT), 0);
  outcome o = run(s, "observe %s --data run.csv --json b.json --plot b.svg --report b.html", EXPERIMENT);
  ends_with(o, 0);
  says(o.out, "log run.csv, 501 samples from 0 s to 0.5 s, 1 ms apart");
  assert_null(strstr(o.out, "true"));
  assert_null(strstr(o.out, "All curves: error"));
  assert_string_equal(o.err, "");
  forget(o);
  char *report = scratch_read(scratch_path(s, "b.html"));
  says(report, "run.csv, 501 rows");
  free(report);
  json_t *a = read_json(s, "a.json"), *b = read_json(s, "b.json");
  const char *const gone[] = {"truth", "seed", "curves", "nees_per_dimension", "coverage95", "curve_rmse_percent"};
  for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
    assert_non_null(json_object_get(a, gone[i]));
    assert_null(json_object_get(b, gone[i]));
  }
  assert_true(json_equal(json_object_get(a, "nis_per_dimension"), json_object_get(b, "nis_per_dimension")));
  assert_true(json_equal(json_object_get(a, "sensors"), json_object_get(b, "sensors")));
  const json_t *p = json_array_get(json_object_get(a, "parameters"), 0);
  const json_t *q = json_array_get(json_object_get(b, "parameters"), 0);
  assert_true(json_equal(json_object_get(p, "estimate"), json_object_get(q, "estimate")));
  assert_null(json_object_get(q, "true"));
  assert_string_equal(json_string_value(json_object_get(json_object_get(b, "data"), "file")), "run.csv");
  json_decref(a);
  json_decref(b);
}

// JSON and report name the filter and the integrator; another filter gives other estimates.
static void test_filter(void **state) {
  scratch *s = *state;
  static const char *const lines[] = {"", "filter: ekf\nintegrator: tr-bdf2\n"};
  static const char *const filters[] = {"iterated-ekf", "ekf"}, *const integrators[] = {"trapezoid", "tr-bdf2"};
  double estimate[2];
  char *whole = scratch_read(EXPERIMENT);
  assert_non_null(whole);
  char *own = strstr(whole, "filter: relinearising");
  assert_non_null(own);
  memcpy(own, "#", 1);
  for (int i = 0; i < 2; i++) {
    size_t size = strlen(whole) + 500;
    char *text = malloc(size), *machine = strstr(whole, "machine: machine.yaml");
    snprintf(text, size, "%.*smachine: " OD_SOURCE_DIR "/cases/fourbar-valve/machine.yaml%s\n%s",
             (int)(machine - whole), whole, machine + strlen("machine: machine.yaml"), lines[i]);
    scratch_write(s, "x.yaml", text, strlen(text));
    free(text);
    expect_code(run(s, "observe x.yaml --set time=0.2 --json x.json --report x.html --quiet"), 0);
    json_t *json = read_json(s, "x.json");
    assert_string_equal(json_string_value(json_object_get(json, "filter")), filters[i]);
    assert_string_equal(json_string_value(json_object_get(json, "integrator")), integrators[i]);
    const json_t *p = json_array_get(json_object_get(json, "parameters"), 0);
    estimate[i] = json_number_value(json_object_get(p, "estimate"));
    json_decref(json);
    char *report = scratch_read(scratch_path(s, "x.html"));
    says(report, filters[i]);
    says(report, integrators[i]);
    free(report);
  }
  free(whole);
  assert_true(estimate[0] != estimate[1]);
}

// With --si the same in SI, on the terminal and in the report.
static void test_si(void **state) {
  scratch *s = *state;
  outcome o = run(s, "observe %s --set time=0.1 --report a.html", EXPERIMENT);
  says(o.out, "  oil.kp                         MPa ");
  forget(o);
  o = run(s, "observe %s --set time=0.1 --si --report b.html", EXPERIMENT);
  says(o.out, "  oil.kp                         Pa ");
  forget(o);
  char *a = scratch_read(scratch_path(s, "a.html")), *b = scratch_read(scratch_path(s, "b.html"));
  says(a, "\u00a0bar");
  assert_null(strstr(b, "\u00a0bar"));
  says(b, "\u00a0Pa");
  free(a);
  free(b);
}

// A calibrated sensor of a real machine: its bias is estimated, and the true bias is unknown. For a simulated sensor it
// is known.
static void test_calibration_of_a_log(void **state) {
  scratch *s = *state;
  static const char file[] = "machine: " OD_SOURCE_DIR
                             "/cases/fourbar-valve/machine.yaml\ntime: 0.3 s\nstep: 1 ms\n"
                             "sensors: {cylinder.length: {sigma: 1 mm}, P.pressure: {sigma: 1.5 bar, bias: 2 bar}}\n"
                             "parameters: {sensors.P.pressure.bias: {sigma: 5 bar}}\n";
  scratch_write(s, "e.yaml", file, strlen(file));
  outcome o = run(s, "observe e.yaml --csv run.csv");
  ends_with(o, 0);
  says(o.out, "true");
  says(o.out, "1 of 1 true values within their 95 % intervals");
  forget(o);
  o = run(s, "observe e.yaml --data run.csv --json b.json --report b.html");
  ends_with(o, 0);
  assert_null(strstr(o.out, "true"));
  forget(o);
  json_t *b = read_json(s, "b.json");
  assert_null(json_object_get(json_array_get(json_object_get(b, "parameters"), 0), "true"));
  json_decref(b);
  char *page = scratch_read(scratch_path(s, "b.html"));
  const char *const unknown[] = {">true<", "(true:", "True values", "NEES", "true within", "coverage"};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    if (strstr(page, unknown[i])) fail_msg("the page says %s", unknown[i]);
  free(page);
}

static void test_log_warnings_and_mistakes(void **state) {
  scratch *s = *state;
  const char *log =
      "t,cylinder.length,P.pressure,A.pressure,U_ref\n0,1.62,5.6e6,,0\n0.001,1.62,5.6e6,,1\n0.002,1.62,5.61e6,,0\n"
      "0.003,1.62,5.6e6,,\n0.004,1.62,5.6e6,,0\n0.105,1.62,5.6e6,,0\n";
  scratch_write(s, "l.csv", log, strlen(log));
  outcome o = run(s, "observe %s --data l.csv", EXPERIMENT);
  ends_with(o, 0);
  says(o.err, "oleodyn: warning: l.csv: 'cylinder.length' never changes; check the column\n");
  says(o.err, "oleodyn: warning: l.csv: 'A.pressure' has no values; check the column\n");
  says(o.out, "input U_ref: 1 missing value was taken from neighboring rows\n");
  says(o.out, "longest gap: 101 ms after 0.004 s\n");
  forget(o);
  // Two files: the used part ends before the first values of the second file. Channels without values have no largest value.
  scratch_put(s, "u.csv", "t,U_ref\n0,0\n0.001,1\n0.002,0\n0.003,1\n0.004,0\n0.005,0\n");
  scratch_put(s, "p.csv", "t,cylinder.length,P.pressure,A.pressure\n0.0045,1.62,5.6e6,5e6\n0.0048,1.63,5.6e6,5e6\n");
  o = run(s, "observe %s --data u.csv --data p.csv --end 0.004", EXPERIMENT);
  if (strstr(o.err, "largest value")) fail_msg("a channel without values has a largest value:\n%s", o.err);
  forget(o);
  ends_and_says(run(s, "observe %s --data l.csv --truth 3-S2", EXPERIMENT), 2,
                "--truth: error: the data are not simulated, so there is no true machine; remove this option\n");
  expect_code(run(s, "observe %s --data l.csv --seed 3", EXPERIMENT), 2);
  expect_code(run(s, "observe %s --data nosuch.csv", EXPERIMENT), 2);
}

// A sigma without its unit MPa: 100 Pa of 1500 MPa.
static void test_sigma_without_its_unit(void **state) {
  scratch *s = *state;
  outcome o = run(s, "check %s --set parameters.oil.kp.sigma=100", EXPERIMENT);
  ends_with(o, 0);
  says(o.err, "warning: parameters.oil.kp.sigma=100: 'sigma' of 'oil.kp' is 6.7e-08 times 'start', so the");
  forget(o);
  o = run(s, "check %s --set parameters.oil.kp.sigma='100 MPa'", EXPERIMENT);
  ends_with(o, 0);
  assert_string_equal(o.err, "");
  forget(o);
}

// --- The verdict --------------------------------------------------------------------------------------------------

// Every remark of the JSON is in the terminal and in the report, in the same words. In the report the text after the lead is a sentence of
// its own, with a capital letter.
static void expect_the_same(scratch *s, const outcome *o, const char *trust) {
  json_t *root = read_json(s, "v.json"), *verdict = json_object_get(root, "verdict"), *remark;
  char *page = scratch_read(scratch_path(s, "v.html")), line[200];
  const char *meaning = !strcmp(trust, "doubtful")  ? " (errors may be larger than the reported standard deviations)"
                        : !strcmp(trust, "unsound") ? " (the result must not be used)"
                                                    : "";
  size_t i;
  assert_string_equal(json_string_value(json_object_get(verdict, "trust")), trust);
  snprintf(line, sizeof line, "verdict: %s%s\n", trust, meaning);
  says(o->out, line);
  const char *words = !strcmp(trust, "doubtful") ? "Doubtful" : !strcmp(trust, "unsound") ? "Unsound" : "Sound";
  snprintf(line, sizeof line, "<p class=\"verdict %s\"><b>%s</b> <span>", trust, words);
  says(page, line);
  assert_true(json_array_size(json_object_get(verdict, "remarks")) > 0);
  json_array_foreach(json_object_get(verdict, "remarks"), i, remark) {
    const char *text = json_string_value(json_object_get(remark, "text"));
    says(o->out, text);
    char *sentence = strdup(strstr(text, ": ") + 2);
    if (!strstr(page, sentence)) sentence[0] = (char)toupper((unsigned char)sentence[0]);
    says(page, sentence);
    free(sentence);
  }
  free(page);
  json_decref(root);
}

static void test_one_verdict(void **state) {
  scratch *s = *state;
  outcome o = run(s, "observe %s --json v.json --report v.html", EXPERIMENT);
  ends_with(o, 0);
  expect_the_same(s, &o, "sound");
  forget(o);
  o = run(s, "observe %s --set parameters.oil.kp.start='800 MPa' --json v.json --report v.html", EXPERIMENT);
  ends_with(o, 0);
  expect_the_same(s, &o, "doubtful");
  says(o.out, "Innovations not white: innovations of A.pressure");
  forget(o);
  // Without a summary at the terminal, remarks against the result are warnings.
  ends_and_says(run(s, "observe %s --set parameters.oil.kp.start='800 MPa' --json -", EXPERIMENT), 0,
                "oleodyn: warning: Innovations not white: innovations of A.pressure");
  o = run(s, "observe %s --set parameters.oil.kp.start='800 MPa' --quiet", EXPERIMENT);
  ends_with(o, 0);
  says(o.err, "oleodyn: warning: Innovations not white: innovations of A.pressure");
  assert_string_equal(o.out, "");
  forget(o);
}

// A log with an input in the middle at which every step fails: the result until then looks good, but does not cover the whole
// log.
static void test_log_that_breaks_off(void **state) {
  scratch *s = *state;
  expect_code(run(s, "observe %s --csv l.csv --quiet", EXPERIMENT), 0);
  char *log = scratch_read(scratch_path(s, "l.csv"));
  FILE *to = fopen(scratch_path(s, "b.csv"), "w");
  long row = 0;
  for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"), row++) {
    if (row == 2500) *strrchr(line, ',') = '\0';  // the last column is the input, U_ref
    fprintf(to, row == 2500 ? "%s,9e307\n" : "%s\n", line);
  }
  fclose(to);
  free(log);
  outcome o = run(s, "observe %s --data b.csv --json v.json --report v.html", EXPERIMENT);
  ends_with(o, 1);
  expect_the_same(s, &o, "doubtful");
  says(o.out, "Incomplete run: the run failed after 2.498 s");
  forget(o);
}

// A missing unit of a channel: unusable numbers, and a separate exit code. Also live.
static void test_beyond_doubt(void **state) {
  scratch *s = *state;
  static const char file[] =
      "machine: " OD_SOURCE_DIR
      "/cases/fourbar-valve/machine.yaml\ntime: 1 s\nstep: 1 ms\n"
      "sensors: {cylinder.length: {sigma: 1 mm}, P.pressure: {sigma: 1.5 bar}, A.pressure: {sigma: 1.5 bar}}\n"
      "initial: {cylinder.length: 10 mm, P.pressure: 5 bar, A.pressure: 5 bar}\n"
      "parameters: {oil.kp: {sigma: 500 MPa, start: 1200 MPa}}\n";
  scratch_write(s, "e.yaml", file, strlen(file));
  expect_code(run(s, "observe e.yaml --csv run.csv --quiet"), 0);
  static const char wrong[] =
      "data: {channels: {A.pressure: {column: measured.A.pressure, unit: bar, scale: 1e-10}}}\n";
  char both[2000];
  snprintf(both, sizeof both, "%s%s", file, wrong);
  scratch_write(s, "w.yaml", both, strlen(both));
  outcome o = run(s, "observe w.yaml --data run.csv --json v.json --report v.html");
  ends_with(o, 3);
  expect_the_same(s, &o, "unsound");
  says(o.out, "Not an estimate: in the last quarter of the run");
  says(
      o.out,
      "Most likely cause: the value of the sensor A.pressure is 1e-05 times the expected value, a factor between two units.");
  forget(o);
  ends_and_says(run(s, "observe w.yaml --data run.csv --quiet"), 3, "Not an estimate:");
  o = run(s, "observe w.yaml --live --quiet <run.csv >.out 2>.err #");
  ends_with(o, 3);
  forget(o);
}

// --- Live ---------------------------------------------------------------------------------------------------------

static feed f;

static void start_live(scratch *s, char *option, const char *file) {
  static char program[] = OD_BINARY, command[] = "observe", experiment[] = EXPERIMENT, live[] = "--live";
  static char path[600];
  if (file) strcpy(path, scratch_path(s, file));
  char *arguments[] = {program, command, experiment, live, option, file ? path : NULL, NULL};
  assert_int_equal(feed_start(&f, OD_BINARY, arguments, scratch_path(s, "errors")), 0);
}

// The answer to a line.
static const char *ask(const char *line) {
  assert_int_equal(feed_send(&f, line, strlen(line)), 0);
  if (feed_receive(&f) != 0) fail_msg("no answer to %s", line);
  return f.line;
}

static void wrote(scratch *s, const char *part) {
  char *text = scratch_read(scratch_path(s, "errors"));
  says(text, part);
  free(text);
}

static od_table *read_table(scratch *s, const char *name) {
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read_csv(scratch_path(s, name), &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

static int column(const od_table *t, const char *name) {
  int c = 0;
  while (c < t->columns && strcmp(t->name[c], name) != 0) c++;
  if (c == t->columns) fail_msg("there is no column %s", name);
  return c;
}

static bool same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

// The answers to the lines of a written run equal the results of the run, as CSV and as JSON.
static void test_live_answers_are_the_run(void **state) {
  scratch *s = *state;
  expect_code(run(s, "observe %s --set time=0.2 --csv run.csv --quiet", EXPERIMENT), 0);
  char *text = scratch_read(scratch_path(s, "run.csv"));
  od_table *written = read_table(s, "run.csv");
  static char quiet[] = "--quiet", lines[] = "--json-lines";
  for (int json = 0; json < 2; json++) {
    start_live(s, json ? lines : quiet, NULL);
    FILE *answers = fopen(scratch_path(s, "answers.csv"), "w");
    long row = 0;
    for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
      assert_int_equal(feed_send(&f, at, (size_t)(end + 1 - at)), 0);
      if (json && at == text) continue;  // JSON has no header
      assert_int_equal(feed_receive(&f), 0);
      char *status = strstr(f.line, json ? ",\"status\":\"ok\"}" : ",ok");
      if (!json && at != text) assert_non_null(status), strcpy(status, "\n");
      if (!json && at == text) strcpy(strstr(f.line, ",status"), "\n");
      if (!json) fputs(f.line, answers);
      if (!json) continue;
      json_t *answer = json_loads(f.line, 0, NULL);
      assert_non_null(answer);
      assert_non_null(status);
      assert_int_equal(json_object_size(answer), 27);
      const char *name = "estimate.valve.ports.c.curve.points[1]";
      double value = json_number_value(json_object_get(answer, name));
      assert_true(value == written->data[row++ * written->columns + column(written, name)]);
      json_decref(answer);
    }
    fclose(answers);
    assert_int_equal(feed_end(&f), 0);
    if (json) continue;
    od_table *answered = read_table(s, "answers.csv");
    assert_int_equal(answered->columns, 26);
    assert_int_equal(answered->rows, 201);
    for (int c = 0; c < answered->columns; c++)
      for (long i = 0; i < answered->rows; i++)
        assert_true(same(answered->data[i * answered->columns + c],
                         written->data[i * written->columns + column(written, answered->name[c])]));
    od_table_free(answered);
  }
  od_table_free(written);
  free(text);
}

// Unusable lines are answered without values and reported with their number; the observer continues.
static void test_live_bad_lines(void **state) {
  scratch *s = *state;
  static char option[] = "--json";
  start_live(s, option, "live.json");
  says(ask("t;length (mm);P_pressure;measured.A.pressure;U_ref;cylinder.length\n"), ",nis,settled,fell_back,status\n");
  assert_int_equal(feed_send(&f, "ms;;bar;Pa;V;m\n", 15), 0);  // units have no answer
  says(ask("1,5;;56;;;1,62\n"), "0.0015,nan,");
  says(ask("2;;56;;0;1.62\n"), ",ok\n");
  says(ask("3;;56;;0\n"), "nan,nan,");
  says(ask("3;;56;;0;eins\n"), ",bad\n");
  says(ask("2;;56;;0;1.62\n"), "0.002,nan,");
  says(ask(";;56;;0;1.62\n"), ",bad\n");
  says(ask("3;;;;;\n"), ",ok\n");  // no measurement, the input as before
  says(ask("4;;56;;0;1e9\n"), ",failed\n");
  says(ask("5;;56;;0;1.62\n"), ",ok\n");
  says(ask("1e9;;56;;0;1.62\n"), ",held\n");
  says(ask("1000000001;;56;;0;1.62"
           "\n"),
       ",ok\n");
  assert_int_equal(feed_end(&f), 0);
  wrote(
      s,
      "warning: standard input:3:1: the first line must contain values of all inputs; expected a number for each input\n");
  wrote(s, "warning: standard input:5:9: 5 cells, but the header has 6 cells; expected equal numbers\n");
  wrote(s, "warning: standard input:6:10: 'eins' is not a number (column 'cylinder.length')\n");
  wrote(s, "warning: standard input:7:1: times must increase; found 0.002 s after 0.002 s\n");
  wrote(s, "warning: standard input:8:1: this line has no time; expected a number in the time column\n");
  wrote(s, "warning: the observer's step to 0.004 s failed: ");
  wrote(s, "warning: the sample at 1e+06 s is 1e+06 s after the previous sample; expected at most ");
  wrote(s, "lines that could not be used: 5\n");
  wrote(s, "Samples lost: 1 sample failed; the estimate was carried over 1 time.\n");
  json_t *summary = read_json(s, "live.json");
  assert_int_equal(json_integer_value(json_object_get(summary, "steps")), 3);
  json_decref(summary);
}

static void test_live_needs_columns(void **state) {
  scratch *s = *state;
  start_live(s, NULL, NULL);
  assert_int_equal(feed_send(&f, "t,cylinder.lengt,P.pressure,A.pressure [mm],U_ref\n", 50), 0);
  assert_int_equal(feed_receive(&f), -1);
  assert_int_equal(feed_end(&f), 2);
  wrote(s,
        "standard input:1:1: error: there is no column for the output 'cylinder.length'; did you mean "
        "'cylinder.lengt'?");
  wrote(
      s,
      "standard input:1:29: error: column 'A.pressure' is in 'mm', a length; expected a unit for 'A.pressure', such as Pa\n");
  start_live(s, NULL, NULL);
  assert_int_equal(feed_send(&f, "1,2,3\n", 6), 0);
  assert_int_equal(feed_end(&f), 2);
  wrote(s, "standard input:1:1: found only numbers, expected a header with the names of the columns\n");
  start_live(s, NULL, NULL);
  assert_int_equal(feed_end(&f), 2);
  wrote(s, "standard input: expected a line with the names of the columns first\n");
  outcome o = run(s, "observe %s --live --csv -", EXPERIMENT);
  ends_with(o, 2);
  says(o.err, "--csv -: with --live the answers go to standard output; give a file name\n");
  forget(o);
  expect_code(run(s, "observe %s --live --data x.csv", EXPERIMENT), 2);
  expect_code(run(s, "observe %s --json-lines", EXPERIMENT), 2);
}

#define HEADER "t,cylinder.length,P.pressure,A.pressure,U_ref\n"

// Ctrl-C, and a closed output: the results are still written.
static void test_live_ends(void **state) {
  scratch *s = *state;
  static char option[] = "--csv";
  start_live(s, option, "live.csv");
  ask(HEADER);
  for (int i = 0; i < 5; i++) {
    char line[64];
    snprintf(line, sizeof line, "%g,1.62,5.6e6,2e6,0\n", 1e-3 * i);
    ask(line);
  }
  kill(f.child, SIGINT);
  assert_int_equal(feed_receive(&f), -1);
  assert_int_equal(feed_end(&f), 130);
  wrote(s, "interrupted after line 6");
  od_table *t = read_table(s, "live.csv");
  assert_int_equal(t->rows, 5);
  od_table_free(t);

  start_live(s, option, "live.csv");
  ask(HEADER);
  ask("0,1.62,5.6e6,2e6,0\n");
  int devnull = dup(1);
  close(f.from);
  f.from = devnull;
  assert_int_equal(feed_send(&f, "0.001,1.62,5.6e6,2e6,0\n", 23), 0);
  close(f.to);
  int status;
  waitpid(f.child, &status, 0);
  close(devnull);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  wrote(s, "the output cannot be written: its receiver has stopped");
  t = read_table(s, "live.csv");
  assert_int_equal(t->rows, 2);
  od_table_free(t);
}

// 1 kHz for three seconds. The limit allows for a busy computer; `make bench` has the accurate figure.
static void test_live_latency(void **state) {
  scratch *s = *state;
  enum { LINES = 3000 };
  static double latency[LINES];
  expect_code(run(s, "observe %s --set time=3 --csv run.csv --quiet", EXPERIMENT), 0);
  char *text = scratch_read(scratch_path(s, "run.csv"));
  static char quiet[] = "--quiet";
  start_live(s, quiet, NULL);
  int count = feed_all(&f, text, 1000, latency, LINES);
  assert_int_equal(feed_end(&f), 0);
  assert_int_equal(count, LINES);
  print_message("a line is answered in %.0f us (median), %.0f us (99 %%)\n", 1e6 * latency[LINES / 2],
                1e6 * latency[LINES * 99 / 100]);
  assert_true(latency[LINES / 2] < 5e-3);
  free(text);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_log),
      TEST(test_filter),
      TEST(test_si),
      TEST(test_calibration_of_a_log),
      TEST(test_log_warnings_and_mistakes),
      TEST(test_sigma_without_its_unit),
      TEST(test_one_verdict),
      TEST(test_log_that_breaks_off),
      TEST(test_beyond_doubt),
      TEST(test_live_answers_are_the_run),
      TEST(test_live_bad_lines),
      TEST(test_live_needs_columns),
      TEST(test_live_ends),
      TEST(test_live_latency),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
