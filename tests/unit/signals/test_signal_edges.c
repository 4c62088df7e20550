// Signals at the edges of their ranges: sign changes from zero, samples of tables, durations, breaks exactly at a time. Oracles: by hand.
#include "support/test.h"

#include <math.h>
#include <stdbool.h>

#include "signals/sequence.h"
#include "signals/signal.h"

static int setup(void **state) {
  *state = od_signals_new();
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  od_signals_free(*state);
  return 0;
}

// A signal that leaves zero has no sign before: its first reversal is that of the sign that it takes.
static void test_reversals_from_zero(void **state) {
  od_signals *s = *state;
  for (int sign = -1; sign <= 1; sign += 2) {
    int sine = od_signals_add(s, OD_SIGNAL_SINE, 0, (double[]){sign * 3.0, 0.5, 0, 0, 0}, 5);
    assert_true(isinf(od_signal_next_reversal(s, sine, 0, 0.99)));
    near(od_signal_next_reversal(s, sine, 0, 1.5), 1, 1e-12);
    int steps = od_signals_add(s, OD_SIGNAL_STEPS, 0, (double[]){0, 1, sign * 2.0, 2, 0, 3, sign * -1.0}, 7);
    assert_true(od_signal_next_reversal(s, steps, 0, 10) == 3);
    assert_true(isinf(od_signal_next_reversal(s, steps, 0, 2.5)));
    int table = od_signals_add(s, OD_SIGNAL_TABLE, 0, (double[]){0, 0, 1, sign * 1.0, 3, sign * -3.0}, 6);
    near(od_signal_next_reversal(s, table, 0, 10), 1.5, 1e-12);
  }
  int zero = od_signals_add(s, OD_SIGNAL_CONSTANT, 0, (double[]){0}, 1);
  assert_true(isinf(od_signal_next_reversal(s, zero, 0, 10)));
}

static void test_samples(void **state) {
  od_signals *s = *state;
  const double pairs[] = {0, 5, 1, 6, 3, 7};
  int table = od_signals_add(s, OD_SIGNAL_TABLE, 0, pairs, 6), ramps = od_signals_add(s, OD_SIGNAL_RAMPS, 0, pairs, 6),
      count = -1;
  const double *samples = od_signal_samples(s, table, &count);
  assert_int_equal(count, 3);
  for (int i = 0; i < 6; i++) assert_true(samples[i] == pairs[i]);
  assert_null(od_signal_samples(s, ramps, &count));
  assert_int_equal(count, 0);
}

// Breaks and values exactly at the times of the numbers, and just before them.
static void test_breaks(void **state) {
  od_signals *s = *state;
  int sine = od_signals_add(s, OD_SIGNAL_SINE, 0, (double[]){3, 0.5, 0.25, 10, 2}, 5);
  assert_true(od_signal_next_break(s, sine, 1) == 2 && isinf(od_signal_next_break(s, sine, 2)));
  near(od_signal_value(s, sine, 2), 10 + 3 * sin(0.25), 1e-14);
  assert_true(od_signal_value(s, sine, nextafter(2, 0)) == 10 && isinf(od_signal_duration(s, sine)));
  int chirp = od_signals_add(s, OD_SIGNAL_CHIRP, 0, (double[]){2, 0.5, 3, 4, 1, 0.5}, 6);
  assert_true(od_signal_next_break(s, chirp, 0) == 0.5 && od_signal_next_break(s, chirp, 0.5) == 4.5);
  assert_true(isinf(od_signal_next_break(s, chirp, 4.5)) && od_signal_duration(s, chirp) == 4.5);
  assert_true(od_signal_value(s, chirp, 4.5) == 1 && od_signal_value(s, chirp, nextafter(0.5, 0)) == 1);
  int steps = od_signals_add(s, OD_SIGNAL_STEPS, 0, (double[]){1, 2, 5}, 3);
  assert_true(od_signal_next_break(s, steps, 2) == INFINITY && od_signal_next_break(s, steps, 1.9) == 2);
  assert_true(od_signal_value(s, steps, 2) == 5 && od_signal_value(s, steps, nextafter(2, 0)) == 1);
  assert_true(od_signal_duration(s, steps) == 2);
  int one = od_signals_add(s, OD_SIGNAL_STEPS, 0, (double[]){7}, 1);
  assert_true(od_signal_duration(s, one) == 0 && isinf(od_signal_next_break(s, one, -1)) &&
              od_signal_value(s, one, 3) == 7);
  int lagged = od_signals_add(s, OD_SIGNAL_LAGGED_STEPS, 0, (double[]){0.5, 3}, 2);
  assert_true(od_signal_duration(s, lagged) == 0 && od_signal_value(s, lagged, 5) == 3);
  int jump = od_signals_add(s, OD_SIGNAL_LAGGED_STEPS, 0, (double[]){0, 3, 1, 4}, 4);
  assert_true(od_signal_duration(s, jump) == 1 && od_signal_value(s, jump, 1) == 4 &&
              od_signal_value(s, jump, 0.999) == 3);
  int stepped = od_signals_add(s, OD_SIGNAL_STEPPED_SINE, 0, (double[]){1, 1, 2, 0.5, 3}, 5);
  assert_true(od_signal_next_break(s, stepped, -1) == 0 && od_signal_next_break(s, stepped, 0) == 3);
  assert_true(od_signal_next_break(s, stepped, 3) == 5 && od_signal_duration(s, stepped) == 6.5);
  int down = od_signals_add(s, OD_SIGNAL_STEPPED_SINE, 0, (double[]){1, 2, 1, 0.5, 3}, 5);
  assert_true(od_signal_next_break(s, down, 0) == 1.5 && od_signal_next_break(s, down, 1.5) == 3.5);
  int sum = od_signals_add_sum(s, (int[]){steps, chirp, stepped}, 3);
  assert_true(od_signal_next_break(s, sum, 0.5) == 2 && od_signal_next_break(s, sum, 2) == 3 &&
              od_signal_duration(s, sum) == 6.5);
  int none = od_signals_add_sum(s, NULL, 0);
  assert_true(none >= 0 && od_signal_value(s, none, 1) == 0 && isinf(od_signal_next_break(s, none, 1)) &&
              od_signal_duration(s, none) == 0);
  assert_int_equal(od_signals_add_sum(s, (int[]){none + 1}, 1), -1);
  assert_int_equal(od_signals_add_sum(s, (int[]){-1}, 1), -1);
  assert_int_equal(od_signals_add_sum(s, (int[]){0}, -1), -1);
  assert_int_equal(od_signals_add_derivative(s, -1), -1);
  assert_int_equal(od_signals_add_derivative(s, none + 1), -1);
}

// The shortest bit of binary sequences in a signal.
static void test_bits(void **state) {
  od_signals *s = *state;
  int a = od_signals_add(s, OD_SIGNAL_PRBS, 0, (double[]){0, 1, 0.5, 1, 5}, 5);
  int b = od_signals_add(s, OD_SIGNAL_PRBS, 0, (double[]){0, 1, 0.25, 1, 5}, 5);
  int steps = od_signals_add(s, OD_SIGNAL_STEPS, 0, (double[]){1, 2, 5}, 3);
  int sum = od_signals_add_sum(s, (int[]){steps, a, b}, 3);
  assert_true(od_signal_bit(s, a) == 0.5 && od_signal_bit(s, sum) == 0.25 && isinf(od_signal_bit(s, steps)));
  assert_true(od_signal_duration(s, a) == 31 * 0.5);
  // Equal levels have no edges.
  int flat = od_signals_add(s, OD_SIGNAL_PRBS, 0, (double[]){2, 2, 0.5, 1, 5}, 5);
  assert_true(isinf(od_signal_next_break(s, flat, 0)));
  int frozen = od_signals_add(s, OD_SIGNAL_PRBS, 0, (double[]){0, 1, 0, 1, 5}, 5);
  assert_true(isinf(od_signal_next_break(s, frozen, 0)) &&
              od_signal_value(s, frozen, 3) == od_signal_value(s, frozen, 0));
  const double orders[] = {1, 32, 5.5, NAN};
  for (int i = 0; i < 4; i++)
    assert_int_equal(od_signals_add(s, OD_SIGNAL_PRBS, 0, (double[]){0, 1, 0.5, 1, orders[i]}, 5), -1);
}

// Values of a density at its ends, and of a density that is not positive.
static void test_places(void **state) {
  (void)state;
  const od_density uniform = {.peak = 0, .rate = 0, .floor = 3}, falling = {.peak = 2, .rate = 0, .floor = 1};
  for (int i = 0; i < 5; i++) {
    near(od_density_place(&uniform, 1, 3, 5, i), 1 + 0.5 * i, 1e-14);
    near(od_density_place(&falling, 1, 3, 5, i), 1 + 0.5 * i, 1e-14);
  }
  assert_true(od_density_place(&uniform, 1, 3, 1, 0) == 1 && od_density_place(&uniform, 1, 3, 1, 1) == 1);
  assert_true(od_density_place(&uniform, 1, 3, 2, 1) == 3 && od_density_place(&uniform, 1, 3, 2, -1) == 1);
  assert_true(od_density_place(&uniform, 1, 3, 5, 0) == 1 && od_density_place(&uniform, 1, 3, 5, 4) == 3);
  const od_density none = {0, 0, 0}, negative = {.peak = -2, .rate = 1, .floor = 1},
                   steep = {.peak = 1, .rate = -1e6, .floor = 1};
  assert_true(isnan(od_density_place(&none, 1, 3, 5, 2)) && isnan(od_density_place(&negative, 0, 3, 5, 2)));
  assert_true(isnan(od_density_place(&steep, 1, 3, 5, 2)));
  // Half of the area of exp(-x) from 0 to 1.
  const od_density decay = {.peak = 1, .rate = 1, .floor = 0};
  near(od_density_place(&decay, 0, 1, 3, 1), -log(1 - 0.5 * (1 - exp(-1))), 1e-14);
}

// The density is checked at both of its ends, each with its own sign of the exponent: positive and finite there or no values at all. Oracle: the
// exponential at the ends by hand, and the median of 2 - exp(-x), for which 2 m + exp(-m) is the mean of its values at the ends.
static void test_ends_of_densities(void **state) {
  (void)state;
  static const struct {
    od_density d;
    double low, high;
  } bad[] = {
      {{-1, -1, 2}, 0, 1},   // 1 and 2 - e
      {{-1, 1, 2}, -1, 0},   // 2 - e and 1
      {{-1, -1, 1}, -1, 0},  // 1 - 1/e and exactly zero
      {{-1, 1, 1}, 0, 1},    // exactly zero and 1 - 1/e
      {{1, -1e6, 1}, 0, 1},  // infinite at the upper end
      {{1, 1e6, 1}, -1, 0},  // infinite at the lower end
      {{0, 0, INFINITY}, 0, 1}, {{NAN, 0, 1}, 0, 1}, {{0, NAN, 1}, 0, 1}, {{0, 0, NAN}, 0, 1}, {{INFINITY, 1, 1}, 0, 1},
  };
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    for (int i = -1; i <= 5; i++)
      if (!isnan(od_density_place(&bad[k].d, bad[k].low, bad[k].high, 5, i))) fail_msg("density %zu, value %d", k, i);
  // Positive at both ends, although not with the opposite sign of the exponent.
  const od_density rising = {-1, 1, 2}, sinking = {-1, -1, 2};
  double m = od_density_place(&rising, 0, 1, 3, 1), n = od_density_place(&sinking, -1, 0, 3, 1);
  near(2 * m + exp(-m), (1 + 2 + exp(-1)) / 2, 1e-14);
  near(n, -m, 1e-14);  // the mirror image
  // A density that is finite at both ends, with an exponent that overflows on the other side.
  const od_density tail = {1, 1e3, 1};
  near(od_density_place(&tail, 1, 3, 3, 1), 2, 1e-14);
}

// The pace of each kind: 1/32 of the period of the highest frequency at a time; a sum and a derivative also 1/32 of the interval; other signals are
// monotone between breaks.
static void test_paces(void **state) {
  od_signals *s = *state;
  int sine = od_signals_add(s, OD_SIGNAL_SINE, 0, (double[]){3, 0.5, 0.25, 10, 2}, 5);
  int still = od_signals_add(s, OD_SIGNAL_SINE, 0, (double[]){3, 0, 0.25, 10, 2}, 5);
  int up = od_signals_add(s, OD_SIGNAL_CHIRP, 0, (double[]){2, 0.5, 3, 4, 1, 0.5}, 6);
  int down = od_signals_add(s, OD_SIGNAL_CHIRP, 1, (double[]){2, 5, 0.5, 4, 1, 0.5}, 6);
  int stepped = od_signals_add(s, OD_SIGNAL_STEPPED_SINE, 0, (double[]){1, 1, 2, 1, 2}, 5);
  int sequence = od_signals_add(
      s, OD_SIGNAL_SEQUENCE, 0,
      (double[]){0, OD_SEGMENT_SINE, 2, 1, 3, 0, OD_SEGMENT_RAMP, 1, 0.5, 0, 0, OD_SEGMENT_SINE, 1, 1, 10, 0}, 16);
  int next = od_signals_add(s, OD_SIGNAL_SINE, 0, (double[]){7, 7, 7, 7, 7}, 5);
  int steps = od_signals_add(s, OD_SIGNAL_STEPS, 0, (double[]){0, 1, 1, 2, 2}, 5);
  int sum = od_signals_add_sum(s, (int[]){sine, steps, up}, 3), slow = od_signals_add_sum(s, (int[]){steps, still}, 2);
  int slope = od_signals_add_derivative(s, sine);
  assert_true(sine >= 0 && still >= 0 && up >= 0 && down >= 0 && stepped >= 0 && sequence >= 0 && next >= 0);
  const struct {
    int node;
    double t, end, pace;
  } rows[] = {{sine, 3, 100, 1 / 16.0},       {still, 3, 100, INFINITY},     {up, 1, 100, 1 / 96.0},
              {down, 1, 100, 1 / 160.0},      {stepped, 1, 100, 1 / 32.0},   {stepped, 2.5, 100, 1 / 64.0},
              {stepped, 3.5, 100, INFINITY},  {sequence, -1, 100, INFINITY}, {sequence, 0.5, 100, 1 / 96.0},
              {sequence, 2.5, 100, INFINITY}, {sequence, 3.5, 9, 1 / 320.0}, {sequence, 4.5, 100, INFINITY},
              {steps, 0, 100, INFINITY},      {sum, 1, 100, 1 / 96.0},       {sum, 1, 1.25, 1 / 128.0},
              {sum, 1, INFINITY, 1 / 96.0},   {slow, 2, 10, 0.25},           {slow, 2, INFINITY, INFINITY},
              {slope, 3, 100, 1 / 16.0},      {slope, 3, 4, 1 / 32.0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double pace = od_signal_pace(s, rows[i].node, rows[i].t, rows[i].end);
    if (!(pace == rows[i].pace || fabs(pace / rows[i].pace - 1) < 1e-15)) fail_msg("row %d: %g", (int)i, pace);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ends_of_densities),
      cmocka_unit_test_setup_teardown(test_reversals_from_zero, setup, teardown),
      cmocka_unit_test_setup_teardown(test_samples, setup, teardown),
      cmocka_unit_test_setup_teardown(test_breaks, setup, teardown),
      cmocka_unit_test_setup_teardown(test_bits, setup, teardown),
      cmocka_unit_test_setup_teardown(test_paces, setup, teardown),
      cmocka_unit_test(test_places),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
