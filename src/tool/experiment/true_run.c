#include "experiment/true_run.h"

#include <stdlib.h>

#include "experiment/sample_source.h"

struct od_true_run {
  const od_experiment *e;
  od_kept_motion *motion;  // NULL: the motion depends on the seed
};

// --- The motion ---------------------------------------------------------------------------------------------------

// Checks that a disturbed machine, whose motion cannot be stored, can be simulated.
static od_status try_disturbed(const od_experiment *e, od_error *err) {
  od_true_motion *m = NULL;
  od_status status = od_true_motion_new(e, &m, err);
  od_true_motion_free(m);
  return status;
}

od_status od_true_run_new(const od_experiment *e, od_going_on going, od_true_run **out, od_error *err) {
  od_true_run *r = calloc(1, sizeof *r);
  *out = NULL;
  if (!r) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  r->e = e;
  od_status status = od_motion_is_same(e) ? od_kept_motion_new(e, going, &r->motion, err) : try_disturbed(e, err);
  if (status == OD_OK && r->motion) status = od_kept_motion_status(r->motion, err);
  if (status == OD_OK)
    *out = r;
  else
    od_true_run_free(r);
  return status;
}

void od_true_run_free(od_true_run *r) {
  if (!r) return;
  od_kept_motion_free(r->motion);
  free(r);
}

// --- Its sensors --------------------------------------------------------------------------------------------------

static od_table *new_table(const od_experiment *e) {
  od_table *t = od_table_new(1 + e->sensors);
  bool ok = t && od_table_label(t, 0, "time", "s") == OD_OK;
  for (int i = 0; ok && i < e->sensors; i++)
    ok = od_table_label(t, 1 + i, e->sensor[i].name, e->sensor[i].unit) == OD_OK;
  if (ok) return t;
  od_table_free(t);
  return NULL;
}

// Sample 0 is the start, without measurements.
static od_status measure(const od_experiment *e, double *row, od_table *t, od_error *err) {
  od_sample_source source;
  od_sample sample;
  bool more = true;
  od_status status = od_sample_source_simulated(e, &source, err);
  while (status == OD_OK) {
    status = source.next(source.self, &sample, &more, err);
    if (status != OD_OK || !more) break;
    row[0] = sample.t;
    for (int i = 0; i < e->sensors; i++) row[1 + i] = sample.y[i];
    status = od_table_append(t, row);
    if (status == OD_NO_MEMORY) od_fail(err, status, "memory ran out");
  }
  od_sample_source_free(&source);
  return status;
}

od_status od_true_run_measure(const od_true_run *r, uint64_t seed, od_table **out, od_error *err) {
  od_experiment own = *r->e;
  own.seed = seed;
  own.motion = r->motion;
  double *row = calloc((size_t)own.sensors + 1, sizeof *row);
  od_table *t = new_table(&own);
  od_status status = row && t ? measure(&own, row, t, err) : od_fail(err, OD_NO_MEMORY, "memory ran out");
  free(row);
  *out = status == OD_OK ? t : NULL;
  if (status != OD_OK) od_table_free(t);
  return status;
}
