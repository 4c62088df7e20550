// The family that most friction laws belong to. With the speed v, its magnitude |v| and its direction s = sign v:
//
//   S   = exp(-(|v|/vs)^n)  or  1/(1 + (|v|/vs)^n)                      the Stribeck curve
//   hss = (1 - Fc/Fs) min(|v|/vb, 1)^(2/3)                              the lubricant film in steady motion
//   g   = Fc + ((1 - h) Fs - Fc) S                                      what bristles carry in steady motion
//   h'  = (hss - h)/tau,  tau = tau_hp while it grows, tau_hn while it shrinks, tau_h0 at rest
//   y'  = sigma_0 (v - |v| y/g)                                         the force of the bristles, y = sigma_0 z
//   F   = y + sigma_1 y'/sigma_0 + viscous v + inertia a + film_force s h'
//
// The acceleration term is sigma_2 T a in the literature. As a number of its own, which both directions share, it does not jump
// where the speed changes sign; neither does the film's, whose s is smooth there. Laws without bristles have
// F = tanh(v/v0) g + viscous v, those whose film has no state h = hss, those without a film h = 0. A film at rest is one slower than
// a ten-thousandth of vs. Equations 2.1 to 2.13 and 5.1 to 5.10 of source 28 in docs/theory.md.
#ifndef OD_FRICTION_FAMILY_H
#define OD_FRICTION_FAMILY_H

// Parameters of one direction. OD_FAMILY_END is log(vb/vs).
enum {
  OD_FAMILY_FS,
  OD_FAMILY_FC,
  OD_FAMILY_VS,
  OD_FAMILY_N,
  OD_FAMILY_VISCOUS,
  OD_FAMILY_END,
  OD_FAMILY_V0,
  OD_FAMILY_SIGMA_0,
  OD_FAMILY_SIGMA_1,
  OD_FAMILY_GROW,    // 1/tau_hp
  OD_FAMILY_SHRINK,  // 1/tau_hn
  OD_FAMILY_REST,    // 1/tau_h0
  OD_FAMILY_INERTIA,
  OD_FAMILY_LAG,
  OD_FAMILY_FILM_FORCE,
  OD_FAMILY_COUNT
};

typedef enum od_stribeck_shape { OD_STRIBECK_EXPONENTIAL, OD_STRIBECK_LORENTZIAN } od_stribeck_shape;

// Below this part of vs the speed is rest: for the film, and inside machines also for powers of the speed, r^2 (r^2 + e^2)^(n/2 - 1)
// instead of r^n, which have a slope at zero then that Newton's method can live with.
#define OD_FRICTION_REST_SPEED 1e-4
// The bristles carry at least this part of Fs + Fc, whatever the film.
#define OD_FRICTION_LEAST_LEVEL 1e-6

#endif
