// The fin servo's frequency response from its stepped sine, and transfer functions of it.
//
// Oracles: the servo's transfer function in closed form, block by block (equations 1 to 12 of the paper, written by hand below);
// reference values of the three methods, from an independent prototype.
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "frequency/transfer.h"
#include "formats/read_table.h"
#include "io/table.h"
#include "oracle/fin_servo.h"
#include "random/random.h"
#include "support/program.h"

enum { SEEDS = 25, FREQUENCIES = 100 };
static const double highest = 70;  // Hz: fitted range

static double _Complex servo(double frequency) {
  const oracle_fin_servo_constants *c = &oracle_fin_servo_values;
  const double *p = oracle_fin_servo_identified;
  double omega = p[0], xi = p[1], beta = p[2], kc = p[3], ctc = p[4], bt = p[5], mt = p[6], kl = p[7];
  double _Complex s = 2 * acos(-1) * frequency * _Complex_I;
  double _Complex lead = (c->T3 * s + 1) / (c->T4 * s + 1), square = c->T5 * c->T5 * s * s;
  double _Complex notch = (square + 2 * c->xi3 * c->T5 * s + 1) / (square + 2 * c->xi4 * c->T5 * s + 1);
  double _Complex spool = c->Kiq / (s * s / (omega * omega) + 2 * xi / omega * s + 1);
  // Q = Ap s x + (Kc + Ctc + Vt/(4 beta) s) p, Ap p = (mt s^2 + Bt s + KL) x
  double _Complex load = mt * s * s + bt * s + kl, leak = kc + ctc + c->Vt / (4 * beta) * s;
  double _Complex cylinder = 1 / (c->Ap * s + leak * load / c->Ap);
  double _Complex forward = lead * notch * c->Ki * spool * cylinder;
  return forward / (1 + forward * c->Kd * (c->T1 * s + 1) / (c->T2 * s + 1));
}

// --- Data ---------------------------------------------------------------------------------------------------------

typedef struct sweep {
  long rows;
  double *u, *y, spread;
} sweep;

// As the program simulates it, with the exact input between samples.
static sweep clean_sweep(scratch *folder) {
  od_table *table = NULL;
  od_error err = {0};
  expect_code(run(folder, "simulate " OD_SOURCE_DIR "/cases/fin-servo/machine.yaml --csv sweep.csv --quiet"), 0);
  if (od_table_read_csv(scratch_path(folder, "sweep.csv"), &table, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(table->columns, 3);
  size_t rows = (size_t)table->rows;
  sweep s = {table->rows, calloc(rows, sizeof(double)), calloc(rows, sizeof(double)), 0};
  double mean = 0;
  for (long k = 0; k < s.rows; k++) {
    s.u[k] = table->data[3 * k + 1];
    s.y[k] = table->data[3 * k + 2];
    mean += s.y[k] / (double)s.rows;
  }
  for (long k = 0; k < s.rows; k++) s.spread += pow(s.y[k] - mean, 2) / (double)s.rows;
  s.spread = sqrt(s.spread);
  od_table_free(table);
  return s;
}

// White noise behind a low-pass of fourth order at 100 Hz (Butterworth, bilinear), then of 3.82 % of the signal's spread.
static void coloured_noise(const sweep *s, uint64_t seed, double *noise) {
  const double h = oracle_fin_servo_step, k = tan(acos(-1) * 100 * h);
  for (long i = 0; i < s->rows; i++) noise[i] = od_random_gaussian(seed, 11, (uint64_t)i, OD_USE_NOISE);
  for (int section = 0; section < 2; section++) {
    double d = cos(acos(-1) * (2 * section + 1) / 8), a0 = 1 + 2 * d * k + k * k, a1 = 2 * (k * k - 1),
           a2 = 1 - 2 * d * k + k * k, x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (long i = 0; i < s->rows; i++) {
      double x = noise[i], y = (k * k * (x + 2 * x1 + x2) - a1 * y1 - a2 * y2) / a0;
      x2 = x1, x1 = x, y2 = y1, y1 = y;
      noise[i] = y;
    }
  }
  double squares = 0;
  for (long i = 0; i < s->rows; i++) squares += noise[i] * noise[i];
  double factor = 0.0382 * s->spread / sqrt(squares / (double)s->rows);
  for (long i = 0; i < s->rows; i++) noise[i] *= factor;
}

static od_frf *response_of(const sweep *s, const double *noise, double settle) {
  double frequency[FREQUENCIES];
  for (int i = 0; i < FREQUENCIES; i++) frequency[i] = i + 1;
  const od_sines sines = {0, frequency, FREQUENCIES, 3, settle};
  od_sine_fit *fit = od_sine_fit_new(&sines, 1);
  od_frf *f = NULL;
  od_error err = {0};
  for (long k = 0; k < s->rows; k++) {
    double y = s->y[k] + (noise ? noise[k] : 0);
    od_sine_fit_add(fit, (double)k * oracle_fin_servo_step, s->u[k], &y);
  }
  assert_int_equal(od_sine_fit_end(fit, &f, &err), OD_OK);
  od_sine_fit_free(fit);
  assert_int_equal(f->points, FREQUENCIES);
  od_frf *part = od_frf_between(f, 0, highest);
  od_frf_free(f);
  assert_int_equal(part->points, 70);
  return part;
}

static double distance(const od_frf *f) {
  double left = 0, all = 0;
  for (int i = 0; i < f->points; i++) {
    left += pow(cabs(f->value[i] - servo(f->frequency[i])), 2);
    all += pow(cabs(servo(f->frequency[i])), 2);
  }
  return sqrt(left / all);
}

static void stepped_sine_without_noise(void **state) {
  sweep s = clean_sweep(*state);
  od_frf *two = response_of(&s, NULL, 1), *three = response_of(&s, NULL, 0);
  print_message("error over response: last two periods %.4f %%, all three %.3f %%\n", 100 * distance(two),
                100 * distance(three));
  assert_true(distance(two) < 0.5e-3);
  assert_true(distance(three) > 3e-3 && distance(three) < 5e-3);
  od_frf_free(two);
  od_frf_free(three);
  free(s.u), free(s.y);
}

// --- Transfer functions -------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

// Reference values: median fits of 25 seeds with the prototype, for each method and order. The paper prints one run by least squares:
// 94.24, 94.12, 95.45, 87.21 and 96.14 %.
static const int orders[] = {4, 5, 6, 7, 9};
enum { ORDERS = 5 };
static const double reference[3][ORDERS] = {
    {95.9, 95.7, 95.8, 96.3, 96.4}, {96.0, 96.1, 96.3, 96.4, 96.7}, {97.23, 97.31, 97.36, 97.53, 97.63}};

static void transfer_functions_of_coloured_data(void **state) {
  sweep s = clean_sweep(*state);
  double *noise = calloc((size_t)s.rows, sizeof *noise), fits[3][ORDERS][SEEDS];
  int unstable[3][ORDERS] = {0};
  for (int seed = 0; seed < SEEDS; seed++) {
    coloured_noise(&s, (uint64_t)seed + 101, noise);
    od_frf *f = response_of(&s, noise, 1);
    for (int m = 0; m < 3; m++)
      for (int k = 0; k < ORDERS; k++) {
        const od_transfer_options o = {(od_transfer_method)m, orders[k], orders[k] - 1};
        od_transfer *t = NULL;
        od_error err = {0};
        if (od_transfer_fit(f, &o, &t, &err) != OD_OK) fail_msg("%s", err.text);
        fits[m][k][seed] = od_transfer_amplitude_fit(t, f, 0);
        unstable[m][k] += t->unstable > 0;
        od_transfer_free(t);
      }
    od_frf_free(f);
  }
  for (int m = 0; m < 3; m++)
    for (int k = 0; k < ORDERS; k++) {
      qsort(fits[m][k], SEEDS, sizeof(double), by_size);
      double median = fits[m][k][SEEDS / 2];
      int above = 0;
      for (int i = 0; i < SEEDS; i++) above += fits[m][k][i] >= 97;
      print_message(
          "%-4s %d: median %.2f %% (reference %.2f), least %.2f, %d of %d at 97 or more, %d with unstable poles\n",
          od_transfer_methods[m], orders[k], median, reference[m][k], fits[m][k][0], above, SEEDS, unstable[m][k]);
    }
  for (int k = 0; k < ORDERS; k++) {
    assert_true(fits[OD_TRANSFER_VF][k][SEEDS / 2] >= 97);
    assert_int_equal(unstable[OD_TRANSFER_VF][k], 0);
    for (int m = 0; m < 2; m++) assert_true(fabs(fits[m][k][SEEDS / 2] - reference[m][k]) <= 0.5);
  }
  free(noise);
  free(s.u), free(s.y);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(stepped_sine_without_noise, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(transfer_functions_of_coloured_data, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
