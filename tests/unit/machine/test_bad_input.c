// Bad input: every file of tests/bad, and other files that are generated here. The loader reports mistakes, prints
// nothing itself, and does not crash for any input. Oracle: the exact messages.
#include "support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "support/machine_file.h"
#include "support/skipping.h"

enum { MOST_SETS = 8 };

// --- The table of expected messages -------------------------------------------------------------------------------

typedef struct block {
  char name[128];
  const char *set[MOST_SETS];
  int sets;
  const char *variant;
  char *messages;
} block;

static char *read_file(const char *path) {
  FILE *from = fopen(path, "rb");
  assert_non_null(from);
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  size_t length = fread(text, 1, (1 << 20) - 1, from);
  text[length] = '\0';
  fclose(from);
  return text;
}

static bool starts_with(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

// Loads a block's file and compares the messages. Returns whether they agree.
static bool check_block(const block *b) {
  od_load_options options = {.set = b->set, .set_count = b->sets, .variant = b->variant};
  od_messages *messages = od_messages_new();
  od_machine *machine = (od_machine *)&options;  // anything but NULL
  od_status status = od_machine_load(b->name, &options, &machine, messages);
  char *said = messages_text(messages);
  bool sound = (status == OD_BAD_INPUT || status == OD_IO) && machine == NULL && strcmp(said, b->messages) == 0;
  if (!sound) print_message("%s: status %d\nexpected:\n%ssaid:\n%s", b->name, (int)status, b->messages, said);
  free(said);
  od_messages_free(messages);
  return sound;
}

// Splits the table, in place, into blocks and calls the visitor for each. Returns the number of failures.
static int for_each_block(char *table, bool (*visit)(const block *b, void *arg), void *arg) {
  int unhappy = 0;
  char *line = table;
  while (*line != '\0') {
    char *end = strchr(line, '\n');
    assert_non_null(end);
    *end = '\0';
    bool begins = starts_with(line, "== ");
    char *name = line + 3;
    line = end + 1;
    if (!begins) continue;
    block b = {.sets = 0};
    snprintf(b.name, sizeof b.name, "%s", name);
    while (starts_with(line, "--set ") || starts_with(line, "--variant ")) {
      end = strchr(line, '\n');
      *end = '\0';
      assert_true(b.sets < MOST_SETS);
      if (starts_with(line, "--set "))
        b.set[b.sets++] = line + strlen("--set ");
      else
        b.variant = line + strlen("--variant ");
      line = end + 1;
    }
    // The messages extend to the next empty line or the end.
    char *stop = strstr(line, "\n\n");
    size_t length = stop != NULL ? (size_t)(stop + 1 - line) : strlen(line);
    b.messages = calloc(1, length + 1);
    assert_non_null(b.messages);
    memcpy(b.messages, line, length);
    line += length;
    if (!visit(&b, arg)) unhappy++;
    free(b.messages);
  }
  return unhappy;
}

static bool check_visit(const block *b, void *arg) {
  (*(int *)arg)++;
  return check_block(b);
}

// While f runs, everything written to stderr goes to a file; returns its size.
static long stderr_size(void (*f)(void *arg), void *arg) {
  FILE *file = tmpfile();
  assert_non_null(file);
  fflush(stderr);
  int kept = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  f(arg);
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  fclose(file);
  return size;
}

typedef struct outcome {
  int blocks, wrong;
} outcome;

static void check_table(void *arg) {
  outcome *o = arg;
  char *table = read_file("expected.txt");
  o->wrong = for_each_block(table, check_visit, &o->blocks);
  free(table);
}

static void test_expected_messages(void **state) {
  (void)state;
  outcome o = {0};
  assert_int_equal(stderr_size(check_table, &o), 0);
  assert_int_equal(o.wrong, 0);
  assert_true(o.blocks >= 130);
}

static bool is_not_named(const block *b, void *arg) {
  return strcmp(b->name, arg) != 0;
}

static void test_every_file_is_expected(void **state) {
  (void)state;
  DIR *folder = opendir(".");
  assert_non_null(folder);
  int missing = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 5, ".yaml") != 0) continue;
    char *table = read_file("expected.txt");
    if (for_each_block(table, is_not_named, entry->d_name) == 0) {
      print_message("%s is not in expected.txt\n", entry->d_name);
      missing++;
    }
    free(table);
  }
  closedir(folder);
  assert_int_equal(missing, 0);
}

// --- Files made here ----------------------------------------------------------------------------------------------

// Loads a file that must be rejected, with exactly these messages after the name of the file.
static void refuse(const char *path, od_status expected, const char *text) {
  od_messages *messages = od_messages_new();
  od_machine *machine;
  od_status status = od_machine_load(path, NULL, &machine, messages);
  char *said = messages_text(messages);
  assert_null(machine);
  assert_true(starts_with(said, path));
  assert_string_equal(said + strlen(path), text);
  assert_int_equal(status, expected);
  free(said);
  od_messages_free(messages);
}

static void test_folder(void **state) {
  const machine_file *file = *state;
  refuse(file->folder, OD_IO, ": error: found a folder, expected a file\n");
}

static void test_large_file(void **state) {
  const machine_file *file = *state;
  machine_file_write(file, "", 0);
  assert_int_equal(truncate(file->path, 100L << 20), 0);  // sparse: needs no disk space
  refuse(file->path, OD_BAD_INPUT, ": error: the file has 100 MB; at most 16 MB are allowed\n");
  assert_int_equal(truncate(file->path, (16L << 20) + 1), 0);
  refuse(file->path, OD_BAD_INPUT, ": error: the file has 17 MB; at most 16 MB are allowed\n");
  refuse("/dev/zero", OD_IO,
         ": error: the file cannot be read: found a device or a socket, expected a file or a pipe\n");
}

static void test_forbidden_file(void **state) {
  const machine_file *file = *state;
  machine_file_write(file, "bodies:\n", 8);
  chmod(file->path, 0);
  bool root = geteuid() == 0;  // root can read every file
  if (root && seteuid(65534) != 0) skip_test("not possible: root cannot become another user");
  refuse(file->path, OD_IO, ": error: the file cannot be read: Permission denied\n");
  if (root) assert_int_equal(seteuid(0), 0);
  chmod(file->path, 0600);
}

static void test_zero_bytes(void **state) {
  const machine_file *file = *state;
  static const char text[] = "bodies:\n  cr\0nk: 3\n";
  machine_file_write(file, text, sizeof text - 1);
  refuse(file->path, OD_BAD_INPUT, ":2:5: error: found byte 0x00, expected text in UTF-8\n");
  static const char escaped[] = "machine: \"a\\0b\"\nbodies:\n";
  machine_file_write(file, escaped, sizeof escaped - 1);
  refuse(file->path, OD_BAD_INPUT, ":1:10: error: found a zero character, expected text\n");
}

static void test_deep_nesting(void **state) {
  const machine_file *file = *state;
  static const char *const levels[] = {"[", "{a: ", "- ", "? ", "- ? ", "[{a: "};
  enum { DEPTH = 100000 };
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
    size_t length = strlen(levels[i]);
    char *text = malloc(length * DEPTH);
    assert_non_null(text);
    for (size_t j = 0; j < DEPTH; j++) memcpy(text + j * length, levels[i], length);
    machine_file_write(file, text, length * DEPTH);
    free(text);
    od_messages *messages = od_messages_new();
    od_machine *machine;
    assert_int_equal(od_machine_load(file->path, NULL, &machine, messages), OD_BAD_INPUT);
    assert_int_equal(od_messages_count(messages), 1);
    const char *said = od_messages_get(messages, 0)->text;
    bool expected = strcmp(said, "the value is nested deeper than 64 levels; use fewer levels") == 0 ||
                    strcmp(said, "found a list or a map, expected a key") == 0;
    if (!expected) fail_msg("%s: %s", levels[i], said);
    od_messages_free(messages);
  }
}

// Each level repeats the one before it ten times: copies would fill any memory.
static void test_exploding_aliases(void **state) {
  const machine_file *file = *state;
  char text[4096] =
      "machine: x\nground: {points: &a0 {p: [0, 0]}}\nbodies:\n  a: {beam: {mass: 1, length: 1}}\nx0: &x0 [1]\n";
  for (int i = 1; i < 20; i++) {
    char line[160];
    snprintf(line, sizeof line, "x%d: &x%d [*x%d, *x%d, *x%d, *x%d, *x%d, *x%d, *x%d, *x%d]\n", i, i, i - 1, i - 1,
             i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    strcat(text, line);
  }
  machine_file_write(file, text, strlen(text));
  od_machine *machine;
  assert_int_equal(od_machine_load(file->path, NULL, &machine, NULL), OD_BAD_INPUT);
}

// Loads with the variant "v", which must be rejected with this one message.
static void refuse_variant(const machine_file *file, const char *text, const char *expected) {
  machine_file_write(file, text, strlen(text));
  od_messages *messages = od_messages_new();
  od_machine *machine;
  const od_load_options options = {.variant = "v"};
  assert_int_equal(od_machine_load(file->path, &options, &machine, messages), OD_BAD_INPUT);
  bool found = false;
  for (int i = 0; i < od_messages_count(messages); i++)
    found = found || strcmp(od_messages_get(messages, i)->text, expected) == 0;
  if (!found) {
    char *said = messages_text(messages);
    fail_msg("%s", said);
  }
  od_messages_free(messages);
}

// Merging would visit shared parts of aliases repeatedly, and deeper than the file.
static void test_exploding_variants(void **state) {
  static const char *const branches[] = {"{l: *%c%d, r: *%c%d}", "{l: *%c%d}"};
  static const char *const expected[] = {
      "at '*a15', the aliases repeat more than 1 million values, or are nested deeper than 64 levels; use fewer aliases",
      "at '*a63', the aliases repeat more than 1 million values, or are nested deeper than 64 levels; use fewer aliases"};
  for (int shape = 0; shape < 2; shape++) {
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    assert_non_null(to);
    fprintf(to, "x: [&a0 {p: 1}, &b0 {q: 1}]\n");
    for (int i = 1; i < (shape == 0 ? 60 : 100); i++) {
      fprintf(to, "x%d: [", i);
      for (char side = 'a'; side <= 'b'; side++) {
        fprintf(to, "&%c%d ", side, i);
        fprintf(to, branches[shape], side, i - 1, side, i - 1);
        fprintf(to, side == 'a' ? ", " : "]\n");
      }
    }
    int last = shape == 0 ? 59 : 99;
    fprintf(to, "bodies: *a%d\nvariants: {v: {bodies: *b%d}}\n", last, last);
    fclose(to);
    refuse_variant(*state, text, expected[shape]);
    free(text);
  }
}

// A million mistakes give a limited number of messages in limited time. A warning on the last line has no effect.
static void test_many_mistakes(void **state) {
  const machine_file *file = *state;
  enum { LINES = 200000 };
  char *text = calloc(1, LINES * 20 + 100);
  assert_non_null(text);
  size_t length = (size_t)sprintf(text, "bodies:\n");
  for (int i = 0; i < LINES; i++) length += (size_t)sprintf(text + length, "  b%d: {}\n", i);
  for (int warned = 0; warned < 2; warned++) {
    if (warned) length += (size_t)sprintf(text + length, "gravity: [0, -98.1]\n");
    machine_file_write(file, text, length);
    od_messages *messages = od_messages_new();
    od_machine *machine;
    assert_int_equal(od_machine_load(file->path, NULL, &machine, messages), OD_BAD_INPUT);
    assert_int_equal(od_messages_count(messages), 1000 + warned);
    if (warned) assert_true(od_messages_get(messages, 999)->is_warning);
    assert_string_equal(od_messages_get(messages, 999 + warned)->text, "199001 more errors are not shown");
    od_messages_free(messages);
  }
  free(text);
}

// --- Damaged files ------------------------------------------------------------------------------------------------

static const char good[] =
    "machine: x\n"
    "gravity: [0, -9.81 m/s^2]\n"
    "bodies:\n"
    "  a: {beam: {mass: 2 kg, length: 35 cm}}\n"
    "  b: {mass: 1, inertia: [1, 1, 1], points: {p: [1, 0]}}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a.start], damping: 1}\n"
    "  B: {type: prismatic, between: [a.end, b], axis: [1, 0]}\n"
    "springs: {s: {between: [ground, b.p], stiffness: 1 kN/m}}\n"
    "inputs: {u: {unit: N, sum: [3 N, {steps: {at: [[0, 1]]}}]}}\n"
    "forces: {f: {at: b, value: 0.5 u, direction: [1, 0]}}\n"
    "initial: {A.angle: 3 deg, B.position: about 1}\n"
    "run: {time: 1 s, outputs: [A.angle]}\n";

static const char good_circuit[] =
    "bodies: {a: {beam: {mass: 9, length: 1}}}\n"
    "joints: {J: {type: revolute, between: [ground, a.start],\n"
    "  friction: {law: coulomb, Fc: 1 N m, vs: 1 rad/s}}}\n"
    "ground: {points: {f: [0, -1]}}\n"
    "oil: {density: 870, law: air, modulus: 1 GPa, air: 1 %, at: 1 bar, exponent: 1.4}\n"
    "inputs: {u: {unit: V, constant: 1 V}}\n"
    "volumes: {P: {volume: 1 L}, A: {volume: 1 L}}\n"
    "tanks: {T: {pressure: 1 bar}}\n"
    "sources: {S: {pressure: 9 MPa}}\n"
    "pumps: {p: {to: P, flow: 1 L/min}}\n"
    "orifices: {o: {between: [P, S], area: 1e-6, discharge: 0.6, opening: 2 u}}\n"
    "reliefs: {r: {between: [P, T], set: 2 bar, slope: 1e-9}}\n"
    "checks: {c: {between: [P, A], area: 1e-6, discharge: 0.6, full: 2 bar}}\n"
    "valves: {v: {command: u, stroke: 9 V, area: 1e-6, discharge: 0.6, ports: {\n"
    "  a: {between: [P, A], side: positive, curve: {degree: 2, points: [0, 1, 2], at: [0, 2, 9 V]}},\n"
    "  b: {between: [A, T], side: negative, overlap: 1 V, curve: {table: [[0, 0], [9 V, 1]]}}}}}\n"
    "cylinders: {z: {between: [ground.f, a.end], chambers: [A, T], bore: 50 mm, rod: 30 mm,\n"
    "  closed: 1, stroke: 1, friction: {law: brown-mcphee, Fc: 1, Fs: 2, vs: 1 mm/s}}}\n"
    "initial: {z.length: 1.4, J.angle: about 0, P.pressure: 2 bar, A.pressure: balance from 2 bar}\n"
    "variants: {w: {volumes: {P: {volume: 2 L}}}, x: }\n";

static const char good_blocks[] =
    "bodies: {a: {beam: {mass: 9, length: 1}}}\n"
    "joints: {J: {type: revolute, between: [ground, a.start]}}\n"
    "inputs: {u: {unit: V, constant: 1 V}}\n"
    "blocks:\n"
    "  e: {type: sum, inputs: [u, k], weights: [1, -1]}\n"
    "  k: {type: gain, input: J.angle, gain: 3 V/rad}\n"
    "  c: {type: pid, input: e, unit: N m, kp: 2 N m/V, ki: 1 N m/(V s), kd: 0.1 N m s/V, filter: 1 ms, limits: [-9, 9],\n"
    "      sample: 1 ms}\n"
    "  d: {type: delay, input: c, time: 3 ms, sample: 1 ms}\n"
    "  f: {type: delay, input: d, time: 3 ms, pade: 2}\n"
    "  t: {type: transfer-function, input: f, numerator: [1 s, 2], denominator: [1 s2, 2 s, 3]}\n"
    "  n: {type: notch, input: t, time_constant: 2 ms, damping: [0.1, 0.9]}\n"
    "  s: {type: saturation, input: n, limits: [-5 N m, 5 N m]}\n"
    "  m: {type: mass, pressure: p, mass: 1, area: 1 cm^2}\n"
    "  p: {type: product, inputs: [e, e], unit: Pa, gain: 2 Pa/V2}\n"
    "torques: {M: {joint: J, value: 2 s}}\n"
    "initial: {J.angle: 0, t.state1: balance, t.state2: balance, m.velocity: 1 mm/s}\n"
    "variants: {w: {blocks: {c: {kp: 3 N m/V}}}}\n";

// For any damage: a machine, perhaps with a warning that the file is incomplete, or errors without a machine.
static void load_damaged(const machine_file *file, const char *text, size_t length) {
  machine_file_write(file, text, length);
  od_messages *messages = od_messages_new();
  od_machine *machine;
  const od_load_options options = {.variant = strstr(text, "variants:") != NULL ? "w" : NULL};
  od_status status = od_machine_load(file->path, &options, &machine, messages);
  bool loaded = status == OD_OK && machine != NULL && od_messages_errors(messages) == 0;
  bool refused = status == OD_BAD_INPUT && machine == NULL && od_messages_errors(messages) > 0;
  if (!loaded && !refused)
    fail_msg("status %d, %d messages:\n%.*s", (int)status, od_messages_count(messages), (int)length, text);
  for (int i = 0; i < od_messages_count(messages); i++) {
    const od_message *m = od_messages_get(messages, i);
    assert_true(m->text[0] != '\0' && strpbrk(m->text, "\r\n\t\033") == NULL);
    assert_true(refused || strstr(m->text, "check whether the file is complete") != NULL);
  }
  od_machine_free(machine);
  od_messages_free(messages);
}

static void load_all_truncated(void *arg) {
  for (size_t length = 0; length < sizeof good; length++) load_damaged(arg, good, length);
  for (size_t length = 0; length < sizeof good_circuit; length += 3) load_damaged(arg, good_circuit, length);
  for (size_t length = 0; length < sizeof good_blocks; length += 3) load_damaged(arg, good_blocks, length);
}

static void test_truncated_at_every_byte(void **state) {
  od_machine_free(machine_from(*state, good, NULL, NULL));
  od_machine_free(machine_from(*state, good_circuit, NULL, NULL));
  od_machine_free(machine_from(*state, good_blocks, NULL, NULL));
  assert_int_equal(stderr_size(load_all_truncated, *state), 0);
}

// Special characters of YAML or of the loader, at pseudo-random places.
static void load_mutated(void *arg, const char *sound, size_t size, int runs) {
  static const char interesting[] = "{}[]:,-?&*!|>'\"%@` \n\t#.0123eabz\x80\xff\x01";
  uint32_t random = 12345;
  char text[sizeof good_circuit + sizeof good + sizeof good_blocks];
  for (int run = 0; run < runs; run++) {
    memcpy(text, sound, size);
    for (int i = 0; i < 1 + run % 4; i++) {
      random = random * 1664525u + 1013904223u;
      size_t place = (random >> 8) % (size - 1);
      random = random * 1664525u + 1013904223u;
      text[place] = interesting[(random >> 8) % (sizeof interesting - 1)];
    }
    load_damaged(arg, text, size - 1);
  }
}

static void load_all_mutated(void *arg) {
  load_mutated(arg, good, sizeof good, 400);
  load_mutated(arg, good_circuit, sizeof good_circuit, 800);
  load_mutated(arg, good_blocks, sizeof good_blocks, 800);
}

static void test_mutated(void **state) {
  assert_int_equal(stderr_size(load_all_mutated, *state), 0);
}

static void test_colour(void **state) {
  (void)state;
  od_messages *messages = od_messages_new();
  od_machine *machine;
  od_machine_load("nowhere.yaml", NULL, &machine, messages);
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  od_messages_print(messages, to, true);
  fclose(to);
  assert_string_equal(text,
                      "nowhere.yaml: \033[1;31merror:\033[0m the file cannot be read: No such file or directory\n");
  free(text);
  od_messages_free(messages);
}

int main(void) {
  if (chdir(OD_SOURCE_DIR "/tests/bad") != 0) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expected_messages),
      cmocka_unit_test(test_every_file_is_expected),
      cmocka_unit_test(test_folder),
      cmocka_unit_test(test_large_file),
      cmocka_unit_test(test_forbidden_file),
      cmocka_unit_test(test_zero_bytes),
      cmocka_unit_test(test_deep_nesting),
      cmocka_unit_test(test_exploding_aliases),
      cmocka_unit_test(test_exploding_variants),
      cmocka_unit_test(test_many_mistakes),
      cmocka_unit_test(test_truncated_at_every_byte),
      cmocka_unit_test(test_mutated),
      cmocka_unit_test(test_colour),
  };
  return cmocka_run_group_tests(tests, machine_file_start, machine_file_end);
}
