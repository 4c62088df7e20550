// Checks whether a search has ended at a minimum. The linear model is checked first: at a minimum no step of the model reduces the
// residuals further. This check is sufficient if it passes and the Jacobian has full rank. The check can fail at a minimum with
// large and curved residuals, where the Jacobian is rank-deficient (Freudenstein and Roth). The check can also fail at kinks, where
// the derivatives are valid on one side only. A rank-deficient Jacobian cannot distinguish a minimum from a saddle or a plateau. In
// these cases neighbors are evaluated: along the steps of the model, along its singular directions and along each parameter, in
// both directions, near and far. If a neighbor has a smaller cost, the search continues from this neighbor.
#include <math.h>
#include <string.h>

#include "least_squares/search.h"

static const double visible = 1e-4;     // smallest significant fraction of the residuals
static const double closer = 1.0 / 32;  // distance of each neighbor on a line, relative to the previous distance
static const double rounding = 1e-13;   // relative change of a cost that is due to rounding
static const double furthest = 64;      // largest distance of neighbors on plateaus, in sizes of the parameters
static const double slow_gain =
    1e-7;  // largest gain of a slow round, relative to the cost; kinks or noise make rounds slow
enum { MOST_SLOW = 5, NEIGHBORS = 7, ROUNDS = 40, REFINEMENTS = 20 };

// ---- Check with the linear model

// Returns the larger magnitude of a searched parameter and its start. The result is at most 1e8 times the magnitude of the
// parameter.
static double largest(const od_search *s, int j) {
  double size = fabs(s->now.u[j]);
  return fmax(size, fmin(fabs(s->start[j]), 1e8 * size));
}

// Returns the sum of squares of the residuals that exceed the effect of rounding of the parameters. If rows are not kept,
// either all residuals or no residuals are counted.
static double above_rounding(od_search *s) {
  double step = 10 * fmax(s->options.step_tolerance, 1e-15), sum = 0;
  if (s->problem->rows || s->problem->hidden) {
    for (int j = 0; j < s->k; j++)
      for (int i = 0; i <= j; i++) sum += pow(s->model.R[i * s->k + j] * largest(s, j), 2);
    return od_removable(s) <= step * sqrt(sum) ? 0 : s->now.squares;
  }
  // The stored derivatives may belong to a trial.
  if (!od_evaluate(s, &s->now) || !od_linearize(s, &s->now, &s->model)) return s->now.squares;
  for (int i = 0; i < s->m; i++) {
    double effect = 0;
    for (int j = 0; j < s->k; j++)
      effect += fabs(s->J[(size_t)i * (size_t)s->n + (size_t)s->index[j]] * od_parameter_slope(s, j, s->now.x) *
                     largest(s, j));
    if (fabs(s->now.r[i]) > step * effect) sum += s->now.r[i] * s->now.r[i];
  }
  return sum;
}

// Returns whether the removable part of the residuals is due to rounding, for example if all residuals are zero.
static bool is_rounding(od_search *s) {
  return above_rounding(s) <= 0.01 * s->now.squares;
}

// Returns the fraction of the residuals that the tolerances allow to remain.
static double allowed_part(const od_search *s) {
  const od_ls_options *o = &s->options;
  return fmax(visible, fmax(10 * o->gradient_tolerance, sqrt(10 * fmax(o->cost_tolerance, 0))));
}

// Computes the spectrum of the free parameters. A parameter at a bound is held if its descent direction points outside.
// Returns the number of free parameters minus the number of directions that constraints fix.
static int find_spectrum(od_search *s) {
  int free = 0;
  od_scale_columns(s);
  for (int i = 0; i < s->k; i++) {
    s->held[i] = od_bound_near(s, i) * s->model.g[i] < 0;
    free += !s->held[i];
  }
  od_ties_orient(s);
  od_spectrum_of(s, NULL);
  return free - s->ties.tied;
}

static bool model_is_at_minimum(const od_search *s, double *offset) {
  double allowed = allowed_part(s);
  *offset = od_offset(s);
  // With difference quotients, a direction without influence has a slope due to rounding. The projection of this slope on
  // the residuals is as large as for a random direction.
  bool differences = !s->problem->jacobian && !s->problem->residuals_complex && !s->problem->rows;
  if (differences) allowed = fmax(allowed, 2 * sqrt((double)s->k / (double)s->problem->m));
  return *offset <= allowed;
}

// ---- Check of neighbors

// Returns the size of a parameter, the unit of distances to neighbors.
static double size_of(const od_search *s, int j) {
  double size = fmax(fabs(s->now.u[j]), fabs(s->start[j])), own = s->size[j] * od_residual_norm(s);
  bool linear = !s->problem->transform || s->problem->transform[s->index[j]] == OD_TRANSFORM_LINEAR;
  if (!linear) return fmax(size, 1);
  return size > 0 ? size : isfinite(own) && own > 0 ? own : 1;
}

typedef struct look {
  double decrease;  // the largest decrease of the cost, relative to the cost
  double change;    // largest magnitude of the change of the cost at a neighbor, relative to the cost; without the two
                    // farthest neighbors of each line
  bool flat;        // whether the cost is constant along a parameter, or along a direction with influence in the model
  double *best;     // k: the point with the largest decrease
  double *line;     // k: direction of the line
  double length, closer;  // length of the line, in sizes of parameters; ratio of distances of consecutive neighbors
  bool stopped;
} look;

// Evaluates the trial at the fraction `part` of the line. Returns false if no parameter changes, or if the trial cannot be
// evaluated.
static bool try_neighbor(od_search *s, const double *line, double part) {
  bool inside = s->options.method == OD_LS_REFLECTIVE, moved = false;
  for (int j = 0; j < s->k; j++) {
    double u = s->now.u[j] + part * line[j], low = s->low[j], high = s->high[j];
    if (u <= low) u = inside ? nextafter(low, high) : low;
    if (u >= high) u = inside ? nextafter(high, low) : high;
    s->trial.u[j] = line[j] == 0 ? s->now.u[j] : u;
    moved = moved || s->trial.u[j] != s->now.u[j];
  }
  s->eager = false;
  return moved && od_evaluate(s, &s->trial);
}

// Evaluates neighbors along a line, in both directions. `whole`: at the end of the line, parameters change by at most
// l->length times their size. Stops after the first direction in which the cost decreases by more than `least`. Returns
// whether the cost is constant along the line, except possibly at its ends.
static bool look_along(od_search *s, double least, bool whole, look *l) {
  double longest = 0;
  for (int j = 0; j < s->k; j++) longest = fmax(longest, fabs(l->line[j]) / size_of(s, j));
  if (!(longest > 0) || !isfinite(longest)) return false;
  double length = whole ? l->length / longest : fmin(1, l->length / longest), change = 0;
  for (int way = 0; way < 2 && l->decrease <= least; way++)
    for (int i = 0; i < NEIGHBORS && !l->stopped; i++) {
      bool there = try_neighbor(s, l->line, (way ? -1 : 1) * length * pow(l->closer, i));
      double decrease = there ? (s->now.cost - s->trial.cost) / s->now.cost : 0;
      if (i > 0) change = fmax(change, fabs(decrease));
      if (i > 1) l->change = fmax(l->change, fabs(decrease));
      if (decrease > l->decrease) {
        l->decrease = decrease;
        memcpy(l->best, s->trial.u, (size_t)s->k * sizeof *l->best);
      }
      l->stopped = !od_goes_on(s);
    }
  return change <= rounding;
}

// Sets of lines along which neighbors are evaluated.
typedef enum lines {
  ALONG_STEPS = 1,  // steps of the model
  ALONG_ALL = 2,    // steps, all singular directions, and each parameter
  ALONG_BLIND = 4   // singular directions without influence
} lines;

static void look_around(od_search *s, double least, lines which, look *l) {
  int k = s->k, first = which & ALONG_ALL ? 0 : which & ALONG_BLIND ? s->spectrum.rank : k;
  if (which & (ALONG_STEPS | ALONG_ALL)) {
    od_region_step(s, INFINITY, l->line);
    for (int j = 0; j < k; j++) l->line[j] *= s->D[j];
    look_along(s, least, false, l);
    for (int j = 0; j < k; j++) l->line[j] = s->held[j] ? 0 : -s->D[j] * s->D[j] * s->model.g[j];
    look_along(s, least, true, l);
  }
  for (int i = first; i < k; i++) {
    for (int j = 0; j < k; j++) l->line[j] = s->held[j] ? 0 : s->D[j] * s->spectrum.V[i * k + j];
    bool flat = look_along(s, least, true, l);
    l->flat = l->flat || (flat && i < s->spectrum.rank);
  }
  for (int i = 0; i < k && k > 1 && which & ALONG_ALL; i++) {
    for (int j = 0; j < k; j++) l->line[j] = i == j && !s->held[j] ? size_of(s, j) : 0;
    bool flat = look_along(s, least, true, l);
    l->flat = l->flat || flat;
  }
}

// Finds the least cost between the current point and twice the distance of the best neighbor, by golden sections. The
// search uses this function if all derivatives are zero, because the search cannot continue otherwise.
static void refine(od_search *s, look *l) {
  const double golden = 0.6180339887498949;
  double a = 0, b = 2, cost[2] = {INFINITY, INFINITY}, best = l->decrease;
  for (int j = 0; j < s->k; j++) l->line[j] = l->best[j] - s->now.u[j];
  for (int i = 0, side = 2; i < REFINEMENTS; i++) {
    double place[2] = {b - golden * (b - a), a + golden * (b - a)};
    for (int p = 0; p < 2; p++)
      if (side == 2 || side == p) cost[p] = try_neighbor(s, l->line, place[p]) ? s->trial.cost : INFINITY;
    side = cost[0] < cost[1] ? 0 : 1;
    double least = (s->now.cost - cost[side]) / s->now.cost;
    for (int j = 0; least > best && j < s->k; j++) l->best[j] = s->now.u[j] + place[side] * l->line[j];
    best = fmax(best, least);
    if (side == 0)
      b = place[1], cost[1] = cost[0];
    else
      a = place[0], cost[0] = cost[1];
  }
}

// ---- Decision from both checks

static bool go_to(od_search *s, const double *u) {
  memcpy(s->trial.u, u, (size_t)s->k * sizeof *u);
  s->eager = true;
  if (!od_evaluate(s, &s->trial) || !od_linearize(s, &s->trial, &s->trial_model)) return false;
  od_swap_points(s);
  s->iterations++;
  s->begins_again = true;
  return true;
}

// Decides whether the search has ended at a minimum, and fills e. Returns false if the search continues from a better
// neighbor.
static bool settle(od_search *s, od_ls_reason *reason, od_ending *e, look *l) {
  int free = find_spectrum(s), rank = s->spectrum.rank;
  *e = (od_ending){0};
  bool content = model_is_at_minimum(s, &e->offset);
  bool ended = *reason == OD_LS_GRADIENT || *reason == OD_LS_COST || *reason == OD_LS_STEP;
  e->is_minimum = content || s->now.cost == 0;
  if (!ended || s->now.cost == 0 || (content && rank >= free)) return true;
  // With constraints or hidden unknowns, no neighbors are evaluated. The method with truncated steps never continues
  // from a neighbor.
  bool tied = s->problem->constraints || s->problem->hidden, truncates = s->options.method == OD_LS_TRUNCATE;
  bool negligible = !content && (tied || truncates) && od_removable(s) <= 1e-10 * s->start_norm;
  if (!content && !negligible) negligible = is_rounding(s);
  e->is_minimum = content || negligible;
  if (tied || (negligible && truncates)) return true;
  lines which = content ? ALONG_BLIND : negligible ? ALONG_STEPS : ALONG_ALL;
  double allowed = allowed_part(s), least = negligible ? 0.5 : truncates ? visible : allowed * allowed;
  *l = (look){.best = l->best, .line = l->line, .length = 1, .closer = closer};
  look_around(s, least, which, l);
  e->is_plateau = (rank == 0 && l->change <= rounding) || (which == ALONG_ALL && l->flat && l->decrease <= least);
  l->length = furthest, l->closer = 0.5;
  if (e->is_plateau) look_around(s, least, which, l);
  if (l->stopped) *reason = OD_LS_STOPPED;
  e->is_minimum = l->decrease <= least;
  if (!e->is_minimum && rank == 0 && !l->stopped) refine(s, l);
  e->by_neighbors = e->is_minimum && which == ALONG_ALL;
  if (e->by_neighbors || !e->is_minimum) e->offset = sqrt(fmax(l->decrease, 0));
  return e->is_minimum || l->stopped || truncates || !go_to(s, l->best);
}

od_ls_reason od_search_confirm(od_search *s, od_ls_reason reason, od_ending *e) {
  *e = (od_ending){.is_minimum = true};
  if (s->k == 0) return reason;
  OD_SCRATCH(scratch);
  look l = {.best = OD_TAKE(&scratch, double, s->k), .line = OD_TAKE(&scratch, double, s->k)};
  bool has_memory = od_arena_status(&scratch) == OD_OK;
  double before = s->now.cost;
  for (int round = 1, slow = 0; has_memory && !settle(s, &reason, e, &l); round++) {
    reason = s->evaluations < s->options.max_evaluations ? od_search_run(s) : OD_LS_EVALUATIONS;
    double gain = (before - s->now.cost) / before;
    bool over = round == ROUNDS || reason == OD_LS_EVALUATIONS;
    before = s->now.cost;
    slow = gain <= slow_gain ? slow + 1 : 0;
    if (slow == MOST_SLOW || (over && slow > 0)) {
      *e = (od_ending){.is_minimum = true, .by_neighbors = true, .offset = sqrt(fmax(gain, 0))};
      reason = OD_LS_COST;
      break;
    }
    if (over) break;
  }
  return reason;
}
