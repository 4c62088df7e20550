// Jumps of the inputs of a log. An input that is constant, changes within one row and is constant again has most likely jumped.
// Linear interpolation would spread the jump over the time between two rows. Also pauses of a log, in which the inputs are
// unknown.
#include <math.h>
#include <stdlib.h>

#include "experiment/log.h"
#include "io/display.h"
#include "io/wording.h"

static const double large = 0.1;  // relative to the channel's range: smallest change that is a jump
static const double level = 0.1;  // relative to the change: largest changes of the rows before and after

static const double pause_rows = 20;  // times the usual time between rows is a pause

// The present change of an input and the last two changes.
typedef struct changes {
  double value, now, before, before_that;
} changes;

// A change is classified when the row after it is known.
static void judge_change(od_channel_facts *f, const changes *c) {
  double aside = fmax(c->before_that, c->now);
  f->jumps += c->before > 0 && c->before >= large * (f->most - f->least) && aside <= level * c->before;
}

static void take_change(od_channel_facts *f, changes *c, double value, long row) {
  c->before_that = c->before;
  c->before = c->now;
  c->now = row > 0 ? fabs(value - c->value) : 0;
  c->value = value;
  if (row > 1) judge_change(f, c);
}

// Whether an input may have a jump. Interpolated gaps make changes smaller, except for round-off.
static bool may_jump(const od_log *log, int channel) {
  const od_channel_facts *f = &log->facts[channel];
  bool large_enough = f->steepest > 0 && f->steepest >= 0.999 * large * (f->most - f->least);
  return log->plan->channel[channel].is_input && large_enough;
}

// Fewer than four rows cannot show a jump.
od_status od_log_count_jumps(od_log *log, od_error *err) {
  bool any = false;
  for (int i = 0; i < log->plan->channels; i++) any = any || may_jump(log, i);
  if (!any || log->rows <= 3) return OD_OK;
  changes *c = calloc((size_t)log->plan->channels, sizeof *c);
  od_log_cursor *cursor = NULL;
  od_status status =
      c ? od_log_cursor_new(log, &cursor, err) : od_fail(err, OD_NO_MEMORY, "memory ran out while reading a log");
  const double *value = NULL;
  bool more = true;
  for (long row = 0; status == OD_OK; row++) {
    double time;
    status = od_log_cursor_next(cursor, &time, &value, &more, err);
    for (int i = 0; i < log->plan->channels && status == OD_OK; i++)
      // After the last row there is no change.
      if (may_jump(log, i)) take_change(&log->facts[i], &c[i], more ? value[i] : c[i].value, row);
    if (!more) break;
  }
  od_log_cursor_free(cursor);
  free(c);
  return status;
}

bool od_log_remark_jumps(const od_log *log, bool hold, od_trust trust, od_verdict *verdict) {
  bool ok = true;
  for (int c = 0; c < log->plan->channels && !hold; c++) {
    const od_channel *channel = &log->plan->channel[c];
    long jumps = channel->is_input ? od_log_jumps(log, c) : 0;
    if (jumps == 0) continue;
    ok = od_verdict_add(verdict, trust, "input.hold", "Input that jumps:",
                        "%.100s jumps %s, while inputs go straight from row to row; if the machine has seen "
                        "jumps, write 'hold: previous' under 'data'.",
                        channel->name, od_count(jumps, "time").text) &&
         ok;
  }
  return ok;
}

bool od_log_pauses(const od_log *log) {
  bool inputs = false;
  for (int c = 0; c < log->plan->channels; c++)
    inputs = inputs || (log->plan->channel[c].is_input && !log->constant[c]);
  if (!inputs || log->rows < 4) return false;
  double usual = (log->end - log->begin - log->longest) / (double)(log->rows - 2);
  return log->longest > pause_rows * usual;
}

bool od_log_remark_pause(const od_log *log, od_trust trust, od_verdict *verdict) {
  if (!od_log_pauses(log)) return true;
  return od_verdict_add(verdict, trust, "input.pause", "Pause in the log:",
                        "it has no rows for %s after %.9g s, and what the inputs did meanwhile is not known.",
                        od_duration_text(log->longest, 6).text, log->at);
}
