// Magnitude and phase over frequency, and their crossings.
#include <math.h>
#include <stdlib.h>

#include "linear/response.h"

static double degrees(od_complex g) {
  return carg(g) * 180 / acos(-1);
}

// The angle, shifted by full turns to within half a turn of another.
static double near_to(double angle, double other) {
  return angle - 360 * round((angle - other) / 360);
}

// The slope of the magnitude at the lowest frequency gives the number of integrators, each with -90 degrees.
static double first_phase(od_linear_response *r, const od_path *path, double frequency) {
  od_complex a = od_path_at(r, path, frequency), b = od_path_at(r, path, frequency / 1.1);
  double slope = round(log(cabs(a) / cabs(b)) / log(1.1));
  if (!isfinite(slope)) slope = 0;
  double angle = near_to(degrees(a), 90 * slope);
  // A negative gain is half a turn in either direction: counted as lag.
  return angle - 90 * slope > 179 ? angle - 360 : angle;
}

void od_path_table(od_linear_response *r, const od_path *path, const double *frequency, int count, double *magnitude,
                   double *phase) {
  double last = NAN;
  for (int i = 0; i < count; i++) {
    od_complex g = od_path_at(r, path, frequency[i]);
    magnitude[i] = 20 * log10(cabs(g));
    phase[i] = isnan(last) ? first_phase(r, path, frequency[i]) : near_to(degrees(g), last);
    if (!isnan(phase[i])) last = phase[i];
  }
}

// A function whose zero is a crossing: the logarithm of the gain relative to a level, or the sine of the phase if the real part
// is negative.
typedef double (*crossing)(od_complex g, double level);
static double gain_over(od_complex g, double level) {
  return log(cabs(g) / level);
}
static double lag_over(od_complex g, double level) {
  (void)level;
  return cimag(g) / cabs(g);
}

// Finds a crossing between two frequencies with different signs, by bisection of the logarithm.
static double locate(od_linear_response *r, const od_path *path, crossing f, double level, double low, double high) {
  bool rises = f(od_path_at(r, path, high), level) > 0;
  for (int i = 0; i < 60 && high / low > 1 + 1e-14; i++) {
    double middle = sqrt(low * high);
    if ((f(od_path_at(r, path, middle), level) > 0) == rises)
      high = middle;
    else
      low = middle;
  }
  return sqrt(low * high);
}

static void take_gain(od_margins *m, od_complex g, double at) {
  double gain = 1 / cabs(g);
  if (!(creal(g) < 0) || (!isnan(m->gain) && fabs(log(gain)) >= fabs(log(m->gain)))) return;
  m->gain = gain, m->gain_at = at;
}

static void take_phase(od_margins *m, od_complex g, double at) {
  double margin = near_to(degrees(g) + 180, 0);
  if (!isnan(m->phase) && fabs(margin) >= fabs(m->phase)) return;
  m->phase = margin, m->phase_at = at;
}

od_margins od_margins_find(od_linear_response *r, const od_path *path, const double *frequency, int count) {
  od_margins m = {
      .gain = NAN, .gain_at = NAN, .phase = NAN, .phase_at = NAN, .bandwidth = NAN, .peak = 0, .peak_at = NAN};
  od_complex before = 0;
  double fallen = NAN;
  for (int i = 0; i < count; i++) {
    od_complex g = od_path_at(r, path, frequency[i]);
    if (i == 0) fallen = cabs(g) / sqrt(2);
    if (cabs(g) > m.peak) m.peak = cabs(g), m.peak_at = frequency[i];
    double low = i > 0 ? frequency[i - 1] : 0, high = frequency[i];
    if (i > 0 && (gain_over(before, 1) > 0) != (gain_over(g, 1) > 0)) {
      double at = locate(r, path, gain_over, 1, low, high);
      take_phase(&m, od_path_at(r, path, at), at);
    }
    if (i > 0 && creal(before) < 0 && creal(g) < 0 && (cimag(before) > 0) != (cimag(g) > 0)) {
      double at = locate(r, path, lag_over, 0, low, high);
      take_gain(&m, od_path_at(r, path, at), at);
    }
    // A gain that falls from the lowest frequency on, as with an integrator, has no bandwidth.
    if (i == 1 && cabs(g) * sqrt(high) < cabs(before) * sqrt(low)) fallen = NAN;
    if (i > 0 && isnan(m.bandwidth) && cabs(before) >= fallen && cabs(g) < fallen)
      m.bandwidth = locate(r, path, gain_over, fallen, low, high);
    before = g;
  }
  return m;
}
