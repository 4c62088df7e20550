// The centered slider-crank as one explicit ODE in the crank angle (closed-form kinematics): a uniform slender crank
// turning about the ground's origin, a uniform slender rod, a slider on the x axis, gravity along -y.
//
//   J(p) p'' + J'(p) p'^2 / 2 + V'(p) = torque       J: the inertia reduced to the crank, V: the potential energy
#ifndef ORACLE_SLIDER_CRANK_H
#define ORACLE_SLIDER_CRANK_H

typedef struct oracle_slider_crank {
  double crank_mass, crank_length, rod_mass, rod_length, slider_mass, gravity;
  double torque;  // constant, on the crank
} oracle_slider_crank;

typedef struct oracle_slider_crank_sample {
  double t, angle, rate, acceleration;              // of the crank, from the x axis
  double rod_angle, rod_rate;                       // of the rod, from the x axis: negative while the crank points up
  double slider, slider_rate, slider_acceleration;  // position on the x axis
  double energy;                                    // kinetic plus potential
} oracle_slider_crank_sample;

// Fills out[0..steps], h apart, with `inner` extrapolated steps (order 16) for each h.
void oracle_slider_crank_run(const oracle_slider_crank *m, double angle, double rate, double h, int steps, int inner,
                             oracle_slider_crank_sample *out);

#endif
