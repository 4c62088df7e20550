// Files of the program: input files are never overwritten, failed writes are reported, and no file is incomplete.
// Oracle: the bytes of the files before.
#include "support/test.h"

#include <math.h>
#include <matio.h>

#include "support/mdf_reading.h"
#include "support/program.h"
#include "support/skipping.h"

static const char machine[] =
    "bodies: {a: {point: {mass: 1 kg}}}\n"
    "joints: {J: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}}\n"
    "inputs: {pull: {unit: N, file: {path: signal.csv, column: force}}}\n"
    "torques: {F: {joint: J, value: pull}}\n"
    "initial: {J.position: 0 m, J.rate: 1 m/s}\nrun: {time: 100 ms}\n";
static const char signal_csv[] = "time [s],force [N]\n0,1\n0.05,3\n0.1,-2\n";
static const char experiment[] =
    "machine: m.yaml\nsensors: {J.position: {sigma: 1 mm}}\ninitial: {J.position: 1 mm, J.rate: 1 mm/s}\n"
    "parameters: {a.point.mass: {sigma: 1}}\n";
static const char study[] =
    "cases: {one: {experiment: e.yaml, seeds: 2}, two: {do: fit, experiment: f.yaml, seeds: 2}}\n";

static int setup(void **state) {
  int code = scratch_setup(state);
  scratch_put(*state, "m.yaml", machine);
  scratch_put(*state, "signal.csv", signal_csv);
  scratch_put(*state, "e.yaml", experiment);
  return code;
}

// Runs "oleodyn ARGUMENTS" in the shell, with any redirection of standard output; messages go to .err.
static outcome shell(scratch *s, const char *before, const char *arguments) {
  char command[4096];
  snprintf(command, sizeof command, "cd %s && (%s '%s' %s) 2>.err </dev/null", s->folder, before, OD_BINARY, arguments);
  int status = system(command);
  outcome o = {WIFEXITED(status) ? WEXITSTATUS(status) : -1, strdup(""), scratch_read(scratch_path(s, ".err"))};
  return o;
}

// --- What is read --------------------------------------------------------------------------------------------------

static void expect_untouched(scratch *s, const char *const *names, char *const *texts, int count) {
  for (int i = 0; i < count; i++) {
    char *now = scratch_read(scratch_path(s, names[i]));
    assert_string_equal(now, texts[i]);
    free(now);
  }
}

// Also files that are read through other files, and under other names.
static void test_everything_read_is_spared(void **state) {
  scratch *s = *state;
  expect_code(run(s, "observe e.yaml --csv log.csv --quiet"), 0);
  scratch_put(s, "fit.yaml", experiment);
  char text[600];
  snprintf(text, sizeof text, "%sdata: {file: log.csv}\n", experiment);
  scratch_put(s, "f.yaml", text);
  scratch_put(s, "study.yaml", study);
  char from[600], to[600];
  strcpy(from, scratch_path(s, "signal.csv"));
  assert_int_equal(link(from, strcpy(to, scratch_path(s, "hard.csv"))), 0);
  assert_int_equal(symlink("log.csv", strcpy(to, scratch_path(s, "soft.csv"))), 0);
  const char *const names[] = {"m.yaml", "signal.csv", "e.yaml", "f.yaml", "log.csv", "study.yaml"};
  char *texts[6];
  for (int i = 0; i < 6; i++) texts[i] = scratch_read(scratch_path(s, names[i]));
  const char *const commands[] = {"simulate m.yaml --csv signal.csv",
                                  "simulate m.yaml --json hard.csv",
                                  "observe e.yaml --json signal.csv",
                                  "observe e.yaml --data soft.csv --report log.csv",
                                  "observe e.yaml --data log.csv --plot soft.csv",
                                  "fit f.yaml --csv ./soft.csv",
                                  "fit f.yaml --json signal.csv",
                                  "study study.yaml --json study.yaml",
                                  "study study.yaml --json e.yaml",
                                  "study study.yaml --json m.yaml",
                                  "study study.yaml --json f.yaml",
                                  "study study.yaml --json log.csv",
                                  "study study.yaml --json signal.csv",
                                  "study study.yaml --case one --json m.yaml",
                                  "observe e.yaml --live --csv log.csv <log.csv"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    outcome o = shell(s, "", commands[i]);
    ends_with(o, 2);
    says(o.err, "which is an input");
    forget(o);
    expect_untouched(s, names, texts, 6);
  }
  for (int i = 0; i < 6; i++) free(texts[i]);
}

static void test_one_file_for_two(void **state) {
  scratch *s = *state;
  ends_and_says(run(s, "simulate m.yaml --csv r --json ./r"), 2, "--csv and --json would both be written to ./r");
}

// --- What cannot be written ----------------------------------------------------------------------------------------

static void test_full_standard_output(void **state) {
  scratch *s = *state;
  scratch_put(s, "study.yaml", "cases: {one: {experiment: e.yaml, seeds: 2}}\n");
  if (access("/dev/full", W_OK) != 0) skip_test("not possible: there is no /dev/full");
  const char *const commands[] = {"",
                                  "help",
                                  "version",
                                  "simulate --help",
                                  "help observe",
                                  "check m.yaml",
                                  "info m.yaml",
                                  "check --json m.yaml",
                                  "info --json m.yaml",
                                  "simulate m.yaml",
                                  "simulate m.yaml --csv -",
                                  "simulate m.yaml --json -",
                                  "observe e.yaml",
                                  "fit e.yaml",
                                  "fit e.yaml --json -",
                                  "study study.yaml",
                                  "simulate m.yaml --csv r.csv"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    char command[200];
    snprintf(command, sizeof command, "%s >/dev/full", commands[i]);
    outcome o = shell(s, "", command);
    ends_with(o, 1);
    says(o.err, "error: cannot write to standard output");
    forget(o);
  }
}

// Printed text does not go to a file that was opened in place of a closed standard output.
static void test_closed_standard_output(void **state) {
  scratch *s = *state;
  expect_code(run(s, "simulate m.yaml --csv open.csv"), 0);
  outcome o = shell(s, "", "simulate m.yaml --csv closed.csv >&-");
  ends_with(o, 1);
  forget(o);
  char *with = scratch_read(scratch_path(s, "open.csv")), *without = scratch_read(scratch_path(s, "closed.csv"));
  assert_string_equal(with, without);
  free(with);
  free(without);
  expect_code(shell(s, "", "simulate m.yaml --csv quiet.csv --quiet >&-"), 0);
}

// Every writer under a limit of 1 kB: the old file remains, and no other file.
static void test_full_disk(void **state) {
  scratch *s = *state;
  const char *const commands[] = {"simulate m.yaml --output all --csv",
                                  "simulate m.yaml --output all --mat",
                                  "simulate m.yaml --output all --json",
                                  "simulate m.yaml --output all --plot",
                                  "observe e.yaml --report",
                                  "observe e.yaml --mat",
                                  "observe e.yaml --json",
                                  "fit e.yaml --csv"};
  scratch_put(s, "out", "old");
  int files = scratch_count(s);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    char command[200];
    snprintf(command, sizeof command, "%s out --quiet >/dev/null", commands[i]);
    outcome o = shell(s, "ulimit -f 2 &&", command);
    ends_with(o, 1);
    says(o.err, "error: cannot write ");
    forget(o);
    char *text = scratch_read(scratch_path(s, "out"));
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(scratch_count(s), files);
  }
}

// --- Signals from MATLAB files -------------------------------------------------------------------------------------

// A row of a matrix among other variables, and the same from a CSV file.
static void test_signal_from_workspace(void **state) {
  scratch *s = *state;
  double t[] = {0, 0.05, 0.1}, U[] = {7, 1, 8, 3, 9, -2}, scalar = 5;
  size_t row[2] = {1, 3}, matrix[2] = {2, 3}, one[2] = {1, 1};
  mat_t *mat = Mat_CreateVer(scratch_path(s, "w.mat"), NULL, MAT_FT_MAT5);
  matvar_t *v[] = {Mat_VarCreate("a", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, one, &scalar, 0),
                   Mat_VarCreate("U", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, matrix, U, 0),
                   Mat_VarCreate("t", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, row, t, 0),
                   Mat_VarCreate("clock", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, row, t, 0)};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(Mat_VarWrite(mat, v[i], MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(v[i]);
  }
  Mat_Close(mat);
  expect_code(run(s, "simulate m.yaml --output all --csv a.csv --quiet"), 0);
  char *a = scratch_read(scratch_path(s, "a.csv"));
  const char *const files[] = {"{path: w.mat, column: 'U(2,:)'}",
                               "{path: w.mat, time: clock, column: 'U(2,:)', unit: N}"};
  for (int i = 0; i < 2; i++) {
    char text[1000], *at = strstr(machine, "{path");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - machine), machine, files[i], strchr(at, '}') + 1);
    scratch_put(s, "w.yaml", text);
    outcome o = run(s, "simulate w.yaml --output all --csv b.csv --quiet");
    ends_with(o, 0);
    forget(o);
    char *b = scratch_read(scratch_path(s, "b.csv"));
    assert_string_equal(a, b);
    free(b);
  }
  free(a);
}

// Of two samples at the same time the first counts, with a warning; texts in other columns are ignored.
static void test_signal_with_repeated_times(void **state) {
  scratch *s = *state;
  expect_code(run(s, "simulate m.yaml --output all --csv a.csv --quiet"), 0);
  scratch_put(s, "signal.csv", "A logger\n\ntime [s],force [N],event\n0,1\n0,9\n0.05,3,start\n0.1,-2\n0.1,-2\n");
  outcome o = run(s, "simulate m.yaml --output all --csv b.csv --quiet");
  ends_with(o, 0);
  says(
      o.err,
      "m.yaml:3:39: warning: 2 of 5 samples have the same time as the previous sample; only the first sample of each time is used\n");
  forget(o);
  char *a = scratch_read(scratch_path(s, "a.csv")), *b = scratch_read(scratch_path(s, "b.csv"));
  assert_string_equal(a, b);
  free(a);
  free(b);
}

// Lines before the header that look like rows must be counted; a file that ends within a line may be truncated.
static void test_signal_with_preamble(void **state) {
  scratch *s = *state;
  expect_code(run(s, "simulate m.yaml --output all --csv a.csv --quiet"), 0);
  scratch_put(s, "signal.csv", "7,8\n9,9\ntime [s],force [N]\n0,1\n0.05,3\n0.1,-2");
  char text[1000];
  const char *at = strstr(machine, ", column");
  snprintf(text, sizeof text, "%.*s, skip: 2%s", (int)(at - machine), machine, at);
  scratch_put(s, "m.yaml", text);
  outcome o = run(s, "simulate m.yaml --output all --csv b.csv --quiet");
  ends_with(o, 0);
  says(o.err, "m.yaml:3:39: warning: the file of the signal ends within line 6; check whether that file is complete\n");
  forget(o);
  char *a = scratch_read(scratch_path(s, "a.csv")), *b = scratch_read(scratch_path(s, "b.csv"));
  assert_string_equal(a, b);
  free(a);
  free(b);
}

// The records of an MDF file end before their stated number: the rows are used, with a warning.
static void test_signal_of_cut_file(void **state) {
  scratch *s = *state;
  mdf_bytes data = {0};
  mdf_file *f = mdf_begin(NULL);
  for (int k = 0; k < 3; k++) {
    mdf_put_double(mdf_more(&data, 8), 0.05 * k);
    mdf_put_double(mdf_more(&data, 8), k);
  }
  const uint64_t channels[] = {
      mdf_time_channel(f),
      mdf_channel(f, &(mdf_cn){.name = "force", .unit = "N", .data_type = MDF_FLOAT_LE, .byte = 8, .bits = 64}), 0};
  uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels, .records = 4, .data_bytes = 16});
  mdf_finish(
      s, f, (uint64_t[]){mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0), 0});
  mdf_bytes_free(&data);
  char text[1000];
  const char *at = strstr(machine, "signal.csv"), *rest = at + strlen("signal.csv");
  snprintf(text, sizeof text, "%.*sf.mf4%s", (int)(at - machine), machine, rest);
  scratch_put(s, "m.yaml", text);
  outcome o = run(s, "simulate m.yaml --output all --csv b.csv --quiet");
  ends_with(o, 0);
  says(o.err,
       "m.yaml:3:39: warning: the file of the signal ends before its last row; check whether that file is complete\n");
  forget(o);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_everything_read_is_spared),
      TEST(test_one_file_for_two),
      TEST(test_full_standard_output),
      TEST(test_closed_standard_output),
      TEST(test_full_disk),
      TEST(test_signal_from_workspace),
      TEST(test_signal_with_repeated_times),
      TEST(test_signal_with_preamble),
      TEST(test_signal_of_cut_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
