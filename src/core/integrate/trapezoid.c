// The integrator of record: the implicit trapezoidal rule on the plant's residual, with the rates k as unknowns.
//
//   z1 = z0 + h w0 + h^2/4 (k0 + k1),   w1 = w0 + h/2 (k0 + k1),   c1 = c0 + h/2 (k0 + k1),   g(x1, k1) = 0
//
// Taking rates rather than states as unknowns keeps round-off out of the accelerations, which would otherwise be
// differences of positions divided by h^2. Newton's matrix dg/dk + h/2 dg/d(w,c) + h^2/4 dg/dz is kept from step to
// step as long as it converges well. The transition Jacobian follows from the implicit function theorem with the matrix
// factored anew at the solution.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "math/dense.h"
#include "integrate/rates.h"
#include "integrate/sim_block.h"

enum { MOST_ITERATIONS = 15, MOST_CAREFUL_ITERATIONS = 60 };
static const double tolerance = 1e-11;        // of the rates, relative to their size
static const double good_contraction = 0.01;  // slower convergence asks for a new matrix

// x1 for rates k1.
static void new_state(od_sim *s, double h) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant);
  const double *x = od_sim_at(s, s->x), *k0 = od_sim_at(s, s->k), *k1 = od_sim_at(s, s->k_next);
  double *x1 = od_sim_at(s, s->x_next);
  for (int i = 0; i < nz; i++) x1[i] = x[i] + h * x[nz + i] + h * h / 4 * (k0[i] + k1[i]);
  for (int i = nz; i < nx; i++) x1[i] = x[i] + h / 2 * (k0[i - nz] + k1[i - nz]);
}

// Rates to begin with: the last two, extrapolated.
static void predict(od_sim *s) {
  const double *k = od_sim_at(s, s->k), *before = od_sim_at(s, s->k_before);
  double *next = od_sim_at(s, s->k_next);
  for (int i = 0; i < od_plant_nk(s->plant); i++) next[i] = s->has_history ? 2 * k[i] - before[i] : k[i];
}

static od_status new_matrix(od_sim *s, double h) {
  s->has_matrix = 0;
  od_status status = s->plant->ops->step_matrix(s->plant, od_sim_work(s), h * h / 4, h / 2, od_sim_at(s, s->matrix));
  if (status == OD_OK) status = od_lu_factor(od_plant_nk(s->plant), od_sim_at(s, s->matrix), od_sim_pivot(s));
  s->has_matrix = status == OD_OK;
  s->matrix_step = h;
  s->counts.matrices++;
  return status;
}

// The size of a correction of the rates k, each relative to its own size.
static double relative_size(const od_plant *plant, const double *change, const double *k) {
  double size = 0;
  for (int i = 0; i < od_plant_nk(plant); i++) {
    double part = fabs(change[i]) / (fabs(k[i]) + (plant->scale ? plant->scale[i] : 1));
    if (!(part <= size)) size = part;  // also true for NaN
  }
  return size;
}

// g at rates k_next, turned into a Newton correction by the factors at hand.
static od_status correction(od_sim *s, double h, const double *u) {
  const od_plant *plant = s->plant;
  double *g = od_sim_at(s, s->g);
  new_state(s, h);
  s->at_point = 0;
  s->counts.residuals++;
  od_status status =
      plant->ops->residual(plant, od_sim_work(s), s->t + h, od_sim_at(s, s->x_next), od_sim_at(s, s->k_next), u, g);
  if (status == OD_OK && !s->has_matrix) status = new_matrix(s, h);
  if (status == OD_OK) od_lu_solve(od_plant_nk(plant), od_sim_at(s, s->matrix), od_sim_pivot(s), g, 1);
  return status;
}

// Solves for k1; on success x_next and k_next hold the result.
static od_status newton(od_sim *s, double h, const double *u) {
  const od_plant *plant = s->plant;
  int nk = od_plant_nk(plant);
  double *k = od_sim_at(s, s->k_next), *g = od_sim_at(s, s->g), last = INFINITY;
  bool fresh = false;
  if (s->matrix_step != h) s->has_matrix = 0;
  for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
    fresh = fresh || !s->has_matrix;
    od_status status = correction(s, h, u);
    if (status != OD_OK) return status;
    double size = relative_size(plant, g, k);
    if (!isfinite(size)) return OD_NOT_FINITE;
    for (int i = 0; i < nk; i++) k[i] -= g[i];
    // What is left after this correction is about contraction * size.
    if (iteration > 0 && last > 0) s->contraction = fmin(size / last, 1);
    bool stalled = iteration > 1 && size > last / 2 && size < 1e-7;  // round-off
    if (size < tolerance || (iteration > 0 && size * s->contraction < tolerance) || stalled) {
      new_state(s, h);
      return OD_OK;
    }
    if (iteration > 0 && s->contraction > good_contraction && !fresh)
      s->has_matrix = 0;
    else if (iteration > 3)
      s->has_matrix = 0, fresh = false;
    last = size;
  }
  return OD_NOT_CONVERGED;
}

// For points where the residual is steep and bent (small volumes, closed valves, the edge of cavitation): a new matrix
// for every iteration, and steps shortened until the next correction, by the same matrix, is smaller (natural
// monotonicity).
static od_status careful_newton(od_sim *s, double h, const double *u) {
  const od_plant *plant = s->plant;
  int nk = od_plant_nk(plant);
  double *k = od_sim_at(s, s->k_next), *g = od_sim_at(s, s->g), *base = od_sim_at(s, s->stage), *step = base + nk,
         *reach = step + nk;
  memcpy(k, od_sim_at(s, s->k), (size_t)nk * sizeof *k);
  for (int iteration = 0; iteration < MOST_CAREFUL_ITERATIONS; iteration++) {
    s->has_matrix = 0;
    od_status status = correction(s, h, u);
    if (status != OD_OK) return status;
    if (!(relative_size(plant, g, k) < INFINITY)) return OD_NOT_FINITE;
    bool done = relative_size(plant, g, k) < tolerance;
    memcpy(base, k, (size_t)nk * sizeof *k);
    memcpy(step, g, (size_t)nk * sizeof *k);
    // Corrections are compared on one scale: how far the full step reaches.
    for (int i = 0; i < nk; i++) reach[i] = fabs(base[i]) + fabs(step[i]);
    double size = relative_size(plant, step, reach), part = 1;
    for (; part > 1e-6; part /= 2) {
      for (int i = 0; i < nk; i++) k[i] = base[i] - part * step[i];
      if (done) break;
      status = correction(s, h, u);
      if (status == OD_OK && relative_size(plant, g, reach) <= (1 - part / 4) * size) break;
      if (status != OD_OK) od_sim_settle(s, status);
    }
    if (done || (part <= 1e-6 && size < 1e-7)) {  // the latter: nothing but round-off is left
      new_state(s, h);
      return OD_OK;
    }
    if (part <= 1e-6) return OD_NOT_CONVERGED;
  }
  return OD_NOT_CONVERGED;
}

// The rates at the end of the step, by the quick way or, where that fails, by the careful one.
static od_status solve_step(od_sim *s, double h, const double *u) {
  predict(s);
  od_status status = od_sim_settle(s, newton(s, h, u));
  return status == OD_OK ? OD_OK : od_sim_settle(s, careful_newton(s, h, u));
}

// ---- the local error
//
// Taylor's series of a step against the exact solution: the rule adds h^3/12 x''' to the error of first-order states and
// rates, and h^3/12 w'' to that of positions. x''' comes from the last three rates. Differences that are nothing but
// round-off of Newton's iteration count as zero.
static double beyond_round_off(const od_plant *plant, int i, double size, double difference) {
  return fabs(difference) > 1e-9 * (size + (plant->scale ? plant->scale[i] : 1)) ? difference : 0;
}

static void bend_of_rates(od_sim *s, double h) {
  const double *k0 = od_sim_at(s, s->k), *k1 = od_sim_at(s, s->k_next), *before = od_sim_at(s, s->k_before);
  double *curve = od_sim_at(s, s->curve), earlier = s->last_step;
  s->has_curve = s->has_history && !s->jumped && earlier > 0;
  for (int i = 0; s->has_curve && i < od_plant_nk(s->plant); i++) {
    double bend = (k1[i] - k0[i]) - h / earlier * (k0[i] - before[i]);
    curve[i] = h * h / 6 / (h + earlier) * beyond_round_off(s->plant, i, fabs(k1[i]) + fabs(before[i]), bend);
  }
}

// Of rate i in the step just taken.
static double change_of_rate(od_sim *s, int i) {
  double k0 = od_sim_at(s, s->k_before)[i], k1 = od_sim_at(s, s->k)[i];
  return beyond_round_off(s->plant, i, fabs(k0) + fabs(k1), k1 - k0);
}

// Stiff parts of the error are bounded by the factor G = (1 - h/2 J)^-1. After a jump there is one difference of rates
// only: then x''' = J x'', and with the same factor the error is h/6 (G - 1) (f1 - f0).
void od_sim_local_error(od_sim *s, double *before, double *after) {
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
  size_t nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant);
  bend_of_rates(s, h);
  memcpy(od_sim_at(s, s->k_before), od_sim_at(s, s->k), nk * sizeof(double));
  memcpy(od_sim_at(s, s->k), od_sim_at(s, s->k_next), nk * sizeof(double));
  memcpy(od_sim_at(s, s->x), od_sim_at(s, s->x_next), nx * sizeof(double));
  if (plant->nu) memcpy(od_sim_at(s, s->u), u, (size_t)plant->nu * sizeof *u);
  s->t += h;
  s->last_step = h;
  s->has_history = 1;
  s->jumped = 0;
  s->counts.steps++;
  if (plant->nq == 0) return OD_OK;
  // Newton's last evaluation is one last, small correction away from the new point: good enough for powers.
  double *power = od_sim_at(s, s->power), *next = od_sim_at(s, s->power_next), *energy = od_sim_at(s, s->energy);
  od_status status = plant->ops->powers(plant, od_sim_work(s), next);
  for (int i = 0; i < plant->nq; i++) {
    energy[i] += h / 2 * (power[i] + next[i]);
    power[i] = next[i];
  }
  return status;
}

od_status od_sim_step(od_sim *s, double h, const double *u) {
  od_status possible = od_sim_check_step(s, h);
  if (possible != OD_OK) return possible;
  od_status status = solve_step(s, h, u);
  if (status != OD_OK) return status;
  od_sim_leave_point(s);
  return accept(s, h, u);
}

// The transition's derivatives by the implicit function theorem. With x1 = E x0 + B (k0 + k1), B = [h^2/4; h/2; h/2]:
//   (gk + gx B) dk1 = -gx (E dx0 + B dk0) - gu du1 - gp dp,   dk0 = kx dx0 + ku du0 + kp dp.
// Columns of right-hand sides: x0 (nx), p (np) and, where asked for, u0 (nu) and u1 (nu).
typedef struct columns {
  int p, u0, u1, count;
} columns;

static void right_hand_sides(od_sim *s, double h, columns c) {
  const od_plant *plant = s->plant;
  int nz = plant->nz, nx = od_plant_nx(plant), nk = od_plant_nk(plant), nu = plant->nu, np = plant->np;
  const double *gx = od_sim_at(s, s->gx), *gu = od_sim_at(s, s->gu), *gp = od_sim_at(s, s->gp);
  const double *gxB = od_sim_at(s, s->gxB);
  double *right = od_sim_at(s, s->right);
  for (int i = 0; i < nk; i++) {
    double *row = right + i * c.count;
    for (int j = 0; j < nx; j++) row[j] = -gx[i * nx + j];
    for (int j = 0; j < nz; j++) row[nz + j] -= h * gx[i * nx + j];
    for (int j = c.p; j < c.u0; j++) row[j] = -gp[i * np + j - c.p];
    for (int j = c.u0; j < c.u1; j++) row[j] = 0;
    for (int j = c.u1; j < c.count; j++) row[j] = -gu[i * nu + j - c.u1];
    for (int k = 0; k < nk; k++) {
      double factor = -gxB[i * nk + k];
      if (factor == 0) continue;
      od_add_scaled(nx, factor, od_sim_at(s, s->kx) + k * nx, row);
      od_add_scaled(c.u0 - c.p, factor, od_sim_at(s, s->kp) + k * np, row + c.p);
      od_add_scaled(c.u1 - c.u0, factor, od_sim_at(s, s->ku) + k * nu, row + c.u0);
    }
  }
}

// out (nx x count) = B (dk0 + dk1) for the columns from `first` on; dk0 may be NULL.
static void from_rates(od_sim *s, double h, columns c, int first, int count, const double *dk0, double *out) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant);
  for (int i = 0; i < nx; i++) {
    int k = i < nz ? i : i - nz;
    double B = i < nz ? h * h / 4 : h / 2, *restrict to = out + i * count;
    const double *restrict dk1 = od_sim_at(s, s->right) + k * c.count + first;
    for (int j = 0; j < count; j++) to[j] = B * dk1[j];
    if (dk0) od_add_scaled(count, B, dk0 + k * count, to);
  }
}

// Newton's matrix from the derivatives of g that are known, factored; leaves gx B.
static od_status matrix_of_slopes(od_sim *s, double h) {
  int nz = s->plant->nz, nx = od_plant_nx(s->plant), nk = od_plant_nk(s->plant);
  const double *gx = od_sim_at(s, s->gx), *gk = od_sim_rate_matrix(s).gk;
  double *matrix = od_sim_at(s, s->matrix), *gxB = od_sim_at(s, s->gxB);
  for (int i = 0; i < nk; i++)
    for (int k = 0; k < nk; k++) {
      gxB[i * nk + k] = (k < nz ? h * h / 4 * gx[i * nx + k] : 0) + h / 2 * gx[i * nx + nz + k];
      matrix[i * nk + k] = gk[i * nk + k] + gxB[i * nk + k];
    }
  od_status status = od_lu_factor(nk, matrix, od_sim_pivot(s));
  s->has_matrix = status == OD_OK;
  s->matrix_step = h;
  s->counts.matrices++;
  return status;
}

// All derivatives at the solution itself, which then is the present point; the factored matrix serves the next step's
// iteration as well.
static od_status differentiate(od_sim *s, double h, const double *u, int by, columns c) {
  const od_plant *plant = s->plant;
  od_status status = plant->ops->residual(plant, od_sim_work(s), s->t + h, od_sim_at(s, s->x_next),
                                          od_sim_at(s, s->k_next), u, od_sim_at(s, s->g));
  s->counts.residuals++;
  s->has_gk = s->has_gk_factors = s->slopes = 0;
  if (status == OD_OK) status = od_sim_find_slopes(s, by);
  if (status == OD_OK) status = matrix_of_slopes(s, h);
  if (status != OD_OK) {
    od_sim_leave_point(s);
    return status;
  }
  right_hand_sides(s, h, c);
  od_lu_solve(od_plant_nk(plant), od_sim_at(s, s->matrix), od_sim_pivot(s), od_sim_at(s, s->right), c.count);
  return OD_OK;
}

od_status od_sim_step_with_jacobians(od_sim *s, double h, const double *u, double *F, double *Gu0, double *Gu1,
                                     double *Gp) {
  const od_plant *plant = s->plant;
  int nz = plant->nz, nx = od_plant_nx(plant), nu = plant->nu, np = plant->np;
  od_status possible = od_sim_check_step(s, h);
  if (possible != OD_OK) return possible;
  int by = OD_BY_STATE | (Gp ? OD_BY_PARAMETER : 0) | (Gu0 || Gu1 ? OD_BY_INPUT : 0);
  columns c = {.p = nx, .u0 = nx + (Gp ? np : 0)};
  c.u1 = c.u0 + (Gu0 || Gu1 ? nu : 0);
  c.count = c.u1 + (Gu0 || Gu1 ? nu : 0);
  od_status status = od_sim_linearise(s, by);  // at the old point
  if (status == OD_OK) status = solve_step(s, h, u);
  if (status == OD_OK) status = differentiate(s, h, u, by, c);
  if (status != OD_OK) return status;
  if (F) {
    from_rates(s, h, c, 0, nx, od_sim_at(s, s->kx), F);
    for (int i = 0; i < nx; i++) F[i * nx + i] += 1;
    for (int i = 0; i < nz; i++) F[i * nx + nz + i] += h;
  }
  if (Gp) from_rates(s, h, c, c.p, np, od_sim_at(s, s->kp), Gp);
  if (Gu0) from_rates(s, h, c, c.u0, nu, od_sim_at(s, s->ku), Gu0);
  if (Gu1) from_rates(s, h, c, c.u1, nu, NULL, Gu1);
  s->linear = 0;
  status = accept(s, h, u);
  s->at_point = status == OD_OK;
  return status;
}
