// Coulomb friction with viscous friction, smooth through zero:
//   F = Fc tanh(v/vs) + viscous v
#ifdef OD_ELEMENT_TEXT

typedef struct X(numbers) {
  od_x Fc, vs, viscous;
} X(numbers);

static inline od_x X(friction)(const X(numbers) * q, od_x v) {
  return q->Fc * od_x_tanh(v / q->vs) + q->viscous * v;
}
#ifndef OD_COMPLEX
static inline double friction_slope(const numbers_r *q, double v) {
  double t = tanh(v / q->vs);
  return q->Fc * (1 - t * t) / q->vs + q->viscous;
}
#endif
#include "friction/friction_x.h"

#else
#define OD_ELEMENT_FILE "friction/coulomb.c"
#define OD_LAW_STATES   0
#define OD_LAW_PLAIN
#define OD_FIRST_KEY           "Fc"
#define OD_SIDED_PARAMETERS(M) OD_PARAMETER_FC(M) OD_PARAMETER_TRANSITION(M) OD_PARAMETER_VISCOUS(M)
#define OD_COMMON_PARAMETERS(M)
#include "friction/law_tables.h"
#include "elements/both_x.h"

OD_FRICTION_LAW(coulomb, "coulomb", "Coulomb and viscous friction");
#endif
