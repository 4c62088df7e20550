// Memory that is allocated piece by piece and freed all at once.
#ifndef OD_ARENA_H
#define OD_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "oleodyn/status.h"

typedef struct od_arena {
  struct od_chunk *last;
  bool exhausted;  // whether an allocation failed; stays true until od_arena_free()
} od_arena;

// Returns zeroed memory that belongs to the arena, or NULL if an allocation fails.
void *od_arena_take(od_arena *arena, size_t size);
// Returns zeroed memory for `count` items of `size` bytes: a valid address if the count is zero; NULL if the count is negative or
// too large, or if an allocation fails.
void *od_arena_take_array(od_arena *arena, long long count, size_t size);
#define OD_TAKE(arena, type, count) ((type *)od_arena_take_array(arena, (long long)(count), sizeof(type)))
// Returns zeroed memory for a matrix of items of `size` bytes. Returns NULL if the number of rows or columns is negative, if the
// matrix is too large, or if an allocation fails.
void *od_arena_take_matrix(od_arena *arena, long long rows, long long columns, size_t size);
#define OD_TAKE_MATRIX(arena, type, rows, columns) \
  ((type *)od_arena_take_matrix(arena, (long long)(rows), (long long)(columns), sizeof(type)))

// Adds one zeroed item to the end of a list of `count` items. Only this function may have extended the list. Returns the list,
// possibly at a new address, or NULL if an allocation fails; the old list remains valid then.
void *od_arena_extend(od_arena *arena, void *list, int count, size_t size);

char *od_arena_text(od_arena *arena, const char *text);
// Returns a text from a format of od_text_format() (base/text.h), or NULL if an allocation fails.
char *od_arena_format(od_arena *arena, const char *format, ...) OD_PRINTF_FORMAT(2, 3);

// Returns OD_NO_MEMORY if any allocation of the arena failed, else OD_OK. One check after a group of allocations suffices.
od_status od_arena_status(const od_arena *arena);
void od_arena_free(od_arena *arena);

#endif
