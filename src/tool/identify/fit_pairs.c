// Sensors with correlated residuals. A fit assumes that the noise of sensors is independent. Noise shared by two sensors is
// counted twice, and standard deviations become too small.
#include <math.h>

#include "experiment/innovations.h"
#include "identify/fit_work.h"

static double correlation_of(const od_fit_work *w, int a, int b) {
  double both = 0, of_a = 0, of_b = 0;
  long count = 0;
  for (int set = 0; set < w->f->sets; set++) {
    const od_fit_data *d = w->f->data[set];
    for (long k = 0; k < d->fitted; k++) {
      if (isnan(d->y[k * w->ns + a]) || isnan(d->y[k * w->ns + b])) continue;
      double x = od_fit_residual(w, set, k, a), y = od_fit_residual(w, set, k, b);
      both += x * y, of_a += x * x, of_b += y * y, count++;
    }
  }
  return count >= OD_ENOUGH_TOGETHER && of_a > 0 && of_b > 0 ? both / sqrt(of_a * of_b) : 0;
}

// Uses the predictions at the solution.
od_status od_fit_find_pair(od_fit_work *w, od_error *err) {
  od_fitted *f = w->f;
  (void)err;
  f->pair = (od_fit_pair){-1, -1, 0};
  if (w->plan->e->sensor_covariance || f->only_predicted) return OD_OK;
  for (int a = 0; a < w->ns && od_fit_keeps_going(w); a++)
    for (int b = a + 1; b < w->ns; b++) {
      double correlation = correlation_of(w, a, b);
      if (fabs(correlation) > fabs(f->pair.correlation)) f->pair = (od_fit_pair){a, b, correlation};
    }
  return OD_OK;
}
