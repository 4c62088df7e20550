// The freely swinging four-bar in oleodyn, through the public API.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fourbar_subjects.h"
#include "oleodyn/oleodyn.h"

typedef struct swing {
  od_machine *machine;
  od_plant *plant;
  od_sim *sim;
  double step, *F;  // the transition Jacobian
  int mode;
} swing;

static int start(void *self) {
  swing *s = self;
  return od_sim_start(s->sim, 0, NULL) == OD_OK ? 0 : -1;
}

// A step as in `simulate`: with the check whether the coordinates are still valid.
static od_status one_step(swing *s) {
  // An int in the libraries of older commits, a bool now: void * fits both.
  int changed = 0;
  od_status status;
  if (s->mode == BENCH_TRAPEZOID_JACOBIAN)
    status = od_sim_step_with_jacobians(s->sim, s->step, NULL, s->F, NULL, NULL, NULL);
  else
    status = od_sim_step(s->sim, s->step, NULL);
  return status == OD_OK ? od_sim_repartition(s->sim, NULL, (void *)&changed) : status;
}

static int advance(void *self, int steps) {
  swing *s = self;
  od_status status = OD_OK;
  for (int i = 0; i < steps && status == OD_OK; i++) status = one_step(s);
  if (status != OD_OK) fprintf(stderr, "oleodyn: %s\n", od_status_text(status));
  return status == OD_OK ? 0 : -1;
}

static void ends(void *self, double xy[4]) {
  swing *s = self;
  if (od_sim_outputs(s->sim, xy) != OD_OK) xy[0] = xy[2] = NAN;
}

static void destroy(void *self) {
  swing *s = self;
  od_sim_free(s->sim);
  od_plant_free(s->plant);
  od_machine_free(s->machine);
  free(s->F);
  free(s);
}

int bench_oleodyn_new(bench_subject *subject, const char *machine_file, int mode, double step) {
  swing *s = calloc(1, sizeof *s);
  if (s == NULL) return -1;
  s->mode = mode, s->step = step;

  od_messages *messages = od_messages_new();
  const od_status loaded = od_machine_load(machine_file, NULL, &s->machine, messages);
  if (loaded != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  if (loaded != OD_OK) {
    free(s);
    return -1;
  }

  od_error error = {0};
  static const char *const wanted[4] = {"coupler.start.x", "coupler.start.y", "coupler.end.x", "coupler.end.y"};
  int outputs[4];
  for (int i = 0; i < 4; i++) outputs[i] = od_machine_output_find(s->machine, wanted[i]);
  if (od_machine_plant(s->machine, outputs, 4, NULL, 0, &s->plant, &error) != OD_OK) {
    fprintf(stderr, "oleodyn: %s\n", error.text);
    od_machine_free(s->machine);
    free(s);
    return -1;
  }
  const size_t nx = (size_t)od_plant_nx(s->plant);
  s->sim = od_sim_new(s->plant);
  s->F = calloc(nx * nx, sizeof *s->F);
  if (s->sim && mode == BENCH_OLEODYN_RK4) od_sim_set_integrator(s->sim, od_integrator_find("rk4"));

  static const char *const names[] = {"trapezoid", "trapezoid, exact Jacobian", "RK4"};
  *subject =
      (bench_subject){.step = step, .self = s, .start = start, .advance = advance, .ends = ends, .destroy = destroy};
  snprintf(subject->name, sizeof subject->name, "oleodyn %s", names[mode]);
  if (s->sim == NULL || s->F == NULL) {
    destroy(s);
    return -1;
  }
  return 0;
}
