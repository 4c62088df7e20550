// Formulas in machine files: a text over named inputs and named numbers, which blocks and elements have.
#ifndef OD_MACHINE_LOAD_FORMULA_H
#define OD_MACHINE_LOAD_FORMULA_H

#include "document/expression.h"
#include "machine/load_blocks.h"

// The variables of a formula, in the order of the core.
enum { OD_MOST_FORMULA_NAMES = OD_MOST_BLOCK_INPUTS + 2 + OD_MOST_MACHINE_STATES + OD_MOST_FORMULA_NUMBERS + 1 };
typedef struct od_formula_names {
  od_loader *ld;
  int count;
  const char *name[OD_MOST_FORMULA_NAMES];  // "": a variable without a name
  const char *unit[OD_MOST_FORMULA_NAMES];  // SI; NULL: it goes with any
} od_formula_names;

void od_formula_name(od_formula_names *names, const char *name, const char *unit);
// The name under a key of the file; false with a message where it cannot be one.
bool od_formula_name_key(od_formula_names *names, int key, const char *unit);

// 'parameters' of a section: names and numbers of the model, which become names here. Returns the index of the first number.
int od_read_formula_numbers(od_loader *ld, const od_section *section, od_formula_names *names);
// The SI unit that a parameter is written with; NULL: it has none and goes with any.
const char *od_formula_number_unit(od_loader *ld, int node);

// The text at a node as operations of the core. False with a message, or, if `silent`, without one.
bool od_read_formula(od_loader *ld, int node, const char *label, const od_formula_names *names, bool silent,
                     od_expression *e);
// The same for a text that is made of the one at the node: it stands in `text` from `from` on.
bool od_parse_formula(od_loader *ld, int node, const char *label, const char *text, int from, const char *shown,
                      const od_formula_names *names, od_expression *e);
// A message where the unit of a formula is not the wanted one. Radians may be left out.
void od_check_formula_unit(od_loader *ld, int node, const od_expression *e, const char *wanted);

// Of an element: its numbers, its signals and its formula. The names of what it reads besides are there already. False with a
// message.
bool od_load_element_formula(od_loader *ld, const od_section *section, const od_element_class *c, bool turning,
                             od_element_spec *spec, od_operation operations[OD_MOST_OPERATIONS]);

// Connects the inputs under a key of a block and gives them names; false with a message.
bool od_read_formula_inputs(od_loader *ld, od_loading_block *b, const od_section *section, const char *label,
                            od_formula_names *names);
// A block that is a state machine: all of it.
void od_load_state_machine(od_loader *ld, od_loading_block *b);
// Before that: a bit for each of its states from which a transition asks for the time.
int od_state_machine_timed(const od_loader *ld, int map);
// A block that is a formula: all of it; and before that its unit, or NULL while that is not known.
void od_load_formula_block(od_loader *ld, od_loading_block *b);
const char *od_formula_block_unit(od_loader *ld, const od_loading_block *b);

#endif
