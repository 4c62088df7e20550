// What one search for a least sum of squares works with. Parameters that are not fixed are searched as u, k of them:
// transformed, between transformed bounds. Everything here is in u unless it says otherwise.
#ifndef OD_SEARCH_H
#define OD_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "least_squares/row_qr.h"
#include "oleodyn/least_squares.h"

// A point and what it costs.
typedef struct od_point {
  double *u, *x, *r;  // k, n, m; without r where rows are taken as they come
  double cost, squares;
} od_point;

// The linear model of the (weighted) residuals at a point: |R p + q|^2 + rest^2.
typedef struct od_linear {
  double *R;    // k x k, upper triangular
  double *q;    // k
  double *g;    // k, the gradient R^T q
  double rest;  // norm of what no step removes
  double base;  // half the square of the residuals themselves, before hidden unknowns close their gaps
} od_linear;

// Violations below this part of a residual and all residuals together count as none: rounding of long predictions leaves as much.
#define OD_TIES_MET 1e-7

// Constraints between parameters, by what is searched.
typedef struct od_ties {
  int count, equalities;
  double *c, *C, *trial_c, *trial_C;  // count, count x k
  double *scale;                      // count: 1 over what a change of c by 1 does to the residuals, at the start
  double *multiplier;                 // count
  bool *active;                       // count
  double *Q;                          // k x k: orthonormal rows that active constraints tie, in scaled steps
  int tied;                           // of them
  double gap, trial_gap;              // of hidden unknowns
  double weight;                      // of violations against the cost
  double damping;
  double *curvature;         // k x k: rows that add the constraints' curvature to the model of a step
  bool curved;               // there is some
  double *corrected, *kept;  // count, k: of second-order corrections
  double *memory;
  bool *flags;
  int *order;
  struct od_distance *nearest;
} od_ties;

// Singular values of a linear model in scaled steps p = D s, perhaps with rows of curvature below it:
// [R D; E] = U diag(value) V^T, part = U^T [q; 0].
typedef struct od_spectrum {
  int rank;
  double *value;  // k, falling
  double *part;   // k
  double *V;      // k x k, column i belongs to value i (column-major)
} od_spectrum;

typedef struct od_search {
  const od_ls_problem *problem;
  od_ls_options options;  // defaults filled in
  int m, n, k;
  int *index;           // k: which parameter of x
  double *low, *high;   // k
  double *start;        // k: where the search began, as given
  od_point now, trial;  // the point the search is at, and where it tries to go
  od_linear model, trial_model;
  od_spectrum spectrum;
  double *size;    // k: lengths of the steps that matter: the user's, or 1 / the largest column norm so far
  double *D, *E;   // k: the scaling of the present model, and the diagonal of its rows of curvature
  double *step;    // k: proposed
  double *probed;  // k: sizes of parameters that start at zero, for differences; 0: not yet known
  bool *held;      // k: at a bound and pushed against it (methods that project)
  double reach;    // radius of the trust region; 1 / damping; part of the step: as the method understands it
  double growth;   // Levenberg-Marquardt: how much stronger damping gets at the next failure
  double *J;       // m x n; not there where rows are taken as they come
  double *scratch, *qr_memory, *svd_memory;
  bool last_digits;   // no tolerance was set: go on until rounding stops it
  double start_norm;  // of the residuals at the start
  long iterations, evaluations, residual_calls, jacobian_calls;
  int every;           // rows as they come: one in so many is asked for
  bool eager;          // the last trial was accepted, so that the next one's derivatives will be wanted
  const od_point *at;  // the point that its model was found along with; NULL: none
  bool begins_again;   // from a neighbor of where it ended
  bool coarse;         // this search only leads to where another one begins
  long coarse_iterations, coarse_evaluations;  // of the search that led here; zero: there was none
  bool ends_with_some;                         // it was stopped then, and its end is the end
  od_ties ties;
  double part;  // of the gaps that hidden unknowns close at the next evaluation
} od_search;

// A proposed step and what the model says about it.
typedef struct od_proposal {
  double decrease;   // of the cost, predicted
  double curvature;  // part of it that the bounds' curvature makes up, with its sign in the cost
  double length;     // of the step in scaled parameters
} od_proposal;

// How a method steps: `prepare` after every new model, `propose` for every trial, `adapt` after every trial: ratio is
// actual over predicted decrease, negative infinity when the trial could not be evaluated.
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

// ---- bounds.c
// Interior methods must begin between the bounds: moves what stands on one inside by a hair of its own scale. `known`:
// the model at the start is there, and tells that scale. False: nothing stands on a bound.
bool od_leave_bounds(od_search *s, bool known);
// The bound at which a searched parameter of the present point stands: -1 low, 1 high, 0 none. Interior points come as
// close to a bound as one likes and never reach it; near counts where the data push against it, so that the parameter
// alone would go beyond.
int od_bound_near(const od_search *s, int i);

// ---- evaluate.c
// r and cost of a point whose u is set; false: cannot be evaluated.
bool od_evaluate(od_search *s, od_point *point);
// The linear model there (the point evaluated last); false: cannot be evaluated.
bool od_linearize(od_search *s, const od_point *point, od_linear *model);

// ---- streamed_residuals.c
// The same for problems that give their rows as they come. The model is found along with the cost of a point where that
// saves work.
bool od_rows_evaluate(od_search *s, od_point *point);
bool od_rows_linearize(od_search *s, const od_point *point);
// The triangle that a factorisation ended with, as the model of a point; false: it is not finite.
bool od_linear_from_qr(const od_search *s, const od_row_qr *qr, od_linear *model);

// ---- coarse.c
// Moves the present point, which is evaluated, to where a search with fewer rows leads, if that serves.
void od_search_coarsely(od_search *s);

// ---- spectrum.c
// Of the present model with s->D and, where not NULL, rows of curvature E; held columns count as zero.
void od_spectrum_of(od_search *s, const double *E);
// The step of least model cost within |s| <= radius, and the one with damping, in scaled parameters. They tell its
// length.
double od_region_step(const od_search *s, double radius, double *step);
double od_damped_step(const od_search *s, double damping, double *step);
// Norm of what the step of least model cost removes from the residuals.
double od_removable(const od_search *s);
// The change of the model's cost by an unscaled step p: g p + 1/2 |R p|^2.
double od_model_change(const od_search *s, const double *p);
size_t od_spectrum_size(int k);

// ---- constraints.c
// Whether a problem is searched by the method of active sets, because it was chosen or nothing else serves.
bool od_is_tied(const od_ls_problem *problem, const od_ls_options *options);
bool od_ties_begin(od_search *s);
void od_ties_end(od_search *s);
// Values and derivatives at a point, as present or as trial ones; false: cannot be evaluated.
bool od_ties_evaluate(od_search *s, const od_point *point, bool trial, bool derivatives);
void od_ties_swap(od_search *s);
// Sum of violations in units of residuals; along a step (NULL: none) to first order, gaps being closed by it.
double od_ties_violation(const od_search *s, bool trial, const double *step);
// The step of least model cost between bounds and linearised constraints into s->step; the spectrum is that of the present
// model. `c`: values of the constraints that it starts from. Marks active constraints and finds their multipliers.
void od_ties_step(od_search *s, double damping, const double *c);
// What the curvature of the constraints adds to the cost's own, by their last multipliers: where it is positive, since a full step
// along a curved constraint would go too far without it.
void od_ties_curve(od_search *s);
// Which scaled directions active constraints tie, for the present D and held parameters.
void od_ties_orient(od_search *s);
void od_ties_fill(od_search *s, od_ls_result *result);

// ---- active_set.c
od_ls_reason od_search_tied(od_search *s);

// ---- iterate.c
void od_swap_points(od_search *s);
bool od_goes_on(const od_search *s);
// Lengths of steps that matter, from the present model.
void od_update_sizes(od_search *s);
// Norm of the residuals as the model weights them, and the part of it that the model's best step removes.
double od_residual_norm(const od_search *s);
double od_offset(const od_search *s);
od_ls_reason od_search_run(od_search *s);

// ---- uncertainty.c
// Fills what the result says about how well parameters are determined; x, cost and at_bound are there already.
void od_uncertainty(od_search *s, od_ls_result *result);
// Columns of length 1, or times the user's scale: into s->D.
void od_scale_columns(od_search *s);

// ---- confirm.c
typedef struct od_ending {
  bool is_minimum, is_plateau;
  bool by_neighbors;  // the linear model would not have it a minimum
  double offset;
} od_ending;
// Whether a search that ended for a reason is at a minimum; if a neighbor is better, it goes on from there. Returns the reason in the end.
od_ls_reason od_search_confirm(od_search *s, od_ls_reason reason, od_ending *ending);

// ---- least_squares.c
// What a search that ended so returns.
od_status od_ls_status(od_ls_reason reason);
// A whole search; the result is new, or NULL where it could not even begin.
od_status od_ls_search(const od_ls_problem *problem, const od_ls_options *options, int starts, od_ls_result **out,
                       od_error *err);

#endif
