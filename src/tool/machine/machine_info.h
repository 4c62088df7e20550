// The contents of a machine: counts, parts, variants, inputs, outputs and numbers.
#ifndef OD_MACHINE_INFO_H
#define OD_MACHINE_INFO_H

#include "machine/machine.h"
#include "model/model.h"
#include "result/result.h"

// Returns the counts, the parts with their quantities, the variants, inputs, outputs and numbers of a machine. The machine must
// outlive the result, which the caller frees.
od_result od_machine_info(const od_machine *machine);
// Returns the allowed and the usual range of each number as texts with units for display. The machine must outlive the result, which the
// caller frees.
od_result od_machine_ranges(const od_machine *machine);

// Writes the counts as a text: "3 bodies, 4 joints, 1 degree of freedom".
void od_facts_text(const od_model_facts *facts, char *text, size_t size);
// Adds the counts as members of an object.
void od_facts_json(const od_model_facts *facts, json_t *object);

// Adds a table for each kind of part, and the field "parts" (machine_parts.c).
void od_add_machine_parts(od_result *r, const od_machine *machine);

#endif
