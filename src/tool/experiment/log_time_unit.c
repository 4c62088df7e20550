// Times without a unit count as seconds. Where a logger counted in something shorter, the log seems to last a thousand times as long, and
// the observer fills the time between rows with steps.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "experiment/log.h"
#include "io/display.h"

typedef struct short_unit {
  const char *unit, *name[4];  // what names of columns call it
  double seconds;
} short_unit;

static const short_unit units[] = {{"ms", {"ms", "msec", "millis", "milliseconds"}, 1e-3},
                                   {"us", {"us", "usec", "micros", "microseconds"}, 1e-6}};
enum { UNITS = sizeof units / sizeof *units };

static const double named_from = 30;  // steps between rows from which a name is believed
static const double alike = 0.01;     // so near to a thousand steps are rows that were meant to be one step apart

static bool same_word(const char *word, size_t length, const char *name) {
  for (size_t i = 0; i < length; i++)
    if (tolower((unsigned char)word[i]) != name[i]) return false;
  return name[length] == '\0';
}

// Whether a word of the column's name is one of the unit's.
static bool is_named(const char *column, const short_unit *unit) {
  for (const char *word = column; *word;) {
    size_t length = 0;
    while (isalpha((unsigned char)word[length])) length++;
    for (int i = 0; length > 0 && i < 4; i++)
      if (strlen(unit->name[i]) >= length && same_word(word, length, unit->name[i])) return true;
    word += length > 0 ? length : 1;
  }
  return false;
}

bool od_log_remark_time_unit(const od_log *log, double step, od_verdict *verdict) {
  if (!log->bare_time || log->rows < 3 || !(step > 0)) return true;
  double apart = (log->end - log->begin) / (double)(log->rows - 1), steps = apart / step;
  for (int i = 0; i < UNITS; i++) {
    bool named = is_named(log->bare_time, &units[i]) && steps > named_from;
    if (!named && !(fabs(steps * units[i].seconds - 1) < alike)) continue;
    return od_verdict_add(
        verdict, named ? OD_DOUBTFUL : OD_SOUND, "log.time_unit", "Unit of the time:",
        "the column '%.100s' of %.100s has no unit, so that its times count as seconds: rows are %s apart, %.4g "
        "steps. %s %s%s write 'time: {column: %.100s, unit: %s}' under 'data'.",
        log->bare_time, log->plan->file, od_duration_text(apart, 4).text, steps,
        named ? "By its name they are in" : "If they are in", units[i].unit, named ? ":" : ",", log->bare_time,
        units[i].unit);
  }
  return true;
}
