// Decodes the frames of a trace to rows. When the stream is opened, it reads all frames once to find the messages of
// the trace, their buses and source addresses, and the disorder of the frames. A use is a message of a database on one
// bus; in J1939 a use also has one source address. A use has one column per signal, and each frame of a wanted use
// gives one row. A route is an identifier on a bus. The route contains the use of its frames, and whether its frames
// are packets.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/byte_hash.h"
#include "formats/can_frames.h"
#include "formats/can_order.h"
#include "formats/can_signal.h"
#include "formats/can_transport.h"
#include "formats/dbc.h"
#include "formats/key_map.h"
#include "io/table.h"
#include "io/wording.h"

enum {
  MOST_ROUTES = 1 << 20,  // largest number of stored routes; frames of further identifiers are looked up in the
                          // databases one by one
  MOST_COLUMNS = 100000,
  SAMPLE_FRAMES = 1000000,  // number of frames that are read for the error message if there are no databases
  SHOWN_IDS = 12,
  SHOWN_VALUES = 16,
  REMARKS = 4,
  NULL_ADDRESS = 254  // source address of messages that any source may send
};

typedef struct use {
  int message;    // index in trace.message
  int bus, from;  // from: source address; -1: the message is not a J1939 message
  int first;      // first column
} use;

typedef struct route {
  uint64_t key;
  int use;          // -1: none
  bool is_control;  // whether the frames are packets of the transport protocol of J1939
  bool is_fast;     // whether the frames are fast packets of NMEA 2000
  long frames;      // number of frames with the identifier
} route;

// A message of a database, prepared for decoding.
typedef struct message {
  const od_dbc *dbc;
  const od_dbc_message *m;
  od_can_signal_form *form;  // one per signal; NULL: the trace does not contain the message
  const char **comment;      // one per signal: text about the origin of its columns
  bool is_shared;            // whether another database has a message with the same name
  int buses, sources;        // number of buses and of source addresses with this message in the trace
} message;

// Data that all streams of a trace share.
typedef struct trace {
  const od_can_source *kind;
  const char *path;
  od_dbc **dbc;
  int dbcs;
  message *message;  // messages of all databases
  int messages;
  bool has_j1939;
  od_key_map by_id;     // bit 31: 29 bits
  od_key_map by_group;  // J1939: see group_key()
  use *use;
  int uses;
  od_key_map by_use;
  route *route;
  int routes, route_room;
  od_key_map by_route;
  od_table *head;
  od_log_origin *origin;  // one per column
  od_can_losses losses;
  const char *remark[REMARKS + 1];  // sentences about the losses, terminated by NULL
  int disorder;                     // number of frames that must be read ahead to sort them
  od_arena arena;
} trace;

typedef struct stream {
  trace *trace;
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

static od_status no_memory(const trace *t, od_error *err) {
  return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", t->path);
}

// --- Databases --------------------------------------------------------------------------------------------------------

// Keys of J1939 messages: PGN alone, with source address, or with source and destination.
static uint64_t group_key(int kind, uint32_t pgn, uint32_t from, int to) {
  return (uint64_t)kind << 40 | (uint64_t)pgn << 16 | (kind > 0 ? from << 8 : 0) | (kind > 1 ? (uint32_t)to : 0);
}

static bool add_once(od_key_map *map, uint64_t key, int index) {
  return od_key_map_find(map, key) >= 0 || od_key_map_add(map, key, index);
}

static bool add_groups(trace *t, int index) {
  const od_dbc_message *m = t->message[index].m;
  uint32_t pgn = od_j1939_pgn(m->id), from = m->id & 0xff;
  for (int kind = 0; kind < 3; kind++)
    if (!add_once(&t->by_group, group_key(kind, pgn, from, od_j1939_destination(m->id)), index)) return false;
  t->has_j1939 = true;
  return true;
}

// Builds the maps from identifiers to messages. The first database with an identifier has priority, and messages from
// any source address precede messages from one source.
static bool index_messages(trace *t) {
  int k = 0;
  for (int i = 0; i < t->dbcs; i++) t->messages += t->dbc[i]->messages;
  t->message = OD_TAKE(&t->arena, message, t->messages);
  if (!t->message) return false;
  for (int i = 0; i < t->dbcs; i++)
    for (int j = 0; j < t->dbc[i]->messages; j++)
      t->message[k++] = (message){.dbc = t->dbc[i], .m = &t->dbc[i]->message[j]};
  for (int i = 0; i < k; i++) {
    const od_dbc_message *m = t->message[i].m;
    if (!m->is_j1939 && !add_once(&t->by_id, m->id | (m->is_extended ? 0x80000000u : 0), i)) return false;
    if (m->is_j1939 && (m->id & 0xff) == NULL_ADDRESS && !add_groups(t, i)) return false;
  }
  for (int i = 0; i < k; i++)
    if (t->message[i].m->is_j1939 && (t->message[i].m->id & 0xff) != NULL_ADDRESS && !add_groups(t, i)) return false;
  return true;
}

// Returns the message of an identifier, or -1. In J1939, a message with the same source (and destination) has priority.
static int find_message(const trace *t, uint32_t id, bool is_extended) {
  int found = od_key_map_find(&t->by_id, id | (is_extended ? 0x80000000u : 0));
  if (!is_extended || !t->has_j1939) return found;
  uint32_t pgn = od_j1939_pgn(id), from = id & 0xff;
  for (int kind = 2; kind >= 0 && found < 0; kind--)
    found = od_key_map_find(&t->by_group, group_key(kind, pgn, from, od_j1939_destination(id)));
  return found;
}

static od_status read_databases(trace *t, const char *const *paths, od_error *err) {
  od_error first = {0}, one;
  while (paths && paths[t->dbcs]) t->dbcs++;
  int count = t->dbcs;
  t->dbcs = 0;
  t->dbc = OD_TAKE(&t->arena, od_dbc *, count);
  if (!t->dbc) return no_memory(t, err);
  for (int i = 0; i < count; i++) {
    od_status status = od_dbc_read(paths[i], &t->dbc[t->dbcs], &one);
    if (status == OD_OK) t->dbcs++;
    if (status == OD_OK || first.status == OD_NO_MEMORY) continue;
    bool joins = first.status == OD_BAD_INPUT && status == OD_BAD_INPUT;
    od_error before = first;
    if (joins) od_fail(&first, OD_BAD_INPUT, "%s\n%s", before.text, one.text);
    if (first.status == OD_OK || status == OD_NO_MEMORY) first = one;
  }
  if (first.status != OD_OK) return od_fail(err, first.status, "%s", first.text);
  return index_messages(t) ? OD_OK : no_memory(t, err);
}

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
  return od_can_sorter_init(&s->sorter, s->trace->disorder) ? OD_OK : no_memory(s->trace, err);
}

// --- Routes and uses --------------------------------------------------------------------------------------------------

static uint64_t route_key(int bus, uint32_t id, bool is_extended) {
  return (uint64_t)bus << 32 | (is_extended ? 0x80000000u : 0) | id;
}

static uint64_t use_key(int index, int bus, int from) {
  return (uint64_t)index << 32 | (uint64_t)bus << 9 | (uint64_t)(from + 1);
}

// Returns the index of the use of a message on a bus, and adds the use if necessary. -1: an allocation failed.
static int use_of(trace *t, int index, int bus, int from) {
  uint64_t key = use_key(index, bus, from);
  int i = od_key_map_find(&t->by_use, key);
  if (i >= 0) return i;
  void *list = od_arena_extend(&t->arena, t->use, t->uses, sizeof *t->use);
  if (!list || !od_key_map_add(&t->by_use, key, t->uses)) return -1;
  t->use = list;
  t->use[t->uses] = (use){.message = index, .bus = bus, .from = from};
  return t->uses++;
}

// Fills the route of an identifier. adds: whether a new use may be added. False: an allocation failed.
static bool make_route(trace *t, int bus, uint32_t id, bool is_extended, bool adds, route *r) {
  int index = find_message(t, id, is_extended);
  *r = (route){.key = route_key(bus, id, is_extended), .use = -1};
  r->is_control = is_extended && t->has_j1939 && od_is_transport(id);
  if (index < 0) return true;
  const od_dbc_message *m = t->message[index].m;
  int from = m->is_j1939 ? (int)(id & 0xff) : -1;
  r->is_fast = m->is_fast;
  r->use = adds ? use_of(t, index, bus, from) : od_key_map_find(&t->by_use, use_key(index, bus, from));
  return !adds || r->use >= 0;
}

// Returns the route of an identifier, and adds the route if necessary. If no more routes can be stored, the result is
// `other`. NULL: an allocation failed.
static route *add_route(trace *t, int bus, uint32_t id, bool is_extended, route *other) {
  uint64_t key = route_key(bus, id, is_extended);
  int i = od_key_map_find(&t->by_route, key);
  if (i >= 0) return &t->route[i];
  if (!make_route(t, bus, id, is_extended, true, other)) return NULL;
  if (t->routes == MOST_ROUTES) return other;
  if (t->routes == t->route_room) {
    int room = t->route_room > 0 ? 2 * t->route_room : 64;
    route *larger = od_realloc(t->route, (size_t)room * sizeof *larger);
    if (!larger) return NULL;
    t->route = larger;
    t->route_room = room;
  }
  if (!od_key_map_add(&t->by_route, key, t->routes)) return NULL;
  t->route[t->routes] = *other;
  return &t->route[t->routes++];
}

static const route *find_route(trace *t, int bus, uint32_t id, bool is_extended, route *other) {
  int i = od_key_map_find(&t->by_route, route_key(bus, id, is_extended));
  if (i >= 0) return &t->route[i];
  other->use = -1;
  other->is_control = other->is_fast = false;
  if (t->routes == MOST_ROUTES) make_route(t, bus, id, is_extended, false, other);
  return other;
}

static bool is_data(const od_can_frame *f) {
  return !(f->flags & (OD_CAN_ERROR | OD_CAN_REMOTE));
}

static bool is_extended(const od_can_frame *f) {
  return f->flags & OD_CAN_EXTENDED;
}

// Passes a packet to the transport protocols. A complete message becomes the pending message.
static od_status take_packet(stream *s, const od_can_frame *f, const route *r) {
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

static void count_short(trace *t, const route *r, int length) {
  if (r->use >= 0) t->losses.short_data += length < t->message[t->use[r->use].message].m->length;
}

static od_status count_frame(stream *s, const od_can_frame *f, od_error *err) {
  trace *t = s->trace;
  route other;
  t->losses.frames++;
  t->losses.errors += (f->flags & OD_CAN_ERROR) != 0;
  if (!is_data(f)) return OD_OK;
  route *r = add_route(t, f->bus, f->id, is_extended(f), &other);
  if (!r) return no_memory(t, err);
  r->frames++;
  s->has_pending = false;
  bool is_packet = r->is_control || r->is_fast;
  t->losses.unknown += r->use < 0 && !is_packet;
  if (!r->is_fast) count_short(t, r, f->length);
  if (is_packet && take_packet(s, f, r) != OD_OK) return no_memory(t, err);
  if (!s->has_pending) return OD_OK;
  r = add_route(t, s->pending.bus, s->pending.id, true, &other);
  if (!r) return no_memory(t, err);
  t->losses.unknown += r->use < 0;
  count_short(t, r, s->pending.length);
  return OD_OK;
}

// Reads at most `most` frames, up to the end of the trace.
static od_status scan(stream *s, long most, od_can_order *order, od_error *err) {
  trace *t = s->trace;
  bool end = false;
  double last = 0;
  t->losses = (od_can_losses){0};
  for (int i = 0; i < t->routes; i++) t->route[i].frames = 0;
  while (t->losses.frames < most) {
    od_status status = next_frame(s, &s->frame, &end, err);
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
// in this order, because the packets of a message must have ascending times.
static od_status scan_all(stream *s, long most, od_error *err) {
  od_can_order order;
  if (!od_can_order_init(&order)) return no_memory(s->trace, err);
  od_status status = scan(s, most, &order, err);
  od_can_order_free(&order);
  if (status != OD_OK || s->trace->disorder == 0) return status;
  to_start(s);
  status = prepare_sorter(s, err);
  return status == OD_OK ? scan(s, most, NULL, err) : status;
}

// --- Messages about identifiers -----------------------------------------------------------------------------------------

static int by_id(const void *a, const void *b) {
  uint64_t x = ((const route *)a)->key & 0xffffffff, y = ((const route *)b)->key & 0xffffffff;
  return (x > y) - (x < y);
}

// Reports that no frame can be decoded, with the identifiers of the trace. problem: the reason and the remedy.
static od_status no_messages(trace *t, const char *problem, od_error *err) {
  od_name_list ids = {.most = SHOWN_IDS};
  if (t->routes > 0) qsort(t->route, (size_t)t->routes, sizeof *t->route, by_id);
  for (int i = 0; i < t->routes; i++) {
    uint32_t id = (uint32_t)t->route[i].key;
    if (t->route[i].frames == 0) continue;
    int digits = id & 0x80000000 ? 8 : 3;
    od_name_list_add(&ids, "%0*X (%s)", digits, (unsigned)(id & 0x1fffffff),
                     od_count(t->route[i].frames, "frame").text);
  }
  if (ids.count == 0) return od_fail(err, OD_BAD_INPUT, "%s: the trace has no frames with data", t->path);
  return od_fail(err, OD_BAD_INPUT, "%s: %s; identifiers of the trace: %s", t->path, problem, od_name_list_text(&ids));
}

static od_status no_database(stream *s, od_error *err) {
  od_status status = scan_all(s, SAMPLE_FRAMES, err);
  if (status != OD_OK) return status;
  return no_messages(s->trace,
                     "a CAN trace needs a database of its messages: `database: FILE.dbc` in the section `data`, or "
                     "--dbc FILE",
                     err);
}

// --- Columns ----------------------------------------------------------------------------------------------------------

static int compare(int a, int b) {
  return (a > b) - (a < b);
}

static int by_message(const void *a, const void *b) {
  const use *x = a, *y = b;
  int c = compare(x->message, y->message);
  if (c == 0) c = compare(x->bus, y->bus);
  return c != 0 ? c : compare(x->from, y->from);
}

// Sorts the uses, and changes the indices of uses in the routes.
static bool sort_uses(trace *t) {
  OD_SCRATCH(scratch);
  use *old = OD_TAKE(&scratch, use, t->uses);
  int *place = OD_TAKE(&scratch, int, t->uses);
  if (!old || !place) return false;
  memcpy(old, t->use, (size_t)t->uses * sizeof *old);
  qsort(t->use, (size_t)t->uses, sizeof *t->use, by_message);
  od_key_map_free(&t->by_use);
  for (int i = 0; i < t->uses; i++) {
    const use *u = &t->use[i];
    if (!od_key_map_add(&t->by_use, use_key(u->message, u->bus, u->from), i)) return false;
  }
  for (int i = 0; i < t->uses; i++)
    place[i] = od_key_map_find(&t->by_use, use_key(old[i].message, old[i].bus, old[i].from));
  for (int i = 0; i < t->routes; i++)
    if (t->route[i].use >= 0) t->route[i].use = place[t->route[i].use];
  return true;
}

// Counts buses and sources of each message. The uses are sorted by message and bus.
static void count_sources(trace *t) {
  for (int i = 0, end; i < t->uses; i = end) {
    message *m = &t->message[t->use[i].message];
    bool seen[257] = {false};
    for (end = i; end < t->uses && t->use[end].message == t->use[i].message; end++) {
      m->buses += end == i || t->use[end].bus != t->use[end - 1].bus;
      m->sources += !seen[t->use[end].from + 1];
      seen[t->use[end].from + 1] = true;
    }
  }
}

// Marks messages of the trace whose name occurs twice, with different identifiers.
static bool mark_shared_names(trace *t) {
  od_key_map names = {0};
  bool ok = true;
  for (int i = 0; ok && i < t->messages; i++) {
    if (t->message[i].buses == 0) continue;
    uint64_t key = od_hash_text(OD_HASH_START, t->message[i].m->name);
    int same = od_key_map_find(&names, key);
    if (same >= 0) t->message[same].is_shared = t->message[i].is_shared = true;
    if (same < 0) ok = od_key_map_add(&names, key, i);
  }
  od_key_map_free(&names);
  return ok;
}

static const char *bus_text(const stream *s, int bus, char text[16]) {
  const od_can_source *k = s->trace->kind;
  const char *name = k->bus_name ? k->bus_name(s->source, bus) : NULL;
  if (!name) snprintf(text, 16, "CAN%d", bus);
  return name ? name : text;
}

// Returns the name of a use: "EEC1", "EEC1@17", "can1.EEC1@17", and "engine/EEC1" if two databases have the name.
static const char *use_name(stream *s, const use *u) {
  trace *t = s->trace;
  const message *m = &t->message[u->message];
  char bus[16] = "", from[8] = "";
  const char *file = strrchr(m->dbc->path, '/');
  file = file ? file + 1 : m->dbc->path;
  const char *dot = strrchr(file, '.');
  int length = dot ? (int)(dot - file) : (int)strlen(file);
  if (m->sources > 1) snprintf(from, sizeof from, "@%d", u->from);
  return od_arena_format(&t->arena, "%s%s%.*s%s%s%s", m->buses > 1 ? bus_text(s, u->bus, bus) : "",
                         m->buses > 1 ? "." : "", m->is_shared ? length : 0, file, m->is_shared ? "/" : "", m->m->name,
                         from);
}

// Returns the origin of a column as a text: the message with its identifier or PGN, source and bus.
static const char *group_text(stream *s, const use *u) {
  const od_dbc_message *m = s->trace->message[u->message].m;
  od_arena *arena = &s->trace->arena;
  char bus[16], id[16];
  const char *on = bus_text(s, u->bus, bus);
  snprintf(id, sizeof id, m->is_extended ? "%08X" : "%03X", (unsigned)m->id);
  if (u->from < 0) return od_arena_format(arena, "%s (%s on %s)", m->name, id, on);
  return od_arena_format(arena, "%s (PGN %u from %d on %s)", m->name, (unsigned)od_j1939_pgn(m->id), u->from, on);
}

// Returns the comment of a column: text of the database, signal number of J1939, names of values.
static const char *comment_text(trace *t, const od_dbc_signal *s) {
  char spn[32] = "";
  od_name_list values = {.most = SHOWN_VALUES};
  if (s->spn >= 0) snprintf(spn, sizeof spn, "SPN %d", s->spn);
  for (int i = 0; i < s->values; i++)
    od_name_list_add(&values, "%lld = %s", (long long)s->value[i].raw, s->value[i].name);
  const char *names = values.count > 0 ? od_name_list_text(&values) : "";
  const char *a = s->comment[0] && (spn[0] || names[0]) ? "; " : "", *b = spn[0] && names[0] ? "; " : "";
  if (!s->comment[0] && !spn[0] && !names[0]) return NULL;
  return od_arena_format(&t->arena, "%s%s%s%s%s", s->comment, a, spn, b, names);
}

static od_status name_columns(stream *s, od_error *err) {
  trace *t = s->trace;
  od_table *head = t->head;
  for (int i = 0; i < t->uses; i++) {
    const use *u = &t->use[i];
    const od_dbc_message *m = t->message[u->message].m;
    const char *name = use_name(s, u), *group = group_text(s, u);
    for (int j = 0; name && group && j < m->signals; j++) {
      OD_SCRATCH(scratch);
      int c = u->first + j;
      const char *full = od_arena_format(&scratch, "%s.%s", name, m->signal[j].name);
      if (!full || od_table_label(head, c, full, m->signal[j].unit) != OD_OK) return no_memory(t, err);
      head->places.flaw[c] = m->signal[j].flaw;
      t->origin[c] = (od_log_origin){.group = group, .comment = t->message[u->message].comment[j]};
    }
  }
  return od_arena_status(&t->arena) == OD_OK ? OD_OK : no_memory(t, err);
}

static od_status make_columns(stream *s, od_error *err) {
  trace *t = s->trace;
  long columns = 1;
  if (!sort_uses(t)) return no_memory(t, err);
  count_sources(t);
  if (!mark_shared_names(t)) return no_memory(t, err);
  for (int i = 0; i < t->uses; i++) {
    message *m = &t->message[t->use[i].message];
    t->use[i].first = (int)columns;
    columns += m->m->signals;
    if (columns > MOST_COLUMNS)
      return od_fail(err, OD_BAD_INPUT,
                     "%s: the messages of the trace have more than %d signals, the largest allowed "
                     "number",
                     t->path, MOST_COLUMNS);
    if (m->form) continue;
    m->form = OD_TAKE(&t->arena, od_can_signal_form, m->m->signals);
    m->comment = OD_TAKE(&t->arena, const char *, m->m->signals);
    for (int j = 0; m->form && m->comment && j < m->m->signals; j++) {
      if (!m->m->signal[j].flaw) m->form[j] = od_can_signal_form_of(m->m, &m->m->signal[j]);
      m->comment[j] = comment_text(t, &m->m->signal[j]);
    }
  }
  t->head = od_table_new((int)columns);
  t->origin = OD_TAKE(&t->arena, od_log_origin, columns);
  if (!t->head || !t->origin) return no_memory(t, err);
  t->head->places.flaw = OD_TAKE(&t->head->arena, const char *, columns);
  if (!t->head->places.flaw || od_table_label(t->head, 0, "time", "s") != OD_OK) return no_memory(t, err);
  return name_columns(s, err);
}

// Describes the losses in sentences for the user.
static od_status make_remarks(trace *t, od_error *err) {
  const od_can_losses *l = &t->losses;
  od_arena *a = &t->arena;
  int n = 0;
  if (l->unknown > 0)
    t->remark[n++] = od_arena_format(a, "the databases have no message for %ld of %s", l->unknown,
                                     od_count(l->frames, "frame").text);
  if (l->short_data > 0)
    t->remark[n++] = od_arena_format(a, "%s %s shorter than the message in the database",
                                     od_count(l->short_data, "frame").text, od_form(l->short_data, "is", "are"));
  if (l->incomplete > 0)
    t->remark[n++] = od_arena_format(a, "%s of several frames %s incomplete: packets are lost, late or aborted",
                                     od_count(l->incomplete, "message").text, od_form(l->incomplete, "is", "are"));
  if (l->errors > 0) t->remark[n++] = od_arena_format(a, "the trace has %s", od_count(l->errors, "error frame").text);
  return od_arena_status(a) == OD_OK ? OD_OK : no_memory(t, err);
}

// --- Streams ----------------------------------------------------------------------------------------------------------

static void free_trace(trace *t) {
  for (int i = 0; i < t->dbcs; i++) od_dbc_free(t->dbc[i]);
  od_key_map_free(&t->by_id);
  od_key_map_free(&t->by_group);
  od_key_map_free(&t->by_use);
  od_key_map_free(&t->by_route);
  od_free(t->route);
  od_table_free(t->head);
  od_arena_free(&t->arena);
  od_free(t);
}

void od_can_stream_close(void *opened) {
  stream *s = opened;
  if (!s) return;
  if (s->source) s->trace->kind->close(s->source);
  if (!s->shares && s->trace) free_trace(s->trace);
  od_transport_free(s->transport);
  od_can_sorter_free(&s->sorter);
  od_free(s->active_first);
  od_free(s->active);
  od_free(s->column);
  od_free(s);
}

// Creates a stream, which owns the source. If the function returns NULL, the source is closed.
static stream *new_stream(trace *t, void *source) {
  stream *s = od_calloc(1, sizeof *s);
  if (!s) {
    t->kind->close(source);
    return NULL;
  }
  s->trace = t;
  s->source = source;
  return s;
}

// Allocates the arrays of a stream, selects all columns and prepares the sorter.
static od_status prepare(stream *s, od_error *err) {
  trace *t = s->trace;
  size_t columns = (size_t)t->head->columns;
  s->active_first = od_calloc((size_t)t->uses + 1, sizeof *s->active_first);
  s->active = od_calloc(columns, sizeof *s->active);
  s->column = od_calloc(columns, sizeof *s->column);
  if (!s->active_first || !s->active || !s->column) return no_memory(t, err);
  od_can_stream_want(s, NULL);
  return prepare_sorter(s, err);
}

od_status od_can_stream_open(const od_can_source *kind, void *source, const char *path, const od_table_wish *wish,
                             void **out, od_error *err) {
  trace *t = od_calloc(1, sizeof *t);
  *out = NULL;
  if (!t) {
    kind->close(source);
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  }
  t->kind = kind;
  t->path = od_arena_text(&t->arena, path);
  stream *s = t->path ? new_stream(t, source) : NULL;
  if (!s) {
    if (!t->path) kind->close(source);
    free_trace(t);
    return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", path);
  }
  od_status status = read_databases(t, wish->databases, err);
  if (status == OD_OK && t->has_j1939 && !(s->transport = od_transport_new())) status = no_memory(t, err);
  if (status == OD_OK && t->dbcs == 0) status = no_database(s, err);
  if (status == OD_OK) status = scan_all(s, LONG_MAX, err);
  if (status == OD_OK && t->uses == 0) status = no_messages(t, "no message of the databases occurs in the trace", err);
  if (status == OD_OK) status = make_columns(s, err);
  if (status == OD_OK) status = make_remarks(t, err);
  if (status == OD_OK) status = prepare(s, err);
  to_start(s);
  if (status == OD_OK)
    *out = s;
  else
    od_can_stream_close(s);
  return status;
}

od_status od_can_stream_again(const void *opened, void **out, od_error *err) {
  const stream *first = opened;
  trace *t = first->trace;
  void *source;
  *out = NULL;
  od_status status = t->kind->again(first->source, &source, err);
  if (status != OD_OK) return status;
  stream *s = new_stream(t, source);
  if (!s) return no_memory(t, err);
  s->shares = true;
  if (t->has_j1939 && !(s->transport = od_transport_new())) status = no_memory(t, err);
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
  trace *t = s->trace;
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

// Returns whether a value is in the ranges of a signal.
static bool is_in_ranges(const od_dbc_signal *s, uint64_t raw) {
  int low = 0, high = s->ranges;  // the ranges before `low` begin at or below the value
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (s->range[middle].from <= raw)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && raw <= s->range[low - 1].to;
}

// Returns whether the switches of a signal have values with which the signal is present.
static bool is_present(const message *m, const od_dbc_signal *s, const uint8_t *data, int length) {
  while (s->by >= 0) {
    const od_dbc_signal *by = &m->m->signal[s->by];
    const od_can_signal_form *form = &m->form[s->by];
    if (by->flaw || form->end > length || !is_in_ranges(s, od_can_signal_raw(form, data))) return false;
    s = by;
  }
  return true;
}

// Fills a row from the data of a use. Returns whether a wanted signal is present.
static bool fill_row(const stream *s, int index, double time, const uint8_t *data, int length, double *values) {
  const trace *t = s->trace;
  const use *u = &t->use[index];
  const message *m = &t->message[u->message];
  bool has_value = false;
  int from = s->active_first[index], to = s->active_first[index + 1];
  if (from == to) return false;
  for (int i = 0; i < s->columns; i++) values[s->column[i]] = NAN;
  values[0] = time;
  for (int i = from; i < to; i++) {
    const od_dbc_signal *signal = &m->m->signal[s->active[i]];
    const od_can_signal_form *form = &m->form[s->active[i]];
    if (signal->flaw || (signal->by >= 0 && !is_present(m, signal, data, length))) continue;
    has_value = true;
    if (form->end <= length) values[s->column[i]] = od_can_signal_value(form, od_can_signal_raw(form, data));
  }
  return has_value;
}

od_status od_can_stream_next(void *opened, double *values, bool *end, od_error *err) {
  stream *s = opened;
  trace *t = s->trace;
  route other;
  *end = false;
  for (;;) {
    if (s->has_pending) {
      const od_can_message *m = &s->pending;
      const route *r = find_route(t, m->bus, m->id, true, &other);
      s->has_pending = false;
      if (r->use >= 0 && fill_row(s, r->use, m->time, m->data, m->length, values)) return OD_OK;
    }
    od_can_frame *f = &s->frame;
    od_status status = next_frame(s, f, end, err);
    if (status != OD_OK || *end) return status;
    if (!is_data(f)) continue;
    const route *r = find_route(t, f->bus, f->id, is_extended(f), &other);
    if ((r->is_control || r->is_fast) && take_packet(s, f, r) != OD_OK) return no_memory(t, err);
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
  const trace *t = ((const stream *)opened)->trace;
  for (int i = 0; i < index; i++)
    if (!t->remark[i]) return NULL;
  return t->remark[index];
}
