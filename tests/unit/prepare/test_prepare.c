// Preparation of logged signals before a fit.
//
// Oracles: the gain of Butterworth's filter under the bilinear transform, constants and lines that must pass, another
// form of the same filter as a difference equation; published coefficients of Savitzky and Golay, and polynomials;
// inserted spikes; medians by sorting; closed forms of regression lines; straight lines and sines between samples with
// the error bound h^2/8 max |x''|.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "random/random.h"
#include "prepare/prepare.h"

#define PI 3.14159265358979323846

static const bool output[1] = {false}, input[1] = {true}, both[2] = {true, false};

static double gaussian(int seed, long i) {
  return od_random_gaussian((uint64_t)seed, 3, (uint64_t)i, OD_USE_NOISE);
}

static void uniform_times(double *time, long rows, double start, double step) {
  for (long i = 0; i < rows; i++) time[i] = start + (double)i * step;
}

static od_prepared *prepare(od_prepare p, const double *time, const double *value, long rows, int channels,
                            const bool *is_input) {
  od_prepared *out = NULL;
  od_error err = {0};
  if (od_prepare_signals(&p, time, value, rows, channels, is_input, &out, &err) != OD_OK) fail_msg("%s", err.text);
  assert_non_null(out);
  return out;
}

static void refused(od_prepare p, const double *time, const double *value, long rows, int channels,
                    const bool *is_input, const char *want) {
  od_prepared *out = (od_prepared *)&p;
  od_error err = {0};
  assert_int_equal(od_prepare_signals(&p, time, value, rows, channels, is_input, &out, &err), OD_BAD_INPUT);
  assert_null(out);
  assert_string_equal(err.text, want);
}

// --- No preparation -----------------------------------------------------------------------------------------------

// Zero options: the same bits for any times.
static void nothing(void **state) {
  (void)state;
  const double time[4] = {0, 0.1, 0.5, 2}, value[8] = {1, 2, 3, NAN, 5, 6, 7, 8};
  od_prepared *out = prepare((od_prepare){0}, time, value, 4, 2, both);
  assert_int_equal(out->rows, 4);
  assert_memory_equal(out->time, time, sizeof time);
  assert_memory_equal(out->value, value, sizeof value);
  assert_int_equal(out->channel[0].missing, 0);
  assert_int_equal(out->channel[1].missing, 1);
  assert_true(out->gaps_filled == 0 && out->outliers_removed == 0);
  od_prepared_free(out);
  out = prepare((od_prepare){.detrend = OD_DETREND_LINEAR}, time, value, 1, 2, both);
  assert_true(out->rows == 1 && out->value[0] == 0 && out->value[1] == 0 && out->channel[1].mean == 2);
  od_prepared_free(out);
}

// --- Low-pass -----------------------------------------------------------------------------------------------------

// The amplitude is 1 / (1 + (tan(w h/2) / tan(wc h/2))^4) and the phase zero, found by correlation with sine and cosine
// over whole periods 8 s away from the ends, where the effect of the ends has decayed to exp(-2 pi 8 / sqrt 2) = 4e-16
// for the slowest corner.
static void sine_through_low_pass(void **state) {
  (void)state;
  enum { ROWS = 24000 };
  static double time[ROWS], value[2 * ROWS];
  static const double corners[] = {1, 5, 40, 200, 450, 499}, frequencies[] = {0.5, 2, 10, 50, 125, 400};
  const double step = 1e-3;
  double worst = 0;
  uniform_times(time, ROWS, 3, step);
  for (size_t a = 0; a < 6; a++)
    for (size_t b = 0; b < 6; b++) {
      double w = 2 * PI * frequencies[b], re = 0, im = 0;
      for (long i = 0; i < ROWS; i++) {
        value[2 * i] = sin(w * (double)i * step + 0.4);
        value[2 * i + 1] = -7 * value[2 * i];  // inputs and outputs equally
      }
      od_prepared *out = prepare((od_prepare){.low_pass = corners[a]}, time, value, ROWS, 2, both);
      for (long i = 8000; i < 16000; i++) {  // 8 s: whole periods of all
        re += out->value[2 * i] * sin(w * (double)i * step + 0.4) / 4000;
        im += out->value[2 * i] * cos(w * (double)i * step + 0.4) / 4000;
        assert_true(fabs(out->value[2 * i + 1] + 7 * out->value[2 * i]) < 1e-12);
      }
      double want = 1 / (1 + pow(tan(w * step / 2) / tan(PI * corners[a] * step), 4));
      worst = fmax(worst, fmax(fabs(re - want), fabs(im)));
      od_prepared_free(out);
    }
  print_message("zero-phase low-pass, 36 pairs of corner and frequency: within %.1e of the gain, phase included\n",
                worst);
  assert_true(worst < 1e-12);
}

static void constants_and_lines_pass(void **state) {
  (void)state;
  enum { ROWS = 500 };
  static double time[ROWS], value[ROWS];
  uniform_times(time, ROWS, -2, 0.01);
  for (int shape = 0; shape < 2; shape++)
    for (double corner = 0.01; corner < 50; corner *= 3) {
      for (long i = 0; i < ROWS; i++) value[i] = 1e5 + (shape ? 300 * time[i] : 0);
      value[100] = value[101] = value[104] = value[300] = NAN;  // pieces of 100, 2, 195 and 199
      od_prepared *out = prepare((od_prepare){.low_pass = corner}, time, value, ROWS, 1, output);
      for (long i = 0; i < ROWS; i++)
        if (isnan(value[i]))
          assert_true(isnan(out->value[i]));
        else
          assert_true(fabs(out->value[i] - value[i]) < 1e-9);
      assert_int_equal(out->channel[0].missing, 4);
      od_prepared_free(out);
    }
}

// Butterworth's filter as a difference equation, forward and backward over a signal with long constant parts at both
// ends.
static void difference_equation(double *x, long n, double K) {
  double a0 = 1 + sqrt(2) * K + K * K, x1 = 0, x2 = 0, y1 = 0, y2 = 0;
  for (long i = 0; i < n; i++) {
    double y = (K * K * (x[i] + 2 * x1 + x2) - (2 * K * K - 2) * y1 - (1 - sqrt(2) * K + K * K) * y2) / a0;
    x2 = x1, x1 = x[i], y2 = y1, y1 = y;
    x[i] = y;
  }
}

static void reverse(double *x, long n) {
  for (long i = 0; i < n / 2; i++) {
    double swap = x[i];
    x[i] = x[n - 1 - i], x[n - 1 - i] = swap;
  }
}

static void low_pass_against_difference_equation(void **state) {
  (void)state;
  enum { ROWS = 3000 };
  static double time[ROWS], value[ROWS], want[ROWS];
  uniform_times(time, ROWS, 0, 0.002);
  for (long i = 0; i < ROWS; i++) want[i] = value[i] = i > 1000 && i < 2000 ? gaussian(1, i) : 0;
  difference_equation(want, ROWS, tan(PI * 12 * 0.002));
  reverse(want, ROWS);
  difference_equation(want, ROWS, tan(PI * 12 * 0.002));
  reverse(want, ROWS);
  od_prepared *out = prepare((od_prepare){.low_pass = 12}, time, value, ROWS, 1, input);
  for (long i = 0; i < ROWS; i++) assert_true(fabs(out->value[i] - want[i]) < 1e-12);
  od_prepared_free(out);
  // Pieces between gaps are independent; pieces shorter than five samples are unchanged.
  memcpy(want, value, sizeof want);
  value[1400] = value[1405] = value[1410] = value[1700] = NAN;
  double four[4];
  memcpy(four, value + 1401, sizeof four);
  out = prepare((od_prepare){.low_pass = 12}, time, value, ROWS, 1, output);
  assert_memory_equal(out->value + 1401, four, sizeof four);
  od_prepared *piece = prepare((od_prepare){.low_pass = 12}, time + 1411, value + 1411, 289, 1, output);
  assert_memory_equal(out->value + 1411, piece->value, 289 * sizeof(double));
  od_prepared_free(out), od_prepared_free(piece);
}

// Pieces of any length: minus the line between its ends, a piece is a sum of sines sin(pi m i / (n - 1)), and each has
// its gain. This is equivalent to odd reflection at both ends.
static void low_pass_against_sines(void **state) {
  (void)state;
  enum { MOST = 300 };
  double time[MOST], x[MOST], worst = 0;
  uniform_times(time, MOST, 0, 1);
  for (int n = 5; n <= MOST; n = n * 3 / 2)
    for (double corner = 1e-10; corner < 0.5; corner *= 3) {
      for (int i = 0; i < n; i++) x[i] = 3 + gaussian(n, i);
      od_prepared *out = prepare((od_prepare){.low_pass = corner}, time, x, n, 1, output);
      double slope = (x[n - 1] - x[0]) / (n - 1), want[MOST];
      for (int i = 0; i < n; i++) want[i] = x[0] + slope * i;
      for (int m = 1; m < n - 1; m++) {
        double part = 0, gain = 1 / (1 + pow(tan(PI * m / (2 * (n - 1))) / tan(PI * corner), 4));
        for (int i = 0; i < n; i++) part += 2 * (x[i] - x[0] - slope * i) * sin(PI * m * i / (n - 1)) / (n - 1);
        for (int i = 0; i < n; i++) want[i] += gain * part * sin(PI * m * i / (n - 1));
      }
      for (int i = 0; i < n; i++) worst = fmax(worst, fabs(out->value[i] - want[i]));
      od_prepared_free(out);
    }
  print_message("low-pass of noise, 5 to 300 samples, corners from 1e-10 of the rate: within %.1e of sums of sines\n",
                worst);
  assert_true(worst < 1e-12);
}

// Slow signals keep their shape up to the ends.
static void ends_of_low_pass(void **state) {
  (void)state;
  enum { ROWS = 2000 };
  static double time[ROWS], value[ROWS];
  uniform_times(time, ROWS, 0, 0.001);
  for (long i = 0; i < ROWS; i++) value[i] = 4 + sin(2 * PI * 0.8 * time[i] + 1);
  od_prepared *out = prepare((od_prepare){.low_pass = 20}, time, value, ROWS, 1, output);
  double worst = 0;
  for (long i = 0; i < ROWS; i++) worst = fmax(worst, fabs(out->value[i] - value[i]));
  print_message("0.8 Hz through a low-pass of 20 Hz, ends included: within %.1e\n", worst);
  assert_true(worst < 2e-3);
  od_prepared_free(out);
}

// --- Savitzky-Golay -----------------------------------------------------------------------------------------------

// An impulse shows the coefficients: of windows of five and seven (quadratic) and nine (quartic), as published.
static void known_coefficients(void **state) {
  (void)state;
  static const struct {
    int window, order;
    double norm, c[9];
  } known[] = {{5, 2, 35, {-3, 12, 17, 12, -3}},
               {5, 3, 35, {-3, 12, 17, 12, -3}},
               {7, 2, 21, {-2, 3, 6, 7, 6, 3, -2}},
               {9, 4, 429, {15, -55, 30, 135, 179, 135, 30, -55, 15}},
               {5, 0, 5, {1, 1, 1, 1, 1}}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    double time[41], value[41] = {0};
    uniform_times(time, 41, 0, 0.1);
    value[20] = 1;
    od_prepared *out = prepare((od_prepare){.savgol_window = known[k].window, .savgol_order = known[k].order}, time,
                               value, 41, 1, output);
    for (int i = 0; i < 41; i++) {
      int at = i - 20 + known[k].window / 2;
      double want = at >= 0 && at < known[k].window ? known[k].c[at] / known[k].norm : 0;
      assert_true(fabs(out->value[i] - want) < 1e-15);
    }
    od_prepared_free(out);
  }
}

// Polynomials of its order pass unchanged, also at the ends and next to gaps; higher ones do not.
static void polynomials_pass(void **state) {
  (void)state;
  enum { ROWS = 120 };
  for (int order = 0; order <= 8; order++)
    for (int window = order + 1 + order % 2; window <= 41; window += 8)
      for (int gaps = 0; gaps < 2; gaps++) {
        double time[ROWS], value[ROWS], scale = 0;
        uniform_times(time, ROWS, -0.6, 0.01);
        for (int i = 0; i < ROWS; i++) {
          value[i] = 2;
          for (int j = 1; j <= order; j++) value[i] = 2 - 1.3 * value[i] * time[i];
          scale = fmax(scale, fabs(value[i]));
          if (gaps && (i == 1 || i % 9 == 4 || (i > 50 && i < 60) || i == 118)) value[i] = NAN;
        }
        od_prepared *out =
            prepare((od_prepare){.savgol_window = window, .savgol_order = order}, time, value, ROWS, 1, output);
        for (int i = 0; i < ROWS; i++)
          assert_true(isnan(value[i]) ? isnan(out->value[i]) : fabs(out->value[i] - value[i]) < 1e-11 * scale);
        od_prepared_free(out);
      }
  // The fifth power through order three is changed, and inputs are not smoothed.
  double time[ROWS], value[2 * ROWS], change = 0;
  uniform_times(time, ROWS, -0.6, 0.01);
  for (int i = 0; i < ROWS; i++) value[2 * i] = value[2 * i + 1] = pow(time[i], 5);
  od_prepared *out = prepare((od_prepare){.savgol_window = 41, .savgol_order = 3}, time, value, ROWS, 2, both);
  for (int i = 0; i < ROWS; i++) {
    assert_true(out->value[2 * i] == value[2 * i]);
    change = fmax(change, fabs(out->value[2 * i + 1] - value[2 * i + 1]));
  }
  assert_true(change > 1e-5);
  od_prepared_free(out);
}

// Next to gaps: the least-squares line through the available samples, by its closed form.
static void gap_in_smoothing(void **state) {
  (void)state;
  double time[11], value[11];
  uniform_times(time, 11, 0, 1);
  for (int i = 0; i < 11; i++) value[i] = gaussian(5, i);
  value[4] = value[6] = NAN;
  od_prepared *out = prepare((od_prepare){.savgol_window = 7, .savgol_order = 1}, time, value, 11, 1, output);
  double n = 0, t = 0, x = 0, tt = 0, tx = 0;
  for (int i = 2; i <= 8; i++)
    if (!isnan(value[i])) n++, t += i, x += value[i], tt += i * i, tx += i * value[i];
  double slope = (n * tx - t * x) / (n * tt - t * t);
  assert_true(fabs(out->value[5] - (x / n + slope * (5 - t / n))) < 1e-14);
  assert_true(isnan(out->value[4]) && isnan(out->value[6]) && out->channel[0].missing == 2);
  od_prepared_free(out);
  // Too few samples for the polynomial: unchanged.
  double lonely[11] = {NAN, NAN, NAN, 3, NAN, NAN, NAN, NAN, 5, NAN, NAN};
  out = prepare((od_prepare){.savgol_window = 5, .savgol_order = 2}, time, lonely, 11, 1, output);
  assert_true(out->value[3] == 3 && out->value[8] == 5 && out->channel[0].missing == 9);
  od_prepared_free(out);
}

// --- Outliers -----------------------------------------------------------------------------------------------------

static void spikes_go(void **state) {
  (void)state;
  enum { ROWS = 20000, EVERY = 97 };
  static double time[ROWS], value[2 * ROWS], clean[ROWS];
  uniform_times(time, ROWS, 0, 0.001);
  for (long i = 0; i < ROWS; i++) clean[i] = 5 * sin(2 * PI * 0.5 * time[i]) + 0.1 * gaussian(2, i);
  // Without spikes: few false alarms.
  od_prepared *out = prepare((od_prepare){.outliers = 4}, time, clean, ROWS, 1, output);
  print_message("noise and a sine, no spikes: %ld of %d samples removed at 4 standard deviations\n",
                out->outliers_removed, ROWS);
  assert_true(out->outliers_removed < ROWS / 200);
  od_prepared_free(out);
  long spikes = 0;
  for (long i = 0; i < ROWS; i++) {
    bool spike = i % EVERY == 50 || i == 0 || i == ROWS - 1;
    spikes += spike;
    value[2 * i] = value[2 * i + 1] = clean[i] + (spike ? (i % 2 ? 2 : -30) : 0);
  }
  out = prepare((od_prepare){.outliers = 4}, time, value, ROWS, 2, both);
  long wrong = 0;
  for (long i = 0; i < ROWS; i++) {
    bool spike = i % EVERY == 50 || i == 0 || i == ROWS - 1;
    assert_true(out->value[2 * i] == value[2 * i]);  // inputs are not checked
    if (spike)
      assert_true(isnan(out->value[2 * i + 1]));
    else if (isnan(out->value[2 * i + 1]))
      wrong++;
    else
      assert_true(out->value[2 * i + 1] == clean[i]);
  }
  print_message("%ld spikes: all removed, and %ld other samples\n", spikes, wrong);
  assert_true(wrong < ROWS / 200);
  assert_int_equal(out->outliers_removed, spikes + wrong);
  assert_int_equal(out->channel[0].outliers_removed, 0);
  assert_int_equal(out->channel[1].outliers_removed, spikes + wrong);
  assert_int_equal(out->channel[1].missing, spikes + wrong);
  od_prepared_free(out);
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_by_sorting(double *x, int m) {
  qsort(x, (size_t)m, sizeof *x, by_size);
  return m % 2 ? x[m / 2] : (x[m / 2 - 1] + x[m / 2]) / 2;
}

// The moving medians against sorting every window, with gaps and equal values.
static void medians_by_sorting(void **state) {
  (void)state;
  enum { ROWS = 600 };
  double time[ROWS], value[ROWS];
  uniform_times(time, ROWS, 0, 0.01);
  for (int rounded = 0; rounded < 2; rounded++)
    for (int window = 5; window < 60; window += 12) {
      for (int i = 0; i < ROWS; i++) {
        value[i] = pow(gaussian(4, i), 3);
        if (rounded) value[i] = round(4 * value[i]) / 4;
        if (gaussian(5, i) > 1 || (i > 300 && i < 340)) value[i] = NAN;
      }
      od_prepared *out = prepare((od_prepare){.outliers = 2.5, .outlier_window = window}, time, value, ROWS, 1, output);
      int removed = 0;
      for (int i = 0; i < ROWS; i++) {
        double x[60], median, distance;
        int m = 0;
        for (int k = i - window / 2; k <= i + window / 2; k++)
          if (k >= 0 && k < ROWS && !isnan(value[k])) x[m++] = value[k];
        bool far = false;
        if (m >= 5 && !isnan(value[i])) {
          median = median_by_sorting(x, m);
          for (int k = 0; k < m; k++) x[k] = fabs(x[k] - median);
          distance = fabs(value[i] - median);
          far = distance > 2.5 * 1.4826 * median_by_sorting(x, m) && !(rounded && distance < 1.5 * 0.25);
        }
        removed += far;
        assert_int_equal(isnan(out->value[i]) && !isnan(value[i]), far);
      }
      assert_true(removed > 0);
      assert_int_equal(out->outliers_removed, removed);
      od_prepared_free(out);
    }
}

// A constant sensor: a change of its last digit is not an outlier, a spike is.
static void flickering_digit(void **state) {
  (void)state;
  enum { ROWS = 2000 };
  static double time[ROWS], value[ROWS];
  uniform_times(time, ROWS, 0, 0.01);
  for (long i = 0; i < ROWS; i++) value[i] = 0.25 * (40 + (gaussian(6, i) > 1.3));
  value[700] = 12, value[1500] = 0;
  od_prepared *out = prepare((od_prepare){.outliers = 3}, time, value, ROWS, 1, output);
  assert_int_equal(out->outliers_removed, 2);
  assert_true(isnan(out->value[700]) && isnan(out->value[1500]));
  od_prepared_free(out);
  for (long i = 0; i < ROWS; i++) value[i] = i == 900 ? 1 : 0;  // all equal except one
  out = prepare((od_prepare){.outliers = 3}, time, value, ROWS, 1, output);
  assert_true(out->outliers_removed == 1 && isnan(out->value[900]));
  od_prepared_free(out);
}

// --- Resampling ---------------------------------------------------------------------------------------------------

// A line is a line at any step, from uneven times as well, and also after the low-pass before a longer step.
static void line_resampled(void **state) {
  (void)state;
  enum { ROWS = 800 };
  static double time[ROWS], value[2 * ROWS];
  static const double steps[] = {0.003, 0.01, 0.0101, 0.0137, 0.05, 0.31};
  for (int uneven = 0; uneven < 2; uneven++)
    for (size_t s = 0; s < 6; s++) {
      for (long i = 0; i < ROWS; i++) {
        time[i] = 7 + 0.01 * (double)i + (uneven ? 0.004 * sin(2.0 * (double)i) : 0);
        value[2 * i] = 2 - 5 * time[i], value[2 * i + 1] = 100 + 3 * time[i];
      }
      od_prepared *out = prepare((od_prepare){.resample = steps[s]}, time, value, ROWS, 2, both);
      assert_int_equal(out->rows, (long)floor((time[ROWS - 1] - time[0]) / steps[s] + 1e-6) + 1);
      for (long i = 0; i < out->rows; i++) {
        double t = time[0] + (double)i * steps[s];
        if (isnan(out->value[2 * i])) fail_msg("%d %zu: row %ld of %ld is missing", uneven, s, i, out->rows);
        assert_true(fabs(out->time[i] - t) < 1e-12);
        assert_true(fabs(out->value[2 * i] - (2 - 5 * t)) < 1e-11);
        assert_true(fabs(out->value[2 * i + 1] - (100 + 3 * t)) < 1e-11);
      }
      assert_true(out->step == steps[s]);
      assert_true(s < 2 ? out->anti_alias == 0 : s > 2 ? fabs(out->anti_alias - 0.25 / steps[s]) < 1e-12 : true);
      od_prepared_free(out);
    }
}

// For any step and times, an input has a value in every row, and the log is used up to its end.
static void inputs_stay_whole(void **state) {
  (void)state;
  enum { ROWS = 60 };
  double time[ROWS], value[ROWS];
  for (int k = 0; k < 3000; k++) {
    double step = exp(0.8 * gaussian(21, k)), uneven = k % 3 ? 0.4 : 0;
    for (int i = 0; i < ROWS; i++) {
      time[i] = 1e3 + i + uneven * fmin(fmax(gaussian(k, i), -1), 1), value[i] = time[i];
      if (k % 3 == 2) time[i] = round(1e4 * time[i]) / 1e4;
    }
    if (k % 2) step = (time[ROWS - 1] - time[0]) / floor(ROWS / step + 1);  // the end is reached except for round-off
    od_prepared *out = prepare((od_prepare){.resample = step}, time, value, ROWS, 1, input);
    assert_int_equal(out->channel[0].missing, 0);
    double left = time[ROWS - 1] - out->time[out->rows - 1];
    assert_true(left < step * (k % 2 ? 1e-6 : 1) && left > -1e-5 * step);
    od_prepared_free(out);
  }
}

// A sine at a shorter step: the error of straight lines is at most h^2/8 w^2. At a longer one: times the low-pass'
// gain.
static void sine_resampled(void **state) {
  (void)state;
  enum { ROWS = 6001 };
  static double time[ROWS], value[ROWS];
  const double h = 0.002, w = 2 * PI * 3;
  uniform_times(time, ROWS, 0, h);
  for (long i = 0; i < ROWS; i++) value[i] = sin(w * time[i]);
  double bound = h * h / 8 * w * w, worst = 0;
  od_prepared *out = prepare((od_prepare){.resample = 0.00071}, time, value, ROWS, 1, output);
  for (long i = 0; i < out->rows; i++) worst = fmax(worst, fabs(out->value[i] - sin(w * out->time[i])));
  print_message("sine at a shorter step: off by %.2e, bound %.2e\n", worst, bound);
  assert_true(worst < bound * (1 + 1e-9) && worst > bound / 2);
  od_prepared_free(out);
  out = prepare((od_prepare){.resample = 0.017}, time, value, ROWS, 1, output);
  double gain = 1 / (1 + pow(tan(w * h / 2) / tan(PI * 0.25 / 0.017 * h), 4));
  worst = 0;
  for (long i = 60; i < out->rows - 60; i++) worst = fmax(worst, fabs(out->value[i] - gain * sin(w * out->time[i])));
  print_message("sine at a longer step: off by %.2e of the low-pass' %.6f\n", worst, gain);
  assert_true(worst < bound * (1 + 1e-6));
  od_prepared_free(out);
}

// 43 Hz at steps of 0.025 s would look like 3 Hz; the low-pass leaves 1/(1 + 4.3^4) of it.
static void no_aliases(void **state) {
  (void)state;
  enum { ROWS = 8000 };
  static double time[ROWS], value[ROWS];
  const double h = 0.001, w = 2 * PI * 43;
  uniform_times(time, ROWS, 0, h);
  for (long i = 0; i < ROWS; i++) value[i] = sin(w * time[i]);
  od_prepared *out = prepare((od_prepare){.resample = 0.025}, time, value, ROWS, 1, output);
  double gain = 1 / (1 + pow(tan(w * h / 2) / tan(PI * 10 * h), 4)), largest = 0;
  for (long i = 20; i < out->rows - 20; i++) largest = fmax(largest, fabs(out->value[i]));
  assert_true(largest < 1.01 * gain && largest > 0.9 * gain);
  assert_true(gain < 0.003);
  od_prepared_free(out);
}

// Short gaps are filled, long ones remain, ends are not extrapolated.
static void gaps_stay(void **state) {
  (void)state;
  enum { ROWS = 400 };
  static double time[ROWS], value[ROWS];
  uniform_times(time, ROWS, 1, 0.01);
  for (int longer = 0; longer < 2; longer++) {
    double step = longer ? 0.02 : 0.005;
    for (long i = 0; i < ROWS; i++) value[i] = 4 + time[i];
    value[50] = value[100] = value[101] = NAN;                      // filled: neighbors 2 and 3 steps apart
    for (long i = 200; i < 203; i++) value[i] = NAN;                // 4 steps
    for (long i = 300; i < 340; i++) value[i] = NAN;                // 41 steps
    for (long i = 0; i < 10; i++) value[i] = value[390 + i] = NAN;  // ends
    od_prepared *out = prepare((od_prepare){.resample = step}, time, value, ROWS, 1, output);
    assert_int_equal(out->gaps_filled, 2);
    long missing = 0;
    for (long i = 0; i < out->rows; i++) {
      double at = (out->time[i] - 1) / 0.01, e = 1e-4;
      bool gone = at < 10 - e || at > 389 + e || (at > 199 + e && at < 203 - e) || (at > 299 + e && at < 340 - e);
      assert_int_equal(isnan(out->value[i]), gone);
      if (!gone) assert_true(fabs(out->value[i] - 4 - out->time[i]) < 1e-12);
      missing += gone;
    }
    assert_int_equal(out->channel[0].missing, missing);
    od_prepared_free(out);
  }
  // Missing rows are a gap, too; removed outliers are filled.
  for (long i = 0; i < ROWS; i++) time[i] = 0.01 * (double)(i + (i >= 150 ? 30 : 0)), value[i] = sin(time[i]);
  value[77] = 9;
  od_prepared *out = prepare((od_prepare){.resample = 0.01, .outliers = 5}, time, value, ROWS, 1, output);
  assert_int_equal(out->rows, ROWS + 30);
  assert_int_equal(out->channel[0].missing, 30);
  assert_true(isnan(out->value[150]) && isnan(out->value[179]) && !isnan(out->value[149]) && !isnan(out->value[180]));
  assert_true(out->gaps_filled == 1 && out->outliers_removed == 1);
  assert_true(fabs(out->value[77] - sin(0.77)) < 1e-4);
  od_prepared_free(out);
}

// --- Trends -------------------------------------------------------------------------------------------------------

// A line is removed completely; the remainder of any signal has neither mean nor slope; closed form by the normal
// equations.
static void trends(void **state) {
  (void)state;
  enum { ROWS = 300 };
  double time[ROWS], value[2 * ROWS];
  for (int i = 0; i < ROWS; i++) {
    time[i] = 1e4 + 0.02 * i + 0.005 * sin(3.0 * i);
    value[2 * i] = 3 - 0.7 * (time[i] - 1e4);
    value[2 * i + 1] = i % 11 == 3 ? (double)NAN : 20 + 2 * (time[i] - 1e4) + gaussian(8, i);
  }
  double n = 0, t = 0, x = 0, tt = 0, tx = 0;
  for (int i = 0; i < ROWS; i++) {
    double s = time[i] - 1e4, v = value[2 * i + 1];
    if (!isnan(v)) n++, t += s, x += v, tt += s * s, tx += s * v;
  }
  double slope = (n * tx - t * x) / (n * tt - t * t), offset = (x - slope * t) / n;
  od_prepared *out = prepare((od_prepare){.detrend = OD_DETREND_LINEAR}, time, value, ROWS, 2, both);
  for (int i = 0; i < ROWS; i++) {
    double v = value[2 * i + 1];
    assert_true(fabs(out->value[2 * i]) < 1e-11);
    assert_true(isnan(v) ? isnan(out->value[2 * i + 1])
                         : fabs(out->value[2 * i + 1] - (v - offset - slope * (time[i] - 1e4))) < 1e-10);
  }
  assert_true(fabs(out->channel[0].slope + 0.7) < 1e-11 && fabs(out->channel[1].slope - slope) < 1e-10);
  assert_true(fabs(out->channel[1].mean - x / n) < 1e-11 && fabs(out->channel[1].middle - 1e4 - t / n) < 1e-9);
  od_prepared_free(out);
  out = prepare((od_prepare){.detrend = OD_DETREND_MEAN}, time, value, ROWS, 2, both);
  for (int i = 0; i < ROWS; i++)
    assert_true(isnan(value[2 * i + 1]) || fabs(out->value[2 * i + 1] - (value[2 * i + 1] - x / n)) < 1e-12);
  assert_true(out->channel[1].slope == 0);
  od_prepared_free(out);
}

// --- Combinations -------------------------------------------------------------------------------------------------

// Several preparations in one call equal calls in sequence.
static void one_after_the_other(void **state) {
  (void)state;
  enum { ROWS = 3000 };
  static double time[ROWS], value[2 * ROWS];
  for (long i = 0; i < ROWS; i++) {
    time[i] = 0.001 * (double)i;
    value[2 * i] = sin(9 * time[i]);
    value[2 * i + 1] = 2 + cos(9 * time[i]) + 0.01 * gaussian(3, i) + (i % 211 == 7 ? 1 : 0);
    if (i > 1000 && i < 1100) value[2 * i + 1] = NAN;
  }
  const od_prepare all = {.resample = 0.004,
                          .detrend = OD_DETREND_LINEAR,
                          .low_pass = 30,
                          .savgol_window = 9,
                          .savgol_order = 2,
                          .outliers = 5,
                          .outlier_window = 31};
  const od_prepare step[5] = {{.outliers = 5, .outlier_window = 31},
                              {.resample = 0.004},
                              {.low_pass = 30},
                              {.savgol_window = 9, .savgol_order = 2},
                              {.detrend = OD_DETREND_LINEAR}};
  od_prepared *want = prepare(step[0], time, value, ROWS, 2, both);
  for (int i = 1; i < 5; i++) {
    od_prepared *next = prepare(step[i], want->time, want->value, want->rows, 2, both);
    od_prepared_free(want);
    want = next;
  }
  od_prepared *got = prepare(all, time, value, ROWS, 2, both);
  assert_int_equal(got->rows, want->rows);
  for (long i = 0; i < 2 * got->rows; i++)
    assert_true(isnan(want->value[i]) ? isnan(got->value[i]) : fabs(got->value[i] - want->value[i]) < 1e-12);
  assert_true(got->outliers_removed >= 13 && got->channel[1].missing > 20 && got->channel[0].missing == 0);
  od_prepared_free(got), od_prepared_free(want);
}

static void mistakes(void **state) {
  (void)state;
  double time[100], value[200];
  uniform_times(time, 100, 0, 0.01);
  for (int i = 0; i < 200; i++) value[i] = gaussian(1, i);
  refused((od_prepare){.low_pass = 50}, time, value, 100, 2, both,
          "the corner frequency of the low-pass filter is 50 Hz; expected less than half the sampling rate, 50 Hz");
  refused((od_prepare){.low_pass = 6, .resample = 0.1}, time, value, 100, 2, both,
          "the corner frequency of the low-pass filter is 6 Hz; expected less than half the sampling rate, 5 Hz");
  refused(
      (od_prepare){.low_pass = 1e-9}, time, value, 100, 2, both,
      "the corner frequency of the low-pass filter is 1e-09 Hz, too far below the sampling rate of 100 Hz; expected at least "
      "1e-08 Hz");
  refused((od_prepare){.savgol_window = 4, .savgol_order = 2}, time, value, 100, 2, both,
          "the window of Savitzky-Golay smoothing has 4 samples; expected a positive odd number");
  refused((od_prepare){.savgol_window = 5, .savgol_order = 5}, time, value, 100, 2, both,
          "the window of Savitzky-Golay smoothing has 5 samples; expected more samples than the order, 5");
  refused((od_prepare){.savgol_window = 101, .savgol_order = 5}, time, value, 100, 2, both,
          "the window of Savitzky-Golay smoothing has 101 samples; expected at most 100, the samples of the log");
  refused((od_prepare){.savgol_order = 3}, time, value, 100, 2, both,
          "Savitzky-Golay smoothing of order 3 needs a window; give the number of samples of the window");
  refused((od_prepare){.resample = 1e-9}, time, value, 100, 2, both,
          "a step of 1e-09 s results in 9.9e+08 rows for 0.99 s; expected at most 100 million rows. Use a longer step");
  refused((od_prepare){.resample = 1}, time, value, 100, 2, both,
          "a step of 1 s is longer than the log, which lasts 0.99 s; use a shorter step");
  refused(
      (od_prepare){.resample = -1, .low_pass = NAN, .outliers = -2, .outlier_window = 8}, time, value, 100, 2, both,
      "'resample': found a step of -1 s, expected a positive number; 'low_pass': found a corner frequency of nan Hz, expected a "
      "positive number; 'outliers': found -2 standard deviations, expected a positive number; the window for outliers has 8 samples; "
      "expected an odd number of at least 5");
  // All mistakes together: the long message fits into its buffer.
  od_prepared *out = NULL;
  od_error err = {0};
  const od_prepare all = {-1e-300, (od_detrend)9, -1e-300, -22222222, -33333333, -1e-300, -44444444};
  assert_int_equal(od_prepare_signals(&all, time, value, 100, 2, both, &out, &err), OD_BAD_INPUT);
  assert_true(strlen(err.text) > 400 && strlen(err.text) < sizeof err.text);
  // Signals.
  value[2 * 30 + 1] = NAN, value[2 * 30] = NAN;
  refused((od_prepare){0}, time, value, 100, 2, both,
          "channel 1 is an input without a value in row 31, at 0.3 s; inputs must not have gaps");
  value[2 * 30] = -INFINITY;
  refused((od_prepare){0}, time, value, 100, 2, both,
          "channel 1 is infinite in row 31, at 0.3 s; expected a finite number");
  value[2 * 30] = 0;
  for (int i = 50; i < 100; i++) time[i] += 0.2;
  refused(
      (od_prepare){.low_pass = 5, .savgol_window = 5}, time, value, 100, 2, both,
      "the low-pass filter needs uniform times; resample first ('resample'); Savitzky-Golay smoothing needs uniform times; "
      "resample first ('resample')");
  refused((od_prepare){.resample = 0.01}, time, value, 100, 2, both,
          "the log has no rows between 0.49 s and 0.7 s, more than 3 steps of 0.01 s; inputs must not have gaps");
  time[20] = time[19];
  refused((od_prepare){0}, time, value, 100, 2, both, "times must increase: row 21 has 0.19 s after 0.19 s");
  time[20] = NAN;
  refused((od_prepare){0}, time, value, 100, 2, both,
          "the time of row 21 is not a number; expected a time in each row");
  assert_int_equal(od_prepare_signals(&all, time, value, 0, 2, both, &out, &err), OD_BAD_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing),
      cmocka_unit_test(sine_through_low_pass),
      cmocka_unit_test(constants_and_lines_pass),
      cmocka_unit_test(low_pass_against_difference_equation),
      cmocka_unit_test(low_pass_against_sines),
      cmocka_unit_test(ends_of_low_pass),
      cmocka_unit_test(known_coefficients),
      cmocka_unit_test(polynomials_pass),
      cmocka_unit_test(gap_in_smoothing),
      cmocka_unit_test(spikes_go),
      cmocka_unit_test(medians_by_sorting),
      cmocka_unit_test(flickering_digit),
      cmocka_unit_test(line_resampled),
      cmocka_unit_test(inputs_stay_whole),
      cmocka_unit_test(sine_resampled),
      cmocka_unit_test(no_aliases),
      cmocka_unit_test(gaps_stay),
      cmocka_unit_test(trends),
      cmocka_unit_test(one_after_the_other),
      cmocka_unit_test(mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
