// Machines of cases/ at 1 ms with the trapezoidal rule on one core: processor time per step, and ratio of simulated time to
// processor time. Each machine runs with the inputs and the duration of its file.
//
//   bench_machines MACHINE.yaml ...
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "oleodyn/oleodyn.h"

enum { MAX = 16 };
static const double step = 1e-3;

typedef struct job {
  od_machine *machine;
  od_plant *plant;
  od_sim *sim;
  double *u;  // the inputs at every step
  int steps, at;
} job;

static int start(void *self) {
  job *j = self;
  j->at = 0;
  return od_sim_start(j->sim, 0, j->u) == OD_OK ? 0 : -1;
}

static int advance(void *self, int steps) {
  job *j = self;
  bool changed;
  for (int i = 0; i < steps; i++) {
    od_status status = j->at++ < j->steps ? od_sim_step(j->sim, step, j->u + j->at * j->plant->nu) : OD_BAD_ARGUMENT;
    if (status == OD_OK) status = od_sim_repartition(j->sim, NULL, &changed);
    if (status != OD_OK) return fprintf(stderr, "%s\n", od_status_text(status)), -1;
  }
  return 0;
}

static int prepare(job *j, const char *path) {
  od_messages *messages = od_messages_new();
  if (od_machine_load(path, NULL, &j->machine, messages) != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  if (!j->machine || od_machine_plant(j->machine, NULL, 0, NULL, 0, &j->plant, NULL) != OD_OK) return -1;
  j->steps = (int)lround(od_machine_run(j->machine)->time / step);
  j->sim = od_sim_new(j->plant);
  const size_t nu = (size_t)j->plant->nu;
  j->u = calloc(((size_t)j->steps + 1) * nu + 1, sizeof *j->u);
  if (!j->sim || !j->u) return -1;
  for (int i = 0; i <= j->steps; i++) od_machine_inputs(j->machine, i * step, j->u + (size_t)i * nu);
  return 0;
}

static const char *short_name(const char *path) {
  const char *cases = strstr(path, "cases/");
  return cases ? cases : path;
}

int main(int argc, char **argv) {
  static job jobs[MAX];
  static bench_subject subjects[MAX];
  if (argc < 2 || argc > 1 + MAX) return fprintf(stderr, "usage: bench_machines MACHINE.yaml ...\n"), 2;
  if (!bench_wants_times()) return 0;
  bench_pin();
  const int count = argc - 1;
  for (int i = 0; i < count; i++) {
    if (prepare(&jobs[i], argv[1 + i]) != 0) return 1;
    subjects[i] =
        (bench_subject){.step = step, .self = &jobs[i], .start = start, .advance = advance, .steps = jobs[i].steps};
    snprintf(subjects[i].name, sizeof subjects[i].name, "%s", short_name(argv[1 + i]));
    subjects[i].figure = subjects[i].name;
  }
  if (bench_settle(subjects, count) != 0) return 1;

  printf("Machines in steps of 1 ms, trapezoid, one core\n\n");
  printf("%-40s %8s %12s %8s %24s\n", "machine", "states", "us per step", "spread", "faster than real time");
  for (int i = 0; i < count; i++) {
    const bench_subject *s = &subjects[i];
    printf("%-40s %8d %12.2f %6.1f %% %18.0f times\n", s->name, od_plant_nx(jobs[i].plant), 1e6 * bench_best(s),
           100 * bench_spread(s), step / bench_best(s));
    bench_write_figures(s);
  }
  bench_print_method(subjects, count);
  for (int i = 0; i < count; i++) {
    od_sim_free(jobs[i].sim);
    od_plant_free(jobs[i].plant);
    od_machine_free(jobs[i].machine);
    free(jobs[i].u);
  }
  return 0;
}
