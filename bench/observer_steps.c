#include "observer_steps.h"

#include "all_filters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void observer_data_close(observer_data *d) {
  od_observed_free(d->observed);
  od_plant_free(d->plant);
  od_experiment_free(d->e);
  void *memory[] = {d->u, d->y, d->Q, d->p, d->sigma};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

static int data_allocate(observer_data *d) {
  const size_t steps = (size_t)d->observed->steps + 1, np = (size_t)d->plant->np, ny = (size_t)d->plant->ny;
  d->n = od_plant_nx(d->plant) + d->plant->np;
  d->u = calloc(steps * (size_t)d->plant->nu, sizeof *d->u);
  d->y = calloc(steps * ny, sizeof *d->y);
  d->Q = calloc((size_t)(d->n * d->n), sizeof *d->Q);
  d->p = calloc(np, sizeof *d->p);
  d->sigma = calloc(ny, sizeof *d->sigma);
  return d->u && d->y && d->Q && d->p && d->sigma ? 0 : -1;
}

// Measurements follow the time in the experiment's table.
static void data_fill(observer_data *d) {
  const od_experiment *e = d->e;
  const od_table *table = d->observed->table;
  const int nu = d->plant->nu, ny = d->plant->ny;
  for (long i = 0; i <= d->observed->steps; i++) {
    od_machine_inputs(e->truth, (double)i * d->observed->step, d->u + i * nu);
    for (int k = 0; k < ny; k++)
      d->y[i * ny + k] = k < e->sensors ? table->data[i * table->columns + 1 + k] : (double)NAN;
  }
  od_experiment_process_noise(e, d->plant, d->observed->step, e->process_noise, d->Q);
  for (int i = 0; i < ny; i++) d->sigma[i] = i < e->sensors ? e->sensor[i].sigma : 1;
  for (int i = 0; i < e->parameters; i++) d->p[i] = e->parameter[i].start;
}

int observer_data_open(observer_data *d, const char *file, int steps) {
  *d = (observer_data){0};
  od_error error = {0};
  od_messages *messages = od_messages_new();
  const od_experiment_options options = {0};
  const od_status loaded = od_experiment_load(file, &options, &d->e, messages);
  if (loaded != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  if (loaded != OD_OK) return -1;
  if (steps > 0) d->e->time = fmin(d->e->time, steps * d->e->step);
  if (od_observe(d->e, NULL, &d->observed, &error) != OD_OK || od_experiment_plant(d->e, &d->plant, &error) != OD_OK) {
    fprintf(stderr, "%s: %s\n", file, error.text);
    return -1;
  }
  if (data_allocate(d) != 0) return -1;
  data_fill(d);
  return 0;
}

int observer_steps_open(observer_steps *s, const observer_data *d, const char *filter, od_covariance_form form) {
  const od_observer_options options = {.filter = filter ? od_filter_type_find(filter) : d->e->filter,
                                       .choice = filter ? NULL : d->e->filter_choice,
                                       .form = form,
                                       .sensor_sigma = d->sigma};
  *s = (observer_steps){.d = d};
  if (!options.filter) return -1;
  s->observer = od_observer_new(d->plant, &options);
  return s->observer ? 0 : -1;
}

void observer_steps_close(observer_steps *s) {
  od_observer_free(s->observer);
}

int observer_steps_start(void *self) {
  observer_steps *s = self;
  s->at = 0;
  return od_observer_start(s->observer, 0, NULL, s->d->p, s->d->e->covariance, s->d->u) == OD_OK ? 0 : -1;
}

int observer_steps_advance(void *self, int steps) {
  observer_steps *s = self;
  const observer_data *d = s->d;
  od_status status = s->at + steps <= d->observed->steps ? OD_OK : OD_BAD_ARGUMENT;
  for (int i = 0; i < steps && status == OD_OK; i++) {
    s->at++;
    status = od_observer_predict(s->observer, d->observed->step, d->u + s->at * d->plant->nu, d->Q, NULL);
    if (status == OD_OK) status = od_observer_correct(s->observer, d->y + s->at * d->plant->ny);
  }
  if (status != OD_OK) fprintf(stderr, "the filter: %s\n", od_status_text(status));
  return status == OD_OK ? 0 : -1;
}
