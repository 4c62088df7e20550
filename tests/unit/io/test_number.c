// Numbers as text: exact, short, and the same in every locale.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

// Random bits, so that all sizes of numbers come by.
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
      cmocka_unit_test(test_format_is_short),
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_parse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
