// Creates the diagram of a circuit, and lists the outputs and data that a moving diagram needs.
#include "circuit/diagram.h"

#include <string.h>

#include "circuit/circuit_private.h"
#include "circuit/place_names.h"
#include "io/json.h"

// --- Outputs ----------------------------------------------------------------------------------------------------------

static void add_output(od_circuit *c, bool *used, int output) {
  if (output < 0 || used[output]) return;
  used[output] = true;
  c->output[c->outputs++] = output;
}

// Fills the list of outputs of the circuit: pressures of nets, flows of pieces and moving parts, each once. Returns
// false if out of memory.
static bool list_outputs(od_circuit *c, const int *moving, int count, od_arena *arena) {
  const od_sheet *s = &c->sheet;
  int all = c->graph.model->outputs;
  bool *used = OD_TAKE(arena, bool, all);
  c->output = OD_TAKE(arena, int, all);
  if (!used || !c->output) return false;
  for (int i = 0; i < c->graph.nets; i++)
    if (c->graph.net[i].is_used) add_output(c, used, c->graph.net[i].pressure);
  for (int i = 0; i < s->pieces; i++)
    for (int k = 0; k < s->piece[i].terms; k++) add_output(c, used, s->piece[i].term[k].output);
  for (int i = 0; i < count; i++) add_output(c, used, moving[i]);
  return true;
}

int od_circuit_outputs(const od_circuit *c, const int **outputs) {
  *outputs = c->output;
  return c->outputs;
}

// --- Layout -----------------------------------------------------------------------------------------------------------

// Lays out the graph. *moving: indices of the outputs of moving parts, with repetitions; the arena owns this array. Returns false
// if an allocation fails.
static bool lay_sheet(od_circuit *c, int **moving, int *count, od_arena *arena) {
  od_sheet *s = &c->sheet;
  od_sheet_make(s, &c->graph, arena);
  if (!s->failed) od_sheet_climb(s);
  if (!s->failed) od_sheet_trace(s);
  if (!s->failed) od_sheet_finish(s, moving, count);
  return !s->failed && od_arena_status(arena) == OD_OK;
}

// Returns whether the names of some parts and nets omit the name of the section.
static bool has_short_names(const od_graph *g) {
  for (int i = 0; i < g->sections; i++)
    if (g->section[i].is_instance) return true;
  return false;
}

static bool lay_out(od_circuit *c, const od_machine *machine, od_arena *arena) {
  int *moving = NULL, count = 0;
  od_graph *g = &c->graph;
  od_graph_mark_nets(g);
  if (!od_graph_find_sections(g, machine, arena) || !od_graph_find_levels(g, arena)) return false;
  if (!lay_sheet(c, &moving, &count, arena)) return false;
  // Without frames, parts keep their full names.
  if (c->sheet.frames == 0 && has_short_names(g)) {
    for (int i = 0; i < g->sections; i++) g->section[i].is_instance = false;
    for (int i = 0; i < g->parts; i++) g->part[i].label = g->part[i].name;
    for (int i = 0; i < g->nets; i++) g->net[i].label = g->net[i].name;
    if (!lay_sheet(c, &moving, &count, arena)) return false;
  }
  return list_outputs(c, moving, count, arena);
}

static od_status make(const od_model *model, const od_machine *machine, od_arena *arena, const od_circuit **out,
                      od_error *err) {
  *out = NULL;
  od_circuit *c = OD_TAKE(arena, od_circuit, 1);
  if (!c || !od_graph_build(&c->graph, model, machine, arena))
    return od_fail(err, OD_NO_MEMORY, "no memory for the circuit diagram");
  if (c->graph.parts == 0) return OD_OK;
  c->title = od_model_text(model, model->title);
  if (!lay_out(c, machine, arena)) return od_fail(err, OD_NO_MEMORY, "no memory for the circuit diagram");
  *out = c;
  return OD_OK;
}

od_status od_circuit_make(const od_machine *machine, od_arena *arena, const od_circuit **c, od_error *err) {
  return make(od_machine_model(machine), machine, arena, c, err);
}

od_status od_circuit_make_model(const od_model *model, od_arena *arena, const od_circuit **c, od_error *err) {
  return make(model, NULL, arena, c, err);
}

// --- JSON -------------------------------------------------------------------------------------------------------------

static const char *output_name(const od_circuit *c, int output) {
  return od_model_output_name(c->graph.model, output);
}

json_t *od_circuit_json(const od_circuit *c) {
  json_t *nodes = json_array(), *outputs = json_array();
  for (int i = 0; i < c->graph.nets; i++) {
    const od_net *net = &c->graph.net[i];
    if (!net->is_used || net->pressure < 0) continue;
    json_array_append_new(nodes, json_pack("{s:o, s:o}", "name", od_json_text(net->name), "pressure",
                                           od_json_text(output_name(c, net->pressure))));
  }
  for (int i = 0; i < c->outputs; i++) json_array_append_new(outputs, od_json_text(output_name(c, c->output[i])));
  return json_pack("{s:o, s:o}", "nodes", nodes, "outputs", outputs);
}

// Returns the list of the names of elements and nodes of a section. Section -1: elements and nodes without a section.
static json_t *parts_of(const od_circuit *c, int section) {
  json_t *list = json_array();
  for (int i = 0; i < c->graph.parts; i++)
    if (c->graph.part[i].section == section) json_array_append_new(list, od_json_text(c->graph.part[i].name));
  for (int i = 0; i < c->graph.nets; i++)
    if (c->graph.net[i].section == section && c->graph.net[i].is_used && !c->graph.net[i].is_tank)
      json_array_append_new(list, od_json_text(c->graph.net[i].name));
  return list;
}

// Returns the name of the only pump outside the sections; "supply" if there is none, or more than one.
static const char *supply_name(const od_circuit *c) {
  const char *name = NULL;
  for (int i = 0; i < c->graph.parts; i++) {
    const od_part *part = &c->graph.part[i];
    if (part->section >= 0 || part->symbol->station != OD_STATION_SUPPLY) continue;
    if (name) return "supply";
    name = part->name;
  }
  return name ? name : "supply";
}

json_t *od_circuit_groups(const od_circuit *c) {
  json_t *list = json_array();
  if (c->graph.sections < 2 && !has_short_names(&c->graph)) return list;
  for (int i = 0; i < c->graph.sections; i++)
    json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "name", od_json_text(c->graph.section[i].name), "label",
                                          od_json_text(c->graph.section[i].name), "parts", parts_of(c, i)));
  json_t *common = parts_of(c, -1);
  if (json_array_size(common) == 0)
    json_decref(common);
  else
    json_array_append_new(
        list, json_pack("{s:s, s:o, s:o}", "name", "supply", "label", od_json_text(supply_name(c)), "parts", common));
  return list;
}
