// Identifiability of parameters from data.
//
// Oracles: small models whose null directions and Cramer-Rao bounds are known in closed form; the nine-state servo, in
// which K_c and C_tc enter as their sum, and one factor can be moved between the pressure and its effects; its bounds
// from another program, to two digits.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "identify/identifiability.h"
#include "predict/predict.h"
#include "oracle/fin_servo.h"

static od_identifiability *identify(int rows, int columns, const double *J, const double *value, double sigma) {
  od_identifiability *id = NULL;
  od_error error = {0};
  const od_sensitivities s = {.rows = rows, .columns = columns, .J = J, .value = value, .sigma = sigma};
  if (od_identifiability_new(&s, &id, &error) != OD_OK) fail_msg("%s", error.text);
  return id;
}

static void assert_says(const od_identifiability *id, int k, const char *const *names, const char *want) {
  char text[400];
  int length = od_identifiability_null_text(id, k, names, text, sizeof text);
  assert_string_equal(text, want);
  assert_int_equal(length, (int)strlen(want));
  char little[10];
  assert_int_equal(od_identifiability_null_text(id, k, names, little, sizeof little), length);
  assert_true(strlen(little) == 9 && strncmp(little, want, 9) == 0);
}

// y = a + b t: the bounds of a straight line.
static void straight_line(void **state) {
  (void)state;
  enum { N = 50 };
  double J[2 * N], value[2] = {3, -0.5}, St = 0, Stt = 0, sigma = 0.2;
  for (int i = 0; i < N; i++) J[2 * i] = 1, J[2 * i + 1] = 0.1 * i, St += 0.1 * i, Stt += 0.01 * i * i;
  od_identifiability *id = identify(N, 2, J, value, sigma);
  double det = N * Stt - St * St;
  assert_int_equal(id->nulls, 0);
  assert_int_equal(id->weak, 0);
  assert_true(fabs(id->sigma[0] / (sigma * sqrt(Stt / det)) - 1) < 1e-12);
  assert_true(fabs(id->sigma[1] / (sigma * sqrt(N / det)) - 1) < 1e-12);
  // The line's value at t: variance sigma^2 (Stt - 2 t St + t^2 N) / det.
  double at[2] = {1, 7};
  assert_true(fabs(od_identifiability_sigma(id, at) / (sigma * sqrt((Stt - 14 * St + 49 * N) / det)) - 1) < 1e-12);
  // Singular values: their squares are the eigenvalues of the scaled information.
  double a = N * 9 / (sigma * sigma), b = St * 1.5 / (sigma * sigma), c = Stt * 0.25 / (sigma * sigma);
  double sum = a + c, root = sqrt((a - c) * (a - c) + 4 * b * b);
  assert_true(fabs(id->singular[0] * id->singular[0] / ((sum + root) / 2) - 1) < 1e-12);
  assert_true(fabs(id->singular[1] * id->singular[1] / ((sum - root) / 2) - 1) < 1e-10);
  od_identifiability_free(id);
}

// A direction hidden by noise is weak, not null.
static void noise_hides(void **state) {
  (void)state;
  static const char *const names[2] = {"gain", "lag"};
  double J[6] = {1, 0, 0, 1e-3, 1, 1e-3}, value[2] = {1, 1};
  od_identifiability *id = identify(3, 2, J, value, 0.01);
  char text[200];
  assert_int_equal(id->nulls, 0);
  assert_int_equal(id->weak, 1);
  assert_true(id->sigma[1] > 1 && isfinite(id->sigma[1]));
  od_identifiability_weak_text(id, 0, names, text, sizeof text);
  print_message("%s\n", text);
  assert_true(strncmp(text, "the noise hides a change of lag by +", 36) == 0);
  od_identifiability_free(id);
}

// y = (a / b) t + (c + d) t^2 + e^2 f t^3 + 0 g, with values whose ratios are not simple.
static void known_nulls(void **state) {
  (void)state;
  enum { N = 40, P = 7 };
  static const char *const names[P] = {"a", "b", "c", "d", "e", "f", "g"};
  const double v[P] = {2.3e5, 7.1e-3, 1.7, 0.31, 5.9, 1.3e-4, 8};
  double J[N * P];
  for (int i = 0; i < N; i++) {
    double t = 0.1 * (i + 1), *r = J + P * i;
    r[0] = t / v[1], r[1] = -v[0] / (v[1] * v[1]) * t, r[2] = r[3] = t * t;
    r[4] = 2 * v[4] * v[5] * t * t * t, r[5] = v[4] * v[4] * t * t * t, r[6] = 0;
  }
  od_identifiability *id = identify(N, P, J, v, 1);
  assert_int_equal(id->nulls, 4);
  assert_says(id, 0, names, "g has no influence on the data");
  assert_says(id, 1, names, "scaling a and b by lambda leaves the data unchanged");
  assert_says(id, 2, names, "changing c by +1 and d by -1 leaves the data unchanged");
  assert_says(id, 3, names, "scaling e by lambda and f by 1/lambda^2 leaves the data unchanged");
  for (int i = 0; i < P; i++) assert_true(isinf(id->sigma[i]));
  // a / b is identifiable, with the relative accuracy of the slope of a line through zero among three powers.
  double ratio[P] = {1 / v[1], -v[0] / (v[1] * v[1])}, sum[P] = {0, 0, 1, 1};
  assert_true(isfinite(od_identifiability_sigma(id, ratio)));
  assert_true(isfinite(od_identifiability_sigma(id, sum)));
  double difference[P] = {0, 0, 1, -1};
  assert_true(isinf(od_identifiability_sigma(id, difference)));
  od_identifiability_free(id);
}

// Fewer rows than columns, a parameter of value zero, and invalid arguments.
static void small_and_bad(void **state) {
  (void)state;
  static const char *const names[3] = {"a", "b", "c"};
  double J[3] = {1, 2, 0}, value[3] = {0, 1, 1};
  od_identifiability *id = identify(1, 3, J, value, 1);
  assert_int_equal(id->nulls, 2);
  assert_says(id, 0, names, "c has no influence on the data");
  char text[100];
  od_identifiability_null_text(id, 1, names, text, sizeof text);
  print_message("%s\n", text);
  assert_true(strcmp(text, "changing a by +2 and b by -1 leaves the data unchanged") == 0 ||
              strcmp(text, "changing a by +1 and b by -0.5 leaves the data unchanged") == 0);
  od_identifiability_free(id);
  od_error error = {0};
  J[1] = NAN;
  const od_sensitivities bad = {.rows = 1, .columns = 3, .J = J, .value = value, .sigma = 1};
  assert_int_not_equal(od_identifiability_new(&bad, &id, &error), OD_OK);
  assert_null(id);
  const od_sensitivities quiet = {.rows = 1, .columns = 3, .J = J, .value = value};
  assert_int_equal(od_identifiability_new(&quiet, &id, &error), OD_BAD_ARGUMENT);
}

static void servo(void **state) {
  (void)state;
  enum { P = ORACLE_FIN_SERVO_PARAMETERS };
  const double *v = oracle_fin_servo_identified;
  od_function fn = oracle_fin_servo();
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
  int count = oracle_fin_servo_sweep(NULL);
  double *u = malloc((size_t)count * sizeof *u), *y = malloc((size_t)count * sizeof *y),
         *dy = malloc((size_t)(count * P) * sizeof *dy);
  oracle_fin_servo_sweep(u);
  const od_logged_inputs log = {.count = count, .step = oracle_fin_servo_step, .u = u};
  const od_predictor_options options = {.rule = {.exact = true}};
  od_predictor *predictor = NULL;
  assert_int_equal(od_predictor_new(plant, &log, &options, &predictor, NULL), OD_OK);
  assert_int_equal(od_predict(predictor, NULL, NULL, y, dy), OD_OK);
  double mean = 0, square = 0;
  for (int k = 0; k < count; k++) mean += y[k] / count;
  for (int k = 0; k < count; k++) square += (y[k] - mean) * (y[k] - mean) / count;
  od_identifiability *id = identify(count, P, dy, v, 0.0382 * sqrt(square));
  print_message("singular values:");
  for (int k = 0; k < P; k++) print_message(" %.3g", id->singular[k]);
  print_message("\n");
  assert_int_equal(id->nulls, 2);
  assert_int_equal(id->weak, 0);
  assert_says(id, 0, oracle_fin_servo_names, "changing K_c by +1 and C_tc by -1 leaves the data unchanged");
  assert_says(id, 1, oracle_fin_servo_names,
              "scaling beta_e, B_t, m_t and K_L by lambda and K_c and C_tc by 1/lambda leaves the data unchanged");
  for (int i = 0; i < P; i++) assert_true(isinf(id->sigma[i]) == (i >= 2));
  // omega_s, xi_s, beta_e (K_c + C_tc), beta_e / m_t, B_t / m_t, K_L / m_t: gradients of their logarithms, and bounds.
  double leak = v[3] + v[4];
  const double gradient[6][P] = {{1 / v[0]},
                                 {0, 1 / v[1]},
                                 {0, 0, 1 / v[2], 1 / leak, 1 / leak},
                                 {0, 0, 1 / v[2], 0, 0, 0, -1 / v[6]},
                                 {0, 0, 0, 0, 0, 1 / v[5], -1 / v[6]},
                                 {0, 0, 0, 0, 0, 0, -1 / v[6], 1 / v[7]}};
  static const double bound[6] = {2.2, 1.2, 4.1, 1.7, 8.9, 4.9};
  for (int i = 0; i < 6; i++) {
    double sigma = 100 * od_identifiability_sigma(id, gradient[i]);
    print_message("combination %d: %.2f %% (another program: %.1f %%)\n", i, sigma, bound[i]);
    assert_true(fabs(sigma - bound[i]) < 0.1);
  }
  od_identifiability_free(id);
  od_predictor_free(predictor);
  od_plant_free(plant);
  free(u), free(y), free(dy);
}

// The smallest angle of two columns that count as different. Unit columns at a small angle a have singular values sqrt(2)
// and a / sqrt(2): their ratio is a / 2, and the bound is 1e-9.
static void nearly_dependent(void **state) {
  (void)state;
  const double value[2] = {1, 1}, size[2] = {1, 1};
  for (int null = 0; null < 2; null++) {
    const double angle = null ? 1e-9 : 4e-9, J[4] = {1, 1, 0, angle};
    od_identifiability *id = identify(2, 2, J, value, 1);
    assert_int_equal(id->nulls, null);
    od_identifiability_free(id);
    // A parameter with an initial state: the remainder of its column is the angle itself.
    const double left = null ? 0.5e-9 : 2e-9, beside[4] = {1, 1, left, 0};
    od_error error = {0};
    assert_int_equal(od_identifiability_without_states(2, 2, 1, beside, value, size, 0, NULL, &id, &error), OD_OK);
    assert_int_equal(id->nulls, null);
    od_identifiability_free(id);
    // Two nearly dependent states: together they explain the parameter's second entry, one alone does not.
    const double states[6] = {0, 1, 1, 1, 0, left};
    assert_int_equal(od_identifiability_without_states(2, 3, 1, states, value, size, 0, NULL, &id, &error), OD_OK);
    assert_int_equal(id->nulls, !null);
    od_identifiability_free(id);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(straight_line),    cmocka_unit_test(noise_hides),
                                     cmocka_unit_test(known_nulls),      cmocka_unit_test(small_and_bad),
                                     cmocka_unit_test(nearly_dependent), cmocka_unit_test(servo)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
