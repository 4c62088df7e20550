// The parameters of the LuGre family (lugre_family.h) in the scalar of the build, and how a factor scales them. A law includes this header
// before X(numbers) and X(family_of); see law_tables.h.
#include "friction/law_factor_x.h"

typedef struct X(family) {
  od_x Fs, Fc, vs, n, viscous, log_vb_vs, v0, sigma_0, sigma_1, growth_rate, shrink_rate, rest_rate, inertia, lag,
      film_force;
} X(family);
_Static_assert(sizeof(X(family)) == OD_FAMILY_COUNT * sizeof(od_x),
               "the struct must have one member for each parameter of lugre_family.h");

// Returns log(vb/vs). If the argument vb is 0, vb is the speed at which S has fallen to k (Table 5.1 of source 28 in
// docs/theory.md).
static inline od_x X(log_vb_vs_exponential)(od_x vb, od_x vs, od_x n) {
  od_x k = 0.002 * od_x_exp(-4.5 * od_x_log(n));
  k = OD_SELECT(RE(k) < 0.5, k, 0.5);
  return OD_SELECT(RE(vb) > 0, od_x_log(vb / vs), od_x_log(-od_x_log(k)) / n);
}
static inline od_x X(log_vb_vs_lorentzian)(od_x vb, od_x vs, od_x n, od_x k) {
  k = OD_SELECT(RE(k) < 0.5, k, 0.5);
  return OD_SELECT(RE(vb) > 0, od_x_log(vb / vs), od_x_log((1 - k) / k) / n);
}

// Exponents of the factor: each parameter is multiplied by the factor to the power of the parameter's exponent. vb has
// the exponent of vs.
typedef struct X(powers) {
  od_x Fs, Fc, vs, viscous, tau;
} X(powers);

// Multiplies the parameters by powers of the factor.
static inline X(family) X(scaled)(X(family) f, od_x factor, X(powers) e) {
#ifndef OD_COMPLEX
  if (factor == 1) return f;
#endif
  od_x log_factor = od_x_log(X(least_factor)(factor)), tau = od_x_exp(-e.tau * log_factor);
  f.Fs *= od_x_exp(e.Fs * log_factor);
  f.Fc *= od_x_exp(e.Fc * log_factor);
  f.vs *= od_x_exp(e.vs * log_factor);
  f.viscous *= od_x_exp(e.viscous * log_factor);
  f.growth_rate *= tau, f.shrink_rate *= tau, f.rest_rate *= tau;
  return f;
}

#ifndef OD_COMPLEX
// Derivatives of parameters with respect to a signal; tau: the relative derivative of the rates of the film.
typedef struct family_signal_slopes {
  double Fs, Fc, vs, viscous, tau;
} family_signal_slopes;

// Returns the derivatives of scaled parameters f. factor_slope: derivative of the factor with respect to the signal.
static inline family_signal_slopes slopes_of_scaled(const family_r *f, double factor, double factor_slope, powers_r e) {
  double per = factor > OD_FRICTION_LEAST_FACTOR ? factor_slope / factor : 0;
  return (family_signal_slopes){e.Fs * f->Fs * per, e.Fc * f->Fc * per, e.vs * f->vs * per,
                                e.viscous * f->viscous * per, -e.tau * per};
}
#endif
