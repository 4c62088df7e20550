// Writes the history. Rows are collected in memory and stored as one block for each machine and transaction.
#define _DEFAULT_SOURCE  // flock

#include "history/history.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/allocate.h"
#include "history/history_file.h"

enum { APPLICATION = 0x6f646c74 };  // "odlt": marks a database as a history of oleodyn
enum { PAGE_SIZE = 8192, MOST_BLOCK_ROWS = 4096 };

// --- Statements ---------------------------------------------------------------------------------------------------

static const char *const statements[OD_STATEMENTS] = {
    [OD_ADD_BLOCK] =
        "INSERT INTO block (machine, first, last, rows, sequence, layout, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [OD_ADD_BUCKET] =
        "INSERT OR REPLACE INTO bucket (channel, level, number, count, min, max, sum) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [OD_ADD_ESTIMATE] = "INSERT OR REPLACE INTO estimate (channel, t, value, sigma) VALUES (?, ?, ?, ?)",
    [OD_ADD_EVENT] = "INSERT INTO event (machine, t, clock, kind, text) VALUES (?, ?, ?, ?, ?)",
    [OD_ADD_CHECKPOINT] =
        "INSERT OR REPLACE INTO checkpoint (machine, t, sequence, clock, state) VALUES (?, ?, ?, ?, ?)",
    [OD_ACKNOWLEDGE] = "UPDATE event SET acknowledged = ? WHERE id = ? AND acknowledged IS NULL"};

od_status od_history_fail(od_history *h, const char *what, od_error *err) {
  snprintf(h->reason, sizeof h->reason, "%s", sqlite3_errmsg(h->db));
  return od_fail(err, OD_IO, "the history %s cannot be %s: %s", h->settings.file, what, h->reason);
}

od_status od_history_run(od_history *h, const char *sql, od_error *err) {
  return sqlite3_exec(h->db, sql, NULL, NULL, NULL) == SQLITE_OK ? OD_OK : od_history_fail(h, "written", err);
}

sqlite3_stmt *od_history_prepare(od_history *h, const char *sql, od_error *err) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(h->db, sql, -1, &s, NULL) != SQLITE_OK) od_history_fail(h, "used", err);
  return s;
}

od_status od_history_enter(od_history *h, od_error *err) {
  if (h->has_failed) return od_fail(err, OD_IO, "the history %s cannot be written: %s", h->settings.file, h->reason);
  if (h->in_transaction) return OD_OK;
  od_status status = od_history_run(h, "BEGIN IMMEDIATE", err);
  h->in_transaction = status == OD_OK;
  return status;
}

od_status od_history_step(od_history *h, sqlite3_stmt *s, od_error *err) {
  const int result = sqlite3_step(s);
  od_status status = result == SQLITE_DONE || result == SQLITE_ROW ? OD_OK : od_history_fail(h, "written", err);
  sqlite3_reset(s);
  sqlite3_clear_bindings(s);
  h->has_failed = h->has_failed || status != OD_OK;
  return status;
}

// Returns the first value of a query as an integer; -1: none.
static int64_t query(od_history *h, const char *sql) {
  sqlite3_stmt *s = od_history_prepare(h, sql, NULL);
  const int64_t value = s && sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : -1;
  sqlite3_finalize(s);
  return value;
}

// --- Opening ------------------------------------------------------------------------------------------------------

// Locks the database file, so that no other twin can write it. The lock ends with the process. Fails with OD_IO.
static od_status lock(od_history *h, od_error *err) {
  h->lock = open(h->settings.file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (h->lock < 0) return od_fail(err, OD_IO, "cannot open %s: %s", h->settings.file, strerror(errno));
  if (flock(h->lock, LOCK_EX | LOCK_NB) == 0) return OD_OK;
  return od_fail(err, OD_IO, "the history %s is being written by another twin; give each twin another file",
                 h->settings.file);
}

// Migrates the schema to the version of this program, in one transaction. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status migrate(od_history *h, od_error *err) {
  const int64_t application = query(h, "PRAGMA application_id"), version = query(h, "PRAGMA user_version");
  const int64_t tables = query(h, "SELECT count(*) FROM sqlite_master");
  if (application < 0 || version < 0 || tables < 0) {
    od_status status = od_history_fail(h, "opened", err);
    return sqlite3_errcode(h->db) == SQLITE_NOTADB
               ? od_fail(err, OD_BAD_INPUT, "%s is not an SQLite database; give the name of another file",
                         h->settings.file)
               : status;
  }
  if (tables > 0 && application != APPLICATION)
    return od_fail(err, OD_BAD_INPUT,
                   "%s is a database of another program; expected a history of oleodyn or a new file",
                   h->settings.file);
  if (version > OD_HISTORY_VERSION)
    return od_fail(err, OD_BAD_INPUT,
                   "the history %s has version %lld; this program reads versions up to %d. Use a newer oleodyn",
                   h->settings.file, (long long)version, OD_HISTORY_VERSION);
  char sql[120];
  snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION, OD_HISTORY_VERSION);
  od_status status = version == OD_HISTORY_VERSION ? OD_OK : od_history_enter(h, err);
  for (int64_t i = version; i < OD_HISTORY_VERSION && status == OD_OK; i++)
    status = od_history_run(h, od_history_migration((int)i), err);
  if (status == OD_OK && version < OD_HISTORY_VERSION) status = od_history_run(h, sql, err);
  return status == OD_OK ? od_history_commit(h, err) : status;
}

static od_status open_database(od_history *h, od_error *err) {
  od_status status = lock(h, err);
  if (status != OD_OK) return status;
  if (sqlite3_open_v2(h->settings.file, &h->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
    return od_history_fail(h, "opened", err);
  char sql[200];
  snprintf(sql, sizeof sql, "PRAGMA page_size = %d; PRAGMA busy_timeout = 5000", PAGE_SIZE);
  status = od_history_run(h, sql, err);
  if (status == OD_OK) status = migrate(h, err);
  if (status == OD_OK)
    status =
        od_history_run(h, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF", err);
  for (int i = 0; i < OD_STATEMENTS && status == OD_OK; i++)
    if (!(h->statement[i] = od_history_prepare(h, statements[i], err))) status = OD_IO;
  return status;
}

od_status od_history_open(const od_twin_history *settings, od_history **out, od_error *err) {
  OD_OWNED(od_history_close) od_history *h = od_calloc(1, sizeof *h);
  *out = NULL;
  if (!h) return od_fail(err, OD_NO_MEMORY, "out of memory");
  h->settings = *settings;
  h->lock = -1;
  od_status status = open_database(h, err);
  if (status == OD_OK) *out = OD_GIVE(h);
  return status;
}

// The descriptor of the lock is closed last: closing it removes the locks that SQLite has in this process.
void od_history_close(od_history *h) {
  if (!h) return;
  for (int i = 0; i < OD_STATEMENTS; i++) sqlite3_finalize(h->statement[i]);
  sqlite3_close(h->db);
  if (h->lock >= 0) close(h->lock);
  od_arena_free(&h->memory);
  od_free(h);
}

// --- Machines and channels ----------------------------------------------------------------------------------------

// Inserts a row of two or three texts and numbers unless this row exists. Returns the id of the row; -1 on failure.
static int64_t find_or_add(od_history *h, const char *insert, const char *select, int64_t number, const char *a,
                           const char *b, od_error *err) {
  int64_t id = -1;
  for (int i = 0; i < 2; i++) {
    sqlite3_stmt *s = od_history_prepare(h, i == 0 ? insert : select, err);
    if (!s) return -1;
    if (sqlite3_bind_parameter_index(s, "@n") > 0) sqlite3_bind_int64(s, sqlite3_bind_parameter_index(s, "@n"), number);
    sqlite3_bind_text(s, sqlite3_bind_parameter_index(s, "@a"), a, -1, SQLITE_STATIC);
    if (sqlite3_bind_parameter_index(s, "@b") > 0)
      sqlite3_bind_text(s, sqlite3_bind_parameter_index(s, "@b"), b, -1, SQLITE_STATIC);
    const int result = sqlite3_step(s);
    if (i == 1 && result == SQLITE_ROW) id = sqlite3_column_int64(s, 0);
    if (result != SQLITE_ROW && result != SQLITE_DONE) od_history_fail(h, "written", err);
    sqlite3_finalize(s);
  }
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
      find_or_add(h, "INSERT INTO machine (name, title) VALUES (@a, @b) ON CONFLICT (name) DO UPDATE SET title = @b",
                  "SELECT id FROM machine WHERE name = @a", 0, name, title, err);
  if (m->id < 0) return OD_IO;
  sqlite3_stmt *s = od_history_prepare(h, "SELECT max(last) FROM block WHERE machine = ?", err);
  if (!s) return OD_IO;
  sqlite3_bind_int64(s, 1, m->id);
  if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL) m->last = sqlite3_column_double(s, 0);
  sqlite3_finalize(s);
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
  m->layout = find_or_add(h, "INSERT OR IGNORE INTO layout (machine, channels) VALUES (@n, @a)",
                          "SELECT id FROM layout WHERE machine = @n AND channels = @a", m->id, text, NULL, err);
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

// Finds or adds the channels and their layout. The ids are valid only after a commit. Fails with OD_IO or OD_NO_MEMORY.
static od_status define_channels(od_history *h, od_history_machine *m, const od_history_channel *channel, int count,
                                 od_error *err) {
  od_status status = od_history_enter(h, err);
  m->channels = count;
  for (int i = 0; i < count && status == OD_OK; i++) {
    m->sigma[i] = channel[i].sigma;
    m->channel[i] = find_or_add(
        h,
        "INSERT INTO channel (machine, name, unit) VALUES (@n, @a, @b) ON CONFLICT (machine, name) DO UPDATE SET unit = @b",
        "SELECT id FROM channel WHERE machine = @n AND name = @a", m->id, channel[i].name, channel[i].unit, err);
    if (m->channel[i] < 0) status = OD_IO;
  }
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
  sqlite3_stmt *s = h->statement[OD_ADD_BLOCK];
  sqlite3_bind_int64(s, 1, m->id);
  sqlite3_bind_double(s, 2, data[0]);
  sqlite3_bind_double(s, 3, data[count - 1]);
  sqlite3_bind_int(s, 4, count);
  sqlite3_bind_int64(s, 5, m->sequence);
  sqlite3_bind_int64(s, 6, m->layout);
  sqlite3_bind_blob64(s, 7, data, (sqlite3_uint64)count * (sqlite3_uint64)columns * sizeof *data, SQLITE_STATIC);
  return od_history_step(h, s, err);
}

od_status od_history_add_row(od_history *h, int machine, const double *row, int64_t sequence, od_error *err) {
  od_history_machine *m = &h->machine[machine];
  if (!(row[0] > m->last)) return OD_OK;
  if (m->channels == 0)
    return od_fail(err, OD_IO, "the history %s has no channels of this machine yet; try again later", h->settings.file);
  od_status status = m->count == m->capacity ? od_history_commit(h, err) : OD_OK;
  if (status != OD_OK) return status;
  m->last = row[0];
  m->sequence = sequence;
  memcpy(m->rows + m->count++ * (m->channels + 1), row, (size_t)(m->channels + 1) * sizeof *row);
  return OD_OK;
}

static void bind_number(sqlite3_stmt *s, int at, double value) {
  if (isnan(value))
    sqlite3_bind_null(s, at);
  else
    sqlite3_bind_double(s, at, value);
}

od_status od_history_add_event(od_history *h, int machine, double t, double clock, const char *kind, const char *text,
                               od_error *err) {
  od_status status = od_history_enter(h, err);
  if (status != OD_OK) return status;
  sqlite3_stmt *s = h->statement[OD_ADD_EVENT];
  if (machine >= 0) sqlite3_bind_int64(s, 1, h->machine[machine].id);
  bind_number(s, 2, t);
  sqlite3_bind_double(s, 3, clock);
  sqlite3_bind_text(s, 4, kind, -1, SQLITE_STATIC);
  sqlite3_bind_text(s, 5, text, -1, SQLITE_STATIC);
  status = od_history_step(h, s, err);
  h->event = status == OD_OK ? sqlite3_last_insert_rowid(h->db) : -1;
  return status;
}

int64_t od_history_event_id(od_history *h) {
  return h->event;
}

od_status od_history_acknowledge(od_history *h, int64_t event, double clock, od_error *err) {
  od_status status = od_history_enter(h, err);
  if (status != OD_OK) return status;
  sqlite3_bind_double(h->statement[OD_ACKNOWLEDGE], 1, clock);
  sqlite3_bind_int64(h->statement[OD_ACKNOWLEDGE], 2, event);
  return od_history_step(h, h->statement[OD_ACKNOWLEDGE], err);
}

od_status od_history_add_checkpoint(od_history *h, int machine, double t, int64_t sequence, double clock,
                                    const od_checkpoint *c, od_error *err) {
  od_status status = od_history_enter(h, err);
  if (status != OD_OK) return status;
  sqlite3_stmt *s = h->statement[OD_ADD_CHECKPOINT];
  sqlite3_bind_int64(s, 1, h->machine[machine].id);
  sqlite3_bind_double(s, 2, t);
  sqlite3_bind_int64(s, 3, sequence);
  sqlite3_bind_double(s, 4, clock);
  sqlite3_bind_blob64(s, 5, c->bytes, c->size, SQLITE_STATIC);
  return od_history_step(h, s, err);
}

od_status od_history_read_checkpoint(od_history *h, int machine, double *t, int64_t *sequence, od_checkpoint *c,
                                     od_error *err) {
  sqlite3_stmt *s = od_history_prepare(h, "SELECT t, sequence, state FROM checkpoint WHERE machine = ?", err);
  *c = (od_checkpoint){0};
  if (!s) return OD_IO;
  sqlite3_bind_int64(s, 1, h->machine[machine].id);
  od_status status = OD_OK;
  const int result = sqlite3_step(s);
  if (result == SQLITE_ROW) {
    *t = sqlite3_column_double(s, 0);
    *sequence = sqlite3_column_int64(s, 1);
    c->size = (size_t)sqlite3_column_bytes(s, 2);
    c->bytes = od_malloc(c->size);
    if (c->bytes)
      memcpy(c->bytes, sqlite3_column_blob(s, 2), c->size);
    else
      status = od_fail(err, OD_NO_MEMORY, "out of memory");
  } else if (result != SQLITE_DONE) {
    status = od_history_fail(h, "read", err);
  }
  sqlite3_finalize(s);
  return status;
}

od_status od_history_commit(od_history *h, od_error *err) {
  od_status status = OD_OK;
  for (int i = 0; i < h->machines && status == OD_OK; i++) status = store_rows(h, &h->machine[i], err);
  if (status == OD_OK && h->has_failed)
    status = od_fail(err, OD_IO, "the history %s cannot be written: %s", h->settings.file, h->reason);
  if (status == OD_OK && h->in_transaction) status = od_history_run(h, "COMMIT", err);
  if (status != OD_OK) sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
  h->in_transaction = h->has_failed = false;
  for (int i = 0; i < h->machines; i++) {
    od_history_machine *m = &h->machine[i];
    if (status != OD_OK) {
      od_pyramid_return(m);
    } else if (m->count > 0) {
      od_pyramid_keep(m);
      m->count = 0;
    }
  }
  return status;
}
