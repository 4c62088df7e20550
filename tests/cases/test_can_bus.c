// cases/can-bus. Oracles: the simulated run from which the script make-trace wrote the trace, interpolated to the times of the frames, with
// the noise and the resolution of the database; and the numbers of the worn drive.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "support/can.h"
#include "support/program.h"
#include "support/skipping.h"

#define CASE OD_SOURCE_DIR "/cases/can-bus/"

static od_table *simulated(scratch *s) {
  od_table *t = NULL;
  od_error err = {0};
  expect_code(run(s, "simulate " CASE "machine.yaml --variant worn --csv run.csv --quiet"), 0);
  if (od_table_read(scratch_path(s, "run.csv"), NULL, &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

// A column of the run at a time. The rows are 1 ms apart.
static double run_value(const od_table *t, const char *name, double time) {
  long k = (long)floor(time / 1e-3);
  if (k > t->rows - 2) k = t->rows - 2;
  double a = can_value(t, k, name), b = can_value(t, k + 1, name), from = t->data[k * t->columns];
  return a + (time - from) / 1e-3 * (b - a);
}

// Compares a column of the trace with the run: all values within 5 standard deviations, their mean within 5 of its own.
static void compare(const od_table *trace, const od_table *run, const char *column, const char *name, double factor,
                    double noise, double resolution, long frames) {
  double sum = 0, squares = 0, limit = 5 * noise + resolution;
  int c = od_table_find(trace, column);
  long count = 0;
  assert_true(c > 0);
  for (long k = 0; k < trace->rows; k++) {
    double value = trace->data[k * trace->columns + c], time = trace->data[k * trace->columns];
    if (isnan(value)) continue;
    // A frame waits up to 0.3 ms for the bus, and the time zero of a candump file is the first frame, at most 0.4 ms after the start.
    double d = INFINITY;
    for (int j = -4; j <= 4; j++) {
      double other = value - factor * run_value(run, name, fmax(time + j * 1e-4, 0));
      if (fabs(other) < fabs(d)) d = other;
    }
    if (!(fabs(d) <= limit)) fail_msg("%s at %.6f s: %g, off by %g", column, time, value, d);
    sum += d, squares += d * d, count++;
  }
  assert_int_equal(count, frames);
  near(sum / (double)count, 0, 5 * noise / sqrt((double)count) + resolution);
  if (noise > 0) near_relative(sqrt(squares / (double)count), noise, 0.1);
}

static void compare_all(scratch *s, const char *path) {
  const char *databases[] = {CASE "drive.dbc", NULL};
  od_table *trace = NULL, *run = simulated(s);
  od_error err = {0};
  if (od_table_read(path, &(od_table_wish){.databases = databases}, &trace, &err) != OD_OK) fail_msg("%s", err.text);
  const double rpm = 30 / acos(-1);
  compare(trace, run, "EEC2.AccelPedalPos1", "pedal", 100, 0, 0.2, 240);
  compare(trace, run, "DriveCommand.MotorSwash", "swash", 100, 0, 0.00125, 1200);
  compare(trace, run, "EEC1.EngineSpeed", "pump.rate", rpm, 2, 0.0625, 1200);
  compare(trace, run, "DriveSensors.MotorSpeed", "shaft.rate", rpm, 2, 0.0625, 1200);
  compare(trace, run, "DriveSensors.PressureA", "A.pressure", 1e-5, 1, 0.005, 1200);
  compare(trace, run, "DriveSensors.PressureB", "B.pressure", 1e-5, 1, 0.005, 1200);
  int lamp = od_table_find(trace, "DM1.AmberWarningLamp"), fuel = od_table_find(trace, "ET1.EngineFuelTemp"), lamps = 0;
  assert_true(lamp > 0 && fuel > 0);
  for (long k = 0; k < trace->rows; k++) {
    assert_true(isnan(trace->data[k * trace->columns + fuel]));
    if (!isnan(trace->data[k * trace->columns + lamp])) near(trace->data[k * trace->columns + lamp], 1, 0), lamps++;
  }
  assert_int_equal(lamps, 12);
  od_table_free(trace);
  od_table_free(run);
}

static void trace_is_the_run(void **state) {
  compare_all(*state, CASE "drive.blf");
}

// The script writes both kinds of files.
static void script_writes_traces(void **state) {
  scratch *s = *state;
  static const char *const names[] = {"new.log", "new.blf"};
  if (system("test -x /usr/bin/python3") != 0) skip_test("no package: python3");
  od_table_free(simulated(s));
  for (int i = 0; i < 2; i++) {
    char command[1024];
    snprintf(command, sizeof command, CASE "make-trace %s/run.csv " CASE "drive.dbc %s/%s 7 >/dev/null", s->folder,
             s->folder, names[i]);
    assert_int_equal(system(command), 0);
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path(s, names[i]));
    compare_all(s, path);
  }
}

// The number after a name in JSON.
static double number_after(const char *json, const char *parameter, const char *key) {
  const char *at = strstr(json, parameter);
  at = at ? strstr(at, key) : NULL;
  if (!at) fail_msg("there is no '%s' of '%s'", key, parameter);
  return strtod(at + strlen(key), NULL);
}

static void fit_finds_the_wear(void **state) {
  scratch *s = *state;
  outcome o = run(s, "fit " CASE "fit.yaml --json - --quiet");
  ends_with(o, 0);
  static const struct {
    const char *parameter;
    double value;
  } worn[] = {{"\"motor.leakage\"", 0.05e-3 / 60 / 1e5}, {"\"wheel.inertia\"", 4}};
  for (int i = 0; i < 2; i++) {
    double sigma = number_after(o.out, worn[i].parameter, "\"sigma\": ");
    near(number_after(o.out, worn[i].parameter, "\"estimate\": "), worn[i].value, 3 * sigma);
    assert_true(sigma < 1e-3 * worn[i].value);
  }
  says(o.out, "\"trust\": \"sound\"");
  forget(o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(trace_is_the_run, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(script_writes_traces, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(fit_finds_the_wear, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
