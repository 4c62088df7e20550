// The linear model in terms of its singular values: exact trust-region and damped steps, also for rank-deficient models.
//
// One-sided Jacobi (LAPACK dgesvj) computes small singular values of badly scaled columns to full relative accuracy. The
// trust-region step solves |s(a)| = radius with s(a) = -V diag(value / (value^2 + a)) part by Newton's method for 1/|s(a)|
// (Hebden; Moré and Sorensen 1983), which converges monotonically from a = 0.
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "least_squares/search.h"

static int work_size(int k) {
  return 3 * k > 6 ? 3 * k : 6;
}
size_t od_spectrum_size(int k) {
  return (size_t)(2 * k * k + work_size(k) + k);  // the matrix, dgesvj's work, lengths of columns
}

// Returns whether singular value i is significantly above rounding. Columns may differ in length by many orders of magnitude,
// and each column is accurate relative to its own length. Therefore the value is compared with the lengths of the columns in
// its direction.
static bool counts(const od_search *s, const double *length, int i) {
  double sum = 0;
  for (int j = 0; j < s->k; j++) {
    double t = length[j] * s->spectrum.V[i * s->k + j];
    sum += t * t;
  }
  double precision = fmax(s->options.precision, DBL_EPSILON);
  return s->spectrum.value[i] > 4 * s->k * precision * sqrt(sum);
}

static void swap_values(od_search *s, int a, int b) {
  od_spectrum *sp = &s->spectrum;
  double value = sp->value[a], part = sp->part[a];
  sp->value[a] = sp->value[b], sp->part[a] = sp->part[b];
  sp->value[b] = value, sp->part[b] = part;
  for (int j = 0; j < s->k; j++) {
    double v = sp->V[a * s->k + j];
    sp->V[a * s->k + j] = sp->V[b * s->k + j], sp->V[b * s->k + j] = v;
  }
}

// Sorts significant values first and counts the significant values.
static void count_rank(od_search *s, const double *length) {
  s->spectrum.rank = 0;
  for (int i = 0; i < s->k; i++)
    if (counts(s, length, i)) {
      for (int j = i; j > s->spectrum.rank; j--) swap_values(s, j, j - 1);
      s->spectrum.rank++;
    }
}

void od_spectrum_of(od_search *s, const double *E) {
  const double *K = s->ties.curved ? s->ties.curvature : NULL;
  int k = s->k, rows = E || K ? 2 * k : k;
  double *A = s->svd_memory, *work = A + 2 * k * k, *length = work + work_size(k);
  memset(A, 0, (size_t)(rows * k) * sizeof *A);
  for (int j = 0; j < k; j++) {
    double sum = 0;
    for (int i = 0; i <= j && !s->held[j]; i++) A[j * rows + i] = s->model.R[i * k + j] * s->D[j];
    if (E && !s->held[j]) A[j * rows + k + j] = E[j];
    for (int i = 0; K && i < k && !s->held[j]; i++) A[j * rows + k + i] = K[i * k + j] * s->D[j] / s->size[j];
    for (int i = 0; i < rows; i++) sum += A[j * rows + i] * A[j * rows + i];
    length[j] = sqrt(sum);
  }
  // Removes the gradients of active constraints, because these constraints prevent changes along their gradients.
  for (int t = 0; t < s->ties.tied; t++) {
    const double *q = s->ties.Q + t * k;
    for (int i = 0; i < rows; i++) {
      double along = 0;
      for (int j = 0; j < k; j++) along += A[j * rows + i] * q[j];
      for (int j = 0; j < k; j++) A[j * rows + i] -= along * q[j];
    }
  }
  od_spectrum *sp = &s->spectrum;
  for (int i = 0; i < k * k; i++) sp->V[i] = i % (k + 1) == 0;  // dgesvj does not set V if no rotation is needed
  LAPACKE_dgesvj_work(LAPACK_COL_MAJOR, 'G', 'U', 'V', rows, k, A, rows, sp->value, 0, sp->V, k, work, work_size(k));
  for (int i = 0; i < k; i++) {
    sp->value[i] *= work[0];
    sp->part[i] = 0;
    for (int j = 0; j < k; j++) sp->part[i] += A[i * rows + j] * s->model.q[j];
  }
  count_rank(s, length);
}

static double length_with(const od_spectrum *sp, double damping, double *slope) {
  double sum = 0, change = 0;
  for (int i = 0; i < sp->rank; i++) {
    double d = sp->value[i] * sp->value[i] + damping, t = sp->value[i] * sp->part[i] / d;
    sum += t * t, change += t * t / d;
  }
  *slope = change;
  return sqrt(sum);
}

double od_damped_step(const od_search *s, double damping, double *step) {
  const od_spectrum *sp = &s->spectrum;
  int k = s->k;
  memset(step, 0, (size_t)k * sizeof *step);
  for (int i = 0; i < sp->rank; i++) {
    double t = -sp->value[i] * sp->part[i] / (sp->value[i] * sp->value[i] + damping);
    for (int j = 0; j < k; j++) step[j] += t * sp->V[i * k + j];
  }
  double slope;
  return length_with(sp, damping, &slope);
}

double od_region_step(const od_search *s, double radius, double *step) {
  double damping = 0, slope, length = length_with(&s->spectrum, 0, &slope);
  for (int i = 0; i < 100 && length > 1.001 * radius; i++) {
    damping += length * length / slope * (length / radius - 1);
    length = length_with(&s->spectrum, damping, &slope);
  }
  return od_damped_step(s, damping, step);
}

double od_removable(const od_search *s) {
  double sum = 0;
  for (int i = 0; i < s->spectrum.rank; i++) sum += s->spectrum.part[i] * s->spectrum.part[i];
  return sqrt(sum);
}

double od_moved_by(const od_search *s, const double *p) {
  double sum = 0;
  for (int i = 0; i < s->k; i++) {
    double row = 0;
    for (int j = i; j < s->k; j++) row += s->model.R[i * s->k + j] * p[j];
    sum += row * row;
  }
  return sqrt(sum);
}

double od_column_norm(const od_search *s, int j) {
  double sum = 0;
  for (int i = 0; i <= j; i++) sum += s->model.R[i * s->k + j] * s->model.R[i * s->k + j];
  return sqrt(sum);
}

double od_model_change(const od_search *s, const double *p) {
  double change = 0;
  for (int i = 0; i < s->k; i++) {
    double row = 0;
    for (int j = i; j < s->k; j++) row += s->model.R[i * s->k + j] * p[j];
    change += s->model.g[i] * p[i] + 0.5 * row * row;
  }
  return change;
}
