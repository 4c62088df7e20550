// Builds the graph of a circuit from the tables of the model: nets, parts, ends with their roles and flows.
#include "circuit/circuit_graph.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "machine/machine_parts.h"
#include "oleodyn/build.h"

// --- Access -----------------------------------------------------------------------------------------------------------

const od_part_end *od_part_port(const od_part *part, od_letter letter) {
  for (int i = 0; i < part->ends; i++)
    if (part->end[i].letter == letter && part->end[i].net >= 0) return &part->end[i];
  return NULL;
}

const od_part_end *od_part_role(const od_part *part, od_end_role role) {
  for (int i = 0; i < part->ends; i++)
    if (part->end[i].role == role && part->end[i].net >= 0) return &part->end[i];
  return NULL;
}

const od_part_end *od_part_flow(const od_part *part, int place) {
  for (int i = 0; i < part->ends; i++)
    if (part->end[i].role == OD_END_FLOW && place-- == 0) return &part->end[i];
  return NULL;
}

int od_end_line(const od_graph *g, const od_part_end *end) {
  return end && end->net >= 0 && !g->net[end->net].is_tank ? end->net : -1;
}

int od_part_lines(const od_graph *g, const od_part *part) {
  int count = 0;
  for (int i = 0; i < part->ends; i++) count += od_end_line(g, &part->end[i]) >= 0;
  return count;
}

int od_part_output(const od_graph *g, const od_part *part, const char *quantity) {
  char name[1500];
  od_text_format(name, sizeof name, "%s.%s", part->name, quantity);
  return od_model_output_find(g->model, name);
}

int od_part_signal(const od_graph *g, const od_part *part) {
  int signal = g->model->instance[part->instance].signal;
  if (signal < 0) return -1;
  for (int i = 0; i < g->model->outputs; i++)
    if (g->model->output[i].kind == OD_OUT_INPUT && g->model->output[i].index == signal) return i;
  return -1;
}

const char *od_part_signal_name(const od_graph *g, const od_part *part) {
  int signal = g->model->instance[part->instance].signal;
  return signal < 0 ? NULL
                    : od_section_short_name(g, od_model_text(g->model, g->model->input[signal].name), part->section);
}

double od_part_number(const od_graph *g, const od_part *part, const char *key) {
  const od_instance *e = &g->model->instance[part->instance];
  const od_element_description *d = od_instance_description(g->model, e);
  for (int k = 0; k < d->field_count && k < e->numbers; k++)
    if (strcmp(d->fields[k].key, key) == 0) return g->model->theta[e->number + k];
  return NAN;
}

int od_part_spool(const od_graph *g, const od_part *part) {
  int spool = od_part_output(g, part, "spool");
  return spool >= 0 ? spool : od_part_signal(g, part);
}

// --- Nets -------------------------------------------------------------------------------------------------------------

static bool add_nets(od_graph *g, od_arena *arena) {
  const od_model *m = g->model;
  g->nets = m->nodes;
  g->net = OD_TAKE(arena, od_net, m->nodes);
  if (!g->net) return false;
  for (int i = 0; i < m->nodes; i++) {
    const char *name = od_model_text(m, m->node[i].name);
    g->net[i] = (od_net){.name = name,
                         .label = name,
                         .kind = m->node[i].kind,
                         .is_tank = m->node[i].kind == OD_NODE_TANK,
                         .section = -1,
                         .pressure = -1};
  }
  for (int k = 0; k < m->outputs; k++)
    if (m->output[k].kind == OD_OUT_NODE_PRESSURE) g->net[m->output[k].index].pressure = k;
  return true;
}

// --- Parts ------------------------------------------------------------------------------------------------------------

// Adds the flow at end `end` of an instance to the flow terms of an end of a part. Returns false if out of memory.
static bool add_term(const od_model *m, int instance, int end, od_part_end *to, od_arena *arena) {
  od_end_flow flow = od_element_end_flow(od_instance_description(m, &m->instance[instance]), end);
  int output = od_instance_output(m, instance, flow.output);
  if (output < 0) return true;
  od_flow_term *term = od_arena_extend(arena, to->term, to->terms, sizeof *term);
  if (!term) return false;
  term[to->terms] = (od_flow_term){output, flow.sign};
  to->term = term, to->terms++;
  return true;
}

// Adds the flows of elements inside a host element, such as the leakage of a cylinder, to the ends of the host. Returns false if
// an allocation fails.
static bool add_inner_flows(od_graph *g, int host, od_part *part, od_arena *arena) {
  const od_model *m = g->model;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_description *d = od_instance_description(m, e);
    if (e->host != host || *od_model_text(m, e->name)) continue;
    for (int k = 0; k < od_element_end_count(d); k++)
      for (int j = 0; j < part->ends; j++)
        if (e->end[k] >= 0 && part->end[j].net == e->end[k]) {
          if (!add_term(m, i, k, &part->end[j], arena)) return false;
          break;
        }
  }
  return true;
}

// Copies the ends of an element and their flows to a part. Returns false if out of memory.
static bool take_ends(od_graph *g, int instance, od_part *part, od_arena *arena) {
  const od_model *m = g->model;
  const od_instance *e = &m->instance[instance];
  const od_element_description *d = od_instance_description(m, e);
  part->ends = od_element_end_count(d);
  part->end = OD_TAKE(arena, od_part_end, part->ends);
  if (!part->end) return false;
  for (int i = 0; i < part->ends; i++) {
    od_end_place at = od_element_end_at(d, i);
    part->end[i] = (od_part_end){.net = e->end[i], .role = at.end->role, .key = at.end->key, .place = at.place};
    if (e->end[i] >= 0 && !add_term(m, instance, i, &part->end[i], arena)) return false;
  }
  return add_inner_flows(g, instance, part, arena);
}

// Adds the nets of a valve's ports to a part as ends, each net once, with their flows. Returns false if out of memory.
static bool take_port_nets(od_graph *g, int valve, od_part *part, od_arena *arena) {
  const od_model *m = g->model;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    if (e->host != valve || !od_instance_class(m, e)->has_curve) continue;
    for (int k = 0; k < 2; k++) {
      int j = 0;
      while (j < part->ends && part->end[j].net != e->end[k]) j++;
      if (j == part->ends) {
        od_part_end *end = od_arena_extend(arena, part->end, part->ends, sizeof *end);
        if (!end) return false;
        end[j] = (od_part_end){.net = e->end[k], .key = "ports", .place = j};
        part->end = end, part->ends++;
      }
      if (!add_term(m, i, k, &part->end[j], arena)) return false;
    }
  }
  return true;
}

// Returns whether an instance is a separate element in the diagram.
static bool is_part(const od_model *m, int instance) {
  const od_instance *e = &m->instance[instance];
  const od_element_class *c = od_instance_class(m, e);
  const od_element_description *d = od_instance_description(m, e);
  if (c->has_curve) return false;
  if (e->host >= 0 && !*od_model_text(m, e->name)) return false;
  return od_element_end_count(d) > 0 || c == &od_valve_class;
}

static bool add_part(od_graph *g, int instance, const od_machine *machine, od_arena *arena) {
  const od_model *m = g->model;
  od_part part = {.instance = instance, .section = -1, .row = -1};
  const od_element_class *c = od_instance_class(m, &m->instance[instance]);
  char name[1400];
  od_instance_name(m, instance, name, sizeof name);
  const od_template_instance *owner = machine ? od_machine_instance_of(machine, name) : NULL;
  part.name = part.label = od_arena_text(arena, name);
  part.class_name = c->name;
  part.owner = owner ? owner->name : NULL;
  const od_look *look = machine ? od_machine_look(machine) : NULL;
  for (int i = 0; look && i < look->places; i++)
    if (strcmp(look->place[i].name, name) == 0) part.place = &look->place[i];
  bool ok = c == &od_valve_class ? take_port_nets(g, instance, &part, arena) : take_ends(g, instance, &part, arena);
  if (!ok || !part.name) return false;
  int connected = 0;
  for (int i = 0; i < part.ends; i++) connected += part.end[i].net >= 0;
  if (connected == 0) return true;
  part.symbol = od_symbol_find(c->name);
  if (part.symbol && part.symbol->station == OD_STATION_DIRECTIONAL && !od_valve_find_boxes(g, &part, arena, &ok))
    part.symbol = NULL;
  if (!part.symbol) part.symbol = od_symbol_generic(connected);
  for (int i = 0; i < part.ends; i++)
    if (part.end[i].net >= 0) g->net[part.end[i].net].is_used = true;
  g->part[g->parts++] = part;
  return ok;
}

bool od_graph_build(od_graph *g, const od_model *m, const od_machine *machine, od_arena *arena) {
  *g = (od_graph){.model = m};
  g->part = OD_TAKE(arena, od_part, m->instances);
  if (!g->part || !add_nets(g, arena)) return false;
  for (int i = 0; i < m->instances; i++)
    if (is_part(m, i) && !add_part(g, i, machine, arena)) return false;
  return true;
}
