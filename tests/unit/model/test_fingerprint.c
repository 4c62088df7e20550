// The fingerprint of a model: equal for the same machine built twice, different after a change of any number, and different
// for different machines. The names of parts do not count.
#include "support/test.h"
#include "model/fingerprint.h"
#include "support/random_machine.h"

enum { MACHINES = 40 };

static void random_machines(void **state) {
  (void)state;
  uint64_t seen[MACHINES];
  int count = 0;
  for (uint64_t seed = 1; count < MACHINES; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, seed % 3 == 0, seed % 4 != 0, seed % 5 == 0);
    od_model *again = od_random_machine(seed, seed % 2, seed % 3 == 0, seed % 4 != 0, seed % 5 == 0);
    if (m) {
      seen[count] = od_model_fingerprint(m);
      assert_int_equal(seen[count], od_model_fingerprint(again));
      for (int i = 0; i < count; i++) assert_int_not_equal(seen[i], seen[count]);
      int number = (int)(seed % (uint64_t)m->numbers);
      double before = m->theta[number];
      m->theta[number] = before + 1;
      assert_int_not_equal(od_model_fingerprint(m), seen[count]);
      m->theta[number] = before;
      assert_int_equal(od_model_fingerprint(m), seen[count]);
      count++;
    }
    od_model_free(m);
    od_model_free(again);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_machines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
