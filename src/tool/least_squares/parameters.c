// Transformation of parameters x to searched variables u and back; checks of the problem; memory of a search.
//
//   linear  x = u        log  x = exp(u)        logistic  x = low + (high - low) / (1 + exp(-u))
#include <math.h>
#include <string.h>

#include "least_squares/row_qr.h"
#include "least_squares/search.h"

static od_ls_transform transform_of(const od_ls_problem *p, int i) {
  return p->transform ? p->transform[i] : OD_TRANSFORM_LINEAR;
}
static double low_of(const od_ls_problem *p, int i) {
  return p->low ? p->low[i] : -INFINITY;
}
static double high_of(const od_ls_problem *p, int i) {
  return p->high ? p->high[i] : INFINITY;
}
static bool is_fixed(const od_ls_problem *p, int i) {
  return (p->fixed && p->fixed[i]) || low_of(p, i) == high_of(p, i);
}

static double to_u(const od_ls_problem *p, int i, double x) {
  switch (transform_of(p, i)) {
    case OD_TRANSFORM_LOG: return x > 0 ? log(x) : -INFINITY;
    case OD_TRANSFORM_LOGISTIC: return log((x - p->low[i]) / (p->high[i] - x));
    case OD_TRANSFORM_LINEAR: break;
  }
  return x;
}

static double from_u(const od_ls_problem *p, int i, double u) {
  switch (transform_of(p, i)) {
    case OD_TRANSFORM_LOG: return fmin(fmax(exp(u), low_of(p, i)), high_of(p, i));
    // The value is computed from the nearer end, so that no digits are lost.
    case OD_TRANSFORM_LOGISTIC:
      return u < 0 ? p->low[i] + (p->high[i] - p->low[i]) * (exp(u) / (1 + exp(u)))
                   : p->high[i] - (p->high[i] - p->low[i]) * (exp(-u) / (1 + exp(-u)));
    case OD_TRANSFORM_LINEAR: break;
  }
  return u;
}

void od_parameters_to_x(const od_search *s, const double *u, double *x) {
  for (int i = 0; i < s->k; i++) x[s->index[i]] = from_u(s->problem, s->index[i], u[i]);
}

double od_parameter_slope(const od_search *s, int i, const double *x) {
  const od_ls_problem *p = s->problem;
  int j = s->index[i];
  switch (transform_of(p, j)) {
    case OD_TRANSFORM_LOG: return x[j];
    case OD_TRANSFORM_LOGISTIC: return (x[j] - p->low[j]) * (p->high[j] - x[j]) / (p->high[j] - p->low[j]);
    case OD_TRANSFORM_LINEAR: break;
  }
  return 1;
}

static od_status check_parameter(const od_ls_problem *p, int i, od_error *err) {
  double x = p->start[i], low = low_of(p, i), high = high_of(p, i);
  if (!isfinite(x))
    return od_fail(err, OD_BAD_ARGUMENT, "the start of parameter %d is %g; expected a finite number", i, x);
  if (p->fixed && p->fixed[i]) return OD_OK;
  if (isnan(low) || isnan(high) || low > high)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "parameter %d has the bounds %g and %g; expected a lower bound not above the upper bound", i, low,
                   high);
  if (x < low || x > high)
    return od_fail(err, OD_BAD_ARGUMENT, "parameter %d starts at %g; expected a start within its bounds, %g and %g", i,
                   x, low, high);
  if (p->scale && !(p->scale[i] > 0 && isfinite(p->scale[i])))
    return od_fail(err, OD_BAD_ARGUMENT, "the scale of parameter %d is %g; expected a positive finite number", i,
                   p->scale[i]);
  od_ls_transform t = transform_of(p, i);
  if (t == OD_TRANSFORM_LOG && (high <= 0 || (x <= 0 && low < 0)))
    return od_fail(
        err, OD_BAD_ARGUMENT,
        "parameter %d has the start %g and bounds from %g to %g; expected positive numbers, because its scale is logarithmic",
        i, x, low, high);
  if (t == OD_TRANSFORM_LOGISTIC && !(isfinite(low) && isfinite(high)))
    return od_fail(err, OD_BAD_ARGUMENT,
                   "parameter %d is searched as logistic, but has the bounds %g and %g; give two finite bounds", i, low,
                   high);
  return OD_OK;
}

static od_status check(const od_ls_problem *p, const od_ls_options *o, od_error *err) {
  if (p->m < 1 || p->n < 1)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "the number of residuals is %d, the number of parameters %d; expected at least 1 of each", p->m,
                   p->n);
  if (p->rows && p->hidden)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "found both streamed rows and hidden unknowns, expected at most one of the two");
  if (!p->residuals && !p->rows)
    return od_fail(err, OD_BAD_ARGUMENT, "the problem has neither 'residuals' nor 'rows'; set one of these fields");
  if (!p->start) return od_fail(err, OD_BAD_ARGUMENT, "the problem has no 'start'; set this field");
  if (o->loss_scale < 0 || isnan(o->loss_scale) || o->radius < 0 || isnan(o->radius) || o->max_evaluations < 0)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "loss_scale is %g, radius is %g, max_evaluations is %ld; expected zero or more for each",
                   o->loss_scale, o->radius, (long)o->max_evaluations);
  od_status status = OD_OK;
  for (int i = 0; i < p->n && status == OD_OK; i++) status = check_parameter(p, i, err);
  return status;
}

// Fills in the defaults of the options. Default tolerances are at the level of rounding.
static void fill_defaults(od_search *s) {
  od_ls_options *o = &s->options;
  s->last_digits = o->gradient_tolerance == 0 && o->step_tolerance == 0 && o->cost_tolerance == 0;
  if (o->loss_scale == 0) o->loss_scale = 1;
  if (o->gradient_tolerance == 0) o->gradient_tolerance = 1e-15;
  if (o->step_tolerance == 0) o->step_tolerance = 1e-15;
  if (o->cost_tolerance == 0) o->cost_tolerance = 1e-15;
  if (o->max_evaluations == 0) o->max_evaluations = 2000;
  if (o->radius == 0) o->radius = 1;
}

static od_status allocate(od_search *s) {
  int m = s->problem->rows ? 0 : s->m, n = s->n, k = s->k;
  od_arena *arena = &s->arena;
  s->index = OD_TAKE(arena, int, k), s->held = OD_TAKE(arena, bool, k);
  s->J = OD_TAKE_MATRIX(arena, double, m, n);
  for (int i = 0; i < 2; i++) {
    od_point *p = i ? &s->trial : &s->now;
    od_linear *l = i ? &s->trial_model : &s->model;
    p->u = OD_TAKE(arena, double, k), p->x = OD_TAKE(arena, double, n), p->r = OD_TAKE(arena, double, m);
    l->R = OD_TAKE_MATRIX(arena, double, k, k), l->q = OD_TAKE(arena, double, k), l->g = OD_TAKE(arena, double, k);
  }
  s->spectrum = (od_spectrum){
      .value = OD_TAKE(arena, double, k), .part = OD_TAKE(arena, double, k), .V = OD_TAKE_MATRIX(arena, double, k, k)};
  double **const of_parameters[] = {&s->low, &s->high, &s->size, &s->D, &s->E, &s->step, &s->probed, &s->start};
  for (size_t i = 0; i < sizeof of_parameters / sizeof *of_parameters; i++)
    *of_parameters[i] = OD_TAKE(arena, double, k);
  s->scratch = OD_TAKE(arena, double, 4LL * m + 4 * n + 2 * k);
  s->qr_memory = OD_TAKE(arena, double, od_row_qr_size(k));
  s->svd_memory = OD_TAKE(arena, double, od_spectrum_size(k));
  od_ties_begin(s);
  return od_arena_status(arena);
}

void od_search_end(od_search *s) {
  od_arena_free(&s->arena);
}

od_status od_search_begin(od_search *s, const od_ls_problem *problem, const od_ls_options *options, od_error *err) {
  *s = (od_search){.problem = problem, .m = problem->m, .n = problem->n, .every = 1, .eager = true};
  if (options) s->options = *options;
  od_status status = check(problem, &s->options, err);
  if (status != OD_OK) return status;
  fill_defaults(s);
  for (int i = 0; i < s->n; i++) s->k += !is_fixed(problem, i);
  if (allocate(s) != OD_OK) {
    od_search_end(s);
    return od_fail(err, OD_NO_MEMORY, "out of memory for a Jacobian of %d x %d", s->m, s->n);
  }
  memcpy(s->now.x, problem->start, (size_t)s->n * sizeof *s->now.x);
  memcpy(s->trial.x, problem->start, (size_t)s->n * sizeof *s->now.x);
  for (int j = 0, i = 0; j < s->n; j++) {
    if (is_fixed(problem, j)) continue;
    bool logistic = transform_of(problem, j) == OD_TRANSFORM_LOGISTIC;
    s->index[i] = j;
    s->low[i] = logistic ? -INFINITY : to_u(problem, j, low_of(problem, j));
    s->high[i] = logistic ? INFINITY : to_u(problem, j, high_of(problem, j));
    double x = problem->start[j], u = to_u(problem, j, x);
    if (isinf(u)) {  // the start is at an end of the range, which the transform cannot reach
      double width = logistic         ? problem->high[j] - problem->low[j]
                     : problem->scale ? problem->scale[j]
                                      : fmin(high_of(problem, j), 1);
      x = u < 0 ? low_of(problem, j) + 1e-8 * width : high_of(problem, j) - 1e-8 * width;
      if (!logistic) x = fmax(x, 1e-8 * width);
      u = to_u(problem, j, x);
    }
    s->now.x[j] = x;
    s->size[i] = problem->scale ? problem->scale[j] / od_parameter_slope(s, i, s->now.x) : 0;
    s->now.u[i] = s->start[i] = u;
    i++;
  }
  od_parameters_to_x(s, s->now.u, s->now.x);
  return OD_OK;
}
