// Does the result depend on where the observer began? An extended filter takes the machine as linear around what it
// believes; what it learned while its parameters were far off it has learned wrongly, and it does not know. A second
// run over the same data begins with the parameters that were found and stays near them, for its covariance is inflated to ten times
// as uncertain as the first one was in the end.
//
// From another start a linear filter ends elsewhere, too, by what the start was worth: the first began at m with
// covariance S (diagonal) and found p; the second ends with covariance P. If all was linear it finds
// p + P S^-1 (p - m). What differs beyond that is the shift.
#include <math.h>
#include <stdlib.h>

#include "experiment/observe_verdict.h"

static const double wider = 10;  // than the first run's final sigmas

// The second run is the second half of the work.
typedef struct halves {
  const od_observe_options *options;
} halves;
static bool second_half(void *user, double done) {
  const od_observe_options *options = ((const halves *)user)->options;
  return options->progress(options->user, 0.5 + done / 2);
}

static void find_shift(const od_experiment *e, const od_observed *first, const od_observed *second, double *shift) {
  int n = e->parameters;
  for (int i = 0; i < n; i++) {
    double expected = 0;
    for (int j = 0; j < n; j++)
      expected +=
          second->covariance[i * n + j] * (first->estimate[j] - first->start[j]) / pow(e->parameter[j].sigma, 2);
    shift[i] = (second->estimate[i] - first->estimate[i] - expected) / first->sigma[i];
  }
}

od_status od_observe_start_dependence(const od_experiment *e, const od_observe_options *options, od_observed *o,
                                      od_error *err) {
  int n = e->parameters;
  if (n == 0) return OD_OK;
  double *sigmas = calloc((size_t)n, sizeof *sigmas);
  o->shift = calloc((size_t)n, sizeof *o->shift);
  if (!sigmas || !o->shift) {
    free(sigmas);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  for (int i = 0; i < n; i++) sigmas[i] = fmin(e->parameter[i].sigma, wider * o->sigma[i]);
  halves work = {options};
  const od_observe_options again = {.progress = options->progress ? second_half : NULL,
                                    .user = &work,
                                    .no_table = true,
                                    .parameters = o->estimate,
                                    .sigmas = sigmas};
  od_observed *second = NULL;
  od_error ignored = {0};
  od_status status = od_observe(e, &again, &second, &ignored);
  if (status == OD_OK) find_shift(e, o, second, o->shift);
  for (int i = 0; i < n && status != OD_OK; i++) o->shift[i] = NAN;
  free(sigmas);
  od_observed_free(second);
  o->log_changed = status != OD_OK && e->log && od_log_has_changed(e->log);
  if (status != OD_NO_MEMORY && status != OD_INTERRUPTED && !o->log_changed) return OD_OK;
  free(o->shift);
  o->shift = NULL;
  if (o->log_changed && status != OD_NO_MEMORY && status != OD_INTERRUPTED) return OD_OK;
  if (status == OD_NO_MEMORY) return od_fail(err, status, "%s", ignored.text);
  return od_fail(
      err, status,
      "interrupted while a second run looked whether the result depends on the start; the estimates are complete");
}
