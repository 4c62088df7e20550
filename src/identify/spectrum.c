// The linear model by its singular values: exact trust-region and damped steps, also where it has no full rank.
//
// One-sided Jacobi (LAPACK dgesvj) gives small singular values of badly scaled columns with all their digits. The
// trust-region step solves |s(a)| = radius with s(a) = -V diag(value / (value^2 + a)) part by Newton's method for
// 1/|s(a)| (Hebden; Moré and Sorensen 1983), which climbs to the root from a = 0 without overshooting.
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "identify/search.h"

size_t od_spectrum_size(int k) {
  size_t n = (size_t)k;
  return 2 * n * n + (3 * n > 6 ? 3 * n : 6);  // the matrix and dgesvj's work
}

// Memory of the work: 2 k x k matrix, column-major.
void od_spectrum_of(od_search *s, const double *E) {
  int k = s->k, rows = E ? 2 * k : k;
  double *A = s->svd_memory, *work = A + 2 * k * k;
  memset(A, 0, (size_t)(rows * k) * sizeof *A);
  for (int j = 0; j < k; j++) {
    if (s->held[j]) continue;
    for (int i = 0; i <= j; i++) A[j * rows + i] = s->model.R[i * k + j] * s->D[j];
    if (E) A[j * rows + k + j] = E[j];
  }
  od_spectrum *sp = &s->spectrum;
  for (int i = 0; i < k * k; i++) sp->V[i] = i % (k + 1) == 0;  // dgesvj leaves V alone where nothing has to be turned
  LAPACKE_dgesvj_work(LAPACK_COL_MAJOR, 'G', 'U', 'V', rows, k, A, rows, sp->value, 0, sp->V, k, work,
                      3 * k > 6 ? 3 * k : 6);
  for (int i = 0; i < k; i++) {
    sp->value[i] *= work[0];
    sp->part[i] = 0;
    for (int j = 0; j < k; j++) sp->part[i] += A[i * rows + j] * s->model.q[j];
  }
  sp->rank = 0;
  while (sp->rank < k && sp->value[sp->rank] > 4 * k * DBL_EPSILON * sp->value[0]) sp->rank++;
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

double od_model_change(const od_search *s, const double *p) {
  double change = 0;
  for (int i = 0; i < s->k; i++) {
    double row = 0;
    for (int j = i; j < s->k; j++) row += s->model.R[i * s->k + j] * p[j];
    change += s->model.g[i] * p[i] + 0.5 * row * row;
  }
  return change;
}
