// Modified Lorentzian: S = 1/(1 + |v/vs|^n), with a film that follows the speed.
#ifdef OD_ELEMENT_TEXT

#include "friction/family_x.h"

typedef struct X(numbers) {
  od_x Fs, Fc, vs, n, viscous, vb, v0, factor;
  struct X(powers) powers;
} X(numbers);
static inline X(family) X(family_of)(const X(numbers) * q, od_x signal) {
  X(family)
  f = {.Fs = q->Fs,
       .Fc = q->Fc,
       .vs = q->vs,
       .n = q->n,
       .viscous = q->viscous,
       .end = X(film_end_lorentzian)(q->vb, q->vs, q->n, 0.06 / (q->n * q->n)),
       .v0 = q->v0};
  return X(scaled)(f, q->factor * signal, q->powers);
}

#include "friction/friction_x.h"

#else
#define OD_ELEMENT_FILE "friction/modified_lorentzian.c"
#define OD_SIDED        6
#define OD_LAW_STATES   0
#define OD_LAW_SHAPE    OD_STRIBECK_LORENTZIAN
#define OD_FIRST_KEY    "Fs"
#define OD_SIDED_PARAMETERS(M) \
  OD_PARAMETER_FS(M) OD_PARAMETER_FC(M) OD_PARAMETER_VS(M) OD_PARAMETER_N(M) OD_PARAMETER_VISCOUS(M) OD_PARAMETER_VB(M)
#define OD_COMMON_PARAMETERS(M) OD_PARAMETER_V0(M) OD_PARAMETERS_OF_FACTOR(M)
#define OD_LAW_RULES            OD_RULES(OD_FS_ABOVE_FC(0, 1, ""), OD_FS_ABOVE_FC(13, 14, " for negative speeds")),
#include "friction/law_tables.h"
#include "elements/both_x.h"

OD_FRICTION_LAW(modified_lorentzian, "modified-lorentzian", "steady friction that fades as 1/(1 + (v/vs)^n)");
#endif
