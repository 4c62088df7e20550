// Removes old data in small amounts, so that the writer is blocked only for a short time. Data that the open buckets of the
// pyramid need after a restart remain.
#include <math.h>

#include "history/history_file.h"

enum {
  MOST_BLOCKS = 256,
  NEEDED_BUCKETS = 64
};  // largest number of blocks of a machine removed by age in one call; buckets of a level that always remain

double od_history_size(od_history *h) {
  return h->store->class->size(h->store);
}

// Removes blocks of a machine that end before a time, at most the `most` oldest ones. Fails with OD_IO.
static od_status remove_blocks(od_history *h, const od_history_machine *m, double before, int most, long *removed,
                               od_error *err) {
  od_statement *find = od_history_prepare(
      h,
      "SELECT count(*), CAST(sum(size) AS DOUBLE PRECISION), max(last) FROM (SELECT last, length(data) AS size FROM block WHERE machine = $1 "
      "AND last < $2 ORDER BY last LIMIT $3) AS oldest",
      err);
  od_statement *remove = od_history_prepare(h, "DELETE FROM block WHERE machine = $1 AND last <= $2", err);
  od_status status = find && remove ? OD_OK : OD_IO;
  long count = 0;
  if (status == OD_OK) {
    od_bind_integer(find, 1, m->id);
    od_bind_number(find, 2, fmin(before, m->last - NEEDED_BUCKETS));
    od_bind_integer(find, 3, most);
  }
  if (od_history_next(h, find, &status, err)) count = (long)od_column_integer(find, 0);
  if (count > 0) {
    od_history_account(h, -OD_ROW_BYTES * (double)count - od_column_number(find, 1));
    od_bind_integer(remove, 1, m->id);
    od_bind_number(remove, 2, od_column_number(find, 2));
    od_statement_reset(find);
    status = od_history_execute(h, remove, err);
  }
  od_statement_end(find);
  od_statement_end(remove);
  *removed += count;
  return status;
}

// Removes the buckets of a level, and with level 0 the estimates, that end before a time. Fails with OD_IO.
static od_status remove_buckets(od_history *h, const od_history_machine *m, int level, double before, long *removed,
                                od_error *err) {
  static const char *const statements[] = {
      "DELETE FROM bucket WHERE channel IN (SELECT id FROM channel WHERE machine = $1) AND level = $2 AND number < $3",
      "DELETE FROM estimate WHERE channel IN (SELECT id FROM channel WHERE machine = $1) AND t < $2"};
  const double latest = fmin(before, m->last - NEEDED_BUCKETS * od_history_width(level));
  od_status status = OD_OK;
  for (int i = 0; i < (level == 0 ? 2 : 1) && status == OD_OK; i++) {
    od_statement *s = od_history_prepare(h, statements[i], err);
    if (!s) return OD_IO;
    od_bind_integer(s, 1, m->id);
    if (i == 0) {
      od_bind_integer(s, 2, level);
      od_bind_integer(s, 3, od_bucket_at(latest, level));
    } else {
      od_bind_number(s, 2, latest);
    }
    od_history_next(h, s, &status, err);
    const long count = status == OD_OK ? s->store->class->changes(s) : 0;
    od_history_account(h, -OD_ROW_BYTES * (double)count);
    *removed += count;
    od_statement_end(s);
  }
  return status;
}

// Returns the time of the oldest bucket of a level of a machine; INFINITY: none.
static double oldest_bucket(od_history *h, const od_history_machine *m, int level) {
  od_status status = OD_OK;
  double oldest = INFINITY;
  od_statement *s = od_history_prepare(h, "SELECT min(number) FROM bucket WHERE channel = $1 AND level = $2", NULL);
  for (int i = 0; s && i < m->channels; i++) {
    od_bind_integer(s, 1, m->channel[i]);
    od_bind_integer(s, 2, level);
    if (od_history_next(h, s, &status, NULL))  // NAN: no bucket; fmin() ignores NAN
      oldest = fmin(oldest, od_column_number(s, 0) * od_history_width(level));
    od_statement_reset(s);
  }
  od_statement_end(s);
  return oldest;
}

// Called if the data are larger than their limit. Removes the oldest blocks of all machines. If nothing was removed so far, removes the oldest tenth
// of the finest level that has buckets to remove. Fails with OD_IO.
static od_status shrink(od_history *h, long *removed, od_error *err) {
  od_status status = OD_OK;
  for (int i = 0; i < h->machines && status == OD_OK; i++)
    status = remove_blocks(h, &h->machine[i], INFINITY, MOST_BLOCKS / 8 + 1, removed, err);
  for (int level = 0; level < OD_LEVELS && *removed == 0 && status == OD_OK; level++)
    for (int i = 0; i < h->machines && status == OD_OK; i++) {
      const od_history_machine *m = &h->machine[i];
      const double oldest = oldest_bucket(h, m, level);
      if (!isfinite(oldest) || !isfinite(m->last)) continue;
      status =
          remove_buckets(h, m, level, oldest + fmax(0.1 * (m->last - oldest), od_history_width(level)), removed, err);
    }
  return status;
}

od_status od_history_retain(od_history *h, long *removed, od_error *err) {
  const od_twin_history *s = &h->settings;
  od_status status = od_history_enter(h, err);
  *removed = 0;
  for (int i = 0; i < h->machines && status == OD_OK; i++) {
    const od_history_machine *m = &h->machine[i];
    if (!isfinite(m->last)) continue;
    status = remove_blocks(h, m, m->last - s->rows_for, MOST_BLOCKS, removed, err);
    for (int level = 0; level < OD_LEVELS && status == OD_OK; level++)
      status = remove_buckets(h, m, level, m->last - s->keep, removed, err);
  }
  if (status == OD_OK && od_history_size(h) > s->size) status = shrink(h, removed, err);
  return status == OD_OK ? od_history_commit(h, err) : status;
}
