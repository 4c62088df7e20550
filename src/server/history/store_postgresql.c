// Histories in PostgreSQL databases. Statements of a transaction are sent without waiting for their results (pipeline mode). A lost connection is
// opened again by the next transaction or reading; a transaction whose end was not confirmed is looked up by its number. Every wait for the
// server is limited.
#define _DEFAULT_SOURCE  // htobe64

#include <endian.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/allocate.h"
#include "history/store.h"
#include "io/clock.h"
#include "io/private_file.h"
#include "io/utf8.h"
#include "memory/scoped.h"

enum { MOST_PARAMETERS = 8, MOST_SENT = 256, LOCK = 0x6f646c74, READING_MS = 5000 };
enum { INT8 = 20, INT4 = 23, TEXT = 25, BYTEA = 17, FLOAT8 = 701 };  // identifiers of types (Oid)
// Longest waits for a connection of a writer and of a reader, and for an answer; pause between attempts to connect; s.
static const double connection_time = 2, reader_connection_time = 0.5, answer_time = 30, reader_answer_time = 6,
                    pause = 0.5;

typedef struct pq_store {
  od_store base;
  const od_twin_history *settings;
  char *password;  // NULL: none
  PGconn *connection;
  long number;           // counts the connections: statements are prepared in each of them
  double next_attempt;   // monotonic time before which no connection is tried, s
  int process;           // number of the process of the server for the last connection
  char transaction[24];  // number of the transaction
  bool is_piped;         // whether the connection is in pipeline mode
  int sent, names;
  double bytes, kept_bytes;  // size of the data now and at the last commit, bytes
  bool has_size;             // whether the table with the size exists
} pq_store;

typedef struct parameter {
  Oid type;
  char *value;
  int size;
  char number[8];
} parameter;

typedef struct pq_statement {
  od_statement base;
  char *sql, name[24];
  long prepared;  // number of the connection in which the statement is prepared
  int count;
  parameter parameter[MOST_PARAMETERS];
  PGresult *row;    // the present row
  bool is_running;  // whether further rows are expected
  long changes;
  char *text[MOST_PARAMETERS];  // texts with replaced characters
} pq_statement;

static pq_store *of(const od_store *s) {
  return (pq_store *)s;
}

// --- Connection ---------------------------------------------------------------------------------------------------

// Takes a message of the library as the reason: its first line.
static bool fail(pq_store *s, const char *message) {
  const char *text =
      strncmp(message, "ERROR:  ", 8) == 0 || strncmp(message, "FATAL:  ", 8) == 0 ? message + 8 : message;
  snprintf(s->base.reason, sizeof s->base.reason, "%.*s", (int)strcspn(text, "\n"), text);
  return false;
}

static void disconnect(pq_store *s) {
  PQfinish(s->connection);
  s->connection = NULL;
  s->is_piped = false;
  s->sent = 0;
}

// Waits until the socket can be read, or with also_write until it can be read or written. Returns false after the time `until`, s of od_seconds().
static bool wait_for(const pq_store *s, bool also_write, double until) {
  struct pollfd p = {.fd = PQsocket(s->connection), .events = (short)(POLLIN | (also_write ? POLLOUT : 0))};
  const double left = until - od_seconds();
  return left > 0 && poll(&p, 1, (int)(1e3 * left) + 1) > 0;
}

// Returns the next result; NULL: the statement has ended, or the connection is lost (s->connection is NULL then).
static PGresult *next_result(pq_store *s) {
  const double until = od_seconds() + (s->base.only_reads ? reader_answer_time : answer_time);
  for (;;) {
    const int unsent = s->connection ? PQflush(s->connection) : -1;
    if (unsent >= 0 && !PQisBusy(s->connection)) return PQgetResult(s->connection);
    const bool in_time = unsent < 0 || wait_for(s, unsent > 0, until);
    if (unsent >= 0 && in_time && PQconsumeInput(s->connection)) continue;
    if (s->connection) fail(s, in_time ? PQerrorMessage(s->connection) : "the server does not answer");
    disconnect(s);
    return NULL;
  }
}

static bool is_good(const PGresult *r) {
  const ExecStatusType status = PQresultStatus(r);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE;
}

// Takes the reason of a failed result. Returns whether the connection has ended.
static bool fail_with(pq_store *s, const PGresult *r) {
  const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
  fail(s, PQresultErrorMessage(r));
  return PQstatus(s->connection) == CONNECTION_BAD ||
         (state && (strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0));
}

// Waits for the results of statements that have been sent. Returns whether all have succeeded; *value (NULL: not wanted) receives the first
// column of the first row of the last one with rows.
static bool finish(pq_store *s, char *value, size_t size) {
  bool good = true, is_lost = false;
  for (PGresult *r; (r = next_result(s)); PQclear(r)) {
    if (!is_good(r)) {
      is_lost = fail_with(s, r) || is_lost;
      good = false;
    } else if (value && PQntuples(r) > 0) {
      snprintf(value, size, "%s", PQgetisnull(r, 0, 0) ? "" : PQgetvalue(r, 0, 0));
    }
  }
  if (is_lost) disconnect(s);
  return good && s->connection;
}

// Runs statements outside a pipeline. The answer is a text.
static bool ask(pq_store *s, const char *sql, char *value, size_t size) {
  if (value) value[0] = '\0';
  if (!s->connection) return false;
  if (!PQsendQuery(s->connection, sql)) {
    fail(s, PQerrorMessage(s->connection));
    disconnect(s);
    return false;
  }
  return finish(s, value, size);
}

// Locks the history against other twins. The lock ends with the connection. If a lost connection of this program still has the lock, its process on
// the server is ended.
static bool lock(pq_store *s) {
  char sql[400], got[8] = "";
  snprintf(sql, sizeof sql, "SELECT pg_try_advisory_lock(%d, hashtext(coalesce(current_schema(), '')))", LOCK);
  for (int i = 0; i < 20; i++) {
    if (!ask(s, sql, got, sizeof got)) return false;
    if (got[0] == 't') return true;
    if (s->process > 0) {
      char end[400];
      snprintf(
          end, sizeof end,
          "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = %d AND pid = %d",
          LOCK, s->process);
      if (!ask(s, end, NULL, 0)) return false;
    }
    poll(NULL, 0, 100);  // the server may not have noticed yet that the previous twin has ended
  }
  return fail(
      s, "the database is being written by another twin; expected a database, or a schema, of its own for each twin");
}

static void quiet(void *user, const char *message) {
  (void)user, (void)message;
}

static bool connect_now(pq_store *s) {
  const char *const keys[] = {"dbname",          "password",         "fallback_application_name",
                              "client_encoding", "tcp_user_timeout", NULL};
  const char *const values[] = {s->base.place, s->password, "oleodyn-twin", "UTF8", "10000", NULL};
  const double until = od_seconds() + (s->base.only_reads ? reader_connection_time : connection_time);
  s->connection = PQconnectStartParams(keys, values, 1);
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  if (!s->connection) return fail(s, "out of memory");
  if (PQstatus(s->connection) == CONNECTION_BAD) state = PGRES_POLLING_FAILED;
  while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
    struct pollfd p = {.fd = PQsocket(s->connection), .events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT};
    const double left = until - od_seconds();
    if (left <= 0 || poll(&p, 1, (int)(1e3 * left) + 1) <= 0) {
      disconnect(s);
      return fail(s, "the server does not answer");
    }
    state = PQconnectPoll(s->connection);
  }
  PQsetNoticeProcessor(s->connection, quiet, NULL);
  if (state != PGRES_POLLING_OK || PQsetnonblocking(s->connection, 1) != 0) {
    fail(s, PQerrorMessage(s->connection));
    disconnect(s);
    return false;
  }
  return true;
}

// Opens the connection if there is none. After a failure the next attempt is made after a pause.
static bool connect_to(pq_store *s) {
  if (s->connection) return true;
  if (od_seconds() < s->next_attempt) return false;
  char sql[200];
  snprintf(sql, sizeof sql, "SET statement_timeout = %d; SET default_transaction_read_only = on; SET jit = off",
           READING_MS);
  bool good = connect_now(s);
  if (good) s->number++;
  if (good)
    good = s->base.only_reads ? ask(s, sql, NULL, 0) : ask(s, "SET client_min_messages = warning", NULL, 0) && lock(s);
  if (good) {
    s->process = PQbackendPID(s->connection);
    return true;
  }
  disconnect(s);
  s->next_attempt = od_seconds() + pause;
  return false;
}

// Reads the first line of the file with the password.
static od_status read_password(pq_store *s, od_error *err) {
  OD_SCRATCH(scratch);
  char *text;
  size_t size;
  od_status status = od_private_file_read(s->settings->password_file, "password", &scratch, &text, &size, err);
  if (status != OD_OK) return status;
  text[strcspn(text, "\r\n")] = '\0';
  s->password = od_malloc(strlen(text) + 1);
  if (s->password) memcpy(s->password, text, strlen(text) + 1);
  explicit_bzero(text, size);
  if (!s->password) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return s->password[0] ? OD_OK
                        : od_fail(err, OD_BAD_INPUT, "%s is empty; expected a password in the first line",
                                  s->settings->password_file);
}

static od_status open_store(const od_twin_history *settings, bool only_reads, od_store **out, od_error *err) {
  pq_store *s = od_calloc(1, sizeof *s);
  *out = (od_store *)s;
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory");
  s->base =
      (od_store){.class = &od_postgresql_store, .place = settings->url, .only_reads = only_reads, .until = INFINITY};
  s->settings = settings;
  od_status status = settings->password_file ? read_password(s, err) : OD_OK;
  if (status != OD_OK) return status;
  if (!connect_to(s))
    return od_fail(err, OD_IO, "the history %s cannot be %s: %s", settings->url, only_reads ? "read" : "opened",
                   s->base.reason);
  return OD_OK;
}

static void close_store(od_store *base) {
  pq_store *s = of(base);
  disconnect(s);
  if (s->password) explicit_bzero(s->password, strlen(s->password));
  od_free(s->password);
  od_free(s);
}

// --- Statements without values ------------------------------------------------------------------------------------

// Waits for the results of the statements of the pipeline, and ends the pipeline. Returns whether all have succeeded.
static bool end_pipeline(pq_store *s) {
  bool good = true, is_lost = false, is_synchronous = false;
  if (!s->is_piped) return s->connection;
  if (!PQpipelineSync(s->connection)) {
    fail(s, PQerrorMessage(s->connection));
    disconnect(s);
    return false;
  }
  while (!is_synchronous && s->connection) {
    PGresult *r = next_result(s);
    if (!r && s->connection && PQstatus(s->connection) == CONNECTION_BAD)
      is_lost = !fail(s, PQerrorMessage(s->connection));
    if (is_lost) disconnect(s);
    if (!r) continue;  // the end of a statement
    const ExecStatusType status = PQresultStatus(r);
    is_synchronous = status == PGRES_PIPELINE_SYNC;
    if (!is_synchronous && !is_good(r)) {
      if (status != PGRES_PIPELINE_ABORTED) is_lost = fail_with(s, r) || is_lost;
      good = false;
    }
    PQclear(r);
    if (is_lost) disconnect(s);
  }
  if (!s->connection) return false;
  PQexitPipelineMode(s->connection);
  s->is_piped = false;
  s->sent = 0;
  return good;
}

// Texts of the schema for SQLite and their replacements for PostgreSQL. A text that begins with another text of the list comes before
// the other text.
static const char *const words[][2] = {{"level INTEGER", "level INT"},
                                       {"INTEGER PRIMARY KEY REFERENCES", "BIGINT PRIMARY KEY REFERENCES"},
                                       {"INTEGER PRIMARY KEY", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"},
                                       {"INTEGER", "BIGINT"},
                                       {" REAL", " DOUBLE PRECISION"},
                                       {"BLOB", "BYTEA"},
                                       {" WITHOUT ROWID", ""}};

// Translates the statements of a migration. The caller frees the text; NULL: no memory.
static char *translate(const char *sql) {
  char *out = od_malloc(3 * strlen(sql) + 1), *to = out;
  while (out && *sql) {
    size_t i = 0, count = sizeof words / sizeof *words;
    while (i < count && strncmp(sql, words[i][0], strlen(words[i][0])) != 0) i++;
    if (i < count) {
      to = stpcpy(to, words[i][1]);
      sql += strlen(words[i][0]);
    } else {
      *to++ = *sql++;
    }
  }
  if (out) *to = '\0';
  return out;
}

static bool run(od_store *base, const char *sql) {
  pq_store *s = of(base);
  char *text = translate(sql);
  const bool good = text ? end_pipeline(s) && ask(s, text, NULL, 0) : fail(s, "out of memory");
  od_free(text);
  return good;
}

// --- Version ------------------------------------------------------------------------------------------------------

static int64_t version(od_store *base) {
  pq_store *s = of(base);
  char answer[40];
  if (!ask(s, "SELECT current_schema()", answer, sizeof answer)) return -1;
  if (!answer[0]) return fail(s, "its search path has no schema that exists"), -1;
  if (!ask(s, "SELECT to_regclass(format('%I.oleodyn_history', current_schema())) IS NOT NULL", answer, sizeof answer))
    return -1;
  s->has_size = answer[0] == 't';
  if (!s->has_size) {
    if (!ask(
            s,
            "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relkind IN ('r', 'v', 'p')",
            answer, sizeof answer))
      return -1;
    if (atoi(answer) > 0)
      base->refusal =
          "has tables of another program; expected a history of oleodyn, or a database or schema without tables";
    return base->refusal ? -1 : 0;
  }
  if (!ask(s, "SELECT bytes FROM oleodyn_history", answer, sizeof answer)) return -1;
  s->bytes = s->kept_bytes = strtod(answer, NULL);
  return ask(s, "SELECT version FROM oleodyn_history", answer, sizeof answer) ? strtoll(answer, NULL, 10) : -1;
}

// The table oleodyn_history has the version and the size of the data. Blocks and states are not compressed.
static bool set_version(od_store *base, int64_t version) {
  pq_store *s = of(base);
  char sql[300];
  if (!s->has_size &&
      !run(base,
           "CREATE TABLE oleodyn_history (version INTEGER NOT NULL, bytes REAL NOT NULL);"
           "INSERT INTO oleodyn_history VALUES (0, 0); ALTER TABLE block ALTER COLUMN data SET STORAGE EXTERNAL;"
           "ALTER TABLE checkpoint ALTER COLUMN state SET STORAGE EXTERNAL"))
    return false;
  s->has_size = true;
  snprintf(sql, sizeof sql, "UPDATE oleodyn_history SET version = %lld", (long long)version);
  return run(base, sql);
}

static bool ready(od_store *base) {
  (void)base;
  return true;
}

// --- Transactions -------------------------------------------------------------------------------------------------

static bool begin(od_store *base) {
  pq_store *s = of(base);
  return connect_to(s) && end_pipeline(s) &&
         ask(s, "BEGIN; SELECT txid_current()", s->transaction, sizeof s->transaction);
}

static od_outcome commit(od_store *base) {
  pq_store *s = of(base);
  char sql[100];
  bool good = end_pipeline(s);
  snprintf(sql, sizeof sql, "UPDATE oleodyn_history SET bytes = %.17g", s->bytes);
  if (good && s->bytes != s->kept_bytes) good = ask(s, sql, NULL, 0);
  // COMMIT of a failed transaction rolls back and reports success, so COMMIT is sent only if the transaction has not failed.
  const bool is_sent = good && PQtransactionStatus(s->connection) == PQTRANS_INTRANS;
  if (is_sent && ask(s, "COMMIT", NULL, 0)) {
    s->kept_bytes = s->bytes;
    return OD_COMMITTED;
  }
  if (is_sent && !s->connection) return OD_UNKNOWN;
  if (s->connection) ask(s, "ROLLBACK", NULL, 0);
  s->bytes = s->kept_bytes;
  return OD_NOT_COMMITTED;
}

static void roll_back(od_store *base) {
  pq_store *s = of(base);
  char reason[sizeof base->reason];
  memcpy(reason, base->reason, sizeof reason);
  if (s->connection && (end_pipeline(s) || s->connection)) ask(s, "ROLLBACK", NULL, 0);
  memcpy(base->reason, reason, sizeof reason);
  s->bytes = s->kept_bytes;
}

static od_outcome settle(od_store *base) {
  pq_store *s = of(base);
  char sql[100], outcome[40];
  snprintf(sql, sizeof sql, "SELECT txid_status(%s)", s->transaction);
  if (!connect_to(s) || !ask(s, sql, outcome, sizeof outcome)) return OD_UNKNOWN;
  if (strcmp(outcome, "in progress") == 0) return fail(s, "the last transaction has not ended"), OD_UNKNOWN;
  const bool is_committed = strcmp(outcome, "committed") == 0;
  if (is_committed)
    s->kept_bytes = s->bytes;
  else
    s->bytes = s->kept_bytes;
  return is_committed ? OD_COMMITTED : OD_NOT_COMMITTED;
}

// --- Statements with values ---------------------------------------------------------------------------------------

static od_statement *prepare(od_store *base, const char *sql) {
  pq_statement *q = od_calloc(1, sizeof *q);
  char *text = od_malloc(strlen(sql) + 1);
  if (!q || !text) {
    od_free(q);
    od_free(text);
    return fail(of(base), "out of memory"), NULL;
  }
  q->base.store = base;
  q->sql = strcpy(text, sql);
  snprintf(q->name, sizeof q->name, "s%d", of(base)->names++);
  return &q->base;
}

// Returns a text in UTF-8: the text itself, or a copy in which bytes that are not UTF-8 are replaced by '?'. Returns NULL if an allocation fails.
static char *clean_text(pq_statement *q, int at, const od_value *v) {
  if (od_utf8_has_only(v->bytes, v->size)) return (char *)v->bytes;
  od_free(q->text[at]);
  char *text = q->text[at] = od_malloc(v->size + 1);
  if (!text) return NULL;
  memcpy(text, v->bytes, v->size);
  text[v->size] = '\0';
  for (size_t i = 0, n; i < v->size; i += n)
    if ((n = od_utf8_length((const unsigned char *)text + i, v->size - i)) == 0) text[i] = '?', n = 1;
  return text;
}

static void bind(od_statement *base, int number, const od_value *v) {
  pq_statement *q = (pq_statement *)base;
  if (number < 1 || number > MOST_PARAMETERS) return;
  parameter *p = &q->parameter[number - 1];
  uint64_t bits = 0;
  static const Oid types[] = {
      [OD_VALUE_INTEGER] = INT8, [OD_VALUE_NUMBER] = FLOAT8, [OD_VALUE_TEXT] = TEXT, [OD_VALUE_BYTES] = BYTEA};
  if (number > q->count) q->count = number;
  *p = (parameter){.type = types[v->kind], .value = (char *)v->bytes, .size = (int)v->size};
  if (v->kind == OD_VALUE_INTEGER) bits = (uint64_t)v->integer;
  if (v->kind == OD_VALUE_NUMBER) memcpy(&bits, &v->number, sizeof bits);
  if (v->kind == OD_VALUE_INTEGER || v->kind == OD_VALUE_NUMBER) {
    bits = htobe64(bits);
    memcpy(p->number, &bits, sizeof bits);
    p->value = p->number;
    p->size = sizeof bits;
  }
  if (v->kind == OD_VALUE_TEXT) p->value = clean_text(q, number - 1, v);
}

// Sends a statement with its values.
static bool send_statement(pq_statement *q, bool by_name) {
  pq_store *s = of(q->base.store);
  Oid types[MOST_PARAMETERS];
  const char *values[MOST_PARAMETERS];
  int sizes[MOST_PARAMETERS], formats[MOST_PARAMETERS];
  for (int i = 0; i < q->count; i++) {
    const parameter *p = &q->parameter[i];
    types[i] = p->type;
    values[i] = p->type ? p->value : NULL;
    sizes[i] = p->size;
    formats[i] = 1;
  }
  bool good = true;
  if (by_name && q->prepared != s->number) {
    good = PQsendPrepare(s->connection, q->name, q->sql, q->count, types);
    q->prepared = s->number;
  }
  if (good)
    good = by_name ? PQsendQueryPrepared(s->connection, q->name, q->count, values, sizes, formats, 1)
                   : PQsendQueryParams(s->connection, q->sql, q->count, types, values, sizes, formats, 1);
  if (good) return true;
  fail(s, PQerrorMessage(s->connection));
  disconnect(s);
  return false;
}

static void reset(od_statement *base) {
  pq_statement *q = (pq_statement *)base;
  pq_store *s = of(base->store);
  PQclear(q->row);
  q->row = NULL;
  if (q->is_running && s->connection)
    for (PGresult *r; (r = next_result(s));) PQclear(r);
  q->is_running = false;
  memset(q->parameter, 0, sizeof q->parameter);
}

static bool execute(od_statement *base) {
  pq_statement *q = (pq_statement *)base;
  pq_store *s = of(base->store);
  bool good = s->connection;
  if (good && !s->is_piped) s->is_piped = good = PQenterPipelineMode(s->connection);
  if (good) good = send_statement(q, true);
  if (good && ++s->sent >= MOST_SENT) good = end_pipeline(s);
  reset(base);
  return good;
}

// Rows arrive one by one.
static od_step step(od_statement *base) {
  pq_statement *q = (pq_statement *)base;
  pq_store *s = of(base->store);
  if (!q->is_running) {
    if (s->base.only_reads ? !connect_to(s) : !end_pipeline(s)) return OD_STEP_FAILED;
    if (!send_statement(q, false)) return OD_STEP_FAILED;
    PQsetSingleRowMode(s->connection);
    q->is_running = true;
  }
  if (od_seconds() > base->store->until) return reset(base), OD_STEP_LATE;
  PQclear(q->row);
  q->row = next_result(s);
  const ExecStatusType status = q->row ? PQresultStatus(q->row) : PGRES_FATAL_ERROR;
  if (status == PGRES_SINGLE_TUPLE) return OD_STEP_ROW;
  const bool good = q->row && is_good(q->row);
  const char *state = q->row ? PQresultErrorField(q->row, PG_DIAG_SQLSTATE) : NULL;
  const bool is_late = state && strcmp(state, "57014") == 0;
  const bool is_lost = q->row && !good && fail_with(s, q->row);
  if (good) q->changes = atol(PQcmdTuples(q->row));
  reset(base);
  if (is_lost) disconnect(s);
  return good ? OD_STEP_DONE : is_late ? OD_STEP_LATE : OD_STEP_FAILED;
}

static od_value column(const od_statement *base, int c) {
  const PGresult *r = ((const pq_statement *)base)->row;
  od_value v = {.kind = OD_VALUE_NULL};
  if (!r || PQgetisnull(r, 0, c)) return v;
  const char *bytes = PQgetvalue(r, 0, c);
  uint64_t bits;
  uint32_t half;
  switch (PQftype(r, c)) {
    case INT8:
    case FLOAT8:
      memcpy(&bits, bytes, sizeof bits);
      bits = be64toh(bits);
      v.kind = PQftype(r, c) == INT8 ? OD_VALUE_INTEGER : OD_VALUE_NUMBER;
      if (v.kind == OD_VALUE_INTEGER)
        v.integer = (int64_t)bits;
      else
        memcpy(&v.number, &bits, sizeof bits);
      return v;
    case INT4:
      memcpy(&half, bytes, sizeof half);
      return (od_value){.kind = OD_VALUE_INTEGER, .integer = (int32_t)be32toh(half)};
    case BYTEA: return (od_value){.kind = OD_VALUE_BYTES, .bytes = bytes, .size = (size_t)PQgetlength(r, 0, c)};
    default: return (od_value){.kind = OD_VALUE_TEXT, .bytes = bytes, .size = (size_t)PQgetlength(r, 0, c)};
  }
}

static void finalize(od_statement *base) {
  pq_statement *q = (pq_statement *)base;
  reset(base);
  for (int i = 0; i < MOST_PARAMETERS; i++) od_free(q->text[i]);
  od_free(q->sql);
  od_free(q);
}

static long changes(const od_statement *base) {
  return ((const pq_statement *)base)->changes;
}

// --- Size ---------------------------------------------------------------------------------------------------------

static double size(od_store *base) {
  return of(base)->bytes;
}

static void account(od_store *base, double bytes) {
  of(base)->bytes += bytes;
}

const od_store_class od_postgresql_store = {.name = "PostgreSQL",
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
                                            .size = size,
                                            .account = account};
