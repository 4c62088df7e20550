#include "io/workers.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "io/display.h"
#include "memory/scoped.h"

static bool ask(od_workers *w) {
  if (w->go_on && !w->go_on(w->user, atomic_load(&w->finished))) atomic_store(&w->is_stopped, true);
  return !atomic_load(&w->is_stopped);
}

bool od_workers_go_on(od_workers *w) {
  return w->is_shared ? !atomic_load(&w->is_stopped) : ask(w);
}

static void *take_items(void *user) {
  od_workers *w = user;
  od_display_choose_si(w->is_in_si);
  while (od_workers_go_on(w)) {
    long item = atomic_fetch_add(&w->next, 1);
    if (item >= w->items) break;
    w->execute(w->user, item);
    atomic_fetch_add(&w->finished, 1);
  }
  return NULL;
}

int od_workers_run(od_workers *w) {
  OD_SCRATCH(scratch);
  const struct timespec pause = {.tv_nsec = 2000000};
  long cores = sysconf(_SC_NPROCESSORS_ONLN), wanted = w->threads > 0 ? w->threads : cores < 1 ? 1 : cores;
  if (wanted > OD_MOST_THREADS) wanted = OD_MOST_THREADS;
  if (wanted > w->items) wanted = w->items;
  pthread_t *thread = OD_TAKE(&scratch, pthread_t, wanted);
  int made = 0;
  w->is_in_si = od_display_is_si();
  w->is_shared = true;
  while (thread && made < wanted && pthread_create(&thread[made], NULL, take_items, w) == 0) made++;
  if (made == 0) {
    w->is_shared = false;
    take_items(w);
  }
  while (made > 0 && atomic_load(&w->finished) < w->items && ask(w)) nanosleep(&pause, NULL);
  for (int i = 0; i < made; i++) pthread_join(thread[i], NULL);
  w->is_shared = false;
  return made > 0 ? made : 1;
}
