// Executes the runs of a study on all cores. Threads take the runs one after another, and each run writes only its own values. All
// values are then combined in the order of the file. Results are thus bitwise independent of the number of threads.
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/allocate.h"
#include "document/suggest.h"
#include "io/clock.h"
#include "io/workers.h"
#include "study/study.h"
#include "study/shared_truth.h"
#include "study/study_team.h"
#include "study/study_values.h"

typedef struct work {
  const od_study *study;
  const od_study_run_options *options;
  od_study_values values;
  od_shared_truths *truths;
  long all;  // number of runs of all cases
  long own;  // number of runs of this part
  atomic_long finished;
  od_workers workers;
} work;

// --- Progress ------------------------------------------------------------------------------------------------------

// Calls `progress` with the fraction of finished runs. False: the work must stop.
static bool asks_to_go_on(void *user, long executed) {
  (void)executed;  // includes runs of other parts
  work *w = user;
  const od_study_run_options *o = w->options;
  double done = w->own > 0 ? (double)atomic_load(&w->finished) / (double)w->own : 0;
  return !o->progress || o->progress(o->user, done);
}

// Progress callback for cases. Ignores the fraction of the case, because its share of the study is unknown.
static bool case_goes_on(void *user, double done) {
  (void)done;
  return od_workers_go_on(&((work *)user)->workers);
}

// --- Runs ---------------------------------------------------------------------------------------------------------

// Executes run `number` of the study, counted over all cases, if the run belongs to this part.
static void run_one(void *user, long number) {
  work *w = user;
  if (!od_study_part_has(w->options->part, number)) return;
  int c = 0;
  while (number >= w->study->item[c].runs) number -= w->study->item[c++].runs;
  const od_case *item = &w->study->item[c];
  double *value = w->values.value[c] + number * item->metrics;
  od_error ignored = {0};
  if (item->ops->run(item, item->first_seed + (uint64_t)number, value, &ignored) == OD_INTERRUPTED) return;
  w->values.done[c][number] = true;
  atomic_fetch_add(&w->finished, 1);
}

// --- Preparation and results --------------------------------------------------------------------------------------

// Prepares all cases and allocates the memory of their values. Fails with OD_INTERRUPTED, OD_NO_MEMORY, or a status of a case's
// prepare().
static od_status prepare(od_study *s, work *w, od_error *err) {
  w->truths = od_shared_truths_new(OD_MOST_SHARED_BYTES);
  if (!w->truths || !od_study_values_begin(&w->values, s)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < s->cases; i++) {
    od_case *c = &s->item[i];
    c->metrics = 0;
    c->truths = w->truths;
    c->progress = case_goes_on;
    c->user = w;
    od_status status = c->ops->prepare(c, err);
    if (atomic_load(&w->workers.is_stopped)) return od_fail(err, OD_INTERRUPTED, "interrupted before the runs began");
    if (status != OD_OK) return status;
    if (!od_study_values_add_case(&w->values, s, i)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  return OD_OK;
}

// Sets a known value of a metric. The metrics of a case exist only after the case is prepared. Fails with OD_BAD_INPUT.
static od_status take_known(const od_study *s, const od_known_value *v, od_error *err) {
  od_nearest nearest = od_nearest_to(v->metric);
  for (int i = 0; i < s->cases; i++)
    for (int k = 0; k < s->item[i].metrics && !strcmp(v->case_name, s->item[i].name); k++) {
      od_metric *metric = &s->item[i].metric[k];
      od_nearest_try(&nearest, metric->name);
      if (strcmp(v->metric, metric->name) != 0) continue;
      metric->known[v->origin] = v->value;
      return OD_OK;
    }
  return od_fail(err, OD_BAD_INPUT, "%s:%d:%d: the case '%s' has no metric '%s'%s", v->place.file, v->place.line,
                 v->place.column, v->case_name, v->metric, od_nearest_suggestion(&nearest, NULL).text);
}

// Keeps the values of a row for histograms, if 2 to MOST_VALUES runs have a value. Returns false if memory runs out.
static bool keep_values(od_study_result *r, od_study_row *row, const double *value, long count, long stride) {
  enum { MOST_VALUES = 100000 };
  if (row->runs < 2 || row->runs > MOST_VALUES) return true;
  row->values = OD_TAKE(&r->memory, double, row->runs);
  long kept = 0;
  for (long i = 0; row->values && i < count && kept < row->runs; i++)
    if (!isnan(value[i * stride])) row->values[kept++] = value[i * stride];
  return row->values != NULL;
}

// Combines the values of each metric into a row. Runs that were not done (after an interrupt) have no values. False: out of
// memory.
static bool gather_rows(const od_study *s, const work *w, od_study_result *r) {
  OD_SCRATCH(scratch);
  long most = 1;
  int rows = 0;
  for (int i = 0; i < s->cases; i++) {
    rows += s->item[i].metrics;
    most = s->item[i].runs > most ? s->item[i].runs : most;
  }
  double *memory = OD_TAKE(&scratch, double, most);
  r->row = OD_TAKE(&r->memory, od_study_row, rows);
  if (!memory || !r->row) return false;
  for (int i = 0; i < s->cases; i++) {
    const od_case *c = &s->item[i];
    for (long k = 0; k < c->runs; k++) {
      r->done += w->values.done[i][k];
      for (int m = 0; !w->values.done[i][k] && m < c->metrics; m++) w->values.value[i][k * c->metrics + m] = NAN;
    }
    for (int m = 0; m < c->metrics; m++) {
      od_study_row *row = &r->row[r->rows++];
      *row = od_gather_values(&c->metric[m], w->values.value[i] + m, c->runs, c->metrics, memory);
      row->case_name = c->name;
      if (!keep_values(r, row, w->values.value[i] + m, c->runs, c->metrics)) return false;
      // od_gather_values() has sorted the values of a quantile in `memory`. The values of the 50 % quantile are stored for the plot.
      if (row->metric->gather != OD_GATHER_QUANTILE || row->metric->expected != 0.5 || row->runs == 0) continue;
      row->sorted = OD_TAKE(&r->memory, double, row->runs);
      if (!row->sorted) return false;
      memcpy(row->sorted, memory, (size_t)row->runs * sizeof *row->sorted);
    }
  }
  return true;
}

// Gets the values of all runs: reads the values from files, or executes the runs. Finished runs are written even after an
// interrupt. Fails with OD_BAD_INPUT, OD_IO, OD_NOT_AVAILABLE or OD_NO_MEMORY.
static od_status find_values(const od_study *s, work *w, int *threads, od_error *err) {
  const od_study_run_options *o = w->options;
  if (o->merge_count > 0) return od_study_values_merge(&w->values, s, o->merge, o->merge_count, o->fingerprint, err);
  *threads = od_workers_run(&w->workers);
  od_status status = o->team ? od_team_gather(o->team, &w->values, s, err) : OD_OK;
  if (status != OD_OK) return status;
  return o->values ? od_study_values_write(&w->values, s, o->part, o->fingerprint, o->values, err) : OD_OK;
}

od_status od_study_run(od_study *s, const od_study_run_options *options, od_study_result **out, od_error *err) {
  static const od_study_run_options none = {0};
  double begin = od_seconds();
  *out = NULL;
  work w = {.study = s, .options = options ? options : &none};
  OD_OWNED(od_study_result_free) od_study_result *r = od_calloc(1, sizeof *r);
  if (!r) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < s->cases; i++) w.all += s->item[i].runs;
  for (long i = 0; i < w.all; i++) w.own += od_study_part_has(w.options->part, i);
  w.workers = (od_workers){
      .items = w.all, .threads = w.options->threads, .execute = run_one, .go_on = asks_to_go_on, .user = &w};
  r->all = w.options->team && w.options->team->rank == 0 ? w.all : w.own;
  od_status status = prepare(s, &w, err);
  for (int i = 0; i < s->known_count && status == OD_OK; i++) status = take_known(s, &s->known[i], err);
  if (status == OD_OK) status = find_values(s, &w, &r->threads, err);
  if (status == OD_OK && !gather_rows(s, &w, r)) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  r->seconds = od_seconds() - begin;
  if (status == OD_OK && r->done < r->all)
    status = od_fail(err, OD_INTERRUPTED, "interrupted after %ld of %ld runs", r->done, r->all);
  od_study_values_free(&w.values);
  od_shared_truths_free(w.truths);
  if (status == OD_OK || status == OD_INTERRUPTED) *out = OD_GIVE(r);
  return status;
}

void od_study_result_free(od_study_result *r) {
  if (!r) return;
  od_arena_free(&r->memory);
  od_free(r);
}

// --- Cases --------------------------------------------------------------------------------------------------------

void od_case_add_metric(od_case *c, od_metric metric) {
  od_metric *list = od_arena_extend(&c->memory, c->metric, c->metrics, sizeof *list);
  if (!list) return;
  c->metric = list;
  for (int i = 0; i < OD_ORIGINS; i++) metric.known[i] = NAN;
  c->metric[c->metrics++] = metric;
}

void od_case_add(od_case *c, const char *name, const char *unit, od_gather gather) {
  od_case_add_metric(c, (od_metric){name, unit, gather, NAN, 0, NAN});
}

void od_case_free(od_case *c) {
  if (c->ops) c->ops->release(c);
  od_arena_free(&c->memory);
}
