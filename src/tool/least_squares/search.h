// Working data of one least-squares search. The search varies the k parameters that are not fixed. The searched variables u
// are transformed parameters, between transformed bounds. All quantities are in u unless stated otherwise.
#ifndef OD_SEARCH_H
#define OD_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "least_squares/row_qr.h"
#include "memory/scoped.h"
#include "oleodyn/least_squares.h"

// A point of the search and its cost.
typedef struct od_point {
  double *u, *x, *r;  // k, n, m; r is NULL for streamed rows
  double cost, squares;
} od_point;

// The linear model of the weighted residuals for a step p from a point: the sum of squares is |R p + q|^2 + rest^2.
typedef struct od_linear {
  double *R;    // k x k, upper triangular
  double *q;    // k
  double *g;    // k, the gradient R^T q
  double rest;  // norm of the residuals that no step removes
  double base;  // half the sum of squared residuals before hidden unknowns close their gaps
} od_linear;

// Violations below this fraction of 1 + the norm of all residuals are neglected, because rounding errors of long predictions
// are of this order.
#define OD_TIES_MET 1e-7

// Constraints between parameters, in the searched variables.
typedef struct od_ties {
  int count, equalities;
  double *c, *C, *trial_c, *trial_C;  // values (count) and derivatives (count x k), at the current point and the trial
  double *scale;                      // count: 1 / (change of the residuals per unit change of c), at the start
  double *multiplier;                 // count: Lagrange multipliers
  bool *active;                       // count: whether each constraint is active
  double *Q;                          // k x k: orthonormal rows that span the scaled gradients of active constraints
  int tied;                           // number of rows of Q
  double gap, trial_gap;              // gaps of hidden unknowns
  double weight;                      // weight of violations relative to the cost
  double damping;
  double *curvature;         // k x k: rows that add the constraints' curvature to the model of a step
  bool curved;               // whether the curvature is not zero
  double *corrected, *kept;  // count, k: for second-order corrections
  double *scratch;           // 2 k, then count x n
  struct od_distance *nearest;
} od_ties;

// Singular values of a linear model in scaled steps p = D s, optionally with rows of curvature below the model: [R D; E] = U
// diag(value) V^T, part = U^T [q; 0].
typedef struct od_spectrum {
  int rank;
  double *value;  // k: singular values; the first `rank` values are significantly above rounding
  double *part;   // k: components of the residuals
  double *V;      // k x k, column i belongs to value i (column-major)
} od_spectrum;

typedef struct od_search {
  od_arena arena;
  const od_ls_problem *problem;
  od_ls_options options;  // options of the caller, with defaults filled in
  int m, n, k;
  int *index;           // k: index of the parameter in x
  double *low, *high;   // k: bounds
  double *start;        // k: the given start
  od_point now, trial;  // the current point, and the trial
  od_linear model, trial_model;
  od_spectrum spectrum;
  double *size;    // k: typical lengths of steps: the user's scale, or 1 / the largest column norm so far
  double *D, *E;   // k: the scaling of the current model, and the diagonal of its rows of curvature
  double *step;    // k: the proposed step
  double *probed;  // k: sizes of parameters that start at zero, for differences; 0: not yet known
  bool *held;      // k: whether the parameter is held at its bound (for methods that project steps)
  double reach;    // radius of the trust region, 1 / damping, or fraction of the step, depending on the method
  double growth;   // Levenberg-Marquardt: factor of the damping after the next failure
  double *J;       // m x n; NULL for streamed rows
  double *scratch, *qr_memory, *svd_memory;
  bool last_digits;   // whether the search continues down to rounding, because no tolerance was set
  double start_norm;  // norm of the residuals at the start
  long iterations, evaluations, residual_calls, jacobian_calls;
  int every;   // streamed rows: the search requests one row in `every`
  bool eager;  // whether the last trial was accepted, so that the derivatives of the next trial are probably needed
  const od_point *at;  // the point of a model that was computed together with the cost; NULL: no such model
  bool begins_again;   // whether the search continues from a neighbor of its end
  bool coarse;         // whether this search only computes the start of another search
  long coarse_iterations, coarse_evaluations;  // effort of the previous coarse search; zero: no coarse search
  bool ends_with_some;                         // whether the coarse search was stopped, so that its end is the result
  od_ties ties;
  double part;  // fraction of the gaps that hidden unknowns close at the next evaluation
} od_search;

// A proposed step and the prediction of the model for this step.
typedef struct od_proposal {
  double decrease;   // predicted decrease of the cost
  double curvature;  // contribution of the bounds' curvature, with its sign in the cost
  double length;     // length of the step in scaled parameters
} od_proposal;

// The functions of a method: `prepare` is called after each new model, `propose` for each trial, `adapt` after each trial.
// ratio: actual decrease divided by predicted decrease; negative infinity if the trial was not evaluated.
typedef struct od_method {
  void (*begin)(od_search *s);
  void (*prepare)(od_search *s);
  od_proposal (*propose)(od_search *s);
  void (*adapt)(od_search *s, const od_proposal *p, double ratio);
} od_method;
extern const od_method od_method_reflective, od_method_damped, od_method_gauss_newton, od_method_truncate;

// ---- parameters.c
od_status od_search_begin(od_search *s, const od_ls_problem *problem, const od_ls_options *options, od_error *err);
void od_search_end(od_search *s);
void od_parameters_to_x(const od_search *s, const double *u, double *x);
double od_parameter_slope(const od_search *s, int i, const double *x);  // dx/du of searched parameter i

// ---- bounds.c: moves parameters away from their bounds by a tiny fraction of their scale, because interior methods
// must begin between the bounds. `known`: the model at the start is available for this scale. Returns false if no
// parameter is on a bound.
bool od_leave_bounds(od_search *s, bool known);
// Returns the bound of a searched parameter at the current point: -1 low, 1 high, 0 no bound. Interior points approach a bound but
// never reach the bound. A parameter near a bound counts as at the bound if its optimum, with the other parameters fixed, is
// outside the bound.
int od_bound_near(const od_search *s, int i);

// ---- evaluate.c: computes r and the cost of a point whose u is set. Returns false if the point cannot be evaluated.
bool od_evaluate(od_search *s, od_point *point);
// Computes the linear model at the last evaluated point. Returns false if the model cannot be evaluated.
bool od_linearize(od_search *s, const od_point *point, od_linear *model);

// ---- streamed_residuals.c: variants of od_evaluate() and od_linearize() for problems with streamed rows. The model is
// computed together with the cost of a point if the combination saves work. Return false if the point cannot be
// evaluated.
bool od_rows_evaluate(od_search *s, od_point *point);
bool od_rows_linearize(od_search *s, const od_point *point);
// Stores the triangle of a finished factorization as the model of a point. Returns false if the triangle is not finite.
bool od_linear_from_qr(const od_search *s, const od_row_qr *qr, od_linear *model);

// ---- coarse.c: moves the current point to the result of a search with fewer rows, if the options request this search and the fewer
// rows contain enough information. The current point must have been evaluated.
void od_search_coarsely(od_search *s);

// ---- spectrum.c: computes the spectrum of the current model with s->D and, if E is not NULL, rows of curvature E.
// Held columns count as zero.
void od_spectrum_of(od_search *s, const double *E);
// Compute the step of least model cost within |s| <= radius, and the damped step, in scaled parameters. Both return the
// length of the step.
double od_region_step(const od_search *s, double radius, double *step);
double od_damped_step(const od_search *s, double damping, double *step);
// Returns the norm of the part of the residuals that the step of least model cost removes.
double od_removable(const od_search *s);
// Returns the change of the model's cost by an unscaled step p: g p + 1/2 |R p|^2.
double od_model_change(const od_search *s, const double *p);
// The first function returns the change |R p| of the residuals by an unscaled step p. The second function returns the norm of a
// column of the model.
double od_moved_by(const od_search *s, const double *p);
double od_column_norm(const od_search *s, int j);
size_t od_spectrum_size(int k);

// ---- constraints.c: returns whether a problem is searched by the active-set method. Either the user chose this
// method, or the problem requires this method.
bool od_is_tied(const od_ls_problem *problem, const od_ls_options *options);
// Allocates the memory of the constraints from the arena of the search.
void od_ties_begin(od_search *s);
// Computes the values of the constraints at a point and, if `derivatives` is true, their derivatives. Stores the results as trial
// values if `trial` is true, else as current values. Returns false if a value or derivative cannot be computed or is not finite.
bool od_ties_evaluate(od_search *s, const od_point *point, bool trial, bool derivatives);
void od_ties_swap(od_search *s);
// Returns the sum of violations in units of residuals. With a step, the sum is predicted to first order, with the gaps
// closed.
double od_ties_violation(const od_search *s, bool trial, const double *step);
// Computes s->step, the step of least model cost between bounds and linearized constraints. Uses the spectrum of the current model.
// `c`: values of the constraints at the start of the step. Marks active constraints and computes their multipliers.
void od_ties_step(od_search *s, double damping, const double *c);
// Adds the curvature of the constraints, with their last multipliers, to the model. Only positive curvature is added. Without
// this curvature, a full step along a curved constraint would be too long.
void od_ties_curve(od_search *s);
// Finds the scaled directions that active constraints fix, for the current D and held parameters.
void od_ties_orient(od_search *s);
void od_ties_fill(od_search *s, od_ls_result *result);

// ---- active_set.c
od_ls_reason od_search_tied(od_search *s);

// ---- iterate.c
void od_swap_points(od_search *s);
bool od_goes_on(const od_search *s);
// Computes the typical lengths of steps from the current model.
void od_update_sizes(od_search *s);
// Returns whether the proposed step changes the parameters by less than the tolerance.
bool od_step_is_short(const od_search *s);
// Return the norm of the weighted residuals, and the fraction of this norm that the model's best step removes.
double od_residual_norm(const od_search *s);
double od_offset(const od_search *s);
od_ls_reason od_search_run(od_search *s);

// ---- uncertainty.c: fills the uncertainty of the result. x, cost and at_bound must be set.
void od_uncertainty(od_search *s, od_ls_result *result);
// Computes the scales s->D: columns of length 1, or the user's scale.
void od_scale_columns(od_search *s);

// ---- confirm.c
typedef struct od_ending {
  bool is_minimum, is_plateau;
  bool by_neighbors;  // whether neighbors confirm the minimum, although the linear model does not
  double offset;
} od_ending;
// Checks whether a search has ended at a minimum. If a neighbor has a smaller cost, the search continues from this neighbor.
// Returns the final reason. If an allocation fails, the reason does not change.
od_ls_reason od_search_confirm(od_search *s, od_ls_reason reason, od_ending *ending);

// ---- least_squares.c: returns the status for a reason.
od_status od_ls_status(od_ls_reason reason);
// Runs a complete search. The caller owns the result, which is NULL if the search could not begin. Fails with OD_BAD_ARGUMENT if the
// problem or the options are invalid, with OD_NOT_FINITE if the start cannot be evaluated, and with OD_NOT_CONVERGED, OD_INTERRUPTED
// or OD_NO_MEMORY.
od_status od_ls_search(const od_ls_problem *problem, const od_ls_options *options, int starts, od_ls_result **out,
                       od_error *err);

#endif
