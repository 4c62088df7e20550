// One stage of an implicit rule on the plant's residual, with the rates k as unknowns:
//
//   x = base + B (past + k),   g(t, x, k, u) = 0,   B = beta^2 for positions, beta for their rates and first-order states
//
// With states as unknowns, accelerations would be differences of positions divided by h^2, with large round-off. Rates
// as unknowns avoid this. Newton's matrix dg/dk + beta dg/d(w,c) + beta^2 dg/dz is kept as long as the iteration
// converges well. The stages of a rule with the same beta share one matrix.
#ifndef OD_IMPLICIT_H
#define OD_IMPLICIT_H

#include <math.h>
#include <stdbool.h>

#include "base/precision.h"
#include "integrate/sim_block.h"
#include "math/dense.h"

typedef struct od_stage {
  double t, beta;
  bool to_differentiate;  // whether derivatives at the solution are needed; then the stage is solved to round-off
  const double *base, *past, *u;  // see the equations above; nx, nk and nu numbers
} od_stage;

// Predicts the rates `ahead` seconds after the current point by the parabola through the last three rates. If only two rates
// are known, the prediction is linear; if only one rate is known, the prediction is constant.
void od_sim_predict_rates(od_sim *s, double ahead);
// Predicts the rates of a stage to first order, by the derivatives of g at the current point with respect to states and inputs, which
// must be known (od_sim_find_slopes()). Factors Newton's matrix of the same derivatives. After the state has been set, this prediction
// is more accurate than the parabola, because the earlier rates belong to other states. If the matrix is singular, the
// prediction is the parabola.
void od_sim_predict_rates_by_slopes(od_sim *s, const od_stage *stage);

// Returns whether the factored matrix, if there is one, belongs to a stage with this beta. Differences in the last digits of beta,
// from step lengths that are differences of times, are ignored.
static inline bool od_sim_matrix_serves(const od_sim *s, double beta) {
  return s->has_matrix && fabs(s->matrix_beta - beta) <= OD_TOLERANCE(1e-9) * beta;
}

// Solves in place with the factored matrix for `columns` right-hand sides (nk x columns).
static inline void od_sim_solve_matrix(od_sim *s, double *right, int columns) {
  if (s->has_matrix == OD_MATRIX_OF_PLANT)
    s->plant->ops->step_solve(s->plant, od_sim_work(s), right, columns);
  else
    od_lu_solve(od_plant_nk(s->plant), od_sim_at(s, s->matrix), od_sim_pivot(s), right, columns);
}

// Solves a stage, starting at the rates in k_next; on success x_next and k_next are the result. Fails with a status of
// od_sim_step(), and then restores the last settled point of the plant. After the last stage of a step the caller calls
// od_sim_settle().
od_status od_sim_solve_stage(od_sim *s, const od_stage *stage);

// Applies one Newton correction to the rates in k_next with the current matrix, or with a new matrix if the current matrix
// does not belong to the stage. *size: size of the correction relative to the rates. Fails with a status of od_sim_step().
od_status od_sim_correct_once(od_sim *s, const od_stage *stage, double *size);
// Applies one Newton correction from the residual that the caller has stored in g, with the matrix of
// od_sim_differentiate_stage(). Returns the size of the correction relative to the rates.
double od_sim_correct_by_residual(od_sim *s, const od_stage *stage);

// Computes the derivatives of g at the solution of a stage, like od_sim_find_slopes(). Then computes Newton's matrix from these derivatives
// and factors the matrix. Fails with a status of od_sim_step(); then no derivatives at the current point are known.
od_status od_sim_differentiate_stage(od_sim *s, const od_stage *stage, int by);

// Sets the current point to x_next and k_next, advances the time by h and sets the inputs to u. The integrator updates the
// energies.
void od_sim_accept(od_sim *s, double h, const double *u);

// Returns a difference between two values of rate i, or zero if the difference is only round-off of Newton's iteration; size: the
// size of both rates.
static inline double od_beyond_round_off(const od_plant *plant, int i, double size, double difference) {
  return fabs(difference) > OD_TOLERANCE(1e-9) * (size + (plant->scale ? plant->scale[i] : 1)) ? difference : 0;
}

#endif
