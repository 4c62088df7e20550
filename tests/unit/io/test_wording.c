// Plurals. Oracle: a dictionary.
#include "support/test.h"

#include "io/wording.h"

static void test_count(void **state) {
  (void)state;
  static const struct {
    long long count;
    const char *noun, *text;
  } cases[] = {{1, "input", "1 input"},
               {0, "input", "0 inputs"},
               {2, "input", "2 inputs"},
               {-1, "row", "-1 rows"},
               {1, "body", "1 body"},
               {3, "body", "3 bodies"},
               {2, "frequency", "2 frequencies"},
               {2, "way", "2 ways"},
               {2, "box", "2 boxes"},
               {2, "branch", "2 branches"},
               {2, "loss", "2 losses"},
               {1, "degree of freedom", "1 degree of freedom"},
               {4, "degree of freedom", "4 degrees of freedom"},
               {2, "entry of a table", "2 entries of a table"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(od_count(cases[i].count, cases[i].noun).text, cases[i].text);
}

static void test_form(void **state) {
  (void)state;
  assert_string_equal(od_form(1, "is", "are"), "is");
  assert_string_equal(od_form(0, "is", "are"), "are");
  assert_string_equal(od_form(2, "has", "have"), "have");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_count), cmocka_unit_test(test_form)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
