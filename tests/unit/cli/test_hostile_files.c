// Small files that would need unlimited memory or time, and values of a wrong kind: each is rejected immediately, with a place and a
// reason. The oracles are the clock, the memory of the process and the texts.
#include "support/test.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "support/program.h"

static const char rail[] =
    "machine: A mass on a rail\n"
    "bodies: {cart: {beam: {mass: 2 kg, length: 1 m}}}\n"
    "joints: {rail: {type: prismatic, between: [ground, cart.start], axis: [1, 0]}}\n"
    "inputs: {u: {unit: N, constant: 1}}\n"
    "forces: {push: {at: cart.start, direction: [1, 0], value: u}}\n"
    "initial: {rail.position: 0 m}\n"
    "run: {time: 1 s, step: 10 ms}\n";
static const char lag[] =
    "machine: Lag\n"
    "blocks: {l: {type: first-order, input: u, time_constant: 1 s}}\n"
    "run: {time: 1 s, step: 10 ms}\n";

// A text that grows.
typedef struct writer {
  char *text;
  size_t length;
  FILE *to;
} writer;

static FILE *begin(writer *w) {
  *w = (writer){0};
  w->to = open_memstream(&w->text, &w->length);
  fputs(lag, w->to);
  return w->to;
}

static void repeat(FILE *to, const char *text, int times) {
  for (int i = 0; i < times; i++) fputs(text, to);
}

// Runs "oleodyn ARGUMENTS" with a prefix, for at most a minute and with at most a gigabyte.
static void refuse(scratch *s, const char *before, const char *arguments, const char *said) {
  char command[600];
  snprintf(command, sizeof command, "cd %s && %s timeout -s KILL 60 '%s' %s >.out 2>.err", s->folder, before, OD_BINARY,
           arguments);
  int status = system(command);
  outcome o = {WIFEXITED(status) ? WEXITSTATUS(status) : -1, NULL, NULL};
  o.out = scratch_read(scratch_path(s, ".out"));
  o.err = scratch_read(scratch_path(s, ".err"));
  ends_and_says(o, 2, said);
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  assert_true(used.ru_maxrss < 1 << 20);  // KB
}

static void check(scratch *s, const char *text, size_t length, const char *said) {
  scratch_write(s, "x.yaml", text, length);
  refuse(s, "", "check x.yaml", said);
}

static void check_written(scratch *s, writer *w, const char *said) {
  fclose(w->to);
  check(s, w->text, w->length, said);
  free(w->text);
}

static void test_lists_for_maps(void **state) {
  scratch *s = *state;
  scratch_put(s, "rail.yaml", rail);
  static const char *const experiment = "experiment: x\nmachine: rail.yaml\nsensors: {rail.position: {sigma: 1 mm}}\n";
  static const struct {
    const char *text, *said;
  } tries[] = {{"fit: [1]\n", "x.yaml:4:6: error: found a list, expected a map for fit"},
               {"initial: [1]\n", "x.yaml:4:10: error: found a list, expected a map of outputs"},
               {"truth: [1]\n", "x.yaml:4:8: error: found a list, expected a map for the true machine"},
               {"truth: [1, 2, 3]\n", "x.yaml:4:8: error: found a list, expected a map for the true machine"},
               {"fit: [method, gauss, 3]\n", "x.yaml:4:6: error: found a list, expected a map for fit"}};
  char text[400];
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    snprintf(text, sizeof text, "%s%s", experiment, tries[i].text);
    check(s, text, strlen(text), tries[i].said);
  }
  static const char friction[] = "friction: a bench\nlaws:\n  a: [x]\n  b: [law, reduced, Fs]\n";
  check(s, friction, strlen(friction),
        "x.yaml:3:6: error: found a list, expected a map for 'a' with 'law' and its numbers");
  check(s, friction, strlen(friction),
        "x.yaml:4:6: error: found a list, expected a map for 'b' with 'law' and its numbers");
}

static void test_texts(void **state) {
  scratch *s = *state;
  writer w;
  FILE *to = begin(&w);
  fputs("inputs: {u: 0}\ntemplates:\n  t:\n    parameters:\n      p0: xxxxxxxxxxxxxxxx\n", to);
  for (int i = 1; i < 40; i++) fprintf(to, "      p%d: \"${p%d}${p%d}\"\n", i, i - 1, i - 1);
  fputs("    inputs: {v: {constant: $p39}}\ninstances: {r: {template: t}}\n", to);
  check_written(
      s, &w,
      "x.yaml:19:12: error: '${p10}${p10}' becomes longer than 16384 bytes with the parameters of template 't'; use shorter texts");

  static const char *const before[] = {"constants: {a: '", "inputs: {u: 0}\nconstants: {a: '1 ", "inputs: {u: '1 + "};
  for (int i = 0; i < 3; i++) {
    to = begin(&w);
    fputs(before[i], to);
    repeat(to, "(", 1 << 20);
    repeat(to, ")", 1 << 20);
    fputs("'}\n", to);
    check_written(s, &w, "; a value has at most 16384");
    to = begin(&w);
    fputs(before[i], to);
    repeat(to, "(", 8000);
    fputs("'}\n", to);
    check_written(s, &w, "x.yaml:");
  }
  to = begin(&w);
  fputs("inputs: ", to);
  repeat(to, "[", 1 << 20);
  check_written(s, &w, "is nested deeper than 64 levels");
}

static void test_repetitions(void **state) {
  scratch *s = *state;
  writer w;
  FILE *to = begin(&w);
  fputs("inputs: {u: {sequence: [&a {steady_steps: {from: 0, to: 1, count: 10000, duration: 1 s}}", to);
  repeat(to, ", *a", 40000);
  fputs("]}}\n", to);
  check_written(s, &w, "segments in total; at most 100000 are allowed");

  to = begin(&w);
  fputs("inputs:\n  u: &s {sequence: [&a {hold: {duration: 1 s}}", to);
  repeat(to, ", *a", 9999);
  fputs("]}\n", to);
  for (int i = 0; i < 1000; i++) fprintf(to, "  u%d: *s\n", i);
  check_written(s, &w, "the aliases repeat more than 1 million values");

  to = begin(&w);
  fputs("inputs:\n  u0: &s0 [1]\n", to);
  for (int i = 1; i < 100000; i++) fprintf(to, "  u%d: &s%d [*s%d]\n", i, i, i - 1);
  check_written(s, &w, "or are nested deeper than 64 levels");

  to = begin(&w);
  fputs("inputs: {u: 0}\ntemplates:\n  t:\n    parameters: {p: [0]}\n    inputs:\n", to);
  for (int i = 0; i < 2000; i++) fprintf(to, "      u%d: {sequence: $p}\n", i);
  fputs("instances:\n  i: {template: t, p: [&a {hold: {duration: 1 s}}", to);
  repeat(to, ", *a", 5000);
  fputs("]}\n", to);
  check_written(s, &w, "the templates expand to more than 500000 keys and values");

  to = begin(&w);
  fputs("inputs: {u: 0}\n", to);
  for (int i = 0; i < 200000; i++) fprintf(to, "unknown%d: 1\n", i);
  check_written(s, &w, "a machine file has more than 100 unknown keys; check the kind of the section");

  to = begin(&w);
  fputs("inputs: {u: 0}\ntemplates:\n  t:\n    parameters:\n", to);
  for (int i = 0; i < 5000; i++) fprintf(to, "      p%d: 1\n", i);
  fputs("instances:\n  i:\n    template: t\n", to);
  for (int i = 0; i < 1000; i++) fprintf(to, "    another%d: 1\n", i);
  check_written(s, &w, "the template 't' has no parameter 'another0'");
}

// All places where files are read. Pipes end by a timeout, so fewer of them are tried.
static void test_endless_files(void **state) {
  scratch *s = *state;
  static const char *const devices[] = {"/dev/zero", "pipe"};
  static const char *const reasons[] = {"found a device or a socket, expected a file or a pipe",
                                        "no program writes to this pipe"};
  assert_int_equal(mkfifo(scratch_path(s, "pipe"), 0600), 0);
  scratch_put(s, "rail.yaml", rail);
  char text[600];
  for (int i = 0; i < 2; i++) {
    ends_and_says(run(s, "check %s", devices[i]), 2, reasons[i]);
    snprintf(text, sizeof text, "%sinclude: %s\ninputs: {u: 0}\n", lag, devices[i]);
    check(s, text, strlen(text), reasons[i]);
    snprintf(text, sizeof text, "%sinputs: {u: {file: {path: %s, column: a}}}\n", lag, devices[i]);
    check(s, text, strlen(text), reasons[i]);
    snprintf(text, sizeof text,
             "experiment: x\nmachine: rail.yaml\ndata: {file: %s}\nsensors: {rail.position: {sigma: 1 mm}}\n",
             devices[i]);
    check(s, text, strlen(text), reasons[i]);
    ends_and_says(run(s, "frf %s --interval '1 ms' --input a --output b", devices[i]), 2, reasons[i]);
  }
}

// An endless line on standard input: as a header, and as a row.
static void test_endless_lines(void **state) {
  scratch *s = *state;
  scratch_put(s, "rail.yaml", rail);
  scratch_put(s, "x.yaml",
              "experiment: x\nmachine: rail.yaml\nstep: 10 ms\nsensors: {rail.position: {sigma: 1 mm}}\n"
              "initial: {rail.position: 1 mm, rail.rate: 1 mm/s}\n");
  refuse(s, "", "observe x.yaml --live </dev/zero",
         "standard input:1:1: this line is longer than 16 MB; expected a shorter line with one sample");
  refuse(s, "(printf 't,u,rail.position\\n0,0,0\\n'; cat /dev/zero) |", "observe x.yaml --live",
         "standard input:3:1: this line is longer than 16 MB; expected a shorter line with one sample");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_lists_for_maps), TEST(test_texts), TEST(test_repetitions),
                                     TEST(test_endless_files), TEST(test_endless_lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
