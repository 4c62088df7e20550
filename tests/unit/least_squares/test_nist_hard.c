// Five problems of the NIST family that searches are known to fail on, from the far start above all: BoxBOD, Eckerle4,
// MGH17, Rat43, Thurber. Their data are few and in the public domain, and lie beside this file.
//
// Oracle: the certified values.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/nist.h"

static void hard_ones(void **state) {
  (void)state;
  int found = 0, bad = 0;
  nist_set *set = malloc(sizeof *set);
  for (int i = 0; i < nist_model_count; i++) {
    if (nist_read(OD_SOURCE_DIR "/tests/unit/least_squares/nist", &nist_models[i], set) != 1) continue;
    found++;
    assert_true(nist_digits(nist_squares(set, set->value), set->squares) > 7);
    for (int start = 0; start < 2; start++) bad += !nist_fit(set, start, NULL, "", 9, 8);
  }
  free(set);
  assert_int_equal(found, 5);
  assert_int_equal(bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(hard_ones)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
