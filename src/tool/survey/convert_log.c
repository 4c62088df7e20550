#include "survey/convert_log.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"

static const double most_rows = 1e9;
static const double most_waiting = 3.2e7;  // largest number of values of rows that wait for later samples

// --- Names --------------------------------------------------------------------------------------------------------

od_table *od_converted_head(const od_log_survey *s) {
  OD_OWNED(od_table_free) od_table *head = od_table_new(s->channels + 1);
  if (!head || od_table_label(head, 0, "time", "s") != OD_OK) return NULL;
  for (int i = 0; i < s->channels; i++) {
    const od_surveyed_channel *c = &s->channel[i];
    const char *group = s->group[c->group].name;
    bool is_unique = strcmp(c->name, "time") != 0;
    for (int k = 0; k < s->channels; k++) is_unique = is_unique && (k == i || strcmp(s->channel[k].name, c->name) != 0);
    const char *name = c->name;
    if (!is_unique) name = od_arena_format(&head->arena, "%s.%s", group ? group : "log", c->name);
    if (!name || od_table_label(head, i + 1, name, c->unit) != OD_OK) return NULL;
  }
  return OD_GIVE(head);
}

// --- Rows at equal intervals --------------------------------------------------------------------------------------

typedef enum way { LINEAR, AVERAGE, HOLD } way;

typedef struct resampled_channel {
  way way;
  double gap_limit;
  double latest;       // time of the last sample
  double time, value;  // the last point: a sample or the mean of an interval; time -INFINITY: none
  long next;           // index of the first row without a final value
  double sum;          // sum and number of the samples of the current interval, and the row in its middle
  long count, bucket;
} resampled_channel;

// The rows that wait for later samples are stored in a ring.
typedef struct resampling {
  od_log_survey *s;
  resampled_channel *channel;
  double first, interval;  // time of row 0, and time between rows, s
  long rows;               // number of all rows
  double *ring, *row;
  long begin, capacity;  // index of the first waiting row; size of the ring, rows
  od_row_receiver *receive;
  void *user;
} resampling;

static double *waiting(const resampling *r, long k) {
  return r->ring + (size_t)(k % r->capacity) * (size_t)r->s->channels;
}

static void clear_row(const resampling *r, long k) {
  for (int i = 0; i < r->s->channels; i++) waiting(r, k)[i] = NAN;
}

// Makes room for row k. False: out of memory.
static bool make_room(resampling *r, long k) {
  if (k < r->begin + r->capacity) return true;
  long larger = r->capacity;
  while (k >= r->begin + larger) larger *= 2;
  size_t width = (size_t)r->s->channels;
  if ((double)larger * (double)width > most_waiting) return false;
  resampling old = *r;
  r->ring = od_calloc((size_t)larger * width, sizeof *r->ring);
  if (!r->ring) {
    r->ring = old.ring;
    return false;
  }
  r->capacity = larger;
  for (long i = r->begin; i < r->begin + larger; i++) {
    if (i < old.begin + old.capacity)
      memcpy(waiting(r, i), waiting(&old, i), width * sizeof *r->ring);
    else
      clear_row(r, i);
  }
  od_free(old.ring);
  return true;
}

// Passes on the rows that are final for all channels.
static od_status pass_rows(resampling *r, od_error *err) {
  long final = r->rows;
  for (int i = 0; i < r->s->channels; i++)
    if (r->channel[i].next < final) final = r->channel[i].next;
  for (; r->begin < final; r->begin++) {
    r->row[0] = r->first + (double)r->begin * r->interval;
    memcpy(r->row + 1, waiting(r, r->begin), (size_t)r->s->channels * sizeof *r->row);
    clear_row(r, r->begin);
    od_status status = r->receive(r->user, r->row, err);
    if (status != OD_OK) return status;
  }
  return OD_OK;
}

// Returns the index of the last row with a time of at most t.
static long row_at(const resampling *r, double t) {
  double k = floor((t - r->first) / r->interval + 1e-9);
  return k < -1 ? -1 : k >= (double)r->rows ? r->rows - 1 : (long)k;
}

// Adds a point of a channel: computes the rows between the last point and this one. False: out of memory.
static bool add_point(resampling *r, int i, double time, double value) {
  resampled_channel *c = &r->channel[i];
  long last = row_at(r, time);
  if (last >= 0 && !make_room(r, last)) return false;
  bool is_gap = !(time - c->time <= c->gap_limit);
  for (long k = c->next; k <= last; k++) {
    double at = r->first + (double)k * r->interval;
    if (fabs(at - time) <= 1e-9 * r->interval)
      waiting(r, k)[i] = value;
    else if (!is_gap)
      waiting(r, k)[i] = c->way == HOLD ? c->value : c->value + (at - c->time) / (time - c->time) * (value - c->value);
  }
  if (last >= c->next) c->next = last + 1;
  c->time = time;
  c->value = value;
  return true;
}

// Adds the mean of the current interval as a point. Returns false if an allocation fails.
static bool end_average(resampling *r, int i) {
  resampled_channel *c = &r->channel[i];
  if (c->count == 0) return true;
  double mean = c->sum / (double)c->count;
  c->sum = 0;
  c->count = 0;
  return add_point(r, i, r->first + (double)c->bucket * r->interval, mean);
}

static bool add_sample(resampling *r, int i, double time, double value) {
  resampled_channel *c = &r->channel[i];
  if (time <= c->latest) return true;
  c->latest = time;
  if (c->way != AVERAGE) return add_point(r, i, time, value);
  long bucket = lround((time - r->first) / r->interval);
  if (bucket != c->bucket && !end_average(r, i)) return false;
  c->bucket = bucket;
  c->sum += value;
  c->count++;
  return true;
}

// Ends the rows of channels without a point for longer than a gap. False: out of memory.
static bool end_gaps(resampling *r, double now) {
  long last = row_at(r, now);
  for (int i = 0; i < r->s->channels; i++) {
    resampled_channel *c = &r->channel[i];
    if (c->next >= last || now - c->latest <= c->gap_limit) continue;
    if (c->bucket < last && !end_average(r, i)) return false;
    if (c->next < last && c->count == 0) c->next = last;
  }
  return last < 0 || make_room(r, last);
}

static od_status too_many_waiting(od_error *err) {
  return od_fail(err, OD_NO_MEMORY,
                 "too many rows wait for slow channels; give a longer --resample, or select channels with --channels");
}

static od_status resample(resampling *r, bool (*progress)(void *user, double done), void *user, od_error *err) {
  od_log_survey *s = r->s;
  bool end = false;
  double time = 0, latest = -INFINITY;
  long last = -1;
  for (long row = 0;; row++) {
    od_status status = od_log_survey_next(s, &time, &end, err);
    if (status != OD_OK) return status;
    if (end) break;
    for (int i = 0; i < s->channels; i++) {
      double value = s->row[s->channel[i].column];
      if (isfinite(value) && !add_sample(r, i, time, value)) return too_many_waiting(err);
    }
    if (time > latest) latest = time;
    long now = row_at(r, latest);
    if (now > last) {
      if (!end_gaps(r, latest)) return too_many_waiting(err);
      status = pass_rows(r, err);
      if (status != OD_OK) return status;
      last = now;
    }
    if (progress && row % 16384 == 0 && !progress(user, (double)row / (double)(s->rows + 1))) return OD_INTERRUPTED;
  }
  for (int i = 0; i < s->channels; i++)
    if (!end_average(r, i)) return too_many_waiting(err);
  if (!make_room(r, r->rows - 1)) return too_many_waiting(err);
  for (int i = 0; i < s->channels; i++) r->channel[i].next = r->rows;
  return pass_rows(r, err);
}

static od_status convert_to_equal(od_log_survey *s, double interval, resampling *r,
                                  bool (*progress)(void *user, double done), void *user, od_converted_log *out,
                                  od_error *err) {
  OD_SCRATCH(scratch);
  double rows = floor((s->finish - s->begin) / interval + 1e-9) + 1;
  if (!(rows <= most_rows))
    return od_fail(err, OD_BAD_INPUT,
                   "%.3g rows at equal intervals are too many, expected at most %.0f; give a longer --resample", rows,
                   most_rows);
  r->s = s;
  r->first = s->begin;
  r->interval = interval;
  r->rows = (long)rows;
  r->capacity = 64;
  r->channel = OD_TAKE(&scratch, resampled_channel, s->channels);
  r->row = OD_TAKE(&scratch, double, s->channels + 1);
  r->ring = od_calloc((size_t)r->capacity * (size_t)s->channels, sizeof *r->ring);
  if (!r->channel || !r->row || !r->ring) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (long k = 0; k < r->capacity; k++) clear_row(r, k);
  for (int i = 0; i < s->channels; i++) {
    const od_channel_survey *f = &s->channel[i].facts;
    resampled_channel *c = &r->channel[i];
    c->way = f->is_state ? HOLD : interval >= 2 * f->timing.interval ? AVERAGE : LINEAR;
    c->gap_limit = f->values > 1 ? fmax(f->timing.gap_limit, 1.5 * interval) : 0;
    c->time = c->latest = -INFINITY;
    c->bucket = -1;
    out->averaged += c->way == AVERAGE;
    out->interpolated += c->way == LINEAR;
    out->held += c->way == HOLD;
  }
  return resample(r, progress, user, err);
}

// --- Rows of the file ---------------------------------------------------------------------------------------------

static od_status pass_file(od_log_survey *s, od_row_receiver *receive, void *user,
                           bool (*progress)(void *user, double done), void *progress_user, od_error *err) {
  OD_SCRATCH(scratch);
  double *row = OD_TAKE(&scratch, double, s->channels + 1);
  if (!row) return od_fail(err, OD_NO_MEMORY, "out of memory");
  bool end = false;
  for (long n = 0;; n++) {
    od_status status = od_log_survey_next(s, &row[0], &end, err);
    if (status != OD_OK || end) return status;
    bool has_value = s->groups == 1;
    for (int i = 0; i < s->channels; i++) {
      row[i + 1] = s->row[s->channel[i].column];
      has_value = has_value || !isnan(row[i + 1]);
    }
    // Rows of groups that are not selected have no value.
    if (has_value) status = receive(user, row, err);
    if (status != OD_OK) return status;
    if (progress && n % 16384 == 0 && !progress(progress_user, NAN)) return OD_INTERRUPTED;
  }
}

// Counts the rows on their way to the receiver.
typedef struct counted {
  od_row_receiver *receive;
  void *user;
  long rows;
} counted;

static od_status count_row(void *user, const double *row, od_error *err) {
  counted *c = user;
  c->rows++;
  return c->receive(c->user, row, err);
}

od_status od_log_convert(od_log_survey *s, double interval, od_row_receiver *receive, void *user,
                         bool (*progress)(void *user, double done), void *progress_user, od_converted_log *out,
                         od_error *err) {
  counted count = {receive, user, 0};
  od_row_reader_rewind(s->file);
  const long rows = s->rows, without_time = s->rows_without_time;
  s->rows = s->rows_without_time = 0;
  od_status status;
  if (interval > 0) {
    resampling r = {.receive = count_row, .user = &count};
    status = convert_to_equal(s, interval, &r, progress, progress_user, out, err);
    od_free(r.ring);
  } else {
    status = pass_file(s, count_row, &count, progress, progress_user, err);
  }
  if (status == OD_OK && s->rows != rows)
    status = od_fail(err, OD_IO, "%s has changed while it was read; run the command again when the file is complete",
                     s->path);
  s->rows = rows;
  s->rows_without_time = without_time;
  out->rows = count.rows;
  return status;
}
