// Checks the standard deviations, which are computed for a quadratic cost from the derivatives at its minimum. One
// parameter is changed by one standard deviation, and the other parameters according to their correlations. A quadratic
// cost then rises by half the variance of a residual. If the rise differs, the cost is non-smooth or strongly nonlinear on
// this scale: errors of the estimates may exceed their standard deviations, and other minima may be near.
#include <math.h>

#include "identify/fit_work.h"
#include "least_squares/loss.h"

enum { MOST_CHECKED = 8 };         // largest number of checked parameters, with two predictions each
static const double least = 1e-6;  // smallest ratio of rises in comparisons; smaller and negative ratios are replaced
                                   // by this ratio

typedef struct cost {
  const od_fit_plan *plan;
  double sum;
} cost;

static void add_costs(void *to, int count, const double *r, const double *J, const double *factor) {
  cost *c = to;
  (void)J, (void)factor;
  c->sum += od_loss_cost(c->plan->loss, od_fit_loss_scale(c->plan), count, r);
}

// Lists at most MOST_CHECKED parameters that have a standard deviation, in descending order of their relative sigmas.
// Returns the number of listed parameters.
static int list_parameters(const od_fit_work *w, int *list) {
  const od_ls_result *r = w->f->search;
  int count = 0;
  for (int i = 0; i < w->np; i++) {
    double part = r->sigma[i] / fabs(r->x[i]);
    if (!(r->sigma[i] > 0) || !isfinite(part)) continue;
    int at = count < MOST_CHECKED ? count++ : MOST_CHECKED;
    for (; at > 0 && r->sigma[list[at - 1]] / fabs(r->x[list[at - 1]]) < part; at--)
      if (at < MOST_CHECKED) list[at] = list[at - 1];
    if (at < MOST_CHECKED) list[at] = i;
  }
  return count;
}

// Computes the point one standard deviation of a parameter away, up or down. Returns false if the point is outside a bound.
static bool one_sigma_away(const od_fit_work *w, int parameter, int side, double *x) {
  const od_ls_result *r = w->f->search;
  for (int j = 0; j < w->n; j++) {
    double covariance = r->covariance[parameter * w->n + j];
    x[j] = r->x[j] + side * covariance / r->sigma[parameter];
    if (!isfinite(x[j]) || x[j] < w->low[j] || x[j] > w->high[j]) return false;
  }
  return true;
}

od_status od_fit_check_cost_rise(od_fit_work *w, od_error *err) {
  od_fitted *f = w->f;
  const od_ls_result *r = f->search;
  bool found = r->reason == OD_LS_GRADIENT || r->reason == OD_LS_COST || r->reason == OD_LS_STEP;
  f->cost_rise = (od_fit_cost_rise){.parameter = -1, .ratio = 1};
  if (!found || f->only_predicted || w->shooting || r->constraints > 0 || !(r->variance > 0)) return OD_OK;
  OD_SCRATCH(scratch);
  double *x = OD_TAKE(&scratch, double, w->n);
  if (!x) return od_fail(err, OD_NO_MEMORY, "out of memory");
  int list[MOST_CHECKED + 1], count = list_parameters(w, list);
  for (int i = 0; i < 2 * count && od_fit_keeps_going(w); i++) {
    cost c = {.plan = w->plan};
    if (!one_sigma_away(w, list[i / 2], i % 2 ? -1 : 1, x) || od_fit_rows(w, x, false, 1, add_costs, &c) != 0) continue;
    double ratio = (c.sum - r->cost) / (0.5 * r->variance);
    if (fabs(log(fmax(ratio, least))) > fabs(log(fmax(f->cost_rise.ratio, least))))
      f->cost_rise = (od_fit_cost_rise){list[i / 2], ratio};
  }
  return OD_OK;
}
