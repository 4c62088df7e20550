// JSON: written values are read back exactly, and the layout is regular. Oracle: the written values and texts.
#include "support/test.h"

#include <math.h>

#include "io/json.h"
#include "support/scratch.h"

static void test_round_trip(void **state) {
  scratch *s = *state;
  json_t *value = json_pack("{s:f, s:i, s:s, s:[f, f], s:{}, s:[], s:b, s:n}", "tenth", 0.1, "count", 7, "text",
                            "a \"b\" \n\u00e9", "list", 1e300, 5.0, "object", "array", "yes", 1, "none");
  json_object_set_new(value, "bad", od_json_number(NAN));
  json_object_set_new(value, "name", od_json_text("caf\xe9"));
  json_object_set_new(value, "missing", od_json_text(NULL));
  const char *path = scratch_path(s, "v.json");
  assert_int_equal(od_json_write(value, path, NULL), OD_OK);
  assert_int_equal(scratch_count(s), 1);
  json_t *back = json_load_file(path, 0, NULL);
  assert_non_null(back);
  assert_true(json_equal(value, back));
  char *text = scratch_read(path);
  assert_non_null(strstr(text, "{\n  \"tenth\": 0.1,\n  \"count\": 7,\n"));
  assert_non_null(strstr(text, "\"list\": [\n    1e+300,\n    5.0\n  ],\n  \"object\": {},\n  \"array\": [],\n"));
  assert_non_null(strstr(text, "\"name\": \"caf?\""));
  free(text);
  json_decref(value);
  json_decref(back);
}

// Every second number, and in reverse order; a value that is not a number is null.
static void test_numbers(void **state) {
  (void)state;
  static const double x[] = {1, 2, NAN, 4};
  json_t *odd = od_json_numbers(x, 2, 2), *back = od_json_numbers(x + 3, 4, -1), *none = od_json_numbers(x, 0, 1);
  json_t *wanted[] = {json_pack("[f, n]", 1.0), json_pack("[f, n, f, f]", 4.0, 2.0, 1.0), json_array()};
  assert_true(json_equal(odd, wanted[0]) && json_equal(back, wanted[1]) && json_equal(none, wanted[2]));
  json_decref(odd), json_decref(back), json_decref(none);
  for (int i = 0; i < 3; i++) json_decref(wanted[i]);
}

static void test_failure(void **state) {
  scratch *s = *state;
  json_t *value = json_object();
  od_error err = {0};
  assert_int_equal(od_json_write(value, scratch_path(s, "no/v.json"), &err), OD_IO);
  assert_non_null(strstr(err.text, "no/v.json"));
  json_decref(value);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_round_trip), TEST(test_numbers), TEST(test_failure)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
