// Units: converts values to SI units (35 mm: 0.035 m), and checks that the unit has the expected dimension. Angles are not plain
// numbers: 60 rpm is 1 Hz or 6.28 rad/s, but not 6.28 Hz.
#ifndef OD_DOCUMENT_UNITS_H
#define OD_DOCUMENT_UNITS_H

#include <stdbool.h>

#include "document/unit_parse.h"
#include "memory/scoped.h"
#include "oleodyn/status.h"

typedef struct od_units od_units;

// Creates the memory for conversions of units, freed with od_units_free(). Returns NULL and fills err if an allocation fails.
od_units *od_units_new(od_error *err);
void od_units_free(od_units *units);
OD_OWNED_POINTER(od_units, od_units_free);

typedef enum od_unit_verdict { OD_UNIT_FITS, OD_UNIT_UNKNOWN, OD_UNIT_MISFITS } od_unit_verdict;

// rad per turn, the factor from a frequency in Hz to an angular rate in rad/s.
#define OD_TURN 6.28318530717958647692

// Converts a value from `unit` to the SI unit `si`. An empty unit means that the value is already in SI units. Angular rates fit
// "Hz". In the other direction, only the caller can decide whether a frequency fits an angular rate.
od_unit_verdict od_units_convert(od_units *units, const char *unit, const char *si, double value, double *result);

// A conversion that is determined once, for many values.
typedef struct od_conversion {
  double factor, divisor, offset;  // value * factor / divisor + offset
} od_conversion;
od_unit_verdict od_units_conversion(od_units *units, const char *unit, const char *si, od_conversion *result);
static inline double od_convert(const od_conversion *c, double value) {
  return value * c->factor / c->divisor + c->offset;
}

// Decomposes a unit into powers of the base units; the last base unit is the radian. Also finds the conversion of values to base
// units. Returns false if the unit is unknown.
bool od_units_base(od_units *units, const char *unit, od_conversion *conversion, double power[OD_UNIT_BASES]);
const char *od_unit_base(int i);  // returns the symbol of base unit i
// Returns the text of a unit in base units: "kg s-2"; empty for a plain number.
const char *od_unit_text(const double power[OD_UNIT_BASES], char text[120]);

// Returns whether a unit or an expression contains the unit hertz. 1/s may be Hz or rad/s.
bool od_units_names_hertz(const char *text);

// Returns whether the text is a unit.
bool od_units_knows(od_units *units, const char *unit);
// Returns the quantity that a unit measures, with its article: "a length". Returns NULL for an unknown unit, or if the quantity has
// no name in the table.
const char *od_units_measures(od_units *units, const char *unit);
// Returns the SI unit of the quantity that a unit measures ("bar": "Pa"). Returns NULL in the cases of od_units_measures().
const char *od_units_si(od_units *units, const char *unit);
// Returns whether the text is a coherent SI unit: no factor, no offset ("N", not "kN").
bool od_units_is_si(od_units *units, const char *unit);

#endif
