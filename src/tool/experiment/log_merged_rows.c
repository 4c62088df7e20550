#include "experiment/log_merged_rows.h"

#include <math.h>
#include <stdlib.h>

od_status od_log_rows_begin(od_log_rows *r, const od_log_plan *plan, od_row_reader *file, od_error *err) {
  size_t columns = (size_t)od_row_reader_head(file)->columns + 1;
  *r = (od_log_rows){.plan = plan, .file = file, .memory = calloc(3 * columns, sizeof *r->memory)};
  r->read = r->memory;
  r->kept = r->read + columns;
  r->given = r->kept + columns;
  return r->memory ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out while reading %s", plan->file);
}

void od_log_rows_end(od_log_rows *r) {
  free(r->memory);
  *r = (od_log_rows){0};
}

// Time of a row, from its cells or from its number, s.
static double time_of(const od_log_rows *r, const double *cells, long number) {
  return r->plan->interval > 0 ? (double)number * r->plan->interval : od_channel_value(&r->plan->time, cells);
}

// Whether the row just read has the time of the waiting row. If so, the values of the new row fill the gaps of the waiting one.
static bool repeats(od_log_rows *r) {
  if (r->plan->interval > 0) return false;
  double now = time_of(r, r->read, 0);
  if (!isfinite(now) || now != time_of(r, r->kept, 0)) return false;
  int columns = od_row_reader_head(r->file)->columns;
  for (int c = 0; c < columns; c++)
    if (isnan(r->kept[c])) r->kept[c] = r->read[c];
  r->repeated += now >= r->plan->start && now <= r->plan->end;
  return true;
}

// The waiting row is given, and the row just read becomes the waiting one.
static void turn(od_log_rows *r, int line) {
  double *free_now = r->given;
  r->given = r->kept;
  r->kept = r->read;
  r->read = free_now;
  r->line = line;
}

od_status od_log_rows_next(od_log_rows *r, od_log_row *row, bool *more, od_error *err) {
  bool end = false;
  od_status status = OD_OK;
  *more = false;
  while ((status = od_row_reader_next(r->file, r->read, &end, err)) == OD_OK && !end) {
    r->count++;
    int line = od_row_reader_line(r->file), before = r->line;
    if (r->waits && repeats(r)) continue;
    turn(r, line);
    *more = r->waits;
    r->waits = true;
    if (!*more) continue;
    *row = (od_log_row){r->given, time_of(r, r->given, r->count - 2), before};
    return OD_OK;
  }
  if (status != OD_OK || !r->waits) return status;
  int before = r->line;
  turn(r, 0);
  r->waits = false;
  *more = true;
  *row = (od_log_row){r->given, time_of(r, r->given, r->count - 1), before};
  return OD_OK;
}
