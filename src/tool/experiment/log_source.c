// A log as a source of samples.
#include <math.h>
#include <stdlib.h>

#include "experiment/sample_source.h"

typedef struct replay {
  const od_experiment *e;
  const od_log *log;
  od_log_cursor *cursor;
  long at;  // the next row
  int inputs;
  double *u, *u_after, *y;
} replay;

static od_status next(void *self, od_sample *out, bool *more, od_error *err) {
  replay *m = self;
  const od_log *log = m->log;
  const double *row = NULL;
  double time = 0;
  od_status status = od_log_cursor_next(m->cursor, &time, &row, more, err);
  if (status != OD_OK || !*more) return status;
  // Held inputs jump at every row.
  bool hold = log->plan->hold && m->at > 0;
  double *now = hold ? m->u_after : m->u, *before = m->at > 1 ? m->u_after : m->u;
  for (int i = 0; hold && i < m->inputs; i++) m->u[i] = before[i];
  for (int i = 0; i < m->inputs; i++) now[i] = row[m->e->channel[m->e->sensors + i]];
  for (int i = 0; i < m->e->sensors; i++) m->y[i] = row[m->e->channel[i]];
  m->at++;
  *out = (od_sample){.t = time, .u = m->u, .u_after = hold ? m->u_after : NULL, .y = m->y};
  return OD_OK;
}

static void release(void *self) {
  replay *m = self;
  od_log_cursor_free(m->cursor);
  free(m->u);
  free(m);
}

od_status od_sample_source_log(const od_experiment *e, od_sample_source *out, od_error *err) {
  *out = (od_sample_source){0};
  replay *m = calloc(1, sizeof *m);
  int inputs = od_machine_input_count(e->model);
  double *memory = calloc(2 * (size_t)inputs + (size_t)e->sensors + 1, sizeof *memory);
  if (!m || !memory) {
    free(m);
    free(memory);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  const od_log *log = e->log;
  *m =
      (replay){.e = e, .log = log, .inputs = inputs, .u = memory, .u_after = memory + inputs, .y = memory + 2 * inputs};
  od_status status = od_log_cursor_new(log, &m->cursor, err);
  if (status != OD_OK) {
    release(m);
    return status;
  }
  *out = (od_sample_source){
      .self = m, .next = next, .release = release, .step = e->step, .begin = log->begin, .end = log->end};
  return OD_OK;
}
