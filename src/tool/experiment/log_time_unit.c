// Times without a unit count as seconds. If a logger counted in a shorter unit, the log seems to be a thousand times as long, and
// the observer fills the time between rows with steps.
#include <math.h>
#include <stdio.h>

#include "experiment/log.h"
#include "io/display.h"
#include "io/time_unit.h"

static const double named_from = 30;  // steps between rows from which the name of a column is used
static const double alike = 0.01;     // relative tolerance of a thousand steps between rows

bool od_log_remark_time_unit(const od_log *log, double step, od_verdict *verdict) {
  static const struct {
    const char *unit;
    double seconds;
  } units[] = {{"ms", 1e-3}, {"us", 1e-6}};
  if (!log->bare_time || log->rows < 3 || !(step > 0)) return true;
  double apart = (log->end - log->begin) / (double)(log->rows - 1), steps = apart / step;
  const char *named = od_time_unit_named(log->bare_time);
  if (named && steps > named_from) {
    char remedy[200];
    snprintf(remedy, sizeof remedy, "write 'time: {column: %.100s, unit: %s}' under 'data'", log->bare_time, named);
    od_time_doubt doubt = od_time_doubt_of(log->bare_time, NULL, log->plan->file, apart, remedy);
    return od_time_doubt_remark(&doubt, verdict);
  }
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (fabs(steps * units[i].seconds - 1) < alike)
      return od_verdict_add(
          verdict, OD_SOUND, "log.time_unit", "Unit of the time:",
          "the column '%.100s' of %.100s has no unit, so that its times count as seconds: rows are %s apart, %.4g "
          "steps. If they are in %s, write 'time: {column: %.100s, unit: %s}' under 'data'.",
          log->bare_time, log->plan->file, od_duration_text(apart, 4).text, steps, units[i].unit, log->bare_time,
          units[i].unit);
  return true;
}
