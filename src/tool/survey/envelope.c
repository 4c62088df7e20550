#include "survey/envelope.h"

#include <math.h>

void od_envelope_init(od_envelope *e, od_arena *memory, double begin, double end) {
  *e = (od_envelope){.begin = begin, .width = (end - begin) / OD_ENVELOPE_INTERVALS, .last = -1};
  e->high = OD_TAKE(memory, double, OD_ENVELOPE_INTERVALS);
  e->low_at = OD_TAKE(memory, double, OD_ENVELOPE_INTERVALS);
  e->high_at = OD_TAKE(memory, double, OD_ENVELOPE_INTERVALS);
  e->ends_in_gap = OD_TAKE(memory, bool, OD_ENVELOPE_INTERVALS);
  double *low = OD_TAKE(memory, double, OD_ENVELOPE_INTERVALS);
  if (!e->high || !e->low_at || !e->high_at || !e->ends_in_gap || !low) return;
  for (int i = 0; i < OD_ENVELOPE_INTERVALS; i++) low[i] = e->high[i] = NAN;
  e->low = low;
}

void od_envelope_add(od_envelope *e, double time, double value, bool after_gap) {
  if (!e->low || !isfinite(value)) return;
  double at = e->width > 0 ? (time - e->begin) / e->width : 0;
  int i = at <= 0 ? 0 : at >= OD_ENVELOPE_INTERVALS - 1 ? OD_ENVELOPE_INTERVALS - 1 : (int)at;
  if (after_gap && e->last >= 0) e->ends_in_gap[e->last] = true;
  if (!(value >= e->low[i])) e->low[i] = value, e->low_at[i] = time;
  if (!(value <= e->high[i])) e->high[i] = value, e->high_at[i] = time;
  e->last = i;
}

int od_envelope_points(const od_envelope *e, double *x, double *y) {
  int n = 0;
  for (int i = 0; e->low && i < OD_ENVELOPE_INTERVALS; i++) {
    if (isnan(e->low[i])) continue;
    bool low_first = e->low_at[i] <= e->high_at[i];
    x[n] = low_first ? e->low_at[i] : e->high_at[i];
    y[n++] = low_first ? e->low[i] : e->high[i];
    if (e->low[i] != e->high[i]) {
      x[n] = low_first ? e->high_at[i] : e->low_at[i];
      y[n++] = low_first ? e->high[i] : e->low[i];
    }
    if (!e->ends_in_gap[i]) continue;
    x[n] = x[n - 1];
    y[n++] = NAN;
  }
  return n;
}
