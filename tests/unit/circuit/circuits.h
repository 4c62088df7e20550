// Circuits for tests: layouts of machine files, and their SVG as text.
#ifndef OD_TEST_CIRCUITS_H
#define OD_TEST_CIRCUITS_H

#include <stdio.h>
#include <stdlib.h>

#include "circuit/circuit_private.h"
#include "circuit/diagram_check.h"
#include "memory/scoped.h"
#include "support/machines.h"

// The machine files of cases/ with a circuit, and the crossings of their diagrams: the numbers of the prototype of the layout, which
// shares no code with the library, or fewer.
typedef struct circuit_case {
  const char *path;
  int crossings;
} circuit_case;
static const circuit_case circuit_cases[] = {
    {"cases/charging/machine.yaml", 0},
    {"cases/cylinder-friction/position-bench.yaml", 0},
    {"cases/cylinder-friction/pressure-loop.yaml", 0},
    {"cases/cylinder-friction/steps.yaml", 0},
    {"cases/excavator/machine.yaml", 0},
    {"cases/forestry-crane/machine.yaml", 0},
    {"cases/fourbar-valve/machine.yaml", 0},
    {"cases/hydrostatic-transmission/machine.yaml", 1},
    {"cases/load-sensing/machine.yaml", 1},  // prototype: 2
    {"cases/observer-tuning/machine.yaml", 0},
    {"cases/position-servo/machine.yaml", 0},
    {"cases/press/machine.yaml", 0},
    {"cases/slewing-crane/machine.yaml", 0},
    {"cases/stewart-platform/machine.yaml", 0},
    {"cases/test-bench/machine.yaml", 0},
    {"cases/test-bench/margins.yaml", 0},
    {"cases/test-bench/measure.yaml", 0},
    {"cases/test-bench/open-loop.yaml", 0},
};
enum { CIRCUIT_CASES = sizeof circuit_cases / sizeof *circuit_cases };

// The diagram of a machine; the test fails without memory.
static inline const od_circuit *circuit_of(const od_machine *machine, od_arena *arena) {
  const od_circuit *c = NULL;
  od_error err = {0};
  if (od_circuit_make(machine, arena, &c, &err) != OD_OK) fail_msg("%s", err.text);
  return c;
}

// The SVG of a diagram, freed by the caller.
static inline char *svg_of(const od_circuit *c) {
  FILE *to = tmpfile();
  assert_non_null(to);
  od_circuit_svg_file(c, to);
  long length = ftell(to);
  char *text = calloc((size_t)length + 1, 1);
  assert_non_null(text);
  rewind(to);
  assert_int_equal(fread(text, 1, (size_t)length, to), length);
  assert_int_equal(fclose(to), 0);
  return text;
}

#endif
