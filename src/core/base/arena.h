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
  bool is_fixed;   // whether the memory belongs to the caller (od_arena_over()); such an arena does not allocate
} od_arena;

// Sizes for callers that provide the memory: bytes of the arena's own data, and the largest alignment of any platform.
enum { OD_ARENA_HEADER = 64, OD_ARENA_ALIGNMENT = 16 };

// Returns an arena that takes its pieces from the caller's memory. The memory must be aligned to OD_ARENA_ALIGNMENT. The arena
// is exhausted at once if the memory is smaller than OD_ARENA_HEADER.
od_arena od_arena_over(void *memory, size_t size);
// Returns the number of used bytes of the caller's memory.
size_t od_arena_used(const od_arena *arena);

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

// Adds one zeroed item to the end of a list of `count` items. The list must be empty (NULL) at first, and only this
// function may extend the list. Returns the list, possibly at a new address, or NULL if an allocation fails; the old
// list remains valid then.
void *od_arena_extend(od_arena *arena, void *list, int count, size_t size);

// Temporary memory: od_arena_return() releases all pieces that were taken since od_arena_mark().
typedef struct od_arena_place {
  struct od_chunk *chunk;
  size_t used;
} od_arena_place;
od_arena_place od_arena_mark(const od_arena *arena);
void od_arena_return(od_arena *arena, od_arena_place mark);

// Returns a copy of a text, owned by the arena, or NULL if an allocation fails.
char *od_arena_text(od_arena *arena, const char *text);
// Returns a text from a format of od_text_format() (base/text.h), or NULL if an allocation fails.
char *od_arena_format(od_arena *arena, const char *format, ...) OD_PRINTF_FORMAT(2, 3);

// Returns OD_NO_MEMORY if any allocation of the arena failed, else OD_OK. One check after a group of allocations suffices.
od_status od_arena_status(const od_arena *arena);
void od_arena_free(od_arena *arena);

#endif
