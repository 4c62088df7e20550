// What it costs to know how far off a run is: runs of the cases as `oleodyn simulate` makes them, at 1 ms, with the
// estimate of their error and without it, in turns. Processor time, the least of several runs.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "simulate/run.h"
#include "subject.h"

enum { TURNS = 15 };

static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run_once(const od_machine *m, bool unjudged) {
  const od_run_defaults *file = od_machine_run(m);
  const od_run_options options = {.time = 10,
                                  .step = 1e-3,
                                  .integrator = "trapezoid",
                                  .outputs = file->outputs,
                                  .output_count = file->output_count,
                                  .unjudged = unjudged,
                                  .no_trial = true};
  od_table *table = NULL;
  od_run_report report = {0};
  double begin = processor_seconds();
  od_status status = od_run(m, &options, &table, &report, NULL);
  double seconds = processor_seconds() - begin;
  od_run_report_free(&report);
  od_table_free(table);
  return status == OD_OK ? seconds : (double)NAN;
}

static const char *short_name(const char *path) {
  const char *cases = strstr(path, "cases/");
  return cases ? cases : path;
}

int main(int argc, char **argv) {
  bench_pin();
  printf("The estimate of a run's error: 10 s in steps of 1 ms, trapezoid, every step recorded\n\n");
  printf("%-40s %14s %14s %8s\n", "machine", "without, ms", "with, ms", "more");
  for (int i = 1; i < argc; i++) {
    od_machine *m = NULL;
    od_messages *messages = od_messages_new();
    if (od_machine_load(argv[i], NULL, &m, messages) != OD_OK) return 1;
    double without = INFINITY, with = INFINITY;
    for (int turn = 0; turn < TURNS; turn++) {
      without = fmin(without, run_once(m, true));
      with = fmin(with, run_once(m, false));
    }
    printf("%-40s %14.2f %14.2f %7.1f %%\n", short_name(argv[i]), 1e3 * without, 1e3 * with,
           100 * (with / without - 1));
    od_machine_free(m);
    od_messages_free(messages);
  }
  return 0;
}
