#include "logs/log_lag.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_VALUES = 16, MOST_POINTS = 16384, MOST_LAGS = 4096 };

// Both signals on a uniform grid. NAN: no value.
typedef struct grid {
  double begin, step;
  long points;
  double *a, *b;
} grid;

// Interpolates a signal at the points of the grid, and subtracts a straight line. Returns false if the signal is constant or has
// fewer than LEAST_VALUES values, in the log or on the grid.
static bool interpolate(const double *time, const double *x, long rows, const grid *g, double *out) {
  long before = -1, after = 0, count = 0;
  double mean_t = 0, mean_x = 0, tt = 0, tx = 0, least = INFINITY, most = -INFINITY;
  for (long i = 0; i < rows; i++)
    if (isfinite(x[i])) count++, least = fmin(least, x[i]), most = fmax(most, x[i]);
  if (count < LEAST_VALUES || !(most > least)) return false;
  long values = 0;
  for (long k = 0; k < g->points; k++) {
    double t = g->begin + (double)k * g->step;
    for (; after < rows && (!isfinite(x[after]) || time[after] < t); after++)
      if (isfinite(x[after])) before = after;
    out[k] = NAN;
    if (after == rows) continue;
    if (time[after] == t)
      out[k] = x[after];
    else if (before >= 0)
      out[k] = x[before] + (x[after] - x[before]) * (t - time[before]) / (time[after] - time[before]);
    if (isnan(out[k])) continue;
    values++;
    mean_t += ((double)k - mean_t) / (double)values;
    mean_x += (out[k] - mean_x) / (double)values;
  }
  if (values < LEAST_VALUES) return false;
  for (long k = 0; k < g->points; k++)
    if (!isnan(out[k]))
      tt += ((double)k - mean_t) * ((double)k - mean_t), tx += ((double)k - mean_t) * (out[k] - mean_x);
  for (long k = 0; k < g->points; k++) out[k] -= mean_x + tx / tt * ((double)k - mean_t);
  return true;
}

// Returns the correlation at a lag of `shift` points; 0: fewer than LEAST_VALUES pairs, or one of the signals is zero in all pairs.
// *pairs (may be NULL) receives the number of pairs.
static double correlation(const grid *g, long shift, long *pairs) {
  double ab = 0, aa = 0, bb = 0;
  long count = 0;
  for (long i = shift < 0 ? -shift : 0; i < g->points && i + shift < g->points; i++) {
    double a = g->a[i], b = g->b[i + shift];
    if (isnan(a) || isnan(b)) continue;
    ab += a * b, aa += a * a, bb += b * b;
    count++;
  }
  if (pairs) *pairs = count;
  return count >= LEAST_VALUES && aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

// Returns omega (log_lag.h): the root of the ratio of the mean squares of slope and value, 1/s.
static double bandwidth(const grid *g) {
  double slopes = 0, squares = 0;
  for (long k = 1; k < g->points; k++) {
    if (isnan(g->a[k]) || isnan(g->a[k - 1])) continue;
    slopes += (g->a[k] - g->a[k - 1]) * (g->a[k] - g->a[k - 1]);
    squares += g->a[k] * g->a[k];
  }
  return squares > 0 ? sqrt(slopes / squares) / g->step : 0;
}

od_status od_lag_find(const double *time, const double *a, const double *b, long rows, double most, bool *found,
                      od_lag *out) {
  OD_SCRATCH(scratch);
  *out = (od_lag){0};
  *found = false;
  if (rows < LEAST_VALUES) return OD_OK;
  double length = time[rows - 1] - time[0];
  grid g = {.begin = time[0], .points = rows < MOST_POINTS ? rows : MOST_POINTS};
  g.step = length / (double)(g.points - 1);
  g.a = OD_TAKE(&scratch, double, g.points);
  g.b = OD_TAKE(&scratch, double, g.points);
  if (!g.a || !g.b) return OD_NO_MEMORY;
  *found = length > 0 && interpolate(time, a, rows, &g, g.a) && interpolate(time, b, rows, &g, g.b);
  if (!*found) return OD_OK;
  double limit = fmin(most > 0 ? most : length / 4, length / 2);
  long lags = (long)fmin(ceil(limit / g.step), MOST_LAGS), best = 0, pairs = 0;
  out->at_zero = correlation(&g, 0, NULL);
  double largest = -1;
  for (long k = -lags; k <= lags; k++) {
    double r = fabs(correlation(&g, k, NULL));
    if (r > largest) largest = r, best = k;
  }
  double middle = correlation(&g, best, &pairs), sign = middle < 0 ? -1 : 1, shift = 0;
  double left = sign * correlation(&g, best - 1, NULL), right = sign * correlation(&g, best + 1, NULL);
  middle = fabs(middle);
  double curvature = left - 2 * middle + right;
  if (curvature < 0) shift = fmax(-0.5, fmin(0.5, (left - right) / (2 * curvature)));
  out->is_at_edge = labs(best) == lags;
  out->lag = ((double)best + shift) * g.step;
  // Value of the parabola at its top.
  middle = fmin(1, middle - (left - right) * shift / 4);
  out->correlation = sign * middle;
  double omega = bandwidth(&g);
  out->sigma = middle > 0 && omega > 0 && pairs > 0
                   ? sqrt(fmax(0, 1 - middle * middle) / (middle * middle * (double)pairs)) / omega
                   : INFINITY;
  return OD_OK;
}
