// Computes averaged spectra (Welch) of an input and its outputs, block by block; for periodic inputs, period by period.
//
// The coherence is c = |S_yu|^2 / (S_uu S_yy). With n independent averages, the standard deviation of the real part of an estimate
// H is |H| sqrt((1 - c) / (2 n c)). The imaginary part has the same standard deviation. Overlapping blocks are not independent, so
// n is reduced according to the correlation that the window leaves between neighboring blocks.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "frequency/fft.h"
#include "frequency/frequency_response.h"
#include "io/wording.h"

const char *const od_window_names[] = {"hann", "hamming", "blackman", "none", NULL};

// Sums over the blocks of one output at one frequency.
typedef struct line_sums {
  double _Complex cross;  // sum of Y conj(U)
  double power;           // sum of |Y|^2
  double _Complex mean;   // sum of Y
} line_sums;

struct od_spectra {
  od_spectra_options o;
  int outputs, signals, lines;  // lines: lines 1 to `lines` are below half the sampling frequency
  int hop;
  double *window;
  double *block;  // signals x length, one signal after another
  int filled;
  long skip, blocks;
  od_fft *fft;
  double _Complex *z;         // memory of the transform of two signals at once
  double _Complex *spectrum;  // signals x lines
  double *input_power;        // sum of |U|^2 per line
  double _Complex *input_mean;
  line_sums *sum;  // outputs x lines
  od_arena arena;
};

static double window_value(od_window window, double part) {
  double angle = 2 * acos(-1) * part;
  switch (window) {
    case OD_WINDOW_HANN: return 0.5 - 0.5 * cos(angle);
    case OD_WINDOW_HAMMING: return 0.54 - 0.46 * cos(angle);
    case OD_WINDOW_BLACKMAN: return 0.42 - 0.5 * cos(angle) + 0.08 * cos(2 * angle);
    case OD_WINDOW_NONE: return 1;
  }
  return 1;
}

void od_spectra_free(od_spectra *s) {
  if (!s) return;
  od_fft_free(s->fft);
  od_arena_free(&s->arena);
  od_free(s);
}

od_status od_spectra_new(const od_spectra_options *options, int outputs, od_spectra **out, od_error *err) {
  *out = NULL;
  if (options->length < 4 || options->length > 1 << 24)
    return od_fail(err, OD_BAD_INPUT, "found blocks of %d samples, expected 4 to %d", options->length, 1 << 24);
  if (!(options->overlap >= 0 && options->overlap < 1))
    return od_fail(err, OD_BAD_INPUT, "found an overlap of %g, expected 0 or more and less than 1", options->overlap);
  OD_OWNED(od_spectra_free) od_spectra *s = od_calloc(1, sizeof *s);
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory");
  s->o = *options;
  s->outputs = outputs;
  s->signals = outputs + 1;
  s->lines = (options->length - 1) / 2;
  s->hop = options->periodic ? options->length : (int)fmax(1, round((1 - options->overlap) * options->length));
  s->skip = options->periodic ? (long)options->settle * options->length : 0;
  long n = options->length, lines = s->lines + 1;
  s->window = OD_TAKE(&s->arena, double, n);
  s->block = OD_TAKE(&s->arena, double, n * s->signals);
  s->fft = od_fft_new(options->length);
  s->z = OD_TAKE(&s->arena, double _Complex, n);
  s->spectrum = OD_TAKE(&s->arena, double _Complex, lines * s->signals);
  s->input_power = OD_TAKE(&s->arena, double, lines);
  s->input_mean = OD_TAKE(&s->arena, double _Complex, lines);
  s->sum = OD_TAKE(&s->arena, line_sums, lines * outputs);
  if (!s->fft || od_arena_status(&s->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_window window = options->periodic ? OD_WINDOW_NONE : options->window;
  for (int i = 0; i < options->length; i++) s->window[i] = window_value(window, (double)i / options->length);
  *out = OD_GIVE(s);
  return OD_OK;
}

// Transforms signals a and b as the real and the imaginary part of one series. The spectra of the signals are the
// conjugate-even and the conjugate-odd part of the spectrum of the series.
static void transform(od_spectra *s, int a, int b) {
  int n = s->o.length, lines = s->lines;
  const double *xa = s->block + (size_t)a * (size_t)n, *xb = b < s->signals ? s->block + (size_t)b * (size_t)n : NULL;
  double mean_a = 0, mean_b = 0;
  for (int i = 0; i < n; i++) mean_a += xa[i], mean_b += xb ? xb[i] : 0;
  mean_a /= n, mean_b /= n;
  for (int i = 0; i < n; i++)
    s->z[i] = s->window[i] * (xa[i] - mean_a) + (xb ? s->window[i] * (xb[i] - mean_b) : 0) * _Complex_I;
  od_fft_run(s->fft, s->z);
  for (int k = 1; k <= lines; k++) {
    double _Complex up = s->z[k], down = conj(s->z[n - k]);
    s->spectrum[(size_t)a * ((size_t)lines + 1) + (size_t)k] = (up + down) / 2;
    if (xb) s->spectrum[(size_t)b * ((size_t)lines + 1) + (size_t)k] = (up - down) / 2 * -_Complex_I;
  }
}

static double square(double _Complex z) {
  return creal(z) * creal(z) + cimag(z) * cimag(z);
}

static void take_block(od_spectra *s) {
  size_t stride = (size_t)s->lines + 1;
  for (int a = 0; a < s->signals; a += 2) transform(s, a, a + 1);
  for (int k = 1; k <= s->lines; k++) {
    double _Complex u = s->spectrum[k];
    s->input_power[k] += square(u);
    s->input_mean[k] += u;
    for (int i = 0; i < s->outputs; i++) {
      double _Complex y = s->spectrum[(size_t)(i + 1) * stride + (size_t)k];
      line_sums *sum = &s->sum[(size_t)i * stride + (size_t)k];
      sum->cross += y * conj(u);
      sum->power += square(y);
      sum->mean += y;
    }
  }
  s->blocks++;
}

void od_spectra_add(od_spectra *s, double input, const double *output) {
  if (s->skip > 0) {
    s->skip--;
    return;
  }
  size_t n = (size_t)s->o.length, at = (size_t)s->filled;
  s->block[at] = input;
  for (int i = 0; i < s->outputs; i++) s->block[(size_t)(i + 1) * n + at] = output[i];
  if (++s->filled < s->o.length) return;
  take_block(s);
  s->filled = s->o.length - s->hop;
  for (int i = 0; i < s->signals; i++)
    memmove(s->block + (size_t)i * n, s->block + (size_t)i * n + s->hop, (size_t)s->filled * sizeof *s->block);
}

// Returns the equivalent number of independent blocks.
static double independent_blocks(const od_spectra *s) {
  int n = s->o.length;
  double all = 0, loss = 0;
  for (int i = 0; i < n; i++) all += s->window[i] * s->window[i];
  for (long away = 1; away * s->hop < n && away < s->blocks; away++) {
    double shared = 0;
    for (int i = (int)(away * s->hop); i < n; i++) shared += s->window[i] * s->window[i - away * s->hop];
    loss += 2 * (shared / all) * (shared / all) * (double)(s->blocks - away) / (double)s->blocks;
  }
  return (double)s->blocks / (1 + loss);
}

static void broad_point(const od_spectra *s, const line_sums *sum, int k, double averages, double _Complex *value,
                        double *sigma, double *coherence) {
  double uu = s->input_power[k];
  *value = sum->cross / uu;
  *coherence = sum->power > 0 ? fmin(square(sum->cross) / (uu * sum->power), 1) : 0;
  *sigma = cabs(*value) * sqrt((1 - *coherence) / (2 * averages * *coherence));
}

static void periodic_point(const od_spectra *s, const line_sums *sum, int k, double _Complex *value, double *sigma,
                           double *coherence) {
  double blocks = (double)s->blocks;
  *value = sum->mean / s->input_mean[k];
  double spread = fmax(sum->power - square(sum->mean) / blocks, 0) / (blocks - 1);
  *sigma = s->blocks > 1 ? sqrt(spread / 2 / blocks) / (cabs(s->input_mean[k]) / blocks) : (double)NAN;
  *coherence = sum->power > 0 ? square(sum->mean) / (blocks * sum->power) : 0;
}

// Returns whether the input excites a line. The amplitude of a periodic input must be above a thousandth of the largest amplitude
// of all lines. The amplitude of another input must be above zero.
static bool is_excited(const od_spectra *s, int k, double strongest) {
  return s->input_power[k] > (s->o.periodic ? 1e-6 : 0) * strongest;
}

od_status od_spectra_end(const od_spectra *s, od_frf **out, od_error *err) {
  size_t stride = (size_t)s->lines + 1;
  double strongest = 0;
  int points = 0, at = 0, least = s->o.periodic ? 1 : 2;
  *out = NULL;
  if (s->blocks < least)
    return od_fail(err, OD_BAD_INPUT, "found %s of %d samples, expected at least %d; record a longer log%s",
                   od_count(s->blocks, s->o.periodic ? "whole period" : "whole block").text, s->o.length, least,
                   s->o.periodic ? "" : " or give a shorter --length");
  for (int k = 1; k <= s->lines; k++) strongest = fmax(strongest, s->input_power[k]);
  for (int k = 1; k <= s->lines; k++) points += is_excited(s, k, strongest);
  if (points == 0)
    return od_fail(err, OD_BAD_INPUT,
                   "the input is constant, so the response cannot be computed; expected an input that changes");
  od_frf *f = od_frf_new(points, s->outputs);
  if (!f) return od_fail(err, OD_NO_MEMORY, "out of memory");
  double averages = independent_blocks(s);
  for (int k = 1; k <= s->lines; k++) {
    if (!is_excited(s, k, strongest)) continue;
    f->frequency[at] = k / (s->o.length * s->o.step);
    if (s->o.periodic && s->blocks > 1) f->freedom[at] = 2 * (double)(s->blocks - 1);
    for (int i = 0; i < s->outputs; i++) {
      const line_sums *sum = &s->sum[(size_t)i * stride + (size_t)k];
      int to = i * points + at;
      if (s->o.periodic)
        periodic_point(s, sum, k, &f->value[to], &f->sigma[to], &f->coherence[to]);
      else
        broad_point(s, sum, k, averages, &f->value[to], &f->sigma[to], &f->coherence[to]);
    }
    at++;
  }
  *out = f;
  return OD_OK;
}
