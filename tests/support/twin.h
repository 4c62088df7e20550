// Twins for tests: programs, their history, and a recorded run with the estimates of 'observe'. Include after cmocka.h; for tests of src/server.
#ifndef OD_TEST_TWIN_H
#define OD_TEST_TWIN_H

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <time.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "support/feed.h"
#include "support/program.h"

#define EXPERIMENT OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml"

// --- Programs -----------------------------------------------------------------------------------------------------

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void sleep_for(double seconds) {
  nanosleep(&(struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))}, NULL);
}

// Time between checkpoints.
static const char *twin_checkpoint = "0.5 s";
static const char *const twin_rest =
    "machines:\n  bench: {experiment: " EXPERIMENT
    "}\nhistory: {file: twin.db, write: 0.25 s, checkpoint: %s}\noutputs: {metrics: twin.prom}\n";

static inline void put_twin(scratch *s, const char *sources) {
  char text[2000];
  int used = snprintf(text, sizeof text, "sources: {%s}\n", sources);
  snprintf(text + used, sizeof text - (size_t)used, twin_rest, twin_checkpoint);
  scratch_put(s, "twin.yaml", text);
}

// Starts oleodyn-twin in the scratch folder. Its standard input is a pipe.
static inline feed start_twin(scratch *s) {
  static feed f;
  static char path[512], errors[512];
  snprintf(path, sizeof path, "%s", scratch_path(s, "twin.yaml"));
  snprintf(errors, sizeof errors, "%s", scratch_path(s, "errors"));
  char *const arguments[] = {OD_TWIN, path, NULL};
  assert_int_equal(feed_start(&f, OD_TWIN, arguments, errors), 0);
  return f;
}

static inline outcome run_twin(scratch *s, const char *options, const char *input) {
  char command[2048];
  snprintf(command, sizeof command, "cd %s && '%s' twin.yaml %s >.out 2>.err <%s", s->folder, OD_TWIN, options, input);
  int status = system(command);
  outcome o = {WIFEXITED(status) ? WEXITSTATUS(status) : -1, NULL, NULL};
  o.out = scratch_read(scratch_path(s, ".out"));
  o.err = scratch_read(scratch_path(s, ".err"));
  return o;
}

// --- The history --------------------------------------------------------------------------------------------------

static inline sqlite3 *look(scratch *s, const char *name) {
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open_v2(scratch_path(s, name), &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
  sqlite3_busy_timeout(db, 5000);
  return db;
}

static inline double query(sqlite3 *db, const char *sql) {
  sqlite3_stmt *q = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
  const bool any = sqlite3_step(q) == SQLITE_ROW && sqlite3_column_type(q, 0) != SQLITE_NULL;
  const double value = any ? sqlite3_column_double(q, 0) : (double)NAN;
  sqlite3_finalize(q);
  return value;
}

static inline bool has_event(sqlite3 *db, const char *kind, const char *text) {
  char sql[500];
  snprintf(sql, sizeof sql, "SELECT count(*) FROM event WHERE kind = '%s' AND text LIKE '%%%s%%'", kind, text);
  return query(db, sql) > 0;
}

// The rows of all blocks, whose layout must have `columns` channels: the time and a value per channel.
typedef struct stored_rows {
  double *data;
  long rows;
  int columns;
} stored_rows;

static inline stored_rows read_rows(sqlite3 *db) {
  stored_rows all = {.columns = 1 + (int)query(db, "SELECT count(*) FROM channel")};
  sqlite3_stmt *q = NULL;
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT rows, data FROM block ORDER BY last", -1, &q, NULL), SQLITE_OK);
  while (sqlite3_step(q) == SQLITE_ROW) {
    const int rows = sqlite3_column_int(q, 0);
    const double *data = sqlite3_column_blob(q, 1);
    assert_int_equal(sqlite3_column_bytes(q, 1), rows * all.columns * 8);
    all.data = realloc(all.data, (size_t)((all.rows + rows) * all.columns) * sizeof *data);
    for (int i = 0; i < rows; i++)
      for (int c = 0; c < all.columns; c++)
        memcpy(&all.data[(all.rows + i) * all.columns + c], &data[c * rows + i], sizeof *data);
    all.rows += rows;
  }
  sqlite3_finalize(q);
  return all;
}

static inline bool same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

// Compares the stored rows with a CSV file of 'observe'.
static inline void compare(scratch *s, const char *database, const char *csv) {
  od_table *t = NULL;
  od_error err = {0};
  sqlite3 *db = look(s, database);
  stored_rows rows = read_rows(db);
  if (od_table_read_csv(scratch_path(s, csv), &t, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(rows.rows, t->rows);
  int compared = 0;
  for (int c = 1; c < t->columns; c++) {
    char sql[300];
    snprintf(sql, sizeof sql, "SELECT id FROM channel WHERE name = '%s'", t->name[c]);
    const double id = query(db, sql);
    for (long i = 0; i < t->rows && !isnan(id); i++)
      if (!same(rows.data[i * rows.columns + (int)id], t->data[i * t->columns + c]))
        fail_msg("%s, row %ld: %.17g instead of %.17g", t->name[c], i, rows.data[i * rows.columns + (int)id],
                 t->data[i * t->columns + c]);
    compared += !isnan(id);
  }
  assert_int_equal(compared, rows.columns - 1);
  for (long i = 0; i < t->rows; i++) assert_true(rows.data[i * rows.columns] == t->data[i * t->columns]);
  free(rows.data);
  od_table_free(t);
  sqlite3_close(db);
}

// Waits until a query of the history has the value 1.
static inline void wait_longer(scratch *s, const char *sql, double seconds) {
  for (const double until = now() + seconds; now() < until;) {
    sleep_for(0.05);
    if (access(scratch_path(s, "twin.db"), R_OK) != 0) continue;
    sqlite3 *db = look(s, "twin.db");
    sqlite3_stmt *q = NULL;
    const bool reached = sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW &&
                         sqlite3_column_int(q, 0) == 1;
    sqlite3_finalize(q);
    sqlite3_close(db);
    if (reached) return;
  }
  fail_msg("%g s without: %s", seconds, sql);
}

static inline void wait_until(scratch *s, const char *sql) {
  wait_longer(s, sql, 20);
}

static inline const char *started(int times) {
  static char sql[100];
  snprintf(sql, sizeof sql, "SELECT count(*) = %d FROM event WHERE kind = 'start'", times);
  return sql;
}

// Sends lines of a text to the twin: at once up to the line `from`, then at 1 kHz. Ends at the time `until`. Returns the number of lines that
// were sent completely; sent[i]: time at which line i was sent.
static inline int send_lines(const feed *f, const char *text, int from, double until, double *sent) {
  int n = 0;
  const double begin = now();
  for (const char *line = text; *line && now() < until; n++) {
    const char *next = strchr(line, '\n') + 1;
    if (n > from)
      while (now() < begin + 1e-3 * (n - from) && now() < until) sleep_for(2e-4);
    if (feed_send(f, line, (size_t)(next - line)) != 0) break;
    sent[n] = now();
    line = next;
  }
  return n;
}

// A recorded run, and what 'observe' makes of it.
static inline int setup(void **state) {
  if (scratch_setup(state) != 0) return -1;
  scratch *s = *state;
  expect_code(run(s, "observe %s --set time=2 --csv log.csv --quiet", EXPERIMENT), 0);
  expect_code(run(s, "observe %s --data log.csv --csv reference.csv --quiet", EXPERIMENT), 0);
  return 0;
}

#endif
