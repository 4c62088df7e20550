// A plant whose parameters are functions of other parameters: p = f(q). Callers set and estimate q only. The chain rule gives the
// derivatives with respect to q: the derivatives with respect to p times f'.
//
// For outputs that depend on the rates k, the caller gives kq, but the inner plant needs kp. The difference of two calls of the
// inner plant gives the derivatives of outputs with respect to rates. One call has derivatives of the rates in the columns of its
// states, the other call has zeros.
#include <stdbool.h>
#include <string.h>

#include "base/allocate.h"
#include "base/byte_hash.h"
#include "base/parts.h"
#include "base/place.h"
#include "plant/inner_plant.h"

typedef struct tied_plant {
  od_inner_plant as;
  od_tie tie;
  uint64_t fingerprint;  // hash of the tie: its initial values, the results and derivatives of follow() at these
                         // values, and od_tie.fingerprint
  size_t q, p, dp, slope, wide, rates, with, without;  // offsets in work memory
} tied_plant;

static const tied_plant *plant_of(const od_plant *plant) {
  return plant->model;
}
// Computes the offsets of the parts of the work memory.
static void lay_out(tied_plant *d) {
  const od_plant *in = d->as.inner;
  size_t nk = (size_t)od_plant_nk(in), nx = (size_t)od_plant_nx(in), ny = (size_t)in->ny, np = (size_t)in->np, end = 0;
  size_t rows = nx > ny ? nx : ny;
  d->q = od_place(&end, (size_t)d->as.plant.np * sizeof(double));
  d->p = od_place(&end, np * sizeof(double));
  d->dp = od_place(&end, np * sizeof(double));
  d->slope = od_place(&end, np * (size_t)d->as.plant.np * sizeof(double));
  d->wide = od_place(&end, rows * np * sizeof(double));
  d->rates = od_place(&end, nk * (nx > np ? nx : np) * sizeof(double));
  d->with = od_place(&end, ny * nx * sizeof(double));
  d->without = od_place(&end, ny * nx * sizeof(double));
  d->as.work = od_place(&end, in->work_size);
  d->as.plant.work_size = od_place(&end, 0);
}

// ---- parameters

static od_status set_parameters(const od_plant *plant, void *work, const double *q) {
  const tied_plant *d = plant_of(plant);
  memmove(od_inner_at(work, d->q), q, (size_t)plant->np * sizeof *q);
  d->tie.follow(d->tie.user, od_inner_at(work, d->q), od_inner_at(work, d->p), od_inner_at(work, d->slope));
  return d->as.inner->ops->set_parameters(d->as.inner, od_inner_work(&d->as, work), od_inner_at(work, d->p));
}

static od_status start(const od_plant *plant, void *work, double *x) {
  const tied_plant *d = plant_of(plant);
  memset(work, 0, d->as.work);
  od_status status = d->as.inner->ops->start(d->as.inner, od_inner_work(&d->as, work), x);
  memcpy(od_inner_at(work, d->q), d->tie.start, (size_t)plant->np * sizeof *x);
  d->tie.follow(d->tie.user, od_inner_at(work, d->q), od_inner_at(work, d->p), od_inner_at(work, d->slope));
  return status;
}

static void get_parameters(const od_plant *plant, const void *work, double *q) {
  memcpy(q, od_inner_at(work, plant_of(plant)->q), (size_t)plant->np * sizeof *q);
}

// ---- derivatives with respect to parameters

// Computes by_q = by_p f', for `rows` rows.
static void chain(const tied_plant *d, const void *work, int rows, const double *by_p, double *by_q) {
  const double *slope = od_inner_at(work, d->slope);
  int np = d->as.inner->np, nq = d->as.plant.np;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < nq; j++) {
      double sum = 0;
      for (int k = 0; k < np; k++) sum += by_p[i * np + k] * slope[k * nq + j];
      by_q[i * nq + j] = sum;
    }
}

static od_status repartition(const od_plant *plant, void *work, double *x, double *map, double *map_p) {
  const tied_plant *d = plant_of(plant);
  double *wide = map_p ? od_inner_at(work, d->wide) : NULL;
  od_status status = d->as.inner->ops->repartition(d->as.inner, od_inner_work(&d->as, work), x, map, wide);
  if (status == OD_OK && map_p) chain(d, work, od_plant_nx(plant), wide, map_p);
  return status;
}

static od_status sample(const od_plant *plant, void *work, double t, double *x, double *map, double *by_parameters) {
  const tied_plant *d = plant_of(plant);
  double *wide = by_parameters ? od_inner_at(work, d->wide) : NULL;
  od_status status = d->as.inner->ops->sample(d->as.inner, od_inner_work(&d->as, work), t, x, map, wide);
  if (status == OD_OK && by_parameters) chain(d, work, od_plant_nx(plant), wide, by_parameters);
  return status;
}

static od_status parameter_jacobian(const od_plant *plant, void *work, double *gp) {
  const tied_plant *d = plant_of(plant);
  double *wide = od_inner_at(work, d->wide);
  od_status status = d->as.inner->ops->parameter_jacobian(d->as.inner, od_inner_work(&d->as, work), wide);
  if (status == OD_OK) chain(d, work, od_plant_nk(plant), wide, gp);
  return status;
}

// Computes the derivatives of the guards along a direction: converts the change of q to a change of p and calls the
// inner plant.
static od_status guard_slopes(const od_plant *plant, void *work, od_point_change along, double *guard_slope) {
  const tied_plant *d = plant_of(plant);
  const double *slope = od_inner_at(work, d->slope);
  double *dp = od_inner_at(work, d->dp);
  for (int i = 0; along.p && i < d->as.inner->np; i++) {
    dp[i] = 0;
    for (int j = 0; j < plant->np; j++) dp[i] += slope[i * plant->np + j] * along.p[j];
  }
  if (along.p) along.p = dp;
  return d->as.inner->ops->guard_slopes(d->as.inner, od_inner_work(&d->as, work), along, guard_slope);
}

// Computes the derivatives of the outputs with respect to the states. The columns of kq starting at `first`, or zeros (kq NULL),
// replace kx.
static od_status through_rates(const tied_plant *d, void *work, const double *energy, const unsigned char *wanted,
                               const double *kq, int first, double *hx) {
  const od_plant *in = d->as.inner;
  int nx = od_plant_nx(in), nk = od_plant_nk(in), nq = d->as.plant.np;
  double *columns = od_inner_at(work, d->rates);
  memset(columns, 0, (size_t)(nk * nx) * sizeof *columns);
  for (int i = 0; kq && i < nk; i++)
    for (int j = 0; j < nx && first + j < nq; j++) columns[i * nx + j] = kq[i * nq + first + j];
  return in->ops->output_jacobians(in, od_inner_work(&d->as, work), energy, wanted, columns, NULL, NULL, hx, NULL,
                                   NULL);
}

// Adds the derivatives of the outputs through the rates, which depend on q, to hq.
static od_status add_rates(const tied_plant *d, void *work, const double *energy, const unsigned char *wanted,
                           const double *kq, double *hq) {
  int nx = od_plant_nx(d->as.inner), ny = d->as.inner->ny, nq = d->as.plant.np;
  double *with = od_inner_at(work, d->with), *without = od_inner_at(work, d->without);
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

// Computes the Jacobians of the outputs. The Jacobian with respect to q is the Jacobian with respect to p times f',
// plus the effect of the rates.
static od_status output_jacobians(const od_plant *plant, void *work, const double *energy, const unsigned char *wanted,
                                  const double *kx, const double *ku, const double *kp, double *hx, double *hu,
                                  double *hp) {
  const tied_plant *d = plant_of(plant);
  const od_plant *in = d->as.inner;
  double *wide = hp ? od_inner_at(work, d->wide) : NULL, *still = hp && kp ? od_inner_at(work, d->rates) : NULL;
  if (wide) memset(wide, 0, (size_t)(in->ny * in->np) * sizeof *wide);
  if (still) memset(still, 0, (size_t)(od_plant_nk(in) * in->np) * sizeof *still);
  od_status status =
      in->ops->output_jacobians(in, od_inner_work(&d->as, work), energy, wanted, kx, ku, still, hx, hu, wide);
  if (status != OD_OK || !hp) return status;
  chain(d, work, plant->ny, wide, hp);
  return kp && plant->outputs_of_rates ? add_rates(d, work, energy, wanted, kp, hp) : OD_OK;
}

// ---- construction of the plant

static void fingerprint(const od_plant *plant, uint64_t *machine, uint64_t *selection) {
  const tied_plant *d = plant_of(plant);
  d->as.inner->ops->fingerprint(d->as.inner, machine, selection);
  *selection = od_hash_bytes(*selection, &d->fingerprint, sizeof d->fingerprint);
}

// Computes the fingerprint of the tie. Returns false if an allocation fails.
static bool find_fingerprint(tied_plant *d) {
  size_t np = (size_t)d->as.inner->np, nq = (size_t)d->tie.count;
  double *p = od_calloc(np + np * nq + 1, sizeof *p);
  if (!p) return false;
  d->tie.follow(d->tie.user, d->tie.start, p, p + np);
  d->fingerprint = od_hash_numbers(OD_HASH_START, d->tie.start, nq);
  d->fingerprint = od_hash_numbers(d->fingerprint, p, np + np * nq);
  d->fingerprint = od_hash_bytes(d->fingerprint, &d->tie.fingerprint, sizeof d->tie.fingerprint);
  od_free(p);
  return true;
}

static void destroy(od_plant *plant) {
  tied_plant *d = (tied_plant *)plant->model;
  od_plant_free(d->as.inner);
  if (d->tie.free_user) d->tie.free_user((void *)d->tie.user);
  od_free(d);
}

od_status od_plant_tied(od_plant *inner, const od_tie *tie, od_plant **out, od_error *err) {
  tied_plant *d = od_calloc(1, sizeof *d);
  *out = NULL;
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *d = (tied_plant){.as = {.plant = *inner, .inner = inner, .ops = od_inner_plant_ops(inner->ops)}, .tie = *tie};
  od_plant *plant = &d->as.plant;
  od_plant_ops *ops = &d->as.ops;
  if (!find_fingerprint(d)) {
    od_free(d);
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  plant->np = tie->count;
  lay_out(d);
  ops->start = start;
  ops->get_parameters = get_parameters;
  ops->set_parameters = set_parameters;
  ops->parameter_jacobian = parameter_jacobian;
  ops->output_jacobians = output_jacobians;
  if (inner->ops->repartition) ops->repartition = repartition;
  if (inner->ops->sample) ops->sample = sample;
  if (inner->ops->guard_slopes) ops->guard_slopes = guard_slopes;
  if (inner->ops->fingerprint) ops->fingerprint = fingerprint;
  plant->model = d;
  plant->ops = ops;
  plant->destroy = destroy;
  *out = plant;
  return OD_OK;
}
