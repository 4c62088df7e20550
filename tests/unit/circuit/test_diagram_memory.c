// A circuit diagram without enough memory: the layout fails with OD_NO_MEMORY at every allocation, and no diagram is returned. Oracle:
// an allocator that fails from the n-th call on.
#include "support/test.h"

#include <stdlib.h>

#include "oleodyn/memory.h"
#include "unit/circuit/circuits.h"

static long left = -1;  // allocations until the memory is exhausted; -1: never

static bool has_memory(void) {
  if (left > 0) left--;
  return left != 0;
}
static void *allocate(void *user, size_t size) {
  (void)user;
  return has_memory() ? malloc(size) : NULL;
}
static void *resize(void *user, void *block, size_t size) {
  (void)user;
  return has_memory() ? realloc(block, size) : NULL;
}
static void release(void *user, void *block) {
  (void)user;
  free(block);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/load-sensing/machine.yaml", NULL);
  long failed = 0;
  for (bool made = false; !made; failed++) {
    OD_SCRATCH(arena);
    const od_circuit *c = NULL;
    od_error err = {0};
    left = failed + 1;
    od_status status = od_circuit_make(machine, &arena, &c, &err);
    left = -1;
    made = status == OD_OK;
    if (!made) assert_int_equal(status, OD_NO_MEMORY);
    assert_int_equal(c != NULL, made);
  }
  assert_true(failed > 5);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
  if (od_set_allocator(&(od_allocator){allocate, resize, release, NULL}) != OD_OK) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
