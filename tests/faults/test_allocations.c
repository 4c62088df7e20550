// Memory runs out at the n-th allocation, for n = 1, 2, 3, ... until the program succeeds: each time there is one message
// and an exit code other than zero, every output is the old one or complete, and nothing else is left behind. Whether the
// program, the C library or another library asks for the memory makes no difference.
//
// A sample of all n; with OD_TORTURE in the environment (`make torture`) every n. The oracle is the run that succeeds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "support/allocations.h"
#include "support/program.h"

enum { SAMPLES = 25 };
static const char old_text[] = "what was there before\n";
static const char *const outputs[] = {"o.csv", "o.json", "o.mat", "o.svg", "o.html"};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

static const char lag[] =
    "machine: Lag\n"
    "inputs: {u: {unit: V, chirp: {amplitude: 1 V, from: 0.1 Hz, to: 2 Hz, duration: 5 s}}}\n"
    "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}}\n"
    "run: {time: 0.4 s, step: 20 ms}\n"
    "variants: {wrong: {blocks: {lag: {gain: 1, time_constant: 1 s}}}}\n";
static const char estimated[] = "machine: lag.yaml\nmodel: {variant: wrong}\nsensors: {lag: {sigma: 50 mV}}\n";

static void put(scratch *s, const char *name, const char *text) {
  scratch_write(s, name, text, strlen(text));
}

static int setup(void **state) {
  int code = scratch_setup(state);
  scratch *s = *state;
  char text[600];
  put(s, "lag.yaml", lag);
  snprintf(text, sizeof text, "%sparameters: {lag.gain: {sigma: 1}}\n", estimated);
  put(s, "observe.yaml", text);
  snprintf(text, sizeof text, "%sparameters: {lag.gain: {low: 0.1, high: 10}}\ndata: {file: log.csv}\n", estimated);
  put(s, "fit.yaml", text);
  setenv("UDUNITS2_XML_PATH", OD_SOURCE_DIR "/tests/faults/units.xml", 1);
  setenv("OD_ALLOCATIONS", scratch_path(s, ".allocations"), 1);
  expect_code(run(s, "simulate lag.yaml --csv log.csv --quiet"), 0);
  setenv("LD_PRELOAD", OD_FAIL_ALLOCATION, 1);
  return code;
}

static int teardown(void **state) {
  unsetenv("LD_PRELOAD");
  unsetenv("OD_FAIL_ALLOCATION");
  return scratch_teardown(state);
}

// The program's run in which allocation n fails; 0: none.
static outcome run_failing(scratch *s, const char *arguments, long n) {
  char number[32];
  for (int i = 0; i < OUTPUTS; i++) put(s, outputs[i], old_text);
  snprintf(number, sizeof number, "%ld", n);
  setenv("OD_FAIL_ALLOCATION", number, 1);
  unlink(scratch_path(s, ".allocations"));
  return run(s, "%s", arguments);
}

// How often a run that ended by itself asked for memory; not always as often as the last one, since texts hold timings.
static long allocations_asked(scratch *s) {
  char *text = scratch_read(scratch_path(s, ".allocations"));
  long n = text ? atol(text) : 0;
  free(text);
  return n;
}

// How each format ends. Timings in the text differ from run to run, so that whole files cannot be compared.
static bool is_complete(const char *name, const char *text, size_t expected) {
  if (strstr(name, ".json")) return strlen(text) > 3 && !strcmp(text + strlen(text) - 2, "}\n");
  if (strstr(name, ".html")) return strlen(text) > 8 && !strcmp(text + strlen(text) - 8, "</html>\n");
  return strlen(text) == expected;
}

static void check_outputs(scratch *s, const char *arguments, long n, const size_t *length) {
  for (int i = 0; i < OUTPUTS; i++) {
    char *text = scratch_read(scratch_path(s, outputs[i]));
    if (!text) fail_msg("%s: allocation %ld fails and %s is gone", arguments, n, outputs[i]);
    if (strcmp(text, old_text) != 0 && !is_complete(outputs[i], text, length[i]))
      fail_msg("%s: allocation %ld fails and %s is half a file:\n%.2000s", arguments, n, outputs[i], text);
    free(text);
  }
}

// One line. A child that reads or checks a file for the program ends without a word; what that means the program says.
static void check_message(const char *said) {
  const char *end = strchr(said, '\n');
  bool in_child = strstr(said, "is not complete") || strstr(said, "cannot be read");
  if (!end || end[1] || (!in_child && strcmp(said, "oleodyn: error: memory ran out\n") != 0))
    fail_msg("not one message that memory ran out:\n%s", said);
}

static void fail_each(scratch *s, const char *arguments) {
  if (!COUNTING) skip();
  expect_code(run_failing(s, arguments, 0), 0);
  long count = allocations_asked(s), step = getenv("OD_TORTURE") ? 1 : count / SAMPLES, tried = 0;
  assert_true(count > 500);
  size_t length[OUTPUTS];
  for (int i = 0; i < OUTPUTS; i++) {
    char *text = scratch_read(scratch_path(s, outputs[i]));
    length[i] = strlen(text);
    free(text);
  }
  int files = scratch_count(s);
  for (long n = 1;; n += step, tried++) {
    outcome o = run_failing(s, arguments, n);
    bool failed = allocations_asked(s) == 0 || allocations_asked(s) >= n;
    if (!failed) {
      expect_code(o, 0);
      break;
    }
    if (o.code != 1) fail_msg("%s: exit code %d after allocation %ld failed\n%s", arguments, o.code, n, o.err);
    check_message(o.err);
    forget(o);
    check_outputs(s, arguments, n, length);
    assert_int_equal(scratch_count(s), files);
  }
  print_message("%s: %ld of %ld allocations failed, one at a time\n", arguments, tried, count);
}

static void test_check(void **state) {
  fail_each(*state, "check lag.yaml observe.yaml");
}

static void test_simulate(void **state) {
  fail_each(*state, "simulate lag.yaml --quiet --csv o.csv --json o.json --mat o.mat --plot o.svg");
}

static void test_observe(void **state) {
  fail_each(*state, "observe observe.yaml --quiet --csv o.csv --json o.json --mat o.mat --plot o.svg --report o.html");
}

static void test_fit(void **state) {
  fail_each(*state, "fit fit.yaml --quiet --csv o.csv --json o.json --report o.html");
}

// No allocator that fails on purpose: a run that wants more memory than there is.
static void test_limited_memory(void **state) {
  scratch *s = *state;
  if (!COUNTING) skip();
  unsetenv("LD_PRELOAD");
  put(s, "o.csv", old_text);
  char command[1200];
  snprintf(command, sizeof command,
           "cd %s && ulimit -v 300000 && '%s' simulate lag.yaml --quiet --time 100000 --csv o.csv 2>.err", s->folder,
           OD_BINARY);
  int status = system(command);
  char *said = scratch_read(scratch_path(s, ".err")), *kept = scratch_read(scratch_path(s, "o.csv"));
  assert_string_equal(said, "oleodyn: error: memory ran out\n");
  assert_int_equal(WEXITSTATUS(status), 1);
  assert_string_equal(kept, old_text);
  free(said);
  free(kept);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_check, setup, teardown),
      cmocka_unit_test_setup_teardown(test_simulate, setup, teardown),
      cmocka_unit_test_setup_teardown(test_observe, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fit, setup, teardown),
      cmocka_unit_test_setup_teardown(test_limited_memory, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
