// Columns of CSV files with dates, times of the day and Unix times. Oracles: the times by which the test composes the texts, in whole
// microseconds, with timegm and gmtime of the C library; a row's time must be the double nearest to its distance from the first row.
#define _DEFAULT_SOURCE  // timegm
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/row_reader.h"
#include "support/scratch.h"

enum { ROWS = 700 };

typedef struct log_text {
  char text[ROWS * 120];
  size_t length;
} log_text;

#define ADD(l, ...) \
  ((l)->length += (size_t)snprintf((l)->text + (l)->length, sizeof(l)->text - (l)->length, __VA_ARGS__))

// Reads the file as a stream, which is read twice and opened again, and as a whole. Compares a column with the expected values.
static void expect_column(scratch *s, const log_text *l, const od_table_wish *wish, int column, const double *expected,
                          int rows, const char *start) {
  const char *path = scratch_write(s, "t.csv", l->text, l->length);
  OD_OWNED(od_row_reader_close) od_row_reader *r = NULL;
  OD_OWNED(od_row_reader_close) od_row_reader *other = NULL;
  OD_OWNED(od_table_free) od_table *whole = NULL;
  od_error err = {0};
  bool wanted[16] = {false};
  double values[16];
  wanted[column] = true;
  if (od_row_reader_open(path, wish, &r, &err) != OD_OK) fail_msg("%s", err.text);
  od_row_reader_want(r, wanted);
  for (int pass = 0; pass < 3; pass++) {
    if (pass == 2) assert_int_equal(od_row_reader_again(r, &other, &err), OD_OK);
    for (int k = 0; k <= rows; k++) {
      bool end = false;
      if (od_row_reader_next(other ? other : r, values, &end, &err) != OD_OK) fail_msg("%s", err.text);
      assert_int_equal(end, k == rows);
      if (end) break;
      const bool same = values[column] == expected[k] || (isnan(values[column]) && isnan(expected[k]));
      if (!same) fail_msg("pass %d, row %d: %.17g instead of %.17g", pass, k + 1, values[column], expected[k]);
    }
    od_row_reader_rewind(r);
  }
  assert_null(od_table_flaw(od_row_reader_head(r), column));
  const char *found = od_row_reader_start_time(r);
  if (start)
    assert_string_equal(found ? found : "unknown", start);
  else
    assert_null(found);
  if (od_table_read_csv_with(path, wish, &whole, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(whole->rows, rows);
  assert_null(od_table_flaw(whole, column));
  for (int k = 0; k < rows; k++) {
    const double value = whole->data[k * whole->columns + column];
    assert_true(value == expected[k] || (isnan(value) && isnan(expected[k])));
  }
}

// Times of the rows in us, from 2026-02-27T23:50:00.123456 on, irregular, over midnights and the end of a month.
static int64_t row_time(int k) {
  return (int64_t)1772236200123456 + (int64_t)k * 700123457 + (k % 7) * 1001;
}

static void expected_times(double *expected) {
  for (int k = 0; k < ROWS; k++) {
    char text[40];
    const int64_t us = row_time(k) - row_time(0);
    snprintf(text, sizeof text, "%lld.%06lld", (long long)(us / 1000000), (long long)(us % 1000000));
    expected[k] = strtod(text, NULL);
  }
}

static struct tm calendar(int k) {
  struct tm t;
  const time_t at = (time_t)(row_time(k) / 1000000);
  gmtime_r(&at, &t);
  return t;
}

typedef void write_time(log_text *l, const struct tm *t, int us);

static void iso(log_text *l, const struct tm *t, int us) {
  ADD(l, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", t->tm_year + 1900, t->tm_mon + 1, t->tm_mday, t->tm_hour, t->tm_min,
      t->tm_sec, us);
}

static void iso_blank(log_text *l, const struct tm *t, int us) {
  ADD(l, "\"%04d-%02d-%02d %02d:%02d:%02d.%06d\"", t->tm_year + 1900, t->tm_mon + 1, t->tm_mday, t->tm_hour, t->tm_min,
      t->tm_sec, us);
}

static void points(log_text *l, const struct tm *t, int us) {
  ADD(l, "%02d.%02d.%04d %02d:%02d:%02d,%06d", t->tm_mday, t->tm_mon + 1, t->tm_year + 1900, t->tm_hour, t->tm_min,
      t->tm_sec, us);
}

static void american(log_text *l, const struct tm *t, int us) {
  ADD(l, "%d/%d/%04d %d:%02d:%02d.%06d %s", t->tm_mon + 1, t->tm_mday, t->tm_year + 1900,
      t->tm_hour % 12 ? t->tm_hour % 12 : 12, t->tm_min, t->tm_sec, us, t->tm_hour < 12 ? "AM" : "PM");
}

static void british(log_text *l, const struct tm *t, int us) {
  ADD(l, "%d/%d/%04d %d:%02d:%02d.%06d", t->tm_mday, t->tm_mon + 1, t->tm_year + 1900, t->tm_hour, t->tm_min, t->tm_sec,
      us);
}

static void two_columns(log_text *l, const struct tm *t, int us) {
  ADD(l, "%02d.%02d.%04d;%02d:%02d:%02d.%06d", t->tm_mday, t->tm_mon + 1, t->tm_year + 1900, t->tm_hour, t->tm_min,
      t->tm_sec, us);
}

static void of_day(log_text *l, const struct tm *t, int us) {
  ADD(l, "%02d:%02d:%02d.%06d", t->tm_hour, t->tm_min, t->tm_sec, us);
}

static void dates(void **state) {
  scratch *s = *state;
  static log_text l;
  static double expected[ROWS];
  static const struct {
    write_time *write;
    const char *header, *start;
    int column;
  } cases[] = {{iso, "time;u;p [bar]\n", "2026-02-27T23:50:00.123456Z", 0},
               {iso_blank, "Timestamp [UTC];u;p [bar]\n;V;\n", "2026-02-27T23:50:00.123456", 0},
               {points, "Zeit;u;p [bar]\n", "2026-02-27T23:50:00.123456", 0},
               {american, "Date/Time;u;p [bar]\n", "2026-02-27T23:50:00.123456", 0},
               {british, "time;u;p [bar]\n", "2026-02-27T23:50:00.123456", 0},
               {iso, "", "2026-02-27T23:50:00.123456Z", 0},
               {points, "Logger 7\nstarted on 27.02.2026\n\ntime;u;p\n", "2026-02-27T23:50:00.123456", 0},
               {two_columns, "Date;Time;u;p [bar]\n", "2026-02-27T23:50:00.123456", 1},
               {of_day, "t;u;p [bar]\n", NULL, 0}};
  expected_times(expected);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    l.length = 0;
    ADD(&l, "%s", cases[i].header);
    for (int k = 0; k < ROWS; k++) {
      const struct tm t = calendar(k);
      cases[i].write(&l, &t, (int)(row_time(k) % 1000000));
      ADD(&l, ";%d;%s\n", k, k % 5 ? "1,5" : "");
    }
    expect_column(s, &l, NULL, cases[i].column, expected, ROWS, cases[i].start);
  }
}

static void unix_times(void **state) {
  scratch *s = *state;
  static log_text l;
  static double expected[ROWS];
  expected_times(expected);
  // Seconds with six decimals, milliseconds with three, microseconds, nanoseconds.
  static const char *const unit[] = {"s", "ms", "us", "ns"};
  for (int form = 0; form < 4; form++) {
    l.length = 0;
    ADD(&l, form % 2 ? "time [%s],u\n" : "timestamp,u\n", unit[form]);
    for (int k = 0; k < ROWS; k++) {
      const int64_t us = row_time(k);
      if (form == 0) ADD(&l, "%lld.%06lld", (long long)(us / 1000000), (long long)(us % 1000000));
      if (form == 1) ADD(&l, "%lld.%03lld", (long long)(us / 1000), (long long)(us % 1000));
      if (form == 2) ADD(&l, "%lld", (long long)us);
      if (form == 3) ADD(&l, "%lld000", (long long)us);
      ADD(&l, ",%d\n", k);
    }
    double in_unit[ROWS];
    for (int k = 0; k < ROWS; k++) {
      char text[40];
      const int64_t us = row_time(k) - row_time(0);
      snprintf(text, sizeof text, "%llde%d", (long long)us, form * 3 - 6);
      in_unit[k] = strtod(text, NULL);
    }
    expect_column(s, &l, NULL, 0, in_unit, ROWS, "2026-02-27T23:50:00.123456Z");
    od_table *t = NULL;
    assert_int_equal(od_table_read_csv(scratch_path(s, "t.csv"), &t, NULL), OD_OK);
    assert_string_equal(t->unit[0], unit[form]);
    od_table_free(t);
  }
  // Large numbers in other columns, or without a time column, are numbers.
  l.length = 0;
  ADD(&l, "t [s],p [Pa]\n1.5,1772236200\n2.5,1772236201\n");
  expect_column(s, &l, NULL, 1, (double[]){1772236200, 1772236201}, 2, NULL);
  expect_column(s, &l, NULL, 0, (double[]){1.5, 2.5}, 2, NULL);
  l.length = 0;
  ADD(&l, "p,q\n1772236200,1\n1772236201,2\n");
  expect_column(s, &l, NULL, 0, (double[]){1772236200, 1772236201}, 2, NULL);
}

// Day and month: all rows decide; equal dates need no decision; otherwise the user decides.
static void order_of_day_and_month(void **state) {
  scratch *s = *state;
  static log_text l;
  static double days[ROWS], months[ROWS], hours[ROWS];
  const char *path;
  od_error err = {0};
  od_table *t = NULL;
  // The 13th is behind the rows that the header needs.
  for (int order = 0; order < 2; order++) {
    l.length = 0;
    ADD(&l, "time,u\n");
    for (int k = 0; k < ROWS; k++) {
      const int day = k < 600 ? 3 : 13, hour = k < 600 ? k % 24 : (k - 600) / 60, minute = k < 600 ? k / 24 : k % 60;
      days[k] = (day - 3) * 86400.0 + (k < 600 ? (k / 24) * 60 + (k % 24) * 3600 : (k - 600) * 60);
      ADD(&l, "%d/%d/2026 %d:%02d,1\n", order ? day : 4, order ? 4 : day, hour, minute);
    }
    expect_column(s, &l, NULL, 0, days, ROWS, "2026-04-03T00:00:00");
  }
  // The same date in all rows: the times do not depend on the order, but the date of the start does.
  l.length = 0;
  ADD(&l, "time,u\n");
  for (int k = 0; k < ROWS; k++) {
    hours[k] = 60.0 * k;
    ADD(&l, "3/4/2026 %d:%02d,1\n", k / 60, k % 60);
  }
  expect_column(s, &l, NULL, 0, hours, ROWS, NULL);
  // Different dates.
  l.length = 0;
  ADD(&l, "time,u\n3/4/2026 0:00,1\n4/4/2026 0:00,1\n");
  path = scratch_write(s, "t.csv", l.text, l.length);
  assert_int_equal(od_table_read_csv(path, &t, &err), OD_OK);
  assert_non_null(od_table_flaw(t, 0));
  assert_non_null(strstr(
      od_table_flaw(t, 0),
      "t.csv: the dates of the column 'time', such as '3/4/2026 0:00', can be read as day/month and as month/day; give the order as the "
      "unit of the time: time: {column: time, unit: dd/mm/yyyy} or mm/dd/yyyy"));
  assert_null(od_table_flaw(t, 1));
  od_table_free(t);
  months[1] = 30 * 86400.0;  // from March 4 or April 3
  days[0] = 0, days[1] = 86400;
  expect_column(s, &l, &(od_table_wish){.time_form = "dd/mm/yyyy"}, 0, days, 2, "2026-04-03T00:00:00");
  months[1] = 31 * 86400.0;
  expect_column(s, &l, &(od_table_wish){.time_form = "mm/dd/yyyy hh:mm"}, 0, months, 2, "2026-03-04T00:00:00");
  // The unit in the header has the same effect.
  l.length = 0;
  ADD(&l, "time [dd/mm/yyyy hh:mm];u\n3/4/2026 0:00;1\n4/4/2026 0:00;1\n");
  expect_column(s, &l, NULL, 0, days, 2, "2026-04-03T00:00:00");
  // The stream reports the same error.
  l.length = 0;
  ADD(&l, "time,u\n3/4/2026 0:00,1\n4/4/2026 0:00,1\n");
  path = scratch_write(s, "t.csv", l.text, l.length);
  od_row_reader *r = NULL;
  double values[2];
  bool end = false;
  assert_int_equal(od_row_reader_open(path, NULL, &r, &err), OD_OK);
  od_row_reader_want(r, (bool[]){true, true});
  while (!end) assert_int_equal(od_row_reader_next(r, values, &end, &err), OD_OK);
  assert_non_null(strstr(od_table_flaw(od_row_reader_head(r), 0), "day/month"));
  od_row_reader_close(r);
}

// The time column of tables without a name of times: `column` is the index that a person would choose.
static void unnamed(void **state) {
  static const struct {
    const char *text;
    int column;
  } list[] = {
      {"No,Date/Time,p\n1,06/29/2022 04:05:36.674 PM,5\n2,06/29/2022 04:05:36.675 PM,6\n", 1},
      {"Nr;p;Uhrzeit\n1;5;12:00:00,5\n2;6;12:00:01\n", 2},
      {"Datum;Uhrzeit;p\n01.03.2026;12:00:00;5\n01.03.2026;12:00:01;6\n", 1},
      {"p;Datum\n1;01.03.2026\n2;02.03.2026\n", 0},                                 // only dates
      {"Timestamp,Sent,p\n0,2026-03-01 12:00:00,5\n1,2026-03-01 12:00:00,6\n", 0},  // a name of times
      {"Sent,No,p\n2026-03-01 12:00:00,1,5\n2026-03-01 12:00:01,2,6\n", 0},
      {"No,Begin,End\n1,2026-03-01 12:00:00,2026-03-01 12:00:00\n2,2026-03-01 12:00:01,2026-03-01 12:00:02\n",
       0},  // two
      {"No,Sent,t\n1,2026-03-01 12:00:00,5\n2,2026-03-01 12:00:01,6\n", 2},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    od_table *t = NULL;
    od_error err = {0};
    const char *path = scratch_put(*state, "t.csv", list[i].text);
    if (od_table_read_csv(path, &t, &err) != OD_OK) fail_msg("%s", err.text);
    assert_int_equal(od_table_find_time(t), list[i].column);
    od_table_free(t);
  }
}

static void gaps_and_flaws(void **state) {
  scratch *s = *state;
  static log_text l;
  l.length = 0;
  ADD(&l, "time;u\n;1\n01.03.2026 12:00:00;2\n;3\nnan;4\n01.03.2026 12:00:01,5;\n");
  expect_column(s, &l, NULL, 0, (double[]){NAN, 0, NAN, NAN, 1.5}, 5, "2026-03-01T12:00:00");
  l.length = 0;
  ADD(&l, "time;u\n01.03.2026 12:00:00;2\nlate;3\n12:00:01;3\n");
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_write(s, "t.csv", l.text, l.length), &t, &err), OD_OK);
  assert_non_null(strstr(od_table_flaw(t, 0), "t.csv:3:1: 'late' is not a date and time (column 'time')"));
  assert_true(t->data[0] == 0 && isnan(t->data[2]) && isnan(t->data[4]));
  od_table_free(t);
  // A clock that is set back by a second passes no midnight.
  l.length = 0;
  ADD(&l, "time,u\n23:59:58,1\n0:00:01,2\n0:00:00,3\n12:00:00,4\n23:00:00,5\n1:00:00,6\n");
  expect_column(s, &l, NULL, 0, (double[]){0, 3, 2, 43202, 82802, 90002}, 6, NULL);
  // Hours beyond a day are elapsed times.
  l.length = 0;
  ADD(&l, "time,u\n0:59:59.5,1\n25:00:00,2\n");
  expect_column(s, &l, NULL, 0, (double[]){0, 86400.5}, 2, NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(dates), TEST(unix_times), TEST(order_of_day_and_month), TEST(unnamed),
                                     TEST(gaps_and_flaws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
