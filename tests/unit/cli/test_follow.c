// oleodyn observe --follow: a log that another process writes at the same time. Oracle: the same command on the complete log; all rows of
// both runs are equal to the bit. Also the ends of such runs: time without rows, Ctrl-C, replaced and shortened files.
#define _GNU_SOURCE  // memmem
#include "support/test.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "support/feed.h"
#include "support/program.h"

#define EXPERIMENT OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml"

static void pause_ms(long ms) {
  nanosleep(&(struct timespec){.tv_nsec = 1000000 * ms}, NULL);
}

static void append(const char *path, const char *text, size_t length) {
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file < 0 || write(file, text, length) != (ssize_t)length) _exit(1);
  close(file);
}

// Appends a text in random pieces in another process, as a logger does. at: number of bytes that the file contains already.
static pid_t start_writer(const char *path, const char *text, size_t at, uint64_t seed) {
  const pid_t child = fork();
  if (child != 0) return child;
  for (size_t length = strlen(text); at < length;) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const size_t most = seed >> 62 ? 4000 : 30, piece = 1 + (size_t)(seed >> 20) % most;
    append(path, text + at, piece < length - at ? piece : length - at);
    at += piece;
    if (seed >> 58 < 3) pause_ms(20);
  }
  _exit(0);
}

static void end_writer(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void expect_equal(scratch *s, const char *a, const char *b) {
  char *first = scratch_read(scratch_path(s, a)), *second = scratch_read(scratch_path(s, b));
  assert_non_null(first);
  assert_non_null(second);
  assert_string_equal(first, second);
  free(first);
  free(second);
}

// Returns the text of a simulated log. The caller frees it.
static char *make_log(scratch *s, const char *time) {
  expect_code(run(s, "observe %s --set time=%s --csv run.csv --quiet", EXPERIMENT, time), 0);
  return scratch_read(scratch_path(s, "run.csv"));
}

// Replaces the times of a log with dates.
static char *with_dates(const char *text) {
  const size_t size = 2 * strlen(text) + 100;
  char *out = malloc(size);
  size_t n = 0;
  const char *line = strchr(text, '\n') + 1;
  n +=
      (size_t)snprintf(out, size, "time [yyyy-mm-dd hh:mm:ss]%.*s", (int)(line - strchr(text, ',')), strchr(text, ','));
  for (int k = 0; *line; k++) {
    const char *end = strchr(line, '\n') + 1, *rest = strchr(line, ',');
    n += (size_t)snprintf(out + n, size - n, "2026-02-28 23:59:59.%03d%.*s", k, (int)(end - rest), rest);
    if (k == 999) break;
    line = end;
  }
  return out;
}

// The file begins empty, with a part of the header, and with rows that end within a line. Answers have the same rows.
static void equal_to_the_complete_log(void **state) {
  scratch *s = *state;
  char *text = make_log(s, "0.8"), path[600];
  char *dates = with_dates(text);
  const size_t begins[] = {0, 30, strlen(text) / 3};
  snprintf(path, sizeof path, "%s", scratch_path(s, "grow.csv"));
  for (int i = 0; i < 4; i++) {
    const char *log = i == 3 ? dates : text;
    const size_t begin = i == 3 ? 0 : begins[i];
    scratch_write(s, "whole.csv", log, strlen(log));
    scratch_write(s, "grow.csv", log, begin);
    expect_code(run(s, "observe %s --data whole.csv --csv a.csv --quiet", EXPERIMENT), 0);
    const pid_t writer = start_writer(path, log, begin, 17 + (uint64_t)i);
    outcome o = run(s, "observe %s --data grow.csv --follow --follow-timeout '0.7 s' --csv b.csv --json b.json --quiet",
                    EXPERIMENT);
    end_writer(writer);
    ends_with(o, 0);
    expect_equal(s, "a.csv", "b.csv");
    // Each row has an answer.
    long lines = 0, good = 0;
    for (const char *c = o.out; (c = strchr(c, '\n')); c++) lines++, good += c[-1] == 'k';
    assert_int_equal(lines, 802);
    assert_int_equal(good, 801);
    forget(o);
    json_t *json = json_load_file(scratch_path(s, "b.json"), 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(json, "steps")), 800);
    json_decref(json);
  }
  free(dates);
  free(text);
}

// A stream on standard input with dates, whose first line cannot be used.
static void dates_of_a_stream(void **state) {
  scratch *s = *state;
  char *text = make_log(s, "0.2"), *dates = with_dates(text), path[600], result[600], state_path[600];
  char *first = strchr(dates, '\n') + 1;
  feed f;
  scratch_put(s, "whole.csv", dates);
  expect_code(run(s, "observe %s --data whole.csv --csv a.csv --quiet", EXPERIMENT), 0);
  snprintf(path, sizeof path, "%s", scratch_path(s, "errors"));
  snprintf(result, sizeof result, "%s", scratch_path(s, "b.csv"));
  snprintf(state_path, sizeof state_path, "%s", scratch_path(s, "b.state"));
  char program[] = OD_BINARY, command[] = "observe", experiment[] = EXPERIMENT, live[] = "--live", csv[] = "--csv",
       checkpoint[] = "--checkpoint", resume[] = "--resume";
  for (int i = 0; i < 2; i++) {
    char *arguments[] = {program, command, experiment, live, csv, result, i ? resume : checkpoint, state_path, NULL};
    assert_int_equal(feed_start(&f, OD_BINARY, arguments, path), 0);
    assert_int_equal(feed_send(&f, dates, (size_t)(first - dates)), 0);
    assert_int_equal(feed_receive(&f), 0);
    if (i == 0) assert_int_equal(feed_send(&f, "x,y\n", 4), 0);
    for (char *line = first, *end; (end = strchr(line, '\n')); line = end + 1) {
      if (feed_send(&f, line, (size_t)(end + 1 - line)) != 0) break;
      if (feed_receive(&f) != 0) break;
    }
    assert_int_equal(feed_end(&f), i ? 2 : 0);
    if (i == 0) expect_equal(s, "a.csv", "b.csv");
  }
  char *errors = scratch_read(path);
  says(
      errors,
      "standard input:2:1: the times of this stream begin at its first line, so the run cannot continue at the checkpoint");
  free(errors);
  free(dates);
  free(text);
}

// Converts a log to a candump trace with one message of 8 bytes (double) per signal. The messages of a row are 0.1 ms apart; the first
// message is the input.
static char *as_trace(const char *text) {
  static const char *const names[] = {"input.U_ref", "measured.cylinder.length", "measured.P.pressure",
                                      "measured.A.pressure"};
  enum { SIGNALS = 4, MOST = 64 };
  const size_t size = 8 * strlen(text);
  char *out = malloc(size);
  int column[SIGNALS], columns = 0;
  const char *line = strchr(text, '\n') + 1;
  for (const char *cell = text; cell < line; cell += strcspn(cell, ",\n") + 1, columns++)
    for (int i = 0; i < SIGNALS; i++)
      if (memmem(cell, strcspn(cell, ",\n"), names[i], strlen(names[i]))) column[i] = columns;
  size_t n = 0;
  assert_true(columns <= MOST);
  for (const char *next; *line; line = next + 1) {
    double value[MOST];
    for (int c = 0; c < columns; c++, line++) value[c] = strtod(line, (char **)&line);
    next = line - 1;
    for (int i = 0; i < SIGNALS; i++) {
      uint64_t bits;
      memcpy(&bits, &value[column[i]], sizeof bits);
      n += (size_t)snprintf(out + n, size - n, "(%.6f) can0 10%d#", 1772366400 + value[0] + 1e-4 * i, i);
      for (int b = 0; b < 8; b++) n += (size_t)snprintf(out + n, size - n, "%02X", (unsigned)(bits >> 8 * b & 255));
      n += (size_t)snprintf(out + n, size - n, "\n");
    }
  }
  return out;
}

// A CAN trace of candump that begins empty: the run waits until all messages have occurred, and refuses a line that is no frame. The rows
// of the complete trace end with the last value of the input. The verdict is bad because the frames are late.
static void trace(void **state) {
  scratch *s = *state;
  static const char options[] =
      "--dbc m.dbc --hold previous --map U_ref=M0.x --map cylinder.length=M1.x --map P.pressure=M2.x --map A.pressure=M3.x";
  char *text = make_log(s, "0.2"), *frames = as_trace(text), path[600], *grown = malloc(strlen(frames) + 20);
  const size_t middle = (size_t)(strchr(frames + strlen(frames) / 2, '\n') + 1 - frames);
  FILE *dbc = fopen(scratch_path(s, "m.dbc"), "w");
  for (int i = 0; i < 4; i++) fprintf(dbc, "BO_ %d M%d: 8 A\n SG_ x : 0|64@1- (1,0) [0|0] \"\" B\n", 256 + i, i);
  for (int i = 0; i < 4; i++) fprintf(dbc, "SIG_VALTYPE_ %d x : 2;\n", 256 + i);
  fclose(dbc);
  sprintf(grown, "%.*srotated\n%s", (int)middle, frames, frames + middle);
  scratch_put(s, "whole.log", frames);
  scratch_put(s, "grow.log", "");
  snprintf(path, sizeof path, "%s", scratch_path(s, "grow.log"));
  expect_code(run(s, "observe %s --data whole.log %s --csv a.csv --quiet", EXPERIMENT, options), 3);
  const pid_t writer = start_writer(path, grown, 0, 29);
  outcome o =
      run(s, "observe %s --data grow.log %s --follow --follow-timeout '0.7 s' --csv b.csv", EXPERIMENT, options);
  end_writer(writer);
  ends_with(o, 3);
  says(o.err, "found 'rotated', expected the name of an interface");
  says(o.err, "lines that could not be used: 1");
  forget(o);
  char *a = scratch_read(scratch_path(s, "a.csv")), *b = scratch_read(scratch_path(s, "b.csv"));
  long lines = 0;
  for (const char *c = b; (c = strchr(c, '\n')); c++) lines++;
  assert_int_equal(lines, 1 + 4 * 201);
  assert_memory_equal(a, b, strlen(a));
  lines = 0;
  for (const char *c = b + strlen(a); (c = strchr(c, '\n')); c++) lines++;
  assert_int_equal(lines, 3);
  free(a);
  free(b);
  free(grown);
  free(frames);
  free(text);
}

// A bad row is refused, and the run continues.
static void bad_rows(void **state) {
  scratch *s = *state;
  static const char log[] =
      "t,cylinder.length,P.pressure,A.pressure,U_ref,note\n0,1.62,5.6e6,2e6,0,a\n0.001,1.62,5.6e6,2e6,0,b\n0.002,long,5.6e6,2e6,0,c\n"
      "0.003,1.62\n0.004,1.62,5.6e6,2e6,0,d,5\n0.005,1.62,5.6e6,2e6,0,e\n0.005,1.62,5.6e6,2e6,0,e\n0.006,1.62,5.6e6,2e6,0";
  scratch_put(s, "bad.csv", log);
  outcome o = run(s, "observe %s --data bad.csv --follow --follow-timeout 0.1 --csv b.csv --json-lines", EXPERIMENT);
  ends_with(o, 0);
  says(o.err, "bad.csv:4:7: 'long' is not a number (column 'cylinder.length')");
  says(o.err, "bad.csv:5:11: 2 cells, but the header has 6 cells; expected equal numbers");
  says(o.err, "bad.csv:6:26: the row has more cells than the header");
  says(o.err, "bad.csv:8:1: times must increase; found 0.005 s after 0.005 s");
  says(o.err, "lines that could not be used: 4");
  says(o.out, "\"status\":\"bad\"}\n");
  forget(o);
  char *rows = scratch_read(scratch_path(s, "b.csv"));
  long lines = 0;
  for (const char *c = rows; (c = strchr(c, '\n')); c++) lines++;
  assert_int_equal(lines, 4);  // the header and three rows; the last line is not complete
  free(rows);
}

static void start_following(scratch *s, feed *f, const char *name, const char *timeout) {
  static char program[] = OD_BINARY, command[] = "observe", experiment[] = EXPERIMENT, option[] = "--data",
              follow[] = "--follow", limit[] = "--follow-timeout", csv[] = "--csv";
  static char log[600], result[600], time[20];
  snprintf(log, sizeof log, "%s", scratch_path(s, name));
  snprintf(result, sizeof result, "%s", scratch_path(s, "out.csv"));
  snprintf(time, sizeof time, "%s", timeout);
  char *arguments[] = {program, command, experiment, option, log, follow, limit, time, csv, result, NULL};
  assert_int_equal(feed_start(f, OD_BINARY, arguments, scratch_path(s, "errors")), 0);
  // The header and the answers to the rows that the file contains may arrive together.
  assert_int_equal(feed_receive(f), 0);
}

static void wrote(scratch *s, const char *part) {
  char *text = scratch_read(scratch_path(s, "errors"));
  says(text, part);
  free(text);
}

static void expect_rows(scratch *s, long rows) {
  char *text = scratch_read(scratch_path(s, "out.csv"));
  assert_non_null(text);
  long lines = -1;
  for (const char *c = text; (c = strchr(c, '\n')); c++) lines++;
  assert_int_equal(lines, rows);
  free(text);
}

#define HEADER "t,cylinder.length,P.pressure,A.pressure,U_ref\n"
static const char one[] = "0,1.62,5.6e6,2e6,0\n", two[] = "0.001,1.62,5.6e6,2e6,0\n",
                  three[] = "0.002,1.62,5.6e6,2e6,0\n";

// Waits until an answer contains a text.
static void wait_for(feed *f, const char *part) {
  while (!strstr(f->line, part))
    if (feed_receive(f) != 0) fail_msg("no answer with '%s'", part);
}

// A replaced file ends the run after the last row of the old file; a shortened file is an error, and Ctrl-C an interruption. The rows
// until then are written.
static void ends(void **state) {
  scratch *s = *state;
  feed f;
  char path[600];
  snprintf(path, sizeof path, "%s", scratch_path(s, "log.csv"));
  for (int way = 0; way < 3; way++) {
    scratch_put(s, "log.csv", HEADER);
    append(path, one, strlen(one));
    start_following(s, &f, "log.csv", "60");
    wait_for(&f, ",ok\n");
    append(path, two, strlen(two));
    wait_for(&f, "0.001,");
    if (way == 0) {
      char old[600];
      snprintf(old, sizeof old, "%s", scratch_path(s, "log.csv.1"));
      assert_int_equal(rename(path, old), 0);
      append(old, three, strlen(three));
      wait_for(&f, "0.002,");
      scratch_put(s, "log.csv", HEADER);
      assert_int_equal(feed_receive(&f), -1);
      assert_int_equal(feed_end(&f), 0);
      wrote(s, "log.csv was replaced by another file; the run ends with the last row of the old file");
      expect_rows(s, 3);
    } else if (way == 1) {
      assert_int_equal(truncate(path, 50), 0);
      assert_int_equal(feed_receive(&f), -1);
      assert_int_equal(feed_end(&f), 1);
      wrote(s, "log.csv has become shorter, from 88 bytes to 50 bytes; rows may be lost");
      expect_rows(s, 2);
    } else {
      kill(f.child, SIGINT);
      assert_int_equal(feed_receive(&f), -1);
      assert_int_equal(feed_end(&f), 130);
      wrote(s, "interrupted after line 3");
      expect_rows(s, 2);
    }
  }
}

#define LAG                                                         \
  "machine: lag.yaml\nstep: 4 ms\nsensors: {lag: {sigma: 50 mV}}\n" \
  "parameters: {lag.gain: {start: 1.5, sigma: 1, low: 0.1, high: 10}}\n"

// The part in use and the settings of an entry of 'files' apply to a log that is followed; settings that cannot apply are errors.
static void settings_of_the_log(void **state) {
  scratch *s = *state;
  scratch_put(s, "lag.yaml",
              "machine: Lag\ninputs: {u: {unit: V, constant: 1 V}}\n"
              "blocks: {lag: {type: first-order, input: u, unit: V, gain: 1, time_constant: 30 ms}}\n");
  FILE *f = fopen(scratch_path(s, "log.csv"), "w");
  fprintf(f, "# a bench\nu,lag\n");
  for (int k = 0; k < 100; k++) fprintf(f, "%.6f,%.6f\n", sin(k * k), 0.3 * sin(0.2 * k));
  fclose(f);
  scratch_put(s, "x.yaml",
              LAG "data: {files: [{file: log.csv, interval: 4 ms, skip: 1}], start: 100 ms, end: 300 ms}\n");
  expect_code(run(s, "observe x.yaml --csv a.csv --quiet"), 3);
  expect_code(run(s, "observe x.yaml --follow --follow-timeout 0.2 --csv b.csv --quiet"), 3);
  expect_equal(s, "a.csv", "b.csv");
  static const char *const wrong[][2] = {
      {"data: {file: log.csv, interval: 4 ms, delay: 1 ms}\n", "a stream cannot have 'delay'; remove this key"},
      {"data: {file: log.csv, interval: 4 ms, drift: 1e-6}\n", "a stream cannot have 'drift'; remove this key"},
      {"data: {file: log.csv, interval: 4 ms, channels: {lag: {column: lag, delay: 1 ms}}}\n",
       "a stream cannot have 'delay'; remove this key"},
      {"data: {file: log.csv, interval: 4 ms, channels: {lag: {column: lag, file: other.csv}}}\n",
       "'file' of 'lag' is 'other.csv'; a log that is followed has one file, log.csv"},
      {"data: {file: [log.csv, log.csv], interval: 4 ms}\n",
       "the log has 2 files; a log that is followed has one file"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[600];
    snprintf(text, sizeof text, LAG "%s", wrong[i][0]);
    scratch_put(s, "x.yaml", text);
    ends_and_says(run(s, "observe x.yaml --follow --follow-timeout 0.2"), 2, wrong[i][1]);
  }
  scratch_put(s, "x.yaml", LAG);
  ends_and_says(run(s, "observe x.yaml --live --start 1 < log.csv"), 2,
                "--start applies only to files; with --live all lines are used");
}

static void wrong_commands(void **state) {
  scratch *s = *state;
  scratch_put(s, "log.csv", HEADER);
  ends_and_says(run(s, "observe %s --data log.csv --follow --follow-timeout 0.05", EXPERIMENT), 2,
                "log.csv: there was no row for 0.05 s; expected a line with the names of the columns, and rows");
  ends_and_says(run(s, "observe %s --data none.csv --follow", EXPERIMENT), 1, "cannot read none.csv");
  ends_and_says(run(s, "observe %s --follow", EXPERIMENT), 2,
                "--follow requires a log: --data FILE, or 'file' in the section 'data'");
  ends_and_says(run(s, "observe %s --follow --live", EXPERIMENT), 2, "give only one of these options");
  ends_and_says(run(s, "observe %s --follow-timeout 1 --data log.csv", EXPERIMENT), 2,
                "--follow-timeout requires --follow");
  ends_and_says(run(s, "observe %s --follow --data log.csv --csv -", EXPERIMENT), 2,
                "--csv -: with --follow the answers go to standard output");
  assert_int_equal(mkfifo(scratch_path(s, "pipe"), 0600), 0);
  ends_and_says(run(s, "observe %s --data pipe --follow", EXPERIMENT), 2,
                "pipe cannot be followed: it is not a regular file");
  scratch_put(s, "names.csv", "t,cylinder.lengt,P.pressure,A.pressure,U_ref\n0,1.62,5.6e6,2e6,0\n");
  ends_and_says(run(s, "observe %s --data names.csv --follow", EXPERIMENT), 2, "did you mean 'cylinder.lengt'?");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(equal_to_the_complete_log),
                                     TEST(dates_of_a_stream),
                                     TEST(trace),
                                     TEST(bad_rows),
                                     TEST(ends),
                                     TEST(wrong_commands),
                                     TEST(settings_of_the_log)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
