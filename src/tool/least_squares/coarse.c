// First iterations with a subset of the rows, one in `every`. Far from the minimum, a few thousand rows give as good a direction as
// all rows. These iterations end at a distance of about sqrt(every) standard deviations from the minimum. Then few iterations with
// all rows are needed. Only the iterations with all rows determine the result.
//
// The omitted rows may be the rows that determine a parameter: an event of a few samples, or an input whose period equals
// the distance between selected rows. Therefore the information along all directions is compared at the start.
#include <math.h>
#include <string.h>

#include "least_squares/search.h"

static const double least_share =
    0.25;                         // smallest information of the selected rows, relative to the average of all rows
static const double close = 0.1;  // decrease of the cost, in variances of a residual, at which the coarse search ends

// Returns whether G = M'M is at least `least` along each direction: G - least I has a Cholesky factor. G: rank x rank.
static bool is_at_least(int k, int rank, const double *M, double least, double *G) {
  for (int a = 0; a < rank; a++)
    for (int b = 0; b <= a; b++) {
      double sum = a == b ? -least : 0;
      for (int i = 0; i < k; i++) sum += M[a * k + i] * M[b * k + i];
      for (int i = 0; i < b; i++) sum -= G[a * rank + i] * G[b * rank + i];
      if (a == b && !(sum > 0)) return false;
      G[a * rank + b] = a == b ? sqrt(sum) : sum / G[b * rank + b];
    }
  return true;
}

// Returns whether the selected rows contain at least the fraction `least_share` of the average information along each
// direction.
static bool have_their_share(od_search *all, const od_search *some) {
  int k = all->k;
  for (int j = 0; j < k; j++) {
    double norm = od_column_norm(all, j);
    all->D[j] = norm > 0 ? 1 / norm : 1;
    all->held[j] = false;
  }
  od_spectrum_of(all, NULL);
  // M (k x rank, by columns): the effect of each direction on the selected rows, relative to the effect on all rows.
  double *M = all->svd_memory, *G = M + k * k;
  for (int c = 0; c < all->spectrum.rank; c++) {
    const double *v = all->spectrum.V + c * k;
    for (int i = 0; i < k; i++) {
      double sum = 0;
      for (int j = i; j < k; j++) sum += some->model.R[i * k + j] * all->D[j] * v[j];
      M[c * k + i] = sum / all->spectrum.value[c];
    }
  }
  return is_at_least(k, all->spectrum.rank, M, least_share * some->m / all->m, G);
}

static bool begin(const od_search *s, od_search *c) {
  memcpy(c->now.u, s->now.u, (size_t)s->k * sizeof *s->now.u);
  memcpy(c->start, s->start, (size_t)s->k * sizeof *s->start);
  c->every = s->options.coarse;
  c->coarse = true;
  c->last_digits = false;
  if (!od_evaluate(c, &c->now) || !od_linearize(c, &c->now, &c->model)) return false;
  c->options.cost_tolerance = fmax(c->options.cost_tolerance, 2 * close / c->m);
  return c->m > c->k;
}

// Takes the last point of a stopped coarse search as the result of the search. The result comes from the selected rows. The
// information of these rows is scaled to the number of all rows.
static void end_with_some(od_search *s, const od_search *c) {
  double rows = (double)s->m / c->m, root = sqrt(rows);
  int k = s->k;
  memcpy(s->now.u, c->now.u, (size_t)k * sizeof *s->now.u);
  memcpy(s->now.x, c->now.x, (size_t)s->n * sizeof *s->now.x);
  s->now.cost = rows * c->now.cost, s->now.squares = rows * c->now.squares;
  for (int i = 0; i < k * k; i++) s->model.R[i] = root * c->model.R[i];
  for (int i = 0; i < k; i++) s->model.q[i] = root * c->model.q[i], s->model.g[i] = rows * c->model.g[i];
  s->model.rest = root * c->model.rest, s->model.base = rows * c->model.base;
  s->ends_with_some = true;
}

void od_search_coarsely(od_search *s) {
  od_search c;
  if (!s->problem->rows || s->options.coarse < 2 || s->k == 0 || od_is_tied(s->problem, &s->options)) return;
  if (od_search_begin(&c, s->problem, &s->options, NULL) != OD_OK) return;
  if (begin(s, &c) && have_their_share(s, &c)) {
    bool stopped = od_search_run(&c) == OD_LS_STOPPED;
    s->coarse_iterations = c.iterations, s->coarse_evaluations = c.evaluations;
    memcpy(s->trial.u, c.now.u, (size_t)s->k * sizeof *c.now.u);
    bool known = !stopped && od_evaluate(s, &s->trial);
    if (known && s->trial.cost < s->now.cost) {
      known = od_linearize(s, &s->trial, &s->trial_model);
      if (known) od_swap_points(s);
    }
    if (!known && c.iterations > 0 && (stopped || !od_goes_on(s))) end_with_some(s, &c);
  }
  od_search_end(&c);
}
