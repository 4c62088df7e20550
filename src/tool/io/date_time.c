#include "io/date_time.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const od_nanoseconds second = 1000000000, day = (od_nanoseconds)86400 * 1000000000;

// ---- Calendar

// Years are counted from March, so that the leap day is the last day of a year.
int64_t od_days_since_1970(int year, int month, int date) {
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - 400 * era;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + date - 1;
  return 146097 * era + 365 * of_era + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int days_in(int year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month - 1] + (month == 2 && is_leap);
}

// ---- Texts

typedef struct cursor {
  const char *at, *end;
} cursor;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char peek(const cursor *c) {
  return c->at < c->end ? *c->at : '\0';
}

static bool take(cursor *c, char wanted) {
  const bool is_wanted = c->at < c->end && *c->at == wanted;
  c->at += is_wanted;
  return is_wanted;
}

static bool take_word(cursor *c, const char *word) {
  const size_t length = strlen(word);
  if ((size_t)(c->end - c->at) < length || strncasecmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

static void skip_blanks(cursor *c) {
  while (peek(c) == ' ' || peek(c) == '\t') c->at++;
}

// Reads a number of `least` to `most` digits. Returns the number of digits; 0: there is no such number.
static int take_number(cursor *c, int least, int most, int *value) {
  int digits = 0;
  *value = 0;
  for (; digits < most && is_digit(peek(c)); digits++) *value = 10 * *value + (*c->at++ - '0');
  return digits >= least && !is_digit(peek(c)) ? digits : 0;
}

// Reads the name of a month, or at least the first three letters of the name. Returns 1 to 12; 0: there is no name.
static int take_month(cursor *c) {
  static const char *const names[] = {"January", "February", "March",     "April",   "May",      "June",
                                      "July",    "August",   "September", "October", "November", "December"};
  size_t length = 0;
  while (c->at + length < c->end && is_letter(c->at[length])) length++;
  for (int i = 0; i < 12 && length >= 3; i++) {
    if (length > strlen(names[i]) || strncasecmp(c->at, names[i], length) != 0) continue;
    c->at += length;
    return i + 1;
  }
  return 0;
}

// ---- Dates

// Reads a year of two or four digits: years of two digits are 1970 to 2069. Returns false if there is no such year.
static bool take_year(cursor *c, int *year) {
  const int digits = take_number(c, 2, 4, year);
  if (digits == 2) *year += *year < 70 ? 2000 : 1900;
  return digits == 2 || digits == 4;
}

// Reads a date such as 2026-03-01, 20260301 (only before a T), 01.03.2026 or 1-Mar-26. Returns false if the text has
// another form.
static bool take_date(cursor *c, od_date_order order, od_date_time *out) {
  int first, year, month = 0, date = 0;
  const cursor begin = *c;
  if (take_number(c, 8, 8, &first) == 8) {
    if (peek(c) != 'T' && peek(c) != 't') return false;
    year = first / 10000, month = first / 100 % 100, date = first % 100;
    out->has_order = true;
  } else {
    *c = begin;
    int digits = take_number(c, 1, 4, &first);
    const char sign = peek(c);
    if (digits == 0 || digits == 3 || (sign != '-' && sign != '/' && sign != '.')) return false;
    c->at++;
    const bool is_year = digits == 4 || order == OD_YEAR_FIRST;
    if (is_year) {
      *c = begin;
      if (!take_year(c, &year) || !take(c, sign)) return false;
      month = take_month(c);
      if (month == 0 && take_number(c, 1, 2, &month) == 0) return false;
      if (!take(c, sign) || take_number(c, 1, 2, &date) == 0) return false;
      out->has_order = digits == 4;
    } else {
      if (digits > 2) return false;
      month = take_month(c);
      out->has_order = month > 0 || sign == '.';
      int second_number = 0;
      if (month == 0 && take_number(c, 1, 2, &second_number) == 0) return false;
      const bool month_first = month == 0 && order == OD_MONTH_FIRST;
      date = month_first ? second_number : first;
      if (month == 0) month = month_first ? first : second_number;
      if (!take(c, sign) || !take_year(c, &year)) return false;
    }
  }
  if (month < 1 || month > 12 || date < 1 || date > days_in(year, month)) return false;
  out->has_date = true;
  out->at = (od_nanoseconds)od_days_since_1970(year, month, date) * day;
  return true;
}

// ---- Times

// Reads the digits of a fraction of a second, in ns. Digits after the ninth are ignored. Returns false if there is no
// digit.
static bool take_fraction(cursor *c, int64_t *fraction) {
  int digits = 0;
  *fraction = 0;
  for (; is_digit(peek(c)); c->at++, digits++)
    if (digits < 9) *fraction = 10 * *fraction + (*c->at - '0');
  for (int i = digits; i < 9; i++) *fraction *= 10;
  return digits > 0;
}

// Reads a zone: Z, UTC, GMT, +01, +0100 or +01:00. Without a zone nothing is read. Returns false if there is another text.
static bool take_zone(cursor *c, od_date_time *out) {
  skip_blanks(c);
  if (c->at == c->end) return true;
  out->has_zone = true;
  if (take_word(c, "UTC") || take_word(c, "GMT") || take_word(c, "Z")) return true;
  const char sign = peek(c);
  int hours = 0, minutes = 0;
  if (sign != '+' && sign != '-') return false;
  c->at++;
  const char *from = c->at;
  while (is_digit(peek(c))) c->at++;
  const ptrdiff_t digits = c->at - from;
  if (digits != 2 && digits != 4) return false;
  hours = 10 * (from[0] - '0') + from[1] - '0';
  if (digits == 4)
    minutes = 10 * (from[2] - '0') + from[3] - '0';
  else if (take(c, ':') && take_number(c, 2, 2, &minutes) == 0)
    return false;
  if (hours > 14 || minutes > 59) return false;
  out->at -= (sign == '-' ? -1 : 1) * (od_nanoseconds)(3600 * hours + 60 * minutes) * second;
  return true;
}

// Reads a time such as 12:00, 12:00:00.123, 120000 (only after a date), 1:00:00 PM. Without a date, the time has
// seconds, and its hours may exceed a day. Returns false if the text has another form.
static bool take_time(cursor *c, od_date_time *out) {
  int hour, minute, seconds = 0;
  int64_t fraction = 0;
  const cursor begin = *c;
  const int digits = take_number(c, 1, 6, &hour);
  if (out->has_date && digits == 6) {
    seconds = hour % 100, minute = hour / 100 % 100, hour /= 10000;
    if ((take(c, '.') || take(c, ',')) && !take_fraction(c, &fraction)) return false;
  } else {
    *c = begin;
    if (take_number(c, 1, out->has_date ? 2 : 5, &hour) == 0 || !take(c, ':')) return false;
    if (take_number(c, 1, 2, &minute) == 0) return false;
    const bool has_seconds = take(c, ':');
    if (!has_seconds && !out->has_date) return false;
    if (has_seconds && take_number(c, 1, 2, &seconds) == 0) return false;
    if (has_seconds && (take(c, '.') || take(c, ',') || take(c, ':')) && !take_fraction(c, &fraction)) return false;
  }
  if (minute > 59 || seconds > 60 || (out->has_date && hour > 23)) return false;
  cursor before = *c;
  skip_blanks(c);
  const bool is_morning = take_word(c, "AM"), is_afternoon = !is_morning && take_word(c, "PM");
  if (!is_morning && !is_afternoon) *c = before;
  if ((is_morning || is_afternoon) && (hour < 1 || hour > 12)) return false;
  if (is_morning || is_afternoon) hour = hour % 12 + (is_afternoon ? 12 : 0);
  out->has_time = true;
  out->at += ((od_nanoseconds)3600 * hour + 60 * minute + seconds) * second + fraction;
  return take_zone(c, out);
}

bool od_date_time_parse(const char *text, size_t length, od_date_order order, od_date_time *out) {
  cursor c = {text, text + length};
  *out = (od_date_time){0};
  skip_blanks(&c);
  while (c.end > c.at && (c.end[-1] == ' ' || c.end[-1] == '\t')) c.end--;
  if (!is_digit(peek(&c))) return false;
  const char *sign = c.at;
  while (sign < c.end && is_digit(*sign)) sign++;
  if (sign == c.end) return false;
  if (*sign == ':') return take_time(&c, out) && c.at == c.end;
  if (!take_date(&c, order, out)) return false;
  if (c.at == c.end) return true;
  if (!take(&c, 'T') && !take(&c, 't') && !take(&c, '_')) {
    if (peek(&c) == ',') c.at++;
    if (peek(&c) != ' ' && peek(&c) != '\t') return false;
    skip_blanks(&c);
  }
  return take_time(&c, out) && c.at == c.end;
}

bool od_date_time_is(const char *text, size_t length) {
  od_date_time ignored;
  return od_date_time_parse(text, length, OD_DAY_FIRST, &ignored) ||
         od_date_time_parse(text, length, OD_MONTH_FIRST, &ignored);
}

bool od_date_order_of(const char *form, od_date_order *order) {
  // Finds the first letters of the year, the month and the date. Minutes come after the date, so the first m belongs to
  // the month.
  const size_t length = strlen(form), year = strcspn(form, "yY"), month = strcspn(form, "mM"),
               date = strcspn(form, "dD");
  if (year == length || month == length || date == length) return false;
  if (strspn(form, "yYmMdDhHsSfFtTzZaApP.:/-_, ") != length) return false;
  if (year < month && month < date)
    *order = OD_YEAR_FIRST;
  else if (date < month && month < year)
    *order = OD_DAY_FIRST;
  else if (month < date && date < year)
    *order = OD_MONTH_FIRST;
  else
    return false;
  return true;
}

void od_date_time_text(char text[OD_DATE_TIME_SIZE], od_nanoseconds at, bool has_zone) {
  int64_t days = (int64_t)(at / day);
  if (at < days * day) days--;
  const od_nanoseconds rest = at - days * day;
  const int seconds = (int)(rest / second), fraction = (int)(rest % second);
  // The year is estimated from the mean length of a year and then corrected.
  int year = (int)(1970 + days * 400 / 146097), month = 12;
  while (od_days_since_1970(year, 1, 1) > days) year--;
  while (od_days_since_1970(year + 1, 1, 1) <= days) year++;
  while (od_days_since_1970(year, month, 1) > days) month--;
  const int date = (int)(days - od_days_since_1970(year, month, 1)) + 1;
  int n = snprintf(text, OD_DATE_TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, date, seconds / 3600,
                   seconds / 60 % 60, seconds % 60);
  if (fraction > 0) {
    n += snprintf(text + n, OD_DATE_TIME_SIZE - (size_t)n, ".%09d", fraction);
    while (text[n - 1] == '0') n--;
  }
  snprintf(text + n, OD_DATE_TIME_SIZE - (size_t)n, "%s", has_zone ? "Z" : "");
}

double od_seconds_of(od_nanoseconds difference) {
  const od_nanoseconds exact = (od_nanoseconds)1 << 53;
  if (difference > -exact && difference < exact) return (double)difference / 1e9;
  const od_nanoseconds whole = difference / second;
  return (double)whole + (double)(difference - whole * second) / 1e9;
}
