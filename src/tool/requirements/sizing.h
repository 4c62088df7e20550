// Sizes of accumulators and hoses. Formulas are in docs/theory.md.
#ifndef OD_REQUIREMENTS_SIZING_H
#define OD_REQUIREMENTS_SIZING_H

// The volume of an accumulator that stores the volume `swing` of oil between two pressures, m3. INFINITY: the accumulator would
// be empty, or the pressures do not differ.
double od_size_accumulator(double swing, double precharge, double low, double high, double exponent, double correction);

// Flow in a hose.
typedef struct od_hose_flow {
  double velocity, reynolds, friction;  // velocity in m/s; Reynolds number of the diameter; friction factor lambda
  double loss;                          // pressure loss, Pa
} od_hose_flow;
od_hose_flow od_size_hose(double flow, double diameter, double length, double density, double viscosity);

#endif
