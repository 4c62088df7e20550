// Conditions on signals with known crossings: intervals, durations, extremes and merged intervals, computed by hand.
#include "support/test.h"

#include "findings/condition.h"

typedef struct point {
  double t, y;
} point;

// Adds all points of a signal; the condition is y > 1. Returns the record, and the times of the begins.
static od_condition_record record_of(const point *p, int count, double margin, double *begins) {
  const od_condition c = {.second = -1, .gain = 1, .limit = 1, .margin = margin, .companion = {0, -1, -1}};
  od_condition_record r;
  int found = 0;
  od_condition_begin(&r);
  for (int i = 0; i < count; i++) {
    double at;
    if (od_condition_add(&c, &r, p[i].t, &p[i].y, &at)) begins[found++] = at;
  }
  od_condition_end(&r);
  return r;
}

// A triangle 0, 2, 0 over 4 s is above 1 from 1 s to 3 s.
static void test_triangle(void **state) {
  (void)state;
  const point p[] = {{0, 0}, {2, 2}, {4, 0}};
  double begins[4];
  od_condition_record r = record_of(p, 3, 0.5, begins);
  assert_int_equal(r.count, 1);
  near(begins[0], 1, 1e-15);
  near(r.first.from, 1, 1e-15);
  near(r.first.to, 3, 1e-15);
  near(r.total, 2, 1e-15);
  near(r.high, 1, 0);
  near(r.high_at, 2, 0);
  near(r.low, -1, 0);
  near(r.integral, 0, 1e-15);  // of y - 1
  near(r.with[0].at_high, 2, 0);
  assert_false(r.held_at_start);
}

// Two peaks with a dip to 0.8: one interval with a margin of 0.5, two intervals with a margin of 0.1. The time above 1 is the same.
static void test_margin(void **state) {
  (void)state;
  const point p[] = {{0, 0}, {2, 2}, {3, 0.8}, {4, 2}, {8, 0}};
  double begins[4];
  od_condition_record merged = record_of(p, 5, 0.5, begins);
  assert_int_equal(merged.count, 1);
  near(merged.longest.from, 1, 1e-15);
  near(merged.longest.to, 6, 1e-15);
  od_condition_record apart = record_of(p, 5, 0.1, begins);
  assert_int_equal(apart.count, 2);
  near(apart.first.to, 2 + 1 / 1.2, 1e-15);
  near(begins[1], 3 + 0.2 / 1.2, 1e-15);
  near(apart.longest.from, begins[1], 0);
  near(apart.longest.to, 6, 1e-15);
  near(merged.total, 5 - 2 * 0.2 / 1.2, 1e-14);
  near(apart.total, merged.total, 1e-15);
}

// A condition that holds at the first point does not begin there. An interval that is open at the end ends there.
static void test_ends(void **state) {
  (void)state;
  const point p[] = {{5, 3}, {6, 0}, {7, 0}, {9, 2}};
  double begins[4];
  od_condition_record r = record_of(p, 4, 0.5, begins);
  assert_true(r.held_at_start);
  assert_int_equal(r.count, 2);
  near(r.first.from, 5, 0);
  near(r.first.to, 5 + 2.0 / 3, 1e-15);
  near(begins[0], 8, 1e-15);
  near(r.longest.from, 8, 1e-15);
  near(r.longest.to, 9, 0);
}

// A jump at one time is recorded as a jump, and the condition begins at the jump.
static void test_jump(void **state) {
  (void)state;
  const point p[] = {{0, 0}, {1, 0}, {1, 4}, {2, 4}};
  double begins[4];
  od_condition_record r = record_of(p, 4, 0.5, begins);
  near(begins[0], 1, 0);
  near(r.total, 1, 1e-15);
  near(r.largest_jump, 4, 0);
  near(r.with[0].begin, 4, 0);
}

// A value at the limit is not above the limit.
static void test_at_limit(void **state) {
  (void)state;
  const point p[] = {{0, 1}, {1, 1}, {2, 1}};
  double begins[4];
  od_condition_record r = record_of(p, 3, 0.5, begins);
  assert_int_equal(r.count, 0);
  near(r.total, 0, 0);
  assert_true(isnan(r.longest.from));
}

// |2 a - b - 3| > 1
static void test_magnitude(void **state) {
  (void)state;
  const od_condition c = {.second = 1,
                          .gain = 2,
                          .second_gain = -1,
                          .center = 3,
                          .limit = 1,
                          .is_magnitude = true,
                          .companion = {-1, -1, -1}};
  near(od_condition_value(&c, (double[]){1, 4}), 4, 0);
  near(od_condition_value(&c, (double[]){4, 1}), 3, 0);
  near(od_condition_value(&c, (double[]){2, 1}), -1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_triangle), cmocka_unit_test(test_margin),   cmocka_unit_test(test_ends),
      cmocka_unit_test(test_jump),     cmocka_unit_test(test_at_limit), cmocka_unit_test(test_magnitude),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
