// A birth defines metrics and their aliases. The birth of the node also starts the sequence numbers (0 to 255) of all messages of the node again.
// Messages are counted without these restarts: number = 256 k + sequence. A birth of the node begins with the next k, and k increases by 1 after the
// sequence number 255.
#include "sources/sparkplug_node.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/byte_hash.h"
#include "formats/key_map.h"
#include "io/utf8.h"
#include "io/wording.h"
#include "memory/scoped.h"
#include "sources/sparkplug_payload.h"

enum { MOST_COLUMNS = 4096, LONGEST_NAME = 200, NUMBERS = 256 };

static const double request_pause = 5;  // shortest time between two requests for births, s
static const double reorder_time = 1;   // time that a missing message has to arrive before births are requested, s
static const uint64_t latest_time = 253402300799999;  // the end of the year 9999, ms since 1970

typedef enum kind { NODE_BIRTH, NODE_DEATH, NODE_DATA, DEVICE_BIRTH, DEVICE_DEATH, DEVICE_DATA, KINDS } kind;

typedef enum arrival { IN_ORDER, LATE, REPEATED } arrival;

// A metric of the last birth. column 0: its values are not used.
typedef struct known_metric {
  int column;
  uint32_t type;
} known_metric;

typedef struct value {
  uint64_t time;  // ms since 1970
  bool is_historical;
  int order, column;
  double number;
} value;

struct od_sparkplug_node {
  const od_twin_source *settings;
  char what[300];  // the node or device, for messages
  od_arena memory;
  od_table *head;  // NULL: not known before the first birth
  double *cells;
  known_metric *of_column;  // the metric of each column in the last birth
  bool *is_found;           // per column: whether the last birth has its metric
  od_key_map columns;       // from the hash of the name of a metric to its column
  od_key_map aliases;       // from an alias to the index in `known`
  known_metric *known;
  int knowns, known_room;
  value *value;
  int values, value_room;

  bool is_node_born, is_born;  // whether there is a valid birth of the node, and of the node or device with the metrics
  bool is_reported;            // whether a message that needs a new birth has been reported
  bool has_death;              // whether the birth has the number `death`, which its death message repeats
  uint64_t death;
  int64_t next;           // next number of a message
  int64_t changed;        // number of the last birth or death of the node or device with the metrics
  bool arrived[NUMBERS];  // which of the last 256 numbers have arrived, by sequence
  long missing;           // number of messages that have not arrived since the last birth of the node
  bool has_newest;
  uint64_t newest;  // time of the last message that was in order or repeated, ms since 1970

  const char *reason;  // why births are wanted; NULL: no births are wanted
  double due, asked;   // time from which births are requested; time of the last request, s
};

static const char *const lost = "messages are missing", *const unborn = "a message arrived before a birth",
                         *const unknown = "a message has an unknown alias", *const begun = "the connection is new";

// --- Columns ------------------------------------------------------------------------------------------------------

static uint64_t hash_of(const void *name, size_t length) {
  return od_hash_bytes(OD_HASH_START, name, length);
}

// Returns the column of the metric with a name; 0: no column.
static int find_column(const od_sparkplug_node *n, od_sparkplug_bytes name) {
  const int column = name.at ? od_key_map_find(&n->columns, hash_of(name.at, name.length)) : -1;
  if (column < 0 || strlen(n->head->name[column]) != name.length) return 0;
  return memcmp(n->head->name[column], name.at, name.length) == 0 ? column : 0;
}

// Makes the table of the columns: the time, then `count` metrics with their names and units. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status make_head(od_sparkplug_node *n, const char *const *names, const char *const *units, int count,
                           od_error *err) {
  n->head = od_table_new(count + 1);
  n->cells = OD_TAKE(&n->memory, double, count + 1);
  n->of_column = OD_TAKE(&n->memory, known_metric, count + 1);
  n->is_found = OD_TAKE(&n->memory, bool, count + 1);
  if (!n->head || od_arena_status(&n->memory) != OD_OK || od_table_label(n->head, 0, "time", "s") != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < count; i++) {
    const uint64_t hash = hash_of(names[i], strlen(names[i]));
    if (od_key_map_find(&n->columns, hash) >= 0)
      return od_fail(err, OD_BAD_INPUT, "%s: the column '%.60s' is given twice; remove one of them", n->settings->name,
                     names[i]);
    if (od_table_label(n->head, i + 1, names[i], units[i]) != OD_OK || !od_key_map_add(&n->columns, hash, i + 1))
      return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  return OD_OK;
}

// Makes the columns of the settings.
static od_status take_settings(od_sparkplug_node *n, od_error *err) {
  OD_SCRATCH(scratch);
  const char **names = OD_TAKE(&scratch, const char *, MOST_COLUMNS),
             **units = OD_TAKE(&scratch, const char *, MOST_COLUMNS);
  int count = 0;
  for (int i = 0; names && units && n->settings->column[i]; i++) {
    char *name = od_arena_text(&scratch, n->settings->column[i]);
    if (!name) break;
    const char *unit = od_label_split(name);
    if (strcmp(name, "time") == 0) continue;
    if (count == MOST_COLUMNS - 1)
      return od_fail(err, OD_BAD_INPUT, "%s: 'columns' has more than %d metrics; remove the others", n->settings->name,
                     MOST_COLUMNS - 1);
    names[count] = name;
    units[count++] = unit ? unit : "";
  }
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (count == 0)
    return od_fail(err, OD_BAD_INPUT, "%s: 'columns' has no metric; expected names of metrics", n->settings->name);
  return make_head(n, names, units, count, err);
}

// Returns whether a metric of a birth becomes a column if the settings have no list.
static bool is_measurement(const od_sparkplug_metric *m) {
  static const char control[] = "Node Control/", device[] = "Device Control/";
  const od_sparkplug_bytes name = m->name;
  if (!od_sparkplug_is_number(m->type) || !name.at || name.length == 0 || name.length > LONGEST_NAME) return false;
  if (memchr(name.at, 0, name.length) || !od_utf8_has_only((const char *)name.at, name.length)) return false;
  if (name.length == 5 && memcmp(name.at, "bdSeq", 5) == 0) return false;
  if (name.length >= sizeof control - 1 && memcmp(name.at, control, sizeof control - 1) == 0) return false;
  return name.length < sizeof device - 1 || memcmp(name.at, device, sizeof device - 1) != 0;
}

// Makes columns of the measurements of a birth, at most MOST_COLUMNS with the time. Fails with OD_BAD_INPUT if there are none, or with OD_NO_MEMORY.
static od_status take_metrics(od_sparkplug_node *n, od_sparkplug_payload p, od_error *err) {
  OD_SCRATCH(scratch);
  const char **names = OD_TAKE(&scratch, const char *, MOST_COLUMNS),
             **units = OD_TAKE(&scratch, const char *, MOST_COLUMNS);
  od_key_map seen = {0};
  int count = 0;
  bool ok = names && units;
  for (od_sparkplug_metric m; ok && count < MOST_COLUMNS - 1 && od_sparkplug_next(&p, &m);) {
    const uint64_t hash = is_measurement(&m) ? hash_of(m.name.at, m.name.length) : 0;
    if (!is_measurement(&m) || od_key_map_find(&seen, hash) >= 0) continue;
    char *name = OD_TAKE(&scratch, char, m.name.length + 1);
    ok = name && od_key_map_add(&seen, hash, count);
    if (!ok) break;
    memcpy(name, m.name.at, m.name.length);
    names[count] = name;
    units[count++] = "";
  }
  od_key_map_free(&seen);
  if (!ok) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (count == 0) return od_fail(err, OD_BAD_INPUT, "the birth has no metric with a number");
  return make_head(n, names, units, count, err);
}

od_status od_sparkplug_node_new(const od_twin_source *settings, od_sparkplug_node **out, od_error *err) {
  od_sparkplug_node *n = od_calloc(1, sizeof *n);
  *out = NULL;
  if (!n) return od_fail(err, OD_NO_MEMORY, "out of memory");
  n->settings = settings;
  n->asked = -INFINITY;
  if (settings->device)
    snprintf(n->what, sizeof n->what, "the device '%.80s' of the node '%.80s'", settings->device, settings->node);
  else
    snprintf(n->what, sizeof n->what, "the node '%.80s'", settings->node);
  const od_status status = settings->column ? take_settings(n, err) : OD_OK;
  if (status == OD_OK)
    *out = n;
  else
    od_sparkplug_node_free(n);
  return status;
}

void od_sparkplug_node_free(od_sparkplug_node *n) {
  if (!n) return;
  od_key_map_free(&n->columns);
  od_key_map_free(&n->aliases);
  od_free(n->known);
  od_free(n->value);
  od_table_free(n->head);
  od_arena_free(&n->memory);
  od_free(n);
}

// --- Requests for births ------------------------------------------------------------------------------------------

static void want_births(od_sparkplug_node *n, const char *reason, double due) {
  if (n->reason && n->due <= due) return;
  n->reason = reason;
  n->due = due;
}

// Called for a message that cannot be used completely without a new birth. Wants births, and reports the first such message since the last birth or
// connection.
static void need_birth(od_sparkplug_node *n, const char *reason, double now, const od_receiver *to) {
  want_births(n, reason, now);
  if (n->is_reported) return;
  char text[400];
  snprintf(text, sizeof text, "%s: %s; values are lost until the next birth", n->what, reason);
  to->refuse(to->user, text);
  n->is_reported = true;
}

const char *od_sparkplug_node_asks(od_sparkplug_node *n, double now) {
  if (!n->reason || now < n->due || now < n->asked + request_pause) return NULL;
  const char *reason = n->reason;
  n->asked = now;
  n->reason = NULL;
  return reason;
}

static void forget_aliases(od_sparkplug_node *n) {
  od_key_map_free(&n->aliases);
  n->knowns = 0;
  n->is_born = false;
}

void od_sparkplug_node_connect(od_sparkplug_node *n, double now) {
  forget_aliases(n);
  n->is_node_born = false;
  n->is_reported = false;
  want_births(n, begun, now);
}

// --- Sequence numbers ---------------------------------------------------------------------------------------------

// Begins a new sequence at the birth of the node. Returns the number of the birth.
static int64_t begin_numbers(od_sparkplug_node *n, const od_sparkplug_payload *p, const od_receiver *to) {
  const int64_t number = (n->next + NUMBERS - 1) / NUMBERS * NUMBERS + (int64_t)p->sequence;
  n->next = number + 1;
  n->missing = 0;
  for (int i = 0; i < NUMBERS; i++) n->arrived[i] = true;
  n->has_newest = p->has_time;
  n->newest = p->time;
  n->reason = NULL;
  to->number(to->user, -1);
  return number;
}

// Finds the number of a message from its sequence number. If this is not the next sequence number, the message is an earlier one if its time is
// earlier than the newest time, or if its time is equal and the sequence number is closer to the past; otherwise the messages before this one are
// missing, and births are wanted. *number receives the number of the message.
static arrival follow_numbers(od_sparkplug_node *n, const od_sparkplug_payload *p, double now, int64_t *number) {
  const int sequence = (int)p->sequence, expected = (int)(n->next % NUMBERS);
  const int forward = (sequence - expected + NUMBERS) % NUMBERS, back = NUMBERS - forward;
  const bool has_times = p->has_time && n->has_newest, is_earlier = has_times && p->time < n->newest,
             is_equal = has_times && p->time == n->newest;
  if (forward > 0 && (is_earlier || (is_equal && back <= forward))) {
    *number = n->next - back;
    if (n->arrived[sequence]) {
      n->newest = p->time;
      return REPEATED;
    }
    n->arrived[sequence] = true;
    if (--n->missing == 0 && n->reason == lost) n->reason = NULL;
    return LATE;
  }
  for (int i = 0; i < forward; i++) n->arrived[(expected + i) % NUMBERS] = false;
  n->arrived[sequence] = true;
  n->missing += forward;
  *number = n->next + forward;
  n->next = *number + 1;
  n->has_newest = p->has_time;
  n->newest = p->time;
  if (forward > 0) want_births(n, lost, now + reorder_time);
  return IN_ORDER;
}

// --- Samples ------------------------------------------------------------------------------------------------------

static void clear_cells(od_sparkplug_node *n) {
  for (int c = 0; c < n->head->columns; c++) n->cells[c] = NAN;
}

static int compare_values(const void *a, const void *b) {
  const value *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  if (x->is_historical != y->is_historical) return x->is_historical ? 1 : -1;
  return (x->order > y->order) - (x->order < y->order);
}

static bool add_value(od_sparkplug_node *n, const value *v) {
  if (n->values == n->value_room) {
    const int room = n->value_room > 0 ? 2 * n->value_room : 64;
    value *larger = od_realloc(n->value, (size_t)room * sizeof *larger);
    if (!larger) return false;
    n->value = larger;
    n->value_room = room;
  }
  n->value[n->values] = *v;
  n->value[n->values].order = n->values;
  n->values++;
  return true;
}

// Passes the values on in the order of their times. Values with the same time are a sample; historical values are a sample of their own.
static void pass_values(od_sparkplug_node *n, const od_receiver *to) {
  if (n->values > 1) qsort(n->value, (size_t)n->values, sizeof *n->value, compare_values);
  for (int i = 0, end; i < n->values; i = end) {
    const value *first = &n->value[i];
    clear_cells(n);
    n->cells[0] = (double)first->time / 1000;
    for (end = i;
         end < n->values && n->value[end].time == first->time && n->value[end].is_historical == first->is_historical;
         end++)
      n->cells[n->value[end].column] = n->value[end].number;
    to->cells(to->user, n->head, n->cells, first->is_historical);
  }
}

// Finds the column and the data type of a metric of a data message. Returns false if the metric has no name and no known alias.
static bool find_metric(const od_sparkplug_node *n, const od_sparkplug_metric *m, known_metric *out) {
  *out = (known_metric){0};
  if (m->name.at && m->name.length > 0) {
    const int column = find_column(n, m->name);
    if (column > 0) *out = (known_metric){column, n->of_column[column].type};
    return true;
  }
  const int index = m->has_alias ? od_key_map_find(&n->aliases, m->alias) : -1;
  if (index >= 0) *out = n->known[index];
  return index >= 0;
}

static void take_data(od_sparkplug_node *n, od_sparkplug_payload p, double now, const od_receiver *to) {
  n->values = 0;
  for (od_sparkplug_metric m; od_sparkplug_next(&p, &m);) {
    known_metric k;
    if (!find_metric(n, &m, &k)) {
      need_birth(n, unknown, now, to);
      continue;
    }
    const double number = k.column > 0 ? od_sparkplug_number(&m, m.type ? m.type : k.type) : (double)NAN;
    if (isnan(number)) continue;
    const uint64_t time = m.has_time ? m.time : p.time;
    if (!(m.has_time || p.has_time) || time > latest_time) {
      to->refuse(to->user, "a value has no valid time; expected ms since 1970, up to the year 9999");
      return;
    }
    if (!add_value(n, &(value){.time = time, .is_historical = m.is_historical, .column = k.column, .number = number})) {
      to->refuse(to->user, "out of memory");
      return;
    }
  }
  pass_values(n, to);
}

// --- Births and deaths --------------------------------------------------------------------------------------------

static bool add_alias(od_sparkplug_node *n, uint64_t alias, known_metric k) {
  if (od_key_map_find(&n->aliases, alias) >= 0) return true;
  if (n->knowns == n->known_room) {
    const int room = n->known_room > 0 ? 2 * n->known_room : 64;
    known_metric *larger = od_realloc(n->known, (size_t)room * sizeof *larger);
    if (!larger) return false;
    n->known = larger;
    n->known_room = room;
  }
  n->known[n->knowns] = k;
  return od_key_map_add(&n->aliases, alias, n->knowns++);
}

// Reports a birth with its number of metrics, and the columns without a metric in this birth.
static void report_birth(const od_sparkplug_node *n, int metrics, const od_receiver *to) {
  od_name_list lacks = {.most = 6};
  char text[400];
  for (int c = 1; c < n->head->columns; c++)
    if (!n->is_found[c]) od_name_list_add(&lacks, "%.60s", n->head->name[c]);
  const int used = snprintf(text, sizeof text, "%s has begun, with %s", n->what, od_count(metrics, "metric").text);
  if (lacks.count > 0)
    snprintf(text + used, sizeof text - (size_t)used, "; not among them: %.150s", od_name_list_text(&lacks));
  to->event(to->user, "birth", text);
}

// Takes the birth of the node or device with the metrics. Its values, except historical ones, are a sample at the time of the message; NAN: the
// message has no valid time.
static void take_birth(od_sparkplug_node *n, od_sparkplug_payload p, const od_receiver *to) {
  const int metrics = p.metrics;
  od_error err = {0};
  forget_aliases(n);
  if (!n->head && take_metrics(n, p, &err) != OD_OK) {
    to->refuse(to->user, err.text);
    od_table_free(n->head);
    od_key_map_free(&n->columns);
    n->head = NULL;
    return;
  }
  clear_cells(n);
  memset(n->is_found, 0, (size_t)n->head->columns * sizeof *n->is_found);
  for (od_sparkplug_metric m; od_sparkplug_next(&p, &m);) {
    const known_metric k = {find_column(n, m.name), m.type};
    if (m.has_alias && !add_alias(n, m.alias, k)) {
      to->refuse(to->user, "out of memory");
      forget_aliases(n);
      return;
    }
    if (k.column == 0) continue;
    n->of_column[k.column] = k;
    n->is_found[k.column] = true;
    if (!m.is_historical) n->cells[k.column] = od_sparkplug_number(&m, m.type);
  }
  n->is_born = true;
  n->is_reported = false;
  report_birth(n, metrics, to);
  n->cells[0] = p.has_time && p.time <= latest_time ? (double)p.time / 1000 : (double)NAN;
  to->cells(to->user, n->head, n->cells, false);
}

static void take_death(od_sparkplug_node *n, const char *what, const od_receiver *to) {
  char text[400];
  snprintf(text, sizeof text, "%s has ended (%s)", n->what, what);
  if (n->is_born) to->event(to->user, "death", text);
  forget_aliases(n);
}

// Finds the number "bdSeq", which the birth and the death of a connection have in common. Returns false if there is none.
static bool find_death_number(od_sparkplug_payload p, uint64_t *out) {
  for (od_sparkplug_metric m; od_sparkplug_next(&p, &m);)
    if (m.name.length == 5 && memcmp(m.name.at, "bdSeq", 5) == 0 &&
        (m.field == OD_SPARKPLUG_LONG || m.field == OD_SPARKPLUG_INT)) {
      *out = m.whole;
      return true;
    }
  return false;
}

// --- Messages -----------------------------------------------------------------------------------------------------

// Returns whether a text begins with a part of a topic. If so, *at moves to the part after this one.
static bool take_part(const char **at, const char *part) {
  const size_t length = strlen(part);
  if (strncmp(*at, part, length) != 0 || ((*at)[length] != '/' && (*at)[length] != '\0')) return false;
  *at += length + ((*at)[length] == '/');
  return true;
}

// Returns the kind of a message from its topic; KINDS: any other topic, such as a command or a message of another node. *device: the device, or "".
static kind kind_of(const od_twin_source *s, const char *topic, const char **device) {
  static const char *const names[KINDS] = {"NBIRTH", "NDEATH", "NDATA", "DBIRTH", "DDEATH", "DDATA"};
  if (!take_part(&topic, "spBv1.0") || !take_part(&topic, s->group)) return KINDS;
  for (int k = 0; k < KINDS; k++) {
    if (!take_part(&topic, names[k])) continue;
    if (!take_part(&topic, s->node) || (k >= DEVICE_BIRTH) != (*topic != '\0')) return KINDS;
    *device = topic;
    return (kind)k;
  }
  return KINDS;
}

// Returns whether the body of a payload is another, compressed payload (a form of some libraries, not of the standard).
static bool is_compressed(const od_sparkplug_payload *p) {
  static const char mark[] = "SPBV1.0_COMPRESSED";
  return p->uuid.length == sizeof mark - 1 && memcmp(p->uuid.at, mark, sizeof mark - 1) == 0;
}

// Takes a message of the node or device with the metrics.
static void take_own(od_sparkplug_node *n, kind k, const od_sparkplug_payload *p, arrival a, int64_t number, double now,
                     const od_receiver *to) {
  const bool is_data = k == NODE_DATA || k == DEVICE_DATA;
  if (is_data && !n->is_born) need_birth(n, unborn, now, to);
  if ((is_data && !n->is_born) || (!is_data && a == REPEATED) || (number >= 0 && number < n->changed)) return;
  if (!is_data && number >= 0) n->changed = number;
  if (is_data) take_data(n, *p, now, to);
  if (k == NODE_BIRTH || k == DEVICE_BIRTH) take_birth(n, *p, to);
  if (k == DEVICE_DEATH) take_death(n, "DDEATH", to);
}

void od_sparkplug_node_take(od_sparkplug_node *n, const char *topic, const void *payload, size_t size, double now,
                            const od_receiver *to) {
  const od_twin_source *s = n->settings;
  const char *device = "";
  const kind k = kind_of(s, topic, &device);
  od_sparkplug_payload p;
  od_error err = {0};
  if (k == KINDS) return;
  if (od_sparkplug_read(payload, size, &p, &err) != OD_OK) {
    to->refuse(to->user, err.text);
    return;
  }
  if (is_compressed(&p)) {
    to->refuse(to->user, "the payload is compressed; switch the compression of the node off");
    return;
  }
  if (p.has_sequence && p.sequence >= NUMBERS) {
    char text[96];
    snprintf(text, sizeof text, "the sequence number of the message is %llu; expected 0 to 255",
             (unsigned long long)p.sequence);
    to->refuse(to->user, text);
    return;
  }
  uint64_t death = 0;
  if (k == NODE_DEATH) {
    // The death of an earlier connection of the node may arrive after the next birth.
    if (n->has_death && find_death_number(p, &death) && death != n->death) return;
    take_death(n, "NDEATH", to);
    n->is_node_born = false;
    return;
  }
  int64_t number = -1;
  arrival a = IN_ORDER;
  if (k == NODE_BIRTH) {
    n->has_death = find_death_number(p, &n->death);
    number = begin_numbers(n, &p, to);
    n->is_node_born = true;
    if (s->device) forget_aliases(n);
  } else if (!n->is_node_born) {
    need_birth(n, unborn, now, to);
    return;
  } else if (p.has_sequence) {
    a = follow_numbers(n, &p, now, &number);
  }
  const bool is_own = s->device ? k >= DEVICE_BIRTH && strcmp(device, s->device) == 0 : k < DEVICE_BIRTH;
  if (is_own) take_own(n, k, &p, a, number, now, to);
  if (number >= 0 && a != REPEATED) to->number(to->user, number);
}
