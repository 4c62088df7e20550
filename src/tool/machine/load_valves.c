// Loads directional valves: a spool that follows a command, and the ports that the spool opens.
#include <math.h>

#include "document/constants.h"
#include "machine/load_circuit.h"
#include "machine/sections.h"

static bool port_key(int i, od_key *key) {
  return od_element_key(&od_port_description, i, key);
}
static bool valve_key(int i, od_key *key) {
  return od_element_key(&od_valve_description, i, key);
}

static const od_key port_keys[] = {
    {"between", OD_TEXTS, NULL, "the two nodes that the port connects", .fallback = OD_REQUIRED},
    {"side", OD_CHOICE, "negative|positive", "side of the spool's travel on which the port opens",
     .fallback = OD_REQUIRED},
    {"curve", OD_SECTION, NULL, "characteristic curve: `linear`, control points or a table", .fallback = OD_REQUIRED,
     .inside = &od_curve_section},
};
static const od_section_class port_section = {"port", "a connection that the spool opens", OD_KEYS(port_keys),
                                              port_key};
static const od_key valve_keys[] = {
    {"command", OD_TEXT, NULL, "input or block that the spool follows", .fallback = OD_REQUIRED},
    {"law", OD_CHOICE, "opening|coefficient", "quantity that the curves of the ports give"},
    {"ports", OD_SECTION_MAP, NULL, "the ports that the spool opens", .fallback = OD_REQUIRED, .inside = &port_section},
};
const od_section_class od_valve_section = {"valve", "directional valve: a spool that follows a command, and its ports",
                                           OD_KEYS(valve_keys), valve_key};

// The properties of a valve that its ports need.
typedef struct valve {
  int index;  // index in the builder, or OD_NOT_BUILT
  int law;
  od_curve_frame frame;
} valve;

typedef struct port {
  int ends[2], side;
  const char *name;
} port;

typedef struct ports {
  port *item;
  int count;
} ports;

// --- Ports --------------------------------------------------------------------------------------------------------

// Returns whether another port connects the same nodes on the same side of the spool's travel. If so, reports an error.
static bool is_double(od_loader *ld, const ports *before, const port *p, int key, const char *what) {
  for (int i = 0; i < before->count; i++) {
    const port *other = &before->item[i];
    bool same = other->ends[0] == p->ends[0] && other->ends[1] == p->ends[1];
    bool reverse = other->ends[0] == p->ends[1] && other->ends[1] == p->ends[0];
    if (other->side != p->side || (!same && !reverse)) continue;
    od_complain(
        ld, key,
        "%s opens between '%s' and '%s' on the %s side, like the port '%s'; expected only one such port: remove one of the two",
        what, od_element_at(ld, p->ends[0])->name, od_element_at(ld, p->ends[1])->name,
        p->side > 0 ? "positive" : "negative", other->name);
    return true;
  }
  return false;
}

// Loads a port and adds the port to the list of the valve's ports.
static void load_port(od_loader *ld, int key, const od_section *owner, const valve *v, ports *list) {
  const char *name = od_text_of(ld, key);
  const char *what = od_format(ld, "the port '%s' of %s", name, owner->what);
  const char *path = od_format(ld, "%s.ports.%s", owner->path, name);
  od_section section = od_section_open(ld, od_value(ld, key), key, path, what, &port_section);
  port p = {.name = name};
  bool connected = od_find_node_pair(ld, &section, "between", p.ends);
  int side = od_key_choice(ld, &section, "side");
  int first = od_read_component_fields(ld, &section, &od_port_description, v->frame.unit, false, &(int){0});
  od_curve curve;
  bool has_curve = od_read_curve(ld, &section, v->frame, &curve);
  p.side = side == 1 ? 1 : -1;
  if (!connected) return;
  od_connect_nodes(ld, p.ends, 2);
  if (side < 0 || is_double(ld, list, &p, key, what)) return;
  port *longer = od_arena_extend(&ld->scratch, list->item, list->count, sizeof *longer);
  if (longer == NULL) return;
  list->item = longer;
  list->item[list->count++] = p;
  if (!has_curve || v->index == OD_NOT_BUILT) return;
  od_element_spec spec = od_element_spec_of(od_port_description.equations->name);
  for (int i = 0; i < 2; i++) spec.end[i] = od_element_at(ld, p.ends[i])->index;
  spec.host = v->index;
  spec.first_number = od_number_theta(ld, first);
  spec.numbers = 1 + 2 * curve.count;
  spec.choice[OD_PORT_SIDE] = p.side;
  spec.choice[OD_PORT_DEGREE] = curve.degree;
  spec.choice[OD_PORT_COUNT] = curve.count;
  spec.choice[OD_PORT_LAW] = v->law;
  od_remember(ld, OD_ABOUT_ELEMENT, od_build_element(ld->draft->build, name, &spec), key);
}

static void load_ports(od_loader *ld, const od_section *section, const valve *v) {
  ports list = {0};
  od_index seen = {0};
  int node = od_section_need(ld, section, "ports"), count = 0;
  if (node < 0) ld->draft->loose_ends = true;
  for (int key = od_first_end(ld, node, "ports"); key >= 0; key = od_next(ld, key), count++) {
    bool sound = od_names_check(ld, key);
    if (sound && od_seen_before(ld, &seen, key)) {
      od_complain(ld, key, "%s already has a port '%s'; choose another name", section->what, od_text_of(ld, key));
      sound = false;
    }
    if (sound)
      load_port(ld, key, section, v, &list);
    else
      ld->draft->loose_ends = true;
  }
  bool is_map = node >= 0 && (od_is_map(ld, node) || od_is_null(ld, node));
  if (is_map && count == 0)
    od_complain(ld, node, "%s has no ports; expected at least one port, such as 'PA: {between: [P, A], ...}'",
                section->what);
}

// --- Valves -------------------------------------------------------------------------------------------------------

void od_load_valve(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_valve_section);
  const char *unit;
  int command = od_find_command(ld, &section, "command", "stroke", &unit);
  int law = od_key_choice(ld, &section, "law");
  int first = od_read_component_fields(ld, &section, &od_valve_description, unit, false, &(int){0});
  od_element *built = od_element_at(ld, element);
  built->unit = unit;
  built->follows = od_number_value(ld, first + OD_VALVE_TIME_CONSTANT) == 0;
  built->broken = command < 0;
  if (command >= 0 && law >= 0) {
    od_element_spec spec = od_element_spec_of(od_valve_description.equations->name);
    spec.first_number = od_number_theta(ld, first);
    spec.signal = od_element_at(ld, command)->index;
    built->index = od_build_element(ld->draft->build, built->name, &spec);
    od_remember(ld, OD_ABOUT_ELEMENT, built->index, key);
  }
  od_curve_frame frame = {unit, od_number_value(ld, first + OD_VALVE_STROKE),
                          od_number_value(ld, first + OD_VALVE_FULL)};
  load_ports(ld, &section, &(valve){built->index, law, frame});
}
