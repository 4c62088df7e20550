// Signals. Oracle: closed forms.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

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

static void test_constant(void **state) {
  od_signals *s = *state;
  int node = od_signals_add(s, OD_SIGNAL_CONSTANT, 0, (double[]){7.5}, 1);
  assert_int_equal(node, 0);
  assert_true(od_signal_value(s, node, -1) == 7.5 && od_signal_value(s, node, 1e9) == 7.5);
  assert_true(isinf(od_signal_next_break(s, node, 0)));
  assert_true(od_signal_duration(s, node) == 0);
}

static void test_wrong_counts_are_refused(void **state) {
  od_signals *s = *state;
  double v[6] = {1, 2, 3, 4, 5, 6};
  assert_int_equal(od_signals_add(s, OD_SIGNAL_CONSTANT, 0, v, 2), -1);
  assert_int_equal(od_signals_add(s, OD_SIGNAL_SINE, 0, v, 4), -1);
  assert_int_equal(od_signals_add(s, OD_SIGNAL_STEPS, 0, v, 2), -1);
  assert_int_equal(od_signals_add(s, OD_SIGNAL_LAGGED_STEPS, 0, v, 3), -1);
  assert_int_equal(od_signals_add(s, OD_SIGNAL_RAMPS, 0, v, 0), -1);
  assert_int_equal(od_signals_add(s, OD_SIGNAL_PRBS, 0, (double[]){0, 1, 1, 1, 32}, 5), -1);
  assert_int_equal(od_signals_add(s, OD_SIGNAL_PRBS, 0, (double[]){0, 1, 1, 1, 1}, 5), -1);
  assert_int_equal(od_signals_add_sum(s, (int[]){0}, 1), -1);
  assert_int_equal(od_signals_add(s, OD_SIGNAL_CONSTANT, 0, v, 1), 0);
}

static void test_sine(void **state) {
  od_signals *s = *state;
  int node = od_signals_add(s, OD_SIGNAL_SINE, 0, (double[]){3, 0.5, 0.25, 10, 2}, 5);
  assert_true(od_signal_value(s, node, 1.999) == 10);
  for (double t = 2; t < 20; t += 0.37)
    near(od_signal_value(s, node, t), 10 + 3 * sin(2 * pi * 0.5 * (t - 2) + 0.25), 1e-12);
  assert_true(od_signal_next_break(s, node, 0) == 2);
  assert_true(isinf(od_signal_next_break(s, node, 2)));
  assert_true(isinf(od_signal_duration(s, node)));
}

// The phase of a chirp is continuous, and its slope is the frequency.
static void chirp_case(od_signals *s, int logarithmic, double from, double to) {
  double duration = 8, start = 1, offset = 0.5;
  int node = od_signals_add(s, OD_SIGNAL_CHIRP, logarithmic, (double[]){2, from, to, duration, offset, start}, 6);
  assert_true(od_signal_value(s, node, 0.5) == offset);
  assert_true(od_signal_value(s, node, start) == offset);
  assert_true(od_signal_value(s, node, 9) == offset);

  // Compares the phase with the integral of the frequency by the midpoint rule, because unwrapping arcsin would not be
  // robust.
  double phase = 0, h = 1e-5;
  long n = lround(duration / h);
  for (long i = 0; i < n; i++) {
    double s0 = (double)i * h, middle = s0 + h / 2;
    if (i % 997 == 0) near(od_signal_value(s, node, start + s0), offset + 2 * sin(phase), 1e-6);
    double f = logarithmic ? from * pow(to / from, middle / duration) : from + (to - from) * middle / duration;
    phase += 2 * pi * f * h;
  }
  assert_true(od_signal_next_break(s, node, 0) == start);
  assert_true(od_signal_next_break(s, node, start) == start + duration);
  assert_true(isinf(od_signal_next_break(s, node, start + duration)));
  assert_true(od_signal_duration(s, node) == start + duration);
}

static void test_chirps(void **state) {
  chirp_case(*state, 0, 0.1, 10);
  chirp_case(*state, 0, 10, 0.1);
  chirp_case(*state, 1, 0.1, 10);
  chirp_case(*state, 1, 10, 0.1);
  chirp_case(*state, 1, 2, 2);
  chirp_case(*state, 0, 0, 5);
}

static void stepped_sine_case(od_signals *s, const double *v, const double *frequencies, int n) {
  int node = od_signals_add(s, OD_SIGNAL_STEPPED_SINE, 0, v, 5);
  double start = 0;
  for (int k = 0; k < n; k++) {
    double f = frequencies[k], length = v[4] / f;
    for (int i = 0; i < 40; i++) {
      double elapsed = length * (i + 0.3) / 40;
      near(od_signal_value(s, node, start + elapsed), v[0] * sin(2 * pi * f * elapsed), 1e-9);
    }
    near(od_signal_next_break(s, node, start + 0.5 * length), start + length, 1e-12 * (start + length));
    start += length;
  }
  assert_true(od_signal_value(s, node, start + 1e-6) == 0);
  assert_true(od_signal_value(s, node, -1) == 0);
  near(od_signal_duration(s, node), start, 1e-12 * start);
  assert_true(isinf(od_signal_next_break(s, node, od_signal_duration(s, node))));
}

static void test_stepped_sine(void **state) {
  // 0.1 is not a binary fraction: the last frequency must not be lost by rounding.
  stepped_sine_case(*state, (double[]){4, 0.5, 1, 0.1, 3}, (double[]){0.5, 0.6, 0.7, 0.8, 0.9, 1}, 6);
  stepped_sine_case(*state, (double[]){4, 3, 1, 1, 2}, (double[]){3, 2, 1}, 3);
  stepped_sine_case(*state, (double[]){4, 1, 2.4, 1, 5}, (double[]){1, 2}, 2);
  stepped_sine_case(*state, (double[]){4, 2, 2, 0, 5}, (double[]){2}, 1);
}

static void test_steps(void **state) {
  od_signals *s = *state;
  int node = od_signals_add(s, OD_SIGNAL_STEPS, 0, (double[]){-1, 0.3, 5, 0.7, 2}, 5);
  assert_true(od_signal_value(s, node, 0.29) == -1);
  // The new value holds at the jump itself, the old one just before it.
  assert_true(od_signal_value(s, node, 0.3) == 5);
  assert_true(od_signal_value(s, node, nextafter(0.3, 0)) == -1);
  assert_true(od_signal_value(s, node, 0.69) == 5);
  assert_true(od_signal_value(s, node, 100) == 2);
  assert_true(od_signal_next_break(s, node, 0) == 0.3);
  assert_true(od_signal_next_break(s, node, 0.3) == 0.7);
  assert_true(isinf(od_signal_next_break(s, node, 0.7)));
  assert_true(od_signal_duration(s, node) == 0.7);

  int initial_only = od_signals_add(s, OD_SIGNAL_STEPS, 0, (double[]){3}, 1);
  assert_true(od_signal_value(s, initial_only, 9) == 3 && isinf(od_signal_next_break(s, initial_only, 0)));
}

// y' = (v - y) / T solved piece by piece.
static void test_lagged_steps(void **state) {
  od_signals *s = *state;
  double T = 0.4, v[] = {T, 1, 1.0, 3, 1.5, -2, 4.0, 0};
  int node = od_signals_add(s, OD_SIGNAL_LAGGED_STEPS, 0, v, COUNT(v));
  assert_true(od_signal_value(s, node, 0.99) == 1);
  double y1 = 3 + (1 - 3) * exp(-0.5 / T), y2 = -2 + (y1 + 2) * exp(-2.5 / T);
  for (double t = 0; t < 0.5; t += 0.05) near(od_signal_value(s, node, 1 + t), 3 - 2 * exp(-t / T), 1e-14);
  for (double t = 0; t < 2.5; t += 0.05) near(od_signal_value(s, node, 1.5 + t), -2 + (y1 + 2) * exp(-t / T), 1e-14);
  for (double t = 0; t < 9; t += 0.05) near(od_signal_value(s, node, 4 + t), y2 * exp(-t / T), 1e-14);
  assert_true(od_signal_next_break(s, node, 0) == 1);
  assert_true(od_signal_next_break(s, node, 1) == 1.5);
  assert_true(od_signal_next_break(s, node, 1.5) == 4);
  assert_true(isinf(od_signal_next_break(s, node, 4)));
  assert_true(od_signal_duration(s, node) == 4 + 5 * T);

  // Without a time constant these are plain steps.
  v[0] = 0;
  int plain = od_signals_add(s, OD_SIGNAL_LAGGED_STEPS, 0, v, COUNT(v));
  assert_true(od_signal_value(s, plain, 1) == 3 && od_signal_value(s, plain, 1.5) == -2);
}

static void test_ramps(void **state) {
  od_signals *s = *state;
  // Two values at one time make a jump.
  double v[] = {1, 2, 3, 6, 3, 0, 5, 1};
  int node = od_signals_add(s, OD_SIGNAL_RAMPS, 0, v, COUNT(v));
  assert_true(od_signal_value(s, node, 0) == 2);
  near(od_signal_value(s, node, 2.5), 5, 1e-15);
  near(od_signal_value(s, node, nextafter(3, 0)), 6, 1e-14);
  assert_true(od_signal_value(s, node, 3) == 0);
  near(od_signal_value(s, node, 4), 0.5, 1e-15);
  assert_true(od_signal_value(s, node, 5) == 1 && od_signal_value(s, node, 50) == 1);
  double expected[] = {1, 3, 5, INFINITY}, t = 0;
  for (int i = 0; i < COUNT(expected); i++) {
    t = od_signal_next_break(s, node, t);
    assert_true(t == expected[i]);
  }
  assert_true(od_signal_duration(s, node) == 5);
}

static void test_half_cosines(void **state) {
  od_signals *s = *state;
  double v[] = {1, 2, 3, 6, 4, 0};
  int node = od_signals_add(s, OD_SIGNAL_HALF_COSINES, 0, v, COUNT(v));
  assert_true(od_signal_value(s, node, 0) == 2);
  for (double t = 1; t <= 3; t += 0.1) near(od_signal_value(s, node, t), 4 - 2 * cos(pi * (t - 1) / 2), 1e-14);
  for (double t = 3; t <= 4; t += 0.1) near(od_signal_value(s, node, t), 3 + 3 * cos(pi * (t - 3)), 1e-14);
  assert_true(od_signal_value(s, node, 9) == 0);
  // Flat at every knot: no jump, no kink; but the second derivative jumps there.
  for (int i = 0; i < 3; i++) {
    double h = 1e-5,
           slope = (od_signal_value(s, node, v[2 * i] + h) - od_signal_value(s, node, v[2 * i] - h)) / (2 * h);
    near(slope, 0, 2e-4);
    assert_true(od_signal_next_break(s, node, v[2 * i] - 0.5) == v[2 * i]);
  }
  assert_true(isinf(od_signal_next_break(s, node, 4)));

  double jump[] = {1, 2, 3, 6, 3, 0, 4, 1};
  int jumping = od_signals_add(s, OD_SIGNAL_HALF_COSINES, 0, jump, COUNT(jump));
  assert_true(od_signal_next_break(s, jumping, 1) == 3);
  assert_true(od_signal_next_break(s, jumping, 3) == 4);
}

static void test_table(void **state) {
  od_signals *s = *state;
  enum { rows = 100001 };
  double *v = malloc(2 * rows * sizeof *v);
  for (int i = 0; i < rows; i++) v[2 * i] = 1e-3 * i, v[2 * i + 1] = sin(v[2 * i]);
  int node = od_signals_add(s, OD_SIGNAL_TABLE, 0, v, 2 * rows);
  for (double t = 0; t < 100; t += 0.7771) near(od_signal_value(s, node, t), sin(t), 2e-7);
  assert_true(od_signal_value(s, node, 1e6) == v[2 * rows - 1]);
  assert_true(od_signal_next_break(s, node, v[200]) == v[202]);
  assert_true(od_signal_duration(s, node) == v[2 * rows - 2]);
  free(v);
}

static int prbs(od_signals *s, double order, double seed) {
  return od_signals_add(s, OD_SIGNAL_PRBS, 0, (double[]){0, 1, 1, seed, order}, 5);
}

static int bit(const od_signals *s, int node, double k) {
  return od_signal_value(s, node, k + 0.5) > 0.5;
}

// Ones outnumber zeros by one, and every window of the register's length except zero occurs once.
static void test_prbs_is_maximal(void **state) {
  od_signals *s = *state;
  for (int order = 2; order <= 16; order++) {
    int node = prbs(s, order, 5), length = (1 << order) - 1, ones = 0, window = 0;
    char *seen = calloc((size_t)length + 1, 1);
    for (int k = 0; k < length + order - 1; k++) {
      int b = bit(s, node, k);
      if (k < length) ones += b;
      window = (window << 1 | b) & length;
      if (k >= order - 1) {
        assert_int_not_equal(window, 0);
        assert_false(seen[window]);
        seen[window] = 1;
      }
    }
    free(seen);
    assert_int_equal(ones, (length + 1) / 2);
    assert_true(od_signal_duration(s, node) == length);
    for (int k = 0; k < 100; k++) assert_int_equal(bit(s, node, k), bit(s, node, k + 7.0 * length));
  }
}

static uint32_t window_at(const od_signals *s, int node, int order, double k) {
  uint32_t w = 0;
  for (int i = 0; i < order; i++) w = w << 1 | (uint32_t)bit(s, node, k + i);
  return w;
}

// The long registers have too many bits to count. Their period divides N = 2^n - 1 if the state returns after N, and it
// is N itself if the state does not return after N / q for any prime factor q of N.
static void test_long_prbs_have_full_period(void **state) {
  od_signals *s = *state;
  for (int order = 2; order <= 31; order++) {
    int node = prbs(s, order, 12345);
    double length = ldexp(1, order) - 1;
    uint32_t start = window_at(s, node, order, 0), rest = (uint32_t)length;
    assert_int_equal(window_at(s, node, order, length), start);
    for (uint32_t q = 2; rest > 1; q++) {
      if (q * q > rest) q = rest;
      if (rest % q) continue;
      while (rest % q == 0) rest /= q;
      if (length != q) assert_int_not_equal(window_at(s, node, order, length / q), start);
    }
  }
}

// Table and power give the same sequence on both sides of the change from one to the other: both satisfy the
// recurrence.
static void test_prbs_recurrence(void **state) {
  od_signals *s = *state;
  int n20 = prbs(s, 20, 99), n21 = prbs(s, 21, 99);
  for (int k = 0; k < 2000; k++) {
    assert_int_equal(bit(s, n20, k + 20), bit(s, n20, k) ^ bit(s, n20, k + 3));
    assert_int_equal(bit(s, n21, k + 21), bit(s, n21, k) ^ bit(s, n21, k + 2));
  }
}

// Bit k is the sum of the earlier bits at the taps of the published table (Xilinx XAPP 052), so that logs of other tools can be compared. Other
// primitive polynomials have the same period and another sequence.
static void test_prbs_taps(void **state) {
  od_signals *s = *state;
  static const int taps[32][4] = {[2] = {2, 1},
                                  [3] = {3, 2},
                                  [4] = {4, 3},
                                  [5] = {5, 3},
                                  [6] = {6, 5},
                                  [7] = {7, 6},
                                  [8] = {8, 6, 5, 4},
                                  [9] = {9, 5},
                                  [10] = {10, 7},
                                  [11] = {11, 9},
                                  [12] = {12, 6, 4, 1},
                                  [13] = {13, 4, 3, 1},
                                  [14] = {14, 5, 3, 1},
                                  [15] = {15, 14},
                                  [16] = {16, 15, 13, 4},
                                  [17] = {17, 14},
                                  [18] = {18, 11},
                                  [19] = {19, 6, 2, 1},
                                  [20] = {20, 17},
                                  [21] = {21, 19},
                                  [22] = {22, 21},
                                  [23] = {23, 18},
                                  [24] = {24, 23, 22, 17},
                                  [25] = {25, 22},
                                  [26] = {26, 6, 2, 1},
                                  [27] = {27, 5, 2, 1},
                                  [28] = {28, 25},
                                  [29] = {29, 27},
                                  [30] = {30, 6, 4, 1},
                                  [31] = {31, 28}};
  for (int order = 2; order <= 31; order++) {
    int node = prbs(s, order, 77);
    for (int k = order; k < order + 200; k++) {
      int sum = 0;
      for (int i = 0; i < 4 && taps[order][i]; i++) sum ^= bit(s, node, k - taps[order][i]);
      assert_int_equal(bit(s, node, k), sum);
    }
  }
}

static void test_prbs_edges(void **state) {
  od_signals *s = *state;
  // 0.1 s per bit: products and quotients round, edges must still be exact.
  int node = od_signals_add(s, OD_SIGNAL_PRBS, 0, (double[]){-2, 3, 0.1, 1, 10}, 5);
  double t = 0;
  int edges = 0;
  while (t < 1023 * 0.1) {
    double value = od_signal_value(s, node, t), next = od_signal_next_break(s, node, t);
    assert_true(next > t);
    assert_true(next - t < 10.5 * 0.1);
    assert_true(od_signal_value(s, node, nextafter(next, 0)) == value);
    assert_true(od_signal_value(s, node, next) == (value == 3 ? -2 : 3));
    near(next / 0.1, round(next / 0.1), 1e-9);
    t = next;
    edges++;
  }
  assert_in_range(edges, 511, 513);
  assert_true(od_signal_value(s, node, -5) == od_signal_value(s, node, 0));
  assert_true(isinf(od_signal_next_break(s, node, INFINITY)));
  int flat = od_signals_add(s, OD_SIGNAL_PRBS, 0, (double[]){2, 2, 0.1, 1, 10}, 5);
  assert_true(isinf(od_signal_next_break(s, flat, 0)));
}

static void test_sum(void **state) {
  od_signals *s = *state;
  int a = od_signals_add(s, OD_SIGNAL_STEPS, 0, (double[]){0, 1, 10}, 3);
  int b = od_signals_add(s, OD_SIGNAL_RAMPS, 0, (double[]){0.5, 0, 2, 3}, 4);
  int c = od_signals_add(s, OD_SIGNAL_CONSTANT, 0, (double[]){100}, 1);
  int ab = od_signals_add_sum(s, (int[]){a, b}, 2);
  int all = od_signals_add_sum(s, (int[]){ab, c}, 2);
  int none = od_signals_add_sum(s, NULL, 0);
  near(od_signal_value(s, all, 1.25), 10 + 1.5 + 100, 1e-12);
  double expected[] = {0.5, 1, 2, INFINITY}, t = 0;
  for (int i = 0; i < COUNT(expected); i++) {
    t = od_signal_next_break(s, all, t);
    assert_true(t == expected[i]);
  }
  assert_true(od_signal_duration(s, all) == 2);
  assert_true(od_signal_value(s, none, 1) == 0);
  assert_int_equal(od_signals_add_sum(s, (int[]){none + 1}, 1), -1);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_constant),
      TEST(test_wrong_counts_are_refused),
      TEST(test_sine),
      TEST(test_chirps),
      TEST(test_stepped_sine),
      TEST(test_steps),
      TEST(test_lagged_steps),
      TEST(test_ramps),
      TEST(test_half_cosines),
      TEST(test_table),
      TEST(test_prbs_is_maximal),
      TEST(test_long_prbs_have_full_period),
      TEST(test_prbs_recurrence),
      TEST(test_prbs_taps),
      TEST(test_prbs_edges),
      TEST(test_sum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
