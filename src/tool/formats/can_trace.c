#include "formats/can_trace.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "formats/can_transport.h"
#include "io/table.h"
#include "io/wording.h"

enum {
  MOST_ROUTES = 1 << 20,  // largest number of stored routes; frames of further identifiers are looked up in the
                          // databases one by one
  SHOWN_IDS = 12,
  NULL_ADDRESS = 254  // source address of messages that any source may send
};

od_status od_can_trace_no_memory(const od_can_trace *t, od_error *err) {
  return od_fail(err, OD_NO_MEMORY, "out of memory while reading %s", t->path);
}

void od_can_trace_free(od_can_trace *t) {
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

// --- Databases --------------------------------------------------------------------------------------------------------

// Returns the key of a J1939 message. kind: 0 for the PGN alone, 1 for PGN and source address, 2 for PGN, source and destination.
static uint64_t group_key(int kind, uint32_t pgn, uint32_t from, int to) {
  return (uint64_t)kind << 40 | (uint64_t)pgn << 16 | (kind > 0 ? from << 8 : 0) | (kind > 1 ? (uint32_t)to : 0);
}

static bool add_once(od_key_map *map, uint64_t key, int index) {
  return od_key_map_find(map, key) >= 0 || od_key_map_add(map, key, index);
}

static bool add_groups(od_can_trace *t, int index) {
  const od_dbc_message *m = t->message[index].m;
  uint32_t pgn = od_j1939_pgn(m->id), from = m->id & 0xff;
  for (int kind = 0; kind < 3; kind++)
    if (!add_once(&t->by_group, group_key(kind, pgn, from, od_j1939_destination(m->id)), index)) return false;
  t->has_j1939 = true;
  return true;
}

// Builds the maps from identifiers to messages. The first database with an identifier has priority, and messages from
// any source address precede messages from one source. Returns false if an allocation fails.
static bool index_messages(od_can_trace *t) {
  int k = 0;
  for (int i = 0; i < t->dbcs; i++) t->messages += t->dbc[i]->messages;
  t->message = OD_TAKE(&t->arena, od_can_used, t->messages);
  if (!t->message) return false;
  for (int i = 0; i < t->dbcs; i++)
    for (int j = 0; j < t->dbc[i]->messages; j++)
      t->message[k++] = (od_can_used){.dbc = t->dbc[i], .m = &t->dbc[i]->message[j]};
  for (int i = 0; i < k; i++) {
    const od_dbc_message *m = t->message[i].m;
    if (!m->is_j1939 && !add_once(&t->by_id, m->id | (m->is_extended ? 0x80000000u : 0), i)) return false;
    if (m->is_j1939 && (m->id & 0xff) == NULL_ADDRESS && !add_groups(t, i)) return false;
  }
  for (int i = 0; i < k; i++)
    if (t->message[i].m->is_j1939 && (t->message[i].m->id & 0xff) != NULL_ADDRESS && !add_groups(t, i)) return false;
  return true;
}

int od_can_trace_find(const od_can_trace *t, uint32_t id, bool is_extended) {
  int found = od_key_map_find(&t->by_id, id | (is_extended ? 0x80000000u : 0));
  if (!is_extended || !t->has_j1939) return found;
  uint32_t pgn = od_j1939_pgn(id), from = id & 0xff;
  for (int kind = 2; kind >= 0 && found < 0; kind--)
    found = od_key_map_find(&t->by_group, group_key(kind, pgn, from, od_j1939_destination(id)));
  return found;
}

od_status od_can_trace_databases(od_can_trace *t, const char *const *paths, od_error *err) {
  od_error first = {0}, one;
  while (paths && paths[t->dbcs]) t->dbcs++;
  int count = t->dbcs;
  t->dbcs = 0;
  t->dbc = OD_TAKE(&t->arena, od_dbc *, count);
  if (!t->dbc) return od_can_trace_no_memory(t, err);
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
  return index_messages(t) ? OD_OK : od_can_trace_no_memory(t, err);
}

// --- Routes and uses --------------------------------------------------------------------------------------------------

static uint64_t route_key(int bus, uint32_t id, bool is_extended) {
  return (uint64_t)bus << 32 | (is_extended ? 0x80000000u : 0) | id;
}

uint64_t od_can_use_key(int index, int bus, int from) {
  return (uint64_t)index << 32 | (uint64_t)bus << 9 | (uint64_t)(from + 1);
}

// Returns the index of the use of a message on a bus, and adds the use if necessary. -1: an allocation failed.
static int use_of(od_can_trace *t, int index, int bus, int from) {
  uint64_t key = od_can_use_key(index, bus, from);
  int i = od_key_map_find(&t->by_use, key);
  if (i >= 0) return i;
  void *list = od_arena_extend(&t->arena, t->use, t->uses, sizeof *t->use);
  if (!list || !od_key_map_add(&t->by_use, key, t->uses)) return -1;
  t->use = list;
  t->use[t->uses] = (od_can_use){.message = index, .bus = bus, .from = from};
  return t->uses++;
}

// Fills the route of an identifier. adds: whether a new use may be added. False: an allocation failed.
static bool make_route(od_can_trace *t, int bus, uint32_t id, bool is_extended, bool adds, od_can_route *r) {
  int index = od_can_trace_find(t, id, is_extended);
  *r = (od_can_route){.key = route_key(bus, id, is_extended), .use = -1};
  r->is_control = is_extended && t->has_j1939 && od_is_transport(id);
  if (index < 0) return true;
  const od_dbc_message *m = t->message[index].m;
  int from = m->is_j1939 ? (int)(id & 0xff) : -1;
  r->is_fast = m->is_fast;
  r->use = adds ? use_of(t, index, bus, from) : od_key_map_find(&t->by_use, od_can_use_key(index, bus, from));
  return !adds || r->use >= 0;
}

od_can_route *od_can_trace_add_route(od_can_trace *t, int bus, uint32_t id, bool is_extended, od_can_route *other) {
  uint64_t key = route_key(bus, id, is_extended);
  int i = od_key_map_find(&t->by_route, key);
  if (i >= 0) return &t->route[i];
  if (!make_route(t, bus, id, is_extended, true, other)) return NULL;
  if (t->routes == MOST_ROUTES) return other;
  if (t->routes == t->route_room) {
    int room = t->route_room > 0 ? 2 * t->route_room : 64;
    od_can_route *larger = od_realloc(t->route, (size_t)room * sizeof *larger);
    if (!larger) return NULL;
    t->route = larger;
    t->route_room = room;
  }
  if (!od_key_map_add(&t->by_route, key, t->routes)) return NULL;
  t->route[t->routes] = *other;
  return &t->route[t->routes++];
}

const od_can_route *od_can_trace_route(od_can_trace *t, int bus, uint32_t id, bool is_extended, od_can_route *other) {
  int i = od_key_map_find(&t->by_route, route_key(bus, id, is_extended));
  if (i >= 0) return &t->route[i];
  other->use = -1;
  other->is_control = other->is_fast = false;
  if (t->routes == MOST_ROUTES) make_route(t, bus, id, is_extended, false, other);
  return other;
}

// --- Multiplexed signals ----------------------------------------------------------------------------------------------

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

bool od_can_is_present(const od_can_used *m, const od_dbc_signal *s, const uint8_t *data, int length) {
  while (s->by >= 0) {
    const od_dbc_signal *by = &m->m->signal[s->by];
    const od_can_signal_form *form = &m->form[s->by];
    if (by->flaw || form->end > length || !is_in_ranges(s, od_can_signal_raw(form, data))) return false;
    s = by;
  }
  return true;
}

// --- Messages about identifiers -----------------------------------------------------------------------------------------

static int by_id(const void *a, const void *b) {
  uint64_t x = ((const od_can_route *)a)->key & 0xffffffff, y = ((const od_can_route *)b)->key & 0xffffffff;
  return (x > y) - (x < y);
}

od_status od_can_trace_no_messages(od_can_trace *t, const char *problem, od_error *err) {
  od_name_list ids = {.most = SHOWN_IDS};
  if (t->routes > 0) qsort(t->route, (size_t)t->routes, sizeof *t->route, by_id);
  for (int i = 0; i < t->routes; i++) {
    uint32_t id = (uint32_t)t->route[i].key;
    if (t->route[i].frames == 0) continue;
    int digits = id & 0x80000000 ? 8 : 3;
    od_name_list_add(&ids, "%0*X (%s)", digits, (unsigned)(id & 0x1fffffff),
                     od_count(t->route[i].frames, "frame").text);
  }
  if (ids.count == 0)
    return od_fail(err, OD_BAD_INPUT, "%s: the trace has no frames with data; record the trace again", t->path);
  return od_fail(err, OD_BAD_INPUT, "%s: %s; identifiers of the trace: %s", t->path, problem, od_name_list_text(&ids));
}
