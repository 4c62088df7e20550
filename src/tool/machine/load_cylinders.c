// Loads cylinders between two points of the mechanism and two nodes of the circuit.
#include <math.h>
#include <string.h>

#include "document/ranges.h"
#include "machine/load_circuit.h"
#include "machine/sections.h"

static bool stop_key(int i, od_key *key) {
  return i < 2 && od_key_of_field(&od_cylinder_description.fields[OD_CYLINDER_STOP_STIFFNESS + i], key);
}
static bool class_key(int i, od_key *key) {
  return od_element_key(&od_cylinder_description, i, key);
}

static const od_section_class stops_section = {"stops", "the end stops", .more = stop_key};
static const od_key keys[] = {
    {"between", OD_TEXTS, NULL, "the two points that the cylinder connects", .fallback = OD_REQUIRED},
    {"chambers", OD_TEXTS, NULL, "nodes of the two chambers: piston side and rod side", .fallback = OD_REQUIRED},
    {"areas", OD_NUMBERS, "m2", "areas of the piston side and the rod side", OD_POSITIVE, OD_REQUIRED,
     OD_LIMITS(0, 10, 1e-6, 1), "from `bore` and `rod`"},
    {"bore", OD_NUMBER, "m", "diameter of the piston", OD_POSITIVE, OD_REQUIRED, OD_LIMITS(1e-5, 5, 2e-3, 1.5),
     "from `areas`"},
    {"rod", OD_NUMBER, "m", "diameter of the rod", OD_POSITIVE, OD_REQUIRED, OD_LIMITS(1e-5, 5, 1e-3, 1.5),
     "from `areas`"},
    {"dead", OD_NUMBERS, "m3", "dead volumes of both sides", .otherwise = "0"},
    {"stops", OD_SECTION, NULL, "the end stops", .inside = &stops_section},
    {"friction", OD_SECTION, NULL, "friction of piston and rod", .inside = &od_friction_section},
};
const od_section_class od_cylinder_section = {"cylinder", "double-acting cylinder with end stops, leakage and friction",
                                              OD_KEYS(keys), class_key};

// --- Chambers -----------------------------------------------------------------------------------------------------

static bool is_tank(const od_loader *ld, int element) {
  return element >= 0 && od_element_at(ld, element)->kind == OD_ELEMENT_TANK;
}

// Finds two different chambers: two volumes, or a volume and a tank; the builder rejects junctions. On failure reports an error and
// returns false.
static bool find_chambers(od_loader *ld, const od_section *section, int chambers[2]) {
  int entry[2];
  int node = od_section_need(ld, section, "chambers");
  chambers[0] = chambers[1] = -1;
  if (!od_read_list(ld, node, "chambers", "two names, piston side and rod side", 2, entry)) {
    ld->draft->loose_ends = true;
    return false;
  }
  int before = od_messages_errors(ld->messages);
  for (int i = 0; i < 2; i++) {
    chambers[i] = od_find_node(ld, entry[i], "chambers");
    if (chambers[i] >= 0 && od_element_at(ld, chambers[i])->kind == OD_ELEMENT_SOURCE)
      od_complain(ld, entry[i], "'%s' is a source; expected a volume, or a tank on one side",
                  od_element_at(ld, chambers[i])->name);
  }
  if (chambers[0] < 0 || chambers[1] < 0 || od_messages_errors(ld->messages) != before) return false;
  if (is_tank(ld, chambers[0]) && is_tank(ld, chambers[1]))
    od_complain(ld, entry[1], "%s has tanks on both sides; expected a volume on at least one side", section->what);
  else if (chambers[0] == chambers[1])
    od_complain(ld, entry[1], "both chambers of %s are '%s'; expected two different nodes", section->what,
                od_element_at(ld, chambers[0])->name);
  return od_messages_errors(ld->messages) == before;
}

// --- Numbers ------------------------------------------------------------------------------------------------------

// Reads the areas, or bore and rod diameters. Returns the index of the first number.
static int read_size(od_loader *ld, const od_section *section, const int chambers[2], bool *diameters) {
  int areas = od_section_get(ld, section, "areas");
  int bore = od_section_get(ld, section, "bore"), rod = od_section_get(ld, section, "rod");
  *diameters = bore >= 0 || rod >= 0;
  if (areas >= 0 && *diameters)
    od_complain(ld, bore >= 0 ? bore : rod, "%s has both 'areas' and '%s'; expected 'areas', or 'bore' and 'rod'",
                section->what, bore >= 0 ? "bore" : "rod");
  else if (areas < 0 && !*diameters && section->map >= 0 && !section->has_unknown)
    od_complain(ld, section->node, "%s needs 'areas', or 'bore' and 'rod'; give these keys", section->what);
  if (areas >= 0) {
    od_field field[2] = {od_key_entry(ld, section, "areas", 0), od_key_entry(ld, section, "areas", 1)};
    for (int i = 0; i < 2; i++)  // a plunger has no area on the side of the tank
      if (is_tank(ld, chambers[i])) field[i].range = OD_NOT_NEGATIVE;
    return od_read_two_numbers(ld, section, "areas", "two areas, piston side and rod side", field);
  }
  if (!*diameters) return ld->document->numbers.count;
  int before = od_messages_errors(ld->messages);
  int first = od_read_keys(ld, section, OD_IN_MODEL, "bore", "rod", NULL);
  bool sound = od_messages_errors(ld->messages) == before && !section->has_unknown;
  if (sound && !(od_number_value(ld, first) > od_number_value(ld, first + 1)))
    od_complain_relation(ld, first + 1, "less than", first, NULL);
  return first;
}

static od_field field_of(int place) {
  return od_component_field(&od_cylinder_description.fields[place], "1", false);
}

// Reads the numbers after the areas, in the order of the class: lengths, dead volumes, leakage and end stops.
static void read_lengths_and_stops(od_loader *ld, const od_section *section) {
  const od_field lengths[] = {field_of(OD_CYLINDER_CLOSED), field_of(OD_CYLINDER_STROKE)};
  const od_field dead[] = {field_of(OD_CYLINDER_DEAD_A), field_of(OD_CYLINDER_DEAD_B)};
  const od_field leakage = field_of(OD_CYLINDER_LEAKAGE);
  const od_field stops[] = {field_of(OD_CYLINDER_STOP_STIFFNESS), field_of(OD_CYLINDER_STOP_DAMPING)};
  od_read_fields(ld, section, lengths, 2, OD_IN_MODEL);
  od_read_two_numbers(ld, section, "dead", "two volumes, piston side and rod side", dead);
  od_read_fields(ld, section, &leakage, 1, OD_IN_MODEL);
  const char *path = od_path(ld, section->path, "stops"), *what = od_format(ld, "the stops of %s", section->what);
  od_section stop =
      od_section_open(ld, od_section_get(ld, section, "stops"), section->node, path, what, &stops_section);
  od_read_fields(ld, &stop, stops, 2, OD_IN_MODEL);
}

// --- Cylinders ----------------------------------------------------------------------------------------------------

void od_load_cylinder(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_cylinder_section);
  od_point_ref ends[2];
  int chambers[2];
  bool diameters;
  bool placed = od_names_find_pair(ld, &section, ends) && ends[0].point >= 0 && ends[1].point >= 0;
  bool connected = find_chambers(ld, &section, chambers);
  int first = read_size(ld, &section, chambers, &diameters);
  read_lengths_and_stops(ld, &section);
  od_connect_nodes(ld, chambers, 2);
  od_element *cylinder = od_element_at(ld, element);
  if (placed && connected) {
    od_element_spec spec = od_element_spec_of(od_cylinder_description.equations->name);
    spec.point_a = ends[0].point, spec.point_b = ends[1].point;
    for (int i = 0; i < 2; i++) spec.end[i] = od_element_at(ld, chambers[i])->index;
    spec.first_number = od_number_theta(ld, first);
    spec.choice[OD_CYLINDER_DIAMETERS] = diameters;
    cylinder->index = od_build_element(ld->draft->build, cylinder->name, &spec);
    od_remember(ld, OD_ABOUT_ELEMENT, cylinder->index, key);
    // The leakage is a separate element that shares one of the cylinder's numbers.
    od_element_spec leak = od_element_spec_of(od_leak_description.equations->name);
    memcpy(leak.end, spec.end, sizeof leak.end);
    leak.host = cylinder->index;
    leak.first_number = spec.first_number + OD_CYLINDER_LEAKAGE;
    od_build_element(ld->draft->build, "", &leak);
  }
  cylinder->friction = od_load_friction(ld, &section, cylinder->index, -1, false, chambers);
}
