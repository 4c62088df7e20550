// Passes the outputs of every step of a run to the watchers of the run.
#include "simulate/run_watch.h"

#include <string.h>

#include "integrate/sim_block.h"
#include "machine/machine.h"
#include "simulate/run_state.h"

// Creates the plant of some outputs; *plant stays NULL if there are none.
static od_status make_plant(const od_run_state *r, const int *outputs, int count, od_plant **plant, od_error *err) {
  return count > 0 ? od_machine_plant(r->machine, outputs, count, NULL, 0, plant, err) : OD_OK;
}

od_status od_run_begin_watched(od_run_state *r, od_error *err) {
  const od_run_options *o = r->options;
  if (o->watcher_count == 0) return OD_OK;
  r->watched = OD_TAKE(&r->arena, od_watched_run, o->watcher_count);
  r->watched_sim = od_arena_take(&r->arena, od_sim_bytes(r->sim));
  if (!r->watched || !r->watched_sim) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = OD_OK;
  for (int i = 0; i < o->watcher_count && status == OD_OK; i++) {
    od_watched_run *w = &r->watched[i];
    w->watcher = &o->watchers[i];
    int count = w->watcher->output_count > w->watcher->final_count ? w->watcher->output_count : w->watcher->final_count;
    w->y = OD_TAKE(&r->arena, double, count);
    w->record = w->watcher->begin(w->watcher->user);
    if (!w->y || !w->record) return od_fail(err, OD_NO_MEMORY, "out of memory");
    status = make_plant(r, w->watcher->outputs, w->watcher->output_count, &w->steps, err);
    if (status == OD_OK) status = make_plant(r, w->watcher->final_outputs, w->watcher->final_count, &w->final, err);
  }
  return status;
}

// Evaluates the machine at the current point. Returns the simulation at this point, or a copy: the iterations of the next step start
// from the last evaluation, so another evaluation would change the last bits of the run. NULL: the evaluation failed.
static od_sim *evaluate(od_run_state *r, od_status *status) {
  od_sim *at = r->sim;
  if (!at->at_point) {
    memcpy(r->watched_sim, r->sim, od_sim_bytes(r->sim));
    at = r->watched_sim;
  }
  *status = od_sim_refresh(at);
  return *status == OD_OK ? at : NULL;
}

// Computes the outputs of a plant. All plants of a machine have the same layout of the work memory.
static od_status outputs_of(od_sim *at, const od_plant *plant, double *y) {
  return plant ? plant->ops->outputs(plant, od_sim_work(at), od_sim_energy(at), y) : OD_OK;
}

od_status od_run_watch(void *run) {
  od_run_state *r = run;
  od_status status = OD_OK;
  r->watch_is_due = false;
  if (!r->watched) return OD_OK;
  od_sim *at = evaluate(r, &status);
  for (int i = 0; i < r->options->watcher_count && status == OD_OK; i++) {
    const od_watched_run *w = &r->watched[i];
    if (!w->watcher->step) continue;
    status = outputs_of(at, w->steps, w->y);
    if (status == OD_OK) w->watcher->step(w->record, od_sim_time(at), w->y);
  }
  return status;
}

od_status od_run_watch_row(od_run_state *r, od_sim *sim, double t) {
  od_status status = OD_OK;
  for (int i = 0; r->watched && i < r->options->watcher_count && status == OD_OK; i++) {
    const od_watched_run *w = &r->watched[i];
    if (!w->watcher->row) continue;
    status = outputs_of(sim, w->steps, w->y);
    if (status == OD_OK) w->watcher->row(w->record, t, w->y);
  }
  return status;
}

od_status od_run_watch_due(od_run_state *r) {
  return r->watch_is_due ? od_run_watch(r) : OD_OK;
}

od_status od_run_deliver_watched(od_run_state *r) {
  if (!r->watched) return OD_OK;
  od_status status = od_run_watch_due(r);
  od_sim *at = status == OD_OK ? evaluate(r, &status) : NULL;
  for (int i = 0; i < r->options->watcher_count; i++) {
    od_watched_run *w = &r->watched[i];
    if (!w->record) continue;
    if (w->watcher->end && at) {
      od_status computed = outputs_of(at, w->final, w->y);
      if (computed == OD_OK) w->watcher->end(w->record, od_sim_time(at), w->y);
      if (computed != OD_OK) status = computed;
    }
    w->watcher->deliver(w->watcher->user, w->record);
    w->record = NULL;
  }
  return status;
}

void od_run_drop_watched(od_run_state *r) {
  for (int i = 0; r->watched && i < r->options->watcher_count; i++) {
    od_watched_run *w = &r->watched[i];
    if (w->record) w->watcher->drop(w->watcher->user, w->record);
    od_plant_free(w->steps);
    od_plant_free(w->final);
  }
  r->watched = NULL;
}
