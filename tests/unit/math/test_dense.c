// Dense LU factors of all sizes that have a text of their own, and beyond. Oracles: the residual in long doubles against the matrix as it was
// given, of right-hand sides one by one and side by side.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "math/dense.h"
#include "random/random.h"

enum { MOST = 12, COLUMNS = 3, DRAWS = 40 };

// Rows of very different sizes, as newtons and pascals per second have; a third of the entries are zero.
static void draw(uint64_t seed, int n, double *a, double *b) {
  for (int i = 0; i < n; i++) {
    double unit = pow(10, 12 * od_random_uniform(seed, 1, (uint64_t)i, OD_USE_DRAW) - 6);
    for (int j = 0; j < n; j++) {
      double value = 2 * od_random_uniform(seed, 2, (uint64_t)(i * MOST + j), OD_USE_DRAW) - 1;
      a[i * n + j] = fabs(value) < 1. / 3 ? 0 : unit * value;
    }
    for (int j = 0; j < COLUMNS; j++)
      b[i * COLUMNS + j] = unit * (2 * od_random_uniform(seed, 3, (uint64_t)(i * COLUMNS + j), OD_USE_DRAW) - 1);
  }
}

// Of a row, relative to its largest term; entries of x stand `stride` apart.
static double residual(int n, const double *row, const double *x, int stride, double b) {
  long double sum = -b, size = fabs(b);
  for (int k = 0; k < n; k++) {
    sum += (long double)row[k] * x[k * stride];
    size = fmaxl(size, fabsl((long double)row[k] * x[k * stride]));
  }
  return size > 0 ? (double)(fabsl(sum) / size) : 0;
}

static void solutions_satisfy_their_equations(void **state) {
  (void)state;
  double a[MOST * MOST], lu[MOST * MOST], b[MOST * COLUMNS], many[MOST * COLUMNS], one[MOST];
  int pivot[MOST], solved = 0;
  for (int n = 1; n <= MOST; n++)
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
      draw(1000 * (uint64_t)n + seed, n, a, b);
      memcpy(lu, a, sizeof lu);
      memcpy(many, b, sizeof many);
      if (od_lu_factor(n, lu, pivot) != OD_OK) continue;
      solved++;
      od_lu_solve(n, lu, pivot, many, COLUMNS);
      for (int c = 0; c < COLUMNS; c++) {
        for (int i = 0; i < n; i++) one[i] = b[i * COLUMNS + c];
        od_lu_solve(n, lu, pivot, one, 1);
        for (int i = 0; i < n; i++) {
          assert_true(residual(n, a + i * n, one, 1, b[i * COLUMNS + c]) < 1e-12);
          assert_true(residual(n, a + i * n, many + c, COLUMNS, b[i * COLUMNS + c]) < 1e-12);
        }
      }
    }
  assert_true(solved > MOST * DRAWS * 3 / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(solutions_satisfy_their_equations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
