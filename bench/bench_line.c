// A live observer that can return to its last good sample after a failed one, compared with an observer that cannot: processor time of a
// sample with its row. Usage: bench_line EXPERIMENT
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/observe.h"
#include "measure.h"
#include "oleodyn/machine.h"

// The rows of a run as a source of samples.
typedef struct rows {
  const od_experiment *e;
  const od_observed *run;
  bool can_return;
  long at;
} rows;

static od_status next(void *self, od_sample *out, bool *more, od_error *err) {
  rows *r = self;
  const od_table *t = r->run->table;
  const double *row = t->data + r->at * t->columns;
  (void)err;
  *more = r->at++ < t->rows;
  if (*more) *out = (od_sample){.t = row[0], .u = row + r->run->columns.input, .y = row + 1};
  return OD_OK;
}

static bool take(void *user, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  (void)user, (void)o, (void)row, (void)why;
  return fate == OD_TAKEN;
}

static int start(void *self) {
  ((rows *)self)->at = 0;
  return 0;
}

static int observe_rows(void *self, int steps) {
  rows *r = self;
  od_sample_source source = {.self = r, .next = next, .step = r->e->step, .end = INFINITY};
  od_observed *o = NULL;
  od_error err = {0};
  const od_status status = od_observe(
      r->e,
      &(od_observe_options){
          .source = &source, .answer = take, .keep_going = r->can_return, .samples = steps, .keep = OD_ROWS_LAST},
      &o, &err);
  od_observed_free(o);
  return status == OD_OK ? 0 : -1;
}

int main(int argc, char **argv) {
  if (!bench_wants_times() || argc != 2) return argc != 2;
  bench_pin();
  od_experiment *e = NULL;
  od_observed *run = NULL;
  od_error err = {0};
  od_messages *messages = od_messages_new();
  if (od_experiment_load(argv[1], NULL, &e, messages) != OD_OK || od_observe(e, NULL, &run, &err) != OD_OK) {
    fprintf(stderr, "bench_line: %s cannot be observed. %s\n", argv[1], err.text);
    return 1;
  }
  const int steps = (int)run->table->rows;
  rows plain = {e, run, false, 0}, live = {e, run, true, 0};
  bench_subject subjects[] = {{.name = "plain",
                               .figure = "observed sample",
                               .self = &plain,
                               .start = start,
                               .advance = observe_rows,
                               .steps = steps},
                              {.name = "live",
                               .figure = "live sample",
                               .self = &live,
                               .start = start,
                               .advance = observe_rows,
                               .steps = steps}};
  if (bench_settle(subjects, 2) != 0) {
    fprintf(stderr, "bench_line: failed\n");
    return 1;
  }
  const double one = bench_best(&subjects[0]), two = bench_best(&subjects[1]);
  printf(
      "a sample of a live observer, %d parameters: %.1f us; without the possibility to return after a failure %.1f us\n",
      e->parameters, 1e6 * two, 1e6 * one);
  for (int i = 0; i < 2; i++) bench_write_figures(&subjects[i]);
  bench_print_method(subjects, 2);
  bench_verdict("must", "live sample to plain sample", two / one, " ", 1.3, false);
  bench_verdict("must", "live sample", 1e6 * two, "us", 30, false);
  od_observed_free(run);
  od_experiment_free(e);
  od_messages_free(messages);
  return 0;
}
