// The reduced law: Modified LuGre without sigma_1, with vb computed from vs and n, and with tau_hp = 0.15 tau_hn. Eq. 5.10 of
// source 28 in docs/theory.md.
#ifdef OD_ELEMENT_TEXT

#include "friction/lugre_family_x.h"

typedef struct X(numbers) {
  od_x Fs, Fc, vs, n, viscous, sigma_0, tau_hn, tau_h0, factor;
  struct X(powers) powers;
} X(numbers);
static inline X(family) X(family_of)(const X(numbers) * q, od_x signal) {
  X(family)
  f = {.Fs = q->Fs,
       .Fc = q->Fc,
       .vs = q->vs,
       .n = q->n,
       .viscous = q->viscous,
       .log_vb_vs = X(log_vb_vs_exponential)(0, q->vs, q->n),
       .sigma_0 = q->sigma_0,
       .growth_rate = 1 / (0.15 * q->tau_hn),
       .shrink_rate = 1 / q->tau_hn,
       .rest_rate = 1 / q->tau_h0};
  return X(scaled)(f, q->factor * signal, q->powers);
}

#include "friction/law_functions_x.h"

#else
#define OD_ELEMENT_FILE "friction/reduced.c"
#define OD_LAW_STATES   OD_STATES_BRISTLES_FILM
#define OD_LAW_SHAPE    OD_STRIBECK_EXPONENTIAL
#define OD_FIRST_KEY    "Fs"
#define OD_SIDED_PARAMETERS(M) \
  OD_PARAMETER_BREAKAWAY(M) OD_PARAMETER_FC(M) OD_PARAMETER_VS(M) OD_PARAMETER_N(M) OD_PARAMETER_VISCOUS(M)
#define OD_COMMON_PARAMETERS(M) \
  OD_PARAMETER_SIGMA_0(M) OD_PARAMETER_TAU_HN(M) OD_PARAMETER_TAU_H0(M) OD_PARAMETERS_OF_FACTOR(M)
#define OD_LAW_RULES OD_FS_RULES(0, 1)
#include "friction/law_tables.h"
#include "elements/element_template_x.h"

OD_FRICTION_LAW(reduced, "reduced", "bristles and a lubricant film with few parameters");
#endif
