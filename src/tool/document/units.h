// Units: what "35 mm" is in metres, and whether it is a length at all.
//
// A wrapper around UDUNITS-2 that adds `deg`, `rev` and `Nm`, and that knows angles apart from plain numbers: for
// UDUNITS a radian is 1, so that 60 rpm would pass as 6.28 Hz.
#ifndef OD_DOCUMENT_UNITS_H
#define OD_DOCUMENT_UNITS_H

#include <stdbool.h>

#include "oleodyn/status.h"

typedef struct od_units od_units;

od_units *od_units_new(od_error *err);
void od_units_free(od_units *units);

typedef enum od_unit_verdict { OD_UNIT_FITS, OD_UNIT_UNKNOWN, OD_UNIT_MISFITS } od_unit_verdict;

// rad in a turn: what a frequency in Hz is multiplied with to be one in rad/s.
#define OD_TURN 6.28318530717958647692

// value `unit` in the SI unit `si`. An empty unit means that the value is in SI already. Rates of turn fit where `si` is "Hz". The other way round only the
// caller knows whether a rate of turn is a frequency.
od_unit_verdict od_units_convert(od_units *units, const char *unit, const char *si, double value, double *result);

// The same for many values: how to convert them, found once.
typedef struct od_conversion {
  double factor, divisor, offset;  // value * factor / divisor + offset
} od_conversion;
od_unit_verdict od_units_conversion(od_units *units, const char *unit, const char *si, od_conversion *result);
static inline double od_convert(const od_conversion *c, double value) {
  return value * c->factor / c->divisor + c->offset;
}

// A unit by the powers of the base units it is made of (the last one is the radian), and how to convert values to those. False: it is not known.
enum { OD_UNIT_BASES = 8 };
bool od_units_base(od_units *units, const char *unit, od_conversion *conversion, double power[OD_UNIT_BASES]);
const char *od_unit_base(int i);  // its symbol

// Whether a unit, or an expression, is written with hertz. 1/s may be Hz or rad/s.
bool od_units_names_hertz(const char *text);

bool od_units_knows(od_units *units, const char *unit);
// What a unit measures, with its article: "a length". NULL: nothing that has a name here, or an unknown unit.
const char *od_units_measures(od_units *units, const char *unit);
// The SI unit of what a unit measures ("bar": "Pa"). NULL as above.
const char *od_units_si(od_units *units, const char *unit);
// Whether the text is a unit that is coherent in SI: no factor, no offset ("N", not "kN").
bool od_units_is_si(od_units *units, const char *unit);
// A unit that differs from an unknown one by upper and lower case alone ("mpa": "MPa"), or NULL.
const char *od_units_suggest(const char *unit);

#endif
