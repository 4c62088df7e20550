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
};

od_status od_frequencies_make(double low, double high, int count, double **out, od_error *err) {
  *out = malloc(((size_t)count + 1) * sizeof **out);
  if (!*out) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < count; i++)
    (*out)[i] = i == 0 ? low : i + 1 == count ? high : low * pow(high / low, (double)i / (count - 1));
  return OD_OK;
}

void od_frequencies_range(const od_linear_model *model, double *low, double *high) {
  od_poles poles;
  *low = INFINITY, *high = 0;
  if (od_poles_find(model, &poles, NULL) == OD_OK) {
    double largest = 0;
    for (int i = 0; i < poles.count; i++) largest = fmax(largest, od_pole_frequency(poles.pole[i]));
    for (int i = 0; i < poles.count; i++) {
      double f = od_pole_frequency(poles.pole[i]);
      if (!(f > 1e-9 * largest)) continue;
      *low = fmin(*low, f), *high = fmax(*high, f);
    }
    od_poles_free(&poles);
  }
  if (!(*high > 0)) *low = *high = 1;
  // Whole decades, at most eight: the slowest ones are kept.
  *low = pow(10, floor(log10(*low)) - 1);
  *high = fmin(pow(10, ceil(log10(*high)) + 1), *low * 1e8);
}

void od_linear_response_free(od_linear_response *r) {
  if (!r) return;
  void *memory[] = {r->A, r->B, r->C, r->matrix, r->right, r->G, r->pivot};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  free(r);
}

// x = S xi with the diagonal S that equalizes the sizes of rows and columns of A.
static bool scale_states(od_linear_response *r) {
  const od_linear_model *m = r->model;
  int n = m->states;
  lapack_int low, high;
  double *scale = malloc(((size_t)n + 1) * sizeof *scale);
  if (!scale) return false;
  if (n > 0) {
    memcpy(r->A, m->A, (size_t)n * (size_t)n * sizeof *r->A);
    LAPACKE_dgebal(LAPACK_ROW_MAJOR, 'S', n, r->A, n, &low, &high, scale);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m->inputs; j++) r->B[i * m->inputs + j] = m->B[i * m->inputs + j] / scale[i];
  for (int i = 0; i < m->outputs; i++)
    for (int j = 0; j < n; j++) r->C[i * n + j] = m->C[i * n + j] * scale[j];
  free(scale);
  return true;
}

od_linear_response *od_linear_response_new(const od_linear_model *m) {
  size_t n = (size_t)m->states, nu = (size_t)m->inputs, ny = (size_t)m->outputs;
  od_linear_response *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  *r = (od_linear_response){.model = m,
                            .A = calloc(n * n + 1, sizeof *r->A),
                            .B = calloc(n * nu + 1, sizeof *r->B),
                            .C = calloc(ny * n + 1, sizeof *r->C),
                            .matrix = calloc(n * n + 1, sizeof *r->matrix),
                            .right = calloc(n * nu + 1, sizeof *r->right),
                            .G = calloc(ny * nu + 1, sizeof *r->G),
                            .pivot = calloc(n + 1, sizeof *r->pivot)};
  if (r->A && r->B && r->C && r->matrix && r->right && r->G && r->pivot && scale_states(r)) return r;
  od_linear_response_free(r);
  return NULL;
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
  size_t square = (size_t)n * (size_t)n;
  od_complex *copy = malloc((square + 1) * sizeof *copy), *inverse = calloc(square + 1, sizeof *inverse);
  lapack_int *pivot = calloc((size_t)n + 1, sizeof *pivot);
  od_status status = copy && inverse && pivot ? OD_OK : OD_NO_MEMORY;
  double *row = malloc(((size_t)n + 1) * sizeof *row), *column = malloc(((size_t)n + 1) * sizeof *column);
  if (!row || !column) status = OD_NO_MEMORY;
  // Relative gains do not depend on units. The inverse is computed in units in which rows and columns have equal sizes.
  for (int i = 0; i < n && status == OD_OK; i++) {
    row[i] = 0;
    for (int j = 0; j < n; j++) row[i] = fmax(row[i], cabs(G[i * n + j]));
    if (!(row[i] > 0)) status = OD_SINGULAR;
  }
  for (int j = 0; j < n && status == OD_OK; j++) {
    column[j] = 0;
    for (int i = 0; i < n; i++) column[j] = fmax(column[j], cabs(G[i * n + j]) / row[i]);
    if (!(column[j] > 0)) status = OD_SINGULAR;
  }
  for (int i = 0; i < n && status == OD_OK; i++) {
    for (int j = 0; j < n; j++) copy[i * n + j] = G[i * n + j] / row[i] / column[j];
    inverse[i * n + i] = 1;
  }
  if (status == OD_OK && LAPACKE_zgesv(LAPACK_ROW_MAJOR, n, n, copy, n, pivot, inverse, n) != 0) status = OD_SINGULAR;
  for (int i = 0; i < n && status == OD_OK; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = G[i * n + j] / row[i] / column[j] * inverse[j * n + i];
  free(copy);
  free(inverse);
  free(pivot);
  free(row);
  free(column);
  return status;
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
