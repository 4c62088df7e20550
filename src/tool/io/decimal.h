// Exact conversion of doubles to decimal numbers and back. printf and strtod would take most of the time of writing and reading a
// log. No C library in Debian has a faster exact conversion.
#ifndef OD_IO_DECIMAL_H
#define OD_IO_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

// A decimal number: digits * 10^exponent.
typedef struct od_decimal {
  uint64_t digits;
  int exponent;
} od_decimal;

// Returns the shortest decimal that reads back as the given finite positive value; if there are several, the nearest of them. The
// decimal has at most 17 digits, and its last digit is not zero.
od_decimal od_shortest_decimal(double value);

// Computes the double nearest to a decimal number. Returns false in rare cases: the number is too close to the midpoint of two
// doubles, or too large or too small for this fast method.
bool od_nearest_double(od_decimal d, double *value);

#endif
