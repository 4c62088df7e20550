// The choice of pivots of od_lu_factor(). Oracle: the rule of its comment, by hand: the largest entry of a column relative to the size of its
// row, which is the power of two below the sum of the row's magnitudes.
#include <float.h>
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "math/dense.h"

// Returns the row of the first pivot.
static int pivot_alone(int n, const double *a) {
  double factors[16];
  int pivot[4];
  memcpy(factors, a, (size_t)(n * n) * sizeof *a);
  assert_int_equal(od_lu_factor(n, factors, pivot), OD_OK);
  return pivot[0];
}

// The same; also checks that the factors solve the equations.
static int first_pivot(int n, const double *a) {
  double factors[16], b[4], x[4];
  int pivot[4];
  memcpy(factors, a, (size_t)(n * n) * sizeof *a);
  assert_int_equal(od_lu_factor(n, factors, pivot), OD_OK);
  for (int i = 0; i < n; i++) {
    x[i] = i + 1;
    b[i] = 0;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) b[i] += a[i * n + j] * x[j];
  od_lu_solve(n, factors, pivot, b, 1);
  for (int i = 0; i < n; i++) near(b[i], x[i], 1e-9);
  return pivot[0];
}

static void test_rows_of_different_sizes(void **state) {
  (void)state;
  // 4 of 8 is less than 1 of 1.1; the sizes of even and odd entries are added.
  assert_int_equal(first_pivot(2, (double[]){4, 4, 1, 0.1}), 1);
  assert_int_equal(first_pivot(2, (double[]){4, -4, 1, 0.1}), 1);
  assert_int_equal(first_pivot(2, (double[]){4, 0.1, 1, 1}), 0);
  // 4 of 1 + 4 + 4 (8) against 3 of 3.2 (2): the third entry counts.
  assert_int_equal(first_pivot(3, (double[]){4, 1, 4, 3, 0.1, 0.1, 0, 1, 5}), 1);
  assert_int_equal(first_pivot(3, (double[]){4, 4, 1, 3, 0.1, 0.1, 0, 1, 5}), 1);
  assert_int_equal(first_pivot(3, (double[]){4, -1, -1, 1, 1, 5, 0, 1, 5}), 0);
  // Of equal sizes the first row is taken, and a row of larger numbers only if its entry is larger relative to them.
  assert_int_equal(first_pivot(2, (double[]){1, 0.5, 2, 1.5}), 0);
  assert_int_equal(first_pivot(2, (double[]){1e-12, 0.2e-12, 1e8, 9e8}), 0);
  assert_int_equal(first_pivot(2, (double[]){1e-12, 9e-12, 1e8, 0.2e8}), 1);
  assert_int_equal(first_pivot(2, (double[]){0, 1, 1e-3, 1}), 1);
  assert_int_equal(first_pivot(4, (double[]){1, 9, 9, 9, 1, 9, 3, 9, 2, 1, 0.1, 0.2, 1, 7, 7, 1}), 2);
}

// Rows whose sizes differ by 280 powers of ten.
static void test_extreme_rows(void **state) {
  (void)state;
  assert_int_equal(pivot_alone(2, (double[]){1e-140, 3e-140, 1e140, 0.1e140}), 1);
  assert_int_equal(pivot_alone(2, (double[]){1e140, 3e140, 1e-140, 0.1e-140}), 1);
  assert_int_equal(pivot_alone(2, (double[]){1e-140, 0.1e-140, 1e140, 3e140}), 0);
  double b[] = {2}, a[] = {4};
  int pivot[4];
  assert_int_equal(od_lu_factor(1, a, pivot), OD_OK);
  od_lu_solve(1, a, pivot, b, 1);
  assert_true(b[0] == 0.5 && pivot[0] == 0);
}

static void test_failures(void **state) {
  (void)state;
  int pivot[4];
  const struct {
    double a[4];
    od_status status;
  } cases[] = {{{1, 2, 2, 4}, OD_SINGULAR},          {{0, 1, 0, 2}, OD_SINGULAR},      {{NAN, 1, 1, 2}, OD_NOT_FINITE},
               {{1, 2, INFINITY, 4}, OD_NOT_FINITE}, {{1e-301, 0, 0, 1}, OD_SINGULAR}, {{1.1e-300, 0, 0, 1}, OD_OK},
               {{1, 0, 0, 0.9e-300}, OD_SINGULAR},   {{1, 0, 0, -1.1e-300}, OD_OK},    {{1, NAN, 0, 1}, OD_OK}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double a[4];
    memcpy(a, cases[i].a, sizeof a);
    assert_int_equal(od_lu_factor(2, a, pivot), cases[i].status);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_of_different_sizes),
                                     cmocka_unit_test(test_extreme_rows), cmocka_unit_test(test_failures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
