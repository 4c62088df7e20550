// Filters on linear plants of many sizes: states and parameters that fill whole groups of four, and that leave a remainder. Oracle: the
// Kalman filter of the textbooks, x = F x, P = F P F' + Q, K = P h / (h' P h + r), with dense matrices in the simplest form, and the
// transition of the trapezoidal rule, (1 - h A / 2)^-1 (1 + h A / 2), by Gauss-Jordan elimination.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/oleodyn.h"
#include "support/random_machine.h"

enum { MOST = 16, NY = 3, STEPS = 40 };
static const double step = 0.05, sigma[NY] = {0.1, 0.2, 0.05};

typedef struct plant {
  int nx, np;
  double A[MOST * MOST], B[MOST], G[MOST * MOST], H[NY * MOST], x0[MOST], p0[MOST];
} linear;

static int rates(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  const linear *s = user;
  (void)t;
  for (int i = 0; i < s->nx; i++) {
    dx[i] = s->B[i] * u[0];
    for (int j = 0; j < s->nx; j++) dx[i] += s->A[i * s->nx + j] * x[j];
    for (int j = 0; j < s->np; j++) dx[i] += s->G[i * s->np + j] * p[j];
  }
  return 0;
}
static int rate_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                       double *fp) {
  const linear *s = user;
  (void)t, (void)x, (void)u, (void)p;
  if (fx) memcpy(fx, s->A, (size_t)(s->nx * s->nx) * sizeof *fx);
  if (fu) memcpy(fu, s->B, (size_t)s->nx * sizeof *fu);
  if (fp) memcpy(fp, s->G, (size_t)(s->nx * s->np) * sizeof *fp);
  return 0;
}
static int outputs(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  const linear *s = user;
  (void)t, (void)u, (void)p;
  for (int i = 0; i < NY; i++) {
    y[i] = 0;
    for (int j = 0; j < s->nx; j++) y[i] += s->H[i * s->nx + j] * x[j];
  }
  return 0;
}
static int output_slopes(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                         double *hu, double *hp) {
  const linear *s = user;
  (void)t, (void)x, (void)u, (void)p;
  if (hx) memcpy(hx, s->H, (size_t)(NY * s->nx) * sizeof *hx);
  if (hu) memset(hu, 0, NY * sizeof *hu);
  if (hp) memset(hp, 0, (size_t)(NY * s->np) * sizeof *hp);
  return 0;
}

// a^-1 b for b (n x columns), in place, by Gauss-Jordan elimination; a is diagonally dominant.
static void solve(int n, double *a, double *b, int columns) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) {
      if (i == k) continue;
      double factor = a[i * n + k] / a[k * n + k];
      for (int j = 0; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
      for (int j = 0; j < columns; j++) b[i * columns + j] -= factor * b[k * columns + j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < columns; j++) b[i * columns + j] /= a[i * n + i];
}

// The textbook's filter: state and parameters together (n).
typedef struct book {
  int n;
  double x[MOST], P[MOST * MOST], F[MOST * MOST], b[MOST];
} book;

static void book_transition(book *k, const linear *s) {
  int nx = s->nx, n = k->n, columns = n + 1;
  double left[MOST * MOST], right[MOST * (MOST + 1)];
  for (int i = 0; i < nx; i++) {
    for (int j = 0; j < nx; j++) {
      left[i * nx + j] = (i == j) - step / 2 * s->A[i * nx + j];
      right[i * columns + j] = (i == j) + step / 2 * s->A[i * nx + j];
    }
    for (int j = 0; j < s->np; j++) right[i * columns + nx + j] = step * s->G[i * s->np + j];
    right[i * columns + n] = step / 2 * s->B[i];
  }
  solve(nx, left, right, columns);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) k->F[i * n + j] = i < nx ? right[i * columns + j] : i == j;
  for (int i = 0; i < n; i++) k->b[i] = i < nx ? right[i * columns + n] : 0;
}

static void book_predict(book *k, double inputs, const double *Q) {
  int n = k->n;
  double x[MOST] = {0}, FP[MOST * MOST];
  for (int i = 0; i < n; i++) {
    x[i] = k->b[i] * inputs;
    for (int j = 0; j < n; j++) x[i] += k->F[i * n + j] * k->x[j];
    for (int j = 0; j < n; j++) {
      FP[i * n + j] = 0;
      for (int m = 0; m < n; m++) FP[i * n + j] += k->F[i * n + m] * k->P[m * n + j];
    }
  }
  memcpy(k->x, x, sizeof x);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      k->P[i * n + j] = Q[i * n + j];
      for (int m = 0; m < n; m++) k->P[i * n + j] += FP[i * n + m] * k->F[j * n + m];
    }
}

static void book_correct(book *k, const linear *s, const double *y) {
  int n = k->n;
  for (int r = 0; r < NY; r++) {
    double Ph[MOST], S = sigma[r] * sigma[r], e = y[r];
    if (isnan(y[r])) continue;
    for (int i = 0; i < n; i++) {
      Ph[i] = 0;
      for (int j = 0; j < s->nx; j++) Ph[i] += k->P[i * n + j] * s->H[r * s->nx + j];
    }
    for (int j = 0; j < s->nx; j++) S += s->H[r * s->nx + j] * Ph[j], e -= s->H[r * s->nx + j] * k->x[j];
    for (int i = 0; i < n; i++) k->x[i] += Ph[i] * e / S;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) k->P[i * n + j] -= Ph[i] * Ph[j] / S;
  }
}

// A random covariance: L L' with a dominant diagonal. Entries between states and parameters only if `all`.
static void draw_covariance(od_dice *dice, int n, int nx, bool all, double size, double *C) {
  double L[MOST * MOST] = {0};
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      L[i * n + j] = i == j ? od_dice_uniform(dice, 0.8, 1.2) : all || i < nx ? od_dice_uniform(dice, -0.3, 0.3) : 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i * n + j] = 0;
      for (int k = 0; k < n; k++) C[i * n + j] += size * L[i * n + k] * L[j * n + k];
    }
}

static void check(int nx, int np, const char *filter, double tolerance) {
  od_dice dice = {(uint64_t)(100 * nx + np)};
  linear s = {.nx = nx, .np = np};
  book k = {.n = nx + np};
  int n = nx + np;
  for (int i = 0; i < nx; i++) {
    for (int j = 0; j < nx; j++) s.A[i * nx + j] = od_dice_uniform(&dice, -1, 1) - (i == j ? 2 : 0);
    for (int j = 0; j < np; j++) s.G[i * np + j] = od_dice_uniform(&dice, -1, 1);
    for (int r = 0; r < NY; r++) s.H[r * nx + i] = od_dice_uniform(&dice, -1, 1);
    s.B[i] = od_dice_uniform(&dice, -1, 1);
    s.x0[i] = k.x[i] = od_dice_uniform(&dice, -1, 1);
  }
  for (int i = 0; i < np; i++) s.p0[i] = k.x[nx + i] = od_dice_uniform(&dice, 1, 2);
  double Q[MOST * MOST], u = 0.5, old;
  draw_covariance(&dice, n, nx, true, 0.04, k.P);
  draw_covariance(&dice, n, nx, false, 1e-4, Q);
  book_transition(&k, &s);
  const od_function f = {.nx = nx,
                         .nu = 1,
                         .ny = NY,
                         .np = np,
                         .x0 = s.x0,
                         .p = s.p0,
                         .user = &s,
                         .f = rates,
                         .f_jacobians = rate_slopes,
                         .h = outputs,
                         .h_jacobians = output_slopes};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  const double window[] = {16, 0, 0};
  const od_observer_options options = {.filter = od_filter_find(filter),
                                       .sensor_sigma = sigma,
                                       .choice = strcmp(filter, "relinearising") == 0 ? window : NULL};
  assert_non_null(options.filter);
  od_observer *o = od_observer_new(plant, &options);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, k.P, &u), OD_OK);
  for (int i = 0; i <= STEPS; i++) {
    if (i > 0) {
      old = u, u = sin(i);
      assert_int_equal(od_observer_predict(o, step, &u, Q, NULL), OD_OK);
      book_predict(&k, old + u, Q);
    }
    double y[NY];
    for (int r = 0; r < NY; r++) y[r] = (i + 2 * r) % 5 == 3 ? (double)NAN : cos(0.3 * i + r);
    assert_int_equal(od_observer_correct(o, y), OD_OK);
    book_correct(&k, &s, y);
    const double *P = od_observer_covariance(o);
    for (int j = 0; j < n; j++) {
      double got = j < nx ? od_observer_state(o)[j] : od_observer_parameters(o)[j - nx], own = sqrt(k.P[j * (n + 1)]);
      if (!(fabs(got - k.x[j]) <= tolerance * own))
        fail_msg("%s %d+%d, sample %d: x%d %.12g, expected %.12g", filter, nx, np, i, j, got, k.x[j]);
      for (int m = 0; m < n; m++)
        if (!(fabs(P[j * n + m] - k.P[j * n + m]) <= tolerance * own * sqrt(k.P[m * (n + 1)])))
          fail_msg("%s %d+%d, sample %d: P%d,%d %.12g, expected %.12g", filter, nx, np, i, j, m, P[j * n + m],
                   k.P[j * n + m]);
    }
  }
  od_observer_free(o);
  od_plant_free(plant);
}

static void test_sizes(void **state) {
  (void)state;
  const int sizes[][2] = {{1, 0}, {1, 1}, {2, 1}, {2, 3}, {3, 1}, {4, 0}, {4, 4},
                          {5, 2}, {5, 4}, {6, 3}, {7, 1}, {8, 0}, {8, 5}, {9, 2}};
  const struct {
    const char *name;
    double tolerance;
  } filters[] = {{"ekf", 1e-9}, {"iterated-ekf", 1e-9}, {"error-state-ekf", 1e-9}, {"second-order-ekf", 1e-9},
                 {"ukf", 1e-6}, {"relinearising", 1e-6}};
  for (size_t k = 0; k < sizeof filters / sizeof *filters; k++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      check(sizes[i][0], sizes[i][1], filters[k].name, filters[k].tolerance);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
