// oleodyn draw: names of the pictures, both pictures, images, machines without bodies or circuits, and wrong options. Oracles: the files
// that exist afterward, and the same picture from the machine file and from its image.
#include "support/test.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "support/program.h"

static const char arm[] =
    "machine: Arm\noil: {density: 870, law: constant, modulus: 1 GPa}\nground: {points: {foot: [1 m, -1 m]}}\n"
    "bodies: {arm: {beam: {mass: 9 kg, length: 2 m}}}\njoints: {hinge: {type: revolute, between: [ground, arm.start]}}\n"
    "volumes: {A: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\nleaks: {leak: {between: [A, T], slope: 1e-12 m^3/(s Pa)}}\n"
    "cylinders: {ram: {between: [ground.foot, arm.end], chambers: [A, T], areas: [9 cm^2, 5 cm^2], closed: 1 m, stroke: 1 m}}\n"
    "initial: {hinge.angle: 0 deg, A.pressure: 9 bar}\n"
    "look: {bodies: {arm: {shapes: [{path: M0 0 L2 .1 L2 -.1 Z, color: '#abcdef'}]}}}\n";
static const char lag[] =
    "inputs: {u: 1}\nblocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 1 s}}\nrun: {time: 1 s}\n";
static const char volume[] =
    "oil: {density: 870, law: constant, modulus: 1 GPa}\nvolumes: {A: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\n"
    "orifices: {drain: {between: [A, T], area: 1 mm^2, discharge: 0.6}}\ninitial: {A.pressure: 9 bar}\n";

static bool exists(scratch *s, const char *name) {
  return access(scratch_path(s, name), F_OK) == 0;
}

static char *picture(scratch *s, const char *name) {
  if (!exists(s, name)) fail_msg("there is no file %s", name);
  return scratch_read(scratch_path(s, name));
}

static void names(void **state) {
  scratch *s = *state;
  scratch_put(s, "arm.yaml", arm);
  outcome o = run(s, "draw arm.yaml");
  ends_with(o, 0);
  forget(o);
  char *machine = picture(s, "arm.svg"), *circuit = picture(s, "arm-circuit.svg");
  says(machine, "<svg xmlns=");
  says(machine, "data-part=\"arm\"");
  says(machine, "data-part=\"ram\"");
  says(machine, "#abcdef");
  says(machine, "prefers-color-scheme");
  says(circuit, "<svg xmlns=");
  expect_code(run(s, "draw arm.yaml -o other.svg --quiet"), 0);
  assert_true(exists(s, "other.svg") && exists(s, "other-circuit.svg"));
  expect_code(run(s, "draw arm.yaml --machine only.svg --names"), 0);
  assert_true(exists(s, "only.svg") && !exists(s, "only-circuit.svg"));
  // The image gives the same picture.
  expect_code(run(s, "compile arm.yaml -o arm.odm"), 0);
  expect_code(run(s, "draw arm.odm --machine image.svg --circuit image2.svg"), 0);
  char *same = picture(s, "image.svg"), *same_circuit = picture(s, "image2.svg");
  assert_string_equal(machine, same);
  assert_string_equal(circuit, same_circuit);
  // JSON alone writes no picture.
  o = run(s, "draw arm.yaml --json j.json --quiet");
  ends_with(o, 0);
  forget(o);
  char *json = picture(s, "j.json");
  says(json, "\"cylinders\"");
  says(json, "\"A.pressure\"");
  free(machine), free(circuit), free(same), free(same_circuit), free(json);
}

static void parts_of_machines(void **state) {
  scratch *s = *state;
  scratch_put(s, "lag.yaml", lag);
  scratch_put(s, "volume.yaml", volume);
  scratch_put(s, "arm.yaml", arm);
  ends_and_says(run(s, "draw lag.yaml"), 2, "nothing to draw");
  expect_code(run(s, "draw volume.yaml -o v.svg"), 0);
  assert_true(exists(s, "v.svg") && !exists(s, "v-circuit.svg"));
  ends_and_says(run(s, "draw volume.yaml --machine m.svg"), 2, "no bodies");
  char empty[1000];
  snprintf(empty, sizeof empty, "bodies: {}\n%s", volume);
  scratch_put(s, "empty.yaml", empty);
  expect_code(run(s, "draw empty.yaml -o v.svg"), 0);
  ends_and_says(run(s, "draw arm.yaml -o a.svg --machine m.svg"), 2, "--drawing cannot be used with");
  ends_and_says(run(s, "draw arm.yaml --machine arm.yaml"), 2, "which is an input");
  ends_and_says(run(s, "draw arm.yaml --machine a.svg --circuit a.svg"), 2, "would both be written");
  ends_and_says(run(s, "draw arm.yaml --machine nowhere/a.svg"), 1, "nowhere");
  assert_false(exists(s, "m.svg") || exists(s, "a.svg"));
}

// A loop that does not close is a warning; the picture shows the gap.
static void open_loop(void **state) {
  scratch *s = *state;
  scratch_put(s, "open.yaml",
              "ground: {points: {A: [0, 0], B: [10 m, 0]}}\n"
              "bodies: {crank: {beam: {mass: 1 kg, length: 2 m}}, rocker: {beam: {mass: 1 kg, length: 5 m}}}\n"
              "joints:\n  A: {type: revolute, between: [ground.A, crank.start]}\n"
              "  B: {type: revolute, between: [ground.B, rocker.start]}\n"
              "  C: {type: revolute, between: [crank.end, rocker.end], cut: true}\n"
              "initial: {A.angle: about 0 deg, B.angle: about 180 deg}\n");
  outcome o = run(s, "draw open.yaml");
  ends_with(o, 0);
  says(o.err, "warning: the loop through joint 'C' cannot close");
  says(o.out, "joint 'C' does not close: a gap of 3 m");
  forget(o);
  char *machine = picture(s, "open.svg");
  says(machine, "class=\"gap\"");
  free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(names, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(parts_of_machines, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(open_loop, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
