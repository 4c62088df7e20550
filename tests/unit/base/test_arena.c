// Arenas: pieces are zeroed, aligned and apart from each other; lists keep their items while they grow; a failed allocation is
// remembered; scoped variables are freed on every path out of their block. Oracle: the pattern that was written.
#include "base/arena.h"

#include <limits.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "memory/scoped.h"
#include "support/test.h"

static void pieces_are_apart(void **state) {
  (void)state;
  od_arena arena = {0};
  enum { PIECES = 300 };
  unsigned char *piece[PIECES];
  for (int i = 0; i < PIECES; i++) {
    size_t size = (size_t)(i * i);  // up to 89 kB, beyond the size of a chunk
    piece[i] = od_arena_take(&arena, size);
    assert_non_null(piece[i]);
    assert_int_equal((uintptr_t)piece[i] % alignof(max_align_t), 0);
    for (size_t k = 0; k < size; k++) assert_int_equal(piece[i][k], 0);
    memset(piece[i], i % 255 + 1, size);
  }
  for (int i = 0; i < PIECES; i++)
    for (size_t k = 0; k < (size_t)(i * i); k++) assert_int_equal(piece[i][k], i % 255 + 1);
  assert_int_equal(od_arena_status(&arena), OD_OK);
  od_arena_free(&arena);
  assert_null(arena.last);
}

static void lists_keep_their_items(void **state) {
  (void)state;
  OD_SCRATCH(arena);
  long *list = NULL;
  for (int n = 0; n < 1000; n++) {
    list = od_arena_extend(&arena, list, n, sizeof *list);
    assert_non_null(list);
    assert_int_equal(list[n], 0);
    list[n] = 7L * n + 1;
    for (int i = 0; i <= n; i++) assert_int_equal(list[i], 7L * i + 1);
  }
}

static void impossible_sizes_are_remembered(void **state) {
  (void)state;
  OD_SCRATCH(arena);
  assert_non_null(OD_TAKE(&arena, double, 0));
  assert_int_equal(od_arena_status(&arena), OD_OK);
  assert_null(OD_TAKE(&arena, double, -1));
  assert_int_equal(od_arena_status(&arena), OD_NO_MEMORY);
  assert_non_null(OD_TAKE(&arena, double, 4));
  assert_int_equal(od_arena_status(&arena), OD_NO_MEMORY);
  od_arena_free(&arena);
  assert_int_equal(od_arena_status(&arena), OD_OK);
  assert_null(OD_TAKE(&arena, double, LLONG_MAX));
  od_arena_free(&arena);
  assert_null(od_arena_take(&arena, SIZE_MAX - 3));
  assert_int_equal(od_arena_status(&arena), OD_NO_MEMORY);
}

static void matrices(void **state) {
  (void)state;
  OD_SCRATCH(arena);
  double *m = OD_TAKE_MATRIX(&arena, double, 3, 5L);
  assert_non_null(m);
  for (int i = 0; i < 15; i++) assert_true(m[i] == 0);
  assert_non_null(OD_TAKE_MATRIX(&arena, double, 0, 7));
  assert_non_null(OD_TAKE_MATRIX(&arena, double, 7, 0));
  assert_int_equal(od_arena_status(&arena), OD_OK);
  static const long long impossible[][2] = {{-1, 2}, {2, -1}, {-3, -3}, {LLONG_MAX, 2}, {1LL << 32, 1LL << 32}};
  for (int i = 0; i < 5; i++) {
    assert_null(OD_TAKE_MATRIX(&arena, double, impossible[i][0], impossible[i][1]));
    assert_int_equal(od_arena_status(&arena), OD_NO_MEMORY);
    od_arena_free(&arena);
  }
}

static void texts_are_copied(void **state) {
  (void)state;
  OD_SCRATCH(arena);
  char word[] = "spool";
  const char *copy = od_arena_text(&arena, word), *made = od_arena_format(&arena, "%s %d", word, 12);
  word[0] = 'x';
  assert_string_equal(copy, "spool");
  assert_string_equal(made, "spool 12");
}

static void temporary_memory_is_returned(void **state) {
  (void)state;
  OD_SCRATCH(arena);
  for (int round = 0; round < 3; round++) {
    od_arena_place mark = od_arena_mark(&arena);
    for (int i = 0; i < 40; i++) {
      double *piece = OD_TAKE(&arena, double, 200 * (i + 1));
      assert_non_null(piece);
      for (int k = 0; k < 200 * (i + 1); k++) {
        assert_true(piece[k] == 0);
        piece[k] = 7;
      }
    }
    od_arena_return(&arena, mark);
    assert_ptr_equal(arena.last, mark.chunk);
    assert_non_null(od_arena_text(&arena, "kept"));
  }
}

// Without allocation: every piece is within the caller's memory, and the memory ends with an error.
static void memory_of_the_caller(void **state) {
  (void)state;
  enum { SIZE = 1 << 14 };
  _Alignas(OD_ARENA_ALIGNMENT) static unsigned char memory[SIZE];
  memset(memory, 0x5a, sizeof memory);
  od_arena arena = od_arena_over(memory, sizeof memory - 100);
  od_arena_place mark = {0};
  for (int i = 0; i < 30; i++) {
    if (i == 20) mark = od_arena_mark(&arena);
    unsigned char *piece = od_arena_take(&arena, 100);
    assert_true(piece >= memory && piece + 100 <= memory + sizeof memory - 100);
    assert_int_equal((uintptr_t)piece % alignof(max_align_t), 0);
    for (int k = 0; k < 100; k++) assert_int_equal(piece[k], 0);
    memset(piece, 1, 100);
  }
  size_t used = od_arena_used(&arena);
  assert_in_range(used, 3000, 30 * 112 + OD_ARENA_HEADER);
  od_arena_return(&arena, mark);
  unsigned char *again = od_arena_take(&arena, 1000);
  for (int k = 0; k < 1000; k++) assert_int_equal(again[k], 0);
  assert_true(od_arena_used(&arena) < used + 10);
  assert_null(od_arena_take(&arena, SIZE));
  assert_int_equal(od_arena_status(&arena), OD_NO_MEMORY);
  for (int k = SIZE - 100; k < SIZE; k++) assert_int_equal(memory[k], 0x5a);

  od_arena small = od_arena_over(memory, OD_ARENA_HEADER - 1);
  assert_int_equal(od_arena_status(&small), OD_NO_MEMORY);
  assert_null(od_arena_take(&small, 1));
}

// An object that counts calls of its free function.
typedef struct counted {
  int *freed;
} counted;
static void counted_free(counted *c) {
  ++*c->freed;
}
OD_OWNED_POINTER(counted, counted_free);

static counted *leave(int way, counted *object, counted value) {
  OD_OWNED(counted_free) counted *owned = object;
  OD_SCOPED(counted_free) counted scoped = value;
  OD_OWNED(counted_free) counted *none = NULL;
  (void)scoped, (void)none;
  if (way == 0) return NULL;
  return OD_GIVE(owned);
}

static void variables_are_freed_at_the_end_of_their_block(void **state) {
  (void)state;
  int owned = 0, scoped = 0;
  counted object = {&owned}, value = {&scoped};
  assert_null(leave(0, &object, value));
  assert_int_equal(owned, 1);
  assert_int_equal(scoped, 1);
  assert_ptr_equal(leave(1, &object, value), &object);
  assert_int_equal(owned, 1);
  assert_int_equal(scoped, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_are_apart),
      cmocka_unit_test(lists_keep_their_items),
      cmocka_unit_test(impossible_sizes_are_remembered),
      cmocka_unit_test(matrices),
      cmocka_unit_test(texts_are_copied),
      cmocka_unit_test(temporary_memory_is_returned),
      cmocka_unit_test(memory_of_the_caller),
      cmocka_unit_test(variables_are_freed_at_the_end_of_their_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
