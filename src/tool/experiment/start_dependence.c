// Tests whether the result depends on the start of the observer. An extended filter linearizes the machine at its
// estimate. Corrections are wrong while the parameters are far from the true values, and the filter's covariance does not show
// these errors. A second run over the same data starts at the estimated parameters and stays near these parameters. The initial
// standard deviations of constant parameters are at most ten times their final standard deviations in the first run.
//
// With another start, a linear filter also ends at other values, because of the weight of the prior. Let the first run start at m1
// with covariance S1 (diagonal) and end at p1. Let the second run start at m2 with S2 and end at p2. p0 is the true parameter at
// the start, and c1 is the estimate of p0 from the data of the first run. M is the second run's covariance of the final parameters
// and p0. Then
//
//  p2 - p1 = M (S2^-1 (m2 - c1) + S1^-1 (c1 - m1)).
//
// The shift is the difference between p2 - p1 and this value. A constant parameter has p0 = p, so c1 = p1, and M is the final
// covariance; the second run starts at m2 = p1. A parameter with noise has changed since the start. For such a parameter the second
// run starts at most one sigma from m1 with S2 = S1, so that c1 cancels. To compute the column of M for p0, the second run also
// estimates p0, as the bias of an output that is never measured.
#include <math.h>
#include <string.h>

#include "experiment/observe.h"
#include "memory/owned.h"

// Largest ratio of initial sigmas of the second run to final sigmas of the first run.
static const double sigma_factor = 10;

// Reports progress: the second run is the second half of the work.
static bool second_half(void *user, double done) {
  const od_observe_options *options = user;
  return options->progress(options->user, 0.5 + done / 2);
}

// The experiment of the second run. Initial values of parameters with noise are additional parameters at the end.
typedef struct second_run {
  od_arena memory;
  od_experiment e;
  int *at;                // per parameter: index of its initial value among all parameters
  double *start, *sigma;  // initial values and standard deviations of all parameters
} second_run;

static void free_second(second_run *x) {
  od_arena_free(&x->memory);
}

// Creates the experiment of the second run: initial values, standard deviations and covariance. Returns false if the
// plant cannot be created or if out of memory.
static bool make_second(const od_experiment *e, const od_observed *o, second_run *x) {
  int np = e->parameters, moving = 0;
  for (int i = 0; i < np; i++) moving += e->parameter[i].noise > 0;
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  od_error ignored = {0};
  if (od_experiment_plant(e, &plant, &ignored) != OD_OK) return false;
  int nx = od_plant_nx(plant), n = nx + np, wide = n + moving;
  x->e = *e;
  x->at = OD_TAKE(&x->memory, int, np);
  x->start = OD_TAKE(&x->memory, double, np + moving);
  x->sigma = OD_TAKE(&x->memory, double, np + moving);
  x->e.parameter = OD_TAKE(&x->memory, od_estimated, np + moving);
  x->e.covariance = OD_TAKE(&x->memory, double, wide *wide);
  if (od_arena_status(&x->memory) != OD_OK) return false;
  x->e.parameters = np + moving;
  x->e.outputs += moving > 0;
  memcpy(x->e.parameter, e->parameter, (size_t)np * sizeof *e->parameter);
  for (int i = 0, k = np; i < np; i++) {
    const od_estimated *p = &e->parameter[i];
    double change = o->estimate[i] - o->start[i];
    x->at[i] = p->noise > 0 ? k++ : i;
    x->sigma[i] = p->noise > 0 ? p->sigma : fmin(p->sigma, sigma_factor * o->sigma[i]);
    x->start[i] = o->start[i] + (p->noise > 0 ? fmin(fmax(change, -p->sigma), p->sigma) : change);
    if (x->at[i] == i) continue;
    od_estimated *initial = &x->e.parameter[x->at[i]];
    *initial = od_unbounded_parameter(p->path, p->unit, 0, p->sigma);
    initial->sensor = e->outputs;
    initial->start_of = i + 1;
    x->start[x->at[i]] = x->start[i];
    x->sigma[x->at[i]] = x->sigma[i];
  }
  // At the start the parameter and its initial value are the same number.
  double *P = x->e.covariance;
  for (int i = 0; i < wide; i++)
    for (int j = 0; j < wide; j++) {
      int a = i, b = j;
      for (int k = 0; k < np; k++) a = i == nx + x->at[k] ? nx + k : a, b = j == nx + x->at[k] ? nx + k : b;
      P[i * wide + j] = e->covariance[a * n + b];
    }
  return true;
}

// Computes the shift of each parameter in sigmas, by the equation at the top of this file.
static void find_shift(const od_experiment *e, const second_run *x, const od_observed *first, const od_observed *second,
                       double *shift) {
  int n = x->e.parameters;
  for (int i = 0; i < e->parameters; i++) {
    double expected = 0;
    for (int j = 0; j < e->parameters; j++)
      expected +=
          second->covariance[i * n + x->at[j]] * (x->start[j] - first->start[j]) / pow(e->parameter[j].sigma, 2);
    shift[i] = (second->estimate[i] - first->estimate[i] - expected) / first->sigma[i];
  }
}

od_status od_observe_start_dependence(const od_experiment *e, const od_observe_options *options, od_observed *o,
                                      od_error *err) {
  int n = e->parameters;
  if (n == 0) return OD_OK;
  OD_SCOPED(free_second) second_run x = {0};
  double *shift = OD_TAKE(&o->memory, double, n);
  if (!shift || !make_second(e, o, &x)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_observe_options first = *options;
  const od_observe_options again = {.progress = options->progress ? second_half : NULL,
                                    .user = &first,
                                    .no_table = true,
                                    .parameters = x.start,
                                    .sigmas = x.sigma};
  OD_OWNED(od_observed_free) od_observed *second = NULL;
  od_error failure = {0};
  od_status status = od_observe(&x.e, &again, &second, &failure);
  o->log_changed = status != OD_OK && e->log && od_log_has_changed(e->log);
  if (status == OD_NO_MEMORY) return od_fail(err, status, "%s", failure.text);
  if (status == OD_INTERRUPTED)
    return od_fail(
        err, status,
        "interrupted during the second run, which tests whether the result depends on the start; the estimates are complete");
  if (o->log_changed) return OD_OK;
  if (status == OD_OK) find_shift(e, &x, o, second, shift);
  for (int i = 0; i < n && status != OD_OK; i++) shift[i] = NAN;
  o->shift = shift;
  return OD_OK;
}
