// What builds of the core may leave out. Parts that the machines of cases/ need: a list written by hand from their files.
// Derivatives that exist without complex numbers: the classes of parameters and outputs that docs/controllers.md states.
#include <stdio.h>
#include <string.h>

#include "machine/machine.h"
#include "model/model_parts.h"
#include "plant/real_derivatives.h"
#include "support/machines.h"
#include "support/test.h"

static void test_needed_parts(void **state) {
  (void)state;
  static const struct {
    const char *machine, *parts;
  } expected[] = {
      {"fourbar-valve", ""},
      {"crane", "loads "},
      {"rssr", "spatial "},
      {"forestry-crane", "spatial blocks "},
      {"fin-servo", "blocks "},
      {"press", "modes "},
      {"charging", "loads modes "},
      {"load-sensing", "sparse "},
      {"hydrostatic-transmission", "loads junctions "},
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    char path[100], needed[100] = "";
    snprintf(path, sizeof path, "cases/%s/machine.yaml", expected[i].machine);
    od_machine *machine = od_test_machine(path, NULL);
    const od_model *m = od_machine_model(machine);
    for (int k = 0; k < od_model_part_count; k++) {
      assert_true(od_model_parts[k].is_present);
      if (od_model_parts[k].is_needed(m)) strcat(strcat(needed, od_model_parts[k].name), " ");
    }
    assert_string_equal(needed, expected[i].parts);
    assert_int_equal(od_model_check_parts(m, NULL), OD_OK);
    od_machine_free(machine);
  }
}

// Laws with jumps, formulas, heat, and a long chain.
static void test_rare_parts(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "blocks:\n  x: {type: integrator, input: rate, gain: 1 1/s}\n  rate: {type: formula, inputs: {x: x}, formula: -sign(x)}\n"
      "initial: {x.integral: 1}\n");
  const od_model *m = od_machine_model(machine);
  od_plant *plant = NULL;
  od_error err = {0};
  for (int k = 0; k < od_model_part_count; k++)
    assert_int_equal(od_model_parts[k].is_needed(m), strcmp(od_model_parts[k].name, "blocks") == 0 ||
                                                         strcmp(od_model_parts[k].name, "formulas") == 0 ||
                                                         strcmp(od_model_parts[k].name, "jumps") == 0);
  assert_int_equal(od_model_plant(m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_int_equal(od_model_plant_check_real(od_plant_data_of(plant), &err), OD_NOT_AVAILABLE);
  assert_non_null(strstr(err.text, "laws with jumps need complex numbers"));
  od_plant_free(plant);
  od_machine_free(machine);
}

// Returns the index of the first number whose path contains a text.
static int number_with(const od_model *m, const char *text) {
  for (int i = 0; i < m->numbers; i++)
    if (strstr(od_number_path(m, i), text)) return i;
  fail_msg("no number contains '%s'", text);
  return -1;
}

static void test_parameters(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/fourbar-valve/machine.yaml", NULL);
  const od_model *m = od_machine_model(machine);
  static const struct {
    const char *number;
    bool exists;
  } trial[] = {{".curve.", true}, {"overlap", true}, {".mass", false}, {"cylinder", false}, {"oil.", false}};
  for (size_t i = 0; i < sizeof trial / sizeof *trial; i++) {
    od_plant *plant = NULL;
    od_error err = {0};
    int number = number_with(m, trial[i].number);
    assert_int_equal(od_model_plant(m, NULL, 0, &number, 1, &plant, NULL), OD_OK);
    od_status status = od_model_plant_check_real(od_plant_data_of(plant), &err);
    assert_int_equal(status, trial[i].exists ? OD_OK : OD_NOT_AVAILABLE);
    if (!trial[i].exists) assert_non_null(strstr(err.text, od_number_path(m, number)));
    od_plant_free(plant);
  }
  od_machine_free(machine);
}

static void test_outputs(void **state) {
  (void)state;
  static const struct {
    od_output_kind kind;
    bool needs;
  } trial[] = {{OD_OUT_JOINT_FORCE, true}, {OD_OUT_ROD_FORCE, true},          {OD_OUT_REPORT, true},
               {OD_OUT_STORED, true},      {OD_OUT_COORDINATE, false},        {OD_OUT_NODE_PRESSURE, false},
               {OD_OUT_ELEMENT, false},    {OD_OUT_POINT_ACCELERATION, false}};
  for (size_t i = 0; i < sizeof trial / sizeof *trial; i++)
    assert_int_equal(od_output_needs_complex(&(od_output){.kind = trial[i].kind}), trial[i].needs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_needed_parts), cmocka_unit_test(test_rare_parts),
                                     cmocka_unit_test(test_parameters), cmocka_unit_test(test_outputs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
