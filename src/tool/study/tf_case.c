// Transfer functions as a case of a study: each run has other noise; the frequency response and the fit are computed from it.
//
//   amplitude_fit_percent  fraction of the variation of the measured amplitudes that the transfer function explains; median. With
//                          several sensors each has its own, "SENSOR amplitude_fit_percent"
//   unstable               runs with an unstable pole
//   failed                 runs without a transfer function
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identify/fit.h"
#include "study/cases.h"
#include "study/shared_truth.h"
#include "io/wording.h"

typedef struct tf_case {
  od_fit_plan *plan;
  od_tf_wish wish;
  double *frequency;
  int count;
} tf_case;

static const double none = NAN;

static bool add_metrics(od_case *c, const tf_case *w) {
  const od_experiment *e = w->plan->e;
  bool ok = true;
  for (int i = 0; ok && i < e->sensors; i++) {
    char text[300];
    int length = snprintf(text, sizeof text, "%.200s amplitude_fit_percent", e->sensor[i].name);
    const char *name = e->sensors == 1 ? "amplitude_fit_percent" : od_texts_copy(&e->file->arena, text, (size_t)length);
    ok = name && od_case_add(c, (od_metric){name, "%", OD_GATHER_MEDIAN, none, 0, none, none});
  }
  return ok && od_case_add(c, (od_metric){"unstable", "runs", OD_GATHER_COUNT, none, 0, none, none}) &&
         od_case_add(c, (od_metric){"failed", "runs", OD_GATHER_COUNT, none, 0, none, none});
}

static od_status prepare(od_case *c, od_error *err) {
  tf_case *w = c->what;
  const od_tf_wish *t = &w->wish;
  int inputs = od_machine_input_count(w->plan->e->model);
  if (inputs != 1)
    return od_fail(err, OD_BAD_INPUT, "%s: the machine has %s, expected one for a transfer function", w->plan->e->path,
                   od_count(inputs, "input").text);
  w->count = (int)floor((t->to - t->from) / t->step + 1e-9) + 1;
  w->frequency = calloc((size_t)w->count, sizeof *w->frequency);
  if (!w->frequency || !add_metrics(c, w)) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < w->count; i++) w->frequency[i] = t->from + i * t->step;
  return od_shared_truths_keep_sets(c->truths, w->plan, 1, (od_going_on){c->progress, c->user}, err);
}

// The response of a set between the lowest and the highest frequency of the band.
static od_status respond(const tf_case *w, const od_fit_data *d, od_frf **out, od_error *err) {
  const od_sines sines = {d->begin, w->frequency, w->count, w->wish.periods, w->wish.settle};
  int sensors = w->plan->e->sensors;
  od_sine_fit *fit = od_sine_fit_new(&sines, sensors);
  od_frf *all = NULL;
  if (!fit) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (long k = 0; k < d->rows; k++) od_sine_fit_add(fit, d->time[k], d->u[k], d->y + k * sensors);
  od_status status = od_sine_fit_end(fit, &all, err);
  od_sine_fit_free(fit);
  if (status != OD_OK) return status;
  *out = od_frf_between(all, w->wish.low, w->wish.high);
  od_frf_free(all);
  return *out ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

static od_status run(const od_case *c, uint64_t seed, double *value, od_error *err) {
  const tf_case *w = c->what;
  od_experiment e = *w->plan->e;
  od_fit_plan plan = *w->plan;
  od_fit_data *d = NULL;
  od_frf *f = NULL;
  od_transfer *t = NULL;
  e.seed = seed;
  plan.e = &e;
  const od_transfer_options options = {w->wish.method, w->wish.order, w->wish.order - 1};
  od_status status = od_fit_data_make(&plan, &plan.set[0], NULL, &d, err);
  if (status == OD_OK) status = respond(w, d, &f, err);
  if (status == OD_OK) status = od_transfer_fit(f, &options, &t, err);
  for (int i = 0; i < e.sensors; i++) value[i] = t ? od_transfer_amplitude_fit(t, f, i) : none;
  value[e.sensors] = t ? t->unstable > 0 : none;
  value[e.sensors + 1] = !t;
  od_transfer_free(t);
  od_frf_free(f);
  od_fit_data_free(d);
  return status;
}

static void release(od_case *c) {
  tf_case *w = c->what;
  if (!w) return;
  od_fit_plan_free(w->plan);
  free(w->frequency);
  free(w);
}

static const od_case_ops tf_case_ops = {.prepare = prepare, .run = run, .release = release};

od_status od_tf_case_load(od_case *c, const char *path, const od_experiment_options *options, const od_tf_wish *wish,
                          od_messages *messages) {
  tf_case *w = calloc(1, sizeof *w);
  if (!w) return OD_NO_MEMORY;
  w->wish = *wish;
  c->what = w;
  c->ops = &tf_case_ops;
  return od_fit_plan_load(path, options, &w->plan, messages);
}
