// Coulomb and viscous friction, smooth at zero speed:
//   F = Fc tanh(v/vs) + viscous v
#ifdef OD_ELEMENT_TEXT

#include "friction/speed_law_x.h"

typedef struct X(numbers) {
  od_x Fc, vs, viscous, factor, factor_Fc, factor_vs, factor_viscous;
} X(numbers);

static inline void X(scale)(X(numbers) * q, od_x log_factor) {
  q->Fc *= od_x_exp(q->factor_Fc * log_factor);
  q->vs *= od_x_exp(q->factor_vs * log_factor);
  q->viscous *= od_x_exp(q->factor_viscous * log_factor);
}

static inline od_x X(friction)(const X(numbers) * q, od_x v) {
  return q->Fc * X(smooth_sign)(v / q->vs) + q->viscous * v;
}
#ifndef OD_COMPLEX
static inline speed_law_slopes friction_slopes(const numbers_r *q, double v) {
  double t = smooth_sign_r(v / q->vs), turning = q->Fc * (1 - t * t) / q->vs;
  return (speed_law_slopes){
      .speed = turning + q->viscous,
      .log_factor = q->factor_Fc * q->Fc * t - q->factor_vs * turning * v + q->factor_viscous * q->viscous * v};
}
#endif
#include "friction/law_functions_x.h"

#else
#define OD_ELEMENT_FILE "friction/coulomb.c"
#define OD_LAW_STATES   OD_STATES_NONE
#define OD_LAW_OF_SPEED
#define OD_FIRST_KEY           "Fc"
#define OD_SIDED_PARAMETERS(M) OD_PARAMETER_FC(M) OD_PARAMETER_TRANSITION(M) OD_PARAMETER_VISCOUS(M)
#define OD_COMMON_PARAMETERS(M) \
  OD_PARAMETER_FACTOR(M) OD_PARAMETER_FACTOR_FC(M) OD_PARAMETER_FACTOR_VS(M) OD_PARAMETER_FACTOR_VISCOUS(M)
#include "friction/law_tables.h"
#include "elements/element_template_x.h"

OD_FRICTION_LAW(coulomb, "coulomb", "Coulomb and viscous friction");
#endif
