// Dense LU factors, with single and multiple right-hand sides, and the coupled rows of a matrix of rates. Oracles: the residual of
// the solution in long double, with the original matrix; matrices whose coupled rows are known by construction.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "integrate/rates.h"
#include "math/dense.h"

enum { MOST = 12, MOST_COLUMNS = 27 };

// Reproducible numbers between -1 and 1.
static double draw(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (double)(*state >> 8) / (1 << 23) - 1;
}

// Many zeros, so that factors have some, and a diagonal that is small enough for rows to be exchanged.
static void fill(int n, double *a, uint32_t *state) {
  for (int i = 0; i < n * n; i++) {
    double value = draw(state);
    a[i] = draw(state) > 0.2 ? 0 : value;
  }
  for (int i = 0; i < n; i++) a[i * n + (i + 1) % n] += 3, a[i * n + i] += i % 2 ? 0.5 : 0;
}

// Every fourth column and whole ranges of columns are zero: their solutions are zero, and all others must be solved.
static int is_zero(int column) {
  return column % 4 == 3 || (column >= 8 && column < 16);
}

static void check_residual(int n, int columns, const double *a, const double *b, const double *x) {
  for (int c = 0; c < columns; c++)
    for (int i = 0; i < n; i++) {
      long double left = b[i * columns + c], size = fabs(b[i * columns + c]);
      for (int k = 0; k < n; k++) {
        long double part = (long double)a[i * n + k] * x[k * columns + c];
        left -= part, size += fabsl(part);
      }
      assert_true(fabsl(left) <= 1e-13L * size * n);
      if (is_zero(c)) assert_true(x[i * columns + c] == 0);
    }
}

// Column by column.
static void check_alone(int n, int columns, const double *a, const double *lu, const int *pivot, const double *b) {
  double x[MOST * MOST_COLUMNS], one[MOST];
  for (int c = 0; c < columns; c++) {
    for (int i = 0; i < n; i++) one[i] = b[i * columns + c];
    od_lu_solve(n, lu, pivot, one, 1);
    for (int i = 0; i < n; i++) x[i * columns + c] = one[i];
  }
  check_residual(n, columns, a, b, x);
}

static void test_columns(void **unused) {
  (void)unused;
  uint32_t state = 1;
  int solved = 0, exchanged = 0;
  for (int n = 1; n <= MOST; n++)
    for (int columns = 1; columns <= MOST_COLUMNS; columns++) {
      double a[MOST * MOST], lu[MOST * MOST], b[MOST * MOST_COLUMNS + 1], x[MOST * MOST_COLUMNS + 1];
      int pivot[MOST];
      fill(n, a, &state);
      for (int i = 0; i < n * columns; i++) b[i] = is_zero(i % columns) || (i < columns && i >= 16) ? 0 : draw(&state);
      b[n * columns] = 7;  // not theirs
      memcpy(lu, a, sizeof lu);
      memcpy(x, b, sizeof x);
      if (od_lu_factor(n, lu, pivot) != OD_OK) continue;
      solved++;
      for (int k = 0; k < n; k++) exchanged += pivot[k] != k;
      od_lu_solve(n, lu, pivot, x, columns);
      check_residual(n, columns, a, b, x);
      check_alone(n, columns, a, lu, pivot, b);
      assert_true(x[n * columns] == 7);
    }
  assert_true(solved > 200 && exchanged > 200);
}

// The first rows full, the others those of a unit matrix; and one other number, which couples the rows up to it.
static void test_coupled_rows(void **unused) {
  (void)unused;
  enum { N = 6 };
  for (int coupled = 0; coupled <= N; coupled++)
    for (int at = -1; at < N * N; at++) {
      double gk[N * N] = {0};
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) gk[i * N + j] = i < coupled && j < coupled ? 2 + i + N * j : i == j;
      int row = at / N, column = at % N, last = row > column ? row : column;
      if (at >= 0) gk[at] = row == column ? 1.5 : -1e-300;
      int expected = at >= 0 && last >= coupled ? last + 1 : coupled;
      assert_int_equal(od_rate_matrix_coupled(N, gk), expected);
    }
  const double minus_zero[] = {1, -0.0, -0.0, 1};
  assert_int_equal(od_rate_matrix_coupled(2, minus_zero), 0);
}

// Derivatives of rates with coupled rows and without: gk dk = -dg.
static void test_rates(void **unused) {
  (void)unused;
  enum { N = 5, COLUMNS = 18 };
  uint32_t state = 5;
  for (int coupled = 0; coupled <= N; coupled++) {
    const od_plant plant = {.nc = N};
    double gk[N * N], factors[N * N], g[N], dg[N * COLUMNS], minus[N * COLUMNS], dk[N * COLUMNS];
    int pivot[N + 1];
    const od_rate_matrix matrix = {gk, factors, g, pivot};
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) gk[i * N + j] = i < coupled && j < coupled ? draw(&state) + 3 * (i == j) : i == j;
    for (int i = 0; i < N * COLUMNS; i++) dg[i] = is_zero(i % COLUMNS) ? 0 : draw(&state), minus[i] = -dg[i];
    assert_int_equal(od_rate_matrix_pivots(&plant), N + 1);
    assert_int_equal(od_rate_matrix_factor(&plant, &matrix), OD_OK);
    od_rate_matrix_solve(&plant, &matrix, dg, COLUMNS, dk);
    check_residual(N, COLUMNS, gk, minus, dk);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_coupled_rows),
      cmocka_unit_test(test_rates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
