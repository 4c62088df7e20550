// Shift of the estimates by the integration error of the predictions.
//
// The last prediction is repeated with half the step. Errors of a rule of order p decrease by 2^p, so the prediction in the
// limit of small steps differs by (y_half - y) 2^p / (2^p - 1). The shift of the estimates follows from this change of the
// residuals. Data simulated for the fit have the same integration errors as their predictions and are not counted. Exact
// discretization has no such error.
#include <math.h>
#include <stdlib.h>

#include "identify/fit_work.h"
#include "least_squares/loss.h"

static const double aim = 0.25;  // largest acceptable shift, in sigmas

static bool has_steps(const od_fit_work *w, int set) {
  const od_fit_data *d = w->f->data[set];
  return d->fitted > 0 && d->set->log && !od_fit_rule(w->plan, d->uniform).exact;
}

static double order_of(const od_fit_work *w, int set) {
  const od_integrator *integrator = od_fit_rule(w->plan, w->f->data[set]->uniform).integrator;
  return (integrator ? integrator : od_integrator_at(0))->order;
}

typedef struct changes {
  const od_fit_work *w;
  const double *half;  // predictions with half the steps
  double *sum;
} changes;

// sum += J'W d, over all fitted rows.
static void add_change(void *user, const od_fit_block *b) {
  const changes *of = user;
  const od_fit_work *w = of->w;
  const od_fit_data *d = w->f->data[b->set];
  double factor = 1 + 1 / (exp2(order_of(w, b->set)) - 1);
  for (long k = b->first; k < b->first + b->count && k < d->fitted; k++)
    for (int i = 0; i < w->ns; i++) {
      double r = od_fit_residual(w, b->set, k, i);
      if (isnan(r)) continue;
      const double *derivative = od_fit_derivatives(w, b, k, i);
      double weight = od_loss_row(w->plan->loss, od_fit_loss_scale(w->plan), r).row;
      double change = factor * (of->half[k * w->ny + i] - w->y[b->set][k * w->ny + i]) / d->sigma[i];
      double part = weight * weight * change / d->sigma[i];
      for (int c = 0; c < b->columns; c++) of->sum[od_fit_column(w, b, c)] += part * derivative[c];
    }
}

static od_status add_set(od_fit_work *w, int set, double *sum, od_error *err) {
  od_predictor *finer = NULL;
  size_t values = (size_t)w->f->data[set]->rows * (size_t)w->ny;
  double *half = malloc((values + 1) * sizeof *half);
  bool segments = w->shooting && w->shooting[set];
  changes of = {w, half, sum};
  od_status status = half ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK && segments) status = od_fit_shooting_half(w, set, half, err);
  if (status == OD_OK && segments) status = od_fit_visit_set(w, set, add_change, &of);
  if (status == OD_OK && !segments) status = od_fit_predictor(w, set, 2, false, &finer, err);
  if (status == OD_OK && !segments) {
    if (od_fit_predict(w, set, finer, w->f->search->x, half) == OD_OK)
      status = od_fit_visit_set(w, set, add_change, &of);
    else
      sum[0] = NAN;  // not known
  }
  od_predictor_free(finer);
  free(half);
  return status;
}

// The number of steps between two samples that makes the largest shift acceptable.
static int better_substeps(const od_fit_work *w, double order) {
  double worst = 0, now = w->plan->substeps ? w->plan->substeps : 1;
  for (int a = 0; a < w->np; a++)
    if (w->f->sigma[a] > 0 && isfinite(w->f->sigma[a])) worst = fmax(worst, fabs(w->f->shift[a]) / w->f->sigma[a]);
  return worst > aim ? (int)fmin(ceil(now * pow(worst / aim, 1 / order)), 1e6) : (int)now;
}

od_status od_fit_find_shift(od_fit_work *w, od_error *err) {
  od_fitted *f = w->f;
  double *sum = calloc((size_t)w->n + 1, sizeof *sum), order = 0;
  od_status status = sum ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int a = 0; a < w->np; a++) f->shift[a] = NAN;
  bool found = w->influence && !f->only_predicted && f->search->reason != OD_LS_STOPPED;
  for (int set = 0; set < f->sets && status == OD_OK && found; set++) {
    if (!has_steps(w, set)) continue;
    order = order_of(w, set);
    status = add_set(w, set, sum, err);
  }
  for (int a = 0; a < w->np && status == OD_OK && order > 0; a++) {
    f->shift[a] = 0;
    for (int c = 0; c < w->n; c++) f->shift[a] += w->influence->gain[a * w->n + c] * sum[c];
  }
  f->better_substeps = order > 0 && status == OD_OK ? better_substeps(w, order) : 0;
  free(sum);
  return status;
}
