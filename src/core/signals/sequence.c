// Segments of a signal, as a table of kinds. s: time since the segment began; v0: value at that time; T: duration:
//
//   ramp          v0 + (to - v0) s/T
//   half_cosine   v0 + (to - v0) (1 - cos(pi s/T)) / 2
//   sine          v0 + A (sin(2 pi f s + phase) - sin(phase))
//   lagged_step   v0 + (to - v0) (1 - exp(-s/tau))
#include "signals/sequence.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

double od_sine_derivative(double amplitude, double omega, double phase, int order) {
  double part = order % 2 ? cos(phase) : sin(phase);
  return amplitude * pow(omega, order) * (order < 2 ? part : -part);
}

enum { DURATION = 1, FIRST = 2 };  // indices in a segment

static double hold_value(const double *g, double from, double s) {
  (void)g, (void)s;
  return from;
}
static double no_derivative(const double *g, double from, double s, int order) {
  (void)g, (void)from, (void)s, (void)order;
  return 0;
}

static double step_value(const double *g, double from, double s) {
  (void)from, (void)s;
  return g[FIRST];
}

static double ramp_value(const double *g, double from, double s) {
  return s >= g[DURATION] ? g[FIRST] : from + (g[FIRST] - from) * (s / g[DURATION]);
}
static double ramp_derivative(const double *g, double from, double s, int order) {
  (void)s;
  return order == 1 ? (g[FIRST] - from) / g[DURATION] : 0;
}

static double half_cosine_value(const double *g, double from, double s) {
  if (s >= g[DURATION]) return g[FIRST];
  double half = sin(0.5 * pi * (s / g[DURATION]));
  return from + (g[FIRST] - from) * half * half;
}
static double half_cosine_derivative(const double *g, double from, double s, int order) {
  double omega = pi / g[DURATION];
  return od_sine_derivative(0.5 * (g[FIRST] - from) * omega, omega, pi * (s / g[DURATION]), order - 1);
}

// Returns the value of a sine segment. At the end of a segment with a whole number of periods, the value is exactly the value at
// its start. Round-off of sin() therefore cannot accumulate or change the sign of a value zero.
static double sine_value(const double *g, double from, double s) {
  double periods = g[FIRST + 1] * s;
  if (s >= g[DURATION] && fabs(periods - round(periods)) < 1e-12 * fmax(1, periods)) return from;
  return from + g[FIRST] * (sin(2 * pi * periods + g[FIRST + 2]) - sin(g[FIRST + 2]));
}
static double sine_derivative(const double *g, double from, double s, int order) {
  (void)from;
  double omega = 2 * pi * g[FIRST + 1];
  return od_sine_derivative(g[FIRST], omega, omega * s + g[FIRST + 2], order);
}

static double lagged_step_value(const double *g, double from, double s) {
  return from - (g[FIRST] - from) * expm1(-s / g[FIRST + 1]);
}
static double lagged_step_derivative(const double *g, double from, double s, int order) {
  return (from - g[FIRST]) * pow(-1 / g[FIRST + 1], order) * exp(-s / g[FIRST + 1]);
}

static const struct {
  double (*value)(const double *segment, double from, double since);
  double (*derivative)(const double *segment, double from, double since, int order);
} kinds[OD_SEGMENT_KINDS] = {
    [OD_SEGMENT_HOLD] = {hold_value, no_derivative},
    [OD_SEGMENT_STEP] = {step_value, no_derivative},
    [OD_SEGMENT_RAMP] = {ramp_value, ramp_derivative},
    [OD_SEGMENT_HALF_COSINE] = {half_cosine_value, half_cosine_derivative},
    [OD_SEGMENT_SINE] = {sine_value, sine_derivative},
    [OD_SEGMENT_LAGGED_STEP] = {lagged_step_value, lagged_step_derivative},
};

bool od_segment_is_one(const double *segment) {
  if (!(segment[0] >= 0 && segment[0] < OD_SEGMENT_KINDS) || segment[0] != floor(segment[0])) return false;
  if (segment[0] == OD_SEGMENT_LAGGED_STEP && !(segment[FIRST + 1] > 0)) return false;
  return segment[DURATION] > 0 && isfinite(segment[DURATION]);
}

double od_segment_value(const double *segment, double from, double since) {
  return kinds[(int)segment[0]].value(segment, from, since);
}

double od_segment_derivative(const double *segment, double from, double since, int order) {
  return kinds[(int)segment[0]].derivative(segment, from, since, order);
}

double od_segment_end(const double *segment, double from) {
  return od_segment_value(segment, from, segment[DURATION]);
}

// Returns the integral of the density from `low` to `value`.
static double area(const od_density *d, double low, double value) {
  double width = value - low;
  double exponential = d->rate != 0 ? -exp(-d->rate * low) * expm1(-d->rate * width) / d->rate : width;
  return d->peak * exponential + d->floor * width;
}

// The area increases with the value, so bisection finds the value for any density.
double od_density_place(const od_density *d, double low, double high, int count, int i) {
  double at_low = d->floor + d->peak * exp(-d->rate * low), at_high = d->floor + d->peak * exp(-d->rate * high);
  if (!(at_low > 0 && at_high > 0 && isfinite(at_low) && isfinite(at_high))) return NAN;
  if (i <= 0 || count < 2) return low;
  if (i >= count - 1) return high;
  double wanted = area(d, low, high) * i / (count - 1), below = low, above = high;
  for (int k = 0; k < 200; k++) {
    double middle = below + (above - below) / 2;
    if (middle <= below || middle >= above) break;
    if (area(d, low, middle) < wanted)
      below = middle;
    else
      above = middle;
  }
  return below + (above - below) / 2;
}
