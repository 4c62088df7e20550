// Friction after Brown and McPhee (eq. 14 of source 1 in docs/theory.md), an odd and smooth function of v with r = v/vs:
//   F = Fc tanh(4 r) + (Fs - Fc) r / (r^2/4 + 3/4)^2 + viscous v tanh(4)
#ifdef OD_ELEMENT_TEXT

#include "friction/speed_law_x.h"

typedef struct X(numbers) {
  od_x Fc, Fs, vs, viscous, factor, factor_Fs, factor_Fc, factor_vs, factor_viscous;
} X(numbers);

static inline void X(scale)(X(numbers) * q, od_x log_factor) {
  q->Fs *= od_x_exp(q->factor_Fs * log_factor);
  q->Fc *= od_x_exp(q->factor_Fc * log_factor);
  q->vs *= od_x_exp(q->factor_vs * log_factor);
  q->viscous *= od_x_exp(q->factor_viscous * log_factor);
}

static inline od_x X(friction)(const X(numbers) * q, od_x v) {
  od_x r = v / q->vs, b = r * r / 4 + 0.75;
  return q->Fc * X(smooth_sign)(4 * r) + (q->Fs - q->Fc) * r / (b * b) + q->viscous * v * tanh(4.0);
}
#ifndef OD_COMPLEX
static inline speed_law_slopes friction_slopes(const numbers_r *q, double v) {
  double r = v / q->vs, t = smooth_sign_r(4 * r), b = r * r / 4 + 0.75, hump = r / (b * b),
         viscous = q->viscous * tanh(4.0);
  double hump_slope = 1 / (b * b) - r * r / (b * b * b);  // derivative of r/b^2 with respect to r; db/dr = r/2
  double turning = (q->Fc * 4 * (1 - t * t) + (q->Fs - q->Fc) * hump_slope) / q->vs;
  return (speed_law_slopes){.speed = turning + viscous,
                            .log_factor = q->factor_Fc * q->Fc * (t - hump) + q->factor_Fs * q->Fs * hump +
                                          (q->factor_viscous * viscous - q->factor_vs * turning) * v};
}
#endif
#include "friction/law_functions_x.h"

#else
#define OD_ELEMENT_FILE "friction/brown_mcphee.c"
#define OD_LAW_STATES   OD_STATES_NONE
#define OD_LAW_OF_SPEED
#define OD_FIRST_KEY           "Fc"
#define OD_SIDED_PARAMETERS(M) OD_PARAMETER_FC(M) OD_PARAMETER_FS(M) OD_PARAMETER_TRANSITION(M) OD_PARAMETER_VISCOUS(M)
#define OD_COMMON_PARAMETERS(M) \
  OD_PARAMETER_FACTOR(M)        \
  OD_PARAMETER_FACTOR_FS(M) OD_PARAMETER_FACTOR_FC(M) OD_PARAMETER_FACTOR_VS(M) OD_PARAMETER_FACTOR_VISCOUS(M)
#define OD_LAW_RULES OD_FS_RULES(1, 0)
#include "friction/law_tables.h"
#include "elements/element_template_x.h"

OD_FRICTION_LAW(brown_mcphee, "brown-mcphee", "Coulomb, static and viscous friction as one smooth function");
#endif
