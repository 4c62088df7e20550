#include "linear/poles.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double od_pole_frequency(od_pole p) {
  return hypot(p.real, p.imaginary) / (2 * acos(-1));
}

double od_pole_damping(od_pole p) {
  return (0 - p.real) / hypot(p.real, p.imaginary);  // not -p.real: avoids a damping of minus zero
}

double od_pole_time_constant(od_pole p) {
  return p.real == 0 ? INFINITY : -1 / p.real;
}

void od_poles_free(od_poles *p) {
  free(p->pole);
  free(p->participation);
  *p = (od_poles){0};
}

// The result of dgeev: right and left eigenvectors as columns, those of a pair as real and imaginary part.
typedef struct vectors {
  double *a, *real, *imaginary, *left, *right;
  int *order;
} vectors;

static void free_vectors(vectors *v) {
  double *memory[] = {v->a, v->real, v->imaginary, v->left, v->right};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  free(v->order);
}

static bool comes_before(const vectors *v, int a, int b) {
  double size_a = hypot(v->real[a], v->imaginary[a]), size_b = hypot(v->real[b], v->imaginary[b]);
  return size_a < size_b;
}

// Sorts by size and keeps pairs together: insertion keeps the order of equal sizes, thus the pole with positive imaginary part
// first.
static void sort(vectors *v, int n) {
  for (int i = 0; i < n; i++) {
    int at = i;
    for (; at > 0 && comes_before(v, i, v->order[at - 1]); at--) v->order[at] = v->order[at - 1];
    v->order[at] = i;
  }
}

// |v_i w_i| of pole j over all states, normalized to the sum 1.
static void participate(const vectors *v, int n, int j, double *part) {
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

// Sets numbers to zero that are round-off relative to the largest one.
static void drop_round_off(vectors *v, int n) {
  double largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, hypot(v->real[i], v->imaginary[i]));
  for (int i = 0; i < n; i++)
    if (fabs(v->real[i]) < 8 * DBL_EPSILON * largest) v->real[i] = 0;
}

od_status od_poles_find(const od_linear_model *m, od_poles *out, od_error *err) {
  int n = m->states;
  size_t square = (size_t)n * (size_t)n + 1, line = (size_t)n + 1;
  vectors v = {.a = malloc(square * sizeof *v.a),
               .real = calloc(line, sizeof *v.real),
               .imaginary = calloc(line, sizeof *v.imaginary),
               .left = calloc(square, sizeof *v.left),
               .right = calloc(square, sizeof *v.right),
               .order = calloc(line, sizeof *v.order)};
  *out = (od_poles){
      .count = n, .pole = calloc(line, sizeof *out->pole), .participation = calloc(square, sizeof *out->participation)};
  od_status status = OD_OK;
  if (!v.a || !v.real || !v.imaginary || !v.left || !v.right || !v.order || !out->pole || !out->participation)
    status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK && n > 0) {
    memcpy(v.a, m->A, (size_t)n * (size_t)n * sizeof *v.a);
    if (LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'V', 'V', n, v.a, n, v.real, v.imaginary, v.left, n, v.right, n) != 0)
      status = od_fail(err, OD_NOT_CONVERGED, "the poles could not be found: the eigenvalues did not converge");
  }
  for (int k = 0; status == OD_OK && k < n; k++) {
    if (k == 0) drop_round_off(&v, n), sort(&v, n);
    int j = v.order[k];
    out->pole[k] = (od_pole){v.real[j], v.imaginary[j]};
    participate(&v, n, j, out->participation + k * n);
  }
  free_vectors(&v);
  if (status != OD_OK) od_poles_free(out);
  return status;
}

int od_poles_unstable(const od_poles *p) {
  double largest = 0;
  int count = 0;
  for (int i = 0; i < p->count; i++) largest = fmax(largest, hypot(p->pole[i].real, p->pole[i].imaginary));
  for (int i = 0; i < p->count; i++) count += p->pole[i].real > 1e-12 * largest;
  return count;
}
