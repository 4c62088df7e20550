// The circuit in the data of `info`: ends of elements, open paths of valves, and the parts that signals drive.
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "machine/machine_parts.h"
#include "memory/scoped.h"

void od_instance_name(const od_model *m, int instance, char *name, size_t size) {
  const od_instance *e = &m->instance[instance];
  const char *host = e->host >= 0    ? od_model_text(m, m->instance[e->host].name)
                     : e->joint >= 0 ? od_model_text(m, m->joint[e->joint].name)
                                     : "";
  if (*od_model_text(m, e->name) && e->host >= 0 && od_instance_description(m, e)->inside)
    snprintf(name, size, "%s.%s", host, od_model_text(m, e->name));
  else if (*od_model_text(m, e->name))
    snprintf(name, size, "%s", od_model_text(m, e->name));
  else
    snprintf(name, size, "%s.%s", host, od_instance_description(m, e)->inside);
}

// --- Ends -------------------------------------------------------------------------------------------------------------

int od_instance_output(const od_model *m, int instance, int row) {
  if (row < 0) return -1;
  const od_element_output *o = &od_instance_description(m, &m->instance[instance])->outputs[row];
  od_output_kind kind = o->shows == OD_SHOWS_STATE ? OD_OUT_ELEMENT_STATE : OD_OUT_ELEMENT;
  for (int i = 0; i < m->outputs; i++) {
    const od_output *shown = &m->output[i];
    if (shown->kind == kind && shown->index == instance && shown->component == o->index && shown->second < 0) return i;
  }
  return -1;
}

json_t *od_json_ends(const od_model *m, int instance) {
  const od_instance *e = &m->instance[instance];
  const od_element_description *c = od_instance_description(m, e);
  json_t *list = json_array();
  for (int i = 0; i < od_element_end_count(c); i++) {
    od_end_place at = od_element_end_at(c, i);
    od_end_flow flow = od_element_end_flow(c, i);
    int shown = od_instance_output(m, instance, flow.output);
    const char *output = shown >= 0 ? od_model_output_name(m, shown) : NULL;
    json_array_append_new(
        list, json_pack("{s:s, s:i, s:s, s:o, s:o, s:o}", "key", at.end->key, "place", at.place, "role",
                        od_end_role_name(at.end->role), "node",
                        od_json_text(e->end[i] < 0 ? NULL : od_model_text(m, m->node[e->end[i]].name)), "flow",
                        od_json_text(output), "sign", output ? json_integer(flow.sign) : json_null()));
  }
  return list;
}

// --- Valves -----------------------------------------------------------------------------------------------------------

// A single valve: its inputs and outputs in a work memory of the model.
typedef struct lone_valve {
  const od_model *m;
  const od_instance *e;
  const od_element_description *c;
  od_batch batch;
  double *w;
} lone_valve;

double od_valve_stroke(const od_model *m, const od_instance *e) {
  const od_instance *owner = od_instance_description(m, e)->host && e->host >= 0 ? &m->instance[e->host] : e;
  const od_element_description *c = od_instance_description(m, owner);
  for (int k = 0; k < c->field_count; k++)
    if (strcmp(c->fields[k].key, "stroke") == 0) return m->theta[owner->number + k];
  return 1;
}

// Sets all inputs for a spool position: the first state, the first signal and the first state of the host have this value, other
// states have their initial values, and all other inputs are zero.
static void set_spool(lone_valve *v, double spool) {
  for (int k = 0; k < v->c->equations->ins; k++) {
    double value = 0;
    od_in_slot slot = v->c->equations->in[k];
    bool first = slot.index == 0;
    if (slot.kind == OD_IN_STATE) value = first ? spool : v->c->states[slot.index].initial;
    if (slot.kind == OD_IN_SIGNAL || slot.kind == OD_IN_HOST_STATE) value = first ? spool : 0;
    v->w[v->batch.in + k] = value;
  }
}

// Returns the flow out of end `to` if only end `from` has a pressure, in an arbitrary unit.
static double flow_between(lone_valve *v, double spool, int from, int to) {
  double flow = 0;
  set_spool(v, spool);
  for (int k = 0; k < v->c->equations->ins; k++)
    if (v->c->equations->in[k].kind == OD_IN_PRESSURE && v->c->equations->in[k].index == from)
      v->w[v->batch.in + k] = 1e7;
  v->c->equations->evaluate(&v->batch, v->m->join.pool, v->w);
  for (int k = 0; k < v->c->equations->outs; k++) {
    double out = v->w[v->batch.out + k];
    if (v->c->equations->out[k].kind == OD_TO_THROUGH && to < 2) flow += to == 1 ? out : -out;
    if (v->c->equations->out[k].kind == OD_TO_END && v->c->equations->out[k].index == to) flow += out;
  }
  return flow;
}

// Computes the openings of all paths at a spool position: opening[from * ends + to].
static void fill_openings(lone_valve *v, double stroke, int position, double *opening) {
  int ends = od_element_end_count(v->c);
  for (int from = 0; from < ends; from++)
    for (int to = 0; to < ends; to++) {
      opening[from * ends + to] = 0;
      if (from == to || v->e->end[from] < 0 || v->e->end[to] < 0) continue;
      double most = 0, flow = flow_between(v, position * stroke, from, to);
      for (int at = -1; at <= 1; at++) {
        double other = flow_between(v, at * stroke, from, to);
        if (other > most) most = other;
      }
      if (flow > 1e-9 * most) opening[from * ends + to] = flow / most;
    }
}

// Returns the open paths at a spool position: indices of ends, and the opening.
static json_t *paths_at(lone_valve *v, double stroke, int position) {
  json_t *list = json_array();
  int ends = od_element_end_count(v->c);
  double opening[OD_MOST_ENDS * OD_MOST_ENDS];
  fill_openings(v, stroke, position, opening);
  for (int from = 0; from < ends; from++)
    for (int to = 0; to < ends; to++)
      if (opening[from * ends + to] > 0)
        json_array_append_new(
            list, json_pack("{s:i, s:i, s:f}", "from", from, "to", to, "opening", opening[from * ends + to]));
  return list;
}

// Adds the open paths at the spool positions -1, 0 and 1 strokes. Omits a position with the same paths as the zero position.
static void set_positions(json_t *row, lone_valve *v, double stroke) {
  json_t *list = json_array(), *zero = paths_at(v, stroke, 0);
  for (int at = -1; at <= 1; at++) {
    json_t *paths = at == 0 ? json_incref(zero) : paths_at(v, stroke, at);
    if (at == 0 || !json_equal(paths, zero))
      json_array_append_new(list, json_pack("{s:i, s:O}", "position", at, "paths", paths));
    json_decref(paths);
  }
  json_decref(zero);
  json_object_set_new(row, "positions", list);
}

// Returns the opening of a port at zero, 0 to 1.
static double opening_at_zero(lone_valve *v, double stroke) {
  double full = flow_between(v, v->e->choice[OD_PORT_SIDE] * stroke, 0, 1), zero = flow_between(v, 0, 0, 1);
  return full > 0 ? zero / full : 0;
}

// Prepares a valve or port for flow_between(). Returns false if the instance is neither, or if an allocation fails.
static bool take_valve(const od_model *m, int instance, od_arena *scratch, lone_valve *v) {
  const od_instance *e = &m->instance[instance];
  const od_element_description *c = od_instance_description(m, e);
  const od_layout *l = &m->layout;
  bool commanded = c->signal_key && strcmp(c->signal_key, "command") == 0 && od_element_end_count(c) > 0;
  if (!commanded && !c->equations->has_curve) return false;
  *v = (lone_valve){m, e, c, od_instance_batch(m, e), OD_TAKE(scratch, double, l->scalars_real + 1)};
  if (!v->w) return false;
  memcpy(v->w + l->theta, m->theta, (size_t)m->numbers * sizeof *v->w);
  for (int k = 0; k < OD_OIL_STATES; k++) v->w[l->oil + k] = k == OD_OIL_STATE_SMOOTHING ? 1e4 : 1;
  return true;
}

bool od_valve_openings(const od_model *m, int instance, int position, double *opening) {
  OD_SCRATCH(scratch);
  lone_valve v;
  if (!take_valve(m, instance, &scratch, &v)) return false;
  fill_openings(&v, od_valve_stroke(m, v.e), position, opening);
  return true;
}

double od_port_opening_at_zero(const od_model *m, int instance) {
  OD_SCRATCH(scratch);
  lone_valve v;
  return take_valve(m, instance, &scratch, &v) ? opening_at_zero(&v, od_valve_stroke(m, v.e)) : 0;
}

void od_set_valve_paths(json_t *row, const od_model *m, int instance) {
  OD_SCRATCH(scratch);
  lone_valve v;
  if (!take_valve(m, instance, &scratch, &v)) return;
  double stroke = od_valve_stroke(m, v.e);
  if (v.c->equations->has_curve) {
    json_object_set_new(row, "side", json_integer(v.e->choice[OD_PORT_SIDE]));
    json_object_set_new(row, "opening_at_zero", od_json_number(opening_at_zero(&v, stroke)));
  } else
    set_positions(row, &v, stroke);
}

// --- Signals ----------------------------------------------------------------------------------------------------------

const char *od_driven_key(const od_model *m, const od_instance *e) {
  const od_element_description *c = od_instance_description(m, e);
  (void)m;
  if (e->signal < 0) return NULL;
  if (c->signal_key) return c->signal_key;
  for (int k = 0; k < c->field_count; k++)
    if (c->fields[k].follows_signal) return c->fields[k].key;
  return c->formula_key;
}

static void add_driven(json_t *list, const char *part, const char *name, const char *key) {
  json_array_append_new(
      list, json_pack("{s:s, s:o, s:o}", "part", part, "name", od_json_text(name), "key", od_json_text(key)));
}

// Returns the last part of the path of a number: "pressure" for "P.pressure".
static const char *last_word(const od_model *m, int number) {
  const char *dot = strrchr(od_number_path(m, number), '.');
  return dot ? dot + 1 : od_number_path(m, number);
}

json_t *od_json_driven(const od_model *m, int signal) {
  json_t *list = json_array();
  for (int i = 0; i < m->loads; i++)
    if (m->load[i].input == signal)
      add_driven(list, "force", od_model_text(m, m->load[i].name), last_word(m, m->load[i].number));
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].input == signal)
      add_driven(list, "node", od_model_text(m, m->node[i].name), last_word(m, m->node[i].number));
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    bool drives = e->signal == signal;
    char name[1400];
    for (int k = 0; k < OD_MORE_SIGNALS; k++) drives = drives || e->more_signals[k] == signal;
    od_instance_name(m, i, name, sizeof name);
    if (drives) add_driven(list, "component", name, od_driven_key(m, e));
  }
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    const od_block_input *in = od_block_description_of(od_block_spec_in(m, b))->inputs;
    for (int k = 0; k < b->inputs; k++)
      if (m->block_line[b->line + k].source == signal)
        add_driven(list, "block", od_model_text(m, b->name), in[in[0].list ? 0 : k].key);
  }
  return list;
}
