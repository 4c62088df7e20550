// Inputs of a log that jump. Where an input keeps its value for a while, changes within one row and keeps the new
// value, the machine has most likely seen a jump, and straight lines from row to row spread it over the time between
// two rows. And pauses, in which the inputs are not known.
#include <math.h>

#include "experiment/log.h"
#include "io/display.h"

static const double large = 0.1;  // of the channel's range: a change worth telling
static const double level = 0.1;  // of the change: what the rows before and after it may change

static const double pause_rows = 20;  // the usual time between rows, so many times, is a pause

static double change(const od_log *log, int channel, long row) {
  int n = log->plan->channels;
  return row < 1 || row >= log->rows ? 0 : fabs(log->value[row * n + channel] - log->value[(row - 1) * n + channel]);
}

long od_log_jumps(const od_log *log, int channel) {
  int n = log->plan->channels;
  double least = INFINITY, most = -INFINITY;
  for (long row = 0; row < log->rows; row++) {
    least = fmin(least, log->value[row * n + channel]);
    most = fmax(most, log->value[row * n + channel]);
  }
  long jumps = 0;
  // Less than four rows do not show what is before and after.
  for (long row = 1; row < log->rows && log->rows > 3; row++) {
    double now = change(log, channel, row), aside = fmax(change(log, channel, row - 1), change(log, channel, row + 1));
    jumps += now > 0 && now >= large * (most - least) && aside <= level * now;
  }
  return jumps;
}

bool od_log_remark_jumps(const od_log *log, bool hold, od_trust trust, od_verdict *verdict) {
  bool ok = true;
  for (int c = 0; c < log->plan->channels && !hold; c++) {
    const od_channel *channel = &log->plan->channel[c];
    long jumps = channel->is_input ? od_log_jumps(log, c) : 0;
    if (jumps == 0) continue;
    ok = od_verdict_add(verdict, trust, "input.hold", "Input that jumps:",
                        "%.100s jumps %ld time%s, while inputs go straight from row to row; if the machine has seen "
                        "jumps, write 'hold: previous' under 'data'.",
                        channel->name, jumps, jumps == 1 ? "" : "s") &&
         ok;
  }
  return ok;
}

bool od_log_pauses(const od_log *log) {
  bool inputs = false;
  for (int c = 0; c < log->plan->channels; c++)
    inputs = inputs || (log->plan->channel[c].is_input && !log->constant[c]);
  if (!inputs || log->rows < 4) return false;
  double usual = (log->time[log->rows - 1] - log->time[0] - log->longest) / (double)(log->rows - 2);
  return log->longest > pause_rows * usual;
}

bool od_log_remark_pause(const od_log *log, od_trust trust, od_verdict *verdict) {
  if (!od_log_pauses(log)) return true;
  return od_verdict_add(verdict, trust, "input.pause", "Pause in the log:",
                        "it has no rows for %s after %.9g s, and what the inputs did meanwhile is not known.",
                        od_duration_text(log->longest, 6).text, log->at);
}
