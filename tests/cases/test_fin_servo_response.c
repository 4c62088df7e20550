// Figure 8 of the fin servo's paper as data, by cases/fin-servo/response: frequency responses of the measured and of the fitted position at 1 to
// 100 Hz. Oracle: the transfer functions (1) to (12) of the paper, multiplied out by hand, with the true numbers. The paper has a figure
// without numbers; it states that model and data agree, in particular below 50 Hz.
#include "support/test.h"

#include <complex.h>
#include <math.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "oracle/fin_servo_response.h"
#include "support/program.h"

static int column(const od_table *t, const char *name) {
  for (int i = 0; i < t->columns; i++)
    if (strcmp(t->name[i], name) == 0) return i;
  fail_msg("no column %s", name);
  return -1;
}

// The norm of the differences of two responses in a band, in percent of the norm of the second.
static double difference(int low, int high, const double complex *a, const double complex *b) {
  double error = 0, size = 0;
  for (int f = low; f <= high; f++) error += pow(cabs(a[f] - b[f]), 2), size += pow(cabs(b[f]), 2);
  return 100 * sqrt(error / size);
}

static void figure_8(void **state) {
  scratch *s = *state;
  char command[2048];
  snprintf(command, sizeof command, "cd %s && sh '%s/cases/fin-servo/response' '%s' figure.csv >table.txt", s->folder,
           OD_SOURCE_DIR, OD_BINARY);
  assert_int_equal(system(command), 0);
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read_csv(scratch_path(s, "figure.csv"), &t, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(t->rows, 100);
  int real[2] = {column(t, "measured.piston.position.real"), column(t, "predicted.piston.position.real")};
  double complex measured[101], fitted[101], truth[101];
  oracle_servo servo = oracle_servo_table(2);
  for (int i = 0; i < 100; i++) {
    const double *row = t->data + (long)i * t->columns;
    int f = i + 1;
    assert_true(fabs(row[0] - f) < 1e-9);
    measured[f] = row[real[0]] + I * row[real[0] + 1];
    fitted[f] = row[real[1]] + I * row[real[1] + 1];
    truth[f] = oracle_servo_response(&servo, I * 2 * acos(-1) * f);
  }
  double low = difference(1, 50, fitted, measured), high = difference(51, 100, fitted, measured);
  print_message(
      "fitted from measured: %.2f %% below 50 Hz, %.2f %% above; fitted from true: %.2f %%; measured from true: %.2f %%\n",
      low, high, difference(1, 100, fitted, truth), difference(1, 100, measured, truth));
  near_relative(low, 0.53, 0.02);  // the figures of the case's README
  near_relative(high, 5.77, 0.02);
  // The fit averages the noise of the measured points.
  assert_true(difference(1, 100, fitted, truth) < 0.4 && difference(1, 100, measured, truth) < 2);
  assert_true(difference(1, 100, fitted, truth) < difference(1, 100, measured, truth) / 2);
  char *table = scratch_read(scratch_path(s, "table.txt"));
  says(table, "1 to 50               99.23                       0.53");
  free(table);
  od_table_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(figure_8, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
