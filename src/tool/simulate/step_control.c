#include "simulate/step_control.h"

#include <math.h>
#include <string.h>

#include "oleodyn/machine.h"

enum { PACE_INTERVAL = 100000 };   // number of tries between two checks of the pace
static const double safety = 0.9;  // factor of the length that would just meet the tolerance
static const double least = 0.1;   // smallest factor of the length after a rejected step
static const double most = 5;      // largest factor of the length
static const double after_failure = 0.25;
static const double after_jump = 0.1;
static const double shortest_part = 1e-15;  // shortest step, relative to the time of the run
static const double smallest_part = 1e-9;  // relative to the time of the run: shorter steps are accepted with any error

struct od_step_control {
  od_sim *sim;
  const od_plant *plant;
  int nx, order;
  double tolerance, time, longest_allowed;
  double h;            // length of the next try, s
  double proposed;     // length of the next step if the current step is accepted, s
  bool was_rejected;   // whether the last try was rejected
  long tries;          // tries since the last check of the pace
  double tries_from;   // time of that check, s
  double *low, *high;  // range of each state so far
  double *before, *after;
};

od_step_control *od_step_control_new(od_sim *sim, const od_plant *plant, double tolerance, double longest, double time,
                                     od_arena *arena) {
  int nx = od_plant_nx(plant);
  od_step_control *c = OD_TAKE(arena, od_step_control, 1);
  if (!c) return NULL;
  *c = (od_step_control){.sim = sim,
                         .plant = plant,
                         .nx = nx,
                         .order = od_sim_integrator(sim)->estimate_order,
                         .tolerance = tolerance,
                         .time = time,
                         .longest_allowed = longest,
                         .h = longest / 1000,
                         .tries_from = od_sim_time(sim),
                         .low = OD_TAKE(arena, double, nx),
                         .high = OD_TAKE(arena, double, nx),
                         .before = OD_TAKE(arena, double, nx),
                         .after = OD_TAKE(arena, double, nx)};
  if (od_arena_status(arena) != OD_OK) return NULL;
  memcpy(c->low, od_sim_state(sim), (size_t)nx * sizeof *c->low);
  memcpy(c->high, od_sim_state(sim), (size_t)nx * sizeof *c->high);
  return c;
}

double od_step_control_next(od_step_control *c, double t, double end) {
  double h = fmin(c->h, c->longest_allowed), parts = ceil((end - t) / h * (1 - 1e-9));
  return parts > 1 ? t + (end - t) / parts : end;
}

// Returns the largest error of a state relative to its limit.
static double error_size(od_step_control *c) {
  const double *x = od_sim_state(c->sim), *scale = c->plant->scale;
  int nz = c->plant->nz;
  double worst = 0;
  od_sim_local_error(c->sim, c->before, c->after);
  for (int i = 0; i < c->nx; i++) {
    double low = fmin(c->low[i], x[i]), high = fmax(c->high[i], x[i]);
    double usual = scale ? scale[i < nz ? i : i - nz] : 1;
    double size = fmax(fmax(high - low, 1e-3 * fmax(fabs(low), fabs(high))), 1e-3 * usual);
    double part = fabs(c->before[i] + c->after[i]) / (c->tolerance * size);
    if (!(part <= worst)) worst = part;  // also true if part is NaN
  }
  return worst;
}

// Fails if steps of the current length do not reach the end within OD_MOST_STEPS.
static od_status check_pace(od_step_control *c, double t, od_error *err) {
  if (++c->tries < PACE_INTERVAL) return OD_OK;
  double step = (t - c->tries_from) / PACE_INTERVAL, needed = (c->time - t) / step;
  c->tries = 0;
  c->tries_from = t;
  if (needed <= OD_MOST_STEPS || !(t < c->time)) return OD_OK;
  return od_fail(
      err, OD_NOT_CONVERGED,
      "at %.6g s steps are %.3g s long for a tolerance of %g, and %.3g steps would be needed; the limit is %.0e. Use a "
      "looser tolerance or fixed steps, or check for an implausible stiffness, mass or volume",
      t, step, c->tolerance, needed, OD_MOST_STEPS);
}

static od_status too_short(const od_step_control *c, double t, od_status status, od_error *err) {
  if (status != OD_OK)
    return od_fail(err, status, "the step from %.6g s failed for all lengths down to %.3g s: %s", t, c->h,
                   od_status_text(status));
  return od_fail(err, OD_NOT_CONVERGED,
                 "at %.6g s the error of a step exceeds the tolerance %g for all lengths down to %.3g s; use a looser "
                 "tolerance or fixed steps",
                 t, c->tolerance, c->h);
}

od_status od_step_control_judge(od_step_control *c, double t, double end, od_status status, bool *accepted,
                                od_error *err) {
  double h = end - t, error = status == OD_OK ? error_size(c) : INFINITY;
  *accepted = error <= 1 || (status == OD_OK && isfinite(error) && h <= smallest_part * c->time);
  if (*accepted) {
    double by = fmin(safety * pow(fmax(error, 1e-10), -1.0 / c->order), c->was_rejected ? 1 : most);
    // A step that was cut short does not limit the length of the next step.
    c->proposed = fmin(by < 1 ? h * fmax(by, least) : fmax(c->h, h * by), c->longest_allowed);
  } else {
    double by = isfinite(error) ? fmax(safety * pow(error, -1.0 / c->order), least) : after_failure;
    c->h = h * fmin(by, 0.9);
    c->was_rejected = true;
    if (!(c->h > shortest_part * c->time) || !(t + c->h > t)) return too_short(c, t, status, err);
  }
  return check_pace(c, t, err);
}

void od_step_control_shorten(od_step_control *c, double h) {
  c->h = h;
}

void od_step_control_accept(od_step_control *c) {
  c->h = c->proposed;
  c->was_rejected = false;
  const double *x = od_sim_state(c->sim);
  for (int i = 0; i < c->nx; i++) {
    c->low[i] = fmin(c->low[i], x[i]);
    c->high[i] = fmax(c->high[i], x[i]);
  }
}

void od_step_control_restart(od_step_control *c) {
  c->h *= after_jump;
  c->h = fmax(c->h, 10 * shortest_part * c->time);
}

void od_step_control_map(od_step_control *c, const double *map) {
  const double *x = od_sim_state(c->sim);
  double *range = c->before;
  for (int i = 0; i < c->nx; i++) range[i] = c->high[i] - c->low[i];
  for (int i = 0; i < c->nx; i++) {
    double mapped = 0;
    for (int j = 0; j < c->nx; j++) mapped += fabs(map[i * c->nx + j]) * range[j];
    c->low[i] = x[i] - mapped / 2;
    c->high[i] = x[i] + mapped / 2;
  }
}
