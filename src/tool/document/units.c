// Units, based on UDUNITS-2: each text is parsed once, decomposed into powers of the base units, and stored.
//
// UDUNITS has global variables for its parser and its last status. A lock is needed because several threads may load machines.
// The database is read once per process, because reading it takes longer than reading a machine, and UDUNITS does not free the
// memory of its prefixes.
#include "document/units.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <udunits2.h>

#include "document/index.h"
#include "io/utf8.h"

enum { LONGEST_UNIT = 200 };  // bytes

static pthread_mutex_t udunits_lock = PTHREAD_MUTEX_INITIALIZER;

enum { METER, KILOGRAM, SECOND, AMPERE, KELVIN, MOLE, CANDELA, RADIAN, BASES };
_Static_assert((int)BASES == (int)OD_UNIT_BASES, "bases");
static const char *const base_symbols[BASES] = {"m", "kg", "s", "A", "K", "mol", "cd", "rad"};

// A parsed unit: value in SI = scale * value + offset.
typedef struct parsed_unit {
  bool known;
  int power[BASES];
  double scale, offset;
} parsed_unit;

struct od_units {
  od_arena arena;  // owns this list and its index; if it is exhausted, units are parsed again each time
  parsed_unit *item, last;
  int count;
  od_index index;
};

typedef struct named_dimension {
  const char *si, *measures;
} named_dimension;

// Names of dimensions. The first entry that fits gives the name.
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

// Adds a common name that UDUNITS does not have. False: UDUNITS reports a failure.
static bool add_unit(ut_system *system, const char *name, const char *definition) {
  ut_unit *unit = ut_parse(system, definition, UT_ASCII);
  bool added = unit != NULL && ut_map_symbol_to_unit(name, UT_ASCII, unit) == UT_SUCCESS;
  ut_free(unit);
  return added;
}

static ut_system *read_database(void) {
  ut_set_error_message_handler(ut_ignore);
  ut_system *system = ut_read_xml(NULL);
  if (system == NULL) return NULL;
  if (add_unit(system, "deg", "arc_degree") && add_unit(system, "rev", "turn") && add_unit(system, "Nm", "N m"))
    return system;
  ut_free_system(system);
  return NULL;
}

static ut_system *database;  // does not change after its construction

od_units *od_units_new(od_error *err) {
  od_units *units = calloc(1, sizeof *units);
  if (units == NULL) {
    od_fail(err, OD_NO_MEMORY, "out of memory");
    return NULL;
  }
  pthread_mutex_lock(&udunits_lock);
  if (database == NULL) database = read_database();
  bool has_database = database != NULL;
  pthread_mutex_unlock(&udunits_lock);
  if (!has_database) {
    free(units);
    od_fail(err, OD_IO, "the UDUNITS-2 database cannot be read; check the environment variable UDUNITS2_XML_PATH");
    return NULL;
  }
  return units;
}

void od_units_free(od_units *units) {
  if (units == NULL) return;
  od_arena_free(&units->arena);
  free(units);
}

// --- Decomposing a unit --------------------------------------------------------------------------------------------

// Result of the visitor: the powers of the base units, and the unit without its scale and offset.
typedef struct visit {
  int power[BASES];
  const ut_unit *bare;
  bool linear;
} visit;

static ut_status visit_basic(const ut_unit *unit, void *arg) {
  visit *v = arg;
  const char *symbol = ut_get_symbol(unit, UT_ASCII);
  for (int i = 0; i < BASES; i++)
    if (symbol != NULL && strcmp(symbol, base_symbols[i]) == 0) v->power[i] = 1;
  v->bare = unit;
  return UT_SUCCESS;
}

static ut_status visit_product(const ut_unit *unit, int count, const ut_unit *const *basic, const int *powers,
                               void *arg) {
  visit *v = arg;
  for (int i = 0; i < count; i++) {
    const char *symbol = ut_get_symbol(basic[i], UT_ASCII);
    for (int j = 0; j < BASES; j++)
      if (symbol != NULL && strcmp(symbol, base_symbols[j]) == 0) v->power[j] = powers[i];
  }
  v->bare = unit;
  return UT_SUCCESS;
}

static ut_status visit_scaled(const ut_unit *unit, double scale, const ut_unit *below, double offset, void *arg);

static ut_status visit_timestamp(const ut_unit *unit, const ut_unit *below, double origin, void *arg) {
  (void)unit, (void)below, (void)origin;
  ((visit *)arg)->linear = false;
  return UT_SUCCESS;
}

static ut_status visit_logarithm(const ut_unit *unit, double base, const ut_unit *reference, void *arg) {
  (void)unit, (void)base, (void)reference;
  ((visit *)arg)->linear = false;
  return UT_SUCCESS;
}

static const ut_visitor visitor = {visit_basic, visit_product, visit_scaled, visit_timestamp, visit_logarithm};

static ut_status visit_scaled(const ut_unit *unit, double scale, const ut_unit *below, double offset, void *arg) {
  (void)unit, (void)scale, (void)offset;
  return ut_accept_visitor(below, &visitor, arg);
}

// Whether a text may be a unit. UDUNITS interprets "mm 2" as two millimeters and "m @ 3" as meters with the offset 3. Here
// numbers are allowed only as exponents and in a leading "1/".
static bool looks_like_unit(const char *text) {
  const char *c = text;
  if (strcmp(text, "1") == 0) return true;
  if (c[0] == '1' && c[1] == '/') c += 2;
  char before = ' ';
  for (; *c != '\0'; before = *c++) {
    bool digit = *c >= '0' && *c <= '9';
    bool after_unit = (before >= 'a' && before <= 'z') || (before >= 'A' && before <= 'Z');
    bool in_exponent = before == '^' || before == '-' || before == '+' || (before >= '0' && before <= '9') ||
                       (before == '*' && c >= text + 2 && c[-2] == '*');
    if (digit && !after_unit && !in_exponent) return false;
    if (*c == '@' || *c == ':') return false;
  }
  return true;
}

static parsed_unit decompose(const char *text) {
  parsed_unit parsed = {0};
  // The parser of UDUNITS takes very long for long texts. Its scanner skips bytes that are not UTF-8.
  if (strlen(text) > LONGEST_UNIT || !od_utf8_is_text(text) || !looks_like_unit(text)) return parsed;
  ut_unit *unit = ut_parse(database, text, UT_UTF8);
  if (unit == NULL) return parsed;
  visit v = {.linear = true};
  cv_converter *converter = NULL;
  if (ut_accept_visitor(unit, &visitor, &v) == UT_SUCCESS && v.linear && v.bare != NULL)
    converter =
        ut_get_converter(unit, (ut_unit *)v.bare);  // v.bare is not changed, although the parameter is not const
  if (converter != NULL) {
    memcpy(parsed.power, v.power, sizeof v.power);
    parsed.offset = cv_convert_double(converter, 0);
    parsed.scale = cv_convert_double(converter, 1) - parsed.offset;
    parsed.known = isfinite(parsed.scale) && isfinite(parsed.offset) && parsed.scale != 0;
    cv_free(converter);
  }
  ut_free(unit);
  return parsed;
}

// The decomposed unit; NULL: unknown. Valid until the next call.
static const parsed_unit *parse_unit(od_units *units, const char *text) {
  int at = od_index_find(&units->index, text);
  if (at >= 0) {
    units->last = units->item[at];
    return units->last.known ? &units->last : NULL;
  }
  pthread_mutex_lock(&udunits_lock);
  units->last = decompose(text);
  pthread_mutex_unlock(&udunits_lock);
  parsed_unit *list = od_arena_extend(&units->arena, units->item, units->count, sizeof *list);
  const char *key = od_arena_text(&units->arena, text);
  if (list != NULL && key != NULL && od_index_add(&units->index, &units->arena, key, units->count)) {
    list[units->count++] = units->last;
    units->item = list;
  }
  return units->last.known ? &units->last : NULL;
}

// --- Properties of units -------------------------------------------------------------------------------------------

static bool same_powers(const int *a, const int *b, int count) {
  return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

// Whether a number with the given unit fits the wanted unit. A torsional stiffness may be given in N m or in N m/rad, because
// units with a mass are unambiguous. Without a mass a missing radian would confuse frequencies and angular rates.
static bool fits(const int *given, const int *wanted) {
  if (!same_powers(given, wanted, RADIAN)) return false;
  return given[RADIAN] == wanted[RADIAN] || (given[RADIAN] == 0 && given[KILOGRAM] != 0);
}

static bool is_rate_of_turn(const int *power) {
  static const int rate[BASES] = {[SECOND] = -1, [RADIAN] = 1};
  return same_powers(power, rate, BASES);
}

// The conversion to SI. Division by 1000 is exact to the last bit, multiplication by 0.001 is not: "35 mm" must equal 0.035.
static od_conversion conversion_of(const parsed_unit *given) {
  double inverse = round(1 / given->scale);
  bool is_fraction = fabs(given->scale) < 1 && fabs(inverse * given->scale - 1) < 1e-14;
  return (od_conversion){is_fraction ? 1 : given->scale, is_fraction ? inverse : 1, given->offset};
}

od_unit_verdict od_units_conversion(od_units *units, const char *unit, const char *si, od_conversion *result) {
  *result = (od_conversion){1, 1, 0};
  if (unit[0] == '\0') return OD_UNIT_FITS;
  const parsed_unit *wanted = parse_unit(units, si);
  // A fractional power, such as the square root of a pressure, fits only if both texts are equal.
  if (wanted == NULL) return strcmp(unit, si) == 0 ? OD_UNIT_FITS : OD_UNIT_UNKNOWN;
  int power[BASES];
  memcpy(power, wanted->power, sizeof power);
  const parsed_unit *given = parse_unit(units, unit);
  if (given == NULL) return OD_UNIT_UNKNOWN;
  if (fits(given->power, power)) {
    *result = conversion_of(given);
    return OD_UNIT_FITS;
  }
  // A frequency may be given in rad/s, deg/s or rpm: one turn is one period.
  if (strcmp(si, "Hz") != 0 || !is_rate_of_turn(given->power)) return OD_UNIT_MISFITS;
  *result = (od_conversion){given->scale, OD_TURN, 0};
  return OD_UNIT_FITS;
}

od_unit_verdict od_units_convert(od_units *units, const char *unit, const char *si, double value, double *result) {
  od_conversion conversion;
  od_unit_verdict verdict = od_units_conversion(units, unit, si, &conversion);
  *result = od_convert(&conversion, value);
  return verdict;
}

// Parses base units with powers that may be fractional: "kg-0.5 m3.5".
static bool parse_powers(const char *text, double power[OD_UNIT_BASES]) {
  for (int i = 0; i < BASES; i++) power[i] = 0;
  while (*text != '\0') {
    int base = 0;
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    while (base < BASES && (strlen(base_symbols[base]) != length || strncmp(base_symbols[base], text, length) != 0))
      base++;
    if (base == BASES) return false;
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
  const parsed_unit *given = parse_unit(units, unit);
  if (given == NULL) {
    *conversion = (od_conversion){1, 1, 0};
    return unit[0] != '\0' && parse_powers(unit, power);
  }
  *conversion = conversion_of(given);
  for (int i = 0; i < BASES; i++) power[i] = given->power[i];
  return true;
}

const char *od_unit_base(int i) {
  return base_symbols[i];
}

const char *od_unit_text(const double power[OD_UNIT_BASES], char text[120]) {
  int at = 0;
  text[0] = '\0';
  for (int i = 0; i < BASES; i++) {
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
  const parsed_unit *given = parse_unit(units, unit);
  if (given == NULL) return NULL;
  int power[BASES];
  memcpy(power, given->power, sizeof power);
  for (int i = 0; i < NAMED; i++) {
    const parsed_unit *candidate = parse_unit(units, named[i].si);
    if (candidate != NULL && same_powers(candidate->power, power, BASES)) return &named[i];
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
  const parsed_unit *given = parse_unit(units, unit);
  return given != NULL && given->scale == 1 && given->offset == 0;
}

const char *od_units_suggest(const char *unit) {
  static const char *const common[] = {"m",   "mm",    "cm",    "km",    "kg",    "g",     "t",   "s",   "ms",
                                       "min", "h",     "N",     "kN",    "MN",    "N m",   "Nm",  "kNm", "Pa",
                                       "kPa", "MPa",   "GPa",   "bar",   "rad",   "deg",   "Hz",  "kHz", "rpm",
                                       "W",   "kW",    "N/m",   "kN/m",  "N/mm",  "MN/m",  "K",   "V",   "A",
                                       "m/s", "rad/s", "deg/s", "L/min", "N s/m", "kg m2", "m/s2"};
  for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
    if (strcasecmp(unit, common[i]) == 0) return common[i];
  return NULL;
}
