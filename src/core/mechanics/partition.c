// Choosing dependent and independent coordinates, the order of the pivots, and the pattern of the factors that follows.
#include "mechanics/partition.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Pivots below this part of the largest one count as zero: their rows are redundant.
static const double rank_tolerance = 1e-9;

// ---- the matrix of the search
//
// Entries stand in rows of doubles, and for each row a set of bits says which of them are not zero: long chains have a handful in
// a row of thousands, and nothing but these costs work.
typedef struct sparse {
  int n, words;      // columns; words of 64 bits for a row of bits
  double *value;     // rows x n
  uint64_t *bits;    // rows x words
  uint64_t *active;  // columns that are not pivots yet
  double *largest;   // of each row, over its active columns,
  int *largest_at;   // and its column
  int *in_row, *in_column;
} sparse;

static int words_of(const od_model *m) {
  return (m->coordinates + 63) / 64;
}

size_t od_partition_doubles(const od_model *m) {
  size_t rows = (size_t)m->rows, n = (size_t)m->coordinates;
  return rows * n + (rows + 1) * (size_t)words_of(m) + rows + (2 * rows + n) / 2 + 2;
}

static sparse sparse_in(const od_model *m, double *memory) {
  sparse a = {.n = m->coordinates, .words = words_of(m), .value = memory};
  a.bits = (uint64_t *)(memory + m->rows * a.n);
  a.active = a.bits + m->rows * a.words;
  a.largest = (double *)(a.active + a.words);
  a.largest_at = (int *)(a.largest + m->rows);
  a.in_row = a.largest_at + m->rows;
  a.in_column = a.in_row + m->rows;
  return a;
}

static inline bool has(const uint64_t *bits, int column) {
  return bits[column / 64] >> column % 64 & 1;
}
static inline void put(uint64_t *bits, int column, bool set) {
  uint64_t bit = (uint64_t)1 << column % 64;
  bits[column / 64] = set ? bits[column / 64] | bit : bits[column / 64] & ~bit;
}
// The active column of a row after this one (-1: the first); n: there is none.
static inline int next_column(const sparse *a, int row, int column) {
  const uint64_t *bits = a->bits + row * a->words;
  int word = ++column / 64;
  if (word >= a->words) return a->n;
  uint64_t left = bits[word] & a->active[word] & (~(uint64_t)0 << column % 64);
  while (left == 0 && ++word < a->words) left = bits[word] & a->active[word];
  return left ? 64 * word + __builtin_ctzll(left) : a->n;
}

static void find_largest(sparse *a, int row) {
  double largest = 0;
  int at = -1;
  for (int j = next_column(a, row, -1); j < a->n; j = next_column(a, row, j)) {
    double size = fabs(a->value[row * a->n + j]);
    if (size > largest) largest = size, at = j;
  }
  a->largest[row] = largest;
  a->largest_at[row] = at;
}

// The weighted closure Jacobian, all columns active.
static void load_matrix(const od_model *m, const double *entries, sparse *a) {
  memset(a->value, 0, (size_t)(m->rows * a->n) * sizeof *a->value);
  memset(a->bits, 0, (size_t)(m->rows * a->words) * sizeof *a->bits);
  memset(a->active, 0, (size_t)a->words * sizeof *a->active);
  for (int j = 0; j < a->n; j++) put(a->active, j, true);
  for (int c = 0; c < m->closures; c++) {
    const od_closure *closure = &m->closure[c];
    for (int k = 0; k < closure->rows; k++)
      for (int e = 0; e < closure->path_count; e++) {
        int j = m->link[m->path_step[closure->path + e].link].coordinate, row = closure->row + k;
        double value = entries[closure->entry + k * closure->path_count + e] * m->coordinate_weight[j];
        a->value[row * a->n + j] = value;
        put(a->bits + row * a->words, j, value != 0);
      }
  }
  for (int i = 0; i < m->rows; i++) find_largest(a, i);
}

// Takes a multiple of the pivot's row from another, in the active columns. Counts follow where they are kept. The largest entry is
// looked for again only when the one that was has become smaller or left.
static void take_row(sparse *a, int pivot_row, int row, double factor, bool counting) {
  const double *from = a->value + pivot_row * a->n;
  double *to = a->value + row * a->n;
  uint64_t *bits = a->bits + row * a->words;
  int at = a->largest_at[row];
  double before_largest = a->largest[row];
  for (int j = next_column(a, pivot_row, -1); j < a->n; j = next_column(a, pivot_row, j)) {
    bool before = has(bits, j), after;
    to[j] -= factor * from[j];
    after = to[j] != 0;
    if (fabs(to[j]) > a->largest[row]) a->largest[row] = fabs(to[j]), a->largest_at[row] = j;
    if (before == after) continue;
    put(bits, j, after);
    if (counting) a->in_row[row] += after ? 1 : -1, a->in_column[j] += after ? 1 : -1;
  }
  bool stays = at >= 0 && has(a->active, at) && fabs(to[at]) >= before_largest;
  if (!stays && a->largest_at[row] == at) find_largest(a, row);
}

static inline void swap_entries(int *list, int i, int j) {
  int swap = list[i];
  list[i] = list[j], list[j] = swap;
}

// ---- choosing

// Full pivoting on the matrix; dependent and kept_row receive the pivots' columns and rows in order. The lists begin
// with all columns and all rows, so that what is left over stands behind the rank.
static int eliminate(const od_model *m, sparse *a, int *column, int *row) {
  int n = a->n, most = n < m->rows ? n : m->rows, rank = 0;
  double largest = 0;
  for (; rank < most; rank++) {
    int pi = rank, pj = rank;
    for (int i = rank + 1; i < m->rows; i++)
      if (a->largest[row[i]] > a->largest[row[pi]]) pi = i;
    double best = a->largest[row[pi]];
    if (rank == 0) largest = best;
    if (!(best > rank_tolerance * largest) || best == 0) break;
    const double *values = a->value + row[pi] * n;
    while (fabs(values[column[pj]]) != best) pj++;
    swap_entries(row, rank, pi);
    swap_entries(column, rank, pj);
    int pivot = column[rank];
    put(a->active, pivot, false);
    for (int i = rank + 1; i < m->rows; i++) {
      if (!has(a->bits + row[i] * a->words, pivot)) continue;
      double factor = a->value[row[i] * n + pivot] / values[pivot];
      if (factor == 0)
        find_largest(a, row[i]);
      else
        take_row(a, row[rank], row[i], factor, false);
    }
  }
  return rank;
}

// How many entries the chosen rows and columns have.
static void count_entries(sparse *a, const int *column, const int *row, int rank) {
  memset(a->active, 0, (size_t)a->words * sizeof *a->active);
  memset(a->in_column, 0, (size_t)a->n * sizeof *a->in_column);
  for (int s = 0; s < rank; s++) put(a->active, column[s], true);
  for (int s = 0; s < rank; s++) {
    int r = row[s];
    a->in_row[r] = 0;
    for (int j = next_column(a, r, -1); j < a->n; j = next_column(a, r, j)) a->in_row[r]++, a->in_column[j]++;
    find_largest(a, r);
  }
}

// The pivot that makes the least fill (Markowitz) among those not much smaller than the largest of their row; of equal ones the
// largest. Its row as a place in the list, and its column.
static void find_sparse_pivot(const sparse *a, const int *row, int s, int rank, int *place, int *pivot) {
  long least = -1;
  double size = 0;
  for (int i = s; i < rank; i++) {
    int r = row[i];
    if (least == 0 && a->largest[r] <= size) continue;  // nothing better is in it
    for (int j = next_column(a, r, -1); j < a->n; j = next_column(a, r, j)) {
      double entry = fabs(a->value[r * a->n + j]);
      if (entry < 0.1 * a->largest[r]) continue;
      long fill = (long)(a->in_row[r] - 1) * (a->in_column[j] - 1);
      if (least < 0 || fill < least || (fill == least && entry > size))
        least = fill, size = entry, *place = i, *pivot = j;
    }
  }
}

// Puts the chosen rows and columns in an order that keeps the factors sparse.
static void order_pivots(sparse *a, int *column, int *row, int rank) {
  count_entries(a, column, row, rank);
  for (int s = 0; s < rank; s++) {
    int pi = s, pivot = -1, pj = s;
    find_sparse_pivot(a, row, s, rank, &pi, &pivot);
    if (pivot < 0) return;  // cannot happen for a matrix of full rank
    while (column[pj] != pivot) pj++;
    swap_entries(row, s, pi);
    swap_entries(column, s, pj);
    for (int j = next_column(a, row[s], -1); j < a->n; j = next_column(a, row[s], j)) a->in_column[j]--;
    put(a->active, pivot, false);
    for (int i = s + 1; i < rank; i++) {
      if (!has(a->bits + row[i] * a->words, pivot)) continue;
      a->in_row[row[i]]--;
      take_row(a, row[s], row[i], a->value[row[i] * a->n + pivot] / a->value[row[s] * a->n + pivot], true);
    }
  }
}

// The closure that a row belongs to.
static const od_closure *row_closure(const od_model *m, int row) {
  int low = 0, high = m->closures - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (m->closure[middle].row <= row)
      low = middle;
    else
      high = middle - 1;
  }
  return &m->closure[low];
}

// Pattern of row i of the factors: its own entries plus the fill from earlier rows, in the order of the pivots. mark is
// scratch (one per dependent coordinate), position[j] tells the place of coordinate j among the dependent (>= 0) or
// independent (-1 - k) ones.
static int row_pattern(const od_model *m, int *in, int i, int end, const int *position, int *mark) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m);
  const od_closure *c = row_closure(m, in[l->kept_row + i]);
  for (int j = 0; j < rank; j++) mark[j] = -2;  // -2: empty, -1: fill, otherwise the source
  int k = in[l->kept_row + i] - c->row, rhs = in[l->rhs_start + i];
  for (int e = 0; e < c->path_count; e++) {
    int place = position[m->link[m->path_step[c->path + e].link].coordinate], source = c->entry + k * c->path_count + e;
    if (place >= 0) {
      mark[place] = source;
    } else {
      in[l->rhs_column + rhs] = -1 - place;
      in[l->rhs_source + rhs++] = source;
    }
  }
  in[l->rhs_start + i + 1] = rhs;
  for (int j = 0; j < i; j++) {
    if (mark[j] == -2) continue;
    for (int e = in [l->lu_diagonal + j]; e < in[l->lu_start + j + 1]; e++)
      if (mark[in[l->lu_column + e]] == -2) mark[in[l->lu_column + e]] = -1;
  }
  for (int j = 0; j < rank; j++) {
    if (mark[j] == -2 && j != i) continue;
    if (j == i) in[l->lu_diagonal + i] = end;
    in[l->lu_column + end] = j;
    in[l->lu_source + end++] = mark[j] == -2 ? -1 : mark[j];
  }
  return end;
}

int od_partition_choose(const od_model *m, const double *entries, int *in, double *memory) {
  const od_layout *l = &m->layout;
  int n = m->coordinates;
  sparse matrix = sparse_in(m, memory);
  load_matrix(m, entries, &matrix);
  // Work with complete lists of columns and rows in the integer scratch that the patterns will fill afterwards.
  int *column = in + l->dependent, *row = in + l->kept_row;
  for (int j = 0; j < n; j++) column[j] = j;
  for (int i = 0; i < m->rows; i++) row[i] = i;
  int rank = eliminate(m, &matrix, column, row);
  if (rank != od_partition_rank(m)) return rank;
  load_matrix(m, entries, &matrix);
  order_pivots(&matrix, column, row, rank);
  // Independent coordinates in ascending order, so that states keep their meaning when nothing changes.
  int *independent = in + l->independent;
  for (int k = 0; k < m->freedom; k++) independent[k] = column[rank + k];
  for (int a = 1; a < m->freedom; a++)
    for (int b = a; b > 0 && independent[b - 1] > independent[b]; b--) {
      int swap = independent[b];
      independent[b] = independent[b - 1], independent[b - 1] = swap;
    }
  // The matrix is not needed any more: its memory holds the two integer lists of the pattern search.
  int *position = (int *)memory, *mark = position + n;
  for (int j = 0; j < rank; j++) position[column[j]] = j;
  for (int k = 0; k < m->freedom; k++) position[independent[k]] = -1 - k;
  in[l->rhs_start] = in[l->lu_start] = 0;
  for (int i = 0; i < rank; i++) in[l->lu_start + i + 1] = row_pattern(m, in, i, in[l->lu_start + i], position, mark);
  return rank;
}
