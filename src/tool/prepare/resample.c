// Samples at new times, by linear interpolation between available samples.
#include "prepare/prepare_steps.h"

#include <math.h>

// Returns the index of the next available sample at or after i; n: none.
static long next_present(const double *x, long n, long i) {
  while (i < n && isnan(x[i])) i++;
  return i;
}

long od_resample(const double *time, const double *x, long n, double longest, const od_grid *grid, double *out) {
  long a = -1, b = next_present(x, n, 0),
       filled = 0;  // neighbors: a is before the new time, b at or after the new time
  double near = OD_SAME_TIME * fmin(grid->step, longest);
  for (long i = 0; i < grid->rows; i++) {
    double t = grid->start + (double)i * grid->step;
    while (b < n && time[b] < t - near) {
      long next = next_present(x, n, b + 1);
      a = b, b = next;
      filled += b < n && b > a + 1 && time[b] - time[a] <= longest + near;
    }
    if (b < n && fabs(time[b] - t) <= near)
      out[i] = x[b];
    else if (a < 0 || b >= n || time[b] - time[a] > longest + near)
      out[i] = NAN;
    else
      out[i] = x[a] + (x[b] - x[a]) * ((t - time[a]) / (time[b] - time[a]));
  }
  return filled;
}
