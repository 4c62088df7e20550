// One stage of an implicit rule on the plant's residual, with the rates k as unknowns:
//
//   x = base + B (past + k),   g(t, x, k, u) = 0,   B = beta^2 for positions, beta for their rates and first-order states
//
// Taking rates rather than states as unknowns keeps round-off out of the accelerations, which would otherwise be
// differences of positions divided by h^2. Newton's matrix dg/dk + beta dg/d(w,c) + beta^2 dg/dz is kept from stage to
// stage and from step to step as long as it converges well: rules whose stages share one beta share their matrix.
#ifndef OD_IMPLICIT_H
#define OD_IMPLICIT_H

#include <math.h>
#include <stdbool.h>

#include "integrate/sim_block.h"
#include "math/dense.h"

typedef struct od_stage {
  double t, beta;
  bool to_differentiate;          // derivatives follow at the solution: it is found to round-off
  const double *base, *past, *u;  // nx, nk, nu
} od_stage;

// Rates to begin with, `ahead` after the present point: the parabola through the last three, or the line through two
// where no more are known.
void od_sim_predict_rates(od_sim *s, double ahead);

// Whether the factored matrix, if there is one, belongs to a stage with that beta. Lengths of steps that are differences of
// times differ in their last digits, which is nothing to Newton's iteration.
static inline bool od_sim_matrix_serves(const od_sim *s, double beta) {
  return s->has_matrix && fabs(s->matrix_beta - beta) <= 1e-9 * beta;
}

// Solves with the factored matrix, in place; `columns` right-hand sides stand side by side (nk x columns).
static inline void od_sim_solve_matrix(od_sim *s, double *right, int columns) {
  if (s->has_matrix == OD_MATRIX_OF_PLANT)
    s->plant->ops->step_solve(s->plant, od_sim_work(s), right, columns);
  else
    od_lu_solve(od_plant_nk(s->plant), od_sim_at(s, s->matrix), od_sim_pivot(s), right, columns);
}

// Solves a stage, from the rates in k_next on; on success x_next and k_next hold the result. A failure leaves the plant
// where it was settled last; after the last stage of a step od_sim_settle() is the caller's.
od_status od_sim_solve_stage(od_sim *s, const od_stage *stage);

// One correction of the rates in k_next by a residual there and the matrix at hand; *size: how large it was, relative to the rates.
od_status od_sim_correct_once(od_sim *s, const od_stage *stage, double *size);
// The same by a residual that the caller has put into g, and the matrix of od_sim_differentiate_stage(). Returns the size.
double od_sim_correct_by_residual(od_sim *s, const od_stage *stage);

// At the solution of a stage: the derivatives of g, as od_sim_find_slopes() leaves them, and Newton's matrix of them,
// factored. After a failure nothing is known about the present point.
od_status od_sim_differentiate_stage(od_sim *s, const od_stage *stage, int by);

// Makes x_next and k_next the present point, h later, with inputs u. Energies are the integrator's own.
void od_sim_accept(od_sim *s, double h, const double *u);

// Zero for a difference of rates i that is nothing but round-off of Newton's iteration; size: of what it is taken from.
static inline double od_beyond_round_off(const od_plant *plant, int i, double size, double difference) {
  return fabs(difference) > 1e-9 * (size + (plant->scale ? plant->scale[i] : 1)) ? difference : 0;
}

#endif
