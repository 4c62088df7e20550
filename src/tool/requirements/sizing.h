// Sizes of accumulators and hoses by the formulas of docs/theory.md.
#ifndef OD_REQUIREMENTS_SIZING_H
#define OD_REQUIREMENTS_SIZING_H

// The volume of an accumulator that gives and takes `swing` of oil between two pressures: INFINITY where it would be empty or
// the pressures do not differ.
double od_size_accumulator(double swing, double precharge, double low, double high, double exponent, double correction);

// What a flow does in a hose.
typedef struct od_hose_flow {
  double velocity, reynolds, friction;  // m/s; of the diameter; lambda
  double loss;                          // Pa
} od_hose_flow;
od_hose_flow od_size_hose(double flow, double diameter, double length, double density, double viscosity);

#endif
