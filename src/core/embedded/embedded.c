// Runs of simulated machines and of observers that are described by constant data (od_embedded). All memory is taken
// from one arena over the caller's memory: this struct, the plants, then the block of the simulation or observer.
#include "oleodyn/embedded.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/parts.h"
#include "embedded/embedded_parts.h"
#include "model/model_parts.h"
#include "integrate/sim_block.h"
#include "observe/observer_block.h"
#include "oleodyn/advance.h"

struct od_embedded_run {
  const od_embedded *d;
  const od_plant *plant;
  size_t used;
  bool is_started;
  long steps;        // complete periods since the start
  double from, to;   // current period, s
  double *u, *next;  // inputs at the beginning and at the end of the period
  double *y;         // values of the sensors
  od_sim *sim;
  od_observer *observer;  // NULL: the machine is simulated
  od_advance *advance;    // NULL: the machine is observed
  void *advance_memory;
};

// Whether a run contains an observer. A build for simulations contains no observer, and vice versa (base/parts.h); in
// such a build the condition is constant, and the compiler removes calls of functions that the build does not contain.
#define OBSERVES(run) (OD_WITH_OBSERVER && (!OD_WITH_SIMULATION || (run)->d->observer))

// ---- creation

// Computes the inputs at time t, which are linear within a period.
static void inputs_at(const void *user, double t, double *u) {
  const od_embedded_run *r = user;
  double part = r->to > r->from ? (t - r->from) / (r->to - r->from) : 1;
  for (int i = 0; i < r->plant->nu; i++) u[i] = part == 1 ? r->next[i] : r->u[i] + part * (r->next[i] - r->u[i]);
}
static od_advance_options advance_options(const od_embedded_run *r) {
  return (od_advance_options){.step = r->d->period, .inputs = {.user = r, .inputs = inputs_at}};
}

// Creates the observer, or the simulation and the memory of its advance. Fails with OD_NOT_AVAILABLE, with
// OD_BAD_ARGUMENT if the options of the observer are invalid, or with OD_NO_MEMORY.
static od_status make_blocks(od_arena *arena, od_embedded_run *r) {
  if (!(r->d->observer ? OD_WITH_OBSERVER : OD_WITH_SIMULATION)) return OD_NOT_AVAILABLE;
  if (OBSERVES(r)) {
    const od_observer_options options = od_embedded_observer_options(r->d);
    if (od_observer_check(&options, NULL) != OD_OK) return OD_BAD_ARGUMENT;
    r->observer = od_observer_init(od_arena_take(arena, od_observer_size(r->plant, &options)), r->plant, &options);
    if (r->observer) r->sim = od_observer_sim(r->observer);
  } else if (OD_WITH_SIMULATION) {
    r->sim = od_sim_plain_init(od_arena_take(arena, od_sim_plain_size(r->plant)), r->plant);
    if (!r->sim) return OD_NO_MEMORY;
    od_sim_set_integrator(r->sim, r->d->integrator);
    const od_advance_options options = advance_options(r);
    r->advance_memory = od_arena_take(arena, od_advance_size(r->sim, &options));
  }
  return od_arena_status(arena);
}

od_status od_embedded_init(const od_embedded *d, void *memory, size_t size, od_embedded_run **run) {
  *run = NULL;
  od_status status = od_model_check_parts(d->model, NULL);
  if (status != OD_OK) return status;
  od_arena arena = od_arena_over(memory, size);
  od_embedded_run *r = OD_TAKE(&arena, od_embedded_run, 1);
  if (!r) return OD_NO_MEMORY;
  r->d = d;
  od_plant *plant = NULL;
  status = od_embedded_make_plant(&arena, d, &plant);
  if (status != OD_OK) return status;
  r->plant = plant;
  r->u = OD_TAKE(&arena, double, plant->nu);
  r->next = OD_TAKE(&arena, double, plant->nu);
  r->y = OD_TAKE(&arena, double, plant->ny);
  status = make_blocks(&arena, r);
  if (status != OD_OK) return status;
  r->used = od_arena_used(&arena);
  *run = r;
  return OD_OK;
}

size_t od_embedded_used(const od_embedded_run *r) {
  return r->used;
}

// ---- steps

// Returns the values for the correction of the observer: NAN for values at or beyond an end of their range, and for
// outputs that are not sensors.
static const double *usable(od_embedded_run *r, const double *y) {
  const od_embedded_observer *o = r->d->observer;
  for (int i = 0; i < r->plant->ny; i++) {
    bool at_end = i < o->sensors && o->low[i] < o->high[i] && (y[i] <= o->low[i] || y[i] >= o->high[i]);
    r->y[i] = i < o->sensors && !at_end ? y[i] : (double)NAN;
  }
  return r->y;
}

static od_status start(od_embedded_run *r) {
  r->steps = 0;
  r->from = r->to = 0;
  if (!OBSERVES(r)) {
    od_status status = od_sim_start(r->sim, 0, r->next);
    const od_advance_options options = advance_options(r);
    if (status == OD_OK && OD_WITH_SIMULATION) r->advance = od_advance_init(r->advance_memory, r->sim, &options);
    return status;
  }
  return od_embedded_start_observer(r->d, r->observer, r->next);
}

static od_status advance(od_embedded_run *r) {
  r->from = r->to;
  r->to = (double)(r->steps + 1) * r->d->period;
  if (OBSERVES(r)) {
    // In single precision, the round-off of a time of some hours is as long as a period. Exports in single precision contain no
    // samples, so only differences of times matter.
    if (sizeof(double) < 8) od_sim_reset_time(r->sim);
    return od_embedded_predict(r->d, r->observer, r->next);
  }
  return OD_WITH_SIMULATION ? od_sim_advance(r->advance, r->to, NULL) : OD_NOT_AVAILABLE;
}

od_status od_embedded_step(od_embedded_run *r, const double *u, const double *y) {
  bool first = !r->is_started;
  for (int i = 0; i < r->plant->nu; i++) r->next[i] = u[i];
  od_status status = first ? start(r) : advance(r);
  if (status == OD_OK && OBSERVES(r)) status = od_observer_correct(r->observer, usable(r, y));
  if (status != OD_OK) return status;
  r->is_started = true;
  r->steps += !first;
  for (int i = 0; i < r->plant->nu; i++) r->u[i] = u[i];
  return OD_OK;
}

void od_embedded_restart(od_embedded_run *r) {
  r->is_started = false;
}

// ---- results

double od_embedded_time(const od_embedded_run *r) {
  return (double)r->steps * r->d->period;
}

od_status od_embedded_outputs(od_embedded_run *r, double *y, double *sigma) {
  if (!r->is_started) return OD_BAD_ARGUMENT;
  return OBSERVES(r) ? od_observer_outputs(r->observer, y, sigma) : od_sim_outputs(r->sim, y);
}

void od_embedded_parameters(od_embedded_run *r, double *p, double *sigma) {
  if (r->plant->np) od_sim_parameters(r->sim, p);
  for (int i = 0; i < r->plant->np; i++) {
    if (OBSERVES(r)) p[i] = od_observer_parameters(r->observer)[i];
    if (sigma) sigma[i] = OBSERVES(r) ? od_observer_parameter_sigma(r->observer, i) : 0;
  }
}

od_status od_embedded_set_parameters(od_embedded_run *r, const double *p) {
  return OBSERVES(r) ? OD_BAD_ARGUMENT : od_sim_set_parameters(r->sim, p);
}

double od_embedded_nis(const od_embedded_run *r, int *dimension) {
  *dimension = 0;
  return OBSERVES(r) ? od_observer_nis(r->observer, dimension) : 0;
}

od_sim *od_embedded_sim(od_embedded_run *r) {
  return r->sim;
}
od_observer *od_embedded_get_observer(od_embedded_run *r) {
  return r->observer;
}

const od_plant *od_embedded_plant(const od_embedded_run *r) {
  return r->plant;
}
