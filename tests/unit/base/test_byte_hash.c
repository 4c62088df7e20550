// Hashes of bytes. Oracles: the test vectors that are published with the algorithm FNV-1a, and the hash of the bytes of each number.
#include <string.h>

#include "support/test.h"
#include "base/byte_hash.h"

static void test_published_vectors(void **state) {
  (void)state;
  assert_true(od_hash_bytes(OD_HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
  assert_true(od_hash_bytes(OD_HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
  assert_true(od_hash_bytes(OD_HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
  assert_true(od_hash_text(OD_HASH_START, "foobar") == od_hash_bytes(OD_HASH_START, "foobar", 7));
}

static void test_numbers(void **state) {
  (void)state;
  const double values[] = {1.5, 0, -3e200}, other[] = {1.5, -0.0, -3e200};
  uint64_t hash = od_hash_numbers(OD_HASH_START, values, 3);
  assert_true(hash == od_hash_bytes(OD_HASH_START, values, sizeof values));
  assert_true(hash == od_hash_numbers(OD_HASH_START, other, 3));
  assert_true(hash != od_hash_numbers(OD_HASH_START, values, 2));
  assert_true(od_hash_numbers(OD_HASH_START, values, 0) == OD_HASH_START);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_published_vectors), cmocka_unit_test(test_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
