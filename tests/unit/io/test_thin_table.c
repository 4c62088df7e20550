// Tables with a reduced number of rows for plots. The oracle is a search over all rows: each pair of rows of the thinned table has the minimum
// and the maximum of its range of rows, in their order, and the ranges cover all rows.
#include "support/test.h"

#include <math.h>

#include "io/thin_table.h"
#include "random/random.h"

enum { COLUMNS = 4 };

// A time with unequal steps; noise; a slow curve with one outlier; values that are missing sometimes, and for long.
static void make_row(long k, double row[COLUMNS]) {
  uint64_t n = (uint64_t)k;
  row[0] = 0.001 * (double)k + 0.0004 * sin((double)k);
  row[1] = od_random_gaussian(1, 2, n, OD_USE_NOISE);
  row[2] = k == 40001 ? -50 : sin(1e-4 * (double)k);
  row[3] = k % 3 == 1 || (k > 20000 && k < 30000) ? (double)NAN : od_random_gaussian(3, 4, n, OD_USE_NOISE);
}

static od_table *thinned(long rows) {
  od_table *t = od_table_new(COLUMNS);
  od_thin_table *thin = od_thin_table_new(t);
  double row[COLUMNS];
  for (long k = 0; k < rows; k++) {
    make_row(k, row);
    assert_int_equal(od_thin_table_append(thin, row), OD_OK);
  }
  assert_int_equal(od_thin_table_finish(thin), OD_OK);
  od_thin_table_free(thin);
  return t;
}

static bool same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

// The pair represents the rows from `from` up to the time `until`. Returns the first row after them.
static long check_pair(const double *a, const double *b, long from, double until) {
  double row[COLUMNS], low[COLUMNS], high[COLUMNS];
  long low_at[COLUMNS], high_at[COLUMNS], k = from;
  for (int c = 0; c < COLUMNS; c++) low[c] = high[c] = NAN, low_at[c] = high_at[c] = -1;
  for (make_row(k, row); row[0] <= until; make_row(++k, row))
    for (int c = 0; c < COLUMNS; c++) {
      if (isnan(row[c])) continue;
      if (low_at[c] < 0 || row[c] < low[c]) low[c] = row[c], low_at[c] = k;
      if (high_at[c] < 0 || row[c] > high[c]) high[c] = row[c], high_at[c] = k;
    }
  assert_true(k > from);
  for (int c = 0; c < COLUMNS; c++) {
    bool rises = low_at[c] <= high_at[c];
    if (b == a) rises = true;
    assert_true(same(a[c], rises ? low[c] : high[c]));
    assert_true(same(b[c], rises ? high[c] : low[c]));
  }
  return k;
}

static void keeps_the_picture(void **state) {
  (void)state;
  static const long lengths[] = {OD_THIN_ROWS + 1, OD_THIN_ROWS + 3, 100000, 131072, 131073, 500001};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    od_table *t = thinned(lengths[i]);
    assert_true(t->rows <= OD_THIN_ROWS && t->rows >= OD_THIN_ROWS / 2);
    long next = 0;
    for (long k = 0; k < t->rows;) {
      const double *a = t->data + k * COLUMNS;
      bool lone = k + 1 == t->rows;  // a single row waited for others
      const double *b = lone ? a : a + COLUMNS;
      next = check_pair(a, b, next, b[0]);
      k += lone ? 1 : 2;
    }
    assert_int_equal(next, lengths[i]);
    od_table_free(t);
  }
}

// While there is space, all rows are kept.
static void keeps_short_runs(void **state) {
  (void)state;
  static const long lengths[] = {0, 1, 2, 1000, OD_THIN_ROWS};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    od_table *t = thinned(lengths[i]);
    double row[COLUMNS];
    assert_int_equal(t->rows, lengths[i]);
    for (long k = 0; k < t->rows; k++) {
      make_row(k, row);
      for (int c = 0; c < COLUMNS; c++) assert_true(same(row[c], t->data[k * COLUMNS + c]));
    }
    od_table_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_the_picture), cmocka_unit_test(keeps_short_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
