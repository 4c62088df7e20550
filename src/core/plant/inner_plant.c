#include "plant/inner_plant.h"

#include <stdbool.h>
#include <string.h>

static const od_inner_plant *plant_of(const od_plant *plant) {
  return plant->model;
}

static od_status residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                          const double *u, double *g) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->residual(d->inner, od_inner_work(d, work), t, x, k, u, g);
}
static od_status place(const od_plant *plant, void *work, double t, const double *x, const double *u) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->place(d->inner, od_inner_work(d, work), t, x, u);
}
static od_status step_matrix(const od_plant *plant, void *work, double alpha, double beta, double *matrix) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->step_matrix(d->inner, od_inner_work(d, work), alpha, beta, matrix);
}
static od_status step_factors(const od_plant *plant, void *work, double alpha, double beta) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->step_factors(d->inner, od_inner_work(d, work), alpha, beta);
}
static void step_solve(const od_plant *plant, void *work, double *right, int columns) {
  const od_inner_plant *d = plant_of(plant);
  d->inner->ops->step_solve(d->inner, od_inner_work(d, work), right, columns);
}
static od_status jacobians(const od_plant *plant, void *work, double *gx, double *gk, double *gu) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->jacobians(d->inner, od_inner_work(d, work), gx, gk, gu);
}
static od_status outputs(const od_plant *plant, void *work, const double *energy, double *y) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->outputs(d->inner, od_inner_work(d, work), energy, y);
}
static od_status powers(const od_plant *plant, void *work, double *power) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->powers(d->inner, od_inner_work(d, work), power);
}
static bool wants_repartition(const od_plant *plant, void *work) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->wants_repartition(d->inner, od_inner_work(d, work));
}
static void settle(const od_plant *plant, void *work, bool back) {
  const od_inner_plant *d = plant_of(plant);
  d->inner->ops->settle(d->inner, od_inner_work(d, work), back);
}
static od_status force_stiffness(const od_plant *plant, void *work, double *K) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->force_stiffness(d->inner, od_inner_work(d, work), K);
}
static double next_sample(const od_plant *plant, const void *work) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->next_sample(d->inner, od_inner_work(d, work));
}
static od_status guards(const od_plant *plant, void *work, double *guard) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->guards(d->inner, od_inner_work(d, work), guard);
}
static void hold(const od_plant *plant, void *work, const double *held) {
  const od_inner_plant *d = plant_of(plant);
  d->inner->ops->hold(d->inner, od_inner_work(d, work), held);
}
static od_status held_jacobian(const od_plant *plant, void *work, double *gv) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->held_jacobian(d->inner, od_inner_work(d, work), gv);
}
static od_status guard_slopes(const od_plant *plant, void *work, od_point_change along, double *slope) {
  const od_inner_plant *d = plant_of(plant);
  return d->inner->ops->guard_slopes(d->inner, od_inner_work(d, work), along, slope);
}
static void edges(const od_plant *plant, const double *x, unsigned char *at_edge) {
  const od_inner_plant *d = plant_of(plant);
  d->inner->ops->edges(d->inner, x, at_edge);
}

// Restores the work memory of a containing plant. Apart from the work memory of the inner plant, this memory contains
// only doubles.
static bool restore(const od_plant *plant, const void *saved, void *work) {
  const od_inner_plant *d = plant_of(plant);
  const void *saved_inner = (const char *)saved + d->work;
  if (d->inner->ops->restore && !d->inner->ops->restore(d->inner, saved_inner, NULL)) return false;
  if (!work) return true;
  memcpy(work, saved, plant->work_size);
  return !d->inner->ops->restore || d->inner->ops->restore(d->inner, saved_inner, od_inner_work(d, work));
}

// Every plant that contains another plant forwards the residual. Thus the function residual() identifies such a plant.
const od_plant *od_innermost_plant(const od_plant *plant, void **work) {
  while (plant->ops->residual == residual) {
    const od_inner_plant *d = plant_of(plant);
    *work = od_inner_work(d, *work);
    plant = d->inner;
  }
  return plant;
}

od_plant_ops od_inner_plant_ops(const od_plant_ops *inner) {
  return (od_plant_ops){.residual = residual,
                        .step_matrix = step_matrix,
                        .step_factors = inner->step_factors ? step_factors : NULL,
                        .step_solve = inner->step_solve ? step_solve : NULL,
                        .jacobians = jacobians,
                        .outputs = outputs,
                        .powers = inner->powers ? powers : NULL,
                        .wants_repartition = inner->wants_repartition ? wants_repartition : NULL,
                        .settle = inner->settle ? settle : NULL,
                        .force_stiffness = inner->force_stiffness ? force_stiffness : NULL,
                        .next_sample = inner->next_sample ? next_sample : NULL,
                        .guards = inner->guards ? guards : NULL,
                        .hold = inner->hold ? hold : NULL,
                        .held_jacobian = inner->held_jacobian ? held_jacobian : NULL,
                        .guard_slopes = inner->guard_slopes ? guard_slopes : NULL,
                        .edges = inner->edges ? edges : NULL,
                        .place = inner->place ? place : NULL,
                        .restore = restore};
}
