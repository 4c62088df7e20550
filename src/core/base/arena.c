// An arena is a list of chunks. Each chunk has CHUNK bytes, or the size of the request if the request is larger. An arena over the
// caller's memory has one chunk.
#include "base/arena.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/allocate.h"
#include "base/parts.h"
#include "base/text.h"

// Under AddressSanitizer every piece has its own chunk, so that an access beyond a piece is detected.
#if defined __SANITIZE_ADDRESS__
#define CHUNK 0
#else
#define CHUNK 16384
#endif

// The alignment of every piece: the alignment of the largest scalars.
typedef union any_scalar {
  long long integer;
  long double real;
  void *address;
  void (*function)(void);
} any_scalar;
enum { ALIGNMENT = _Alignof(any_scalar) };

typedef struct od_chunk {
  struct od_chunk *previous;
  size_t used, size;
  any_scalar memory[];
} od_chunk;

_Static_assert(sizeof(od_chunk) <= OD_ARENA_HEADER, "the memory of callers must be larger");
_Static_assert(_Alignof(any_scalar) <= OD_ARENA_ALIGNMENT, "the memory of callers needs a larger alignment");

od_arena od_arena_over(void *memory, size_t size) {
  if (size < OD_ARENA_HEADER) return (od_arena){.exhausted = true, .is_fixed = true};
  od_chunk *chunk = memset(memory, 0, size);
  chunk->size = size - sizeof *chunk;
  return (od_arena){.last = chunk, .is_fixed = true};
}

size_t od_arena_used(const od_arena *arena) {
  return arena->last ? sizeof *arena->last + arena->last->used : 0;
}

od_arena_place od_arena_mark(const od_arena *arena) {
  return (od_arena_place){arena->last, arena->last ? arena->last->used : 0};
}

void od_arena_return(od_arena *arena, od_arena_place mark) {
  while (arena->last != mark.chunk) {
    od_chunk *previous = arena->last->previous;
    od_free(arena->last);
    arena->last = previous;
  }
  if (!arena->last) return;
  memset((unsigned char *)arena->last->memory + mark.used, 0, arena->last->used - mark.used);
  arena->last->used = mark.used;
}

// Adds a chunk with at least `size` bytes. Returns false if there is no memory.
static bool add_chunk(od_arena *arena, size_t size) {
  size_t room = size > CHUNK ? size : CHUNK;
  od_chunk *chunk = arena->is_fixed ? NULL : od_calloc(1, sizeof *chunk + room);
  if (!chunk) return false;
  chunk->previous = arena->last;
  chunk->size = room;
  arena->last = chunk;
  return true;
}

void *od_arena_take(od_arena *arena, size_t size) {
  size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  bool is_full = !arena->last || arena->last->size - arena->last->used < rounded;
  if (rounded < size || (is_full && !add_chunk(arena, rounded))) {
    arena->exhausted = true;
    return NULL;
  }
  void *piece = (unsigned char *)arena->last->memory + arena->last->used;
  arena->last->used += rounded;
  return piece;
}

void *od_arena_take_array(od_arena *arena, long long count, size_t size) {
  if (count < 0 || (unsigned long long)count > (SIZE_MAX / 2) / size) {
    arena->exhausted = true;
    return NULL;
  }
  return od_arena_take(arena, count > 0 ? (size_t)count * size : 1);
}

void *od_arena_take_matrix(od_arena *arena, long long rows, long long columns, size_t size) {
  bool fits = rows >= 0 && columns >= 0 && (columns == 0 || rows <= LLONG_MAX / columns);
  return od_arena_take_array(arena, fits ? rows * columns : -1, size);
}

// A list has memory for 8 items at first. The memory is doubled each time the list is full: at 8, 16, 32, ... items.
void *od_arena_extend(od_arena *arena, void *list, int count, size_t size) {
  bool is_full = count >= 8 && (count & (count - 1)) == 0;
  if (count > 0 && !is_full) return list;
  void *longer = od_arena_take_array(arena, count > 0 ? 2LL * count : 8, size);
  if (longer && count > 0) memcpy(longer, list, (size_t)count * size);
  return longer;
}

char *od_arena_text(od_arena *arena, const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = od_arena_take(arena, size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

#if OD_WITH_MESSAGES
char *od_arena_format(od_arena *arena, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  size_t length = od_text_format_list(NULL, 0, format, args);
  char *text = od_arena_take(arena, length + 1);
  if (text) od_text_format_list(text, length + 1, format, again);
  va_end(again);
  va_end(args);
  return text;
}
#endif

od_status od_arena_status(const od_arena *arena) {
  return arena->exhausted ? OD_NO_MEMORY : OD_OK;
}

void od_arena_free(od_arena *arena) {
  arena->exhausted = false;
  if (arena->is_fixed) arena->last = NULL;
  while (arena->last) {
    od_chunk *previous = arena->last->previous;
    od_free(arena->last);
    arena->last = previous;
  }
}
