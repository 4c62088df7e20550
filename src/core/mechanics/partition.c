// Choosing dependent and independent coordinates, the order of the pivots, and the pattern of the factors that follows.
#include "mechanics/partition.h"

#include <math.h>
#include <stdbool.h>

// Pivots below this part of the largest one count as zero: their rows are redundant.
static const double rank_tolerance = 1e-9;

// The weighted closure Jacobian as a dense matrix.
static void load_matrix(const od_model *m, const double *entries, double *matrix) {
  int n = m->coordinates;
  for (int i = 0; i < m->rows * n; i++) matrix[i] = 0;
  for (int c = 0; c < m->closures; c++) {
    const od_closure *closure = &m->closure[c];
    for (int k = 0; k < closure->rows; k++)
      for (int e = 0; e < closure->path_count; e++) {
        int j = m->link[m->path_step[closure->path + e].link].coordinate;
        matrix[(closure->row + k) * n + j] =
            entries[closure->entry + k * closure->path_count + e] * m->coordinate_weight[j];
      }
  }
}

// Full pivoting on the matrix; dependent and kept_row receive the pivots' columns and rows in order. The lists begin
// with all columns and all rows, so that what is left over stands behind the rank.
static int eliminate(const od_model *m, double *matrix, int *column, int *row) {
  int n = m->coordinates, most = n < m->rows ? n : m->rows, rank = 0;
  double largest = 0;
  for (; rank < most; rank++) {
    int pi = rank, pj = rank;
    double best = -1;
    for (int i = rank; i < m->rows; i++)
      for (int j = rank; j < n; j++) {
        double size = fabs(matrix[row[i] * n + column[j]]);
        if (size > best) best = size, pi = i, pj = j;
      }
    if (rank == 0) largest = best;
    if (!(best > rank_tolerance * largest) || best == 0) break;
    int swap = row[rank];
    row[rank] = row[pi], row[pi] = swap;
    swap = column[rank];
    column[rank] = column[pj], column[pj] = swap;
    const double *pivot_row = matrix + row[rank] * n;
    for (int i = rank + 1; i < m->rows; i++) {
      double *r = matrix + row[i] * n, factor = r[column[rank]] / pivot_row[column[rank]];
      if (factor == 0) continue;
      for (int j = rank; j < n; j++) r[column[j]] -= factor * pivot_row[column[j]];
    }
  }
  return rank;
}

// Puts the chosen rows and columns in an order that keeps the factors sparse: at each stage the pivot that makes the
// least fill (Markowitz) among those not much smaller than the largest of their row.
static void order_pivots(const od_model *m, double *matrix, int *column, int *row, int rank) {
  int n = m->coordinates;
  for (int s = 0; s < rank; s++) {
    int pi = s, pj = s;
    long least = -1;
    double size = 0;
    for (int i = s; i < rank; i++) {
      const double *r = matrix + row[i] * n;
      double largest = 0;
      long in_row = 0;
      for (int j = s; j < rank; j++) {
        largest = fmax(largest, fabs(r[column[j]]));
        in_row += r[column[j]] != 0;
      }
      for (int j = s; j < rank; j++) {
        double entry = fabs(r[column[j]]);
        if (entry == 0 || entry < 0.1 * largest) continue;
        long in_column = 0;
        for (int k = s; k < rank; k++) in_column += matrix[row[k] * n + column[j]] != 0;
        long fill = (in_row - 1) * (in_column - 1);
        if (least < 0 || fill < least || (fill == least && entry > size)) least = fill, size = entry, pi = i, pj = j;
      }
    }
    int swap = row[s];
    row[s] = row[pi], row[pi] = swap;
    swap = column[s];
    column[s] = column[pj], column[pj] = swap;
    const double *pivot_row = matrix + row[s] * n;
    if (pivot_row[column[s]] == 0) return;  // cannot happen for a matrix of full rank
    for (int i = s + 1; i < rank; i++) {
      double *r = matrix + row[i] * n, factor = r[column[s]] / pivot_row[column[s]];
      if (factor == 0) continue;
      for (int j = s + 1; j < rank; j++) r[column[j]] -= factor * pivot_row[column[j]];
      r[column[s]] = 0;
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

int od_partition_choose(const od_model *m, const double *entries, int *in, double *matrix) {
  const od_layout *l = &m->layout;
  int n = m->coordinates;
  load_matrix(m, entries, matrix);
  // Work with complete lists of columns and rows in the integer scratch that the patterns will fill afterwards.
  int *column = in + l->dependent, *row = in + l->kept_row;
  for (int j = 0; j < n; j++) column[j] = j;
  for (int i = 0; i < m->rows; i++) row[i] = i;
  int rank = eliminate(m, matrix, column, row);
  if (rank != od_partition_rank(m)) return rank;
  load_matrix(m, entries, matrix);
  order_pivots(m, matrix, column, row, rank);
  // Independent coordinates in ascending order, so that states keep their meaning when nothing changes.
  int *independent = in + l->independent;
  for (int k = 0; k < m->freedom; k++) independent[k] = column[rank + k];
  for (int a = 1; a < m->freedom; a++)
    for (int b = a; b > 0 && independent[b - 1] > independent[b]; b--) {
      int swap = independent[b];
      independent[b] = independent[b - 1], independent[b - 1] = swap;
    }
  // The dense matrix is not needed any more: its memory holds the two integer lists of the pattern search.
  int *position = (int *)matrix, *mark = position + n;
  for (int j = 0; j < rank; j++) position[column[j]] = j;
  for (int k = 0; k < m->freedom; k++) position[independent[k]] = -1 - k;
  in[l->rhs_start] = in[l->lu_start] = 0;
  for (int i = 0; i < rank; i++) in[l->lu_start + i + 1] = row_pattern(m, in, i, in[l->lu_start + i], position, mark);
  return rank;
}
