// The relinearizing filter on a window with several states, parameters and sensors, correlated noises, parameters that drift, missing
// readings, and a prior in states or in outputs. Oracle: the best trajectory by the least-squares library over the initial state, the
// parameters and all noises, each in its standard deviations; the integrator's rule is written here again.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/least_squares.h"
#include "oleodyn/oleodyn.h"
#include "support/random_machine.h"

enum { NX = 2, NP = 2, N = NX + NP, NY = 3, SAMPLES = 16, UNKNOWNS = N * (SAMPLES + 1) };
static const double step = 0.1;

// A swinging machine: x0' = x1, x1' = u - p0 sin(x0) - p1 x1^3.
static int rates(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  dx[0] = x[1];
  dx[1] = u[0] - p[0] * sin(x[0]) - p[1] * x[1] * x[1] * x[1];
  return 0;
}
static int rate_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                       double *fp) {
  (void)user, (void)t, (void)u;
  const double by_x[] = {0, 1, -p[0] * cos(x[0]), -3 * p[1] * x[1] * x[1]};
  const double by_p[] = {0, 0, -sin(x[0]), -x[1] * x[1] * x[1]};
  if (fx) memcpy(fx, by_x, sizeof by_x);
  if (fu) fu[0] = 0, fu[1] = 1;
  if (fp) memcpy(fp, by_p, sizeof by_p);
  return 0;
}
static int sensors(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u;
  y[0] = x[0] + 0.3 * x[0] * x[0];
  y[1] = p[0] * x[0] * x[1];
  y[2] = x[1] + 0.2 * x[0];
  return 0;
}
static int sensor_slopes(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                         double *hu, double *hp) {
  (void)user, (void)t, (void)u;
  const double by_x[] = {1 + 0.6 * x[0], 0, p[0] * x[1], p[0] * x[0], 0.2, 1};
  if (hx) memcpy(hx, by_x, sizeof by_x);
  if (hu) memset(hu, 0, NY * sizeof *hu);
  if (hp) {
    memset(hp, 0, (size_t)(NY * NP) * sizeof *hp);
    hp[NP] = x[0] * x[1];
  }
  return 0;
}

static const double start_x[] = {0.6, 0.3}, start_p[] = {2, 0.4}, sigma[] = {0.01, 0.03, 0.02};
// Covariances: of the prior, of the noise of a step, and of the prior in the outputs 2 and 0.
static const double prior[] = {0.04,  0.01,  0.004, 0,      //
                               0.01,  0.09,  0,     0.006,  //
                               0.004, 0,     0.16,  0.01,   //
                               0,     0.006, 0.01,  0.04};
static const double noise[] = {2e-5, 1e-5, 0,    0,  //
                               1e-5, 4e-5, 0,    0,  //
                               0,    0,    1e-3, 0,  //
                               0,    0,    0,    4e-4};
static const int declared[] = {2, 0};
static const double declared_C[] = {0.09, 0.02, 0.02, 0.04};

static double input(int k) {
  return 1.5 * cos(0.7 * k);
}

// Cholesky's factor, by the textbook.
static void factor(int n, const double *a, double *L) {
  memset(L, 0, (size_t)(n * n) * sizeof *L);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = a[i * n + j];
      for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
    }
}

// A step of the trapezoidal rule, by fixed-point iteration.
static void rule(double *x, const double *p, int k) {
  const double u[] = {input(k - 1), input(k)};
  double old[NX], f0[NX], f1[NX];
  memcpy(old, x, sizeof old);
  rates(NULL, 0, old, u, p, f0);
  for (int round = 0; round < 60; round++) {
    rates(NULL, 0, x, u + 1, p, f1);
    for (int i = 0; i < NX; i++) x[i] = old[i] + step / 2 * (f0[i] + f1[i]);
  }
}

typedef struct window {
  double y[(SAMPLES + 1) * NY];
  bool in_outputs, drifts;
} window;

// The state of the outputs 2 and 0, in closed form.
static void state_of_outputs(const double *y, double *x) {
  x[0] = (sqrt(1 + 1.2 * y[1]) - 1) / 0.6;
  x[1] = y[0] - 0.2 * x[0];
}

// The state and parameters of the unknowns z at sample k.
static void trajectory(const window *w, const double *z, int last, double *x, double *p, double *r) {
  double L[N * N], noise_L[N * N];
  factor(N, prior, L);
  factor(N, noise, noise_L);
  if (w->in_outputs) {  // states and parameters are independent in this case
    double C[4], y[NY], declared_value[2];
    factor(2, declared_C, C);
    sensors(NULL, 0, start_x, NULL, start_p, y);
    for (int i = 0; i < 2; i++) declared_value[i] = y[declared[i]] + C[i * 2] * z[0] + C[i * 2 + 1] * z[1];
    state_of_outputs(declared_value, x);
    for (int i = 0; i < NP; i++) p[i] = start_p[i] + sqrt(prior[(NX + i) * (N + 1)]) * z[NX + i];
  } else {
    double moved[N] = {0};
    for (int i = 0; i < N; i++)
      for (int j = 0; j <= i; j++) moved[i] += L[i * N + j] * z[j];
    for (int i = 0; i < NX; i++) x[i] = start_x[i] + moved[i];
    for (int i = 0; i < NP; i++) p[i] = start_p[i] + moved[NX + i];
  }
  for (int k = 0; k <= last; k++) {
    const double *own = z + N * k;
    if (k > 0) {
      rule(x, p, k);
      for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
          double by = noise_L[i * N + j] * own[j];
          if (i < NX) x[i] += by;
          if (i >= NX && w->drifts) p[i - NX] += by;
        }
    }
    double y[NY];
    sensors(NULL, 0, x, NULL, p, y);
    for (int i = 0; r && i < NY; i++) {
      double read = w->y[k * NY + i];
      r[k * NY + i] = isnan(read) ? 0 : (read - y[i]) / sigma[i];
    }
  }
}

static int residuals(void *user, const double *z, double *r) {
  double x[NX], p[NP];
  memcpy(r, z, UNKNOWNS * sizeof *r);
  trajectory(user, z, SAMPLES, x, p, r + UNKNOWNS);
  return 0;
}

// Readings of a machine with another start and other parameters.
static void measure(window *w) {
  od_dice dice = {11};
  double x[] = {0.75, 0.1}, p[] = {2.4, 0.3}, y[NY];
  for (int k = 0; k <= SAMPLES; k++) {
    if (k > 0) rule(x, p, k);
    sensors(NULL, 0, x, NULL, p, y);
    for (int i = 0; i < NY; i++)
      w->y[k * NY + i] = (k + 2 * i) % 7 == 3 ? (double)NAN : y[i] + sigma[i] * od_dice_uniform(&dice, -1.5, 1.5);
  }
}

// The covariance of the prior. In outputs: the linearized covariance of the states, without correlation with the parameters.
static void prior_of(const window *w, double *P) {
  memcpy(P, prior, sizeof prior);
  if (!w->in_outputs) return;
  double hx[NY * NX], G[4];
  sensor_slopes(NULL, 0, start_x, NULL, start_p, hx, NULL, NULL);
  const double *a = hx + declared[0] * NX, *b = hx + declared[1] * NX, det = a[0] * b[1] - a[1] * b[0];
  const double inverse[] = {b[1] / det, -a[1] / det, -b[0] / det, a[0] / det};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) G[i * 2 + j] = inverse[i * 2] * declared_C[j] + inverse[i * 2 + 1] * declared_C[2 + j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      if (i < NX && j < NX) P[i * N + j] = G[i * 2] * inverse[j * 2] + G[i * 2 + 1] * inverse[j * 2 + 1];
      if ((i < NX) != (j < NX) || (i >= NX && i != j)) P[i * N + j] = 0;
    }
}

static od_plant *make_plant(void) {
  const od_function f = {.nx = NX,
                         .nu = 1,
                         .ny = NY,
                         .np = NP,
                         .x0 = start_x,
                         .p = start_p,
                         .f = rates,
                         .f_jacobians = rate_slopes,
                         .h = sensors,
                         .h_jacobians = sensor_slopes};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  return plant;
}

// off, wrong: limits of the errors of the estimate, in standard deviations, and of the covariances, relative to them.
static void compare(bool in_outputs, bool drifts, double off, double wrong) {
  window w = {.in_outputs = in_outputs, .drifts = drifts};
  double begin[UNKNOWNS] = {0}, x[NX], p[NP], P[N * N], Q[N * N];
  measure(&w);
  const od_ls_problem problem = {
      .m = UNKNOWNS + (SAMPLES + 1) * NY, .n = UNKNOWNS, .user = &w, .residuals = residuals, .start = begin};
  od_ls_result *best = NULL;
  od_error err = {0};
  assert_int_equal(od_least_squares(&problem, &(od_ls_options){.unit_variance = true}, &best, &err), OD_OK);
  trajectory(&w, best->x, SAMPLES, x, p, NULL);
  prior_of(&w, P);
  memcpy(Q, noise, sizeof Q);
  for (int i = NX; i < N && !drifts; i++) Q[i * (N + 1)] = 0;
  od_plant *plant = make_plant();
  const od_observer_options options = {
      .filter = od_filter_find("relinearising"), .sensor_sigma = sigma, .choice = (const double[]){SAMPLES, 0, 0}};
  od_observer *o = od_observer_new(plant, &options);
  double u = input(0), worst = 0;
  if (in_outputs) assert_int_equal(od_observer_declare_start(o, 2, declared, declared_C), OD_OK);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, &u), OD_OK);
  for (int k = 0; k <= SAMPLES; k++) {
    u = input(k);
    if (k > 0) assert_int_equal(od_observer_predict(o, step, &u, Q, NULL), OD_OK);
    assert_int_equal(od_observer_correct(o, w.y + k * NY), OD_OK);
  }
  const double *C = od_observer_covariance(o);
  for (int i = 0; i < N; i++) {
    double got = i < NX ? od_observer_state(o)[i] : od_observer_parameters(o)[i - NX], want = i < NX ? x[i] : p[i - NX];
    worst = fmax(worst, fabs(got - want) / sqrt(C[i * (N + 1)]));
  }
  // The covariance of the end, from the covariance of the unknowns by differences of the trajectory.
  static double gradient[N][UNKNOWNS];
  double spread = 0;
  for (int j = 0; j < UNKNOWNS; j++) {
    double moved[UNKNOWNS], at[2][N];
    for (int side = 0; side < 2; side++) {
      memcpy(moved, best->x, sizeof moved);
      moved[j] += side ? 1e-4 : -1e-4;
      trajectory(&w, moved, SAMPLES, at[side], at[side] + NX, NULL);
    }
    for (int i = 0; i < N; i++) gradient[i][j] = (at[1][i] - at[0][i]) / 2e-4;
  }
  for (int i = 0; i < N; i++)
    for (int other = 0; other < N; other++) {
      double sum = 0;
      for (int j = 0; j < UNKNOWNS; j++)
        for (int k = 0; k < UNKNOWNS; k++)
          sum += gradient[i][j] * best->covariance[j * UNKNOWNS + k] * gradient[other][k];
      spread = fmax(spread, fabs(C[i * N + other] - sum) / sqrt(C[i * (N + 1)] * C[other * (N + 1)]));
    }
  print_message("off by %.3g sigmas, covariances by %.3g\n", worst, spread);
  assert_true(worst < off);
  assert_true(spread < wrong);
  od_observer_free(o);
  od_plant_free(plant);
  od_ls_result_free(best);
}

static void test_prior_in_states(void **state) {
  (void)state;
  compare(false, true, 2e-3, 2e-3);
  compare(false, false, 2e-3, 5e-3);
}

static void test_prior_in_outputs(void **state) {
  (void)state;
  compare(true, true, 5e-3, 2e-2);
  compare(true, false, 5e-3, 4e-2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_prior_in_states), cmocka_unit_test(test_prior_in_outputs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
