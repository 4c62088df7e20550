// The functions of this file do not depend on the locale of the calling program; printf and strtod depend on the locale.
#include "io/number.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/allocate.h"
#include "io/decimal.h"

// Replaces the decimal sign of the locale (which may have several bytes) with a point. Returns the new length.
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

// Writes the number like printf's %.{P}g, without an exponent between 1e-4 and 10^P. P is the smallest of 15, 16 and 17 that is
// sufficient for the digits.
int od_number_format(char text[OD_NUMBER_SIZE], double value) {
  if (!isfinite(value) || value == 0) return od_number_round(text, value, 15);
  const od_decimal d = od_shortest_decimal(fabs(value));
  char digits[20], *to = text;
  int count = 0;
  for (uint64_t left = d.digits; left; left /= 10) digits[sizeof digits - (size_t)++count] = (char)('0' + left % 10);
  const char *from = digits + sizeof digits - count;
  const int first = d.exponent + count - 1, most = count < 15 ? 15 : count;  // the first digit has the weight 10^first
  if (signbit(value)) *to++ = '-';
  if (first < -4 || first >= most) {
    *to++ = *from;
    if (count > 1) *to++ = '.';
    memcpy(to, from + 1, (size_t)count - 1);
    to += count - 1;
    *to++ = 'e';
    *to++ = first < 0 ? '-' : '+';
    const int size = abs(first);
    if (size >= 100) *to++ = (char)('0' + size / 100);
    *to++ = (char)('0' + size / 10 % 10);
    *to++ = (char)('0' + size % 10);
  } else if (first < 0) {
    memcpy(to, "0.000", 5);
    memcpy(to + 1 - first, from, (size_t)count);
    to += 1 - first + count;
  } else {
    const int before = first + 1;
    for (int i = 0; i < before; i++) *to++ = i < count ? from[i] : '0';
    if (count > before) *to++ = '.';
    for (int i = before; i < count; i++) *to++ = from[i];
  }
  *to = '\0';
  return (int)(to - text);
}

// A decimal number in a text: its digits and exponent.
typedef struct decimal {
  bool negative, exact;  // exact: no digit is missing
  od_decimal size;
} decimal;

// Returns whether the eight bytes of a word are digits.
static bool are_digits(uint64_t word) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  return ((word & (0xf0 * each)) | (((word + 0x06 * each) & (0xf0 * each)) >> 4)) == 0x33 * each;
}

// Returns the number that eight digits represent. The first digit is the lowest byte. Each step joins neighbors:
// digits to numbers below 100, these numbers to numbers below 10^4, and the last two numbers to the result.
static uint32_t join_digits(uint64_t word) {
  word -= UINT64_C(0x3030303030303030);
  word = (word * 10 + (word >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
  word = (word * 100 + (word >> 16)) & UINT64_C(0x0000ffff0000ffff);
  return (uint32_t)(word * 10000 + (word >> 32));
}

// Appends the digits that start at c and returns their end. The first nineteen digits are stored; leading zeros are not counted.
static const char *scan_digits(const char *c, const char *end, int *counted, decimal *d, bool fraction) {
  uint64_t digits = d->size.digits;
  int count = *counted;
  const char *first = c;
  if (digits == 0)
    while (c < end && *c == '0') c++;
  for (uint64_t word; count <= 11 && end - c >= 8; c += 8) {
    memcpy(&word, c, sizeof word);
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    if (!are_digits(word)) break;
    digits = 100000000 * digits + join_digits(word);
    count += 8;
  }
  for (; c < end && (unsigned char)(*c - '0') < 10; c++) {
    if (count >= 19) {
      d->exact = false;
      continue;
    }
    digits = 10 * digits + (uint64_t)(*c - '0');
    count += digits != 0;
  }
  if (fraction) d->size.exponent -= (int)(c - first < 100000 ? c - first : 100000);
  d->size.digits = digits;
  *counted = count;
  return c;
}

// Reads [+-] digits [. digits] [e [+-] digits]. Returns false if the text has another form.
static bool scan(const char *c, const char *end, bool comma, decimal *d) {
  *d = (decimal){.exact = true};
  if (c < end && (*c == '+' || *c == '-')) d->negative = *c++ == '-';
  int counted = 0;
  const char *first = c;
  c = scan_digits(c, end, &counted, d, false);
  bool any = c > first;
  if (c < end && (*c == '.' || (comma && *c == ','))) {
    first = ++c;
    c = scan_digits(c, end, &counted, d, true);
    any = any || c > first;
  }
  if (!any) return false;
  if (c == end) return true;
  if (*c != 'e' && *c != 'E' && *c != 'd' && *c != 'D') return false;
  bool negative = false, digits = false;
  if (++c < end && (*c == '+' || *c == '-')) negative = *c++ == '-';
  int exponent = 0;
  for (; c < end && *c >= '0' && *c <= '9'; c++, digits = true)
    if (exponent < 100000) exponent = 10 * exponent + (*c - '0');
  d->size.exponent += negative ? -exponent : exponent;
  return digits && c == end;
}

// Returns the value of a number with many digits or a large exponent, by strtod with the decimal sign of the locale.
// Returns NAN if out of memory.
static double parse_slowly(const char *text, size_t length, bool comma) {
  const char *point = localeconv()->decimal_point;
  char buffer[128], *copy = buffer;
  size_t room = length + strlen(point) + 1;
  if (room > sizeof buffer && !(copy = od_malloc(room))) return NAN;
  char *to = copy;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '.' || (comma && text[i] == ','))
      to = stpcpy(to, point);
    else
      *to++ = text[i] == 'd' || text[i] == 'D' ? 'e' : text[i];
  }
  *to = '\0';
  double value = strtod(copy, NULL);
  if (copy != buffer) od_free(copy);
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
  const int e = d.size.exponent;
  if (d.exact && d.size.digits <= 1ull << 53 && abs(e) <= 22) {
    double size = e < 0 ? (double)d.size.digits / ten_to[-e] : (double)d.size.digits * ten_to[e];
    *value = d.negative ? -size : size;
  } else if (d.exact && od_nearest_double(d.size, value)) {
    if (d.negative) *value = -*value;
  } else {
    *value = parse_slowly(text, length, comma);
  }
  return true;
}

bool od_number_decimal(const char *text, size_t length, bool comma, od_decimal *size, bool *negative) {
  decimal d;
  const bool is_exact = scan(text, text + length, comma, &d) && d.exact;
  *size = d.size;
  *negative = d.negative;
  return is_exact;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void od_numbers_sort(double *value, long count) {
  qsort(value, (size_t)count, sizeof *value, by_value);
}

size_t od_number_prefix(const char *text, size_t length, double *value) {
  size_t best = 0;
  double x;
  for (size_t n = 1; n <= length && n < OD_NUMBER_SIZE; n++)
    if (od_number_parse(text, n, false, &x)) *value = x, best = n;
  return best;
}
