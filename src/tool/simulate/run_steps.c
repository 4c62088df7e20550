// Takes the steps of a run by od_sim_advance() or CVODES, and observes the steps: progress, pressures, events.
#include <math.h>

#include "machine/machine.h"
#include "simulate/run_state.h"

// Records an event and the outputs that have different values before and after the event. Fails with OD_NO_MEMORY or a status of
// od_sim_outputs().
static od_status add_event(od_run_state *r) {
  int outputs = r->options->output_count;
  double *event = od_arena_extend(&r->arena, r->event, r->events, sizeof *event);
  unsigned char *jumped = od_arena_extend(&r->arena, r->jumped, r->events, outputs > 0 ? (size_t)outputs : 1);
  if (!event || !jumped) return OD_NO_MEMORY;
  r->event = event;
  r->jumped = jumped;
  od_status status = od_sim_outputs(r->sim, r->y_after);
  for (int i = 0; i < outputs; i++)
    r->jumped[(size_t)r->events * (size_t)outputs + (size_t)i] =
        fabs(r->y_after[i] - r->y_before[i]) > 1e-6 * (fabs(r->y_before[i]) + fabs(r->y_after[i]));
  r->event[r->events++] = od_sim_time(r->sim);
  return status;
}

static void watch_pressures(od_run_state *r, double h) {
  int nz = r->plant->nz;
  od_cavitation_step(r->cavitation, od_sim_time(r->sim), h, od_sim_state(r->sim) + 2 * nz, od_sim_rates(r->sim) + nz);
}

bool od_run_keeps_going(void *user) {
  od_run_state *r = user;
  const od_run_options *o = r->options;
  if (r->stopped || !o->progress || r->pieces++ % 64 != 0) return !r->stopped;
  r->stopped = !o->progress(o->user, fmin(r->begins + r->portion * od_sim_time(r->sim) / r->time, 1));
  return !r->stopped;
}

// Fails if the caller has stopped the run (OD_INTERRUPTED) or the limit on the evaluations is exceeded (OD_NOT_AVAILABLE).
static od_status may_go_on(od_run_state *r, double t) {
  od_error *err = r->error;
  if (!od_run_keeps_going(r)) return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", t);
  if (r->most_residuals > 0 && od_sim_count(r->sim).residuals > r->most_residuals)
    return od_fail(err, OD_NOT_AVAILABLE, "the run needs more than %ld evaluations, the limit of a run for comparison",
                   r->most_residuals);
  return OD_OK;
}

// Called by od_sim_advance(). Fails with a status of may_go_on(), with OD_NO_MEMORY, or if outputs cannot be computed.
static od_status watch_step(void *run, od_moment moment, od_sim *sim, double h) {
  od_run_state *r = run;
  od_status status = OD_OK;
  switch (moment) {
    case OD_MOMENT_BEGIN:
      status = od_run_watch_due(r);
      return status == OD_OK ? may_go_on(r, od_sim_time(sim)) : status;
    case OD_MOMENT_TRY: return OD_OK;
    case OD_MOMENT_STEP:
      watch_pressures(r, h);
      r->watch_is_due = true;
      return OD_OK;
    case OD_MOMENT_PIECE:
      status = od_run_watch_due(r);
      return status == OD_OK && r->compared ? od_sim_outputs(sim, r->y_before) : status;
    case OD_MOMENT_EVENT:
      if (r->compared) status = add_event(r);
      r->watch_is_due = true;
      return status;
  }
  return OD_OK;
}

bool od_run_make_advance(od_run_state *r) {
  const od_run_method *method = &r->method;
  const od_advance_options options = {.step = method->adaptive ? 0 : method->step,
                                      .tolerance = method->tolerance,
                                      .longest = method->longest,
                                      .end = method->adaptive ? r->time : 0,
                                      .most_steps = OD_MOST_STEPS,
                                      .inputs = od_machine_input_source(r->machine),
                                      .watch = watch_step,
                                      .watcher = r};
  void *memory = od_arena_take(&r->arena, od_advance_size(r->sim, &options));
  r->advance = od_advance_init(memory, r->sim, &options);
  return r->advance != NULL;
}

// Describes a failed advance in err. Returns the status.
static od_status explain(const od_run_state *r, od_status status, od_error *err) {
  od_advance_failure f = od_advance_get_failure(r->advance);
  switch (f.problem) {
    case OD_ADVANCE_WATCH:
      if (status == OD_INTERRUPTED || status == OD_NOT_AVAILABLE) return status;  // may_go_on() has filled err
      break;
    case OD_ADVANCE_TOO_MANY:
      return od_fail(
          err, status,
          "at %.6g s steps are %.3g s long for a tolerance of %g, and %.3g steps would be needed; the limit is %.0e. Use a "
          "looser tolerance or fixed steps, or check for an implausible stiffness, mass or volume",
          f.at, f.length, r->method.tolerance, f.needed, OD_MOST_STEPS);
    case OD_ADVANCE_INACCURATE:
      return od_fail(
          err, status,
          "at %.6g s the error of a step exceeds the tolerance %g for all lengths down to %.3g s; use a looser "
          "tolerance or fixed steps",
          f.at, r->method.tolerance, f.length);
    case OD_ADVANCE_STEP:
      if (!r->method.adaptive) break;
      return od_fail(err, status, "the step from %.6g s failed for all lengths down to %.3g s: %s", f.at, f.length,
                     od_status_text(status));
    default: break;
  }
  if (r->method.adaptive) return od_fail(err, status, "at %.6g s: %s", f.at, od_status_text(status));
  return od_fail(err, status, "the step from %.6g s failed: %s; a smaller step may help", f.at, od_status_text(status));
}

od_status od_run_advance(od_run_state *r, double t, od_sim **at, od_error *err) {
  *at = r->sim;
  if (r->cvodes) return od_cvodes_advance(r->cvodes, t, err);
  r->error = err;
  od_status status = od_sim_advance(r->advance, t, at);
  return status == OD_OK ? OD_OK : explain(r, status, err);
}
