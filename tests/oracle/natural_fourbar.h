// The planar four-bar of Cuadrado, Dopico, Perez and Pastorino, "Influence of the sensored magnitude in the
// performance of observers based on multibody models and the extended Kalman filter", in natural coordinates (eqs.
// 15-19), reduced by the matrix-R method (eqs. 4-8):
//
//   q = (x1, y1, x2, y2, s, theta),  z = theta, w = z'
//
// Link B1 runs from the ground point A to point 1, B2 from point 1 to point 2, B3 from the ground point B to point 2;
// all are uniform slender bars. The spring-damper acts between A and point 2, s is its length. Stiffness and damping
// zero give the general four-bar. Gravity acts along -y. Written by hand from the paper; shares no code with the
// engine.
//
// Conventions that reproduce the published values of the paper and reference values of an independent prototype (checked in
// test_natural_fourbar.c):
// - theta is the angle of link B1 from the ground's x axis, counter-clockwise, not from the line AB, and continuous
//   (not wrapped); point 2 lies on the left of the line from A to B (x2 > 0), point 1 on the left of the line from A to
//   point 2;
// - the paper: the RMS is sqrt(sum / 1001) of the plain signals, no mean removed, over the 1001 samples of 1 s at 1 ms,
//   the first (t = 0) included. Leaving it out gives 23.99 instead of 24.08 rad/s^2. Trapezoidal and accurate solutions
//   differ by 1e-5 of the RMS, so the numbers do not depend on the integrator;
// - toolbox: the RMSE of the free model is sqrt(sum / 2000) over the 2000 samples after each step, t = 0 not included
//   (with it: 7.236 / 3.042), of the continuous angle, both motions by the trapezoidal rule at 5 ms (accurate
//   integration of both: 7.237 / 3.045).
#ifndef ORACLE_NATURAL_FOURBAR_H
#define ORACLE_NATURAL_FOURBAR_H

typedef struct oracle_fourbar {
  double mass[3], length[3];               // of B1, B2, B3
  double A[2], B[2];                       // ground points
  double gravity;                          // along -y
  double stiffness, damping, free_length;  // of the spring between A and point 2
} oracle_fourbar;

// One instant of a motion.
typedef struct oracle_fourbar_sample {
  double t, z, w, a;                // angle of link B1, its rate and acceleration
  double q[6], v[6], b[6];          // x1 y1 x2 y2 s theta, their rates and accelerations
  double kinetic, potential, loss;  // energies (J), power lost in the damper (W)
} oracle_fourbar_sample;

// The machines of the cases.
oracle_fourbar oracle_fourbar_spring(void);   // the paper's prototype
oracle_fourbar oracle_fourbar_toolbox(void);  // 2/8/5 m, 2/8/5 kg, ground 10 m
oracle_fourbar oracle_fourbar_swing(void);    // the same lengths, 100/400/250 kg: the benchmark

// The position of point 2 for a given theta, in closed form (two circles): elbow +1 selects the solution on the left of
// the line from point 1 to B, -1 the one on its right. Fills q. Returns 0, or -1 where the mechanism cannot close.
int oracle_fourbar_assemble(const oracle_fourbar *m, double theta, int elbow, double q[6]);
// As in the paper: the spring length s is given, point 2 lies to the right of the line AB (x2 > 0 there), and elbow
// selects the side of point 1 relative to the line from A to point 2 (+1 left, -1 right).
int oracle_fourbar_assemble_length(const oracle_fourbar *m, double s, int elbow, double q[6]);

// Runs from q0 with rate w0: fills out[0..steps], h apart. Trapezoid: the implicit trapezoidal rule at step h with
// Newton converged to round-off. Tight: extrapolation of order 16, `inner` steps for each h. Both return 0, or -1 when
// an iteration fails.
int oracle_fourbar_trapezoid(const oracle_fourbar *m, const double q0[6], double w0, double h, int steps,
                             oracle_fourbar_sample *out);
int oracle_fourbar_tight(const oracle_fourbar *m, const double q0[6], double w0, double h, int steps, int inner,
                         oracle_fourbar_sample *out);

// The acceleration at one state; q holds the guess for the position problem and receives its solution.
int oracle_fourbar_acceleration(const oracle_fourbar *m, double z, double w, double q[6], double *a);

#endif
