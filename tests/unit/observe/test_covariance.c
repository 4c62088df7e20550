// The covariance of the filter in its two forms, with a sensor that is much better than the prediction, where plain P -
// g g'/s gives only round-off. Oracles: the closed form of one state; the textbook formulas in full matrices and in
// arithmetic of 113 bits.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "observe/covariance.h"
#include "support/random_machine.h"

#if LDBL_MANT_DIG >= 113
typedef long double quad;
#else
__extension__ typedef __float128 quad;
#endif

enum { NX = 4, NP = 2, N = NX + NP };
static const od_covariance_form forms[] = {OD_FORM_SQUARE_ROOT, OD_FORM_JOSEPH};
static const char *const names[] = {"square root", "joseph"};

// One state of variance 1e8 and a sensor of sigma 1e-6: the variance 1 / (1e-8 + 1e12) remains. After the second sample
// half of it.
static void one_good_sensor(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    double P[1] = {0}, start[1] = {1e8}, h[1] = {1}, gain[1], scratch[128] = {0};
    assert_true(od_covariance_scratch(1, 0) <= 128);
    od_covariance b = {.nx = 1, .form = forms[f], .P = P, .scratch = scratch};
    assert_true(od_covariance_set(&b, start));
    for (int times = 1; times <= 2; times++) {
      double expected = 1 / (1e-8 + times * 1e12);
      od_covariance_project(&b, h);
      od_covariance_correct(&b, 1e-12, gain);
      double variance = od_covariance_variance(&b, 0);
      print_message("%s: variance %.17g, expected %.17g\n", names[f], variance, expected);
      assert_true(fabs(variance - expected) < 1e-14 * expected);
    }
  }
}

// P <- F P F' + Q, then P <- P - g g'/s for one row, in quadruple precision.
static void textbook_predict(quad P[N][N], double A[NX][NX], double B[NX][NP], const double *q) {
  quad F[N][N] = {{0}}, FP[N][N] = {{0}}, next[N][N] = {{0}};
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) F[i][j] = i >= NX ? i == j : j < NX ? A[i][j] : B[i][j - NX];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) FP[i][j] += F[i][k] * P[k][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) next[i][j] += FP[i][k] * F[j][k];
  for (int i = 0; i < N; i++) next[i][i] += q[i];
  memcpy(P, next, sizeof next);
}
static void textbook_correct(quad P[N][N], const double *h, double r) {
  quad g[N] = {0}, s = r;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) g[i] += P[i][j] * h[j];
  for (int i = 0; i < N; i++) s += h[i] * g[i];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) P[i][j] -= g[i] * g[j] / s;
}

// The largest difference in units of the true standard deviations; infinite if a variance is not positive.
static double difference(const double *P, quad Q[N][N]) {
  double worst = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      worst = fmax(worst, fabs((double)(P[i * N + j] - Q[i][j])) / sqrt((double)Q[i][i] * (double)Q[j][j]));
  for (int i = 0; i < N; i++)
    if (!(P[i * (N + 1)] > 0)) worst = INFINITY;
  return worst;
}

// Predictions that are far less certain than the sensors, steps with and without process noise. Variances of a
// covariance in double precision cannot be further apart than 16 decades; those of its square root can.
static void ill_conditioned_sequences(void **state) {
  (void)state;
  const double sensors[] = {-14, -6}, bound[] = {1e-10, 1e-4};  // decades of the sensors' variances; of the difference
  for (int f = 0; f < 2; f++) {
    double worst = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
      od_dice dice = {seed};
      double memory[N * N], out[N * N], scratch[2 * N * N + 16 * N + 128], start[N * N] = {0}, gain[N];
      quad P[N][N] = {{0}};
      for (int i = 0; i < N; i++) P[i][i] = start[i * (N + 1)] = pow(10, od_dice_uniform(&dice, 0, 8));
      assert_true(od_covariance_scratch(NX, NP) <= (int)(sizeof scratch / sizeof *scratch));
      od_covariance b = {.nx = NX, .np = NP, .form = forms[f], .P = memory, .scratch = scratch};
      assert_true(od_covariance_set(&b, start));
      for (int step = 0; step < 40; step++) {
        double A[NX][NX], B[NX][NP], q[N] = {0}, h[N];
        for (int i = 0; i < NX; i++) {
          for (int j = 0; j < NX; j++) A[i][j] = (i == j) + od_dice_uniform(&dice, -0.1, 0.1);
          for (int j = 0; j < NP; j++) B[i][j] = od_dice_uniform(&dice, -0.1, 0.1);
          q[i] = step % 3 == 0 ? pow(10, od_dice_uniform(&dice, sensors[f], sensors[f] + 6)) : 0;
        }
        textbook_predict(P, A, B, q);
        assert_true(od_covariance_predict(&b, &A[0][0], &B[0][0], NULL, q));
        for (int sensor = 0; sensor < 2; sensor++) {
          double r = pow(10, od_dice_uniform(&dice, sensors[f], sensors[f] + 4));
          for (int i = 0; i < N; i++) h[i] = i < NX && (i + sensor) % 2 == 0 ? od_dice_uniform(&dice, -1, 1) : 0;
          textbook_correct(P, h, r);
          od_covariance_project(&b, h);
          od_covariance_correct(&b, r, gain);
        }
        od_covariance_get(&b, out);
        double off = difference(out, P);
        worst = fmax(worst, off);
      }
    }
    print_message("%s: differs from quad arithmetic by %.2g at most\n", names[f], worst);
    assert_true(worst < bound[f]);
  }
}

// ---- every size: rows and columns are processed in groups, with remainders

enum { MOST_NX = 11, MOST_NP = 6, MOST = MOST_NX + MOST_NP };

// P <- F P F' + Q with F = [A B; 0 1], of n x n matrices.
static void full_predict(int nx, int n, quad P[MOST][MOST], const double *A, const double *B, const double *Q) {
  quad F[MOST][MOST] = {{0}}, FP[MOST][MOST] = {{0}};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) F[i][j] = i >= nx ? i == j : j < nx ? A[i * nx + j] : B[i * (n - nx) + j - nx];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) FP[i][j] += F[i][k] * P[k][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      P[i][j] = Q[i * n + j];
      for (int k = 0; k < n; k++) P[i][j] += FP[i][k] * F[j][k];
    }
}

// Of one sensor: its variance h P h; gain and P corrected.
static double full_correct(int n, quad P[MOST][MOST], const double *h, double r, double *gain) {
  quad g[MOST] = {0}, s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) g[i] += P[i][j] * h[j];
  for (int i = 0; i < n; i++) s += h[i] * g[i];
  for (int i = 0; i < n; i++) gain[i] = (double)(g[i] / (s + r));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) P[i][j] -= g[i] * g[j] / (s + r);
  return (double)s;
}

static double full_difference(int n, const double *P, quad other[MOST][MOST]) {
  double worst = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      worst = fmax(worst, fabs((double)(P[i * n + j] - other[i][j])) / sqrt((double)other[i][i] * (double)other[j][j]));
  return worst;
}

// Correlated noise: of no state, of some states, or of parameters too.
static void draw_noise(od_dice *dice, int nx, int n, int kind, double *Q) {
  double row[2][MOST];
  for (int i = 0; i < n; i++) {
    bool noisy = kind == 2 || (kind == 1 && i < nx && i % 3 != 1);
    for (int r = 0; r < 2; r++) row[r][i] = noisy ? od_dice_uniform(dice, -1, 1) : 0;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      Q[i * n + j] = row[0][i] * row[0][j] + row[1][i] * row[1][j] + (i == j && row[0][i] != 0 ? 0.1 : 0);
}

// A few steps with the same noise twice and another one then, columns of B that are zero, sensors of one state or of
// all states, and one without noise at the end.
static double worst_of_size(od_covariance_form form, int nx, int np) {
  int n = nx + np;
  od_dice dice = {(uint64_t)(100 * nx + np + 1)};
  double memory[MOST * MOST], out[MOST * MOST], start[MOST * MOST] = {0}, Q[MOST * MOST], A[MOST_NX * MOST_NX],
                                                             B[MOST_NX * (MOST_NP + 1)], h[MOST], gain[MOST],
                                                             expected[MOST], worst = 0;
  double scratch[2 * MOST * MOST + 16 * MOST + 128], kept[2 * MOST * MOST + 4] = {0}, rows[(MOST + 1) * MOST];
  quad P[MOST][MOST] = {{0}};
  for (int i = 0; i < n; i++) P[i][i] = start[i * (n + 1)] = od_dice_uniform(&dice, 1, 2);
  od_covariance b = {.nx = nx, .np = np, .form = form, .P = memory, .scratch = scratch, .kept = kept};
  assert_true(od_covariance_set(&b, start));
  for (int step = 0; step < 9; step++) {
    if (step % 3 != 1) draw_noise(&dice, nx, n, step / 3, Q);
    for (int i = 0; i < nx * nx; i++) A[i] = (i % (nx + 1) == 0) + od_dice_uniform(&dice, -0.3, 0.3);
    for (int i = 0; i < nx * np; i++) B[i] = (i % np + step) % 3 == 0 ? 0 : od_dice_uniform(&dice, -0.5, 0.5);
    full_predict(nx, n, P, A, B, Q);
    assert_true(od_covariance_predict(&b, A, B, Q, NULL));
    for (int i = 0; i < n; i++) h[i] = step % 2 ? i == step % nx : od_dice_uniform(&dice, -1, 1);
    double r = step < 8 ? 0.1 : 0, variance = full_correct(n, P, h, r, expected);
    assert_true(fabs(od_covariance_project(&b, h) - variance) < 1e-12 * variance);
    od_covariance_correct(&b, r, gain);
    for (int i = 0; i < n; i++) assert_true(fabs(gain[i] - expected[i]) < 1e-11);
    for (int i = 1; form == OD_FORM_SQUARE_ROOT && i < n; i++)
      for (int j = 0; j < i; j++) assert_true(memory[i * n + j] == 0);  // a triangle
    od_covariance_get(&b, out);
    if (r > 0) worst = fmax(worst, full_difference(n, out, P));
    if (r == 0) assert_true(od_covariance_project(&b, h) < 1e-13 * variance);  // the measured variance is zero
    if (step != 4) continue;
    assert_true(od_covariance_rows(&b, rows));  // factored and multiplied again
    assert_true(od_covariance_gather(&b, n, rows));
  }
  return worst;
}

static void all_sizes(void **state) {
  (void)state;
  assert_true(od_covariance_scratch(MOST_NX, MOST_NP) <= 2 * MOST * MOST + 16 * MOST + 128);
  assert_true(od_covariance_kept(MOST_NX, MOST_NP) <= 2 * MOST * MOST + 4);
  for (int f = 0; f < 2; f++) {
    double worst = 0;
    for (int nx = 1; nx <= MOST_NX; nx++)
      for (int np = 0; np <= MOST_NP; np++) worst = fmax(worst, worst_of_size(forms[f], nx, np));
    print_message("%s: differs from quad arithmetic by %.2g at most\n", names[f], worst);
    assert_true(worst < 1e-11);
  }
}

// Simultaneous sensors against the same ones in sequence, which the tests above compare with textbook formulas: gains, the effect of an
// earlier sensor on a later one, the change of the estimate before they are applied, and the covariance. The fourth has no noise.
static void sensors_together(void **state) {
  (void)state;
  for (int n = 2; n <= MOST; n++)
    for (int count = 1; count <= OD_MOST_WAITING; count++) {
      double U[2][MOST * MOST] = {{0}}, scratch[2][2 * MOST * MOST + 16 * MOST + 128], start[MOST * MOST] = {0},
                         h[OD_MOST_WAITING][MOST], gains[2][OD_MOST_WAITING * MOST], P[2][MOST * MOST];
      int np = n / 2;
      od_covariance b[2];
      for (int i = 0; i < n * n; i++) start[i] = (i / n == i % n) * 2 + 0.3 * cos((i / n + 1) * (i % n + 1));
      for (int k = 0; k < 2; k++) {
        b[k] = (od_covariance){.nx = n - np, .np = np, .form = OD_FORM_SQUARE_ROOT, .P = U[k], .scratch = scratch[k]};
        assert_true(od_covariance_set(&b[k], start));
      }
      for (int m = 0; m < count; m++) {
        double r = m == 3 ? 0 : 0.1 * (m + 1);
        for (int i = 0; i < n; i++) h[m][i] = (i + m) % 3 == 0 ? 0 : sin(i + 5 * m + 1);
        double together = od_covariance_project(&b[0], h[m]), alone = od_covariance_project(&b[1], h[m]);
        assert_true(fabs(together - alone) < 1e-12 * fabs(alone) + 1e-14);
        for (int k = 0; k < m; k++) {
          double seen = 0;
          for (int i = 0; i < n; i++) seen += h[m][i] * gains[1][k * n + i];
          assert_true(fabs(od_covariance_seen(&b[0], k) - seen) < 1e-12);
        }
        od_covariance_take(&b[0], r);
        od_covariance_correct(&b[1], r, gains[1] + m * n);
      }
      assert_int_equal(od_covariance_is_full(&b[0]), count == OD_MOST_WAITING);
      const double value[OD_MOST_WAITING] = {0.7, -1.3, 2.1, 0.4};
      double change[MOST], g[MOST];
      od_covariance_change(&b[0], value, g, change);
      for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < count; k++) sum += gains[1][k * n + i] * value[k];
        assert_true(fabs(change[i] - sum) < 1e-11);
      }
      od_covariance_settle(&b[0], gains[0]);
      for (int k = 0; k < 2; k++) od_covariance_get(&b[k], P[k]);
      for (int i = 0; i < count * n; i++) assert_true(fabs(gains[0][i] - gains[1][i]) < 1e-11);
      for (int i = 0; i < n * n; i++) assert_true(fabs(P[0][i] - P[1][i]) < 1e-12);
    }
}

// A matrix that is not a covariance is rejected, and the previous noise is unchanged. Oracle: sums of variances.
static void noise_after_a_refusal(void **state) {
  (void)state;
  enum { ROOM = 256 };
  double memory[N * N], scratch[ROOM], kept[ROOM] = {0}, start[N * N] = {0}, good[N * N] = {0}, bad[N * N] = {0};
  assert_true(od_covariance_scratch(NX, NP) <= ROOM && od_covariance_kept(NX, NP) <= ROOM);
  od_covariance b = {.nx = NX, .np = NP, .form = OD_FORM_SQUARE_ROOT, .P = memory, .scratch = scratch, .kept = kept};
  for (int i = 0; i < N; i++) start[i * (N + 1)] = 1, good[i * (N + 1)] = 0.25, bad[i * (N + 1)] = i == 1 ? -1 : 9;
  assert_true(od_covariance_set(&b, start));
  assert_true(od_covariance_add(&b, good, NULL));
  assert_false(od_covariance_add(&b, bad, NULL));
  assert_true(od_covariance_set(&b, start));
  assert_true(od_covariance_add(&b, good, NULL));
  for (int i = 0; i < N; i++) assert_true(fabs(od_covariance_variance(&b, i) - 1.25) < 1e-14);
}

// Noise of a single state or parameter, which is one row, and no noise: as a matrix, as a diagonal and as rows. Oracle: the sum of the entries.
static void noise_of_one_entry(void **state) {
  (void)state;
  enum { LARGEST = 14, ROOM = LARGEST * (2 * LARGEST + 8) + 400 };
  od_dice dice = {7};
  for (int nx = 1; nx <= 4; nx++)
    for (int np = 0; nx + np <= LARGEST; np++)
      for (int at = -1; at < nx + np; at++)
        for (int way = 0; way < 6; way++) {
          const int n = nx + np;
          double memory[LARGEST * LARGEST], scratch[ROOM] = {0}, kept[ROOM] = {0}, root[LARGEST * LARGEST],
                                            P[LARGEST * LARGEST];
          double Q[LARGEST * LARGEST] = {0}, q[LARGEST] = {0}, row[LARGEST * LARGEST] = {0}, got[LARGEST * LARGEST];
          assert_true(od_covariance_scratch(nx, np) <= ROOM && od_covariance_kept(nx, np) <= ROOM);
          od_covariance b = {.nx = nx,
                             .np = np,
                             .form = way < 3 ? OD_FORM_SQUARE_ROOT : OD_FORM_JOSEPH,
                             .P = memory,
                             .scratch = scratch,
                             .kept = way == 1 ? kept : NULL};
          for (int i = 0; i < n * n; i++) root[i] = od_dice_uniform(&dice, -1, 1);
          for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
              P[i * n + j] = i == j;
              for (int k = 0; k < n; k++) P[i * n + j] += root[i * n + k] * root[j * n + k];
            }
          assert_true(od_covariance_set(&b, P));
          const double size = 3;
          if (at >= 0) Q[at * (n + 1)] = q[at] = size * size, row[at] = size;
          if (way % 3 == 2 && b.form == OD_FORM_SQUARE_ROOT)
            assert_true(od_covariance_add_rows(&b, at >= 0, row));
          else
            assert_true(od_covariance_add(&b, way % 3 == 1 ? Q : NULL, way % 3 == 1 ? NULL : q));
          od_covariance_get(&b, got);
          for (int i = 0; i < n * n; i++) near(got[i], P[i] + Q[i], 1e-12);
        }
}

// Matrices of noise that change from sample to sample, with and without memory for the last one. Oracle: the sum of the matrices.
static void alternating_noise(void **state) {
  (void)state;
  enum { ROOM = 400, SAMPLES = 24 };
  for (int f = 0; f < 2; f++)
    for (int keeps = 0; keeps < 2; keeps++) {
      double memory[N * N], scratch[ROOM] = {0}, kept[ROOM] = {0}, Q[3][N * N], sum[N * N] = {0}, got[N * N];
      od_dice dice = {11};
      assert_true(od_covariance_scratch(NX, NP) <= ROOM && od_covariance_kept(NX, NP) <= ROOM);
      od_covariance b = {
          .nx = NX, .np = NP, .form = forms[f], .P = memory, .scratch = scratch, .kept = keeps ? kept : NULL};
      for (int k = 0; k < 3; k++) {
        double root[N * N];
        for (int i = 0; i < N * N; i++) root[i] = od_dice_uniform(&dice, -1, 1);
        for (int i = 0; i < N; i++)
          for (int j = 0; j < N; j++) {
            Q[k][i * N + j] = 0;
            for (int c = 0; c < N; c++) Q[k][i * N + j] += root[i * N + c] * root[j * N + c];
          }
      }
      for (int i = 0; i < N; i++) sum[i * (N + 1)] = 1;
      assert_true(od_covariance_set(&b, sum));
      for (int k = 0; k < SAMPLES; k++) {
        const double *now = Q[k / 2 % 3];  // each matrix twice
        assert_true(od_covariance_add(&b, now, NULL));
        for (int i = 0; i < N * N; i++) sum[i] += now[i];
        od_covariance_get(&b, got);
        for (int i = 0; i < N * N; i++) near_scaled(got[i], sum[i], 1e-12, k + 1);
      }
    }
}

// In both forms, noise that makes any single variance negative or infinite is rejected.
static void every_variance_is_checked(void **state) {
  (void)state;
  enum { ROOM = 256 };
  for (int i = 0; i < 8 * N; i++) {
    double memory[N * N], scratch[ROOM] = {0}, kept[ROOM] = {0}, start[N * N] = {0}, Q[N * N] = {0}, q[N] = {0};
    od_covariance b = {.nx = NX,
                       .np = NP,
                       .form = i % 2 ? OD_FORM_SQUARE_ROOT : OD_FORM_JOSEPH,
                       .P = memory,
                       .scratch = scratch,
                       .kept = kept};
    const int at = i / 8, by_matrix = i / 2 % 2, infinite = i / 4 % 2;
    for (int k = 0; k < N; k++) start[k * (N + 1)] = 1, Q[k * (N + 1)] = q[k] = 0.1;
    assert_true(od_covariance_set(&b, start));
    assert_true(od_covariance_add(&b, by_matrix ? Q : NULL, by_matrix ? NULL : q));
    for (int k = 0; k < N; k++) near(od_covariance_variance(&b, k), 1.1, 1e-14);
    Q[at * (N + 1)] = q[at] = infinite ? INFINITY : -2;
    assert_false(od_covariance_add(&b, by_matrix ? Q : NULL, by_matrix ? NULL : q));
  }
}

// A state without noise decays until its variance underflows; the states that it drives stay uncertain. Oracle: arithmetic of 113
// bits, whose exponents have 15 bits.
static void decaying_states(void **state) {
  (void)state;
  const double A[NX][NX] = {{0.9, 0.1, 0.2, -0.3}, {-0.1, 0.9, 0.1, 0.1}, {0, 0, 2.0 / 3, 0}, {0, 0, 0.5, 1}};
  const double B[NX][NP] = {{0.1, 0}, {0, 0.1}, {0}, {0}}, q[N] = {1e-2, 0, 0, 0, 0, 0}, h[N] = {1, 0, 0, 0, 0, 0};
  for (int f = 0; f < 2; f++) {
    double memory[N * N], out[N * N], scratch[2 * N * N + 16 * N + 128], start[N * N] = {0}, gain[N], worst = 0;
    quad P[N][N] = {{0}};
    for (int i = 0; i < N; i++) P[i][i] = start[i * (N + 1)] = 1;
    od_covariance b = {.nx = NX, .np = NP, .form = forms[f], .P = memory, .scratch = scratch};
    assert_true(od_covariance_set(&b, start));
    for (int step = 0; step < 2500; step++) {
      double F[NX][NX], G[NX][NP];
      memcpy(F, A, sizeof F), memcpy(G, B, sizeof G);
      textbook_predict(P, F, G, q);
      assert_true(od_covariance_predict(&b, &A[0][0], &B[0][0], NULL, q));
      textbook_correct(P, h, 1e6);
      od_covariance_project(&b, h);
      od_covariance_correct(&b, 1e6, gain);
    }
    od_covariance_get(&b, out);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double size = sqrt((double)P[i][i]) * sqrt((double)P[j][j]) + DBL_MIN;
        worst = fmax(worst, fabs((double)(out[i * N + j] - P[i][j])) / size);
      }
    print_message("%s: differs by %.2g at most, variance that has decayed %.2g\n", names[f], worst, out[2 * (N + 1)]);
    assert_true(worst < 1e-8);
    assert_true(out[2 * (N + 1)] < DBL_MIN && (double)P[0][0] > 1e-3);
  }
}

// The small scratch memory is enough for a prediction with noise of all states and parameters and for four sensors together, also if there are many
// more parameters than states: the numbers behind the memory are unchanged. Oracle of the prediction: sums of products.
static void small_memory(void **state) {
  (void)state;
  enum { LARGEST = 48, BEHIND = 64 };
  static double P[LARGEST * LARGEST + 8], full[LARGEST * LARGEST], rows[LARGEST * LARGEST], gains[4 * LARGEST];
  static const int sizes[][2] = {{1, 0}, {2, 18}, {1, 40}, {5, 30}, {8, 40}, {9, 3}, {24, 0}, {20, 24}};
  double *large = calloc(1 << 16, sizeof *large);
  od_dice dice = {11};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const int nx = sizes[i][0], np = sizes[i][1], n = nx + np, room = od_covariance_small_scratch(nx, np, n);
    assert_true(n <= LARGEST && od_covariance_scratch(nx, np) <= 1 << 16);
    double *small = malloc((size_t)(room + BEHIND) * sizeof *small), *A = calloc((size_t)(nx * nx), sizeof *A),
           *B = calloc((size_t)(nx * np + 1), sizeof *B), *h = calloc((size_t)n, sizeof *h);
    assert_true(large && small && A && B && h);
    for (int k = 0; k < room + BEHIND; k++) small[k] = 12345;
    for (int k = 0; k < nx; k++) A[k * nx + k] = 0.5;
    for (int k = 0; k < n * n; k++) full[k] = k % (n + 1) == 0, rows[k] = od_dice_uniform(&dice, -1, 1);
    od_covariance b = {.nx = nx, .np = np, .P = P, .scratch = large};
    assert_true(od_covariance_set(&b, full));
    b.scratch = small, b.room = room;
    assert_true(od_covariance_predict_rows(&b, A, np ? B : NULL, n, rows));
    od_covariance_get(&b, full);
    for (int r = 0; r < n; r++)
      for (int c = 0; c < n; c++) {
        double sum = r != c ? 0 : r < nx ? 0.25 : 1;
        for (int k = 0; k < n; k++) sum += rows[k * n + r] * rows[k * n + c];
        near(full[r * n + c], sum, 1e-11 * n);
      }
    for (int k = 0; k < 4; k++) {
      for (int j = 0; j < n; j++) h[j] = od_dice_uniform(&dice, -1, 1);
      od_covariance_project(&b, h);
      od_covariance_take(&b, 0.1);
    }
    od_covariance_settle(&b, gains);
    for (int k = 0; k < BEHIND; k++) assert_true(small[room + k] == 12345);
    free(small), free(A), free(B), free(h);
  }
  free(large);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(alternating_noise),
                                     cmocka_unit_test(small_memory),
                                     cmocka_unit_test(one_good_sensor),
                                     cmocka_unit_test(ill_conditioned_sequences),
                                     cmocka_unit_test(all_sizes),
                                     cmocka_unit_test(sensors_together),
                                     cmocka_unit_test(noise_after_a_refusal),
                                     cmocka_unit_test(noise_of_one_entry),
                                     cmocka_unit_test(every_variance_is_checked),
                                     cmocka_unit_test(decaying_states)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
