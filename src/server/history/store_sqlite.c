// Histories in SQLite databases, in WAL mode.
#define _DEFAULT_SOURCE  // flock

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/allocate.h"
#include "history/store.h"
#include "io/clock.h"

enum { APPLICATION = 0x6f646c74 };  // "odlt": marks a database as a history of oleodyn
enum { PAGE_SIZE = 8192 };

typedef struct sqlite_store {
  od_store base;
  sqlite3 *db;
  int lock;  // descriptor of the locked file; -1: none
} sqlite_store;

typedef struct sqlite_statement {
  od_statement base;
  sqlite3_stmt *q;
} sqlite_statement;

static sqlite3 *db_of(const od_store *s) {
  return ((const sqlite_store *)s)->db;
}

static bool fail(od_store *s) {
  snprintf(s->reason, sizeof s->reason, "%s", sqlite3_errmsg(db_of(s)));
  return false;
}

static bool run(od_store *s, const char *sql) {
  return sqlite3_exec(db_of(s), sql, NULL, NULL, NULL) == SQLITE_OK || fail(s);
}

// --- Opening ------------------------------------------------------------------------------------------------------

// Locks the file against other twins, until close_store() or the end of the process. Fails with OD_IO.
static od_status lock(sqlite_store *s, od_error *err) {
  s->lock = open(s->base.place, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (s->lock < 0) return od_fail(err, OD_IO, "cannot open %s: %s", s->base.place, strerror(errno));
  if (flock(s->lock, LOCK_EX | LOCK_NB) == 0) return OD_OK;
  return od_fail(err, OD_IO,
                 "the history %s is being written by another twin; expected a file of its own for each twin",
                 s->base.place);
}

// SQLite calls this function during a statement of a reader. Ends the statement if the reading takes too long.
static int is_late(void *user) {
  const od_store *s = user;
  return od_seconds() > s->until;
}

static od_status open_store(const od_twin_history *settings, bool only_reads, od_store **out, od_error *err) {
  sqlite_store *s = od_calloc(1, sizeof *s);
  *out = (od_store *)s;
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory");
  s->base = (od_store){.class = &od_sqlite_store, .place = settings->file, .only_reads = only_reads, .until = INFINITY};
  s->lock = -1;
  od_status status = only_reads ? OD_OK : lock(s, err);
  if (status != OD_OK) return status;
  char sql[200];
  snprintf(sql, sizeof sql, "PRAGMA page_size = %d; PRAGMA busy_timeout = 5000", PAGE_SIZE);
  if (sqlite3_open_v2(settings->file, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
          ? run(&s->base,
                only_reads
                    ? "PRAGMA query_only = ON; PRAGMA busy_timeout = 200; PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -4000"
                    : sql)
          : fail(&s->base)) {
    if (only_reads) sqlite3_progress_handler(s->db, 10000, is_late, s);
    return OD_OK;
  }
  return od_fail(err, OD_IO, "the history %s cannot be %s: %s", settings->file, only_reads ? "read" : "opened",
                 s->base.reason);
}

// The descriptor of the lock is closed last: closing it removes the locks that SQLite has in this process.
static void close_store(od_store *base) {
  sqlite_store *s = (sqlite_store *)base;
  sqlite3_close(s->db);
  if (s->lock >= 0) close(s->lock);
  od_free(s);
}

// Returns the first value of a query as an integer; -1: none.
static int64_t ask(od_store *s, const char *sql) {
  sqlite3_stmt *q = NULL;
  if (sqlite3_prepare_v2(db_of(s), sql, -1, &q, NULL) != SQLITE_OK) fail(s);
  const int64_t value = q && sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : -1;
  sqlite3_finalize(q);
  return value;
}

static int64_t version(od_store *s) {
  const int64_t application = ask(s, "PRAGMA application_id"), version = ask(s, "PRAGMA user_version");
  const int64_t tables = ask(s, "SELECT count(*) FROM sqlite_master");
  if (application < 0 || version < 0 || tables < 0) {
    if (sqlite3_errcode(db_of(s)) == SQLITE_NOTADB) s->refusal = "is not an SQLite database";
    return -1;
  }
  if (tables > 0 && application != APPLICATION)
    s->refusal = "is a database of another program; expected a history of oleodyn or a new file";
  return s->refusal ? -1 : version;
}

static bool set_version(od_store *s, int64_t version) {
  char sql[120];
  snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %lld", APPLICATION, (long long)version);
  return run(s, sql);
}

static bool ready(od_store *s) {
  return run(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF");
}

// --- Transactions -------------------------------------------------------------------------------------------------

static bool begin(od_store *s) {
  return run(s, "BEGIN IMMEDIATE");
}

static void roll_back(od_store *s) {
  sqlite3_exec(db_of(s), "ROLLBACK", NULL, NULL, NULL);
}

// After a COMMIT that failed because the database is busy, the transaction is still open.
static od_outcome commit(od_store *s) {
  if (run(s, "COMMIT")) return OD_COMMITTED;
  roll_back(s);
  return OD_NOT_COMMITTED;
}

static od_outcome settle(od_store *s) {
  (void)s;
  return OD_NOT_COMMITTED;  // the outcome of a transaction is always known
}

// --- Statements ---------------------------------------------------------------------------------------------------

static od_statement *prepare(od_store *s, const char *sql) {
  sqlite_statement *q = od_calloc(1, sizeof *q);
  if (!q) return snprintf(s->reason, sizeof s->reason, "out of memory"), NULL;
  q->base.store = s;
  if (sqlite3_prepare_v2(db_of(s), sql, -1, &q->q, NULL) == SQLITE_OK) return &q->base;
  fail(s);
  od_free(q);
  return NULL;
}

static sqlite3_stmt *of(const od_statement *q) {
  return ((const sqlite_statement *)q)->q;
}

static void bind(od_statement *q, int parameter, const od_value *v) {
  switch (v->kind) {
    case OD_VALUE_NULL: sqlite3_bind_null(of(q), parameter); break;
    case OD_VALUE_INTEGER: sqlite3_bind_int64(of(q), parameter, v->integer); break;
    case OD_VALUE_NUMBER: sqlite3_bind_double(of(q), parameter, v->number); break;
    case OD_VALUE_TEXT: sqlite3_bind_text(of(q), parameter, v->bytes, (int)v->size, SQLITE_STATIC); break;
    case OD_VALUE_BYTES: sqlite3_bind_blob64(of(q), parameter, v->bytes, v->size, SQLITE_STATIC); break;
  }
}

static od_step step(od_statement *q) {
  const int result = sqlite3_step(of(q));
  if (result == SQLITE_ROW) return OD_STEP_ROW;
  if (result == SQLITE_DONE) return OD_STEP_DONE;
  fail(q->store);
  return result == SQLITE_INTERRUPT ? OD_STEP_LATE : OD_STEP_FAILED;
}

static void reset(od_statement *q) {
  sqlite3_reset(of(q));
  sqlite3_clear_bindings(of(q));
}

static bool execute(od_statement *q) {
  const od_step result = step(q);
  reset(q);
  return result == OD_STEP_DONE;
}

static od_value column(const od_statement *q, int c) {
  switch (sqlite3_column_type(of(q), c)) {
    case SQLITE_INTEGER: return (od_value){.kind = OD_VALUE_INTEGER, .integer = sqlite3_column_int64(of(q), c)};
    case SQLITE_FLOAT: return (od_value){.kind = OD_VALUE_NUMBER, .number = sqlite3_column_double(of(q), c)};
    case SQLITE_TEXT: {
      const void *text = sqlite3_column_text(of(q), c);
      return (od_value){.kind = OD_VALUE_TEXT, .bytes = text, .size = (size_t)sqlite3_column_bytes(of(q), c)};
    }
    case SQLITE_BLOB: {
      const void *bytes = sqlite3_column_blob(of(q), c);
      return (od_value){.kind = OD_VALUE_BYTES, .bytes = bytes, .size = (size_t)sqlite3_column_bytes(of(q), c)};
    }
    default: return (od_value){.kind = OD_VALUE_NULL};
  }
}

static void finalize(od_statement *q) {
  sqlite3_finalize(of(q));
  od_free(q);
}

static long changes(const od_statement *q) {
  return sqlite3_changes(db_of(q->store));
}

// Returns the size of the used part of the file, bytes.
static double size(od_store *s) {
  return (double)(ask(s, "PRAGMA page_count") - ask(s, "PRAGMA freelist_count")) * (double)ask(s, "PRAGMA page_size");
}

const od_store_class od_sqlite_store = {.name = "SQLite",
                                        .open = open_store,
                                        .close = close_store,
                                        .version = version,
                                        .set_version = set_version,
                                        .ready = ready,
                                        .run = run,
                                        .begin = begin,
                                        .commit = commit,
                                        .roll_back = roll_back,
                                        .settle = settle,
                                        .prepare = prepare,
                                        .bind = bind,
                                        .execute = execute,
                                        .step = step,
                                        .column = column,
                                        .reset = reset,
                                        .finalize = finalize,
                                        .changes = changes,
                                        .size = size};
