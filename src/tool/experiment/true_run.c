#include "experiment/true_run.h"

#include <math.h>
#include <stdlib.h>

#include "experiment/sample_source.h"
#include "experiment/sensor.h"

struct od_true_run {
  const od_experiment *e;
  double step;
  bool same;  // the motion is the same for all seeds, and known:
  long samples, capacity;
  double *value;  // per sample, for each sensor its own output and the one that it reads
};

static bool integrates(const od_experiment *e) {
  for (int i = 0; i < e->sensors; i++)
    if (e->sensor[i].integrate > 0) return true;
  return false;
}

// --- The motion ---------------------------------------------------------------------------------------------------

static bool keep(od_true_run *r, const od_sample *s) {
  size_t width = 2 * (size_t)r->e->sensors;
  if (r->samples == r->capacity) {
    long more = r->capacity ? 2 * r->capacity : 1024;
    double *grown = realloc(r->value, ((size_t)more * width + 1) * sizeof *grown);
    if (!grown) return false;
    r->value = grown, r->capacity = more;
  }
  double *row = r->value + (size_t)r->samples++ * width;
  for (int i = 0; i < r->e->sensors; i++) row[2 * i] = s->truth[i], row[2 * i + 1] = s->truth[r->e->watches + i];
  return true;
}

static od_status simulate(od_true_run *r, od_going_on going, od_error *err) {
  od_sample_source source;
  od_sample sample;
  bool more = true;
  od_status status = od_sample_source_simulated(r->e, &source, err);
  if (status != OD_OK) return status;
  r->step = source.step;
  while (status == OD_OK && r->same) {
    status = source.next(source.self, &sample, &more, err);
    if (status != OD_OK || !more) break;
    if (!keep(r, &sample)) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
    if (r->samples % 256 == 0 && going.progress && !going.progress(going.user, sample.t / source.end))
      status = od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s of the simulated experiment", sample.t);
  }
  od_sample_source_free(&source);
  return status;
}

od_status od_true_run_new(const od_experiment *e, od_going_on going, od_true_run **out, od_error *err) {
  od_true_run *r = calloc(1, sizeof *r);
  *out = NULL;
  if (!r) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  *r = (od_true_run){.e = e, .same = !e->disturbed && !integrates(e)};
  od_status status = simulate(r, going, err);
  if (status == OD_OK)
    *out = r;
  else
    od_true_run_free(r);
  return status;
}

void od_true_run_free(od_true_run *r) {
  if (!r) return;
  free(r->value);
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

// Sample 0 is the start, at which sensors read and remember but say nothing.
static od_status measure_known(const od_true_run *r, od_sensor_noise *noise, od_sensor_memory *memory, double *row,
                               od_table *t) {
  int sensors = r->e->sensors;
  od_status status = OD_OK;
  for (long k = 0; k < r->samples && status == OD_OK; k++) {
    const double *value = r->value + (size_t)k * 2 * (size_t)sensors;
    row[0] = (double)k * r->step;
    for (int i = 0; i < sensors; i++) {
      memory[i].own = value[2 * i];
      row[1 + i] = od_sensor_measure(&r->e->sensor[i], &noise[i], k, row[0], value[2 * i + 1], &memory[i]);
      if (k == 0) row[1 + i] = memory[i].last = NAN;
    }
    status = od_table_append(t, row);
  }
  return status;
}

// Another seed, another motion.
static od_status measure_anew(const od_experiment *e, uint64_t seed, double *row, od_table *t, od_error *err) {
  od_experiment own = *e;
  od_sample_source source;
  od_sample sample;
  bool more = true;
  own.seed = seed;
  od_status status = od_sample_source_simulated(&own, &source, err);
  if (status != OD_OK) return status;
  while (status == OD_OK) {
    status = source.next(source.self, &sample, &more, err);
    if (status != OD_OK || !more) break;
    row[0] = sample.t;
    for (int i = 0; i < e->sensors; i++) row[1 + i] = sample.y[i];
    status = od_table_append(t, row);
  }
  od_sample_source_free(&source);
  return status;
}

od_status od_true_run_measure(const od_true_run *r, uint64_t seed, od_table **out, od_error *err) {
  const od_experiment *e = r->e;
  size_t sensors = (size_t)e->sensors;
  od_sensor_noise *noise = calloc(sensors + 1, sizeof *noise);
  od_sensor_memory *memory = calloc(sensors + 1, sizeof *memory);
  double *row = calloc(sensors + 1, sizeof *row);
  od_table *t = new_table(e);
  bool ok = noise && memory && row && t;
  for (size_t i = 0; ok && i < sensors; i++) ok = od_sensor_memory_begin(&memory[i], &e->sensor[i], r->step);
  od_status status = ok ? OD_OK : OD_NO_MEMORY;
  if (ok) od_sensor_noise_of(e, seed, noise);
  if (ok) status = r->same ? measure_known(r, noise, memory, row, t) : measure_anew(e, seed, row, t, err);
  if (status == OD_NO_MEMORY) od_fail(err, status, "memory ran out");
  for (size_t i = 0; memory && i < sensors; i++) od_sensor_memory_end(&memory[i]);
  free(noise), free(memory), free(row);
  *out = status == OD_OK ? t : NULL;
  if (status != OD_OK) od_table_free(t);
  return status;
}
