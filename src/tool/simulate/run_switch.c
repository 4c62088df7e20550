// Where elements of the machine switch within a step of a run: the step ends there.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/run_state.h"

struct od_run_switch {
  od_sim *before;  // the simulation before the present step
  size_t size;
  int located;  // since the last point of the grid
  double *u, *margin_slope, *f_before, *f_after;
  double memory[];
};

od_run_switch *od_run_switch_new(const od_sim *sim, const od_plant *plant) {
  size_t nx = (size_t)od_plant_nx(plant), nu = (size_t)plant->nu;
  od_run_switch *w = calloc(1, sizeof *w + (3 * nx + nu + 1) * sizeof(double));
  if (!w) return NULL;
  w->size = od_sim_bytes(sim);
  w->before = malloc(w->size);
  w->margin_slope = w->memory;
  w->f_before = w->margin_slope + nx;
  w->f_after = w->f_before + nx;
  w->u = w->f_after + nx;
  if (w->before) return w;
  free(w);
  return NULL;
}

void od_run_switch_free(od_run_switch *w) {
  if (!w) return;
  free(w->before);
  free(w);
}

void od_run_switch_begin_step(od_run_state *r, bool at_grid) {
  if (!r->modes) return;
  memcpy(r->modes->before, r->sim, r->modes->size);
  if (at_grid) r->modes->located = 0;
}

static void inputs_at(void *user, double t, double *u) {
  const od_run_state *r = user;
  od_machine_inputs(r->machine, t, u);
}

od_status od_run_switch_end_step(od_run_state *r, double h, double *taken, double *rate) {
  od_run_switch *w = r->modes;
  *taken = h;
  *rate = 0;
  if (!w || w->located >= OD_MOST_SWITCHES) return OD_OK;
  const od_switch_search q = {.before = w->before, .u_end = r->u, .inputs = inputs_at, .user = r, .u = w->u};
  od_status status = od_sim_find_switch(r->sim, &q, h, taken, rate);
  w->located += *rate < 0;
  return status;
}

// What an error of the state before the switch is after it. An error e moves the switch by -(m e)/rate in time, m the slope of the
// margin; in that time the state goes on with its rates f before instead of those after:
//   map e + (f_after - map f_before) (m e) / rate
static void add_delay(const od_run_switch *w, double rate, int nx, double *map) {
  for (int i = 0; i < nx; i++) {
    double change = w->f_after[i];
    for (int j = 0; j < nx; j++) change -= map[i * nx + j] * w->f_before[j];
    for (int j = 0; j < nx; j++) map[i * nx + j] += change * w->margin_slope[j] / rate;
  }
}

od_status od_run_switch_take(od_run_state *r, double rate, double *map, bool *changed) {
  od_run_switch *w = r->modes;
  bool delays = map && rate < 0;
  double margin;
  od_status status = delays ? od_sim_margin(r->sim, &margin, w->margin_slope) : OD_OK;
  if (status == OD_OK && delays) status = od_sim_derivatives(r->sim, w->f_before, NULL, NULL, NULL);
  if (status == OD_OK) status = od_sim_sample(r->sim, map, NULL, changed);
  if (status != OD_OK || !delays || !*changed) return status;
  status = od_sim_derivatives(r->sim, w->f_after, NULL, NULL, NULL);
  if (status == OD_OK) add_delay(w, rate, od_plant_nx(r->plant), map);
  return status;
}
