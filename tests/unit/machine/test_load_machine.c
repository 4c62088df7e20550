// Loading valid machine files: numbers, units, paths, --set, defaults, signals, outputs, the run, the plant. Oracle:
// values by hand.
#include "support/test.h"

#include <locale.h>
#include <math.h>

#include "support/machine_file.h"
#include "support/skipping.h"

static const double pi = 3.14159265358979323846;

static const char fourbar[] =
    "machine: Spring four-bar\n"
    "gravity: [0, -9.81 m/s^2]\n"
    "ground:\n"
    "  points: {A: [0, 0], B: [1 m, 0]}\n"
    "bodies:\n"
    "  crank:\n"
    "    beam: {mass: 2 kg, length: 35 cm}\n"
    "    points: {eye: [0.1 m, 0]}\n"
    "  coupler: {beam: {mass: 1, length: 1 m}}\n"
    "  rocker:\n"
    "    mass: 3 kg\n"
    "    centre: [0.3 m, 0]\n"
    "    inertia: 0.2\n"
    "    points: {end: [600 mm, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground.A, crank.start], stiffness: 10 N m/rad}\n"
    "  B: {type: revolute, between: [ground.B, rocker]}\n"
    "  C: {type: revolute, between: [crank.end, coupler.start]}\n"
    "  D: {type: revolute, between: [coupler.end, rocker.end]}\n"
    "springs:\n"
    "  spring: {between: [ground.A, rocker.end], stiffness: 10 kN/m, damping: 500 N s/m, length: 1.1 m}\n"
    "inputs:\n"
    "  drive: {unit: N, sine: {amplitude: 10 N, frequency: 0.25 Hz, phase: 90 deg}}\n"
    "  level: {sum: [{ramps: {at: [[0, 0], [2 s, 2]]}}, 3]}\n"
    "  bias: 5 kN\n"
    "forces:\n"
    "  push: {at: crank.end, value: 100 N, direction: [0, -1]}\n"
    "  pull: {at: crank.end, value: drive, direction: [1, 0]}\n"
    "  half: {at: crank.eye, value: 0.5 drive, direction: [1, 0], frame: body}\n"
    "  jack: {at: crank.eye, value: 2 kN level, direction: [1, 0]}\n"
    "torques:\n"
    "  motor: {joint: A, value: 3 level}\n"
    "  gust: {body: rocker, value: 3 N m}\n"
    "initial:\n"
    "  A.angle: 60 deg\n"
    "  B.angle: about 100 deg\n"
    "  C.angle: about -40 deg\n"
    "run: {time: 5 s, step: 1 ms, integrator: rk4, outputs: [A.angle, crank.end.x, drive]}\n";

// --- Tests --------------------------------------------------------------------------------------------------------

static void test_numbers(void **state) {
  od_machine *m = machine_from(*state, fourbar, NULL, NULL);
  assert_string_equal(od_machine_title(m), "Spring four-bar");
  assert_string_equal(od_machine_file(m), ((machine_file *)*state)->path);
  check(m, "gravity[0]", 0, "m/s2", "0");
  check(m, "gravity[1]", -9.81, "m/s2", "-9.81 m/s^2");
  check(m, "gravity[2]", 0, "m/s2", NULL);
  check(m, "ground.points.B[0]", 1, "m", "1 m");
  check(m, "ground.points.B[2]", 0, "m", NULL);
  check(m, "crank.beam.mass", 2, "kg", "2 kg");
  check(m, "crank.beam.length", 0.35, "m", "35 cm");
  check(m, "crank.points.eye[0]", 0.1, "m", "0.1 m");
  check(m, "coupler.beam.mass", 1, "kg", "1");
  check(m, "rocker.mass", 3, "kg", "3 kg");
  check(m, "rocker.centre[0]", 0.3, "m", "0.3 m");
  check(m, "rocker.inertia", 0.2, "kg m2", "0.2");
  check(m, "A.axis[2]", 1, "1", NULL);
  check(m, "A.stiffness", 10, "N m/rad", "10 N m/rad");
  check(m, "A.damping", 0, "N m s/rad", NULL);
  check(m, "B.stiffness", 0, "N m/rad", NULL);
  check(m, "spring.stiffness", 1e4, "N/m", "10 kN/m");
  check(m, "spring.length", 1.1, "m", "1.1 m");
  check(m, "spring.preload", 0, "N", NULL);
  check(m, "push.value", 100, "N", "100 N");
  check(m, "push.direction[1]", -1, "1", "-1");
  check(m, "inputs.drive.sine.amplitude", 10, "N", "10 N");
  check(m, "inputs.drive.sine.phase", pi / 2, "rad", "90 deg");
  check(m, "inputs.drive.sine.start", 0, "s", NULL);
  check(m, "inputs.level.sum[0].ramps.at[1][0]", 2, "s", "2 s");
  check(m, "inputs.level.sum[1]", 3, "1", "3");
  check(m, "inputs.bias", 5000, "N", "5 kN");
  check(m, "initial.A.angle", pi / 3, "rad", "60 deg");
  check(m, "initial.B.angle", pi / 1.8, "rad", "about 100 deg");
  check(m, "run.time", 5, "s", "5 s");
  check(m, "run.step", 1e-3, "s", "1 ms");
  check_absent(m, "run.tolerance");
  check_absent(m, "crank.mass");
  assert_null(od_machine_number(m, -1).path);
  assert_null(od_machine_number(m, od_machine_number_count(m)).path);
  od_machine_free(m);
}

// A factor converts the input's unit to that of the force.
static void test_values_with_inputs(void **state) {
  od_machine *m = machine_from(*state, fourbar, NULL, NULL);
  check(m, "pull.value", 1, "1", NULL);
  check(m, "half.value", 0.5, "1", "0.5");
  check(m, "jack.value", 2000, "N", "2 kN");
  check(m, "motor.value", 3, "N m", "3");
  check(m, "gust.value", 3, "N m", "3 N m");
  od_machine_free(m);
}

static void test_set(void **state) {
  od_machine *m = machine_from(*state, fourbar, "crank.beam.length=400 mm", " half.value = 0.7 ");
  check(m, "crank.beam.length", 0.4, "m", "400 mm");
  check(m, "half.value", 0.7, "1", "0.7");
  od_machine_free(m);
  m = machine_from(*state, fourbar, "inputs.drive.sine.amplitude=3kN", "initial.B.angle=1.6");
  check(m, "inputs.drive.sine.amplitude", 3000, "N", "3kN");
  check(m, "initial.B.angle", 1.6, "rad", "1.6");  // stays approximate: an exact value would contradict A.angle
  double u[3];
  od_machine_inputs(m, 0, u);
  assert_true(fabs(u[0] - 3000) < 1e-9);
  od_machine_free(m);
  m = machine_from(*state, fourbar, "run.tolerance=1e-9", "ground.points.B[2]=0 mm");
  check(m, "run.tolerance", 1e-9, "1", "1e-9");
  assert_true(od_machine_run(m)->tolerance == 1e-9);
  od_machine_free(m);
}

// The file has no damping of B: then B has no spring, and --set adds one.
static void test_set_makes_a_joint_spring(void **state) {
  od_machine *m = machine_from(*state, fourbar, NULL, NULL);
  assert_true(od_machine_output_find(m, "A.spring_force") >= 0);
  assert_int_equal(od_machine_output_find(m, "B.spring_force"), -1);
  od_machine_free(m);
  m = machine_from(*state, fourbar, "B.damping=3", NULL);
  assert_true(od_machine_output_find(m, "B.spring_force") >= 0);
  check(m, "B.damping", 3, "N m s/rad", "3");
  od_machine_free(m);
}

static void test_inputs(void **state) {
  od_machine *m = machine_from(*state, fourbar, NULL, NULL);
  assert_int_equal(od_machine_input_count(m), 3);
  assert_string_equal(od_machine_input_name(m, 0), "drive");
  assert_string_equal(od_machine_input_unit(m, 0), "N");
  assert_string_equal(od_machine_input_unit(m, 1), "1");
  assert_string_equal(od_machine_input_unit(m, 2), "N");
  assert_null(od_machine_input_name(m, 3));
  double u[3];
  od_machine_inputs(m, 1, u);
  assert_true(fabs(u[0]) < 1e-14 && fabs(u[1] - 4) < 1e-14 && u[2] == 5000);
  assert_true(od_machine_next_break(m, 0.5) == 2);
  assert_true(isinf(od_machine_next_break(m, 2)));
  od_machine_free(m);
}

static void test_outputs_and_run(void **state) {
  od_machine *m = machine_from(*state, fourbar, NULL, NULL);
  int angle = od_machine_output_find(m, "A.angle");
  assert_true(angle >= 0);
  assert_string_equal(od_machine_output_name(m, angle), "A.angle");
  assert_string_equal(od_machine_output_unit(m, angle), "rad");
  assert_int_equal(od_machine_output_find(m, "A.angel"), -1);
  const od_run_defaults *run = od_machine_run(m);
  assert_true(run->time == 5 && run->step == 1e-3 && run->tolerance == 0);
  assert_string_equal(run->integrator, "rk4");
  assert_int_equal(run->output_count, 3);
  assert_int_equal(run->outputs[0], angle);
  assert_int_equal(run->outputs[1], od_machine_output_find(m, "crank.end.x"));
  assert_int_equal(run->outputs[2], od_machine_output_find(m, "drive"));
  od_machine_free(m);
}

static const char smallest[] =
    "bodies: {bob: {point: {mass: 1 kg, at: [0, -1 m]}}}\n"
    "joints: {A: {type: revolute, between: [ground, bob]}}\n"
    "initial: {A.angle: 0}\n";

static void test_smallest(void **state) {
  od_machine *m = machine_from(*state, smallest, NULL, NULL);
  assert_string_equal(od_machine_title(m), "machine");  // after the file
  check(m, "gravity[1]", 0, "m/s2", NULL);
  check(m, "bob.point.at[1]", -1, "m", "-1 m");
  const od_run_defaults *run = od_machine_run(m);
  assert_true(run->time == 0 && run->step == 0 && run->integrator == NULL && run->output_count == 0);
  assert_int_equal(od_machine_input_count(m), 0);
  assert_true(isinf(od_machine_next_break(m, 0)));
  od_machine_free(m);
}

static const char shapes[] =
    "bodies:\n"
    "  a: {cylinder: {mass: 3 kg, length: 1 m, radius: 5 cm}}\n"
    "  b: {box: {mass: 3 kg, size: [1, 2, 3], centre: [0, 0, 0.5]}}\n"
    "  c: {mass: 1, inertia: [1, 2, 3]}\n"
    "  d: {mass: 1, inertia: [1, 2, 2, 0.1, 0.2, 0.3]}\n"
    "  e: {mass: 1}\n"
    "  f: &bar {beam: {mass: 1, length: 1}}\n"
    "  g: *bar\n"
    "joints:\n"
    "  A: {type: universal, between: [ground, a], axes: [[0, 0, 1], [0, 1, 0]]}\n"
    "  B: {type: spherical, between: [a.end, b]}\n"
    "  C: {type: prismatic, between: [b.centre, c], axis: [1, 0, 0], stiffness: 3 kN/m, preload: 1 kN, free: 5 mm}\n"
    "  D: {type: fixed, between: [c, d.centre]}\n"
    "  E: {type: revolute, between: [d, e], axis: [0, 1 , 1]}\n"
    "  F: {type: revolute, between: [e, f.middle]}\n"
    "  G: {type: revolute, between: [f.end, g.start], independent: true}\n"
    "initial: {A.angle1: 0, A.angle2: 0, B.angle1: 0, B.angle2: 0.1, B.angle3: 0, C.position: 0, E.angle: 0,\n"
    "          F.angle: 0, G.angle: 0, G.rate: 1 rad/s}\n";

static void test_shapes_and_joints(void **state) {
  od_machine *m = machine_from(*state, shapes, "g.beam.mass=2", NULL);
  check(m, "a.cylinder.radius", 0.05, "m", "5 cm");
  check(m, "b.box.size[2]", 3, "m", "3");
  check(m, "b.box.centre[2]", 0.5, "m", "0.5");
  check(m, "c.inertia[2]", 3, "kg m2", "3");
  check(m, "c.inertia[5]", 0, "kg m2", NULL);
  check(m, "d.inertia[5]", 0.3, "kg m2", "0.3");
  check(m, "e.inertia", 0, "kg m2", NULL);
  check(m, "f.beam.mass", 1, "kg", "1");
  check(m, "g.beam.mass", 2, "kg", "2");  // with an alias each has its own numbers
  check(m, "A.axes[1][1]", 1, "1", "1");
  check(m, "C.stiffness", 3000, "N/m", "3 kN/m");
  check(m, "C.free", 0.005, "m", "5 mm");
  check(m, "E.axis[2]", 1, "1", "1");
  od_machine_free(m);
}

static const char signals[] =
    "bodies: {bob: {point: {mass: 1 kg, at: [0, -1 m]}}}\n"
    "joints: {A: {type: revolute, between: [ground, bob]}}\n"
    "initial: {A.angle: 0}\n"
    "inputs:\n"
    "  a: {constant: 50 %}\n"
    "  b: {unit: Pa, chirp: {amplitude: 2 bar, from: 1 Hz, to: 2 Hz, duration: 10 s, sweep: logarithmic}}\n"
    "  c: {stepped_sine: {amplitude: 1, from: 1 Hz, to: 3 Hz, step: 1 Hz, periods: 2}}\n"
    "  d: {steps: {initial: 1, at: [[1 s, 2], [1 min, 3]]}}\n"
    "  e: {lagged_steps: {time_constant: 100 ms, at: [[0, 2]]}}\n"
    "  f: {half_cosines: {at: [[0, 0], [2, 1]]}}\n"
    "  g: {prbs: {low: -1, high: 1, bit: 10 ms}}\n"
    "  h: {unit: Pa, file: {path: signal.csv, column: pressure}}\n"
    "  i: {unit: Pa, file: {path: signal.csv, time: time, column: force, unit: bar}}\n";

static void test_signals(void **state) {
  const machine_file *file = *state;
  char path[128];
  snprintf(path, sizeof path, "%s/signal.csv", file->folder);
  FILE *csv = fopen(path, "w");
  assert_non_null(csv);
  fputs("time [ms],force,pressure [bar]\n0,1,2\n1000,2,4\n", csv);
  fclose(csv);
  od_machine *m = machine_from(file, signals, NULL, NULL);
  unlink(path);
  check(m, "inputs.a.constant", 0.5, "1", "50 %");
  check(m, "inputs.b.chirp.amplitude", 2e5, "Pa", "2 bar");
  check(m, "inputs.c.stepped_sine.periods", 2, "1", "2");
  check(m, "inputs.d.steps.at[1][0]", 60, "s", "1 min");
  check(m, "inputs.d.steps.initial", 1, "1", "1");
  check(m, "inputs.e.lagged_steps.time_constant", 0.1, "s", "100 ms");
  check(m, "inputs.g.prbs.order", 10, "1", NULL);
  double u[9];
  od_machine_inputs(m, 0.5, u);
  assert_true(u[0] == 0.5 && u[3] == 1);
  assert_true(fabs(u[4] - 2 * (1 - exp(-5))) < 1e-12);
  assert_true(fabs(u[7] - 3e5) < 1e-6 && fabs(u[8] - 1.5e5) < 1e-6);  // "[bar]" in the header, 'unit' in the machine
  od_machine_inputs(m, 1, u);
  assert_true(u[3] == 2 && fabs(u[5] - 0.5) < 1e-12);
  od_machine_free(m);
}

static void test_plant_parameters(void **state) {
  od_machine *m = machine_from(*state, fourbar, NULL, NULL);
  od_plant *plant = NULL;
  od_error error;
  int outputs[] = {od_machine_output_find(m, "A.angle")};
  int good[] = {od_machine_number_find(m, "crank.beam.length"), od_machine_number_find(m, "A.stiffness")};
  assert_int_equal(od_machine_plant(m, outputs, 1, good, 2, &plant, &error), OD_OK);
  assert_int_equal(plant->np, 2);
  assert_int_equal(plant->ny, 1);
  od_plant_free(plant);
  static const char *const others[] = {"run.time", "initial.A.angle", "inputs.bias", "B.stiffness"};
  for (int i = 0; i < 4; i++) {
    int bad[] = {od_machine_number_find(m, others[i])};
    assert_int_equal(od_machine_plant(m, outputs, 1, bad, 1, &plant, &error), OD_BAD_ARGUMENT);
    assert_null(plant);
    char expected[128];
    snprintf(expected, sizeof expected,
             "'%s' cannot be a parameter: the model does not depend on this number; choose another number", others[i]);
    assert_string_equal(error.text, expected);
  }
  int none[] = {-1};
  assert_int_equal(od_machine_plant(m, outputs, 1, none, 1, &plant, &error), OD_BAD_ARGUMENT);
  od_machine_free(m);
}

static void test_spatial(void **state) {
  machine_file *file = *state;
  machine_file_write(file, fourbar, strlen(fourbar));
  od_load_options options = {.spatial = true};
  od_machine *m;
  assert_int_equal(od_machine_load(file->path, &options, &m, NULL), OD_OK);
  assert_int_equal(od_machine_output_find(m, "crank.angle"), -1);  // planar machines only
  od_machine_free(m);
}

// Creates a locale with decimal commas in the test's folder, if the system has the tools for it.
static bool use_commas(const machine_file *file) {
  char command[256];
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", file->folder);
  if (system(command) != 0 || setenv("LOCPATH", file->folder, 1) != 0) return false;
  return setlocale(LC_ALL, "de_DE.UTF-8") != NULL && strtod("1,5", NULL) == 1.5;
}

// The user's decimal commas have no effect in the machine, in --set and in the database of units.
static void test_locale(void **state) {
  bool commas = use_commas(*state);
  char command[256];
  snprintf(command, sizeof command, "rm -rf %s/de_DE.UTF-8", ((machine_file *)*state)->folder);
  assert_int_equal(system(command), 0);
  if (!commas) skip_test("no package: locales");
  od_machine *m = machine_from(*state, fourbar, "crank.beam.length=0.45 m", "coupler.beam.length=40.5 in");
  check(m, "crank.beam.length", 0.45, "m", "0.45 m");
  check(m, "coupler.beam.length", 40.5 * 0.0254, "m", "40.5 in");
  assert_true(strtod("1,5", NULL) == 1.5);  // and the user's locale is unchanged
  check(m, "gravity[1]", -9.81, "m/s2", "-9.81 m/s^2");
  od_machine_free(m);
  setlocale(LC_ALL, "C");
}

// Windows line ends, a byte order mark, quotes, comments, block style: all the same.
static void test_styles(void **state) {
  static const char text[] =
      "\xef\xbb\xbf# a comment\r\n"
      "'bodies':\r\n"
      "  bob:\r\n"
      "    point:\r\n"
      "      mass: \"1 kg\"  # heavy\r\n"
      "      at:\r\n"
      "        - 0\r\n"
      "        - -1 m\r\n"
      "joints:\r\n"
      "  A:\r\n"
      "    type: revolute\r\n"
      "    between: [ ground,\r\n"
      "               bob ]\r\n"
      "springs:\r\n"
      "initial:\r\n"
      "  A.angle: 0\r\n";
  od_machine *m = machine_from(*state, text, NULL, NULL);
  check(m, "bob.point.mass", 1, "kg", "1 kg");
  check(m, "bob.point.at[1]", -1, "m", "-1 m");
  od_machine_free(m);
}

// An input that is the rate of another one, which may follow later in the file, be in a template, and be set.
static const char derived[] =
    "inputs:\n"
    "  v: {unit: m/s, derivative: x}\n"
    "  x: {unit: m, sine: {amplitude: 2 m, frequency: 0.5 Hz}}\n"
    "templates: {t: {parameters: {of: }, inputs: {rate: {unit: m/s, derivative: $of}}}}\n"
    "instances: {p: {template: t, of: x}}\n"
    "blocks: {g: {type: first-order, input: v, time_constant: 1 s}}\n";

static void test_derivatives_of_inputs(void **state) {
  for (int k = 0; k < 2; k++) {
    od_machine *m = machine_from(*state, derived, k ? "inputs.x.sine.amplitude=3 m" : NULL, NULL);
    double u[3], amplitude = k ? 3 : 2;
    assert_int_equal(od_machine_input_count(m), 3);
    for (int i = 0; i < 3; i++) {
      const char *name = od_machine_input_name(m, i);
      od_machine_inputs(m, 0.3, u);
      const double rate = amplitude * pi * cos(0.3 * pi), wanted = strcmp(name, "x") ? rate : amplitude * sin(0.3 * pi);
      assert_true(fabs(u[i] - wanted) < 1e-14);
    }
    od_machine_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_derivatives_of_inputs, machine_file_start, machine_file_end),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_values_with_inputs),
      cmocka_unit_test(test_set),
      cmocka_unit_test(test_set_makes_a_joint_spring),
      cmocka_unit_test(test_inputs),
      cmocka_unit_test(test_outputs_and_run),
      cmocka_unit_test(test_smallest),
      cmocka_unit_test(test_shapes_and_joints),
      cmocka_unit_test(test_signals),
      cmocka_unit_test(test_plant_parameters),
      cmocka_unit_test(test_spatial),
      cmocka_unit_test(test_locale),
      cmocka_unit_test(test_styles),
  };
  return cmocka_run_group_tests(tests, machine_file_start, machine_file_end);
}
