// Discrete-time models of logs.
//
// Oracles: difference equations with known coefficients, run here term by term, with each kind of noise; errors of estimates compared with
// their standard deviations over many seeds; the bias of a wrong noise model. All logs begin during motion, after BEFORE rows that are not in
// them.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/test.h"
#include "discrete/discrete_model.h"
#include "random/random.h"

enum { BEFORE = 300, ROWS = 1500, ALL = BEFORE + ROWS };

// y = B/below u + C/D e with poles 0.9 exp(+-0.5 i); as ARX and ARMAX the noise passes 1/A, too.
static const double below[3] = {1, -1.579648612, 0.81}, b[4] = {0, 0, 0.5, -0.3}, c[3] = {1, 0.6, 0.2},
                    d[3] = {1, -0.8, 0.15};

typedef struct run {
  double u[ALL], y[ALL], y2[2 * ROWS];
} run;

static double at(const double *x, long k) {
  return k >= 0 ? x[k] : 0;
}

static void simulate(run *r, od_discrete_kind kind, uint64_t seed, double noise) {
  static double e[ALL], w[ALL], v[ALL];
  for (long k = 0; k < ALL; k++) {
    r->u[k] = od_random_uniform(seed, 1, (uint64_t)(k / 3), OD_USE_NOISE) < 0.5 ? -1 : 1;
    e[k] = noise * od_random_gaussian(seed, 2, (uint64_t)k, OD_USE_NOISE);
    w[k] = b[2] * at(r->u, k - 2) + b[3] * at(r->u, k - 3) - below[1] * at(w, k - 1) - below[2] * at(w, k - 2);
    bool coloured = kind == OD_DISCRETE_ARMAX || kind == OD_DISCRETE_BJ;
    v[k] = e[k] + (coloured ? c[1] * at(e, k - 1) + c[2] * at(e, k - 2) : 0);
    if (kind == OD_DISCRETE_BJ) v[k] -= d[1] * at(v, k - 1) + d[2] * at(v, k - 2);
    if (kind == OD_DISCRETE_ARX || kind == OD_DISCRETE_ARMAX) {
      double driven = b[2] * at(r->u, k - 2) + b[3] * at(r->u, k - 3) + v[k];
      r->y[k] = driven - below[1] * at(r->y, k - 1) - below[2] * at(r->y, k - 2);
    } else {
      r->y[k] = w[k] + v[k];
    }
  }
}

// The log: the rows after the first BEFORE rows.
static od_discrete_data log_of(const run *r) {
  return (od_discrete_data){.rows = ROWS, .outputs = 1, .u = r->u + BEFORE, .y = r->y + BEFORE};
}

static od_discrete fit(const run *r, od_discrete_kind kind) {
  const od_discrete_data data = log_of(r);
  const od_discrete_options o = {.kind = kind, .order = 2, .noise_order = 2, .delay = 2};
  od_discrete m;
  od_error err = {0};
  if (od_discrete_fit(&data, &o, &m, &err) != OD_OK) fail_msg("%s: %s", od_discrete_kinds[kind], err.text);
  return m;
}

static od_polynomial poles_of(od_discrete_kind kind) {
  return kind == OD_DISCRETE_ARX || kind == OD_DISCRETE_ARMAX ? OD_POLY_A : OD_POLY_F;
}

static void clean_data(void **state) {
  (void)state;
  static run r;
  for (int kind = OD_DISCRETE_ARX; kind <= OD_DISCRETE_OE; kind += 2) {
    simulate(&r, (od_discrete_kind)kind, 1, 0);
    od_discrete m = fit(&r, (od_discrete_kind)kind);
    od_polynomial p = poles_of((od_discrete_kind)kind);
    for (int i = 1; i <= 2; i++) assert_true(fabs(m.coefficient[p][i] - below[i]) < 1e-9);
    for (int i = 2; i <= 3; i++) assert_true(fabs(m.coefficient[OD_POLY_B][i] - b[i]) < 1e-9);
    od_z_transfer *z = NULL;
    od_error err = {0};
    od_z_quality quality = {0};
    assert_int_equal(od_discrete_transfer(&m, &z, &err), OD_OK);
    const od_discrete_data data = log_of(&r);
    assert_int_equal(od_z_transfer_judge(z, &data, 0, ROWS / 2, 0, &quality, &err), OD_OK);
    assert_true(fabs(z->radius - 0.9) < 1e-8);
    assert_true(quality.percent > 99.99999);
    od_z_transfer_free(z);
  }
}

// Squared errors of all coefficients over their variances, over seeds: one on average if the model is correct. The noise is 0.2, and 0.002,
// for which the motion before the log has a hundred times more effect.
static void right_models(void **state) {
  (void)state;
  static run r;
  enum { SEEDS = 40 };
  for (int kind = OD_DISCRETE_ARX; kind <= OD_DISCRETE_BJ; kind++)
    for (double true_noise = 0.2; true_noise > 0.001; true_noise /= 100) {
      double sum = 0, noise = 0, white = 0;
      int count = 0;
      for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        simulate(&r, (od_discrete_kind)kind, seed, true_noise);
        od_discrete m = fit(&r, (od_discrete_kind)kind);
        const double *truth[OD_POLYNOMIALS] = {below, c, d, below, b};
        noise += m.noise / SEEDS;
        white += m.whiteness / SEEDS;
        assert_true(m.is_minimum);
        for (int p = 0; p <= OD_POLY_B; p++)
          for (int i = p == OD_POLY_B ? 2 : 1; i <= m.degree[p]; i++) {
            sum += pow((m.coefficient[p][i] - truth[p][i]) / m.sigma[p][i], 2);
            count++;
          }
      }
      print_message("%s: squared errors over variances %.2f, noise %.5f of %g, whiteness %.1f\n",
                    od_discrete_kinds[kind], sum / count, noise, true_noise, white);
      assert_true(sum / count > 0.75 && sum / count < 1.35);
      assert_true(fabs(noise / true_noise - 1) < 0.02);
      assert_true(white > 10 && white < 25);
    }
}

// An offset of either signal changes nothing.
static void offsets(void **state) {
  (void)state;
  static run r;
  for (int kind = OD_DISCRETE_ARX; kind <= OD_DISCRETE_BJ; kind++) {
    simulate(&r, (od_discrete_kind)kind, 1, 0.05);
    od_discrete plain = fit(&r, (od_discrete_kind)kind);
    for (long k = 0; k < ALL; k++) r.u[k] += 3, r.y[k] -= 7;
    od_discrete shifted = fit(&r, (od_discrete_kind)kind);
    for (int p = 0; p <= OD_POLY_B; p++)
      for (int i = 0; i <= plain.degree[p]; i++)
        assert_true(fabs(plain.coefficient[p][i] - shifted.coefficient[p][i]) <= 1e-3 * plain.sigma[p][i]);
  }
}

// y = 0.8 y[k-1] + 2 u[k] - u[k-1] + 3 v[k] and noise: two inputs with direct effect. Polynomials are checked by their intervals,
// subspaces by N/D.
static void two_inputs_at_once(void **state) {
  (void)state;
  static double u[2 * ALL], y[ALL];
  for (long k = 0; k < ALL; k++) {
    u[2 * k] = od_random_gaussian(4, 1, (uint64_t)k, OD_USE_NOISE);
    u[2 * k + 1] = od_random_gaussian(4, 2, (uint64_t)k, OD_USE_NOISE);
    y[k] = 2 * u[2 * k] + 3 * u[2 * k + 1] + 0.001 * od_random_gaussian(4, 3, (uint64_t)k, OD_USE_NOISE);
    if (k > 0) y[k] += 0.8 * y[k - 1] - u[2 * k - 2];
  }
  const od_discrete_data data = {ROWS, 1, u + 2 * BEFORE, y + BEFORE, 2};
  static const double expected[2][2] = {{2, -1}, {3, 0}};  // of q^0, q^-1
  od_error err = {0};
  for (int method = 0; method < 7; method++) {
    od_z_transfer *z = NULL;
    od_discrete m;
    if (method < 4) {
      const od_discrete_options o = {.kind = (od_discrete_kind)method, .order = 1, .noise_order = 1, .direct = true};
      assert_int_equal(od_discrete_fit(&data, &o, &m, &err), OD_OK);
      assert_int_equal(od_discrete_transfer(&m, &z, &err), OD_OK);
    } else {
      assert_int_equal(od_subspace_fit(&data, 1, (od_subspace_weight)(method - 4), NULL, &z, &err), OD_OK);
    }
    assert_int_equal(z->inputs, 2);
    assert_true(fabs(z->denominator[0] / z->denominator[1] + 0.8) < 1e-3);
    for (int j = 0; j < 2; j++)
      for (int i = 0; i < 2; i++) assert_true(fabs(z->numerator[j][1 - i] / z->denominator[1] - expected[j][i]) < 1e-3);
    od_z_quality quality;
    assert_int_equal(od_z_transfer_judge(z, &data, 0, ROWS / 2, ROWS / 2, &quality, &err), OD_OK);
    assert_true(quality.percent > 99.9);
    od_z_transfer_free(z);
  }
}

// Lightly damped modes and a slow sweep, as of a flexible arm, sometimes give subspaces with poles outside the unit circle. The models are still
// stable, are reported as stable, and can be simulated.
static void stable_subspaces(void **state) {
  (void)state;
  static double u[ALL], y[ALL];
  int mirrored = 0;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    double x[2][2] = {{0}}, phase = 0;
    for (long k = 0; k < ALL; k++) {
      phase += 0.05 + 1.2 * (double)(k % 700) / 700;
      u[k] = sin(phase);
      y[k] = 0.02 * od_random_gaussian(seed, 1, (uint64_t)k, OD_USE_NOISE);
      for (int mode = 0; mode < 2; mode++) {
        double next = 2 * 0.998 * cos(0.3 + 0.5 * mode) * x[mode][0] - 0.998 * 0.998 * x[mode][1] + 0.1 * u[k];
        y[k] += next;
        x[mode][1] = x[mode][0], x[mode][0] = next;
      }
    }
    const od_discrete_data data = {.rows = 600, .outputs = 1, .u = u + BEFORE, .y = y + BEFORE};
    for (int weight = 0; od_subspace_weights[weight]; weight++)
      for (int order = 4; order <= 12; order += 2) {
        od_z_transfer *z = NULL;
        od_error err = {0};
        od_z_quality quality;
        if (od_subspace_fit(&data, order, (od_subspace_weight)weight, NULL, &z, &err) != OD_OK)
          fail_msg("%s of order %d: %s", od_subspace_weights[weight], order, err.text);
        assert_int_equal(od_z_transfer_judge(z, &data, 0, 600, 0, &quality, &err), OD_OK);
        mirrored += z->mirrored >= 1;
        if (z->mirrored > 0) assert_true(z->radius < 1);
        assert_true(z->radius < 1.001);
        if (order > 4) assert_true(quality.percent > 80);
        od_z_transfer_free(z);
      }
  }
  print_message("%d of 180 subspace models made stable\n", mirrored);
  assert_true(mirrored > 0);
}

// An unstable model is reported as unstable. If its simulation overflows, its fit is minus infinity; for a constant output the fit is NaN.
static void qualities(void **state) {
  (void)state;
  static double u[ALL], y[ALL];
  od_error err = {0};
  od_z_quality q;
  od_z_transfer *z = od_z_transfer_new(1, 1, 1);
  for (long k = 0; k < ALL; k++) u[k] = sin((double)(k * k)), y[k] = k < ROWS / 2 ? u[k] : 0.1;
  const od_discrete_data data = {.rows = ROWS, .outputs = 1, .u = u, .y = y};
  z->denominator[1] = 1, z->denominator[0] = -3, z->numerator[0][0] = 1;
  assert_true(od_z_transfer_find_radius(z) && fabs(z->radius - 3) < 1e-12);
  assert_int_equal(od_z_transfer_judge(z, &data, 0, ROWS, 0, &q, &err), OD_OK);
  assert_true(isinf(q.percent) && q.percent < 0 && isinf(q.rms));
  z->denominator[0] = 0, z->numerator[0][0] = 0, z->numerator[0][1] = 1;
  assert_int_equal(od_z_transfer_judge(z, &data, 0, ROWS / 2, 0, &q, &err), OD_OK);
  assert_true(q.percent < 50);
  assert_int_equal(od_z_transfer_judge(z, &data, 0, ROWS / 2, ROWS / 2, &q, &err), OD_OK);
  assert_true(isnan(q.percent) && q.rms > 0.5 && q.rms < 1);
  od_z_transfer_free(z);
}

// With noise only on the output ARX is biased, the output-error model is not.
static void wrong_model(void **state) {
  (void)state;
  static run r;
  simulate(&r, OD_DISCRETE_OE, 3, 0.5);
  od_discrete arx = fit(&r, OD_DISCRETE_ARX), oe = fit(&r, OD_DISCRETE_OE);
  double off_arx = fabs(arx.coefficient[OD_POLY_A][2] - below[2]),
         off_oe = fabs(oe.coefficient[OD_POLY_F][2] - below[2]);
  print_message("second coefficient: ARX off by %.3f, output error by %.4f\n", off_arx, off_oe);
  assert_true(off_arx > 0.05 && off_oe < 5 * oe.sigma[OD_POLY_F][2] && off_oe < 0.01);
}

// Sum of squares of the future outputs without the effect of the future inputs, over all windows of `blocks` samples of the past and
// of the future: the windows' outputs minus those of the same inputs from rest. It equals that of the oblique projection, whose
// singular values N4SID uses.
static double free_responses(const run *r, int blocks) {
  const double *u = r->u + BEFORE;
  double sum = 0;
  for (long k = 0; k + 2 * blocks <= ROWS; k++) {
    double forced[64] = {0};
    for (int i = 0; i < blocks; i++) {
      long now = k + blocks + i;
      for (int p = 1; p <= 2; p++) forced[i] -= i >= p ? below[p] * forced[i - p] : 0;
      for (int p = 2; p <= 3; p++) forced[i] += i >= p ? b[p] * u[now - p] : 0;
      // The second output: 3 u[k] - 2 y[k-1].
      double second = 3 * u[now] - 2 * (i >= 1 ? forced[i - 1] : 0);
      sum += pow(r->y2[2 * now] - forced[i], 2) + pow(r->y2[2 * now + 1] - second, 2);
    }
  }
  return sum;
}

static double squares(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

// Two outputs that share the poles; the second has another numerator. Every weight finds the difference equation of clean data.
static void subspaces(void **state) {
  (void)state;
  static run r;
  for (int noisy = 0; noisy < 2; noisy++) {
    simulate(&r, OD_DISCRETE_OE, 5, 0);
    for (long k = 0; k < ROWS; k++) {
      r.y2[2 * k] = r.y[BEFORE + k] + noisy * 0.1 * od_random_gaussian(5, 7, (uint64_t)k, OD_USE_NOISE);
      r.y2[2 * k + 1] = 3 * r.u[BEFORE + k] - 2 * r.y[BEFORE + k - 1] +
                        noisy * 0.1 * od_random_gaussian(5, 8, (uint64_t)k, OD_USE_NOISE);
    }
    const od_discrete_data data = {.rows = ROWS, .outputs = 2, .u = r.u + BEFORE, .y = r.y2};
    double free_sum = free_responses(&r, 10);
    for (int weight = 0; od_subspace_weights[weight]; weight++) {
      od_z_transfer *z = NULL;
      od_error err = {0};
      od_z_quality quality;
      double singular[8];
      // Four states: two poles, and two shifts of the input.
      assert_int_equal(od_subspace_fit(&data, 4, (od_subspace_weight)weight, singular, &z, &err), OD_OK);
      if (!noisy) assert_true(singular[4] < 1e-8 * singular[3]);
      if (!noisy && weight == OD_SUBSPACE_N4SID) assert_true(fabs(squares(singular, 4) / free_sum - 1) < 1e-8);
      // The effect of the future input is removed.
      if (!noisy && weight == OD_SUBSPACE_MOESP) assert_true(squares(singular, 4) < (1 - 1e-6) * free_sum);
      // Correlations: one if the past determines the future.
      for (int i = 0; i < 4 && weight == OD_SUBSPACE_CVA; i++)
        assert_true(singular[i] < 1 + 1e-9 && (noisy || singular[i] > 1 - 1e-6));
      for (int j = 0; j < 2; j++) {
        assert_int_equal(od_z_transfer_judge(z, &data, j, ROWS, 0, &quality, &err), OD_OK);
        print_message("%s, output %d, noise %d: %.4f %%\n", od_subspace_weights[weight], j, noisy, quality.percent);
        assert_true(quality.percent > (noisy ? 85 : 99.9999));
      }
      // D(z) = z^2 (z^2 + f1 z + f2), from the constant up.
      for (int i = 0; i < 3 && !noisy; i++) assert_true(fabs(z->denominator[4 - i] - below[i]) < 1e-6);
      od_z_transfer_free(z);
    }
  }
}

static void what_cannot_be(void **state) {
  (void)state;
  static run r;
  od_discrete m;
  od_z_transfer *z = NULL;
  od_error err = {0};
  const od_discrete_data small = {.rows = 20, .outputs = 1, .u = r.u, .y = r.y}, large = log_of(&r),
                         wide = {ROWS, 1, r.u, r.y, OD_DISCRETE_INPUTS + 1};
  const od_discrete_options good = {.kind = OD_DISCRETE_OE, .order = 2, .noise_order = 2, .delay = 1};
  od_discrete_options none = good, many = good, early = good;
  none.order = 0, many.order = 17, early.delay = -1;
  assert_int_equal(od_discrete_fit(&small, &good, &m, &err), OD_BAD_INPUT);
  assert_int_equal(od_discrete_fit(&wide, &good, &m, &err), OD_BAD_INPUT);
  assert_int_equal(od_discrete_fit(&large, &none, &m, &err), OD_BAD_INPUT);
  assert_int_equal(od_discrete_fit(&large, &many, &m, &err), OD_BAD_INPUT);
  assert_int_equal(od_discrete_fit(&large, &early, &m, &err), OD_BAD_INPUT);
  assert_int_equal(od_subspace_fit(&small, 4, OD_SUBSPACE_MOESP, NULL, &z, &err), OD_BAD_INPUT);
  assert_int_equal(od_subspace_fit(&wide, 4, OD_SUBSPACE_MOESP, NULL, &z, &err), OD_BAD_INPUT);
  assert_int_equal(od_subspace_fit(&large, 17, OD_SUBSPACE_MOESP, NULL, &z, &err), OD_BAD_INPUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clean_data),         cmocka_unit_test(right_models), cmocka_unit_test(offsets),
      cmocka_unit_test(two_inputs_at_once), cmocka_unit_test(wrong_model),  cmocka_unit_test(subspaces),
      cmocka_unit_test(stable_subspaces),   cmocka_unit_test(qualities),    cmocka_unit_test(what_cannot_be)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
