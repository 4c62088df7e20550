// Computes the sizes of signals, for sensors with relative noise. Also computes the errors of sensor types whose error
// depends on the motion. Simulated signals come from one run of the true machine without noise and disturbances. The
// sizes depend on the seed only if a number changes by a random walk. Without a true machine, the signals come from the log.
#include <math.h>
#include <string.h>

#include "experiment/experiment_loader.h"
#include "experiment/sample_source.h"
#include "experiment/sensor.h"

enum { MOST_STEPS = 1000000 };  // limit of the preliminary run, steps

// Welford's sums of one signal.
typedef struct signal_sums {
  double count, mean, squares;  // squares: sum of squared deviations from the mean
  double errors;                // sum of squared errors of a sensor whose type has errs_by_path
  bool reads;                   // whether some value of the sensor is not zero
} signal_sums;

static void add(signal_sums *s, double value) {
  if (isnan(value)) return;
  double before = value - s->mean;
  s->count += 1;
  s->mean += before / s->count;
  s->squares += before * (value - s->mean);
}

static double size_of(const signal_sums *s, od_signal_size size) {
  double variance = s->count > 0 ? s->squares / s->count : 0;
  return sqrt(size == OD_SIGNAL_RMS ? variance + s->mean * s->mean : variance);
}

static bool errs_by_path(const od_sensor *s) {
  return s->of && s->of->errs_by_path;
}

// Returns the sensor with its type only, without noise and faults.
static od_sensor without_noise(const od_sensor *s) {
  od_sensor only = {.name = s->name, .unit = s->unit, .source = s->source, .source_output = s->source_output};
  only.of = s->of;
  memcpy(only.number, s->number, sizeof only.number);
  only.scale = 1;
  only.every = 1;
  only.faults = (od_faults){.stuck_from = INFINITY, .stuck_to = INFINITY, .dies = INFINITY};
  return only;
}

// Simulates the true machine and adds its signals to the sums. Fails with OD_NO_MEMORY or a status of the source of the samples.
static od_status run_truth(const od_experiment *e, signal_sums *sums, od_error *err) {
  OD_SCRATCH(scratch);
  OD_SCOPED(od_sample_source_free) od_sample_source source = {0};
  od_experiment undisturbed = *e;
  od_sample sample;
  bool more = true;
  undisturbed.disturbed = false;
  undisturbed.sensor_factor = NULL;
  undisturbed.sensor = OD_TAKE(&scratch, od_sensor, e->sensors);
  if (!undisturbed.sensor) return OD_NO_MEMORY;
  for (int i = 0; i < e->sensors; i++) undisturbed.sensor[i] = without_noise(&e->sensor[i]);
  od_status status = od_sample_source_simulated(&undisturbed, &source, err);
  while (status == OD_OK) {
    status = source.next(source.self, &sample, &more, err);
    if (status != OD_OK || !more) break;
    for (int i = 0; i < e->sensors; i++) {
      double error = errs_by_path(&e->sensor[i]) ? sample.y[i] - sample.truth[i] : 0;
      add(&sums[i], sample.truth[errs_by_path(&e->sensor[i]) ? i : e->watches + i]);
      if (!isnan(error)) sums[i].errors += error * error;
      sums[i].reads = sums[i].reads || (!isnan(sample.y[i]) && sample.y[i] != 0);
    }
  }
  return status;
}

// Adds the values of the log to the sums. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_log(const od_experiment *e, signal_sums *sums, od_error *err) {
  OD_OWNED(od_log_cursor_free) od_log_cursor *cursor = NULL;
  od_status status = od_log_cursor_new(e->log, &cursor, err);
  const double *value = NULL;
  double time;
  bool more = true;
  while (status == OD_OK) {
    status = od_log_cursor_next(cursor, &time, &value, &more, err);
    if (status != OD_OK || !more) break;
    for (int i = 0; i < e->sensors; i++) add(&sums[i], value[e->channel[i]]);
  }
  return status;
}

// Returns whether the sensor's noise is computed from its signal: from a run of the true machine, or from the log.
static bool needs_run(const od_experiment_loader *xl, const od_sensor *s) {
  return s->relative > 0 || (errs_by_path(s) && xl->simulated && !(s->assume > 0));
}

void od_load_signal_sizes(od_experiment_loader *xl) {
  od_experiment *e = xl->e;
  od_loader *ld = &xl->ld;
  int first = 0;
  while (first < e->sensors && !needs_run(xl, &e->sensor[first])) first++;
  if (first == e->sensors) return;
  if (xl->simulated && e->time / e->step > MOST_STEPS) {
    od_complain(ld, xl->watched_key[first],
                "%.3g steps are too many to compute the %s of '%s' (at most 1 million steps); give %s",
                e->time / e->step, e->sensor[first].relative > 0 ? "size" : "standard deviation", e->sensor[first].name,
                e->sensor[first].relative > 0 ? "the noise as a quantity with a unit instead of a percentage"
                                              : "the standard deviation with the key 'assume'");
    return;
  }
  signal_sums *sums = OD_TAKE(&xl->memory, signal_sums, e->sensors);
  if (!sums) return;
  od_error err = {0};
  od_status status = xl->simulated ? run_truth(e, sums, &err) : e->log ? read_log(e, sums, &err) : OD_OK;
  if (status == OD_NO_MEMORY)
    ld->no_memory = true;
  else if (status != OD_OK)
    od_complain(ld, ld->tree.root, "%s", err.text);
  for (int i = first; status == OD_OK && i < e->sensors; i++) {
    od_sensor *s = &e->sensor[i];
    if (s->relative > 0) {
      s->sigma = s->relative * size_of(&sums[i], s->size);
      if (!xl->simulated && !e->log)
        od_complain(
            ld, xl->watched_key[i],
            "the noise of '%s' cannot be relative to its signal: the size of a live signal is not known in advance; "
            "expected a quantity",
            s->name);
      else if (!(s->sigma > 0))
        od_complain(ld, xl->watched_key[i],
                    "the noise of '%s' cannot be relative to its signal, which is %s; expected a quantity", s->name,
                    s->size == OD_SIGNAL_RMS ? "always zero" : "constant");
    }
    if (!needs_run(xl, s) || !errs_by_path(s)) continue;
    s->path_sigma = sums[i].reads ? sqrt(sums[i].errors / sums[i].count) : 0;
    if (!sums[i].reads)
      od_complain(ld, xl->watched_key[i],
                  "'%s' reads zero during the whole run, so its standard deviation is not known; expected 'assume'",
                  s->name);
  }
}
