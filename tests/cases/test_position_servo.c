// The position servo. Oracles: its equations by hand (oracle/position_servo.c), integrated by CVODES; the reference motion in
// $OD_SHARED/cases, or in ../shared next to the source tree, which is not part of the project (that test is skipped without it).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"
#include "formats/read_table.h"
#include "oracle/position_servo.h"
#include "support/machines.h"
#include "support/skipping.h"

enum { ROWS = 3001, OUTPUTS = 6 };
static const double row = 1e-3;
static double exact[ROWS * SERVO_STATES];

static od_table *simulate(const char *integrator, int parts, const char *set) {
  static const char *const name[OUTPUTS] = {"guide.position", "guide.rate", "A.pressure",
                                            "B.pressure",     "P.pressure", "valve.spool"};
  od_machine *machine = od_test_machine("cases/position-servo/machine.yaml", set, NULL);
  int output[OUTPUTS];
  for (int i = 0; i < OUTPUTS; i++) output[i] = od_test_output(machine, name[i]);
  const od_run_options o = {.time = 3,
                            .step = row / parts,
                            .every = parts,
                            .integrator = integrator,
                            .tolerance = 1e-10,
                            .outputs = output,
                            .output_count = OUTPUTS,
                            .unjudged = true};
  od_table *t = NULL;
  od_error err = {0};
  if (od_run(machine, &o, &t, NULL, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(t->rows, ROWS);
  od_machine_free(machine);
  return t;
}

// The largest distance of one output, over all rows.
static double distance(const od_table *t, int output) {
  double most = 0;
  for (int i = 0; i < ROWS; i++)
    most = fmax(most, fabs(t->data[i * t->columns + 1 + output] - exact[i * SERVO_STATES + output]));
  return most;
}

// The machine file with CVODES against the equations by hand. Pressures below zero are shown as zero.
static void equations(void **state) {
  (void)state;
  static const double allowed[OUTPUTS] = {3e-7, 5e-5, 500, 500, 100, 1e-8};
  for (int i = 0; i < ROWS; i++)
    for (int k = SERVO_PA; k <= SERVO_PP; k++) exact[i * SERVO_STATES + k] = fmax(exact[i * SERVO_STATES + k], 0);
  od_table *t = simulate("cvodes", 1, NULL);
  for (int k = 0; k < OUTPUTS; k++) {
    print_message("%s: off by %.2g\n", t->name[1 + k], distance(t, k));
    assert_true(distance(t, k) < allowed[k]);
  }
  od_table_free(t);
}

// The comparison is sensitive: the effect of a missing term is much larger than the tolerance above.
static void sensitivity(void **state) {
  (void)state;
  static const char *const set[] = {"relief.time_constant=1.1 ms", "pump_leakage.slope=2e-12", "guide.stiffness=110"};
  for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
    od_table *t = simulate("tr-bdf2", 10, set[i]);
    print_message("%s: off by %.2g m\n", set[i], distance(t, 0));
    assert_true(distance(t, 0) > 5e-5);
    od_table_free(t);
  }
}

// Errors fall with the order of the rule. Corners of the equations and the limit cycle, in which errors decay slowly, make single ratios
// scatter; over a factor of ten in the step they do not.
static void orders(void **state) {
  (void)state;
  static const struct {
    const char *rule;
    int parts[2];
    double low, high;  // of the order between them
  } runs[] = {{"trapezoid", {2, 20}, 1.7, 2.3}, {"tr-bdf2", {2, 20}, 1.7, 2.3}, {"rk4", {10, 40}, 3.2, 4.8}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    double off[2];
    for (int k = 0; k < 2; k++) {
      od_table *t = simulate(runs[i].rule, runs[i].parts[k], NULL);
      off[k] = distance(t, 0);
      od_table_free(t);
    }
    double order = log(off[0] / off[1]) / log((double)runs[i].parts[1] / runs[i].parts[0]);
    print_message("%s: %.2g m in steps of 1/%d ms, %.2g m in steps of 1/%d ms: order %.2f\n", runs[i].rule, off[0],
                  runs[i].parts[0], off[1], runs[i].parts[1], order);
    assert_true(order > runs[i].low && order < runs[i].high);
  }
}

static void reference(void **state) {
  (void)state;
  const char *shared = getenv("OD_SHARED");
  char path[1000];
  snprintf(path, sizeof path, "%s/cases/position-servo-reference.csv", shared ? shared : OD_SOURCE_DIR "/../shared");
  if (access(path, R_OK) != 0) skip_test("no data: %s", path);
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read_csv(path, &t, &err) != OD_OK) fail_msg("%s", err.text);
  assert_true(t->rows == ROWS && t->columns == 1 + OUTPUTS);
  print_message("the reference is %.2g m off\n", distance(t, 0));
  assert_true(distance(t, 0) < 1e-6);
  od_table_free(t);
}

int main(void) {
  if (position_servo_solve(1e-10, row, ROWS, exact) != 0) return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(equations), cmocka_unit_test(sensitivity),
                                     cmocka_unit_test(orders), cmocka_unit_test(reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
