// The grammar of units: recursive descent over a text of bounded length and depth.
//
//   unit    = "1" | "-" | ["1/"] product         "-": a plain number, as headers of logs mark it
//   product = power { separator power }        separators: space . * · -   and for quotients / per
//   power   = name [exponent] | "(" product ")" [exponent]
//
// "a/b c" is (a/b) c, as in UDUNITS-2.
#include "document/unit_parse.h"

#include <math.h>
#include <string.h>

enum { LONGEST_UNIT = 200, DEEPEST = 12, LARGEST_POWER = 60 };

typedef struct reader {
  const char *at;
  int depth;
  bool has_offset;  // whether one of the names read so far has an offset
  int names;        // number of names so far
} reader;

static const od_unit plain_number = {.factor = 1, .divisor = 1};

// Divides factor and divisor by their greatest common divisor if both are integers. Otherwise computes the quotient and stores it
// as a factor or, if its reciprocal is an integer, as a divisor.
static void reduce(od_unit *unit) {
  double a = fabs(unit->factor), b = unit->divisor;
  const double largest = 9007199254740992.0;
  if (a != floor(a) || b != floor(b) || a > largest || b > largest) {
    unit->factor /= unit->divisor, unit->divisor = 1;
    double inverse = round(1 / unit->factor);
    if (fabs(unit->factor) < 1 && fabs(inverse * unit->factor - 1) < 1e-14) unit->factor = 1, unit->divisor = inverse;
    return;
  }
  while (b != 0) {
    double rest = fmod(a, b);
    a = b, b = rest;
  }
  unit->factor /= a, unit->divisor /= a;
}

// Computes unit *= other^exponent. Returns false if the magnitude of a power exceeds LARGEST_POWER, or if factor or divisor
// overflows or becomes zero.
static bool multiply(od_unit *unit, const od_unit *other, int exponent) {
  for (int i = 0; i < OD_UNIT_BASES; i++) {
    unit->power[i] += exponent * other->power[i];
    if (unit->power[i] > LARGEST_POWER || unit->power[i] < -LARGEST_POWER) return false;
  }
  for (int i = 0; i < exponent || i < -exponent; i++) {
    unit->factor *= exponent > 0 ? other->factor : other->divisor;
    unit->divisor *= exponent > 0 ? other->divisor : other->factor;
    reduce(unit);
  }
  return isfinite(unit->factor) && unit->factor > 0 && isfinite(unit->divisor) && unit->divisor > 0;
}

// --- The levels of the grammar, the innermost first ------------------------------------------------------------------

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Returns the length of the name at `text`: letters, '_', '%', and non-ASCII letters except signs of the grammar.
static size_t name_length(const char *text) {
  static const char *const signs[] = {"·", "⁻", "⁺", "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  size_t n = 0;
  for (;;) {
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
      if (strncmp(text + n, signs[i], strlen(signs[i])) == 0) return n;
    if (!is_letter(text[n]) && text[n] != '_' && text[n] != '%' && (unsigned char)text[n] < 0x80) return n;
    n++;
  }
}

static bool parse_unit(const char *text, int depth, od_unit *unit);

static bool read_name(reader *r, od_unit *unit) {
  size_t length = name_length(r->at);
  int power;
  const od_unit_name *name = length > 0 ? od_unit_find(r->at, length, &power) : NULL;
  if (name == NULL) return false;
  r->at += length;
  r->names++;
  *unit = plain_number;
  if (name->definition == NULL)
    unit->power[name->base] = 1;
  else if (r->depth > DEEPEST || !parse_unit(name->definition, r->depth + 1, unit))
    return false;
  unit->factor *= name->factor, unit->divisor *= name->divisor;
  if (power > 0) unit->factor *= pow(10, power);
  if (power < 0) unit->divisor *= pow(10, -power);
  reduce(unit);
  unit->offset = name->offset;
  r->has_offset = r->has_offset || name->offset != 0;
  return true;
}

// Reads a digit, plain or superscript. Returns -1 if there is no digit.
static int read_digit(reader *r, bool raised) {
  static const char *const superscript[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  for (int digit = 0; raised && digit < 10; digit++)
    if (strncmp(r->at, superscript[digit], strlen(superscript[digit])) == 0) {
      r->at += strlen(superscript[digit]);
      return digit;
    }
  return !raised && *r->at >= '0' && *r->at <= '9' ? *r->at++ - '0' : -1;
}

// Reads an exponent; without an exponent, *exponent is 1. Returns false if the exponent is malformed, is zero,
// or exceeds LARGEST_POWER.
static bool read_exponent(reader *r, int *exponent) {
  *exponent = 1;
  const char *begin = r->at;
  bool marked = true;
  if (strncmp(r->at, "**", 2) == 0)
    r->at += 2;
  else if (*r->at == '^')
    r->at++;
  else
    marked = false;
  bool minus = false, raised = false;
  if (strncmp(r->at, "⁻", 3) == 0 || strncmp(r->at, "⁺", 3) == 0)
    minus = strncmp(r->at, "⁻", 3) == 0, raised = true, r->at += 3;
  else if (*r->at == '-' || *r->at == '+')
    minus = *r->at++ == '-';
  int digit = read_digit(r, raised);
  if (digit < 0 && r->at == begin) digit = read_digit(r, raised = true);
  if (digit < 0) {
    r->at = begin;
    return !marked;
  }
  int value = 0;
  for (; digit >= 0; digit = read_digit(r, raised))
    if ((value = 10 * value + digit) > LARGEST_POWER) return false;
  *exponent = minus ? -value : value;
  return value != 0;
}

static bool read_product(reader *r, od_unit *unit);

static bool read_power(reader *r, od_unit *unit) {
  bool group = *r->at == '(';
  if (group) {
    if (++r->depth > DEEPEST) return false;
    r->at++;
    if (!read_product(r, unit) || *r->at != ')') return false;
    r->at++;
    r->depth--;
  } else if (!read_name(r, unit)) {
    return false;
  }
  int exponent;
  if (!read_exponent(r, &exponent)) return false;
  if (exponent == 1) return true;
  if (r->has_offset) return false;
  od_unit base = *unit;
  *unit = plain_number;
  return multiply(unit, &base, exponent);
}

// Reads the separator between two powers. Returns 1 for a product, -1 for a quotient, 0 for the end of the product.
static int read_separator(reader *r) {
  const char *at = r->at + strspn(r->at, " ");
  bool spaced = at > r->at;
  int sign = 1;
  if (*at == '\0' || *at == ')') return 0;
  if (*at == '/')
    sign = -1, at++;
  else if (spaced && strncmp(at, "per ", 4) == 0)
    sign = -1, at += 4;
  else if (*at == '*' || *at == '.' || (*at == '-' && is_letter(at[1])))
    at++;
  else if (strncmp(at, "·", strlen("·")) == 0)
    at += strlen("·");
  else if (!spaced && *at != '(')
    return 0;
  r->at = at + strspn(at, " ");
  return sign;
}

static bool read_product(reader *r, od_unit *unit) {
  r->at += strspn(r->at, " ");
  if (strncmp(r->at, "1/", 2) == 0) {
    *unit = plain_number;
    r->at++;
  } else if (!read_power(r, unit)) {
    return false;
  }
  int sign;
  while ((sign = read_separator(r)) != 0) {
    od_unit next;
    if (!read_power(r, &next) || !multiply(unit, &next, sign)) return false;
  }
  r->at += strspn(r->at, " ");
  return true;
}

// Parses a unit. A unit with an offset is a point on a scale, so such a unit must not be part of a power or product. Returns
// false if the text is not a unit.
static bool parse_unit(const char *text, int depth, od_unit *unit) {
  *unit = plain_number;
  if (strcmp(text, "1") == 0 || strcmp(text, "-") == 0) return true;
  reader r = {.at = text, .depth = depth};
  if (!read_product(&r, unit) || *r.at != '\0') return false;
  return !r.has_offset || (r.names == 1 && strchr(text, '/') == NULL);
}

bool od_unit_parse(const char *text, od_unit *unit) {
  return strlen(text) <= LONGEST_UNIT && parse_unit(text, 0, unit);
}
