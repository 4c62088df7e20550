// A PostgreSQL server for tests: in a temporary folder, on loopback, with a password; not as root. Include after cmocka.h; for tests of src/server that link libpq.
#ifndef OD_TEST_POSTGRESQL_H
#define OD_TEST_POSTGRESQL_H

#include <arpa/inet.h>
#include <glob.h>
#include <grp.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PG_PASSWORD "not-in-any-message-7"

static struct {
  char bin[200], folder[100], url[200], password[140];  // programs; folder of the server; URL; path of the file with the password
  int port;
  pid_t child;
  uid_t uid;
  gid_t gid;
} pg;

static inline int pg_free_port(void) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof a;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(fd, (struct sockaddr *)&a, size) != 0 || getsockname(fd, (struct sockaddr *)&a, &size) != 0) abort();
  close(fd);
  return ntohs(a.sin_port);
}

// Finds the programs of the server. Returns false if there are none.
static inline bool pg_is_installed(void) {
  glob_t g;
  const bool any = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &g) == 0 && g.gl_pathc > 0;
  if (any) snprintf(pg.bin, sizeof pg.bin, "%.*s", (int)(strlen(g.gl_pathv[g.gl_pathc - 1]) - strlen("/initdb")), g.gl_pathv[g.gl_pathc - 1]);
  globfree(&g);
  return any;
}

// Starts a program of the server as its user.
static inline pid_t pg_spawn(const char *program, char *const *arguments) {
  char path[300], log[200];
  snprintf(path, sizeof path, "%s/%s", pg.bin, program);
  snprintf(log, sizeof log, "%s/log", pg.folder);
  pid_t child = fork();
  if (child != 0) return child;
  for (int fd = 3; fd < 1024; fd++) close(fd);  // pipes of the test
  if (getuid() == 0 && (setgroups(0, NULL) != 0 || setgid(pg.gid) != 0 || setuid(pg.uid) != 0)) _exit(126);
  if (chdir(pg.folder) != 0 || !freopen(log, "a", stdout) || !freopen(log, "a", stderr)) _exit(126);
  execv(path, arguments);
  _exit(127);
}

static inline PGconn *pg_connect_to(const char *url) {
  const char *const keys[] = {"dbname", "password", NULL}, *const values[] = {url, PG_PASSWORD, NULL};
  return PQconnectdbParams(keys, values, 1);
}

static inline PGconn *pg_connect(void) {
  return pg_connect_to(pg.url);
}

// Starts the server and waits until it answers.
static inline void pg_start(void) {
  char port[20];
  snprintf(port, sizeof port, "%d", pg.port);
  char *const arguments[] = {"postgres", "-D", "data", "-h", "127.0.0.1", "-p", port, "-k", pg.folder, "-F", "-c", "shared_buffers=32MB", "-c", "max_connections=20", NULL};
  pg.child = pg_spawn("postgres", arguments);
  for (int i = 0; i < 300; i++) {
    PGconn *c = pg_connect();
    const bool good = PQstatus(c) == CONNECTION_OK;
    PQfinish(c);
    if (good) return;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  }
  fail_msg("the server does not start; see %s/log", pg.folder);
}

static inline void pg_stop(int how) {
  kill(pg.child, how);
  waitpid(pg.child, NULL, 0);
}

static inline void pg_new(void) {
  pg.uid = pg.gid = 65534;  // Debian's user without rights: the server does not start as root
  snprintf(pg.folder, sizeof pg.folder, "/tmp/oleodyn-postgresql-XXXXXX");
  if (!mkdtemp(pg.folder)) abort();
  snprintf(pg.password, sizeof pg.password, "%s/password", pg.folder);
  FILE *f = fopen(pg.password, "w");
  fputs(PG_PASSWORD "\n", f);
  fclose(f);
  chmod(pg.password, 0600);
  if (getuid() == 0 && (chown(pg.folder, pg.uid, pg.gid) != 0 || chown(pg.password, pg.uid, pg.gid) != 0)) abort();
  char *const arguments[] = {"initdb", "-D", "data", "-U", "twin", "-A", "scram-sha-256", "--pwfile", "password", "-E", "UTF8", "--locale=C", "-N", NULL};
  int status = -1;
  waitpid(pg_spawn("initdb", arguments), &status, 0);
  if (status != 0) fail_msg("initdb failed; see %s/log", pg.folder);
  if (getuid() == 0 && chown(pg.password, 0, 0) != 0) abort();
  pg.port = pg_free_port();
  snprintf(pg.url, sizeof pg.url, "postgresql://twin@127.0.0.1:%d/postgres", pg.port);
  pg_start();
}

static inline void pg_remove(void) {
  char command[150];
  pg_stop(SIGINT);
  snprintf(command, sizeof command, "rm -rf %s", pg.folder);
  if (system(command) != 0) abort();
}

// Runs statements, which must succeed.
static inline void pg_run(const char *sql) {
  PGconn *c = pg_connect();
  PGresult *r = PQexec(c, sql);
  if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK) fail_msg("%s: %s", sql, PQresultErrorMessage(r));
  PQclear(r);
  PQfinish(c);
}

// Returns the first value of a query; NAN: none, or the server does not answer.
static inline double pg_query(const char *sql) {
  PGconn *c = pg_connect();
  PGresult *r = PQexec(c, sql);
  const bool any = PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) > 0 && !PQgetisnull(r, 0, 0);
  const double value = any ? strtod(PQgetvalue(r, 0, 0), NULL) : (double)NAN;
  PQclear(r);
  PQfinish(c);
  return value;
}

// An empty schema without other connections.
static inline void pg_empty(void) {
  pg_run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
  pg_run("SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public");
}

// Copies a table into an SQLite database: for checks of both with the same statements.
static inline void pg_copy(sqlite3 *to, const char *create, const char *select, const char *insert) {
  PGconn *c = pg_connect();
  PGresult *r = PQexecParams(c, select, 0, NULL, NULL, NULL, NULL, 0);
  sqlite3_stmt *q = NULL;
  if (PQresultStatus(r) != PGRES_TUPLES_OK) fail_msg("%s", PQresultErrorMessage(r));
  assert_int_equal(sqlite3_exec(to, create, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(to, insert, -1, &q, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_exec(to, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
  for (int i = 0; i < PQntuples(r); i++) {
    for (int k = 0; k < PQnfields(r); k++) {
      const char *text = PQgetvalue(r, i, k);
      const Oid type = PQftype(r, k);
      size_t size;
      if (PQgetisnull(r, i, k)) {
        sqlite3_bind_null(q, k + 1);
      } else if (type == 17) {
        unsigned char *bytes = PQunescapeBytea((const unsigned char *)text, &size);
        sqlite3_bind_blob(q, k + 1, bytes, (int)size, SQLITE_TRANSIENT);
        PQfreemem(bytes);
      } else if (type == 20 || type == 23) {
        sqlite3_bind_int64(q, k + 1, strtoll(text, NULL, 10));
      } else if (type == 701) {
        sqlite3_bind_double(q, k + 1, strtod(text, NULL));  // the text has the digits that give the same bits
      } else {
        sqlite3_bind_text(q, k + 1, text, -1, SQLITE_TRANSIENT);
      }
    }
    assert_int_equal(sqlite3_step(q), SQLITE_DONE);
    sqlite3_reset(q);
  }
  assert_int_equal(sqlite3_exec(to, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_finalize(q);
  PQclear(r);
  PQfinish(c);
}

// Copies the whole history into an SQLite file.
static inline void pg_copy_all(const char *file) {
  sqlite3 *to = NULL;
  remove(file);
  assert_int_equal(sqlite3_open(file, &to), SQLITE_OK);
  pg_copy(to, "CREATE TABLE machine (id, name, title)", "SELECT id, name, title FROM machine", "INSERT INTO machine VALUES (?, ?, ?)");
  pg_copy(to, "CREATE TABLE channel (id, machine, name, unit)", "SELECT id, machine, name, unit FROM channel", "INSERT INTO channel VALUES (?, ?, ?, ?)");
  pg_copy(to, "CREATE TABLE block (machine, first, last, rows, sequence, data)", "SELECT machine, first, last, rows, sequence, data FROM block",
          "INSERT INTO block VALUES (?, ?, ?, ?, ?, ?)");
  pg_copy(to, "CREATE TABLE bucket (channel, level, number, count, min, max, sum)", "SELECT channel, level, number, count, min, max, sum FROM bucket",
          "INSERT INTO bucket VALUES (?, ?, ?, ?, ?, ?, ?)");
  pg_copy(to, "CREATE TABLE estimate (channel, t, value, sigma)", "SELECT channel, t, value, sigma FROM estimate", "INSERT INTO estimate VALUES (?, ?, ?, ?)");
  pg_copy(to, "CREATE TABLE event (id, machine, t, clock, kind, text, acknowledged)", "SELECT id, machine, t, clock, kind, text, acknowledged FROM event",
          "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)");
  pg_copy(to, "CREATE TABLE checkpoint (machine, t, sequence, clock, state)", "SELECT machine, t, sequence, clock, state FROM checkpoint",
          "INSERT INTO checkpoint VALUES (?, ?, ?, ?, ?)");
  sqlite3_close(to);
}

#endif
