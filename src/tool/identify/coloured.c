// Standard deviations of estimates where residuals depend on each other.
//
// White residuals leave (J'J)^-1 s^2. Others do not; then the variances are found in two ways, of which the larger
// counts.
//
// By the sums of neighbouring rows. The estimates are what the rows add up to: z_t is what row t of a set (all its
// sensors) adds, by the influence of its residuals. The covariance of the sum is that of the z_t's autocovariances,
// with the weights of Bartlett's window over b rows (Newey and West 1987), and is never negative:
//
//   V = sum_t sum_l (1 - |l|/b) z_t z_(t-l)'  =  1/b sum_t S_t S_t',     S_t = z_t + z_(t-1) + ... + z_(t-b+1)
//
// The second form needs one pass with a running sum, whatever b is. It asks nothing of the residuals but that they
// forget: they may be larger at times, and together in several sensors. The window has b = 1.3 sqrt(T) rows (Lazarus,
// Lewis, Stock and Watson 2018), or what Andrews (1991) asks for when the z_t are a process of first order, if that is
// more; at most T/2. So few independent pieces leave V uncertain itself: intervals of normal width would hold the truth
// too seldom. Kiefer and Vogelsang (2005) tell the width that 95 % want; sigmas are widened by its ratio to the normal
// one.
//
// By a process. Residuals of each sensor are taken for a stationary process e_t = sum_j a_j e_(t-j) + n_t, whose order
// has the least AIC up to 10 log10(T) (Yule and Walker, Levinson's recursion). Then V = var(n) sum_t g_t g_t' with g_t
// what n_t adds to the estimates by all that follows from it. This is the more precise where it holds: noise that is
// coloured by a filter, or slow disturbances.
//
// Rows without values add nothing. Sets are independent. Memory: one series of one sensor.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identify/fit_work.h"
#include "least_squares/loss.h"
#include "math/normal.h"

static const double least_correlation = 0.05;  // of residuals: less does not matter
static const double rounding = 1e-6;           // of the noise: what fits without noise leave need not be white

bool od_fit_is_coloured(const od_fit_quality *q) {
  return q->white < OD_FIT_UNLIKELY && q->correlation > least_correlation && q->typical > rounding;
}

static bool any_is_coloured(const od_fitted *f) {
  for (int set = 0; set < f->sets; set++)
    for (int i = 0; f->set[set].fitted > 0 && i < f->plan->e->sensors; i++)
      if (od_fit_is_coloured(&f->set[set].fitted_quality[i])) return true;
  return false;
}

// How much a residual weighs in the gradient: itself, or what a robust loss leaves of it.
static double weighed(const od_fit_work *w, double r) {
  od_loss_weight weight = od_loss_row(w->plan->loss, od_fit_loss_scale(w->plan), r);
  return weight.row * weight.residual;
}

// What a weighed residual of 1 of sensor i in row k adds to each parameter.
static void add_gain(const od_fit_work *w, int set, long k, int i, double factor, double *z) {
  od_fit_row row = od_fit_row_of(w, set, k, i);
  for (int a = 0; a < w->np; a++) {
    const double *gain = w->influence->gain + a * w->n;
    double sum = 0;
    for (int c = 0; c < w->np; c++) sum += gain[c] * row.derivative[c];
    for (int c = w->np; c < row.columns; c++) sum += gain[row.states + c - w->np] * row.derivative[c];
    z[a] += factor * row.part * sum;
  }
}

static void add_square(int np, double factor, const double *z, double *V) {
  for (int a = 0; a < np; a++)
    for (int b = 0; b < np; b++) V[a * np + b] += factor * z[a] * z[b];
}

// --- By the sums of neighbouring rows -----------------------------------------------------------------------------

// What row k of a set adds to each parameter.
static void contribution(const od_fit_work *w, int set, long k, double *z) {
  memset(z, 0, (size_t)w->np * sizeof *z);
  for (int i = 0; i < w->ns; i++) {
    double r = od_fit_residual(w, set, k, i);
    if (!isnan(r)) add_gain(w, set, k, i, weighed(w, r), z);
  }
}

// Rows of the window. memory: 4 np.
static long window_of(const od_fit_work *w, int set, double *memory) {
  int np = w->np;
  double rows = (double)w->f->data[set]->fitted, widest = 1.3 * sqrt(rows);
  double *z = memory, *last = z + np, *squares = last + np, *products = squares + np;
  memset(last, 0, 3 * (size_t)np * sizeof *last);
  for (long k = 0; k < w->f->data[set]->fitted; k++) {
    contribution(w, set, k, z);
    for (int a = 0; a < np; a++) squares[a] += z[a] * z[a], products[a] += z[a] * last[a], last[a] = z[a];
  }
  for (int a = 0; a < np; a++) {
    double rho = squares[a] > 0 ? fmin(fmax(products[a] / squares[a], 0), 0.999) : 0, alpha = 2 * rho / (1 - rho * rho);
    widest = fmax(widest, 1.1447 * cbrt(alpha * alpha * rows));
  }
  return (long)fmax(fmin(ceil(widest), floor(rows / 2)), 1);
}

// Half the width of a 95 % interval, in standard deviations from a window that is this part of the series.
static double half_width(double part) {
  return OD_NORMAL95 + part * (2.9694 + part * (0.4160 - 0.5324 * part));
}

// Adds a set's part of V. memory: 4 np.
static void add_windows(const od_fit_work *w, int set, double *V, double *memory) {
  int np = w->np;
  long rows = w->f->data[set]->fitted, b = window_of(w, set, memory);
  double *z = memory, *sum = z + np, wide = half_width((double)b / (double)rows) / OD_NORMAL95;
  memset(sum, 0, (size_t)np * sizeof *sum);
  for (long t = 0; t < rows + b - 1; t++) {
    if (t < rows) {
      contribution(w, set, t, z);
      for (int a = 0; a < np; a++) sum[a] += z[a];
    }
    if (t >= b) {
      contribution(w, set, t - b, z);
      for (int a = 0; a < np; a++) sum[a] -= z[a];
    }
    add_square(np, wide * wide / (double)b, sum, V);
  }
  w->f->window = b > w->f->window ? b : w->f->window;
}

// --- By a process of higher order ---------------------------------------------------------------------------------

enum { MOST_ORDER = 100 };
typedef struct process {
  int order;
  double a[MOST_ORDER];  // e_t = sum_j a[j - 1] e_(t-j) + n_t
  double variance;       // of n
} process;

// Levinson's and Durbin's recursion over all orders up to `most`; the one of least AIC stays.
static process fit_process(const double *covariance, int most, double rows) {
  process now = {.variance = covariance[0]}, best = now;
  double least = rows * log(now.variance);
  for (int p = 1; p <= most; p++) {
    double last[MOST_ORDER], sum = covariance[p];
    memcpy(last, now.a, sizeof last);
    for (int i = 1; i < p; i++) sum -= last[i - 1] * covariance[p - i];
    double reflection = sum / now.variance;
    // With samples missing the covariances need not be those of any process.
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

// The covariances of a series at the lags 0 to most, from the pairs that are there.
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

// n_t enters e_t, e_(t+1), ...: what it adds to the parameters, g_t = gain_t + sum_j a_j g_(t+j), is found from the end
// backwards, and on before the first row until nothing is left. ring: order + 1 of np.
static void add_process(const od_fit_work *w, int set, int i, const double *e, const process *p, double *V,
                        double *ring) {
  int np = w->np, size = p->order + 1;
  long rows = w->f->data[set]->fitted;
  double largest = 0;
  memset(ring, 0, (size_t)(size * np) * sizeof *ring);
  for (long t = rows - 1; t > -rows; t--) {
    double *g = ring + ((t + rows) % size) * np, length = 0;
    memset(g, 0, (size_t)np * sizeof *g);
    if (t >= 0 && !isnan(e[t])) add_gain(w, set, t, i, 1, g);
    for (int j = 1; j <= p->order; j++) {
      const double *later = ring + ((t + rows + j) % size) * np;
      for (int a = 0; a < np; a++) g[a] += p->a[j - 1] * later[a];
    }
    add_square(np, p->variance, g, V);
    for (int a = 0; a < np; a++) length += fabs(g[a]) / sqrt(V[a * (np + 1)] + DBL_MIN);
    largest = fmax(largest, length);
    if (t < 0 && length < 1e-4 * largest) break;
  }
}

static od_status add_processes(od_fit_work *w, int set, double *V, od_error *err) {
  long rows = w->f->data[set]->fitted;
  double *e = malloc(((size_t)rows + (size_t)(MOST_ORDER + 2) * (size_t)w->np) * sizeof *e);
  if (!e) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < w->ns && od_fit_keeps_going(w); i++) {
    double covariance[MOST_ORDER + 1] = {0};
    for (long k = 0; k < rows; k++) {
      double r = od_fit_residual(w, set, k, i);
      e[k] = isnan(r) ? r : weighed(w, r);
    }
    int most = (int)fmin(fmin(10 * log10((double)rows), (double)rows / 4), MOST_ORDER);
    double present = find_covariances(w, e, rows, most, covariance);
    if (!od_fit_keeps_going(w) || !(covariance[0] > 0) || !isfinite(covariance[0])) continue;
    process p = fit_process(covariance, most, present);
    add_process(w, set, i, e, &p, V, e + rows);
  }
  free(e);
  return OD_OK;
}

// --- Results ------------------------------------------------------------------------------------------------------

// Never less than what white residuals would leave; what a bound or a constraint fixes has none.
static double larger(double white, double wide) {
  return isfinite(white) && white > 0 && wide > white ? wide : white;
}

// The larger variance of two ways to find it, for a change of the parameters.
static double variance_along(int np, const double *V, const double *gradient) {
  double variances[2] = {0};
  for (int way = 0; way < 2; way++)
    for (int i = 0; i < np; i++)
      for (int j = 0; j < np; j++) variances[way] += gradient[i] * V[(way * np + i) * np + j] * gradient[j];
  return fmax(fmax(variances[0], variances[1]), 0);
}

// Correlations of the errors: of the way that finds the larger variances.
static double correlation(const od_fit_work *w, const double *V, int i, int j) {
  const od_ls_result *r = w->f->search;
  int np = w->np;
  double white = r->covariance[i * w->n + j] / (r->sigma[i] * r->sigma[j]);
  if (!w->f->widened || isnan(white)) return white;
  double larger_part = 0;
  for (int a = 0; a < np; a++) larger_part += V[a * (np + 1)] > V[np * np + a * (np + 1)] ? 1 : -1;
  const double *its = larger_part >= 0 ? V : V + np * np;
  return its[i * np + j] / sqrt(its[i * (np + 1)] * its[j * (np + 1)]);
}

// V: by windows, then by processes.
static void keep(od_fit_work *w, const double *V, double *gradient) {
  const od_fit_plan *plan = w->plan;
  const od_ls_result *r = w->f->search;
  od_fitted *f = w->f;
  int np = w->np;
  for (int i = 0; i < np; i++) {
    memset(gradient, 0, (size_t)np * sizeof *gradient);
    gradient[i] = 1;
    f->sigma_white[i] = r->sigma[i];
    f->sigma_coloured[i] = larger(r->sigma[i], sqrt(variance_along(np, V, gradient)));
    f->sigma[i] = f->widened ? f->sigma_coloured[i] : f->sigma_white[i];
    for (int j = 0; j < np; j++) f->correlation[i * np + j] = correlation(w, V, i, j);
  }
  for (int c = 0; c < plan->combinations; c++) {
    od_combination_value(&plan->combination[c], np, r->x, gradient);
    f->combination_white[c] = f->combination_bound[c] * sqrt(r->variance);
    f->combination_coloured[c] = larger(f->combination_white[c], sqrt(variance_along(np, V, gradient)));
    f->combination_sigma[c] = f->widened ? f->combination_coloured[c] : f->combination_white[c];
  }
}

od_status od_fit_find_sigmas(od_fit_work *w, od_error *err) {
  const od_ls_result *r = w->f->search;
  size_t np = (size_t)w->np;
  double *V = calloc(2 * np * np + 5 * np + 1, sizeof *V);
  if (!V) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  double *memory = V + 2 * np * np, *gradient = memory + 4 * np;
  od_status status = OD_OK;
  for (int set = 0; set < w->f->sets && w->influence && status == OD_OK; set++) {
    if (w->f->data[set]->fitted == 0) continue;
    add_windows(w, set, V, memory);
    status = add_processes(w, set, V + np * np, err);
  }
  for (size_t i = 0; i < 2 * np * np && r->freedom > 0; i++) V[i] *= (double)r->m / r->freedom;
  w->f->widened = w->influence && any_is_coloured(w->f);
  if (status == OD_OK) keep(w, V, gradient);
  free(V);
  return status;
}
