// Computes metrics from the errors of a run, sample by sample. Let e be the errors of a metric's outputs and parameters at a time, and S
// the observer's covariance of these outputs and parameters. The metrics are
//
//  norm      sqrt(sum e'e)             mean      mean e            final  the root mean square of the last e
//  rms       sqrt(mean e'e / count)    max       largest |e|       sigma  sqrt(mean trace S / count)
//  coverage  fraction of all e within 1.96 sigma                   nees   mean e' S^-1 e / count
//  within_3_sigma  fraction of all e within 3 sigma
//
// over all samples between `from` and `to`, or over a number of equally spaced points of this interval, both ends included.
#include "experiment/error_metrics.h"

#include <string.h>

#include "base/allocate.h"
#include "experiment/truth_change.h"
#include "math/dense.h"
#include "math/normal.h"
#include "oleodyn/sim.h"

enum { NORM, RMS, MEAN, MAX, FINAL, SIGMA, COVERAGE, WITHIN_3_SIGMA, NEES };
const od_error_metric_class od_error_metric_classes[] = {
    [NORM] = {"norm", "root of the sum of squared errors", true, NAN},
    [RMS] = {"rms", "root mean square error", true, NAN},
    [MEAN] = {"mean", "mean error, with its sign", true, NAN},
    [MAX] = {"max", "largest absolute error", true, NAN},
    [FINAL] = {"final", "root mean square error of the last sample", true, NAN},
    [SIGMA] = {"sigma", "root mean square of the observer's standard deviations", true, NAN},
    [COVERAGE] = {"coverage", "fraction of the errors within 1.96 standard deviations", false, 0.95},
    [WITHIN_3_SIGMA] = {"within_3_sigma", "fraction of the errors within 3 standard deviations", false, 0.9973},
    [NEES] = {"nees", "mean squared error, normalized with the observer's covariance, per output or parameter", false,
              1},
    {NULL, NULL, false, NAN},
};

bool od_error_metrics_default(od_experiment *e) {
  if (e->metrics > 0) return true;
  int *output = OD_TAKE(&e->memory, int, e->watches);
  e->metric = OD_TAKE(&e->memory, od_error_metric, e->watches);
  if (od_arena_status(&e->memory) != OD_OK) return false;
  for (int i = 0; i < e->watches; i++) {
    const od_watched *w = &e->watched[i];
    output[i] = i;
    e->metric[e->metrics++] = (od_error_metric){w->name, w->unit, RMS, &output[i], 1, 0, 0, INFINITY};
  }
  return true;
}

typedef struct sums {
  double sum, largest, last;
  long count;       // number of samples used so far
  long next_point;  // index of the next point
  bool takes;       // whether the metric uses the current sample
} sums;

struct od_error_record {
  od_arena memory;
  const od_experiment *e;
  int nx, np;
  double begin, end;
  sums *of;                        // sums of each metric
  double *y, *sigma, *hx, *hp;     // outputs of the observer, their standard deviations and derivatives
  double *error, *S, *L, *scaled;  // scratch: errors and covariance of the outputs of one metric
};

od_error_record *od_error_record_new(const od_experiment *e, const od_plant *plant, double begin, double end) {
  OD_OWNED(od_error_record_free) od_error_record *r = od_calloc(1, sizeof *r);
  if (!r) return NULL;
  int nx = od_plant_nx(plant), np = plant->np, ny = plant->ny, most = 1;
  *r = (od_error_record){.e = e, .nx = nx, .np = np, .begin = begin, .end = end};
  for (int i = 0; i < e->metrics; i++) most = e->metric[i].count > most ? e->metric[i].count : most;
  r->of = OD_TAKE(&r->memory, sums, e->metrics);
  r->y = OD_TAKE(&r->memory, double, ny);
  r->sigma = OD_TAKE(&r->memory, double, ny);
  r->hx = OD_TAKE(&r->memory, double, ny *nx);
  r->hp = OD_TAKE(&r->memory, double, ny *np);
  r->error = OD_TAKE(&r->memory, double, most);
  r->scaled = OD_TAKE(&r->memory, double, most);
  r->S = OD_TAKE_MATRIX(&r->memory, double, most, most);
  r->L = OD_TAKE_MATRIX(&r->memory, double, most, most);
  return od_arena_status(&r->memory) == OD_OK ? OD_GIVE(r) : NULL;
}

void od_error_record_free(od_error_record *r) {
  if (!r) return;
  od_arena_free(&r->memory);
  od_free(r);
}

// Returns whether a metric uses the sample at time t. If so, advances the index of the next point.
static bool takes(const od_error_record *r, const od_error_metric *m, sums *s, double t) {
  double from = fmax(m->from, r->begin), to = fmin(m->to, r->end), tolerance = 1e-9 * (1 + fabs(t));
  if (t < from - tolerance || t > to + tolerance) return false;
  if (m->points == 0) return true;
  double next = m->points > 1 ? from + (to - from) * (double)s->next_point / (double)(m->points - 1) : to;
  if (s->next_point >= m->points || t < next - tolerance) return false;
  // If points are closer than samples, a sample that represents several points is used once.
  while (s->next_point < m->points && next <= t + tolerance) {
    s->next_point++;
    next = from + (to - from) * (double)s->next_point / fmax((double)(m->points - 1), 1);
  }
  return true;
}

// Returns the derivative of an output or a parameter (od_error_metric.output) with respect to state or parameter k.
static double slope_of(const od_error_record *r, int output, int k) {
  if (output < 0) return k == r->nx - 1 - output;
  int row = r->e->watched[output].row;
  return k < r->nx ? r->hx[row * r->nx + k] : r->hp[row * r->np + k - r->nx];
}

// Computes the covariance S of outputs and parameters from their derivatives and from the covariance P of states and parameters.
static void fill_covariance(const od_error_record *r, const od_error_metric *m, const double *P) {
  int n = r->nx + r->np, count = m->count;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) {
        double hk = slope_of(r, m->output[i], k), inner = 0;
        if (hk == 0) continue;
        for (int l = 0; l < n; l++) inner += P[k * n + l] * slope_of(r, m->output[j], l);
        sum += hk * inner;
      }
      r->S[i * count + j] = sum;
    }
}

// Returns e' S^-1 e per output; NAN: S is singular.
static double normalized(const od_error_record *r, const od_error_metric *m, const double *P) {
  int n = m->count;
  double sum = 0;
  fill_covariance(r, m, P);
  if (od_cholesky(n, r->S, r->L) != n) return NAN;
  for (int i = 0; i < n; i++) {
    double rest = r->error[i];
    for (int j = 0; j < i; j++) rest -= r->L[i * n + j] * r->scaled[j];
    r->scaled[i] = rest / r->L[i * n + i];
    sum += r->scaled[i] * r->scaled[i];
  }
  return sum / n;
}

// Returns the contribution of one sample to a metric. The errors are in r->error.
static double value_of(const od_error_record *r, const od_error_metric *m, const od_observer *observer,
                       const double *P) {
  double squares = 0, sum = 0, covered = 0, variances = 0;
  double limit = m->kind == WITHIN_3_SIGMA ? 3 : OD_NORMAL95;
  for (int i = 0; i < m->count; i++) {
    int output = m->output[i];
    double sigma =
        output < 0 ? od_observer_parameter_sigma(observer, -1 - output) : r->sigma[r->e->watched[output].row];
    squares += r->error[i] * r->error[i];
    sum += r->error[i];
    covered += fabs(r->error[i]) <= limit * sigma;
    variances += sigma * sigma;
  }
  switch (m->kind) {
    case MEAN: return sum / m->count;
    case SIGMA: return variances / m->count;
    case COVERAGE:
    case WITHIN_3_SIGMA: return covered / m->count;
    case NEES: return normalized(r, m, P);
    case NORM: return squares;
    default: return squares / m->count;
  }
}

void od_error_record_transfer(od_error_record *r, od_pieces *t) {
  for (int i = 0; i < r->e->metrics; i++) {
    sums *of = &r->of[i];
    double numbers[] = {of->sum, of->largest, of->last};
    int64_t counts[] = {of->count, of->next_point};
    const void *saved = od_pieces_bytes(t, numbers, sizeof numbers),
               *saved_counts = od_pieces_bytes(t, counts, sizeof counts);
    if (saved) memcpy(numbers, saved, sizeof numbers), memcpy(counts, saved_counts, sizeof counts);
    od_pieces_expect(t, od_saved_is_count(counts[0]) && od_saved_is_count(counts[1]),
                     "a count of the errors is out of range");
    if (t->mode == OD_PIECES_RESTORE)
      *of = (sums){numbers[0], numbers[1], numbers[2], (long)counts[0], (long)counts[1], false};
  }
}

od_status od_error_record_take(od_error_record *r, const od_sample *s, od_observer *observer) {
  const od_experiment *e = r->e;
  bool kinds[NEES + 1] = {false}, any = false;
  const double *P = NULL;
  if (!s->truth) return OD_OK;
  for (int i = 0; i < e->metrics; i++) {
    r->of[i].takes = takes(r, &e->metric[i], &r->of[i], s->t);
    if (r->of[i].takes) kinds[e->metric[i].kind] = any = true;
  }
  if (!any) return OD_OK;
  od_sim *sim = od_observer_sim(observer);
  bool by_sigma = kinds[COVERAGE] || kinds[WITHIN_3_SIGMA] || kinds[SIGMA];
  od_status status = by_sigma ? od_observer_outputs(observer, r->y, r->sigma) : od_sim_outputs(sim, r->y);
  if (status == OD_OK && kinds[NEES]) {
    status = od_sim_output_jacobians(sim, r->hx, NULL, r->np ? r->hp : NULL);
    P = od_observer_covariance(observer);
  }
  if (status != OD_OK) return status;
  for (int i = 0; i < e->metrics; i++) {
    const od_error_metric *m = &e->metric[i];
    sums *of = &r->of[i];
    bool known = true;
    if (!of->takes) continue;
    for (int k = 0; k < m->count; k++) {
      int output = m->output[k];
      r->error[k] = output < 0 ? od_observer_parameters(observer)[-1 - output] - od_true_parameter(e, s, -1 - output)
                               : r->y[e->watched[output].row] - s->truth[output];
      known = known && isfinite(r->error[k]);
    }
    double value = known ? value_of(r, m, observer, P) : (double)NAN;
    if (isnan(value)) continue;
    of->sum += value;
    of->last = value;
    of->largest = fmax(of->largest, value);
    of->count++;
  }
  return OD_OK;
}

void od_error_record_result(const od_error_record *r, double *value) {
  for (int i = 0; i < r->e->metrics; i++) {
    const sums *s = &r->of[i];
    double mean = s->sum / (double)s->count;
    switch (r->e->metric[i].kind) {
      case NORM: value[i] = sqrt(s->sum); break;
      case RMS:
      case SIGMA: value[i] = sqrt(mean); break;
      case MAX: value[i] = sqrt(s->largest); break;
      case FINAL: value[i] = sqrt(s->last); break;
      default: value[i] = mean; break;
    }
    if (s->count == 0) value[i] = NAN;
  }
}
