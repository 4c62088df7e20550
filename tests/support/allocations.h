// Counts what a test allocates: the C library's allocator with a counter in front. To be included by one file of a
// program. Under the address sanitizer, which has an allocator of its own, nothing can be counted.
#ifndef OD_TEST_ALLOCATIONS_H
#define OD_TEST_ALLOCATIONS_H

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#define COUNTING 0
#else
#define COUNTING 1
static long allocations;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *malloc(size_t size) {
  return allocations++, __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  return allocations++, __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  return allocations++, __libc_realloc(old, size);
}
#endif

#endif
