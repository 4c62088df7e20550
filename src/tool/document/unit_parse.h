// Texts of units: "l/min", "kg m2", "N/(m/s)", "cm³/rev". The names are in unit_table.c, the grammar is in unit_parse.c.
#ifndef OD_DOCUMENT_UNIT_PARSE_H
#define OD_DOCUMENT_UNIT_PARSE_H

#include <stdbool.h>
#include <stddef.h>

// The base units. The radian is a base unit, so that an angular rate differs from a frequency.
enum { OD_METER, OD_KILOGRAM, OD_SECOND, OD_AMPERE, OD_KELVIN, OD_MOLE, OD_CANDELA, OD_RADIAN, OD_UNIT_BASES };

// A unit as powers of the base units: value in base units = value * factor / divisor + offset. If possible, factor and divisor are
// integers without a common divisor: a division by 1000 is exact, a product with 0.001 is not.
typedef struct od_unit {
  int power[OD_UNIT_BASES];
  double factor, divisor, offset;
} od_unit;

// Parses a unit. Allowed are names with prefixes, products (space, '.', '*', '·', or '-' before a letter), quotients ('/' or
// "per"), parentheses, and integer exponents ("m2", "m^2", "m**2", "m²", "s-1"); "1" or "-" alone is a plain number, and a unit may
// begin with "1/". A unit with an offset (degC) must be alone. Returns false for an unknown unit.
bool od_unit_parse(const char *text, od_unit *unit);

// A name in the table of units.
typedef struct od_unit_name {
  const char *name;
  bool prefixed;           // whether prefixes are allowed: "kPa", "kilopascal"
  double factor, divisor;  // the unit is factor / divisor of `definition`
  const char *definition;  // definition by other units; NULL: a base unit
  int base;                // the base unit, if definition is NULL
  double offset;           // value of the zero of this unit, in base units
} od_unit_name;
// Finds the name with the given length at `text`, with or without a prefix; *power is the power of ten of the prefix. Returns
// NULL for an unknown name.
const od_unit_name *od_unit_find(const char *text, size_t length, int *power);
// Returns the table of the names of units; *count: number of names.
const od_unit_name *od_unit_names(int *count);

// Returns a suggestion for a text that is not a unit: for the spelling of another tool ("lpm": "l/min"), for wrong upper or lower
// case ("mpa": "MPa"), or for an ambiguous name ("gal": "US_gal' or 'imp_gal"). Messages put the suggestion in quotation marks.
// Returns NULL if there is no suggestion.
const char *od_units_suggest(const char *unit);

#endif
