// The family of laws (family.h) in the scalar of the build. To be included in the text of a law behind
//   X(numbers), OD_SIDED, the shape OD_LAW_SHAPE, and OD_LAW_BRISTLES, OD_LAW_FILM, OD_LAW_ACCELERATION where it has these states;
//   X(family_of)(q, signal), its parameters as those of the family, END as log(vb/vs).
#include "friction/law_factor_x.h"

typedef struct X(family) {
  od_x Fs, Fc, vs, n, viscous, end, v0, sigma_0, sigma_1, grow, shrink, rest, inertia, lag, film_force;
} X(family);
_Static_assert(sizeof(X(family)) == OD_FAMILY_COUNT * sizeof(od_x), "as in family.h");

// log(vb/vs) where vb is given or, with 0, by Table 5.1: the speed where S has fallen to k.
static inline od_x X(film_end_exponential)(od_x vb, od_x vs, od_x n) {
  od_x k = 0.002 * od_x_exp(-4.5 * od_x_log(n));
  k = OD_SELECT(RE(k) < 0.5, k, 0.5);
  return OD_SELECT(RE(vb) > 0, od_x_log(vb / vs), od_x_log(-od_x_log(k)) / n);
}
static inline od_x X(film_end_lorentzian)(od_x vb, od_x vs, od_x n, od_x k) {
  k = OD_SELECT(RE(k) < 0.5, k, 0.5);
  return OD_SELECT(RE(vb) > 0, od_x_log(vb / vs), od_x_log((1 - k) / k) / n);
}

// What a factor makes of the parameters: each is multiplied by a power of it. Films are complete at speeds that go with vs.
typedef struct X(powers) {
  od_x Fs, Fc, vs, viscous, tau;
} X(powers);

static inline X(family) X(scaled)(X(family) f, od_x factor, X(powers) e) {
#ifndef OD_COMPLEX
  if (factor == 1) return f;
#endif
  od_x log_factor = od_x_log(X(least_factor)(factor)), tau = od_x_exp(-e.tau * log_factor);
  f.Fs *= od_x_exp(e.Fs * log_factor);
  f.Fc *= od_x_exp(e.Fc * log_factor);
  f.vs *= od_x_exp(e.vs * log_factor);
  f.viscous *= od_x_exp(e.viscous * log_factor);
  f.grow *= tau, f.shrink *= tau, f.rest *= tau;
  return f;
}
