#include "plant/equilibrium.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "math/dense.h"

typedef struct search {
  const od_plant *plant;
  void *work;
  double t;
  const double *u;
  const int *state, *row;
  int count;
  double *k, *g, *gx, *matrix, *first, *right, *trial;
  int *pivot;
} search;

static od_status evaluate(const search *s, const double *x) {
  return s->plant->ops->residual(s->plant, s->work, s->t, x, s->k, s->u, s->g);
}

// Newton's method for g(x) = (1 - part) g(x0), from x on. Bounded; false leaves x where it was.
static bool correct(const search *s, double part, double *x) {
  int nx = od_plant_nx(s->plant);
  memcpy(s->trial, x, (size_t)nx * sizeof *x);
  double last = INFINITY;
  for (int round = 0; round < 20; round++) {
    if (evaluate(s, s->trial) != OD_OK) return false;
    if (s->plant->ops->jacobians(s->plant, s->work, s->gx, NULL, NULL) != OD_OK) return false;
    double *right = s->right;
    for (int i = 0; i < s->count; i++) {
      for (int j = 0; j < s->count; j++) s->matrix[i * s->count + j] = s->gx[s->row[i] * nx + s->state[j]];
      right[i] = s->g[s->row[i]] - (1 - part) * s->first[i];
    }
    if (od_lu_factor(s->count, s->matrix, s->pivot) != OD_OK) return false;
    od_lu_solve(s->count, s->matrix, s->pivot, right, 1);
    double size = 0;
    for (int i = 0; i < s->count; i++) {
      double *value = &s->trial[s->state[i]];
      size = fmax(size, fabs(right[i]) / (1 + fabs(*value)));
      *value -= right[i];
    }
    if (!isfinite(size) || (round > 3 && size > 2 * last)) return false;
    if (size < 1e-13 || (size < 1e-10 && size >= last / 2)) {
      memcpy(x, s->trial, (size_t)nx * sizeof *x);
      return true;
    }
    last = size;
  }
  return false;
}

static od_status follow(const search *s, double *x) {
  if (evaluate(s, x) != OD_OK) return OD_NOT_CONVERGED;
  for (int i = 0; i < s->count; i++) s->first[i] = s->g[s->row[i]];
  // All the way at once if that works; else in steps that halve when they fail and double when they succeed.
  double part = 0, step = 1;
  for (int tries = 0; part < 1 && tries < 200; tries++) {
    double next = fmin(part + step, 1);
    if (correct(s, next, x))
      part = next, step *= 2;
    else
      step /= 2;
    if (step < 1e-6) break;
  }
  return part >= 1 ? OD_OK : OD_NOT_CONVERGED;
}

od_status od_equilibrium(const od_plant *plant, void *work, double t, const double *u, double *x,
                         const int *free_states, const int *rows, int count) {
  size_t nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant), n = (size_t)count;
  if (count <= 0) return OD_BAD_ARGUMENT;
  double *memory = calloc(2 * nk + nk * nx + n * n + 2 * n + nx, sizeof *memory);
  int *pivot = calloc(n, sizeof *pivot);
  search s = {plant, work, t, u, free_states, rows, count, .k = memory, .pivot = pivot};
  od_status status = OD_NO_MEMORY;
  if (memory && pivot) {
    s.g = s.k + nk;
    s.gx = s.g + nk;
    s.matrix = s.gx + nk * nx;
    s.first = s.matrix + n * n;
    s.right = s.first + n;
    s.trial = s.right + n;
    status = follow(&s, x);
  }
  free(memory);
  free(pivot);
  return status;
}
