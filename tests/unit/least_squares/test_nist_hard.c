// Five difficult problems of the NIST family, mainly from the far start: BoxBOD, Eckerle4, MGH17, Rat43, Thurber. Their
// data are few and in the public domain, and are next to this file.
//
// Oracle: the certified values.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
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

// A method that fails from the far start reports this and does not report a minimum.
static void failures_are_told(void **state) {
  (void)state;
  const struct {
    const char *name;
    od_ls_method method;
  } cases[] = {{"BoxBOD", OD_LS_LEVENBERG_MARQUARDT}, {"MGH17", OD_LS_GAUSS_NEWTON}};
  nist_set *set = malloc(sizeof *set);
  int found = 0;
  for (int i = 0; i < nist_model_count; i++)
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      if (strcmp(nist_models[i].name, cases[c].name) != 0) continue;
      assert_int_equal(nist_read(OD_SOURCE_DIR "/tests/unit/least_squares/nist", &nist_models[i], set), 1);
      od_ls_problem problem = nist_problem(set);
      const od_ls_options options = {.method = cases[c].method};
      od_ls_result *r = NULL;
      assert_int_equal(od_least_squares(&problem, &options, &r, NULL), OD_NOT_CONVERGED);
      assert_true(r->reason == OD_LS_STUCK || r->reason == OD_LS_PLATEAU);
      assert_true(2 * r->cost > 2 * set->squares);
      od_ls_result_free(r);
      found++;
    }
  free(set);
  assert_int_equal(found, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(hard_ones), cmocka_unit_test(failures_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
