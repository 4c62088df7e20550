// Sensors and the noise of the true machine in experiment files. Oracle: the exact messages for mistakes.
#include "support/test.h"
#include "identify/fit.h"
#include "support/experiments.h"
#include "support/scratch.h"

#define MACHINE "machine: " OD_SOURCE_DIR "/cases/fourbar-valve/machine.yaml\n"

static void expect(scratch *s, const char *file, const char *expected) {
  const char *path = scratch_write(s, "x.yaml", file, strlen(file));
  char *said = experiment_messages(path, NULL, s->folder);
  assert_string_equal(said, expected);
  free(said);
}

// The measured output of a sensor, its noise and the noise that the observer assumes.
static void test_mistakes_in_noise_of_sensors(void **state) {
  expect(
      *state,
      MACHINE
      "sensors:\n"
      "  P.pressure: {sigma: 10 % rns, delay: -1 s, range: [3 bar, 1 bar], drift: -1 bar, assume: 0 bar}\n"
      "  A.pressure: {half_width: 1 bar, noise: {type: gaussian, time_constant: 0 s}, range: 3 bar, delay: 1e6 s}\n"
      "  B.pressure: {sigma: 1 bar, half_width: 1 bar, noise: {type: uniform, frequency: 3 Hz}}\n"
      "  T.pressure: {sigma: 0 % rms, noise: {time_constant: 1 s, frequency: 3 Hz, damping: 0.5}}\n"
      "  cylinder.length: {sigma: 1 m/s, source: cylinder.rat, integrate: 1}\n"
      "  cylinder.rate: {sigma: 1 m/s, source: cylinder.length, integrate: 1}\n"
      "  crank.end.x: {sigma: 1 m/s, source: crank.end.vx}\n"
      "  crank.end.y: {sigma: 1 m/s, integrate: 2}\n"
      "  crank.end.z: {sigma: 1 m/s2, source: crank.end.az, integrate: 3}\n"
      "  crank.end.vx: {relative: 3 %}\n"
      "  crank.end.vy: {sigma: 1 m/s, noise: {damping: 1, colour: red}}\n"
      "  crank.end.vz: {sigma: 1 m/s, noise: [uniform], range: [1, 2, 3], assume: 3 bar}\n",
      "x.yaml:3:23: unknown unit '% rns' in '10 % rns'; sigma must be in Pa\n"
      "x.yaml:3:40: delay is '-1 s' but must not be negative\n"
      "x.yaml:3:61: 'range[1]' is '1 bar'; expected more than 'range[0]' ('3 bar')\n"
      "x.yaml:3:76: drift is '-1 bar' but must not be negative\n"
      "x.yaml:3:92: assume is '0 bar' but must be greater than zero\n"
      "x.yaml:4:28: only uniform noise has a 'half_width'; expected 'sigma' for gaussian noise\n"
      "x.yaml:4:74: time_constant is '0 s' but must be greater than zero\n"
      "x.yaml:4:87: found '3 bar'; 'range' must be the smallest and the largest value of the sensor\n"
      "x.yaml:4:101: 'delay' is 1e+09 steps; expected at most 1 million steps\n"
      "x.yaml:5:23: the noise is given twice: 'sigma' and 'half_width'; expected one of these keys\n"
      "x.yaml:5:56: noise needs 'damping'\n"
      "x.yaml:6:23: sigma is '0 %' but must be greater than zero\n"
      "x.yaml:6:71: noise has 'time_constant' (first order) and 'frequency' (second order); expected one of these keys\n"
      "x.yaml:7:43: there is no output 'cylinder.rat'; did you mean 'cylinder.rate'?\n"
      "x.yaml:8:26: '1 m/s' is a speed; sigma must be in m\n"
      "x.yaml:8:41: 'cylinder.length' is in m; expected an output in m/s2, because 'cylinder.rate' is its single integral\n"
      "x.yaml:9:3: the sensor 'crank.end.x' needs 'integrate'\n"
      "x.yaml:10:3: the sensor 'crank.end.y' needs 'source'\n"
      "x.yaml:10:24: '1 m/s' is a speed; sigma must be in m/s2\n"
      "x.yaml:11:65: integrate is 3 but must be a whole number from 1 to 2\n"
      "x.yaml:12:28: 'relative' is for fits; expected 'sigma', for example '5 % spread' or '5 % rms'\n"
      "x.yaml:13:39: noise needs 'frequency'\n"
      "x.yaml:13:52: unknown key 'colour' in noise; expected type, time_constant, frequency or damping\n"
      "x.yaml:14:39: found a list; 'noise' must be gaussian or uniform\n"
      "x.yaml:14:57: found a list of length 3; 'range' must be the smallest and the largest value of the sensor\n"
      "x.yaml:14:76: '3 bar' is a pressure; assume must be in m/s\n");
  expect(
      *state, MACHINE "sensors: {T.pressure: {sigma: 3 % spread}, crank.end.z: {sigma: 3 % rms}}\n",
      "x.yaml:2:11: the noise of 'T.pressure' cannot be relative to its signal, which is constant; expected a quantity\n"
      "x.yaml:2:44: the noise of 'crank.end.z' cannot be relative to its signal, which is always zero; expected a quantity\n");
  expect(
      *state,
      MACHINE
      "sensors:\n"
      "  P.pressure: {assume: 1 bar}\n"
      "  A.pressure: {}\n"
      "  cylinder.length: {source: cylinder.rate, integrate: 1, sigma: 1 m/s}\n"
      "  B.pressure: {sigma: 3 % rms}\n"
      "  cylinder.rate: {sigma: 1 m/s, noise: {time_constant: 1 s}}\n"
      "sensor_noise: {of: [P.pressure, A.pressure], matrix: [[1e10, 0], [0, 1e10]]}\n",
      "x.yaml:3:3: the sensor 'P.pressure' has 'assume', which is not possible with 'sensor_noise'; remove one of the two\n"
      "x.yaml:5:3: the sensor 'cylinder.length' has 'integrate', which is not possible with 'sensor_noise'; remove one of the two\n"
      "x.yaml:6:3: the sensor 'B.pressure' has noise relative to its signal, which is not possible with 'sensor_noise'; remove one of the two\n"
      "x.yaml:7:3: the sensor 'cylinder.rate' has colored noise, which is not possible with 'sensor_noise'; remove one of the two\n");
}

// The size of a signal is known only after a run.
static void test_too_long_to_know(void **state) {
  expect(
      *state, MACHINE "time: 2000 s\nstep: 1 ms\nsensors: {P.pressure: {sigma: 1 bar}, A.pressure: {sigma: 1 % rms}}\n",
      "x.yaml:4:39: 2e+06 steps are too many to compute the size of 'A.pressure' (at most 1 million steps); give the noise as a quantity with a unit instead of a percentage\n");
}

static void test_mistakes_in_changes_of_the_truth(void **state) {
  expect(*state,
         MACHINE
         "truth:\n"
         "  change:\n"
         "    oil.kpp: {walk: 1}\n"
         "    run.time: {walk: 1}\n"
         "    oil.kp: {at: [2 s, 1 s], values: [1e9 Pa, 2e9 Pa]}\n"
         "    oil.k0: {at: [1 s], values: [1, 2]}\n"
         "    A.volume: {walk: 1 m^3, at: [1 s], values: [1 m^3]}\n"
         "    B.volume: {}\n"
         "    relief.area: {at: [1 s], values: [-1 m^2]}\n"
         "    P.volume: {at: [], values: []}\n"
         "sensors: {P.pressure: {sigma: 1 bar}}\n",
         "x.yaml:4:5: there is no number 'oil.kpp'; did you mean 'oil.kp'?\n"
         "x.yaml:5:5: 'run.time' cannot change during a run; expected a number of the bodies or the circuit\n"
         "x.yaml:6:18: 'at' must be in ascending order; 1 s follows 2 s\n"
         "x.yaml:7:33: found a list of length 2; 'values' must be a list with one value for each time of 'at'\n"
         "x.yaml:8:5: the change of 'A.volume' needs either 'at' and 'values', or 'walk'; give one of them\n"
         "x.yaml:9:5: the change of 'B.volume' needs either 'at' and 'values', or 'walk'; give one of them\n"
         "x.yaml:10:38: 'values[0]' is -1 m2; expected a value from 1e-14 to 10\n"
         "x.yaml:11:20: 'at' has no times; expected a list such as [5 s, 8 s]\n");
}

static void test_mistakes_in_noise_of_the_truth(void **state) {
  expect(*state,
         MACHINE
         "truth: {noise: {pressures: -1, acceleration: 1 m, structure: matrx, press: 3}}\n"
         "sensors: {P.pressure: {sigma: 1 bar}}\n",
         "x.yaml:2:28: pressures is '-1' but must not be negative\n"
         "x.yaml:2:46: '1 m' is a length; acceleration must be a plain number\n"
         "x.yaml:2:62: found 'matrx'; did you mean 'matrix'?\n"
         "x.yaml:2:69: unknown key 'press' in noise; did you mean 'process'?\n");
  expect(
      *state,
      MACHINE
      "truth: {noise: some}\n"
      "sensors: {P.pressure: {sigma: 1 bar}}\n",
      "x.yaml:2:16: found 'some'; expected 'same' (the process noise of the observer), or a map with the keys of the section 'noise'\n");
  expect(*state,
         MACHINE
         "truth: {noise: {structure: matrix, process: {of: [cylinder.force], matrix: [[1]]}}}\n"
         "sensors: {P.pressure: {sigma: 1 bar}}\n",
         "x.yaml:2:45: found 1 of 3 outputs; expected one output for each state that the outputs depend on\n");
  expect(*state,
         MACHINE
         "truth: {noise: {structure: mechanical, pressures: 3 bar, process: 3}}\n"
         "sensors: {P.pressure: {sigma: 1 bar}}\n",
         "x.yaml:2:51: 'structure: mechanical' does not use 'pressures'; remove this key, or use 'structure: coupled'\n"
         "x.yaml:2:67: 'process' needs 'structure: matrix'; add this key\n");
  expect(*state,
         MACHINE
         "model: {noise: same}\n"
         "sensors: {P.pressure: {sigma: 1 bar}}\n",
         "x.yaml:2:9: unknown key 'noise' in the model; expected variant or set\n");
  expect(*state,
         MACHINE
         "truth: {noise: same}\n"
         "noise: {structure: matrix, process: {of: [P.presure], matrix: [[1]]}}\n"
         "sensors: {P.pressure: {sigma: 1 bar}}\n",
         "x.yaml:3:43: there is no output 'P.presure'; did you mean 'P.pressure'?\n");
}

// With a log the run is not known in advance; with a stream the sizes of its signals are not known either.
static void test_mistakes_with_logs(void **state) {
  static const char file[] = MACHINE
      "sensors:\n"
      "  cylinder.length: {source: cylinder.rate, integrate: 1, sigma: 1 m/s}\n"
      "  P.pressure: {sigma: 3 % rms}\n";
  static const char integrated[] = MACHINE "sensors: {P.pressure: {sigma: 3 % rms}}\n";
  const od_experiment_options stream = {.log.data = {(const char *const[]){"-"}, 1}};
  scratch *s = *state;
  char *said = experiment_messages(scratch_write(s, "x.yaml", file, strlen(file)), &stream, s->folder);
  assert_string_equal(said, "x.yaml:3:3: the sensor 'cylinder.length' needs 'assume'\n");
  free(said);
  said = experiment_messages(scratch_write(s, "x.yaml", integrated, strlen(integrated)), &stream, s->folder);
  assert_string_equal(
      said,
      "x.yaml:2:11: the noise of 'P.pressure' cannot be relative to its signal: the size of a live signal is "
      "not known in advance; expected a quantity\n");
  free(said);
}

// Sections that are allowed in an observer's file and not in a fit file.
static void test_mistakes_in_fits(void **state) {
  static const char file[] = MACHINE
      "time: 0.1 s\n"
      "truth: {noise: same}\n"
      "sensors:\n"
      "  cylinder.length: {source: cylinder.rate, integrate: 1, sigma: 1 m/s}\n"
      "  P.pressure: {sigma: 1 bar, relative: 2 %}\n"
      "parameters: {oil.kp: {low: 1 GPa, high: 2 GPa}}\n"
      "fit: {}\n";
  scratch *s = *state;
  od_messages *messages = od_messages_new();
  od_fit_plan *plan = NULL;
  const char *path = scratch_write(s, "x.yaml", file, strlen(file));
  assert_int_equal(od_fit_plan_load(path, NULL, &plan, messages), OD_BAD_INPUT);
  static const char *const expected[] = {
      "a fit has no process noise; remove this key",
      "integrating sensors are not possible in a fit; expected a sensor of the measured output",
      "the noise is given twice: 'sigma' and 'relative'; expected one of these keys",
  };
  assert_int_equal(od_messages_count(messages), 3);
  for (int i = 0; i < 3; i++) assert_string_equal(od_messages_get(messages, i)->text, expected[i]);
  od_messages_free(messages);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_mistakes_in_noise_of_sensors),
      TEST(test_mistakes_in_changes_of_the_truth),
      TEST(test_mistakes_in_noise_of_the_truth),
      TEST(test_too_long_to_know),
      TEST(test_mistakes_with_logs),
      TEST(test_mistakes_in_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
