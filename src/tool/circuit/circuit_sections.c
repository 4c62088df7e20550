// Sections of a circuit. A section is an actuator with the valves and lines that only this actuator uses.
//
// A template instance with an actuator, or with all nets of an actuator, is a section. All other actuators begin sections that
// extend through elements, up to nets of pumps and sources. Actuators that share a net belong to one section. Pumps and elements
// between sections belong to no section.
#include <string.h>

#include "circuit/circuit_graph.h"

static bool same_text(const char *a, const char *b) {
  return a && b && strcmp(a, b) == 0;
}

static bool is_supply_part(const od_part *part) {
  return part->symbol->station == OD_STATION_SUPPLY;
}

// The state of the search for sections.
typedef struct growth {
  od_graph *g;
  const char **owner;      // name of the template instance of each section, or NULL
  const char **net_owner;  // name of the template instance of each net, or NULL
} growth;

// Returns the name of the template instance of an actuator. For an actuator outside all instances, returns the instance
// that contains all its nets; NULL: none.
static const char *owner_of(const growth *w, const od_part *part) {
  const char *owner = part->owner;
  if (owner) return owner;
  for (int k = 0; k < part->ends; k++) {
    int net = od_end_line(w->g, &part->end[k]);
    if (net < 0) continue;
    if (!w->net_owner[net] || (owner && strcmp(owner, w->net_owner[net]) != 0)) return NULL;
    owner = w->net_owner[net];
  }
  return owner;
}

// Assigns each actuator and its nets to a section: the section of its template instance or of an actuator with a common
// net, or else a new section.
static void begin_sections(growth *w) {
  od_graph *g = w->g;
  for (int i = 0; i < g->parts; i++) {
    od_part *part = &g->part[i];
    if (part->symbol->station != OD_STATION_ACTUATOR) continue;
    const char *owner = owner_of(w, part);
    int section = -1;
    for (int k = 0; k < part->ends; k++) {
      int net = od_end_line(g, &part->end[k]);
      if (net >= 0 && g->net[net].section >= 0) section = g->net[net].section;
    }
    for (int k = 0; k < g->sections && section < 0; k++)
      if (same_text(w->owner[k], owner)) section = k;
    if (section < 0) {
      section = g->sections++;
      w->owner[section] = owner;
      g->section[section] = (od_circuit_section){owner ? owner : part->name, owner != NULL};
    }
    part->section = section;
    for (int k = 0; k < part->ends; k++) {
      int net = od_end_line(g, &part->end[k]);
      if (net >= 0) g->net[net].section = section;
    }
  }
}

// Returns the section of the template instance that contains a part, or -1.
static int section_of_owner(const growth *w, const od_part *part) {
  for (int k = 0; k < w->g->sections; k++)
    if (same_text(w->owner[k], part->owner)) return k;
  return -1;
}

// Adds a part of a template instance, and the nets of the same instance. Returns whether the section has changed.
static bool add_owned(growth *w, od_part *part, int section) {
  od_graph *g = w->g;
  bool changed = part->section != section;
  part->section = section;
  for (int k = 0; k < part->ends; k++) {
    int net = od_end_line(g, &part->end[k]);
    if (net < 0 || g->net[net].section >= 0 || !same_text(w->net_owner[net], w->owner[section])) continue;
    g->net[net].section = section;
    changed = true;
  }
  return changed;
}

// Adds a part whose nets belong to one section to this section, and also the other nets of the part, except supply
// nets. Parts at nets of template instances are not added. Returns whether the section has changed.
static bool add_flooded(growth *w, od_part *part) {
  od_graph *g = w->g;
  int section = -1;
  bool changed = false;
  for (int k = 0; k < part->ends; k++) {
    int net =
        part->end[k].role == OD_END_FLOW || part->end[k].role == OD_END_SENSE ? od_end_line(g, &part->end[k]) : -1;
    if (net < 0 || g->net[net].section < 0) continue;
    if (w->owner[g->net[net].section] || (section >= 0 && g->net[net].section != section)) return false;
    section = g->net[net].section;
  }
  if (section < 0) return false;
  if (part->section < 0) part->section = section, changed = true;
  for (int k = 0; k < part->ends; k++) {
    int net =
        part->end[k].role == OD_END_FLOW || part->end[k].role == OD_END_SENSE ? od_end_line(g, &part->end[k]) : -1;
    if (net < 0 || g->net[net].section >= 0 || g->net[net].is_supply) continue;
    g->net[net].section = section;
    changed = true;
  }
  return changed;
}

const char *od_section_short_name(const od_graph *g, const char *name, int place) {
  if (place < 0) return name;
  const od_circuit_section *section = &g->section[place];
  size_t length = strlen(section->name);
  bool inside =
      section->is_instance && strncmp(name, section->name, length) == 0 && name[length] == '.' && name[length + 1];
  return inside ? name + length + 1 : name;
}

bool od_graph_find_sections(od_graph *g, const od_machine *machine, od_arena *arena) {
  growth w = {g, OD_TAKE(arena, const char *, g->parts), OD_TAKE(arena, const char *, g->nets)};
  g->section = OD_TAKE(arena, od_circuit_section, g->parts);
  if (!w.owner || !w.net_owner || !g->section) return false;
  for (int i = 0; machine && i < g->nets; i++) {
    const od_template_instance *owner = od_machine_instance_of(machine, g->net[i].name);
    w.net_owner[i] = owner ? owner->name : NULL;
  }
  begin_sections(&w);
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < g->parts; i++) {
      od_part *part = &g->part[i];
      if (is_supply_part(part)) continue;
      int own = section_of_owner(&w, part);
      if (own >= 0 ? add_owned(&w, part, own) : add_flooded(&w, part)) changed = true;
    }
  }
  // If a pump is between two nets of a section, the circuit is closed and the pump belongs to the section.
  for (int i = 0; i < g->parts; i++) {
    od_part *part = &g->part[i];
    if (!is_supply_part(part)) continue;
    int a = od_end_line(g, od_part_flow(part, 0)), b = od_end_line(g, od_part_flow(part, 1));
    if (a >= 0 && b >= 0 && g->net[a].section >= 0 && g->net[a].section == g->net[b].section)
      part->section = g->net[a].section;
  }
  for (int i = 0; i < g->parts; i++) g->part[i].label = od_section_short_name(g, g->part[i].name, g->part[i].section);
  for (int i = 0; i < g->nets; i++) g->net[i].label = od_section_short_name(g, g->net[i].name, g->net[i].section);
  return true;
}
