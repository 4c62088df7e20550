// Which values of a field are possible, and which are usual: one row for each field of machine and experiment files.
// What is not possible is an error, what is not usual a warning; both name the unit that was probably meant.
#ifndef OD_DOCUMENT_RANGES_H
#define OD_DOCUMENT_RANGES_H

#include "document/quantities.h"

// The limits of a field: those of its row (NULL: that of its key), or what its sign alone says.
od_limits od_field_limits(const od_field *field, const char *row);

// Whether a value that was given for a field is possible; a message when it is not, a warning when it is not usual.
bool od_check_limits(od_loader *ld, const od_given *given, const od_field *field, const char *row, double value);
// Whether a number that was given, called `label`, is possible as a value of another one, such as where an estimate of
// that one starts or ends.
bool od_check_number_limits(od_loader *ld, int given, const char *label, const od_number *number);

// Warns of an initial value that static balance found and that is not usual.
void od_check_balanced(od_loader *ld, int number);
// Warns of a quantity whose largest measured value, in SI, is unusual: its unit may have been forgotten.
void od_check_measured(od_loader *ld, od_place place, const char *name, const char *unit, double largest);

// The rows, for tests and for the documentation.
typedef struct od_range_row {
  const char *key, *unit;
  od_limits limits;
  const char *of;  // what it is, for people
} od_range_row;
int od_range_row_count(void);
const od_range_row *od_range_row_at(int i);

#endif
