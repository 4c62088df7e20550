// Cost of error control and error estimation: default runs of machine files with their verdict, compared with runs in fixed steps of
// 1 ms without a verdict, in turns. The errors are those that the runs report; the fixed run is repeated with its verdict for this.
//
//   bench_accuracy MACHINE.yaml ...
#include <stdio.h>
#include <string.h>

#include "measure.h"
#include "simulate/run.h"

enum { MAX = 32 };

typedef struct job {
  od_machine *machine;
  bool fixed;    // in steps of 1 ms
  bool judged;   // with a verdict
  double error;  // of a run with a verdict, relative to the range of the worst output
  bool sound;
} job;

static int start(void *self) {
  (void)self;
  return 0;
}

static int run_once(job *j) {
  const od_run_defaults *file = od_machine_run(j->machine);
  od_run_options options = od_run_options_of(j->machine, (od_run_wishes){.step = j->fixed ? 1e-3 : 0});
  if (j->fixed) options.integrator = "trapezoid";
  options.outputs = file->outputs;
  options.output_count = file->output_count;
  options.unjudged = !j->judged;
  od_table *table = NULL;
  od_run_report report = {0};
  const od_status status = od_run(j->machine, &options, &table, &report, NULL);
  const od_run_accuracy *a = &report.accuracy;
  j->error = a->error && a->worst >= 0 ? a->error[a->worst].part : 0;
  j->sound = report.verdict.trust == OD_SOUND;
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
    jobs[i] = (job){.machine = i % 2 ? jobs[i - 1].machine : load(path), .fixed = i % 2 == 0, .judged = i % 2 == 1};
    if (jobs[i].machine == NULL) return 1;
    subjects[i] = (bench_subject){.self = &jobs[i], .start = start, .advance = advance, .steps = 1};
    snprintf(subjects[i].name, sizeof subjects[i].name, "%s%s", short_name(path), i % 2 ? ", default" : "");
    subjects[i].figure = subjects[i].name;
  }
  if (bench_settle(subjects, count) != 0) return 1;

  printf("The default run with its verdict, compared with fixed steps of 1 ms without a verdict\n\n");
  printf("%-40s %10s %8s %9s %12s %8s %9s %7s\n", "machine", "fixed, ms", "spread", "error", "default, ms", "spread",
         "error", "ratio");
  for (int i = 0; i < count; i += 2) {
    const bench_subject *without = &subjects[i], *with = &subjects[i + 1];
    jobs[i].judged = true;
    if (run_once(&jobs[i]) != 0) return 1;
    printf("%-40s %10.2f %6.1f %% %7.3f %% %12.2f %6.1f %% %7.3f %% %7.1f%s\n", without->name,
           1e3 * bench_best(without), 100 * bench_spread(without), 100 * jobs[i].error, 1e3 * bench_best(with),
           100 * bench_spread(with), 100 * jobs[i + 1].error, bench_best(with) / bench_best(without),
           jobs[i + 1].sound ? "" : ", not sound");
    bench_write_figures(without);
    bench_write_figures(with);
    od_machine_free(jobs[i].machine);
  }
  bench_print_method(subjects, count);
  return 0;
}
