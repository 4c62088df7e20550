// Texts of the core have the same characters as those of printf, for every conversion that the core supports, every precision and
// reals of any size, and end within their memory. Oracle: snprintf of the C library.
#include "base/text.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  uint64_t x = *state;
  return (x ^ x >> 33) * 0xff51afd7ed558ccdu;
}

static void compare_real(const char *format, int precision, double x) {
  char own[1200], oracle[1200];
  size_t length = od_text_format(own, sizeof own, format, precision, x);
  snprintf(oracle, sizeof oracle, format, precision, x);
  assert_string_equal(own, oracle);
  assert_int_equal(length, strlen(oracle));
}

static void compare_all(double x) {
  for (int precision = 0; precision <= 20; precision++) {
    compare_real("%.*g", precision, x);
    compare_real("%.*e", precision, x);
    compare_real("%.*f", precision, x);
  }
}

static void reals_are_those_of_printf(void **state) {
  (void)state;
  uint64_t seed = 1;
  static const double special[] = {0.0,          -0.0,     1,        -1,        0.5,       1.5,     2.5,
                                   0.125,        9.5,      99.5,     999999.5,  9.9999995, DBL_MAX, DBL_MIN,
                                   DBL_TRUE_MIN, -DBL_MAX, INFINITY, -INFINITY, NAN,       1e-4,    9.9999e-5,
                                   1e6,          123456,   1e22,     1e23,      0.1,       1.0 / 3};
  for (size_t i = 0; i < sizeof special / sizeof *special; i++) compare_all(special[i]);
  for (int i = 0; i < 1500; i++) {
    uint64_t bits = next_random(&seed);
    double any, usual = (double)(int64_t)next_random(&seed) * 0x1p-53;
    memcpy(&any, &bits, sizeof any);
    if (isfinite(any)) compare_all(any);
    compare_all(usual);
    compare_all(round(usual * 1e4) / 8);  // ties
  }
}

#define SAME(...)                                                 \
  do {                                                            \
    char own[200], oracle[200];                                   \
    size_t length = od_text_format(own, sizeof own, __VA_ARGS__); \
    snprintf(oracle, sizeof oracle, __VA_ARGS__);                 \
    assert_string_equal(own, oracle);                             \
    assert_int_equal(length, strlen(oracle));                     \
  } while (0)

static void other_conversions_are_those_of_printf(void **state) {
  (void)state;
  SAME("%d %d %d %d", 0, 7, INT_MIN, INT_MAX);
  SAME("%ld %ld %lld %lld", LONG_MIN, LONG_MAX, LLONG_MIN, LLONG_MAX);
  SAME("%u %lu %llu %zu", UINT_MAX, ULONG_MAX, ULLONG_MAX, SIZE_MAX);
  SAME("'%s' '%.3s' '%.0s' '%.*s' '%.60s'", "bleed", "bleed", "bleed", 2, "bleed", "bleed");
  SAME("%c%c 100 %% of %g, %e and %f", 'x', 'y', 0.1, 12345.678, 2.0 / 3);
  SAME("no conversion");
}

static void texts_end_within_their_memory(void **state) {
  (void)state;
  char text[12] = "...........";
  assert_int_equal(od_text_format(text, 8, "%s is %d", "pressure", 12), 14);
  assert_string_equal(text, "pressur");
  assert_int_equal(text[8], '.');
  assert_int_equal(od_text_format(text, 1, "%d", 5), 1);
  assert_string_equal(text, "");
  assert_int_equal(od_text_format(NULL, 0, "%d", 512), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reals_are_those_of_printf),
      cmocka_unit_test(other_conversions_are_those_of_printf),
      cmocka_unit_test(texts_end_within_their_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
