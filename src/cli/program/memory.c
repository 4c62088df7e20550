// Memory of the program: if an allocation fails, in the program or in any library, the program ends with one message.
//
// Some libraries drop data silently when memory runs out (an entry of a JSON object, a variable of a MAT file), or crash. Therefore
// all allocations of this process use the functions of this file: the C library allows a program to replace malloc(), calloc() and
// realloc(). strdup(), fopen() and similar functions of the C library use the replacements. Output files get their final names only
// when they are complete. Thus an early end never replaces a file with an incomplete file.
//
// The library liboleodyn does not replace these functions: its callers get OD_NO_MEMORY. Sanitizers have their own allocator, which
// ends the program itself.
#include <stdlib.h>
#include <unistd.h>

#include "oleodyn/job.h"

#if defined __has_feature  // Clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define OTHER_ALLOCATOR
#endif
#endif
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ && !defined OTHER_ALLOCATOR

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

// Prints the message and ends the program without allocating memory. The function does not return, because the calling library
// might continue without the memory.
static _Noreturn void end_without_memory(void) {
  static const char message[] = "oleodyn: error: out of memory\n";
  od_remove_unfinished_files();
  ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
  (void)written;  // if this write fails, the error cannot be reported
  _exit(OD_JOB_FAILED);
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
