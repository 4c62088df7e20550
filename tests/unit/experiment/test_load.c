// Experiment files: what is understood, and the exact messages for what is wrong.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "experiment/experiment.h"
#include "oleodyn/sim.h"
#include "support/scratch.h"

#define CASE    OD_SOURCE_DIR "/cases/fourbar-valve/"
#define MACHINE "machine: " CASE "machine.yaml\n"
#define SENSOR  "sensors: {P.pressure: {sigma: 0.15 MPa}}\n"

// All messages as one text, without the folder of the file; free it.
static char *messages_of(const char *path, const od_experiment_options *options, const char *folder) {
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  od_status status = od_experiment_load(path, options, &e, messages);
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  for (int i = 0; i < od_messages_count(messages); i++) {
    const od_message *m = od_messages_get(messages, i);
    size_t length = strlen(folder);
    const char *file = m->file && !strncmp(m->file, folder, length) ? m->file + length + 1 : m->file;
    if (m->line > 0)
      fprintf(to, "%s:%d:%d: %s\n", file, m->line, m->column, m->text);
    else
      fprintf(to, "%s: %s\n", file, m->text);
  }
  fclose(to);
  assert_int_equal(status == OD_OK, e != NULL);
  assert_int_equal(status == OD_OK, od_messages_count(messages) == 0);
  od_experiment_free(e);
  od_messages_free(messages);
  return text;
}

static void expect(scratch *s, const char *file, const char *expected) {
  const char *path = scratch_write(s, "x.yaml", file, strlen(file));
  char *said = messages_of(path, NULL, s->folder);
  assert_string_equal(said, expected);
  free(said);
}

static void test_what_is_no_experiment(void **state) {
  expect(*state, "", "x.yaml: is empty; an experiment needs at least 'machine' and 'sensors'\n");
  expect(
      *state, "- 1\n",
      "x.yaml:1:1: found a list, expected a map for an experiment file with experiment, machine, time, step, seed, "
      "truth, model, sensors, initial, parameters, noise, filter, data, variants, fit, sets, prepare or combinations\n");
  expect(*state, "time: 5 s\n",
         "x.yaml:1:1: an experiment needs 'machine'\n"
         "x.yaml:1:1: an experiment needs 'sensors'\n");
  expect(*state, "machine: nosuch.yaml\nsensors: {}\n",
         "x.yaml:2:10: an experiment needs at least one sensor\n"
         "nosuch.yaml: cannot be read: No such file or directory\n");
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
         "noise: {pressures: 1 m}\n",
         "x.yaml:1:13: found a list; 'experiment' wants a title\n"
         "x.yaml:3:7: '5 kg' is a mass; time wants s\n"
         "x.yaml:4:1: unknown key 'stap' in an experiment file; did you mean 'step'?\n"
         "x.yaml:5:7: seed must be a whole number from 0 to 9007199254740992\n"
         "x.yaml:6:18: there is no variant '3-S9'; did you mean '3-S1'?\n"
         "x.yaml:6:38: found a list; 'oil.k0' wants a number or a quantity\n"
         "x.yaml:7:30: model: oil.kp=5 kg: '5 kg' is a mass; kp wants Pa\n"
         "x.yaml:7:45: unknown key 'sett' in the model; did you mean 'set'?\n"
         "x.yaml:9:16: found 'joosep'; did you mean 'joseph'?\n"
         "x.yaml:9:30: gate is '-1', must be greater than zero\n"
         "x.yaml:10:20: '1 m' is a length; pressures wants Pa\n");
  expect(*state, MACHINE "truth: {set: {oil.kpp: 3}}\n" SENSOR,
         "x.yaml:2:15: truth: there is no number 'oil.kpp'; did you mean 'oil.kp'?\n");
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
         "x.yaml:4:23: '0.15 m' is a length; sigma wants Pa\n"
         "x.yaml:5:3: the sensor 'A.pressure' needs 'sigma'\n"
         "x.yaml:5:23: found 'gausian'; did you mean 'gaussian'?\n"
         "x.yaml:6:23: sigma is '0', must be greater than zero\n"
         "x.yaml:6:33: every must be a whole number from 1 to 1000000\n"
         "x.yaml:6:47: dropout must be at most 1, or 100 %\n"
         "x.yaml:6:61: start is '-1 s', must not be negative\n"
         "x.yaml:7:3: 'P.pressure' is given twice\n"
         "x.yaml:8:20: found '3 mm', expected a map for the sensor 'cylinder.length' with sigma, relative, noise, "
         "bias, scale, resolution, every, start, dropout, stuck, spikes or dies\n"
         "x.yaml:10:3: there is no output 'cylinder.lenght'; did you mean 'cylinder.length'?\n"
         "x.yaml:11:15: P.pressure is '0 MPa', must be greater than zero\n"
         "x.yaml:12:15: found a map; 'A.pressure' wants a number or a quantity in Pa\n"
         "x.yaml:14:3: there is no number 'oil.kpp'; did you mean 'oil.kp'?\n"
         "x.yaml:15:3: 'initial.P.pressure' cannot be estimated; it is no number of the bodies or the circuit\n"
         "x.yaml:16:3: the parameter 'oil.kp' needs 'sigma'\n"
         "x.yaml:17:27: low must be less than high\n"
         "x.yaml:18:3: 'valve.ports.a.curve.points[1]' starts at 120, outside its bounds\n");
}

static void test_mistakes_in_faults_and_filter(void **state) {
  expect(*state,
         MACHINE
         "sensors:\n"
         "  P.pressure: {sigma: 1 MPa, stuck: {from: 2 s, to: 1 s}, spikes: {rate: 200 %, size: 5 sigmas}}\n"
         "  A.pressure: {sigma: 1 MPa, stuck: {from: 2 s}, spikes: {rate: 1 %, size: 0 sigma}, dies: never}\n"
         "  B.pressure: {sigma: 1 MPa, stuck: 3 s, spikes: {rat: 1 %}, dies: {at: 1 m, as: mising}}\n"
         "filter: {gate: 5, gate_patience: 1, frozen: 2.5}\n",
         "x.yaml:3:53: 'to' must come after 'from'\n"
         "x.yaml:3:74: rate must be at most 1, or 100 %\n"
         "x.yaml:3:87: unknown unit 'sigmas' in '5 sigmas'; size wants Pa\n"
         "x.yaml:4:37: stuck needs 'to'\n"
         "x.yaml:4:76: size is '0 sigma', must be greater than zero\n"
         "x.yaml:4:92: 'never' is not a number; dies wants a number or a quantity in s\n"
         "x.yaml:5:37: found '3 s', expected a map for stuck with from or to\n"
         "x.yaml:5:50: spikes needs 'size'\n"
         "x.yaml:5:51: unknown key 'rat' in spikes; did you mean 'rate'?\n"
         "x.yaml:5:73: '1 m' is a length; at wants s\n"
         "x.yaml:5:82: found 'mising'; did you mean 'missing'?\n"
         "x.yaml:6:34: gate_patience must be a whole number from 2 to 1000000000\n"
         "x.yaml:6:45: frozen must be a whole number from 0 to 1000000000\n");
}

static void test_outputs_must_tell_the_states(void **state) {
  expect(*state, MACHINE SENSOR "initial: {P.pressure: 1 MPa, cylinder.length: 1 mm, crank_pivot.angle: 1 deg}\n",
         "x.yaml:3:53: 'crank_pivot.angle' says nothing about the states that the outputs before it do not say\n");
  expect(*state, MACHINE SENSOR "initial: {cylinder.force: 1 N}\n",
         "x.yaml:3:10: found 1 of 3 outputs; as many are needed as there are states they depend on\n");
}

static void test_options(void **state) {
  (void)state;
  const char *set[] = {"model.oil.kp=3 m", "tiem=3"};
  od_experiment_options options = {.set = set, .set_count = 1, .truth = "3-S7"};
  char *said = messages_of(CASE "points-3.experiment.yaml", &options, "/nowhere");
  assert_string_equal(said,
                      "--truth: there is no variant '3-S7'; did you mean '3-S1'?\n"
                      "--set: model: oil.kp=3 m: '3 m' is a length; kp wants Pa\n");
  free(said);
  options = (od_experiment_options){.set = set + 1, .set_count = 1};
  said = messages_of(CASE "points-3.experiment.yaml", &options, "/nowhere");
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
  // A point of a curve has no true value when the true curve has another number of points.
  options = (od_experiment_options){.truth = "4-S1"};
  assert_int_equal(od_experiment_load(CASE "points-3.experiment.yaml", &options, &e, messages), OD_OK);
  assert_true(isnan(e->parameter[2].truth) && e->parameter[0].truth == 1.6e9);
  od_experiment_free(e);
  od_messages_free(messages);
}

// The covariance gives back the outputs' standard deviations: pressures are states; the length is a function of the
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
  assert_true(e->covariance[(2 * nz + 3) * (n + 1)] == 0);  // the spool is known
  assert_true(fabs(sqrt(e->covariance[(n - 1) * (n + 1)]) - 30) < 1e-12);
  // s^2 = 2 + 2 cos(angle), whichever joint the coordinate is of; the crank's own has ds/da = -sin(a) / s.
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_what_is_no_experiment, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes_in_machines_and_numbers, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes_in_sensors_and_parameters, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes_in_faults_and_filter, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_outputs_must_tell_the_states, scratch_setup, scratch_teardown),
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_what_is_understood),
      cmocka_unit_test(test_start_covariance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
