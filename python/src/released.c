// Work without the lock of the interpreter: other threads of Python run meanwhile, and Ctrl-C ends the work.
#include <time.h>

#include "oleodyn_python.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void od_release(od_released *r) {
  r->failed = false;
  r->last = now();
  r->thread = PyEval_SaveThread();
}

bool od_retake(od_released *r) {
  PyEval_RestoreThread(r->thread);
  r->failed = od_law_interrupted() || r->failed || PyErr_Occurred();
  return !r->failed;
}

bool od_released_check(od_released *r, void (*also)(void *user), void *user) {
  const double between = 0.05;  // s: a check takes microseconds
  double t = r->failed ? 0 : now();
  if (r->failed || t - r->last < between) return !r->failed;
  r->last = t;
  od_retake(r);
  if (PyErr_CheckSignals() == 0 && also) also(user);
  r->failed = PyErr_Occurred() != NULL;
  r->thread = PyEval_SaveThread();
  return !r->failed;
}
