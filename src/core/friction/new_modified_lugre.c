// New Modified LuGre: the Modified LuGre law with Fs and Fc that depend on a load. The law also has terms for the acceleration and
// for the rate of the film. Eq. 2.12 and 2.13 and section 2.2.4 of source 28 in docs/theory.md. In a machine the acceleration is
// lagged and thus a function of states; this lag is equivalent to a mass in series with a damper.
#ifdef OD_ELEMENT_TEXT

typedef struct X(numbers) {
  od_x Fs, Fc, vs, n, viscous, vb, sigma_0, sigma_1, tau_hp, tau_hn, tau_h0, inertia, lag, film_force, load, load_0,
      load_Fs, load_Fc;
} X(numbers);
#include "friction/lugre_family_x.h"

// Returns a friction force in N: `force` changed by the load, but at least a thousandth of `force`.
static inline od_x X(loaded)(od_x force, od_x change) {
  return OD_SELECT(RE(force + change) > 1e-3 * RE(force), force + change, 1e-3 * force);
}

static inline X(family) X(family_of)(const X(numbers) * q, od_x signal) {
  od_x more = q->load * signal / q->load_0 - 1;
  return (X(family)){.Fs = X(loaded)(q->Fs, q->load_Fs * more),
                     .Fc = X(loaded)(q->Fc, q->load_Fc * more),
                     .vs = q->vs,
                     .n = q->n,
                     .viscous = q->viscous,
                     .log_vb_vs = X(log_vb_vs_exponential)(q->vb, q->vs, q->n),
                     .sigma_0 = q->sigma_0,
                     .sigma_1 = q->sigma_1,
                     .growth_rate = 1 / q->tau_hp,
                     .shrink_rate = 1 / q->tau_hn,
                     .rest_rate = 1 / q->tau_h0,
                     .inertia = q->inertia,
                     .lag = q->lag,
                     .film_force = q->film_force};
}

#ifndef OD_COMPLEX
static inline double loaded_slope(double force, double change) {
  return force + change > 1e-3 * force ? 1 : 0;
}

// Returns the derivatives of the parameters with respect to the signal. load_slope: derivative of the product of load
// and signal.
static inline family_signal_slopes slopes_of_family(const numbers_r *q, double signal, double load_slope,
                                                    const family_r *f) {
  (void)f;
  double more = q->load * signal / q->load_0 - 1, slope = load_slope / q->load_0;
  return (family_signal_slopes){.Fs = loaded_slope(q->Fs, q->load_Fs * more) * q->load_Fs * slope,
                                .Fc = loaded_slope(q->Fc, q->load_Fc * more) * q->load_Fc * slope};
}
#endif
#include "friction/law_functions_x.h"

#else
#define OD_ELEMENT_FILE "friction/new_modified_lugre.c"
#define OD_LAW_STATES   OD_STATES_BRISTLES_FILM_SPEED
#define OD_LAW_SHAPE    OD_STRIBECK_EXPONENTIAL
#define OD_FIRST_KEY    "Fs"
#define OD_SIDED_PARAMETERS(M) \
  OD_PARAMETER_BREAKAWAY(M)    \
  OD_PARAMETER_FC(M) OD_PARAMETER_VS(M) OD_PARAMETER_N(M) OD_PARAMETER_VISCOUS(M) OD_PARAMETER_VB(M)
#define OD_COMMON_PARAMETERS(M) \
  OD_PARAMETER_SIGMA_0(M)       \
  OD_PARAMETER_SIGMA_1(M)       \
  OD_PARAMETER_TAU_HP(M)        \
  OD_PARAMETER_TAU_HN(M)        \
  OD_PARAMETER_TAU_H0(M)        \
  OD_PARAMETER_INERTIA(M)       \
  OD_PARAMETER_LAG(M)           \
  OD_PARAMETER_FILM_FORCE(M) OD_PARAMETER_LOAD(M) OD_PARAMETER_LOAD_0(M) OD_PARAMETER_LOAD_FS(M) OD_PARAMETER_LOAD_FC(M)
#define OD_LAW_RULES OD_FS_RULES(0, 1)
#include "friction/law_tables.h"
#include "elements/element_template_x.h"

OD_FRICTION_LAW(new_modified_lugre, "new-modified-lugre",
                "bristles and a lubricant film, with effects of load and acceleration");
#endif
