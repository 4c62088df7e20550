#include "report/observe_views.h"

#include <math.h>

#include "base/allocate.h"
#include "logs/log.h"
#include "experiment/true_motion.h"
#include "memory/owned.h"
#include "oleodyn/sim.h"
#include "report/estimated_outputs.h"
#include "report/page.h"
#include "report/pose_spread.h"

struct od_observe_views {
  const od_experiment *e;
  od_run_views *estimate;
  od_pose_spread *spread;  // spread of the estimated positions; NULL: nothing is drawn
  od_plant *plant;         // the model with the outputs of the pictures; NULL: no outputs
  double *y;
  od_status status;
  od_arena arena;
};

od_observe_views *od_observe_views_new(const od_experiment *e) {
  OD_OWNED(od_observe_views_free) od_observe_views *v = od_calloc(1, sizeof *v);
  if (!v) return NULL;
  v->e = e;
  double rows = e->log ? (double)e->log->rows : e->time / e->step;
  // The true machine has a similar number of series, typically 60. Charts show up to four series of an output and three of a parameter.
  int others = (e->truth ? 60 : 0) + 4 * e->watches + 3 * e->parameters;
  v->estimate = od_run_views_new(e->model, rows * e->step, e->step, NULL, "estimate", others);
  if (!v->estimate) return NULL;
  v->y = OD_TAKE(&v->arena, double, v->estimate->outputs);
  v->estimate->frames = od_run_views_frames(v->estimate);
  if (!v->y || !v->estimate->frames) return NULL;
  if (od_machine_plant(e->model, v->estimate->output, v->estimate->outputs, NULL, 0, &v->plant, NULL) != OD_OK)
    return NULL;
  const od_run_views *shown = v->estimate;
  if (!shown->scene) return OD_GIVE(v);
  v->spread = od_pose_spread_new(e->model, shown->output, shown->bound, shown->interval, 2 * shown->intervals + 2,
                                 od_scene_size(shown->scene));
  return v->spread ? OD_GIVE(v) : NULL;
}

void od_observe_views_free(od_observe_views *v) {
  if (!v) return;
  od_pose_spread_free(v->spread);
  od_plant_free(v->plant);
  od_run_views_free(v->estimate);
  od_arena_free(&v->arena);
  od_free(v);
}

void od_observe_views_take(od_observe_views *v, const od_sample *sample, od_observer *observer) {
  if (v->status != OD_OK) return;
  // A state whose outputs cannot be computed is not shown.
  if (od_estimated_outputs(v->plant, od_observer_sim(observer), v->y) == OD_OK)
    v->status = od_frames_append(v->estimate->frames, sample->t, v->y);
  if (v->status == OD_OK && v->spread) v->status = od_pose_spread_take(v->spread, sample->t, observer);
}

// --- The page ---------------------------------------------------------------------------------------------------------

// Simulates the true machine and records its outputs in the intervals of the estimate. If a step fails, the record ends before this
// step. NULL: the simulation cannot start, or out of memory.
static od_run_views *simulate_truth(const od_experiment *e, const od_run_views *estimate) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_run_views_free) od_run_views *v = od_run_views_new(e->truth, e->time, e->step, NULL, "truth", 0);
  OD_OWNED(od_true_motion_free) od_true_motion *motion = NULL;
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  if (!v || od_true_motion_new(e, &motion, NULL) != OD_OK) return NULL;
  v->interval = estimate->interval;
  v->intervals = estimate->intervals;
  v->frames = od_run_views_frames(v);
  double *y = OD_TAKE(&scratch, double, v->outputs);
  if (!v->frames || !y || od_machine_plant(e->truth, v->output, v->outputs, NULL, 0, &plant, NULL) != OD_OK)
    return NULL;
  for (;;) {
    od_motion_sample sample;
    bool more = true;
    od_error err = {0};
    if (od_true_motion_next(motion, &sample, &more, &err) != OD_OK || !more) break;
    if (od_estimated_outputs(plant, od_true_motion_sim(motion), y) != OD_OK) break;
    if (od_frames_append(v->frames, sample.t, y) != OD_OK) return NULL;
  }
  return od_frames_finish(v->frames) == OD_OK ? OD_GIVE(v) : NULL;
}

static json_t *machine_json(const char *label, const char *of) {
  return json_pack("{s:s, s:s}", "label", label, "of", of);
}

void od_observe_views_draw(const od_observe_views *v, od_page *p) {
  od_run_views *estimate = v->estimate;
  od_page_require(p, v->status == OD_OK && od_frames_finish(estimate->frames) == OD_OK);
  if (od_frames_column(estimate->frames, 0).count == 0) return;
  json_t *machines = json_array();
  json_array_append_new(machines, machine_json("estimate", "estimate"));
  od_run_views_draw(estimate, p, 0);
  if (v->spread) od_pose_spread_add_series(v->spread, p);
  OD_OWNED(od_run_views_free) od_run_views *truth = v->e->truth ? simulate_truth(v->e, estimate) : NULL;
  if (truth && od_frames_column(truth->frames, 0).count > 0) {
    json_array_append_new(machines, machine_json("true machine", "truth"));
    od_run_views_add_series(truth, p);
  }
  od_page_data_set(od_page_get_data(p), "machines", machines);
}
