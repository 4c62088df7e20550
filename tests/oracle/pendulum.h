// The double pendulum as a closed-form Lagrangian ODE: two uniform slender beams, the first hinged at the ground's
// origin, the second at the end of the first, gravity along -y. Angles are absolute, from the x axis,
// counter-clockwise.
//
//   (m1/3 + m2) l1^2 a1 + m2 l1 l2 / 2 (cos(d) a2 + sin(d) w2^2) + (m1/2 + m2) g l1 cos(p1) = 0     d = p1 - p2
//    m2 l2^2 / 3     a2 + m2 l1 l2 / 2 (cos(d) a1 - sin(d) w1^2) +  m2/2       g l2 cos(p2) = 0
#ifndef ORACLE_PENDULUM_H
#define ORACLE_PENDULUM_H

typedef struct oracle_pendulum {
  double mass[2], length[2], gravity;
} oracle_pendulum;

typedef struct oracle_pendulum_sample {
  double t, angle[2], rate[2], acceleration[2];
  double joint[2], tip[2];  // positions of the elbow and of the free end
  double energy;            // kinetic plus potential
} oracle_pendulum_sample;

// Fills out[0..steps], h apart, with `inner` extrapolated steps (order 16) for each h.
void oracle_pendulum_run(const oracle_pendulum *m, const double angle[2], const double rate[2], double h, int steps,
                         int inner, oracle_pendulum_sample *out);

// One pendulum of any shape, p'' = -k cos(p): fills angle and rate (steps + 1 values each). All bars of the four-bar
// chain with N windows stay parallel, so that the chain is such a pendulum with
// k = g ((N + 1)/2 + N) / ((N + 1)/3 + N) for bars and couplers of equal mass and unit length.
void oracle_swing_run(double k, double angle0, double rate0, double h, int steps, int inner, double *angle,
                      double *rate);
double oracle_chain_constant(int windows, double gravity);

#endif
