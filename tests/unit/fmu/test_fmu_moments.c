// Stored moments of imported FMUs. Oracle: the moments themselves, which this test makes from their tokens.
#include "fmu/fmu_moments.h"

#include <string.h>

#include "support/test.h"

#include "base/allocate.h"

enum { STATES = 3, INPUTS = 2, INDICATORS = 1 };

// Adds the moment of a time: all lists follow from the time. `size` bytes of memory, each with the value of the time modulo 256.
static double add(od_fmu_moments *m, double t, double parent, size_t size) {
  double x[STATES] = {t, 2 * t, 3 * t}, u[INPUTS] = {-t, 1 / t}, z[INDICATORS] = {t * t};
  od_fmu_memory memory = {0};
  if (size) {
    memory = (od_fmu_memory){.bytes = od_malloc(size), .size = size};
    assert_non_null(memory.bytes);
    memset(memory.bytes, (int)t % 256, size);
  }
  od_fmu_moment moment = {
      .parent = parent, .t = t, .step = 0.5, .x = x, .u = u, .situation = {t + 1, z}, .memory = memory};
  return od_fmu_moment_add(m, &moment);
}

static void assert_moment(od_fmu_moments *m, double token, double t, double parent, size_t size) {
  od_fmu_moment got;
  assert_true(od_fmu_moment_get(m, token, &got));
  assert_true(got.token == token && got.parent == parent && got.t == t && got.step == 0.5);
  assert_true(got.x[0] == t && got.x[1] == 2 * t && got.x[2] == 3 * t && got.u[0] == -t && got.u[1] == 1 / t);
  assert_true(got.situation.next_event == t + 1 && got.situation.indicator[0] == t * t);
  assert_int_equal(got.memory.size, size);
  assert_true((got.memory.bytes != NULL) == (size > 0));
  for (size_t i = 0; i < size; i += 1 + size / 7)
    assert_int_equal(((unsigned char *)got.memory.bytes)[i], (int)t % 256);
  od_fmu_moment_done(&got);
}

static void copies_of_moments(void **state) {
  (void)state;
  od_fmu_moments *m = od_fmu_moments_new(STATES, INPUTS, INDICATORS);
  double t = NAN;
  od_fmu_moment got;
  assert_false(od_fmu_moment_get(m, 1, &got));
  for (int k = 1; k <= 200; k++) assert_true(add(m, 10.0 + k, k - 1, k % 3 ? 0 : 16) == k);
  for (int k = 1; k <= 200; k++) assert_moment(m, k, 10.0 + k, k - 1, k % 3 ? 0 : 16);
  assert_true(od_fmu_moment_time(m, 200, &t) && t == 210);
  const double unknown[] = {0, 201, -1, 1.5, 1e300, NAN};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    assert_false(od_fmu_moment_get(m, unknown[i], &got) || od_fmu_moment_time(m, unknown[i], &t));
  od_fmu_moments_free(m);
}

// Beyond 128 MB of saved states the oldest ones are dropped; their moments remain.
static void limit_of_memory(void **state) {
  (void)state;
  const size_t size = (size_t)10 << 20;
  od_fmu_moments *m = od_fmu_moments_new(STATES, INPUTS, INDICATORS);
  for (int k = 1; k <= 20; k++) add(m, k, k - 1, size);
  for (int k = 1; k <= 20; k++) assert_moment(m, k, k, k - 1, k <= 20 - 12 ? 0 : size);  // 12 x 10 MB fit
  od_fmu_moments_free(m);
}

// Beyond 2^20 moments the oldest ones are replaced.
static void limit_of_moments(void **state) {
  (void)state;
  const long most = 1 << 20, more = 5;
  od_fmu_moments *m = od_fmu_moments_new(STATES, INPUTS, INDICATORS);
  for (long k = 1; k <= most + more; k++) add(m, (double)k, 0, 0);
  double t;
  for (long k = 1; k <= more; k++) assert_false(od_fmu_moment_time(m, (double)k, &t));
  assert_moment(m, more + 1, more + 1, 0, 0);
  assert_moment(m, (double)(most + more), (double)(most + more), 0, 0);
  od_fmu_moments_free(m);
}

// A moment of another process keeps its token if the token is free. The same moment is not stored twice.
static void moments_of_other_processes(void **state) {
  (void)state;
  od_fmu_moments *m = od_fmu_moments_new(STATES, INPUTS, INDICATORS);
  add(m, 1, 0, 16);
  double x[STATES] = {40, 80, 120}, u[INPUTS] = {-40, 1 / 40.0}, z[INDICATORS] = {1600};
  od_fmu_moment moment = {.t = 40, .step = 0.5, .x = x, .u = u, .situation = {41, z}};
  for (int round = 0; round < 3; round++) {
    moment.memory = (od_fmu_memory){.bytes = od_malloc(16), .size = 16};
    memset(moment.memory.bytes, 40, 16);
    double token = od_fmu_moment_take_up(m, &moment, round < 2 ? 70 : 1);
    assert_true(token == (round < 2 ? 70 : 71));  // token 1 belongs to another moment
    assert_moment(m, token, 40, 0, 16);
  }
  assert_moment(m, 1, 1, 0, 16);
  assert_true(add(m, 2, 1, 0) == 72);
  od_fmu_moments_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(copies_of_moments), cmocka_unit_test(limit_of_memory),
                                     cmocka_unit_test(limit_of_moments), cmocka_unit_test(moments_of_other_processes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
