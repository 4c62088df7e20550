// Work that several threads share: items that are executed in any order, each by one thread. Each item writes only its own results, and the
// caller combines the results in the order of the items, so that results do not depend on the number of threads.
#ifndef OD_IO_WORKERS_H
#define OD_IO_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>

enum { OD_MOST_THREADS = 1024 };

typedef struct od_workers {
  long items;
  int threads;  // number of threads, at most OD_MOST_THREADS; 0: one per core
  void (*execute)(void *user, long item);
  // Called by the thread of od_workers_run(), with the number of executed items; false: no further item begins. NULL: never stops.
  bool (*go_on)(void *user, long finished);
  void *user;

  // The state of the work; zero at the start.
  atomic_long next, finished;
  atomic_bool is_stopped;
  bool is_shared;  // whether other threads execute the items
  bool is_in_si;   // whether the texts of all threads have SI units
} od_workers;

// Executes all items, or the items up to a stop. If no thread can be started, the calling thread executes the items. Returns the
// number of threads.
int od_workers_run(od_workers *w);

// Returns whether an item may continue. Long items call this function regularly. Calls go_on() if no other thread does.
bool od_workers_go_on(od_workers *w);

#endif
