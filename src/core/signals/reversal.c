// The times at which a signal changes its sign. Friction laws and their time grids need these times exactly.
#include <math.h>
#include <stdbool.h>

#include "signals/sequence.h"
#include "signals/signal_table.h"

enum { LOOKS = 32 };  // number of evaluations per period of a sine, or per interval between two breaks

double od_signal_pace(const od_signals *s, int index, double t, double end) {
  const od_signal_node *n = &s->nodes[index];
  const double *v = s->numbers + n->first, *derived = s->numbers + n->derived;
  double frequency = 0, shortest = INFINITY;
  switch (n->kind) {
    case OD_SIGNAL_SINE: frequency = v[1]; break;
    case OD_SIGNAL_CHIRP: frequency = fmax(v[1], v[2]); break;
    case OD_SIGNAL_STEPPED_SINE: {
      int k = od_count_until(derived, n->segments, 1, t);
      frequency = k < n->segments ? od_stepped_frequency(v, k) : 0;
      break;
    }
    case OD_SIGNAL_SEQUENCE: {
      int k = od_count_until(derived, n->segments + 1, 1, t) - 1;
      const double *segment = v + 1 + k * OD_SEGMENT_NUMBERS;
      bool is_sine = k >= 0 && k < n->segments && segment[0] == OD_SEGMENT_SINE;
      frequency = is_sine ? segment[3] : 0;
      break;
    }
    case OD_SIGNAL_SUM:
    case OD_SIGNAL_DERIVATIVE:
      for (int i = 0; i < n->count; i++)
        shortest = fmin(shortest, od_signal_pace(s, s->children[n->first + (size_t)i], t, end));
      // A sum of monotone signals may change its sign several times.
      return isfinite(end) ? fmin(shortest, (end - t) / LOOKS) : shortest;
    default: break;
  }
  return frequency > 0 ? 1 / (LOOKS * frequency) : INFINITY;
}

// Returns the first time with the new sign, between low (old sign) and high (new sign).
static double locate(const od_signals *s, int index, double sign, double low, double high) {
  for (int i = 0; i < 200; i++) {
    double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    if (od_signal_value(s, index, middle) * sign < 0)
      high = middle;
    else
      low = middle;
  }
  return high;
}

double od_signal_next_reversal(const od_signals *s, int index, double t, double until) {
  double sign = od_signal_value(s, index, t);
  while (t < until) {
    double piece = fmin(od_signal_next_break(s, index, t), until);
    double end = fmin(piece, t + od_signal_pace(s, index, t, piece));
    if (!(end > t)) return INFINITY;  // t is so large that adding the pace does not change t
    double before = nextafter(end, -INFINITY);
    if (od_signal_value(s, index, before) * sign < 0) return locate(s, index, sign, t, before);
    double value = od_signal_value(s, index, end);
    if (value * sign < 0) return end;
    if (sign == 0) sign = value;
    t = end;
  }
  return INFINITY;
}
