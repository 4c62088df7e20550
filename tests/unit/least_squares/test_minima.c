// Report of a search about its end: a minimum, or not.
//
// Oracles: known minima of test problems (Moré, Garbow and Hillstrom 1981); the Newton step of the whole Hessian, from differences of exact
// gradients, and its eigenvalues; costs of kinked functions in closed form.
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/least_squares.h"
#include "support/random_machine.h"

enum { MOST_N = 10, MOST_M = 31 };

// Residuals of each problem and their derivatives (m x n) unless J is NULL.
typedef void formula(int m, int n, const double *x, double *r, double *J);

typedef struct test_problem {
  const char *name;
  formula *f;
  int m, n;
  double start[MOST_N];
  double least[3];  // known minima of the sum of squares
} test_problem;

static void put(double *J, int n, int i, int j, double value) {
  if (J) J[i * n + j] = value;
}

static void rosenbrock(int m, int n, const double *x, double *r, double *J) {
  (void)m;
  r[0] = 10 * (x[1] - x[0] * x[0]), r[1] = 1 - x[0];
  put(J, n, 0, 0, -20 * x[0]), put(J, n, 0, 1, 10), put(J, n, 1, 0, -1), put(J, n, 1, 1, 0);
}

static void freudenstein_roth(int m, int n, const double *x, double *r, double *J) {
  (void)m;
  r[0] = -13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1], r[1] = -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1];
  put(J, n, 0, 0, 1), put(J, n, 0, 1, 10 * x[1] - 3 * x[1] * x[1] - 2);
  put(J, n, 1, 0, 1), put(J, n, 1, 1, 3 * x[1] * x[1] + 2 * x[1] - 14);
}

static void jennrich_sampson(int m, int n, const double *x, double *r, double *J) {
  for (int i = 1; i <= m; i++) {
    r[i - 1] = 2 + 2 * i - exp(i * x[0]) - exp(i * x[1]);
    for (int j = 0; j < 2; j++) put(J, n, i - 1, j, -i * exp(i * x[j]));
  }
}

static void brown_badly_scaled(int m, int n, const double *x, double *r, double *J) {
  (void)m;
  r[0] = x[0] - 1e6, r[1] = x[1] - 2e-6, r[2] = x[0] * x[1] - 2;
  const double rows[6] = {1, 0, 0, 1, x[1], x[0]};
  for (int i = 0; i < 6; i++) put(J, n, i / 2, i % 2, rows[i]);
}

static void powell_singular(int m, int n, const double *x, double *r, double *J) {
  (void)m;
  double a = x[1] - 2 * x[2], b = x[0] - x[3];
  r[0] = x[0] + 10 * x[1], r[1] = sqrt(5) * (x[2] - x[3]), r[2] = a * a, r[3] = sqrt(10) * b * b;
  const double rows[16] = {
      1, 10, 0, 0, 0, 0, sqrt(5), -sqrt(5), 0, 2 * a, -4 * a, 0, 2 * sqrt(10) * b, 0, 0, -2 * sqrt(10) * b};
  for (int i = 0; i < 16; i++) put(J, n, i / 4, i % 4, rows[i]);
}

static void brown_dennis(int m, int n, const double *x, double *r, double *J) {
  for (int i = 1; i <= m; i++) {
    double t = i / 5.0, a = x[0] + t * x[1] - exp(t), b = x[2] + x[3] * sin(t) - cos(t);
    r[i - 1] = a * a + b * b;
    put(J, n, i - 1, 0, 2 * a), put(J, n, i - 1, 1, 2 * a * t), put(J, n, i - 1, 2, 2 * b);
    put(J, n, i - 1, 3, 2 * b * sin(t));
  }
}

static void broyden_tridiagonal(int m, int n, const double *x, double *r, double *J) {
  if (J) memset(J, 0, (size_t)(m * n) * sizeof *J);
  for (int i = 0; i < n; i++) {
    r[i] = (3 - 2 * x[i]) * x[i] - (i ? x[i - 1] : 0) - (i < n - 1 ? 2 * x[i + 1] : 0) + 1;
    put(J, n, i, i, 3 - 4 * x[i]);
    if (i) put(J, n, i, i - 1, -1);
    if (i < n - 1) put(J, n, i, i + 1, -2);
  }
}

static void trigonometric(int m, int n, const double *x, double *r, double *J) {
  (void)m;
  double sum = 0;
  for (int i = 0; i < n; i++) sum += cos(x[i]);
  for (int i = 0; i < n; i++) {
    r[i] = n - sum + (i + 1) * (1 - cos(x[i])) - sin(x[i]);
    for (int j = 0; j < n; j++) put(J, n, i, j, sin(x[j]) + (i == j) * ((i + 1) * sin(x[i]) - cos(x[i])));
  }
}

static void chebyquad(int m, int n, const double *x, double *r, double *J) {
  memset(r, 0, (size_t)m * sizeof *r);
  for (int j = 0; j < n; j++) {
    double a = 1, b = 2 * x[j] - 1, c = 2 * b, da = 0, db = 2;
    for (int i = 0; i < m; i++) {
      r[i] += b / n;
      put(J, n, i, j, db / n);
      double next = c * b - a, slope = 4 * b + c * db - da;
      a = b, b = next, da = db, db = slope;
    }
  }
  for (int i = 1; i < m; i += 2) r[i] += 1 / ((i + 1.0) * (i + 1.0) - 1);
}

static void penalty(int m, int n, const double *x, double *r, double *J) {
  (void)m;
  r[n] = -0.25;
  for (int i = 0; i < n; i++) {
    r[i] = sqrt(1e-5) * (x[i] - 1), r[n] += x[i] * x[i];
    for (int j = 0; j < n; j++) put(J, n, i, j, i == j ? sqrt(1e-5) : 0);
    put(J, n, n, i, 2 * x[i]);
  }
}

static void linear_rank_1(int m, int n, const double *x, double *r, double *J) {
  for (int i = 0; i < m; i++) {
    r[i] = -1;
    for (int j = 0; j < n; j++) r[i] += (i + 1) * (j + 1) * x[j], put(J, n, i, j, (i + 1) * (j + 1));
  }
}

// A saddle at zero, with a Jacobian of rank 1; minima at -1 and 1.
static void saddle(int m, int n, const double *x, double *r, double *J) {
  (void)m;
  r[0] = 1, r[1] = x[0] * x[0] - 1, r[2] = x[1];
  const double rows[6] = {0, 0, 2 * x[0], 0, 0, 1};
  for (int i = 0; i < 6; i++) put(J, n, i / 2, i % 2, rows[i]);
}

static const test_problem problems[] = {
    {"Rosenbrock", rosenbrock, 2, 2, {-1.2, 1}, {0, 0, 0}},
    {"Freudenstein and Roth", freudenstein_roth, 2, 2, {0.5, -2}, {0, 48.98425367924, 0}},
    {"Jennrich and Sampson", jennrich_sampson, 10, 2, {0.3, 0.4}, {124.3621823556, 259.5801, 0}},
    {"Brown, badly scaled", brown_badly_scaled, 3, 2, {1, 1}, {0, 0, 0}},
    {"Powell, singular", powell_singular, 4, 4, {3, -1, 0.1, 1}, {0, 0, 0}},
    {"Brown and Dennis", brown_dennis, 20, 4, {25, 5, -5, -1}, {85822.20162636, 0, 0}},
    {"Broyden, tridiagonal", broyden_tridiagonal, 10, 10, {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, {0, 0, 0}},
    {"trigonometric", trigonometric, 10, 10, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, {0, 2.795056e-5, 0}},
    {"Chebyquad 5", chebyquad, 5, 5, {1 / 6.0, 2 / 6.0, 3 / 6.0, 4 / 6.0, 5 / 6.0}, {0, 0, 0}},
    {"Chebyquad 8",
     chebyquad,
     8,
     8,
     {1 / 9.0, 2 / 9.0, 3 / 9.0, 4 / 9.0, 5 / 9.0, 6 / 9.0, 7 / 9.0, 8 / 9.0},
     {3.516873725e-3, 0, 0}},
    {"penalty", penalty, 5, 4, {1, 2, 3, 4}, {2.2499775e-5, 0, 0}},
    {"linear of rank 1", linear_rank_1, 20, 5, {1, 1, 1, 1, 1}, {4.6341463415, 0, 0}},
    {"saddle", saddle, 3, 2, {0, 1}, {1, 0, 0}},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static int residuals(void *user, const double *x, double *r) {
  const test_problem *p = user;
  p->f(p->m, p->n, x, r, NULL);
  return 0;
}
static int jacobian(void *user, const double *x, double *J) {
  const test_problem *p = user;
  double r[MOST_M];
  p->f(p->m, p->n, x, r, J);
  return 0;
}

static double gradient(const test_problem *p, const double *x, double *g) {
  double r[MOST_M], J[MOST_M * MOST_N], cost = 0;
  p->f(p->m, p->n, x, r, J);
  memset(g, 0, (size_t)p->n * sizeof *g);
  for (int i = 0; i < p->m; i++) {
    cost += 0.5 * r[i] * r[i];
    for (int j = 0; j < p->n; j++) g[j] += J[i * p->n + j] * r[i];
  }
  return cost;
}

typedef enum truth { MINIMUM, NO_MINIMUM, UNCLEAR } truth;

// By the whole Hessian, in units of the parameters: the cost reduction of Newton's step, and the smallest eigenvalue.
static truth truth_at(const test_problem *p, const double *x) {
  int n = p->n;
  double g[MOST_N], H[MOST_N * MOST_N], value[MOST_N], size[MOST_N], cost = gradient(p, x, g), decrease = 0;
  if (cost < 1e-15) return MINIMUM;
  for (int j = 0; j < n; j++) size[j] = fmax(fabs(x[j]), 1e-3);
  for (int j = 0; j < n; j++) {
    double beside[MOST_N], up[MOST_N], down[MOST_N], h = 1e-5 * size[j];
    memcpy(beside, x, (size_t)n * sizeof *x);
    beside[j] = x[j] + h, gradient(p, beside, up);
    beside[j] = x[j] - h, gradient(p, beside, down);
    for (int i = 0; i < n; i++) H[j * n + i] = (up[i] - down[i]) / (2 * h) * size[i] * size[j];
  }
  assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', n, H, n, value), 0);
  for (int k = 0; k < n; k++) {
    double along = 0;
    for (int i = 0; i < n; i++) along += H[k * n + i] * g[i] * size[i];
    if (fabs(value[k]) > 1e-9 * value[n - 1]) decrease += along * along / (2 * fabs(value[k]));
  }
  if (value[0] < -1e-4 * value[n - 1] || decrease > 1e-6 * cost) return NO_MINIMUM;
  return value[0] > -1e-7 * value[n - 1] && decrease < 1e-8 * cost ? MINIMUM : UNCLEAR;
}

static bool is_known(const test_problem *p, double squares) {
  for (int i = 0; i < 3; i++)
    if (fabs(squares - p->least[i]) <= 1e-5 * p->least[i] + 1e-12) return true;
  return false;
}

static const od_ls_method methods[] = {OD_LS_REFLECTIVE, OD_LS_LEVENBERG_MARQUARDT, OD_LS_GAUSS_NEWTON,
                                       OD_LS_ACTIVE_SET};
enum { METHODS = sizeof methods / sizeof *methods };

// From the usual start every method ends at a known minimum, except Gauss-Newton, which may fail.
static void known_minima(void **state) {
  (void)state;
  for (int k = 0; k < PROBLEMS; k++)
    for (int i = 0; i < METHODS; i++) {
      const test_problem *p = &problems[k];
      const od_ls_problem problem = {
          .m = p->m, .n = p->n, .user = (void *)p, .residuals = residuals, .jacobian = jacobian, .start = p->start};
      const od_ls_options options = {.method = methods[i]};
      od_ls_result *r = NULL;
      od_status status = od_least_squares(&problem, &options, &r, NULL);
      assert_non_null(r);
      if (methods[i] != OD_LS_GAUSS_NEWTON && (status != OD_OK || !is_known(p, 2 * r->cost)))
        fail_msg("%s by method %d: '%s', sum of squares %.10g", p->name, (int)methods[i], od_ls_reason_text(r->reason),
                 2 * r->cost);
      if (status == OD_OK) assert_true(r->offset < 1e-3 || r->cost < 1e-15);
      od_ls_result_free(r);
    }
}

// From random starts: every minimum is reported as one. Conversely one end in a hundred may be wrongly reported as a minimum, far from all of them:
// the starts that lead there depend on the round-off of LAPACK.
static void random_starts(void **state) {
  (void)state;
  od_dice dice = {7};
  int found = 0, others = 0, wrong = 0;
  for (int k = 0; k < PROBLEMS; k++)
    for (int s = 0; s < 12; s++) {
      const test_problem *p = &problems[k];
      double start[MOST_N];
      for (int j = 0; j < p->n; j++)
        start[j] = p->start[j] * (s % 2 ? od_dice_uniform(&dice, 0, 2) : od_dice_uniform(&dice, -5, 5));
      for (int i = 0; i < METHODS; i++) {
        const od_ls_problem problem = {
            .m = p->m, .n = p->n, .user = (void *)p, .residuals = residuals, .jacobian = jacobian, .start = start};
        const od_ls_options options = {.method = methods[i]};
        od_ls_result *r = NULL;
        od_status status = od_least_squares(&problem, &options, &r, NULL);
        if (!r || r->reason == OD_LS_EVALUATIONS) {
          od_ls_result_free(r);
          continue;
        }
        truth t = truth_at(p, r->x);
        bool is_wrong = t == NO_MINIMUM && status == OD_OK, is_denied = t == MINIMUM && r->reason == OD_LS_STUCK;
        if (is_wrong || is_denied)
          print_message("%s, start %d, method %d: '%s', but it is %s; sum of squares %.10g, offset %g\n", p->name, s,
                        (int)methods[i], od_ls_reason_text(r->reason), t == MINIMUM ? "a minimum" : "none", 2 * r->cost,
                        r->offset);
        assert_false(is_denied);
        found += status == OD_OK, others += status != OD_OK, wrong += is_wrong;
        od_ls_result_free(r);
      }
    }
  print_message("%d minima, %d of them wrong; %d other ends\n", found, wrong, others);
  assert_true(found > 400 && wrong <= found / 100);
}

// ---- kinks

// r_i = |x - c_i| + 1 or similar: the cost has kinks, and its minimum is at one of them.
typedef struct kinks {
  double place, slope;  // of a kink in all residuals at once
} kinks;
static int kinked(void *user, const double *x, double *r) {
  const kinks *k = user;
  for (int i = 0; i < 5; i++) r[i] = 1 + i + (1 + k->slope * i) * fabs(x[0] - k->place);
  return 0;
}
static int kinked_jacobian(void *user, const double *x, double *J) {
  const kinks *k = user;
  for (int i = 0; i < 5; i++) J[i] = (1 + k->slope * i) * (x[0] < k->place ? -1 : 1);
  return 0;
}

// The cost rises from the kink in both directions.
static void minimum_at_a_kink(void **state) {
  (void)state;
  for (int i = 0; i < METHODS; i++)
    for (double place = 1e-3; place < 2e3; place *= 10) {
      const kinks k = {place, 0.3};
      const double start[1] = {1.7 * place};
      const od_ls_problem problem = {
          .m = 5, .n = 1, .user = (void *)&k, .residuals = kinked, .jacobian = kinked_jacobian, .start = start};
      const od_ls_options options = {.method = methods[i]};
      od_ls_result *r = NULL;
      assert_int_equal(od_least_squares(&problem, &options, &r, NULL), OD_OK);
      assert_true(r->by_neighbors);
      assert_true(fabs(r->x[0] / place - 1) < 1e-6);
      assert_true(r->offset < 1e-3);
      od_ls_result_free(r);
    }
}

// ---- plateaus

// Steps at 5 and 6: no effect below and above.
static int steps(void *user, const double *x, double *r) {
  (void)user;
  for (int i = 0; i < 3; i++) r[i] = (x[0] > 5 && x[0] < 6 ? 1 : 3) + i;
  return 0;
}
static int no_slope(void *user, const double *x, double *J) {
  (void)user, (void)x;
  memset(J, 0, 3 * sizeof *J);
  return 0;
}
// A fourth power and a constant: no rank at its minimum.
static int fourth_power(void *user, const double *x, double *r) {
  (void)user;
  r[0] = 1, r[1] = (x[0] - 2) * (x[0] - 2), r[2] = 0;
  return 0;
}
static int fourth_power_jacobian(void *user, const double *x, double *J) {
  (void)user;
  J[0] = 0, J[1] = 2 * (x[0] - 2), J[2] = 0;
  return 0;
}

static void plateaus(void **state) {
  (void)state;
  for (int i = 0; i < METHODS; i++) {
    const od_ls_options options = {.method = methods[i]};
    const double far[1] = {0.01}, at[1] = {2};
    od_ls_problem problem = {.m = 3, .n = 1, .residuals = steps, .jacobian = no_slope, .start = far};
    od_ls_result *r = NULL;
    assert_int_equal(od_least_squares(&problem, &options, &r, NULL), OD_NOT_CONVERGED);
    assert_int_equal(r->reason, OD_LS_PLATEAU);
    assert_int_equal(r->rank, 0);
    od_ls_result_free(r);
    problem =
        (od_ls_problem){.m = 3, .n = 1, .residuals = fourth_power, .jacobian = fourth_power_jacobian, .start = at};
    assert_int_equal(od_least_squares(&problem, &options, &r, NULL), OD_OK);
    assert_int_equal(r->rank, 0);
    assert_true(r->x[0] == 2);
    od_ls_result_free(r);
  }
}

// ---- last digits

// Two waves of unknown periods with noise of the same size (as in the NIST problem ENSO): Gauss-Newton steps decrease slowly. All methods agree
// in their digits.
enum { ROWS = 160 };
static double noise[ROWS];
static int waves(void *user, const double *b, double *r) {
  (void)user;
  for (int i = 0; i < ROWS; i++)
    r[i] = b[0] + b[1] * cos(i / b[2]) + b[3] * sin(i / b[2]) + b[4] * cos(i / b[5]) - noise[i];
  return 0;
}
static int waves_jacobian(void *user, const double *b, double *J) {
  (void)user;
  for (int i = 0; i < ROWS; i++) {
    double c = cos(i / b[2]), s = sin(i / b[2]), *row = J + 6 * i;
    row[0] = 1, row[1] = c, row[3] = s, row[2] = (b[1] * s - b[3] * c) * i / (b[2] * b[2]);
    row[4] = cos(i / b[5]), row[5] = b[4] * sin(i / b[5]) * i / (b[5] * b[5]);
  }
  return 0;
}

static void last_digits(void **state) {
  (void)state;
  static const double start[6] = {10, 1.5, 4.1, 1, -1.2, 7.1};
  od_dice dice = {3};
  for (int i = 0; i < ROWS; i++)
    noise[i] = 10 + 1.4 * cos(i / 4.0) + sin(i / 4.0) - 1.3 * cos(i / 7.0) + od_dice_uniform(&dice, -6, 6);
  double first[6];
  for (int i = 0; i < METHODS; i++) {
    const od_ls_problem problem = {.m = ROWS, .n = 6, .residuals = waves, .jacobian = waves_jacobian, .start = start};
    const od_ls_options options = {.method = methods[i]};
    od_ls_result *r = NULL;
    assert_int_equal(od_least_squares(&problem, &options, &r, NULL), OD_OK);
    assert_true(r->offset < 1e-13);
    for (int j = 0; j < 6; j++) {
      if (i == 0) first[j] = r->x[j];
      assert_true(fabs(r->x[j] / first[j] - 1) < 1e-10);
    }
    od_ls_result_free(r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_minima), cmocka_unit_test(random_starts),
                                     cmocka_unit_test(minimum_at_a_kink), cmocka_unit_test(plateaus),
                                     cmocka_unit_test(last_digits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
