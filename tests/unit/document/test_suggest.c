// Suggestions for misspelled words: similar words are found, others are not. Oracle: expected words and distances by
// hand.
#include "support/test.h"

#include <string.h>

#include "document/suggest.h"

// The unit of distances is half an edit.
static void test_slips(void **state) {
  (void)state;
  assert_int_equal(od_edit_distance("mass", "mass"), 0);
  assert_int_equal(od_edit_distance("mas", "mass"), 2);
  assert_int_equal(od_edit_distance("masss", "mass"), 2);
  assert_int_equal(od_edit_distance("mess", "mass"), 2);
  assert_int_equal(od_edit_distance("amss", "mass"), 2);
  assert_int_equal(od_edit_distance("Mass", "mass"), 1);
  assert_int_equal(od_edit_distance("", "mass"), 8);
  assert_int_equal(od_edit_distance("lenght", "length"), 2);
}

static const char *const words[] = {"mass", "length", "stiffness", "damping", "A", "B"};

static const char *nearest(const char *word) {
  od_nearest found = od_nearest_to(word);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) od_nearest_try(&found, words[i]);
  return found.best;
}

static void test_nearest(void **state) {
  (void)state;
  assert_string_equal(nearest("lenght"), "length");
  assert_string_equal(nearest("stifness"), "stiffness");
  assert_string_equal(nearest("Stiffness"), "stiffness");
  assert_string_equal(nearest("dampnig"), "damping");
  assert_string_equal(nearest("a"), "A");
  assert_null(nearest("C"));
  assert_null(nearest("colour"));
  assert_null(nearest(""));
  char endless[1000];
  memset(endless, 'm', sizeof endless - 1);
  endless[sizeof endless - 1] = '\0';
  assert_null(nearest(endless));
}

static const char *nearest_path(const char *word) {
  static const char *const paths[] = {"crank.beam.mass", "crank.beam.length", "rod.beam.mass", "spring.free", "pid.kp"};
  od_nearest found = od_nearest_to(word);
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) od_nearest_try(&found, paths[i]);
  return found.best;
}

// Parts of a path may be omitted or added, except the first and the last.
static void test_paths(void **state) {
  (void)state;
  assert_string_equal(nearest_path("crank.mass"), "crank.beam.mass");
  assert_string_equal(nearest_path("rod.mass"), "rod.beam.mass");
  assert_string_equal(nearest_path("Crank.Length"), "crank.beam.length");
  assert_string_equal(nearest_path("pid.gains.kp"), "pid.kp");
  assert_string_equal(nearest_path("rod.baem.mass"), "rod.beam.mass");
  assert_null(nearest_path("wheel.mass"));
  assert_null(nearest_path("crank.volume"));
  assert_null(nearest_path("mass"));
}

// The end of a message names the near word; otherwise all words of a short list, or the place or some words of a long list.
static void test_suggestions(void **state) {
  (void)state;
  od_nearest near = od_nearest_to("lenght"), few = od_nearest_to("wheel"), many = few, one = few;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) od_nearest_try(&near, words[i]);
  assert_string_equal(od_nearest_suggestion(&near, "look there").text, "; did you mean 'length'?");
  assert_string_equal(od_nearest_suggestion(&few, NULL).text, "");
  assert_string_equal(od_nearest_suggestion(&few, "none is defined").text, "; none is defined");
  od_nearest_try(&one, "boom");
  assert_string_equal(od_nearest_suggestion(&one, "look there").text, "; expected boom");
  static const char *const parts[] = {"boom", "crank", "rod"};
  for (int i = 0; i < 3; i++) od_nearest_try(&few, parts[i]);
  assert_string_equal(od_nearest_suggestion(&few, "look there").text, "; expected boom, crank or rod");
  for (int i = 0; i < 30; i++) od_nearest_try(&many, parts[i % 3]);
  assert_string_equal(od_nearest_suggestion(&many, "look there").text, "; look there");
  assert_string_equal(od_nearest_suggestion(&many, NULL).text,
                      "; expected one of 30 names, such as boom, crank, rod, boom");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slips), cmocka_unit_test(test_nearest),
                                     cmocka_unit_test(test_paths), cmocka_unit_test(test_suggestions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
