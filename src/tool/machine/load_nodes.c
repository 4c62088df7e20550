// Loads the nodes of the hydraulic circuit (volumes, junctions, tanks and sources), references to nodes, and pressure gauges
// between nodes.
#include "document/ranges.h"
#include "machine/load_circuit.h"
#include "machine/sections.h"

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
                section->what, od_element_at(ld, ends[0])->name);
    ld->draft->loose_ends = true;
    return false;
  }
  return true;
}

void od_connect_nodes(od_loader *ld, const int *ends, int count) {
  for (int i = 0; i < count; i++)
    if (ends[i] >= 0) od_element_at(ld, ends[i])->connected = true;
}

void od_check_volumes(od_loader *ld) {
  if (ld->draft->loose_ends) return;  // the missing connection has already been reported
  for (int i = 0; i < ld->draft->names.elements; i++) {
    const od_element *element = od_element_at(ld, i);
    if (element->kind == OD_ELEMENT_VOLUME && !element->connected)
      od_complain(
          ld, element->node,
          "nothing flows into or out of the volume '%s'; connect an element to this volume, such as a pump, an orifice, "
          "a valve's port or a cylinder's chamber",
          element->name);
  }
}

// --- Nodes --------------------------------------------------------------------------------------------------------

static const od_key volume_keys[] = {{"volume", OD_NUMBER, "m3",
                                      "volume of lines and hoses; chambers add their own volumes", OD_POSITIVE,
                                      OD_REQUIRED, OD_LIMITS(1e-13, 1e6, 1e-8, 1)}};
static const od_key tank_keys[] = {
    {"pressure", OD_NUMBER, "Pa", "absolute pressure", OD_NOT_NEGATIVE, OD_REQUIRED, OD_RANGE_PRESSURE}};
static const od_key source_keys[] = {{"pressure", OD_NUMBER, "Pa",
                                      "absolute pressure: a quantity, an input, or a factor and an input",
                                      OD_NOT_NEGATIVE, OD_REQUIRED, OD_RANGE_PRESSURE}};
static const od_key difference_keys[] = {{"between", OD_TEXTS, NULL,
                                          "the two nodes whose pressure difference (first minus second) is measured",
                                          .fallback = OD_REQUIRED}};
const od_section_class od_volume_section = {"volume", "an oil volume", OD_KEYS(volume_keys)};
const od_section_class od_tank_section = {"tank", "a node with a constant pressure", OD_KEYS(tank_keys)};
const od_section_class od_source_section = {"source", "a node with a given pressure", OD_KEYS(source_keys)};
const od_section_class od_difference_section = {"difference", "a gauge of the pressure difference between two nodes",
                                                OD_KEYS(difference_keys)};

// Adds the node of an element to the builder. `theta`: index of its number in the model; `input`: index of the input that
// determines its pressure; -1 or OD_UNUSED: none.
static void build_node(od_loader *ld, int key, int element, od_node_kind kind, int theta, int input) {
  od_element *node = od_element_at(ld, element);
  node->index = od_build_node(ld->draft->build, node->name, kind, theta, input);
  od_remember(ld, OD_ABOUT_NODE, node->index, key);
}

void od_load_volume(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_volume_section);
  int number = od_read_keys(ld, &section, OD_IN_MODEL, "volume", NULL);
  build_node(ld, key, element, OD_NODE_VOLUME, od_number_theta(ld, number), -1);
}

void od_load_tank(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_tank_section);
  int number = od_read_keys(ld, &section, OD_IN_MODEL, "pressure", NULL);
  build_node(ld, key, element, OD_NODE_TANK, od_number_theta(ld, number), -1);
}

void od_load_source(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_source_section);
  const od_field field = od_key_field(&section, "pressure");
  int input = -1, number = od_read_value(ld, &section, &field, &input);
  build_node(ld, key, element, OD_NODE_SOURCE, od_number_theta(ld, number), input);
}

// Loads junctions, which have only names. The section is a list of names, or a map without values; templates and variants can
// extend a map.
void od_load_junctions(od_loader *ld, int node) {
  bool is_map = od_is_map(ld, node);
  if (od_is_null(ld, node)) return;
  if (!is_map && !od_is_list(ld, node)) {
    od_complain(
        ld, node,
        "found %s; 'junctions' must be a list of names, such as [A, B], or a map with empty values, such as {A: , B: }",
        od_describe(ld, node));
    ld->draft->names.lacks_nodes = true;
    return;
  }
  for (int key = ld->tree.node[node].first; key >= 0; key = is_map ? od_next(ld, key) : ld->tree.node[key].next) {
    if (!od_read_text(ld, key, "junctions", "the name of a junction")) {
      ld->draft->names.lacks_nodes = true;
      continue;
    }
    int element = od_names_declare(ld, od_entry(ld, key), OD_ELEMENT_JUNCTION);
    if (element >= 0) build_node(ld, key, element, OD_NODE_JUNCTION, OD_UNUSED, OD_UNUSED);
    int value = is_map ? od_value(ld, key) : -1;
    bool is_empty = od_is_null(ld, value) || (od_is_map(ld, value) && ld->tree.node[value].count == 0);
    if (!is_empty)
      od_complain(ld, value, "found %s; a junction has only a name, so remove this value", od_describe(ld, value));
  }
}

// --- Gauges -------------------------------------------------------------------------------------------------------

void od_load_difference(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_difference_section);
  int ends[2];
  if (!od_find_node_pair(ld, &section, "between", ends)) return;
  od_element *gauge = od_element_at(ld, element);
  int a = od_element_at(ld, ends[0])->index, b = od_element_at(ld, ends[1])->index;
  gauge->index = od_build_pressure_difference(ld->draft->build, gauge->name, a, b);
  od_remember(ld, OD_ABOUT_PRESSURE_DIFFERENCE, gauge->index, key);
}
