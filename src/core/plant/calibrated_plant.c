// A plant whose outputs are measured by imperfect sensors: y = scale h + bias. Bias and scale of chosen outputs are
// additional parameters after the parameters of the inner plant, so observers and fits can estimate bias and scale.
#include <stdbool.h>
#include <string.h>

#include "base/byte_hash.h"
#include "base/parts.h"
#include "base/place.h"
#include "plant/inner_plant.h"
#include "plant/plant_in_arena.h"

typedef struct calibrated_plant {
  od_inner_plant as;
  od_arena own;  // the memory of a plant that od_plant_calibrated() created; contains this struct
  od_calibration *item;
  int count;
  size_t values, y, narrow, kp;  // offsets in work memory: calibrations, outputs, Jacobians of the inner plant
} calibrated_plant;

static const calibrated_plant *plant_of(const od_plant *plant) {
  return plant->model;
}
// Places the parts of the work memory.
static void lay_out(calibrated_plant *d) {
  const od_plant *in = d->as.inner;
  size_t nk = (size_t)od_plant_nk(in), nx = (size_t)od_plant_nx(in), ny = (size_t)in->ny, np = (size_t)in->np, end = 0;
  d->values = od_place(&end, (size_t)d->count * sizeof(double));
  d->y = od_place(&end, ny * sizeof(double));
  d->narrow = od_place(&end, (nx > ny ? nx : ny) * np * sizeof(double));
  d->kp = od_place(&end, nk * np * sizeof(double));
  d->as.work = od_place(&end, in->work_size);
  d->as.plant.work_size = od_place(&end, 0);
}

// ---- parameters

static od_status start(const od_plant *plant, void *work, double *x) {
  const calibrated_plant *d = plant_of(plant);
  memset(work, 0, d->as.work);
  for (int i = 0; i < d->count; i++) od_inner_at(work, d->values)[i] = d->item[i].kind == OD_CALIBRATE_SCALE;
  return d->as.inner->ops->start(d->as.inner, od_inner_work(&d->as, work), x);
}

static void get_parameters(const od_plant *plant, const void *work, double *p) {
  const calibrated_plant *d = plant_of(plant);
  d->as.inner->ops->get_parameters(d->as.inner, od_inner_work(&d->as, work), p);
  memcpy(p + d->as.inner->np, od_inner_at(work, d->values), (size_t)d->count * sizeof *p);
}

static od_status set_parameters(const od_plant *plant, void *work, const double *p) {
  const calibrated_plant *d = plant_of(plant);
  memcpy(od_inner_at(work, d->values), p + d->as.inner->np, (size_t)d->count * sizeof *p);
  return d->as.inner->ops->set_parameters(d->as.inner, od_inner_work(&d->as, work), p);
}

// ---- complex arithmetic

static size_t complex_size(const od_plant *plant) {
  const calibrated_plant *d = plant_of(plant);
  return d->as.inner->ops->in_complex->memory(d->as.inner);
}
static od_status complex_begin(const od_plant *plant, void *work, void *memory, int parameter, double by) {
  const calibrated_plant *d = plant_of(plant);
  int inside = parameter < d->as.inner->np ? parameter : -1;  // a calibration parameter changes no state
  return d->as.inner->ops->in_complex->begin(d->as.inner, od_inner_work(&d->as, work), memory, inside, by);
}
static od_status complex_residual(const od_plant *plant, void *work, void *memory, const double *x, const double *k,
                                  double *g) {
  const calibrated_plant *d = plant_of(plant);
  return d->as.inner->ops->in_complex->residual(d->as.inner, od_inner_work(&d->as, work), memory, x, k, g);
}
static const od_complex_ops complex_ops = {
    .memory = complex_size, .begin = complex_begin, .residual = complex_residual};

// ---- Jacobians: columns of calibrations after the columns of the inner plant

static void widen(const calibrated_plant *d, int rows, const double *narrow, double *wide) {
  int few = d->as.inner->np, all = d->as.plant.np;
  for (int i = 0; i < rows; i++) {
    if (few) memcpy(wide + i * all, narrow + i * few, (size_t)few * sizeof *wide);
    memset(wide + i * all + few, 0, (size_t)(all - few) * sizeof *wide);
  }
}

static od_status repartition(const od_plant *plant, void *work, double *x, double *map, double *map_p) {
  const calibrated_plant *d = plant_of(plant);
  double *narrow = map_p && d->as.inner->np ? od_inner_at(work, d->narrow) : NULL;
  od_status status = d->as.inner->ops->repartition(d->as.inner, od_inner_work(&d->as, work), x, map, narrow);
  if (status == OD_OK && map_p) widen(d, od_plant_nx(plant), narrow, map_p);
  return status;
}

static od_status sample(const od_plant *plant, void *work, double t, double *x, double *map, double *by_parameters) {
  const calibrated_plant *d = plant_of(plant);
  double *narrow = by_parameters && d->as.inner->np ? od_inner_at(work, d->narrow) : NULL;
  od_status status = d->as.inner->ops->sample(d->as.inner, od_inner_work(&d->as, work), t, x, map, narrow);
  if (status == OD_OK && by_parameters) widen(d, od_plant_nx(plant), narrow, by_parameters);
  return status;
}

static od_status parameter_jacobian(const od_plant *plant, void *work, double *gp) {
  const calibrated_plant *d = plant_of(plant);
  double *narrow = od_inner_at(work, d->narrow);
  od_status status =
      d->as.inner->np ? d->as.inner->ops->parameter_jacobian(d->as.inner, od_inner_work(&d->as, work), narrow) : OD_OK;
  if (status == OD_OK) widen(d, od_plant_nk(plant), narrow, gp);
  return status;
}

static void calibrate(const calibrated_plant *d, const void *work, double *rows, int columns, int with_bias) {
  const double *value = od_inner_at(work, d->values);
  // Applies the scales first, because the bias is added to the scaled value.
  for (int i = 0; i < d->count; i++)
    for (int c = 0; c < columns && d->item[i].kind == OD_CALIBRATE_SCALE; c++)
      rows[d->item[i].output * columns + c] *= value[i];
  for (int i = 0; with_bias && i < d->count; i++)
    if (d->item[i].kind == OD_CALIBRATE_BIAS) rows[d->item[i].output] += value[i];
}

static od_status outputs(const od_plant *plant, void *work, const double *energy, double *y) {
  const calibrated_plant *d = plant_of(plant);
  od_status status = d->as.inner->ops->outputs(d->as.inner, od_inner_work(&d->as, work), energy, y);
  if (status == OD_OK) calibrate(d, work, y, 1, 1);
  return status;
}

static od_status calibration_columns(const calibrated_plant *d, void *work, const double *energy, double *hp) {
  double *y = od_inner_at(work, d->y);
  od_status status = d->as.inner->ops->outputs(d->as.inner, od_inner_work(&d->as, work), energy, y);
  for (int i = 0; i < d->count && status == OD_OK; i++)
    hp[d->item[i].output * d->as.plant.np + d->as.inner->np + i] = d->item[i].kind == OD_CALIBRATE_BIAS ? 1
                                                                   : d->item[i].kind == OD_CALIBRATE_SCALE
                                                                       ? y[d->item[i].output]
                                                                       : 0;
  return status;
}

// The inner plant computes its own columns. This function scales these columns and adds columns for the calibration parameters.
static od_status output_jacobians(const od_plant *plant, void *work, const double *energy, const unsigned char *wanted,
                                  const double *kx, const double *ku, const double *kp, double *hx, double *hu,
                                  double *hp) {
  const calibrated_plant *d = plant_of(plant);
  const od_plant *in = d->as.inner;
  double *narrow_kp = od_inner_at(work, d->kp), *narrow_hp = od_inner_at(work, d->narrow);
  bool inside = hp && in->np;
  for (int i = 0; inside && kp && i < od_plant_nk(in); i++)
    memcpy(narrow_kp + i * in->np, kp + i * plant->np, (size_t)in->np * sizeof *kp);
  od_status status = in->ops->output_jacobians(in, od_inner_work(&d->as, work), energy, wanted, kx, ku,
                                               inside && kp ? narrow_kp : NULL, hx, hu, inside ? narrow_hp : NULL);
  if (status != OD_OK) return status;
  if (hx) calibrate(d, work, hx, od_plant_nx(plant), 0);
  if (hu) calibrate(d, work, hu, plant->nu, 0);
  if (!hp) return OD_OK;
  widen(d, plant->ny, narrow_hp, hp);
  calibrate(d, work, hp, plant->np, 0);
  return calibration_columns(d, work, energy, hp);
}

// ---- construction of the plant

static void fingerprint(const od_plant *plant, uint64_t *machine, uint64_t *selection) {
  const calibrated_plant *d = plant_of(plant);
  d->as.inner->ops->fingerprint(d->as.inner, machine, selection);
  for (int i = 0; i < d->count; i++) {
    const int item[] = {d->item[i].output, (int)d->item[i].kind};
    *selection = od_hash_bytes(*selection, item, sizeof item);
  }
}

static void destroy(od_plant *plant) {
  const calibrated_plant *d = plant_of(plant);
  od_arena memory = d->own;
  od_plant_free(d->as.inner);
  od_arena_free(&memory);
}

// Returns the operations of the plant: the operations of the inner plant, except operations on outputs or parameters, which are
// replaced.
static od_plant_ops ops_over(const od_plant_ops *inner) {
  od_plant_ops ops = od_inner_plant_ops(inner);
  ops.start = start;
  ops.get_parameters = get_parameters;
  ops.set_parameters = set_parameters;
  ops.parameter_jacobian = parameter_jacobian;
  ops.outputs = outputs;
  ops.output_jacobians = output_jacobians;
  if (inner->repartition) ops.repartition = repartition;
  if (inner->in_complex) ops.in_complex = &complex_ops;
  if (inner->sample) ops.sample = sample;
  if (inner->fingerprint) ops.fingerprint = fingerprint;
  return ops;
}

od_status od_plant_calibrated_in(od_arena *arena, od_plant *inner, const od_calibration *item, int count,
                                 od_plant **out, od_error *err) {
  *out = NULL;
  for (int i = 0; i < count; i++)
    if (item[i].output < 0 || item[i].output >= inner->ny)
      return od_fail(err, OD_BAD_ARGUMENT, "a calibration refers to output %d; expected an index from 0 to %d",
                     item[i].output, inner->ny - 1);
  calibrated_plant *d = OD_TAKE(arena, calibrated_plant, 1);
  od_calibration *own = OD_TAKE(arena, od_calibration, count);
  if (!d || !own) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (count) memcpy(own, item, (size_t)count * sizeof *own);
  *d = (calibrated_plant){
      .as = {.plant = *inner, .inner = inner, .ops = ops_over(inner->ops)}, .item = own, .count = count};
  lay_out(d);
  d->as.plant.np = inner->np + count;
  d->as.plant.model = d;
  d->as.plant.ops = &d->as.ops;
  d->as.plant.destroy = destroy;
  *out = &d->as.plant;
  return OD_OK;
}

od_status od_plant_calibrated(od_plant *inner, const od_calibration *item, int count, od_plant **out, od_error *err) {
  od_arena memory = {0};
  od_status status = od_plant_calibrated_in(&memory, inner, item, count, out, err);
  if (status == OD_OK)
    ((calibrated_plant *)(*out)->model)->own = memory;
  else
    od_arena_free(&memory);
  return status;
}
