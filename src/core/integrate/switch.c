// Where in a step something switches. A step that has led past a switch is taken again from a copy of what was before it, with
// other lengths, until the switch lies between two that hardly differ.
#include <math.h>
#include <string.h>

#include "integrate/sim_block.h"

enum { TRIALS = 50 };                     // every second one halves the interval, if not more
static const double close_enough = 1e-7;  // of the step

od_status od_sim_margin(od_sim *s, double *margin, double *by_state) {
  *margin = INFINITY;
  if (!s->started) return OD_BAD_ARGUMENT;
  if (!s->plant->ops->margin) return OD_OK;
  od_status status = od_sim_refresh(s);
  return status == OD_OK ? s->plant->ops->margin(s->plant, od_sim_work(s), margin, by_state) : status;
}

// A step of length h from where the copy stands.
static od_status try_step(od_sim *s, const od_switch_search *q, double step, double h) {
  int nu = s->plant->nu;
  memcpy(s, q->before, s->size);
  double t = s->t;
  double *inside = od_sim_at(s, s->inside);
  for (int k = 0; k < s->integrator->inside_count && nu; k++)
    q->inputs(q->user, t + s->integrator->inside[k] * h, inside + k * nu);
  if (h < step && nu) q->inputs(q->user, t + h, q->u);
  return od_sim_step_within(s, h, inside, h < step ? q->u : q->u_end);
}

// The search itself; where it fails, the simulation may stand at the end of any trial.
static od_status find_switch(od_sim *s, const od_switch_search *q, double h, double *taken, double *rate) {
  double low = 0, high = h, at = h, margin_high, margin_low;
  *taken = h;
  *rate = 0;
  od_status status = od_sim_margin(s, &margin_high, NULL);
  if (status != OD_OK || margin_high > 0) return status;
  memcpy(s, q->before, s->size);
  status = od_sim_margin(s, &margin_low, NULL);
  // What was due before the step, and still is, is no event within it.
  if (status == OD_OK && !(margin_low > 0)) return try_step(s, q, h, h);
  bool halve = false;
  for (int i = 0; i < TRIALS && status == OD_OK && high - low > close_enough * h; i++) {
    // A secant, a little beyond the zero; the middle after one that did not halve the interval. The margin is that of what is nearest, which may be
    // something else, in another unit, until close to the switch, so that secants may stay poor.
    double part = margin_low / (margin_low - margin_high), width = high - low;
    part = halve ? 0.5 : fmin(fmax(part * (1 + 1e-3), 1e-3), 1 - 1e-3);
    at = low + part * (high - low);
    double margin;
    status = try_step(s, q, h, at);
    if (status == OD_OK) status = od_sim_margin(s, &margin, NULL);
    if (status != OD_OK) return status;
    *(margin > 0 ? &low : &high) = at;
    *(margin > 0 ? &margin_low : &margin_high) = margin;
    halve = high - low > 0.5 * width;
  }
  if (status == OD_OK && at != high) status = try_step(s, q, h, high);
  *taken = high;
  *rate = (margin_high - margin_low) / (high - low);
  return status;
}

od_status od_sim_find_switch(od_sim *s, const od_switch_search *q, double h, double *taken, double *rate) {
  od_status status = find_switch(s, q, h, taken, rate);
  if (status != OD_OK) memcpy(s, q->before, s->size), *taken = 0, *rate = 0;
  return status;
}
