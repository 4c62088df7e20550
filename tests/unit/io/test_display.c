// Display units of numbers, and their digits. Oracle: expected texts.
#include "support/test.h"

#include <math.h>

#include "io/display.h"

static void expect(const char *si, double value, const char *unit, double shown) {
  od_display d = od_display_unit(si, value);
  assert_string_equal(d.unit, unit);
  assert_true(fabs(value * d.factor - shown) <= 1e-12 * fabs(shown));
}

static void test_units(void **state) {
  (void)state;
  expect("Pa", 7.6e6, "bar", 76);
  expect("Pa", -2e5, "bar", -2);
  expect("Pa", 30, "Pa", 30);
  expect("Pa", 1.6e9, "MPa", 1600);
  expect("Pa", 2.1e11, "GPa", 210);
  expect("1/Pa", 5e-8, "1/bar", 5e-3);
  expect("m^3/s", 1e-3, "l/min", 60);
  expect("m3/s", 1e-8, "ml/min", 0.6);
  expect("m", 1.732, "mm", 1732);
  expect("m", 12, "m", 12);
  expect("m/s", 0.05, "mm/s", 50);
  expect("m2", 1.522e-5, "mm\u00b2", 15.22);
  expect("m2", 2e-3, "cm\u00b2", 20);
  expect("m3", 3.42e-3, "l", 3.42);
  expect("rad", 3.14159265358979323846 / 3, "deg", 60);
  expect("rad/s", 0.5 * 3.14159265358979323846, "deg/s", 90);
  expect("rad/s", 157, "rad/s", 157);
  expect("N", 2412, "N", 2412);
  expect("N", 83e3, "kN", 83);
  expect("s", 0.02, "ms", 20);
  expect("1", 28, "", 28);
  expect("V", 10, "V", 10);
}

// Zero, or a number of unknown size, gets the usual unit.
static void test_usual_units(void **state) {
  (void)state;
  expect("Pa", 0, "bar", 0);
  expect("m", 0, "mm", 0);
  expect("m3/s", 0, "l/min", 0);
  assert_string_equal(od_display_usual("Pa"), "bar");
  assert_string_equal(od_display_usual("m^2"), "mm\u00b2");
  assert_string_equal(od_display_usual("rad"), "deg");
  assert_string_equal(od_display_usual("N"), "N");
  assert_string_equal(od_display_usual("1"), "");
  assert_string_equal(od_display_usual("N s/m"), "N s/m");
}

// The last test, because the choice is global.
static void test_si(void **state) {
  (void)state;
  od_display_choose_si(true);
  expect("Pa", 7.6e6, "Pa", 7.6e6);
  expect("m3/s", 0, "m3/s", 0);
  expect("1", 28, "", 28);
  assert_string_equal(od_display_usual("rad"), "rad");
  assert_string_equal(od_display_quantity(0.02, "m").text, "0.02 m");
}

static void expect_texts(double value, double uncertainty, const char *shown, const char *beside) {
  char text[OD_NUMBER_SIZE];
  od_display_value(text, value, uncertainty);
  assert_string_equal(text, shown);
  od_display_uncertainty(text, uncertainty);
  assert_string_equal(text, beside);
}

static void test_digits(void **state) {
  (void)state;
  expect_texts(1629.426412, 44.84, "1629", "45");
  expect_texts(30.8363, 3.82, "30.8", "3.8");
  expect_texts(0.0123456, 0.00099, "0.01235", "0.00099");
  expect_texts(0.5, 0.0996, "0.50", "0.10");
  expect_texts(0.5, 9.96, "0", "10");
  expect_texts(0.5, 1, "0.5", "1.0");
  expect_texts(123456.7, 1234, "123457", "1234");
  expect_texts(-3.14159265, NAN, "-3.1416", "-");
  expect_texts(3.14159265, 0, "3.1416", "0");
  expect_texts(NAN, 1, "-", "1.0");
}

// Times have digits that suit the length of the run, without zeros at the end.
static void test_times(void **state) {
  (void)state;
  assert_int_equal(od_time_digits(17), 2);
  assert_int_equal(od_time_digits(5), 3);
  assert_int_equal(od_time_digits(1e5), 0);
  assert_int_equal(od_time_digits(0), 2);
  assert_string_equal(od_time_text(4.5072, 2).text, "4.51");
  assert_string_equal(od_time_text(7.3, 2).text, "7.30");
  assert_string_equal(od_time_text(7.3, 4).text, "7.30");
  assert_string_equal(od_time_text(7.3, 1).text, "7.3");
  assert_string_equal(od_time_text(20, 3).text, "20");
  assert_string_equal(od_time_text(20, 0).text, "20");
}

static void test_quantities(void **state) {
  (void)state;
  assert_string_equal(od_display_quantity(1.52e9, "Pa").text, "1520 MPa");
  assert_string_equal(od_display_quantity(-0.6, "1").text, "-0.6");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_units),      cmocka_unit_test(test_usual_units),
                                     cmocka_unit_test(test_digits),     cmocka_unit_test(test_times),
                                     cmocka_unit_test(test_quantities), cmocka_unit_test(test_si)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
