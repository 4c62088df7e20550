// Ranges of fields: impossible values end the loading, unusual values cause warnings, for numbers from any place; every
// number of a machine has its range. The exact texts are in tests/bad; this test has files that load.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "support/test.h"
#include "document/ranges.h"
#include "experiment/experiment_sections.h"
#include "friction_fit/friction_sections.h"
#include "machine/sections.h"
#include "study/study.h"
#include "support/machine_file.h"

static const char jack[] =
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa}\n"
    "volumes: {A: {volume: 1 L}}\ntanks: {T: {pressure: 0 bar}}\n"
    "orifices: {o: {between: [A, T], area: 5 mm^2, discharge: 0.6}}\ninitial: {A.pressure: 20 bar}\n"
    "variants:\n  soft: {oil: {modulus: 12 MPa}}\n  wrong: {volumes: {A: {volume: -1 L}}}\n";

// Loads with up to one --set and a variant, and compares the messages.
static void expect(const machine_file *file, const char *set, const char *variant, od_status status, const char *said) {
  machine_file_write(file, jack, strlen(jack));
  od_messages *messages = od_messages_new();
  od_machine *machine;
  const od_load_options options = {.set = &set, .set_count = set != NULL, .variant = variant};
  assert_int_equal(od_machine_load(file->path, &options, &machine, messages), status);
  char *text = messages_text(messages), *behind = text;
  // The folder changes from run to run.
  if (strncmp(text, file->folder, strlen(file->folder)) == 0) behind += strlen(file->folder) + 1;
  assert_string_equal(behind, said);
  assert_int_equal(od_messages_errors(messages), status == OD_OK ? 0 : 1);
  for (int i = 0; i < od_messages_count(messages); i++)
    assert_int_equal(od_messages_get(messages, i)->is_warning, status == OD_OK);
  free(text);
  od_messages_free(messages);
  od_machine_free(machine);
}

static void test_wherever_it_comes_from(void **state) {
  const machine_file *file = *state;
  expect(file, NULL, NULL, OD_OK, "");
  expect(file, NULL, "soft", OD_OK,
         "machine.yaml:7:25: warning: modulus is '12 MPa', which is unusual; usual: 300 MPa to 3000 MPa\n");
  expect(file, "oil.modulus=1.2 MPa", NULL, OD_OK,
         "--set: warning: oil.modulus=1.2 MPa: modulus is '1.2 MPa', which is unusual; usual: 300 MPa to 3000 MPa; did "
         "you mean '1.2 GPa'?\n");
  expect(file, "oil.modulus=1.2", NULL, OD_BAD_INPUT,
         "--set: error: oil.modulus=1.2: modulus is '1.2 Pa', which is impossible; possible: 10 bar to 1e+06 GPa; did "
         "you mean '1.2 GPa'?\n");
  expect(file, "initial.A.pressure=20", NULL, OD_OK,
         "--set: warning: initial.A.pressure=20: A.pressure is '20 Pa', which is unusual; usual: 0.05 bar to 100 MPa; "
         "did you mean '20 bar'?\n");
  // Zero is usual.
  expect(file, "initial.A.pressure=0", NULL, OD_OK, "");
  expect(file, "o.discharge=60 %", NULL, OD_OK, "");
  expect(file, NULL, "wrong", OD_BAD_INPUT,
         "machine.yaml:8:33: error: volume is '-1 L' but must be greater than zero\n");
}

static void check_range(const od_machine *m, const char *path, double low, double high) {
  od_number n = number(m, path);
  if (n.low != low || n.high != high) fail_msg("%s: %g to %g", path, n.low, n.high);
  assert_true(n.usual_low >= n.low && n.usual_high <= n.high);
  assert_true(n.value >= n.low && n.value <= n.high);
}

// Numbers have their ranges, whether they are given or not; names from the file are not keys of the table.
static void test_numbers_tell(void **state) {
  od_machine *m =
      machine_from(*state,
                   "bodies: {crank: {beam: {mass: 2 kg, length: 1 m}, points: {length: [0, 0], mass: [1, 0]}}}\n"
                   "joints: {A: {type: revolute, between: [ground, crank.start]}}\n"
                   "inputs: {u: 3}\n"
                   "blocks: {pressure: {type: first-order, input: u, gain: -7, time_constant: 1 s},\n"
                   "         fluid: {type: load-chamber, flow: q, velocity: v, modulus: 1 GPa, volume: 1 L,\n"
                   "                 area: 10 cm^2},\n"
                   "         q: {type: gain, input: u, unit: m3/s, gain: 1e-5 m^3/s},\n"
                   "         v: {type: gain, input: u, unit: m/s, gain: 0 m/s}}\n"
                   "initial: {A.angle: 0, fluid.pressure: -30 bar}\n",
                   NULL, NULL);
  check_range(m, "crank.beam.mass", 1e-12, 1e9);
  check_range(m, "crank.points.length[0]", -1e6, 1e6);
  check_range(m, "crank.points.mass[1]", -1e6, 1e6);
  check_range(m, "A.damping", 0, 1e14);
  check_range(m, "pressure.gain", -INFINITY, INFINITY);
  check_range(m, "initial.fluid.pressure", -INFINITY, INFINITY);
  check_range(m, "fluid.modulus", 1e6, 1e15);
  od_machine_free(m);
}

// The machines of cases/ are usual.
static void test_cases_are_usual(void **state) {
  (void)state;
  static const char *const names[] = {"bricard/machine",
                                      "crane/machine",
                                      "double-pendulum/machine",
                                      "fin-servo/machine",
                                      "fourbar-chain/chain-5",
                                      "fourbar-observer/spring",
                                      "fourbar-observer/toolbox",
                                      "fourbar-swing/machine",
                                      "fourbar-valve/machine",
                                      "rssr/coupler",
                                      "rssr/machine",
                                      "slider-crank/machine",
                                      "slider-crank/slider-first"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[256];
    snprintf(path, sizeof path, "%s/cases/%s.yaml", OD_SOURCE_DIR, names[i]);
    od_messages *messages = od_messages_new();
    od_machine *machine;
    assert_int_equal(od_machine_load(path, NULL, &machine, messages), OD_OK);
    for (int k = 0; k < od_messages_count(messages); k++) fail_msg("%s", od_messages_get(messages, k)->text);
    od_messages_free(messages);
    od_machine_free(machine);
  }
}

// For every key of a class and of its sections: usual values are possible, and the default is possible.
static void check_class(const od_section_class *c, const od_section_class **seen, int *count) {
  for (int i = 0; i < *count; i++)
    if (seen[i] == c) return;
  assert_true(*count < 200);
  seen[(*count)++] = c;
  assert_true(strlen(c->name) > 0 && strlen(c->meaning) > 0);
  od_key key;
  for (int i = 0; od_key_at(c, i, &key); i++) {
    const od_limits *l = &key.limits;
    if (!key.meaning || !*key.meaning) fail_msg("%s.%s has no meaning", c->name, key.name);
    for (int other = 0; other < i; other++) {
      od_key before;
      od_key_at(c, other, &before);
      if (strcmp(before.name, key.name) == 0) fail_msg("%s has '%s' twice", c->name, key.name);
    }
    bool ranged = od_limits_are_known(l) && key.shape != OD_WHOLE;
    if (ranged && !(l->low <= l->usual_low && l->usual_low < l->usual_high && l->usual_high <= l->high))
      fail_msg("the ranges of %s.%s do not contain each other", c->name, key.name);
    bool has_default = (ranged || key.shape == OD_WHOLE) && !isnan(key.fallback) && !key.otherwise;
    if (has_default && key.fallback != 0 && (key.fallback < l->low || key.fallback > l->high))
      fail_msg("the default of %s.%s is not possible", c->name, key.name);
    int length;
    if (key.shape == OD_CHOICE && !isnan(key.fallback) && !od_key_word(&key, (int)key.fallback, &length))
      fail_msg("the default of %s.%s is not among its words", c->name, key.name);
    if (key.inside) check_class(key.inside, seen, count);
  }
}

static void test_tables(void **state) {
  (void)state;
  static const od_section_class *const files[] = {&od_machine_section, &od_transition_section, &od_experiment_section,
                                                  &od_study_section, &od_friction_file_section};
  const od_section_class *seen[200];
  int count = 0;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) check_class(files[i], seen, &count);
  assert_true(count > 70);
}

// Numbers whose names come from the file, or whose unit happens to be that of another quantity, do not get the limits of keys with
// the same name.
static void test_namesakes(void **state) {
  od_machine *m = machine_from(*state,
                               "inputs: {u: {unit: Pa, constant: 3 Pa}, w: 2}\n"
                               "blocks: {c: {type: pid, input: w, unit: Pa, kp: 5 Pa},\n"
                               "         t: {type: table, input: u, at: [-2 Pa, 0 Pa, 1 Pa], values: [0, 1, 2]},\n"
                               "         s: {type: square-root, input: u, reference: 1 Pa, smoothing: 0 Pa}}\n",
                               NULL, NULL);
  check_range(m, "c.kp", -INFINITY, INFINITY);
  check_range(m, "t.at[0]", -INFINITY, INFINITY);
  assert_true(number(m, "s.smoothing").low == 0 && number(m, "s.smoothing").high == INFINITY);
  od_machine_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_wherever_it_comes_from, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_numbers_tell, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_namesakes, machine_file_start, machine_file_end),
      cmocka_unit_test(test_cases_are_usual), cmocka_unit_test(test_tables)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
