// One search from one start, and its result.
#include "oleodyn/least_squares.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "least_squares/search.h"

const char *od_ls_reason_text(od_ls_reason reason) {
#define TEXT(name, text) text,
  static const char *const texts[] = {OD_LS_REASON_LIST(TEXT)};
#undef TEXT
  return (unsigned)reason < OD_LS_REASON_COUNT ? texts[reason] : "unknown reason";
}

static od_ls_result *new_result(const od_search *s, int starts) {
  size_t m = s->problem->rows ? 0 : (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k, count = (size_t)starts;
  size_t ties = (size_t)s->ties.count;
  size_t doubles = n + m + n + n * n + k + k * n + count * (2 * n + 1) + ties * (n + 4);
  od_ls_result *r = od_calloc(1, sizeof *r + doubles * sizeof(double) + n * sizeof(int) + ties * sizeof(bool));
  if (!r) return NULL;
  double *at = (double *)(r + 1);
  r->m = s->m, r->n = s->n, r->searched = s->k, r->starts = starts;
  r->x = at, at += n;
  r->residuals = m > 0 ? at : NULL, at += m;
  r->sigma = at, at += n;
  r->covariance = at, at += n * n;
  r->singular_values = at, at += k;
  r->directions = at, at += k * n;
  if (starts) r->start_x = at, r->end_x = at + count * n, r->end_cost = at + 2 * count * n, at += count * (2 * n + 1);
  r->constraints = s->ties.count;
  r->multiplier = at, r->beyond = at + ties, r->beyond_sigma = at + 2 * ties, r->constraint = at + 3 * ties;
  r->slope = at + 4 * ties, at += ties * (n + 4);
  r->at_bound = (int *)at;
  r->active = (bool *)(r->at_bound + n);
  return r;
}

void od_ls_result_free(od_ls_result *result) {
  od_free(result);
}

static void fill_result(od_search *s, od_ls_result *r) {
  memcpy(r->x, s->now.x, (size_t)s->n * sizeof *r->x);
  if (r->residuals) memcpy(r->residuals, s->now.r, (size_t)s->m * sizeof *r->residuals);
  for (int i = 0; i < s->k; i++) r->at_bound[s->index[i]] = od_bound_near(s, i);
  r->cost = s->now.cost;
  r->squares = s->now.squares;
  r->iterations = s->iterations;
  r->coarse = s->coarse_evaluations > 0 ? s->options.coarse : 0;
  r->coarse_iterations = s->coarse_iterations, r->coarse_evaluations = s->coarse_evaluations;
  r->only_coarse = s->ends_with_some;
  r->residual_evaluations = s->residual_calls, r->jacobian_evaluations = s->jacobian_calls;
  od_uncertainty(s, r);
  od_ties_fill(s, r);
}

od_status od_ls_status(od_ls_reason reason) {
  switch (reason) {
    case OD_LS_STOPPED: return OD_INTERRUPTED;
    case OD_LS_EVALUATIONS:
    case OD_LS_PLATEAU:
    case OD_LS_STUCK: return OD_NOT_CONVERGED;
    default: return OD_OK;
  }
}

// Returns the final reason. A search that stops because no trial is better may not have reached a minimum.
static od_ls_reason judge(const od_search *s, const od_ending *e, od_ls_result *r, od_ls_reason reason) {
  bool better = s->now.cost <= r->start_cost * (1 + 1e-6);
  r->offset = e->offset;
  r->by_neighbors = e->by_neighbors;
  // A start that violates constraints may have a smaller cost.
  if (s->ties.count > 0 || s->problem->hidden)
    better = r->violation + r->gap < 10 * OD_TIES_MET * (1 + od_residual_norm(s));
  if (od_ls_status(reason) != OD_OK) return reason;
  return !(e->is_minimum && better) ? OD_LS_STUCK : e->is_plateau ? OD_LS_PLATEAU : reason;
}

static od_status begin_at(od_search *s, od_error *err) {
  const od_ls_hidden *hidden = s->problem->hidden;
  s->part = 0;
  if (hidden && hidden->begin(s->problem->user, s->now.x))
    return od_fail(err, OD_NOT_FINITE, "the hidden unknowns cannot be computed at the start; choose another start");
  if (!od_ties_evaluate(s, &s->now, false, true))
    return od_fail(err, OD_NOT_FINITE, "the constraints cannot be evaluated at the start; choose another start");
  if (!od_evaluate(s, &s->now))
    return od_fail(err, OD_NOT_FINITE, "the residuals cannot be evaluated at the start; choose another start");
  if (s->k > 0 && !od_linearize(s, &s->now, &s->model))
    return od_fail(err, OD_NOT_FINITE,
                   "the derivatives of the residuals cannot be evaluated at the start; choose another start");
  if (hidden) s->ties.gap = hidden->gap(s->problem->user), hidden->accept(s->problem->user);
  return OD_OK;
}

// Evaluates the given start and then, for interior methods, a start moved off the bounds. The second evaluation may succeed
// even if the residuals cannot be evaluated on a bound. Fails with OD_NOT_FINITE.
static od_status begin(od_search *s, double *start_cost, od_error *err) {
  od_status status = begin_at(s, err);
  *start_cost = status == OD_OK ? s->now.cost : INFINITY;
  s->start_norm = status == OD_OK ? od_residual_norm(s) : 0;
  bool inside = s->options.method == OD_LS_REFLECTIVE && !od_is_tied(s->problem, &s->options);
  return inside && od_leave_bounds(s, status == OD_OK) ? begin_at(s, err) : status;
}

static od_status run(od_search *s, int starts, od_ls_result **out, od_error *err) {
  double start_cost;
  od_status status = begin(s, &start_cost, err);
  // An interrupt may have caused a failed evaluation of the start.
  const od_ls_progress p = {.evaluations = s->evaluations, .cost = INFINITY, .offset = INFINITY, .x = s->now.x};
  if (status == OD_NOT_FINITE && s->options.progress && !s->options.progress(s->options.progress_user, &p))
    return od_fail(err, OD_INTERRUPTED, "interrupted before the residuals were evaluated at the start");
  if (status != OD_OK) return status;
  od_ls_result *r = *out = new_result(s, starts);
  if (!r) return od_fail(err, OD_NO_MEMORY, "out of memory");
  r->start_cost = start_cost;
  od_search_coarsely(s);
  od_ending ending;
  od_ls_reason reason = s->ends_with_some ? OD_LS_STOPPED : od_search_run(s);
  reason = od_search_confirm(s, reason, &ending);
  fill_result(s, r);
  r->reason = judge(s, &ending, r, reason);
  status = od_ls_status(r->reason);
  return status == OD_OK ? OD_OK : od_fail(err, status, "%s", od_ls_reason_text(r->reason));
}

od_status od_ls_search(const od_ls_problem *problem, const od_ls_options *options, int starts, od_ls_result **out,
                       od_error *err) {
  *out = NULL;
  od_search s;
  od_status status = od_search_begin(&s, problem, options, err);
  if (status != OD_OK) return status;
  status = run(&s, starts, out, err);
  od_search_end(&s);
  return status;
}

od_status od_least_squares(const od_ls_problem *problem, const od_ls_options *options, od_ls_result **out,
                           od_error *err) {
  return od_ls_search(problem, options, 0, out, err);
}
