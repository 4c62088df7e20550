// Times of logs in every command that reads them: without a unit and named "t_ms" there is a warning, in the same words everywhere; with the unit
// in the header they are converted without a message. Dates and Unix times are times from the first row. Oracle: the log in seconds, which
// must give the same results.
#include "support/test.h"

#include <math.h>

#include "support/program.h"

static const char lag[] =
    "machine: Lag\n"
    "bodies: {bob: {point: {mass: 1 kg, at: [0, -1 m]}}}\n"
    "joints: {A: {type: revolute, between: [ground, bob]}}\n"
    "initial: {A.angle: 0}\n"
    "inputs: {u: {unit: V, %s}}\n"
    "blocks: {lag: {type: first-order, input: u, unit: V, gain: 1, time_constant: 30 ms}}\n"
    "run: {time: 0.5 s, step: 1 ms, outputs: [lag]}\n";
static const char experiment[] =
    "machine: lag.yaml\nstep: 2 ms\nsensors: {lag: {sigma: 1 mV}}\nparameters: {lag.gain: {start: 1.5, low: 0.1, high: 10}}\n"
    "data: {file: log.csv}\n";
static const char friction[] =
    "friction: a bench\n"
    "laws: {guess: {law: lugre, Fs: 60 N, Fc: 40 N, vs: 1 mm/s, viscous: 90 N s/m, sigma_0: 1e6 N/m}}\n"
    "fit: {law: lugre, method: complete, start: guess, parameters: [Fc, viscous], restarts: 0}\n"
    "run: {log: log.csv, velocity: v, force: f}\n";

// Rows 2 ms apart: a lag's input and output, an angle, a speed and its friction.
static void put_log(scratch *s, const char *time, double unit) {
  FILE *to = fopen(scratch_path(s, "log.csv"), "w");
  double y = 0, keeps = exp(-2.0 / 30);
  fprintf(to, "%s,u,lag,A.angle,v,f\n", time);
  for (int k = 0; k < 400; k++) {
    double t = 2e-3 * k, u = sin(1e3 * k * k), v = 0.1 * sin(9 * t);
    fprintf(to, "%.9g,%.9g,%.9g,%.17g,%.9g,%.9g\n", t / unit, u, y, 0.1 * sin(5 * t), v, 50 * tanh(v / 0.01) + 100 * v);
    y = keeps * y + (1 - keeps) * u;
  }
  fclose(to);
}

// Commands with JSON output have the words there, too.
static const char *const commands[] = {
    "inverse lag.yaml --data log.csv --csv out --json out.json",
    "frf log.csv --input u --output lag --csv out --json out.json",
    "tf log.csv --input u --output lag --order 1 --csv out --json out.json",
    "tf log.csv --input u --output lag --method arx --order 1 --csv out --json out.json",
    "friction coulomb --set Fc=100 --set vs=0.01 --set viscous=300 --data log.csv --column v --csv out",
    "friction-fit friction.yaml --csv out --json out.json",
    "simulate driven.yaml --csv out",
    "fit fit.yaml --csv out --json out.json"};

static void times(void **state) {
  scratch *s = *state;
  static const char words[] =
      "the column 't_ms' of log.csv has no unit, so its times are read as seconds: rows are 2 s apart. The name suggests the unit ms: ";
  static const char *const file[] = {"lag.yaml", "driven.yaml"};
  static const char *const input[] = {"constant: 1 V", "file: {path: log.csv, column: u}"};
  for (int i = 0; i < 2; i++) {
    char text[1000];
    snprintf(text, sizeof text, lag, input[i]);
    scratch_put(s, file[i], text);
  }
  scratch_put(s, "fit.yaml", experiment);
  scratch_put(s, "friction.yaml", friction);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    char *result[2];
    for (int k = 0; k < 2; k++) {
      put_log(s, k ? "t_ms [ms]" : "t [s]", k ? 1e-3 : 1);
      outcome o = run(s, "%s", commands[i]);
      ends_with(o, 0);
      assert_null(strstr(o.err, "count as seconds"));
      assert_null(strstr(o.out, "count as seconds"));
      forget(o);
      result[k] = scratch_read(scratch_path(s, "out"));
    }
    assert_true(strlen(result[0]) > 100);
    if (strcmp(result[0], result[1])) fail_msg("%s: ms are not seconds", commands[i]);
    free(result[0]);
    free(result[1]);
    put_log(s, "t_ms", 1e-3);
    outcome o = run(s, "%s", commands[i]);
    if (!strstr(o.err, words)) says(o.out, words);
    forget(o);
    if (!strstr(commands[i], "--json")) continue;
    char *json = scratch_read(scratch_path(s, "out.json"));
    says(json, words);
    free(json);
  }
}

// The log in seconds with other texts in the time column.
static void put_times(scratch *s, const char *header, void (*write)(FILE *to, int k)) {
  put_log(s, "t [s]", 1);
  char *text = scratch_read(scratch_path(s, "log.csv"));
  FILE *to = fopen(scratch_path(s, "log.csv"), "w");
  fprintf(to, "%s%.*s\n", header, (int)strcspn(strchr(text, ','), "\n"), strchr(text, ','));
  int k = 0;
  for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1, k++) {
    const char *rest = strchr(line, ',');
    write(to, k);
    fprintf(to, "%.*s\n", (int)strcspn(rest, "\n"), rest);
  }
  fclose(to);
  free(text);
}

// The rows begin 0.1 s before midnight.
static void iso(FILE *to, int k) {
  k < 50 ? fprintf(to, "2026-02-28T23:59:59.%03dZ", 900 + 2 * k)
         : fprintf(to, "2026-03-01T00:00:00.%03dZ", 2 * k - 100);
}

static void day_first(FILE *to, int k) {
  k < 50 ? fprintf(to, "3/4/2026 23:59:59.%03d", 900 + 2 * k) : fprintf(to, "4/4/2026 0:00:00.%03d", 2 * k - 100);
}

static void of_day(FILE *to, int k) {
  k < 50 ? fprintf(to, "23:59:59.%03d", 900 + 2 * k) : fprintf(to, "00:00:00.%03d", 2 * k - 100);
}

static void unix_seconds(FILE *to, int k) {
  fprintf(to, "1772323%d.%03d", 199 + (k >= 50), k < 50 ? 900 + 2 * k : 2 * k - 100);
}

static void dates(void **state) {
  scratch *s = *state;
  static const struct {
    const char *header;
    void (*write)(FILE *to, int k);
  } forms[] = {{"time", iso}, {"time [dd/mm/yyyy hh:mm:ss]", day_first}, {"t", of_day}, {"timestamp", unix_seconds}};
  static const char *const file[] = {"lag.yaml", "driven.yaml"};
  static const char *const input[] = {"constant: 1 V", "file: {path: log.csv, column: u}"};
  for (int i = 0; i < 2; i++) {
    char text[1000];
    snprintf(text, sizeof text, lag, input[i]);
    scratch_put(s, file[i], text);
  }
  scratch_put(s, "fit.yaml", experiment);
  scratch_put(s, "friction.yaml", friction);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    put_log(s, "t [s]", 1);
    expect_code(run(s, "%s", commands[i]), 0);
    char *expected = scratch_read(scratch_path(s, "out"));
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
      put_times(s, forms[k].header, forms[k].write);
      outcome o = run(s, "%s", commands[i]);
      ends_with(o, 0);
      forget(o);
      char *result = scratch_read(scratch_path(s, "out"));
      if (strcmp(expected, result)) fail_msg("%s: '%s' gives other results", commands[i], forms[k].header);
      free(result);
    }
    free(expected);
  }
}

// The order of day and month in the place of the unit.
static void order_of_dates(void **state) {
  scratch *s = *state;
  char text[1000];
  snprintf(text, sizeof text, lag, "constant: 1 V");
  scratch_put(s, "lag.yaml", text);
  snprintf(text, sizeof text, "%s", experiment);
  char *data = strstr(text, "data: ");
  put_log(s, "t [s]", 1);
  scratch_put(s, "fit.yaml", text);
  expect_code(run(s, "fit fit.yaml --csv out"), 0);
  char *expected = scratch_read(scratch_path(s, "out"));
  put_times(s, "Time", day_first);
  outcome o = run(s, "fit fit.yaml --csv out");
  ends_with(o, 2);
  says(
      o.err,
      "log.csv: the dates of the column 'Time', such as '3/4/2026 23:59:59.900', can be read as day/month and as month/day; give the order as the "
      "unit of the time: time: {column: Time, unit: dd/mm/yyyy} or mm/dd/yyyy");
  forget(o);
  strcpy(data, "data: {file: log.csv, time: {column: Time, unit: \"dd/mm/yyyy hh:mm:ss\"}}\n");
  scratch_put(s, "fit.yaml", text);
  expect_code(run(s, "fit fit.yaml --csv out"), 0);
  char *result = scratch_read(scratch_path(s, "out"));
  assert_string_equal(result, expected);
  free(result);
  free(expected);
  // Read as months, the second part of the log is a month later.
  strcpy(data, "data: {file: log.csv, end: 1 s, time: {column: Time, unit: mm/dd/yyyy}}\n");
  scratch_put(s, "fit.yaml", text);
  o = run(s, "fit fit.yaml --json -");
  says(o.out, "\"rows\": 50");
  forget(o);
  // The survey of the log: the same message, and the same order from the mapping.
  o = run(s, "log log.csv");
  ends_with(o, 2);
  says(o.err, "the dates of the column 'Time', such as '3/4/2026 23:59:59.900', can be read as day/month");
  forget(o);
  o = run(s, "log log.csv --map time=Time:dd/mm/yyyy");
  ends_with(o, 0);
  says(o.out, "from 2026-04-03T23:59:59.9");
  forget(o);
  o = run(s, "log log.csv --map time=Time:mm/dd/yyyy");
  ends_with(o, 0);
  says(o.out, "from 2026-03-04T23:59:59.9");
  forget(o);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(times), TEST(dates), TEST(order_of_dates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
