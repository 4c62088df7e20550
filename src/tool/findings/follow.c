// Lists the conditions that findings follow during a run: rules of element and block classes (finding_rules.c), and rules of
// outputs: pressures of nodes, loads of joints, control errors, work of pumps and sources.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "findings/findings_work.h"
#include "machine/machine_parts.h"
#include "model/outputs.h"

enum { NAME_SIZE = 400 };

// --- Lookup -----------------------------------------------------------------------------------------------------------

// Returns the output "owner.quantity", or -1. If the name is too long, the result is -1.
static int output_of(const od_findings *f, const char *owner, const char *quantity) {
  char name[NAME_SIZE];
  int length = snprintf(name, sizeof name, "%s%s%s", owner, *quantity ? "." : "", quantity);
  return length > 0 && length < NAME_SIZE ? od_machine_output_find(f->machine, name) : -1;
}

// Returns the output with the pressure of a node, or -1.
static int pressure_of(const od_findings *f, int node) {
  return node >= 0 ? output_of(f, od_model_text(f->model, f->model->node[node].name), "pressure") : -1;
}

// Returns the value of a field of an instance by its key; NAN: the class has no such field.
static double field_of(const od_model *m, const od_instance *e, const char *key) {
  const od_element_description *d = od_instance_description(m, e);
  for (int i = 0; i < d->field_count; i++)
    if (strcmp(d->fields[i].key, key) == 0) return m->theta[e->number + i];
  return NAN;
}

// Returns the value of a number of a block by the end of its path; NAN: there is no such number.
static double block_number(const od_model *m, const od_block *b, const char *key) {
  size_t length = strlen(key);
  for (int i = b->number; i < b->number + b->numbers; i++) {
    const char *path = od_number_path(m, i);
    size_t size = strlen(path);
    if (size > length && path[size - length - 1] == '.' && strcmp(path + size - length, key) == 0) return m->theta[i];
  }
  return NAN;
}

static const char *unit_of(const od_findings *f, int output) {
  return output >= 0 ? od_machine_output_unit(f->machine, output) : "";
}

// --- Lists ------------------------------------------------------------------------------------------------------------

// Adds a condition on an output. The other fields get default values. Returns NULL if an allocation fails.
static od_followed *add_followed(od_findings *f, od_rule_type type, int part, const char *owner, int output) {
  od_followed *list = od_arena_extend(&f->arena, f->followed, f->followed_count, sizeof *list);
  if (!list) return NULL;
  f->followed = list;
  od_followed *new = &f->followed[f->followed_count++];
  *new = (od_followed){
      .type = type,
      .owner = od_arena_text(&f->arena, owner),
      .output = output >= 0 ? od_machine_output_name(f->machine, output) : "",
      .unit = unit_of(f, output),
      .with_unit = "",
      .node = "",
      .part = part,
      .condition = {.column = od_findings_column(f, output), .second = -1, .gain = 1, .companion = {-1, -1, -1}}};
  return f->arena.exhausted ? NULL : new;
}

// Records a further output and the pressure of a node together with a condition.
static void add_companions(od_findings *f, od_followed *w, int with, int node) {
  int pressure = pressure_of(f, node);
  int column = od_findings_column(f, with >= 0 ? with : pressure);
  w->with_unit = unit_of(f, with);
  if (column < 0) return;
  w->condition.companion[OD_WITH_OUTPUT] = column;
  if (pressure < 0) return;
  w->condition.companion[OD_WITH_PRESSURE] = od_findings_column(f, pressure);
  w->node = od_model_text(f->model, f->model->node[node].name);
}

// --- Signals ----------------------------------------------------------------------------------------------------------

// Returns the block that computes a signal; -1: the signal is an input.
static int block_of_signal(const od_model *m, int signal) {
  for (int i = 0; i < m->blocks; i++)
    if (signal >= m->block[i].signal && signal < m->block[i].signal + m->block[i].outputs) return i;
  return -1;
}

// Marks the signals that depend on marked signals or on measured quantities through continuous blocks. Blocks with modes (relays,
// state machines) give logical signals, which have no saturation and no error.
static void mark_dependents(const od_model *m, bool *marked) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < m->blocks; i++) {
      const od_block *b = &m->block[i];
      bool depends = false;
      if (marked[b->signal] || od_block_has_modes(&m->spec[i])) continue;
      for (int k = b->line; k < b->line + b->inputs; k++) {
        int source = m->block_line[k].source;
        depends = depends || source >= m->signals || (source >= 0 && marked[source]);
      }
      for (int k = b->signal; depends && k < b->signal + b->outputs; k++) marked[k] = true;
      changed = changed || depends;
    }
  }
}

// Returns whether a block or an element uses a signal.
static bool is_used(const od_model *m, int signal) {
  for (int i = 0; i < m->block_lines; i++)
    if (m->block_line[i].source == signal) return true;
  for (int i = 0; i < m->instances; i++)
    if (m->instance[i].signal == signal) return true;
  return false;
}

static const od_class_rule *block_rule(const od_model *m, int block) {
  const char *type = od_block_class_of(&m->spec[block])->type;
  const od_class_rule *rule;
  for (int i = 0; (rule = od_block_rule_at(i)); i++)
    if (strcmp(rule->class_name, type) == 0) return rule;
  return NULL;
}

// --- Rules of element classes -----------------------------------------------------------------------------------------

// Adds the condition of a rule that compares a quantity or a pressure difference with a limit.
static void follow_limit(od_findings *f, const od_class_rule *rule, int instance, const char *name) {
  const od_model *m = f->model;
  const od_instance *e = &m->instance[instance];
  bool difference = rule->side == OD_SIDE_PRESSURE;
  int output = difference ? pressure_of(f, e->end[0]) : output_of(f, name, rule->quantity);
  double limit = rule->part * (rule->key ? field_of(m, e, rule->key) : 1);
  if (output < 0 || isnan(limit) || (difference && e->end[1] < 0)) return;
  od_followed *w = add_followed(f, rule->type, instance, name, output);
  if (!w) return;
  od_condition *c = &w->condition;
  bool below = rule->side == OD_SIDE_BELOW;
  w->limit = limit;
  w->event = rule->on;
  w->scale = field_of(m, e, "time_constant");
  c->gain = below ? -1 : 1;
  c->limit = below ? -limit : limit;
  c->margin = rule->margin * fabs(limit);
  c->is_magnitude = rule->side == OD_SIDE_BEYOND;
  if (difference) c->second = od_findings_column(f, pressure_of(f, e->end[1])), c->second_gain = -1;
  if (rule->type == OD_FIND_SPOOL) {
    double offset = field_of(m, e, "offset");
    c->center = isnan(offset) ? 0 : offset;
  }
  add_companions(f, w, rule->with ? output_of(f, name, rule->with) : -1, rule->end > 0 ? e->end[rule->end - 1] : -1);
}

// Adds two conditions: the outer and the inner end of a cylinder's stroke.
static void follow_stroke(od_findings *f, const od_class_rule *rule, int instance, const char *name) {
  const od_model *m = f->model;
  const od_instance *e = &m->instance[instance];
  const od_element_description *d = od_instance_description(m, e);
  double closed = m->theta[e->number + d->reach.closed], stroke = od_element_stroke(d, &m->theta[e->number]);
  int output = output_of(f, name, rule->quantity);
  for (int side = 1; side >= -1 && output >= 0; side -= 2) {
    od_followed *w = add_followed(f, rule->type, instance, name, output);
    if (!w) return;
    w->side = side;
    w->event = side > 0 ? rule->on : rule->off;
    w->scale = stroke;
    w->limit = side > 0 ? closed + stroke : closed;
    w->condition.gain = side;
    w->condition.limit = side * w->limit;
    w->condition.margin = rule->margin * stroke;
    add_companions(f, w, output_of(f, name, rule->with), -1);
  }
}

// Adds two conditions: a cylinder pushes, and a cylinder pulls. The recorded pressure is the pressure of the chamber
// that carries loads of the opposite sign.
static void follow_force(od_findings *f, const od_class_rule *rule, int instance, const char *name) {
  const od_instance *e = &f->model->instance[instance];
  int output = output_of(f, name, rule->quantity);
  for (int side = 1; side >= -1 && output >= 0; side -= 2) {
    od_followed *w = add_followed(f, rule->type, instance, name, output);
    if (!w) return;
    w->side = side;
    w->condition.gain = side;
    add_companions(f, w, -1, e->end[side > 0 ? 1 : 0]);
  }
}

// Adds a part with modes. Returns NULL if an allocation fails.
static od_moded *add_moded(od_findings *f, const char *owner, int output, const od_class_rule *rule) {
  if (output < 0) return NULL;
  od_moded *list = od_arena_extend(&f->arena, f->moded, f->moded_count, sizeof *list);
  if (!list) return NULL;
  f->moded = list;
  od_moded *new = &f->moded[f->moded_count++];
  *new = (od_moded){.owner = od_arena_text(&f->arena, owner),
                    .off = rule->off,
                    .on = rule->on,
                    .column = od_findings_column(f, output)};
  return new;
}

static void follow_instance(od_findings *f, int instance) {
  const od_model *m = f->model;
  const od_instance *e = &m->instance[instance];
  const od_class_rule *rule;
  char name[NAME_SIZE];
  od_instance_name(m, instance, name, sizeof name);
  for (int i = 0; (rule = od_element_rule_at(i)); i++) {
    if (strcmp(rule->class_name, od_instance_class(m, e)->name) != 0) continue;
    // If a block limits the command, or no measured quantity acts on it, a spool at its limit follows the command and
    // needs no finding.
    int limiter = e->signal >= 0 ? block_of_signal(m, e->signal) : -1;
    bool limited = limiter >= 0 && block_rule(m, limiter) && block_rule(m, limiter)->type == OD_FIND_COMMAND;
    bool controlled = e->signal >= 0 && !limited && f->is_measured[e->signal];
    switch (rule->type) {
      case OD_FIND_NOTHING: break;
      case OD_FIND_STROKE: follow_stroke(f, rule, instance, name); break;
      case OD_FIND_REVERSAL: follow_force(f, rule, instance, name); break;
      case OD_FIND_MODE: add_moded(f, name, output_of(f, name, rule->quantity), rule); break;
      case OD_FIND_SPOOL:
        if (controlled) follow_limit(f, rule, instance, name);
        break;
      default: follow_limit(f, rule, instance, name); break;
    }
  }
}

// --- Rules of block classes -------------------------------------------------------------------------------------------

// Returns the part of a number's path after ".states.", which is the name of a state; NULL: none.
static const char *state_name(const od_model *m, int number) {
  static const char key[] = ".states.";
  const char *found = NULL, *path = od_number_path(m, number);
  for (const char *at = strstr(path, key); at; at = strstr(at + 1, key)) found = at + sizeof key - 1;
  return found;
}

static void follow_states(od_findings *f, int block, const char *name, const od_class_rule *rule) {
  const od_model *m = f->model;
  const od_block *b = &m->block[block];
  od_moded *w = add_moded(f, name, output_of(f, name, rule->quantity), rule);
  if (!w) return;
  while (w->states < b->numbers && state_name(m, b->number + w->states)) w->states++;
  w->is_phase = true;
  w->name = OD_TAKE(&f->arena, const char *, w->states);
  for (int i = 0; w->name && i < w->states; i++) w->name[i] = state_name(m, b->number + i);
}

// A sum with two inputs of opposite weights is a control error under two conditions: one input is a target, and the
// other input is measured or depends on the sum itself (a loop of blocks).
static void follow_error(od_findings *f, int block, const char *name) {
  const od_model *m = f->model;
  const od_block *b = &m->block[block];
  if (b->inputs != 2 || b->numbers != 2 || !is_used(m, b->signal)) return;
  double first = m->theta[b->number], second = m->theta[b->number + 1];
  if (first != -second || first == 0) return;
  OD_SCRATCH(scratch);
  bool *marked = OD_TAKE(&scratch, bool, m->signals + 1);
  if (!marked) return;
  marked[b->signal] = true;
  mark_dependents(m, marked);
  const od_block_line *line = &m->block_line[b->line];
  int target = line[first > 0 ? 0 : 1].source, measured = line[first > 0 ? 1 : 0].source;
  if (target < 0 || target >= m->signals || marked[target]) return;
  if (!(measured >= m->signals || (measured >= 0 && marked[measured]))) return;
  od_followed *w = add_followed(f, OD_FIND_CONTROL_ERROR, block, name, output_of(f, name, ""));
  if (!w) return;
  w->condition.is_magnitude = true;
  w->condition.limit = -DBL_MIN;  // the condition is always true, so that the range of the target is recorded
  const char *of = od_model_text(m, m->input[target].name);
  add_companions(f, w, output_of(f, of, ""), -1);
}

static void follow_block(od_findings *f, int block) {
  const od_model *m = f->model;
  const od_block *b = &m->block[block];
  const od_class_rule *rule = block_rule(m, block);
  const char *name = od_model_text(m, b->name);
  if (strcmp(od_block_class_of(&m->spec[block])->type, "sum") == 0) follow_error(f, block, name);
  if (!rule) return;
  if (rule->type == OD_FIND_MODE) add_moded(f, name, output_of(f, name, rule->quantity), rule);
  if (rule->type == OD_FIND_STATES) follow_states(f, block, name, rule);
  if (rule->type != OD_FIND_COMMAND || !f->is_measured[b->signal]) return;
  double low = block_number(m, b, "limits[0]"), high = block_number(m, b, "limits[1]");
  int output = output_of(f, name, "");
  if (!(low < high) || output < 0) return;
  od_followed *w = add_followed(f, rule->type, block, name, output);
  if (!w) return;
  double half = (high - low) / 2;
  w->event = rule->on;
  w->limit = high;
  w->condition.center = (low + high) / 2;
  w->condition.limit = half * (1 - 1e-6);
  w->condition.margin = rule->margin * half;
  w->condition.is_magnitude = true;
  add_companions(f, w, output, -1);
}

// --- Rules of outputs -------------------------------------------------------------------------------------------------

static void follow_output(od_findings *f, int output) {
  const od_model *m = f->model;
  const od_output *o = &m->output[output];
  switch (o->kind) {
    case OD_OUT_NODE_CAVITATING: {
      od_followed *w = add_followed(f, OD_FIND_CAVITATION, o->index, od_model_text(m, m->node[o->index].name), output);
      if (!w) return;
      w->condition.limit = 0.5;
      w->condition.margin = 0.25;
      w->event = "begins to cavitate";
      break;
    }
    case OD_OUT_NODE_PRESSURE:
      if (m->node[o->index].kind == OD_NODE_VOLUME)
        add_followed(f, OD_FIND_PRESSURE, o->index, od_model_text(m, m->node[o->index].name), output);
      break;
    case OD_OUT_JOINT_FORCE:
      if (o->component == OD_REACTION_SIZE && !od_model_output_is_shared(m, output))
        add_followed(f, OD_FIND_JOINT_LOAD, o->index, od_model_text(m, m->joint[o->index].name), output);
      break;
    default: break;
  }
}

// Adds the work of an output to the supplied energy.
static void add_supply(od_findings *f, int output, double sign) {
  int *list = od_arena_extend(&f->arena, f->supply, f->supplies, sizeof *list);
  double *signs = od_arena_extend(&f->arena, f->supply_sign, f->supplies, sizeof *signs);
  if (!list || !signs) return;
  f->supply = list;
  f->supply_sign = signs;
  f->supply[f->supplies] = od_findings_column(f, output);
  f->supply_sign[f->supplies++] = sign;
}

// Returns the sign with which an integral counts as supplied energy; 0: the integral is not a supply. Pumps, other
// drives and sources supply energy. In a machine without drives and sources, the tanks supply energy.
static double supply_sign(const od_model *m, const od_output *o, bool by_tanks) {
  int instance = o->index - od_model_power(m, OD_POWER_ELEMENT), node = o->index - od_model_power(m, OD_POWER_NODE);
  if (o->kind != OD_OUT_INTEGRAL) return 0;
  if (node >= 0 && node < m->nodes)
    return m->node[node].kind == OD_NODE_SOURCE || (m->node[node].kind == OD_NODE_TANK && by_tanks) ? -1 : 0;
  if (instance >= 0 && instance < m->instances)
    return od_instance_class(m, &m->instance[instance])->supplies && m->instance[instance].supplier < 0 ? 1 : 0;
  return o->index >= od_model_power(m, OD_POWER_SUPPLY) && o->index < od_model_power(m, OD_POWER_OIL) ? 1 : 0;
}

// Follows the supplied work. Also requests the integrals of all energies at the end of the run.
static void follow_energy(od_findings *f) {
  const od_model *m = f->model;
  bool by_tanks = true;
  for (int i = 0; i < m->outputs; i++) by_tanks = by_tanks && supply_sign(m, &m->output[i], false) == 0;
  for (int i = 0; i < m->outputs; i++) {
    const od_output *o = &m->output[i];
    if (o->kind < OD_OUT_INTEGRAL || o->kind == OD_OUT_OIL_BALANCE) continue;
    od_findings_final_column(f, i);
    double sign = supply_sign(m, o, by_tanks);
    if (sign != 0) add_supply(f, i, sign);
  }
}

bool od_findings_follow(od_findings *f) {
  const od_model *m = f->model;
  f->is_measured = OD_TAKE(&f->arena, bool, m->signals + 1);
  if (!f->is_measured) return false;
  mark_dependents(m, f->is_measured);
  for (int i = 0; i < m->instances; i++) follow_instance(f, i);
  for (int i = 0; i < m->blocks; i++) follow_block(f, i);
  for (int i = 0; i < m->outputs; i++) follow_output(f, i);
  follow_energy(f);
  return !f->arena.exhausted;
}
