// Storage of the derivatives of rates. A rate depends on few states: the row of a volume contains the states of its neighbors.
// Small machines have full rows, because full rows are faster there. In large circuits, rows contain only entries that may be
// nonzero.
#include <stdlib.h>

#include "base/allocate.h"
#include "model/builder.h"
#include "model/rate_derivatives.h"

// Rows are sparse if there are at least LARGE states and fewer than one entry in SPARSE_PART is used. The limits were measured with
// bench_circuit.
enum { LARGE = 16, SPARSE_PART = 3 };

// Row and column of each entry. The rows after the rows of rates are the flows into the junctions of a group.
typedef struct entry {
  int row, column;
} entry;
typedef struct entries {
  entry *item;
  int count, room;
  bool no_memory;
} entries;

// Appends an entry. Sets `no_memory` if an allocation fails.
static void add_entry(entries *e, int row, int column) {
  if (e->count == e->room) {
    int room = 2 * e->room + 64;
    entry *item = od_realloc(e->item, (size_t)room * sizeof *item);
    e->no_memory = e->no_memory || !item;
    if (!item) return;
    e->item = item;
    e->room = room;
  }
  e->item[e->count++] = (entry){row, column};
}

static int compare(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  return (x->column > y->column) - (x->column < y->column);
}

static void sort(entries *e) {
  int kept = 0;
  if (e->count) qsort(e->item, (size_t)e->count, sizeof *e->item, compare);
  for (int i = 0; i < e->count; i++)
    if (kept == 0 || compare(&e->item[kept - 1], &e->item[i]) != 0) e->item[kept++] = e->item[i];
  e->count = kept;
}

// ---- the entries

static int group_of(const od_model *m, int junction) {
  return m->join.at_junction.group_of[junction];
}

// Adds the columns on which an output depends to the row of each of its targets. Also adds the temperature column,
// because temperature affects all elements with oil.
static void add_targets(const od_model *m, entries *e) {
  int nothing = m->layout.rate_width - 1, temperature = 2 * m->actuators + m->join.warms;
  for (int i = 0; i < m->join.targets; i++) {
    const od_target *s = &m->join.target[i];
    if (s->row < 0 || s->kind == OD_TO_FORCE) continue;
    int row = s->state >= 0 ? s->state : m->circuit_states + group_of(m, m->node[s->target].junction);
    for (int k = 0; k < s->ins; k++)
      if (m->join.column[s->in + k] != nothing) add_entry(e, row, m->join.column[s->in + k]);
    if (m->join.warms >= 0) add_entry(e, row, temperature);
  }
  for (int i = 0; i < m->circuit_states; i++) add_entry(e, i, 2 * m->actuators + i);
  // The rate of the temperature depends on all heat sources.
  for (int i = 0; m->join.warms >= 0 && i < m->join.heaters; i++) {
    const od_instance *heater = &m->instance[m->join.heater[i].instance];
    for (int k = 0; k < od_instance_class(m, heater)->ins; k++) {
      int column = m->join.column[heater->in - m->layout.in + k];
      if (column != nothing) add_entry(e, m->join.warms, column);
    }
  }
}

// Returns the start of each group's rows among the sorted entries, and the end, or NULL if an allocation fails. The caller frees
// the list.
static int *find_groups(const od_model *m, const entries *e) {
  int groups = m->join.at_junction.groups, *begin = od_calloc((size_t)groups + 1, sizeof *begin), at = 0;
  for (int i = 0; begin && i <= groups; i++) {
    while (at < e->count && e->item[at].row < m->circuit_states + i) at++;
    begin[i] = at;
  }
  return begin;
}

// Lists the columns of each group's rows: the columns that its flows depend on, except the pressures of the group itself. Returns
// false if an allocation fails.
static bool list_group_columns(od_model *m, od_arena *arena, const entries *e, const int *begin) {
  int junctions = 2 * m->actuators + m->circuit_states + m->signals;
  od_junctions *j = &m->join.at_junction;
  j->column = od_arena_take(arena, (size_t)(begin[j->groups] - begin[0] + 1) * sizeof *j->column);
  if (!j->column) return false;
  for (int i = 0; i < j->groups; i++) {
    od_junction_group *g = &j->group[i];
    g->column = j->columns;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      if (e->item[k].column < junctions) j->column[j->columns++] = e->item[k].column;
    g->columns = j->columns - g->column;
  }
  return true;
}

// Adds columns to rates that depend on the pressure of a junction: all columns that the flows into this junction depend on.
static void add_through_junctions(const od_model *m, const int *begin, entries *e) {
  int junctions = 2 * m->actuators + m->circuit_states + m->signals, rates = begin[0];
  for (int i = 0; i < rates; i++) {
    if (e->item[i].column < junctions) continue;
    int row = e->item[i].row, group = group_of(m, e->item[i].column - junctions);
    for (int k = begin[group]; k < begin[group + 1] && !e->no_memory; k++)
      if (e->item[k].column < junctions) add_entry(e, row, e->item[k].column);
  }
}

// Lists all entries of rates, sorted, then the entries of groups, which are needed only while the model is built.
// Returns false if an allocation fails.
static bool list_entries(const od_model *m, entries *e) {
  add_targets(m, e);
  if (e->no_memory) return false;
  sort(e);
  if (m->junctions == 0) return true;
  int *begin = find_groups(m, e);
  if (begin) add_through_junctions(m, begin, e);
  e->no_memory = e->no_memory || !begin;
  od_free(begin);
  if (!e->no_memory) sort(e);
  return !e->no_memory;
}

// ---- places of the entries in memory

static bool is_sparse_enough(const od_model *m, od_sparsity sparsity, int rates) {
  long states = m->circuit_states;
  if (sparsity != OD_SPARSE_BY_SIZE) return sparsity == OD_SPARSE_ALWAYS && states > 0;
  return rates < states * states / SPARSE_PART;
}

// Assigns the places of the rows of junctions, then of the rows of rates.
static void move_rows(od_model *m) {
  od_layout *l = &m->layout;
  int end = l->force_row + m->actuators * l->force_width;
  for (int i = 0; i < m->join.at_junction.groups; i++) {
    od_junction_group *g = &m->join.at_junction.group[i];
    g->width = g->columns + g->count;
    g->row = end;
    end += g->count * g->width;
  }
  l->rate_row = end;
}

// Writes the sparse rows. begin: start of the rows of each group among the entries; the entries of rates come before them.
// Returns false if an allocation fails.
static bool write_sparse_rows(od_model *m, od_arena *arena, const entries *e, const int *begin) {
  od_join *j = &m->join;
  od_layout *l = &m->layout;
  int rates = begin[0];
  j->row_start = od_arena_take(arena, (size_t)(m->circuit_states + 1) * sizeof *j->row_start);
  j->row_column = od_arena_take(arena, (size_t)(rates + 1) * sizeof *j->row_column);
  if (!j->row_start || !j->row_column || !list_group_columns(m, arena, e, begin)) return false;
  j->row_starts = m->circuit_states + 1;
  j->row_columns = rates;
  move_rows(m);
  for (int i = 0; i < rates; i++) {
    j->row_start[e->item[i].row + 1]++;
    j->row_column[i] = e->item[i].column;
  }
  for (int i = 0; i < m->circuit_states; i++) j->row_start[i + 1] += j->row_start[i];
  for (int i = 0; i < j->targets; i++) {
    od_target *s = &j->target[i];
    if (s->row < 0 || s->kind == OD_TO_FORCE) continue;
    s->row = s->state >= 0 ? l->rate_row + j->row_start[s->state] : od_junction_row(m, m->node[s->target].junction);
  }
  // The last scalar is for derivatives with respect to constants.
  l->scalars_real = l->rate_row + rates + 1;
  return true;
}

// Returns the place to which the derivative of an output with respect to an input is added.
static int place_of(const od_model *m, const od_target *s, int in) {
  const od_join *j = &m->join;
  if (s->row < 0) return m->layout.scalars_real - 1;
  if (s->kind == OD_TO_FORCE) return s->row + j->force_column[in];
  return s->state >= 0 ? od_rate_place(m, s->state, j->column[in])
                       : od_junction_place(m, m->node[s->target].junction, j->column[in]);
}

bool od_join_rows(od_model *m, od_arena *arena, od_sparsity sparsity) {
  od_join *j = &m->join;
  entries e = {0};
  bool small = sparsity != OD_SPARSE_ALWAYS && m->circuit_states < LARGE;
  bool ok = small || list_entries(m, &e);
  int *begin = ok && !small ? find_groups(m, &e) : NULL;
  ok = ok && (small || begin);
  if (ok && !small && is_sparse_enough(m, sparsity, begin[0])) ok = write_sparse_rows(m, arena, &e, begin);
  od_free(begin);
  od_free(e.item);
  if (!ok) return false;
  int places = 0;
  for (int i = 0; i < j->targets; i++) {
    j->target[i].place = places;
    places += j->target[i].ins;
  }
  j->places = places;
  j->place = od_arena_take(arena, (size_t)(places + 1) * sizeof *j->place);
  j->diagonal = od_arena_take(arena, (size_t)(m->circuit_states + 1) * sizeof *j->diagonal);
  if (!j->place || !j->diagonal) return false;
  for (int i = 0; i < j->targets; i++)
    for (int k = 0; k < j->target[i].ins; k++)
      j->place[j->target[i].place + k] = place_of(m, &j->target[i], j->target[i].in + k);
  for (int i = 0; i < m->circuit_states; i++) j->diagonal[i] = od_rate_place(m, i, 2 * m->actuators + i);
  return true;
}
