// Times of logs in every command that reads them: without a unit and named "t_ms" there is a warning, in the same words everywhere; with the unit
// in the header they are converted without a message. Oracle: the log in seconds, which must give the same results.
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(times, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
