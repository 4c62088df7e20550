#include "simulate/stability.h"

#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct od_stability {
  int n, work_size;
  double (*amplification)(double re, double im);
  double *matrix, *real, *imaginary, *work;
  double memory[];
};

od_stability *od_stability_new(int n, double (*amplification)(double re, double im)) {
  int work_size = 8 * n + 1;
  od_stability *s = calloc(1, sizeof *s + (size_t)(n * n + 2 * n + work_size) * sizeof(double));
  if (!s) return NULL;
  *s = (od_stability){.n = n, .work_size = work_size, .amplification = amplification};
  s->matrix = s->memory;
  s->real = s->matrix + n * n;
  s->imaginary = s->real + n;
  s->work = s->imaginary + n;
  return s;
}

void od_stability_free(od_stability *s) {
  free(s);
}

// Along the ray of an eigenvalue a rule is stable up to some |z|, here looked for between 0.5 and 4.
static double longest_step(const od_stability *s, double _Complex eigenvalue) {
  double size = cabs(eigenvalue), low = 0.5, high = 4;
  for (int i = 0; i < 40; i++) {
    double middle = (low + high) / 2;
    double _Complex z = middle * eigenvalue / size;
    if (s->amplification(creal(z), cimag(z)) > 1 + 1e-9)
      high = middle;
    else
      low = middle;
  }
  return low / size;
}

double od_stability_longest_step(od_stability *s, const double *J) {
  int n = s->n;
  double step = INFINITY, largest = 0;
  if (n == 0) return step;
  // The eigenvalues of the transposed matrix are the same.
  memcpy(s->matrix, J, (size_t)(n * n) * sizeof *J);
  if (LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'N', n, s->matrix, n, s->real, s->imaginary, NULL, 1, NULL, 1, s->work,
                         s->work_size) != 0)
    return step;
  for (int i = 0; i < n; i++) largest = fmax(largest, hypot(s->real[i], s->imaginary[i]));
  for (int i = 0; i < n; i++) {
    double _Complex eigenvalue = s->real[i] + s->imaginary[i] * I;
    bool grows = s->real[i] > 1e-9 * largest;
    if (!grows && cabs(eigenvalue) > 1e-12 * largest) step = fmin(step, longest_step(s, eigenvalue));
  }
  return step;
}
