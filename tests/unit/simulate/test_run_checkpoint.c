// Runs that are stopped and go on from their checkpoint, with adaptive steps, events and judged accuracy. Oracle: the same run without
// interruption, whose rows must be the same to the bit.
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "support/machines.h"

typedef struct stop {
  double at;  // fraction of the run
} stop;

static bool goes_on(void *user, double done) {
  return done < ((const stop *)user)->at;
}

static od_table *run_machine(const od_machine *machine, od_run_options options, od_status expected) {
  OD_SCOPED(od_run_report_free) od_run_report report = {0};
  od_table *table = NULL;
  od_error err = {0};
  od_status status = od_run(machine, &options, &table, &report, &err);
  if (status != expected) fail_msg("%s: %s", od_machine_file(machine), err.text);
  assert_non_null(table);
  return table;
}

// Stops the run at a fraction of its first run, goes on, and compares all rows after the checkpoint.
static void stop_and_go_on(const char *path, od_run_options options, double fraction) {
  od_machine *machine = od_test_machine(path, NULL);
  int outputs[3] = {0, od_machine_output_count(machine) / 2, od_machine_output_count(machine) - 1};
  options.outputs = outputs;
  options.output_count = 3;
  od_table *whole = run_machine(machine, options, OD_OK);
  stop at = {fraction};
  od_checkpoint checkpoint = {0};
  od_run_options first = options, second = options;
  first.progress = goes_on;
  first.user = &at;
  first.checkpoint = &checkpoint;
  second.resume = &checkpoint;
  od_table *before = run_machine(machine, first, OD_INTERRUPTED);
  assert_true(before->rows > 1 && before->rows < whole->rows);
  assert_non_null(checkpoint.bytes);
  od_table *after = run_machine(machine, second, OD_OK);
  size_t row = (size_t)whole->columns * sizeof *whole->data;
  assert_true(after->rows > 0 && after->rows < whole->rows);
  const double *rest = whole->data + (whole->rows - after->rows) * whole->columns;
  assert_memory_equal(after->data, rest, (size_t)after->rows * row);
  // No row is missing between the two parts; the last row before may be an additional one, at the time of the interruption.
  assert_true(before->data[(before->rows - 1) * whole->columns] >= rest[-whole->columns]);
  od_checkpoint_free(&checkpoint);
  od_table_free(whole);
  od_table_free(before);
  od_table_free(after);
  od_machine_free(machine);
}

static void test_adaptive(void **state) {
  (void)state;
  // The tolerance is given, so that the delivered run is the first run.
  const od_run_options options = {
      .time = 0.3, .step = 1e-3, .adaptive = true, .integrator = "tr-bdf2", .tolerance = 1e-6};
  static const char *const machines[] = {"cases/fourbar-swing/machine.yaml", "cases/position-servo/machine.yaml",
                                         "cases/excavator/machine.yaml", "cases/load-sensing/machine.yaml",
                                         "cases/slider-crank/machine.yaml"};
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    for (int k = 1; k < 4; k++)
      stop_and_go_on(machines[i], options, 0.12 * k);  // the first run is half of the progress
}

static void test_fixed(void **state) {
  (void)state;
  od_run_options options = {.time = 0.2, .step = 2.5e-4, .every = 3};
  for (int i = 0; od_integrator_at(i); i++) {
    options.integrator = od_integrator_at(i)->name;
    stop_and_go_on("cases/fourbar-swing/machine.yaml", options, 0.2);
  }
  options.integrator = "trapezoid";
  options.unjudged = true;
  stop_and_go_on("cases/position-servo/machine.yaml", options, 0.5);
}

// Each changed bit of a checkpoint is found by its checksum or its header.
static void test_damaged(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("tests/fuzz/lag/lag.yaml", NULL);
  const int output = 0;
  od_checkpoint checkpoint = {0};
  od_run_options options = {
      .time = 0.1, .step = 0.02, .unjudged = true, .outputs = &output, .output_count = 1, .checkpoint = &checkpoint};
  od_table_free(run_machine(machine, options, OD_OK));
  options.time = 0.2;
  options.resume = &checkpoint;
  options.checkpoint = NULL;
  unsigned char *bytes = checkpoint.bytes;
  for (size_t bit = 0; bit < 8 * checkpoint.size; bit++) {
    od_table *table = NULL;
    od_error err = {0};
    bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    assert_int_equal(od_run(machine, &options, &table, NULL, &err), OD_BAD_INPUT);
    assert_true(err.text[0] != '\0' && table == NULL);
    bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  od_table_free(run_machine(machine, options, OD_OK));
  od_checkpoint_free(&checkpoint);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_adaptive), cmocka_unit_test(test_fixed),
                                     cmocka_unit_test(test_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
