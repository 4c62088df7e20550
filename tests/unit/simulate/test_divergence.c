// Runs of unstable loops: they end when the motion diverges, with time and state, and the rows so far are marked as partial, in the
// same words everywhere. The oracle is the closed form x' = (u + 1.5 x - x)/T, x = 2 u (exp(t/(2 T)) - 1).
#include <math.h>

#include "support/test.h"

#include <jansson.h>

#include "support/program.h"

static const char unstable[] =
    "inputs: {u: 0.995}\n"
    "blocks:\n"
    "  sum: {type: sum, inputs: [u, lag], weights: [1, 1.5]}\n"
    "  lag: {type: first-order, input: sum, time_constant: 50 ms}\n"
    "run: {time: 10 s, step: 1 ms, outputs: [lag]}\n";

// 1.99 (exp(10 t) - 1) passes 1e9 at 2.0035 s.
static void test_unstable_loop(void **state) {
  scratch *s = *state;
  static const char *const methods[] = {"trapezoid", "tr-bdf2", "rk4", "cvodes"};
  scratch_write(s, "loop.yaml", unstable, sizeof unstable - 1);
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    outcome o = run(s, "simulate loop.yaml --integrator %s --json result.json --csv rows.csv", methods[i]);
    ends_with(o, 1);
    says(o.err, "at 2.004 s the motion left all bounds: it is unstable with these parameters; lag.state = 1.0");
    json_t *result = json_load_file(scratch_path(s, "result.json"), 0, NULL);
    assert_non_null(result);
    assert_true(json_is_false(json_object_get(result, "complete")));
    const char *message = json_string_value(json_object_get(result, "message"));
    const json_t *remarks = json_object_get(json_object_get(result, "verdict"), "remarks");
    const char *remark =
        json_string_value(json_object_get(json_array_get(remarks, json_array_size(remarks) - 1), "text"));
    // The same words on the terminal, as the message, and in the verdict.
    says(o.err, message);
    says(remark, message);
    says(remark, "Run incomplete: the run ended at 2.003 s of 10 s, and the result is incomplete: ");
    says(o.out, remark);
    json_decref(result);
    forget(o);
  }
}

// A failed step also reports the largest state.
static void test_failed_step(void **state) {
  scratch *s = *state;
  static const char text[] =
      "inputs: {u: 1}\n"
      "blocks:\n"
      "  fall: {type: integrator, input: u, unit: 1, gain: -1 1/s}\n"
      "  rest: {type: sum, inputs: [u, fall]}\n"
      "  pole: {type: quotient, numerator: u, denominator: rest}\n"
      "  sum: {type: integrator, input: pole, unit: 1, gain: 1 1/s}\n"
      "run: {time: 3 s, step: 0.25 s, outputs: [sum]}\n";
  scratch_write(s, "pole.yaml", text, sizeof text - 1);
  outcome o = run(s, "simulate pole.yaml --json result.json");
  ends_with(o, 1);
  says(o.err, "the step from ");
  says(o.err, "the largest state is sum.integral = ");
  says(o.out, "and the result is incomplete: the step from ");
  forget(o);
}

// A failed start names the cause: the element or the block that divides by zero, not the values that depend on it.
static void test_start_that_is_not_finite(void **state) {
  static const struct {
    const char *text, *says;
  } machines[] = {
      {"oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
       "volumes: {A: {volume: 1 l}, B: {volume: 1 l}}\ntanks: {T: {pressure: 1 bar}}\n"
       "flow_formulas: {o: {between: [A, T], flow: \"k / (p_a - p_b)\", parameters: {k: 1e-2 m^3 Pa/s}}}\n"
       "leaks: {l: {between: [B, T], slope: 1e-12}}\n"
       "initial: {A.pressure: 1 bar, B.pressure: 1 bar}\nrun: {time: 1 s, step: 1 ms}\n",
       "cannot start: a value became infinite or not a number: o.flow is infinite\n"},
      {"inputs: {u: 1, nothing: 0}\n"
       "blocks: {pole: {type: quotient, numerator: u, denominator: nothing},\n"
       "         sum: {type: integrator, input: pole, unit: 1, gain: 1 1/s}}\nrun: {time: 1 s, step: 1 ms}\n",
       "cannot start: a value became infinite or not a number: pole is infinite\n"},
  };
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    scratch_write(*state, "start.yaml", machines[i].text, strlen(machines[i].text));
    outcome o = run(*state, "simulate start.yaml");
    ends_with(o, 1);
    says(o.err, machines[i].says);
    forget(o);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_unstable_loop, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_failed_step, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_start_that_is_not_finite, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
