// Andrews' squeezing mechanism as in the literature: mass matrix M(q), forces f(q, q') and constraints g(q) = 0 by hand, with
// the constraints differentiated twice (index 1): M a + G' l = f, G a = -(G q')'.
// q = beta, theta, gamma, phi, delta, omega, epsilon.
#ifndef ORACLE_SQUEEZER_H
#define ORACLE_SQUEEZER_H

enum { SQUEEZER_ANGLES = 7 };

// Computes the angles at a time, from the published start at rest, with this number of extrapolated steps (order 16).
// Returns the violation of the constraints at the end (m).
double oracle_squeezer_run(double time, int steps, double angle[SQUEEZER_ANGLES]);

#endif
