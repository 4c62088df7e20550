// Formulas in machine files: texts with named inputs and named numbers, used by blocks and elements.
#ifndef OD_MACHINE_LOAD_FORMULA_H
#define OD_MACHINE_LOAD_FORMULA_H

#include "document/expression.h"
#include "machine/load_blocks.h"

// The names and units of the variables of a formula, in the order of od_formula.
enum { OD_MOST_FORMULA_NAMES = OD_MOST_BLOCK_INPUTS + 2 + OD_MOST_MACHINE_STATES + OD_MOST_FORMULA_NUMBERS + 1 };
typedef struct od_formula_names {
  od_loader *ld;
  int count;
  const char *name[OD_MOST_FORMULA_NAMES];  // "": a variable without a name
  const char *unit[OD_MOST_FORMULA_NAMES];  // SI unit; NULL: the variable fits any unit
} od_formula_names;

// Appends a variable with its name ("": without a name) and SI unit (NULL: fits any unit). Both texts must outlive `names`. If the
// list is full, the variable is ignored.
void od_formula_name(od_formula_names *names, const char *name, const char *unit);

// Returns the SI unit of a parameter in the file; NULL: no unit, the parameter fits any unit.
const char *od_formula_number_unit(od_loader *ld, int node);
// Reads 'parameters' of a section: numbers of the model. Adds their names to `names`. Returns the index of the first number.
int od_read_formula_numbers(od_loader *ld, const od_section *section, od_formula_names *names);

// Compiles the text at a node to operations of the core. On failure returns false and, unless `silent` is set, reports an error.
bool od_read_formula(od_loader *ld, int node, const char *label, const od_formula_names *names, bool silent,
                     od_expression *e);
// Same as od_read_formula(), for a text that contains the text of the node (`shown`) starting at byte `from`.
bool od_parse_formula(od_loader *ld, int node, const char *label, const char *text, int from, const char *shown,
                      const od_formula_names *names, od_expression *e);
// Reports a formula whose unit is not the wanted unit. A missing radian is not an error.
void od_check_formula_unit(od_loader *ld, int node, const od_expression *e, const char *wanted);

// Loads the numbers, signals and formula of an element. The other variables of the formula are the pressures p_a and p_b, or the
// position x and the speed v. `operations` is the memory of spec->formula. On failure reports an error and returns false.
bool od_load_element_formula(od_loader *ld, const od_section *section, const od_element_description *c, bool turning,
                             od_element_spec *spec, od_operation operations[OD_MOST_OPERATIONS]);

// Connects the inputs under a key of a block and adds their names. On failure reports an error and returns false.
bool od_read_formula_inputs(od_loader *ld, od_loading_block *b, const od_section *section, const char *label,
                            od_formula_names *names);
// Loads a block that is a state machine.
void od_load_state_machine(od_loader *ld, od_loading_block *b);
// Before the state machine is loaded: returns a bit mask in which bit i is set if a transition of state i depends on time.
int od_state_machine_timed(const od_loader *ld, int map);
// od_load_formula_block() loads a block that is a formula. od_formula_block_unit() returns the unit of the block before the block
// is loaded; NULL: not known yet.
void od_load_formula_block(od_loader *ld, od_loading_block *b);
const char *od_formula_block_unit(od_loader *ld, const od_loading_block *b);

#endif
