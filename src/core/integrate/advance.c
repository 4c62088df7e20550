// Advances a simulation over jumps of the inputs, samples and switches. The time is divided into pieces. Within a piece the inputs
// are smooth and no sample is due. No step passes the end of a piece.
#include "oleodyn/advance.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/place.h"
#include "base/saved.h"
#include "integrate/advance_save.h"
#include "integrate/sim_block.h"
#include "integrate/step_control.h"

enum {
  KNOT_TRIALS = 12,  // number of shorter steps that are tried until a step passes only one knot
  // Largest number of switches that are located per longest step. Further switches are taken at the ends of steps.
  ADAPTIVE_SWITCHES = 200
};
static const double default_tolerance = 1e-5, default_longest = 1e-3;

struct od_advance {
  od_sim *sim;
  const od_plant *plant;
  od_advance_options options;
  bool adaptive;
  bool samples;      // whether the plant has samples or modes
  double now;        // current time, s
  double before;     // time at the beginning of the last step, s
  double origin;     // time at the start, s
  double requested;  // time of the last call of od_sim_advance() or od_sim_advance_up_to(), s
  long index;        // fixed steps: number of complete steps since the start
  bool in_step;      // fixed steps: whether the current step is not complete
  double end;        // end of the current piece, s
  bool jumps;        // whether the inputs jump at the end of the current piece; known after a step to this end
  // The event at the current time that has not been processed yet.
  enum { NOTHING_PENDING, SAMPLE_PENDING, JUMP_PENDING } pending;
  int located;     // number of located switches since the end of the last fixed step, or (adaptive steps) since the
                   // time `counted`
  double counted;  // adaptive steps: time at which `located` was last set to zero, s
  bool goes_on;    // whether state and inputs have not changed since the end of the last step
  double stop;     // adaptive steps: time at which a step must end, s; INFINITY: no such time
  long sets;       // od_sim.sets when the advance last used the simulation
  od_step_control control;
  od_event_search search;
  od_sim *between;  // copy of the simulation for a time within a step
  double *u, *u_inside, *u_after, *u_wide, *map;
  od_advance_failure failure;
};

// --- Memory -------------------------------------------------------------------------------------------------------

// Offsets of the parts of the block, and its size, bytes.
typedef struct layout {
  size_t u, u_inside, u_after, u_wide, map, control, before, after, between, guards, size;
} layout;

static bool needs_copies(const od_plant *plant, bool adaptive) {
  return adaptive || od_plant_guards(plant) > 0;
}

static layout lay_out(const od_sim *sim, const od_advance_options *options) {
  const od_plant *plant = sim->plant;
  size_t d = sizeof(double), nu = (size_t)plant->nu, nx = (size_t)od_plant_nx(plant), end = sizeof(od_advance);
  bool adaptive = !(options->step > 0);
  size_t copy = needs_copies(plant, adaptive) ? od_sim_bytes(sim) : 0;
  layout l;
  l.u = od_place(&end, nu * d);
  l.u_inside = od_place(&end, nu * (size_t)od_sim_integrator(sim)->inside_count * d);
  l.u_after = od_place(&end, nu * d);
  l.u_wide = od_place(&end, 2 * nu * d);
  l.map = od_place(&end, adaptive && plant->nz > 0 ? nx * nx * d : 0);
  l.control = od_place(&end, adaptive ? 4 * nx * d : 0);
  l.before = od_place(&end, copy);
  l.after = od_place(&end, copy);
  l.between = od_place(&end, copy);
  l.guards = od_place(&end, copy ? od_event_doubles(plant) * d : 0);
  l.size = od_place(&end, 0);
  return l;
}

size_t od_advance_size(const od_sim *sim, const od_advance_options *options) {
  return lay_out(sim, options).size;
}

static void inputs_at(void *user, double t, double *u) {
  const od_advance *a = user;
  a->options.inputs.inputs(a->options.inputs.user, t, u);
}

od_advance *od_advance_init(void *memory, od_sim *sim, const od_advance_options *options) {
  bool adaptive = !(options->step > 0);
  if (!memory || (adaptive && od_sim_integrator(sim)->estimate_order == 0)) return NULL;
  layout l = lay_out(sim, options);
  memset(memory, 0, l.size);
  char *block = memory;
  od_advance *a = memory;
  double now = od_sim_time(sim);
  *a = (od_advance){.sim = sim,
                    .plant = sim->plant,
                    .options = *options,
                    .adaptive = adaptive,
                    .samples = sim->plant->ops->sample != NULL,
                    .now = now,
                    .before = now,
                    .origin = now,
                    .requested = now,
                    .end = now,
                    .stop = INFINITY,
                    .sets = sim->sets,
                    .u = (double *)(block + l.u),
                    .u_inside = (double *)(block + l.u_inside),
                    .u_after = (double *)(block + l.u_after),
                    .u_wide = (double *)(block + l.u_wide),
                    .map = adaptive && sim->plant->nz > 0 ? (double *)(block + l.map) : NULL};
  if (!(a->options.tolerance > 0)) a->options.tolerance = default_tolerance;
  if (!(a->options.longest > 0)) a->options.longest = default_longest;
  if (!(a->options.end > 0)) a->options.end = INFINITY;
  if (needs_copies(sim->plant, adaptive)) {
    a->search = (od_event_search){.before = block + l.before,
                                  .after = block + l.after,
                                  .memory = (double *)(block + l.guards),
                                  .inputs = options->inputs.inputs && sim->plant->nu ? inputs_at : NULL,
                                  .user = a};
    a->between = (od_sim *)(block + l.between);
    memcpy(a->search.before, sim, od_sim_bytes(sim));
  }
  if (adaptive) od_step_control_init(&a->control, sim, sim->plant, &a->options, (double *)(block + l.control));
  return a;
}

od_advance *od_advance_new(od_sim *sim, const od_advance_options *options) {
  void *memory = od_malloc(od_advance_size(sim, options));
  od_advance *a = od_advance_init(memory, sim, options);
  if (!a) od_free(memory);
  return a;
}

void od_advance_free(od_advance *a) {
  od_free(a);
}

od_advance_failure od_advance_get_failure(const od_advance *a) {
  return a->failure;
}

// --- Inputs -------------------------------------------------------------------------------------------------------

static bool has_inputs(const od_advance *a) {
  return a->plant->nu > 0 && a->options.inputs.inputs != NULL;
}

// Returns the tolerance for comparisons of times near t, s. The tolerance exceeds the round-off of t, so a jump is
// found in spite of round-off.
static double time_tolerance(const od_advance *a, double t) {
  return fmax(1e-9 * (a->adaptive ? a->options.longest : a->options.step), 4e-16 * fabs(t));
}

// Computes the inputs u at time t. Without a source, copies the inputs of the simulation to u.
static void read_inputs(const od_advance *a, double t, double *u) {
  if (has_inputs(a))
    a->options.inputs.inputs(a->options.inputs.user, t, u);
  else if (a->plant->nu)
    memcpy(u, od_sim_inputs(a->sim), (size_t)a->plant->nu * sizeof *u);
}

// Returns whether an input jumps at t. If one jumps, writes the inputs just before t to a->u and the inputs just after
// t to a->u_after. Otherwise writes the inputs at t to a->u. An input jumps if its change does not shrink with the
// distance between the two times.
static bool inputs_jump(od_advance *a, double t) {
  if (!has_inputs(a)) {
    read_inputs(a, t, a->u);
    return false;
  }
  double aside = time_tolerance(a, t), *wide = a->u_wide;
  int nu = a->plant->nu;
  bool differs = false, jump = false;
  read_inputs(a, t - aside, a->u);
  read_inputs(a, t + aside, a->u_after);
  for (int i = 0; i < nu; i++)
    differs = differs || fabs(a->u_after[i] - a->u[i]) > 1e-6 * (fabs(a->u_after[i]) + fabs(a->u[i]));
  if (differs) {
    read_inputs(a, t - 4 * aside, wide);
    read_inputs(a, t + 4 * aside, wide + nu);
    for (int i = 0; i < nu; i++) {
      double change = fabs(a->u_after[i] - a->u[i]), size = fabs(a->u_after[i]) + fabs(a->u[i]);
      jump = jump || (change > 1e-6 * size && change > 0.5 * fabs(wide[nu + i] - wide[i]));
    }
  }
  if (!jump) read_inputs(a, t, a->u);
  return jump;
}

// Writes the inputs at the integrator's points within a step to a->u_inside.
static void find_inputs_inside(od_advance *a, double t, double h) {
  const od_integrator *integrator = od_sim_integrator(a->sim);
  int nu = a->plant->nu;
  for (int k = 0; k < integrator->inside_count && nu; k++)
    read_inputs(a, t + integrator->inside[k] * h, a->u_inside + k * nu);
}

// Returns the first time between t and `end` at which inputs jump or have a kink, or a sample is due; else `end`.
static double end_of_piece(const od_advance *a, double t, double end) {
  double tolerance = time_tolerance(a, isfinite(end) ? end : t), at = INFINITY;
  if (has_inputs(a) && a->options.inputs.next_break)
    at = a->options.inputs.next_break(a->options.inputs.user, t + tolerance);
  double sample = a->samples ? od_sim_next_sample(a->sim) : INFINITY;
  if (sample > t + tolerance) at = fmin(at, sample);
  return at < end - tolerance ? at : end;
}

// --- Between steps ------------------------------------------------------------------------------------------------

static od_status fail(od_advance *a, od_status status, od_advance_problem problem, double at, double length) {
  a->failure = (od_advance_failure){problem, at, length, 0};
  return status;
}

static od_status watch(od_advance *a, od_moment moment) {
  if (!a->options.watch) return OD_OK;
  od_status status = a->options.watch(a->options.watcher, moment, a->sim, a->now - a->before);
  return status == OD_OK ? OD_OK : fail(a, status, OD_ADVANCE_WATCH, a->now, 0);
}

// Adapts the advance to changes that the caller has made to the simulation since the advance last used it.
static void notice_changes(od_advance *a) {
  if (a->sim->sets == a->sets) return;
  a->sets = a->sim->sets;
  a->goes_on = false;
  if (a->adaptive) od_step_control_restart(&a->control);
}

static od_status change_coordinates(od_advance *a) {
  bool changed;
  od_status status = od_sim_repartition(a->sim, a->map, &changed);
  if (status != OD_OK) return fail(a, status, OD_ADVANCE_EVALUATION, a->now, 0);
  if (!changed) return OD_OK;
  a->goes_on = false;
  if (a->adaptive) od_step_control_map(&a->control, a->map);
  return OD_OK;
}

static od_status begin_step(od_advance *a) {
  if (!a->search.before) return OD_OK;
  od_status status = od_sim_begin_events(a->sim, &a->search, a->goes_on);
  a->goes_on = false;
  return status == OD_OK ? OD_OK : fail(a, status, OD_ADVANCE_EVALUATION, a->now, 0);
}

// Ends a step of length h: if a switch is due within the step and fewer than `most` switches have been located, takes
// the step again up to just after the first switch. *taken receives the length of the step, s. Fails with a status of
// od_sim_step().
static od_status end_step(od_advance *a, double h, int most, double *taken) {
  *taken = h;
  if (a->plant->margins == 0) {
    a->goes_on = true;
    return OD_OK;
  }
  od_status status = a->located < most ? od_sim_find_switch(a->sim, &a->search, h, taken) : OD_OK;
  a->located += *taken < h;
  a->goes_on = *taken == h;
  return status == OD_OK ? OD_OK : fail(a, status, OD_ADVANCE_EVALUATION, a->now, h);
}

static od_status set_inputs(od_advance *a, const double *u) {
  notice_changes(a);
  od_status status = od_sim_set_inputs(a->sim, u);
  a->sets = a->sim->sets;
  return status;
}

// Applies the jump of the inputs at the current time, if there is one, and the samples and switches that are due. Fails with a
// status of od_sim_step() or with the status of options.watch().
static od_status end_piece(od_advance *a) {
  bool sampled = false, jump = a->pending == JUMP_PENDING;
  a->pending = NOTHING_PENDING;
  od_status status = watch(a, OD_MOMENT_PIECE);
  if (status != OD_OK) return status;
  if (jump) inputs_jump(a, a->now);  // an interpolation may have overwritten the inputs
  if (jump) status = set_inputs(a, a->u_after);
  if (status == OD_OK && a->samples) status = od_sim_sample(a->sim, NULL, NULL, &sampled);
  if (status != OD_OK) return fail(a, status, OD_ADVANCE_EVALUATION, a->now, 0);
  if (!jump && !sampled) return OD_OK;
  a->goes_on = false;
  if (a->adaptive) od_step_control_restart(&a->control);
  return watch(a, OD_MOMENT_EVENT);
}

// --- Steps --------------------------------------------------------------------------------------------------------

// Takes a step to the end of the piece. *next receives the end of the step. Fails with a status of od_sim_step() or
// with the status of options.watch().
static od_status fixed_step(od_advance *a, double *next) {
  double t = a->now, h = a->end - t;
  *next = a->end;
  od_status status = watch(a, OD_MOMENT_TRY);
  if (status != OD_OK) return status;
  a->jumps = inputs_jump(a, a->end);
  find_inputs_inside(a, t, h);
  status = od_sim_step_within(a->sim, h, a->u_inside, a->u);
  if (status == OD_OK && a->search.before) status = od_sim_end_events(a->sim, &a->search, h);
  return status == OD_OK ? OD_OK : fail(a, status, OD_ADVANCE_STEP, t, h);
}

// Takes a step, at most to the end of the piece, that is accurate enough and passes at most one knot (after KNOT_TRIALS
// trials, possibly more). *next receives the end of the step. Fails with a status of od_sim_step() or with the status
// of options.watch().
static od_status adaptive_step(od_advance *a, double *next) {
  double t = a->now;
  bool accepted = false;
  int knots = 0;
  while (!accepted) {
    od_status status = watch(a, OD_MOMENT_TRY);
    if (status != OD_OK) return status;
    *next = od_step_control_next(&a->control, t, a->end);
    if (*next < a->end)
      read_inputs(a, *next, a->u);
    else
      a->jumps = inputs_jump(a, a->end);
    double h = *next - t, shorter = h;
    find_inputs_inside(a, t, h);
    status = od_sim_step_within(a->sim, h, a->u_inside, a->u);
    status = od_step_control_judge(&a->control, t, *next, status, &accepted, &a->failure);
    if (status != OD_OK) {
      memcpy(a->sim, a->search.before, od_sim_bytes(a->sim));
      return status;
    }
    if (accepted) status = od_sim_end_events(a->sim, &a->search, h);
    if (status != OD_OK) return fail(a, status, OD_ADVANCE_EVALUATION, *next, h);
    if (accepted) shorter = od_sim_knot_step(a->sim, &a->search, h);
    if (shorter < h && t + shorter > t && knots++ < KNOT_TRIALS) {
      accepted = false;
      od_step_control_shorten(&a->control, shorter);
    }
    if (!accepted) memcpy(a->sim, a->search.before, od_sim_bytes(a->sim));
  }
  od_step_control_accept(&a->control);
  return OD_OK;
}

// Begins a piece at the current time. The piece ends where the inputs jump or have a kink, where a sample is due, or where a fixed
// step ends; with adaptive steps also at the end of the run and at a time that od_sim_advance_up_to() requests.
static void begin_piece(od_advance *a) {
  double limit = a->adaptive ? fmin(a->options.end, a->stop) : a->origin + (double)(a->index + 1) * a->options.step;
  a->end = end_of_piece(a, a->now, limit);
}

// Takes one step. Jumps, samples and switches at the end of the step remain pending, so that states within the step can
// be interpolated. Fails with a status of od_sim_step() or with the status of options.watch().
static od_status take_step(od_advance *a) {
  double t = a->now, next = t, taken;
  bool grid_point = !a->adaptive && !a->in_step;
  notice_changes(a);
  od_status status = watch(a, OD_MOMENT_BEGIN);
  if (status == OD_OK && (a->adaptive || grid_point)) status = change_coordinates(a);
  if (status != OD_OK) return status;
  if (!(t < a->end)) begin_piece(a);
  if (grid_point || (a->adaptive && t > a->counted + a->options.longest)) a->located = 0, a->counted = t;
  status = begin_step(a);
  if (status == OD_OK) status = a->adaptive ? adaptive_step(a, &next) : fixed_step(a, &next);
  if (status == OD_OK) status = end_step(a, next - t, a->adaptive ? ADAPTIVE_SWITCHES : OD_MOST_SWITCHES, &taken);
  if (status != OD_OK) return status;
  bool switches = taken < next - t, ends = !switches && next >= a->end;
  a->before = t;
  a->now = switches ? od_sim_time(a->sim) : next;
  a->pending = ends && a->jumps ? JUMP_PENDING : switches || ends ? SAMPLE_PENDING : NOTHING_PENDING;
  a->in_step = !a->adaptive && a->now < a->origin + (double)(a->index + 1) * a->options.step;
  if (!a->adaptive && !a->in_step) a->index++;
  return watch(a, OD_MOMENT_STEP);
}

// Returns whether the caller may request time t: not before the last requested time, not after the end, and with fixed
// steps at the end of a step.
static bool is_reachable(const od_advance *a, double t) {
  double tolerance = time_tolerance(a, t);
  if (!(t >= a->requested - tolerance && t <= a->options.end + tolerance)) return false;
  if (a->adaptive) return true;
  double steps = (t - a->origin) / a->options.step;
  return fabs(steps - round(steps)) * a->options.step <= tolerance;
}

// Takes steps until time t, and with `events` also the jumps, samples and switches at t. Fails with a status of od_sim_step()
// or with the status of options.watch().
static od_status advance_until(od_advance *a, double t, bool events) {
  double tolerance = time_tolerance(a, t);
  od_status status = OD_OK;
  a->requested = t;
  while (status == OD_OK &&
         (a->now < t - tolerance || (events && a->pending != NOTHING_PENDING && a->now <= t + tolerance)))
    status = a->pending != NOTHING_PENDING ? end_piece(a) : take_step(a);
  return status;
}

od_status od_sim_advance_up_to(od_advance *a, double t) {
  a->failure = (od_advance_failure){0};
  if (!is_reachable(a, t) || a->now > t + time_tolerance(a, t))
    return fail(a, OD_BAD_ARGUMENT, OD_ADVANCE_EVALUATION, a->now, 0);
  a->stop = a->adaptive ? t : INFINITY;
  if (a->adaptive && a->now < t) a->end = fmin(a->end, t);
  od_status status = advance_until(a, t, false);
  a->stop = INFINITY;
  return status;
}

od_status od_sim_advance(od_advance *a, double t, od_sim **at) {
  a->failure = (od_advance_failure){0};
  if (!is_reachable(a, t)) return fail(a, OD_BAD_ARGUMENT, OD_ADVANCE_EVALUATION, a->now, 0);
  od_status status = advance_until(a, t, true);
  if (status != OD_OK || !at) return status;
  *at = a->sim;
  if (a->now <= t + time_tolerance(a, t)) return OD_OK;
  read_inputs(a, t, a->u_after);
  *at = a->between;
  status = od_sim_interpolate(a->between, a->search.before, a->sim, t, a->u_after);
  return status == OD_OK ? OD_OK : fail(a, status, OD_ADVANCE_EVALUATION, t, 0);
}

// --- Saved states -------------------------------------------------------------------------------------------------

// The fields of an advance that change during a run.
typedef struct saved_fields {
  double now, before, origin, requested, end, counted;
  double h, proposed, tries_from;  // fields of the step control
  int64_t index, tries;
  int32_t in_step, jumps, pending, located, goes_on, was_rejected;
} saved_fields;

static saved_fields fields_of(const od_advance *a) {
  const od_step_control *c = &a->control;
  return (saved_fields){.now = a->now,
                        .before = a->before,
                        .origin = a->origin,
                        .requested = a->requested,
                        .end = a->end,
                        .counted = a->counted,
                        .h = c->h,
                        .proposed = c->proposed,
                        .tries_from = c->tries_from,
                        .index = a->index,
                        .tries = c->tries,
                        .in_step = a->in_step,
                        .jumps = a->jumps,
                        .pending = (int32_t)a->pending,
                        .located = a->located,
                        .goes_on = a->goes_on,
                        .was_rejected = c->was_rejected};
}

static void set_fields(od_advance *a, const saved_fields *f) {
  od_step_control *c = &a->control;
  a->now = f->now;
  a->before = f->before;
  a->origin = f->origin;
  // A saved advance may not have reached its requested time, so the next request may be as early as `now`. With fixed
  // steps, no earlier time is possible, because there may be no copies of the simulation for an interpolation.
  a->requested = a->adaptive ? fmin(f->requested, f->now) : f->now;
  a->end = fmin(f->end, a->options.end);
  a->counted = f->counted;
  a->index = (long)f->index;
  a->in_step = f->in_step != 0;
  a->jumps = f->jumps != 0;
  a->pending = f->pending == JUMP_PENDING     ? JUMP_PENDING
               : f->pending == SAMPLE_PENDING ? SAMPLE_PENDING
                                              : NOTHING_PENDING;
  a->located = f->located;
  a->goes_on = f->goes_on != 0;
  a->sets = a->sim->sets;
  c->h = f->h;
  c->proposed = f->proposed;
  c->tries_from = f->tries_from;
  c->tries = (long)f->tries;
  c->was_rejected = f->was_rejected != 0;
}

// Returns whether the saved time is within the fixed step of the saved index, and the saved piece ends no later than
// this step. A longer step would pass a requested time.
static bool fits_fixed_steps(const od_advance *a, const saved_fields *f) {
  double index = (double)f->index, slack = 1e-6 + 2e-15 * index;
  double steps = (f->now - f->origin) / a->options.step, end = (f->end - f->origin) / a->options.step;
  return steps >= index - slack && steps <= index + 1 + slack && end <= index + 1 + slack;
}

static bool are_possible(const od_advance *a, const saved_fields *f) {
  if (!a->adaptive && !fits_fixed_steps(a, f)) return false;
  return isfinite(f->now) && isfinite(f->origin) && f->origin <= f->before && f->before <= f->now &&
         f->requested >= f->origin && isfinite(f->requested) && od_saved_is_count(f->index) && f->tries >= 0 &&
         f->tries <= INT_MAX && f->located >= 0 && f->located <= INT_MAX / 2 && f->pending >= NOTHING_PENDING &&
         f->pending <= JUMP_PENDING;
}

void od_advance_transfer(od_advance *a, od_pieces *t) {
  const layout l = lay_out(a->sim, &a->options);
  saved_fields fields = fields_of(a);
  double time = od_sim_saved_time(a->sim, t);
  od_sim_transfer(a->sim, t);
  const void *saved = od_pieces_bytes(t, &fields, sizeof fields);
  if (saved) memcpy(&fields, saved, sizeof fields);
  od_pieces_expect(t, are_possible(a, &fields) && fabs(time - fields.now) <= 1e-6 * (1 + fabs(time)),
                   "a time or count of the advance is out of range");
  if (t->mode == OD_PIECES_RESTORE) set_fields(a, &fields);
  od_pieces_bytes(t, a->u, l.before - l.u);  // inputs, map, and the numbers of the step control
  if (!a->search.before) return;
  od_sim_transfer(a->search.before, t);
  od_pieces_bytes(t, a->search.memory, l.size - l.guards);
}

const od_sim *od_advance_step_begin(const od_advance *a) {
  return a->search.before ? a->search.before : a->sim;
}

static void transfer(void *advance, od_pieces *t) {
  od_advance_transfer(advance, t);
}

bool od_advance_owner(const od_advance *a, od_saved_owner *owner) {
  const double numbers[] = {a->options.step, a->options.tolerance, a->options.longest, a->options.most_steps,
                            a->sim->plain};
  *owner = (od_saved_owner){.kind = OD_SAVED_ADVANCE, .integrator = a->sim->integrator->name};
  owner->options = od_hash_numbers(OD_HASH_START, numbers, sizeof numbers / sizeof *numbers);
  return od_plant_fingerprint(a->plant, &owner->machine, &owner->selection);
}

size_t od_advance_save_size(const od_advance *a) {
  return od_saved_size((od_advance *)a, transfer);
}

od_status od_advance_save(const od_advance *a, void *saved) {
  od_saved_owner owner;
  if (!od_advance_owner(a, &owner)) return OD_NOT_AVAILABLE;
  od_saved_write(&owner, (od_advance *)a, transfer, saved);
  return OD_OK;
}

od_status od_advance_restore(od_advance *a, const void *saved, size_t size, od_error *err) {
  od_saved_owner owner;
  if (!od_advance_owner(a, &owner))
    return od_fail(err, OD_NOT_AVAILABLE,
                   "states of this plant cannot be restored: the plant has no fingerprint; use a plant of a model");
  return od_saved_read(&owner, a, transfer, saved, size, err);
}
