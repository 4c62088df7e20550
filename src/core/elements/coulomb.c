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
#include "elements/friction_x.h"

#else
#define OD_ELEMENT_FILE "elements/coulomb.c"
#include "elements/both_x.h"
#include "elements/friction_class.h"

const od_element_class od_coulomb_class = {
    .name = "coulomb",
    .choice = "coulomb",
    .summary = "Coulomb and viscous friction",
    OD_FIELDS(OD_FIELD_FC, OD_FIELD_VS, OD_FIELD_VISCOUS),
    OD_FRICTION_CLASS,
};
#endif
