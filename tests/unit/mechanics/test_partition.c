// The choice of independent coordinates, on random sparse closure Jacobians of up to 150 columns.
//
// Oracle: a plain dense implementation of the rules in mechanics/partition.h, which searches all entries in every step: elimination with full
// pivoting, an order of pivots with the least fill (Markowitz), and the pattern of the factors. All tables must be equal. After exchanges, a
// dense solution of the closure equations must have no weighted entry above one.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "mechanics/partition.h"
#include "support/random_machine.h"

enum { MOST_N = 150, MOST_ROWS = 150, MOST_CLOSURES = 60, MOST_PATH = 12, MACHINES = 150 };

typedef struct subject {
  od_model m;
  od_link link[MOST_N];
  od_closure closure[MOST_CLOSURES];
  od_path_step step[MOST_CLOSURES * MOST_PATH];
  double weight[MOST_N], entries[MOST_CLOSURES * MOST_PATH * 3];
  double A[MOST_ROWS][MOST_N];    // the dense Jacobian
  int source[MOST_ROWS][MOST_N];  // entry of the Jacobian, or -1
  int *integers;
  double *memory;
} subject;

typedef struct reference {
  int rank, column[MOST_N], row[MOST_ROWS];
} reference;

// Values: any number, sometimes zero or one of a few sizes, so that entries are equal.
static double draw(od_dice *dice) {
  int kind = od_dice_pick(dice, 8);
  if (kind == 0) return 0;
  if (kind < 3) return od_dice_pick(dice, 2) ? 1 : -0.5;
  return od_dice_uniform(dice, -2, 2);
}

static void fill_values(subject *s, od_dice *dice) {
  const od_model *m = &s->m;
  for (int c = 0; c < m->closures; c++) {
    od_closure *q = &s->closure[c];
    // Sometimes a closure repeats the one before it, so that rows are redundant.
    const od_closure *before = c > 0 ? q - 1 : NULL;
    bool repeats = before && before->path_count == q->path_count && before->rows == q->rows && od_dice_pick(dice, 2);
    for (int k = 0; k < q->rows * q->path_count; k++)
      s->entries[q->entry + k] = repeats ? s->entries[before->entry + k] : draw(dice);
    for (int k = 0; k < q->rows; k++)
      for (int e = 0; e < q->path_count; e++) {
        int j = s->link[s->step[q->path + e].link].coordinate;
        s->A[q->row + k][j] = s->entries[q->entry + k * q->path_count + e];
        s->source[q->row + k][j] = q->entry + k * q->path_count + e;
      }
  }
}

// Link i has coordinate (i + 1) % n, so that indices of links and of coordinates differ.
static void make(subject *s, unsigned long long seed, od_dice *dice) {
  memset(s, 0, sizeof *s);
  *dice = (od_dice){seed};
  od_model *m = &s->m;
  int n = 3 + od_dice_pick(dice, seed % 4 == 0 ? MOST_N - 2 : 30);
  m->coordinates = n;
  m->closures = 1 + od_dice_pick(dice, n / 3 + 1 < MOST_CLOSURES - 10 ? n / 3 + 11 : MOST_CLOSURES);
  m->link = s->link, m->closure = s->closure, m->path_step = s->step, m->coordinate_weight = s->weight;
  for (int i = 0; i < n; i++) s->link[i].coordinate = (i + 1) % n;
  for (int i = 0; i < n; i++) s->weight[i] = (double[]){1, 1, 1, 2, 0.25}[od_dice_pick(dice, 5)];
  for (int r = 0; r < MOST_ROWS; r++)
    for (int j = 0; j < MOST_N; j++) s->source[r][j] = -1;
  for (int c = 0; c < m->closures; c++) {
    od_closure *q = &s->closure[c];
    bool taken[MOST_N] = {false};
    int longest = n < MOST_PATH ? n : MOST_PATH, near_by = od_dice_pick(dice, n);
    bool repeats = c > 0 && od_dice_pick(dice, 6) == 0;
    *q = (od_closure){.row = m->rows, .rows = 1 + od_dice_pick(dice, 3), .path = m->path_steps, .entry = m->entries};
    q->path_count = repeats ? q[-1].path_count : 2 + od_dice_pick(dice, longest - 1);
    if (repeats) q->rows = q[-1].rows;
    for (int e = 0; e < q->path_count; e++) {
      int i = repeats ? s->step[q[-1].path + e].link : (near_by + od_dice_pick(dice, 2 * longest)) % n;
      while (taken[i]) i = (i + 1) % n;
      taken[i] = true;
      s->step[q->path + e] = (od_path_step){i, 1};
    }
    m->rows += q->rows;
    m->path_steps += q->path_count;
    m->entries += q->rows * q->path_count;
  }
  fill_values(s, dice);
  od_layout *l = &m->layout;
  int rank = m->rows < n ? m->rows : n, *const at[] = {&l->dependent,   &l->independent, &l->kept_row,  &l->lu_start,
                                                       &l->lu_diagonal, &l->lu_column,   &l->lu_source, &l->rhs_start,
                                                       &l->rhs_column,  &l->rhs_source};
  const int size[] = {n, n, m->rows, rank + 1, rank, rank * rank, rank * rank, rank + 1, m->entries, m->entries};
  for (int i = 0; i < 10; i++) *at[i] = l->integers, l->integers += size[i];
  s->integers = malloc((size_t)l->integers * sizeof *s->integers);
  for (int i = 0; i < l->integers; i++) s->integers[i] = -99;
  size_t doubles = od_partition_doubles(m);
  s->memory = malloc(doubles * sizeof *s->memory);
  for (size_t i = 0; i < doubles; i++) s->memory[i] = NAN;
}

static void drop(subject *s) {
  free(s->integers);
  free(s->memory);
}

// ---- the reference

static double weighted[MOST_ROWS][MOST_N];
static bool active[MOST_N], open[MOST_ROWS];

static void weigh(const subject *s) {
  for (int r = 0; r < s->m.rows; r++)
    for (int j = 0; j < s->m.coordinates; j++) weighted[r][j] = s->A[r][j] * s->weight[j];
}
static void swap(int *list, int i, int j) {
  int kept = list[i];
  list[i] = list[j], list[j] = kept;
}
static double largest_in(int row, int n) {
  double size = 0;
  for (int j = 0; j < n; j++)
    if (active[j]) size = fmax(size, fabs(weighted[row][j]));
  return size;
}
static void subtract(int pivot_row, int pivot, int rows, int n) {
  for (int i = 0; i < rows; i++) {
    if (!open[i] || weighted[i][pivot] == 0) continue;
    double factor = weighted[i][pivot] / weighted[pivot_row][pivot];
    for (int j = 0; j < n; j++)
      if (active[j] && weighted[pivot_row][j] != 0) weighted[i][j] -= factor * weighted[pivot_row][j];
  }
}

static void full_pivoting(const subject *s, reference *r) {
  int n = s->m.coordinates, rows = s->m.rows;
  double first = 0;
  weigh(s);
  for (int j = 0; j < n; j++) active[j] = true, r->column[j] = j;
  for (int i = 0; i < rows; i++) open[i] = true, r->row[i] = i;
  for (r->rank = 0; r->rank < n && r->rank < rows; r->rank++) {
    int k = r->rank, pi = k, pj = k;
    for (int i = k + 1; i < rows; i++)
      if (largest_in(r->row[i], n) > largest_in(r->row[pi], n)) pi = i;
    double best = largest_in(r->row[pi], n);
    if (k == 0) first = best;
    if (best == 0 || best <= 1e-9 * first) break;
    while (fabs(weighted[r->row[pi]][r->column[pj]]) != best) pj++;
    swap(r->column, k, pj);
    swap(r->row, k, pi);
    active[r->column[k]] = open[r->row[k]] = false;
    subtract(r->row[k], r->column[k], rows, n);
  }
}

// The entry with the least fill among all open rows and active columns.
static void least_fill(const subject *s, reference *r, int step, int *place, int *pivot) {
  int n = s->m.coordinates, rows = s->m.rows;
  long least = 0;
  double size = 0;
  *place = -1;
  for (int i = step; i < r->rank; i++) {
    int row = r->row[i], in_row = 0, best = -1;
    long fewest = 0;
    for (int j = 0; j < n; j++) in_row += active[j] && weighted[row][j] != 0;
    for (int j = 0; j < n; j++) {
      double entry = fabs(weighted[row][j]);
      if (!active[j] || entry == 0 || entry < 0.1 * largest_in(row, n)) continue;
      int in_column = 0;
      for (int k = 0; k < rows; k++) in_column += open[k] && weighted[k][j] != 0;
      long fill = (long)(in_row - 1) * (in_column - 1);
      if (best < 0 || fill < fewest || (fill == fewest && entry > fabs(weighted[row][best]))) best = j, fewest = fill;
    }
    if (best < 0) continue;
    double entry = fabs(weighted[row][best]);
    if (*place < 0 || fewest < least || (fewest == least && entry > size))
      *place = i, *pivot = best, least = fewest, size = entry;
  }
}

static void order(const subject *s, reference *r) {
  int n = s->m.coordinates, rows = s->m.rows;
  weigh(s);
  for (int j = 0; j < n; j++) active[j] = false;
  for (int i = 0; i < rows; i++) open[i] = false;
  for (int k = 0; k < r->rank; k++) active[r->column[k]] = open[r->row[k]] = true;
  for (int k = 0; k < r->rank; k++) {
    int place, pivot = -1, at = 0;
    least_fill(s, r, k, &place, &pivot);
    assert_true(place >= k);
    while (r->column[at] != pivot) at++;
    swap(r->row, k, place);
    swap(r->column, k, at);
    active[pivot] = open[r->row[k]] = false;
    subtract(r->row[k], pivot, rows, n);
  }
}

static void compare_tables(const subject *s, const reference *r) {
  const od_model *m = &s->m;
  const od_layout *l = &m->layout;
  const int *in = s->integers;
  int n = m->coordinates, rank = r->rank, place[MOST_N], free = 0, end = 0;
  static bool pattern[MOST_ROWS][MOST_N];
  for (int j = 0; j < n; j++) place[j] = -1;
  for (int k = 0; k < rank; k++) {
    assert_int_equal(in[l->dependent + k], r->column[k]);
    assert_int_equal(in[l->kept_row + k], r->row[k]);
    place[r->column[k]] = k;
  }
  for (int j = 0; j < n; j++) {
    if (place[j] >= 0) continue;
    assert_int_equal(in[l->independent + free], j);
    place[j] = -1 - free++;
  }
  assert_int_equal(free, m->freedom);
  memset(pattern, 0, sizeof pattern);
  assert_int_equal(in[l->lu_start], 0);
  assert_int_equal(in[l->rhs_start], 0);
  for (int i = 0; i < rank; i++) {
    int row = r->row[i], rhs = in[l->rhs_start + i];
    pattern[i][i] = true;
    for (int j = 0; j < n; j++)
      if (s->source[row][j] >= 0 && place[j] >= 0) pattern[i][place[j]] = true;
    for (int k = 0; k < i; k++)
      for (int j = k; pattern[i][k] && j < rank; j++) pattern[i][j] = pattern[i][j] || pattern[k][j];
    for (int j = 0; j < rank; j++) {
      if (!pattern[i][j]) continue;
      if (j == i) assert_int_equal(in[l->lu_diagonal + i], end);
      assert_int_equal(in[l->lu_column + end], j);
      assert_int_equal(in[l->lu_source + end], s->source[row][r->column[j]]);
      end++;
    }
    assert_int_equal(in[l->lu_start + i + 1], end);
    // The entries of independent columns, each once.
    int count = 0;
    for (int j = 0; j < n; j++) {
      if (s->source[row][j] < 0 || place[j] >= 0) continue;
      int found = 0;
      for (int k = rhs; k < in[l->rhs_start + i + 1]; k++)
        found += in[l->rhs_column + k] == -1 - place[j] && in[l->rhs_source + k] == s->source[row][j];
      assert_int_equal(found, 1);
      count++;
    }
    assert_int_equal(in[l->rhs_start + i + 1] - rhs, count);
  }
}

static void choice(void **state) {
  (void)state;
  static subject s;
  static reference r;
  int redundant = 0, large = 0;
  for (unsigned long long seed = 1; seed <= MACHINES; seed++) {
    od_dice dice;
    make(&s, seed, &dice);
    full_pivoting(&s, &r);
    s.m.freedom = s.m.coordinates - r.rank;
    assert_int_equal(od_partition_choose(&s.m, s.entries, s.integers, s.memory), r.rank);
    order(&s, &r);
    compare_tables(&s, &r);
    redundant += r.rank<s.m.rows, large += r.rank> 64;
    assert_int_equal(od_partition_is_pair(&s.m, s.integers), r.rank == 2 && s.integers[s.m.layout.lu_start + 2] == 4);
    drop(&s);
  }
  print_message("%d of %d with redundant rows, %d with more than 64 dependent coordinates\n", redundant, MACHINES,
                large);
  assert_true(redundant > 10 && large > 3);
}

// ---- exchanges

// R of z_dep = R z_ind for lists of columns and rows, by dense elimination of [A_dep | -A_ind]. Returns false if A_dep is singular.
static bool solve(const subject *s, int rank, const int *column, const int *row, double *R) {
  static double B[MOST_ROWS][MOST_N];
  int n = s->m.coordinates, free = n - rank;
  for (int i = 0; i < rank; i++)
    for (int j = 0; j < n; j++) B[i][j] = j < rank ? s->A[row[i]][column[j]] : -s->A[row[i]][column[j]];
  for (int k = 0; k < rank; k++) {
    int p = k;
    for (int i = k; i < rank; i++)
      if (fabs(B[i][k]) > fabs(B[p][k])) p = i;
    if (fabs(B[p][k]) < 1e-6) return false;
    for (int j = 0; j < n; j++) {
      double kept = B[k][j];
      B[k][j] = B[p][j], B[p][j] = kept;
    }
    for (int i = 0; i < rank; i++) {
      double factor = B[i][k] / B[k][k];
      for (int j = 0; i != k && j < n; j++) B[i][j] -= factor * B[k][j];
    }
  }
  for (int i = 0; i < rank; i++)
    for (int j = 0; j < free; j++) R[i * free + j] = B[i][rank + j] / B[i][i];
  return true;
}
static double largest_weighted(const subject *s, int rank, const int *column, const double *R) {
  int free = s->m.coordinates - rank;
  double most = 0;
  for (int i = 0; i < rank; i++)
    for (int j = 0; j < free; j++)
      most = fmax(most, fabs(R[i * free + j]) * s->weight[column[rank + j]] / s->weight[column[i]]);
  return most;
}

static void exchanges(void **state) {
  (void)state;
  static subject s;
  static reference r;
  static double R[MOST_N * MOST_N];
  int improved = 0, tried = 0;
  for (unsigned long long seed = 1; seed <= 2 * MACHINES; seed++) {
    od_dice dice;
    make(&s, seed, &dice);
    full_pivoting(&s, &r);
    int rank = r.rank, n = s.m.coordinates, column[MOST_N], row[MOST_ROWS];
    s.m.freedom = n - rank;
    assert_int_equal(od_partition_choose(&s.m, s.entries, s.integers, s.memory), rank);
    const od_layout *l = &s.m.layout;
    // Other values, for which the choice is bad.
    fill_values(&s, &dice);
    memcpy(column, s.integers + l->dependent, (size_t)rank * sizeof *column);
    memcpy(column + rank, s.integers + l->independent, (size_t)(n - rank) * sizeof *column);
    memcpy(row, s.integers + l->kept_row, (size_t)rank * sizeof *row);
    bool ok = solve(&s, rank, column, row, R);
    double before = ok ? largest_weighted(&s, rank, column, R) : 0;
    if (ok && before < 1e4) {
      assert_true(od_partition_exchange(&s.m, s.entries, R, s.integers, s.memory));
      tried++, improved += before > 1.001;
      memcpy(r.column, s.integers + l->dependent, (size_t)rank * sizeof *column);
      memcpy(r.column + rank, s.integers + l->independent, (size_t)(n - rank) * sizeof *column);
      int stays = 0;
      for (int i = 0; i < rank; i++)
        for (int j = 0; j < rank; j++) stays += column[i] == r.column[j];
      if (before < 0.999) assert_int_equal(stays, rank);
      assert_true(solve(&s, rank, r.column, s.integers + l->kept_row, R));
      assert_true(largest_weighted(&s, rank, r.column, R) <= 1 + 1e-6);
      memcpy(r.row, row, (size_t)rank * sizeof *row);
      order(&s, &r);
      compare_tables(&s, &r);
    }
    // Numbers that are not finite cannot be improved.
    if (ok && rank > 0 && rank < n) {
      R[0] = NAN;
      assert_false(od_partition_exchange(&s.m, s.entries, R, s.integers, s.memory));
    }
    drop(&s);
  }
  print_message("%d exchanges, %d of them necessary\n", tried, improved);
  assert_true(tried > 30 && improved > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(choice), cmocka_unit_test(exchanges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
