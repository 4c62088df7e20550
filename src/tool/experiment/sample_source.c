// Logs and the simulated true machine as sources of samples.
#include "experiment/sample_source.h"

#include <math.h>

#include "experiment/sensor.h"
#include "experiment/true_motion.h"
#include "machine/run_plan.h"

void od_sample_source_free(od_sample_source *source) {
  if (source->self && source->release) source->release(source->self);
  od_arena_free(&source->memory);
  *source = (od_sample_source){0};
}

// --- A log --------------------------------------------------------------------------------------------------------

typedef struct replay {
  const od_experiment *e;
  od_log_cursor *cursor;
  long at;  // index of the next row
  int inputs;
  double *u, *u_after, *y, *compared;
} replay;

// Returns whether an input is held between rows.
static bool holds(const replay *m, int input) {
  return m->e->log->plan->channel[m->e->channel[m->e->sensors + input]].hold != OD_LOG_LINEAR;
}

static od_status next_row(void *self, od_sample *out, bool *more, od_error *err) {
  replay *m = self;
  const double *row = NULL;
  double time = 0;
  od_status status = od_log_cursor_next(m->cursor, &time, &row, more, err);
  if (status != OD_OK || !*more) return status;
  // Held inputs jump at every row; linear inputs have the same value before and after the row.
  bool hold = false;
  for (int i = 0; i < m->inputs && m->at > 0; i++) hold = hold || holds(m, i);
  double *before = m->at > 1 ? m->u_after : m->u;
  for (int i = 0; i < m->inputs; i++) {
    double now = row[m->e->channel[m->e->sensors + i]];
    m->u[i] = hold && holds(m, i) ? before[i] : now;
    if (hold) m->u_after[i] = now;
  }
  for (int i = 0; i < m->e->sensors; i++) m->y[i] = row[m->e->channel[i]];
  for (int i = 0; i < m->e->references; i++) m->compared[i] = row[m->e->channel[m->e->sensors + m->inputs + i]];
  m->at++;
  *out = (od_sample){.t = time, .u = m->u, .u_after = hold ? m->u_after : NULL, .y = m->y, .compared = m->compared};
  return OD_OK;
}

static void release_replay(void *self) {
  od_log_cursor_free(((replay *)self)->cursor);
}

static od_status replay_log(const od_experiment *e, od_sample_source *out, od_error *err) {
  int inputs = od_machine_input_count(e->model);
  *out = (od_sample_source){
      .next = next_row, .release = release_replay, .step = e->step, .begin = e->log->begin, .end = e->log->end};
  replay *m = out->self = OD_TAKE(&out->memory, replay, 1);
  double *memory = OD_TAKE(&out->memory, double, 2 * inputs + e->sensors + e->references);
  if (!m || !memory) return od_fail(err, OD_NO_MEMORY, "out of memory");
  double *y = memory ? memory + 2 * inputs : NULL;
  *m = (replay){.e = e, .inputs = inputs, .u = memory, .u_after = memory + inputs, .y = y, .compared = y + e->sensors};
  return od_log_cursor_new(e->log, &m->cursor, err);
}

// --- The true machine ---------------------------------------------------------------------------------------------

// Noisy measurements of a motion. The motion is simulated during the run, or was stored before.
typedef struct measured {
  const od_experiment *e;
  od_true_motion *motion;  // simulation of the motion; NULL: the experiment has a stored motion
  long at;                 // number of the current sample; -1: not started
  double *y;               // measurements (NAN: none)
  double *bias;            // current bias of the sensors, including drift
  double *zero;            // zero rates, used if no sensor integrates
  od_sensor_noise *noise;
  od_sensor_memory *memory;  // state of each sensor
} measured;

static void measure(measured *m, const od_motion_sample *s) {
  const od_experiment *e = m->e;
  for (int i = 0; i < e->sensors; i++) {
    m->memory[i].own = s->y[i];
    m->y[i] = od_sensor_measure(&e->sensor[i], &m->noise[i], m->at, s->t, s->y[e->watches + i], &m->memory[i]);
    m->bias[i] = e->sensor[i].bias + m->memory[i].drift;
  }
}

static od_status next_measured(void *self, od_sample *out, bool *more, od_error *err) {
  measured *m = self;
  const od_experiment *e = m->e;
  od_motion_sample s;
  od_status status = m->motion ? od_true_motion_next(m->motion, &s, more, err)
                               : od_kept_motion_get(e->motion, m->at + 1, &s, more, err);
  if (status != OD_OK || !*more) return status;
  bool is_start = ++m->at == 0;
  const double *rate = s.rate ? s.rate : m->zero;
  for (int i = 0; is_start && i < e->sensors; i++)
    od_sensor_memory_begin_at(&m->memory[i], &e->sensor[i], s.y[i], rate[i]);
  measure(m, &s);
  // At the start there is no measurement, but integrating sensors start reading.
  for (int i = 0; is_start && i < e->sensors; i++) m->y[i] = m->memory[i].last = NAN;
  *out = (od_sample){
      .t = s.t, .u = s.u, .u_after = s.u_after, .y = m->y, .truth = s.y, .bias = m->bias, .number = s.number};
  return OD_OK;
}

static void release_measured(void *self) {
  measured *m = self;
  for (int i = 0; m->memory && i < m->e->sensors; i++) od_sensor_memory_end(&m->memory[i]);
  od_true_motion_free(m->motion);
}

od_status od_sample_source_simulated(const od_experiment *e, od_sample_source *out, od_error *err) {
  od_step_grid steps = od_step_grid_of(e->time, e->step);
  *out = (od_sample_source){.next = next_measured,
                            .release = release_measured,
                            .step = steps.length,
                            .end = (double)steps.count * steps.length,
                            .has_truth = true};
  measured *m = out->self = OD_TAKE(&out->memory, measured, 1);
  if (!m) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *m = (measured){.e = e,
                  .at = -1,
                  .y = OD_TAKE(&out->memory, double, e->sensors),
                  .bias = OD_TAKE(&out->memory, double, e->sensors),
                  .zero = OD_TAKE(&out->memory, double, e->sensors),
                  .noise = OD_TAKE(&out->memory, od_sensor_noise, e->sensors),
                  .memory = OD_TAKE(&out->memory, od_sensor_memory, e->sensors)};
  if (od_arena_status(&out->memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < e->sensors; i++)
    if (!od_sensor_memory_begin(&m->memory[i], &e->sensor[i], steps.length))
      return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_sensor_noise_of(e, e->seed, m->noise);
  return e->motion ? OD_OK : od_true_motion_new(e, &m->motion, err);
}

od_status od_sample_source_of(const od_experiment *e, od_sample_source *out, od_error *err) {
  return e->log ? replay_log(e, out, err) : od_sample_source_simulated(e, out, err);
}
