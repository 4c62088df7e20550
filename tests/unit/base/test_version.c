// The check of the library's version. Oracle: the rule of version.h, applied by hand to the version of the headers.
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "oleodyn/oleodyn.h"

static void test_version(void **state) {
  (void)state;
  od_error err = {0};
  assert_int_equal(OD_VERSION_CHECK(&err), OD_OK);
  assert_string_equal(od_version(), OD_VERSION);
  // Another patch fits.
  assert_int_equal(od_version_check(OD_MAKE_VERSION(OD_VERSION_MAJOR, OD_VERSION_MINOR, 999), NULL), OD_OK);
  // A later minor version has functions that this library lacks. An earlier one fits from 1.0 on.
  assert_int_equal(od_version_check(OD_MAKE_VERSION(OD_VERSION_MAJOR, OD_VERSION_MINOR + 1, 0), &err),
                   OD_NOT_AVAILABLE);
  char expected[200];
  snprintf(expected, sizeof expected,
           "the program was compiled with the headers of oleodyn %d.%d.0, but the library has version %s",
           OD_VERSION_MAJOR, OD_VERSION_MINOR + 1, OD_VERSION);
  assert_memory_equal(err.text, expected, strlen(expected));
  if (OD_VERSION_MINOR > 0)
    assert_int_equal(od_version_check(OD_MAKE_VERSION(OD_VERSION_MAJOR, OD_VERSION_MINOR - 1, 0), NULL),
                     OD_VERSION_MAJOR == 0 ? OD_NOT_AVAILABLE : OD_OK);
  assert_int_equal(od_version_check(OD_MAKE_VERSION(OD_VERSION_MAJOR + 1, OD_VERSION_MINOR, 0), NULL),
                   OD_NOT_AVAILABLE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_version)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
