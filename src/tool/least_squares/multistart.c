// Searches from several starts. The starts come from a counter-based generator: start i does not depend on earlier
// computations.
#include <math.h>
#include <string.h>

#include "least_squares/search.h"
#include "random/random.h"

typedef struct sampler {
  const od_ls_problem *problem;
  const od_ls_starts *starts;
  uint32_t places, orders;  // streams of random numbers
  int *order;               // box x n: the cell of each start in the range of each parameter
} sampler;

static double low_of(const sampler *s, int j) {
  return s->starts->low ? s->starts->low[j] : s->problem->low ? s->problem->low[j] : -INFINITY;
}
static double high_of(const sampler *s, int j) {
  return s->starts->high ? s->starts->high[j] : s->problem->high ? s->problem->high[j] : INFINITY;
}
static bool is_log(const sampler *s, int j) {
  return s->problem->transform && s->problem->transform[j] == OD_TRANSFORM_LOG;
}
static bool is_fixed(const sampler *s, int j) {
  return s->problem->fixed && s->problem->fixed[j];
}

static od_status check(const sampler *s, od_error *err) {
  if (s->starts->box < 0 || s->starts->around < 0)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "the numbers of starts are %d (box) and %d (around); expected no negative number", s->starts->box,
                   s->starts->around);
  for (int j = 0; j < s->problem->n; j++) {
    double low = low_of(s, j), high = high_of(s, j);
    if (is_fixed(s, j)) continue;
    if (!(isfinite(low) && isfinite(high) && low <= high))
      return od_fail(err, OD_BAD_ARGUMENT,
                     "the range of parameter %d for random starts is from %g to %g; give finite bounds or a finite box",
                     j, low, high);
    if (is_log(s, j) && low <= 0)
      return od_fail(
          err, OD_BAD_ARGUMENT,
          "parameter %d has a logarithmic scale, but its range for random starts begins at %g; expected a value above 0",
          j, low);
  }
  return OD_OK;
}

// Returns the value at a fraction (0 to 1) of parameter j's range; logarithmic for a parameter searched in logarithms.
static double place(const sampler *s, int j, double part) {
  double low = low_of(s, j), high = high_of(s, j);
  double x = is_log(s, j) ? low * pow(high / low, part) : low + (high - low) * part;
  if (s->problem->low) x = fmax(x, s->problem->low[j]);
  if (s->problem->high) x = fmin(x, s->problem->high[j]);
  return x;
}
static double part_of(const sampler *s, int j, double x) {
  double low = low_of(s, j), high = high_of(s, j);
  if (!(high > low)) return 0;
  return is_log(s, j) ? log(x / low) / log(high / low) : (x - low) / (high - low);
}

static double uniform(const sampler *s, uint32_t stream, int j, int i) {
  return od_random_uniform(s->starts->seed, stream + (uint32_t)j, (uint64_t)i, OD_USE_NOISE);
}

// Fills a Latin hypercube: the range of each parameter is divided into as many cells as there are starts. Each cell is used
// once, in a random order for each parameter.
static void shuffle_cells(sampler *s) {
  int count = s->starts->box, n = s->problem->n;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < count; i++) s->order[i * n + j] = i;
    for (int i = count - 1; i > 0; i--) {
      int other = (int)(uniform(s, s->orders, j, i) * (i + 1)), swap = s->order[i * n + j];
      s->order[i * n + j] = s->order[other * n + j], s->order[other * n + j] = swap;
    }
  }
}

static void draw_in_box(const sampler *s, int i, double *x) {
  int n = s->problem->n;
  for (int j = 0; j < n; j++) {
    if (is_fixed(s, j)) continue;
    double part = uniform(s, s->places, j, i);
    if (!s->starts->uniform) part = (s->order[i * n + j] + part) / s->starts->box;
    x[j] = place(s, j, part);
  }
}

// Draws a start around the best point. The first start is at most a tenth of the box away from this point, in each parameter.
// This distance is halved for each further start.
static void draw_around(const sampler *s, int i, const double *best, double *x) {
  double wide = 0.1 * pow(0.5, i);
  for (int j = 0; j < s->problem->n; j++) {
    if (is_fixed(s, j)) continue;
    double part = part_of(s, j, best[j]) + wide * (2 * uniform(s, s->places, j, s->starts->box + i) - 1);
    x[j] = place(s, j, fmin(fmax(part, 0), 1));
  }
}

typedef struct tally {
  od_ls_result *best;
  long iterations, residuals, jacobians, coarse_iterations, coarse_evaluations;
  double *start_x, *end_x, *end_cost;
} tally;

static void record(tally *t, int i, int n, const double *start, od_ls_result *r) {
  memcpy(t->start_x + i * n, start, (size_t)n * sizeof *start);
  memcpy(t->end_x + i * n, r ? r->x : start, (size_t)n * sizeof *start);
  t->end_cost[i] = r ? r->cost : INFINITY;
  if (!r) return;
  t->coarse_iterations += r->coarse_iterations, t->coarse_evaluations += r->coarse_evaluations;
  t->iterations += r->iterations, t->residuals += r->residual_evaluations, t->jacobians += r->jacobian_evaluations;
  if (t->best && t->best->cost <= r->cost) {
    od_ls_result_free(r);
  } else {
    od_ls_result_free(t->best);
    t->best = r;
  }
}

static od_status search_all(const sampler *s, const od_ls_options *options, tally *t, double *x, od_error *err) {
  int n = s->problem->n, count = 1 + s->starts->box + s->starts->around;
  od_ls_problem problem = *s->problem;
  problem.start = x;
  od_status status = OD_OK;
  for (int i = 0; i < count; i++) {
    memcpy(x, s->problem->start, (size_t)n * sizeof *x);
    if (i > s->starts->box)
      draw_around(s, i - 1 - s->starts->box, t->best ? t->best->x : x, x);
    else if (i > 0)
      draw_in_box(s, i - 1, x);
    od_ls_result *r;
    status = od_ls_search(&problem, options, count, &r, err);
    if (status == OD_BAD_ARGUMENT || status == OD_NO_MEMORY) return status;
    record(t, i, n, x, r);
    // Searches that have not begun are recorded with the given start.
    if (status == OD_INTERRUPTED) {
      for (i++; i < count; i++) record(t, i, n, s->problem->start, NULL);
      return status;
    }
  }
  if (!t->best)
    return od_fail(err, OD_NOT_FINITE,
                   "the residuals cannot be evaluated at any start (number of starts: %d); choose other bounds", count);
  if (err) *err = (od_error){.status = OD_OK};  // failures of other starts are ignored
  status = od_ls_status(t->best->reason);
  return status == OD_OK ? OD_OK : od_fail(err, status, "%s", od_ls_reason_text(t->best->reason));
}

od_status od_least_squares_multistart(const od_ls_problem *problem, const od_ls_options *options,
                                      const od_ls_starts *starts, od_ls_result **out, od_error *err) {
  *out = NULL;
  sampler s = {problem, starts, od_random_stream("least squares start"), od_random_stream("least squares order"), NULL};
  od_status status = check(&s, err);
  if (status != OD_OK) return status;
  size_t n = (size_t)problem->n, count = (size_t)(1 + starts->box + starts->around);
  OD_SCRATCH(scratch);
  double *x = OD_TAKE(&scratch, double, n);
  tally t = {.start_x = OD_TAKE_MATRIX(&scratch, double, count, n),
             .end_x = OD_TAKE_MATRIX(&scratch, double, count, n),
             .end_cost = OD_TAKE(&scratch, double, count)};
  s.order = OD_TAKE_MATRIX(&scratch, int, n, starts->box);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  shuffle_cells(&s);
  status = search_all(&s, options, &t, x, err);
  if (status == OD_BAD_ARGUMENT || status == OD_NO_MEMORY) {
    od_ls_result_free(t.best);
    return status;
  }
  od_ls_result *best = *out = t.best;
  if (!best) return status;
  memcpy(best->start_x, t.start_x, count * n * sizeof *x);
  memcpy(best->end_x, t.end_x, count * n * sizeof *x);
  memcpy(best->end_cost, t.end_cost, count * sizeof *x);
  best->iterations = t.iterations;
  best->coarse_iterations = t.coarse_iterations, best->coarse_evaluations = t.coarse_evaluations;
  if (t.coarse_evaluations > 0) best->coarse = options->coarse;
  best->residual_evaluations = t.residuals, best->jacobian_evaluations = t.jacobians;
  return status;
}
