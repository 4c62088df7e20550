// The classical Runge-Kutta rule of order four on the explicit form, for machines that are not stiff.
//
//   f_i = f(x0 + a_i h f_(i-1)),   x1 = x0 + h sum b_i f_i,   a = 0, 1/2, 1/2, 1,   b = 1/6, 1/3, 1/3, 1/6
//
// The derivatives of a step are propagated through all stages and are exact derivatives of the rule: K_i = fx (E + a_i
// h K_(i-1)) + fu + fp, where E is the identity.
#include <math.h>
#include <string.h>

#include "integrate/integrators.h"
#include "integrate/rates.h"
#include "integrate/sim_block.h"
#include "math/dense.h"

enum { STAGES = 4 };
static const double node[STAGES] = {0, 0.5, 0.5, 1}, weight[STAGES] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
static const double middle[] = {0.5};

// Scratch memory: the rates of a stage, their sum, the state of a stage (nx each), energies (nq); derivatives of the rates,
// the sum and the state (nx x columns each). After a step the memory for the state of a stage contains the error estimate.
typedef struct memory {
  double *f, *sum, *at, *gained, *K, *K_sum, *X;
} memory;

static size_t scratch(const od_plant *plant, size_t columns) {
  return (size_t)od_plant_nx(plant) * (3 + 3 * columns) + (size_t)plant->nq;
}

static memory memory_of(od_sim *s, int columns) {
  int nx = od_plant_nx(s->plant);
  memory m = {.f = od_sim_at(s, s->scratch)};
  m.sum = m.f + nx;
  m.at = m.sum + nx;
  m.gained = m.at + nx;
  m.K = m.gained + s->plant->nq;
  m.K_sum = m.K + nx * columns;
  m.X = m.K_sum + nx * columns;
  return m;
}

// Computes f = [w; k] at a stage's state, and the powers (nq) if the plant has integrals. Fails with a status of od_sim_step().
static od_status stage_rates(od_sim *s, double t, const double *x, const double *u, double *f, double *power) {
  const od_plant *plant = s->plant;
  od_sim_leave_point(s);
  memcpy(f, x + plant->nz, (size_t)plant->nz * sizeof *f);
  od_status status = od_sim_find_rates(s, t, x, u, f + plant->nz);
  s->counts.residuals += 2;
  if (status == OD_OK && plant->nq) status = plant->ops->powers(plant, od_sim_work(s), power);
  return status;
}

// Computes K of the stage whose rates were computed last, from the derivatives X of its state. Fails with a status of
// od_sim_step().
static od_status stage_derivatives(od_sim *s, od_step_columns c, double node_of_stage, const memory *m) {
  const od_plant *plant = s->plant;
  int nz = plant->nz, nx = od_plant_nx(plant), nu = plant->nu, np = od_sim_np(s);
  od_sim_adopt_rates_point(s);  // the stage is the plant's last point, with its matrix
  od_status status = od_sim_linearize(s, c.by);
  const double *kx = od_sim_at(s, s->kx), *ku = od_sim_at(s, s->ku), *kp = od_sim_at(s, s->kp);
  memcpy(m->K, m->X + nz * c.count, (size_t)(nz * c.count) * sizeof *m->K);
  for (int i = 0; i < nx - nz && status == OD_OK; i++) {
    double *row = m->K + (nz + i) * c.count;
    memset(row, 0, (size_t)c.count * sizeof *row);
    for (int j = c.p; j < c.u0; j++) row[j] = kp[i * np + j - c.p];
    for (int j = c.u0; j < c.u1; j++) row[j] = (1 - node_of_stage) * ku[i * nu + j - c.u0];
    for (int j = c.u1; j < c.count; j++) row[j] = node_of_stage * ku[i * nu + j - c.u1];
    for (int j = 0; j < nx; j++)
      if (kx[i * nx + j] != 0) od_add_scaled(c.count, kx[i * nx + j], m->X + j * c.count, row);
  }
  od_sim_leave_point(s);
  return status;
}

// Computes X = E + factor K, where E is the identity.
static void stage_states(int nx, int columns, double factor, const memory *m) {
  for (int i = 0; i < nx * columns; i++) m->X[i] = factor != 0 ? factor * m->K[i] : 0;
  for (int i = 0; i < nx; i++) m->X[i * columns + i] += 1;
}

// Computes all stages, with derivatives unless c is NULL. The mean powers are summed in scratch memory, so that a
// failed step does not change the energies.
static od_status take_stages(od_sim *s, double h, const double *inside, const double *u, const od_step_columns *c,
                             const memory *m) {
  int nx = od_plant_nx(s->plant), nq = s->plant->nq, all = c ? nx * c->count : 0;
  const double *inputs[STAGES] = {od_sim_at(s, s->u), inside, inside, u}, *x = od_sim_at(s, s->x);
  double *power = od_sim_at(s, s->power_next);
  memset(m->sum, 0, (size_t)nx * sizeof *m->sum);
  memset(m->K_sum, 0, (size_t)all * sizeof *m->K_sum);
  memcpy(m->at, x, (size_t)nx * sizeof *m->at);
  for (int stage = 0; stage < STAGES; stage++) {
    if (stage)
      for (int i = 0; i < nx; i++) m->at[i] = x[i] + node[stage] * h * m->f[i];
    od_status status = stage_rates(s, s->t + node[stage] * h, m->at, inputs[stage], m->f, power);
    if (status == OD_OK && c) {
      stage_states(nx, c->count, node[stage] * h, m);
      status = stage_derivatives(s, *c, node[stage], m);
    }
    if (status != OD_OK) return od_sim_settle(s, status);
    for (int i = 0; i < nx; i++) m->sum[i] += weight[stage] * m->f[i];
    if (all) od_add_scaled(all, weight[stage], m->K, m->K_sum);
    for (int i = 0; i < nq; i++) m->gained[i] = (stage ? m->gained[i] : 0) + weight[stage] * power[i];
  }
  return OD_OK;
}

// Accepts the new point: state, energies and rates. The rates are used for outputs, after a change of the integrator and, with
// the rates of the last stage, for the error estimate. If the rates cannot be computed, the simulation stays unchanged.
static od_status accept(od_sim *s, double h, const double *u, const memory *m) {
  const od_plant *plant = s->plant;
  size_t nx = (size_t)od_plant_nx(plant), nz = (size_t)plant->nz, nq = (size_t)plant->nq;
  double *x = od_sim_at(s, s->x), *x1 = od_sim_at(s, s->x_next), *energy = od_sim_at(s, s->energy), *last = m->at;
  memcpy(last, m->f, nx * sizeof *last);
  for (size_t i = 0; i < nx; i++) x1[i] = x[i] + h * m->sum[i];
  od_status status = od_sim_settle(s, stage_rates(s, s->t + h, x1, u, m->f, od_sim_at(s, s->power_next)));
  if (status != OD_OK) return status;
  memcpy(x, x1, nx * sizeof *x);
  memcpy(od_sim_at(s, s->k), m->f + nz, (nx - nz) * sizeof *x);
  if (plant->nu) memcpy(od_sim_at(s, s->u), u, (size_t)plant->nu * sizeof *u);
  memcpy(od_sim_at(s, s->power), od_sim_at(s, s->power_next), nq * sizeof *x);
  for (size_t i = 0; i < nq; i++) energy[i] += h * m->gained[i];
  for (size_t i = 0; i < nx; i++) last[i] = h / 6 * (last[i] - m->f[i]);
  s->t += h;
  s->counts.steps++;
  s->history = 0;
  od_sim_adopt_rates_point(s);
  return OD_OK;
}

static od_status step(od_sim *s, double h, const double *inside, const double *u) {
  const memory m = memory_of(s, 0);
  od_status status = take_stages(s, h, inside, u, NULL, &m);
  return status == OD_OK ? accept(s, h, u, &m) : status;
}

// Takes a step, and computes the derivatives `out` from the derivatives of all stages. Fails with a status of od_sim_step().
static od_status step_with_jacobians(od_sim *s, double h, const double *u, const od_transition *out) {
  const od_step_columns c = od_sim_columns(s, out);
  const memory m = memory_of(s, c.count);
  od_status status = take_stages(s, h, od_sim_inputs_inside(s, u), u, &c, &m);
  if (status != OD_OK) return status;
  int nx = od_plant_nx(s->plant);
  for (int i = 0; i < nx * c.count; i++) m.K_sum[i] *= h;
  for (int i = 0; i < nx; i++) m.K_sum[i * c.count + i] += 1;
  od_sim_give_transition(s, c, m.K_sum, out);
  return accept(s, h, u, &m);
}

// Computes the difference from a third-order rule, (hJ)^4/72 x. The local error of the step is about -0.6 hJ times this
// difference.
static void local_error(od_sim *s, double *before, double *after) {
  size_t nx = (size_t)od_plant_nx(s->plant);
  memcpy(before, memory_of(s, 0).at, nx * sizeof *before);
  memset(after, 0, nx * sizeof *after);
}

// Returns |R(z)| with R(z) = 1 + z + z^2/2 + z^3/6 + z^4/24 and z = re + i im, by Horner's rule.
static double amplification(double re, double im) {
  double x = 1, y = 0;
  for (int k = 4; k > 0; k--) {
    double sum = 1 + (re * x - im * y) / k;
    y = (re * y + im * x) / k;
    x = sum;
  }
  return hypot(x, y);
}

const od_integrator od_integrator_rk4 = {
    .name = "rk4",
    .description = "the classical Runge-Kutta rule, for machines that are not stiff",
    .order = 4,
    .amplification = amplification,
    .inside_count = 1,
    .inside = middle,
    .local_error = local_error,
    // -0.6 hJ, which is about -0.6 (F - 1)
    .error_form = {.constant = 0.6, .transition = -0.6, .slope = -0.6},
    .estimate_order = 4,
    .scratch = scratch,
    .step = step,
    .step_with_jacobians = step_with_jacobians,
};
