// The hydraulic four-bar in oleodyn, through the public API: one degree of freedom, three pressures, a spool.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fourbar_subjects.h"
#include "oleodyn/oleodyn.h"

enum { PARAMETERS = 18, WITH_MASSES = 24, SECONDS = 5 };

typedef struct press {
  od_machine *machine;
  od_plant *plant;
  od_sim *sim;
  double step, *u;  // the command at every step of a run
  double *F, *Gp;   // the transition Jacobian
  int mode, steps, at;
} press;

static int start(void *self) {
  press *m = self;
  m->at = 0;
  return od_sim_start(m->sim, 0, m->u) == OD_OK ? 0 : -1;
}

static od_status one_step(press *m) {
  // An int in the libraries of older commits, a bool now: void * fits both.
  int changed = 0;
  const double *u = &m->u[++m->at];
  const od_status status = m->mode == BENCH_TRAPEZOID
                               ? od_sim_step(m->sim, m->step, u)
                               : od_sim_step_with_jacobians(m->sim, m->step, u, m->F, NULL, NULL, m->Gp);
  return status == OD_OK ? od_sim_repartition(m->sim, NULL, (void *)&changed) : status;
}

static int advance(void *self, int steps) {
  press *m = self;
  od_status status = m->at + steps <= m->steps ? OD_OK : OD_BAD_ARGUMENT;
  for (int i = 0; i < steps && status == OD_OK; i++) status = one_step(m);
  if (status != OD_OK) fprintf(stderr, "oleodyn: %s\n", od_status_text(status));
  return status == OD_OK ? 0 : -1;
}

static void destroy(void *self) {
  press *m = self;
  od_sim_free(m->sim);
  od_plant_free(m->plant);
  od_machine_free(m->machine);
  free(m->u), free(m->F), free(m->Gp);
  free(m);
}

// The oil's two numbers and the inner control points of the four curves; then masses and lengths of the bodies.
static int find_parameters(const od_machine *machine, int *parameter) {
  int count = 0;
  parameter[count++] = od_machine_number_find(machine, "oil.kp");
  parameter[count++] = od_machine_number_find(machine, "oil.k0");
  for (int port = 0; port < 4; port++)
    for (int point = 1; point <= 4; point++) {
      char path[64];
      snprintf(path, sizeof path, "valve.ports.%c.curve.points[%d]", "abcd"[port], point);
      parameter[count++] = od_machine_number_find(machine, path);
    }
  static const char *const body[] = {"crank", "coupler", "rocker"}, *const what[] = {"mass", "length"};
  for (int i = 0; i < 6; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s.beam.%s", body[i % 3], what[i / 3]);
    parameter[count++] = od_machine_number_find(machine, path);
  }
  for (int i = 0; i < count; i++)
    if (parameter[i] < 0) return -1;
  return 0;
}

static int prepare(press *m, const char *file) {
  od_messages *messages = od_messages_new();
  const od_load_options options = {.variant = "6-S1"};
  const od_status loaded = od_machine_load(file, &options, &m->machine, messages);
  if (loaded != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  if (loaded != OD_OK) return -1;
  // Parameters cost memory and, with Jacobian, time; a plain step has none.
  int parameter[WITH_MASSES];
  od_error error = {0};
  if (find_parameters(m->machine, parameter) != 0) return -1;
  const int count = m->mode == BENCH_TRAPEZOID                   ? 0
                    : m->mode == BENCH_TRAPEZOID_JACOBIAN_MASSES ? WITH_MASSES
                                                                 : PARAMETERS;
  if (od_machine_plant(m->machine, NULL, 0, parameter, count, &m->plant, &error) != OD_OK) {
    fprintf(stderr, "oleodyn: %s\n", error.text);
    return -1;
  }
  const size_t nx = (size_t)od_plant_nx(m->plant);
  m->sim = od_sim_new(m->plant);
  m->F = calloc(nx * nx, sizeof *m->F);
  m->Gp = calloc(nx * WITH_MASSES, sizeof *m->Gp);
  m->steps = (int)lround(SECONDS / m->step);
  m->u = calloc((size_t)m->steps + 1, sizeof *m->u);
  if (!m->sim || !m->F || !m->Gp || !m->u || m->plant->nu != 1) return -1;
  for (int i = 0; i <= m->steps; i++) od_machine_inputs(m->machine, i * m->step, &m->u[i]);
  return 0;
}

int bench_hydraulic_new(bench_subject *subject, const char *machine_file, int mode, double step) {
  press *m = calloc(1, sizeof *m);
  if (m == NULL) return -1;
  m->mode = mode, m->step = step;
  if (prepare(m, machine_file) != 0) {
    destroy(m);
    return -1;
  }
  *subject = (bench_subject){
      .step = step, .self = m, .start = start, .advance = advance, .destroy = destroy, .steps = m->steps};
  snprintf(subject->name, sizeof subject->name, "oleodyn hydraulic, trapezoid%s",
           mode == BENCH_TRAPEZOID            ? ""
           : mode == BENCH_TRAPEZOID_JACOBIAN ? ", exact Jacobian"
                                              : ", Jacobian with masses");
  return 0;
}
