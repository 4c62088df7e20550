// The explicit form of a plant: k from g(t, x, k, u) = 0, which is linear in k, and the derivatives of k.
#ifndef OD_RATES_H
#define OD_RATES_H

#include <float.h>
#include <math.h>

#include "oleodyn/plant.h"

// dg/dk at a point (nk x nk), the factors of its coupled rows, and room for a residual. Behind the nk pivots stands how many rows are
// coupled.
typedef struct od_rate_matrix {
  double *gk, *factors, *g;
  int *pivot;
} od_rate_matrix;
static inline size_t od_rate_matrix_pivots(const od_plant *plant) {
  return (size_t)od_plant_nk(plant) + 1;
}
// How many of the first rows are coupled: the others, with their columns, are those of a unit matrix. Rates of a circuit's states stand
// for themselves.
int od_rate_matrix_coupled(int nk, const double *gk);
static inline size_t od_rate_matrix_doubles(const od_plant *plant) {
  size_t nk = (size_t)od_plant_nk(plant);
  return 2 * nk * nk + nk;
}

// k at (t, x, u), with the matrix there; the plant's last point is (t, x, k, u) afterwards.
od_status od_plant_rates(const od_plant *plant, void *work, double t, const double *x, const double *u, double *k,
                         const od_rate_matrix *matrix);
// The same by plants with factors of their own (step_factors): without the matrix. g: room for a residual. OD_SINGULAR: they cannot
// factor there, or their factors are too far from the matrix to find the rates.
od_status od_plant_rates_by_factors(const od_plant *plant, void *work, double t, const double *x, const double *u,
                                    double *k, double *g);
od_status od_rate_matrix_factor(const od_plant *plant, const od_rate_matrix *matrix);
// dk along `columns` directions that change g by dg (nk x columns): -gk^-1 dg.
void od_rate_matrix_solve(const od_plant *plant, const od_rate_matrix *matrix, const double *dg, int columns,
                          double *dk);

// The size of a change of rates or of what is as large, each number relative to what is there and its scale: the
// largest of them; NAN where one is no finite number. Without branches, since which one is largest changes from step to step.
static inline double od_plant_relative_size(const od_plant *plant, const double *change, const double *there) {
  double largest = 0, sum = 0;
  for (int i = 0; i < od_plant_nk(plant); i++) {
    double scale = plant->scale ? plant->scale[i] + DBL_MIN : 1;  // a plant's own may be zero
    double part = fabs(change[i]) / (fabs(there[i]) + scale);
    largest = part > largest ? part : largest;
    sum += part;
  }
  return largest + 0 * sum;
}

#endif
