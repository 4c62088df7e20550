// The allowed and usual values of a number.
#ifndef OD_LIMITS_H
#define OD_LIMITS_H

#include <stdbool.h>

typedef enum od_sign { OD_ANY, OD_POSITIVE, OD_NOT_NEGATIVE } od_sign;

// The allowed range of a number and its usual range in fluid power, in SI units. Bounds belong to the range; infinite:
// no limit.
typedef struct od_limits {
  double low, high, usual_low, usual_high;
} od_limits;

// Returns whether limits are given (not all zero).
static inline bool od_limits_are_known(const od_limits *l) {
  return l->low != 0 || l->high != 0 || l->usual_low != 0 || l->usual_high != 0;
}

#endif
