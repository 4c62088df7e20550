// A file given to the wrong command: one message with the kind of the file and the correct command, exit code 2.
// Oracle: exact messages.
#include "support/test.h"
#include "support/program.h"

static const char machine[] =
    "inputs: {u: {unit: V, constant: 1 V}}\n"
    "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}}\n"
    "run: {time: 2 s, step: 10 ms}\n";
static const char experiment[] = "machine: machine.yaml\n\"sensors\": {lag: {sigma: 50 mV}}\n";
static const char fit[] =
    "machine: machine.yaml\nsensors: {lag: {sigma: 50 mV}}\n"
    "parameters: {lag.gain: {start: 1}}\nsets: {a: {simulate: yes, time: 1 s}}\n";
static const char friction[] =
    "friction: x\nlaws: {a: {law: coulomb, Fc: 1 N, vs: 1 mm/s}}\nfit: {law: coulomb, start: a}\nrun: {log: a.csv}\n";
static const char study[] = "cases: {a: {observe: experiment.yaml}}\n";

static void test_each_command(void **state) {
  scratch *s = *state;
  scratch_put(s, "machine.yaml", machine);
  scratch_put(s, "experiment.yaml", experiment);
  scratch_put(s, "fit.yaml", fit);
  scratch_put(s, "study.yaml", study);
  scratch_put(s, "friction.yaml", friction);
  static const struct {
    const char *command, *file, *message;
  } calls[] = {
      {"simulate", "experiment.yaml",
       "1:1: error: found an experiment file, expected a machine file; use 'oleodyn observe'\n"},
      {"info", "fit.yaml", "1:1: error: found a fit file, expected a machine file; use 'oleodyn fit'\n"},
      {"simulate", "study.yaml", "1:1: error: found a study file, expected a machine file; use 'oleodyn study'\n"},
      {"observe", "machine.yaml",
       "1:1: error: found a machine file, expected an experiment file; use 'oleodyn simulate' or 'oleodyn info'\n"},
      {"fit", "machine.yaml",
       "1:1: error: found a machine file, expected a fit file; use 'oleodyn simulate' or 'oleodyn info'\n"},
      {"study", "machine.yaml",
       "1:1: error: found a machine file, expected a study file; use 'oleodyn simulate' or 'oleodyn info'\n"},
      {"observe", "study.yaml", "1:1: error: found a study file, expected an experiment file; use 'oleodyn study'\n"},
      {"fit", "study.yaml", "1:1: error: found a study file, expected a fit file; use 'oleodyn study'\n"},
      {"study", "experiment.yaml",
       "1:1: error: found an experiment file, expected a study file; use 'oleodyn observe'\n"},
      {"simulate", "friction.yaml",
       "1:1: error: found a friction file, expected a machine file; use 'oleodyn friction-fit'\n"},
      {"fit", "friction.yaml", "1:1: error: found a friction file, expected a fit file; use 'oleodyn friction-fit'\n"},
      {"friction-fit", "fit.yaml", "1:1: error: found a fit file, expected a friction file; use 'oleodyn fit'\n"},
      {"friction-fit", "machine.yaml",
       "1:1: error: found a machine file, expected a friction file; use 'oleodyn simulate' or 'oleodyn info'\n"},
      {"study", "fit.yaml", "1:1: error: found a fit file, expected a study file; use 'oleodyn fit'\n"},
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    outcome o = run(s, "%s %s", calls[i].command, calls[i].file);
    ends_with(o, 2);
    char wanted[300];
    snprintf(wanted, sizeof wanted, "%s:%s", calls[i].file, calls[i].message);
    if (strcmp(o.err, wanted) != 0) fail_msg("oleodyn %s: got\n%sinstead of\n%s", calls[i].command, o.err, wanted);
    forget(o);
  }
}

// An experiment names a wrong file as its machine: the message has the place of that file.
static void test_machine_of_experiment(void **state) {
  scratch *s = *state;
  scratch_put(s, "study.yaml", study);
  scratch_put(s, "experiment.yaml", "machine: study.yaml\nsensors: {lag: {sigma: 50 mV}}\n");
  ends_and_says(run(s, "observe experiment.yaml"), 2,
                "study.yaml:1:1: error: found a study file, expected a machine file");
}

// A fit file can be observed if it has all sections that an observer needs.
static void test_fit_to_observe(void **state) {
  scratch *s = *state;
  scratch_put(s, "machine.yaml", machine);
  scratch_put(s, "fit.yaml", fit);
  outcome o = run(s, "observe fit.yaml");
  ends_with(o, 2);
  says(o.err, "fit.yaml:1:1: error: this is a fit file, for 'oleodyn fit'; an observer needs more keys\n");
  says(o.err, "the parameter 'lag.gain' needs 'sigma'");
  forget(o);
  scratch_put(s, "both.yaml",
              "machine: machine.yaml\nstep: 10 ms\ntime: 1 s\nsensors: {lag: {sigma: 50 mV}}\n"
              "parameters: {lag.gain: {start: 1, sigma: 1}}\nsets: {a: {simulate: yes, time: 1 s}}\n");
  o = run(s, "observe both.yaml --quiet");
  if (o.code == 2) fail_msg("%s", o.err);
  forget(o);
}

// Sections of two kinds are a mistake in the file, not in the command.
static void test_mixed_file(void **state) {
  scratch *s = *state;
  scratch_put(s, "mixed.yaml", "bodies: {a: {point: {mass: 1 kg}}}\nsensors: {}\n");
  ends_and_says(run(s, "simulate mixed.yaml"), 2, "unknown key 'sensors'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_each_command, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_machine_of_experiment, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_fit_to_observe, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mixed_file, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
