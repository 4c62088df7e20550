// Constant process noise as an option of the observer, which then needs less memory. Oracle: the same observer with the covariance Q in each
// prediction, bit by bit; Q'Q of the rows.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/machines.h"

enum { OUTPUTS = 3, PARAMETERS = 4, MOST = 16, STEPS = 120 };
static const char *const outputs[OUTPUTS] = {"cylinder.length", "P.pressure", "A.pressure"};
static const char *const numbers[PARAMETERS] = {"oil.kp", "oil.k0", "valve.ports.a.curve.points[1]", "pump.flow"};
static const double sigma[OUTPUTS] = {1e-3, 1e5, 1e5};

static od_plant *plant_of(const od_machine *machine) {
  int output[OUTPUTS], number[PARAMETERS];
  od_plant *plant = NULL;
  od_error err = {0};
  for (int i = 0; i < OUTPUTS; i++) output[i] = od_test_output(machine, outputs[i]);
  for (int i = 0; i < PARAMETERS; i++) number[i] = od_machine_number_find(machine, numbers[i]);
  if (od_machine_plant(machine, output, OUTPUTS, number, PARAMETERS, &plant, &err) != OD_OK) fail_msg("%s", err.text);
  return plant;
}

// Noise of pressures and one parameter, correlated.
static void fill_noise(int n, int nx, double *Q) {
  memset(Q, 0, (size_t)(n * n) * sizeof *Q);
  for (int i = nx - 3; i < nx; i++) Q[i * n + i] = 900;
  Q[(nx - 3) * n + nx - 2] = Q[(nx - 2) * n + nx - 3] = 300;
  Q[nx * n + nx] = 1e8;
}

static void same_as_in_each_prediction(void **state) {
  (void)state;
  static const char *const filters[] = {"ekf", "iterated-ekf"};
  od_machine *machine = od_test_machine("cases/fourbar-valve/machine.yaml", NULL);
  od_plant *plant = plant_of(machine);
  int nx = od_plant_nx(plant), n = nx + PARAMETERS;
  double Q[MOST * MOST], P[MOST * MOST] = {0}, rows[MOST * MOST], u[1] = {0};
  assert_true(n <= MOST);
  fill_noise(n, nx, Q);
  int count = od_observer_noise_rows(nx, PARAMETERS, Q, rows);
  assert_int_equal(count, 4);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int r = 0; r < count; r++) sum += rows[r * n + i] * rows[r * n + j];
      assert_true(fabs(sum - Q[i * n + j]) <= 1e-14 * 1e8);
    }
  for (int i = 0; i < n; i++) P[i * n + i] = i < 2 ? 1e-6 : i < nx ? 1e10 : 1e-2;
  for (int f = 0; f < 2; f++) {
    od_observer_options options = {
        .filter = od_filter_find(filters[f]), .sensor_sigma = sigma, .gate = 4, .patience = 5};
    od_observer *given = od_observer_new(plant, &options);
    options.noise = rows, options.noise_rows = count;
    od_observer *constant = od_observer_new(plant, &options);
    assert_non_null(given), assert_non_null(constant);
    size_t saved = od_observer_block_size(given) - od_observer_block_size(constant);
    assert_true(saved >= 3 * (size_t)(n * n) * sizeof(double));
    assert_int_equal(od_observer_start(given, 0, NULL, NULL, P, u), OD_OK);
    assert_int_equal(od_observer_start(constant, 0, NULL, NULL, P, u), OD_OK);
    assert_int_equal(od_observer_predict(constant, 1e-3, u, Q, NULL), OD_BAD_ARGUMENT);
    for (int i = 0; i < STEPS; i++) {
      double y[OUTPUTS], y_constant[OUTPUTS], s[OUTPUTS], s_constant[OUTPUTS];
      u[0] = 0.05 * i;
      assert_int_equal(od_observer_predict(given, 1e-3, u, Q, NULL), OD_OK);
      assert_int_equal(od_observer_predict(constant, 1e-3, u, NULL, NULL), OD_OK);
      assert_int_equal(od_observer_outputs(given, y, s), OD_OK);
      assert_int_equal(od_observer_outputs(constant, y_constant, s_constant), OD_OK);
      assert_memory_equal(y, y_constant, sizeof y);
      assert_memory_equal(s, s_constant, sizeof s);
      // Large deviations now and then, so that gates reject and the covariance is widened.
      for (int k = 0; k < OUTPUTS; k++) y[k] += sigma[k] * (i % 3 - 1 + (i > 40 && i < 60 ? 30 : 0));
      assert_int_equal(od_observer_correct(given, y), OD_OK);
      assert_int_equal(od_observer_correct(constant, y), OD_OK);
      assert_memory_equal(od_observer_state(given), od_observer_state(constant), (size_t)nx * sizeof(double));
      assert_memory_equal(od_observer_parameters(given), od_observer_parameters(constant), PARAMETERS * sizeof(double));
    }
    assert_true(od_observer_reopened(given, 0) > 0);
    assert_memory_equal(od_observer_covariance(given), od_observer_covariance(constant),
                        (size_t)(n * n) * sizeof(double));
    od_observer_free(given);
    od_observer_free(constant);
  }
  od_plant_free(plant);
  od_machine_free(machine);
}

static void refused(void **state) {
  (void)state;
  const double rows[1] = {0};
  od_error err = {0};
  od_observer_options options = {.filter = od_filter_find("ukf"), .noise = rows, .noise_rows = 1};
  assert_int_equal(od_observer_check(&options, &err), OD_BAD_ARGUMENT);
  assert_non_null(strstr(err.text, "constant process noise"));
  options.filter = od_filter_find("ekf");
  assert_int_equal(od_observer_check(&options, NULL), OD_OK);
  options.form = OD_FORM_JOSEPH;
  assert_int_equal(od_observer_check(&options, &err), OD_BAD_ARGUMENT);
  assert_non_null(strstr(err.text, "constant process noise"));
  const double bad[4] = {1, 2, 2, 1};
  double out[4];
  assert_int_equal(od_observer_noise_rows(2, 0, bad, out), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_as_in_each_prediction),
      cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
