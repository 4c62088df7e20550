// Numbers as text: exact, short, and the same in every locale. Oracles: printf and strtod.
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/decimal.h"
#include "io/number.h"

static double parse(const char *text) {
  double value = -12345;
  if (!od_number_parse(text, strlen(text), false, &value)) fail_msg("'%s' is a number", text);
  return value;
}

static void test_format_is_short(void **state) {
  (void)state;
  const struct {
    double value;
    const char *text;
  } cases[] = {{0, "0"},       {0.1, "0.1"},      {1.0 / 3, "0.3333333333333333"},
               {-2.5, "-2.5"}, {1e300, "1e+300"}, {123456, "123456"},
               {NAN, "nan"},   {INFINITY, "inf"}, {-INFINITY, "-inf"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[OD_NUMBER_SIZE];
    int length = od_number_format(text, cases[i].value);
    assert_string_equal(text, cases[i].text);
    assert_int_equal(length, strlen(text));
  }
}

// Random bits, so that numbers of all sizes occur.
static void test_round_trip(void **state) {
  (void)state;
  uint64_t x = 88172645463325252u;
  for (int i = 0; i < 200000; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    double value;
    memcpy(&value, &x, sizeof value);
    if (i % 2) value = (double)(int64_t)x / (double)(1 + (x >> 40));
    if (!isfinite(value)) continue;
    char text[OD_NUMBER_SIZE];
    od_number_format(text, value);
    assert_true(parse(text) == value);
    assert_true(strtod(text, NULL) == value);
  }
  double edges[] = {DBL_MAX, -DBL_MAX, DBL_MIN, DBL_TRUE_MIN, DBL_EPSILON, 9007199254740993.0, -0.0};
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    char text[OD_NUMBER_SIZE];
    od_number_format(text, edges[i]);
    assert_true(parse(text) == edges[i]);
  }
}

// The oracle is printf: the fewest digits with which it writes a number that strtod reads as the same one. With every exponent,
// powers of two with both neighbors, integers, and short decimals.
static void check_shortest(double value) {
  char text[OD_NUMBER_SIZE], want[64];
  int digits = 1;
  for (snprintf(want, sizeof want, "%.0e", value); strtod(want, NULL) != value && digits < 17; digits++)
    snprintf(want, sizeof want, "%.*e", digits, value);
  od_number_format(text, value);
  char got[64];
  snprintf(got, sizeof got, "%.*e", digits - 1, strtod(text, NULL));
  assert_true(strtod(text, NULL) == value);
  assert_string_equal(got, want);
  int count = 0, zeros = 0;
  for (const char *c = text; *c && *c != 'e'; c++) {
    if (*c < '0' || *c > '9' || (*c == '0' && !count)) continue;
    count++;
    zeros = *c == '0' ? zeros + 1 : 0;
  }
  if (count - zeros > digits) fail_msg("'%s' has more digits than '%s'", text, want);
}

static void test_shortest(void **state) {
  (void)state;
  uint64_t x = 4711;
  for (int exponent = -1074; exponent < 1024; exponent++) {
    double power = ldexp(1, exponent);
    check_shortest(power);
    check_shortest(nextafter(power, INFINITY));
    if (exponent > -1074) check_shortest(nextafter(power, 0));
    for (int i = 0; i < 20; i++) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      check_shortest(power * (1 + (double)(x >> 12) / 0x1p52));
      check_shortest(power * (1 + (double)(x >> 58) / 64));
    }
  }
  for (int i = 0; i < 20000; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    check_shortest((double)(1 + (x >> 44)) / 1000);
    check_shortest((double)(1 + (x >> 20)));
  }
}

// The oracle is strtod, which rounds correctly: random decimals of up to 19 digits, those of doubles and of the midpoints
// between them, which are the difficult cases.
static void test_nearest(void **state) {
  (void)state;
  uint64_t x = 815;
  int quick = 0, all = 0;
  for (int exponent = -345; exponent <= 325; exponent++)
    for (int i = 0; i < 100; i++) {
      char text[64];
      x = x * 6364136223846793005u + 1442695040888963407u;
      double value = ldexp(1 + (double)(x >> 12) / 0x1p52, 3 * exponent), quickly;
      od_decimal d = {x >> (i % 60), exponent};
      if (i % 4 == 0) {
        snprintf(text, sizeof text, "%.17e", value);
      } else if (i % 4 == 1) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)(x >> 10 | 1));  // 54 bits: integers in the middle
      } else {
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)d.digits, exponent);
        all++;
        if (od_nearest_double(d, &quickly)) quick++, assert_true(quickly == strtod(text, NULL));
      }
      assert_true(parse(text) == strtod(text, NULL));
    }
  print_message("%d of %d quickly\n", quick, all);
  assert_true(quick > all * 8 / 10);
}

// The oracle is strtod: all digits of the midpoints between doubles, the same with one more digit, or one unit less in the last digit,
// and random texts with leading zeros, a sign, a point and an exponent. 64 bits of a long double contain a midpoint.
static void test_midpoints(void **state) {
  (void)state;
  uint64_t x = 4712;
  for (int i = 0; i < 3000; i++) {
    static char text[1400];
    x = x * 6364136223846793005u + 1442695040888963407u;
    const double value = ldexp(1 + (double)(x >> 12) / 0x1p52, i % 2 ? (int)(x >> 20 & 63) - 30 : i / 2 % 2000 - 1000);
    const long double middle = (long double)value + 0.5L * ((long double)nextafter(value, INFINITY) - value);
    int n = snprintf(text, sizeof text - 2, "%.1100Lf", middle);
    while (text[n - 1] == '0') text[--n] = '\0';
    assert_true(parse(text) == strtod(text, NULL));
    strcpy(text + n, "1");
    assert_true(parse(text) == strtod(text, NULL));
    text[n] = '\0';
    if (text[n - 1] != '.') text[n - 1]--;
    assert_true(parse(text) == strtod(text, NULL));
  }
  for (int i = 0; i < 200000; i++) {
    char text[80];
    int n = 0;
    x = x * 6364136223846793005u + 1442695040888963407u;
    const int digits = 1 + (int)(x >> 60) + (int)(x >> 58 & 7), point = (int)(x >> 53 & 31), zeros = (int)(x >> 50 & 7);
    if (x >> 49 & 1) text[n++] = '-';
    for (int k = 0; k < zeros + digits; k++) {
      if (k == point) text[n++] = '.';
      x = x * 6364136223846793005u + 1442695040888963407u;
      text[n++] = k < zeros ? '0' : (char)('0' + (x >> 40) % 10);
    }
    if (x >> 62 == 0) n += snprintf(text + n, sizeof text - (size_t)n, "e%d", (int)(x >> 52) % 330 - 165);
    text[n] = '\0';
    assert_true(parse(text) == strtod(text, NULL));
  }
}

// Short numbers look as printf writes them.
static void test_form(void **state) {
  (void)state;
  for (int exponent = -8; exponent < 20; exponent++)
    for (int digits = 1; digits < 2000; digits += 37) {
      char text[OD_NUMBER_SIZE], want[OD_NUMBER_SIZE];
      double value = strtod((snprintf(want, sizeof want, "-%de%d", digits, exponent), want), NULL);
      od_number_format(text, value);
      snprintf(want, sizeof want, "%.15g", value);
      assert_string_equal(text, want);
    }
}

static void test_parse(void **state) {
  (void)state;
  assert_true(parse("1.5e3") == 1500);
  assert_true(parse("+.5") == 0.5);
  assert_true(parse("5.") == 5);
  assert_true(parse("1d-2") == 0.01);
  assert_true(isnan(parse("NaN")) && isinf(parse("-Inf")));
  assert_true(parse("0.1000000000000000055511151231257827021181583404541015625") == 0.1);
  assert_true(parse("1e400") == INFINITY);
  assert_true(parse("1e-99999999999") == 0);
  const char *bad[] = {"", "-", ".", "e5", "1e", "1e+", "1.2.3", "abc", "1 2", "0x10", "1,5", "--1", "infinit"};
  double value;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (od_number_parse(bad[i], strlen(bad[i]), false, &value)) fail_msg("'%s' is no number", bad[i]);
  assert_true(od_number_parse("1,5", 3, true, &value) && value == 1.5);
  // Only as many characters as were given.
  assert_true(od_number_parse("123", 2, false, &value) && value == 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_format_is_short), cmocka_unit_test(test_round_trip), cmocka_unit_test(test_shortest),
      cmocka_unit_test(test_nearest),         cmocka_unit_test(test_midpoints),  cmocka_unit_test(test_form),
      cmocka_unit_test(test_parse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
