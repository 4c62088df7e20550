// Sensors of an observer: which sensors have values, which are used, and the statistics of their innovations.
#include <math.h>
#include <string.h>

#include "observe/observer_block.h"

static od_guard *guard_of(const od_observer *o, int i) {
  return (od_guard *)((char *)o + o->guard) + i;
}
static const od_guard_rules *rules_of(const od_observer *o, int i) {
  return (const od_guard_rules *)((const char *)o + o->rules) + i;
}

void od_observer_start_guards(od_observer *o) {
  for (int i = 0; i < o->ny; i++) {
    *od_observer_innovation(o, i) = (od_innovation){.use = OD_SENSOR_MISSING};
    od_guard_start(guard_of(o, i), rules_of(o, i));
  }
}

int od_observer_begin_correction(od_observer *o, const double *y) {
  int count = 0;
  unsigned char *present = (unsigned char *)o + o->present;
  o->nis = 0;
  o->used = 0;
  for (int i = 0; i < o->ny; i++) {
    *od_observer_innovation(o, i) = (od_innovation){.value = NAN, .sigma = NAN, .use = OD_SENSOR_MISSING};
    present[i] = isfinite(y[i]) != 0;
    count += present[i];
  }
  return count;
}

od_sensor_use od_observer_judge(od_observer *o, int i, double measured, double value, double s, int *reopen) {
  od_sensor_use use = od_guard_judge(guard_of(o, i), rules_of(o, i), measured, value * value / s, reopen);
  *od_observer_innovation(o, i) = (od_innovation){.value = value, .sigma = sqrt(s), .use = use};
  return use;
}

void od_observer_count(od_observer *o, double value, double s) {
  o->nis += value * value / s;
  o->used++;
}

const od_spread *od_observer_find_spreads(od_observer *o, const od_covariance *b, const double *y) {
  int n = o->nx + o->np;
  double *h = od_observer_at(o, o->probe_x), *up = h + 4 * n;
  const od_spread_work work = {.probe = (od_sim *)((char *)o + o->probe),
                               .h = h,
                               .d = h + n,
                               .x = h + 2 * n,
                               .from = h + 3 * n,
                               .up = up,
                               .down = up + o->ny,
                               .low = od_observer_at(o, o->low),
                               .high = od_observer_at(o, o->high)};
  // Parameters need trials only if an output may be limited; otherwise derivatives describe their effect.
  int unknowns = od_observer_may_clip(o) ? n : o->nx;
  od_spread_find(od_observer_sim(o), o->probe_size, o->ny, b, unknowns, y, &work, od_observer_spreads(o));
  return od_observer_spreads(o);
}

// ---- results

const od_innovation *od_observer_innovations(const od_observer *o) {
  return od_observer_innovation(o, 0);
}
long od_observer_gated(const od_observer *o, int sensor) {
  return guard_of(o, sensor)->gated;
}
long od_observer_frozen(const od_observer *o, int sensor) {
  return guard_of(o, sensor)->frozen;
}
long od_observer_reopened(const od_observer *o, int sensor) {
  return guard_of(o, sensor)->reopened;
}
double od_observer_nis(const od_observer *o, int *used) {
  if (used) *used = o->used;
  return o->nis;
}
const unsigned char *od_observer_edges(od_observer *o) {
  unsigned char *at_edge = (unsigned char *)o + o->at_edge;
  if (o->plant->ops->edges)
    o->plant->ops->edges(o->plant, od_observer_state(o), at_edge);
  else
    memset(at_edge, 1, (size_t)o->ny);
  return at_edge;
}
bool od_observer_may_clip(od_observer *o) {
  const unsigned char *at_edge = od_observer_edges(o);
  for (int i = 0; i < o->ny; i++)
    if (at_edge[i]) return true;
  return false;
}
bool od_observer_clipped(const od_observer *o, int i) {
  return od_observer_spreads(o)[i].clipped;
}
