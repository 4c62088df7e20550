// Outputs at rates that differ from the solution of the plant's equations, for filters that add a correction to the rates.
#ifndef OD_OUTPUTS_AT_RATES_H
#define OD_OUTPUTS_AT_RATES_H

#include "oleodyn/sim.h"

// Computes the outputs y (ny) at the current state with the given rates (nk) instead of the rates that solve g = 0. Also computes
// derivatives of the outputs. At constant rates: hx (ny x nx) with respect to states, hp (ny x np) with respect to parameters. hk
// (ny x nx, of which the first nk columns are used) contains the derivatives with respect to rates. wanted (ny): rows with zero are
// omitted; NULL: all rows. Any result except y may be NULL; hk needs hx. The state of the simulation does not change. Returns
// OD_NOT_AVAILABLE for a plain simulation. Also fails with OD_BAD_ARGUMENT before the start, and with a status of the plant.
od_status od_sim_outputs_at_rates(od_sim *sim, const double *rates, const unsigned char *wanted, double *y, double *hx,
                                  double *hp, double *hk);

#endif
