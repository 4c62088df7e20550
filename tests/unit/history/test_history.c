// The history in a database. Oracles: the rows themselves, from which every bucket, estimate and chart is computed again; a database of version 1
// for the migration; a history without interruption for one that is closed and opened again.
#include "support/test.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "history/history.h"
#include "history/store.h"
#include "support/scratch.h"
#include "support/sqlite.h"

enum { CHANNELS = 3 };
static const od_history_channel channels[CHANNELS] = {
    {"measured.x", "m", -1}, {"estimate.k", "N/m", 2}, {"sigma.k", "N/m", -1}};
static od_error err;

static od_twin_history settings_of(scratch *s, const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s", scratch_path(s, name));
  return (od_twin_history){.file = path, .rows_for = 1e9, .keep = 1e9, .size = 1e12};
}

static void done(od_status status) {
  if (status != OD_OK) fail_msg("%s", err.text);
}

static od_history *open_with(const od_twin_history *settings, double *last) {
  od_history *h = NULL;
  int machine;
  done(od_history_open(settings, &h, &err));
  done(od_history_add_machine(h, "crane", "A crane", &machine, last, &err));
  assert_int_equal(machine, 0);
  done(od_history_define(h, 0, channels, CHANNELS, &err));
  return h;
}

// Row i: irregular times, values that repeat, a missing value now and then, and a gap of 200 s.
static void fill_row(long i, double *row) {
  row[0] = -20.3 + 0.05 * (double)i + 0.01 * (double)(i * 7 % 5) + (i > 3000 ? 200 : 0);
  row[1] = i % 13 == 0 ? (double)NAN : sin(0.37 * (double)i) * (double)(1 + i % 100);
  row[2] = 1e6 + (double)(i * i % 977);
  row[3] = 1e3 / (1 + (double)i);
}

static void add(od_history *h, long from, long to, long per_transaction) {
  double row[1 + CHANNELS];
  for (long i = from; i < to; i++) {
    fill_row(i, row);
    done(od_history_add_row(h, 0, row, i, &err));
    if (i % per_transaction == 0) done(od_history_commit(h, &err));
  }
  done(od_history_commit(h, &err));
}

static sqlite3 *look(const char *path) {
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
  return db;
}

// Every complete bucket has minimum, maximum, count and sum of its rows; there is a bucket for each complete time with rows.
static void check_buckets(sqlite3 *db, long rows) {
  static const char sql[] =
      "SELECT name, level, number, count, min, max, sum FROM bucket JOIN channel ON channel.id = channel ORDER BY level, number";
  sqlite3_stmt *s = NULL;
  long seen[3] = {0};
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
  while (sqlite3_step(s) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(s, 0);
    const int level = sqlite3_column_int(s, 1), column = strcmp(name, "measured.x") == 0   ? 1
                                                         : strcmp(name, "estimate.k") == 0 ? 2
                                                                                           : 3;
    const double width = pow(8, level), begin = sqlite3_column_double(s, 2) * width;
    double row[1 + CHANNELS], low = INFINITY, high = -INFINITY, sum = 0;
    long count = 0;
    for (long i = 0; i < rows; i++) {
      fill_row(i, row);
      if (row[0] < begin || row[0] >= begin + width || isnan(row[column])) continue;
      low = fmin(low, row[column]), high = fmax(high, row[column]), sum += row[column];
      count++;
    }
    assert_int_equal(sqlite3_column_int64(s, 3), count);
    assert_true(sqlite3_column_double(s, 4) == low && sqlite3_column_double(s, 5) == high);
    near_relative(sqlite3_column_double(s, 6) + 1e-9, sum + 1e-9, 1e-9);
    if (level < 3) seen[level] += count;
  }
  sqlite3_finalize(s);
  for (int level = 0; level < 3; level++) assert_true(seen[level] > 0.8 * 2.9 * (double)rows);
}

static void test_pyramid(void **state) {
  scratch *s = *state;
  const od_twin_history settings = settings_of(s, "a.db");
  double last;
  od_history *h = open_with(&settings, &last);
  assert_true(last == -INFINITY);
  add(h, 0, 9000, 37);
  sqlite3 *db = look(settings.file);
  check_buckets(db, 9000);
  assert_true(query(db, "SELECT sum(rows) FROM block") == 9000);
  // The estimate at the end of a second, with its standard deviation.
  double row[1 + CHANNELS], before[1 + CHANNELS];
  for (long i = 1; i < 9000; i++) {
    fill_row(i - 1, before), fill_row(i, row);
    if (floor(before[0]) == floor(row[0])) continue;
    char sql[300];
    snprintf(
        sql, sizeof sql,
        "SELECT count(*) FROM estimates WHERE channel = 'estimate.k' AND t = %.17g AND value = %.17g AND sigma = %.17g",
        before[0], before[2], before[3]);
    assert_true(query(db, sql) == 1);
  }
  assert_true(query(db, "SELECT count(DISTINCT channel) FROM estimates") == 1);
  sqlite3_close(db);
  od_history_close(h);
}

// A history that is closed after each part, and in which rows are added again, has the same tables as one without interruption.
static void test_again(void **state) {
  scratch *s = *state;
  od_twin_history settings = settings_of(s, "b.db");
  double last;
  char first[512];
  snprintf(first, sizeof first, "%s", settings.file);
  for (long part = 0; part < 9; part++) {
    od_history *h = open_with(&settings, &last);
    add(h, part > 0 ? 1000 * part - 300 : 0, 1000 * part + 1000, 37);
    od_history_close(h);
  }
  settings = settings_of(s, "c.db");
  od_history *h = open_with(&settings, &last);
  add(h, 0, 9000, 101);
  od_history_close(h);
  sqlite3 *db = look(settings.file);
  char sql[700];
  snprintf(sql, sizeof sql, "ATTACH '%s' AS other", first);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  static const char *const tables[] = {"bucket", "estimate", "channel"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (int way = 0; way < 2; way++) {
      snprintf(sql, sizeof sql, "SELECT count(*) FROM (SELECT * FROM %s.%s EXCEPT SELECT * FROM %s.%s)",
               way ? "main" : "other", tables[i], way ? "other" : "main", tables[i]);
      assert_true(query(db, sql) == 0);
    }
  assert_true(query(db, "SELECT sum(rows) FROM other.block") == 9000);
  sqlite3_close(db);
}

// A chart at any zoom: minimum, maximum and number of the values are those of the rows, and there are not many more points than wanted.
static void test_read(void **state) {
  scratch *s = *state;
  const od_twin_history settings = settings_of(s, "d.db");
  double last;
  od_history *h = open_with(&settings, &last);
  add(h, 0, 9000, 37);
  static const struct {
    double from, to;
    int points;
  } wishes[] = {{-100, 1000, 100}, {-100, 1000, 10}, {0, 40, 20},   {3, 4, 1000},
                {-20, 100, 1},     {400, 800, 30},   {1e4, 2e4, 10}};
  for (size_t k = 0; k < sizeof wishes / sizeof *wishes; k++) {
    od_arena memory = {0};
    od_history_point *point;
    int count;
    done(od_history_read(h, &memory, "crane", "measured.x", wishes[k].from, wishes[k].to, wishes[k].points, &point,
                         &count, &err));
    assert_true(count <= wishes[k].points + 8 * OD_LEVELS + 200);
    double low = INFINITY, high = -INFINITY, row[1 + CHANNELS], rows_low = INFINITY, rows_high = -INFINITY;
    long values = 0, rows = 0;
    for (int i = 0; i < count; i++) {
      if (i > 0) assert_true(point[i].from >= point[i - 1].to);
      low = fmin(low, point[i].min), high = fmax(high, point[i].max);
      assert_true(point[i].mean >= point[i].min - 1e-9 && point[i].mean <= point[i].max + 1e-9);
      values += point[i].count;
    }
    const double from = count > 0 ? fmin(point[0].from, wishes[k].from) : 0,
                 to = count > 0 ? fmax(point[count - 1].to, wishes[k].to) : 0;
    for (long i = 0; i < 9000; i++) {
      fill_row(i, row);
      const bool is_row = count > 0 && point[count - 1].from == point[count - 1].to;
      if (isnan(row[1]) || row[0] < from || (is_row ? row[0] > to : row[0] >= to)) continue;
      rows_low = fmin(rows_low, row[1]), rows_high = fmax(rows_high, row[1]);
      rows++;
    }
    assert_int_equal(values, rows);
    assert_true(low == rows_low && high == rows_high);
    od_arena_free(&memory);
  }
  od_arena memory = {0};
  od_history_point *point;
  int count;
  assert_int_equal(od_history_read(h, &memory, "crane", "measured.z", 0, 1, 10, &point, &count, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "no channel 'measured.z'"));
  od_arena_free(&memory);
  od_history_close(h);
}

static void test_retention(void **state) {
  scratch *s = *state;
  od_twin_history settings = settings_of(s, "e.db");
  double last;
  long removed = 1;
  settings.rows_for = 100, settings.keep = 150;
  od_history *h = open_with(&settings, &last);
  add(h, 0, 9000, 37);
  double row[1 + CHANNELS];
  fill_row(8999, row);
  for (int i = 0; removed > 0 && i < 100; i++) done(od_history_retain(h, &removed, &err));
  assert_int_equal(removed, 0);
  sqlite3 *db = look(settings.file);
  const double rows_from = query(db, "SELECT min(first) FROM block"),
               buckets_from = query(db, "SELECT min(number) FROM bucket WHERE level = 0");
  assert_true(rows_from > row[0] - 105 && rows_from <= row[0] - 100);
  assert_true(buckets_from == floor(row[0] - 150));
  assert_true(query(db, "SELECT min(t) FROM estimate") >= row[0] - 150);
  sqlite3_close(db);
  od_history_close(h);
  // By size: the used part becomes small enough, the oldest rows go first, and what the open buckets need remains.
  settings = settings_of(s, "g.db");
  settings.size = 300000;
  h = open_with(&settings, &last);
  add(h, 0, 9000, 37);
  assert_true(od_history_size(h) > 1.5 * settings.size);
  removed = 1;
  for (int i = 0; removed > 0 && i < 1000; i++) done(od_history_retain(h, &removed, &err));
  assert_true(od_history_size(h) <= settings.size);
  db = look(settings.file);
  assert_true(query(db, "SELECT min(first) FROM block") > 100 && query(db, "SELECT max(last) FROM block") == row[0]);
  assert_true(query(db, "SELECT min(number) FROM bucket WHERE level = 2") == floor(-20.3 / 64));
  sqlite3_close(db);
  od_history_close(h);
}

// The rows after a time, by the names of channels.
static void test_rows(void **state) {
  scratch *s = *state;
  const od_twin_history settings = settings_of(s, "h.db");
  static const char *const names[] = {"sigma.k", "none", "measured.x"};
  double last, *rows, row[1 + CHANNELS];
  long count;
  int64_t sequence;
  od_history *h = open_with(&settings, &last);
  add(h, 0, 500, 37);
  od_arena memory = {0};
  fill_row(399, row);
  done(od_history_read_rows(h, &memory, 0, row[0], names, 3, &rows, &count, &sequence, &err));
  assert_true(count == 100 && sequence == 499);
  for (long i = 0; i < count; i++) {
    fill_row(400 + i, row);
    assert_true(rows[4 * i] == row[0] && rows[4 * i + 1] == row[3] && isnan(rows[4 * i + 2]));
    assert_true(rows[4 * i + 3] == row[1] || (isnan(rows[4 * i + 3]) && isnan(row[1])));
  }
  done(od_history_read_rows(h, &memory, 0, 1e9, names, 3, &rows, &count, &sequence, &err));
  assert_true(count == 0 && sequence == -1);
  od_arena_free(&memory);
  od_history_close(h);
}

static void test_checkpoint_and_events(void **state) {
  scratch *s = *state;
  const od_twin_history settings = settings_of(s, "f.db");
  double last, t = 0;
  int64_t sequence = 0;
  char bytes[] = "a state\0with zeros";
  od_history *h = open_with(&settings, &last);
  od_checkpoint c = {bytes, sizeof bytes}, found;
  done(od_history_read_checkpoint(h, 0, &t, &sequence, &found, &err));
  assert_null(found.bytes);
  for (int i = 0; i < 3; i++) done(od_history_add_checkpoint(h, 0, 1.5 + i, 7 + i, 0, &c, &err));
  done(od_history_add_event(h, 0, NAN, 1e9, "late", "1 sample arrived too late", &err));
  done(od_history_add_event(h, -1, 2.5, 1e9, "note", "it's \"text\"", &err));
  done(od_history_commit(h, &err));
  od_history_close(h);
  h = open_with(&settings, &last);
  done(od_history_read_checkpoint(h, 0, &t, &sequence, &found, &err));
  assert_true(t == 3.5 && sequence == 9 && found.size == sizeof bytes);
  assert_memory_equal(found.bytes, bytes, sizeof bytes);
  od_checkpoint_free(&found);
  sqlite3 *db = look(settings.file);
  assert_true(query(db, "SELECT count(*) FROM event WHERE machine = 1 AND t IS NULL AND kind = 'late'") == 1);
  assert_true(
      query(
          db,
          "SELECT count(*) FROM event WHERE machine IS NULL AND t = 2.5 AND text = 'it''s \"text\"' AND acknowledged IS NULL") ==
      1);
  sqlite3_close(db);
  od_history_close(h);
}

// A database of version 1 with data is migrated; the data remain, and the schema is that of a new database.
static void test_migration(void **state) {
  scratch *s = *state;
  od_twin_history settings = settings_of(s, "old.db");
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open(settings.file, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, od_history_migration(0), NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(
      sqlite3_exec(
          db,
          "PRAGMA application_id = 0x6f646c74; PRAGMA user_version = 1; INSERT INTO machine VALUES (1, 'crane', 'Old');"
          "INSERT INTO event VALUES (1, 1, 0.5, 1e9, 'late', 'x');",
          NULL, NULL, NULL),
      SQLITE_OK);
  sqlite3_close(db);
  double last;
  char sql[700], old[512];
  snprintf(old, sizeof old, "%s", settings.file);
  od_history *h = open_with(&settings, &last);
  add(h, 0, 100, 10);
  od_history_close(h);
  settings = settings_of(s, "new.db");
  od_history_close(open_with(&settings, &last));
  db = look(settings.file);
  snprintf(sql, sizeof sql, "ATTACH '%s' AS other", old);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  assert_true(query(db, "PRAGMA other.user_version") == OD_HISTORY_VERSION &&
              query(db, "PRAGMA user_version") == OD_HISTORY_VERSION);
  assert_true(
      query(
          db,
          "SELECT count(*) FROM (SELECT type, name, sql FROM sqlite_master EXCEPT SELECT type, name, sql FROM other.sqlite_master)") ==
      0);
  assert_true(query(db, "SELECT count(*) FROM other.event WHERE t = 0.5 AND acknowledged IS NULL") == 1);
  assert_true(query(db, "SELECT sum(rows) FROM other.block") == 100 &&
              query(db, "SELECT count(*) FROM other.machine WHERE title = 'A crane'") == 1);
  sqlite3_close(db);
}

static void refuses(const od_twin_history *settings, od_status status, const char *why) {
  od_history *h = NULL;
  assert_int_equal(od_history_open(settings, &h, &err), status);
  if (!strstr(err.text, why)) fail_msg("'%s' is not in '%s'", why, err.text);
  assert_null(h);
}

static void test_refused(void **state) {
  scratch *s = *state;
  od_twin_history settings = settings_of(s, "text.db");
  scratch_put(
      s, "text.db",
      "this is a text file and not a database, whatever its name may be, and it is long enough to have a header .....");
  refuses(&settings, OD_BAD_INPUT, "is not an SQLite database");
  settings = settings_of(s, "other.db");
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open(settings.file, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "CREATE TABLE a (b)", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  refuses(&settings, OD_BAD_INPUT, "is a database of another program");
  settings = settings_of(s, "newer.db");
  double last;
  od_history *h = open_with(&settings, &last);
  refuses(&settings, OD_IO, "is being written by another twin");
  od_history_close(h);
  assert_int_equal(sqlite3_open(settings.file, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  refuses(&settings, OD_BAD_INPUT, "has version 99; this program reads versions up to 2");
  settings.file = "/nonexistent/folder/a.db";
  refuses(&settings, OD_IO, "No such file or directory");
}

// A COMMIT fails while another connection reads, if the database is not in WAL mode. The transaction is then not open any more: the next one
// begins, and its rows are stored. Oracle: SQLite.
static void test_busy(void **state) {
  char path[512];
  snprintf(path, sizeof path, "%s", scratch_path(*state, "busy.db"));
  const od_twin_history settings = {.file = path};
  const od_store_class *class = &od_sqlite_store;
  od_store *store = NULL;
  done(class->open(&settings, false, &store, &err));
  assert_true(class->run(store, "PRAGMA busy_timeout = 10; CREATE TABLE x (n INTEGER)"));
  sqlite3 *reader = look(path);
  assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT * FROM x", NULL, NULL, NULL), SQLITE_OK);
  assert_true(class->begin(store) && class->run(store, "INSERT INTO x VALUES (1)"));
  assert_int_equal(class->commit(store), OD_NOT_COMMITTED);
  assert_non_null(strstr(store->reason, "locked"));
  assert_int_equal(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
  assert_true(class->begin(store) && class->run(store, "INSERT INTO x VALUES (2)"));
  assert_int_equal(class->commit(store), OD_COMMITTED);
  sqlite3_stmt *s = NULL;
  assert_int_equal(sqlite3_prepare_v2(reader, "SELECT count(*), max(n) FROM x", -1, &s, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(s), SQLITE_ROW);
  assert_true(sqlite3_column_int(s, 0) == 1 && sqlite3_column_int(s, 1) == 2);
  sqlite3_finalize(s);
  sqlite3_close(reader);
  class->close(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_pyramid, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_again, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_read, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_retention, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_checkpoint_and_events, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_rows, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_migration, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_busy, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_refused, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
