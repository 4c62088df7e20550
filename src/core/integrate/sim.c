// Memory, state and outputs of a simulation. Steps are in step.c and in the files of the integrators.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/allocate.h"
#include "base/place.h"
#include "integrate/integrators.h"
#include "integrate/rates.h"
#include "integrate/sim_block.h"

// Places all parts of a simulation in its block. Returns the size of the block in bytes. Memory for derivatives and dense
// matrices grows with the square of the number of states. A plain simulation has no memory for derivatives. If the plant has its own
// factorization, a plain simulation has no memory for dense matrices either.
static size_t lay_out(od_sim *s, const od_plant *plant, bool plain) {
  size_t nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant), nu = (size_t)plant->nu;
  size_t np = (size_t)plant->np, most_np = (size_t)od_most_parameters(plant), nq = (size_t)plant->nq;
  size_t d = sizeof(double), end = sizeof *s;
  *s = (od_sim){.plant = plant, .integrator = od_integrator_at(0), .plain = plain};
  s->dense_room = !plain || !plant->ops->step_factors;
  size_t dense = s->dense_room ? nk * nk : 0, columns = plain ? 0 : od_most_columns(plant), rows = plain ? 0 : nk;
  s->x = od_place(&end, nx * d);
  s->k = od_place(&end, nk * d);
  s->k_before = od_place(&end, nk * d);
  s->k_earlier = od_place(&end, nk * d);
  s->u = od_place(&end, nu * d);
  s->energy = od_place(&end, nq * d);
  s->power = od_place(&end, nq * d);
  s->power_next = od_place(&end, nq * d);
  s->curve = od_place(&end, nk * d);
  s->x_next = od_place(&end, nx * d);
  s->k_next = od_place(&end, nk * d);
  s->base = od_place(&end, nx * d);
  s->g = od_place(&end, nk * d);
  s->matrix = od_place(&end, dense * d);
  s->pivot = od_place(&end, (nk + od_rate_matrix_pivots(plant)) * sizeof(int));
  s->careful = od_place(&end, 3 * nk * d);
  s->kx = od_place(&end, rows * nx * d);
  s->ku = od_place(&end, rows * nu * d);
  s->kp = od_place(&end, rows * most_np * d);
  s->gx = od_place(&end, rows * nx * d);
  s->gu = od_place(&end, rows * nu * d);
  s->gp = od_place(&end, rows * most_np * d);
  s->rate_matrix = od_place(&end, (s->dense_room ? od_rate_matrix_doubles(plant) : 0) * d);
  s->right = od_place(&end, rows * columns * d);
  s->inside = od_place(&end, (size_t)od_integrators_inside() * nu * d);
  s->scratch = od_place(&end, od_integrators_scratch(plant, columns) * d);
  s->guards = od_place(&end, (size_t)od_plant_guards(plant) * d);
  s->before_set = od_place(&end, (nx + nk + nu + nq + np) * d);
  s->held = od_place(&end, 2 * (size_t)plant->jumps * d);
  s->jump_start = od_place(&end, (size_t)plant->jumps * d);
  s->slide = od_place(&end, od_slide_doubles(plant, plain) * d);
  s->work = od_place(&end, plant->work_size);
  s->size = od_place(&end, 0);
  return s->size;
}

static od_sim *init(void *memory, const od_plant *plant, bool plain) {
  if (!memory) return NULL;
  od_sim s;
  size_t size = lay_out(&s, plant, plain);
  memset(memory, 0, size);
  memcpy(memory, &s, sizeof s);
  return memory;
}

size_t od_sim_size(const od_plant *plant) {
  od_sim s;
  return lay_out(&s, plant, false);
}
od_sim *od_sim_init(void *memory, const od_plant *plant) {
  return init(memory, plant, false);
}
od_sim *od_sim_new(const od_plant *plant) {
  return od_sim_init(od_malloc(od_sim_size(plant)), plant);
}

size_t od_sim_plain_size(const od_plant *plant) {
  od_sim s;
  return lay_out(&s, plant, true);
}
od_sim *od_sim_plain_init(void *memory, const od_plant *plant) {
  return init(memory, plant, true);
}
od_sim *od_sim_plain_new(const od_plant *plant) {
  return od_sim_plain_init(od_malloc(od_sim_plain_size(plant)), plant);
}

size_t od_sim_bytes(const od_sim *sim) {
  return sim->size;
}
void od_sim_free(od_sim *sim) {
  od_free(sim);
}

// Deletes all data about earlier steps: rates, matrices, error estimates.
static void forget(od_sim *s) {
  od_sim_leave_point(s);
  s->has_matrix = OD_NO_MATRIX;
  s->history = s->has_curve = s->has_error = 0;
  s->last_step = s->step_before = 0;
  s->contraction = 0.1;
}

// If a plant has its own factorization, but fewer than LARGE_PLANT rates, the rates are computed with a dense matrix, if there is
// memory for this matrix. Then the factors of Newton's matrix stay valid; filters need these factors to correct a state.
// Derivatives need the dense matrix in any case.
enum { LARGE_PLANT = 200 };
od_status od_sim_find_rates(od_sim *s, double t, const double *x, const double *u, double *k) {
  const od_plant *plant = s->plant;
  s->rates_with_gk = 0;
  if (plant->ops->step_factors && (!s->dense_room || od_plant_nk(plant) >= LARGE_PLANT)) {
    if (s->has_matrix == OD_MATRIX_OF_PLANT) s->has_matrix = OD_NO_MATRIX;
    od_status status = od_plant_rates_by_factors(plant, od_sim_work(s), t, x, u, k, od_sim_at(s, s->g));
    if (status != OD_SINGULAR || !s->dense_room) return status;
  }
  const od_rate_matrix matrix = od_sim_rate_matrix(s);
  s->rates_with_gk = 1;
  return od_plant_rates(plant, od_sim_work(s), t, x, u, k, &matrix);
}

// Computes rates and powers at the current state and inputs. After a small change of the state, such as a filter's correction,
// Newton's matrix and the trend of the rates remain valid. Fails with a status of od_sim_step().
static od_status evaluate(od_sim *s) {
  int nk = od_plant_nk(s->plant);
  double *k = od_sim_at(s, s->k), *before = od_sim_at(s, s->k_before), *earlier = od_sim_at(s, s->k_earlier),
         *old = od_sim_at(s, s->k_next);
  memcpy(old, k, (size_t)nk * sizeof *k);
  od_sim_leave_point(s);
  s->jumps_known = 0;
  od_status status = od_sim_find_rates(s, s->t, od_sim_at(s, s->x), od_sim_at(s, s->u), k);
  if (status == OD_OK && s->plant->nq) status = s->plant->ops->powers(s->plant, od_sim_work(s), od_sim_at(s, s->power));
  if (od_sim_settle(s, status) != OD_OK) {
    forget(s);
    return status;
  }
  for (int i = 0; i < nk; i++) {
    before[i] += k[i] - old[i];
    earlier[i] += k[i] - old[i];
  }
  od_sim_adopt_rates_point(s);
  return OD_OK;
}

od_status od_sim_start(od_sim *s, double t, const double *u) {
  const od_plant *plant = s->plant;
  s->t = t;
  s->started = 0;
  s->counts = (od_sim_counts){0};
  if (!OD_WITH_JUMPS && plant->jumps) return OD_NOT_AVAILABLE;
  od_status status = plant->ops->start(plant, od_sim_work(s), od_sim_at(s, s->x));
  if (status != OD_OK) return status;
  memset(od_sim_at(s, s->energy), 0, (size_t)plant->nq * sizeof(double));
  if (plant->nu) memcpy(od_sim_at(s, s->u), u, (size_t)plant->nu * sizeof *u);
  forget(s);
  od_sim_release_jumps(s);
  status = evaluate(s);
  if (status != OD_OK) return status;
  bool changed;
  s->started = 1;
  status = od_sim_sample(s, NULL, NULL, &changed);
  if (status != OD_OK) s->started = 0;
  return status;
}

// Saves the point (state, rates, inputs and powers), or with `back` restores the saved point. Returns the end of the saved point,
// where parameters can be saved.
static double *keep_point(od_sim *s, bool back) {
  const od_plant *plant = s->plant;
  const struct {
    size_t at;
    int count;
  } parts[] = {{s->x, od_plant_nx(plant)}, {s->k, od_plant_nk(plant)}, {s->u, plant->nu}, {s->power, plant->nq}};
  double *saved = od_sim_at(s, s->before_set);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    double *here = od_sim_at(s, parts[i].at);
    memcpy(back ? here : saved, back ? saved : here, (size_t)parts[i].count * sizeof *here);
    saved += parts[i].count;
  }
  return saved;
}

// Restores the saved point after a failure.
static void restore_point(od_sim *s, const od_sim *before) {
  *s = *before;
  od_sim_leave_point(s);  // the values and factors stored in the plant may belong to another point
  if (s->has_matrix == OD_MATRIX_OF_PLANT) s->has_matrix = OD_NO_MATRIX;
  if (s->holding) s->plant->ops->hold(s->plant, od_sim_work(s), od_sim_at(s, s->held));
  keep_point(s, true);
}

// Sets another point. A quantity whose argument is NULL keeps its value. If the point cannot be evaluated, the simulation stays
// unchanged.
static od_status go_to_point(od_sim *s, double t, const double *x, const double *u, const double *p) {
  const od_plant *plant = s->plant;
  const od_sim before = *s;
  double *parameters_before = keep_point(s, false);
  if (x && s->holding) od_sim_release_jumps(s);
  if (p) plant->ops->get_parameters(plant, od_sim_work(s), parameters_before);
  od_status status = p ? plant->ops->set_parameters(plant, od_sim_work(s), p) : OD_OK;
  if (status == OD_OK) {
    s->t = t;
    if (x) memcpy(od_sim_at(s, s->x), x, (size_t)od_plant_nx(plant) * sizeof *x);
    if (u && u != od_sim_inputs(s)) memcpy(od_sim_at(s, s->u), u, (size_t)plant->nu * sizeof *u);
    status = evaluate(s);
  }
  if (status == OD_OK) {
    s->sets++;
    return OD_OK;
  }
  restore_point(s, &before);
  if (p) plant->ops->set_parameters(plant, od_sim_work(s), parameters_before);
  return status;
}

od_status od_sim_set_with_parameters(od_sim *s, double t, const double *x, const double *u, const double *p) {
  return s->started ? go_to_point(s, t, x, u, p) : OD_BAD_ARGUMENT;
}

od_status od_sim_set(od_sim *s, double t, const double *x, const double *u) {
  return od_sim_set_with_parameters(s, t, x, u, NULL);
}

od_status od_sim_set_parameters(od_sim *s, const double *p) {
  return od_sim_set_with_parameters(s, s->t, NULL, NULL, p);
}

void od_sim_parameters(const od_sim *s, double *p) {
  s->plant->ops->get_parameters(s->plant, (const char *)s + s->work, p);
}

od_status od_sim_set_inputs(od_sim *s, const double *u) {
  if (!s->started) return OD_BAD_ARGUMENT;
  if (s->plant->nu == 0 || memcmp(od_sim_at(s, s->u), u, (size_t)s->plant->nu * sizeof *u) == 0) return OD_OK;
  od_status status = go_to_point(s, s->t, NULL, u, NULL);
  if (status == OD_OK) s->jumped = 1;
  return status;
}

double od_sim_time(const od_sim *s) {
  return s->t;
}
const double *od_sim_state(const od_sim *s) {
  return (const double *)((const char *)s + s->x);
}
const double *od_sim_rates(const od_sim *s) {
  return (const double *)((const char *)s + s->k);
}
const double *od_sim_inputs(const od_sim *s) {
  return (const double *)((const char *)s + s->u);
}
const double *od_sim_energy(const od_sim *s) {
  return s->plant->nq ? (const double *)((const char *)s + s->energy) : NULL;
}
od_sim_counts od_sim_count(const od_sim *s) {
  return s->counts;
}

od_status od_sim_refresh(od_sim *s) {
  if (!s->started) return OD_BAD_ARGUMENT;
  if (s->at_point) return OD_OK;
  od_status status = s->plant->ops->residual(s->plant, od_sim_work(s), s->t, od_sim_at(s, s->x), od_sim_at(s, s->k),
                                             od_sim_at(s, s->u), od_sim_at(s, s->g));
  s->counts.residuals++;
  s->at_point = status == OD_OK;
  return status;
}

od_status od_sim_find_slopes(od_sim *s, int by) {
  const od_plant *plant = s->plant;
  if (s->plain) return OD_NOT_AVAILABLE;
  int missing = by & ~s->slopes;
  double *gx = missing & OD_BY_STATE ? od_sim_at(s, s->gx) : NULL,
         *gu = missing & OD_BY_INPUT ? od_sim_at(s, s->gu) : NULL;
  double *gk = s->has_gk ? NULL : od_sim_rate_matrix(s).gk;
  od_status status = gx || gu || gk ? plant->ops->jacobians(plant, od_sim_work(s), gx, gk, gu) : OD_OK;
  if (status == OD_OK && (missing & OD_BY_PARAMETER) && od_sim_np(s))
    status = (s->by_held ? plant->ops->held_jacobian : plant->ops->parameter_jacobian)(plant, od_sim_work(s),
                                                                                       od_sim_at(s, s->gp));
  if (status != OD_OK) return status;
  s->slopes |= missing;
  s->has_gk = 1;
  return OD_OK;
}

od_status od_sim_linearize(od_sim *s, int by) {
  const od_plant *plant = s->plant;
  // After a failed step the plant's last point is not the current point, even if the derivatives are known.
  od_status status = od_sim_refresh(s);
  int missing = by & ~s->linear;
  if (status != OD_OK || !missing) return status;
  if (s->plain) return OD_NOT_AVAILABLE;
  const od_rate_matrix matrix = od_sim_rate_matrix(s);
  status = od_sim_find_slopes(s, missing);
  if (status == OD_OK && !s->has_gk_factors) status = od_rate_matrix_factor(plant, &matrix);
  if (status != OD_OK) return status;
  s->has_gk_factors = 1;
  const struct {
    int by, columns;
    size_t g, k;
  } parts[] = {{OD_BY_STATE, od_plant_nx(plant), s->gx, s->kx},
               {OD_BY_INPUT, plant->nu, s->gu, s->ku},
               {OD_BY_PARAMETER, od_sim_np(s), s->gp, s->kp}};
  for (int i = 0; i < 3; i++)
    if (missing & parts[i].by)
      od_rate_matrix_solve(plant, &matrix, od_sim_at(s, parts[i].g), parts[i].columns, od_sim_at(s, parts[i].k));
  s->linear |= missing;
  return OD_OK;
}

od_status od_sim_linearize_rates(od_sim *s, int by) {
  return by & ~s->linear ? od_sim_linearize(s, by) : OD_OK;
}

od_status od_sim_outputs(od_sim *s, double *y) {
  od_status status = od_sim_refresh(s);
  return status == OD_OK ? s->plant->ops->outputs(s->plant, od_sim_work(s), od_sim_at(s, s->energy), y) : status;
}

// Iterations of the plant start at its previous point, or, after a failure, at the last settled point.
od_status od_sim_outputs_elsewhere(od_sim *s, const double *x, const double *p, double *y) {
  const od_plant *plant = s->plant;
  if (!s->started) return OD_BAD_ARGUMENT;
  od_sim_leave_point(s);
  od_status status = p ? plant->ops->set_parameters(plant, od_sim_work(s), p) : OD_OK;
  if (status != OD_OK) return status;
  const double *u = od_sim_at(s, s->u);
  if (plant->outputs_of_rates)
    status = od_sim_find_rates(s, s->t, x, u, od_sim_at(s, s->k_next));
  else if (plant->ops->place)
    status = plant->ops->place(plant, od_sim_work(s), s->t, x, u);
  else
    status = plant->ops->residual(plant, od_sim_work(s), s->t, x, od_sim_at(s, s->k), u, od_sim_at(s, s->g));
  if (status == OD_OK) return plant->ops->outputs(plant, od_sim_work(s), od_sim_at(s, s->energy), y);
  return od_sim_settle(s, status);
}

od_status od_sim_repartition(od_sim *s, double *map, bool *changed) {
  return od_sim_repartition_with_parameters(s, map, NULL, changed);
}

od_status od_sim_repartition_with_parameters(od_sim *s, double *map, double *map_p, bool *changed) {
  *changed = false;
  if (!s->started) return OD_BAD_ARGUMENT;
  // The last evaluation, within Newton's tolerance of the current point, is accurate enough for this decision.
  const od_plant_ops *ops = s->plant->ops;
  if (!ops->repartition || !ops->wants_repartition(s->plant, od_sim_work(s))) return OD_OK;
  od_status status = od_sim_refresh(s);
  if (status != OD_OK) return status;
  status = ops->repartition(s->plant, od_sim_work(s), od_sim_at(s, s->x), map, map_p);
  if (status != OD_OK) {
    od_sim_leave_point(s);  // the plant's last point is not the current point
    return status;
  }
  *changed = true;
  s->counts.repartitions++;
  forget(s);
  status = evaluate(s);
  if (status != OD_OK)
    s->started = 0;  // the old coordinates are lost, and the rates in the new coordinates are unknown
  return status;
}

double od_sim_next_sample(const od_sim *s) {
  const od_plant_ops *ops = s->plant->ops;
  return ops->next_sample && s->started ? ops->next_sample(s->plant, (const char *)s + s->work) : INFINITY;
}

od_status od_sim_sample(od_sim *s, double *map, double *by_parameters, bool *changed) {
  *changed = false;
  if (!s->started) return OD_BAD_ARGUMENT;
  // Round-off of the time must not delay a sample by a step.
  double next = od_sim_next_sample(s), margin = INFINITY;
  bool due = isfinite(next) && s->t >= next - 1e-12 * fabs(next);
  od_status status = od_sim_margin(s, &margin);
  if (status != OD_OK || !(due || margin <= 0)) return status;
  double t = due ? fmax(s->t, next) : s->t;
  status = od_sim_refresh(s);
  if (status != OD_OK) return status;
  const od_sim before = *s;
  keep_point(s, false);
  status = s->plant->ops->sample(s->plant, od_sim_work(s), t, od_sim_at(s, s->x), map, by_parameters);
  // A failure at the new point also restores the plant.
  status = status == OD_OK ? evaluate(s) : od_sim_settle(s, status);
  if (status != OD_OK) {
    restore_point(s, &before);
    return status;
  }
  *changed = true;
  s->history = 0;  // rates may have jumped
  return OD_OK;
}

// The explicit form is f = [w; k]. In the Jacobian fx, the rows of w are unit rows; in fu and fp, these rows are zero. Fails with
// a status of od_sim_step().
od_status od_sim_derivatives(od_sim *s, double *f, double *fx, double *fu, double *fp) {
  const od_plant *plant = s->plant;
  size_t nz = (size_t)plant->nz, nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant);
  size_t nu = (size_t)plant->nu, np = (size_t)plant->np;
  od_status status = od_sim_linearize(s, (fx ? OD_BY_STATE : 0) | (fu ? OD_BY_INPUT : 0) | (fp ? OD_BY_PARAMETER : 0));
  if (status != OD_OK) return status;
  if (f) {
    memcpy(f, od_sim_at(s, s->x) + nz, nz * sizeof *f);
    memcpy(f + nz, od_sim_at(s, s->k), nk * sizeof *f);
  }
  if (fx) {
    memset(fx, 0, nz * nx * sizeof *fx);
    for (size_t i = 0; i < nz; i++) fx[i * nx + nz + i] = 1;
    memcpy(fx + nz * nx, od_sim_at(s, s->kx), nk * nx * sizeof *fx);
  }
  if (fu) {
    memset(fu, 0, nz * nu * sizeof *fu);
    memcpy(fu + nz * nu, od_sim_at(s, s->ku), nk * nu * sizeof *fu);
  }
  if (fp) {
    memset(fp, 0, nz * np * sizeof *fp);
    memcpy(fp + nz * np, od_sim_at(s, s->kp), nk * np * sizeof *fp);
  }
  return OD_OK;
}

od_status od_sim_output_jacobians(od_sim *s, double *hx, double *hu, double *hp) {
  return od_sim_output_rows(s, NULL, hx, hu, hp);
}

od_status od_sim_output_rows_elsewhere(od_sim *s, const unsigned char *wanted, double *hx, double *hu, double *hp) {
  s->at_point = 1;  // for the linearization, the plant's last point is the current point
  od_status status = od_sim_output_rows(s, wanted, hx, hu, hp);
  od_sim_leave_point(s);
  return status;
}

od_status od_sim_output_rows(od_sim *s, const unsigned char *wanted, double *hx, double *hu, double *hp) {
  const od_plant *plant = s->plant;
  int by = (hx ? OD_BY_STATE : 0) | (hu ? OD_BY_INPUT : 0) | (hp ? OD_BY_PARAMETER : 0);
  if (s->plain) return OD_NOT_AVAILABLE;
  od_status status = od_sim_linearize(s, plant->outputs_of_rates ? by : 0);
  if (status != OD_OK) return status;
  return plant->ops->output_jacobians(plant, od_sim_work(s), od_sim_at(s, s->energy), wanted, od_sim_at(s, s->kx),
                                      od_sim_at(s, s->ku), od_sim_at(s, s->kp), hx, hu, hp);
}
