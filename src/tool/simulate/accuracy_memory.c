// The memory of an estimate of accuracy.
#include <math.h>
#include <stdlib.h>

#include "simulate/accuracy_state.h"

static size_t doubles_needed(const od_plant *plant) {
  size_t nx = (size_t)od_plant_nx(plant), nu = (size_t)plant->nu, ny = (size_t)plant->ny;
  return nx * (8 + 3 * OD_LONGEST_WINDOW) + nu * (1 + OD_LONGEST_WINDOW) + 2 * nx * nu +
         nx * nx * (4 + OD_FLOW_LENGTHS + OD_DEEPEST_SPLIT) + 2 * OD_LONGEST_WINDOW + 5 * ny;
}

static double *take(double **next, int count) {
  double *here = *next;
  *next += count;
  return here;
}

static void lay_out(od_accuracy *a, double *next) {
  int nx = a->nx, nu = a->nu, ny = a->ny;
  od_window *w = &a->window;
  a->e = take(&next, nx);
  a->level = take(&next, nx);
  a->rate_size = take(&next, nx);
  w->x = take(&next, nx);
  w->f = take(&next, nx);
  a->f_end = take(&next, nx);
  a->scratch = take(&next, nx);
  a->difference = take(&next, nx);
  w->before = take(&next, OD_LONGEST_WINDOW * nx);
  w->after = take(&next, OD_LONGEST_WINDOW * nx);
  w->h = take(&next, OD_LONGEST_WINDOW);
  w->t = take(&next, OD_LONGEST_WINDOW);
  w->x_end = take(&next, OD_LONGEST_WINDOW * nx);
  w->u_end = take(&next, OD_LONGEST_WINDOW * nu);
  for (int i = 0; i < OD_DEEPEST_SPLIT; i++) a->J_inside[i] = take(&next, nx * nx);
  w->u = take(&next, nu);
  w->Ju = take(&next, nx * nu);
  a->Ju_end = take(&next, nx * nu);
  w->J = take(&next, nx * nx);
  a->J_end = take(&next, nx * nx);
  a->mean = take(&next, nx * nx);
  a->M = take(&next, nx * nx);
  for (int i = 0; i < OD_FLOW_LENGTHS; i++) a->kept[i].inverse = take(&next, nx * nx);
  a->y_shadow = take(&next, ny);
  a->low = take(&next, ny);
  a->high = take(&next, ny);
  a->error = take(&next, ny);
  a->at = take(&next, ny);
}

od_accuracy *od_accuracy_new(const od_plant *plant, od_sim *sim, int judged) {
  od_accuracy *a = calloc(1, sizeof *a + doubles_needed(plant) * sizeof(double));
  if (!a) return NULL;
  a->plant = plant;
  a->sim = sim;
  a->integrator = od_sim_integrator(sim);
  a->nx = od_plant_nx(plant);
  a->nu = plant->nu;
  a->ny = plant->ny;
  a->judged = judged;
  lay_out(a, a->memory);
  for (int i = 0; i < a->ny; i++) a->low[i] = INFINITY, a->high[i] = -INFINITY;
  a->jumped = true;
  a->stable_step = INFINITY;
  a->pivot = calloc((size_t)a->nx + 1, sizeof *a->pivot);
  a->shadow = od_sim_new(plant);
  if (a->integrator->amplification) a->stability = od_stability_new(a->nx, a->integrator->amplification);
  if (a->pivot && a->shadow && (a->stability || !a->integrator->amplification)) return a;
  od_accuracy_free(a);
  return NULL;
}

void od_accuracy_free(od_accuracy *a) {
  if (!a) return;
  od_sim_free(a->shadow);
  od_stability_free(a->stability);
  free(a->pivot);
  free(a);
}
