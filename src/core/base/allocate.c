#include "base/allocate.h"

#include "base/parts.h"

#if OD_WITH_ALLOCATION
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The functions of od_set_allocator(), set before the first allocation. The C library is used if `allocate` is NULL.
static od_allocator chosen;
static atomic_bool is_used;
static void (*listener)(void);

static void note_use(void) {
  if (!atomic_load_explicit(&is_used, memory_order_relaxed))
    atomic_store_explicit(&is_used, true, memory_order_relaxed);
}

od_status od_set_allocator(const od_allocator *allocator) {
  if (allocator && !(allocator->allocate && allocator->resize && allocator->release)) return OD_BAD_ARGUMENT;
  if (atomic_load(&is_used)) return OD_NOT_AVAILABLE;
  chosen = allocator ? *allocator : (od_allocator){0};
  if (listener) listener();
  return OD_OK;
}

void od_allocator_listen(void (*was_set)(void)) {
  listener = was_set;
}

void *od_malloc(size_t size) {
  note_use();
  if (size == 0) size = 1;
  return chosen.allocate ? chosen.allocate(chosen.user, size) : malloc(size);
}

void *od_calloc(size_t count, size_t size) {
  note_use();
  if (count == 0 || size == 0) count = size = 1;
  if (!chosen.allocate) return calloc(count, size);
  void *block = count <= SIZE_MAX / size ? chosen.allocate(chosen.user, count * size) : NULL;
  return block ? memset(block, 0, count * size) : NULL;
}

void *od_realloc(void *block, size_t size) {
  if (!block) return od_malloc(size);
  if (size == 0) size = 1;
  return chosen.allocate ? chosen.resize(chosen.user, block, size) : realloc(block, size);
}

void od_free(void *block) {
  if (block && chosen.allocate)
    chosen.release(chosen.user, block);
  else
    free(block);
}

void od_libc_free(void *block) {
  free(block);
}

#else
#include <string.h>

void *od_malloc(size_t size) {
  return (void)size, NULL;
}
void *od_calloc(size_t count, size_t size) {
  return (void)count, (void)size, NULL;
}
void *od_realloc(void *block, size_t size) {
  return (void)block, (void)size, NULL;
}
void od_free(void *block) {
  (void)block;
}
#endif

char *od_strndup(const char *text, size_t length) {
  const char *end = memchr(text, '\0', length);
  if (end) length = (size_t)(end - text);
  char *copy = od_malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

char *od_strdup(const char *text) {
  return od_strndup(text, strlen(text));
}
