// Counts the allocations of a test: the C library's allocator with a counter. Only one file of a program includes this
// header. Allocations cannot be counted under sanitizers with their own allocator.
#ifndef OD_TEST_ALLOCATIONS_H
#define OD_TEST_ALLOCATIONS_H

#include <stddef.h>

#if defined __has_feature  // of Clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_ALLOCATOR
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || defined OTHER_ALLOCATOR
#define COUNTING 0
#else
#define COUNTING 1
// Volatile, because compilers assume that malloc changes no variable of the program.
static volatile long allocations;
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
