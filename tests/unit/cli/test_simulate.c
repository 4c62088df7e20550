// What simulate tells people: the summary beside written files, the units of the trade, cavitation, outputs that share a
// panel.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/program.h"

// A litre of oil at 10 bar from which 0.3 l/min are drawn until 0.4 s, and pumped back from then on. The pressure falls
// by 5 MPa/s: it is zero at 0.2 s and again at 0.6 s.
static const char drawn[] =
    "oil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\n"
    "volumes: {A: {volume: 1 L}, B: {volume: 1 L}}\n"
    "inputs: {draw: {unit: m3/s, steps: {initial: -0.3 L/min, at: [[0.4 s, 0.3 L/min]]}}}\n"
    "pumps: {pump: {to: A, flow: draw}, spare: {to: B, flow: 0.1 L/min}}\n"
    "initial: {A.pressure: 10 bar, B.pressure: 20 bar}\n"
    "run: {time: 1 s, step: 1 ms, outputs: [A.pressure, B.pressure, pump.flow]}\n";

static scratch *with_machine(void **state) {
  scratch_write(*state, "drawn.yaml", drawn, sizeof drawn - 1);
  return *state;
}

static void lacks(const char *text, const char *part) {
  if (strstr(text, part)) fail_msg("'%s' is in:\n%s", part, text);
}

static void test_files_keep_the_summary(void **state) {
  scratch *s = with_machine(state);
  const char *const options[] = {"--csv r.csv", "--mat r.mat", "--json r.json", "--plot r.svg"};
  for (int i = 0; i < 4; i++) {
    outcome o = run(s, "simulate drawn.yaml %s", options[i]);
    ends_with(o, 0);
    says(o.out, "output");
    says(o.out, "A.pressure");
    says(o.out, "verdict: sound");
    says(o.out, "wrote r.");
    forget(o);
  }
  outcome o = run(s, "simulate drawn.yaml --csv -");
  lacks(o.out, "verdict");
  forget(o);
  o = run(s, "simulate drawn.yaml --csv r.csv --quiet");
  assert_string_equal(o.out, "");
  forget(o);
}

// Closed form: from 0.2 s to 0.6 s. The row at 0.2 s itself may be on either side of zero.
static void test_cavitation_is_told(void **state) {
  scratch *s = with_machine(state);
  const char *const integrators[] = {"trapezoid", "rk4", "cvodes"};
  for (int i = 0; i < 3; i++) {
    outcome o = run(s, "simulate drawn.yaml --integrator %s --step '0.9 ms' --json r.json", integrators[i]);
    ends_with(o, 0);
    says(o.out, "verdict: sound\n  Cavitation: volume A cavitates from 0.2");
    says(o.out, " s on, in all for 400 ms of 1 s");
    lacks(o.out, "volume B");
    forget(o);
    char *json = scratch_read(scratch_path(s, "r.json"));
    says(json, "\"code\": \"cavitation\"");
    free(json);
  }
  outcome o = run(s, "simulate drawn.yaml --time 0.19");
  lacks(o.out, "avitat");
  forget(o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_files_keep_the_summary, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_cavitation_is_told, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
