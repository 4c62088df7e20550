// The frequency response of a model: C (s - A)^-1 B + D with the exact derivatives at one point. One complex system per frequency, with
// rows and columns balanced first: pressures in Pa stand beside strokes in m.
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frequency/frequency_response.h"

typedef struct matrices {
  int n, nu, ny;
  double *A, *B, *C, *D, *scale;
  double _Complex *M, *x;
  lapack_int *pivot;
} matrices;

static void matrices_free(matrices *m) {
  free(m->A), free(m->B), free(m->C), free(m->D), free(m->scale), free(m->M), free(m->x), free(m->pivot);
}

static bool matrices_new(matrices *m, const od_plant *plant) {
  size_t n = (size_t)od_plant_nx(plant), nu = (size_t)plant->nu, ny = (size_t)plant->ny;
  *m = (matrices){.n = (int)n, .nu = plant->nu, .ny = plant->ny};
  m->A = calloc(n * n + 1, sizeof *m->A);
  m->B = calloc(n * nu + 1, sizeof *m->B);
  m->C = calloc(ny * n + 1, sizeof *m->C);
  m->D = calloc(ny * nu + 1, sizeof *m->D);
  m->scale = calloc(n + 1, sizeof *m->scale);
  m->M = calloc(n * n + 1, sizeof *m->M);
  m->x = calloc(n + 1, sizeof *m->x);
  m->pivot = calloc(n + 1, sizeof *m->pivot);
  return m->A && m->B && m->C && m->D && m->scale && m->M && m->x && m->pivot;
}

// States in units in which A's rows and columns are of one size.
static bool balance(matrices *m) {
  lapack_int low = 0, high = 0;
  if (m->n == 0) return true;
  if (LAPACKE_dgebal(LAPACK_ROW_MAJOR, 'S', m->n, m->A, m->n, &low, &high, m->scale) != 0) return false;
  for (int i = 0; i < m->n; i++) {
    for (int j = 0; j < m->nu; j++) m->B[i * m->nu + j] /= m->scale[i];
    for (int k = 0; k < m->ny; k++) m->C[k * m->n + i] *= m->scale[i];
  }
  return true;
}

static bool respond(matrices *m, int input, double _Complex s, double _Complex *y) {
  int n = m->n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) m->M[i * n + j] = (i == j ? s : 0) - m->A[i * n + j];
    m->x[i] = m->B[i * m->nu + input];
  }
  if (n > 0 && LAPACKE_zgesv(LAPACK_ROW_MAJOR, n, 1, m->M, n, m->pivot, m->x, 1) != 0) return false;
  for (int k = 0; k < m->ny; k++) {
    y[k] = m->D[k * m->nu + input];
    for (int i = 0; i < n; i++) y[k] += m->C[k * n + i] * m->x[i];
  }
  return true;
}

od_status od_frf_of_plant(const od_plant *plant, od_sim *sim, int input, const double *frequency, int points,
                          od_frf **out, od_error *err) {
  matrices m;
  bool memory = matrices_new(&m, plant);
  od_frf *f = memory ? od_frf_new(points, plant->ny) : NULL;
  double _Complex *y = calloc((size_t)plant->ny + 1, sizeof *y);
  od_status status = f && y ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK) status = od_sim_derivatives(sim, NULL, m.A, m.B, NULL);
  if (status == OD_OK) status = od_sim_output_jacobians(sim, m.C, m.D, NULL);
  if (status == OD_OK && !balance(&m)) status = OD_DIVERGED;
  if (status != OD_OK && status != OD_NO_MEMORY)
    od_fail(err, status, "the machine cannot be linearised where it starts: %s", od_status_text(status));
  for (int i = 0; status == OD_OK && i < points; i++) {
    f->frequency[i] = frequency[i];
    if (!respond(&m, input, 2 * acos(-1) * frequency[i] * _Complex_I, y))
      status =
          od_fail(err, OD_BAD_INPUT, "the machine has a pole at %g Hz, where its response is infinite", frequency[i]);
    for (int k = 0; status == OD_OK && k < m.ny; k++) {
      f->value[k * points + i] = y[k];
      f->sigma[k * points + i] = 0;
    }
  }
  free(y);
  matrices_free(&m);
  *out = status == OD_OK ? f : NULL;
  if (status != OD_OK) od_frf_free(f);
  return status;
}
