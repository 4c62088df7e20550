// Points of steady motion from a run. The run is cut into windows; one is settled if a line through its speeds rises over the window by
// no more than a small part of the mean, or than noise explains. Of settled windows at one speed behind each other the last is the
// point: film and bristles have had most time there.
#include <math.h>
#include <stdlib.h>

#include "friction_fit/friction_data.h"

typedef struct window {
  double v, force, rise, rise_sigma, force_rise, force_sigma;
  bool settled;
} window;

// Mean, rise over the window by a straight line, and the standard deviation around that line.
typedef struct line {
  double mean, rise, around;
} line;

static line fit_line(const double *t, const double *x, int first, int count) {
  double mean_t = 0, mean = 0, up = 0, down = 0, squares = 0;
  for (int i = first; i < first + count; i++) mean_t += t[i] / count, mean += x[i] / count;
  for (int i = first; i < first + count; i++)
    up += (t[i] - mean_t) * (x[i] - mean), down += (t[i] - mean_t) * (t[i] - mean_t);
  double slope = down > 0 ? up / down : 0;
  for (int i = first; i < first + count; i++) squares += pow(x[i] - mean - slope * (t[i] - mean_t), 2);
  return (line){mean, slope * (t[first + count - 1] - t[first]), count > 2 ? sqrt(squares / (count - 2)) : 0};
}

static window look_at(const od_friction_data *d, const od_settling *s, int first, int count) {
  line v = fit_line(d->t, d->v, first, count), f = fit_line(d->t, d->force, first, count);
  double noise = v.around * sqrt(12.0 / count);
  window w = {.v = v.mean, .force = f.mean, .rise = v.rise, .rise_sigma = noise, .force_rise = f.rise};
  w.force_sigma = hypot(f.around / sqrt(count), f.rise / 2);
  w.settled = fabs(v.mean) > 0 && fabs(v.rise) <= s->drift * fabs(v.mean) + 3 * noise &&
              fabs(v.mean) > 3 * v.around / sqrt(count);
  for (int i = first; i < first + count; i++) w.settled = w.settled && (d->v[i] > 0) == (v.mean > 0);
  return w;
}

static bool goes_on(const window *a, const window *b, double drift) {
  return a->settled && b->settled && fabs(a->v - b->v) <= drift * fabs(a->v) + 3 * (a->rise_sigma + b->rise_sigma);
}

// Leaves out points slower than the one with the largest force of their direction.
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

od_status od_steady_points_find(const od_friction_plan *plan, od_friction_data *d, od_error *err) {
  const od_settling *s = &plan->settling;
  if (plan->points.given || plan->method == OD_FRICTION_COMPLETE) return OD_OK;
  double step = d->samples > 1 ? (d->t[d->samples - 1] - d->t[0]) / (d->samples - 1) : 0;
  int count = step > 0 ? (int)round(s->window / step) : 0;
  if (count < 4)
    return od_fail(err, OD_BAD_INPUT, "%s: settling.window has %d samples, expected at least 4", plan->path, count);
  int windows = d->samples / count;
  window *w = calloc((size_t)windows + 1, sizeof *w);
  free(d->points.v), free(d->points.force), free(d->points.sigma);
  if (!od_steady_points_room(&d->points, windows) || !w) {
    free(w);
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  }
  for (int i = 0; i < windows; i++) w[i] = look_at(d, s, i * count, count);
  d->points.count = 0;
  for (int i = 0; i < windows; i++) {
    if (!w[i].settled || (i + 1 < windows && goes_on(&w[i], &w[i + 1], s->drift))) continue;
    int at = d->points.count++;
    d->points.v[at] = w[i].v, d->points.force[at] = w[i].force;
    d->points.sigma[at] = w[i].force_sigma;
  }
  free(w);
  if (s->drops_rise) drop_rise(&d->points);
  return OD_OK;
}
