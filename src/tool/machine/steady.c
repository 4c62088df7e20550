#include "machine/steady.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "machine/machine.h"
#include "memory/scoped.h"

enum { ROUNDS = 1500, NEWTON_ROUNDS = 60, HALVINGS = 14, MOST_SAMPLES = 400 };
static const double settled = 1e-10;  // largest rate of a steady state relative to the scale of the state, 1/s
static const double first_step = 1e-4, longest_step = 1e9, shortest_step = 1e-12;  // s
static const double longest_move = 0.3;          // largest change of a position in one step, m or rad
static const double least_pressure_ratio = 0.1;  // smallest ratio of the pressures after and before one step
static const double rank_bound = 1e-10;
static const double least_pressure = 1e3;  // Pa; an empty volume also has zero rates, but is not an operating point

typedef struct search {
  od_sim *sim;
  const od_plant *plant;
  const bool *fixed;
  bool *is_pressure;
  int nx, nz, ny;
  double time;
  double *x, *u, *f, *fx, *y, *hx, *trial, *next, *scale, *a, *b, *s;
  lapack_int *pivot;
} search;

// Starts a search from the current state. Returns false if an allocation fails.
static bool begin(search *s, const od_machine *machine, od_sim *sim, const od_plant *plant, const bool *fixed,
                  od_arena *arena) {
  long long nx = od_plant_nx(plant), ny = plant->ny, most = 2 * nx + ny;
  *s = (search){.sim = sim,
                .plant = plant,
                .fixed = fixed,
                .is_pressure = OD_TAKE(arena, bool, nx),
                .nx = (int)nx,
                .nz = plant->nz,
                .ny = plant->ny,
                .time = od_sim_time(sim),
                .x = OD_TAKE(arena, double, nx),
                .u = OD_TAKE(arena, double, plant->nu),
                .f = OD_TAKE(arena, double, nx),
                .fx = OD_TAKE(arena, double, nx *nx),
                .y = OD_TAKE(arena, double, ny),
                .hx = OD_TAKE(arena, double, nx *ny),
                .trial = OD_TAKE(arena, double, nx),
                .next = OD_TAKE(arena, double, nx),
                .scale = OD_TAKE(arena, double, nx),
                .a = OD_TAKE(arena, double, (nx + ny) * nx),
                .b = OD_TAKE(arena, double, most),
                .s = OD_TAKE(arena, double, most),
                .pivot = OD_TAKE(arena, lapack_int, nx)};
  if (arena->exhausted) return false;
  const od_model *m = od_machine_model(machine);
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0) s->is_pressure[2 * plant->nz + m->node[i].state] = true;
  if (nx > 0) memcpy(s->x, od_sim_state(sim), (size_t)nx * sizeof *s->x);
  if (plant->nu) memcpy(s->u, od_sim_inputs(sim), (size_t)plant->nu * sizeof *s->u);
  for (int i = 0; i < s->nx; i++) {
    double size = i >= 2 * s->nz && plant->scale ? plant->scale[i - s->nz] : 1;
    s->scale[i] = size > 0 ? size : 1;
  }
  return true;
}

static bool is_fixed(const search *s, int state) {
  return s->fixed && s->fixed[state];
}

static bool set(search *s, const double *x) {
  return od_sim_set(s->sim, s->time, x, s->u) == OD_OK;
}

static void take_state(search *s) {
  memcpy(s->x, od_sim_state(s->sim), (size_t)s->nx * sizeof *s->x);
}

// Returns the state whose rate is largest relative to its scale, among states that are not fixed. found: whether this
// rate is at most `settled` times the scale of the state per second.
static od_steady judge(const search *s) {
  od_steady r = {.fastest = -1};
  double most = -1;
  for (int i = 0; i < s->nx; i++) {
    double part = fabs(s->f[i]) / s->scale[i];
    if (!is_fixed(s, i) && !(part <= most)) most = part, r.fastest = i, r.rate = s->f[i];
  }
  r.found = most <= settled;
  return r;
}

// --- Settling --------------------------------------------------------------------------------------------------------

// Solves (1 - h f_x) dx = h f for states that are not fixed. Writes the step, relative to the scales of the states, to s->b.
// Returns false if the matrix is singular.
static bool find_step(search *s, double h) {
  int n = s->nx;
  for (int i = 0; i < n; i++) {
    bool stays = is_fixed(s, i);
    for (int j = 0; j < n; j++)
      s->a[i * n + j] = (i == j) - (stays ? 0 : h * s->fx[i * n + j] * s->scale[j] / s->scale[i]);
    s->b[i] = stays ? 0 : h * s->f[i] / s->scale[i];
  }
  bool solved = LAPACKE_dgesv(LAPACK_ROW_MAJOR, n, 1, s->a, n, s->pivot, s->b, 1) == 0;
  for (int i = 0; i < n && solved; i++) solved = isfinite(s->b[i]);
  return solved;
}

// Tries a step of length h (s) with the rule x1 = x0 + h f(x1). Returns the residual relative to the change of the state in the
// step. INFINITY: the rates cannot be evaluated at the end of the step, or a position moves by more than longest_move
// of its scale. *size: largest change relative to the state's scale.
static double try_step(search *s, double h, double *size) {
  double off = 0;
  *size = 0;
  for (int i = 0; i < s->nx; i++) {
    s->trial[i] = s->x[i] + s->b[i] * s->scale[i];
    if (i < s->nz && !(fabs(s->b[i]) <= longest_move)) return INFINITY;
    if (s->is_pressure[i] && s->x[i] > 0) s->trial[i] = fmax(s->trial[i], least_pressure_ratio * s->x[i]);
    *size = fmax(*size, fabs(s->trial[i] - s->x[i]) / s->scale[i]);
  }
  if (!set(s, s->trial) || od_sim_derivatives(s->sim, s->next, NULL, NULL, NULL) != OD_OK) return INFINITY;
  for (int i = 0; i < s->nx; i++)
    if (!is_fixed(s, i)) off = fmax(off, fabs(s->trial[i] - s->x[i] - h * s->next[i]) / s->scale[i]);
  return isfinite(off) ? off / fmax(*size, 1e-9) : INFINITY;
}

// Executes the mode switches and the changes of coordinates that are due, as a run does between its steps. Returns
// whether the state has jumped.
static bool take_jumps(search *s) {
  bool jumped = false, changed = false;
  double margin = INFINITY;
  if (od_sim_margin(s->sim, &margin) == OD_OK && !(margin > 0))
    if (od_sim_sample(s->sim, NULL, NULL, &jumped) != OD_OK) jumped = false;
  if (od_sim_repartition(s->sim, NULL, &changed) != OD_OK) changed = false;
  take_state(s);
  return jumped;
}

// Integrates from the current state until all rates are zero, without samples.
static od_steady settle(search *s) {
  double h = first_step;
  od_steady r = {.fastest = -1};
  int still = 0;
  for (int round = 0; round < ROUNDS && h > shortest_step; round++) {
    if (!set(s, s->x) || od_sim_derivatives(s->sim, s->f, s->fx, NULL, NULL) != OD_OK) return r;
    r = judge(s);
    if (r.found) return r;
    double size, off = find_step(s, h) ? try_step(s, h, &size) : INFINITY;
    // The search also ends after four successive steps longer than 1 s that change the state only by round-off.
    still = isfinite(off) && size < 1e-13 && h > 1 ? still + 1 : 0;
    if (still > 3) {
      r.found = fabs(r.rate) / s->scale[r.fastest] < 1e-7;
      return r;
    }
    if (!(off <= 1)) {
      h /= 4;
      continue;
    }
    memcpy(s->x, s->trial, (size_t)s->nx * sizeof *s->x);
    if (take_jumps(s))
      h = first_step;
    else if (off < 0.3)
      h = fmin(3 * h, longest_step);
  }
  return r;
}

// Takes the next sample. Returns the largest change of a state relative to its scale; INFINITY: the sample failed.
static double sample(search *s) {
  bool changed = false;
  double most = 0;
  s->time = od_sim_next_sample(s->sim);
  memcpy(s->trial, s->x, (size_t)s->nx * sizeof *s->x);
  if (!set(s, s->x) || od_sim_sample(s->sim, NULL, NULL, &changed) != OD_OK) return INFINITY;
  take_state(s);
  for (int i = 0; i < s->nx; i++) most = fmax(most, fabs(s->x[i] - s->trial[i]) / s->scale[i]);
  return most;
}

od_status od_steady_settle(const od_machine *machine, od_sim *sim, const od_plant *plant, const bool *fixed,
                           od_steady *result) {
  OD_SCRATCH(scratch);
  search s;
  *result = (od_steady){.fastest = -1};
  if (!begin(&s, machine, sim, plant, fixed, &scratch)) return OD_NO_MEMORY;
  *result = settle(&s);
  bool samples = isfinite(od_sim_next_sample(sim));
  for (int i = 0; samples && result->found; i++) {
    if (i == MOST_SAMPLES) result->found = false;
    if (i == MOST_SAMPLES || sample(&s) < 1e-9) break;
    *result = settle(&s);
  }
  od_sim_set(sim, s.time, s.x, s.u);
  return OD_OK;
}

// --- The nearest state at which all rates are zero -------------------------------------------------------------------

// The equations of Newton's method: all rates except the rates of positions are zero, and the held outputs have their values.
typedef struct newton {
  search *s;
  int *unknown, unknowns, rows;
  const od_steady_hold *hold;
  double *weight;  // weight of each row
} newton;

// Evaluates rates, outputs and their derivatives at a state. Returns false if the model cannot be evaluated.
static bool evaluate(newton *n, const double *x) {
  search *s = n->s;
  return set(s, x) && od_sim_derivatives(s->sim, s->f, s->fx, NULL, NULL) == OD_OK &&
         od_sim_outputs(s->sim, s->y) == OD_OK && od_sim_output_jacobians(s->sim, s->hx, NULL, NULL) == OD_OK;
}

static double residual(const newton *n, int row) {
  const search *s = n->s;
  int rates = s->nx - s->nz;
  return row < rates ? s->f[s->nz + row] : s->y[n->hold[row - rates].output] - n->hold[row - rates].value;
}

static const double *gradient(const newton *n, int row) {
  const search *s = n->s;
  int rates = s->nx - s->nz;
  return row < rates ? s->fx + (s->nz + row) * s->nx : s->hx + n->hold[row - rates].output * s->nx;
}

// Returns the norm of the weighted residuals.
static double norm(const newton *n) {
  double sum = 0;
  for (int i = 0; i < n->rows; i++) sum += pow(residual(n, i) * n->weight[i], 2);
  return sqrt(sum);
}

// Computes the shortest least-squares solution of the linear equations and writes the solution to s->b. Rows are scaled such that
// the largest derivative is 1. Returns false if a number is not finite or the solver failed.
static bool shortest(newton *n) {
  search *s = n->s;
  lapack_int rank;
  for (int i = 0; i < n->rows; i++) {
    const double *row = gradient(n, i);
    double largest = 0;
    for (int j = 0; j < n->unknowns; j++) largest = fmax(largest, fabs(row[n->unknown[j]]) * s->scale[n->unknown[j]]);
    double usual = i < s->nx - s->nz ? s->scale[s->nz + i] : 1;
    n->weight[i] = 1 / (largest > 0 ? largest : usual);
    for (int j = 0; j < n->unknowns; j++)
      s->a[i * n->unknowns + j] = row[n->unknown[j]] * s->scale[n->unknown[j]] * n->weight[i];
    s->b[i] = -residual(n, i) * n->weight[i];
    if (!isfinite(largest) || !isfinite(s->b[i])) return false;
  }
  return LAPACKE_dgelsd(LAPACK_ROW_MAJOR, n->rows, n->unknowns, 1, s->a, n->unknowns, s->b, 1, s->s, rank_bound,
                        &rank) == 0;
}

// Takes one step and halves the step until the residuals decrease. Returns false if the residuals do not decrease.
static bool take_shorter(newton *n, double before) {
  search *s = n->s;
  double part = 1;
  for (int j = 0; j < n->unknowns; j++)
    if (n->unknown[j] < s->nz && fabs(s->b[j]) * part > longest_move) part = longest_move / fabs(s->b[j]);
  for (int k = 0; k < HALVINGS; k++, part /= 2) {
    memcpy(s->trial, s->x, (size_t)s->nx * sizeof *s->x);
    for (int j = 0; j < n->unknowns; j++) {
      int i = n->unknown[j];
      s->trial[i] += part * s->b[j] * s->scale[i];
      if (s->is_pressure[i] && s->x[i] > 0) s->trial[i] = fmax(s->trial[i], least_pressure_ratio * s->x[i]);
    }
    if (!evaluate(n, s->trial) || !(norm(n) < before)) continue;
    memcpy(s->x, s->trial, (size_t)s->nx * sizeof *s->x);
    return true;
  }
  return false;
}

// Iterates until the residuals are zero or no longer decrease, at most NEWTON_ROUNDS times.
static od_steady solve(newton *n) {
  search *s = n->s;
  od_steady none = {.fastest = -1};
  if (!evaluate(n, s->x)) return none;
  double left = INFINITY;
  for (int round = 0; round < NEWTON_ROUNDS; round++) {
    if (!shortest(n)) return none;
    left = norm(n);
    if (left < 1e-13 || !take_shorter(n, left)) break;
  }
  if (!evaluate(n, s->x)) return none;
  od_steady r = judge(s);
  r.found = left < 1e-9;
  for (int i = s->nz; i < s->nx && r.found; i++) {
    r.found = fabs(s->f[i]) / s->scale[i] < 1e-6;
    if (s->is_pressure[i] && !is_fixed(s, i) && s->x[i] < least_pressure) r.found = false;
  }
  return r;
}

od_status od_steady_nearest(const od_machine *machine, od_sim *sim, const od_plant *plant, const bool *fixed,
                            const od_steady_hold *hold, int holds, od_steady *result) {
  OD_SCRATCH(scratch);
  search s;
  *result = (od_steady){.fastest = -1};
  if (!begin(&s, machine, sim, plant, fixed, &scratch)) return OD_NO_MEMORY;
  newton n = {.s = &s,
              .rows = s.nx - s.nz + holds,
              .hold = hold,
              .unknown = OD_TAKE(&scratch, int, s.nx),
              .weight = OD_TAKE(&scratch, double, s.nx + holds)};
  if (scratch.exhausted) return OD_NO_MEMORY;
  for (int i = s.nz; i < 2 * s.nz; i++) s.x[i] = 0;
  for (int i = 0; i < s.nx; i++)
    if ((i < s.nz || i >= 2 * s.nz) && !is_fixed(&s, i)) n.unknown[n.unknowns++] = i;
  if (n.unknowns > 0) *result = solve(&n);
  od_sim_set(sim, s.time, s.x, s.u);
  return OD_OK;
}
