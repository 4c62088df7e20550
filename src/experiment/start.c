// From what is said about outputs to the covariance of the states at the start.
//
// With y = H x for small errors and independent errors of the outputs, P = H^-1 diag(sigma^2) H^-T over those states
// that the outputs depend on; the other states are taken as known. That needs as many outputs as states, none of which
// follows from the others.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/loading.h"
#include "math/dense.h"
#include "oleodyn/sim.h"

typedef struct start {
  int nx, rows, columns;
  int *output, *state;     // watched output of each row, state of each column
  double *hx, *H, *scale;  // all watched by all states; the chosen ones, in units of their columns
} start;

static bool allocate(start *s, const od_experiment *e, int nx) {
  size_t watches = (size_t)e->watches + 1, states = (size_t)nx + 1;
  s->nx = nx;
  s->output = calloc(watches, sizeof *s->output);
  s->state = calloc(states, sizeof *s->state);
  s->hx = calloc(watches * states, sizeof *s->hx);
  s->H = calloc(2 * watches * states, sizeof *s->H);
  s->scale = calloc(states, sizeof *s->scale);
  return s->output && s->state && s->hx && s->H && s->scale;
}

static void release(start *s) {
  free(s->output);
  free(s->state);
  free(s->hx);
  free(s->H);
  free(s->scale);
}

// Which outputs have a sigma, and which states they depend on.
static void choose(start *s, const od_experiment *e) {
  for (int i = 0; i < e->watches; i++)
    if (e->watched[i].sigma > 0) s->output[s->rows++] = i;
  for (int j = 0; j < s->nx; j++) {
    double size = 0;
    // In units of the outputs' sigmas a state counts that moves one of them at all.
    for (int r = 0; r < s->rows; r++)
      size = fmax(size, fabs(s->hx[s->output[r] * s->nx + j]) / e->watched[s->output[r]].sigma);
    if (size <= 0) continue;
    s->scale[s->columns] = 1 / size;
    s->state[s->columns++] = j;
  }
  for (int r = 0; r < s->rows; r++)
    for (int c = 0; c < s->columns; c++)
      s->H[r * s->columns + c] =
          s->hx[s->output[r] * s->nx + s->state[c]] * s->scale[c] / e->watched[s->output[r]].sigma;
}

// The first row that the rows before it determine, or -1: Gram-Schmidt on a copy.
static int dependent_row(const start *s, double *copy) {
  int m = s->columns;
  memcpy(copy, s->H, (size_t)(s->rows * m) * sizeof *copy);
  for (int r = 0; r < s->rows; r++) {
    double *row = copy + r * m, before = 0, after = 0;
    for (int c = 0; c < m; c++) before += row[c] * row[c];
    for (int again = 0; again < 2; again++)
      for (int q = 0; q < r; q++) {
        double dot = 0;
        for (int c = 0; c < m; c++) dot += row[c] * copy[q * m + c];
        for (int c = 0; c < m; c++) row[c] -= dot * copy[q * m + c];
      }
    for (int c = 0; c < m; c++) after += row[c] * row[c];
    if (after <= 1e-16 * before) return r;
    for (int c = 0; c < m; c++) row[c] /= sqrt(after);
  }
  return -1;
}

static void fill(start *s, od_experiment *e) {
  int m = s->columns, n = s->nx + e->parameters;
  double *inverse = s->H + m * m;
  int *pivot = calloc((size_t)m + 1, sizeof *pivot);
  for (int i = 0; i < m * m; i++) inverse[i] = i % (m + 1) == 0;
  if (pivot && od_lu_factor(m, s->H, pivot) == OD_OK) {
    od_lu_solve(m, s->H, pivot, inverse, m);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < m; j++) {
        double sum = 0;
        for (int k = 0; k < m; k++) sum += inverse[i * m + k] * inverse[j * m + k];
        e->covariance[s->state[i] * n + s->state[j]] = sum * s->scale[i] * s->scale[j];
      }
  }
  free(pivot);
  for (int i = 0; i < e->parameters; i++) e->covariance[(s->nx + i) * (n + 1)] = pow(e->parameter[i].sigma, 2);
}

static od_status output_jacobian(const od_experiment *e, const od_plant *plant, double *hx) {
  od_sim *sim = od_sim_new(plant);
  double *u = calloc((size_t)plant->nu + 1, sizeof *u);
  od_status status = sim && u ? OD_OK : OD_NO_MEMORY;
  if (status == OD_OK) {
    od_machine_inputs(e->model, 0, u);
    status = od_sim_start(sim, 0, u);
  }
  if (status == OD_OK) status = od_sim_output_jacobians(sim, hx, NULL, NULL);
  od_sim_free(sim);
  free(u);
  return status;
}

// With outputs of which each says something of its own there are never more than states.
static void check_and_fill(od_experiment_loader *xl, start *s) {
  od_loader *ld = &xl->ld;
  int row = dependent_row(s, s->H + s->rows * s->columns);
  if (row >= 0) {
    od_complain(ld, xl->watched_key[s->output[row]],
                "'%s' says nothing about the states that the outputs before it do not say",
                xl->e->watched[s->output[row]].name);
  } else if (s->rows < s->columns) {
    od_complain(ld, xl->initial, "found %d of %d outputs; as many are needed as there are states they depend on",
                s->rows, s->columns);
  } else {
    fill(s, xl->e);
  }
}

void od_load_start(od_experiment_loader *xl) {
  od_experiment *e = xl->e;
  od_plant *plant = NULL;
  od_error err = {0};
  od_status status = od_experiment_plant(e, &plant, &err);
  if (status != OD_OK) {
    od_complain(&xl->ld, xl->ld.tree.root, "%s", err.text);
    return;
  }
  start s = {0};
  size_t n = (size_t)(od_plant_nx(plant) + e->parameters);
  e->covariance = calloc(n * n + 1, sizeof *e->covariance);
  if (!e->covariance || !allocate(&s, e, od_plant_nx(plant))) {
    xl->ld.no_memory = true;
  } else if ((status = output_jacobian(e, plant, s.hx)) != OD_OK) {
    od_complain(&xl->ld, xl->ld.tree.root, "the model cannot start: %s", od_status_text(status));
  } else {
    choose(&s, e);
    check_and_fill(xl, &s);
  }
  release(&s);
  od_plant_free(plant);
}
