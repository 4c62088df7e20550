// How large signals are, where the noise of their sensors is given as a part of that. Simulated ones are those of the true
// machine, run once without noise and disturbances, so that the noise does not depend on the seed; else those of the log.
#include <math.h>
#include <stdlib.h>

#include "experiment/experiment_loader.h"
#include "experiment/sample_source.h"

enum { MOST_STEPS = 1000000 };  // of the run before the run

// Of one signal: Welford's sums.
typedef struct signal_sums {
  double count, mean, squares;  // squares: of the differences from the mean
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

static od_status run_truth(const od_experiment *e, signal_sums *sums, od_error *err) {
  od_experiment undisturbed = *e;
  od_sample_source source;
  od_sample sample;
  bool more = true;
  undisturbed.disturbed = false;
  od_status status = od_sample_source_simulated(&undisturbed, &source, err);
  while (status == OD_OK) {
    status = source.next(source.self, &sample, &more, err);
    if (status != OD_OK || !more) break;
    for (int i = 0; i < e->sensors; i++) add(&sums[i], sample.truth[e->watches + i]);
  }
  od_sample_source_free(&source);
  return status;
}

static void read_log(const od_experiment *e, signal_sums *sums) {
  const od_log *log = e->log;
  for (long row = 0; row < log->rows; row++)
    for (int i = 0; i < e->sensors; i++) add(&sums[i], log->value[row * log->plan->channels + e->channel[i]]);
}

// From the size of its signal to the sensor's sigma.
static void take_size(od_experiment_loader *xl, int i, const signal_sums *sums) {
  od_sensor *s = &xl->e->sensor[i];
  s->sigma = s->relative * size_of(sums, s->size);
  if (!xl->simulated && !xl->e->log)
    od_complain(&xl->ld, xl->watched_key[i],
                "how large '%s' is, is not known before it is observed; its noise cannot be a part of that", s->name);
  else if (!(s->sigma > 0))
    od_complain(&xl->ld, xl->watched_key[i], "'%s' %s, so that its noise cannot be a part of that; expected a quantity",
                s->name, s->size == OD_SIGNAL_RMS ? "is always zero" : "never changes");
}

void od_load_signal_sizes(od_experiment_loader *xl) {
  od_experiment *e = xl->e;
  od_loader *ld = &xl->ld;
  int first = 0;
  while (first < e->sensors && !(e->sensor[first].relative > 0)) first++;
  if (first == e->sensors) return;
  if (xl->simulated && e->time / e->step > MOST_STEPS) {
    od_complain(ld, xl->watched_key[first],
                "%.3g steps are too many to find out how large '%s' is, at most %d; expected a quantity",
                e->time / e->step, e->sensor[first].name, MOST_STEPS);
    return;
  }
  signal_sums *sums = calloc((size_t)e->sensors, sizeof *sums);
  od_error err = {0};
  od_status status = sums ? OD_OK : OD_NO_MEMORY;
  if (status == OD_OK && xl->simulated)
    status = run_truth(e, sums, &err);
  else if (status == OD_OK && e->log)
    read_log(e, sums);
  if (status == OD_NO_MEMORY)
    ld->no_memory = true;
  else if (status != OD_OK)
    od_complain(ld, ld->tree.root, "%s", err.text);
  for (int i = first; status == OD_OK && i < e->sensors; i++)
    if (e->sensor[i].relative > 0) take_size(xl, i, &sums[i]);
  free(sums);
}
