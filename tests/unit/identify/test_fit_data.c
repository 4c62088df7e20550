// Simulated data of fits with the sensor options of experiments: noise relative to signals, colored noise, ranges, assumed
// weights. Oracles: the clean set of the same file, and moments of the difference.
#include "support/test.h"

#include <math.h>

#include "support/fits.h"

#define FOURBAR OD_SOURCE_DIR "/cases/fourbar-observer/spring.yaml"

static const char file[] = "machine: " FOURBAR
                           "\nstep: 0.2 ms\ntime: 1 s\n"
                           "sensors:\n"
                           "  A.angle: {sigma: 5 % rms, noise: {time_constant: 1 ms}, assume: 0.03 rad}\n"
                           "  A.rate: {sigma: 0.01 rad/s, range: [-2 rad/s, 4 rad/s]}\n"
                           "  crank.end.y: {sigma: 1e-9 m, delay: 10 ms}\n"
                           "parameters: {spring.stiffness: {low: 1 kN/m, high: 20 kN/m}}\n"
                           "fit: {}\n"
                           "sets: {noisy: {}, clean: {noise: no}}\n";

static od_fit_data *data_of(const od_fit_plan *plan, int set) {
  od_fit_data *d = NULL;
  od_error err = {0};
  if (od_fit_data_make(plan, &plan->set[set], NULL, &d, &err) != OD_OK) fail_msg("%s", err.text);
  return d;
}

static void test_simulated_sensors(void **state) {
  od_fit_plan *plan = fit_plan_text(*state, file);
  od_fit_data *noisy = data_of(plan, 0), *clean = data_of(plan, 1);
  long n = noisy->rows, clipped = 0;
  double squares = 0, neighbors = 0, size = 0;
  for (long k = 0; k < n; k++) {
    const double *a = noisy->y + 3 * k, *b = clean->y + 3 * k;
    double noise = a[0] - b[0];
    squares += noise * noise / (double)n;
    if (k > 0) neighbors += noise * (noisy->y[3 * k - 3] - clean->y[3 * k - 3]) / (double)n;
    size += b[0] * b[0] / (double)n;
    clipped += isnan(a[1]);
    assert_true(isnan(a[1]) || (a[1] > -2 && a[1] < 4 && fabs(a[1] - b[1]) < 0.06));
    assert_true(isnan(a[1]) || (b[1] > -2.06 && b[1] < 4.06));
    assert_true(fabs(a[2] - clean->y[3 * (k > 50 ? k - 50 : 0) + 2]) < 1e-8);
  }
  // A thousand independent values, about.
  assert_true(fabs(squares / (0.0025 * size) - 1) < 0.25);
  assert_true(fabs(neighbors / squares - exp(-0.2)) < 0.05);
  assert_in_range(clipped, 100, n / 2);
  assert_true(noisy->sigma[0] == 0.03 && noisy->sigma[1] == 0.01);
  od_fit_data_free(noisy);
  od_fit_data_free(clean);
  od_fit_plan_free(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_simulated_sensors, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
