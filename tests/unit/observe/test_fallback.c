// The relinearizing filter falls back to the iterated extended filter if the samples do not fit the model. Oracles: the iterated extended
// filter on the same samples, bit by bit; the excess of J at which the filter falls back, in closed form; normal numbers, whose squares a
// correct model explains; observers that were not saved.
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/oleodyn.h"
#include "support/allocations.h"
#include "support/machines.h"
#include "support/random_machine.h"

// ---- x' = u - p x^2, y = x

// Values of p for which the rate or the output cannot be computed.
static double no_rate = NAN, no_output = NAN;

static int decay(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  if (p[0] == no_rate) return 1;
  dx[0] = u[0] - p[0] * x[0] * x[0];
  return 0;
}
static int decay_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                           double *fu, double *fp) {
  (void)user, (void)t, (void)u;
  if (fx) fx[0] = -2 * p[0] * x[0];
  if (fu) fu[0] = 1;
  if (fp) fp[0] = -x[0] * x[0];
  return 0;
}
static int itself(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t, (void)u;
  y[0] = x[0];
  return p[0] == no_output;
}
static int itself_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *hx,
                            double *hu, double *hp) {
  (void)user, (void)t, (void)x, (void)u, (void)p;
  if (hx) hx[0] = 1;
  if (hu) hu[0] = 0;
  if (hp) hp[0] = 0;
  return 0;
}

static const double start_x = 1, start_p = 0.4, step = 0.03, sensor = 0.05;
static const double start_P[4] = {1, 0, 0, 4}, noise[2] = {4e-6, 0};

static od_plant *make_plant(void) {
  const od_function f = {.nx = 1,
                         .nu = 1,
                         .ny = 1,
                         .np = 1,
                         .x0 = &start_x,
                         .p = &start_p,
                         .f = decay,
                         .f_jacobians = decay_jacobians,
                         .h = itself,
                         .h_jacobians = itself_jacobians,
                         .fingerprint = 31};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
  return plant;
}

enum { SAMPLES = 600, WINDOW = 64, AT_ONCE = 1 };

static double input(int k) {
  return 0.5 + 0.3 * sin(0.05 * k);
}

static double normal(od_dice *dice) {
  double a = od_dice_uniform(dice, 0, 1), b = od_dice_uniform(dice, 0, 1);
  return sqrt(-2 * log(1 - a)) * cos(6.283185307179586 * b);
}

// Fills y (SAMPLES + 1) with the readings of a machine that starts at 3 with p = 2. From the sample `error_from` on the sensor has an
// error that the model does not contain, a sine of `size` standard deviations: each value then adds 1 + size^2 / 2 to J instead of 1.
static void measure(uint64_t seed, int error_from, double size, double *y) {
  od_dice dice = {seed};
  double x = 3;
  for (int k = 0; k <= SAMPLES; k++) {
    if (k > 0) {  // a step of the trapezoidal rule: a quadratic equation
      double a = step * 2 / 2, c = x - a * x * x + step * (input(k - 1) + input(k)) / 2;
      x = 2 * c / (1 + sqrt(1 + 4 * a * c)) + sqrt(noise[0]) * normal(&dice);
    }
    y[k] = x + sensor * normal(&dice) + (k >= error_from ? size * sensor * sin(0.5 * k) : 0);
  }
}

static od_observer *make_observer(const od_plant *plant, const char *filter, int window, bool at_once) {
  const double choice[3] = {window, !at_once, 0}, u = input(0);
  const bool has_window = strcmp(filter, "relinearising") == 0;
  const od_observer_options options = {
      .filter = od_filter_find(filter), .sensor_sigma = &sensor, .choice = has_window ? choice : NULL};
  od_observer *o = od_observer_new(plant, &options);
  assert_non_null(o);
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, start_P, &u), OD_OK);
  return o;
}

static void take(od_observer *o, int k, const double *y) {
  const double u = input(k);
  if (k > 0) assert_int_equal(od_observer_predict(o, step, &u, NULL, noise), OD_OK);
  assert_int_equal(od_observer_correct(o, y + k), OD_OK);
}

static bool are_equal(od_observer *a, od_observer *b) {
  return memcmp(od_observer_state(a), od_observer_state(b), sizeof(double)) == 0 &&
         memcmp(od_observer_parameters(a), od_observer_parameters(b), sizeof(double)) == 0 &&
         memcmp(od_observer_covariance(a), od_observer_covariance(b), 4 * sizeof(double)) == 0 &&
         memcmp(od_observer_bias(a), od_observer_bias(b), 2 * sizeof(double)) == 0;
}

// ---- a wrong model

// After the fallback all results are those of the iterated extended filter. Before, the filter has linearized samples again.
static void wrong_from_the_start(void **state) {
  (void)state;
  od_plant *plant = make_plant();
  for (int at_once = 0; at_once < 2; at_once++)
    for (uint64_t seed = 1; seed <= 20; seed++) {
      double y[SAMPLES + 1];
      measure(seed, 0, 2, y);
      od_observer *a = make_observer(plant, "iterated-ekf", WINDOW, at_once),
                  *b = make_observer(plant, "relinearising", WINDOW, at_once);
      int since = -1, different = 0;
#if COUNTING
      long before = allocations;
#endif
      for (int k = 0; k <= SAMPLES; k++) {
        take(a, k, y);
        take(b, k, y);
        bool fell_back = od_observer_fell_back(b);
        if (fell_back && since < 0) since = k;
        if (since < 0 && !are_equal(a, b)) different++;
        assert_true(fell_back == (since >= 0) && !od_observer_fell_back(a));
        if (fell_back && !are_equal(a, b)) fail_msg("seed %d, sample %d: not the extended filter", (int)seed, k);
        if (fell_back) assert_true(!od_observer_settled(b));
        // The innovations of the sample at which the filter falls back are those of the former filter.
        if (since >= 0 && k > since)
          assert_memory_equal(od_observer_innovations(a), od_observer_innovations(b), sizeof(od_innovation));
      }
#if COUNTING
      assert_int_equal(allocations, before);
#endif
      if (seed == 1) print_message("%s: fell back at sample %d\n", at_once ? "at once" : "spread", since);
      assert_true(different > WINDOW / 2 && since >= WINDOW && since <= 4 * WINDOW);
      od_observer_free(a);
      od_observer_free(b);
    }
  od_plant_free(plant);
}

// An error that begins later: the filter has settled. It falls back to the extended filter that continues from the last settled estimate.
// The live estimate is that filter, so the fallback is an ordinary sample: the estimate follows from the preceding one.
static void wrong_later(void **state) {
  (void)state;
  od_plant *plant = make_plant();
  double y[SAMPLES + 1];
  measure(3, 320, 4, y);
  od_observer *o = make_observer(plant, "relinearising", WINDOW, AT_ONCE);
  int since = -1;
  for (int k = 0; k <= SAMPLES; k++) {
    od_observer *one = make_observer(plant, "iterated-ekf", WINDOW, AT_ONCE);
    const double u = input(k - 1);
    double P[4];
    memcpy(P, od_observer_covariance(o), sizeof P);
    if (k > 0)
      assert_int_equal(
          od_observer_start(one, od_observer_time(o), od_observer_state(o), od_observer_parameters(o), P, &u), OD_OK);
    take(o, k, y);
    take(one, k, y);
    if (k == 319) assert_true(od_observer_settled(o));
    if (since < 0 && od_observer_fell_back(o)) since = k;
    if (since >= 0) {
      near(od_observer_state(o)[0], od_observer_state(one)[0], 1e-9);
      near(od_observer_parameters(o)[0], od_observer_parameters(one)[0], 1e-9);
    }
    od_observer_free(one);
  }
  print_message("wrong from sample 320 on: fell back at sample %d\n", since);
  assert_true(since > 320 && since <= 320 + 2 * WINDOW);
  od_observer_free(o);
  od_plant_free(plant);
}

// The filter to fall back on, whose parameter is that of the iterated extended filter, cannot predict or correct one sample. The live observer can.
// The fallback then continues the live estimate: it follows from the preceding one.
static void plain_filter_fails(void **state) {
  (void)state;
  enum { FAILS = 40 };
  od_plant *plant = make_plant();
  for (int kind = 0; kind < 3; kind++) {  // the last kind does not fail
    double y[SAMPLES + 1];
    measure(2, 0, 2, y);
    if (kind == 0) y[FAILS] = NAN;  // no value: a correction cannot notice the failed prediction
    od_observer *a = make_observer(plant, "iterated-ekf", WINDOW, AT_ONCE),
                *b = make_observer(plant, "relinearising", WINDOW, AT_ONCE);
    int since = -1;
    for (int k = 0; k <= SAMPLES && (since < 0 || k < since + 20); k++) {
      od_observer *one = make_observer(plant, "iterated-ekf", WINDOW, AT_ONCE);
      const double u = input(k - 1), live = od_observer_parameters(b)[0], plain = od_observer_parameters(a)[0];
      double P[4];
      memcpy(P, od_observer_covariance(b), sizeof P);
      if (k > 0)
        assert_int_equal(od_observer_start(one, od_observer_time(b), od_observer_state(b), &live, P, &u), OD_OK);
      take(a, k, y);
      take(one, k, y);
      if (k == FAILS) {
        assert_true(live != plain && !od_observer_fell_back(b));
        *(kind == 0 ? &no_rate : &no_output) = kind < 2 ? plain : (double)NAN;
      }
      take(b, k, y);
      no_rate = no_output = NAN;
      if (since < 0 && od_observer_fell_back(b)) since = k;
      if (since == k) {
        bool follows = fabs(od_observer_parameters(b)[0] - od_observer_parameters(one)[0]) < 1e-9 &&
                       fabs(od_observer_state(b)[0] - od_observer_state(one)[0]) < 1e-9;
        assert_true(follows == (kind < 2) && are_equal(a, b) == (kind == 2));
      }
      od_observer_free(one);
    }
    print_message("the plain filter fails (%d): fell back at sample %d\n", kind, since);
    assert_true(since > FAILS);
    od_observer_free(a);
    od_observer_free(b);
  }
  od_plant_free(plant);
}

// The caller increases the covariance, or starts again: the filter linearizes samples again.
static void ends(void **state) {
  (void)state;
  od_plant *plant = make_plant();
  double wrong[SAMPLES + 1], right[SAMPLES + 1], u = input(0);
  measure(4, 0, 2, wrong);
  measure(4, SAMPLES + 1, 0, right);
  for (int again = 0; again < 2; again++) {
    od_observer *o = make_observer(plant, "relinearising", WINDOW, AT_ONCE);
    for (int k = 0; k < 300; k++) take(o, k, wrong);
    assert_true(od_observer_fell_back(o));
    if (again)
      assert_int_equal(od_observer_start(o, 0, NULL, NULL, start_P, &u), OD_OK);
    else
      od_observer_inflate(o, 10);
    assert_true(!od_observer_fell_back(o));
    for (int k = again ? 0 : 300; k <= SAMPLES; k++) take(o, k, again ? right : wrong);
    assert_true(again ? od_observer_settled(o) && !od_observer_fell_back(o) : od_observer_fell_back(o));
    od_observer_free(o);
  }
  od_plant_free(plant);
}

// A digital controller jumps every fourth step, and inputs jump: the filter to fall back on follows both.
static void with_jumps(void **state) {
  (void)state;
  enum { MOST = 8 };
  od_machine *machine = od_test_machine_text(
      "machine: Digital\ninputs: {u: {unit: V, sine: {amplitude: 1 V, frequency: 0.5 Hz}}}\n"
      "blocks:\n  error: {type: sum, inputs: [u, lag], weights: [1, -1]}\n"
      "  control: {type: pid, input: error, kp: 3, ki: 2 1/s, sample: 20 ms}\n"
      "  lag: {type: first-order, input: control, gain: 1, time_constant: 0.3 s}\nrun: {time: 4 s, step: 5 ms}\n");
  int output = od_test_output(machine, "lag");
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, &output, 1, NULL, 0, &plant, NULL), OD_OK);
  int nx = od_plant_nx(plant), since = -1;
  assert_true(nx >= 3 && nx <= MOST);
  double P[MOST * MOST] = {0}, q[MOST] = {0}, u = 0;
  for (int i = 0; i < nx; i++) P[i * (nx + 1)] = 0.04, q[i] = 1e-6;
  od_observer *o[2];
  static const char *const filters[] = {"iterated-ekf", "relinearising"};
  for (int i = 0; i < 2; i++) {
    const od_observer_options options = {.filter = od_filter_find(filters[i]),
                                         .sensor_sigma = &sensor,
                                         .choice = i ? (const double[]){WINDOW, 1, 0} : NULL};
    o[i] = od_observer_new(plant, &options);
    assert_int_equal(od_observer_start(o[i], 0, NULL, NULL, P, &u), OD_OK);
  }
  for (int k = 1; k <= 400; k++) {
    const double y = 0.3 * sin(0.02 * k) + 0.2 * (k % 7 - 3), later = u + 0.5;
    od_machine_inputs(machine, 0.005 * k, &u);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(od_observer_predict(o[i], 0.005, &u, NULL, q), OD_OK);
      if (k % 5 != 2) assert_int_equal(od_observer_correct(o[i], &y), OD_OK);
      if (k % 50 == 9) assert_int_equal(od_sim_set_inputs(od_observer_sim(o[i]), &later), OD_OK);
    }
    if (since < 0 && od_observer_fell_back(o[1])) since = k;
    if (since < 0) continue;
    assert_memory_equal(od_observer_state(o[0]), od_observer_state(o[1]), (size_t)nx * sizeof(double));
    assert_memory_equal(od_observer_covariance(o[0]), od_observer_covariance(o[1]), (size_t)(nx * nx) * sizeof(double));
  }
  print_message("sampled blocks: fell back at sample %d\n", since);
  assert_true(since >= WINDOW && since < 3 * WINDOW);
  for (int i = 0; i < 2; i++) od_observer_free(o[i]);
  od_plant_free(plant);
  od_machine_free(machine);
}

// ---- the limit

// The state is known exactly and constant (P = 0, u = 0, p = 0), and all values differ from it by r standard deviations. Then J is N r^2 over N
// values. By the approximation of Wilson and Hilferty, the cube root of J / N is normal, with mean 1 - v and variance v = 2 / (9 N); the
// filter falls back six standard deviations above the mean.
static void limit_in_closed_form(void **state) {
  (void)state;
  od_plant *plant = make_plant();
  for (int window = 16; window <= 256; window *= 4)
    for (int above = 0; above < 2; above++) {
      const double P[4] = {0}, zero = 0, N = window + 1, v = 2 / (9 * N), choice[3] = {window, 0, 0};
      double r = sqrt(pow(1 - v + 6 * sqrt(v), 3)) * (above ? 1 + 1e-9 : 1 - 1e-9);
      const od_observer_options options = {
          .filter = od_filter_find("relinearising"), .sensor_sigma = &sensor, .choice = choice};
      od_observer *o = od_observer_new(plant, &options);
      assert_int_equal(od_observer_start(o, 0, NULL, &zero, P, &zero), OD_OK);
      for (int k = 0; k <= window; k++) {
        const double y = start_x + (k % 2 ? r : -r) * sensor;
        assert_true(!od_observer_fell_back(o));
        if (k > 0) assert_int_equal(od_observer_predict(o, step, &zero, NULL, NULL), OD_OK);
        assert_int_equal(od_observer_correct(o, &y), OD_OK);
      }
      if (above) print_message("%d values: limit of the deviation %.6f sigmas\n", window + 1, r);
      assert_true(od_observer_fell_back(o) == above && !od_observer_settled(o));
      od_observer_free(o);
    }
  od_plant_free(plant);
}

// ---- a correct model

// J of a correct model is chi-square: the filter never falls back, with short windows of a known state, and with an estimated parameter. The
// smallest excess that is tested has a probability of 1e-9.
static void never_with_a_correct_model(void **state) {
  (void)state;
  enum { SEEDS = 300, SHORT = 16 };
  od_plant *plant = make_plant();
  long settled = 0, windows = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    double y[SAMPLES + 1];
    measure(1000 + seed, SAMPLES + 1, 0, y);
    int window = seed % 2 ? WINDOW : SHORT;
    od_observer *o = make_observer(plant, "relinearising", window, AT_ONCE);
    for (int k = 0; k <= SAMPLES; k++) {
      take(o, k, y);
      if (od_observer_fell_back(o)) fail_msg("seed %d: fell back at sample %d", (int)seed, k);
    }
    windows += SAMPLES / window;
    settled += od_observer_settled(o);
    od_observer_free(o);
  }
  print_message("correct model: %d runs, %ld windows, %ld runs settled at the end\n", SEEDS, windows, settled);
  assert_true(settled > 0.97 * SEEDS);
  od_plant_free(plant);
}

// ---- saved states

// Saved before, at and after the fallback, in all phases of the work on a window, and restored to another observer: all later results are
// the same bits.
static void saved_across_the_fallback(void **state) {
  (void)state;
  od_plant *plant = make_plant();
  double y[SAMPLES + 1];
  measure(5, 0, 2, y);
  od_observer *o = make_observer(plant, "relinearising", WINDOW, !AT_ONCE);
  int before = 0, after = 0;
  for (int k = 0; k < 240; k++) {
    take(o, k, y);
    size_t size = od_observer_save_size(o);
    void *saved = malloc(size), *copy = malloc(od_observer_block_size(o));
    od_error err = {0};
    od_observer *other = make_observer(plant, "relinearising", WINDOW, !AT_ONCE);
    assert_int_equal(od_observer_save(o, saved), OD_OK);
    if (od_observer_restore(other, saved, size, &err) != OD_OK) fail_msg("sample %d: %s", k, err.text);
    memcpy(copy, o, od_observer_block_size(o));
    *(od_observer_fell_back(o) ? &after : &before) += 1;
    for (int i = k + 1; i < k + 150; i += 1) {
      take(copy, i, y);
      take(other, i, y);
      assert_true(are_equal(copy, other) && od_observer_fell_back(copy) == od_observer_fell_back(other));
    }
    od_observer_free(other);
    free(saved);
    free(copy);
  }
  print_message("saved %d times before the fallback and %d times after it\n", before, after);
  assert_true(before > WINDOW && after > WINDOW);
  od_observer_free(o);
  od_plant_free(plant);
}

// A saved observer belongs to its options: another window, another distribution of the work and another sensor are refused.
static void saved_with_other_options(void **state) {
  (void)state;
  od_plant *plant = make_plant();
  const double other_sensor = 2 * sensor, u = input(0);
  const double choices[][3] = {{WINDOW, 1, 0}, {WINDOW * 2, 1, 0}, {WINDOW, 0, 0}, {WINDOW, 1, 1}, {WINDOW, 1, 0}};
  for (int i = 0; i < 5; i++) {
    od_observer *o[2];
    for (int k = 0; k < 2; k++) {
      const od_observer_options options = {.filter = od_filter_find("relinearising"),
                                           .sensor_sigma = k == 1 && i == 4 ? &other_sensor : &sensor,
                                           .choice = choices[k ? i : 0]};
      o[k] = od_observer_new(plant, &options);
      assert_non_null(o[k]);
      assert_int_equal(od_observer_start(o[k], 0, NULL, NULL, start_P, &u), OD_OK);
    }
    size_t size = od_observer_save_size(o[0]);
    void *saved = malloc(size);
    od_error err = {0};
    assert_int_equal(od_observer_save(o[0], saved), OD_OK);
    assert_int_equal(od_observer_restore(o[1], saved, size, &err), i ? OD_BAD_INPUT : OD_OK);
    if (i) assert_non_null(strstr(err.text, "other options"));
    free(saved);
    for (int k = 0; k < 2; k++) od_observer_free(o[k]);
  }
  od_plant_free(plant);
}

// Process noise that changes from sample to sample, as a matrix and as a list of variances: the same estimates.
static void changing_noise(void **state) {
  (void)state;
  od_plant *plant = make_plant();
  double y[SAMPLES + 1], farthest = 0;
  measure(6, SAMPLES + 1, 0, y);
  od_observer *a = make_observer(plant, "relinearising", WINDOW, AT_ONCE),
              *b = make_observer(plant, "relinearising", WINDOW, AT_ONCE),
              *c = make_observer(plant, "relinearising", WINDOW, AT_ONCE);
  for (int k = 0; k <= 300; k++) {
    const double u = input(k), q[2] = {noise[0] * (1 + 50 * (k / 2 % 3)), 1e-5 * (k % 2)}, Q[4] = {q[0], 0, 0, q[1]};
    if (k > 0) {
      assert_int_equal(od_observer_predict(a, step, &u, NULL, q), OD_OK);
      assert_int_equal(od_observer_predict(b, step, &u, Q, NULL), OD_OK);
      assert_int_equal(od_observer_predict(c, step, &u, NULL, noise), OD_OK);
    }
    assert_int_equal(od_observer_correct(a, y + k), OD_OK);
    assert_int_equal(od_observer_correct(b, y + k), OD_OK);
    assert_int_equal(od_observer_correct(c, y + k), OD_OK);
    near(od_observer_state(b)[0], od_observer_state(a)[0], 1e-9);
    near(od_observer_parameters(b)[0], od_observer_parameters(a)[0], 1e-9);
    for (int i = 0; i < 4; i++) near(od_observer_covariance(b)[i], od_observer_covariance(a)[i], 1e-9);
    farthest = fmax(farthest, fabs(od_observer_parameters(c)[0] - od_observer_parameters(a)[0]));
  }
  assert_true(farthest > 1e-3);  // the noise has an effect
  od_observer_free(a), od_observer_free(b), od_observer_free(c);
  od_plant_free(plant);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_from_the_start),
      cmocka_unit_test(wrong_later),
      cmocka_unit_test(changing_noise),
      cmocka_unit_test(saved_with_other_options),
      cmocka_unit_test(plain_filter_fails),
      cmocka_unit_test(ends),
      cmocka_unit_test(with_jumps),
      cmocka_unit_test(limit_in_closed_form),
      cmocka_unit_test(never_with_a_correct_model),
      cmocka_unit_test(saved_across_the_fallback),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
