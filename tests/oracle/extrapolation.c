// Gragg's midpoint rule with extrapolation to step zero (Aitken-Neville, in h^2).
#include "oracle/extrapolation.h"

#include <math.h>

enum { COLUMNS = 8 };  // order 2 * COLUMNS

// One basic step: `count` (even) midpoint substeps and Gragg's smoothing, whose error expands in even powers of h.
static void midpoint(oracle_rates *f, void *user, int n, double t, double h, int count, const double *x0,
                     const double *f0, double *out) {
  double before[ORACLE_MAX_STATES], now[ORACLE_MAX_STATES], slope[ORACLE_MAX_STATES];
  const double s = h / count;
  for (int i = 0; i < n; i++) {
    before[i] = x0[i];
    now[i] = x0[i] + s * f0[i];
  }
  for (int k = 1; k < count; k++) {
    f(user, t + k * s, now, slope);
    for (int i = 0; i < n; i++) {
      const double next = before[i] + 2 * s * slope[i];
      before[i] = now[i];
      now[i] = next;
    }
  }
  f(user, t + h, now, slope);
  for (int i = 0; i < n; i++) out[i] = 0.5 * (before[i] + now[i] + s * slope[i]);
}

double oracle_extrapolate(oracle_rates *f, void *user, int n, double t, double h, double *x) {
  double row[COLUMNS][ORACLE_MAX_STATES], f0[ORACLE_MAX_STATES], last[ORACLE_MAX_STATES] = {0};
  f(user, t, x, f0);
  for (int j = 0; j < COLUMNS; j++) {
    // row[k] holds T(j-1, k) until T(j, k+1) has used it.
    double fresh[ORACLE_MAX_STATES];
    midpoint(f, user, n, t, h, 2 * (j + 1), x, f0, fresh);
    for (int k = 0; k < j; k++) {
      const double ratio = (double)(j + 1) / (double)(j - k);
      for (int i = 0; i < n; i++) {
        const double better = fresh[i] + (fresh[i] - row[k][i]) / (ratio * ratio - 1);
        row[k][i] = fresh[i];
        fresh[i] = better;
      }
    }
    for (int i = 0; i < n; i++) row[j][i] = fresh[i];
    if (j == COLUMNS - 2)
      for (int i = 0; i < n; i++) last[i] = fresh[i];
  }
  double error = 0;
  for (int i = 0; i < n; i++) {
    error = fmax(error, fabs(row[COLUMNS - 1][i] - last[i]));
    x[i] = row[COLUMNS - 1][i];
  }
  return error;
}
