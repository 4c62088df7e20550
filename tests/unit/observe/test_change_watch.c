// Sudden changes of a parameter. Oracle: the scalar Kalman filter of a constant, in closed form, written here: the estimate is the mean of the
// samples, its variance sigma^2/n. Without a change, the share of runs with an alarm is small; after a step the time of the alarm follows
// from z = (step / sigma_0) sqrt(share of removed variance).
#include "support/test.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

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

// ---- the definition, with the whole history

enum { THREE = 3, LONGEST = 600 };
typedef struct history {
  double moved[LONGEST + 1], removed[LONGEST + 1];  // sums after each sample
  int since;                                        // the sample at which the windows started again
} history;

// The sample at which window k begins, at sample n: the windows move by half of their length, 8 2^k samples.
static int window_begin(const history *h, int n, int k) {
  int half = 8 << k, begin = half * ((n - 1) / half - 1);
  return begin > h->since ? begin : h->since;
}

// Parameters of different sizes with steps: every sample as by the definition of windows, limits and added variances.
static void test_definition(void **state) {
  (void)state;
  const double size[THREE] = {0.3, 0, 20};
  int alarms = 0, suspects = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    od_change_watch w;
    double memory[THREE * 100], estimate[THREE] = {0.1, 2, -30}, variance[THREE], truth[THREE] = {0.2, 3, -33};
    double earlier[THREE] = {0}, earlier_variance[THREE] = {0}, added[THREE] = {0};
    static history h[THREE];
    memset(h, 0, sizeof h);
    assert_true(od_change_watch_size(THREE) <= THREE * 100);
    od_change_watch_init(&w, THREE, size, memory);
    for (int i = 0; i < THREE; i++) variance[i] = i == 1 ? 4 : 9 * size[i] * size[i];
    for (int n = 1; n <= LONGEST; n++) {
      bool is_valid = n % 97 != 0;
      if (n == 250 || n == 400) truth[0] += 0.3, truth[2] += seed % 2 ? 3 : 50;
      for (int i = 0; i < THREE; i++) {
        variance[i] += added[i];
        od_change_watch_predicted(&w, i, estimate[i], variance[i]);
        double noise = i == 1 ? 1 : size[i], gain = variance[i] / (variance[i] + noise * noise), before = estimate[i];
        estimate[i] +=
            gain * (truth[i] + noise * od_random_gaussian(seed, (uint32_t)i, (uint64_t)n, OD_USE_PROCESS) - before);
        h[i].moved[n] = h[i].moved[n - 1] + (estimate[i] - before);
        h[i].removed[n] = h[i].removed[n - 1] + gain * variance[i];
        variance[i] *= 1 - gain;
        od_change_watch_corrected(&w, i, estimate[i], variance[i]);
        if (!is_valid || (size[i] > 0 && variance[i] >= size[i] * size[i] / 4)) h[i].since = n;
      }
      double largest = 5.5;
      int window = -1;
      for (int i = 0; i < THREE; i += 2)
        for (int k = 0; k < OD_WATCH_WINDOWS; k++) {
          int begin = window_begin(&h[i], n, k);
          double moved = h[i].moved[n] - h[i].moved[begin], removed = h[i].removed[n] - h[i].removed[begin];
          if (removed > 1e-9 * variance[i] && fabs(moved) > largest * sqrt(removed))
            largest = fabs(moved) / sqrt(removed), window = k;
        }
      bool found = od_change_watch_end(&w, is_valid);
      assert_int_equal(found, window >= 0);
      alarms += found;
      for (int i = 0; i < THREE; i++) {
        added[i] = 0;
        if (!found) continue;
        int begin = window_begin(&h[i], n, window);
        double moved = h[i].moved[n] - h[i].moved[begin], removed = h[i].removed[n] - h[i].removed[begin];
        bool suspected = size[i] > 0 && fabs(moved) > 2.5 * sqrt(removed);
        suspects += suspected;
        added[i] = suspected ? size[i] * size[i] : moved * moved;
        earlier[i] = estimate[i] - moved;
        earlier_variance[i] = suspected ? variance[i] + removed : 0;
        h[i].since = n;
      }
      double most = -1;
      od_parameter_change want = {.parameter = -1}, got = {.parameter = -1};
      for (int i = 0; i < THREE; i++) {
        near_scaled(w.added[i], added[i], 1e-9, 1e-9);
        near_scaled(w.earlier[i], earlier[i], 1e-9, 1e-9);
        near_scaled(w.earlier_variance[i], earlier_variance[i], 1e-9, 1e-12);
        double deviations = fabs(estimate[i] - earlier[i]) / sqrt(variance[i] + earlier_variance[i]);
        if (earlier_variance[i] == 0 || deviations <= most) continue;
        most = deviations;
        want = (od_parameter_change){i, 0, earlier[i], sqrt(earlier_variance[i]), estimate[i]};
      }
      od_change_watch_name(&w, &got);
      assert_int_equal(got.parameter, want.parameter);
      near_scaled(got.before, want.before, 1e-9, 1e-9);
      near_scaled(got.sigma, want.sigma, 1e-9, 1e-9);
      near_scaled(got.after, want.after, 1e-9, 1e-9);
    }
  }
  print_message("%d alarms, %d possible causes\n", alarms, suspects);
  assert_true(alarms > 20 && suspects > alarms);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_change), cmocka_unit_test(test_step),
                                     cmocka_unit_test(test_invalid), cmocka_unit_test(test_definition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
