// A plant whose outputs are read through imperfect sensors: y = scale h + bias. Bias and scale of chosen outputs are
// parameters behind those of the plant inside, so that whoever estimates parameters estimates calibrations, too.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "oleodyn/plant.h"

typedef struct calibrated_plant {
  od_plant plant, *inner;
  od_plant_ops ops;
  od_calibration *item;
  int count;
  size_t values, y, narrow, kp, work;  // offsets in work memory: calibrations, outputs, Jacobians of the plant inside
} calibrated_plant;

static const calibrated_plant *plant_of(const od_plant *plant) {
  return plant->model;
}
static double *at(const void *work, size_t offset) {
  return (double *)((char *)work + offset);
}
static void *inner_work(const calibrated_plant *d, const void *work) {
  return (char *)work + d->work;
}

static void lay_out(calibrated_plant *d) {
  const od_plant *in = d->inner;
  size_t nk = (size_t)od_plant_nk(in), nx = (size_t)od_plant_nx(in), ny = (size_t)in->ny, np = (size_t)in->np, end = 0;
  d->values = od_place(&end, (size_t)d->count * sizeof(double));
  d->y = od_place(&end, ny * sizeof(double));
  d->narrow = od_place(&end, (nx > ny ? nx : ny) * np * sizeof(double));
  d->kp = od_place(&end, nk * np * sizeof(double));
  d->work = od_place(&end, in->work_size);
  d->plant.work_size = od_place(&end, 0);
}

// ---- parameters

static od_status start(const od_plant *plant, void *work, double *x) {
  const calibrated_plant *d = plant_of(plant);
  memset(work, 0, d->work);
  for (int i = 0; i < d->count; i++) at(work, d->values)[i] = d->item[i].kind == OD_CALIBRATE_SCALE;
  return d->inner->ops->start(d->inner, inner_work(d, work), x);
}

static void get_parameters(const od_plant *plant, const void *work, double *p) {
  const calibrated_plant *d = plant_of(plant);
  d->inner->ops->get_parameters(d->inner, inner_work(d, work), p);
  memcpy(p + d->inner->np, at(work, d->values), (size_t)d->count * sizeof *p);
}

static od_status set_parameters(const od_plant *plant, void *work, const double *p) {
  const calibrated_plant *d = plant_of(plant);
  memcpy(at(work, d->values), p + d->inner->np, (size_t)d->count * sizeof *p);
  return d->inner->ops->set_parameters(d->inner, inner_work(d, work), p);
}

// ---- what the plant inside does

static od_status residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                          const double *u, double *g) {
  const calibrated_plant *d = plant_of(plant);
  return d->inner->ops->residual(d->inner, inner_work(d, work), t, x, k, u, g);
}
static od_status step_matrix(const od_plant *plant, void *work, double alpha, double beta, double *matrix) {
  const calibrated_plant *d = plant_of(plant);
  return d->inner->ops->step_matrix(d->inner, inner_work(d, work), alpha, beta, matrix);
}
static od_status jacobians(const od_plant *plant, void *work, double *gx, double *gk, double *gu) {
  const calibrated_plant *d = plant_of(plant);
  return d->inner->ops->jacobians(d->inner, inner_work(d, work), gx, gk, gu);
}
static od_status powers(const od_plant *plant, void *work, double *power) {
  const calibrated_plant *d = plant_of(plant);
  return d->inner->ops->powers(d->inner, inner_work(d, work), power);
}
static bool wants_repartition(const od_plant *plant, void *work) {
  const calibrated_plant *d = plant_of(plant);
  return d->inner->ops->wants_repartition(d->inner, inner_work(d, work));
}
static void settle(const od_plant *plant, void *work, bool back) {
  const calibrated_plant *d = plant_of(plant);
  d->inner->ops->settle(d->inner, inner_work(d, work), back);
}

static od_status stiffness(const od_plant *plant, void *work, double *K) {
  const calibrated_plant *d = plant_of(plant);
  return d->inner->ops->stiffness(d->inner, inner_work(d, work), K);
}

static size_t complex_size(const od_plant *plant) {
  const calibrated_plant *d = plant_of(plant);
  return d->inner->ops->in_complex->memory(d->inner);
}
static od_status complex_begin(const od_plant *plant, void *work, void *memory, int parameter, double by) {
  const calibrated_plant *d = plant_of(plant);
  int inside = parameter < d->inner->np ? parameter : -1;  // a calibration moves nothing
  return d->inner->ops->in_complex->begin(d->inner, inner_work(d, work), memory, inside, by);
}
static od_status complex_residual(const od_plant *plant, void *work, void *memory, const double *x, const double *k,
                                  double *g) {
  const calibrated_plant *d = plant_of(plant);
  return d->inner->ops->in_complex->residual(d->inner, inner_work(d, work), memory, x, k, g);
}
static const od_complex_ops complex_ops = {
    .memory = complex_size, .begin = complex_begin, .residual = complex_residual};

// ---- Jacobians: columns of calibrations behind those of the plant inside

static void widen(const calibrated_plant *d, int rows, const double *narrow, double *wide) {
  int few = d->inner->np, all = d->plant.np;
  for (int i = 0; i < rows; i++) {
    if (few) memcpy(wide + i * all, narrow + i * few, (size_t)few * sizeof *wide);
    memset(wide + i * all + few, 0, (size_t)(all - few) * sizeof *wide);
  }
}

static od_status repartition(const od_plant *plant, void *work, double *x, double *map, double *map_p) {
  const calibrated_plant *d = plant_of(plant);
  double *narrow = map_p && d->inner->np ? at(work, d->narrow) : NULL;
  od_status status = d->inner->ops->repartition(d->inner, inner_work(d, work), x, map, narrow);
  if (status == OD_OK && map_p) widen(d, od_plant_nx(plant), narrow, map_p);
  return status;
}

static double next_sample(const od_plant *plant, const void *work) {
  const calibrated_plant *d = plant_of(plant);
  return d->inner->ops->next_sample(d->inner, inner_work(d, work));
}

static od_status sample(const od_plant *plant, void *work, double t, double *x, double *map, double *by_parameters) {
  const calibrated_plant *d = plant_of(plant);
  double *narrow = by_parameters && d->inner->np ? at(work, d->narrow) : NULL;
  od_status status = d->inner->ops->sample(d->inner, inner_work(d, work), t, x, map, narrow);
  if (status == OD_OK && by_parameters) widen(d, od_plant_nx(plant), narrow, by_parameters);
  return status;
}

static od_status margin(const od_plant *plant, void *work, double *value, double *by_state) {
  const calibrated_plant *d = plant_of(plant);
  return d->inner->ops->margin(d->inner, inner_work(d, work), value, by_state);
}

static od_status parameter_jacobian(const od_plant *plant, void *work, double *gp) {
  const calibrated_plant *d = plant_of(plant);
  double *narrow = at(work, d->narrow);
  od_status status = d->inner->np ? d->inner->ops->parameter_jacobian(d->inner, inner_work(d, work), narrow) : OD_OK;
  if (status == OD_OK) widen(d, od_plant_nk(plant), narrow, gp);
  return status;
}

static void calibrate(const calibrated_plant *d, const void *work, double *rows, int columns, int with_bias) {
  const double *value = at(work, d->values);
  // Scales first: a bias is added to what has been scaled.
  for (int i = 0; i < d->count; i++)
    for (int c = 0; c < columns && d->item[i].kind == OD_CALIBRATE_SCALE; c++)
      rows[d->item[i].output * columns + c] *= value[i];
  for (int i = 0; with_bias && i < d->count; i++)
    if (d->item[i].kind == OD_CALIBRATE_BIAS) rows[d->item[i].output] += value[i];
}

static od_status outputs(const od_plant *plant, void *work, const double *energy, double *y) {
  const calibrated_plant *d = plant_of(plant);
  od_status status = d->inner->ops->outputs(d->inner, inner_work(d, work), energy, y);
  if (status == OD_OK) calibrate(d, work, y, 1, 1);
  return status;
}

static od_status calibration_columns(const calibrated_plant *d, void *work, const double *energy, double *hp) {
  double *y = at(work, d->y);
  od_status status = d->inner->ops->outputs(d->inner, inner_work(d, work), energy, y);
  for (int i = 0; i < d->count && status == OD_OK; i++)
    hp[d->item[i].output * d->plant.np + d->inner->np + i] =
        d->item[i].kind == OD_CALIBRATE_BIAS ? 1 : y[d->item[i].output];
  return status;
}

static od_status output_jacobians(const od_plant *plant, void *work, const double *energy, const unsigned char *wanted,
                                  const double *kx, const double *ku, const double *kp, double *hx, double *hu,
                                  double *hp) {
  const calibrated_plant *d = plant_of(plant);
  const od_plant *in = d->inner;
  double *narrow_kp = at(work, d->kp), *narrow_hp = at(work, d->narrow);
  bool inside = hp && in->np;
  for (int i = 0; inside && kp && i < od_plant_nk(in); i++)
    memcpy(narrow_kp + i * in->np, kp + i * plant->np, (size_t)in->np * sizeof *kp);
  od_status status = in->ops->output_jacobians(in, inner_work(d, work), energy, wanted, kx, ku,
                                               inside && kp ? narrow_kp : NULL, hx, hu, inside ? narrow_hp : NULL);
  if (status != OD_OK) return status;
  if (hx) calibrate(d, work, hx, od_plant_nx(plant), 0);
  if (hu) calibrate(d, work, hu, plant->nu, 0);
  if (!hp) return OD_OK;
  widen(d, plant->ny, narrow_hp, hp);
  calibrate(d, work, hp, plant->np, 0);
  return calibration_columns(d, work, energy, hp);
}

// ---- making one

static void destroy(od_plant *plant) {
  calibrated_plant *d = (calibrated_plant *)plant->model;
  od_plant_free(d->inner);
  free(d->item);
  free(d);
}

// What the plant inside does not offer, this one does not either.
static od_plant_ops ops_over(const od_plant_ops *inner) {
  return (od_plant_ops){
      .start = start,
      .get_parameters = get_parameters,
      .set_parameters = set_parameters,
      .residual = residual,
      .step_matrix = step_matrix,
      .jacobians = jacobians,
      .parameter_jacobian = parameter_jacobian,
      .outputs = outputs,
      .output_jacobians = output_jacobians,
      .powers = inner->powers ? powers : NULL,
      .wants_repartition = inner->wants_repartition ? wants_repartition : NULL,
      .repartition = inner->repartition ? repartition : NULL,
      .settle = inner->settle ? settle : NULL,
      .stiffness = inner->stiffness ? stiffness : NULL,
      .in_complex = inner->in_complex ? &complex_ops : NULL,
      .next_sample = inner->next_sample ? next_sample : NULL,
      .sample = inner->sample ? sample : NULL,
      .margin = inner->margin ? margin : NULL,
  };
}

od_status od_plant_calibrated(od_plant *inner, const od_calibration *item, int count, od_plant **out, od_error *err) {
  *out = NULL;
  for (int i = 0; i < count; i++)
    if (item[i].output < 0 || item[i].output >= inner->ny)
      return od_fail(err, OD_BAD_ARGUMENT, "a calibration of output %d, of which there are %d", item[i].output,
                     inner->ny);
  calibrated_plant *d = calloc(1, sizeof *d);
  od_calibration *own = calloc((size_t)count + 1, sizeof *own);
  if (!d || !own) {
    free(d);
    free(own);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  if (count) memcpy(own, item, (size_t)count * sizeof *own);
  *d = (calibrated_plant){.plant = *inner, .inner = inner, .item = own, .count = count};
  lay_out(d);
  d->plant.np = inner->np + count;
  d->plant.model = d;
  d->ops = ops_over(inner->ops);
  d->plant.ops = &d->ops;
  d->plant.destroy = destroy;
  *out = &d->plant;
  return OD_OK;
}
