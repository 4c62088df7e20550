// The program examples/run_job.c, which runs jobs over the public API, gives the results of the program `oleodyn` to the bit: a run, an
// experiment, a fit and a frequency response. Oracle: the JSON output of the program, without its times of computation.
#include "support/test.h"

#include <stdbool.h>

#include "support/program.h"

// Removes the lines with times of computation and with names of files.
static void drop_times(char *text) {
  char *to = text;
  for (char *line = text; *line;) {
    char *end = line + strcspn(line, "\n") + 1, kept = *end;
    *end = '\0';
    bool is_time = strstr(line, "seconds") || strstr(line, "processor") || strstr(line, "us_per_step");
    *end = kept;
    if (!is_time) memmove(to, line, (size_t)(end - line)), to += end - line;
    line = end;
  }
  *to = '\0';
}

static void compare(scratch *s, const char *kind, const char *file, const char *option, const char *value) {
  char command[2048];
  outcome want = run(s, "%s " OD_SOURCE_DIR "/%s --%s '%s' --json -", kind, file, option, value);
  snprintf(command, sizeof command, "cd %s && '%s' %s " OD_SOURCE_DIR "/%s %s '%s' >.found 2>.err", s->folder,
           OD_EXAMPLE, kind, file, option, value);
  int status = system(command);
  assert_int_equal(WEXITSTATUS(status), want.code);
  char *found = scratch_read(scratch_path(s, ".found"));
  assert_true(strlen(found) > 200);
  drop_times(want.out);
  drop_times(found);
  if (strcmp(found, want.out) != 0) fail_msg("%s: the example and the program differ", kind);
  free(found);
  forget(want);
}

static void jobs_give_the_bits_of_the_program(void **state) {
  compare(*state, "simulate", "cases/crane/machine.yaml", "time", "0.5 s");
  compare(*state, "observe", "cases/fourbar-observer/gyro.experiment.yaml", "seed", "5");
  compare(*state, "fit", "cases/fin-servo/fit.yaml", "seed", "3");
  compare(*state, "bode", "cases/press/machine.yaml", "points", "30");
  compare(*state, "signals", "cases/press/machine.yaml", "time", "1 s");
}

static void errors_are_reported(void **state) {
  scratch *s = *state;
  char command[1024];
  snprintf(command, sizeof command, "'%s' fly 2>%s", OD_EXAMPLE, scratch_path(s, "a"));
  assert_int_equal(WEXITSTATUS(system(command)), 2);
  snprintf(command, sizeof command, "'%s' simulate none.yaml 2>%s", OD_EXAMPLE, scratch_path(s, "a"));
  assert_int_equal(WEXITSTATUS(system(command)), 2);
  char *text = scratch_read(scratch_path(s, "a"));
  says(text, "none.yaml: error: the file cannot be read");
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(jobs_give_the_bits_of_the_program, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(errors_are_reported, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
