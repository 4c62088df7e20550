// The history in PostgreSQL. Oracles: the SQLite history of the same samples, whose tables and answers must be the same to the bit; a schema of
// version 1 written here; a proxy that cuts the connection at the end of a transaction, before or after the server has ended it; sizes from the
// server.
#define _DEFAULT_SOURCE  // setgroups

#include "support/test.h"

#ifdef OD_HAVE_LIBPQ
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "history/history.h"
#include "history/history_reader.h"
#include "support/postgresql.h"
#include "support/scratch.h"
#include "support/sqlite.h"

enum { CHANNELS = 3 };
static const od_history_channel channels[CHANNELS] = {
    {"measured.x", "m", -1}, {"estimate.k", "N/m", 2}, {"sigma.k", "N/m", -1}};
static const char *const names[CHANNELS] = {"measured.x", "estimate.k", "none"};
static od_error err;

static void done(od_status status) {
  if (status != OD_OK) fail_msg("%s", err.text);
}

static od_twin_history at_url(const char *url) {
  return (od_twin_history){.url = url, .password_file = pg.password, .rows_for = 1e9, .keep = 1e9, .size = 1e12};
}

static od_twin_history in_file(scratch *s, const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s", scratch_path(s, name));
  return (od_twin_history){.file = path, .rows_for = 1e9, .keep = 1e9, .size = 1e12};
}

static od_history *open_with(const od_twin_history *settings) {
  od_history *h = NULL;
  int machine;
  double last;
  done(od_history_open(settings, &h, &err));
  done(od_history_add_machine(h, "crane", "A crane", &machine, &last, &err));
  done(od_history_define(h, 0, channels, CHANNELS, &err));
  return h;
}

// Row i: irregular times, values that repeat, a missing value now and then, and a gap of 200 s.
static void fill_row(long i, double *row) {
  row[0] = -20.3 + 0.05 * (double)i + 0.01 * (double)(i * 7 % 5) + (i > 3000 ? 200 : 0);
  row[1] = i % 13 == 0 ? (double)NAN : sin(0.37 * (double)i) * (double)(1 + i % 100);
  row[2] = 1e6 + (double)(i * i % 977) / 3;
  row[3] = i % 400 == 20 ? (double)NAN : 1e3 / (1 + (double)i);
}

static void add_rows(od_history *h, long from, long to) {
  double row[1 + CHANNELS];
  for (long i = from; i < to; i++) {
    fill_row(i, row);
    done(od_history_add_row(h, 0, row, i, &err));
  }
}

static void add(od_history *h, long from, long to, long per_transaction) {
  for (long i = from; i < to; i += per_transaction) {
    add_rows(h, i, i + per_transaction < to ? i + per_transaction : to);
    done(od_history_commit(h, &err));
  }
}

// Compares all tables with those of an SQLite history.
static void same_tables(scratch *s, const char *file) {
  static const char *const lists[][2] = {{"machine", "id, name, title"},
                                         {"channel", "id, machine, name, unit"},
                                         {"block", "machine, first, last, rows, sequence, data"},
                                         {"bucket", "channel, level, number, count, min, max, sum"},
                                         {"estimate", "channel, t, value, sigma"},
                                         {"event", "id, machine, t, clock, kind, text, acknowledged"},
                                         {"checkpoint", "machine, t, sequence, clock, state"}};
  sqlite3 *db = NULL;
  char sql[700];
  pg_copy_all(scratch_path(s, "copy.db"));
  assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
  snprintf(sql, sizeof sql, "ATTACH '%s' AS copy", scratch_path(s, "copy.db"));
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for (int way = 0; way < 2; way++) {
      snprintf(sql, sizeof sql, "SELECT count(*) FROM (SELECT %s FROM %s.%s EXCEPT SELECT %s FROM %s.%s)", lists[i][1],
               way ? "main" : "copy", lists[i][0], lists[i][1], way ? "copy" : "main", lists[i][0]);
      if (query(db, sql) != 0) fail_msg("the tables '%s' are different", lists[i][0]);
    }
  assert_true(query(db, "SELECT count(*) FROM bucket") > 500 && query(db, "SELECT count(*) FROM estimate") > 50);
  sqlite3_close(db);
}

// --- The same answers ---------------------------------------------------------------------------------------------

static void same_numbers(const double *a, const double *b, int count) {
  for (int i = 0; i < count; i++) assert_true(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])));
}

static void same_readings(od_history *a, od_history *b) {
  od_arena memory = {0};
  od_history_span span[2];
  done(od_history_reader_span(a, "crane", &span[0], &err));
  done(od_history_reader_span(b, "crane", &span[1], &err));
  assert_true(span[0].first == span[1].first && span[0].last == span[1].last);
  srand(5);
  int with_rows = 0, with_buckets = 0;
  for (int n = 0; n < 60; n++) {
    const double length = exp(8 * (double)rand() / RAND_MAX - 1.5);
    const double from = -30 + (650 - length) * rand() / RAND_MAX;
    const int points = 10 + n * 4;
    od_history_bins bins[2][CHANNELS];
    od_history_rows rows[2];
    od_history *h[2] = {a, b};
    for (int k = 0; k < 2; k++) {
      done(od_history_reader_bins(h[k], &memory, "crane", names, CHANNELS, from, from + length, points, bins[k], &err));
      done(
          od_history_reader_rows(h[k], &memory, "crane", names, CHANNELS, from, from + length, points, &rows[k], &err));
    }
    for (int c = 0; c < CHANNELS; c++) {
      const od_history_bins *p = &bins[0][c], *q = &bins[1][c];
      assert_true(p->level == q->level && p->width == q->width && p->count == q->count);
      with_rows += p->count > 0 && p->level < 0;
      with_buckets += p->count > 0 && p->level >= 0;
      same_numbers(p->t, q->t, p->count);
      same_numbers(p->min, q->min, p->count);
      same_numbers(p->max, q->max, p->count);
      same_numbers(p->mean, q->mean, p->count);
    }
    assert_int_equal(rows[0].count, rows[1].count);
    same_numbers(rows[0].t, rows[1].t, rows[0].count);
    same_numbers(rows[0].value, rows[1].value, CHANNELS * rows[0].count);
  }
  assert_true(with_rows > 20 && with_buckets > 10);
  od_arena_free(&memory);
}

static void same_charts(od_history *a, od_history *b) {
  od_arena memory = {0};
  static const double ranges[][3] = {{-30, 700, 20}, {-30, 700, 400}, {100, 110, 50}, {140, 360, 30}, {0, 500, 3}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    od_history_point *p, *q;
    int n, m;
    done(od_history_read(a, &memory, "crane", "measured.x", ranges[i][0], ranges[i][1], (int)ranges[i][2], &p, &n,
                         &err));
    done(od_history_read(b, &memory, "crane", "measured.x", ranges[i][0], ranges[i][1], (int)ranges[i][2], &q, &m,
                         &err));
    assert_true(n == m && n > 0);
    for (int k = 0; k < n; k++)
      assert_true(p[k].from == q[k].from && p[k].to == q[k].to && p[k].min == q[k].min && p[k].max == q[k].max &&
                  p[k].mean == q[k].mean && p[k].count == q[k].count);
  }
  double *rows[2];
  long count[2];
  int64_t sequence[2];
  done(od_history_read_rows(a, &memory, 0, 300, names, CHANNELS, &rows[0], &count[0], &sequence[0], &err));
  done(od_history_read_rows(b, &memory, 0, 300, names, CHANNELS, &rows[1], &count[1], &sequence[1], &err));
  assert_true(count[0] == count[1] && count[0] > 100 && sequence[0] == sequence[1]);
  same_numbers(rows[0], rows[1], (int)count[0] * (1 + CHANNELS));
  od_arena_free(&memory);
}

static void add_events(od_history *h) {
  for (int i = 0; i < 30; i++)
    done(od_history_add_event(h, i % 3 == 0 ? -1 : 0, i % 4 ? i : (double)NAN, 100 + i, i % 5 == 0 ? "alarm" : "late",
                              "it's \"late\": 3 µm", &err));
  done(od_history_acknowledge(h, 6, 777, &err));
  done(od_history_acknowledge(h, 6, 888, &err));  // the first time counts
  done(od_history_acknowledge(h, 600, 888, &err));
}

static void same_events(od_history *a, od_history *b) {
  static const char *const kinds[] = {"alarm", NULL};
  const od_event_query queries[] = {{.most = 10},
                                    {.most = 10, .before = 21, .machine = "crane"},
                                    {.is_open = true, .kinds = kinds, .most = 50},
                                    {.id = 6, .most = 1},
                                    {.after = 25, .is_ascending = true, .most = 3},
                                    {.is_ascending = true, .most = 2}};
  od_arena memory = {0};
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    od_history_event *e, *f;
    int n, m;
    done(od_history_reader_events(a, &memory, &queries[i], &e, &n, &err));
    done(od_history_reader_events(b, &memory, &queries[i], &f, &m, &err));
    assert_true(n == m && n > 0);
    for (int k = 0; k < n; k++) {
      assert_true(e[k].id == f[k].id && !e[k].machine == !f[k].machine);
      same_numbers((double[]){e[k].t, e[k].clock, e[k].acknowledged}, (double[]){f[k].t, f[k].clock, f[k].acknowledged},
                   3);
      assert_string_equal(e[k].kind, f[k].kind);
      assert_string_equal(e[k].text, f[k].text);
    }
  }
  od_arena_free(&memory);
}

// The same samples in both databases, also when one of them is closed and opened again: the same tables and answers.
static void test_same_as_sqlite(void **state) {
  scratch *s = *state;
  const od_twin_history file = in_file(s, "a.db"), url = at_url(pg.url);
  char bytes[] = "a state\0with zeros";
  const od_checkpoint c = {bytes, sizeof bytes};
  pg_empty();
  od_history *a = open_with(&file), *b = open_with(&url), *r[2];
  add(b, 0, 4000, 37);
  od_history_close(b);
  b = open_with(&url);
  add(b, 3990, 9000, 37);  // ten rows again
  add(a, 0, 4000, 37);
  add(a, 3990, 9000, 37);
  for (int k = 0; k < 2; k++) {
    od_history *h = k ? b : a;
    add_events(h);
    for (int i = 0; i < 3; i++) done(od_history_add_checkpoint(h, 0, 1.5 + i, 7 + i, 0.25, &c, &err));
    done(od_history_commit(h, &err));
  }
  same_tables(s, file.file);
  same_charts(a, b);
  done(od_history_reader_open(&file, &r[0], &err));
  done(od_history_reader_open(&url, &r[1], &err));
  same_readings(r[0], r[1]);
  same_events(r[0], r[1]);
  double t;
  int64_t sequence;
  od_checkpoint found;
  done(od_history_read_checkpoint(b, 0, &t, &sequence, &found, &err));
  assert_true(t == 3.5 && sequence == 9 && found.size == sizeof bytes);
  assert_memory_equal(found.bytes, bytes, sizeof bytes);
  od_checkpoint_free(&found);
  // The views.
  assert_true(pg_query("SELECT count(*) FROM estimates WHERE machine = 'crane' AND channel = 'estimate.k'") > 50);
  assert_true(pg_query("SELECT max(t) FROM pyramid WHERE level = 2 AND channel = 'measured.x'") ==
              512);  // the last complete bucket of 64 s
  for (int k = 0; k < 2; k++) od_history_close(r[k]);
  od_history_close(a);
  od_history_close(b);
}

// --- Retention ----------------------------------------------------------------------------------------------------

static void retain(od_history *h) {
  long removed = 1;
  for (int i = 0; removed > 0 && i < 1000; i++) done(od_history_retain(h, &removed, &err));
  assert_int_equal(removed, 0);
}

static void test_retention(void **state) {
  scratch *s = *state;
  od_twin_history file = in_file(s, "a.db"), url = at_url(pg.url);
  file.rows_for = url.rows_for = 100, file.keep = url.keep = 150;
  pg_empty();
  od_history *a = open_with(&file), *b = open_with(&url);
  for (int k = 0; k < 2; k++) {
    add(k ? b : a, 0, 9000, 37);
    retain(k ? b : a);
  }
  same_tables(s, file.file);
  od_history_close(a);
  od_history_close(b);
  // By size: the size of the data that the server has is small enough; the last rows remain. The size survives a restart.
  pg_empty();
  url = at_url(pg.url);
  url.size = 300000;
  b = open_with(&url);
  add(b, 0, 9000, 37);
  pg_run("VACUUM");
  const double size = od_history_size(b);
  // The tables have some empty pages of the server's own.
  const double server = pg_query(
      "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE relname IN ('block', 'bucket', 'estimate')");
  if (size < 0.6 * server || size > 1.2 * server) fail_msg("%.0f bytes, the server has %.0f", size, server);
  od_history_close(b);
  b = open_with(&url);
  assert_true(od_history_size(b) == size);
  retain(b);
  assert_true(od_history_size(b) <= url.size);
  pg_run("VACUUM FULL");
  assert_true(
      pg_query(
          "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE relname IN ('block', 'bucket', 'estimate')") <
      1.5 * url.size);
  double row[1 + CHANNELS];
  fill_row(8999, row);
  assert_true(pg_query("SELECT min(first) FROM block") > 100 && pg_query("SELECT max(last) FROM block") == row[0]);
  od_history_close(b);
}

// --- Versions -----------------------------------------------------------------------------------------------------

static const char version_1[] =
    "CREATE TABLE machine (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name TEXT NOT NULL UNIQUE, title TEXT NOT NULL);"
    "CREATE TABLE channel (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, machine BIGINT NOT NULL REFERENCES machine, name TEXT NOT NULL,"
    "  unit TEXT NOT NULL, UNIQUE (machine, name));"
    "CREATE TABLE layout (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, machine BIGINT NOT NULL REFERENCES machine, channels TEXT NOT NULL,"
    "  UNIQUE (machine, channels));"
    "CREATE TABLE block (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, machine BIGINT NOT NULL REFERENCES machine, first FLOAT8 NOT NULL,"
    "  last FLOAT8 NOT NULL, rows BIGINT NOT NULL, sequence BIGINT NOT NULL, layout BIGINT NOT NULL REFERENCES layout, data BYTEA NOT NULL);"
    "ALTER TABLE block ALTER COLUMN data SET STORAGE EXTERNAL; CREATE UNIQUE INDEX block_last ON block (machine, last);"
    "CREATE TABLE bucket (channel BIGINT NOT NULL, level INT NOT NULL, number BIGINT NOT NULL, count BIGINT NOT NULL, min FLOAT8 NOT NULL,"
    "  max FLOAT8 NOT NULL, sum FLOAT8 NOT NULL, PRIMARY KEY (channel, level, number));"
    "CREATE TABLE estimate (channel BIGINT NOT NULL, t FLOAT8 NOT NULL, value FLOAT8 NOT NULL, sigma FLOAT8, PRIMARY KEY (channel, t));"
    "CREATE TABLE event (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, machine BIGINT REFERENCES machine, t FLOAT8, clock FLOAT8 NOT NULL,"
    "  kind TEXT NOT NULL, text TEXT NOT NULL);"
    "CREATE TABLE checkpoint (machine BIGINT PRIMARY KEY REFERENCES machine, t FLOAT8 NOT NULL, sequence BIGINT NOT NULL, clock FLOAT8 NOT NULL,"
    "  state BYTEA NOT NULL); ALTER TABLE checkpoint ALTER COLUMN state SET STORAGE EXTERNAL;"
    "CREATE TABLE oleodyn_history (version BIGINT NOT NULL, bytes FLOAT8 NOT NULL); INSERT INTO oleodyn_history VALUES (1, 0);"
    "INSERT INTO machine (name, title) VALUES ('crane', 'Old'); INSERT INTO event VALUES (1, 1, 0.5, 1e9, 'late', 'x')";

// Columns of all tables and views, as one number.
static double schema(void) {
  return pg_query(
      "SELECT hashtext(string_agg(table_name || column_name || data_type || is_nullable || is_identity, ';' ORDER BY table_name, column_name)) "
      "FROM information_schema.columns WHERE table_schema = 'public'");
}

static void test_migration(void **state) {
  (void)state;
  const od_twin_history url = at_url(pg.url);
  pg_empty();
  od_history_close(open_with(&url));
  const double new = schema();
  pg_empty();
  pg_run(version_1);
  assert_true(schema() != new);
  od_history *h = open_with(&url);
  assert_true(schema() == new &&pg_query("SELECT version FROM oleodyn_history") == OD_HISTORY_VERSION);
  add(h, 0, 100, 10);
  done(od_history_add_event(h, 0, 1, 2, "note", "an event after the old one", &err));
  done(od_history_commit(h, &err));
  assert_true(od_history_event_id(h) == 2);
  od_history_close(h);
  assert_true(pg_query("SELECT count(*) FROM event WHERE t = 0.5 AND acknowledged IS NULL") == 1);
  assert_true(pg_query("SELECT sum(rows) FROM block") == 100 &&
              pg_query("SELECT count(*) FROM machine WHERE title = 'A crane'") == 1);
}

static void refuses(const od_twin_history *settings, od_status status, const char *why) {
  od_history *h = NULL;
  assert_int_equal(od_history_open(settings, &h, &err), status);
  if (!strstr(err.text, why)) fail_msg("'%s' is not in '%s'", why, err.text);
  assert_null(strstr(err.text, PG_PASSWORD));
  assert_null(h);
}

static void test_refused(void **state) {
  scratch *s = *state;
  char path[512], url[300];
  od_twin_history settings = at_url(pg.url);
  pg_empty();
  od_history *h = open_with(&settings);
  refuses(&settings, OD_IO, "is being written by another twin");
  od_history_close(h);
  pg_run("UPDATE oleodyn_history SET version = 99");
  refuses(&settings, OD_BAD_INPUT, "has version 99; this program reads versions up to 2");
  pg_empty();
  pg_run("CREATE TABLE a (b INT)");
  refuses(&settings, OD_BAD_INPUT, "has tables of another program");
  // Schemas separate twins.
  pg_run("CREATE SCHEMA \"Yard 1\"");
  snprintf(url, sizeof url, "%s?options=-csearch_path%%3D%%22Yard%%5C%%201%%22", pg.url);
  settings.url = url;
  pg_empty();
  h = open_with(&settings);
  const od_twin_history other = at_url(pg.url);
  od_history *second = open_with(&other);
  refuses(&settings, OD_IO, "is being written by another twin");
  od_history_close(second);
  od_history_close(h);
  pg_run("SET client_min_messages = warning; DROP SCHEMA \"Yard 1\" CASCADE");
  snprintf(url, sizeof url, "%s?options=-csearch_path%%3Dnowhere", pg.url);
  refuses(&settings, OD_IO, "its search path has no schema that exists");
  settings = at_url("oracle://localhost/yard");
  refuses(&settings, OD_BAD_INPUT, "there is no history with the URL oracle://localhost/yard; expected postgresql://");
  // Passwords.
  settings = at_url(pg.url);
  snprintf(path, sizeof path, "%s", scratch_put(s, "wrong", PG_PASSWORD "-wrong\n"));
  settings.password_file = path;
  refuses(&settings, OD_BAD_INPUT, "other users may access the password");
  chmod(path, 0600);
  refuses(&settings, OD_IO, "password authentication failed for user \"twin\"");
  settings.password_file = NULL;
  refuses(&settings, OD_IO, "no password supplied");
  snprintf(url, sizeof url, "postgresql://twin@127.0.0.1:%d/postgres", pg_free_port());
  settings = at_url(url);
  refuses(&settings, OD_IO, "Connection refused");
}

// --- Outages ------------------------------------------------------------------------------------------------------

static double clock_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Commits until it succeeds.
static int commit_again(od_history *h) {
  int failures = 0;
  for (const double begin = clock_seconds(); od_history_commit(h, &err) != OD_OK; failures++) {
    if (clock_seconds() > begin + 30) fail_msg("%s", err.text);
    poll(NULL, 0, 50);
  }
  return failures;
}

// The server ends and starts again: rows and events remain and are written, and a reader goes on.
static void test_server_restart(void **state) {
  scratch *s = *state;
  const od_twin_history file = in_file(s, "a.db"), url = at_url(pg.url);
  pg_empty();
  od_history *a = open_with(&file), *b = open_with(&url), *reader = NULL;
  od_history_span span;
  done(od_history_reader_open(&url, &reader, &err));
  add(b, 0, 1000, 100);
  static const int ways[] = {SIGINT, SIGQUIT, SIGINT};  // SIGQUIT: as after a crash
  for (int n = 0; n < 3; n++) {
    const long from = 1000 + 2000 * n;
    add_rows(b, from, from + 500);
    pg_stop(ways[n]);
    done(od_history_add_event(b, 0, n, 5, "alarm", "during the outage", &err));
    assert_int_equal(od_history_commit(b, &err), OD_IO);
    assert_non_null(strstr(err.text, pg.url));
    assert_int_equal(od_history_reader_span(reader, "crane", &span, &err), OD_IO);
    add_rows(b, from + 500, from + 2000);
    done(od_history_add_event(b, -1, n, 6, "note", "also during the outage", &err));
    pg_start();
    commit_again(b);
  }
  for (int i = 0; i < 20 && od_history_reader_span(reader, "crane", &span, &err) != OD_OK; i++) poll(NULL, 0, 100);
  double row[1 + CHANNELS];
  fill_row(6999, row);
  assert_true(span.last == row[0]);
  add(b, 7000, 9000, 100);
  add(a, 0, 1000, 100);
  for (int n = 0; n < 3; n++) {
    add_rows(a, 1000 + 2000 * n, 3000 + 2000 * n);
    done(od_history_add_event(a, 0, n, 5, "alarm", "during the outage", &err));
    done(od_history_add_event(a, -1, n, 6, "note", "also during the outage", &err));
    done(od_history_commit(a, &err));
  }
  add(a, 7000, 9000, 100);
  same_tables(s, file.file);
  od_history_close(reader);
  od_history_close(a);
  od_history_close(b);
}

// A proxy on loopback that cuts each connection when a client ends a transaction: before the server has received the end, or after its answer, which
// the client does not receive. cuts: how many more times.
static struct {
  int listener, port;
  atomic_int cuts;
  atomic_bool after, ends;
} proxy;

static int connect_to_server(void) {
  struct sockaddr_in a = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)pg.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0) abort();
  return fd;
}

static bool send_all(int fd, const char *data, ssize_t size) {
  for (ssize_t n; size > 0; data += n, size -= n)
    if ((n = send(fd, data, (size_t)size, MSG_NOSIGNAL)) <= 0) return false;
  return true;
}

// Serves one connection until one side ends it or it is cut.
static void serve(int client) {
  static char data[1 << 16];
  const int server = connect_to_server();
  struct pollfd p[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
  for (bool is_open = true, is_last = false; is_open && poll(p, 2, -1) > 0;) {
    for (int k = 0; k < 2 && is_open; k++) {
      if (!(p[k].revents & (POLLIN | POLLHUP))) continue;
      const ssize_t n = recv(p[k].fd, data, sizeof data, 0);
      if (n <= 0) is_open = false;
      // A simple query: 'Q', length, text.
      const bool is_commit =
          k == 0 && n > 11 && data[0] == 'Q' && memcmp(data + 5, "COMMIT", 6) == 0 && atomic_load(&proxy.cuts) > 0;
      if (is_commit) atomic_fetch_sub(&proxy.cuts, 1);
      if ((is_commit && !atomic_load(&proxy.after)) || (k == 1 && is_last)) is_open = false;
      if (is_open) is_open = send_all(p[1 - k].fd, data, n);
      is_last = is_last || is_commit;
    }
  }
  close(server);
  close(client);
}

static void *run_proxy(void *user) {
  while (!atomic_load(&proxy.ends)) {
    const int client = accept(proxy.listener, NULL, NULL);
    if (client >= 0 && !atomic_load(&proxy.ends)) serve(client);
  }
  return user;
}

static void test_cut_transactions(void **state) {
  scratch *s = *state;
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof a;
  pthread_t thread;
  char url[300];
  proxy.listener = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(bind(proxy.listener, (struct sockaddr *)&a, size), 0);
  assert_int_equal(getsockname(proxy.listener, (struct sockaddr *)&a, &size), 0);
  assert_int_equal(listen(proxy.listener, 8), 0);
  assert_int_equal(pthread_create(&thread, NULL, run_proxy, NULL), 0);
  snprintf(url, sizeof url, "postgresql://twin@127.0.0.1:%d/postgres?sslmode=disable&gssencmode=disable",
           ntohs(a.sin_port));
  const od_twin_history file = in_file(s, "a.db"), through = at_url(url);
  pg_empty();
  od_history *h = open_with(&file), *b = open_with(&through);
  add(h, 0, 500, 100);
  add(b, 0, 500, 100);
  for (int n = 0; n < 6; n++) {
    const long from = 500 + 1000 * n;
    atomic_store(&proxy.after, n % 2 == 0);
    add_rows(b, from, from + 500);
    done(od_history_add_event(b, 0, n, 5, "alarm", "once", &err));
    atomic_store(&proxy.cuts, 1);
    assert_int_equal(od_history_commit(b, &err), OD_IO);
    assert_int_equal(atomic_load(&proxy.cuts), 0);
    const double stored = pg_query("SELECT coalesce(max(id), 0) FROM event");
    assert_true(stored == n + (n % 2 == 0));
    add_rows(b, from + 500, from + 1000);  // rows that arrive before the outcome is known
    commit_again(b);
    // The same blocks: those that were stored before the cut are not stored again.
    add_rows(h, from, from + 500);
    if (n % 2 == 1) add_rows(h, from + 500, from + 1000);
    done(od_history_add_event(h, 0, n, 5, "alarm", "once", &err));
    done(od_history_commit(h, &err));
    if (n % 2 == 0) add_rows(h, from + 500, from + 1000);
    done(od_history_commit(h, &err));
  }
  same_tables(s, file.file);
  od_history_close(h);
  od_history_close(b);
  atomic_store(&proxy.ends, true);
  shutdown(proxy.listener, SHUT_RDWR);
  pthread_join(thread, NULL);
  close(proxy.listener);
}

// A text that is not UTF-8 does not block the history.
static void test_texts(void **state) {
  (void)state;
  const od_twin_history url = at_url(pg.url);
  pg_empty();
  od_history *h = open_with(&url);
  done(od_history_add_event(h, 0, 1, 2, "note", "cut in the middle: \xc2", &err));
  done(od_history_add_event(h, 0, 1, 2, "note", "3 µm \xff, then text", &err));
  done(od_history_commit(h, &err));
  assert_true(pg_query("SELECT count(*) FROM event WHERE text IN ('cut in the middle: ?', '3 µm ?, then text')") == 2);
  od_history_close(h);
}

static int begin(void **state) {
  (void)state;
  pg_new();
  return 0;
}

static int finish(void **state) {
  (void)state;
  pg_remove();
  return 0;
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  if (!pg_is_installed()) {
    printf("skipped: no package: postgresql\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_same_as_sqlite, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_retention, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_migration, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_refused, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_server_restart, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_cut_transactions, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_texts, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, begin, finish);
}

#else
#include <stdio.h>

int main(void) {
  printf("skipped: no package: libpq-dev\n");
  return 77;
}
#endif
