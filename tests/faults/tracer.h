// Runs the program and disturbs the n-th of its system calls for files: the call fails, transfers only half of the bytes,
// or a signal arrives. The calls are intercepted in the kernel (ptrace), whether the program, the C library or another
// library makes them.
#ifndef OD_FAULTS_TRACER_H
#define OD_FAULTS_TRACER_H

#include <stdbool.h>

#define OD_SIGNALLED ".signalled"  // a file in the program's folder: a signal arrives, the clock runs

enum { OD_MARK = -4242 };  // no file has this number; preload.c closes it when the program begins

// Kinds of calls, as bits. Calls for standard error do not count: it is not an output.
enum { CALL_OPEN = 1, CALL_WRITE = 2, CALL_SYNC = 4, CALL_CLOSE = 8, CALL_RENAME = 16, CALL_READ = 32 };

typedef struct disturbance {
  unsigned calls;  // those that count
  long at;         // the one that is disturbed, from 1 on; 0: none
  bool on;         // and all that follow it
  int error;       // it fails with this error and has no effect
  bool half;       // it reads or writes half of the bytes
  int signal;      // this signal arrives just before it
  double after;    // without calls: seconds until the signal
  int times;       // number of signals; 0: one
} disturbance;

typedef struct ended {
  int code;     // exit code; -1: ended by a signal
  int signal;   // or this
  long calls;   // number of counted calls
  double late;  // seconds of processor time from the signal to the end
} ended;

// Returns whether calls can be intercepted on this computer; tried in a folder.
bool tracer_works(const char *folder);

// Runs "oleodyn ARGUMENTS" in a folder, with standard input from the file `input` (NULL: nothing), output and errors to the
// files .out and .err. d NULL: undisturbed. Nothing in `arguments` is quoted.
ended program_run(const char *folder, const char *arguments, const char *input, const disturbance *d);

#endif
