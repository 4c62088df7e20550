// Every filter on plants with a known solution. Oracles: the Kalman filter in closed form for a linear plant, written here
// with full matrices; moments of nonlinear functions by quadrature; derivatives by hand or from exact steps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "experiment/experiment.h"
#include "filters/complex_step.h"
#include "filters/filter_types.h"
#include "oleodyn/oleodyn.h"

// ---- a linear plant
//
// An oscillator with an unknown constant force p: x1' = x2, x2' = -4 x1 - 0.4 x2 + u + p; sensors x1, x1 + x2 + p/2.

static int oscillator(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  dx[0] = x[1];
  dx[1] = -4 * x[0] - 0.4 * x[1] + u[0] + p[0];
  return 0;
}
static int oscillator_complex(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  for (int i = 0; i < 2; i++) {
    dx[i] = x[2 + i];
    dx[2 + i] = -4 * x[i] - 0.4 * x[2 + i] + u[i] + p[i];
  }
  return 0;
}
static int sensors(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u;
  y[0] = x[0];
  y[1] = x[0] + x[1] + p[0] / 2;
  return 0;
}
static int sensors_complex(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u;
  for (int i = 0; i < 2; i++) {
    y[i] = x[i];
    y[2 + i] = x[i] + x[2 + i] + p[i] / 2;
  }
  return 0;
}

// The Kalman filter of [x1, x2, p], with the transition of the trapezoidal rule.
typedef struct kalman {
  double x[3], P[3][3];
} kalman;

static const double step = 0.02, H[2][3] = {{1, 0, 0}, {1, 1, 0.5}};

// With E = (1 - h/2 A)^-1: F = E (1 + h/2 A), and forces enter by E h [0; 1] times their mean over the step.
static void kalman_predict(kalman *k, double force, const double Q[3]) {
  const double h = step, a = 1, b = -h / 2, c = 2 * h, d = 1 + 0.2 * h, det = a * d - b * c;
  const double E[2][2] = {{d / det, -b / det}, {-c / det, a / det}}, B[2][2] = {{1, h / 2}, {-2 * h, 1 - 0.2 * h}};
  double F[3][3] = {{0}, {0}, {0, 0, 1}}, x[3] = {0}, FP[3][3] = {{0}};
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) F[i][j] = E[i][0] * B[0][j] + E[i][1] * B[1][j];
    F[i][2] = E[i][1] * h;
    x[i] = F[i][2] * force;
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      x[i] += F[i][j] * k->x[j];
      for (int l = 0; l < 3; l++) FP[i][j] += F[i][l] * k->P[l][j];
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      k->P[i][j] = i == j ? Q[i] : 0;
      for (int l = 0; l < 3; l++) k->P[i][j] += FP[i][l] * F[j][l];
    }
  memcpy(k->x, x, sizeof x);
}

// All simultaneous sensors: K = P H' (H P H' + R)^-1.
static void kalman_correct(kalman *k, const double *y, const double R[2][2]) {
  bool has[2] = {isfinite(y[0]), isfinite(y[1])};
  double PH[3][2] = {{0}}, S[2][2], inverse[2][2] = {{0}}, K[3][2], e[2] = {0}, P[3][3];
  for (int s = 0; s < 2; s++) {
    e[s] = has[s] ? y[s] : 0;
    for (int j = 0; j < 3; j++) e[s] -= has[s] ? H[s][j] * k->x[j] : 0;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) PH[i][s] += k->P[i][j] * H[s][j];
  }
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2; b++) {
      S[a][b] = R[a][b];
      for (int i = 0; i < 3; i++) S[a][b] += H[a][i] * PH[i][b];
    }
  double det = S[0][0] * S[1][1] - S[0][1] * S[1][0];
  for (int a = 0; a < 2; a++)
    if (has[a] && !has[1 - a]) inverse[a][a] = 1 / S[a][a];
  if (has[0] && has[1]) {
    inverse[0][0] = S[1][1] / det, inverse[1][1] = S[0][0] / det;
    inverse[0][1] = inverse[1][0] = -S[0][1] / det;
  }
  for (int i = 0; i < 3; i++)
    for (int s = 0; s < 2; s++) K[i][s] = PH[i][0] * inverse[0][s] + PH[i][1] * inverse[1][s];
  for (int i = 0; i < 3; i++) {
    k->x[i] += K[i][0] * e[0] + K[i][1] * e[1];
    for (int j = 0; j < 3; j++) P[i][j] = k->P[i][j] - K[i][0] * PH[j][0] - K[i][1] * PH[j][1];
  }
  memcpy(k->P, P, sizeof P);
}

// The continuous filter's correction acts through the step, so the resulting forces are included: with the gain K = P H' R^-1 of the
// predicted P, the estimate moves by d, (1 - h/2 A + K H) d = K e. One sensor or two, R diagonal or not; for P see above.
static void continuous_correct(kalman *k, const double *y, const double R[2][2]) {
  const double A[3][3] = {{0, 1, 0}, {-4, -0.4, 1}, {0, 0, 0}};
  double inverse[2][2] = {{0}}, det = R[0][0] * R[1][1] - R[0][1] * R[1][0], M[3][4];
  bool has[2] = {isfinite(y[0]), isfinite(y[1])};
  kalman before = *k;
  for (int a = 0; a < 2; a++)
    if (has[a] && !has[1 - a]) inverse[a][a] = 1 / R[a][a];
  if (has[0] && has[1]) {
    inverse[0][0] = R[1][1] / det, inverse[1][1] = R[0][0] / det;
    inverse[0][1] = inverse[1][0] = -R[0][1] / det;
  }
  for (int i = 0; i < 3; i++) {
    M[i][3] = 0;
    for (int j = 0; j < 3; j++) M[i][j] = (i == j) - step / 2 * A[i][j];
    for (int s = 0; s < 2; s++) {
      double K = 0, e = has[s] ? y[s] : 0;
      for (int b = 0; b < 2; b++)
        for (int j = 0; j < 3; j++) K += k->P[i][j] * H[b][j] * inverse[b][s];
      for (int j = 0; j < 3; j++) {
        e -= has[s] ? H[s][j] * k->x[j] : 0;
        M[i][j] += K * H[s][j];
      }
      M[i][3] += K * e;
    }
  }
  // Gaussian elimination; the matrix is far from singular.
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < 3; i++) {
      double factor = M[i][c] / M[c][c];
      for (int j = 0; j < 4 && i != c; j++) M[i][j] -= factor * M[c][j];
    }
  kalman_correct(k, y, R);
  for (int i = 0; i < 3; i++) k->x[i] = before.x[i] + M[i][3] / M[i][i];
}

static double apart(od_observer *o, const kalman *k) {
  double worst = fabs(od_observer_parameters(o)[0] - k->x[2]);
  for (int i = 0; i < 2; i++) worst = fmax(worst, fabs(od_observer_state(o)[i] - k->x[i]));
  const double *P = od_observer_covariance(o);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(P[i * 3 + j] - k->P[i][j]) / sqrt(k->P[i][i] * k->P[j][j]));
  return worst;
}

// 200 steps with samples missing; returns the largest difference from the Kalman filter.
static double follow_linear(const od_plant *plant, const od_filter *filter, od_covariance_form form, bool correlated) {
  const double sigma[2] = {0.02, 0.05}, share = correlated ? 0.6 * 0.02 * 0.05 : 0;
  const double R[2][2] = {{0.02 * 0.02, share}, {share, 0.05 * 0.05}};
  const double P0[9] = {0.04, 0.01, 0, 0.01, 0.09, 0, 0, 0, 0.25}, Q[3] = {1e-7, 1e-4, 1e-6};
  // The truth starts within the filter's covariance; otherwise the relinearizing filter would widen its start.
  kalman k = {.x = {1, 0, 0.5}}, truth = {.x = {1.1, 0.1, 0.7}};
  memcpy(k.P, P0, sizeof P0);
  const od_observer_options options = {
      .filter = filter, .form = form, .sensor_sigma = sigma, .sensor_covariance = correlated ? &R[0][0] : NULL};
  od_observer *o = od_observer_new(plant, &options);
  double u = sin(0.0), worst = 0;
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P0, &u), OD_OK);
  for (int i = 1; i <= 200; i++) {
    double before = u, y[2];
    u = sin(0.1 * i);
    kalman_predict(&truth, (before + u) / 2, Q);
    y[0] = truth.x[0] + 0.02 * sin(11.0 * i);
    y[1] = truth.x[0] + truth.x[1] + truth.x[2] / 2 + 0.05 * cos(7.0 * i);
    if (i % 3 == 0) y[0] = NAN;
    if (i % 5 == 0) y[1] = NAN;
    assert_int_equal(od_observer_predict(o, step, &u, NULL, Q), OD_OK);
    kalman_predict(&k, (before + u) / 2, Q);
    assert_int_equal(od_observer_correct(o, y), OD_OK);
    if (strcmp(filter->name, "continuous-ekf") == 0)
      continuous_correct(&k, y, R);
    else
      kalman_correct(&k, y, R);
    worst = fmax(worst, apart(o, &k));
  }
  od_observer_free(o);
  return worst;
}

static void linear_plants_have_the_kalman_filter(void **state) {
  (void)state;
  static const double x0[2] = {1, 0}, p = 0.5;
  const od_function f = {.nx = 2,
                         .nu = 1,
                         .ny = 2,
                         .np = 1,
                         .x0 = x0,
                         .p = &p,
                         .f = oscillator,
                         .f_complex = oscillator_complex,
                         .h = sensors,
                         .h_complex = sensors_complex};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  for (int i = 0; od_filter_type_at(i); i++)
    for (int form = OD_FORM_SQUARE_ROOT; form <= OD_FORM_JOSEPH; form++)
      for (int correlated = 0; correlated < 2; correlated++) {
        const od_filter *filter = od_filter_type_at(i);
        double off = follow_linear(plant, filter, (od_covariance_form)form, correlated);
        print_message("%-17s form %d, correlated %d: %.1e\n", filter->name, form, correlated, off);
        assert_true(off < (strcmp(filter->name, "ukf") == 0 ? 1e-8 : 1e-10));
      }
  od_plant_free(plant);
}

// ---- a nonlinear plant
//
// x' = -x^2, sensor x^2. A trapezoidal step solves x1 = x0 - h/2 (x0^2 + x1^2).

static int square(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u, (void)p;
  dx[0] = -x[0] * x[0];
  return 0;
}
static int square_slope(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                        double *fp) {
  (void)user, (void)t, (void)u, (void)p, (void)fu, (void)fp;
  if (fx) fx[0] = -2 * x[0];
  return 0;
}
static int squared(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u, (void)p;
  y[0] = x[0] * x[0];
  return 0;
}
static int squared_slope(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                         double *hu, double *hp) {
  (void)user, (void)t, (void)u, (void)p, (void)hu, (void)hp;
  if (hx) hx[0] = 2 * x[0];
  return 0;
}

static double stepped(double x, double h) {
  return (sqrt(1 + 2 * h * x * (1 - h / 2 * x)) - 1) / h;
}

// Mean and variance of a step from a normal distribution, by a sum over +-9 standard deviations (which converges like
// quadrature of any order for such functions).
static void moments(double mean, double sigma, double h, double *out_mean, double *variance) {
  double sum = 0, first = 0, second = 0;
  for (int i = -9000; i <= 9000; i++) {
    double z = i * 1e-3, weight = exp(-z * z / 2), value = stepped(mean + sigma * z, h);
    sum += weight, first += weight * value, second += weight * value * value;
  }
  *out_mean = first / sum;
  *variance = second / sum - pow(first / sum, 2);
}

static void curved_plants_have_their_moments(void **state) {
  (void)state;
  static const double x0 = 1;
  const od_function f = {.nx = 1,
                         .ny = 1,
                         .x0 = &x0,
                         .f = square,
                         .f_jacobians = square_slope,
                         .h = squared,
                         .h_jacobians = squared_slope};
  const double P0 = 0.01, sensor = 0.05, h = 0.5, q = 1e-4, y = 1.3;
  static const char *const names[] = {"ekf", "second-order-ekf", "ukf"};
  double mean, variance, off[3][2];
  moments(1, 0.1, h, &mean, &variance);
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  for (int form = OD_FORM_SQUARE_ROOT; form <= OD_FORM_JOSEPH; form++)
    for (int i = 0; i < 3; i++) {
      const od_observer_options options = {
          .filter = od_filter_find(names[i]), .form = (od_covariance_form)form, .sensor_sigma = &sensor};
      od_observer *o = od_observer_new(plant, &options);
      // A sensor that is a parabola has its exact moments: mean m^2 + P, variance 4 m^2 P + 2 P^2.
      assert_int_equal(od_observer_start(o, 0, NULL, NULL, &P0, NULL), OD_OK);
      assert_int_equal(od_observer_correct(o, &y), OD_OK);
      double S = 4 * P0 + 2 * P0 * P0 + sensor * sensor, gain = 2 * P0 / S, value = y - 1 - P0;
      const od_innovation *innovation = od_observer_innovations(o);
      bool exact = fabs(innovation->value - value) < 1e-9 && fabs(innovation->sigma - sqrt(S)) < 1e-9 &&
                   fabs(od_observer_state(o)[0] - 1 - gain * value) < 1e-9 &&
                   fabs(od_observer_covariance(o)[0] - P0 + gain * S * gain) < 1e-9;
      assert_int_equal(exact, i > 0);
      // A step, compared with quadrature.
      assert_int_equal(od_observer_start(o, 0, NULL, NULL, &P0, NULL), OD_OK);
      assert_int_equal(od_observer_predict(o, h, NULL, NULL, &q), OD_OK);
      off[i][0] = fabs(od_observer_state(o)[0] - mean);
      off[i][1] = fabs(od_observer_covariance(o)[0] - q - variance);
      print_message("%-17s mean %.2e off, variance %.2e of %.2e off\n", names[i], off[i][0], off[i][1], variance);
      od_observer_free(o);
    }
  for (int i = 1; i < 3; i++) assert_true(off[i][0] < off[0][0] / 20 && off[i][1] < off[0][1] / 1.5);
  od_plant_free(plant);
}

// ---- sigma points at impossible states

// x' = -sqrt(x), defined only for positive x.
static int emptying(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u, (void)p;
  if (x[0] < 0) return 1;
  dx[0] = -sqrt(x[0]);
  return 0;
}
static int emptying_slope(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                          double *fu, double *fp) {
  (void)user, (void)t, (void)u, (void)p, (void)fu, (void)fp;
  if (x[0] < 0) return 1;
  if (fx) fx[0] = -0.5 / sqrt(x[0]);
  return 0;
}

static void impossible_sigma_points_come_nearer(void **state) {
  (void)state;
  static const double x0 = 1;
  const od_function f = {.nx = 1, .ny = 1, .x0 = &x0, .f = emptying, .f_jacobians = emptying_slope};
  const double sensor = 1;
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  const od_observer_options options = {.filter = od_filter_find("ukf"), .sensor_sigma = &sensor};
  od_observer *o = od_observer_new(plant, &options);
  // Standard deviations of the state, up to values for which halving does not help.
  for (double sigma = 0.5; sigma < 10; sigma *= 2) {
    double P = sigma * sigma;
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, &P, NULL), OD_OK);
    assert_int_equal(od_observer_predict(o, 0.01, NULL, NULL, NULL), OD_OK);
    assert_true(isfinite(od_observer_state(o)[0]) && od_observer_covariance(o)[0] > 0.9 * P);
  }
  double far = 1e6;
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, &far, NULL), OD_OK);
  assert_true(od_observer_predict(o, 0.01, NULL, NULL, NULL) != OD_OK);
  od_observer_free(o);
  od_plant_free(plant);
}

// ---- sensors that are accepted again

// A wrong state with a standard deviation that is far too small: after the patience every filter increases it and finds
// the true state.
static void every_filter_opens_again(void **state) {
  (void)state;
  static const double x0[2] = {1, 0}, p = 0.5;
  const od_function f = {.nx = 2,
                         .nu = 1,
                         .ny = 2,
                         .np = 1,
                         .x0 = x0,
                         .p = &p,
                         .f = oscillator,
                         .f_complex = oscillator_complex,
                         .h = sensors,
                         .h_complex = sensors_complex};
  const double sigma[2] = {0.01, 0.01}, P0[9] = {1e-6, 0, 0, 0, 1e-6, 0, 0, 0, 1e-8}, Q[3] = {1e-8, 1e-8, 0};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  for (int i = 0; od_filter_type_at(i); i++) {
    const od_observer_options options = {
        .filter = od_filter_type_at(i), .sensor_sigma = sigma, .gate = 3, .patience = 10};
    od_observer *o = od_observer_new(plant, &options);
    od_sim *sim = od_sim_new(plant);
    double u = 0, x[2] = {3, 1}, y[2];
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P0, &u), OD_OK);
    assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
    assert_int_equal(od_sim_set(sim, 0, x, &u), OD_OK);
    for (int k = 1; k <= 300; k++) {
      assert_int_equal(od_sim_step(sim, step, &u), OD_OK);
      assert_int_equal(od_sim_outputs(sim, y), OD_OK);
      y[0] += 0.01 * sin(17.0 * k), y[1] += 0.01 * cos(13.0 * k);
      assert_int_equal(od_observer_predict(o, step, &u, NULL, Q), OD_OK);
      assert_int_equal(od_observer_correct(o, y), OD_OK);
    }
    print_message("%-17s gated %ld, reopened %ld, off %.1e %.1e\n", od_filter_type_at(i)->name, od_observer_gated(o, 0),
                  od_observer_reopened(o, 0), fabs(od_observer_state(o)[0] - od_sim_state(sim)[0]),
                  fabs(od_observer_state(o)[1] - od_sim_state(sim)[1]));
    assert_true(od_observer_gated(o, 0) > 0 && od_observer_reopened(o, 0) > 0);
    for (int k = 0; k < 2; k++) assert_true(fabs(od_observer_state(o)[k] - od_sim_state(sim)[k]) < 0.05);
    od_sim_free(sim);
    od_observer_free(o);
  }
  od_plant_free(plant);
}

// ---- options

static void options_are_checked(void **state) {
  (void)state;
  const double sigma = 1, low[] = {1, 0.5, 0}, beyond[] = {100, NAN, NAN}, fine[] = {0.5, NAN, NAN};
  od_observer_options options = {.filter = od_filter_find("ukf"), .sensor_sigma = &sigma, .choice = low};
  assert_int_equal(od_observer_check(&options, NULL), OD_BAD_ARGUMENT);
  options.choice = beyond;
  assert_int_equal(od_observer_check(&options, NULL), OD_BAD_ARGUMENT);
  options.choice = fine;
  assert_int_equal(od_observer_check(&options, NULL), OD_OK);
  options.choice = (const double[]){0.5, 0.25, NAN};  // beta is the square of alpha
  assert_int_equal(od_observer_check(&options, NULL), OD_OK);
  options.choice = (const double[]){0.5, 0.2499, NAN};
  assert_int_equal(od_observer_check(&options, NULL), OD_BAD_ARGUMENT);
  // Numbers out of range and indices of words that do not exist: the message has option, value and range.
  static const struct {
    const char *filter;
    double choice[3];
    const char *text;
  } wrong[] = {
      {"ukf", {100, NAN, NAN}, "the option 'alpha' of the filter 'ukf' is 100; expected a number from"},
      {"relinearising",
       {1e300, 1, 0},
       "the option 'window' of the filter 'relinearising' is 1e+300; expected a number"},
      {"relinearising",
       {1024, 2, 0},
       "'spread' of the filter 'relinearising' is 2; expected the index of a word, from 0 to 1"},
      {"relinearising", {1024, -1, 0}, "'spread' of the filter 'relinearising' is -1; expected the index of a word"},
      {"relinearising", {1024, 0.5, 0}, "'spread' of the filter 'relinearising' is 0.5; expected the index of a word"},
      {"relinearising", {1024, NAN, 0}, "'spread' of the filter 'relinearising' is nan; expected the index of a word"},
      {"relinearising", {1024, 1, 1e300}, "'widen' of the filter 'relinearising' is 1e+300; expected the index"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    od_error err = {0};
    options = (od_observer_options){.filter = od_filter_find(wrong[i].filter), .choice = wrong[i].choice};
    assert_int_equal(od_observer_check(&options, &err), OD_BAD_ARGUMENT);
    if (!strstr(err.text, wrong[i].text)) fail_msg("%s", err.text);
  }
  options.choice = (const double[]){1024, 1, 1};
  assert_int_equal(od_observer_check(&options, NULL), OD_OK);
  options =
      (od_observer_options){.filter = od_filter_type_find("continuous-ekf"), .integrator = od_integrator_find("rk4")};
  assert_int_equal(od_observer_check(&options, NULL), OD_BAD_ARGUMENT);
  // An observer with such options does not start.
  static const double x0 = 1;
  const od_function f = {.nx = 1, .ny = 1, .x0 = &x0, .f = square, .f_jacobians = square_slope};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  options = (od_observer_options){.filter = od_filter_find("ukf"), .sensor_sigma = &sigma, .choice = low};
  od_observer *o = od_observer_new(plant, &options);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, &sigma, NULL), OD_BAD_ARGUMENT);
  od_observer_free(o);
  // Without a complex function there are no complex steps.
  options = (od_observer_options){.filter = od_filter_type_find("complex-step-ekf"), .sensor_sigma = &sigma};
  o = od_observer_new(plant, &options);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, &sigma, NULL), OD_OK);
  assert_int_equal(od_observer_predict(o, 0.1, NULL, NULL, NULL), OD_NOT_AVAILABLE);
  od_observer_free(o);
  od_plant_free(plant);
}

// ---- machines

static od_experiment *load(const char *file) {
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  if (od_experiment_load(file, NULL, &e, messages) != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(e);
  return e;
}

// Complex steps through whole steps of the hydraulic four-bar, compared with the exact derivatives: each row relative to its largest
// entry, with columns in units of the start's standard deviations.
static void complex_steps_are_exact(void **state) {
  (void)state;
  od_experiment *e = load(OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml");
  od_plant *plant = NULL;
  assert_int_equal(od_experiment_plant(e, &plant, NULL), OD_OK);
  int nx = od_plant_nx(plant), np = plant->np, n = nx + np;
  double *A = calloc((size_t)(4 * nx * n), sizeof *A), *B = A + nx * nx, *Ac = B + nx * np, *Bc = Ac + nx * nx, u[8];
  void *memory = calloc(1, od_sim_complex_size(plant));
  od_sim *sim = od_sim_new(plant), *twin = od_sim_new(plant);
  double worst = 0;
  od_machine_inputs(e->truth, 0, u);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_int_equal(od_sim_start(twin, 0, u), OD_OK);
  for (int k = 1; k <= 600; k++) {
    od_machine_inputs(e->truth, 2e-3 * k, u);
    assert_int_equal(od_sim_step_with_jacobians(sim, 2e-3, u, A, NULL, NULL, B), OD_OK);
    assert_int_equal(od_sim_step_with_complex_steps(twin, 2e-3, u, memory, Ac, Bc), OD_OK);
    for (int i = 0; i < nx; i++) {
      double largest = 0, off = 0;
      for (int j = 0; j < n; j++) {
        double sigma = sqrt(e->covariance[j * (n + 1)]), unit = sigma > 0 ? sigma : 1;
        double a = j < nx ? A[i * nx + j] : B[i * np + j - nx], c = j < nx ? Ac[i * nx + j] : Bc[i * np + j - nx];
        largest = fmax(largest, unit * fabs(c));
        off = fmax(off, unit * fabs(a - c));
      }
      worst = fmax(worst, off / largest);
    }
  }
  print_message("complex steps and exact derivatives: %.1e apart\n", worst);
  assert_true(worst < 1e-9);
  od_sim_free(sim);
  od_sim_free(twin);
  free(memory);
  free(A);
  od_plant_free(plant);
  od_experiment_free(e);
}

// The error-state filter's covariance by hand: positions grow by rates, rates only by noise.
static void errors_follow_kinematics(void **state) {
  (void)state;
  od_experiment *e = load(OD_SOURCE_DIR "/cases/fourbar-observer/gyro.experiment.yaml");
  od_plant *plant = NULL;
  assert_int_equal(od_experiment_plant(e, &plant, NULL), OD_OK);
  assert_int_equal(od_plant_nx(plant), 2);
  const double sigma[3] = {1, 1, 1}, P[4] = {0.04, 0.01, 0.01, 0.09}, q[2] = {1e-5, 1e-3}, h = 5e-3;
  const double expected[4] = {0.04 + 2 * h * 0.01 + h * h * 0.09 + 1e-5, 0.01 + h * 0.09, 0.01 + h * 0.09, 0.09 + 1e-3};
  const double exact = 1;
  for (int k = 0; k < 3; k++) {
    const od_observer_options options = {.filter = od_filter_find(k == 2 ? "ekf" : "error-state-ekf"),
                                         .sensor_sigma = sigma,
                                         .choice = k == 1 ? &exact : NULL};
    static double transition[4];
    double off = 0, same = 0;
    od_observer *o = od_observer_new(plant, &options);
    assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, NULL), OD_OK);
    assert_int_equal(od_observer_predict(o, h, NULL, NULL, q), OD_OK);
    for (int i = 0; i < 4; i++) off = fmax(off, fabs(od_observer_covariance(o)[i] - expected[i]));
    for (int i = 0; i < 4; i++) same = fmax(same, fabs(od_observer_covariance(o)[i] - transition[i]));
    if (k == 0) assert_true(off < 1e-15);
    if (k > 0) assert_true(off > 1e-7);
    if (k == 2) assert_true(same < 1e-15);
    memcpy(transition, od_observer_covariance(o), sizeof transition);
    od_observer_free(o);
  }
  od_plant_free(plant);
  od_experiment_free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_plants_have_the_kalman_filter),
      cmocka_unit_test(curved_plants_have_their_moments),
      cmocka_unit_test(impossible_sigma_points_come_nearer),
      cmocka_unit_test(every_filter_opens_again),
      cmocka_unit_test(options_are_checked),
      cmocka_unit_test(complex_steps_are_exact),
      cmocka_unit_test(errors_follow_kinematics),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
