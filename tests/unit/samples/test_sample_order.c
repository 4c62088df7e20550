// The order of samples that arrive late, twice, in another order or not at all. Oracle: for random streams, a second program of the rules that
// keeps all samples and has no buffer of its own; for the named rules, streams by hand.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samples/sample_order.h"

typedef struct passed {
  double t[4096], cell[4096];
  int count;
} passed;

static void keep(void *user, const od_raw_sample *s) {
  passed *p = user;
  assert_true(p->count < 4096);
  p->t[p->count] = s->t;
  p->cell[p->count++] = s->cell[0];
}

static passed out;
static od_arena memory;
static od_sample_order order;

static void begin(double wait, double resumed, int64_t next) {
  out.count = 0;
  od_arena_free(&memory);
  memory = (od_arena){0};
  assert_int_equal(od_sample_order_init(&order, &memory, wait, 1, resumed, next), OD_OK);
  order.pass = keep;
  order.user = &out;
}

static void take(double t, long sequence) {
  const double cell = 100 * t + (double)sequence;
  od_sample_order_take(&order, &(od_raw_sample){.t = t, .sequence = sequence, .cell = &cell});
}

static void test_late_and_repeated(void **state) {
  (void)state;
  begin(0, -INFINITY, -1);
  take(1, -1), take(3, -1), take(2, -1), take(3, -1), take(4, -1);
  assert_int_equal(out.count, 3);
  assert_true(out.t[0] == 1 && out.t[1] == 3 && out.t[2] == 4);
  assert_true(order.counts.late == 1 && order.counts.last_late == 2 && order.counts.repeated == 1 &&
              order.counts.taken == 3);
  // A sample with the time of another one: the first one counts.
  begin(10, -INFINITY, -1);
  take(1, 0), take(2, 1), take(1, 2);
  od_sample_order_flush(&order);
  assert_true(out.count == 2 && out.cell[0] == 100 && order.counts.repeated == 1);
}

static void test_sorted_in(void **state) {
  (void)state;
  begin(2, -INFINITY, -1);
  take(1, -1), take(3, -1), take(2, -1);
  assert_int_equal(out.count, 1);  // the sample at 1 s: a sample 2 s later has arrived
  take(4.5, -1);
  assert_int_equal(out.count, 2);
  take(2.5, -1);
  assert_true(order.counts.reordered == 2 && order.counts.late == 0);
  od_sample_order_flush(&order);
  const double expected[] = {1, 2, 2.5, 3, 4.5};
  assert_int_equal(out.count, 5);
  for (int i = 0; i < 5; i++) assert_true(out.t[i] == expected[i] && out.cell[i] == 100 * expected[i] - 1);
}

static void test_missing(void **state) {
  (void)state;
  begin(0, -INFINITY, -1);
  take(1, 10), take(2, 11), take(3, 14), take(4, 15), take(5, 20);
  assert_int_equal(order.counts.missing, 6);
  assert_int_equal(order.ranges, 2);
  assert_true(order.range[0].first == 12 && order.range[0].last == 13 && order.range[1].first == 16 &&
              order.range[1].last == 19);
  take(4.5, 17);  // too late for the observer, but not missing any more
  assert_true(order.counts.late == 1 && order.counts.missing == 5 && order.ranges == 3);
  assert_true(order.range[1].first == 16 && order.range[1].last == 16 && order.range[2].first == 18 &&
              order.range[2].last == 19);
  take(6, 15);  // an earlier number, but not missing: the sender has started again, because the time is later
  assert_true(order.counts.restarted == 1 && order.counts.repeated == 0 && out.t[out.count - 1] == 6);
  take(6, 15);
  assert_true(order.counts.repeated == 1 && order.counts.missing == 5);
}

// Numbers of messages whose samples have none: missing ranges are exact, and a new sequence leaves the earlier ones.
static void test_numbers(void **state) {
  (void)state;
  begin(0, -INFINITY, -1);
  od_sample_order_number(&order, 3);
  take(1, -1), take(2, -1);
  od_sample_order_number(&order, 4);
  od_sample_order_number(&order, 8);
  assert_true(order.counts.missing == 3 && order.ranges == 1 && order.range[0].first == 5 && order.range[0].last == 7);
  od_sample_order_number(&order, 6);
  od_sample_order_number(&order, 4);  // again
  assert_true(order.counts.missing == 2 && order.ranges == 2 && order.range[0].last == 5 && order.range[1].first == 7);
  od_sample_order_number(&order, -1);
  od_sample_order_number(&order, 256);
  od_sample_order_number(&order, 258);
  assert_true(order.counts.missing == 3 && order.range[2].first == 257 && order.range[2].last == 257);
  assert_true(order.counts.repeated == 0 && order.counts.restarted == 0 && out.count == 2);
}

static void take_historical(double t) {
  const double cell = 100 * t;
  od_sample_order_take(&order, &(od_raw_sample){.t = t, .sequence = -1, .is_historical = true, .cell = &cell});
}

// Historical samples are observed if they are in order, also within the time for which samples are held back; else they are counted apart.
static void test_historical(void **state) {
  (void)state;
  begin(0, -INFINITY, -1);
  take(1, -1), take_historical(2), take(3, -1), take_historical(2.5), take_historical(3), take(2.7, -1);
  assert_true(out.count == 3 && out.t[1] == 2);
  assert_true(order.counts.historical == 1 && order.counts.repeated == 1 && order.counts.late == 1 &&
              order.counts.last_late == 2.7);
  begin(2, -INFINITY, -1);
  take(1, -1), take(3, -1), take_historical(2), take_historical(0.5);
  od_sample_order_flush(&order);
  assert_true(out.count == 3 && out.t[1] == 2 && order.counts.historical == 1 && order.counts.late == 0);
}

static void test_resumed(void **state) {
  (void)state;
  begin(0, 5, 6);
  for (int i = 0; i < 10; i++) take(i, i);
  assert_true(order.counts.replayed == 6 && out.count == 4 && out.t[0] == 6 && order.counts.missing == 0);
  begin(0, 5, 6);
  take(9, 9);
  assert_true(order.counts.missing == 3 && order.range[0].first == 6);
}

// The rules again, over all samples so far: a sample is passed on as soon as another one is `wait` later.
static void test_random(void **state) {
  (void)state;
  srand(1);
  for (int trial = 0; trial < 500; trial++) {
    const double wait = trial % 4 ? rand() % 6 : 0;
    double arrived[200], result[200];
    int n = 0, late = 0, repeated = 0, results = 0;
    bool gone[200] = {false};
    double newest = -INFINITY, last = -INFINITY;
    begin(wait, -INFINITY, -1);
    for (int i = 0; i < 200; i++) {
      const double t = i / 2 + rand() % 8;
      take(t, -1);
      bool again = t == last;
      for (int k = 0; k < n; k++) again = again || (arrived[k] == t && !gone[k]);
      if (again) {
        repeated++;
      } else if (t < last) {
        late++;
      } else {
        gone[n] = false;
        arrived[n++] = t;
        newest = fmax(newest, t);
      }
      for (bool any = true; any;) {
        int first = -1;
        for (int k = 0; k < n; k++)
          if (!gone[k] && arrived[k] <= newest - wait && (first < 0 || arrived[k] < arrived[first])) first = k;
        any = first >= 0;
        if (any) gone[first] = true, last = result[results++] = arrived[first];
      }
    }
    assert_int_equal(out.count, results);
    assert_memory_equal(out.t, result, (size_t)results * sizeof *result);
    assert_true(order.counts.late == late && order.counts.repeated == repeated);
    for (int i = 1; i < out.count; i++) assert_true(out.t[i] > out.t[i - 1]);
  }
}

// More held samples than places: the earliest one is passed on.
static void test_full(void **state) {
  (void)state;
  begin(1e6, -INFINITY, -1);
  for (int i = 0; i < 2000; i++) take(2000 - i, -1);
  od_sample_order_flush(&order);
  for (int i = 1; i < out.count; i++) assert_true(out.t[i] > out.t[i - 1]);
  assert_int_equal(out.count + order.counts.late, 2000);
  od_arena_free(&memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_late_and_repeated),
                                     cmocka_unit_test(test_sorted_in),
                                     cmocka_unit_test(test_missing),
                                     cmocka_unit_test(test_numbers),
                                     cmocka_unit_test(test_historical),
                                     cmocka_unit_test(test_resumed),
                                     cmocka_unit_test(test_random),
                                     cmocka_unit_test(test_full)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
