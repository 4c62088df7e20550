// The fin servo of cases/fin-servo. Oracles: its transfer functions multiplied out by hand (oracle/fin_servo_response.c), the
// characteristic points that the paper describes, and the fits of Tables 1 and 2 to data of Table 2: reference values of an
// independent prototype, 86.95 and 96.18 % (published: 86.98 and 96.18 %).
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "machine/machine.h"
#include "model/model.h"
#include "oracle/fin_servo_response.h"
#include "simulate/run.h"
#include "support/machines.h"
#include "support/random_machine.h"
#include "support/response.h"

static const double two_pi = 6.283185307179586476925286766559;

static od_machine *load(const char *variant) {
  od_load_options options = {.variant = variant};
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  if (od_machine_load(OD_SOURCE_DIR "/cases/fin-servo/machine.yaml", &options, &machine, messages) != OD_OK)
    od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(machine);
  return machine;
}

static od_test_linear linearise(const char *variant) {
  od_test_run run = od_test_begin(load(variant), "piston.position", NULL);
  od_test_linear l = od_test_linearize(run.sim, run.plant, 0, 0);
  od_test_end(&run);
  return l;
}

static void transfer_function(void **state) {
  (void)state;
  double worst = 0;
  for (int table = 1; table <= 2; table++) {
    oracle_servo f = oracle_servo_table(table);
    od_test_linear l = linearise(table == 1 ? "initial" : NULL);
    assert_int_equal(l.n, 9);
    assert_true(l.D == 0);
    for (double hertz = 0.01; hertz < 2000; hertz *= 1.3) {
      double complex s = two_pi * hertz * _Complex_I, want = oracle_servo_response(&f, s);
      worst = fmax(worst, cabs(od_test_response(&l, s) - want) / cabs(want));
    }
    od_test_linear_free(&l);
  }
  print_message("frequency response against the paper's transfer functions: relative error %.2g\n", worst);
  assert_true(worst < 1e-12);
}

// "-3 dB at 24 Hz, amplitude minimum at 81 Hz, phase minimum at 65 Hz", to the nearest hertz.
static void marks(void **state) {
  (void)state;
  od_test_linear l = linearise(NULL);
  double rest = cabs(od_test_response(&l, 0)), cutoff = 0, least = INFINITY, least_at = 0, phase = 0, before = 0;
  double turn_at = 0, last = 0;  // where the phase first rises again
  for (double hertz = 0.5; hertz < 120; hertz += 0.02) {
    double complex y = od_test_response(&l, two_pi * hertz * _Complex_I);
    double angle = carg(y);
    phase += remainder(angle - before, two_pi);  // without jumps
    before = angle;
    if (cutoff == 0 && cabs(y) < rest * sqrt(0.5)) cutoff = hertz;
    if (cabs(y) < least) least = cabs(y), least_at = hertz;
    if (turn_at == 0 && hertz > 1 && phase > last) turn_at = hertz;
    last = phase;
  }
  print_message("-3 dB at %.1f Hz, least amplitude at %.1f Hz, least phase at %.1f Hz\n", cutoff, least_at, turn_at);
  assert_true(lround(cutoff) == 24 && lround(least_at) == 81 && lround(turn_at) == 65);
  od_test_linear_free(&l);
}

static od_table *sweep(const char *variant, long *rows) {
  od_machine *machine = load(variant);
  int output = od_test_output(machine, "piston.position");
  od_run_options options = {.outputs = &output, .output_count = 1, .integrator = "rk4"};
  od_table *table = NULL;
  assert_int_equal(od_run(machine, &options, &table, NULL, NULL), OD_OK);
  *rows = table->rows;
  od_machine_free(machine);
  return table;
}

// A standard normal number.
static double normal(od_dice *d) {
  double u = od_dice_uniform(d, 1e-300, 1), v = od_dice_uniform(d, 0, two_pi);
  return sqrt(-2 * log(u)) * cos(v);
}

// Equation (29): 1 - |y_m - y| / |y - mean y|, in per cent.
static double fit(const double *model, const double *y, long n) {
  double mean = 0, miss = 0, spread = 0;
  for (long i = 0; i < n; i++) mean += y[i] / (double)n;
  for (long i = 0; i < n; i++) miss += pow(model[i] - y[i], 2), spread += pow(y[i] - mean, 2);
  return 100 * (1 - sqrt(miss / spread));
}

// Truth is Table 2 with white noise of 3.82 % of its standard deviation.
static void sweep_fits(void **state) {
  (void)state;
  long rows, same;
  od_table *truth = sweep(NULL, &rows), *first = sweep("initial", &same);
  assert_true(rows == 31125 && same == rows);
  double *clean = malloc((size_t)rows * sizeof *clean), *y = malloc((size_t)rows * sizeof *y),
         *start = malloc((size_t)rows * sizeof *start), mean = 0, variance = 0;
  for (long i = 0; i < rows; i++) {
    clean[i] = truth->data[2 * i + 1], start[i] = first->data[2 * i + 1];
    mean += clean[i] / (double)rows;
  }
  for (long i = 0; i < rows; i++) variance += pow(clean[i] - mean, 2) / (double)rows;
  od_dice dice = {4};
  for (long i = 0; i < rows; i++) y[i] = clean[i] + 0.0382 * sqrt(variance) * normal(&dice);
  double at_start = fit(start, y, rows), at_truth = fit(clean, y, rows);
  print_message("%ld samples; fit at Table 1 %.2f %%, at Table 2 %.2f %%\n", rows, at_start, at_truth);
  assert_true(fabs(at_start - 86.95) < 0.02 && fabs(at_truth - 96.18) < 0.02);
  free(clean), free(y), free(start);
  od_table_free(truth);
  od_table_free(first);
}

static void is_linear(void **state) {
  (void)state;
  od_machine *machine = load(NULL);
  assert_true(od_model_is_linear(od_machine_model(machine)));
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(transfer_function), cmocka_unit_test(marks),
                                     cmocka_unit_test(sweep_fits), cmocka_unit_test(is_linear)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
