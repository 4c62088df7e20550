// The explicit form of a plant: k from g(t, x, k, u) = 0, which is linear in k, and the derivatives of k.
#ifndef OD_RATES_H
#define OD_RATES_H

#include <float.h>
#include <math.h>

#include "oleodyn/plant.h"

// dg/dk at a point (nk x nk), the factors of its coupled rows, and memory for a residual. The number of coupled rows is stored
// after the nk pivots.
typedef struct od_rate_matrix {
  double *gk, *factors, *g;
  int *pivot;
} od_rate_matrix;
static inline size_t od_rate_matrix_pivots(const od_plant *plant) {
  return (size_t)od_plant_nk(plant) + 1;
}
// Returns the number of coupled rows, which are the first rows. The other rows and columns form a unit matrix, because the
// rates of circuit states are not coupled.
int od_rate_matrix_coupled(int nk, const double *gk);
static inline size_t od_rate_matrix_doubles(const od_plant *plant) {
  size_t nk = (size_t)od_plant_nk(plant);
  return 2 * nk * nk + nk;
}

// Computes k at (t, x, u) and the factored matrix at this point. Afterwards the plant's last point is (t, x, k, u).
// Fails with a status of the plant (od_plant_ops), or with OD_SINGULAR if the matrix is singular.
od_status od_plant_rates(const od_plant *plant, void *work, double t, const double *x, const double *u, double *k,
                         const od_rate_matrix *matrix);
// Computes k at (t, x, u) with step_factors() of the plant instead of a dense matrix. g: memory for a residual. Fails
// with OD_SINGULAR if the plant cannot factor its matrix or if the factors are too inaccurate, and with other statuses
// of the plant.
od_status od_plant_rates_by_factors(const od_plant *plant, void *work, double t, const double *x, const double *u,
                                    double *k, double *g);
od_status od_rate_matrix_factor(const od_plant *plant, const od_rate_matrix *matrix);
// Computes dk = -gk^-1 dg for `columns` changes of g, dg (nk x columns).
void od_rate_matrix_solve(const od_plant *plant, const od_rate_matrix *matrix, const double *dg, int columns,
                          double *dk);

// Returns the largest change of a rate relative to the rate and its scale; NAN if a change is not finite. The loop has no
// branches, because the index of the largest change differs from step to step.
static inline double od_plant_relative_size(const od_plant *plant, const double *change, const double *there) {
  double largest = 0, sum = 0;
  for (int i = 0; i < od_plant_nk(plant); i++) {
    double scale = plant->scale ? plant->scale[i] + DBL_MIN : 1;  // a plant's scale may be zero
    double part = fabs(change[i]) / (fabs(there[i]) + scale);
    largest = part > largest ? part : largest;
    sum += part;
  }
  return largest + 0 * sum;
}

#endif
