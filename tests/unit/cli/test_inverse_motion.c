// oleodyn inverse: rates of the given motion. Oracles: closed forms of second derivatives of signals and of logs of sines.
#include "support/test.h"

#include <math.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "support/program.h"

static const double pi = 3.14159265358979323846, mass = 10;

// A mass of 10 kg on a rail, without gravity: force = 10 kg times the second derivative.
static const char cart[] =
    "machine: cart\n"
    "inputs:\n"
    "  fast: {unit: m, sine: {amplitude: 1 mm, frequency: 450 Hz, phase: 0.2 rad}}\n"
    "  swept: {unit: m, chirp: {amplitude: 1 mm, from: 20 Hz, to: 60 Hz, duration: 0.5 s}}\n"
    "  soft: {unit: m, half_cosines: {at: [[0.1003 s, 0 m], [0.1507 s, 10 mm], [0.3 s, 0 m]]}}\n"
    "  lagged: {unit: m, lagged_steps: {time_constant: 20 ms, initial: 0 m, at: [[0 s, 10 mm]]}}\n"
    "  parts: {unit: m, sequence: [{half_cosine: {to: 10 mm, duration: 0.2 s}}, {hold: {duration: 0.1 s}},\n"
    "    {sine: {amplitude: 1 mm, frequency: 90 Hz, phase: 90 deg, duration: 0.2 s}}]}\n"
    "  both: {unit: m, sum: [{sine: {amplitude: 1 mm, frequency: 150 Hz}}, {derivative: {sine: {amplitude: 1 mm s,\n"
    "    frequency: 2 Hz}}}]}\n"
    "  still: {unit: m, sine: {amplitude: 1 mm, frequency: 1000 Hz}}\n"
    "  pulse: {unit: m, half_cosines: {at: [[0.2501 s, 0 m], [0.2504 s, 1 mm], [0.2507 s, 0 m]]}}\n"
    "  wild: {unit: m, sine: {amplitude: 0.2 m, frequency: 100 Hz}}\n"
    "  late: {unit: m, sine: {amplitude: 0.1 m, frequency: 1 Hz}}\n"
    "%s"
    "bodies: {m: {point: {mass: 10 kg}}}\n"
    "joints: {rail: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
    "initial: {%s}\n"
    "run: {time: 0.5 s, step: 1 ms}\n";

static void write_cart(scratch *s, const char *name, const char *more, const char *initial) {
  char text[4000];
  int length = snprintf(text, sizeof text, cart, more, initial);
  scratch_write(s, name, text, (size_t)length);
}

static od_table *read_table(scratch *s, const char *name) {
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, name), &t, &err), OD_OK);
  return t;
}

// Force of a row: the third column, after time and position.
static double force_in(const od_table *t, long row) {
  assert_string_equal(t->name[2], "rail.force_needed");
  return t->data[row * t->columns + 2];
}

static double fast(double t) {
  double w = 2 * pi * 450;
  return -1e-3 * w * w * sin(w * t + 0.2);
}
static double swept(double t) {
  double f = 2 * pi * (20 + 80 * t), phase = 2 * pi * (20 * t + 40 * t * t);
  return t < 0.5 ? 1e-3 * (2 * pi * 80 * cos(phase) - f * f * sin(phase)) : 0;
}
static double soft(double t) {
  double a = pi / 0.0504, b = pi / 0.1493;
  if (t < 0.1003 || t >= 0.3) return 0;
  return t < 0.1507 ? 5e-3 * a * a * cos(a * (t - 0.1003)) : -5e-3 * b * b * cos(b * (t - 0.1507));
}
static double lagged(double t) {
  return -10e-3 / 4e-4 * exp(-t / 0.02);
}
static double parts(double t) {
  double a = pi / 0.2, w = 2 * pi * 90;
  return t < 0.2 ? 5e-3 * a * a * cos(a * t) : t < 0.3 || t >= 0.5 ? 0 : -1e-3 * w * w * cos(w * (t - 0.3));
}
static double both(double t) {
  double w = 2 * pi * 150, v = 2 * pi * 2;
  return -1e-3 * w * w * sin(w * t) - 1e-3 * v * v * v * cos(v * t);
}

// Every row except those at which the second derivative jumps.
static void signals_in_closed_form(void **state) {
  scratch *s = *state;
  static const struct {
    const char *input;
    double (*second)(double t);
    double largest, jumps[3];
  } cases[] = {{"fast", fast, 8e3, {-1, -1, -1}},      {"swept", swept, 150, {0.5, -1, -1}},
               {"soft", soft, 20, {0.3, -1, -1}},      {"lagged", lagged, 25, {-1, -1, -1}},
               {"parts", parts, 320, {0.2, 0.3, 0.5}}, {"both", both, 900, {-1, -1, -1}}};
  write_cart(s, "m.yaml", "", "rail.position: 0 m");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    outcome o = run(s, "inverse m.yaml --move rail.position=%s --csv out.csv", cases[i].input);
    ends_with(o, 0);
    forget(o);
    od_table *t = read_table(s, "out.csv");
    assert_int_equal(t->rows, 501);
    for (int k = 0; k <= 500; k++) {
      double at = k * 1e-3, force = force_in(t, k), expected = mass * cases[i].second(at);
      bool jumps = false;
      for (int j = 0; j < 3; j++) jumps = jumps || fabs(at - cases[i].jumps[j]) < 1e-9;
      if (!jumps && !(fabs(force - expected) < 1e-10 * mass * cases[i].largest))
        fail_msg("%s at %g s: %.12g N, expected %.12g N", cases[i].input, at, force, expected);
    }
    od_table_free(t);
  }
}

// A sine whose zeros coincide with the rows, and a pulse between two rows: the force between rows, and its size.
static void between_rows(void **state) {
  scratch *s = *state;
  const struct {
    const char *input, *more;
    double force;  // N; 0: the rows show all
  } cases[] = {{"still", "", 1e-3 * pow(2e3 * pi, 2) * mass},
               {"pulse", "", 0.5e-3 * pow(pi / 0.3e-3, 2) * mass},
               {"fast", "", 0},
               {"still", "--step '20 us'", 0},
               {"pulse", "--step '20 us'", 0}};
  write_cart(s, "m.yaml", "", "rail.position: 0 m");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    outcome o = run(s, "inverse m.yaml --move rail.position=%s --si --json out.json %s", cases[i].input, cases[i].more);
    ends_with(o, cases[i].force > 0 ? 3 : 0);
    char *json = scratch_read(scratch_path(s, "out.json"));
    const char *said = strstr(json, "Too few rows: ");
    assert_int_equal(said != NULL, cases[i].force > 0);
    double amount;
    if (said) {
      assert_int_equal(sscanf(said, "Too few rows: rail.force_needed is %lf N", &amount), 1);
      if (!(fabs(fabs(amount) / cases[i].force - 1) < 1e-4)) fail_msg("%g N, expected %g N", amount, cases[i].force);
    }
    free(json);
    forget(o);
  }
}

// An external force that acts between two rows: 1 kN that the drive must hold.
static void inputs_between_rows(void **state) {
  static const char pushed[] =
      "machine: pushed\n"
      "inputs: {blow: {unit: N, half_cosines: {at: [[0.2501 s, 0 N], [0.2504 s, 1 kN], [0.2507 s, 0 N]]}}}\n"
      "bodies: {m: {point: {mass: 10 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
      "forces: {push: {at: m, direction: [1, 0, 0], value: blow}}\n"
      "initial: {rail.position: 0 m}\n"
      "run: {time: 0.5 s, step: 1 ms}\n";
  scratch *s = *state;
  scratch_write(s, "m.yaml", pushed, sizeof pushed - 1);
  outcome o = run(s, "inverse m.yaml --move rail.position='0 m' --drive rail --si");
  ends_with(o, 3);
  says(o.out, "Too few rows: rail.force_needed is -1000 N at t = 0.2504 s");
  forget(o);
}

// 0.1 m sin(2 pi f t + 0.3), with noise from a congruential generator.
static void write_log(scratch *s, double frequency, double spacing, int rows, double noise) {
  FILE *to = fopen(scratch_path(s, "log.csv"), "w");
  uint64_t seed = 1;
  fprintf(to, "time [s],rail.position [m]\n");
  for (int k = 0; k < rows; k++) {
    double sum = 0;  // sum of twelve uniform numbers: approximately normal
    for (int i = 0; i < 12; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      sum += (double)(seed >> 11) * 0x1p-53 - 0.5;
    }
    fprintf(to, "%.17g,%.17g\n", k * spacing, 0.1 * sin(2 * pi * frequency * k * spacing + 0.3) + noise * sum);
  }
  fclose(to);
}

// A log that begins and ends in the middle of a motion has correct accelerations there, smoothed or not; the verdict contains their
// uncertainty.
static void ends_of_logs(void **state) {
  scratch *s = *state;
  static const struct {
    double noise;  // m
    const char *more;
    double inner, ends;  // errors, of the largest force
    bool sound;
  } cases[] = {{0, "", 1e-4, 1e-4, true},
               {0, "--smooth '20 Hz'", 1e-4, 1e-4, true},
               {3e-8, "", 1e-3, 5e-3, true},
               {1e-5, "", 0.01, 0.04, false},
               {1e-5, "--smooth '20 Hz'", 0.03, 0.5, false}};
  write_cart(s, "m.yaml", "", "rail.position: 0 m");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_log(s, 1, 0.01, 151, cases[i].noise);
    outcome o = run(s, "inverse m.yaml --data log.csv --csv out.csv %s", cases[i].more);
    ends_with(o, 0);
    says(o.out, cases[i].sound ? "verdict: sound" : "verdict: doubtful");
    assert_int_equal(strstr(o.out, "row") != NULL && strstr(o.out, "first and the last row") != NULL, !cases[i].sound);
    od_table *t = read_table(s, "out.csv");
    double largest = mass * 0.1 * 4 * pi * pi;
    for (int k = 0; k <= 150; k++) {
      double error = fabs(force_in(t, k) + largest * sin(2 * pi * k * 0.01 + 0.3)) / largest;
      bool end = k < 10 || k > 140;
      if (!(error < (end ? cases[i].ends : cases[i].inner))) fail_msg("case %zu, row %d: %g %%", i, k, 100 * error);
    }
    od_table_free(t);
    forget(o);
  }
}

// Too few samples for the motion are not noise and are not smoothed.
static void few_samples(void **state) {
  scratch *s = *state;
  static const struct {
    double frequency;
    int code;
  } cases[] = {{45, 3}, {37, 3}, {26, 3}, {4, 0}};
  write_cart(s, "m.yaml", "", "rail.position: 0 m");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_log(s, cases[i].frequency, 0.01, 101, 0);
    outcome o = run(s, "inverse m.yaml --data log.csv");
    ends_with(o, cases[i].code);
    assert_int_equal(strstr(o.out, "Too few samples: ") != NULL, cases[i].code == 3);
    assert_null(strstr(o.out, "Noise of the log"));
    forget(o);
  }
  // A kink of the speed, and a jump, between two samples.
  static const char *const sharp[] = {"0", "1"};
  for (size_t i = 0; i < 2; i++) {
    FILE *to = fopen(scratch_path(s, "log.csv"), "w");
    fprintf(to, "time [s],rail.position [m]\n");
    for (int k = 0; k <= 100; k++)
      fprintf(to, "%.17g,%.17g\n", k * 0.01, *sharp[i] == '1' ? (k > 50) * 0.1 : fmax(0, (k - 50) * 0.01));
    fclose(to);
    outcome o = run(s, "inverse m.yaml --data log.csv");
    ends_with(o, 3);
    says(o.out, "Too few samples: ");
    forget(o);
  }
  // Smoothing below the frequency of the motion.
  write_log(s, 4, 0.01, 201, 0);
  outcome o = run(s, "inverse m.yaml --data log.csv --smooth '2 Hz'");
  says(o.out, "Smoothed too much: ");
  forget(o);
}

// An input that is a file has the same rates as a log.
static void files_as_inputs(void **state) {
  scratch *s = *state;
  write_cart(s, "m.yaml", "  filed: {unit: m, file: {path: log.csv, column: rail.position}}\n", "rail.position: 0 m");
  write_log(s, 1, 0.01, 51, 0);
  expect_code(run(s, "inverse m.yaml --data log.csv --step '10 ms' --csv one.csv"), 0);
  expect_code(run(s, "inverse m.yaml --move rail.position=filed --step '10 ms' --csv two.csv"), 0);
  od_table *one = read_table(s, "one.csv"), *two = read_table(s, "two.csv");
  assert_int_equal(one->rows, two->rows);
  for (long k = 0; k < one->rows; k++) assert_true(fabs(force_in(one, k) - force_in(two, k)) < 1e-9);
  od_table_free(one);
  od_table_free(two);
}

// A machine that continues from a saved state has later signals, with their rates.
static void after_a_saved_state(void **state) {
  scratch *s = *state;
  write_cart(s, "m.yaml", "", "rail.position: 0 m");
  write_cart(s, "on.yaml", "", "file: end.yaml");
  expect_code(run(s, "simulate m.yaml --time '0.3 s' --save-state end.yaml"), 0);
  expect_code(run(s, "inverse on.yaml --move rail.position=late --time '0.1 s' --csv out.csv"), 0);
  od_table *t = read_table(s, "out.csv");
  for (int k = 0; k <= 100; k++) {
    double expected = -mass * 0.1 * 4 * pi * pi * sin(2 * pi * (0.3 + k * 1e-3));
    assert_true(fabs(force_in(t, k) - expected) < 1e-9);
  }
  od_table_free(t);
}

static void implausible_needs(void **state) {
  scratch *s = *state;
  write_cart(s, "m.yaml", "", "rail.position: 0 m");
  outcome o = run(s, "inverse m.yaml --move rail.position=wild --si");
  ends_with(o, 0);
  says(o.out, "Implausible: the second derivative of rail.position");
  says(o.out, "Implausible: rail.speed would be 125.66");
  forget(o);
  o = run(s, "inverse m.yaml --move rail.position=late");
  assert_null(strstr(o.out, "Implausible"));
  forget(o);
  // 10 t on 1 cm^2: 981 MPa.
  static const char jack[] =
      "machine: Jack\n"
      "gravity: [0, -9.81 m/s^2]\n"
      "ground: {points: {foot: [0, -1 m]}}\n"
      "bodies: {weight: {point: {mass: 10 t}}}\n"
      "joints: {guide: {type: prismatic, between: [ground, weight], axis: [0, 1, 0]}}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {A: {volume: 1 ml}, B: {volume: 1 ml}}\n"
      "cylinders: {jack: {between: [ground.foot, weight], chambers: [A, B], areas: [1 cm^2, 0.5 cm^2], closed: 0.8 m, "
      "stroke: 0.8 m}}\n"
      "initial: {guide.position: 0 m, A.pressure: 10 bar, B.pressure: 1 bar}\n"
      "run: {time: 1 s}\n";
  scratch_write(s, "jack.yaml", jack, sizeof jack - 1);
  o = run(s, "inverse jack.yaml --move guide.position='0 m'");
  ends_with(o, 0);
  says(o.out, "Implausible: jack.pressure_a would be 981 MPa");
  forget(o);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(signals_in_closed_form), TEST(between_rows),      TEST(inputs_between_rows),
      TEST(ends_of_logs),           TEST(few_samples),       TEST(files_as_inputs),
      TEST(after_a_saved_state),    TEST(implausible_needs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
