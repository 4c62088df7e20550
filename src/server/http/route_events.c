// Events and alarms, and their acknowledgment.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "http/live.h"
#include "io/clock.h"

const od_query_key od_events_query[] = {
    {"machine", OD_QUERY_TEXT, "only events of this machine", 0, 0},
    {"before", OD_QUERY_WHOLE, "only events with a smaller id, for the next page of a list", 1, 9e15},
    {"limit", OD_QUERY_WHOLE, "largest number of events; default 50", 1, 200},
    {"open", OD_QUERY_FLAG, "only alarms that are not acknowledged", 0, 0},
};

enum { DEFAULT_EVENTS = 50, MOST_EVENTS = 200 };

// Selects events of the board, for twins without a history. The latest state of an event counts.
static int select_events(od_door *d, const od_event_query *q, int machine, od_shown_event *out, od_arena *memory) {
  od_shown_event *all = OD_TAKE(memory, od_shown_event, OD_SHOWN_EVENTS);
  long next;
  int n = 0;
  const int count = all ? od_board_events_after(d->board, 0, all, OD_SHOWN_EVENTS, &next) : 0;
  for (int i = count - 1; i >= 0 && n < q->most; i--) {
    const od_shown_event *e = &all[i];
    bool is_known = false;
    for (int k = i + 1; k < count; k++) is_known = is_known || all[k].id == e->id;
    if (is_known || (q->before && e->id >= q->before) || (machine >= 0 && e->machine != machine)) continue;
    if (q->is_open && (!isnan(e->acknowledged) || od_weight_of_event(e->kind) != OD_EVENT_ALARM)) continue;
    out[n++] = *e;
  }
  return n;
}

void od_route_events(od_request *r) {
  od_door *d = r->door;
  const int limit = (int)od_query_number(&r->query, "limit", DEFAULT_EVENTS);
  const char *name = od_query_text(&r->query, "machine");
  const bool is_open = od_query_number(&r->query, "open", 0) == 1;
  const od_event_query query = {.machine = name,
                                .before = (int64_t)od_query_number(&r->query, "before", 0),
                                .is_open = is_open,
                                .kinds = is_open ? od_alarm_kinds : NULL,
                                .most = limit + 1};
  int machine = -1, count = 0;
  for (int i = 0; name && i < d->twin->machines; i++)
    if (strcmp(d->twin->machine[i].name, name) == 0) machine = i;
  if (name && machine < 0) {
    od_answer_error(r, 404, "there is no machine '%.60s'; GET /api/v1/machines lists all", name);
    return;
  }
  od_shown_event *event = OD_TAKE(&r->memory, od_shown_event, MOST_EVENTS + 1);
  od_error err = {0};
  od_status status = event ? OD_OK : OD_NO_MEMORY;
  if (event && d->history) {
    od_history_event *stored;
    status = od_history_reader_events(d->history, &r->memory, &query, &stored, &count, &err);
    for (int i = 0; i < count && status == OD_OK; i++) {
      event[i] = od_shown_event_of(d, &stored[i]);
      od_shown_event now;  // the board has acknowledgments that are not stored yet
      if (od_board_find_event(d->board, event[i].id, &now)) event[i].acknowledged = now.acknowledged;
    }
  } else if (event) {
    count = select_events(d, &query, machine, event, &r->memory);
  }
  od_text_stream t;
  if (status != OD_OK || !od_text_begin(&t)) {
    od_answer_status(r, status == OD_OK ? OD_NO_MEMORY : status, &err);
    return;
  }
  fputs("{\"events\":[", t.to);
  const char *comma = "";
  for (int i = 0; i < count && i < limit; i++) {
    if (is_open && !isnan(event[i].acknowledged)) continue;
    fputs(comma, t.to);
    od_put_event(t.to, d, &event[i]);
    comma = ",";
  }
  fprintf(t.to, "],\"more\":%s}", count > limit ? "true" : "false");
  od_answer_stream(r, "application/json", &t);
}

// Finds an event on the board or in the history. Returns false if there is no such event or the history cannot be read.
static bool find_event(od_request *r, od_shown_event *out) {
  od_door *d = r->door;
  od_history_event *stored;
  int count = 0;
  if (od_board_find_event(d->board, r->id, out)) return true;
  const od_event_query query = {.id = r->id, .most = 1};
  if (r->id < 1 || !d->history) return false;
  if (od_history_reader_events(d->history, &r->memory, &query, &stored, &count, NULL) != OD_OK || count == 0)
    return false;
  *out = od_shown_event_of(d, &stored[0]);
  return true;
}

void od_route_acknowledge(od_request *r) {
  od_shown_event e;
  od_error err = {0};
  if (od_body_empty(r->body, r->size, &err) != OD_OK) {
    od_answer_status(r, OD_BAD_INPUT, &err);
    return;
  }
  if (!find_event(r, &e)) {
    od_answer_error(r, 404, "there is no event %lld", (long long)r->id);
    return;
  }
  const double now = od_clock_now();
  if (!od_board_acknowledge(r->door->board, &e, now, r->reader.name)) {
    od_answer_error(r, 503, "%d acknowledgments wait for the history already; try again later", OD_MOST_ACTS);
    return;
  }
  if (isnan(e.acknowledged)) e.acknowledged = now;
  od_text_stream t;
  if (!od_text_begin(&t)) return;
  od_put_event(t.to, r->door, &e);
  od_answer_stream(r, "application/json", &t);
}
