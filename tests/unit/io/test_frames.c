// Frames: rows at equal intervals and the extremes between them, in bounded memory. Oracle: all rows, compared one by one.
#include "support/test.h"

#include <math.h>

#include "io/frames.h"

// Two columns: one with peaks between frames, one with gaps.
static void row_at(long i, double row[2]) {
  row[0] = sin(0.003 * (double)i) + (i % 53 == 20 ? 3 : 0) - (i % 71 == 5 ? 2 : 0);
  row[1] = i % 400 < 10 ? (double)NAN : cos(0.01 * (double)i);
}

static od_frames *filled(long rows, double step, double interval, long most) {
  od_frames *f = od_frames_new(2, interval, most);
  assert_non_null(f);
  for (long i = 0; i < rows; i++) {
    double row[2];
    row_at(i, row);
    assert_int_equal(od_frames_append(f, (double)i * step, row), OD_OK);
  }
  assert_int_equal(od_frames_finish(f), OD_OK);
  return f;
}

// Every frame is a row; every interval has the extremes of its rows, in their order; the last frame is the last row.
static void expect_frames(const od_frames *f, long rows, double step, long every) {
  for (int column = 0; column < 2; column++) {
    od_frame_column c = od_frames_column(f, column);
    assert_int_equal(c.count, (rows - 2 + every) / every + 1);
    near(c.x[c.count - 1], (double)(rows - 1) * step, 1e-9);
    for (long i = 0; i < c.count; i++) {
      long first = i * every < rows - 1 ? i * every : rows - 1,
           last = first + every < rows - 1 ? first + every : rows - 1;
      double row[2], low = INFINITY, high = -INFINITY;
      long low_at = -1, high_at = -1;
      bool has_gap = false;
      row_at(first, row);
      assert_true(isnan(row[column]) ? isnan(c.value[i * c.stride]) : c.value[i * c.stride] == row[column]);
      near(c.x[i], (double)first * step, 1e-9);
      for (long k = first; k <= last; k++) {
        row_at(k, row);
        has_gap = has_gap || isnan(row[column]);
        if (row[column] < low) low = row[column], low_at = k;
        if (row[column] > high) high = row[column], high_at = k;
      }
      if (i + 1 == c.count) break;
      assert_int_equal(c.has_gap[i * c.stride], has_gap);
      if (low_at < 0) {
        assert_true(isnan(c.low[i * c.stride]));
        continue;
      }
      assert_true(c.low[i * c.stride] == low && c.high[i * c.stride] == high);
      if (low_at != high_at) assert_int_equal(c.low_first[i * c.stride], low_at < high_at);
    }
  }
}

static void test_intervals(void **state) {
  (void)state;
  static const long rows[] = {2, 11, 101, 1000, 1001, 1007};
  for (int i = 0; i < 6; i++) {
    od_frames *f = filled(rows[i], 1e-3, 1e-2, 1000);
    expect_frames(f, rows[i], 1e-3, 10);
    od_frames_free(f);
  }
}

// With too many rows the interval is doubled; the result is the same as with the doubled interval from the start.
static void test_doubling(void **state) {
  (void)state;
  od_frames *f = filled(20001, 1e-3, 1e-3, 64);
  od_frame_column c = od_frames_column(f, 0);
  long every = lround((c.x[1] - c.x[0]) / 1e-3);
  assert_true(c.count <= 66 && c.count > 32);
  expect_frames(f, 20001, 1e-3, every);
  od_frames_free(f);
}

static void test_one_row(void **state) {
  (void)state;
  od_frames *f = filled(1, 1, 1, 10);
  assert_int_equal(od_frames_column(f, 1).count, 1);
  od_frames_free(f);
  f = od_frames_new(2, 1, 10);
  assert_int_equal(od_frames_finish(f), OD_OK);
  assert_int_equal(od_frames_column(f, 0).count, 0);
  od_frames_free(f);
}

static void test_interval_is_round(void **state) {
  (void)state;
  near(od_frames_interval(17000, 1e-3, 1700), 1e-2, 1e-15);
  near(od_frames_interval(17000, 1e-3, 1699), 2e-2, 1e-15);
  near(od_frames_interval(100, 1e-3, 100), 1e-3, 1e-15);
  near(od_frames_interval(101, 1e-3, 100), 2e-3, 1e-15);
  near(od_frames_interval(1e7, 1e-3, 15000), 1, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_intervals), cmocka_unit_test(test_doubling),
                                     cmocka_unit_test(test_one_row), cmocka_unit_test(test_interval_is_round)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
