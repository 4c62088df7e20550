// Exact slopes of signals, from the right: the derivatives of the formulas of signal.c.
#include <math.h>
#include <stdbool.h>

#include "signals/sequence.h"
#include "signals/signal_table.h"

static const double two_pi = 6.283185307179586476925286766559;

static double sine_slope(const double *v, double t) {
  double omega = two_pi * v[1];
  return t < v[4] ? 0 : v[0] * omega * cos(omega * (t - v[4]) + v[2]);
}

static double chirp_slope(const double *v, bool logarithmic, double t) {
  double from = v[1], to = v[2], duration = v[3], since = t - v[5], ratio = to / from;
  if (!(t >= v[5]) || t >= v[5] + duration) return 0;
  bool grows = logarithmic && ratio > 0 && ratio != 1;
  double frequency = grows ? from * exp(log(ratio) * since / duration) : from + (to - from) * since / duration;
  double cycles = grows ? from * duration / log(ratio) * expm1(log(ratio) * since / duration)
                        : from * since + (to - from) * since * since / (2 * duration);
  return v[0] * two_pi * frequency * cos(two_pi * cycles);
}

static double stepped_sine_slope(const double *v, const double *ends, int segments, double t) {
  int k = t < 0 ? segments : od_count_until(ends, segments, 1, t);
  if (k == segments) return 0;
  double omega = two_pi * od_stepped_frequency(v, k);
  return v[0] * omega * cos(omega * (t - (k > 0 ? ends[k - 1] : 0)));
}

static double lagged_steps_slope(const double *v, int count, const double *reached, double t) {
  int done = od_count_until(v + 2, (count - 2) / 2, 2, t);
  if (done == 0 || !(v[0] > 0)) return 0;
  const double *pair = v + 2 * done;
  return (pair[1] - reached[done - 1]) / v[0] * exp(-(t - pair[0]) / v[0]);
}

static double joined_slope(const double *pairs, int count, bool smooth, double t) {
  int n = count / 2, done = od_count_until(pairs, n, 2, t);
  if (done == 0 || done == n) return 0;
  const double *a = pairs + 2 * (done - 1);
  double slope = (a[3] - a[1]) / (a[2] - a[0]), half_turn = 0.5 * two_pi;
  return smooth ? slope * 0.5 * half_turn * sin(half_turn * (t - a[0]) / (a[2] - a[0])) : slope;
}

static double sequence_slope(const double *v, const double *begin, int segments, double t) {
  const double *value = begin + segments + 1;
  int done = od_count_until(begin, segments + 1, 1, t);
  if (done == 0 || done > segments) return 0;
  return od_segment_slope(v + 1 + (done - 1) * OD_SEGMENT_NUMBERS, value[done - 1], t - begin[done - 1]);
}

static double sum_slope(const od_signals *s, const od_signal_node *n, double t) {
  double sum = 0;
  for (int i = 0; i < n->count; i++) sum += od_signal_slope(s, s->children[n->first + (size_t)i], t);
  return sum;
}

double od_signal_slope(const od_signals *s, int index, double t) {
  const od_signal_node *n = &s->nodes[index];
  if (n->kind == OD_SIGNAL_SUM) return sum_slope(s, n, t);
  const double *v = s->numbers + n->first, *derived = s->numbers + n->derived;
  switch (n->kind) {
    case OD_SIGNAL_SINE: return sine_slope(v, t);
    case OD_SIGNAL_CHIRP: return chirp_slope(v, n->flag != 0, t);
    case OD_SIGNAL_STEPPED_SINE: return stepped_sine_slope(v, derived, n->segments, t);
    case OD_SIGNAL_LAGGED_STEPS: return lagged_steps_slope(v, n->count, derived, t);
    case OD_SIGNAL_RAMPS:
    case OD_SIGNAL_TABLE: return joined_slope(v, n->count, false, t);
    case OD_SIGNAL_HALF_COSINES: return joined_slope(v, n->count, true, t);
    case OD_SIGNAL_SEQUENCE: return sequence_slope(v, derived, n->segments, t);
    case OD_SIGNAL_DERIVATIVE: return NAN;
    case OD_SIGNAL_CONSTANT:
    case OD_SIGNAL_STEPS:
    case OD_SIGNAL_PRBS:
    case OD_SIGNAL_SUM: break;
  }
  return 0;
}
