// Calls a function once, also if several threads need its effect at the same time.
#ifndef OD_IO_ONCE_H
#define OD_IO_ONCE_H

#ifdef __wasm__  // WebAssembly: the program has one thread
typedef int od_once;
#define OD_ONCE 0
static inline void od_call_once(od_once *once, void (*function)(void)) {
  if (!*once) function();
  *once = 1;
}
#else
#include <pthread.h>

typedef pthread_once_t od_once;
#define OD_ONCE PTHREAD_ONCE_INIT
static inline void od_call_once(od_once *once, void (*function)(void)) {
  pthread_once(once, function);
}
#endif

#endif
