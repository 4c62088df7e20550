// The search works on logarithms of standard deviations, which are positive and may be wrong by orders of magnitude.
//
// 1. Decades: each number alone is multiplied by powers of ten (0.001 to 1000), and all numbers by a common power of ten (0.01 to
//    100). The best of these points is the next point, until no point is better. A start that is 100 times off, in any direction,
//    ends near the minimum.
// 2. Scoring: d = -F^-1 g, with the gradient g of the cost and Fisher's information of the innovations,
//      F_ij = sum dv/di dv/dj / s^2 + 2 dlog(s)/di dlog(s)/dj,
//    which is the expected curvature of the cost and never negative. Steps are damped (Levenberg and Marquardt) and shorter than a
//    decade.
// 3. Decades again, to find out whether another minimum is lower.
// 4. Process noise without which the cost is not significantly higher is set to zero, one number after the other, and the remaining
//    numbers are searched again. Data of limited length fit every small noise about as well as no noise; a noise that the data
//    do not show would only make the observer less accurate.
//
// The derivatives of v and s are central differences over 5 % of a standard deviation. Exact derivatives would need the derivative
// of every filter's covariance, and of the filters' decisions, with respect to Q and R. The cost is smooth over 5 %, so the
// error of the difference is about h^2 / 6 = 0.04 % of the gradient; the minimum is wrong by less than this part of a standard error.
#include "tune/tune_search.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

enum {
  MOST_ITERATIONS = 40,
  MOST_DECADES = 40,
  MOST_RESTARTS = 3,
  DECADES = 3,
  DAMPINGS = 3,
  BOUND_DECADES = 8,
  BOUND_POINTS = 9
};
static const double decade = 2.302585092994046;
static const double widest = 18.420680743952367;  // range of the search: factor 1e8 to both sides
static const double difference = 0.05;            // step of the central differences
static const double least_decades_gain = 0.5;     // smallest decrease of the cost by a decade
static const double least_gain = 1e-3;            // decrease of the cost below which the search has converged

// Increase of the cost at the 95 % bound of a standard deviation whose lower limit is zero: half of the 90 % quantile of
// chi-squared with one degree of freedom, because estimates are above zero in half of all cases.
static const double bound_rise = 1.3527;

// --- Points -------------------------------------------------------------------------------------------------------

typedef struct points {
  od_arena memory;
  od_tune_trial *trial;
  double *log_sigma;
  int count, numbers;
} points;

static void free_points(points *p) {
  od_arena_free(&p->memory);
}

// Makes `count` trials at the best point. False: out of memory.
static bool make_points(const od_tune_search *s, int count, bool keeps, points *p) {
  int k = s->task->numbers;
  long kept = keeps ? od_tune_kept(s->task) : 0;
  p->count = count;
  p->numbers = k;
  p->trial = OD_TAKE(&p->memory, od_tune_trial, count);
  p->log_sigma = OD_TAKE_MATRIX(&p->memory, double, count, k);
  if (!p->trial || !p->log_sigma) return false;
  for (int i = 0; i < count; i++) {
    memcpy(p->log_sigma + i * k, s->log_sigma, (size_t)k * sizeof *p->log_sigma);
    p->trial[i] = (od_tune_trial){.log_sigma = p->log_sigma + i * k, .initial = -1};
    if (!keeps) continue;
    p->trial[i].value = OD_TAKE(&p->memory, double, kept);
    p->trial[i].sigma = OD_TAKE(&p->memory, double, kept);
  }
  return od_arena_status(&p->memory) == OD_OK;
}

static int best_of(const points *p, int first) {
  int best = first;
  for (int i = first; i < p->count; i++)
    if (p->trial[i].cost < p->trial[best].cost) best = i;
  return best;
}

static void move_to(od_tune_search *s, const points *p, int i) {
  memcpy(s->log_sigma, p->trial[i].log_sigma, (size_t)p->numbers * sizeof *s->log_sigma);
  s->cost = p->trial[i].cost;
}

// Returns a value within the range of the search. A noise of zero stays zero.
static double limited(const od_tune_search *s, int i, double log_sigma) {
  double start = log(s->task->number[i].before);
  if (isinf(log_sigma)) return log_sigma;
  return fmin(fmax(log_sigma, start - widest), start + widest);
}

// Writes the indices of the numbers that are not zero. Returns their count.
static int free_numbers(const od_tune_search *s, int at[OD_MOST_TUNED]) {
  int count = 0;
  for (int i = 0; i < s->task->numbers; i++)
    if (!isinf(s->log_sigma[i])) at[count++] = i;
  return count;
}

// --- Decades ------------------------------------------------------------------------------------------------------

// Multiplies the numbers by powers of ten. *better: whether the cost of a point is lower by more than least_decades_gain; this point
// is then the best point. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
static od_status try_decades(od_tune_search *s, bool *better, od_error *err) {
  OD_SCOPED(free_points) points p = {0};
  int k = s->task->numbers, free[OD_MOST_TUNED], m = free_numbers(s, free), at = 1;
  // Common factors for all numbers are needed if all numbers are wrong at the start, or if no run is possible there.
  static const double common[] = {-2, -1, 1, 2};
  *better = false;
  if (!make_points(s, 1 + 4 + 2 * DECADES * m, false, &p)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int c = 0; c < 4; c++, at++)
    for (int i = 0; i < k; i++) p.log_sigma[at * k + i] = limited(s, i, p.log_sigma[at * k + i] + common[c] * decade);
  for (int f = 0; f < m; f++)
    for (int d = -DECADES; d <= DECADES; d++) {
      if (d == 0) continue;
      double *x = &p.log_sigma[at++ * k + free[f]];
      *x = limited(s, free[f], *x + d * decade);
    }
  od_status status = od_tune_trials(s->task, p.trial, p.count, err);
  if (status != OD_OK) return status;
  double here = p.trial[0].cost;
  s->cost = here;
  int best = best_of(&p, 0);
  if (best == 0 || !(p.trial[best].cost < here - least_decades_gain || isinf(here))) return OD_OK;
  if (isinf(p.trial[best].cost)) return OD_OK;
  move_to(s, &p, best);
  *better = true;
  return OD_OK;
}

static od_status search_decades(od_tune_search *s, bool *moved, od_error *err) {
  *moved = false;
  for (int i = 0; i < MOST_DECADES; i++) {
    bool better;
    od_status status = try_decades(s, &better, err);
    if (status != OD_OK || !better) return status;
    *moved = true;
  }
  return OD_OK;
}

// --- Scoring ------------------------------------------------------------------------------------------------------

// The derivatives at the best point, with respect to the numbers that are not zero.
typedef struct derivatives {
  int count, number[OD_MOST_TUNED];
  double gradient[OD_MOST_TUNED], information[OD_MOST_TUNED * OD_MOST_TUNED];
  // The trials of the differences: above and below the best point. If one of these trials failed, the best point
  // replaces the trial, and at_edge is set.
  int above[OD_MOST_TUNED], below[OD_MOST_TUNED];
  bool at_edge[OD_MOST_TUNED];
} derivatives;

// Returns the difference of the logarithms of the trials for number i.
static double width(const derivatives *d, int i) {
  return d->at_edge[i] ? difference : 2 * difference;
}

// Adds the information of the kept innovations.
static void add_information(const od_tune_search *s, const points *p, derivatives *d) {
  int m = d->count;
  long kept = od_tune_kept(s->task);
  double weight = (double)s->task->stride, *F = d->information;
  memset(F, 0, sizeof d->information);
  for (long r = 0; r < kept; r++) {
    double sigma = p->trial[0].sigma[r], dv[OD_MOST_TUNED], ds[OD_MOST_TUNED];
    if (isnan(sigma)) continue;
    for (int i = 0; i < m; i++) {
      const od_tune_trial *up = &p->trial[d->above[i]], *down = &p->trial[d->below[i]];
      dv[i] = (up->value[r] - down->value[r]) / width(d, i) / sigma;
      ds[i] = log(up->sigma[r] / down->sigma[r]) / width(d, i);
      if (!isfinite(dv[i]) || !isfinite(ds[i])) dv[i] = ds[i] = 0;
    }
    for (int i = 0; i < m; i++)
      for (int j = 0; j <= i; j++) F[i * m + j] += weight * (dv[i] * dv[j] + 2 * ds[i] * ds[j]);
  }
  for (int i = 0; i < m; i++)
    for (int j = i + 1; j < m; j++) F[i * m + j] = F[j * m + i];
}

// Computes gradient and information at the best point. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
static od_status find_derivatives(od_tune_search *s, derivatives *d, od_error *err) {
  OD_SCOPED(free_points) points p = {0};
  int k = s->task->numbers, m = d->count = free_numbers(s, d->number);
  if (!make_points(s, 1 + 2 * m, true, &p)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < m; i++) {
    p.log_sigma[(1 + 2 * i) * k + d->number[i]] += difference;
    p.log_sigma[(2 + 2 * i) * k + d->number[i]] -= difference;
  }
  od_status status = od_tune_trials(s->task, p.trial, p.count, err);
  if (status != OD_OK) return status;
  s->cost = p.trial[0].cost;
  for (int i = 0; i < m; i++) {
    d->above[i] = isfinite(p.trial[1 + 2 * i].cost) ? 1 + 2 * i : 0;
    d->below[i] = isfinite(p.trial[2 + 2 * i].cost) ? 2 + 2 * i : 0;
    d->at_edge[i] = d->above[i] == 0 || d->below[i] == 0;
    d->gradient[i] = (p.trial[d->above[i]].cost - p.trial[d->below[i]].cost) / width(d, i);
  }
  add_information(s, &p, d);
  return OD_OK;
}

// Computes the step of (F + damping diag(F)) step = -g. Each component is at most a decade long. False: the matrix is singular, or
// all numbers are zero.
static bool find_step(const derivatives *d, double damping, double *step) {
  int m = d->count, pivot[OD_MOST_TUNED];
  double A[OD_MOST_TUNED * OD_MOST_TUNED], largest = 0;
  memcpy(A, d->information, (size_t)(m * m) * sizeof *A);
  for (int i = 0; i < m; i++) largest = fmax(largest, A[i * (m + 1)]);
  for (int i = 0; i < m; i++) A[i * (m + 1)] += damping * A[i * (m + 1)] + 1e-14 * largest;
  for (int i = 0; i < m; i++) step[i] = -d->gradient[i];
  if (m == 0 || od_lu_factor(m, A, pivot) != OD_OK) return false;
  od_lu_solve(m, A, pivot, step, 1);
  // Numbers without effect on the cost have long steps. These steps must not shorten the steps of other numbers.
  for (int i = 0; i < m; i++) {
    if (!isfinite(step[i])) return false;
    step[i] = fmin(fmax(step[i], -decade), decade);
  }
  return true;
}

// Takes one step: tries three dampings at a time, each ten times the previous damping. If all three fail, tries larger
// dampings.
static od_status take_step(od_tune_search *s, const derivatives *d, double *damping, od_error *err) {
  int k = s->task->numbers;
  double before = s->cost, step[OD_MOST_TUNED];
  for (int attempt = 0; attempt < 4 && s->cost == before; attempt++) {
    OD_SCOPED(free_points) points p = {0};
    if (!make_points(s, DAMPINGS, false, &p)) return od_fail(err, OD_NO_MEMORY, "out of memory");
    for (int c = 0; c < DAMPINGS; c++) {
      bool is_step = find_step(d, *damping * pow(10, c), step);
      for (int i = 0; i < d->count && is_step; i++) {
        double *x = &p.log_sigma[c * k + d->number[i]];
        *x = limited(s, d->number[i], *x + step[i]);
      }
    }
    od_status status = od_tune_trials(s->task, p.trial, p.count, err);
    if (status != OD_OK) return status;
    int best = best_of(&p, 0);
    bool is_better = p.trial[best].cost < s->cost;
    *damping = is_better ? fmax(1e-6, *damping * pow(10, best - 1)) : *damping * 1e3;
    if (is_better) move_to(s, &p, best);
  }
  return OD_OK;
}

// Takes scoring steps until the cost no longer decreases. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
static od_status score(od_tune_search *s, od_error *err) {
  double damping = 1e-3;
  s->converged = false;
  for (int n = 0; n < MOST_ITERATIONS && !s->converged; n++) {
    derivatives d;
    od_status status = find_derivatives(s, &d, err);
    double before = s->cost;
    if (status == OD_OK) status = take_step(s, &d, &damping, err);
    if (status != OD_OK) return status;
    s->iterations++;
    s->converged = before - s->cost < least_gain;
  }
  return OD_OK;
}

// --- Zero ---------------------------------------------------------------------------------------------------------

// Finds the process noise without which the cost rises least. *found: whether the rise is not significant; this noise is then
// zero. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
static od_status remove_one(od_tune_search *s, bool *found, od_error *err) {
  int k = s->task->numbers, free[OD_MOST_TUNED], m = 0;
  OD_SCOPED(free_points) points p = {0};
  *found = false;
  for (int i = 0; i < k; i++)
    if (s->task->number[i].kind != OD_TUNED_SENSOR && !isinf(s->log_sigma[i])) free[m++] = i;
  if (m == 0) return OD_OK;
  if (!make_points(s, m, false, &p)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < m; i++) p.log_sigma[i * k + free[i]] = -INFINITY;
  od_status status = od_tune_trials(s->task, p.trial, p.count, err);
  if (status != OD_OK) return status;
  int best = best_of(&p, 0);
  *found = p.trial[best].cost < s->cost + bound_rise;
  if (*found) move_to(s, &p, best);
  return OD_OK;
}

od_status od_tune_minimize(od_tune_search *s, od_error *err) {
  bool moved = true, removed = true;
  od_status status = search_decades(s, &moved, err);
  if (status == OD_OK && isinf(s->cost))
    return od_fail(
        err, OD_NOT_CONVERGED,
        "the observer fails with the noise of the file, with all numbers a factor of up to 100 larger or smaller, and with "
        "each number alone a factor of up to 1000 larger or smaller; 'oleodyn observe' reports why");
  moved = true;
  for (int i = 0; i < MOST_RESTARTS && status == OD_OK && moved; i++) {
    status = score(s, err);
    if (status == OD_OK) status = search_decades(s, &moved, err);
  }
  bool is_lowest = !moved;
  while (status == OD_OK && removed) {
    status = remove_one(s, &removed, err);
    if (status == OD_OK && removed) status = score(s, err);
  }
  s->converged = s->converged && is_lowest;
  return status;
}

// --- What the data determine ------------------------------------------------------------------------------------------

// Computes the standard errors from the inverse of the information of all numbers that are not zero.
static void find_errors(const derivatives *d, od_tuned_number *number) {
  int m = d->count, pivot[OD_MOST_TUNED];
  double A[OD_MOST_TUNED * OD_MOST_TUNED], b[OD_MOST_TUNED];
  // The matrix is scaled to a diagonal of ones.
  for (int i = 0; i < m; i++) b[i] = d->information[i * (m + 1)] > 0 ? 1 / sqrt(d->information[i * (m + 1)]) : 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) A[i * m + j] = i == j ? 1 : d->information[i * m + j] * b[i] * b[j];
  if (m == 0 || od_lu_factor(m, A, pivot) != OD_OK) return;
  for (int i = 0; i < m; i++) {
    double own = d->information[i * (m + 1)];
    for (int j = 0; j < m; j++) b[j] = i == j;
    od_lu_solve(m, A, pivot, b, 1);
    if (own > 0 && b[i] > 0) number[d->number[i]].error = sqrt(b[i] / own);
  }
}

// Finds the upper bound of a noise that may be zero: first the decade, then the point in the decade, interpolated in the
// logarithm. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
static od_status find_bound(const od_tune_search *s, int i, od_tuned_number *n, od_error *err) {
  int k = s->task->numbers;
  double low = log(n->before) - (BOUND_DECADES + 1) * decade, step = decade, rise_low = 0;
  for (int pass = 0; pass < 2; pass++) {
    OD_SCOPED(free_points) points p = {0};
    int count = pass == 0 ? 2 * BOUND_DECADES + 1 : BOUND_POINTS + 1, c = 0;
    if (!make_points(s, count, false, &p)) return od_fail(err, OD_NO_MEMORY, "out of memory");
    for (int j = 0; j < count; j++) p.log_sigma[j * k + i] = low + (j + 1) * step;
    od_status status = od_tune_trials(s->task, p.trial, count, err);
    if (status != OD_OK) return status;
    while (c < count && p.trial[c].cost < s->cost + bound_rise) c++;
    if (c == count) return OD_OK;  // no bound within the range
    if (c > 0) rise_low = p.trial[c - 1].cost - s->cost;
    double rise = p.trial[c].cost - s->cost, part = (bound_rise - rise_low) / (rise - rise_low);
    low += c * step;
    n->bound = exp(low + (isfinite(rise) ? part : 1) * step);
    step = decade / (BOUND_POINTS + 1);
  }
  return OD_OK;
}

od_status od_tune_determine(od_tune_search *s, od_tuned_number *number, od_error *err) {
  derivatives d;
  od_status status = find_derivatives(s, &d, err);
  if (status != OD_OK) return status;
  find_errors(&d, number);
  for (int i = 0; i < d.count; i++) number[d.number[i]].at_edge = d.at_edge[i];
  for (int i = 0; i < s->task->numbers && status == OD_OK; i++) {
    number[i].after = exp(s->log_sigma[i]);
    number[i].may_be_zero = isinf(s->log_sigma[i]);
    if (number[i].may_be_zero) status = find_bound(s, i, &number[i], err);
  }
  return status;
}
