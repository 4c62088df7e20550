// A double is an integer times a power of ten: m 2^k, or m 5^-k 10^k for negative k. Its decimal digits are the digits of an
// integer of at most 767 digits, so rounding is exact. Ties round to the even digit, as in printf.
#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
  MOST_DIGITS = 800,
  LIMB_DIGITS = 9,  // digits of one limb of a long integer
  MOST_LIMBS = MOST_DIGITS / LIMB_DIGITS,
};

// ---- the text

typedef struct output {
  char *text;
  size_t size, length;  // size of `text`; length of the whole text, including the part that is cut off
} output;

static void put(output *o, char c) {
  if (o->length + 1 < o->size) o->text[o->length] = c;
  o->length++;
}
static void put_zeros(output *o, int count) {
  for (int i = 0; i < count; i++) put(o, '0');
}
// Appends `count` bytes of a text; negative count: all bytes up to the zero byte.
static void put_text(output *o, const char *text, int count) {
  for (int i = 0; i != count && text[i]; i++) put(o, text[i]);
}
static void put_integer(output *o, unsigned long long size, bool negative) {
  char digit[24];
  int count = 0;
  do digit[count++] = (char)('0' + size % 10);
  while (size /= 10);
  if (negative) put(o, '-');
  while (count > 0) put(o, digit[--count]);
}

// ---- the digits of a real

// The number 0.d1 d2 d3 ... times 10^point.
typedef struct decimal {
  char digit[MOST_DIGITS];
  int count, point;
} decimal;

static void multiply(uint32_t *limb, int *limbs, uint32_t factor) {
  uint64_t carry = 0;
  for (int i = 0; i < *limbs; i++) {
    carry += (uint64_t)limb[i] * factor;
    limb[i] = (uint32_t)(carry % 1000000000);
    carry /= 1000000000;
  }
  if (carry) limb[(*limbs)++] = (uint32_t)carry;
}

// Computes all digits of a finite number above zero.
static void find_digits(double x, decimal *d) {
  int exponent, limbs = 0, first = 0;
  uint64_t whole = (uint64_t)ldexp(frexp(x, &exponent), 53);
  exponent -= 53;
  for (; exponent < 0 && whole % 2 == 0; exponent++) whole /= 2;
  uint32_t limb[MOST_LIMBS + 1];
  for (; whole; whole /= 1000000000) limb[limbs++] = (uint32_t)(whole % 1000000000);
  d->point = exponent < 0 ? exponent : 0;
  for (; exponent > 0; exponent--) multiply(limb, &limbs, 2);
  for (; exponent < 0; exponent++) multiply(limb, &limbs, 5);

  d->count = limbs * LIMB_DIGITS;
  for (int i = 0; i < limbs; i++)
    for (int k = 0; k < LIMB_DIGITS; k++, limb[i] /= 10)
      d->digit[d->count - 1 - (i * LIMB_DIGITS + k)] = (char)('0' + limb[i] % 10);
  while (d->digit[first] == '0') first++;
  d->count -= first;
  memmove(d->digit, d->digit + first, (size_t)d->count);
  d->point += d->count;
}

// Rounds to `keep` digits; if `keep` is negative, no digits remain.
static void round_digits(decimal *d, int keep) {
  if (keep >= d->count) return;
  bool up = keep >= 0 && d->digit[keep] > '5';
  if (keep >= 0 && d->digit[keep] == '5') {
    up = keep > 0 && d->digit[keep - 1] % 2 == 1;
    for (int i = keep + 1; i < d->count; i++) up = up || d->digit[i] != '0';
  }
  d->count = keep > 0 ? keep : 0;
  int i = d->count - 1;
  for (; up && i >= 0 && d->digit[i] == '9'; i--) d->digit[i] = '0';
  if (up && i >= 0) d->digit[i]++;
  if (up && i < 0) {  // 9.99 becomes 10.0
    memmove(d->digit + 1, d->digit, (size_t)d->count);
    d->digit[0] = '1';
    d->count++;
    d->point++;
  }
}

static char digit_at(const decimal *d, int i) {
  return i >= 0 && i < d->count ? d->digit[i] : '0';
}

// Writes the digits with `decimals` places after the point.
static void put_fixed(output *o, const decimal *d, int decimals) {
  if (d->point <= 0) put(o, '0');
  for (int i = 0; i < d->point; i++) put(o, digit_at(d, i));
  if (decimals > 0) put(o, '.');
  for (int i = 0; i < decimals; i++) put(o, digit_at(d, d->point + i));
}
static void put_exponential(output *o, const decimal *d, int decimals) {
  int exponent = d->count > 0 ? d->point - 1 : 0, size = exponent < 0 ? -exponent : exponent;
  put(o, digit_at(d, 0));
  if (decimals > 0) put(o, '.');
  for (int i = 1; i <= decimals; i++) put(o, digit_at(d, i));
  put(o, 'e');
  put(o, exponent < 0 ? '-' : '+');
  put_zeros(o, size < 10);
  put_integer(o, (unsigned)size, false);
}

static void put_real(output *o, double x, char form, int precision) {
  if (signbit(x)) put(o, '-');
  if (!isfinite(x)) {
    put_text(o, isnan(x) ? "nan" : "inf", -1);
    return;
  }
  decimal d = {.count = 0, .point = 1};
  if (x != 0) find_digits(fabs(x), &d);
  if (form == 'f') {
    round_digits(&d, d.point + precision);
    put_fixed(o, &d, precision);
  } else if (form == 'e') {
    round_digits(&d, precision + 1);
    put_exponential(o, &d, precision);
  } else {
    int digits = precision > 0 ? precision : 1;
    round_digits(&d, digits);
    while (d.count > 0 && d.digit[d.count - 1] == '0') d.count--;
    int shown = d.count > 0 ? d.count : 1;
    if (d.point >= -3 && d.point <= digits)
      put_fixed(o, &d, shown > d.point ? shown - d.point : 0);
    else
      put_exponential(o, &d, shown - 1);
  }
}

// ---- the format

static int read_precision(const char **at, va_list *args) {
  if (**at != '.') return -1;
  if (*++*at == '*') return ++*at, va_arg(*args, int);
  int precision = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) precision = 10 * precision + (**at - '0');
  return precision;
}

static void put_signed(output *o, long long value) {
  put_integer(o, value < 0 ? 0 - (unsigned long long)value : (unsigned long long)value, value < 0);
}

// Writes the result of one conversion; at: the text after the percent sign. Returns the address after the conversion.
static const char *convert(output *o, const char *at, va_list *args) {
  const char *begin = at;
  int precision = read_precision(&at, args), longs = 0;
  bool is_size = *at == 'z';
  at += is_size;
  for (; *at == 'l'; at++) longs++;
  switch (*at) {
    case '%': put(o, '%'); break;
    case 'c': put(o, (char)va_arg(*args, int)); break;
    case 's': put_text(o, va_arg(*args, const char *), precision); break;
    case 'd':
      put_signed(o, longs == 0 ? va_arg(*args, int) : longs == 1 ? va_arg(*args, long) : va_arg(*args, long long));
      break;
    case 'u':
      put_integer(o,
                  is_size      ? va_arg(*args, size_t)
                  : longs == 0 ? va_arg(*args, unsigned)
                  : longs == 1 ? va_arg(*args, unsigned long)
                               : va_arg(*args, unsigned long long),
                  false);
      break;
    case 'e':
    case 'f':
    case 'g': put_real(o, va_arg(*args, double), *at, precision < 0 ? 6 : precision); break;
    default: put(o, '%'); return begin;
  }
  return at + 1;
}

size_t od_text_format_list(char *text, size_t size, const char *format, va_list args) {
  output o = {text, size, 0};
  va_list left;
  va_copy(left, args);
  for (const char *at = format; *at;)
    if (*at == '%')
      at = convert(&o, at + 1, &left);
    else
      put(&o, *at++);
  va_end(left);
  if (size > 0) text[o.length < size ? o.length : size - 1] = '\0';
  return o.length;
}

size_t od_text_format(char *text, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  size_t length = od_text_format_list(text, size, format, args);
  va_end(args);
  return length;
}
