// Exact conversion of doubles to decimal numbers and back. The conversion is implemented here because no C library in Debian
// offers this conversion. printf and strtod took most of the time of writing and reading a log.
#ifndef OD_IO_DECIMAL_H
#define OD_IO_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

// digits * 10^exponent.
typedef struct od_decimal {
  uint64_t digits;
  int exponent;
} od_decimal;

// The shortest decimal that reads back as the given finite positive value; if there are several such decimals, the nearest
// decimal. At most 17 digits, the last of which is not zero.
od_decimal od_shortest_decimal(double value);

// Computes the double nearest to a decimal number. False (rare): the number is too close to the midpoint of two doubles, or too
// large or too small for this fast method.
bool od_nearest_double(od_decimal d, double *value);

#endif
