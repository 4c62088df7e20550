// The default integrator: the implicit trapezoidal rule. In terms of implicit.h the rule is one stage with beta = h/2:
//
//   z1 = z0 + h w0 + h^2/4 (k0 + k1),   w1 = w0 + h/2 (k0 + k1),   c1 = c0 + h/2 (k0 + k1),   g(x1, k1) = 0
//
// The transition Jacobian follows from the implicit function theorem with the matrix at the solution.
#include <math.h>
#include <string.h>

#include "base/parts.h"
#include "base/precision.h"
#include "base/wide.h"
#include "integrate/implicit.h"
#include "integrate/integrators.h"
#include "math/dense.h"

// If the first Newton correction of the rates is below the first limit, the error after the second correction (with exact
// derivatives) is below round-off. If the second correction is below the second limit, derivatives computed before the second
// correction are accurate enough.
static const double first_correction_limit = 1e-3, second_correction_limit = OD_TOLERANCE(1e-8);

static od_stage stage_of(od_sim *s, double h, const double *u) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant);
  const double *x = od_sim_at(s, s->x);
  double *base = od_sim_at(s, s->base);
  for (int i = 0; i < nz; i++) base[i] = x[i] + h * x[nz + i];
  memcpy(base + nz, x + nz, (size_t)(nx - nz) * sizeof *base);
  return (od_stage){.t = s->t + h, .beta = h / 2, .base = base, .past = od_sim_at(s, s->k), .u = u};
}

// Solves a step. by_slopes: whether the derivatives at the current point predict the rates.
static od_status solve_step(od_sim *s, double h, const od_stage *stage, bool by_slopes) {
  if (by_slopes)
    od_sim_predict_rates_by_slopes(s, stage);
  else
    od_sim_predict_rates(s, h);
  od_status status = od_sim_solve_stage(s, stage);
  return status == OD_OK ? od_sim_settle(s, OD_OK) : status;
}

// ---- the local error

// Computes h^3/12 x''' from the last three rates. By Taylor's series, a step adds this term to the error of first-order states and
// rates. A step adds h^3/12 w'' to the error of positions.
static void bend_of_rates(od_sim *s, double h) {
  const double *k0 = od_sim_at(s, s->k), *k1 = od_sim_at(s, s->k_next), *before = od_sim_at(s, s->k_before);
  double *curve = od_sim_at(s, s->curve), earlier = s->last_step;
  s->has_curve = s->history > 0 && !s->jumped && earlier > 0;
  for (int i = 0; s->has_curve && i < od_plant_nk(s->plant); i++) {
    double bend = (k1[i] - k0[i]) - h / earlier * (k0[i] - before[i]);
    curve[i] = h * h / 6 / (h + earlier) * od_beyond_round_off(s->plant, i, fabs(k1[i]) + fabs(before[i]), bend);
  }
}

// Returns the change of rate i in the step just taken, or zero if this change is only round-off.
static double change_of_rate(od_sim *s, int i) {
  double k0 = od_sim_at(s, s->k_before)[i], k1 = od_sim_at(s, s->k)[i];
  return od_beyond_round_off(s->plant, i, fabs(k0) + fabs(k1), k1 - k0);
}

// The factor G = (1 - h/2 J)^-1 bounds the error of stiff modes. After a jump only one difference of rates is known: then x''' = J
// x'', and with the same factor the error is h/6 (G - 1) (f1 - f0).
static void local_error(od_sim *s, double *before, double *after) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant);
  const double *k0 = od_sim_at(s, s->k_before), *k1 = od_sim_at(s, s->k), *curve = od_sim_at(s, s->curve);
  double h = s->last_step;
  if (s->has_curve) {
    for (int i = 0; i < nz; i++) before[i] = h * h / 12 * change_of_rate(s, i);
    memcpy(before + nz, curve, (size_t)(nx - nz) * sizeof *before);
    memset(after, 0, (size_t)nx * sizeof *after);
    return;
  }
  for (int i = 0; i < nx; i++) {
    before[i] = h / 6 * (i < nz ? h / 2 * (k0[i] + k1[i]) : change_of_rate(s, i - nz));
    after[i] = -before[i];
  }
}

// Accepts the new point: state, rates, inputs, energies.
static od_status accept(od_sim *s, double h, const double *u) {
  const od_plant *plant = s->plant;
  // Newton's last evaluation differs from the new point by one small correction; this is accurate enough for powers.
  double *power = od_sim_at(s, s->power), *next = od_sim_at(s, s->power_next), *energy = od_sim_at(s, s->energy);
  od_status status = plant->nq ? plant->ops->powers(plant, od_sim_work(s), next) : OD_OK;
  if (status != OD_OK) {
    od_sim_leave_point(s);
    return status;
  }
  bend_of_rates(s, h);
  od_sim_accept(s, h, u);
  for (int i = 0; i < plant->nq; i++) {
    energy[i] += h / 2 * (power[i] + next[i]);
    power[i] = next[i];
  }
  return OD_OK;
}

static od_status step(od_sim *s, double h, const double *inside, const double *u) {
  (void)inside;
  const od_stage stage = stage_of(s, h, u);
  od_status status = solve_step(s, h, &stage, false);
  if (status != OD_OK) return status;
  od_sim_leave_point(s);
  return accept(s, h, u);
}

// The transition's derivatives follow from the implicit function theorem. With x1 = E x0 + B (k0 + k1), B = [h^2/4; h/2; h/2]:
//   (gk + gx B) (dk0 + dk1) = gk dk0 - gx E dx0 - gu du1 - gp dp,   dk0 = kx dx0 + ku du0 + kp dp.
// The unknown is the sum, not dk1: for stiff modes dk0 and dk1 are large and nearly opposite, whereas gk dk0 is not large.

// Computes row = factor * k - g, where k and g are `count` entries of derivatives of the rates and of the residual.
OD_INTO_WIDE void combine(int count, double factor, const double *restrict k, const double *restrict g,
                          double *restrict row) {
#define TOGETHER(AT) AT(row + j) = factor * AT(k + j) - AT(g + j)
  OD_FOR_FOURS(count, TOGETHER);
}

OD_WIDE_QUAD static void right_hand_sides(od_sim *s, double h, od_step_columns c) {
  const od_plant *plant = s->plant;
  int nz = plant->nz, nx = od_plant_nx(plant), nk = od_plant_nk(plant), nu = plant->nu, np = od_sim_np(s);
  const double *gx = od_sim_at(s, s->gx), *gu = od_sim_at(s, s->gu), *gp = od_sim_at(s, s->gp),
               *kx = od_sim_at(s, s->kx), *ku = od_sim_at(s, s->ku), *kp = od_sim_at(s, s->kp);
  const double *gk = od_sim_rate_matrix(s).gk;
  int coupled = od_rate_matrix_coupled(nk, gk);
  double *row = od_sim_at(s, s->right);
  for (int i = 0; i < nk; i++, row += c.count, gx += nx, gp += np, gu += nu, gk += nk) {
    combine(nx, gk[i], kx + i * nx, gx, row);
    for (int j = 0; j < nz; j++) row[nz + j] -= h * gx[j];
    combine(c.u0 - c.p, gk[i], kp + i * np, gp, row + c.p);
    for (int j = 0; j < c.u1 - c.u0; j++) row[c.u0 + j] = gk[i] * ku[i * nu + j], row[c.u1 + j] = -gu[j];
    for (int k = 0; i < coupled && k < coupled; k++) {
      if (k == i || gk[k] == 0) continue;
      od_add_scaled(nx, gk[k], kx + k * nx, row);
      od_add_scaled(c.u0 - c.p, gk[k], kp + k * np, row + c.p);
      od_add_scaled(c.u1 - c.u0, gk[k], ku + k * nu, row + c.u0);
    }
  }
}

// Computes out (nx x count) = B (dk0 + dk1) for `count` columns starting at `first`.
OD_WIDE_QUAD static void from_rates(od_sim *s, double h, od_step_columns c, int first, int count, double *out) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant);
  for (int i = 0; i < nx; i++, out += count) {
    double B = i < nz ? h * h / 4 : h / 2, *restrict to = out;
    const double *restrict sum = od_sim_at(s, s->right) + (i < nz ? i : i - nz) * c.count + first;
#define SCALED(AT) AT(to + j) = B * AT(sum + j)
    OD_FOR_FOURS(count, SCALED);
  }
}

// ---- a step after which the state is shifted
//
// The derivatives of a step depend on the derivatives of g at both ends of the step. After a shift dx, the derivatives of g at the
// end of one step differ from the derivatives at the beginning of the next step. Both steps use the derivatives of g at the
// half-way point, so their first-order errors in dx cancel.

// Moves to the point half-way along dx from the solution of the stage, with rates from the current derivatives.
static void go_half_way(od_sim *s, const double *dx) {
  int nx = od_plant_nx(s->plant), nk = od_plant_nk(s->plant);
  double *x = od_sim_at(s, s->x_next), *k = od_sim_at(s, s->k_next), *end = od_sim_at(s, s->before_set);
  memcpy(end, x, (size_t)nx * sizeof *x);
  memcpy(end + nx, k, (size_t)nk * sizeof *k);
  for (int i = 0; i < nx; i++) x[i] += 0.5 * dx[i];
  for (int i = 0; i < nk; i++)
    for (int j = 0; j < nx; j++) k[i] += 0.5 * od_sim_at(s, s->kx)[i * nx + j] * dx[j];
  s->distance = INFINITY;
}

// Computes the residual at the stage's solution from the residual at the half-way point and its derivatives.
static void restore_stage(od_sim *s) {
  int nx = od_plant_nx(s->plant), nk = od_plant_nk(s->plant);
  const double *end = od_sim_at(s, s->before_set), *x = od_sim_at(s, s->x_next), *k = od_sim_at(s, s->k_next);
  const double *gx = od_sim_at(s, s->gx), *gk = od_sim_rate_matrix(s).gk;
  double *g = od_sim_at(s, s->g);
  for (int i = 0; i < nk; i++) {
    for (int j = 0; j < nx; j++) g[i] -= gx[i * nx + j] * (x[j] - end[j]);
    for (int j = 0; j < nk; j++) g[i] -= gk[i * nk + j] * (k[j] - end[nx + j]);
  }
  memcpy(od_sim_at(s, s->x_next), end, (size_t)nx * sizeof *end);
  memcpy(od_sim_at(s, s->k_next), end + nx, (size_t)nk * sizeof *end);
}

// Computes the derivatives at the half-way point, then restores the solution of the stage with its residual. Fails with a status
// of od_sim_step().
static od_status differentiate_half_way(od_sim *s, const od_stage *stage, int by, const double *dx) {
  go_half_way(s, dx);
  od_status status = od_sim_differentiate_stage(s, stage, by);
  if (status == OD_OK) restore_stage(s);
  return status;
}

// Solves the stage with two corrections. The second correction comes from the evaluation half-way, with exact derivatives.
// Returns false if one of the corrections fails or exceeds its limit.
static bool solve_half_way(od_sim *s, double h, const od_stage *stage, int by, const double *dx) {
  double size;
  od_sim_predict_rates(s, h);
  od_status status = od_sim_correct_once(s, stage, &size);
  if (status == OD_OK && size < first_correction_limit && differentiate_half_way(s, stage, by, dx) == OD_OK &&
      od_sim_correct_by_residual(s, stage) < second_correction_limit) {
    od_sim_settle(s, OD_OK);
    return true;
  }
  od_sim_settle(s, OD_NOT_CONVERGED);
  s->has_gk = s->has_gk_factors = s->slopes = 0;  // derivatives half-way do not belong to the current point
  return false;
}

// Computes the derivatives of the rates k at the plant's last point, which may differ from the current point by the
// shift. After a failure no derivatives are known.
static od_status linearize_beside(od_sim *s, int by) {
  s->at_point = 1;
  od_status status = od_sim_linearize(s, by);
  if (status != OD_OK) od_sim_leave_point(s);
  return status;
}

// Shifts the current state by dx, and the current and earlier rates by the corresponding change. The derivatives at the
// half-way point stay valid.
static void shift(od_sim *s, const double *dx) {
  int nx = od_plant_nx(s->plant), nk = od_plant_nk(s->plant);
  const size_t rates[] = {s->k, s->k_before, s->k_earlier};
  for (int i = 0; i < nk; i++) {
    double change = 0;
    for (int j = 0; j < nx; j++) change += od_sim_at(s, s->kx)[i * nx + j] * dx[j];
    for (int r = 0; r < 3; r++) od_sim_at(s, rates[r])[i] += change;
  }
  for (int i = 0; i < nx; i++) od_sim_at(s, s->x)[i] += dx[i];
}

// Takes a step and shifts the state by dx; NULL: no shift.
static od_status step_and_shift(od_sim *s, double h, const double *u, const double *dx, const od_transition *out) {
  const od_plant *plant = s->plant;
  int nz = plant->nz, nx = od_plant_nx(plant), nu = plant->nu, np = od_sim_np(s);
  if (!OD_WITH_SHIFTS) dx = NULL;
  const od_step_columns c = od_sim_columns(s, out);
  od_stage stage = stage_of(s, h, u);
  stage.to_differentiate = true;
  // If the derivatives at the current point are unknown, the state has been set since the last step. A jump within the step makes
  // the prediction by derivatives worse than the parabola.
  bool by_slopes = !dx && !(s->slopes & OD_BY_STATE) && !od_sim_jumps(s);
  od_status status = od_sim_linearize_rates(s, by_slopes ? c.by | OD_BY_INPUT : c.by);
  if (status != OD_OK) return status;
  bool done = dx && solve_half_way(s, h, &stage, c.by, dx);
  if (!done) status = solve_step(s, h, &stage, by_slopes);
  // Computes all derivatives at the solution, or half-way along dx. The next step's iteration also uses the factored matrix.
  if (status == OD_OK && !done)
    status = dx ? differentiate_half_way(s, &stage, c.by, dx) : od_sim_differentiate_stage(s, &stage, c.by);
  if (status != OD_OK) return status;
  right_hand_sides(s, h, c);
  od_sim_solve_matrix(s, od_sim_at(s, s->right), c.count);
  if (out->F) {
    from_rates(s, h, c, 0, nx, out->F);
    for (int i = 0; i < nx; i++) out->F[i * nx + i] += 1;
    for (int i = 0; i < nz; i++) out->F[i * nx + nz + i] += h;
  }
  if (out->Gp) from_rates(s, h, c, c.p, np, out->Gp);
  if (out->Gu0) from_rates(s, h, c, c.u0, nu, out->Gu0);
  if (out->Gu1) from_rates(s, h, c, c.u1, nu, out->Gu1);
  s->linear = 0;
  if (dx) status = linearize_beside(s, c.by);
  if (status != OD_OK) return status;
  status = accept(s, h, u);
  if (status != OD_OK) return status;
  s->at_point = 1;
  if (dx) shift(s, dx);
  return OD_OK;
}

static od_status step_with_jacobians(od_sim *s, double h, const double *u, const od_transition *out) {
  return step_and_shift(s, h, u, NULL, out);
}

static size_t scratch(const od_plant *plant, size_t columns) {
  (void)plant, (void)columns;
  return 0;
}

const od_integrator od_integrator_trapezoid = {
    .name = "trapezoid",
    .description = "the implicit trapezoidal rule",
    .order = 2,
    .local_error = local_error,
    // G = (1 - hJ/2)^-1 = (F + 1) / 2
    .error_form = {.constant = 0.5, .transition = 0.5, .flow = 1, .bend = -1},
    .scratch = scratch,
    .step = step,
    .step_with_jacobians = step_with_jacobians,
    .step_and_shift = OD_WITH_SHIFTS ? step_and_shift : NULL,
};
