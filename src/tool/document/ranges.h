// Allowed and usual ranges of numbers. The tables of sections (section.h) contain the ranges for each key. A value that
// is not allowed is an error. An unusual value causes a warning. Both messages suggest a unit with which the
// value is usual, if there is such a unit.
#ifndef OD_DOCUMENT_RANGES_H
#define OD_DOCUMENT_RANGES_H

#include "document/quantities.h"

// Ranges shared by several sections: the allowed range, then the usual range.
#define OD_RANGE_ACCELERATION  OD_LIMITS(-1e4, 1e4, -30, 30)
#define OD_RANGE_DENSITY       OD_LIMITS(10, 3e4, 700, 1300)
#define OD_RANGE_DURATION      OD_LIMITS(1e-9, 1e9, 1e-5, 1e5)
#define OD_RANGE_EXPONENT      OD_LIMITS(0.1, 10, 1, 1.7)
#define OD_RANGE_FORCE         OD_LIMITS(-1e12, 1e12, -1e8, 1e8)
#define OD_RANGE_FREQUENCY     OD_LIMITS(1e-9, 1e9, 1e-5, 1e5)
#define OD_RANGE_INERTIA       OD_LIMITS(-1e14, 1e14, -1e9, 1e9)
#define OD_RANGE_INTERVAL      OD_LIMITS(1e-9, 1e9, 1e-6, 1e4)
#define OD_RANGE_LENGTH        OD_LIMITS(0, 1e5, 1e-3, 200)
#define OD_RANGE_MASS          OD_LIMITS(1e-12, 1e9, 1e-4, 1e6)
#define OD_RANGE_MODULUS       OD_LIMITS(1e6, 1e15, 3e8, 3e9)
#define OD_RANGE_POSITION      OD_LIMITS(-1e6, 1e6, -200, 200)
#define OD_RANGE_PRESSURE      OD_LIMITS(0, 1e10, 5e3, 1e8)
#define OD_RANGE_STEP          OD_LIMITS(1e-12, 1e9, 1e-8, 100)
#define OD_RANGE_STIFFNESS     OD_LIMITS(-1e15, 1e15, -1e11, 1e11)
#define OD_RANGE_SWEEP         OD_LIMITS(0, 1e9, 0, 1e5)
#define OD_RANGE_SWEEP_STEP    OD_LIMITS(1e-9, 1e9, 1e-6, 1e5)
#define OD_RANGE_TEMPERATURE   OD_LIMITS(150, 700, 253, 373)
#define OD_RANGE_TIME          OD_LIMITS(1e-12, 1e10, 1e-6, 1e6)
#define OD_RANGE_TIME_CONSTANT OD_LIMITS(0, 1e9, 1e-6, 1e4)
#define OD_RANGE_TOLERANCE     OD_LIMITS(1e-18, 1, 1e-14, 1e-2)

// Returns the limits of a field in its SI unit: its own limits, restricted to the allowed sign.
od_limits od_field_limits(const od_field *field);

// Returns whether a given value is allowed for a field. Reports a value that is not allowed, and warns about an unusual value.
bool od_check_limits(od_loader *ld, const od_given *given, const od_field *field, double value);
// Returns whether a given number is allowed as a value of another number, such as a start value or a bound of a fit. label: name of
// the given number in messages. Reports a value that is not allowed. A default is allowed, and so is zero as the bound of a positive
// number.
bool od_check_number_limits(od_loader *ld, int given, const char *label, const od_number *number);
// Reports a number that violates a relation to another number: "'rod' is '50 mm'; expected less than 'bore' ('40 mm')". `relation`:
// "less than", "at most" and so on; `because`: end of the sentence, "because ..." (NULL: none).
void od_complain_relation(od_loader *ld, int number, const char *relation, int other, const char *because);

// Warns if an initial value that static balance found is unusual.
void od_check_balanced(od_loader *ld, int number);
// Warns if the largest measured value of a quantity, in SI units, is unusual: the unit of the log may be missing.
// `usual` NULL: no limits.
void od_check_measured(od_loader *ld, od_place place, const char *name, const char *unit, const od_limits *usual,
                       double largest);

#endif
