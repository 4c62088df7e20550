// Specs of blocks: which are refused with which message, and the counts, names and properties that follow from a spec. Oracle:
// docs/machine-files.md, by hand: the numbers, inputs, states and outputs of each type with these choices, and the limits of the keys.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "blocks/block_classes.h"
#include "blocks/block_description.h"

typedef struct choice {
  const char *key;
  int value;
} choice;
typedef struct row {
  const char *type;
  double sample;
  int list;  // number of inputs of a block with a list of inputs
  choice choices[3];
  od_block_counts counts;
  const char *outputs, *states;  // separated by spaces; "-": the name of the block, or no name
  const char *properties;        // P: passes an input on within steps, S: only at a sample; L: linear; M: with modes
} row;

// Counts: numbers, inputs, states, outputs, jumps.
#define COUNTS(n, i, s, o, j) \
  { .numbers = n, .inputs = i, .states = s, .outputs = o, .jumps = j }
static const row rows[] = {
    {"gain", 0, 0, {{0}}, COUNTS(1, 1, 0, 1, 0), "-", "", "PL"},
    {"gain", 0.1, 0, {{0}}, COUNTS(1, 1, 1, 1, 0), "-", "held", "S"},
    {"sum", 0, 3, {{0}}, COUNTS(3, 3, 0, 1, 0), "-", "", "PL"},
    {"sum", 0, 32, {{0}}, COUNTS(32, 32, 0, 1, 0), "-", "", "PL"},
    {"product", 0, 2, {{0}}, COUNTS(1, 2, 0, 1, 0), "-", "", "P"},
    {"sign", 0, 0, {{0}}, COUNTS(1, 1, 0, 1, 1), "-", "", "P"},
    {"quantiser", 0.1, 0, {{0}}, COUNTS(1, 1, 1, 1, 0), "-", "held", "S"},
    {"first-order", 0, 0, {{0}}, COUNTS(2, 1, 1, 1, 0), "-", "state", "L"},
    {"second-order", 0, 0, {{0}}, COUNTS(3, 1, 2, 2, 0), "- rate", "state1 state2", "L"},
    {"notch", 0, 0, {{0}}, COUNTS(4, 1, 2, 1, 0), "-", "state1 state2", "PL"},
    {"transfer-function",
     0,
     0,
     {{"numerator", 1}, {"denominator", 3}},
     COUNTS(6, 1, 3, 1, 0),
     "-",
     "state1 state2 state3",
     "L"},
    {"transfer-function",
     0.1,
     0,
     {{"numerator", 1}, {"denominator", 1}},
     COUNTS(4, 1, 2, 1, 0),
     "-",
     "state held",
     "S"},
    {"delay", 0, 0, {{"pade", 2}}, COUNTS(1, 1, 2, 1, 0), "-", "state1 state2", "PL"},
    {"delay", 0.1, 0, {{"time", 7}}, COUNTS(0, 1, 1, 1, 0), "-", "held", ""},
    {"integrator", 0, 0, {{0}}, COUNTS(1, 1, 1, 1, 0), "-", "integral", "L"},
    {"integrator", 0, 0, {{"limits", 1}}, COUNTS(4, 1, 1, 1, 0), "-", "integral", ""},
    {"saturation", 0, 0, {{0}}, COUNTS(2, 1, 0, 1, 0), "-", "", "P"},
    {"pid", 0, 0, {{0}}, COUNTS(4, 1, 1, 1, 0), "-", "integral", "PL"},
    {"pid", 0, 0, {{"kd", 1}}, COUNTS(4, 1, 2, 1, 0), "-", "integral filter", "PL"},
    {"pid",
     0.1,
     0,
     {{"kd", 1}, {"limits", 1}, {"tracking", 1}},
     COUNTS(7, 1, 3, 1, 0),
     "-",
     "integral filter held",
     "S"},
    {"mass", 0, 0, {{0}}, COUNTS(4, 2, 2, 2, 0), "position velocity", "- -", "L"},
    {"load-chamber", 0, 0, {{0}}, COUNTS(4, 2, 1, 1, 0), "pressure", "-", "L"},
    {"lugre-friction", 0, 0, {{0}}, COUNTS(12, 2, 1, 1, 0), "-", "bristle", "P"},
    {"lugre-friction", 0, 0, {{"Fs_negative", 1}}, COUNTS(16, 2, 1, 1, 0), "-", "bristle", "P"},
    {"new-modified-lugre-friction", 0, 0, {{0}}, COUNTS(18, 2, 3, 1, 0), "-", "bristle film felt", "P"},
    {"table", 0, 0, {{"at", 5}}, COUNTS(10, 1, 0, 1, 0), "-", "", "P"},
    {"pressure-map", 0, 0, {{"at_a", 3}, {"at_b", 4}}, COUNTS(19, 2, 0, 1, 0), "-", "", "P"},
    {"table-2d", 0, 0, {{"at_row", 2}, {"at_column", 5}}, COUNTS(17, 2, 0, 1, 0), "-", "", "P"},
    {"pressure-factor", 0, 0, {{"limits", 1}}, COUNTS(7, 2, 0, 1, 0), "-", "", "P"},
    {"formula", 0, 2, {{"parameters", 3}}, COUNTS(3, 2, 0, 1, 0), "-", "", "P"},
    {"relay", 0, 0, {{0}}, COUNTS(4, 1, 1, 1, 0), "-", "mode", "M"},
    {"sample-hold", 0, 0, {{0}}, COUNTS(2, 2, 2, 1, 0), "-", "value mode", "M"},
    {"state-machine", 0, 2, {{"states", 3}, {"parameters", 2}}, COUNTS(5, 2, 2, 1, 0), "-", "mode time", "M"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static od_block_spec spec_of(const row *r) {
  od_block_spec s = od_block_spec_of(r->type);
  s.sample = r->sample, s.inputs = r->list;
  for (int i = 0; i < 3 && r->choices[i].key; i++)
    assert_true(od_block_choose(&s, r->choices[i].key, r->choices[i].value));
  return s;
}

static void check_names(const row *r, const char *names, int count, const char *(*name)(const od_block_spec *, int)) {
  const od_block_spec s = spec_of(r);
  for (int i = 0; i < count; i++) {
    const char *got = name(&s, i);
    size_t length = strcspn(names, " ");
    if (!got || !*got) got = "-";
    if (strlen(got) != length || strncmp(got, names, length) != 0)
      fail_msg("%s: '%s' instead of '%s'", r->type, got, names);
    names += length + (names[length] == ' ');
  }
  if (*names) fail_msg("%s: '%s' is missing", r->type, names);
}

static void counts_and_names(void **state) {
  (void)state;
  for (int i = 0; i < ROWS; i++) {
    const row *r = &rows[i];
    const od_block_spec s = spec_of(r);
    const char *problem = od_block_spec_problem(&s);
    if (problem) fail_msg("%s %s", r->type, problem);
    const od_block_counts c = od_block_count(&s), want = r->counts;
    if (c.numbers != want.numbers || c.inputs != want.inputs || c.states != want.states || c.outputs != want.outputs ||
        c.jumps != want.jumps)
      fail_msg("row %d, %s: %d numbers, %d inputs, %d states, %d outputs, %d jumps", i, r->type, c.numbers, c.inputs,
               c.states, c.outputs, c.jumps);
    const char *p = r->properties;
    const bool passes = strchr(p, 'P') != NULL;
    assert_true(od_block_passes_on(&s, false) == passes);
    assert_true(od_block_passes_on(&s, true) == (passes || strchr(p, 'S') != NULL));
    assert_true(od_block_is_linear(&s) == (strchr(p, 'L') != NULL));
    assert_true(od_block_has_modes(&s) == (strchr(p, 'M') != NULL));
    check_names(r, r->outputs, c.outputs, od_block_output_name);
    check_names(r, r->states, c.states, od_block_state_name);
  }
}

static void expect(const od_block_spec *s, const char *type, const char *says) {
  const char *problem = od_block_spec_problem(s);
  if ((problem == NULL) != (says == NULL) || (says && !strstr(problem, says)))
    fail_msg("%s: '%s' instead of '%s'", type, problem ? problem : "", says ? says : "");
}

// Each choice of each row from -1 to beyond its limit; the other choices are valid.
static void limits_of_choices(void **state) {
  (void)state;
  static const struct {
    const char *type, *key;
    int least, most;
    const char *below, *above;
  } limits[] = {
      {"table", "at", 2, 40, "fewer than 2 entries", "above the limit"},
      {"pressure-map", "at_a", 2, 8, "fewer than 2 entries", "above the limit"},
      {"pressure-map", "at_b", 2, 8, "fewer than 2 entries", "above the limit"},
      {"table-2d", "at_row", 2, 16, "fewer than 2 entries", "above the limit"},
      {"table-2d", "at_column", 2, 16, "fewer than 2 entries", "above the limit"},
      {"formula", "parameters", 0, 24, "a choice below 0", "above the limit"},
      {"state-machine", "states", 0, 16, "a choice below 0", "above the limit"},
      {"transfer-function", "denominator", 1, 16, "is not proper", "a degree above 16"},
      {"transfer-function", "numerator", 0, 1, "a choice below 0", "is not proper"},
      {"second-order", "time_constant", 0, 1000, "a choice below 0", NULL},
  };
  int tried = 0;
  for (int i = 0; i < ROWS; i++)
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
      od_block_spec s = spec_of(&rows[i]);
      if (strcmp(rows[i].type, limits[k].type) != 0) continue;
      if (strcmp(rows[i].type, "transfer-function") == 0 && od_block_count(&s).numbers != 4)
        continue;  // both of degree 1
      const int least = limits[k].least, most = limits[k].most;
      od_block_choose(&s, limits[k].key, least - 1), expect(&s, rows[i].type, limits[k].below);
      od_block_choose(&s, limits[k].key, least), expect(&s, rows[i].type, NULL);
      od_block_choose(&s, limits[k].key, most), expect(&s, rows[i].type, NULL);
      od_block_choose(&s, limits[k].key, most + 1), expect(&s, rows[i].type, limits[k].above);
      tried++;
    }
  assert_int_equal(tried, 10);
  // A delay needs an order or, if sampled, a number of samples.
  for (int sampled = 0; sampled < 2; sampled++) {
    od_block_spec s = od_block_spec_of("delay");
    s.sample = sampled ? 0.1 : 0;
    const char *needed = sampled ? "time" : "pade", *other = sampled ? "pade" : "time";
    const int most = sampled ? 100000 : 8;
    expect(&s, "delay", "below 1");
    od_block_choose(&s, other, 1), expect(&s, "delay", "below 1");
    od_block_choose(&s, other, 0), od_block_choose(&s, needed, 1), expect(&s, "delay", NULL);
    od_block_choose(&s, needed, most), expect(&s, "delay", NULL);
    od_block_choose(&s, needed, most + 1), expect(&s, "delay", "above the limit");
    od_block_choose(&s, needed, 1), od_block_choose(&s, other, -1), expect(&s, "delay", "a choice below 0");
  }
}

// Sampling periods are positive, and only classes with equations of samples have them. Types and keys exist. Lists of inputs are not empty.
static void periods_types_and_keys(void **state) {
  (void)state;
  static const char *const continuous[] = {"second-order",   "sign",  "mass",   "load-chamber",
                                           "lugre-friction", "relay", "switch", "state-machine"};
  for (int i = 0; i < ROWS; i++) {
    od_block_spec s = spec_of(&rows[i]);
    bool is_continuous = false;
    for (size_t k = 0; k < sizeof continuous / sizeof *continuous; k++)
      is_continuous = is_continuous || strcmp(continuous[k], rows[i].type) == 0;
    if (is_continuous) s.sample = 0.1, expect(&s, rows[i].type, "this sampling period");
    s.sample = -0.1, expect(&s, rows[i].type, "this sampling period");
    s.sample = NAN, expect(&s, rows[i].type, "this sampling period");
    assert_false(od_block_choose(&s, "no such key", 1));
    s = spec_of(&rows[i]);
    s.inputs = 0;
    expect(&s, rows[i].type, rows[i].list > 0 ? "has no inputs" : NULL);
  }
  od_block_spec s = od_block_spec_of("no such type");
  expect(&s, "none", "has an unknown type");
  assert_false(od_block_choose(&s, "at", 1));
  s.block_class = od_block_class_all();
  expect(&s, "none", "has an unknown type");
  assert_false(od_block_choose(&s, "at", 1));
  s.block_class--;
  expect(&s, "foreign", "has no law");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_and_names), cmocka_unit_test(limits_of_choices),
                                     cmocka_unit_test(periods_types_and_keys)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
