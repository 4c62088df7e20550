// Sequences of segments, slopes of all signals, and values placed by a density. Oracles: closed forms, differences and
// sums.
#include "support/test.h"

#include <math.h>
#include <stdbool.h>

#include "signals/sequence.h"
#include "signals/signal.h"

static const double pi = 3.14159265358979323846;

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static int setup(void **state) {
  *state = od_signals_new();
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  od_signals_free(*state);
  return 0;
}

// The trajectory of 13 s for friction laws, segment by segment.
static const double complete[] = {
    0, OD_SEGMENT_SINE,        3,    0.25,  1.0 / 3, 0, OD_SEGMENT_HALF_COSINE, 0.75, 0.05,  0,
    0, OD_SEGMENT_RAMP,        2,    0,     0,       0, OD_SEGMENT_HALF_COSINE, 0.75, -0.05, 0,
    0, OD_SEGMENT_RAMP,        2,    0,     0,       0, OD_SEGMENT_SINE,        2,    0.05,  1,
    0, OD_SEGMENT_HALF_COSINE, 0.25, 0.05,  0,       0, OD_SEGMENT_HOLD,        0.25, 0,     0,
    0, OD_SEGMENT_LAGGED_STEP, 2,    0.001, 0.005,   0};

// The same as a function of time.
static double by_hand(double t) {
  if (t < 0) return 0;
  if (t < 3) return 0.25 * sin(2 * pi * t / 3);
  if (t < 3.75) return 0.025 * (1 - cos(pi * (t - 3) / 0.75));
  if (t < 5.75) return 0.05 * (5.75 - t) / 2;
  if (t < 6.5) return -0.025 * (1 - cos(pi * (t - 5.75) / 0.75));
  if (t < 8.5) return -0.05 * (8.5 - t) / 2;
  if (t < 10.5) return 0.05 * sin(2 * pi * (t - 8.5));
  if (t < 10.75) return 0.025 * (1 - cos(pi * (t - 10.5) / 0.25));
  if (t < 11) return 0.05;
  if (t < 13) return 0.001 + 0.049 * exp(-200 * (t - 11));
  return 0.001;
}

static void test_complete_trajectory(void **state) {
  od_signals *s = *state;
  int node = od_signals_add(s, OD_SIGNAL_SEQUENCE, 0, complete, COUNT(complete));
  assert_int_equal(node, 0);
  for (int k = -100; k <= 14000; k++) near(od_signal_value(s, node, k * 1e-3), by_hand(k * 1e-3), 1e-15);
  // Whole periods of a sine end where they began, to the last bit, so that the sign does not depend on round-off.
  assert_true(od_signal_value(s, node, 3) == 0 && od_signal_value(s, node, 10.5) == 0);
  const double breaks[] = {0, 3, 3.75, 5.75, 6.5, 8.5, 10.5, 10.75, 11, 13, INFINITY};
  double t = -1;
  for (int i = 0; i < COUNT(breaks); i++) {
    t = od_signal_next_break(s, node, t);
    assert_true(t == breaks[i]);
  }
  assert_true(od_signal_duration(s, node) == 13);
  int segments = 0;
  assert_true(od_signal_segments(s, node, &segments) != NULL && segments == 9);
  const double final[] = {0, 0.05, 0, -0.05, 0, 0, 0.05, 0.05, 0.001};
  for (int k = 0; k < segments; k++) {
    assert_int_equal(od_signal_segment_kind(s, node, k), (int)complete[1 + k * OD_SEGMENT_NUMBERS]);
    near(od_signal_segment_end(s, node, k), final[k], 1e-15);
  }
}

static void test_segments_go_on_where_the_last_one_ended(void **state) {
  od_signals *s = *state;
  const double v[] = {2,      OD_SEGMENT_STEP,        1, 5,  0,   0, OD_SEGMENT_SINE, 0.25, 3, 1,
                      pi / 2, OD_SEGMENT_LAGGED_STEP, 1, 10, 0.5, 0, OD_SEGMENT_RAMP, 2,    0, 0,
                      0};
  int node = od_signals_add(s, OD_SIGNAL_SEQUENCE, 0, v, COUNT(v));
  assert_true(od_signal_value(s, node, -1) == 2 && od_signal_value(s, node, 0) == 5);
  near(od_signal_value(s, node, 1.125), 5 + 3 * (cos(pi / 4) - 1), 1e-14);
  double lagged = 10 + (2 - 10) * exp(-2);  // from 5 - 3
  near(od_signal_value(s, node, 2.25), lagged, 1e-14);
  near(od_signal_value(s, node, 3.25), lagged / 2, 1e-14);
  assert_true(od_signal_value(s, node, 9) == 0);
}

static void test_what_is_no_segment_is_refused(void **state) {
  od_signals *s = *state;
  const double wrong[][1 + OD_SEGMENT_NUMBERS] = {{0, OD_SEGMENT_KINDS, 1, 0, 0, 0},
                                                  {0, -1, 1, 0, 0, 0},
                                                  {0, 0.5, 1, 0, 0, 0},
                                                  {0, OD_SEGMENT_HOLD, 0, 0, 0, 0},
                                                  {0, OD_SEGMENT_HOLD, INFINITY, 0, 0, 0},
                                                  {0, NAN, 1, 0, 0, 0},
                                                  {0, OD_SEGMENT_LAGGED_STEP, 1, 1, 0, 0}};
  for (int i = 0; i < COUNT(wrong); i++)
    assert_int_equal(od_signals_add(s, OD_SIGNAL_SEQUENCE, 0, wrong[i], 1 + OD_SEGMENT_NUMBERS), -1);
  assert_int_equal(od_signals_add(s, OD_SIGNAL_SEQUENCE, 0, complete, 1), -1);
  assert_int_equal(od_signals_add(s, OD_SIGNAL_SEQUENCE, 0, complete, 5), -1);
}

static double derivative(const od_signals *s, int node, double t, int order) {
  return order == 0 ? od_signal_value(s, node, t) : od_signal_derivative(s, node, t, order);
}

// Differences of sixth order of the values, or of derivatives of the next lower order, away from jumps.
static void test_slopes(void **state) {
  od_signals *s = *state;
  const double sine[] = {3, 0.5, 0.25, 10, 2}, chirp[] = {2, 0.5, 3, 10, 1, 0.5};
  const double stepped[] = {1, 1, 3, 0.5, 2}, steps[] = {0, 1, 10}, lagged[] = {0.4, 1, 1, 2, 3, -1};
  const double pairs[] = {0.5, 0, 2, 3, 5, -1}, prbs[] = {0, 1, 0.5, 1, 10};
  int node[] = {od_signals_add(s, OD_SIGNAL_SINE, 0, sine, 5),
                od_signals_add(s, OD_SIGNAL_CHIRP, 0, chirp, 6),
                od_signals_add(s, OD_SIGNAL_CHIRP, 1, chirp, 6),
                od_signals_add(s, OD_SIGNAL_STEPPED_SINE, 0, stepped, 5),
                od_signals_add(s, OD_SIGNAL_STEPS, 0, steps, 3),
                od_signals_add(s, OD_SIGNAL_LAGGED_STEPS, 0, lagged, 6),
                od_signals_add(s, OD_SIGNAL_RAMPS, 0, pairs, 6),
                od_signals_add(s, OD_SIGNAL_TABLE, 0, pairs, 6),
                od_signals_add(s, OD_SIGNAL_HALF_COSINES, 0, pairs, 6),
                od_signals_add(s, OD_SIGNAL_PRBS, 0, prbs, 5),
                od_signals_add(s, OD_SIGNAL_SEQUENCE, 0, complete, COUNT(complete)),
                od_signals_add(s, OD_SIGNAL_CONSTANT, 0, steps, 1),
                -1,
                -1};
  int sum = COUNT(node) - 2, rate = COUNT(node) - 1;
  node[sum] = od_signals_add_sum(s, node, sum);
  node[rate] = od_signals_add_derivative(s, node[sum]);
  const double h = 1e-3;
  for (int i = 0; i < COUNT(node); i++) {
    int compared = 0;
    for (double t = -0.503; t < 14; t += 0.0377) {
      if (od_signal_next_break(s, node[i], t - 4 * h) < t + 4 * h) continue;
      assert_true(od_signal_slope(s, node[i], t) == od_signal_derivative(s, node[i], t, 1));
      // The lagged step of the sequence is fast: the relative error of its differences is 1e-6, and derivatives grow by 200 with
      // every order.
      double steep = i == 10 || i == sum ? 2e-4 : i == rate ? 4e-2 : 0;
      for (int order = 1; order <= (i == rate ? 2 : 3); order++, steep *= 200) {
        double d[3];
        for (int k = 1; k <= 3; k++)
          d[k - 1] = (derivative(s, node[i], t + k * h, order - 1) - derivative(s, node[i], t - k * h, order - 1)) /
                     (2 * k * h);
        near(derivative(s, node[i], t, order), 1.5 * d[0] - 0.6 * d[1] + 0.1 * d[2], steep + 1e-8 * pow(10, order - 1));
      }
      compared++;
    }
    assert_true(compared > 200);
  }
}

// Every kind, with the times at which its value, slope or second derivative jumps by the closed forms above signal.c.
static void test_breaks_of_all_kinds(void **state) {
  od_signals *s = *state;
  const double end = INFINITY;
  const struct {
    od_signal_kind kind;
    int flag, count;
    double numbers[2 * OD_SEGMENT_NUMBERS + 1], jumps[5];
  } row[] = {
      {OD_SIGNAL_CONSTANT, 0, 1, {3}, {end}},
      {OD_SIGNAL_SINE, 0, 5, {3, 0.5, 0, 10, 2}, {2, end}},
      {OD_SIGNAL_SINE, 0, 5, {3, 0.5, pi / 2, -3, 2}, {2, end}},
      {OD_SIGNAL_CHIRP, 0, 6, {2, 0.5, 3, 10, 1, 0.5}, {0.5, 10.5, end}},
      {OD_SIGNAL_CHIRP, 1, 6, {2, 0.5, 3, 10, 1, 0.5}, {0.5, 10.5, end}},
      {OD_SIGNAL_STEPPED_SINE, 0, 5, {1, 1, 2, 1, 2}, {0, 2, 3, end}},
      {OD_SIGNAL_STEPS, 0, 5, {0, 1, 10, 2, 3}, {1, 2, end}},
      {OD_SIGNAL_LAGGED_STEPS, 0, 6, {0.4, 1, 1, 2, 3, -1}, {1, 3, end}},
      {OD_SIGNAL_RAMPS, 0, 6, {0.5, 0, 2, 3, 5, -1}, {0.5, 2, 5, end}},
      {OD_SIGNAL_TABLE, 0, 6, {0.5, 0, 2, 3, 5, -1}, {0.5, 2, 5, end}},
      {OD_SIGNAL_HALF_COSINES, 0, 6, {0.5, 0, 2, 3, 5, -1}, {0.5, 2, 5, end}},
      {OD_SIGNAL_PRBS, 0, 5, {0, 1, 0.5, 1, 2}, {end}},  // its edges: test_signal.c
      {OD_SIGNAL_SEQUENCE, 0, 11, {0, OD_SEGMENT_HOLD, 1, 0, 0, 0, OD_SEGMENT_HALF_COSINE, 2, 6}, {0, 1, 3, end}}};
  for (int i = 0; i < COUNT(row); i++) {
    int node = od_signals_add(s, row[i].kind, row[i].flag, row[i].numbers, row[i].count);
    int rate = od_signals_add_derivative(s, node), sum = od_signals_add_sum(s, (int[]){node, 0}, 2);
    double t = -1;
    for (int k = 0; row[i].kind != OD_SIGNAL_PRBS && (k == 0 || isfinite(t)); k++) {
      double next = od_signal_next_break(s, node, t);
      if (next != row[i].jumps[k]) fail_msg("signal %d: a break at %g instead of %g", i, next, row[i].jumps[k]);
      assert_true(od_signal_next_break(s, rate, t) == next && od_signal_next_break(s, sum, t) == next);
      t = next;
    }
  }
}

// Second and third derivatives in closed form, to the last digits.
static void test_derivatives_in_closed_form(void **state) {
  od_signals *s = *state;
  double w = 2 * pi * 450, t = 0.0371, T = 0.3e-3, g = log(40) / 2, phase = 2 * pi * 0.5 / g * expm1(g * 1.2);
  int sine = od_signals_add(s, OD_SIGNAL_SINE, 0, (double[]){0.1, 450, 0.2, 7, 0}, 5);
  int cosine = od_signals_add(s, OD_SIGNAL_HALF_COSINES, 0, (double[]){0.5, 0, 0.5 + T, 0.01}, 4);
  int chirp = od_signals_add(s, OD_SIGNAL_CHIRP, 1, (double[]){3, 0.5, 20, 2, 0, 0}, 6);
  int lag = od_signals_add(s, OD_SIGNAL_LAGGED_STEPS, 0, (double[]){0.4, 1, 1, 2}, 4);
  near(od_signal_derivative(s, sine, t, 2), -0.1 * w * w * sin(w * t + 0.2), 1e-9 * 0.1 * w * w);
  near(od_signal_derivative(s, sine, t, 3), -0.1 * w * w * w * cos(w * t + 0.2), 1e-9 * 0.1 * w * w * w);
  near(od_signal_derivative(s, cosine, 0.5, 2), 0.005 * pow(pi / T, 2), 1e-6);
  near(od_signal_derivative(s, cosine, 0.5, 1), 0, 0);
  near(od_signal_derivative(s, cosine, 0.5 + T / 3, 2), 0.005 * pow(pi / T, 2) * cos(pi / 3), 1e-6);
  near(od_signal_derivative(s, cosine, 0.5 + T, 2), 0, 0);
  double f = 2 * pi * 0.5 * exp(g * 1.2);
  near(od_signal_derivative(s, chirp, 1.2, 2), 3 * (g * f * cos(phase) - f * f * sin(phase)), 1e-10);
  near(od_signal_derivative(s, lag, 1.2, 2), -1 / 0.16 * exp(-0.5), 1e-13);
}

static void test_derivative(void **state) {
  od_signals *s = *state;
  const double pairs[] = {0, 0, 2, 1, 3, 1};
  int cosines = od_signals_add(s, OD_SIGNAL_HALF_COSINES, 0, pairs, 6);
  int lag = od_signals_add(s, OD_SIGNAL_LAGGED_STEPS, 0, (double[]){0.5, 0, 1, 2}, 4);
  int rate = od_signals_add_derivative(s, od_signals_add_sum(s, (int[]){cosines, lag}, 2));
  near(od_signal_value(s, rate, 1), pi / 4 + 2 / 0.5, 1e-14);
  near(od_signal_value(s, rate, 1.5), pi / 4 * sin(0.75 * pi) + 4 * exp(-1), 1e-14);
  // A half-cosine has a continuous slope; its second derivative jumps at the ends.
  assert_true(od_signal_next_break(s, rate, -1) == 0 && od_signal_next_break(s, rate, 1) == 2);
  assert_true(od_signal_duration(s, rate) == 3.5);
  assert_int_equal(od_signals_add_derivative(s, rate), -1);
  assert_int_equal(od_signals_add_derivative(s, od_signals_add_sum(s, (int[]){cosines, rate}, 2)), -1);
}

// Of the 13 s trajectory: the sine's zero at 1.5 s, where it is zero between segments and continues with the other sign, and the zeros of
// the second sine.
static void test_reversals(void **state) {
  od_signals *s = *state;
  int node = od_signals_add(s, OD_SIGNAL_SEQUENCE, 0, complete, COUNT(complete));
  const double reversals[] = {1.5, 3, 5.75, 8.5, 9, 9.5, 10, 10.5, INFINITY};
  double t = 0;
  for (int i = 0; i < COUNT(reversals); i++) {
    t = od_signal_next_reversal(s, node, t, 20);
    if (isinf(reversals[i]))
      assert_true(isinf(t));
    else
      near(t, reversals[i], 1e-7);  // a half-cosine starts quadratically from zero
    if (!isinf(t)) assert_true(od_signal_value(s, node, t) * by_hand(reversals[i] - 1e-3) < 0);
  }
  int steps = od_signals_add(s, OD_SIGNAL_STEPS, 0, (double[]){1, 2, 0, 3, -1, 4, -2, 5, 7}, 9);
  assert_true(od_signal_next_reversal(s, steps, 0, 10) == 3);
  assert_true(od_signal_next_reversal(s, steps, 3, 10) == 5);
  assert_true(isinf(od_signal_next_reversal(s, steps, 3, 4.5)) && isinf(od_signal_next_reversal(s, steps, 5, 1e9)));
  // 0.3 sin(2 pi t) + 0.5 sin(2 pi 3 t + 1): by a fine search.
  int a = od_signals_add(s, OD_SIGNAL_SINE, 0, (double[]){0.3, 1, 0, 0, 0}, 5);
  int b = od_signals_add(s, OD_SIGNAL_SINE, 0, (double[]){0.5, 3, 1, 0, 0}, 5);
  int sum = od_signals_add_sum(s, (int[]){a, b}, 2);
  double found = 0, before = od_signal_value(s, sum, 0);
  for (int k = 1; k <= 3000000; k++) {
    double value = od_signal_value(s, sum, k * 1e-6);
    if (value * before < 0) {
      found = od_signal_next_reversal(s, sum, found, 3);
      near(found, (k - 0.5) * 1e-6, 0.6e-6);
    }
    if (value != 0) before = value;
  }
  assert_true(isinf(od_signal_next_reversal(s, sum, found, 3)));
}

// Equal areas, by Simpson's rule, for the densities and numbers of values of the thesis.
static void test_places_have_equal_areas(void **state) {
  (void)state;
  const od_density d = {192900, 91.1, 6000};
  const int counts[] = {5, 10, 15, 20, 30, 50};
  for (int c = 0; c < COUNT(counts); c++) {
    double first = NAN;
    assert_true(od_density_place(&d, 0.001, 0.25, counts[c], 0) == 0.001);
    assert_true(od_density_place(&d, 0.001, 0.25, counts[c], counts[c] - 1) == 0.25);
    for (int i = 1; i < counts[c]; i++) {
      double a = od_density_place(&d, 0.001, 0.25, counts[c], i - 1);
      double b = od_density_place(&d, 0.001, 0.25, counts[c], i), sum = 0, h = (b - a) / 2000;
      for (int k = 0; k <= 2000; k++)
        sum += (k == 0 || k == 2000 ? 1 : k % 2 ? 4 : 2) * (6000 + 192900 * exp(-91.1 * (a + k * h)));
      sum *= h / 3;
      if (i == 1) first = sum;
      near(sum / first, 1, 1e-9);
    }
  }
}

static void test_densities_of_other_shapes(void **state) {
  (void)state;
  const od_density even = {0, 0, 1}, flat = {1, 0, 0}, growing = {1, -1, 0}, none = {0, 1, 0}, negative = {-1, 1, 0.5};
  near(od_density_place(&even, 1, 3, 5, 1), 1.5, 1e-15);
  near(od_density_place(&flat, 1, 3, 5, 3), 2.5, 1e-15);
  near(od_density_place(&growing, 0, 1, 3, 1), log((1 + exp(1)) / 2), 1e-14);
  assert_true(isnan(od_density_place(&none, 0, 1, 3, 1)) && isnan(od_density_place(&negative, 0, 1, 3, 1)));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_complete_trajectory),
      TEST(test_segments_go_on_where_the_last_one_ended),
      TEST(test_what_is_no_segment_is_refused),
      TEST(test_slopes),
      TEST(test_derivatives_in_closed_form),
      TEST(test_breaks_of_all_kinds),
      TEST(test_derivative),
      TEST(test_reversals),
      cmocka_unit_test(test_places_have_equal_areas),
      cmocka_unit_test(test_densities_of_other_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
