#include "prepare/whiteness.h"

#include <math.h>

#include "math/chi_squared.h"
#include "math/normal.h"

od_whiteness od_whiteness_find(const double *series, long rows, int lags, double *correlation) {
  od_whiteness w = {.count = 0};
  double total = 0, spread = 0, weighted = 0;
  for (long i = 0; i < rows; i++)
    if (!isnan(series[i])) total += series[i], w.count++;
  double n = (double)w.count;
  w.mean = total / n;
  for (long i = 0; i < rows; i++)
    if (!isnan(series[i])) spread += (series[i] - w.mean) * (series[i] - w.mean);
  w.deviation = sqrt(spread / n);
  w.limit = OD_NORMAL95 / sqrt(n);
  double squares = n * w.deviation * w.deviation;
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
