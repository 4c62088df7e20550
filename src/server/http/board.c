#include "http/board.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"

enum { FRAME_BYTES = 1 << 18 };  // memory of the ring of frames of a machine, bytes

const char *const od_alarm_kinds[] = {"alarm", "stopped", "columns", NULL};

od_event_weight od_weight_of_event(const char *kind) {
  static const char *const notes[] = {"start", "end", "restarted", "over", "acknowledged", "change"};
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
    if (strcmp(kind, notes[i]) == 0) return OD_EVENT_NOTE;
  for (int i = 0; od_alarm_kinds[i]; i++)
    if (strcmp(kind, od_alarm_kinds[i]) == 0) return OD_EVENT_ALARM;
  return OD_EVENT_WARNING;
}

od_board *od_board_new(const od_twin *twin) {
  od_board *b = od_calloc(1, sizeof *b);
  if (!b) return NULL;
  b->twin = twin;
  b->next_id = 1;
  b->machine = OD_TAKE(&b->memory, od_shown_machine, twin->machines);
  pthread_mutex_init(&b->lock, NULL);
  for (int i = 0; b->machine && i < twin->machines; i++) {
    b->machine[i].settings = &twin->machine[i];
    b->machine[i].status = (od_machine_status){.t = NAN, .clock = NAN, .latency = NAN, .latency_99 = NAN};
  }
  if (b->machine) return b;
  od_board_free(b);
  return NULL;
}

void od_board_free(od_board *b) {
  for (int i = 0; b->machine && i < b->twin->machines; i++) od_free(b->machine[i].verdict);
  od_free(b->metrics);
  pthread_mutex_destroy(&b->lock);
  od_arena_free(&b->memory);
  od_free(b);
}

// --- Observer -----------------------------------------------------------------------------------------------------

od_status od_board_begin(od_board *b, int machine, const od_frame_head *head) {
  od_shown_machine *m = &b->machine[machine];
  pthread_mutex_lock(&b->lock);  // the arena belongs to all machines
  od_frame_head *copy = OD_TAKE(&b->memory, od_frame_head, 1);
  if (copy) *copy = *head;
  if (copy) copy->name = OD_TAKE(&b->memory, const char *, head->columns);
  if (copy) copy->unit = OD_TAKE(&b->memory, const char *, head->columns);
  for (int i = 0; copy && copy->name && copy->unit && i < head->columns; i++) {
    copy->name[i] = od_arena_text(&b->memory, head->name[i]);
    copy->unit[i] = od_arena_text(&b->memory, head->unit[i]);
  }
  od_status status = od_row_ring_init(&m->frames, &b->memory, OD_FRAME_COLUMNS + head->columns, FRAME_BYTES);
  if (status == OD_OK) status = od_arena_status(&b->memory);
  pthread_mutex_unlock(&b->lock);
  if (status == OD_OK) atomic_store_explicit(&m->head, copy, memory_order_release);
  return status;
}

// --- Writer -------------------------------------------------------------------------------------------------------

void od_board_set_status(od_board *b, int machine, const od_machine_status *status) {
  pthread_mutex_lock(&b->lock);
  b->machine[machine].status = *status;
  pthread_mutex_unlock(&b->lock);
}

static void put_event(od_board *b, const od_shown_event *e) {
  b->event[b->events++ % OD_SHOWN_EVENTS] = *e;
}

int64_t od_board_add_event(od_board *b, const od_shown_event *event) {
  od_shown_event e = *event;
  pthread_mutex_lock(&b->lock);
  if (e.id < 0) e.id = b->next_id;
  if (e.id >= b->next_id) b->next_id = e.id + 1;
  if (e.machine >= 0 && isnan(e.acknowledged) && od_weight_of_event(e.kind) == OD_EVENT_ALARM)
    b->machine[e.machine].open_alarms++;
  put_event(b, &e);
  pthread_mutex_unlock(&b->lock);
  return e.id;
}

void od_board_set_alarms(od_board *b, int machine, long open) {
  pthread_mutex_lock(&b->lock);
  b->machine[machine].open_alarms = open;
  pthread_mutex_unlock(&b->lock);
}

void od_board_set_verdict(od_board *b, int machine, const char *json) {
  od_shown_machine *m = &b->machine[machine];
  char *copy = od_strdup(json);
  pthread_mutex_lock(&b->lock);
  char *old = m->verdict;
  m->verdict = copy;
  m->verdicts++;
  pthread_mutex_unlock(&b->lock);
  od_free(old);
}

void od_board_set_metrics(od_board *b, const char *text) {
  char *copy = od_strdup(text);
  pthread_mutex_lock(&b->lock);
  char *old = b->metrics;
  b->metrics = copy;
  pthread_mutex_unlock(&b->lock);
  od_free(old);
}

int od_board_take_acts(od_board *b, od_act *to) {
  pthread_mutex_lock(&b->lock);
  const int count = b->acts;
  memcpy(to, b->act, (size_t)count * sizeof *to);
  b->acts = 0;
  pthread_mutex_unlock(&b->lock);
  return count;
}

// --- Door ---------------------------------------------------------------------------------------------------------

od_machine_status od_board_status(od_board *b, int machine, long *open_alarms) {
  pthread_mutex_lock(&b->lock);
  const od_machine_status status = b->machine[machine].status;
  *open_alarms = b->machine[machine].open_alarms;
  pthread_mutex_unlock(&b->lock);
  return status;
}

int od_board_events_after(od_board *b, long after, od_shown_event *to, int most, long *next) {
  int count = 0;
  pthread_mutex_lock(&b->lock);
  long at = b->events - OD_SHOWN_EVENTS > after ? b->events - OD_SHOWN_EVENTS : after;
  for (; at < b->events && count < most; at++) to[count++] = b->event[at % OD_SHOWN_EVENTS];
  *next = at;
  pthread_mutex_unlock(&b->lock);
  return count;
}

// Returns the latest state of an event; NULL: the board does not have this event.
static od_shown_event *find(od_board *b, int64_t id) {
  for (long at = b->events - 1; at >= 0 && at >= b->events - OD_SHOWN_EVENTS; at--)
    if (b->event[at % OD_SHOWN_EVENTS].id == id) return &b->event[at % OD_SHOWN_EVENTS];
  return NULL;
}

bool od_board_find_event(od_board *b, int64_t id, od_shown_event *out) {
  pthread_mutex_lock(&b->lock);
  const od_shown_event *e = find(b, id);
  if (e) *out = *e;
  pthread_mutex_unlock(&b->lock);
  return e != NULL;
}

bool od_board_acknowledge(od_board *b, const od_shown_event *event, double clock, const char *actor) {
  od_shown_event e = *event;
  pthread_mutex_lock(&b->lock);
  const od_shown_event *known = find(b, e.id);
  const bool is_done = known && !isnan(known->acknowledged), fits = is_done || b->acts < OD_MOST_ACTS;
  if (fits && !is_done) {
    od_act *act = &b->act[b->acts++];
    act->event = e.id;
    snprintf(act->actor, sizeof act->actor, "%s", actor);
    if (e.machine >= 0 && od_weight_of_event(e.kind) == OD_EVENT_ALARM && b->machine[e.machine].open_alarms > 0)
      b->machine[e.machine].open_alarms--;
    e.acknowledged = clock;
    put_event(b, &e);
  }
  pthread_mutex_unlock(&b->lock);
  return fits;
}

char *od_board_verdict(od_board *b, int machine, long *number) {
  pthread_mutex_lock(&b->lock);
  const od_shown_machine *m = &b->machine[machine];
  char *copy = m->verdict ? od_strdup(m->verdict) : NULL;
  *number = m->verdicts;
  pthread_mutex_unlock(&b->lock);
  return copy;
}

char *od_board_metrics(od_board *b) {
  pthread_mutex_lock(&b->lock);
  char *copy = b->metrics ? od_strdup(b->metrics) : NULL;
  pthread_mutex_unlock(&b->lock);
  return copy;
}
