// The memory of steps that slide along a jump (integrate/slide.c). Oracle: the lengths of the kept vectors, one by one: the state and the inputs; the
// rates, those of two earlier steps and their curvature; energies and powers; two held values of each jump; value, guard and slope of each jump;
// changes of inputs and rates; and with derivatives a matrix and a vector that is as long as the longest list of variables.
#include "support/test.h"
#include "integrate/sim_block.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
