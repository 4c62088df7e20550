// Sparse LU factors. Oracles: the residual of the solution in long double, with the original matrix; the fill of trees and of full
// rows in closed form; known singular matrices.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "math/sparse.h"
#include "random/random.h"

enum { MOST = 4000 };

typedef struct system {
  int n, entries, row[MOST], column[MOST];
  double a[MOST];
  od_arena arena;
  od_sparse sparse;
  double *values, *scratch;
} system_of;

static void add(system_of *s, int row, int column, double a) {
  assert_true(s->entries < MOST);
  s->row[s->entries] = row, s->column[s->entries] = column, s->a[s->entries++] = a;
}

static void analyze(system_of *s, long most) {
  assert_true(od_sparse_analyze(s->n, s->row, s->column, s->entries, most, &s->arena, &s->sparse));
  s->values = calloc((size_t)s->sparse.values + 1, sizeof *s->values);
  s->scratch = calloc((size_t)s->n, sizeof *s->scratch);
}

static od_status factor(system_of *s) {
  memset(s->values, 0, (size_t)s->sparse.values * sizeof *s->values);
  for (int e = 0; e < s->entries; e++) s->values[s->sparse.place[e]] += s->a[e];
  return od_sparse_factor(&s->sparse, s->values, s->scratch);
}

static void end(system_of *s) {
  free(s->values);
  free(s->scratch);
  od_arena_free(&s->arena);
}

// The largest residual of A x = b, each row's relative to its own terms.
static double residual(const system_of *s, const double *x, const double *b, int columns) {
  long double most = 0, *sum = calloc((size_t)s->n, sizeof *sum), *size = calloc((size_t)s->n, sizeof *size);
  for (int c = 0; c < columns; c++) {
    for (int i = 0; i < s->n; i++) sum[i] = -(long double)b[i * columns + c], size[i] = fabsl(sum[i]);
    for (int e = 0; e < s->entries; e++) {
      long double part = (long double)s->a[e] * x[s->column[e] * columns + c];
      sum[s->row[e]] += part, size[s->row[e]] += fabsl(part);
    }
    for (int i = 0; i < s->n; i++)
      if (size[i] > 0 && fabsl(sum[i]) / size[i] > most) most = fabsl(sum[i]) / size[i];
  }
  free(sum);
  free(size);
  return (double)most;
}

// From -1 to 1, and an index below n; r counts the draws.
static double draw(uint64_t *r) {
  return 2 * od_random_uniform(7, 1, (*r)++, OD_USE_DRAW) - 1;
}
static int draw_index(uint64_t *r, int n) {
  int i = (int)(od_random_uniform(7, 2, (*r)++, OD_USE_DRAW) * n);
  return i < n ? i : n - 1;
}

// Like matrices of steps: one on the diagonal, a flow between two volumes in the rows of both, in different units; sometimes a full
// row or column.
static void random_systems(void **state) {
  (void)state;
  uint64_t r = 0;
  for (int trial = 0; trial < 200; trial++) {
    system_of *s = calloc(1, sizeof *s);
    s->n = 1 + draw_index(&r, 150);
    double unit[150], x[150 * 3], b[150 * 3];
    for (int i = 0; i < s->n; i++) unit[i] = pow(10, 6 * draw(&r)), add(s, i, i, 1);
    for (int k = 0; k < 2 * s->n; k++) {
      int i = draw_index(&r, s->n), j = draw_index(&r, s->n);
      double flow = pow(10, 4 * draw(&r)), back = trial % 3 ? flow : flow * draw(&r);
      add(s, i, i, flow), add(s, i, j, -back * unit[i] / unit[j]);
      add(s, j, j, flow), add(s, j, i, -flow * unit[j] / unit[i]);
    }
    for (int i = 0; trial % 4 == 0 && i < s->n; i++)
      add(s, i, 0, 0.01 * draw(&r) * unit[i] / unit[0]), add(s, 0, i, 0.01 * draw(&r) * unit[0] / unit[i]);
    analyze(s, MOST * 100L);
    for (int i = 0; i < 3 * s->n; i++) x[i] = b[i] = draw(&r) * unit[i / 3];
    od_status status = factor(s);
    if (status == OD_OK) {
      od_sparse_solve(&s->sparse, s->values, s->scratch, x, 3);
      double off = residual(s, x, b, 3);
      if (!(off < 1e-11)) print_error("trial %d: residual %g\n", trial, off);
      assert_true(off < 1e-11);
    } else {
      print_error("trial %d: %s\n", trial, od_status_text(status));
      assert_true(false);
    }
    end(s);
    free(s);
  }
}

// Trees are eliminated from their leaves, without fill; a full row and column comes last and adds only itself.
static void fill_is_least(void **state) {
  (void)state;
  uint64_t r = 0;
  static const int places[] = {-1, 799, 0, 400};  // of the row with all columns; -1: none
  for (int k = 0; k < 4; k++) {
    system_of *s = calloc(1, sizeof *s);
    int full = places[k], with_full = full >= 0, tree = 800 - with_full, seen[800] = {0};
    s->n = 800;
#define BESIDE(i) ((i) + (with_full && (i) >= full))
    for (int i = 1; i < tree; i++) {
      int other = draw_index(&r, i);
      add(s, BESIDE(i), BESIDE(other), 1);
    }
    for (int i = 0; with_full && i < tree; i++) add(s, full, BESIDE(i), 1);
    analyze(s, 1L << 30);
    assert_int_equal(s->sparse.values, tree + 2 * (tree - 1) + with_full * (2 * tree + 1));
    for (int i = 0; i < s->n; i++) assert_int_equal(seen[s->sparse.order[i]]++, 0);  // each row once
    if (with_full) assert_int_equal(s->sparse.order[s->n - 1], full);
    // A size that is one number too small is reported as too small, not as an error.
    od_sparse none;
    assert_true(od_sparse_analyze(s->n, s->row, s->column, s->entries, s->sparse.values - 1, &s->arena, &none));
    assert_int_equal(none.values, 0);
    end(s);
    free(s);
  }
}

static od_status status_of(int n, const double *a) {
  system_of *s = calloc(1, sizeof *s);
  s->n = n;
  for (int i = 0; i < n * n; i++)
    if (a[i] != 0) add(s, i / n, i % n, a[i]);
  analyze(s, 1000);
  od_status status = factor(s);
  end(s);
  free(s);
  return status;
}

static void lost_pivots_are_told(void **state) {
  (void)state;
  assert_int_equal(status_of(2, (double[]){0, 1, 1, 0}), OD_SINGULAR);
  assert_int_equal(status_of(2, (double[]){1, 1, 1, 1}), OD_SINGULAR);
  assert_int_equal(status_of(2, (double[]){1, 1, 1, 1 + 1e-15}), OD_SINGULAR);
  assert_int_equal(status_of(2, (double[]){1, 1, 1, 1 + 1e-12}), OD_OK);
  assert_int_equal(status_of(2, (double[]){1, 1, 1, 1 + 1e-6}), OD_OK);
  assert_int_equal(status_of(2, (double[]){1e-80, 1e80, 1e-80, 2e80}), OD_OK);  // units
  // Two terms cancel in the last pivot, which has no entry of its own; 7e-18 of round-off remains.
  assert_int_equal(status_of(3, (double[]){3, 0, 1.1, 0, 9, -1.1000000000000003, 0.1, 0.3, 0}), OD_SINGULAR);
  assert_int_equal(status_of(3, (double[]){3, 0, 1.1, 0, 9, -1.2, 0.1, 0.3, 0}), OD_OK);
  assert_int_equal(status_of(2, (double[]){1, NAN, 1, 1}), OD_NOT_FINITE);
  assert_int_equal(status_of(1, (double[]){INFINITY}), OD_NOT_FINITE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_systems), cmocka_unit_test(fill_is_least),
                                     cmocka_unit_test(lost_pivots_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
