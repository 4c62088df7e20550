// Sudden changes of a parameter. Oracle: the scalar Kalman filter of a constant, in closed form, written here: the estimate is the mean of the
// samples, its variance sigma^2/n. Without a change, the share of runs with an alarm is small; after a step the time of the alarm follows
// from z = (step / sigma_0) sqrt(share of removed variance).
#include "support/test.h"

#include <math.h>
#include <stdint.h>

#include "observe/change_watch.h"
#include "random/random.h"

enum { PARAMETERS = 2, MOST = PARAMETERS * 100 };

// A filter of two independent constants, each measured with standard deviation 1.
typedef struct filter {
  od_change_watch watch;
  double memory[MOST], estimate[PARAMETERS], variance[PARAMETERS];
} filter;

static const double change[PARAMETERS] = {3, 0};

static void begin(filter *f) {
  assert_true(od_change_watch_size(PARAMETERS) <= MOST);
  od_change_watch_init(&f->watch, PARAMETERS, change, f->memory);
  for (int i = 0; i < PARAMETERS; i++) f->estimate[i] = 0, f->variance[i] = 100;
}

// Processes a sample of each constant. Returns whether a change was detected.
static bool take(filter *f, uint64_t seed, long sample, const double *truth) {
  for (int i = 0; i < PARAMETERS; i++) {
    f->variance[i] += f->watch.added[i];
    od_change_watch_predicted(&f->watch, i, f->estimate[i], f->variance[i]);
    double y = truth[i] + od_random_gaussian(seed, (uint32_t)i, (uint64_t)sample, OD_USE_PROCESS);
    double gain = f->variance[i] / (f->variance[i] + 1);
    f->estimate[i] += gain * (y - f->estimate[i]);
    f->variance[i] *= 1 - gain;
    od_change_watch_corrected(&f->watch, i, f->estimate[i], f->variance[i]);
  }
  return od_change_watch_end(&f->watch, true);
}

// 200 runs of 2000 samples without a change: at most two alarms.
static void test_no_change(void **state) {
  (void)state;
  const double truth[PARAMETERS] = {1, -2};
  int alarms = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    filter f;
    begin(&f);
    bool alarm = false;
    for (long k = 1; k <= 2000; k++) alarm = take(&f, seed, k, truth) || alarm;
    alarms += alarm;
  }
  if (alarms > 2) fail_msg("%d false alarms of 200", alarms);
}

// A step of 3 after 1000 samples. sigma_0 = 1/sqrt(1000), z = 3 sqrt(1000 f) = 94.9 sqrt(f) with f = m/(1000 + m) after m samples: 5.5 at m = 3.4.
// Windows also contain up to 15 samples before the step, which reduce z to about 94.9 m/(1000 + m) / sqrt((m + 8)/(1000 + m)): m = 8 at most.
static void test_step(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    filter f;
    double truth[PARAMETERS] = {1, -2};
    long detected = 0;
    int alarms = 0;
    begin(&f);
    for (long k = 1; k <= 2000; k++) {
      if (k == 1001) truth[0] += 3;
      bool now = take(&f, seed, k, truth);
      alarms += now;
      if (now && k > 1000 && !detected) detected = k - 1000;
    }
    if (!(detected > 0 && detected <= 16)) fail_msg("seed %d: detected after %ld samples", (int)seed, detected);
    od_parameter_change found = {0};
    od_change_watch_name(&f.watch, &found);
    assert_int_equal(found.parameter, 0);
    assert_int_equal(alarms, 1);
    assert_true(fabs(found.before - 1) < 0.2 && found.sigma > 0.02 && found.sigma < 0.05);
    // The estimate is that of the samples after the alarm: 1000 samples, standard deviation 0.0316.
    assert_true(fabs(f.estimate[0] - truth[0]) < 5 * sqrt(f.variance[0]));
    assert_true(fabs(sqrt(f.variance[0]) * sqrt(1000) - 1) < 0.02);
    assert_true(found.after == f.estimate[0]);
  }
}

// A sample at which the filter is not consistent starts all windows again: the sums before have no effect.
static void test_invalid(void **state) {
  (void)state;
  filter f;
  begin(&f);
  for (int k = 0; k < 100; k++) {
    od_change_watch_predicted(&f.watch, 0, 0.1 * k, 1 - 0.005 * k);
    od_change_watch_corrected(&f.watch, 0, 0.1 * (k + 1), 1 - 0.005 * (k + 1));
    assert_false(od_change_watch_end(&f.watch, false));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_change), cmocka_unit_test(test_step),
                                     cmocka_unit_test(test_invalid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
