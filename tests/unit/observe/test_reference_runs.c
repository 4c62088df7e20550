// Runs of every filter of the core with all options of the frame together: both forms of the covariance, independent and correlated sensors, a gate
// with wild readings, frozen and missing sensors, bounded parameters, full and diagonal process noise, a limited output, inputs that jump.
// Oracle: reference values of this version, because no closed form covers the options together (other tests compare each option with one).
// The numbers are sums over all samples of estimates, standard deviations, innovations, biases and outputs, each divided by its typical size, and
// the exact numbers of calls of the plant. A change of a filter changes them on purpose; the test prints the new ones. Independent of the
// reference values: sequences that are restored from a copy of the block, or started again, are the same to the bit.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "oleodyn/oleodyn.h"
#include "support/random_machine.h"

enum { NX = 3, NP = 2, N = NX + NP, NY = 3, SAMPLES = 90 };
static const double step = 0.05;
static long rates_calls, sensor_calls;

// A pendulum with an actuator of first order: x0' = x1, x1' = x2 - p0 sin(x0) - p1 x1, x2' = 5 (u - x2).
static int rates(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  rates_calls++;
  dx[0] = x[1];
  dx[1] = x[2] - p[0] * sin(x[0]) - p[1] * x[1];
  dx[2] = 5 * (u[0] - x[2]);
  return 0;
}
static int rate_slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                       double *fp) {
  (void)user, (void)t, (void)u;
  const double by_x[] = {0, 1, 0, -p[0] * cos(x[0]), -p[1], 1, 0, 0, -5}, by_p[] = {0, 0, -sin(x[0]), -x[1], 0, 0};
  if (fx) memcpy(fx, by_x, sizeof by_x);
  if (fu) fu[0] = fu[1] = 0, fu[2] = 5;
  if (fp) memcpy(fp, by_p, sizeof by_p);
  return 0;
}
static int sensors(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u;
  sensor_calls++;
  y[0] = sin(x[0]) + 0.1 * x[1];
  y[1] = p[1] * x[1] + x[2];
  y[2] = fmax(x[1], -0.2);  // limited
  return 0;
}
static int sensor_slopes(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                         double *hu, double *hp) {
  (void)user, (void)t, (void)u;
  const double by_x[] = {cos(x[0]), 0.1, 0, 0, p[1], 1, 0, x[1] > -0.2, 0};
  if (hx) memcpy(hx, by_x, sizeof by_x);
  if (hu) memset(hu, 0, NY * sizeof *hu);
  if (hp) memset(hp, 0, (size_t)(NY * NP) * sizeof *hp), hp[NP + 1] = x[1];
  return 0;
}

typedef struct sums {
  double estimate, sigma, innovation, bias, output;
} sums;
typedef struct setting {
  const char *filter;
  od_covariance_form form;
  bool correlated, full_noise, guarded;
  sums want;
  long rates, sensors;
} setting;

static double drive(int k) {
  return 1.5 * sin(0.21 * k) + (k / 20 % 2 ? 0.8 : 0);
}

// The readings of sample k, from a truth by small steps of the midpoint rule.
static void measure(double (*y)[NY]) {
  double x[NX] = {0.7, 0.3, 0}, dx[NX], half[NX];
  const double p[NP] = {3, 0.5};
  od_dice dice = {17};
  for (int k = 0; k < SAMPLES; k++) {
    for (int i = 0; i < 20 && k > 0; i++) {
      double u = drive(k - 1) + (drive(k) - drive(k - 1)) * (i + 0.5) / 20;
      rates(NULL, 0, x, &u, p, dx);
      for (int j = 0; j < NX; j++) half[j] = x[j] + step / 40 * dx[j];
      rates(NULL, 0, half, &u, p, dx);
      for (int j = 0; j < NX; j++) x[j] += step / 20 * dx[j];
    }
    sensors(NULL, 0, x, NULL, p, y[k]);
    for (int i = 0; i < NY; i++)
      for (int j = 0; j < 12; j++) y[k][i] += 0.02 * (i + 1) * od_dice_uniform(&dice, -0.5, 0.5);
    if (k % 13 == 6) y[k][1] = NAN;
    if (k % 17 == 9) y[k][0] += 1.5;
    if (k > 60 && k < 75) y[k][2] = y[60][2];
  }
}

static od_observer *begin(const od_plant *plant, const setting *s) {
  static const double sigma[NY] = {0.02, 0.04, 0.06},
                      R[NY * NY] = {4e-4, 2e-4, 1e-4, 2e-4, 1.6e-3, -3e-4, 1e-4, -3e-4, 3.6e-3}, low[NP] = {0.5, 0.45},
                      high[NP] = {3.2, 4};
  static const int frozen[NY] = {0, 0, 4};
  od_observer_options options = {
      .filter = od_filter_find(s->filter), .form = s->form, .sensor_sigma = sigma, .low = low, .high = high};
  if (s->correlated) options.sensor_covariance = R;
  if (s->guarded) options.gate = 4, options.patience = 6, options.frozen = frozen;
  od_observer *o = od_observer_new(plant, &options);
  assert_non_null(o);
  return o;
}

static void start(od_observer *o) {
  const double P[N * N] = {0.25, 0.01, 0, 0,    0, 0.01, 0.09, 0, 0.02, 0, 0,    0,   0.04,
                           0,    0,    0, 0.02, 0, 1,    0.05, 0, 0,    0, 0.05, 0.25};
  double u = drive(0);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, &u), OD_OK);
}

static void take(od_observer *o, const setting *s, int k, const double *y, sums *sum) {
  static const double q[N] = {1e-6, 1e-4, 4e-5, 1e-6, 1e-7};
  double Q[N * N] = {0}, u = drive(k), predicted[NY], sigma[NY];
  for (int i = 0; i < N; i++) Q[i * (N + 1)] = q[i];
  Q[1] = Q[N] = 4e-6;
  if (k > 0)
    assert_int_equal(od_observer_predict(o, step, &u, s->full_noise ? Q : NULL, s->full_noise ? NULL : q), OD_OK);
  if (k == 50) od_observer_inflate(o, 1.3);
  assert_int_equal(od_observer_correct(o, y), OD_OK);
  assert_int_equal(od_observer_outputs(o, predicted, sigma), OD_OK);
  const double *P = od_observer_covariance(o);
  int used;
  for (int i = 0; i < N; i++) {
    double weight = 1 + 0.3 * i;
    sum->estimate += weight * (i < NX ? od_observer_state(o)[i] : od_observer_parameters(o)[i - NX]);
    sum->bias += 1e3 * weight * fabs(od_observer_bias(o)[i]);
    for (int j = 0; j < N; j++) sum->sigma += weight * P[i * N + j] * (1 + 0.1 * j);
  }
  for (int i = 0; i < NY; i++) {
    const od_innovation *n = &od_observer_innovations(o)[i];
    if (n->use == OD_SENSOR_USED || n->use == OD_SENSOR_GATED) sum->innovation += (1 + i) * (fabs(n->value) + n->sigma);
    sum->innovation += n->use * 0.7 + 0.01 * (double)(od_observer_gated(o, i) + 2 * od_observer_frozen(o, i) +
                                                      3 * od_observer_reopened(o, i));
    sum->output += (1 + i) * (predicted[i] + 10 * sigma[i]) + od_observer_clipped(o, i);
  }
  sum->innovation += 0.01 * od_observer_nis(o, &used) + used;
}

static bool check(const od_plant *plant, const setting *s) {
  double y[SAMPLES][NY];
  measure(y);
  od_observer *o = begin(plant, s);
  size_t size = od_observer_block_size(o);
  void *copy = malloc(size);
  assert_non_null(copy);
  sums sum = {0}, middle = {0}, again = {0};
  rates_calls = sensor_calls = 0;
  start(o);
  for (int k = 0; k < SAMPLES; k++) {
    if (k == SAMPLES / 2) memcpy(copy, o, size), middle = sum;
    take(o, s, k, y[k], &sum);
  }
  long rate_count = rates_calls, sensor_count = sensor_calls;
  // From the copy, and from the start.
  memcpy(o, copy, size);
  again = middle;
  for (int k = SAMPLES / 2; k < SAMPLES; k++) take(o, s, k, y[k], &again);
  assert_memory_equal(&again, &sum, sizeof sum);
  again = (sums){0};
  start(o);
  for (int k = 0; k < SAMPLES; k++) take(o, s, k, y[k], &again);
  // Counts of rejections continue over a start, so innovations are not compared.
  assert_true(again.estimate == sum.estimate && again.sigma == sum.sigma && again.bias == sum.bias &&
              again.output == sum.output);
  const double *got = &sum.estimate, *want = &s->want.estimate;
  bool same = rate_count == s->rates && sensor_count == s->sensors;
  for (int i = 0; i < (int)(sizeof sum / sizeof(double)); i++)
    same = same && fabs(got[i] - want[i]) <= 1e-8 * (fabs(got[i]) + 1);
  print_message("    %s{\"%s\", %d, %d, %d, %d, {%.11g, %.11g, %.11g, %.11g, %.11g}, %ld, %ld},\n",
                same ? "" : "differs: ", s->filter, s->form, s->correlated, s->full_noise, s->guarded, sum.estimate,
                sum.sigma, sum.innovation, sum.bias, sum.output, rate_count, sensor_count);
  free(copy);
  od_observer_free(o);
  return same;
}

static const setting settings[] = {
    {"ekf",
     OD_FORM_SQUARE_ROOT,
     false,
     false,
     false,
     {740.71556703, 10.900649528, 632.88708663, 944.86261324, 192.2023217},
     1742,
     1510},
    {"ekf",
     OD_FORM_SQUARE_ROOT,
     true,
     true,
     true,
     {682.37312333, 11.381280423, 344.16733209, 1424.847045, 188.97624544},
     1388,
     1150},
    {"ekf",
     OD_FORM_SQUARE_ROOT,
     false,
     true,
     true,
     {685.31287799, 11.306117044, 344.2839031, 1393.9226696, 190.42681268},
     1398,
     1160},
    {"ekf",
     OD_FORM_SQUARE_ROOT,
     true,
     false,
     false,
     {784.86674582, 11.056349893, 697.6062967, 1143.0494862, 197.37000346},
     1782,
     1560},
    {"ekf",
     OD_FORM_JOSEPH,
     false,
     false,
     false,
     {740.71556703, 10.900649528, 632.88708663, 944.86261324, 192.2023217},
     1742,
     1510},
    {"ekf",
     OD_FORM_JOSEPH,
     true,
     true,
     true,
     {682.37312333, 11.381280423, 344.16733209, 1424.847045, 188.97624544},
     1388,
     1150},
    {"ekf",
     OD_FORM_JOSEPH,
     false,
     true,
     true,
     {685.31287799, 11.306117044, 344.2839031, 1393.9226696, 190.42681268},
     1398,
     1160},
    {"ekf",
     OD_FORM_JOSEPH,
     true,
     false,
     false,
     {784.86674582, 11.056349893, 697.6062967, 1143.0494862, 197.37000346},
     1782,
     1560},
    {"iterated-ekf",
     OD_FORM_SQUARE_ROOT,
     false,
     false,
     false,
     {654.41168606, 9.4130934985, 602.63635695, 1408.1907222, 192.00312199},
     1633,
     1402},
    {"iterated-ekf",
     OD_FORM_SQUARE_ROOT,
     true,
     true,
     true,
     {684.34193194, 9.5055304552, 343.92908315, 1378.1099126, 191.30356245},
     1395,
     1189},
    {"iterated-ekf",
     OD_FORM_SQUARE_ROOT,
     false,
     true,
     true,
     {682.14617882, 9.7790380557, 343.89949173, 1389.4884002, 193.05273108},
     1425,
     1186},
    {"iterated-ekf",
     OD_FORM_SQUARE_ROOT,
     true,
     false,
     false,
     {692.92659611, 9.0987381357, 650.55915511, 1244.5893126, 202.77385758},
     1688,
     1482},
    {"iterated-ekf",
     OD_FORM_JOSEPH,
     false,
     false,
     false,
     {654.41168606, 9.4130934985, 602.63635695, 1408.1907222, 192.00312199},
     1619,
     1415},
    {"iterated-ekf",
     OD_FORM_JOSEPH,
     true,
     true,
     true,
     {684.34193194, 9.5055304552, 343.92908315, 1378.1099126, 191.30356245},
     1395,
     1189},
    {"iterated-ekf",
     OD_FORM_JOSEPH,
     false,
     true,
     true,
     {682.14617882, 9.7790380557, 343.89949173, 1389.4884002, 193.05273108},
     1395,
     1189},
    {"iterated-ekf",
     OD_FORM_JOSEPH,
     true,
     false,
     false,
     {692.92659611, 9.0987381357, 650.55915511, 1244.5893126, 202.77385758},
     1688,
     1482},
    {"second-order-ekf",
     OD_FORM_SQUARE_ROOT,
     false,
     false,
     false,
     {824.3381333, 11.123617952, 670.81877033, 1332.4449856, 204.57149852},
     4376,
     1080},
    {"second-order-ekf",
     OD_FORM_SQUARE_ROOT,
     true,
     true,
     true,
     {683.91270691, 11.609065603, 344.37017995, 1280.2538375, 190.84881419},
     4466,
     1080},
    {"second-order-ekf",
     OD_FORM_SQUARE_ROOT,
     false,
     true,
     true,
     {686.41005496, 11.590214764, 344.3897436, 1260.416913, 190.38830058},
     4466,
     1080},
    {"second-order-ekf",
     OD_FORM_SQUARE_ROOT,
     true,
     false,
     false,
     {881.85969199, 11.195315772, 737.84750565, 1481.3481025, 206.68880559},
     4358,
     1080},
    {"second-order-ekf",
     OD_FORM_JOSEPH,
     false,
     false,
     false,
     {824.33812145, 11.123617837, 670.81876337, 1332.4449297, 204.57149767},
     4376,
     1080},
    {"second-order-ekf",
     OD_FORM_JOSEPH,
     true,
     true,
     true,
     {683.9127059, 11.609065526, 344.3701801, 1280.2538398, 190.84881449},
     4466,
     1080},
    {"second-order-ekf",
     OD_FORM_JOSEPH,
     false,
     true,
     true,
     {686.4100544, 11.590214654, 344.38974372, 1260.4169075, 190.38830075},
     4466,
     1080},
    {"second-order-ekf",
     OD_FORM_JOSEPH,
     true,
     false,
     false,
     {881.85967174, 11.195315678, 737.84749718, 1481.3480244, 206.6888063},
     4358,
     1080},
    {"ukf",
     OD_FORM_SQUARE_ROOT,
     false,
     false,
     false,
     {786.19013722, 14.038819859, 655.45549495, 1185.1713412, 203.06655569},
     7857,
     1980},
    {"ukf",
     OD_FORM_SQUARE_ROOT,
     true,
     true,
     true,
     {673.56549127, 13.338129913, 343.83437182, 1511.405268, 194.51570474},
     7493,
     1980},
    {"ukf",
     OD_FORM_SQUARE_ROOT,
     false,
     true,
     true,
     {676.23467969, 13.208435513, 343.90288545, 1474.8044595, 193.53693358},
     7480,
     1980},
    {"ukf",
     OD_FORM_SQUARE_ROOT,
     true,
     false,
     false,
     {745.09136822, 14.319293083, 670.74620375, 1026.0599178, 210.33408181},
     7782,
     1980},
    {"ukf",
     OD_FORM_JOSEPH,
     false,
     false,
     false,
     {786.19013722, 14.038819859, 655.45549495, 1185.1713412, 203.06655569},
     7857,
     1980},
    {"ukf",
     OD_FORM_JOSEPH,
     true,
     true,
     true,
     {673.56549127, 13.338129913, 343.83437182, 1511.405268, 194.51570474},
     7493,
     1980},
    {"ukf",
     OD_FORM_JOSEPH,
     false,
     true,
     true,
     {676.23467969, 13.208435513, 343.90288545, 1474.8044595, 193.53693358},
     7480,
     1980},
    {"ukf",
     OD_FORM_JOSEPH,
     true,
     false,
     false,
     {745.09136822, 14.319293083, 670.74620375, 1026.0599178, 210.33408181},
     7782,
     1980},
    {"error-state-ekf",
     OD_FORM_SQUARE_ROOT,
     false,
     false,
     false,
     {740.71556703, 10.900649528, 632.88708663, 944.86261324, 192.2023217},
     1742,
     1510},
    {"error-state-ekf",
     OD_FORM_SQUARE_ROOT,
     true,
     true,
     true,
     {682.37312333, 11.381280423, 344.16733209, 1424.847045, 188.97624544},
     1388,
     1150},
    {"error-state-ekf",
     OD_FORM_SQUARE_ROOT,
     false,
     true,
     true,
     {685.31287799, 11.306117044, 344.2839031, 1393.9226696, 190.42681268},
     1398,
     1160},
    {"error-state-ekf",
     OD_FORM_SQUARE_ROOT,
     true,
     false,
     false,
     {784.86674582, 11.056349893, 697.6062967, 1143.0494862, 197.37000346},
     1782,
     1560},
    {"error-state-ekf",
     OD_FORM_JOSEPH,
     false,
     false,
     false,
     {740.71556703, 10.900649528, 632.88708663, 944.86261324, 192.2023217},
     1742,
     1510},
    {"error-state-ekf",
     OD_FORM_JOSEPH,
     true,
     true,
     true,
     {682.37312333, 11.381280423, 344.16733209, 1424.847045, 188.97624544},
     1388,
     1150},
    {"error-state-ekf",
     OD_FORM_JOSEPH,
     false,
     true,
     true,
     {685.31287799, 11.306117044, 344.2839031, 1393.9226696, 190.42681268},
     1398,
     1160},
    {"error-state-ekf",
     OD_FORM_JOSEPH,
     true,
     false,
     false,
     {784.86674582, 11.056349893, 697.6062967, 1143.0494862, 197.37000346},
     1782,
     1560},
    {"relinearising",
     OD_FORM_SQUARE_ROOT,
     false,
     false,
     false,
     {643.99202238, 9.3988739494, 601.81560689, 1272.3206817, 192.86409522},
     4819,
     2269},
    {"relinearising",
     OD_FORM_SQUARE_ROOT,
     true,
     true,
     true,
     {683.33649119, 9.5454322111, 343.94010582, 1415.8081735, 190.96172672},
     2148,
     1367},
    {"relinearising",
     OD_FORM_SQUARE_ROOT,
     false,
     true,
     true,
     {681.45156974, 9.8170782748, 343.93064133, 1424.0604577, 192.77239194},
     2197,
     1365},
    {"relinearising",
     OD_FORM_SQUARE_ROOT,
     true,
     false,
     false,
     {676.90603743, 9.1392970836, 649.93594651, 1377.425454, 204.90637478},
     4713,
     2323},
    {"relinearising",
     OD_FORM_JOSEPH,
     false,
     false,
     false,
     {643.99202238, 9.3988739494, 601.81560689, 1272.3206817, 192.86409522},
     4793,
     2284},
    {"relinearising",
     OD_FORM_JOSEPH,
     true,
     true,
     true,
     {683.33649119, 9.5454322111, 343.94010582, 1415.8081735, 190.96172672},
     2148,
     1367},
    {"relinearising",
     OD_FORM_JOSEPH,
     false,
     true,
     true,
     {681.45156974, 9.8170782748, 343.93064133, 1424.0604577, 192.77239194},
     2148,
     1368},
    {"relinearising",
     OD_FORM_JOSEPH,
     true,
     false,
     false,
     {676.90603743, 9.1392970836, 649.93594651, 1377.425454, 204.90637478},
     4713,
     2323},
};

static void test_runs(void **state) {
  (void)state;
  const double x0[NX] = {0.5, 0, 0.1}, p[NP] = {2, 0.8};
  const od_function f = {.nx = NX,
                         .nu = 1,
                         .ny = NY,
                         .np = NP,
                         .x0 = x0,
                         .p = p,
                         .f = rates,
                         .f_jacobians = rate_slopes,
                         .h = sensors,
                         .h_jacobians = sensor_slopes};
  od_plant *plant = NULL;
  int wrong = 0;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) wrong += !check(plant, &settings[i]);
  od_plant_free(plant);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
