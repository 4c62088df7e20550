// The columns of a CAN trace: their names, origins and comments, and remarks about frames that gave no row.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_hash.h"
#include "formats/can_trace.h"
#include "io/table.h"
#include "io/wording.h"
#include "memory/scoped.h"

enum { MOST_SIGNALS = 100000, SHOWN_VALUES = 16 };

static int compare(int a, int b) {
  return (a > b) - (a < b);
}

static int by_message(const void *a, const void *b) {
  const od_can_use *x = a, *y = b;
  int c = compare(x->message, y->message);
  if (c == 0) c = compare(x->bus, y->bus);
  return c != 0 ? c : compare(x->from, y->from);
}

// Sorts the uses, and changes the indices of uses in the routes. Returns false if an allocation fails.
static bool sort_uses(od_can_trace *t) {
  OD_SCRATCH(scratch);
  od_can_use *old = OD_TAKE(&scratch, od_can_use, t->uses);
  int *place = OD_TAKE(&scratch, int, t->uses);
  if (!old || !place) return false;
  memcpy(old, t->use, (size_t)t->uses * sizeof *old);
  qsort(t->use, (size_t)t->uses, sizeof *t->use, by_message);
  od_key_map_free(&t->by_use);
  for (int i = 0; i < t->uses; i++) {
    const od_can_use *u = &t->use[i];
    if (!od_key_map_add(&t->by_use, od_can_use_key(u->message, u->bus, u->from), i)) return false;
  }
  for (int i = 0; i < t->uses; i++)
    place[i] = od_key_map_find(&t->by_use, od_can_use_key(old[i].message, old[i].bus, old[i].from));
  for (int i = 0; i < t->routes; i++)
    if (t->route[i].use >= 0) t->route[i].use = place[t->route[i].use];
  return true;
}

// Counts buses and sources of each message. The uses are sorted by message and bus.
static void count_sources(od_can_trace *t) {
  for (int i = 0, end; i < t->uses; i = end) {
    od_can_used *m = &t->message[t->use[i].message];
    bool seen[257] = {false};
    for (end = i; end < t->uses && t->use[end].message == t->use[i].message; end++) {
      m->buses += end == i || t->use[end].bus != t->use[end - 1].bus;
      m->sources += !seen[t->use[end].from + 1];
      seen[t->use[end].from + 1] = true;
    }
  }
}

// Marks messages of the trace whose name occurs twice, with different identifiers. Returns false if an allocation fails.
static bool mark_shared_names(od_can_trace *t) {
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

static const char *bus_text(const od_can_trace *t, const void *source, int bus, char text[16]) {
  const char *name = t->kind->bus_name ? t->kind->bus_name(source, bus) : NULL;
  if (!name) snprintf(text, 16, "CAN%d", bus);
  return name ? name : text;
}

// Returns the name of a use, such as "EEC1" or "can1.engine/EEC1@17": the bus if the message is on several buses, the database if two
// messages have the name, the name of the message, and the source address if there are several. NULL: an allocation failed.
static const char *use_name(od_can_trace *t, const void *source, const od_can_use *u) {
  const od_can_used *m = &t->message[u->message];
  char bus[16] = "", from[8] = "";
  const char *file = strrchr(m->dbc->path, '/');
  file = file ? file + 1 : m->dbc->path;
  const char *dot = strrchr(file, '.');
  int length = dot ? (int)(dot - file) : (int)strlen(file);
  if (m->sources > 1) snprintf(from, sizeof from, "@%d", u->from);
  return od_arena_format(&t->arena, "%s%s%.*s%s%s%s", m->buses > 1 ? bus_text(t, source, u->bus, bus) : "",
                         m->buses > 1 ? "." : "", m->is_shared ? length : 0, file, m->is_shared ? "/" : "", m->m->name,
                         from);
}

// Returns the origin of a column as a text: the message with its bus and its identifier, or, in J1939, its PGN and source address.
// Returns NULL if an allocation fails.
static const char *group_text(od_can_trace *t, const void *source, const od_can_use *u) {
  const od_dbc_message *m = t->message[u->message].m;
  od_arena *arena = &t->arena;
  char bus[16], id[16];
  const char *on = bus_text(t, source, u->bus, bus);
  snprintf(id, sizeof id, m->is_extended ? "%08X" : "%03X", (unsigned)m->id);
  if (u->from < 0) return od_arena_format(arena, "%s (%s on %s)", m->name, id, on);
  return od_arena_format(arena, "%s (PGN %u from %d on %s)", m->name, (unsigned)od_j1939_pgn(m->id), u->from, on);
}

// Returns the comment of a column: text of the database, signal number of J1939, names of values. Returns NULL if there is no
// comment or an allocation fails.
static const char *comment_text(od_can_trace *t, const od_dbc_signal *s) {
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

static od_status name_columns(od_can_trace *t, const void *source, od_error *err) {
  od_table *head = t->head;
  for (int i = 0; i < t->uses; i++) {
    const od_can_use *u = &t->use[i];
    const od_dbc_message *m = t->message[u->message].m;
    const char *name = use_name(t, source, u), *group = group_text(t, source, u);
    for (int j = 0; name && group && j < m->signals; j++) {
      OD_SCRATCH(scratch);
      int c = u->first + j;
      const char *full = od_arena_format(&scratch, "%s.%s", name, m->signal[j].name);
      if (!full || od_table_label(head, c, full, m->signal[j].unit) != OD_OK) return od_can_trace_no_memory(t, err);
      head->places.flaw[c] = m->signal[j].flaw;
      t->origin[c] = (od_log_origin){.group = group, .comment = t->message[u->message].comment[j]};
    }
  }
  return od_arena_status(&t->arena) == OD_OK ? OD_OK : od_can_trace_no_memory(t, err);
}

od_status od_can_trace_columns(od_can_trace *t, const void *source, od_error *err) {
  long columns = 1;
  if (!sort_uses(t)) return od_can_trace_no_memory(t, err);
  count_sources(t);
  if (!mark_shared_names(t)) return od_can_trace_no_memory(t, err);
  for (int i = 0; i < t->uses; i++) {
    od_can_used *m = &t->message[t->use[i].message];
    t->use[i].first = (int)columns;
    columns += m->m->signals;
    if (columns - 1 > MOST_SIGNALS)
      return od_fail(err, OD_BAD_INPUT,
                     "%s: the messages of the trace have more than %d signals, the largest allowed number", t->path,
                     MOST_SIGNALS);
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
  if (!t->head || !t->origin) return od_can_trace_no_memory(t, err);
  t->head->places.flaw = OD_TAKE(&t->head->arena, const char *, columns);
  if (!t->head->places.flaw || od_table_label(t->head, 0, "time", "s") != OD_OK) return od_can_trace_no_memory(t, err);
  return name_columns(t, source, err);
}

od_status od_can_trace_remarks(od_can_trace *t, od_error *err) {
  const od_can_losses *l = &t->losses;
  od_arena *a = &t->arena;
  int n = 0;
  if (l->unknown > 0)
    t->remark[n++] = od_arena_format(a, "the databases have no message for %ld of %s", l->unknown,
                                     od_count(l->frames, "frame").text);
  if (l->short_data > 0)
    t->remark[n++] = od_arena_format(
        a, "%s %s shorter than the message in the database; check whether the database belongs to the trace",
        od_count(l->short_data, "frame").text, od_form(l->short_data, "is", "are"));
  if (l->incomplete > 0)
    t->remark[n++] = od_arena_format(a, "%s of several frames %s incomplete: packets are lost, late or aborted",
                                     od_count(l->incomplete, "message").text, od_form(l->incomplete, "is", "are"));
  if (l->errors > 0) t->remark[n++] = od_arena_format(a, "the trace has %s", od_count(l->errors, "error frame").text);
  return od_arena_status(a) == OD_OK ? OD_OK : od_can_trace_no_memory(t, err);
}
