// printf and strtod follow the locale of the program that uses the library; these do not.
#include "io/number.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Whatever the locale puts for the decimal point (it may be several bytes) becomes a point.
static int force_point(char *text) {
  char *to = text;
  bool done = false;
  for (const char *from = text; *from; from++) {
    if (strchr("0123456789+-enaifNAIF", *from)) {
      *to++ = *from;
    } else if (!done) {
      *to++ = '.';
      done = true;
    }
  }
  *to = '\0';
  return (int)(to - text);
}

int od_number_round(char text[OD_NUMBER_SIZE], double value, int digits) {
  if (isnan(value)) return snprintf(text, OD_NUMBER_SIZE, "nan");
  snprintf(text, OD_NUMBER_SIZE, "%.*g", digits > 17 ? 17 : digits, value);
  return force_point(text);
}

int od_number_fixed(char text[OD_NUMBER_SIZE], double value, int decimals) {
  if (!(fabs(value) < 1e12) || decimals < 0 || decimals > 15) return od_number_round(text, value, 6);
  snprintf(text, OD_NUMBER_SIZE, "%.*f", decimals, value);
  int length = force_point(text);
  if (text[0] != '-' || strpbrk(text, "123456789")) return length;
  memmove(text, text + 1, (size_t)length);
  return length - 1;
}

int od_number_format(char text[OD_NUMBER_SIZE], double value) {
  for (int digits = 15; digits < 17; digits++) {
    int length = od_number_round(text, value, digits);
    double back;
    if (!isfinite(value)) return length;
    if (od_number_parse(text, (size_t)length, false, &back) && back == value) return length;
  }
  // Seventeen digits always tell a double from its neighbours.
  return od_number_round(text, value, 17);
}

// The pieces of a decimal number: digits * 10^exponent.
typedef struct decimal {
  bool negative, exact;  // exact: all digits are in
  uint64_t digits;
  int exponent;
} decimal;

// Reads [+-] digits [. digits] [e [+-] digits]; false when there is anything else.
static bool scan(const char *c, const char *end, bool comma, decimal *d) {
  *d = (decimal){.exact = true};
  if (c < end && (*c == '+' || *c == '-')) d->negative = *c++ == '-';
  bool any = false, fraction = false;
  for (; c < end; c++) {
    if (!fraction && (*c == '.' || (comma && *c == ','))) {
      fraction = true;
    } else if (*c >= '0' && *c <= '9') {
      any = true;
      if (d->digits > (UINT64_MAX - 9) / 10)
        d->exact = false;
      else
        d->digits = 10 * d->digits + (uint64_t)(*c - '0'), d->exponent -= fraction;
    } else {
      break;
    }
  }
  if (!any) return false;
  if (c == end) return true;
  if (*c != 'e' && *c != 'E' && *c != 'd' && *c != 'D') return false;
  bool negative = false, digits = false;
  if (++c < end && (*c == '+' || *c == '-')) negative = *c++ == '-';
  int exponent = 0;
  for (; c < end && *c >= '0' && *c <= '9'; c++, digits = true)
    if (exponent < 100000) exponent = 10 * exponent + (*c - '0');
  d->exponent += negative ? -exponent : exponent;
  return digits && c == end;
}

// The slow way, for numbers with many digits or large exponents: strtod, given the decimal sign it expects.
static double parse_slowly(const char *text, size_t length, bool comma) {
  const char *point = localeconv()->decimal_point;
  char buffer[128], *copy = buffer;
  size_t room = length + strlen(point) + 1;
  if (room > sizeof buffer && !(copy = malloc(room))) return NAN;
  char *to = copy;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '.' || (comma && text[i] == ','))
      to = stpcpy(to, point);
    else
      *to++ = text[i] == 'd' || text[i] == 'D' ? 'e' : text[i];
  }
  *to = '\0';
  double value = strtod(copy, NULL);
  if (copy != buffer) free(copy);
  return value;
}

static bool parse_word(const char *text, size_t length, double *value) {
  bool negative = length > 0 && *text == '-';
  if (length > 0 && (*text == '+' || *text == '-')) text++, length--;
  if (length == 3 && !strncasecmp(text, "nan", 3)) {
    *value = NAN;
  } else if ((length == 3 && !strncasecmp(text, "inf", 3)) || (length == 8 && !strncasecmp(text, "infinity", 8))) {
    *value = negative ? -INFINITY : INFINITY;
  } else {
    return false;
  }
  return true;
}

double od_number_125(double value) {
  double unit = pow(10, floor(log10(value) + 1e-12)), part = value / unit * (1 + 1e-12);
  return (part >= 5 ? 5 : part >= 2 ? 2 : 1) * unit;
}

bool od_number_parse(const char *text, size_t length, bool comma, double *value) {
  static const double ten_to[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  decimal d;
  if (!scan(text, text + length, comma, &d)) return parse_word(text, length, value);
  // Digits below 2^53 and powers up to 10^22 are exact, so one operation rounds correctly.
  if (d.exact && d.digits <= 1ull << 53 && abs(d.exponent) <= 22) {
    double size = d.exponent < 0 ? (double)d.digits / ten_to[-d.exponent] : (double)d.digits * ten_to[d.exponent];
    *value = d.negative ? -size : size;
  } else {
    *value = parse_slowly(text, length, comma);
  }
  return true;
}
