// The steps of a run: of fixed length, as long as their error allows, or CVODES's own. Coordinates are checked between steps.
#include <math.h>
#include <string.h>

#include "machine/machine.h"
#include "simulate/run_state.h"

enum { WATCH_INPUTS = 7 };  // steps from one look at the inputs to the next

// What is nearer than this to a time on the grid is at that time.
static double time_aside(const od_run_state *r, double t) {
  return od_machine_time_aside(t, r->step);
}

static bool inputs_jump(od_run_state *r, double t) {
  return od_machine_inputs_jump(r->machine, t, r->step, r->u, r->u_after);
}

// A step sees its inputs at its ends, so that something faster than the steps stays unseen; now and then somewhere
// within. before: the inputs where it begins.
static void watch_inputs(od_run_state *r, double t, double h, const double *before) {
  if (r->plant->nu == 0 || r->inputs_watched++ % WATCH_INPUTS != 0) return;
  double along = 0.2 + 0.6 * fmod(0.618034 * (double)r->inputs_watched, 1);
  od_machine_inputs(r->machine, t + along * h, r->u_inside);
  for (int i = 0; i < r->plant->nu; i++) {
    double straight = before[i] + along * (r->u[i] - before[i]);
    r->input_bend[i] = fmax(r->input_bend[i], fabs(r->u_inside[i] - straight));
    od_run_widen(&r->input_range[i], r->u_inside[i]);
  }
}

od_status od_run_watch(od_run_state *r) {
  const od_run_options *o = r->options;
  if (!o->watch || !r->table) return OD_OK;
  od_status status = od_sim_outputs(r->sim, r->watched);
  // Who watches all steps wants to know how far off each of them is.
  if (status == OD_OK) od_accuracy_record(r->accuracy, r->watched);
  if (status == OD_OK) o->watch(o->watcher, od_sim_time(r->sim), r->watched);
  return status;
}

// A jump of the inputs at the present time, if there is one, and the samples and switches that are due; rate: see
// od_run_switch_end_step(). What comes after them may be faster than what was before.
static od_status end_piece(od_run_state *r, bool jump, double rate) {
  od_status status = od_run_watch(r);
  bool sampled = false;
  if (status == OD_OK && jump) {
    od_accuracy_jump(r->accuracy);
    status = od_sim_set_inputs(r->sim, r->u_after);
  }
  if (status == OD_OK && r->samples) status = od_run_switch_take(r, rate, r->accuracy ? r->map : NULL, &sampled);
  if (status == OD_OK && sampled) od_accuracy_map(r->accuracy, r->map, false);
  if (r->control && (jump || sampled)) od_step_control_restart(r->control);
  return status == OD_OK && (jump || sampled) ? od_run_watch(r) : status;
}

// The inputs at the integrator's points within a step.
static void find_inputs_inside(od_run_state *r, double t, double h) {
  for (int k = 0; k < r->integrator->inside_count && r->plant->nu; k++)
    od_machine_inputs(r->machine, t + r->integrator->inside[k] * h, r->u_inside + k * r->plant->nu);
}

static void watch_pressures(od_run_state *r, double h) {
  int nz = r->plant->nz;
  od_cavitation_step(r->cavitation, od_sim_time(r->sim), h, od_sim_state(r->sim) + 2 * nz, od_sim_rates(r->sim) + nz);
}

// One step of a fixed length. It ends before a jump of the inputs, the next one begins after it; *end becomes earlier where
// something switches on the way.
static od_status step_to(od_run_state *r, double t, double *end, bool at_grid) {
  double h = *end - t, taken = h, rate = 0;
  bool jump = inputs_jump(r, *end);
  watch_inputs(r, t, h, od_sim_inputs(r->sim));
  od_accuracy_begin_step(r->accuracy);
  od_run_switch_begin_step(r, at_grid);
  find_inputs_inside(r, t, h);
  od_status status = od_sim_step_within(r->sim, h, r->u_inside, r->u);
  if (status == OD_OK) status = od_run_switch_end_step(r, h, &taken, &rate);
  if (status != OD_OK) return status;
  od_accuracy_end_step(r->accuracy, taken);
  watch_pressures(r, taken);
  if (taken < h) *end = od_sim_time(r->sim);
  return end_piece(r, jump && taken == h, rate);
}

bool od_run_keeps_going(void *user) {
  od_run_state *r = user;
  const od_run_options *o = r->options;
  if (r->stopped || !o->progress || r->pieces++ % 64 != 0) return !r->stopped;
  double part = od_sim_time(r->sim) / (r->step * (double)r->steps);
  r->stopped = !o->progress(o->user, r->table ? part : 1);
  return !r->stopped;
}

// The first time before `end` at which the inputs jump, or `end`. Kinks do not count: they cost nothing but local
// order.
static double next_jump(od_run_state *r, double t, double end) {
  double aside = time_aside(r, end), at = t + aside;
  while (r->plant->nu && od_run_keeps_going(r)) {
    at = od_machine_next_break(r->machine, at);
    if (!(at < end - aside)) break;
    if (inputs_jump(r, at)) return at;
  }
  return end;
}

// The next sample before `end`, or `end`.
static double next_sample(const od_run_state *r, double t, double end) {
  double sample = od_sim_next_sample(r->sim);
  return sample > t + time_aside(r, t) && sample < end - time_aside(r, end) ? sample : end;
}

static od_status change_coordinates(od_run_state *r) {
  bool changed;
  od_status status = od_sim_repartition(r->sim, r->accuracy || r->control ? r->map : NULL, &changed);
  if (status != OD_OK || !changed) return status;
  od_accuracy_map(r->accuracy, r->map, true);
  if (r->control) od_step_control_map(r->control, r->map);
  return OD_OK;
}

// A step is split where the inputs jump or a sample is due on the way.
static od_status advance_fixed(od_run_state *r, double t, double next, od_error *err) {
  od_status status = change_coordinates(r);
  bool at_grid = true;
  while (status == OD_OK && t < next) {
    if (!od_run_keeps_going(r)) return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", t);
    double end = next_jump(r, t, next);
    if (r->samples) end = fmin(end, next_sample(r, t, end));
    status = step_to(r, t, &end, at_grid);
    at_grid = false;
    t = end;
  }
  if (status == OD_OK) return OD_OK;
  return od_fail(err, status, "the step from %.6g s failed: %s; a smaller step may help", t, od_status_text(status));
}

// --- Adaptive steps -----------------------------------------------------------------------------------------------

// Steps from t to the end of a smooth piece, each as long as its error allows. jump: whether the inputs jump there.
static od_status advance_piece(od_run_state *r, double t, double end, bool jump, od_error *err) {
  double rate = 0;
  while (t < end) {
    od_status status = rate < 0 ? end_piece(r, false, rate) : OD_OK;
    if (status == OD_OK) status = change_coordinates(r);
    if (status != OD_OK) return od_fail(err, status, "at %.6g s: %s", t, od_status_text(status));
    od_accuracy_begin_step(r->accuracy);
    od_step_control_begin(r->control);
    od_run_switch_begin_step(r, rate == 0);
    if (r->plant->nu) memcpy(r->u_before, od_sim_inputs(r->sim), (size_t)r->plant->nu * sizeof *r->u_before);
    bool accepted = false;
    while (!accepted) {
      if (!od_run_keeps_going(r)) return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", t);
      double next = od_step_control_next(r->control, t, end);
      if (next < end && r->plant->nu) od_machine_inputs(r->machine, next, r->u);
      if (next >= end) inputs_jump(r, end);
      find_inputs_inside(r, t, next - t);
      status = od_sim_step_within(r->sim, next - t, r->u_inside, r->u);
      status = od_step_control_judge(r->control, t, next, status, &accepted, err);
      if (status != OD_OK) return status;
      if (!accepted) continue;
      double h = next - t, taken;
      status = od_run_switch_end_step(r, h, &taken, &rate);
      if (status != OD_OK) return od_fail(err, status, "at %.6g s: %s", t, od_status_text(status));
      od_accuracy_end_step(r->accuracy, taken);
      watch_pressures(r, taken);
      watch_inputs(r, t, taken, r->u_before);
      if (taken == h && next < end) status = od_run_watch(r);
      if (status != OD_OK) return od_fail(err, status, "at %.6g s: %s", next, od_status_text(status));
      t = taken < h ? od_sim_time(r->sim) : next;
    }
  }
  od_status status = end_piece(r, jump, rate);
  return status == OD_OK ? OD_OK : od_fail(err, status, "at %.6g s: %s", t, od_status_text(status));
}

// Pieces end where the inputs jump or bend, a sample is due, or a row is to be recorded.
static od_status advance_adaptively(od_run_state *r, double t, double next, od_error *err) {
  while (t < next) {
    double aside = time_aside(r, next), end = next;
    double sample = r->samples ? next_sample(r, t, next) : next;
    double bend = r->plant->nu ? od_machine_next_break(r->machine, t + aside) : INFINITY;
    if (bend < end - aside) end = bend;
    end = fmin(end, sample);
    bool jump = inputs_jump(r, end);
    od_status status = advance_piece(r, t, end, jump, err);
    if (status != OD_OK) return status;
    t = end;
  }
  return OD_OK;
}

od_status od_run_advance(od_run_state *r, double t, double next, od_error *err) {
  if (r->cvodes) return od_cvodes_advance(r->cvodes, next, err);
  return r->control ? advance_adaptively(r, t, next, err) : advance_fixed(r, t, next, err);
}
