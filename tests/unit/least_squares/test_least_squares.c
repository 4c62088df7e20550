// The least-squares engine. Oracles: closed forms and exhaustive search: linear problems (LAPACK), all combinations of
// active bounds, scans of robust costs, curves with known minima.
#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "least_squares/row_qr.h"
#include "math/dense.h"
#include "oleodyn/least_squares.h"
#include "support/random_machine.h"
#include "unit/least_squares/problems.h"

// ---- linear problems: r = A x - b

enum { MOST_M = 400, MOST_N = 12 };
typedef struct linear {
  int m, n;
  double A[MOST_M * MOST_N], b[MOST_M];
} linear;

static int linear_residuals(void *user, const double *x, double *r) {
  const linear *l = user;
  for (int i = 0; i < l->m; i++) {
    r[i] = -l->b[i];
    for (int j = 0; j < l->n; j++) r[i] += l->A[i * l->n + j] * x[j];
  }
  return 0;
}
static int linear_jacobian(void *user, const double *x, double *J) {
  (void)x;
  const linear *l = user;
  memcpy(J, l->A, (size_t)(l->m * l->n) * sizeof *J);
  return 0;
}
static void random_linear(od_dice *d, int m, int n, linear *l) {
  l->m = m, l->n = n;
  for (int i = 0; i < m * n; i++) l->A[i] = od_dice_uniform(d, -1, 1) * pow(10, i % n % 3);
  for (int i = 0; i < m; i++) l->b[i] = od_dice_uniform(d, -10, 10);
}

// Oracle: LAPACK's QR, and the inverse of the normal matrix.
static void linear_against_lapack(void **state) {
  (void)state;
  od_dice d = {7};
  linear l, copy;
  for (int round = 0; round < 60; round++) {
    int n = 1 + od_dice_pick(&d, MOST_N), m = n + 1 + od_dice_pick(&d, MOST_M - n);
    random_linear(&d, m, n, &l);
    copy = l;
    assert_int_equal(LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', m, n, 1, copy.A, n, copy.b, 1), 0);
    double start[MOST_N] = {0}, squares = 0, normal[MOST_N * MOST_N] = {0}, inverse[MOST_N * MOST_N] = {0};
    for (int i = n; i < m; i++) squares += copy.b[i] * copy.b[i];
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) normal[j * n + k] += l.A[i * n + j] * l.A[i * n + k];
    int pivot[MOST_N];
    assert_int_equal(od_lu_factor(n, normal, pivot), OD_OK);
    for (int j = 0; j < n; j++) inverse[j * n + j] = 1;
    od_lu_solve(n, normal, pivot, inverse, n);

    for (int method = OD_LS_REFLECTIVE; method <= OD_LS_TRUNCATE; method++) {
      const od_ls_options options = {.method = (od_ls_method)method};
      const od_ls_problem problem = {
          .m = m, .n = n, .user = &l, .residuals = linear_residuals, .jacobian = linear_jacobian, .start = start};
      od_ls_result *r = solve(&problem, &options);
      near(2 * r->cost, squares, 1e-11 * squares);
      assert_int_equal(r->freedom, m - n);
      assert_int_equal(r->rank, n);
      for (int j = 0; j < n; j++) near(r->x[j], copy.b[j], 1e-9 * (1 + fabs(copy.b[j])));
      for (int j = 0; j < n * n; j++) {
        double size = sqrt(inverse[j / n * (n + 1)] * inverse[j % n * (n + 1)]);
        near(r->covariance[j], squares / (m - n) * inverse[j], 1e-8 * squares / (m - n) * size);
      }
      for (int j = 0; j < n; j++) near(r->sigma[j], sqrt(r->covariance[j * (n + 1)]), 0);
      od_ls_result_free(r);
    }
  }
}

// The triangle from row blocks has J's inner products for any number of rows.
static void row_blocks(void **state) {
  (void)state;
  od_dice d = {3};
  for (int k = 1; k <= MOST_N; k++)
    for (int m = 1; m < MOST_M; m += 1 + m / 2) {
      static linear l;
      random_linear(&d, m, k, &l);
      double *memory = malloc(od_row_qr_size(k) * sizeof *memory), product[MOST_N + 1][MOST_N + 1] = {{0}};
      od_row_qr qr;
      od_row_qr_begin(&qr, k, memory);
      for (int i = 0; i < m; i++) {
        int stride;
        double *row = od_row_qr_next(&qr, &stride), whole[MOST_N + 1];
        for (int j = 0; j <= k; j++) row[j * stride] = whole[j] = j < k ? l.A[i * k + j] : l.b[i];
        for (int a = 0; a <= k; a++)
          for (int b = 0; b <= k; b++) product[a][b] += whole[a] * whole[b];
      }
      od_row_qr_end(&qr);
      for (int a = 0; a <= k; a++)
        for (int b = 0; b <= k; b++) {
          double sum = a == k && b == k ? qr.rest : 0;
          for (int i = 0; i < k; i++) sum += qr.R[i * (k + 1) + a] * qr.R[i * (k + 1) + b];
          near(sum, product[a][b], 1e-12 * sqrt(product[a][a] * product[b][b]));
        }
      for (int i = 0; i < k; i++)
        for (int j = 0; j < i; j++) assert_true(qr.R[i * (k + 1) + j] == 0);
      free(memory);
    }
}

// A column whose squares underflow does not change the inner products of the other columns.
static void column_that_underflows(void **state) {
  (void)state;
  enum { K = 3 };
  od_dice d = {5};
  for (double size = 1e-140; size > 1e-170; size /= 10) {
    double memory[(K + 1) * (K + 256)], product[K + 1][K + 1] = {{0}};
    od_row_qr qr;
    assert_true(od_row_qr_size(K) <= sizeof memory / sizeof *memory);
    od_row_qr_begin(&qr, K, memory);
    for (int i = 0; i < 20; i++) {
      int stride;
      double *row = od_row_qr_next(&qr, &stride);
      for (int j = 0; j <= K; j++) row[j * stride] = od_dice_uniform(&d, -1, 1) * (j == 0 ? size : 1);
      for (int a = 0; a <= K; a++)
        for (int b = 0; b <= K; b++) product[a][b] += row[a * stride] * row[b * stride];
    }
    od_row_qr_end(&qr);
    for (int a = 1; a <= K; a++)
      for (int b = 1; b <= K; b++) {
        double sum = a == K && b == K ? qr.rest : 0;
        for (int i = 0; i < K; i++) sum += qr.R[i * (K + 1) + a] * qr.R[i * (K + 1) + b];
        near(sum, product[a][b], 1e-12 * sqrt(product[a][a] * product[b][b]));
      }
  }
}

// ---- bounds

// Oracle: every combination of parameters at low, at high and between, each solved by the normal equations.
static double least_in_box(const linear *l, const double *low, const double *high, double *best_x) {
  int n = l->n, combinations = 1;
  double best = INFINITY, r[MOST_M];
  for (int j = 0; j < n; j++) combinations *= 3;
  for (int c = 0; c < combinations; c++) {
    double x[MOST_N] = {0}, normal[MOST_N * MOST_N] = {0}, right[MOST_N] = {0};
    int is_free[MOST_N], pivot[MOST_N];
    for (int j = 0, digits = c; j < n; j++, digits /= 3) {
      is_free[j] = digits % 3 == 0;
      x[j] = digits % 3 == 0 ? 0 : digits % 3 == 1 ? low[j] : high[j];
    }
    linear_residuals((void *)l, x, r);
    for (int a = 0; a < n; a++)
      for (int b = 0; b < n; b++)
        for (int i = 0; i < l->m; i++) {
          normal[a * n + b] += is_free[a] && is_free[b] ? l->A[i * n + a] * l->A[i * n + b] : 0;
          if (a == b) right[a] -= is_free[a] ? l->A[i * n + a] * r[i] : 0;
        }
    for (int a = 0; a < n; a++)
      if (!is_free[a]) normal[a * n + a] = 1;
    if (od_lu_factor(n, normal, pivot) != OD_OK) continue;
    od_lu_solve(n, normal, pivot, right, 1);
    int inside = 1;
    double cost = 0;
    for (int j = 0; j < n; j++) x[j] += right[j], inside &= x[j] >= low[j] && x[j] <= high[j];
    linear_residuals((void *)l, x, r);
    for (int i = 0; i < l->m; i++) cost += 0.5 * r[i] * r[i];
    if (inside && cost < best) best = cost, memcpy(best_x, x, (size_t)n * sizeof *x);
  }
  return best;
}

// A residual function that fails the test if it is called beyond the bounds.
typedef struct guarded {
  const linear *l;
  const double *low, *high;
  int touched;  // points exactly on a bound
} guarded;
static int guarded_residuals(void *user, const double *x, double *r) {
  guarded *g = user;
  for (int j = 0; j < g->l->n; j++) {
    if (x[j] < g->low[j] || x[j] > g->high[j]) fail_msg("asked at %g, outside %g and %g", x[j], g->low[j], g->high[j]);
    g->touched += x[j] == g->low[j] || x[j] == g->high[j];
  }
  return linear_residuals((void *)g->l, x, r);
}
static int guarded_jacobian(void *user, const double *x, double *J) {
  return linear_jacobian((void *)((guarded *)user)->l, x, J);
}

static void boxes_against_brute_force(void **state) {
  (void)state;
  od_dice d = {11};
  static linear l;
  int active = 0;
  for (int round = 0; round < 200; round++) {
    int n = 1 + od_dice_pick(&d, 4);
    random_linear(&d, n + 3, n, &l);
    double low[4], high[4], start[4], best_x[4];
    for (int j = 0; j < n; j++) {
      low[j] = od_dice_uniform(&d, -2, 0), high[j] = low[j] + od_dice_uniform(&d, 0.01, 2);
      // At a bound, at the other, or between.
      int where = od_dice_pick(&d, 4);
      start[j] = where == 0 ? low[j] : where == 1 ? high[j] : od_dice_uniform(&d, low[j], high[j]);
    }
    double best = least_in_box(&l, low, high, best_x);
    guarded g = {&l, low, high, 0};
    for (int method = OD_LS_REFLECTIVE; method <= OD_LS_GAUSS_NEWTON; method++) {
      const od_ls_options options = {.method = (od_ls_method)method};
      const od_ls_problem problem = {.m = l.m,
                                     .n = n,
                                     .user = &g,
                                     .residuals = guarded_residuals,
                                     .jacobian = guarded_jacobian,
                                     .start = start,
                                     .low = low,
                                     .high = high};
      od_ls_result *r = solve(&problem, &options);
      near(r->cost, best, 1e-9 * best);
      int at_bounds = 0;
      for (int j = 0; j < n; j++) {
        near(r->x[j], best_x[j], 1e-6);
        int bound = best_x[j] == low[j] ? -1 : best_x[j] == high[j] ? 1 : 0;
        assert_int_equal(r->at_bound[j], bound);
        if (bound) assert_true(r->x[j] == best_x[j] && r->sigma[j] == 0);
        at_bounds += bound != 0;
      }
      assert_int_equal(r->free, n - at_bounds);
      assert_int_equal(r->freedom, l.m - n + at_bounds);
      active += at_bounds;
      od_ls_result_free(r);
    }
  }
  assert_true(active > 300);
}

// Rosenbrock's valley; the minimum is at (1, 1), and at (1/2, 1/4) when the first is bounded by 1/2.
static int valley(void *user, const double *x, double *r) {
  (void)user;
  r[0] = 10 * (x[1] - x[0] * x[0]), r[1] = 1 - x[0];
  return 0;
}
static int valley_jacobian(void *user, const double *x, double *J) {
  (void)user;
  J[0] = -20 * x[0], J[1] = 10, J[2] = -1, J[3] = 0;
  return 0;
}
static od_ls_problem valley_problem(const double *start) {
  return (od_ls_problem){.m = 2, .n = 2, .residuals = valley, .jacobian = valley_jacobian, .start = start};
}

// Points that the search has evaluated, and whether all of them were strictly inside.
static bool strictly_inside(void *user, const od_ls_progress *p) {
  const od_ls_problem *problem = user;
  for (int j = 0; j < problem->n; j++) assert_true(p->x[j] > problem->low[j] && p->x[j] < problem->high[j]);
  return true;
}

static void curved_valley_in_a_box(void **state) {
  (void)state;
  const double start[2] = {-1.2, 1}, low[2] = {-3, -INFINITY}, high[2] = {0.5, INFINITY};
  od_ls_problem problem = valley_problem(start);
  problem.low = low, problem.high = high;
  for (int method = OD_LS_REFLECTIVE; method <= OD_LS_GAUSS_NEWTON; method++) {
    od_ls_options options = {.method = (od_ls_method)method};
    if (method == OD_LS_REFLECTIVE) options.progress = strictly_inside, options.progress_user = &problem;
    od_ls_result *r = solve(&problem, &options);
    assert_true(r->x[0] == 0.5);
    near(r->x[1], 0.25, 1e-9);
    assert_int_equal(r->at_bound[0], 1);
    assert_int_equal(r->at_bound[1], 0);
    near(r->sigma[1], sqrt(r->variance) / 10, 1e-9);
    od_ls_result_free(r);
  }
  // The minimum lies on the bound, but the bound is not active.
  const double touching[2] = {1, INFINITY};
  problem.high = touching;
  od_ls_result *r = solve(&problem, NULL);
  near(r->x[0], 1, 1e-6);
  near(r->x[1], 1, 2e-6);
  od_ls_result_free(r);
}

// Steps that are only cut off end on the bound and stay there; other methods move along it. Along the valley x0 + x1 =
// 2 (narrow) from (0.25, 0.1) the first step is cut off at x0 = 0.3, while the minimum (0.2, 1.8) is inside.
static void truncation_jams(void **state) {
  (void)state;
  static linear l = {.m = 2, .n = 2, .A = {1, 1, 1e-2, -1e-2}, .b = {2, -1.6e-2}};
  const double start[2] = {0.25, 0.1}, low[2] = {0, 0}, high[2] = {0.3, 3};
  const od_ls_problem problem = {.m = 2,
                                 .n = 2,
                                 .user = &l,
                                 .residuals = linear_residuals,
                                 .jacobian = linear_jacobian,
                                 .start = start,
                                 .low = low,
                                 .high = high};
  for (int method = OD_LS_REFLECTIVE; method <= OD_LS_TRUNCATE; method++) {
    const od_ls_options options = {.method = (od_ls_method)method};
    od_ls_result *r = NULL;
    assert_int_equal(od_least_squares(&problem, &options, &r, NULL),
                     method == OD_LS_TRUNCATE ? OD_NOT_CONVERGED : OD_OK);
    printf("method %d: %.10g %.10g, cost %.3g after %ld steps\n", method, r->x[0], r->x[1], r->cost, r->iterations);
    if (method == OD_LS_TRUNCATE) {
      assert_true(r->cost > 0.1 && r->at_bound[0] != 0);
      assert_int_equal(r->reason, OD_LS_STUCK);
      assert_true(r->offset > 0.1);
    } else {
      near(r->x[0], 0.2, 1e-9);
      near(r->x[1], 1.8, 1e-9);
    }
    od_ls_result_free(r);
  }
}

// ---- units of any size

// r = A (x / unit) - b: x in units in which it is small or large.
typedef struct in_units {
  linear l;
  double unit[2];
  bool positive;  // cannot be evaluated at zero
} in_units;
static int residuals_in_units(void *user, const double *x, double *r) {
  in_units *p = user;
  double y[2] = {x[0] / p->unit[0], x[1] / p->unit[1]};
  if (p->positive && !(x[0] > 0)) return 1;
  return linear_residuals(&p->l, y, r);
}
static int jacobian_in_units(void *user, const double *x, double *J) {
  in_units *p = user;
  linear_jacobian(&p->l, x, J);
  for (int i = 0; i < p->l.m * 2; i++) J[i] /= p->unit[i % 2];
  return 0;
}

// Oracle: the same problem in units in which all is about 1, by hand: (2, 3); with x0 held at 0, (0, 3.5).
static void units_of_any_size(void **state) {
  (void)state;
  const struct {
    double start, b[3], x[2];
    int bound;
  } cases[] = {{1, {2, 3, 5}, {2, 3}, 0}, {0, {2, 3, 5}, {2, 3}, 0}, {1, {-4, 3, 4}, {0, 3.5}, -1}};
  for (double unit = 1e-15; unit < 1e16; unit *= 1e3)
    for (int wide = 0; wide < 2; wide++)
      for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int method = OD_LS_REFLECTIVE; method <= OD_LS_GAUSS_NEWTON; method++)
          for (int differences = 0; differences < 2; differences++) {
            in_units p = {.l = {.m = 3, .n = 2, .A = {1, 0, 0, 1, 1, 1}}, .unit = {unit, 1}};
            memcpy(p.l.b, cases[c].b, sizeof cases[c].b);
            const double start[2] = {cases[c].start * unit, 1}, low[2] = {0, -INFINITY},
                         high[2] = {wide ? 1e6 : INFINITY, INFINITY};
            if (wide && unit > 1e3) continue;
            const od_ls_problem problem = {.m = 3,
                                           .n = 2,
                                           .user = &p,
                                           .residuals = residuals_in_units,
                                           .jacobian = differences ? NULL : jacobian_in_units,
                                           .start = start,
                                           .low = low,
                                           .high = high};
            const od_ls_options options = {.method = (od_ls_method)method};
            od_ls_result *r = solve(&problem, &options);
            near(r->x[0] / unit, cases[c].x[0], 1e-7);
            near(r->x[1], cases[c].x[1], 1e-7);
            assert_int_equal(r->at_bound[0], cases[c].bound);
            assert_true(r->cost <= r->start_cost);
            od_ls_result_free(r);
          }
}

// A parameter that approaches a bound but cannot reach it is reported at the bound.
static void bound_out_of_reach(void **state) {
  (void)state;
  in_units p = {.l = {.m = 3, .n = 2, .A = {1, 0, 0, 1, 1, 1}, .b = {-4, 3, 4}}, .unit = {1e-12, 1}, .positive = true};
  const double start[2] = {1e-12, 1}, low[2] = {0, -INFINITY};
  const od_ls_problem problem = {.m = 3,
                                 .n = 2,
                                 .user = &p,
                                 .residuals = residuals_in_units,
                                 .jacobian = jacobian_in_units,
                                 .start = start,
                                 .low = low};
  // Loose tolerances, as in fits: the search ends well before round-off matters.
  const od_ls_options options = {.cost_tolerance = 1e-12, .step_tolerance = 1e-9};
  od_ls_result *r = solve(&problem, &options);
  printf("ends at %.3g\n", r->x[0]);
  assert_true(r->x[0] > 0 && r->x[0] < 1e-15);
  assert_int_equal(r->at_bound[0], -1);
  assert_int_equal(r->free, 1);
  near(r->x[1], 3.5, 1e-4);
  od_ls_result_free(r);
}

// Lower exactly on its bound, by a jump, than at the minimum nearby: a search that ends above its start is not a
// success.
static int jump_at_zero(void *user, const double *x, double *r) {
  (void)user;
  r[0] = x[0] == 0 ? 1 : 2, r[1] = x[0] == 0 ? 0 : x[0] - 1;
  return 0;
}
static int jump_jacobian(void *user, const double *x, double *J) {
  (void)user, (void)x;
  J[0] = 0, J[1] = 1;
  return 0;
}
static void worse_than_the_start(void **state) {
  (void)state;
  const double start[1] = {0}, low[1] = {0};
  const od_ls_problem problem = {
      .m = 2, .n = 1, .residuals = jump_at_zero, .jacobian = jump_jacobian, .start = start, .low = low};
  od_ls_result *r = NULL;
  assert_int_equal(od_least_squares(&problem, NULL, &r, NULL), OD_NOT_CONVERGED);
  assert_int_equal(r->reason, OD_LS_STUCK);
  near(r->start_cost, 0.5, 0);
  near(r->cost, 2, 1e-12);
  od_ls_result_free(r);
}

// ---- rank

// r = (x0 + x1 - 3, 2 (x0 + x1) - 6.2, x2^2 - 4): only the sum of the first two is determined; the fourth has no effect.
static int sum_only(void *user, const double *x, double *r) {
  (void)user;
  r[0] = x[0] + x[1] - 3, r[1] = 2 * (x[0] + x[1]) - 6.2, r[2] = x[2] * x[2] - 4, r[3] = x[2] - 2;
  return 0;
}
static int sum_only_jacobian(void *user, const double *x, double *J) {
  (void)user;
  const double rows[16] = {1, 1, 0, 0, 2, 2, 0, 0, 0, 0, 2 * x[2], 0, 0, 0, 1, 0};
  memcpy(J, rows, sizeof rows);
  return 0;
}

static void undetermined_directions(void **state) {
  (void)state;
  const double start[4] = {10, -1, 5, 7};
  const od_ls_problem problem = {.m = 4, .n = 4, .residuals = sum_only, .jacobian = sum_only_jacobian, .start = start};
  for (int method = OD_LS_REFLECTIVE; method <= OD_LS_GAUSS_NEWTON; method++) {
    const od_ls_options options = {.method = (od_ls_method)method};
    od_ls_result *r = solve(&problem, &options);
    near(r->x[0] + r->x[1], 3.08, 1e-9);
    near(r->x[2], 2, 1e-9);
    assert_true(r->x[3] == 7);
    near(r->cost, 0.5 * (0.08 * 0.08 + 0.04 * 0.04), 1e-12);
    assert_int_equal(r->rank, 2);
    assert_int_equal(r->freedom, 2);
    assert_true(isinf(r->sigma[0]) && isinf(r->sigma[1]) && isfinite(r->sigma[2]) && isinf(r->sigma[3]));
    assert_true(isnan(r->covariance[1]) && isfinite(r->covariance[2 * 4 + 2]));
    // sqrt(2) and 1 for columns of length 1, then two zeros: (1, -1, 0, 0) / sqrt(2) and (0, 0, 0, 1) in any order.
    near(r->singular_values[0], sqrt(2), 1e-12);
    near(r->singular_values[1], 1, 1e-12);
    near(r->singular_values[2], 0, 1e-12);
    double seen = 0, none = 0;
    for (int i = 2; i < 4; i++) {
      const double *v = r->directions + 4 * i;
      seen += fabs(v[0] - v[1]) / sqrt(2), none += fabs(v[3]);
      near(v[0] + v[1], 0, 1e-12);
      near(v[2], 0, 1e-12);
    }
    near(seen, 1, 1e-12);
    near(none, 1, 1e-12);
    od_ls_result_free(r);
  }
}

// ---- robust losses

static const double sample[] = {1.1, 0.9, 1.3, 0.7, 1.05, 0.98, 9, 14, -6};
enum { SAMPLES = sizeof sample / sizeof *sample };
static int location(void *user, const double *x, double *r) {
  (void)user;
  for (int i = 0; i < SAMPLES; i++) r[i] = exp(x[0]) - sample[i];
  return 0;
}
static int location_jacobian(void *user, const double *x, double *J) {
  (void)user;
  for (int i = 0; i < SAMPLES; i++) J[i] = exp(x[0]);
  return 0;
}

// As defined in the header, written again.
static double loss_by_hand(int loss, double scale, double r) {
  double z = r * r / (scale * scale), s = scale * scale;
  switch (loss) {
    case OD_LOSS_SOFT_L1: return s * 2 * (sqrt(1 + z) - 1);
    case OD_LOSS_HUBER: return fabs(r) <= scale ? r * r : s * (2 * fabs(r / scale) - 1);
    case OD_LOSS_CAUCHY: return s * log(1 + z);
    case OD_LOSS_ARCTAN: return s * atan(z);
    default: return r * r;
  }
}
static double robust_cost(int loss, double scale, double x) {
  double sum = 0;
  for (int i = 0; i < SAMPLES; i++) sum += loss_by_hand(loss, scale, exp(x) - sample[i]) / 2;
  return sum;
}

// Oracle: a scan, then golden sections around its least point.
static double scan(int loss, double scale) {
  const double golden = (sqrt(5) - 1) / 2;
  double at = -1;
  for (double x = -1; x < 2.5; x += 1e-4)
    if (robust_cost(loss, scale, x) < robust_cost(loss, scale, at)) at = x;
  double a = at - 1e-3, b = at + 1e-3;
  while (b - a > 1e-9) {
    double c = b - golden * (b - a), e = a + golden * (b - a);
    if (robust_cost(loss, scale, c) < robust_cost(loss, scale, e))
      b = e;
    else
      a = c;
  }
  return (a + b) / 2;
}

static void robust_losses(void **state) {
  (void)state;
  const double start = 0.5;
  const od_ls_problem problem = {
      .m = SAMPLES, .n = 1, .residuals = location, .jacobian = location_jacobian, .start = &start};
  for (int loss = OD_LOSS_LINEAR; loss <= OD_LOSS_ARCTAN; loss++)
    for (double scale = 0.1; scale < 2; scale *= 3) {
      const od_ls_options options = {.loss = (od_ls_loss)loss, .loss_scale = scale};
      od_ls_result *r = solve(&problem, &options);
      double x = scan(loss, scale);
      near(r->x[0], x, 3e-7);
      near(r->cost, robust_cost(loss, scale, r->x[0]), 1e-12 * r->cost);
      // The slope of the cost by a central difference.
      double slope = (robust_cost(loss, scale, r->x[0] + 1e-5) - robust_cost(loss, scale, r->x[0] - 1e-5)) / 2e-5;
      near(slope, 0, 1e-7);
      od_ls_result_free(r);
    }
}

// ---- points that cannot be evaluated

static int logarithm_jacobian(void *user, const double *x, double *J) {
  (void)user;
  J[0] = 1 / x[0], J[1] = 1, J[2] = 0, J[3] = 1;
  return 0;
}

static void cannot_evaluate(void **state) {
  (void)state;
  const double start[2] = {30, -8};
  for (int how = 0; how < 2; how++)
    for (int method = OD_LS_REFLECTIVE; method <= OD_LS_TRUNCATE; method++)
      for (int exact = 0; exact < 2; exact++) {
        const od_ls_options options = {.method = (od_ls_method)method};
        const od_ls_problem problem = {.m = 2,
                                       .n = 2,
                                       .user = &how,
                                       .residuals = logarithm,
                                       .jacobian = exact ? logarithm_jacobian : NULL,
                                       .start = start};
        od_ls_result *r = solve(&problem, &options);
        near(r->x[0], exp(-2), 1e-7);
        near(r->x[1], 3, 1e-7);
        od_ls_result_free(r);
      }
  // At the start it is an error.
  const double nowhere[2] = {-1, 0};
  const od_ls_problem problem = {.m = 2, .n = 2, .residuals = logarithm, .start = nowhere};
  od_ls_result *r;
  od_error err = {0};
  assert_int_equal(od_least_squares(&problem, NULL, &r, &err), OD_NOT_FINITE);
  assert_null(r);
  assert_string_equal(err.text, "the residuals cannot be evaluated at the start; choose another start");
}

// ---- stopping criteria

static bool three_steps(void *user, const od_ls_progress *p) {
  *(double *)user = p->cost;
  return p->iterations < 3;
}

static void stopping(void **state) {
  (void)state;
  const double start[2] = {-1.2, 1};
  const od_ls_problem problem = valley_problem(start);
  double last = 0;
  od_ls_options options = {.progress = three_steps, .progress_user = &last};
  od_ls_result *r;
  od_error err = {0};
  assert_int_equal(od_least_squares(&problem, &options, &r, &err), OD_INTERRUPTED);
  assert_int_equal(r->reason, OD_LS_STOPPED);
  assert_int_equal(r->iterations, 3);
  assert_true(r->cost == last && r->cost < r->start_cost && r->cost > 0);
  assert_string_equal(err.text, "stopped by the caller");
  od_ls_result_free(r);

  options = (od_ls_options){.max_evaluations = 5};
  assert_int_equal(od_least_squares(&problem, &options, &r, &err), OD_NOT_CONVERGED);
  assert_int_equal(r->reason, OD_LS_EVALUATIONS);
  assert_int_equal(r->residual_evaluations, 5);
  assert_true(r->cost < r->start_cost);
  od_ls_result_free(r);

  // Each tolerance alone stops early; with none the minimum is exact.
  const od_ls_options each[] = {{.gradient_tolerance = 1e-2, .step_tolerance = -1, .cost_tolerance = -1},
                                {.gradient_tolerance = -1, .step_tolerance = 1e-2, .cost_tolerance = -1},
                                {0}};
  const double noisy[2] = {3, 3};
  const od_ls_problem curve = {
      .m = SAMPLES, .n = 1, .residuals = location, .jacobian = location_jacobian, .start = noisy};
  const od_ls_reason reasons[] = {OD_LS_GRADIENT, OD_LS_STEP, OD_LS_COST};
  for (int i = 0; i < 3; i++) {
    r = solve(&curve, &each[i]);
    if (i < 2) assert_int_equal(r->reason, reasons[i]);
    double mean = 0;
    for (int j = 0; j < SAMPLES; j++) mean += sample[j] / SAMPLES;
    double error = fabs(r->x[0] - log(mean));
    if (i < 2)
      assert_true(error > 1e-12 && error < 1e-1);
    else
      near(error, 0, 1e-15);
    od_ls_result_free(r);
  }
  options = (od_ls_options){.gradient_tolerance = -1, .step_tolerance = -1, .cost_tolerance = 1e-2};
  r = solve(&curve, &options);
  assert_int_equal(r->reason, OD_LS_COST);
  od_ls_result_free(r);
  // Residuals that vanish.
  const double there[2] = {1, 1};
  const od_ls_problem exact = valley_problem(there);
  r = solve(&exact, NULL);
  assert_int_equal(r->reason, OD_LS_EXACT);
  assert_true(r->cost == 0 && r->x[0] == 1 && r->x[1] == 1);
  od_ls_result_free(r);
}

// ---- fixed parameters, transforms, scales, derivatives

// A decaying exponential with an offset, at 20 times, with errors that are not small.
enum { TIMES = 20 };
static double decay_datum(int i) {
  return 0.3 + 2.5 * exp(-0.7 * 0.25 * i) + 0.05 * sin(7.0 * i);
}
static int decay(void *user, const double *x, double *r) {
  (void)user;
  for (int i = 0; i < TIMES; i++) r[i] = x[0] + x[1] * exp(-x[2] * 0.25 * i) - decay_datum(i);
  return 0;
}
static int decay_complex(void *user, const double *x, double *r) {
  (void)user;
  const double complex *X = (const double complex *)x;
  double complex *R = (double complex *)r;
  for (int i = 0; i < TIMES; i++) R[i] = X[0] + X[1] * cexp(-X[2] * 0.25 * i) - decay_datum(i);
  return 0;
}
static int decay_jacobian(void *user, const double *x, double *J) {
  (void)user;
  for (int i = 0; i < TIMES; i++) {
    double e = exp(-x[2] * 0.25 * i);
    J[3 * i] = 1, J[3 * i + 1] = e, J[3 * i + 2] = -x[1] * 0.25 * i * e;
  }
  return 0;
}
static const double decay_start[3] = {0.1, 1, 2}, decay_low[3] = {-1, 1e-3, 1e-2}, decay_high[3] = {1, 10, 10};
static od_ls_problem decay_problem(void) {
  return (od_ls_problem){.m = TIMES, .n = 3, .residuals = decay, .jacobian = decay_jacobian, .start = decay_start};
}

static void assert_same_minimum(const od_ls_result *a, const od_ls_result *b, double tolerance) {
  for (int j = 0; j < a->n; j++) near(a->x[j], b->x[j], tolerance * fabs(b->x[j]));
  for (int j = 0; j < a->n; j++) near(a->sigma[j], b->sigma[j], 10 * tolerance * b->sigma[j]);
  for (int j = 0; j < a->n * a->n; j++)
    near(a->covariance[j], b->covariance[j], 30 * tolerance * a->sigma[j / a->n] * a->sigma[j % a->n]);
}

static void transforms_and_scales(void **state) {
  (void)state;
  od_ls_problem problem = decay_problem();
  od_ls_result *plain = solve(&problem, NULL);
  const od_ls_transform kinds[][3] = {
      {OD_TRANSFORM_LINEAR, OD_TRANSFORM_LOG, OD_TRANSFORM_LOG},
      {OD_TRANSFORM_LOGISTIC, OD_TRANSFORM_LOGISTIC, OD_TRANSFORM_LOGISTIC},
      {OD_TRANSFORM_LINEAR, OD_TRANSFORM_LOGISTIC, OD_TRANSFORM_LOG},
  };
  const double scale[3] = {0.1, 1, 0.5};
  for (int bounds = 0; bounds < 2; bounds++)
    for (int scaled = 0; scaled < 2; scaled++)
      for (size_t kind = 0; kind < 3; kind++)
        for (int method = OD_LS_REFLECTIVE; method <= OD_LS_LEVENBERG_MARQUARDT; method++) {
          if (kind > 0 && !bounds) continue;
          problem.low = bounds ? decay_low : NULL, problem.high = bounds ? decay_high : NULL;
          problem.transform = kinds[kind], problem.scale = scaled ? scale : NULL;
          const od_ls_options options = {.method = (od_ls_method)method};
          od_ls_result *r = solve(&problem, &options);
          assert_same_minimum(r, plain, 1e-10);
          od_ls_result_free(r);
        }
  // Singular values of the Jacobian times the user's scale: their product is the volume sqrt(det(S J^T J S)).
  problem = decay_problem(), problem.scale = scale;
  od_ls_result *r = solve(&problem, NULL);
  double volume = 1, inverse[9], size = scale[0] * scale[1] * scale[2];
  for (int i = 0; i < 3; i++) volume *= r->singular_values[i];
  for (int i = 0; i < 9; i++) inverse[i] = r->covariance[i] / r->variance;
  int pivot[3];
  assert_int_equal(od_lu_factor(3, inverse, pivot), OD_OK);
  // The factors have the inverses of the pivots on their diagonal.
  near(volume, size * sqrt(fabs(inverse[0] * inverse[4] * inverse[8])), 1e-9 * volume);
  od_ls_result_free(r);
  od_ls_result_free(plain);
}

static void derivatives(void **state) {
  (void)state;
  od_ls_problem problem = decay_problem();
  od_ls_result *exact = solve(&problem, NULL);
  problem.jacobian = NULL;
  for (int forward = 0; forward < 2; forward++) {
    const od_ls_options options = {.forward_differences = forward};
    od_ls_result *r = solve(&problem, &options);
    assert_same_minimum(r, exact, forward ? 1e-6 : 1e-8);
    assert_int_equal(exact->jacobian_evaluations > 0, 1);
    // Differences are counted as residuals.
    assert_true(r->residual_evaluations >= r->jacobian_evaluations * (forward ? 3 : 6));
    od_ls_result_free(r);
  }
  problem.residuals_complex = decay_complex;
  od_ls_result *r = solve(&problem, NULL);
  assert_same_minimum(r, exact, 1e-12);
  od_ls_result_free(r);
  od_ls_result_free(exact);
}

// Differences never evaluate beyond bounds, also if the minimum is at a bound.
static void differences_at_bounds(void **state) {
  (void)state;
  static linear l = {.m = 3, .n = 2, .A = {1, 0, 0, 1, 1, 1}, .b = {5, -5, 0}};
  const double low[2] = {-1, -1}, high[2] = {1, 1}, start[2] = {1, 0};
  guarded g = {&l, low, high, 0};
  const od_ls_problem problem = {
      .m = 3, .n = 2, .user = &g, .residuals = guarded_residuals, .start = start, .low = low, .high = high};
  od_ls_result *r = solve(&problem, NULL);
  assert_true(r->x[0] == 1 && r->x[1] == -1);
  assert_int_equal(r->free, 0);
  od_ls_result_free(r);
}

static void fixed_parameters(void **state) {
  (void)state;
  od_ls_problem problem = decay_problem();
  od_ls_result *all = solve(&problem, NULL);
  // With one parameter fixed at the minimum, the others are found again, with smaller variances.
  const bool fixed[3] = {false, false, true}, none_free[3] = {true, true, true};
  const double start[3] = {0, 1, all->x[2]};
  problem.start = start, problem.fixed = fixed;
  od_ls_result *r = solve(&problem, NULL);
  for (int j = 0; j < 3; j++) near(r->x[j], all->x[j], 1e-10);
  assert_true(r->x[2] == all->x[2] && r->sigma[2] == 0 && r->sigma[0] < all->sigma[0]);
  assert_int_equal(r->freedom, TIMES - 2);
  assert_int_equal(r->searched, 2);
  od_ls_result_free(r);
  problem.fixed = none_free;
  r = solve(&problem, NULL);
  assert_int_equal(r->reason, OD_LS_NOTHING_FREE);
  assert_memory_equal(r->x, start, sizeof start);
  od_ls_result_free(r);
  od_ls_result_free(all);
}

// ---- mistakes

static void bad_arguments(void **state) {
  (void)state;
  const double start[2] = {1, 2}, low[2] = {0, 3}, high[2] = {2, 2.5}, wrong[2] = {1, NAN}, scale[2] = {1, 0};
  const od_ls_transform log_[2] = {OD_TRANSFORM_LINEAR, OD_TRANSFORM_LOG},
                        logistic[2] = {OD_TRANSFORM_LOGISTIC, OD_TRANSFORM_LINEAR};
  const double negative[2] = {1, -2};
  const struct {
    od_ls_problem problem;
    const char *text;
  } cases[] = {
      {{.m = 0, .n = 2}, "the number of residuals is 0, the number of parameters 2; expected at least 1 of each"},
      {{.m = 2, .n = 2, .start = start}, "the problem has neither 'residuals' nor 'rows'; set one of these fields"},
      {{.m = 2, .n = 2, .residuals = valley}, "the problem has no 'start'; set this field"},
      {{.m = 2, .n = 2, .residuals = valley, .start = wrong},
       "the start of parameter 1 is nan; expected a finite number"},
      {{.m = 2, .n = 2, .residuals = valley, .start = start, .low = low, .high = high},
       "parameter 1 has the bounds 3 and 2.5; expected a lower bound not above the upper bound"},
      {{.m = 2, .n = 2, .residuals = valley, .start = start, .low = low},
       "parameter 1 starts at 2; expected a start within its bounds, 3 and inf"},
      {{.m = 2, .n = 2, .residuals = valley, .start = start, .scale = scale},
       "the scale of parameter 1 is 0; expected a positive finite number"},
      {{.m = 2, .n = 2, .residuals = valley, .start = negative, .transform = log_},
       "parameter 1 has the start -2 and bounds from -inf to inf; expected positive numbers, because its scale is logarithmic"},
      {{.m = 2, .n = 2, .residuals = valley, .start = start, .transform = logistic},
       "parameter 0 is searched as logistic, but has the bounds -inf and inf; give two finite bounds"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_ls_result *r;
    od_error err = {0};
    assert_int_equal(od_least_squares(&cases[i].problem, NULL, &r, &err), OD_BAD_ARGUMENT);
    assert_string_equal(err.text, cases[i].text);
    assert_null(r);
  }
}

// Only the product of the two is identifiable. With differences the direction without effect has a slope, which is round-off and
// not a descent direction: a point with the correct product, by the normal equations, is a minimum.
enum { PRODUCT_ROWS = 2000 };
static double product_data(int k) {
  return 6 * (1 + 1e-3 * k) + sin(1e4 * k * k);
}
static int product_residuals(void *user, const double *x, double *r) {
  (void)user;
  for (int k = 0; k < PRODUCT_ROWS; k++) r[k] = x[0] * x[1] * (1 + 1e-3 * k) - product_data(k);
  return 0;
}
static void differences_find_the_minimum_of_what_is_identifiable(void **state) {
  (void)state;
  static const double start[2] = {1, 1};
  double above = 0, below = 0;
  for (int k = 0; k < PRODUCT_ROWS; k++) {
    above += (1 + 1e-3 * k) * product_data(k);
    below += (1 + 1e-3 * k) * (1 + 1e-3 * k);
  }
  for (int forward = 0; forward < 2; forward++) {
    const od_ls_problem problem = {.m = PRODUCT_ROWS, .n = 2, .residuals = product_residuals, .start = start};
    const od_ls_options options = {.cost_tolerance = 1e-12, .step_tolerance = 1e-9, .forward_differences = forward};
    od_ls_result *r = NULL;
    assert_int_equal(od_least_squares(&problem, &options, &r, NULL), OD_OK);
    assert_true(fabs(r->x[0] * r->x[1] - above / below) < 1e-6);
    od_ls_result_free(r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(row_blocks),
      cmocka_unit_test(column_that_underflows),
      cmocka_unit_test(linear_against_lapack),
      cmocka_unit_test(boxes_against_brute_force),
      cmocka_unit_test(curved_valley_in_a_box),
      cmocka_unit_test(truncation_jams),
      cmocka_unit_test(units_of_any_size),
      cmocka_unit_test(bound_out_of_reach),
      cmocka_unit_test(worse_than_the_start),
      cmocka_unit_test(undetermined_directions),
      cmocka_unit_test(robust_losses),
      cmocka_unit_test(cannot_evaluate),
      cmocka_unit_test(stopping),
      cmocka_unit_test(transforms_and_scales),
      cmocka_unit_test(derivatives),
      cmocka_unit_test(differences_at_bounds),
      cmocka_unit_test(fixed_parameters),
      cmocka_unit_test(bad_arguments),
      cmocka_unit_test(differences_find_the_minimum_of_what_is_identifiable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
