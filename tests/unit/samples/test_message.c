// Messages of sources: CSV lines and JSON objects, with and without a list of columns. Oracle: the expected values and reasons.
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "samples/message.h"

static od_message_reader reader;
static double cells[OD_MOST_CELLS];
static od_error err;

static od_message_use read(const char *text) {
  err.text[0] = '\0';
  return od_message_read(&reader, text, strlen(text), cells, &err);
}

static void begin(od_message_form form, const char **columns) {
  static od_twin_source source;
  source = (od_twin_source){.name = "logger", .form = form, .column = columns};
  assert_int_equal(od_message_begin(&reader, &source, NULL, &err), OD_OK);
}

static void test_csv(void **state) {
  (void)state;
  begin(OD_MESSAGE_CSV, NULL);
  assert_int_equal(read("time;p [bar]\r\n"), OD_USE_HEAD);
  assert_int_equal(read("s;bar"), OD_USE_HEAD);
  assert_int_equal(read("1,5;2\n"), OD_USE_SAMPLE);
  assert_true(cells[0] == 1.5 && cells[1] == 2);
  assert_string_equal(od_message_columns(&reader)->name[1], "p");
  assert_string_equal(od_message_columns(&reader)->unit[1], "bar");
  assert_int_equal(read(""), OD_USE_NONE);
  assert_int_equal(read("1;2;3"), OD_USE_BAD);
  assert_int_equal(read("1;zwei"), OD_USE_BAD);
  assert_non_null(strstr(err.text, "'zwei' is not a number"));
  assert_int_equal(read("2;"), OD_USE_SAMPLE);
  assert_true(isnan(cells[1]));
  od_message_end(&reader);
}

static void test_columns(void **state) {
  (void)state;
  begin(OD_MESSAGE_CSV, (const char *[]){"time", "p [bar]", NULL});
  assert_string_equal(od_message_columns(&reader)->unit[1], "bar");
  assert_int_equal(read("1,2.5"), OD_USE_SAMPLE);
  assert_true(cells[0] == 1 && cells[1] == 2.5);
  od_message_end(&reader);
  od_twin_source source = {.name = "logger", .column = (const char *[]){"p", "p [bar]", NULL}};
  assert_int_equal(od_message_begin(&reader, &source, NULL, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "'p' is given twice"));
  od_message_end(&reader);
}

static void test_json(void **state) {
  (void)state;
  begin(OD_MESSAGE_JSON, NULL);
  assert_int_equal(read("{\"time\": 1.5, \"note\": \"x\", \"p\": 3e5}"), OD_USE_SAMPLE);
  assert_int_equal(od_message_columns(&reader)->columns, 2);
  assert_true(cells[0] == 1.5 && cells[1] == 3e5);
  assert_int_equal(read("{\"p\": null, \"time\": 2, \"more\": 1}"), OD_USE_SAMPLE);
  assert_true(cells[0] == 2 && isnan(cells[1]));
  assert_int_equal(read("{\"time\": 2, \"p\": \"3\"}"), OD_USE_BAD);
  assert_non_null(strstr(err.text, "'p' is not a number"));
  assert_int_equal(read("[1, 2]"), OD_USE_BAD);
  assert_int_equal(read("{\"time\": 2, \"time\": 3}"), OD_USE_BAD);
  assert_int_equal(read("{\"time\": 2"), OD_USE_BAD);
  od_message_end(&reader);
  begin(OD_MESSAGE_JSON, (const char *[]){"time", "p [bar]", NULL});
  assert_int_equal(read("{\"p\": 1, \"time\": 2}"), OD_USE_SAMPLE);
  assert_true(cells[0] == 2 && cells[1] == 1);
  od_message_end(&reader);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_csv), cmocka_unit_test(test_columns),
                                     cmocka_unit_test(test_json)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
