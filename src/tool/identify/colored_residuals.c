// Standard deviations of estimates from correlated residuals.
//
// White residuals give the covariance (J'J)^-1 s^2. For correlated residuals the variances are computed in two ways,
// and the larger variance is used.
//
// 1. From sums of neighboring rows. The error of the estimates is a sum over rows: z_t is the contribution of row t of
// a set (all its sensors), from the influence of its residuals. Bartlett's window over b rows weights the
// autocovariances of z_t. Their sum V is the covariance of the estimates (Newey and West 1987) and is positive
// semidefinite:
//
//   V = sum_t sum_l (1 - |l|/b) z_t z_(t-l)'  =  1/b sum_t S_t S_t',     S_t = z_t + z_(t-1) + ... + z_(t-b+1)
//
// The second form of V needs one pass with a running sum, for any b. The only assumption is that the correlation of
// residuals decays. The variance of residuals may change over time, and residuals may be correlated between sensors.
// The window has b = 1.3 sqrt(T) rows (Lazarus, Lewis, Stock and Watson 2018). If the width of Andrews (1991) for a
// first-order process z_t is larger, b is this width. b is at most T/2. With few independent pieces, V itself is
// uncertain, and intervals of normal width would contain the true value too rarely. Kiefer and Vogelsang (2005) give
// the width of a 95 % interval; sigmas are multiplied by the ratio of this width to the normal width.
//
// 2. From a process. The residuals of each sensor are modeled as a stationary process e_t = sum_j a_j e_(t-j) + n_t
// with white noise n_t. The order with the least AIC is used, up to 10 log10(T) and T/4 (Yule and Walker, Levinson's
// recursion). Then V = var(n) sum_t g_t g_t', where g_t is the total contribution of n_t to the estimates. This
// variance is more precise if the residuals are such a process: for noise colored by a filter, or slow disturbances.
//
// Rows without values contribute nothing. Sets are independent. Rows are visited twice, to find b and to find V.
// Memory: one series of one sensor, and the rows of a window.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "identify/fit_work.h"
#include "least_squares/loss.h"
#include "math/normal.h"

static const double least_correlation = 0.05;  // residuals with smaller correlations are treated as white
static const double rounding =
    1e-6;  // median magnitude of residuals, in units of the noise below which residuals are round-off

bool od_fit_is_colored(const od_fit_quality *q) {
  return q->white < OD_FIT_UNLIKELY && q->correlation > least_correlation && q->typical > rounding;
}

// Returns the factor of a residual's derivatives in the gradient: the residual itself, or the residual reduced by a robust
// loss.
static double weighed(const od_fit_work *w, double r) {
  od_loss_weight weight = od_loss_row(w->plan->loss, od_fit_loss_scale(w->plan), r);
  return weight.row * weight.residual;
}

// Adds `factor` times the contribution of a unit residual of sensor i in row k to z, which has one entry per parameter.
OD_INTO_WIDE void add_gain(const od_fit_work *w, const od_fit_block *b, long k, int i, double factor,
                           double *restrict z) {
  const double *restrict derivative = od_fit_derivatives(w, b, k, i);
  double part = factor / w->f->data[b->set]->sigma[i];
  for (int c = 0; c < b->columns; c++) {
    const double *restrict by = w->influence->by + od_fit_column(w, b, c) * w->np;
    double change = part * derivative[c];
    for (int a = 0; a < w->np; a++) z[a] += change * by[a];
  }
}

OD_INTO_WIDE void add_square(int np, double factor, const double *restrict z, double *restrict V) {
  for (int a = 0; a < np; a++) {
    double part = factor * z[a], *restrict row = V + a * np;
    for (int b = 0; b < np; b++) row[b] += part * z[b];
  }
}

// --- Sums of neighboring rows -------------------------------------------------------------------------------------

// Computes the contribution of row k of a set to each parameter.
OD_INTO_WIDE void contribution(const od_fit_work *w, const od_fit_block *b, long k, double *z) {
  memset(z, 0, (size_t)w->np * sizeof *z);
  for (int i = 0; i < w->ns; i++) {
    double r = od_fit_residual(w, b->set, k, i);
    if (!isnan(r)) add_gain(w, b, k, i, weighed(w, r), z);
  }
}

// Sums for the correlation of a row's contribution with the contribution of the previous row.
typedef struct neighbors {
  const od_fit_work *w;
  double *z, *last, *squares,
      *products;  // np each: contribution of a row and of the previous row, sums of their squares and of
                  // their products
} neighbors;
OD_WIDE static void add_neighbors(void *user, const od_fit_block *b) {
  const neighbors *n = user;
  for (long k = b->first; k < b->first + b->count && k < n->w->f->data[b->set]->fitted; k++) {
    contribution(n->w, b, k, n->z);
    for (int a = 0; a < n->w->np; a++) {
      n->squares[a] += n->z[a] * n->z[a], n->products[a] += n->z[a] * n->last[a];
      n->last[a] = n->z[a];
    }
  }
}

// Computes b, the number of rows of the window, for a set. Fails with OD_NO_MEMORY or a status of od_fit_visit_set().
static od_status find_window(od_fit_work *w, int set, long *window, od_error *err) {
  int np = w->np;
  double rows = (double)w->f->data[set]->fitted, widest = 1.3 * sqrt(rows);
  OD_SCRATCH(scratch);
  neighbors n = {w, OD_TAKE(&scratch, double, np), OD_TAKE(&scratch, double, np), OD_TAKE(&scratch, double, np),
                 OD_TAKE(&scratch, double, np)};
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_fit_visit_set(w, set, add_neighbors, &n);
  for (int a = 0; a < np; a++) {
    double rho = n.squares[a] > 0 ? fmin(fmax(n.products[a] / n.squares[a], 0), 0.999) : 0,
           alpha = 2 * rho / (1 - rho * rho);
    widest = fmax(widest, 1.1447 * cbrt(alpha * alpha * rows));
  }
  *window = (long)fmax(fmin(ceil(widest), floor(rows / 2)), 1);
  return status;
}

// A running sum over the last b rows.
typedef struct window {
  long b, t;           // number of rows of the window; index of the next row
  double factor;       // weight of each square in V
  double *ring, *sum;  // b x np, np: contributions of the rows of the window, and their sum
  double *V;
} window;

// Adds a row with the contribution z to the window (NULL: no more rows), removes the oldest row, and adds the square of the
// new sum to V.
OD_INTO_WIDE void move_window(window *v, int np, const double *z) {
  double *place = v->ring + (v->t % v->b) * np;
  for (int a = 0; a < np; a++) {
    v->sum[a] += (z ? z[a] : 0) - place[a];
    place[a] = z ? z[a] : 0;
  }
  v->t++;
  add_square(np, v->factor, v->sum, v->V);
}

// --- Higher-order process -----------------------------------------------------------------------------------------

enum { MOST_ORDER = 100 };
typedef struct process {
  int order;
  double a[MOST_ORDER];  // e_t = sum_j a[j - 1] e_(t-j) + n_t
  double variance;       // variance of n
} process;

// Returns the process with the least AIC, by Levinson's and Durbin's recursion over all orders up to `most`.
static process fit_process(const double *covariance, int most, double rows) {
  process now = {.variance = covariance[0]}, best = now;
  double least = rows * log(now.variance);
  for (int p = 1; p <= most; p++) {
    double last[MOST_ORDER], sum = covariance[p];
    memcpy(last, now.a, sizeof last);
    for (int i = 1; i < p; i++) sum -= last[i - 1] * covariance[p - i];
    double reflection = sum / now.variance;
    // If samples are missing, the covariances may not belong to any process.
    if (!(fabs(reflection) < 1)) break;
    now.order = p;
    now.a[p - 1] = reflection;
    for (int i = 1; i < p; i++) now.a[i - 1] = last[i - 1] - reflection * last[p - i - 1];
    now.variance *= 1 - reflection * reflection;
    double aic = rows * log(now.variance) + 2 * p;
    if (aic < least) least = aic, best = now;
  }
  return best;
}

// Computes the covariances of a series at the lags 0 to `most`, from the pairs of available values. Returns the number of
// available values.
static double find_covariances(od_fit_work *w, const double *e, long rows, int most, double *covariance) {
  double present = 0;
  for (int lag = 0; lag <= most && od_fit_keeps_going(w); lag++) {
    double sum = 0, pairs = 0;
    for (long k = lag; k < rows; k++) {
      double product = e[k] * e[k - lag];
      if (!isnan(product)) sum += product, pairs++;
    }
    covariance[lag] = pairs > 0 ? sum / pairs : 0;
    if (lag == 0) present = pairs;
  }
  return present;
}

// The noise n_t enters e_t, e_(t+1), ..., and contributes g_t = gain_t + sum_j a_j g_(t+j) to the parameters. A
// stationary process has the same covariances backward in time, so V is also the sum over g_t = gain_t + sum_j a_j
// g_(t-j). This form needs the rows in order and continues after the last row until g_t has decayed.
typedef struct filter {
  process p;
  long t;        // index of the next row
  double *ring;  // (order + 1) x np: the last values of g
  double *V;
} filter;

// Appends sum_j a_j g_(t-j) to the ring as the new g_t and returns this entry (np numbers). The caller adds gain_t.
OD_INTO_WIDE double *filter_next(filter *f, int np) {
  int size = f->p.order + 1;
  double *g = f->ring + (f->t % size) * np;
  memset(g, 0, (size_t)np * sizeof *g);
  for (int j = 1; j <= f->p.order && j <= f->t; j++) {
    const double *earlier = f->ring + ((f->t - j) % size) * np;
    for (int a = 0; a < np; a++) g[a] += f->p.a[j - 1] * earlier[a];
  }
  f->t++;
  return g;
}

static void filter_end(filter *f, int np, long rows) {
  const double decayed =
      1e-12;  // the sum over g_t ends when the relative increases of the variances by g_t sum to less than this
  double left = INFINITY;
  for (long t = 0; t < rows && left > decayed; t++) {
    const double *g = filter_next(f, np);
    add_square(np, f->p.variance, g, f->V);
    left = 0;
    for (int a = 0; a < np; a++) left += f->p.variance * g[a] * g[a] / (f->V[a * (np + 1)] + DBL_MIN);
  }
}

// Models the residuals of sensor i as a process. e: memory for one number per row. NAN residuals are skipped. Returns
// false if all residuals are NAN or zero, if a residual is infinite, or after an interrupt.
static bool find_process(od_fit_work *w, int set, int i, double *e, process *p) {
  long rows = w->f->data[set]->fitted;
  double covariance[MOST_ORDER + 1] = {0};
  for (long k = 0; k < rows; k++) {
    double r = od_fit_residual(w, set, k, i);
    e[k] = isnan(r) ? r : weighed(w, r);
  }
  int most = (int)fmin(fmin(10 * log10((double)rows), (double)rows / 4), MOST_ORDER);
  double present = find_covariances(w, e, rows, most, covariance);
  if (!od_fit_keeps_going(w) || !(covariance[0] > 0) || !isfinite(covariance[0])) return false;
  *p = fit_process(covariance, most, present);
  return true;
}

// --- One pass for both variances ----------------------------------------------------------------------------------

typedef struct passage {
  const od_fit_work *w;
  window v;
  filter *f;  // one filter per sensor
  bool *is_process;
  double *z, *gain;  // np each: contribution of a row, and of a unit residual of one sensor
} passage;

OD_WIDE static void add_rows(void *user, const od_fit_block *b) {
  passage *p = user;
  const od_fit_work *w = p->w;
  int np = w->np;
  for (long k = b->first; k < b->first + b->count && k < w->f->data[b->set]->fitted; k++) {
    memset(p->z, 0, (size_t)np * sizeof *p->z);
    for (int i = 0; i < w->ns; i++) {
      double r = od_fit_residual(w, b->set, k, i), weight = isnan(r) ? 0 : weighed(w, r);
      memset(p->gain, 0, (size_t)np * sizeof *p->gain);
      if (!isnan(r)) add_gain(w, b, k, i, 1, p->gain);
      for (int a = 0; a < np; a++) p->z[a] += weight * p->gain[a];
      if (!p->is_process[i]) continue;
      double *g = filter_next(&p->f[i], np);
      for (int a = 0; a < np; a++) g[a] += p->gain[a];
      add_square(np, p->f[i].p.variance, g, p->f[i].V);
    }
    move_window(&p->v, np, p->z);
  }
}

// Adds the contribution of a set to the two matrices in V: the first from windows, the second from processes. Fails with
// OD_NO_MEMORY or a status of od_fit_visit_set().
static od_status add_set(od_fit_work *w, int set, double *V, od_error *err) {
  int np = w->np, ns = w->ns;
  long rows = w->f->data[set]->fitted, b = 1;
  od_status status = find_window(w, set, &b, err);
  if (status != OD_OK) return status;
  OD_SCRATCH(scratch);
  // part: fraction of the series that a window covers. half: half the width of a 95 % interval at this fraction, in
  // standard deviations.
  double part = (double)b / (double)rows, half = OD_NORMAL95 + part * (2.9694 + part * (0.4160 - 0.5324 * part));
  double wide = half / OD_NORMAL95, *e = OD_TAKE(&scratch, double, rows);
  passage p = {.w = w,
               .v = {.b = b,
                     .factor = wide * wide / (double)b,
                     .ring = OD_TAKE_MATRIX(&scratch, double, b, np),
                     .sum = OD_TAKE(&scratch, double, np),
                     .V = V},
               .f = OD_TAKE(&scratch, filter, ns),
               .is_process = OD_TAKE(&scratch, bool, ns),
               .z = OD_TAKE(&scratch, double, np),
               .gain = OD_TAKE(&scratch, double, np)};
  double *rings = OD_TAKE(&scratch, double, (long long)ns *(MOST_ORDER + 1) * np);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < ns && od_fit_keeps_going(w); i++) {
    p.f[i] = (filter){.ring = rings + (long)i * (MOST_ORDER + 1) * np, .V = V + np * np};
    p.is_process[i] = find_process(w, set, i, e, &p.f[i].p);
  }
  w->f->window = b > w->f->window ? b : w->f->window;
  status = od_fit_visit_set(w, set, add_rows, &p);
  if (status != OD_OK) return status;
  for (long t = 1; t < b; t++) move_window(&p.v, np, NULL);
  for (int i = 0; i < ns; i++)
    if (p.is_process[i]) filter_end(&p.f[i], np, rows);
  return OD_OK;
}

// --- Results ------------------------------------------------------------------------------------------------------

// Returns the larger of the sigmas `white` and `wide`. If `white` is zero (fixed parameter) or infinite (not identifiable),
// returns `white`.
static double larger(double white, double wide) {
  return isfinite(white) && white > 0 && wide > white ? wide : white;
}

// Returns the variance of a function of the parameters with this gradient: the larger of the variances from both
// matrices in V.
static double variance_along(int np, const double *V, const double *gradient) {
  double variances[2] = {0};
  for (int way = 0; way < 2; way++)
    for (int i = 0; i < np; i++)
      for (int j = 0; j < np; j++) variances[way] += gradient[i] * V[(way * np + i) * np + j] * gradient[j];
  return fmax(fmax(variances[0], variances[1]), 0);
}

// Returns the correlation of the errors of parameters i and j. For correlated residuals, uses the matrix in V that has the
// larger variance for most parameters.
static double correlation(const od_fit_work *w, const double *V, int i, int j) {
  const od_ls_result *r = w->f->search;
  int np = w->np;
  double white = r->covariance[i * w->n + j] / (r->sigma[i] * r->sigma[j]);
  if (!w->f->widened || isnan(white)) return white;
  double larger_part = 0;
  for (int a = 0; a < np; a++) larger_part += V[a * (np + 1)] > V[np * np + a * (np + 1)] ? 1 : -1;
  const double *larger_matrix = larger_part >= 0 ? V : V + np * np;
  return larger_matrix[i * np + j] / sqrt(larger_matrix[i * (np + 1)] * larger_matrix[j * (np + 1)]);
}

// Stores the sigmas of parameters and combinations, and the correlations of parameters, in w->f. V: two matrices (np x np
// each), from windows and from processes. gradient: memory for np numbers.
static void keep(od_fit_work *w, const double *V, double *gradient) {
  const od_fit_plan *plan = w->plan;
  const od_ls_result *r = w->f->search;
  od_fitted *f = w->f;
  int np = w->np;
  for (int i = 0; i < np; i++) {
    memset(gradient, 0, (size_t)np * sizeof *gradient);
    gradient[i] = 1;
    f->sigma_white[i] = r->sigma[i];
    f->sigma_colored[i] = larger(r->sigma[i], sqrt(variance_along(np, V, gradient)));
    f->sigma[i] = f->widened ? f->sigma_colored[i] : f->sigma_white[i];
    for (int j = 0; j < np; j++) f->correlation[i * np + j] = correlation(w, V, i, j);
  }
  for (int c = 0; c < plan->combinations; c++) {
    od_combination_value(&plan->combination[c], np, r->x, gradient);
    f->combination_white[c] = f->combination_bound[c] * sqrt(r->variance);
    f->combination_colored[c] = larger(f->combination_white[c], sqrt(variance_along(np, V, gradient)));
    f->combination_sigma[c] = f->widened ? f->combination_colored[c] : f->combination_white[c];
  }
}

od_status od_fit_find_sigmas(od_fit_work *w, od_error *err) {
  const od_ls_result *r = w->f->search;
  int np = w->np;
  OD_SCRATCH(scratch);
  double *V = OD_TAKE(&scratch, double, 2 * np * np), *gradient = OD_TAKE(&scratch, double, np);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int set = 0; set < w->f->sets && w->influence; set++) {
    od_status status = w->f->data[set]->fitted > 0 ? add_set(w, set, V, err) : OD_OK;
    if (status != OD_OK) return status;
  }
  for (int i = 0; i < 2 * np * np && r->freedom > 0; i++) V[i] *= (double)r->m / r->freedom;
  w->f->widened = false;
  for (int set = 0; set < w->f->sets && w->influence; set++)
    for (int i = 0; w->f->set[set].fitted > 0 && i < w->ns; i++)
      w->f->widened = w->f->widened || od_fit_is_colored(&w->f->set[set].fitted_quality[i]);
  keep(w, V, gradient);
  return OD_OK;
}
