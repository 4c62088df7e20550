// The program's memory: an allocation that fails, here or in any library, ends the program with one message.
//
// Results go through libraries that drop what they have no memory for (an entry of a JSON object, a variable of a MAT
// file) or crash, and say nothing. Whoever asks for memory in this process therefore asks here first: the C library lets
// a program put its own functions before malloc(), calloc() and realloc(), and its strdup(), fopen() and the like use
// them. Outputs are renamed only when they are complete, so that an end at any place replaces no file.
//
// The library has no such functions: its callers get OD_NO_MEMORY. Sanitizers bring an allocator that ends by itself.
#include <stdlib.h>
#include <unistd.h>

#include "commands/command.h"
#include "io/unfinished.h"

#if defined __has_feature  // of Clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define OTHER_ALLOCATOR
#endif
#endif
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ && !defined OTHER_ALLOCATOR

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

// Neither allocates nor returns: the caller may be a library that would go on without.
static _Noreturn void end_without_memory(void) {
  static const char message[] = "oleodyn: error: memory ran out\n";
  od_unfinished_remove_all();
  ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
  (void)written;  // if that fails, too, there is no other way to report it
  _exit(OD_EXIT_FAILED);
}

void *malloc(size_t size) {
  void *memory = __libc_malloc(size);
  if (!memory) end_without_memory();
  return memory;
}

void *calloc(size_t count, size_t size) {
  void *memory = __libc_calloc(count, size);
  if (!memory) end_without_memory();
  return memory;
}

void *realloc(void *old, size_t size) {
  void *memory = __libc_realloc(old, size);
  if (!memory && size > 0) end_without_memory();
  return memory;
}

void *aligned_alloc(size_t alignment, size_t size) {
  void *memory = __libc_memalign(alignment, size);
  if (!memory) end_without_memory();
  return memory;
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = aligned_alloc(alignment, size);
  return 0;
}

#endif
