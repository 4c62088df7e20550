// Exact derivatives of order 1 to 3 of the signals in signal.c, from the right.
#include <math.h>
#include <stdbool.h>

#include "signals/sequence.h"
#include "signals/signal_table.h"

static const double two_pi = 6.283185307179586476925286766559;

static double sine_derivative(const double *v, double t, int order) {
  double omega = two_pi * v[1];
  return t < v[4] ? 0 : od_sine_derivative(v[0], omega, omega * (t - v[4]) + v[2], order);
}

// Returns the derivative of A sin(phase), the value of a chirp. The variables first, second and third are derivatives
// of the phase.
static double chirp_derivative(const double *v, bool logarithmic, double t, int order) {
  double from = v[1], to = v[2], duration = v[3], since = t - v[5], ratio = to / from;
  if (!(t >= v[5]) || t >= v[5] + duration) return 0;
  bool grows = logarithmic && ratio > 0 && ratio != 1;
  double growth = grows ? log(ratio) / duration : 0;
  double frequency = grows ? from * exp(growth * since) : from + (to - from) * since / duration;
  double cycles =
      grows ? from / growth * expm1(growth * since) : from * since + (to - from) * since * since / (2 * duration);
  double first = two_pi * frequency, second = grows ? growth * first : two_pi * (to - from) / duration,
         third = growth * second, cosine = cos(two_pi * cycles), sine = sin(two_pi * cycles);
  if (order == 1) return v[0] * first * cosine;
  if (order == 2) return v[0] * (second * cosine - first * first * sine);
  return v[0] * ((third - first * first * first) * cosine - 3 * first * second * sine);
}

static double stepped_sine_derivative(const double *v, const double *ends, int segments, double t, int order) {
  int k = t < 0 ? segments : od_count_until(ends, segments, 1, t);
  if (k == segments) return 0;
  double omega = two_pi * od_stepped_frequency(v, k);
  return od_sine_derivative(v[0], omega, omega * (t - (k > 0 ? ends[k - 1] : 0)), order);
}

static double lagged_steps_derivative(const double *v, int count, const double *reached, double t, int order) {
  int done = od_count_until(v + 2, (count - 2) / 2, 2, t);
  if (done == 0 || !(v[0] > 0)) return 0;
  const double *pair = v + 2 * done;
  return (reached[done - 1] - pair[1]) * pow(-1 / v[0], order) * exp(-(t - pair[0]) / v[0]);
}

static double joined_derivative(const double *pairs, int count, bool smooth, double t, int order) {
  int n = count / 2, done = od_count_until(pairs, n, 2, t);
  if (done == 0 || done == n) return 0;
  const double *a = pairs + 2 * (done - 1);
  double length = a[2] - a[0], rise = a[3] - a[1], omega = 0.5 * two_pi / length;
  if (!smooth) return order == 1 ? rise / length : 0;
  return od_sine_derivative(0.5 * rise * omega, omega, omega * (t - a[0]), order - 1);
}

static double sequence_derivative(const double *v, const double *begin, int segments, double t, int order) {
  const double *value = begin + segments + 1;
  int done = od_count_until(begin, segments + 1, 1, t);
  if (done == 0 || done > segments) return 0;
  return od_segment_derivative(v + 1 + (done - 1) * OD_SEGMENT_NUMBERS, value[done - 1], t - begin[done - 1], order);
}

static double sum_derivative(const od_signals *s, const od_signal_node *n, double t, int order) {
  double sum = 0;
  for (int i = 0; i < n->count; i++) sum += od_signal_derivative(s, s->children[n->first + (size_t)i], t, order);
  return sum;
}

double od_signal_derivative(const od_signals *s, int index, double t, int order) {
  const od_signal_node *n = &s->nodes[index];
  if (n->kind == OD_SIGNAL_SUM) return sum_derivative(s, n, t, order);
  if (n->kind == OD_SIGNAL_DERIVATIVE) return od_signal_derivative(s, s->children[n->first], t, order + 1);
  const double *v = s->numbers + n->first, *derived = s->numbers + n->derived;
  switch (n->kind) {
    case OD_SIGNAL_SINE: return sine_derivative(v, t, order);
    case OD_SIGNAL_CHIRP: return chirp_derivative(v, n->flag != 0, t, order);
    case OD_SIGNAL_STEPPED_SINE: return stepped_sine_derivative(v, derived, n->segments, t, order);
    case OD_SIGNAL_LAGGED_STEPS: return lagged_steps_derivative(v, n->count, derived, t, order);
    case OD_SIGNAL_RAMPS:
    case OD_SIGNAL_TABLE: return joined_derivative(v, n->count, false, t, order);
    case OD_SIGNAL_HALF_COSINES: return joined_derivative(v, n->count, true, t, order);
    case OD_SIGNAL_SEQUENCE: return sequence_derivative(v, derived, n->segments, t, order);
    case OD_SIGNAL_CONSTANT:
    case OD_SIGNAL_STEPS:
    case OD_SIGNAL_PRBS:
    case OD_SIGNAL_SUM:
    case OD_SIGNAL_DERIVATIVE: break;
  }
  return 0;
}

double od_signal_slope(const od_signals *s, int index, double t) {
  return od_signal_derivative(s, index, t, 1);
}

const double *od_signal_samples(const od_signals *s, int index, int *count) {
  const od_signal_node *n = &s->nodes[index];
  *count = n->kind == OD_SIGNAL_TABLE ? n->count / 2 : 0;
  return n->kind == OD_SIGNAL_TABLE ? s->numbers + n->first : NULL;
}
