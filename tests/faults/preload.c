// Loaded before the program in every run of the torture: makes runs comparable, and makes allocations fail.
//
// - The clock stands still, so that results contain no times and two runs write the same bytes. It runs after a signal
//   at a moment (OD_SIGNALLED), because the program's reaction depends on it.
// - The allocation whose number is in OD_FAIL_ALLOCATION fails, once. The number of allocations is written at the end
//   to the file that OD_ALLOCATIONS names. The program calls the C library by its internal names (src/cli/program/memory.c),
//   which this file replaces. Helper programs are included in the count.
// - A call of close() for OD_MARK signals to the tracer (tracer.c) that loading is complete and the program begins.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tracer.h"

static atomic_long *asked;  // in memory that helper programs share
static long fails;

__attribute__((constructor)) static void begin(void) {
  const char *number = getenv("OD_FAIL_ALLOCATION");
  fails = number ? atol(number) : 0;
  // The program makes the memory and hands it over to its helper programs as an open file.
  const char *of_program = getenv("OD_COUNTER");
  int counter = of_program ? atoi(of_program) : memfd_create("counter", 0);
  if (!of_program && counter >= 0 && ftruncate(counter, sizeof *asked) == 0) {
    counter = fcntl(counter, F_DUPFD, 100);  // helper programs use small numbers for their own files
    char text[16];
    snprintf(text, sizeof text, "%d", counter);
    setenv("OD_COUNTER", text, 1);
  }
  void *shared = mmap(NULL, sizeof *asked, PROT_READ | PROT_WRITE, MAP_SHARED, counter, 0);
  asked = shared != MAP_FAILED ? shared : NULL;
  close(OD_MARK);
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("OD_ALLOCATIONS");
  int file = path && asked && *asked > 0 ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
  if (file < 0) return;
  dprintf(file, "%ld\n", *asked);
  close(file);
}

// The C library's function of that name; copied through memory, because standard C has no cast from data to functions.
static void find(void *function, const char *name) {
  void *address = dlsym(RTLD_NEXT, name);
  memcpy(function, &address, sizeof address);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*next)(clockid_t, struct timespec *);
  if (!next) find(&next, __func__);
  if (access(OD_SIGNALLED, F_OK) == 0) return next(clock, now);
  *now = (struct timespec){.tv_sec = 1};
  return 0;
}

static bool fail(void) {
  if (!asked || ++*asked != fails) return false;
  errno = ENOMEM;
  return true;
}

void *__libc_malloc(size_t size) {
  static void *(*next)(size_t);
  if (!next) find(&next, __func__);
  return fail() ? NULL : next(size);
}

void *__libc_calloc(size_t count, size_t size) {
  static void *(*next)(size_t, size_t);
  if (!next) find(&next, __func__);
  return fail() ? NULL : next(count, size);
}

void *__libc_realloc(void *old, size_t size) {
  static void *(*next)(void *, size_t);
  if (!next) find(&next, __func__);
  return fail() ? NULL : next(old, size);
}
