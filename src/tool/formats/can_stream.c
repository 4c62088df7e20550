// Decodes the frames of a trace to rows. When the stream is opened, it reads all frames once to find the messages of
// the trace, their buses and source addresses, and the disorder of the frames (can_trace.h). Each frame or assembled
// message with a wanted signal gives one row.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "formats/can_order.h"
#include "formats/can_trace.h"
#include "formats/can_transport.h"
#include "io/table.h"

enum { SAMPLE_FRAMES = 1000000 };  // number of frames that are read for the error message if there are no databases

typedef struct stream {
  od_can_trace *trace;
  bool shares;  // whether the trace belongs to another stream
  void *source;
  od_can_sorter sorter;
  bool has_ended;  // whether the source has no further frame for the sorter
  od_transport *transport;
  bool has_pending;
  od_can_message pending;  // a message that was assembled from packets
  int line;
  // The wanted signals and columns of use u have the indices active_first[u] to active_first[u + 1] - 1.
  int *active_first;
  int *active;  // index of the signal in its message
  int *column;  // column of the signal; missing signals of a row are NAN
  int columns;
  od_can_frame frame;
} stream;

// --- Order of frames --------------------------------------------------------------------------------------------------

static int source_line(const stream *s) {
  return s->trace->kind->line ? s->trace->kind->line(s->source) : 0;
}

// Reads the next frame, in the order of time if the sorter has been prepared.
static od_status next_frame(stream *s, od_can_frame *f, bool *end, od_error *err) {
  const od_can_source *kind = s->trace->kind;
  if (!s->sorter.heap) {
    od_status status = kind->next(s->source, f, end, err);
    if (status == OD_OK && !*end) s->line = source_line(s);
    return status;
  }
  while (!s->has_ended && !od_can_sorter_is_full(&s->sorter)) {
    od_status status = kind->next(s->source, f, &s->has_ended, err);
    if (status != OD_OK) return status;
    if (!s->has_ended) od_can_sorter_push(&s->sorter, f, source_line(s));
  }
  *end = s->sorter.count == 0;
  if (!*end) od_can_sorter_pop(&s->sorter, f, &s->line);
  return OD_OK;
}

static od_status prepare_sorter(stream *s, od_error *err) {
  if (s->trace->disorder == 0 || s->sorter.heap) return OD_OK;
  return od_can_sorter_init(&s->sorter, s->trace->disorder) ? OD_OK : od_can_trace_no_memory(s->trace, err);
}

// --- Packets ----------------------------------------------------------------------------------------------------------

static bool is_data(const od_can_frame *f) {
  return !(f->flags & (OD_CAN_ERROR | OD_CAN_REMOTE));
}

static bool is_extended(const od_can_frame *f) {
  return f->flags & OD_CAN_EXTENDED;
}

// Passes a packet to the transport protocols. A complete message becomes the pending message. Fails with OD_NO_MEMORY.
static od_status take_packet(stream *s, const od_can_frame *f, const od_can_route *r) {
  if (r->is_fast) return od_transport_take_fast(s->transport, f, &s->pending, &s->has_pending);
  return od_transport_take(s->transport, f, &s->pending, &s->has_pending);
}

static void to_start(stream *s) {
  s->trace->kind->rewind(s->source);
  od_can_sorter_reset(&s->sorter);
  s->has_ended = false;
  s->has_pending = false;
  s->line = 0;
  if (s->transport) od_transport_reset(s->transport);
}

// --- The first pass ---------------------------------------------------------------------------------------------------

static void count_short(od_can_trace *t, const od_can_route *r, int length) {
  if (r->use >= 0) t->losses.short_data += length < t->message[t->use[r->use].message].m->length;
}

static od_status count_frame(stream *s, const od_can_frame *f, od_error *err) {
  od_can_trace *t = s->trace;
  od_can_route other;
  t->losses.frames++;
  t->losses.errors += (f->flags & OD_CAN_ERROR) != 0;
  if (!is_data(f)) return OD_OK;
  od_can_route *r = od_can_trace_add_route(t, f->bus, f->id, is_extended(f), &other);
  if (!r) return od_can_trace_no_memory(t, err);
  r->frames++;
  s->has_pending = false;
  bool is_packet = r->is_control || r->is_fast;
  t->losses.unknown += r->use < 0 && !is_packet;
  if (!r->is_fast) count_short(t, r, f->length);
  if (is_packet && take_packet(s, f, r) != OD_OK) return od_can_trace_no_memory(t, err);
  if (!s->has_pending) return OD_OK;
  r = od_can_trace_add_route(t, s->pending.bus, s->pending.id, true, &other);
  if (!r) return od_can_trace_no_memory(t, err);
  t->losses.unknown += r->use < 0;
  count_short(t, r, s->pending.length);
  return OD_OK;
}

// Reads at most `most` frames, up to the end of the trace. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status scan(stream *s, long most, od_can_order *order, od_error *err) {
  od_can_trace *t = s->trace;
  bool end = false;
  double last = 0;
  t->losses = (od_can_losses){0};
  for (int i = 0; i < t->routes; i++) t->route[i].frames = 0;
  while (t->losses.frames < most) {
    od_status status = next_frame(s, &s->frame, &end, err);
    if (status == OD_BAD_INPUT && t->follows) continue;  // reported when the rows are read
    if (status != OD_OK) return status;
    if (end) break;
    last = s->frame.time;
    long disorder = order ? od_can_order_take(order, last) : 0;
    if (disorder < 0 && s->line > 0)
      return od_fail(err, OD_BAD_INPUT, "%s:%d: the time goes back by %g s; expected frames in the order of time",
                     t->path, s->line, order->largest - last);
    if (disorder < 0)
      return od_fail(err, OD_BAD_INPUT,
                     "%s: the time goes back by %g s at frame %ld; expected frames in the order of time", t->path,
                     order->largest - last, order->frames);
    if (disorder > t->disorder) t->disorder = (int)disorder;
    if (order && t->disorder > 0) {
      t->losses.frames++;  // a second pass counts the sorted frames
      continue;
    }
    status = count_frame(s, &s->frame, err);
    if (status != OD_OK) return status;
  }
  if (s->transport) t->losses.incomplete = od_transport_incomplete(s->transport, last);
  return OD_OK;
}

// Reads at most `most` frames, up to the end of the trace. If the frames are not in the order of time, reads them again
// in this order, because the packets of a message must have ascending times. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status scan_all(stream *s, long most, od_error *err) {
  od_can_order order;
  if (!od_can_order_init(&order)) return od_can_trace_no_memory(s->trace, err);
  od_status status = scan(s, most, &order, err);
  od_can_order_free(&order);
  if (status != OD_OK || s->trace->disorder == 0) return status;
  to_start(s);
  status = prepare_sorter(s, err);
  return status == OD_OK ? scan(s, most, NULL, err) : status;
}

static od_status no_database(stream *s, od_error *err) {
  od_status status = scan_all(s, SAMPLE_FRAMES, err);
  if (status != OD_OK) return status;
  return od_can_trace_no_messages(
      s->trace,
      "a CAN trace needs a database of its messages: `database: FILE.dbc` in the section `data`, or "
      "--dbc FILE",
      err);
}

// --- Streams ----------------------------------------------------------------------------------------------------------

void od_can_stream_close(void *opened) {
  stream *s = opened;
  if (!s) return;
  if (s->source) s->trace->kind->close(s->source);
  if (!s->shares && s->trace) od_can_trace_free(s->trace);
  od_transport_free(s->transport);
  od_can_sorter_free(&s->sorter);
  od_free(s->active_first);
  od_free(s->active);
  od_free(s->column);
  od_free(s);
}

// Creates a stream, which owns the source. If the function returns NULL, the source is closed.
static stream *new_stream(od_can_trace *t, void *source) {
  stream *s = od_calloc(1, sizeof *s);
  if (!s) {
    t->kind->close(source);
    return NULL;
  }
  s->trace = t;
  s->source = source;
  return s;
}

// Allocates the arrays of a stream, selects all columns and prepares the sorter. Fails with OD_NO_MEMORY.
static od_status prepare(stream *s, od_error *err) {
  od_can_trace *t = s->trace;
  size_t columns = (size_t)t->head->columns;
  s->active_first = od_calloc((size_t)t->uses + 1, sizeof *s->active_first);
  s->active = od_calloc(columns, sizeof *s->active);
  s->column = od_calloc(columns, sizeof *s->column);
  if (!s->active_first || !s->active || !s->column) return od_can_trace_no_memory(t, err);
  od_can_stream_want(s, NULL);
  return prepare_sorter(s, err);
}

// Returns whether a column belongs to a message that has not occurred: "Message.Signal", "Message@17.Signal", also after a
// bus or a database.
static bool is_awaited(const od_can_trace *t, const char *column) {
  for (int i = 0; i < t->messages; i++) {
    const char *name = t->message[i].m->name, *at = t->message[i].form ? NULL : strstr(column, name);
    const char after = at ? at[strlen(name)] : '\0';
    bool is_begin = at && (at == column || at[-1] == '.' || at[-1] == '/');
    if (is_begin && (after == '.' || after == '@')) return true;
  }
  return false;
}

// Returns whether no wished column belongs to a message that has not occurred.
static bool is_ready(const od_can_trace *t, const od_table_wish *wish) {
  for (int i = 0; wish->columns && wish->columns[i]; i++)
    if (is_awaited(t, wish->columns[i])) return false;
  return true;
}

od_status od_can_stream_open(const od_can_source *kind, void *source, const char *path, const od_table_wish *wish,
                             void **out, od_error *err) {
  od_can_trace *t = od_calloc(1, sizeof *t);
  *out = NULL;
  if (!t) {
    kind->close(source);
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  }
  t->kind = kind;
  t->follows = wish->follow;
  t->path = od_arena_text(&t->arena, path);
  stream *s = t->path ? new_stream(t, source) : NULL;
  if (!s) {
    if (!t->path) kind->close(source);
    od_can_trace_free(t);
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  }
  od_status status = od_can_trace_databases(t, wish->databases, err);
  if (status == OD_OK && t->has_j1939 && !(s->transport = od_transport_new())) status = od_can_trace_no_memory(t, err);
  if (status == OD_OK && t->dbcs == 0) status = no_database(s, err);
  if (status == OD_OK) status = scan_all(s, LONG_MAX, err);
  const bool is_empty = t->uses == 0;  // a trace that grows may still have no message of the databases
  if (status == OD_OK && is_empty && !t->follows)
    status = od_can_trace_no_messages(t, "no message of the databases occurs in the trace", err);
  if (status == OD_OK && !is_empty) status = od_can_trace_columns(t, s->source, err);
  if (status == OD_OK && !is_empty) status = od_can_trace_remarks(t, err);
  if (status == OD_OK && !is_empty) status = prepare(s, err);
  to_start(s);
  if (status == OD_OK && !is_empty && (!t->follows || is_ready(t, wish)))
    *out = s;
  else
    od_can_stream_close(s);
  return status;
}

od_status od_can_stream_again(const void *opened, void **out, od_error *err) {
  const stream *first = opened;
  od_can_trace *t = first->trace;
  void *source;
  *out = NULL;
  od_status status = t->kind->again(first->source, &source, err);
  if (status != OD_OK) return status;
  stream *s = new_stream(t, source);
  if (!s) return od_can_trace_no_memory(t, err);
  s->shares = true;
  if (t->has_j1939 && !(s->transport = od_transport_new())) status = od_can_trace_no_memory(t, err);
  if (status == OD_OK) status = prepare(s, err);
  if (status == OD_OK)
    *out = s;
  else
    od_can_stream_close(s);
  return status;
}

const od_table *od_can_stream_head(const void *opened) {
  return ((const stream *)opened)->trace->head;
}

// wanted NULL: all columns.
void od_can_stream_want(void *opened, const bool *wanted) {
  stream *s = opened;
  od_can_trace *t = s->trace;
  s->columns = 0;
  for (int i = 0; i < t->uses; i++) {
    const od_dbc_message *m = t->message[t->use[i].message].m;
    s->active_first[i] = s->columns;
    for (int j = 0; j < m->signals; j++) {
      int c = t->use[i].first + j;
      if (wanted && !wanted[c]) continue;
      s->active[s->columns] = j;
      s->column[s->columns++] = c;
    }
  }
  s->active_first[t->uses] = s->columns;
}

// Fills a row from the data of a use. Returns whether a wanted signal is present.
static bool fill_row(const stream *s, int index, double time, const uint8_t *data, int length, double *values) {
  const od_can_trace *t = s->trace;
  const od_can_use *u = &t->use[index];
  const od_can_used *m = &t->message[u->message];
  bool has_value = false;
  int from = s->active_first[index], to = s->active_first[index + 1];
  if (from == to) return false;
  for (int i = 0; i < s->columns; i++) values[s->column[i]] = NAN;
  values[0] = time;
  for (int i = from; i < to; i++) {
    const od_dbc_signal *signal = &m->m->signal[s->active[i]];
    const od_can_signal_form *form = &m->form[s->active[i]];
    if (signal->flaw || (signal->by >= 0 && !od_can_is_present(m, signal, data, length))) continue;
    has_value = true;
    if (form->end <= length) values[s->column[i]] = od_can_signal_value(form, od_can_signal_raw(form, data));
  }
  return has_value;
}

od_status od_can_stream_next(void *opened, double *values, bool *end, od_error *err) {
  stream *s = opened;
  od_can_trace *t = s->trace;
  od_can_route other;
  *end = false;
  for (;;) {
    if (s->has_pending) {
      const od_can_message *m = &s->pending;
      const od_can_route *r = od_can_trace_route(t, m->bus, m->id, true, &other);
      s->has_pending = false;
      if (r->use >= 0 && fill_row(s, r->use, m->time, m->data, m->length, values)) return OD_OK;
    }
    od_can_frame *f = &s->frame;
    od_status status = next_frame(s, f, end, err);
    if (status != OD_OK || *end) return status;
    if (!is_data(f)) continue;
    const od_can_route *r = od_can_trace_route(t, f->bus, f->id, is_extended(f), &other);
    if ((r->is_control || r->is_fast) && take_packet(s, f, r) != OD_OK) return od_can_trace_no_memory(t, err);
    if (r->use >= 0 && !r->is_fast && fill_row(s, r->use, f->time, f->data, f->length, values)) return OD_OK;
  }
}

void od_can_stream_rewind(void *opened) {
  to_start(opened);
}

int od_can_stream_line(const void *opened) {
  return ((const stream *)opened)->line;
}

bool od_can_stream_is_cut(const void *opened) {
  const stream *s = opened;
  return s->trace->kind->is_cut && s->trace->kind->is_cut(s->source);
}

bool od_can_stream_has_changed(const void *opened) {
  const stream *s = opened;
  return s->trace->kind->has_changed && s->trace->kind->has_changed(s->source);
}

od_log_origin od_can_stream_origin(const void *opened, int column) {
  return ((const stream *)opened)->trace->origin[column];
}

const char *od_can_stream_start_time(const void *opened) {
  const stream *s = opened;
  return s->trace->kind->start_time ? s->trace->kind->start_time(s->source) : NULL;
}

od_can_losses od_can_stream_losses(const void *opened) {
  return ((const stream *)opened)->trace->losses;
}

const char *od_can_stream_remark(const void *opened, int index) {
  const od_can_trace *t = ((const stream *)opened)->trace;
  for (int i = 0; i < index; i++)
    if (!t->remark[i]) return NULL;
  return t->remark[index];
}

od_status od_can_stream_grow(void *opened, od_log_growth *out, od_error *err) {
  stream *s = opened;
  od_status status = s->trace->kind->grow(s->source, out, err);
  if (status == OD_OK && *out == OD_LOG_LONGER) s->has_ended = false;
  return status;
}
