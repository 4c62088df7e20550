// What oil flows through, one number or a few each: pumps, orifices, relief valves, check valves and leaks.
#include <math.h>

#include "machine/load_circuit.h"

enum { MOST_FIELDS = 4 };

// A kind of flow element: its keys and its numbers in the builder's order; the last one may depend on an input.
typedef struct flow_form {
  const char *section;
  od_flow_kind kind;
  od_element_kind element;
  const char *keys[MOST_FIELDS + 2];
  int fields;
  od_field field[MOST_FIELDS];
  bool takes_input;
} flow_form;

static const flow_form pump_form = {
    .section = "pumps",
    .kind = OD_FLOW_PUMP,
    .element = OD_ELEMENT_PUMP,
    .keys = {"to", "from", "flow", NULL},
    .fields = 1,
    .field = {{"flow", "m3/s", OD_ANY, NAN}},
    .takes_input = true,
};
static const flow_form orifice_form = {
    .section = "orifices",
    .kind = OD_FLOW_ORIFICE,
    .element = OD_ELEMENT_ORIFICE,
    .keys = {"between", "area", "discharge", "opening", NULL},
    .fields = 3,
    .field = {{"area", "m2", OD_POSITIVE, NAN},
              {"discharge", "1", OD_POSITIVE, NAN},
              {"opening", "1", OD_NOT_NEGATIVE, 1}},
    .takes_input = true,
};
static const flow_form relief_form = {
    .section = "reliefs",
    .kind = OD_FLOW_RELIEF,
    .element = OD_ELEMENT_RELIEF,
    .keys = {"between", "set", "slope", NULL},
    .fields = 2,
    .field = {{"set", "Pa", OD_NOT_NEGATIVE, NAN}, {"slope", "m3/s/Pa", OD_POSITIVE, NAN}},
};
enum { CHECK_CRACK = 2, CHECK_FULL = 3 };
static const flow_form check_form = {
    .section = "checks",
    .kind = OD_FLOW_CHECK,
    .element = OD_ELEMENT_CHECK,
    .keys = {"between", "area", "discharge", "crack", "full", NULL},
    .fields = 4,
    .field = {{"area", "m2", OD_POSITIVE, NAN},
              {"discharge", "1", OD_POSITIVE, NAN},
              [CHECK_CRACK] = {"crack", "Pa", OD_NOT_NEGATIVE, 0},
              [CHECK_FULL] = {"full", "Pa", OD_POSITIVE, NAN}},
};
static const flow_form leak_form = {
    .section = "leaks",
    .kind = OD_FLOW_LEAK,
    .element = OD_ELEMENT_LEAK,
    .keys = {"between", "slope", NULL},
    .fields = 1,
    .field = {{"slope", "m3/s/Pa", OD_NOT_NEGATIVE, NAN}},
};

// A pump draws from nowhere unless 'from' says otherwise.
static bool find_pump_ends(od_loader *ld, const od_section *section, int ends[2]) {
  int from = od_section_get(ld, section, "from"), to = od_section_need(ld, section, "to");
  ends[0] = from >= 0 ? od_find_node(ld, from, "from") : -1;
  ends[1] = to >= 0 ? od_find_node(ld, to, "to") : -1;
  if (to < 0) ld->draft->loose_ends = true;
  if (ends[1] < 0 || (from >= 0 && ends[0] < 0)) return false;
  if (ends[0] != ends[1]) return true;
  od_complain(ld, to, "%s connects '%s' with itself; expected two different volumes, tanks or sources", section->what,
              ld->draft->names.element[ends[1]].name);
  ld->draft->loose_ends = true;
  return false;
}

static void load_flow(od_loader *ld, int key, int element, const flow_form *form) {
  od_section section = od_open_element(ld, key, element, form->keys);
  int ends[2], input = -1, before = od_messages_errors(ld->messages);
  bool connected =
      form->kind == OD_FLOW_PUMP ? find_pump_ends(ld, &section, ends) : od_find_node_pair(ld, &section, ends);
  int plain = form->takes_input ? form->fields - 1 : form->fields;
  int first = od_read_fields(ld, &section, form->field, plain, OD_IN_MODEL);
  if (form->takes_input) od_read_value(ld, &section, &form->field[plain], &input);
  bool sound = od_messages_errors(ld->messages) == before && !section.has_unknown;
  if (sound && form->kind == OD_FLOW_CHECK &&
      !(od_number_value(ld, first + CHECK_FULL) > od_number_value(ld, first + CHECK_CRACK)))
    od_complain_number(ld, first + CHECK_FULL, "full must be greater than crack, where the valve begins to open");
  if (!connected) return;
  od_connect_nodes(ld, ends);
  od_element *flow = &ld->draft->names.element[element];
  int from = ends[0] >= 0 ? ld->draft->names.element[ends[0]].index : -1, to = ld->draft->names.element[ends[1]].index;
  flow->index = od_build_flow(ld->draft->build, flow->name, form->kind, from, to, od_number_theta(ld, first), input);
  od_remember(ld, OD_ABOUT_FLOW, flow->index, key);
}

static void load_flows(od_loader *ld, int node, const flow_form *form) {
  for (int key = od_first_end(ld, node, form->section); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, form->element);
    if (element >= 0)
      load_flow(ld, key, element, form);
    else
      ld->draft->loose_ends = true;
  }
}

void od_load_pumps(od_loader *ld, int node) {
  load_flows(ld, node, &pump_form);
}

void od_load_orifices(od_loader *ld, int node) {
  load_flows(ld, node, &orifice_form);
}

void od_load_reliefs(od_loader *ld, int node) {
  load_flows(ld, node, &relief_form);
}

void od_load_checks(od_loader *ld, int node) {
  load_flows(ld, node, &check_form);
}

void od_load_leaks(od_loader *ld, int node) {
  load_flows(ld, node, &leak_form);
}
