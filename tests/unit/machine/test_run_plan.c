// Plans of runs for C programs: wishes override the section 'run', defaults complete it, and settings that are not possible are
// refused with a reason. Oracles: the documented rules, worked out by hand.
#include "support/test.h"

#include <string.h>

#include "oleodyn/oleodyn.h"
#include "support/machines.h"

#define VOLUME                                                                                                   \
  "machine: volume\noil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\nvolumes: {A: {volume: 1 L}}\n" \
  "pumps: {pump: {to: A, flow: 0.3 L/min}}\ninitial: {A.pressure: 10 bar}\n"

static void test_defaults_and_wishes(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(VOLUME "run: {time: 1 s}\n");
  od_run_plan plan;
  od_error err = {0};
  assert_int_equal(od_machine_plan_run(m, NULL, &plan, &err), OD_OK);
  assert_true(plan.time == 1 && plan.interval == 1e-3 && plan.rows == 1000);
  assert_true(plan.advance.step == 0 && plan.advance.end == 1 && plan.integrator->estimate_order > 0);
  // Rows at multiples of the interval; the last row is at the end.
  assert_int_equal(od_machine_plan_run(m, &(od_run_wishes){.rows = 0.3}, &plan, &err), OD_OK);
  assert_int_equal(plan.rows, 4);
  assert_true(od_run_plan_time(&plan, 3) == 3 * 0.3 && od_run_plan_time(&plan, 4) == 1);
  // Fixed steps become shorter, so that they fit the duration. A fixed step overrides `adaptive`.
  assert_int_equal(od_machine_plan_run(m, &(od_run_wishes){.step = 0.3, .adaptive = true}, &plan, &err), OD_OK);
  assert_true(plan.advance.step == 0.25 && plan.rows == 4 && od_run_plan_time(&plan, 3) == 0.75);
  assert_ptr_equal(plan.integrator, od_integrator_at(0));
  assert_int_equal(od_machine_plan_run(m, &(od_run_wishes){.time = 2, .integrator = "rk4", .step = 0.5}, &plan, &err),
                   OD_OK);
  assert_string_equal(plan.integrator->name, "rk4");
  assert_int_equal(plan.rows, 4);
  // No joint: the default outputs are all outputs.
  int outputs[100];
  assert_true(od_machine_output_count(m) <= 100);
  assert_int_equal(od_machine_default_outputs(m, outputs), od_machine_output_count(m));
  od_machine_free(m);
}

static void refused(const od_machine *m, od_run_wishes wishes, const char *reason) {
  od_run_plan plan;
  od_error err = {0};
  assert_int_equal(od_machine_plan_run(m, &wishes, &plan, &err), OD_BAD_INPUT);
  if (!strstr(err.text, reason)) fail_msg("'%s' is not in: %s", reason, err.text);
  assert_null(plan.integrator);
  assert_int_equal(od_machine_plan_run(m, &wishes, &plan, NULL), OD_BAD_INPUT);
}

static void test_refused(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(VOLUME);
  refused(m, (od_run_wishes){0}, "the run has no duration");
  refused(m, (od_run_wishes){.time = 1, .integrator = "euler"}, "there is no integrator 'euler'");
  refused(m, (od_run_wishes){.time = 1, .integrator = "cvodes"}, "available only in the program oleodyn");
  refused(m, (od_run_wishes){.time = 1, .integrator = "trapezoid", .adaptive = true}, "not trapezoid");
  refused(m, (od_run_wishes){.time = 1, .step = 1e-12}, "are too many");
  od_machine_free(m);
}

static void test_start(void **state) {
  (void)state;
  od_machine *m = od_test_machine_text(VOLUME "run: {time: 1 s}\n");
  od_run_plan plan;
  od_plant *plant;
  int output = od_machine_output_find(m, "A.pressure");
  assert_int_equal(od_machine_plan_run(m, NULL, &plan, NULL), OD_OK);
  assert_int_equal(od_machine_plant(m, &output, 1, NULL, 0, &plant, NULL), OD_OK);
  assert_int_equal(od_run_plan_start(&plan, NULL), OD_NO_MEMORY);
  od_sim *sim = od_sim_plain_new(plant), *at;
  assert_int_equal(od_run_plan_start(&plan, sim), OD_OK);
  assert_ptr_equal(od_sim_integrator(sim), plan.integrator);
  od_advance *advance = od_advance_new(sim, &plan.advance);
  double y;
  assert_int_equal(od_sim_advance(advance, od_run_plan_time(&plan, plan.rows), &at), OD_OK);
  assert_int_equal(od_sim_outputs(at, &y), OD_OK);
  near(y, 1e6 + 5e6, 1);  // 0.3 l/min into 1 l raise the pressure by 5 MPa/s
  od_advance_free(advance);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults_and_wishes),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
