// A run of a machine. Steps are those of `oleodyn simulate`: od_sim_advance() with the same settings. Adaptive steps may pass the requested time as
// long as all inputs follow the file; the outputs are then interpolated. As soon as the importer sets an input, steps end at the requested times.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "embedded/embedded_parts.h"
#include "fmu_machine.h"
#include "signals/signal.h"

static const fmu_description *const d = &fmu_described;
enum { SAVED_DOUBLES = 8 };

// ---- inputs

static double input_at(const fmu_run *r, int i, double t) {
  if (r->is_set[i] != 0) return r->value[i] + (r->rate[i] != 0 ? r->rate[i] * (t - r->rate_from[i]) : 0);
  return od_signal_value(d->signals, d->signal[i], t + d->signal_start);
}
void fmu_inputs(const fmu_run *r, double t, double *u) {
  for (int i = 0; i < r->plant->nu; i++) u[i] = input_at(r, i, t);
}
double fmu_next_break(const fmu_run *r, double t) {
  double next = INFINITY;
  for (int i = 0; i < r->plant->nu; i++)
    if (r->is_set[i] == 0) next = fmin(next, od_signal_next_break(d->signals, d->signal[i], t + d->signal_start));
  return next - d->signal_start;
}
static void inputs_at(const void *run, double t, double *u) {
  fmu_inputs(run, t, u);
}
static double next_break(const void *run, double t) {
  return fmu_next_break(run, t);
}
static bool is_driven(const fmu_run *r) {
  bool driven = false;
  for (int i = 0; i < r->plant->nu; i++) driven = driven || r->is_set[i] != 0;
  return driven;
}

// ---- creation

static bool is_adaptive(void) {
  return !(d->embedded.period > 0);
}
static od_advance_options advance_options(const fmu_run *r) {
  // Without a stop time, the steps are those of the run of the file until its end.
  const double file_end = r->is_beyond ? INFINITY : d->end, end = isfinite(r->end) ? r->end : file_end;
  const bool ends = isfinite(end) && end > 0;
  return (od_advance_options){.step = is_adaptive() ? 0 : r->step,
                              .tolerance = r->tolerance,
                              .longest = d->longest,
                              .end = is_adaptive() && ends ? end : 0,
                              .most_steps = ends ? 1e9 : 0,
                              .inputs = {.user = r, .inputs = inputs_at, .next_break = next_break}};
}

// Takes all memory of a run from an arena. Returns NULL if the arena is too small.
static fmu_run *lay_out(void *memory, size_t size) {
  od_arena arena = od_arena_over(memory, size);
  const od_embedded *e = &d->embedded;
  fmu_run *r = OD_TAKE(&arena, fmu_run, 1);
  od_plant *plant = NULL;
  if (!r || od_embedded_make_plant(&arena, e, &plant) != OD_OK) return NULL;
  r->memory = memory;
  r->plant = plant;
  r->value = OD_TAKE(&arena, double, plant->nu);
  r->rate = OD_TAKE(&arena, double, plant->nu);
  r->rate_from = OD_TAKE(&arena, double, plant->nu);
  r->is_set = OD_TAKE(&arena, double, plant->nu);
  r->p = OD_TAKE(&arena, double, plant->np);
  r->p0 = OD_TAKE(&arena, double, plant->np);
  r->u = OD_TAKE(&arena, double, plant->nu);
  r->y = OD_TAKE(&arena, double, plant->ny);
  const int nx = od_plant_nx(plant);
  r->x = OD_TAKE(&arena, double, nx + plant->nq);
  r->guard = OD_TAKE(&arena, double, od_plant_guards(plant));
  r->power = OD_TAKE(&arena, double, plant->nq);
  r->fx = OD_TAKE_MATRIX(&arena, double, nx, nx);
  r->fu = OD_TAKE_MATRIX(&arena, double, nx, plant->nu);
  r->fp = OD_TAKE_MATRIX(&arena, double, nx, plant->np);
  r->hx = OD_TAKE_MATRIX(&arena, double, plant->ny, nx);
  r->hu = OD_TAKE_MATRIX(&arena, double, plant->ny, plant->nu);
  r->hp = OD_TAKE_MATRIX(&arena, double, plant->ny, plant->np);
  r->sim = od_sim_init(od_arena_take(&arena, od_sim_size(plant)), plant);
  if (!r->sim) return NULL;
  od_sim_set_integrator(r->sim, e->integrator);
  const od_advance_options options = advance_options(r);
  r->advance_memory = od_arena_take(&arena, od_advance_size(r->sim, &options));
  return od_arena_status(&arena) == OD_OK ? r : NULL;
}

fmu_run *fmu_new(void) {
  return fmu_create(lay_out);
}

void fmu_free(fmu_run *r) {
  free(r->memory);
}

void fmu_reset(fmu_run *r) {
  for (int i = 0; i < r->plant->nu; i++) r->is_set[i] = r->rate[i] = r->rate_from[i] = 0, r->value[i] = d->input[i];
  for (int i = 0; i < r->plant->np; i++) r->p[i] = d->parameter[i];
  r->is_started = r->has_new_inputs = r->has_new_parameters = r->has_outputs = false;
  fmu_setup(r, 0, 0, INFINITY);
}

void fmu_setup(fmu_run *r, double tolerance, double start, double end) {
  r->tolerance = tolerance > 0 ? tolerance : d->tolerance;
  r->start = r->now = start;
  r->end = end > start ? end : INFINITY;
  r->step = d->embedded.period;
  r->is_started = r->is_beyond = false;
  r->in_event = r->is_initializing = true;
}

// ---- steps

od_status fmu_begin_grid(fmu_run *r, double step) {
  r->step = step;
  r->origin = r->now;
  r->at = r->sim;
  const od_advance_options options = advance_options(r);
  r->advance = od_advance_init(r->advance_memory, r->sim, &options);
  return r->advance ? OD_OK : OD_NOT_AVAILABLE;
}

od_status fmu_start(fmu_run *r) {
  r->now = r->start;
  r->is_started = r->has_outputs = false;
  inputs_at(r, r->now, r->u);
  od_status status = od_sim_start(r->sim, r->now, r->u);
  if (status == OD_OK && r->plant->np) od_sim_parameters(r->sim, r->p0);
  bool changed = r->plant->np && memcmp(r->p, r->p0, (size_t)r->plant->np * sizeof *r->p) != 0;
  if (status == OD_OK && changed) status = od_sim_set_parameters(r->sim, r->p);
  if (status == OD_OK) status = fmu_begin_grid(r, d->embedded.period);
  r->is_started = status == OD_OK;
  r->has_new_inputs = r->has_new_parameters = false;
  if (status == OD_OK && r->is_exchanged) fmu_take_states(r);
  return status;
}

// Makes the current time the beginning of the next step. Fails with OD_NOT_AVAILABLE.
static od_status continue_here(fmu_run *r) {
  if (r->at != r->sim) memcpy(r->sim, r->at, od_sim_bytes(r->sim));
  return fmu_begin_grid(r, r->step);
}

od_status fmu_settle(fmu_run *r) {
  if (!r->is_started) return fmu_start(r);
  if (r->is_exchanged) return fmu_evaluate(r);
  if (!r->has_new_inputs && !r->has_new_parameters) return OD_OK;
  r->has_outputs = false;
  od_status status = OD_OK;
  if (r->at != r->sim) status = continue_here(r);
  if (status == OD_OK && r->has_new_parameters) status = od_sim_set_parameters(r->sim, r->p);
  inputs_at(r, r->now, r->u);
  if (status == OD_OK && r->has_new_inputs) status = od_sim_set_inputs(r->sim, r->u);
  if (status == OD_OK) r->has_new_inputs = r->has_new_parameters = false;
  return status;
}

// Returns the row of `oleodyn simulate` at t apart from round-off, else t, so that sums of steps have the bits of the rows.
static double row_at(const fmu_run *r, double t) {
  double row = r->start + round((t - r->start) / d->row) * d->row, slack = 1e-10 * d->row + 1e-15 * fabs(t);
  if (fabs(t - r->end) <= slack) return r->end;
  if (fabs(t - d->end) <= slack) return d->end;
  return fabs(t - row) <= slack ? row : t;
}

// Returns whether fixed steps reach time t.
static bool is_on_grid(const fmu_run *r, double t) {
  double steps = (t - r->origin) / r->step, slack = fmax(1e-9 * r->step, 4e-16 * fabs(t));
  return fabs(steps - round(steps)) * r->step <= slack && t > r->now;
}

od_status fmu_step(fmu_run *r, double t, double h) {
  double to = row_at(r, t + h);
  if (!(fabs(t - r->now) <= 1e-9 * h + 1e-15 * fabs(t)) || !(h > 0) || !isfinite(to)) return OD_BAD_ARGUMENT;
  od_status status = fmu_settle(r);
  // For other steps of the importer, takes the longest fixed step, at most the period, that divides the step of the importer.
  if (status == OD_OK && !is_adaptive() && !is_on_grid(r, to))
    status = fmu_begin_grid(r, (to - r->now) / fmax(1, ceil((to - r->now) / d->embedded.period * (1 - 1e-9))));
  if (status == OD_OK && is_adaptive() && !isfinite(r->end) && !r->is_beyond && to > d->end) {
    r->is_beyond = true;
    status = continue_here(r);
  }
  if (status != OD_OK) return status;
  r->has_outputs = false;
  r->at = r->sim;
  if (is_driven(r))
    status = od_sim_advance_up_to(r->advance, to);
  else
    status = od_sim_advance(r->advance, to, &r->at);
  if (status == OD_OK) r->now = to;
  return status;
}

double fmu_time(const fmu_run *r) {
  return r->now;
}

// ---- values

od_status fmu_get(fmu_run *r, fmu_kind kind, int i, double *value) {
  od_status status = OD_OK;
  switch (kind) {
    case FMU_TIME: *value = r->now; return OD_OK;
    case FMU_INPUT: *value = input_at(r, i, r->now); return OD_OK;
    case FMU_PARAMETER: *value = r->p[i]; return OD_OK;
    case FMU_OUTPUT:
      status = fmu_settle(r);
      if (status == OD_OK && !r->has_outputs) status = od_sim_outputs(r->at, r->y);
      r->has_outputs = status == OD_OK;
      *value = r->y[i];
      return status;
    case FMU_STATE:
    case FMU_DERIVATIVE:
    case FMU_INDICATOR: return fmu_get_exchanged(r, kind, i, value);
    default: return OD_NOT_AVAILABLE;
  }
}

od_status fmu_set(fmu_run *r, fmu_kind kind, int i, double value) {
  if (kind != FMU_INPUT && kind != FMU_PARAMETER) return OD_NOT_AVAILABLE;
  if (!isfinite(value)) return OD_NOT_FINITE;
  if (kind == FMU_PARAMETER) {
    r->has_new_parameters = r->has_new_parameters || r->p[i] != value;
    r->p[i] = value;
  } else {
    r->has_new_inputs = r->has_new_inputs || r->is_set[i] == 0 || r->value[i] != value || r->rate[i] != 0;
    r->value[i] = value;
    r->is_set[i] = 1;
    r->rate[i] = 0;
  }
  // Before the first step, a new value starts the run again.
  if (r->now == r->start && (!r->is_exchanged || r->is_initializing) && (r->has_new_inputs || r->has_new_parameters))
    r->is_started = false;
  return OD_OK;
}

od_status fmu_set_rate(fmu_run *r, int i, double rate) {
  if (!isfinite(rate)) return OD_NOT_FINITE;
  r->value[i] = input_at(r, i, r->now);
  r->rate[i] = rate;
  r->rate_from[i] = r->now;
  r->has_new_inputs = r->has_new_inputs || r->is_set[i] == 0;
  r->is_set[i] = 1;
  return OD_OK;
}

// ---- saved states: doubles of the run, its inputs and parameters, then the advance with the simulation

static size_t saved_head(const fmu_run *r) {
  size_t doubles = SAVED_DOUBLES + 4 * (size_t)r->plant->nu + (size_t)r->plant->np;
  return (doubles + doubles % 2) * sizeof(double);
}

size_t fmu_saved_size(fmu_run *r) {
  return fmu_settle(r) == OD_OK ? saved_head(r) + od_advance_save_size(r->advance) : 0;
}

// Copies a list of doubles to or from `saved` and moves on.
static void transfer(double **saved, double *list, int count, bool restores) {
  if (count && restores) memcpy(list, *saved, (size_t)count * sizeof *list);
  if (count && !restores) memcpy(*saved, list, (size_t)count * sizeof *list);
  *saved += count;
}
static void transfer_lists(fmu_run *r, double *saved, bool restores) {
  transfer(&saved, r->value, r->plant->nu, restores);
  transfer(&saved, r->rate, r->plant->nu, restores);
  transfer(&saved, r->rate_from, r->plant->nu, restores);
  transfer(&saved, r->is_set, r->plant->nu, restores);
  transfer(&saved, r->p, r->plant->np, restores);
}

od_status fmu_save(fmu_run *r, void *saved) {
  od_status status = fmu_settle(r);
  if (status != OD_OK) return status;
  const double head[SAVED_DOUBLES] = {r->now,  r->start,  r->end,          r->tolerance,
                                      r->step, r->origin, r->at != r->sim, r->is_beyond};
  if (r->is_exchanged) status = fmu_begin_grid(r, r->step);
  if (status != OD_OK) return status;
  memset(saved, 0, saved_head(r));
  memcpy(saved, head, sizeof head);
  transfer_lists(r, (double *)saved + SAVED_DOUBLES, false);
  return od_advance_save(r->advance, (char *)saved + saved_head(r));
}

od_status fmu_restore(fmu_run *r, const void *saved, size_t size) {
  const double *head = saved;
  if (size < saved_head(r)) return OD_BAD_INPUT;
  for (int i = 0; i < 6; i++)
    if (i != 2 && !isfinite(head[i])) return OD_BAD_INPUT;
  if (!is_adaptive() && !(head[4] > 0)) return OD_BAD_INPUT;
  od_status status = r->is_started ? OD_OK : fmu_start(r);
  if (status != OD_OK) return status;
  r->start = head[1], r->end = head[2], r->tolerance = head[3], r->is_beyond = head[7] != 0;
  status = fmu_begin_grid(r, head[4]);
  if (status == OD_OK)
    status = od_advance_restore(r->advance, (const char *)saved + saved_head(r), size - saved_head(r), NULL);
  r->is_started = status == OD_OK;
  if (status != OD_OK) return status;
  r->now = head[0], r->origin = head[5];
  transfer_lists(r, (double *)saved + SAVED_DOUBLES, true);
  r->has_new_inputs = r->has_new_parameters = r->has_outputs = false;
  if (r->is_exchanged) fmu_take_states(r);
  return head[6] != 0 ? od_sim_advance(r->advance, r->now, &r->at) : OD_OK;
}
