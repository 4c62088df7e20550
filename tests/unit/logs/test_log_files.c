// Logs of several files with their own clocks.
//
// Oracle: one CSV file that the test merges itself, with empty cells; the results of commands must have the same bytes. Clocks: times
// computed from the equation of od_log_source. Dates: `date -u +%s` of the same texts.
#include "support/test.h"

#include <math.h>

#include "logs/log_rows.h"
#include "support/program.h"

static const char machine[] =
    "machine: Lag\n"
    "inputs: {u: {unit: V, constant: 1 V}}\n"
    "blocks: {lag: {type: first-order, input: u, unit: V, gain: 1, time_constant: 30 ms}}\n"
    "run: {time: 0.5 s, step: 1 ms, outputs: [lag]}\n";

#define EXPERIMENT                                                   \
  "machine: lag.yaml\nstep: 4 ms\nsensors: {lag: {sigma: 300 mV}}\n" \
  "parameters: {lag.gain: {start: 1.5, sigma: 1, low: 0.1, high: 10}}\n"

// Inputs every 1/256 s and outputs every 5/1024 s, from 1/512 s on. Both have the time 261/512 s... only if rows of both exist.
enum { INPUTS = 500, OUTPUTS = 390 };
static double input_time(int k) {
  return k / 256.0;
}
static double output_time(int k) {
  return 3 / 256.0 + 5 * k / 1024.0;
}
static double input(int k) {
  return round(1024 * sin(1e3 * k * k)) / 1024;
}
static double output(int k) {
  return round(1e6 * (0.3 * sin(0.07 * k) + 0.1 * sin(1e3 * k * k))) / 1e6;
}

static void put(scratch *s) {
  scratch_put(s, "lag.yaml", machine);
  FILE *a = fopen(scratch_path(s, "a.csv"), "w"), *b = fopen(scratch_path(s, "b.csv"), "w"),
       *all = fopen(scratch_path(s, "all.csv"), "w"), *late = fopen(scratch_path(s, "late.csv"), "w");
  fprintf(a, "time,u,x\n"), fprintf(b, "t [ms];lag\n"), fprintf(all, "time,u,lag\n"), fprintf(late, "t [ms];lag\n");
  int i = 0, k = 0;
  while (i < INPUTS || k < OUTPUTS) {
    double next = i < INPUTS ? input_time(i) : INFINITY, other = k < OUTPUTS ? output_time(k) : INFINITY;
    double t = fmin(next, other);
    fprintf(all, "%.17g,", t);
    if (next == t) {
      fprintf(a, "%.17g,%.17g,word\n", t, input(i));
      fprintf(all, "%.17g", input(i++));
    }
    fprintf(all, ",");
    if (other == t) {
      fprintf(b, "%.17g;%.17g\n", 1000 * t, output(k));
      fprintf(late, "%.17g;%.17g\n", 1000 * (t + 1.5), output(k));
      fprintf(all, "%.17g", output(k++));
    }
    fprintf(all, "\n");
  }
  fclose(a), fclose(b), fclose(all), fclose(late);
}

static char *result(scratch *s, const char *data, const char *command) {
  char text[2000];
  snprintf(text, sizeof text, "%s%s", EXPERIMENT, data);
  scratch_put(s, "x.yaml", text);
  remove(scratch_path(s, "out"));
  outcome o = run(s, "%s --csv out --quiet", command);
  ends_with(o, 0);
  forget(o);
  return scratch_read(scratch_path(s, "out"));
}

static void test_merged(void **state) {
  scratch *s = *state;
  put(s);
  static const char *const commands[] = {"observe x.yaml", "fit x.yaml"};
  static const char *const data[] = {
      "data: {file: [a.csv, b.csv]}\n",
      "data: {files: [{file: b.csv}, {file: a.csv}]}\n",
      // A delay of the clock of a file, and of a channel.
      "data: {files: [{file: a.csv}, {file: late.csv, delay: 1500 ms}]}\n",
      "data: {file: [a.csv, late.csv], channels: {lag: {column: lag, delay: 1.5 s}}}\n",
      "data: {file: [a.csv, b.csv, late.csv], channels: {lag: {column: lag, file: b.csv}}}\n",
  };
  for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
    char *expected = result(s, "data: {file: all.csv}\n", commands[c]);
    assert_true(strlen(expected) > 1000);
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
      char *got = result(s, data[i], commands[c]);
      if (strcmp(got, expected) != 0) fail_msg("%s: %s: the result differs", commands[c], data[i]);
      free(got);
    }
    char options[200];
    snprintf(options, sizeof options, "%s --data a.csv --data b.csv", commands[c]);
    char *got = result(s, "", options);
    assert_string_equal(got, expected);
    free(got), free(expected);
  }
}

// In a log of two files, samples that only the other file has are not missing.
static void test_missing(void **state) {
  scratch *s = *state;
  put(s);
  free(result(s, "data: {file: [a.csv, b.csv]}\n", "observe x.yaml --json o.json"));
  char *json = scratch_read(scratch_path(s, "o.json"));
  says(json, "\"missing\": 0");
  char *log = strstr(json, "\"missing\": 0");
  assert_non_null(strstr(log + 1, "\"missing\": 0"));
  free(json);
}

// A column of 'compare' that several files have. Oracle: the same column in one file.
static void test_compared(void **state) {
  scratch *s = *state;
  put(s);
  static const char *const data[] = {
      "data: {file: [a.csv, b.csv]}\ncompare: {lag: lag}\n",
      "data: {file: [a.csv, b.csv, late.csv], channels: {lag: {column: lag, file: b.csv}}}\n"
      "compare: {lag: {output: lag, file: b.csv}}\n"};
  char *expected = result(s, data[0], "observe x.yaml"), *got = result(s, data[1], "observe x.yaml");
  says(expected, "compared.lag");
  assert_string_equal(got, expected);
  free(got), free(expected);
}

// A column without values is reported with its own file, also if the other file has more rows.
static void test_empty_column(void **state) {
  scratch *s = *state;
  put(s);
  FILE *f = fopen(scratch_path(s, "empty.csv"), "w");
  fprintf(f, "time,lag\n");
  for (int k = 0; k < 100; k++) fprintf(f, "%g,\n", input_time(5 * k));
  fclose(f);
  scratch_put(s, "x.yaml", EXPERIMENT);
  outcome o = run(s, "observe x.yaml --data a.csv --data empty.csv");
  says(o.err, "empty.csv: 'lag' has no values; check the column");
  forget(o);
}

// Files of --data have the clock of the section. Oracle: the same files in the section.
static void test_clock_of_the_section(void **state) {
  scratch *s = *state;
  put(s);
  char *expected = result(s, "data: {file: [a.csv, b.csv], delay: 250 ms, drift: 1e-3}\n", "fit x.yaml"),
       *other = result(s, "data: {file: [a.csv, b.csv]}\n", "fit x.yaml"),
       *got = result(s, "data: {file: a.csv, delay: 250 ms, drift: 1e-3}\n", "fit x.yaml --data a.csv --data b.csv");
  assert_string_equal(got, expected);
  assert_true(strcmp(expected, other) != 0);
  free(expected), free(other), free(got);
}

static void test_mistakes(void **state) {
  scratch *s = *state;
  put(s);
  static const char *const wrong[][2] = {
      {"data: {file: [a.csv, b.csv, late.csv]}\n",
       "2 files have a column for 'lag': b.csv, late.csv; name one with 'file' in the map of the channel, as in 'lag: {file: late.csv}'"},
      {"data: {file: [a.csv, none.csv]}\n", "cannot read none.csv"},
      {"data: {file: []}\n", "found an empty list; expected at least one file"},
      {"data: {file: a.csv, files: [{file: b.csv}]}\n", "found both 'file' and 'files'; expected one of these keys"},
      {"data: {files: {file: b.csv}}\n", "expected a list of files"},
      {"data: {files: [{time: 1}]}\n", "needs 'file'"},
      {"data: {files: [{file: a.csv}, {file: b.csv, drift: 2}]}\n", "'drift' is 2; expected a relative error"},
      {"data: {file: [a.csv, b.csv], channels: {lag: {column: lag, file: c.csv}}}\n",
       "'file' of 'lag' is 'c.csv', which is not a file of this log"},
      {"data: {file: all.csv, channels: {lag: {column: lag, file: b.csv}}}\n",
       "'file' of 'lag' is 'b.csv', which is not a file of this log"},
      {"data: {file: [a.csv, b.csv], channels: {lag: {column: leg, file: b.csv}}}\n",
       "b.csv has no column 'leg'; did you mean 'lag'?"},
      // Clocks an hour apart: a.csv ends at 499/256 s; b.csv begins at 3/256 s and ends at (12 + 5 * 389)/1024 s of its clock.
      {"data: {files: [{file: a.csv}, {file: b.csv, delay: -3600}]}\n",
       "a.csv covers 0 s to 1.94921875 s, b.csv 3600.01172 s to 3601.91113 s: the files have no common time; check dates and "
       "zones, or give 'delay'"},
      {"data: {files: [{file: a.csv}, {file: b.csv, delay: 3600}]}\n",
       "a.csv covers 0 s to 1.94921875 s, b.csv -3599.98828 s to -3598.08887 s: the files have no common time"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s", EXPERIMENT, wrong[i][0]);
    scratch_put(s, "x.yaml", text);
    ends_and_says(run(s, "observe x.yaml"), 2, wrong[i][1]);
  }
}

// --- Inputs between rows ------------------------------------------------------------------------------------------

// With 'hold: next' the value of a row applies since the previous row. Oracle: a log with 'hold: previous', in which the test writes each
// input one row earlier.
static void test_next(void **state) {
  scratch *s = *state;
  put(s);
  FILE *next = fopen(scratch_path(s, "next.csv"), "w"), *early = fopen(scratch_path(s, "early.csv"), "w");
  fprintf(next, "time,u,lag\n"), fprintf(early, "time,u,lag\n");
  enum { ROWS = 300 };
  for (int k = 0; k < ROWS; k++) {
    // The log has gaps of the input, which the next value fills.
    int later = k + 1 < ROWS ? k + 1 : k;
    while (later % 7 == 3) later++;
    fprintf(next, "%.17g,", k / 256.0);
    if (k % 7 != 3) fprintf(next, "%.17g", input(k));
    fprintf(next, ",%.17g\n", output(k));
    fprintf(early, "%.17g,%.17g,%.17g\n", k / 256.0, input(later), output(k));
  }
  fclose(next), fclose(early);
  static const char *const commands[] = {"observe x.yaml", "fit x.yaml"};
  for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
    char *expected = result(s, "data: {file: early.csv, hold: previous}\n", commands[c]);
    char *got = result(s, "data: {file: next.csv, hold: next}\n", commands[c]);
    assert_string_equal(got, expected);
    free(got);
    got = result(s, "data: {file: next.csv, channels: {u: {column: u, hold: next}}}\n", commands[c]);
    assert_string_equal(got, expected);
    free(got);
    char options[200];
    snprintf(options, sizeof options, "%s --data next.csv --hold next", commands[c]);
    got = result(s, "", options);
    assert_string_equal(got, expected);
    free(got), free(expected);
  }
}

// Two machines in one file, each with its own input. Oracle: all inputs linear, or all held.
static void test_hold_of_channels(void **state) {
  scratch *s = *state;
  scratch_put(s, "lag.yaml",
              "machine: Two lags\ninputs: {u: {unit: V, constant: 1 V}, w: {unit: V, constant: 1 V}}\n"
              "blocks:\n  lag: {type: first-order, input: u, unit: V, gain: 1, time_constant: 30 ms}\n"
              "  leg: {type: first-order, input: w, unit: V, gain: 1, time_constant: 50 ms}\n"
              "run: {time: 0.5 s, step: 1 ms, outputs: [lag, leg]}\n");
  FILE *to = fopen(scratch_path(s, "two.csv"), "w");
  fprintf(to, "time,u,w,lag,leg\n");
  for (int k = 0; k < 200; k++)
    fprintf(to, "%.17g,%.17g,%.17g,%.17g,%.17g\n", k / 256.0, input(k), input(k + 50), output(k), output(k + 50));
  fclose(to);
  static const char *const data[] = {
      "data: {file: two.csv}\n", "data: {file: two.csv, hold: previous}\n",
      "data: {file: two.csv, channels: {u: {column: u, hold: previous}}}\n",
      "data: {file: two.csv, hold: previous, channels: {w: {column: w, hold: linear}}}\n"};
  double got[4][2];
  for (int i = 0; i < 4; i++) {
    char text[1000];
    snprintf(text, sizeof text,
             "machine: lag.yaml\nstep: 4 ms\nsensors: {lag: {sigma: 300 mV}, leg: {sigma: 300 mV}}\n"
             "initial: {lag: 1 V, leg: 1 V}\n%s",
             data[i]);
    scratch_put(s, "x.yaml", text);
    outcome o = run(s, "observe x.yaml --csv out.csv --quiet");
    ends_with(o, 0);
    forget(o);
    od_table *t = NULL;
    od_error err;
    assert_int_equal(od_table_read_csv(scratch_path(s, "out.csv"), &t, &err), OD_OK);
    for (int k = 0; k < 2; k++) {
      got[i][k] = NAN;
      for (int c = 0; c < t->columns; c++)
        if (!strcmp(t->name[c], k ? "estimate.leg" : "estimate.lag"))
          got[i][k] = t->data[(t->rows - 3) * t->columns + c];
      if (isnan(got[i][k])) fail_msg("no column; the columns are %s, %s, %s", t->name[0], t->name[1], t->name[2]);
    }
    od_table_free(t);
  }
  assert_true(fabs(got[0][0] - got[1][0]) > 1e-4 && fabs(got[0][1] - got[1][1]) > 1e-4);
  for (int i = 2; i < 4; i++) {
    near(got[i][0], got[1][0], 1e-12);
    near(got[i][1], got[0][1], 1e-12);
  }
  // A fit needs the same hold for all inputs.
  scratch_put(s, "x.yaml",
              "machine: lag.yaml\nstep: 4 ms\nsensors: {lag: {sigma: 300 mV}, leg: {sigma: 300 mV}}\n"
              "parameters: {lag.gain: {start: 1.5}}\n"
              "data: {file: two.csv, channels: {u: {column: u, hold: previous}}}\n");
  ends_and_says(run(s, "fit x.yaml"), 2, "inputs of this log have several kinds of 'hold'");
}

// --- Clocks -------------------------------------------------------------------------------------------------------

static void test_clocks(void **state) {
  scratch *s = *state;
  char b[600];
  put(s);
  snprintf(b, sizeof b, "%s", scratch_path(s, "clock.csv"));
  FILE *to = fopen(b, "w");
  const double drift = 3e-4, delay = -0.0123, channel_delay = 0.002, origin = 1000;
  fprintf(to, "time,y,z\n");
  for (int k = 0; k < 1000; k++) {
    // Times of the log, relative to the first time of the file.
    double t = 0.01 * k - delay / (1 + drift);
    fprintf(to, "%.17g,%.17g,%.17g\n", origin + t * (1 + drift) + delay, sin(t), cos(t));
  }
  fclose(to);
  od_error err;
  OD_OWNED(od_units_free) od_units *units = od_units_new(&err);
  od_messages *messages = od_messages_new();
  od_log_plan plan;
  od_log_plan_init(&plan);
  plan.file = b;
  plan.delay = delay, plan.drift = drift;
  assert_int_equal(od_log_want(&plan, "y", "1", false, NAN), 0);
  assert_int_equal(od_log_want(&plan, "z", "1", false, NAN), 1);
  plan.channel[1].delay = channel_delay;
  for (int held = 0; held < 2; held++) {
    od_log *log = NULL;
    plan.most_held = held ? 1 << 20 : 0;
    assert_int_equal(od_log_read(&plan, units, &log, messages), OD_OK);
    assert_true((log->value != NULL) == held);
    od_log_cursor *cursor = NULL;
    assert_int_equal(od_log_cursor_new(log, &cursor, &err), OD_OK);
    const double *value;
    double t, previous = -INFINITY;
    bool more = true;
    int y = 0, z = 0;
    for (;;) {
      assert_int_equal(od_log_cursor_next(cursor, &t, &value, &more, &err), OD_OK);
      if (!more) break;
      assert_true(t > previous);
      previous = t;
      double at = t - origin;
      if (!isnan(value[0])) y++, near(value[0], sin(at), 1e-9);
      if (!isnan(value[1])) z++, near(value[1], cos(at + channel_delay), 1e-9);
    }
    assert_int_equal(y, 1000);
    assert_int_equal(z, 1000);
    assert_int_equal(log->missing[0], 0);
    assert_int_equal(log->missing[1], 0);
    od_log_cursor_free(cursor);
    od_log_free(log);
  }
  od_log_plan_free(&plan);
  od_messages_free(messages);
}

// Writes a date and time; the seconds of a day begin on 2024-05-01.
static void put_date(FILE *to, double t, char between) {
  int day = t >= 86400 ? 2 : 1;
  t -= 86400.0 * (day - 1);
  int hour = (int)(t / 3600), minute = (int)(t / 60) % 60;
  fprintf(to, "2024-05-0%d%c%02d:%02d:%013.10f", day, between, hour, minute, t - 3600 * hour - 60 * minute);
}

// Files whose times are dates begin at different times of the day, before and after midnight. Oracle: the merged log.
static void test_dates(void **state) {
  scratch *s = *state;
  put(s);
  FILE *a = fopen(scratch_path(s, "day.csv"), "w"), *b = fopen(scratch_path(s, "other.csv"), "w");
  fprintf(a, "date,u\n"), fprintf(b, "date;lag\n");
  // Multiples of 1/1024 s are exact with ten decimals.
  for (int k = 0; k < INPUTS; k++) {
    put_date(a, 86399 + input_time(k), ' ');
    fprintf(a, ",%.17g\n", input(k));
  }
  for (int k = 0; k < OUTPUTS; k++) {
    put_date(b, 86399 + output_time(k), 'T');
    fprintf(b, ";%.17g\n", output(k));
  }
  fclose(a), fclose(b);
  // Nanoseconds round the times, so the results are equal to nine digits.
  char *expected = result(s, "data: {file: all.csv}\n", "observe x.yaml");
  char *got = result(s, "data: {file: [day.csv, other.csv]}\n", "observe x.yaml");
  const char *x = strchr(expected, '\n'), *y = strchr(got, '\n');
  long count = 0;
  while (x && y && *x && *y) {
    char *after_x, *after_y;
    double p = strtod(x, &after_x), q = strtod(y, &after_y);
    if (after_x != x && after_y != y) {
      near(q, p, 1e-6 * fmax(1, fabs(p)));
      count++;
    }
    x = after_x + (*after_x != '\0'), y = after_y + (*after_y != '\0');
  }
  assert_true(count > 1000 && *x == '\0' && *y == '\0');
  free(got), free(expected);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_merged),           TEST(test_missing), TEST(test_mistakes), TEST(test_next),
      TEST(test_hold_of_channels), TEST(test_clocks),  TEST(test_dates),    TEST(test_clock_of_the_section),
      TEST(test_empty_column),     TEST(test_compared)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
