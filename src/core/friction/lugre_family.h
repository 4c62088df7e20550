// The LuGre family, to which most friction laws belong. With the speed v, its magnitude |v| and its direction s = sign v:
//
//   S   = exp(-(|v|/vs)^n)  or  1/(1 + (|v|/vs)^n)                      the Stribeck curve
//   hss = (1 - Fc/Fs) min(|v|/vb, 1)^(2/3)                              the lubricant film in steady motion
//   g   = Fc + ((1 - h) Fs - Fc) S                                      the force of the bristles in steady motion
//   h'  = (hss - h)/tau,  tau = tau_hp while h grows, tau_hn while h shrinks, tau_h0 at rest
//   y'  = sigma_0 (v - |v| y/g)                                         y: force of the bristles, sigma_0 times deflection
//   F   = y + sigma_1 y'/sigma_0 + viscous v + inertia a + film_force s h'
//
// The acceleration term is sigma_2 T a in the literature. Here this term has a separate number that both directions share, so that
// the force does not jump where the speed changes sign. The sign s of the film term is smoothed near zero speed for the same
// reason. Laws without bristles have F = tanh(v/v0) g + viscous v. Laws without a film state have h = hss. Laws without a film have
// h = 0. In elements and blocks, tau of a shrinking film changes smoothly from tau_h0 to tau_hn at speeds near a ten-thousandth of
// vs. A driven law (drive.h) is at rest only at zero speed. The equations are 2.1 to 2.13 and 5.1 to 5.10 of source 28 in
// docs/theory.md.
#ifndef OD_FRICTION_LUGRE_FAMILY_H
#define OD_FRICTION_LUGRE_FAMILY_H

// Indices of the parameters of one direction.
enum {
  OD_FAMILY_FS,
  OD_FAMILY_FC,
  OD_FAMILY_VS,
  OD_FAMILY_N,
  OD_FAMILY_VISCOUS,
  OD_FAMILY_LOG_VB_VS,  // log(vb/vs)
  OD_FAMILY_V0,
  OD_FAMILY_SIGMA_0,
  OD_FAMILY_SIGMA_1,
  OD_FAMILY_GROWTH_RATE,  // 1/tau_hp
  OD_FAMILY_SHRINK_RATE,  // 1/tau_hn
  OD_FAMILY_REST_RATE,    // 1/tau_h0
  OD_FAMILY_INERTIA,
  OD_FAMILY_LAG,
  OD_FAMILY_FILM_FORCE,
  OD_FAMILY_COUNT
};

typedef enum od_stribeck_shape { OD_STRIBECK_EXPONENTIAL, OD_STRIBECK_LORENTZIAN } od_stribeck_shape;

// Elements and blocks: the speed, as a fraction of vs, at which a shrinking film changes from the rate at rest to the rate in
// motion. Elements and blocks also use this fraction e to smooth powers of r = v/vs: r^2 (r^2 + e^2)^(n/2 - 1) instead of
// r^n. The smoothed power has a finite slope at zero, which Newton's method requires.
#define OD_FRICTION_REST_SPEED 1e-4
// The level g is at least this fraction of Fs + Fc.
#define OD_FRICTION_LEAST_LEVEL 1e-6

#endif
