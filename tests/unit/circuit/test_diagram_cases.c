// Circuit diagrams of all cases: no flaw of any kind, crossings at most as many as the prototype's, the same bytes twice, well-formed
// XML, and every output in the SVG is one of od_circuit_outputs(). Oracles: geometric checks, the XML reader of the tests, the
// machine's list of outputs.
#include "support/test.h"

#include <glob.h>
#include <string.h>

#include "support/xml.h"
#include "unit/circuit/circuits.h"

static void has_no_flaw(const od_circuit *c, const char *path) {
  for (od_flaw flaw = 0; flaw < OD_FLAWS; flaw++) {
    int count = od_sheet_flaws(&c->sheet, flaw);
    if (count != 0) fail_msg("%s: %s: %d", path, od_flaw_name(flaw), count);
  }
}

static void cases_have_no_flaws(void **state) {
  (void)state;
  for (int i = 0; i < CIRCUIT_CASES; i++) {
    od_machine *machine = od_test_machine(circuit_cases[i].path, NULL);
    OD_SCRATCH(arena);
    const od_circuit *c = circuit_of(machine, &arena);
    assert_non_null(c);
    has_no_flaw(c, circuit_cases[i].path);
    if (od_sheet_crossings(&c->sheet) > circuit_cases[i].crossings)
      fail_msg("%s has %d crossings", circuit_cases[i].path, od_sheet_crossings(&c->sheet));
    od_machine_free(machine);
  }
}

// Machines with nodes have a diagram, others none.
static void all_cases_with_nodes_have_one(void **state) {
  (void)state;
  glob_t found;
  assert_int_equal(glob(OD_SOURCE_DIR "/cases/*/machine.yaml", 0, NULL, &found), 0);
  assert_true(found.gl_pathc > 15);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    od_machine *machine = od_test_machine(found.gl_pathv[i] + strlen(OD_SOURCE_DIR) + 1, NULL);
    OD_SCRATCH(arena);
    const od_circuit *c = circuit_of(machine, &arena);
    assert_int_equal(c != NULL, od_machine_model(machine)->nodes > 0);
    od_machine_free(machine);
  }
  globfree(&found);
}

static void is_the_same_twice(void **state) {
  (void)state;
  for (int i = 0; i < CIRCUIT_CASES; i++) {
    char *text[2], what[200];
    for (int k = 0; k < 2; k++) {
      od_machine *machine = od_test_machine(circuit_cases[i].path, NULL);
      OD_SCRATCH(arena);
      text[k] = svg_of(circuit_of(machine, &arena));
      od_machine_free(machine);
    }
    assert_string_equal(text[0], text[1]);
    if (!xml_well_formed(text[0], what, sizeof what)) fail_msg("%s: %s", circuit_cases[i].path, what);
    free(text[0]);
    free(text[1]);
  }
}

// Marks the output with this name as seen; the test fails if the diagram does not list it.
static void see_output(const od_machine *machine, const od_circuit *c, const char *name, size_t length, bool *seen) {
  char text[300];
  snprintf(text, sizeof text, "%.*s", (int)length, name);
  int output = od_machine_output_find(machine, text);
  if (output < 0) fail_msg("the SVG refers to '%s', which is no output", text);
  const int *list;
  for (int i = 0; i < od_circuit_outputs(c, &list); i++)
    if (list[i] == output) {
      seen[i] = true;
      return;
    }
  fail_msg("'%s' is not in the list of outputs", text);
}

static void outputs_agree_with_the_svg(void **state) {
  (void)state;
  for (int i = 0; i < CIRCUIT_CASES; i++) {
    od_machine *machine = od_test_machine(circuit_cases[i].path, NULL);
    OD_SCRATCH(arena);
    const od_circuit *c = circuit_of(machine, &arena);
    char *text = svg_of(c);
    const int *list;
    int count = od_circuit_outputs(c, &list);
    bool *seen = OD_TAKE(&arena, bool, count);
    for (const char *at = text; (at = strstr(at, "data-output=\"")) != NULL;) {
      at += strlen("data-output=\"");
      see_output(machine, c, at, strcspn(at, "\""), seen);
    }
    for (const char *at = text; (at = strstr(at, "data-flow=\"")) != NULL;) {
      at += strlen("data-flow=\"");
      while (*at == '+' || *at == '-' || *at == ' ') {
        at += strspn(at, "+- ");
        size_t length = strcspn(at, " \"");
        see_output(machine, c, at, length, seen);
        at += length;
      }
    }
    for (const char *at = text; (at = strstr(at, "data-node=\"")) != NULL;) {
      char name[300];
      at += strlen("data-node=\"");
      snprintf(name, sizeof name, "%.*s.pressure", (int)strcspn(at, "\""), at);
      see_output(machine, c, name, strlen(name), seen);
    }
    for (int k = 0; k < count; k++)
      if (!seen[k])
        fail_msg("%s: the SVG does not use '%s'", circuit_cases[i].path, od_machine_output_name(machine, list[k]));
    free(text);
    od_machine_free(machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cases_have_no_flaws),
      cmocka_unit_test(all_cases_with_nodes_have_one),
      cmocka_unit_test(is_the_same_twice),
      cmocka_unit_test(outputs_agree_with_the_svg),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
