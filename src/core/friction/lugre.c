// LuGre: bristles, S = exp(-(v/vs)^2), no film. Eq. 2.1 to 2.3 of source 28 in docs/theory.md.
#ifdef OD_ELEMENT_TEXT

#include "friction/lugre_family_x.h"

typedef struct X(numbers) {
  od_x Fs, Fc, vs, viscous, sigma_0, sigma_1, factor;
  struct X(powers) powers;
} X(numbers);
static inline X(family) X(family_of)(const X(numbers) * q, od_x signal) {
  X(family)
  f = {.Fs = q->Fs,
       .Fc = q->Fc,
       .vs = q->vs,
       .n = 2,
       .viscous = q->viscous,
       .sigma_0 = q->sigma_0,
       .sigma_1 = q->sigma_1};
  return X(scaled)(f, q->factor * signal, q->powers);
}

#include "friction/law_functions_x.h"

#else
#define OD_ELEMENT_FILE         "friction/lugre.c"
#define OD_LAW_STATES           OD_STATES_BRISTLES
#define OD_LAW_SHAPE            OD_STRIBECK_EXPONENTIAL
#define OD_FIRST_KEY            "Fs"
#define OD_SIDED_PARAMETERS(M)  OD_PARAMETER_BREAKAWAY(M) OD_PARAMETER_FC(M) OD_PARAMETER_VS(M) OD_PARAMETER_VISCOUS(M)
#define OD_COMMON_PARAMETERS(M) OD_PARAMETER_SIGMA_0(M) OD_PARAMETER_SIGMA_1(M) OD_PARAMETERS_OF_FACTOR(M)
#define OD_LAW_RULES            OD_FS_RULES(0, 1)
#include "friction/law_tables.h"
#include "elements/element_template_x.h"

OD_FRICTION_LAW(lugre, "lugre", "bristles with static, Coulomb and viscous friction");
#endif
