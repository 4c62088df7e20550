// One run of an experiment. For each sample the observer predicts up to its time, in steps no longer than the experiment's step,
// and corrects; then a row is recorded. Samples come from a source.
#include "experiment/observe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/compare_truth.h"
#include "experiment/observe_run.h"
#include "experiment/observe_verdict.h"
#include "experiment/sensor.h"
#include "experiment/true_run.h"
#include "io/clock.h"
#include "oleodyn/sim.h"

// A run with keep_going: after this number of failed samples, or a gap of this number of steps, the last estimate is carried over
// with inflated standard deviations of its states.
enum { MOST_FAILURES = 10, LONGEST_GAP = 10000 };
enum { HOPELESS_GAP = 10000000 };  // steps between two samples of a log
static const double inflation = 100;

// --- Samples ------------------------------------------------------------------------------------------------------

// Predicts from the last sample to this one. A gap is predicted in several steps.
static od_status predict(od_observe_run *r, const od_sample *s) {
  double gap = s->t - r->t;
  // Round-off must not add a step.
  long parts = (long)fmax(1, ceil(gap / r->e->step * (1 - 1e-6)));
  double h = gap / (double)parts;
  if (fabs(h - r->Q_step) > 1e-6 * h) od_observe_fill_process_noise(r, h);
  od_status status = OD_OK;
  for (long k = 1; k < parts && status == OD_OK; k++) {
    double along = (double)k / (double)parts;
    for (int i = 0; i < r->nu; i++) r->u[i] = r->u_from[i] + along * (s->u[i] - r->u_from[i]);
    status = od_observer_predict(r->observer, h, r->u, r->Q, NULL);
    if (status == OD_OK) status = od_observe_follow_coordinates(r);
  }
  // A parameter that may jump within this step gets this additional noise.
  bool jumps = r->options->jump.sigma > 0 && r->t < r->options->jump.time && r->options->jump.time <= s->t;
  double *noise = jumps ? r->Q + (r->nx + r->options->jump.parameter) * (r->n + 1) : NULL, before = noise ? *noise : 0;
  if (noise) *noise += pow(r->options->jump.sigma, 2);
  if (status == OD_OK) status = od_observer_predict(r->observer, h, s->u, r->Q, NULL);
  if (noise) *noise = before;
  return status == OD_OK ? od_observe_follow_coordinates(r) : status;
}

// Predicts up to the sample and corrects with its measurements. At the start there is no prediction.
static od_status move_observer(od_observe_run *r, const od_sample *s, bool start) {
  if (!start) od_step_clock_begin(&r->clock);
  bool corrected = !r->e->uncorrected;
  for (int i = 0; i < r->ny; i++)
    r->y[i] = i < r->e->sensors && corrected ? od_sensor_usable(&r->e->sensor[i], s->y[i]) : (double)NAN;
  od_status status = start ? OD_OK : predict(r, s);
  if (status == OD_OK) status = od_observer_correct(r->observer, r->y);
  if (!start) od_step_clock_end(&r->clock);
  if (status == OD_OK && s->u_after) status = od_sim_set_inputs(od_observer_sim(r->observer), s->u_after);
  return status;
}

// Finishes a sample: the next prediction starts here. The bias of a sensor with drift is true at this time only.
static void leave_sample(od_observe_run *r, const od_sample *s) {
  r->o->end = r->t = s->t;
  for (int i = 0; i < r->np && s->bias; i++) {
    const od_estimated *p = &r->e->parameter[i];
    if (p->sensor >= 0 && p->sensor < r->e->sensors && !p->is_scale) r->o->truth[i] = s->bias[p->sensor];
  }
  memcpy(r->u_from, s->u_after ? s->u_after : s->u, (size_t)r->nu * sizeof *r->u_from);
}

// Counts used and missing samples per sensor. Values missing at the start are not counted.
static void count_sensors(od_observe_run *r, bool start) {
  const od_innovation *innovation = od_observer_innovations(r->observer);
  int used;
  r->o->nis += od_observer_nis(r->observer, &used);
  r->o->nis_dimension += used;
  for (int i = 0; i < r->e->sensors; i++) {
    od_sensor_counts *counts = &r->o->sensor[i];
    counts->used += innovation[i].use == OD_SENSOR_USED;
    counts->missing += innovation[i].use == OD_SENSOR_MISSING && !start;
    counts->gated += innovation[i].use == OD_SENSOR_GATED;
    counts->frozen += innovation[i].use == OD_SENSOR_FROZEN;
    counts->reopened = od_observer_reopened(r->observer, i);
  }
}

// Records when the filter first reported settling, and since when it has been settled.
static void watch_settling(od_observe_run *r, double t) {
  od_observed *o = r->o;
  bool settled = o->asks_itself && od_observer_settled(r->observer);
  if (settled && isnan(o->settled_first)) o->settled_first = t;
  if (settled && isnan(o->settled_since)) o->settled_since = t;
  if (!settled) o->settled_since = NAN;
}

// Predicts to a sample, corrects, and records its statistics and its row.
static od_status take_in(od_observe_run *r, const od_sample *s, bool start, od_error *err) {
  od_status status = move_observer(r, s, start);
  if (status == OD_OK) {
    count_sensors(r, start);
    watch_settling(r, s->t);
    const double *u = s->u_after ? s->u_after : s->u;
    od_innovation_record_take(r->innovations, od_observer_innovations(r->observer), s->y, u);
    od_innovation_record_mark(r->innovations, r->observer, s->t);
    if (r->options->each) r->options->each(r->options->user, s, r->observer);
    status = od_error_record_take(r->errors, s, r->observer);
    if (status == OD_OK && !r->options->no_table) status = od_observe_record_row(r, s);
  }
  if (status == OD_OK) {
    leave_sample(r, s);
    return OD_OK;
  }
  return od_fail(
      err, status, "the observer's step to %.6g s failed: %s%s", s->t, od_status_text(status),
      status == OD_NOT_AVAILABLE
          ? "; complex steps do not follow a motion that slides along a jump of sign() or if(): use the filter 'ekf'"
          : "");
}

// --- Going on after failures --------------------------------------------------------------------------------------

// Replaces the present estimate by the last good one, with inflated covariance.
static od_status carry_over(od_observe_run *r, const od_sample *s) {
  od_sim *sim = od_observer_sim(r->observer);
  const double *u = s->u_after ? s->u_after : s->u;
  od_status status = od_sim_set(sim, s->t, od_sim_state(sim), u);
  if (status != OD_OK) return status;
  od_observer_inflate(r->observer, inflation);
  r->failures = 0;
  leave_sample(r, s);
  return OD_OK;
}

// Takes a sample in a run that keeps going. After a failure the observer returns to its last good state, or its estimate is
// carried over.
static od_sample_fate take_in_somehow(od_observe_run *r, const od_sample *s, od_error *err) {
  size_t size = od_observer_block_size(r->observer);
  bool far = s->t - r->t > LONGEST_GAP * r->e->step;
  od_status status = far ? OD_NOT_CONVERGED : take_in(r, s, false, err);
  if (status == OD_OK) {
    r->failures = 0;
    memcpy(r->saved, r->observer, size);
    return OD_TAKEN;
  }
  if (far) od_fail(err, status, "%.6g s is too far from the sample before, at %.6g s", s->t, r->t);
  memcpy(r->observer, r->saved, size);
  bool held = (far || ++r->failures >= MOST_FAILURES) && carry_over(r, s) == OD_OK;
  if (held)
    memcpy(r->saved, r->observer, size);
  else
    memcpy(r->observer, r->saved, size);
  r->o->held += held;
  r->o->failed += !held;
  return held ? OD_HELD : OD_FAILED;
}

// --- All samples --------------------------------------------------------------------------------------------------

// Calls options->progress every 64 samples; false: the run must stop.
static bool goes_on(const od_observe_run *r) {
  const od_sample_source *source = r->source;
  const od_observe_options *options = r->options;
  if (!options->progress || (r->o->steps + 1) % 64 != 0) return true;
  double done = (r->t - source->begin) / (source->end - source->begin);
  return options->progress(options->user, options->repeat ? done / 2 : done);
}

static od_status answer(od_observe_run *r, od_sample_fate fate, od_error *err) {
  const od_observe_options *options = r->options;
  if (!options->answer || options->answer(options->user, r->o, r->row, fate, err ? err->text : "")) return OD_OK;
  return od_fail(err, OD_IO, "the answers cannot be written");
}

static od_status take_sample(od_observe_run *r, const od_sample *s, od_error *err) {
  if (!r->options->keep_going) {
    // After a leap in time (wrong unit, clock that was set) the prediction would take too long.
    if (s->t - r->t > HOPELESS_GAP * r->e->step)
      return od_fail(err, OD_BAD_INPUT, "from %.6g s to %.6g s there are no samples: too long for steps of %.3g s",
                     r->t, s->t, r->e->step);
    od_status status = take_in(r, s, false, err);
    if (status != OD_OK) return status;
    r->o->steps++;
    return answer(r, OD_TAKEN, err);
  }
  od_sample_fate fate = take_in_somehow(r, s, err);
  r->o->steps += fate == OD_TAKEN;
  r->row[0] = s->t;
  return answer(r, fate, err);
}

static od_status run_all(od_observe_run *r, const od_sample *first, od_error *err) {
  od_status status = take_in(r, first, true, err);
  if (status == OD_OK && r->saved) memcpy(r->saved, r->observer, od_observer_block_size(r->observer));
  if (status == OD_OK) status = answer(r, OD_TAKEN, err);
  while (status == OD_OK) {
    od_sample sample;
    bool more = true;
    if (r->options->samples > 0 && r->o->steps + 1 >= r->options->samples) break;
    if (!goes_on(r)) return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", r->t);
    status = r->source->next(r->source->self, &sample, &more, err);
    if (status != OD_OK || !more) break;
    status = take_sample(r, &sample, err);
    r->broken = status != OD_OK;
  }
  return status;
}

// If a run failed and its last row was not requested, another run up to the failure computes this row.
static void record_last(const od_experiment *e, const od_observe_options *options, od_observed *o) {
  const od_observe_options again = {.progress = options->progress,
                                    .user = options->user,
                                    .parameters = options->parameters,
                                    .sigmas = options->sigmas,
                                    .keep = OD_ROWS_LAST,
                                    .samples = o->steps + 1};
  od_observed *second = NULL;
  od_error ignored = {0};
  o->table->rows = 0;
  if (od_observe(e, &again, &second, &ignored) == OD_OK) {
    od_table *table = o->table;
    od_summing *sums = o->sums;
    o->table = second->table, second->table = table;
    o->sums = second->sums, second->sums = sums;
  }
  od_observed_free(second);
}

static void keep_estimates(od_observe_run *r) {
  const double *P = od_observer_covariance(r->observer), *p = od_observer_parameters(r->observer);
  for (int i = 0; i < r->np; i++) {
    r->o->estimate[i] = p[i];
    r->o->sigma[i] = od_observer_parameter_sigma(r->observer, i);
    r->o->bias[i] = od_observer_bias(r->observer)[r->nx + i];
    for (int j = 0; j < r->np; j++) r->o->covariance[i * r->np + j] = P[(r->nx + i) * r->n + r->nx + j];
    double noise = pow(r->e->parameter[i].noise, 2) / r->e->step;
    r->o->moved[i] = od_innovation_record_parameter(r->innovations, r->observer, i, noise);
  }
  for (int i = 0; i < r->e->sensors; i++) od_innovation_record_sensor(r->innovations, i, &r->o->innovations[i]);
  r->o->windows = od_innovation_record_windows(r->innovations, r->o->window);
}

// --- The run ------------------------------------------------------------------------------------------------------

static od_status observe(od_observe_run *r, bool *started, od_error *err) {
  od_sample first;
  bool more = true;
  od_status status = od_observe_prepare(r, err);
  if (status == OD_OK && !r->options->no_table) status = od_observe_make_table(r, err);
  if (status == OD_OK && r->options->begin && !r->options->begin(r->options->user, r->o))
    status = od_fail(err, OD_IO, "the answers cannot be written");
  if (status == OD_OK) status = r->source->next(r->source->self, &first, &more, err);
  if (status == OD_OK && !more) status = od_fail(err, OD_BAD_INPUT, "there are no samples");
  if (status == OD_OK) status = od_observe_make_observer(r, &first, err);
  *started = status == OD_OK;
  if (!*started) return status;
  r->o->begin = first.t;
  for (int i = 0; i < r->np; i++) {
    r->o->start[i] = od_observer_parameters(r->observer)[i];
    r->o->truth[i] = r->e->parameter[i].truth;
  }
  od_innovation_record_mark(r->innovations, r->observer, first.t);
  r->clock = od_step_clock_new(r->options->processor_time ? od_processor_seconds : od_seconds);
  status = run_all(r, &first, err);
  // If the file of a log changed during the run, any error may be a consequence.
  if (status != OD_OK && status != OD_INTERRUPTED && r->e->log && !r->options->source && od_log_has_changed(r->e->log))
    status = od_fail(err, OD_IO, "%s has changed while it was read", r->e->log->plan->file);
  r->o->seconds = od_step_clock_seconds(&r->clock);
  bool table = !r->options->no_table && !(r->broken && r->unrecorded);
  if (table && od_observe_end_rows(r) != OD_OK && status == OD_OK)
    status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  keep_estimates(r);
  od_error_record_result(r->errors, r->o->metric);
  if (!r->o->has_truth && r->o->steps > 0) r->o->step = (r->o->end - r->o->begin) / (double)r->o->steps;
  if (!od_compare_truth(r->e, r->o) && status == OD_OK) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  return status;
}

od_status od_observe(const od_experiment *e, const od_observe_options *options, od_observed **out, od_error *err) {
  static const od_observe_options none = {0};
  if (!options) options = &none;
  od_sample_source own = {0};
  bool started = false;
  *out = calloc(1, sizeof **out);
  if (!*out) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_status status = options->source ? OD_OK : od_sample_source_of(e, &own, err);
  od_observe_run r = {.e = e, .options = options, .o = *out, .source = options->source ? options->source : &own};
  if (status == OD_OK) status = observe(&r, &started, err);
  od_observe_release(&r);
  od_sample_source_free(&own);
  if (started && r.broken && r.unrecorded) record_last(e, options, *out);
  if (status == OD_OK && options->repeat && !options->source)
    status = od_observe_start_dependence(e, options, *out, err);
  if (status == OD_OK && options->judge_truth && !options->source && !e->log)
    status = od_experiment_judge_step(e, false, (od_going_on){options->progress, options->user}, &(*out)->verdict, err);
  (*out)->failed_early = status != OD_OK && status != OD_INTERRUPTED;
  od_error ignored = {0};
  od_status judged = started ? od_observe_judge(e, options, *out, status == OD_OK ? err : &ignored) : OD_OK;
  if (status == OD_OK) status = judged;
  if (started) return status;
  od_observed_free(*out);
  *out = NULL;
  return status;
}

void od_observed_free(od_observed *o) {
  if (!o) return;
  od_table_free(o->table);
  free(o->sensor);
  free(o->innovations);
  free(o->moved);
  free(o->bias);
  free(o->shift);
  free(o->clipped);
  free(o->within);
  free(o->known);
  free(o->window);
  free(o->sums);
  od_verdict_free(&o->verdict);
  free(o->start);
  free(o->truth);
  free(o->estimate);
  free(o->sigma);
  free(o->covariance);
  free(o->metric);
  od_compare_truth_free(o);
  od_observed_free(o->bound);
  free(o);
}
