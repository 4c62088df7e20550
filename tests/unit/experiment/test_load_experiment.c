// Experiment files: accepted contents, and the exact messages for mistakes.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "experiment/experiment.h"
#include "experiment/observe.h"
#include "oleodyn/sim.h"
#include "support/experiments.h"
#include "support/scratch.h"

#define CASE    OD_SOURCE_DIR "/cases/fourbar-valve/"
#define MACHINE "machine: " CASE "machine.yaml\n"
#define SENSOR  "sensors: {P.pressure: {sigma: 0.15 MPa}}\n"

static void expect(scratch *s, const char *file, const char *expected) {
  const char *path = scratch_write(s, "x.yaml", file, strlen(file));
  char *said = experiment_messages(path, NULL, s->folder);
  assert_string_equal(said, expected);
  free(said);
}

static void test_what_is_no_experiment(void **state) {
  expect(*state, "", "x.yaml: the file is empty; an experiment needs at least 'machine' and 'sensors'\n");
  expect(
      *state, "- 1\n",
      "x.yaml:1:1: found a list, expected a map for an experiment file with experiment, include, machine, time, step, integrator, "
      "seed, truth, model, sensors, sensor_noise, initial, parameters, noise, filter, data, compare, variants, metrics, fit, sets, "
      "prepare, combinations or constraints\n");
  expect(*state, "time: 5 s\n",
         "x.yaml:1:1: an experiment needs 'machine'\n"
         "x.yaml:1:1: an experiment needs 'sensors'\n");
  expect(*state, "machine: nosuch.yaml\nsensors: {}\n",
         "x.yaml:1:10: nosuch.yaml: the file cannot be read: No such file or directory\n"
         "x.yaml:2:10: an experiment needs at least one sensor; add a sensor under 'sensors'\n");
}

static void test_mistakes_in_machines_and_numbers(void **state) {
  expect(*state,
         "experiment: [1]\n" MACHINE
         "time: 5 kg\n"
         "stap: 1 ms\n"
         "seed: 1.5\n"
         "truth: {variant: 3-S9, set: {oil.k0: [1]}}\n"
         "model: {variant: 3-S1, set: {oil.kp: 5 kg}, sett: 3}\n" SENSOR
         "filter: {form: joosep, gate: -1}\n"
         "integrator: rk5\n"
         "noise: {pressures: 1 m}\n",
         "x.yaml:1:13: found a list; 'experiment' must be a title\n"
         "x.yaml:3:7: '5 kg' is a mass; time must be in s\n"
         "x.yaml:4:1: unknown key 'stap' in an experiment file; did you mean 'step'?\n"
         "x.yaml:5:7: seed is 1.5 but must be a whole number from 0 to 9007199254740992\n"
         "x.yaml:6:18: there is no variant '3-S9'; did you mean '3-S1'?\n"
         "x.yaml:6:38: found a list; 'oil.k0' must be a number or a quantity\n"
         "x.yaml:7:30: model: oil.kp=5 kg: '5 kg' is a mass; kp must be in Pa\n"
         "x.yaml:7:45: unknown key 'sett' in the model; did you mean 'set'?\n"
         "x.yaml:9:16: found 'joosep'; did you mean 'joseph'?\n"
         "x.yaml:9:30: gate is '-1' but must be greater than zero\n"
         "x.yaml:10:13: found 'rk5'; did you mean 'rk4'?\n"
         "x.yaml:11:20: '1 m' is a length; pressures must be in Pa\n");
  expect(*state, MACHINE "truth: {set: {oil.kpp: 3}}\n" SENSOR,
         "x.yaml:2:15: truth: there is no number 'oil.kpp'; did you mean 'oil.kp'?\n");
}

// Filters and integrators of an observer: names of the core's tables, and the messages for unknown names.
static void test_filters_and_integrators(void **state) {
  static const struct {
    const char *lines, *filter, *integrator;
  } cases[] = {{"", "iterated-ekf", "trapezoid"},
               {"filter: ekf\n", "ekf", "trapezoid"},
               {"filter: {type: ekf, gate: 5}\nintegrator: tr-bdf2\n", "ekf", "tr-bdf2"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1000];
    snprintf(text, sizeof text, MACHINE SENSOR "%s", cases[i].lines);
    const char *path = scratch_write(*state, "x.yaml", text, strlen(text));
    od_messages *messages = od_messages_new();
    od_experiment *e = NULL;
    if (od_experiment_load(path, NULL, &e, messages) != OD_OK) od_messages_print(messages, stderr, false);
    od_messages_free(messages);
    assert_non_null(e);
    assert_string_equal(e->filter->name, cases[i].filter);
    assert_string_equal(e->integrator->name, cases[i].integrator);
    od_experiment_free(e);
  }
  expect(*state, MACHINE SENSOR "filter: ekv\n", "x.yaml:3:9: found 'ekv'; did you mean 'ekf'?\n");
  expect(*state, MACHINE SENSOR "filter: {type: particle}\n",
         "x.yaml:3:16: found 'particle'; 'type' must be iterated-ekf, ekf, second-order-ekf, ukf, error-state-ekf, "
         "relinearising, continuous-ekf or complex-step-ekf\n");
  expect(*state, MACHINE SENSOR "integrator: cvodes\n",
         "x.yaml:3:13: found 'cvodes'; 'integrator' must be trapezoid, tr-bdf2 or rk4\n");
}

// Options of filters: defaults, given values, and mistakes.
static void test_options_of_filters(void **state) {
  static const struct {
    const char *lines;
    double choice[3];
  } cases[] = {{"filter: ukf\n", {0.8, NAN, NAN}},
               {"filter: {type: ukf, alpha: 0.1, kappa: 0}\n", {0.1, NAN, 0}},
               {"filter: relinearising\n", {1024, 1}},
               {"filter: {type: relinearising, window: 64, spread: false}\n", {64, 0}},
               {"filter: {type: error-state-ekf, transition: exact}\n", {1, 0, 0}},
               {"filter: {type: continuous-ekf, form: joseph, state_matrix: approximate, tangent: approximate, "
                "covariance: euler}\n",
                {1, 1, 1}},
               {"filter: {type: continuous-ekf, form: joseph, state_matrix: eq10, tangent: eq14, covariance: euler}\n",
                {1, 1, 1}},
               {"filter: {type: continuous-ekf, tangent: eq14}\n", {0, 1, 0}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1000];
    snprintf(text, sizeof text, MACHINE SENSOR "%s", cases[i].lines);
    const char *path = scratch_write(*state, "x.yaml", text, strlen(text));
    od_messages *messages = od_messages_new();
    od_experiment *e = NULL;
    assert_int_equal(od_experiment_load(path, NULL, &e, messages), OD_OK);
    od_messages_free(messages);
    for (int k = 0; k < 3; k++)
      assert_true(e->filter_choice[k] == cases[i].choice[k] ||
                  (isnan(e->filter_choice[k]) && isnan(cases[i].choice[k])));
    od_experiment_free(e);
  }
  expect(
      *state, MACHINE SENSOR "filter: {type: ukf, alpha: 20, transition: exact}\n",
      "x.yaml:3:28: 'alpha' is 20; expected a number from 0.0001 to 10\n"
      "x.yaml:3:32: unknown key 'transition' in filter; expected type, form, gate, gate_patience, frozen, alpha, beta or kappa\n");
  expect(*state, MACHINE SENSOR "filter: {type: relinearising, window: 8, spread: no}\n",
         "x.yaml:3:39: 'window' is 8; expected a number from 16 to 1e+06\n"
         "x.yaml:3:50: found 'no'; 'spread' must be false or true\n");
  expect(
      *state, MACHINE SENSOR "filter: {type: ukf, alpha: 1, beta: 0.5}\n",
      "x.yaml:3:9: filter: 'beta' must be at least the square of 'alpha'; otherwise the covariance may become negative\n");
  expect(*state, MACHINE SENSOR "filter: {type: error-state-ekf, transition: exakt}\n",
         "x.yaml:3:45: found 'exakt'; did you mean 'exact'?\n");
  expect(
      *state, MACHINE SENSOR "filter: {type: continuous-ekf, covariance: euler}\n",
      "x.yaml:3:9: filter: 'covariance: euler' may make the covariance indefinite and therefore requires 'form: joseph'\n");
  expect(*state, MACHINE SENSOR "filter: {type: continuous-ekf, tangent: eq10}\n",
         "x.yaml:3:41: found 'eq10'; 'tangent' must be exact or approximate\n");
  expect(*state, MACHINE SENSOR "filter: complex-step-ekf\nintegrator: rk4\n",
         "x.yaml:3:9: filter: 'complex-step-ekf' needs the trapezoidal rule; expected 'integrator: trapezoid'\n");
}

static void test_mistakes_in_sensors_and_parameters(void **state) {
  expect(*state,
         MACHINE
         "sensors:\n"
         "  P.presure: {sigma: 0.15 MPa}\n"
         "  P.pressure: {sigma: 0.15 m}\n"
         "  A.pressure: {noise: gausian}\n"
         "  B.pressure: {sigma: 0, every: 1.5, dropout: 200 %, start: -1 s}\n"
         "  P.pressure: {sigma: 0.15 MPa}\n"
         "  cylinder.length: 3 mm\n"
         "initial:\n"
         "  cylinder.lenght: 1 m\n"
         "  P.pressure: 0 MPa\n"
         "  A.pressure: {sigma: 3}\n"
         "parameters:\n"
         "  oil.kpp: {sigma: 1 MPa}\n"
         "  initial.P.pressure: {sigma: 1 MPa}\n"
         "  oil.kp: {start: 1 GPa}\n"
         "  oil.k0: {sigma: 1, low: 3, high: 2}\n"
         "  valve.ports.a.curve.points[1]: {sigma: 30, start: 120, high: 95}\n",
         "x.yaml:3:3: there is no output 'P.presure'; did you mean 'P.pressure'?\n"
         "x.yaml:4:23: '0.15 m' is a length; sigma must be in Pa\n"
         "x.yaml:5:3: the sensor 'A.pressure' needs 'sigma'\n"
         "x.yaml:5:23: found 'gausian'; did you mean 'gaussian'?\n"
         "x.yaml:6:23: sigma is '0' but must be greater than zero\n"
         "x.yaml:6:33: every is 1.5 but must be a whole number from 1 to 1000000\n"
         "x.yaml:6:47: 'dropout' is 2; expected at most 1 (100 %)\n"
         "x.yaml:6:61: start is '-1 s' but must not be negative\n"
         "x.yaml:7:3: 'P.pressure' is given twice; remove one entry\n"
         "x.yaml:8:20: found '3 mm', expected a map for the sensor 'cylinder.length' with sigma, half_width, relative, "
         "noise, bias, scale, resolution, every, start, dropout, stuck, spikes, dies, delay, range, drift, source, "
         "assume, encoder or integrate\n"
         "x.yaml:10:3: there is no output 'cylinder.lenght'; did you mean 'cylinder.length'?\n"
         "x.yaml:11:15: P.pressure is '0 MPa' but must be greater than zero\n"
         "x.yaml:12:15: found a map; 'A.pressure' must be a number or a quantity in Pa\n"
         "x.yaml:14:3: there is no number 'oil.kpp'; did you mean 'oil.kp'?\n"
         "x.yaml:15:3: 'initial.P.pressure' cannot be estimated; expected a number of the bodies or the circuit\n"
         "x.yaml:16:3: the parameter 'oil.kp' needs 'sigma'\n"
         "x.yaml:17:27: 'low' is '3'; expected less than 'high' ('2')\n"
         "x.yaml:18:3: 'start' of 'valve.ports.a.curve.points[1]' is 120; expected at most 95 ('high')\n");
}

static void test_mistakes_in_faults_and_filter(void **state) {
  expect(*state,
         MACHINE
         "sensors:\n"
         "  P.pressure: {sigma: 1 MPa, stuck: {from: 2 s, to: 1 s}, spikes: {rate: 200 %, size: 5 sigmas}}\n"
         "  A.pressure: {sigma: 1 MPa, stuck: {from: 2 s}, spikes: {rate: 1 %, size: 0 sigma}, dies: never}\n"
         "  B.pressure: {sigma: 1 MPa, stuck: 3 s, spikes: {rat: 1 %}, dies: {at: 1 m, as: mising}}\n"
         "filter: {gate: 5, gate_patience: 1, frozen: 2.5}\n",
         "x.yaml:3:53: 'to' is 1 s; expected a time later than 'from', 2 s\n"
         "x.yaml:3:74: 'rate' is 2; expected at most 1 (100 %)\n"
         "x.yaml:3:87: unknown unit 'sigmas' in '5 sigmas'; size must be in Pa\n"
         "x.yaml:4:37: stuck needs 'to'\n"
         "x.yaml:4:76: size is '0 sigma' but must be greater than zero\n"
         "x.yaml:4:92: 'never' is not a number; dies must be a number or a quantity in s\n"
         "x.yaml:5:37: found '3 s', expected a map for stuck with from or to\n"
         "x.yaml:5:50: spikes needs 'size'\n"
         "x.yaml:5:51: unknown key 'rat' in spikes; did you mean 'rate'?\n"
         "x.yaml:5:73: '1 m' is a length; at must be in s\n"
         "x.yaml:5:82: found 'mising'; did you mean 'missing'?\n"
         "x.yaml:6:34: gate_patience is 1 but must be a whole number from 2 to 1000000000\n"
         "x.yaml:6:45: frozen is 2.5 but must be a whole number from 0 to 1000000000\n");
  // Numbers that do not fit into an integer cause only a message, also under the sanitizers.
  expect(*state,
         MACHINE
         "seed: 1e300\nsensors: {P.pressure: {sigma: 1 MPa, every: 1e300}}\n"
         "filter: {gate: 5, gate_patience: 1e300, frozen: 1e300}\n",
         "x.yaml:2:7: seed is 1e+300 but must be a whole number from 0 to 9007199254740992\n"
         "x.yaml:3:45: every is 1e+300 but must be a whole number from 1 to 1000000\n"
         "x.yaml:4:34: gate_patience is 1e+300 but must be a whole number from 2 to 1000000000\n"
         "x.yaml:4:49: frozen is 1e+300 but must be a whole number from 0 to 1000000000\n");
}

static void test_outputs_must_tell_the_states(void **state) {
  expect(
      *state, MACHINE SENSOR "initial: {P.pressure: 1 MPa, cylinder.length: 1 mm, crank_pivot.angle: 1 deg}\n",
      "x.yaml:3:53: 'crank_pivot.angle' depends linearly on the previous outputs; expected an output that depends on another state\n");
  expect(*state, MACHINE SENSOR "initial: {cylinder.force: 1 N}\n",
         "x.yaml:3:10: found 1 of 3 outputs; expected one output for each state that the outputs depend on\n");
}

// The same covariances as matrices: invalid, contradictory or incomplete ones.
#define SENSORS "sensors: {P.pressure: {sigma: 1 MPa}, A.pressure: {}}\n"
static void test_mistakes_in_matrices(void **state) {
  expect(
      *state,
      MACHINE SENSORS
      "sensor_noise: {of: [P.pressure, A.presure], matrix: [[1, 0], [0, 1]]}\n"
      "initial: {of: [P.pressure, A.pressure, P.pressure], matrix: 3}\n"
      "noise: {structure: matrix, process: {of: [P.pressure, A.pressure], matrix: [[1, 0], [0, 1, 2]]}}\n",
      "x.yaml:3:33: there is no output 'A.presure'; did you mean 'A.pressure'?\n"
      "x.yaml:4:40: 'P.pressure' is given twice; remove one entry\n"
      "x.yaml:4:61: found '3'; 'matrix' must be a list of 3 rows, one for each output of 'of'\n"
      "x.yaml:5:85: found a list of length 3; 'matrix[1]' must be a list of 2 numbers, one for each output of 'of'\n");
  expect(
      *state,
      MACHINE SENSORS
      "sensor_noise: {of: [P.pressure, A.pressure], matrix: [[1 MPa^2, 0.5 MPa^2], [0.4 MPa^2, 1 MPa^2]]}\n"
      "initial: {of: [P.pressure], matrix: [[1 MPa]], sigma: 3}\n"
      "noise: {structure: matrix, process: {of: [P.pressure, A.pressure], matrix: [[1, 2], [2, 1]]}}\n",
      "x.yaml:3:78: matrix[1][0] is 4e+11, but matrix[0][1] is 5e+11; expected a symmetric matrix\n"
      "x.yaml:4:39: '1 MPa' is a pressure; matrix[0][0] must be in Pa^2\n"
      "x.yaml:4:48: unknown key 'sigma' in initial; expected of or matrix\n"
      "x.yaml:5:76: the matrix has a negative eigenvalue; expected a positive semidefinite covariance: check the signs and sizes of the "
      "entries beside the diagonal\n");
  expect(
      *state,
      MACHINE SENSORS
      "sensor_noise: {of: [P.pressure, A.pressure], matrix: [[1, 1], [1, 1]]}\n"
      "noise: {structure: matrix, process: {of: [P.pressure], matrix: [[0]]}}\n",
      "x.yaml:3:54: the matrix is singular: its rank is 1, expected 2; the noise of a sensor must not be determined by the "
      "noise of other sensors\n"
      "x.yaml:4:66: matrix[0][0] is '0' but must be greater than zero\n");
  expect(
      *state,
      MACHINE
      "sensors: {P.pressure: {sigma: 1 MPa, noise: uniform}}\n"
      "sensor_noise: {of: [P.pressure, A.pressure], matrix: [[1, 0], [0, 1]]}\n"
      "initial: {matrix: [[1]]}\n",
      "x.yaml:3:21: the noise of 'P.pressure' is not gaussian; expected gaussian noise, which can be correlated with the noise of other sensors\n"
      "x.yaml:3:33: there is no sensor 'A.pressure'; expected an output of the section 'sensors'\n"
      "x.yaml:4:10: initial needs 'of'\n");
}

static void test_mistakes_in_structures(void **state) {
  expect(*state, MACHINE SENSOR "noise: {structure: mecanical, process: {}}\n",
         "x.yaml:3:20: found 'mecanical'; did you mean 'mechanical'?\n");
  expect(
      *state,
      MACHINE SENSOR
      "noise: {structure: mechanical, pressures: 30 Pa, process: {}}\n"
      "parameters: {oil.kp: {sigma: 1 MPa, noise: 1 Pa}}\n",
      "x.yaml:3:43: 'structure: mechanical' does not use 'pressures'; remove this key, or use 'structure: coupled'\n"
      "x.yaml:3:59: 'process' needs 'structure: matrix'; add this key\n"
      "x.yaml:4:44: the parameter 'oil.kp' has 'noise', but 'structure: mechanical' has noise of accelerations only; use 'structure: coupled', or remove 'noise'\n");
  expect(
      *state, MACHINE SENSOR "filter: ukf\nparameters: {oil.kp: {sigma: 1 MPa, change: 1 MPa}}\n",
      "x.yaml:4:45: the filter 'ukf' does not detect changes; expected a filter that linearizes the machine, such as "
      "'iterated-ekf', or no 'change'\n");
  expect(*state, MACHINE SENSOR "noise: {structure: matrix, acceleration: 1}\n",
         "x.yaml:3:8: noise needs 'process'\n"
         "x.yaml:3:42: 'structure: matrix' does not use 'acceleration'; expected 'process' instead\n");
  // Outputs of the process noise must tell the states, as those of the start.
  expect(
      *state,
      MACHINE SENSOR
      "noise: {structure: matrix, process: {of: [cylinder.length, crank_pivot.angle], matrix: [[1, 0], [0, 1]]}}\n",
      "x.yaml:3:60: 'crank_pivot.angle' depends linearly on the previous outputs; expected an output that depends on another state\n");
  expect(*state, MACHINE SENSOR "noise: {structure: matrix, process: {of: [cylinder.force], matrix: [[1 N^2]]}}\n",
         "x.yaml:3:37: found 1 of 3 outputs; expected one output for each state that the outputs depend on\n");
  expect(*state, MACHINE SENSOR "initial: {of: [cylinder.force], matrix: [[1 N^2]]}\n",
         "x.yaml:3:10: found 1 of 3 outputs; expected one output for each state that the outputs depend on\n");
}

static void test_options(void **state) {
  (void)state;
  const char *set[] = {"model.oil.kp=3 m", "tiem=3"};
  od_experiment_options options = {.set = set, .set_count = 1, .truth = "3-S7"};
  char *said = experiment_messages(CASE "points-3.experiment.yaml", &options, "/nowhere");
  assert_string_equal(said,
                      "--truth: there is no variant '3-S7'; did you mean '3-S1'?\n"
                      "--set: model: oil.kp=3 m: '3 m' is a length; kp must be in Pa\n");
  free(said);
  options = (od_experiment_options){.set = set + 1, .set_count = 1};
  said = experiment_messages(CASE "points-3.experiment.yaml", &options, "/nowhere");
  assert_string_equal(said, "--set: there is no number 'tiem'; did you mean 'time'?\n");
  free(said);
}

static void test_what_is_understood(void **state) {
  (void)state;
  const char *set[] = {"truth.oil.kp=1400 MPa", "sensors.P.pressure.dropout=1 %", "time=1", "step=2 ms"};
  od_experiment_options options = {.set = set, .set_count = 4, .truth = "3-S2"};
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  assert_int_equal(od_experiment_load(CASE "points-3.experiment.yaml", &options, &e, messages), OD_OK);
  assert_string_equal(e->title, "Valve curves, three points");
  assert_string_equal(od_machine_variant(e->truth), "3-S2");
  assert_true(e->time == 1 && e->step == 2e-3 && e->seed == 1);
  assert_int_equal(e->sensors, 3);
  assert_int_equal(e->watches, 5);
  assert_true(fabs(e->sensor[0].sigma - 1.12e-3) < 1e-15 && e->sensor[0].dropout == 0 && e->sensor[0].every == 1);
  assert_true(fabs(e->sensor[1].dropout - 0.01) < 1e-15);
  assert_int_equal(e->parameters, 6);
  assert_true(e->parameter[0].truth == 1.4e9 && e->parameter[0].start == 1.5e9 && e->parameter[0].sigma == 1e8);
  assert_true(e->parameter[2].truth == 12 && e->parameter[2].start == 47.5);
  od_experiment_free(e);
  // A point of a curve has no true value if the true curve has another number of points.
  options = (od_experiment_options){.truth = "4-S1"};
  assert_int_equal(od_experiment_load(CASE "points-3.experiment.yaml", &options, &e, messages), OD_OK);
  assert_true(isnan(e->parameter[2].truth) && e->parameter[0].truth == 1.6e9);
  od_experiment_free(e);
  od_messages_free(messages);
}

// The covariance reproduces the outputs' standard deviations: pressures are states; the length is a function of the
// crank's angle, whose sigma follows from the triangle ground-crank-cylinder.
static void test_start_covariance(void **state) {
  (void)state;
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  assert_int_equal(od_experiment_load(CASE "points-3.experiment.yaml", NULL, &e, messages), OD_OK);
  od_plant *plant = NULL;
  assert_int_equal(od_experiment_plant(e, &plant, NULL), OD_OK);
  int n = od_plant_nx(plant) + e->parameters, nz = plant->nz;
  assert_int_equal(nz, 1);
  const double pressures[] = {2e6, 1e6, 1e6};
  for (int i = 0; i < 3; i++)
    assert_true(fabs(e->covariance[(2 * nz + i) * (n + 1)] / pow(pressures[i], 2) - 1) < 1e-9);
  assert_true(e->covariance[(2 * nz + 3) * (n + 1)] == 0);  // the spool is exact
  assert_true(fabs(sqrt(e->covariance[(n - 1) * (n + 1)]) - 30) < 1e-12);
  // s^2 = 2 + 2 cos(angle), for the coordinate of any joint; the crank's own has ds/da = -sin(a) / s.
  od_sim *sim = od_sim_new(plant);
  double u[1] = {0}, hx[5 * 6];
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_int_equal(od_sim_output_jacobians(sim, hx, NULL, NULL), OD_OK);
  for (int i = 0; i < 5; i++) {
    double sum = 0;
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++) sum += hx[6 * i + a] * e->covariance[a * n + b] * hx[6 * i + b];
    assert_true(fabs(sqrt(sum) / e->watched[i].sigma - 1) < 1e-9);
  }
  od_sim_free(sim);
  od_plant_free(plant);
  od_experiment_free(e);
  od_messages_free(messages);
}

// The outputs' Jacobian reproduces the matrices, H P H' = C, for the start and for a step; a step of half the length has
// half of it. A diagonal matrix is equivalent to single sigmas.
static void test_matrices(void **state) {
  static const char file[] = MACHINE
      "step: 1 ms\n"
      "sensors: {P.pressure: {}, A.pressure: {resolution: 0.6 MPa}, cylinder.length: {sigma: 1 mm}}\n"
      "sensor_noise: {of: [A.pressure, P.pressure], matrix: [[0.04 MPa^2, 0.01 MPa^2], [0.01 MPa^2, 0.09 MPa^2]]}\n"
      "initial:\n"
      "  of: [cylinder.length, cylinder.rate, P.pressure]\n"
      "  matrix: [[1e-2, 3e-4 m m/s, 50 m kPa], [3e-4, 1e-4, 0], [5e4, 0, 4 MPa^2]]\n"
      "noise:\n"
      "  structure: matrix\n"
      "  process: {of: [cylinder.rate, B.pressure, cylinder.length], matrix: [[4, 1, 0.5], [1, 9, 0], [0.5, 0, 1]]}\n"
      "parameters: {oil.kp: {sigma: 1 MPa, noise: 3 Pa}}\n";
  const double C[9] = {1e-2, 3e-4, 5e4, 3e-4, 1e-4, 0, 5e4, 0, 4e12}, D[9] = {4, 1, 0.5, 1, 9, 0, 0.5, 0, 1};
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  const char *path = scratch_write(*state, "x.yaml", file, strlen(file));
  if (od_experiment_load(path, NULL, &e, messages) != OD_OK) od_messages_print(messages, stderr, false);
  assert_non_null(e);
  od_plant *plant = NULL;
  assert_int_equal(od_experiment_plant(e, &plant, NULL), OD_OK);
  enum { NX = 6, N = 7, NY = 5 };
  assert_true(od_plant_nx(plant) == NX && e->outputs == NY);
  double u[1] = {0}, hx[NY * NX], Q[N * N], R[NY * NY];
  od_sim *sim = od_sim_new(plant);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_int_equal(od_sim_output_jacobians(sim, hx, NULL, NULL), OD_OK);
  od_experiment_process_noise(e, plant, 0.5e-3, e->process_noise, Q);
  for (int i = 0; i < 9; i++) {
    const double *a = hx + NX * e->initial.output[i / 3], *b = hx + NX * e->initial.output[i % 3];
    const double *c = hx + NX * e->process.output[i / 3], *d = hx + NX * e->process.output[i % 3];
    double start = 0, step = 0;
    for (int k = 0; k < NX; k++)
      for (int l = 0; l < NX; l++) {
        start += a[k] * e->covariance[N * k + l] * b[l];
        step += c[k] * Q[N * k + l] * d[l];
      }
    assert_true(fabs(start - C[i]) < 1e-9 * sqrt(C[4 * (i / 3)] * C[4 * (i % 3)]));
    assert_true(fabs(step - 0.5 * D[i]) < 1e-9 * sqrt(D[4 * (i / 3)] * D[4 * (i % 3)]));
  }
  assert_true(fabs(Q[N * N - 1] - 4.5) < 1e-12 && e->covariance[N * N - 1] == 1e12);
  // The sensors: in their own order, sigmas from the matrix, and the resolution as more noise.
  od_experiment_sensor_covariance(e, R);
  assert_true(fabs(e->sensor[0].sigma - 0.3e6) < 1e-6 && fabs(e->sensor[1].sigma - 0.2e6) < 1e-6);
  assert_true(R[0] == 9e10 && R[1] == 1e10 && R[NY] == 1e10 && fabs(R[NY + 1] - 7e10) < 1 && R[2] == 0);
  assert_true(fabs(R[2 * NY + 2] - 1e-6) < 1e-15 && R[3 * NY + 3] == 1);
  od_sim_free(sim);
  od_plant_free(plant);
  od_experiment_free(e);
  od_messages_free(messages);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_what_is_no_experiment, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes_in_machines_and_numbers, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes_in_sensors_and_parameters, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_filters_and_integrators, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_options_of_filters, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes_in_faults_and_filter, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes_in_matrices, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes_in_structures, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_matrices, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_outputs_must_tell_the_states, scratch_setup, scratch_teardown),
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_what_is_understood),
      cmocka_unit_test(test_start_covariance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
