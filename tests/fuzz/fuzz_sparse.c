// Sparse LU factors of any pattern. The bytes are entries: a row, a column and a number each. Oracle: dense factors with pivoting, for
// diagonally dominant matrices, which can be eliminated in any order.
#include "math/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "math/dense.h"

enum { MOST_ROWS = 40, MOST_ENTRIES = 400 };

typedef struct matrix {
  int n, entries, row[MOST_ENTRIES], column[MOST_ENTRIES];
  double a[MOST_ENTRIES];
} matrix;

static void add(matrix *m, int row, int column, double a) {
  m->row[m->entries] = row, m->column[m->entries] = column, m->a[m->entries++] = a;
}

static matrix read_matrix(const uint8_t *data, size_t size) {
  matrix m = {.n = size > 0 ? 1 + data[0] % MOST_ROWS : 1};
  for (size_t at = 1; at + 2 < size && m.entries < MOST_ENTRIES - MOST_ROWS; at += 3)
    add(&m, data[at] % m.n, data[at + 1] % m.n, (data[at + 2] - 128) / 16.0);
  return m;
}

// A dominant diagonal (in rows and columns), with a different margin for each entry.
static void strengthen(matrix *m) {
  double rest[MOST_ROWS] = {0};
  for (int e = 0; e < m->entries; e++) rest[m->row[e]] += fabs(m->a[e]), rest[m->column[e]] += fabs(m->a[e]);
  for (int i = 0; i < m->n; i++) add(m, i, i, (i % 2 ? -1 : 1) * (1 + 2 * rest[i]));
}

static od_status solve(const matrix *m, double *b) {
  od_arena arena = {0};
  od_sparse s;
  if (!od_sparse_analyze(m->n, m->row, m->column, m->entries, 1L << 20, &arena, &s) || s.values < m->n) abort();
  double *values = calloc((size_t)s.values, sizeof *values), scratch[MOST_ROWS];
  if (!values) abort();
  for (int e = 0; e < m->entries; e++) values[s.place[e]] += m->a[e];
  od_status status = od_sparse_factor(&s, values, scratch);
  if (status == OD_OK) od_sparse_solve(&s, values, scratch, b, 1);
  free(values);
  od_arena_free(&arena);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  matrix m = read_matrix(data, size);
  double dense[MOST_ROWS * MOST_ROWS] = {0}, x[MOST_ROWS], expected[MOST_ROWS];
  int pivot[MOST_ROWS];
  for (int i = 0; i < m.n; i++) x[i] = expected[i] = 1 + i % 3;
  solve(&m, x);  // it may be singular
  strengthen(&m);
  for (int i = 0; i < m.n; i++) x[i] = expected[i];
  for (int e = 0; e < m.entries; e++) dense[m.row[e] * m.n + m.column[e]] += m.a[e];
  if (solve(&m, x) != OD_OK || od_lu_factor(m.n, dense, pivot) != OD_OK) abort();
  od_lu_solve(m.n, dense, pivot, expected, 1);
  for (int i = 0; i < m.n; i++)
    if (!(fabs(x[i] - expected[i]) <= 1e-12)) abort();
  return 0;
}
