// C source in double precision converted to single precision, for controllers without a floating-point unit for doubles.
//
//   double, double _Complex          float, float _Complex
//   0.5, 1e-3, 0x1.8p+3              0.5f, 1e-3f, 0x1.8p+3f; constants below the range of floats keep their place in the range
//   sqrt(), csqrt(), DBL_MIN         sqrtf(), csqrtf(), FLT_MIN
//   OD_TOLERANCE(1e-13)              a constant as far from the round-off of floats, on the scale of digits (core/base/precision.h)
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
