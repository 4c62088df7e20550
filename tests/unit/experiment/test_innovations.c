// Statistics of innovations, updated sample by sample. Oracles: sums over the whole series, and the whiteness test for
// whole series, which shares no code with the tested one.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "experiment/innovations.h"
#include "random/random.h"
#include "experiment/observe.h"
#include "prepare/whiteness.h"

enum { SENSORS = 2 };

// Feeds `count` samples of a first-order process with correlation a and a mean to sensor 0; sensor 1 measures every
// third time, white. series (SENSORS * count) receives the used samples.
static od_innovation_record *feed(long count, double a, double mean, double *series, long *used) {
  od_innovation_record *r = od_innovation_record_new(SENSORS, 1, 0);
  double x = 0;
  used[0] = used[1] = 0;
  for (long i = 0; i < count; i++) {
    x = a * x + sqrt(1 - a * a) * od_random_gaussian(5, 1, (uint64_t)i, OD_USE_NOISE);
    double white = od_random_gaussian(5, 2, (uint64_t)i, OD_USE_NOISE), u = i % 100 < 50 ? 0 : 1;
    bool second = i % 3 == 0, gated = i % 17 == 3;
    od_innovation in[SENSORS] = {
        {.value = 500 * (x + mean), .sigma = 500, .use = gated ? OD_SENSOR_GATED : OD_SENSOR_USED},
        {.value = second ? 2 * white : (double)NAN, .sigma = 2, .use = second ? OD_SENSOR_USED : OD_SENSOR_MISSING}};
    double y[SENSORS] = {1e6 + in[0].value, second ? in[1].value : (double)NAN};
    od_innovation_record_take(r, in, y, &u);
    if (!gated) series[used[0]++] = x + mean;
    if (second) series[count + used[1]++] = white;
  }
  return r;
}

static void check_part(const od_scatter *got, const double *series, long first, long end, double slack) {
  double sum = 0, squares = 0, n = (double)(end - first);
  long beyond = 0;
  for (long i = first; i < end; i++) {
    sum += series[i], squares += series[i] * series[i];
    beyond += fabs(series[i]) > 3;
  }
  assert_true(fabs((double)got->count - n) <= slack * n + 1);
  if (slack > 0) return;
  assert_true(fabs(got->mean - sum / n) < 1e-12 && fabs(got->square - squares / n) < 1e-12);
  assert_true(fabs(got->far - (double)beyond / n) < 1e-12);
}

static void test_one_pass_is_as_good_as_two(void **state) {
  (void)state;
  const long counts[] = {30, 64, 65, 130, 1000, 20000};
  const double correlations[] = {0, 0.6, -0.4};
  for (int c = 0; c < 6; c++)
    for (int k = 0; k < 3; k++) {
      long count = counts[c], used[SENSORS];
      double *series = calloc((size_t)(SENSORS * count), sizeof *series), correlation[OD_LAGS + 1];
      od_innovation_record *r = feed(count, correlations[k], 0.2, series, used);
      for (int s = 0; s < SENSORS; s++) {
        od_innovations in;
        od_innovation_record_sensor(r, s, &in);
        od_whiteness w = od_whiteness_find(series + s * count, used[s], OD_LAGS, correlation);
        check_part(&in.run, series + s * count, 0, used[s], 0);
        // Blocks are at least a 64th of the run, up to a 32nd.
        check_part(&in.last, series + s * count, used[s] * 3 / 4, used[s], 0.2);
        assert_true(fabs(in.deviation - w.deviation) < 1e-12);
        for (int lag = 0; lag <= OD_LAGS; lag++)
          assert_true(isnan(correlation[lag]) ? isnan(in.correlation[lag])
                                              : fabs(in.correlation[lag] - correlation[lag]) < 1e-10);
        assert_true(isnan(w.statistic) ? isnan(in.whiteness) : fabs(in.whiteness - w.statistic) < 1e-8 * w.statistic);
        assert_true(isnan(w.p) ? isnan(in.chance) : fabs(in.chance - w.p) < 1e-8);
      }
      od_innovation_record_free(r);
      free(series);
    }
}

static void test_what_else_is_kept(void **state) {
  (void)state;
  long used[SENSORS];
  double series[SENSORS * 1000];
  od_innovation_record *r = feed(1000, 0, 0, series, used);
  od_innovations in[SENSORS];
  for (int s = 0; s < SENSORS; s++) od_innovation_record_sensor(r, s, &in[s]);
  assert_true(fabs(in[0].predicted - 1e6) < 1e-6 && fabs(in[0].first - 1e6 - 500 * series[0]) < 1e-6);
  assert_true(in[0].largest > 1e6 && in[0].largest < 1e6 + 500 * 5);
  assert_true(in[0].input == 0 && in[0].follows < 0.25);
  od_scatter all = od_scatter_of_all(in, SENSORS, false);
  assert_int_equal(all.count, used[0] + used[1]);
  assert_true(fabs(all.square * (double)all.count - in[0].run.square * (double)used[0] -
                   in[1].run.square * (double)used[1]) < 1e-9);
  od_innovation_record_free(r);
}

// An innovation that comes two samples after each change of the input.
static void test_inputs_that_are_followed(void **state) {
  (void)state;
  od_innovation_record *r = od_innovation_record_new(1, 2, 0);
  for (int i = 0; i < 3000; i++) {
    double noise = od_random_gaussian(9, 1, (uint64_t)i, OD_USE_NOISE);
    double u[2] = {od_random_gaussian(9, 2, (uint64_t)i, OD_USE_NOISE), i % 40 < 20 ? 0 : 3}, y = 0;
    const od_innovation in = {.value = noise + (i % 40 == 22  ? 2
                                                : i % 40 == 2 ? -2
                                                              : 0),
                              .sigma = 1,
                              .use = OD_SENSOR_USED};
    od_innovation_record_take(r, &in, &y, u);
  }
  od_innovations in;
  od_innovation_record_sensor(r, 0, &in);
  // 2^2 / 20 per sample, with noise of 1
  double expected = sqrt(4.0 / 20 / (1 + 4.0 / 20));
  assert_int_equal(in.input, 1);
  assert_true(fabs(in.follows - expected) < 0.05);
  od_innovation_record_free(r);
}

// Zero innovations, and a sensor that is never used, correlate with nothing.
static void test_nothing_follows_inputs(void **state) {
  (void)state;
  od_innovation_record *r = od_innovation_record_new(2, 1, 0);
  for (int i = 0; i < 3000; i++) {
    double u = i % 2, y[2] = {0, NAN};
    const od_innovation in[2] = {{.sigma = 1, .use = OD_SENSOR_USED},
                                 {.value = NAN, .sigma = 1, .use = OD_SENSOR_MISSING}};
    od_innovation_record_take(r, in, y, &u);
  }
  for (int s = 0; s < 2; s++) {
    od_innovations in;
    od_innovation_record_sensor(r, s, &in);
    assert_true(in.input == -1 && in.follows == 0);
  }
  od_innovation_record_free(r);
}

static void test_coloured(void **state) {
  (void)state;
  long used[SENSORS];
  double *series = calloc(SENSORS * 40000, sizeof *series);
  const double correlations[] = {0, 0.5, -0.3, 0.02};  // the last is significant, but too small to matter
  for (int k = 0; k < 4; k++) {
    od_innovations in;
    od_innovation_record *r = feed(40000, correlations[k], 0, series, used);
    od_innovation_record_sensor(r, 0, &in);
    assert_int_equal(od_innovations_are_colored(&in, 1e-3), k == 1 || k == 2);
    od_innovation_record_free(r);
  }
  free(series);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_pass_is_as_good_as_two),
                                     cmocka_unit_test(test_what_else_is_kept),
                                     cmocka_unit_test(test_inputs_that_are_followed),
                                     cmocka_unit_test(test_nothing_follows_inputs), cmocka_unit_test(test_coloured)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
