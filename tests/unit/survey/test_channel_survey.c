// Statistics and faults of single channels. Oracles: closed forms of small sequences; for random channels (random_channel.h) the generator's
// list of spikes, stuck stretches, limits, gaps and codes. Limits of the survey were chosen with seeds 1 to 200. This test uses other seeds and
// prints the rates of detection and of false alarms.
#include "support/test.h"

#include <stdio.h>

#include "memory/scoped.h"
#include "survey/channel_survey.h"
#include "unit/survey/random_channel.h"

enum { FIRST_SEED = 20001, SEEDS = 40 };

// Surveys a sequence. The arena owns the memory.
static void survey(od_channel_survey *s, const double *t, const double *x, long n, od_arena *memory) {
  od_channel_survey_init(s, memory, 1024);
  for (long i = 0; i < n; i++) od_channel_survey_add(s, t[i], x[i], i);
  od_channel_survey_judge(s, n);
  for (long i = 0; i < n; i++) od_channel_survey_recount(s, t[i], x[i]);
  od_channel_survey_finish(s);
}

static void survey_random(od_channel_survey *s, const random_channel *c, od_arena *memory) {
  survey(s, c->t, c->x, CHANNEL_LENGTH, memory);
}

// --- Closed forms -------------------------------------------------------------------------------------------------

static void test_statistics(void **state) {
  (void)state;
  enum { N = 1000 };
  double t[N], x[N];
  // Whole numbers, with every tenth value missing; sums of whole numbers are exact.
  double sum = 0, square = 0;
  int values = 0;
  for (int i = 0; i < N; i++) {
    t[i] = 0.5 * i;
    x[i] = i % 10 == 3 ? (double)NAN : (double)((i * i) % N) + 1;
    if (isnan(x[i])) continue;
    sum += x[i];
    square += x[i] * x[i];
    values++;
  }
  OD_SCRATCH(scratch);
  od_channel_survey s;
  survey(&s, t, x, N, &scratch);
  assert_int_equal(s.values, values);
  assert_int_equal(s.missing, N - values);
  near_relative(s.mean, sum / values, 1e-12);
  near_relative(s.deviation, sqrt((square - sum * sum / values) / (values - 1)), 1e-12);
  near(s.timing.interval, 0.5, 1e-12);
  near(s.timing.longest, 1, 1e-12);
  near(s.timing.longest_at, 1, 1e-12);
  near(s.resolution, 1, 1e-9);
  assert_int_equal(s.timing.gaps + s.spikes + s.stuck + s.timing.repeated + s.timing.decreasing, 0);
}

// A channel that is sampled in every fifth row lacks only the values that are left out of this pattern.
static void test_missing_of_slow_channels(void **state) {
  (void)state;
  enum { N = 5000 };
  double t[N], x[N];
  int left_out = 0;
  for (int i = 0; i < N; i++) {
    t[i] = 0.01 * i;
    bool is_due = i % 5 == 2, is_left_out = is_due && i % 35 == 2 && i > 100;
    left_out += is_left_out;
    x[i] = is_due && !is_left_out ? sin(0.01 * i) : (double)NAN;
  }
  OD_SCRATCH(scratch);
  od_channel_survey s;
  survey(&s, t, x, N, &scratch);
  assert_int_equal(s.missing, left_out);
  near(s.timing.interval, 0.05, 1e-9);
  // Without values all rows are missing; infinite values are no values.
  for (int i = 0; i < N; i++) x[i] = i == 7 ? INFINITY : (double)NAN;
  survey(&s, t, x, N, &scratch);
  assert_int_equal(s.values, 0);
  assert_int_equal(s.missing, N);
  assert_int_equal(s.infinite, 1);
}

static void test_times(void **state) {
  (void)state;
  enum { N = 400 };
  double t[N], x[N];
  for (int i = 0; i < N; i++) t[i] = i, x[i] = i % 3;
  t[50] = t[49];
  t[51] = t[49];
  t[100] = 98.5;
  for (int i = 300; i < N; i++) t[i] += 20;
  OD_SCRATCH(scratch);
  od_channel_survey s;
  survey(&s, t, x, N, &scratch);
  assert_int_equal(s.timing.repeated, 2);
  near(s.timing.repeated_at, 49, 0);
  assert_int_equal(s.timing.decreasing, 1);
  near(s.timing.dropped_at, 98.5, 0);
  assert_int_equal(s.timing.gaps, 1);
  near(s.timing.longest, 21, 1e-12);
  near(s.timing.longest_at, 299, 1e-12);
  near(s.timing.missing_time, 21, 1e-12);
  assert_true(s.is_state && s.levels == 3);
}

// Steps that are multiples of 0.3, also if no step is 0.3 itself; random steps have no resolution.
static void test_resolution(void **state) {
  (void)state;
  OD_SCRATCH(scratch);
  od_pool p;
  od_pool_init(&p, &scratch, 1024);
  for (int i = 0; i < 200; i++) od_pool_add(&p, 0.3 * (2 + i % 4));
  od_pool_sort(&p);
  near(od_resolution_of(&p, 1e-16, false), 0.3, 1e-12);
  for (int seed = 1; seed < 200; seed++) {
    od_pool_init(&p, &scratch, 1024);
    for (int i = 0; i < 16 + seed; i++) od_pool_add(&p, -log(uniform_of((uint64_t)seed, 1, i)));
    od_pool_sort(&p);
    assert_true(isnan(od_resolution_of(&p, 1e-16, true)));
  }
}

// A pool is a random sample: its median has the standard deviation 1.25 / sqrt(1024) of a normal sample.
static void test_pool(void **state) {
  (void)state;
  OD_SCRATCH(scratch);
  od_pool p;
  od_pool_init(&p, &scratch, 1024);
  // The stream drifts; a sample of its beginning or its end has another median.
  for (int i = 0; i < 200000; i++) od_pool_add(&p, i);
  assert_int_equal(od_pool_size(&p), 1024);
  od_pool_sort(&p);
  for (int k = 1; k < 10; k++) near(od_pool_quantile(&p, k / 10.), 20000. * k, 5 * 200000 * sqrt(0.25 / 1024));
}

// --- Random channels ----------------------------------------------------------------------------------------------

typedef struct rate {
  long found, all;
} rate;

static void add_to(rate *r, bool is_found) {
  r->all++;
  r->found += is_found;
}

static double share(rate r) {
  return r.all > 0 ? (double)r.found / (double)r.all : 0;
}

static uint64_t first_seed(void) {
  const char *text = getenv("OD_FIRST_SEED");
  return text ? strtoull(text, NULL, 10) : FIRST_SEED;
}

// Sound channels have no warnings. Prints the kinds with false alarms.
static void test_false_alarms(void **state) {
  (void)state;
  static random_channel c;
  rate spikes = {0}, stuck = {0}, saturated = {0}, gaps = {0}, codes = {0};
  for (int kind = 0; kind < SIGNAL_KINDS; kind++)
    for (int i = 0; i < SEEDS; i++) {
      uint64_t seed = first_seed() + (uint64_t)i;
      OD_SCRATCH(scratch);
      od_channel_survey s;
      make_channel(&c, (signal_kind)kind, seed);
      survey_random(&s, &c, &scratch);
      add_to(&spikes, s.spikes > 0);
      add_to(&stuck, s.stuck > 0);
      add_to(&saturated, s.low.is_saturated || s.high.is_saturated);
      add_to(&gaps, s.timing.gaps > 0);
      add_to(&codes, s.low.is_code || s.high.is_code);
      if (s.spikes + s.stuck + s.low.is_saturated + s.high.is_saturated + s.timing.gaps + s.low.is_code +
              s.high.is_code >
          0)
        printf("  false alarm: kind %d, seed %llu: %ld spikes, %d stuck, %d %d saturated, %ld gaps, %d %d codes\n",
               kind, (unsigned long long)seed, s.spikes, s.stuck, s.low.is_saturated, s.high.is_saturated,
               s.timing.gaps, s.low.is_code, s.high.is_code);
    }
  printf(
      "false alarms in %ld sound channels: spikes %.2f %%, stuck %.2f %%, saturated %.2f %%, gaps %.2f %%, codes %.2f %%\n",
      spikes.all, 100 * share(spikes), 100 * share(stuck), 100 * share(saturated), 100 * share(gaps),
      100 * share(codes));
  assert_true(share(spikes) <= 0.01 && share(stuck) <= 0.01 && share(saturated) <= 0.01 && share(gaps) <= 0.01 &&
              share(codes) <= 0.01);
}

// Parts of sound channels with 10 to 400 samples.
static void test_false_alarms_of_short_logs(void **state) {
  (void)state;
  static random_channel c;
  rate alarms = {0};
  for (int kind = 0; kind < SIGNAL_KINDS; kind++)
    for (int i = 0; i < SEEDS; i++)
      for (int part = 0; part < 20; part++) {
        OD_SCRATCH(scratch);
        od_channel_survey s;
        uint64_t seed = first_seed() + (uint64_t)i;
        if (part == 0) make_channel(&c, (signal_kind)kind, seed);
        int length = (int)exp(between(seed, 20, part, log(10.), log(400.))), from = part * (CHANNEL_LENGTH / 20);
        survey(&s, c.t + from, c.x + from, length, &scratch);
        bool is_alarm = s.spikes + s.stuck + s.low.is_saturated + s.high.is_saturated + s.timing.gaps + s.low.is_code +
                            s.high.is_code >
                        0;
        add_to(&alarms, is_alarm);
        if (is_alarm)
          printf(
              "  false alarm: kind %d, seed %llu, part %d, %d samples: %ld spikes, %d stuck, %d %d saturated, %ld gaps, %d %d codes\n",
              kind, (unsigned long long)seed, part, length, s.spikes, s.stuck, s.low.is_saturated, s.high.is_saturated,
              s.timing.gaps, s.low.is_code, s.high.is_code);
      }
  printf("false alarms in %ld short sound channels: %.2f %%\n", alarms.all, 100 * share(alarms));
  assert_true(share(alarms) <= 0.01);
}

// Returns whether a listed spike is at the time of sample i or of the next sample.
static bool has_spike(const od_channel_survey *s, const random_channel *c, int i) {
  for (long k = 0; k < s->spikes && k < OD_SURVEY_LISTED; k++)
    if (s->spike[k].time >= c->t[i] && s->spike[k].time <= c->t[i + 1]) return true;
  return false;
}

static void test_detection(void **state) {
  (void)state;
  static random_channel c;
  rate spikes = {0}, other_spikes = {0}, stuck = {0}, other_stuck = {0}, limits = {0}, gaps = {0}, codes = {0},
       close = {0};
  for (int kind = 0; kind < NOISY_KINDS; kind++)
    for (int i = 0; i < SEEDS; i++) {
      uint64_t seed = first_seed() + (uint64_t)i;
      OD_SCRATCH(scratch);
      od_channel_survey s;
      make_channel(&c, (signal_kind)kind, seed);
      add_spikes(&c, seed);
      survey_random(&s, &c, &scratch);
      int found = 0;
      for (int k = 0; k < c.spikes; k++) {
        add_to(&spikes, has_spike(&s, &c, c.spike_at[k]));
        found += has_spike(&s, &c, c.spike_at[k]);
      }
      add_to(&other_spikes, s.spikes > found);

      make_channel(&c, (signal_kind)kind, seed);
      add_stuck(&c, seed);
      survey_random(&s, &c, &scratch);
      bool is_right = s.stuck == 1 && s.stuck_run[0].begin <= c.t[c.stuck_from] &&
                      s.stuck_run[0].end >= c.t[c.stuck_from + c.stuck_length - 1] &&
                      s.stuck_run[0].length <= c.stuck_length + 5;
      add_to(&stuck, is_right);
      add_to(&other_stuck, s.stuck > 1);

      make_channel(&c, (signal_kind)kind, seed);
      if (kind != NOISY_LEVEL) {
        add_limit(&c, seed);
        survey_random(&s, &c, &scratch);
        add_to(&limits, s.low.is_saturated == isfinite(c.low) && s.high.is_saturated == isfinite(c.high));
      }

      make_channel(&c, (signal_kind)kind, seed);
      add_gaps(&c, seed);
      survey_random(&s, &c, &scratch);
      add_to(&gaps, s.timing.gaps == c.gaps);

      make_channel(&c, (signal_kind)kind, seed);
      add_codes(&c, seed);
      survey_random(&s, &c, &scratch);
      const od_range_end *end = c.code > 0 ? &s.high : &s.low;
      add_to(&codes, end->is_code && end->at == c.codes && s.spikes == 0);

      make_channel(&c, (signal_kind)kind, seed);
      const double middle = c.x[CHANNEL_LENGTH / 2];
      add_close_codes(&c, seed);
      survey_random(&s, &c, &scratch);
      end = c.code > middle ? &s.high : &s.low;
      add_to(&close, end->is_code && end->at == c.codes && s.spikes == 0);
    }
  printf(
      "found: spikes %.2f %% of %ld, stuck stretches %.2f %% of %ld, limits %.2f %% of %ld, gaps %.2f %% of %ld, codes %.2f %% of %ld, codes close to the signal %.2f %% of %ld\n",
      100 * share(spikes), spikes.all, 100 * share(stuck), stuck.all, 100 * share(limits), limits.all,
      100 * share(gaps), gaps.all, 100 * share(codes), codes.all, 100 * share(close), close.all);
  printf("in channels with faults: other spikes %.2f %%, other stuck stretches %.2f %%\n", 100 * share(other_spikes),
         100 * share(other_stuck));
  assert_true(share(spikes) >= 0.98);
  assert_true(share(stuck) >= 0.95);
  assert_true(share(limits) >= 0.9);
  assert_true(share(gaps) == 1);
  assert_true(share(codes) >= 0.99);
  assert_true(share(close) >= 0.99);
  assert_true(share(other_spikes) <= 0.01 && share(other_stuck) <= 0.01);
}

// Noise and resolution of channels with visible noise. Rounding to the resolution q adds q^2 / 12 to the variance.
static void test_noise(void **state) {
  (void)state;
  static random_channel c;
  double worst = 0, sum = 0;
  rate resolutions = {0};
  int count = 0;
  for (int kind = 0; kind < NOISY_KINDS; kind++)
    for (int i = 0; i < SEEDS; i++) {
      OD_SCRATCH(scratch);
      od_channel_survey s;
      make_channel(&c, (signal_kind)kind, first_seed() + (uint64_t)i);
      survey_random(&s, &c, &scratch);
      double expected = hypot(c.noise, c.resolution / sqrt(12));
      // The residuals contain the steps of the random walk: var(e) = 1.5 s^2 + 0.5 w^2.
      if (kind == NOISY_WALK) expected = hypot(expected, 0.02 / sqrt(3));
      double error = fabs(s.noise / expected - 1);
      worst = fmax(worst, error);
      sum += error;
      count++;
      add_to(&resolutions, c.resolution > 0 ? fabs(s.resolution / c.resolution - 1) < 1e-6 : isnan(s.resolution));
    }
  printf("noise of %d channels: mean error %.1f %%, largest %.1f %%; resolution right in %.2f %%\n", count,
         100 * sum / count, 100 * worst, 100 * share(resolutions));
  assert_true(sum / count < 0.03 && worst < 0.25 && share(resolutions) > 0.99);
}

// A short channel must not break the survey: 0 to 40 samples, with equal times.
static void test_short_channels(void **state) {
  (void)state;
  double t[40], x[40];
  for (int n = 0; n <= 40; n++)
    for (int shape = 0; shape < 3; shape++) {
      OD_SCRATCH(scratch);
      od_channel_survey s;
      for (int i = 0; i < n; i++) t[i] = shape == 1 ? 1 : i, x[i] = shape == 2 ? 5 : i * i;
      survey(&s, t, x, n, &scratch);
      assert_int_equal(s.values, n);
      assert_int_equal(s.spikes + s.stuck + s.timing.gaps, 0);
      assert_int_equal(s.timing.repeated, shape == 1 && n > 0 ? n - 1 : 0);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_statistics),
                                     cmocka_unit_test(test_missing_of_slow_channels),
                                     cmocka_unit_test(test_times),
                                     cmocka_unit_test(test_resolution),
                                     cmocka_unit_test(test_pool),
                                     cmocka_unit_test(test_short_channels),
                                     cmocka_unit_test(test_noise),
                                     cmocka_unit_test(test_false_alarms),
                                     cmocka_unit_test(test_false_alarms_of_short_logs),
                                     cmocka_unit_test(test_detection)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
