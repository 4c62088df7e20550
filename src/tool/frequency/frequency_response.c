#include "frequency/frequency_response.h"

#include <math.h>

#include "base/allocate.h"
#include "linear/response.h"
#include "math/normal.h"

od_frf *od_frf_new(int points, int outputs) {
  OD_OWNED(od_frf_free) od_frf *f = od_calloc(1, sizeof *f);
  if (!f) return NULL;
  long all = (long)points * outputs;
  f->points = points;
  f->outputs = outputs;
  f->frequency = OD_TAKE(&f->arena, double, points);
  f->value = OD_TAKE(&f->arena, double _Complex, all);
  f->sigma = OD_TAKE(&f->arena, double, all);
  f->coherence = OD_TAKE(&f->arena, double, all);
  f->freedom = OD_TAKE(&f->arena, double, points);
  if (od_arena_status(&f->arena) != OD_OK) return NULL;
  for (long i = 0; i < all; i++) f->sigma[i] = f->coherence[i] = (double)NAN;
  for (int i = 0; i < points; i++) f->freedom[i] = INFINITY;
  return OD_GIVE(f);
}

void od_frf_free(od_frf *f) {
  if (!f) return;
  od_arena_free(&f->arena);
  od_free(f);
}

// Returns whether a frequency is in a range. Computed frequencies may have round-off: 70 Hz may be slightly above 70.
static bool lies_between(double frequency, double low, double high) {
  return frequency >= low * (1 - 1e-9) && frequency <= high * (1 + 1e-9);
}

od_frf *od_frf_between(const od_frf *f, double low, double high) {
  int points = 0;
  for (int i = 0; i < f->points; i++) points += lies_between(f->frequency[i], low, high);
  od_frf *part = od_frf_new(points, f->outputs);
  for (int i = 0, at = 0; part && i < f->points; i++) {
    if (!lies_between(f->frequency[i], low, high)) continue;
    part->frequency[at] = f->frequency[i];
    part->freedom[at] = f->freedom[i];
    for (int k = 0; k < f->outputs; k++) {
      part->value[k * points + at] = f->value[k * f->points + i];
      part->sigma[k * points + at] = f->sigma[k * f->points + i];
      part->coherence[k * points + at] = f->coherence[k * f->points + i];
    }
    at++;
  }
  return part;
}

od_status od_frf_of_model(const od_linear_model *m, const double *frequency, int points, od_frf **out, od_error *err) {
  OD_SCRATCH(scratch);
  *out = NULL;
  OD_OWNED(od_linear_response_free) od_linear_response *response = od_linear_response_new(m);
  OD_OWNED(od_frf_free) od_frf *f = od_frf_new(points, m->outputs);
  od_complex *G = OD_TAKE(&scratch, od_complex, m->outputs);
  if (!response || !f || !G) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < points; i++) {
    f->frequency[i] = frequency[i];
    if (od_linear_response_at(response, frequency[i], G) != OD_OK)
      return od_fail(err, OD_BAD_INPUT,
                     "the machine has a pole at %g Hz, where its response is infinite; choose other frequencies",
                     frequency[i]);
    for (int k = 0; k < f->outputs; k++) {
      f->value[k * points + i] = G[k];
      f->sigma[k * points + i] = 0;
    }
  }
  *out = OD_GIVE(f);
  return OD_OK;
}

double od_frf_half(const od_frf *f, int output, int point) {
  return od_student_quantile(f->freedom[point], OD_NORMAL95) * f->sigma[output * f->points + point];
}

od_reading od_frf_amplitude(const od_frf *f, int output, int point) {
  double amplitude = cabs(f->value[output * f->points + point]), half = od_frf_half(f, output, point);
  return (od_reading){amplitude, fmax(amplitude - half, 0), amplitude + half};
}

void od_frf_phases(const od_frf *f, int output, double *phase) {
  const double turn = 2 * acos(-1);
  for (int i = 0; i < f->points; i++) {
    phase[i] = carg(f->value[output * f->points + i]);
    if (i > 0) phase[i] -= turn * round((phase[i] - phase[i - 1]) / turn);
  }
}

// --- Bandwidth ----------------------------------------------------------------------------------------------------

// Returns the lowest frequency (Hz) at which the amplitude is 3 dB below the amplitude of the first point; NAN: no such
// frequency. Frequency and amplitude are interpolated linearly in logarithms. All amplitudes are increased by `shift`
// half widths of their intervals. The reference, which is the amplitude of the first point, is decreased by `shift`
// half widths.
static double crossing(const od_frf *f, int output, double shift) {
  const double _Complex *value = f->value + output * f->points;
  double level = (cabs(value[0]) - (shift == 0 ? 0 : shift * od_frf_half(f, output, 0))) / sqrt(2),
         before = (double)NAN;
  for (int i = 0; i < f->points; i++) {
    double amplitude = cabs(value[i]) + (shift == 0 ? 0 : shift * od_frf_half(f, output, i));
    if (i > 0 && amplitude < level) {
      double part = log(before / level) / log(before / fmax(amplitude, 1e-300));
      return exp(log(f->frequency[i - 1]) + part * log(f->frequency[i] / f->frequency[i - 1]));
    }
    before = amplitude;
  }
  return (double)NAN;
}

// --- Resonances ---------------------------------------------------------------------------------------------------

// Returns whether a maximum stands out: on each side, the amplitude falls significantly below the maximum before it rises above the
// maximum. Noise causes many small maxima.
static bool stands_out(const od_frf *f, int output, int at) {
  const double _Complex *value = f->value + output * f->points;
  double top = cabs(value[at]), own = od_frf_half(f, output, at);
  for (int side = -1; side <= 1; side += 2) {
    bool falls = false;
    for (int i = at + side; i >= 0 && i < f->points && cabs(value[i]) <= top && !falls; i += side) {
      double noise = isnan(own) ? 0 : OD_NORMAL99 / OD_NORMAL95 * hypot(own, od_frf_half(f, output, i));
      falls = top - cabs(value[i]) > fmax(noise, 1e-3 * top);
    }
    if (!falls) return false;
  }
  return true;
}

od_features od_frf_features(const od_frf *f, int output) {
  od_features found = {.bandwidth = {(double)NAN, (double)NAN, (double)NAN}};
  if (f->points == 0) return found;
  const double _Complex *value = f->value + output * f->points;
  bool is_known = !isnan(f->sigma[output * f->points]);
  found.bandwidth.value = crossing(f, output, 0);
  if (is_known) {
    found.bandwidth.low = crossing(f, output, -1);
    found.bandwidth.high = crossing(f, output, 1);
  }
  for (int i = 1; i + 1 < f->points && found.peaks < OD_MOST_PEAKS; i++) {
    double here = cabs(value[i]);
    if (here <= cabs(value[i - 1]) || here < cabs(value[i + 1]) || !stands_out(f, output, i)) continue;
    found.peak[found.peaks++] = (od_peak){f->frequency[i], od_frf_amplitude(f, output, i)};
  }
  return found;
}
