// Clocks, for reports of elapsed time. No result may depend on clocks: limits are counted in evaluations, steps or runs, so
// that results are the same on a busy computer. The check tests/checks/modules lists the files that include this header.
#ifndef OD_IO_CLOCK_H
#define OD_IO_CLOCK_H

#include <time.h>

// Returns the seconds since a fixed time in the past; monotonic.
static inline double od_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Returns the seconds since 1970.
static inline double od_clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Returns the processor time of this thread in seconds.
static inline double od_processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
