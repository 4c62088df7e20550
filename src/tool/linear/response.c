#include "linear/response.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linear/poles.h"

struct od_linear_response {
  const od_linear_model *model;
  double *A, *B, *C;  // with scaled states
  od_complex *matrix, *right, *G;
  lapack_int *pivot;
  bool (*goes_on)(void *user, double done);
  void *user;
  od_arena arena;
};

double *od_frequencies_make(double low, double high, int count, od_arena *arena) {
  double *f = OD_TAKE(arena, double, count);
  for (int i = 0; f && i < count; i++)
    f[i] = i == 0 ? low : i + 1 == count ? high : low * pow(high / low, (double)i / (count - 1));
  return f;
}

void od_frequencies_range(const od_linear_model *model, double *low, double *high) {
  OD_SCRATCH(scratch);
  od_poles poles;
  *low = INFINITY, *high = 0;
  if (od_poles_find(model, &scratch, &poles, NULL) == OD_OK) {
    double largest = 0;
    for (int i = 0; i < poles.count; i++) largest = fmax(largest, od_pole_frequency(poles.pole[i]));
    for (int i = 0; i < poles.count; i++) {
      double f = od_pole_frequency(poles.pole[i]);
      if (!(f > 1e-9 * largest)) continue;
      *low = fmin(*low, f), *high = fmax(*high, f);
    }
  }
  if (!(*high > 0)) *low = *high = 1;
  // Whole decades, at most eight: the slowest ones are kept.
  *low = pow(10, floor(log10(*low)) - 1);
  *high = fmin(pow(10, ceil(log10(*high)) + 1), *low * 1e8);
}

void od_linear_response_free(od_linear_response *r) {
  if (!r) return;
  od_arena_free(&r->arena);
  free(r);
}

// States are scaled: x = S xi with the diagonal S that equalizes the sizes of rows and columns of A.
od_linear_response *od_linear_response_new(const od_linear_model *m) {
  long n = m->states, nu = m->inputs, ny = m->outputs;
  OD_OWNED(od_linear_response_free) od_linear_response *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->model = m;
  r->A = OD_TAKE(&r->arena, double, n *n);
  r->B = OD_TAKE(&r->arena, double, n *nu);
  r->C = OD_TAKE(&r->arena, double, ny *n);
  r->matrix = OD_TAKE(&r->arena, od_complex, n * n);
  r->right = OD_TAKE(&r->arena, od_complex, n * nu);
  r->G = OD_TAKE(&r->arena, od_complex, ny * nu);
  r->pivot = OD_TAKE(&r->arena, lapack_int, n);
  double *scale = OD_TAKE(&r->arena, double, n);
  if (od_arena_status(&r->arena) != OD_OK) return NULL;
  if (n > 0) {
    lapack_int low, high;
    memcpy(r->A, m->A, (size_t)(n * n) * sizeof *r->A);
    LAPACKE_dgebal(LAPACK_ROW_MAJOR, 'S', m->states, r->A, m->states, &low, &high, scale);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < nu; j++) r->B[i * nu + j] = m->B[i * nu + j] / scale[i];
  for (int i = 0; i < ny; i++)
    for (int j = 0; j < n; j++) r->C[i * n + j] = m->C[i * n + j] * scale[j];
  return OD_GIVE(r);
}

void od_linear_response_listen(od_linear_response *r, bool (*goes_on)(void *user, double done), void *user) {
  r->goes_on = goes_on;
  r->user = user;
}

od_status od_linear_response_dynamic(od_linear_response *r, double frequency, od_complex *G) {
  const od_linear_model *m = r->model;
  if (r->goes_on && !r->goes_on(r->user, 0)) return OD_INTERRUPTED;
  int n = m->states, nu = m->inputs;
  for (int i = 0; i < n * n; i++) r->matrix[i] = -r->A[i];
  for (int i = 0; i < n; i++) r->matrix[i * n + i] += I * 2 * acos(-1) * frequency;
  for (int i = 0; i < n * nu; i++) r->right[i] = r->B[i];
  if (n > 0 && nu > 0 && LAPACKE_zgesv(LAPACK_ROW_MAJOR, n, nu, r->matrix, n, r->pivot, r->right, nu) != 0)
    return OD_SINGULAR;
  for (int i = 0; i < m->outputs; i++)
    for (int j = 0; j < nu; j++) {
      od_complex sum = 0;
      for (int k = 0; k < n; k++) sum += r->C[i * n + k] * r->right[k * nu + j];
      G[i * nu + j] = sum;
    }
  return OD_OK;
}

od_status od_linear_response_at(od_linear_response *r, double frequency, od_complex *G) {
  od_status status = od_linear_response_dynamic(r, frequency, G);
  for (int i = 0; i < r->model->outputs * r->model->inputs && status == OD_OK; i++) G[i] += r->model->D[i];
  return status;
}

od_complex od_path_at(od_linear_response *r, const od_path *path, double frequency) {
  int at = path->output * r->model->inputs + path->input;
  if (od_linear_response_dynamic(r, frequency, r->G) != OD_OK) return NAN;
  od_complex moving = r->G[at], whole = moving + r->model->D[at];
  if (!path->loop) return whole;
  return cabs(whole) > 0 ? -moving / whole : NAN;  // d - G, without cancellation
}

// --- Relative gains ------------------------------------------------------------------------------------------------

od_status od_relative_gains(int n, const od_complex *G, od_complex *out) {
  OD_SCRATCH(scratch);
  od_complex *copy = OD_TAKE(&scratch, od_complex, (long)n * n), *inverse = OD_TAKE(&scratch, od_complex, (long)n * n);
  lapack_int *pivot = OD_TAKE(&scratch, lapack_int, n);
  double *row = OD_TAKE(&scratch, double, n), *column = OD_TAKE(&scratch, double, n);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  // Relative gains do not depend on units. The inverse is computed in units in which rows and columns have equal sizes.
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) row[i] = fmax(row[i], cabs(G[i * n + j]));
    if (!(row[i] > 0)) return OD_SINGULAR;
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) column[j] = fmax(column[j], cabs(G[i * n + j]) / row[i]);
    if (!(column[j] > 0)) return OD_SINGULAR;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) copy[i * n + j] = G[i * n + j] / row[i] / column[j];
    inverse[i * n + i] = 1;
  }
  if (LAPACKE_zgesv(LAPACK_ROW_MAJOR, n, n, copy, n, pivot, inverse, n) != 0) return OD_SINGULAR;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = G[i * n + j] / row[i] / column[j] * inverse[j * n + i];
  return OD_OK;
}

enum { ALL_PAIRINGS = 8 };

typedef struct pairing {
  int n;
  const od_complex *gain;
  int *best, now[ALL_PAIRINGS];
  bool taken[ALL_PAIRINGS];
  double least;
} pairing;

// Tries inputs for the outputs from `output` on, given the cost of those before.
static void try_pairings(pairing *p, int output, double cost) {
  if (cost >= p->least) return;
  if (output == p->n) {
    p->least = cost;
    memcpy(p->best, p->now, (size_t)p->n * sizeof *p->best);
    return;
  }
  for (int j = 0; j < p->n; j++) {
    if (p->taken[j]) continue;
    p->taken[j] = true;
    p->now[output] = j;
    try_pairings(p, output + 1, cost + cabs(p->gain[output * p->n + j] - 1));
    p->taken[j] = false;
  }
}

void od_relative_gains_pair(int n, const od_complex *gain, int *input_of_output) {
  for (int i = 0; i < n; i++) input_of_output[i] = -1;
  if (n <= ALL_PAIRINGS) {
    pairing p = {.n = n, .gain = gain, .best = input_of_output, .least = INFINITY};
    try_pairings(&p, 0, 0);
    return;
  }
  for (int round = 0; round < n; round++) {
    int output = -1, input = -1;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n && input_of_output[i] < 0; j++) {
        bool taken = false;
        for (int k = 0; k < n; k++) taken = taken || input_of_output[k] == j;
        if (!taken && (output < 0 || cabs(gain[i * n + j] - 1) < cabs(gain[output * n + input] - 1)))
          output = i, input = j;
      }
    if (output >= 0) input_of_output[output] = input;
  }
}
