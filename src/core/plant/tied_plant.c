// A plant whose parameters follow others: p = f(q). Whoever sets and estimates knows q alone; derivatives by q are those by p
// times those of f.
//
// Outputs that depend on the rates k need care: kq is given, kp is not. Derivatives of outputs by rates are found by asking the
// plant inside with and without derivatives of the rates in the columns of its states.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "oleodyn/plant.h"

typedef struct tied_plant {
  od_plant plant, *inner;
  od_plant_ops ops;
  od_tie tie;
  size_t q, p, slope, wide, rates, with, without, work;  // offsets in work memory
} tied_plant;

static const tied_plant *plant_of(const od_plant *plant) {
  return plant->model;
}
static double *at(const void *work, size_t offset) {
  return (double *)((char *)work + offset);
}
static void *inner_work(const tied_plant *d, const void *work) {
  return (char *)work + d->work;
}

static void lay_out(tied_plant *d) {
  const od_plant *in = d->inner;
  size_t nk = (size_t)od_plant_nk(in), nx = (size_t)od_plant_nx(in), ny = (size_t)in->ny, np = (size_t)in->np, end = 0;
  size_t rows = nx > ny ? nx : ny;
  d->q = od_place(&end, (size_t)d->plant.np * sizeof(double));
  d->p = od_place(&end, np * sizeof(double));
  d->slope = od_place(&end, np * (size_t)d->plant.np * sizeof(double));
  d->wide = od_place(&end, rows * np * sizeof(double));
  d->rates = od_place(&end, nk * (nx > np ? nx : np) * sizeof(double));
  d->with = od_place(&end, ny * nx * sizeof(double));
  d->without = od_place(&end, ny * nx * sizeof(double));
  d->work = od_place(&end, in->work_size);
  d->plant.work_size = od_place(&end, 0);
}

// ---- parameters

static od_status set_parameters(const od_plant *plant, void *work, const double *q) {
  const tied_plant *d = plant_of(plant);
  memmove(at(work, d->q), q, (size_t)plant->np * sizeof *q);
  d->tie.follow(d->tie.user, at(work, d->q), at(work, d->p), at(work, d->slope));
  return d->inner->ops->set_parameters(d->inner, inner_work(d, work), at(work, d->p));
}

static od_status start(const od_plant *plant, void *work, double *x) {
  const tied_plant *d = plant_of(plant);
  memset(work, 0, d->work);
  od_status status = d->inner->ops->start(d->inner, inner_work(d, work), x);
  memcpy(at(work, d->q), d->tie.start, (size_t)plant->np * sizeof *x);
  d->tie.follow(d->tie.user, at(work, d->q), at(work, d->p), at(work, d->slope));
  return status;
}

static void get_parameters(const od_plant *plant, const void *work, double *q) {
  memcpy(q, at(work, plant_of(plant)->q), (size_t)plant->np * sizeof *q);
}

// ---- what the plant inside does

static od_status residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                          const double *u, double *g) {
  const tied_plant *d = plant_of(plant);
  return d->inner->ops->residual(d->inner, inner_work(d, work), t, x, k, u, g);
}
static od_status step_matrix(const od_plant *plant, void *work, double alpha, double beta, double *matrix) {
  const tied_plant *d = plant_of(plant);
  return d->inner->ops->step_matrix(d->inner, inner_work(d, work), alpha, beta, matrix);
}
static od_status jacobians(const od_plant *plant, void *work, double *gx, double *gk, double *gu) {
  const tied_plant *d = plant_of(plant);
  return d->inner->ops->jacobians(d->inner, inner_work(d, work), gx, gk, gu);
}
static od_status outputs(const od_plant *plant, void *work, const double *energy, double *y) {
  const tied_plant *d = plant_of(plant);
  return d->inner->ops->outputs(d->inner, inner_work(d, work), energy, y);
}
static od_status powers(const od_plant *plant, void *work, double *power) {
  const tied_plant *d = plant_of(plant);
  return d->inner->ops->powers(d->inner, inner_work(d, work), power);
}
static bool wants_repartition(const od_plant *plant, void *work) {
  const tied_plant *d = plant_of(plant);
  return d->inner->ops->wants_repartition(d->inner, inner_work(d, work));
}
static void settle(const od_plant *plant, void *work, bool back) {
  const tied_plant *d = plant_of(plant);
  d->inner->ops->settle(d->inner, inner_work(d, work), back);
}
static od_status stiffness(const od_plant *plant, void *work, double *K) {
  const tied_plant *d = plant_of(plant);
  return d->inner->ops->stiffness(d->inner, inner_work(d, work), K);
}
static double next_sample(const od_plant *plant, const void *work) {
  const tied_plant *d = plant_of(plant);
  return d->inner->ops->next_sample(d->inner, inner_work(d, work));
}
static od_status margin(const od_plant *plant, void *work, double *value, double *by_state) {
  const tied_plant *d = plant_of(plant);
  return d->inner->ops->margin(d->inner, inner_work(d, work), value, by_state);
}

// ---- derivatives by parameters

// by_q = by_p f', for so many rows.
static void chain(const tied_plant *d, const void *work, int rows, const double *by_p, double *by_q) {
  const double *slope = at(work, d->slope);
  int np = d->inner->np, nq = d->plant.np;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < nq; j++) {
      double sum = 0;
      for (int k = 0; k < np; k++) sum += by_p[i * np + k] * slope[k * nq + j];
      by_q[i * nq + j] = sum;
    }
}

static od_status repartition(const od_plant *plant, void *work, double *x, double *map, double *map_p) {
  const tied_plant *d = plant_of(plant);
  double *wide = map_p ? at(work, d->wide) : NULL;
  od_status status = d->inner->ops->repartition(d->inner, inner_work(d, work), x, map, wide);
  if (status == OD_OK && map_p) chain(d, work, od_plant_nx(plant), wide, map_p);
  return status;
}

static od_status sample(const od_plant *plant, void *work, double t, double *x, double *map, double *by_parameters) {
  const tied_plant *d = plant_of(plant);
  double *wide = by_parameters ? at(work, d->wide) : NULL;
  od_status status = d->inner->ops->sample(d->inner, inner_work(d, work), t, x, map, wide);
  if (status == OD_OK && by_parameters) chain(d, work, od_plant_nx(plant), wide, by_parameters);
  return status;
}

static od_status parameter_jacobian(const od_plant *plant, void *work, double *gp) {
  const tied_plant *d = plant_of(plant);
  double *wide = at(work, d->wide);
  od_status status = d->inner->ops->parameter_jacobian(d->inner, inner_work(d, work), wide);
  if (status == OD_OK) chain(d, work, od_plant_nk(plant), wide, gp);
  return status;
}

// The outputs' derivatives by the states as if kx were these columns of kq from `first` on, or zero.
static od_status through_rates(const tied_plant *d, void *work, const double *energy, const unsigned char *wanted,
                               const double *kq, int first, double *hx) {
  const od_plant *in = d->inner;
  int nx = od_plant_nx(in), nk = od_plant_nk(in), nq = d->plant.np;
  double *columns = at(work, d->rates);
  memset(columns, 0, (size_t)(nk * nx) * sizeof *columns);
  for (int i = 0; kq && i < nk; i++)
    for (int j = 0; j < nx && first + j < nq; j++) columns[i * nx + j] = kq[i * nq + first + j];
  return in->ops->output_jacobians(in, inner_work(d, work), energy, wanted, columns, NULL, NULL, hx, NULL, NULL);
}

// Adds what the rates do that follow q.
static od_status add_rates(const tied_plant *d, void *work, const double *energy, const unsigned char *wanted,
                           const double *kq, double *hq) {
  int nx = od_plant_nx(d->inner), ny = d->inner->ny, nq = d->plant.np;
  double *with = at(work, d->with), *without = at(work, d->without);
  memset(with, 0, (size_t)(ny * nx) * sizeof *with);
  memset(without, 0, (size_t)(ny * nx) * sizeof *without);
  od_status status = through_rates(d, work, energy, wanted, NULL, 0, without);
  for (int first = 0; first < nq && status == OD_OK; first += nx) {
    status = through_rates(d, work, energy, wanted, kq, first, with);
    for (int i = 0; i < ny && status == OD_OK; i++)
      for (int j = 0; j < nx && first + j < nq; j++) hq[i * nq + first + j] += with[i * nx + j] - without[i * nx + j];
  }
  return status;
}

static od_status output_jacobians(const od_plant *plant, void *work, const double *energy, const unsigned char *wanted,
                                  const double *kx, const double *ku, const double *kp, double *hx, double *hu,
                                  double *hp) {
  const tied_plant *d = plant_of(plant);
  const od_plant *in = d->inner;
  double *wide = hp ? at(work, d->wide) : NULL, *still = hp && kp ? at(work, d->rates) : NULL;
  if (wide) memset(wide, 0, (size_t)(in->ny * in->np) * sizeof *wide);
  if (still) memset(still, 0, (size_t)(od_plant_nk(in) * in->np) * sizeof *still);
  od_status status = in->ops->output_jacobians(in, inner_work(d, work), energy, wanted, kx, ku, still, hx, hu, wide);
  if (status != OD_OK || !hp) return status;
  chain(d, work, plant->ny, wide, hp);
  return kp && plant->outputs_of_rates ? add_rates(d, work, energy, wanted, kp, hp) : OD_OK;
}

// ---- making one

static void destroy(od_plant *plant) {
  tied_plant *d = (tied_plant *)plant->model;
  od_plant_free(d->inner);
  if (d->tie.free_user) d->tie.free_user((void *)d->tie.user);
  free(d);
}

od_status od_plant_tied(od_plant *inner, const od_tie *tie, od_plant **out, od_error *err) {
  tied_plant *d = calloc(1, sizeof *d);
  *out = NULL;
  if (!d) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  const od_plant_ops *has = inner->ops;
  *d = (tied_plant){.plant = *inner, .inner = inner, .tie = *tie};
  d->plant.np = tie->count;
  lay_out(d);
  d->ops = (od_plant_ops){.start = start,
                          .get_parameters = get_parameters,
                          .set_parameters = set_parameters,
                          .residual = residual,
                          .step_matrix = step_matrix,
                          .jacobians = jacobians,
                          .parameter_jacobian = parameter_jacobian,
                          .outputs = outputs,
                          .output_jacobians = output_jacobians,
                          .powers = has->powers ? powers : NULL,
                          .wants_repartition = has->wants_repartition ? wants_repartition : NULL,
                          .repartition = has->repartition ? repartition : NULL,
                          .settle = has->settle ? settle : NULL,
                          .stiffness = has->stiffness ? stiffness : NULL,
                          .next_sample = has->next_sample ? next_sample : NULL,
                          .sample = has->sample ? sample : NULL,
                          .margin = has->margin ? margin : NULL};
  d->plant.model = d;
  d->plant.ops = &d->ops;
  d->plant.destroy = destroy;
  *out = &d->plant;
  return OD_OK;
}
