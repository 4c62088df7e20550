// What it costs to know how far off a run is: runs of the cases as `oleodyn simulate` makes them, at 1 ms, with the
// estimate of their error and without it, in turns.
//
//   bench_accuracy MACHINE.yaml ...
#include <stdio.h>
#include <string.h>

#include "measure.h"
#include "simulate/run.h"

enum { MAX = 32 };

typedef struct job {
  od_machine *machine;
  bool unjudged;
} job;

static int start(void *self) {
  (void)self;
  return 0;
}

static int run_once(const job *j) {
  const od_run_defaults *file = od_machine_run(j->machine);
  const od_run_options options = {.time = 10,
                                  .step = 1e-3,
                                  .integrator = "trapezoid",
                                  .outputs = file->outputs,
                                  .output_count = file->output_count,
                                  .unjudged = j->unjudged};
  od_table *table = NULL;
  od_run_report report = {0};
  const od_status status = od_run(j->machine, &options, &table, &report, NULL);
  od_run_report_free(&report);
  od_table_free(table);
  return status == OD_OK ? 0 : -1;
}

static int advance(void *self, int runs) {
  for (int i = 0; i < runs; i++)
    if (run_once(self) != 0) return -1;
  return 0;
}

static const char *short_name(const char *path) {
  const char *cases = strstr(path, "cases/");
  return cases ? cases : path;
}

static od_machine *load(const char *path) {
  od_machine *m = NULL;
  od_messages *messages = od_messages_new();
  if (od_machine_load(path, NULL, &m, messages) != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  return m;
}

int main(int argc, char **argv) {
  static job jobs[2 * MAX];
  static bench_subject subjects[2 * MAX];
  if (!bench_wants_times()) return 0;
  if (argc > 1 + MAX) return 2;
  bench_pin();
  const int count = 2 * (argc - 1);
  for (int i = 0; i < count; i++) {
    const char *path = argv[1 + i / 2];
    jobs[i] = (job){.machine = i % 2 ? jobs[i - 1].machine : load(path), .unjudged = i % 2 == 0};
    if (jobs[i].machine == NULL) return 1;
    subjects[i] = (bench_subject){.self = &jobs[i], .start = start, .advance = advance, .steps = 1};
    snprintf(subjects[i].name, sizeof subjects[i].name, "%s%s", short_name(path), i % 2 ? ", judged" : "");
    subjects[i].figure = subjects[i].name;
  }
  if (bench_settle(subjects, count) != 0) return 1;

  printf("The estimate of a run's error: 10 s in steps of 1 ms, trapezoid, every step recorded\n\n");
  printf("%-40s %14s %8s %14s %8s %8s\n", "machine", "without, ms", "spread", "with, ms", "spread", "more");
  for (int i = 0; i < count; i += 2) {
    const bench_subject *without = &subjects[i], *with = &subjects[i + 1];
    printf("%-40s %14.2f %6.1f %% %14.2f %6.1f %% %7.1f %%\n", without->name, 1e3 * bench_best(without),
           100 * bench_spread(without), 1e3 * bench_best(with), 100 * bench_spread(with),
           100 * (bench_best(with) / bench_best(without) - 1));
    bench_write_figures(without);
    bench_write_figures(with);
    od_machine_free(jobs[i].machine);
  }
  bench_print_method(subjects, count);
  return 0;
}
