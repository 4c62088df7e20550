// Encoders: edges, their times and the measured velocity.
//
// Oracles: edge times in closed form for constant speed, by bisection of the position itself for a sine; the published accuracy and
// update rate of a 5 um encoder (eq. A.24 and section A.3.1 of [28] in docs/theory.md); root mean squares over the rows of a run.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "experiment/encoder.h"
#include "experiment/sensor.h"
#include "support/experiments.h"
#include "support/scratch.h"

static const double pitch = 5e-6, pi = 3.14159265358979323846;

static void test_count_is_the_nearest_multiple(void **state) {
  (void)state;
  const od_encoder e = {.pitch = pitch, .edges = 1};
  const od_encoder_memory m = {0};
  for (int k = -1000; k < 1000; k++) {
    double x = k * 0.37e-6;
    assert_true(od_encoder_count(&e, &m, x) == floor(x / pitch + 0.5));
  }
}

// From zero with a constant speed edge k passes at (k + 1/2) pitch / v.
static void test_constant_speed(void **state) {
  (void)state;
  const double timer = 25e-9, speeds[] = {0.2371, 0.1013, -0.2519, 0.00103, 2.917};
  int compared = 0, other = 0;
  for (int i = 0; i < 5; i++)
    for (int edges = 1; edges <= 7; edges += 3) {
      const od_encoder e = {.pitch = pitch, .timer = timer, .edges = edges};
      od_encoder_memory m = {0};
      double v = speeds[i];
      for (int k = 0; k <= 200; k++) {
        double t = k * 1e-3, read = od_encoder_velocity(&e, &m, t, v * t, v);
        double last = floor(fabs(v) * t / pitch - 0.5), first = fmax(last - edges, 0);
        if (last < 1) {
          assert_true(read == 0);
          continue;
        }
        double ticks = floor((last + 0.5) * pitch / fabs(v) / timer) - floor((first + 0.5) * pitch / fabs(v) / timer);
        double want = copysign(pitch * (last - first) / (ticks * timer), v);
        // One tick more or less because of round-off.
        compared++;
        if (fabs(read / want - 1) <= 1e-12) continue;
        other++;
        assert_true(fabs(fabs((last - first) * pitch / (read * timer)) - ticks) < 1 + 1e-6);
      }
    }
  assert_true(compared > 2500 && other < compared / 100);
}

// Accuracy and update rate as published: 15 um/s at 0.25 m/s with edges within 0.15 nm, 200 Hz at 0.001 m/s.
static void test_published_accuracy(void **state) {
  (void)state;
  const od_encoder e = {.pitch = pitch, .pulse_error = 0.15e-9, .edges = 1};
  od_encoder_memory m = {.seed = 1, .stream = 2};
  double worst = 0, bound = 2 * 0.15e-9 / (pitch / 0.25);
  near(bound, 15e-6, 1e-12);
  for (int k = 1; k <= 20000; k++) {
    double read = od_encoder_velocity(&e, &m, k * 2e-4, 0.25 * k * 2e-4, 0.25);
    if (m.passed >= 2) worst = fmax(worst, fabs(read - 0.25));
  }
  assert_true(worst < bound * 1.001 && worst > 0.9 * bound);

  od_encoder_memory slow = {.seed = 1, .stream = 2};
  double before = 0;
  int updates = 0;
  for (int k = 0; k <= 10000; k++) {
    double read = od_encoder_velocity(&e, &slow, k * 1e-4, 0.001 * k * 1e-4, 0.001);
    updates += read != before;
    before = read;
  }
  assert_in_range(updates, 198, 200);
}

// x = A sin(w t) with its edges by bisection between the extrema of the sine.
static double sine_passes(double A, double w, double edge, double low, double high) {
  bool rises = sin(w * high) > sin(w * low);
  for (int i = 0; i < 200; i++) {
    double middle = 0.5 * (low + high);
    if ((A * sin(w * middle) >= edge) == rises)
      high = middle;
    else
      low = middle;
  }
  return high;
}

static void test_sine(void **state) {
  (void)state;
  const double A = 0.03, w = 2 * pi;
  enum { MOST = 60000 };
  double *time = calloc(MOST, sizeof *time), *edge = calloc(MOST, sizeof *edge);
  int passed = 0;
  for (int half = 0; half < 4; half++) {
    double low = half == 0 ? 0 : (half - 0.5) / 2, high = (half + 0.5) / 2;
    double from = floor(A * sin(w * low) / pitch + 0.5), to = floor(A * sin(w * high) / pitch + 0.5);
    for (double k = from; k != to; k += to > from ? 1 : -1) {
      edge[passed] = to > from ? k : k - 1;
      time[passed] = sine_passes(A, w, (edge[passed] + 0.5) * pitch, low, high);
      passed++;
    }
  }
  const od_encoder e = {.pitch = pitch, .edges = 1};
  od_encoder_memory m = {0};
  int now = 0, compared = 0;
  for (int k = 0; k <= 1700; k++) {
    double t = k * 1e-3, read = od_encoder_velocity(&e, &m, t, A * sin(w * t), A * w * cos(w * t));
    while (now < passed && time[now] <= t) now++;
    if (now < 2 || t - time[now - 1] < 1e-9 || time[now] - t < 1e-9) continue;
    double want = pitch * (edge[now - 1] - edge[now - 2]) / (time[now - 1] - time[now - 2]);
    near(read, want, 1e-6 + 1e-5 * fabs(want));
    compared++;
  }
  assert_true(compared > 1600);
  free(time);
  free(edge);
}

// When the motion reverses, the reading stays, then the same edge passes twice (zero), then the reading has the other sign.
// In a second case all this happens between two samples.
static void test_reversal_and_standstill(void **state) {
  (void)state;
  for (int coarse = 0; coarse < 2; coarse++) {
    const od_encoder e = {.pitch = pitch, .edges = 1, .standstill = coarse ? 0 : 0.4};
    od_encoder_memory m = {0};
    double step = coarse ? 0.5 : 1e-3, read = 0;
    int zeros = 0, positive = 0, negative = 0;
    // x = 3.2 pitch at t = 1, x'' = -2 a: edges at 1/2, 3/2 and 5/2 pitches, up and down again.
    for (int k = 0; k * step <= 2; k++) {
      double s = k * step - 1;
      read = od_encoder_velocity(&e, &m, k * step, pitch * 3.2 * (1 - s * s), -6.4 * pitch * s);
      zeros += read == 0 && k * step > 1;
      positive += read > 0;
      negative += read < 0;
    }
    assert_int_equal(m.passed, 6);
    double last = 1 + sqrt(1 - 0.5 / 3.2), before = 1 + sqrt(1 - 1.5 / 3.2);
    near(read, -pitch / (last - before), 1e-12);
    if (!coarse) assert_true(zeros > 100 && positive > 100 && negative > 100);
    od_encoder_velocity(&e, &m, 2 + 1e-6, 0, 0);
    // The reading stays forever, or until the standstill time has passed.
    near(od_encoder_velocity(&e, &m, 9, 0, 0), coarse ? read : 0, 0);
  }
}

static void test_two_edges_in_one_tick(void **state) {
  (void)state;
  const od_encoder e = {.pitch = pitch, .timer = 1e-3, .edges = 1};
  od_encoder_memory m = {0};
  od_encoder_velocity(&e, &m, 0, 0, 1);
  near(od_encoder_velocity(&e, &m, 1e-4, 1e-4, 1), pitch / 1e-3, 1e-15);
  assert_true(isnan(od_encoder_velocity(&e, &m, 2e-4, NAN, 1)));
}

// --- In experiments -----------------------------------------------------------------------------------------------

static const char machine[] =
    "bodies: {sledge: {point: {mass: 100 kg}}}\n"
    "joints: {guide: {type: prismatic, between: [ground, sledge], axis: [1, 0, 0]}}\n"
    "inputs: {push: {unit: N, sine: {amplitude: 157.07963 N, frequency: 1 Hz, phase: 90 deg}}}\n"
    "torques: {drive: {joint: guide, value: push}}\n"
    "initial: {guide.position: 0 m, guide.rate: 0 m/s}\n"
    "run: {time: 2 s, step: 1 ms}\n";

static od_experiment *experiment_with(scratch *s, const char *sensors) {
  scratch_write(s, "m.yaml", machine, strlen(machine));
  char text[1000];
  int n = snprintf(text, sizeof text, "machine: m.yaml\ntime: 2 s\nstep: 1 ms\n%s", sensors);
  return load_experiment(scratch_write(s, "x.yaml", text, (size_t)n), NULL);
}

static void test_sensors_of_an_experiment(void **state) {
  od_experiment *e = experiment_with(*state,
                                     "sensors:\n"
                                     "  guide.position: {encoder: {pitch: 5 um}}\n"
                                     "  guide.rate: {source: guide.position, encoder: {pitch: 5 um, timer: 25 ns}}\n"
                                     "initial: {guide.position: 1 mm, guide.rate: 1 mm/s}\n");
  near(od_sensor_sigma(&e->sensor[0]), pitch / sqrt(12), 1e-15);
  od_observed *o = observe(e);
  double errors = 0, rows = 0;
  for (long k = 0; k < o->table->rows; k++) {
    const double *row = o->table->data + k * o->table->columns;
    double position = row[1], x = row[o->columns.watched + 2];
    double rate = row[2], v = row[o->columns.watched + o->columns.per_watched + 2];
    if (!isnan(position)) near(position, pitch * floor(x / pitch + 0.5), 1e-15);
    if (!isnan(rate)) errors += (rate - v) * (rate - v), rows++;
  }
  // The observer assumes the root mean square error, except for the effect of the start.
  double rms = sqrt(errors / rows);
  assert_true(rows > 1990 && fabs(od_sensor_sigma(&e->sensor[1]) / rms - 1) < 0.01);
  // The timer alone gives v^2 timer / (pitch sqrt(6)), with the mean square 0.25^2 / 2 of the speed; reversals add to it.
  assert_true(rms > 1e-4 && rms < 2e-3);
  od_observed_free(o);
  od_experiment_free(e);
}

static void expect(scratch *s, const char *sensors, const char *expected) {
  scratch_write(s, "m.yaml", machine, strlen(machine));
  char text[1000];
  int n = snprintf(text, sizeof text, "machine: m.yaml\nsensors: {%s}\n", sensors);
  char *said = experiment_messages(scratch_write(s, "x.yaml", text, (size_t)n), NULL, s->folder);
  assert_string_equal(said, expected);
  free(said);
}

static void test_mistakes(void **state) {
  expect(*state, "guide.rate: {source: guide.positon, encoder: {pitch: 5 um}}",
         "x.yaml:2:32: there is no output 'guide.positon'; did you mean 'guide.position'?\n");
  expect(*state, "guide.position: {source: guide.rate, encoder: {pitch: 5 um/s}}",
         "x.yaml:2:36: 'guide.rate' is in m/s, so its rate is in m/s2; expected m, the unit of 'guide.position'\n");
  expect(*state, "guide.position: {encoder: {pitch: 0 um, timer: 1 us, edgs: 3}, resolution: 1 um, integrate: 1}",
         "x.yaml:2:45: pitch is '0 um' but must be greater than zero\n"
         "x.yaml:2:58: 'timer' is for velocities only; a velocity needs 'source', the position\n"
         "x.yaml:2:64: unknown key 'edgs' in the encoder; did you mean 'edges'?\n"
         "x.yaml:2:86: 'resolution' is not allowed in a sensor with an encoder; use 'pitch' instead\n"
         "x.yaml:2:103: 'integrate' is not allowed in a sensor with an encoder; remove 'integrate'\n");
  expect(*state, "guide.rate: {source: guide.position, encoder: {pitch: 5 um, pulse_error: 2 um, edges: 65}}",
         "x.yaml:2:84: 'pulse_error' is 2 µm; expected at most a quarter of 'pitch', 1.25 µm\n"
         "x.yaml:2:97: edges is 65 but must be a whole number from 1 to 64\n");
}

static void test_what_stands_still_says_nothing(void **state) {
  expect(
      *state, "guide.rate: {source: guide.position, encoder: {pitch: 5 m}}",
      "x.yaml:2:11: 'guide.rate' reads zero during the whole run, so its standard deviation is not known; expected 'assume'\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_count_is_the_nearest_multiple),
      cmocka_unit_test(test_constant_speed),
      cmocka_unit_test(test_published_accuracy),
      cmocka_unit_test(test_sine),
      cmocka_unit_test(test_reversal_and_standstill),
      cmocka_unit_test(test_two_edges_in_one_tick),
      cmocka_unit_test_setup_teardown(test_sensors_of_an_experiment, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_what_stands_still_says_nothing, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
