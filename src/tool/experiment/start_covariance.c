// Maps the initial uncertainty of outputs to states. Computes the covariance of the states, and random starts.
//
// For small errors, y = H x with the errors x of the states and y of the outputs, which have the covariance C. P = H^-1
// C H^-T is the covariance of the states that the outputs depend on. The other states are assumed to be known. The
// mapping needs as many independent outputs as states.
// The process noise of a step is mapped in the same way. A random start has the true outputs plus an error with the covariance C; its
// states are computed by Newton's method with H at each iterate.
#include "experiment/start_covariance.h"

#include <math.h>
#include <string.h>

#include "experiment/experiment_loader.h"
#include "math/dense.h"
#include "memory/owned.h"
#include "random/random.h"

enum { MOST_DRAWS = 100, MOST_ITERATIONS = 30 };

typedef struct start {
  od_arena memory;
  const od_output_covariance *given;
  // Whether plant output i is watched output i. If not, the plant output of a watched output is od_watched.row.
  bool in_order;
  int nx, rows, columns;
  int *state, *pivot;      // index of the state of each column; scratch: pivots
  double *sigma;           // standard deviation of the output of each row
  double *hx, *H, *scale;  // Jacobian of all outputs; rows and columns in use, scaled; scales of the columns
} start;

// Allocates memory for a plant with this number of outputs. Returns false if out of memory.
static bool allocate(start *s, int outputs, const od_output_covariance *given, int nx) {
  s->given = given;
  s->nx = nx;
  s->rows = given->count;
  s->sigma = OD_TAKE(&s->memory, double, outputs);
  s->state = OD_TAKE(&s->memory, int, nx);
  s->pivot = OD_TAKE(&s->memory, int, nx);
  s->scale = OD_TAKE(&s->memory, double, nx);
  s->hx = OD_TAKE(&s->memory, double, outputs *nx);
  s->H = OD_TAKE(&s->memory, double, 2 * (outputs + 1) * (nx + 1));
  if (od_arena_status(&s->memory) != OD_OK) return false;
  for (int r = 0; r < s->rows; r++) s->sigma[r] = sqrt(given->covariance[r * (s->rows + 1)]);
  return true;
}

static void free_start(start *s) {
  od_arena_free(&s->memory);
}

// Returns the row of the outputs' Jacobian for given output r.
static const double *row_of(const start *s, const od_experiment *e, int r) {
  int output = s->given->output[r];
  return s->hx + (s->in_order ? output : e->watched[output].row) * s->nx;
}

// Finds the states that the outputs depend on, and their scaled Jacobian, at the current state of the simulation. Fails with a
// status of od_sim_output_jacobians().
static od_status choose(start *s, const od_experiment *e, od_sim *sim) {
  od_status status = od_sim_output_jacobians(sim, s->hx, NULL, NULL);
  if (status != OD_OK) return status;
  s->columns = 0;
  for (int j = 0; j < s->nx; j++) {
    double size = 0;
    // A state is chosen if any output depends on this state. Outputs are in units of their sigmas.
    for (int r = 0; r < s->rows; r++) size = fmax(size, fabs(row_of(s, e, r)[j]) / s->sigma[r]);
    if (size <= 0) continue;
    s->scale[s->columns] = 1 / size;
    s->state[s->columns++] = j;
  }
  for (int r = 0; r < s->rows; r++)
    for (int c = 0; c < s->columns; c++)
      s->H[r * s->columns + c] = row_of(s, e, r)[s->state[c]] * s->scale[c] / s->sigma[r];
  return OD_OK;
}

// Returns the first row that depends linearly on the previous rows; -1: all rows are independent. Applies Gram-Schmidt
// orthogonalization to a copy.
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

// Fills the n x n matrix P. Rows of H are in units of the outputs' sigmas, so the correlations replace C. Fails with a status of
// od_lu_factor().
static od_status fill(start *s, int n, double *P) {
  int m = s->columns;
  const double *C = s->given->covariance, *sigma = s->sigma;
  double *inverse = s->H + m * m;
  for (int i = 0; i < m * m; i++) inverse[i] = i % (m + 1) == 0;
  od_status status = od_lu_factor(m, s->H, s->pivot);
  if (status != OD_OK) return status;
  od_lu_solve(m, s->H, s->pivot, inverse, m);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int k = 0; k < m; k++) {
        double part = 0;
        for (int l = 0; l < m; l++) part += (k == l ? 1 : C[k * m + l] / (sigma[k] * sigma[l])) * inverse[j * m + l];
        sum += inverse[i * m + k] * part;
      }
      P[s->state[i] * n + s->state[j]] = sum * s->scale[i] * s->scale[j];
    }
  return OD_OK;
}

// Computes the covariance of the states, in the upper left corner of the n x n matrix P. Fails with OD_BAD_INPUT and the reason in
// *problem, with OD_NO_MEMORY, or with a status of choose() or fill().
static od_status map(const od_experiment *e, const od_output_covariance *given, od_sim *sim, int outputs, bool in_order,
                     int nx, int n, double *P, od_start_problem *problem) {
  OD_SCOPED(free_start) start s = {.in_order = in_order};
  *problem = (od_start_problem){.output = -1};
  if (!allocate(&s, outputs, given, nx)) return OD_NO_MEMORY;
  od_status status = choose(&s, e, sim);
  if (status != OD_OK) return status;
  memset(P, 0, (size_t)(n * n) * sizeof *P);
  int row = dependent_row(&s, s.H + s.rows * s.columns);
  *problem = (od_start_problem){row, s.rows, s.columns};
  // There cannot be more linearly independent outputs than states.
  return row >= 0 || s.rows < s.columns ? OD_BAD_INPUT : fill(&s, n, P);
}

od_status od_start_map_noise(const od_experiment *e, const od_output_covariance *given, od_sim *sim,
                             const od_plant *plant, double *Q, od_start_problem *problem) {
  int nx = od_plant_nx(plant);
  return map(e, given, sim, plant->ny, true, nx, nx, Q, problem);
}

od_status od_start_covariance(const od_experiment *e, od_sim *sim, int nx, double *P, od_start_problem *problem) {
  int n = nx + e->parameters;
  od_status status = map(e, &e->initial, sim, e->outputs, false, nx, n, P, problem);
  for (int i = 0; i < e->parameters && status == OD_OK; i++) {
    int of = nx + e->parameter[i].start_of - 1;
    P[(nx + i) * (n + 1)] = pow(e->parameter[i].sigma, 2);
    if (of >= nx) P[(nx + i) * n + of] = P[of * n + nx + i] = P[(nx + i) * (n + 1)];
  }
  return status;
}

od_status od_start_process_noise(const od_experiment *e, od_sim *sim, int nx, double *Q) {
  od_start_problem problem;
  return map(e, &e->process, sim, e->outputs, false, nx, nx, Q, &problem);
}

// --- Random starts ------------------------------------------------------------------------------------------------

// Returns a Gaussian random number that depends on the seed, a name and the attempt.
static double draw(uint64_t seed, const char *name, uint64_t attempt) {
  return od_random_gaussian(seed, od_random_stream(name), attempt, OD_USE_START);
}

// Takes one step of Newton's method toward the wanted outputs. *off: deviation of the outputs before the step, in sigmas. Fails
// with OD_SINGULAR or a status of the simulation.
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
    step[r] = (wanted[r] - y[e->watched[s->given->output[r]].row]) / s->sigma[r];
    *off = fmax(*off, fabs(step[r]));
  }
  od_lu_solve(s->columns, s->H, s->pivot, step, 1);
  for (int c = 0; c < s->columns; c++) x[s->state[c]] += step[c] * s->scale[c];
  return od_sim_set(sim, od_sim_time(sim), x, od_sim_inputs(sim));
}

// Computes the states with the wanted outputs, starting at x. Fails if the machine cannot reach these outputs.
static od_status reach(start *s, const od_experiment *e, od_sim *sim, const double *wanted, double *x, double *y) {
  double off = INFINITY;
  od_status status = od_sim_set(sim, od_sim_time(sim), x, od_sim_inputs(sim));
  for (int i = 0; i < MOST_ITERATIONS && status == OD_OK && off > 1e-6; i++)
    status = approach(s, e, sim, wanted, x, y, &off);
  return status == OD_OK && !(off <= 1e-6) ? OD_NOT_CONVERGED : status;
}

// Draws the parameters within their bounds. Parameters with keeps_start have their initial values. Returns OD_NOT_CONVERGED if all
// draws of a parameter are outside its bounds.
static od_status draw_parameters(const od_experiment *e, uint64_t seed, double *p) {
  for (int i = 0; i < e->parameters; i++) {
    const od_estimated *q = &e->parameter[i];
    bool inside = q->keeps_start;
    if (inside) p[i] = q->start;
    for (uint64_t attempt = 0; attempt < MOST_DRAWS && !inside; attempt++) {
      p[i] = (isnan(q->truth) ? q->start : q->truth) + q->sigma * draw(seed, q->path, attempt);
      inside = p[i] >= fmax(q->low, q->least) && p[i] <= fmin(q->high, q->most);
    }
    if (!inside) return OD_NOT_CONVERGED;
  }
  return OD_OK;
}

// Stores the sensitivity of the outputs to each state: the largest magnitude in each column of the output Jacobian,
// with outputs in units of their sigmas; 0: no output depends on the state.
static void keep_sizes(const start *s, double *size) {
  for (int i = 0; i < s->nx; i++) size[i] = 0;
  for (int c = 0; c < s->columns; c++) size[s->state[c]] = 1 / s->scale[c];
}

// Returns whether the sensitivity of the outputs to a state (keep_sizes()) is less than a quarter of `size`, the sensitivities at
// the true start. An example is a start near a dead center, where a linearization is not valid.
static bool is_near_dead_point(const start *s, const double *size, double *here) {
  keep_sizes(s, here);
  for (int i = 0; i < s->nx; i++)
    if (here[i] < size[i] / 4) return true;
  return false;
}

// Draws a start. Outputs that the machine cannot reach, such as a pressure below zero, and outputs near a dead center are drawn again.
// If all draws are rejected, returns the reason for the last rejection; near a dead center: OD_NOT_CONVERGED.
static od_status draw_state(start *s, const od_experiment *e, uint64_t seed, const double *true_outputs, od_sim *sim,
                            double *x, od_redrawn *redrawn) {
  size_t states = (size_t)s->nx;
  double *wanted = OD_TAKE(&s->memory, double, e->watches), *middle = OD_TAKE(&s->memory, double, e->watches);
  double *y = OD_TAKE(&s->memory, double, e->outputs), *begin = OD_TAKE(&s->memory, double, states);
  double *size = OD_TAKE(&s->memory, double, states), *here = OD_TAKE(&s->memory, double, states);
  if (od_arena_status(&s->memory) != OD_OK) return OD_NO_MEMORY;
  od_status status = od_sim_outputs(sim, y);
  // Outputs that the true machine does not have are drawn around the model's start.
  for (int i = 0; i < e->watches; i++) middle[i] = isnan(true_outputs[i]) ? y[e->watched[i].row] : true_outputs[i];
  if (status == OD_OK) status = OD_NOT_CONVERGED;
  memcpy(begin, od_sim_state(sim), states * sizeof *begin);
  memcpy(x, begin, states * sizeof *x);
  // The sensitivities at drawn starts are compared with the sensitivities at the true outputs.
  for (int r = 0; r < s->rows; r++) wanted[r] = middle[s->given->output[r]];
  if (reach(s, e, sim, wanted, x, y) == OD_OK) keep_sizes(s, size);
  for (uint64_t attempt = 0; attempt < MOST_DRAWS && status != OD_OK; attempt++) {
    for (int r = 0; r < s->rows; r++) {
      double error = 0;
      for (int k = 0; k <= r; k++)
        error += s->given->factor[r * s->rows + k] * draw(seed, e->watched[s->given->output[k]].name, attempt);
      wanted[r] = middle[s->given->output[r]] + error;
    }
    memcpy(x, begin, states * sizeof *x);
    status = reach(s, e, sim, wanted, x, y);
    redrawn->impossible += status != OD_OK;
    if (status != OD_OK || !is_near_dead_point(s, size, here)) continue;
    redrawn->near_dead_point++;
    status = OD_NOT_CONVERGED;
  }
  return status;
}

od_status od_start_draw(const od_experiment *e, uint64_t seed, const double *true_outputs, od_sim *sim, int nx,
                        double *x, double *p, od_redrawn *redrawn) {
  OD_SCOPED(free_start) start s = {0};
  *redrawn = (od_redrawn){0};
  if (!allocate(&s, e->outputs, &e->initial, nx)) return OD_NO_MEMORY;
  od_status status = draw_parameters(e, seed, p);
  return status == OD_OK ? draw_state(&s, e, seed, true_outputs, sim, x, redrawn) : status;
}

// --- While loading ------------------------------------------------------------------------------------------------

// Starts a simulation of a machine's plant at time 0. On failure returns NULL, with the status in *status.
static od_sim *start_machine(const od_machine *machine, const od_plant *plant, od_arena *memory, od_status *status) {
  OD_OWNED(od_sim_free) od_sim *sim = od_sim_new(plant);
  double *u = OD_TAKE(memory, double, plant->nu);
  *status = OD_NO_MEMORY;
  if (!sim || !u) return NULL;
  od_machine_inputs(machine, 0, u);
  *status = od_sim_start(sim, 0, u);
  return *status == OD_OK ? OD_GIVE(sim) : NULL;
}

static void complain(od_experiment_loader *xl, od_status status, const od_output_covariance *given,
                     const od_start_problem *problem) {
  od_loader *ld = &xl->ld;
  const od_experiment *e = xl->e;
  if (status == OD_NO_MEMORY)
    ld->no_memory = true;
  else if (status != OD_BAD_INPUT)
    od_complain(ld, ld->tree.root, "the %s cannot start: %s",
                given == &e->truth_noise.process ? "true machine" : "model", od_status_text(status));
  else if (problem->output >= 0)
    od_complain(ld, given->entry[problem->output],
                "'%s' depends linearly on the previous outputs; expected an output that depends on another state",
                e->watched[given->output[problem->output]].name);
  else
    od_complain(ld, given->node,
                "found %d of %d outputs; expected one output for each state that the outputs depend on",
                problem->outputs, problem->states);
}

od_status od_start_map(od_experiment *e, od_arena *memory, const od_output_covariance **about,
                       od_start_problem *problem, od_error *err) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  *about = NULL;
  *problem = (od_start_problem){.output = -1};
  od_status status = od_experiment_plant(e, &plant, err);
  if (status != OD_OK) return status;
  *about = &e->initial;
  int nx = od_plant_nx(plant), n = nx + e->parameters;
  e->covariance = OD_TAKE(memory, double, n *n);
  if (e->process.count > 0) e->process_noise = OD_TAKE(memory, double, nx *nx);
  if (od_arena_status(memory) != OD_OK) return OD_NO_MEMORY;
  OD_OWNED(od_sim_free) od_sim *sim = start_machine(e->model, plant, &scratch, &status);
  if (status == OD_OK) status = od_start_covariance(e, sim, nx, e->covariance, problem);
  if (status != OD_OK || e->process.count == 0) return status;
  *about = &e->process;
  return map(e, &e->process, sim, e->outputs, false, nx, nx, e->process_noise, problem);
}

static void map_for_observer(od_experiment_loader *xl) {
  const od_output_covariance *about = NULL;
  od_start_problem problem;
  od_error err = {0};
  od_status status = od_start_map(xl->e, &xl->e->memory, &about, &problem, &err);
  if (status != OD_OK && !about)
    od_complain(&xl->ld, xl->ld.tree.root, "%s", err.text);
  else if (status != OD_OK)
    complain(xl, status, about, &problem);
}

// Checks that the outputs of the true machine's process noise determine its states.
static void check_truth_noise(od_experiment_loader *xl) {
  const od_experiment *e = xl->e;
  const od_output_covariance *given = &e->truth_noise.process;
  if (!e->disturbed || given->count == 0) return;
  od_start_problem problem = {.output = -1};
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  od_error err = {0};
  int *outputs = OD_TAKE(&xl->memory, int, e->watches);
  if (!outputs) return;
  for (int i = 0; i < e->watches; i++) outputs[i] = e->watched[i].truth_output < 0 ? 0 : e->watched[i].truth_output;
  od_status status = od_machine_plant(e->truth, outputs, e->watches, NULL, 0, &plant, &err);
  if (status == OD_OK) {
    OD_OWNED(od_sim_free) od_sim *sim = start_machine(e->truth, plant, &xl->memory, &status);
    double *Q = OD_TAKE(&xl->memory, double, od_plant_nx(plant) * od_plant_nx(plant));
    if (!Q) return;
    if (status == OD_OK) status = od_start_map_noise(e, given, sim, plant, Q, &problem);
  }
  if (status != OD_OK) complain(xl, status, given, &problem);
}

void od_load_start(od_experiment_loader *xl) {
  map_for_observer(xl);
  check_truth_noise(xl);
}
