// The relinearizing filter on a machine with sampled blocks: at samples the state jumps, and the window contains the derivatives of these jumps with
// respect to states and parameters. Oracle: the machine is linear in its states and the estimated gain together, so the extended Kalman filter is
// exact, and the relinearizing filter must have the same estimates and standard deviations at the end of each window and between windows.
#include <math.h>
#include <string.h>

#include "support/test.h"

#include "observe/observer_block.h"
#include "observe/smoother.h"
#include "oleodyn/oleodyn.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { SAMPLES = 200 };

static const char text[] =
    "inputs: {u: {constant: 1}}\n"
    "blocks:\n"
    "  held: {type: gain, input: u, gain: 2, sample: 20 ms}\n"
    "  slow: {type: first-order, input: held, time_constant: 0.1 s}\n"
    "  e: {type: sum, inputs: [held, slow], weights: [0.3, -1]}\n"
    "  area: {type: integrator, input: e, unit: 1, gain: 0.8, sample: 30 ms}\n"
    "  after: {type: first-order, input: area, time_constant: 50 ms}\n"
    "run: {time: 1 s, outputs: [slow]}\n";

static void check(double window, bool spread, bool with_gain, od_covariance_form form) {
  od_machine *machine = od_test_machine_text(text);
  const int outputs[] = {od_test_output(machine, "slow"), od_test_output(machine, "after")};
  int gain = od_machine_number_find(machine, "held.gain");
  assert_true(gain >= 0);
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, outputs, 2, &gain, with_gain, &plant, NULL), OD_OK);
  int nx = od_plant_nx(plant), n = nx + plant->np;
  assert_true(nx >= 4 && n <= 12);
  static const char *const names[] = {"ekf", "relinearising"};
  const double sigma[] = {4, 4}, choice[] = {window, spread, 0};
  double P[144] = {0}, q[12] = {0};
  for (int i = 0; i < n; i++) P[i * (n + 1)] = 0.04 * (i + 1), q[i] = i < nx ? 1e-4 * (i + 1) : 1e-5;
  od_observer *o[2];
  for (int k = 0; k < 2; k++) {
    const od_observer_options options = {
        .filter = od_filter_find(names[k]), .form = form, .sensor_sigma = sigma, .choice = k ? choice : NULL};
    const double u = 1;
    o[k] = od_observer_new(plant, &options);
    assert_int_equal(od_observer_start(o[k], 0, NULL, NULL, P, &u), OD_OK);
  }
  od_dice dice = {3};
  double largest = 0;
  for (int i = 0; i < SAMPLES; i++) {
    const double u = 1 + sin(0.3 * i),
                 y[] = {2 * sin(0.05 * i) + od_dice_uniform(&dice, -0.1, 0.1),
                        i % 7 == 3 ? (double)NAN : cos(0.03 * i) + od_dice_uniform(&dice, -0.1, 0.1)};
    for (int k = 0; k < 2; k++) {
      if (i > 0) assert_int_equal(od_observer_predict(o[k], 0.01, &u, NULL, q), OD_OK);
      assert_int_equal(od_observer_correct(o[k], y), OD_OK);
    }
    const double *a = od_observer_covariance(o[0]), *b = od_observer_covariance(o[1]);
    for (int j = 0; j < n; j++) {
      double scale = sqrt(a[j * (n + 1)]) + 1e-6,
             x = j < nx ? od_observer_state(o[0])[j] : od_observer_parameters(o[0])[j - nx],
             z = j < nx ? od_observer_state(o[1])[j] : od_observer_parameters(o[1])[j - nx];
      largest = fmax(largest, fabs(x - z) / scale);
      near(z, x, 1e-6 * scale);
      near(sqrt(b[j * (n + 1)]), sqrt(a[j * (n + 1)]), 1e-6 * scale);
    }
  }
  print_message("window %g: largest difference %.2g standard deviations\n", window, largest);
  // No window has failed: a filter whose windows fail continues as an extended filter, with the same estimates.
  const od_smoother *s = od_observer_memory(o[1]);
  assert_true(s->begun == 0 && s->first > SAMPLES / 2);
  od_observer_free(o[0]), od_observer_free(o[1]);
  od_plant_free(plant);
  od_machine_free(machine);
}

static void test_linear_machine(void **state) {
  (void)state;
  for (int with_gain = 0; with_gain < 2; with_gain++) {
    check(16, false, with_gain, OD_FORM_SQUARE_ROOT);
    check(40, true, with_gain, OD_FORM_SQUARE_ROOT);
    check(33, true, with_gain, OD_FORM_JOSEPH);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_linear_machine)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
