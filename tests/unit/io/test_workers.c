// Work that threads share: every item is executed once, for any number of threads; after a stop no further item begins. Oracle: counts of the test.
#include <stdatomic.h>

#include "io/workers.h"
#include "support/test.h"

enum { ITEMS = 500 };

typedef struct work {
  atomic_int executed[ITEMS];
  long most;  // go_on() returns false after this number of items
  long asked;
  od_workers workers;
} work;

static void execute(void *user, long item) {
  atomic_fetch_add(&((work *)user)->executed[item], 1);
}

static bool go_on(void *user, long finished) {
  work *w = user;
  w->asked++;
  return finished < w->most;
}

// Items that last until the work stops.
static void wait_for_stop(void *user, long item) {
  execute(user, item);
  while (od_workers_go_on(&((work *)user)->workers)) continue;
}

static void test_each_item_once(void **state) {
  (void)state;
  for (int threads = 0; threads < 9; threads++) {
    work w = {.most = ITEMS + 1};
    w.workers = (od_workers){.items = ITEMS, .threads = threads, .execute = execute, .go_on = go_on, .user = &w};
    int made = od_workers_run(&w.workers);
    assert_true(made >= 1 && (threads == 0 || made == threads));
    for (int i = 0; i < ITEMS; i++) assert_int_equal(w.executed[i], 1);
    assert_false(w.workers.is_stopped);
  }
}

static void test_stop(void **state) {
  (void)state;
  work w = {.most = 0};
  w.workers = (od_workers){.items = ITEMS, .threads = 3, .execute = wait_for_stop, .go_on = go_on, .user = &w};
  od_workers_run(&w.workers);
  int executed = 0;
  for (int i = 0; i < ITEMS; i++) executed += w.executed[i];
  assert_true(executed <= 3 && w.workers.is_stopped && w.asked > 0);
  // Outside od_workers_run() the caller is asked.
  long asked = w.asked;
  assert_false(od_workers_go_on(&w.workers));
  assert_int_equal(w.asked, asked + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_item_once), cmocka_unit_test(test_stop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
