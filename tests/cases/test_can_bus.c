// cases/can-bus. Oracles: the simulated run from which the script make-trace wrote the trace, interpolated to the times of the frames, with
// the noise and the resolution of the database; and the numbers of the worn drive.
#include "support/test.h"
#include "support/logged_run.h"
#include "support/skipping.h"

#define CASE OD_SOURCE_DIR "/cases/can-bus/"

// A frame waits up to 0.3 ms for the bus, and the time zero of a candump file is the first frame, at most 0.4 ms after the start.
static void compare_all(scratch *s, const char *path) {
  const double rpm = 30 / acos(-1), early = -4e-4, late = 4e-4;
  const logged_column columns[] = {
      {"EEC2.AccelPedalPos1", "pedal", 100, 0, 0.2, early, late, 240},
      {"DriveCommand.MotorSwash", "swash", 100, 0, 0.00125, early, late, 1200},
      {"EEC1.EngineSpeed", "pump.rate", rpm, 2, 0.0625, early, late, 1200},
      {"DriveSensors.MotorSpeed", "shaft.rate", rpm, 2, 0.0625, early, late, 1200},
      {"DriveSensors.PressureA", "A.pressure", 1e-5, 1, 0.005, early, late, 1200},
      {"DriveSensors.PressureB", "B.pressure", 1e-5, 1, 0.005, early, late, 1200},
  };
  od_table *run = logged_run(s, CASE "machine.yaml"), *trace = logged_read(path, CASE "drive.dbc");
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) logged_compare(trace, run, &columns[i]);
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
  od_table_free(logged_run(s, CASE "machine.yaml"));
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

static void fit_finds_the_wear(void **state) {
  scratch *s = *state;
  outcome o = run(s, "fit " CASE "fit.yaml --json - --quiet");
  ends_with(o, 0);
  logged_estimate(o.out, "\"motor.leakage\"", 0.05e-3 / 60 / 1e5, 1e-3);
  logged_estimate(o.out, "\"wheel.inertia\"", 4, 1e-3);
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
