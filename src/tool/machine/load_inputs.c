// The inputs of the machine: their units and names. Their signals are read in load_signals.c.
#include <string.h>

#include "document/constants.h"
#include "machine/draft.h"

// The unit of an input that is just a quantity: that of the quantity, in SI.
static const char *unit_of_quantity(od_loader *ld, int node) {
  const char *unit = od_text_unit(ld, od_place_of(ld, node), od_text_of(ld, node));
  if (unit[0] == '\0') return "1";
  const char *si = od_units_si(ld->units, unit);
  return si != NULL ? si : "1";
}

const char *od_read_unit(od_loader *ld, int node) {
  const char *unit = od_read_text(ld, node, "unit", "an SI unit like N or m/s");
  if (unit == NULL || od_units_is_si(ld->units, unit)) return unit != NULL ? unit : "1";
  const char *si = od_units_si(ld->units, unit);
  if (!od_units_knows(ld->units, unit))
    od_complain(ld, node, "unknown unit '%s'", od_excerpt(ld, unit));
  else if (si != NULL)
    od_complain(ld, node, "'%s' is not the SI unit; write '%s' (values may be in %s all the same)", unit, si, unit);
  else
    od_complain(ld, node, "'%s' is not an SI unit", od_excerpt(ld, unit));
  return si != NULL ? si : "1";
}

static const char *input_unit(od_loader *ld, int node) {
  if (ld->tree.node[node].kind == OD_TREE_TEXT) return unit_of_quantity(ld, node);
  int unit = ld->tree.node[node].kind == OD_TREE_MAP ? od_map_find(ld, node, "unit") : -1;
  return unit >= 0 ? od_read_unit(ld, unit) : "1";
}

static void load_input(od_loader *ld, int key, int element) {
  const char *name = od_text_of(ld, key);
  const char *unit = input_unit(ld, od_value(ld, key));
  ld->draft->names.element[element].unit = unit;
  ld->draft->names.element[element].index = od_build_input(ld->draft->build, name, unit);
  const char *what = od_format(ld, "the input '%s'", name);
  const char *path = od_format(ld, "inputs.%s", name);
  int signal = od_load_signal(ld, od_value(ld, key), path, what, unit);
  if (signal >= 0 && ld->draft->names.element[element].index >= 0)
    od_build_input_start(ld->draft->build, ld->draft->names.element[element].index,
                         od_signal_value(ld->draft->machine->signals, signal, ld->draft->machine->start));
  od_machine *machine = ld->draft->machine;
  od_machine_input *grown = od_grow(machine->input, machine->inputs, &machine->input_capacity, sizeof *machine->input);
  if (grown == NULL) {
    ld->no_memory = true;
    return;
  }
  machine->input = grown;
  machine->input[machine->inputs++] = (od_machine_input){.name = name, .unit = unit, .signal = signal};
}

void od_load_inputs(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "inputs"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_INPUT);
    if (element >= 0) load_input(ld, key, element);
  }
}
