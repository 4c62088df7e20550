// The queue of events from all threads to the writer. The lock is held only for a copy, never during input or output.
#include <stdio.h>
#include <string.h>

#include "io/clock.h"
#include "operation/operation.h"

void od_event_list_init(od_event_list *l) {
  l->count = 0;
  l->dropped = 0;
  pthread_mutex_init(&l->lock, NULL);
}

void od_event_list_end(od_event_list *l) {
  pthread_mutex_destroy(&l->lock);
}

void od_event_list_add(od_event_list *l, int machine, double t, const char *kind, const char *text) {
  const double now = od_clock_now();
  pthread_mutex_lock(&l->lock);
  if (l->count < OD_MOST_EVENTS) {
    od_twin_event *e = &l->event[l->count++];
    e->machine = machine;
    e->t = t;
    e->clock = now;
    snprintf(e->kind, sizeof e->kind, "%s", kind);
    snprintf(e->text, sizeof e->text, "%s", text);
  } else {
    l->dropped++;
  }
  pthread_mutex_unlock(&l->lock);
}

int od_event_list_take(od_event_list *l, od_twin_event *to, long *dropped) {
  pthread_mutex_lock(&l->lock);
  const int count = l->count;
  memcpy(to, l->event, (size_t)count * sizeof *to);
  *dropped = l->dropped;
  l->count = 0;
  l->dropped = 0;
  pthread_mutex_unlock(&l->lock);
  return count;
}
