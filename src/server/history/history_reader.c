#include "history/history_reader.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "history/history_file.h"
#include "io/clock.h"

// --- Opening ------------------------------------------------------------------------------------------------------

static void begin_reading(od_history *h) {
  h->store->until = od_seconds() + OD_LONGEST_READING;
}

od_status od_history_reader_open(const od_twin_history *settings, od_history **out, od_error *err) {
  OD_OWNED(od_history_close) od_history *h = od_calloc(1, sizeof *h);
  const od_store_class *class = NULL;
  *out = NULL;
  if (!h) return od_fail(err, OD_NO_MEMORY, "out of memory");
  h->settings = *settings;
  od_status status = od_store_class_of(settings, &class, err);
  if (status == OD_OK) status = class->open(settings, true, &h->store, err);
  if (status == OD_OK) *out = OD_GIVE(h);
  return status;
}

// Returns the id of a machine; -1: there is none.
static int64_t find_machine(od_history *h, const char *machine, od_status *status, od_error *err) {
  od_statement *s = od_history_prepare(h, "SELECT id FROM machine WHERE name = $1", err);
  if (!s) {
    *status = OD_IO;
    return -1;
  }
  od_bind_text(s, 1, machine);
  const int64_t id = od_history_next(h, s, status, err) ? od_column_integer(s, 0) : -1;
  od_statement_end(s);
  return id;
}

static int64_t find_channel(od_history *h, int64_t machine, const char *channel, od_status *status, od_error *err) {
  od_statement *s = od_history_prepare(h, "SELECT id FROM channel WHERE machine = $1 AND name = $2", err);
  if (!s) {
    *status = OD_IO;
    return -1;
  }
  od_bind_integer(s, 1, machine);
  od_bind_text(s, 2, channel);
  const int64_t id = od_history_next(h, s, status, err) ? od_column_integer(s, 0) : -1;
  od_statement_end(s);
  return id;
}

// Returns the first number of a query with the parameters a and b (-1: only a); NAN: none.
static double ask(od_history *h, const char *sql, int64_t a, int64_t b, od_status *status, od_error *err) {
  double value = NAN;
  od_statement *s = od_history_prepare(h, sql, err);
  if (!s) {
    *status = OD_IO;
    return NAN;
  }
  od_bind_integer(s, 1, a);
  if (b >= 0) od_bind_integer(s, 2, b);
  if (od_history_next(h, s, status, err)) value = od_column_number(s, 0);
  od_statement_end(s);
  return value;
}

od_status od_history_reader_span(od_history *h, const char *machine, od_history_span *span, od_error *err) {
  od_status status = OD_OK;
  *span = (od_history_span){NAN, NAN};
  begin_reading(h);
  const int64_t id = find_machine(h, machine, &status, err);
  if (id < 0) return status;
  span->last = ask(h, "SELECT last FROM block WHERE machine = $1 ORDER BY last DESC LIMIT 1", id, -1, &status, err);
  // The first bucket of a level contains the first data of this level; a finer level and the rows refine the start if they have data in this bucket.
  const double channel = ask(h, "SELECT min(id) FROM channel WHERE machine = $1", id, -1, &status, err);
  double end = INFINITY;
  for (int level = OD_LEVELS - 1; level >= 0 && status == OD_OK && !isnan(channel); level--) {
    const double width = od_history_width(level),
                 begin = width * ask(h, "SELECT min(number) FROM bucket WHERE channel = $1 AND level = $2",
                                     (int64_t)channel, level, &status, err);
    if (begin < end) span->first = begin, end = begin + width;
  }
  const double rows = ask(h, "SELECT first FROM block WHERE machine = $1 ORDER BY last LIMIT 1", id, -1, &status, err);
  if (rows < end) span->first = rows;
  return status;
}

// --- Bins ---------------------------------------------------------------------------------------------------------

// Largest size of blocks whose rows are read, bytes. Instead of larger blocks, buckets of 1 s are read.
static const double most_row_bytes = 48e6;

typedef struct bin {
  double min, max, sum;
  long count;
} bin;

typedef struct binning {
  od_history *h;
  od_error *err;
  od_status status;
  int64_t machine, *id;
  int channels, bins, rows_room;
  double from, to, width;
  int64_t first;  // number of the first bin: bins begin at multiples of the width
  bin *bin;       // channels x bins
  double *row;    // the first rows: rows_room x (1 + channels)
  long rows;      // number of rows that were read
} binning;

static void add_to_bin(binning *b, int channel, double t, double min, double max, double sum, long count) {
  const int64_t at = (int64_t)floor(t / b->width) - b->first;
  if (at < 0 || at >= b->bins || count <= 0) return;
  bin *to = &b->bin[channel * b->bins + at];
  to->min = to->count ? fmin(to->min, min) : min;
  to->max = to->count ? fmax(to->max, max) : max;
  to->sum += sum;
  to->count += count;
}

// Returns the position of a channel in a list "3,4,7"; -1: not in the list.
static int position_in(const char *list, int64_t channel) {
  int at = 0;
  for (const char *c = list; c && *c; at++) {
    int64_t id = 0;
    while (*c >= '0' && *c <= '9') id = 10 * id + (*c++ - '0');
    if (id == channel) return at;
    if (*c == ',') c++;
  }
  return -1;
}

static double number_at(const char *data, size_t at) {
  double value;
  memcpy(&value, data + at * sizeof value, sizeof value);
  return value;
}

static void add_block(binning *b, const char *data, size_t bytes, size_t n, const int *at, double from, double to) {
  for (size_t i = 0; i < n; i++) {
    const double t = number_at(data, i);
    if (t < from || t > to) continue;
    double *row = b->rows < b->rows_room ? b->row + b->rows * (1 + b->channels) : NULL;
    b->rows++;
    if (row) row[0] = t;
    for (int c = 0; c < b->channels; c++) {
      const double value = at[c] >= 0 && ((size_t)at[c] + 2) * n * sizeof value <= bytes
                               ? number_at(data, ((size_t)at[c] + 1) * n + i)
                               : (double)NAN;
      if (row) row[1 + c] = value;
      if (isfinite(value)) add_to_bin(b, c, t, value, value, value, 1);
    }
  }
}

// Reads all channels from the rows between two times. Blocks do not overlap, so reading ends with the block that has the smallest
// end after `to`.
static void read_rows(binning *b, double from, double to) {
  OD_SCRATCH(scratch);
  int *at = OD_TAKE(&scratch, int, b->channels);
  od_statement *s = od_history_prepare(
      b->h,
      "SELECT rows, data, channels FROM block JOIN layout ON layout.id = block.layout WHERE block.machine = $1 AND last >= $2 AND last <= "
      "coalesce((SELECT min(last) FROM block WHERE machine = $1 AND last >= $3), 1e300) ORDER BY last",
      b->err);
  if (!s || !at) {
    od_statement_end(s);
    b->status = s ? od_fail(b->err, OD_NO_MEMORY, "out of memory") : OD_IO;
    return;
  }
  od_bind_integer(s, 1, b->machine);
  od_bind_number(s, 2, from);
  od_bind_number(s, 3, to);
  while (od_history_next(b->h, s, &b->status, b->err)) {
    const char *list = od_column_text(s, 2);
    const od_value block = od_column(s, 1);
    const int64_t n = od_column_integer(s, 0);
    for (int c = 0; c < b->channels; c++) at[c] = b->id[c] < 0 ? -1 : position_in(list, b->id[c]);
    if (n < 0 || (uint64_t)n > block.size / sizeof(double)) {
      b->status = od_fail(b->err, OD_IO, "a block of the history is damaged");
      break;
    }
    add_block(b, block.bytes, block.size, (size_t)n, at, from, to);
    if (od_seconds() > b->h->store->until)
      b->status =
          od_fail(b->err, OD_IO, "reading the history takes too long; request a shorter time or fewer channels");
  }
  od_statement_end(s);
}

// Reads a channel from the buckets of a level. The time after the last complete bucket is read from the finer levels. Returns the time up to which
// there are buckets, s; the caller reads the rest from the rows.
static double read_buckets(binning *b, int channel, int level, double from, double to) {
  const double width = od_history_width(level);
  od_statement *s = od_history_prepare(
      b->h,
      "SELECT number, count, min, max, sum FROM bucket WHERE channel = $1 AND level = $2 AND number >= $3 AND number <= $4 ORDER BY number",
      b->err);
  if (!s) {
    b->status = OD_IO;
    return to;
  }
  od_bind_integer(s, 1, b->id[channel]);
  od_bind_integer(s, 2, level);
  od_bind_integer(s, 3, od_bucket_at(from, level));
  od_bind_integer(s, 4, od_bucket_at(to, level));
  double end = from;
  while (od_history_next(b->h, s, &b->status, b->err)) {
    const double begin = (double)od_column_integer(s, 0) * width;
    end = begin + width;
    add_to_bin(b, channel, begin + 0.5 * width, od_column_number(s, 2), od_column_number(s, 3), od_column_number(s, 4),
               (long)od_column_integer(s, 1));
  }
  od_statement_end(s);
  if (b->status != OD_OK || end >= to || level == 0) return end;
  return read_buckets(b, channel, level - 1, end, to);
}

// Chooses the coarsest level whose buckets are not longer than a bin. Returns -1, the rows, for times whose rows have at most
// most_row_bytes.
static int choose_level(binning *b, double width) {
  int level = -1;
  while (level + 1 < OD_LEVELS && od_history_width(level + 1) <= width) level++;
  if (level >= 0) return level;
  od_statement *s = od_history_prepare(
      b->h,
      "SELECT CAST(sum(length(data)) AS DOUBLE PRECISION) FROM block WHERE machine = $1 AND last >= $2 AND last <= coalesce((SELECT min(last) FROM block WHERE machine = "
      "$1 AND last >= $3), 1e300)",
      b->err);
  if (!s) {
    b->status = OD_IO;
    return -1;
  }
  od_bind_integer(s, 1, b->machine);
  od_bind_number(s, 2, b->from);
  od_bind_number(s, 3, b->to);
  const double bytes = od_history_next(b->h, s, &b->status, b->err) ? od_column_number(s, 0) : 0;
  od_statement_end(s);
  return bytes <= most_row_bytes ? -1 : 0;
}

// Copies the bins of a channel that have values. Fails with OD_NO_MEMORY.
static od_status give_bins(const binning *b, int channel, int level, od_arena *memory, od_history_bins *out) {
  const bin *from = b->bin + channel * b->bins;
  double *numbers = OD_TAKE_MATRIX(memory, double, 4, b->bins > 0 ? b->bins : 1);
  if (!numbers) return OD_NO_MEMORY;
  double *t = numbers, *min = t + b->bins, *mean = min + b->bins, *max = mean + b->bins;
  int n = 0;
  for (int i = 0; i < b->bins; i++) {
    if (from[i].count == 0) continue;
    t[n] = ((double)(b->first + i) + 0.5) * b->width;
    min[n] = from[i].min;
    mean[n] = from[i].sum / (double)from[i].count;
    max[n++] = from[i].max;
  }
  *out = (od_history_bins){level, b->width, n, t, min, mean, max};
  return OD_OK;
}

// Copies the rows that were read as bins: one for each row with a value of the channel. Fails with OD_NO_MEMORY.
static od_status give_rows(const binning *b, int channel, od_arena *memory, od_history_bins *out) {
  double *numbers = OD_TAKE_MATRIX(memory, double, 2, b->rows > 0 ? b->rows : 1);
  if (!numbers) return OD_NO_MEMORY;
  double *t = numbers, *value = t + b->rows;
  int n = 0;
  for (long i = 0; i < b->rows; i++) {
    const double *row = b->row + i * (1 + b->channels);
    if (!isfinite(row[1 + channel])) continue;
    t[n] = row[0];
    value[n++] = row[1 + channel];
  }
  *out = (od_history_bins){-1, 0, n, t, value, value, value};
  return OD_OK;
}

od_status od_history_reader_bins(od_history *h, od_arena *memory, const char *machine, const char *const *channel,
                                 int channels, double from, double to, int points, od_history_bins *out,
                                 od_error *err) {
  OD_SCRATCH(scratch);
  binning b = {.h = h, .err = err, .channels = channels, .from = from, .to = to, .rows_room = points};
  memset(out, 0, (size_t)channels * sizeof *out);
  begin_reading(h);
  b.machine = find_machine(h, machine, &b.status, err);
  b.id = OD_TAKE(&scratch, int64_t, channels);
  if (!b.id) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int c = 0; c < channels && b.status == OD_OK; c++)
    b.id[c] = b.machine < 0 ? -1 : find_channel(h, b.machine, channel[c], &b.status, err);
  if (b.status != OD_OK || b.machine < 0 || !(to > from)) return b.status;
  b.width = (to - from) / points;
  const int level = choose_level(&b, b.width);
  if (level >= 0) b.width = od_history_width(level) * ceil(b.width / od_history_width(level));
  b.first = (int64_t)floor(from / b.width);
  b.bins = (int)((int64_t)floor(to / b.width) - b.first) + 1;
  b.bin = OD_TAKE_MATRIX(&scratch, bin, channels, b.bins);
  b.row = OD_TAKE_MATRIX(&scratch, double, points, 1 + channels);
  if (!b.bin || !b.row) return od_fail(err, OD_NO_MEMORY, "out of memory");
  double end = from;
  if (level >= 0 && b.status == OD_OK) {
    end = to;
    for (int c = 0; c < channels && b.status == OD_OK; c++)
      if (b.id[c] >= 0) end = fmin(end, read_buckets(&b, c, level, from, to));
    // Buckets of complete seconds are stored for all channels at the same time. A channel whose buckets end earlier has no values after them.
    const double last =
        ask(h, "SELECT last FROM block WHERE machine = $1 ORDER BY last DESC LIMIT 1", b.machine, -1, &b.status, err);
    end = fmax(end, fmin(floor(last), to));
    b.rows_room = 0;
  }
  if (b.status == OD_OK && (level < 0 || end < to)) read_rows(&b, end, to);
  for (int c = 0; c < channels && b.status == OD_OK; c++)
    if (b.id[c] >= 0)
      b.status = level < 0 && b.rows <= b.rows_room ? give_rows(&b, c, memory, &out[c])
                                                    : give_bins(&b, c, level, memory, &out[c]);
  return b.status == OD_NO_MEMORY ? od_fail(err, OD_NO_MEMORY, "out of memory") : b.status;
}

// --- Rows ---------------------------------------------------------------------------------------------------------

// Copies the first row of a block that is not before a time, without its time. Returns the time of the row; NAN: there is none.
static double take_row(od_statement *s, double from, const int64_t *id, int channels, double *row) {
  const od_value block = od_column(s, 1);
  const char *data = block.bytes, *list = od_column_text(s, 2);
  const size_t bytes = block.size, n = (size_t)od_column_integer(s, 0);
  if (n > bytes / sizeof(double)) return NAN;
  for (size_t i = 0; i < n; i++) {
    const double t = number_at(data, i);
    if (t < from) continue;
    for (int c = 0; c < channels; c++) {
      const int at = id[c] < 0 ? -1 : position_in(list, id[c]);
      row[c] = at >= 0 && ((size_t)at + 2) * n * sizeof(double) <= bytes ? number_at(data, ((size_t)at + 1) * n + i)
                                                                         : (double)NAN;
    }
    return t;
  }
  return NAN;
}

od_status od_history_reader_rows(od_history *h, od_arena *memory, const char *machine, const char *const *channel,
                                 int channels, double from, double to, int points, od_history_rows *out,
                                 od_error *err) {
  OD_SCRATCH(scratch);
  od_status status = OD_OK;
  *out = (od_history_rows){0};
  begin_reading(h);
  const int64_t number = find_machine(h, machine, &status, err);
  int64_t *id = OD_TAKE(&scratch, int64_t, channels);
  double *t = OD_TAKE(memory, double, points), *value = OD_TAKE_MATRIX(memory, double, points, channels);
  if (!id || !t || !value) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int c = 0; c < channels && status == OD_OK; c++)
    id[c] = number < 0 ? -1 : find_channel(h, number, channel[c], &status, err);
  if (status != OD_OK || number < 0 || points < 1) return status;
  od_statement *s = od_history_prepare(
      h,
      "SELECT rows, data, channels FROM block JOIN layout ON layout.id = block.layout WHERE block.machine = $1 AND last >= $2 ORDER BY last LIMIT 1",
      err);
  if (!s) return OD_IO;
  const double step = points > 1 ? (to - from) / (points - 1) : 0;
  int n = 0;
  for (double wanted = from; n < points && wanted <= to;) {
    od_bind_integer(s, 1, number);
    od_bind_number(s, 2, wanted);
    const double found =
        od_history_next(h, s, &status, err) ? take_row(s, wanted, id, channels, value + n * channels) : NAN;
    od_statement_reset(s);
    if (!(found <= to)) break;
    t[n++] = found;
    wanted = fmax(nextafter(found, INFINITY), step > 0 ? from + step * (floor((found - from) / step) + 1) : to + 1);
  }
  od_statement_end(s);
  *out = (od_history_rows){n, t, value};
  return status;
}

// --- Events -------------------------------------------------------------------------------------------------------

static const char *text_of(od_statement *s, int column, od_arena *memory) {
  const char *text = od_column_text(s, column);
  return text ? od_arena_text(memory, text) : NULL;
}

od_status od_history_reader_events(od_history *h, od_arena *memory, const od_event_query *query, od_history_event **out,
                                   int *count, od_error *err) {
  OD_SCRATCH(scratch);
  od_status status = OD_OK;
  begin_reading(h);
  *count = 0;
  *out = OD_TAKE(memory, od_history_event, query->most);
  const char *kinds = "";
  for (int i = 0; query->kinds && query->kinds[i]; i++)
    kinds = od_arena_format(&scratch, "%s%s'%s'", kinds, i ? "," : "", query->kinds[i]);
  const char *sql = od_arena_format(
      &scratch,
      "SELECT event.id, machine.name, t, clock, kind, text, acknowledged FROM event LEFT JOIN machine ON machine.id = event.machine WHERE "
      "($1 = 0 OR event.id = $1) AND ($2 = 0 OR event.id < $2) AND event.id > $3 AND (CAST($4 AS TEXT) IS NULL OR machine.name = $4)%s%s%s%s "
      "ORDER BY event.id %s LIMIT $5",
      query->is_open ? " AND acknowledged IS NULL" : "", query->kinds ? " AND kind IN (" : "", kinds,
      query->kinds ? ")" : "", query->is_ascending ? "ASC" : "DESC");
  if (!*out || od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_statement *s = od_history_prepare(h, sql, err);
  if (!s) return OD_IO;
  od_bind_integer(s, 1, query->id);
  od_bind_integer(s, 2, query->before);
  od_bind_integer(s, 3, query->after);
  od_bind_text(s, 4, query->machine);
  od_bind_integer(s, 5, query->most);
  while (*count < query->most && od_history_next(h, s, &status, err))
    (*out)[(*count)++] = (od_history_event){.id = od_column_integer(s, 0),
                                            .machine = text_of(s, 1, memory),
                                            .t = od_column_number(s, 2),
                                            .clock = od_column_number(s, 3),
                                            .kind = text_of(s, 4, memory),
                                            .text = text_of(s, 5, memory),
                                            .acknowledged = od_column_number(s, 6)};
  od_statement_end(s);
  if (status == OD_OK && od_arena_status(memory) != OD_OK) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  return status;
}
