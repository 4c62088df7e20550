// A whole steady law with a Stribeck curve and a film that follows the speed without delay: equations and tables. The file of such
// a law defines
//   OD_STRIBECK_N(q)          the exponent n; with OD_STRIBECK_HAS_N, n is the parameter q->n
//   OD_STRIBECK_LOG_VB_VS(q)  log(vb/vs), where vb is the speed at which the film is complete (lugre_family_x.h)
//   OD_LAW_SHAPE, OD_ELEMENT_FILE
// and ends with its OD_FRICTION_LAW.
#ifdef OD_ELEMENT_TEXT

#include "friction/lugre_family_x.h"

typedef struct X(numbers) {
#ifdef OD_STRIBECK_HAS_N
  od_x Fs, Fc, vs, n, viscous, vb, v0, factor;
#else
  od_x Fs, Fc, vs, viscous, vb, v0, factor;
#endif
  struct X(powers) powers;
} X(numbers);
static inline X(family) X(family_of)(const X(numbers) * q, od_x signal) {
  X(family)
  f = {.Fs = q->Fs,
       .Fc = q->Fc,
       .vs = q->vs,
       .n = OD_STRIBECK_N(q),
       .viscous = q->viscous,
       .log_vb_vs = OD_STRIBECK_LOG_VB_VS(q),
       .v0 = q->v0};
  return X(scaled)(f, q->factor * signal, q->powers);
}

#include "friction/law_functions_x.h"

#else
#ifdef OD_STRIBECK_HAS_N
#define OD_STRIBECK_EXPONENT(M) OD_PARAMETER_N(M)
#else
#define OD_STRIBECK_EXPONENT(M)
#endif
#define OD_LAW_STATES OD_STATES_NONE
#define OD_FIRST_KEY  "Fs"
#define OD_SIDED_PARAMETERS(M) \
  OD_PARAMETER_FS(M)           \
  OD_PARAMETER_FC(M) OD_PARAMETER_VS(M) OD_STRIBECK_EXPONENT(M) OD_PARAMETER_VISCOUS(M) OD_PARAMETER_VB(M)
#define OD_COMMON_PARAMETERS(M) OD_PARAMETER_V0(M) OD_PARAMETERS_OF_FACTOR(M)
#define OD_LAW_RULES            OD_FS_RULES(0, 1)
#include "friction/law_tables.h"
#include "elements/element_template_x.h"
#endif
