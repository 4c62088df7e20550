// Simulated sensors: the statistics of their noise, delays, ranges, integration, and the noise that an observer assumes.
//
// Oracles: autocorrelations of colored noise in closed form, and its transition as a power series; sums of these
// correlations; sums of the trapezoidal rule over sines in closed form; the published sizes of the four-bar's signals.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "experiment/sensor.h"
#include "random/random.h"
#include "support/experiments.h"
#include "support/program.h"
#include "support/scratch.h"

#define FOURBAR OD_SOURCE_DIR "/cases/fourbar-observer/spring.yaml"

static const double pi = 3.141592653589793;

static od_sensor plain_sensor(void) {
  return (od_sensor){.name = "s",
                     .unit = "1",
                     .sigma = 1,
                     .scale = 1,
                     .every = 1,
                     .faults = {.stuck_from = INFINITY, .stuck_to = INFINITY, .dies = INFINITY}};
}

// Readings of a sensor for a signal.
static void say(const od_sensor *s, double sigma, uint64_t seed, double step, double (*signal)(double t), long count,
                double *said) {
  od_sensor_memory m;
  const od_sensor_noise noise = {.seed = seed, .stream = 7, .sigma = sigma};
  assert_true(od_sensor_memory_begin(&m, s, step));
  od_sensor_memory_begin_at(&m, s, 3, 2);
  for (long k = 0; k < count; k++) {
    double t = (double)k * step;
    said[k] = od_sensor_measure(s, &noise, k, t, signal ? signal(t) : 0, &m);
  }
  od_sensor_memory_end(&m);
}

// --- Colored noise ------------------------------------------------------------------------------------------------

// The autocorrelation of white noise after w^2/(s^2 + 2 d w s + w^2).
static double second_order_correlation(double w, double d, double t) {
  if (fabs(d - 1) < 1e-12) return exp(-w * t) * (1 + w * t);
  if (d < 1) {
    double turn = w * sqrt(1 - d * d);
    return exp(-d * w * t) * (cos(turn * t) + d * w / turn * sin(turn * t));
  }
  double root = w * sqrt(d * d - 1), a = d * w - root, b = d * w + root;
  return (b * exp(-a * t) - a * exp(-b * t)) / (b - a);
}

static double correlation(const od_sensor *s, double t) {
  if (s->time_constant > 0) return exp(-t / s->time_constant);
  return second_order_correlation(2 * pi * s->frequency, s->damping, t);
}

typedef struct colour_case {
  double time_constant, frequency, damping, step;
} colour_case;
static const colour_case colours[] = {{0.05, 0, 0, 1e-3}, {2e-3, 0, 0, 1e-3}, {0, 5, 0.1, 1e-3},   {0, 20, 0.7, 1e-3},
                                      {0, 8, 1, 1e-3},    {0, 8, 2.5, 1e-3},  {0, 200, 0.3, 1e-3}, {0, 2, 0.5, 1e-2}};
enum { COLOURS = sizeof colours / sizeof *colours };

static od_sensor coloured_sensor(const colour_case *c) {
  od_sensor s = plain_sensor();
  s.time_constant = c->time_constant;
  s.frequency = c->frequency;
  s.damping = c->damping;
  s.interval = c->step;
  return s;
}

// Over many samples; the bound is five standard deviations of such an estimate (Bartlett), which depends on the
// correlation time of the noise.
static void test_autocorrelation(void **state) {
  (void)state;
  enum { COUNT = 400000 };
  double *x = calloc(COUNT, sizeof *x);
  for (int i = 0; i < COLOURS; i++) {
    od_sensor s = coloured_sensor(&colours[i]);
    double squares = 0;
    for (long k = 0; k < 100000; k++) squares += pow(correlation(&s, (double)k * s.interval), 2) * (k ? 2 : 1);
    double bound = 5 * sqrt(2 * squares / COUNT);
    say(&s, 0.3, 11, s.interval, NULL, COUNT, x);
    for (int lag = 0; lag <= 60; lag += lag < 4 ? 1 : 7) {
      double sum = 0;
      for (long k = 0; k + lag < COUNT; k++) sum += x[k] * x[k + lag];
      double got = sum / (COUNT - lag) / 0.09, want = correlation(&s, lag * s.interval);
      if (!(fabs(got - want) < bound)) print_error("color %d, lag %d: %g, want %g +- %g\n", i, lag, got, want, bound);
      assert_true(fabs(got - want) < bound);
    }
  }
  free(x);
}

// Deterministic: F is the exponential of the process, by its power series over a short time and squaring; the noise of
// a step preserves the stationary covariance; the first sample has it.
static void test_transition(void **state) {
  (void)state;
  for (int i = 0; i < COLOURS; i++) {
    od_sensor s = coloured_sensor(&colours[i]);
    if (s.time_constant > 0) continue;
    od_color c = od_color_of(&s, s.interval);
    double w = 2 * pi * s.frequency, h = s.interval / 1048576, F[4], A[4] = {0, h, -w * w * h, -2 * s.damping * w * h};
    for (int k = 0; k < 4; k++)  // I + A + A^2/2
      F[k] = (k % 3 == 0) + A[k] + (A[k / 2 * 2] * A[k % 2] + A[k / 2 * 2 + 1] * A[2 + k % 2]) / 2;
    for (int squared = 0; squared < 20; squared++) {
      double G[4] = {F[0] * F[0] + F[1] * F[2], F[0] * F[1] + F[1] * F[3], F[2] * F[0] + F[3] * F[2],
                     F[2] * F[1] + F[3] * F[3]};
      for (int k = 0; k < 4; k++) F[k] = G[k];
    }
    const double unit[4] = {1, 1 / w, w, 1}, P[2] = {1, w * w};
    for (int k = 0; k < 4; k++) assert_true(fabs(c.F[k] - F[k]) < 1e-8 * unit[k]);
    double q00 = P[0] * c.F[0] * c.F[0] + P[1] * c.F[1] * c.F[1] + c.l[0] * c.l[0];
    double q10 = P[0] * c.F[2] * c.F[0] + P[1] * c.F[3] * c.F[1] + c.l[1] * c.l[0];
    double q11 = P[0] * c.F[2] * c.F[2] + P[1] * c.F[3] * c.F[3] + c.l[1] * c.l[1] + c.l[2] * c.l[2];
    assert_true(fabs(q00 - 1) < 1e-12 && fabs(q10 / w) < 1e-12 && fabs(q11 / (w * w) - 1) < 1e-12);
    double x[2];
    od_color_begin(&c, (double[2]){1, 1}, x);
    assert_true(x[0] == 1 && fabs(x[1] - w) < 1e-12 * w);
  }
}

// The observer assumes white noise with the same average over many samples, never less than the noise itself.
static void test_assumed_of_coloured(void **state) {
  (void)state;
  for (int i = 0; i < COLOURS; i++) {
    od_sensor s = coloured_sensor(&colours[i]);
    double sum = 0;
    for (long k = 1; k < 200000; k++) sum += correlation(&s, (double)k * s.interval);
    double want = sqrt(fmax(1, 1 + 2 * sum));
    s.sigma = 0.4;
    assert_true(fabs(od_sensor_sigma(&s) / (0.4 * want) - 1) < 1e-9);
    s.assume = 2.5;
    assert_true(od_sensor_sigma(&s) == 2.5);
  }
  od_sensor s = plain_sensor();
  s.resolution = 2;
  assert_true(fabs(od_sensor_sigma(&s) - hypot(1, 1 / sqrt(3))) < 1e-15);
}

// --- Drift and uniform noise --------------------------------------------------------------------------------------

// Many walks: the variance grows with time, and increments are independent of the past.
static void test_drift(void **state) {
  (void)state;
  enum { WALKS = 4000, COUNT = 401 };
  double x[COUNT], early = 0, late = 0, product = 0;
  od_sensor s = plain_sensor();
  s.drift = 0.7;
  for (uint64_t seed = 1; seed <= WALKS; seed++) {
    say(&s, 0, seed, 0.01, NULL, COUNT, x);
    assert_true(x[0] == 0);
    early += x[100] * x[100] / WALKS;
    late += x[400] * x[400] / WALKS;
    product += x[100] * (x[400] - x[100]) / WALKS;
  }
  // The relative sampling error of a variance is sqrt(2 / WALKS), 2.2 %.
  assert_true(fabs(early / 0.49 - 1) < 0.1);
  assert_true(fabs(late / (4 * 0.49) - 1) < 0.1);
  assert_true(fabs(product) < 5 * 0.49 * sqrt(3.0 / WALKS));
}

static void test_uniform(void **state) {
  (void)state;
  enum { COUNT = 100000 };
  double *x = calloc(COUNT, sizeof *x), largest = 0, squares = 0;
  od_sensor s = plain_sensor();
  s.noise = OD_NOISE_UNIFORM;
  say(&s, 0.2 / sqrt(3), 3, 1, NULL, COUNT, x);
  for (int k = 0; k < COUNT; k++) largest = fmax(largest, fabs(x[k])), squares += x[k] * x[k] / COUNT;
  assert_true(largest < 0.2 && largest > 0.1999);
  assert_true(fabs(squares * 3 / 0.04 - 1) < 5 * sqrt(0.8 / COUNT));
  free(x);
}

// --- Delay, range -------------------------------------------------------------------------------------------------

static double ramp(double t) {
  return 2 + 5 * t;
}
static double wave(double t) {
  return cos(3 * t);
}

static void test_delay(void **state) {
  (void)state;
  enum { COUNT = 300 };
  const double delays[] = {0.01, 0.0137, 0.5, 1e-4};
  double x[COUNT];
  for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
    od_sensor s = plain_sensor();
    s.delay = delays[i];
    s.every = 3;
    say(&s, 0, 1, 0.01, ramp, COUNT, x);
    for (int k = 0; k < COUNT; k++) {
      if (k % 3 != 0) assert_true(isnan(x[k]));
      if (k % 3 == 0) assert_true(fabs(x[k] - ramp(fmax(0, 0.01 * k - s.delay))) < 1e-12);
    }
  }
}

// Readings are within the range; readings at its ends are not used.
static void test_range(void **state) {
  (void)state;
  enum { COUNT = 400 };
  double x[COUNT];
  od_sensor s = plain_sensor();
  s.low = -0.4;
  s.high = 0.7;
  say(&s, 0, 1, 0.01, wave, COUNT, x);
  int clipped = 0;
  for (int k = 0; k < COUNT; k++) {
    double want = fmin(fmax(wave(0.01 * k), -0.4), 0.7);
    bool inside = want > -0.4 && want < 0.7;
    assert_true(fabs(x[k] - want) < 1e-15);
    assert_true(inside ? od_sensor_usable(&s, x[k]) == x[k] : isnan(od_sensor_usable(&s, x[k])));
    clipped += !inside;
  }
  assert_in_range(clipped, 100, 300);
  s.low = s.high = 0;
  assert_true(od_sensor_usable(&s, 1e9) == 1e9 && od_sensor_usable(&s, 0) == 0);
}

// --- Integration --------------------------------------------------------------------------------------------------

// With a = (h/2) cot(w h / 2) the trapezoidal rule makes a sin(w t) of cos(w t), and a (1 - cos(w t)) of that.
static void test_integration(void **state) {
  (void)state;
  enum { COUNT = 500 };
  const double h = 0.02;
  double x[COUNT];
  for (int every = 1; every <= 4; every += 3)
    for (int times = 1; times <= 2; times++) {
      od_sensor s = plain_sensor();
      double H = every * h, a = H / 2 / tan(3 * H / 2);
      s.of = &od_sensor_integrating;
      s.number[0] = times;
      s.every = every;
      say(&s, 0, 1, h, wave, COUNT, x);
      for (int k = 0; k < COUNT; k++) {
        double t = k * h, once = 3 + a * sin(3 * t), twice = 3 + 2 * t + a * a * (1 - cos(3 * t));
        if (k % every != 0) assert_true(isnan(x[k]));
        if (k % every == 0) assert_true(fabs(x[k] - (times == 1 ? once : twice)) < 1e-12);
      }
    }
}

// The noise of an integral grows; the observer assumes its value at the end.
static void test_integrated_noise(void **state) {
  (void)state;
  enum { RUNS = 3000, COUNT = 401 };
  double x[COUNT];
  for (int times = 1; times <= 2; times++) {
    od_sensor s = plain_sensor();
    s.of = &od_sensor_integrating;
    s.number[0] = times;
    s.sigma = 0.3;
    s.interval = 0.01;
    s.duration = 4;
    double variance = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
      say(&s, 0.3, seed, 0.01, NULL, COUNT, x);
      variance += pow(x[COUNT - 1] - (times == 1 ? 3 : 3 + 2 * 4), 2) / RUNS;
    }
    // 2.6 % sampling error; the ends of the sum are half a step.
    assert_true(fabs(variance / pow(od_sensor_sigma(&s), 2) - 1) < 0.12);
  }
}

// Lost samples are still read for the integral.
static void test_integration_goes_on(void **state) {
  (void)state;
  enum { COUNT = 300 };
  double all[COUNT], some[COUNT];
  od_sensor s = plain_sensor();
  s.of = &od_sensor_integrating;
  s.number[0] = 2;
  say(&s, 0.1, 5, 0.01, wave, COUNT, all);
  s.dropout = 0.3;
  s.start = 0.5;
  say(&s, 0.1, 5, 0.01, wave, COUNT, some);
  int lost = 0;
  for (int k = 0; k < COUNT; k++) {
    assert_true(isnan(some[k]) || (some[k] == all[k] && k >= 50));
    lost += isnan(some[k]);
  }
  assert_in_range(lost, 90, 170);
}

// --- Types --------------------------------------------------------------------------------------------------------

// A type for this test: it reads the square of the true value, counts its samples and adds their number at the end.
static double read_square(const od_sensor *s, od_sensor_memory *m, double t, double value) {
  (void)s, (void)m, (void)t;
  return value * value;
}
static double show_in_halves(const od_sensor *s, const od_sensor_memory *m, double value) {
  (void)m;
  return floor(value / s->number[3]) * s->number[3];
}
static double add_count(const od_sensor *s, od_sensor_memory *m, double reading, double h) {
  (void)s, (void)h;
  return reading + (double)++*(long *)m->of_type;
}
static void begin_at_hundred(const od_sensor *s, od_sensor_memory *m, double value, double rate) {
  (void)s;
  *(long *)m->of_type = (long)(10 * (value + rate) + 50);
}
static double twice(const od_sensor *s, double sigma) {
  (void)s;
  return 2 * sigma;
}

// All functions of a type are called: delay and scale after `sense`, `show` replaces the resolution, `integrate` is last and continues over
// lost samples. say() starts at the value 3 and the rate 2.
static void test_type(void **state) {
  (void)state;
  enum { COUNT = 40 };
  const od_sensor_class type = {.name = "a test",
                                .memory = sizeof(long),
                                .begin = begin_at_hundred,
                                .sense = read_square,
                                .show = show_in_halves,
                                .integrate = add_count,
                                .sigma = twice};
  od_sensor s = plain_sensor();
  double x[COUNT];
  s.of = &type;
  s.number[3] = 0.5;
  s.resolution = 1e3;
  s.scale = 10;
  s.delay = 0.02;
  s.every = 2;
  s.start = 0.2;
  say(&s, 0, 1, 0.01, wave, COUNT, x);
  for (int k = 0; k < COUNT; k++) {
    double true_value = wave(k > 2 ? (k - 2) * 0.01 : 0);
    double shown = floor(10 * true_value * true_value / 0.5) * 0.5;
    if (k % 2 != 0 || k < 20)
      assert_true(isnan(x[k]));
    else
      assert_true(x[k] == shown + 100 + k / 2 + 1);
  }
  s.resolution = 0;
  assert_true(od_sensor_sigma(&s) == 2);
}

// --- In experiments -----------------------------------------------------------------------------------------------

static od_experiment *experiment_with(scratch *s, const char *sensors) {
  char text[4096];
  int n = snprintf(text, sizeof text, "machine: " FOURBAR "\nstep: 1 ms\n%s", sensors);
  return load_experiment(scratch_write(s, "x.yaml", text, (size_t)n), NULL);
}

// The four-bar's signals have the published sizes, to the printed digits.
static void test_relative_noise(void **state) {
  static const char *const sensors[] = {"A.angle",     "A.rate",       "A.acceleration",
                                        "crank.end.y", "crank.end.vy", "crank.end.ay"};
  static const double published[] = {0.220, 2.049, 24.06, 0.187, 1.748, 20.61};
  od_experiment *e = experiment_with(*state,
                                     "sensors:\n"
                                     "  A.angle: {half_width: 10 % rms, noise: uniform}\n"
                                     "  A.rate: {sigma: 10 % rms}\n"
                                     "  A.acceleration: {sigma: 10 % rms}\n"
                                     "  crank.end.y: {sigma: 10% rms}\n"
                                     "  crank.end.vy: {sigma: 0.1 rms}\n"
                                     "  crank.end.ay: {sigma: 10 % rms}\n"
                                     "initial: {A.angle: 0.1, A.rate: 0.1}\n"
                                     "truth: {noise: {acceleration: 50}}\n");
  for (int i = 0; i < 6; i++) {
    assert_string_equal(e->sensor[i].name, sensors[i]);
    double size = e->sensor[i].sigma * 10 * (i == 0 ? sqrt(3) : 1);
    assert_true(fabs(size / published[i] - 1) < 2e-3);
  }
  od_experiment_free(e);
  // The spread of the angle is its rms minus its mean.
  e = experiment_with(*state,
                      "sensors: {A.angle: {sigma: 10 % spread}, A.rate: {sigma: 10 % rms}}\n"
                      "initial: {A.angle: 0.1, A.rate: 0.1}\n");
  od_observed *o = observe(e);
  double mean = 0, squares = 0, rows = (double)o->table->rows;
  int column = o->columns.watched + 2;  // the true angle
  for (long k = 0; k < o->table->rows; k++) mean += o->table->data[k * o->table->columns + column] / rows;
  for (long k = 0; k < o->table->rows; k++)
    squares += pow(o->table->data[k * o->table->columns + column] - mean, 2) / rows;
  assert_true(fabs(e->sensor[0].sigma / (0.1 * sqrt(squares)) - 1) < 1e-9);
  od_observed_free(o);
  od_experiment_free(e);
}

// Integrated without noise the rate and the acceleration give the true angle, from the true start on; the observer compares
// them with the model's angle.
static void test_integrated_sensors(void **state) {
  od_experiment *e =
      experiment_with(*state,
                      "sensors:\n"
                      "  A.angle: {source: A.acceleration, integrate: 2, sigma: 1e-9 rad/s2}\n"
                      "  crank.end.y: {source: crank.end.vy, integrate: 1, sigma: 1e-9 m/s, assume: 2 mm}\n"
                      "initial: {A.angle: 0.1, A.rate: 0.1}\n");
  assert_string_equal(e->sensor[0].unit, "rad");
  assert_true(fabs(od_sensor_sigma(&e->sensor[0]) / (1e-9 * sqrt(1e-3 / 3)) - 1) < 1e-12);
  assert_true(od_sensor_sigma(&e->sensor[1]) == 2e-3);
  od_observed *o = observe(e);
  double worst[2] = {0, 0};
  for (long k = 1; k < o->table->rows; k++) {
    const double *row = o->table->data + k * o->table->columns;
    for (int i = 0; i < 2; i++)
      worst[i] = fmax(worst[i], fabs(row[1 + i] - row[o->columns.watched + o->columns.per_watched * i + 2]));
  }
  // The rule's own error, h^2/12 of the second derivative's change.
  assert_true(worst[0] < 2e-4 && worst[0] > 0);
  assert_true(worst[1] < 5e-5 && worst[1] > 0);
  od_observed_free(o);
  od_experiment_free(e);
}

// A machine that moves at the start: a mass on a spring, x = 0.4 sin(5 t), for which the rule's sums are known.
static void test_integration_from_a_moving_start(void **state) {
  static const char machine[] =
      "ground: {points: {wall: [-1 m, 0]}}\n"
      "bodies: {cart: {point: {mass: 2 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}}\n"
      "springs: {spring: {between: [ground.wall, cart], stiffness: 50 N/m, length: 1 m}}\n"
      "initial: {rail.position: 0 m, rail.rate: 2 m/s}\n";
  static const char text[] =
      "machine: machine.yaml\ntime: 2 s\nstep: 1 ms\nintegrator: rk4\n"
      "sensors: {cart.centre.x: {source: cart.centre.ax, integrate: 2, sigma: 1e-12 m/s2}}\n"
      "initial: {rail.position: 1 mm, rail.rate: 1 mm/s}\n";
  scratch *s = *state;
  scratch_write(s, "machine.yaml", machine, sizeof machine - 1);
  od_experiment *e = load_experiment(scratch_write(s, "x.yaml", text, sizeof text - 1), NULL);
  od_observed *o = observe(e);
  // The rule turns a sine into b cos with b = (h/2) cot(w h / 2): -10 sin becomes 2 + 10 b (cos - 1), and that 2 t + 10 b (b
  // sin - t).
  double b = 0.5e-3 / tan(2.5e-3);
  for (long k = 1; k < o->table->rows; k++) {
    const double *row = o->table->data + k * o->table->columns;
    assert_true(fabs(row[1] - (2 * row[0] + 10 * b * (b * sin(5 * row[0]) - row[0]))) < 1e-9);
  }
  od_observed_free(o);
  od_experiment_free(e);
}

// A clipped sensor is used only within its range.
static void test_clipped_is_not_used(void **state) {
  od_experiment *e = experiment_with(*state,
                                     "sensors: {A.angle: {sigma: 1 mrad, range: [-0.2 rad, 0.1 rad]}}\n"
                                     "initial: {A.angle: 0.1, A.rate: 0.1}\n");
  od_observed *o = observe(e);
  long clipped = 0;
  for (long k = 1; k < o->table->rows; k++) {
    const double *row = o->table->data + k * o->table->columns;
    clipped += row[1] <= -0.2 || row[1] >= 0.1;
    assert_true(row[1] >= -0.2 && row[1] <= 0.1);
  }
  assert_in_range(clipped, 100, 900);
  assert_int_equal(o->sensor[0].missing, clipped);
  assert_int_equal(o->sensor[0].used, o->steps - clipped);
  od_observed_free(o);
  od_experiment_free(e);
}

// A run that is written and read again as a log gives the same estimates, to the last bit: the log contains the readings, and
// clipped samples are omitted there, too.
static void test_written_and_read(void **state) {
  static const char text[] =
      "machine: " FOURBAR
      "\nstep: 1 ms\n"
      "sensors:\n"
      "  A.angle: {source: A.acceleration, integrate: 2, sigma: 1 rad/s2, assume: 0.05 rad}\n"
      "  A.rate: {sigma: 0.2 rad/s, range: [-2 rad/s, 4 rad/s], noise: {time_constant: 5 ms}, drift: 0.1 rad/s}\n"
      "  coupler.middle.accelerometer_x: {sigma: 0.3 m/s2, delay: 2.5 ms}\n"
      "initial: {A.angle: 0.3, A.rate: 1}\nnoise: {acceleration: 3}\n";
  scratch *s = *state;
  scratch_write(s, "x.yaml", text, sizeof text - 1);
  forget(run(s, "observe x.yaml --csv log.csv --quiet"));
  od_experiment *e = load_experiment(scratch_path(s, "x.yaml"), NULL);
  od_observed *simulated = observe(e);
  od_experiment_free(e);
  char log[600];
  snprintf(log, sizeof log, "%s", scratch_path(s, "log.csv"));
  const od_experiment_options options = {.log.data = {(const char *const[]){log}, 1}};
  e = load_experiment(scratch_path(s, "x.yaml"), &options);
  od_observed *read = observe(e);
  assert_true(read->sensor[1].missing == simulated->sensor[1].missing && read->sensor[1].missing > 50);
  assert_int_equal(read->table->rows, simulated->table->rows);
  for (long k = 0; k < read->table->rows; k++)
    for (int i = 0; i < 3; i++) {
      const double *a = simulated->table->data + k * simulated->table->columns;
      const double *b = read->table->data + k * read->table->columns;
      assert_true(a[simulated->columns.watched + 4 * i] == b[read->columns.watched + 2 * i]);
    }
  od_observed_free(simulated);
  od_observed_free(read);
  od_experiment_free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_autocorrelation),
      cmocka_unit_test(test_transition),
      cmocka_unit_test(test_assumed_of_coloured),
      cmocka_unit_test(test_drift),
      cmocka_unit_test(test_uniform),
      cmocka_unit_test(test_delay),
      cmocka_unit_test(test_range),
      cmocka_unit_test(test_integration),
      cmocka_unit_test(test_integrated_noise),
      cmocka_unit_test(test_integration_goes_on),
      cmocka_unit_test(test_type),
      cmocka_unit_test_setup_teardown(test_relative_noise, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_integrated_sensors, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_integration_from_a_moving_start, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_written_and_read, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_clipped_is_not_used, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
