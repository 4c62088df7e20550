// C source in double precision converted to single precision, for controllers without a floating-point unit for doubles.
//
//   double, double _Complex          float, float _Complex
//   0.5, 1e-3, 0x1.8p+3              0.5f, 1e-3f, 0x1.8p+3f; a constant c below 1e-37 becomes c^(126/1022)
//   sqrt(), csqrt(), DBL_MIN         sqrtf(), csqrtf(), FLT_MIN
//   OD_TOLERANCE(1e-13)              2 * 1e-13^(24/53): the same part of the digits (base/precision.h)
//
// Comments, texts, characters, lines #include and all other words stay the same.
#ifndef OD_EXPORT_SINGLE_H
#define OD_EXPORT_SINGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Prints `length` bytes of C source in single precision.
void od_single_print(FILE *to, const char *source, size_t length);

#endif
