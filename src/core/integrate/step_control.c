#include "integrate/step_control.h"

#include <math.h>
#include <string.h>

enum { PACE_INTERVAL = 100000 };   // number of tried steps between two checks of the step length
static const double safety = 0.9;  // length of the next step, relative to the length that would just meet the tolerance
static const double least = 0.1;   // smallest factor from the length of a step to the next length
static const double most = 5;      // largest factor from the length of a step to the next length
static const double after_failure = 0.25;   // factor of the length after a step that failed
static const double after_jump = 0.1;       // factor of the length after a jump
static const double shortest_part = 1e-15;  // shortest step, relative to od_step_control.time
// Steps up to this length, relative to od_step_control.time, are accepted with any finite error.
static const double smallest_part = 1e-9;

void od_step_control_init(od_step_control *c, od_sim *sim, const od_plant *plant, const od_advance_options *options,
                          double *memory) {
  int nx = od_plant_nx(plant);
  double now = od_sim_time(sim), longest = options->longest;
  *c = (od_step_control){.sim = sim,
                         .plant = plant,
                         .nx = nx,
                         .order = od_sim_integrator(sim)->estimate_order,
                         .tolerance = options->tolerance,
                         .longest = longest,
                         .time = isfinite(options->end) && options->end > now ? options->end : 1000 * longest,
                         .most_steps = isfinite(options->end) ? options->most_steps : 0,
                         .h = longest / 1000,
                         .tries_from = now,
                         .low = memory,
                         .high = memory + nx,
                         .before = memory + 2 * nx,
                         .after = memory + 3 * nx};
  memcpy(c->low, od_sim_state(sim), (size_t)nx * sizeof *c->low);
  memcpy(c->high, od_sim_state(sim), (size_t)nx * sizeof *c->high);
}

double od_step_control_next(const od_step_control *c, double t, double end) {
  double h = fmin(c->h, c->longest), parts = ceil((end - t) / h * (1 - 1e-9));
  if (!isfinite(end)) return t + h;
  return parts > 1 ? t + (end - t) / parts : end;
}

// Returns the largest ratio of the error of a state to its limit; at most 1: the step is accurate enough.
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
    if (!(part <= worst)) worst = part;  // this condition is also true for NaN
  }
  return worst;
}

// Returns OD_NOT_CONVERGED if the run needs more than the allowed number of steps of the current length to reach its
// end.
static od_status check_pace(od_step_control *c, double t, od_advance_failure *failure) {
  if (++c->tries < PACE_INTERVAL) return OD_OK;
  double step = (t - c->tries_from) / PACE_INTERVAL, needed = (c->time - t) / step;
  c->tries = 0;
  c->tries_from = t;
  if (c->most_steps == 0 || needed <= c->most_steps || !(t < c->time)) return OD_OK;
  *failure = (od_advance_failure){OD_ADVANCE_TOO_MANY, t, step, needed};
  return OD_NOT_CONVERGED;
}

od_status od_step_control_judge(od_step_control *c, double t, double end, od_status status, bool *accepted,
                                od_advance_failure *failure) {
  double h = end - t, error = status == OD_OK ? error_size(c) : INFINITY;
  *accepted = error <= 1 || (status == OD_OK && isfinite(error) && h <= smallest_part * c->time);
  if (*accepted) {
    double by = fmin(safety * pow(fmax(error, 1e-10), -1.0 / c->order), c->was_rejected ? 1 : most);
    // A step that ended early at `end` does not limit the length of the next step.
    c->proposed = fmin(by < 1 ? h * fmax(by, least) : fmax(c->h, h * by), c->longest);
  } else {
    double by = isfinite(error) ? fmax(safety * pow(error, -1.0 / c->order), least) : after_failure;
    c->h = h * fmin(by, 0.9);
    c->was_rejected = true;
    if (!(c->h > shortest_part * c->time) || !(t + c->h > t)) {
      *failure = (od_advance_failure){status != OD_OK ? OD_ADVANCE_STEP : OD_ADVANCE_INACCURATE, t, c->h, 0};
      return status != OD_OK ? status : OD_NOT_CONVERGED;
    }
  }
  return check_pace(c, t, failure);
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
