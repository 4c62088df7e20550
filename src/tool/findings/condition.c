#include "findings/condition.h"

#include <math.h>

void od_condition_begin(od_condition_record *r) {
  *r = (od_condition_record){.high = -INFINITY,
                             .low = INFINITY,
                             .high_at = NAN,
                             .low_at = NAN,
                             .crossed = NAN,
                             .now = {NAN, NAN},
                             .first = {NAN, NAN},
                             .longest = {NAN, NAN}};
  for (int i = 0; i < OD_MOST_COMPANIONS; i++) {
    r->with[i].begin = r->with[i].at_high = NAN;
    r->with[i].low = INFINITY, r->with[i].high = -INFINITY;
  }
}

double od_condition_value(const od_condition *c, const double *y) {
  double v = c->gain * y[c->column] - c->center;
  if (c->second >= 0) v += c->second_gain * y[c->second];
  return (c->is_magnitude ? fabs(v) : v) - c->limit;
}

// Returns the time at which v crosses zero between the last point and (t, v); t: there is no such time.
static double crossing(const od_condition_record *r, double t, double v) {
  double part = r->v / (r->v - v);
  return part >= 0 && part <= 1 ? r->t + part * (t - r->t) : t;
}

static void close_interval(od_condition_record *r, double at) {
  r->now.to = at;
  if (isnan(r->first.to)) r->first = r->now;
  if (isnan(r->longest.to) || r->now.to - r->now.from > r->longest.to - r->longest.from) r->longest = r->now;
  r->holds = false;
  r->crossed = NAN;
}

static void watch_companions(const od_condition *c, od_condition_record *r, const double *y, bool begins) {
  for (int i = 0; i < OD_MOST_COMPANIONS && c->companion[i] >= 0; i++) {
    double value = y[c->companion[i]];
    if (begins && isnan(r->with[i].begin)) r->with[i].begin = value;
    r->with[i].low = fmin(r->with[i].low, value);
    r->with[i].high = fmax(r->with[i].high, value);
  }
}

bool od_condition_add(const od_condition *c, od_condition_record *r, double t, const double *y, double *at) {
  double v = od_condition_value(c, y);
  bool begins = false, first = !r->has_point;
  if (!first) {
    double h = t - r->t;
    r->integral += h * (r->v + v) / 2;
    if (r->v > 0 && v > 0)
      r->total += h;
    else if (r->v > 0 || v > 0)
      r->total += h * fmax(r->v, v) / (fabs(r->v) + fabs(v));
    if (h <= 0) r->largest_jump = fmax(r->largest_jump, fabs(v - r->v));
  }
  if (v > r->high) {
    r->high = v, r->high_at = t;
    for (int i = 0; i < OD_MOST_COMPANIONS && c->companion[i] >= 0; i++) r->with[i].at_high = y[c->companion[i]];
  }
  if (v < r->low) r->low = v, r->low_at = t;
  if (v > 0) {
    if (!r->holds) {
      *at = first ? t : crossing(r, t, v);
      r->now = (od_span){*at, NAN};
      r->holds = true;
      r->held_at_start = r->held_at_start || first;
      r->count++;
      begins = !first;
    }
    r->crossed = NAN;
  } else if (r->holds) {
    if (isnan(r->crossed)) r->crossed = crossing(r, t, v);
    if (v < -c->margin) close_interval(r, r->crossed);
  }
  if (r->holds) watch_companions(c, r, y, begins);
  if (first) r->start = t;
  r->has_point = true;
  r->t = t, r->v = v;
  return begins;
}

void od_condition_end(od_condition_record *r) {
  if (r->holds) close_interval(r, isnan(r->crossed) ? r->t : r->crossed);
}
