// The pyramid: minimum, maximum and sum of each channel in buckets of 1 s, 8 s, 64 s and so on. Only complete buckets are stored.
// The other buckets are in memory. After a restart they are computed from the stored rows and buckets, with the same bits,
// because sums are added in the same order.
#include <math.h>
#include <string.h>

#include "history/history_file.h"

double od_history_width(int level) {
  return (double)((int64_t)1 << (3 * level));
}

static od_open_bucket *open_buckets(const od_history_machine *m, int level) {
  return m->open + level * m->channels;
}

// Adds a bucket, or a value as a bucket with the count 1.
static void merge(od_open_bucket *to, const od_open_bucket *from) {
  to->min = to->count > 0 ? fmin(to->min, from->min) : from->min;
  to->max = to->count > 0 ? fmax(to->max, from->max) : from->max;
  to->sum = to->count > 0 ? to->sum + from->sum : from->sum;
  to->count += from->count;
}

static od_status store_bucket(od_history *h, int64_t channel, int level, const od_open_bucket *b, od_error *err) {
  od_statement *s = h->statement[OD_ADD_BUCKET];
  od_bind_integer(s, 1, channel);
  od_bind_integer(s, 2, level);
  od_bind_integer(s, 3, b->number);
  od_bind_integer(s, 4, b->count);
  od_bind_number(s, 5, b->min);
  od_bind_number(s, 6, b->max);
  od_bind_number(s, 7, b->sum);
  od_history_account(h, OD_ROW_BYTES);
  return od_history_execute(h, s, err);
}

// Stores the estimates at the end of a bucket of level 0. Fails with OD_IO.
static od_status store_estimates(od_history *h, const od_history_machine *m, od_error *err) {
  od_status status = OD_OK;
  od_statement *s = h->statement[OD_ADD_ESTIMATE];
  for (int i = 0; i < m->channels && status == OD_OK && !isnan(m->last_row[0]); i++) {
    const double value = m->last_row[1 + i], sigma = m->sigma[i] >= 0 ? m->last_row[1 + m->sigma[i]] : (double)NAN;
    if (m->sigma[i] < 0 || isnan(value)) continue;
    od_bind_integer(s, 1, m->channel[i]);
    od_bind_number(s, 2, m->last_row[0]);
    od_bind_number(s, 3, value);
    od_bind_number(s, 4, sigma);
    od_history_account(h, OD_ROW_BYTES);
    status = od_history_execute(h, s, err);
  }
  return status;
}

// Returns the number of the bucket of the next level that contains a bucket.
static int64_t parent_of(int64_t number) {
  return number / OD_LEVEL_FACTOR - (number % OD_LEVEL_FACTOR < 0);
}

// Completes the open buckets of a level: stores them, and adds them to the next level. next: number of the next open bucket.
// Fails with OD_IO.
static od_status complete(od_history *h, od_history_machine *m, int level, int64_t next, od_error *err) {
  od_status status = OD_OK;
  const int64_t present = parent_of(open_buckets(m, level)[0].number), above = parent_of(next);
  for (int i = 0; i < m->channels && status == OD_OK; i++) {
    od_open_bucket *b = &open_buckets(m, level)[i];
    if (b->count > 0) {
      status = store_bucket(h, m->channel[i], level, b, err);
      if (level + 1 < OD_LEVELS) merge(&open_buckets(m, level + 1)[i], b);
    }
    *b = (od_open_bucket){.number = next};
  }
  return status == OD_OK && level + 1 < OD_LEVELS && above != present ? complete(h, m, level + 1, above, err) : status;
}

// Adds a row to the open buckets of level 0.
static void add_row(od_history_machine *m, const double *row) {
  for (int i = 0; i < m->channels; i++) {
    const double value = row[1 + i];
    if (isfinite(value)) merge(&open_buckets(m, 0)[i], &(od_open_bucket){0, 1, value, value, value});
  }
  memcpy(m->last_row, row, (size_t)(m->channels + 1) * sizeof *row);
}

// Sets the numbers of the open buckets for a time.
static void number_buckets(od_history_machine *m, double t) {
  for (int level = 0; level < OD_LEVELS; level++)
    for (int i = 0; i < m->channels; i++) open_buckets(m, level)[i].number = od_bucket_at(t, level);
  m->second = od_bucket_at(t, 0);
}

od_status od_pyramid_take(od_history *h, od_history_machine *m, const double *row, od_error *err) {
  const int64_t second = od_bucket_at(row[0], 0);
  od_status status = OD_OK;
  if (m->channels == 0) return OD_OK;
  if (!m->has_rows) {
    number_buckets(m, row[0]);
    m->has_rows = true;
  } else if (second != m->second) {
    status = store_estimates(h, m, err);
    if (status == OD_OK) status = complete(h, m, 0, second, err);
    m->second = second;
  }
  if (status == OD_OK) add_row(m, row);
  return status;
}

void od_pyramid_keep(od_history_machine *m) {
  if (m->channels == 0) return;
  memcpy(m->kept, m->open, (size_t)(OD_LEVELS * m->channels) * sizeof *m->open);
  memcpy(m->kept_row, m->last_row, (size_t)(m->channels + 1) * sizeof *m->last_row);
  m->kept_second = m->second;
  m->kept_has_rows = m->has_rows;
}

void od_pyramid_return(od_history_machine *m) {
  if (m->channels == 0) return;
  memcpy(m->open, m->kept, (size_t)(OD_LEVELS * m->channels) * sizeof *m->open);
  memcpy(m->last_row, m->kept_row, (size_t)(m->channels + 1) * sizeof *m->last_row);
  m->second = m->kept_second;
  m->has_rows = m->kept_has_rows;
}

// --- Restart ------------------------------------------------------------------------------------------------------

// Reads the rows of the open buckets of level 0 from the blocks. Blocks of another layout are left out. Fails with OD_IO or OD_NO_MEMORY.
static od_status restore_rows(od_history *h, od_history_machine *m, od_error *err) {
  OD_SCRATCH(scratch);
  od_statement *s = od_history_prepare(
      h, "SELECT rows, data FROM block WHERE machine = $1 AND layout = $2 AND last >= $3 ORDER BY last", err);
  double *row = OD_TAKE(&scratch, double, m->channels + 1);
  od_status status = s ? OD_OK : OD_IO;
  if (s && !row) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  if (status == OD_OK) {
    od_bind_integer(s, 1, m->id);
    od_bind_integer(s, 2, m->layout);
    od_bind_number(s, 3, (double)m->second);
  }
  while (od_history_next(h, s, &status, err)) {
    const int64_t count = od_column_integer(s, 0);
    const od_value block = od_column(s, 1);
    const char *data = block.bytes;
    if ((int64_t)block.size != count * (m->channels + 1) * (int64_t)sizeof *row) continue;
    for (int64_t i = 0; i < count; i++) {
      for (int c = 0; c <= m->channels; c++)
        memcpy(&row[c], data + ((size_t)c * (size_t)count + (size_t)i) * sizeof *row, sizeof *row);
      if (od_bucket_at(row[0], 0) == m->second) add_row(m, row);
    }
  }
  od_statement_end(s);
  return status;
}

// Reads the complete buckets of the level below that belong to the open buckets of a level. Fails with OD_IO.
static od_status restore_level(od_history *h, od_history_machine *m, int level, od_error *err) {
  od_statement *s = od_history_prepare(
      h,
      "SELECT count, min, max, sum FROM bucket WHERE channel = $1 AND level = $2 AND number >= $3 AND number < $4 ORDER BY number",
      err);
  od_status status = s ? OD_OK : OD_IO;
  for (int i = 0; i < m->channels && status == OD_OK; i++) {
    od_open_bucket *b = &open_buckets(m, level)[i];
    od_bind_integer(s, 1, m->channel[i]);
    od_bind_integer(s, 2, level - 1);
    od_bind_integer(s, 3, b->number * OD_LEVEL_FACTOR);
    od_bind_integer(s, 4, open_buckets(m, level - 1)[i].number);
    while (od_history_next(h, s, &status, err))
      merge(b, &(od_open_bucket){0, (long)od_column_integer(s, 0), od_column_number(s, 1), od_column_number(s, 2),
                                 od_column_number(s, 3)});
    od_statement_reset(s);
  }
  od_statement_end(s);
  return status;
}

od_status od_pyramid_restore(od_history *h, od_history_machine *m, od_error *err) {
  if (!isfinite(m->last) || m->channels == 0) return OD_OK;
  number_buckets(m, m->last);
  m->last_row[0] = NAN;
  m->has_rows = true;
  od_status status = restore_rows(h, m, err);
  for (int level = 1; level < OD_LEVELS && status == OD_OK; level++) status = restore_level(h, m, level, err);
  return status;
}
