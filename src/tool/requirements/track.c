#include "requirements/track.h"

#include <math.h>

od_track od_track_new(double from, double to, double band, bool sums) {
  return (od_track){.from = from,
                    .to = to,
                    .band = band,
                    .sums = sums,
                    .raw_t = NAN,
                    .high = {-INFINITY, NAN, -INFINITY, NAN},
                    .low = {-INFINITY, NAN, -INFINITY, NAN},
                    .outside = from,
                    .perhaps_outside = from,
                    .first = NAN};
}

void od_track_free(od_track *k) {
  od_swing_free(&k->swing);
}

static void take(od_extreme *e, double x, double t) {
  if (x > e->value) e->value = x, e->at = t;
  if (x > e->between) e->between = x, e->between_at = t;
}

// Updates an extreme with the vertex of the parabola through three points, if the middle point is the highest.
static void take_between(od_extreme *e, const double t[3], const double x[3]) {
  double a = t[1] - t[0], b = t[2] - t[1];
  if (!(a > 0 && b > 0) || !(x[1] >= x[0] && x[1] >= x[2])) return;
  double rise = (x[1] - x[0]) / a, fall = (x[2] - x[1]) / b, curve = (fall - rise) / (a + b);
  if (!(curve < 0)) return;
  double slope = rise + curve * a, s = -slope / (2 * curve);  // slope at the middle point; time to the vertex
  double vertex = x[1] + slope * s + curve * s * s;
  if (vertex > e->between) e->between = vertex, e->between_at = t[1] + s;
}

// Updates the settling times with a point. The crossing of the band is interpolated linearly.
static void settle(od_track *k, double t, double x) {
  bool outside = !(fabs(x) <= k->band);
  if (outside) {
    k->outside = t;
  } else if (k->is_outside) {
    double before = fabs(k->x[1]), h = t - k->t[1];
    double edge = x * k->x[1] < 0 ? -fabs(x) : fabs(x);  // the signal may have crossed the whole band
    k->rate = h > 0 ? (before - edge) / h : INFINITY;
    k->outside = h > 0 ? k->t[1] + (before - k->band) / k->rate : t;
  }
  k->is_outside = outside;
  if (k->outside > k->perhaps_outside) k->perhaps_outside = k->outside;
}

// Adds a point of the window to the extremes, the sums and the settling times.
static void add_point(od_track *k, double t, double x) {
  const double mirrored[3] = {-k->x[0], -k->x[1], -x}, upright[3] = {k->x[0], k->x[1], x};
  const double times[3] = {k->t[0], k->t[1], t};
  take(&k->high, x, t);
  take(&k->low, -x, t);
  if (k->points >= 2) {
    od_extreme high = {.between = -INFINITY}, low = {.between = -INFINITY};
    take_between(&high, times, upright);
    take_between(&low, times, mirrored);
    if (high.between > k->high.between) k->high.between = high.between, k->high.between_at = high.between_at;
    if (low.between > k->low.between) k->low.between = low.between, k->low.between_at = low.between_at;
    if (k->band > 0 && fmax(high.between, low.between) > k->band)
      k->perhaps_outside = fmax(k->perhaps_outside, k->t[1]);
  }
  if (k->points == 0 && !k->has_first) k->first = x;
  if (k->points > 0) {
    double h = t - k->t[1];
    k->squares += h * (k->x[1] * k->x[1] + k->x[1] * x + x * x) / 3;
    k->duration += h;
    if (k->sums) k->volume += h * (k->x[1] + x) / 2;
  }
  if (k->band > 0) settle(k, t, x);
  if (k->sums && !od_swing_add(&k->swing, t, k->volume)) k->failed = true;
  k->t[0] = k->t[1], k->x[0] = k->x[1];
  k->t[1] = t, k->x[1] = x;
  k->points++;
}

// Returns the signal at the time `wanted` between the last point and the new point (t, x), by linear interpolation.
static double between(const od_track *k, double t, double x, double wanted) {
  return k->raw_x + (x - k->raw_x) * (wanted - k->raw_t) / (t - k->raw_t);
}

void od_track_add(od_track *k, double t, double x) {
  // Round-off in times must not remove the ends of a window.
  double tolerance = 1e-9 * fmax(1e-3, fabs(t));
  bool has_last = !isnan(k->raw_t);
  bool is_after_end = has_last && k->raw_t >= k->to - tolerance;
  if (t >= k->from - tolerance && !is_after_end) {
    // The window restarts after a jump at its start. `first` stores the value before the jump.
    if (k->points > 0 && t <= k->from + tolerance) {
      od_track fresh = od_track_new(k->from, k->to, k->band, k->sums);
      fresh.first = k->first;
      fresh.has_first = true;
      od_swing_free(&k->swing);
      *k = fresh;
    }
    if (has_last && k->raw_t < k->from - tolerance && t > k->from + tolerance)
      add_point(k, k->from, between(k, t, x, k->from));
    if (t <= k->to + tolerance)
      add_point(k, t, x);
    else if (has_last)
      add_point(k, k->to, between(k, t, x, k->to));
  }
  k->raw_t = t;
  k->raw_x = x;
}
