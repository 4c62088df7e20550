#include "prepare/whiteness.h"

#include <math.h>

#include "math/chi_squared.h"
#include "math/normal.h"

static void find_moments(const double *series, long rows, od_whiteness *w) {
  double sum = 0, squares = 0;
  for (long i = 0; i < rows; i++)
    if (!isnan(series[i])) sum += series[i], w->count++;
  w->mean = sum / (double)w->count;
  for (long i = 0; i < rows; i++)
    if (!isnan(series[i])) squares += (series[i] - w->mean) * (series[i] - w->mean);
  w->deviation = sqrt(squares / (double)w->count);
  w->limit = OD_NORMAL95 / sqrt((double)w->count);
}

od_whiteness od_whiteness_find(const double *series, long rows, int lags, double *correlation) {
  od_whiteness w = {.count = 0};
  find_moments(series, rows, &w);
  double n = (double)w.count, squares = n * w.deviation * w.deviation, weighted = 0;
  correlation[0] = squares / squares;  // NAN if all samples are equal
  for (int k = 1; k <= lags; k++) {
    double sum = 0, pairs = 0;
    for (long i = k; i < rows; i++) {
      double product = (series[i] - w.mean) * (series[i - k] - w.mean);
      if (!isnan(product)) sum += product, pairs++;
    }
    correlation[k] = pairs > 0 ? sum / squares : (double)NAN;
    if (pairs == 0) continue;
    weighted += correlation[k] * correlation[k] / pairs;
    w.freedom++;
  }
  w.statistic = w.count > 4L * lags && w.freedom > 0 ? n * (n + 2) * weighted : (double)NAN;
  w.p = od_chi_squared_tail(w.statistic, w.freedom);
  return w;
}
