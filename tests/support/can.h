// CAN traces and databases of tests, and their decoding with the reader of tables.
#ifndef OD_TEST_CAN_H
#define OD_TEST_CAN_H

#include <string.h>

#include "support/test.h"
#include "formats/read_table.h"
#include "support/scratch.h"

// Reads a trace of the scratch folder with a database of this folder; NULL: without one.
static inline od_status can_try(scratch *s, const char *trace, const char *dbc, od_table **out, od_error *err) {
  char path[512];
  const char *databases[] = {path, NULL};
  snprintf(path, sizeof path, "%s", scratch_path(s, dbc ? dbc : "x"));
  return od_table_read(scratch_path(s, trace), &(od_table_wish){.databases = dbc ? databases : NULL}, out, err);
}

static inline od_table *can_read(scratch *s, const char *trace, const char *dbc) {
  od_table *t = NULL;
  od_error err = {0};
  if (can_try(s, trace, dbc, &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

// The message of a failure, which must have the status OD_BAD_INPUT.
static inline void can_fails(scratch *s, const char *trace, const char *dbc, const char *message) {
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(can_try(s, trace, dbc, &t, &err), OD_BAD_INPUT);
  assert_null(t);
  if (!strstr(err.text, message)) fail_msg("'%s' is not in:\n%s", message, err.text);
}

// A value of a column by its name.
static inline double can_value(const od_table *t, long row, const char *name) {
  int c = od_table_find(t, name);
  if (c < 0) fail_msg("there is no column '%s'", name);
  assert_in_range(row, 0, t->rows - 1);
  return t->data[row * t->columns + c];
}

// Equal bits, or both NAN.
static inline void can_same(double got, double want, const char *what) {
  if (memcmp(&got, &want, sizeof got) != 0 && !(isnan(got) && isnan(want)))
    fail_msg("%s: got %.17g, expected %.17g", what, got, want);
}

#endif
