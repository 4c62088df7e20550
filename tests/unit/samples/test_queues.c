// Queue and ring between two threads: nothing is lost, repeated or out of order, except what is counted. Oracle: the numbers that were put in.
#include "support/test.h"

#include <pthread.h>

#include "samples/row_ring.h"
#include "samples/sample_queue.h"

enum { COUNT = 200000 };

static od_sample_queue queue;
static void *put_samples(void *waits) {
  for (int i = 0; i < COUNT; i++) {
    const double cell[] = {i, -i};
    od_sample_queue_put(&queue, &(od_raw_sample){.t = i, .sequence = i, .cell = cell}, *(const bool *)waits);
  }
  od_sample_queue_close(&queue, false);
  return NULL;
}

static void test_queue(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    bool waits = k == 0;
    od_arena memory = {0};
    pthread_t thread;
    assert_int_equal(od_sample_queue_init(&queue, &memory, 64, 2), OD_OK);
    assert_int_equal(pthread_create(&thread, NULL, put_samples, &waits), 0);
    od_raw_sample s;
    double cell[2], last = -1;
    long taken = 0, overrun = 0;
    while (od_sample_queue_take(&queue, &s, cell)) {
      assert_true(s.t > last && cell[0] == s.t && cell[1] == -s.t && s.sequence == (int64_t)s.t);
      last = s.t;
      taken++;
    }
    pthread_join(thread, NULL);
    assert_int_equal(od_sample_queue_length(&queue, &overrun), 0);
    assert_int_equal(taken + overrun, COUNT);
    if (waits) assert_int_equal(overrun, 0);
    od_sample_queue_end(&queue);
    od_arena_free(&memory);
  }
}

static od_row_ring ring;
static void *put_rows(void *user) {
  (void)user;
  for (int i = 0; i < COUNT; i++) od_row_ring_put(&ring, (const double[]){i, 2 * i, 3 * i});
  return NULL;
}

static void test_ring(void **state) {
  (void)state;
  od_arena memory = {0};
  pthread_t thread;
  ring = (od_row_ring){0};
  assert_int_equal(od_row_ring_init(&ring, &memory, 3, 10000), OD_OK);
  assert_int_equal(ring.capacity, 256);
  assert_int_equal(pthread_create(&thread, NULL, put_rows, NULL), 0);
  long taken = 0;
  double last = -1;
  while (last < COUNT - 1 && taken + atomic_load(&ring.dropped) < COUNT)
    for (const double *row; (row = od_row_ring_first(&ring)); od_row_ring_next(&ring)) {
      assert_true(row[0] > last && row[1] == 2 * row[0] && row[2] == 3 * row[0]);
      last = row[0];
      taken++;
    }
  pthread_join(thread, NULL);
  for (; od_row_ring_first(&ring); od_row_ring_next(&ring)) taken++;
  assert_int_equal(taken + atomic_load(&ring.dropped), COUNT);
  // A full ring leaves rows out.
  for (size_t i = 0; i < ring.capacity; i++) assert_true(od_row_ring_put(&ring, (const double[]){0, 0, 0}));
  const long before = atomic_load(&ring.dropped);
  assert_false(od_row_ring_put(&ring, (const double[]){0, 0, 0}));
  assert_int_equal(atomic_load(&ring.dropped), before + 1);
  od_arena_free(&memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_queue), cmocka_unit_test(test_ring)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
