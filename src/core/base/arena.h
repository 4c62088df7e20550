// Memory that is allocated piece by piece and freed all at once.
#ifndef OD_ARENA_H
#define OD_ARENA_H

#include <stddef.h>

typedef struct od_arena {
  struct od_chunk *last;
} od_arena;

// Returns zeroed memory that belongs to the arena, or NULL if memory ran out.
void *od_arena_take(od_arena *arena, size_t size);
char *od_arena_text(od_arena *arena, const char *text);
char *od_arena_format(od_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void od_arena_free(od_arena *arena);

#endif
