// From what is said about outputs at the start to the states: their covariance, and starts drawn at random.
//
// With y = H x for small errors and independent errors of the outputs, P = H^-1 diag(sigma^2) H^-T over those states
// that the outputs depend on; the other states are taken as known. That needs as many outputs as states, none of which
// follows from the others. A drawn start has outputs that are the true ones plus an error of that size: the states
// follow by Newton's method with the same H.
#include "experiment/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/loading.h"
#include "experiment/noise.h"
#include "math/dense.h"

enum { DRAWS = 100, NEWTON = 30 };

typedef struct start {
  int nx, rows, columns;
  int *output, *state, *pivot;  // watched output of each row, state of each column
  double *hx, *H, *scale;       // all watched by all states; the chosen ones, in units of their columns
} start;

static bool allocate(start *s, const od_experiment *e, int nx) {
  size_t outputs = (size_t)e->outputs + 1, states = (size_t)nx + 1;
  *s = (start){.nx = nx};
  s->output = calloc(outputs, sizeof *s->output);
  s->state = calloc(states, sizeof *s->state);
  s->pivot = calloc(states, sizeof *s->pivot);
  s->hx = calloc(outputs * states, sizeof *s->hx);
  s->H = calloc(2 * outputs * states, sizeof *s->H);
  s->scale = calloc(states, sizeof *s->scale);
  return s->output && s->state && s->pivot && s->hx && s->H && s->scale;
}

static void release(start *s) {
  free(s->output);
  free(s->state);
  free(s->pivot);
  free(s->hx);
  free(s->H);
  free(s->scale);
}

// Which outputs have a sigma, and which states they depend on, at the simulation's present state.
static od_status choose(start *s, const od_experiment *e, od_sim *sim) {
  od_status status = od_sim_output_jacobians(sim, s->hx, NULL, NULL);
  if (status != OD_OK) return status;
  s->rows = s->columns = 0;
  for (int i = 0; i < e->watches; i++)
    if (e->watched[i].sigma > 0) s->output[s->rows++] = i;
  for (int j = 0; j < s->nx; j++) {
    double size = 0;
    // In units of the outputs' sigmas a state counts that moves one of them at all.
    for (int r = 0; r < s->rows; r++)
      size = fmax(size, fabs(s->hx[e->watched[s->output[r]].row * s->nx + j]) / e->watched[s->output[r]].sigma);
    if (size <= 0) continue;
    s->scale[s->columns] = 1 / size;
    s->state[s->columns++] = j;
  }
  for (int r = 0; r < s->rows; r++)
    for (int c = 0; c < s->columns; c++)
      s->H[r * s->columns + c] =
          s->hx[e->watched[s->output[r]].row * s->nx + s->state[c]] * s->scale[c] / e->watched[s->output[r]].sigma;
  return OD_OK;
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

// --- The covariance -----------------------------------------------------------------------------------------------

static od_status fill(start *s, const od_experiment *e, double *P) {
  int m = s->columns, n = s->nx + e->parameters;
  double *inverse = s->H + m * m;
  for (int i = 0; i < m * m; i++) inverse[i] = i % (m + 1) == 0;
  od_status status = od_lu_factor(m, s->H, s->pivot);
  if (status != OD_OK) return status;
  od_lu_solve(m, s->H, s->pivot, inverse, m);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int k = 0; k < m; k++) sum += inverse[i * m + k] * inverse[j * m + k];
      P[s->state[i] * n + s->state[j]] = sum * s->scale[i] * s->scale[j];
    }
  for (int i = 0; i < e->parameters; i++) P[(s->nx + i) * (n + 1)] = pow(e->parameter[i].sigma, 2);
  return OD_OK;
}

od_status od_start_covariance(const od_experiment *e, od_sim *sim, int nx, double *P, od_start_problem *problem) {
  start s;
  size_t n = (size_t)(nx + e->parameters);
  *problem = (od_start_problem){.output = -1};
  od_status status = allocate(&s, e, nx) ? choose(&s, e, sim) : OD_NO_MEMORY;
  if (status == OD_OK) {
    memset(P, 0, n * n * sizeof *P);
    int row = dependent_row(&s, s.H + s.rows * s.columns);
    *problem = (od_start_problem){row < 0 ? -1 : s.output[row], s.rows, s.columns};
    // With outputs of which each says something of its own there are never more than states.
    status = row >= 0 || s.rows < s.columns ? OD_BAD_INPUT : fill(&s, e, P);
  }
  release(&s);
  return status;
}

// --- A start at random --------------------------------------------------------------------------------------------

static double draw(uint64_t seed, const char *name, uint64_t attempt, double middle, double sigma) {
  return middle + sigma * od_noise_gaussian(seed, od_noise_stream(name), attempt, OD_USE_START);
}

// One step of Newton's method towards the wanted outputs; *off: how far they were off, in sigmas.
static od_status approach(start *s, const od_experiment *e, od_sim *sim, const double *wanted, double *x, double *y,
                          double *off) {
  od_status status = od_sim_outputs(sim, y);
  if (status == OD_OK) status = choose(s, e, sim);
  if (status == OD_OK && s->rows != s->columns) status = OD_SINGULAR;
  if (status == OD_OK) status = od_lu_factor(s->columns, s->H, s->pivot);
  if (status != OD_OK) return status;
  double *step = s->H + s->columns * s->columns;
  *off = 0;
  for (int r = 0; r < s->rows; r++) {
    int i = s->output[r];
    step[r] = (wanted[i] - y[e->watched[i].row]) / e->watched[i].sigma;
    *off = fmax(*off, fabs(step[r]));
  }
  od_lu_solve(s->columns, s->H, s->pivot, step, 1);
  for (int c = 0; c < s->columns; c++) x[s->state[c]] += step[c] * s->scale[c];
  return od_sim_set(sim, od_sim_time(sim), x, od_sim_inputs(sim));
}

// The states with the wanted outputs, from x on; fails when the machine cannot have them.
static od_status reach(start *s, const od_experiment *e, od_sim *sim, const double *wanted, double *x, double *y) {
  double off = INFINITY;
  od_status status = od_sim_set(sim, od_sim_time(sim), x, od_sim_inputs(sim));
  for (int i = 0; i < NEWTON && status == OD_OK && off > 1e-6; i++) status = approach(s, e, sim, wanted, x, y, &off);
  return status == OD_OK && !(off <= 1e-6) ? OD_NOT_CONVERGED : status;
}

static od_status draw_parameters(const od_experiment *e, uint64_t seed, double *p) {
  for (int i = 0; i < e->parameters; i++) {
    const od_estimated *q = &e->parameter[i];
    bool inside = false;
    for (uint64_t attempt = 0; attempt < DRAWS && !inside; attempt++) {
      p[i] = draw(seed, q->path, attempt, isnan(q->truth) ? q->start : q->truth, q->sigma);
      inside = p[i] >= q->low && p[i] <= q->high;
    }
    if (!inside) return OD_NOT_CONVERGED;
  }
  return OD_OK;
}

// Outputs that the machine cannot have, such as a pressure below zero, are drawn again.
static od_status draw_state(start *s, const od_experiment *e, uint64_t seed, const double *true_outputs, od_sim *sim,
                            double *x) {
  size_t watches = (size_t)e->watches, states = (size_t)s->nx;
  double *wanted = calloc(watches + (size_t)e->outputs + states + 1, sizeof *wanted);
  if (!wanted) return OD_NO_MEMORY;
  double *y = wanted + watches, *begin = y + e->outputs;
  od_status status = OD_NOT_CONVERGED;
  memcpy(begin, od_sim_state(sim), states * sizeof *begin);
  for (uint64_t attempt = 0; attempt < DRAWS && status != OD_OK; attempt++) {
    for (int i = 0; i < e->watches; i++)
      wanted[i] = draw(seed, e->watched[i].name, attempt, true_outputs[i], e->watched[i].sigma);
    memcpy(x, begin, states * sizeof *x);
    status = reach(s, e, sim, wanted, x, y);
  }
  free(wanted);
  return status;
}

od_status od_start_draw(const od_experiment *e, uint64_t seed, const double *true_outputs, od_sim *sim, int nx,
                        double *x, double *p) {
  start s;
  od_status status = allocate(&s, e, nx) ? draw_parameters(e, seed, p) : OD_NO_MEMORY;
  if (status == OD_OK) status = draw_state(&s, e, seed, true_outputs, sim, x);
  release(&s);
  return status;
}

// --- While loading ------------------------------------------------------------------------------------------------

static od_status at_models_start(const od_experiment *e, const od_plant *plant, double *P, od_start_problem *problem) {
  od_sim *sim = od_sim_new(plant);
  double *u = calloc((size_t)plant->nu + 1, sizeof *u);
  od_status status = sim && u ? OD_OK : OD_NO_MEMORY;
  if (status == OD_OK) {
    od_machine_inputs(e->model, 0, u);
    status = od_sim_start(sim, 0, u);
  }
  if (status == OD_OK) status = od_start_covariance(e, sim, od_plant_nx(plant), P, problem);
  od_sim_free(sim);
  free(u);
  return status;
}

static void complain(od_experiment_loader *xl, od_status status, const od_start_problem *problem) {
  od_loader *ld = &xl->ld;
  if (status == OD_NO_MEMORY)
    ld->no_memory = true;
  else if (status != OD_BAD_INPUT)
    od_complain(ld, ld->tree.root, "the model cannot start: %s", od_status_text(status));
  else if (problem->output >= 0)
    od_complain(ld, xl->watched_key[problem->output],
                "'%s' says nothing about the states that the outputs before it do not say",
                xl->e->watched[problem->output].name);
  else
    od_complain(ld, xl->initial, "found %d of %d outputs; as many are needed as there are states they depend on",
                problem->outputs, problem->states);
}

void od_load_start(od_experiment_loader *xl) {
  od_experiment *e = xl->e;
  od_plant *plant = NULL;
  od_error err = {0};
  od_start_problem problem = {.output = -1};
  if (od_experiment_plant(e, &plant, &err) != OD_OK) {
    od_complain(&xl->ld, xl->ld.tree.root, "%s", err.text);
    return;
  }
  size_t n = (size_t)(od_plant_nx(plant) + e->parameters);
  e->covariance = calloc(n * n + 1, sizeof *e->covariance);
  od_status status = e->covariance ? at_models_start(e, plant, e->covariance, &problem) : OD_NO_MEMORY;
  if (status != OD_OK) complain(xl, status, &problem);
  od_plant_free(plant);
}
