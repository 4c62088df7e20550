// --checkpoint and --resume of simulate and observe, each in a process of its own. Oracle: one run without interruption, whose rows, answers
// and statistics must be the same to the bit. Checkpoints of something else and damaged ones are refused with exact messages.
#include "support/test.h"

#include <jansson.h>

#include "support/program.h"

#define EXPERIMENT OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml"
#define SWING      OD_SOURCE_DIR "/cases/fourbar-swing/machine.yaml"

static void shell(scratch *s, const char *command) {
  char text[2048];
  snprintf(text, sizeof text, "cd %s && %s", s->folder, command);
  if (system(text) != 0) fail_msg("failed: %s", command);
}

// The rows of both files together are the rows of the whole run.
static void joins(scratch *s) {
  shell(s, "(cat a.csv; tail -n +2 b.csv) | cmp - all.csv");
}

static void test_simulate(void **state) {
  scratch *s = *state;
  static const char *const machines[] = {"fourbar-swing", "position-servo", "excavator", "friction-compensation"};
  static const char *const methods[] = {"trapezoid", "tr-bdf2", "trapezoid", "trapezoid"};
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    char what[400];
    snprintf(what, sizeof what,
             OD_SOURCE_DIR "/cases/%s/machine.yaml --no-requirements --step '0.2 ms' --integrator %s --quiet 2>.err #",
             machines[i], methods[i]);
    run(s, "simulate --time 0.03 --checkpoint state --csv a.csv %s", what);
    run(s, "simulate --time 0.05 --resume state --checkpoint state --csv b.csv %s", what);
    run(s, "simulate --time 0.05 --csv all.csv %s", what);
    joins(s);
    // The second checkpoint goes on as well.
    run(s, "simulate --time 0.06 --resume state --csv c.csv %s", what);
    run(s, "simulate --time 0.06 --csv all.csv %s", what);
    shell(s, "(cat a.csv; tail -n +2 b.csv; tail -n +2 c.csv) | cmp - all.csv");
  }
}

static json_t *summary_of(scratch *s, const char *name) {
  json_t *all = json_load_file(scratch_path(s, name), 0, NULL);
  assert_non_null(all);
  static const char *const other[] = {"us_per_step", "data", "files_read"};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) json_object_del(all, other[i]);
  return all;
}

static void test_log(void **state) {
  scratch *s = *state;
  expect_code(run(s, "observe %s --set time=0.2 --csv log.csv --quiet", EXPERIMENT), 0);
  shell(s, "head -n 90 log.csv >half.csv");
  run(s, "observe %s --data half.csv --checkpoint state --csv a.csv --quiet", EXPERIMENT);
  expect_code(run(s, "observe %s --data log.csv --resume state --csv b.csv --json b.json --quiet", EXPERIMENT), 0);
  expect_code(run(s, "observe %s --data log.csv --csv all.csv --json all.json --quiet", EXPERIMENT), 0);
  joins(s);
  json_t *whole = summary_of(s, "all.json"), *resumed = summary_of(s, "b.json");
  if (!json_equal(whole, resumed)) {
    json_dumpf(whole, stderr, JSON_INDENT(1));
    json_dumpf(resumed, stderr, JSON_INDENT(1));
    fail();
  }
  json_decref(whole);
  json_decref(resumed);
}

// A live observer ends and is started again: it goes on with the next line. Statistics include the lines before.
static void test_live(void **state) {
  scratch *s = *state;
  expect_code(run(s, "observe %s --set time=0.1 --csv log.csv --quiet", EXPERIMENT), 0);
  shell(s, "head -n 60 log.csv >first.csv; (head -n 1 log.csv; tail -n +61 log.csv) >second.csv");
  static const char *const options[] = {"", "--checkpoint state", "--resume state --checkpoint state"};
  static const char *const files[] = {"log.csv all", "first.csv a", "second.csv b"};
  for (int i = 0; i < 3; i++) {
    char command[1200], input[20], output[20];
    sscanf(files[i], "%19s %19s", input, output);
    snprintf(command, sizeof command, "'%s' observe %s --live %s --json %s.json --quiet <%s >%s.csv 2>.err || true",
             OD_BINARY, EXPERIMENT, options[i], output, input, output);
    shell(s, command);
  }
  joins(s);
  json_t *whole = summary_of(s, "all.json"), *resumed = summary_of(s, "b.json");
  assert_true(json_equal(json_object_get(whole, "sensors"), json_object_get(resumed, "sensors")));
  assert_true(json_equal(json_object_get(whole, "nis_per_dimension"), json_object_get(resumed, "nis_per_dimension")));
  assert_true(json_equal(json_object_get(whole, "parameters"), json_object_get(resumed, "parameters")));
  json_decref(whole);
  json_decref(resumed);
}

static void refused(outcome o, const char *message) {
  ends_with(o, 2);
  says(o.err, message);
  forget(o);
}

static void test_refused(void **state) {
  scratch *s = *state;
  expect_code(run(s, "simulate %s --time 0.01 --step '1 ms' --checkpoint state --quiet", SWING), 0);
  refused(run(s, "simulate %s --time 0.01 --step '1 ms' --resume state", SWING),
          "the checkpoint is at 0.01 s, and the run ends at 0.01 s; expected a later end");
  refused(run(s, "simulate %s --time 0.02 --step '0.5 ms' --resume state", SWING),
          "the saved state belongs to a run of 'simulate' with other options; use the same options");
  refused(run(s, "simulate %s --time 0.02 --step '1 ms' --resume state --integrator rk4", SWING),
          "the saved state belongs to integrator 'trapezoid'; expected 'rk4'");
  refused(run(s, "simulate %s --time 0.02 --step '1 ms' --resume state --output all", SWING),
          "the saved state belongs to other outputs or other free parameters of the machine");
  refused(run(s, "simulate %s --time 0.02 --step '1 ms' --resume state --no-requirements",
              OD_SOURCE_DIR "/cases/position-servo/machine.yaml"),
          "the saved state belongs to another machine, or a number of the machine differs");
  refused(run(s, "observe %s --resume state", EXPERIMENT),
          "the saved state is the state of a run of 'simulate'; expected a run of 'observe'");
  refused(run(s, "simulate %s --resume missing", SWING), "cannot read missing: No such file or directory");
  refused(run(s, "simulate %s --checkpoint -", SWING),
          "--checkpoint cannot be written to standard output; give a file name");
  refused(run(s, "simulate %s --integrator cvodes --step '1 ms' --checkpoint state", SWING),
          "checkpoints are not possible with the integrator 'cvodes'");
  refused(run(s, "observe %s --checkpoint-every 5", EXPERIMENT),
          "--checkpoint-every requires --live or --follow, and --checkpoint");
  shell(s, "head -c 1000 state >cut; (head -c 1000 state; printf x; tail -c +1002 state) >changed; : >empty");
  refused(run(s, "simulate %s --time 0.02 --step '1 ms' --resume cut", SWING),
          "the saved state is truncated or too long: 1000 bytes; expected ");
  refused(run(s, "simulate %s --time 0.02 --step '1 ms' --resume changed", SWING),
          "the saved state is damaged: its checksum is wrong");
  refused(run(s, "simulate %s --time 0.02 --step '1 ms' --resume empty", SWING), "this is not a saved state");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_simulate, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_log, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_live, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_refused, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
