// The pattern of the matrix of an implicit step, for machines with sparse rows of rates: dg/dk + beta dg/d(w,c) + alpha dg/dz.
// plant/sparse_steps.c fills the matrix.
#include "model/step_pattern.h"

#include <string.h>

#include "base/allocate.h"
#include "model/builder.h"
#include "model/outputs.h"

// Sparse factors with more than 1 / DENSE_PART of the entries of a dense matrix are slower than dense factors.
enum { DENSE_PART = 2 };

typedef struct entries {
  int *row, *column, count;
} entries;

static void add(entries *e, int row, int column) {
  e->row[e->count] = row;
  e->column[e->count++] = column;
}

// ---- states related to motion and blocks

// Marks the states on which quantities that blocks measure depend, and the states of the blocks.
static void mark_felt(const od_model *m, bool *mark) {
  for (int i = 0; i < m->measures; i++) od_output_mark_states(m, &m->measure[i], mark);
  for (int i = m->circuit_states; i < m->states; i++) mark[i] = true;
}

// Marks the states of the circuit whose rates depend on signals that blocks drive.
static void mark_driven(const od_model *m, bool *mark) {
  int first = 2 * m->actuators + m->circuit_states;
  bool *drives = od_calloc((size_t)m->signals + 1, sizeof *drives);
  for (int i = 0; drives && i < m->drives; i++) drives[m->drive[i]] = true;
  for (int i = 0; i < m->circuit_states; i++)
    for (int k = m->join.row_start[i]; k < m->join.row_start[i + 1]; k++) {
      int signal = m->join.row_column[k] - first;
      if (signal >= 0 && signal < m->signals && (!drives || drives[signal])) mark[i] = true;
    }
  od_free(drives);
}

// Marks the states of the circuit whose rates depend on lengths or speeds.
static void mark_moved(const od_model *m, bool *mark) {
  for (int i = 0; i < m->circuit_states; i++)
    if (m->join.row_start[i] < m->join.row_start[i + 1] && m->join.row_column[m->join.row_start[i]] < 2 * m->actuators)
      mark[i] = true;
}

static int list_marked(const od_model *m, bool *mark, int *list) {
  int count = 0;
  for (int i = 0; i < m->states; i++)
    if (mark[i]) list[count++] = i;
  memset(mark, 0, (size_t)m->states * sizeof *mark);
  return count;
}

// Lists the states that motion and blocks couple. Returns false if an allocation fails.
static bool list_couplings(od_model *m, od_arena *arena) {
  od_step_pattern *p = &m->step;
  size_t size = (size_t)m->states + 1;
  bool *mark = od_calloc(size, sizeof *mark);
  int **lists[] = {&p->moved, &p->pushing, &p->driven, &p->felt};
  bool ok = mark != NULL;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    ok = (*lists[i] = od_arena_take(arena, size * sizeof **lists[i])) && ok;
  if (ok) {
    od_model_mark_pushing(m, mark);
    p->pushes = list_marked(m, mark, p->pushing);
    if (m->blocks) {
      mark_felt(m, mark);
      p->feels = list_marked(m, mark, p->felt);
      mark_driven(m, mark);
      p->drives = list_marked(m, mark, p->driven);
      mark_driven(m, mark);
    }
    mark_moved(m, mark);
    p->moves = list_marked(m, mark, p->moved);
  }
  od_free(mark);
  return ok;
}

// ---- the entries, in the order in which they are filled

// Lists the row and the column of every entry of the matrix of a step.
static void list_entries(od_model *m, entries *e) {
  const od_join *j = &m->join;
  od_step_pattern *p = &m->step;
  int n = m->freedom, circuit = m->circuit_states, first = 2 * m->actuators, end = first + circuit;
  for (int i = 0; i < circuit; i++) {
    add(e, n + i, n + i);
    for (int k = j->row_start[i]; k < j->row_start[i + 1]; k++)
      if (j->row_column[k] >= first && j->row_column[k] < end) {
        p->slope[p->slopes++] = k;
        add(e, n + i, n + j->row_column[k] - first);
      }
  }
  for (int i = circuit; i < m->states; i++) add(e, n + i, n + i);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) add(e, i, k);
    for (int i = 0; i < p->moves; i++) add(e, n + p->moved[i], k);
    for (int i = circuit; i < m->states; i++) add(e, n + i, k);
  }
  for (int k = 0; k < n; k++)
    for (int i = 0; i < p->pushes; i++) add(e, k, n + p->pushing[i]);
  for (int k = 0; k < p->feels; k++) {
    for (int i = 0; i < n; i++) add(e, i, n + p->felt[k]);
    for (int i = 0; i < p->drives; i++) add(e, n + p->driven[i], n + p->felt[k]);
    for (int i = circuit; i < m->states; i++) add(e, n + i, n + p->felt[k]);
  }
}

static size_t most_entries(const od_model *m) {
  const od_step_pattern *p = &m->step;
  size_t n = (size_t)m->freedom, states = (size_t)m->states, blocks = (size_t)(m->states - m->circuit_states);
  size_t rates = (size_t)m->join.row_start[m->circuit_states];
  return states + rates + n * (n + (size_t)(p->moves + p->pushes) + blocks) +
         (size_t)p->feels * (n + (size_t)p->drives + blocks);
}

bool od_model_find_step_pattern(od_model *m, od_sparsity sparsity) {
  od_step_pattern *p = &m->step;
  *p = (od_step_pattern){0};
  if (!m->join.row_start) return true;
  od_arena arena = {.last = m->memory};
  size_t nk = (size_t)(m->freedom + m->states), part = sparsity == OD_SPARSE_ALWAYS ? 1 : DENSE_PART;
  p->slope = od_arena_take(&arena, (size_t)(m->join.row_start[m->circuit_states] + 1) * sizeof *p->slope);
  bool ok = p->slope && list_couplings(m, &arena);
  size_t most = ok ? most_entries(m) : 0;
  if (ok && (most <= nk * nk / part || sparsity == OD_SPARSE_ALWAYS)) {
    entries e = {od_malloc((most + 1) * sizeof *e.row), od_malloc((most + 1) * sizeof *e.column), 0};
    ok = e.row && e.column;
    if (ok) list_entries(m, &e);
    ok = ok && od_sparse_analyze((int)nk, e.row, e.column, e.count, (long)(nk * nk / part), &arena, &p->sparse);
    od_free(e.row);
    od_free(e.column);
  }
  if (p->sparse.values == 0) *p = (od_step_pattern){0};
  p->starts = p->sparse.values ? p->sparse.n + 1 : 0;
  m->memory = arena.last;
  return ok;
}
