// The pattern of the matrix of an implicit step, dg/dk + beta dg/d(w,c) + alpha dg/dz, of machines whose rows of rates are sparse:
// rows and columns are the degrees of freedom, then the states of the circuit. plant/sparse_steps.c fills it.
#include <stdlib.h>

#include "model/builder.h"

// More numbers in the factors than this part of a dense matrix are not worth while.
enum { DENSE_PART = 3 };

typedef struct entries {
  int *row, *column, count;
} entries;

static void add(entries *e, int row, int column) {
  e->row[e->count] = row;
  e->column[e->count++] = column;
}

// Which states forces depend on, and which rates depend on lengths or speeds.
static bool list_couplings(od_model *m, od_arena *arena) {
  const od_join *j = &m->join;
  od_step_pattern *p = &m->step;
  int first = 2 * m->actuators, end = first + m->circuit_states;
  bool *pushes = calloc((size_t)m->circuit_states + 1, sizeof *pushes);
  p->pushing = od_arena_take(arena, (size_t)(m->circuit_states + 1) * sizeof *p->pushing);
  p->moved = od_arena_take(arena, (size_t)(m->circuit_states + 1) * sizeof *p->moved);
  bool ok = pushes && p->pushing && p->moved;
  for (int i = 0; ok && i < j->forces; i++) {
    const od_target *s = &j->target[j->force[i]];
    for (int k = 0; k < s->ins; k++) {
      int column = j->column[s->in + k];
      if (column >= first && column < end) pushes[column - first] = true;
    }
    if (j->warms >= 0) pushes[j->warms] = true;
  }
  for (int i = 0; ok && i < m->circuit_states; i++) {
    if (pushes[i]) p->pushing[p->pushings++] = i;
    if (j->row_start[i] < j->row_start[i + 1] && j->row_column[j->row_start[i]] < first) p->moved[p->moves++] = i;
  }
  free(pushes);
  return ok;
}

// In the order in which they are filled.
static void list_entries(od_model *m, entries *e) {
  const od_join *j = &m->join;
  od_step_pattern *p = &m->step;
  int n = m->freedom, first = 2 * m->actuators, end = first + m->circuit_states;
  for (int i = 0; i < m->circuit_states; i++) {
    add(e, n + i, n + i);
    for (int k = j->row_start[i]; k < j->row_start[i + 1]; k++)
      if (j->row_column[k] >= first && j->row_column[k] < end) {
        p->slope[p->slopes++] = k;
        add(e, n + i, n + j->row_column[k] - first);
      }
  }
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) add(e, i, k);
    for (int i = 0; i < p->moves; i++) add(e, n + p->moved[i], k);
  }
  for (int k = 0; k < n; k++)
    for (int i = 0; i < p->pushings; i++) add(e, k, n + p->pushing[i]);
}

bool od_model_find_step_pattern(od_model *m, od_sparsity sparsity) {
  od_step_pattern *p = &m->step;
  *p = (od_step_pattern){0};
  if (!m->join.row_start || m->blocks) return true;
  od_arena arena = {m->memory};
  size_t n = (size_t)m->freedom, states = (size_t)m->circuit_states, nk = n + states;
  size_t rates = (size_t)m->join.row_start[m->circuit_states];
  bool ok = list_couplings(m, &arena);
  size_t most = states + rates + n * (n + (size_t)p->moves + (size_t)p->pushings) + 1;
  entries e = {malloc(most * sizeof *e.row), malloc(most * sizeof *e.column), 0};
  p->slope = od_arena_take(&arena, (rates + 1) * sizeof *p->slope);
  ok = ok && e.row && e.column && p->slope;
  if (ok) {
    long worth = (long)(nk * nk) / (sparsity == OD_SPARSE_ALWAYS ? 1 : DENSE_PART);
    list_entries(m, &e);
    ok = od_sparse_analyse((int)nk, e.row, e.column, e.count, worth, &arena, &p->sparse);
  }
  free(e.row);
  free(e.column);
  m->memory = arena.last;
  return ok;
}
