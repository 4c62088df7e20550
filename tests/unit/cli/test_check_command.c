// oleodyn check: the kind of a file follows from its parsed sections, and it is read once, with the loader of its command.
// Oracle: the messages of that command.
#include "support/test.h"

#include <stdbool.h>

#include "support/program.h"

static const char lag[] =
    "machine: Lag\n"
    "inputs: {u: {unit: V, chirp: {amplitude: 1 V, from: 0.1 Hz, to: 2 Hz, duration: 5 s}}}\n"
    "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}}\n"
    "run: {time: 2 s, step: 10 ms}\n";
static const char experiment[] = "machine: lag.yaml\nsensors: {lag: {sigma: 50 mV}}\n";

static int setup(void **state) {
  int code = scratch_setup(state);
  scratch_put(*state, "lag.yaml", lag);
  return code;
}

// Checks a file with this text, as a file and through a pipe.
static void expect(scratch *s, const char *text, int code, const char *said) {
  scratch_put(s, "it.yaml", text);
  for (int i = 0; i < 2; i++) {
    char way[2000], command[3000];
    snprintf(way, sizeof way, "%s '%s' check %s", i ? "rm -f pipe; mkfifo pipe; cat it.yaml >pipe &" : "", OD_BINARY,
             i ? "pipe" : "it.yaml");
    snprintf(command, sizeof command, "cd %s && timeout 20 sh -c \"%s\" >.out 2>&1", s->folder, way);
    int status = system(command);
    char *out = scratch_read(scratch_path(s, ".out"));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code) fail_msg("ended with %d: %s", status, out);
    says(out, said);
    free(out);
  }
}

// Every file that fit accepts passes check.
static void test_fits(void **state) {
  scratch *s = *state;
  static const char *const more[] = {
      "parameters: {lag.gain: {low: 0.1, high: 10}}\n",
      "parameters: {lag.gain: {low: 0.1, high: 10}}\nfit: {method: gauss-newton}\n",
      "parameters: {lag.gain: {start: 1.5}}\nprepare: {detrend: mean}\n",
      "parameters: {lag.gain: {start: 1.5}}\ncombinations: {twice: {sum: {lag.gain: 2}}}\n",
      "parameters: {lag.gain: {start: 1.5}}\nsets: {a: {time: 1 s}}\n",
      "\"parameters\": {lag.gain: {start: 1.5}}\n? sets\n: {a: {time: 1 s}}\n",
  };
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
    char text[1000];
    snprintf(text, sizeof text, "%s%s", experiment, more[i]);
    scratch_put(s, "it.yaml", text);
    expect_code(run(s, "fit it.yaml --quiet"), 0);
    expect(s, text, 0, ": ok: a fit of 1 parameter to 1 set of data");
  }
}

static void test_kinds(void **state) {
  scratch *s = *state;
  char text[1000];
  expect(s, lag, 0, ": ok: 1 block, linear");
  // Keys in quotes, and words that only look like sections.
  snprintf(text, sizeof text, "'machine': lag.yaml\n\"sensors\": {lag: {sigma: 50 mV}}\n");
  expect(s, text, 0, ": ok: an experiment with 1 sensor and 0 estimated parameters");
  snprintf(text, sizeof text, "{machine: lag.yaml, sensors: {lag: {sigma: 50 mV}}}\n");
  expect(s, text, 0, ": ok: an experiment with 1 sensor and 0 estimated parameters");
  snprintf(text, sizeof text, "machine: |\n  a title with\n  sensors: and\nsets: {a: {time: 1 s}}\n");
  expect(s, text, 2, "error: ");
  snprintf(text, sizeof text, "'study': some runs\n'cases': {a: {experiment: it.yaml}}\n");
  expect(s, text, 2, "error: ");
  // Mistakes of an experiment are reported as by observe.
  snprintf(text, sizeof text, "%sparameters: {lag.gian: {sigma: 1}}\n", experiment);
  expect(s, text, 2, "lag.gian");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_fits, setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_kinds, setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
