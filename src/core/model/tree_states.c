// First-order states of a machine without loops whose Newton matrix is factored along the tree (plant/model_plant_tree.c). An
// element in a joint, such as bristle friction, may have states that depend on and act on this joint alone. Such states are
// eliminated together with their joint. The remaining states are eliminated together at the end.

#include "base/allocate.h"
#include "model/builder.h"

// Sets owner[i] of each state i to a first guess: the coordinate in which the element of the state acts; -1: the
// element does not act in a joint.
static void guess_owners(const od_model *m, int *owner) {
  for (int i = 0; i < m->states; i++) owner[i] = -1;
  if (m->blocks || m->join.indirect) return;
  for (int i = 0; i < m->instances; i++) {
    const od_instance *e = &m->instance[i];
    if (od_instance_class(m, e)->acts == OD_ACTS_NOWHERE || m->actuator[e->actuator].coordinate < 0) continue;
    for (int k = 0; k < OD_MOST_ELEMENT_STATES; k++)
      if (e->state[k] >= 0) owner[e->state[k]] = m->actuator[e->actuator].coordinate;
  }
}

// Sets the owners of two coupled states to -1 if their owners differ, or the owner of a state that is coupled to a
// force or a motion in another joint. s: a force or the rate of a state; column: a state or a motion on which s
// depends. Returns whether an owner changed.
static bool meet(const od_model *m, int *owner, const od_target *s, int column) {
  int na = m->actuators, first = 2 * na, end = first + m->circuit_states;
  int row = s->kind == OD_TO_FORCE ? m->actuator[s->target].coordinate : s->state >= 0 ? owner[s->state] : -1;
  bool changed = false;
  if (column < end) {
    int of_column = column < first ? m->actuator[column % na].coordinate : owner[column - first];
    if (row == of_column) return false;
    if (s->kind != OD_TO_FORCE && s->state >= 0 && owner[s->state] >= 0) owner[s->state] = -1, changed = true;
    if (column >= first && of_column >= 0) owner[column - first] = -1, changed = true;
  }
  return changed;
}

// Sets the owner of every state that is coupled to another joint, or to a state of another joint, to -1.
static void check_owners(const od_model *m, int *owner) {
  // Each round except the last changes at least one owner.
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < m->join.targets; i++) {
      const od_target *s = &m->join.target[i];
      for (int k = 0; s->row >= 0 && k < s->ins; k++) changed = meet(m, owner, s, m->join.column[s->in + k]) || changed;
    }
  }
}

// Sets the owner to -1 for all states of joints with more than OD_MOST_JOINT_STATES states.
static void drop_large_groups(const od_model *m, int *owner, int *count) {
  for (int i = 0; i < m->states; i++)
    if (owner[i] >= 0) count[owner[i]]++;
  for (int i = 0; i < m->states; i++)
    if (owner[i] >= 0 && count[owner[i]] > OD_MOST_JOINT_STATES) owner[i] = -1;
}

// Lists the states of each joint as a group, and the states without a joint in `rest`.
static void list_groups(od_model *m, const int *owner, int *count) {
  od_tree_states *t = &m->tree_states;
  // `count` holds first the number of states of each joint, then the index of its group.
  for (int j = 0; j < m->coordinates; j++) count[j] = 0;
  for (int i = 0; i < m->states; i++)
    if (owner[i] >= 0)
      count[owner[i]]++;
    else
      t->rest[t->rests++] = i;
  for (int j = 0; j < m->coordinates; j++) {
    int states = count[j];
    count[j] = states ? t->groups : -1;
    if (states == 0) continue;
    t->group[t->groups++] = (od_joint_states){.actuator = -1, .coordinate = j, .first = t->own_count};
    t->own_count += states;
  }
  for (int i = 0; i < m->states; i++) {
    if (owner[i] < 0) continue;
    od_joint_states *g = &t->group[count[owner[i]]];
    t->own[g->first + g->count++] = i;
  }
  for (int a = 0; a < m->actuators; a++) {
    int j = m->actuator[a].coordinate;
    if (j >= 0 && count[j] >= 0) t->group[count[j]].actuator = a;
  }
}

bool od_model_find_tree_states(od_model *m) {
  size_t states = (size_t)m->states + 1, n = (size_t)m->coordinates + 1;
  od_arena arena = {.last = m->memory};
  od_tree_states *t = &m->tree_states;
  *t = (od_tree_states){.group = od_arena_take(&arena, n * sizeof *t->group),
                        .own = od_arena_take(&arena, states * sizeof *t->own),
                        .rest = od_arena_take(&arena, states * sizeof *t->rest)};
  m->memory = arena.last;
  int *owner = od_calloc(states, sizeof *owner), *count = od_calloc(n, sizeof *count);
  bool ok = t->group && t->own && t->rest && owner && count;
  if (ok) {
    guess_owners(m, owner);
    check_owners(m, owner);
    drop_large_groups(m, owner, count);
    list_groups(m, owner, count);
  }
  od_free(owner);
  od_free(count);
  return ok;
}
