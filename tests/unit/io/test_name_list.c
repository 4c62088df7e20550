// Lists of names in sentences: number of shown names, and names of any length. Oracle: expected texts.
#include "support/test.h"

#include <string.h>

#include "io/wording.h"

static void test_most(void **state) {
  (void)state;
  od_name_list list = {.most = 3};
  assert_string_equal(od_name_list_text(&list), "");
  od_name_list_add(&list, "%s by %.2g", "A.pressure", 1.25);
  assert_string_equal(od_name_list_text(&list), "A.pressure by 1.2");
  for (int i = 0; i < 4; i++) od_name_list_add(&list, "n%d", i);
  assert_string_equal(od_name_list_text(&list), "A.pressure by 1.2, n0, n1 and 2 more");
  assert_int_equal(list.count, 5);
}

// Paths may be long: names that do not fit are counted, no name is cut, and nothing is written beyond the buffer.
static void test_long_names(void **state) {
  (void)state;
  struct {
    od_name_list list;
    char behind[200];
  } s = {.list = {.most = 100}};
  char name[180] = "";
  memset(name, 'x', sizeof name - 1);
  memset(s.behind, '#', sizeof s.behind);
  for (int i = 0; i < 50; i++) od_name_list_add(&s.list, "%s", name);
  const char *text = od_name_list_text(&s.list);
  assert_int_equal(s.list.shown, 5);
  assert_int_equal(strlen(text), 5 * 179 + 4 * 2 + strlen(" and 45 more"));
  assert_string_equal(text + strlen(text) - 12, " and 45 more");
  for (size_t i = 0; i < sizeof s.behind; i++) assert_int_equal(s.behind[i], '#');
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_most), cmocka_unit_test(test_long_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
