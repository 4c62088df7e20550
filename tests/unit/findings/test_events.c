// Phases and events with known times, lists of bounded length, and the table of rules compared with the element classes.
#include "support/found.h"

#include "blocks/block_classes.h"
#include "elements/elements.h"
#include "findings/finding_rules.h"

// States of 1 s and 0.5 s, in turns.
#define LOGIC(first, second, time)                                                                                             \
  "machine: M\n"                                                                                                               \
  "inputs: {go: 1}\n"                                                                                                          \
  "blocks:\n"                                                                                                                  \
  "  logic: {type: state-machine, inputs: {go: go}, states: {out: 1, in: -1}, transitions: [{from: out, to: in, after: " first \
  "}, {from: in, to: out, after: " second                                                                                      \
  "}]}\n"                                                                                                                      \
  "run: {time: " time ", outputs: [logic]}\n"

static void test_states(void **state) {
  (void)state;
  const double times[] = {0, 1, 1.5, 2.5, 3};
  found f = find_in(LOGIC("1 s", "0.5 s", "3 s"));
  int count;
  const od_phase *p = od_findings_phases(f.findings, &count);
  assert_int_equal(count, 4);
  for (int i = 0; i < 4; i++) {
    near(p[i].from, times[i], 1e-9);
    near(p[i].to, times[i + 1], 1e-9);
    assert_string_equal(p[i].name, i % 2 ? "in" : "out");
    assert_string_equal(p[i].source, "logic");
  }
  const od_happening *e = od_findings_events(f.findings, &count);
  assert_int_equal(count, 3);
  for (int i = 0; i < 3; i++) {
    near(e[i].at, times[i + 1], 1e-9);
    assert_string_equal(e[i].name, i % 2 ? "out" : "in");
    assert_string_equal(e[i].owner, "logic");
    assert_string_equal(e[i].code, "state");
  }
  found_free(&f);
}

// 600 changes in 3 s: 200 moments are recorded, the first of them at the start, and the rest is counted.
static void test_many_events(void **state) {
  (void)state;
  found f = find_in(LOGIC("5 ms", "5 ms", "3.0025 s"));
  int count;
  const od_happening *e = od_findings_events(f.findings, &count);
  assert_int_equal(count, 200);
  assert_string_equal(e[199].name, "401 more events");
  od_findings_phases(f.findings, &count);
  assert_in_range(count, 1, 200);
  found_free(&f);
}

// A relay with the thresholds -0.5 and 0.5 on a sine of 1 Hz switches at asin(0.5)/(2 pi) = 1/12 s and half a second later.
static void test_modes(void **state) {
  (void)state;
  found f = find_in(
      "machine: M\n"
      "inputs: {u: {sine: {amplitude: 1, frequency: 1 Hz}}}\n"
      "blocks: {r: {type: relay, input: u, thresholds: [-0.5, 0.5], values: [0, 1]}}\n"
      "run: {time: 1 s, outputs: [r]}\n");
  int count;
  const od_happening *e = od_findings_events(f.findings, &count);
  assert_int_equal(count, 2);
  near(e[0].at, 1.0 / 12, 1e-6);
  assert_string_equal(e[0].name, "switches on");
  near(e[1].at, 7.0 / 12, 1e-6);
  assert_string_equal(e[1].name, "switches off");
  assert_string_equal(e[1].code, "mode");
  found_free(&f);
}

// Named phases end where the next one begins, and the last one ends with the run. Segments of a sequence are phases of the input.
static void test_phases(void **state) {
  (void)state;
  found f = find_in(
      "machine: M\n"
      "inputs: {u: {unit: m, sequence: [{ramp: {duration: 1 s, to: 20 mm}}, {hold: {duration: 2 s}}]}}\n"
      "blocks: {x: {type: first-order, input: u, gain: 1, time_constant: 10 ms}}\n"
      "run: {time: 2.5 s, outputs: [x], phases: {extend: 0.5 s, '<b>rest & more': 2 s, late: 9 s}}\n");
  int count;
  const od_phase *p = od_findings_phases(f.findings, &count);
  assert_int_equal(count, 4);
  assert_string_equal(p[0].name, "extend");
  assert_string_equal(p[0].source, "run");
  near(p[0].from, 0.5, 0);
  near(p[0].to, 2, 0);
  assert_string_equal(p[1].name, "<b>rest & more");
  near(p[1].to, 2.5, 0);
  assert_string_equal(p[2].name, "ramp to 20 mm");
  assert_string_equal(p[2].source, "u");
  near(p[2].to, 1, 0);
  assert_string_equal(p[3].name, "hold");
  near(p[3].from, 1, 0);
  near(p[3].to, 2.5, 0);
  found_free(&f);
}

// --- The table of rules -----------------------------------------------------------------------------------------------

static bool has_output(const od_element_description *d, const char *name) {
  for (int i = 0; i < OD_MOST_ELEMENT_OUTPUTS && d->outputs[i].shows != OD_SHOWS_NOTHING; i++)
    if (d->outputs[i].name && strcmp(d->outputs[i].name, name) == 0) return true;
  return false;
}

static bool has_field(const od_element_description *d, const char *key) {
  for (int i = 0; i < d->field_count; i++)
    if (strcmp(d->fields[i].key, key) == 0) return true;
  return false;
}

// Every rule of an element class refers to outputs, fields and ends that the class has.
static void test_rules_fit_classes(void **state) {
  (void)state;
  const od_class_rule *r;
  for (int i = 0; (r = od_element_rule_at(i)); i++) {
    int class = od_element_class_find(r->class_name);
    if (class < 0) fail_msg("there is no class '%s'", r->class_name);
    const od_element_description *d = od_element_description_at(class);
    if (r->quantity && !has_output(d, r->quantity)) fail_msg("'%s' has no output '%s'", r->class_name, r->quantity);
    if (r->with && !has_output(d, r->with)) fail_msg("'%s' has no output '%s'", r->class_name, r->with);
    if (r->key && !has_field(d, r->key)) fail_msg("'%s' has no field '%s'", r->class_name, r->key);
    assert_in_range(r->end, 0, od_element_end_count(d));
    if (r->type == OD_FIND_STROKE) assert_true(d->reach.stroke[0] > 0);
  }
  for (int i = 0; (r = od_block_rule_at(i)); i++)
    if (od_block_class_find(r->class_name) < 0) fail_msg("there is no block '%s'", r->class_name);
}

// Every element class except friction laws has a line in the table, so that a new class is not forgotten.
static void test_classes_have_rules(void **state) {
  (void)state;
  for (int i = 0; i < od_element_class_count(); i++) {
    const char *name = od_element_class_at(i)->name;
    const od_element_description *d = od_element_description_at(i);
    const od_class_rule *r;
    bool listed = d->inside && strcmp(d->inside, "friction") == 0;
    for (int k = 0; (r = od_element_rule_at(k)); k++) listed = listed || strcmp(r->class_name, name) == 0;
    if (!listed) fail_msg("the class '%s' has no line in findings/finding_rules.c", name);
  }
}

// Reads docs/findings.md. The table contains a row for every code.
static void test_document(void **state) {
  (void)state;
  static char text[100000];
  FILE *file = fopen(OD_SOURCE_DIR "/docs/findings.md", "r");
  assert_non_null(file);
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  const od_finding_code *c;
  for (int i = 0; (c = od_finding_code_at(i)); i++) {
    char row[1000];
    snprintf(row, sizeof row, "| `%s` | %s | %s | %s |\n", c->code, c->severity, c->classes, c->meaning);
    if (!strstr(text, row)) fail_msg("docs/findings.md lacks the row\n%s", row);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_states),
      cmocka_unit_test(test_many_events),
      cmocka_unit_test(test_modes),
      cmocka_unit_test(test_phases),
      cmocka_unit_test(test_rules_fit_classes),
      cmocka_unit_test(test_classes_have_rules),
      cmocka_unit_test(test_document),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
