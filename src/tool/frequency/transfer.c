#include "frequency/transfer.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"

const char *const od_transfer_methods[] = {"levy", "sk", "vf", NULL};

static const double two_pi = 6.283185307179586;
static const double least_error = 1e-9;  // errors below this limit count as zero

od_transfer *od_transfer_new(int order, int outputs, double scale) {
  OD_OWNED(od_transfer_free) od_transfer *t = od_calloc(1, sizeof *t);
  if (!t) return NULL;
  t->order = order;
  t->outputs = outputs;
  t->scale = scale;
  t->numerator = od_arena_take_array(&t->arena, outputs, sizeof *t->numerator);
  return t->numerator ? OD_GIVE(t) : NULL;
}

void od_transfer_free(od_transfer *t) {
  if (!t) return;
  od_arena_free(&t->arena);
  od_free(t);
}

static double _Complex polynomial(int degree, const double *coefficient, double _Complex x) {
  double _Complex sum = 0;
  for (int i = degree; i >= 0; i--) sum = sum * x + coefficient[i];
  return sum;
}

double _Complex od_transfer_value(const od_transfer *t, int output, double frequency) {
  double _Complex s = two_pi * frequency * _Complex_I;
  if (!t->residue)
    return polynomial(t->order, t->numerator[output], s / t->scale) /
           polynomial(t->order, t->denominator, s / t->scale);
  double _Complex sum = t->direct[output];
  for (int i = 0; i < t->order; i++) sum += t->residue[output * t->order + i] / (s - t->pole[i]);
  return sum;
}

double od_transfer_amplitude_fit(const od_transfer *t, const od_frf *f, int output) {
  const double _Complex *value = f->value + output * f->points;
  double mean = 0, left = 0, all = 0;
  for (int i = 0; i < f->points; i++) mean += cabs(value[i]) / f->points;
  for (int i = 0; i < f->points; i++) {
    double amplitude = cabs(value[i]), off = amplitude - cabs(od_transfer_value(t, output, f->frequency[i]));
    left += off * off;
    all += (amplitude - mean) * (amplitude - mean);
  }
  return all > 0 ? 100 * (1 - sqrt(left / all)) : (double)NAN;
}

double od_transfer_error(const od_transfer *t, const od_frf *f) {
  double sum = 0;
  for (int k = 0; k < f->outputs; k++) {
    double left = 0, all = 0;
    for (int i = 0; i < f->points; i++) {
      double _Complex value = f->value[k * f->points + i];
      left += pow(cabs(value - od_transfer_value(t, k, f->frequency[i])), 2);
      all += pow(cabs(value), 2);
    }
    sum += all > 0 ? left / all : 0;
  }
  return sqrt(sum / f->outputs);
}

// --- Poles --------------------------------------------------------------------------------------------------------

// Computes the eigenvalues of the companion matrix, which LAPACK balances. Returns false if a quotient of a coefficient and the highest coefficient
// is not finite, or if LAPACK does not find all eigenvalues.
bool od_transfer_roots(int degree, const double *coefficient, double scale, double _Complex *root) {
  double companion[OD_TRANSFER_MOST * OD_TRANSFER_MOST] = {0}, real[OD_TRANSFER_MOST], imaginary[OD_TRANSFER_MOST];
  if (degree == 0) return true;
  for (int i = 0; i < degree; i++) {
    companion[i * degree + degree - 1] = -coefficient[i] / coefficient[degree];
    if (i > 0) companion[i * degree + i - 1] = 1;
    if (!isfinite(companion[i * degree + degree - 1])) return false;
  }
  if (LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', degree, companion, degree, real, imaginary, NULL, degree, NULL, degree))
    return false;
  for (int i = 0; i < degree; i++) root[i] = scale * (real[i] + imaginary[i] * _Complex_I);
  return true;
}

// Compares poles by magnitude, for qsort(). The poles of a pair, which are exact conjugates, are adjacent, the positive
// imaginary part first.
static int compare_poles(const void *a, const void *b) {
  double _Complex p = *(const double _Complex *)a, q = *(const double _Complex *)b;
  if (creal(p) == creal(q) && cimag(p) == -cimag(q)) return cimag(p) > cimag(q) ? -1 : cimag(p) < cimag(q);
  double size_p = cabs(p), size_q = cabs(q);
  if (size_p != size_q) return size_p < size_q ? -1 : 1;
  return creal(p) < creal(q) ? -1 : creal(p) > creal(q);
}

void od_transfer_order_poles(od_transfer *t) {
  qsort(t->pole, (size_t)t->order, sizeof *t->pole, compare_poles);
  t->unstable = 0;
  for (int i = 0; i < t->order; i++) t->unstable += creal(t->pole[i]) >= 0;
}

static void multiply_root(double _Complex *c, int degree, double _Complex root) {
  c[degree + 1] = c[degree];
  for (int i = degree; i > 0; i--) c[i] = c[i - 1] - root * c[i];
  c[0] *= -root;
}

void od_transfer_expand(od_transfer *t) {
  int n = t->order;
  double _Complex all[OD_TRANSFER_MOST + 2] = {1};
  for (int i = 0; i < n; i++) multiply_root(all, i, t->pole[i] / t->scale);
  for (int i = 0; i <= n; i++) t->denominator[i] = creal(all[i]);
  for (int k = 0; k < t->outputs; k++) {
    for (int i = 0; i <= n; i++) t->numerator[k][i] = t->direct[k] * t->denominator[i];
    for (int j = 0; j < n; j++) {
      double _Complex others[OD_TRANSFER_MOST + 2] = {1};
      for (int i = 0, degree = 0; i < n; i++)
        if (i != j) multiply_root(others, degree++, t->pole[i] / t->scale);
      for (int i = 0; i < n; i++) t->numerator[k][i] += creal(others[i] * t->residue[k * n + j] / t->scale);
    }
  }
}

// --- Least squares ------------------------------------------------------------------------------------------------

bool od_scaled_least_squares(int rows, int columns, double *a, double *b, double *x) {
  OD_SCRATCH(scratch);
  double *size = OD_TAKE(&scratch, double, columns), *singular = OD_TAKE(&scratch, double, columns);
  lapack_int rank = 0;
  if (od_arena_status(&scratch) != OD_OK) return false;
  for (int j = 0; j < columns; j++) {
    double *column = a + (size_t)j * (size_t)rows, sum = 0;
    for (int i = 0; i < rows; i++) sum += column[i] * column[i];
    size[j] = sum > 0 ? sqrt(sum) : 1;
    if (!isfinite(size[j])) return false;
    for (int i = 0; i < rows; i++) column[i] /= size[j];
  }
  int leading = rows > columns ? rows : columns;
  if (LAPACKE_dgelsd(LAPACK_COL_MAJOR, rows, columns, 1, a, rows, b, leading, singular, -1, &rank) != 0) return false;
  for (int j = 0; j < columns; j++) x[j] = b[j] / size[j];
  return true;
}

double od_transfer_weight(const od_frf *f, const od_transfer_options *o, int output, int point) {
  double size = cabs(f->value[output * f->points + point]);
  return o->by_size && size > 0 ? 1 / size : 1;
}

// --- Fits ---------------------------------------------------------------------------------------------------------

// Checks the conditions that all methods have in common: a valid order, numerators of this degree or one less, more points than the
// order, and finite values. Fails with OD_BAD_INPUT.
static od_status check(const od_frf *f, const od_transfer_options *o, od_error *err) {
  if (o->order < 1 || o->order > OD_TRANSFER_MOST)
    return od_fail(err, OD_BAD_INPUT, "found order %d, expected 1 to %d", o->order, OD_TRANSFER_MOST);
  if (o->zeros != o->order && o->zeros != o->order - 1)
    return od_fail(err, OD_BAD_INPUT, "found a numerator of degree %d, expected %d or %d", o->zeros, o->order - 1,
                   o->order);
  if (f->points < o->order + 1)
    return od_fail(err, OD_BAD_INPUT, "the number of points is %d; order %d needs at least %d points", f->points,
                   o->order, o->order + 1);
  for (int i = 0; i < f->points * f->outputs; i++)
    if (!isfinite(creal(f->value[i])) || !isfinite(cimag(f->value[i])))
      return od_fail(err, OD_BAD_INPUT,
                     "the response at %g Hz is not finite; expected a finite value at each frequency",
                     f->frequency[i % f->points]);
  return OD_OK;
}

// Returns the root mean square of an output's response. This value is the unit of the output, so that outputs have equal weights.
static double size_of(const od_frf *f, int output) {
  double sum = 0;
  for (int i = 0; i < f->points; i++) sum += pow(cabs(f->value[output * f->points + i]), 2);
  return sum > 0 ? sqrt(sum / f->points) : 1;
}

static void multiply(od_transfer *t, int output, double factor) {
  for (int i = 0; i <= t->order; i++) t->numerator[output][i] *= factor;
  for (int i = 0; t->residue && i < t->order; i++) t->residue[output * t->order + i] *= factor;
  if (t->residue) t->direct[output] *= factor;
}

od_status od_transfer_fit(const od_frf *f, const od_transfer_options *options, od_transfer **out, od_error *err) {
  *out = NULL;
  od_status status = check(f, options, err);
  if (status != OD_OK) return status;
  double scale = two_pi * f->frequency[f->points - 1];
  OD_OWNED(od_transfer_free) od_transfer *t = od_transfer_new(options->order, f->outputs, scale);
  OD_OWNED(od_frf_free) od_frf *scaled = od_frf_between(f, -INFINITY, INFINITY);
  if (!t || !scaled) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int k = 0; k < f->outputs; k++) {
    double size = size_of(f, k);
    for (int i = 0; i < f->points; i++) scaled->value[k * f->points + i] /= size;
  }
  status =
      options->method == OD_TRANSFER_VF ? od_vector_fit(scaled, options, t, err) : od_levy_fit(scaled, options, t, err);
  if (status != OD_OK) return status;
  for (int k = 0; k < f->outputs; k++) multiply(t, k, size_of(f, k));
  *out = OD_GIVE(t);
  return OD_OK;
}

// Copies every second point, beginning with the first (`first` 0) or the second point (1). Returns NULL if out of
// memory.
static od_frf *half_of(const od_frf *f, int first) {
  int points = (f->points - first + 1) / 2;
  od_frf *half = od_frf_new(points, f->outputs);
  for (int i = 0; half && i < points; i++) {
    half->frequency[i] = f->frequency[first + 2 * i];
    half->freedom[i] = f->freedom[first + 2 * i];
    for (int k = 0; k < f->outputs; k++) {
      half->value[k * points + i] = f->value[k * f->points + first + 2 * i];
      half->sigma[k * points + i] = f->sigma[k * f->points + first + 2 * i];
    }
  }
  return half;
}

od_status od_transfer_choose(const od_frf *f, const od_transfer_options *options, int low, int high, double *error,
                             int *chosen, od_error *err) {
  OD_OWNED(od_frf_free) od_frf *even = half_of(f, 0);
  OD_OWNED(od_frf_free) od_frf *odd = half_of(f, 1);
  if (!even || !odd) return od_fail(err, OD_NO_MEMORY, "out of memory");
  const od_frf *half[2] = {even, odd};
  od_status last = OD_OK;
  double least = INFINITY;
  for (int order = low; order <= high; order++) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
      od_transfer_options o = *options;
      OD_OWNED(od_transfer_free) od_transfer *t = NULL;
      o.zeros = order - (options->order - options->zeros);
      o.order = order;
      last = od_transfer_fit(half[side], &o, &t, err);
      if (last == OD_NO_MEMORY) return last;
      sum += t ? pow(od_transfer_error(t, half[1 - side]), 2) / 2 : (double)NAN;
    }
    error[order - low] = sqrt(sum);
    if (sqrt(sum) < least) least = sqrt(sum);
  }
  if (isinf(least)) return last;
  least = fmax(least, least_error);
  for (*chosen = low; !(error[*chosen - low] <= 1.05 * least); ++*chosen) continue;
  return OD_OK;
}
