// The hydraulic four-bar of the valve paper (Sensors 2021, 21, 5029; section 3.1) as ONE small ordinary differential
// equation in
//
//   y = (phi, phi', p_p, p_1, p_2, U)      crank angle, its rate, the three pressures, the spool
//
// with the corrections that cases/fourbar-valve/README.md lists. Written by hand from the paper; shares no code and no
// method with the engine:
//
// - mechanism: closed-form four-bar (cosine rule), derivatives of the angles by phi, one equation J(phi) phi'' +
//   J'(phi) phi'^2 / 2 + V'(phi) = F_h ds/dphi
// - curves: Cox-de Boor recursion exactly as in eqs. 22 and 23, the parameter of an abscissa by bisection
// - pressures by eq. 32 (the pump feeds Q_a + Q_c), volumes by eqs. 34 and 35 (sign reversed), friction by eq. 14
// - integration: Radau IIA of order 5 (Hairer, Wanner, "Solving Ordinary Differential Equations II", section IV.8),
//   whose coefficients follow from its three nodes, with a difference quotient for Newton's matrix. Energies are
//   quadratures with the same nodes.
//
// The model has neither cavitation nor end stops: the true machine needs neither.
#ifndef ORACLE_HYDRAULIC_FOURBAR_H
#define ORACLE_HYDRAULIC_FOURBAR_H

enum { ORACLE_PORT_A, ORACLE_PORT_B, ORACLE_PORT_C, ORACLE_PORT_D, ORACLE_PORTS };
enum { ORACLE_CURVE_MOST = 8 };

typedef struct oracle_hydraulic {
  double length[3], mass[3], ground;  // links; the second pivot is (ground, 0)
  double D[2];                        // the cylinder's foot; its head is the middle of the crank
  double gravity;
  double density, kp, k0, smoothing;          // oil
  double pump, tank, pump_volume, hose[2];    // flow, pressure, volumes
  double relief_area, valve_area, discharge;  // orifices
  double area[2], l0[2], s0;                  // cylinder: areas, chamber lengths at s = s0
  double Fc, Fs, vs, viscous;                 // friction
  double time_constant, amplitude, omega;     // spool, command amplitude * sin(omega t)
  double full_spool, full_curve;              // 10 V, 95
  int degree, points;
  double curve[ORACLE_PORTS][ORACLE_CURVE_MOST];  // ordinates; abscissae are equidistant over 0 .. full_spool
} oracle_hydraulic;

// The machine of cases/fourbar-valve with one of its eight true curves: 3 to 6 points, spline 1 or 2.
oracle_hydraulic oracle_hydraulic_true(int points, int spline);
// The start of the filter: straight curves, other oil.
oracle_hydraulic oracle_hydraulic_wrong(void);

// The crank angle (in 0 .. pi, coupler above) for a cylinder length.
double oracle_hydraulic_angle(const oracle_hydraulic *m, double s);
// The force (positive: pushes) that holds the machine at rest, and the p_2 that gives this force together with p_1.
double oracle_hydraulic_holding_force(const oracle_hydraulic *m, double angle);
double oracle_hydraulic_balance(const oracle_hydraulic *m, double angle, double p1);

// A valve curve at a spool travel (0 .. full_spool).
double oracle_hydraulic_curve(const oracle_hydraulic *m, int port, double travel);
// One B-spline basis function by its definition (eqs. 22, 23); the last span includes its end.
double oracle_basis(const double *knots, int count, int i, int degree, double u);

// Energies since the start (J), in this order.
enum {
  ORACLE_PUMPED,      // work of the pump
  ORACLE_RELIEVED,    // lost in the relief orifice
  ORACLE_THROTTLED,   // lost in the four ports
  ORACLE_RUBBED,      // lost by friction in the cylinder
  ORACLE_COMPRESSED,  // stored in the oil: integral of p times net inflow
  ORACLE_TAKEN,       // by the tank
  ORACLE_ENERGIES
};

typedef struct oracle_hydraulic_sample {
  double t, y[6];       // phi, phi', p_p, p_1, p_2, U
  double s, s_rate;     // cylinder length and its rate
  double acceleration;  // phi''
  double flow[ORACLE_PORTS], relief_flow;
  double kinetic, potential;
  double energy[ORACLE_ENERGIES];
} oracle_hydraulic_sample;

// Runs from cylinder length s with the given pressures, at rest, spool 0: fills out[0..steps], h apart, `inner` steps
// of the integrator for each h. Returns 0, or -1 when Newton's iteration or the mechanism fails.
int oracle_hydraulic_run(const oracle_hydraulic *m, double s, const double p[3], double h, int steps, int inner,
                         oracle_hydraulic_sample *out);

#endif
