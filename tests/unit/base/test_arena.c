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
      cmocka_unit_test(variables_are_freed_at_the_end_of_their_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
