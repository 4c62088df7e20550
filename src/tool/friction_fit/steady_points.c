// Points of steady motion from a run. The run is divided into windows. A window is settled if the differences between the means of
// its thirds are small. The limit is a fraction of the speed plus the effect of noise. If consecutive settled windows of one speed
// last at least od_settling.least, the last of these windows becomes the point. At this time film and bristles are closest to their
// settled values.
#include <math.h>

#include "friction_fit/friction_data.h"

typedef struct window {
  double v, noise;  // mean speed, and standard deviation of the mean speed, m/s
  double force, force_sigma;
  bool settled;
} window;

static double mean_of(const double *x, int first, int count) {
  double sum = 0;
  for (int i = first; i < first + count; i++) sum += x[i];
  return sum / count;
}

// Returns the standard deviation of the noise of a sample, from differences of neighboring samples. A slow drift has almost no
// effect on these differences.
static double noise_of(const double *x, int first, int count) {
  double sum = 0;
  for (int i = first; i + 1 < first + count; i++) sum += pow(x[i + 1] - x[i], 2);
  return sqrt(sum / (2.0 * (count - 1)));
}

// Returns the largest difference between the means of the thirds of a window.
static double drift_of(const double *x, int first, int count) {
  int third = count / 3;
  double a = mean_of(x, first, third), b = mean_of(x, first + third, third);
  double c = mean_of(x, first + count - third, third);
  return fmax(fmax(a, b), c) - fmin(fmin(a, b), c);
}

static window describe_window(const od_friction_data *d, const od_settling *s, int first, int count) {
  window w = {.v = mean_of(d->v, first, count), .force = mean_of(d->force, first, count)};
  // Differences of neighboring samples do not show the noise of a smoothed speed.
  w.noise = (d->smoothed > 0 ? d->speed_noise : noise_of(d->v, first, count)) / sqrt(count);
  w.force_sigma = hypot(noise_of(d->force, first, count) / sqrt(count), drift_of(d->force, first, count) / 2);
  // The limit is 4.5 standard deviations of the difference between the means of two of the thirds: noise exceeds the limit in
  // one of 50000 windows. An unsettled window divides a settled part, and the first division then becomes an early point.
  double by_noise = 4.5 * sqrt(6) * w.noise;
  w.settled = fabs(w.v) > 3 * w.noise && drift_of(d->v, first, count) <= s->drift * fabs(w.v) + by_noise;
  return w;
}

static bool continues(const window *a, const window *b, double drift) {
  return a->settled && b->settled && fabs(a->v - b->v) <= drift * fabs(a->v) + 3 * (a->noise + b->noise);
}

// Adds the effect of the speed's noise to the standard deviations of the forces. The slope of the force over the speed is
// the larger of the slopes to the next slower and the next faster point. Points within ten standard deviations of the
// speed do not give a slope.
static void add_speed_noise(od_steady_points *p, const double *noise) {
  for (int i = 0; i < p->count; i++) {
    double nearest[2] = {INFINITY, INFINITY}, slope[2] = {0, 0};
    for (int k = 0; k < p->count; k++) {
      double apart = fabs(p->v[k] - p->v[i]);
      int faster = fabs(p->v[k]) > fabs(p->v[i]);
      if (p->v[k] * p->v[i] <= 0 || apart <= 10 * fmax(noise[i], noise[k]) || apart >= nearest[faster]) continue;
      nearest[faster] = apart;
      slope[faster] = fabs(p->force[k] - p->force[i]) / apart;
    }
    p->sigma[i] = hypot(p->sigma[i], fmax(slope[0], slope[1]) * noise[i]);
  }
}

// Removes points slower than the point with the largest force of their direction.
static void drop_rise(od_steady_points *p) {
  double fastest[2] = {0, 0}, largest[2] = {0, 0};
  for (int i = 0; i < p->count; i++) {
    int side = p->v[i] < 0;
    if (fabs(p->force[i]) > largest[side]) largest[side] = fabs(p->force[i]), fastest[side] = fabs(p->v[i]);
  }
  int kept = 0;
  for (int i = 0; i < p->count; i++) {
    if (fabs(p->v[i]) < fastest[p->v[i] < 0]) continue;
    p->v[kept] = p->v[i], p->force[kept] = p->force[i], p->sigma[kept++] = p->sigma[i];
  }
  p->count = kept;
}

// Uses samples of the run, settled or not, as points of steady motion. Leaves out samples at rest. Fails with OD_NO_MEMORY.
static od_status take_samples(const od_friction_plan *plan, od_friction_data *d, od_error *err) {
  const od_friction_points *p = &plan->points;
  if (od_friction_data_take_points(d, d->samples / p->every + 1) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  d->points.count = 0;
  for (int i = 0; i < d->samples; i += p->every) {
    if (d->t[i] < p->time[0] || d->t[i] > p->time[1] || d->v[i] == 0) continue;
    int at = d->points.count++;
    d->points.v[at] = d->v[i], d->points.force[at] = d->force[i], d->points.sigma[at] = 0;
  }
  return OD_OK;
}

od_status od_steady_points_find(const od_friction_plan *plan, od_friction_data *d, od_error *err) {
  const od_settling *s = &plan->settling;
  if (plan->points.given || plan->method == OD_FRICTION_COMPLETE) return OD_OK;
  if (plan->points.every > 0) return take_samples(plan, d, err);
  double step = d->samples > 1 ? (d->t[d->samples - 1] - d->t[0]) / (d->samples - 1) : 0;
  int count = step > 0 ? (int)round(s->window / step) : 0;
  if (count < 6)
    return od_fail(err, OD_BAD_INPUT,
                   "%s: 'window' of 'settling' has %d samples; expected at least 6. Increase 'window'", plan->path,
                   count);
  OD_SCRATCH(scratch);
  int windows = d->samples / count;
  window *w = OD_TAKE(&scratch, window, windows);
  double *noise = OD_TAKE(&scratch, double, windows);
  if (!w || !noise || od_friction_data_take_points(d, windows) != OD_OK)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < windows; i++) w[i] = describe_window(d, s, i * count, count);
  d->points.count = 0;
  for (int i = 0, first = 0; i < windows; i++) {
    if (i > 0 && !continues(&w[i - 1], &w[i], s->drift)) first = i;
    if (!w[i].settled || (i + 1 < windows && continues(&w[i], &w[i + 1], s->drift))) continue;
    if ((i + 1 - first) * s->window < s->least * (1 - 1e-9)) continue;
    if (d->t[i * count] < plan->points.time[0] || d->t[(i + 1) * count - 1] > plan->points.time[1]) continue;
    int at = d->points.count++;
    d->points.v[at] = w[i].v, d->points.force[at] = w[i].force;
    d->points.sigma[at] = w[i].force_sigma, noise[at] = w[i].noise;
  }
  add_speed_noise(&d->points, noise);
  if (s->drops_rise) drop_rise(&d->points);
  return OD_OK;
}
