// The table of units: SI units, and other units that are common in hydraulics. The table does not depend on a library, because
// controllers, Windows and browsers need the same units. Libraries also do not distinguish angles from numbers, or gauge pressures
// from absolute pressures. The test unit.document.unit_table compares the factors with UDUNITS-2 and lists the exceptions.
#include <string.h>
#include <strings.h>

#include "document/unit_parse.h"

#define PI 3.14159265358979323846

// Rows of the table. A unit is factor / divisor times its definition; only SHIFTED units have an offset.
#define BASE(name, base) \
  { name, true, 1, 1, NULL, base, 0 }
#define SAME(name, definition) \
  { name, true, 1, 1, definition, 0, 0 }
#define UNIT(name, factor, divisor, definition) \
  { name, false, factor, divisor, definition, 0, 0 }
#define PREFIXED(name, factor, divisor, definition) \
  { name, true, factor, divisor, definition, 0, 0 }
#define SHIFTED(name, factor, divisor, definition, offset) \
  { name, false, factor, divisor, definition, 0, offset }

static const od_unit_name names[] = {
    // SI base units. Prefixes of masses belong to the gram.
    BASE("m", OD_METER),
    BASE("s", OD_SECOND),
    BASE("A", OD_AMPERE),
    BASE("K", OD_KELVIN),
    BASE("mol", OD_MOLE),
    BASE("cd", OD_CANDELA),
    BASE("rad", OD_RADIAN),
    {"kg", false, 1, 1, NULL, OD_KILOGRAM, 0},
    PREFIXED("g", 1, 1000, "kg"),
    // SI units with names.
    SAME("N", "kg m s-2"),
    SAME("Pa", "N m-2"),
    SAME("J", "N m"),
    SAME("W", "J s-1"),
    SAME("Hz", "s-1"),
    SAME("C", "A s"),
    SAME("V", "W A-1"),
    SAME("F", "C V-1"),
    SAME("Ohm", "V A-1"),
    SAME("Ω", "V A-1"),
    SAME("S", "A V-1"),
    SAME("Wb", "V s"),
    SAME("T", "Wb m-2"),
    SAME("H", "Wb A-1"),
    SAME("sr", "rad2"),
    SAME("Nm", "N m"),
    // Plain numbers.
    UNIT("%", 1, 100, "1"),
    UNIT("percent", 1, 100, "1"),
    UNIT("ppm", 1, 1e6, "1"),
    // Angles.
    UNIT("deg", PI, 180, "rad"),
    UNIT("°", PI, 180, "rad"),
    UNIT("degree", PI, 180, "rad"),
    UNIT("arcmin", PI, 10800, "rad"),
    UNIT("arcsec", PI, 648000, "rad"),
    UNIT("rev", 2 * PI, 1, "rad"),
    UNIT("turn", 2 * PI, 1, "rad"),
    UNIT("revolution", 2 * PI, 1, "rad"),
    UNIT("rpm", 1, 1, "rev/min"),
    UNIT("gon", PI, 200, "rad"),
    // Times.
    UNIT("min", 60, 1, "s"),
    UNIT("h", 3600, 1, "s"),
    UNIT("hr", 3600, 1, "s"),
    UNIT("d", 86400, 1, "s"),
    UNIT("day", 86400, 1, "s"),
    UNIT("week", 604800, 1, "s"),
    UNIT("sec", 1, 1, "s"),
    // Lengths, areas and volumes.
    PREFIXED("l", 1, 1000, "m3"),
    PREFIXED("L", 1, 1000, "m3"),
    UNIT("in", 254, 10000, "m"),
    UNIT("inch", 254, 10000, "m"),
    UNIT("ft", 3048, 10000, "m"),
    UNIT("foot", 3048, 10000, "m"),
    UNIT("yd", 9144, 10000, "m"),
    UNIT("yard", 9144, 10000, "m"),
    UNIT("mile", 1609344, 1000, "m"),
    UNIT("mil", 254, 1e7, "m"),
    UNIT("micron", 1, 1e6, "m"),
    UNIT("ha", 1e4, 1, "m2"),
    UNIT("US_gal", 3785411784, 1e12, "m3"),
    UNIT("US_liquid_gallon", 3785411784, 1e12, "m3"),
    UNIT("imp_gal", 454609, 1e8, "m3"),
    // Masses, forces and torques.
    PREFIXED("t", 1000, 1, "kg"),
    UNIT("lb", 45359237, 1e8, "kg"),
    UNIT("lbm", 45359237, 1e8, "kg"),
    UNIT("oz", 28349523125, 1e12, "kg"),
    UNIT("slug", 1, 1, "lbf s2/ft"),
    UNIT("lbf", 44482216152605, 1e13, "N"),
    UNIT("kip", 44482216152605, 1e10, "N"),
    UNIT("kgf", 980665, 1e5, "N"),
    UNIT("kp", 980665, 1e5, "N"),
    UNIT("dyn", 1, 1e5, "N"),
    // Pressures. Pressures of machines are absolute; the parser rejects gauge pressures (barg, psig) with a suggestion.
    PREFIXED("bar", 1e5, 1, "Pa"),
    UNIT("bara", 1e5, 1, "Pa"),
    UNIT("psi", 1, 1, "lbf/in2"),
    UNIT("psia", 1, 1, "lbf/in2"),
    UNIT("ksi", 1000, 1, "lbf/in2"),
    UNIT("atm", 101325, 1, "Pa"),
    UNIT("at", 980665, 10, "Pa"),
    UNIT("torr", 101325, 760, "Pa"),
    UNIT("mmHg", 133322387415, 1e9, "Pa"),
    // Temperatures.
    SHIFTED("degC", 1, 1, "K", 273.15),
    SHIFTED("°C", 1, 1, "K", 273.15),
    SHIFTED("celsius", 1, 1, "K", 273.15),
    SHIFTED("degF", 5, 9, "K", 459.67 * 5 / 9),
    SHIFTED("°F", 5, 9, "K", 459.67 * 5 / 9),
    UNIT("degR", 5, 9, "K"),
    // Energies, powers, viscosities.
    UNIT("Wh", 3600, 1, "J"),
    UNIT("kWh", 3600000, 1, "J"),
    PREFIXED("cal", 41868, 10000, "J"),
    UNIT("BTU", 105505585262, 1e8, "J"),
    PREFIXED("eV", 1.602176634e-19, 1, "J"),
    UNIT("hp", 550, 1, "ft lbf/s"),
    UNIT("PS", 75, 1, "kgf m/s"),
    PREFIXED("P", 1, 10, "Pa s"),
    PREFIXED("St", 1, 10000, "m2/s"),
    // Speeds.
    UNIT("knot", 1852, 3600, "m/s"),
    UNIT("gn", 980665, 1e5, "m/s2"),
    // Full names of units.
    SAME("meter", "m"),
    SAME("metre", "m"),
    SAME("second", "s"),
    SAME("gram", "g"),
    SAME("ampere", "A"),
    SAME("kelvin", "K"),
    SAME("mole", "mol"),
    SAME("candela", "cd"),
    SAME("radian", "rad"),
    SAME("newton", "N"),
    SAME("pascal", "Pa"),
    SAME("joule", "J"),
    SAME("watt", "W"),
    SAME("hertz", "Hz"),
    SAME("coulomb", "C"),
    SAME("volt", "V"),
    SAME("farad", "F"),
    SAME("ohm", "Ohm"),
    SAME("siemens", "S"),
    SAME("weber", "Wb"),
    SAME("tesla", "T"),
    SAME("henry", "H"),
    SAME("liter", "l"),
    SAME("litre", "l"),
    SAME("tonne", "t"),
    SAME("poise", "P"),
    SAME("stokes", "St"),
    UNIT("minute", 60, 1, "s"),
    UNIT("hour", 3600, 1, "s"),
    UNIT("pound", 45359237, 1e8, "kg"),
    UNIT("atmosphere", 101325, 1, "Pa"),
};

typedef struct prefix {
  const char *symbol, *word;
  int power;
} prefix;
// The longer of two symbols with the same beginning is first.
static const prefix prefixes[] = {
    {"da", "deca", 1},  {"h", "hecto", 2},   {"k", "kilo", 3},   {"M", "mega", 6},   {"G", "giga", 9},
    {"T", "tera", 12},  {"P", "peta", 15},   {"E", "exa", 18},   {"d", "deci", -1},  {"c", "centi", -2},
    {"m", "milli", -3}, {"µ", "micro", -6},  {"μ", "micro", -6}, {"u", "micro", -6}, {"n", "nano", -9},
    {"p", "pico", -12}, {"f", "femto", -15}, {"a", "atto", -18},
};

// Finds a name without prefix; a plural in "s" is allowed for names of at least four letters. Returns NULL if there is no such
// name.
static const od_unit_name *find_plain(const char *text, size_t length) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t own = strlen(names[i].name);
    if (strncmp(names[i].name, text, own < length ? own : length) != 0) continue;
    if (own == length || (own + 1 == length && own > 3 && text[own] == 's')) return &names[i];
  }
  static const char *const plurals[][2] = {{"feet", "foot"}, {"inches", "inch"}};
  for (size_t i = 0; i < sizeof plurals / sizeof *plurals; i++)
    if (strlen(plurals[i][0]) == length && strncmp(plurals[i][0], text, length) == 0)
      return find_plain(plurals[i][1], strlen(plurals[i][1]));
  return NULL;
}

const od_unit_name *od_unit_names(int *count) {
  *count = (int)(sizeof names / sizeof *names);
  return names;
}

const od_unit_name *od_unit_find(const char *text, size_t length, int *power) {
  *power = 0;
  const od_unit_name *found = find_plain(text, length);
  for (size_t i = 0; found == NULL && i < sizeof prefixes / sizeof *prefixes; i++) {
    const char *const spelling[] = {prefixes[i].symbol, prefixes[i].word};
    for (int k = 0; found == NULL && k < 2; k++) {
      size_t own = strlen(spelling[k]);
      if (own >= length || strncmp(spelling[k], text, own) != 0) continue;
      found = find_plain(text + own, length - own);
      if (found != NULL && !found->prefixed) found = NULL;
      *power = prefixes[i].power;
    }
  }
  return found;
}

const char *od_units_suggest(const char *unit) {
  static const char *const other_spelling[][2] = {
      {"lpm", "l/min"},
      {"gpm", "US_gal/min' or 'imp_gal/min"},
      {"cc", "cm3"},
      {"ccm", "cm3"},
      {"cc/rev", "cm3/rev"},
      {"in-lb", "in lbf"},
      {"ft-lb", "ft lbf"},
      {"lb-ft", "ft lbf"},
      {"lb/in2", "psi"},
      {"gal", "US_gal' or 'imp_gal"},
      {"gallon", "US_gal' or 'imp_gal"},
      {"gal/min", "US_gal/min' or 'imp_gal/min"},
      {"barg", "bara"},
      {"bar_g", "bara"},
      {"psig", "psia"},
      {"bar_a", "bara"},
      {"kmh", "km/h"},
      {"kph", "km/h"},
      {"mph", "mile/h"},
      {"U/min", "rpm"},
      {"rps", "rev/s"},
      {"msec", "ms"},
      {"usec", "us"},
      {"ton", "t"},
      {"degs", "deg"},
  };
  static const char *const common[] = {"m",   "mm",    "cm",    "km",    "kg",    "g",     "t",   "s",   "ms",
                                       "min", "h",     "N",     "kN",    "MN",    "N m",   "Nm",  "kNm", "Pa",
                                       "kPa", "MPa",   "GPa",   "bar",   "rad",   "deg",   "Hz",  "kHz", "rpm",
                                       "W",   "kW",    "N/m",   "kN/m",  "N/mm",  "MN/m",  "K",   "V",   "A",
                                       "m/s", "rad/s", "deg/s", "L/min", "N s/m", "kg m2", "m/s2"};
  for (size_t i = 0; i < sizeof other_spelling / sizeof *other_spelling; i++)
    if (strcasecmp(unit, other_spelling[i][0]) == 0) return other_spelling[i][1];
  for (size_t i = 0; i < sizeof common / sizeof *common; i++)
    if (strcasecmp(unit, common[i]) == 0) return common[i];
  return NULL;
}
