// Parameters of a friction law as functions of the pressures in both chambers: a fit at each pair of pressures, and the
// dependence of each parameter on the pressures:
//   linear       theta = theta_n + C1 (p1 - p1n) + C2 (p2 - p2n)                        (eq. 6.7 and 6.8 of source 28)
//   saturating   the linear formula with s(p) = P (1 - exp(-p/P)) in place of p, and one P for each parameter
//   table        the estimates themselves
#ifndef OD_FRICTION_MAP_H
#define OD_FRICTION_MAP_H

#include "friction_fit/friction_fit.h"
#include "memory/scoped.h"

enum { OD_MAP_MOST_COEFFICIENTS = 4 };  // theta_n, C1, C2, P

// Dependence of a parameter on the pressures.
typedef struct od_map_parameter {
  const char *key, *unit;
  int coefficients;  // number of coefficients; 0: a table
  double value[OD_MAP_MOST_COEFFICIENTS], sigma[OD_MAP_MOST_COEFFICIENTS], truth[OD_MAP_MOST_COEFFICIENTS];
  double chi_squared;        // chi-squared of the estimates about the dependence, per degree of freedom
  int used;                  // number of pairs of pressures whose data identify the parameter
  double *estimate, *error;  // estimates and standard deviations, one per pair; error infinite: not identifiable
} od_map_parameter;

typedef struct od_pressure_map {
  const od_friction_plan *plan;
  int pairs, parameters, failed;  // failed: number of pairs without a fit
  const double (*pressure)[2];
  od_map_parameter parameter[OD_MOST_LAW_NUMBERS];
  od_verdict verdict;
  od_arena arena;
} od_pressure_map;

// Fits the law to the run at each pair of pressures (options->progress is called regularly), and the dependence of each parameter
// on the pressures to these estimates. seed: seed of simulated errors. A pair whose fit fails is counted in `failed`. The caller
// frees *out; after an error *out is NULL. Fails with OD_INTERRUPTED, OD_NO_MEMORY, or a status of od_friction_data_make().
od_status od_pressure_map_fit(const od_friction_plan *plan, uint64_t seed, const od_friction_run_options *options,
                              od_pressure_map **out, od_error *err);
void od_pressure_map_free(od_pressure_map *m);
OD_OWNED_POINTER(od_pressure_map, od_pressure_map_free);

// Returns the fraction of the true coefficients that are within the 99 % intervals of their estimates. *count receives the
// number of coefficients with a true value and an interval. NAN: no such coefficient.
double od_pressure_map_inside(const od_pressure_map *m, int *count);

#endif
