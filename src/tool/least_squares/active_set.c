// Gauss-Newton steps between bounds and constraints (sequential quadratic programming with the Gauss-Newton matrix).
//
// Each step minimizes the linear model between bounds and linearized constraints. A step is judged by a merit function that must
// decrease: the cost plus a weight times the violations of constraints and the open gaps of hidden unknowns. The weight is large
// enough that a reduction of violations always reduces the merit function (Han 1977; Byrd and Nocedal). Steps without a decrease
// are halved, then damped. A step that moves away from a curved constraint is repeated with the constraint values at its end
// (second-order correction). Near the solution the merit function is constant to rounding, and full steps continue as long as the
// steps become shorter.
#include <float.h>
#include <math.h>
#include <string.h>

#include "least_squares/search.h"

static const double least_ratio = 1e-4;   // smallest accepted ratio of actual to predicted decrease
static const double flat = 1e-11;         // fraction of the cost; smaller decreases are due to rounding
static const double rounding = 1e-14;     // relative rounding error of the cost
static const double most_damping = 1e10;  // largest damping, for columns of length 1; steps are then negligible
enum { MOST_STANDSTILLS = 10 };  // the search ends after this many consecutive steps without a decrease above rounding

// Predictions of the model for a step.
typedef struct expected {
  double cost, violation;  // predicted decreases
  double moved;            // |R p|: change of the residuals
} expected;

static expected expected_by_model(const od_search *s) {
  double norm = od_residual_norm(s);
  return (expected){.cost = s->model.base - 0.5 * norm * norm - od_model_change(s, s->step),
                    .violation = od_ties_violation(s, false, NULL) - od_ties_violation(s, false, s->step),
                    .moved = od_moved_by(s, s->step)};
}

static void raise_weight(od_search *s, const expected *p) {
  od_ties *t = &s->ties;
  for (int i = 0; i < t->count; i++)
    if (t->scale[i] > 0) t->weight = fmax(t->weight, 1.5 * fabs(t->multiplier[i]) / t->scale[i]);
  if (p->violation > 0) t->weight = fmax(t->weight, -2 * p->cost / p->violation);
}

static double merit(const od_search *s, bool trial) {
  return (trial ? s->trial.cost : s->now.cost) + s->ties.weight * od_ties_violation(s, trial, NULL);
}

// Evaluates the current point plus a fraction of the step. Returns false if this point cannot be evaluated.
static bool try_part(od_search *s, double part) {
  for (int i = 0; i < s->k; i++) s->trial.u[i] = fmin(fmax(s->now.u[i] + part * s->step[i], s->low[i]), s->high[i]);
  s->part = part;
  if (!od_evaluate(s, &s->trial) || !od_ties_evaluate(s, &s->trial, true, false)) return false;
  if (s->problem->hidden) s->ties.trial_gap = s->problem->hidden->gap(s->problem->user);
  return isfinite(merit(s, true));
}

// Makes the trial the current point. Returns false if the model at the trial cannot be evaluated.
static bool go_there(od_search *s) {
  if (!od_linearize(s, &s->trial, &s->trial_model) || !od_ties_evaluate(s, &s->trial, true, true)) return false;
  if (s->problem->hidden) s->problem->hidden->accept(s->problem->user);
  od_swap_points(s);
  od_ties_swap(s);
  s->iterations++;
  return true;
}

// Repeats the step with the constraint values at its end. Returns whether the repeated step was accepted.
static bool try_corrected(od_search *s, double least) {
  od_ties *t = &s->ties;
  if (t->count == 0) return false;
  double *c = t->corrected, *kept = t->kept;
  for (int i = 0; i < t->count; i++) {
    c[i] = t->trial_c[i];
    for (int j = 0; j < s->k; j++) c[i] -= t->C[i * s->k + j] * s->step[j];
  }
  memcpy(kept, s->step, (size_t)s->k * sizeof *kept);
  od_ties_step(s, t->damping, c);
  bool good = try_part(s, 1) && merit(s, true) <= least && go_there(s);
  memcpy(s->step, kept, (size_t)s->k * sizeof *kept);
  return good;
}

// Tries the full step, then fractions of the step. Returns the accepted fraction; 0: no fraction was accepted.
static double search_along(od_search *s, const expected *p) {
  double whole = p->cost + s->ties.weight * p->violation, now = merit(s, false);
  for (double part = 1; part > 1e-3; part /= 2) {
    double least = now - least_ratio * part * whole;
    bool there = try_part(s, part);
    if (there && merit(s, true) <= least && go_there(s)) return part;
    if (there && part == 1 && try_corrected(s, least)) return 1;
    if (s->evaluations >= s->options.max_evaluations || !od_goes_on(s)) return 0;
  }
  return 0;
}

static void prepare(od_search *s) {
  od_update_sizes(s);
  memcpy(s->D, s->size, (size_t)s->k * sizeof *s->D);
  memset(s->held, 0, (size_t)s->k * sizeof *s->held);
  s->ties.tied = 0;
  od_ties_curve(s);
  od_spectrum_of(s, NULL);
}

// Computes the scale of each constraint from its derivatives at the start, so that violations are in units of residuals.
static void scale_ties(od_search *s) {
  od_ties *t = &s->ties;
  for (int i = 0; i < t->count; i++) {
    double sum = 0;
    for (int j = 0; j < s->k; j++) sum = hypot(sum, s->D[j] * t->C[i * s->k + j]);
    t->scale[i] = sum > 0 ? 1 / sum : 1;
  }
}

// Takes full steps as long as the steps become shorter. The sum of squares cannot be the criterion, because its
// differences between neighboring points are below rounding. If residuals are large and curved, convergence is linear
// with a large ratio, and the last digits take many steps.
static void polish(od_search *s) {
  const double shorter = s->last_digits ? 0.9 : 0.5;
  const int most = s->last_digits ? 100 : 12;
  double before = INFINITY;
  for (int rounds = 0; rounds < most; rounds++) {
    prepare(s);
    od_ties_step(s, 0, s->ties.c);
    double moved = od_moved_by(s, s->step) + od_ties_violation(s, false, NULL);
    if (!(moved < shorter * before) || moved <= DBL_EPSILON * od_residual_norm(s)) break;
    before = moved;
    double cost = s->now.cost;
    if (!try_part(s, 1) || s->trial.cost > cost * (1 + 1e-6) + 1e-300 || !go_there(s)) break;
  }
  // Computes active constraints and multipliers of the last point.
  prepare(s);
  od_ties_step(s, 0, s->ties.c);
}

// Adapts the damping after a step: decreases the damping after a full step, and increases the damping if less than 0.3 of the
// step, or no step, was taken.
static void adapt(od_search *s, double part) {
  double *damping = &s->ties.damping;
  if (part == 1)
    *damping = *damping < 1e-6 ? 0 : 0.1 * *damping;
  else if (part > 0)
    *damping = part < 0.3 ? fmax(4 * *damping, 1e-3) : *damping;
  else
    *damping = fmax(30 * *damping, 1e-2);
}

static bool is_done(const od_search *s, const expected *p, od_ls_reason *reason) {
  double norm = od_residual_norm(s), left = od_ties_violation(s, false, NULL);
  if (s->now.cost == 0 && left == 0) return *reason = OD_LS_EXACT, true;
  bool satisfied = left <= OD_TIES_MET * (1 + norm);
  // Violations cannot be reduced, because constraints contradict each other.
  if (!satisfied && p->violation <= 1e-9 * left && p->moved <= 1e-9 * norm) return *reason = OD_LS_STEP, true;
  if (satisfied && p->moved <= fmax(s->options.gradient_tolerance, 1e-13) * norm) return *reason = OD_LS_GRADIENT, true;
  if (satisfied && (od_step_is_short(s) || p->moved <= 1e-14 * s->start_norm)) return *reason = OD_LS_STEP, true;
  double tolerance = fmax(s->options.cost_tolerance, flat);
  if (satisfied && fabs(p->cost) <= tolerance * s->now.cost && p->moved * p->moved <= tolerance * s->now.cost)
    return *reason = OD_LS_COST, true;
  return false;
}

static bool is_flat(const od_search *s, const expected *p) {
  const double visible = 1e-9;
  double left = od_ties_violation(s, false, NULL);
  return left <= OD_TIES_MET * (1 + od_residual_norm(s)) &&
         p->cost + s->ties.weight * p->violation <= visible * (s->now.cost + s->ties.weight * left);
}

od_ls_reason od_search_tied(od_search *s) {
  od_ls_reason reason = OD_LS_STEP;
  int standstills = 0;
  s->ties.weight = 0;
  s->ties.damping = 0;
  prepare(s);
  scale_ties(s);
  for (;;) {
    prepare(s);
    od_ties_step(s, s->ties.damping, s->ties.c);
    expected p = expected_by_model(s);
    raise_weight(s, &p);
    if (s->ties.damping == 0 && is_done(s, &p, &reason)) break;
    if (!od_goes_on(s)) return OD_LS_STOPPED;
    if (s->evaluations >= s->options.max_evaluations) return OD_LS_EVALUATIONS;
    double before = merit(s, false), taken = search_along(s, &p);
    if (!od_goes_on(s)) return OD_LS_STOPPED;
    // Counts consecutive steps without a decrease above rounding. The cause is that the predicted decrease is below
    // rounding, or that damped steps oscillate because the model predicts too large a decrease.
    standstills = taken > 0 && before - merit(s, false) <= rounding * before ? standstills + 1 : 0;
    if ((taken == 0 && is_flat(s, &p)) || standstills == MOST_STANDSTILLS) {
      reason = OD_LS_COST;
      break;
    }
    adapt(s, taken);
    if (s->ties.damping > most_damping) break;
  }
  polish(s);
  return reason;
}
