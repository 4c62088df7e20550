// Very long runs and interrupts: each run ends with a message that names the cause of its slowness, or within a second
// after Ctrl-C. timeout(1) ends a hanging run, which counts as failed.
#include "support/test.h"

#include <time.h>

#include "support/program.h"

static const char pendulum[] =
    "machine: Pendulum with a spring\n"
    "gravity: [0, -9.81 m/s^2]\n"
    "ground:\n  points: {wall: [1 m, 0]}\n"
    "bodies:\n  rod: {beam: {mass: 2 kg, length: 0.8 m}}\n"
    "joints:\n  hinge: {type: revolute, between: [ground, rod.start]}\n"
    "springs:\n"
    "  spring: {between: [ground.wall, rod.end], stiffness: 60 N/m, damping: 2 N s/m, length: 0.5 m}\n"
    "initial: {hinge.angle: -90 deg}\n"
    "forces: {p: {at: rod.end, direction: [0, 1], value: u}}\n"
    "run: {time: 5 s, step: 1 ms, outputs: [hinge.angle]}\n";
static const char sampled[] = "blocks: {u: {type: gain, input: hinge.angle, gain: 1 N/rad, sample: 1e-9 s}}\n";
static const char binary[] = "inputs: {u: {unit: N, prbs: {low: 0, high: 1, bit: 1e-9 s}}}\n";

static void put_pendulum(scratch *s, const char *more) {
  char text[2000];
  snprintf(text, sizeof text, "%s%s", pendulum, more);
  scratch_write(s, "machine.yaml", text, strlen(text));
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Runs in the scratch folder; SIGINT is sent after `patience` seconds, SIGKILL long after that. In the foreground timeout(1)
// sends one signal; otherwise two, of which the second ends the program immediately.
static outcome run_for(scratch *s, double patience, const char *arguments) {
  char command[3000];
  snprintf(command, sizeof command,
           "cd %s && timeout --foreground --preserve-status -s INT -k 10 %g '%s' %s >.out 2>.err </dev/null", s->folder,
           patience, OD_BINARY, arguments);
  int status = system(command);
  outcome o = {WIFEXITED(status) ? WEXITSTATUS(status) : -1, NULL, NULL};
  o.out = scratch_read(scratch_path(s, ".out"));
  o.err = scratch_read(scratch_path(s, ".err"));
  return o;
}

static void expect_message(scratch *s, const char *arguments, int code, const char *said) {
  outcome o = run_for(s, 200, arguments);  // none takes long, except with sanitizers or on busy computers
  ends_with(o, code);
  says(o.err, said);
  forget(o);
}

// Interrupted during the run: code 130 after a short time. Sanitizers and busy computers get more time; if the program
// has not started its run by then, the signal ends it in the same way.
static void expect_listening(scratch *s, const char *arguments) {
  double patience = 0.3, begin = seconds();
  outcome o = run_for(s, patience, arguments);
  double took = seconds() - begin - patience;
  print_message("%s: ended %.2f s after Ctrl-C\n", arguments, took);
  ends_with(o, 130);
  assert_true(took < 4);
  forget(o);
}

static void test_samples_and_bits(void **state) {
  scratch *s = *state;
  put_pendulum(s, sampled);
  static const char *const integrators[] = {"trapezoid", "rk4", "cvodes"};
  for (int i = 0; i < 3; i++) {
    char arguments[200];
    snprintf(arguments, sizeof arguments, "simulate machine.yaml --integrator %s", integrators[i]);
    put_pendulum(s, sampled);
    expect_message(s, arguments, 2,
                   "the block 'u' samples every 1e-09 s: 5e+09 samples in 5 s are too many; at most 1e+09 are allowed. "
                   "Use a longer 'sample' or a shorter run\n");
    put_pendulum(s, binary);
    expect_message(
        s, arguments, 2,
        "the input 'u' has a bit duration of 1e-09 s: 5e+09 bits in 5 s are too many; at most 1e+09 are allowed. "
        "Use a longer 'bit' or a shorter run\n");
    // Few enough to finish, but very many in every step: the run must react to signals within its steps.
    snprintf(arguments, sizeof arguments, "simulate machine.yaml --integrator %s --time 0.9 --step 0.1",
             integrators[i]);
    expect_listening(s, arguments);
    put_pendulum(s, sampled);
    expect_listening(s, arguments);
  }
  expect_message(s, "simulate machine.yaml --time 1e-3 --step 1e-15", 2,
                 "1e+12 steps of 1e-15 s are too many; expected at most 1e+09 steps. "
                 "Use a longer step or a shorter time\n");
}

// A frequency of 1e7 rad/s in a run of 5 s.
static void test_stiffness(void **state) {
  scratch *s = *state;
  put_pendulum(s, "inputs: {u: {unit: N, constant: 0}}\n");
  expect_message(s, "simulate machine.yaml --integrator cvodes --set spring.stiffness='1e15 N/m'", 1,
                 "Part of the machine is too fast: check for an implausible stiffness, mass or volume");
}

// Ctrl-C at various times of a run with a second run for its verdict: a run that ends with 0 has all rows and a verdict. No
// file is truncated.
static void test_judging(void **state) {
  scratch *s = *state;
  enum { MOMENTS = 6 };
  static const char arguments[] = "simulate " OD_SOURCE_DIR "/cases/excavator/machine.yaml --csv r.csv --json r.json";
  double begin = seconds();
  outcome o = run_for(s, 200, arguments);
  double takes = seconds() - begin;
  ends_with(o, 0);
  forget(o);
  char *rows = scratch_read(scratch_path(s, "r.csv"));
  for (int i = 1; i < MOMENTS; i++) {
    unlink(scratch_path(s, "r.csv"));
    o = run_for(s, takes * i / MOMENTS, arguments);
    char *csv = scratch_read(scratch_path(s, "r.csv"));
    if (o.code == 0)
      assert_true(csv && strcmp(csv, rows) == 0 && !strstr(o.out, "Error not known"));
    else
      ends_with(o, 130);
    if (csv) assert_int_equal(csv[strlen(csv) - 1], '\n');
    free(csv);
    forget(o);
  }
  free(rows);
}

// Millions of rows: every stage of a fit, an observer and a study takes seconds.
static void test_long_runs(void **state) {
  scratch *s = *state;
  static const char *const fits[] = {"integrator: trapezoid", "integrator: rk4", "integrator: exact",
                                     "integrator: trapezoid, starts: 100000",
                                     "integrator: trapezoid, substeps: 100000"};
  static const char lag[] =
      "machine: Lag\n"
      "inputs: {u: {unit: V, chirp: {amplitude: 1 V, from: 0.1 Hz, to: 2 Hz, duration: 5 s}}}\n"
      "blocks:\n"
      "  lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}\n"
      "  slow: {type: first-order, input: lag, gain: 2, time_constant: 5 s}\n"
      "run: {time: 5 s, step: 10 ms}\n"
      "variants: {wrong: {blocks: {lag: {gain: 1, time_constant: 1 s}}}}\n";
  static const char experiment[] =
      "machine: lag.yaml\nmodel: {variant: wrong}\ntime: 10 s\nstep: 1 us\nsensors: {slow: {sigma: 50 mV}}\n"
      "parameters:\n  lag.gain: {low: 0.1, high: 10, sigma: 1}\n"
      "  lag.time_constant: {low: 1 ms, high: 10 s, sigma: 0.2 s}\n";
  scratch_write(s, "lag.yaml", lag, strlen(lag));
  char text[2000];
  for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
    snprintf(text, sizeof text, "%sfit: {%s}\n", experiment, fits[i]);
    scratch_write(s, "fit.yaml", text, strlen(text));
    print_message("%s: ", fits[i]);
    expect_listening(s, "fit fit.yaml --set step='2 us'");
  }
  scratch_write(s, "experiment.yaml", experiment, strlen(experiment));
  expect_listening(s, "observe experiment.yaml");
  static const char *const study =
      "study: long runs\ncases:\n  a: {experiment: experiment.yaml, seeds: 4}\n  b: {experiment: fit.yaml, do: fit, seeds: 4}\n";
  scratch_write(s, "study.yaml", study, strlen(study));
  expect_listening(s, "study study.yaml");
  expect_listening(s, "study study.yaml --case b");
}

// Commands about linear models, frequency responses, sweeps and comparisons.
static void test_linear_and_frequency(void **state) {
  scratch *s = *state;
  static const char machine[] =
      "machine: Lag\n"
      "inputs: {u: {unit: V, sine: {amplitude: 1 V, frequency: 1 Hz}}}\n"
      "blocks:\n"
      "  lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}\n"
      "  slow: {type: first-order, input: lag, gain: 2, time_constant: 5 s}\n"
      "run: {time: 5 s, step: 10 ms, outputs: [lag, slow]}\n";
  static const char experiment[] =
      "machine: lag.yaml\ntime: 10 s\nstep: 1 us\nsensors: {slow: {sigma: 50 mV}}\n"
      "parameters: {lag.gain: {low: 0.1, high: 10, sigma: 1}}\n";
  scratch_write(s, "lag.yaml", machine, strlen(machine));
  scratch_write(s, "experiment.yaml", experiment, strlen(experiment));
  FILE *f = fopen(scratch_path(s, "log.csv"), "w");
  fprintf(f, "t,u,y\n");
  for (long k = 0; k < 3000000; k++) fprintf(f, "%ld,%d,%ld\n", k, (int)(k * k % 17), k % 5);
  fclose(f);
  static const char *const calls[] = {
      "compare experiment.yaml",
      "simulate lag.yaml --sweep lag.gain=1:2:4 --time 1e6",
      "simulate lag.yaml --sweep lag.gain=1:2:10000",
      "optimize lag.yaml --search lag.gain=1:5 --goal lag:max=3 --set 'run.time=1e6 s'",
      "equilibrium lag.yaml --at 1e6",
      "linearize lag.yaml --at 1e6",
      "linearize lag.yaml --at 1e6 --sweep lag.gain=1:2:4",
      "bode lag.yaml --at 1e6",
      "bode lag.yaml --points 1000000 --sweep lag.gain=1:2:100",
      "bode lag.yaml --points 1000000",
      "rga lag.yaml --output slow --points 1000000",
      "frf lag.yaml --output slow --points 100000000",
      "frf log.csv --input u",
      "tf log.csv --input u --output y --method bj --order 1:9",
      "tf lag.yaml --output slow --points 1000000 --order 1:9",
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) expect_listening(s, calls[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_samples_and_bits, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_stiffness, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_long_runs, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_linear_and_frequency, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_judging, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
