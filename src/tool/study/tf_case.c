// Transfer functions as a case of a study. Each run has different noise, with its own frequency response and fit. Metrics:
//
//   amplitude_fit_percent  fraction of the variation of the measured amplitudes that the transfer function reproduces; median.
//                          With several sensors: one metric per sensor, "SENSOR amplitude_fit_percent"
//   unstable               number of runs with an unstable pole
//   failed                 number of runs without a transfer function
#include <math.h>

#include "document/ranges.h"
#include "identify/fit.h"
#include "io/wording.h"
#include "study/cases.h"
#include "study/shared_truth.h"

// --- Sections: the stepped sine and the band for all cases, method and order of each case ---------------------------

static const od_key keys[] = {
    {"from", OD_NUMBER, "Hz", "first frequency", OD_POSITIVE, OD_REQUIRED, OD_RANGE_SWEEP},
    {"to", OD_NUMBER, "Hz", "last frequency", OD_POSITIVE, OD_REQUIRED, OD_RANGE_SWEEP},
    {"step", OD_NUMBER, "Hz", "difference between successive frequencies", OD_POSITIVE, OD_REQUIRED,
     OD_RANGE_SWEEP_STEP},
    {"periods", OD_NUMBER, "1", "number of periods of each frequency", OD_POSITIVE, 3},
    {"settle", OD_NUMBER, "1", "number of periods at the beginning of each frequency that are not used",
     OD_NOT_NEGATIVE, 1},
    {"low", OD_NUMBER, "Hz", "lower end of the fitted band", OD_NOT_NEGATIVE, 0},
    {"high", OD_NUMBER, "Hz", "upper end of the fitted band", OD_POSITIVE, 1e9, .otherwise = "none"},
};
const od_section_class od_transfer_section = {"transfer", "stepped sine and fitted band of transfer functions",
                                              OD_KEYS(keys)};

void od_tf_wish_read_sweep(od_loader *ld, int node, od_tf_wish *wish) {
  od_section section = od_section_open(ld, node, node, "transfer", "the section 'transfer'", &od_transfer_section);
  if (section.map < 0) return;
  double *const value[] = {&wish->from, &wish->to, &wish->step, &wish->periods, &wish->settle, &wish->low, &wish->high};
  for (int i = 0; i < 7; i++) *value[i] = od_key_value(ld, &section, keys[i].name);
  if (od_has_errors(ld)) return;
  if (!(wish->from <= wish->to) || !((wish->to - wish->from) / wish->step < 1e5))
    od_complain(
        ld, node,
        "found a stepped sine from %g to %g Hz in steps of %g Hz, expected at most 100 thousand increasing frequencies",
        wish->from, wish->to, wish->step);
  if (!(wish->settle < wish->periods))
    od_complain(ld, node, "found 'settle' %g and 'periods' %g; expected 'settle' below 'periods'", wish->settle,
                wish->periods);
}

void od_tf_wish_read_case(od_loader *ld, const od_section *section, od_tf_wish *wish) {
  wish->method = (od_transfer_method)od_key_setting(ld, section, "method");
  wish->order = (int)od_key_whole(ld, section, "order");
}

// --- The case -----------------------------------------------------------------------------------------------------

typedef struct tf_case {
  od_fit_plan *plan;
  od_tf_wish wish;
  double *frequency;
  int count;
} tf_case;

static od_status prepare(od_case *c, od_error *err) {
  tf_case *w = c->what;
  const od_tf_wish *t = &w->wish;
  int inputs = od_machine_input_count(w->plan->e->model);
  if (inputs != 1)
    return od_fail(err, OD_BAD_INPUT, "%s: the machine has %s; expected 1 input for a transfer function",
                   w->plan->e->path, od_count(inputs, "input").text);
  w->count = (int)floor((t->to - t->from) / t->step + 1e-9) + 1;
  w->frequency = OD_TAKE(&c->memory, double, w->count);
  const od_experiment *e = w->plan->e;
  for (int i = 0; i < e->sensors; i++) {
    const char *name = e->sensors == 1 ? "amplitude_fit_percent"
                                       : od_arena_format(&c->memory, "%s amplitude_fit_percent", e->sensor[i].name);
    od_case_add(c, name, "%", OD_GATHER_MEDIAN);
  }
  od_case_add(c, "unstable", "runs", OD_GATHER_COUNT);
  od_case_add(c, "failed", "runs", OD_GATHER_COUNT);
  if (od_arena_status(&c->memory) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < w->count; i++) w->frequency[i] = t->from + i * t->step;
  return od_shared_truths_keep_sets(c->truths, w->plan, 1, (od_going_on){c->progress, c->user}, err);
}

// Computes the response of a set between the lowest and the highest frequency of the band. Fails with OD_BAD_INPUT or
// OD_NO_MEMORY.
static od_status respond(const tf_case *w, const od_fit_data *d, od_frf **out, od_error *err) {
  const od_sines sines = {d->begin, w->frequency, w->count, w->wish.periods, w->wish.settle};
  int sensors = w->plan->e->sensors;
  od_sine_fit *fit = od_sine_fit_new(&sines, sensors);
  od_frf *all = NULL;
  if (!fit) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (long k = 0; k < d->rows; k++) od_sine_fit_add(fit, d->time[k], d->u[k], d->y + k * sensors);
  od_status status = od_sine_fit_end(fit, &all, err);
  od_sine_fit_free(fit);
  if (status != OD_OK) return status;
  *out = od_frf_between(all, w->wish.low, w->wish.high);
  od_frf_free(all);
  return *out ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
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
  for (int i = 0; i < e.sensors; i++) value[i] = t ? od_transfer_amplitude_fit(t, f, i) : (double)NAN;
  value[e.sensors] = t ? t->unstable > 0 : (double)NAN;
  value[e.sensors + 1] = !t;
  od_transfer_free(t);
  od_frf_free(f);
  od_fit_data_free(d);
  return status;
}

static void release(od_case *c) {
  od_fit_plan_free(((tf_case *)c->what)->plan);
}

static const od_case_ops tf_case_ops = {.prepare = prepare, .run = run, .release = release};

od_status od_tf_case_load(od_case *c, const char *path, const od_experiment_options *options, const od_tf_wish *wish,
                          od_messages *messages) {
  tf_case *w = OD_TAKE(&c->memory, tf_case, 1);
  if (!w) return OD_NO_MEMORY;
  w->wish = *wish;
  c->what = w;
  c->ops = &tf_case_ops;
  return od_fit_plan_load(path, options, &w->plan, messages);
}
