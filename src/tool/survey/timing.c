#include "survey/timing.h"

#include <math.h>

static const double gap_factor = 6;  // shortest gap, relative to the 95 % quantile of the intervals

void od_timing_init(od_timing *t, od_arena *memory, long room) {
  *t = (od_timing){.first = NAN, .last = NAN, .interval = NAN, .jitter = NAN, .gap_limit = INFINITY};
  od_pool_init(&t->interval_pool, memory, room);
}

void od_timing_add(od_timing *t, double time) {
  if (t->count++ == 0) {
    t->first = t->last = time;
    return;
  }
  double step = time - t->last;
  if (step > 0) {
    od_pool_add(&t->interval_pool, step);
    if (step > t->longest) t->longest = step, t->longest_at = t->last;
  } else if (step == 0) {
    if (t->repeated++ == 0) t->repeated_at = time;
  } else if (t->decreasing++ == 0) {
    t->dropped_at = time;
  }
  t->last = time;
}

void od_timing_judge(od_timing *t) {
  if (od_pool_size(&t->interval_pool) == 0) return;
  od_pool_sort(&t->interval_pool);
  t->interval = od_pool_quantile(&t->interval_pool, 0.5);
  t->gap_limit = gap_factor * od_pool_quantile(&t->interval_pool, 0.95);
  t->jitter = od_pool_spread(&t->interval_pool, t->interval);
  // Differences of times have rounding errors.
  if (t->jitter < 4e-16 * (fabs(t->first) + fabs(t->last))) t->jitter = 0;
}

bool od_timing_recount(od_timing *t, double *previous, double time) {
  double step = time - *previous;
  *previous = time;
  if (!(step > t->gap_limit)) return false;
  t->gaps++;
  t->missing_time += step;
  return true;
}
