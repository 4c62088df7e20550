// Rational fits N/D to a response H by linear least squares. Levy: minimizes the sum of |N - H D|^2 with D(0) = 1. Sanathanan and Koerner: repeats
// the fit, each time with the differences N - H D divided by the previous |D|. If the fits converge, the sum of |N/D - H|^2 is near its minimum. The
// variable is s divided by the highest frequency. Powers of s itself would differ by too many orders of magnitude for double precision.
#include <math.h>

#include "frequency/transfer.h"

enum { SK_ITERATIONS = 20 };

typedef struct levy {
  const od_frf *f;
  const od_transfer_options *o;
  int rows, columns;
  double *a, *b, *x;
  double *divisor;  // |D| of the previous fit, per point
} levy;

// Fills two rows per point and output: real and imaginary part of the equation w (N - H (D - 1)) = w H, with the weight
// w.
static void fill(levy *l) {
  const od_frf *f = l->f;
  int n = l->o->order, own = l->o->zeros + 1;
  for (int j = 0; j < l->columns * l->rows; j++) l->a[j] = 0;
  for (int k = 0; k < f->outputs; k++)
    for (int i = 0; i < f->points; i++) {
      int row = 2 * (k * f->points + i);
      double _Complex h = f->value[k * f->points + i], s = f->frequency[i] / f->frequency[f->points - 1] * _Complex_I;
      double weight = od_transfer_weight(f, l->o, k, i) / l->divisor[i];
      double _Complex power = weight;
      for (int j = 0; j <= n; j++, power *= s) {
        int column = k * own + j, shared = f->outputs * own + j - 1;
        if (j < own) l->a[column * l->rows + row] = creal(power), l->a[column * l->rows + row + 1] = cimag(power);
        if (j > 0)
          l->a[shared * l->rows + row] = -creal(power * h), l->a[shared * l->rows + row + 1] = -cimag(power * h);
      }
      l->b[row] = weight * creal(h);
      l->b[row + 1] = weight * cimag(h);
    }
}

// Copies the solution to the polynomials of the transfer function.
static void set_polynomials(const levy *l, od_transfer *t) {
  int own = l->o->zeros + 1, shared = t->outputs * own;
  t->denominator[0] = 1;
  for (int j = 1; j <= t->order; j++) t->denominator[j] = l->x[shared + j - 1];
  for (int k = 0; k < t->outputs; k++)
    for (int j = 0; j < own; j++) t->numerator[k][j] = l->x[k * own + j];
}

// Computes |D| at the points. Returns whether |D| still changes.
static bool update_divisor(levy *l, const od_transfer *t) {
  bool changes = false;
  for (int i = 0; i < l->f->points; i++) {
    double _Complex s = l->f->frequency[i] / l->f->frequency[l->f->points - 1] * _Complex_I, d = 0;
    for (int j = t->order; j >= 0; j--) d = d * s + t->denominator[j];
    double size = fmax(cabs(d), 1e-12);
    changes = changes || fabs(size - l->divisor[i]) > 1e-9 * size;
    l->divisor[i] = size;
  }
  return changes;
}

od_status od_levy_fit(const od_frf *f, const od_transfer_options *options, od_transfer *t, od_error *err) {
  OD_SCRATCH(scratch);
  levy l = {.f = f, .o = options, .rows = 2 * f->points * f->outputs};
  l.columns = f->outputs * (options->zeros + 1) + options->order;
  l.a = OD_TAKE_MATRIX(&scratch, double, l.rows, l.columns);
  l.b = OD_TAKE(&scratch, double, l.rows > l.columns ? l.rows : l.columns);
  l.x = OD_TAKE(&scratch, double, l.columns);
  l.divisor = OD_TAKE(&scratch, double, f->points);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  int most = options->method == OD_TRANSFER_LEVY ? 1 : options->iterations > 0 ? options->iterations : SK_ITERATIONS;
  for (int i = 0; i < f->points; i++) l.divisor[i] = 1;
  for (bool changes = true; changes && t->iterations < most; t->iterations++) {
    fill(&l);
    if (!od_scaled_least_squares(l.rows, l.columns, l.a, l.b, l.x))
      return od_fail(err, OD_NOT_CONVERGED, "the least-squares fit of order %d failed; give a lower --order",
                     options->order);
    set_polynomials(&l, t);
    changes = update_divisor(&l, t);
  }
  if (!od_transfer_roots(t->order, t->denominator, t->scale, t->pole))
    return od_fail(err, OD_NOT_CONVERGED,
                   "cannot compute the poles of order %d: the leading coefficient of the denominator is zero; "
                   "give a lower --order",
                   options->order);
  od_transfer_order_poles(t);
  return OD_OK;
}
