// Least squares with constraints between parameters. Oracles: all combinations of active constraints, each solved by Gaussian
// elimination of its Karush-Kuhn-Tucker equations; closed forms (a circle, a line through a given point, published
// test problems); covariances with the constraint inserted into the model by hand.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "least_squares/distance.h"
#include "oleodyn/least_squares.h"
#include "random/random.h"

static double draw(uint64_t seed, int i) {
  return 2 * od_random_uniform(seed, 1, (uint64_t)i, OD_USE_NOISE) - 1;
}

static void expect_close(double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance * fmax(1, fabs(expected))))
    fail_msg("%.15g instead of %.15g", value, expected);
}

// Gaussian elimination with pivoting; false: singular.
static bool solve(int n, double *A, double *b) {
  for (int c = 0; c < n; c++) {
    int best = c;
    for (int r = c; r < n; r++)
      if (fabs(A[r * n + c]) > fabs(A[best * n + c])) best = r;
    if (fabs(A[best * n + c]) < 1e-11) return false;
    for (int j = 0; j < n; j++) {
      double t = A[c * n + j];
      A[c * n + j] = A[best * n + j], A[best * n + j] = t;
    }
    double t = b[c];
    b[c] = b[best], b[best] = t;
    for (int r = 0; r < n; r++) {
      if (r == c) continue;
      double f = A[r * n + c] / A[c * n + c];
      for (int j = c; j < n; j++) A[r * n + j] -= f * A[c * n + j];
      b[r] -= f * b[c];
    }
  }
  for (int c = 0; c < n; c++) b[c] /= A[c * n + c];
  return true;
}

// --- Linear residuals J x - y with linear constraints A x >= b ------------------------------------------------------

enum { M = 9, N = 4, ROWS = 6 };
typedef struct linear {
  double J[M * N], y[M], A[ROWS * N], b[ROWS];
  int equalities;
} linear;

static int linear_residuals(void *user, const double *x, double *r) {
  const linear *p = user;
  for (int i = 0; i < M; i++) {
    r[i] = -p->y[i];
    for (int j = 0; j < N; j++) r[i] += p->J[i * N + j] * x[j];
  }
  return 0;
}
static int linear_jacobian(void *user, const double *x, double *J) {
  (void)x;
  memcpy(J, ((const linear *)user)->J, sizeof(double) * M * N);
  return 0;
}
static int linear_constraints(void *user, const double *x, double *c, double *C) {
  const linear *p = user;
  for (int i = 0; i < ROWS; i++) {
    c[i] = -p->b[i];
    for (int j = 0; j < N; j++) c[i] += p->A[i * N + j] * x[j];
  }
  if (C) memcpy(C, p->A, sizeof p->A);
  return 0;
}

// Least squares with a set of rows as equations; multipliers follow x. Returns false if singular.
static bool with_active(const linear *p, unsigned set, double *x, double *multiplier) {
  double A[(N + ROWS) * (N + ROWS)] = {0}, b[N + ROWS] = {0};
  int row[ROWS], count = 0;
  for (int i = 0; i < ROWS; i++)
    if (set >> i & 1) row[count++] = i;
  int n = N + count;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++)
      for (int k = 0; k < M; k++) A[i * n + j] += p->J[k * N + i] * p->J[k * N + j];
    for (int k = 0; k < M; k++) b[i] += p->J[k * N + i] * p->y[k];
    for (int c = 0; c < count; c++) A[i * n + N + c] = -p->A[row[c] * N + i], A[(N + c) * n + i] = p->A[row[c] * N + i];
  }
  for (int c = 0; c < count; c++) b[N + c] = p->b[row[c]];
  if (count > N || !solve(n, A, b)) return false;
  memcpy(x, b, N * sizeof *x);
  memset(multiplier, 0, ROWS * sizeof *multiplier);
  for (int c = 0; c < count; c++) multiplier[row[c]] = b[N + c];
  return true;
}

static bool is_solution(const linear *p, const double *x, const double *multiplier) {
  double c[ROWS];
  linear_constraints((void *)p, x, c, NULL);
  for (int i = 0; i < ROWS; i++)
    if (i < p->equalities ? fabs(c[i]) > 1e-9 : c[i] < -1e-9 || multiplier[i] < -1e-9) return false;
  return true;
}

static void random_linear(uint64_t seed, linear *p) {
  int at = 0;
  for (int i = 0; i < M * N; i++) p->J[i] = draw(seed, at++);
  for (int i = 0; i < M; i++) p->y[i] = 3 * draw(seed, at++);
  for (int i = 0; i < ROWS * N; i++) p->A[i] = draw(seed, at++);
  // A point that satisfies all constraints.
  double inside[N];
  for (int i = 0; i < N; i++) inside[i] = draw(seed, at++);
  p->equalities = (int)(seed % 3);
  for (int i = 0; i < ROWS; i++) {
    p->b[i] = i < p->equalities ? 0 : -0.3 * fabs(draw(seed, at++));
    for (int j = 0; j < N; j++) p->b[i] += p->A[i * N + j] * inside[j];
  }
}

static void test_all_active_sets(void **state) {
  (void)state;
  int with_inequalities = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    linear p;
    random_linear(seed, &p);
    double x[N], multiplier[ROWS], start[N] = {5, -5, 5, 5};
    bool found = false;
    unsigned must = (1u << p.equalities) - 1;
    for (unsigned set = 0; set < 1u << ROWS && !found; set++)
      found = (set & must) == must && with_active(&p, set, x, multiplier) && is_solution(&p, x, multiplier);
    assert_true(found);
    const od_ls_constraints constraints = {p.equalities, ROWS - p.equalities, linear_constraints};
    const od_ls_problem problem = {.m = M,
                                   .n = N,
                                   .user = &p,
                                   .residuals = linear_residuals,
                                   .jacobian = linear_jacobian,
                                   .start = start,
                                   .constraints = &constraints};
    od_ls_result *r;
    od_error err;
    if (od_least_squares(&problem, NULL, &r, &err) != OD_OK) fail_msg("seed %d: %s", (int)seed, err.text);
    for (int i = 0; i < N; i++) expect_close(r->x[i], x[i], 1e-9);
    for (int i = 0; i < ROWS; i++) {
      expect_close(r->multiplier[i], multiplier[i], 1e-8);
      assert_int_equal(r->active[i], i < p.equalities || multiplier[i] > 1e-9);
      with_inequalities += i >= p.equalities && r->active[i];
    }
    assert_true(r->violation < 1e-9);
    od_ls_result_free(r);
  }
  assert_true(with_inequalities > 40);
}

// Bounds and constraints together: bounds are equivalent to constraint rows.
static void test_bounds_are_constraints(void **state) {
  (void)state;
  for (uint64_t seed = 100; seed < 130; seed++) {
    linear p;
    random_linear(seed, &p);
    p.equalities = 0;
    double low[N], high[N], start[N];
    for (int i = 0; i < N; i++) low[i] = -0.4, high[i] = INFINITY, start[i] = 0;
    for (int i = 0; i < N; i++) {
      memset(p.A + i * N, 0, N * sizeof(double));
      p.A[i * N + i] = 1;
      p.b[i] = -0.4;
    }
    p.b[4] = p.b[5] = -1;
    double x[2][N];
    for (int way = 0; way < 2; way++) {
      linear q = p;
      // Reversed: the rows of the bounds have no effect.
      for (int i = 0; way == 1 && i < N; i++) q.b[i] = -100;
      const od_ls_constraints constraints = {0, ROWS, linear_constraints};
      const od_ls_problem problem = {.m = M,
                                     .n = N,
                                     .user = &q,
                                     .residuals = linear_residuals,
                                     .jacobian = linear_jacobian,
                                     .start = start,
                                     .low = way ? low : NULL,
                                     .high = way ? high : NULL,
                                     .constraints = &constraints};
      od_ls_result *r;
      assert_int_equal(od_least_squares(&problem, NULL, &r, NULL), OD_OK);
      memcpy(x[way], r->x, sizeof x[way]);
      for (int i = 0; way == 1 && i < N; i++) assert_int_equal(r->at_bound[i], x[0][i] < -0.4 + 1e-9 ? -1 : 0);
      od_ls_result_free(r);
    }
    for (int i = 0; i < N; i++) expect_close(x[1][i], x[0][i], 1e-9);
  }
}

// --- Curved constraints ---------------------------------------------------------------------------------------------

// The point of the unit disk nearest to (2, 1): cost |x - a|^2 / 2, c = 1 - x^2 - y^2. At the solution a/|a| the gradient
// x - a = -2 multiplier x, so that the multiplier is (|a| - 1)/2.
static int disk_residuals(void *user, const double *x, double *r) {
  (void)user;
  r[0] = x[0] - 2, r[1] = x[1] - 1;
  return 0;
}
static int disk(void *user, const double *x, double *c, double *C) {
  (void)user;
  c[0] = 1 - x[0] * x[0] - x[1] * x[1];
  if (C) C[0] = -2 * x[0], C[1] = -2 * x[1];
  return 0;
}

static void test_disk(void **state) {
  (void)state;
  const double starts[][2] = {{0.1, 0}, {-0.5, 0.5}, {3, 3}, {0.3, -2}};
  for (int equal = 0; equal < 2; equal++)
    for (int i = 0; i < 4; i++) {
      const od_ls_constraints constraints = {equal, 1 - equal, disk};
      const od_ls_problem problem = {
          .m = 2, .n = 2, .residuals = disk_residuals, .start = starts[i], .constraints = &constraints};
      od_ls_result *r;
      od_error err;
      if (od_least_squares(&problem, &(od_ls_options){.unit_variance = true}, &r, &err) != OD_OK)
        fail_msg("start %d: %s", i, err.text);
      expect_close(r->x[0], 2 / sqrt(5), 1e-8);
      expect_close(r->x[1], 1 / sqrt(5), 1e-8);
      expect_close(r->multiplier[0], (sqrt(5) - 1) / 2, 1e-6);
      assert_true(r->active[0]);
      // Only the tangent is free: sigma^2 = (1 - x^2) of the unit circle.
      expect_close(r->sigma[0], 1 / sqrt(5), 1e-6);
      expect_close(r->sigma[1], 2 / sqrt(5), 1e-6);
      assert_int_equal(r->free, 1);
      od_ls_result_free(r);
    }
}

// Hock and Schittkowski (1981), problem 65: least (x0 - x1)^2 + (x0 + x1 - 10)^2/9 + (x2 - 5)^2 in a ball of radius
// sqrt(48) within the box of 4.5; f = 0.9535288567.
static int hs65_residuals(void *user, const double *x, double *r) {
  (void)user;
  r[0] = x[0] - x[1], r[1] = (x[0] + x[1] - 10) / 3, r[2] = x[2] - 5;
  return 0;
}
static int hs65_ball(void *user, const double *x, double *c, double *C) {
  (void)user;
  c[0] = 48;
  for (int i = 0; i < 3; i++) {
    c[0] -= x[i] * x[i];
    if (C) C[i] = -2 * x[i];
  }
  return 0;
}

static void test_published(void **state) {
  (void)state;
  const double start[] = {-4, 4, 0}, low[] = {-4.5, -4.5, -5}, high[] = {4.5, 4.5, 5};
  const od_ls_constraints constraints = {0, 1, hs65_ball};
  const od_ls_problem problem = {.m = 3,
                                 .n = 3,
                                 .residuals = hs65_residuals,
                                 .start = start,
                                 .low = low,
                                 .high = high,
                                 .constraints = &constraints};
  od_ls_result *r;
  assert_int_equal(od_least_squares(&problem, NULL, &r, NULL), OD_OK);
  expect_close(2 * r->cost, 0.9535288567, 1e-8);
  expect_close(r->x[0], 3.650461821, 1e-6);
  expect_close(r->x[2], 4.6204170507, 1e-6);
  od_ls_result_free(r);
}

// --- Covariance with a constraint -----------------------------------------------------------------------------------

enum { LINE = 12 };
typedef struct line {
  double t[LINE], y[LINE];
} line;
static int line_residuals(void *user, const double *x, double *r) {
  const line *l = user;
  for (int i = 0; i < LINE; i++) r[i] = x[0] + x[1] * l->t[i] - l->y[i];
  return 0;
}
static int through_point(void *user, const double *x, double *c, double *C) {
  (void)user;
  c[0] = x[0] + 2 * x[1] - 3;
  if (C) C[0] = 1, C[1] = 2;
  return 0;
}

// y = 3 + b (t - 2): one parameter, in closed form. Without the constraint: the usual line.
static void test_covariance(void **state) {
  (void)state;
  line l;
  for (int i = 0; i < LINE; i++) l.t[i] = 0.3 * i, l.y[i] = 1.2 + 0.8 * l.t[i] + 0.3 * draw(7, i);
  double tt = 0, ty = 0, s1 = 0, st = 0, stt = 0, sy = 0, sty = 0;
  for (int i = 0; i < LINE; i++) {
    double t = l.t[i] - 2;
    tt += t * t, ty += t * (l.y[i] - 3);
    s1 += 1, st += l.t[i], stt += l.t[i] * l.t[i], sy += l.y[i], sty += l.t[i] * l.y[i];
  }
  double b = ty / tt, cost = 0, start[] = {0, 0};
  for (int i = 0; i < LINE; i++) cost += pow(3 + b * (l.t[i] - 2) - l.y[i], 2) / 2;
  double variance = 2 * cost / (LINE - 1), determinant = s1 * stt - st * st;
  double free_b = (s1 * sty - st * sy) / determinant, free_a = (sy - free_b * st) / s1;
  const od_ls_constraints constraints = {1, 0, through_point};
  const od_ls_problem problem = {
      .m = LINE, .n = 2, .user = &l, .residuals = line_residuals, .start = start, .constraints = &constraints};
  od_ls_result *r;
  assert_int_equal(od_least_squares(&problem, NULL, &r, NULL), OD_OK);
  expect_close(r->x[1], b, 1e-9);
  expect_close(r->x[0], 3 - 2 * b, 1e-9);
  expect_close(r->sigma[1], sqrt(variance / tt), 1e-7);
  expect_close(r->sigma[0], 2 * sqrt(variance / tt), 1e-7);
  expect_close(r->covariance[1], -2 * variance / tt, 1e-7);
  assert_int_equal(r->freedom, LINE - 1);
  // The constraint's value from the data alone, and its standard deviation.
  expect_close(r->beyond[0], free_a + 2 * free_b - 3, 1e-6);
  expect_close(r->beyond_sigma[0], sqrt(variance * (stt - 4 * st + 4 * s1) / determinant), 1e-6);
  od_ls_result_free(r);
}

// Only the sum of both counts, unless one is twice the other.
static int sum_residuals(void *user, const double *x, double *r) {
  (void)user;
  r[0] = x[0] + x[1] - 2.9, r[1] = x[0] + x[1] - 3.1, r[2] = 2 * (x[0] + x[1] - 3);
  return 0;
}
static int twice(void *user, const double *x, double *c, double *C) {
  (void)user;
  c[0] = x[0] - 2 * x[1];
  if (C) C[0] = 1, C[1] = -2;
  return 0;
}

static void test_constraint_determines(void **state) {
  (void)state;
  const double start[] = {7, -1};
  const od_ls_constraints constraints = {1, 0, twice};
  od_ls_problem problem = {.m = 3, .n = 2, .residuals = sum_residuals, .start = start, .constraints = &constraints};
  od_ls_result *r;
  const od_ls_options options = {.unit_variance = true};
  assert_int_equal(od_least_squares(&problem, &options, &r, NULL), OD_OK);
  expect_close(r->x[0], 2, 1e-9);
  expect_close(r->sigma[0], 2.0 / 3 / sqrt(6), 1e-7);
  expect_close(r->sigma[1], 1.0 / 3 / sqrt(6), 1e-7);
  od_ls_result_free(r);
  problem.constraints = NULL;
  assert_int_equal(od_least_squares(&problem, &(od_ls_options){.method = OD_LS_ACTIVE_SET}, &r, NULL), OD_OK);
  assert_true(isinf(r->sigma[0]) && r->rank == 1);
  od_ls_result_free(r);
}

// x >= 1 and x <= 0.
static int contradiction(void *user, const double *x, double *c, double *C) {
  (void)user;
  c[0] = x[0] - 1, c[1] = -x[0];
  if (C) C[0] = 1, C[1] = 0, C[2] = -1, C[3] = 0;
  return 0;
}

static void test_contradiction(void **state) {
  (void)state;
  const double start[] = {7, -1};
  const od_ls_constraints constraints = {0, 2, contradiction};
  const od_ls_problem problem = {
      .m = 2, .n = 2, .residuals = disk_residuals, .start = start, .constraints = &constraints};
  od_ls_result *r;
  assert_int_equal(od_least_squares(&problem, NULL, &r, NULL), OD_NOT_CONVERGED);
  assert_int_equal(r->reason, OD_LS_STUCK);
  assert_true(r->violation > 0.1);
  od_ls_result_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_active_sets),
      cmocka_unit_test(test_bounds_are_constraints),
      cmocka_unit_test(test_disk),
      cmocka_unit_test(test_published),
      cmocka_unit_test(test_covariance),
      cmocka_unit_test(test_constraint_determines),
      cmocka_unit_test(test_contradiction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
