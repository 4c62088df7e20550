// Units: values in SI, dimensions, and angles, which are not plain numbers. Oracle: values by hand.
#include "support/test.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "document/units.h"
#include "support/allocations.h"

static int setup(void **state) {
  od_error error;
  *state = od_units_new(&error);
  return *state != NULL ? 0 : -1;
}

static int teardown(void **state) {
  od_units_free(*state);
  return 0;
}

typedef struct conversion {
  const char *unit, *si;
  double value, expected;
} conversion;

static const double pi = 3.14159265358979323846;

static void test_conversions(void **state) {
  const conversion cases[] = {
      {"", "m", 3, 3},
      {"m", "m", 0.1, 0.1},
      {"bar", "Pa", 250, 250e5},
      {"MPa", "Pa", 7.5, 7.5e6},
      {"l/min", "m3/s", 60, 1e-3},
      {"L/min", "m3/s", 60, 1e-3},
      {"rpm", "rad/s", 60, 2 * pi},
      {"rev/min", "rad/s", 60, 2 * pi},
      {"deg", "rad", 180, pi},
      {"°", "rad", 180, pi},
      {"deg/s", "rad/s", 180, pi},
      {"m/s2", "m/s2", 9.81, 9.81},
      {"m/s^2", "m/s2", 9.81, 9.81},
      {"N m s/rad", "N m s/rad", 2, 2},
      {"N m/deg", "N m/rad", pi, 180},
      {"N m", "N m/rad", 2, 2},
      {"Nm", "N m", 2, 2},
      {"kNm", "N m", 2, 2000},
      {"1", "1", 2, 2},
      {"%", "1", 5, 0.05},
      {"-", "1", 5, 5},
      {"kg m2", "kg m2", 2, 2},
      {"kg·m²", "kg m2", 2, 2},
      {"kHz", "Hz", 2, 2000},
      {"1/s", "Hz", 2, 2},
      {"rad/s", "Hz", 4 * pi, 2},
      {"rpm", "Hz", 120, 2},
      {"degC", "K", 20, 293.15},
      {"N/(m/s)", "N s/m", 2, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double value;
    od_unit_verdict verdict = od_units_convert(*state, cases[i].unit, cases[i].si, cases[i].value, &value);
    if (verdict != OD_UNIT_FITS || !(fabs(value - cases[i].expected) <= 1e-14 * fabs(cases[i].expected)))
      fail_msg("%g %s is %.17g %s, not %.17g", cases[i].value, cases[i].unit, value, cases[i].si, cases[i].expected);
  }
}

// A decimal fraction of a unit equals the number in SI to the last bit.
static void test_decimal_fractions_are_exact(void **state) {
  for (int i = 1; i < 1000; i++) {
    char text[32];
    double value;
    snprintf(text, sizeof text, "%d.%03d", i / 1000, i % 1000);
    assert_int_equal(od_units_convert(*state, "mm", "m", i, &value), OD_UNIT_FITS);
    assert_true(value == strtod(text, NULL));
  }
}

static void test_misfits(void **state) {
  const char *const cases[][2] = {
      {"mm", "kg"},     {"m", "rad"},       {"rad", "m"},       {"kg", "1"},      {"deg", "1"},
      {"1", "rad"},     {"m/m", "rad"},     {"rad/s2", "Hz"},   {"rad/s", "1/s"}, {"Hz", "rad/s"},
      {"1/s", "rad/s"}, {"N m/rad", "N m"}, {"N/m", "N m/rad"}, {"sr", "rad"},    {"J s", "N m/rad"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double value;
    if (od_units_convert(*state, cases[i][0], cases[i][1], 1, &value) != OD_UNIT_MISFITS)
      fail_msg("%s passes for %s", cases[i][0], cases[i][1]);
  }
}

static void test_unknown(void **state) {
  const char *const cases[] = {"mmm",         "drive", "m 2", "3 m", "mm 2", "m @ 3", "s since 2000-01-01",
                               "lg(re 1 mW)", "m//s",  "m^",  "()",  "m/2",  "(",     "\xff",
                               "2",           "m^2^3"};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double value;
    if (od_units_convert(*state, cases[i], "m", 1, &value) != OD_UNIT_UNKNOWN || od_units_knows(*state, cases[i]))
      fail_msg("'%s' passes for a unit", cases[i]);
  }
}

static void test_names(void **state) {
  assert_string_equal(od_units_measures(*state, "bar"), "a pressure");
  assert_string_equal(od_units_measures(*state, "rpm"), "an angular velocity");
  assert_string_equal(od_units_measures(*state, "Hz"), "a frequency");
  assert_string_equal(od_units_measures(*state, "%"), "a plain number");
  assert_null(od_units_measures(*state, "kg7"));
  assert_null(od_units_measures(*state, "blob"));
  assert_string_equal(od_units_si(*state, "kN"), "N");
  assert_string_equal(od_units_si(*state, "inch"), "m");
  assert_true(od_units_is_si(*state, "N"));
  assert_true(od_units_is_si(*state, "m/s"));
  assert_false(od_units_is_si(*state, "kN"));
  assert_false(od_units_is_si(*state, "degC"));
  assert_false(od_units_is_si(*state, "blob"));
  assert_string_equal(od_units_suggest("mpa"), "MPa");
  assert_null(od_units_suggest("blob"));
}

// Several threads may parse units.
static void *convert_often(void *result) {
  od_units *units = od_units_new(NULL);
  bool sound = units != NULL;
  for (int i = 1; i < 200 && sound; i++) {
    char unit[32];
    double value;
    snprintf(unit, sizeof unit, "m%d", i % 9 + 1);
    sound = od_units_convert(units, unit, unit, i, &value) == OD_UNIT_FITS && value == i;
    sound = sound && od_units_convert(units, "m//", "m", i, &value) == OD_UNIT_UNKNOWN;
  }
  od_units_free(units);
  *(bool *)result = sound;
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  bool sound[THREADS] = {false};
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, convert_often, &sound[i]), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < THREADS; i++) assert_true(sound[i]);
}

// A process loads machines many times: the allocated memory must be the same after each, once the allocator's own lists are full.
static void test_nothing_is_lost(void **state) {
  (void)state;
#if COUNTING
  size_t before = 0;
  for (int i = 0; i < 40; i++) {
    od_error error;
    od_units *units = od_units_new(&error);
    assert_true(od_units_knows(units, "kN s/m") && !od_units_knows(units, "kN s/(m"));
    od_units_free(units);
    if (i == 20) before = mallinfo2().uordblks;
  }
  assert_int_equal(mallinfo2().uordblks, before);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conversions),     cmocka_unit_test(test_decimal_fractions_are_exact),
      cmocka_unit_test(test_misfits),         cmocka_unit_test(test_unknown),
      cmocka_unit_test(test_names),           cmocka_unit_test(test_threads),
      cmocka_unit_test(test_nothing_is_lost),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
