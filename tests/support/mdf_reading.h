// Comparisons of MDF files that a test has written (mdf_writer.h) with the table that od_table_read() reads. Include after test.h.
#ifndef OD_TEST_MDF_READING_H
#define OD_TEST_MDF_READING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "support/mdf_writer.h"
#include "support/scratch.h"

// Finishes a file with these data groups, writes the file to the folder and frees it. Returns the path, valid until the next call.
static inline const char *mdf_finish(scratch *s, mdf_file *f, const uint64_t *data_groups) {
  mdf_end(f, data_groups);
  const char *path = scratch_path(s, "f.mf4");
  mdf_save(f, path);
  mdf_free(f);
  return path;
}

// Reads a file; the test fails with the message if the file cannot be read. The caller frees the table.
static inline od_table *mdf_read(const char *path) {
  od_error err = {0};
  od_table *t = NULL;
  if (od_table_read(path, NULL, &t, &err) != OD_OK) fail_msg("%s", err.text);
  assert_string_equal(t->name[0], "time");
  assert_string_equal(t->unit[0], "s");
  return t;
}

// Returns the column of a name; -1: there is no such column.
static inline int mdf_find(const od_table *t, const char *name) {
  for (int i = 0; i < t->columns; i++)
    if (strcmp(t->name[i], name) == 0) return i;
  return -1;
}

static inline int mdf_column(const od_table *t, const char *name) {
  int found = mdf_find(t, name);
  if (found >= 0) return found;
  for (int i = 0; i < t->columns; i++) print_error("column '%s'\n", t->name[i]);
  fail_msg("no column '%s'", name);
  return -1;
}

// Returns whether two numbers are equal to the bit, or both are NaN.
static inline bool mdf_same(double a, double b) {
  return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

// Compares a column with its values, one per row.
static inline void mdf_expect(const od_table *t, const char *name, const double *want, long rows) {
  int c = mdf_column(t, name);
  assert_int_equal(t->rows, rows);
  for (long i = 0; i < rows; i++) {
    double got = t->data[i * t->columns + c];
    if (!mdf_same(got, want[i])) fail_msg("'%s', row %ld: got %.17g, expected %.17g", name, i, got, want[i]);
  }
}

// Compares the rows where a column has a number with times and values of its group.
static inline void mdf_expect_series(const od_table *t, const char *name, const double *times, const double *want,
                                     long n) {
  int c = mdf_column(t, name);
  long k = 0;
  for (long i = 0; i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    if (isnan(row[c])) continue;
    if (k == n) fail_msg("'%s' has more than %ld values", name, n);
    if (!mdf_same(row[0], times[k]) || !mdf_same(row[c], want[k]))
      fail_msg("'%s', value %ld: got %.17g at %.17g s, expected %.17g at %.17g s", name, k, row[c], row[0], want[k],
               times[k]);
    k++;
  }
  assert_int_equal(k, n);
}

// Requires that a channel without numbers has no column, or a column of missing values.
static inline void mdf_expect_missing(const od_table *t, const char *name) {
  int c = mdf_find(t, name);
  for (long i = 0; c >= 0 && i < t->rows; i++)
    if (!isnan(t->data[i * t->columns + c]))
      fail_msg("'%s', row %ld: got %.17g, expected nothing", name, i, t->data[i * t->columns + c]);
}

static inline void mdf_expect_unit(const od_table *t, const char *name, const char *unit) {
  assert_string_equal(t->unit[mdf_column(t, name)], unit);
}

// A time channel: a float of 8 bytes, in s, at the start of the record.
static inline uint64_t mdf_time_channel(mdf_file *f) {
  return mdf_channel(
      f,
      &(mdf_cn){.name = "t", .unit = "s", .type = MDF_MASTER, .sync = MDF_TIME, .data_type = MDF_FLOAT_LE, .bits = 64});
}

// Random numbers, the same in every run (splitmix64).
static inline uint64_t mdf_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

#endif
