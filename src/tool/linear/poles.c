#include "linear/poles.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

double od_pole_frequency(od_pole p) {
  return hypot(p.real, p.imaginary) / (2 * acos(-1));
}

double od_pole_damping(od_pole p) {
  return (0 - p.real) / hypot(p.real, p.imaginary);  // -p.real could give a damping of minus zero
}

double od_pole_time_constant(od_pole p) {
  return p.real == 0 ? INFINITY : -1 / p.real;
}

// The result of dgeev: right and left eigenvectors as columns. A complex pair is stored as real and imaginary part.
typedef struct eigenvalues {
  double *real, *imaginary, *left, *right;
} eigenvalues;

// Computes |v_i w_i| of pole j for all states, normalized to the sum 1.
static void find_participation(const eigenvalues *v, int n, int j, double *part) {
  bool pair = v->imaginary[j] != 0;
  int re = pair && v->imaginary[j] < 0 ? j - 1 : j, im = re + 1;
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double right = hypot(v->right[i * n + re], pair ? v->right[i * n + im] : 0);
    double left = hypot(v->left[i * n + re], pair ? v->left[i * n + im] : 0);
    part[i] = right * left;
    sum += part[i];
  }
  for (int i = 0; i < n; i++) part[i] = sum > 0 ? part[i] / sum : 0;
}

od_status od_poles_find(const od_linear_model *m, od_arena *arena, od_poles *out, od_error *err) {
  OD_SCRATCH(scratch);
  long n = m->states;
  double *a = OD_TAKE(&scratch, double, n *n);
  int *order = OD_TAKE(&scratch, int, n);
  eigenvalues v = {.real = OD_TAKE(&scratch, double, n),
                   .imaginary = OD_TAKE(&scratch, double, n),
                   .left = OD_TAKE(&scratch, double, n *n),
                   .right = OD_TAKE(&scratch, double, n *n)};
  *out =
      (od_poles){.count = m->states, .pole = OD_TAKE(arena, od_pole, n), .participation = OD_TAKE(arena, double, n *n)};
  if (od_arena_status(&scratch) != OD_OK || !out->pole || !out->participation)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (n == 0) return OD_OK;
  memcpy(a, m->A, (size_t)(n * n) * sizeof *a);
  int size = m->states;
  if (LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'V', 'V', size, a, size, v.real, v.imaginary, v.left, size, v.right, size) != 0)
    return od_fail(err, OD_NOT_CONVERGED,
                   "cannot compute the poles: the eigenvalues did not converge; choose another operating point");
  // Real parts below round-off, relative to the largest eigenvalue, are zero.
  double largest = 0;
  for (int i = 0; i < size; i++) largest = fmax(largest, hypot(v.real[i], v.imaginary[i]));
  for (int i = 0; i < size; i++)
    if (fabs(v.real[i]) < 8 * DBL_EPSILON * largest) v.real[i] = 0;
  // Insertion keeps the order of equal magnitudes, so pairs stay together, with the positive imaginary part first.
  for (int i = 0; i < size; i++) {
    int at = i;
    double magnitude = hypot(v.real[i], v.imaginary[i]);
    for (; at > 0 && magnitude < hypot(v.real[order[at - 1]], v.imaginary[order[at - 1]]); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  for (int k = 0; k < size; k++) {
    out->pole[k] = (od_pole){v.real[order[k]], v.imaginary[order[k]]};
    find_participation(&v, size, order[k], out->participation + k * n);
  }
  return OD_OK;
}

int od_poles_unstable(const od_poles *p) {
  double largest = 0;
  int count = 0;
  for (int i = 0; i < p->count; i++) largest = fmax(largest, hypot(p->pole[i].real, p->pole[i].imaginary));
  for (int i = 0; i < p->count; i++) count += p->pole[i].real > 1e-12 * largest;
  return count;
}
