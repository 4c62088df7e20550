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

// --- Dates --------------------------------------------------------------------------------------------------------

static const double march = 1772366400;  // 2026-03-01T12:00:00Z, by `date -u -d`

static void begin_with(od_message_form form, const char **columns, const char *time, const char *time_form) {
  static od_twin_source source;
  source = (od_twin_source){.name = "logger", .form = form, .column = columns};
  const od_table_wish wish = {.time = time, .time_form = time_form};
  assert_int_equal(od_message_begin(&reader, &source, &wish, &err), OD_OK);
}

static void test_dates(void **state) {
  (void)state;
  begin_with(OD_MESSAGE_CSV, NULL, NULL, NULL);
  assert_int_equal(read("stamp,p [bar],day"), OD_USE_HEAD);
  assert_int_equal(read(",3,"), OD_USE_BAD);  // no time
  assert_non_null(strstr(err.text, "the message has no time"));
  assert_false(reader.is_complete);
  assert_int_equal(read("2026-03-01T12:00:00.25Z,3,2026-03-02"), OD_USE_SAMPLE);
  assert_true(cells[0] == march + 0.25 && cells[1] == 3 && cells[2] == march + 43200);
  assert_string_equal(od_message_columns(&reader)->unit[0], "s");
  assert_int_equal(read("2026-03-01T13:00:00+01:00,,"), OD_USE_SAMPLE);  // another zone
  assert_true(cells[0] == march && isnan(cells[1]) && isnan(cells[2]));
  assert_int_equal(read("yesterday,3,"), OD_USE_BAD);
  assert_int_equal(read("2026-03-01 12:00:01.000001,3,"), OD_USE_SAMPLE);
  near(cells[0], march + 1.000001, 3e-7);
  od_message_end(&reader);
  // The order of day and month is unknown, known from the unit, and known from the first date.
  begin_with(OD_MESSAGE_CSV, (const char *[]){"time", "p", NULL}, "time", NULL);
  assert_int_equal(read("01/03/2026 12:00:00,1"), OD_USE_BAD);
  assert_non_null(strstr(err.text, "can be read as day/month and as month/day"));
  assert_int_equal(read("13/03/2026 12:00:00,1"), OD_USE_SAMPLE);
  assert_true(cells[0] == march + 12 * 86400);
  od_message_end(&reader);
  begin_with(OD_MESSAGE_CSV, (const char *[]){"time", "p", NULL}, "time", "dd/mm/yyyy");
  assert_int_equal(read("01/03/2026 12:00:00,1"), OD_USE_SAMPLE);
  assert_true(cells[0] == march);
  od_message_end(&reader);
  // A column of dates and a column of times of the day are a time. A time of the day alone is none.
  begin_with(OD_MESSAGE_CSV, (const char *[]){"date", "time", NULL}, "time", NULL);
  assert_int_equal(read("2026-03-01,12:00:00.5"), OD_USE_SAMPLE);
  assert_true(cells[1] == march + 0.5);
  od_message_end(&reader);
  begin_with(OD_MESSAGE_CSV, (const char *[]){"time", "p", NULL}, "time", NULL);
  assert_int_equal(read("12:00:00.5,1"), OD_USE_BAD);
  od_message_end(&reader);
}

// Unix times are numbers in the unit that their size shows; a unit of the column has priority.
static void test_unix_times(void **state) {
  (void)state;
  static const struct {
    const char *column, *number, *unit;
    double value;
  } of[] = {{"time", "1772366400.5", "s", 1772366400.5},
            {"time", "1772366400500", "ms", 1772366400500},
            {"time", "1772366400500123", "us", 1772366400500123},
            {"time", "1772366400500123456", "ns", (double)INT64_C(1772366400500123456)},
            {"time [s]", "1772366400500", "s", 1772366400500},
            {"time", "12.5", "", 12.5}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    for (int form = 0; form < 2; form++) {
      char text[100];
      begin_with(form ? OD_MESSAGE_JSON : OD_MESSAGE_CSV, (const char *[]){of[i].column, "p", NULL}, "time", NULL);
      snprintf(text, sizeof text, form ? "{\"time\": %s, \"p\": 2}" : "%s,2", of[i].number);
      assert_int_equal(read(text), OD_USE_SAMPLE);
      assert_true(cells[0] == of[i].value && cells[1] == 2);
      assert_string_equal(od_message_columns(&reader)->unit[0], of[i].unit);
      od_message_end(&reader);
    }
}

static void test_json_dates(void **state) {
  (void)state;
  begin_with(OD_MESSAGE_JSON, NULL, "at", NULL);
  assert_int_equal(read("{\"at\": \"2026-03-01T12:00:00Z\", \"p\": 2, \"note\": \"x\"}"), OD_USE_SAMPLE);
  assert_int_equal(od_message_columns(&reader)->columns, 2);
  assert_true(cells[0] == march && cells[1] == 2);
  assert_int_equal(read("{\"p\": 3, \"at\": \"2026-03-01T12:00:00.125Z\"}"), OD_USE_SAMPLE);
  assert_true(cells[0] == march + 0.125 && cells[1] == 3);
  assert_int_equal(read("{\"p\": 3, \"at\": null}"), OD_USE_SAMPLE);
  assert_true(isnan(cells[0]));
  assert_int_equal(read("{\"p\": 3}"), OD_USE_SAMPLE);
  assert_true(isnan(cells[0]));
  assert_int_equal(read("{\"at\": 5}"), OD_USE_BAD);
  assert_non_null(strstr(err.text, "the value of 'at' is not a date; expected a date or null"));
  assert_int_equal(read("{\"at\": \"soon\"}"), OD_USE_BAD);
  od_message_end(&reader);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_csv),        cmocka_unit_test(test_columns),
                                     cmocka_unit_test(test_json),       cmocka_unit_test(test_dates),
                                     cmocka_unit_test(test_unix_times), cmocka_unit_test(test_json_dates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
