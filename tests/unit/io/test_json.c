// JSON: what is written reads back exactly, and looks tidy.
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
  const struct CMUnitTest tests[] = {TEST(test_round_trip), TEST(test_failure)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
