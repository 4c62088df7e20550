// Distances to bounds. Parameters in SI units may have any magnitude, so distances are relative to the scale of a parameter.
#include <float.h>
#include <math.h>

#include "least_squares/search.h"

static double column_norm(const od_search *s, int i) {
  double norm = 0;
  for (int row = 0; row <= i; row++) norm = hypot(norm, s->model.R[row * s->k + i]);
  return norm;
}

// ---- Start away from a bound

// Returns the user's scale of a parameter. Without a user's scale, returns the smallest of three numbers: the distance
// between the bounds, the magnitude of the bound, and the step whose effect is as large as the residuals. The third number
// is used only if `known` (the model is available). Returns 1 if the smallest number is not finite and positive.
static double scale_at_bound(const od_search *s, int i, double bound, bool known) {
  if (s->problem->scale) return s->size[i];
  double scale = s->high[i] - s->low[i], column = known ? column_norm(s, i) : 0;
  if (bound != 0) scale = fmin(scale, fabs(bound));
  if (column > 0) scale = fmin(scale, od_residual_norm(s) / column);
  return isfinite(scale) && scale > 0 ? scale : 1;
}

bool od_leave_bounds(od_search *s, bool known) {
  const double least_part = 1e-8;  // distance from the bound, as a fraction of the scale
  bool any = false;
  for (int i = 0; i < s->k; i++) {
    double u = s->now.u[i], low = s->low[i], high = s->high[i];
    if (u > low && u < high) continue;
    double bound = u <= low ? low : high;
    double away = fmax(least_part * scale_at_bound(s, i, bound, known), 4 * DBL_EPSILON * fabs(bound));
    away = fmin(away, (high - low) / 2);
    s->now.u[i] = bound == low ? low + away : high - away;
    any = true;
  }
  return any;
}

// ---- End at a bound

// Returns the distance between the bounds; with a single bound, the larger of the magnitudes of the bound and of the
// start. Infinite: both magnitudes are zero.
static double room_of(const od_search *s, int i, double bound) {
  double room = s->high[i] - s->low[i], size = fmax(fabs(bound), fabs(s->start[i]));
  return isfinite(room) ? room : size > 0 ? size : INFINITY;
}

// Returns the bound near a logistic parameter: -1 lower, 1 upper, 0 no bound. Such a parameter reaches its bounds only at
// infinity.
static int logistic_bound_near(const od_search *s, int j) {
  double x = s->now.x[j], low = s->problem->low[j], high = s->problem->high[j], near = 1e-9 * (high - low);
  return x <= low + near ? -1 : x >= high - near ? 1 : 0;
}

int od_bound_near(const od_search *s, int i) {
  // The limit is this fraction of the standard deviation of this parameter alone, or of the distance between the bounds if smaller.
  const double close = 1e-3;
  int j = s->index[i];
  if (s->problem->transform && s->problem->transform[j] == OD_TRANSFORM_LOGISTIC) return logistic_bound_near(s, j);
  double u = s->now.u[i], g = s->model.g[i], bound = g > 0 ? s->low[i] : s->high[i];
  if (u <= s->low[i]) return -1;
  if (u >= s->high[i]) return 1;
  if (g == 0 || !isfinite(bound)) return 0;
  double distance = fabs(u - bound), column = column_norm(s, i);
  double sigma = od_residual_norm(s) / (sqrt(s->m) * column), beyond = fabs(g) / (column * column);
  bool near = beyond >= distance && distance <= close * fmin(sigma, room_of(s, i, bound));
  return near || distance <= 4 * DBL_EPSILON * fabs(bound) ? (g > 0 ? -1 : 1) : 0;
}
