// Methods that project their steps onto the bounds: Levenberg-Marquardt and Gauss-Newton.
//
// Parameters at a bound are held while the step is computed if the descent direction points outside. Components of the
// step that leave the box are projected onto the box. The model predicts the decrease of the projected step.
#include <float.h>
#include <math.h>
#include <string.h>

#include "least_squares/search.h"

static bool pushed_out(const od_search *s, int i, double direction) {
  double u = s->now.u[i];
  return (u <= s->low[i] && direction < 0) || (u >= s->high[i] && direction > 0);
}

static void hold_at_bounds(od_search *s) {
  memcpy(s->D, s->size, (size_t)s->k * sizeof *s->D);
  for (int i = 0; i < s->k; i++) s->held[i] = pushed_out(s, i, -s->model.g[i]);
  od_spectrum_of(s, NULL);
}

// Projects a scaled step onto the box and proposes the result.
static od_proposal project(od_search *s, double part) {
  double length = 0;
  for (int i = 0; i < s->k; i++) {
    double u = fmin(fmax(s->now.u[i] + part * s->D[i] * s->step[i], s->low[i]), s->high[i]);
    s->trial.u[i] = u;
    s->step[i] = u - s->now.u[i];
    length += s->step[i] / s->D[i] * (s->step[i] / s->D[i]);
  }
  return (od_proposal){.decrease = -od_model_change(s, s->step), .length = sqrt(length)};
}

// ---- Levenberg-Marquardt; the damping is 1 / reach, adapted according to Nielsen (1999)

static void begin_damped(od_search *s) {
  s->reach = 1e3 * s->options.radius;
  s->growth = 2;
}

static od_proposal propose_damped(od_search *s) {
  od_damped_step(s, 1 / s->reach, s->step);
  return project(s, 1);
}

static void adapt_damped(od_search *s, const od_proposal *p, double ratio) {
  (void)p;
  if (ratio > 0) {
    double t = 2 * fmin(ratio, 1) - 1;
    s->reach = fmin(s->reach / fmax(1.0 / 3, 1 - t * t * t), 1 / DBL_MIN);
    s->growth = 2;
  } else {
    s->reach /= s->growth;
    s->growth *= 2;
  }
}

const od_method od_method_damped = {begin_damped, hold_at_bounds, propose_damped, adapt_damped};

// ---- Gauss-Newton with halved steps; reach is the fraction of the full step

static void begin_full(od_search *s) {
  s->reach = 1;
}

// Prepares a full step. This step may push parameters against bounds although the gradient does not. These parameters are
// also held, and the step is computed again.
static void prepare_full(od_search *s) {
  s->reach = 1;
  hold_at_bounds(s);
  for (int again = 1, round = 0; again && round < s->k; round++) {
    again = 0;
    od_region_step(s, INFINITY, s->step);
    for (int i = 0; i < s->k; i++)
      if (!s->held[i] && pushed_out(s, i, s->step[i])) s->held[i] = true, again = 1;
    if (again) od_spectrum_of(s, NULL);
  }
}

static od_proposal propose_full(od_search *s) {
  od_region_step(s, INFINITY, s->step);
  return project(s, s->reach);
}

static void adapt_full(od_search *s, const od_proposal *p, double ratio) {
  (void)p;
  if (!(ratio > 0)) s->reach /= 2;
}

const od_method od_method_gauss_newton = {begin_full, prepare_full, propose_full, adapt_full};
