// Queries of SQLite databases. Include after cmocka.h; for tests that link SQLite.
#ifndef OD_TEST_SQLITE_H
#define OD_TEST_SQLITE_H

#include <math.h>
#include <sqlite3.h>

// Returns the first value of a query that must have a row; NAN: NULL.
static inline double query(sqlite3 *db, const char *sql) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
  assert_int_equal(sqlite3_step(s), SQLITE_ROW);
  const double value = sqlite3_column_type(s, 0) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(s, 0);
  sqlite3_finalize(s);
  return value;
}

#endif
