// Nonlinear least squares with bounds: the parameters x that minimize the sum of squared residuals.
//
//   cost(x) = 1/2 sum_i loss(r_i(x)),   low <= x <= high          loss(r) = r^2 by default, or a robust loss
//
// The caller's function computes the residuals, with weights already applied. At a point where the residuals cannot be
// evaluated (a simulation that diverges), the function returns a nonzero value, and the search uses other points. By
// default iterations continue until double precision allows no further progress. Matrices are dense and row-major. Zero
// means default in all structs.
#ifndef OLEODYN_LEAST_SQUARES_H
#define OLEODYN_LEAST_SQUARES_H

#include <stdbool.h>
#include <stdint.h>

#include "oleodyn/status.h"

OD_BEGIN_C

typedef enum od_ls_method {
  OD_LS_REFLECTIVE,           // interior trust region; steps are reflected at bounds (Coleman and Li)
  OD_LS_LEVENBERG_MARQUARDT,  // damped steps, projected onto the bounds
  OD_LS_GAUSS_NEWTON,         // full steps, projected onto the bounds and halved until the cost decreases
  OD_LS_TRUNCATE,  // trust region with steps that end at the first bound; may stop too early at a bound; for comparison
                   // only
  OD_LS_ACTIVE_SET,  // Gauss-Newton steps with active bounds and constraints; used for all constrained problems
} od_ls_method;

// The loss of a residual r is loss_scale^2 rho(z) with z = (r / loss_scale)^2. For small r this loss is r^2. Each
// comment gives rho(z).
typedef enum od_ls_loss {
  OD_LOSS_LINEAR,   // z
  OD_LOSS_SOFT_L1,  // 2 (sqrt(1 + z) - 1)
  OD_LOSS_HUBER,    // z up to 1, then 2 sqrt(z) - 1
  OD_LOSS_CAUCHY,   // log(1 + z)
  OD_LOSS_ARCTAN,   // atan(z)
} od_ls_loss;

// The search variable that represents a parameter x. Start values, bounds and results are values of x, not of the
// search variable.
typedef enum od_ls_transform {
  OD_TRANSFORM_LINEAR,    // x
  OD_TRANSFORM_LOG,       // log(x), for x > 0
  OD_TRANSFORM_LOGISTIC,  // log((x - low) / (high - x)), both bounds finite
} od_ls_transform;

// Constraints: the first `equalities` entries of c(x) must be zero, and the `inequalities` entries after them must not be
// negative. The start need not satisfy the constraints.
typedef struct od_ls_constraints {
  int equalities, inequalities;
  // Computes c and, unless C is NULL, the derivatives C of c with respect to x (number of constraints x n). Returns
  // zero, or a nonzero value if c cannot be evaluated.
  int (*values)(void *user, const double *x, double *c, double *C);
  void *reserved[4];  // zero
} od_ls_constraints;

// Additional unknowns that the caller eliminates by equations, such as the states at the nodes of multiple shooting. The residuals
// of these equations are called gaps and must become zero. At each point the caller linearizes its equations. For each change of
// the parameters, the caller computes the best change of its unknowns that closes the gaps (to first order). The
// derivatives of the residuals that the caller returns include both changes. Hidden unknowns imply OD_LS_ACTIVE_SET.
typedef struct od_ls_hidden {
  int count;  // number of unknowns that the residuals determine after all gaps are closed

  // Called once before a search: computes the unknowns at x. Returns nonzero if the unknowns cannot be computed.
  int (*begin)(void *user, const double *x);
  // Called before each evaluation of residuals: computes the unknowns at x from the unknowns at the last accepted
  // point, such that the gaps decrease by the fraction `part` (0 to 1).
  void (*move)(void *user, const double *x, double part);
  // Returns the weighted sum of the magnitudes of the gaps at the last evaluation of residuals, in units of a residual.
  double (*gap)(void *user);
  void (*accept)(void *user);            // makes the point of the last derivatives the accepted point
  void (*shift)(void *user, double *r);  // r (m): first-order change of the residuals at the accepted point when the
                                         // gaps close
} od_ls_hidden;

// Receives rows from the user's function: `count` residuals r and, unless J is NULL, their derivatives J (count x n). Unless factor
// is NULL, row i of J is multiplied by factor[i].
typedef void od_ls_take(void *to, int count, const double *r, const double *J, const double *factor);

// A problem with m residuals and n parameters. The functions return zero, or a nonzero value if they cannot be
// evaluated at x. A function with results that are not finite also counts as not evaluated. `jacobian` is called only
// at the point of the last call of `residuals`. Without `jacobian`, derivatives are computed by complex steps through
// `residuals_complex` (complex numbers are pairs: real, imaginary), or, without `residuals_complex`, by finite
// differences.
typedef struct od_ls_problem {
  int m, n;
  void *user;
  int (*residuals)(void *user, const double *x, double *r);          // m
  int (*jacobian)(void *user, const double *x, double *J);           // m x n; columns of fixed parameters are not read
  int (*residuals_complex)(void *user, const double *x, double *r);  // x: 2 n, r: 2 m
  const double *start;                                               // n
  const double *low, *high;                                          // n entries, infinite: no bound; NULL: no bounds
  const double *scale;                   // n entries: typical changes of parameters; NULL: computed from the Jacobian
  const od_ls_transform *transform;      // n; NULL: all linear
  const bool *fixed;                     // n; NULL: none
  const od_ls_constraints *constraints;  // NULL: none
  const od_ls_hidden *hidden;            // NULL: none

  // Replaces `residuals` and `jacobian` for problems with very many rows: passes the rows at x to take(to, ...), always
  // in the same order, with derivatives if `derivatives` is true. The search stores no array of size m, and the result
  // has no residuals. One of every `every` rows is wanted: 1 for all rows, larger values only with
  // od_ls_options.coarse. `rows` cannot be combined with hidden unknowns.
  int (*rows)(void *user, const double *x, bool derivatives, int every, od_ls_take *take, void *to);
  void *reserved[1];  // zero
} od_ls_problem;

typedef struct od_ls_progress {
  long iterations, evaluations;
  double cost, offset;  // offset: see od_ls_result
  const double *x;      // n entries: the best point found so far
} od_ls_progress;

// Options of a search. A tolerance of zero means the limit of double precision. A negative tolerance disables the test; with
// OD_LS_ACTIVE_SET it has the same effect as zero.
typedef struct od_ls_options {
  od_ls_method method;
  od_ls_loss loss;
  double loss_scale;          // default: 1
  double gradient_tolerance;  // tolerance of the offset
  double step_tolerance;      // tolerance of a step, relative to x, both in scaled parameters
  double cost_tolerance;      // tolerance of a decrease of the cost, relative to the cost
  long max_evaluations;       // limit of evaluations of residuals, without evaluations for derivatives; default: 2000
  // Trust-region methods: radius of the first step, relative to the norm of the start (scaled parameters). Levenberg-Marquardt:
  // the first damping is 0.001 / radius. Default: 1.
  double radius;
  // Whether differences are one-sided. One-sided differences need half the evaluations of central differences, but have
  // fewer accurate digits (about 8 instead of 11).
  bool forward_differences;
  double precision;  // relative precision of the columns of the Jacobian, for its rank; zero: round-off
  // Whether residuals are already divided by their standard deviations. Then the variance is 1 and is not estimated.
  bool unit_variance;
  bool (*progress)(void *user,
                   const od_ls_progress *progress);  // returns false to end the search with the best point found so far
  void *progress_user;
  // For problems with `rows`: the search starts with one of every `coarse` rows, and continues with all rows from the point found.
  // The search uses all rows from the start if there are constraints or if the method is OD_LS_ACTIVE_SET. It also uses all rows if
  // the coarse rows determine a parameter much worse than their number suggests. The result is always from all rows, unless the
  // caller stops earlier (only_coarse). Zero: all rows from the first step.
  int coarse;
  void *reserved[3];  // zero
} od_ls_options;

#define OD_LS_REASON_LIST(X)                                                       \
  X(OD_LS_GRADIENT, "the gradient vanishes")                                       \
  X(OD_LS_COST, "the cost no longer decreases")                                    \
  X(OD_LS_STEP, "the steps are shorter than the tolerance")                        \
  X(OD_LS_EXACT, "the residuals are zero")                                         \
  X(OD_LS_NOTHING_FREE, "no parameter is free")                                    \
  X(OD_LS_EVALUATIONS, "the limit of evaluations was reached")                     \
  X(OD_LS_STUCK, "no descent direction was found, but the point is not a minimum") \
  X(OD_LS_PLATEAU, "the parameters have no effect on the residuals at this point") \
  X(OD_LS_STOPPED, "stopped by the caller")
#define OD_LS_REASON_ENUM(name, text) name,
typedef enum od_ls_reason { OD_LS_REASON_LIST(OD_LS_REASON_ENUM) OD_LS_REASON_COUNT } od_ls_reason;
#undef OD_LS_REASON_ENUM
// Returns the text of a reason, a constant string.
OD_API const char *od_ls_reason_text(od_ls_reason reason);

// The result of a search, freed with od_ls_result_free().
typedef struct od_ls_result {
  od_ls_reason reason;
  // free: number of parameters that are neither fixed nor at a bound, minus the number of directions that active constraints fix
  int m, n, free;
  // Rank of the Jacobian with respect to the free parameters. If the rank is less than `free`, some parameters are not determined.
  int rank;
  int freedom;              // degrees of freedom, m - rank - od_ls_hidden.count
  double cost, start_cost;  // start_cost: the cost at the given start
  double
      variance;  // variance of a residual: 1 with unit_variance, else 2 cost / freedom; NAN if freedom is not positive

  // The fraction of the norm of the residuals that the linear model could still remove within the bounds, 0 to 1; zero at a minimum.
  // With `by_neighbors`, or if the reason is OD_LS_STUCK, the square root of the relative decrease of the cost that a trial found.
  double offset;
  // residual_evaluations includes evaluations for derivatives.
  long iterations, residual_evaluations, jacobian_evaluations;
  double *x;          // n
  double *residuals;  // m entries; NULL for problems with `rows`

  // n entries: -1 at the lower bound, 1 at the upper bound, 0 between. If the optimum of a parameter is beyond a bound, a parameter
  // very near to the bound is also at the bound. "Very near" is at most 1/1000 of the range, and at most 1/1000 of the standard
  // deviation of the parameter as the only free parameter.
  int *at_bound;
  double *
      sigma;  // n entries: standard deviations; zero: fixed, at a bound or given by constraints; infinite: not determined
  // n x n, variance (J^T J)^-1. Rows and columns of parameters that are not determined have an infinite variance and NaN covariances.
  // Rows and columns of parameters with a standard deviation of zero are zero.
  double *covariance;
  int searched;  // number of parameters that are not fixed
  // Singular values of the Jacobian with columns multiplied by `scale` or normalized; `searched` values, decreasing.
  double *singular_values;
  double *directions;  // searched x n; row i: direction of singular value i in the (scaled) parameters

  // For each constraint: whether the constraint is active; the decrease of the cost when the constraint is moved by one unit of
  // c (positive: c is negative at the optimum without the constraint); the value of c at this optimum, and its standard
  // deviation. NAN if the constraint is not active or the data do not determine the value.
  int constraints;
  bool *active;
  double *multiplier, *beyond, *beyond_sigma;
  double *constraint;       // values of c
  double *slope;            // constraints x n: derivatives of c
  double violation, gap;    // violation of the worst constraint, in units of a residual; result of od_ls_hidden.gap()
  int starts;               // number of starts of a multi-start
  double *start_x, *end_x;  // starts x n: the first and the last point of the search from each start
  double
      *end_cost;   // `starts` costs at these last points; infinite: the start could not be evaluated or was not reached
  double squares;  // the sum of the squared residuals, for any loss
  int coarse;      // the search started with one of every `coarse` rows; zero: with all rows
  long coarse_iterations, coarse_evaluations;  // counts of the coarse search; not included in the counts above

  // The search was stopped before it used all rows: x is the best point of the coarse rows. Cost, squares, covariance and offset
  // are extrapolated from the coarse rows to all rows.
  bool only_coarse;
  // The linear model predicts a lower cost, but no neighbor has a lower cost: the residuals are large and nonlinear at this point,
  // or not smooth. The point is a minimum, and the covariance is a rough estimate.
  bool by_neighbors;
} od_ls_result;

// Searches for a minimum; options may be NULL. *out is the result, freed with od_ls_result_free(). The search may also fail with a
// result, the best point so far: with OD_INTERRUPTED (unless interrupted at the start), and with OD_NOT_CONVERGED (no evaluations
// left, stuck at a point that is not a minimum, or on a plateau). Failures without a result: OD_BAD_ARGUMENT, OD_NOT_FINITE (the
// start cannot be evaluated) and OD_NO_MEMORY. err (may be NULL) has the reason.
//
// Neighbors are evaluated in two cases. First, the linear model could still remove more than 1/10000 of the residuals, and more than
// the tolerances allow, when the search stops. Second, the Jacobian is rank deficient. Neighbors are along the steps, the singular
// directions and each parameter. Their distances are from the magnitude of the parameters down to a billionth of this magnitude.
// The search continues from a better neighbor. The search is stuck if better neighbors are found repeatedly, or if the final cost
// is higher than the cost at the start. With constraints or hidden unknowns, no neighbors are evaluated.
OD_API od_status od_least_squares(const od_ls_problem *problem, const od_ls_options *options, od_ls_result **out,
                                  od_error *err);
// Frees a result; NULL is allowed.
OD_API void od_ls_result_free(od_ls_result *result);

// The starts of a multi-start search: first the start of the problem, then random points in a box, then random points
// around the best point found so far, each time at smaller distances. Logarithmic parameters are uniform in their
// logarithm.
typedef struct od_ls_starts {
  int box, around;  // numbers of starts in the box and around the best point
  uint64_t seed;
  bool uniform;  // true: independent points; false: a Latin hypercube, which covers the range of each parameter evenly
  const double *low, *high;  // n entries, finite: the bounds of the box; NULL: the bounds of the problem
  void *reserved[4];         // zero
} od_ls_starts;
// Searches from several starts. The result and the status belong to the start with the lowest final cost; counts are
// sums over all starts. After OD_INTERRUPTED the result is the best result so far. Fails with OD_NOT_FINITE, without a result, if no
// start can be evaluated. Other failures are as for od_least_squares().
OD_API od_status od_least_squares_multistart(const od_ls_problem *problem, const od_ls_options *options,
                                             const od_ls_starts *starts, od_ls_result **out, od_error *err);

OD_END_C

#endif
