// TR-BDF2: a trapezoidal step to t + gamma h, then the second-order backward differentiation formula through both points to t +
// h. With gamma = 2 - sqrt 2 both stages have the same matrix (sources 39 and 40 in docs/theory.md). In terms of implicit.h, with
// d = gamma / 2, b = sqrt 2 / 4 (so that 2 b + d = 1), beta = d h, and k2, w2 at t + gamma h:
//
//   w2 = w0 + beta (k0 + k2)                     z2 = z0 + gamma h w0 + beta^2 (k0 + k2)
//   w1 = w0 + b h (k0 + k2) + beta k1            z1 = z0 + h w0 + 2 b d h^2 (k0 + k2) + beta^2 k1
//
// First-order states c follow the same formulas as w. The rule is L-stable: modes much faster than the step decay within the
// step, whereas the trapezoidal rule oscillates.
//
// The error estimate is the difference from the third-order rule with the same three rates,
//   x1 - x1^ = -h (e0 f0 + e2 f2 + e1 f1),   e0 = (1 - 4 b) / 3,  e2 = 1 / 3,  e1 = -2 d / 3,
// multiplied by (1 - beta J)^-1, since the difference overestimates the error of fast modes.
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "integrate/implicit.h"
#include "integrate/integrators.h"
#include "math/dense.h"

#define ROOT2 1.4142135623730951
static const double gamma_ = 2 - ROOT2, d = 1 - ROOT2 / 2, b = ROOT2 / 4, inside[] = {2 - ROOT2};

// Scratch memory: k0 + k2 and `past` of the second stage (nk each), the powers at t + gamma h (nq), the error (nx);
// derivatives of k0 + k2 (nk x columns) and of the states (nx x columns).
typedef struct memory {
  double *sum, *past, *power, *error, *K, *X;
} memory;

static size_t scratch(const od_plant *plant, size_t columns) {
  size_t nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant);
  return 2 * nk + (size_t)plant->nq + nx + (nk + nx) * columns;
}

static memory memory_of(od_sim *s, int columns) {
  int nx = od_plant_nx(s->plant), nk = od_plant_nk(s->plant);
  memory m = {.sum = od_sim_at(s, s->scratch)};
  m.past = m.sum + nk;
  m.power = m.past + nk;
  m.error = m.power + s->plant->nq;
  m.K = m.error + nx;
  m.X = m.K + nk * columns;
  return m;
}

// ---- the two stages

static od_stage first_stage(od_sim *s, double h, const double *u) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant);
  const double *x = od_sim_at(s, s->x);
  double *base = od_sim_at(s, s->base);
  for (int i = 0; i < nz; i++) base[i] = x[i] + gamma_ * h * x[nz + i];
  memcpy(base + nz, x + nz, (size_t)(nx - nz) * sizeof *base);
  return (od_stage){.t = s->t + gamma_ * h, .beta = d * h, .base = base, .past = od_sim_at(s, s->k), .u = u};
}

// Returns the second stage, set up from the solution of the first stage. The iteration starts with rates that are
// extrapolated from the rates of the first stage.
static od_stage second_stage(od_sim *s, double h, const double *u, const memory *m) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant), nk = od_plant_nk(s->plant);
  const double *x = od_sim_at(s, s->x), *k0 = od_sim_at(s, s->k);
  double *base = od_sim_at(s, s->base), *next = od_sim_at(s, s->k_next);
  for (int i = 0; i < nk; i++) {
    m->sum[i] = k0[i] + next[i];
    m->past[i] = b / d * m->sum[i];
    next[i] = k0[i] + (next[i] - k0[i]) / gamma_;
  }
  for (int i = 0; i < nz; i++) base[i] = x[i] + h * x[nz + i] + b * d * h * h * m->sum[i];
  memcpy(base + nz, x + nz, (size_t)(nx - nz) * sizeof *base);
  return (od_stage){.t = s->t + h, .beta = d * h, .base = base, .past = m->past, .u = u};
}

// ---- the error

// Computes the difference from the third-order rule, without the factor (1 - beta J)^-1.
static void estimate_error(od_sim *s, double h, const memory *m) {
  static const double e0 = (1 - ROOT2) / 3, e2 = 1.0 / 3, e1 = -2 * (1 - ROOT2 / 2) / 3;
  int nz = s->plant->nz, nk = od_plant_nk(s->plant);
  const double *w0 = od_sim_at(s, s->x) + nz, *w1 = od_sim_at(s, s->x_next) + nz;
  const double *k0 = od_sim_at(s, s->k), *k1 = od_sim_at(s, s->k_next);
  for (int i = 0; i < nz; i++) m->error[i] = -h * (e0 * w0[i] + e2 * (w0[i] + d * h * m->sum[i]) + e1 * w1[i]);
  for (int i = 0; i < nk; i++) {
    double sum = e0 * k0[i] + e2 * (m->sum[i] - k0[i]) + e1 * k1[i];
    m->error[nz + i] = -h * od_beyond_round_off(s->plant, i, fabs(k0[i]) + fabs(k1[i]), sum);
  }
  s->has_error = 0;
}

// Multiplies the estimate by (1 - beta J)^-1. With v for rates and first-order states, whose part for rates is v_w,
//   (gk + beta g_(w,c) + beta^2 gz) v = gk e - beta gz e_z,   and the result for positions is e_z + beta v_w.
// The matrix on the left is Newton's matrix. The right-hand side is one more residual, with e added to the rates and beta e_z
// subtracted from the positions. If this residual cannot be evaluated, the step was much too long, and the estimate remains without
// the factor.
static void damp_error(od_sim *s, const memory *m) {
  const od_plant *plant = s->plant;
  int nz = plant->nz, nk = od_plant_nk(plant), nx = od_plant_nx(plant);
  double beta = d * s->last_step, *x = od_sim_at(s, s->x_next), *k = od_sim_at(s, s->k_next), *g = od_sim_at(s, s->g);
  s->has_error = 1;
  if (!od_sim_matrix_serves(s, beta)) return;
  memcpy(x, od_sim_at(s, s->x), (size_t)nx * sizeof *x);
  for (int i = 0; i < nz; i++) x[i] -= beta * m->error[i];
  for (int i = 0; i < nk; i++) k[i] = od_sim_at(s, s->k)[i] + m->error[nz + i];
  s->at_point = 0;
  s->counts.residuals++;
  od_status status = plant->ops->residual(plant, od_sim_work(s), s->t, x, k, od_sim_at(s, s->u), g);
  if (status != OD_OK) {
    od_sim_settle(s, status);
    return;
  }
  od_sim_solve_matrix(s, g, 1);
  memcpy(m->error + nz, g, (size_t)nk * sizeof *g);
  for (int i = 0; i < nz; i++) m->error[i] += beta * g[i];
}

static void local_error(od_sim *s, double *before, double *after) {
  const memory m = memory_of(s, 0);
  size_t nx = (size_t)od_plant_nx(s->plant);
  if (!s->has_error) damp_error(s, &m);
  memset(before, 0, nx * sizeof *before);
  memcpy(after, m.error, nx * sizeof *after);
}

// ---- the step

// Accepts the new point and integrates the energies with the weights of the rule.
static od_status accept(od_sim *s, double h, const double *u, const memory *m) {
  const od_plant *plant = s->plant;
  double *power = od_sim_at(s, s->power), *next = od_sim_at(s, s->power_next), *energy = od_sim_at(s, s->energy);
  od_status status = plant->nq ? plant->ops->powers(plant, od_sim_work(s), next) : OD_OK;
  if (status != OD_OK) {
    od_sim_leave_point(s);
    return status;
  }
  estimate_error(s, h, m);
  s->has_curve = 0;
  od_sim_accept(s, h, u);
  for (int i = 0; i < plant->nq; i++) {
    energy[i] += h * (b * (power[i] + m->power[i]) + d * next[i]);
    power[i] = next[i];
  }
  return OD_OK;
}

static od_status powers_between(od_sim *s, const memory *m) {
  const od_plant *plant = s->plant;
  return plant->nq ? plant->ops->powers(plant, od_sim_work(s), m->power) : OD_OK;
}

// Takes both stages and computes the error estimate and the energies. A failure leaves the current point unchanged.
static od_status step(od_sim *s, double h, const double *u_inside, const double *u) {
  const memory m = memory_of(s, 0);
  const od_stage first = first_stage(s, h, u_inside);
  od_sim_predict_rates(s, gamma_ * h);
  od_status status = od_sim_solve_stage(s, &first);
  if (status == OD_OK) status = powers_between(s, &m);
  if (status != OD_OK) return status;
  const od_stage second = second_stage(s, h, u, &m);
  status = od_sim_solve_stage(s, &second);
  if (status != OD_OK) return status;
  od_sim_settle(s, OD_OK);
  od_sim_leave_point(s);
  return accept(s, h, u, &m);
}

// ---- derivatives of the step
//
// Let X (nx x columns) be the derivatives of a stage's state without the term of the stage's own rates. Then
//   (gk + gx B) dk = -gx X - gu du - gp dp.
//
// The first stage, whose state is E x0 + B (k0 + k2), is solved for the sum instead:
//   (gk + gx B) (dk0 + dk2) = gk dk0 - gx E dx0 - gu du - gp dp.
// For stiff modes dk0 and dk2 are large and nearly opposite, whereas gk dk0 is not large.

// Computes the right-hand sides. dk0 (nk x columns): for the first stage; NULL: the second stage. beginning: the weight of the
// inputs at the beginning of the step in the inputs of the stage; the inputs at its end have the weight 1 - beginning.
OD_WIDE static void right_hand_sides(od_sim *s, double beginning, od_step_columns c, const double *X,
                                     const double *dk0) {
  const od_plant *plant = s->plant;
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant), nu = plant->nu, np = od_sim_np(s);
  const double *gx = od_sim_at(s, s->gx), *gu = od_sim_at(s, s->gu), *gp = od_sim_at(s, s->gp);
  const double *gk = od_sim_rate_matrix(s).gk;
  for (int i = 0; i < nk; i++) {
    double *row = od_sim_at(s, s->right) + i * c.count;
    memset(row, 0, (size_t)c.count * sizeof *row);
    for (int j = c.p; j < c.u0; j++) row[j] = -gp[i * np + j - c.p];
    for (int j = c.u0; j < c.u1; j++) row[j] = -beginning * gu[i * nu + j - c.u0];
    for (int j = c.u1; j < c.count; j++) row[j] = -(1 - beginning) * gu[i * nu + j - c.u1];
    for (int j = 0; j < nx; j++)
      if (gx[i * nx + j] != 0) od_add_scaled(c.count, -gx[i * nx + j], X + j * c.count, row);
    for (int j = 0; dk0 && j < nk; j++)
      if (gk[i * nk + j] != 0) od_add_scaled(c.count, gk[i * nk + j], dk0 + j * c.count, row);
  }
}

// Computes X = E + [along_z; along_w] K. For the positions, E x0 = x0 + drift w0.
OD_WIDE static void known_states(od_sim *s, double drift, double along_z, double along_w, od_step_columns c,
                                 const memory *m) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant);
  for (int i = 0; i < nx; i++) {
    double *row = m->X + i * c.count, along = i < nz ? along_z : along_w;
    const double *K = m->K + (i < nz ? i : i - nz) * c.count;
    for (int j = 0; j < c.count; j++) row[j] = along * K[j];
    row[i] += 1;
    if (i < nz) row[nz + i] += drift;
  }
}

// Computes the derivatives of k0 with respect to the variables of all columns.
static void old_rates(od_sim *s, od_step_columns c, double *K) {
  int nx = od_plant_nx(s->plant), nk = od_plant_nk(s->plant), nu = s->plant->nu, np = od_sim_np(s);
  const double *kx = od_sim_at(s, s->kx), *ku = od_sim_at(s, s->ku), *kp = od_sim_at(s, s->kp);
  for (int i = 0; i < nk; i++) {
    double *row = K + i * c.count;
    memcpy(row, kx + i * nx, (size_t)nx * sizeof *row);
    for (int j = c.p; j < c.u0; j++) row[j] = kp[i * np + j - c.p];
    for (int j = c.u0; j < c.u1; j++) row[j] = ku[i * nu + j - c.u0];
    for (int j = c.u1; j < c.count; j++) row[j] = 0;
  }
}

// Computes the derivatives of the rates of the stage just solved and stores them in `right`. For the first stage (dk0
// not NULL), computes the derivatives of k0 + k2 instead.
static od_status differentiate(od_sim *s, const od_stage *stage, double beginning, od_step_columns c, const double *X,
                               const double *dk0) {
  od_status status = od_sim_differentiate_stage(s, stage, c.by);
  if (status != OD_OK) return status;
  right_hand_sides(s, beginning, c, X, dk0);
  od_sim_solve_matrix(s, od_sim_at(s, s->right), c.count);
  return OD_OK;
}

// Takes the first stage and computes the derivatives of k0 + k2. Fails with a status of od_sim_step().
static od_status first_with_jacobians(od_sim *s, double h, const double *u, od_step_columns c, const memory *m) {
  od_stage stage = first_stage(s, h, od_sim_inputs_inside(s, u));
  stage.to_differentiate = true;
  od_status status = od_sim_linearize(s, c.by);  // derivatives at the beginning of the step
  if (status != OD_OK) return status;
  od_sim_predict_rates(s, gamma_ * h);
  status = od_sim_solve_stage(s, &stage);
  if (status == OD_OK) status = powers_between(s, m);
  if (status != OD_OK) return status;
  old_rates(s, c, m->K);
  known_states(s, gamma_ * h, 0, 0, c, m);
  status = differentiate(s, &stage, 1 - gamma_, c, m->X, m->K);
  if (status == OD_OK) memcpy(m->K, od_sim_at(s, s->right), (size_t)(od_plant_nk(s->plant) * c.count) * sizeof(double));
  return status;
}

// Takes both stages with their derivatives. A failure leaves the current point unchanged.
static od_status step_with_jacobians(od_sim *s, double h, const double *u, const od_transition *out) {
  const od_step_columns c = od_sim_columns(s, out);
  const memory m = memory_of(s, c.count);
  int nz = s->plant->nz, nx = od_plant_nx(s->plant);
  od_status status = first_with_jacobians(s, h, u, c, &m);
  if (status != OD_OK) return od_sim_settle(s, status);
  od_stage stage = second_stage(s, h, u, &m);
  stage.to_differentiate = true;
  status = od_sim_solve_stage(s, &stage);
  known_states(s, h, 2 * b * d * h * h, b * h, c, &m);
  if (status == OD_OK) status = differentiate(s, &stage, 0, c, m.X, NULL);
  if (status != OD_OK) {
    od_sim_leave_point(s);
    return od_sim_settle(s, status);
  }
  od_sim_settle(s, OD_OK);
  for (int i = 0; i < nx; i++) {
    double B = i < nz ? stage.beta * stage.beta : stage.beta;
    const double *dk = od_sim_at(s, s->right) + (i < nz ? i : i - nz) * c.count;
    od_add_scaled(c.count, B, dk, m.X + i * c.count);
  }
  od_sim_give_transition(s, c, m.X, out);
  s->linear = 0;
  status = accept(s, h, u, &m);
  s->at_point = status == OD_OK;
  return status;
}

const od_integrator od_integrator_tr_bdf2 = {
    .name = "tr-bdf2",
    .description = "the implicit rule TR-BDF2, which damps modes that are too fast for the steps",
    .order = 2,
    .inside_count = 1,
    .inside = inside,
    .local_error = local_error,
    .estimate_order = 3,
    .scratch = scratch,
    .step = step,
    .step_with_jacobians = step_with_jacobians,
};
