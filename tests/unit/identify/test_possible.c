// Estimates stay in the possible range of their numbers, without bounds in the file. Oracle: v' = -d v/m has the closed
// form exp(-d t/m); for data of a negative d, which no damper has, zero is the best possible value.
#include <math.h>
#include <stdlib.h>

#include "support/test.h"
#include "experiment/observe.h"
#include "support/experiments.h"
#include "support/fits.h"

static const char machine[] =
    "inputs: {p: {unit: Pa, constant: 0 Pa}}\n"
    "blocks: {cart: {type: mass, pressure: p, mass: 2 kg, area: 1 cm^2, damping: 3 N s/m}}\n"
    "initial: {cart.velocity: 1 m/s}\nrun: {time: 1 s, step: 10 ms}\n";

#define HEAD                                                                                        \
  "experiment: Cart\nmachine: cart.yaml\nsensors: {cart.velocity: {sigma: 0.1 m/s}}\ndata: {file: " \
  "log.csv}\ntime: 1 s\nstep: 10 ms\n"

// A log of v = exp(-d t/m), m = 2 kg.
static void write_log(scratch *s, double damping) {
  char text[8000];
  size_t used = (size_t)snprintf(text, sizeof text, "time,cart.velocity\n");
  for (int k = 0; k <= 100; k++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%.2f,%.12f\n", 0.01 * k, exp(-damping * 0.01 * k / 2));
  scratch_write(s, "log.csv", text, used);
}

static int setup(void **state) {
  int code = scratch_setup(state);
  scratch_write(*state, "cart.yaml", machine, strlen(machine));
  return code;
}

static double fitted_damping(scratch *s, double damping, int *at_bound) {
  write_log(s, damping);
  od_fit_plan *plan = fit_plan_text(s, HEAD "parameters: {cart.damping: {}}\n");
  od_fitted *f = fit_run(plan, NULL);
  double found = f->estimate[0];
  *at_bound = f->search->at_bound[0];
  fit_release(f, plan);
  return found;
}

static void test_fit(void **state) {
  int at_bound;
  near_relative(fitted_damping(*state, 5, &at_bound), 5, 1e-6);
  assert_int_equal(at_bound, 0);
  double found = fitted_damping(*state, -0.8, &at_bound);
  print_message("damping of a cart that speeds up: %g N s/m\n", found);
  assert_true(found >= 0 && found < 1e-3);
}

static void test_observer(void **state) {
  scratch *s = *state;
  for (int k = 0; k < 2; k++) {
    write_log(s, k ? 5 : -0.8);
    static const char text[] =
        HEAD "parameters: {cart.damping: {sigma: 3 N s/m}}\ninitial: {cart.velocity: 0.01 m/s}\n";
    od_experiment *e = load_experiment(scratch_write(s, "observe.yaml", text, strlen(text)), NULL);
    assert_true(e->parameter[0].least == 0 && isinf(e->parameter[0].low));
    od_observed *o = observe(e);
    double found = o->estimate[0];
    print_message("observed: %g N s/m\n", found);
    assert_true(k ? fabs(found - 5) < 0.8 : found >= 0 && found < 0.5);
    // The end of the possible range has the same effect as a given bound.
    assert_int_equal(od_verdict_has(&o->verdict, "parameter.bound"), found == 0);
    od_observed_free(o);
    od_experiment_free(e);
  }
}

// Starts and bounds that are not possible are mistakes in the file.
static void test_messages(void **state) {
  static const struct {
    const char *parameter, *said;
  } cases[] = {
      {"{start: -1 N s/m}", "start is '-1 N s/m', which is impossible for 'cart.damping'; possible: 0 to 1e+13 N s/m"},
      {"{low: -2 N s/m, high: 8 N s/m}",
       "low is '-2 N s/m', which is impossible for 'cart.damping'; possible: 0 to 1e+13 N s/m"},
      {"{high: 1e20 N s/m}",
       "high is '1e20 N s/m', which is impossible for 'cart.damping'; possible: 0 to 1e+13 N s/m"},
      {"{low: 0 N s/m, high: 8 N s/m}", NULL}};
  write_log(*state, 5);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[512];
    snprintf(text, sizeof text, HEAD "parameters: {cart.damping: %s}\n", cases[i].parameter);
    od_messages *messages = od_messages_new();
    od_fit_plan *plan = NULL;
    od_fit_plan_load(scratch_write(*state, "fit.yaml", text, strlen(text)), NULL, &plan, messages);
    assert_int_equal(plan != NULL, cases[i].said == NULL);
    if (cases[i].said) assert_string_equal(od_messages_get(messages, 0)->text, cases[i].said);
    od_messages_free(messages);
    od_fit_plan_free(plan);
  }
}

// A log in bar without its unit: 80 to 120 "Pa".
static void test_forgotten_unit(void **state) {
  static const char tank[] =
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa}\nvolumes: {A: {volume: 1 L}}\n"
      "tanks: {T: {pressure: 1 bar}}\nleaks: {l: {between: [A, T], slope: 1e-12 m^3/(s Pa)}}\n"
      "initial: {A.pressure: 120 bar}\nrun: {time: 1 s, step: 10 ms}\n";
  static const char log[] = "time,p\n0,120\n0.5,100\n1,80\n";
  scratch_write(*state, "tank.yaml", tank, strlen(tank));
  scratch_write(*state, "tank.csv", log, strlen(log));
  for (int unit = 0; unit < 2; unit++) {
    char text[512];
    snprintf(text, sizeof text,
             "experiment: Tank\nmachine: tank.yaml\nsensors: {A.pressure: {sigma: 0.1 bar}}\n"
             "data: {file: tank.csv, channels: {A.pressure: {column: p%s}}}\n",
             unit ? ", unit: bar" : "");
    od_messages *messages = od_messages_new();
    od_experiment *e = NULL;
    od_status status =
        od_experiment_load(scratch_write(*state, "tank.experiment.yaml", text, strlen(text)), NULL, &e, messages);
    if (status != OD_OK) od_messages_print(messages, stderr, false);
    assert_int_equal(status, OD_OK);
    assert_int_equal(od_messages_count(messages), 1 - unit);
    if (!unit)
      assert_string_equal(
          od_messages_get(messages, 0)->text,
          "the largest magnitude of 'A.pressure' in the log is 120 Pa, which is unusual; usual: 0.05 bar to "
          "100 MPa; is 'unit: bar' missing?");
    od_messages_free(messages);
    od_experiment_free(e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_fit, setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_observer, setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_messages, setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(test_forgotten_unit, setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
