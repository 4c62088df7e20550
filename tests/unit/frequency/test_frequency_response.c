// Frequency responses from data and from models.
//
// Oracles: the Fourier sum; closed forms of a first-order difference equation and of a mass on a spring; coverage of intervals
// over many seeds; the clock.
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "support/test.h"
#include "frequency/fft.h"
#include "frequency/frequency_response.h"
#include "random/random.h"
#include "support/allocations.h"

static double gaussian(uint64_t seed, uint32_t stream, long i) {
  return od_random_gaussian(seed, stream, (uint64_t)i, OD_USE_NOISE);
}

static void transform_against_sum(void **state) {
  (void)state;
  static const int lengths[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64, 100, 127, 243, 256, 1000};
  double worst = 0;
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
    int n = lengths[l];
    od_fft *fft = od_fft_new(n);
    double _Complex x[1000], y[1000];
    for (int i = 0; i < n; i++) y[i] = x[i] = gaussian(1, 1, i) + gaussian(1, 2, i) * _Complex_I;
    od_fft_run(fft, y);
    for (int k = 0; k < n; k++) {
      double _Complex sum = 0;
      for (int i = 0; i < n; i++) sum += x[i] * cexp(-2 * acos(-1) * _Complex_I * (i * k % n) / n);
      worst = fmax(worst, cabs(sum - y[k]) / sqrt(n));
    }
    od_fft_free(fft);
  }
  print_message("transforms of 1 to 1000 samples: within %.1e of the sum\n", worst);
  assert_true(worst < 1e-12);
}

// y[k] = a y[k-1] + (1 - a) u[k]: H = (1 - a) / (1 - a exp(-i w h)).
static const double pole = 0.8, step = 1e-3;
static double _Complex lag(double frequency) {
  return (1 - pole) / (1 - pole * cexp(-2 * acos(-1) * _Complex_I * frequency * step));
}

static od_frf *broad(uint64_t seed, long samples, double noise, const od_spectra_options *o) {
  od_spectra *s = NULL;
  od_frf *f = NULL;
  od_error err = {0};
  assert_int_equal(od_spectra_new(o, 2, &s, &err), OD_OK);
  for (long k = 0; k < samples; k++) {
    static double y;
    double u = gaussian(seed, 1, k), out[2];
    if (k == 0) y = 0;
    y = pole * y + (1 - pole) * u;
    out[0] = 3 + y + noise * gaussian(seed, 2, k);
    out[1] = -2 * u;
    od_spectra_add(s, 5 + u, out);
  }
  if (od_spectra_end(s, &f, &err) != OD_OK) fail_msg("%s", err.text);
  od_spectra_free(s);
  return f;
}

// A Gaussian number is within 1.96 standard deviations in 95 % of cases; here for real and imaginary parts at all lines, whose
// standard deviations follow from the coherence for white noise on the output.
static void averaged_spectra(void **state) {
  (void)state;
  const od_spectra_options o = {.step = step, .length = 256, .overlap = 0.5};
  long inside = 0, all = 0;
  double coherence = 0, off = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    od_frf *f = broad(seed, 60000, 0.3, &o);
    assert_int_equal(f->points, 127);
    for (int i = 0; i < f->points; i++) {
      double _Complex error = f->value[i] - lag(f->frequency[i]);
      assert_true(fabs(f->frequency[i] - (i + 1) / 0.256) < 1e-9);
      // The second output is a constant factor.
      assert_true(cabs(f->value[f->points + i] + 2) < 1e-12 && f->coherence[f->points + i] > 1 - 1e-12);
      if (i < 3) continue;  // lines within the window's own width of zero
      inside += (fabs(creal(error)) < 1.96 * f->sigma[i]) + (fabs(cimag(error)) < 1.96 * f->sigma[i]);
      all += 2;
      double power = pow(cabs(lag(f->frequency[i])), 2);
      off += f->coherence[i] - power / (power + 0.09);
      coherence += 1;
    }
    od_frf_free(f);
  }
  double part = (double)inside / (double)all;
  print_message("averaged spectra: %.1f %% of %ld parts within their 95 %% interval; coherence off by %.4f\n",
                100 * part, all, off / coherence);
  assert_true(part > 0.935 && part < 0.965);
  assert_true(fabs(off / coherence) < 0.005);
}

// A sum of three sines that fits a block exactly: after a period only the three lines are excited, without leakage.
static void multisine(void **state) {
  (void)state;
  const int lines[] = {3, 10, 41}, period = 250;
  const od_spectra_options o = {.step = step, .length = period, .periodic = true, .settle = 2};
  for (int noisy = 0; noisy < 2; noisy++) {
    od_spectra *s = NULL;
    od_frf *f = NULL;
    od_error err = {0};
    assert_int_equal(od_spectra_new(&o, 1, &s, &err), OD_OK);
    double y = 0;
    for (long k = 0; k < 42L * period; k++) {
      double u = 0;
      for (int i = 0; i < 3; i++) u += sin(2 * acos(-1) * lines[i] * (double)(k % period) / period + i * i);
      y = pole * y + (1 - pole) * u;
      double out = y + (noisy ? 0.05 * gaussian(4, 9, k) : 0);
      od_spectra_add(s, u, &out);
    }
    assert_int_equal(od_spectra_end(s, &f, &err), OD_OK);
    assert_int_equal(f->points, 3);
    for (int i = 0; i < 3; i++) {
      double off = cabs(f->value[i] - lag(f->frequency[i])), expected = noisy ? 0.05 * sqrt(2.0 / (40 * period)) : 0;
      assert_true(fabs(f->frequency[i] - lines[i] / (period * step)) < 1e-9);
      assert_true(noisy ? off < 4 * f->sigma[i] && fabs(f->sigma[i] / expected - 1) < 0.3 : off < 1e-12);
    }
    od_frf_free(f);
    od_spectra_free(s);
  }
}

// Sines of several periods each through a difference equation; the transient has decayed after many samples. The noise is white,
// so the sigmas must be correct.
static void stepped_sine(void **state) {
  (void)state;
  const double frequency[] = {2, 5, 11, 40, 130};
  double square = 0;
  for (uint64_t seed = 0; seed <= 40; seed++) {
    od_sine_fit *s = od_sine_fit_new(&(od_sines){0.5, frequency, 5, 40, 30}, 1);
    od_frf *f = NULL;
    od_error err = {0};
    double y = 0, begin = 0.5, noise = seed ? 0.1 : 0;
    int at = 0;
    for (long k = 0; k < 40000; k++) {
      double t = (double)k * step;
      while (at < 4 && t >= begin + 40 / frequency[at]) begin += 40 / frequency[at++];
      double u = t < 0.5 ? 0 : 0.3 + 2 * sin(2 * acos(-1) * frequency[at] * (t - begin) + 1), out;
      y = pole * y + (1 - pole) * u;
      out = y - 7 + noise * gaussian(seed, 5, k);
      od_sine_fit_add(s, t, u, &out);
    }
    assert_int_equal(od_sine_fit_end(s, &f, &err), OD_OK);
    assert_int_equal(f->points, 5);
    for (int i = 0; i < 5; i++) {
      double off = cabs(f->value[i] - lag(frequency[i]));
      if (seed == 0) assert_true(off < 1e-9);
      if (seed > 0) square += off * off / (2 * f->sigma[i] * f->sigma[i]) / 200;
    }
    od_frf_free(f);
    od_sine_fit_free(s);
  }
  print_message("stepped sine: squared errors over their variance %.3f\n", square);
  // Sigmas have 12 degrees of freedom, so that the mean is 12/10; within 3.5 standard deviations of it.
  assert_true(square > 0.9 && square < 1.55);
}

// Noise of first order, n[k] = a n[k-1] + e[k], added to a sine of few periods: 95 % intervals contain the truth in 95 % of cases for
// any color of the noise, where an assumption of white noise gives intervals that are too narrow (a > 0, low frequencies) or too wide.
// Also with fewer settled periods.
static void coloured_noise(void **state) {
  (void)state;
  const double frequency[] = {5, 10, 20, 40, 80}, colours[] = {0, 0.95, -0.8}, settled[] = {2, 3, 10};
  enum { SEEDS = 200, FREQUENCIES = 5 };
  for (int c = 0; c < 3; c++)
    for (int p = 0; p < 3; p++) {
      long inside = 0, all = 0;
      for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const od_sines sines = {0, frequency, FREQUENCIES, settled[p], 0};
        od_sine_fit *s = od_sine_fit_new(&sines, 1);
        od_frf *f = NULL;
        od_error err = {0};
        double noise = 0, begin = 0;
        int at = 0;
        assert_false(od_sines_are_white(&sines));
        for (long k = -200; at < FREQUENCIES; k++) {
          double t = (double)k * step;
          noise = colours[c] * noise + gaussian(seed, 5, k + 200);
          if (k < 0) continue;
          while (at < FREQUENCIES && t >= begin + settled[p] / frequency[at] - 1e-9)
            begin += settled[p] / frequency[at++];
          double u = at < FREQUENCIES ? sin(2 * acos(-1) * frequency[at] * (t - begin)) : 0,
                 out = 3 * u + 2 + 0.2 * noise;
          od_sine_fit_add(s, t, u, &out);
        }
        assert_int_equal(od_sine_fit_end(s, &f, &err), OD_OK);
        for (int i = 0; i < f->points; i++) {
          inside +=
              (fabs(creal(f->value[i]) - 3) < od_frf_half(f, 0, i)) + (fabs(cimag(f->value[i])) < od_frf_half(f, 0, i));
          all += 2;
        }
        od_frf_free(f);
        od_sine_fit_free(s);
      }
      double part = (double)inside / (double)all;
      print_message("colour %5.2f, %2g periods: %.1f %% of %ld parts within their interval\n", colours[c], settled[p],
                    100 * part, all);
      assert_true(part > 0.935 && part < 0.975);
    }
  assert_true(od_sines_are_white(&(od_sines){0, frequency, 5, 2, 1}));
}

// x'' = (u - d x' - k x)/m as a plant.
static int spring(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)p;
  dx[0] = x[1];
  dx[1] = (u[0] - 4 * x[1] - 2e4 * x[0]) / 3;
  return 0;
}
static int spring_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                         double *fu, double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fp;
  if (fx) fx[0] = 0, fx[1] = 1, fx[2] = -2e4 / 3, fx[3] = -4.0 / 3;
  if (fu) fu[0] = 0, fu[1] = 1.0 / 3;
  return 0;
}

static void model_of_a_spring(void **state) {
  (void)state;
  const double x0[2] = {0}, u0 = 0;
  const od_function function = {.nx = 2, .nu = 1, .ny = 2, .x0 = x0, .f = spring, .f_jacobians = spring_slopes};
  double frequency[400];
  od_plant *plant = NULL;
  od_frf *f = NULL;
  od_error err = {0};
  assert_int_equal(od_plant_from_function(&function, &plant, &err), OD_OK);
  od_sim *sim = od_sim_new(plant);
  assert_int_equal(od_sim_start(sim, 0, &u0), OD_OK);
  for (int i = 0; i < 400; i++) frequency[i] = 0.1 * pow(1000, i / 399.0);
  double A[4], B[2], C[4], D[2];
  assert_int_equal(od_sim_derivatives(sim, NULL, A, B, NULL), OD_OK);
  assert_int_equal(od_sim_output_jacobians(sim, C, D, NULL), OD_OK);
  const od_linear_model model = {.states = 2, .inputs = 1, .outputs = 2, .A = A, .B = B, .C = C, .D = D};
  assert_int_equal(od_frf_of_model(&model, frequency, 400, &f, &err), OD_OK);
  for (int i = 0; i < 400; i++) {
    double _Complex s = 2 * acos(-1) * frequency[i] * _Complex_I, x = 1 / (3 * s * s + 4 * s + 2e4);
    assert_true(cabs(f->value[i] - x) < 1e-13 * cabs(x));
    assert_true(cabs(f->value[400 + i] - s * x) < 1e-13 * cabs(s * x));
  }
  od_features found = od_frf_features(f, 0);
  double w0 = sqrt(2e4 / 3), d = 4 / (2 * sqrt(3 * 2e4)), turn = 2 * acos(-1);
  // (w/w0)^2 = 1 - 2 d^2 + sqrt((1 - 2 d^2)^2 + 1) where the amplitude is the static one divided by sqrt 2.
  double q = 1 - 2 * d * d, cutoff = w0 * sqrt(q + sqrt(q * q + 1)) / turn, top = w0 * sqrt(q) / turn;
  assert_true(fabs(found.bandwidth.value / cutoff - 1) < 2e-3);
  assert_int_equal(found.peaks, 1);
  assert_true(fabs(found.peak[0].frequency / top - 1) < 0.02);
  double phase[400];
  od_frf_phases(f, 0, phase);
  assert_true(phase[399] < -3 && phase[399] > -acos(-1));
  od_frf_free(f);
  od_sim_free(sim);
  od_plant_free(plant);
}

// Ten million samples within two seconds of processor time, without further memory.
static void ten_million_samples(void **state) {
  (void)state;
  const od_spectra_options o = {.step = step, .length = 4096, .overlap = 0.5};
  enum { SHORT = 1 << 16 };
  static double u[SHORT], y[SHORT];
  for (long k = 0; k < SHORT; k++) {
    u[k] = gaussian(3, 1, k);
    y[k] = k > 0 ? pole * y[k - 1] + (1 - pole) * u[k] : 0;
  }
  od_spectra *s = NULL;
  od_frf *f = NULL;
  od_error err = {0};
  assert_int_equal(od_spectra_new(&o, 1, &s, &err), OD_OK);
#if COUNTING
  long before = allocations;
#endif
  clock_t begin = clock();
  for (long k = 0; k < 10000000; k++) od_spectra_add(s, u[k % SHORT], &y[k % SHORT]);
  double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
#if COUNTING
  assert_int_equal(allocations, before);
#endif
  assert_int_equal(od_spectra_end(s, &f, &err), OD_OK);
  print_message("10 million samples: %.2f s\n", seconds);
#ifdef NDEBUG
  assert_true(seconds < 2);
#endif
  od_frf_free(f);
  od_spectra_free(s);
}

static void what_cannot_be(void **state) {
  (void)state;
  od_spectra *s = NULL;
  od_frf *f = NULL;
  od_error err = {0};
  const double y = 1;
  assert_int_equal(od_spectra_new(&(od_spectra_options){.step = 1, .length = 3}, 1, &s, &err), OD_BAD_INPUT);
  assert_int_equal(od_spectra_new(&(od_spectra_options){.step = 1, .length = 8, .overlap = 1}, 1, &s, &err),
                   OD_BAD_INPUT);
  assert_int_equal(od_spectra_new(&(od_spectra_options){.step = 1, .length = 8}, 1, &s, &err), OD_OK);
  for (int k = 0; k < 8; k++) od_spectra_add(s, 1, &y);
  assert_int_equal(od_spectra_end(s, &f, &err), OD_BAD_INPUT);  // one block gives no coherence
  for (int k = 0; k < 80; k++) od_spectra_add(s, 1, &y);
  assert_int_equal(od_spectra_end(s, &f, &err), OD_BAD_INPUT);  // an input that never moves
  od_spectra_free(s);
  const double frequency = 1;
  od_sine_fit *fit = od_sine_fit_new(&(od_sines){0, &frequency, 1, 3, 1}, 1);
  assert_int_equal(od_sine_fit_end(fit, &f, &err), OD_BAD_INPUT);  // no samples
  od_sine_fit_free(fit);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transform_against_sum), cmocka_unit_test(averaged_spectra), cmocka_unit_test(multisine),
      cmocka_unit_test(stepped_sine),          cmocka_unit_test(coloured_noise),   cmocka_unit_test(model_of_a_spring),
      cmocka_unit_test(ten_million_samples),   cmocka_unit_test(what_cannot_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
