// The nodes of the hydraulic circuit: volumes, tanks and sources, references to them, and gauges between them.
#include "document/ranges.h"
#include "machine/load_circuit.h"
#include "machine/sections.h"

od_section od_open_element(od_loader *ld, int key, int element, const od_section_class *c) {
  const char *name = od_text_of(ld, key);
  const char *what = od_format(ld, "the %s '%s'", od_element_noun(ld->draft->names.element[element].kind), name);
  return od_section_open(ld, od_value(ld, key), key, name, what, c);
}

// --- References ---------------------------------------------------------------------------------------------------

int od_first_end(od_loader *ld, int node, const char *what) {
  int before = od_messages_errors(ld->messages);
  int first = od_first(ld, node, what);
  if (od_messages_errors(ld->messages) != before) ld->draft->loose_ends = true;
  return first;
}

int od_find_node(od_loader *ld, int node, const char *label) {
  const char *text = od_read_text(ld, node, label, "the name of a volume, junction, tank or source");
  int element = text != NULL ? od_names_find(ld, node, text, OD_ELEMENT_NODE) : -1;
  if (element < 0) ld->draft->loose_ends = true;
  return element;
}

bool od_find_node_pair(od_loader *ld, const od_section *section, const char *key, int ends[2]) {
  ends[0] = ends[1] = -1;
  int entry[2];
  int node = od_section_need(ld, section, key);
  if (!od_read_list(ld, node, key, "two names of volumes, junctions, tanks or sources", 2, entry)) {
    ld->draft->loose_ends = true;
    return false;
  }
  for (int i = 0; i < 2; i++) ends[i] = od_find_node(ld, entry[i], key);
  if (ends[0] < 0 || ends[1] < 0) return false;
  if (ends[0] == ends[1]) {
    od_complain(ld, entry[1],
                "%s connects '%s' with itself; expected two different volumes, junctions, tanks or sources",
                section->what, ld->draft->names.element[ends[0]].name);
    ld->draft->loose_ends = true;
    return false;
  }
  return true;
}

void od_connect_nodes(od_loader *ld, const int *ends, int count) {
  for (int i = 0; i < count; i++)
    if (ends[i] >= 0) ld->draft->names.element[ends[i]].connected = true;
}

void od_check_volumes(od_loader *ld) {
  if (ld->draft->loose_ends) return;  // the missing connection may have been reported: one error, one message
  for (int i = 0; i < ld->draft->names.elements; i++) {
    const od_element *element = &ld->draft->names.element[i];
    if (element->kind == OD_ELEMENT_VOLUME && !element->connected)
      od_complain(ld, element->node,
                  "nothing flows into or out of the volume '%s'; expected a pump, an orifice, a valve's port, a "
                  "cylinder's chamber or the like",
                  element->name);
  }
}

// --- Nodes --------------------------------------------------------------------------------------------------------

static const od_key volume_keys[] = {{"volume",
                                      OD_NUMBER,
                                      "m3",
                                      "of lines and hoses; chambers add their own",
                                      OD_POSITIVE,
                                      OD_REQUIRED,
                                      {1e-13, 1e6, 1e-8, 1}}};
static const od_key tank_keys[] = {
    {"pressure", OD_NUMBER, "Pa", "absolute", OD_NOT_NEGATIVE, OD_REQUIRED, OD_RANGE_PRESSURE}};
static const od_key source_keys[] = {{"pressure", OD_NUMBER, "Pa",
                                      "absolute: a quantity, an input, or a factor and an input", OD_NOT_NEGATIVE,
                                      OD_REQUIRED, OD_RANGE_PRESSURE}};
static const od_key difference_keys[] = {{"between", OD_TEXTS, NULL, "two nodes", .fallback = OD_REQUIRED}};
const od_section_class od_volume_section = {"volume", "an oil volume", OD_KEYS(volume_keys)};
const od_section_class od_tank_section = {"tank", "a constant pressure", OD_KEYS(tank_keys)};
const od_section_class od_source_section = {"source", "a pressure that is kept", OD_KEYS(source_keys)};
const od_section_class od_difference_section = {"difference", "a gauge between two nodes", OD_KEYS(difference_keys)};

typedef struct node_form {
  od_node_kind kind;
  const od_section_class *section;  // has one number, its first key
} node_form;

static const node_form volume_form = {OD_NODE_VOLUME, &od_volume_section};
static const node_form tank_form = {OD_NODE_TANK, &od_tank_section};
static const node_form source_form = {OD_NODE_SOURCE, &od_source_section};

static void load_node(od_loader *ld, int key, int element, const node_form *form) {
  od_section section = od_open_element(ld, key, element, form->section);
  const od_field field = od_key_field(&section, form->section->keys[0].name);
  int input = -1;
  int number = form->kind == OD_NODE_SOURCE ? od_read_value(ld, &section, &field, &input)
                                            : od_read_fields(ld, &section, &field, 1, OD_IN_MODEL);
  od_element *node = &ld->draft->names.element[element];
  node->index = od_build_node(ld->draft->build, node->name, form->kind, od_number_theta(ld, number), input);
  od_remember(ld, OD_ABOUT_NODE, node->index, key);
}

static void load_nodes(od_loader *ld, int node, const char *what, od_element_kind kind, const node_form *form) {
  bool is_map = node < 0 || ld->tree.node[node].kind == OD_TREE_MAP || ld->tree.node[node].kind == OD_TREE_NULL;
  if (!is_map) ld->draft->names.lacks_nodes = true;
  for (int key = od_first(ld, node, what); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, kind);
    if (element >= 0) load_node(ld, key, element, form);
  }
}

void od_load_volumes(od_loader *ld, int node) {
  load_nodes(ld, node, "volumes", OD_ELEMENT_VOLUME, &volume_form);
}

void od_load_tanks(od_loader *ld, int node) {
  load_nodes(ld, node, "tanks", OD_ELEMENT_TANK, &tank_form);
}

void od_load_sources(od_loader *ld, int node) {
  load_nodes(ld, node, "sources", OD_ELEMENT_SOURCE, &source_form);
}

static void load_junction(od_loader *ld, int name) {
  int element = od_names_declare(ld, od_tree_value(&ld->tree, name), OD_ELEMENT_JUNCTION);
  if (element < 0) return;
  od_element *junction = &ld->draft->names.element[element];
  junction->index = od_build_node(ld->draft->build, junction->name, OD_NODE_JUNCTION, OD_UNUSED, OD_UNUSED);
  od_remember(ld, OD_ABOUT_NODE, junction->index, name);
}

// Junctions have only names: a list of names, or a map without values, which templates and variants can extend.
void od_load_junctions(od_loader *ld, int node) {
  if (node < 0 || ld->tree.node[node].kind == OD_TREE_NULL) return;
  od_tree_kind kind = ld->tree.node[node].kind;
  if (kind != OD_TREE_LIST && kind != OD_TREE_MAP) {
    od_complain(ld, node, "found %s; 'junctions' wants a list of names: [A, B]", od_describe(ld, node));
    ld->draft->names.lacks_nodes = true;
    return;
  }
  for (int key = ld->tree.node[node].first; key >= 0;
       key = kind == OD_TREE_MAP ? od_next(ld, key) : ld->tree.node[key].next) {
    const char *text = od_read_text(ld, key, "junctions", "the name of a junction");
    if (!text) {
      ld->draft->names.lacks_nodes = true;
      continue;
    }
    load_junction(ld, key);
    if (kind != OD_TREE_MAP) continue;
    int value = od_value(ld, key);
    bool nothing = ld->tree.node[value].kind == OD_TREE_NULL ||
                   (ld->tree.node[value].kind == OD_TREE_MAP && ld->tree.node[value].count == 0);
    if (!nothing) od_complain(ld, value, "found %s; a junction has nothing but its name", od_describe(ld, value));
  }
}

// --- Gauges -------------------------------------------------------------------------------------------------------

static void load_pressure_difference(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_difference_section);
  int ends[2];
  if (!od_find_node_pair(ld, &section, "between", ends)) return;
  od_element *gauge = &ld->draft->names.element[element];
  int a = ld->draft->names.element[ends[0]].index, b = ld->draft->names.element[ends[1]].index;
  gauge->index = od_build_pressure_difference(ld->draft->build, gauge->name, a, b);
  od_remember(ld, OD_ABOUT_PRESSURE_DIFFERENCE, gauge->index, key);
}

void od_load_pressure_differences(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "pressure_differences"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_DIFFERENCE);
    if (element >= 0) load_pressure_difference(ld, key, element);
  }
}
