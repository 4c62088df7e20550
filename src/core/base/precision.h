// Constants that depend on the precision of a double. An export in single precision (tool/export/single.h) converts the sources
// to float, with this file.
#ifndef OD_BASE_PRECISION_H
#define OD_BASE_PRECISION_H

#include <float.h>
#include <stdint.h>
#include <string.h>

// Tolerances near the round-off of doubles. An export in single precision replaces OD_TOLERANCE(t) by a constant at the same place between 1
// and the round-off of floats. Only constants may be arguments.
#define OD_TOLERANCE(t) (t)

// The bits of a number, as an unsigned integer of the same size.
#if DBL_DIG > FLT_DIG
typedef uint64_t od_bits;
#else
typedef uint32_t od_bits;
#endif
enum { OD_BITS = 8 * sizeof(od_bits), OD_MANTISSA_BITS = DBL_MANT_DIG - 1, OD_EXPONENT_BIAS = DBL_MAX_EXP - 1 };

static inline od_bits od_bits_of(double x) {
  od_bits bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

#endif
