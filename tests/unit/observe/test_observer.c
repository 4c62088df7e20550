// The observer. Oracles: a Kalman filter in full matrices, on a linear plant where both must agree to round-off; its
// two forms against each other on the hydraulic four-bar; a scan of the cost for nonlinear sensors. Also its behavior
// with bad data.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "math/dense.h"
#include "observe/guard.h"
#include "support/machines.h"
#include "support/random_machine.h"

// ---- a linear plant: two masses and a bias, x' = A x + B u + E p, y = C x + D p

enum { NX = 3, NU = 1, NP = 2, NY = 3, N = NX + NP };
static const double A[NX][NX] = {{0, 1, 0}, {-4, -0.5, 1}, {0.3, 0, -1}}, B[NX] = {0, 1, 0.2};
static const double E[NX][NP] = {{0, 0}, {1, 0}, {0, 0.5}}, C[NY][NX] = {{1, 0, 0}, {0, 0.5, 1}, {0.2, 0.3, -0.5}},
                    D[NY][NP] = {{0, 0}, {0, 0.2}, {0.1, 0}};

static int f(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  for (int i = 0; i < NX; i++) {
    dx[i] = B[i] * u[0];
    for (int j = 0; j < NX; j++) dx[i] += A[i][j] * x[j];
    for (int j = 0; j < NP; j++) dx[i] += E[i][j] * p[j];
  }
  return 0;
}
static int f_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                       double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  if (fx) memcpy(fx, A, sizeof A);
  if (fu) memcpy(fu, B, sizeof B);
  if (fp) memcpy(fp, E, sizeof E);
  return 0;
}
static int h(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u;
  for (int i = 0; i < NY; i++) {
    y[i] = 0;
    for (int j = 0; j < NX; j++) y[i] += C[i][j] * x[j];
    for (int j = 0; j < NP; j++) y[i] += D[i][j] * p[j];
  }
  return 0;
}
static int h_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx, double *hu,
                       double *hp) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  if (hx) memcpy(hx, C, sizeof C);
  if (hu) memset(hu, 0, NY * NU * sizeof *hu);
  if (hp) memcpy(hp, D, sizeof D);
  return 0;
}

// ---- the textbook filter: full matrices, inverse of the innovation covariance, trapezoidal transition

typedef double matrix[N][N];

static void product(matrix a, matrix b, matrix c) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      c[i][j] = 0;
      for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j];
    }
}
static void transposed(matrix a, matrix b) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) b[i][j] = a[j][i];
}
// Gauss-Jordan.
static void inverse(matrix a, matrix b) {
  matrix w;
  memcpy(w, a, sizeof w);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) b[i][j] = i == j;
  for (int k = 0; k < N; k++) {
    double pivot = w[k][k];
    for (int j = 0; j < N; j++) w[k][j] /= pivot, b[k][j] /= pivot;
    for (int i = 0; i < N; i++)
      if (i != k) {
        double factor = w[i][k];
        for (int j = 0; j < N; j++) w[i][j] -= factor * w[k][j], b[i][j] -= factor * b[k][j];
      }
  }
}

typedef struct textbook {
  double x[N];
  matrix P, F;
  double input[N];  // effect of u in one step (u constant)
} textbook;

// F of the trapezoidal rule: (1 - h/2 G)^-1 (1 + h/2 G) with G the matrix of the augmented system.
static void textbook_start(textbook *k, double step) {
  matrix G = {{0}}, left, right, solved;
  for (int i = 0; i < NX; i++) {
    for (int j = 0; j < NX; j++) G[i][j] = A[i][j];
    for (int j = 0; j < NP; j++) G[i][NX + j] = E[i][j];
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) left[i][j] = (i == j) - step / 2 * G[i][j], right[i][j] = (i == j) + step / 2 * G[i][j];
  inverse(left, solved);
  product(solved, right, k->F);
  for (int i = 0; i < N; i++) {
    k->input[i] = 0;
    for (int j = 0; j < NX; j++) k->input[i] += solved[i][j] * step * B[j];
  }
}

// R: the sensors' noise. Returns the normalized square of the innovations.
static double textbook_step(textbook *k, const double *u, const double *q, const double R[NY][NY], const double *y) {
  matrix T, Ft, next;
  double x[N];
  for (int i = 0; i < N; i++) {
    x[i] = k->input[i] * u[0];
    for (int j = 0; j < N; j++) x[i] += k->F[i][j] * k->x[j];
  }
  product(k->F, k->P, T);
  transposed(k->F, Ft);
  product(T, Ft, next);
  for (int i = 0; i < N; i++) next[i][i] += q[i];
  // Innovation, its covariance, gain. Missing sensors have zero rows and independent noise; the rest of the covariance
  // is filled with ones on the diagonal for the inverse.
  double H[NY][N] = {{0}}, PH[N][NY], v[NY], nis = 0;
  matrix S = {{0}}, I;
  for (int i = 0; i < NY; i++) {
    for (int j = 0; j < NX; j++) H[i][j] = isnan(y[i]) ? 0 : C[i][j];
    for (int j = 0; j < NP; j++) H[i][NX + j] = isnan(y[i]) ? 0 : D[i][j];
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < NY; j++) {
      PH[i][j] = 0;
      for (int l = 0; l < N; l++) PH[i][j] += next[i][l] * H[j][l];
    }
  for (int i = 0; i < NY; i++) {
    v[i] = isnan(y[i]) ? 0 : y[i];
    for (int j = 0; j < N; j++) v[i] -= H[i][j] * x[j];
    for (int j = 0; j < NY; j++) {
      S[i][j] = i == j || !(isnan(y[i]) || isnan(y[j])) ? R[i][j] : 0;
      for (int l = 0; l < N; l++) S[i][j] += H[i][l] * PH[l][j];
    }
  }
  for (int i = NY; i < N; i++) S[i][i] = 1;
  inverse(S, I);
  for (int i = 0; i < NY; i++)
    for (int j = 0; j < NY; j++) nis += v[i] * I[i][j] * v[j];
  memcpy(k->x, x, sizeof x);
  memcpy(k->P, next, sizeof next);
  for (int i = 0; i < N; i++)
    for (int l = 0; l < NY; l++) {
      double gain = 0;
      for (int m = 0; m < NY; m++) gain += PH[i][m] * I[m][l];
      k->x[i] += gain * v[l];
      for (int j = 0; j < N; j++) k->P[i][j] -= gain * PH[j][l];
    }
  return nis;
}

// With correlations between the sensors' noise, or without. Filters that return to earlier samples (short windows, so that
// there are many) must give the same result.
static void equals_a_textbook_filter(od_covariance_form form, bool correlated, const char *filter, bool at_once) {
  const double x0[NX] = {0.5, 0, -0.2}, p0[NP] = {0.3, -0.1}, sigma[NY] = {0.05, 0.1, 0.2}, step = 0.02;
  const double correlation[NY][NY] = {{1, 0.8, -0.3}, {0.8, 1, 0.2}, {-0.3, 0.2, 1}};
  double R[NY][NY];
  for (int i = 0; i < NY; i++)
    for (int j = 0; j < NY; j++) R[i][j] = sigma[i] * sigma[j] * (correlated || i == j ? correlation[i][j] : 0);
  const double q[N] = {1e-6, 2e-6, 1e-6, 0, 1e-8}, start[N] = {0.3, 0.2, 0.4, 1, 0.5};
  od_function fn = {.nx = NX,
                    .nu = NU,
                    .ny = NY,
                    .np = NP,
                    .x0 = x0,
                    .p = p0,
                    .f = f,
                    .h = h,
                    .f_jacobians = f_jacobians,
                    .h_jacobians = h_jacobians};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
  const double choice[3] = {64, !at_once, 0};  // of the filter with windows: window, spread, widen
  const od_observer_options options = {.filter = od_filter_find(filter),
                                       .form = form,
                                       .sensor_sigma = sigma,
                                       .sensor_covariance = correlated ? &R[0][0] : NULL,
                                       .choice = strcmp(filter, "relinearising") == 0 ? choice : NULL};
  od_observer *o = od_observer_new(plant, &options);
  textbook k = {.x = {x0[0], x0[1], x0[2], p0[0], p0[1]}};
  for (int i = 0; i < N; i++) k.P[i][i] = start[i] * start[i];
  textbook_start(&k, step);
  const double u[1] = {0.7};
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, &k.P[0][0], u), OD_OK);
  od_dice dice = {42};
  double worst = 0;
  for (int i = 0; i < 500; i++) {
    double y[NY];
    for (int j = 0; j < NY; j++) y[j] = 2 * sigma[j] * od_dice_uniform(&dice, -1, 1);
    if (i % 7 == 3) y[0] = NAN;
    if (i % 11 == 5) y[1] = NAN;
    if (i % 13 == 8) y[2] = NAN;
    if (i % 64 == 30) y[0] = y[1] = y[2] = NAN;
    double nis = textbook_step(&k, u, q, (const double(*)[NY])R, y);
    assert_int_equal(od_observer_predict(o, step, u, NULL, q), OD_OK);
    assert_int_equal(od_observer_correct(o, y), OD_OK);
    int used, there = !isnan(y[0]) + !isnan(y[1]) + !isnan(y[2]);
    worst = fmax(worst, fabs(od_observer_nis(o, &used) / fmax(nis, 1) - (nis > 1 ? 1 : nis)));
    assert_int_equal(used, there);
    const double *P = od_observer_covariance(o);
    for (int j = 0; j < N; j++) {
      double estimate = j < NX ? od_observer_state(o)[j] : od_observer_parameters(o)[j - NX];
      worst = fmax(worst, fabs(estimate - k.x[j]));
      for (int l = 0; l < N; l++) worst = fmax(worst, fabs(P[j * N + l] - k.P[j][l]));
    }
  }
  print_message("%s, %s, %s: largest difference from the textbook filter %.2g\n", filter,
                form ? "joseph" : "square root", correlated ? "correlated" : "independent", worst);
  assert_true(worst < 1e-10);
  od_observer_free(o);
  od_plant_free(plant);
}

static void equal_a_textbook_filter(od_covariance_form form) {
  for (int correlated = 0; correlated < 2; correlated++) {
    equals_a_textbook_filter(form, correlated, "iterated-ekf", false);
    equals_a_textbook_filter(form, correlated, "relinearising", false);
    equals_a_textbook_filter(form, correlated, "relinearising", true);
  }
}
static void joseph(void **state) {
  (void)state;
  equal_a_textbook_filter(OD_FORM_JOSEPH);
}
static void square_root(void **state) {
  (void)state;
  equal_a_textbook_filter(OD_FORM_SQUARE_ROOT);
}

// ---- correlated noise of nonlinear sensors

// Two constant states; two nonlinear sensors, a linear third one. Weighted: each sensor in other units, so that their
// noise is independent with sigma 1 (the rows of L^-1 for the covariance below).
static int rest(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  dx[0] = dx[1] = 0;
  return 0;
}
static const double bent_R[9] = {0.04, 0.03, 0.01, 0.03, 0.09, -0.02, 0.01, -0.02, 0.01 + 0.02};
static void whiten(double *y) {
  double L[9];
  assert_int_equal(od_cholesky(3, bent_R, L), 3);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < i; j++) y[i] -= L[3 * i + j] * y[j];
    y[i] /= L[4 * i];
  }
}
static int bent_sensors(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)t, (void)u, (void)p;
  y[0] = x[0] * x[0] + x[1];
  y[1] = x[0] * x[1];
  y[2] = x[0] - 2 * x[1];
  if (user) whiten(y);
  return 0;
}
static int rest_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                          double *fu, double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fp;
  if (fx) memset(fx, 0, 4 * sizeof *fx);
  if (fu) memset(fu, 0, 2 * sizeof *fu);
  return 0;
}
static int bent_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                          double *hu, double *hp) {
  (void)t, (void)u, (void)p, (void)hp;
  double column[2][3] = {{2 * x[0], x[1], 1}, {1, x[0], -2}};
  for (int j = 0; j < 2; j++) {
    if (user) whiten(column[j]);
    for (int i = 0; hx && i < 3; i++) hx[2 * i + j] = column[j][i];
  }
  if (hu) memset(hu, 0, 3 * sizeof *hu);
  return 0;
}

// One correction from a bad start, iterated: the same as that of a filter with the weighted sensors, whose noise is
// independent.
static void correlated_sensors_bend(void **state) {
  (void)state;
  const double x0[2] = {1.5, 0.5}, P[4] = {1, 0, 0, 1}, one[3] = {1, 1, 1}, u[1] = {0};
  double moved = 0;
  for (int form = 0; form < 2; form++) {
    double end[2][2], variance[2][4], nis[2];
    for (int weighted = 0; weighted < 2; weighted++) {
      od_function fn = {.nx = 2,
                        .nu = 1,
                        .ny = 3,
                        .x0 = x0,
                        .user = weighted ? &moved : NULL,
                        .f = rest,
                        .h = bent_sensors,
                        .f_jacobians = rest_jacobians,
                        .h_jacobians = bent_jacobians};
      od_plant *plant = NULL;
      assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
      od_observer *o = od_observer_new(plant, &(od_observer_options){.form = (od_covariance_form)form,
                                                                     .sensor_sigma = one,
                                                                     .sensor_covariance = weighted ? NULL : bent_R});
      assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, u), OD_OK);
      double y[3] = {4.2, 2.1, 0.1};
      if (weighted) whiten(y);
      assert_int_equal(od_observer_correct(o, y), OD_OK);
      memcpy(end[weighted], od_observer_state(o), sizeof end[0]);
      memcpy(variance[weighted], od_observer_covariance(o), sizeof variance[0]);
      nis[weighted] = od_observer_nis(o, NULL);
      od_observer_free(o);
      od_plant_free(plant);
    }
    print_message("iterated with correlated noise: %.6f %.6f; weighted by hand %.6f %.6f\n", end[0][0], end[0][1],
                  end[1][0], end[1][1]);
    for (int i = 0; i < 2; i++) assert_true(fabs(end[0][i] - end[1][i]) < 1e-6);
    for (int i = 0; i < 4; i++) assert_true(fabs(variance[0][i] - variance[1][i]) < 1e-6);
    assert_true(fabs(nis[0] - nis[1]) < 1e-6 * nis[1]);
    moved = end[0][0];
  }
  assert_true(fabs(moved - 1.5) > 0.2);
}

// A rejected sensor reduces the noise covariance: the same bits as with a missing sensor. A matrix that is not a
// covariance is rejected.
static void correlated_sensors_are_gated(void **state) {
  (void)state;
  const double x0[2] = {1.5, 0.5}, P[4] = {1e-2, 0, 0, 1e-2}, u[1] = {0};
  od_function fn = {.nx = 2,
                    .nu = 1,
                    .ny = 3,
                    .x0 = x0,
                    .f = rest,
                    .h = bent_sensors,
                    .f_jacobians = rest_jacobians,
                    .h_jacobians = bent_jacobians};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
  double end[2][2], spoilt[2] = {1e3, NAN};
  for (int missing = 0; missing < 2; missing++) {
    od_observer *o = od_observer_new(plant, &(od_observer_options){.gate = 5, .sensor_covariance = bent_R});
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, u), OD_OK);
    const double y[3] = {2.8, spoilt[missing], 0.6};
    assert_int_equal(od_observer_correct(o, y), OD_OK);
    assert_int_equal(od_observer_innovations(o)[1].use, missing ? OD_SENSOR_MISSING : OD_SENSOR_GATED);
    memcpy(end[missing], od_observer_state(o), sizeof end[0]);
    od_observer_free(o);
  }
  assert_memory_equal(end[0], end[1], sizeof end[0]);
  const double no[9] = {1, 2, 0, 2, 1, 0, 0, 0, 1}, lopsided[9] = {1, 0.5, 0, 0, 1, 0, 0, 0, 1};
  for (int i = 0; i < 2; i++) {
    od_observer *o = od_observer_new(plant, &(od_observer_options){.sensor_covariance = i ? lopsided : no});
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, u), OD_BAD_ARGUMENT);
    od_observer_free(o);
  }
  od_plant_free(plant);
}

// ---- the hydraulic four-bar

typedef struct twin {
  od_machine *truth, *belief;
  od_plant *real, *model;
  od_sim *sim;
  od_observer *o;
  int np;
  double P[32 * 32], q[32];
} twin;

static od_machine *variant(const char *name) {
  char file[512];
  snprintf(file, sizeof file, "%s/cases/fourbar-valve/machine.yaml", OD_SOURCE_DIR);
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  if (od_machine_load(file, &(od_load_options){.variant = name}, &machine, messages) != OD_OK)
    od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(machine);
  return machine;
}

// Three sensors; the oil is estimated, the curves are not: the model's are straight, so it is never exact.
static twin begin_twin(od_covariance_form form, double gate) {
  twin w = {.truth = variant("3-S1"), .belief = variant("wrong")};
  static const char *const sensors[] = {"cylinder.length", "P.pressure", "A.pressure"};
  static const double sigma[] = {1.12e-3, 0.15e6, 0.15e6};
  int outputs[3], real_outputs[3], parameters[8];
  for (int i = 0; i < 3; i++) {
    outputs[i] = od_test_output(w.belief, sensors[i]);
    real_outputs[i] = od_test_output(w.truth, sensors[i]);
  }
  static const char *const paths[] = {"oil.kp", "oil.k0"};
  for (int i = 0; i < 2; i++) parameters[w.np++] = od_machine_number_find(w.belief, paths[i]);
  assert_int_equal(od_machine_plant(w.truth, real_outputs, 3, NULL, 0, &w.real, NULL), OD_OK);
  assert_int_equal(od_machine_plant(w.belief, outputs, 3, parameters, w.np, &w.model, NULL), OD_OK);
  w.sim = od_sim_new(w.real);
  w.o = od_observer_new(w.model, &(od_observer_options){.form = form, .gate = gate, .sensor_sigma = sigma});
  double u[1];
  od_machine_inputs(w.truth, 0, u);
  assert_int_equal(od_sim_start(w.sim, 0, u), OD_OK);
  int n = od_plant_nx(w.model) + w.np;
  // crank angle and rate (the cylinder moves half a meter per radian), pressures, spool, oil
  const double start[8] = {0.2, 0.02, 2e6, 1e6, 1e6, 0, 100e6, 0.5}, noise[8] = {0, 1e-7, 30, 30, 30, 0, 0, 0};
  for (int i = 0; i < n; i++) w.P[i * n + i] = start[i] * start[i], w.q[i] = noise[i] * noise[i];
  assert_int_equal(od_observer_start(w.o, 0, NULL, NULL, w.P, u), OD_OK);
  return w;
}

static void end_twin(twin *w) {
  od_observer_free(w->o);
  od_sim_free(w->sim);
  od_plant_free(w->real);
  od_plant_free(w->model);
  od_machine_free(w->truth);
  od_machine_free(w->belief);
}

static double gaussian(od_dice *dice) {
  return sqrt(-2 * log(od_dice_uniform(dice, 1e-300, 1))) * cos(6.283185307179586 * od_dice_uniform(dice, 0, 1));
}

// One step of both; damage may change the sample.
static void step_twin(twin *w, int i, od_dice *dice, void (*damage)(int, double *)) {
  static const double sigma[] = {1.12e-3, 0.15e6, 0.15e6};
  double u[1], y[3];
  od_machine_inputs(w->truth, i * 1e-3, u);
  assert_int_equal(od_sim_step(w->sim, 1e-3, u), OD_OK);
  od_sim_outputs(w->sim, y);
  for (int k = 0; k < 3; k++) y[k] += sigma[k] * gaussian(dice);
  if (damage) damage(i, y);
  assert_int_equal(od_observer_predict(w->o, 1e-3, u, NULL, w->q), OD_OK);
  assert_int_equal(od_observer_correct(w->o, y), OD_OK);
}

static void forms_agree(void **state) {
  (void)state;
  twin a = begin_twin(OD_FORM_JOSEPH, 0), b = begin_twin(OD_FORM_SQUARE_ROOT, 0);
  od_dice one = {7}, two = {7};
  double worst = 0;
  for (int i = 1; i <= 2000; i++) {
    step_twin(&a, i, &one, NULL);
    step_twin(&b, i, &two, NULL);
    for (int k = 0; k < 2; k++)
      worst = fmax(worst, fabs(od_observer_parameters(a.o)[k] - od_observer_parameters(b.o)[k]) /
                              od_observer_parameter_sigma(a.o, k));
  }
  print_message("forms differ by %.2g sigma at most; kp %.4g MPa +- %.2g\n", worst,
                od_observer_parameters(a.o)[0] / 1e6, od_observer_parameter_sigma(a.o, 0) / 1e6);
  assert_true(worst < 1e-4);
  end_twin(&a);
  end_twin(&b);
}

// Dropouts, a stuck sensor, spikes and a sensor that dies.
static void spoil(int i, double *y) {
  static double stuck;
  if (i % 100 == 17) y[0] = NAN;
  if (i == 500) stuck = y[1];
  if (i > 500 && i <= 1000) y[1] = stuck;
  if (i % 250 == 3) y[2] += 50 * 0.15e6;
  if (i > 1500) y[2] = NAN;
}

static void survives_bad_data(void **state) {
  (void)state;
  twin w = begin_twin(OD_FORM_SQUARE_ROOT, 6);
  od_dice dice = {11};
  double y[3], real[3];
  for (int i = 1; i <= 2500; i++) step_twin(&w, i, &dice, spoil);
  od_sim_outputs(w.sim, real);
  od_sim_outputs(od_observer_sim(w.o), y);
  print_message("after bad data: length off by %.2g m, P by %.2g MPa; gated %ld %ld %ld\n", y[0] - real[0],
                (y[1] - real[1]) / 1e6, od_observer_gated(w.o, 0), od_observer_gated(w.o, 1),
                od_observer_gated(w.o, 2));
  assert_true(fabs(y[0] - real[0]) < 5e-3);
  assert_true(fabs(y[1] - real[1]) < 0.5e6);
  assert_true(od_observer_gated(w.o, 2) >= 5);
  end_twin(&w);
}

// ---- guards of sensors

static void guards(void **state) {
  (void)state;
  const od_guard_rules rules = {.gate = 5, .patience = 10, .frozen = 3};
  od_guard g;
  int reopen;
  od_guard_start(&g, &rules);
#define JUDGE(value, sigmas) (int)od_guard_judge(&g, &rules, value, (sigmas) * (sigmas), &reopen)
  // At first the gate is wide.
  assert_int_equal(JUDGE(1, 19), OD_SENSOR_USED);
  assert_int_equal(JUDGE(2, 21), OD_SENSOR_GATED);
  // The mean of the squares falls from 25 as exp(-n/50): when only ones come it is below 2 after 158 of them.
  int settling = 0;
  double last = 3;
  while (JUDGE(last += 1, 1) == OD_SENSOR_USED && g.mean >= 0) settling++;
  assert_in_range(settling, 150, 165);
  assert_int_equal(JUDGE(1, 4.9), OD_SENSOR_USED);
  assert_int_equal(JUDGE(2, 5.1), OD_SENSOR_GATED);
  assert_int_equal(JUDGE(3, -50), OD_SENSOR_GATED);
  assert_int_equal(JUDGE(4, 1), OD_SENSOR_USED);
  // The third equal value counts as frozen, even if it is plausible, and while it is frozen the patience does not
  // decrease.
  assert_int_equal(JUDGE(4, 1), OD_SENSOR_USED);
  for (int i = 0; i < 100; i++) assert_int_equal(JUDGE(4, i), OD_SENSOR_FROZEN);
  assert_int_equal(JUDGE(5, 1), OD_SENSOR_USED);
  // Ten times beyond the gate is the limit of the patience. Then the filter is assumed wrong, and the guard restarts.
  for (int i = 0; i < 10; i++) assert_int_equal(JUDGE(10 + i, 30), OD_SENSOR_GATED);
  assert_int_equal(JUDGE(20, 30), OD_SENSOR_USED);
  assert_int_equal(reopen, 1);
  assert_int_equal(JUDGE(21, 15), OD_SENSOR_USED);
  assert_int_equal(reopen, 0);
  assert_true(g.gated == 13 && g.frozen == 100 && g.reopened == 1);
  // Without rules all samples are used.
  const od_guard_rules none = {.patience = 10};
  od_guard_start(&g, &none);
  for (int i = 0; i < 100; i++) assert_int_equal(od_guard_judge(&g, &none, 1, 1e9, &reopen), OD_SENSOR_USED);
}

// A wrong start with standard deviations that are far too small: the sensor is rejected, then accepted with an
// innovation of one standard deviation, with both forms, and parameters keep their uncertainty until the sample is
// used.
static void reopens(void **state) {
  (void)state;
  double length[2], before[2], after[2];
  for (int form = 0; form < 2; form++) {
    twin w = begin_twin((od_covariance_form)form, 5);
    w.P[0] = 4e-6;  // the crank's angle is off by 0.2 rad
    double u[1];
    od_machine_inputs(w.truth, 0, u);
    assert_int_equal(od_observer_start(w.o, 0, NULL, NULL, w.P, u), OD_OK);
    od_dice dice = {5};
    for (int i = 1; i <= 50; i++) step_twin(&w, i, &dice, NULL);
    assert_int_equal(od_observer_gated(w.o, 0), 50);
    before[form] = od_observer_innovations(w.o)[0].sigma;
    step_twin(&w, 51, &dice, NULL);
    assert_int_equal(od_observer_reopened(w.o, 0), 1);
    assert_int_equal(od_observer_innovations(w.o)[0].use, OD_SENSOR_USED);
    after[form] = od_observer_innovations(w.o)[0].value / od_observer_innovations(w.o)[0].sigma;
    for (int i = 52; i <= 500; i++) step_twin(&w, i, &dice, NULL);
    double real[3], y[3];
    od_sim_outputs(w.sim, real);
    od_sim_outputs(od_observer_sim(w.o), y);
    length[form] = y[0] - real[0];
    assert_int_equal(od_observer_reopened(w.o, 0), 1);
    end_twin(&w);
  }
  print_message("re-opened: length off by %.2g m\n", length[0]);
  assert_true(fabs(length[0]) < 3e-3 && fabs(length[0] - length[1]) < 1e-6);
  assert_true(fabs(before[0] / before[1] - 1) < 1e-6 && fabs(fabs(after[0]) - 1) < 1e-6 &&
              fabs(after[0] - after[1]) < 1e-6);
}

// Widening: the standard deviations of states grow, those of parameters do not, with both forms.
static void doubts(void **state) {
  (void)state;
  for (int form = 0; form < 2; form++) {
    twin w = begin_twin((od_covariance_form)form, 0);
    od_dice dice = {5};
    for (int i = 1; i <= 20; i++) step_twin(&w, i, &dice, NULL);
    double old[64];
    memcpy(old, od_observer_covariance(w.o), sizeof old);
    od_observer_inflate(w.o, 3);
    const double *P = od_observer_covariance(w.o);
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++) {
        double factor = (i < 6 ? 3 : 1) * (j < 6 ? 3 : 1), size = sqrt(old[9 * i] * old[9 * j]);
        assert_true(fabs(P[8 * i + j] - factor * old[8 * i + j]) <= 1e-9 * size);
      }
    end_twin(&w);
  }
}

// ---- nonlinear sensors: y = x^2 with an uncertain prediction and an accurate sensor

static int square(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = x[0] * x[0];
  y[1] = x[1] + 0.1 * x[0] * x[0] * x[0];
  return 0;
}
static int square_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                            double *hu, double *hp) {
  (void)user, (void)t, (void)u, (void)p, (void)hu, (void)hp;
  const double rows[] = {2 * x[0], 0, 0.3 * x[0] * x[0], 1};
  if (hx) memcpy(hx, rows, sizeof rows);
  return 0;
}

// The minimum of |x - prediction|^2 + |y - h(x)|^2, each in units of its sigmas: x[1] follows from x[0], which is
// scanned.
static void least(const double *prior, const double *sigma, const double *y, const double *noise, double *best) {
  double lowest = INFINITY;
  for (int k = 0; k <= 4000000; k++) {
    double a = 0.5 + 2.0 * k / 4000000, rest_of_y = y[1] - 0.1 * a * a * a, w = 1 / (noise[1] * noise[1]),
           v = 1 / (sigma[1] * sigma[1]), b = (v * prior[1] + w * rest_of_y) / (v + w);
    double cost = pow((a - prior[0]) / sigma[0], 2) + pow((b - prior[1]) / sigma[1], 2) +
                  pow((a * a - y[0]) / noise[0], 2) + pow((rest_of_y - b) / noise[1], 2);
    if (cost < lowest) lowest = cost, best[0] = a, best[1] = b;
  }
}

static void corrections_are_repeated(void **state) {
  (void)state;
  static const double x0[] = {1, 0.2}, sigma[] = {0.5, 0.3}, noise[] = {0.01, 0.02}, y[] = {2.56, 0.8};
  const od_function fn = {.nx = 2,
                          .ny = 2,
                          .x0 = x0,
                          .f = rest,
                          .f_jacobians = rest_jacobians,
                          .h = square,
                          .h_jacobians = square_jacobians};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
  double best[2] = {0}, P[] = {sigma[0] * sigma[0], 0, 0, sigma[1] * sigma[1]};
  least(x0, sigma, y, noise, best);
  for (int form = 0; form < 2; form++) {
    const od_observer_options options = {.form = (od_covariance_form)form, .sensor_sigma = noise};
    od_observer *o = od_observer_new(plant, &options);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
    assert_int_equal(od_observer_correct(o, y), OD_OK);
    // One linear step would end at 1.78.
    for (int i = 0; i < 2; i++) assert_true(fabs(od_observer_state(o)[i] - best[i]) < 1e-4);
    // Its uncertainty is that of the sensors linearized there, and NIS refers to the prediction.
    double expected = 1 / (1 / P[0] + pow(2 * best[0] / noise[0], 2)), nis;
    int used;
    assert_true(fabs(sqrt(od_observer_covariance(o)[0] / expected) - 1) < 0.02);
    nis = od_observer_nis(o, &used);
    assert_true(used == 2 && nis > 2 && nis < 12);
    od_observer_free(o);
  }
  od_plant_free(plant);
}

// ---- a nonlinear sensor and a bound: y = x + p^2 with p at most 1.2

static int bounded(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u;
  y[0] = x[0] + p[0] * p[0];
  return 0;
}
static int bounded_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                             double *hu, double *hp) {
  (void)user, (void)t, (void)x, (void)u, (void)hu;
  if (hx) hx[0] = 1;
  if (hp) hp[0] = 2 * p[0];
  return 0;
}
static int at_rest(void *user, double t, const double *x, const double *u, const double *p, double *f) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  f[0] = 0;
  return 0;
}
static int at_rest_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                             double *fu, double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fu;
  if (fx) fx[0] = 0;
  if (fp) fp[0] = 0;
  return 0;
}

// At the bound the sensor is linearized at the bound: the correction is that of y = x + 1.44 + 2.4 (p - 1.2) from the
// prediction x = 0, p = 1, both with sigma 1, with the closed form below.
static void corrections_stop_at_bounds(void **state) {
  (void)state;
  static const double x0 = 0, p0 = 1, noise = 0.1, low = 0, high = 1.2, y = 4;
  const od_function fn = {.nx = 1,
                          .ny = 1,
                          .np = 1,
                          .x0 = &x0,
                          .p = &p0,
                          .f = at_rest,
                          .f_jacobians = at_rest_jacobians,
                          .h = bounded,
                          .h_jacobians = bounded_jacobians};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
  const double P[] = {1, 0, 0, 1}, innovation = y - (1.44 + 2.4 * (1 - 1.2)), s = 1 + 2.4 * 2.4 + noise * noise;
  for (int form = 0; form < 2; form++) {
    const od_observer_options options = {
        .form = (od_covariance_form)form, .sensor_sigma = &noise, .low = &low, .high = &high};
    od_observer *o = od_observer_new(plant, &options);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
    assert_int_equal(od_observer_correct(o, &y), OD_OK);
    assert_true(od_observer_parameters(o)[0] == high);
    assert_true(fabs(od_observer_state(o)[0] - innovation / s) < 1e-9);
    od_observer_free(o);
  }
  od_plant_free(plant);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(corrections_are_repeated),
                                     cmocka_unit_test(corrections_stop_at_bounds),
                                     cmocka_unit_test(guards),
                                     cmocka_unit_test(reopens),
                                     cmocka_unit_test(doubts),
                                     cmocka_unit_test(joseph),
                                     cmocka_unit_test(square_root),
                                     cmocka_unit_test(forms_agree),
                                     cmocka_unit_test(survives_bad_data),
                                     cmocka_unit_test(correlated_sensors_bend),
                                     cmocka_unit_test(correlated_sensors_are_gated)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
