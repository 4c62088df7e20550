// A list of chunks. Each chunk has the size of a page, or of the request if that is larger.
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct od_chunk {
  struct od_chunk *previous;
  size_t used, size;
  alignas(max_align_t) unsigned char bytes[];
} od_chunk;

void *od_arena_take(od_arena *arena, size_t size) {
  size_t rounded = (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
  if (!arena->last || arena->last->size - arena->last->used < rounded) {
    size_t room = rounded > 16384 ? rounded : 16384;
    od_chunk *chunk = calloc(1, sizeof *chunk + room);
    if (!chunk) return NULL;
    chunk->previous = arena->last;
    chunk->size = room;
    arena->last = chunk;
  }
  void *piece = arena->last->bytes + arena->last->used;
  arena->last->used += rounded;
  return piece;
}

char *od_arena_text(od_arena *arena, const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = od_arena_take(arena, size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

char *od_arena_format(od_arena *arena, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char *text = length >= 0 ? od_arena_take(arena, (size_t)length + 1) : NULL;
  if (text) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(args);
  return text;
}

void od_arena_free(od_arena *arena) {
  while (arena->last) {
    od_chunk *previous = arena->last->previous;
    free(arena->last);
    arena->last = previous;
  }
}
