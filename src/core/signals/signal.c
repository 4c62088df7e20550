// Input signals as one flat table of nodes.
//
// All signals are right-continuous: the value at a jump is the new value, and the value at nextafter(jump, -INFINITY) is the old
// value. Times of edges are exactly the numbers that od_signal_next_break() returns, so an integrator that stops at such a time
// gets the new value.
//
//   sine          offset + A sin(2 pi f (t - start) + phase)
//   chirp         offset + A sin(2 pi F(s)), s = t - start, T = duration, F is the integral of the frequency:
//                 linear f0 s + (f1 - f0) s^2 / (2 T), logarithmic f0 T / ln(f1/f0) ((f1/f0)^(s/T) - 1)
//   stepped sine  A sin(2 pi f_k (t - t_k)), f_k = from + k step up to and including `to`, t_(k+1) = t_k + periods / f_k
//   lagged steps  y' = (v - y) / T: y_i + (v_i - y_i)(1 - exp(-(t - t_i)/T)) after the jump at t_i to v_i, where y_i is
//                 the value reached at t_i
#include "signals/signal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/allocate.h"
#include "base/parts.h"
#include "signals/sequence.h"
#include "signals/signal_table.h"

static const double two_pi = 6.283185307179586476925286766559;

typedef od_signal_node node;

// Returns the frequency of segment k of a stepped sine: from `from` toward `to`, for either sign of the step.
double od_stepped_frequency(const double *v, int k) {
  return v[1] + k * copysign(v[3], v[2] - v[1]);
}

static double lag(double from, double to, double elapsed, double time_constant) {
  return time_constant > 0 ? from - (to - from) * expm1(-elapsed / time_constant) : to;
}

// ---- the table of signals, in builds that allocate memory

#if OD_WITH_ALLOCATION
od_signals *od_signals_new(void) {
  return od_calloc(1, sizeof(od_signals));
}

void od_signals_free(od_signals *s) {
  if (!s) return;
  for (int i = 0; i < s->node_count; i++) od_prbs_free(s->nodes[i].prbs);
  od_free(s->nodes);
  od_free(s->numbers);
  od_free(s->children);
  od_free(s);
}

// Grows an array to at least `wanted` elements and at least twice its size. Returns false if an allocation fails.
static bool reserve(void **array, size_t *capacity, size_t wanted, size_t size) {
  if (wanted <= *capacity) return true;
  size_t larger = *capacity ? 2 * *capacity : 16;
  if (larger < wanted) larger = wanted;
  if (larger > SIZE_MAX / size) return false;
  void *moved = od_realloc(*array, larger * size);
  if (!moved) return false;
  *array = moved;
  *capacity = larger;
  return true;
}

static bool reserve_numbers(od_signals *s, size_t more) {
  void *array = s->numbers;
  bool ok = reserve(&array, &s->number_capacity, s->number_count + more, sizeof(double));
  s->numbers = array;
  return ok;
}

// Appends a node. Returns NULL if an allocation fails.
static node *new_node(od_signals *s, od_signal_kind kind, int flag) {
  void *array = s->nodes;
  size_t capacity = (size_t)s->node_capacity;
  bool ok = reserve(&array, &capacity, (size_t)s->node_count + 1, sizeof(node));
  s->nodes = array;
  s->node_capacity = (int)capacity;
  if (!ok) return NULL;
  node *n = &s->nodes[s->node_count];
  *n = (node){.kind = kind, .flag = flag};
  return n;
}

// Returns whether the number of values is valid for a kind: a fixed number, plus pairs or segments for some kinds.
static bool count_fits(od_signal_kind kind, int count) {
  switch (kind) {
    case OD_SIGNAL_CONSTANT: return count == 1;
    case OD_SIGNAL_SINE: return count == 5;
    case OD_SIGNAL_CHIRP: return count == 6;
    case OD_SIGNAL_STEPPED_SINE: return count == 5;
    case OD_SIGNAL_STEPS: return count >= 1 && count % 2 == 1;
    case OD_SIGNAL_LAGGED_STEPS:
    case OD_SIGNAL_RAMPS:
    case OD_SIGNAL_HALF_COSINES:
    case OD_SIGNAL_TABLE: return count >= 2 && count % 2 == 0;
    case OD_SIGNAL_PRBS: return count == 5;
    case OD_SIGNAL_SEQUENCE: return count > 1 && count % OD_SEGMENT_NUMBERS == 1;
    case OD_SIGNAL_SUM:
    case OD_SIGNAL_DERIVATIVE: return false;
  }
  return false;
}

// Computes the end time of each segment of a stepped sine. Zero and negative frequencies have no period and are
// skipped. Returns false if there are more than 100 million segments or an allocation fails.
static bool derive_stepped_sine(od_signals *s, node *n) {
  const double *v = s->numbers + n->first;
  double from = v[1], to = v[2], step = fabs(v[3]);
  double steps = step > 0 ? floor(fabs(to - from) / step * (1 + 1e-12) + 1e-9) : 0;
  if (!(steps < 1e8)) return false;
  n->segments = (int)steps + 1;
  if (!reserve_numbers(s, (size_t)n->segments)) return false;
  v = s->numbers + n->first;
  n->derived = s->number_count;
  double end = 0, periods = fmax(round(v[4]), 0);
  for (int k = 0; k < n->segments; k++) {
    double f = od_stepped_frequency(v, k);
    if (f > 0) end += periods / f;
    s->numbers[s->number_count++] = end;
  }
  return true;
}

// Computes the values that a lagged signal has reached at its jumps. Returns false if an allocation fails.
static bool derive_lagged_steps(od_signals *s, node *n) {
  int jumps = (n->count - 2) / 2;
  if (!reserve_numbers(s, (size_t)jumps)) return false;
  const double *v = s->numbers + n->first;
  n->derived = s->number_count;
  double reached = v[1];
  for (int i = 0; i < jumps; i++) {
    const double *pair = v + 2 + 2 * i;
    if (i > 0) reached = lag(reached, pair[-1], pair[0] - pair[-2], v[0]);
    s->numbers[s->number_count++] = reached;
  }
  return true;
}

// Computes the start time and the first value of each segment. Also computes the time and the value at the end of the last segment.
// Returns false if a segment is invalid or an allocation fails.
static bool derive_sequence(od_signals *s, node *n) {
  n->segments = n->count / OD_SEGMENT_NUMBERS;
  if (!reserve_numbers(s, 2 * (size_t)n->segments + 2)) return false;
  const double *v = s->numbers + n->first;
  n->derived = s->number_count;
  s->number_count += 2 * (size_t)n->segments + 2;
  double *begin = s->numbers + n->derived, *value = begin + n->segments + 1;
  begin[0] = 0;
  value[0] = v[0];
  for (int i = 0; i < n->segments; i++) {
    const double *segment = v + 1 + i * OD_SEGMENT_NUMBERS;
    if (!od_segment_is_one(segment)) return false;
    begin[i + 1] = begin[i] + segment[1];
    value[i + 1] = od_segment_end(segment, value[i]);
  }
  return true;
}

int od_signals_add(od_signals *s, od_signal_kind kind, int flag, const double *numbers, int count) {
  if (!count_fits(kind, count)) return -1;
  node *n = new_node(s, kind, flag);
  if (!n || !reserve_numbers(s, (size_t)count)) return -1;
  size_t before = s->number_count;
  n->first = before;
  n->count = count;
  memcpy(s->numbers + before, numbers, (size_t)count * sizeof(double));
  s->number_count += (size_t)count;

  bool ok = true;
  if (kind == OD_SIGNAL_STEPPED_SINE) ok = derive_stepped_sine(s, n);
  if (kind == OD_SIGNAL_LAGGED_STEPS) ok = derive_lagged_steps(s, n);
  if (kind == OD_SIGNAL_SEQUENCE) ok = derive_sequence(s, n);
  if (kind == OD_SIGNAL_PRBS) ok = (n->prbs = od_prbs_new(numbers[4], numbers[3])) != NULL;
  if (!ok) {
    s->number_count = before;
    return -1;
  }
  return s->node_count++;
}

// Appends a node with children. Returns its index, or -1 if an allocation fails or a child is invalid.
static int add_parent(od_signals *s, od_signal_kind kind, const int *children, int count) {
  if (count < 0) return -1;
  for (int i = 0; i < count; i++)
    if (children[i] < 0 || children[i] >= s->node_count) return -1;
  node *n = new_node(s, kind, 0);
  if (!n) return -1;
  void *array = s->children;
  bool ok = reserve(&array, &s->child_capacity, s->child_count + (size_t)count, sizeof(int));
  s->children = array;
  if (!ok) return -1;
  n->first = s->child_count;
  n->count = count;
  if (count > 0) memcpy(s->children + s->child_count, children, (size_t)count * sizeof(int));
  s->child_count += (size_t)count;
  return s->node_count++;
}

int od_signals_add_sum(od_signals *s, const int *children, int count) {
  return add_parent(s, OD_SIGNAL_SUM, children, count);
}

static bool has_derivative(const od_signals *s, int index) {
  const node *n = &s->nodes[index];
  bool has = n->kind == OD_SIGNAL_DERIVATIVE;
  for (int i = 0; n->kind == OD_SIGNAL_SUM && i < n->count; i++)
    has = has || has_derivative(s, s->children[n->first + (size_t)i]);
  return has;
}

int od_signals_add_derivative(od_signals *s, int child) {
  if (child < 0 || child >= s->node_count || has_derivative(s, child)) return -1;
  return add_parent(s, OD_SIGNAL_DERIVATIVE, &child, 1);
}
#endif

// ---- values

static double sine_value(const double *v, double t) {
  double s = t - v[4];
  return t < v[4] ? v[3] : v[3] + v[0] * sin(two_pi * v[1] * s + v[2]);
}

static double chirp_end(const double *v) {
  return v[5] + v[3];
}

// Returns the value of a chirp at time t. v: amplitude, frequencies (Hz), duration, offset, start.
static double chirp_value(const double *v, bool logarithmic, double t) {
  double amplitude = v[0], from = v[1], to = v[2], duration = v[3], offset = v[4], start = v[5];
  if (!(t >= start) || t >= chirp_end(v)) return offset;
  double s = t - start, ratio = to / from, cycles;
  if (logarithmic && ratio > 0 && ratio != 1)
    cycles = from * duration / log(ratio) * expm1(log(ratio) * s / duration);
  else
    cycles = from * s + (to - from) * s * s / (2 * duration);
  return offset + amplitude * sin(two_pi * cycles);
}

static double stepped_sine_value(const double *v, const double *ends, int segments, double t) {
  if (t < 0) return 0;
  int k = od_count_until(ends, segments, 1, t);
  if (k == segments) return 0;
  double start = k > 0 ? ends[k - 1] : 0;
  return v[0] * sin(two_pi * od_stepped_frequency(v, k) * (t - start));
}

static double steps_value(const double *v, int count, double t) {
  int done = od_count_until(v + 1, (count - 1) / 2, 2, t);
  return v[2 * done];
}

static double lagged_steps_value(const double *v, int count, const double *reached, double t) {
  int done = od_count_until(v + 2, (count - 2) / 2, 2, t);
  if (done == 0) return v[1];
  const double *pair = v + 2 * done;
  return lag(reached[done - 1], pair[1], t - pair[0], v[0]);
}

// Returns the value at time t of (time, value) pairs that are connected by straight lines or (smooth) by half-cosines.
static double joined_value(const double *pairs, int count, bool smooth, double t) {
  int n = count / 2, done = od_count_until(pairs, n, 2, t);
  if (done == 0) return pairs[1];
  const double *a = pairs + 2 * (done - 1);
  if (done == n) return a[1];
  double part = (t - a[0]) / (a[2] - a[0]);
  if (smooth) part = 0.5 * (1 - cos(0.5 * two_pi * part));
  return a[1] + part * (a[3] - a[1]);
}

static double sequence_value(const double *v, const double *begin, int segments, double t) {
  const double *value = begin + segments + 1;
  int done = od_count_until(begin, segments + 1, 1, t);
  if (done == 0 || done > segments) return value[done == 0 ? 0 : segments];
  return od_segment_value(v + 1 + (done - 1) * OD_SEGMENT_NUMBERS, value[done - 1], t - begin[done - 1]);
}

// Returns the index k of the bit of a binary sequence at time t; bit: the duration of a bit, s. Bit k begins exactly at
// k * bit.
static double bit_index(double t, double bit) {
  // After more than 2^52 bits, neighboring bits have equal times because of round-off.
  if (!(bit > 0) || !(t > 0) || !(t / bit < 0x1p52)) return 0;
  double k = floor(t / bit);
  if ((k + 1) * bit <= t) k += 1;
  if (k * bit > t) k -= 1;
  return k;
}

static double prbs_value(const double *v, const od_prbs *prbs, double t) {
  return v[od_prbs_bit(prbs, bit_index(t, v[2]))];
}

static double sum_value(const od_signals *s, const node *n, double t) {
  double sum = 0;
  for (int i = 0; i < n->count; i++) sum += od_signal_value(s, s->children[n->first + (size_t)i], t);
  return sum;
}

double od_signal_value(const od_signals *s, int index, double t) {
  const node *n = &s->nodes[index];
  if (n->kind == OD_SIGNAL_SUM) return sum_value(s, n, t);
  if (n->kind == OD_SIGNAL_DERIVATIVE) return od_signal_slope(s, s->children[n->first], t);
  const double *v = s->numbers + n->first, *derived = s->numbers + n->derived;
  switch (n->kind) {
    case OD_SIGNAL_CONSTANT: return v[0];
    case OD_SIGNAL_SINE: return sine_value(v, t);
    case OD_SIGNAL_CHIRP: return chirp_value(v, n->flag != 0, t);
    case OD_SIGNAL_STEPPED_SINE: return stepped_sine_value(v, derived, n->segments, t);
    case OD_SIGNAL_STEPS: return steps_value(v, n->count, t);
    case OD_SIGNAL_LAGGED_STEPS: return lagged_steps_value(v, n->count, derived, t);
    case OD_SIGNAL_RAMPS:
    case OD_SIGNAL_TABLE: return joined_value(v, n->count, false, t);
    case OD_SIGNAL_HALF_COSINES: return joined_value(v, n->count, true, t);
    case OD_SIGNAL_PRBS: return prbs_value(v, n->prbs, t);
    case OD_SIGNAL_SEQUENCE: return sequence_value(v, derived, n->segments, t);
    case OD_SIGNAL_SUM:
    case OD_SIGNAL_DERIVATIVE: break;
  }
  return NAN;
}

static double next_of(const double *times, int n, int stride, double t) {
  int done = od_count_until(times, n, stride, t);
  return done < n ? times[done * stride] : INFINITY;
}

// Returns the time of the next bit that differs from the current bit, at most `order` bits later; INFINITY if the
// duration of a bit is not positive, if both levels are equal, or if t is so large that neighboring bits have equal
// times.
static double next_bit_edge(const double *v, const od_prbs *prbs, double t) {
  double bit = v[2], k = bit_index(t, bit);
  if (!(bit > 0) || !(t / bit < 0x1p52) || v[0] == v[1]) return INFINITY;
  int present = od_prbs_bit(prbs, k);
  do k += 1;
  while (od_prbs_bit(prbs, k) == present);
  return k * bit;
}

const double *od_signal_segments(const od_signals *s, int index, int *count) {
  const od_signal_node *n = &s->nodes[index];
  bool sequence = n->kind == OD_SIGNAL_SEQUENCE;
  *count = sequence ? n->segments : 0;
  return sequence ? s->numbers + n->derived : NULL;
}

int od_signal_segment_kind(const od_signals *s, int index, int k) {
  return (int)s->numbers[s->nodes[index].first + 1 + (size_t)k * OD_SEGMENT_NUMBERS];
}

double od_signal_segment_end(const od_signals *s, int index, int k) {
  const od_signal_node *n = &s->nodes[index];
  return s->numbers[n->derived + (size_t)n->segments + 1 + (size_t)k + 1];
}

double od_signal_next_break(const od_signals *s, int index, double t) {
  const node *n = &s->nodes[index];
  const double *v = s->numbers + n->first, *derived = s->numbers + n->derived;
  double earliest = INFINITY;
  switch (n->kind) {
    case OD_SIGNAL_CONSTANT: return INFINITY;
    case OD_SIGNAL_SINE: return t < v[4] ? v[4] : INFINITY;
    case OD_SIGNAL_CHIRP: return t < v[5] ? v[5] : t < chirp_end(v) ? chirp_end(v) : INFINITY;
    case OD_SIGNAL_STEPPED_SINE: return t < 0 ? 0 : next_of(derived, n->segments, 1, t);
    case OD_SIGNAL_STEPS: return next_of(v + 1, (n->count - 1) / 2, 2, t);
    case OD_SIGNAL_LAGGED_STEPS: return next_of(v + 2, (n->count - 2) / 2, 2, t);
    case OD_SIGNAL_RAMPS:
    case OD_SIGNAL_HALF_COSINES:  // the second derivative of a half-cosine jumps at both ends
    case OD_SIGNAL_TABLE: return next_of(v, n->count / 2, 2, t);
    case OD_SIGNAL_PRBS: return next_bit_edge(v, n->prbs, t);
    case OD_SIGNAL_SEQUENCE: return next_of(derived, n->segments + 1, 1, t);
    case OD_SIGNAL_DERIVATIVE: return od_signal_next_break(s, s->children[n->first], t);
    case OD_SIGNAL_SUM:
      for (int i = 0; i < n->count; i++)
        earliest = fmin(earliest, od_signal_next_break(s, s->children[n->first + (size_t)i], t));
  }
  return earliest;
}

double od_signal_bit(const od_signals *s, int index) {
  const node *n = &s->nodes[index];
  double shortest = n->kind == OD_SIGNAL_PRBS ? s->numbers[n->first + 2] : INFINITY;
  bool has_children = n->kind == OD_SIGNAL_SUM || n->kind == OD_SIGNAL_DERIVATIVE;
  for (int i = 0; has_children && i < n->count; i++)
    shortest = fmin(shortest, od_signal_bit(s, s->children[n->first + (size_t)i]));
  return shortest;
}

static double sum_duration(const od_signals *s, const node *n) {
  double longest = 0;
  for (int i = 0; i < n->count; i++) longest = fmax(longest, od_signal_duration(s, s->children[n->first + (size_t)i]));
  return longest;
}

double od_signal_duration(const od_signals *s, int index) {
  const node *n = &s->nodes[index];
  if (n->kind == OD_SIGNAL_SUM || n->kind == OD_SIGNAL_DERIVATIVE) return sum_duration(s, n);
  const double *v = s->numbers + n->first, *derived = s->numbers + n->derived;
  switch (n->kind) {
    case OD_SIGNAL_CONSTANT: return 0;
    case OD_SIGNAL_SINE: return INFINITY;
    case OD_SIGNAL_CHIRP: return chirp_end(v);
    case OD_SIGNAL_STEPPED_SINE: return derived[n->segments - 1];
    case OD_SIGNAL_STEPS: return n->count > 1 ? v[n->count - 2] : 0;
    // A lag has no end. After five time constants, less than one percent of the jump remains.
    case OD_SIGNAL_LAGGED_STEPS: return n->count > 2 ? v[n->count - 2] + 5 * fmax(v[0], 0) : 0;
    case OD_SIGNAL_RAMPS:
    case OD_SIGNAL_HALF_COSINES:
    case OD_SIGNAL_TABLE: return v[n->count - 2];
    // The duration is one period of the sequence.
    case OD_SIGNAL_PRBS: return od_prbs_period(n->prbs) * v[2];
    case OD_SIGNAL_SEQUENCE: return derived[n->segments];
    case OD_SIGNAL_SUM:
    case OD_SIGNAL_DERIVATIVE: break;
  }
  return 0;
}
