// The servo of cases/friction-compensation: path errors without compensation and with three laws. Oracles: CVODES for the runs;
// the README for the figures and their order.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "support/machines.h"

static void run_variant(const char *variant, const char *integrator, double *rms, double *largest) {
  od_machine *m = NULL;
  od_messages *messages = od_messages_new();
  od_load_options options = {.variant = variant};
  assert_int_equal(od_machine_load(OD_SOURCE_DIR "/cases/friction-compensation/machine.yaml", &options, &m, messages),
                   OD_OK);
  od_messages_free(messages);
  int output = od_test_output(m, "error");
  od_run_options run = {
      .time = 6, .step = 2e-4, .integrator = integrator, .outputs = &output, .output_count = 1, .unjudged = true};
  od_run_report report = {0};
  od_table *t = NULL;
  assert_int_equal(od_run(m, &run, &t, &report, NULL), OD_OK);
  od_summary s = od_table_summary(t, 1);
  *rms = s.rms, *largest = fmax(fabs(s.min), fabs(s.max));
  od_run_report_free(&report);
  od_table_free(t);
  od_machine_free(m);
}

static void compensation(void **state) {
  (void)state;
  static const struct {
    const char *variant;
    double rms, largest;  // mm, as in the README
  } expected[] = {{NULL, 1.22, 2.53}, {"wrong", 3.89, 4.91}, {"nominal", 0.53, 1.02}, {"estimated", 0.16, 1.14}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    double rms, largest, exact_rms, exact_largest;
    run_variant(expected[i].variant, "tr-bdf2", &rms, &largest);
    run_variant(expected[i].variant, "cvodes", &exact_rms, &exact_largest);
    print_message("%s: rms %.4f mm, largest %.4f mm; by CVODES %.4f, %.4f\n",
                  expected[i].variant ? expected[i].variant : "none", 1e3 * rms, 1e3 * largest, 1e3 * exact_rms,
                  1e3 * exact_largest);
    assert_true(fabs(rms - exact_rms) < 1e-3 * exact_rms);
    assert_true(fabs(largest - exact_largest) < 5e-3 * exact_largest);
    assert_true(fabs(1e3 * rms - expected[i].rms) < 0.006);
    assert_true(fabs(1e3 * largest - expected[i].largest) < 0.006);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(compensation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
