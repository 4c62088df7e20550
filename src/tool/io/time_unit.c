#include "io/time_unit.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"

typedef struct short_unit {
  const char *unit, *name[4];  // words for the unit in names of columns
} short_unit;

static const short_unit units[] = {{"ms", {"ms", "msec", "millis", "milliseconds"}},
                                   {"us", {"us", "usec", "micros", "microseconds"}}};
enum { UNITS = sizeof units / sizeof *units };

static bool same_word(const char *word, size_t length, const char *name) {
  if (strlen(name) != length) return false;
  for (size_t i = 0; i < length; i++)
    if (tolower((unsigned char)word[i]) != name[i]) return false;
  return true;
}

// Returns whether a word of the column's name is one of the words for the unit.
static bool is_named(const char *column, const short_unit *unit) {
  for (const char *word = column; *word;) {
    size_t length = 0;
    while (isalpha((unsigned char)word[length])) length++;
    for (int i = 0; length > 0 && i < 4; i++)
      if (same_word(word, length, unit->name[i])) return true;
    word += length > 0 ? length : 1;
  }
  return false;
}

const char *od_time_unit_named(const char *column) {
  for (int i = 0; i < UNITS; i++)
    if (is_named(column, &units[i])) return units[i].unit;
  return NULL;
}

od_time_ambiguity od_time_ambiguity_of(const char *column, const char *unit, const char *file, double apart,
                                       const char *remedy) {
  od_time_ambiguity ambiguity = {""};
  const char *named = unit && *unit ? NULL : od_time_unit_named(column);
  char header[160];
  if (!named) return ambiguity;
  snprintf(header, sizeof header, "write '%.100s [%s]' in the header", column, named);
  snprintf(ambiguity.text, sizeof ambiguity.text,
           "the column '%.100s' of %.100s has no unit, so its times are read as seconds: rows are %s apart. The name "
           "suggests the unit %s: %.200s.",
           column, file, od_duration_text(apart, 4).text, named, remedy ? remedy : header);
  return ambiguity;
}

bool od_time_ambiguity_remark(const od_time_ambiguity *ambiguity, od_verdict *verdict) {
  if (!ambiguity->text[0]) return true;
  return od_verdict_add(verdict, OD_DOUBTFUL, "log.time_unit", "Unit of the time:", "%s", ambiguity->text);
}
