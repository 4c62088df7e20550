// SUNDIALS is loaded on demand. Oracles: the closed form of a run with CVODES; folders without libraries and with files that are no
// libraries. The check `light` tests that other runs load nothing of SUNDIALS.
#include "support/test.h"

#include "simulate/cvodes_library.h"
#include "support/program.h"
#include "support/scratch.h"

static const char machine[] =
    "bodies: {block: {point: {mass: 2 kg}}}\n"
    "joints: {rail: {type: prismatic, between: [ground, block], axis: [1, 0, 0]}}\n"
    "forces: {F: {at: block, value: 5 N, direction: [1, 0]}}\n"
    "initial: {rail.position: 0 m}\n"
    "run: {time: 10 ms}\n";

// 2 kg pushed by 5 N for 10 ms.
static void test_loaded(void **state) {
  scratch *s = *state;
  const od_sundials *lib = od_sundials_load(NULL);
  assert_non_null(lib);
  assert_ptr_equal(lib, od_sundials_load(NULL));
  scratch_put(s, "m.yaml", machine);
  outcome o = run(s, "simulate m.yaml --integrator cvodes --csv - --output rail.rate --quiet");
  ends_with(o, 0);
  const char *last = strrchr(o.out, ',');
  assert_non_null(last);
  near_relative(atof(last + 1), 0.025, 1e-9);
  forget(o);
}

static void test_missing(void **state) {
  scratch *s = *state;
  static const char message[] =
      "the integrator cvodes needs the library " OD_SUNDIALS_cvodes ", which cannot be loaded from ";
  scratch_put(s, "m.yaml", machine);
  setenv("OLEODYN_SUNDIALS", s->folder, 1);
  ends_and_says(run(s, "simulate m.yaml --integrator cvodes"), 1, message);
  ends_and_says(run(s, "simulate m.yaml --integrator cvodes"), 1, "install the Debian package libsundials-cvodes6");
  expect_code(run(s, "simulate m.yaml"), 0);
  scratch_put(s, OD_SUNDIALS_cvodes, "no library");
  ends_and_says(run(s, "simulate m.yaml --integrator cvodes"), 1, message);
  unsetenv("OLEODYN_SUNDIALS");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_loaded), TEST(test_missing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
