// Writes the history. Rows are collected in memory and stored as one block for each machine and transaction; events are collected, too. The rows and
// events of a failed transaction are written by the next transaction.
#include "history/history.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "history/history_file.h"
#include "history/history_reader.h"

enum { MOST_BLOCK_ROWS = 4096 };

// --- Statements ---------------------------------------------------------------------------------------------------

static const char *const statements[OD_STATEMENTS] = {
    [OD_ADD_BLOCK] =
        "INSERT INTO block (machine, first, last, rows, sequence, layout, data) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    [OD_ADD_BUCKET] =
        "INSERT INTO bucket (channel, level, number, count, min, max, sum) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (channel, level, number) "
        "DO UPDATE SET count = excluded.count, min = excluded.min, max = excluded.max, sum = excluded.sum",
    [OD_ADD_ESTIMATE] =
        "INSERT INTO estimate (channel, t, value, sigma) VALUES ($1, $2, $3, $4) ON CONFLICT (channel, t) DO UPDATE SET value = excluded.value, "
        "sigma = excluded.sigma",
    [OD_ADD_EVENT] = "INSERT INTO event (id, machine, t, clock, kind, text) VALUES ($1, $2, $3, $4, $5, $6)",
    [OD_ADD_CHECKPOINT] =
        "INSERT INTO checkpoint (machine, t, sequence, clock, state) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (machine) DO UPDATE SET t = excluded.t, "
        "sequence = excluded.sequence, clock = excluded.clock, state = excluded.state",
    [OD_ACKNOWLEDGE] = "UPDATE event SET acknowledged = $1 WHERE id = $2 AND acknowledged IS NULL"};

// The path or the URL, for messages.
static const char *place_of(const od_history *h) {
  return h->settings.url ? h->settings.url : h->settings.file;
}

od_status od_history_fail(od_history *h, const char *what, od_error *err) {
  return od_fail(err, OD_IO, "the history %s cannot be %s: %s", place_of(h), what, h->store->reason);
}

od_status od_history_run(od_history *h, const char *sql, od_error *err) {
  return h->store->class->run(h->store, sql) ? OD_OK : od_history_fail(h, "written", err);
}

od_statement *od_history_prepare(od_history *h, const char *sql, od_error *err) {
  od_statement *s = h->store->class->prepare(h->store, sql);
  if (!s) od_history_fail(h, "used", err);
  return s;
}

od_status od_history_execute(od_history *h, od_statement *s, od_error *err) {
  if (h->store->class->execute(s)) return OD_OK;
  h->has_failed = true;
  return od_history_fail(h, "written", err);
}

bool od_history_next(od_history *h, od_statement *s, od_status *status, od_error *err) {
  const od_step result = *status == OD_OK ? od_statement_step(s) : OD_STEP_DONE;
  if (result == OD_STEP_LATE)
    *status = od_fail(err, OD_IO, "reading the history takes more than %d s; request a shorter time or fewer channels",
                      OD_LONGEST_READING);
  else if (result == OD_STEP_FAILED)
    *status = od_history_fail(h, "read", err);
  return result == OD_STEP_ROW;
}

void od_history_account(od_history *h, double bytes) {
  if (h->store->class->account) h->store->class->account(h->store, bytes);
}

// --- Transactions -------------------------------------------------------------------------------------------------

// Removes the rows and events of a stored transaction from the memory, and copies the pyramids.
static void forget_sent(od_history *h) {
  for (int i = 0; i < h->machines; i++) {
    od_history_machine *m = &h->machine[i];
    if (m->sent == 0) continue;
    const size_t columns = (size_t)m->channels + 1;
    od_pyramid_keep(m);
    m->count -= m->sent;
    memmove(m->rows, m->rows + (size_t)m->sent * columns, (size_t)m->count * columns * sizeof *m->rows);
    m->sent = 0;
  }
  h->new_events -= h->sent_events;
  if (h->new_events > 0)
    memmove(h->new_event, h->new_event + h->sent_events, (size_t)h->new_events * sizeof *h->new_event);
  h->sent_events = 0;
}

// Returns the pyramids to the last commit, and marks the rows and events of a failed transaction, so that the next transaction writes them.
static void return_sent(od_history *h) {
  for (int i = 0; i < h->machines; i++) {
    od_pyramid_return(&h->machine[i]);
    h->machine[i].sent = 0;
  }
  h->sent_events = 0;
}

// Ends a transaction with an outcome. Returns OD_OK if the transaction was committed, else OD_IO.
static od_status end_with(od_history *h, od_outcome outcome, od_error *err) {
  h->in_transaction = h->has_failed = false;
  h->in_doubt = outcome == OD_UNKNOWN;
  if (outcome == OD_COMMITTED) forget_sent(h);
  if (outcome == OD_NOT_COMMITTED) return_sent(h);
  return outcome == OD_COMMITTED ? OD_OK : od_history_fail(h, "written", err);
}

// Finds the outcome of the last transaction if the connection was lost while it ended.
static od_status settle(od_history *h, od_error *err) {
  if (!h->in_doubt) return OD_OK;
  const od_outcome outcome = h->store->class->settle(h->store);
  od_status status = end_with(h, outcome, err);
  return outcome == OD_UNKNOWN ? status : OD_OK;
}

od_status od_history_enter(od_history *h, od_error *err) {
  if (h->has_failed) return od_history_fail(h, "written", err);
  if (h->in_transaction) return OD_OK;
  od_status status = settle(h, err);
  if (status != OD_OK) return status;
  if (!h->store->class->begin(h->store)) return od_history_fail(h, "written", err);
  h->in_transaction = true;
  return OD_OK;
}

// --- Opening ------------------------------------------------------------------------------------------------------

// Migrates the schema to the version of this program, in one transaction. Fails with OD_BAD_INPUT or OD_IO.
static od_status migrate(od_history *h, od_error *err) {
  const od_store_class *class = h->store->class;
  const int64_t version = class->version(h->store);
  if (h->store->refusal) return od_fail(err, OD_BAD_INPUT, "%s %s", place_of(h), h->store->refusal);
  if (version < 0) return od_history_fail(h, "opened", err);
  if (version > OD_HISTORY_VERSION)
    return od_fail(err, OD_BAD_INPUT,
                   "the history %s has version %lld; this program reads versions up to %d. Use a newer oleodyn",
                   place_of(h), (long long)version, OD_HISTORY_VERSION);
  od_status status = version == OD_HISTORY_VERSION ? OD_OK : od_history_enter(h, err);
  for (int64_t i = version; i < OD_HISTORY_VERSION && status == OD_OK; i++)
    status = od_history_run(h, od_history_migration((int)i), err);
  if (status == OD_OK && version < OD_HISTORY_VERSION && !class->set_version(h->store, OD_HISTORY_VERSION))
    status = od_history_fail(h, "written", err);
  return status == OD_OK ? od_history_commit(h, err) : status;
}

// Finds the greatest id of an event: this program numbers the events, so that an event has the same id if it must be written again.
static od_status find_last_event(od_history *h, od_error *err) {
  od_status status = OD_OK;
  od_statement *s = od_history_prepare(h, "SELECT max(id) FROM event", err);
  if (!s) return OD_IO;
  if (od_history_next(h, s, &status, err)) h->last_event = od_column_integer(s, 0);
  od_statement_end(s);
  return status;
}

static od_status open_database(od_history *h, od_error *err) {
  const od_store_class *class = NULL;
  od_status status = od_store_class_of(&h->settings, &class, err);
  h->new_event = OD_TAKE(&h->memory, od_new_event, OD_MOST_NEW_EVENTS);
  if (!h->new_event) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (status == OD_OK) status = class->open(&h->settings, false, &h->store, err);
  if (status == OD_OK) status = migrate(h, err);
  if (status == OD_OK && !class->ready(h->store)) status = od_history_fail(h, "written", err);
  for (int i = 0; i < OD_STATEMENTS && status == OD_OK; i++)
    if (!(h->statement[i] = od_history_prepare(h, statements[i], err))) status = OD_IO;
  return status == OD_OK ? find_last_event(h, err) : status;
}

od_status od_history_open(const od_twin_history *settings, od_history **out, od_error *err) {
  OD_OWNED(od_history_close) od_history *h = od_calloc(1, sizeof *h);
  *out = NULL;
  if (!h) return od_fail(err, OD_NO_MEMORY, "out of memory");
  h->settings = *settings;
  od_status status = open_database(h, err);
  if (status == OD_OK) *out = OD_GIVE(h);
  return status;
}

void od_history_close(od_history *h) {
  if (!h) return;
  for (int i = 0; i < OD_STATEMENTS; i++) od_statement_end(h->statement[i]);
  if (h->store) h->store->class->close(h->store);
  od_arena_free(&h->memory);
  od_free(h);
}

// --- Machines and channels ----------------------------------------------------------------------------------------

// Binds a number (-1: none) and texts (NULL: none) to the first parameters.
static void bind_key(od_statement *s, int64_t number, const char *a, const char *b) {
  int at = 1;
  if (number >= 0) od_bind_integer(s, at++, number);
  od_bind_text(s, at++, a);
  if (b) od_bind_text(s, at, b);
}

// Inserts a row unless it exists, and returns its id; -1 on failure. The parameters of `insert` are number (-1: none), a and b (NULL: none); those of
// `select` number and a.
static int64_t find_or_add(od_history *h, const char *insert, const char *select, int64_t number, const char *a,
                           const char *b, od_error *err) {
  int64_t id = -1;
  od_status status = OD_OK;
  od_statement *add = od_history_prepare(h, insert, err), *find = od_history_prepare(h, select, err);
  if (add && find) {
    bind_key(add, number, a, b);
    bind_key(find, number, a, NULL);
    status = od_history_execute(h, add, err);
    if (od_history_next(h, find, &status, err)) id = od_column_integer(find, 0);
  }
  od_statement_end(add);
  od_statement_end(find);
  return id;
}

od_status od_history_add_machine(od_history *h, const char *name, const char *title, int *machine, double *last,
                                 od_error *err) {
  od_history_machine *list = od_arena_extend(&h->memory, h->machine, h->machines, sizeof *list);
  if (!list) return od_fail(err, OD_NO_MEMORY, "out of memory");
  h->machine = list;
  od_history_machine *m = &list[h->machines];
  *m = (od_history_machine){.last = -INFINITY};
  od_status status = od_history_enter(h, err);
  if (status != OD_OK) return status;
  m->id =
      find_or_add(h, "INSERT INTO machine (name, title) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET title = $2",
                  "SELECT id FROM machine WHERE name = $1", -1, name, title, err);
  if (m->id < 0) return OD_IO;
  od_statement *s = od_history_prepare(h, "SELECT last FROM block WHERE machine = $1 ORDER BY last DESC LIMIT 1", err);
  if (!s) return OD_IO;
  od_bind_integer(s, 1, m->id);
  if (od_history_next(h, s, &status, err)) m->last = od_column_number(s, 0);
  od_statement_end(s);
  if (status != OD_OK) return status;
  *machine = h->machines++;
  *last = m->last;
  return OD_OK;
}

// Finds or adds the layout of a machine: a text with the list of its channels' ids. Fails with OD_IO or OD_NO_MEMORY.
static od_status define_layout(od_history *h, od_history_machine *m, od_error *err) {
  OD_SCRATCH(scratch);
  const size_t room = (size_t)m->channels * 21 + 1;
  char *text = od_arena_take(&scratch, room), *to = text;
  if (!text) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < m->channels; i++)
    to += snprintf(to, room - (size_t)(to - text), "%s%lld", i ? "," : "", (long long)m->channel[i]);
  m->layout = find_or_add(
      h, "INSERT INTO layout (machine, channels) VALUES ($1, $2) ON CONFLICT (machine, channels) DO NOTHING",
      "SELECT id FROM layout WHERE machine = $1 AND channels = $2", m->id, text, NULL, err);
  return m->layout < 0 ? OD_IO : OD_OK;
}

// Allocates the memory of a machine with `count` channels. Fails with OD_NO_MEMORY.
static od_status allocate(od_history *h, od_history_machine *m, int count) {
  m->channel = OD_TAKE(&h->memory, int64_t, count);
  m->sigma = OD_TAKE(&h->memory, int, count);
  m->open = OD_TAKE(&h->memory, od_open_bucket, OD_LEVELS * count);
  m->kept = OD_TAKE(&h->memory, od_open_bucket, OD_LEVELS * count);
  m->last_row = OD_TAKE(&h->memory, double, count + 1);
  m->kept_row = OD_TAKE(&h->memory, double, count + 1);
  m->rows = OD_TAKE_MATRIX(&h->memory, double, MOST_BLOCK_ROWS, count + 1);
  m->capacity = MOST_BLOCK_ROWS;
  return od_arena_status(&h->memory);
}

// Reads the ids of the channels.
static od_status find_channels(od_history *h, od_history_machine *m, const od_history_channel *channel, od_error *err) {
  od_status status = OD_OK;
  od_statement *s = od_history_prepare(h, "SELECT id, name FROM channel WHERE machine = $1", err);
  if (!s) return OD_IO;
  od_bind_integer(s, 1, m->id);
  while (od_history_next(h, s, &status, err))
    for (int i = 0; i < m->channels; i++)
      if (strcmp(channel[i].name, od_column_text(s, 1)) == 0) m->channel[i] = od_column_integer(s, 0);
  od_statement_end(s);
  return status;
}

// Finds or adds the channels and their layout. The ids are valid only after a commit. Fails with OD_IO or OD_NO_MEMORY.
static od_status define_channels(od_history *h, od_history_machine *m, const od_history_channel *channel, int count,
                                 od_error *err) {
  od_status status = od_history_enter(h, err);
  od_statement *add = od_history_prepare(
      h,
      "INSERT INTO channel (machine, name, unit) VALUES ($1, $2, $3) ON CONFLICT (machine, name) DO UPDATE SET unit = $3",
      err);
  if (!add) return OD_IO;
  m->channels = count;
  for (int i = 0; i < count && status == OD_OK; i++) {
    m->sigma[i] = channel[i].sigma;
    bind_key(add, m->id, channel[i].name, channel[i].unit);
    status = od_history_execute(h, add, err);
  }
  od_statement_end(add);
  if (status == OD_OK) status = find_channels(h, m, channel, err);
  return status == OD_OK ? define_layout(h, m, err) : status;
}

od_status od_history_define(od_history *h, int machine, const od_history_channel *channel, int count, od_error *err) {
  od_history_machine *m = &h->machine[machine];
  od_error ignored = {0};
  if (!m->rows && allocate(h, m, count) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = define_channels(h, m, channel, count, err);
  h->has_failed = h->has_failed || status != OD_OK;
  const od_status committed = od_history_commit(h, status == OD_OK ? err : &ignored);
  if (status == OD_OK) status = committed;
  if (status == OD_OK && !m->is_flat) status = od_pyramid_restore(h, m, err);
  if (status != OD_OK) m->channels = 0;
  od_pyramid_keep(m);
  return status;
}

od_status od_history_define_rows(od_history *h, int machine, const od_history_channel *channel, int count,
                                 od_error *err) {
  h->machine[machine].is_flat = true;
  return od_history_define(h, machine, channel, count, err);
}

// --- Data ---------------------------------------------------------------------------------------------------------

// Adds the collected rows to the pyramid, and stores them as a block: the times, then the values of each channel. Fails with
// OD_IO or OD_NO_MEMORY.
static od_status store_rows(od_history *h, od_history_machine *m, od_error *err) {
  OD_SCRATCH(scratch);
  const int columns = m->channels + 1, count = m->count;
  if (count == 0) return OD_OK;
  od_status status = od_history_enter(h, err);
  double *data = OD_TAKE_MATRIX(&scratch, double, count, columns);
  if (!data) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < count && status == OD_OK; i++) {
    if (!m->is_flat) status = od_pyramid_take(h, m, m->rows + i * columns, err);
    for (int c = 0; c < columns; c++) data[c * count + i] = m->rows[i * columns + c];
  }
  if (status != OD_OK) return status;
  od_statement *s = h->statement[OD_ADD_BLOCK];
  const size_t size = (size_t)count * (size_t)columns * sizeof *data;
  od_bind_integer(s, 1, m->id);
  od_bind_number(s, 2, data[0]);
  od_bind_number(s, 3, data[count - 1]);
  od_bind_integer(s, 4, count);
  od_bind_integer(s, 5, m->sequence);
  od_bind_integer(s, 6, m->layout);
  od_bind_bytes(s, 7, data, size);
  od_history_account(h, OD_ROW_BYTES + (double)size);
  m->sent = count;
  return od_history_execute(h, s, err);
}

od_status od_history_add_row(od_history *h, int machine, const double *row, int64_t sequence, od_error *err) {
  od_history_machine *m = &h->machine[machine];
  if (!(row[0] > m->last)) return OD_OK;
  if (m->channels == 0)
    return od_fail(err, OD_IO, "the history %s has no channels of this machine yet; try again later", place_of(h));
  od_status status = m->count == m->capacity ? od_history_commit(h, err) : OD_OK;
  if (status != OD_OK) return status;
  m->last = row[0];
  m->sequence = sequence;
  memcpy(m->rows + m->count++ * (m->channels + 1), row, (size_t)(m->channels + 1) * sizeof *row);
  return OD_OK;
}

// Returns a new entry of the events that the next transaction writes; NULL: there are OD_MOST_NEW_EVENTS already.
static od_new_event *new_event(od_history *h, od_error *err) {
  if (h->new_events < OD_MOST_NEW_EVENTS) return &h->new_event[h->new_events++];
  od_fail(err, OD_IO, "the history %s cannot be written, and %d events wait already", place_of(h), OD_MOST_NEW_EVENTS);
  return NULL;
}

od_status od_history_add_event(od_history *h, int machine, double t, double clock, const char *kind, const char *text,
                               od_error *err) {
  od_new_event *e = new_event(h, err);
  h->event = e ? ++h->last_event : -1;
  if (!e) return OD_IO;
  *e = (od_new_event){.id = h->event, .machine = machine >= 0 ? h->machine[machine].id : 0, .t = t, .clock = clock};
  snprintf(e->kind, sizeof e->kind, "%s", kind);
  snprintf(e->text, sizeof e->text, "%s", text);
  return OD_OK;
}

int64_t od_history_event_id(od_history *h) {
  return h->event;
}

od_status od_history_acknowledge(od_history *h, int64_t event, double clock, od_error *err) {
  od_new_event *e = new_event(h, err);
  if (!e) return OD_IO;
  *e = (od_new_event){.id = event, .clock = clock};
  return OD_OK;
}

static od_status store_events(od_history *h, od_error *err) {
  od_status status = h->new_events > h->sent_events ? od_history_enter(h, err) : OD_OK;
  for (; h->sent_events < h->new_events && status == OD_OK; h->sent_events++) {
    const od_new_event *e = &h->new_event[h->sent_events];
    od_statement *s = h->statement[e->kind[0] ? OD_ADD_EVENT : OD_ACKNOWLEDGE];
    if (e->kind[0]) {
      od_bind_integer(s, 1, e->id);
      if (e->machine > 0) od_bind_integer(s, 2, e->machine);
      od_bind_number(s, 3, e->t);
      od_bind_number(s, 4, e->clock);
      od_bind_text(s, 5, e->kind);
      od_bind_text(s, 6, e->text);
      od_history_account(h, OD_ROW_BYTES + (double)strlen(e->text));
    } else {
      od_bind_number(s, 1, e->clock);
      od_bind_integer(s, 2, e->id);
    }
    status = od_history_execute(h, s, err);
  }
  return status;
}

od_status od_history_add_checkpoint(od_history *h, int machine, double t, int64_t sequence, double clock,
                                    const od_checkpoint *c, od_error *err) {
  od_status status = od_history_enter(h, err);
  if (status != OD_OK) return status;
  od_statement *s = h->statement[OD_ADD_CHECKPOINT];
  od_bind_integer(s, 1, h->machine[machine].id);
  od_bind_number(s, 2, t);
  od_bind_integer(s, 3, sequence);
  od_bind_number(s, 4, clock);
  od_bind_bytes(s, 5, c->bytes, c->size);
  return od_history_execute(h, s, err);
}

od_status od_history_read_checkpoint(od_history *h, int machine, double *t, int64_t *sequence, od_checkpoint *c,
                                     od_error *err) {
  od_status status = OD_OK;
  od_statement *s = od_history_prepare(h, "SELECT t, sequence, state FROM checkpoint WHERE machine = $1", err);
  *c = (od_checkpoint){0};
  if (!s) return OD_IO;
  od_bind_integer(s, 1, h->machine[machine].id);
  if (od_history_next(h, s, &status, err)) {
    const od_value state = od_column(s, 2);
    *t = od_column_number(s, 0);
    *sequence = od_column_integer(s, 1);
    c->size = state.size;
    c->bytes = od_malloc(c->size);
    if (c->bytes)
      memcpy(c->bytes, state.bytes, c->size);
    else
      status = od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  od_statement_end(s);
  return status;
}

od_status od_history_commit(od_history *h, od_error *err) {
  od_status status = settle(h, err);
  if (status != OD_OK) return status;
  for (int i = 0; i < h->machines && status == OD_OK; i++) status = store_rows(h, &h->machine[i], err);
  if (status == OD_OK) status = store_events(h, err);
  if (status == OD_OK && h->has_failed) status = od_history_fail(h, "written", err);
  if (status == OD_OK) return h->in_transaction ? end_with(h, h->store->class->commit(h->store), err) : OD_OK;
  h->store->class->roll_back(h->store);
  (void)end_with(h, OD_NOT_COMMITTED, NULL);
  return status;
}
