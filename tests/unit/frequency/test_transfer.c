// Rational fits of frequency responses.
//
// Oracles: random systems, whose responses are sums over poles and residues; polynomials expanded by hand; for the fin servo its
// frequency response in closed form.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/test.h"
#include "frequency/transfer.h"
#include "random/random.h"

static const double two_pi = 6.283185307179586;

// --- Random systems -----------------------------------------------------------------------------------------------

typedef struct random_system {
  int order, outputs;
  double _Complex pole[OD_TRANSFER_MOST], residue[3][OD_TRANSFER_MOST];
  double direct[3];
} random_system;

static double uniform(uint64_t seed, uint64_t *at) {
  return od_random_uniform(seed, 3, (*at)++, OD_USE_NOISE);
}

// Poles over `decades` decades around 1 Hz; damping from 1e-4 to 1.
static random_system draw(uint64_t seed, int order, int outputs, double decades, bool direct) {
  random_system r = {.order = order, .outputs = outputs};
  uint64_t at = 0;
  for (int i = 0; i < order;) {
    double size = two_pi * pow(10, decades * (uniform(seed, &at) - 0.5)), damping = pow(10, -4 * uniform(seed, &at));
    bool pair = i + 1 < order && uniform(seed, &at) < 0.75;
    double _Complex p = pair ? size * (-damping + sqrt(1 - damping * damping) * _Complex_I) : -size;
    r.pole[i] = p;
    if (pair) r.pole[i + 1] = conj(p);
    for (int k = 0; k < outputs; k++) {
      double _Complex c = size * (uniform(seed, &at) + 0.1) * (uniform(seed, &at) < 0.5 ? -1 : 1);
      if (pair) c = -creal(p) * c / size * (1 + (uniform(seed, &at) - 0.5) * _Complex_I);
      r.residue[k][i] = c;
      if (pair) r.residue[k][i + 1] = conj(c);
    }
    i += pair ? 2 : 1;
  }
  for (int k = 0; k < outputs; k++) r.direct[k] = direct ? uniform(seed, &at) : 0;
  return r;
}

static double _Complex response(const random_system *r, int output, double frequency) {
  double _Complex sum = r->direct[output];
  for (int i = 0; i < r->order; i++) sum += r->residue[output][i] / (two_pi * frequency * _Complex_I - r->pole[i]);
  return sum;
}

static od_frf *sample(const random_system *r, double low, double high, int points) {
  od_frf *f = od_frf_new(points, r->outputs);
  assert_non_null(f);
  for (int i = 0; i < points; i++) {
    f->frequency[i] = low * pow(high / low, (double)i / (points - 1));
    for (int k = 0; k < r->outputs; k++) f->value[k * points + i] = response(r, k, f->frequency[i]);
  }
  return f;
}

static od_transfer *fit(const od_frf *f, od_transfer_options o) {
  od_transfer *t = NULL;
  od_error err = {0};
  if (od_transfer_fit(f, &o, &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

// Error and response at frequencies between those of the data, and all outputs.
static double off(const od_transfer *t, const random_system *r, double low, double high) {
  double left = 0, all = 0;
  for (int i = 0; i < 1777; i++)
    for (int k = 0; k < r->outputs; k++) {
      double frequency = low * pow(high / low, i / 1776.0);
      left += pow(cabs(od_transfer_value(t, k, frequency) - response(r, k, frequency)), 2);
      all += pow(cabs(response(r, k, frequency)), 2);
    }
  return sqrt(left / all);
}

static void vector_fitting_recovers_random_systems(void **state) {
  (void)state;
  double worst = 0;
  int iterations = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    int order = 2 + (int)(seed % 11), outputs = 1 + (int)(seed % 3);
    bool direct = seed % 5 == 0;
    double decades = seed % 2 ? 2 : 4, reach = pow(10, decades / 2 + 0.5);
    random_system r = draw(seed, order, outputs, decades, direct);
    od_frf *f = sample(&r, 1 / reach, reach, 600);
    od_transfer *t = fit(f, (od_transfer_options){OD_TRANSFER_VF, order, direct ? order : order - 1});
    double error = off(t, &r, 1 / reach, reach);
    if (!(error < 1e-8)) print_message("seed %d, order %d: %.2e\n", (int)seed, order, error);
    worst = fmax(worst, error);
    iterations = t->iterations > iterations ? t->iterations : iterations;
    assert_int_equal(t->unstable, 0);
    od_transfer_free(t);
    od_frf_free(f);
  }
  print_message("200 random systems of order 2 to 12: errors up to %.1e, at most %d iterations\n", worst, iterations);
  assert_true(worst < 1e-8);
}

// --- Polynomials --------------------------------------------------------------------------------------------------

// N/D of Levy, SK and vector fitting must agree with the system, and so must the polynomials of vector fitting.
static void all_methods_on_clean_data(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    random_system r = draw(seed, 2 + (int)(seed % 4), 1 + (int)(seed % 2), 1, seed % 3 == 0);
    od_frf *f = sample(&r, 0.1, 10, 200);
    for (int method = OD_TRANSFER_LEVY; method <= OD_TRANSFER_VF; method++) {
      od_transfer *t =
          fit(f, (od_transfer_options){(od_transfer_method)method, r.order, seed % 3 == 0 ? r.order : r.order - 1});
      assert_true(off(t, &r, 0.1, 10) < 1e-7);
      t->residue = NULL;  // selects the polynomials
      assert_true(off(t, &r, 0.1, 10) < 1e-7);
      for (int i = 0; i < t->order; i++) {
        double nearest = INFINITY;
        for (int j = 0; j < t->order; j++) nearest = fmin(nearest, cabs(t->pole[i] - r.pole[j]) / cabs(r.pole[j]));
        assert_true(nearest < 1e-5);
      }
      assert_int_equal(t->unstable, 0);
      assert_true(od_transfer_amplitude_fit(t, f, 0) > 99.999);
      od_transfer_free(t);
    }
    od_frf_free(f);
  }
}

// An unstable system: Levy finds and reports its pole, vector fitting has stable poles.
static void unstable_poles(void **state) {
  (void)state;
  random_system r = {.order = 2, .outputs = 1, .pole = {3, -8}, .residue = {{2, 5}}};
  od_frf *f = sample(&r, 0.1, 10, 100);
  od_transfer *levy = fit(f, (od_transfer_options){OD_TRANSFER_LEVY, 2, 1});
  od_transfer *vf = fit(f, (od_transfer_options){OD_TRANSFER_VF, 2, 1});
  assert_int_equal(levy->unstable, 1);
  assert_true(cabs(levy->pole[0] - 3) < 1e-9);
  assert_int_equal(vf->unstable, 0);
  for (int i = 0; i < 2; i++) assert_true(creal(vf->pole[i]) < 0);
  od_transfer_free(levy);
  od_transfer_free(vf);
  od_frf_free(f);
}

// --- Orders -------------------------------------------------------------------------------------------------------

// For a system of fifth order with noise, higher orders are no better on held-out points.
static void order_by_validation(void **state) {
  (void)state;
  const random_system r = {
      .order = 5,
      .outputs = 1,
      .pole = {-1 + 8 * _Complex_I, -1 - 8 * _Complex_I, -2 + 25 * _Complex_I, -2 - 25 * _Complex_I, -4},
      .residue = {{2, 2, 1 - _Complex_I, 1 + _Complex_I, 3}}};
  int exact = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    od_frf *f = sample(&r, 0.2, 10, 200);
    double error[10];
    int chosen = 0;
    od_error err = {0};
    for (int i = 0; i < f->points; i++)
      f->value[i] += 0.01 * (od_random_gaussian(seed, 1, (uint64_t)i, OD_USE_NOISE) +
                             od_random_gaussian(seed, 2, (uint64_t)i, OD_USE_NOISE) * _Complex_I);
    const od_transfer_options o = {OD_TRANSFER_VF, 1, 0};
    assert_int_equal(od_transfer_choose(f, &o, 1, 10, error, &chosen, &err), OD_OK);
    assert_true(chosen >= 5 || error[chosen - 1] < 1.05 * error[4]);
    assert_true(error[3] > 1.5 * error[4]);
    exact += chosen == 5;
    od_frf_free(f);
  }
  print_message("order 5 of 1 to 10 chosen in %d of 20 seeds\n", exact);
  assert_true(exact >= 18);
}

static void what_cannot_be_fitted(void **state) {
  (void)state;
  random_system r = draw(1, 2, 1, 1, false);
  od_frf *f = sample(&r, 0.1, 10, 5);
  od_transfer *t = NULL;
  od_error err = {0};
  const od_transfer_options wrong[] = {
      {OD_TRANSFER_VF, 0, -1}, {OD_TRANSFER_VF, 17, 16}, {OD_TRANSFER_VF, 3, 1}, {OD_TRANSFER_LEVY, 6, 5}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(od_transfer_fit(f, &wrong[i], &t, &err), OD_BAD_INPUT);
    assert_null(t);
  }
  f->value[2] = (double)NAN;
  assert_int_equal(od_transfer_fit(f, &(od_transfer_options){OD_TRANSFER_VF, 2, 1}, &t, &err), OD_BAD_INPUT);
  od_frf_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vector_fitting_recovers_random_systems),
      cmocka_unit_test(all_methods_on_clean_data),
      cmocka_unit_test(unstable_poles),
      cmocka_unit_test(order_by_validation),
      cmocka_unit_test(what_cannot_be_fitted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
