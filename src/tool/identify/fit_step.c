// Shift of the estimates caused by the integration error of the predictions.
//
// The last prediction is repeated with half the step. Errors of a rule of order p decrease by a factor of 2^p. The
// prediction in the limit of small steps therefore differs by (y_half - y) 2^p / (2^p - 1). The shift of the estimates
// follows from this change of the residuals. Data simulated for the fit have the same integration errors as their
// predictions and are not counted. Exact discretization has no integration error.
#include <math.h>

#include "identify/fit_work.h"
#include "least_squares/loss.h"

static const double largest_shift = 0.25;  // largest acceptable shift, in sigmas

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
  const double *half;  // predictions with half the step
  double *sum;
} changes;

// Computes sum += J'W d over all fitted rows of a block. d: change of the residuals in the limit of small steps.
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
  OD_SCRATCH(scratch);
  OD_OWNED(od_predictor_free) od_predictor *finer = NULL;
  double *half = OD_TAKE_MATRIX(&scratch, double, w->f->data[set]->rows, w->ny);
  changes of = {w, half, sum};
  if (!half) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (w->shooting && w->shooting[set]) {
    od_status status = od_fit_shooting_half(w, set, half, err);
    return status == OD_OK ? od_fit_visit_set(w, set, add_change, &of) : status;
  }
  od_status status = od_fit_predictor(w, set, 2, false, &finer, err);
  if (status != OD_OK) return status;
  if (od_fit_predict(w, set, finer, w->f->search->x, half) == OD_OK) return od_fit_visit_set(w, set, add_change, &of);
  sum[0] = NAN;  // the shift is not known
  return OD_OK;
}

// Returns the number of steps between two samples with which the largest shift is about largest_shift standard deviations. Returns
// the current number if no shift is larger.
static int better_substeps(const od_fit_work *w, double order) {
  double worst = 0, now = w->plan->substeps ? w->plan->substeps : 1;
  for (int a = 0; a < w->np; a++)
    if (w->f->sigma[a] > 0 && isfinite(w->f->sigma[a])) worst = fmax(worst, fabs(w->f->shift[a]) / w->f->sigma[a]);
  return worst > largest_shift ? (int)fmin(ceil(now * pow(worst / largest_shift, 1 / order)), 1e6) : (int)now;
}

od_status od_fit_find_shift(od_fit_work *w, od_error *err) {
  od_fitted *f = w->f;
  OD_SCRATCH(scratch);
  double *sum = OD_TAKE(&scratch, double, w->n), order = 0;
  if (!sum) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int a = 0; a < w->np; a++) f->shift[a] = NAN;
  bool found = w->influence && !f->only_predicted && f->search->reason != OD_LS_STOPPED;
  for (int set = 0; set < f->sets && found; set++) {
    if (!has_steps(w, set)) continue;
    order = order_of(w, set);
    od_status status = add_set(w, set, sum, err);
    if (status != OD_OK) return status;
  }
  if (!(order > 0)) return OD_OK;
  for (int a = 0; a < w->np; a++) {
    f->shift[a] = 0;
    for (int c = 0; c < w->n; c++) f->shift[a] += w->influence->gain[a * w->n + c] * sum[c];
  }
  f->better_substeps = better_substeps(w, order);
  return OD_OK;
}
