// Causes of inconsistent innovations, from the log itself and from other runs over the same samples.
#include <math.h>

#include "experiment/diagnosis.h"
#include "experiment/observe_verdict.h"
#include "io/display.h"

enum { least_rows = 20, MOST_ROWS = 2000, MOST_ROWS_AT_ALL = 40000 };
static const double share = 0.25;       // fraction of the excess that the rows of a diagnosis must contain
static const double as_expected = 1.2;  // limit of the NIS before a pause

// Number of rows from the start that contain most of the excess.
static long rows_to_look_at(const od_observed *o) {
  double all = 0, so_far = 0;
  long rows = 0, per_row = 0;
  for (int i = 0; i < o->windows; i++) all += fmax(o->window[i].squares - (double)o->window[i].count, 0);
  per_row = o->steps > 0 ? o->nis_dimension / (o->steps + 1) : 1;
  for (int i = 0; i < o->windows && so_far < share * all; i++) {
    so_far += fmax(o->window[i].squares - (double)o->window[i].count, 0);
    rows += o->window[i].count / (per_row > 0 ? per_row : 1);
  }
  if (rows < MOST_ROWS) rows = MOST_ROWS;
  return rows < MOST_ROWS_AT_ALL ? rows : MOST_ROWS_AT_ALL;
}

// Whether innovations were as expected up to a pause of the log.
static bool is_paused(const od_experiment *e, const od_observed *o) {
  double squares = 0, count = 0;
  if (!e->log || !od_log_pauses(e->log)) return false;
  for (int i = 0; i < o->windows && o->window[i].end <= e->log->at; i++)
    squares += o->window[i].squares, count += (double)o->window[i].count;
  return count > 0 && squares < as_expected * count;
}

static bool has_jumps(const od_experiment *e) {
  if (!e->log || e->data.hold) return false;
  for (int i = 0; i < e->log->plan->channels; i++)
    if (e->log->plan->channel[i].is_input && od_log_jumps(e->log, i) > 0) return true;
  return false;
}

od_status od_observe_name_causes(const od_experiment *e, const od_observe_options *options, od_observed *o,
                                 od_error *err) {
  od_verdict *v = &o->verdict;
  od_record *record = NULL;
  if (is_paused(e, o)) {
    bool ok =
        od_verdict_add(v, OD_DOUBTFUL, "cause.pause", "Most likely cause:",
                       "the log has no rows for %s after %.9g s, and the inputs in that time are not known. Begin "
                       "after it, or end before it: 'start' and 'end' under 'data'.",
                       od_duration_text(e->log->longest, 6).text, e->log->at);
    return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  if (!options->diagnose || options->source || e->uncorrected) return OD_OK;
  od_status status = od_record_take(e, rows_to_look_at(o), &record, err);
  if (status == OD_OK && record->rows >= least_rows) {
    const od_diagnosis_task task = {.e = e,
                                    .record = record,
                                    .step = e->log ? e->step : o->step,
                                    .can_hold = has_jumps(e),
                                    .can_shorten = true,
                                    .contradicted = od_verdict_has(v, "parameter.start"),
                                    .progress = options->progress,
                                    .user = options->user};
    status = od_diagnose(&task, v, NULL, err);
  }
  od_record_free(record);
  return status;
}
