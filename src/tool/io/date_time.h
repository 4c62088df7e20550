// Dates and times as texts, with nanoseconds. Accepted are ISO 8601 ("2026-03-01T12:00:00.123456Z", also with blanks and without a zone),
// dates with day and month first ("01.03.2026 12:00:00,123", "3/1/2026 12:00:00 PM", "01-Mar-2026 12:00"), and times of the day. The
// calendar is the Gregorian one; a leap second is equal to the following second.
#ifndef OD_IO_DATE_TIME_H
#define OD_IO_DATE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A time in ns. Instants are counted from 1970-01-01T00:00:00.
__extension__ typedef __int128 od_nanoseconds;

// The order of year, month and day. A first number with four digits is a year in every order.
typedef enum od_date_order { OD_YEAR_FIRST, OD_DAY_FIRST, OD_MONTH_FIRST } od_date_order;

typedef struct od_date_time {
  bool has_date, has_time;
  bool has_zone;  // whether the time is UTC, converted from the zone in the text
  bool
      has_order;  // whether the text itself determines the order: year first, a name of the month, or points as in "31.12.2026"
  od_nanoseconds at;  // the instant; without a date, the time since midnight, which may be longer than a day
} od_date_time;

// Reads a text. Returns false if the text is neither a date nor a time in this order.
bool od_date_time_parse(const char *text, size_t length, od_date_order order, od_date_time *out);
// Returns whether a text is a date or a time, with the day or the month first or with a year of four digits.
bool od_date_time_is(const char *text, size_t length);

// Reads the order from the form of a date: "dd.mm.yyyy hh:mm:ss". Returns false if the text is not such a form.
bool od_date_order_of(const char *form, od_date_order *order);

// Returns the number of days from 1970-01-01 to a date. The day may be outside of the month.
int64_t od_days_since_1970(int year, int month, int date);

enum { OD_DATE_TIME_SIZE = 48 };
// Writes an instant as in ISO 8601: "2026-03-01T12:00:00.123456", with as few digits of the second as necessary.
// has_zone: "Z" follows.
void od_date_time_text(char text[OD_DATE_TIME_SIZE], od_nanoseconds at, bool has_zone);

// Returns a difference in seconds. For differences below 104 days, the result is correctly rounded.
double od_seconds_of(od_nanoseconds difference);

#endif
