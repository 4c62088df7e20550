// The explicit form of a plant: k from g(t, x, k, u) = 0, which is linear in k, and the derivatives of k.
#ifndef OD_RATES_H
#define OD_RATES_H

#include "oleodyn/plant.h"

// Scratch that od_plant_rates() and od_plant_linearise() want, in doubles; pivots in ints.
static inline int od_rates_scratch(const od_plant *plant) {
  int nk = od_plant_nk(plant);
  return 2 * nk * nk + nk;
}

// k at (t, x, u); the plant's last point is (t, x, k, u) afterwards.
od_status od_plant_rates(const od_plant *plant, void *work, double t, const double *x, const double *u, double *k,
                         double *scratch, int *pivot);

// dk/dx (nk x nx), dk/du, dk/dp at the last point; any may be NULL.
od_status od_plant_linearise(const od_plant *plant, void *work, double *kx, double *ku, double *kp, double *scratch,
                             int *pivot);

#endif
