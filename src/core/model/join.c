// Connects elements to the rest of a machine: constant tables of integers with the sources of each instance's inputs and the
// targets of its outputs.
#include <string.h>

#include "model/builder.h"
#include "model/rate_derivatives.h"

// ---- batches: the instances of one class

bool od_join_batches(od_model *m, od_arena *arena) {
  od_join *j = &m->join;
  j->batch = od_arena_take(arena, (size_t)(m->element_classes + 1) * sizeof *j->batch);
  if (!j->batch) return false;
  for (int k = 0; k < m->element_classes; k++) {
    const od_element_class *c = m->element_class[k];
    od_batch b = {.element_class = k, .kept_scalars = c->kept, .choices = c->choices};
    for (int i = 0; i < m->instances; i++)
      if (m->instance[i].element_class == k) {
        m->instance[i].batch = j->batches;
        m->instance[i].place = b.count++;
      }
    if (b.count == 0) continue;
    // Offsets within each kind of memory; place_batches() adds the start of this memory in w.
    b.in = j->ins, b.out = j->outs, b.kept = j->kept, b.report = j->reports, b.slope = j->slopes;
    j->ins += b.count * c->ins;
    j->outs += b.count * c->outs;
    j->kept += b.count * c->kept;
    j->reports += b.count * c->reports;
    j->slopes += b.count * c->ins * c->outs;
    j->batch[j->batches++] = b;
  }
  return true;
}

// Places batches and instances in the work memory, and fills the pool of integers that they use. Returns false if an allocation
// fails.
static bool place_batches(od_model *m, od_arena *arena) {
  od_join *j = &m->join;
  const od_layout *l = &m->layout;
  int used = m->operations * OD_OPERATION_INTS;
  j->pool =
      od_arena_take(arena, ((size_t)m->instances * (5 + OD_MOST_ELEMENT_CHOICES) + (size_t)used + 1) * sizeof *j->pool);
  if (!j->pool) return false;
  if (used) memcpy(j->pool, m->operation, (size_t)used * sizeof *j->pool);
  m->operation = (od_operation *)(void *)j->pool;
  for (int i = 0; i < m->blocks; i++)
    if (m->block[i].operations) m->spec[i].formula.operation = m->operation + m->block[i].formula;
  for (int k = 0; k < j->batches; k++) {
    od_batch *b = &j->batch[k];
    b->in += l->in, b->out += l->out, b->kept += l->kept, b->report += l->report, b->slope += l->slope;
    b->oil = l->oil;
    b->number = used, b->host = used + b->count, b->choice = used + 2 * b->count;
    used += b->count * (2 + b->choices);
    if (!od_batch_class(m, b)->has_formula) continue;
    b->formula = used, b->operations = used + b->count, b->held = used + 2 * b->count;
    used += 3 * b->count;
  }
  j->pool_count = used;
  for (int i = 0; i < m->instances; i++) {
    od_instance *e = &m->instance[i];
    const od_batch *b = &j->batch[e->batch];
    const od_element_class *c = od_instance_class(m, e);
    e->in = b->in + e->place * c->ins;
    e->out = b->out + e->place * c->outs;
    e->slope = b->slope + e->place * c->ins * c->outs;
    j->pool[b->number + e->place] = l->theta + e->number;
    j->pool[b->host + e->place] = l->theta + (e->host >= 0 ? m->instance[e->host].number : 0);
    memcpy(j->pool + b->choice + e->place * b->choices, e->choice, (size_t)b->choices * sizeof *j->pool);
    if (b->formula == 0) continue;
    j->pool[b->formula + e->place] = e->formula * OD_OPERATION_INTS;
    j->pool[b->operations + e->place] = e->operations;
    j->pool[b->held + e->place] = l->held + e->held;
  }
  return true;
}

// ---- inputs of instances

// The offset of a value in w, its column in rows of derivatives, and its node if it is a pressure.
typedef struct source {
  int offset, column, node;
} source;

// Returns the pressure of a node as a source of inputs.
static source pressure_source(const od_model *m, int node) {
  const od_layout *l = &m->layout;
  int states = 2 * m->actuators, signals = states + m->circuit_states;
  const od_node *n = &m->node[node];
  int column = n->state >= 0      ? states + n->state
               : n->junction >= 0 ? signals + m->signals + n->junction
               : n->input >= 0    ? signals + n->input
                                  : l->rate_width - 1;
  return (source){l->pressure + node, column, node};
}

static source signal_source(const od_model *m, int signal) {
  const od_layout *l = &m->layout;
  if (signal < 0) return (source){l->one, l->rate_width - 1, -1};
  return (source){l->u + signal, 2 * m->actuators + m->circuit_states + signal, -1};
}

// Returns the source of a state. If the state is absent, the source is the signal that the state would follow.
static source state_source(const od_model *m, const od_instance *e, int index) {
  int state = e->state[index];
  return state < 0 ? signal_source(m, e->signal) : (source){m->layout.c + state, 2 * m->actuators + state, -1};
}

// Returns the source of an input of an instance.
static source source_of(const od_model *m, const od_instance *e, od_in_slot slot) {
  const od_layout *l = &m->layout;
  switch (slot.kind) {
    case OD_IN_PRESSURE:
      if (e->end[slot.index] >= 0) return pressure_source(m, e->end[slot.index]);
      return (source){l->nothing, l->rate_width - 1, -1};
    case OD_IN_LENGTH: return (source){l->length + e->actuator, e->actuator, -1};
    case OD_IN_SPEED: return (source){l->speed + e->actuator, m->actuators + e->actuator, -1};
    case OD_IN_SIGNAL: return signal_source(m, slot.index > 0 ? e->more_signals[slot.index - 1] : e->signal);
    case OD_IN_STATE: return state_source(m, e, slot.index);
    case OD_IN_HOST_STATE: return state_source(m, &m->instance[e->host], slot.index);
    case OD_IN_HEAT:  // computed by the circuit after all other inputs
    case OD_IN_NONE: break;
  }
  return (source){l->nothing, l->rate_width - 1, -1};
}

// Returns the column of the row of a force that corresponds to a column of the row of a rate. The row of a force begins
// with the force's own length and speed instead of all lengths and speeds.
static int force_column(const od_model *m, int column) {
  int na = m->actuators;
  return column < na ? 0 : column < 2 * na ? 1 : column - 2 * na + 2;
}

// Lists the source of every input of every instance. Returns false if an allocation fails.
static bool list_sources(od_model *m, od_arena *arena) {
  od_join *j = &m->join;
  size_t size = (size_t)(j->ins + 1) * sizeof *j->gather;
  j->gather = od_arena_take(arena, size);
  j->column = od_arena_take(arena, size);
  j->force_column = od_arena_take(arena, size);
  j->gain = od_arena_take(arena, size);
  j->node = od_arena_take(arena, size);
  if (!j->gather || !j->column || !j->force_column || !j->gain || !j->node) return false;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_class *c = od_instance_class(m, e);
    for (int k = 0; k < c->ins; k++) {
      source s = source_of(m, e, c->in[k]);
      int at = e->in - m->layout.in + k;
      j->gather[at] = s.offset, j->column[at] = s.column, j->node[at] = s.node;
      j->force_column[at] = force_column(m, s.column);
      j->gain[at] = s.node >= 0 ? m->layout.pressure_gain + s.node : m->layout.one;
    }
  }
  return true;
}

// ---- targets of outputs

static int state_of(const od_model *m, od_out_kind kind, int target) {
  return kind == OD_TO_FORCE ? -1 : kind == OD_TO_RATE ? target : m->node[target].state;
}

static int row_of(const od_model *m, od_out_kind kind, int target) {
  const od_layout *l = &m->layout;
  if (kind == OD_TO_FORCE) return l->force_row + target * l->force_width;
  if (kind == OD_TO_END && m->node[target].junction >= 0) return od_junction_row(m, m->node[target].junction);
  int state = state_of(m, kind, target);
  return state >= 0 ? l->rate_row + state * l->rate_width : -1;
}

// Returns the number of inputs of an instance without the constant inputs at the end, such as the value 1 of a missing
// signal. Sums of derivatives do not include constant inputs.
static int moving_ins(const od_model *m, const od_instance *e) {
  const int *column = m->join.column + e->in - m->layout.in;
  int ins = od_instance_class(m, e)->ins;
  while (ins > 0 && column[ins - 1] == m->layout.rate_width - 1) ins--;
  return ins;
}

// Adds a target of output `out`: w[to] += sign * output.
static void add_target(od_model *m, const od_instance *e, int out, od_out_kind kind, int to, int target, int sign) {
  const od_element_class *c = od_instance_class(m, e);
  m->join.target[m->join.targets++] = (od_target){.from = e->out + out,
                                                  .to = to,
                                                  .sign = sign,
                                                  .kind = kind,
                                                  .target = target,
                                                  .slope = e->slope + out * c->ins,
                                                  .in = e->in - m->layout.in,
                                                  .ins = moving_ins(m, e),
                                                  .row = row_of(m, kind, target),
                                                  .state = state_of(m, kind, target)};
}

static void add_flow(od_model *m, const od_instance *e, int out, int end, int sign) {
  int node = e->end[end];
  if (node >= 0) add_target(m, e, out, OD_TO_END, m->layout.inflow + node, node, sign);
}

// Adds the flow at an end. If the element has a variable volume at this end (a cylinder chamber), the flow is marked as
// the rate of this volume.
static void add_end_flow(od_model *m, const od_instance *e, int out, int end) {
  const od_element_class *c = od_instance_class(m, e);
  add_flow(m, e, out, end, 1);
  for (int k = 0; k < c->outs && e->end[end] >= 0; k++) {
    if (c->out[k].kind != OD_TO_VOLUME || c->out[k].index != end) continue;
    m->join.target[m->join.targets - 1].displaces = true;
    m->join.displacer[m->join.displacers++] = m->join.targets - 1;
  }
}

// Adds the targets of output `out` of an instance.
static void place_out(od_model *m, const od_instance *e, int out, od_out_slot slot) {
  const od_layout *l = &m->layout;
  switch (slot.kind) {
    case OD_TO_THROUGH:
      add_flow(m, e, out, 0, -1);
      add_flow(m, e, out, 1, 1);
      break;
    case OD_TO_END: add_end_flow(m, e, out, slot.index); break;
    case OD_TO_VOLUME: add_target(m, e, out, slot.kind, l->volume + e->end[slot.index], e->end[slot.index], 1); break;
    case OD_TO_LARGEST: add_target(m, e, out, slot.kind, l->largest + e->end[slot.index], e->end[slot.index], 1); break;
    case OD_TO_COMPLIANCE:
      add_target(m, e, out, slot.kind, l->compliance + e->end[slot.index], e->end[slot.index], 1);
      m->join.compliant = true;
      break;
    case OD_TO_FORCE:
      m->join.force[m->join.forces++] = m->join.targets;
      add_target(m, e, out, slot.kind, l->force + e->actuator, e->actuator, 1);
      break;
    case OD_TO_RATE:
      if (e->state[slot.index] >= 0)
        add_target(m, e, out, slot.kind, l->rate + e->state[slot.index], e->state[slot.index], 1);
      break;
    case OD_TO_NOTHING: break;
  }
}

// Lists the targets of every output of every instance. Returns false if an allocation fails.
static bool list_targets(od_model *m, od_arena *arena) {
  od_join *j = &m->join;
  j->target = od_arena_take(arena, (size_t)(2 * j->outs + 1) * sizeof *j->target);
  j->force = od_arena_take(arena, (size_t)(j->outs + 1) * sizeof *j->force);
  j->displacer = od_arena_take(arena, (size_t)(j->outs + 1) * sizeof *j->displacer);
  if (!j->target || !j->force || !j->displacer) return false;
  for (int i = 0; i < m->instances; i++) {
    od_instance *e = &m->instance[i];
    const od_element_class *c = od_instance_class(m, e);
    e->target = j->targets;
    for (int k = 0; k < c->outs; k++) place_out(m, e, k, c->out[k]);
    e->targets = j->targets - e->target;
  }
  return true;
}

// ---- instances that use each number of theta

// An instance uses its own numbers. If its class reads the numbers of its host, the instance also uses these numbers. If `user` is
// NULL, counts the users of each number; otherwise stores the users at next[].
static void add_users(const od_model *m, int instance, int *next, od_number_user *user) {
  const od_instance *e = &m->instance[instance], *host = e->host >= 0 ? &m->instance[e->host] : NULL;
  for (int k = 0; k < e->numbers; k++) {
    if (user) user[next[e->number + k]] = (od_number_user){instance, e->batch, e->place, k};
    next[e->number + k]++;
  }
  for (int k = 0; host && od_instance_class(m, e)->reads_host && k < host->numbers; k++) {
    int number = host->number + k;
    if (number >= e->number && number < e->number + e->numbers) continue;
    if (user) user[next[number]] = (od_number_user){instance, e->batch, e->place, OD_NUMBER_OF_HOST + k};
    next[number]++;
  }
}

// Lists the instances that use each number. Returns false if an allocation fails.
static bool list_users(od_model *m, od_arena *arena) {
  od_join *j = &m->join;
  size_t size = (size_t)(m->numbers + 1) * sizeof *j->first_user;
  j->first_user = od_arena_take(arena, size);
  int *next = od_arena_take(arena, size);
  if (!j->first_user || !next) return false;
  for (int i = 0; i < m->instances; i++) add_users(m, i, next, NULL);
  for (int i = 0; i < m->numbers; i++) {
    j->first_user[i] = j->users;
    j->users += next[i];
    next[i] = j->first_user[i];
  }
  j->first_user[m->numbers] = j->users;
  j->user = od_arena_take(arena, (size_t)(j->users + 1) * sizeof *j->user);
  if (!j->user) return false;
  for (int i = 0; i < m->instances; i++) add_users(m, i, next, j->user);
  return true;
}

bool od_join_tables(od_model *m, od_arena *arena) {
  return place_batches(m, arena) && list_sources(m, arena) && list_targets(m, arena) && list_users(m, arena) &&
         od_join_junctions(m, arena) && od_join_heat(m, arena);
}
