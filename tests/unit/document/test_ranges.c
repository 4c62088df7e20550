// Ranges of fields: what is impossible ends the loading, what is unusual is warned of, wherever the number comes from;
// every number of a machine tells its range. The exact texts are in tests/bad; here is what loads.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "support/test.h"
#include "document/ranges.h"
#include "support/machine_file.h"

static const char jack[] =
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa}\n"
    "volumes: {A: {volume: 1 L}}\ntanks: {T: {pressure: 0 bar}}\n"
    "orifices: {o: {between: [A, T], area: 5 mm^2, discharge: 0.6}}\ninitial: {A.pressure: 20 bar}\n"
    "variants:\n  soft: {oil: {modulus: 12 MPa}}\n  wrong: {volumes: {A: {volume: -1 L}}}\n";

// Loads with up to one --set and a variant; what is said must be this.
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
         "machine.yaml:7:25: warning: modulus is '12 MPa', which is unusual; usual is 300 MPa to 3000 MPa\n");
  expect(
      file, "oil.modulus=1.2 MPa", NULL, OD_OK,
      "--set: warning: oil.modulus=1.2 MPa: modulus is '1.2 MPa', which is unusual; usual is 300 MPa to 3000 MPa; did "
      "you mean '1.2 GPa'?\n");
  expect(
      file, "oil.modulus=1.2", NULL, OD_BAD_INPUT,
      "--set: error: oil.modulus=1.2: modulus is '1.2 Pa', which is impossible; possible is 10 bar to 1e+06 GPa; did "
      "you mean '1.2 GPa'?\n");
  expect(
      file, "initial.A.pressure=20", NULL, OD_OK,
      "--set: warning: initial.A.pressure=20: A.pressure is '20 Pa', which is unusual; usual is 0.05 bar to 100 MPa; "
      "did you mean '20 bar'?\n");
  // None is as usual as any.
  expect(file, "initial.A.pressure=0", NULL, OD_OK, "");
  expect(file, "o.discharge=60 %", NULL, OD_OK, "");
  expect(file, NULL, "wrong", OD_BAD_INPUT, "machine.yaml:8:33: error: volume is '-1 L', must be greater than zero\n");
}

static void check_range(const od_machine *m, const char *path, double low, double high) {
  od_number n = number(m, path);
  if (n.low != low || n.high != high) fail_msg("%s: %g to %g", path, n.low, n.high);
  assert_true(n.usual_low >= n.low && n.usual_high <= n.high);
  assert_true(n.value >= n.low && n.value <= n.high);
}

// Numbers tell their ranges, whether they are given or not; names from the file are no keys of the table.
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

// One row per key and unit, in order, each range within the other.
static void test_table(void **state) {
  (void)state;
  for (int i = 0; i < od_range_row_count(); i++) {
    const od_range_row *r = od_range_row_at(i), *before = od_range_row_at(i > 0 ? i - 1 : 0);
    const od_limits *l = &r->limits;
    if (!(l->low <= l->usual_low && l->usual_low < l->usual_high && l->usual_high <= l->high))
      fail_msg("the ranges of %s (%s) do not contain each other", r->key, r->unit);
    int order = strcasecmp(before->key, r->key);
    if (i > 0 && (order > 0 || (order == 0 && strcmp(before->unit, r->unit) >= 0)))
      fail_msg("%s (%s) is not in order", r->key, r->unit);
    assert_true(strlen(r->of) > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_wherever_it_comes_from, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_numbers_tell, machine_file_start, machine_file_end),
      cmocka_unit_test(test_cases_are_usual), cmocka_unit_test(test_table)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
