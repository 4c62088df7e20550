// Does the result depend on where the observer began? An extended filter takes the machine as linear around what it believes;
// what it learned while its parameters were far off it has learned wrongly, and it does not know. A second run over the
// same data from the parameters that were found would find them again.
//
// From another start a linear filter ends elsewhere, too, by what the start is worth: with prior covariance S (diagonal) and
// final covariance P of the parameters, by P S^-1 (second start - first start). What differs beyond that is the shift.
#include <math.h>
#include <stdlib.h>

#include "experiment/observe_verdict.h"

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
      expected += first->covariance[i * n + j] * (second->start[j] - first->start[j]) / pow(e->parameter[j].sigma, 2);
    shift[i] = (second->estimate[i] - first->estimate[i] - expected) / first->sigma[i];
  }
}

od_status od_observe_repeat(const od_experiment *e, const od_observe_options *options, od_observed *o, od_error *err) {
  halves work = {options};
  const od_observe_options again = {
      .progress = options->progress ? second_half : NULL, .user = &work, .no_table = true, .parameters = o->estimate};
  od_observed *second = NULL;
  od_error ignored = {0};
  if (e->parameters == 0) return OD_OK;
  od_status status = od_observe(e, &again, &second, &ignored);
  double *shift = calloc((size_t)e->parameters, sizeof *shift);
  if (!shift) status = od_fail(&ignored, OD_NO_MEMORY, "memory ran out");
  o->shift = shift;
  if (status == OD_OK) find_shift(e, o, second, shift);
  for (int i = 0; i < e->parameters && status != OD_OK && shift; i++) shift[i] = NAN;
  od_observed_free(second);
  if (status == OD_NO_MEMORY || status == OD_INTERRUPTED) return od_fail(err, status, "%s", ignored.text);
  return OD_OK;
}
