// Streams of server-sent events. Each stream has a buffer of limited size. A reader that is slow loses frames; the connection of
// a reader that does not take the events is closed. A stream without data is suspended, and then needs no processor time.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "http/live.h"
#include "io/axis.h"
#include "io/clock.h"
#include "oleodyn/version.h"

// Largest size of the data in a buffer, and size above which frames are left out, bytes; largest number of missed events of the history; largest
// number of events in a turn.
enum { MOST_BUFFERED = 1 << 18, MOST_FRAMES = 1 << 15, MOST_MISSED = 200, MOST_EVENTS_AT_ONCE = 32 };
static const double frame_interval = 0.04, state_interval = 1, silence = 5, span_interval = 2;
// Longest time for which the data of a stream may wait for its reader, s.
static const double longest_wait = 30;

typedef struct od_stream {
  struct od_stream *next, *previous;
  od_door *door;
  od_watched_connection *watched;
  struct MHD_Connection *connection;
  int machine;  // machine whose frames the stream has; -1: none
  char *buffer;
  size_t begin, end, room;  // the data are from `begin` to `end`
  bool is_suspended, is_ending;
  long version;        // version of the description that the stream has announced
  double last, taken;  // times of the last data, and of the last data that the socket took, s
} od_stream;

// --- Buffers ------------------------------------------------------------------------------------------------------

static void wake(od_stream *s) {
  if (!s->is_suspended) return;
  s->is_suspended = false;
  MHD_resume_connection(s->connection);
}

// Ends a stream whose reader is too slow. Does not wait for the data in its socket.
static void end_slow(od_stream *s, double now) {
  s->is_ending = true;
  if (s->watched) s->watched->deadline = now;
  wake(s);
}

static void append(od_stream *s, const char *text, size_t size, double now) {
  if (s->is_ending) return;
  if (s->end - s->begin + size > MOST_BUFFERED) {
    end_slow(s, now);
    return;
  }
  if (s->begin == s->end) s->taken = now;
  if (s->begin > 0 && s->end + size > s->room) {
    memmove(s->buffer, s->buffer + s->begin, s->end - s->begin);
    s->end -= s->begin;
    s->begin = 0;
  }
  if (s->end + size > s->room) {
    size_t room = s->room ? s->room : 4096;
    while (room < s->end + size) room *= 2;
    char *buffer = od_realloc(s->buffer, room);
    if (!buffer) {
      s->is_ending = true;
      return;
    }
    s->buffer = buffer;
    s->room = room;
  }
  memcpy(s->buffer + s->end, text, size);
  s->end += size;
  s->last = now;
  wake(s);
}

static void append_text(od_stream *s, od_text_stream *text, double now) {
  if (!od_text_end(text)) return;
  append(s, text->text, text->size, now);
  od_libc_free(text->text);
}

// libmicrohttpd calls this function when the socket of a stream has room.
static ssize_t read_stream(void *user, uint64_t at, char *to, size_t most) {
  od_stream *s = user;
  (void)at;
  const size_t n = s->end - s->begin < most ? s->end - s->begin : most;
  if (n == 0 && s->is_ending) return MHD_CONTENT_READER_END_OF_STREAM;
  if (n == 0) {
    s->is_suspended = true;
    MHD_suspend_connection(s->connection);
    return 0;
  }
  memcpy(to, s->buffer + s->begin, n);
  s->begin += n;
  s->taken = od_seconds();
  if (s->begin == s->end) s->begin = s->end = 0;
  return (ssize_t)n;
}

static void free_stream(void *user) {
  od_stream *s = user;
  if (s->next) s->next->previous = s->previous;
  if (s->previous) s->previous->next = s->next;
  if (s->door->streams == s) s->door->streams = s->next;
  s->door->stream_count--;
  od_free(s->buffer);
  od_free(s);
}

// --- Messages -----------------------------------------------------------------------------------------------------

static void put_hello(od_stream *s, double now) {
  od_text_stream t;
  if (!od_text_begin(&t)) return;
  fprintf(t.to, "retry: 2000\nevent: hello\ndata: {\"boot\":\"%s\",\"program\":\"oleodyn " OD_VERSION "\",\"clock\":",
          s->door->boot);
  od_put_time(t.to, od_clock_now());
  fprintf(t.to, ",\"interval\":%g}\n\n", frame_interval);
  append_text(s, &t, now);
}

// Appends the states of all machines to a stream, or to all streams (NULL).
static void put_states(od_door *d, od_stream *only, double now) {
  od_text_stream t;
  if (!od_text_begin(&t)) return;
  for (int i = 0; i < d->twin->machines; i++) {
    fputs("event: machine\ndata: ", t.to);
    od_put_status(t.to, d, i);
    fputs("\n\n", t.to);
  }
  if (!od_text_end(&t)) return;
  for (od_stream *s = only ? only : d->streams; s; s = only ? NULL : s->next) append(s, t.text, t.size, now);
  od_libc_free(t.text);
}

static void put_event_message(FILE *to, const od_door *d, const od_shown_event *e) {
  fprintf(to, "id: %lld\nevent: event\ndata: ", (long long)e->id);
  od_put_event(to, d, e);
  fputs("\n\n", to);
}

// Writes the newest frame of a machine: the values of all series, and the standard deviations of the series that have one.
static void put_frame(FILE *to, const od_door *d, int machine) {
  const od_live_machine *m = &d->live[machine];
  const od_twin_machine *settings = &d->twin->machine[machine];
  const double *value = m->frame + OD_FRAME_COLUMNS;
  fputs("event: sample\ndata: {\"machine\":", to);
  od_put_text(to, settings->name);
  fputs(",\"t\":", to);
  od_put_time(to, m->frame[OD_FRAME_TIME]);
  fputs(",\"clock\":", to);
  od_put_time(to, m->frame[OD_FRAME_CLOCK]);
  for (int pass = 0; pass < 2; pass++) {
    const char *comma = "";
    fputs(pass ? "],\"sigma\":[" : ",\"values\":[", to);
    for (int c = 0; c < m->head->columns; c++) {
      const od_column_facts facts = od_column_facts_of(settings, m->head, c);
      if (!facts.of || (pass && facts.sigma < 0)) continue;
      fputs(comma, to);
      comma = ",";
      od_put_value(to, value[pass ? facts.sigma : c]);
    }
  }
  fputs("]}\n\n", to);
}

// Appends a message that the description of the machine has changed.
static void put_version(od_stream *s, double now) {
  od_text_stream t;
  const od_live_machine *m = s->machine >= 0 ? &s->door->live[s->machine] : NULL;
  if (!m || s->version == m->version || !od_text_begin(&t)) return;
  s->version = m->version;
  fputs("event: version\ndata: {\"machine\":", t.to);
  od_put_text(t.to, s->door->twin->machine[s->machine].name);
  fprintf(t.to, ",\"version\":%ld}\n\n", m->version);
  append_text(s, &t, now);
}

// --- Turns --------------------------------------------------------------------------------------------------------

od_status od_live_init(od_door *d, od_error *err) {
  d->live = OD_TAKE(&d->memory, od_live_machine, d->twin->machines);
  for (int i = 0; d->live && i < d->twin->machines; i++) d->live[i].version = 1;
  return d->live ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

void od_live_end(od_door *d) {
  for (int i = 0; d->live && i < d->twin->machines; i++) od_free(d->live[i].frame);
}

// Extends the scale of pressures to a round number if each of the last OD_SCALE_FRAMES frames has a pressure above the scale.
static void scale_pressures(od_live_machine *m) {
  double *here = &m->largest[m->frames++ % OD_SCALE_FRAMES], largest = INFINITY;
  *here = 0;
  for (int c = m->head->rows; c < m->head->columns; c++)
    if (strcmp(m->head->unit[c], "Pa") == 0) *here = fmax(*here, m->frame[OD_FRAME_COLUMNS + c]);
  if (m->frames < OD_FRAMES_TO_SETTLE) return;
  for (int i = 0; i < OD_SCALE_FRAMES; i++) largest = fmin(largest, m->largest[i]);
  if (!(largest > m->pressure) || !isfinite(largest)) return;
  const double step = od_axis_make(0, largest, "Pa", 8).step;
  m->pressure = step * ceil(largest / step);
  m->version++;
}

void od_live_take(od_door *d, int machine) {
  od_shown_machine *from = &d->board->machine[machine];
  od_live_machine *m = &d->live[machine];
  if (!m->head) {
    const od_frame_head *head = atomic_load_explicit(&from->head, memory_order_acquire);
    if (!head || !(m->frame = od_calloc((size_t)(OD_FRAME_COLUMNS + head->columns), sizeof(double)))) return;
    m->head = head;
    m->version++;
  }
  for (const double *frame; (frame = od_row_ring_first(&from->frames)); od_row_ring_next(&from->frames)) {
    memcpy(m->frame, frame, (size_t)(OD_FRAME_COLUMNS + m->head->columns) * sizeof *frame);
    m->has_frame = m->is_new = true;
    scale_pressures(m);
  }
}

od_history_span od_live_span(od_door *d, int machine) {
  od_live_machine *m = &d->live[machine];
  const double now = od_seconds();
  if (now >= m->span_next) {
    m->span = (od_history_span){NAN, NAN};
    if (d->history) (void)od_history_reader_span(d->history, d->twin->machine[machine].name, &m->span, NULL);
    m->span_next = now + span_interval;
  }
  return m->span;
}

// Appends the text of a machine's frame to its streams. If there are streams, the text is written once for all streams.
static void send_frames(od_door *d, int machine, double now) {
  od_text_stream t = {0};
  for (od_stream *s = d->streams; s; s = s->next) {
    if (s->machine != machine || s->end - s->begin > MOST_FRAMES) continue;
    if (!t.to) {
      if (!od_text_begin(&t)) return;
      put_frame(t.to, d, machine);
      if (!od_text_end(&t)) return;
    }
    append(s, t.text, t.size, now);
  }
  od_libc_free(t.text);
}

static void send_events(od_door *d, double now) {
  od_shown_event event[MOST_EVENTS_AT_ONCE];
  const int count = od_board_events_after(d->board, d->events, event, MOST_EVENTS_AT_ONCE, &d->events);
  od_text_stream t;
  if (count == 0 || !od_text_begin(&t)) return;
  for (int i = 0; i < count; i++) put_event_message(t.to, d, &event[i]);
  if (!od_text_end(&t)) return;
  for (od_stream *s = d->streams; s; s = s->next) append(s, t.text, t.size, now);
  od_libc_free(t.text);
}

static void send_verdict(od_door *d, int machine, double now) {
  od_live_machine *m = &d->live[machine];
  const long before = m->verdicts;
  char *verdict = od_board_verdict(d->board, machine, &m->verdicts);
  od_text_stream t;
  if (verdict && m->verdicts != before && od_text_begin(&t)) {
    fputs("event: verdict\ndata: {\"machine\":", t.to);
    od_put_text(t.to, d->twin->machine[machine].name);
    fprintf(t.to, ",\"verdict\":%s}\n\n", verdict);
    if (od_text_end(&t)) {
      for (od_stream *s = d->streams; s; s = s->next) append(s, t.text, t.size, now);
      od_libc_free(t.text);
    }
  }
  od_free(verdict);
}

void od_streams_turn(od_door *d, double now) {
  d->stream_next = now + frame_interval;
  for (int i = 0; i < d->twin->machines; i++) {
    d->live[i].is_new = false;
    od_live_take(d, i);
    send_verdict(d, i, now);
  }
  for (od_stream *s = d->streams; s; s = s->next) put_version(s, now);
  for (int i = 0; i < d->twin->machines; i++)
    if (d->live[i].is_new) send_frames(d, i, now);
  send_events(d, now);
  if (now >= d->state_next) {
    put_states(d, NULL, now);
    d->state_next = now + state_interval;
  }
  for (od_stream *s = d->streams; s; s = s->next) {
    if (now - s->last > silence) append(s, ": \n\n", 4, now);
    if (s->begin < s->end && now - s->taken > longest_wait) end_slow(s, now);
  }
}

void od_streams_end(od_door *d) {
  for (od_stream *s = d->streams; s; s = s->next) {
    s->is_ending = true;
    wake(s);
  }
  if (d->streams) MHD_run(d->daemon);
}

// --- The route ----------------------------------------------------------------------------------------------------

const od_query_key od_stream_query[] = {
    {"machine", OD_QUERY_TEXT, "machine whose values are sent; without it only states and events", 0, 0},
    {"after", OD_QUERY_WHOLE, "events with a larger id come first; the header Last-Event-ID replaces this key", 0,
     9e15},
};

// Appends the events after an id, which the reader has missed: first from the history, then the events that are not stored yet.
static void put_missed(od_stream *s, int64_t after, double now) {
  OD_SCRATCH(scratch);
  od_door *d = s->door;
  od_shown_event *recent = OD_TAKE(&scratch, od_shown_event, OD_SHOWN_EVENTS);
  od_history_event *stored;
  int count = 0;
  long next;
  od_text_stream t;
  if (!recent || !od_text_begin(&t)) return;
  const od_event_query query = {.after = after, .is_ascending = true, .most = MOST_MISSED};
  if (d->history && od_history_reader_events(d->history, &scratch, &query, &stored, &count, NULL) == OD_OK)
    for (int i = 0; i < count; i++) {
      const od_shown_event e = od_shown_event_of(d, &stored[i]);
      put_event_message(t.to, d, &e);
      after = e.id;
    }
  const int events = count < MOST_MISSED ? od_board_events_after(d->board, 0, recent, OD_SHOWN_EVENTS, &next) : 0;
  for (int i = 0; i < events; i++)
    if (recent[i].id > after) put_event_message(t.to, d, &recent[i]);
  append_text(s, &t, now);
}

void od_route_stream(od_request *r) {
  od_door *d = r->door;
  const char *name = od_query_text(&r->query, "machine");
  int machine = -1;
  for (int i = 0; name && i < d->twin->machines; i++)
    if (strcmp(d->twin->machine[i].name, name) == 0) machine = i;
  if (name && machine < 0) {
    od_answer_error(r, 404, "there is no machine '%.60s'; GET /api/v1/machines lists all", name);
    return;
  }
  if (d->stream_count >= d->page->streams) {
    od_answer_error(
        r, 503,
        "there are %d live streams already, the largest number allowed; close a page, or raise 'streams' of the section 'page'",
        d->stream_count);
    return;
  }
  od_stream *s = od_calloc(1, sizeof *s);
  struct MHD_Response *response =
      s ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, s, free_stream) : NULL;
  if (!response) {
    od_free(s);
    od_answer_error(r, 500, "out of memory");
    return;
  }
  if (!d->streams) {  // the streams begin with the newest events and values
    od_shown_event ignored[MOST_EVENTS_AT_ONCE];
    while (od_board_events_after(d->board, d->events, ignored, MOST_EVENTS_AT_ONCE, &d->events) > 0)
      ;
    for (int i = 0; i < d->twin->machines; i++) od_live_take(d, i);
  }
  *s = (od_stream){.next = d->streams,
                   .door = d,
                   .watched = r->watched,
                   .connection = r->connection,
                   .machine = machine,
                   .taken = r->now};
  if (s->next) s->next->previous = s;
  d->streams = s;
  d->stream_count++;
  const long long last = r->headers.last_event ? od_read_id(r->headers.last_event, strlen(r->headers.last_event)) : -1;
  const double after = od_query_number(&r->query, "after", -1);
  put_hello(s, r->now);
  if (last >= 0 || after >= 0) put_missed(s, last >= 0 ? last : (int64_t)after, r->now);
  put_states(d, s, r->now);
  if (machine >= 0 && d->live[machine].has_frame) {
    od_text_stream t;
    put_version(s, r->now);
    if (od_text_begin(&t)) {
      put_frame(t.to, d, machine);
      append_text(s, &t, r->now);
    }
  }
  MHD_add_response_header(response, "Content-Type", "text/event-stream");
  MHD_add_response_header(response, "Cache-Control", "no-store");
  MHD_add_response_header(response, "X-Accel-Buffering", "no");
  od_answer_response(r, 200, response);
  if (r->watched) r->watched->deadline = INFINITY;
}
