// Memory of the program oleodyn-mat: if an allocation fails, the program ends without an answer. matio would drop a variable
// without an error. The C library allows a program to replace malloc(), calloc() and realloc(). Sanitizers have their own allocator,
// which ends the program itself.
#include <stddef.h>
#include <unistd.h>

#if defined __has_feature  // Clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define OTHER_ALLOCATOR
#endif
#endif
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ && !defined OTHER_ALLOCATOR

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size) {
  void *memory = __libc_malloc(size);
  if (!memory) _exit(1);
  return memory;
}

void *calloc(size_t count, size_t size) {
  void *memory = __libc_calloc(count, size);
  if (!memory) _exit(1);
  return memory;
}

void *realloc(void *old, size_t size) {
  void *memory = __libc_realloc(old, size);
  if (!memory && size > 0) _exit(1);
  return memory;
}

#endif
