// Relaxed vector fitting (Gustavsen and Semlyen 1999, Gustavsen 2006), with poles that all outputs share.
//
// For given poles a_m, linear least squares gives sigma = sum c~_m/(s - a_m) + d~ and the product sigma H = sum c_m/(s - a_m) + d.
// The poles of H are then the zeros of sigma. These zeros become the a_m of the next iteration. Relaxed: the mean of the real part
// of sigma over the points is one. This condition prevents sigma = 0 and leaves d~ free, so that noise does not shift the poles
// inwards. Poles with a positive real part are mirrored to the left. Finally the residues are computed with fixed poles. The result
// is the iteration with the best fit, from two choices of initial poles.
//
// The variable is s divided by the highest frequency. A pair of poles is stored as the pole with the positive imaginary part,
// followed by its conjugate. The two basis functions of a pair are real combinations, so that all unknowns are real.
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "frequency/transfer.h"

enum { ITERATIONS = 60, PATIENCE = 15 };  // limits: iterations, and iterations without a better fit

static const double least_constant = 1e-8;  // smallest magnitude of the constant d~ of sigma
static const double settled =
    1e-13;  // the iteration ends if the relative change of the poles, or the error, is below this limit

typedef struct fit {
  const od_frf *f;
  const od_transfer_options *o;
  int n, own;  // order; number of unknowns of an output: residues, optionally a constant
  double _Complex pole[OD_TRANSFER_MOST];
  double *a, *b, *tau;      // matrix of one output, and its work arrays
  double *stacked, *right;  // rows of all outputs for sigma
  double *copy;
  double *x;  // outputs x own: residues and constants for the current poles
} fit;

// Writes the values of the n basis functions at s to phi[0] to phi[n - 1], and 1 to phi[n].
static void basis(const fit *v, double _Complex s, double _Complex *phi) {
  for (int m = 0; m < v->n; m++) {
    double _Complex p = v->pole[m], first = 1 / (s - p);
    if (cimag(p) == 0) {
      phi[m] = first;
      continue;
    }
    double _Complex second = 1 / (s - conj(p));
    phi[m] = first + second;
    phi[m + 1] = (first - second) * _Complex_I;
    m++;
  }
  phi[v->n] = 1;
}

static double _Complex point(const fit *v, int i) {
  return v->f->frequency[i] / v->f->frequency[v->f->points - 1] * _Complex_I;
}

// Writes real and imaginary part to two rows of a column-major matrix.
static void put(double *a, int rows, int column, int row, double _Complex value) {
  a[(size_t)column * (size_t)rows + (size_t)row] = creal(value);
  a[(size_t)column * (size_t)rows + (size_t)row + 1] = cimag(value);
}

// --- First poles --------------------------------------------------------------------------------------------------

// Sets the initial poles: weakly damped pairs over the band of the data, in equal ratios or at equal distances. For an odd order
// one pole is real.
static void begin(fit *v, bool by_ratio) {
  const od_frf *f = v->f;
  int pairs = v->n / 2, at = 0;
  double low = f->frequency[0] > 0 ? f->frequency[0] : f->frequency[1], high = f->frequency[f->points - 1];
  if (v->n % 2) v->pole[at++] = -sqrt(low / high);
  for (int i = 0; i < pairs; i++) {
    double part = pairs == 1 ? 0.5 : (double)i / (pairs - 1);
    double size = by_ratio ? exp((1 - part) * log(low / high)) : low / high + part * (1 - low / high);
    v->pole[at] = size * (-0.01 + _Complex_I);
    v->pole[at + 1] = conj(v->pole[at]);
    at += 2;
  }
}

// --- Sigma --------------------------------------------------------------------------------------------------------

// Computes the rows for sigma from the triangular factor of an output: n + 1 rows of n + 1 columns. Returns false if
// LAPACK fails.
static bool add_output(fit *v, int output, double *to, int to_rows) {
  const od_frf *f = v->f;
  int rows = 2 * f->points, n = v->n, columns = v->own + n + 1;
  double _Complex phi[OD_TRANSFER_MOST + 1];
  for (int i = 0; i < f->points; i++) {
    basis(v, point(v, i), phi);
    double weight = od_transfer_weight(f, v->o, output, i);
    double _Complex h = f->value[output * f->points + i];
    for (int m = 0; m < v->own; m++) put(v->a, rows, m, 2 * i, weight * phi[m]);
    for (int m = 0; m <= n; m++) put(v->a, rows, v->own + m, 2 * i, -weight * h * phi[m]);
  }
  if (LAPACKE_dgeqrf(LAPACK_COL_MAJOR, rows, columns, v->a, rows, v->tau) != 0) return false;
  for (int j = 0; j <= n; j++)
    for (int i = 0; i <= n; i++)
      to[(size_t)j * (size_t)to_rows + (size_t)i] =
          i <= j && v->own + i < rows ? v->a[(size_t)(v->own + j) * (size_t)rows + (size_t)(v->own + i)] : 0;
  return true;
}

// Adds the row for the sum of sigma's real parts, with the weight of all other rows together.
static void add_relaxation(fit *v, double *to, int to_rows) {
  const od_frf *f = v->f;
  double _Complex phi[OD_TRANSFER_MOST + 1];
  double squares = 0;
  for (int k = 0; k < f->outputs; k++)
    for (int i = 0; i < f->points; i++)
      squares += pow(od_transfer_weight(f, v->o, k, i) * cabs(f->value[k * f->points + i]), 2);
  double weight = sqrt(squares) / f->points;
  for (int j = 0; j <= v->n; j++) to[(size_t)j * (size_t)to_rows] = 0;
  for (int i = 0; i < f->points; i++) {
    basis(v, point(v, i), phi);
    for (int j = 0; j <= v->n; j++) to[(size_t)j * (size_t)to_rows] += weight * creal(phi[j]);
  }
  v->right[to_rows - 1] = weight * f->points;
}

// Computes sigma: c~ (n) and d~. If |d~| is below least_constant, d~ is fixed at this value. Returns false if the
// least-squares problem cannot be solved.
static bool find_sigma(fit *v, double *sigma) {
  int n = v->n, rows = v->f->outputs * (n + 1) + 1;
  memset(v->right, 0, (size_t)rows * sizeof *v->right);
  for (int k = 0; k < v->f->outputs; k++)
    if (!add_output(v, k, v->stacked + k * (n + 1), rows)) return false;
  add_relaxation(v, v->stacked + rows - 1, rows);
  memcpy(v->copy, v->stacked, (size_t)rows * (size_t)(n + 1) * sizeof *v->copy);
  if (!od_scaled_least_squares(rows, n + 1, v->copy, v->right, sigma)) return false;
  if (fabs(sigma[n]) >= least_constant) return true;
  sigma[n] = sigma[n] < 0 ? -least_constant : least_constant;
  for (int i = 0; i < rows - 1; i++) v->right[i] = -sigma[n] * v->stacked[(size_t)n * (size_t)rows + (size_t)i];
  v->right[rows - 1] = 0;
  memcpy(v->copy, v->stacked, (size_t)rows * (size_t)n * sizeof *v->copy);
  for (int j = 0; j < n; j++) v->copy[(size_t)j * (size_t)rows + (size_t)rows - 1] = 0;
  return od_scaled_least_squares(rows, n, v->copy, v->right, sigma);
}

// --- Poles --------------------------------------------------------------------------------------------------------

// Replaces the poles with the zeros of sigma, mirrored to the left. *change: largest relative change of a pole. Returns
// false if the zeros cannot be computed.
static bool move_poles(fit *v, const double *sigma, double *change) {
  int n = v->n;
  double m[OD_TRANSFER_MOST * OD_TRANSFER_MOST] = {0}, real[OD_TRANSFER_MOST], imaginary[OD_TRANSFER_MOST];
  for (int i = 0; i < n; i++) {
    double _Complex p = v->pole[i];
    bool pair = cimag(p) != 0;
    m[i * n + i] = creal(p);
    if (pair) {
      m[i * n + i + 1] = cimag(p);
      m[(i + 1) * n + i] = -cimag(p);
      m[(i + 1) * n + i + 1] = creal(p);
    }
    for (int j = 0; j < n; j++) {
      m[i * n + j] -= (pair ? 2 : 1) * sigma[j] / sigma[n];
      if (!isfinite(m[i * n + j])) return false;
    }
    i += pair;
  }
  if (LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', n, m, n, real, imaginary, NULL, n, NULL, n) != 0) return false;
  *change = 0;
  for (int i = 0; i < n; i++) {
    double left = real[i] == 0 ? -1e-12 * fmax(fabs(imaginary[i]), 1e-3) : -fabs(real[i]), nearest = INFINITY;
    double _Complex moved = left + imaginary[i] * _Complex_I;
    for (int j = 0; j < n; j++) nearest = fmin(nearest, cabs(v->pole[j] - moved));
    *change = fmax(*change, nearest / cabs(moved));
    real[i] = left;
  }
  // LAPACK returns the poles of a pair next to each other, the positive imaginary part first.
  for (int i = 0; i < n; i++) v->pole[i] = real[i] + imaginary[i] * _Complex_I;
  return true;
}

// --- Residues -----------------------------------------------------------------------------------------------------

// Computes residues and constants for the current poles. *error: residual relative to the data. Returns false if the
// fit fails, or if the error is not finite.
static bool find_residues(fit *v, double *error) {
  const od_frf *f = v->f;
  int rows = 2 * f->points;
  double left = 0, all = 0;
  double _Complex phi[OD_TRANSFER_MOST + 1];
  for (int k = 0; k < f->outputs; k++) {
    double *x = v->x + k * v->own;
    for (int i = 0; i < f->points; i++) {
      double _Complex h = od_transfer_weight(f, v->o, k, i) * f->value[k * f->points + i];
      basis(v, point(v, i), phi);
      for (int m = 0; m < v->own; m++) put(v->a, rows, m, 2 * i, od_transfer_weight(f, v->o, k, i) * phi[m]);
      put(v->b, rows, 0, 2 * i, h);
      all += pow(cabs(h), 2);
    }
    if (!od_scaled_least_squares(rows, v->own, v->a, v->b, x)) return false;
    for (int i = 0; i < f->points; i++) {
      double _Complex sum = -f->value[k * f->points + i];
      basis(v, point(v, i), phi);
      for (int m = 0; m < v->own; m++) sum += x[m] * phi[m];
      left += pow(od_transfer_weight(f, v->o, k, i) * cabs(sum), 2);
    }
  }
  *error = all > 0 ? sqrt(left / all) : 0;
  return isfinite(*error);
}

// Stores the current poles and residues as a transfer function.
static void store(const fit *v, od_transfer *t) {
  memcpy(t->pole, v->pole, sizeof t->pole);
  for (int k = 0; k < t->outputs; k++) {
    const double *x = v->x + k * v->own;
    double _Complex *r = t->residue + k * t->order;
    t->direct[k] = v->own > v->n ? x[v->n] : 0;
    for (int m = 0; m < v->n; m++) {
      bool pair = cimag(v->pole[m]) != 0;
      r[m] = t->scale * (pair ? x[m] + x[m + 1] * _Complex_I : x[m]);
      if (pair) r[m + 1] = conj(r[m]), m++;
    }
  }
  for (int i = 0; i < t->order; i++) t->pole[i] *= t->scale;
}

// Iterates from one choice of initial poles. Stores the best result in t if it is better than *best. Returns false if no
// iteration succeeded.
static bool iterate(fit *v, bool by_ratio, od_transfer *t, double *best) {
  double sigma[OD_TRANSFER_MOST + 1], change = 1, error = 0;
  int most = v->o->iterations > 0 ? v->o->iterations : ITERATIONS;
  bool any = false;
  begin(v, by_ratio);
  for (int i = 0, last = 0; i < most && i - last < PATIENCE && change > settled; i++) {
    if (!find_sigma(v, sigma) || !move_poles(v, sigma, &change) || !find_residues(v, &error)) break;
    any = true;
    t->iterations++;
    if (error >= *best) continue;
    if (error < 0.999 * *best) last = i;
    *best = error;
    store(v, t);
    if (error < settled) break;
  }
  return any;
}

od_status od_vector_fit(const od_frf *f, const od_transfer_options *options, od_transfer *t, od_error *err) {
  OD_SCRATCH(scratch);
  long outputs = f->outputs, n = options->order, rows = 2L * f->points;
  long all = outputs * (n + 1) + 1, columns = 2 * (n + 1), most = rows > columns ? rows : columns;
  fit v = {.f = f,
           .o = options,
           .n = options->order,
           .own = options->zeros + 1,
           .a = OD_TAKE(&scratch, double, rows *columns),
           .b = OD_TAKE(&scratch, double, most),
           .tau = OD_TAKE(&scratch, double, most),
           .stacked = OD_TAKE(&scratch, double, all *(n + 1)),
           .copy = OD_TAKE(&scratch, double, all *(n + 1)),
           .right = OD_TAKE(&scratch, double, all),
           .x = OD_TAKE(&scratch, double, outputs *(n + 1))};
  t->residue = OD_TAKE(&t->arena, double _Complex, outputs *n);
  t->direct = OD_TAKE(&t->arena, double, outputs);
  if (od_arena_status(&scratch) != OD_OK || od_arena_status(&t->arena) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  double best = INFINITY;
  bool first = iterate(&v, true, t, &best);
  bool second = best > settled && iterate(&v, false, t, &best);
  if (!first && !second)
    return od_fail(err, OD_NOT_CONVERGED,
                   "vector fitting of order %d failed; give a lower "
                   "--order or another --method",
                   options->order);
  t->unstable = 0;
  for (int i = 0; i < t->order; i++) t->unstable += creal(t->pole[i]) >= 0;
  od_transfer_expand(t);
  return OD_OK;
}
