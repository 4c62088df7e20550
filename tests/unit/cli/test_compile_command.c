// oleodyn compile, and images as arguments of other commands. Oracle: the output of the same command on the machine file. The machine
// file and its related files are removed before the image is used.
#include "support/test.h"

#include <glob.h>

#include "support/program.h"

static const char base[] =
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
    "volumes: {A: {volume: 1 L}}\n"
    "tanks: {T: {pressure: 0}}\n"
    "orifices: {drain: {between: [A, T], area: 1 mm^2, discharge: 0.6}}\n"
    "initial: {A.pressure: 20 bar}\n";
static const char machine[] =
    "machine: Drained volume\n"
    "include: base.yaml\n"
    "inputs: {command: {file: {path: log.csv, column: u}}}\n"
    "blocks: {filtered: {type: first-order, input: command, time_constant: 20 ms}}\n"
    "run: {time: 0.1 s, outputs: [A.pressure, drain.flow, filtered]}\n"
    "requirements: {low: {output: A.pressure, max: 30 bar}}\n"
    "variants: {larger: {volumes: {A: {volume: 2 L}}}}\n";
static const char data[] = "t [s],u\n0,0\n0.05,1\n0.1,0.5\n";
static const char experiment[] =
    "experiment: Pressure\nmachine: %s\nstep: 1 ms\ntime: 0.05 s\nseed: 1\n"
    "sensors: {A.pressure: {sigma: 1 bar}}\nfilter: {type: ekf}\ninitial: {A.pressure: 2 bar}\nnoise: {pressures: 1 bar}\n";

static void write_files(scratch *s) {
  scratch_put(s, "base.yaml", base);
  scratch_put(s, "m.yaml", machine);
  scratch_put(s, "log.csv", data);
}

static void same_output(scratch *s, const char *command, const char *options) {
  outcome file = run(s, "%s m.yaml %s", command, options), image = run(s, "%s away/m.odm %s", command, options);
  if (file.code != image.code) fail_msg("%s %s: %s%s", command, options, image.out, image.err);
  assert_string_equal(file.out, image.out);
  forget(file), forget(image);
}

// Commands and options on the image give what they give on the file.
static void commands(void **state) {
  scratch *s = *state;
  char path[400];
  write_files(s);
  snprintf(path, sizeof path, "mkdir %s/away", s->folder);
  assert_int_equal(system(path), 0);
  outcome made = run(s, "compile m.yaml -o away/m.odm");
  ends_with(made, 0);
  says(made.out, "away/m.odm: ");
  says(made.out, "fingerprint ");
  forget(made);
  expect_code(run(s, "compile m.yaml -o away/again.odm --json"), 0);
  snprintf(path, sizeof path, "cmp %s/away/m.odm %s/away/again.odm", s->folder, s->folder);
  assert_int_equal(system(path), 0);
  same_output(s, "simulate", "--csv - --quiet");
  same_output(s, "simulate", "--csv - --quiet --set drain.area='2 mm^2'");
  same_output(s, "simulate", "--csv - --quiet --variant larger");
  same_output(s, "linearize", "--input command --output A.pressure");
  same_output(s, "signals", "--csv -");
  // Without the files, and from an image of the image.
  outcome want = run(s, "simulate m.yaml --csv - --quiet --variant larger --set drain.area='2 mm^2'");
  ends_with(want, 0);
  snprintf(path, sizeof path, "rm %s/m.yaml %s/base.yaml %s/log.csv", s->folder, s->folder, s->folder);
  assert_int_equal(system(path), 0);
  expect_code(run(s, "compile away/m.odm -o n.odm --variant larger --set drain.area='2 mm^2'"), 0);
  outcome got = run(s, "simulate n.odm --csv - --quiet");
  ends_with(got, 0);
  assert_string_equal(got.out, want.out);
  forget(got), forget(want);
  expect_code(run(s, "check away/m.odm n.odm"), 0);
  expect_code(run(s, "info n.odm --json"), 0);
  ends_and_says(run(s, "check away/m.odm --set drain.aera=1"), 2, "drain.aera");
  snprintf(path, sizeof path, "rm -r %s/away", s->folder);
  assert_int_equal(system(path), 0);
}

// Writes two files from a text that contains the name of a machine: file.yaml names the machine file, image.yaml the image. Compares the
// output of a command on both.
static void same_with_image(scratch *s, const char *command, const char *text, const char *options) {
  char filled[800];
  snprintf(filled, sizeof filled, text, "m.yaml");
  scratch_put(s, "file.yaml", filled);
  snprintf(filled, sizeof filled, text, "m.odm");
  scratch_put(s, "image.yaml", filled);
  outcome file = run(s, "%s file.yaml %s", command, options), image = run(s, "%s image.yaml %s", command, options);
  assert_int_equal(file.code, image.code);
  assert_true(strlen(file.out) > 100);
  assert_string_equal(file.out, image.out);
  forget(file), forget(image);
}

// Experiments, fits and studies name an image instead of the machine file.
static void other_files(void **state) {
  scratch *s = *state;
  write_files(s);
  expect_code(run(s, "compile m.yaml -o m.odm"), 0);
  same_with_image(s, "observe", experiment, "--csv - --quiet");
  same_with_image(s, "fit",
                  "machine: %s\nstep: 1 ms\ntime: 0.05 s\nseed: 3\nmodel: {set: {drain.area: 1.1 mm^2}}\n"
                  "sensors: {A.pressure: {sigma: 0.1 bar}}\nparameters: {drain.area: {low: 0.5 mm^2, high: 2 mm^2}}\n",
                  "--csv - --quiet");
  same_with_image(s, "study",
                  "study: Drain\nvalues: {lowest: {output: A.pressure, take: min, unit: bar}}\n"
                  "cases: {nominal: {machine: %s, do: simulate}}\n",
                  "--json - --quiet");
}

// An image contains the logs of its machine; a MATLAB file too.
static void matlab_log(void **state) {
  scratch *s = *state;
  write_files(s);
  expect_code(run(s, "simulate m.yaml --mat log.mat --quiet"), 0);
  scratch_put(s, "n.yaml",
              "machine: Log\n"
              "inputs: {command: {unit: Pa, file: {path: log.mat, column: A.pressure}}}\n"
              "blocks: {filtered: {type: first-order, input: command, time_constant: 20 ms}}\n"
              "run: {time: 0.1 s, outputs: [filtered]}\n");
  expect_code(run(s, "compile n.yaml -o n.odm"), 0);
  outcome file = run(s, "simulate n.yaml --csv - --quiet");
  ends_with(file, 0);
  char command[400];
  snprintf(command, sizeof command, "rm %s/log.mat %s/n.yaml", s->folder, s->folder);
  assert_int_equal(system(command), 0);
  outcome image = run(s, "simulate n.odm --csv - --quiet");
  ends_with(image, 0);
  assert_string_equal(file.out, image.out);
  forget(file), forget(image);
}

// Wrong uses: no output, an output that is an input, images without texts, damaged images.
static void refusals(void **state) {
  scratch *s = *state;
  write_files(s);
  ends_and_says(run(s, "compile m.yaml"), 2, "--image is missing");
  ends_and_says(run(s, "compile m.yaml -o m.yaml"), 2, "would replace m.yaml, which is an input");
  ends_and_says(run(s, "compile m.yaml -o m.odm --parts base.yaml"), 2, "would replace base.yaml, which is an input");
  ends_and_says(run(s, "compile missing.yaml -o m.odm"), 2, "missing.yaml");
  expect_code(run(s, "compile m.yaml -o program.odm --without-machine"), 0);
  ends_and_says(run(s, "simulate program.odm"), 2, "does not contain the machine file");
  expect_code(run(s, "compile m.yaml -o controller.odm --without-names"), 0);
  ends_and_says(run(s, "info controller.odm"), 2, "for programs and controllers");
  expect_code(run(s, "compile m.yaml -o m.odm"), 0);
  char command[400];
  snprintf(command, sizeof command, "cd %s && printf x | dd of=m.odm bs=1 seek=500 conv=notrunc 2>/dev/null",
           s->folder);
  assert_int_equal(system(command), 0);
  ends_and_says(run(s, "simulate m.odm"), 2, "m.odm: error: the image cannot be read: the image is damaged");
}

// Every machine of the cases: the rows of a short run have the same digits.
static void cases(void **state) {
  scratch *s = *state;
  glob_t found;
  assert_int_equal(glob(OD_SOURCE_DIR "/cases/*/machine.yaml", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    expect_code(run(s, "compile %s -o m.odm", found.gl_pathv[i]), 0);
    outcome file = run(s, "simulate %s --time 5ms --csv - --quiet", found.gl_pathv[i]);
    outcome image = run(s, "simulate m.odm --time 5ms --csv - --quiet");
    assert_int_equal(file.code, image.code);
    assert_string_equal(file.out, image.out);
    forget(file), forget(image);
  }
  globfree(&found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(commands, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(other_files, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(matlab_log, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(refusals, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(cases, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
