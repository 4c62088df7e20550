// Iterates over the rows of a log in use, as values of its channels. Rows of a log that is not in memory come from its file. The
// cursor stores only the rows that are needed to interpolate a gap of an input, from its last value to its next one.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/log_merged_rows.h"

struct od_log_cursor {
  const od_log *log;
  long at;  // rows given so far
  // For a log that is not in memory:
  od_row_reader *file;
  od_log_rows rows;
  bool gaps;          // some input has gaps
  double *ahead;      // rows that were read and not given yet: a time and a value per channel each; a ring buffer
  long first, count;  // the first of them, and their number
  long capacity;      // capacity of the ring buffer, rows
  double *pair, *now, *last;  // memory of two rows: the present one and the previous one
  long *next;                 // per channel: the row with the value at the end of the present gap
};

static size_t width(const od_log_cursor *c) {
  return (size_t)c->log->plan->channels + 1;
}

static od_status no_memory(const od_log *log, od_error *err) {
  return od_fail(err, OD_NO_MEMORY, "memory ran out while reading %s", log->plan->file);
}

static bool has_gaps(const od_log *log) {
  for (int i = 0; i < log->plan->channels; i++)
    if (log->plan->channel[i].is_input && log->missing[i] > 0) return true;
  return false;
}

od_status od_log_cursor_new(const od_log *log, od_log_cursor **out, od_error *err) {
  od_log_cursor *c = *out = calloc(1, sizeof *c);
  if (!c) return no_memory(log, err);
  c->log = log;
  if (log->value) return OD_OK;
  c->gaps = has_gaps(log);
  c->capacity = 2;
  c->ahead = calloc((size_t)c->capacity * width(c), sizeof *c->ahead);
  c->now = c->pair = calloc(2 * width(c), sizeof *c->pair);
  c->last = c->pair ? c->pair + width(c) : NULL;
  c->next = calloc(width(c), sizeof *c->next);
  od_status status = c->ahead && c->pair && c->next ? OD_OK : no_memory(log, err);
  if (status == OD_OK) status = od_row_reader_again(log->file, &c->file, err);
  if (status == OD_OK) status = od_log_rows_begin(&c->rows, log->plan, c->file, err);
  if (status == OD_OK) return OD_OK;
  od_log_cursor_free(c);
  *out = NULL;
  return status;
}

void od_log_cursor_free(od_log_cursor *c) {
  if (!c) return;
  od_log_rows_end(&c->rows);
  od_row_reader_close(c->file);
  free(c->ahead);
  free(c->pair);
  free(c->next);
  free(c);
}

// --- Rows ahead ---------------------------------------------------------------------------------------------------

// Row k of the rows ahead.
static double *ahead(const od_log_cursor *c, long k) {
  return c->ahead + (size_t)((c->first + k) % c->capacity) * width(c);
}

static bool make_room(od_log_cursor *c) {
  if (c->count < c->capacity) return true;
  size_t size = width(c) * sizeof *c->ahead;
  double *larger = calloc(2 * (size_t)c->capacity, size);
  if (!larger) return false;
  for (long k = 0; k < c->count; k++) memcpy((char *)larger + (size_t)k * size, ahead(c, k), size);
  free(c->ahead);
  c->ahead = larger;
  c->first = 0;
  c->capacity *= 2;
  return true;
}

// Error: the file has changed since it was first read.
static od_status changed(const od_log_cursor *c, od_error *err) {
  return od_fail(err, OD_IO, "%s has changed while it was read", c->log->plan->file);
}

static od_status read_ahead(od_log_cursor *c, od_error *err) {
  const od_log_plan *plan = c->log->plan;
  od_log_row row;
  bool more = true;
  od_status status;
  do {
    status = od_log_rows_next(&c->rows, &row, &more, err);
    if (status == OD_NO_MEMORY) return status;
    if (status != OD_OK || !more || !isfinite(row.time)) return status == OD_IO ? status : changed(c, err);
  } while (row.time < plan->start || row.time > plan->end);
  if (!make_room(c)) return no_memory(c->log, err);
  double *to = ahead(c, c->count++);
  *to++ = row.time;
  for (int i = 0; i < plan->channels; i++) {
    double value = od_channel_value(&plan->channel[i], row.cell);
    to[i] = isfinite(value) ? value : (double)NAN;
  }
  return OD_OK;
}

// --- Gaps of inputs -----------------------------------------------------------------------------------------------

// Reads rows until channel i has a value; c->next[i] is that row.
static od_status find_next(od_log_cursor *c, int i, od_error *err) {
  if (c->next[i] > c->at) return OD_OK;
  od_status status = OD_OK;
  for (long k = 1; status == OD_OK; k++) {
    if (k == c->count) status = read_ahead(c, err);
    c->next[i] = c->at + k;
    if (status == OD_OK && !isnan(ahead(c, k)[1 + i])) break;
  }
  return status;
}

// Interpolates input i of the present row, which has no value: the observer needs all inputs.
static od_status bridge(od_log_cursor *c, int i, od_error *err) {
  const od_channel_facts *f = &c->log->facts[i];
  double *value = &c->now[1 + i], before = c->last[1 + i], from = c->last[0];
  if (c->at < f->first) {
    *value = f->first_value;
    return OD_OK;
  }
  if (c->at > f->last || c->log->plan->hold) {
    *value = before;
    return OD_OK;
  }
  od_status status = find_next(c, i, err);
  if (status != OD_OK) return status;
  const double *next = ahead(c, c->next[i] - c->at);
  double along = (c->now[0] - from) / (next[0] - from);
  *value = before + along * (next[1 + i] - before);
  return OD_OK;
}

static od_status next_of_file(od_log_cursor *c, od_error *err) {
  od_status status = c->count > 0 ? OD_OK : read_ahead(c, err);
  if (status != OD_OK) return status;
  double *before = c->last;
  c->last = c->now;
  c->now = before;
  memcpy(c->now, ahead(c, 0), width(c) * sizeof *c->now);
  if (c->at > 0 && !(c->now[0] > c->last[0])) return changed(c, err);
  for (int i = 0; c->gaps && i < c->log->plan->channels && status == OD_OK; i++)
    if (c->log->plan->channel[i].is_input && isnan(c->now[1 + i])) status = bridge(c, i, err);
  c->first = (c->first + 1) % c->capacity;
  c->count--;
  return status;
}

od_status od_log_cursor_next(od_log_cursor *c, double *time, const double **value, bool *more, od_error *err) {
  const od_log *log = c->log;
  *more = c->at < log->rows;
  if (!*more) return od_log_has_changed(log) ? changed(c, err) : OD_OK;
  if (log->value) {
    *time = log->time[c->at];
    *value = log->value + c->at * log->plan->channels;
  } else {
    od_status status = next_of_file(c, err);
    if (status != OD_OK) return status;
    *time = c->now[0];
    *value = c->now + 1;
  }
  c->at++;
  return OD_OK;
}
