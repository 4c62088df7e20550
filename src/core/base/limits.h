// What values a number may have.
#ifndef OD_LIMITS_H
#define OD_LIMITS_H

#include <stdbool.h>

typedef enum od_sign { OD_ANY, OD_POSITIVE, OD_NOT_NEGATIVE } od_sign;

// What is possible, and what a fluid-power engineer would not look at twice: in SI, ends included; infinite: no end.
typedef struct od_limits {
  double low, high, usual_low, usual_high;
} od_limits;

// All zero: nothing is said about them.
static inline bool od_limits_are_known(const od_limits *l) {
  return l->low != 0 || l->high != 0 || l->usual_low != 0 || l->usual_high != 0;
}

#endif
