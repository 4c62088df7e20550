// The interior trust-region reflective method (Coleman and Li 1994, 1996; Branch, Coleman and Li 1999).
//
// Steps are scaled by the distance v to the bound in the direction of descent: D = diag(sqrt(v size)). Steps therefore turn away
// from bounds before a bound is reached. E^2 = |g| size is the curvature of this scaling. A trust-region step that leaves the box
// is replaced by the best of three steps: the step up to the first bound, its reflection at this bound, and a step along the scaled
// gradient. The best step has the least model cost. All points stay strictly between the bounds.
//
// The truncated variant has neither scaling nor reflection: a step ends at the first bound, and the search can stall at
// this bound.
#include <math.h>
#include <string.h>

#include "least_squares/search.h"

static void begin(od_search *s) {
  double sum = 0;
  for (int i = 0; i < s->k; i++) sum += s->now.u[i] / s->size[i] * (s->now.u[i] / s->size[i]);
  s->reach = s->options.radius * (sum > 0 ? sqrt(sum) : 1);
}

static void prepare(od_search *s) {
  for (int i = 0; i < s->k; i++) {
    double g = s->model.g[i], v = g < 0 ? s->high[i] - s->now.u[i] : g > 0 ? s->now.u[i] - s->low[i] : INFINITY;
    bool bounded = isfinite(v);
    s->D[i] = bounded ? sqrt(v * s->size[i]) : s->size[i];
    s->E[i] = bounded ? sqrt(fabs(g) * s->size[i]) : 0;
  }
  od_spectrum_of(s, s->E);
}

// Returns the quadratic term that the scaling by the bounds adds to the model cost for the step p.
static double bound_curvature(const od_search *s, const double *p) {
  double sum = 0;
  for (int i = 0; i < s->k; i++) sum += s->E[i] * p[i] / s->D[i] * (s->E[i] * p[i] / s->D[i]);
  return 0.5 * sum;
}
static double change(const od_search *s, const double *p) {
  return od_model_change(s, p) + bound_curvature(s, p);
}
static double scaled_length(const od_search *s, const double *p) {
  double sum = 0;
  for (int i = 0; i < s->k; i++) sum += p[i] / s->D[i] * (p[i] / s->D[i]);
  return sqrt(sum);
}

// Returns the largest t for which u + `from` + t d is within the bounds (`from` NULL: zero). hit[i] (may be NULL): whether
// parameter i reaches its bound at t.
static double room(const od_search *s, const double *from, const double *d, bool *hit) {
  double t = INFINITY;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < s->k; i++) {
      double at = s->now.u[i] + (from ? from[i] : 0), bound = d[i] > 0 ? s->high[i] : s->low[i];
      double here = d[i] != 0 ? fmax((bound - at) / d[i], 0) : INFINITY;
      if (pass == 0)
        t = fmin(t, here);
      else if (hit)
        hit[i] = here <= t;
    }
  return t;
}

// Returns the t in [0, most] that minimizes the model's cost at from + t d.
static double best_along(const od_search *s, const double *from, const double *d, double most) {
  int k = s->k;
  double slope = 0, curve = 0;
  for (int i = 0; i < k; i++) {
    double row_d = 0, row_from = 0, e = s->E[i] / s->D[i];
    for (int j = i; j < k; j++) {
      row_d += s->model.R[i * k + j] * d[j];
      row_from += from ? s->model.R[i * k + j] * from[j] : 0;
    }
    slope += s->model.g[i] * d[i] + row_from * row_d + (from ? e * e * from[i] * d[i] : 0);
    curve += row_d * row_d + e * e * d[i] * d[i];
  }
  double t = slope >= 0 ? 0 : curve > 0 ? -slope / curve : most;
  return fmin(t, most);
}

// Returns the t at which from + t d leaves the trust region: |D^-1 (from + t d)| = radius.
static double room_in_region(const od_search *s, const double *from, const double *d) {
  double a = 0, b = 0, c = -s->reach * s->reach;
  for (int i = 0; i < s->k; i++) {
    double f = from ? from[i] / s->D[i] : 0, e = d[i] / s->D[i];
    a += e * e, b += f * e, c += f * f;
  }
  if (!(a > 0) || c >= 0) return 0;
  double root = sqrt(b * b - a * c);
  return b > 0 ? -c / (b + root) : (root - b) / a;
}

static void keep_better(const od_search *s, const double *candidate, double *best, double *best_change) {
  double c = change(s, candidate);
  if (c < *best_change) *best_change = c, memcpy(best, candidate, (size_t)s->k * sizeof *best);
}

// Replaces a trust-region step p that leaves the box. The replacement is the step with the least model cost among three steps: a step
// to the bound, a step reflected at the bound, and a step along the scaled gradient.
static void bend_step(od_search *s, double theta) {
  int k = s->k;
  double *p = s->step, *reflected = s->scratch, *d = reflected + k, *best = d + k, best_change = INFINITY;
  double t = room(s, NULL, p, s->held);
  for (int i = 0; i < k; i++) d[i] = s->held[i] ? -p[i] : p[i], p[i] *= t;
  double most = fmin(theta * room(s, p, d, NULL), room_in_region(s, p, d));
  double along = best_along(s, p, d, most);
  // A reflection of zero length would stay on the bound.
  if (along > 0 && most > 0) {
    for (int i = 0; i < k; i++) reflected[i] = p[i] + fmax(along, (1 - theta) * most) * d[i];
    keep_better(s, reflected, best, &best_change);
  }
  for (int i = 0; i < k; i++) reflected[i] = theta * p[i];
  keep_better(s, reflected, best, &best_change);
  for (int i = 0; i < k; i++) d[i] = -s->D[i] * s->D[i] * s->model.g[i];
  most = fmin(theta * room(s, NULL, d, NULL), room_in_region(s, NULL, d));
  along = best_along(s, NULL, d, most);
  for (int i = 0; i < k; i++) reflected[i] = along * d[i];
  keep_better(s, reflected, best, &best_change);
  memcpy(p, best, (size_t)k * sizeof *p);
  memset(s->held, 0, (size_t)k * sizeof *s->held);
}

static void go_strictly_inside(od_search *s) {
  for (int i = 0; i < s->k; i++) {
    double u = s->now.u[i] + s->step[i];
    if (u <= s->low[i]) u = nextafter(s->low[i], s->high[i]);
    if (u >= s->high[i]) u = nextafter(s->high[i], s->low[i]);
    s->trial.u[i] = u;
  }
}

static od_proposal propose(od_search *s) {
  od_region_step(s, s->reach, s->step);
  for (int i = 0; i < s->k; i++) s->step[i] *= s->D[i];
  // Near the minimum, steps go closer to the bounds, because the order of convergence depends on this distance.
  if (room(s, NULL, s->step, NULL) <= 1) bend_step(s, fmax(0.995, 1 - od_offset(s)));
  go_strictly_inside(s);
  return (od_proposal){-change(s, s->step), bound_curvature(s, s->step), scaled_length(s, s->step)};
}

static void adapt(od_search *s, const od_proposal *p, double ratio) {
  if (ratio < 0.25)
    s->reach = 0.25 * fmin(p->length, s->reach);
  else if (ratio > 0.75 && p->length > 0.95 * s->reach)
    s->reach *= 2;
}

const od_method od_method_reflective = {begin, prepare, propose, adapt};

// ---- Truncated variant

static void prepare_truncated(od_search *s) {
  memcpy(s->D, s->size, (size_t)s->k * sizeof *s->D);
  memset(s->E, 0, (size_t)s->k * sizeof *s->E);
  od_spectrum_of(s, NULL);
}

static od_proposal propose_truncated(od_search *s) {
  od_region_step(s, s->reach, s->step);
  for (int i = 0; i < s->k; i++) s->step[i] *= s->D[i];
  double t = fmin(room(s, NULL, s->step, NULL), 1);
  for (int i = 0; i < s->k; i++) {
    s->step[i] *= t;
    s->trial.u[i] = fmin(fmax(s->now.u[i] + s->step[i], s->low[i]), s->high[i]);
  }
  return (od_proposal){-change(s, s->step), 0, scaled_length(s, s->step)};
}

const od_method od_method_truncate = {begin, prepare_truncated, propose_truncated, adapt};
