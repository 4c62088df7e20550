// Reads a channel for a chart, or the rows of a machine. Long times of a channel are read from the pyramid, so that the work depends on the number of
// points and not on the number of samples. The time after the last complete bucket is read from the next finer level, and in the end from the rows.
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
    return od_fail(r->err, OD_BAD_INPUT, "found more than %d points; request a shorter time", MOST_POINTS);
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

static od_status read_block(reading *r, const od_value *block, int64_t rows, int at, double from, double to) {
  const size_t n = (size_t)rows, d = sizeof(double);
  const char *data = block->bytes;
  if (rows < 0 || block->size < ((size_t)at + 2) * n * d)
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
  od_statement *s = od_history_prepare(
      r->h,
      "SELECT rows, data, channels FROM block JOIN layout ON layout.id = block.layout WHERE block.machine = $1 AND last >= $2 AND last <= "
      "coalesce((SELECT min(last) FROM block WHERE machine = $1 AND last >= $3), 1e300) ORDER BY last",
      r->err);
  if (!s) return OD_IO;
  od_bind_integer(s, 1, r->machine);
  od_bind_number(s, 2, from);
  od_bind_number(s, 3, to);
  od_status status = OD_OK;
  while (od_history_next(r->h, s, &status, r->err)) {
    const int at = position_in(od_column_text(s, 2), r->channel);
    const od_value block = od_column(s, 1);
    if (at >= 0) status = read_block(r, &block, od_column_integer(s, 0), at, from, to);
  }
  od_statement_end(s);
  return status;
}

// Reads the times from `from` to `to` (s) from a level of the pyramid; level -1: from the rows.
static od_status read_level(reading *r, int level, double from, double to) {
  if (level < 0) return read_rows(r, from, to);
  const double width = od_history_width(level);
  od_statement *s = od_history_prepare(
      r->h,
      "SELECT number, count, min, max, sum FROM bucket WHERE channel = $1 AND level = $2 AND number >= $3 AND number <= $4 ORDER BY number",
      r->err);
  if (!s) return OD_IO;
  od_bind_integer(s, 1, r->channel);
  od_bind_integer(s, 2, level);
  od_bind_integer(s, 3, od_bucket_at(from, level));
  od_bind_integer(s, 4, od_bucket_at(to, level));
  od_status status = OD_OK;
  double end = from;
  while (od_history_next(r->h, s, &status, r->err)) {
    const double begin = (double)od_column_integer(s, 0) * width;
    const long count = (long)od_column_integer(s, 1);
    end = begin + width;
    status = add_point(r, &(od_history_point){begin, end, od_column_number(s, 2), od_column_number(s, 3),
                                              od_column_number(s, 4) / (double)count, count});
  }
  od_statement_end(s);
  return status == OD_OK && end < to ? read_level(r, level - 1, end, to) : status;
}

// Finds the ids of machine and channel. Fails with OD_BAD_INPUT or OD_IO.
static od_status find_channel(reading *r, const char *machine, const char *channel) {
  od_statement *s = od_history_prepare(
      r->h,
      "SELECT machine.id, channel.id FROM channel JOIN machine ON machine.id = channel.machine WHERE machine.name = $1 AND channel.name = $2",
      r->err);
  if (!s) return OD_IO;
  od_bind_text(s, 1, machine);
  od_bind_text(s, 2, channel);
  od_status status = OD_OK;
  const bool found = od_history_next(r->h, s, &status, r->err);
  if (found) r->machine = od_column_integer(s, 0), r->channel = od_column_integer(s, 1);
  od_statement_end(s);
  return found || status != OD_OK
             ? status
             : od_fail(
                   r->err, OD_BAD_INPUT,
                   "the history has no channel '%.60s' of a machine '%.60s'; expected a machine and a channel of the twin",
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
  od_statement *find = od_history_prepare(h, "SELECT id FROM channel WHERE machine = $1 AND name = $2", err);
  od_statement *s = od_history_prepare(
      h,
      "SELECT rows, data, channels, sequence FROM block JOIN layout ON layout.id = block.layout WHERE block.machine = $1 AND last > $2 ORDER BY last",
      err);
  od_status status = find && s ? OD_OK : OD_IO;
  if (od_arena_status(&scratch) != OD_OK) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  *out = NULL;
  *rows = 0;
  *sequence = -1;
  for (int c = 0; c < count && status == OD_OK; c++) {
    od_bind_integer(find, 1, h->machine[machine].id);
    od_bind_text(find, 2, name[c]);
    id[c] = od_history_next(h, find, &status, err) ? od_column_integer(find, 0) : -1;
    od_statement_reset(find);
  }
  if (s) od_bind_integer(s, 1, h->machine[machine].id), od_bind_number(s, 2, after);
  while (s && od_history_next(h, s, &status, err)) {
    const char *list = od_column_text(s, 2);
    const int n = (int)od_column_integer(s, 0);
    const od_value block = od_column(s, 1);
    *sequence = od_column_integer(s, 3);
    for (int c = 0; c < count; c++) at[c] = id[c] < 0 ? -1 : position_in(list, id[c]);
    if ((int64_t)block.size != (int64_t)n * (count_of(list) + 1) * (int64_t)sizeof(double))
      status = od_fail(err, OD_BAD_INPUT, "a block of the history is damaged");
    else if (append_rows(memory, block.bytes, n, at, count, after, out, rows) != OD_OK)
      status = od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  od_statement_end(find);
  od_statement_end(s);
  return status;
}
