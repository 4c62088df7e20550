// Nonlinear least squares between bounds: the parameters x for which the sum of squared residuals is least.
//
//   cost(x) = 1/2 sum_i loss(r_i(x)),   low <= x <= high          loss(r) = r^2 unless a robust one is chosen
//
// Residuals come from the caller's function, weighted as the caller wants them. Where it cannot be evaluated (a
// simulation that blows up) it says so, and the search keeps away from there. Iterations go on until double precision
// allows no further progress, unless tolerances are set. Matrices are dense and row-major. Zero means default in all
// structs.
#ifndef OLEODYN_LEAST_SQUARES_H
#define OLEODYN_LEAST_SQUARES_H

#include <stdbool.h>
#include <stdint.h>

#include "oleodyn/status.h"

OD_BEGIN_C

typedef enum od_ls_method {
  OD_LS_REFLECTIVE,           // interior trust region, steps reflected at bounds (Coleman and Li)
  OD_LS_LEVENBERG_MARQUARDT,  // damped steps, projected onto the bounds
  OD_LS_GAUSS_NEWTON,         // full steps, projected, halved until the cost falls
  OD_LS_TRUNCATE,             // trust region, steps cut off at the first bound: jams there; only for comparison
  OD_LS_ACTIVE_SET,           // Gauss-Newton steps between bounds and constraints; always where there are constraints
} od_ls_method;

// rho(z) with z = (r / loss_scale)^2; the loss of a residual is loss_scale^2 rho(z), which is r^2 for small r.
typedef enum od_ls_loss {
  OD_LOSS_LINEAR,   // z
  OD_LOSS_SOFT_L1,  // 2 (sqrt(1 + z) - 1)
  OD_LOSS_HUBER,    // z up to 1, then 2 sqrt(z) - 1
  OD_LOSS_CAUCHY,   // log(1 + z)
  OD_LOSS_ARCTAN,   // atan(z)
} od_ls_loss;

// What is searched in place of a parameter. Starting values, bounds and results are always x itself.
typedef enum od_ls_transform {
  OD_TRANSFORM_LINEAR,    // x
  OD_TRANSFORM_LOG,       // log(x), for x > 0
  OD_TRANSFORM_LOGISTIC,  // log((x - low) / (high - x)), both bounds finite
} od_ls_transform;

// Relations between parameters: of c(x) the first `equalities` entries are to be zero, the `inequalities` after them not
// negative. The start need not satisfy them.
typedef struct od_ls_constraints {
  int equalities, inequalities;
  // c and, unless it is NULL, its derivatives (count x n). Returns zero, or anything else for "cannot evaluate here".
  int (*values)(void *user, const double *x, double *c, double *C);
  void *reserved[4];  // zero
} od_ls_constraints;

// Further unknowns that the caller keeps to itself, tied to the parameters by equations of their own (gaps that are to close),
// such as the states at the nodes of a multiple shooting. At every point the caller linearizes everything, finds for each
// change of the parameters the best change of its unknowns that closes the gaps to first order, and gives derivatives
// of the residuals along both together. Only for OD_LS_ACTIVE_SET, which is chosen where there are such unknowns.
typedef struct od_ls_hidden {
  int count;  // how many of them the residuals determine, after all gaps are closed
  // Before a search: new values at x. Not zero: there are none.
  int (*begin)(void *user, const double *x);
  // Before residuals are asked for: the unknowns at x, from those at the point accepted last. `part` (0 to 1) of the gaps is
  // closed on the way.
  void (*move)(void *user, const double *x, double part);
  double (*gap)(void *user);   // how far gaps are open where residuals were evaluated last, in units of a residual
  void (*accept)(void *user);  // the point where derivatives were asked last becomes the accepted one
  void (*shift)(void *user, double *r);  // m: what closing the gaps does to the residuals there, to first order
} od_ls_hidden;

// Rows that the caller has found: `count` residuals and, unless J is NULL, their derivatives (count x n), each row of J still to be
// multiplied by its entry of `factor` unless that is NULL.
typedef void od_ls_take(void *to, int count, const double *r, const double *J, const double *factor);

// m residuals, n parameters. Functions return zero, or anything else for "cannot evaluate here"; so do values that are
// not finite. `jacobian` is only asked for at the point where `residuals` was asked last. Without it derivatives are
// complex steps through `residuals_complex` (complex numbers are pairs: real, imaginary), and without that differences.
typedef struct od_ls_problem {
  int m, n;
  void *user;
  int (*residuals)(void *user, const double *x, double *r);          // m
  int (*jacobian)(void *user, const double *x, double *J);           // m x n; columns of fixed parameters are not read
  int (*residuals_complex)(void *user, const double *x, double *r);  // x: 2 n, r: 2 m
  const double *start;                                               // n
  const double *low, *high;                                          // n, infinite where there is none; NULL: no bounds
  const double *scale;                   // n sizes of typical changes; NULL: from the columns of the Jacobian
  const od_ls_transform *transform;      // n; NULL: all linear
  const bool *fixed;                     // n; NULL: none
  const od_ls_constraints *constraints;  // NULL: none
  const od_ls_hidden *hidden;            // NULL: none
  // In place of `residuals` and `jacobian` where there are very many rows: those at x go to take(to, ...) as they are found, in the
  // same order every time, with derivatives if they are wanted. Nothing of size m is kept, and the result has no
  // residuals. Of every `every` rows one is wanted: 1 are all, more is asked for with od_ls_options.coarse only. Not together with
  // hidden unknowns.
  int (*rows)(void *user, const double *x, bool derivatives, int every, od_ls_take *take, void *to);
  void *reserved[1];  // zero
} od_ls_problem;

typedef struct od_ls_progress {
  long iterations, evaluations;
  double cost, offset;  // offset: as in the result
  const double *x;      // n, the best so far
} od_ls_progress;

// Tolerances: zero is as far as double precision goes, negative is never.
typedef struct od_ls_options {
  od_ls_method method;
  od_ls_loss loss;
  double loss_scale;          // 1
  double gradient_tolerance;  // of the offset
  double step_tolerance;      // of a step, relative to x, both in scaled parameters
  double cost_tolerance;      // of a decrease, relative to the cost
  long max_evaluations;       // of residuals, without those for derivatives: 2000
  double radius;              // of the first step, relative to the size of the start: 1
  bool forward_differences;   // half the evaluations of central ones, half the digits
  double precision;           // of the Jacobian, relative: less is no influence at all; zero: rounding
  bool unit_variance;         // residuals are divided by their standard deviations: none is estimated from their sum
  bool (*progress)(void *user, const od_ls_progress *progress);  // false: stop; the best so far is the result
  void *progress_user;
  // Problems with `rows`: the search begins with one row in so many, and goes on with all of them from where that leads. Not where
  // these rows tell much less of a parameter than their number, nor with constraints. What the result says is always
  // from all rows, unless the caller stops before (only_coarse). Zero: all rows from the first step on.
  int coarse;
  void *reserved[3];  // zero
} od_ls_options;

#define OD_LS_REASON_LIST(X)                                                \
  X(OD_LS_GRADIENT, "the gradient vanishes")                                \
  X(OD_LS_COST, "the cost falls no more")                                   \
  X(OD_LS_STEP, "a minimum as far as rounding tells: steps are too small")  \
  X(OD_LS_EXACT, "the residuals are zero")                                  \
  X(OD_LS_NOTHING_FREE, "no parameter is free")                             \
  X(OD_LS_EVALUATIONS, "the number of evaluations is used up")              \
  X(OD_LS_STUCK, "no way down was found from here, and this is no minimum") \
  X(OD_LS_PLATEAU, "parameters have no effect on the residuals here")       \
  X(OD_LS_STOPPED, "stopped by the caller")
#define OD_LS_REASON_ENUM(name, text) name,
typedef enum od_ls_reason { OD_LS_REASON_LIST(OD_LS_REASON_ENUM) OD_LS_REASON_COUNT } od_ls_reason;
#undef OD_LS_REASON_ENUM
OD_API const char *od_ls_reason_text(od_ls_reason reason);

// All memory is one block, freed with od_ls_result_free().
typedef struct od_ls_result {
  od_ls_reason reason;
  int m, n, free;           // free: neither fixed nor at a bound
  int rank;                 // of the Jacobian in those; less than free: some are not determined
  int freedom;              // degrees of freedom, m - rank
  double cost, start_cost;  // start_cost: at the start as given
  double variance;          // of a residual: 2 cost / freedom, or 1 when that is known
  // Part of the residuals that a linear model could still remove without leaving the bounds, 0 to 1: at a minimum zero. Where
  // `by_neighbors` is set, what the best neighbor removes.
  double offset;
  long iterations, residual_evaluations, jacobian_evaluations;  // residuals: with those for derivatives
  double *x;                                                    // n
  double *residuals;                                            // m; NULL where the problem has `rows`
  // n: -1 at the lower bound, 1 at the upper, 0 between. Also at it: away from a bound that the data push it against by
  // no more than 1/1000 of the room there is, and of the standard deviation that the parameter would have alone.
  int *at_bound;
  double *sigma;            // n standard deviations; zero for fixed ones and those at a bound, infinite: undetermined
  double *covariance;       // n x n, variance (J^T J)^-1; NaN beside what is not determined
  int searched;             // parameters that are not fixed
  double *singular_values;  // searched, falling, of the Jacobian with columns times scale, or of length 1
  double *directions;       // searched x n, a row for each: the change of (scaled) parameters that it belongs to
  // Of each constraint: whether the solution stands at it; how much the cost falls when it is moved by one unit of c
  // (positive: the data would have c negative); how far beyond the data would go without it, as a value of c, and the
  // standard deviation of that; NAN where it is not active or the data do not tell.
  int constraints;
  bool *active;
  double *multiplier, *beyond, *beyond_sigma;
  double *constraint;       // values of c
  double *slope;            // constraints x n, their derivatives
  double violation, gap;    // how far the worst constraint is violated, in units of a residual; how far gaps are open
  int starts;               // of a multi-start
  double *start_x, *end_x;  // starts x n: where each began and ended
  double *end_cost;         // starts; infinite where it could not even begin
  double squares;           // the sum of the squared residuals, whatever the loss
  int coarse;               // the search began with one row in so many; zero: with all
  long coarse_iterations, coarse_evaluations;  // then; they are not among those above
  // It was stopped before all rows were asked: x is the best of these rows, and cost, squares, covariance and offset are what they tell, times
  // as many rows as there are.
  bool only_coarse;
  // The linear model promises less cost, but no neighbor has it: the residuals are large and curved there, or have a kink. It is a
  // minimum, and the covariance is a rough estimate.
  bool by_neighbors;
} od_ls_result;

// OD_NOT_CONVERGED (evaluations are used up, the search is stuck where there is no minimum, or on a plateau) and OD_INTERRUPTED come
// with a result, the best so far; other failures do not. Where a search stops while the linear model could remove more than 1/10000 of
// the residuals (or as much as the tolerances allow, if that is more), or while its Jacobian has no full rank, neighbors are evaluated: along
// its steps, its singular directions and each parameter, from the parameters' own size down to a billionth of it. From a better one
// the search goes on. It is stuck if that does not end; and if it ends worse than it started. With constraints no neighbors are evaluated.
OD_API od_status od_least_squares(const od_ls_problem *problem, const od_ls_options *options, od_ls_result **out,
                                  od_error *err);
OD_API void od_ls_result_free(od_ls_result *result);

// From several starts: the problem's own, then points of the box (logarithms evenly as such), then points around the
// best, closer each time. The result is the best of all, and the status is its own; counts are sums.
typedef struct od_ls_starts {
  int box, around;  // numbers of starts in the box and around the best
  uint64_t seed;
  bool uniform;              // independent points; else a Latin hypercube: every parameter's range evenly covered
  const double *low, *high;  // n, finite, the box; NULL: the bounds
  void *reserved[4];         // zero
} od_ls_starts;
OD_API od_status od_least_squares_multistart(const od_ls_problem *problem, const od_ls_options *options,
                                             const od_ls_starts *starts, od_ls_result **out, od_error *err);

OD_END_C

#endif
