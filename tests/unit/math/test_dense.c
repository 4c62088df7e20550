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

// A = B B' with B of n x rank: the rank is found, and L L' = A. Some rows of B are zero.
static void test_cholesky(void **state) {
  (void)state;
  uint32_t seed = 11;
  for (int n = 1; n <= MOST; n++)
    for (int rank = 0; rank <= n; rank++)
      for (int trial = 0; trial < 4; trial++) {
        double B[MOST * MOST] = {0}, A[MOST * MOST], L[MOST * MOST];
        int independent = 0;
        // Rows up to `rank` are independent, others are combinations of them; a zero row first or last.
        for (int i = 0; i < n; i++)
          for (int k = 0; k < rank; k++) B[i * n + k] = trial == 1 && i == 0 ? 0 : draw(&seed) + 2 * (i == k);
        for (int i = 0; i < n * n; i++) L[i] = NAN;
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++) {
            A[i * n + j] = 0;
            for (int k = 0; k < rank; k++) A[i * n + j] += B[i * n + k] * B[j * n + k];
          }
        int found = od_cholesky(n, A, L);
        independent = trial == 1 && rank == n ? rank - 1 : rank;
        assert_int_equal(found, independent);
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += L[i * n + k] * L[j * n + k];
            near(sum, A[i * n + j], 1e-5 * sqrt(A[i * n + i] * A[j * n + j]) * (rank < n ? 1 : 1e-6));
            if (j > i) assert_true(L[i * n + j] == 0);
            if (j == i) assert_true(L[i * n + j] >= 0);
          }
      }
}

// The bounds: a row depends on those before it to within 1e-12 of its diagonal; then its other entries may differ by 1e-6.
static void test_cholesky_bounds(void **state) {
  (void)state;
  double L[9];
  const struct {
    double a[9];
    int n, rank;
  } cases[] = {{{1, 1, 1, 1 + 3e-12}, 2, 2},
               {{1, 1, 1, 1 + 3e-13}, 2, 1},
               {{1, 1, 1, 1 - 3e-13}, 2, 1},
               {{1, 1, 1, 1 - 3e-12}, 2, -1},
               {{4, 2, 2, 1 + 3e-12}, 2, 2},
               {{-1}, 1, -1},
               {{-1e-15}, 1, -1},
               {{0}, 1, 0},
               {{NAN}, 1, -1},
               {{INFINITY}, 1, -1},
               {{0, 0, 0, 4}, 2, 1},
               {{0, 1e-20, 1e-20, 4}, 2, -1},
               {{1, 2, 2, 1}, 2, -1},
               {{1, NAN, NAN, 1}, 2, -1},
               {{1, 1, 0, 1, 1, 1.9e-6, 0, 1.9e-6, 4}, 3, 2},
               {{1, 1, 0, 1, 1, 2.1e-6, 0, 2.1e-6, 4}, 3, -1},
               {{1, 1, 0, 1, 1, -1.9e-6, 0, -1.9e-6, 4}, 3, 2},
               {{1, 1, 0, 1, 1, -2.1e-6, 0, -2.1e-6, 4}, 3, -1},
               {{9, 9, 0, 9, 9, 5.9e-6, 0, 5.9e-6, 4}, 3, 2},
               {{9, 9, 0, 9, 9, 6.1e-6, 0, 6.1e-6, 4}, 3, -1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(od_cholesky(cases[i].n, cases[i].a, L), cases[i].rank);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns),  cmocka_unit_test(test_coupled_rows),    cmocka_unit_test(test_rates),
      cmocka_unit_test(test_cholesky), cmocka_unit_test(test_cholesky_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
