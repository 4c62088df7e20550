// Takes the steps of a run: fixed steps, adaptive steps or CVODES. Steps end where inputs jump or have a kink, where a sample is
// due and where a mode switches. Coordinates are checked between steps.
#include <math.h>
#include <string.h>

#include "machine/machine.h"
#include "simulate/run_state.h"

enum {
  KNOT_TRIALS = 12,        // number of shorter steps that are tried until a step passes only one knot
  ADAPTIVE_SWITCHES = 200  // switches located within a longest step; further switches are taken at the ends of steps
};

// Returns the tolerance of times, s: times that differ by less are equal.
static double time_tolerance(const od_run_state *r, double t) {
  return od_machine_time_aside(t, r->method.adaptive ? fmin(r->method.longest, r->method.step) : r->method.step);
}

// Writes the inputs just before t to r->u, and the inputs just after t to r->u_after. Returns whether they differ.
static bool inputs_jump(od_run_state *r, double t) {
  return od_machine_inputs_jump(r->machine, t, r->method.step, r->u, r->u_after);
}

od_status od_run_watch(void *run) {
  od_run_state *r = run;
  if (!r->watched_steps) return OD_OK;
  r->row[0] = od_sim_time(r->sim);
  od_status status = od_sim_outputs(r->sim, r->row + 1);
  return status == OD_OK ? od_table_append(r->watched_steps, r->row) : status;
}

// Records an event and the outputs whose values before and after it differ.
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

// Applies a jump of the inputs at the current time, if there is one, and the samples and switches that are due.
static od_status end_piece(od_run_state *r, bool jump) {
  od_status status = od_run_watch(r);
  bool sampled = false;
  if (status == OD_OK && r->compared && (jump || r->samples)) status = od_sim_outputs(r->sim, r->y_before);
  if (status == OD_OK && jump) status = od_sim_set_inputs(r->sim, r->u_after);
  if (status == OD_OK && r->samples) status = od_sim_sample(r->sim, NULL, NULL, &sampled);
  if (status != OD_OK || (!jump && !sampled)) return status;
  r->goes_on = false;
  if (r->control) od_step_control_restart(r->control);
  if (r->compared) status = add_event(r);
  return status == OD_OK ? od_run_watch(r) : status;
}

// Writes the inputs at the integrator's points within a step to r->u_inside.
static void find_inputs_inside(od_run_state *r, double t, double h) {
  const od_integrator *integrator = r->method.integrator;
  for (int k = 0; k < integrator->inside_count && r->plant->nu; k++)
    od_machine_inputs(r->machine, t + integrator->inside[k] * h, r->u_inside + k * r->plant->nu);
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
static od_status may_go_on(od_run_state *r, double t, od_error *err) {
  if (!od_run_keeps_going(r)) return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", t);
  if (r->most_residuals > 0 && od_sim_count(r->sim).residuals > r->most_residuals)
    return od_fail(err, OD_NOT_AVAILABLE, "the run needs more than %ld evaluations, the limit of a run for comparison",
                   r->most_residuals);
  return OD_OK;
}

// Returns the first time before `end` at which the inputs jump or have a kink or a sample is due; else `end`.
static double end_of_piece(const od_run_state *r, double t, double end) {
  double tolerance = time_tolerance(r, end), at = INFINITY;
  if (r->plant->nu) at = od_machine_next_break(r->machine, t + tolerance);
  if (r->samples && od_sim_next_sample(r->sim) > t + tolerance) at = fmin(at, od_sim_next_sample(r->sim));
  return at < end - tolerance ? at : end;
}

static od_status change_coordinates(od_run_state *r) {
  bool changed;
  od_status status = od_sim_repartition(r->sim, r->control ? r->map : NULL, &changed);
  if (status != OD_OK || !changed) return status;
  r->goes_on = false;
  if (r->control) od_step_control_map(r->control, r->map);
  return OD_OK;
}

static od_status begin_step(od_run_state *r) {
  if (!r->search.before) return OD_OK;
  od_status status = od_sim_begin_events(r->sim, &r->search, r->goes_on);
  r->goes_on = false;
  return status;
}

// Ends a step of length h at its first switch. Called after the step. *taken is the resulting length, s.
static od_status end_step(od_run_state *r, double h, int most, double *taken) {
  *taken = h;
  if (r->plant->margins == 0) {
    r->goes_on = true;
    return OD_OK;
  }
  od_status status = r->located < most ? od_sim_find_switch(r->sim, &r->search, h, taken) : OD_OK;
  r->located += *taken < h;
  r->goes_on = *taken == h;
  return status;
}

// --- Fixed steps ----------------------------------------------------------------------------------------------------

// Takes one step or a part of a step. The step ends before a jump of the inputs, and the next step starts after the jump. *end is
// reduced if a mode switches within the step.
static od_status step_to(od_run_state *r, double t, double *end) {
  double h = *end - t, taken = h;
  bool jump = inputs_jump(r, *end);
  od_status status = begin_step(r);
  find_inputs_inside(r, t, h);
  if (status == OD_OK) status = od_sim_step_within(r->sim, h, r->u_inside, r->u);
  if (status == OD_OK && r->search.before) status = od_sim_end_events(r->sim, &r->search, h);
  if (status == OD_OK) status = end_step(r, h, OD_MOST_SWITCHES, &taken);
  if (status != OD_OK) return status;
  watch_pressures(r, taken);
  if (taken < h) *end = od_sim_time(r->sim);
  return end_piece(r, jump && taken == h);
}

od_status od_run_advance(od_run_state *r, double t, double next, od_error *err) {
  if (r->cvodes) return od_cvodes_advance(r->cvodes, next, err);
  od_status status = change_coordinates(r);
  r->located = 0;
  while (status == OD_OK && t < next) {
    status = may_go_on(r, t, err);
    if (status != OD_OK) return status;
    double end = end_of_piece(r, t, next);
    status = step_to(r, t, &end);
    t = end;
  }
  if (status == OD_OK) return OD_OK;
  return od_fail(err, status, "the step from %.6g s failed: %s; a smaller step may help", t, od_status_text(status));
}

// --- Adaptive steps -------------------------------------------------------------------------------------------------

// Records the rows up to the end of the last step by dense output. A row exactly at that time is recorded after its samples and
// switches.
static od_status record_rows(od_run_state *r, od_error *err) {
  double end = r->now, tolerance = time_tolerance(r, end);
  while (r->next_row <= r->steps) {
    double t = r->next_row == r->steps ? r->time : (double)r->next_row * r->method.step;
    if (!(t < end - tolerance)) break;
    if (r->plant->nu) od_machine_inputs(r->machine, t, r->u_after);
    od_status status = od_sim_interpolate(r->between, r->search.before, r->sim, t, r->u_after);
    if (status != OD_OK) return od_fail(err, status, "at %.6g s: %s", t, od_status_text(status));
    status = od_run_record(r, r->between, t, false, err);
    if (status != OD_OK) return status;
    r->next_row += r->method.every;
  }
  return OD_OK;
}

static od_status record_present_row(od_run_state *r, od_error *err) {
  double end = r->now, tolerance = time_tolerance(r, end);
  bool last = end >= r->time - tolerance;
  double t = last ? r->time : (double)r->next_row * r->method.step;
  if (!last && (r->next_row > r->steps || fabs(t - end) > tolerance)) return OD_OK;
  if (!last) r->next_row += r->method.every;
  return od_run_record(r, r->sim, t, last, err);
}

// Takes a step from t, at most to `end`, that is accurate enough and passes only one knot. *next receives the end of the step,
// s.
static od_status try_steps(od_run_state *r, double t, double end, double *next, od_error *err) {
  bool accepted = false;
  int knots = 0;
  while (!accepted) {
    od_status status = may_go_on(r, t, err);
    if (status != OD_OK) return status;
    *next = od_step_control_next(r->control, t, end);
    if (*next < end && r->plant->nu) od_machine_inputs(r->machine, *next, r->u);
    if (*next >= end) inputs_jump(r, end);
    find_inputs_inside(r, t, *next - t);
    status = od_sim_step_within(r->sim, *next - t, r->u_inside, r->u);
    status = od_step_control_judge(r->control, t, *next, status, &accepted, err);
    if (status != OD_OK) return status;
    if (accepted) status = od_sim_end_events(r->sim, &r->search, *next - t);
    double h = *next - t, shorter = accepted && status == OD_OK ? od_sim_knot_step(r->sim, &r->search, h) : h;
    if (status != OD_OK) return od_fail(err, status, "at %.6g s: %s", *next, od_status_text(status));
    if (shorter < h && t + shorter > t && knots++ < KNOT_TRIALS) {
      accepted = false;
      od_step_control_shorten(r->control, shorter);
    }
    if (!accepted) memcpy(r->sim, r->search.before, od_sim_bytes(r->sim));
  }
  od_step_control_accept(r->control);
  return OD_OK;
}

// Takes one step, records its rows, and takes the samples and switches at its end. jump: whether the inputs jump at `end`.
static od_status adaptive_step(od_run_state *r, double end, bool jump, od_error *err) {
  double t = r->now;
  od_status status = change_coordinates(r);
  if (t > r->counted + r->method.longest) r->located = 0, r->counted = t;
  if (status == OD_OK) status = begin_step(r);
  if (status != OD_OK) return od_fail(err, status, "at %.6g s: %s", t, od_status_text(status));
  double next, taken;
  status = try_steps(r, t, end, &next, err);
  if (status != OD_OK) return status;
  status = end_step(r, next - t, ADAPTIVE_SWITCHES, &taken);
  if (status != OD_OK) return od_fail(err, status, "at %.6g s: %s", t, od_status_text(status));
  watch_pressures(r, taken);
  bool switches = taken < next - t, ends = !switches && next >= end;
  r->now = switches ? t + taken : next;
  status = record_rows(r, err);
  if (status != OD_OK) return status;
  if (ends && jump) inputs_jump(r, end);  // record_rows has overwritten the inputs
  status = switches || ends ? end_piece(r, ends && jump) : od_run_watch(r);
  if (status != OD_OK) return od_fail(err, status, "at %.6g s: %s", next, od_status_text(status));
  return record_present_row(r, err);
}

od_status od_run_advance_adaptively(od_run_state *r, od_error *err) {
  od_status status = OD_OK;
  r->next_row = r->method.every;
  while (status == OD_OK && r->now < r->time) {
    double end = end_of_piece(r, r->now, r->time);
    bool jump = inputs_jump(r, end);
    while (status == OD_OK && r->now < end) status = adaptive_step(r, end, jump, err);
  }
  return status;
}
