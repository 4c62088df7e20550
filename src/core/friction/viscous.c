// Viscous friction: F = viscous v.
#ifdef OD_ELEMENT_TEXT

#include "friction/speed_law_x.h"

typedef struct X(numbers) {
  od_x viscous, factor, factor_viscous;
} X(numbers);

static inline void X(scale)(X(numbers) * q, od_x log_factor) {
  q->viscous *= od_x_exp(q->factor_viscous * log_factor);
}

static inline od_x X(friction)(const X(numbers) * q, od_x v) {
  return q->viscous * v;
}
#ifndef OD_COMPLEX
static inline speed_law_slopes friction_slopes(const numbers_r *q, double v) {
  return (speed_law_slopes){.speed = q->viscous, .log_factor = q->factor_viscous * q->viscous * v};
}
#endif
#include "friction/law_functions_x.h"

#else
#define OD_ELEMENT_FILE "friction/viscous.c"
#define OD_LAW_STATES   OD_STATES_NONE
#define OD_LAW_OF_SPEED
#define OD_FIRST_KEY            "viscous"
#define OD_SIDED_PARAMETERS(M)  OD_PARAMETER_VISCOUS(M)
#define OD_COMMON_PARAMETERS(M) OD_PARAMETER_FACTOR(M) OD_PARAMETER_FACTOR_VISCOUS_ALONE(M)
#include "friction/law_tables.h"
#include "elements/element_template_x.h"

OD_FRICTION_LAW(viscous, "viscous", "viscous friction only");
#endif
