#include "inverse/local_fit.h"

#include <math.h>
#include <string.h>

#include "io/number.h"
#include "memory/scoped.h"

enum {
  DEGREE = 6,
  MOST_HALF = 500,    // a window has at most 2 * MOST_HALF + 1 rows
  LEAST_HALF = 3,     // half width of the narrowest window (DEGREE + 1 rows), in which polynomials interpolate
  MOST_TRIED = 4000,  // largest number of rows used for cross-validation
  LEAST_TRIED = 8,
  LAGS = 20,  // number of lags of autocorrelations of residuals
};
// Noise is not smoothed if its effect is below this fraction of the largest second derivative.
static const double noise_limit = 0.002;
// Residuals below this fraction of the largest sample are round-off.
static const double rounding_limit = 1e-15;
// Limit of the autocorrelation of residuals. White noise is below this limit. A motion that the polynomials cannot follow is
// above this limit.
static const double correlation_limit = 0.5;

typedef struct fitting {
  const double *t, *y;
  int rows;
  bool uniform;  // whether times are equally spaced, so that the weights of a window do not depend on its position

  // Weights of the `count` samples of a window. The weights give the value, rate and second derivative at row `at` of the window.
  int count, at;
  double weight[3][2 * MOST_HALF + 1];
} fitting;

// Computes the weights of the polynomial's value and derivatives at node `at`: sum over p of P_p(at) P_p(t_j) / |P_p|^2. P_p are
// orthogonal polynomials over the nodes, by Forsythe's recursion.
static void find_weights(fitting *f, const double *t, int count, int at) {
  double x[2 * MOST_HALF + 1], now[2 * MOST_HALF + 1], before[2 * MOST_HALF + 1] = {0};
  double scale = (t[count - 1] - t[0]) / 2, here[3] = {1, 0, 0}, last[3] = {0, 0, 0}, norm_before = 1;
  int degree = count - 1 < DEGREE ? count - 1 : DEGREE;
  for (int j = 0; j < count; j++) x[j] = (t[j] - t[at]) / scale, now[j] = 1;
  memset(f->weight, 0, sizeof f->weight);
  for (int p = 0; p <= degree; p++) {
    double norm = 0, moment = 0;
    for (int j = 0; j < count; j++) norm += now[j] * now[j], moment += x[j] * now[j] * now[j];
    for (int d = 0; d < 3; d++)
      for (int j = 0; j < count; j++) f->weight[d][j] += here[d] * now[j] / norm;
    double shift = moment / norm, back = p > 0 ? norm / norm_before : 0;
    for (int j = 0; j < count; j++) {
      double next = (x[j] - shift) * now[j] - back * before[j];
      before[j] = now[j], now[j] = next;
    }
    // Value and derivatives with respect to x of the next polynomial at x = 0.
    double next[3] = {-shift * here[0] - back * last[0], here[0] - shift * here[1] - back * last[1],
                      2 * here[1] - shift * here[2] - back * last[2]};
    memcpy(last, here, sizeof last);
    memcpy(here, next, sizeof here);
    norm_before = norm;
  }
  for (int j = 0; j < count; j++) f->weight[1][j] /= scale, f->weight[2][j] /= scale * scale;
}

// Evaluates the polynomial of the window around a row at that row: its value, rate and second derivative.
static void fit_at(fitting *f, int row, int half, double out[3]) {
  int count = 2 * half + 1 < f->rows ? 2 * half + 1 : f->rows, first = row - count / 2;
  if (first < 0) first = 0;
  if (first + count > f->rows) first = f->rows - count;
  if (!f->uniform || count != f->count || row - first != f->at) {
    find_weights(f, f->t + first, count, row - first);
    f->count = count, f->at = row - first;
  }
  // Differences from the row's own sample reduce round-off if values are large.
  for (int d = 0; d < 3; d++) {
    double sum = 0;
    for (int j = 0; j < count; j++) sum += f->weight[d][j] * (f->y[first + j] - f->y[row]);
    out[d] = sum + (d == 0 ? f->y[row] : 0);
  }
}

// Returns the standard deviation of the second derivative of the last polynomial due to noise of the samples, divided
// by the standard deviation of this noise.
static double gain(const fitting *f) {
  double sum = 0;
  for (int j = 0; j < f->count; j++) sum += f->weight[2][j] * f->weight[2][j];
  return sqrt(sum);
}

typedef struct trial {
  double error;     // root mean square of the differences between samples and polynomials fitted to the other samples
  double noise;     // standard deviation of the samples' noise, from the median of residuals, which is insensitive to
                    // single kinks of the motion
  double residual;  // root mean square of residuals
  double pattern;   // largest autocorrelation of residuals
  int tried;
} trial;

// Evaluates a window by leave-one-out cross-validation: a residual divided by (1 - leverage) is the difference between a sample
// and the polynomial fitted to the other samples. Uses the rows with centered windows, except rows at rest, where all samples
// of the window are equal. Returns false if out of memory.
static bool try_window(fitting *f, int half, trial *out) {
  *out = (trial){0};
  int inner = f->rows - 2 * half, stride = inner / MOST_TRIED + 1, lags = 0, at_rest = 0;
  if (inner < LEAST_TRIED) return true;
  OD_SCRATCH(scratch);
  double *size = OD_TAKE(&scratch, double, inner / stride + 1), squares = 0, residuals = 0, largest = 0;
  double recent[LAGS] = {0}, product[LAGS] = {0};
  if (!size) return false;
  for (int i = half; i < f->rows - half; i += stride) largest = fmax(largest, fabs(f->y[i]));
  for (int i = half; i < f->rows - half; i++) {
    // Autocorrelations need neighboring rows, so blocks of rows are used instead of single rows.
    if (stride > 1 && (i - half) / 64 % stride != 0) continue;
    double at[3];
    fit_at(f, i, half, at);
    double residual = f->y[i] - at[0], leverage = f->weight[0][f->at];
    if (!(fabs(residual) > rounding_limit * largest) || !(leverage < 1 - 1e-9)) residual = 0;
    for (int k = 0; k < LAGS && k < lags; k++) product[k] += residual * recent[k];
    memmove(recent + 1, recent, (LAGS - 1) * sizeof *recent);
    recent[0] = residual;
    lags++;
    if (residual == 0 && at[1] == 0 && at[2] == 0) {
      at_rest++;
      continue;
    }
    squares += pow(residual / (1 - leverage), 2), residuals += residual * residual;
    if (out->tried < inner / stride + 1) size[out->tried++] = fabs(residual) / sqrt(1 - leverage);
  }
  // If only rows near one jump are not at rest, all residuals are due to the jump.
  if (at_rest > 0 && out->tried < 3 * (2 * half + 1)) out->tried = 0;
  if (out->tried >= LEAST_TRIED) {
    od_numbers_sort(size, out->tried);
    out->noise = 1.4826 * size[out->tried / 2];
    out->error = sqrt(squares / out->tried);
    out->residual = sqrt(residuals / out->tried);
    double sum = 0.5;
    for (int k = 0; k < LAGS && residuals > 0; k++) {
      out->pattern = fmax(out->pattern, fabs(product[k]) / residuals);
      sum += product[k] / residuals;
    }
    // Noise that is correlated between rows, such as noise due to a coarse resolution, averages out less in a window.
    out->noise *= sqrt(fmax(1, 2 * sum));
  }
  return true;
}

// Chooses the widest window whose error is not significantly larger than the smallest error. Wider windows have less noise in
// second derivatives. Returns false if out of memory.
static bool choose_window(fitting *f, int *half, trial *best) {
  double least = INFINITY;
  trial now;
  for (int h = LEAST_HALF + 1; h <= MOST_HALF && 4 * h<f->rows; h += h / 5> 1 ? h / 5 : 1) {
    if (!try_window(f, h, &now)) return false;
    if (now.tried < LEAST_TRIED || now.error > 3 * least) break;
    least = fmin(least, now.error);
    if (now.error <= least * (1 + 0.35 / sqrt(now.tried))) *half = h, *best = now;
  }
  return true;
}

static bool are_uniform(const double *t, int rows) {
  double h = (t[rows - 1] - t[0]) / (rows - 1);
  for (int i = 0; i < rows; i++)
    if (!(fabs(t[i] - (t[0] + i * h)) <= 1e-9 * h)) return false;
  return true;
}

// Returns the standard deviation of the samples about their mean.
static double deviation(const double *y, int rows) {
  double mean = 0, squares = 0;
  for (int i = 0; i < rows; i++) mean += (y[i] - mean) / (i + 1);
  for (int i = 0; i < rows; i++) squares += (y[i] - mean) * (y[i] - mean);
  return sqrt(squares / rows);
}

typedef struct fitted {
  int window;
  double gain, end_gain;  // gain of noise in the second derivative of a middle row, and of the first row
  double end_difference;  // largest difference between the second derivatives of two windows at the ends
} fitted;

// Fits the local polynomials of all rows.
static void fit_all(fitting *f, int half, double *value, double *rate, double *second, fitted *out) {
  *out = (fitted){0};
  for (int i = 0; i < f->rows; i++) {
    double at[3];
    fit_at(f, i, half, at);
    value[i] = at[0], rate[i] = at[1], second[i] = at[2];
    if (i == 0) out->end_gain = gain(f);
    if (i == f->rows / 2) out->gain = gain(f);
  }
  out->window = f->count;
  // The difference from the result of a window of another width estimates the error at the ends.
  int other = half > LEAST_HALF ? half - (half > 9 ? half / 3 : 1) : LEAST_HALF + 1;
  const int end[] = {0, f->rows - 1};
  for (int k = 0; k < 2; k++) {
    double at[3];
    fit_at(f, end[k], other, at);
    out->end_difference = fmax(out->end_difference, fabs(at[2] - second[end[k]]));
  }
}

// Returns half the width of a window, in rows. The polynomials of this window transmit half of the power of a sine of the frequency
// low_pass (Hz; Schafer 2011).
static int half_of(const double *t, int rows, double low_pass) {
  double per_second = (rows - 1) / (t[rows - 1] - t[0]);
  double half = round(((DEGREE + 1) * per_second / (2 * low_pass) + 4.6) / 3.2);
  return (int)fmin(fmax(half, LEAST_HALF), MOST_HALF);
}

od_status od_smooth_samples(const double *t, const double *y, int rows, double low_pass, double *value, double *rate,
                            double *second, od_smoothing *out) {
  *out = (od_smoothing){0};
  OD_SCRATCH(scratch);
  fitting *f = OD_TAKE(&scratch, fitting, 1);
  if (!f) return OD_NO_MEMORY;
  *f = (fitting){.t = t, .y = y, .rows = rows, .uniform = are_uniform(t, rows)};
  int half = low_pass > 0 ? half_of(t, rows, low_pass) : LEAST_HALF;
  double all = deviation(y, rows);
  trial used;
  fitted fit;
  if (!try_window(f, half > LEAST_HALF ? half : LEAST_HALF + 1, &used)) return OD_NO_MEMORY;
  fit_all(f, half, value, rate, second, &fit);
  double largest = 0;
  for (int i = 0; i < rows; i++) largest = fmax(largest, fabs(second[i]));
  if (!(low_pass > 0) && used.noise * fit.gain > noise_limit * largest) {
    trial best = used;
    if (!choose_window(f, &half, &best)) return OD_NO_MEMORY;
    // Large residuals with a pattern are motion that the samples do not resolve. These residuals are not smoothed.
    bool is_motion = best.residual > 0.1 * all && best.pattern > correlation_limit;
    // The narrowest window of the cross-validation is not used, because interpolation may be better.
    if (half > LEAST_HALF + 1 && !is_motion) {
      fit_all(f, half, value, rate, second, &fit);
      out->chosen = true;
      used = best;
    }
  }
  out->window = fit.window;
  out->noise = used.noise * fit.gain;
  out->end_error = fmax(used.noise * fit.end_gain, fit.end_difference);
  out->removed = all > 0 && out->window > DEGREE + 1 ? used.residual / all : 0;
  out->removed_is_noise = used.pattern < correlation_limit;
  return OD_OK;
}
