// The iteration shared by all methods: propose, try, accept or reject, adapt; stopping rules; refinement of the last digits.
#include <float.h>
#include <math.h>
#include <string.h>

#include "least_squares/search.h"

static const double least_ratio = 1e-4;  // smallest ratio of actual to predicted decrease of an accepted trial

static const od_method *method_of(const od_search *s) {
  switch (s->options.method) {
    case OD_LS_LEVENBERG_MARQUARDT: return &od_method_damped;
    case OD_LS_GAUSS_NEWTON: return &od_method_gauss_newton;
    case OD_LS_TRUNCATE: return &od_method_truncate;
    case OD_LS_ACTIVE_SET:
    case OD_LS_REFLECTIVE: break;
  }
  return &od_method_reflective;
}

double od_residual_norm(const od_search *s) {
  double sum = s->model.rest * s->model.rest;
  for (int i = 0; i < s->k; i++) sum += s->model.q[i] * s->model.q[i];
  return sqrt(sum);
}

double od_offset(const od_search *s) {
  double norm = od_residual_norm(s);
  return norm > 0 ? od_removable(s) / norm : 0;
}

// Without a user's scale, the typical length of a parameter's steps (s->size) is 1 / the largest norm of its column so
// far (Moré 1978). The length is 1 for columns that have been zero so far.
void od_update_sizes(od_search *s) {
  for (int j = 0; j < s->k; j++) {
    double norm = s->problem->scale ? 0 : od_column_norm(s, j), size = norm > 0 ? 1 / norm : 0;
    if (size > 0 && (s->size[j] == 0 || size < s->size[j])) s->size[j] = size;
    if (s->size[j] == 0) s->size[j] = 1;
  }
}

void od_swap_points(od_search *s) {
  od_point p = s->now;
  od_linear l = s->model;
  s->now = s->trial, s->model = s->trial_model;
  s->trial = p, s->trial_model = l;
}

bool od_goes_on(const od_search *s) {
  if (!s->options.progress) return true;
  od_ls_progress p = {s->iterations, s->evaluations, s->now.cost, od_offset(s), s->now.x};
  return s->options.progress(s->options.progress_user, &p);
}

bool od_step_is_short(const od_search *s) {
  double step = 0, at = 0, tolerance = fmax(s->options.step_tolerance, 0);
  for (int i = 0; i < s->k; i++) {
    step += s->step[i] / s->size[i] * (s->step[i] / s->size[i]);
    at += s->now.u[i] / s->size[i] * (s->now.u[i] / s->size[i]);
  }
  return step <= tolerance * tolerance * at;
}

typedef enum verdict { GO_ON, STOP } verdict;

// Runs one trial. An accepted trial becomes the current point. Returns STOP and sets *reason if the search ends.
static verdict try_step(od_search *s, const od_method *method, bool *accepted, od_ls_reason *reason) {
  *accepted = false;
  if (!od_goes_on(s)) return *reason = OD_LS_STOPPED, STOP;
  if (s->evaluations >= s->options.max_evaluations) return *reason = OD_LS_EVALUATIONS, STOP;
  od_proposal p = method->propose(s);
  if (s->options.step_tolerance >= 0 &&
      (od_step_is_short(s) || od_moved_by(s, s->step) <= 0.1 * DBL_EPSILON * od_residual_norm(s)))
    return *reason = OD_LS_STEP, STOP;
  double ratio = -INFINITY, actual = 0, least = s->options.cost_tolerance * s->now.cost;
  bool flat = false;
  // A proposal without a predicted decrease also counts as an evaluation. Otherwise the loop would not end without a step
  // tolerance.
  if (!(p.decrease > 0)) s->evaluations++;
  if (p.decrease > 0 && od_evaluate(s, &s->trial)) {
    actual = s->now.cost - s->trial.cost;
    ratio = (actual - p.curvature) / p.decrease;
    // If the predicted and the actual decrease are both below the tolerance, the cost no longer distinguishes the
    // points. Then the trial is accepted.
    flat = fabs(actual) <= least && p.decrease <= least;
    *accepted = flat || (actual > 0 && ratio > least_ratio);
    if (*accepted && !od_linearize(s, &s->trial, &s->trial_model)) *accepted = false;
    if (!*accepted && ratio > 0) ratio = 0;
  }
  method->adapt(s, &p, ratio);
  if (!*accepted) return GO_ON;
  od_swap_points(s);
  s->iterations++;
  return flat ? (*reason = OD_LS_COST, STOP) : GO_ON;
}

static od_ls_reason descend(od_search *s, const od_method *method) {
  od_ls_reason reason = OD_LS_STEP;
  for (verdict v = GO_ON; v == GO_ON;) {
    od_update_sizes(s);
    if (s->iterations == 0 || s->begins_again) method->begin(s);
    s->begins_again = false;
    method->prepare(s);
    if (s->now.cost == 0) return OD_LS_EXACT;
    if (od_offset(s) <= s->options.gradient_tolerance) return OD_LS_GRADIENT;
    for (bool accepted = false; !accepted && v == GO_ON;) v = try_step(s, method, &accepted, &reason);
  }
  return reason;
}

// ---- Refinement of the last digits

// Tries a full step, then half and a quarter of this step. Near the minimum the cost is constant to rounding while the
// gradient is still significant. A step is kept if the step reduces the removable part of the residuals. Returns false
// if no step is kept.
static bool polish_step(od_search *s, const od_method *method) {
  double before = od_removable(s), cost = s->now.cost;
  if (before <= 0.1 * DBL_EPSILON * od_residual_norm(s)) return false;
  int rank = s->spectrum.rank;
  double *p = s->scratch;
  for (double part = 1; part > 0.2; part /= 2) {
    od_region_step(s, INFINITY, p);
    for (int i = 0; i < s->k; i++) {
      double u = s->now.u[i] + part * s->D[i] * p[i];
      bool inside = u > s->low[i] && u < s->high[i];
      s->trial.u[i] = inside                                  ? u
                      : s->options.method == OD_LS_REFLECTIVE ? s->now.u[i]
                                                              : fmin(fmax(u, s->low[i]), s->high[i]);
    }
    if (!od_evaluate(s, &s->trial) || s->trial.cost > cost + 1e-6 * cost) continue;
    if (!od_linearize(s, &s->trial, &s->trial_model)) continue;
    od_swap_points(s);
    method->prepare(s);
    if (od_removable(s) < 0.9 * before && s->spectrum.rank == rank) return true;
    od_swap_points(s);
    method->prepare(s);
  }
  return false;
}

// Refines the solution by full steps. Returns the given reason, or OD_LS_STOPPED if the caller requests a stop.
static od_ls_reason polish(od_search *s, const od_method *method, od_ls_reason reason) {
  const int most = 100;
  method->prepare(s);
  if (od_offset(s) > 1e-3) return reason;
  for (int i = 0; i < most && s->evaluations < s->options.max_evaluations; i++) {
    if (!od_goes_on(s)) return OD_LS_STOPPED;
    if (!polish_step(s, method)) break;
    s->iterations++;
  }
  return reason;
}

// Moves parameters whose optimum is beyond a bound onto this bound. Conditions: the cost does not rise, and the residuals can be
// evaluated on the bound.
static void settle_on_bounds(od_search *s) {
  bool any = false;
  for (int j = 0; j < s->k; j++) {
    int side = od_bound_near(s, j);
    double bound = side < 0 ? s->low[j] : s->high[j];
    bool near = side != 0 && isfinite(bound);
    s->trial.u[j] = near ? bound : s->now.u[j];
    any = any || near;
  }
  if (!any || !od_evaluate(s, &s->trial) || s->trial.cost > s->now.cost * (1 + 1e-8)) return;
  if (od_linearize(s, &s->trial, &s->trial_model)) od_swap_points(s);
}

od_ls_reason od_search_run(od_search *s) {
  if (s->k == 0) return OD_LS_NOTHING_FREE;
  if (od_is_tied(s->problem, &s->options)) return od_search_tied(s);
  const od_method *method = method_of(s);
  od_ls_reason reason = descend(s, method);
  bool at_rest = reason == OD_LS_GRADIENT || reason == OD_LS_COST || reason == OD_LS_STEP;
  if (at_rest && s->last_digits && s->options.method != OD_LS_TRUNCATE) reason = polish(s, method, reason);
  if (reason != OD_LS_STOPPED && s->options.method == OD_LS_REFLECTIVE && !s->coarse) settle_on_bounds(s);
  return reason;
}
