// The limits of helper programs.
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/helper.h"
#include "io/helper_limits.h"

#if defined __has_feature  // Clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED
#endif

// Memory of a helper for every file, MB, and for each byte of its file. Sanitizers keep freed memory, and record the state of all memory.
enum { MEGABYTE = 1 << 20, SMALL = 176, SMALL_SANITIZED = 2048, PER_BYTE = 128 };
#ifdef SANITIZED
static const int small = SMALL_SANITIZED;
#else
static const int small = SMALL;
#endif

// The limit is far above the time for an undamaged file, because reading takes milliseconds per megabyte.
long long od_helper_seconds(long long bytes) {
  return 1 + bytes / MEGABYTE;
}

static rlim_t memory_limit(int megabytes, long long bytes) {
  return (rlim_t)megabytes * MEGABYTE + PER_BYTE * (rlim_t)bytes;
}

uint64_t od_helper_most_numbers(long long bytes) {
  return memory_limit(SMALL, bytes) / sizeof(double);
}

// Returns the current address space of the process in bytes; RLIM_INFINITY: unknown. Tools such as sanitizers enlarge the address
// space.
static rlim_t address_space(void) {
  unsigned long long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  int found = f ? fscanf(f, "%llu", &pages) : 0;
  if (f) fclose(f);
  return found == 1 ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) : RLIM_INFINITY;
}

static void limit(int resource, rlim_t soft, rlim_t hard) {
  struct rlimit old;
  if (getrlimit(resource, &old) != 0) return;
  if (hard > old.rlim_max) hard = old.rlim_max;
  if (soft > hard) soft = hard;
  setrlimit(resource, &(struct rlimit){soft, hard});
}

void od_helper_restrict(long long bytes) {
  rlim_t seconds = (rlim_t)od_helper_seconds(bytes), present = address_space();
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_CPU, seconds, seconds + 1);
  if (present != RLIM_INFINITY)
    limit(RLIMIT_AS, present + memory_limit(small, bytes), present + memory_limit(small, bytes));
  // The alarm limits elapsed time, because a waiting process uses no processor time. The limit is long enough for slow disks.
  alarm((unsigned)(10 + 10 * seconds));
}
