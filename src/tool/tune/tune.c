#include "tune/tune.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "math/normal.h"
#include "tune/tune_judge.h"
#include "tune/tune_search.h"

static const double most_motion_bytes = 256e6;  // a larger true motion is not stored, but simulated in every run
static const double most_kept = 2e5;            // largest number of innovations that a trial keeps

void od_tuned_free(od_tuned *t) {
  if (!t) return;
  od_verdict_free(&t->verdict);
  od_arena_free(&t->memory);
  od_free(t);
}

// --- The data -----------------------------------------------------------------------------------------------------

typedef struct samples {
  double split;
  long up_to_split, all;
  double begin, end;
} samples;

// Divides the samples of the experiment in time. Reads all samples once. Fails with a status of od_sample_source_of() or of the
// source's next().
static od_status divide(const od_experiment *e, double part, samples *out, od_error *err) {
  OD_SCOPED(od_sample_source_free) od_sample_source source = {0};
  od_status status = od_sample_source_of(e, &source, err);
  *out = (samples){.begin = source.begin, .end = source.end};
  // The margin prevents round-off from shifting the end of the part.
  out->split = source.begin + part * (source.end - source.begin) + 1e-6 * e->step;
  while (status == OD_OK) {
    od_sample s;
    bool more = true;
    status = source.next(source.self, &s, &more, err);
    if (status != OD_OK || !more) break;
    out->up_to_split += s.t <= out->split;
    out->all++;
  }
  return status;
}

// Selects the numbers to tune. Unknown paths of options->only are ignored. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status select_numbers(const od_experiment *e, const od_tune_options *o, od_tuned *t, od_error *err) {
  od_tuned_number *all = NULL;
  int count = od_tuned_numbers(e, &t->memory, &all);
  if (count < 0) return od_fail(err, OD_NO_MEMORY, "out of memory");
  t->number = all;
  for (int i = 0; i < count; i++) {
    bool wanted = o->only_count == 0;
    for (int k = 0; k < o->only_count; k++) wanted = wanted || strcmp(o->only[k], all[i].path) == 0;
    if (wanted) t->number[t->numbers++] = all[i];
  }
  if (t->numbers == 0)
    return od_fail(err, OD_BAD_INPUT,
                   "there is no noise to tune; give a noise above zero, such as 'noise: {pressures: 10 Pa}'");
  if (t->numbers > OD_MOST_TUNED)
    return od_fail(err, OD_BAD_INPUT,
                   "there are %d numbers to tune; expected at most %d. Choose some of them with --only", t->numbers,
                   OD_MOST_TUNED);
  return OD_OK;
}

// --- The stages ---------------------------------------------------------------------------------------------------

// Expected number of runs, for the progress: three rounds of decades, a dozen scoring steps, the bounds, and the start.
static double plan_runs(const od_experiment *e, int k) {
  return 3.0 * (5 + 6 * k) + 12.0 * (2 * k + 4) + 3.0 * k + 20 + 5.0 * (e->initial.count + e->parameters) + 3;
}

// Lets the caller stop the simulation of the true machine, before the first run of the observer.
static bool is_wanted(void *options, double done) {
  const od_tune_options *o = options;
  (void)done;
  return !o->progress || o->progress(o->user, 0);
}

// The stages of tuning: the numbers, the parts of the data, a run with the numbers of the file, the search, runs that judge the
// result, the verdict. Fails like od_tune().
static od_status run_stages(const od_experiment *e, const od_tune_options *o, od_tuned *t, od_error *err) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_kept_motion_free) od_kept_motion *motion = NULL;
  od_experiment own = *e;
  od_tune_options own_options = *o;
  const od_going_on going = {o->progress, o->user};
  samples parts;
  od_status status = select_numbers(e, o, t, err);
  if (status == OD_OK && !e->log && !e->motion && od_kept_motion_bytes(e) <= most_motion_bytes) {
    status = od_kept_motion_new(e, (od_going_on){is_wanted, &own_options}, &motion, err);
    if (status == OD_OK) status = od_kept_motion_status(motion, err);
    own.motion = motion;
  }
  if (status == OD_OK) status = divide(&own, o->part, &parts, err);
  if (status != OD_OK) return status;
  t->begin = parts.begin, t->end = parts.end, t->split = parts.split, t->from = parts.begin + o->from;
  if (parts.up_to_split < 2 || parts.all == parts.up_to_split || !(t->from < t->split))
    return od_fail(
        err, OD_BAD_INPUT,
        "the part for tuning has %ld of %ld samples; expected samples in both parts, at least 2 in the part for tuning (--fraction, --start)",
        t->from < t->split ? parts.up_to_split : 0, parts.all);
  int k = t->numbers;
  od_tune_task task = {.e = &own,
                       .number = t->number,
                       .numbers = k,
                       .from = o->from > 0 ? t->from : -INFINITY,
                       .split = t->split,
                       .samples = parts.up_to_split,
                       .stride = 1 + (long)((double)parts.up_to_split * e->sensors / most_kept),
                       .threads = o->threads,
                       .going = going,
                       .runs = &t->runs,
                       .planned = plan_runs(e, k)};
  double *before = OD_TAKE(&scratch, double, k);
  od_tune_search search = {.task = &task, .log_sigma = OD_TAKE(&scratch, double, k)};
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < k; i++) before[i] = search.log_sigma[i] = log(t->number[i].before);
  status = od_tune_judge_run(&task, before, &t->memory, &t->before, err);
  if (status == OD_OK && !t->before.failed && (t->before.tuned.used == 0 || t->before.rest.used == 0))
    return od_fail(err, OD_BAD_INPUT,
                   "the part for tuning has %ld innovations and the rest has %ld; expected innovations in both parts "
                   "(--fraction, --start)",
                   (long)t->before.tuned.used, (long)t->before.rest.used);
  if (status == OD_OK) status = od_tune_minimize(&search, err);
  if (status == OD_OK) status = od_tune_determine(&search, t->number, err);
  if (status == OD_OK) status = od_tune_judge_run(&task, search.log_sigma, &t->memory, &t->after, err);
  if (status == OD_OK) status = od_tune_judge_start(&task, search.log_sigma, &t->memory, t, err);
  t->converged = search.converged;
  t->iterations = search.iterations;
  t->largest_first = od_normal_beyond(0.001 / e->sensors);
  return status == OD_OK ? od_tune_verdict(e, t, err) : status;
}

od_status od_tune(const od_experiment *e, const od_tune_options *options, od_tuned **out, od_error *err) {
  *out = NULL;
  OD_OWNED(od_tuned_free) od_tuned *t = od_calloc(1, sizeof *t);
  if (!t) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = run_stages(e, options, t, err);
  if (status == OD_OK) *out = OD_GIVE(t);
  return status;
}
