// The program examples/run_machine.c prints the rows of `oleodyn simulate --csv` to the bit, for all cases, with fixed and with
// adaptive steps. Oracle: the program `oleodyn`.
#include "support/test.h"

#include <dirent.h>
#include <stdint.h>

#include "support/program.h"

// Runs the example with a machine in the scratch folder. Returns its rows.
static char *rows_of_example(scratch *s, const char *arguments) {
  char command[2048];
  snprintf(command, sizeof command, "cd %s && '%s' %s >.rows 2>.err", s->folder, OD_EXAMPLE, arguments);
  if (system(command) != 0) fail_msg("run_machine %s failed", arguments);
  return scratch_read(scratch_path(s, ".rows"));
}

static uint64_t bits(double value) {
  uint64_t all;
  memcpy(&all, &value, sizeof all);
  return all;
}

// Compares all numbers of the example with the first columns of the program's rows. Returns the number of rows.
static long compare(const char *what, const char *csv, const char *rows) {
  char *expected_end, *end;
  long count = 0;
  csv = strchr(csv, '\n') + 1;  // the header
  for (; *rows; count++) {
    for (int column = 0;; column++) {
      double expected = strtod(csv, &expected_end), found = strtod(rows, &end);
      if (end == rows || expected_end == csv) fail_msg("%s: no number in row %ld, column %d", what, count, column);
      if (bits(found) != bits(expected))
        fail_msg("%s: row %ld, column %d is %.17g, expected %.17g", what, count, column, found, expected);
      csv = expected_end + 1, rows = end + 1;
      if (*end == '\n') break;
      if (*end != ',' || *expected_end != ',') fail_msg("%s: row %ld ends after column %d", what, count, column);
    }
    // A run that is not predictable has an additional column.
    if (csv[-1] == ',') csv = strchr(csv, '\n') + 1;
  }
  if (*csv) fail_msg("%s: the program has rows after row %ld", what, count);
  return count;
}

static void compare_run(scratch *s, const char *machine, const char *time_and_step) {
  char what[700], options[100], time[40], step[40];
  int given = sscanf(time_and_step, "%39s %39s", time, step);
  snprintf(options, sizeof options, "--time %s%s%s", time, given > 1 ? " --step " : "", given > 1 ? step : "");
  outcome o = run(s, "simulate %s --no-requirements --csv - %s", machine, options);
  if (o.code != 0 && o.code != 3) fail_msg("simulate %s %s: exit code %d\n%s", machine, options, o.code, o.err);
  snprintf(what, sizeof what, "%s %s", machine, time_and_step);
  char *found = rows_of_example(s, what);
  assert_true(compare(what, o.out, found) > 10);
  free(found);
  forget(o);
}

static void test_cases(void **state) {
  scratch *s = *state;
  DIR *cases = opendir(OD_SOURCE_DIR "/cases");
  assert_non_null(cases);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(cases)) != NULL;) {
    char path[600], changed[900];
    snprintf(path, sizeof path, "%s/%s/machine.yaml", OD_SOURCE_DIR "/cases", entry->d_name);
    FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
    if (file == NULL) continue;
    fclose(file);
    compare_run(s, path, "0.02 0.0005");
    // Adaptive steps. The time between rows is longer than a step, and the duration is not a multiple of this time.
    int length = snprintf(changed, sizeof changed,
                          "include: %s\nrun: {step: auto, integrator: tr-bdf2, rows: 3 ms, tolerance: 1e-5}\n", path);
    scratch_write(s, "changed.yaml", changed, (size_t)length);
    compare_run(s, "changed.yaml", "0.0505");
    count++;
  }
  closedir(cases);
  assert_true(count > 15);
}

// Settings of the file: outputs that are named twice, a fixed step that does not divide the duration, an integrator.
static void test_settings_of_the_file(void **state) {
  static const char machine[] =
      "oil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\n"
      "volumes: {A: {volume: 1 L}}\ninputs: {draw: {unit: m3/s, steps: {initial: 0, at: [[12.5 ms, 0.3 L/min]]}}}\n"
      "pumps: {pump: {to: A, flow: draw}}\ninitial: {A.pressure: 10 bar}\n"
      "run: {time: 50 ms, step: 3 ms, integrator: rk4, outputs: [pump.flow, A.pressure, pump.flow]}\n";
  scratch *s = *state;
  scratch_write(s, "tank.yaml", machine, sizeof machine - 1);
  outcome o = run(s, "simulate tank.yaml --csv -");
  ends_with(o, 0);
  char *found = rows_of_example(s, "tank.yaml");
  assert_int_equal(compare("tank.yaml", o.out, found), 18);
  free(found);
  forget(o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_cases, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_settings_of_the_file, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
