// An accurate explicit integrator for the oracles: Gragg's midpoint rule with extrapolation (Hairer, Norsett, Wanner,
// "Solving Ordinary Differential Equations I", section II.9). It needs no table of coefficients that could be mistyped
// and has order 16, so that the error of a step of a millisecond is round-off. Shares no code with the engine.
#ifndef ORACLE_EXTRAPOLATION_H
#define ORACLE_EXTRAPOLATION_H

enum { ORACLE_MAX_STATES = 16 };

// x' = f(t, x).
typedef void oracle_rates(void *user, double t, const double *x, double *dx);

// Moves x (n values, at most ORACLE_MAX_STATES) from t to t + h in one extrapolated step. Returns an estimate of the
// error: the largest difference between the last two columns of the tableau.
double oracle_extrapolate(oracle_rates *f, void *user, int n, double t, double h, double *x);

#endif
