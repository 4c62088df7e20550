// Loads the inputs of the machine: their units and names. load_signals.c reads the signals of the inputs.
#include <ctype.h>
#include <string.h>

#include "document/constants.h"
#include "machine/machine_loader.h"

const char *od_read_unit(od_loader *ld, int node) {
  const char *unit = od_read_text(ld, node, "unit", "an SI unit like N or m/s");
  if (unit == NULL || od_units_is_si(ld->units, unit)) return unit != NULL ? unit : "1";
  const char *si = od_units_si(ld->units, unit);
  if (!od_units_knows(ld->units, unit))
    od_complain(ld, node, "unknown unit '%s'; expected an SI unit like N or m/s", od_excerpt(ld, unit));
  else if (si != NULL)
    od_complain(ld, node, "'%s' is not an SI unit; write '%s' (values may still be given in %s)", unit, si, unit);
  else
    od_complain(ld, node, "'%s' is not an SI unit; expected an SI unit like N or m/s", od_excerpt(ld, unit));
  return si != NULL ? si : "1";
}

// Returns the SI unit of an input: the unit under its key 'unit' or, if the input is a quantity, the unit of the
// quantity. Returns "1" if no unit is given or the unit is unknown.
static const char *input_unit(od_loader *ld, int node) {
  if (od_is_text(ld, node)) {
    const char *unit = od_text_unit(ld, od_place_of(ld, node), od_text_of(ld, node));
    const char *si = unit[0] != '\0' ? od_units_si(ld->units, unit) : NULL;
    return si != NULL ? si : "1";
  }
  int unit = od_map_find(ld, node, "unit");
  return unit >= 0 ? od_read_unit(ld, unit) : "1";
}

// Returns the node of the name in 'derivative: NAME' if NAME is another input, else -1. od_load_signal() loads the
// derivatives of other signals.
static int derived_from(const od_loader *ld, int value) {
  int node = od_map_find(ld, value, "derivative");
  return od_is_text(ld, node) && isalpha((unsigned char)od_text_of(ld, node)[0]) ? node : -1;
}

// Passes the initial value of an input to the builder.
static void start_input(od_loader *ld, int element, int signal) {
  const int index = od_element_at(ld, element)->index;
  const od_machine *machine = ld->draft->machine;
  if (signal >= 0 && index >= 0)
    od_build_input_start(ld->draft->build, index, od_signal_value(machine->signals, signal, machine->start));
}

static void load_input(od_loader *ld, int key, int element) {
  const char *name = od_text_of(ld, key);
  const char *unit = input_unit(ld, od_value(ld, key));
  od_element_at(ld, element)->unit = unit;
  od_element_at(ld, element)->index = od_build_input(ld->draft->build, name, unit);
  const char *what = od_format(ld, "the input '%s'", name);
  const char *path = od_format(ld, "inputs.%s", name);
  // Derivatives of inputs are loaded after all inputs.
  int signal = derived_from(ld, od_value(ld, key)) >= 0 ? -1 : od_load_signal(ld, od_value(ld, key), path, what, unit);
  start_input(ld, element, signal);
  od_machine *machine = ld->draft->machine;
  od_machine_input *list = od_arena_extend(&machine->document->arena, machine->input, machine->inputs, sizeof *list);
  if (list == NULL) return;
  machine->input = list;
  machine->input[machine->inputs++] = (od_machine_input){.name = name, .unit = unit, .signal = signal};
}

// Sets the signal of an input to the derivative of another input's signal. Call this function after all inputs have been loaded.
static void derive_input(od_loader *ld, int key, int element) {
  static const char *const keys[] = {"unit", "derivative", NULL};
  const char *name = od_text_of(ld, key);
  od_machine *machine = ld->draft->machine;
  const int value = od_value(ld, key), node = derived_from(ld, value);
  od_section_open_names(ld, value, value, od_format(ld, "inputs.%s", name), od_format(ld, "the input '%s'", name),
                        keys);
  const int source = od_names_find(ld, node, od_text_of(ld, node), OD_ELEMENT_INPUT);
  const int own = od_element_at(ld, element)->index, other = source < 0 ? -1 : od_element_at(ld, source)->index;
  if (own < 0 || other < 0 || own >= machine->inputs || other >= machine->inputs) return;
  const od_machine_input *from = &machine->input[other];
  const char *rate = od_units_si(ld->units, od_format(ld, "(%s)/s", from->unit));
  double one;
  if (rate == NULL || od_units_convert(ld->units, rate, machine->input[own].unit, 1, &one) != OD_UNIT_FITS)
    od_complain(ld, node, "'%s' is in %s, so its derivative must be in %s; found %s", from->name, from->unit,
                rate ? rate : od_format(ld, "(%s)/s", from->unit), machine->input[own].unit);
  else if (derived_from(ld, od_value(ld, od_element_at(ld, source)->node)) >= 0)
    od_complain(ld, node, "'%s' is itself a derivative; expected an input that is not a derivative", from->name);
  else if (from->signal >= 0) {
    const int signal = od_signals_add_derivative(machine->signals, from->signal);
    if (signal < 0)
      od_complain(ld, node, "'%s' contains a derivative; expected an input that contains no derivative", from->name);
    machine->input[own].signal = signal;
    start_input(ld, element, signal);
  }
}

void od_load_inputs(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "inputs"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_INPUT);
    if (element >= 0) load_input(ld, key, element);
  }
  for (int i = 0; i < ld->draft->names.elements; i++) {
    const od_element *e = od_element_at(ld, i);
    if (e->kind == OD_ELEMENT_INPUT && derived_from(ld, od_value(ld, e->node)) >= 0) derive_input(ld, e->node, i);
  }
}
