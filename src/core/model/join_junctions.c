// Elements with an end at a junction: constant tables for the computation of junction pressures (hydraulics/junctions_x.h).

#include "base/allocate.h"
#include "model/builder.h"
#include "model/rate_derivatives.h"

static int junction_of(const od_model *m, int node) {
  return node >= 0 ? m->node[node].junction : -1;
}

// Returns the junction whose pressure is the k-th input of an instance, or -1.
static int junction_in(const od_model *m, const od_instance *e, int k) {
  return junction_of(m, m->join.node[e->in - m->layout.in + k]);
}

static bool has_end_at_junction(const od_model *m, const od_instance *e) {
  for (int k = 0; k < OD_MOST_ENDS; k++)
    if (junction_of(m, e->end[k]) >= 0) return true;
  return false;
}

static int matrix_place(const od_model *m, int row, int column) {
  const od_junction_group *g = od_junction_group_of(m, row);
  return g->matrix + (row - g->first) * g->count + column - g->first;
}

// Lists the flows of an instance into junctions, and the derivatives of these flows with respect to the pressures of
// junctions.
static void add_flows(od_model *m, const od_instance *e, int place) {
  od_junctions *j = &m->join.at_junction;
  for (int t = e->target; t < e->target + e->targets; t++) {
    const od_target *s = &m->join.target[t];
    int row = s->kind == OD_TO_END ? junction_of(m, s->target) : -1;
    if (row < 0) continue;
    j->flow[j->flows++] = (od_junction_flow){s->from, row, s->sign};
    for (int k = 0; k < s->ins; k++)
      if (junction_in(m, e, k) >= 0)
        j->slope[j->slopes++] = (od_junction_slope){.row = row,
                                                    .column = junction_in(m, e, k),
                                                    .from = s->from,
                                                    .in = e->in + k,
                                                    .slope = s->slope + k,
                                                    .instance = place,
                                                    .at = matrix_place(m, row, junction_in(m, e, k)),
                                                    .sign = s->sign};
  }
}

// Adds an instance with an end at a junction: its inputs, its flows and a separate batch.
static void add_instance(od_model *m, int instance) {
  od_junctions *j = &m->join.at_junction;
  const od_instance *e = &m->instance[instance];
  for (int k = 0; k < od_instance_class(m, e)->ins; k++)
    if (junction_in(m, e, k) >= 0)
      j->in[j->ins++] = (od_junction_in){e->in + k, m->join.node[e->in - m->layout.in + k]};
  add_flows(m, e, j->instances);
  j->instance[j->instances] = instance;
  j->alone[j->instances++] = od_instance_batch(m, e);
}

bool od_join_junctions(od_model *m, od_arena *arena) {
  od_junctions *j = &m->join.at_junction;
  if (m->junctions == 0) return true;
  size_t instances = 0, ins = 0, flows = 0, slopes = 0;
  for (int i = 0; i < m->instances; i++) {
    const od_element_class *c = od_instance_class(m, &m->instance[i]);
    if (!has_end_at_junction(m, &m->instance[i])) continue;
    instances++, ins += (size_t)c->ins, flows += (size_t)m->instance[i].targets;
    slopes += (size_t)(m->instance[i].targets * c->ins);
  }
  j->node = od_arena_take(arena, (size_t)m->junctions * sizeof *j->node);
  j->instance = od_arena_take(arena, (instances + 1) * sizeof *j->instance);
  j->alone = od_arena_take(arena, (instances + 1) * sizeof *j->alone);
  j->in = od_arena_take(arena, (ins + 1) * sizeof *j->in);
  j->flow = od_arena_take(arena, (flows + 1) * sizeof *j->flow);
  j->slope = od_arena_take(arena, (slopes + 1) * sizeof *j->slope);
  if (!j->node || !j->instance || !j->alone || !j->in || !j->flow || !j->slope) return false;
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].junction >= 0) j->node[m->node[i].junction] = i;
  for (int i = 0; i < m->instances; i++)
    if (has_end_at_junction(m, &m->instance[i])) add_instance(m, i);
  return true;
}

// ---- groups of connected junctions

// Returns the first junction of a group (union-find).
static int first_of(int *first, int junction) {
  while (first[junction] != junction) junction = first[junction] = first[first[junction]];
  return junction;
}

// Joins junctions at the ends of one element. Afterwards, first_of() returns the first junction of the group of each
// junction.
static void join_ends(const od_model *m, int *first) {
  for (int i = 0; i < m->junctions; i++) first[i] = i;
  for (int i = 0; i < m->instances; i++) {
    int before = -1;
    for (int k = 0; k < OD_MOST_ENDS; k++) {
      int junction = junction_of(m, m->instance[i].end[k]);
      if (junction < 0) continue;
      if (before >= 0) {
        int a = first_of(first, before), b = first_of(first, junction);
        first[a > b ? a : b] = a > b ? b : a;
      }
      before = junction;
    }
  }
}

bool od_group_junctions(od_model *m, od_arena *arena) {
  od_junctions *j = &m->join.at_junction;
  size_t size = (size_t)m->junctions + 1;
  int *first = od_malloc(size * sizeof *first), *group = od_malloc(size * sizeof *group);
  j->group = od_arena_take(arena, size * sizeof *j->group);
  j->group_of = od_arena_take(arena, size * sizeof *j->group_of);
  bool ok = first && group && j->group && j->group_of;
  if (ok) {
    join_ends(m, first);
    for (int i = 0; i < m->junctions; i++) {
      int own = first_of(first, i);
      group[i] = own == i ? j->groups++ : group[own];
      j->group[group[i]].count++;
    }
    for (int i = 1; i < j->groups; i++) j->group[i].first = j->group[i - 1].first + j->group[i - 1].count;
    for (int i = 0; i < j->groups; i++) j->group[i].count = 0;
    // Junctions are numbered group by group.
    for (int i = 0; i < m->nodes; i++) {
      if (m->node[i].junction < 0) continue;
      od_junction_group *g = &j->group[group[m->node[i].junction]];
      m->node[i].junction = g->first + g->count++;
      j->group_of[m->node[i].junction] = (int)(g - j->group);
    }
  }
  od_free(first);
  od_free(group);
  return ok;
}

// ---- checks

void od_check_junctions(od_build *b, const od_model *m) {
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    const od_element_description *c = od_instance_description(m, e);
    const char *why = od_element_not_at_junctions(c->equations);
    for (int k = 0; why && k < OD_MOST_ENDS; k++)
      if (junction_of(m, e->end[k]) >= 0)
        od_build_report(
            b, OD_ABOUT_ELEMENT, i,
            "%s '%s' ends at '%s', a junction without volume, but the element %s; expected a volume in place of the "
            "junction",
            c->noun, od_model_text(m, e->name), od_model_text(m, m->node[e->end[k]].name), why);
  }
  bool *flows = od_calloc((size_t)m->nodes + 1, sizeof *flows);
  b->no_memory = b->no_memory || !flows;
  for (int k = 0; flows && k < m->instances * OD_MOST_ENDS; k++) {
    int node = m->instance[k / OD_MOST_ENDS].end[k % OD_MOST_ENDS];
    if (node >= 0) flows[node] = true;
  }
  for (int i = 0; flows && i < m->nodes; i++)
    if (m->node[i].junction >= 0 && !flows[i])
      od_build_report(
          b, OD_ABOUT_NODE, i,
          "no element lets oil flow into or out of the junction '%s', so its pressure is undefined; connect an element, or remove the junction",
          od_model_text(m, m->node[i].name));
  od_free(flows);
}
