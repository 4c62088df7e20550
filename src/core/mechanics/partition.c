// Chooses dependent and independent coordinates, the order of the pivots, and the resulting pattern of the factors.
#include "mechanics/partition.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/precision.h"

// Pivots smaller than this times the largest pivot are treated as zero: their rows are redundant.
static const double rank_tolerance = OD_TOLERANCE(1e-9);

// ---- the matrix of the elimination
//
// Entries are stored in rows of doubles. Bit sets mark the nonzero entries of each row and each column. Rows of long chains have a
// few nonzero entries among thousands of entries. Only nonzero entries are processed. The stored values of zero entries are
// undefined.
typedef struct best_entry {  // the entry of a row with the least fill
  int fill;                  // upper bound of the number of entries that elimination with this pivot fills; -1: not
                             // computed yet
  double size;
  int column;
} best_entry;
typedef struct sparse {
  int rows, n;            // numbers of rows and columns
  int words, row_words;   // numbers of words in the bit set of a row, and in the bit set of a column
  double *value;          // rows x n; write_pattern() uses the space of rows more numbers
  od_bits *bits, *below;  // rows x words: columns of each row; n x row_words: rows of each column
  od_bits *active;        // columns that are not pivots yet
  od_bits *open;          // rows that are not pivots yet
  double *largest;        // for each row: its largest entry in the active columns
  best_entry *best;       // for each row: the entry with the least fill
  int *largest_at;        // for each row: the column of its largest entry
  int *in_row, *in_column;
  int *place;  // index of each column in the list of columns
} sparse;

static int words_of(int count) {
  return (count + OD_BITS - 1) / OD_BITS;
}

size_t od_partition_doubles(const od_model *m) {
  size_t rows = (size_t)m->rows, n = (size_t)m->coordinates;
  size_t words = (size_t)words_of(m->coordinates), row_words = (size_t)words_of(m->rows);
  size_t best = sizeof(best_entry) / sizeof(double) + 1;
  return rows * (n + 1) + (rows + 1) * words + (n + 1) * row_words + rows * (1 + best) +
         (2 * rows + 2 * n) * sizeof(int) / sizeof(double) + 2;
}

// Places the arrays of the elimination in `memory`.
static sparse sparse_in(const od_model *m, double *memory) {
  sparse a = {.rows = m->rows, .n = m->coordinates, .value = memory};
  a.words = words_of(a.n), a.row_words = words_of(a.rows);
  a.bits = (od_bits *)(memory + a.rows * (a.n + 1));
  a.below = a.bits + a.rows * a.words;
  a.active = a.below + a.n * a.row_words;
  a.open = a.active + a.words;
  a.largest = (double *)(a.open + a.row_words);
  a.best = (best_entry *)(a.largest + a.rows);
  a.largest_at = (int *)(a.best + a.rows);
  a.in_row = a.largest_at + a.rows;
  a.in_column = a.in_row + a.rows;
  a.place = a.in_column + a.n;
  return a;
}

static inline bool has(const od_bits *bits, int column) {
  return bits[column / OD_BITS] >> column % OD_BITS & 1;
}
static inline void put(od_bits *bits, int column, bool set) {
  od_bits bit = (od_bits)1 << column % OD_BITS;
  bits[column / OD_BITS] = set ? bits[column / OD_BITS] | bit : bits[column / OD_BITS] & ~bit;
}
// Returns the next bit after `bit` (-1: the first bit) that is in both sets of `words` words; OD_BITS * words if there is no such
// bit.
static inline int next_in_both(const od_bits *set, const od_bits *other, int words, int bit) {
  int word = ++bit / OD_BITS;
  if (word >= words) return OD_BITS * words;
  od_bits left = set[word] & other[word] & (~(od_bits)0 << bit % OD_BITS);
  while (left == 0 && ++word < words) left = set[word] & other[word];
  return left ? OD_BITS * word + od_lowest_bit(left) : OD_BITS * words;
}
// Returns the next active column of a row after `column` (-1: the first column); n if there is no such column.
static inline int next_column(const sparse *a, int row, int column) {
  int next = next_in_both(a->bits + row * a->words, a->active, a->words, column);
  return next < a->n ? next : a->n;
}
// Returns the next open row of a column after `row` (-1: the first row); `rows` if there is no such row.
static inline int next_row(const sparse *a, int column, int row) {
  int next = next_in_both(a->below + column * a->row_words, a->open, a->row_words, row);
  return next < a->rows ? next : a->rows;
}
static inline void put_entry(sparse *a, int row, int column, bool set) {
  put(a->bits + row * a->words, column, set);
  put(a->below + column * a->row_words, row, set);
}

// Finds the largest active entry of a row and stores its magnitude and column.
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

// Loads the closure Jacobian with weighted columns; all columns are active and all rows are open.
static void load_matrix(const od_model *m, const double *entries, sparse *a) {
  memset(a->bits, 0, (size_t)(a->rows * a->words) * sizeof *a->bits);
  memset(a->below, 0, (size_t)(a->n * a->row_words) * sizeof *a->below);
  memset(a->active, 0xff, (size_t)a->words * sizeof *a->active);
  memset(a->open, 0xff, (size_t)a->row_words * sizeof *a->open);
  for (int c = 0; c < m->closures; c++) {
    const od_closure *closure = &m->closure[c];
    for (int k = 0; k < closure->rows; k++)
      for (int e = 0; e < closure->path_count; e++) {
        int j = m->link[m->path_step[closure->path + e].link].coordinate, row = closure->row + k;
        double value = entries[closure->entry + k * closure->path_count + e] * m->coordinate_weight[j];
        a->value[row * a->n + j] = value;
        if (value != 0) put_entry(a, row, j, true);
      }
  }
  for (int i = 0; i < m->rows; i++) find_largest(a, i);
}

// Updates the columns' bit sets and the counts after entries of a row became nonzero or zero. changed: these entries, as bits of
// one word.
static void note_changes(sparse *a, int row, int word, od_bits changed, bool counting) {
  const od_bits now = a->bits[row * a->words + word];
  for (; changed; changed &= changed - 1) {
    int bit = od_lowest_bit(changed), j = OD_BITS * word + bit;
    bool set = now >> bit & 1;
    put(a->below + j * a->row_words, row, set);
    if (counting) a->in_row[row] += set ? 1 : -1, a->in_column[j] += set ? 1 : -1;
  }
}

// Subtracts a multiple of the pivot row from another row, in the active columns. Updates counts if `counting`. Searches for the
// largest entry again only if the previous largest entry has decreased or vanished.
static void take_row(sparse *a, int pivot_row, int row, double factor, bool counting) {
  const double *from = a->value + pivot_row * a->n;
  double *to = a->value + row * a->n, largest = a->largest[row];
  int at = a->largest_at[row], largest_at = at;
  for (int word = 0; word < a->words; word++) {
    const od_bits taken = a->bits[pivot_row * a->words + word] & a->active[word];
    od_bits *bits = &a->bits[row * a->words + word], before = *bits, zeros = 0;
    for (od_bits left = taken; left; left &= left - 1) {
      int bit = od_lowest_bit(left), j = OD_BITS * word + bit;
      double value = (before >> bit & 1 ? to[j] : 0) - factor * from[j];
      to[j] = value;
      if (fabs(value) > largest) largest = fabs(value), largest_at = j;
      if (value == 0) zeros |= (od_bits)1 << bit;
    }
    *bits = (before | taken) & ~zeros;
    if (*bits != before) note_changes(a, row, word, *bits ^ before, counting);
  }
  bool stays = at >= 0 && has(a->active, at) && has(a->bits + row * a->words, at) && fabs(to[at]) >= a->largest[row];
  a->largest[row] = largest;
  a->largest_at[row] = largest_at;
  if (!stays && largest_at == at) find_largest(a, row);
}

static inline void swap_entries(int *list, int i, int j) {
  int swap = list[i];
  list[i] = list[j], list[j] = swap;
}
// Swaps two entries of the list of columns, and their indices.
static inline void swap_columns(const sparse *a, int *column, int i, int j) {
  swap_entries(column, i, j);
  a->place[column[i]] = i, a->place[column[j]] = j;
}

// ---- choice of the partition

// Returns the smallest index, in the list of columns, of a column in which the row has an entry of this magnitude; n: none.
static int first_place_of(const sparse *a, int row, double size) {
  int first = a->n;
  for (int j = next_column(a, row, -1); j < a->n; j = next_column(a, row, j))
    if (fabs(a->value[row * a->n + j]) == size && a->place[j] < first) first = a->place[j];
  return first;
}

// Eliminates with full pivoting. On entry the lists `column` and `row` contain all columns and all rows. On return they begin
// with the columns and rows of the pivots in order. Returns the rank.
static int eliminate(const od_model *m, sparse *a, int *column, int *row) {
  int n = a->n, most = n < m->rows ? n : m->rows, rank = 0;
  double largest = 0;
  for (int j = 0; j < n; j++) a->place[j] = j;
  for (; rank < most; rank++) {
    int pi = rank;
    for (int i = rank + 1; i < m->rows; i++)
      if (a->largest[row[i]] > a->largest[row[pi]]) pi = i;
    double best = a->largest[row[pi]];
    if (rank == 0) largest = best;
    if (!(best > rank_tolerance * largest) || best == 0) break;
    swap_columns(a, column, rank, first_place_of(a, row[pi], best));
    swap_entries(row, rank, pi);
    int pivot = column[rank], pivot_row = row[rank];
    put(a->active, pivot, false);
    put(a->open, pivot_row, false);
    for (int i = next_row(a, pivot, -1); i < m->rows; i = next_row(a, pivot, i)) {
      double factor = a->value[i * n + pivot] / a->value[pivot_row * n + pivot];
      if (factor == 0)
        find_largest(a, i);
      else
        take_row(a, pivot_row, i, factor, false);
    }
  }
  return rank;
}

// Counts the entries of the chosen rows and columns, for the order of the pivots.
static void count_entries(sparse *a, const int *column, const int *row, int rank) {
  memset(a->active, 0, (size_t)a->words * sizeof *a->active);
  memset(a->open, 0, (size_t)a->row_words * sizeof *a->open);
  memset(a->in_column, 0, (size_t)a->n * sizeof *a->in_column);
  for (int s = 0; s < rank; s++) put(a->active, column[s], true), put(a->open, row[s], true);
  for (int s = 0; s < rank; s++) {
    int r = row[s];
    a->in_row[r] = 0;
    a->best[r].fill = -1;
    for (int j = next_column(a, r, -1); j < a->n; j = next_column(a, r, j)) a->in_row[r]++, a->in_column[j]++;
    find_largest(a, r);
  }
}

// Finds the entry of a row with the least fill (Markowitz) among entries of at least 0.1 times the row's largest entry. Among
// entries with equal fill, takes the largest entry.
static void find_best(sparse *a, int row) {
  best_entry best = {.fill = -1};
  for (int j = next_column(a, row, -1); j < a->n; j = next_column(a, row, j)) {
    double entry = fabs(a->value[row * a->n + j]);
    if (entry < 0.1 * a->largest[row]) continue;
    int fill = (a->in_row[row] - 1) * (a->in_column[j] - 1);
    if (best.fill < 0 || fill < best.fill || (fill == best.fill && entry > best.size))
      best = (best_entry){fill, entry, j};
  }
  a->best[row] = best;
}

// Returns the index, in the list of rows, of the remaining row with the best pivot. -1: all rows are empty, which is impossible for
// a matrix of full rank.
static int find_sparse_pivot(sparse *a, const int *row, int s, int rank) {
  int place = -1;
  long least = LONG_MAX;
  double size = 0;
  for (int i = s; i < rank; i++) {
    const best_entry *best = &a->best[row[i]];
    if (best->fill < 0) find_best(a, row[i]);
    if (best->fill > least || best->fill < 0 || (best->fill == least && best->size <= size)) continue;
    place = i, least = best->fill, size = best->size;
  }
  return place;
}

// Puts the chosen rows and columns in an order that keeps the factors sparse.
static void order_pivots(sparse *a, int *column, int *row, int rank) {
  count_entries(a, column, row, rank);
  for (int s = 0; s < rank; s++) {
    int place = find_sparse_pivot(a, row, s, rank);
    if (place < 0) return;
    int pivot_row = row[place], pivot = a->best[pivot_row].column;
    swap_entries(row, s, place);
    swap_columns(a, column, s, a->place[pivot]);
    put(a->open, pivot_row, false);
    // The best entries change in rows with an entry in one of these columns.
    for (int j = next_column(a, pivot_row, -1); j < a->n; j = next_column(a, pivot_row, j)) {
      a->in_column[j]--;
      for (int i = next_row(a, j, -1); i < a->rows; i = next_row(a, j, i)) a->best[i].fill = -1;
    }
    put(a->active, pivot, false);
    for (int i = next_row(a, pivot, -1); i < a->rows; i = next_row(a, pivot, i)) {
      a->in_row[i]--;
      take_row(a, pivot_row, i, a->value[i * a->n + pivot] / a->value[pivot_row * a->n + pivot], true);
    }
  }
}

// Returns the closure of a row.
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

// Computes the pattern of row i of the factors: its own entries plus the fill from earlier rows, in the order of the pivots.
// sets: bit sets of `words` words for all rows up to now; all: a full set. source: scratch with one entry per dependent
// coordinate, initially -1. position[j]: the index of coordinate j among the dependent coordinates (>= 0), or -1 - k for
// independent coordinate k. `end`: number of entries of the factors before row i. Returns the number of entries after
// row i.
static int row_pattern(const od_model *m, int *in, int i, int end, const int *position, int *source, od_bits *sets,
                       const od_bits *all, int words) {
  const od_layout *l = &m->layout;
  od_bits *set = sets + i * words;
  const od_closure *c = row_closure(m, in[l->kept_row + i]);
  int k = in[l->kept_row + i] - c->row, rhs = in[l->rhs_start + i];
  memset(set, 0, (size_t)words * sizeof *set);
  for (int e = 0; e < c->path_count; e++) {
    int place = position[m->link[m->path_step[c->path + e].link].coordinate], entry = c->entry + k * c->path_count + e;
    if (place >= 0) {
      source[place] = entry;
      put(set, place, true);
    } else {
      in[l->rhs_column + rhs] = -1 - place;
      in[l->rhs_source + rhs++] = entry;
    }
  }
  in[l->rhs_start + i + 1] = rhs;
  put(set, i, true);
  // The part of row j after its diagonal causes fill.
  for (int j = next_in_both(set, all, words, -1); j < i; j = next_in_both(set, all, words, j))
    for (int word = j / OD_BITS; word < words; word++)
      set[word] |= sets[j * words + word] & (word == j / OD_BITS ? ~(od_bits)0 << j % OD_BITS : ~(od_bits)0);
  for (int j = next_in_both(set, all, words, -1); j < OD_BITS * words; j = next_in_both(set, all, words, j)) {
    if (j == i) in[l->lu_diagonal + i] = end;
    in[l->lu_column + end] = j;
    in[l->lu_source + end++] = source[j];
    source[j] = -1;
  }
  return end;
}

// Writes the pattern of the factors for the lists of dependent and independent coordinates and of rows.
static void write_pattern(const od_model *m, int *in, double *memory) {
  const od_layout *l = &m->layout;
  int n = m->coordinates, rank = od_partition_rank(m), words = words_of(rank);
  // The sets of the pattern search use the memory of the elimination's matrix, whose numbers are no longer needed.
  sparse matrix = sparse_in(m, memory);
  int *position = (int *)memory, *source = position + n;
  memset(matrix.active, 0xff, (size_t)matrix.words * sizeof *matrix.active);
  for (int j = 0; j < rank; j++) source[j] = -1;
  for (int j = 0; j < rank; j++) position[in[l->dependent + j]] = j;
  for (int k = 0; k < m->freedom; k++) position[in[l->independent + k]] = -1 - k;
  in[l->rhs_start] = in[l->lu_start] = 0;
  for (int i = 0; i < rank; i++)
    in[l->lu_start + i + 1] =
        row_pattern(m, in, i, in[l->lu_start + i], position, source, matrix.bits, matrix.active, words);
}

// Orders the pivots and writes the patterns. On entry both lists begin with the dependent columns and their rows; the independent
// columns follow.
static void write_partition(const od_model *m, const double *entries, int *in, double *memory) {
  const od_layout *l = &m->layout;
  int n = m->coordinates, rank = od_partition_rank(m), *column = in + l->dependent;
  sparse matrix = sparse_in(m, memory);
  load_matrix(m, entries, &matrix);
  for (int i = 0; i < n; i++) matrix.place[column[i]] = i;
  order_pivots(&matrix, column, in + l->kept_row, rank);
  // Independent coordinates are in ascending order, so that the states keep their order if the choice does not change.
  int *independent = in + l->independent;
  for (int k = 0; k < m->freedom; k++) independent[k] = column[rank + k];
  for (int a = 1; a < m->freedom; a++)
    for (int b = a; b > 0 && independent[b - 1] > independent[b]; b--) swap_entries(independent, b - 1, b);
  write_pattern(m, in, memory);
}

int od_partition_choose(const od_model *m, const double *entries, int *in, double *memory) {
  const od_layout *l = &m->layout;
  sparse matrix = sparse_in(m, memory);
  load_matrix(m, entries, &matrix);
  int *column = in + l->dependent, *row = in + l->kept_row;
  for (int j = 0; j < m->coordinates; j++) column[j] = j;
  for (int i = 0; i < m->rows; i++) row[i] = i;
  int rank = eliminate(m, &matrix, column, row);
  if (rank == od_partition_rank(m)) write_partition(m, entries, in, memory);
  return rank;
}

// ---- partitions from saved states

static bool is_index(int index, int count) {
  return index >= 0 && index < count;
}

static bool is_listed(const int *list, int count, int value) {
  for (int i = 0; i < count; i++)
    if (list[i] == value) return true;
  return false;
}

bool od_partition_is_possible(const od_model *m, const int *in) {
  const od_layout *l = &m->layout;
  const int *dependent = in + l->dependent, *independent = in + l->independent, *row = in + l->kept_row;
  int rank = od_partition_rank(m);
  for (int k = 0; k < m->freedom; k++)
    if (!is_index(independent[k], m->coordinates) || (k > 0 && independent[k - 1] >= independent[k])) return false;
  for (int i = 0; i < rank; i++)
    if (!is_index(dependent[i], m->coordinates) || is_listed(dependent, i, dependent[i]) ||
        is_listed(independent, m->freedom, dependent[i]) || !is_index(row[i], m->rows) || is_listed(row, i, row[i]))
      return false;
  return true;
}

void od_partition_restore(const od_model *m, int *in, double *memory) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m);
  for (int k = 0; k < m->freedom; k++) in[l->dependent + rank + k] = in[l->independent + k];
  write_pattern(m, in, memory);
}

// ---- exchanges

// Exchanges dependent coordinate i with independent coordinate k in the map z_dep = R z_ind.
static void exchange_in_map(double *R, int rank, int free, int i, int k) {
  double pivot = R[i * free + k];
  for (int r = 0; r < rank; r++) {
    double factor = R[r * free + k] / pivot;
    if (r == i || factor == 0) continue;
    for (int c = 0; c < free; c++) R[r * free + c] -= factor * R[i * free + c];
    R[r * free + k] = factor;
  }
  for (int c = 0; c < free; c++) R[i * free + c] = c == k ? 1 / pivot : -R[i * free + c] / pivot;
}

bool od_partition_exchange(const od_model *m, const double *entries, double *R, int *in, double *memory) {
  const od_layout *l = &m->layout;
  const double *weight = m->coordinate_weight;
  int rank = od_partition_rank(m), free = m->freedom, *column = in + l->dependent;
  memcpy(column + rank, in + l->independent, (size_t)free * sizeof *column);
  // Each exchange increases the magnitude of the determinant of the weighted dependent columns, so no choice repeats. The limit of
  // rounds is necessary because of round-off.
  for (int round = 0; round <= 2 * m->coordinates; round++) {
    int i = 0, k = 0;
    double largest = 0;
    for (int r = 0; r < rank; r++)
      for (int c = 0; c < free; c++) {
        double entry = fabs(R[r * free + c]) * weight[column[rank + c]] / weight[column[r]];
        if (!isfinite(entry)) return false;
        if (entry > largest) largest = entry, i = r, k = c;
      }
    if (largest <= 1 + OD_TOLERANCE(1e-9)) {
      write_partition(m, entries, in, memory);
      return true;
    }
    exchange_in_map(R, rank, free, i, k);
    swap_entries(column, i, rank + k);
  }
  return false;
}
