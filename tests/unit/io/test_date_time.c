// Dates and times in texts. Oracles: timegm and gmtime of the C library for random instants in every form; for wrong texts the calendar.
#define _DEFAULT_SOURCE  // timegm
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/date_time.h"

static bool parse(const char *text, od_date_order order, od_date_time *out) {
  return od_date_time_parse(text, strlen(text), order, out);
}

static void expect(const char *text, od_date_order order, time_t seconds, int64_t ns, bool has_zone) {
  od_date_time found;
  if (!parse(text, order, &found)) fail_msg("'%s' is not a date and time", text);
  assert_true(found.has_date);
  assert_int_equal(found.has_zone, has_zone);
  if (found.at != (od_nanoseconds)seconds * 1000000000 + ns)
    fail_msg("'%s': %lld s instead of %lld s", text, (long long)(found.at / 1000000000), (long long)seconds);
}

// Random instants from the year 1000 to the year 3000.
static void forms(void **state) {
  static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  (void)state;
  uint64_t x = 8150815;
  for (int i = 0; i < 20000; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    const time_t at = (time_t)(x % 63113904000u) - 30609792000;
    const int64_t ns = (int64_t)(x >> 20) % 1000000000;
    struct tm t;
    gmtime_r(&at, &t);
    const int year = t.tm_year + 1900, month = t.tm_mon + 1, hour = t.tm_hour % 12 ? t.tm_hour % 12 : 12;
    const char *half = t.tm_hour < 12 ? "AM" : "pm";
    char text[300];
#define FORM(order, zone, fraction, ...) \
  snprintf(text, sizeof text, __VA_ARGS__), expect(text, order, at, fraction, zone)
#define CLOCK t.tm_hour, t.tm_min, t.tm_sec
    FORM(OD_DAY_FIRST, false, ns, "%04d-%02d-%02dT%02d:%02d:%02d.%09d", year, month, t.tm_mday, CLOCK, (int)ns);
    FORM(OD_MONTH_FIRST, true, ns, "%04d-%02d-%02d %02d:%02d:%02d.%09dZ", year, month, t.tm_mday, CLOCK, (int)ns);
    FORM(OD_DAY_FIRST, false, ns / 1000 * 1000, "%04d/%d/%d %02d:%02d:%02d,%06d", year, month, t.tm_mday, CLOCK,
         (int)(ns / 1000));
    FORM(OD_DAY_FIRST, false, ns / 1000000 * 1000000, " %02d.%02d.%04d  %02d:%02d:%02d,%03d ", t.tm_mday, month, year,
         CLOCK, (int)(ns / 1000000));
    FORM(OD_MONTH_FIRST, false, 0, "%d/%d/%04d %d:%02d:%02d %s", month, t.tm_mday, year, hour, t.tm_min, t.tm_sec,
         half);
    FORM(OD_DAY_FIRST, false, 0, "%d/%d/%04d %02d:%02d:%02d", t.tm_mday, month, year, CLOCK);
    FORM(OD_MONTH_FIRST, false, 0, "%02d-%s-%04d %02d:%02d:%02d", t.tm_mday, months[t.tm_mon], year, CLOCK);
    FORM(OD_DAY_FIRST, true, 0, "%04d%02d%02dT%02d%02d%02dZ", year, month, t.tm_mday, CLOCK);
    FORM(OD_DAY_FIRST, false, 0, "%04d-%d-%dT%02d:%02d:%02d", year, month, t.tm_mday, CLOCK);
    FORM(OD_MONTH_FIRST, false, 0, "%d/%d/%04dT%02d:%02d:%02d", month, t.tm_mday, year, CLOCK);
    // The same instant in another zone.
    const int zone = (int)(x >> 50) % 49 * 30 - 720;
    const time_t local = at + zone * 60;
    gmtime_r(&local, &t);
    FORM(OD_DAY_FIRST, true, 0, "%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
         CLOCK, zone < 0 ? '-' : '+', abs(zone) / 60, abs(zone) % 60);
    // Back to a text.
    char written[OD_DATE_TIME_SIZE], wanted[64];
    gmtime_r(&at, &t);
    od_date_time_text(written, (od_nanoseconds)at * 1000000000 + ns / 1000000 * 1000000, i % 2);
    snprintf(wanted, sizeof wanted, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", year, month, t.tm_mday, CLOCK,
             (int)(ns / 1000000));
    size_t n = strlen(wanted);
    while (wanted[n - 1] == '0' && n > 20) n--;
    if (wanted[n - 1] == '.') n--;
    strcpy(wanted + n, i % 2 ? "Z" : "");
    assert_string_equal(written, wanted);
  }
}

static void wrong_texts(void **state) {
  (void)state;
  static const char *const wrong[] = {"",
                                      "12",
                                      "1.5",
                                      "2026-02-29",
                                      "2026-13-01",
                                      "31.04.2026",
                                      "1900-02-29",
                                      "0.1.2026",
                                      "12:60:00",
                                      "2026-03-01 24:00:00",
                                      "2026-03-01T",
                                      "2026-03-01 12",
                                      "2026-03-01 12:00:00 x",
                                      "3/1/2026 13:00 PM",
                                      "3/1/2026 0:30 AM",
                                      "1.2.3",
                                      "10-20",
                                      "1-2-3-4",
                                      "12:00",
                                      "-1:00:00",
                                      "2026-03-01 12:00:00+99:00",
                                      "2026-03-01 12:00:00+1",
                                      "abc",
                                      "1/2-2026",
                                      "20260301",
                                      "12:00:61"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    od_date_time found;
    if (parse(wrong[i], OD_DAY_FIRST, &found) && parse(wrong[i], OD_MONTH_FIRST, &found))
      fail_msg("'%s' was accepted", wrong[i]);
  }
  od_date_time found;
  assert_true(parse("2000-02-29", OD_DAY_FIRST, &found) && found.has_order && !found.has_time);
  assert_true(parse("1/2/2026", OD_DAY_FIRST, &found) && !found.has_order);
  assert_true(parse("13/2/2026", OD_DAY_FIRST, &found));
  assert_false(parse("13/2/2026", OD_MONTH_FIRST, &found));
  assert_true(parse("26-03-01", OD_YEAR_FIRST, &found) && found.at == (od_nanoseconds)20513 * 86400 * 1000000000);
  assert_true(parse("100:00:00.5", OD_DAY_FIRST, &found) && found.at == (od_nanoseconds)360000500000000 &&
              !found.has_date);
}

static void orders(void **state) {
  (void)state;
  od_date_order order = OD_YEAR_FIRST;
  assert_true(od_date_order_of("dd.mm.yyyy hh:mm:ss", &order) && order == OD_DAY_FIRST);
  assert_true(od_date_order_of("mm/dd/yy hh:mm:ss AM", &order) && order == OD_MONTH_FIRST);
  assert_true(od_date_order_of("YYYY-MM-DDThh:mm:ss", &order) && order == OD_YEAR_FIRST);
  static const char *const wrong[] = {"s", "ms", "d", "day", "dd.yyyy.mm", "min", "", "dd mm", "yd/m2"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(od_date_order_of(wrong[i], &order));
}

// Differences are correctly rounded: the oracle is strtod, for microseconds in ten days.
static void differences(void **state) {
  (void)state;
  uint64_t x = 42;
  for (int i = 0; i < 10000; i++) {
    char text[64];
    x = x * 6364136223846793005u + 1442695040888963407u;
    const int64_t us = (int64_t)(x >> 20) % 864000000000;
    snprintf(text, sizeof text, "%lld.%06lld", (long long)(us / 1000000), (long long)(us % 1000000));
    assert_true(od_seconds_of((od_nanoseconds)us * 1000) == strtod(text, NULL));
    assert_true(od_seconds_of(-(od_nanoseconds)us * 1000) == -strtod(text, NULL));
  }
  assert_true(od_seconds_of((od_nanoseconds)10000000000 * 1000000000 + 500000000) == 10000000000.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(wrong_texts), cmocka_unit_test(orders),
                                     cmocka_unit_test(differences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
