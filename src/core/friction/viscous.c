// Viscous friction: F = viscous v.
#ifdef OD_ELEMENT_TEXT

typedef struct X(numbers) {
  od_x viscous;
} X(numbers);

static inline od_x X(friction)(const X(numbers) * q, od_x v) {
  return q->viscous * v;
}
#ifndef OD_COMPLEX
static inline double friction_slope(const numbers_r *q, double v) {
  (void)v;
  return q->viscous;
}
#endif
#include "friction/friction_x.h"

#else
#define OD_ELEMENT_FILE "friction/viscous.c"
#define OD_LAW_STATES   0
#define OD_LAW_PLAIN
#define OD_FIRST_KEY           "viscous"
#define OD_SIDED_PARAMETERS(M) OD_PARAMETER_VISCOUS(M)
#define OD_COMMON_PARAMETERS(M)
#include "friction/law_tables.h"
#include "elements/both_x.h"

OD_FRICTION_LAW(viscous, "viscous", "viscous friction alone");
#endif
