// Removes old data in small amounts, so that the writer is blocked only for a short time. Data that the open buckets of the
// pyramid need after a restart remain.
#include <math.h>

#include "history/history_file.h"

enum { MOST_BLOCKS = 256, NEEDED_BUCKETS = 64 };  // removed by one call; complete buckets of a level that always remain

double od_history_size(od_history *h) {
  double size[3] = {0};
  static const char *const pragmas[] = {"PRAGMA page_count", "PRAGMA freelist_count", "PRAGMA page_size"};
  for (int i = 0; i < 3; i++) {
    sqlite3_stmt *s = od_history_prepare(h, pragmas[i], NULL);
    if (s && sqlite3_step(s) == SQLITE_ROW) size[i] = sqlite3_column_double(s, 0);
    sqlite3_finalize(s);
  }
  return (size[0] - size[1]) * size[2];
}

// Removes blocks of a machine that end before a time, the oldest first. Fails with OD_IO.
static od_status remove_blocks(od_history *h, const od_history_machine *m, double before, int most, long *removed,
                               od_error *err) {
  sqlite3_stmt *s = od_history_prepare(
      h, "DELETE FROM block WHERE id IN (SELECT id FROM block WHERE machine = ? AND last < ? ORDER BY last LIMIT ?)",
      err);
  if (!s) return OD_IO;
  sqlite3_bind_int64(s, 1, m->id);
  sqlite3_bind_double(s, 2, fmin(before, m->last - NEEDED_BUCKETS));
  sqlite3_bind_int(s, 3, most);
  od_status status = od_history_step(h, s, err);
  *removed += sqlite3_changes(h->db);
  sqlite3_finalize(s);
  return status;
}

// Removes the buckets of a level, and with level 0 the estimates, that end before a time. Fails with OD_IO.
static od_status remove_buckets(od_history *h, const od_history_machine *m, int level, double before, long *removed,
                                od_error *err) {
  const double latest = fmin(before, m->last - NEEDED_BUCKETS * od_history_width(level));
  sqlite3_stmt *buckets =
      od_history_prepare(h, "DELETE FROM bucket WHERE channel = ? AND level = ? AND number < ?", err);
  sqlite3_stmt *estimates = od_history_prepare(h, "DELETE FROM estimate WHERE channel = ? AND t < ?", err);
  od_status status = buckets && estimates ? OD_OK : OD_IO;
  for (int i = 0; i < m->channels && status == OD_OK; i++) {
    sqlite3_bind_int64(buckets, 1, m->channel[i]);
    sqlite3_bind_int(buckets, 2, level);
    sqlite3_bind_int64(buckets, 3, od_bucket_at(latest, level));
    status = od_history_step(h, buckets, err);
    *removed += sqlite3_changes(h->db);
    if (level > 0 || status != OD_OK) continue;
    sqlite3_bind_int64(estimates, 1, m->channel[i]);
    sqlite3_bind_double(estimates, 2, latest);
    status = od_history_step(h, estimates, err);
    *removed += sqlite3_changes(h->db);
  }
  sqlite3_finalize(buckets);
  sqlite3_finalize(estimates);
  return status;
}

// Returns the time of the oldest bucket of a level of a machine; INFINITY: none.
static double oldest_bucket(od_history *h, const od_history_machine *m, int level) {
  double oldest = INFINITY;
  sqlite3_stmt *s = od_history_prepare(h, "SELECT min(number) FROM bucket WHERE channel = ? AND level = ?", NULL);
  for (int i = 0; s && i < m->channels; i++) {
    sqlite3_bind_int64(s, 1, m->channel[i]);
    sqlite3_bind_int(s, 2, level);
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL)
      oldest = fmin(oldest, (double)sqlite3_column_int64(s, 0) * od_history_width(level));
    sqlite3_reset(s);
  }
  sqlite3_finalize(s);
  return oldest;
}

// If the file is larger than its limit, removes the oldest blocks of all machines. If no block can be removed, removes the oldest
// tenth of the finest level that has buckets to remove. Fails with OD_IO.
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
