// The least-squares problem of a fit: data and a predictor for each set, unknowns with their starts and bounds.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identify/fit_work.h"
#include "random/random.h"
#include "io/wording.h"

static const size_t most_kept = 4000000;  // largest number of derivatives in memory, 32 MB

static od_status make_data(od_fit_work *w, od_error *err) {
  const od_fit_plan *plan = w->plan;
  w->f->data = OD_TAKE(&w->f->arena, od_fit_data *, plan->sets);
  w->f->set = OD_TAKE(&w->f->arena, od_fit_set_result, plan->sets);
  w->predictor = OD_TAKE(&w->arena, od_predictor *, plan->sets);
  w->y = OD_TAKE(&w->arena, double *, plan->sets), w->dy = OD_TAKE(&w->arena, double *, plan->sets);
  w->states = OD_TAKE(&w->arena, int, plan->sets);
  if (od_arena_status(&w->f->arena) != OD_OK || od_arena_status(&w->arena) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < plan->sets; i++) {
    od_status status = od_fit_data_make(plan, &plan->set[i], &(od_waiting){od_fit_keeps_going, w}, &w->f->data[i], err);
    if (status != OD_OK) return status;
    w->f->sets++;
  }
  return OD_OK;
}

static od_status complain_about_times(const od_fit_data *d, od_error *err) {
  double least = INFINITY, most = 0;
  for (long k = 1; k < d->rows; k++) {
    least = fmin(least, d->time[k] - d->time[k - 1]);
    most = fmax(most, d->time[k] - d->time[k - 1]);
  }
  return od_fail(err, OD_BAD_INPUT,
                 "samples of the set '%s' are %.4g to %.4g s apart, but 'integrator: exact' needs uniform times; "
                 "resample with 'prepare: {resample: %.4g s}', or choose another integrator",
                 d->set->name, least, most, d->step);
}

// Replaces a predictor by a predictor with the delays of sensors, if delays are among the parameters. Fails with OD_NO_MEMORY.
static od_status delay_sensors(const od_fit_work *w, const od_fit_data *d, od_predictor **predictor, od_error *err) {
  OD_SCRATCH(scratch);
  od_output_delay *delay = OD_TAKE(&scratch, od_output_delay, w->np);
  int delays = 0;
  if (!delay) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < w->np; i++) {
    const od_estimated *p = &w->plan->e->parameter[i];
    if (p->sensor >= 0 && p->calibrated == OD_SENSOR_DELAY) delay[delays++] = (od_output_delay){p->sensor, i};
  }
  if (delays == 0) return OD_OK;
  return od_predictor_delayed(*predictor, delay, delays, d->time, (int)d->rows, w->ny, predictor, err);
}

od_status od_fit_predictor(od_fit_work *w, int set, int finer, bool free_start, od_predictor **out, od_error *err) {
  const od_fit_data *d = w->f->data[set];
  if (d->set->source) return od_predictor_of_model(&d->set->source->model, out, err);
  od_rule rule = od_fit_rule(w->plan, d->uniform);
  if (rule.exact && !d->uniform) return complain_about_times(d, err);
  const od_logged_inputs drive = {.count = (int)d->rows,
                                  .start = d->begin,
                                  .step = d->step,
                                  .times = d->own_times && !rule.exact ? d->time : NULL,
                                  .u = d->u};
  const od_predictor_options options = {.rule = rule,
                                        .hold = d->set->log && d->set->plan.hold ? OD_HOLD_ZERO : w->plan->hold,
                                        .substeps = finer * (w->plan->substeps ? w->plan->substeps : 1),
                                        .steady = od_fit_start_of(w->plan, d->set) == OD_FIT_FROM_REST && !free_start,
                                        .free_states = w->every_state,
                                        .free_count = free_start || od_fit_is_from_anywhere(w, set) ? w->nx : 0,
                                        .keeps_going = od_fit_keeps_going,
                                        .user = w};
  od_status status = od_predictor_new(w->plant, &drive, &options, out, err);
  return status == OD_OK ? delay_sensors(w, d, out, err) : status;
}

static od_status make_predictor(od_fit_work *w, int set, od_error *err) {
  const od_fit_data *d = w->f->data[set];
  od_status status = od_fit_predictor(w, set, 1, false, &w->predictor[set], err);
  if (status != OD_OK) return status;
  size_t values = (size_t)d->rows * (size_t)w->ny,
         derivatives = values * (size_t)od_predictor_columns(w->predictor[set]);
  size_t most = w->options->most_kept > 0 ? w->options->most_kept : most_kept;
  w->y[set] = OD_TAKE(&w->arena, double, values);
  // Without memory for derivatives, rows are predicted again when their derivatives are needed.
  bool whole = d->set->source;
  w->whole = w->whole || whole;
  if (d->fitted > 0 && !od_fit_is_shooting(w) && (whole || w->kept + derivatives <= most)) {
    w->dy[set] = OD_TAKE(&w->arena, double, derivatives);
    w->kept += derivatives;
  }
  if (set == 0 && !whole) w->f->rule = od_fit_rule(w->plan, d->uniform);
  return od_arena_status(&w->arena) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// Computes the model's initial state, the reference for unknown initial states. Fails with OD_NO_MEMORY or a status of the plant.
static od_status find_initial_state(od_fit_work *w, od_error *err) {
  void *work = od_arena_take(&w->arena, w->plant->work_size + 1);
  w->x0 = OD_TAKE(&w->arena, double, 2 * w->nx);
  w->every_state = OD_TAKE(&w->arena, int, w->nx);
  od_status status = od_arena_status(&w->arena);
  if (status == OD_OK) status = w->plant->ops->start(w->plant, work, w->x0);
  for (int i = 0; status == OD_OK && i < w->nx; i++) w->every_state[i] = i;
  return status == OD_OK
             ? OD_OK
             : od_fail(err, status, "the initial state of the model cannot be computed: %s", od_status_text(status));
}

// Returns a random start of a parameter between its bounds. If the bounds are positive and differ by more than a factor
// of ten, the start is drawn on a logarithmic scale.
static double draw(const od_estimated *p, uint64_t seed) {
  double part = od_random_uniform(seed, od_random_stream(p->path), 0, OD_USE_START);
  if (p->low > 0 && p->high / p->low > 10) return p->low * pow(p->high / p->low, part);
  return p->low + part * (p->high - p->low);
}

static od_status make_problem(od_fit_work *w, od_error *err) {
  const od_experiment *e = w->plan->e;
  const od_fit_data *d;
  w->n = w->np;
  for (int set = 0; set < w->f->sets; set++) {
    w->states[set] = w->n;
    // With shooting, the initial states are nodes and not unknowns of the search.
    if (od_fit_is_from_anywhere(w, set) && w->f->data[set]->fitted > 0 && !od_fit_is_shooting(w)) w->n += w->nx;
  }
  OD_FOR_EACH_RESIDUAL(w, d, set, k, i) w->m++;
  if (w->m == 0)
    return od_fail(err, OD_BAD_INPUT,
                   "no data to fit: no sensor has a value in a fitted row; check the columns under 'data'");
  if (w->m > INT_MAX)
    return od_fail(err, OD_BAD_INPUT, "found %ld samples in the fitted sets, expected at most %d; resample the logs",
                   w->m, INT_MAX);
  if (w->m < w->n && !w->options->only_predict && w->options->extent == OD_FIT_COMPLETE)
    return od_fail(err, OD_BAD_INPUT, "%s cannot be estimated from %s; fit fewer parameters, or use more data",
                   od_count(w->n, "unknown").text, od_count(w->m, "sample").text);
  int rows = OD_PREDICTED_BLOCK * w->ns;
  w->passing = (od_fit_passing){.r = OD_TAKE(&w->arena, double, rows),
                                .part = OD_TAKE(&w->arena, double, rows),
                                .J = OD_TAKE_MATRIX(&w->arena, double, rows, w->n),
                                .of = OD_TAKE(&w->arena, int, rows)};
  double **const of_unknowns[] = {&w->start,    &w->low,        &w->high,    &w->box_low,
                                  &w->box_high, &w->derived_at, &w->left_at, &w->constraint_scratch};
  for (size_t i = 0; i < sizeof of_unknowns / sizeof *of_unknowns; i++)
    *of_unknowns[i] = OD_TAKE(&w->arena, double, w->n);
  if (od_arena_status(&w->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  w->derived_at[0] = w->left_at[0] = NAN;
  w->eager = true;
  for (int i = 0; i < w->n; i++) {
    bool parameter = i < w->np;
    w->low[i] = parameter ? e->parameter[i].low : -INFINITY;
    w->high[i] = parameter ? e->parameter[i].high : INFINITY;
    w->start[i] = parameter ? e->parameter[i].start : 0;
    w->box_low[i] = parameter ? w->low[i] : 0;
    w->box_high[i] = parameter ? w->high[i] : 0;
    if (!parameter || w->options->only_predict || !(w->options->random_start || w->plan->starts > 0)) continue;
    if (!isfinite(w->low[i]) || !isfinite(w->high[i]))
      return od_fail(err, OD_BAD_INPUT,
                     "'%s' needs 'low' and 'high', because random starts are drawn between the bounds",
                     e->parameter[i].path);
    if (w->options->random_start) w->start[i] = draw(&e->parameter[i], w->options->start_seed);
  }
  return OD_OK;
}

od_status od_fit_prepare(od_fit_work *w, od_error *err) {
  const od_experiment *e = w->plan->e;
  w->np = e->parameters;
  w->ns = w->ny = e->sensors;
  od_status status = make_data(w, err);
  if (status == OD_OK && e->model) {
    status = od_experiment_plant(e, &w->plant, err);
    if (status != OD_OK) return status;
    w->nx = od_plant_nx(w->plant);
    w->ny = w->plant->ny;
    w->nu = w->plant->nu;
    status = find_initial_state(w, err);
  }
  for (int i = 0; i < w->f->sets && status == OD_OK; i++) status = make_predictor(w, i, err);
  if (status == OD_OK) status = make_problem(w, err);
  if (status == OD_OK) status = od_fit_find_starts(w, err);
  return status == OD_OK ? od_fit_make_shooting(w, err) : status;
}
