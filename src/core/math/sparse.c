#include "math/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/precision.h"

// A pivot is the diagonal entry minus the terms of the elimination. A pivot below this fraction of the sum of the magnitudes of
// these numbers is round-off. The fraction does not depend on the units of row and column. Slightly larger pivots have few correct
// digits; they occur in stiff circuits and only slow down Newton's iteration.
static const double least_part = OD_TOLERANCE(1e-14);

// ---- pattern of the factors

// Scratch memory of the analysis.
typedef struct analysis {
  int n;
  int *start, *neighbor;       // the symmetrized pattern without the diagonal: start of the neighbors of each row;
                               // neighbors of all rows
  int *position;               // position of each row in the order
  int *parent, *child, *next;  // the elimination tree: children of a row are in a list
  int *count, *mark;
  int **upper;  // for each row in the order: the columns of U after the diagonal, increasing
} analysis;

// Allocates the scratch memory of the analysis. Returns false if an allocation fails.
static bool take_memory(analysis *a, int n, int entries) {
  size_t size = (size_t)n + 1;
  *a = (analysis){.n = n,
                  .start = od_calloc(size + 1, sizeof *a->start),
                  .neighbor = od_malloc((2 * (size_t)entries + 1) * sizeof *a->neighbor),
                  .position = od_malloc(size * sizeof *a->position),
                  .parent = od_malloc(size * sizeof *a->parent),
                  .child = od_malloc(size * sizeof *a->child),
                  .next = od_malloc(size * sizeof *a->next),
                  .count = od_calloc(size, sizeof *a->count),
                  .mark = od_malloc(size * sizeof *a->mark),
                  .upper = od_calloc(size, sizeof *a->upper)};
  return a->start && a->neighbor && a->position && a->parent && a->child && a->next && a->count && a->mark && a->upper;
}

static void give_memory_back(analysis *a) {
  for (int i = 0; a->upper && i < a->n; i++) od_free(a->upper[i]);
  void *memory[] = {a->start, a->neighbor, a->position, a->parent, a->child, a->next, a->count, a->mark, a->upper};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) od_free(memory[i]);
}

// Fills start and neighbor: the neighbors of each row without duplicates.
static void symmetrize(analysis *a, const int *row, const int *column, int entries) {
  int n = a->n, *fill = a->count;
  for (int e = 0; e < entries; e++)
    if (row[e] != column[e]) a->start[row[e] + 1]++, a->start[column[e] + 1]++;
  for (int i = 0; i < n; i++) a->start[i + 1] += a->start[i];
  for (int i = 0; i < n; i++) fill[i] = a->start[i];
  for (int e = 0; e < entries; e++)
    if (row[e] != column[e]) {
      a->neighbor[fill[row[e]]++] = column[e];
      a->neighbor[fill[column[e]]++] = row[e];
    }
  for (int i = 0; i < n; i++) a->mark[i] = -1;
  int end = 0;
  for (int i = 0; i < n; i++) {
    int first = a->start[i], last = fill[i];
    a->start[i] = end;
    for (int k = first; k < last; k++)
      if (a->mark[a->neighbor[k]] != i) {
        a->mark[a->neighbor[k]] = i;
        a->neighbor[end++] = a->neighbor[k];
      }
  }
  a->start[n] = end;
}

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

// Finds the pattern of row k of U: the row's entries in the matrix, and the fill from its children in the elimination tree. Returns
// false if an allocation fails.
static bool find_row(analysis *a, const int *order, int k, int *found) {
  int count = 0, row = order[k];
  a->mark[k] = k;
  for (int i = a->start[row]; i < a->start[row + 1]; i++) {
    int j = a->position[a->neighbor[i]];
    if (j > k && a->mark[j] != k) a->mark[j] = k, found[count++] = j;
  }
  for (int c = a->child[k]; c >= 0; c = a->next[c])
    for (int i = 0; i < a->count[c]; i++) {
      int j = a->upper[c][i];
      if (a->mark[j] != k) a->mark[j] = k, found[count++] = j;
    }
  qsort(found, (size_t)count, sizeof *found, compare);
  a->count[k] = count;
  a->upper[k] = od_malloc((size_t)(count + 1) * sizeof *found);
  if (!a->upper[k]) return false;
  memcpy(a->upper[k], found, (size_t)count * sizeof *found);
  int parent = count ? found[0] : -1;
  if (parent >= 0) a->next[k] = a->child[parent], a->child[parent] = k;
  return true;
}

// Finds the pattern of U. *values: the number of entries of the factors, or zero if there are more than `most`. Returns false if an
// allocation fails.
static bool find_rows(analysis *a, const int *order, long most, int *values) {
  int n = a->n, *found = od_malloc(((size_t)n + 1) * sizeof *found);
  bool ok = found != NULL;
  long sum = n;
  for (int k = 0; k < n; k++) a->position[order[k]] = k, a->child[k] = a->mark[k] = -1;
  for (int k = 0; ok && k < n && sum <= most; k++) {
    ok = find_row(a, order, k, found);
    if (ok) sum += 2L * a->count[k];
  }
  od_free(found);
  *values = sum <= most ? (int)sum : 0;
  return ok;
}

// Writes the pattern of all rows of the factors. L has the pattern of U transposed. The columns of each row of L are
// increasing, because rows are processed in order.
static void write_rows(const analysis *a, od_sparse *s) {
  int n = a->n, *fill = a->mark;
  for (int k = 0; k < n; k++) s->start[k + 1] += a->count[k] + 1;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < a->count[k]; i++) s->start[a->upper[k][i] + 1]++;
  for (int k = 0; k < n; k++) s->start[k + 1] += s->start[k];
  for (int k = 0; k < n; k++) fill[k] = s->start[k];
  for (int k = 0; k < n; k++) {
    s->diagonal[k] = fill[k];
    s->column[fill[k]++] = k;
    for (int i = 0; i < a->count[k]; i++) {
      int j = a->upper[k][i];
      s->column[fill[k]++] = j;
      s->column[fill[j]++] = k;
    }
  }
}

// Returns the index of the entry (row, column) in the factors, by bisection in the row.
static int find_place(const od_sparse *s, int row, int column) {
  int low = s->start[row], high = s->start[row + 1];
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (s->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool od_sparse_analyze(int n, const int *row, const int *column, int entries, long most, od_arena *arena,
                       od_sparse *out) {
  analysis a;
  od_sparse s = {.n = n, .entries = entries, .order = od_arena_take(arena, ((size_t)n + 1) * sizeof *s.order)};
  bool ok = take_memory(&a, n, entries) && s.order;
  if (ok) {
    symmetrize(&a, row, column, entries);
    ok = od_sparse_order(n, a.start, a.neighbor, most, s.order) && find_rows(&a, s.order, most, &s.values);
  }
  if (ok && s.values) {
    s.start = od_arena_take(arena, ((size_t)n + 1) * sizeof *s.start);
    s.diagonal = od_arena_take(arena, ((size_t)n + 1) * sizeof *s.diagonal);
    s.column = od_arena_take(arena, (size_t)s.values * sizeof *s.column);
    s.place = od_arena_take(arena, ((size_t)entries + 1) * sizeof *s.place);
    ok = s.start && s.diagonal && s.column && s.place;
  }
  if (ok && s.values) {
    write_rows(&a, &s);
    for (int e = 0; e < entries; e++) s.place[e] = find_place(&s, a.position[row[e]], a.position[column[e]]);
  }
  give_memory_back(&a);
  *out = s;
  return ok;
}

// ---- values of the factors, and solution

// Factors row by row. Each row is expanded into a dense row; then multiples of earlier rows are subtracted from the dense row. The
// diagonal contains the inverse pivots. Fails with OD_NOT_FINITE or OD_SINGULAR.
od_status od_sparse_factor(const od_sparse *s, double *restrict values, double *restrict scratch) {
  const int *column = s->column;
  for (int i = 0; i < s->n; i++) {
    int begin = s->start[i], diagonal = s->diagonal[i], end = s->start[i + 1];
    for (int k = begin; k < end; k++) scratch[column[k]] = values[k];
    double size = fabs(scratch[i]);
    for (int k = begin; k < diagonal; k++) {
      int from = column[k], last = s->start[from + 1];
      double factor = scratch[from];
      if (factor == 0) {
        values[k] = 0;
        continue;
      }
      factor *= values[s->diagonal[from]];
      values[k] = factor;
      double before = scratch[i];
      for (int j = s->diagonal[from] + 1; j < last; j++) scratch[column[j]] -= factor * values[j];
      size += fabs(scratch[i] - before);
    }
    double pivot = scratch[i];
    if (!isfinite(pivot)) return OD_NOT_FINITE;
    if (!(fabs(pivot) > least_part * size)) return OD_SINGULAR;
    values[diagonal] = 1 / pivot;
    for (int k = diagonal + 1; k < end; k++) values[k] = scratch[column[k]];
  }
  return OD_OK;
}

void od_sparse_solve(const od_sparse *s, const double *restrict values, double *restrict scratch, double *b,
                     int columns) {
  const int *column = s->column;
  for (int c = 0; c < columns; c++) {
    for (int i = 0; i < s->n; i++) {
      double sum = b[s->order[i] * columns + c];
      for (int k = s->start[i]; k < s->diagonal[i]; k++) sum -= values[k] * scratch[column[k]];
      scratch[i] = sum;
    }
    for (int i = s->n - 1; i >= 0; i--) {
      double sum = scratch[i];
      for (int k = s->diagonal[i] + 1; k < s->start[i + 1]; k++) sum -= values[k] * scratch[column[k]];
      scratch[i] = sum * values[s->diagonal[i]];
    }
    for (int i = 0; i < s->n; i++) b[s->order[i] * columns + c] = scratch[i];
  }
}
