// Units: each text is parsed once (unit_parse.h) and stored.
#include "document/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "document/index.h"

static const char *const base_symbols[OD_UNIT_BASES] = {"m", "kg", "s", "A", "K", "mol", "cd", "rad"};

typedef struct stored_unit {
  bool known;
  od_unit unit;
} stored_unit;

struct od_units {
  od_arena arena;  // owns the stored units and their index; after a failed allocation, units are parsed again each time
  stored_unit *item, last;
  int count;
  od_index index;
};

typedef struct named_dimension {
  const char *si, *measures;
} named_dimension;

// Names of dimensions. The first matching entry gives the name.
static const named_dimension named[] = {
    {"1", "a plain number"},
    {"m", "a length"},
    {"kg", "a mass"},
    {"s", "a time"},
    {"rad", "an angle"},
    {"m/s", "a speed"},
    {"m/s2", "an acceleration"},
    {"rad/s", "an angular velocity"},
    {"rad/s2", "an angular acceleration"},
    {"Hz", "a frequency"},
    {"N", "a force"},
    {"N m", "a torque"},
    {"N/m", "a stiffness"},
    {"N s/m", "a damping coefficient"},
    {"N m/rad", "a torsional stiffness"},
    {"N m s/rad", "a torsional damping coefficient"},
    {"kg m2", "a moment of inertia"},
    {"Pa", "a pressure"},
    {"m2", "an area"},
    {"m3", "a volume"},
    {"m3/s", "a flow"},
    {"m3/s/Pa", "a flow per pressure"},
    {"W", "a power"},
    {"kg/m3", "a density"},
    {"K", "a temperature"},
    {"A", "a current"},
    {"V", "a voltage"},
};
enum { NAMED = sizeof named / sizeof named[0] };

od_units *od_units_new(od_error *err) {
  od_units *units = od_calloc(1, sizeof *units);
  if (units == NULL) od_fail(err, OD_NO_MEMORY, "out of memory");
  return units;
}

void od_units_free(od_units *units) {
  if (units == NULL) return;
  od_arena_free(&units->arena);
  od_free(units);
}

// Returns the parsed unit, or NULL for an unknown unit. The result is valid until the next call.
static const od_unit *parse_unit(od_units *units, const char *text) {
  int at = od_index_find(&units->index, text);
  if (at >= 0) {
    units->last = units->item[at];
    return units->last.known ? &units->last.unit : NULL;
  }
  units->last.known = od_unit_parse(text, &units->last.unit);
  stored_unit *list = od_arena_extend(&units->arena, units->item, units->count, sizeof *list);
  const char *key = od_arena_text(&units->arena, text);
  if (list != NULL && key != NULL && od_index_add(&units->index, &units->arena, key, units->count)) {
    list[units->count++] = units->last;
    units->item = list;
  }
  return units->last.known ? &units->last.unit : NULL;
}

// --- Properties of units -------------------------------------------------------------------------------------------

static bool same_powers(const int *a, const int *b, int count) {
  return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

// Returns whether a number with the given unit fits the wanted unit. The file may give a torsional stiffness in N m or in N m/rad,
// because units with a mass are unambiguous. In a unit without a mass, a missing radian would confuse frequencies with angular
// rates.
static bool fits(const int *given, const int *wanted) {
  if (!same_powers(given, wanted, OD_RADIAN)) return false;
  return given[OD_RADIAN] == wanted[OD_RADIAN] || (given[OD_RADIAN] == 0 && given[OD_KILOGRAM] != 0);
}

static bool is_rate_of_turn(const int *power) {
  static const int rate[OD_UNIT_BASES] = {[OD_SECOND] = -1, [OD_RADIAN] = 1};
  return same_powers(power, rate, OD_UNIT_BASES);
}

static od_conversion conversion_of(const od_unit *unit) {
  return (od_conversion){unit->factor, unit->divisor, unit->offset};
}

od_unit_verdict od_units_conversion(od_units *units, const char *unit, const char *si, od_conversion *result) {
  *result = (od_conversion){1, 1, 0};
  if (unit[0] == '\0') return OD_UNIT_FITS;
  const od_unit *wanted = parse_unit(units, si);
  // A fractional power, such as the square root of a pressure, fits only if both texts are equal.
  if (wanted == NULL) return strcmp(unit, si) == 0 ? OD_UNIT_FITS : OD_UNIT_UNKNOWN;
  int power[OD_UNIT_BASES];
  memcpy(power, wanted->power, sizeof power);
  const od_unit *given = parse_unit(units, unit);
  if (given == NULL) return OD_UNIT_UNKNOWN;
  if (fits(given->power, power)) {
    *result = conversion_of(given);
    return OD_UNIT_FITS;
  }
  // rad/s, deg/s and rpm are allowed for a frequency: one turn is one period.
  if (strcmp(si, "Hz") != 0 || !is_rate_of_turn(given->power)) return OD_UNIT_MISFITS;
  *result = (od_conversion){given->factor / given->divisor, OD_TURN, 0};
  return OD_UNIT_FITS;
}

od_unit_verdict od_units_convert(od_units *units, const char *unit, const char *si, double value, double *result) {
  od_conversion conversion;
  od_unit_verdict verdict = od_units_conversion(units, unit, si, &conversion);
  *result = od_convert(&conversion, value);
  return verdict;
}

// Parses base units with powers that may be fractional: "kg-0.5 m3.5". Returns false if the text contains another word.
static bool parse_powers(const char *text, double power[OD_UNIT_BASES]) {
  for (int i = 0; i < OD_UNIT_BASES; i++) power[i] = 0;
  while (*text != '\0') {
    int base = 0;
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    while (base < OD_UNIT_BASES &&
           (strlen(base_symbols[base]) != length || strncmp(base_symbols[base], text, length) != 0))
      base++;
    if (base == OD_UNIT_BASES) return false;
    text += length;
    char *end;
    power[base] = *text == ' ' || *text == '\0' ? 1 : strtod(text, &end);
    if (*text != ' ' && *text != '\0') {
      if (end == text) return false;
      text = end;
    }
    text += strspn(text, " ");
  }
  return true;
}

bool od_units_base(od_units *units, const char *unit, od_conversion *conversion, double power[OD_UNIT_BASES]) {
  const od_unit *given = parse_unit(units, unit);
  if (given == NULL) {
    *conversion = (od_conversion){1, 1, 0};
    return unit[0] != '\0' && parse_powers(unit, power);
  }
  *conversion = conversion_of(given);
  for (int i = 0; i < OD_UNIT_BASES; i++) power[i] = given->power[i];
  return true;
}

const char *od_unit_base(int i) {
  return base_symbols[i];
}

const char *od_unit_text(const double power[OD_UNIT_BASES], char text[120]) {
  int at = 0;
  text[0] = '\0';
  for (int i = 0; i < OD_UNIT_BASES; i++) {
    if (power[i] == 0) continue;
    at += snprintf(text + at, 120 - (size_t)at, at ? " %s" : "%s", base_symbols[i]);
    if (power[i] != 1) at += snprintf(text + at, 120 - (size_t)at, "%g", power[i]);
  }
  return text;
}

bool od_units_names_hertz(const char *text) {
  return strstr(text, "Hz") != NULL || strstr(text, "hertz") != NULL;
}

bool od_units_knows(od_units *units, const char *unit) {
  return parse_unit(units, unit) != NULL;
}

static const named_dimension *find_dimension(od_units *units, const char *unit) {
  const od_unit *given = parse_unit(units, unit);
  if (given == NULL) return NULL;
  int power[OD_UNIT_BASES];
  memcpy(power, given->power, sizeof power);
  for (int i = 0; i < NAMED; i++) {
    const od_unit *candidate = parse_unit(units, named[i].si);
    if (candidate != NULL && same_powers(candidate->power, power, OD_UNIT_BASES)) return &named[i];
  }
  return NULL;
}

const char *od_units_measures(od_units *units, const char *unit) {
  const named_dimension *dimension = find_dimension(units, unit);
  return dimension != NULL ? dimension->measures : NULL;
}

const char *od_units_si(od_units *units, const char *unit) {
  const named_dimension *dimension = find_dimension(units, unit);
  return dimension != NULL ? dimension->si : NULL;
}

bool od_units_is_si(od_units *units, const char *unit) {
  const od_unit *given = parse_unit(units, unit);
  return given != NULL && given->factor == given->divisor && given->offset == 0;
}
