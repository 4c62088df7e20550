// Observing long logs: memory and processor time per row, from the difference between a shorter log and a longer one of the same experiment.
// Usage: bench_log EXPERIMENT [--variant NAME] [--rows N]
//
// The log comes from the experiment's true machine with its sensors' noise. The log is observed twice, as in the program, which checks whether
// the result depends on the start. The time of the filter is listed separately. For this the program reads the processor time twice per step,
// which is a system call; the cost of the readings is measured and subtracted. Times are the least of three runs.
#define _DEFAULT_SOURCE  // wait4

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/observe.h"
#include "io/clock.h"
#include "io/csv_writer.h"
#include "measure.h"

typedef struct subject {
  const char *experiment, *variant;
} subject;

// Cost of a run.
typedef struct need {
  double bytes, seconds;  // memory; processor time
  double filter;          // part of the filter, s
} need;

static od_experiment *load(const char *path, const od_experiment_options *options) {
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  if (!messages || od_experiment_load(path, options, &e, messages) != OD_OK) {
    if (messages) od_messages_print(messages, stderr, false);
    e = NULL;
  }
  od_messages_free(messages);
  return e;
}

// Names of the columns: time, sensors, inputs.
static od_table *name_columns(const od_experiment *e) {
  int inputs = od_machine_input_count(e->model);
  od_table *t = od_table_new(1 + e->sensors + inputs);
  bool ok = t && od_table_label(t, 0, "time", "s") == OD_OK;
  for (int i = 0; ok && i < e->sensors; i++)
    ok = od_table_label(t, 1 + i, e->sensor[i].name, e->sensor[i].unit) == OD_OK;
  for (int i = 0; ok && i < inputs; i++)
    ok = od_table_label(t, 1 + e->sensors + i, od_machine_input_name(e->model, i),
                        od_machine_input_unit(e->model, i)) == OD_OK;
  if (ok) return t;
  od_table_free(t);
  return NULL;
}

static od_status write_rows(const od_experiment *e, const od_table *head, od_csv_writer *to, long rows, od_error *err) {
  int inputs = od_machine_input_count(e->model);
  od_sample_source source = {0};
  double *row = calloc((size_t)head->columns, sizeof *row);
  od_status status = row ? od_sample_source_simulated(e, &source, err) : OD_NO_MEMORY;
  for (long k = 0; k < rows && status == OD_OK; k++) {
    od_sample sample;
    bool more = true;
    status = source.next(source.self, &sample, &more, err);
    if (status != OD_OK || !more) break;
    row[0] = sample.t;
    memcpy(row + 1, sample.y, (size_t)e->sensors * sizeof *row);
    memcpy(row + 1 + e->sensors, sample.u, (size_t)inputs * sizeof *row);
    od_csv_writer_row(to, row);
  }
  od_sample_source_free(&source);
  free(row);
  return status;
}

static bool write_log(const subject *s, const char *path, long rows) {
  od_experiment *e = load(s->experiment, &(od_experiment_options){.variant = s->variant});
  if (!e) return false;
  e->time = (double)rows * e->step;
  od_error err = {0};
  od_table *head = name_columns(e);
  od_csv_writer *to = NULL;
  od_status status = head ? od_csv_writer_open(path, head, &to, &err) : OD_NO_MEMORY;
  if (status == OD_OK) status = write_rows(e, head, to, rows, &err);
  if (status == OD_OK)
    status = od_csv_writer_commit(to, &err);
  else
    od_csv_writer_discard(to);
  if (status != OD_OK) fprintf(stderr, "bench_log: %s\n", err.text);
  od_table_free(head);
  od_experiment_free(e);
  return status == OD_OK;
}

// Runs in a separate process; writes the filter's time to `to`.
static void observe(const subject *s, const char *log, int to) {
  const od_observe_options options[2] = {{.processor_time = true, .keep = OD_ROWS_LAST},
                                         {.processor_time = true, .no_table = true}};
  od_experiment *e = load(s->experiment, &(od_experiment_options){.variant = s->variant, .data = log});
  od_error err = {0};
  bool ok = e != NULL;
  double filter = 0;
  for (int i = 0; i < 2 && ok; i++) {
    od_observed *o = NULL;
    ok = od_observe(e, &options[i], &o, &err) == OD_OK;
    if (ok) filter += o->seconds;
    od_observed_free(o);
  }
  if (!ok && e) fprintf(stderr, "bench_log: %s\n", err.text);
  ok = ok && write(to, &filter, sizeof filter) == sizeof filter;
  od_experiment_free(e);
  _exit(ok ? 0 : 1);
}

static double seconds_of(struct timeval t) {
  return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

// One process.
static bool measure_once(const subject *s, const char *log, need *out) {
  int ends[2], status = -1;
  if (pipe(ends) != 0) return false;
  pid_t child = fork();
  if (child == 0) observe(s, log, ends[1]);
  close(ends[1]);
  struct rusage used = {0};
  bool ok = child > 0 && read(ends[0], &out->filter, sizeof out->filter) == sizeof out->filter;
  close(ends[0]);
  ok = child > 0 && wait4(child, &status, 0, &used) == child && status == 0 && ok;
  out->bytes = 1024 * (double)used.ru_maxrss;
  out->seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  return ok;
}

// The cost of a reading of the processor time, s.
static double clock_cost(void) {
  enum { READINGS = 20000 };
  const double begin = od_processor_seconds();
  double last = begin;
  for (int i = 0; i < READINGS; i++) last = od_processor_seconds();
  return (last - begin) / READINGS;
}

// The least times of three processes without the readings of the processor time: two per step, of which one counts as time of the filter.
static bool measure(const subject *s, const char *log, long rows, need *out) {
  for (int i = 0; i < 3; i++) {
    need once = {0};
    const double reading = 2 * (double)rows * clock_cost();  // the log is observed twice
    if (!measure_once(s, log, &once)) return false;
    once.seconds -= 2 * reading;
    once.filter -= reading;
    if (i == 0 || once.seconds < out->seconds) *out = once;
  }
  return true;
}

int main(int argc, char **argv) {
  subject s = {argc > 1 ? argv[1] : NULL, NULL};
  long rows = 400000;
  for (int i = 2; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--variant")) s.variant = argv[i + 1];
    if (!strcmp(argv[i], "--rows")) rows = strtol(argv[i + 1], NULL, 10);
  }
  if (!s.experiment || argc % 2 == 1 || rows < 1000) {
    fprintf(stderr, "usage: bench_log EXPERIMENT [--variant NAME] [--rows N]\n");
    return 2;
  }
  if (!bench_wants_times()) return 0;
  char path[64];
  need of[2];
  const long lengths[2] = {rows / 2, rows};
  snprintf(path, sizeof path, "/tmp/bench-log-%ld.csv", (long)getpid());
  bool ok = true;
  for (int i = 0; i < 2 && ok; i++) ok = write_log(&s, path, lengths[i]) && measure(&s, path, lengths[i], &of[i]);
  unlink(path);
  if (!ok) {
    fprintf(stderr, "bench_log: failed\n");
    return 1;
  }
  double more = (double)(lengths[1] - lengths[0]), seconds = of[1].seconds - of[0].seconds,
         filter = of[1].filter - of[0].filter;
  printf("a log of %ld rows observed twice, and the cost of each row from %ld rows on\n", lengths[1], lengths[0]);
  printf("  memory  %8.1f MB, %6.1f bytes per row\n", of[1].bytes / 1e6, (of[1].bytes - of[0].bytes) / more);
  printf("  time    %8.2f us per row, of which the filter %.2f, all else %.2f\n", 1e6 * seconds / more,
         1e6 * filter / more, 1e6 * (seconds - filter) / more);
  bench_verdict("must", "memory", of[1].bytes / 1e6, "MB ", 100, false);
  bench_verdict("must", "time of a row without the filter", 1e6 * (seconds - filter) / more, "us ", 2, false);
  return 0;
}
