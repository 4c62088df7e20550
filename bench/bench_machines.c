// Machines of cases/ on one core, with the inputs and the duration of their files: bare steps of 1 ms with the trapezoidal rule (processor
// time per step, and ratio of simulated time to processor time), and the run of `oleodyn simulate` as the file has it, with automatic
// steps, the outputs of the file and a verdict.
//
//   bench_machines MACHINE.yaml ...
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "oleodyn/oleodyn.h"
#include "simulate/run.h"

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

// The run of the file.
static int start_run(void *self) {
  (void)self;
  return 0;
}

static int run_file(void *self, int runs) {
  job *j = self;
  const od_run_defaults *file = od_machine_run(j->machine);
  for (int i = 0; i < runs; i++) {
    od_run_options options = od_run_options_of(j->machine, (od_run_wishes){0});
    options.outputs = file->outputs;
    options.output_count = file->output_count;
    od_table *table = NULL;
    od_run_report report = {0};
    const od_status status = od_run(j->machine, &options, &table, &report, NULL);
    od_run_report_free(&report);
    od_table_free(table);
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
  static bench_subject subjects[2 * MAX];
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
    bench_subject *run = &subjects[count + i];
    *run = (bench_subject){.self = &jobs[i], .start = start_run, .advance = run_file, .steps = 1};
    snprintf(run->name, sizeof run->name, "%s, run of the file", short_name(argv[1 + i]));
    run->figure = run->name;
  }
  if (bench_settle(subjects, 2 * count) != 0) return 1;

  printf("Bare steps of 1 ms, trapezoid, and the run of the file with its verdict, one core\n\n");
  printf("%-36s %6s %11s %8s %22s %8s %22s\n", "machine", "states", "us per step", "spread", "faster than real time",
         "spread", "run of the file");
  for (int i = 0; i < count; i++) {
    const bench_subject *s = &subjects[i], *run = &subjects[count + i];
    printf("%-36s %6d %11.2f %6.1f %% %16.0f times %6.1f %% %16.0f times\n", s->name, od_plant_nx(jobs[i].plant),
           1e6 * bench_best(s), 100 * bench_spread(s), step / bench_best(s), 100 * bench_spread(run),
           step * jobs[i].steps / bench_best(run));
    bench_write_figures(s);
    bench_write_figures(run);
  }
  bench_print_method(subjects, 2 * count);
  for (int i = 0; i < count; i++) {
    od_sim_free(jobs[i].sim);
    od_plant_free(jobs[i].plant);
    od_machine_free(jobs[i].machine);
    free(jobs[i].u);
  }
  return 0;
}
