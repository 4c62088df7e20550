// Reads a channel for a chart. Long times are read from the pyramid, so that the work depends on the number of points and not on the number of
// samples. The time after the last complete bucket is read from the next finer level, and in the end from the rows.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "history/history_file.h"
#include "memory/scoped.h"

typedef struct reading {
  od_history *h;
  od_arena *memory;
  int64_t machine, channel;
  od_history_point *point;
  int count, capacity;
  od_error *err;
} reading;

// Limit of the points of one call, also if the rows are dense.
enum { MOST_POINTS = 200000 };

static od_status add_point(reading *r, const od_history_point *p) {
  if (r->count == MOST_POINTS)
    return od_fail(r->err, OD_BAD_INPUT, "more than %d rows; expected a shorter time", MOST_POINTS);
  if (r->count == r->capacity) {
    const int capacity = r->capacity > 0 ? 2 * r->capacity : 256;
    od_history_point *list = OD_TAKE(r->memory, od_history_point, capacity);
    if (!list) return od_fail(r->err, OD_NO_MEMORY, "out of memory");
    if (r->count > 0) memcpy(list, r->point, (size_t)r->count * sizeof *list);
    r->point = list;
    r->capacity = capacity;
  }
  r->point[r->count++] = *p;
  return OD_OK;
}

// Returns the position of a channel in a list "3,4,7"; -1: not in the list.
static int position_in(const char *list, int64_t channel) {
  int at = 0;
  for (const char *c = list; c && *c; at++) {
    char *end;
    if (strtoll(c, &end, 10) == channel) return at;
    c = *end == ',' ? end + 1 : NULL;
  }
  return -1;
}

static od_status read_block(reading *r, const char *data, int bytes, int rows, int at, double from, double to) {
  const size_t n = (size_t)rows, d = sizeof(double);
  if ((size_t)bytes < ((size_t)at + 2) * n * d)
    return od_fail(r->err, OD_BAD_INPUT, "a block of the history is damaged");
  od_status status = OD_OK;
  for (size_t i = 0; i < n && status == OD_OK; i++) {
    double t, value;
    memcpy(&t, data + i * d, d);
    memcpy(&value, data + (((size_t)at + 1) * n + i) * d, d);
    if (t >= from && t <= to && !isnan(value)) status = add_point(r, &(od_history_point){t, t, value, value, value, 1});
  }
  return status;
}

// Blocks do not overlap, so reading ends with the block that has the smallest end after `to`. Fails with OD_BAD_INPUT,
// OD_IO or OD_NO_MEMORY.
static od_status read_rows(reading *r, double from, double to) {
  sqlite3_stmt *s = od_history_prepare(
      r->h,
      "SELECT rows, data, channels FROM block JOIN layout ON layout.id = block.layout WHERE block.machine = @m AND last >= @from AND last <= "
      "coalesce((SELECT min(last) FROM block WHERE machine = @m AND last >= @to), 1e300) ORDER BY last",
      r->err);
  if (!s) return OD_IO;
  sqlite3_bind_int64(s, 1, r->machine);
  sqlite3_bind_double(s, 2, from);
  sqlite3_bind_double(s, 3, to);
  od_status status = OD_OK;
  while (status == OD_OK && sqlite3_step(s) == SQLITE_ROW) {
    const int at = position_in((const char *)sqlite3_column_text(s, 2), r->channel);
    if (at >= 0)
      status =
          read_block(r, sqlite3_column_blob(s, 1), sqlite3_column_bytes(s, 1), sqlite3_column_int(s, 0), at, from, to);
  }
  sqlite3_finalize(s);
  return status;
}

// Reads the times from `from` to `to` (s) from a level of the pyramid; level -1: from the rows.
static od_status read_level(reading *r, int level, double from, double to) {
  if (level < 0) return read_rows(r, from, to);
  const double width = od_history_width(level);
  sqlite3_stmt *s = od_history_prepare(
      r->h,
      "SELECT number, count, min, max, sum FROM bucket WHERE channel = ? AND level = ? AND number >= ? AND number <= ? ORDER BY number",
      r->err);
  if (!s) return OD_IO;
  sqlite3_bind_int64(s, 1, r->channel);
  sqlite3_bind_int(s, 2, level);
  sqlite3_bind_int64(s, 3, od_bucket_at(from, level));
  sqlite3_bind_int64(s, 4, od_bucket_at(to, level));
  od_status status = OD_OK;
  double end = from;
  while (status == OD_OK && sqlite3_step(s) == SQLITE_ROW) {
    const double begin = (double)sqlite3_column_int64(s, 0) * width;
    const long count = (long)sqlite3_column_int64(s, 1);
    end = begin + width;
    status = add_point(r, &(od_history_point){begin, end, sqlite3_column_double(s, 2), sqlite3_column_double(s, 3),
                                              sqlite3_column_double(s, 4) / (double)count, count});
  }
  sqlite3_finalize(s);
  return status == OD_OK && end < to ? read_level(r, level - 1, end, to) : status;
}

// Finds the ids of machine and channel. Fails with OD_BAD_INPUT or OD_IO.
static od_status find_channel(reading *r, const char *machine, const char *channel) {
  sqlite3_stmt *s = od_history_prepare(
      r->h,
      "SELECT machine.id, channel.id FROM channel JOIN machine ON machine.id = channel.machine WHERE machine.name = ? AND channel.name = ?",
      r->err);
  if (!s) return OD_IO;
  sqlite3_bind_text(s, 1, machine, -1, SQLITE_STATIC);
  sqlite3_bind_text(s, 2, channel, -1, SQLITE_STATIC);
  const bool found = sqlite3_step(s) == SQLITE_ROW;
  if (found) r->machine = sqlite3_column_int64(s, 0), r->channel = sqlite3_column_int64(s, 1);
  sqlite3_finalize(s);
  return found
             ? OD_OK
             : od_fail(
                   r->err, OD_BAD_INPUT,
                   "the history has no channel '%.60s' of a machine '%.60s'; expected a machine of the twin file and a column of its rows",
                   channel, machine);
}

od_status od_history_read(od_history *h, od_arena *memory, const char *machine, const char *channel, double from,
                          double to, int points, od_history_point **out, int *count, od_error *err) {
  reading r = {.h = h, .memory = memory, .err = err};
  *out = NULL;
  *count = 0;
  od_status status = find_channel(&r, machine, channel);
  if (status != OD_OK) return status;
  int level = -1;
  while (level + 1 < OD_LEVELS && od_history_width(level + 1) <= (to - from) / (points > 1 ? points : 1)) level++;
  status = read_level(&r, level, from, to);
  *out = r.point;
  *count = r.count;
  return status;
}

// --- All channels -------------------------------------------------------------------------------------------------

// Appends the rows of a block to a list. Fails with OD_NO_MEMORY.
static od_status append_rows(od_arena *memory, const char *data, int rows, const int *at, int count, double after,
                             double **out, long *total) {
  const size_t n = (size_t)rows, d = sizeof(double);
  double *list = OD_TAKE_MATRIX(memory, double, *total + rows, count + 1);
  if (!list) return OD_NO_MEMORY;
  if (*total > 0) memcpy(list, *out, (size_t)*total * ((size_t)count + 1) * d);
  for (size_t i = 0; i < n; i++) {
    double *row = list + *total * (count + 1);
    memcpy(row, data + i * d, d);
    if (!(row[0] > after)) continue;
    for (int c = 0; c < count; c++) {
      row[1 + c] = NAN;
      if (at[c] >= 0) memcpy(&row[1 + c], data + (((size_t)at[c] + 1) * n + i) * d, d);
    }
    ++*total;
  }
  *out = list;
  return OD_OK;
}

// Returns the number of channels in a list "3,4,7".
static int count_of(const char *list) {
  int count = list && *list;
  for (const char *c = list; c && *c; c++) count += *c == ',';
  return count;
}

od_status od_history_read_rows(od_history *h, od_arena *memory, int machine, double after, const char *const *name,
                               int count, double **out, long *rows, int64_t *sequence, od_error *err) {
  OD_SCRATCH(scratch);
  int64_t *id = OD_TAKE(&scratch, int64_t, count);
  int *at = OD_TAKE(&scratch, int, count);
  sqlite3_stmt *find = od_history_prepare(h, "SELECT id FROM channel WHERE machine = ? AND name = ?", err);
  sqlite3_stmt *s = od_history_prepare(
      h,
      "SELECT rows, data, channels, sequence FROM block JOIN layout ON layout.id = block.layout WHERE block.machine = ? AND last > ? ORDER BY last",
      err);
  od_status status = find && s ? OD_OK : OD_IO;
  if (od_arena_status(&scratch) != OD_OK) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  *out = NULL;
  *rows = 0;
  *sequence = -1;
  for (int c = 0; c < count && status == OD_OK; c++) {
    sqlite3_bind_int64(find, 1, h->machine[machine].id);
    sqlite3_bind_text(find, 2, name[c], -1, SQLITE_STATIC);
    id[c] = sqlite3_step(find) == SQLITE_ROW ? sqlite3_column_int64(find, 0) : -1;
    sqlite3_reset(find);
  }
  if (s) sqlite3_bind_int64(s, 1, h->machine[machine].id), sqlite3_bind_double(s, 2, after);
  while (status == OD_OK && sqlite3_step(s) == SQLITE_ROW) {
    const char *list = (const char *)sqlite3_column_text(s, 2);
    const int n = sqlite3_column_int(s, 0);
    *sequence = sqlite3_column_int64(s, 3);
    for (int c = 0; c < count; c++) at[c] = id[c] < 0 ? -1 : position_in(list, id[c]);
    if ((int64_t)sqlite3_column_bytes(s, 1) != (int64_t)n * (count_of(list) + 1) * (int64_t)sizeof(double))
      status = od_fail(err, OD_BAD_INPUT, "a block of the history is damaged");
    else if (append_rows(memory, sqlite3_column_blob(s, 1), n, at, count, after, out, rows) != OD_OK)
      status = od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  sqlite3_finalize(find);
  sqlite3_finalize(s);
  return status;
}
