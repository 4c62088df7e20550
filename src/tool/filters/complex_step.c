// Derivatives of a trapezoidal step by the complex-step method, applied to the whole step as in the literature. For each state and
// each parameter, one step is taken in complex numbers, with a tiny imaginary part in that state or parameter. The
// equations are the equations of trapezoid.c, but this file shares no code with trapezoid.c.
//
// The Newton iteration in complex numbers uses the real matrix of the step and thus converges linearly. The real parts have
// converged before the iteration starts.
#include "filters/complex_step.h"

#include <math.h>
#include <string.h>

#include "integrate/integrators.h"
#include "integrate/sim_block.h"
#include "math/dense.h"

enum { MOST_ROUNDS = 12 };
static const double tiny = 1e-30;  // imaginary part of the perturbed state or parameter

// Pointers into the caller's memory, set at each call; complex numbers are pairs.
typedef struct steps {
  double *x0, *k0;            // nx, nk: state and rates at the start of the step
  double *dk0;                // n x nk: imaginary parts of the rates at the start, column by column
  double *xc0, *xc, *kc, *g;  // 2 nx each: old and new state; 2 nk each: rates and residual
  double *re, *im;            // nk
  double *matrix;             // nk x nk
  int *pivot;                 // nk
  void *plant;                // work memory of the plant in complex numbers
} steps;

static size_t place(const od_plant *plant, void *memory, steps *s) {
  size_t nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant), n = nx + (size_t)plant->np, used = 0;
  const struct {
    double **to;
    size_t count;
  } parts[] = {{&s->x0, nx},     {&s->k0, nk},    {&s->dk0, n * nk}, {&s->xc0, 2 * nx}, {&s->xc, 2 * nx},
               {&s->kc, 2 * nk}, {&s->g, 2 * nk}, {&s->re, nk},      {&s->im, nk},      {&s->matrix, nk * nk}};
  // Complex numbers are aligned to multiples of their size.
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (memory) *parts[i].to = (double *)memory + used;
    used += (parts[i].count + 1) / 2 * 2;
  }
  if (memory) s->pivot = (int *)((double *)memory + used);
  used += (nk + 1) / 2 * 2;
  if (memory) s->plant = (double *)memory + used;
  return used * sizeof(double) + (plant->ops->in_complex ? plant->ops->in_complex->memory(plant) : 0);
}

size_t od_sim_complex_size(const od_plant *plant) {
  steps s;
  return place(plant, NULL, &s);
}

static od_status factor(od_sim *sim, const steps *s, double alpha, double beta) {
  const od_plant *plant = sim->plant;
  od_status status = plant->ops->step_matrix(plant, od_sim_work(sim), alpha, beta, s->matrix);
  return status == OD_OK ? od_lu_factor(od_plant_nk(plant), s->matrix, s->pivot) : status;
}

// Computes the correction of the rates kc from g at (x, kc).
static od_status correct(od_sim *sim, const steps *s, const double *x) {
  const od_plant *plant = sim->plant;
  int nk = od_plant_nk(plant);
  od_status status = plant->ops->in_complex->residual(plant, od_sim_work(sim), s->plant, x, s->kc, s->g);
  if (status != OD_OK) return status;
  for (int i = 0; i < nk; i++) s->re[i] = s->g[2 * i], s->im[i] = s->g[2 * i + 1];
  od_lu_solve(nk, s->matrix, s->pivot, s->re, 1);
  od_lu_solve(nk, s->matrix, s->pivot, s->im, 1);
  for (int i = 0; i < nk; i++) s->kc[2 * i] -= s->re[i], s->kc[2 * i + 1] -= s->im[i];
  return OD_OK;
}

// Returns whether the last correction of the imaginary parts is at the level of round-off. The reference size is the size of the
// imaginary parts, or their change if the perturbed entry changes by its own magnitude.
static bool converged(const od_plant *plant, const steps *s, double entry) {
  double change = 0, size = 0;
  for (int i = 0; i < od_plant_nk(plant); i++) {
    double scale = plant->scale ? plant->scale[i] : 1;
    change = fmax(change, fabs(s->im[i]) / scale);
    size = fmax(size, fabs(s->kc[2 * i + 1]) / scale);
  }
  return change <= 1e-11 * fmax(size, tiny / fmax(fabs(entry), 1));
}

static void move_column(const steps *s, int nx, int column) {
  for (int i = 0; i < nx; i++) s->xc0[2 * i] = s->x0[i], s->xc0[2 * i + 1] = i == column ? tiny : 0;
}

// Computes the imaginary parts of the rates at the start. g is linear in the rates, so one correction with the mass matrix gives
// the solution. Fails with a status of factor(), of correct() or of the plant.
static od_status old_rates(od_sim *sim, const steps *s, int columns) {
  const od_plant *plant = sim->plant;
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  od_status status = factor(sim, s, 0, 0);
  for (int j = 0; j < columns && status == OD_OK; j++) {
    status = plant->ops->in_complex->begin(plant, od_sim_work(sim), s->plant, j < nx ? -1 : j - nx, j < nx ? 0 : tiny);
    move_column(s, nx, j);
    for (int i = 0; i < nk; i++) s->kc[2 * i] = s->k0[i], s->kc[2 * i + 1] = 0;
    if (status == OD_OK) status = correct(sim, s, s->xc0);
    for (int i = 0; i < nk; i++) s->dk0[j * nk + i] = s->kc[2 * i + 1];
  }
  return status;
}

// Computes the new state in xc, with entry `column` of the old state and parameters perturbed. Fails with OD_NOT_CONVERGED or a
// status of correct().
static od_status new_state(od_sim *sim, const steps *s, double h, int column, double entry) {
  const od_plant *plant = sim->plant;
  int nz = plant->nz, nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  const double *k1 = od_sim_rates(sim), *dk0 = s->dk0 + column * nk;
  move_column(s, nx, column);
  for (int i = 0; i < nk; i++) s->kc[2 * i] = k1[i], s->kc[2 * i + 1] = 0;
  for (int round = 0; round < MOST_ROUNDS; round++) {
    for (int part = 0; part < 2; part++) {
      for (int i = 0; i < nx; i++) {
        int k = i < nz ? i : i - nz;
        double sum = (part ? dk0[k] : s->k0[k]) + s->kc[2 * k + part];
        s->xc[2 * i + part] =
            s->xc0[2 * i + part] + (i < nz ? h * s->xc0[2 * (nz + i) + part] + h * h / 4 * sum : h / 2 * sum);
      }
    }
    od_status status = correct(sim, s, s->xc);
    if (status != OD_OK || converged(plant, s, entry)) return status;
  }
  return OD_NOT_CONVERGED;
}

od_status od_sim_step_with_complex_steps(od_sim *sim, double h, const double *u, void *memory, double *F, double *Gp) {
  const od_plant *plant = sim->plant;
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant), np = Gp ? plant->np : 0;
  steps s;
  if (!plant->ops->in_complex || sim->integrator != &od_integrator_trapezoid) return OD_NOT_AVAILABLE;
  place(plant, memory, &s);
  od_status status = od_sim_refresh(sim);
  memcpy(s.x0, od_sim_state(sim), (size_t)nx * sizeof *s.x0);
  memcpy(s.k0, od_sim_rates(sim), (size_t)nk * sizeof *s.k0);
  if (status == OD_OK) status = old_rates(sim, &s, nx + np);
  bool slides = sim->holding;
  if (status == OD_OK) status = od_sim_step(sim, h, u);
  if (status == OD_OK && (slides || sim->holding || sim->entered)) return OD_NOT_AVAILABLE;
  if (status == OD_OK) status = od_sim_refresh(sim);
  if (status == OD_OK) status = factor(sim, &s, h * h / 4, h / 2);
  if (status != OD_OK) return status;
  for (int j = 0; j < nx + np && status == OD_OK; j++) {
    double entry = j < nx ? s.x0[j] : 1;
    status = plant->ops->in_complex->begin(plant, od_sim_work(sim), s.plant, j < nx ? -1 : j - nx, j < nx ? 0 : tiny);
    if (status == OD_OK) status = new_state(sim, &s, h, j, entry);
    for (int i = 0; i < nx; i++) *(j < nx ? &F[i * nx + j] : &Gp[i * np + j - nx]) = s.xc[2 * i + 1] / tiny;
  }
  return status;
}
