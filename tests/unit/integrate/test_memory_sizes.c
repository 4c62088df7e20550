// Sizes of scratch memory. Oracle: the lengths of the vectors and matrices, one by one. Steps that slide along a jump (integrate/slide.c):
// the state and the inputs; the rates, those of two earlier steps and their curvature; energies and powers; two held values of each jump;
// value, guard and slope of each jump; changes of inputs and rates; and with derivatives a matrix and a vector that is as long as the
// longest list of variables. Integrators: the vectors that each rule keeps within a step, and with derivatives one column more of each
// differentiated vector for each variable.
#include "support/test.h"
#include "integrate/sim_block.h"
#include "oleodyn/integrator.h"

static void sizes(void **state) {
  (void)state;
  int least = 0;
  for (int i = 0; i < 729; i++) {
    const int choice[] = {0, 1, 4};
    int nz = choice[i % 3], nc = 5 * choice[i / 3 % 3], nu = 3 * choice[i / 9 % 3], nq = choice[i / 27 % 3],
        np = 7 * choice[i / 81 % 3], jumps = 2 * choice[i / 243];
    const od_plant plant = {.nz = nz, .nc = nc, .nu = nu, .nq = nq, .np = np, .jumps = jumps};
    const int state_and_inputs = 2 * nz + nc + nu, rates = 4 * (nz + nc), powers = 2 * nq, held = 2 * jumps,
              search = 3 * jumps;
    const int variables[] = {2 * nz + nc, nu, np, jumps};
    int longest = 0, sum = state_and_inputs + rates + powers + held + search + nu + nz + nc;
    for (int k = 0; k < 4; k++)
      if (variables[k] > longest) longest = variables[k];
    if (jumps == 0) sum = longest = 0, least++;
    assert_int_equal(od_slide_doubles(&plant, true), sum);
    assert_int_equal(od_slide_doubles(&plant, false), sum + (2 * nz + nc) * jumps + longest);
  }
  assert_int_equal(least, 243);
}

static size_t scratch_of(const char *integrator, const od_plant *plant, size_t columns) {
  const od_integrator *i = od_integrator_find(integrator);
  assert_non_null(i);
  return i->scratch(plant, columns);
}

static void integrators(void **state) {
  (void)state;
  for (int i = 0; i < 81; i++) {
    const int nz = i % 3, nc = i / 3 % 3, nq = i / 9 % 3, columns = 5 * (i / 27);
    const od_plant plant = {.nz = nz, .nc = nc, .nq = nq};
    const int states = nz + nz + nc, rates = nz + nc;
    const int sum = rates, past = rates, power = nq, error = states;  // tr-bdf2
    assert_int_equal(scratch_of("tr-bdf2", &plant, (size_t)columns),
                     sum + past + power + error + columns * (rates + states));
    const int slopes = states, mean = states, at = states, gained = nq;  // rk4
    assert_int_equal(scratch_of("rk4", &plant, (size_t)columns),
                     slopes + mean + at + gained + columns * states + columns * states + columns * states);
    assert_int_equal(scratch_of("trapezoid", &plant, (size_t)columns), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(integrators)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
