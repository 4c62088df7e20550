// Whether residuals of points at neighboring speeds are correlated. They are if the curve has another form than the law.
#include <math.h>
#include <stdlib.h>

#include "friction_fit/fit_stages.h"

typedef struct speed_residual {
  double v, r;
} speed_residual;

static int by_speed(const void *a, const void *b) {
  double x = ((const speed_residual *)a)->v, y = ((const speed_residual *)b)->v;
  return (x > y) - (x < y);
}

// For independent residuals, half the mean square of the differences of neighbors divided by the mean square is 1 with a
// deviation of 1/sqrt(n) (von Neumann). Residuals below a thousandth of the force are neglected. Directions are treated
// separately.
bool od_residuals_follow_speed(int count, const double *v, const double *force, const double *model) {
  enum { LEAST = 20 };
  double squares = 0, steps = 0, largest = 0;
  int pairs = 0;
  if (count < LEAST) return false;
  speed_residual *point = malloc((size_t)count * sizeof *point);
  if (!point) return false;
  for (int i = 0; i < count; i++) {
    point[i] = (speed_residual){v[i], force[i] - model[i]};
    squares += point[i].r * point[i].r;
    largest = fmax(largest, fabs(force[i]));
  }
  qsort(point, (size_t)count, sizeof *point, by_speed);
  for (int i = 1; i < count; i++) {
    if ((point[i].v < 0) != (point[i - 1].v < 0)) continue;
    steps += pow(point[i].r - point[i - 1].r, 2);
    pairs++;
  }
  free(point);
  bool matters = sqrt(squares / count) > 1e-3 * largest;
  return matters && pairs >= LEAST - 2 && steps / pairs / 2 < (1 - 4 / sqrt(pairs)) * squares / count;
}
