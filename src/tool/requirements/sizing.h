// Sizes of accumulators and hoses. Formulas are in docs/theory.md.
#ifndef OD_REQUIREMENTS_SIZING_H
#define OD_REQUIREMENTS_SIZING_H

// Returns the volume (m3) of an accumulator that stores the oil volume `swing` (m3) between the pressures `low` and `high`
// (Pa). exponent: polytropic exponent of the gas; correction: factor of the volume. INFINITY: `precharge` (Pa) is above `low`,
// or `low` is not below `high`.
double od_size_accumulator(double swing, double precharge, double low, double high, double exponent, double correction);

// Flow in a hose: speed, Reynolds number, friction factor and pressure loss.
typedef struct od_hose_flow {
  double velocity, reynolds, friction;  // velocity in m/s; Reynolds number of the diameter; friction factor lambda
  double loss;                          // pressure loss, Pa
} od_hose_flow;
// Computes the flow in a smooth hose: flow in m3/s, diameter and length in m, density in kg/m3, dynamic viscosity in Pa s.
od_hose_flow od_size_hose(double flow, double diameter, double length, double density, double viscosity);

#endif
