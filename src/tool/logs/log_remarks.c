// Remarks about a log: repeated times, the unit of its times, jumps of its inputs, and pauses, in which the inputs are unknown.
//
// An input that is constant, changes within one row and is constant again has most likely jumped. Linear interpolation would
// spread the jump over the time between two rows.
//
// Times without a unit count as seconds. If the logger used a shorter unit, such as ms, the log seems to be a thousand times as
// long. The observer then takes many steps between rows.
#include <math.h>
#include <stdio.h>

#include "logs/log.h"
#include "io/display.h"
#include "io/time_unit.h"
#include "io/wording.h"

static const double large = 0.1;  // smallest change that is a jump, relative to the channel's range
static const double level = 0.1;  // largest change in the rows before and after a jump, relative to the jump

static const double pause_rows = 20;  // shortest pause, relative to the usual time between rows

// Smallest number of steps between rows for a remark because of the column's name.
static const double steps_for_name = 30;
static const double tolerance_of_thousand = 0.01;  // relative tolerance of a thousand or a million steps between rows

bool od_log_remark_repeated_rows(long rows, const char *file, od_verdict *verdict) {
  if (rows == 0) return true;
  return od_verdict_add(verdict, OD_SOUND, "log.repeated_times", "Repeated times:",
                        "%s of %.100s %s the time of the previous row; the first row of each time is kept.",
                        od_count(rows, "row").text, file, od_form(rows, "has", "have"));
}

bool od_log_remark_repeated(const od_log *log, od_verdict *verdict) {
  return od_log_remark_repeated_rows(log->repeated, log->plan->file, verdict);
}

bool od_log_remark_time_unit(const od_log *log, double step, od_verdict *verdict) {
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"ms", 1e-3}, {"us", 1e-6}};
  const char *column = log->time_without_unit;
  if (!column || log->rows < 3 || !(step > 0)) return true;
  double apart = (log->end - log->begin) / (double)(log->rows - 1), steps = apart / step;
  const char *named = od_time_unit_named(column);
  if (named && steps > steps_for_name) {
    char remedy[200];
    snprintf(remedy, sizeof remedy, "write 'time: {column: %.100s, unit: %s}' under 'data'", column, named);
    od_time_ambiguity ambiguity = od_time_ambiguity_of(column, NULL, log->plan->file, apart, remedy);
    return od_time_ambiguity_remark(&ambiguity, verdict);
  }
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (fabs(steps * units[i].seconds - 1) < tolerance_of_thousand)
      return od_verdict_add(
          verdict, OD_SOUND, "log.time_unit", "Unit of the time:",
          "the column '%.100s' of %.100s has no unit, so its times count as seconds: rows are %s apart, %.4g steps. If "
          "the times are in %s, write 'time: {column: %.100s, unit: %s}' under 'data'.",
          column, log->plan->file, od_duration_text(apart, 4).text, steps, units[i].unit, column, units[i].unit);
  return true;
}

// --- Jumps of inputs ----------------------------------------------------------------------------------------------

// The current change of an input and the previous two changes.
typedef struct changes {
  double value, now, before, before_that;
} changes;

// Adds a value. The previous change is a jump if it is at least `large` of the channel's range, and both neighboring changes are at
// most `level` of the jump.
static void add_change(od_channel_facts *f, changes *c, double value, long row) {
  c->before_that = c->before;
  c->before = c->now;
  c->now = row > 0 ? fabs(value - c->value) : 0;
  c->value = value;
  double neighbors = fmax(c->before_that, c->now);
  if (row > 1) f->jumps += c->before > 0 && c->before >= large * (f->most - f->least) && neighbors <= level * c->before;
}

// Returns whether an input may have a jump. Interpolation of gaps can only reduce changes, except for round-off.
static bool may_jump(const od_log *log, int channel) {
  const od_channel_facts *f = &log->facts[channel];
  bool large_enough = f->steepest > 0 && f->steepest >= 0.999 * large * (f->most - f->least);
  return log->plan->channel[channel].is_input && large_enough;
}

// A log with fewer than four rows has no jumps.
od_status od_log_count_jumps(od_log *log, od_error *err) {
  bool any = false;
  for (int i = 0; i < log->plan->channels; i++) any = any || may_jump(log, i);
  if (!any || log->rows <= 3) return OD_OK;
  OD_SCRATCH(scratch);
  OD_OWNED(od_log_cursor_free) od_log_cursor *cursor = NULL;
  changes *c = OD_TAKE(&scratch, changes, log->plan->channels);
  if (!c) return od_fail(err, OD_NO_MEMORY, "out of memory while reading a log");
  od_status status = od_log_cursor_new(log, &cursor, err);
  const double *value = NULL;
  bool more = true;
  for (long row = 0; status == OD_OK; row++) {
    double time;
    status = od_log_cursor_next(cursor, &time, &value, &more, err);
    for (int i = 0; i < log->plan->channels && status == OD_OK; i++)
      // After the last row the change is zero.
      if (may_jump(log, i)) add_change(&log->facts[i], &c[i], more ? value[i] : c[i].value, row);
    if (!more) break;
  }
  return status;
}

bool od_log_remark_jumps(const od_log *log, bool hold, od_trust trust, od_verdict *verdict) {
  bool ok = true;
  for (int c = 0; c < log->plan->channels && !hold; c++) {
    const od_channel *channel = &log->plan->channel[c];
    if (!channel->is_input || channel->hold != OD_LOG_LINEAR || log->facts[c].jumps == 0) continue;
    ok = od_verdict_add(verdict, trust, "input.hold", "Input that jumps:",
                        "%.100s jumps %s, but inputs are interpolated linearly between rows. If the input of the "
                        "machine jumped, write 'hold: previous' under 'data'.",
                        channel->name, od_count(log->facts[c].jumps, "time").text) &&
         ok;
  }
  return ok;
}

// --- Pauses -------------------------------------------------------------------------------------------------------

bool od_log_has_pause(const od_log *log) {
  bool inputs = false;
  for (int c = 0; c < log->plan->channels; c++)
    inputs = inputs || (log->plan->channel[c].is_input && !log->constant[c]);
  if (!inputs || log->rows < 4) return false;
  double usual = (log->end - log->begin - log->longest) / (double)(log->rows - 2);
  return log->longest > pause_rows * usual;
}

bool od_log_remark_pause(const od_log *log, od_trust trust, od_verdict *verdict) {
  if (!od_log_has_pause(log)) return true;
  return od_verdict_add(
      verdict, trust, "input.pause", "Pause in the log:",
      "the log has no rows for %s after %.9g s. The inputs in this pause are not known. Exclude this pause "
      "with 'start' or 'end' under 'data'.",
      od_duration_text(log->longest, 6).text, log->at);
}
